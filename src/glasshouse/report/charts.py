"""The pictures: one theme, colour-blind safe, readable in print, drawn without a browser."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import altair as alt
import vl_convert

from glasshouse.microdata import Assessment, Attack
from glasshouse.report.findings import attack_label, growth, last_window, stage_labels, widest
from glasshouse.report.words import enumeration, frequency, short_names, together

_NUMBERED = re.compile(r"\b(gradient_|clip)[0-9]+\b")
"""Names that a picture gives to its parts."""
BEFORE, AFTER, CERTAIN = "a guess, before", "a guess, after", "for certain, after"
COLOURS = {BEFORE: "#7f7f7f", AFTER: "#d55e00", CERTAIN: "#0072b2"}  # Okabe and Ito 2008
SHAPES = {BEFORE: "circle", AFTER: "circle", CERTAIN: "diamond"}
TARGETS = (
    ("#d55e00", "circle"),
    ("#0072b2", "square"),
    ("#009e73", "triangle-up"),
    ("#cc79a7", "diamond"),
    ("#56b4e9", "triangle-down"),
    ("#e69f00", "cross"),
    ("#000000", "triangle-right"),
)
"""A colour (Okabe and Ito 2008) and a shape for each target, so that neither alone tells them apart."""


def before_and_after(assessment: Assessment) -> alt.TopLevelMixin:
    """Show, per attack with the largest set of quasi-identifiers, success before and after.

    One row per attack on an axis from 0 to 100 %: the chance of a right guess before and after, joined by a line
    that is the leakage, and the share of records known for certain.
    """
    attacks = widest(assessment.attacks)
    rows = [
        {
            "attack": attack_label(attack),
            "what": what,
            "success": 100 * float(success),
        }
        for attack in attacks
        for what, success in (
            (BEFORE, attack.probabilistic.prior),
            (AFTER, attack.probabilistic.posterior),
            (CERTAIN, attack.deterministic.posterior),
        )
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
        .mark_rule(strokeWidth=3, color="#d9b08c")
        .encode(x=alt.X("before:Q", scale=alt.Scale(domain=[0, 100])), x2="after:Q", y=row)
    )
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=140, opacity=1)
        .encode(
            x=alt.X(
                "success:Q",
                title="probability that the adversary succeeds (%)",
                scale=alt.Scale(domain=[0, 100]),
            ),
            y=row,
            color=alt.Color(
                "what:N",
                title=None,
                sort=list(COLOURS),
                scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
            ),
            shape=alt.Shape(
                "what:N",
                title=None,
                sort=list(SHAPES),
                scale=alt.Scale(domain=list(SHAPES), range=list(SHAPES.values())),
            ),
        )
    )
    success = attacks[0].probabilistic
    finding = (
        f"One guess at who it is: right for {frequency(success.prior)} before, "
        f"{frequency(success.posterior)} after"
    )
    return alt.layer(line, points).properties(
        width=680,
        height=alt.Step(44),
        title=alt.Title(finding, subtitle=_wrapped(f"after: {_known(attacks[0])}")),
    )


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
    points = base.mark_circle(size=26, opacity=0.55, color=COLOURS[AFTER]).encode(
        x=alt.X("size:O", title="quasi-identifiers that she knows", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "success:Q",
            title="probability that one guess is right (%)",
            scale=alt.Scale(domain=[0, 100]),
        ),
    )
    line = base.mark_rule(strokeDash=[5, 4], strokeWidth=2, color=COLOURS[BEFORE]).encode(
        y="min(prior):Q"
    )
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
                "What each set of attributes lets her do",
                subtitle=_wrapped(
                    f"one dot per set{_with_all(widest(assessment.attacks)[0])}; the dashed line is a guess "
                    "without them"
                ),
            )
        )
    )


def growing(assessment: Assessment) -> alt.TopLevelMixin:
    """Show how success grows as datasets are added to a collection, with the largest set of quasi-identifiers.

    One colour per target: a solid line for the chance of a right guess, a dashed one for the share of records known
    for certain.
    """
    stages = growth(assessment.attacks)
    labels = stage_labels(stages)
    order = [attack_label(attack) for attack in stages[-1]]
    looks = [TARGETS[i % len(TARGETS)] for i in range(len(order))]
    width = 680
    base = alt.Chart(alt.InlineData(values=_grown_rows(stages, labels))).encode(
        x=alt.X(
            "datasets:O",
            sort=labels,
            title="datasets so far",
            axis=_slanted_where_tight(labels, width),
        ),
        y=alt.Y(
            "success:Q",
            title="probability that the adversary succeeds (%)",
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
            scale=alt.Scale(domain=[AFTER, CERTAIN], range=[[1, 0], [5, 4]]),
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
        .transform_filter(alt.datum.what == AFTER)
    )
    return alt.layer(lines, points).properties(
        width=width,
        height=320,
        title=alt.Title(_grown(stages), subtitle=_wrapped(_known(stages[-1][0]))),
    )


def _grown_rows(stages: list[list[Attack]], labels: list[str]) -> list[dict[str, str | float]]:
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
            (AFTER, attack.probabilistic.posterior),
            (CERTAIN, attack.deterministic.posterior),
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
    return (
        f"One guess at who it is: right for {frequency(first)} with the first dataset, "
        f"{frequency(last)} with {'both' if datasets == 2 else f'all {datasets}'}"
    )


def _known(attack: Attack) -> str:
    return f"she knows {enumeration(attack.quasi_identifiers)}{_with_all(attack)}"


def _with_all(attack: Attack) -> str:
    """Say with which datasets, where there are several."""
    several = len(attack.datasets) > 1
    return f", with {together(short_names(attack.datasets))}" if several else ""


def _priors(assessment: Assessment) -> dict[str, float]:
    return {
        attack_label(attack): 100 * float(attack.probabilistic.prior)
        for attack in widest(assessment.attacks)
    }


def to_svg(chart: alt.TopLevelMixin) -> str:
    """Draw a chart as SVG: no script, no font and no picture is fetched when it is shown."""
    specification: dict[str, Any] = _themed(chart).to_dict()
    return _with_own_names(vl_convert.vegalite_to_svg(specification))


def _with_own_names(svg: str) -> str:
    """Name gradients and clips by the picture they are in: they are numbered over all pictures of a process."""
    numbers: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"{found[1]}{len(numbers)}")

    plain = _NUMBERED.sub(numbered, svg)
    own = hashlib.sha256(plain.encode()).hexdigest()[:8]
    return _NUMBERED.sub(lambda found: f"{found[0]}-{own}", plain)


def _themed(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    themed: alt.TopLevelMixin = (
        chart.configure(font="sans-serif", background="white")
        .configure_axis(
            labelFontSize=13, titleFontSize=13, titleFontWeight="normal", grid=True, labelLimit=260
        )
        .configure_legend(labelFontSize=13, orient="bottom", symbolSize=140)
        .configure_title(
            anchor="start", fontSize=16, subtitleFontSize=13, subtitleColor="#555", offset=14
        )
        .configure_view(stroke=None)
    )
    return themed


def _wrapped(text: str, width: int = 90) -> list[str]:
    lines: list[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + len(word) < width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
