"""Releases side by side in a picture: how often one guess is right, by what is known and over time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10

from glasshouse.disclosure import hidden_parts
from glasshouse.errors import StudyError
from glasshouse.language import decimal, printable, text, text_for
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.parts import Family, FamilyCell, FamilyRow
from glasshouse.report import vega
from glasshouse.report.attacks import exact_share
from glasshouse.report.cells import cell_table
from glasshouse.report.charts import JOINT, NEUTRAL, TARGETS, keyed, plot, titled
from glasshouse.report.discretion import Among, change_told
from glasshouse.report.page import Cell, Table
from glasshouse.report.words import (
    enumeration,
    joined,
    percentage_points,
    plural,
    singular,
    told_apart,
)

SERIES = (TARGETS[4][0], TARGETS[1][0], TARGETS[0][0])
"""Colours of few, some and all attributes."""
HIGHEST, LOWEST = 20, 10
"""Of more parts than these together, so many with the highest and with the lowest figures are drawn."""
LONGEST_LABEL = 28
"""So many characters of a part's name fit into a picture."""

_WIDTH, _HEIGHT, _LINE = 600, 300, 15  # pixels; the last is the height of a label
_OWN_COLOUR = vega.Color("colour:N", scale=None)
MOST_NAMED = 3
"""So many parts that stand out alike are all named."""
ORIGINS = frozenset(
    "race raca cor colour color ethnicity ethnic etnia religion religiao faith nationality nacionalidade origin origem "
    "caste tribe tribo".split()
)
"""Words that call a column one of people's origin or faith."""


def is_about_origin(column: str | None) -> bool:
    """Tell whether a column is about people's origin or faith: a ranking of such groups would be quoted alone.

    >>> is_about_origin("COR_RACA"), is_about_origin("native-country"), is_about_origin("state"), is_about_origin(None)
    (True, False, False, False)
    """
    plain = unicodedata.normalize("NFKD", (column or "").lower())
    words = re.findall("[a-z]+", plain.encode("ascii", "ignore").decode())
    return not ORIGINS.isdisjoint(words)


def family_chart(family: Family, sensitive: str | None = None, *, part: str = "part") -> vega.Chart:
    """Show how often one guess is right in each part, before and after: the parts with the highest figure first.

    Groups of people by origin stay in the order of the data. A family in time has a line for nothing, one, some and all
    attributes known.

    Args:
        family: The releases.
        sensitive: The secret; by default re-identification.
        part: What the releases are to each other, such as ``state``, ``year`` or ``file``.

    Raises:
        StudyError: The family has no such secret, or no part that may be shown.
    """
    family = shown_parts(family)
    if not family.parts:
        raise StudyError("no part has at least {smallest} records; there is nothing to draw")
    if family.ordered and len(family.parts) > 1:
        return _over_time(family, sensitive)
    return _before_and_after(family, sensitive, part)


def family_chart_table(family: Family, sensitive: str | None = None) -> Table:
    """Return the numbers of `family_chart`: per part, how probable a right guess is, by what is known."""
    family = shown_parts(family)
    rows = (
        (Cell(guess.name), *map(guess.wording.cell, guess.chances))
        for guess in part_guesses(family, sensitive)
    )
    titles = (text("nothing known"), *map(_knowing, family.table(sensitive).sizes))
    return cell_table(text("Part"), titles, rows)


def _knowing(size: int) -> str:
    return text_for(size, "{count} fact known", "{count} facts known")


@dataclass(frozen=True)
class _Line:
    """One line of a picture."""

    name: str
    """What it is told by."""
    label: str
    """What stands at its end."""
    colour: str
    success: tuple[float, ...]
    """How many per cent of guesses are right, from left to right."""


def _before_and_after(family: Family, sensitive: str | None, part: str) -> vega.Chart:
    """Draw a row per part: a guess with nothing known, and with all attributes, joined by a line."""
    guesses = list(part_guesses(family, sensitive))
    title = _finding(family, guesses, part)
    if not is_about_origin(family.by):
        guesses.sort(key=lambda guess: -guess.successes[-1])
    subtitle = text("one guess at {goal}", goal=what_she_guesses(sensitive))
    between = len(guesses) - HIGHEST - LOWEST
    if between > 0:
        guesses = guesses[:HIGHEST] + guesses[-LOWEST:]
        subtitle = text(
            "{subtitle}; {between} between these are in the table below",
            subtitle=subtitle,
            between=between,
        )
    looks = text("nothing known"), _knowing(family.table(sensitive).sizes[-1])
    names = [guess.name for guess in guesses]
    rows = [
        {
            "part": guess.name,
            "before": guess.successes[0],
            "after": guess.successes[-1],
            "label": guess.change,
        }
        for guess in guesses
    ]
    scale = vega.Scale(domain=[0, _round_top(max(max(guess.successes) for guess in guesses))])
    base = plot(rows).encode(y=vega.Y("part:N", sort=names, title=None))
    line = base.mark_rule(strokeWidth=3, color=JOINT).encode(
        x=vega.X("before:Q", scale=scale, title=text("right guesses (%)")), x2="after:Q"
    )
    marks = [
        base.transform_calculate(what=f"'{look}'")
        .mark_point(filled=True, size=100, opacity=1)
        .encode(
            x=vega.X(f"{name}:Q", scale=scale),
            color=vega.Color("what:N", **keyed(looks, (NEUTRAL, TARGETS[0][0]))),
            shape=vega.Shape("what:N", **keyed(looks, ("square", "circle"))),
        )
        for name, look in zip(("before", "after"), looks, strict=True)
    ]
    label = base.mark_text(align="left", dx=10, fontSize=12)
    chart = vega.layer(line, *marks, label.encode(x=vega.value("width"), text="label:N"))
    return titled(chart, title, subtitle, width=480, height=vega.Step(20))


def _over_time(family: Family, sensitive: str | None) -> vega.Chart:
    """Draw a line over the parts for nothing, one, some and all attributes known."""
    guesses, sizes = part_guesses(family, sensitive), family.table(sensitive).sizes
    names = [guess.name for guess in guesses]
    places = sorted({0, len(sizes) // 2, len(sizes) - 1})
    nothing, *by_size = zip(*(guess.successes for guess in guesses), strict=True)
    lines = [_Line("0", text("nothing known"), NEUTRAL, nothing)] + [
        _Line(str(sizes[place]), _knowing(sizes[place]), colour, by_size[place])
        for place, colour in zip(places, SERIES[-len(places) :], strict=True)
    ]
    top = _round_top(max(max(line.success) for line in lines))
    points = [
        {"name": line.name, "colour": line.colour, "part": name, "success": success}
        for line in lines
        for name, success in zip(names, line.success, strict=True)
    ]
    ends = _spread([line.success[-1] for line in lines], _LINE * top / _HEIGHT, top)
    labels = [
        {"label": line.label, "colour": line.colour, "part": names[-1], "success": place}
        for line, place in zip(lines, ends, strict=True)
    ]
    limit = max(60, _WIDTH // len(names))
    x = vega.X(
        "part:O",
        sort=names,
        title=None,
        scale=vega.Scale(type="point", padding=0.3),
        axis=vega.Axis(labelAngle=0, labelOverlap="greedy", labelLimit=limit),
    )
    y = _success_axis(top)
    base = plot(points).encode(x=x, y=y, color=_OWN_COLOUR)
    ends_named = plot(labels).mark_text(align="left", baseline="middle", fontSize=12, dx=12)
    chart = vega.layer(
        base.mark_line(strokeWidth=2.5).encode(detail="name:N"),
        base.mark_point(filled=True, size=60, opacity=1),
        ends_named.encode(x=x, y=y, color=_OWN_COLOUR, text="label:N"),
    )
    subtitle = text(
        "One guess at {goal}, by how many facts about the person she knows.",
        goal=what_she_guesses(sensitive),
    )
    title = _time_finding(family, sensitive)
    return titled(chart, title, subtitle, width=_WIDTH, height=_HEIGHT)


def _finding(family: Family, guesses: Sequence[PartGuess], part: str) -> str:
    if most(guesses) and least(guesses):
        higher, lower = points_apart(most(guesses)[0], least(guesses)[0])
        if is_about_origin(family.by):
            return text(
                "What is added to right guesses differs: from {lower} to {higher} percentage points",
                lower=lower,
                higher=higher,
            )
        return text(
            "Most is added in {most} ({higher} percentage points), least in {least} ({lower})",
            most=names_of([guess.short_name for guess in most(guesses)]),
            least=names_of([guess.short_name for guess in least(guesses)]),
            lower=lower,
            higher=higher,
        )
    if len(guesses) == 1:
        return text("What {part} gives away", part=guesses[0].short_name)
    if not all(guess.is_exact for guess in guesses):  # which is more is not told
        return text("How much the {parts} give away", parts=plural(part))
    return text("No {part} gives away more than another", part=singular(part))


def points_apart(first: PartGuess, last: PartGuess) -> tuple[str, ...]:
    """Say what is added in two parts, in percentage points that tell them apart."""
    if first.is_hidden or last.is_hidden:
        return first.points, last.points
    sizes = [100 * guess.added[0] for guess in (first, last)]
    return told_apart(tuple(decimal(size, digits) for size in sizes) for digits in (1, 2, 3, 4))


def _time_finding(family: Family, sensitive: str | None) -> str:
    change = family.change(sensitive)[-1]
    guesses = part_guesses(family, sensitive)
    first, last = guesses[0], guesses[-1]
    words = {
        "first": first.short_name,
        "last": last.short_name,
        "points": percentage_points(change.difference),
    }
    if first.is_hidden or last.is_hidden:
        if first.added[1] < last.added[0]:
            return text("In {last} the facts add more than in {first}", **words)
        if last.added[1] < first.added[0]:
            return text("In {last} the facts add less than in {first}", **words)
        return text("From {first} to {last}", **words)
    if not change.difference:
        return text("In {last} the facts add as much as in {first}", **words)
    if change.difference > 0:
        return text(
            "In {last} the facts add {points} percentage points more than in {first}", **words
        )
    return text("In {last} the facts add {points} percentage points less than in {first}", **words)


def _success_axis(top: float) -> vega.Part:
    return vega.Y(
        "success:Q",
        title=text("right guesses (%)"),
        scale=vega.Scale(domain=[0, top], nice=False),
    )


def _round_top(highest: float) -> float:
    """Return a round end of an axis that holds a figure: 1, 2, 4, 6, 8 or 10 times a power of ten, at most 100."""
    unit = 10.0 ** floor(log10(highest))
    return min(100.0, next(step * unit for step in (1, 2, 4, 6, 8, 10) if step * unit >= highest))


def _spread(targets: Sequence[float], gap: float, top: float) -> list[float]:
    """Return places from 0 to the top, a gap or more apart, as near as possible to the targets, in the same order.

    Labels that would overlap form a block around the mean of where they belong; blocks that touch are joined.

    >>> _spread([2.0, 5.0, 2.0], 1.0, 9.0), _spread([8.0, 9.0, 9.0], 1.0, 9.0)
    ([1.5, 5.0, 2.5], [7.0, 8.0, 9.0])
    """

    def begin(total: float, count: int) -> float:
        """Return where a block begins: where its labels want it on average, within the axis where it fits."""
        return max(0.0, min(total / count, top - (count - 1) * gap))

    order = sorted(range(len(targets)), key=lambda i: targets[i])
    # where each label wants the block to begin, summed; how many there are
    blocks: list[tuple[float, int]] = []
    for i in order:
        total, count = targets[i], 1
        while blocks and begin(*blocks[-1]) + blocks[-1][1] * gap > begin(total, count):
            before, labels = blocks.pop()
            total += before - count * labels * gap
            count += labels
        blocks.append((total, count))
    places = [begin(total, count) + k * gap for total, count in blocks for k in range(count)]
    return [place for _, place in sorted(zip(order, places, strict=True))]


def shown_parts(family: Family) -> Family:
    """Return the family of those parts that a report may show."""
    hidden = hidden_parts([(part.records,) for part in family.parts])
    parts = (part for place, part in enumerate(family.parts) if place not in hidden)
    return replace(family, parts=tuple(parts))


@dataclass(frozen=True)
class PartGuess:
    """How often one guess is right in a part of a family, and how that is told."""

    row: FamilyRow
    """The part."""
    wording: Among
    """How its chances are told.

    A guess at whose record it is counts classes, and nobody with particular values. One at a secret counts those who
    have the same value of it.
    """

    @property
    def name(self) -> str:
        """What the part is called."""
        return part_label(self.row.part)

    @property
    def short_name(self) -> str:
        """What it is called where there is little room."""
        name = self.name
        return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"

    @property
    def prior(self) -> Fraction:
        """How probable a right guess is before anything is known."""
        return self.row.prior.value

    @property
    def chances(self) -> tuple[Fraction, ...]:
        """How probable it is before, and by number of attributes known."""
        return (self.prior, *(self.prior + cell.value for cell in self.row.additive))

    @property
    def after(self) -> Fraction:
        """How probable it is with all attributes known."""
        return self.chances[-1]

    @property
    def successes(self) -> tuple[float, ...]:
        """How many per cent of guesses are right, as far as it is told: before, and by number of attributes known."""
        return tuple(100 * float(self.wording.drawn(chance)) for chance in self.chances)

    @property
    def added(self) -> tuple[Fraction, Fraction]:
        """Between what all attributes together are told to add."""
        return self.wording.added(self.prior, self.after)

    @property
    def middle(self) -> Fraction:
        """What all attributes together add, as far as it is told: the middle of what it may be."""
        low, high = self.added
        return (low + high) / 2

    @property
    def told(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Between what the chance before is told to be, and what is added to it by number of attributes known."""
        added = (
            self.wording.added(self.prior, self.prior + cell.value) for cell in self.row.additive
        )
        return (self.wording.bounds(self.prior), *added)

    @property
    def is_exact(self) -> bool:
        """Whether every figure of the part is told as it is."""
        return all(low == high for low, high in self.told)

    @property
    def is_hidden(self) -> bool:
        """Whether what all attributes add is told as a bound only."""
        low, high = self.added
        return low < high

    @property
    def change(self) -> str:
        """How often a guess is right before and after, as far as it is told."""
        guess = change_told(Leakage(self.prior, self.after), self.wording, self.wording)
        return guess.arrow or " → ".join(cell.text for cell in guess.cells[:2])

    @property
    def figure(self) -> str:
        """The exact chances before and after as counts of all people, or their bounds."""
        prior, posterior = (
            exact_share(chance, self.row.known) if sayable.is_exact else sayable.figure
            for chance in (self.prior, self.after)
            for sayable in [self.wording.told(chance)]
        )
        return text(
            "{part}: {prior} before, {posterior} after",
            part=self.name,
            prior=prior,
            posterior=posterior,
        )

    @property
    def points(self) -> str:
        """What all attributes together add, in percentage points."""
        return self.wording.points(self.prior, self.after)

    @property
    def is_most(self) -> bool:
        """Whether the part leaks most with all that was attacked with, and others less."""
        return self.row.additive[-1].highest

    @property
    def is_least(self) -> bool:
        """Whether it leaks least, and others more."""
        return self.row.additive[-1].lowest


def part_guesses(
    family: Family, sensitive: str | None, *, exact: bool = False
) -> tuple[PartGuess, ...]:
    """Return the guesses in all parts.

    The highest and the lowest are marked as far as what is told of them says so: a mark beyond that would narrow down a
    figure of which only a bound is told.

    Args:
        family: The parts that are shown.
        sensitive: The secret; None: a guess at whose record it is.
        exact: Whether the analyst reads it.
    """
    exact = exact or sensitive is None
    rows = family.table(sensitive).rows
    guesses = tuple(PartGuess(row, Among.of_part(row.known, exact=exact)) for row in rows)
    if all(guess.is_exact for guess in guesses):
        return guesses
    columns = [
        _told_marks(column) for column in zip(*(guess.told for guess in guesses), strict=True)
    ]
    return tuple(
        _with_marks(guess, marks)
        for guess, marks in zip(guesses, zip(*columns, strict=True), strict=True)
    )


def _told_marks(column: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[bool, bool]]:
    """Return of figures that are told between bounds which are surely the highest, and which the lowest."""
    marks = []
    for place, (low, high) in enumerate(column):
        others = [bounds for other, bounds in enumerate(column) if other != place]
        is_highest = all(low >= most for _, most in others) and any(
            low > most for _, most in others
        )
        is_lowest = all(high <= least for least, _ in others) and any(
            high < least for least, _ in others
        )
        marks.append((is_highest, is_lowest))
    return marks


def _with_marks(guess: PartGuess, marks: Sequence[tuple[bool, bool]]) -> PartGuess:
    prior, *additive = (
        FamilyCell(cell.value, highest, lowest)
        for cell, (highest, lowest) in zip(
            (guess.row.prior, *guess.row.additive), marks, strict=True
        )
    )
    return replace(guess, row=replace(guess.row, prior=prior, additive=tuple(additive)))


def exactly_told(family: Family, sensitive: str | None) -> Family:
    """Return the family of those parts of which every figure is told as it is; what is made of others tells them."""
    exact = [guess.is_exact for guess in part_guesses(family, sensitive)]
    parts = (part for part, is_exact in zip(family.parts, exact, strict=True) if is_exact)
    return replace(family, parts=tuple(parts))


def what_she_guesses(sensitive: str | None) -> str:
    """Say what a guess is at: whose record it is, or a secret."""
    if sensitive is None:
        return text("whose record it is")
    return text("the {secret}", secret=enumeration([sensitive]))


def part_label(name: str) -> str:
    """Return the name of a part with every character visible; that without one is of missing values."""
    return printable(name) if name.strip() else text("(missing)")


def names_of(names: Sequence[str]) -> str:
    """Name parts, or the first of many."""
    if len(names) <= MOST_NAMED:
        return joined(names)
    return text_for(
        len(names) - 1, "{first} and {count} other", "{first} and {count} others", first=names[0]
    )


def most(guesses: Sequence[PartGuess]) -> list[PartGuess]:
    """Return the parts that leak most with all that was attacked with; none where all leak the same."""
    return [guess for guess in guesses if guess.is_most]


def least(guesses: Sequence[PartGuess]) -> list[PartGuess]:
    """Return the parts that leak least; none where all leak the same."""
    return [guess for guess in guesses if guess.is_least]
