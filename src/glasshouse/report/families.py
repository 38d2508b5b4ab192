"""Releases side by side: which state, year or file gives away most, in sentences, in a picture and in a table.

Parts of fewer than five records are left out of all three: their figures would be counts of people, with the part's
name beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10
from textwrap import wrap
from typing import Any

import altair as alt

from glasshouse.errors import StudyError, printable
from glasshouse.microdata.family import LEAST_PARTS, Cell, Family, FamilyRow
from glasshouse.report.findings import SMALL_CLASS
from glasshouse.report.words import counted, enumeration, frequency, plural

MOST, LEAST, OTHER, NOTHING = "#d55e00", "#0072b2", "#b5b5b5", "#7f7f7f"
"""Colours of what leaks most, what leaks least, and the rest (Okabe and Ito 2008)."""
SERIES = ("#56b4e9", "#0072b2", "#d55e00")
"""Colours of few, some and all attributes."""
DEGREES = (
    (0.2, "hardly"),
    (0.4, "tend slightly to"),
    (0.6, "tend to"),
    (0.8, "mostly"),
    (float("inf"), "nearly always"),
)
"""What a correlation below so much is called (the bounds of Evans 1996)."""
FEW_PARTS = 10
"""Over fewer parts than this a correlation may well be chance."""
MOST_LABELS = 30
"""With more lines than this, only those that stand out are named."""
LONGEST_LABEL = 28
"""So many characters of a part's name fit into a picture."""

_WIDTH, _HEIGHT, _LINE = 600, 360, 15  # pixels; the last is the height of a label
_View = alt.LayerChart | alt.FacetChart
_OWN_COLOUR = alt.Color("colour:N", scale=None)


def shown_parts(family: Family) -> Family:
    """Return the family of those parts that a report may show: of at least five records."""
    return replace(
        family, parts=tuple(part for part in family.parts if part.records >= SMALL_CLASS)
    )


def family_sentences(
    family: Family, subject: str = "person", *, part: str = "part"
) -> tuple[str, ...]:
    """Return which part gives away most, whether numbers protect, and what changed or is enough: three sentences.

    They speak of the largest number of quasi-identifiers, and of the secret about which the adversary gains most.

    Args:
        family: The releases.
        subject: What a record stands for.
        part: What the releases are to each other, such as ``state``, ``year`` or ``file``.
    """
    shown = shown_parts(family)
    if not shown.parts:
        return (
            f"No {part} has at least {counted(SMALL_CLASS, subject)}: nothing can be said of one without pointing at "
            "someone.",
        )
    target = _most_exposed(shown)
    rows = shown.table(target).rows
    first = _extremes(shown, target, rows, subject, part)
    left_out = len(family.parts) - len(shown.parts)
    if left_out:
        verb = "is" if left_out == 1 else "are"
        first += f" ({counted(left_out, part)} of fewer than {counted(SMALL_CLASS, subject)} {verb} left out.)"
    timed = shown.ordered and len(rows) > 1
    last = _moved(shown, target) if timed else _small_set(shown, target, rows, part)
    return first, _by_number(shown, target, rows, subject, part), last


def family_rows(family: Family, sensitive: str | None = None) -> list[dict[str, Any]]:
    """Return the table of a family as text: a row per part, every figure in per cent, marked where it stands out.

    Args:
        family: The releases.
        sensitive: The secret; by default re-identification.

    Raises:
        StudyError: The family has no such secret.
    """
    table = shown_parts(family).table(sensitive)
    return [
        {
            "part": _label(row.part),
            "records": f"{row.records:,}",
            "prior": _figure(row.prior),
            "additive": [
                {"size": size} | _figure(cell)
                for size, cell in zip(table.sizes, row.additive, strict=True)
            ],
        }
        for row in table.rows
    ]


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
        raise StudyError(f"no part has at least {SMALL_CLASS} records; there is nothing to draw")
    lines = _by_knowledge(shown, sensitive, part)
    if not shown.ordered or len(shown.parts) < 2:
        return lines
    return alt.vconcat(_over_time(shown, sensitive), lines, spacing=36)


def _most_exposed(family: Family) -> str | None:
    """Return the secret about which some part gives away most; without a secret, re-identification."""
    return max(
        family.sensitive,
        key=lambda name: max(part.of(name)[-1].leakage.additive for part in family.parts),
        default=None,
    )


def _most(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Return the parts that leak most with all that was attacked with; none where all leak the same."""
    return [row for row in rows if row.additive[-1].highest]


def _least(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    return [row for row in rows if row.additive[-1].lowest]


def what_she_guesses(sensitive: str | None) -> str:
    """Say what a guess is at: whose record it is, or a secret."""
    return "whose record it is" if sensitive is None else f"the {enumeration([sensitive])}"


def _label(name: str) -> str:
    return printable(name) if name.strip() else "(missing)"


def _short(name: str) -> str:
    label = _label(name)
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def _names(rows: Sequence[FamilyRow], say: Callable[[str], str] = _label) -> str:
    names = [say(row.part) for row in rows]
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _number(leakage: Fraction) -> str:
    """Say a difference of probabilities in percentage points; never round some to none."""
    size = abs(leakage)
    return "less than 0.1" if 0 < size < Fraction(1, 2000) else f"{100 * float(size):.1f}"


def _points(leakage: Fraction) -> str:
    return f"{_number(leakage)} percentage points" if leakage else "nothing"


def _known(family: Family, target: str | None, subject: str) -> str:
    """Say what the adversary knows: the attributes, where they are the same ones in every part."""
    sets = {part.of(target)[-1].quasi_identifiers for part in family.parts}
    if len(sets) == 1:
        return f"a {subject}'s {enumeration(next(iter(sets)))}"
    return f"the {family.sizes[-1]} most telling attributes of a {subject}"


def _extremes(
    family: Family, target: str | None, rows: Sequence[FamilyRow], subject: str, part: str
) -> str:
    knowing, goal = _known(family, target, subject), what_she_guesses(target)
    most, least = _most(rows), _least(rows)
    if not most:
        added = f"knowing {knowing} adds {_points(rows[0].additive[-1].value)} to the success of a guess at {goal}"
        if len(rows) == 1:
            return f"There is one {part} only, {_label(rows[0].part)}: {added}."
        return f"No {part} gives away more than another: {added} in each of the {len(rows)}."
    verb = "gives" if len(most) == 1 else "give"
    return (
        f"Of the {counted(len(rows), part)}, {_names(most)} {verb} away most and {_names(least)} least: someone who "
        f"knows {knowing} guesses {goal} right for {_success(most[0], plural(subject))}, and for "
        f"{_success(least[0], plural(subject))}."
    )


def _success(row: FamilyRow, subjects: str) -> str:
    prior, leaked = row.prior.value, row.additive[-1].value
    after = frequency(prior + leaked)
    who = f"{after} {subjects} in {_label(row.part)}"
    if not leaked:
        return f"{who}, as often as without that knowledge"
    return f"{who} (without that knowledge {frequency(prior)}: {_points(leaked)} more)"


def _by_number(
    family: Family, target: str | None, rows: Sequence[FamilyRow], subject: str, part: str
) -> str:
    """Say whether more people means more protection: the correlation of leakage with the number of records."""
    people, parts = plural(subject), plural(part)
    if len(rows) < LEAST_PARTS:
        return f"Whether having more {people} protects cannot be said of fewer than {LEAST_PARTS} {parts}."
    found = family.correlations(target)[-1].records
    if found is None:
        same = len({row.records for row in rows}) == 1
        alike = f"have the same number of {people}" if same else "give away the same"
        return f"Whether having more {people} protects cannot be said: all {parts} {alike}."
    degree = next(words for bound, words in DEGREES if abs(found) < bound)
    if abs(found) < DEGREES[0][0]:
        said = f"does not protect: how many {people} a {part} has and how much it gives away {degree} go together"
    elif found > 0:
        said = f"does not protect: the larger {parts} {degree} give away more"
    else:
        said = f"goes with more protection: the larger {parts} {degree} give away less"
    chance = f"; with {len(rows)} {parts} that may be chance" if len(rows) < FEW_PARTS else ""
    return (
        f"Having more {people} {said} (correlation {found:+.2f} on a scale from -1 to +1){chance}."
    )


def _moved(family: Family, target: str | None) -> str:
    """Say how the leakage changed from the first part to the last, and where the largest step was."""
    change = family.change(target)[-1]
    span = f"From {_label(change.first)} to {_label(change.last)}"
    if not change.step:
        return f"{span} nothing changed: that knowledge adds {_points(change.after)} each time."
    moved = (
        f"{'up' if change.difference > 0 else 'down'} {_number(change.difference)}"
        if change.difference
        else "the same in the end"
    )
    said = (
        f"{span} what that knowledge adds went from {_number(change.before)} to {_number(change.after)} percentage "
        f"points ({moved})"
    )
    if len(family.parts) == 2:
        return f"{said}."
    direction = "up" if change.step > 0 else "down"
    return (
        f"{said}; the largest step, {direction} {_number(change.step)}, was from {_label(change.step_from)} to "
        f"{_label(change.step_to)}."
    )


def _small_set(family: Family, target: str | None, rows: Sequence[FamilyRow], part: str) -> str:
    """Name a smaller set that gives half of the leakage or more in most parts; else say what the priors are."""
    for place, size in enumerate(family.sizes[:-1]):
        enough = Counter(
            own[place].quasi_identifiers
            for own in (each.of(target) for each in family.parts)
            if 2 * own[place].leakage.additive >= own[-1].leakage.additive > 0
        )
        if enough and 2 * max(enough.values()) > len(rows):
            known, times = enough.most_common(1)[0]
            verb = "alone gives" if size == 1 else "give"
            where = f"in {times} of the {counted(len(rows), part)}"
            if times == len(rows):
                where = f"in all {counted(times, part)}" if times > 1 else "there"
            return f"Already {enumeration(known)} {verb} half of that or more {where}."
    priors = [row.prior.value for row in rows]
    lowest, highest = frequency(min(priors)), frequency(max(priors))
    if lowest == highest:
        return f"Without that knowledge a guess is right for {lowest}."
    return f"Without that knowledge a guess is right for {lowest} to {highest}, depending on the {part}."


def _figure(cell: Cell) -> dict[str, Any]:
    return {"text": _per_cent(cell.value), "highest": cell.highest, "lowest": cell.lowest}


def _per_cent(value: Fraction) -> str:
    """Say a probability in per cent with two decimals that never round it to nothing or to everything."""
    if 0 < value < Fraction(5, 10**5):
        return "< 0.01 %"
    if Fraction(99995, 10**5) < value < 1:
        return "> 99.99 %"
    return f"{100 * float(value):.2f} %"


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
        _Line(str(number), _end_label(row), _colour(row), _successes(row))
        for number, row in enumerate(table.rows)
    ]
    named = lines if len(lines) <= MOST_LABELS else _standing_out(lines)
    height = max(_HEIGHT, 18 * len(named))
    top = _round_top(max(max(line.success) for line in lines))
    known = (0, *table.sizes)
    x = alt.X(
        "known:Q",
        title="how many attributes of a person she knows (the most telling ones)",
        scale=alt.Scale(domain=[0, known[-1]], nice=False),
        axis=alt.Axis(
            values=known,
            labelExpr="datum.value == 0 ? 'none' : datum.label",
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
            _finding(table.rows, part),
            subtitle=wrap(
                f"One guess at {what_she_guesses(sensitive)}, a line per {part}: with more attributes known it is "
                f"right more often.{' In colour: where they add most and least.' if _most(table.rows) else ''}",
                width=95,
            ),
        ),
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
            "colour": NOTHING if line.colour == OTHER else line.colour,
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
    parts = [_label(row.part) for row in table.rows]
    places = sorted({0, len(table.sizes) // 2, len(table.sizes) - 1})
    by_place = list(zip(*map(_successes, table.rows), strict=True))
    lines = [_Line("0", "knowing nothing", NOTHING, by_place[0])] + [
        _Line(str(size), f"knowing {counted(size, 'attribute')}", colour, by_place[place + 1])
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
    text = alt.Chart(alt.InlineData(values=labels)).mark_text(
        align="left", baseline="middle", fontSize=12, dx=12
    )
    return alt.layer(
        base.mark_line(strokeWidth=2.5).encode(detail="name:N"),
        base.mark_point(filled=True, size=60, opacity=1),
        text.encode(x=x, y=y, color=_OWN_COLOUR, text="label:N"),
    ).properties(
        width=_WIDTH,
        height=_HEIGHT,
        title=alt.Title(
            _time_finding(family, sensitive),
            subtitle=f"One guess at {what_she_guesses(sensitive)}, by how many attributes of the person she knows.",
        ),
    )


def _finding(rows: Sequence[FamilyRow], part: str) -> str:
    most, least = _most(rows), _least(rows)
    if not most:
        return (
            f"What {_short(rows[0].part)} gives away"
            if len(rows) == 1
            else f"No {part} gives away more than another"
        )
    verb = "gives" if len(most) == 1 else "give"
    return f"{_names(most, _short)} {verb} away most, {_names(least, _short)} least"


def _time_finding(family: Family, sensitive: str | None) -> str:
    change = family.change(sensitive)[-1]
    first, last = _short(change.first), _short(change.last)
    if not change.difference:
        return f"In {last} the attributes add as much as in {first}"
    direction = "more" if change.difference > 0 else "less"
    return f"In {last} the attributes add {_points(change.difference)} {direction} than in {first}"


def _success_axis(top: float) -> alt.Y:
    return alt.Y(
        "success:Q",
        title="guesses that are right, of every 100",
        scale=alt.Scale(domain=[0, top], nice=False),
    )


def _successes(row: FamilyRow) -> tuple[float, ...]:
    """Return how many of every 100 guesses are right: before, and by number of attributes known."""
    prior = row.prior.value
    every = [prior, *(prior + cell.value for cell in row.additive)]
    return tuple(100 * float(success) for success in every)


def _colour(row: FamilyRow) -> str:
    if row.additive[-1].highest:
        return MOST
    return LEAST if row.additive[-1].lowest else OTHER


def _end_label(row: FamilyRow) -> str:
    """Name a line at its end; of one that stands out, say what all attributes add."""
    cell = row.additive[-1]
    if not (cell.highest or cell.lowest):
        return _short(row.part)
    return f"{_short(row.part)}: {'most' if cell.highest else 'least'}, {_points(cell.value)}"


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
