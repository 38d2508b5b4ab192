"""The report of the attack on one person: in sentences, in pictures, in figures.

It is about one person, and personal data itself, as it says. Still it holds no value of a record: it tells how likely
the likeliest value of a secret is, the second likeliest and so on, before and after. These are ranked apart: beside its
share in the release, which anybody can count, a value would be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile

from glasshouse.language import text, text_for
from glasshouse.microdata.assessment import Leakage, value_text
from glasshouse.microdata.individual import Target, TargetSecret
from glasshouse.report.attacks import METHOD, target_label
from glasshouse.report.cells import (
    bar,
    bounded_leakage_cells,
    cell_table,
    explained,
    gain_change,
    gain_titles,
    guess_titles,
    leakage_cells,
    text_table,
    three_digits,
    yes_cell,
)
from glasshouse.report.charts import Shift, before_and_after_table, chance, rest_of, shift_chart
from glasshouse.report.discretion import Discretion, Told, personal, what_is_left_out
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.target.findings import (
    JOURNALIST,
    MOST_SECRETS,
    hidden_naming,
    is_rough,
    journalist_section,
    known_columns,
    most_telling,
    target_findings,
)
from glasshouse.report.words import (
    counted,
    enumeration,
    glossary,
    listed,
    singular,
)
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
