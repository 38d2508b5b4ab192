"""What was found about one person, in sentences: who may be meant, what is learned, and what if they may not be in it.

For the analyst, on the terminal, sentences are exact and name values (`Discretion`). For a report an outcome is first
made the same as all others that must look alike (`as_told`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile

from glasshouse.disclosure import smallest_cell
from glasshouse.language import (
    marked,
    number,
    percentage,
    printable,
    rounded,
    text,
    text_for,
    translated,
)
from glasshouse.microdata.individual import (
    Belief,
    Histories,
    Journalist,
    Target,
    TargetSecret,
    Value,
)
from glasshouse.microdata.leakage import Leakage
from glasshouse.report.attacks import change_the_pseudonym, protect_the_secret
from glasshouse.report.cells import (
    before_and_after,
)
from glasshouse.report.discretion import (
    COARSELY,
    EXACTLY,
    Among,
    Discretion,
    both_percentages,
    more_than_one_in,
    ratio,
)
from glasshouse.report.labels import value_label
from glasshouse.report.page import (
    Figure,
    Finding,
    Severity,
    note,
    reassurance,
)
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    counted,
    either,
    enumeration,
    in_words,
    joined,
    plural,
    sentences,
    singular,
)
from glasshouse.sources import MISSING
from glasshouse.study.assess import parse_person_secret

DISCREET = Discretion()
"""How a report speaks of few people."""
MOST_SECRETS = 3
"""Of how many secrets the sentences and the pictures speak; all are in the tables."""
HARDLY, HARDLY_OF_BEFORE = Fraction(1, 200), Fraction(1, 20)
"""Who guesses right less often or more often by less than both, the second as a share of before, guesses as before."""
LONGEST_VALUE = 60
"""After so many characters a value is cut off in a sentence."""


def target_findings(
    target: Target,
    *,
    subject: str = "person",
    exact: bool = False,
    picture: Callable[[TargetSecret, Target], Figure | None] = lambda *_: None,
) -> tuple[Finding, ...]:
    """Return who may be meant, what is learned of them, and what if they may not be in the release at all.

    The secrets of which most is learned come first.

    Args:
        target: What came out.
        subject: What a record stands for.
        exact: Whether values and small numbers of people are told: for the analyst's own eyes, never for a report.
        picture: Draws what is learned of a secret.
    """
    discretion = Discretion(exact)
    target = target if exact else as_told(target)
    findings = [_fitting(target, subject, discretion)]
    if target.suppressed:
        findings.append(note(_suppressed(target, subject, discretion)))
    of_another = [
        name
        for name in target.unlearned
        if target.histories is not None and parse_person_secret(name).how == "other"
    ]
    missing = [name for name in target.unlearned if name not in of_another]
    if missing:
        sentence = text(
            "Nothing is learned of this person's {secrets}: it is missing in every record that fits.",
            secrets=either([enumeration([secret]) for secret in missing]),
        )
        findings.append(note(sentence))
    if of_another:
        sentence = text(
            "Nothing is learned of another record of this person: nobody who fits has more records than are known."
        )
        findings.append(note(sentence))
    secrets = most_telling(target.secrets)
    for secret in secrets[:MOST_SECRETS]:
        finding = _learned(secret, target, discretion)
        findings.append(replace(finding, picture=picture(secret, target)))
    if len(secrets) > MOST_SECRETS:
        sentence = text_for(
            len(secrets) - MOST_SECRETS,
            "What is learned of {count} further secret is in a table.",
            "What is learned of {count} further secrets is in a table.",
        )
        findings.append(note(sentence))
    if target.journalist is not None:
        findings.append(_not_knowing(target.journalist, target, subject, discretion))
    return tuple(findings)


def as_told(target: Target) -> Target:
    """Return an outcome that is the same for all that looks the same in a report, so that no sentence tells more.

    Of few candidates it is told whether they are one, and of a secret between which bounds the best guess is.
    """
    secrets = tuple(_secret_as_told(secret, target) for secret in target.secrets)
    if hides_everybody(target, DISCREET):
        prior = Fraction(1, smallest_cell())
        naming = replace(target.naming, prior=prior)
        target = replace(target, records=smallest_cell() - 1, naming=naming)
        secrets = tuple(replace(secret, missing=0) for secret in secrets)
    if is_coarse(target, DISCREET) and target.naming.posterior != target.naming.prior:
        chance, most = (
            COARSELY.drawn(target.naming.posterior),
            COARSELY.bounds(target.naming.posterior)[1],
        )
        chance = most if chance == target.naming.prior else chance  # it is not as before
        target = replace(target, naming=replace(target.naming, posterior=chance))
    if not is_rough(target, DISCREET) or not target.candidates:
        return replace(target, secrets=secrets)
    return replace(
        target,
        candidates=1 if target.candidates == 1 else 2,
        naming=_one_of_two(target.naming),
        secrets=tuple(replace(secret, missing_candidates=0) for secret in secrets),
        journalist=target.journalist and _journalist_as_told(target.journalist, target),
    )


def _one_of_two(chance: Leakage) -> Leakage:
    """Return a chance that is not told, as if there were two."""
    return replace(chance, posterior=Fraction(1, 2)) if 0 < chance.posterior < 1 else chance


def _secret_as_told(secret: TargetSecret, target: Target) -> TargetSecret:
    _, wording = wordings(secret, target)
    if not wording.hides(secret.guess.posterior):
        return secret
    return replace(secret, values=tuple(_beliefs_as_told(secret, wording)))


def _beliefs_as_told(secret: TargetSecret, wording: Among) -> Iterator[Belief]:
    """Yield the values with chances that say no more than how a guess at the likeliest is told."""
    likeliest = wording.drawn(secret.guess.posterior)
    rest = (1 - likeliest) / (len(secret.values) - 1)
    for rank, prior in enumerate(sorted((belief.prior for belief in secret.values), reverse=True)):
        yield Belief(str(rank), prior, rest if rank else likeliest)


def _journalist_as_told(journalist: Journalist, target: Target) -> Journalist:
    bound, wording = told_of(journalist, target, DISCREET)
    presence = replace(journalist.presence, posterior=wording.drawn(journalist.presence.posterior))
    naming = journalist.naming if bound is None else _one_of_two(journalist.naming)
    return replace(journalist, presence=presence, naming=naming)


def most_telling(secrets: Sequence[TargetSecret]) -> list[TargetSecret]:
    """Return the secrets that become certain, and then the others, in the order of how far beliefs are moved."""
    return sorted(
        secrets,
        key=lambda secret: (secret.certain and secret.guess.prior < 1, _moved(secret)),
        reverse=True,
    )


def known_columns(target: Target) -> str:
    """Say of which columns something is known; ``@D2`` is whether the person is in dataset D2 at all."""
    if target.histories is not None:
        return _known_records(target.histories)
    return enumeration(
        [
            text("being in {dataset}", dataset=name[1:]) if name.startswith("@") else name
            for name in target.known
        ]
    )


def _known_records(histories: Histories) -> str:
    """Say of how many records what is known."""
    return joined(
        [
            text_for(
                count,
                "{known} of {count} record",
                "{known} of {count} records",
                known=enumeration(columns),
            )
            for columns, count in Counter(histories.known).items()
        ]
    )


def counted_all(target: Target, subject: str, discretion: Discretion = DISCREET) -> str:
    """Say of how many records, or people with as many records as are known, some fit."""
    if target.histories is None:
        return counted(target.records, "record")
    people, number = discretion.people(target.records, subject), len(target.histories.known)
    if number == 1:
        return people
    return text("{people} with at least {count} records", people=people, count=number)


def hides_everybody(target: Target, discretion: Discretion) -> bool:
    """Tell whether so few people have as many records as are known that their number is not told."""
    return target.histories is not None and discretion.hides(target.records)


def wordings(
    secret: TargetSecret, target: Target, discretion: Discretion = DISCREET
) -> tuple[Among, Among]:
    """Return how chances at a secret are told, before and after: without the records in which it is missing."""
    known = replace(
        target,
        records=target.records - secret.missing,
        candidates=target.candidates - secret.missing_candidates,
    )
    people = None if hides_everybody(known, discretion) else known.records
    return Among(people, discretion.exact), among_candidates(known, discretion)


def among_candidates(target: Target, discretion: Discretion) -> Among:
    """Return how chances among the candidates are told."""
    few, coarse = is_rough(target, discretion), is_coarse(target, discretion)
    return Among(None if few else target.candidates, exact=discretion.exact, coarse=coarse)


def is_coarse(target: Target, discretion: Discretion) -> bool:
    """Tell whether chances would tell whose records fit, as they do where people have several."""
    return target.histories is not None and not discretion.exact


def is_rough(target: Target, discretion: Discretion) -> bool:
    """Tell whether the candidates are so few that their number is not told."""
    all_records = target.histories is None and target.candidates == target.records
    return not all_records and discretion.hides(target.candidates)


def hidden_naming(target: Target, discretion: Discretion) -> str | None:
    """Say that a guess at the record is likelier right than a bound, where its chance would tell how few records fit.

    The likeliest of n candidates is the person's with a probability of at least 1/n. Certainty is told.
    """
    if target.naming.posterior == 1:
        return None
    if is_rough(target, discretion):
        return more_than_one_in(smallest_cell())
    is_told = not is_coarse(target, discretion) or target.naming.posterior == target.naming.prior
    return None if is_told else COARSELY.percentage(target.naming.posterior)


def hidden_prior(target: Target, discretion: Discretion) -> str | None:
    """Say the same of a guess without what is known, where its chance would tell how few have so many records."""
    few = hides_everybody(target, discretion)
    return more_than_one_in(smallest_cell()) if few else None


def _moved(secret: TargetSecret) -> Fraction:
    """Return the total variation distance of prior and posterior: how much probability goes to other values."""
    possible = takewhile(lambda belief: belief.posterior, secret.values)
    return sum(
        (max(belief.posterior - belief.prior, Fraction(0)) for belief in possible), Fraction(0)
    )


def _shown(value: Value) -> str:
    """Return a value of a secret as text."""
    if isinstance(value, tuple):
        return " + ".join(map(_shown, value))
    if value is None:
        return text("(no record there)")
    return text("(missing)") if value == MISSING else printable(value)


def _quoted(value: Value) -> str:
    """Return a value as it stands in a sentence."""
    line = _shown(value)
    return f"“{line if len(line) <= LONGEST_VALUE else f'{line[: LONGEST_VALUE - 1]}…'}”"


def with_caveats(sentence: str, target: Target, *, unsure: bool = True) -> str:
    """Add what must hold: that the person is in the release, and that their record is not suppressed."""
    outside = target.journalist is not None and target.journalist.presence.posterior < 1
    caveats = sentences(
        unsure and outside and marked("This holds if this person is in the release."),
        bool(target.suppressed)
        and (
            marked("This holds unless the record is one of those that are suppressed.")
            if target.histories is None
            else marked("This holds unless this person fits only by records that are suppressed.")
        ),
    )
    return " ".join((sentence, *caveats))


def _suppressed(target: Target, subject: str, discretion: Discretion) -> str:
    """Say how many records, or people, may be meant although what is known of them is suppressed."""
    if target.histories is None:
        return text_for(
            target.suppressed,
            "{count} further record is suppressed, with nothing but “*” of what is known: it may be this person's.",
            "{count} further records are suppressed, with nothing but “*” of what is known: one of them may be this "
            "person's.",
        )
    return text_for(
        2 if discretion.hides(target.suppressed) else target.suppressed,
        "Besides, {people} fits only by records that are suppressed, with nothing but “*” of what is known: it may be "
        "this person.",
        "Besides, {people} fit only by records that are suppressed, with nothing but “*” of what is known: this person "
        "may be one of them.",
        people=discretion.people(target.suppressed, subject),
    )


def _fitting(target: Target, subject: str, discretion: Discretion) -> Finding:
    """Say how many records may be the person's, graded by how likely a guess at it is right."""
    sentence = _fitting_sentence(target, subject, discretion)
    if not target.candidates:
        return reassurance(sentence, meaning=text("This holds if what is known is right."))
    naming = target.naming
    severity = graded(naming.posterior)
    nothing = target.candidates == target.records > 1 and naming.posterior == naming.prior
    exposed = severity != Severity.LOW and not nothing
    prior = hidden_prior(target, discretion) or ratio(naming.prior)
    posterior = hidden_naming(target, discretion) or ratio(naming.posterior)
    return Finding(
        Severity.SAFE if nothing and severity == Severity.LOW else severity,
        with_caveats(sentence[:1].upper() + sentence[1:], target),
        before_and_after(prior, posterior),
        _fitting_means(target),
        less_detail(target) if exposed else "",
    )


def less_detail(target: Target) -> str:
    """Say what makes more records fit."""
    if target.histories is not None:
        return change_the_pseudonym()
    return text(
        "Publish {known} in less detail, so that more people look like this one.",
        known=known_columns(target),
    )


def _fitting_sentence(target: Target, subject: str, discretion: Discretion) -> str:
    now, before = both_percentages(
        (EXACTLY, target.naming.posterior), (EXACTLY, target.naming.prior)
    )
    return translated(
        _fitting_template(target, discretion),
        known=known_columns(target),
        records=counted(target.records, "record"),
        people=counted_all(target, subject, discretion),
        few=discretion.people(target.records, subject),
        candidates=discretion.count(target.candidates),
        after=hidden_naming(target, discretion) or now,
        before=hidden_prior(target, discretion) or before,
    )


def _fitting_template(target: Target, discretion: Discretion) -> str:
    if target.histories is not None:
        return PEOPLE_FITTING[_case_of_people(target, discretion)]
    if not target.candidates:
        return marked(
            "None of the {records} fits what is known ({known}): this person is not in the release."
        )
    if target.records == 1:
        return marked(
            "The release holds a single record, and it fits what is known ({known}): it is this person's."
        )
    if target.candidates == 1:
        return marked(
            "What is known ({known}) fits only one of the {records}: this person is found with certainty."
        )
    if target.candidates == target.records:
        return marked(
            "All of the {records} fit what is known ({known}): it rules out nobody, and a guess at the record is right "
            "in {after} of cases, as before."
        )
    return marked(
        "{candidates} of the {records} fit what is known ({known}): a guess at which is this person's is right in "
        "{after} of cases; without what is known, in {before}."
    )


def _case_of_people(target: Target, discretion: Discretion) -> str:
    """Return which of the sentences about people with several records holds."""
    if hides_everybody(target, discretion):
        return "one of few" if target.candidates == 1 else "some of few"
    if target.candidates == 1:
        return "only one" if target.records == 1 else "one"
    if target.candidates < target.records:
        return "some"
    return "all alike" if target.naming.posterior == target.naming.prior else "all"


PEOPLE_FITTING = {
    "only one": marked(
        "Nobody else has so many records, and they fit what is known ({known}): this person is found with certainty."
    ),
    "one": marked(
        "Of the {people}, only one has records that fit what is known ({known}): this person is found with certainty."
    ),
    "one of few": marked(
        "{few} have so many records, and those of only one fit what is known ({known}): this person is found with "
        "certainty."
    ),
    "some of few": marked(
        "{few} have so many records, and those of several fit what is known ({known}): a guess at which of them is "
        "this person is right in {after} of cases."
    ),
    "all alike": marked(
        "All of the {people} have records that fit what is known ({known}): it rules out nobody, and a guess at which "
        "of them is this person is right in {after} of cases, as before."
    ),
    "all": marked(
        "All of the {people} have records that fit what is known ({known}): it rules out nobody, but makes some of "
        "them likelier. A guess at which of them is this person is right in {after} of cases; without what is known, "
        "in {before}."
    ),
    "some": marked(
        "{candidates} of the {people} have records that fit what is known ({known}): a guess at which of them is this "
        "person is right in {after} of cases; without what is known, in {before}."
    ),
}
"""How many people may be meant, where they have several records and some of these are known."""


def _fitting_means(target: Target) -> str:
    if target.histories is not None:
        return _people_fitting_means(target)
    if target.candidates == 1:
        return text("All else that the record holds is then known of this person, too.")
    if target.candidates == target.records:
        return text("What is known tells this person apart from nobody in the release.")
    return text(
        "Which of the records that fit is this person's cannot be told; what they have in common is learned all the "
        "same."
    )


def _people_fitting_means(target: Target) -> str:
    if target.candidates == 1:
        return text(
            "Whoever finds the pseudonym has all records of the person: also those that nobody knew of."
        )
    return text(
        "Which of those who fit is this person cannot be told with certainty; the fewer of their records do not fit, "
        "the likelier they are. What they have in common is learned all the same."
    )


def secret_words(secret: TargetSecret, target: Target) -> str:
    """Say what a secret is: of a column, of all records of a person, or of another record than the known ones."""
    if target.histories is None:
        return enumeration(secret.secret)
    asked = parse_person_secret(secret.secret[0])
    if secret.another:
        return text("{column} in another record", column=enumeration([str(asked.column)]))
    return f"“{secret.secret[0]}”" if asked.how else enumeration(secret.secret)


def _learned(secret: TargetSecret, target: Target, discretion: Discretion) -> Finding:
    """Say how good the best guess of a secret is, before and after; to the analyst also which guess it is."""
    everybody, wording = wordings(secret, target, discretion)
    after, before = secret.guess.posterior, secret.guess.prior
    now, then = both_percentages((wording, after), (everybody, before))
    (least, most), (low, high) = wording.bounds(after), everybody.bounds(before)
    is_told = least == most and low == high
    if alike := is_told and percentage(after) == percentage(before):
        now = then = in_words(percentage(before))
    moved = bool(_moved(secret)) or not is_told
    less = after < before if is_told else most <= low
    more = after > before if is_told else least >= high
    if before == 1:
        change = "known before"
    elif secret.certain:
        change = "certain"
    elif not moved:
        change = "nothing"
    elif alike:
        change = "alike"
    elif is_told and hardly_changes(secret.guess):
        change = "nearly"
    elif not is_told and least == low == 0 < after:
        change = "untold"  # “less than 66.7%, before less than 68.0%” would read as a fall
    else:
        change = "less" if less else "more"
    words = {"secret": secret_words(secret, target)}
    if discretion.exact:  # a report is not even handed the values
        best, first = (
            _quoted(value_label(secret.secret, values[0]))
            for values in (secret.best, secret.prior_best)
        )
        words |= {"best": best, "first": first}
    template = UNTOLD if change == "untold" else LEARNED[change, discretion.exact]
    if change == "known before" and target.histories is not None:
        template = SAME_FOR_ALL
    sentence = translated(template, now=now, then=then, **words)
    severity = Severity.HIGH if secret.certain else graded(secret.guess.additive)
    at_risk = more and moved and severity in (Severity.HIGH, Severity.MODERATE)
    return Finding(
        severity if moved else Severity.SAFE,
        sentence if before == 1 else with_caveats(sentence, target),
        before_and_after(everybody.ratio(before), wording.ratio(after)),
        _learned_means(secret, target, moved=moved, less=less),
        protect_the_secret() if at_risk else "",
    )


def hardly_changes(guess: Leakage) -> bool:
    """Tell whether a guess is right practically as often as before.

    >>> from fractions import Fraction
    >>> hardly_changes(Leakage(Fraction(348, 1000), Fraction(347, 1000)))
    True
    >>> hardly_changes(Leakage(Fraction(2, 1000), Fraction(3, 1000)))
    False
    """
    return abs(guess.additive) < min(HARDLY, HARDLY_OF_BEFORE * guess.prior)


def _learned_means(secret: TargetSecret, target: Target, *, moved: bool, less: bool) -> str:
    candidates = target.candidates - secret.missing_candidates
    if not moved:
        return text("This holds as long as she knows nothing else about the person.")
    if secret.certain and candidates > 1 and target.histories is not None:
        return text(
            "It is the same for everybody who fits, so that it does not matter who of them is this person."
        )
    if secret.certain and candidates > 1:
        return text(
            "All records that fit say the same, so that it does not matter which of them is this person's."
        )
    if less:
        return text(
            "On average over everybody a guess can only get better; for a single person it may get worse."
        )
    if candidates > 1 and target.histories is None:
        return text("The same is learned of everybody else who fits what is known.")
    return ""


LEARNED = {
    ("known before", True): marked(
        "Nothing is learned of this person's {secret}: the release holds one value only, {best}."
    ),
    ("known before", False): marked(
        "Nothing is learned of this person's {secret}: the release holds one value only."
    ),
    ("certain", True): marked(
        "What is known gives this person's {secret} away with certainty: {best}. Without it the best guess, {first}, "
        "would be right in {then} of cases."
    ),
    ("certain", False): marked(
        "What is known gives this person's {secret} away with certainty; without it the best guess would be right in "
        "{then} of cases."
    ),
    ("nothing", True): marked(
        "Nothing is learned of this person's {secret}: the best guess is {best}, right in {now} of cases, as for "
        "anybody in the release."
    ),
    ("nothing", False): marked(
        "Nothing is learned of this person's {secret}: the best guess is right in {then} of cases, as for anybody in "
        "the release."
    ),
    ("alike", True): marked(
        "What is known hardly changes how well this person's {secret} is guessed: the best guess, {best}, is right in "
        "{now} of cases, about as often as {first} without it."
    ),
    ("alike", False): marked(
        "What is known hardly changes how well this person's {secret} is guessed: the best guess is right in {then} of "
        "cases, with it or without."
    ),
    ("nearly", True): marked(
        "What is known hardly changes how well this person's {secret} is guessed: the best guess, {best}, is right in "
        "{now} of cases, and {first} without it in {then}."
    ),
    ("nearly", False): marked(
        "What is known hardly changes how well this person's {secret} is guessed: the best guess is right in {now} of "
        "cases, and without it in {then}."
    ),
    ("less", True): marked(
        "What is known makes this person's {secret} harder to guess: the best guess, {best}, is right in {now} of "
        "cases; without it {first} would have seemed right in {then}."
    ),
    ("less", False): marked(
        "What is known makes this person's {secret} harder to guess: the best guess is right in {now} of cases; "
        "without it one would have seemed right in {then}."
    ),
    ("more", True): marked(
        "The best guess at this person's {secret} is {best}, right in {now} of cases; without what is known it would "
        "be {first}, right in {then}."
    ),
    ("more", False): marked(
        "The best guess at this person's {secret} is right in {now} of cases; without what is known, in {then}."
    ),
}
"""What is learned of a secret, with its values for the analyst and without them for a report.

A report does not tell either whether the best guess is another one than before.
"""
UNTOLD = marked("The best guess at this person's {secret} is right in {now} of cases.")
"""What is said where of the chances before and after no more is told than what they are below."""
SAME_FOR_ALL = marked(
    "Nothing is learned of this person's {secret}: it is the same for everybody who has so many records."
)


def _not_knowing(
    journalist: Journalist, target: Target, subject: str, discretion: Discretion
) -> Finding:
    """Say what it comes to for somebody who does not know that the person is in the release."""
    presence, naming = journalist.presence, journalist.naming
    bound, wording = told_of(journalist, target, discretion)
    hidden = None if bound is None or naming.posterior in (0, 1) else more_than_one_in(bound)
    if journalist.estimated:
        case = "estimated"
    elif not target.candidates:
        case = "nobody"
    elif presence.posterior == 1:
        case = "alone" if target.candidates == 1 else "everybody"
    else:
        case = "assumed" if journalist.assumed else "counted"
    now, then = both_percentages((wording, presence.posterior), (EXACTLY, presence.prior))
    sentence = translated(
        NOT_KNOWING[case],
        people=_who_fits(journalist, bound, subject),
        register=str(journalist.register),
        inside=discretion.count(target.candidates),
        before=then,
        presence=now,
        named=hidden or in_words(percentage(naming.posterior)),
    )
    severity = graded(naming.posterior, certain=presence.posterior == 1 > presence.prior)
    return Finding(
        severity if target.candidates else Severity.NOTE,
        with_caveats(sentence, target, unsure=False),
        text(
            "being in the release: exactly {after}; before, {before}; the record is theirs: {named}",
            before=ratio(presence.prior),
            after=wording.ratio(presence.posterior),
            named=hidden or ratio(naming.posterior),
        ),
        text(
            "The more people of the population fit, the less a record that fits says about this person."
        )
        if target.candidates
        else "",
    )


def told_of(
    journalist: Journalist, target: Target, discretion: Discretion
) -> tuple[int | None, Among]:
    """Return what the number of people who fit is below, where it is not told, and how being in is told."""
    few = discretion.hides(target.candidates)
    if journalist.estimated:
        share = journalist.population / target.records
        return math.ceil(smallest_cell() * share) if few else None, EXACTLY
    bound = smallest_cell() if discretion.hides(journalist.fitting) else None
    return bound, Among(None, exact=not few and bound is None)


def people_fitting(count: Fraction) -> str:
    """Return a number of people; an estimated one may be broken, which matters only where it is small."""
    return number(count, ",.1f") if count < 10 and count.denominator > 1 else number(rounded(count))


def _who_fits(journalist: Journalist, bound: int | None, subject: str) -> str:
    """Return how many people of the population fit, in words."""
    if bound is not None:
        fewer = text("fewer than {smallest}", smallest=bound)
        return text("{count} {people}", count=fewer, people=plural(subject))
    fitting = journalist.fitting
    if not journalist.estimated and not journalist.assumed:
        return counted(int(fitting), subject)
    return text(
        "about {count} {people}",
        count=people_fitting(fitting),
        people=singular(subject) if fitting == 1 else plural(subject),
    )


NOT_KNOWING = {
    "estimated": marked(
        "Someone who does not know whether this person is in the release can only estimate: {people} of the population "
        "may fit. By estimate, the chance that this person is in the release is {presence}, and the chance that a "
        "record that fits is theirs is {named}."
    ),
    "nobody": marked(
        "Someone who does not know whether this person is in the release learns that it does not hold them: nobody of "
        "{register} who may be meant ({people}) has a record in it."
    ),
    "alone": marked(
        "Someone who does not know whether this person is in the release learns that it holds them, for nobody else of "
        "{register} fits: the record is theirs for certain."
    ),
    "everybody": marked(
        "Someone who does not know whether this person is in the release learns that it holds them: it holds everybody "
        "of {register} who may be meant ({people})."
    ),
    "assumed": marked(
        "Someone who does not know whether this person is in the release reckons: of {register}, {people} may be "
        "meant, and the release holds {inside} of them. So the chance that this person is in it is {presence} (before: "
        "{before}), and the chance that a record that fits is theirs is {named}. This assumes that what {register} "
        "does not tell is as frequent among those who are in the release as among those who are not."
    ),
    "counted": marked(
        "Someone who does not know whether this person is in the release counts: of {register}, {people} may be meant, "
        "and the release holds {inside} of them. So the chance that this person is in it is {presence} (before: "
        "{before}), and the chance that a record that fits is theirs is {named}."
    ),
}
"""What it comes to for somebody who does not know that the person is in the release."""
