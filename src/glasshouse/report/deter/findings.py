"""Would she attack, how far, and what deters her: what was found about the attacker's economics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import altair as alt
import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Floats
from glasshouse.economics import Deterrence, Deterrent, Policy, ReleaseExposure, Terms
from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.report.attacks import graded
from glasshouse.report.cells import count_cell
from glasshouse.report.charts import TARGETS, wrapped
from glasshouse.report.page import Cell, Column, Figure, Finding, Group, Section, Severity, Table
from glasshouse.report.words import counted, frequency, money, percentage, plural, share, singular

MOST_SIZES = 12
"""So many sizes of groups are in the table."""
DETERRENTS = {
    "penalty": marked("the penalty"),
    "access_cost": marked("the price of access"),
    "link_cost": marked("the cost of linking"),
    "exploit_cost": marked("the cost of trying one person"),
    "detection": marked("the chance of being detected"),
}
"""What a publisher or a legislator can raise."""
THRESHOLDS = {
    "no_attack": marked("does not begin"),
    "no_exploit_after_access": marked("tries nobody although access is paid"),
    "first_partial": marked("does not go on until everybody was tried"),
    "baseline": marked("the one-shot adversary of the literature does not begin"),
}
"""What she does from each threshold on."""

_EQUAL = 1e-12
"""Risks so near to each other are equal but for rounding."""


def deterrence_findings(
    outcome: Deterrence, *, subject: str, currency: str | None
) -> tuple[Finding, ...]:
    """Return what a release risks, where there is one; whom she attacks, how surely, and what would stop her.

    What holds for groups of any size is a risk by itself only where there is no release to judge.
    """
    of_any = (
        *_attacked(outcome, subject),
        _risk(outcome.policy, subject),
        *_rising(outcome),
        _stopped(outcome, currency),
    )
    if outcome.exposure is None:
        return of_any
    of_release = exposure_findings(
        outcome.exposure,
        subject=subject,
        currency=currency,
        losses=outcome.counts_losses,
    )
    return (*of_release, *map(_as_note, of_any))


def _as_note(finding: Finding) -> Finding:
    """Return a finding that helps to judge, but is no judgement of the release."""
    if finding.severity == Severity.SAFE:
        return finding
    return replace(finding, severity=Severity.NOTE)


def published_prior() -> str:
    """Say whose prior it is where none was given."""
    return text(
        "The prior is the publication's: the share of the inhabitants of North Carolina who are registered voters; "
        "give your own with --prior."
    )


def _on_these_terms() -> str:
    return text("This holds for a rational adversary on the terms given; others may attack anyway.")


def _attacked(outcome: Deterrence, subject: str) -> Iterator[Finding]:
    """Yield which groups she attacks, and which she does not."""
    policy, many = outcome.policy, plural(subject)
    if policy.belief is not None:
        yield _believing(policy, many)
        return
    end = policy.thresholds.no_attack
    if end is None:
        yield Finding(
            Severity.HIGH,
            text(
                "On these terms a rational adversary who knows how many are alike attacks groups of up to a million "
                "{many} alike, and perhaps larger ones.",
                many=many,
            ),
            meaning=text("No group is large enough to hide in, as long as the terms are these."),
        )
        return
    figure = text("does not begin from size {size} on", size=end)
    if end > 1:
        yield Finding(
            Severity.MODERATE,
            text(
                "On these terms a rational adversary who knows how many are alike attacks groups of up to {most} "
                "{many} alike.",
                most=end - 1,
                many=many,
            ),
            figure=figure,
            meaning=text(
                "An attack on a group of that size or a smaller one is worth more to her than it costs, fines included."
            ),
            remedy=text(
                "Publish so that more people are alike, or make attacks dearer or riskier."
            ),
        )
        yield Finding(
            Severity.SAFE,
            text(
                "Where {size} or more {many} are alike, a rational adversary who knows it does not begin on these "
                "terms.",
                size=end,
                many=many,
            ),
            figure=figure,
            meaning=_on_these_terms(),
        )
        return
    yield Finding(
        Severity.SAFE,
        text(
            "On these terms a rational adversary who knows how many are alike attacks nobody, not even somebody who is "
            "like nobody else."
        ),
        figure=figure,
        meaning=_on_these_terms(),
    )


def _believing(policy: Policy, many: str) -> Finding:
    """Say which groups are attacked by somebody who only knows how frequent such people are."""
    attacked = policy.sizes[policy.value > 0]
    parts: dict[str, object] = {"many": many, "register": number(policy.belief or 0)}
    figure = text(
        "attacked: {attacked} of the {sizes} sizes asked about",
        attacked=len(attacked),
        sizes=len(policy.sizes),
    )
    if not len(attacked):
        return Finding(
            Severity.SAFE,
            text(
                "On these terms a rational adversary who only knows how frequent such {many} are in a register of "
                "{register} attacks none of the sizes asked about.",
                **parts,
            ),
            figure=figure,
            meaning=_on_these_terms(),
        )
    parts |= {"first": int(attacked[0]), "last": int(attacked[-1])}
    if len(attacked) == len(policy.sizes):
        sentence = text(
            "On these terms a rational adversary who only knows how frequent such {many} are in a register of "
            "{register} attacks all sizes asked about, where she expects {first} to {last} alike.",
            **parts,
        )
    else:
        sentence = text(
            "On these terms a rational adversary who only knows how frequent such {many} are in a register of "
            "{register} attacks where she expects {first} to {last} alike, of the sizes asked about.",
            **parts,
        )
    return Finding(Severity.MODERATE, sentence, figure=figure)


def _risk(policy: Policy, subject: str) -> Finding:
    worst = int(np.argmax(policy.reidentification))
    risk = float(policy.reidentification[worst])
    if risk == 0:
        return Finding(
            Severity.SAFE,
            text(
                "Of the sizes asked about, no {subject} is re-identified in any.",
                subject=singular(subject),
            ),
            meaning=_on_these_terms(),
        )
    alike = policy.reidentification >= risk - _EQUAL
    tried = int(policy.exploits[alike].max())
    return Finding(
        graded(Fraction(risk)),
        text(
            "Of the sizes asked about, the risk is greatest in {where}: {frequency} are re-identified there; "
            "undetected, she makes {tries}.",
            where=_where(policy.sizes[alike], subject),
            frequency=frequency(Fraction(risk)),
            tries=text_for(tried, "one try", "at most {count} tries"),
        ),
        figure=text("probability of re-identification {risk}", risk=number(risk, ".6g")),
        meaning=text(
            "It is the chance that she finds the right one of the people who fit before she gives up or is stopped."
        ),
    )


def _where(sizes: NDArray[np.int64], subject: str) -> str:
    """Say sizes of groups, which are ascending."""
    first, last = int(sizes[0]), int(sizes[-1])
    if first == last:
        return text("a group of {people}", people=counted(first, subject))
    parts = {"first": number(first), "last": number(last), "many": plural(subject)}
    if last - first + 1 == len(sizes):
        return text("groups of {first} to {last} {many}", **parts)
    return text("some groups of {first} to {last} {many}", **parts)


def _rising(outcome: Deterrence) -> Iterator[Finding]:
    """Yield that larger groups are not always safer, where that is so."""
    rises = outcome.size.rises
    meaning = text(
        "A larger k by itself is no proof of more safety; look at the size from which on every larger one is enough."
    )
    if rises:
        yield Finding(
            Severity.MODERATE,
            text(
                "Larger groups are not always safer: the risk rises from groups of {smaller} to groups of {larger}.",
                smaller=rises[0] - 1,
                larger=rises[0],
            ),
            figure=text_for(
                len(rises), "the risk rises at {count} size", "the risk rises at {count} sizes"
            ),
            meaning=meaning,
        )
    elif bool((np.diff(outcome.policy.reidentification) > _EQUAL).any()):
        yield Finding(
            Severity.MODERATE,
            text(
                "Larger groups are not always safer: of the sizes asked about, the risk rises with the size at places."
            ),
            meaning=meaning,
        )


def _stopped(outcome: Deterrence, currency: str | None) -> Finding:
    """Say how much of each deterrent would keep her from the group that is to be protected."""
    terms = outcome.policy.terms
    reached = [(each, each.lasting) for each in outcome.deterrents if each.lasting is not None]
    if not reached:
        return Finding(
            Severity.MODERATE, _unstoppable(outcome.deterrents[0] if outcome.deterrents else None)
        )
    first = reached[0][0]
    parts: dict[str, object] = {
        "size": first.size or 1,
        "target": percentage(Fraction(first.target)),
    }
    if any(lasting <= present(terms, each.parameter) for each, lasting in reached):
        return Finding(Severity.SAFE, _already(first, parts), meaning=_on_these_terms())
    parts["ways"] = "; ".join(
        text(
            "{deterrent} to {amount} (now {now})",
            deterrent=translated(DETERRENTS[each.parameter]),
            amount=amount(each.parameter, lasting, currency),
            now=now(terms, each.parameter, currency),
        )
        for each, lasting in reached
    )
    if first.target:
        sentence = text(
            "To bring the risk of a group of {size} down to {target} it is enough to raise one of these, if the "
            "adversary knows the size: {ways}.",
            **parts,
        )
    else:
        sentence = text(
            "To keep an adversary who knows its size from a group of {size} it is enough to raise one of these: "
            "{ways}.",
            **parts,
        )
    return Finding(
        Severity.NOTE,
        sentence,
        meaning=text("Each is by itself, the other terms staying as they are."),
    )


def _unstoppable(deterrent: Deterrent | None) -> str:
    if deterrent is None or not deterrent.target:
        return text("No single penalty, price or chance of detection would stop her.")
    return text(
        "No single penalty, price or chance of detection would bring the risk of a group of {size} down to {target}.",
        size=deterrent.size or 1,
        target=percentage(Fraction(deterrent.target)),
    )


def _already(deterrent: Deterrent, parts: dict[str, object]) -> str:
    if deterrent.target:
        return text(
            "The present terms are enough already: the risk of a group of {size} is at most {target} if the adversary "
            "knows the size.",
            **parts,
        )
    return text(
        "The present terms are enough already to keep an adversary who knows its size from a group of {size}.",
        **parts,
    )


def amount(parameter: str, value: float, currency: str | None) -> str:
    """Say how much of a deterrent is enough: never less, in whole units from a thousand on, else in hundredths.

    >>> amount("penalty", 486698.2, None), amount("access_cost", 3.5911, "€"), amount("detection", 0.489171, None)
    ('486,699', '€ 3.60', '48.92 %')
    """
    exact = Fraction(value)
    if parameter == "detection":
        return text("{figure} %", figure=number(math.ceil(exact * 10_000) / 100, ".2f"))
    step = 1 if value >= 1000 else 100
    enough = Fraction(math.ceil(exact * step), step)
    if currency is not None:
        return money(enough, currency)
    whole = step == 1 or enough.denominator == 1
    return number(enough, ",.0f" if whole else ",.2f")


def now(terms: Terms, parameter: str, currency: str | None) -> str:
    """Say how much of a deterrent there is, as it was given."""
    value = present(terms, parameter)
    if parameter == "detection":
        return text("{figure} %", figure=number(100 * value, ".3g"))
    return number(value, ",.10g") if currency is None else money(Fraction(value), currency)


def present(terms: Terms, parameter: str) -> float:
    """Return how much of a deterrent there is."""
    return terms.detection_rate if parameter == "detection" else float(getattr(terms, parameter))


def enough(parameter: str, value: float | None, currency: str | None) -> str:
    """Say how much of a deterrent is enough, or that nothing is."""
    return text("nothing is enough") if value is None else amount(parameter, value, currency)


def threshold(size: int | float | None) -> str:
    """Say a size from which on something holds, or that there is none.

    >>> threshold(45), threshold(None)
    ('45', 'none up to a million')
    """
    return text("none up to a million") if size is None else number(size, ",.0f")


def value_of(value: float, currency: str | None) -> str:
    """Say what something is worth to her."""
    return amount_of(float(value), currency)


def shown_sizes(policy: Policy) -> list[int]:
    """Return the places of the sizes that a table shows: few, more densely where they are small."""
    last = len(policy.sizes) - 1
    ends = {size for size in policy.thresholds.to_dict().values() if size is not None}
    near = np.flatnonzero(np.isin(policy.sizes, [each + step for each in ends for step in (-1, 0)]))
    return sorted(
        {*near.tolist()}
        | {round(last ** (i / (MOST_SIZES - 1))) if last else 0 for i in range(MOST_SIZES)}
        | {0}
    )


BINS = 20
"""The bars of the picture."""


def exposure_findings(
    exposure: ReleaseExposure,
    *,
    subject: str = "person",
    currency: str | None = None,
    losses: bool = False,
) -> tuple[Finding, ...]:
    """Return how many people are expected to be re-identified, what it costs, and what size would be enough."""
    found = [_expected(exposure)]
    if losses:
        found.append(_lost(exposure, currency))
    found.append(_enough(exposure, subject))
    return (*found, *_unsure(exposure, subject))


def amount_of(value: float, currency: str | None) -> str:
    """Say an amount to the nearest hundredth: of money where there is a currency.

    >>> amount_of(1234.5, None), amount_of(1234.5, "€")
    ('1,234.50', '€ 1,234.50')
    """
    return number(value, ",.2f") if currency is None else money(Fraction(value), currency)


def _expected(exposure: ReleaseExposure) -> Finding:
    records = exposure.groups.records
    worst = max(exposure.expected_known, exposure.expected_unknown)
    grade = graded(Fraction(worst / records))
    return Finding(
        Severity.SAFE if worst == 0 else grade,
        _expected_sentence(exposure),
        figure=text(
            "expected re-identifications: sizes known {known}, not known {unknown}, of {records} records",
            known=number(exposure.expected_known, ",.4g"),
            unknown=number(exposure.expected_unknown, ",.4g"),
            records=records,
        ),
        meaning=text(
            "This holds for a rational adversary on the terms given; others may attack anyway."
        )
        if worst == 0
        else text(
            "It is the sum of each record's own chance: for the people in small groups it is far more than for others."
        ),
        remedy=""
        if worst == 0
        else text(
            "Larger groups (glasshouse anonymise), dearer access, or surer detection and higher penalties deter her."
        ),
    )


def _expected_sentence(exposure: ReleaseExposure) -> str:
    records = exposure.groups.records
    worth = int(np.count_nonzero(exposure.known))
    parts = {
        "records": counted(records, "record"),
        "release": exposure.groups.release,
        "share": share(worth, records),
        "known": _rounded(exposure.expected_known),
        "unknown": _rounded(exposure.expected_unknown),
    }
    if exposure.expected_known == exposure.expected_unknown == 0:
        return text(
            "Of {records} in {release}, none is worth attacking to a rational adversary, whether she knows the sizes "
            "of groups or only how frequent people are in the population.",
            **parts,
        )
    if exposure.groups.sizes is None:
        return text(
            "Of {records} in {release}, {known} are expected to be re-identified by an adversary who knows the sizes "
            "of groups, {unknown} by one who only knows how frequent people are in the population.",
            **parts,
        )
    return text_for(
        worth,
        "Of {records} in {release}, {count} ({share}) is worth attacking; {known} are expected to be re-identified by "
        "an adversary who knows the sizes of groups, {unknown} by one who only knows how frequent people are in the "
        "population.",
        "Of {records} in {release}, {count} ({share}) are worth attacking; {known} are expected to be re-identified by "
        "an adversary who knows the sizes of groups, {unknown} by one who only knows how frequent people are in the "
        "population.",
        **parts,
    )


def _rounded(value: float) -> str:
    return number(value, ",.0f") if value >= 100 else number(value, ",.3g")


def _lost(exposure: ReleaseExposure, currency: str | None) -> Finding:
    lost = (exposure.loss_known, exposure.loss_unknown)
    return Finding(
        Severity.SAFE if not any(lost) else Severity.NOTE,
        text(
            "The publisher is expected to lose {known} by an adversary who knows the sizes of groups, {unknown} by one "
            "who only knows how frequent people are in the population.",
            known=amount_of(lost[0], currency),
            unknown=amount_of(lost[1], currency),
        ),
        figure=text(
            "each record's chance of being re-identified times what that costs, summed over {records} records",
            records=exposure.groups.records,
        ),
    )


def _enough(exposure: ReleaseExposure, subject: str) -> Finding:
    least, below = exposure.enough.lasting, exposure.below_enough
    figure = enough_figure(exposure.enough)
    if least is None:
        return Finding(
            Severity.HIGH,
            no_size_is_enough(exposure.enough, subject),
            figure=figure,
            remedy=text(
                "Dearer access, surer detection or higher penalties may deter where the size of groups does not."
            ),
        )
    deterred = size_that_is_enough(exposure.enough, subject)
    if below is None:
        return Finding(Severity.NOTE, deterred, figure=figure)
    if below == 0:
        return Finding(
            Severity.SAFE,
            text(
                "No record of {release} is in too small a group. {enough}",
                release=exposure.groups.release,
                enough=deterred,
            ),
            figure=figure,
            meaning=text(
                "This holds for a rational adversary on the terms given; others may attack anyway."
            ),
        )
    return Finding(
        graded(Fraction(below, exposure.groups.records), certain=True),
        text_for(
            below,
            "{count} record of {release} ({share}) is in too small a group. {enough}",
            "{count} records of {release} ({share}) are in too small a group. {enough}",
            release=exposure.groups.release,
            share=share(below, exposure.groups.records),
            enough=deterred,
        ),
        figure=figure,
        remedy=text("Generalise or leave out quasi-identifiers until every group is large enough."),
    )


def no_size_is_enough(enough: Deterrent, subject: str) -> str:
    """Say that no size of the group is enough."""
    if enough.target:
        return text(
            "On these terms no group of up to a million {many} brings the risk down to {target} or less.",
            many=plural(subject),
            target=percentage(Fraction(enough.target)),
        )
    return text(
        "On these terms no group of up to a million {many} is large enough to deter her.",
        many=plural(subject),
    )


def size_that_is_enough(enough: Deterrent, subject: str) -> str:
    """Say how large a group must be to deter an adversary who knows its size, or to bring the risk down."""
    parts = {
        "people": counted(int(enough.lasting or 0), subject),
        "target": percentage(Fraction(enough.target)),
    }
    if enough.target:
        return text(
            "In groups of {people} alike or more the risk is at most {target} if the adversary knows the sizes.",
            **parts,
        )
    return text(
        "Groups of {people} alike or more deter an adversary who knows the sizes.",
        **parts,
    )


def enough_figure(enough: Deterrent) -> str:
    """Return the exact sizes behind a sentence about what is large enough."""

    def said(size: float | None) -> str:
        return text("none up to a million") if size is None else number(size, ",.0f")

    return text(
        "enough at size {least}; at every size from {lasting} on",
        least=said(enough.least),
        lasting=said(enough.lasting),
    )


def _unsure(exposure: ReleaseExposure, subject: str) -> Iterator[Finding]:
    """Yield how large groups may be attacked by somebody who finds out their sizes only after she paid."""
    unsure = exposure.thresholds.no_exploit_after_access
    if unsure is None or unsure < 2 or exposure.enough.target:
        return
    yield Finding(
        Severity.NOTE,
        text(
            "An adversary who does not know the sizes of groups may pay for access and go on, up to groups of {people} "
            "alike.",
            people=counted(unsure - 1, subject),
        ),
        figure=text("tries nobody although access is paid from size {size} on", size=unsure),
    )


def exposure_figure(exposure: ReleaseExposure) -> Figure:
    """Return how the risk is distributed over the records."""
    return Figure.of(
        exposure_chart(exposure),
        label=text("How many records have which risk"),
        caption=text("Those without risk, or with hardly any, are in the leftmost bar."),
        table=_chart_table(exposure),
    )


def _adversaries(exposure: ReleaseExposure) -> dict[str, Floats]:
    """Return the risks under each adversary, by what she knows."""
    return {
        text("she knows the sizes of groups"): exposure.known,
        text("she only knows how frequent people are in the population"): exposure.unknown,
    }


def _edges(exposure: ReleaseExposure) -> Floats:
    highest = max(float(risk.max(initial=0)) for risk in (exposure.known, exposure.unknown))
    return np.linspace(0, max(highest, 1e-9), BINS + 1)


def exposure_chart(exposure: ReleaseExposure) -> alt.TopLevelMixin:
    """Show how many records have which risk, under both adversaries."""
    edges, adversaries = _edges(exposure), _adversaries(exposure)
    rows = []
    for who, risk in adversaries.items():
        counts, _ = np.histogram(risk, edges)
        rows += [
            {"low": 100 * low, "high": 100 * high, "records": int(count), "none": 0, "who": who}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            if count
        ]
    colours = [colour for colour, _ in TARGETS[:2]]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(opacity=1, stroke="white")
        .encode(
            x=alt.X("low:Q", title=text("risk of re-identification (%)")),
            x2="high:Q",
            y=alt.Y("records:Q", title=text("number of records"), scale=alt.Scale(type="symlog")),
            y2="none:Q",
            color=alt.Color(
                "who:N",
                legend=None,
                scale=alt.Scale(domain=list(adversaries), range=colours),
            ),
        )
        .properties(width=300, height=220)
    )
    title = text(
        "{known} of {records} are expected to be re-identified if she knows the sizes, {unknown} if not",
        known=_rounded(exposure.expected_known),
        records=exposure.groups.records,
        unknown=_rounded(exposure.expected_unknown),
    )
    chart: alt.TopLevelMixin = bars.facet(
        column=alt.Column("who:N", title=None, sort=list(adversaries))
    ).properties(
        title=alt.Title(
            wrapped(title),
            subtitle=wrapped(text("records by risk; the vertical axis is logarithmic")),
        )
    )
    return chart


def _chart_table(exposure: ReleaseExposure) -> Table:
    edges, adversaries = _edges(exposure), _adversaries(exposure)
    counts = [np.histogram(risk, edges)[0] for risk in adversaries.values()]
    columns = (
        Column(text("Risk of re-identification")),
        *(Column(who, numeric=True) for who in adversaries),
    )
    rows = tuple(
        (
            Cell(
                text(
                    "{low} to {high} %",
                    low=number(100 * low, ".3g"),
                    high=number(100 * high, ".3g"),
                )
            ),
            *(count_cell(int(own[place])) for own in counts),
        )
        for place, (low, high) in enumerate(pairwise(edges))
        if any(own[place] for own in counts)
    )
    return Table(columns, (Group(rows),))


def exposure_section(
    exposure: ReleaseExposure, currency: str | None, *, losses: bool = False
) -> Section:
    """Return the exact figures of a release."""
    rows = [
        (text("records"), number(exposure.groups.records)),
        (text("people in the register"), number(exposure.groups.people)),
        (
            text("records worth attacking, sizes known"),
            number(int(np.count_nonzero(exposure.known))),
        ),
        (
            text("records worth attacking, sizes not known"),
            number(int(np.count_nonzero(exposure.unknown))),
        ),
        (
            text("expected re-identifications, sizes known"),
            number(exposure.expected_known, ",.4g"),
        ),
        (
            text("expected re-identifications, sizes not known"),
            number(exposure.expected_unknown, ",.4g"),
        ),
        (
            text("records whose risk is higher if she does not know"),
            number(len(exposure.higher)),
        ),
        (text("records whose risk is lower if she does not know"), number(len(exposure.lower))),
    ]
    if losses:
        rows += [
            (text("expected loss, sizes known"), amount_of(exposure.loss_known, currency)),
            (text("expected loss, sizes not known"), amount_of(exposure.loss_unknown, currency)),
        ]
    cells = tuple((Cell(name), Cell(value)) for name, value in rows)
    return Section(
        text("What the release risks"),
        tables=(
            Table((Column(text("Figure")), Column(text("Value"), numeric=True)), (Group(cells),)),
        ),
    )
