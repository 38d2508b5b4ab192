"""The pictures: one theme, colour-blind safe, readable in print, drawn without a browser."""

from __future__ import annotations

from typing import Any

import altair as alt
import vl_convert

from glasshouse.microdata import Assessment
from glasshouse.report.findings import attack_label, widest
from glasshouse.report.words import enumeration, frequency

BEFORE, AFTER, CERTAIN = "a guess, before", "a guess, after", "for certain, after"
COLOURS = {BEFORE: "#7f7f7f", AFTER: "#d55e00", CERTAIN: "#0072b2"}  # Okabe and Ito 2008
SHAPES = {BEFORE: "circle", AFTER: "circle", CERTAIN: "diamond"}


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
    row = alt.Y("attack:N", sort=order, title=None)
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
    known = enumeration(attacks[0].quasi_identifiers)
    success = attacks[0].probabilistic
    finding = (
        f"One guess at who it is: right for {frequency(success.prior)} before, "
        f"{frequency(success.posterior)} after"
    )
    return alt.layer(line, points).properties(
        width=680,
        height=alt.Step(44),
        title=alt.Title(finding, subtitle=_wrapped(f"after: she knows {known}")),
    )


def every_subset(assessment: Assessment) -> alt.TopLevelMixin:
    """Show one dot per set of quasi-identifiers: how many there are in it against the success of a guess.

    A panel per target, with the prior as a line. Dots that would cover one another are drawn once.
    """
    dots = sorted(
        {
            (
                attack_label(attack),
                len(attack.quasi_identifiers),
                round(100 * float(attack.probabilistic.posterior), 1),
            )
            for attack in assessment.attacks
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
                subtitle="one dot per set; the dashed line is a guess without them",
            )
        )
    )


def _priors(assessment: Assessment) -> dict[str, float]:
    return {
        attack_label(attack): 100 * float(attack.probabilistic.prior)
        for attack in widest(assessment.attacks)
    }


def to_svg(chart: alt.TopLevelMixin) -> str:
    """Draw a chart as SVG: no script, no font and no picture is fetched when it is shown."""
    specification: dict[str, Any] = _themed(chart).to_dict()
    svg: str = vl_convert.vegalite_to_svg(specification)
    return svg


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
