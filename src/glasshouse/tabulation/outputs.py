"""Outputs of the same people, published one after the other, and the set of tables that they are together.

An output is a table or several that went out at once. Its plan says what was published, in the words of a study of
``tables``; put together, the plans of all outputs are one such study, whatever their order: an attribute has every
value that any output has of it, and what one plan says of the people holds for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted
from glasshouse.sources.acro import AcroFolder, acro_folder, is_acro
from glasshouse.study import validated, with_paths
from glasshouse.study.question import toml_content
from glasshouse.study.tables import PublishedAttribute, PublishedTable, TablesStudy, Value
from glasshouse.tabulation.layout import with_rows
from glasshouse.tabulation.statements import KNOWN, PEOPLE

PLANS = (".toml", ".json")
"""The endings of files that hold a plan, and not a table."""
IN, OUT = "yes", "no"
"""What an attribute says of who is in a cohort, and of who is not."""
_KEPT = ("people", "attributes", "impossible", "known", "tables")
"""The entries of a study that say what was published; the others are questions."""


@dataclass(frozen=True)
class PublishedOutput:
    """What was published at once."""

    name: str
    """What it is called."""
    plan: TablesStudy
    """What was published; its tables hold their rows."""
    left_out: tuple[str, ...] = ()
    """What was published with it and cannot be put together with tables, such as means and regressions."""
    margins_of_shown: tuple[str, ...] = ()
    """Tables whose margins are totals of what is shown, and tell nothing more."""
    identifier: str | None = None
    """The column by which people of released records are known elsewhere, too."""
    freedom: Mapping[str, int | None] = field(default_factory=dict)
    """The models among what was left out, and how many degrees of freedom each has; None: it does not say."""

    @classmethod
    def from_dict(cls, name: str, content: Mapping[str, Any]) -> Self:
        """Return an output whose plan `to_dict` wrote down.

        Raises:
            StudyError: It is no plan.
        """
        return cls(name, validated(TablesStudy, dict(content), name))

    def to_dict(self) -> dict[str, Any]:
        """Return its plan as plain values."""
        written = self.plan.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude_none=True
        )
        return {entry: written[entry] for entry in _KEPT if entry in written}


def output_of(
    place: Path | Mapping[str, Any],
    *,
    name: str | None = None,
    earlier: Sequence[PublishedOutput] = (),
    cohort: str | None = None,
    tables: Mapping[str, Any] | None = None,
    people: int | None = None,
) -> PublishedOutput:
    """Read an output: a table in a file, a plan, or a folder of ACRO.

    Args:
        place: The file or folder, or the content of a plan.
        name: What it is called; by default as its only table, as its plan says, or as its file.
        earlier: What went out before: attributes that a plan lacks are theirs.
        cohort: The people that it is of, where these are not all: an attribute that is yes or no.
        tables: Entries of every table, such as what a suppressed count means.
        people: How many people there are in all.

    Raises:
        DataError: The file is not laid out as it should be.
        StudyError: The plan makes no sense, or lacks what a mark or a total means.
    """
    label = place.name if isinstance(place, Path) else "plan"
    session = acro_folder(place) if isinstance(place, Path) and is_acro(place) else None
    content = _content(place) if session is None else _of_session(session)
    known = {
        one: attribute for output in earlier for one, attribute in output.plan.attributes.items()
    }
    listed = content.get("tables")
    if isinstance(listed, list | tuple):
        content["tables"] = [
            table | dict(tables or {}) if isinstance(table, dict) else table for table in listed
        ]
        in_files = any(isinstance(table, dict) and table.get("path") for table in listed)
        if known and not in_files and isinstance(content.get("attributes", {}), dict):
            plain = {one: attribute.model_dump() for one, attribute in known.items()}
            content["attributes"] = plain | content.get("attributes", {})
    if people is not None:
        content["people"] = people
    study = validated(TablesStudy, content, label)
    if isinstance(place, Path):
        study = with_paths(study, lambda relative: place.absolute().parent / relative)
    study = _within(cohort, _with_rows(study, known))
    if session is None or not isinstance(place, Path):
        return PublishedOutput(name or _name(study, place), study)
    return PublishedOutput(
        name or place.absolute().name,
        study,
        session.left_out,
        session.margins_of_shown,
        freedom=session.freedom,
    )


def _of_session(session: AcroFolder) -> dict[str, Any]:
    return {
        "tables": [dict(table) for table in session.tables],
        "attributes": {name: dict(attribute) for name, attribute in session.attributes.items()},
    }


def _content(place: Path | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(place, Path):
        return dict(place)
    if place.is_dir():
        raise DataError(
            '"{path}" is a folder without a results.json of ACRO; give a table, a plan or such a folder',
            path=place,
        )
    if place.suffix.lower() in PLANS:
        return toml_content(place)
    return {"tables": [{"path": str(place.absolute())}]}


def _with_rows(study: TablesStudy, known: Mapping[str, PublishedAttribute]) -> TablesStudy:
    try:
        return with_rows(study, known=known)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise StudyError(str(fault["msg"]).removeprefix("Value error, ")) from None


def _within(cohort: str | None, study: TablesStudy) -> TablesStudy:
    """Return a plan whose tables are of a cohort alone."""
    if cohort is None:
        return study
    if cohort in study.attributes and set(study.attributes[cohort].domain) != {IN, OUT}:
        raise StudyError(
            'the cohort "{name}" is an attribute with other values than yes and no; call it otherwise',
            name=cohort,
        )
    tables = tuple(
        table.model_copy(update={"where": table.where | {cohort: IN}}) for table in study.tables
    )
    attributes = study.attributes | {cohort: PublishedAttribute(values=(IN, OUT))}
    return study.model_copy(update={"tables": tables, "attributes": attributes})


def _name(study: TablesStudy, place: Path | Mapping[str, Any]) -> str:
    if len(study.tables) == 1:
        return str(study.tables[0].id)
    return study.name or (place.stem if isinstance(place, Path) else "plan")


def labels_of(outputs: Sequence[PublishedOutput]) -> dict[str, str]:
    """Return what every table is called among all outputs, each with the output that it is of.

    A table whose name another output has, too, is called by its output as well.
    """
    labels = [label for output in outputs for label in _labels(output, outputs)]
    owners = [output.name for output in outputs for _ in output.plan.tables]
    return dict(zip(labels, owners, strict=True))


def _labels(output: PublishedOutput, outputs: Sequence[PublishedOutput]) -> list[str]:
    names = Counter(str(table.id) for one in outputs for table in one.plan.tables)
    return [
        f"{output.name}/{table.id}"
        if names[str(table.id)] > 1 or table.id in (PEOPLE, KNOWN)
        else str(table.id)
        for table in output.plan.tables
    ]


def joined(
    outputs: Sequence[PublishedOutput], *, tables: Iterable[str] | None = None
) -> TablesStudy:
    """Return all outputs as one study: the same, whatever their order, but for the order of tables and values.

    Args:
        outputs: The outputs.
        tables: The labels of the tables that are taken; what is said of the people besides is that of all.

    Raises:
        StudyError: What they say of the number of people contradicts each other.
    """
    chosen = None if tables is None else set(tables)
    kept = [
        table.model_copy(update={"id": label})
        for output in outputs
        for table, label in zip(output.plan.tables, _labels(output, outputs), strict=True)
        if chosen is None or label in chosen
    ]
    impossible = [where for output in outputs for where in output.plan.impossible]
    known = [one for output in outputs for one in output.plan.known]
    people = _people(outputs)
    attributes = _attributes(outputs)
    everything = [table for output in outputs for table in output.plan.tables]
    if people is None and (nobody := _in_no_cohort(everything, attributes)):
        impossible.append(nobody)
    return TablesStudy.model_construct(
        people=people,
        attributes=attributes,
        impossible=tuple(_once(impossible)),
        known=tuple(_once(known)),
        tables=tuple(kept),
    )


def _once(entries: Iterable[Any]) -> list[Any]:
    """Return entries in their order, each once."""
    single: list[Any] = []
    for entry in entries:
        if entry not in single:
            single.append(entry)
    return single


def _attributes(outputs: Sequence[PublishedOutput]) -> dict[str, PublishedAttribute]:
    domains: dict[str, dict[Value, None]] = {}
    for output in outputs:
        for name, attribute in output.plan.attributes.items():
            domains.setdefault(name, {}).update(dict.fromkeys(attribute.domain))
    return {name: PublishedAttribute(values=tuple(domain)) for name, domain in domains.items()}


def _people(outputs: Sequence[PublishedOutput]) -> int | tuple[int, int] | None:
    """Return how many people there are, by all that any output says of it."""
    stated = [
        (output.name, output.plan.people) for output in outputs if output.plan.people is not None
    ]
    if not stated:
        return None
    windows = [(people, people) if isinstance(people, int) else people for _, people in stated]
    low, high = max(window[0] for window in windows), min(window[1] for window in windows)
    if low > high:
        raise StudyError(
            "{outputs} say different numbers of people; an output of a part of them is of a cohort, and says how "
            "many there are in all",
            outputs=quoted([name for name, _ in stated]),
        )
    return low if low == high else (low, high)


def _in_no_cohort(
    tables: Sequence[PublishedTable], attributes: Mapping[str, PublishedAttribute]
) -> dict[str, Any]:
    """Return who is in no cohort, where every table is of one: nothing is ever said of these, and they are nobody."""
    outside: dict[str, Any] = {}
    for table in tables:
        cohorts = [
            name
            for name, condition in table.where.items()
            if condition == IN and set(attributes[name].domain) == {IN, OUT}
        ]
        if not cohorts:
            return {}
        outside |= dict.fromkeys(cohorts, OUT)
    return outside
