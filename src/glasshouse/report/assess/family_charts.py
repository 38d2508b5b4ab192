"""Releases side by side in a picture: how often one guess is right, by what is known and over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10

import altair as alt

from glasshouse.disclosure import hidden_parts, smallest_cell
from glasshouse.errors import StudyError, printable
from glasshouse.language import text, text_for
from glasshouse.microdata.parts import Family, FamilyRow
from glasshouse.report.charts import NEUTRAL, TARGETS, wrapped
from glasshouse.report.discretion import Among
from glasshouse.report.page import Cell, Column, Group, Table
from glasshouse.report.words import enumeration, joined, percentage_points, singular

MOST, LEAST, OTHER = TARGETS[0][0], TARGETS[1][0], "#b5b5b5"
"""Colours of what leaks most, what leaks least, and the rest."""
SERIES = (TARGETS[4][0], TARGETS[1][0], TARGETS[0][0])
"""Colours of few, some and all attributes."""
MOST_LABELS = 30
"""With more lines than this, only those that stand out are named."""
LONGEST_LABEL = 28
"""So many characters of a part's name fit into a picture."""

_WIDTH, _HEIGHT, _LINE = 600, 360, 15  # pixels; the last is the height of a label
_View = alt.LayerChart | alt.FacetChart
_OWN_COLOUR = alt.Color("colour:N", scale=None)
MOST_NAMED = 3
"""So many parts that stand out alike are all named."""


def family_chart(
    family: Family, sensitive: str | None = None, *, part: str = "part"
) -> alt.TopLevelMixin:
    """Show how often one guess is right, by what the adversary knows: a line per part.

    The parts that leak most and least are drawn in colour, the others in grey. For a family in time a second view has
    the parts side by side, with a line for one, some and all attributes.

    Args:
        family: The releases.
        sensitive: The secret; by default re-identification.
        part: What the releases are to each other, such as ``state``, ``year`` or ``file``.

    Raises:
        StudyError: The family has no such secret, or no part that may be shown.
    """
    shown = shown_parts(family)
    if not shown.parts:
        raise StudyError(
            text(
                "no part has at least {smallest} records; there is nothing to draw",
                smallest=smallest_cell(),
            )
        )
    lines = _by_knowledge(shown, sensitive, part)
    if not shown.ordered or len(shown.parts) < 2:
        return lines
    return alt.vconcat(_over_time(shown, sensitive), lines, spacing=36)


def hides_some(family: Family, sensitive: str | None = None) -> bool:
    """Tell whether the picture shows a chance by the middle of its bounds, as it would tell of few people."""
    return any(
        told_in(row, sensitive).hides(*_chances(row))
        for row in shown_parts(family).table(sensitive).rows
    )


def family_chart_table(family: Family, sensitive: str | None = None) -> Table:
    """Return the numbers of `family_chart`: per part, how probable a right guess is, by what is known."""
    table = shown_parts(family).table(sensitive)
    columns = (
        Column(text("Part")),
        Column(text("nothing known"), numeric=True),
        *(Column(_knowing(size), numeric=True) for size in table.sizes),
    )
    rows = tuple(
        (Cell(part_label(row.part)), *map(told_in(row, sensitive).cell, _chances(row)))
        for row in table.rows
    )
    return Table(columns, (Group(rows),))


def _knowing(size: int) -> str:
    return text_for(size, "{count} attribute known", "{count} attributes known")


def _short(name: str) -> str:
    label = part_label(name)
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


@dataclass(frozen=True)
class _Line:
    """One line of a picture."""

    name: str
    """What it is told by."""
    label: str
    """What stands at its end."""
    colour: str
    success: tuple[float, ...]
    """How many of every 100 guesses are right, from left to right."""


def _by_knowledge(family: Family, sensitive: str | None, part: str) -> _View:
    """Draw a line per part over the number of attributes that are known, the prior first."""
    table = family.table(sensitive)
    lines = [
        _Line(str(number), _end_label(row, sensitive), _colour(row), _successes(row, sensitive))
        for number, row in enumerate(table.rows)
    ]
    named = lines if len(lines) <= MOST_LABELS else _standing_out(lines)
    height = max(_HEIGHT, 18 * len(named))
    top = _round_top(max(max(line.success) for line in lines))
    known = (0, *table.sizes)
    x = alt.X(
        "known:Q",
        title=text("how many attributes of a person she knows (the most telling ones)"),
        scale=alt.Scale(domain=[0, known[-1]], nice=False),
        axis=alt.Axis(
            values=known,
            labelFlush=False,
            format="d",
        ),
    )
    return alt.layer(
        *_curves(lines, known, x, _success_axis(top)),
        *_end_labels(named, known[-1], x, _success_axis(top), top, _LINE * top / height),
    ).properties(
        width=_WIDTH,
        height=height,
        title=alt.Title(
            wrapped(_finding(table.rows, part)), subtitle=_legend(table.rows, sensitive, part)
        ),
    )


def _legend(rows: Sequence[FamilyRow], sensitive: str | None, part: str) -> list[str]:
    said = {"goal": what_she_guesses(sensitive), "part": singular(part)}
    if most(rows):
        return wrapped(
            text(
                "One guess at {goal}, a line per {part}: with more attributes known it is right more often. In colour: "
                "where they add most and least.",
                **said,
            ),
            95,
        )
    return wrapped(
        text(
            "One guess at {goal}, a line per {part}: with more attributes known it is right more often.",
            **said,
        ),
        95,
    )


def _curves(
    lines: Sequence[_Line], known: Sequence[int], x: alt.X, y: alt.Y
) -> tuple[alt.Chart, ...]:
    """Draw the lines: grey ones thin, coloured ones in front of them."""
    points = [
        {"name": line.name, "colour": line.colour, "known": size, "success": success}
        for line in lines
        for size, success in zip(known, line.success, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x, y=y, detail="name:N")
    front = base.transform_filter(f"datum.colour != '{OTHER}'").encode(color=_OWN_COLOUR)
    return (
        base.mark_line(strokeWidth=1.2, color=OTHER),
        front.mark_line(strokeWidth=3),
        front.mark_point(filled=True, size=60, opacity=1),
    )


def _end_labels(
    lines: Sequence[_Line], last: int, x: alt.X, y: alt.Y, top: float, gap: float
) -> tuple[alt.Chart, ...]:
    """Name lines to the right of their ends, spread so that none covers another, each led to by a thin line."""
    pixel = last / _WIDTH
    ends = [line.success[-1] for line in lines]
    places = list(zip(lines, ends, _spread(ends, gap, top), strict=True))
    leaders = [
        {
            "name": line.name,
            "colour": line.colour,
            "known": last + pixels * pixel,
            "success": success,
        }
        for line, end, place in places
        for pixels, success in ((7, end), (34, place), (38, place))
    ]
    labels = [
        {
            "label": line.label,
            "colour": NEUTRAL if line.colour == OTHER else line.colour,
            "known": last + 41 * pixel,
            "success": place,
        }
        for line, _, place in places
    ]
    return (
        alt.Chart(alt.InlineData(values=leaders))
        .mark_line(strokeWidth=0.7)
        .encode(x=x, y=y, detail="name:N", color=_OWN_COLOUR),
        alt.Chart(alt.InlineData(values=labels))
        .mark_text(align="left", baseline="middle", fontSize=12, limit=360)
        .encode(x=x, y=y, text="label:N", color=_OWN_COLOUR),
    )


def _over_time(family: Family, sensitive: str | None) -> _View:
    """Draw a line over the parts for nothing, one, some and all attributes known."""
    table = family.table(sensitive)
    parts = [part_label(row.part) for row in table.rows]
    places = sorted({0, len(table.sizes) // 2, len(table.sizes) - 1})
    by_place = list(zip(*(_successes(row, sensitive) for row in table.rows), strict=True))
    lines = [_Line("0", text("nothing known"), NEUTRAL, by_place[0])] + [
        _Line(str(size), _knowing(size), colour, by_place[place + 1])
        for place, size, colour in zip(
            places, [table.sizes[i] for i in places], SERIES[-len(places) :], strict=True
        )
    ]
    top = _round_top(max(max(line.success) for line in lines))
    points = [
        {"name": line.name, "colour": line.colour, "part": part, "success": success}
        for line in lines
        for part, success in zip(parts, line.success, strict=True)
    ]
    ends = _spread([line.success[-1] for line in lines], _LINE * top / _HEIGHT, top)
    labels = [
        {"label": line.label, "colour": line.colour, "part": parts[-1], "success": place}
        for line, place in zip(lines, ends, strict=True)
    ]
    x = alt.X(
        "part:O",
        sort=parts,
        title=None,
        scale=alt.Scale(type="point", padding=0.3),
        axis=alt.Axis(
            labelAngle=0, labelOverlap="greedy", labelLimit=max(60, _WIDTH // len(parts))
        ),
    )
    y = _success_axis(top)
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x, y=y, color=_OWN_COLOUR)
    ends_named = alt.Chart(alt.InlineData(values=labels)).mark_text(
        align="left", baseline="middle", fontSize=12, dx=12
    )
    return alt.layer(
        base.mark_line(strokeWidth=2.5).encode(detail="name:N"),
        base.mark_point(filled=True, size=60, opacity=1),
        ends_named.encode(x=x, y=y, color=_OWN_COLOUR, text="label:N"),
    ).properties(
        width=_WIDTH,
        height=_HEIGHT,
        title=alt.Title(
            wrapped(_time_finding(family, sensitive)),
            subtitle=wrapped(
                text(
                    "One guess at {goal}, by how many attributes of the person she knows.",
                    goal=what_she_guesses(sensitive),
                )
            ),
        ),
    )


def _finding(rows: Sequence[FamilyRow], part: str) -> str:
    if most(rows):
        return text(
            "Most is given away by {most}, least by {least}",
            most=names_of(most(rows), _short),
            least=names_of(least(rows), _short),
        )
    if len(rows) == 1:
        return text("What {part} gives away", part=_short(rows[0].part))
    return text("No {part} gives away more than another", part=singular(part))


def _time_finding(family: Family, sensitive: str | None) -> str:
    change = family.change(sensitive)[-1]
    parts = {"first": _short(change.first), "last": _short(change.last)}
    if not change.difference:
        return text("In {last} the attributes add as much as in {first}", **parts)
    ends = family.table(sensitive).rows
    if any(_is_hidden(row, sensitive) for row in (ends[0], ends[-1])):
        if change.difference > 0:
            return text("In {last} the attributes add more than in {first}", **parts)
        return text("In {last} the attributes add less than in {first}", **parts)
    points = percentage_points(change.difference)
    if change.difference > 0:
        return text(
            "In {last} the attributes add {points} percentage points more than in {first}",
            points=points,
            **parts,
        )
    return text(
        "In {last} the attributes add {points} percentage points less than in {first}",
        points=points,
        **parts,
    )


def _success_axis(top: float) -> alt.Y:
    return alt.Y(
        "success:Q",
        title=text("guesses that are right, of every 100"),
        scale=alt.Scale(domain=[0, top], nice=False),
    )


def _chances(row: FamilyRow) -> tuple[Fraction, ...]:
    """Return how probable a right guess is: before, and by number of attributes known."""
    prior = row.prior.value
    return (prior, *(prior + cell.value for cell in row.additive))


def _successes(row: FamilyRow, sensitive: str | None) -> tuple[float, ...]:
    """Return the same as how many of every 100 guesses are right, as far as it is told."""
    told = told_in(row, sensitive)
    return tuple(100 * float(told.drawn(chance)) for chance in _chances(row))


def _is_hidden(row: FamilyRow, sensitive: str | None) -> bool:
    """Tell whether what all attributes add is not told as it is."""
    return told_in(row, sensitive).hides(row.prior.value, _chances(row)[-1])


def _colour(row: FamilyRow) -> str:
    if row.additive[-1].highest:
        return MOST
    return LEAST if row.additive[-1].lowest else OTHER


def _end_label(row: FamilyRow, sensitive: str | None) -> str:
    """Name a line at its end; of one that stands out, say what all attributes add."""
    cell = row.additive[-1]
    name = _short(row.part)
    points = told_in(row, sensitive).points(row.prior.value, _chances(row)[-1])
    if cell.highest:
        return text("{part}: most, {points} percentage points", part=name, points=points)
    if cell.lowest:
        return text("{part}: least, {points} percentage points", part=name, points=points)
    return name


def _standing_out(lines: Sequence[_Line]) -> list[_Line]:
    """Return a line of each colour but grey, to stand for all of that colour where there are too many to name."""
    first: dict[str, _Line] = {}
    for line in lines:
        first.setdefault(line.colour, line)
    return [line for colour, line in first.items() if colour != OTHER]


def _round_top(highest: float) -> float:
    """Return a round end of an axis that holds a figure: 1, 2, 4, 6, 8 or 10 times a power of ten, at most 100."""
    unit = 10.0 ** floor(log10(highest))
    return min(100.0, next(step * unit for step in (1, 2, 4, 6, 8, 10) if step * unit >= highest))


def _spread(wanted: Sequence[float], gap: float, top: float) -> list[float]:
    """Return places from 0 to the top, a gap or more apart, as near as possible to those wanted, in the same order.

    Labels that would overlap form a block around the mean of where they belong; blocks that touch are joined.

    >>> _spread([2.0, 5.0, 2.0], 1.0, 9.0), _spread([8.0, 9.0, 9.0], 1.0, 9.0)
    ([1.5, 5.0, 2.5], [7.0, 8.0, 9.0])
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[
        tuple[float, int]
    ] = []  # where each label wants the block to begin, summed; how many there are
    for i in order:
        total, count = wanted[i], 1
        while blocks and _begin(*blocks[-1], gap, top) + blocks[-1][1] * gap > _begin(
            total, count, gap, top
        ):
            before, others = blocks.pop()
            total += before - count * others * gap
            count += others
        blocks.append((total, count))
    places = [
        _begin(total, count, gap, top) + k * gap for total, count in blocks for k in range(count)
    ]
    return [place for _, place in sorted(zip(order, places, strict=True))]


def _begin(total: float, count: int, gap: float, top: float) -> float:
    """Return where a block of labels begins: where they want it on average, within the axis where it fits."""
    return max(0.0, min(total / count, top - (count - 1) * gap))


def shown_parts(family: Family) -> Family:
    """Return the family of those parts that a report may show."""
    hidden = hidden_parts([(part.records,) for part in family.parts])
    shown = (part for place, part in enumerate(family.parts) if place not in hidden)
    return replace(family, parts=tuple(shown))


def told_in(row: FamilyRow, sensitive: str | None, *, exact: bool = False) -> Among:
    """Return how the chances of a guess in one part are told.

    A guess at whose record it is counts classes, and nobody with particular values. One at a secret counts those who
    have the same value of it.

    Args:
        row: The part.
        sensitive: The secret; None: a guess at whose record it is.
        exact: Whether the analyst reads it.
    """
    return Among(row.records, exact=exact or sensitive is None)


def what_she_guesses(sensitive: str | None) -> str:
    """Say what a guess is at: whose record it is, or a secret."""
    if sensitive is None:
        return text("whose record it is")
    return text("the {secret}", secret=enumeration([sensitive]))


def part_label(name: str) -> str:
    """Return the name of a part with every character visible; that without one is of missing values."""
    return printable(name) if name.strip() else text("(missing)")


def names_of(rows: Sequence[FamilyRow], say: Callable[[str], str] = part_label) -> str:
    """Name parts, or the first of many."""
    names = [say(row.part) for row in rows]
    if len(names) <= MOST_NAMED:
        return joined(names)
    return text_for(
        len(names) - 1,
        "{first} and {count} other",
        "{first} and {count} others",
        first=names[0],
    )


def most(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Return the parts that leak most with all that was attacked with; none where all leak the same."""
    return [row for row in rows if row.additive[-1].highest]


def least(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Return the parts that leak least; none where all leak the same."""
    return [row for row in rows if row.additive[-1].lowest]
