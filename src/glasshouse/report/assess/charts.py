"""The pictures: one theme, colour-blind safe, readable in print, drawn without a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain, pairwise

from glasshouse.language import exactly, number, percentage, text
from glasshouse.measures.attacks import (
    by_knowledge,
    classes_are_counted,
    growth,
    last_window,
    widest,
)
from glasshouse.microdata import Assessment, Attack, Sweep
from glasshouse.microdata.influence import shapley_values, without_each
from glasshouse.microdata.leakage import SIZE_BINS, SUCCESS_BINS
from glasshouse.report import vega
from glasshouse.report.attacks import exact_share, knowledge_counted, stage_labels, target_label
from glasshouse.report.cells import cell_table, count_cell, group_table, percent_cell, under
from glasshouse.report.charts import (
    JOINT,
    NEUTRAL,
    PER_CENT,
    TARGETS,
    figure_of,
    keyed,
    plot,
    successes_table,
    titled,
    top_of,
    wrapped,
)
from glasshouse.report.discretion import none_is_few
from glasshouse.report.labels import column_label
from glasshouse.report.page import Cell, Figure, Finding, Section, Table, note
from glasshouse.report.severity import SMALL_CLASS
from glasshouse.report.words import enumeration, percentages, share, short_names, together
from glasshouse.study.policy import ReleasePolicy

BEFORE, AFTER, CERTAIN = NEUTRAL, TARGETS[0][0], TARGETS[1][0]
"""The colours of a guess before and after, and of certainty."""
_LINE = "\u2003"
"""Where a label is broken."""
QUARTERS = vega.Axis(values=[0, 25, 50, 75, 100])
"""An axis of probabilities with few figures."""


def _ways() -> tuple[str, str, str]:
    """Return what the ways to succeed are called: a guess before and after, and certainty."""
    return text("a guess, before"), text("a guess, after"), text("for certain, after")


def _successes(attack: Attack) -> tuple[Fraction, Fraction, Fraction]:
    """Return the success in each of these ways."""
    guess = attack.probabilistic
    return guess.prior, guess.posterior, attack.deterministic.posterior


def before_and_after_figure(attacks: Sequence[Attack]) -> Figure:
    """Show, per attack, success before and after; the title tells of the first secret, or of naming.

    One row per attack on an axis from 0 to 100%: the chance of a right guess before and after, joined by a line
    that is the leakage, and the share of records known for certain.
    """
    successes = [(target_label(attack.secret), _successes(attack)) for attack in attacks]
    chart, ways = before_and_after_chart(successes, _given_away(attacks), attacks[0])
    return figure_of(
        chart,
        label=text("Success of each attack before and after"),
        caption=text(
            "“Before”: she knows the release, but nothing about the person. “After”: she also knows the person’s "
            "quasi-identifiers. The line between them is what the attack gives her."
        ),
        table=successes_table(successes, ways),
    )


def before_and_after_chart(
    successes: Sequence[tuple[str, tuple[Fraction, Fraction, Fraction]]],
    title: str,
    attack: Attack,
    *,
    sure: str | None = None,
) -> tuple[vega.Chart, tuple[str, str, str]]:
    """Return a chart of success before, after and for certain, a row per aim; and what these three are called.

    Args:
        successes: Per aim, what it is called and the three of them.
        title: What the chart says.
        attack: An attack with what she knows, which stands below the title.
        sure: What the third of them is called, where it is not certainty.
    """
    before_it, after_it, certainly = _ways()
    ways = (before_it, after_it, sure or certainly)
    rows = [
        {"attack": label, "what": way, "success": 100 * float(success)}
        for label, by_way in successes
        for way, success in zip(ways, by_way, strict=True)
    ]
    spans = [
        {
            "attack": label,
            "before": 100 * float(before),
            "after": 100 * float(after),
            "change": " → ".join(percentages(before, after)),
            "from": 100 * float(min(before, after)),
            "to": 100 * float(max(before, after)),
            "left": min(before, after) < Fraction(1, 2),
        }
        for label, (before, after, _) in successes
    ]
    order = [label for label, _ in successes]
    row = vega.Y("attack:N", sort=order, title=None, axis=vega.Axis(labelPadding=12))
    line = plot(spans).mark_rule(strokeWidth=3, color=JOINT)
    points = plot(rows).mark_point(filled=True, size=140, opacity=1)
    succeeds = text("probability that the adversary succeeds (%)")
    chart = vega.layer(
        line.encode(x=vega.X("before:Q", scale=PER_CENT, axis=QUARTERS), x2="after:Q", y=row),
        points.encode(
            x=vega.X("success:Q", title=succeeds, scale=PER_CENT, axis=QUARTERS),
            y=row,
            color=vega.Color("what:N", **keyed(ways, (BEFORE, AFTER, CERTAIN))),
            shape=vega.Shape("what:N", **keyed(ways, ("circle", "circle", "diamond"))),
        ),
        *(
            plot(spans)
            .transform_filter(vega.equal(left=left))
            .mark_text(align="left" if left else "right", dy=-14, dx=-6 if left else 6, fontSize=12)
            .encode(x=vega.X("from:Q" if left else "to:Q", scale=PER_CENT), y=row, text="change:N")
            for left in (True, False)
            if any(span["left"] is left for span in spans)
        ),
    )
    above = vega.Title(title, subtitle=wrapped(_known(attack)))
    return chart.properties(width=680, height=vega.Step(38), title=above), ways


def _given_away(attacks: Sequence[Attack]) -> str:
    """Say what is added to right guesses of the first secret, or at who it is where there is none."""
    most = attacks[min(1, len(attacks) - 1)]
    before, after = percentages(most.probabilistic.prior, most.probabilistic.posterior)
    if not most.secret:
        return text(
            "Correct identifications: {before} before, {after} after", before=before, after=after
        )
    return text(
        "Correct guesses at {secret}: {before} before, {after} after",
        secret=enumeration(most.secret),
        before=before,
        after=after,
    )


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
                {
                    "datasets": label,
                    "target": target,
                    "what": way,
                    "success": 100 * float(success),
                    "label": percentage(success),
                }
                for way, success in zip(ways, successes, strict=True)
            ]
    order = [target_label(attack.secret) for attack in stages[-1]]
    looks = [TARGETS[place % len(TARGETS)] for place in range(len(order))]
    colours, shapes = (
        vega.Scale(domain=order, range=list(look)) for look in zip(*looks, strict=True)
    )
    legend = vega.Legend(columns=3)
    so_far, succeeds = (
        text("datasets so far"),
        text("probability that the adversary succeeds (%)"),
    )
    base = plot(rows).encode(
        x=vega.X("datasets:O", sort=labels, title=so_far, axis=_slanted_where_tight(labels, 680)),
        y=vega.Y("success:Q", title=succeeds, scale=PER_CENT),
        color=vega.Color("target:N", title=None, scale=colours, legend=legend),
    )
    lines = base.mark_line(strokeWidth=2.5).encode(
        strokeDash=vega.StrokeDash(
            "what:N",
            title=None,
            scale=vega.Scale(domain=list(ways), range=[[1, 0], [5, 4]]),
            legend=vega.Legend(symbolType="stroke", symbolStrokeColor="#333", orient="top"),
        )
    )
    points = (
        base.mark_point(filled=True, size=90, opacity=1)
        .encode(shape=vega.Shape("target:N", title=None, scale=shapes, legend=legend))
        .transform_filter(vega.equal(what=ways[0]))
    )
    labels_of_naming = (
        base.mark_text(dy=-13, fontSize=12)
        .encode(text="label:N")
        .transform_filter(vega.equal(what=ways[0], target=order[0]))
    )
    chart = vega.layer(lines, points, labels_of_naming)
    return figure_of(
        titled(chart, _grown(stages), _known(stages[-1][0]), width=680, height=260),
        label=text("Success of each attack as datasets are added"),
        caption=text(
            "Each step adds one more dataset about the people of the first. Solid: her best guess is right. "
            "Dashed: she knows it for certain."
        ),
        table=group_table(text("Datasets so far"), ways, numbers),
    )


def people_figure(assessment: Assessment) -> Figure | None:
    """Show how many people of the first of several releases are still in each of the others, left it, or are new.

    There is no such picture of fewer than three releases, or where one of these numbers is too small to be told.
    """
    members = assessment.members
    counts = [
        (member.linked, member.people - member.linked, assessment.records - member.linked)
        for member in members
    ]
    if len(members) < 3 or not none_is_few(chain(*counts)):
        return None
    names = short_names([member.name for member in members])
    ways = text("also in the first"), text("new"), text("of the first, no longer there")
    rows = [
        {
            "release": name,
            "what": way,
            "from": start,
            "to": start + count,
            "middle": start + count / 2,
            "label": number(count),
        }
        for name, (linked, new, lost) in zip(names, counts, strict=True)
        for way, start, count in zip(ways, (0, linked, -lost), (linked, new, lost), strict=True)
        if count
    ]
    base = plot(rows).encode(
        x=vega.X(
            "release:O", sort=list(names), title=None, axis=_slanted_where_tight([*names], 620)
        )
    )
    chart = vega.layer(
        base.mark_bar(size=54).encode(
            y=vega.Y(
                "from:Q",
                title=text("people"),
                axis=vega.Axis(labelExpr="format(abs(datum.value), ',')"),
            ),
            y2="to:Q",
            color=vega.Color("what:N", **keyed(ways, (OTHERS, NEUTRAL, EXPOSED))),
        ),
        base.mark_text(fontSize=12, color="white").encode(y="middle:Q", text="label:N"),
    )
    first, last, (linked, _, lost) = names[0], names[-1], counts[-1]
    title = text(
        "Of the people of {first}, {linked} ({share}) are still in {last}; {lost} are not",
        first=first,
        last=last,
        linked=linked,
        share=share(linked, assessment.records),
        lost=lost,
    )
    return figure_of(
        titled(chart, title, width=620, height=220),
        label=text("People in each dataset"),
        caption=text(
            "Above the line, who is in a dataset: people of the first one, and new ones. Below it, people of the "
            "first who are not. Having left says something about a person, too."
        ),
        table=cell_table(
            text("Dataset"),
            ways,
            [(name, *map(count_cell, row)) for name, row in zip(names, counts, strict=True)],
        ),
    )


def _slanted_where_tight(labels: list[str], width: int) -> vega.Part:
    """Return an axis whose labels lie flat where they fit beside one another, and slant where they do not."""
    room = width // len(labels)
    if 8 * max(map(len, labels)) < room:
        return vega.Axis(labelAngle=0, labelLimit=room)
    return vega.Axis(labelAngle=-35, labelLimit=170)


def _grown(stages: list[list[Attack]]) -> str:
    """Say what the first dataset gives her, and what all of them do."""
    first, last = (stage[0].probabilistic.posterior for stage in (stages[0], stages[-1]))
    datasets = len(stages[-1][0].datasets)
    before, after = percentages(first, last)
    words = {"first": before, "last": after, "datasets": number(datasets)}
    if datasets == 2:
        return text(
            "Correct identifications: {first} with the first dataset, {last} with both", **words
        )
    return text(
        "Correct identifications: {first} with the first dataset, {last} with all {datasets}",
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


def class_sizes_figure(attack: Attack, policy: ReleasePolicy, suppressed: int = 0) -> Figure | None:
    """Show the share of people who look like so few others, added up, from those who are alone on.

    What the rule calls too few is in another colour. Nothing where classes were not counted.

    Args:
        attack: The attack with all that can be known.
        policy: What the rule asks.
        suppressed: How many records are suppressed and in none of these classes: they look like each other.
    """
    sizes = attack.class_sizes
    if not any(sizes.classes):
        return None
    limit = max(
        (int(entry.limit) for entry in policy.conditions if entry.measure == "smallest-class"),
        default=SMALL_CLASS,
    )
    shares = [Fraction(records, attack.records) for records in accumulate(sizes.records)]
    last = 1 + next(place for place, share in enumerate(shares) if share == shares[-1])
    largest = [following - 1 for following in SIZE_BINS[1:]]
    labels = [text("nobody") if size == 1 else number(size - 1) for size in largest[:last]] + [
        text("more")
    ] * (last > len(largest))
    rows = [
        {
            "others": label,
            "share": 100 * float(share),
            "label": percentage(share, 0),
            "few": place < len(largest) and largest[place] < limit,
        }
        for place, (label, share) in enumerate(zip(labels, shares, strict=False))
    ]
    apart = _LINE.join((text("suppressed"), f"({number(suppressed)})"))
    if suppressed:
        of_all = Fraction(suppressed, attack.records + suppressed)
        labels.append(apart)
        rows.append(
            {
                "others": apart,
                "share": 100 * float(of_all),
                "label": percentage(of_all, 0 if of_all >= Fraction(1, 100) else 1),
                "few": suppressed < limit,
            }
        )
    base = plot(rows).encode(
        x=vega.X(
            "others:O",
            sort=labels,
            title=text("look like at most this many others"),
            axis=vega.Axis(labelAngle=0, labelExpr=f"split(datum.label, '{_LINE}')"),
        ),
        y=vega.Y("share:Q", title=text("share of people (%)"), scale=PER_CENT),
    )
    chart = vega.layer(
        base.mark_bar().encode(
            color=vega.condition("datum.few", vega.value(EXPOSED), vega.value(OTHERS))
        ),
        base.mark_text(dy=-7, fontSize=12).encode(text="label:N"),
    )
    exposed = sizes.records_below(SMALL_CLASS)
    title = text(
        "{exposed} of {records} records ({share}) look like at most {few} others, {alone} of them like nobody else",
        exposed=exposed,
        records=attack.records,
        share=share(exposed, attack.records),
        few=SMALL_CLASS - 2,
        alone=sizes.records_below(2),
    )
    subtitle = text(
        "alike on {known}; orange: fewer alike than the rule asks for ({limit})",
        known=knowledge_counted(attack),
        limit=limit,
    )
    return figure_of(
        titled(chart, title, subtitle, width=620, height=180),
        label=text("How many others look like a person"),
        caption=text(
            "Each bar includes those before it. Anyone who looks like nobody else can be identified for certain; "
            "among five who look alike, a guess is right one time in five."
        )
        + (
            " "
            + text(
                "Suppressed records look alike only to each other: anyone who knows that a person’s record is one of "
                "them finds it there."
            )
            if suppressed
            else ""
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
    """By how much the success falls if it alone is left out,"""
    success: Fraction
    """from how much it is with all of them."""


def influences(sweep: Sweep) -> dict[str | None, tuple[Influence, ...]]:
    """Return, per target (None is naming), what each attribute does; nothing where some set was not assessed."""
    if len(sweep.masks) != 2 ** len(sweep.quasi_identifiers) - 1:
        return {}
    drops = {(row.removed, row.sensitive): row.drop for row in without_each(sweep).removals}
    whole: dict[str | None, Fraction] = {None: Fraction(int(sweep.named[-1]), sweep.total)}
    for place, secret in enumerate(sweep.sensitive):
        whole[secret] = Fraction(int(sweep.most[-1, place]), sweep.of(secret).total)
    by_target: dict[str | None, list[Influence]] = {}
    for value in shapley_values(sweep).values:
        name, target = value.quasi_identifier, value.sensitive
        influence = Influence(name, value.value, drops[name, target], whole[target])
        by_target.setdefault(target, []).append(influence)
    return {target: tuple(influences) for target, influences in by_target.items()}


def influence_findings(sweep: Sweep) -> tuple[Finding, ...]:
    """Say which attribute helps most to name people: what leaving it out, and no other, would do."""
    naming = influences(sweep).get(None, ())
    if len(naming) < 2 or _whole(naming) == 0:
        return ()
    best = max(naming, key=lambda influence: influence.drop)
    if best.drop == 0:
        sentence = text(
            "Leaving out any one column alone would change nothing: the others together reveal as much."
        )
        return (note(sentence),)
    higher = best.success
    after, before = percentages(higher - best.drop, higher)
    if after == before:
        sentence = text(
            "Leaving out any one column alone would hardly change correct identifications: {before} of cases.",
            before=before,
        )
    else:
        sentence = text(
            "Of single columns, leaving out {attribute} helps most: correct identifications would fall from "
            "{before} to {after}.",
            attribute=enumeration([best.attribute]),
            before=before,
            after=after,
        )
    figure = text(
        "exactly: {before} → {after}",
        before=exact_share(higher, sweep.total),
        after=exact_share(higher - best.drop, sweep.total),
    )
    return (note(sentence, figure),)


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
        text("What each column contributes"),
        intro=text(
            "In points of success (per 100 records). Share: the column’s fair share of what the attack gives her "
            "(its Shapley value; the shares of one attack add up to the whole leakage). Without it: how her "
            "success changes if this column alone is left out of the release."
        ),
        tables=(cell_table(text("Attribute"), columns, rows),),
    )


def influence_figure(sweep: Sweep) -> Figure | None:
    """Show what leaving out each attribute alone would do to right guesses at who it is, and at the worst secret."""
    by_target = {target: row for target, row in influences(sweep).items() if _whole(row) > 0}
    if not by_target or len(sweep.quasi_identifiers) < 2:
        return None
    secrets = [target for target in by_target if target is not None]
    worst = max(secrets, key=lambda target: _whole(by_target[target]), default=None)
    drawn = {
        target: sorted(row, key=lambda influence: influence.drop, reverse=True)
        for target, row in by_target.items()
        if target in (None, worst)
    }
    looks = text("with it"), text("without it")
    rows = {
        _target_title(target): [
            (
                enumeration([influence.attribute]),
                percent_cell(influence.success),
                percent_cell(influence.success - influence.drop),
            )
            for influence in attributes
        ]
        for target, attributes in drawn.items()
    }
    return figure_of(
        _influence_chart(drawn, looks),
        label=text("What leaving out one column would do"),
        caption=text(
            "How often a guess is right with all columns, and without this one alone. Where others reveal the "
            "same, leaving out one changes little. Each column’s fair share is in the part for specialists."
        ),
        table=group_table(text("Attribute"), looks, rows),
    )


def _whole(influences: Sequence[Influence]) -> Fraction:
    return sum((influence.share for influence in influences), Fraction(0))


def _target_title(target: str | None) -> str:
    return target_label(() if target is None else (target,))


def _points(value: Fraction) -> Cell:
    return Cell(number(100 * float(value) + 0.0, "+.1f"), exact=exactly(value))


def _influence_chart(
    by_target: Mapping[str | None, Sequence[Influence]], looks: tuple[str, str]
) -> vega.Chart:
    """Draw, per target and attribute, a line from how often a guess is right with it to how often without it."""
    views = []
    for target, attributes in by_target.items():
        order = [enumeration([influence.attribute]) for influence in attributes]
        rows = [
            {
                "attribute": name,
                "with": 100 * float(influence.success),
                "without": 100 * float(influence.success - influence.drop),
                "label": " → ".join(
                    percentages(influence.success, influence.success - influence.drop)
                ),
            }
            for name, influence in zip(order, attributes, strict=True)
        ]
        base = plot(rows).encode(y=vega.Y("attribute:N", sort=order, title=None))
        end = top_of(max(influence.success for influence in attributes))
        scale = vega.Scale(domain=[0, 1.3 * end], nice=False)  # figures stand at the marks
        axis = vega.Axis(values=[0, end / 2, end])
        title = text("right guesses (%)")
        line = base.mark_rule(strokeWidth=3, color=JOINT)
        marks = [
            base.transform_calculate(what=f"'{look}'")
            .mark_point(filled=True, size=110, opacity=1)
            .encode(
                x=vega.X(f"{name}:Q", scale=scale),
                color=vega.Color("what:N", **keyed(looks, (EXPOSED, OTHERS))),
                shape=vega.Shape("what:N", **keyed(looks, ("circle", "square"))),
            )
            for name, look in zip(("with", "without"), looks, strict=True)
        ]
        label = base.mark_text(align="left", dx=9, fontSize=12)
        chart = vega.layer(
            line.encode(x=vega.X("with:Q", scale=scale, axis=axis, title=title), x2="without:Q"),
            *marks,
            label.encode(x=vega.X("with:Q", scale=scale), text="label:N"),
        )
        heading = vega.Title(_target_title(target), fontSize=13, fontWeight="normal", offset=4)
        views.append(chart.properties(width=270, height=vega.Step(22), title=heading))
    return titled(vega.hconcat(*views), _influence_title(by_target))


def _influence_title(by_target: Mapping[str | None, Sequence[Influence]]) -> str:
    target, attributes = next(iter(by_target.items()))
    first = attributes[0]
    before, after = percentages(first.success, first.success - first.drop)
    attribute = enumeration([first.attribute])
    if before == after:
        return text("Leaving out one column alone changes little")
    if target is None:
        return text(
            "Without {attribute}, correct identifications: {before} → {after}",
            attribute=attribute,
            before=before,
            after=after,
        )
    return text(
        "Without {attribute}, correct guesses at {secret}: {before} → {after}",
        attribute=attribute,
        secret=enumeration([target]),
        before=before,
        after=after,
    )
