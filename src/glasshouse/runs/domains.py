"""Which values people can have: those of the original, of the hierarchies and the release, or given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from glasshouse.errors import DataError, StudyError
from glasshouse.groups import Ancestors, ancestors
from glasshouse.language import text
from glasshouse.mitigation.hierarchies import SEPARATOR, read_hierarchy
from glasshouse.sources import Source, open_source
from glasshouse.study import Dialect
from glasshouse.study.threat import ThreatStudy, whole_numbers
from glasshouse.table import EncodedTable

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


def observed_columns(study: ThreatStudy, original: EncodedTable | None) -> tuple[str, ...]:
    """Return the columns whose domain is what the original has, nothing else being given for them."""
    if original is None:
        return ()
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
    domains: dict[str, Sequence[str]] = {name: tuple(own) for name, own in hierarchies.items()}
    if original is not None:
        for name in observed_columns(study, original):
            domains[name] = sorted(original.column(name).values.to_pylist())
    for name, given in study.domains.items():
        numbers = whole_numbers(given) if isinstance(given, str) else None
        domains[name] = given if numbers is None else [str(number) for number in numbers]
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
    try:
        source = _opened(path, column)
    except StudyError:
        raise DataError(
            text(
                "{file}: is not text; write the domain of {column} as one value per line",
                file=path.name,
                column=column,
            )
        ) from None
    first = source.columns[:1]
    values = [value for batch in source.batches(first) for value in batch.column(0).to_pylist()]
    values = values[1:] if values[:1] == [column] else values
    if not values:
        raise DataError(
            text(
                "{file}: has no value; write the domain of {column} as one value per line",
                file=path.name,
                column=column,
            )
        )
    return list(dict.fromkeys(values))


def _opened(path: Path, column: str) -> Source:
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
