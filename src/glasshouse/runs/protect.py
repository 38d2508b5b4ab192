"""``protect``: versions of a release that meet a rule, each by other means, and what each costs.

Families that generalise all records alike are searched for the release that meets the very conditions of the rule with
the least loss, which is proved (`glasshouse.mitigation.global_recoding`). Local recoding and Anatomy promise something
of every class instead: the least k, or l, is taken for which the release, measured, meets the rule.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import BudgetError, StudyError
from glasshouse.language import percentage, text, translated
from glasshouse.measures import measures
from glasshouse.measures.first_look import measured as of_columns
from glasshouse.measures.verdict import verdict_on
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.mitigation.anonymisation import columns_of
from glasshouse.mitigation.comparison import ComparedRelease, Comparison, compare_release
from glasshouse.mitigation.criteria import (
    AverageRisk,
    Criterion,
    InferenceCertain,
    TableCriterion,
    least_size,
)
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.mitigation.information_loss import Recoding, attribute_weights
from glasshouse.mitigation.versions import FAMILIES, ProtectedVersions, Version
from glasshouse.runs.anonymise import (
    ProtectedTable,
    hierarchies_of,
    look_at_release,
    policy_criteria,
    protected_run,
    protected_table,
    refuse_too_few,
    release_manifest,
    unprotected,
)
from glasshouse.runs.compare import comparable_release
from glasshouse.runs.folder import REPORT, VERSIONS, is_run
from glasshouse.runs.run import Resources, Run, run_key, write_run
from glasshouse.study import Address, validated
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.protect import ProtectStudy
from glasshouse.table import EncodedColumn, EncodedTable, Step
from glasshouse.table.codes import smallest_unsigned

MOST_RECORDS = 200_000
"""Up to so many records a local recoding is looked for with good effort, beyond that fast."""
MOST_DIVERSE = 20
"""Up to which l Anatomy is tried."""


def checkpoint_key(study: ProtectStudy) -> str | None:
    """Return the digest that finished versions must agree with; None: the data are in no file."""
    in_file = not isinstance(study.datasets[0].path, Address)
    return run_key(study) if in_file else None


def answer(
    study: ProtectStudy, *, resources: Resources, tables: Sequence[EncodedTable] = ()
) -> Run[ProtectStudy, ProtectedVersions]:
    """Find versions of a release that meet the policy, and what each costs.

    Args:
        study: What is asked.
        resources: What there is to work with.
        tables: The data, where it is in memory.

    Raises:
        DataError: The data is malformed, or a value is not in its hierarchy.
        StudyError: No version meets the policy.
        BudgetError: The time was over before any version was found.
    """
    means = study.means
    also = [*means.keep, *filter(None, [means.weight, means.household])]
    single, columns = unprotected(study, also, resources, tables)
    search = _Search(study, single.table, resources, columns, single.steps)
    refuse_too_few(single.table, study.policy)
    search.check()
    found, without = search.versions()
    if not found:
        raise StudyError(
            "no version of {name} meets the rule: {reason}",
            name=single.table.name,
            reason=next(iter(without.values())),
        )
    measured = tuple(search.measured.values())
    outcome = ProtectedVersions(
        Comparison(
            search.original, tuple(one.compared for one in measured), study.subject, single.steps
        ),
        measured,
        without,
    )
    recommended = outcome.recommended.family
    version_study, protected = found[recommended]
    return Run(
        study,
        outcome,
        counted=single.table.records,
        manifest=release_manifest(version_study, protected, folder=f"{VERSIONS}/{recommended}/")
        | {"recommended": recommended},
        release=protected.in_file(version_study),
        write_files=lambda folder: _write(found, search.drafts, folder / VERSIONS),
        first_looks=(look_at_release(version_study, protected),),
    )


def _write(found: Mapping[str, Made], drafts: Path | None, folder: Path) -> None:
    """Write a run for every version, unless it is among those that were written as soon as they were found."""
    folder.mkdir()
    for family, (study, protected) in found.items():
        if drafts is not None and is_run(drafts / family):
            (drafts / family).rename(folder / family)
        else:
            write_run(protected_run(study, protected), folder / family)


Made = tuple[AnonymiseStudy, ProtectedTable]
"""A version: the study that makes it, and what it made."""


@dataclass(frozen=True)
class _Search:
    """The search for a version of every family."""

    study: ProtectStudy
    table: EncodedTable
    resources: Resources
    columns: tuple[str, ...]
    steps: tuple[Step, ...]
    made: dict[str, Mapping[str, Hierarchy]] = field(default_factory=dict)
    measured: dict[str, Version] = field(default_factory=dict)
    """The versions found so far, beside the original."""
    judged: list[tuple[ProtectedTable, bool]] = field(default_factory=list)
    """The version that was judged last, and whether it meets the policy."""

    @cached_property
    def original(self) -> ComparedRelease:
        """The data before protection."""
        return compare_release(
            self.table, self.table, name="original", loss=0.0, weights=self.weights
        )

    @cached_property
    def weights(self) -> SurveyWeights | None:
        """How many people each record stands for; None: nothing is said of it."""
        weight = self.study.means.weight
        return None if weight is None else SurveyWeights.of(self.table, weight)

    @property
    def drafts(self) -> Path | None:
        """Where the versions are until all are found; None: only in memory."""
        checkpoint = self.resources.checkpoint
        return None if checkpoint is None else checkpoint.folder / VERSIONS

    def check(self) -> None:
        """Make sure that what may be done makes sense, which is no matter of one family.

        Raises:
            DataError: A hierarchy cannot be read, or lacks a value.
            StudyError: One is of a column that is not known, or so is a weight.
        """
        attribute_weights(columns_of(self.table), self.study.means.importance)
        hierarchies = self.study.means.hierarchies
        self._hierarchies(self._version_study({"method": "policy", "hierarchies": hierarchies}))

    def versions(self) -> tuple[dict[str, Made], dict[str, str]]:
        """Return the versions by their families, and why the other families have none."""
        limit = self.study.means.time_limit
        end = None if limit is None else time.monotonic() + limit
        found: dict[str, Made] = {}
        without: dict[str, str] = {}
        families = [family for family in FAMILIES if self._applies(family)]
        checkpoint = self.resources.checkpoint
        if checkpoint is not None:
            checkpoint.open(resume=self.resources.resume)
        for number, family in enumerate(families):
            if checkpoint is not None and checkpoint.finished(number):
                (kept,) = checkpoint.tables(number)
                self._take(family, self._taken_up(kept), found)
                continue
            seconds = None
            if end is not None:
                seconds = max(0.1, (end - time.monotonic()) / (len(families) - number))
            try:
                study, protected = self._version(family, seconds)
            except (StudyError, BudgetError) as error:
                without[family] = str(error)
                continue
            if checkpoint is not None and protected.recoding is not None:
                checkpoint.save_table(number, _kept(study, protected.recoding))
                checkpoint.finish(number)
            self._take(family, (study, protected), found)
        return found, without

    def _take(self, family: str, version: Made, found: dict[str, Made]) -> None:
        """Measure a version beside the original, write it, and say so; one that comes out as another is not kept."""
        study, protected = version
        if any(_is_same_file(version, other) for other in found.values()):
            return
        found[family] = version
        release = comparable_release(protected, family)
        compared = compare_release(self.table, **vars(release) | {"weights": self.weights})
        version_made = Version(family, protected.outcome, compared, self._meets(study, protected))
        title = version_made.title
        self.measured[family] = replace(version_made, compared=replace(compared, name=title))
        sentence = text(
            "“{name}” is found: {lost} of the detail is lost.",
            name=translated(title),
            lost=percentage(Fraction(compared.detail_lost)),
        )
        if self.drafts is not None:
            folder = self.drafts / family
            if not is_run(folder):
                write_run(protected_run(study, protected, costs=compared.costs), folder)
            sentence += " " + text(
                "Until all are found, its report is {path}", path=folder / REPORT
            )
        if self.resources.on_note is not None:
            self.resources.on_note(sentence)

    def _applies(self, family: str) -> bool:
        if self.weights is not None and family in ("local", "cells", "anatomy"):
            return False  # survey weights are counted where all records are generalised alike
        if self.study.means.household is not None and family in ("local", "cells", "anatomy"):
            return False  # a household is kept together where all records are generalised alike
        if family == "anatomy":
            return len(self.table.sensitive) == 1
        criteria = policy_criteria(self.study.policy, self.table.sensitive)
        removes = self.study.means.suppression > 0 and least_size(criteria) > 1
        return family != "few-removed" or removes

    def _version(self, family: str, seconds: float | None) -> Made:
        """Return the version of a family.

        Raises:
            StudyError: None of it meets the policy.
            BudgetError: The time was over before one was found.
        """
        names = columns_of(self.table)
        blank = {"hierarchies": dict.fromkeys(names, "suppression_only")}
        criteria = policy_criteria(self.study.policy, self.table.sensitive)
        least = max(2, least_size(criteria))
        match family:
            case "alike":
                return self._made({"method": "policy"}, seconds)
            case "few-removed":
                suppression = self.study.means.suppression
                return self._made({"method": "policy", "suppression": suppression}, seconds)
            case "left-out":
                return self._made({"method": "policy", **blank}, seconds)
            case "anatomy":
                codes = self.table.column(self.table.sensitive[0]).codes
                diverse = self.table.records // int(np.bincount(codes).max())
                return self._least({"method": "anatomy"}, "l", 2, min(diverse, MOST_DIVERSE))
        content: dict[str, Any] = dict(blank) if family == "cells" else {}
        risks = [rule.p for rule in criteria if isinstance(rule, AverageRisk)]
        content |= {"average_risk": float(min(risks))} if risks else {}
        return self._local(content, criteria, least, seconds)

    def _local(
        self,
        content: dict[str, Any],
        criteria: Sequence[Criterion | TableCriterion],
        least: int,
        seconds: float | None,
    ) -> Made:
        """Return a local recoding that meets the policy, by what it promises of every class.

        Where the policy limits what is inferred for certain, two different sensitive values in every class may cost
        less than many records. Dividing is quick, and tells about how many have to be alike; with little effort it is
        seen which of both promises loses less, and that one is kept with good effort.

        Raises:
            StudyError: None meets the policy.
        """
        last = self.table.records // 2
        ways: list[tuple[dict[str, Any], int]] = [({"method": "k-anonymity"}, last)]
        if any(isinstance(rule, InferenceCertain) for rule in criteria):
            # where two values are not enough by themselves, it is the k that decides
            ways.insert(0, ({"method": "l-diversity", "l": 2}, least))
        best: Made | None = None
        fault = _no_parameter(last)
        for way, most in ways:
            dividing = content | way | {"recoding": "mondrian"}
            local = content | way | {"recoding": "local", "effort": "fast"}
            try:
                divided, _ = self._least(dividing, "k", least, most)
                below = inf if best is None else best[1].outcome.loss or 0.0
                best = self._raised(local, divided.protection.k or least, seconds, below) or best
            except StudyError as error:
                fault = error
        if best is None:
            raise fault
        study, _ = best
        if self.table.records > MOST_RECORDS:
            return best
        promise = study.protection.model_dump(include={"method", "l"}, exclude_none=True)
        local = content | promise | {"recoding": "local", "effort": "good"}
        return self._raised(local, study.protection.k or least, seconds) or best

    def _raised(
        self, local: Mapping[str, Any], k: int, seconds: float | None, below: float = inf
    ) -> Made | None:
        """Return the first version from some k on that meets the policy; None: not with less loss than allowed.

        Raises:
            StudyError: None does.
        """
        while k <= self.table.records // 2:
            version = self._made({**local, "k": k}, seconds)
            if (version[1].outcome.loss or 0.0) >= below:  # and with a greater k it only loses more
                return None
            if self._meets(*version):
                return version
            k += max(1, k // 4)
        raise _no_parameter(self.table.records // 2)

    def _least(self, content: Mapping[str, Any], name: str, first: int, last: int) -> Made:
        """Return the version with the least parameter that meets the policy, by doubling and then by halves.

        Raises:
            StudyError: None up to the last does.
        """
        failing, parameter = first - 1, first
        made = self._made({**content, name: parameter}, None)
        while not self._meets(*made):
            if parameter >= last:
                raise _no_parameter(last)
            failing, parameter = parameter, min(2 * parameter, last)
            made = self._made({**content, name: parameter}, None)
        while parameter - failing > 1:
            middle = (failing + parameter) // 2
            between = self._made({**content, name: middle}, None)
            if self._meets(*between):
                made, parameter = between, middle
            else:
                failing = middle
        return made

    def _made(self, protection: Mapping[str, Any], seconds: float | None) -> Made:
        """Protect the table in one way."""
        means = self.study.means
        if protection["method"] != "anatomy":
            protection = {"hierarchies": means.hierarchies, **protection}
            if protection.get("recoding") != "mondrian":
                limit = None if seconds is None else ceil(10 * seconds) / 10
                protection |= {"importance": means.importance, "time_limit": limit}
        content = {
            **protection,
            "keep": means.keep,
            "weight": means.weight,
            "household": means.household,
            "keep_order": means.keep_order,
            "drop_suppressed": means.drop_suppressed and "suppression" in protection,
            "format": means.format,
        }
        return self._protected(content)

    def _taken_up(self, kept: pa.Table) -> Made:
        """Return a version that an interrupted run has finished."""
        content = json.loads(kept.schema.metadata[b"version"])
        names = content["recoding"].pop("quasi_identifiers")
        released = {}
        for name in names:
            column = kept.column(name).combine_chunks()
            codes = np.asarray(column.indices)
            released[name] = EncodedColumn(
                name, codes.astype(smallest_unsigned(len(column.dictionary))), column.dictionary
            )
        suppressed = np.asarray(kept.column(len(names)).combine_chunks())
        recoding = Recoding(
            **content["recoding"]
            | {
                "quasi_identifiers": tuple(names),
                "released": released,
                "suppressed": suppressed,
            }
        )
        return self._protected(content["protection"], recoding)

    def _version_study(self, protection: Mapping[str, Any]) -> AnonymiseStudy:
        """Return the study that makes a version."""
        content = {
            "datasets": self.study.datasets,
            "adversary": self.study.adversary,
            "treatment": self.study.treatment,
            "seed": self.study.seed,
            "subject": self.study.subject,
            "policy": self.study.policy,
            "ignore": self.study.ignore,
            "labels": self.study.labels,
            "protection": protection,
        }
        return validated(AnonymiseStudy, content, "protect")

    def _hierarchies(self, study: AnonymiseStudy) -> Mapping[str, Hierarchy]:
        """Return the hierarchies of a version, each made once for all that use it."""
        key = json.dumps(study.protection.hierarchies, default=str, sort_keys=True)
        if key not in self.made:
            encoding = study.datasets[0].dialect.encoding
            self.made[key] = hierarchies_of(study.protection, self.table, encoding=encoding)
        return self.made[key]

    def _protected(self, protection: Mapping[str, Any], recoding: Recoding | None = None) -> Made:
        study = self._version_study(protection)
        protected = protected_table(
            study,
            self.table,
            self.resources,
            columns=self.columns,
            steps=self.steps,
            hierarchies=None if study.protection.method == "anatomy" else self._hierarchies(study),
            recoding=recoding,
        )
        return study, protected

    def _meets(self, study: AnonymiseStudy, protected: ProtectedTable) -> bool:
        """Tell whether a version meets the policy; that of the last one is remembered."""
        if not self.judged or self.judged[0][0] is not protected:
            self.judged[:] = [(protected, self._judged(study, protected))]
        return self.judged[0][1]

    def _judged(self, study: AnonymiseStudy, protected: ProtectedTable) -> bool:
        figures = measures(protected.outcome, study)
        first = verdict_on(figures, self.study.policy)
        if first is None or any(
            not judgement.met for judgement in first.judgements if judgement.is_of_figures
        ):
            return False  # which is seen before its columns are looked at
        look = look_at_release(study, protected)
        verdict = verdict_on((*of_columns([look]), *figures), self.study.policy)
        return verdict is not None and verdict.meets


def _is_same_file(one: Made, other: Made) -> bool:
    """Tell whether two versions are the same file: the same columns with the same values, record by record."""
    (study, protected), (other_study, other_protected) = one, other
    names = protected.released(study)
    first, second = protected.in_file(study), other_protected.in_file(other_study)
    if names != other_protected.released(other_study) or first.records != second.records:
        return False
    return all(_is_same(first.column(name), second.column(name)) for name in names)


def _is_same(one: EncodedColumn, other: EncodedColumn) -> bool:
    """Tell whether two columns have the same values, record by record."""
    place = {value: code for code, value in enumerate(one.values.to_pylist())}
    codes = np.array([place.get(value, -1) for value in other.values.to_pylist()], np.int64)
    return bool(np.array_equal(codes[other.codes], one.codes))


def _no_parameter(last: int) -> StudyError:
    return StudyError("not even with a parameter of {last}", last=last)


def _kept(study: AnonymiseStudy, recoding: Recoding) -> pa.Table:
    """Return a finished version as it is kept: the released columns, which records are suppressed, and how."""
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(column.codes.astype(np.int32)), column.values)
        for name, column in recoding.released.items()
    }
    table = pa.table([*columns.values(), pa.array(recoding.suppressed)], [*columns, "*"])
    content = {
        "protection": study.protection.model_dump(mode="json", exclude_defaults=True),
        "recoding": recoding.to_dict() | {"evaluated": recoding.evaluated},
    }
    return table.replace_schema_metadata({"version": json.dumps(content)})
