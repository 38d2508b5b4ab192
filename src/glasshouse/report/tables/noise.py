"""What the noise in published counts lets somebody learn, as people say it: of a hundred whom she suspects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, exp
from typing import NamedTuple

from glasshouse.language import decimal, text, text_for
from glasshouse.qif import Number
from glasshouse.qif.suspicion import PRIORS
from glasshouse.report import vega
from glasshouse.report.cells import cell_table, percent_cell
from glasshouse.report.charts import NEUTRAL, TARGETS, figure_of, plot, titled
from glasshouse.report.page import Cell, Figure, Finding, Severity, Table, note
from glasshouse.report.severity import SOME, graded
from glasshouse.report.words import cases
from glasshouse.tabulation import NoiseExposure, NoisyCount, NoisyTable

SUSPECTED = PRIORS[0]
"""What somebody thought before, in the sentence that everybody reads: 1 in 100."""
_COMPARED = (1, 2, 4, 8)
"""The ε that the picture shows beside the release."""
_MOST_PANELS = 5
"""So many numbers of others are drawn, the fewest first."""
_ROW, _GAP = 10, 3
"""So many dots are in a row of a hundred, and so many are left out between two hundreds."""


def noise_findings(noise: NoiseExposure, subject: str) -> Iterator[Finding]:
    """Yield what the noise protects, worst case first, and on what that rests."""
    member, between = noise.member, noise.between_cells
    yield _headline(noise, member, subject)
    if between is not None and not between.certain:
        yield Finding(
            _severity(between),
            text(
                "Someone who knows that {subject} is in these tables, and only wonders in which of two cells, can go "
                "from 1 in 100 to at most {most} in 100, by what both cells reveal.",
                subject=subject,
                most=in_hundred(between.beliefs[SUSPECTED][1]),
            ),
        )
    if member.certain:
        yield note(
            text(
                "The noise has a bound, so that a published count rules some true ones out: of a person who is in it, "
                "someone who knows everybody else becomes certain {cases}.",
                cases=cases(_fraction(member.certain)),
            )
        )
    one = max((table.worst for table in noise.tables), key=lambda one: one.beliefs[SUSPECTED][1])
    if noise.counts > 1 and noise.together is not None and not member.certain:
        yield note(
            text(
                "One of these counts alone: at most {most} in 100. Every further table with the same people gives more "
                "away.",
                most=in_hundred(one.beliefs[SUSPECTED][1]),
            )
        )
    if not noise.is_whole:
        yield note(
            text(
                "All noisy counts of a person together are too many to be worked out here; shown is the one that gives "
                "most away, which is less than they do."
            )
        )
    for least in sorted(
        {table.noise.least for table in noise.tables if table.noise.least is not None}
    ):
        yield note(
            text(
                "Noisy counts below {least} are shown as {least}: that reveals no more than the noise does, and is "
                "reckoned with.",
                least=least,
            )
        )


def more_noise() -> str:
    """Return what to do where noise protects too few."""
    return text(
        "Add more noise (a smaller ε, a larger σ), or publish fewer tables of the same people; then run it again."
    )


def _headline(noise: NoiseExposure, worst: NoisyCount, subject: str) -> Finding:
    least, most = worst.beliefs[SUSPECTED]
    figure = text(
        "thought before: 1 in 100; afterwards between {least} and {most} in 100; a guess at even odds is right {right}",
        least=in_hundred(least, up=False),
        most=in_hundred(most),
        right=cases(_fraction(worst.right)),
    )
    meaning = text(
        "She is taken to know everybody else in the count, which is the worst case: someone who knows less learns less."
    )
    certain = worst.certain > 0
    words = {"most": in_hundred(most), "subject": subject}
    if certain:
        sentence = text_for(
            noise.counts,
            "Someone who thought 1 in 100 that {subject} is in a count of these tables can become certain of it, if "
            "everybody else is known to them.",
            "Someone who thought 1 in 100 that {subject} is in {count} counts of these tables can become certain of "
            "it, if everybody else is known to them.",
            **words,
        )
    elif worst.leaves_out:
        sentence = text_for(
            noise.counts,
            "Someone who thought 1 in 100 that {subject} is in a count of these tables can come to think at most "
            "{most} in 100, even knowing everybody else, but for what happens less than once in a million times.",
            "Someone who thought 1 in 100 that {subject} is in {count} counts of these tables can come to think at "
            "most {most} in 100, even knowing everybody else, but for what happens less than once in a million times.",
            **words,
        )
    else:
        sentence = text_for(
            noise.counts,
            "Someone who thought 1 in 100 that {subject} is in a count of these tables can come to think at most "
            "{most} in 100, even knowing everybody else.",
            "Someone who thought 1 in 100 that {subject} is in {count} counts of these tables can come to think at "
            "most {most} in 100, even knowing everybody else.",
            **words,
        )
    remedy = more_noise() if worst.convinced > SOME else ""
    picture = certain_figure(noise) if certain else beliefs_figure(noise)
    return Finding(_severity(worst), sentence, figure, meaning, remedy, picture=picture)


def _severity(one: NoisyCount) -> Severity:
    """Return how much it should worry how often somebody becomes certain, or nearly so."""
    if one.convinced > Fraction(1, 2):
        return Severity.HIGH
    return graded(_fraction(one.convinced), certain=one.certain > 0)


def in_hundred(chance: Number, *, up: bool = True) -> str:
    """Say a chance as so many in a hundred, rounded up so that none is told too small, or down.

    >>> in_hundred(Fraction(2, 11)), in_hundred(0.0267), in_hundred(1), in_hundred(0.00371, up=False)
    ('19', '2.7', '100', '0.37')
    """
    hundred = 100 * _fraction(chance)
    digits = 0 if hundred >= 10 or hundred in (0, 1) else 1 if hundred >= 1 else 2
    steps = hundred * 10**digits
    told = Fraction(ceil(steps) if up else int(steps), 10**digits)
    return decimal(told, 0 if told.denominator == 1 else digits)


def beliefs_figure(noise: NoiseExposure) -> Figure:
    """Show of a hundred people whom somebody suspects how many are in the count, before and at most afterwards."""
    after = noise.member.beliefs[SUSPECTED][1]
    panels = [
        _Hundred(text("before"), SUSPECTED, NEUTRAL),
        _Hundred(text("this release"), after, TARGETS[0][0]),
    ]
    if noise.between_cells is not None:
        between = noise.between_cells.beliefs[SUSPECTED][1]
        panels.append(_Hundred(text("of two cells"), between, TARGETS[0][0]))
    for epsilon in _COMPARED:
        allowed = 1 / (1 + (1 / float(SUSPECTED) - 1) * exp(-epsilon))
        panels.append(_Hundred(f"ε = {epsilon}", allowed, TARGETS[1][0]))
    return _hundreds(
        panels,
        title=text(
            "Of 100 people whom somebody suspects, at most {most} are in the count after all",
            most=in_hundred(after),
        ),
        subtitle=text(
            "filled: those who are in it; in blue, what one count with geometric noise allows by its ε"
        ),
        label=text("What somebody can come to think"),
        caption=text(
            "She suspected one in 100, knows everybody else in the count, and saw what reveals most. Each dot is one "
            "of a hundred people of whom she thinks so."
        ),
        titles=(text("noise"), text("at most")),
    )


def certain_figure(noise: NoiseExposure) -> Figure:
    """Show of a hundred people who are in a count how often that becomes certain, by how many others are in it."""
    worst = max(noise.tables, key=lambda table: table.worst.certain)
    panels = [
        _Hundred(_others(worst, one), one.certain, TARGETS[1][0])
        for one in worst.by_others[:_MOST_PANELS]
    ]
    if noise.counts > 1 and noise.together is not None:
        words = text("all {counts} together", counts=noise.counts)
        panels.append(_Hundred(words, noise.together.certain, TARGETS[0][0]))
    if noise.between_cells is not None:
        panels.append(_Hundred(text("of two cells"), noise.between_cells.certain, TARGETS[0][0]))
    return _hundreds(
        panels,
        title=text(
            "Of 100 people who are in a count, up to {most} become certain to someone who knows all others",
            most=in_hundred(noise.worst.certain),
        ),
        subtitle=text("filled: those who become certain, by how many others are in the count"),
        label=text("How often noise with a bound makes certain"),
        caption=text(
            "Someone becomes certain where what is published could not have been published otherwise. Each dot is one "
            "of a hundred people who are in a count."
        ),
        titles=(text("count"), text("becomes certain")),
    )


class _Hundred(NamedTuple):
    """A hundred people, of whom some are filled."""

    label: str
    chance: Number
    colour: str


def _hundreds(
    panels: Sequence[_Hundred],
    *,
    title: str,
    subtitle: str,
    label: str,
    caption: str,
    titles: tuple[str, str],
) -> Figure:
    """Draw hundreds of people beside each other, each with what it is and how many are filled, never too few."""
    dots: list[dict[str, object]] = []
    labels: list[dict[str, object]] = []
    for place, panel in enumerate(panels):
        left = place * (_ROW + _GAP)
        filled = min(100, ceil(100 * _fraction(panel.chance)))
        dots += [
            {"x": left + dot % _ROW, "y": dot // _ROW, "look": panel.colour, "is": dot < filled}
            for dot in range(100)
        ]
        lines = (panel.label, text("{most} in 100", most=in_hundred(panel.chance)))
        labels += [
            {"x": left + (_ROW - 1) / 2, "y": 1.2 * line - _GAP - 0.9, "words": words}
            for line, words in enumerate(lines, start=1)
        ]
    across = max(len(panels), 7) * (_ROW + _GAP) - _GAP
    x = vega.X("x:Q", axis=None, scale=vega.Scale(domain=[-1, across], nice=False))
    y = vega.Y("y:Q", axis=None, scale=vega.Scale(domain=[_ROW, -_GAP - 1], nice=False))
    looks = list(dict.fromkeys(panel.colour for panel in panels))
    colour = vega.Color(
        "look:N", title=None, scale=vega.Scale(domain=looks, range=looks), legend=None
    )
    faint = vega.condition("datum.is", vega.value(1), vega.value(0.15))
    people = plot(dots).mark_circle(size=40).encode(x=x, y=y, color=colour, opacity=faint)
    words = plot(labels).mark_text(fontSize=12).encode(x=x, y=y, text=vega.Text("words:N"))
    first, figure = titles
    rows = [(panel.label, percent_cell(_fraction(panel.chance))) for panel in panels]
    return figure_of(
        titled(vega.layer(people, words), title, subtitle, width=640, height=150),
        label=label,
        caption=caption,
        table=cell_table(first, (figure,), rows),
    )


def noise_table(noise: NoiseExposure) -> Table:
    """Return what one count of every table tells, by how many others are in it."""
    rows = [row for table in noise.tables for row in _rows(table, several=len(noise.tables) > 1)]
    if noise.counts > 1 and noise.together is not None:
        rows.append(_row(text("all {counts} together", counts=noise.counts), noise.together))
    if noise.between_cells is not None:
        rows.append(_row(text("which of two cells"), noise.between_cells))
    titles = (
        *(text("1 in 100 becomes at most"), text("1 in 10 becomes at most")),
        *(text("right at even odds"), text("becomes certain")),
    )
    return cell_table(
        text("count"), titles, rows, text("What one noisy count reveals about a person being in it")
    )


def _rows(table: NoisyTable, *, several: bool) -> Iterator[Sequence[Cell | str]]:
    for one in table.by_others:
        others = _others(table, one)
        label = text("{table}: {others}", table=table.table, others=others) if several else others
        yield _row(label, one)


def _others(table: NoisyTable, one: NoisyCount) -> str:
    """Return how many others are in a count."""
    if table.noise.base is not None:
        return text_for(
            one.others or 0,
            "{count} other, or a multiple of {base} more",
            "{count} others, or a multiple of {base} more",
            base=table.noise.base,
        )
    if one.others is not None:
        return text_for(one.others, "{count} other", "{count} others")
    return text("any number of others") if len(table.by_others) == 1 else text("more others")


def _row(label: str, one: NoisyCount) -> Sequence[Cell | str]:
    figures = (one.beliefs[SUSPECTED][1], one.beliefs[PRIORS[1]][1], one.right, one.certain)
    return (label, *(percent_cell(_fraction(figure)) for figure in figures))


def _fraction(value: Number) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(value).limit_denominator(10**12)
