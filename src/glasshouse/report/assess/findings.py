"""What was found in microdata, in sentences that a minister understands.

Findings are made from aggregates only: names of columns, counts of records, probabilities. No value of a record
can enter a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from glasshouse.language import marked, marked_for, number, percentage, text, text_for, translated
from glasshouse.measures.attacks import by_knowledge, fewest, growth, last_window, learned, widest
from glasshouse.microdata import Assessment, Attack, Sweep
from glasshouse.microdata.leakage import Leakage
from glasshouse.report.assess.charts import influence_findings
from glasshouse.report.assess.closeness import closeness_findings
from glasshouse.report.assess.knowledge import knowledge_findings
from glasshouse.report.attacks import (
    exact_guesses,
    exact_share,
    is_small,
    knowledge,
    knowledge_counted,
    knowledge_in_short,
    protect_the_secret,
)
from glasshouse.report.discretion import ratio
from glasshouse.report.page import Figure, Finding, Severity, reassurance
from glasshouse.report.severity import SMALL_CLASS, SOME, graded, worst_first
from glasshouse.report.words import (
    cases,
    counted,
    either,
    enumeration,
    indefinite,
    money,
    percentages,
    plural,
    share,
    short_names,
    singular,
    together,
    told_apart,
)

MOST_REPEATED = 3
"""So many facts are named in every sentence; more of them in the first one only."""


def findings(
    assessment: Assessment,
    *,
    subject: str = "person",
    currency: str | None = None,
    tries: int | None = None,
    sweep: Sweep | None = None,
    pictures: Mapping[str, Figure | None] | None = None,
    smallest: int = SMALL_CLASS,
) -> tuple[Finding, ...]:
    """Return who can be named, what can be inferred, how little is enough, how many stand alone, and what is safe.

    They speak of all datasets together, of the largest set of quasi-identifiers that was assessed, and of every
    sensitive attribute, the one most at risk first. Of a growing collection one says how her success grows. What
    was asked for beyond it comes before it: what she knows inexactly before who can be named by exact knowledge, a
    close guess before an exact one.

    Args:
        assessment: What came out.
        subject: What a record stands for.
        currency: What gains are counted in; None: they are plain numbers.
        tries: How many guesses she has, where a gain is that one of them is right.
        sweep: The sums of every subset, where there are such, from which the influence of each attribute follows.
        pictures: What shows the findings: ``who``, ``people``, ``inference``, ``close``, ``about``, ``sets``,
            ``classes`` and ``influence``.
        smallest: How many records a class must have by the rule.
    """
    figures = pictures or {}
    naming, *inferring = widest(assessment.attacks)
    results = [
        replace(finding, picture=figures.get("about") if place == 0 else None)
        for place, finding in enumerate(knowledge_findings(assessment, subject))
    ]
    results.append(replace(_named(naming, subject), picture=figures.get("who")))
    stages = growth(assessment.attacks)
    if len(stages) > 1:
        results.append(replace(_grown(stages[0][0], naming), picture=figures.get("people")))
    results += [
        replace(finding, picture=figures.get("close") if place == 0 else None)
        for place, finding in enumerate(closeness_findings(assessment, subject))
    ]
    if inferring:
        worst, *further = sorted(inferring, key=most_at_risk)
        results.append(replace(_inferred(worst, naming, subject), picture=figures.get("inference")))
        results += [
            replace(_inferred(attack, naming, subject), meaning="", remedy="") for attack in further
        ]
    gaining = [attack for attack in (naming, *inferring) if attack.gain is not None]
    if gaining:
        results.append(gained(gaining, subject=subject, currency=currency, tries=tries))
    enough = fewest(assessment)
    if enough is not None:
        results.append(replace(_already(enough, subject), picture=figures.get("sets")))
    if any(naming.class_sizes.classes) and naming.certain < naming.records:
        results.append(
            replace(_nearly_alone(naming, subject, smallest), picture=figures.get("classes"))
        )
    if sweep is not None:
        results += [
            replace(finding, picture=figures.get("influence"))
            for finding in influence_findings(sweep)
        ]
    return (*results, *filter(None, [safe_knowledge(assessment, subject)]))


def _named(attack: Attack, subject: str) -> Finding:
    success = attack.probabilistic.posterior
    nothing = attack.certain == 0 == attack.probabilistic.additive
    grade = (
        Severity.SAFE if nothing else graded(success, certain=attack.certain, people=attack.records)
    )
    return Finding(
        grade,
        naming_sentence(attack, subject),
        figure=exact_guesses(attack),
        meaning=text(
            "An identified person's whole record is exposed to a neighbour, a colleague, a relative or anybody "
            "else who knows these facts."
        )
        if attack.certain
        else text(
            "Everybody has at least one other record that could be theirs, so nobody can be sure which one it "
            "is. Someone who knows more than these facts may be."
        ),
        remedy=""
        if grade in (Severity.LOW, Severity.SAFE)
        else text(
            "Publish the columns that help most to identify people in less detail, or leave one out. glasshouse "
            "protect shows what that gains and what it costs."
        ),
    )


def naming_sentence(attack: Attack, subject: str, *, short: bool = False) -> str:
    """Say how many can be named with all that can be known, and how often a guess is right.

    Args:
        attack: The attack.
        subject: What a record stands for.
        short: Whether the guess may be left out, where some can be named.
    """
    guess = attack.probabilistic
    words = {
        "subject": singular(subject),
        "known": knowledge_in_short(attack),
        "people": counted(attack.records, subject),
        "certain": number(attack.certain),
        "share": _certainty(attack),
        "cases": cases(guess.posterior),
    }
    if attack.certain == 0 == guess.additive:
        template = marked(
            "None of the {people} can be identified outright by someone who knows their {known}, and who guesses "
            "no better than without that knowledge: right {cases}."
        )
    elif attack.certain == 0:
        template = marked(
            "None of the {people} can be identified outright by someone who knows their {known}. A best guess at "
            "who it is would be right {cases}."
        )
    elif attack.records == 1:
        template = marked(
            "The release is about one {subject} only: anyone who knows who it is knows the whole record."
        )
    elif attack.certain == attack.records:
        template = marked(
            "Every one of the {people} can be identified outright by anyone who knows their {known}."
        )
    elif short:
        template = marked(
            "{certain} of the {people} ({share}) can be identified outright by anyone who knows their {known}."
        )
    else:
        template = marked(
            "{certain} of the {people} ({share}) can be identified outright by anyone who knows their {known}. A "
            "best guess at who it is would be right {cases}."
        )
    return translated(template, **words)


def _certainty(attack: Attack) -> str:
    """Say how large a share is certain; where records are not alike, how probable it is to meet one."""
    if Fraction(attack.certain, attack.records) == attack.deterministic.posterior:
        return share(attack.certain, attack.records)
    return text(
        "which happens with a chance of {chance}", chance=percentage(attack.deterministic.posterior)
    )


def _grown(first: Attack, last: Attack) -> Finding:
    """Say what the first dataset alone gives her, and what all of them do."""
    names = dict(zip(last.datasets, short_names(last.datasets), strict=True))
    alone, every = (
        together([names.get(dataset, dataset) for dataset in attack.datasets])
        for attack in (first, last)
    )
    before, after = first.probabilistic.posterior, last.probabilistic.posterior
    lower, higher = percentages(before, after)
    words = {"alone": alone, "before": lower, "every": every, "after": higher}
    figure = text(
        "right guesses, exactly: {before} with the first, {after} with all",
        before=exact_share(before, first.records),
        after=exact_share(after, last.records),
    )
    if lower == higher:
        sentence = text(
            "With {alone}, a best guess at who it is would be right in {before} of cases; {every} do no better.",
            **words,
        )
        is_low = graded(after) is Severity.LOW
        return Finding(Severity.SAFE if is_low else Severity.NOTE, sentence, figure)
    return Finding(
        graded(after),
        text(
            "With {alone}, a best guess at who it is would be right in {before} of cases; with {every}, in {after}.",
            **words,
        ),
        figure,
        text(
            "Releases add up: what changes in a person's life from one to the next singles them out."
        ),
        text(
            "Make it harder to follow a person from one release to the next: give each release new identifiers, "
            "and publish in less detail what stays the same."
        ),
    )


def _inference_grade(attack: Attack) -> Severity:
    """Return how much an attack on a secret should worry: by what it adds to what everybody can guess, or knows."""
    if tells_nothing(attack):
        return Severity.SAFE if attack.certain == 0 else Severity.NOTE
    was_certain = attack.deterministic.prior == 1  # all share it: the release tells it by itself
    return graded(
        learned(attack), certain=0 if was_certain else attack.certain, people=attack.records
    )


def most_at_risk(attack: Attack) -> tuple[int, Fraction, Fraction]:
    """Return the place of a secret among others: by its severity, then by what is added to right guesses."""
    return worst_first(_inference_grade(attack)), -attack.probabilistic.additive, -learned(attack)


def _inferred(attack: Attack, naming: Attack, subject: str) -> Finding:
    nothing = tells_nothing(attack)
    return Finding(
        _inference_grade(attack),
        _inferring_sentence(attack, naming, subject),
        figure=exact_guesses(attack),
        meaning=""
        if nothing
        else text(
            "A secret can be learned without finding the record: it is enough that most people who look alike "
            "have the same value."
        ),
        remedy="" if nothing else protect_the_secret(),
    )


def _inferring_sentence(attack: Attack, naming: Attack, subject: str) -> str:
    guess = attack.probabilistic
    before, after = percentages(guess.prior, guess.posterior)
    words = {
        "whoever": _whoever(attack, naming, subject),
        "secret": enumeration(attack.secret),
        "people": counted(attack.certain, subject),
        "share": _certainty(attack),
        "before": before,
        "after": after,
    }
    if tells_nothing(attack) and attack.certain:
        template = marked(
            "Everybody in the release has the same {secret}: it is enough to know that someone is in it."
        )
    elif attack.certain and before == after:
        template = marked(
            "{whoever} learns the {secret} of {people} with certainty ({share}), but on the whole guesses no "
            "better than without that knowledge: right in {after} of cases."
        )
    elif before == after:
        template = marked(
            "{whoever} cannot be certain of anybody's {secret}. Guesses at it are right in {after} of cases, "
            "with or without that knowledge."
        )
    elif attack.certain:
        template = marked(
            "{whoever} learns the {secret} of {people} with certainty ({share}). A guess at it is right in "
            "{after} of cases, up from {before}."
        )
    else:
        template = marked(
            "{whoever} cannot be certain of anybody's {secret}. A guess at it is right in {after} of cases, up "
            "from {before}."
        )
    return translated(template, **words)


def _whoever(attack: Attack, naming: Attack, subject: str) -> str:
    """Say who learns a secret: by the facts, unless they are many and those of the sentence on naming."""
    facts, same = (
        len(attack.quasi_identifiers),
        attack.quasi_identifiers == naming.quasi_identifiers,
    )
    if same and facts > MOST_REPEATED:
        return text("Someone who knows these {count} facts", count=facts)
    return text(
        "Someone who knows {subject}'s {known}",
        subject=indefinite(subject),
        known=knowledge_in_short(attack),
    )


def _already(attack: Attack, subject: str) -> Finding:
    sentence = text(
        "Knowing {known} alone identifies {people} outright, and makes a best guess at who it is right {cases}.",
        known=knowledge(attack),
        people=counted(attack.certain, subject) if attack.certain else text("nobody"),
        cases=cases(attack.probabilistic.posterior),
    )
    grade = graded(attack.probabilistic.posterior, certain=attack.certain, people=attack.records)
    meaning = text(
        "It does not take much: leaving out all other columns would remove at most half of what the attack "
        "gains."
    )
    remedy = text("Look at this first: publish it in less detail, or not at all.")
    low = grade is Severity.LOW
    return Finding(grade, sentence, exact_guesses(attack), meaning, "" if low else remedy)


def _nearly_alone(attack: Attack, subject: str, smallest: int) -> Finding:
    exposed = attack.class_sizes.records_below(SMALL_CLASS)
    if exposed == 0:
        return _in_company(attack, subject)
    sentence = _alone_or_nearly(attack, subject)
    return Finding(
        graded(Fraction(exposed, attack.records), certain=attack.certain, people=attack.records),
        sentence,
        figure=text(
            "{exposed} of {records} records in classes of fewer than {size}",
            exposed=exposed,
            records=attack.records,
            size=SMALL_CLASS,
        ),
        meaning=text("The fewer people look alike, the easier it is to guess who is who."),
        remedy=text(
            "Generalise a column, or leave one out, until every class has at least {size} records.",
            size=smallest,
        ),
    )


def _alone_or_nearly(attack: Attack, subject: str) -> str:
    """Say how many look like nobody else, and how many like a few others."""
    alone = attack.class_sizes.records_below(2)
    nearly = attack.class_sizes.records_below(SMALL_CLASS) - alone
    words = {
        "known": knowledge_counted(attack),
        "people": counted(nearly, subject),
        "share": share(nearly, attack.records),
        "few": number(SMALL_CLASS - 2),
    }
    if alone:
        unique = text_for(
            alone,
            "{people} ({share}) is unique on {known}.",
            "{people} ({share}) are unique on {known}.",
            known=knowledge_counted(attack),
            people=counted(alone, subject),
            share=share(alone, attack.records),
        )
        others = text_for(
            nearly,
            "{people} ({share}) shares theirs with only 1 to {few} others.",
            "{people} ({share}) share theirs with only 1 to {few} others.",
            **words,
        )
        return f"{unique} {others}" if nearly else unique
    if nearly == attack.records:
        return text("All {people} share their {known} with only 1 to {few} others.", **words)
    return text_for(
        nearly,
        "{people} ({share}) shares {known} with only 1 to {few} others.",
        "{people} ({share}) share their {known} with only 1 to {few} others.",
        **words,
    )


def _in_company(attack: Attack, subject: str) -> Finding:
    least = attack.class_sizes.smallest
    return reassurance(
        text_for(
            least - 1,
            "Every {subject} shares {known} with at least {count} other.",
            "Every {subject} shares {known} with at least {count} others.",
            subject=singular(subject),
            known=knowledge_counted(attack),
        ),
        figure=text("no class of fewer than {size} records", size=least),
        meaning=text(
            "On these columns alone nobody stands out. That does not protect a secret that everybody who looks "
            "alike shares."
        ),
    )


def gained(
    attacks: Sequence[Attack], *, subject: str, currency: str | None, tries: int | None
) -> Finding:
    """Say what she can expect to gain by the attack that adds most.

    Args:
        attacks: Those that have a gain.
        subject: What a record stands for.
        currency: What gains are counted in; None: they are plain numbers.
        tries: How many guesses she has, where a gain is that one of them is right: it is a probability then.
    """
    gain, attack = max(
        ((attack.gain or attack.probabilistic, attack) for attack in attacks),
        key=lambda pair: pair[0].additive,
    )
    case = bool(attack.secret), gain.additive != 0
    secret = enumeration(attack.secret)
    if tries is None:
        prior, posterior = _worths(gain, currency)
        sentence = translated(
            WORTH[case[0], prior != posterior], prior=prior, posterior=posterior, secret=secret
        )
    else:
        before, after = percentages(gain.prior, gain.posterior)
        sentence = text_for(
            tries,
            *WITHIN[case[0], before != after],
            subject=indefinite(subject),
            known=knowledge_in_short(attack),
            secret=secret,
            before=before,
            after=after,
        )
    figure = f"{ratio(gain.prior)} → {ratio(gain.posterior)}"
    return Finding(Severity.NOTE if gain.additive else Severity.SAFE, sentence, figure)


def _worths(gain: Leakage, currency: str | None) -> tuple[str, ...]:
    """Say what is gained before and after, with as many digits as tell them apart."""
    both = gain.prior, gain.posterior
    if currency is not None:
        return tuple(money(value, currency) for value in both)
    return told_apart(
        tuple(number(value, f",.{digits}g") for value in both) for digits in (4, 6, 8)
    )


WITHIN = {
    (True, False): marked_for(
        "Someone who knows {subject}'s {known} gets the {secret} right with {count} guess in {after} of "
        "cases, as without that knowledge.",
        "Someone who knows {subject}'s {known} gets the {secret} right within {count} guesses in {after} of "
        "cases, as without that knowledge.",
    ),
    (True, True): marked_for(
        "Someone who knows {subject}'s {known} gets the {secret} right with {count} guess in {after} of "
        "cases, up from {before}.",
        "Someone who knows {subject}'s {known} gets the {secret} right within {count} guesses in {after} of "
        "cases, up from {before}.",
    ),
    (False, False): marked_for(
        "Someone who knows {subject}'s {known} finds their record with {count} guess in {after} of cases, as "
        "without that knowledge.",
        "Someone who knows {subject}'s {known} finds their record within {count} guesses in {after} of "
        "cases, as without that knowledge.",
    ),
    (False, True): marked_for(
        "Someone who knows {subject}'s {known} finds their record with {count} guess in {after} of cases, up "
        "from {before}.",
        "Someone who knows {subject}'s {known} finds their record within {count} guesses in {after} of "
        "cases, up from {before}.",
    ),
}
"""How often one of several guesses is right, by whether it is at a secret and whether the attack adds to it."""
WORTH = {
    (True, False): marked(
        "What the adversary can expect to gain by trying to learn the {secret} of a person, as the study counts it, "
        "stays at {prior}."
    ),
    (True, True): marked(
        "What the adversary can expect to gain by trying to learn the {secret} of a person, as the study counts it, "
        "rises from {prior} to {posterior}."
    ),
    (False, False): marked(
        "What the adversary can expect to gain by trying to identify a person, as the study counts it, stays "
        "at {prior}."
    ),
    (False, True): marked(
        "What the adversary can expect to gain by trying to identify a person, as the study counts it, rises "
        "from {prior} to {posterior}."
    ),
}
"""What guesses are worth to her, by the same."""


def tells_nothing(attack: Attack) -> bool:
    """Tell whether neither a guess is better than before, nor anything certain that was not."""
    return attack.probabilistic.additive == 0 == attack.deterministic.additive


def safe_knowledge(assessment: Assessment, subject: str) -> Finding | None:
    """Say with how much knowledge there is little to fear: the largest set that is safe, if the whole is not.

    Safe is a set with which nobody is named for certain and a guess is seldom right. Sets that are safe for all
    secrets too go before others. Of several as large, the one is told with which a guess is right most often: the
    others are safer still.
    """
    sets = [same for same in by_knowledge(last_window(assessment.attacks)) if not same[0].secret]
    whole = widest(assessment.attacks)[0]
    safe = [same for same in sets if is_small(same[0]) and same[0].quasi_identifiers]
    if not safe or is_small(whole):
        return None
    wholly = [
        same
        for same in safe
        if not any(attack.certain for attack in same[1:])
        and all(graded(attack.probabilistic.additive) is Severity.LOW for attack in same[1:])
    ]
    naming, *inferring = max(
        wholly or safe,
        key=lambda same: (len(same[0].quasi_identifiers), same[0].probabilistic.posterior),
    )
    words = {
        "subject": indefinite(subject),
        "known": knowledge(naming),
        "cases": cases(naming.probabilistic.posterior),
    }
    if inferring and wholly:
        sentence = text(
            "Someone who knows no more than {subject}'s {known} can neither identify anybody nor learn anybody's "
            "{secrets} with certainty. A best guess at who it is would be right {cases}.",
            secrets=either([enumeration(attack.secret) for attack in inferring]),
            **words,
        )
    else:
        sentence = text(
            "Someone who knows no more than {subject}'s {known} cannot identify anybody with certainty. A best "
            "guess at who it is would be right {cases}.",
            **words,
        )
    sentence = " ".join([sentence, *_looser(sets, naming, subject)])
    meaning = text("This holds as long as she knows nothing else about the person.")
    if inferring and not wholly:
        meaning = text(
            "This holds as long as she knows nothing else about the person, and for identification only: the "
            "same knowledge may make a secret easier to guess, or even certain."
        )
    return reassurance(sentence, figure=exact_guesses(naming), meaning=meaning)


def _looser(sets: Sequence[Sequence[Attack]], safe: Attack, subject: str) -> list[str]:
    """Say which larger set leaves guesses as seldom right, though some people can be named outright with it."""
    larger = [
        same[0]
        for same in sets
        if len(same[0].quasi_identifiers) > len(safe.quasi_identifiers)
        and same[0].certain
        and same[0].probabilistic.posterior <= SOME
    ]
    if not larger:
        return []
    best = min(
        larger,
        key=lambda attack: (-len(attack.quasi_identifiers), attack.probabilistic.posterior),
    )
    return [
        text(
            "With {known}, {named} of the {people} can be identified outright; a best guess would be right "
            "{cases}.",
            known=knowledge(best),
            named=percentage(best.deterministic.posterior),
            people=plural(subject),
            cases=cases(best.probabilistic.posterior),
        )
    ]
