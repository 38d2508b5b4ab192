"""Where the value at risk is: a table of the places with most of it, which discloses nobody.

A place with fewer than ten entities, or for which fewer than ten records count, is shown without its figures: they
would be those of a few. All such places are summed up in one row; if there is only one, a further place is added to
them, so that it cannot be told by subtraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.report.cells import NOTHING
from glasshouse.report.page import Cell, Column, Group, Section, Table
from glasshouse.report.words import counted, money, plural
from glasshouse.totals import BinExposed, CampaignResult

FEW = 10
"""Places with fewer entities or records are shown without figures, and fewer records are not counted."""
MOST_PLACES = 15
"""How many places the table has at most."""
FEWER = f"fewer than {FEW}"


def places_section(result: CampaignResult, subject: str, currency: str | None) -> Section:
    """Return the places with the most value at risk, by phase."""
    rows = result.bins("bayes")
    steps = list(dict.fromkeys(row.step for row in rows if row.step.endswith(", solved")))
    last = [row for row in rows if steps and row.step == steps[-1]]
    places = [row for row in last if row.entities is not None]
    earlier = [{row.bin: row for row in rows if row.step == step} for step in steps]
    hidden = _hidden(places)
    columns = (
        Column("Place"),
        Column(plural(subject), numeric=True),
        Column("records", numeric=True),
        Column("before", numeric=True, under="value at risk"),
        *(Column(f"after {step}", numeric=True, under="value at risk") for step in steps),
        Column("chance grows", numeric=True),
        Column("records linked", numeric=True),
        Column("records named", numeric=True),
    )
    shown = [
        _few_row(row, len(columns)) if row.bin in hidden else _row(row, earlier, currency)
        for row in places[:MOST_PLACES]
    ]
    few = [row for row in places if row.bin in hidden]
    groups = [Group(tuple(shown))]
    if few:
        groups.append(Group((_sum_row(few, earlier, currency),)))
    return Section(
        "Where the value at risk is",
        intro="By Bayes. A record counts for the place of the best guess; several that are as good share it.",
        tables=(Table(columns, tuple(groups)),),
        notes=_notes(places, last, few, plural(subject)),
    )


def _hidden(places: Sequence[BinExposed]) -> set[str | None]:
    """Return the places whose figures are not shown."""
    hidden = {row.bin for row in places if (row.entities or 0) < FEW or row.records < FEW}
    others = [row for row in places if row.bin not in hidden]
    if len(hidden) == 1 and others:
        hidden.add(min(others, key=lambda row: (row.records, row.bin or "")).bin)
    return hidden


def _row(
    row: BinExposed, earlier: Sequence[dict[str | None, BinExposed]], currency: str | None
) -> tuple[Cell, ...]:
    return (
        Cell(row.bin or ""),
        Cell(f"{row.entities:,}"),
        Cell(f"{row.records:,.0f}"),
        _amount(row.prior_value_at_risk, currency),
        *(
            _amount(step[row.bin].value_at_risk, currency)
            if row.bin in step and step[row.bin].records >= FEW
            else NOTHING
            for step in earlier
        ),
        Cell(f"× {row.factor:,.4g}"),
        _count(row.linked),
        _count(row.exposed),
    )


def _few_row(row: BinExposed, width: int) -> tuple[Cell, ...]:
    said = Cell(FEWER)
    entities = said if (row.entities or 0) < FEW else NOTHING
    records = said if row.records < FEW else NOTHING
    return (Cell(row.bin or ""), entities, records, *(NOTHING,) * (width - 3))


def _sum_row(
    few: Sequence[BinExposed], earlier: Sequence[dict[str | None, BinExposed]], currency: str | None
) -> tuple[Cell, ...]:
    names = {row.bin for row in few}
    records = sum(row.records for row in few)
    mean = sum(row.factor * row.records for row in few) / records
    return (
        Cell(f"{counted(len(few), 'place')} whose figures are not shown, together"),
        Cell(f"{sum(row.entities or 0 for row in few):,}"),
        Cell(f"{records:,.0f}"),
        _amount(sum(row.prior_value_at_risk for row in few), currency),
        *(
            _amount(sum(row.value_at_risk for name, row in step.items() if name in names), currency)
            for step in earlier
        ),
        Cell(f"× {mean:,.4g}"),
        _count(sum(row.linked for row in few)),
        _count(sum(row.exposed for row in few)),
    )


def _notes(
    places: Sequence[BinExposed],
    last: Sequence[BinExposed],
    few: Sequence[BinExposed],
    subjects: str,
) -> tuple[str, ...]:
    notes = []
    if few:
        notes.append(
            f"A place with {FEWER} {subjects}, or for which {FEWER} records count, is shown without its figures."
        )
    if len(places) > MOST_PLACES:
        notes.append(
            f"Of {len(places):,} places the {MOST_PLACES} with most value at risk are listed."
        )
    nowhere = sum(row.records for row in last if row.entities is None)
    if nowhere >= FEW:
        notes.append(
            f"{nowhere:,.0f} records count for no place: no total was joined with them, or they may have been left out."
        )
    return tuple(notes)


def _count(number: int) -> Cell:
    return Cell(FEWER if 0 < number < FEW else f"{number:,}")


def _amount(value: float, currency: str | None) -> Cell:
    return Cell(f"{value:,.2f}" if currency is None else money(Fraction(value), currency))
