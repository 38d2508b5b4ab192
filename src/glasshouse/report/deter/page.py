"""The report about the attacker's economics: risk, value and tries by the size of a group, and what moves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import altair as alt
import numpy as np

from glasshouse.economics import Deterrence, Policy, ReleaseExposure, Sensitivity, Terms, one_shot
from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.report.cells import cell_table, count_cell, group_table, percent_cell
from glasshouse.report.charts import TARGETS, plot, titled
from glasshouse.report.deter.findings import (
    ADVERSARIES,
    DETERRENTS,
    THRESHOLDS,
    deterrence_findings,
    enough,
    few_digits,
    now,
    published_prior,
    shown_sizes,
    threshold,
)
from glasshouse.report.page import Brief, Cell, Figure, Page, Provenance, Section, Table
from glasshouse.report.words import glossary, hundredths, percentage, sentences
from glasshouse.study.deter import DeterStudy

METHOD = "Xia, Heatherly, Kantarcioglu, Vorobeychik, Wan and Malin 2015, “Process-Driven Data Privacy” (CIKM)"
TERMS = {
    "prior": marked("chance that the target is registered (--prior)"),
    "gain": marked("gain of a re-identification (--gain)"),
    "penalty": marked("penalty for each detection (--penalty)"),
    "access_cost": marked("price of access (--access-cost)"),
    "link_cost": marked("cost of linking (--link-cost)"),
    "exploit_cost": marked("cost of trying one person (--exploit-cost)"),
    "detection": marked("detection, h0 and h1 (--detection)"),
    "penalties": marked("penalties at most (--penalties)"),
    "discount": marked("discount (--discount)"),
}
"""What the terms are called."""
MONEY = ("gain", "penalty", "access_cost", "link_cost", "exploit_cost")
"""The terms that are amounts."""
WORDS = {
    marked("Value"): marked("What the attack is worth to her by the optimal plan, costs deducted."),
    marked("Enough from here on"): marked(
        "The least value from which on every larger one is enough too. With a limited number of penalties more is not "
        "always safer."
    ),
}
"""The words of this report, explained."""
PAYS = marked(
    "The adversary pays for access to a register, links a record with it, and tries the people who fit one after the "
    "other; each try may be detected and punished."
)
KNOWS_SIZES = marked("She knows how many people of the register are like the target.")
BELIEVES_SIZES = marked(
    "She does not know how many are like the target: she believes in a binomial distribution over a register of "
    "{register}."
)
RATIONAL = marked("She is rational: she stops as soon as going on is not worth while.")
LIMITS = (
    marked(
        "Her plan is the optimum of that decision process, computed exactly by backward induction. Thresholds are "
        "those of an adversary who knows the sizes; deterrents are those of the adversary described above."
    ),
    marked(
        "Everything depends on the terms: an adversary who gains more, pays less, or does not reckon at all goes "
        "farther than is said here."
    ),
)
AIM = marked(
    "What brings the risk of a group of {size} to at most {target}, each by itself, against {adversary}"
)
"""What deterrents are to reach."""


def page(outcome: Deterrence, question: DeterStudy, *, provenance: Provenance) -> Page:
    """Return the report; what is said of a release comes before what is said of any."""
    policy, currency, exposed = outcome.policy, question.currency, outcome.exposure
    figures = [risk_by_size(policy), value_by_size(policy, currency), exploits_by_size(policy)]
    sections = [
        Section(text("Thresholds"), tables=(_thresholds(policy),)),
        Section(text("By size of the group"), tables=(_sizes(policy, currency),)),
        Section(text("What would deter her"), tables=(_deterrents(outcome, currency),)),
        Section(text("The terms"), tables=(_terms(policy.terms, currency),)),
    ]
    if exposed is not None:
        sections.insert(0, _exposure(exposed, currency, losses=outcome.counts_losses))
        if exposed.known.any() or exposed.unknown.any():
            figures.insert(0, exposure_figure(exposed))
    if outcome.curves:  # none where too many sizes would be looked at
        figures.append(thresholds_by_parameter(outcome.curves, currency))
    return Page(
        title=text("Would she attack, how far, and what deters her"),
        lead=text("The plan of a rational adversary who pays for data, effort and fines"),
        findings=deterrence_findings(outcome, subject=question.subject, currency=currency),
        figures=tuple(figures),
        sections=tuple(sections),
        adversary=sentences(
            PAYS,
            KNOWS_SIZES if policy.belief is None else BELIEVES_SIZES,
            RATIONAL,
            register=policy.belief or 0,
        ),
        limits=(*sentences(*LIMITS), *(() if outcome.prior_is_given else (published_prior(),))),
        glossary=glossary(
            "adversary, quasi-identifier, re-identification, exploit, discount", terms=(WORDS,)
        ),
        provenance=provenance,
        command="glasshouse deter --study study.toml",
        method=METHOD,
    )


def brief(outcome: Deterrence, question: DeterStudy) -> Brief:
    """Return what a terminal says: whom she attacks, how far she goes and what would stop her."""
    policy, currency = outcome.policy, question.currency
    aim = translated(
        AIM,
        size=question.protect,
        target=percentage(Fraction(question.target)),
        adversary=translated(ADVERSARIES[policy.belief is None]),
    )
    tables = {
        text("From which size on she changes her mind, who knows the size"): _thresholds(policy),
        text("By size of the group of people alike"): _sizes(policy, currency),
        aim: _deterrents(outcome, currency),
    }
    return Brief(
        tuple(replace(table, title=title) for title, table in tables.items()),
        deterrence_findings(outcome, subject=question.subject, currency=currency),
        notes=() if outcome.prior_is_given else (published_prior(),),
    )


def _exposure(exposure: ReleaseExposure, currency: str | None, *, losses: bool) -> Section:
    """Return the exact figures of a release."""
    known, unknown = (int(np.count_nonzero(risk)) for risk in (exposure.known, exposure.unknown))
    expected = [
        number(figure, ",.4g") for figure in (exposure.expected_known, exposure.expected_unknown)
    ]
    rows = [
        (text("records"), number(exposure.groups.records)),
        (text("people in the register"), number(exposure.groups.people)),
        (text("records worth attacking, sizes known"), number(known)),
        (text("records worth attacking, sizes not known"), number(unknown)),
        (text("expected re-identifications, sizes known"), expected[0]),
        (text("expected re-identifications, sizes not known"), expected[1]),
        (text("records whose risk is higher if she does not know"), number(len(exposure.higher))),
        (text("records whose risk is lower if she does not know"), number(len(exposure.lower))),
    ]
    if losses:
        lost = [
            text("not told") if exposure.loss_counts_few else hundredths(loss, currency)
            for loss in (exposure.loss_known, exposure.loss_unknown)
        ]
        rows += [
            (text("expected loss, sizes known"), lost[0]),
            (text("expected loss, sizes not known"), lost[1]),
        ]
    table = cell_table(text("Figure"), [text("Value")], rows)
    return Section(text("What the release risks"), tables=(table,))


def _thresholds(policy: Policy) -> Table:
    sizes = policy.thresholds.to_dict()
    rows = ((translated(words), threshold(sizes[name])) for name, words in THRESHOLDS.items())
    return cell_table(text("What she does"), [text("from this size on")], rows)


def _sizes(policy: Policy, currency: str | None) -> Table:
    titles = (
        *(text("Size of the group"), text("value before access"), text("value after access")),
        *(text("people tried if undetected"), text("re-identified")),
    )
    rows = [
        (
            count_cell(int(policy.sizes[i])),
            _worth(float(policy.value[i]), currency),
            _worth(float(policy.value_after_access[i]), currency),
            count_cell(int(policy.exploits[i])),
            Cell(percentage(Fraction(float(policy.reidentification[i])))),
        )
        for i in shown_sizes(policy)
    ]
    return cell_table((), titles, rows)


def _deterrents(outcome: Deterrence, currency: str | None) -> Table:
    terms = outcome.policy.terms
    rows = [
        (
            text(
                "{deterrent}, for a group of {size}",
                deterrent=translated(DETERRENTS[deterrent.parameter]),
                size=deterrent.size or 1,
            ),
            now(terms, deterrent.parameter, currency),
            enough(deterrent.parameter, deterrent.least, currency),
            enough(deterrent.parameter, deterrent.lasting, currency),
        )
        for deterrent in outcome.deterrents
    ]
    size = outcome.size
    rows.append((text("the size of the group"), "", threshold(size.least), threshold(size.lasting)))
    titles = (text("now"), text("enough at"), text("enough from here on"))
    return cell_table(text("Deterrent"), titles, rows)


def _terms(terms: Terms, currency: str | None) -> Table:
    rows = (
        (translated(TERMS.get(name, name)), _term(name, value, currency))
        for name, value in terms.to_dict().items()
    )
    return cell_table(text("Term"), [text("Value")], rows)


def _term(name: str, value: object, currency: str | None) -> Cell:
    if isinstance(value, (list, tuple)):
        return Cell("; ".join(number(float(entry), "g") for entry in value))
    if value is None or isinstance(value, str):
        return Cell(text("unlimited"))
    if name in MONEY:
        return _worth(float(str(value)), currency)
    if isinstance(value, float):
        return Cell(number(value, ".6g"), exact=exactly(value))
    return Cell(number(int(str(value))))


def _worth(value: float, currency: str | None) -> Cell:
    return Cell(hundredths(value, currency), exact=exactly(value))


DRAWN_THRESHOLDS = {
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


def risk_by_size(policy: Policy) -> Figure:
    """Show how likely a re-identification is in groups of each size: by the optimal plan, and by others."""
    once = one_shot(policy.terms, policy.sizes.tolist())
    risks = {
        text("optimal plan"): policy.reidentification.tolist(),
        text("access already paid"): policy.reidentification_after_access.tolist(),
        text("one guess only (literature)"): once.reidentification.tolist(),
    }
    attacked, end = policy.sizes[policy.value > 0].tolist(), policy.thresholds.no_attack
    if policy.belief is not None and not attacked:
        title = text("She attacks none of the sizes asked about")
    elif policy.belief is not None:
        title = text(
            "She attacks where she expects {first} to {last} people alike",
            first=attacked[0],
            last=attacked[-1],
        )
    elif end is None:
        title = text("She attacks groups of up to a million, and perhaps larger ones")
    elif end == 1:
        title = text("She attacks nobody, not even somebody unlike anybody else")
    else:
        title = text(
            "She attacks groups of up to {most}; from {size} people alike on she does not begin",
            most=end - 1,
            size=end,
        )
    return _by_size(
        policy,
        risks,
        lambda risk: percent_cell(Fraction(risk)),
        drawn_times=100,
        axis=text("probability of re-identification (%)"),
        title=title,
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
    title = (
        text(
            "The attack is worth {first} in a group of {small}, and {last} in one of {large}",
            first=hundredths(float(policy.value[0]), currency),
            small=int(policy.sizes[0]),
            last=hundredths(float(policy.value[-1]), currency),
            large=int(policy.sizes[-1]),
        )
        if policy.value.any()
        else text("The attack is worth nothing to her, whatever the size")
    )
    return _by_size(
        policy,
        values,
        lambda value: hundredths(value, currency),
        axis=text("value of the attack ({currency})", currency=currency)
        if currency
        else text("value of the attack"),
        title=title,
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
    chart = alt.concat(*(_thresholds_chart(curve, currency) for curve in curves), columns=2)
    title = text("From which size on she stays away, if one of the terms changes")
    subtitle = text("one parameter varies, the others stay as they are")
    rows = {}
    for curve in curves:
        last = len(curve.values) - 1
        places = sorted({round(last * i / (MOST_VALUES - 1)) for i in range(MOST_VALUES)})
        rows[_parameter(curve, currency)] = [
            (
                number(float(curve.values[place]), ",.4g"),
                *(threshold(curve.thresholds[place].to_dict()[name]) for name in DRAWN_THRESHOLDS),
            )
            for place in places
        ]
    titles = map(translated, DRAWN_THRESHOLDS.values())
    return Figure.of(
        titled(chart, title, subtitle, (80, 90)),
        label=text("The sizes of groups at which she changes her mind, against each parameter"),
        caption=text(
            "The axes are logarithmic, but for the discount and the chance that the target is registered. Lower is "
            "better for the people in the data."
        ),
        table=group_table(text("Value of the parameter"), titles, rows),
    )


def _thresholds_chart(curve: Sensitivity, currency: str | None) -> alt.Chart:
    names = {name: translated(words) for name, words in DRAWN_THRESHOLDS.items()}
    rows = [
        {"x": float(value), "who": who, "size": size}
        for value, sizes in zip(curve.values, curve.thresholds, strict=True)
        for name, who in names.items()
        if (size := sizes.to_dict()[name]) is not None
    ]
    plain = curve.parameter in ("discount", "prior")
    scale = alt.Scale(zero=False) if plain else alt.Scale(type="log")
    people = text("size of the group (people)")
    lines = plot(rows).mark_line(interpolate="step-after", strokeWidth=2)
    chart: alt.Chart = lines.encode(
        x=alt.X("x:Q", title=_parameter(curve, currency), scale=scale),
        y=alt.Y("size:Q", title=people, scale=alt.Scale(type="log")),
        **_told_apart(list(names.values())),
    ).properties(width=280, height=200)
    return chart


def _parameter(curve: Sensitivity, currency: str | None) -> str:
    """Say a parameter with its unit."""
    name = translated(PARAMETERS.get(curve.parameter, curve.parameter))
    if currency is None or curve.parameter in ("detection", "discount", "prior"):
        return name
    return f"{name} ({currency})"


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
    lines = plot(rows).mark_line(interpolate="step-after", strokeWidth=2)
    chart = lines.encode(
        x=alt.X("size:Q", title=text("size of the group (people)")),
        y=alt.Y("y:Q", title=axis, scale=alt.Scale(domainMin=0)),
        **_told_apart(list(series)),
    )
    numbers = (
        (number(int(policy.sizes[place])), *(cell(values[place]) for values in series.values()))
        for place in shown_sizes(policy)
    )
    return Figure.of(
        titled(chart, title, subtitle, (85, 95), width=620, height=260),
        label=label,
        caption=caption,
        table=cell_table(text("Size of the group"), list(series), numbers),
    )


def _told_apart(who: list[str]) -> dict[str, alt.Color | alt.StrokeDash]:
    """Return how lines are told apart: by a colour and by dashes."""
    colours = alt.Scale(domain=who, range=[colour for colour, _ in TARGETS[: len(who)]])
    dashes = alt.Scale(domain=who, range=[[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]][: len(who)])
    legend = alt.Legend(labelLimit=320)
    return {
        "color": alt.Color("who:N", title=None, legend=legend, scale=colours),
        "strokeDash": alt.StrokeDash("who:N", title=None, scale=dashes),
    }


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
    columns = plot(rows).mark_bar(opacity=1, stroke="white")
    panels = columns.encode(
        x=alt.X("low:Q", title=text("risk of re-identification (%)")),
        x2="high:Q",
        y=alt.Y("records:Q", title=text("number of records"), scale=alt.Scale(type="symlog")),
        y2="none:Q",
        color=alt.Color("who:N", legend=None, scale=colours),
    ).properties(width=300, height=220)
    chart = panels.facet(column=alt.Column("who:N", title=None, sort=list(risks)))
    title = text(
        "{known} of {records} are expected to be re-identified if she knows the sizes, {unknown} if not",
        known=few_digits(exposure.expected_known),
        records=exposure.groups.records,
        unknown=few_digits(exposure.expected_unknown),
    )
    subtitle = text("records by risk; the vertical axis is logarithmic")
    numbers = (
        (
            Cell(text("{low} to {high}%", low=number(low, ".3g"), high=number(high, ".3g"))),
            *map(count_cell, records),
        )
        for (low, high), *records in zip(bars, *counts.values(), strict=True)
        if any(records)
    )
    return Figure.of(
        titled(chart, title, subtitle),
        label=text("How many records have which risk"),
        caption=text("Those without risk, or with hardly any, are in the leftmost bar."),
        table=cell_table(text("Risk of re-identification"), list(risks), numbers),
    )
