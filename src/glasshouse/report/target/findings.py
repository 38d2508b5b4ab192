"""What was found about one person, in sentences.

For a report they name no value and no small number of people (`glasshouse.report.discretion`): it says how likely the
likeliest value is, not which one it is. For the analyst, on the terminal, they are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile

from glasshouse.disclosure import smallest_cell
from glasshouse.errors import printable
from glasshouse.language import number, text, text_for
from glasshouse.microdata.individual import Journalist, Target, TargetSecret, Value
from glasshouse.report.attacks import graded
from glasshouse.report.charts import before_and_after_columns, chance, chances
from glasshouse.report.discretion import Discretion, Told, more_than_one_in, ratio
from glasshouse.report.page import Cell, Column, Finding, Group, Section, Severity, Table
from glasshouse.report.words import counted, enumeration, plural, rounded, singular
from glasshouse.sources import MISSING

MOST_SECRETS = 3
"""Of how many secrets the sentences and the pictures speak; all are in the tables."""
LONGEST_VALUE = 60
"""After so many characters a value is cut off in a sentence."""
JOURNALIST = (
    "El Emam and Dankar 2008, “Protecting privacy using k-anonymity”, Journal of the American Medical Informatics "
    "Association"
)


def target_findings(
    target: Target, *, subject: str = "person", exact: bool = False
) -> tuple[Finding, ...]:
    """Return who may be meant, what is learned of them, and what if they may not be in the release at all.

    The secrets of which most is learned come first.

    Args:
        target: What came out.
        subject: What a record stands for.
        exact: Whether values and small numbers of people are told: for the analyst's own eyes, never for a report.
    """
    discretion = Discretion(exact)
    found = [_fitting(target, subject, discretion)]
    if target.suppressed:
        found.append(_suppressed(target.suppressed, subject))
    secrets = most_telling(target.secrets)
    found += [_learned(secret, target, subject, discretion) for secret in secrets[:MOST_SECRETS]]
    further = len(secrets) - MOST_SECRETS
    if further > 0:
        found.append(_further(further))
    if target.journalist is not None:
        not_knowing = journalist_finding(target.journalist, target, subject, discretion)
        found.append(
            replace(not_knowing, sentence=_unless_suppressed(not_knowing.sentence, target))
        )
    return tuple(found)


def most_telling(secrets: Sequence[TargetSecret]) -> list[TargetSecret]:
    """Return the secrets in the order of how far the attack moves her beliefs."""
    return sorted(secrets, key=_moved, reverse=True)


def known_columns(target: Target) -> str:
    """Say of which columns something is known; ``@D2`` is whether the person is in dataset D2 at all."""
    return enumeration(
        [
            text("being in {dataset}", dataset=name[1:]) if name.startswith("@") else name
            for name in target.known
        ]
    )


def is_rough(target: Target, discretion: Discretion) -> bool:
    """Tell whether the candidates are so few that chances among them are told in tenths only."""
    return target.candidates != target.records and discretion.hides(target.candidates)


def naming_chance(target: Target, discretion: Discretion) -> str:
    """Say how likely a guess at the record is right; with few candidates, only that it is likelier than a bound.

    The likeliest of n candidates is the person's with a probability of at least 1/n.
    """
    if is_naming_hidden(target, discretion):
        return more_than_one_in(smallest_cell())
    return chance(target.naming.posterior)


def is_naming_hidden(target: Target, discretion: Discretion) -> bool:
    """Tell whether the chance of naming the record would tell how few records fit; certainty is told."""
    return target.naming.posterior < 1 and is_rough(target, discretion)


def _naming_ratio(target: Target, discretion: Discretion) -> str:
    if is_naming_hidden(target, discretion):
        return naming_chance(target, discretion)
    return ratio(target.naming.posterior)


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
    shown = _shown(value)
    return f"“{shown if len(shown) <= LONGEST_VALUE else f'{shown[: LONGEST_VALUE - 1]}…'}”"


def _with_caveats(sentence: str, target: Target, subject: str) -> str:
    """Add what must hold: that the person is in the release, and that their record is not suppressed."""
    if target.journalist is not None and target.journalist.presence.posterior < 1:
        condition = text(
            "This holds if this {subject} is in the release.", subject=singular(subject)
        )
        sentence = f"{sentence} {condition}"
    return _unless_suppressed(sentence, target)


def _unless_suppressed(sentence: str, target: Target) -> str:
    if not target.suppressed:
        return sentence
    condition = text("This holds unless the record is one of those that are suppressed.")
    return f"{sentence} {condition}"


def _fitting(target: Target, subject: str, discretion: Discretion) -> Finding:
    """Say how many records may be the person's."""
    parts = {
        "subject": singular(subject),
        "known": known_columns(target),
        "records": counted(target.records, "record"),
    }
    if not target.candidates:
        return _nobody(parts)
    after = naming_chance(target, discretion)
    if target.candidates == 1:
        sentence = _one(target, parts)
    elif target.candidates == target.records:
        sentence = text(
            "All of the {records} fit what is known of this {subject} ({known}): it rules out nobody, and a guess at "
            "the record is right with a chance of {after}, as before.",
            after=after,
            **parts,
        )
    else:
        now, before = chances(target.naming.posterior, target.naming.prior)
        sentence = text(
            "{candidates} of the {records} fit what is known of this {subject} ({known}): a guess at which is theirs "
            "is right with a chance of {after}; without that knowledge it would be {before}.",
            candidates=discretion.count(target.candidates),
            after=after if is_rough(target, discretion) else now,
            before=before,
            **parts,
        )
    return _graded_fitting(target, sentence[:1].upper() + sentence[1:], subject, discretion)


def _nobody(parts: dict[str, str]) -> Finding:
    return Finding(
        Severity.SAFE,
        text(
            "None of the {records} fits what is known of this {subject} ({known}): this {subject} is not in the "
            "release.",
            **parts,
        ),
        figure=text("candidates: {count}", count=0),
        meaning=text("This holds if what is known is right."),
    )


def _one(target: Target, parts: dict[str, str]) -> str:
    if target.records == 1:
        return text(
            "The release holds a single record, and it fits what is known of this {subject} ({known}): this {subject} "
            "is named with certainty.",
            subject=parts["subject"],
            known=parts["known"],
        )
    return text(
        "What is known of this {subject} ({known}) singles out one of the {records}: this {subject} is named with "
        "certainty.",
        **parts,
    )


def _graded_fitting(target: Target, sentence: str, subject: str, discretion: Discretion) -> Finding:
    """Return the finding on the record, graded by how likely a guess at it is right."""
    journalist = target.journalist
    success = (target.naming if journalist is None else journalist.naming).posterior
    severity = graded(success)
    nothing = target.candidates == target.records > 1
    exposed = severity != Severity.LOW and not nothing
    return Finding(
        Severity.SAFE if nothing and severity == Severity.LOW else severity,
        _with_caveats(sentence, target, subject),
        figure=text(
            "{code}: prior {prior}, posterior {posterior}",
            code=target.code,
            prior=ratio(target.naming.prior),
            posterior=_naming_ratio(target, discretion),
        ),
        meaning=_fitting_means(target),
        remedy=text(
            "Publish {known} in less detail, so that more records fit; glasshouse anonymise does so for everybody.",
            known=known_columns(target),
        )
        if exposed
        else "",
    )


def _fitting_means(target: Target) -> str:
    if target.candidates == 1:
        return text("All else that the record holds is then known of this person, too.")
    if target.candidates == target.records:
        return text("What is known tells this person apart from nobody in the release.")
    return text(
        "Which of the records that fit is this person's cannot be told; what they have in common is learned all the "
        "same."
    )


def _suppressed(records: int, subject: str) -> Finding:
    """Say that records of which nothing is told are no candidates, and may be the person's all the same."""
    return Finding(
        Severity.NOTE,
        text_for(
            records,
            "{count} further record is suppressed, with nothing but “*” of what is known of this {subject}: it may be "
            "theirs.",
            "{count} further records are suppressed, with nothing but “*” of what is known of this {subject}: one of "
            "them may be theirs.",
            subject=singular(subject),
        ),
    )


def _further(secrets: int) -> Finding:
    return Finding(
        Severity.NOTE,
        text_for(
            secrets,
            "What is learned of {count} further secret is in a table.",
            "What is learned of {count} further secrets is in a table.",
        ),
    )


def _learned(secret: TargetSecret, target: Target, subject: str, discretion: Discretion) -> Finding:
    """Say how good the best guess of a secret is, before and after; to the analyst also which guess it is."""
    told = Told(is_rough(target, discretion))
    after, before = secret.guess.posterior, secret.guess.prior
    sentence = (
        _learned_exactly(secret, subject)
        if discretion.exact
        else _learned_discreetly(secret, subject, told)
    )
    return Finding(
        _learned_severity(secret),
        sentence if before == 1 else _with_caveats(sentence, target, subject),
        figure=text(
            "{code}: prior {prior}, posterior {posterior}",
            code=secret.code,
            prior=ratio(before),
            posterior=told.ratio(after),
        ),
        meaning=_learned_means(secret, target),
        remedy=text(
            "Protect the secret itself: l-diversity or t-closeness, or Anatomy, besides k-anonymity."
        )
        if after > before
        else "",
    )


def _learned_severity(secret: TargetSecret) -> Severity:
    if not _moved(secret):
        return Severity.SAFE
    return Severity.HIGH if secret.certain else graded(secret.guess.additive)


def _learned_means(secret: TargetSecret, target: Target) -> str:
    after, before = secret.guess.posterior, secret.guess.prior
    if not _moved(secret):
        return text("This holds as long as she knows nothing else about the person.")
    if secret.certain and target.candidates > 1:
        return text(
            "All records that fit say the same, so that it does not matter which of them is this person's."
        )
    if after < before:
        return text(
            "On average over everybody a guess can only get better; for a single person it may get worse."
        )
    if target.candidates > 1:
        return text("The same is learned of everybody else who fits what is known.")
    return ""


def _learned_exactly(secret: TargetSecret, subject: str) -> str:
    """Say it with the values."""
    (value, after), (former, before) = secret.best, secret.prior_best
    now, then = chances(after, before)
    parts = {
        "subject": singular(subject),
        "secret": enumeration(secret.secret),
        "best": _quoted(value),
        "first": _quoted(former),
        "now": now,
        "then": then,
    }
    if before == 1:
        return text(
            "Nothing is learned of this {subject}'s {secret}: everybody in the release has {best}.",
            **parts,
        )
    if secret.certain:
        return text(
            "What is known of this {subject} gives their {secret} away with certainty: {best}. Without that knowledge "
            "the best guess, {first}, would be right with a chance of {then}.",
            **parts,
        )
    if not _moved(secret):
        return text(
            "Nothing is learned of this {subject}'s {secret}: the best guess is {best}, right with a chance of {now}, "
            "as for anybody in the release.",
            **parts,
        )
    if chance(after) == chance(before):
        return text(
            "The best guess at this {subject}'s {secret} is {best}, about as likely to be right as the best one "
            "without what is known of them, {first}: with a chance of {now}.",
            **(parts | {"now": chance(after)}),
        )
    if after < before:
        return text(
            "Of this {subject}'s {secret} less is known than of people in general: the best guess, {best}, is right "
            "with a chance of {now} only; without what is known of them the guess {first} would have seemed right with "
            "a chance of {then}.",
            **parts,
        )
    return text(
        "The best guess at this {subject}'s {secret} is {best}, right with a chance of {now}; without what is known of "
        "them the best guess, {first}, would be right with a chance of {then}.",
        **parts,
    )


def _learned_discreetly(secret: TargetSecret, subject: str, told: Told) -> str:
    """Say it without the values, and without telling whether the best guess is another one than before."""
    after, before = secret.guess.posterior, secret.guess.prior
    now, then = told.chances(after, before)
    parts = {
        "subject": singular(subject),
        "secret": enumeration(secret.secret),
        "now": now,
        "then": then,
    }
    if before == 1:
        return text(
            "Nothing is learned of this {subject}'s {secret}: everybody in the release has the same.",
            **parts,
        )
    if secret.certain:
        return text(
            "What is known of this {subject} gives their {secret} away with certainty; without that knowledge the best "
            "guess would be right with a chance of {then}.",
            **parts,
        )
    if not _moved(secret):
        return text(
            "Nothing is learned of this {subject}'s {secret}: the best guess is right with a chance of {then}, as for "
            "anybody in the release.",
            **parts,
        )
    if told.alike(after, before):
        return text(
            "The best guess at this {subject}'s {secret} is about as likely to be right as the best one without what "
            "is known of them: with a chance of {then}.",
            **(parts | {"then": chance(before)}),
        )
    if after < before:
        return text(
            "Of this {subject}'s {secret} less is known than of people in general: the best guess is right with a "
            "chance of {now}; without what is known of them it would have seemed right with a chance of {then}.",
            **parts,
        )
    return text(
        "The best guess at this {subject}'s {secret} is right with a chance of {now}; without what is known of them it "
        "would be right with a chance of {then}.",
        **parts,
    )


def journalist_finding(
    journalist: Journalist, target: Target, subject: str, discretion: Discretion
) -> Finding:
    """Say what it comes to for somebody who does not know that the person is in the release."""
    presence, naming = journalist.presence, journalist.naming
    bound = _fitting_bound(target, journalist, discretion)
    few = discretion.hides(target.candidates) or bound is not None
    told = Told(few and not journalist.estimated)
    hidden = bound is not None and 0 < naming.posterior < 1
    named = more_than_one_in(bound) if bound is not None and hidden else chance(naming.posterior)
    parts = {
        "subject": singular(subject),
        "people": _who_fits(journalist, bound, subject),
        "register": str(journalist.register),
        "inside": discretion.count(target.candidates),
        "before": chance(presence.prior),
        "presence": told.chance(presence.posterior),
        "named": named,
    }
    sentence = _sentence(journalist, target, parts)
    absent = not target.candidates
    return Finding(
        Severity.NOTE
        if absent
        else graded(naming.posterior, certain=presence.posterior == 1 > presence.prior),
        sentence,
        figure=text(
            "being in the release: prior {before}, posterior {after}; naming the record: posterior {named}",
            before=ratio(presence.prior),
            after=told.ratio(presence.posterior),
            named=named if hidden else ratio(naming.posterior),
        ),
        meaning=""
        if absent
        else text(
            "The more people of the population fit, the less a record that fits says about this person."
        ),
    )


def journalist_section(journalist: Journalist, target: Target, discretion: Discretion) -> Section:
    """Return what it comes to for somebody who does not know that the person is in the release."""
    bound = _fitting_bound(target, journalist, discretion)
    few = bound is not None or discretion.hides(target.candidates)
    presence = Told(few and not journalist.estimated).cell(journalist.presence.posterior)
    exact = Told(rough=False)
    naming = journalist.naming
    rows = (
        (
            Cell(text("Number of people who may be meant")),
            _number_cell(journalist.population, reckoned=journalist.estimated),
            _fitting_cell(journalist, bound),
        ),
        (
            Cell(text("The person is in the release")),
            exact.cell(journalist.presence.prior),
            presence,
        ),
        (
            Cell(text("A record that she picks is the person's")),
            exact.cell(naming.prior),
            exact.cell(naming.posterior)
            if bound is None or naming.posterior in (0, 1)
            else Cell(f"> {exact.cell(Fraction(1, bound)).text}"),
        ),
    )
    return Section(
        text("If she does not know that the person is in the release"),
        intro=_counted(journalist),
        tables=(Table((Column(text("What")), *_journalist_columns(journalist)), (Group(rows),)),),
    )


def _fitting_bound(target: Target, journalist: Journalist, discretion: Discretion) -> int | None:
    """Return what the number of people who fit is below, where the number itself is not told."""
    if journalist.estimated:
        share = journalist.population / target.records
        return math.ceil(smallest_cell() * share) if discretion.hides(target.candidates) else None
    return smallest_cell() if discretion.hides(journalist.fitting) else None


def _people_fitting(count: Fraction) -> str:
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
        count=_people_fitting(fitting),
        people=singular(subject) if fitting == 1 else plural(subject),
    )


def _sentence(journalist: Journalist, target: Target, parts: dict[str, str]) -> str:
    if journalist.estimated:
        return text(
            "Someone who does not know whether this {subject} is in the release can only estimate: {people} of the "
            "population may fit, so that this {subject} is in it with an estimated chance of {presence}, and a record "
            "that fits is theirs with an estimated chance of {named}.",
            **parts,
        )
    if not target.candidates:
        return text(
            "Someone who does not know whether this {subject} is in the release learns that it does not hold them: "
            "nobody of {register} who may be meant ({people}) has a record in it.",
            **parts,
        )
    if journalist.presence.posterior == 1 and target.candidates == 1:
        return text(
            "Someone who does not know whether this {subject} is in the release learns that it holds them, for nobody "
            "else of {register} fits: the record is theirs for certain.",
            **parts,
        )
    if journalist.presence.posterior == 1:
        return text(
            "Someone who does not know whether this {subject} is in the release learns that it holds them: it holds "
            "everybody of {register} who may be meant ({people}).",
            **parts,
        )
    if journalist.assumed:
        return text(
            "Someone who does not know whether this {subject} is in the release reckons: of {register}, {people} may "
            "be meant, and the release holds {inside} of them. So this {subject} is in it with a chance of {presence} "
            "(before: {before}), and a record that fits is theirs with a chance of {named}. This assumes that what "
            "{register} does not tell is as frequent among those who are in the release as among those who are not.",
            **parts,
        )
    return text(
        "Someone who does not know whether this {subject} is in the release counts: of {register}, {people} may be "
        "meant, and the release holds {inside} of them. So this {subject} is in it with a chance of {presence} "
        "(before: {before}), and a record that fits is theirs with a chance of {named}.",
        **parts,
    )


def _journalist_columns(journalist: Journalist) -> tuple[Column, Column]:
    if not journalist.estimated:
        return before_and_after_columns()
    return (
        Column(text("Before, estimated"), numeric=True),
        Column(text("After, estimated"), numeric=True),
    )


def _fitting_cell(journalist: Journalist, bound: int | None) -> Cell:
    if bound is not None:
        return Cell(text("fewer than {smallest}", smallest=bound))
    reckoned = journalist.estimated or journalist.assumed
    return _number_cell(journalist.fitting, reckoned=reckoned)


def _number_cell(count: Fraction, *, reckoned: bool) -> Cell:
    said = _people_fitting(count)
    return Cell(text("about {figure}", figure=said) if reckoned else said)


def _counted(journalist: Journalist) -> str:
    """Say how the people who fit were counted."""
    if journalist.estimated:
        return text(
            "There is no register of the population: these figures are estimated, from the share of the population "
            "that is in the release."
        )
    if journalist.assumed:
        return text(
            "Counted in {register}, assuming that what it does not tell is as frequent among those who are in the "
            "release as among those who are not.",
            register=str(journalist.register),
        )
    return text("Counted in {register}.", register=str(journalist.register))
