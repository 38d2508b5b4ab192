"""Would she attack, how far, and what deters her: what was found about the attacker's economics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.economics import Deterrence, Policy, ReleaseExposure, Terms
from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.report.attacks import graded
from glasshouse.report.page import Finding, Severity, note, reassurance
from glasshouse.report.words import (
    counted,
    frequency,
    hundredths,
    money,
    percentage,
    plural,
    share,
    singular,
)

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
        *_attacked(outcome.policy, plural(subject)),
        _risk(outcome.policy, subject),
        *_rising(outcome),
        _stopped(outcome, currency),
    )
    if outcome.exposure is None:
        return of_any
    losses = (_lost(outcome.exposure, currency),) if outcome.counts_losses else ()
    notes = (
        finding if finding.severity == Severity.SAFE else replace(finding, severity=Severity.NOTE)
        for finding in of_any
    )
    return (
        _expected(outcome.exposure),
        *losses,
        _enough(outcome.exposure, subject),
        *_unsure(outcome.exposure, subject),
        *notes,
    )


def published_prior() -> str:
    """Say whose prior it is where none was given."""
    return text(
        "The prior is the publication's: the share of the inhabitants of North Carolina who are registered voters; "
        "give your own with --prior."
    )


def _on_these_terms() -> str:
    return text("This holds for a rational adversary on the terms given; others may attack anyway.")


def _attacked(policy: Policy, many: str) -> Iterator[Finding]:
    """Yield which groups she attacks, and which she does not."""
    end = policy.thresholds.no_attack
    if policy.belief is not None:
        yield _believing(policy, policy.belief, many)
        return
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
    if end == 1:
        sentence = text(
            "On these terms a rational adversary who knows how many are alike attacks nobody, not even somebody who is "
            "like nobody else."
        )
        yield reassurance(sentence, figure, _on_these_terms())
        return
    yield Finding(
        Severity.MODERATE,
        text(
            "On these terms a rational adversary who knows how many are alike attacks groups of up to {most} {many} "
            "alike.",
            most=end - 1,
            many=many,
        ),
        figure,
        text(
            "An attack on a group of that size or a smaller one is worth more to her than it costs, fines included."
        ),
        text("Publish so that more people are alike, or make attacks dearer or riskier."),
    )
    sentence = text(
        "Where {size} or more {many} are alike, a rational adversary who knows it does not begin on these terms.",
        size=end,
        many=many,
    )
    yield reassurance(sentence, figure, _on_these_terms())


BELIEVING = {
    "none": marked(
        "On these terms a rational adversary who only knows how frequent such {many} are in a register of {register} "
        "attacks none of the sizes asked about."
    ),
    "some": marked(
        "On these terms a rational adversary who only knows how frequent such {many} are in a register of {register} "
        "attacks where she expects {first} to {last} alike, of the sizes asked about."
    ),
    "all": marked(
        "On these terms a rational adversary who only knows how frequent such {many} are in a register of {register} "
        "attacks all sizes asked about, where she expects {first} to {last} alike."
    ),
}
"""Which sizes are attacked by somebody who only knows how frequent such people are."""


def _believing(policy: Policy, register: int, many: str) -> Finding:
    attacked = policy.sizes[policy.value > 0].tolist()
    some = "all" if len(attacked) == len(policy.sizes) else "some"
    ends = {"first": attacked[0], "last": attacked[-1]} if attacked else {}
    return Finding(
        Severity.MODERATE if attacked else Severity.SAFE,
        translated(BELIEVING[some if attacked else "none"], many=many, register=register, **ends),
        figure=text(
            "attacked: {attacked} of the {sizes} sizes asked about",
            attacked=len(attacked),
            sizes=len(policy.sizes),
        ),
        meaning="" if attacked else _on_these_terms(),
    )


def _risk(policy: Policy, subject: str) -> Finding:
    risk = float(policy.reidentification.max())
    if risk == 0:
        sentence = text(
            "Of the sizes asked about, no {subject} is re-identified in any.",
            subject=singular(subject),
        )
        return reassurance(sentence, meaning=_on_these_terms())
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
        text("probability of re-identification {risk}", risk=number(risk, ".6g")),
        text(
            "It is the chance that she finds the right one of the people who fit before she gives up or is stopped."
        ),
    )


def _where(sizes: Integers, subject: str) -> str:
    """Say sizes of groups, which are ascending."""
    first, last = int(sizes[0]), int(sizes[-1])
    if first == last:
        return text("a group of {people}", people=counted(first, subject))
    words = {"first": number(first), "last": number(last), "many": plural(subject)}
    if last - first + 1 == len(sizes):
        return text("groups of {first} to {last} {many}", **words)
    return text("some groups of {first} to {last} {many}", **words)


def _rising(outcome: Deterrence) -> Iterator[Finding]:
    """Yield that larger groups are not always safer, where that is so."""
    rises, figure = outcome.size.rises, ""
    if rises:
        sentence = text(
            "Larger groups are not always safer: the risk rises from groups of {smaller} to groups of {larger}.",
            smaller=rises[0] - 1,
            larger=rises[0],
        )
        figure = text_for(
            len(rises), "the risk rises at {count} size", "the risk rises at {count} sizes"
        )
    elif (np.diff(outcome.policy.reidentification) > _EQUAL).any():
        sentence = text(
            "Larger groups are not always safer: of the sizes asked about, the risk rises with the size at places."
        )
    else:
        return
    meaning = text(
        "A larger k by itself is no proof of more safety; look at the size from which on every larger one is enough."
    )
    yield Finding(Severity.MODERATE, sentence, figure, meaning)


ADVERSARIES = {
    True: marked("an adversary who knows its size"),
    False: marked("an adversary who does not know its size"),
}
"""Whom deterrents of a group are to stop, by whether she knows the size."""
STOPPING = {
    ("never", True): marked(
        "No single penalty, price or chance of detection would bring the risk of a group of {size} down to {target}."
    ),
    ("never", False): marked("No single penalty, price or chance of detection would stop her."),
    ("already", True): marked(
        "The present terms are enough already: the risk of a group of {size} is at most {target} against {adversary}."
    ),
    ("already", False): marked(
        "The present terms are enough already to keep {adversary} from a group of {size}."
    ),
    ("raised", True): marked(
        "To bring the risk of a group of {size} against {adversary} down to {target} it is enough to raise one of "
        "these: {ways}."
    ),
    ("raised", False): marked(
        "To keep {adversary} from a group of {size} it is enough to raise one of these: {ways}."
    ),
}
"""What stops her, by whether some risk is allowed."""


def _stopped(outcome: Deterrence, currency: str | None) -> Finding:
    """Say how much of each deterrent would keep her from the group that is to be protected."""
    terms = outcome.policy.terms
    reached = [
        (deterrent.parameter, deterrent.lasting)
        for deterrent in outcome.deterrents
        if deterrent.lasting is not None
    ]
    if not reached:
        kind, severity, meaning = "never", Severity.MODERATE, ""
    elif any(lasting <= present(terms, parameter) for parameter, lasting in reached):
        kind, severity, meaning = "already", Severity.SAFE, _on_these_terms()
    else:
        kind, severity = "raised", Severity.NOTE
        meaning = text("Each is by itself, the other terms staying as they are.")
    ways = (
        text(
            "{deterrent} to {amount} (now {now})",
            deterrent=translated(DETERRENTS[parameter]),
            amount=enough(parameter, lasting, currency),
            now=now(terms, parameter, currency),
        )
        for parameter, lasting in reached
    )
    first = outcome.deterrents[0]
    sentence = translated(
        STOPPING[kind, bool(first.target)],
        size=first.size or 1,
        target=percentage(Fraction(first.target)),
        ways="; ".join(ways),
        adversary=translated(ADVERSARIES[outcome.policy.belief is None]),
    )
    return Finding(severity, sentence, meaning=meaning)


def enough(parameter: str, value: float | None, currency: str | None) -> str:
    """Say how much of a deterrent is enough: never less, in whole units from a thousand on, else in hundredths.

    >>> enough("penalty", 486698.2, None), enough("access_cost", 3.5911, "€"), enough("detection", 0.489171, None)
    ('486,699', '€ 3.60', '48.92%')
    """
    if value is None:
        return text("nothing is enough")
    exact = Fraction(value)
    if parameter == "detection":
        return text("{figure}%", figure=number(math.ceil(exact * 10_000) / 100, ".2f"))
    step = 1 if value >= 1000 else 100
    least = Fraction(math.ceil(exact * step), step)
    if currency is not None:
        return money(least, currency)
    return number(least, ",.0f" if least.denominator == 1 else ",.2f")


def now(terms: Terms, parameter: str, currency: str | None) -> str:
    """Say how much of a deterrent there is, as it was given."""
    value = present(terms, parameter)
    if parameter == "detection":
        return text("{figure}%", figure=number(100 * value, ".3g"))
    return number(value, ",.10g") if currency is None else money(Fraction(value), currency)


def present(terms: Terms, parameter: str) -> float:
    """Return how much of a deterrent there is."""
    return terms.detection_rate if parameter == "detection" else float(getattr(terms, parameter))


def threshold(size: int | float | None) -> str:
    """Say a size from which on something holds, or that there is none.

    >>> threshold(45), threshold(None)
    ('45', 'none up to a million')
    """
    return text("none up to a million") if size is None else number(size, ",.0f")


def shown_sizes(policy: Policy) -> list[int]:
    """Return the places of the sizes that a table shows: few, more densely where they are small."""
    last = len(policy.sizes) - 1
    ends = {size for size in policy.thresholds.to_dict().values() if size is not None}
    near = np.flatnonzero(np.isin(policy.sizes, [end + step for end in ends for step in (-1, 0)]))
    return sorted(
        {*near.tolist()}
        | {round(last ** (i / (MOST_SIZES - 1))) if last else 0 for i in range(MOST_SIZES)}
        | {0}
    )


def _expected(exposure: ReleaseExposure) -> Finding:
    records = exposure.groups.records
    worst = max(exposure.expected_known, exposure.expected_unknown)
    figure = text(
        "expected re-identifications: sizes known {known}, not known {unknown}, of {records} records",
        known=number(exposure.expected_known, ",.4g"),
        unknown=number(exposure.expected_unknown, ",.4g"),
        records=records,
    )
    words = {
        "records": counted(records, "record"),
        "release": exposure.groups.release,
        "known": few_digits(exposure.expected_known),
        "unknown": few_digits(exposure.expected_unknown),
    }
    if worst == 0:
        sentence = text(
            "Of {records} in {release}, none is worth attacking to a rational adversary, whether she knows the sizes "
            "of groups or only how frequent people are in the population.",
            **words,
        )
        return reassurance(sentence, figure, _on_these_terms())
    worth = int(np.count_nonzero(exposure.known))
    if exposure.groups.sizes is None:
        sentence = text(
            "Of {records} in {release}, {known} are expected to be re-identified by an adversary who knows the sizes "
            "of groups, {unknown} by one who only knows how frequent people are in the population.",
            **words,
        )
    else:
        sentence = text_for(
            worth,
            "Of {records} in {release}, {count} ({share}) is worth attacking; {known} are expected to be "
            "re-identified by an adversary who knows the sizes of groups, {unknown} by one who only knows how frequent "
            "people are in the population.",
            "Of {records} in {release}, {count} ({share}) are worth attacking; {known} are expected to be "
            "re-identified by an adversary who knows the sizes of groups, {unknown} by one who only knows how frequent "
            "people are in the population.",
            share=share(worth, records),
            **words,
        )
    return Finding(
        graded(Fraction(worst / records)),
        sentence,
        figure,
        text(
            "It is the sum of each record's own chance: for the people in small groups it is far more than for others."
        ),
        text(
            "Larger groups (glasshouse anonymise), dearer access, or surer detection and higher penalties deter her."
        ),
    )


def few_digits(value: float) -> str:
    """Say an expected number in three digits, or to the nearest whole number where it has more.

    >>> few_digits(1.2345), few_digits(1234.5)
    ('1.23', '1,234')
    """
    return number(value, ",.0f") if value >= 100 else number(value, ",.3g")


def _lost(exposure: ReleaseExposure, currency: str | None) -> Finding:
    lost = (exposure.loss_known, exposure.loss_unknown)
    if exposure.loss_counts_few:
        return note(
            text(
                "What the publisher is expected to lose is not told here: so few of the records worth attacking cost "
                "the same that it would tell how many they are. With --json it is printed, for the analyst alone."
            )
        )
    return Finding(
        Severity.SAFE if not any(lost) else Severity.NOTE,
        text(
            "The publisher is expected to lose {known} by an adversary who knows the sizes of groups, {unknown} by one "
            "who only knows how frequent people are in the population.",
            known=hundredths(lost[0], currency),
            unknown=hundredths(lost[1], currency),
        ),
        figure=text(
            "each record's chance of being re-identified times what that costs, summed over {records} records",
            records=exposure.groups.records,
        ),
    )


def _enough(exposure: ReleaseExposure, subject: str) -> Finding:
    release, least, below = exposure.groups.release, exposure.enough.lasting, exposure.below_enough
    figure = text(
        "enough at size {least}; at every size from {lasting} on",
        least=threshold(exposure.enough.least),
        lasting=threshold(least),
    )
    some = translated(
        ENOUGH[least is not None, bool(exposure.enough.target)],
        many=plural(subject),
        people=counted(int(least or 0), subject),
        target=percentage(Fraction(exposure.enough.target)),
    )
    if least is None:
        remedy = text(
            "Dearer access, surer detection or higher penalties may deter where the size of groups does not."
        )
        return Finding(Severity.HIGH, some, figure, remedy=remedy)
    if below is None:
        return note(some, figure)
    if below == 0:
        sentence = text(
            "No record of {release} is in too small a group. {enough}", release=release, enough=some
        )
        return reassurance(sentence, figure, _on_these_terms())
    return Finding(
        graded(Fraction(below, exposure.groups.records), certain=True),
        text_for(
            below,
            "{count} record of {release} ({share}) is in too small a group. {enough}",
            "{count} records of {release} ({share}) are in too small a group. {enough}",
            release=release,
            share=share(below, exposure.groups.records),
            enough=some,
        ),
        figure,
        remedy=text("Generalise or leave out quasi-identifiers until every group is large enough."),
    )


ENOUGH = {
    (True, True): marked(
        "In groups of {people} alike or more the risk is at most {target} if the adversary knows the sizes."
    ),
    (True, False): marked(
        "Groups of {people} alike or more deter an adversary who knows the sizes."
    ),
    (False, True): marked(
        "On these terms no group of up to a million {many} brings the risk down to {target} or less."
    ),
    (False, False): marked(
        "On these terms no group of up to a million {many} is large enough to deter her."
    ),
}
"""Whether some size of the group is enough to deter her, or to bring the risk down to what is allowed."""


def _unsure(exposure: ReleaseExposure, subject: str) -> Iterator[Finding]:
    """Yield how large groups may be attacked by somebody who finds out their sizes only after she paid."""
    unsure = exposure.thresholds.no_exploit_after_access
    if unsure is None or unsure < 2 or exposure.enough.target:
        return
    yield note(
        text(
            "An adversary who does not know the sizes of groups may pay for access and go on, up to groups of {people} "
            "alike.",
            people=counted(unsure - 1, subject),
        ),
        figure=text("tries nobody although access is paid from size {size} on", size=unsure),
    )
