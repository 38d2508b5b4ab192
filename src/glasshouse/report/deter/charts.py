"""The attacker's economics in pictures: risk, value and exploits by size of the group, and what moves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from glasshouse.economics import Policy, Sensitivity, one_shot
from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.report.cells import percent_cell
from glasshouse.report.charts import TARGETS, wrapped
from glasshouse.report.deter.findings import shown_sizes, threshold, value_of
from glasshouse.report.page import Cell, Column, Figure, Group, Table

THRESHOLDS = {
    "no_attack": marked("does not begin"),
    "no_exploit_after_access": marked("tries nobody even after access"),
    "first_partial": marked("does not try everybody"),
    "baseline": marked("one guess only (literature)"),
}
"""What she does from each threshold on, in few words."""
PARAMETERS = {
    "penalty": marked("penalty"),
    "access_cost": marked("price of access"),
    "exploit_cost": marked("cost of trying one person"),
    "detection": marked("chance of being detected"),
    "gain": marked("gain"),
    "prior": marked("chance that the target is registered"),
    "link_cost": marked("cost of linking"),
    "discount": marked("discount"),
}
"""What the parameters are called on an axis."""
MOST_POINTS = 400
"""So many sizes at most are drawn."""
MOST_VALUES = 7
"""So many values of each parameter are in a table."""

Series = Mapping[str, Sequence[float]]


def deterrence_figures(
    policy: Policy, curves: Sequence[Sensitivity], currency: str | None
) -> tuple[Figure, ...]:
    """Return the pictures with their numbers; none of the thresholds where too many sizes would be looked at."""
    figures = [
        Figure.of(
            risk_by_size(policy),
            label=text("Probability of re-identification by size of the group"),
            caption=text("At a threshold the line falls to 0."),
            table=_table(policy, _risks(policy), lambda risk: percent_cell(Fraction(risk))),
        ),
        Figure.of(
            value_by_size(policy, currency),
            label=text("Value of the attack by size of the group"),
            caption=text("The value never rises with the size.")
            if policy.belief is None
            else text("By the size that she expects; she may also find nobody."),
            table=_table(policy, _values(policy), lambda value: Cell(value_of(value, currency))),
        ),
        Figure.of(
            exploits_by_size(policy),
            label=text("People tried before she stops, by size of the group"),
            caption=text("Where the lines part she stops before everybody was tried."),
            table=_table(policy, _exploits(policy), lambda tried: Cell(number(int(tried)))),
        ),
    ]
    if curves:
        figures.append(sensitivity_figure(curves, currency))
    return tuple(figures)


def sensitivity_figure(curves: Sequence[Sensitivity], currency: str | None) -> Figure:
    """Return the picture of what happens if one of the terms changes."""
    return Figure.of(
        thresholds_by_parameter(curves, currency),
        label=text("The sizes of groups at which she changes her mind, against each parameter"),
        caption=text(
            "The axes are logarithmic, but for the discount and the chance that the target is registered. Lower is "
            "better for the people in the data."
        ),
        table=_thresholds_table(curves, currency),
    )


def _risks(policy: Policy) -> Series:
    once = one_shot(policy.terms, policy.sizes.tolist())
    return {
        text("optimal plan"): policy.reidentification.tolist(),
        text("access already paid"): policy.reidentification_after_access.tolist(),
        text("one guess only (literature)"): once.reidentification.tolist(),
    }


def _values(policy: Policy) -> Series:
    return {
        text("before access"): policy.value.tolist(),
        text("after access"): policy.value_after_access.tolist(),
    }


def _exploits(policy: Policy) -> Series:
    return {
        text("optimal plan"): policy.exploits.tolist(),
        text("access already paid"): policy.exploits_after_access.tolist(),
        text("everybody"): policy.sizes.tolist(),
    }


def risk_by_size(policy: Policy) -> alt.TopLevelMixin:
    """Show how likely a re-identification is in groups of each size: by the optimal plan, and by others."""
    risks = {who: [100 * risk for risk in values] for who, values in _risks(policy).items()}
    return _by_size(
        policy,
        risks,
        text("probability of re-identification (%)"),
        title=_risk_title(policy),
        subtitle=text("by the size of the group of people alike"),
    )


def value_by_size(policy: Policy, currency: str | None) -> alt.TopLevelMixin:
    """Show what the attack is worth to her in groups of each size."""
    axis = (
        text("value of the attack ({currency})", currency=currency)
        if currency
        else text("value of the attack")
    )
    return _by_size(
        policy,
        _values(policy),
        axis,
        title=_value_title(policy, currency),
        subtitle=text("0: she does not begin, or stops"),
    )


def exploits_by_size(policy: Policy) -> alt.TopLevelMixin:
    """Show how many people she tries before she stops, if she neither succeeds nor is detected."""
    return _by_size(
        policy,
        _exploits(policy),
        text("people tried before she stops"),
        title=_exploits_title(policy),
        subtitle=text("if she is neither successful nor detected before"),
    )


def thresholds_by_parameter(
    curves: Sequence[Sensitivity], currency: str | None
) -> alt.TopLevelMixin:
    """Show the group sizes at which she changes her mind, against each parameter by itself."""
    charts = [_thresholds(curve, currency) for curve in curves]
    return alt.concat(*charts, columns=2).properties(
        title=alt.Title(
            wrapped(text("From which size on she stays away, if one of the terms changes"), 80),
            subtitle=wrapped(text("one parameter varies, the others stay as they are"), 90),
        )
    )


def _thresholds(curve: Sensitivity, currency: str | None) -> alt.Chart:
    names = [translated(said) for said in THRESHOLDS.values()]
    rows = [
        {"x": float(value), "who": said, "size": size}
        for value, found in zip(curve.values, curve.thresholds, strict=True)
        for name, said in zip(THRESHOLDS, names, strict=True)
        if (size := found.to_dict()[name]) is not None
    ]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=_parameter(curve, currency), scale=_scale(curve.parameter)),
            y=alt.Y(
                "size:Q", title=text("size of the group (people)"), scale=alt.Scale(type="log")
            ),
            color=_colour(names),
            strokeDash=_dash(names),
        )
        .properties(width=280, height=200)
    )
    return chart


def _is_money(curve: Sensitivity) -> bool:
    return curve.parameter not in ("detection", "discount", "prior")


def _parameter(curve: Sensitivity, currency: str | None) -> str:
    """Say a parameter with its unit."""
    name = translated(PARAMETERS.get(curve.parameter, curve.parameter))
    if currency is None or not _is_money(curve):
        return name
    return f"{name} ({currency})"


def _scale(parameter: str) -> alt.Scale:
    plain = parameter in ("discount", "prior")
    return alt.Scale(zero=False) if plain else alt.Scale(type="log")


def _thresholds_table(curves: Sequence[Sensitivity], currency: str | None) -> Table:
    columns = (
        Column(text("Value of the parameter")),
        *(Column(translated(said), numeric=True) for said in THRESHOLDS.values()),
    )
    groups = []
    for curve in curves:
        last = len(curve.values) - 1
        places = sorted({round(last * i / (MOST_VALUES - 1)) for i in range(MOST_VALUES)})
        rows = tuple(
            (
                Cell(number(float(curve.values[place]), ",.4g")),
                *(Cell(threshold(curve.thresholds[place].to_dict()[name])) for name in THRESHOLDS),
            )
            for place in places
        )
        groups.append(Group(rows, title=_parameter(curve, currency)))
    return Table(columns, tuple(groups))


def _table(policy: Policy, series: Series, cell: Callable[[float], Cell]) -> Table:
    """Return the numbers of a picture at the sizes that tables show."""
    columns = (
        Column(text("Size of the group")),
        *(Column(who, numeric=True) for who in series),
    )
    rows = tuple(
        (
            Cell(number(int(policy.sizes[place]))),
            *(cell(values[place]) for values in series.values()),
        )
        for place in shown_sizes(policy)
    )
    return Table(columns, (Group(rows),))


def _by_size(
    policy: Policy, series: Series, axis: str, *, title: str, subtitle: str
) -> alt.TopLevelMixin:
    rows: list[dict[str, Any]] = [
        {"size": int(policy.sizes[place]), "who": who, "y": values[place]}
        for who, values in series.items()
        for place in _chosen(len(policy.sizes))
    ]
    who = list(series)
    chart: alt.TopLevelMixin = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("size:Q", title=text("size of the group (people)")),
            y=alt.Y("y:Q", title=axis, scale=alt.Scale(domainMin=0)),
            color=_colour(who),
            strokeDash=_dash(who),
        )
        .properties(
            width=620,
            height=260,
            title=alt.Title(wrapped(title, 85), subtitle=wrapped(subtitle, 95)),
        )
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
            return text("She attacks none of the sizes asked about")
        return text(
            "She attacks where she expects {first} to {last} people alike",
            first=int(attacked[0]),
            last=int(attacked[-1]),
        )
    end = policy.thresholds.no_attack
    if end is None:
        return text("She attacks groups of up to a million, and perhaps larger ones")
    if end == 1:
        return text("She attacks nobody, not even somebody unlike anybody else")
    return text(
        "She attacks groups of up to {most}; from {size} people alike on she does not begin",
        most=end - 1,
        size=end,
    )


def _value_title(policy: Policy, currency: str | None) -> str:
    first, last = float(policy.value[0]), float(policy.value[-1])
    if not policy.value.any():
        return text("The attack is worth nothing to her, whatever the size")
    return text(
        "The attack is worth {first} in a group of {small}, and {last} in one of {large}",
        first=value_of(first, currency),
        small=int(policy.sizes[0]),
        last=value_of(last, currency),
        large=int(policy.sizes[-1]),
    )


def _exploits_title(policy: Policy) -> str:
    most = int(policy.exploits.max())
    if most == 0:
        return text("She tries nobody")
    return text_for(
        most, "She tries one person at most", "She tries {count} people at most before she stops"
    )
