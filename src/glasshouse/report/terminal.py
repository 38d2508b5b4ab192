"""What was found, on a terminal: the sentences and tables of a `Brief`, as they stand.

Nothing in them is markup, and nothing in them is hidden: every text is made printable here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from glasshouse.language import printable, text
from glasshouse.measures.verdict import Decision
from glasshouse.report.page import SIGNS, Action, Brief, Cell, Ruling, Table

DECISIONS = {
    Decision.STOP: "red",
    Decision.RESTRICT: "yellow",
    Decision.OPEN: "bright_black",
    Decision.MEETS: "green",
}
"""The colour of a verdict."""
COLOURS = {"▲": "red", "▼": "green"}
"""How what got worse and better is highlighted, besides its mark."""
NARROW = 60
"""On a terminal of fewer columns no word and no number of a table is cut: its rows are sentences where they must be."""
GAP = 2
"""So many spaces stand between two columns."""


def show(
    brief: Brief,
    *,
    actions: Sequence[Action] = (),
    places: tuple[str, ...] = (),
    console: Console | None = None,
) -> None:
    """Print a brief: what was found first, the tables behind it, and the verdict last, where the eye is.

    Args:
        brief: What to say.
        actions: What to do; what comes after the first is said where that is not enough for the rule.
        places: Sentences that name what was written; they are never broken into lines.
        console: Where to; by default standard output.
    """
    console = console or Console()
    for finding in brief.findings:
        say(console, f"• {finding.sentence}")
    for place, block in enumerate(brief.blocks):
        if place or brief.findings:
            console.print()
        if isinstance(block, Table):
            _show_table(console, block, coloured=brief.shows_change)
        else:
            say(console, block)
    if brief.notes and (brief.blocks or brief.findings):
        console.print()
    for note in brief.notes:
        say(console, text("note: {note}", note=note))
    if brief.ruling is not None:
        say_ruling(console, brief.ruling)
    for action, before in zip(actions, (None, *actions), strict=False):
        if before is None or before.meets is False:
            _say_action(console, action)
    if places:
        console.print()
    for line in places:
        say(console, line, soft_wrap=True)


def say_ruling(console: Console, ruling: Ruling) -> None:
    """Print a verdict on a line of its own, in its colour and with its sign."""
    sign, colour = SIGNS[ruling.decision], DECISIONS[ruling.decision]
    console.print()
    line = Text(f"{sign} {printable(ruling.headline)}", style=f"bold {colour}")
    console.print(line.append(f": {printable(ruling.tally)}", style="not bold default"))
    for sentence in ruling.coverage:
        say(console, sentence)


def _say_action(console: Console, action: Action) -> None:
    """Print what to do and what comes of it, and on a line of its own the command that does it."""
    met = {True: text("✓ meets the rule"), False: text("✗ not enough for the rule"), None: ""}
    words = " ".join(filter(None, (action.sentence, action.change, met[action.meets])))
    say(console, text("What to do: {action}", action=words))
    if action.command:
        say(console, f"  {action.command}", soft_wrap=True)


def say(console: Console, sentence: str, *, soft_wrap: bool = False) -> None:
    """Print a sentence as it stands."""
    lines = "\n".join(printable(line) for line in sentence.split("\n"))
    console.print(lines, markup=False, highlight=False, soft_wrap=soft_wrap)


def _show_table(console: Console, table: Table, *, coloured: bool) -> None:
    if table.title:
        console.print(Text(printable(table.title), style="bold"))
    widths: list[int] | None = None
    if console.width < NARROW:
        table = _without_bars(table, console.width)
        widths = _widths(table, console.width)
        if widths is None:
            _show_rows(console, table, coloured=coloured)
            return
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False, title=None)
    labelled = all(column.numeric or not column.title for column in table.columns[1:])
    """Whether numbers (and their bars) stand beside one label, so that they stand by its last line where it is long."""
    for place, column in enumerate(table.columns):
        grid.add_column(
            Text(printable(column.title)),
            justify="right" if column.numeric else "left",
            overflow="fold",
            vertical="bottom" if labelled and place else "top",
            min_width=_widest_number(table, place) if column.numeric else None,
            width=None if widths is None else widths[place],
        )
    for group in table.groups:
        if group.title is not None:
            grid.add_row(Text(printable(group.title)), *[""] * (len(table.columns) - 1))
        for row in group.rows:
            grid.add_row(
                *(
                    _cell(cell, coloured=coloured, whole=column.numeric and _is_number(cell))
                    for column, cell in zip(table.columns, row, strict=True)
                )
            )
        grid.add_section()
    console.print(grid)


def _show_rows(console: Console, table: Table, *, coloured: bool) -> None:
    """Print each row as its label, and below it what every further column says."""
    for group in table.groups:
        if group.title is not None:
            console.print(Text(printable(group.title), style="bold"))
        for first, *further in group.rows:
            console.print(_cell(first, coloured=coloured, whole=False))
            said = [
                f"{printable(column.title)}: {_cell(cell, coloured=False, whole=False)}"
                for column, cell in zip(table.columns[1:], further, strict=True)
                if cell.text
            ]
            if said:
                console.print(Padding(Text("; ".join(said)), (0, 0, 0, 2)))


def _without_bars(table: Table, room: int) -> Table:
    """Return a table without its bars, which repeat a number, where they do not fit."""
    cells = [list(column) for column in zip(*_rows(table), strict=True)]
    kept = [
        place
        for place, column in enumerate(cells)
        if not all(cell.text and not cell.text.strip("░█·") for cell in column)
    ]
    if len(kept) in (0, len(table.columns)) or _widths(table, room) is not None:
        return table
    groups = tuple(
        replace(group, rows=tuple(tuple(row[place] for place in kept) for row in group.rows))
        for group in table.groups
    )
    return replace(table, columns=tuple(table.columns[place] for place in kept), groups=groups)


def _widths(table: Table, room: int) -> list[int] | None:
    """Return how wide each column is so that no word and no number of it is cut; None: they do not fit."""
    least, most = [], []
    for place, column in enumerate(table.columns):
        texts = [Cell(column.title), *(row[place] for row in _rows(table))]
        if place == 0:
            texts += [Cell(group.title) for group in table.groups if group.title is not None]
        whole = [str(_cell(cell, coloured=False, whole=False)) for cell in texts]
        pieces = [
            piece
            for cell, said in zip(texts, whole, strict=True)
            for piece in ([said] if column.numeric and _is_number(cell) else said.split())
        ]
        least.append(max(map(cell_len, pieces), default=0))
        most.append(max(cell_len(line) for said in whole for line in said.split("\n")))
    spare = room - GAP * (len(least) - 1) - sum(least)
    if spare < 0:
        return None
    widths = []
    for narrow, wide in zip(least, most, strict=True):
        widths.append(narrow + min(spare, max(0, wide - narrow)))
        spare -= widths[-1] - narrow
    return widths


def _rows(table: Table) -> list[tuple[Cell, ...]]:
    return [row for group in table.groups for row in group.rows]


def _widest_number(table: Table, place: int) -> int:
    """Return how wide a column has to be for its numbers to stand whole."""
    cells = (row[place] for group in table.groups for row in group.rows)
    return max((len(cell.text) for cell in cells if _is_number(cell)), default=0)


def _is_number(cell: Cell) -> bool:
    """Tell whether a cell holds a number, with a sign perhaps, and no words, which may stand on lines of their own."""
    return not cell.text[:1].isalpha()


def _cell(cell: Cell, *, coloured: bool, whole: bool) -> Text:
    """Return what a cell shows; a number is never broken into lines."""
    content = cell.text if cell.mark is None else f"{cell.mark} {cell.text}"
    style = COLOURS.get(content[:1], "") if coloured else ""
    lines = "\n".join(printable(line) for line in content.split("\n"))
    return Text(lines, style=style, no_wrap=whole)
