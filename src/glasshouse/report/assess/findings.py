"""What was found in microdata, in sentences that a minister understands.

Findings are made from aggregates only: names of columns, counts of records, probabilities. No value of a record
can enter a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from glasshouse.language import marked, marked_for, number, text, text_for, translated
from glasshouse.microdata import Assessment, Attack, Sweep
from glasshouse.report.assess.charts import influence_findings
from glasshouse.report.attacks import (
    SMALL_CLASS,
    by_knowledge,
    exact_figure,
    fewest,
    graded,
    growth,
    is_small,
    knowledge,
    knowledge_counted,
    knowledge_in_short,
    last_window,
    learned,
    protect_the_secret,
    widest,
    worst_first,
)
from glasshouse.report.discretion import ratio
from glasshouse.report.page import Figure, Finding, Severity, note, reassurance
from glasshouse.report.words import (
    counted,
    either,
    enumeration,
    frequencies,
    frequency,
    indefinite,
    money,
    percentage,
    plural,
    share,
    short_names,
    singular,
    together,
)


def findings(
    assessment: Assessment,
    *,
    subject: str = "person",
    currency: str | None = None,
    tries: int | None = None,
    sweep: Sweep | None = None,
    pictures: Mapping[str, Figure | None] | None = None,
) -> tuple[Finding, ...]:
    """Return who can be named, what can be inferred, how little is enough, how many stand alone, and what is safe.

    They speak of all datasets together, of the largest set of quasi-identifiers that was assessed, and of every
    sensitive attribute, the one most at risk first. Of a growing collection one says how her success grows.

    Args:
        assessment: What came out.
        subject: What a record stands for.
        currency: What gains are counted in; None: they are plain numbers.
        tries: How many guesses she has, where a gain is that one of them is right.
        sweep: The sums of every subset, where there are such, from which the influence of each attribute follows.
        pictures: What shows the findings: ``inference``, ``sets``, ``classes`` and ``influence``.
    """
    shown = pictures or {}
    naming, *inferring = widest(assessment.attacks)
    results = [_named(naming, subject)]
    stages = growth(assessment.attacks)
    if len(stages) > 1:
        results.append(_grown(stages[0][0], naming))
    if inferring:
        worst, *further = sorted(inferring, key=_most_at_risk)
        results.append(replace(_inferred(worst, subject), picture=shown.get("inference")))
        results += [
            replace(_inferred(attack, subject), meaning="", remedy="") for attack in further
        ]
    else:
        before, after = frequencies(naming.probabilistic.prior, naming.probabilistic.posterior)
        sentence = text(
            "Whoever knows nothing of {person} guesses their record right for {before}; whoever knows {known}, for "
            "{after}.",
            person=indefinite(subject),
            before=before,
            known=knowledge_in_short(naming),
            after=after,
        )
        results.append(note(sentence, exact_figure(naming)))
    gaining = [attack for attack in (naming, *inferring) if attack.gain is not None]
    if gaining:
        results.append(gained(gaining, subject=subject, currency=currency, tries=tries))
    enough = fewest(assessment)
    if enough is not None:
        results.append(replace(_already(enough, subject), picture=shown.get("sets")))
    if any(naming.class_sizes.classes):
        results.append(replace(_nearly_alone(naming, subject), picture=shown.get("classes")))
    if sweep is not None:
        results += [
            replace(finding, picture=shown.get("influence"))
            for finding in influence_findings(sweep)
        ]
    return (*results, *filter(None, [safe_knowledge(assessment, subject)]))


def _named(attack: Attack, subject: str) -> Finding:
    success, certain = attack.probabilistic.posterior, attack.certain > 0
    nothing = not certain and attack.probabilistic.additive == 0
    grade = Severity.SAFE if nothing else graded(success, certain=certain)
    return Finding(
        grade,
        _naming_sentence(attack, subject),
        figure=exact_figure(attack),
        meaning=text(
            "Whoever is named has all the rest of the record read as well: it is no longer anonymous to anybody who "
            "knows these things, be it a neighbour, a colleague or a relative."
        )
        if certain
        else text(
            "For everybody there is at least one further record that may be theirs, so that nobody can be sure which "
            "one it is. Whoever knows more than these attributes may be."
        ),
        remedy=""
        if grade in (Severity.LOW, Severity.SAFE)
        else text(
            "Publish less detail of the attributes that contribute most, or leave one out; glasshouse anonymise and "
            "glasshouse compare show what that buys and what it costs."
        ),
    )


def _naming_sentence(attack: Attack, subject: str) -> str:
    words = {
        "subject": singular(subject),
        "person": indefinite(subject),
        "known": knowledge_in_short(attack),
        "people": counted(attack.records, subject),
        "certain": number(attack.certain),
        "share": _certainty(attack),
        "frequency": frequency(attack.probabilistic.posterior),
    }
    if attack.certain == 0 and attack.probabilistic.additive == 0:
        template = marked(
            "Someone who knows {person}'s {known} cannot name any of the {people} with certainty, and guesses no "
            "better than without that knowledge: right for {frequency}."
        )
    elif attack.certain == 0:
        template = marked(
            "Someone who knows {person}'s {known} cannot name any of the {people} with certainty; a guess is right "
            "for {frequency}."
        )
    elif attack.records == 1:
        template = marked(
            "The release is about one {subject} only: whoever knows that someone is in it knows the whole record."
        )
    elif attack.certain == attack.records:
        template = marked(
            "Someone who knows {person}'s {known} can name every one of the {people} with certainty."
        )
    else:
        template = marked(
            "Someone who knows {person}'s {known} can name {certain} of the {people} with certainty ({share}), and by "
            "guessing would be right for {frequency}."
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
    fewer, more = frequencies(before, after)
    words = {"alone": alone, "before": fewer, "every": every, "after": more}
    figure = text(
        "posterior {before} with the first, {after} with all",
        before=ratio(before),
        after=ratio(after),
    )
    if before == after:
        sentence = text(
            "With {alone}, a guess at whose record it is succeeds for {before}; {every} give no better.",
            **words,
        )
        is_low = graded(after) is Severity.LOW
        return Finding(Severity.SAFE if is_low else Severity.NOTE, sentence, figure)
    return Finding(
        graded(after),
        text(
            "With {alone}, a guess at whose record it is succeeds for {before}; with {every}, for {after}.",
            **words,
        ),
        figure,
        text(
            "Releases add up: what changes in a person's life from one to the next singles them out."
        ),
        text(
            "Make it harder to follow a person from one release to the next: give each release new identifiers, and "
            "less detail of what stays the same."
        ),
    )


def _inference_grade(attack: Attack) -> Severity:
    """Return how much an attack on a secret should worry: by what it adds to what everybody can guess, or knows."""
    if tells_nothing(attack):
        return Severity.SAFE if attack.certain == 0 else Severity.NOTE
    return graded(learned(attack), certain=attack.certain > 0)


def _most_at_risk(attack: Attack) -> tuple[int, Fraction, Fraction]:
    return worst_first(_inference_grade(attack)), -learned(attack), -attack.probabilistic.additive


def _inferred(attack: Attack, subject: str) -> Finding:
    nothing = tells_nothing(attack)
    return Finding(
        _inference_grade(attack),
        _inferring_sentence(attack, subject),
        figure=exact_figure(attack),
        meaning=""
        if nothing
        else text(
            "A secret can be learned without knowing which record is a person's: it is enough that those who look like "
            "them mostly share it."
        ),
        remedy="" if nothing else protect_the_secret(),
    )


def _inferring_sentence(attack: Attack, subject: str) -> str:
    guess = attack.probabilistic
    before, after = frequencies(guess.prior, guess.posterior)
    words = {
        "person": indefinite(subject),
        "known": knowledge_in_short(attack),
        "secret": enumeration(attack.secret),
        "people": counted(attack.certain, subject),
        "share": _certainty(attack),
        "many": plural(subject),
        "before": before,
        "after": after,
    }
    if tells_nothing(attack) and attack.certain:
        template = marked(
            "The release holds one value of {secret} only: whoever knows that someone is in it knows it."
        )
    elif attack.certain and guess.prior == guess.posterior:
        template = marked(
            "Someone who knows {person}'s {known} learns the {secret} of {people} with certainty ({share}), but "
            "guesses it no better than someone who does not: right for {after}."
        )
    elif guess.prior == guess.posterior:
        template = marked(
            "Someone who knows {person}'s {known} learns nobody's {secret} with certainty, and guesses it no better "
            "than someone who does not: right for {after}."
        )
    elif attack.certain:
        template = marked(
            "Someone who knows {person}'s {known} learns the {secret} of {people} with certainty ({share}), and "
            "guesses it right for {after} {many}; without that knowledge it would be {before}."
        )
    else:
        template = marked(
            "Someone who knows {person}'s {known} learns nobody's {secret} with certainty, and guesses it right for "
            "{after} {many}; without that knowledge it would be {before}."
        )
    return translated(template, **words)


def _already(attack: Attack, subject: str) -> Finding:
    template = (
        marked(
            "Knowing no more than {known} is enough to name {frequency} {many} by guessing, and {people} with "
            "certainty."
        )
        if attack.certain
        else marked(
            "Knowing no more than {known} is enough to name {frequency} {many} by guessing, though nobody with "
            "certainty."
        )
    )
    sentence = translated(
        template,
        known=knowledge(attack),
        frequency=frequency(attack.probabilistic.posterior),
        many=plural(subject),
        people=counted(attack.certain, subject),
    )
    grade = graded(attack.probabilistic.posterior, certain=attack.certain > 0)
    meaning = text(
        "One does not have to know much: leaving out all other attributes would take away at most half of what the "
        "attack gives."
    )
    remedy = text("Look at this first: publish it in less detail, or not at all.")
    low = grade is Severity.LOW
    return Finding(grade, sentence, exact_figure(attack), meaning, "" if low else remedy)


def _nearly_alone(attack: Attack, subject: str) -> Finding:
    exposed = attack.class_sizes.records_below(SMALL_CLASS)
    if exposed == 0:
        return _in_company(attack, subject)
    words = {
        "people": counted(exposed, subject),
        "share": share(exposed, attack.records),
        "known": knowledge_counted(attack),
        "few": number(SMALL_CLASS - 1),
    }
    if exposed == attack.records > 1:
        sentence = text("All {people} share their {known} with fewer than {few} others.", **words)
    else:
        sentence = text_for(
            exposed,
            "{people} ({share}) shares {known} with fewer than {few} others.",
            "{people} ({share}) share their {known} with fewer than {few} others.",
            **words,
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
        remedy=text(
            "Generalise an attribute, or leave one out, until every class has at least {size} records.",
            size=SMALL_CLASS,
        ),
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
            "From these attributes alone nobody stands out. It does not protect a secret that all who are alike share."
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
        prior, posterior = (
            number(value, ",.4g") if currency is None else money(value, currency)
            for value in (gain.prior, gain.posterior)
        )
        sentence = translated(WORTH[case], prior=prior, posterior=posterior, secret=secret)
    else:
        before, after = frequencies(gain.prior, gain.posterior)
        sentence = text_for(
            tries,
            *WITHIN[case],
            person=indefinite(subject),
            known=knowledge_in_short(attack),
            secret=secret,
            before=before,
            after=after,
            many=plural(subject),
        )
    figure = f"{attack.code}: {ratio(gain.prior)} → {ratio(gain.posterior)}"
    return Finding(Severity.NOTE if gain.additive else Severity.SAFE, sentence, figure)


WITHIN = {
    (True, False): marked_for(
        "Someone who knows {person}'s {known} tells their {secret} right with {count} guess for {after} {many}, no "
        "more than without that knowledge.",
        "Someone who knows {person}'s {known} tells their {secret} right within {count} guesses for {after} {many}, no "
        "more than without that knowledge.",
    ),
    (True, True): marked_for(
        "Someone who knows {person}'s {known} tells their {secret} right with {count} guess for {after} {many}; "
        "without that knowledge it would be {before}.",
        "Someone who knows {person}'s {known} tells their {secret} right within {count} guesses for {after} {many}; "
        "without that knowledge it would be {before}.",
    ),
    (False, False): marked_for(
        "Someone who knows {person}'s {known} finds their record with {count} guess for {after} {many}, no more than "
        "without that knowledge.",
        "Someone who knows {person}'s {known} finds their record within {count} guesses for {after} {many}, no more "
        "than without that knowledge.",
    ),
    (False, True): marked_for(
        "Someone who knows {person}'s {known} finds their record with {count} guess for {after} {many}; without that "
        "knowledge it would be {before}.",
        "Someone who knows {person}'s {known} finds their record within {count} guesses for {after} {many}; without "
        "that knowledge it would be {before}.",
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
        "What the adversary can expect to gain by trying to name a person, as the study counts it, stays at {prior}."
    ),
    (False, True): marked(
        "What the adversary can expect to gain by trying to name a person, as the study counts it, rises from {prior} "
        "to {posterior}."
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
        "person": indefinite(subject),
        "known": knowledge(naming),
        "frequency": frequency(naming.probabilistic.posterior),
    }
    if inferring and wholly:
        sentence = text(
            "Someone who knows no more than {person}'s {known} can neither name anybody nor learn anybody's {secrets} "
            "with certainty; a guess at whose record it is succeeds for {frequency}.",
            secrets=either([enumeration(attack.secret) for attack in inferring]),
            **words,
        )
    else:
        sentence = text(
            "Someone who knows no more than {person}'s {known} cannot name anybody with certainty; a guess succeeds "
            "for {frequency}.",
            **words,
        )
    meaning = text("This holds as long as she knows nothing else about the person.")
    if inferring and not wholly:
        meaning = text(
            "This holds as long as she knows nothing else about the person, and it is about naming only: with the same "
            "knowledge a secret can be guessed better than without it, or even learned with certainty."
        )
    return reassurance(sentence, figure=exact_figure(naming), meaning=meaning)
