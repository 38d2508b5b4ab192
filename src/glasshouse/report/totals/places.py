"""Where the value at risk is: a table of the places with most of it, which discloses nobody.

A place with fewer entities than a report may show (see `glasshouse.disclosure`), or for which fewer records count, is
not named: its figures would be those of a few. All such places are summed up in one row. If there is only one, or
together they are still few, further places are added to them, so that nothing can be told by subtraction.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.disclosure import cell_count, cover_each_other, hidden_parts, smallest_cell
from glasshouse.language import number, text
from glasshouse.report.cells import NOTHING
from glasshouse.report.page import Cell, Column, Group, Section, Table
from glasshouse.report.totals.words import SOLVED, amount, growth
from glasshouse.report.words import plural
from glasshouse.totals import BinExposed, CampaignResult

MOST_PLACES = 15
"""How many places the table has at most."""


def places_section(result: CampaignResult, subject: str, currency: str | None) -> Section:
    """Return the places with the most value at risk, by phase."""
    rows = result.bins("bayes")
    steps = list(dict.fromkeys(row.step for row in rows if row.step.endswith(SOLVED)))
    last = [row for row in rows if steps and row.step == steps[-1]]
    places = [row for row in last if row.entities is not None]
    earlier = [{row.bin: row for row in rows if row.step == step} for step in steps]
    hidden = _hidden(places)
    columns = _columns(steps, subject)
    named = [row for row in places if row.bin not in hidden]
    shown = [_row(row, earlier, currency) for row in named[:MOST_PLACES]]
    few = [row for row in places if row.bin in hidden]
    groups = [Group(tuple(shown))]
    if cover_each_other([_counts(row) for row in few]):
        groups.append(Group((_sum_row(few, earlier, currency),)))
    return Section(
        text("Where the value at risk is"),
        intro=text(
            "By Bayes. A record counts for the place of the best guess; several that are as good share it."
        ),
        tables=(Table(columns, tuple(groups)),),
        notes=_notes(named, last, few, plural(subject)),
    )


def _columns(steps: Sequence[str], subject: str) -> tuple[Column, ...]:
    at_risk = text("value at risk")
    return (
        Column(text("Place")),
        Column(plural(subject), numeric=True),
        Column(text("records"), numeric=True),
        Column(text("before"), numeric=True, under=at_risk),
        *(
            Column(
                text("after {phase}", phase=step.removesuffix(SOLVED)), numeric=True, under=at_risk
            )
            for step in steps
        ),
        Column(text("chance grows"), numeric=True),
        Column(text("place certain"), numeric=True),
        Column(text("named with certainty"), numeric=True),
    )


def _hidden(places: Sequence[BinExposed]) -> set[str | None]:
    """Return the places whose figures are not shown: those of few, and as many others as it takes to cover them."""
    hidden = hidden_parts([_counts(row) for row in places])
    return {row.bin for place, row in enumerate(places) if place in hidden}


def _counts(row: BinExposed) -> tuple[float, int]:
    return row.records, row.entities or 0


def _row(
    row: BinExposed, earlier: Sequence[dict[str | None, BinExposed]], currency: str | None
) -> tuple[Cell, ...]:
    return (
        Cell(row.bin or ""),
        Cell(number(row.entities or 0)),
        Cell(number(row.records, ",.0f")),
        _amount(row.prior_value_at_risk, currency),
        *(
            _amount(step[row.bin].value_at_risk, currency)
            if row.bin in step and step[row.bin].records >= smallest_cell()
            else NOTHING
            for step in earlier
        ),
        Cell(growth(row.factor)),
        Cell(cell_count(row.linked)),
        Cell(cell_count(row.exposed)),
    )


def _sum_row(
    few: Sequence[BinExposed], earlier: Sequence[dict[str | None, BinExposed]], currency: str | None
) -> tuple[Cell, ...]:
    names = {row.bin for row in few}
    records = sum(row.records for row in few)
    mean = sum(row.factor * row.records for row in few) / records
    return (
        Cell(text("{places} places that are not named, together", places=len(few))),
        Cell(number(sum(row.entities or 0 for row in few))),
        Cell(number(records, ",.0f")),
        _amount(sum(row.prior_value_at_risk for row in few), currency),
        *(
            _amount(sum(row.value_at_risk for name, row in step.items() if name in names), currency)
            for step in earlier
        ),
        Cell(growth(mean)),
        Cell(cell_count(sum(row.linked for row in few))),
        Cell(cell_count(sum(row.exposed for row in few))),
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
            text(
                "A place with fewer than {smallest} {many}, or for which fewer than {smallest} records count, is not "
                "named, and neither is another where it takes that to cover it.",
                smallest=smallest_cell(),
                many=subjects,
            )
        )
    if len(places) > MOST_PLACES:
        notes.append(
            text(
                "Of {places} places that can be named the {listed} with most value at risk are listed.",
                places=len(places),
                listed=MOST_PLACES,
            )
        )
    nowhere = sum(row.records for row in last if row.entities is None)
    if nowhere >= smallest_cell():
        notes.append(
            text(
                "{records} records count for no place: no total was joined with them, or they may have been left out.",
                records=number(nowhere, ",.0f"),
            )
        )
    return tuple(notes)


def _amount(value: float, currency: str | None) -> Cell:
    return Cell(amount(value, currency))
