"""The pictures: one theme, colour-blind safe, readable in print, drawn without a browser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import altair as alt

from glasshouse.language import exactly, number, text
from glasshouse.microdata import Assessment, Attack, Sweep
from glasshouse.microdata.assessment import SIZE_BINS, SUCCESS_BINS
from glasshouse.microdata.influence import shapley_values, without_each
from glasshouse.report.attacks import (
    SMALL_CLASS,
    by_knowledge,
    classes_are_counted,
    growth,
    knowledge_counted,
    last_window,
    stage_labels,
    target_label,
    widest,
)
from glasshouse.report.cells import cell_table, count_cell, group_table, percent_cell, under
from glasshouse.report.charts import (
    JOINT,
    NEUTRAL,
    PER_CENT,
    TARGETS,
    keyed,
    plot,
    successes_table,
    titled,
    wrapped,
)
from glasshouse.report.labels import column_label
from glasshouse.report.page import Cell, Figure, Finding, Section, Table, note
from glasshouse.report.words import (
    enumeration,
    frequencies,
    percentage_points,
    share,
    short_names,
    together,
)

BEFORE, AFTER, CERTAIN = NEUTRAL, TARGETS[0][0], TARGETS[1][0]
"""The colours of a guess before and after, and of certainty."""


def _ways() -> tuple[str, str, str]:
    """Return what the ways to succeed are called: a guess before and after, and certainty."""
    return text("a guess, before"), text("a guess, after"), text("for certain, after")


def _successes(attack: Attack) -> tuple[Fraction, Fraction, Fraction]:
    """Return the success in each of these ways."""
    guess = attack.probabilistic
    return guess.prior, guess.posterior, attack.deterministic.posterior


def before_and_after_figure(assessment: Assessment) -> Figure:
    """Show, per attack with the largest set of quasi-identifiers, success before and after.

    One row per attack on an axis from 0 to 100%: the chance of a right guess before and after, joined by a line
    that is the leakage, and the share of records known for certain.
    """
    attacks, ways = widest(assessment.attacks), _ways()
    successes = [(target_label(attack.secret), _successes(attack)) for attack in attacks]
    rows = [
        {"attack": label, "what": way, "success": 100 * float(success)}
        for label, by_way in successes
        for way, success in zip(ways, by_way, strict=True)
    ]
    spans = [
        {"attack": label, "before": 100 * float(before), "after": 100 * float(after)}
        for label, (before, after, _) in successes
    ]
    order = [label for label, _ in successes]
    row = alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelPadding=12))
    line = plot(spans).mark_rule(strokeWidth=3, color=JOINT)
    points = plot(rows).mark_point(filled=True, size=140, opacity=1)
    succeeds = text("probability that the adversary succeeds (%)")
    chart = alt.layer(
        line.encode(x=alt.X("before:Q", scale=PER_CENT), x2="after:Q", y=row),
        points.encode(
            x=alt.X("success:Q", title=succeeds, scale=PER_CENT),
            y=row,
            color=alt.Color("what:N", **keyed(ways, (BEFORE, AFTER, CERTAIN))),
            shape=alt.Shape("what:N", **keyed(ways, ("circle", "circle", "diamond"))),
        ),
    )
    guess = attacks[0].probabilistic
    before, after = frequencies(guess.prior, guess.posterior)
    title = text(
        "One guess at who it is: right for {before} before, {after} after",
        before=before,
        after=after,
    )
    above = alt.Title(title, subtitle=wrapped(_known(attacks[0])))
    return Figure.of(
        chart.properties(width=680, height=alt.Step(44), title=above),
        label=text("Success of each attack before and after"),
        caption=text(
            "“Before”: she knows the release, but nothing of the person. “After”: she also knows the person’s "
            "quasi-identifiers. The line between them is what the attack gives her."
        ),
        table=successes_table(successes, ways),
    )


def _panels(chart: Any, labels: Iterable[str], *, columns: int) -> alt.FacetChart:
    """Return a panel per target, in their order."""
    header = alt.Header(labelFontSize=13, labelLimit=600 // columns)  # labels may be long
    facet = alt.Facet("attack:N", sort=list(labels), title=None, header=header)
    panels: alt.FacetChart = chart.facet(facet=facet, columns=columns)
    return panels


def growing_figure(assessment: Assessment) -> Figure | None:
    """Show how success grows as datasets are added to a collection, with the largest set of quasi-identifiers.

    One colour per target: a solid line for the chance of a right guess, a dashed one for the share of records known
    for certain. A single dataset grows nowhere.
    """
    stages = growth(assessment.attacks)
    if len(stages) == 1:
        return None
    labels, ways = stage_labels(stages), _ways()[1:]
    rows, numbers = [], dict[str, list[tuple[Cell, ...]]]()
    for label, stage in zip(labels, stages, strict=True):
        for attack in stage:
            target, successes = target_label(attack.secret), _successes(attack)[1:]
            numbers.setdefault(target, []).append((Cell(label), *map(percent_cell, successes)))
            rows += [
                {"datasets": label, "target": target, "what": way, "success": 100 * float(success)}
                for way, success in zip(ways, successes, strict=True)
            ]
    order = [target_label(attack.secret) for attack in stages[-1]]
    looks = [TARGETS[place % len(TARGETS)] for place in range(len(order))]
    colours, shapes = (
        alt.Scale(domain=order, range=list(look)) for look in zip(*looks, strict=True)
    )
    legend = alt.Legend(columns=3)
    so_far, succeeds = (
        text("datasets so far"),
        text("probability that the adversary succeeds (%)"),
    )
    base = plot(rows).encode(
        x=alt.X("datasets:O", sort=labels, title=so_far, axis=_slanted_where_tight(labels, 680)),
        y=alt.Y("success:Q", title=succeeds, scale=PER_CENT),
        color=alt.Color("target:N", title=None, scale=colours, legend=legend),
    )
    lines = base.mark_line(strokeWidth=2.5).encode(
        strokeDash=alt.StrokeDash(
            "what:N",
            title=None,
            scale=alt.Scale(domain=list(ways), range=[[1, 0], [5, 4]]),
            legend=alt.Legend(symbolType="stroke", symbolStrokeColor="#333", columns=1),
        )
    )
    points = (
        base.mark_point(filled=True, size=90, opacity=1)
        .encode(shape=alt.Shape("target:N", title=None, scale=shapes, legend=legend))
        .transform_filter(alt.datum.what == ways[0])
    )
    chart = alt.layer(lines, points)
    return Figure.of(
        titled(chart, _grown(stages), _known(stages[-1][0]), width=680, height=320),
        label=text("Success of each attack as datasets are added"),
        caption=text(
            "Each step adds one more dataset about the people of the first. Solid: her best guess is right. "
            "Dashed: she knows it for certain."
        ),
        table=group_table(text("Datasets so far"), ways, numbers),
    )


def _slanted_where_tight(labels: list[str], width: int) -> alt.Axis:
    """Return an axis whose labels lie flat where they fit beside one another, and slant where they do not."""
    room = width // len(labels)
    if 8 * max(map(len, labels)) < room:
        return alt.Axis(labelAngle=0, labelLimit=room)
    return alt.Axis(labelAngle=-35, labelLimit=170)


def _grown(stages: list[list[Attack]]) -> str:
    """Say what the first dataset gives her, and what all of them do."""
    first, last = (stage[0].probabilistic.posterior for stage in (stages[0], stages[-1]))
    datasets = len(stages[-1][0].datasets)
    alone, every = frequencies(first, last)
    words = {"first": alone, "last": every, "datasets": number(datasets)}
    if datasets == 2:
        return text(
            "One guess at who it is: right for {first} with the first dataset, {last} with both",
            **words,
        )
    return text(
        "One guess at who it is: right for {first} with the first dataset, {last} with all {datasets}",
        **words,
    )


def _known(attack: Attack) -> str:
    known = enumeration(attack.quasi_identifiers)
    if len(attack.datasets) == 1:
        return text("she knows {known}", known=known)
    return text(
        "she knows {known}, with {datasets}",
        known=known,
        datasets=together(short_names(attack.datasets)),
    )


EXPOSED, OTHERS = TARGETS[0][0], TARGETS[1][0]
"""The colours of the records that are at risk, and of all others."""


def class_sizes_section(assessment: Assessment) -> Section | None:
    """Return how many classes and records there are by class size, for the largest set assessed."""
    naming = widest(assessment.attacks)[0]
    if not any(naming.class_sizes.classes):
        return None
    one = len(by_knowledge(last_window(assessment.attacks))) == 1
    return Section(
        text("How many look alike"),
        intro="" if one else text("With the largest set of quasi-identifiers."),
        tables=(_class_sizes_table(naming),),
    )


def _class_sizes_table(attack: Attack) -> Table:
    sizes = attack.class_sizes
    return cell_table(
        text("Records alike"),
        (text("Classes"), text("Records in them")),
        [
            (label, number(classes), number(records))
            for label, classes, records in zip(
                _class_size_labels(), sizes.classes, sizes.records, strict=True
            )
        ],
    )


def _class_size_labels() -> list[str]:
    """Return what the bins of class sizes are called."""
    ranges = [
        number(least) if last == least else f"{number(least)}–{number(last)}"
        for least, last in ((least, following - 1) for least, following in pairwise(SIZE_BINS))
    ]
    return [*ranges, text("{size} or more", size=SIZE_BINS[-1])]


def class_sizes_figure(attack: Attack) -> Figure | None:
    """Return the histogram of records by how many look alike; nothing where classes were not counted."""
    sizes = attack.class_sizes
    if not any(sizes.classes):
        return None
    labels = _class_size_labels()
    small = text("in classes of fewer than {size}", size=SMALL_CLASS)
    large = text("in larger classes")
    rows = [
        {"size": label, "records": records, "what": small if least < SMALL_CLASS else large}
        for label, least, records in zip(labels, SIZE_BINS, sizes.records, strict=True)
    ]
    exposed = sizes.records_below(SMALL_CLASS)
    title = text(
        "{exposed} of {records} records ({share}) are alike with fewer than {few} others",
        exposed=exposed,
        records=attack.records,
        share=share(exposed, attack.records),
        few=SMALL_CLASS - 1,
    )
    alike = text("records that look alike (size of the class)")
    axis = alt.Axis(labelAngle=0, labelFontSize=12)
    scale = alt.Scale(domain=[small, large], range=[EXPOSED, OTHERS])
    bars = plot(rows).mark_bar()
    chart = bars.encode(
        x=alt.X("size:O", sort=labels, title=alike, axis=axis),
        y=alt.Y("records:Q", title=text("number of records")),
        color=alt.Color("what:N", title=None, scale=scale),
    )
    subtitle = text("alike on {known}", known=knowledge_counted(attack))
    return Figure.of(
        titled(chart, title, subtitle, width=680, height=200),
        label=text("Records by the number of those that look like them"),
        caption=text(
            "A class is all records that are alike on the quasi-identifiers. Who is alone can be named for certain."
        ),
        table=_class_sizes_table(attack),
    )


def success_section(attacks: Sequence[Attack]) -> Section | None:
    """Return how many records are guessed right with which probability, per target.

    Of naming it follows from the class sizes, unless records differ in weight or are linked by uncertain keys; then it
    is left out.
    """
    known = [(attack, bins) for attack in attacks if (bins := _success(attack))]
    if not known:
        return None
    rows = {
        target_label(attack.secret): [(label, count_cell(records)) for label, records in bins]
        for attack, bins in known
    }
    return Section(
        text("Records by the probability that a guess about them is right"),
        intro=text(
            "The success of an attack is an average over people. Here it is taken apart: some are guessed at random, "
            "others for certain."
        ),
        tables=(
            group_table(text("Probability of a right guess"), [text("Number of records")], rows),
        ),
    )


def _success(attack: Attack) -> list[tuple[str, int]]:
    """Return how many records there are by the probability of a right guess, the surest first."""
    if attack.secret:
        return list(zip(_tenths(), reversed(attack.success), strict=True)) if attack.success else []
    guessed = Fraction(attack.classes, attack.records)
    if not classes_are_counted(attack) or attack.probabilistic.posterior != guessed:
        return []
    return list(zip(_chances(), attack.class_sizes.records, strict=True))


def _tenths() -> list[str]:
    """Return the tenths of a probability, and certainty, from the highest to the lowest."""
    below = [
        text("{low} to under {high}%", low=10 * tenth, high=10 * tenth + 10)
        for tenth in reversed(range(SUCCESS_BINS - 1))
    ]
    return [text("for certain"), *below]


def _chances() -> list[str]:
    """Return the probability that a record is guessed, per bin of class sizes: one over the size."""

    def per_cent(size: int) -> str:
        return number(100 / size, ".2g")

    ranges = []
    for least, following in pairwise(SIZE_BINS[1:]):
        high, low = per_cent(least), per_cent(following - 1)
        ranges.append(
            text("{figure}%", figure=high)
            if high == low
            else text("{low} to {high}%", low=low, high=high)
        )
    lowest = text("{figure}% or less", figure=per_cent(SIZE_BINS[-1]))
    return [text("for certain"), *ranges, lowest]


@dataclass(frozen=True)
class Influence:
    """What one attribute does for one target."""

    attribute: str
    """The quasi-identifier."""
    share: Fraction
    """Its Shapley value: its part of what all of them add to the success of a guess."""
    drop: Fraction
    """By how much the success falls if it alone is left out."""


def influences(sweep: Sweep) -> dict[str | None, tuple[Influence, ...]]:
    """Return, per target (None is naming), what each attribute does; nothing where some set was not assessed."""
    if len(sweep.masks) != 2 ** len(sweep.quasi_identifiers) - 1:
        return {}
    drops = {(row.removed, row.sensitive): row.drop for row in without_each(sweep).removals}
    by_target: dict[str | None, list[Influence]] = {}
    for value in shapley_values(sweep).values:
        name, target = value.quasi_identifier, value.sensitive
        influence = Influence(name, value.value, drops[name, target])
        by_target.setdefault(target, []).append(influence)
    return {target: tuple(influences) for target, influences in by_target.items()}


def influence_findings(sweep: Sweep) -> tuple[Finding, ...]:
    """Say which attribute contributes most to naming people, and what leaving one out would do."""
    naming = influences(sweep).get(None, ())
    whole = _whole(naming)
    if len(naming) < 2 or whole == 0:
        return ()
    first = _by_share(naming)[0]
    return (
        note(
            text(
                "Of all attributes, {attribute} contributes most to naming people: {own} of the {whole} percentage "
                "points that all of them add to the success of a guess.",
                attribute=enumeration([first.attribute]),
                own=percentage_points(first.share),
                whole=percentage_points(whole),
            ),
            figure=text(
                "Shapley value of {attribute}: {value}",
                attribute=column_label(first.attribute),
                value=number(first.share, ".6g"),
            ),
            meaning=_removal(sweep, naming),
        ),
    )


def _removal(sweep: Sweep, naming: Sequence[Influence]) -> str:
    """Say what leaving out one attribute does at best."""
    best = max(naming, key=lambda influence: influence.drop)
    if best.drop == 0:
        return text(
            "Leaving out any one attribute alone would change nothing: the others together tell as much."
        )
    after = Fraction(int(sweep.named[-1]), sweep.total)
    lower, higher = frequencies(after - best.drop, after)
    return text(
        "Leaving out one attribute alone helps most if it is {attribute}: a guess at whose record it is would then "
        "succeed for {lower} instead of {higher}.",
        attribute=enumeration([best.attribute]),
        lower=lower,
        higher=higher,
    )


def influence_section(sweep: Sweep) -> Section | None:
    """Return, per attribute and target, its share of the leakage and what removing it would do."""
    by_target = influences(sweep)
    if not by_target:
        return None
    columns = [
        column
        for target in by_target
        for column in under(_target_title(target), text("share"), text("without it"))
    ]
    rows = [
        (
            Cell(column_label(name)),
            *(
                _points(value)
                for attributes in by_target.values()
                for value in (attributes[place].share, -attributes[place].drop)
            ),
        )
        for place, name in enumerate(sweep.quasi_identifiers)
    ]
    return Section(
        text("What each attribute contributes"),
        intro=text(
            "In points of success (per 100 records). Share: the attribute’s fair share of what the attack gives her "
            "(its Shapley value; the shares of a column add up to the whole leakage). Without it: how her success "
            "changes if this attribute alone is left out of the release."
        ),
        tables=(cell_table(text("Attribute"), columns, rows),),
    )


def influence_figure(sweep: Sweep) -> Figure | None:
    """Return the picture of what each attribute contributes to naming, and to the inference that gains most."""
    by_target = {target: row for target, row in influences(sweep).items() if _whole(row) > 0}
    if not by_target or len(sweep.quasi_identifiers) < 2:
        return None
    secrets = [target for target in by_target if target is not None]
    worst = max(secrets, key=lambda target: _whole(by_target[target]), default=None)
    drawn = {target: row for target, row in by_target.items() if target in (None, worst)}
    looks = text("its share of what all add"), text("lost if it is left out")
    rows = {
        _target_title(target): [
            (column_label(influence.attribute), _points(influence.share), _points(influence.drop))
            for influence in _by_share(attributes)
        ]
        for target, attributes in drawn.items()
    }
    return Figure.of(
        _influence_chart(drawn, looks),
        label=text("What each attribute contributes to the success of a guess"),
        caption=text(
            "Share: the attribute’s fair part of what all of them add (its Shapley value). Left out: by how much the "
            "success falls if this attribute alone is not published; where others tell the same, that is little."
        ),
        table=group_table(text("Attribute"), looks, rows),
    )


def _whole(influences: Sequence[Influence]) -> Fraction:
    return sum((influence.share for influence in influences), Fraction(0))


def _by_share(influences: Sequence[Influence]) -> list[Influence]:
    """Return what contributes most first."""
    return sorted(influences, key=lambda influence: influence.share, reverse=True)


def _target_title(target: str | None) -> str:
    return target_label(() if target is None else (target,))


def _points(value: Fraction) -> Cell:
    return Cell(number(100 * float(value) + 0.0, "+.2f"), exact=exactly(value))


def _influence_chart(
    by_target: dict[str | None, tuple[Influence, ...]], looks: tuple[str, str]
) -> alt.TopLevelMixin:
    target, first = next(iter(by_target.items()))
    order = [column_label(influence.attribute) for influence in _by_share(first)]
    rows = [
        {
            "attack": _target_title(target),
            "attribute": column_label(influence.attribute),
            "what": what,
            "points": round(100 * float(value), 3),
        }
        for target, attributes in by_target.items()
        for influence in attributes
        for what, value in zip(looks, (influence.share, influence.drop), strict=True)
    ]
    chart = plot(rows).mark_bar()
    bars = chart.encode(
        x=alt.X("points:Q", title=text("percentage points of success")),
        y=alt.Y("attribute:N", sort=order, title=None),
        yOffset=alt.YOffset("what:N", sort=list(looks)),
        color=alt.Color("what:N", **keyed(looks, (EXPOSED, OTHERS))),
    ).properties(width=560 // len(by_target), height=alt.Step(11))
    attribute = enumeration([_by_share(first)[0].attribute])
    title = (
        text("To naming people, {attribute} contributes most", attribute=attribute)
        if target is None
        else text(
            "To inferring {secret}, {attribute} contributes most",
            attribute=attribute,
            secret=enumeration([target]),
        )
    )
    return titled(_panels(bars, map(_target_title, by_target), columns=2), title)
