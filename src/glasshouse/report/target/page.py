"""The report of the attack on one person: in sentences, in pictures, in figures.

It is about one person, and personal data itself, as it says. Still it holds no value of a record: it tells how likely
the likeliest value of a secret is, the second likeliest and so on, before and after. These are ranked apart: beside its
share in the release, which anybody can count, a value would be known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile

from glasshouse.disclosure import smallest_cell
from glasshouse.language import number, printable, text, text_for
from glasshouse.microdata.assessment import Leakage, value_text
from glasshouse.microdata.individual import Journalist, Target, TargetSecret, Value
from glasshouse.report.attacks import METHOD, graded, target_label
from glasshouse.report.cells import (
    bar,
    bounded_leakage_cells,
    cell_table,
    explained,
    gain_change,
    gain_titles,
    guess_titles,
    leakage_cells,
    percent_cell,
    prior_and_posterior,
    text_table,
    three_digits,
    yes_cell,
)
from glasshouse.report.charts import (
    Shift,
    before_and_after_columns,
    before_and_after_table,
    chance,
    chances,
    rest_of,
    shift_chart,
)
from glasshouse.report.discretion import (
    Discretion,
    Told,
    more_than_one_in,
    personal,
    ratio,
    what_is_left_out,
)
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Finding,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    Term,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    glossary,
    listed,
    percentage,
    plural,
    rounded,
    singular,
)
from glasshouse.sources import MISSING
from glasshouse.study.target import TargetStudy

MOST_VALUES = 15
"""So many values of one person's secret a terminal shows; the others together."""
MOST_RANKS_DRAWN = 12
"""How many values of a secret a picture shows by themselves."""
MOST_RANKS_LISTED = 30
"""How many values of a secret a table shows by themselves."""
DISCREET = Discretion()
"""How a report speaks of few people."""


def page(outcome: Target, question: TargetStudy, *, provenance: Provenance) -> Page:
    """Return the report of the attack on one person."""
    subject, journalist = question.subject, outcome.journalist
    parts = {
        "datasets": listed(outcome.datasets),
        "subject": singular(subject),
        "records": counted(outcome.records, "record"),
        "known": known_columns(outcome),
    }
    told = Told(is_rough(outcome, DISCREET))
    gains = _gains_table(outcome, question.adversary.gain.currency)
    sections = (
        Section(
            text("The attacks"),
            tables=(_attacks_table(outcome, told), *([gains] if gains is not None else [])),
        ),
        _beliefs_section(outcome, told) if outcome.secrets else None,
        None if journalist is None else journalist_section(journalist, outcome, DISCREET),
        treatment_section(outcome.steps),
    )
    return Page(
        title=text("What {datasets} tells of one {subject}", **parts)
        if len(outcome.datasets) == 1
        else text("What {datasets} tell of one {subject}", **parts),
        lead=text(
            "{records}, and one {subject} of whom this is known: {known}. This report is personal data.",
            **parts,
        ),
        findings=target_findings(outcome, subject=subject),
        figures=tuple(
            _figure(secret, told) for secret in most_telling(outcome.secrets)[:MOST_SECRETS]
        ),
        sections=tuple(filter(None, sections)),
        adversary=(
            text(
                "The adversary knows the whole release and, of one person, {known}. What she knows is taken to be "
                "right.",
                **parts,
            ),
            text("She knows that the person is in the release.")
            if journalist is None
            else text(
                "What is said of the record and of secrets is for an adversary who knows that the person is in the "
                "release. One who does not know it has a finding and a section of her own."
            ),
        ),
        limits=(
            personal(),
            *what_is_left_out("glasshouse target --json"),
            text(
                "Every record that does not contradict what is known is a candidate, each as likely as the other "
                "unless the study gives weights; one that holds nothing but “*” of it only where no other fits."
            ),
            text(
                "The figures follow from counts (or from weights, where the study gives them) in this release, but for "
                "those that are said to be estimated."
            )
            if journalist is not None and journalist.estimated
            else text(
                "The figures follow from counts (or from weights, where the study gives them) in this release; none is "
                "estimated."
            ),
        ),
        provenance=provenance,
        command="glasshouse target --study study.toml",
        method=METHOD if journalist is None else f"{METHOD}; {JOURNALIST}",
        glossary=(*explained(_terms(outcome)), *_words(outcome)),
    )


def brief(outcome: Target, question: TargetStudy) -> Brief:
    """Return what a terminal says of one person, exactly."""
    fitting = text_for(
        outcome.candidates,
        "{datasets}: {records}, of which {count} fits what is known",
        "{datasets}: {records}, of which {count} fit what is known",
        datasets=", ".join(outcome.datasets),
        records=counted(outcome.records, "record"),
    )
    currency = question.adversary.gain.currency
    return Brief(
        (
            fitting,
            *treatment_blocks(outcome.steps),
            *(_secret_table(secret, currency) for secret in outcome.secrets),
        ),
        target_findings(outcome, subject=question.subject, exact=True),
    )


def _secret_table(secret: TargetSecret, currency: str | None) -> Table:
    """Return the most probable values of one person's secret, before and after."""
    title = f"{secret.code} {target_label((secret.sensitive,))}"
    if secret.gain is not None:
        title = text(
            "{attack}; gain {gain} by {action}",
            attack=title,
            gain=gain_change(secret.gain, currency),
            action=value_text(secret.best_action),
        )
    rows = [
        (
            value_text(belief.value),
            three_digits(belief.prior),
            three_digits(belief.posterior),
            bar(Leakage(Fraction(0), belief.posterior)),
        )
        for belief in secret.values[:MOST_VALUES]
    ]
    rest = secret.values[MOST_VALUES:]
    if rest:
        before = sum((belief.prior for belief in rest), Fraction(0))
        after = sum((belief.posterior for belief in rest), Fraction(0))
        others = text_for(len(rest), "{count} other", "{count} others")
        rows.append((others, three_digits(before), three_digits(after), ""))
    return text_table(title, secret.sensitive, (text("before"), text("after"), ""), rows)


def _shown_ranks(secret: TargetSecret, most: int) -> list[Shift]:
    """Return how probable the likeliest value is, the second likeliest, …, and all others together.

    Before and after are each ranked by themselves.
    """
    before = sorted((belief.prior for belief in secret.values), reverse=True)
    after = sorted((belief.posterior for belief in secret.values), reverse=True)
    shown = most - 1 if len(before) > most else most
    shifts = [
        Shift(text("no. {rank}", rank=rank), *chances)
        for rank, chances in enumerate(zip(before[:shown], after[:shown], strict=True), start=1)
    ]
    others = len(before) - len(shifts)
    if others:
        shifts.append(rest_of(shifts, text("all {count} others", count=others)))
    return shifts


def _ranks_table(shifts: Sequence[Shift], told: Told) -> Table:
    rows = ((label, before, told.cell(after)) for label, before, after in shifts)
    return before_and_after_table(text("Value, the likeliest first"), rows)


def _figure(secret: TargetSecret, told: Told) -> Figure:
    name = enumeration(secret.secret)
    shifts = _shown_ranks(secret, MOST_RANKS_DRAWN)
    return Figure.of(
        shift_chart(
            [told.shift(*shift) for shift in shifts],
            title=_finding(secret, told),
            subtitle=text(
                "how probable the likeliest value of {secret} is, the second likeliest, and so on",
                secret=name,
            ),
        ),
        label=text("How probable the values of {secret} are, before and after", secret=name),
        caption=text(
            "“Before”: shares in the whole release. “After”: shares among the records that fit what is known. Each is "
            "ranked by itself: no. 1 after may be another value than no. 1 before. Which values they are is not told."
        ),
        table=_ranks_table(shifts, told),
    )


def _finding(secret: TargetSecret, told: Told) -> str:
    after, before = secret.guess.posterior, secret.guess.prior
    now, then = told.chances(after, before)
    parts = {"secret": enumeration(secret.secret), "now": now, "then": then}
    if secret.certain and before < 1:
        return text("{secret}: certain, instead of a chance of {then} for the best guess", **parts)
    if told.alike(after, before):
        return text(
            "{secret}: the best guess is right with a chance of {then}, as before",
            **(parts | {"then": chance(before)}),
        )
    return text(
        "{secret}: the best guess is right with a chance of {now}; before it was {then}", **parts
    )


def _attacks_table(target: Target, told: Told) -> Table:
    """Return each attack with its success, or as much as may be told of it."""
    attacks: list[tuple[str, tuple[str, ...], Leakage, str | None]] = [
        (target.code, (), target.naming, hidden_naming(target, DISCREET))
    ]
    for secret in target.secrets:
        guess = secret.guess
        bounded = told.chance(guess.posterior) if told.rough and not secret.certain else None
        attacks.append((secret.code, secret.secret, guess, bounded))
    rows = [
        (
            Cell(target_label(secret), mark=code),
            *(leakage_cells(guess) if after is None else bounded_leakage_cells(guess, after)),
            yes_cell(guess.posterior == 1),
        )
        for code, secret, guess, after in attacks
    ]
    return cell_table(
        text("Attack"),
        (*guess_titles(), Column(text("Certain"))),
        rows,
        text("If the person is in the release"),
    )


def _gains_table(target: Target, currency: str | None) -> Table | None:
    """Return what each attack gains, where gains were given.

    What is gained of few people, or with certainty, would tell how many they are or which value it is.
    """
    rough = is_rough(target, DISCREET)
    gains: list[tuple[str, tuple[str, ...], Leakage | None, bool]]
    gains = [(target.code, (), target.naming_gain, rough)]
    gains += [
        (secret.code, secret.secret, secret.gain, rough or secret.certain)
        for secret in target.secrets
    ]
    rows = []
    for code, secret, gain, hidden in gains:
        if gain is None:
            continue
        before, *others = leakage_cells(gain, currency=currency)
        shown = [Cell(text("not shown"))] * len(others) if hidden else others
        rows.append((Cell(target_label(secret), mark=code), before, *shown))
    return cell_table(text("Attack"), gain_titles(), rows, text("What she gains")) if rows else None


def _beliefs_section(target: Target, told: Told) -> Section:
    """Return, per secret, how probable its values are before and after."""
    return Section(
        text("What she believes of this person"),
        intro=text(
            "How probable she holds the likeliest value, the second likeliest and so on; before and after are ranked "
            "apart."
        ),
        tables=tuple(_beliefs_table(secret, told) for secret in target.secrets),
    )


def _beliefs_table(secret: TargetSecret, told: Told) -> Table:
    table = _ranks_table(_shown_ranks(secret, MOST_RANKS_LISTED + 1), told)
    note = text_for(
        len(secret.values),
        "{possible} of {count} value still possible",
        "{possible} of {count} values still possible",
        possible=sum(1 for _ in takewhile(lambda belief: belief.posterior, secret.values)),
    )
    (group,) = table.groups
    named = replace(group, title=enumeration(secret.secret), note=note)
    return replace(table, groups=(named,))


def _terms(target: Target) -> dict[str, str]:
    terms = {
        text("Candidates"): text("The records that fit everything that is known."),
        text("Prosecutor"): text(
            "An adversary who knows that the person is in the release: the figures are hers unless said otherwise."
        ),
    }
    if target.journalist is not None:
        terms[text("Journalist")] = text(
            "An adversary who knows that the person is in the population, but not whether they are in the release."
        )
    return terms | {
        text("Certain"): text(
            "She is right with probability 1: there is one candidate, or all candidates have the same value."
        ),
        text("Guess before, guess after"): text(
            "The probability that her best single guess is right, knowing the release alone, and knowing something of "
            "the person besides (prior and posterior Bayes vulnerability)."
        ),
        text("Added, factor"): text(
            "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a "
            "factor below 1. On average over everybody in the release it cannot."
        ),
    }


def _words(target: Target) -> tuple[Term, ...]:
    return glossary(
        "adversary",
        "target",
        "record",
        "release",
        "vulnerability",
        "leakage",
        "re-identification",
        *(["sensitive attribute", "attribute inference"] if target.secrets else []),
        *(["gain function"] if any(own.gain for own in target.secrets) else []),
    )


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
    findings = [_fitting(target, subject, discretion)]
    if target.suppressed:
        sentence = text_for(
            target.suppressed,
            "{count} further record is suppressed, with nothing but “*” of what is known of this {subject}: it may be "
            "theirs.",
            "{count} further records are suppressed, with nothing but “*” of what is known of this {subject}: one of "
            "them may be theirs.",
            subject=singular(subject),
        )
        findings.append(Finding(Severity.NOTE, sentence))
    secrets = most_telling(target.secrets)
    findings += [_learned(secret, target, subject, discretion) for secret in secrets[:MOST_SECRETS]]
    if len(secrets) > MOST_SECRETS:
        sentence = text_for(
            len(secrets) - MOST_SECRETS,
            "What is learned of {count} further secret is in a table.",
            "What is learned of {count} further secrets is in a table.",
        )
        findings.append(Finding(Severity.NOTE, sentence))
    if target.journalist is not None:
        findings.append(_not_knowing(target.journalist, target, subject, discretion))
    return tuple(findings)


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


def hidden_naming(target: Target, discretion: Discretion) -> str | None:
    """Say that a guess at the record is likelier right than a bound, where its chance would tell how few records fit.

    The likeliest of n candidates is the person's with a probability of at least 1/n. Certainty is told.
    """
    if target.naming.posterior < 1 and is_rough(target, discretion):
        return more_than_one_in(smallest_cell())
    return None


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
    """Say how many records may be the person's, graded by how likely a guess at it is right."""
    sentence = _fitting_sentence(target, subject, discretion)
    if not target.candidates:
        return Finding(
            Severity.SAFE,
            sentence,
            text("candidates: {count}", count=0),
            text("This holds if what is known is right."),
        )
    naming, journalist = target.naming, target.journalist
    severity = graded((naming if journalist is None else journalist.naming).posterior)
    nothing = target.candidates == target.records > 1
    exposed = severity != Severity.LOW and not nothing
    posterior = hidden_naming(target, discretion) or ratio(naming.posterior)
    return Finding(
        Severity.SAFE if nothing and severity == Severity.LOW else severity,
        _with_caveats(sentence[:1].upper() + sentence[1:], target, subject),
        prior_and_posterior(target.code, ratio(naming.prior), posterior),
        _fitting_means(target),
        text(
            "Publish {known} in less detail, so that more records fit; glasshouse anonymise does so for everybody.",
            known=known_columns(target),
        )
        if exposed
        else "",
    )


def _fitting_sentence(target: Target, subject: str, discretion: Discretion) -> str:
    now, before = chances(target.naming.posterior, target.naming.prior)
    parts = {
        "subject": singular(subject),
        "known": known_columns(target),
        "records": counted(target.records, "record"),
        "candidates": discretion.count(target.candidates),
        "after": hidden_naming(target, discretion) or now,
        "before": before,
    }
    if not target.candidates:
        return text(
            "None of the {records} fits what is known of this {subject} ({known}): this {subject} is not in the "
            "release.",
            **parts,
        )
    if target.records == 1:
        return text(
            "The release holds a single record, and it fits what is known of this {subject} ({known}): this {subject} "
            "is named with certainty.",
            **parts,
        )
    if target.candidates == 1:
        return text(
            "What is known of this {subject} ({known}) singles out one of the {records}: this {subject} is named with "
            "certainty.",
            **parts,
        )
    if target.candidates == target.records:
        return text(
            "All of the {records} fit what is known of this {subject} ({known}): it rules out nobody, and a guess at "
            "the record is right with a chance of {after}, as before.",
            **(parts | {"after": chance(target.naming.posterior)}),
        )
    return text(
        "{candidates} of the {records} fit what is known of this {subject} ({known}): a guess at which is theirs is "
        "right with a chance of {after}; without that knowledge it would be {before}.",
        **parts,
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


def _learned(secret: TargetSecret, target: Target, subject: str, discretion: Discretion) -> Finding:
    """Say how good the best guess of a secret is, before and after; to the analyst also which guess it is."""
    told = Told(is_rough(target, discretion))
    after, before = secret.guess.posterior, secret.guess.prior
    alike = told.alike(after, before)
    now, then = (chance(before), chance(before)) if alike else told.chances(after, before)
    parts = {
        "subject": singular(subject),
        "secret": enumeration(secret.secret),
        "now": now,
        "then": then,
    }
    say = _learned_exactly if discretion.exact else _learned_discreetly
    sentence = say(secret, parts, alike=alike)
    severity = Severity.HIGH if secret.certain else graded(secret.guess.additive)
    return Finding(
        severity if _moved(secret) else Severity.SAFE,
        sentence if before == 1 else _with_caveats(sentence, target, subject),
        prior_and_posterior(secret.code, ratio(before), told.ratio(after)),
        _learned_means(secret, target),
        text(
            "Protect the secret itself: l-diversity or t-closeness, or Anatomy, besides k-anonymity."
        )
        if after > before
        else "",
    )


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


def _learned_exactly(secret: TargetSecret, parts: dict[str, str], *, alike: bool) -> str:
    """Say it with the values."""
    (value, after), (former, before) = secret.best, secret.prior_best
    parts = parts | {"best": _quoted(value), "first": _quoted(former)}
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
    if alike:
        return text(
            "The best guess at this {subject}'s {secret} is {best}, about as likely to be right as the best one "
            "without what is known of them, {first}: with a chance of {now}.",
            **parts,
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


def _learned_discreetly(secret: TargetSecret, parts: dict[str, str], *, alike: bool) -> str:
    """Say it without the values, and without telling whether the best guess is another one than before."""
    after, before = secret.guess.posterior, secret.guess.prior
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
    if alike:
        return text(
            "The best guess at this {subject}'s {secret} is about as likely to be right as the best one without what "
            "is known of them: with a chance of {then}.",
            **parts,
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


def _not_knowing(
    journalist: Journalist, target: Target, subject: str, discretion: Discretion
) -> Finding:
    """Say what it comes to for somebody who does not know that the person is in the release."""
    presence, naming = journalist.presence, journalist.naming
    bound, told = _told_of(journalist, target, discretion)
    hidden = None if bound is None or naming.posterior in (0, 1) else more_than_one_in(bound)
    sentence = _not_knowing_sentence(
        journalist,
        target,
        {
            "subject": singular(subject),
            "people": _who_fits(journalist, bound, subject),
            "register": str(journalist.register),
            "inside": discretion.count(target.candidates),
            "before": chance(presence.prior),
            "presence": told.chance(presence.posterior),
            "named": hidden or chance(naming.posterior),
        },
    )
    severity = graded(naming.posterior, certain=presence.posterior == 1 > presence.prior)
    return Finding(
        severity if target.candidates else Severity.NOTE,
        _unless_suppressed(sentence, target),
        text(
            "being in the release: prior {before}, posterior {after}; naming the record: posterior {named}",
            before=ratio(presence.prior),
            after=told.ratio(presence.posterior),
            named=hidden or ratio(naming.posterior),
        ),
        text(
            "The more people of the population fit, the less a record that fits says about this person."
        )
        if target.candidates
        else "",
    )


def journalist_section(journalist: Journalist, target: Target, discretion: Discretion) -> Section:
    """Return what it comes to for somebody who does not know that the person is in the release."""
    bound, told = _told_of(journalist, target, discretion)
    presence, naming = journalist.presence, journalist.naming
    population, fitting = (
        _people_fitting(people) for people in (journalist.population, journalist.fitting)
    )
    if journalist.estimated:
        population = text("about {figure}", figure=population)
    if bound is not None:
        fitting = text("fewer than {smallest}", smallest=bound)
    elif journalist.estimated or journalist.assumed:
        fitting = text("about {figure}", figure=fitting)
    rows = (
        (Cell(text("Number of people who may be meant")), Cell(population), Cell(fitting)),
        (
            Cell(text("The person is in the release")),
            percent_cell(presence.prior),
            told.cell(presence.posterior),
        ),
        (
            Cell(text("A record that she picks is the person's")),
            percent_cell(naming.prior),
            percent_cell(naming.posterior)
            if bound is None or naming.posterior in (0, 1)
            else Cell(f"> {percentage(Fraction(1, bound))}"),
        ),
    )
    columns = (
        (text("Before, estimated"), text("After, estimated"))
        if journalist.estimated
        else before_and_after_columns()
    )
    return Section(
        text("If she does not know that the person is in the release"),
        intro=_counted(journalist),
        tables=(cell_table(text("What"), columns, rows),),
    )


def _told_of(
    journalist: Journalist, target: Target, discretion: Discretion
) -> tuple[int | None, Told]:
    """Return what the number of people who fit is below, where it is not told, and how being in is told."""
    few = discretion.hides(target.candidates)
    if journalist.estimated:
        share = journalist.population / target.records
        return math.ceil(smallest_cell() * share) if few else None, Told(rough=False)
    bound = smallest_cell() if discretion.hides(journalist.fitting) else None
    return bound, Told(few or bound is not None)


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


def _not_knowing_sentence(journalist: Journalist, target: Target, parts: dict[str, str]) -> str:
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
