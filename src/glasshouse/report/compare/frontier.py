"""The frontier of protected versions: what each leaves of risk and of accuracy, and which one to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import altair as alt

from glasshouse.language import marked, printable, text, text_for, translated
from glasshouse.mitigation import ComparedRelease, Comparison
from glasshouse.report.anonymise.front import anonymise_command, risk_tiles, stricter
from glasshouse.report.attacks import learned
from glasshouse.report.cells import cell_table, percent_cell
from glasshouse.report.charts import TARGETS, plot, titled
from glasshouse.report.page import (
    MOST_ACTIONS,
    Action,
    Cell,
    Decision,
    Figure,
    Finding,
    Tile,
    keep_assumptions,
    note,
)
from glasshouse.report.verdict import Verdict, of_attacks, verdict_on
from glasshouse.report.words import percentage, percentages
from glasshouse.study.compare import CompareStudy
from glasshouse.study.policy import ReleasePolicy

Align: TypeAlias = Literal["left", "center", "right"]


class Choice(NamedTuple):
    """The version to choose."""

    release: ComparedRelease
    """The version."""
    verdict: Verdict | None
    """What the rule says of it; None: nothing."""
    meeting: int
    """How many of the versions meet the rule."""

    @property
    def meets(self) -> bool:
        """Whether it meets the rule."""
        return self.verdict is not None and not self.verdict.failed


def choice(comparison: Comparison, policy: ReleasePolicy) -> Choice:
    """Return the version to choose: of those that do best by the rule, the best trade of risk against accuracy."""
    versions = [
        Choice(row, verdict_on(of_attacks([row.attacks], None, row.name), policy), 0)
        for row in comparison.by_trade
    ]
    decisions = [None, *Decision]
    best = max(
        versions,
        key=lambda version: decisions.index(version.verdict and version.verdict.decision),
    )
    return best._replace(meeting=sum(version.meets for version in versions))


def error_of(row: ComparedRelease) -> Fraction:
    """Return for which share of the records a version is wrong, of two columns together or of one."""
    return Fraction(row.distance)


def recommendation(comparison: Comparison, chosen: Choice) -> Finding:
    """Say what the figures of the version to choose are, and what comes next."""
    stricter_one = _next(comparison, chosen.release)
    how = text(
        "The greatest risk is the highest of two: how often a guess at who it is is right, and what a version adds to "
        "knowing a sensitive value, at a guess or for certain. Risk and error are each taken as a share of their range "
        "over all versions and the original; where their sum is least, more protection costs more than it brings."
    )
    if stricter_one is None:
        return note(_figures_sentence(comparison, chosen.release), meaning=how)
    _, risk = percentages(chosen.release.risk, stricter_one.risk)
    _, error = percentages(error_of(chosen.release), error_of(stricter_one))
    following = text(
        "The next stricter version is “{name}”: greatest risk {risk}, error {error}.",
        name=stricter_one.name,
        risk=risk,
        error=error,
    )
    return note(f"{_figures_sentence(comparison, chosen.release)} {following}", meaning=how)


def _next(comparison: Comparison, chosen: ComparedRelease) -> ComparedRelease | None:
    """Return the version with the next smaller risk, of those that no other one beats."""
    safer = [
        row
        for row in comparison.releases
        if row.risk < chosen.risk
        and len(set(percentages(row.risk, chosen.risk))) > 1
        and not any(other.beats(row) for other in comparison.releases)
    ]
    return max(safer, key=lambda row: row.risk, default=None)


def choice_sentence(comparison: Comparison, chosen: Choice) -> str:
    """Say which version to choose, and why."""
    versions, name = len(comparison.releases), chosen.release.name
    if versions == 1:
        template = (
            marked("“{name}” meets the rule.")
            if chosen.meets
            else marked("“{name}” does not meet the rule.")
        )
    elif not chosen.meets:
        template = marked(
            "None of the versions meets the rule; “{name}” is the best trade of risk against accuracy."
        )
    else:
        return text_for(
            chosen.meeting,
            "Choose “{name}”: it is the only version that meets the rule.",
            "Choose “{name}”: of the {count} versions that meet the rule it is the best trade of risk against "
            "accuracy.",
            name=name,
        )
    return translated(template, name=name)


def _figures_sentence(comparison: Comparison, chosen: ComparedRelease) -> str:
    """Say how great the greatest risk is, before and after, and how much of the version is wrong."""
    before, after = percentages(comparison.original.risk, chosen.risk)
    words = {
        "name": chosen.name,
        "before": before,
        "after": after,
        "error": percentage(error_of(chosen)),
    }
    if before == after:
        template = marked(
            "In “{name}” the greatest risk is {after}, as in the original; the error is {error}."
        )
    elif chosen.risk < comparison.original.risk:
        template = marked(
            "In “{name}” the greatest risk is {after}, down from {before} in the original; the error is {error}."
        )
    else:
        template = marked(
            "In “{name}” the greatest risk is {after}, up from {before} in the original; the error is {error}."
        )
    return translated(template, **words)


def tiles(comparison: Comparison, chosen: Choice) -> tuple[Tile, ...]:
    """Return who is at risk and what is given away, before and in the version to choose, and how wrong that is."""
    pairs = list(zip(comparison.original.attacks, chosen.release.attacks, strict=True))
    return (*risk_tiles(pairs, comparison.subject), _error_tile(comparison, chosen.release))


def _error_tile(comparison: Comparison, chosen: ComparedRelease) -> Tile:
    nearest = min(comparison.releases, key=lambda row: row.distance)
    error, least = percentages(error_of(chosen), error_of(nearest))
    words = {"name": chosen.name, "nearest": nearest.name, "least": least}
    template = marked(
        "error of “{name}”; the most accurate version, “{nearest}”, has an error of {least}"
    )
    if least == error:
        template = marked("error of “{name}”: no version is more accurate")
    if len(comparison.releases) == 1:
        template = marked("error of “{name}”, on average, of what it says of the columns")
    return Tile(text("What it costs"), error, translated(template, **words))


def actions(comparison: Comparison, question: CompareStudy, chosen: Choice) -> tuple[Action, ...]:
    """Return what to do: publish the version to choose where it meets the rule, or else what would."""
    study = question.protections.get(chosen.release.name)
    change = " → ".join(percentages(comparison.original.risk, chosen.release.risk))
    sentence = text("Of these versions, publish “{name}”.", name=chosen.release.name)
    if not chosen.meets:
        sentence = text(
            "Of these versions, take “{name}”, and do more before it is published.",
            name=chosen.release.name,
        )
    first = Action(
        sentence,
        text("Greatest risk: {change}.", change=change),
        chosen.meets,
        "" if study is None else anonymise_command(study),
    )
    further = list(stricter(study, chosen.verdict)) or [keep_assumptions()]
    return (first, *further)[:MOST_ACTIONS]


# The picture


class Panel(NamedTuple):
    """One kind of risk, version by version."""

    title: str
    """What it is."""
    risk: Callable[[ComparedRelease], Fraction]
    """How great it is in a version."""


WIDTH, HEIGHT, LETTER, LINE = 200, 200, 6.6, 14.0
"""How large a panel is on a narrow screen, and the letters in it, in pixels."""


def frontier_figure(comparison: Comparison, chosen: Choice) -> Figure:
    """Show what each version leaves of risk against how wrong it is; the line joins those that nothing beats."""
    panels = [
        Panel(
            text("right guesses at who it is (%)"),
            lambda row: row.naming.probabilistic.posterior,
        )
    ]
    if comparison.original.inferring:
        panels.append(
            Panel(
                text("added to knowing a sensitive value (points)"),
                lambda row: max(map(learned, row.inferring)),
            )
        )
    charts = [_panel(comparison, panel, chosen.release) for panel in panels]
    titles = [text("Error"), *(panel.title for panel in panels), text("Beaten by")]
    rows = [
        (
            Cell(text("original") if row is comparison.original else row.name),
            percent_cell(error_of(row)),
            *(percent_cell(panel.risk(row)) for panel in panels),
            Cell(
                next((other.name for other in comparison.releases if other.beats(row)), "–")
                if row is not comparison.original
                else "–"
            ),
        )
        for row in comparison.rows
    ]
    return Figure.of(
        titled(
            alt.hconcat(*charts, spacing=40),
            _title(comparison, chosen),
            text(
                "towards the lower left is better; the line joins the versions that no other one beats"
            ),
        ),
        label=text("Risk against error, one mark per version"),
        caption=text(
            "Down: harder to learn about somebody. Left: more accurate. Hollow: another version is more accurate while "
            "no attack succeeds more often. Diamond: the version to choose. The original has no error."
        ),
        table=cell_table(text("Version"), titles, rows),
    )


def _title(comparison: Comparison, chosen: Choice) -> str:
    before, after = percentages(comparison.original.risk, chosen.release.risk)
    words = {
        "name": chosen.release.name,
        "after": after,
        "before": before,
        "error": percentage(error_of(chosen.release)),
    }
    return text("“{name}”: greatest risk {after} (original: {before}), error {error}", **words)


def _panel(
    comparison: Comparison, panel: Panel, chosen: ComparedRelease
) -> alt.LayerChart | alt.FacetChart:
    releases = sorted(comparison.releases, key=lambda row: (row.distance, panel.risk(row)))
    frontier = list(_undominated(releases, panel.risk))
    widest = max(100 * row.distance for row in releases) * 1.1 or 1.0
    highest = max(100 * float(panel.risk(row)) for row in releases) * 1.15 or 1.0
    x = alt.X(
        "error:Q",
        title=text("error (%)"),
        scale=alt.Scale(domain=[0, widest], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    y = alt.Y("risk:Q", title=None, scale=alt.Scale(domain=[0, highest], nice=False))

    def place(row: ComparedRelease) -> dict[str, object]:
        return {
            "name": printable(row.name),
            "error": 100 * row.distance,
            "risk": 100 * float(panel.risk(row)),
            "kind": "chosen"
            if row is chosen
            else "beaten"
            if any(other.beats(row) for other in releases)
            else "frontier",
        }

    line = [place(row) for row in frontier]
    layers: list[alt.Chart] = [
        plot(line)
        .mark_line(interpolate="step-after", strokeWidth=1.5, color=TARGETS[0][0])
        .encode(x=x, y=y)
    ]
    looks = {"frontier": ("circle", True), "beaten": ("circle", False), "chosen": ("diamond", True)}
    marks = [place(row) for row in releases]
    for kind, (shape, filled) in looks.items():
        alike = [mark for mark in marks if mark["kind"] == kind]
        if alike:
            layers.append(
                plot(alike)
                .mark_point(
                    shape=shape,
                    filled=filled,
                    size=180 if kind == "chosen" else 90,
                    opacity=1,
                    color=TARGETS[0][0],
                )
                .encode(x=x, y=y)
            )
    spots = [
        (
            float(str(mark["error"])) / widest * WIDTH,
            HEIGHT - float(str(mark["risk"])) / highest * HEIGHT,
        )
        for mark in marks
    ]
    for mark, (dx, dy, align) in zip(
        marks, labels_beside(spots, [str(mark["name"]) for mark in marks]), strict=True
    ):
        layers.append(
            plot([mark])
            .mark_text(align=align, baseline="middle", dx=dx, dy=dy, fontSize=12)
            .encode(x=x, y=y, text="name:N")
        )
    return alt.layer(*layers).properties(
        width=300, height=HEIGHT, title=alt.Title(panel.title, fontSize=13, fontWeight="normal")
    )


def _undominated(
    releases: Sequence[ComparedRelease], risk: Callable[[ComparedRelease], Fraction]
) -> Iterator[ComparedRelease]:
    """Yield the versions, the most accurate first, of which none before has as little risk."""
    least: Fraction | None = None
    for row in releases:
        if least is None or risk(row) < least:
            least = risk(row)
            yield row


def labels_beside(
    spots: Sequence[tuple[float, float]], names: Sequence[str]
) -> list[tuple[int, int, Align]]:
    """Return where the name of each mark stands: how far to the right of it and below it, and how it is aligned.

    No two names overlap, nor a name and a mark, where there is room on a narrow screen; on a wide one marks are farther
    apart. Names that stay too long are cut by the drawing.

    >>> labels_beside([(0, 100), (4, 100)], ["k = 2", "k = 5"])
    [(8, -25, 'left'), (8, -11, 'left')]
    """
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in spots]
    placed = []
    for (x, y), name in zip(spots, names, strict=True):
        width = LETTER * len(name)
        best = None
        for dx, dy, align in _PLACES:
            left = (
                x + dx if align == "left" else x + dx - width if align == "right" else x - width / 2
            )
            box = (left, y + dy - LINE / 2, left + width, y + dy + LINE / 2)
            inside = box[0] >= -20 and box[2] <= WIDTH + 30 and box[1] >= -10 and box[3] <= HEIGHT
            if inside and not any(_overlap(box, other) for other in taken):
                best = (dx, dy, align, box)
                break
        if best is None:
            dx, dy, align = _PLACES[0]
            best = (dx, dy, align, (x + dx, y + dy - 7, x + dx + width, y + dy + 7))
        placed.append(best[:3])
        taken.append(best[3])
    return placed


_SIDES: tuple[tuple[int, Align], ...] = ((8, "left"), (-8, "right"), (0, "center"))
_PLACES: tuple[tuple[int, int, Align], ...] = tuple(
    (dx, dy, align)
    for dy in (-11, 12, 0, -25, 26, -39, -53)
    for dx, align in _SIDES
    if dy or align != "center"
)


def _overlap(
    first: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return (
        first[0] < other[2] and other[0] < first[2] and first[1] < other[3] and other[1] < first[3]
    )
