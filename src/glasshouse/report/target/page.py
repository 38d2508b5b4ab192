"""The report of the attack on one person: in sentences, in pictures, in figures.

It is about one person, and personal data itself, as it says. Still it holds no value of a record: it tells how likely
the likeliest value of a secret is, the second likeliest and so on, before and after. These are ranked apart: beside its
share in the release, which anybody can count, a value would be known. For the analyst, on the terminal, sentences are
exact and name values (`Discretion`): the page comes first here, then the findings, then those about a journalist.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile

from glasshouse.disclosure import smallest_cell
from glasshouse.language import marked, number, printable, text, text_for, translated
from glasshouse.microdata.assessment import Leakage, value_text
from glasshouse.microdata.individual import Belief, Journalist, Target, TargetSecret, Value
from glasshouse.report.assess.front import less_detail_command
from glasshouse.report.attacks import METHOD, protect_the_secret, target_label
from glasshouse.report.cells import (
    NOTHING,
    bar,
    before_and_after,
    cell_table,
    gain_change,
    gain_titles,
    guess_titles,
    leakage_cells,
    percent_cell,
    three_digits,
    yes_cell,
)
from glasshouse.report.charts import (
    Shift,
    before_and_after_table,
    rest_of,
    shift_figure,
)
from glasshouse.report.discretion import (
    EXACTLY,
    Among,
    Discretion,
    both_percentages,
    in_words,
    more_than_one_in,
    personal,
    ratio,
    what_is_left_out,
)
from glasshouse.report.labels import column_label, value_label
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
    Tile,
    note,
    reassurance,
    remedies,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    counted,
    either,
    enumeration,
    glossary,
    listed,
    percentage,
    percentages,
    plural,
    rounded,
    sentences,
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
ADVERSARY = marked(
    "The adversary knows the whole release and, of one person, {known}. What she knows is taken to be right."
)
IN_RELEASE = marked("She knows that the person is in the release.")
MAY_BE_IN_RELEASE = marked(
    "What is said of the record and of secrets is for an adversary who knows that the person is in the release. One "
    "who does not know it has a finding and a section of her own."
)
CANDIDATES = marked(
    "Every record that does not contradict what is known is a candidate, each as likely as the other unless the study "
    "gives weights; one that holds nothing but “*” of it only where no other fits."
)
FIGURES = {
    True: marked(
        "The figures follow from counts (or from weights, where the study gives them) in this release, but for those "
        "that are said to be estimated."
    ),
    False: marked(
        "The figures follow from counts (or from weights, where the study gives them) in this release; none is "
        "estimated."
    ),
}
"""What the figures follow from, by whether some are estimated."""
TERMS = {
    marked("Candidates"): marked("The records that fit everything that is known."),
    marked("Certain"): marked(
        "She is right with probability 1: there is one candidate, or all candidates have the same value."
    ),
    marked("Guess before, guess after"): marked(
        "The probability that her best single guess is right, knowing the release alone, and knowing something of the "
        "person besides (prior and posterior Bayes vulnerability)."
    ),
    marked("Added, factor"): marked(
        "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a factor "
        "below 1. On average over everybody in the release it cannot."
    ),
}
"""The words of the report, explained."""


def page(outcome: Target, question: TargetStudy, *, provenance: Provenance) -> Page:
    """Return the report of the attack on one person."""
    journalist = outcome.journalist
    words = {
        "datasets": listed(outcome.datasets),
        "records": counted(outcome.records, "record"),
        "known": known_columns(outcome),
    }
    outcome = as_told(outcome)
    findings = target_findings(outcome, subject=question.subject, drawn=True)
    beliefs = Section(
        text("What she believes of this person"),
        intro=text(
            "How probable she holds the likeliest value, the second likeliest and so on; before and after are ranked "
            "apart."
        ),
        tables=tuple(_beliefs_table(secret, outcome) for secret in outcome.secrets),
    )
    sections = (
        Section(
            text("The attacks"),
            tables=(
                _attacks_table(outcome),
                *_gains_tables(outcome, question.adversary.gain.currency),
            ),
        ),
        beliefs if outcome.secrets else None,
        None if journalist is None else journalist_section(journalist, outcome, DISCREET),
        treatment_section(outcome.steps, missing_notes(_missing(outcome))),
    )
    return Page(
        title=text("What {datasets} tells of one person", **words)
        if len(outcome.datasets) == 1
        else text("What {datasets} tell of one person", **words),
        lead=text(
            "{records}; what is known of one person: {known}. This report is personal data.",
            **words,
        ),
        findings=findings,
        summary=_summary(outcome),
        tiles=tuple(_tiles(outcome)),
        actions=remedies(
            findings, {less_detail(outcome): less_detail_command(question, outcome.known)}
        ),
        sections=tuple(filter(None, sections)),
        adversary=sentences(
            ADVERSARY, IN_RELEASE if journalist is None else MAY_BE_IN_RELEASE, **words
        ),
        limits=(
            personal(),
            *what_is_left_out("glasshouse target --json"),
            *sentences(CANDIDATES, FIGURES[journalist is not None and journalist.estimated]),
        ),
        provenance=provenance,
        command="glasshouse target --study study.toml",
        method=METHOD if journalist is None else f"{METHOD}; {JOURNALIST}",
        glossary=glossary(
            "adversary, target, record, release, vulnerability, leakage, re-identification",
            bool(outcome.secrets) and "sensitive attribute, attribute inference",
            any(secret.gain for secret in outcome.secrets) and "gain function",
            "prosecutor risk",
            journalist is not None and "journalist risk",
            terms=(TERMS,),
        ),
    )


def _summary(target: Target) -> str:
    """Say in one sentence whether the person can be found, and whether a secret is certain all the same."""
    if target.candidates == target.records:
        return ""
    if not target.candidates:
        template = marked("No record fits what is known: this person is not in the release.")
    elif target.candidates == 1:
        template = marked("This person can be found: only one of the {records} fits what is known.")
    elif is_rough(target, DISCREET):
        template = marked("This person can be found among fewer than {smallest} of the {records}.")
    else:
        template = marked(
            "This person cannot be told apart among the {candidates} of {records} that fit what is known."
        )
    certain = [
        secret.secret for secret in target.secrets if secret.certain and secret.guess.additive
    ]
    phrases = sentences(
        template,
        target.candidates > 1 and bool(certain) and marked("Yet {secret} is certain."),
        records=counted(target.records, "record"),
        smallest=smallest_cell(),
        candidates=number(target.candidates),
        secret=enumeration(certain[0]) if certain else "",
    )
    return _with_caveats(" ".join(phrases), target) if target.candidates else " ".join(phrases)


def _tiles(target: Target) -> Iterator[Tile]:
    """Yield whether the person can be found, what is given away, and how little is known or how likely they are in."""
    if is_rough(target, DISCREET) and target.candidates > 1:
        figure = f"< {counted(smallest_cell(), 'record')}"
    else:
        figure = counted(target.candidates, "record")
    yield Tile(
        text("Can this person be found?"),
        figure,
        text_for(
            target.candidates,
            "fits what is known, of {records} in all",
            "fit what is known, of {records} in all",
            records=number(target.records),
        ),
    )
    changes = [
        (enumeration(secret.secret), change)
        for secret in most_telling(target.secrets)
        if (change := _change(secret, target))
    ]
    if changes:
        (name, change), *further = changes
        sentence = text("right guesses of {secret}, before and after", secret=name)
        if further:
            name, other = further[0]
            sentence = text(
                "{first}; of {secret}: {change}", first=sentence, secret=name, change=other
            )
        yield Tile(text("What is given away"), change, sentence)
    journalist = target.journalist
    wording = EXACTLY if journalist is None else _told_of(journalist, target, DISCREET)[1]
    if journalist is None or wording.hides(journalist.presence.posterior):
        yield Tile(
            text("How little is known"),
            text_for(len(target.known), "{count} fact", "{count} facts"),
            known_columns(target),
        )
        return
    template = (
        marked("is the estimated chance that they are in the release")
        if journalist.estimated
        else marked("is the chance that they are in the release; before: {before}")
    )
    yield Tile(
        text("Is this person in it?"),
        percentage(journalist.presence.posterior),
        translated(template, before=percentage(journalist.presence.prior)),
    )


def _change(secret: TargetSecret, target: Target) -> str:
    """Say how often the best guess at a secret is right before and after; nothing where that is not told."""
    everybody, wording = wordings(secret, target)
    before, after = secret.guess.prior, secret.guess.posterior
    if everybody.hides(before) or wording.hides(after):
        return ""
    return " → ".join(percentages(before, after))


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
            *treatment_blocks(outcome.steps, _missing_exactly(outcome)),
            *(_secret_table(secret, currency) for secret in outcome.secrets),
        ),
        target_findings(outcome, subject=question.subject, exact=True),
    )


def _missing(outcome: Target) -> dict[str, int]:
    """Return by secret in how many records it is missing, if in any."""
    return {secret.sensitive: secret.missing for secret in outcome.secrets if secret.missing}


def _missing_exactly(outcome: Target) -> list[str]:
    """Say the same to the analyst, and of how many records that fit."""
    notes = missing_notes(_missing(outcome), exact=True)
    return notes + [
        text(
            "The {secret} of {records} of those that fit is missing.",
            secret=enumeration(secret.secret),
            records=counted(secret.missing_candidates, "record"),
        )
        for secret in outcome.secrets
        if secret.missing_candidates
    ]


def _secret_table(secret: TargetSecret, currency: str | None) -> Table:
    """Return the most probable values of one person's secret, before and after."""
    title = f"{secret.code} {target_label(secret.secret)}"
    if secret.gain is not None:
        title = text(
            "{attack}; gain {gain} by {action}",
            attack=title,
            gain=gain_change(secret.gain, currency),
            action=value_text(value_label(secret.secret, secret.best_action)),
        )
    rows = [
        (
            value_text(value_label(secret.secret, belief.value)),
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
        further = text_for(len(rest), "{count} other", "{count} others")
        rows.append((further, three_digits(before), three_digits(after), ""))
    title_of = "+".join(map(column_label, secret.secret))
    return cell_table(title_of, (text("before"), text("after"), ""), rows, title)


def as_told(target: Target) -> Target:
    """Return an outcome that is the same for all that looks the same in a report, so that no sentence tells more.

    Of few candidates it is told whether they are one, and of a secret between which bounds the best guess is.
    """
    secrets = tuple(_secret_as_told(secret, target) for secret in target.secrets)
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
    bound, wording = _told_of(journalist, target, DISCREET)
    presence = replace(journalist.presence, posterior=wording.drawn(journalist.presence.posterior))
    naming = journalist.naming if bound is None else _one_of_two(journalist.naming)
    return replace(journalist, presence=presence, naming=naming)


def _all_told(chances: Sequence[Fraction], wording: Among) -> bool:
    """Tell whether no value is had by so few of some people that it may not be told how many."""
    people = wording.people
    return people is not None and not any(DISCREET.hides(chance * people) for chance in chances)


def _shown_ranks(secret: TargetSecret, everybody: Among, wording: Among, most: int) -> list[Shift]:
    """Return how probable the likeliest value is, the second likeliest, …, and all others together.

    Before and after are each ranked by themselves. Where one may not be told, the likeliest stands alone.
    """
    before = sorted((belief.prior for belief in secret.values), reverse=True)
    after = sorted((belief.posterior for belief in secret.values), reverse=True)
    is_told = _all_told(before, everybody) and _all_told(after, wording)
    if not is_told:  # what stands for the chances of others may be more than for the likeliest
        after = [secret.guess.posterior]
    ranks = (most - 1 if len(before) > most else most) if is_told else 1
    shifts = [
        Shift(text("no. {rank}", rank=rank), *chances)
        for rank, chances in enumerate(zip(before[:ranks], after[:ranks], strict=True), start=1)
    ]
    further = len(before) - len(shifts)
    if further and is_told:
        shifts.append(rest_of(shifts, text("all {count} others", count=further)))
    return shifts


def _beliefs_table(secret: TargetSecret, target: Target) -> Table:
    """Return how probable the values of a secret are, before and after."""
    everybody, wording = wordings(secret, target)
    possible = sum(1 for _ in takewhile(lambda belief: belief.posterior, secret.values))
    remark = text_for(
        len(secret.values),
        "{possible} of {count} value still possible",
        "{possible} of {count} values still possible",
        possible=possible,
    )
    shifts = _shown_ranks(secret, everybody, wording, MOST_RANKS_LISTED + 1)
    table = before_and_after_table(_likeliest_first(), shifts, everybody, wording)
    (group,) = table.groups
    all_told = len(shifts) in (len(secret.values), MOST_RANKS_LISTED + 1)
    named = replace(group, title=enumeration(secret.secret), note=remark if all_told else "")
    return replace(table, groups=(named,))


def _figure(secret: TargetSecret, target: Target) -> Figure | None:
    """Show how probable the values of a secret are; nothing where there is no more to see than a sentence says."""
    everybody, wording = wordings(secret, target)
    shifts = _shown_ranks(secret, everybody, wording, MOST_RANKS_DRAWN)
    if len(shifts) == 1:
        return None
    name, after, before = enumeration(secret.secret), secret.guess.posterior, secret.guess.prior
    now, then = both_percentages((wording, after), (everybody, before))
    if secret.certain and before < 1:
        title = marked("{secret} is certain; before, a guess was right in {then} of cases")
    elif percentage(after) == percentage(before):
        title = marked("A guess at {secret} is right in {then} of cases, as before")
        then = in_words(percentage(before))
    else:
        title = marked("A guess at {secret} is right in {now} of cases; before, in {then}")
    return shift_figure(
        _likeliest_first(),
        shifts,
        (everybody, wording),
        title=translated(title, secret=name, now=now, then=then),
        subtitle=text(
            "how probable the likeliest value of {secret} is, the second likeliest, and so on",
            secret=name,
        ),
        label=text("How probable the values of {secret} are, before and after", secret=name),
        caption=text(
            "“Before”: shares in the whole release. “After”: shares among the records that fit what is known. Each is "
            "ranked by itself: no. 1 after may be another value than no. 1 before. Which values they are is not told."
        ),
    )


def _likeliest_first() -> str:
    return text("Value, the likeliest first")


def _attacks_table(target: Target) -> Table:
    """Return each attack with its success, or as much as may be told of it."""
    naming = target.naming
    before, *added = leakage_cells(naming)
    hidden = hidden_naming(target, DISCREET)
    cells = [before, *([Cell(hidden), NOTHING, NOTHING] if hidden else added)]
    attacks: list[tuple[str, tuple[str, ...], Leakage, Sequence[Cell]]]
    attacks = [(target.code, (), naming, cells)]
    for secret in target.secrets:
        guess, (everybody, wording) = secret.guess, wordings(secret, target)
        if everybody.hides(guess.prior) or wording.hides(guess.posterior):
            cells = [everybody.cell(guess.prior), wording.cell(guess.posterior), NOTHING, NOTHING]
        else:
            cells = [*leakage_cells(guess)]
        attacks.append((secret.code, secret.secret, guess, cells))
    rows = [
        (Cell(target_label(names), mark=code), *cells, yes_cell(guess.posterior == 1))
        for code, names, guess, cells in attacks
    ]
    columns: tuple[str | Column, ...] = (*guess_titles(), Column(text("Certain")))
    return cell_table(text("Attack"), columns, rows, text("If the person is in the release"))


def _gains_tables(target: Target, currency: str | None) -> Iterator[Table]:
    """Yield what each attack gains, where gains were given.

    What is gained of few people, or with certainty, would tell how many they are or which value it is.
    """
    gains: list[tuple[str, tuple[str, ...], Leakage | None, bool, bool]]
    few = among_candidates(target, DISCREET).rough
    gains = [(target.code, (), target.naming_gain, few, False)]
    for secret in target.secrets:
        everybody, wording = wordings(secret, target)
        after_hidden = secret.certain or wording.rough or wording.hides(secret.guess.posterior)
        before_hidden = everybody.hides(secret.guess.prior)
        gains.append((secret.code, secret.secret, secret.gain, after_hidden, before_hidden))
    rows = []
    for code, names, gain, after_hidden, before_hidden in gains:
        if gain is not None:
            cells = leakage_cells(gain, currency=currency)
            first = 0 if before_hidden else 1 if after_hidden else len(cells)
            hidden = [Cell(text("not shown"))] * (len(cells) - first)
            rows.append((Cell(target_label(names), mark=code), *cells[:first], *hidden))
    if rows:
        yield cell_table(text("Attack"), gain_titles(), rows, text("What she gains"))


MOST_SECRETS = 3
"""Of how many secrets the sentences and the pictures speak; all are in the tables."""
LONGEST_VALUE = 60
"""After so many characters a value is cut off in a sentence."""
JOURNALIST = (
    "El Emam and Dankar 2008, “Protecting privacy using k-anonymity”, Journal of the American Medical Informatics "
    "Association"
)


def target_findings(
    target: Target, *, subject: str = "person", exact: bool = False, drawn: bool = False
) -> tuple[Finding, ...]:
    """Return who may be meant, what is learned of them, and what if they may not be in the release at all.

    The secrets of which most is learned come first.

    Args:
        target: What came out.
        subject: What a record stands for.
        exact: Whether values and small numbers of people are told: for the analyst's own eyes, never for a report.
        drawn: Whether pictures stand inside.
    """
    discretion = Discretion(exact)
    target = target if exact else as_told(target)
    findings = [_fitting(target, discretion)]
    if target.suppressed:
        sentence = text_for(
            target.suppressed,
            "{count} further record is suppressed, with nothing but “*” of what is known: it may be this person's.",
            "{count} further records are suppressed, with nothing but “*” of what is known: one of them may be this "
            "person's.",
        )
        findings.append(note(sentence))
    if target.unlearned:
        sentence = text(
            "Nothing is learned of this person's {secrets}: it is missing in every record that fits.",
            secrets=either([enumeration([secret]) for secret in target.unlearned]),
        )
        findings.append(note(sentence))
    secrets = most_telling(target.secrets)
    for secret in secrets[:MOST_SECRETS]:
        finding = _learned(secret, target, discretion)
        findings.append(replace(finding, picture=_figure(secret, target)) if drawn else finding)
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


def wordings(
    secret: TargetSecret, target: Target, discretion: Discretion = DISCREET
) -> tuple[Among, Among]:
    """Return how chances at a secret are told, before and after: without the records in which it is missing."""
    known = replace(
        target,
        records=target.records - secret.missing,
        candidates=target.candidates - secret.missing_candidates,
    )
    return Among(known.records, discretion.exact), among_candidates(known, discretion)


def among_candidates(target: Target, discretion: Discretion) -> Among:
    """Return how chances among the candidates are told."""
    few = is_rough(target, discretion)
    return Among(None if few else target.candidates, exact=discretion.exact)


def is_rough(target: Target, discretion: Discretion) -> bool:
    """Tell whether the candidates are so few that their number is not told."""
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
    line = _shown(value)
    return f"“{line if len(line) <= LONGEST_VALUE else f'{line[: LONGEST_VALUE - 1]}…'}”"


def _with_caveats(sentence: str, target: Target, *, unsure: bool = True) -> str:
    """Add what must hold: that the person is in the release, and that their record is not suppressed."""
    outside = target.journalist is not None and target.journalist.presence.posterior < 1
    caveats = sentences(
        unsure and outside and marked("This holds if this person is in the release."),
        bool(target.suppressed)
        and marked("This holds unless the record is one of those that are suppressed."),
    )
    return " ".join((sentence, *caveats))


def _fitting(target: Target, discretion: Discretion) -> Finding:
    """Say how many records may be the person's, graded by how likely a guess at it is right."""
    sentence = _fitting_sentence(target, discretion)
    if not target.candidates:
        return reassurance(sentence, meaning=text("This holds if what is known is right."))
    naming = target.naming
    severity = graded(naming.posterior)
    nothing = target.candidates == target.records > 1
    exposed = severity != Severity.LOW and not nothing
    posterior = hidden_naming(target, discretion) or ratio(naming.posterior)
    return Finding(
        Severity.SAFE if nothing and severity == Severity.LOW else severity,
        _with_caveats(sentence[:1].upper() + sentence[1:], target),
        before_and_after(ratio(naming.prior), posterior),
        _fitting_means(target),
        less_detail(target) if exposed else "",
    )


def less_detail(target: Target) -> str:
    """Say what makes more records fit."""
    return text(
        "Publish {known} in less detail, so that more people look like this one.",
        known=known_columns(target),
    )


def _fitting_sentence(target: Target, discretion: Discretion) -> str:
    now, before = both_percentages(
        (EXACTLY, target.naming.posterior), (EXACTLY, target.naming.prior)
    )
    if not target.candidates:
        template = marked(
            "None of the {records} fits what is known ({known}): this person is not in the release."
        )
    elif target.records == 1:
        template = marked(
            "The release holds a single record, and it fits what is known ({known}): it is this person's."
        )
    elif target.candidates == 1:
        template = marked(
            "What is known ({known}) fits only one of the {records}: this person is found with certainty."
        )
    elif target.candidates == target.records:
        template = marked(
            "All of the {records} fit what is known ({known}): it rules out nobody, and a guess at the record is right "
            "in {after} of cases, as before."
        )
    else:
        template = marked(
            "{candidates} of the {records} fit what is known ({known}): a guess at which is this person's is right in "
            "{after} of cases; without what is known, in {before}."
        )
    return translated(
        template,
        known=known_columns(target),
        records=counted(target.records, "record"),
        candidates=discretion.count(target.candidates),
        after=hidden_naming(target, discretion) or now,
        before=before,
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
    else:
        change = "less" if less else "more"
    words = {"secret": enumeration(secret.secret)}
    if discretion.exact:  # a report is not even handed the values
        best, first = (
            _quoted(value_label(secret.secret, values[0]))
            for values in (secret.best, secret.prior_best)
        )
        words |= {"best": best, "first": first}
    sentence = translated(LEARNED[change, discretion.exact], now=now, then=then, **words)
    severity = Severity.HIGH if secret.certain else graded(secret.guess.additive)
    return Finding(
        severity if moved else Severity.SAFE,
        sentence if before == 1 else _with_caveats(sentence, target),
        before_and_after(everybody.ratio(before), wording.ratio(after)),
        _learned_means(secret, target, moved=moved, less=less),
        protect_the_secret() if more else "",
    )


def _learned_means(secret: TargetSecret, target: Target, *, moved: bool, less: bool) -> str:
    candidates = target.candidates - secret.missing_candidates
    if not moved:
        return text("This holds as long as she knows nothing else about the person.")
    if secret.certain and candidates > 1:
        return text(
            "All records that fit say the same, so that it does not matter which of them is this person's."
        )
    if less:
        return text(
            "On average over everybody a guess can only get better; for a single person it may get worse."
        )
    if candidates > 1:
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


def _not_knowing(
    journalist: Journalist, target: Target, subject: str, discretion: Discretion
) -> Finding:
    """Say what it comes to for somebody who does not know that the person is in the release."""
    presence, naming = journalist.presence, journalist.naming
    bound, wording = _told_of(journalist, target, discretion)
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
        _with_caveats(sentence, target, unsure=False),
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


def journalist_section(journalist: Journalist, target: Target, discretion: Discretion) -> Section:
    """Return what it comes to for somebody who does not know that the person is in the release."""
    bound, wording = _told_of(journalist, target, discretion)
    presence, naming = journalist.presence, journalist.naming
    population, fitting = map(_people_fitting, (journalist.population, journalist.fitting))
    columns = (text("Before"), text("After"))
    if journalist.estimated:
        how, columns = "estimated", (text("Before, estimated"), text("After, estimated"))
        population = text("about {figure}", figure=population)
    else:
        how = "assumed" if journalist.assumed else "counted"
    if bound is not None:
        fitting = text("fewer than {smallest}", smallest=bound)
    elif journalist.estimated or journalist.assumed:
        fitting = text("about {figure}", figure=fitting)
    rows = (
        (Cell(text("Number of people who may be meant")), Cell(population), Cell(fitting)),
        (
            Cell(text("The person is in the release")),
            percent_cell(presence.prior),
            wording.cell(presence.posterior),
        ),
        (
            Cell(text("A record that she picks is the person's")),
            percent_cell(naming.prior),
            percent_cell(naming.posterior)
            if bound is None or naming.posterior in (0, 1)
            else Cell(f"> {percentage(Fraction(1, bound))}"),
        ),
    )
    return Section(
        text("If she does not know that the person is in the release"),
        intro=translated(COUNTED[how], register=str(journalist.register)),
        tables=(cell_table(text("What"), columns, rows),),
    )


def _told_of(
    journalist: Journalist, target: Target, discretion: Discretion
) -> tuple[int | None, Among]:
    """Return what the number of people who fit is below, where it is not told, and how being in is told."""
    few = discretion.hides(target.candidates)
    if journalist.estimated:
        share = journalist.population / target.records
        return math.ceil(smallest_cell() * share) if few else None, EXACTLY
    bound = smallest_cell() if discretion.hides(journalist.fitting) else None
    return bound, Among(None, exact=not few and bound is None)


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
COUNTED = {
    "estimated": marked(
        "There is no register of the population: these figures are estimated, from the share of the population that is "
        "in the release."
    ),
    "assumed": marked(
        "Counted in {register}, assuming that what it does not tell is as frequent among those who are in the release "
        "as among those who are not."
    ),
    "counted": marked("Counted in {register}."),
}
"""How the people who fit were counted."""
