"""``anonymise``: from a study to a protected release, and what it still lets an adversary learn."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Integers
from glasshouse.conditions import is_number
from glasshouse.errors import DataError, GlasshouseError, StudyError
from glasshouse.language import LANGUAGES, speaking, text, unknown_name
from glasshouse.measures.first_look import FirstLook
from glasshouse.microdata import Assessment, assess
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.mitigation.anatomy import Anatomy, anatomise
from glasshouse.mitigation.anonymisation import (
    Anonymisation,
    PeopleBehind,
    columns_of,
    with_households,
    with_ladder,
    with_people,
)
from glasshouse.mitigation.criteria import (
    AverageRisk,
    BetaLikeness,
    Criterion,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    EstimatedKMap,
    EstimatedUniques,
    HierarchicalCloseness,
    HighestRisk,
    InferenceAdded,
    InferenceCertain,
    InferenceRisk,
    KAnonymity,
    KMap,
    NamedShare,
    OrderedCloseness,
    PopulationUniques,
    Presence,
    RecursiveDiversity,
    TableCriterion,
    least_size,
)
from glasshouse.mitigation.distinct_rows import (
    DistinctRows,
    beside_population,
    records_per_value,
)
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import Hierarchy, by_rule, read_hierarchy, suggest
from glasshouse.mitigation.households import kept_together
from glasshouse.mitigation.information_loss import Recoding, suppressible
from glasshouse.mitigation.local_recoding import mondrian, recode_locally
from glasshouse.mitigation.microaggregation import code_tails, column_numbers, microaggregate
from glasshouse.mitigation.perturbation import (
    assess_randomised,
    exchange_ranks,
    noise,
    randomise,
    rank_exchange,
    retention,
    sample_records,
)
from glasshouse.mitigation.utility import ChangedColumn, ColumnCosts, column_costs
from glasshouse.qif import Channel
from glasshouse.report.anonymise.dictionary import changes, data_dictionary, record_notes
from glasshouse.runs.folder import DICTIONARY, QUASI_IDENTIFIERS, RELEASE, SENSITIVE
from glasshouse.runs.reading import (
    Prepared,
    fates_of,
    first_records,
    labels_of,
    only_one,
    read_register,
)
from glasshouse.runs.run import Resources, Run
from glasshouse.sources import MISSING, open_source
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.exports import TextForm, write_table
from glasshouse.sources.files import fingerprint
from glasshouse.study import ColumnType, Dialect, ReleaseStudy
from glasshouse.study.anonymise import CHANGES, GROUP, AnonymiseStudy, Protection, perturbation_rule
from glasshouse.study.policy import ReleasePolicy
from glasshouse.table import (
    EncodedColumn,
    EncodedTable,
    Labels,
    Step,
    available_columns,
    profile,
)
from glasshouse.table.generalised import SUPPRESSED, without


@dataclass(frozen=True)
class ProtectedTable:
    """A table, its protected release, and what the protection gives and costs."""

    original: EncodedTable
    """The records before."""
    release: EncodedTable
    """The records as they may be released."""
    recoding: Recoding | None
    """How the quasi-identifiers were recoded; None: the records were put into groups, or values changed."""
    anatomy: Anatomy | None
    """The groups that the records were put into; None: there are none."""
    hierarchies: Mapping[str, Hierarchy]
    """The hierarchies that were used."""
    outcome: Anonymisation
    """The protection in figures."""

    def write(self, folder: Path, study: AnonymiseStudy) -> None:
        """Write the release and what was changed in it; of Anatomy also the two tables that it is published as."""
        protection, kind = study.protection, kind_of(study)
        order = (
            np.arange(self.original.records)
            if protection.keep_order
            else release_order(self.original, seed=study.seed)
        )
        if protection.drop_suppressed and self.recoding is not None:
            order = order[~self.recoding.suppressed[order]]
        form = release_form(study)
        labels = Labels() if kind == "csv" else labels_of(study)
        decimals, sign = self.decimals(study), study.datasets[0].dialect.decimal

        def write(name: str, columns: Mapping[str, pa.DictionaryArray]) -> None:
            path = folder / f"{name}.{kind}"
            write_table(
                columns,
                path,
                form=form,
                column_labels=labels.columns,
                value_labels=labels.values,
                measures=labels.measures,
                missing_ranges=labels.missing,
                missing_codes=self.original.missing_codes,
            )

        columns = {}
        for name in self.released(study):
            column = self.release.column(name)
            if name in decimals:
                column = column.with_values(
                    value.replace(".", sign) for value in column.values.to_pylist()
                )
            codes = pa.array(column.codes[order].astype(np.int32))
            columns[name] = pa.DictionaryArray.from_arrays(codes, column.values)
        write(RELEASE, columns)
        if self.anatomy is not None:
            known, secret = self.anatomy.tables(self.original)
            write(QUASI_IDENTIFIERS, _dictionaries(known.take(order)))
            write(SENSITIVE, _dictionaries(secret))
        (folder / DICTIONARY).write_text(data_dictionary(self.outcome), encoding="utf-8")

    def in_file(self, study: AnonymiseStudy) -> EncodedTable:
        """Return the records that are in the file: without the suppressed ones where they are dropped."""
        if self.recoding is None or not study.protection.drop_suppressed:
            return self.release
        return without(self.release, self.recoding.suppressed)

    def released(self, study: AnonymiseStudy) -> list[str]:
        """Return the columns of the file in their order."""
        names = [*columns_of(self.release), *self.release.sensitive, *as_it_is(study.protection)]
        return list(dict.fromkeys([*names, *([] if self.anatomy is None else [GROUP])]))

    def decimals(self, study: AnonymiseStudy) -> dict[str, str]:
        """Return the columns of numbers that are written with the decimal sign of the data, where it is no point."""
        dataset = study.datasets[0]
        if study.protection.format != "same" or dataset.dialect.decimal == ".":
            return {}
        return {
            name: ColumnType.NUMBER.value
            for name in self.released(study)
            if dataset.types.get(name) is ColumnType.NUMBER
            and all(value == MISSING or is_number(value) for value in self._values(name))
        }

    def _values(self, name: str) -> list[str]:
        values: list[str] = self.release.column(name).values.to_pylist()
        return values


def as_it_is(protection: Protection) -> tuple[str, ...]:
    """Return the columns that are released as they are: those to be kept, survey weights, who lives together."""
    further = filter(None, [protection.weight, protection.household])
    return tuple(dict.fromkeys([*protection.keep, *further]))


def kind_of(study: AnonymiseStudy) -> str:
    """Return how the name of the file ends that is written."""
    return "csv" if study.protection.format == "same" else study.protection.format


def release_form(study: AnonymiseStudy) -> TextForm:
    """Return how delimited text is written down: as the data is, where that is asked for and it is text."""
    dataset = study.datasets[0]
    if study.protection.format == "same":
        with suppress(GlasshouseError):  # a table in memory has no file
            source = open_source(dataset.path, dialect=dataset.dialect)
            if isinstance(source, DelimitedFile):
                return source.form
    return TextForm()


def _dictionaries(table: pa.Table) -> dict[str, pa.DictionaryArray]:
    return {
        name: column.cast(pa.large_string()).combine_chunks().dictionary_encode()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def answer(
    study: AnonymiseStudy,
    *,
    resources: Resources,
    tables: Sequence[EncodedTable] = (),
    population: EncodedTable | None = None,
) -> Run[AnonymiseStudy, Anonymisation]:
    """Protect a release, and measure again.

    Args:
        study: What is asked.
        resources: What there is to work with.
        tables: The data, where it is in memory.
        population: The register, where it is in memory.

    Raises:
        DataError: The data is malformed, or a value is not in its hierarchy.
        StudyError: The protection cannot be reached, or is not well posed.
        BudgetError: The time was over before any protection was found.
    """
    single, columns = unprotected(study, as_it_is(study.protection), resources, tables)
    register = None if study.population is None else read_register(study, population)
    protected = protected_table(
        study, single.table, resources, columns=columns, steps=single.steps, population=register
    )
    return protected_run(study, protected)


def unprotected(
    study: ReleaseStudy,
    keep: Sequence[str],
    resources: Resources,
    tables: Sequence[EncodedTable] = (),
) -> tuple[Prepared, tuple[str, ...]]:
    """Return the records that a study is to protect, and all columns of their file, or of the table in memory."""
    single = only_one(study, also=keep, tables=tables, on_progress=resources.on_progress)
    if tables:
        return single, tuple(single.read.columns)
    dataset = study.datasets[0]
    return single, tuple(available_columns(dataset.path, dialect=dataset.dialect))


def protected_run(
    study: AnonymiseStudy, protected: ProtectedTable, *, costs: ColumnCosts | None = None
) -> Run[AnonymiseStudy, Anonymisation]:
    """Return the run of a table that is protected in the way that a study asks for.

    Args:
        study: What is asked.
        protected: The table.
        costs: What became of each column, where that is known.
    """
    outcome = protected.outcome
    if protected.recoding is not None:
        weights = survey_weights(study, protected.original)
        outcome = with_ladder(
            outcome, protected.original, protected.recoding, protected.hierarchies, weights
        )
        costs = costs or column_costs(
            protected.original,
            protected.release,
            hierarchies=protected.hierarchies,
            weights=None if weights is None else weights.people,
        )
        outcome = replace(outcome, costs=costs)
    return Run(
        study,
        outcome,
        manifest=release_manifest(study, protected),
        release=protected.in_file(study),
        write_files=lambda folder: protected.write(folder, study),
        first_looks=(look_at_release(study, protected),),
    )


def look_at_release(study: AnonymiseStudy, protected: ProtectedTable) -> FirstLook:
    """Look at the columns of a protected table as they are in its file, and at which of the data are not in it."""
    look = release_look(study, protected.in_file(study), protected.released(study))
    return replace(look, left_out=protected.outcome.left_out)


def release_look(study: ReleaseStudy, release: EncodedTable, columns: Sequence[str]) -> FirstLook:
    """Look at the columns of a protected release: which of them were protected, and which are in it as they were."""
    released = replace(release, columns={name: release.column(name) for name in columns}, facts={})
    first = first_records(released)
    profiles = tuple(replace(one, maybe_missing=()) for one in profile(first))
    return FirstLook(
        release.name,
        profiles,
        first.records,
        fates=fates_of(profiles, study, is_complete=first.records == release.records),
    )


def survey_weights(study: AnonymiseStudy, table: EncodedTable) -> SurveyWeights | None:
    """Return how many people each record stands for; None: the study names no weights.

    Raises:
        DataError: A weight is no number above 0.
    """
    weight = study.protection.weight
    return None if weight is None else SurveyWeights.of(table, weight)


def release_manifest(
    study: AnonymiseStudy, protected: ProtectedTable, *, folder: str = ""
) -> dict[str, Any]:
    """Return what later commands must know of a protected table, given the folder of its file inside that of a run."""
    table = protected.original
    manifest = protected.outcome.manifest(
        release=f"{folder}{RELEASE}.{kind_of(study)}",
        hierarchies={
            name: fingerprint(source) if isinstance(source, Path) else source
            for name, source in study.protection.hierarchies.items()
        },
    )
    missing = {
        name: sorted(codes)
        for name, codes in table.missing_codes.items()
        if name in table.sensitive
    }
    manifest |= {"missing": missing} if missing else {}
    manifest["changes"], manifest["of_records"] = {}, {}
    for language in LANGUAGES:
        with speaking(language):
            manifest["changes"][language] = changes(protected.outcome)
            manifest["of_records"][language] = list(record_notes(protected.outcome))
    return manifest | _written_down(study, protected.decimals(study))


def _written_down(study: AnonymiseStudy, types: Mapping[str, str]) -> dict[str, Any]:
    """Return how the release is written down, as far as a reader cannot tell it from the file."""
    form, dialect = release_form(study), {}
    if form.separator != TextForm.separator:
        dialect["separator"] = form.separator
    if form.encoding != TextForm.encoding:
        dialect["encoding"] = form.encoding
    if form.quote != TextForm.quote:
        dialect["quote"] = form.quote or "none"
    if types:
        dialect["decimal"] = study.datasets[0].dialect.decimal
    content: dict[str, Any] = {"dialect": dialect} if dialect and kind_of(study) == "csv" else {}
    if study.protection.drop_suppressed:
        content["drops_suppressed"] = True
    return content | ({"types": dict(types)} if types else {})


def protected_table(
    study: AnonymiseStudy,
    table: EncodedTable,
    resources: Resources,
    *,
    columns: Sequence[str] = (),
    steps: tuple[Step, ...] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    rows: DistinctRows | None = None,
    before: Assessment | None = None,
    recoding: Recoding | None = None,
    population: EncodedTable | None = None,
) -> ProtectedTable:
    """Protect a table in the way that a study asks for.

    Args:
        study: What is asked.
        table: The records.
        resources: What there is to work with.
        columns: The columns of the data, so that it can be told which are not released.
        steps: What was left out of the data before.
        hierarchies: Those that the study asks for, where they are made already.
        rows: The distinct combinations of the table, with its sensitive attributes, where they are counted already.
        before: What can be learned from the table, where it is measured already.
        recoding: How it was recoded, where that is known; else it is searched for.
        population: The people behind the records, where the study asks about them.
    """
    _refuse_stars(table)
    protection = study.protection
    if protection.method == "policy":
        refuse_too_few(table, study.policy)
    without = {"method", "hierarchies", "levels", "order", "format"}
    without |= set() if protection.recoding == "local" else {"effort"}
    if protection.method in CHANGES:
        taken = {"k", "keep", "keep_order", *CHANGES[protection.method]}
        without |= set(Protection.model_fields) - taken
    else:
        without |= {name for names in CHANGES.values() for name in names}
    parameters = protection.model_dump(mode="json", exclude_none=True, exclude=without)
    if study.fraction is not None:
        parameters["fraction"] = study.fraction
    if protection.order:  # not the values themselves, which a report does not tell
        parameters["order"] = list(protection.order)
    released = {*columns_of(table), *table.sensitive, *as_it_is(protection)}
    left_out = tuple(name for name in columns if name not in released)
    if protection.method == "anatomy":
        if len(table.sensitive) != 1 or protection.l is None:
            raise StudyError(
                "Anatomy parts one sensitive attribute from the rest; give one with `sensitive`"
            )
        groups = anatomise(
            table, l=int(protection.l), sensitive=table.sensitive[0], seed=study.seed
        )
        release = _without_identifier(groups.one_table(table, group=GROUP))
        outcome = Anonymisation.of_groups(
            table, release, groups, parameters=parameters, left_out=left_out, steps=steps
        )
        return ProtectedTable(table, release, None, groups, {}, outcome)
    about = {"parameters": parameters, "left_out": left_out, "steps": steps}
    if protection.method == "microaggregation":
        return _aggregated(protection, table, about)
    if protection.method == "perturbation":
        return _perturbed(study, table, about)
    if hierarchies is None:
        hierarchies = hierarchies_of(
            protection,
            table,
            encoding=study.datasets[0].dialect.encoding,
            population=population,
        )
    criteria = _criteria(study, hierarchies, population)
    if recoding is None and protection.household is not None:
        recoding = _recoded_households(study, table, hierarchies, criteria, resources)
    if recoding is None:
        recoding = _recoding(study, table, hierarchies, criteria, resources, rows)
    outcome = Anonymisation.of_recoding(
        table,
        recoding,
        hierarchies,
        method=protection.method,
        parameters=parameters,
        left_out=left_out,
        steps=steps,
        weights=survey_weights(study, table),
        rows=rows,
        before=before,
    )
    outcome = with_people(outcome, table, recoding, hierarchies, criteria)
    if protection.household is not None:
        outcome = with_households(outcome, recoding.release(table), recoding, protection.household)
    return ProtectedTable(table, recoding.release(table), recoding, None, hierarchies, outcome)


def _recoded_households(
    study: AnonymiseStudy,
    table: EncodedTable,
    hierarchies: Mapping[str, Hierarchy],
    criteria: Sequence[Criterion | TableCriterion],
    resources: Resources,
) -> Recoding:
    """Return a recoding that keeps households together: as many of each composition as records are asked for.

    Raises:
        StudyError: The column has another role, or there is none.
    """
    protection = study.protection
    household = protection.household or ""
    if household in (*columns_of(table), *table.sensitive):
        raise StudyError(
            'column "{name}" says who lives together (`household`) and has another role; choose one',
            name=household,
        )
    k = max(2, protection.k or least_size(criteria))

    def recoded(alike: int) -> Recoding:
        return _recoding(study, table, hierarchies, [*criteria, KAnonymity(alike)], resources)

    most = suppressible(table, protection.suppression)
    return kept_together(table, household, k, most=most, recoded=recoded)


def refuse_too_few(table: EncodedTable, policy: ReleasePolicy) -> None:
    """Make sure that there are people enough for a release of them to meet a policy.

    Raises:
        StudyError: There are too few, whatever is done.
    """
    if table.records < policy.people_needed:
        raise StudyError(
            "{name}: {records} people are too few for the rule “{rule}”, whatever is done: it needs at least {needed}",
            name=table.name,
            records=str(table.records),
            rule=policy.title,
            needed=str(policy.people_needed),
        )


def _aggregated(
    protection: Protection, table: EncodedTable, about: Mapping[str, Any]
) -> ProtectedTable:
    """Replace numbers by means of groups."""
    names = _of_release(protection, table, protection.aggregate, "aggregate") or columns_of(table)
    for name in names:
        if table.declared(name).is_category:
            raise StudyError(
                '"{name}" holds codes of categories, as {table} says, and they have no mean; name the columns of '
                "numbers with `aggregate`",
                name=name,
                table=table.name,
            )
    found = microaggregate(
        table,
        k=protection.k or 1,
        columns=names,
        method=protection.grouping,
    )
    release = found.release(table)
    outcome = Anonymisation.of_changes(
        table, release, assess(release, drop_suppressed=False), method="microaggregation", **about
    )
    return ProtectedTable(table, release, None, None, {}, replace(outcome, loss=found.loss))


def _perturbed(
    study: AnonymiseStudy, table: EncodedTable, about: Mapping[str, Any]
) -> ProtectedTable:
    """Draw a sample, and change values by their rules; the risk is that for who knows the rules."""
    protection, seed = study.protection, secret_seed(table, seed=study.seed)
    _of_release(protection, table, protection.perturb, "perturb")
    sampled = (
        table if protection.sample is None else sample_records(table, protection.sample, seed=seed)
    )
    known, matrices = sampled, {}
    for name, written in protection.perturb.items():
        rule, keywords = perturbation_rule(written)
        if rule == "tails":
            ends = _ends(sampled.column(name), keywords)
            known = code_tails(known, name, bottom=ends.get("bottom"), top=ends.get("top"))
        else:
            matrices[name] = _matrix(sampled.column(name), rule, keywords)
    drawn = {
        name: matrix
        for name, matrix in matrices.items()
        if not protection.perturb[name].startswith("exchange")
    }
    release = randomise(known, drawn, seed=seed)
    for name in set(matrices) - set(drawn):
        window = int(perturbation_rule(protection.perturb[name])[1]["window"])
        release = exchange_ranks(release, name, window=window, seed=seed)
    outcome = Anonymisation.of_changes(
        table, release, assess_randomised(known, release, matrices), method="perturbation", **about
    )
    outcome = replace(
        outcome,
        changed=tuple(
            ChangedColumn.of(sampled.column(name), release.column(name), rule)
            for name, rule in protection.perturb.items()
        ),
    )
    if protection.sample is not None and not protection.perturb:
        outcome = replace(outcome, people=PeopleBehind.of_sample(sampled, table))
    return ProtectedTable(sampled, release, None, None, {}, outcome)


def _of_release(
    protection: Protection, table: EncodedTable, names: Iterable[str], option: str
) -> tuple[str, ...]:
    """Return columns that are to be changed, if they are released."""
    released = (*columns_of(table), *table.sensitive, *protection.keep)
    for name in names:
        if name not in released:
            raise StudyError(
                "`{option}` {name}: {fault}",
                option=option,
                name=name,
                fault=unknown_name("column", name, text("what is released"), released),
            )
    return tuple(names)


def _matrix(column: EncodedColumn, rule: str, keywords: Mapping[str, str]) -> Channel:
    """Return the chances by which the values of a column change."""
    if rule == "pram":
        return retention(column, keywords["keep"])
    if rule == "noise":
        return noise(column, keywords["ratio"], step=keywords.get("step", "1"))
    return rank_exchange(column, int(keywords["window"]))


def _ends(column: EncodedColumn, keywords: Mapping[str, str]) -> dict[str, str]:
    """Return where the tails of a column begin; percents are of its records, in order of their numbers."""
    numbers = column_numbers(column, where=column.name)
    order = np.argsort(np.array(numbers, object), kind="stable")
    below = np.cumsum(records_per_value(column)[order]).tolist()
    ends = {}
    for name, written in keywords.items():
        ends[name] = written
        if written.endswith("%"):
            share = Fraction(written.removesuffix("%")) / 100
            place = bisect_left(below, share * below[-1])
            ends[name] = str(numbers[order[min(place, len(order) - 1)]])
    return ends


def _recoding(
    study: AnonymiseStudy,
    table: EncodedTable,
    hierarchies: Mapping[str, Hierarchy],
    criteria: Sequence[Criterion | TableCriterion],
    resources: Resources,
    rows: DistinctRows | None = None,
) -> Recoding:
    """Recode the quasi-identifiers in the way that the study asks for."""
    protection = study.protection
    if protection.recoding == "mondrian":
        return mondrian(table, criteria=criteria, hierarchies=hierarchies)
    locally = partial(recode_locally, seed=study.seed, effort=protection.effort)
    weights = survey_weights(study, table)
    globally = partial(
        recode,
        levels=protection.levels,
        survey_weights=weights,
        rows=rows,
        suppressed_stay=protection.method == "policy" and not protection.drop_suppressed,
    )
    how = globally if protection.recoding == "global" else locally
    return how(
        table,
        hierarchies=hierarchies,
        criteria=criteria,
        suppression=protection.suppression,
        objective=protection.objective,
        weights=protection.importance or None,
        seconds=protection.time_limit,
        on_progress=resources.on_progress,
    )


def release_order(original: EncodedTable, *, seed: int) -> Integers:
    """Return in which order the records of a protected table are written.

    The order of a file can tell what its values do not, such as where a suppressed record stood in a sorted one. It is
    therefore drawn at random, from a key of the seed and of the data: only who has the data can undo it.
    """
    words = np.frombuffer(_key(original, f"order {seed}"), np.uint32)
    return np.random.default_rng(words).permutation(original.records)


def secret_seed(original: EncodedTable, *, seed: int) -> int:
    """Return what values are changed by: it follows from the seed and the data, so that none can be guessed alone."""
    return int.from_bytes(_key(original, f"change {seed}"), "little")


def _key(original: EncodedTable, use: str) -> bytes:
    key = hashlib.sha256(use.encode())
    for name in sorted({*columns_of(original), *original.sensitive}):
        key.update(name.encode())
        key.update(np.ascontiguousarray(original.column(name).codes).tobytes())
    return key.digest()


def _refuse_stars(table: EncodedTable) -> None:
    """Make sure that no value of the data could be taken for a suppressed one.

    Raises:
        DataError: One could.
    """
    for name in columns_of(table):
        if table.column(name).values.index(SUPPRESSED).as_py() >= 0:
            raise DataError(
                '{table}: column "{name}" holds "{mark}", which marks what is suppressed; rename it, or leave '
                'these records out with `invalid` "{name}={mark}"',
                table=table.name,
                name=name,
                mark=SUPPRESSED,
            )


def _without_identifier(table: EncodedTable) -> EncodedTable:
    """Leave the identifier out of what is published: it would undo the groups."""
    columns = {name: column for name, column in table.columns.items() if name != table.identifier}
    roles = {name: role for name, role in table.roles.items() if name != table.identifier}
    return replace(table, columns=columns, roles=roles)


def hierarchies_of(
    protection: Protection,
    table: EncodedTable,
    *,
    encoding: str | None = None,
    population: EncodedTable | None = None,
) -> dict[str, Hierarchy]:
    """Read or make the hierarchies that the study names, files in the encoding of the data, and suggest the others.

    Those that are made hold the values of the population too.
    """
    names = columns_of(table)
    everybody = table if population is None else beside_population(table, population, names)
    about = table.sensitive if protection.closeness == "hierarchical" else ()
    for name in protection.hierarchies:
        if name not in (*names, *about):
            raise StudyError(
                "`hierarchies` {name}: {fault}",
                name=name,
                fault=unknown_name(
                    "column", name, text("what an adversary knows (`quasi_identifiers`)"), names
                ),
            )
    dialect = None if encoding is None else Dialect(encoding=encoding)
    hierarchies = {
        name: read_hierarchy(source, column=name, dialect=dialect)
        if isinstance(source, Path)
        else _made_by_rule(source, (everybody if name in names else table).column(name))
        for name, source in protection.hierarchies.items()
    }
    return hierarchies | {
        name: suggest(everybody.column(name), table.declared(name))
        for name in names
        if name not in hierarchies
    }


def _made_by_rule(rule: str, column: EncodedColumn) -> Hierarchy:
    try:
        return by_rule(column, rule)
    except StudyError as error:
        raise StudyError("`hierarchies` {name}: {fault}", name=column.name, fault=error) from None


def _criteria(
    study: AnonymiseStudy,
    hierarchies: Mapping[str, Hierarchy],
    population: EncodedTable | None = None,
) -> list[Criterion | TableCriterion]:
    """Return the criteria that the release is to meet; for every sensitive attribute those that are about one."""
    protection, secrets = study.protection, study.adversary.secret_columns
    criteria: list[Criterion | TableCriterion] = []
    if protection.method == "policy":
        criteria += policy_criteria(study.policy, secrets)
    if protection.k is not None:
        criteria.append(KAnonymity(protection.k))
    if protection.highest_risk is not None:
        criteria.append(HighestRisk(protection.highest_risk))
    if protection.average_risk is not None:
        criteria.append(AverageRisk(protection.average_risk))
    criteria += _criteria_of_people(study, population)
    about = (
        protection.l,
        protection.t,
        protection.inference_risk,
        protection.beta,
        protection.delta,
    )
    if any(parameter is not None for parameter in about) and not secrets:
        raise StudyError(
            "l-diversity, t-closeness, likeness, disclosure and inference are about a sensitive attribute; give one "
            "with `sensitive`"
        )
    for name in secrets:
        criteria += _criteria_about(protection, name, hierarchies.get(name))
    return criteria


def _criteria_of_people(
    study: AnonymiseStudy, population: EncodedTable | None
) -> list[Criterion | TableCriterion]:
    """Return the criteria about the population behind the records."""
    protection = study.protection
    criteria: list[Criterion | TableCriterion] = []
    if study.fraction is not None and protection.population_uniques is not None:
        criteria.append(EstimatedUniques(protection.population_uniques, study.fraction))
    if protection.weight is not None and protection.k_map is not None:
        criteria.append(EstimatedKMap(protection.k_map, protection.weight))
    if population is None:
        return criteria
    if protection.k_map is not None:
        criteria.append(KMap(protection.k_map, population))
    if protection.presence is not None:
        criteria.append(Presence(*protection.presence, population))
    if protection.population_uniques is not None:
        criteria.append(PopulationUniques(protection.population_uniques, population))
    return criteria


def policy_criteria(
    policy: ReleasePolicy, secrets: Sequence[str]
) -> list[Criterion | TableCriterion]:
    """Return the criteria that a release meets if and only if it meets a policy, for who knows all that can be known.

    Who knows any so many facts learns no more. Nobody is named for certain where nobody is alone.

    Args:
        policy: The policy.
        secrets: The sensitive attributes.

    Raises:
        StudyError: The policy asks nothing of a release of records.
    """
    criteria: list[Criterion | TableCriterion] = []
    for condition in policy.conditions:
        if condition.records is not None:  # about people with several records
            continue
        limit = condition.limit
        match condition.measure:
            case "smallest-class":
                criteria.append(KAnonymity(int(limit)))
            case "named":
                criteria.append(NamedShare(limit) if limit else KAnonymity(2))
            case "highest-risk":
                criteria.append(HighestRisk(limit))
            case "best-guess":
                criteria.append(AverageRisk(limit))
            case "inference-added" | "inference-certain":
                kind = (
                    InferenceAdded if condition.measure == "inference-added" else InferenceCertain
                )
                criteria += [kind(limit, name) for name in secrets if condition.of in (None, name)]
    if not criteria:
        raise StudyError(
            'the rule "{name}" has no condition on who is identified or what is inferred, so there is nothing to '
            "promise",
            name=policy.name,
        )
    return criteria


def _criteria_about(
    protection: Protection, name: str, hierarchy: Hierarchy | None
) -> list[Criterion]:
    """Return the criteria about one sensitive attribute."""
    criteria: list[Criterion] = []
    if protection.l is not None and protection.diversity == "recursive":
        criteria.append(RecursiveDiversity(protection.c or 1, int(protection.l), name))
    elif protection.l is not None and protection.diversity == "distinct":
        criteria.append(DistinctDiversity(int(protection.l), name))
    elif protection.l is not None:
        criteria.append(EntropyDiversity(protection.l, name))
    if protection.t is not None and protection.closeness == "hierarchical":
        if hierarchy is None:
            raise StudyError(
                "hierarchical closeness needs the hierarchy of the sensitive attribute: `hierarchies` {name}=FILE",
                name=name,
            )
        criteria.append(HierarchicalCloseness(protection.t, name, hierarchy))
    elif protection.t is not None and protection.closeness == "equal":
        criteria.append(EqualCloseness(protection.t, name))
    elif protection.t is not None:
        criteria.append(OrderedCloseness(protection.t, name, protection.order.get(name)))
    if protection.inference_risk is not None:
        criteria.append(InferenceRisk(protection.inference_risk, name))
    if protection.beta is not None:
        criteria.append(BetaLikeness(protection.beta, name))
    if protection.delta is not None:
        criteria.append(DeltaDisclosure(protection.delta, name))
    return criteria
