"""The report of the attack on one person: in sentences, in pictures, in figures.

It is about one person, and personal data itself, as it says. Still it holds no value of a record: it tells how likely
the likeliest value of a secret is, the second likeliest and so on, before and after. These are ranked apart: beside its
share in the release, which anybody can count, a value would be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import takewhile

from glasshouse.language import text, text_for
from glasshouse.microdata.assessment import Leakage, value_text
from glasshouse.microdata.individual import Target, TargetSecret
from glasshouse.report.attacks import METHOD, target_label
from glasshouse.report.cells import (
    NOTHING,
    bar,
    gain_change,
    gain_titles,
    guess_titles,
    leakage_cells,
    text_table,
    three_digits,
    yes_cell,
)
from glasshouse.report.charts import before_and_after_columns, chance, shift_chart
from glasshouse.report.discretion import (
    Discretion,
    Told,
    personal,
    what_is_left_out,
)
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Group,
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
    is_naming_hidden,
    is_rough,
    journalist_section,
    known_columns,
    most_telling,
    naming_chance,
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
from glasshouse.table.treatment import Step

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
    return target_page(
        outcome,
        subject=question.subject,
        provenance=provenance,
        treatment=outcome.steps,
        currency=question.adversary.gain.currency,
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


def target_page(
    target: Target,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
    currency: str | None = None,
) -> Page:
    """Return the report of the attack on one person as a page.

    Args:
        target: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
        currency: What gains are counted in; None: they are plain numbers.
    """
    journalist = target.journalist
    gains = _gains_table(target, currency)
    sections = (
        Section(
            text("The attacks"),
            tables=(_attacks_table(target), *([gains] if gains is not None else [])),
        ),
        _beliefs_section(target),
        None if journalist is None else journalist_section(journalist, target, DISCREET),
        treatment_section(treatment, notes),
    )
    return Page(
        title=_title(target, subject),
        lead=text(
            "{records}, and one {subject} of whom this is known: {known}. This report is personal data.",
            records=counted(target.records, "record"),
            subject=singular(subject),
            known=known_columns(target),
        ),
        findings=target_findings(target, subject=subject),
        figures=tuple(
            _figure(secret, target) for secret in most_telling(target.secrets)[:MOST_SECRETS]
        ),
        sections=tuple(section for section in sections if section is not None),
        adversary=_adversary(target),
        limits=_limits(target),
        provenance=provenance,
        command="glasshouse target --study study.toml",
        method=METHOD if journalist is None else f"{METHOD}; {JOURNALIST}",
        glossary=(*_terms(target), *_words(target)),
    )


def _title(target: Target, subject: str) -> str:
    parts = {"datasets": listed(target.datasets), "subject": singular(subject)}
    if len(target.datasets) == 1:
        return text("What {datasets} tells of one {subject}", **parts)
    return text("What {datasets} tell of one {subject}", **parts)


def _ranked(secret: TargetSecret) -> list[tuple[Fraction, Fraction]]:
    """Return how probable the likeliest value is, the second likeliest, …: before and after, each ranked by itself."""
    before = sorted((belief.prior for belief in secret.values), reverse=True)
    after = sorted((belief.posterior for belief in secret.values), reverse=True)
    return list(zip(before, after, strict=True))


def _shown_ranks(secret: TargetSecret, most: int) -> list[tuple[str, Fraction, Fraction]]:
    """Return the likeliest values by their ranks, and all others together."""
    ranks = _ranked(secret)
    shown = ranks if len(ranks) <= most else ranks[: most - 1]
    rows = [
        (text("no. {rank}", rank=rank), before, after)
        for rank, (before, after) in enumerate(shown, start=1)
    ]
    others = ranks[len(shown) :]
    if others:
        before, after = (sum(column, Fraction(0)) for column in zip(*others, strict=True))
        rows.append((text("all {count} others", count=len(others)), before, after))
    return rows


def _ranks_table(secret: TargetSecret, told: Told, *, most: int, titled: bool = False) -> Table:
    rows = tuple(
        (Cell(label), Told(rough=False).cell(before), told.cell(after))
        for label, before, after in _shown_ranks(secret, most)
    )
    group = Group(rows)
    if titled:
        possible = sum(1 for _ in takewhile(lambda belief: belief.posterior, secret.values))
        note = text_for(
            len(secret.values),
            "{possible} of {count} value still possible",
            "{possible} of {count} values still possible",
            possible=possible,
        )
        group = Group(rows, title=enumeration(secret.secret), note=note)
    return Table(
        (Column(text("Value, the likeliest first")), *before_and_after_columns()), (group,)
    )


def _figure(secret: TargetSecret, target: Target) -> Figure:
    name = enumeration(secret.secret)
    told = Told(is_rough(target, DISCREET))
    shifts = [told.shift(*row) for row in _shown_ranks(secret, MOST_RANKS_DRAWN)]
    return Figure.of(
        shift_chart(
            shifts,
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
        table=_ranks_table(secret, told, most=MOST_RANKS_DRAWN),
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
            secret=parts["secret"],
            then=chance(before),
        )
    return text(
        "{secret}: the best guess is right with a chance of {now}; before it was {then}", **parts
    )


def _attacks_table(target: Target) -> Table:
    """Return each attack with its success."""
    told = Told(is_rough(target, DISCREET))
    naming = (
        _told_cells(target.naming, naming_chance(target, DISCREET))
        if is_naming_hidden(target, DISCREET)
        else leakage_cells(target.naming)
    )
    rows = [(Cell(target_label(()), mark=target.code), *naming, _certain(target.naming))]
    rows += [
        (
            Cell(target_label(secret.secret), mark=secret.code),
            *_secret_cells(secret, told),
            _certain(secret.guess),
        )
        for secret in target.secrets
    ]
    columns = (
        Column(text("Attack")),
        *(Column(title, numeric=True) for title in guess_titles()),
        Column(text("Certain")),
    )
    title = text("If the person is in the release")
    return Table(columns, (Group(tuple(rows)),), title=title)


def _certain(leakage: Leakage) -> Cell:
    return yes_cell(leakage.posterior == 1)


def _secret_cells(secret: TargetSecret, told: Told) -> tuple[Cell, ...]:
    guess = secret.guess
    if told.rough and guess.posterior < 1:
        return _told_cells(guess, told.chance(guess.posterior))
    return leakage_cells(guess)


def _told_cells(leakage: Leakage, after: str) -> tuple[Cell, ...]:
    """Return before and after, where what is added would tell more than may be told."""
    return leakage_cells(leakage)[0], Cell(after), NOTHING, NOTHING


def _gains_table(target: Target, currency: str | None) -> Table | None:
    """Return what each attack gains, where gains were given.

    What is gained of few people, or with certainty, would tell how many they are or which value it is.
    """
    rough = is_rough(target, DISCREET)
    gains: list[tuple[str, tuple[str, ...], Leakage | None, bool]]
    gains = [(target.code, (), target.naming_gain, rough)]
    gains += [(own.code, own.secret, own.gain, rough or own.certain) for own in target.secrets]
    rows = tuple(
        (Cell(target_label(secret), mark=code), *_gain_cells(gain, currency, hidden=hidden))
        for code, secret, gain, hidden in gains
        if gain is not None
    )
    if not rows:
        return None
    columns = (
        Column(text("Attack")),
        *(Column(title, numeric=True) for title in gain_titles()),
    )
    return Table(columns, (Group(rows),), title=text("What she gains"))


def _gain_cells(gain: Leakage, currency: str | None, *, hidden: bool) -> tuple[Cell, ...]:
    before, *others = leakage_cells(gain, currency=currency)
    return (before, *([Cell(text("not shown"))] * len(others) if hidden else others))


def _beliefs_section(target: Target) -> Section | None:
    """Return, per secret, how probable its values are before and after."""
    if not target.secrets:
        return None
    told = Told(is_rough(target, DISCREET))
    return Section(
        text("What she believes of this person"),
        intro=text(
            "How probable she holds the likeliest value, the second likeliest and so on; before and after are ranked "
            "apart."
        ),
        tables=tuple(
            _ranks_table(secret, told, most=MOST_RANKS_LISTED + 1, titled=True)
            for secret in target.secrets
        ),
    )


def _adversary(target: Target) -> tuple[str, ...]:
    knows = text(
        "The adversary knows the whole release and, of one person, {known}. What she knows is taken to be right.",
        known=known_columns(target),
    )
    if target.journalist is None:
        return knows, text("She knows that the person is in the release.")
    return knows, text(
        "What is said of the record and of secrets is for an adversary who knows that the person is in the release. "
        "One who does not know it has a finding and a section of her own."
    )


def _limits(target: Target) -> tuple[str, ...]:
    estimated = target.journalist is not None and target.journalist.estimated
    return (
        personal(),
        *what_is_left_out("glasshouse target --json"),
        text(
            "Every record that does not contradict what is known is a candidate, each as likely as the other unless "
            "the study gives weights; one that holds nothing but “*” of it only where no other fits."
        ),
        text(
            "The figures follow from counts (or from weights, where the study gives them) in this release, but for "
            "those that are said to be estimated."
        )
        if estimated
        else text(
            "The figures follow from counts (or from weights, where the study gives them) in this release; none is "
            "estimated."
        ),
    )


def _terms(target: Target) -> list[Term]:
    terms = [
        Term(text("Candidates"), text("The records that fit everything that is known.")),
        Term(
            text("Prosecutor"),
            text(
                "An adversary who knows that the person is in the release: the figures are hers unless said otherwise."
            ),
        ),
    ]
    if target.journalist is not None:
        terms.append(
            Term(
                text("Journalist"),
                text(
                    "An adversary who knows that the person is in the population, but not whether they are in the "
                    "release."
                ),
            )
        )
    return [
        *terms,
        Term(
            text("Certain"),
            text(
                "She is right with probability 1: there is one candidate, or all candidates have the same value."
            ),
        ),
        Term(
            text("Guess before, guess after"),
            text(
                "The probability that her best single guess is right, knowing the release alone, and knowing something "
                "of the person besides (prior and posterior Bayes vulnerability)."
            ),
        ),
        Term(
            text("Added, factor"),
            text(
                "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a "
                "factor below 1. On average over everybody in the release it cannot."
            ),
        ),
    ]


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
