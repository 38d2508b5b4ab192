"""The attacker's economics in pictures: risk, value and exploits by size of the group, and what moves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import altair as alt
import numpy as np

from glasshouse.economics import Policy, ReleaseExposure, Sensitivity, one_shot
from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.report.cells import cell_rows, cell_table, count_cell, percent_cell
from glasshouse.report.charts import TARGETS, wrapped
from glasshouse.report.deter.findings import few_digits, shown_sizes, threshold
from glasshouse.report.page import Cell, Column, Figure, Group, Table
from glasshouse.report.words import hundredths

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
BINS = 20
"""The bars of the picture of a release."""


def deterrence_figures(
    policy: Policy, curves: Sequence[Sensitivity], currency: str | None
) -> tuple[Figure, ...]:
    """Return the pictures with their numbers; none of the thresholds where too many sizes would be looked at."""
    figures = [risk_by_size(policy), value_by_size(policy, currency), exploits_by_size(policy)]
    if curves:
        figures.append(thresholds_by_parameter(curves, currency))
    return tuple(figures)


def risk_by_size(policy: Policy) -> Figure:
    """Show how likely a re-identification is in groups of each size: by the optimal plan, and by others."""
    once = one_shot(policy.terms, policy.sizes.tolist())
    risks = {
        text("optimal plan"): policy.reidentification.tolist(),
        text("access already paid"): policy.reidentification_after_access.tolist(),
        text("one guess only (literature)"): once.reidentification.tolist(),
    }
    return _by_size(
        policy,
        risks,
        lambda risk: percent_cell(Fraction(risk)),
        drawn_times=100,
        axis=text("probability of re-identification (%)"),
        title=_risk_title(policy),
        subtitle=text("by the size of the group of people alike"),
        label=text("Probability of re-identification by size of the group"),
        caption=text("At a threshold the line falls to 0."),
    )


def value_by_size(policy: Policy, currency: str | None) -> Figure:
    """Show what the attack is worth to her in groups of each size."""
    values = {
        text("before access"): policy.value.tolist(),
        text("after access"): policy.value_after_access.tolist(),
    }
    return _by_size(
        policy,
        values,
        lambda value: hundredths(value, currency),
        axis=text("value of the attack ({currency})", currency=currency)
        if currency
        else text("value of the attack"),
        title=_value_title(policy, currency),
        subtitle=text("0: she does not begin, or stops"),
        label=text("Value of the attack by size of the group"),
        caption=text("The value never rises with the size.")
        if policy.belief is None
        else text("By the size that she expects; she may also find nobody."),
    )


def exploits_by_size(policy: Policy) -> Figure:
    """Show how many people she tries before she stops, if she neither succeeds nor is detected."""
    exploits = {
        text("optimal plan"): policy.exploits.tolist(),
        text("access already paid"): policy.exploits_after_access.tolist(),
        text("everybody"): policy.sizes.tolist(),
    }
    most = int(policy.exploits.max())
    title = (
        text_for(
            most,
            "She tries one person at most",
            "She tries {count} people at most before she stops",
        )
        if most
        else text("She tries nobody")
    )
    return _by_size(
        policy,
        exploits,
        lambda tried: number(int(tried)),
        axis=text("people tried before she stops"),
        title=title,
        subtitle=text("if she is neither successful nor detected before"),
        label=text("People tried before she stops, by size of the group"),
        caption=text("Where the lines part she stops before everybody was tried."),
    )


def thresholds_by_parameter(curves: Sequence[Sensitivity], currency: str | None) -> Figure:
    """Show the group sizes at which she changes her mind, against each parameter by itself."""
    charts = [_thresholds(curve, currency) for curve in curves]
    chart = alt.concat(*charts, columns=2).properties(
        title=alt.Title(
            wrapped(text("From which size on she stays away, if one of the terms changes"), 80),
            subtitle=wrapped(text("one parameter varies, the others stay as they are"), 90),
        )
    )
    return Figure.of(
        chart,
        label=text("The sizes of groups at which she changes her mind, against each parameter"),
        caption=text(
            "The axes are logarithmic, but for the discount and the chance that the target is registered. Lower is "
            "better for the people in the data."
        ),
        table=_thresholds_table(curves, currency),
    )


def _thresholds(curve: Sensitivity, currency: str | None) -> alt.Chart:
    names = {name: translated(words) for name, words in THRESHOLDS.items()}
    rows = [
        {"x": float(value), "who": who, "size": size}
        for value, found in zip(curve.values, curve.thresholds, strict=True)
        for name, who in names.items()
        if (size := found.to_dict()[name]) is not None
    ]
    plain = curve.parameter in ("discount", "prior")
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "x:Q",
                title=_parameter(curve, currency),
                scale=alt.Scale(zero=False) if plain else alt.Scale(type="log"),
            ),
            y=alt.Y(
                "size:Q", title=text("size of the group (people)"), scale=alt.Scale(type="log")
            ),
            **_told_apart(list(names.values())),
        )
        .properties(width=280, height=200)
    )
    return chart


def _parameter(curve: Sensitivity, currency: str | None) -> str:
    """Say a parameter with its unit."""
    name = translated(PARAMETERS.get(curve.parameter, curve.parameter))
    if currency is None or curve.parameter in ("detection", "discount", "prior"):
        return name
    return f"{name} ({currency})"


def _thresholds_table(curves: Sequence[Sensitivity], currency: str | None) -> Table:
    columns = (
        Column(text("Value of the parameter")),
        *(Column(translated(words), numeric=True) for words in THRESHOLDS.values()),
    )
    groups = []
    for curve in curves:
        last = len(curve.values) - 1
        places = sorted({round(last * i / (MOST_VALUES - 1)) for i in range(MOST_VALUES)})
        rows = (
            (
                number(float(curve.values[place]), ",.4g"),
                *(threshold(curve.thresholds[place].to_dict()[name]) for name in THRESHOLDS),
            )
            for place in places
        )
        groups.append(Group(cell_rows(rows), title=_parameter(curve, currency)))
    return Table(columns, tuple(groups))


def _by_size(
    policy: Policy,
    series: Mapping[str, Sequence[float]],
    cell: Callable[[float], Cell | str],
    *,
    drawn_times: int = 1,
    axis: str,
    title: str,
    subtitle: str,
    label: str,
    caption: str,
) -> Figure:
    """Return lines over the sizes of groups, and their numbers at the sizes that tables show."""
    count = len(policy.sizes)
    step = max(1, -(-count // MOST_POINTS))
    rows = [
        {"size": int(policy.sizes[place]), "who": who, "y": drawn_times * values[place]}
        for who, values in series.items()
        for place in sorted({*range(0, count, step), count - 1})
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("size:Q", title=text("size of the group (people)")),
            y=alt.Y("y:Q", title=axis, scale=alt.Scale(domainMin=0)),
            **_told_apart(list(series)),
        )
        .properties(
            width=620,
            height=260,
            title=alt.Title(wrapped(title, 85), subtitle=wrapped(subtitle, 95)),
        )
    )
    numbers = (
        (
            Cell(number(int(policy.sizes[place]))),
            *(cell(values[place]) for values in series.values()),
        )
        for place in shown_sizes(policy)
    )
    table = cell_table(text("Size of the group"), list(series), numbers)
    return Figure.of(chart, label=label, caption=caption, table=table)


def _told_apart(who: list[str]) -> dict[str, alt.Color | alt.StrokeDash]:
    """Return how lines are told apart: by a colour and by dashes."""
    colours = alt.Scale(domain=who, range=[colour for colour, _ in TARGETS[: len(who)]])
    dashes = alt.Scale(domain=who, range=[[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]][: len(who)])
    legend = alt.Legend(labelLimit=320)
    return {
        "color": alt.Color("who:N", title=None, legend=legend, scale=colours),
        "strokeDash": alt.StrokeDash("who:N", title=None, scale=dashes),
    }


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
        first=hundredths(first, currency),
        small=int(policy.sizes[0]),
        last=hundredths(last, currency),
        large=int(policy.sizes[-1]),
    )


def exposure_figure(exposure: ReleaseExposure) -> Figure:
    """Show how many records of a release have which risk, by what the adversary knows."""
    risks = {
        text("she knows the sizes of groups"): exposure.known,
        text("she only knows how frequent people are in the population"): exposure.unknown,
    }
    highest = max(float(risk.max(initial=0)) for risk in risks.values())
    edges = np.linspace(0, max(highest, 1e-9), BINS + 1)
    bars = [(100 * low, 100 * high) for low, high in pairwise(edges)]
    counts = {who: np.histogram(risk, edges)[0].tolist() for who, risk in risks.items()}
    rows = [
        {"low": low, "high": high, "records": count, "none": 0, "who": who}
        for who in risks
        for (low, high), count in zip(bars, counts[who], strict=True)
        if count
    ]
    colours = alt.Scale(domain=list(risks), range=[colour for colour, _ in TARGETS[:2]])
    columns = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(opacity=1, stroke="white")
        .encode(
            x=alt.X("low:Q", title=text("risk of re-identification (%)")),
            x2="high:Q",
            y=alt.Y("records:Q", title=text("number of records"), scale=alt.Scale(type="symlog")),
            y2="none:Q",
            color=alt.Color("who:N", legend=None, scale=colours),
        )
        .properties(width=300, height=220)
    )
    title = text(
        "{known} of {records} are expected to be re-identified if she knows the sizes, {unknown} if not",
        known=few_digits(exposure.expected_known),
        records=exposure.groups.records,
        unknown=few_digits(exposure.expected_unknown),
    )
    subtitle = text("records by risk; the vertical axis is logarithmic")
    chart = columns.facet(column=alt.Column("who:N", title=None, sort=list(risks))).properties(
        title=alt.Title(wrapped(title), subtitle=wrapped(subtitle))
    )
    numbers = (
        (
            Cell(text("{low} to {high} %", low=number(low, ".3g"), high=number(high, ".3g"))),
            *map(count_cell, records),
        )
        for (low, high), *records in zip(bars, *counts.values(), strict=True)
        if any(records)
    )
    return Figure.of(
        chart,
        label=text("How many records have which risk"),
        caption=text("Those without risk, or with hardly any, are in the leftmost bar."),
        table=cell_table(text("Risk of re-identification"), list(risks), numbers),
    )
