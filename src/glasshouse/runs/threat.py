"""``threat``: what an anonymised table tells about a person, beyond the population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.errors import DataError, StudyError
from glasshouse.groups import (
    Ancestors,
    Release,
    SamplingBudget,
    ThreatOutcome,
    ancestors,
    from_anatomy,
    from_generalised,
    from_group_column,
    from_json,
    threat,
)
from glasshouse.groups.release import Number
from glasshouse.groups.sampler import least_budget
from glasshouse.language import quoted, text
from glasshouse.mitigation.hierarchies import SEPARATOR, read_hierarchy
from glasshouse.progress import OnProgress
from glasshouse.runs.anonymise import release_order
from glasshouse.runs.folder import STUDY, stored_release
from glasshouse.runs.reading import only_one, read_file
from glasshouse.runs.run import Resources, Run, run_key
from glasshouse.sources import Source, open_source
from glasshouse.study import Dialect, load_question, parse_condition, validated
from glasshouse.study.anonymise import CHANGES, AnonymiseStudy
from glasshouse.study.assess import AssessStudy
from glasshouse.study.threat import ThreatStudy, whole_numbers
from glasshouse.table import EncodedTable, Step

POINTS = 2_000
"""At so many points of the population faithfulness is estimated."""


def study_of_folder(folder: Path) -> dict[str, Any]:
    """Return the content of a study about a release that ``anonymise`` wrote: its roles, and its original.

    Raises:
        DataError: The folder is not that of such a run.
    """
    stored = stored_release(folder)
    if stored.method in CHANGES:
        raise StudyError(
            "{name}: its values were changed, not generalised, and threat knows generalised values and groups; its own "
            "report has its risks",
            name=folder.name,
        )
    question = load_question(folder / STUDY, AnonymiseStudy)
    known = list(stored.quasi_identifiers)
    files = question.protection.hierarchies
    hierarchies = {
        name: path for name, path in files.items() if name in known and isinstance(path, Path)
    }
    return {
        "release": {
            "path": stored.path,
            "name": folder.resolve().name,
            "dialect": stored.dialect,
            "types": stored.types,
        },
        "original": question.datasets[0].model_dump(),
        "treatment": question.treatment.model_dump(),
        "identifier": question.adversary.identifier,
        "seed": question.seed,
        "quasi_identifiers": known,
        "sensitive": list(stored.sensitive),
        "group": stored.group,
        "shuffled": stored.shuffled,
        "in_order": True,
        "suppressed": stored.suppressed,
        "hierarchies": hierarchies,
        "suggested": [] if stored.group else [name for name in known if name not in hierarchies],
        "subject": question.subject,
    }


def checkpoint_key(study: ThreatStudy) -> str:
    """Return the digest that the state of a sampler must agree with, whatever its length and what is counted."""
    limits = {"precision": None, "sweeps": None, "seconds": None}
    sampling = study.sampling.model_copy(update=limits)
    return run_key(study.model_copy(update={"sampling": sampling, "exceeds": 2.0}))


def answer(
    study: ThreatStudy, *, resources: Resources, per_record: bool = False
) -> Run[ThreatStudy, ThreatOutcome]:
    """Tell what learner and attacker believe of each person, exactly where that is possible.

    Args:
        study: What is asked.
        resources: What there is to work with.
        per_record: Whether the threat to each record of the original is wanted, too.

    Raises:
        DataError: The data is malformed, or the original does not match the release.
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory.
    """
    budget = _budget(study, resources)
    steps, table = read_original(study, on_progress=resources.on_progress)
    release = read_release(study, table)
    people, truth = _people(study, release, table)
    checkpoint = resources.checkpoint
    state = None if checkpoint is None else checkpoint.start_state(resume=resources.resume)
    outcome = threat(
        release,
        truth,
        people=people,
        in_order=_is_in_order(study, release, truth),
        learner_mean=study.reading == "6",
        points=POINTS,
        exceeds=study.exceeds,
        budget=budget,
        state=state,
        on_progress=resources.on_progress,
        on_state=None if checkpoint is None else checkpoint.save_state,
    )
    measures, sampled = outcome.measures, outcome.sampled
    precise = sampled is None or sampled.stopped == "precision"
    return Run(
        study,
        replace(outcome, suppressed=study.suppressed, steps=steps),
        warnings=tuple(_domain_notes(study)),
        per_record=measures.records_frame() if per_record and measures is not None else None,
        unfinished=""
        if precise
        else text(
            "note: the precision was not reached; the same command with `resume` `overwrite` and more `sweeps` "
            "goes on from here"
        ),
    )


def _people(
    study: ThreatStudy, release: Release, table: EncodedTable | None
) -> tuple[list[dict[str, str | Sequence[str]]] | None, EncodedTable | None]:
    """Return the people that results are about: one victim, or the original; neither: everybody in the release."""
    if study.known:
        return [_victim(study, release)], None
    if table is None and not release.is_vertical:
        raise StudyError(
            "{release}: does not show people's values; give the original with `original` FILE, or say what is "
            "known about one victim with `known` COLUMN=VALUE",
            release=release.name,
        )
    return None, table


def _victim(study: ThreatStudy, release: Release) -> dict[str, str | Sequence[str]]:
    """Return the values that the victim can have: per attribute one, or some."""
    person: dict[str, str | Sequence[str]] = {}
    for known in study.known:
        condition = parse_condition(known)
        values = release.attribute(condition.column).values
        possible = condition.values
        if condition.is_interval:
            possible = tuple(value for value in values if condition.holds(value))
            if not possible:
                raise StudyError(
                    '`known` "{known}": no value of the domain is in that interval', known=known
                )
        if condition.column in person:
            raise StudyError(
                '`known` is given twice for "{name}"; say it once', name=condition.column
            )
        person[condition.column] = possible[0] if len(possible) == 1 else possible
    return person


def _is_in_order(study: ThreatStudy, release: Release, table: EncodedTable | None) -> bool:
    """Tell whether the records of the original are, one by one, the rows of the file that the release was read from."""
    if table is None or release.positions is None or not (study.in_order or study.shuffled):
        return False
    return table.records == release.records + release.left_out


def _budget(study: ThreatStudy, resources: Resources) -> SamplingBudget:
    """Return the budget of the sampler: how long it is to run, and how precise it is to be.

    Raises:
        StudyError: A number makes no sense; the option is named.
    """
    budget = {"seed": study.seed} | study.sampling.model_dump(exclude_none=True)
    if resources.threads is not None:
        budget["threads"] = resources.threads
    least = least_budget()
    for name, number in budget.items():
        low = least.get(name)
        if low is not None and number < low:
            raise StudyError(
                "{option} is {given}; sampling needs at least {low}",
                option=f"`{name}`",
                given=str(number),
                low=str(low),
            )
        if low is None and not number > 0:
            raise StudyError(
                "{option} is {given}; give a number above 0",
                option=f"`{name}`",
                given=f"{number:g}",
            )
    return SamplingBudget(**budget)


JSON_FORM = ".json"


def read_original(
    study: ThreatStudy, *, on_progress: OnProgress | None = None
) -> tuple[tuple[Step, ...], EncodedTable | None]:
    """Read the original, and leave out of it what was not protected; None: the study names none.

    Raises:
        DataError: The data is malformed.
        StudyError: The question does not fit the data.
    """
    if study.original is None:
        return (), None
    known, sensitive = study.quasi_identifiers, study.sensitive
    if study.release.place.suffix.lower() == JSON_FORM:
        release = _read(study, None)
        known = tuple(attribute.name for attribute in release.attributes)
        sensitive = release.sensitive.names
    if not known or not sensitive:
        raise StudyError(
            "say what an adversary can know, and what she wants to infer: `quasi_identifiers` and `sensitive`"
        )
    content: dict[str, Any] = {
        "datasets": (study.original,),
        "adversary": {
            "quasi_identifiers": known,
            "sensitive": sensitive,
            "identifier": study.identifier,
        },
        "treatment": study.treatment,
        "seed": study.seed,
    }
    question = validated(AssessStudy, content, study.command)
    single = only_one(question, on_progress=on_progress)
    return single.steps, single.table


def read_release(study: ThreatStudy, original: EncodedTable | None) -> Release:
    """Read the release, of whatever form it is, under the prior of the study.

    Args:
        study: What is asked.
        original: The table behind the release, whose values are the observed domain; None: not given.

    Raises:
        DataError: The data is malformed, or the release has a value that the original lacks.
        StudyError: The question does not fit the data.
    """
    release = _read(study, original)
    if study.alpha is None and study.beta is None and not study.betas:
        return release
    betas: dict[str, Number | dict[str, Number]] = {}
    for attribute in release.attributes:
        per_value: dict[str, Number] = dict(zip(attribute.values, attribute.beta, strict=True))
        betas[attribute.name] = per_value if study.beta is None else study.beta
    betas.update(study.betas)
    alpha: Number | dict[str, Number] = dict(
        zip(release.sensitive.values, release.sensitive.alpha, strict=True)
    )
    return release.with_prior(alpha=alpha if study.alpha is None else study.alpha, beta=betas)


def _read(study: ThreatStudy, original: EncodedTable | None) -> Release:
    """Read the release, of whatever form it is."""
    dataset = study.release
    if dataset.place.suffix.lower() == JSON_FORM:
        try:
            return from_json(dataset.place.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(
                "{file}: cannot be read ({reason})", file=dataset.place.name, reason=error
            ) from None
    if not study.quasi_identifiers:
        raise StudyError("say what an adversary can know: `quasi_identifiers` COLUMN, once or more")
    hierarchies = hierarchies_of(study)
    domains = domains_of(study, original, hierarchies)
    grouped = () if study.group is None else (study.group,)
    if study.sensitive_table is not None:
        table = read_file(dataset, quasi_identifiers=study.quasi_identifiers, also=grouped)
        _check_observed(study, table, original)
        return from_anatomy(
            table,
            read_file(study.sensitive_table),
            group=study.group or "group",
            quasi_identifiers=study.quasi_identifiers,
            values=study.sensitive or None,
            domains=domains,
        )
    if not study.sensitive:
        raise StudyError("say what she wants to infer: `sensitive` COLUMN")
    table = read_file(
        dataset,
        quasi_identifiers=study.quasi_identifiers,
        sensitive=study.sensitive,
        also=grouped,
    )
    is_vertical = study.group is not None and not study.generalised
    if is_vertical:
        _check_observed(study, table, original)
    if study.shuffled and original is not None and table.records == original.records:
        table = table.of_records(np.argsort(release_order(original, seed=study.seed)))
    if study.group is not None and is_vertical:
        return from_group_column(table, group=study.group, domains=domains)
    return from_generalised(table, group=study.group, domains=domains, hierarchies=hierarchies)


def _check_observed(study: ThreatStudy, table: EncodedTable, original: EncodedTable | None) -> None:
    """Make sure that the values of a vertical release are in the original where that is the domain.

    Raises:
        DataError: One is not: which row, and which column.
    """
    if original is None:
        return
    for name in observed_columns(study):
        known = set(original.column(name).values.to_pylist())
        column = table.column(name)
        texts = column.values.to_pylist()
        strange = np.array([value not in known for value in texts], np.bool_)[column.codes]
        if strange.any():
            row = int(np.argmax(strange))
            raise DataError(
                'row {row} of {release}: "{column}" is {value}, but no record of {original} has that; give the '
                "table that the release was made of",
                row=row + 1,
                release=table.name,
                column=name,
                value=quoted([texts[int(column.codes[row])]]),
                original=original.name,
            )


_ONE_PER_LINE = Dialect(header=False)
"""A value per line; of a hierarchy's file, the first field."""


def hierarchies_of(study: ThreatStudy) -> dict[str, Ancestors]:
    """Return the hierarchies that the study names, each checked: per value its labels.

    Raises:
        DataError: A file cannot be read, or is no hierarchy.
    """
    return {
        name: ancestors(read_hierarchy(path, column=name).rows)
        for name, path in study.hierarchies.items()
        if name in study.quasi_identifiers
    }


def _domain_notes(study: ThreatStudy) -> Iterator[str]:
    """Say of which columns the released domain is that of the original all the same."""
    columns = observed_columns(study) if study.domain == "released" else ()
    if columns:
        yield text(
            "note: the hierarchies of {columns} were made of the values of the original (suggested, or by a rule), so "
            "that these are their domain, as with `domain` observed; `values` gives another",
            columns=quoted(columns),
        )


def observed_columns(study: ThreatStudy) -> tuple[str, ...]:
    """Return the columns whose domain is what the original has, if there is one, nothing else being given for them."""
    observed = study.suggested if study.domain == "released" else study.quasi_identifiers
    return tuple(
        name for name in observed if name not in study.domains and name not in study.domain_files
    )


def domains_of(
    study: ThreatStudy, original: EncodedTable | None, hierarchies: Mapping[str, Ancestors]
) -> dict[str, Sequence[str]]:
    """Return the domain of each column that has one; of the others it is what the release names.

    Args:
        study: What is asked.
        original: The table behind the release, where it is given.
        hierarchies: Per column its hierarchy; its values are the domain where none is observed or given.

    Raises:
        DataError: A file cannot be read, or has no value.
    """
    domains: dict[str, Sequence[str]] = {
        name: tuple(hierarchy) for name, hierarchy in hierarchies.items()
    }
    if original is not None:
        for name in observed_columns(study):
            domains[name] = sorted(original.column(name).values.to_pylist())
    for name, domain in study.domains.items():
        numbers = whole_numbers(domain) if isinstance(domain, str) else None
        domains[name] = domain if numbers is None else [str(number) for number in numbers]
    for name, path in study.domain_files.items():
        domains[name] = read_domain(path, column=name)
    return domains


def read_domain(path: Path, *, column: str) -> list[str]:
    """Read the values that people can have in a column, one per line; a first line that names the column is a header.

    Of a file with several fields, such as that of a hierarchy, the first is taken; their separator is found as that of
    a hierarchy is.

    Raises:
        DataError: The file cannot be read, or has no value.
    """
    names = {"file": path.name, "column": column}
    try:
        source = _domain_source(path, column)
    except StudyError:
        raise DataError(
            "{file}: is not text; write the domain of {column} as one value per line", **names
        ) from None
    first = source.columns[:1]
    values = [value for batch in source.batches(first) for value in batch.column(0).to_pylist()]
    values = values[1:] if values[:1] == [column] else values
    if not values:
        raise DataError(
            "{file}: has no value; write the domain of {column} as one value per line", **names
        )
    return list(dict.fromkeys(values))


def _domain_source(path: Path, column: str) -> Source:
    """Open a file by the separator of its fields; a line is one value where no header or hierarchy tells of fields."""
    semicolons = _ONE_PER_LINE.model_copy(update={"separator": SEPARATOR})
    source = open_source(path, dialect=semicolons)
    if len(source.columns) > 1 or not (_is_hierarchy(path, column) or _has_header(path, column)):
        return source
    return open_source(path, dialect=_ONE_PER_LINE)


def _is_hierarchy(path: Path, column: str) -> bool:
    try:
        return read_hierarchy(path, column=column).height > 1
    except DataError:
        return False


def _has_header(path: Path, column: str) -> bool:
    """Tell whether the first of several fields, by a detected separator, names the column."""
    names = open_source(path, dialect=Dialect()).columns
    return len(names) > 1 and names[0] == column
