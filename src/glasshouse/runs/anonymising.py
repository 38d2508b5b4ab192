"""One run of ``anonymise``: from a study to a protected release, and what it still lets an adversary learn."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from glasshouse.errors import DataError, StudyError
from glasshouse.language import text, unknown_name
from glasshouse.mitigation.anatomy import Anatomy, anatomise
from glasshouse.mitigation.anonymisation import GROUP, Anonymisation, columns_of
from glasshouse.mitigation.criteria import (
    AverageRisk,
    Criterion,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    HighestRisk,
    InferenceRisk,
    KAnonymity,
    OrderedCloseness,
    RecursiveDiversity,
    TableCriterion,
)
from glasshouse.mitigation.hierarchies import Hierarchy, read_hierarchy, suggest
from glasshouse.mitigation.local_recoding import recode_locally
from glasshouse.mitigation.mondrian import mondrian
from glasshouse.mitigation.quality import Recoding
from glasshouse.mitigation.recoding import recode
from glasshouse.runs.reading import one_each, prepared
from glasshouse.runs.runner import Means
from glasshouse.sources.files import fingerprint
from glasshouse.study import Dialect, Protection, Study, attributes
from glasshouse.table import EncodedTable, Step, available_columns
from glasshouse.table.generalised import SUPPRESSED

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

RELEASE, QUASI_IDENTIFIERS, SENSITIVE = "release.csv", "quasi_identifiers.csv", "sensitive.csv"


@dataclass(frozen=True)
class AnonymiseRun:
    """A study of protection and its outcome."""

    study: Study
    """What was asked."""
    original: EncodedTable
    """The records before."""
    release: EncodedTable
    """The records as they may be released."""
    recoding: Recoding | None
    """How the quasi-identifiers were recoded; None: the records were put into groups."""
    anatomy: Anatomy | None
    """The groups that the records were put into; None: the quasi-identifiers were recoded."""
    hierarchies: Mapping[str, Hierarchy]
    """The hierarchies that were used."""
    outcome: Anonymisation
    """What the protection gives and costs."""

    @property
    def records(self) -> int:
        """The number of records, suppressed ones included."""
        return self.outcome.records

    @property
    def protection(self) -> Protection:
        """How it was to be protected."""
        if self.study.protection is None:
            raise StudyError(text("the study does not say how the release is to be protected"))
        return self.study.protection

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values: method, parameters, heights, suppressed, classes, loss, optimal."""
        return self.outcome.to_dict()

    def to_frame(self) -> pa.Table:
        """Return one row per attack, before and after."""
        return self.outcome.to_frame()

    def manifest(self) -> dict[str, Any]:
        """Return what later commands must know of the release."""
        files = self.protection.hierarchies
        return self.outcome.manifest(
            release=RELEASE,
            hierarchies={name: fingerprint(path) for name, path in files.items()},
        )

    def write_files(self, folder: Path) -> None:
        """Write the release; of Anatomy also the two tables that it is published as."""
        order = (
            np.arange(self.records)
            if self.protection.keep_order
            else release_order(self.original, seed=self.study.seed)
        )
        names = [*columns_of(self.release), *self.release.sensitive, *self.protection.keep]
        names += [] if self.anatomy is None else [GROUP]
        _write(_as_arrow(self.release, names).take(order), folder / RELEASE)
        if self.anatomy is not None:
            known, secret = self.anatomy.tables(self.original)
            _write(known.take(order), folder / QUASI_IDENTIFIERS)
            _write(secret, folder / SENSITIVE)

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.mitigation.page import protection_page

        return protection_page(self.outcome, provenance=provenance, subject=self.study.subject)


def run_anonymise(
    study: Study, *, means: Means | None = None, table: EncodedTable | None = None
) -> AnonymiseRun:
    """Protect a release, and measure again.

    Args:
        study: What is asked.
        means: What there is to work with.
        table: The records, where they were read and treated already.

    Raises:
        DataError: The data is malformed, or a value is not in its hierarchy.
        StudyError: The protection cannot be reached, or is not well posed.
        BudgetError: The time was over before any protection was found.
    """
    protection = study.protection
    if protection is None:
        raise StudyError(text("say how the release is to be protected"))
    means = means or Means()
    steps: tuple[Step, ...] = ()
    if table is None:
        single = one_each(
            next(prepared(study, also=protection.keep, on_progress=means.watch.reading)),
            seed=study.seed,
        )
        table, steps = single.table, single.steps
    _refuse_stars(table)
    if protection.method == "anatomy":
        return _anatomised(study, protection, table, steps)
    encoding = study.datasets[0].dialect.encoding
    hierarchies = hierarchies_of(protection, table, encoding=encoding)
    recoding = _recoded(study, protection, table, hierarchies, means)
    return AnonymiseRun(
        study=study,
        original=table,
        release=recoding.release(table),
        recoding=recoding,
        anatomy=None,
        hierarchies=hierarchies,
        outcome=Anonymisation.of_recoding(
            table,
            recoding,
            hierarchies,
            method=protection.method,
            parameters=_parameters(protection),
            left_out=_left_out(study, table),
            steps=steps,
        ),
    )


def _parameters(protection: Protection) -> dict[str, Any]:
    """Return what was asked of a protection, beside its method and the files of hierarchies, as plain values."""
    return protection.model_dump(mode="json", exclude_none=True, exclude={"method", "hierarchies"})


def _recoded(
    study: Study,
    protection: Protection,
    table: EncodedTable,
    hierarchies: Mapping[str, Hierarchy],
    means: Means,
) -> Recoding:
    """Recode the quasi-identifiers in the way that the study asks for."""
    criteria = _criteria(protection, study, table)
    if protection.recoding == "mondrian":
        return mondrian(table, criteria=criteria, hierarchies=hierarchies)
    how = recode if protection.recoding == "global" else partial(recode_locally, seed=study.seed)
    return how(
        table,
        hierarchies=hierarchies,
        criteria=criteria,
        suppression=protection.suppression,
        objective=protection.objective,
        weights=protection.importance or None,
        seconds=protection.time_limit,
        on_progress=means.watch.searching,
    )


def _anatomised(
    study: Study, protection: Protection, table: EncodedTable, steps: tuple[Step, ...]
) -> AnonymiseRun:
    if len(table.sensitive) != 1 or protection.l is None:
        raise StudyError(
            text("Anatomy parts one sensitive attribute from the rest; give one with -s")
        )
    groups = anatomise(table, l=protection.l, sensitive=table.sensitive[0], seed=study.seed)
    release = _published(groups.one_table(table, group=GROUP))
    return AnonymiseRun(
        study=study,
        original=table,
        release=release,
        recoding=None,
        anatomy=groups,
        hierarchies={},
        outcome=Anonymisation.of_groups(
            table,
            release,
            groups,
            parameters=_parameters(protection),
            left_out=_left_out(study, table),
            steps=steps,
        ),
    )


def release_order(original: EncodedTable, *, seed: int) -> NDArray[np.int64]:
    """Return in which order the records of a protected table are written.

    The order of a file can tell what its values do not, such as where a suppressed record stood in a sorted one. It is
    therefore drawn at random, from a key of the seed and of the data: only who has the data can undo it.
    """
    key = hashlib.sha256(f"order {seed}".encode())
    for name in sorted({*columns_of(original), *original.sensitive}):
        key.update(name.encode())
        key.update(np.ascontiguousarray(original.column(name).codes).tobytes())
    words = np.frombuffer(key.digest(), np.uint32)
    return np.random.default_rng(words).permutation(original.records)


def _refuse_stars(table: EncodedTable) -> None:
    """Make sure that no value of the data could be taken for a suppressed one.

    Raises:
        DataError: One could.
    """
    for name in columns_of(table):
        if table.column(name).values.index(SUPPRESSED).as_py() >= 0:
            raise DataError(
                text(
                    '{table}: column "{name}" holds "{mark}", which marks what is suppressed; rename it, or leave '
                    'these records out with --invalid "{name}={mark}"',
                    table=table.name,
                    name=name,
                    mark=SUPPRESSED,
                )
            )


def _left_out(study: Study, table: EncodedTable) -> tuple[str, ...]:
    """Return the columns of the file that are not released."""
    dataset = study.datasets[0]
    protection = study.protection
    released = {*columns_of(table), *table.sensitive, *(protection.keep if protection else ())}
    there = available_columns(dataset.path, dialect=dataset.dialect)
    return tuple(name for name in there if name not in released)


def _published(table: EncodedTable) -> EncodedTable:
    """Leave the identifier out of what is published: it would undo the groups."""
    columns = {name: column for name, column in table.columns.items() if name != table.identifier}
    roles = {name: role for name, role in table.roles.items() if name != table.identifier}
    return replace(table, columns=columns, roles=roles)


def hierarchies_of(
    protection: Protection, table: EncodedTable, *, encoding: str | None = None
) -> dict[str, Hierarchy]:
    """Read the hierarchies that the study names, in the encoding of the data, and suggest the others."""
    names = columns_of(table)
    about = table.sensitive if protection.closeness == "hierarchical" else ()
    for name in protection.hierarchies:
        if name not in (*names, *about):
            raise StudyError(
                text(
                    "--hierarchy {name}: {fault}",
                    name=name,
                    fault=unknown_name("column", name, text("what an adversary knows (-q)"), names),
                )
            )
    dialect = None if encoding is None else Dialect(encoding=encoding)
    found = {
        name: read_hierarchy(path, column=name, dialect=dialect)
        for name, path in protection.hierarchies.items()
    }
    return found | {name: suggest(table.column(name)) for name in names if name not in found}


def _criteria(
    protection: Protection, study: Study, table: EncodedTable
) -> list[Criterion | TableCriterion]:
    """Return all that is promised of the release; of every sensitive attribute, where it is about one."""
    secrets = dict.fromkeys(name for s in study.adversary.sensitive for name in attributes(s))
    found: list[Criterion | TableCriterion] = []
    if protection.k is not None:
        found.append(KAnonymity(protection.k))
    if protection.highest_risk is not None:
        found.append(HighestRisk(protection.highest_risk))
    if protection.average_risk is not None:
        found.append(AverageRisk(protection.average_risk))
    about = (protection.l, protection.t, protection.inference_risk)
    if any(asked is not None for asked in about) and not secrets:
        raise StudyError(
            text(
                "l-diversity, t-closeness and inference are about a sensitive attribute; give one with -s"
            )
        )
    for name in secrets:
        found += _about(protection, name)
    return found


def _about(protection: Protection, name: str) -> list[Criterion]:
    """Return what is promised about one sensitive attribute."""
    found: list[Criterion] = []
    if protection.l is not None:
        if protection.diversity == "distinct":
            found.append(DistinctDiversity(protection.l, name))
        elif protection.diversity == "entropy":
            found.append(EntropyDiversity(protection.l, name))
        else:
            found.append(RecursiveDiversity(protection.c or 1, protection.l, name))
    if protection.t is not None:
        if protection.closeness == "equal":
            found.append(EqualCloseness(protection.t, name))
        elif protection.closeness == "ordered":
            found.append(OrderedCloseness(protection.t, name))
        else:
            path = protection.hierarchies.get(name)
            if path is None:
                raise StudyError(
                    text(
                        "hierarchical closeness needs the hierarchy of the sensitive attribute: --hierarchy "
                        "{name}=FILE",
                        name=name,
                    )
                )
            found.append(
                HierarchicalCloseness(protection.t, name, read_hierarchy(path, column=name))
            )
    if protection.inference_risk is not None:
        found.append(InferenceRisk(protection.inference_risk, name))
    return found


def _as_arrow(table: EncodedTable, names: Sequence[str]) -> pa.Table:
    """Return some columns of a table as text."""
    columns = [table.column(name) for name in dict.fromkeys(names)]
    return pa.table({own.name: own.values.take(pa.array(own.codes)) for own in columns})


def _write(table: pa.Table, path: Path) -> None:
    pyarrow.csv.write_csv(table, path)
