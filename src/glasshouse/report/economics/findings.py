"""Would she attack, how far, and what deters her: what was found about the attacker's economics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from glasshouse.economics import Deterrence, Deterrent, Policy, Terms
from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.report.economics.exposures import amount_of, exposure_findings
from glasshouse.report.microdata.findings import graded
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import counted, frequency, money, percentage, plural, singular

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
    outcome: Deterrence, *, subject: str, currency: str | None = None
) -> tuple[Finding, ...]:
    """Return what a release risks, where there is one; whom she attacks, how surely, and what would stop her.

    What holds for groups of any size is a risk by itself only where there is no release to judge.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        currency: What money is counted in.
    """
    policy = outcome.policy
    of_any = (
        *_attacked(policy, subject),
        _risk(policy, subject),
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


def _attacked(policy: Policy, subject: str) -> Iterator[Finding]:
    """Yield which groups she attacks, and which she does not."""
    many = plural(subject)
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
