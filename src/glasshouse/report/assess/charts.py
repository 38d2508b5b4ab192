"""The pictures: one theme, colour-blind safe, readable in print, drawn without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median

import altair as alt

from glasshouse.language import exactly, number, text
from glasshouse.microdata import Assessment, Attack, Sweep
from glasshouse.microdata.assessment import SIZE_BINS, SUCCESS_BINS
from glasshouse.microdata.influence import shapley_values, without_each
from glasshouse.report.attacks import (
    SMALL_CLASS,
    attack_label,
    classes_are_counted,
    growth,
    knowledge_counted,
    last_window,
    stage_labels,
    target_label,
    widest,
)
from glasshouse.report.cells import count_cell, percent_cell
from glasshouse.report.charts import JOINT, NEUTRAL, TARGETS, wrapped
from glasshouse.report.page import Cell, Column, Figure, Finding, Group, Section, Severity, Table
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


def _looks() -> dict[str, tuple[str, str]]:
    """Return, per way to succeed, what it is called and its colour and shape."""
    return {
        text("a guess, before"): (BEFORE, "circle"),
        text("a guess, after"): (AFTER, "circle"),
        text("for certain, after"): (CERTAIN, "diamond"),
    }


def before_and_after(assessment: Assessment) -> alt.TopLevelMixin:
    """Show, per attack with the largest set of quasi-identifiers, success before and after.

    One row per attack on an axis from 0 to 100 %: the chance of a right guess before and after, joined by a line
    that is the leakage, and the share of records known for certain.
    """
    attacks = widest(assessment.attacks)
    looks = _looks()
    rows = [
        {
            "attack": attack_label(attack),
            "what": what,
            "success": 100 * float(success),
        }
        for attack in attacks
        for what, success in zip(looks, _successes(attack), strict=True)
    ]
    spans = [
        {
            "attack": attack_label(attack),
            "before": 100 * float(attack.probabilistic.prior),
            "after": 100 * float(attack.probabilistic.posterior),
        }
        for attack in attacks
    ]
    order = [attack_label(attack) for attack in attacks]
    row = alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelPadding=12))
    line = (
        alt.Chart(alt.InlineData(values=spans))
        .mark_rule(strokeWidth=3, color=JOINT)
        .encode(x=alt.X("before:Q", scale=alt.Scale(domain=[0, 100])), x2="after:Q", y=row)
    )
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=140, opacity=1)
        .encode(
            x=alt.X(
                "success:Q",
                title=text("probability that the adversary succeeds (%)"),
                scale=alt.Scale(domain=[0, 100]),
            ),
            y=row,
            color=alt.Color(
                "what:N",
                title=None,
                sort=list(looks),
                scale=alt.Scale(domain=list(looks), range=[colour for colour, _ in looks.values()]),
            ),
            shape=alt.Shape(
                "what:N",
                title=None,
                sort=list(looks),
                scale=alt.Scale(domain=list(looks), range=[shape for _, shape in looks.values()]),
            ),
        )
    )
    success = attacks[0].probabilistic
    before, after = frequencies(success.prior, success.posterior)
    finding = text(
        "One guess at who it is: right for {before} before, {after} after",
        before=before,
        after=after,
    )
    return alt.layer(line, points).properties(
        width=680,
        height=alt.Step(44),
        title=alt.Title(finding, subtitle=wrapped(_known(attacks[0]))),
    )


def _successes(attack: Attack) -> tuple[Fraction, Fraction, Fraction]:
    return (
        attack.probabilistic.prior,
        attack.probabilistic.posterior,
        attack.deterministic.posterior,
    )


def before_and_after_table(assessment: Assessment) -> Table:
    """Return the numbers of `before_and_after`."""
    columns = (Column(text("Attack")), *(Column(what, numeric=True) for what in _looks()))
    rows = tuple(
        (Cell(attack_label(attack)), *map(percent_cell, _successes(attack)))
        for attack in widest(assessment.attacks)
    )
    return Table(columns, (Group(rows),))


def every_subset(assessment: Assessment) -> alt.TopLevelMixin:
    """Show one dot per set of quasi-identifiers: how many there are in it against the success of a guess.

    A panel per target, with the prior as a line; of a growing collection, with all datasets. Dots that would cover
    one another are drawn once.
    """
    dots = sorted(
        {
            (
                attack_label(attack),
                len(attack.quasi_identifiers),
                round(100 * float(attack.probabilistic.posterior), 1),
            )
            for attack in last_window(assessment.attacks)
        }
    )
    order = [attack_label(attack) for attack in widest(assessment.attacks)]
    rows = [
        {"attack": attack, "size": size, "success": success, "prior": priors[attack]}
        for priors in [_priors(assessment)]
        for attack, size, success in dots
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    points = base.mark_circle(size=26, opacity=0.55, color=AFTER, aria=False).encode(
        x=alt.X(
            "size:O", title=text("quasi-identifiers that she knows"), axis=alt.Axis(labelAngle=0)
        ),
        y=alt.Y(
            "success:Q",
            title=text("probability that one guess is right (%)"),
            scale=alt.Scale(domain=[0, 100]),
        ),
    )
    line = base.mark_rule(strokeDash=[5, 4], strokeWidth=2, color=BEFORE).encode(y="min(prior):Q")
    return (
        alt.layer(points, line)
        .properties(width=720 // min(len(order), 3) - 20, height=280)
        .facet(
            facet=alt.Facet(
                "attack:N", sort=order, title=None, header=alt.Header(labelFontSize=13)
            ),
            columns=3,
        )
        .properties(
            title=alt.Title(
                wrapped(_best_known(assessment)),
                subtitle=wrapped(
                    text("one dot per set of attributes; the dashed line is a guess without them")
                ),
            )
        )
    )


def _best_known(assessment: Assessment) -> str:
    """Say how success grows from the best single attribute to all of them."""
    naming = [attack for attack in last_window(assessment.attacks) if not attack.secret]
    sizes = sorted({len(attack.quasi_identifiers) for attack in naming})
    few, all_of_them = (
        max(
            attack.probabilistic.posterior
            for attack in naming
            if len(attack.quasi_identifiers) == size
        )
        for size in (sizes[0], sizes[-1])
    )
    before, after = frequencies(few, all_of_them)
    return text(
        "With {few} known, one guess names at best {before}; with {many}, {after}",
        few=sizes[0],
        before=before,
        many=sizes[-1],
        after=after,
    )


def every_subset_table(assessment: Assessment) -> Table:
    """Return the numbers of `every_subset`: per target and size, the least, the median and the greatest success."""
    columns = (
        Column(text("Quasi-identifiers known")),
        *(
            Column(title, numeric=True)
            for title in (text("Sets"), text("Lowest"), text("Median"), text("Highest"))
        ),
    )
    successes: dict[str, dict[int, list[Fraction]]] = {}
    for attack in last_window(assessment.attacks):
        sizes = successes.setdefault(attack_label(attack), {})
        sizes.setdefault(len(attack.quasi_identifiers), []).append(attack.probabilistic.posterior)
    return Table(
        columns,
        tuple(
            Group(
                tuple(
                    (
                        Cell(number(size)),
                        Cell(number(len(own))),
                        *map(percent_cell, (min(own), median(own), max(own))),
                    )
                    for size, own in sorted(sizes.items())
                ),
                title=label,
            )
            for label, sizes in successes.items()
        ),
    )


def growing(assessment: Assessment) -> alt.TopLevelMixin:
    """Show how success grows as datasets are added to a collection, with the largest set of quasi-identifiers.

    One colour per target: a solid line for the chance of a right guess, a dashed one for the share of records known
    for certain.
    """
    stages = growth(assessment.attacks)
    labels = stage_labels(stages)
    order = [attack_label(attack) for attack in stages[-1]]
    _, after, certain = _looks()
    looks = [TARGETS[i % len(TARGETS)] for i in range(len(order))]
    width = 680
    base = alt.Chart(alt.InlineData(values=_grown_rows(stages, labels))).encode(
        x=alt.X(
            "datasets:O",
            sort=labels,
            title=text("datasets so far"),
            axis=_slanted_where_tight(labels, width),
        ),
        y=alt.Y(
            "success:Q",
            title=text("probability that the adversary succeeds (%)"),
            scale=alt.Scale(domain=[0, 100]),
        ),
        color=alt.Color(
            "target:N",
            title=None,
            scale=alt.Scale(domain=order, range=[colour for colour, _ in looks]),
            legend=alt.Legend(columns=3),
        ),
    )
    lines = base.mark_line(strokeWidth=2.5).encode(
        strokeDash=alt.StrokeDash(
            "what:N",
            title=None,
            scale=alt.Scale(domain=[after, certain], range=[[1, 0], [5, 4]]),
            legend=alt.Legend(symbolType="stroke", symbolStrokeColor="#333", columns=1),
        )
    )
    points = (
        base.mark_point(filled=True, size=90, opacity=1)
        .encode(
            shape=alt.Shape(
                "target:N",
                title=None,
                scale=alt.Scale(domain=order, range=[shape for _, shape in looks]),
                legend=alt.Legend(columns=3),
            ),
        )
        .transform_filter(alt.datum.what == after)
    )
    return alt.layer(lines, points).properties(
        width=width,
        height=320,
        title=alt.Title(wrapped(_grown(stages)), subtitle=wrapped(_known(stages[-1][0]))),
    )


def growing_table(assessment: Assessment) -> Table:
    """Return the numbers of `growing`."""
    stages = growth(assessment.attacks)
    _, after, certain = _looks()
    columns = (
        Column(text("Datasets so far")),
        *(Column(what, numeric=True) for what in (after, certain)),
    )
    labels = stage_labels(stages)
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for label, stage in zip(labels, stages, strict=True):
        for attack in stage:
            row = (Cell(label), *map(percent_cell, _successes(attack)[1:]))
            groups.setdefault(attack_label(attack), []).append(row)
    return Table(columns, tuple(Group(tuple(rows), title=title) for title, rows in groups.items()))


def _grown_rows(
    stages: Sequence[Sequence[Attack]], labels: Sequence[str]
) -> list[dict[str, str | float]]:
    _, after, certain = _looks()
    return [
        {
            "datasets": label,
            "target": attack_label(attack),
            "what": what,
            "success": 100 * float(success),
        }
        for label, stage in zip(labels, stages, strict=True)
        for attack in stage
        for what, success in (
            (after, attack.probabilistic.posterior),
            (certain, attack.deterministic.posterior),
        )
    ]


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
    parts = {"first": alone, "last": every, "datasets": number(datasets)}
    if datasets == 2:
        return text(
            "One guess at who it is: right for {first} with the first dataset, {last} with both",
            **parts,
        )
    return text(
        "One guess at who it is: right for {first} with the first dataset, {last} with all {datasets}",
        **parts,
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


def _priors(assessment: Assessment) -> dict[str, float]:
    return {
        attack_label(attack): 100 * float(attack.probabilistic.prior)
        for attack in widest(assessment.attacks)
    }


EXPOSED, OTHERS = TARGETS[0][0], TARGETS[1][0]
"""The colours of the records that are at risk, and of all others."""
MOST_PANELS = 3
"""So many targets are drawn; the table has all of them."""


def class_size_labels() -> tuple[str, ...]:
    """Return what the bins of class sizes are called."""
    ranges = [
        number(least) if last == least else f"{number(least)}–{number(last)}"
        for least, last in ((least, following - 1) for least, following in pairwise(SIZE_BINS))
    ]
    return (*ranges, text("{size} or more", size=SIZE_BINS[-1]))


def class_sizes_table(attack: Attack) -> Table:
    """Return how many classes and records there are by class size."""
    sizes = attack.class_sizes
    rows = tuple(
        (Cell(label), count_cell(classes), count_cell(records))
        for label, classes, records in zip(
            class_size_labels(), sizes.classes, sizes.records, strict=True
        )
    )
    columns = (
        Column(text("Records alike")),
        Column(text("Classes"), numeric=True),
        Column(text("Records in them"), numeric=True),
    )
    return Table(columns, (Group(rows),))


def class_sizes_figure(attack: Attack) -> Figure | None:
    """Return the histogram of records by how many look alike; nothing where classes were not counted."""
    sizes = attack.class_sizes
    if not any(sizes.classes):
        return None
    labels = class_size_labels()
    small, large = (
        text("in classes of fewer than {size}", size=SMALL_CLASS),
        text("in larger classes"),
    )
    rows = [
        {"size": label, "records": records, "what": small if least < SMALL_CLASS else large}
        for label, least, records in zip(labels, SIZE_BINS, sizes.records, strict=True)
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "size:O",
                sort=list(labels),
                title=text("records that look alike (size of the class)"),
                axis=alt.Axis(labelAngle=0, labelFontSize=12),
            ),
            y=alt.Y("records:Q", title=text("number of records")),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=[small, large], range=[EXPOSED, OTHERS]),
            ),
        )
        .properties(
            width=680,
            height=260,
            title=alt.Title(
                wrapped(_exposed_finding(attack)),
                subtitle=wrapped(
                    text(
                        "alike on {known}",
                        known=knowledge_counted(attack),
                    )
                ),
            ),
        )
    )
    return Figure.of(
        chart,
        label=text("Records by the number of those that look like them"),
        caption=text(
            "A class is all records that are alike on the quasi-identifiers. Who is alone can be named for certain."
        ),
        table=class_sizes_table(attack),
    )


def _exposed_finding(attack: Attack) -> str:
    exposed = attack.class_sizes.records_below(SMALL_CLASS)
    return text(
        "{exposed} of {records} records ({share}) are alike with fewer than {few} others",
        exposed=exposed,
        records=attack.records,
        share=share(exposed, attack.records),
        few=SMALL_CLASS - 1,
    )


def success_figure(attacks: Sequence[Attack]) -> Figure | None:
    """Return how many records are guessed right with which probability: a panel per target.

    Of naming it follows from the class sizes, unless records differ in weight or are linked by uncertain keys; then
    that panel is left out.
    """
    known = [(attack, bins) for attack in attacks if (bins := _success(attack))]
    if not known:
        return None
    shown = known[:MOST_PANELS]
    panels = [_panel(attack, bins) for attack, bins in shown]
    chart = alt.hconcat(*panels, spacing=24).properties(
        title=alt.Title(
            wrapped(_certain_finding(shown[0][0])),
            subtitle=wrapped(
                text("records by the probability that one guess about them is right, per target")
            ),
        )
    )
    return Figure.of(
        chart,
        label=text("Records by the probability that a guess about them is right"),
        caption=text(
            "The success of an attack is an average over people. Here it is taken apart: some are guessed at random, "
            "others for certain."
        ),
        table=_success_table(known),
    )


def _certain_finding(attack: Attack) -> str:
    if attack.secret:
        return text(
            "The {secret} of {certain} of {records} people is known for certain",
            secret=enumeration(attack.secret),
            certain=attack.certain,
            records=attack.records,
        )
    return text(
        "{certain} of {records} people can be named for certain",
        certain=attack.certain,
        records=attack.records,
    )


Bins = list[tuple[str, int]]


def _success(attack: Attack) -> Bins:
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
        text("{low} to under {high} %", low=10 * tenth, high=10 * tenth + 10)
        for tenth in reversed(range(SUCCESS_BINS - 1))
    ]
    return [text("for certain"), *below]


def _chances() -> list[str]:
    """Return the probability that a record is guessed, per bin of class sizes: one over the size."""
    said = [text("for certain")]
    for least, following in pairwise(SIZE_BINS[1:]):
        high, low = _per_cent(least), _per_cent(following - 1)
        said.append(
            text("{figure} %", figure=high)
            if high == low
            else text("{low} to {high} %", low=low, high=high)
        )
    return [*said, text("{figure} % or less", figure=_per_cent(SIZE_BINS[-1]))]


def _per_cent(size: int) -> str:
    return number(100 / size, ".2g")


def _panel(attack: Attack, bins: Bins) -> alt.Chart:
    rows = [
        {"chance": label, "records": records, "certain": place == 0}
        for place, (label, records) in enumerate(bins)
    ]
    panel: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("records:Q", title=text("number of records"), axis=alt.Axis(tickCount=4)),
            y=alt.Y("chance:N", sort=[label for label, _ in bins], title=None),
            color=alt.condition("datum.certain", alt.value(EXPOSED), alt.value(OTHERS)),
        )
        .properties(
            width=130, height=alt.Step(18), title=alt.Title(attack_label(attack), fontSize=13)
        )
    )
    return panel


def _success_table(known: Sequence[tuple[Attack, Bins]]) -> Table:
    columns = (
        Column(text("Probability of a right guess")),
        Column(text("Number of records"), numeric=True),
    )
    groups = tuple(
        Group(
            tuple((Cell(label), count_cell(records)) for label, records in bins),
            title=attack_label(attack),
        )
        for attack, bins in known
    )
    return Table(columns, groups)


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
    drops = {(each.removed, each.sensitive): each.drop for each in without_each(sweep).removals}
    found: dict[str | None, list[Influence]] = {}
    for each in shapley_values(sweep).values:
        drop = drops[each.quasi_identifier, each.sensitive]
        own = Influence(each.quasi_identifier, each.value, drop)
        found.setdefault(each.sensitive, []).append(own)
    return {target: tuple(own) for target, own in found.items()}


def influence_findings(sweep: Sweep) -> tuple[Finding, ...]:
    """Say which attribute contributes most to naming people, and what leaving one out would do."""
    own = influences(sweep).get(None, ())
    whole = sum((each.share for each in own), Fraction(0))
    if len(own) < 2 or whole == 0:
        return ()
    first = max(own, key=lambda each: each.share)
    return (
        Finding(
            Severity.NOTE,
            text(
                "Of all attributes, {attribute} contributes most to naming people: {own} of the {whole} percentage "
                "points that all of them add to the success of a guess.",
                attribute=enumeration([first.attribute]),
                own=percentage_points(first.share),
                whole=percentage_points(whole),
            ),
            figure=text(
                "Shapley value of {attribute}: {value}",
                attribute=first.attribute,
                value=number(first.share, ".6g"),
            ),
            meaning=_removal(sweep, own),
        ),
    )


def _removal(sweep: Sweep, own: tuple[Influence, ...]) -> str:
    """Say what leaving out one attribute does at best."""
    best = max(own, key=lambda each: each.drop)
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
    found = influences(sweep)
    if not found:
        return None
    columns = [
        Column(title, numeric=True, under=_label(target))
        for target in found
        for title in (text("share"), text("without it"))
    ]
    rows = tuple(
        (Cell(name), *(cell for own in found.values() for cell in _cells(own[place])))
        for place, name in enumerate(sweep.quasi_identifiers)
    )
    return Section(
        text("What each attribute contributes"),
        intro=text(
            "In points of success (per 100 records). Share: the attribute’s fair share of what the attack gives her "
            "(its Shapley value; the shares of a column add up to the whole leakage). Without it: how her success "
            "changes if this attribute alone is left out of the release."
        ),
        tables=(Table((Column(text("Attribute")), *columns), (Group(rows),)),),
    )


def influence_figure(sweep: Sweep) -> Figure | None:
    """Return the picture of what each attribute contributes to naming, and to the inference that gains most."""
    found = {target: own for target, own in influences(sweep).items() if _whole(own) > 0}
    if not found or len(sweep.quasi_identifiers) < 2:
        return None
    secrets = [target for target in found if target is not None]
    worst = sorted(secrets, key=lambda target: _whole(found[target]), reverse=True)[:1]
    shown = {target: own for target, own in found.items() if target is None or target in worst}
    return Figure.of(
        _chart(shown),
        label=text("What each attribute contributes to the success of a guess"),
        caption=text(
            "Share: the attribute’s fair part of what all of them add (its Shapley value). Left out: by how much the "
            "success falls if this attribute alone is not published; where others tell the same, that is little."
        ),
        table=_table(shown),
    )


def _whole(own: tuple[Influence, ...]) -> Fraction:
    return sum((each.share for each in own), Fraction(0))


def _label(target: str | None) -> str:
    return target_label(() if target is None else (target,))


def _cells(each: Influence) -> tuple[Cell, Cell]:
    return _points(each.share), _points(-each.drop)


def _points(value: Fraction) -> Cell:
    return Cell(number(100 * float(value) + 0.0, "+.2f"), exact=exactly(value))


def _attribute_looks() -> tuple[str, str]:
    return text("its share of what all add"), text("lost if it is left out")


def _table(shown: dict[str | None, tuple[Influence, ...]]) -> Table:
    columns = (
        Column(text("Attribute")),
        *(Column(what, numeric=True) for what in _attribute_looks()),
    )
    groups = tuple(
        Group(
            tuple(
                (Cell(each.attribute), _points(each.share), _points(each.drop))
                for each in sorted(own, key=lambda each: each.share, reverse=True)
            ),
            title=_label(target),
        )
        for target, own in shown.items()
    )
    return Table(columns, groups)


def _chart(shown: dict[str | None, tuple[Influence, ...]]) -> alt.TopLevelMixin:
    looks = _attribute_looks()
    first = next(iter(shown.values()))
    order = [each.attribute for each in sorted(first, key=lambda each: each.share, reverse=True)]
    rows = [
        {
            "attack": _label(target),
            "attribute": each.attribute,
            "what": what,
            "points": round(100 * float(value), 3),
        }
        for target, own in shown.items()
        for each in own
        for what, value in zip(looks, (each.share, each.drop), strict=True)
    ]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("points:Q", title=text("percentage points of success")),
            y=alt.Y("attribute:N", sort=order, title=None),
            yOffset=alt.YOffset("what:N", sort=list(looks)),
            color=alt.Color(
                "what:N",
                title=None,
                sort=list(looks),
                scale=alt.Scale(domain=list(looks), range=[TARGETS[0][0], TARGETS[1][0]]),
            ),
        )
        .properties(width=560 // len(shown), height=alt.Step(11))
    )
    panels = [_label(target) for target in shown]
    chart: alt.TopLevelMixin = bars.facet(
        facet=alt.Facet("attack:N", sort=panels, title=None, header=alt.Header(labelFontSize=13)),
        columns=2,
    ).properties(title=alt.Title(wrapped(_finding(shown))))
    return chart


def _finding(shown: dict[str | None, tuple[Influence, ...]]) -> str:
    """Say which attribute contributes most to the first target."""
    target, own = next(iter(shown.items()))
    first = enumeration([max(own, key=lambda each: each.share).attribute])
    if target is None:
        return text("To naming people, {attribute} contributes most", attribute=first)
    return text(
        "To inferring {secret}, {attribute} contributes most",
        attribute=first,
        secret=enumeration([target]),
    )
