"""Numbers in the cells of a table: rounded to be read, exact on hover, and the same in every report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from glasshouse.language import exactly, marked, number, percentage, text
from glasshouse.report.page import Cell, Column, Group, Table
from glasshouse.report.words import hundredths, money, times

if TYPE_CHECKING:
    from glasshouse.microdata.leakage import Attack, Leakage

NOTHING = Cell("–")
"""What stands where there is no number."""
GUESSES = {
    marked("Guess before, guess after"): marked(
        "The probability that her best single guess is right, knowing the release alone, and also knowing "
        "something about the person (prior and posterior Bayes vulnerability)."
    )
}
"""What the guesses about one person are."""
BAR_WIDTH = 12
"""How many characters a bar has."""
_DIGITS = 12
"""So many significant digits a number has that was added up from others that are no ratios."""


def guess_titles() -> tuple[str, ...]:
    """Return the titles of the columns of `leakage_cells`, where the leakage is of a guess."""
    return text("Guess before"), text("Guess after"), text("Added"), text("Factor")


def gain_titles() -> tuple[str, ...]:
    """Return the same where it is of a gain."""
    return text("Gain before"), text("Gain after"), text("Gain added"), text("Gain factor")


def count_cell(count: int) -> Cell:
    """Return a count of records in all; of those with particular values see `glasshouse.report.disclosure`.

    >>> count_cell(1234)
    Cell(text='1,234', exact=None, mark=None)
    """
    return Cell(number(count))


def number_cell(value: Fraction | None) -> Cell:
    """Return a number with six digits; a rounding never makes it 1.

    >>> number_cell(Fraction(2, 3)), number_cell(Fraction(10**9 - 1, 10**9)).text
    (Cell(text='0.666667', exact='2/3', mark=None), '0.999999999')
    """
    if value is None:
        return NOTHING
    rounded = number(value, ".6g")
    if rounded == "1" and value != 1:
        rounded = exactly(float(value))
    return Cell(rounded, exact=exactly(value))


def percent_cell(probability: Fraction | None) -> Cell:
    """Return a probability in per cent."""
    return NOTHING if probability is None else Cell(percentage(probability), exactly(probability))


def factor_cell(factor: Fraction | None) -> Cell:
    """Return a factor."""
    return NOTHING if factor is None else Cell(times(factor), exact=exactly(factor))


def bound_cell(factor: Fraction | None) -> Cell:
    """Return a factor that is never exceeded.

    >>> bound_cell(Fraction(8, 3)).text, bound_cell(None).text
    ('at most × 2.66667', '–')
    """
    if factor is None:
        return NOTHING
    return Cell(text("at most {factor}", factor=times(factor)), exact=exactly(factor))


def amount_cell(value: Fraction, currency: str | None) -> Cell:
    """Return an amount: of money where there is a currency, else a plain number.

    >>> amount_cell(Fraction(1, 3), "R$").text, amount_cell(Fraction(1, 3), None).text
    ('R$ 0.33', '0.333333')
    """
    return number_cell(value) if currency is None else Cell(money(value, currency), exactly(value))


def money_cell(value: float, currency: str | None) -> Cell:
    """Return an amount that is no ratio, to the nearest hundredth."""
    return Cell(hundredths(value, currency), exactly(value))


def float_cell(value: float | None, style: str) -> Cell:
    """Return a number that is no ratio, written in a style; exactly is as far as every processor finds the same.

    >>> float_cell(0.1 + 0.2, ".1f"), float_cell(None, ".1f").text
    (Cell(text='0.3', exact='0.3', mark=None), '–')
    """
    if value is None:
        return NOTHING
    return Cell(number(value, style), exactly(float(f"{value:.{_DIGITS}g}")))


def leakage_cells(leakage: Leakage, *, currency: str | None = None) -> tuple[Cell, ...]:
    """Return before, after, added and factor.

    Args:
        leakage: What is shown.
        currency: What the first three are counted in; None: they are plain numbers.
    """
    amounts = (leakage.prior, leakage.posterior, leakage.additive)
    return (
        *(amount_cell(value, currency) for value in amounts),
        factor_cell(leakage.multiplicative),
    )


def yes_cell(holds: bool) -> Cell:
    """Return whether something holds."""
    return Cell(text("yes") if holds else text("no"))


def gain_change(leakage: Leakage | None, currency: str | None) -> str:
    """Say what a gain was before, and what it is after."""
    if leakage is None:
        return NOTHING.text
    if currency is not None:
        return f"{money(leakage.prior, currency)} → {money(leakage.posterior, currency)}"
    return f"{number(leakage.prior, ',.4g')} → {number(leakage.posterior, ',.4g')}"


def bar(leakage: Leakage) -> str:
    """Draw success before and after.

    >>> from glasshouse.microdata import Leakage
    >>> bar(Leakage(Fraction(1, 4), Fraction(1, 2)))
    '░░░███······'
    """
    before = int(BAR_WIDTH * leakage.prior)
    after = int(BAR_WIDTH * leakage.posterior)
    return "░" * before + "█" * (after - before) + "·" * (BAR_WIDTH - after)


def under(heading: str | None, *titles: str) -> tuple[Column, ...]:
    """Return columns of numbers that share a heading above their own."""
    return tuple(Column(title, numeric=True, under=heading) for title in titles)


def cell_table(
    first: str | Sequence[str],
    numbers: Iterable[str | Column],
    rows: Iterable[Sequence[Cell | str]],
    title: str = "",
) -> Table:
    """Return a table of cells: what each row is about, in one column or several, then numbers under their titles.

    A column that holds no numbers, or that is under a heading, is given instead of its title.
    """
    return group_table(first, numbers, [Group(cell_rows(rows))], title)


def group_table(
    first: str | Sequence[str],
    numbers: Iterable[str | Column],
    groups: Iterable[Group] | Mapping[str, Iterable[Sequence[Cell | str]]],
    title: str = "",
) -> Table:
    """Return such a table of groups of rows, which may be given as the rows under each title."""
    words = map(Column, [first] if isinstance(first, str) else first)
    columns = (
        Column(heading, numeric=True) if isinstance(heading, str) else heading
        for heading in numbers
    )
    if isinstance(groups, Mapping):
        groups = (Group(cell_rows(rows), title=name) for name, rows in groups.items())
    return Table((*words, *columns), tuple(groups), title)


def cell_rows(rows: Iterable[Sequence[Cell | str]]) -> tuple[tuple[Cell, ...], ...]:
    """Return rows of a table, of which some entries are plain texts."""
    return tuple(
        tuple(Cell(entry) if isinstance(entry, str) else entry for entry in row) for row in rows
    )


def before_and_after(prior: str, posterior: str) -> str:
    """Return the figure behind a sentence on how good a guess is."""
    return text("exactly {posterior}; before, {prior}", posterior=posterior, prior=prior)


def certain_cell(attack: Attack) -> Cell:
    """Return how many records are known for certain, and which share of all that is."""
    return Cell(f"{number(attack.certain)} ({percentage(attack.deterministic.posterior)})")


CHARACTERS, WIDEST_NUMBER, LEAST_WORDS = 110, 32, 14
"""How many characters of a table fit on a line, and how many of them a number takes at most and words at least."""


def column_widths(table: Table) -> list[int]:
    """Return how the columns share the width of the paper: numbers get what they need, words the rest.

    >>> group = Group(((Cell("long " * 30), Cell("1.25")),))
    >>> table = Table((Column("a"), Column("b", numeric=True)), (group,))
    >>> column_widths(table)
    [104, 6]
    """
    rows = [row for group in table.groups for row in group.rows]
    needed = []
    for place, column in enumerate(table.columns):
        cells = [f"{row[place].mark or ''} {row[place].text}".strip() for row in rows]
        needed.append(2 + max(map(len, [*column.title.split(), *cells]), default=0))
    numbers = [min(need, WIDEST_NUMBER) for need in needed]
    words = sum(not column.numeric for column in table.columns)
    taken = sum(n for n, column in zip(numbers, table.columns, strict=True) if column.numeric)
    room = max(LEAST_WORDS, (CHARACTERS - taken) // max(words, 1))
    return [
        number if column.numeric else min(need, room)
        for need, number, column in zip(needed, numbers, table.columns, strict=True)
    ]
