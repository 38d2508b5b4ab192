"""The attacker's economics in pictures: risk, value and exploits by size of the group, and what moves them."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from glasshouse.economics import Policy, Sensitivity, one_shot
from glasshouse.report.theme import TARGETS

OPTIMAL, PAID, ONCE = "optimal plan", "access already paid", "one guess only (literature)"
THRESHOLDS = {
    "no_attack": "does not begin",
    "no_exploit_after_access": "tries nobody even after access",
    "first_partial": "does not try everybody",
    "baseline": "one guess only (literature)",
}
"""What she does from each threshold on."""
PARAMETERS = {
    "penalty": "penalty",
    "access_cost": "price of access",
    "exploit_cost": "cost of trying one person",
    "detection": "chance of being detected",
    "gain": "gain",
    "prior": "chance that the target is registered",
    "link_cost": "cost of linking",
    "discount": "discount",
}
"""What the parameters are called on an axis."""
MOST_POINTS = 400
"""So many sizes at most are drawn."""


def risk_by_size(policy: Policy) -> alt.TopLevelMixin:
    """Show how likely a re-identification is in groups of each size: by the optimal plan, and by others."""
    chosen = _chosen(len(policy.sizes))
    once = one_shot(policy.terms, policy.sizes.tolist())
    series = {
        OPTIMAL: policy.reidentification,
        PAID: policy.reidentification_after_access,
        ONCE: once.reidentification,
    }
    rows = [
        {"size": int(policy.sizes[i]), "who": who, "risk": 100 * float(values[i])}
        for who, values in series.items()
        for i in chosen
    ]
    return _by_size(rows, "risk", "probability of re-identification (%)", list(series)).properties(
        title=alt.Title(_risk_title(policy), subtitle="by the size of the group of people alike")
    )


def value_by_size(policy: Policy, currency: str | None) -> alt.TopLevelMixin:
    """Show what the attack is worth to her in groups of each size."""
    series = {"before access": policy.value, "after access": policy.value_after_access}
    rows = [
        {"size": int(policy.sizes[i]), "who": who, "value": float(values[i])}
        for who, values in series.items()
        for i in _chosen(len(policy.sizes))
    ]
    money = f"value of the attack ({currency})" if currency else "value of the attack"
    return _by_size(rows, "value", money, list(series)).properties(
        title=alt.Title(
            "What the attack is worth to her", subtitle="0: she does not begin, or stops"
        )
    )


def exploits_by_size(policy: Policy) -> alt.TopLevelMixin:
    """Show how many people she tries before she stops, if she neither succeeds nor is detected."""
    series = {
        OPTIMAL: policy.exploits,
        PAID: policy.exploits_after_access,
        "everybody": policy.sizes,
    }
    rows = [
        {"size": int(policy.sizes[i]), "who": who, "exploits": int(values[i])}
        for who, values in series.items()
        for i in _chosen(len(policy.sizes))
    ]
    return _by_size(rows, "exploits", "people tried before she stops", list(series)).properties(
        title=alt.Title(
            "How far she goes", subtitle="if she is neither successful nor detected before"
        )
    )


def thresholds_by_parameter(
    curves: Sequence[Sensitivity], currency: str | None
) -> alt.TopLevelMixin:
    """Show the group sizes at which she changes her mind, against each parameter by itself."""
    charts = [_thresholds(curve, currency) for curve in curves]
    return alt.concat(*charts, columns=2).properties(
        title=alt.Title(
            "What moves the thresholds",
            subtitle="one parameter varies, the others stay as they are",
        )
    )


def _thresholds(curve: Sensitivity, currency: str | None) -> alt.Chart:
    rows = [
        {"x": float(value), "who": said, "size": size}
        for value, found in zip(curve.values, curve.thresholds, strict=True)
        for name, said in THRESHOLDS.items()
        if (size := found.to_dict()[name]) is not None
    ]
    name = PARAMETERS.get(curve.parameter, curve.parameter)
    plain = curve.parameter in ("detection", "discount", "prior") or currency is None
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "x:Q",
                title=name if plain else f"{name} ({currency})",
                scale=_scale(curve.parameter),
            ),
            y=alt.Y("size:Q", title="size of the group", scale=alt.Scale(type="log")),
            color=_colour(list(THRESHOLDS.values())),
            strokeDash=_dash(list(THRESHOLDS.values())),
        )
        .properties(width=280, height=200)
    )
    return chart


def _scale(parameter: str) -> alt.Scale:
    plain = parameter in ("discount", "prior")
    return alt.Scale(zero=False) if plain else alt.Scale(type="log")


def _by_size(rows: list[dict[str, object]], measure: str, title: str, who: list[str]) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("size:Q", title="size of the group (people)"),
            y=alt.Y(f"{measure}:Q", title=title, scale=alt.Scale(domainMin=0)),
            color=_colour(who),
            strokeDash=_dash(who),
        )
        .properties(width=620, height=260)
    )
    return chart


def _colour(who: list[str]) -> alt.Color:
    colours = [colour for colour, _ in TARGETS[: len(who)]]
    wide = alt.Legend(labelLimit=320)
    return alt.Color("who:N", title=None, legend=wide, scale=alt.Scale(domain=who, range=colours))


def _dash(who: list[str]) -> alt.StrokeDash:
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]][: len(who)]
    return alt.StrokeDash("who:N", title=None, scale=alt.Scale(domain=who, range=dashes))


def _chosen(count: int) -> list[int]:
    """Return which of many places are drawn: all, or evenly spread with the last."""
    step = max(1, -(-count // MOST_POINTS))
    return sorted({*range(0, count, step), count - 1})


def _risk_title(policy: Policy) -> str:
    if policy.belief is not None:
        attacked = policy.sizes[policy.value > 0]
        if not len(attacked):
            return "She attacks none of the sizes asked about"
        return f"She attacks where she expects {attacked[0]:,} to {attacked[-1]:,} people alike"
    end = policy.thresholds.no_attack
    if end is None:
        return "She attacks groups of up to a million, and perhaps larger ones"
    if end == 1:
        return "She attacks nobody, not even somebody unlike anybody else"
    return (
        f"She attacks groups of up to {end - 1:,}; from {end:,} people alike on she does not begin"
    )
