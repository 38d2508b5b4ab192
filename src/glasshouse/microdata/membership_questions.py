"""What a question of membership must be like, and what is said where it is not.

Each release has one record per person and a name of its own, and shares its quasi-identifiers with the register.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from glasshouse.errors import DataError, StudyError, near_names, quoted
from glasshouse.language import either, text
from glasshouse.table import EncodedTable
from glasshouse.table.encoded import assign_roles

MOST_RELEASES = 12
"""How many releases can be asked about together: there are two to that power ways to be in them."""

_COMPARED_VALUES = 10_000
"""Among how many values of a column near ones are looked for."""


def asked_about(
    tables: tuple[EncodedTable, ...],
    population: EncodedTable,
    quasi_identifiers: Sequence[str] | None,
) -> tuple[str, ...]:
    """Check a question of membership, and return the quasi-identifiers.

    Raises:
        DataError: The register has none of the quasi-identifiers, or a table lacks one.
        StudyError: There are too many releases, two of one name, or no quasi-identifier.
    """
    if not 1 <= len(tables) <= MOST_RELEASES:
        raise StudyError(
            text(
                "membership is asked of 1 to {most} releases, not of {releases}",
                most=MOST_RELEASES,
                releases=len(tables),
            )
        )
    if len({table.name for table in tables}) < len(tables):
        raise StudyError(text("two releases have the same name; give each its own when reading it"))
    if quasi_identifiers is None:
        first = tables[0]
        facts = (first.columns_of(name) for name in first.quasi_identifiers)
        quasi_identifiers = [column.name for columns in facts for column in columns]
    names = tuple(assign_roles(quasi_identifiers=quasi_identifiers))
    if not names:
        raise StudyError(
            text(
                "membership needs at least one quasi-identifier that release and register share; name one"
            )
        )
    if not any(name in population.columns for name in names):
        raise DataError(
            text(
                "{register} has none of the quasi-identifiers {names}; it has {columns}",
                register=population.name,
                names=quoted(names),
                columns=quoted(list(population.columns)[:12]),
            )
        )
    for table in (*tables, population):
        for name in names:
            table.column(name)
    return names


def refuse_several_records(table: EncodedTable) -> None:
    """Check that everybody has one record, where an identifier tells.

    Raises:
        DataError: Somebody has several, or no identifier.
    """
    if table.identifier is None:
        return
    identifier = table.column(table.identifier)
    records = np.bincount(identifier.codes, minlength=identifier.cardinality)
    nameless = identifier.values.index("").as_py()
    if nameless >= 0 and records[nameless]:
        raise DataError(
            text(
                "{table}: {records} records have no {identifier}; complete it, or read the file without an identifier",
                table=table.name,
                records=int(records[nameless]),
                identifier=quoted([identifier.name]),
            )
        )
    several = int(np.count_nonzero(records > 1))
    if several:
        raise DataError(
            text(
                "{table}: {people} people have more than one record (by {identifier}); membership needs one record "
                "per person",
                table=table.name,
                people=several,
                identifier=quoted([identifier.name]),
            )
        )


def unheard_of(
    name: str, possible: tuple[str, ...], values: pa.LargeStringArray, where: str
) -> str:
    """Say that nobody has any of the values, and name near ones."""
    some = [value for value in values[:_COMPARED_VALUES].to_pylist() if value]
    near = list(dict.fromkeys(other for value in possible for other in near_names(value, some)))
    told = {
        "register": where,
        "values": either([quoted([value]) for value in possible[:3]]),
        "name": quoted([name]),
    }
    if not near:
        return text("nobody in {register} has {values} in column {name}", **told)
    return text(
        "nobody in {register} has {values} in column {name}; did you mean {near}?",
        near=either([quoted([value]) for value in near[:3]]),
        **told,
    )
