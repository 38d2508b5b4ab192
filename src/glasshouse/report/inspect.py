"""What a file holds, for a terminal: its columns, and the role that each is likely to play."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.language import marked, number, printable, quoted, text, text_for, translated
from glasshouse.report.page import Brief, Cell, Column, Group, Table
from glasshouse.table.profiles import FREE_TEXT, ColumnProfile, person_column

NARROW, WIDE = 76, 100
"""Below and from these numbers of columns on, a terminal is shown less and more."""
MOST_NAMED = 12
"""So many values that may stand for missing are named."""
PROFILED = (
    *(marked("integer"), marked("number"), marked("date"), marked("text")),
    *(marked("quasi-identifier"), marked("sensitive"), marked("identifier"), marked("weight")),
    marked("ignored"),
)
"""What the values of a column may look like, and the roles that it may have."""


def inspect_brief(
    profiles: Sequence[ColumnProfile], name: str, records: int, *, width: int
) -> Brief:
    """Return a row per column, with the suggested role and its reason: beside it, or else below it.

    Args:
        profiles: The columns.
        name: The name of the file.
        records: The number of its records.
        width: How many characters wide the terminal is.
    """
    title = text(
        "{name}: {records}, {columns}",
        name=name,
        records=text_for(records, "{count} record", "{count} records"),
        columns=text_for(len(profiles), "{count} column", "{count} columns"),
    )
    counts = (text("distinct"), text("missing"), text("unique"))
    counted = len(counts) if width >= NARROW else 1
    columns = (
        *(Column(text("column")), Column(text("values"))),
        *(Column(count, numeric=True) for count in counts[:counted]),
        Column(text("suggested role")),
        *([Column(text("because"))] if width >= WIDE else []),
    )
    rows = tuple(_row(profile, counted, wide=width >= WIDE) for profile in profiles)
    explained = text(
        "Roles are suggestions from names and values: an attribute is a quasi-identifier if someone could know it."
    )
    return Brief((Table(columns, (Group(rows),), title), explained, *_warnings(profiles)))


def _warnings(profiles: Sequence[ColumnProfile]) -> list[str]:
    """Say what would make the answer of an assessment another one than was meant."""
    warnings = []
    person = person_column(profiles)
    if person is not None and person.repeats:
        warnings.append(
            text(
                "{repeats} name somebody (by {column}) whom a record before them names: give the column as the "
                "identifier, so that each person counts once.",
                repeats=text_for(person.repeats, "{count} record", "{count} records"),
                column=quoted([person.name]),
            )
        )
    direct = [profile for profile in profiles if profile.is_direct]
    if direct:
        warnings.append(
            text(
                "These columns name or reach people by themselves, and belong in no release: {columns}.",
                columns=", ".join(
                    f"{printable(profile.name)} ({translated(profile.looks_like)})"
                    for profile in direct
                ),
            )
        )
    texts = [profile.name for profile in profiles if profile.looks_like == FREE_TEXT]
    if texts:
        warnings.append(
            text(
                "Free text may name anybody: read it, or leave it out of the release: {columns}.",
                columns=quoted(texts),
            )
        )
    codes = [
        text(
            "{value} in {column} ({records})",
            value=quoted([value]),
            column=quoted([profile.name]),
            records=number(count),
        )
        for profile in profiles
        for value, count in profile.maybe_missing
    ]
    if codes:
        warnings.append(
            text(
                "These values may stand for missing: {values}. With --missing COLUMN=VALUE they do.",
                values=", ".join(codes[:MOST_NAMED]) + (" …" if len(codes) > MOST_NAMED else ""),
            )
        )
    return warnings


def _row(profile: ColumnProfile, counted: int, *, wide: bool) -> tuple[Cell, ...]:
    counts = (profile.distinct, profile.missing, profile.unique)[:counted]
    kind = translated(profile.kind) if profile.kind else "–"
    role = translated(profile.role.value)
    reason = (role, profile.reason) if wide else (f"{role}\n  {profile.reason}",)
    return tuple(map(Cell, (profile.name, kind, *map(number, counts), *reason)))
