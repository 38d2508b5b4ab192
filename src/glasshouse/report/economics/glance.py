"""Results about the attacker's economics at a glance, where there is no study that asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import altair as alt
import numpy as np

from glasshouse.economics import (
    Baseline,
    Curve,
    Deterrence,
    Deterrent,
    Frontier,
    Policy,
    ReleaseExposure,
    Sensitivity,
    Thresholds,
    least,
    least_size,
)
from glasshouse.economics.deterrents import DETERRENTS
from glasshouse.language import marked, number, text, translated
from glasshouse.report.economics import findings as economics_findings
from glasshouse.report.economics.charts import PARAMETERS, sensitivity_figure
from glasshouse.report.economics.exposures import (
    exposure_figure,
    exposure_findings,
    no_size_is_enough,
    size_that_is_enough,
)
from glasshouse.report.economics.findings import THRESHOLDS, amount, threshold
from glasshouse.report.economics.page import deterrence_page
from glasshouse.report.glance import NOWHERE, bar_figure, glance, note
from glasshouse.report.grading import graded
from glasshouse.report.page import Cell, Column, Figure, Finding, Group, Page, Severity, Table
from glasshouse.report.theme import TARGETS, wrapped
from glasshouse.report.words import counted, frequency, percentage

CHANGES = {
    "no_attack": (
        marked(
            "An adversary who knows how many are alike does not begin where they are {size} or more."
        ),
        marked("An adversary who knows how many are alike begins in groups of up to a million."),
    ),
    "no_exploit_after_access": (
        marked("Once access is paid, she tries nobody where {size} or more are alike."),
        marked("Once access is paid, she tries people in groups of up to a million."),
    ),
    "first_partial": (
        marked("The smallest group in which she would not try everybody has {size} people."),
        marked("She would try everybody in groups of up to a million."),
    ),
    "baseline": (
        marked(
            "The adversary of the literature, who decides once, stays away from groups of {size} on."
        ),
        marked(
            "The adversary of the literature, who decides once, attacks groups of up to a million."
        ),
    ),
}
"""What she does from each threshold on, and what it means that there is none."""


def policy_page(policy: Policy, *, subject: str) -> Page:
    """Return whom a rational adversary attacks, how surely, and what would stop her from somebody like nobody else."""
    enough = tuple(least(policy.terms, name, size=1) for name in DETERRENTS)
    outcome = Deterrence(policy, enough, least_size(policy.terms))
    return deterrence_page(outcome, (), subject=subject, provenance=NOWHERE)


def exposure_page(exposure: ReleaseExposure, *, subject: str) -> Page:
    """Return what a release risks."""
    risky = bool(exposure.known.any() or exposure.unknown.any())
    return glance(
        exposure_findings(exposure, subject=subject), [exposure_figure(exposure) if risky else None]
    )


def thresholds_page(thresholds: Thresholds) -> Page:
    """Return from which sizes on she changes her mind."""
    found = thresholds.to_dict()
    sentences = [
        translated(never) if found[name] is None else translated(said, size=found[name])
        for name, (said, never) in CHANGES.items()
    ]
    sizes = {translated(THRESHOLDS[name]): float(size) for name, size in found.items() if size}
    figure = bar_figure(
        sizes,
        title=sentences[0],
        axis=text("size of the group (people)"),
    )
    return glance([note(sentence) for sentence in sentences], [figure])


def deterrent_page(deterrent: Deterrent, *, subject: str) -> Page:
    """Return how much of one deterrent is enough."""
    found = [_deterred(deterrent, subject)]
    if deterrent.least is not None and deterrent.least != deterrent.lasting:
        found.append(
            Finding(
                Severity.MODERATE,
                text("More is not always safer: beyond the least amount the risk rises again."),
            )
        )
    return glance(found)


def _deterred(deterrent: Deterrent, subject: str) -> Finding:
    if deterrent.parameter == "size":
        if deterrent.lasting is None:
            return Finding(Severity.HIGH, no_size_is_enough(deterrent, subject))
        return Finding(Severity.SAFE, size_that_is_enough(deterrent, subject))
    parts = {
        "deterrent": translated(economics_findings.DETERRENTS[deterrent.parameter]),
        "people": counted(deterrent.size or 1, subject),
        "target": percentage(Fraction(deterrent.target)),
    }
    if deterrent.lasting is None:
        return Finding(
            Severity.MODERATE,
            text(
                "However high {deterrent} is, by itself it does not bring the risk of a group of {people} down to "
                "{target} for good.",
                **parts,
            ),
        )
    return Finding(
        Severity.NOTE,
        text(
            "From {amount} on, {deterrent} brings the risk of a group of {people} down to {target}.",
            amount=amount(deterrent.parameter, deterrent.lasting, None),
            **parts,
        ),
    )


def frontier_page(frontier: Frontier) -> Page:
    """Return how much of a deterrent groups need, by their size."""
    deterrent = translated(economics_findings.DETERRENTS[frontier.parameter])
    enough = {
        each.size or 1: each.lasting for each in frontier.deterrents if each.lasting is not None
    }
    parts = {"deterrent": deterrent, "target": percentage(Fraction(frontier.target))}
    if not enough:
        sentence = text(
            "However high {deterrent} is, by itself it brings the risk of none of these groups down to {target}.",
            **parts,
        )
        return glance([Finding(Severity.MODERATE, sentence)])
    smallest, largest = min(enough), max(enough)
    first, last = (amount(frontier.parameter, enough[size], None) for size in (smallest, largest))
    sentence = (
        text(
            "To bring the risk of a group of {size} down to {target}, {deterrent} must be {amount}.",
            size=smallest,
            amount=first,
            **parts,
        )
        if smallest == largest
        else text(
            "To bring the risk down to {target}, {deterrent} must be {first} in a group of {smallest}, and {last} in "
            "one of {largest}.",
            first=first,
            smallest=smallest,
            last=last,
            largest=largest,
            **parts,
        )
    )
    lines = {deterrent: list(enough.values())}
    figure = _line_figure(
        [float(size) for size in enough],
        lines,
        title=sentence,
        axes=(text("size of the group (people)"), deterrent),
    )
    return glance([note(sentence)], [figure])


def sensitivity_page(sensitivity: Sensitivity) -> Page:
    """Return how a parameter moves the sizes at which she changes her mind."""
    name = translated(PARAMETERS.get(sensitivity.parameter, sensitivity.parameter))
    ends = (0, len(sensitivity.values) - 1)
    low, high = (number(float(sensitivity.values[place]), ",.4g") for place in ends)
    first, last = (threshold(sensitivity.thresholds[place].no_attack) for place in ends)
    sentence = text(
        "The size from which on she does not begin, by “{parameter}”: {first} at {low}, {last} at {high}.",
        parameter=name,
        low=low,
        high=high,
        first=first,
        last=last,
    )
    return glance([note(sentence)], [sensitivity_figure([sensitivity], None)])


def curve_page(curve: Curve) -> Page:
    """Return how a parameter moves the risk of a release."""
    name = translated(PARAMETERS.get(curve.parameter, curve.parameter))
    low, high = (number(float(curve.values[place]), ",.4g") for place in (0, -1))
    before, after = (number(float(curve.known[place]), ",.4g") for place in (0, -1))
    sentence = text(
        "If “{parameter}” goes from {low} to {high}, the expected number of re-identifications goes from {before} to "
        "{after}, as long as she knows the sizes of groups.",
        parameter=name,
        low=low,
        high=high,
        before=before,
        after=after,
    )
    lines = {
        text("she knows the sizes of groups"): curve.known.tolist(),
        text("she only knows how frequent people are in the population"): curve.unknown.tolist(),
    }
    figure = _line_figure(
        curve.values.tolist(),
        lines,
        title=sentence,
        axes=(name, text("expected re-identifications (records)")),
    )
    return glance([note(sentence)], [figure])


def baseline_page(baseline: Baseline) -> Page:
    """Return what the adversary who decides once achieves."""
    attacked = int(np.count_nonzero(baseline.payoff > 0))
    risk = float(baseline.reidentification.max(initial=0.0))
    sentence = (
        text(
            "An adversary who decides once attacks {attacked} of the {sizes} sizes asked about, and re-identifies at "
            "most {frequency} there.",
            attacked=attacked,
            sizes=len(baseline.sizes),
            frequency=frequency(Fraction(risk)),
        )
        if attacked
        else text("An adversary who decides once attacks none of the sizes asked about.")
    )
    grade = graded(Fraction(risk)) if attacked else Severity.SAFE
    figure = _line_figure(
        baseline.sizes.tolist(),
        {text("one guess only"): (100 * baseline.reidentification).tolist()},
        title=sentence,
        axes=(text("size of the group (people)"), text("probability of re-identification (%)")),
    )
    return glance([Finding(grade, sentence)], [figure])


def _line_figure(
    places: list[float],
    lines: Mapping[str, list[float]],
    *,
    title: str,
    axes: tuple[str, str],
) -> Figure:
    """Return a picture of how numbers change along an axis."""
    names = list(lines)
    rows = [
        {"x": place, "y": value, "who": name}
        for name, values in lines.items()
        for place, value in zip(places, values, strict=True)
    ]
    colours = [colour for colour, _ in TARGETS[: len(names)]]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2, point=True)
        .encode(
            x=alt.X("x:Q", title=axes[0], axis=alt.Axis(format=",~r", tickCount=6)),
            y=alt.Y("y:Q", title=axes[1], axis=alt.Axis(format=",~r", tickCount=6)),
            color=alt.Color(
                "who:N", title=None, sort=names, scale=alt.Scale(domain=names, range=colours)
            ),
        )
        .properties(width=560, height=260, title=alt.Title(wrapped(title)))
    )
    columns = (Column(axes[0], numeric=True), *(Column(name, numeric=True) for name in names))
    cells = tuple(
        tuple(Cell(number(value, ",.4g")) for value in row)
        for row in zip(places, *lines.values(), strict=True)
    )
    return Figure.of(chart, label=title, caption="", table=Table(columns, (Group(cells),)))
