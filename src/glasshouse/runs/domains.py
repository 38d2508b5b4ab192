"""Which values people can have: those of the original, of the hierarchies and the release, or given ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from glasshouse.errors import DataError, StudyError
from glasshouse.language import text
from glasshouse.sources import open_source
from glasshouse.study import Dialect
from glasshouse.study.threats import ThreatStudy, whole_numbers
from glasshouse.table import EncodedTable

_ONE_PER_LINE = Dialect(separator=";", header=False)
"""A value per line; of a hierarchy's file, the first field."""


def domains_of(study: ThreatStudy, original: EncodedTable | None) -> dict[str, Sequence[str]]:
    """Return the domain of each column that has one; of the others it is what hierarchies and release name.

    Raises:
        DataError: A file cannot be read, or has no value.
    """
    domains: dict[str, Sequence[str]] = {}
    if original is not None:
        observed = study.suggested if study.domain == "released" else study.quasi_identifiers
        for name in observed:
            domains[name] = sorted(original.column(name).values.to_pylist())
    for name, given in study.domains.items():
        numbers = whole_numbers(given) if isinstance(given, str) else None
        domains[name] = given if numbers is None else [str(number) for number in numbers]
    for name, path in study.domain_files.items():
        domains[name] = read_domain(path, column=name)
    return domains


def read_domain(path: Path, *, column: str) -> list[str]:
    """Read the values that people can have in a column, one per line; a first line that names the column is a header.

    Raises:
        DataError: The file cannot be read, or has no value.
    """
    try:
        source = open_source(path, dialect=_ONE_PER_LINE)
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
