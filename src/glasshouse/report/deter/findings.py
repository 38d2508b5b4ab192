"""Would she attack, how far, and what deters her: what was found about the attacker's economics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.economics import Deterrence, Policy, ReleaseExposure, Terms
from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.report.page import Figure, Finding, Severity, note, reassurance
from glasshouse.report.severity import graded
from glasshouse.report.words import counted, hundredths, joined, money, percentages, plural, share
from glasshouse.study.deter import DeterStudy

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
DOLLARS = (None, "$", "US$", "U$", "USD")
"""What amounts are counted in that are not given: nothing that is said, or dollars."""
AMOUNTS = ("gain", "penalty", "access_cost", "exploit_cost")
"""The amounts that everything hangs on, and that the publication gives."""
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
EQUAL = 1e-12
"""Risks so near to each other are equal but for rounding."""


def deterrence_findings(
    outcome: Deterrence,
    *,
    subject: str,
    currency: str | None,
    pictures: Mapping[str, Figure | None] | None = None,
) -> tuple[Finding, ...]:
    """Return what a release risks, where there is one; whom she attacks, how surely, and what would stop her.

    What holds for groups of any size is a risk by itself only where there is no release to judge; of a release it is
    told where it is another fact than the size of groups that deters her.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        currency: What money is counted in.
        pictures: What shows the findings: ``release``, ``sizes`` and ``deterrents``.
    """
    shown = pictures or {}
    attacked = replace(_attacked(outcome.policy, subject), picture=shown.get("sizes"))
    further = [
        *_rising(outcome),
        replace(_stopped(outcome, currency, subject), picture=shown.get("deterrents")),
    ]
    exposure = outcome.exposure
    if exposure is None:
        nobody = outcome.policy.belief is None and outcome.policy.thresholds.no_attack == 1
        return (attacked, *(() if nobody else further))
    losses = (_lost(exposure, currency),) if outcome.counts_losses else ()
    enough = _enough(exposure, subject)
    if outcome.policy.belief is None and not exposure.enough.target:
        enough = replace(enough, picture=attacked.picture)
    else:
        further = [attacked, *further]
    return (
        replace(_expected(exposure), picture=shown.get("release")),
        *losses,
        enough,
        *_unsure(exposure, subject),
        *(
            finding
            if finding.severity == Severity.SAFE
            else replace(finding, severity=Severity.NOTE)
            for finding in further
        ),
    )


def published_prior() -> str:
    """Say whose prior it is where none was given."""
    return text(
        "The prior comes from the publication: the share of the inhabitants of North Carolina who are "
        "registered voters; give your own with --prior."
    )


def terms_of_others(outcome: Deterrence, question: DeterStudy) -> list[str]:
    """Return the terms that nobody gave, which are those of the publication."""
    names = [name for name in AMOUNTS if getattr(question, name) is None]
    return [*names, *(() if outcome.prior_is_given else ("prior",))]


def published_terms(outcome: Deterrence, question: DeterStudy) -> tuple[str, ...]:
    """Say whose amounts they are where some were not given, and what they are counted in; and whose prior it is."""
    amounts = [name for name in terms_of_others(outcome, question) if name != "prior"]
    said = []
    if amounts:
        words = {
            "terms": joined([translated(PARAMETERS[name]) for name in amounts]),
            "currency": question.currency or "",
        }
        said.append(
            text(
                "These amounts come from the publication (North Carolina, in US dollars): {terms}; give your own.",
                **words,
            )
            if question.currency in DOLLARS
            else text(
                "These amounts were not given: {terms}. They come from the publication (North Carolina, in US "
                "dollars); the numbers are used for {currency} as they are, without conversion. Give your own.",
                **words,
            )
        )
    return (*said, *(() if outcome.prior_is_given else (published_prior(),)))


def _on_these_terms() -> str:
    return text("This holds for a rational adversary on the terms given; others may attack anyway.")


PAYS = {
    "nobody": marked(
        "On these terms an attack pays on nobody, not even on somebody who is like nobody else."
    ),
    "some": marked(
        "On these terms an attack pays where fewer than {size} {many} are alike, and not where {size} or more are."
    ),
    "anybody": marked(
        "On these terms an attack pays on groups of up to a million {many} alike, and perhaps on larger ones."
    ),
    "believed nobody": marked(
        "On these terms an attack pays in none of the sizes asked about, for an adversary who only knows how frequent "
        "such {many} are in a register of {register}."
    ),
    "believed": marked(
        "On these terms an attack pays where {first} to {last} {many} alike are expected, for an adversary who only "
        "knows how frequent they are in a register of {register}."
    ),
}
"""Whom it pays to attack."""


def _attacked(policy: Policy, subject: str) -> Finding:
    """Say in which groups an attack pays, and how often it succeeds there."""
    end, risk = policy.thresholds.no_attack, float(policy.reidentification.max())
    attacked = policy.sizes[policy.value > 0].tolist()
    words: dict[str, object] = {"many": plural(subject)}
    if policy.belief is not None:
        kind = "believed" if attacked else "believed nobody"
        words |= {"register": policy.belief}
        words |= {"first": attacked[0], "last": attacked[-1]} if attacked else {}
    else:
        kind = "anybody" if end is None else "nobody" if end == 1 else "some"
        words |= {"size": end}
    sentence = translated(PAYS[kind], **words)
    if risk == 0:
        if kind in ("some", "anybody"):
            sentence += " " + text("None of the sizes asked about is attacked.")
        return reassurance(sentence, meaning=_on_these_terms())
    alike = policy.reidentification >= risk - EQUAL
    return Finding(
        graded(Fraction(risk)),
        text(
            "{pays} In {where}, the risk of being re-identified is {risk}.",
            pays=sentence,
            where=_where(policy.sizes[alike], subject),
            risk=percentage(Fraction(risk)),
        ),
        text(
            "probability of re-identification {risk}; undetected, she makes {tries}",
            risk=number(risk, ".6g"),
            tries=text_for(int(policy.exploits[alike].max()), "one try", "at most {count} tries"),
        ),
        text(
            "It is the chance that the right one of the people who fit is found before the adversary gives up or is "
            "stopped. An attack pays if it is worth more than it costs, fines included. {terms}",
            terms=_on_these_terms(),
        ),
        ""
        if end is None or policy.belief is not None
        else text("Publish so that at least {size} {many} are alike.", **words),
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
    """Yield that larger groups are not always safer, where that is so: by the greatest rise from a size to the next."""
    sizes, risks = outcome.policy.sizes, outcome.policy.reidentification
    figures: tuple[str, ...] = ("", "")
    if len(sizes) > 1:
        place = int(np.diff(risks).argmax())
        before, after = (Fraction(float(risk)) for risk in risks[place : place + 2])
        figures = percentages(before, after) if after > before + Fraction(EQUAL) else ("", "")
    if figures[0] != figures[1]:
        sentence = text(
            "Larger groups are not always safer: in groups of {smaller} the risk is {before}, in groups of {larger} it "
            "rises to {after}.",
            smaller=int(sizes[place]),
            larger=int(sizes[place + 1]),
            before=figures[0],
            after=figures[1],
        )
    elif outcome.size.rises:
        sentence = text(
            "Larger groups are not always safer: not at the sizes asked about, but at others."
        )
    else:
        return
    rises = len(outcome.size.rises or ())
    figure = text_for(rises, "the risk rises at {count} size", "the risk rises at {count} sizes")
    meaning = text(
        "Large groups alone do not prove more safety; look for the size from which every larger group is "
        "enough."
    )
    yield Finding(Severity.MODERATE, sentence, figure if rises else "", meaning)


ADVERSARIES = {
    True: marked("an adversary who knows its size"),
    False: marked("an adversary who does not know its size"),
}
"""Whom deterrents of a group are to stop, by whether she knows the size."""
STOPPING = {
    ("never", True): marked(
        "No single penalty, price or chance of detection would bring the risk of {group} down to {target}."
    ),
    ("never", False): marked(
        "No single penalty, price or chance of detection would stop attacks on {group}."
    ),
    ("already", True): marked(
        "The present terms are enough already: the risk of {group} is at most {target}."
    ),
    ("already", False): marked(
        "The present terms are enough already: an attack on {group} does not pay."
    ),
    ("raised", True): marked(
        "Each of these by itself would bring the risk of {group} down to {target}: {ways}."
    ),
    ("raised", False): marked("Each of these by itself would stop attacks on {group}: {ways}."),
}
"""What stops her, by whether some risk is allowed."""


def _stopped(outcome: Deterrence, currency: str | None, subject: str) -> Finding:
    """Say how much of each deterrent would keep her from the group that is to be protected."""
    terms, ways = outcome.policy.terms, nearest(outcome)
    first = outcome.deterrents[0]
    if not ways:
        kind, severity, meaning = "never", Severity.MODERATE, ""
    elif is_deterred(outcome):
        kind, severity, meaning = "already", Severity.SAFE, _on_these_terms()
    else:
        kind, severity = "raised", Severity.NOTE
        meaning = text(
            "The other terms stay as they are. The one that has to grow least beside what it is now comes first."
        )
    sentence = translated(
        STOPPING[kind, bool(first.target)],
        group=_group(first.size or 1, subject),
        target=percentage(Fraction(first.target)),
        ways="; ".join(
            text(
                "{deterrent} at {amount} (now {now})",
                deterrent=translated(DETERRENTS[parameter]),
                amount=enough(parameter, lasting, currency),
                now=now(terms, parameter, currency),
            )
            for parameter, lasting, _ in ways
        ),
    )
    return Finding(severity, sentence, meaning=meaning)


def _group(size: int, subject: str) -> str:
    if size == 1:
        return text("somebody who is like nobody else")
    return text("a group of {people} alike", people=counted(size, subject))


def nearest(outcome: Deterrence) -> list[tuple[str, float, float]]:
    """Return the deterrents of which some amount is enough: that amount, and how many times what there is now.

    The one that has to grow least comes first; of one that there is nothing of now, any amount is infinitely more.
    """
    ways = []
    for deterrent in outcome.deterrents:
        if deterrent.lasting is not None:
            value = present(outcome.policy.terms, deterrent.parameter)
            times = deterrent.lasting / value if value else math.inf
            ways.append((deterrent.parameter, deterrent.lasting, times))
    return sorted(ways, key=lambda way: (way[-1], way[1]))


def is_deterred(outcome: Deterrence) -> bool:
    """Tell whether the present terms keep her from the group that is to be protected."""
    terms = outcome.policy.terms
    return any(lasting <= present(terms, parameter) for parameter, lasting, _ in nearest(outcome))


def enough(parameter: str, value: float | None, currency: str | None) -> str:
    """Say how much of a deterrent is enough: never less, in whole units from a thousand on, else in hundredths.

    >>> enough("penalty", 486698.2, None), enough("access_cost", 3.5911, "€"), enough("detection", 0.489171, None)
    ('486,699', '€ 3.60', '48.92%')
    """
    if value is None:
        return text("nothing is enough")
    if parameter == "detection":
        return text("{figure}%", figure=number(math.ceil(Fraction(value) * 10_000) / 100, ".2f"))
    least = step_up(value)
    if currency is not None:
        return money(least, currency)
    return number(least, ",.0f" if least.denominator == 1 else ",.2f")


def step_up(value: float) -> Fraction:
    """Return an amount that is no less: in whole units from a thousand on, else in hundredths."""
    step = 1 if value >= 1000 else 100
    return Fraction(math.ceil(Fraction(value) * step), step)


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
    if worst == 0:
        sentence = text(
            "An attack pays on none of {records}, whether the adversary knows how many people are alike or only how "
            "frequent they are in the population.",
            records=counted(records, "record"),
        )
        return reassurance(sentence, figure, _on_these_terms())
    sentence = _either(
        marked(
            "{known} people are expected to be re-identified if the adversary knows how many are alike, {unknown} if "
            "she only knows how frequent they are in the population."
        ),
        marked(
            "{known} people are expected to be re-identified, whether the adversary knows how many are alike or only "
            "how frequent they are in the population."
        ),
        few_digits(exposure.expected_known),
        few_digits(exposure.expected_unknown),
    )
    if exposure.groups.sizes is not None:
        worth = int(np.count_nonzero(exposure.known))
        sentence = text_for(
            worth,
            "{count} of {records} ({share}) is worth attacking. {expected}",
            "{count} of {records} ({share}) are worth attacking. {expected}",
            records=counted(records, "record"),
            share=share(worth, records),
            expected=sentence,
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


def _either(apart: str, alike: str, known: str, unknown: str) -> str:
    """Say a figure for an adversary who knows the sizes and for one who does not: once where it is the same."""
    return translated(alike if known == unknown else apart, known=known, unknown=unknown)


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
                "What the publisher is expected to lose is not shown here: so few of the records worth attacking "
                "cost the same that it would reveal how many they are. With --json it is printed, for the analyst "
                "alone."
            )
        )
    return Finding(
        Severity.SAFE if not any(lost) else Severity.NOTE,
        _either(
            marked(
                "The publisher is expected to lose {known} if the adversary knows how many people are alike, {unknown} "
                "if she only knows how frequent they are in the population."
            ),
            marked(
                "The publisher is expected to lose {known}, whether the adversary knows how many people are alike or "
                "only how frequent they are in the population."
            ),
            *(hundredths(amount, currency) for amount in lost),
        ),
        figure=text(
            "each record's chance of being re-identified times what that costs, summed over {records} records",
            records=exposure.groups.records,
        ),
    )


def _enough(exposure: ReleaseExposure, subject: str) -> Finding:
    """Say which size of groups is enough, and how many records are in smaller ones unless it was said before."""
    least, below = exposure.enough.lasting, exposure.below_enough
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
    if below == 0:
        sentence = text("No record is in too small a group. {enough}", enough=some)
        return reassurance(sentence, figure, _on_these_terms())
    if below is None or below == np.count_nonzero(exposure.known):
        return note(some, figure, _on_these_terms())
    return Finding(
        graded(Fraction(below, exposure.groups.records)),
        text_for(
            below,
            "{count} record ({share}) is in too small a group. {enough}",
            "{count} records ({share}) are in too small a group. {enough}",
            share=share(below, exposure.groups.records),
            enough=some,
        ),
        figure,
        remedy=text("Generalise or leave out quasi-identifiers until every group is large enough."),
    )


ENOUGH = {
    (True, True): marked(
        "In groups of {people} alike or more the risk is at most {target}, if the adversary knows how many they are."
    ),
    (True, False): marked(
        "In groups of {people} alike or more an attack does not pay, if the adversary knows how many they are."
    ),
    (False, True): marked(
        "On these terms no group of up to a million {many} brings the risk down to {target} or less."
    ),
    (False, False): marked(
        "On these terms an attack pays even on groups of a million {many}: none is large enough to deter it."
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
            "An adversary who learns how many people are alike only after paying for access may go on in groups of up "
            "to {people} alike.",
            people=counted(unsure - 1, subject),
        ),
        figure=text("tries nobody although access is paid from size {size} on", size=unsure),
    )
