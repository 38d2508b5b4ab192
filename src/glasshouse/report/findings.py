"""What was found in microdata, in sentences that a minister understands.

Findings are made from aggregates only: names of columns, counts of records, probabilities. No value of a record
can enter a sentence.
"""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import number, text, text_for
from glasshouse.microdata import Assessment, Attack
from glasshouse.report.attacks import growth, widest
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    money,
    percentage,
    plural,
    share,
    short_names,
    singular,
    together,
)

SMALL_CLASS = 5
"""Below so many people alike, a group is commonly held too small to publish."""
MANY, SOME = Fraction(1, 5), Fraction(1, 20)
"""From so large a share of right guesses on the risk is high, and moderate."""


def findings(
    assessment: Assessment, *, subject: str = "person", currency: str | None = None
) -> tuple[Finding, ...]:
    """Return who can be named, what can be inferred, how little is enough, how many stand alone, and what is safe.

    They speak of all datasets together, of the largest set of quasi-identifiers that was assessed, and of the
    sensitive attribute about which the adversary gains most. Of a growing collection one says how her success grows.
    """
    naming, *inferring = widest(assessment.attacks)
    found = [_named(naming, subject)]
    stages = growth(assessment.attacks)
    if len(stages) > 1:
        found.append(_grown(stages[0][0], naming))
    if inferring:
        worst = max(inferring, key=lambda a: (a.probabilistic.additive, a.certain))
        found.append(_inferred(worst, subject))
    else:
        found.append(_expected(naming, subject))
    gaining = [attack for attack in (naming, *inferring) if attack.gain is not None]
    if gaining:
        found.append(_gained(max(gaining, key=_added_gain), currency))
    enough = _enough(assessment, naming)
    if enough is not None:
        found.append(_already(enough, subject))
    if any(naming.class_sizes.classes):
        found.append(_nearly_alone(naming, subject))
    safe = _safe(assessment, subject)
    return (*found, *([safe] if safe is not None else []))


def graded(success: Fraction, *, certain: bool = False) -> Severity:
    """Return how much a chance of success should worry; certainty about anybody is never a small matter.

    >>> graded(Fraction(1, 4)), graded(Fraction(1, 100), certain=True), graded(Fraction(1, 1000))
    (<Severity.HIGH: 'high'>, <Severity.MODERATE: 'moderate'>, <Severity.LOW: 'low'>)
    """
    if success >= MANY:
        return Severity.HIGH
    return Severity.MODERATE if success >= SOME or certain else Severity.LOW


def exact_figure(attack: Attack) -> str:
    """Return the exact figures behind a sentence about an attack: its code, and prior and posterior as ratios."""
    return text(
        "{code}: prior {prior}, posterior {posterior}; known for certain {certain} of {records} records",
        code=attack.code,
        prior=_ratio(attack.probabilistic.prior),
        posterior=_ratio(attack.probabilistic.posterior),
        certain=attack.certain,
        records=attack.records,
    )


def _ratio(value: Fraction) -> str:
    """Say a probability as a decimal and as a ratio of whole numbers, where that is not too long."""
    decimal = number(value, ".6g")
    if value.denominator == 1 or len(str(value.denominator)) > 12:
        return decimal
    return f"{decimal} ({number(value.numerator)}/{number(value.denominator)})"


def _named(attack: Attack, subject: str) -> Finding:
    success = attack.probabilistic.posterior
    return Finding(
        graded(success, certain=attack.certain > 0),
        _naming_sentence(attack, subject),
        figure=exact_figure(attack),
        meaning=_naming_means(attack),
        remedy=""
        if attack.certain == 0
        else text(
            "Publish less detail of the attributes that contribute most, or leave one out; glasshouse anonymise and "
            "glasshouse compare show what that buys and what it costs."
        ),
    )


def _naming_means(attack: Attack) -> str:
    if attack.certain == 0:
        return text(
            "Everybody shares all known attributes with somebody else, so no one can be sure whose record it is."
        )
    return text(
        "Whoever is named has all the rest of the record read as well: it is no longer anonymous to anybody who knows "
        "these things, such as a neighbour, a colleague or a relative."
    )


def _naming_sentence(attack: Attack, subject: str) -> str:
    parts = {
        "known": enumeration(attack.quasi_identifiers),
        "subject": singular(subject),
        "people": counted(attack.records, subject),
        "frequency": frequency(attack.probabilistic.posterior),
        "certain": number(attack.certain),
        "share": _certainty(attack),
    }
    if len(attack.datasets) > 1:
        parts["datasets"] = together(short_names(attack.datasets))
        return _naming_with_several(attack, parts)
    if attack.certain == 0:
        return text(
            "Someone who knows a {subject}'s {known} cannot name any of the {people} with certainty; a guess is right "
            "for {frequency}.",
            **parts,
        )
    if attack.records == 1:
        return text(
            "Someone who knows a {subject}'s {known} can name the only {subject} in the release, and so can anyone.",
            **parts,
        )
    if attack.certain == attack.records:
        return text(
            "Someone who knows a {subject}'s {known} can name every one of the {people} with certainty.",
            **parts,
        )
    return text(
        "Someone who knows a {subject}'s {known} can name {certain} of the {people} with certainty ({share}), and by "
        "guessing would be right for {frequency}.",
        **parts,
    )


def _naming_with_several(attack: Attack, parts: dict[str, str]) -> str:
    if attack.certain == 0:
        return text(
            "With {datasets}, someone who knows a {subject}'s {known} cannot name any of the {people} with certainty; "
            "a guess is right for {frequency}.",
            **parts,
        )
    if attack.records == 1:
        return text(
            "With {datasets}, someone who knows a {subject}'s {known} can name the only {subject} in the release, and "
            "so can anyone.",
            **parts,
        )
    if attack.certain == attack.records:
        return text(
            "With {datasets}, someone who knows a {subject}'s {known} can name every one of the {people} with "
            "certainty.",
            **parts,
        )
    return text(
        "With {datasets}, someone who knows a {subject}'s {known} can name {certain} of the {people} with certainty "
        "({share}), and by guessing would be right for {frequency}.",
        **parts,
    )


def _certainty(attack: Attack) -> str:
    """Say how large a share is certain; where records are not alike, how probable it is to meet one."""
    if Fraction(attack.certain, attack.records) == attack.deterministic.posterior:
        return share(attack.certain, attack.records)
    return text(
        "she is certain with a chance of {chance}",
        chance=percentage(attack.deterministic.posterior),
    )


def _grown(first: Attack, last: Attack) -> Finding:
    """Say what the first dataset alone gives her, and what all of them do."""
    names = dict(zip(last.datasets, short_names(last.datasets), strict=True))
    alone, every = (
        together([names.get(dataset, dataset) for dataset in attack.datasets])
        for attack in (first, last)
    )
    before, after = first.probabilistic.posterior, last.probabilistic.posterior
    figure = text(
        "posterior {before} with the first, {after} with all",
        before=_ratio(before),
        after=_ratio(after),
    )
    if before == after:
        return Finding(
            Severity.SAFE,
            text(
                "With {alone} a guess at who it is is right for {frequency}; {every} give no better.",
                alone=alone,
                frequency=frequency(before),
                every=every,
            ),
            figure=figure,
        )
    return Finding(
        graded(after),
        text(
            "With {alone} a guess at who it is is right for {before}; with {every}, for {after}.",
            alone=alone,
            before=frequency(before),
            every=every,
            after=frequency(after),
        ),
        figure=figure,
        meaning=text(
            "Releases that are harmless one by one add up: what changes in a person's life from one to the next "
            "singles them out."
        ),
        remedy=text(
            "Give each release new identifiers, so that records cannot be followed from one to the next."
        ),
    )


def _expected(attack: Attack, subject: str) -> Finding:
    return Finding(
        Severity.NOTE,
        text(
            "Without that knowledge a guess at a {subject}'s record is right for {before}; with it, for {after}.",
            subject=singular(subject),
            before=frequency(attack.probabilistic.prior),
            after=frequency(attack.probabilistic.posterior),
        ),
        figure=exact_figure(attack),
    )


def _inferred(attack: Attack, subject: str) -> Finding:
    before, after = attack.probabilistic.prior, attack.probabilistic.posterior
    grade = graded(attack.probabilistic.additive, certain=attack.certain > 0)
    nothing = before == after and attack.certain == 0
    return Finding(
        Severity.SAFE if nothing else grade,
        _inferring_sentence(attack, subject),
        figure=exact_figure(attack),
        meaning=""
        if nothing
        else text(
            "The secret of a person can be learned without knowing which record is theirs: it is enough that all who "
            "look like them share it."
        ),
        remedy=""
        if nothing
        else text(
            "Protect the secret itself: l-diversity or t-closeness, or Anatomy, besides k-anonymity."
        ),
    )


def _inferring_sentence(attack: Attack, subject: str) -> str:
    before, after = attack.probabilistic.prior, attack.probabilistic.posterior
    parts = {
        "secret": enumeration(attack.secret),
        "people": counted(attack.certain, subject),
        "share": _certainty(attack),
        "many": plural(subject),
        "after": frequency(after),
        "before": frequency(before),
    }
    if attack.certain and before == after:
        return text(
            "An adversary with that knowledge learns the {secret} of {people} with certainty ({share}), and guesses it "
            "no better than someone who knows nothing of them: right for {after}.",
            **parts,
        )
    if attack.certain:
        return text(
            "An adversary with that knowledge learns the {secret} of {people} with certainty ({share}), and guesses it "
            "right for {after} {many}; without that knowledge it would be {before}.",
            **parts,
        )
    if before == after:
        return text(
            "An adversary with that knowledge learns nobody's {secret} with certainty, and guesses it no better than "
            "someone who knows nothing of them: right for {after}.",
            **parts,
        )
    return text(
        "An adversary with that knowledge learns nobody's {secret} with certainty, and guesses it right for {after} {many}; "
        "without that knowledge it would be {before}.",
        **parts,
    )


def _enough(assessment: Assessment, whole: Attack) -> Attack | None:
    """Return the attack with the fewest attributes that names at least half as well as the whole set."""
    fewer = [
        attack
        for attack in assessment.attacks
        if not attack.secret
        and attack.datasets == whole.datasets
        and len(attack.quasi_identifiers) < len(whole.quasi_identifiers)
        and 2 * attack.probabilistic.posterior >= whole.probabilistic.posterior
    ]
    return min(
        fewer,
        key=lambda a: (len(a.quasi_identifiers), -a.probabilistic.posterior),
        default=None,
    )


def _already(attack: Attack, subject: str) -> Finding:
    parts = {
        "known": enumeration(attack.quasi_identifiers),
        "frequency": frequency(attack.probabilistic.posterior),
        "many": plural(subject),
        "certain": number(attack.certain),
    }
    sentence = (
        text(
            "Already {known} alone is enough to name {frequency} {many} by guessing, and {certain} of them with "
            "certainty.",
            **parts,
        )
        if len(attack.quasi_identifiers) == 1
        else text(
            "Already {known} are enough to name {frequency} {many} by guessing, and {certain} of them with certainty.",
            **parts,
        )
    )
    return Finding(
        graded(attack.probabilistic.posterior, certain=attack.certain > 0),
        sentence,
        figure=exact_figure(attack),
        meaning=text(
            "One does not have to know much about a person: these things are easily known."
        ),
    )


def _added_gain(attack: Attack) -> Fraction:
    return attack.gain.additive if attack.gain is not None else Fraction(0)


def _gained(attack: Attack, currency: str | None) -> Finding:
    """Say what she can expect to gain, where the study says what guesses are worth."""
    gain = attack.gain or attack.probabilistic

    def said(value: Fraction) -> str:
        return number(value, ",.4g") if currency is None else money(value, currency)

    parts = {
        "secret": enumeration(attack.secret),
        "prior": said(gain.prior),
        "posterior": said(gain.posterior),
    }
    if attack.secret and gain.additive == 0:
        sentence = text(
            "What she can expect to gain by trying to learn the {secret}, as the study counts it, stays at {prior}.",
            **parts,
        )
    elif attack.secret:
        sentence = text(
            "What she can expect to gain by trying to learn the {secret}, as the study counts it, rises from {prior} "
            "to {posterior}.",
            **parts,
        )
    elif gain.additive == 0:
        sentence = text(
            "What she can expect to gain by naming people, as the study counts it, stays at {prior}.",
            **parts,
        )
    else:
        sentence = text(
            "What she can expect to gain by naming people, as the study counts it, rises from {prior} to {posterior}.",
            **parts,
        )
    figure = f"{attack.code}: {_ratio(gain.prior)} → {_ratio(gain.posterior)}"
    return Finding(Severity.SAFE if gain.additive == 0 else Severity.NOTE, sentence, figure=figure)


def _nearly_alone(attack: Attack, subject: str) -> Finding:
    exposed = attack.class_sizes.records_below(SMALL_CLASS)
    if exposed == 0:
        others = attack.class_sizes.smallest - 1
        return Finding(
            Severity.SAFE,
            text_for(
                others,
                "Every {subject} looks like at least {count} other in these respects.",
                "Every {subject} looks like at least {count} others in these respects.",
                subject=singular(subject),
            ),
            figure=text("smallest class: {size} records", size=others + 1),
        )
    few = {"few": SMALL_CLASS - 1}
    if exposed == attack.records > 1:
        sentence = text(
            "All {many} look like fewer than {few} others in these respects.",
            many=plural(subject),
            **few,
        )
    else:
        sentence = text_for(
            exposed,
            "{people} ({share}) looks like fewer than {few} others in these respects.",
            "{people} ({share}) look like fewer than {few} others in these respects.",
            people=counted(exposed, subject),
            share=share(exposed, attack.records),
            **few,
        )
    return Finding(
        graded(Fraction(exposed, attack.records), certain=attack.certain > 0),
        sentence,
        figure=text(
            "{exposed} of {records} records in classes of fewer than {size}",
            exposed=exposed,
            records=attack.records,
            size=SMALL_CLASS,
        ),
        meaning=text("The fewer look like a person, the better a guess at who it is."),
        remedy=text("Generalising or removing an attribute is what would protect them."),
    )


def _safe(assessment: Assessment, subject: str) -> Finding | None:
    """Say with which attributes nobody can be named: the largest such set, and of several the one that names best."""
    naming = [
        attack
        for attack in assessment.attacks
        if not attack.secret
        and attack.datasets == widest(assessment.attacks)[0].datasets
        and attack.certain == 0
        and attack.quasi_identifiers
    ]
    whole = widest(assessment.attacks)[0]
    if not naming or whole.certain == 0:
        return None
    best = max(naming, key=lambda a: (len(a.quasi_identifiers), -a.probabilistic.posterior))
    return Finding(
        Severity.SAFE,
        text(
            "Someone who knows only a {subject}'s {known} cannot name anybody with certainty; a guess is right for "
            "{frequency}.",
            subject=singular(subject),
            known=enumeration(best.quasi_identifiers),
            frequency=frequency(best.probabilistic.posterior),
        ),
        figure=exact_figure(best),
        meaning=text("This holds as long as she knows nothing else about the person."),
    )
