"""What is learned of one person's secrets: in a sentence, in a picture, in tables; for the analyst with the values.

In a report the values of a secret are ranked, before and after apart: beside its share in the release, which anybody
can count, a value would be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile

from glasshouse.language import marked, percentage, printable, text, text_for, translated
from glasshouse.microdata.individual import TargetSecret, Value
from glasshouse.microdata.leakage import Leakage, value_text
from glasshouse.report.attacks import protect_the_secret, target_label
from glasshouse.report.cells import (
    bar,
    cell_table,
    gain_change,
    gain_titles,
    guess_titles,
    leakage_cells,
    yes_cell,
)
from glasshouse.report.charts import Shift, before_and_after_table, rest_of, shift_figure
from glasshouse.report.discretion import ToldChange
from glasshouse.report.labels import column_label, value_label
from glasshouse.report.page import Cell, Column, Figure, Finding, Severity, Table, Tile
from glasshouse.report.severity import graded
from glasshouse.report.target.record import TargetTold
from glasshouse.report.words import capitalised
from glasshouse.sources import MISSING

LONGEST_VALUE = 60
"""After so many characters a value is cut off in a sentence."""
MOST_VALUES = 15
"""So many values of one person's secret a terminal shows; the others together."""
MOST_RANKS_DRAWN = 12
"""How many values of a secret a picture shows by themselves."""
MOST_RANKS_LISTED = 30
"""How many values of a secret a table shows by themselves."""
LEARNED = {
    ("known before", True): marked(
        "Nothing is learned about this person's {secret}: the release holds one value only, {best}."
    ),
    ("known before", False): marked(
        "Nothing is learned about this person's {secret}: the release holds one value only."
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
        "Nothing is learned about this person's {secret}: the best guess is {best}, right in {now} of cases, "
        "as for anybody in the release."
    ),
    ("nothing", False): marked(
        "Nothing is learned about this person's {secret}: the best guess is right in {then} of cases, as for "
        "anybody in the release."
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


def most_telling(secrets: Sequence[TargetSecret]) -> list[TargetSecret]:
    """Return the secrets that become certain, and then the others, in the order of how far beliefs are moved."""
    return sorted(
        secrets,
        key=lambda secret: (secret.certain and secret.guess.prior < 1, _moved(secret)),
        reverse=True,
    )


def _moved(secret: TargetSecret) -> Fraction:
    """Return the total variation distance of prior and posterior: how much probability goes to other values."""
    possible = takewhile(lambda belief: belief.posterior, secret.values)
    return sum(
        (max(belief.posterior - belief.prior, Fraction(0)) for belief in possible), Fraction(0)
    )


def learned(secret: TargetSecret, target: TargetTold) -> Finding:
    """Say how good the best guess of a secret is, before and after; to the analyst also which guess it is."""
    guess, exact = target.guess(secret), target.discretion.exact
    now, then = guess.words
    moved = bool(_moved(secret)) or not guess.is_exact
    known_before = secret.guess.prior == 1
    if alike := guess.is_exact and guess.before.words == guess.after.words:
        now = then = guess.before.words
    if known_before:
        change = "known before"
    elif secret.certain:
        change = "certain"
    elif not moved:
        change = "nothing"
    elif alike:
        change = "alike"
    elif guess.hardly:
        change = "nearly"
    elif guess.untold:
        change = "untold"  # “less than 66.7%, before less than 68.0%” would read as a fall
    else:
        change = "less" if guess.falls else "more"
    words = {"secret": target.secret_words(secret)}
    if exact:  # a report is not even handed the values
        best, first = (
            _quoted(value_label(secret.secret, values[0]))
            for values in (secret.best, secret.prior_best)
        )
        words |= {"best": best, "first": first}
    template = UNTOLD if change == "untold" else LEARNED[change, exact]
    if known_before:
        template = target.known_before or template
    sentence = translated(template, now=now, then=then, **words)
    severity = Severity.HIGH if secret.certain else graded(secret.guess.additive)
    at_risk = guess.rises and moved and severity in (Severity.HIGH, Severity.MODERATE)
    return Finding(
        severity if moved else Severity.SAFE,
        sentence if known_before else target.with_caveats(sentence),
        guess.figure,
        _meaning(secret, target, moved=moved, falls=guess.falls),
        protect_the_secret() if at_risk else "",
    )


def _meaning(secret: TargetSecret, target: TargetTold, *, moved: bool, falls: bool) -> str:
    if not moved:
        return text("This holds as long as she knows nothing else about the person.")
    several = target.target.candidates - secret.missing_candidates > 1
    the_same, of_others = target.learned_by_all()
    if secret.certain and several:
        return the_same
    if falls:
        return text(
            "On average over everybody a guess can only get better; for a single person it may get worse."
        )
    return of_others if several else ""


def _quoted(value: Value) -> str:
    """Return a value as it stands in a sentence."""
    line = _shown(value)
    return f"“{line if len(line) <= LONGEST_VALUE else f'{line[: LONGEST_VALUE - 1]}…'}”"


def _shown(value: Value) -> str:
    """Return a value of a secret as text."""
    if isinstance(value, tuple):
        return " + ".join(map(_shown, value))
    if value is None:
        return text("(no record there)")
    return text("(missing)") if value == MISSING else printable(value)


def given_away(target: TargetTold) -> Iterator[Tile]:
    """Yield how often the best guesses at the two secrets of which most is learned are right, where that is told."""
    guesses = [
        (target.secret_words(secret), guess)
        for secret in most_telling(target.target.secrets)
        if (guess := target.guess(secret)).is_exact
    ]
    if not guesses:
        return
    (name, guess), *further = guesses
    sentence = (
        text(
            "correct guesses at {secret}, without these facts and with them: practically the same",
            secret=name,
        )
        if guess.hardly
        else text("correct guesses at {secret}, without these facts and with them", secret=name)
    )
    if further:
        another, other = further[0]
        sentence = text(
            "{first}; at {secret}: {change}",
            first=sentence,
            secret=another,
            change=other.arrow,
        )
    yield Tile(text("What is learned"), guess.arrow, sentence)


# Pictures and tables of a report


def _ranks(secret: TargetSecret, target: TargetTold, most: int) -> list[Shift]:
    """Return how probable the likeliest value is, the second likeliest, …, and all others together.

    Before and after are each ranked by themselves. Where one may not be told, the likeliest stands alone.
    """
    before = sorted((belief.prior for belief in secret.values), reverse=True)
    after = sorted((belief.posterior for belief in secret.values), reverse=True)
    all_people, fitting = target.among(secret)
    is_told = all_people.tells_all(before) and fitting.tells_all(after)
    if not is_told:  # what stands for the chances of others may be more than for the likeliest
        after = [secret.guess.posterior]
    ranks = (most - 1 if len(before) > most else most) if is_told else 1
    chances = [Leakage(*both) for both in zip(before[:ranks], after[:ranks], strict=True)]
    labels = [text("no. {rank}", rank=rank) for rank in range(1, len(chances) + 1)]
    further = len(before) - len(chances)
    if further and is_told:
        chances.append(rest_of(chances))
        labels.append(text("all {count} others", count=further))
    return [
        Shift.of(label, chance, all_people, fitting)
        for label, chance in zip(labels, chances, strict=True)
    ]


def beliefs_table(secret: TargetSecret, target: TargetTold) -> Table:
    """Return how probable the values of a secret are, before and after."""
    possible = sum(1 for _ in takewhile(lambda belief: belief.posterior, secret.values))
    remark = text_for(
        len(secret.values),
        "{possible} of {count} value still possible",
        "{possible} of {count} values still possible",
        possible=possible,
    )
    shifts = _ranks(secret, target, MOST_RANKS_LISTED + 1)
    table = before_and_after_table(_likeliest_first(), shifts)
    (group,) = table.groups
    all_told = len(shifts) in (len(secret.values), MOST_RANKS_LISTED + 1)
    named = replace(group, title=target.secret_words(secret), note=remark if all_told else "")
    return replace(table, groups=(named,))


def beliefs_figure(secret: TargetSecret, target: TargetTold) -> Figure | None:
    """Show how probable the values of a secret are; nothing where there is no more to see than a sentence says."""
    shifts = _ranks(secret, target, MOST_RANKS_DRAWN)
    if len(shifts) == 1:
        return None
    name, guess = target.secret_words(secret), target.guess(secret)
    now, then = guess.words
    if secret.certain and secret.guess.prior < 1:
        title = marked("{secret} is certain; before, a guess was right in {then} of cases")
    elif guess.is_exact and guess.before.words == guess.after.words:
        title = marked("A guess at {secret} is right in {then} of cases, as before")
        then = guess.before.words
    else:
        title = marked("A guess at {secret} is right in {now} of cases; before, in {then}")
    return shift_figure(
        _likeliest_first(),
        shifts,
        title=translated(title, secret=name, now=now, then=then),
        subtitle=text(
            "how probable the likeliest value of {secret} is, the second likeliest, and so on",
            secret=name,
        ),
        label=text("How probable the values of {secret} are, before and after", secret=name),
        caption=target.caption(),
    )


def _likeliest_first() -> str:
    return text("Value, the likeliest first")


def attacks_table(target: TargetTold) -> Table:
    """Return each attack with its success, or as much as may be told of it."""
    outcome = target.target
    attacks: list[tuple[str, tuple[str, ...], ToldChange, bool]] = [
        (outcome.code, (), target.naming, outcome.naming.posterior == 1),
        *((one.code, one.secret, target.guess(one), one.certain) for one in outcome.secrets),
    ]
    rows = [
        (Cell(target_label(names), mark=code), *guess.cells, yes_cell(certain))
        for code, names, guess, certain in attacks
    ]
    columns: tuple[str | Column, ...] = (*guess_titles(), Column(text("Certain")))
    return cell_table(text("Attack"), columns, rows, text("If the person is in the release"))


def gains_tables(target: TargetTold, currency: str | None) -> Iterator[Table]:
    """Yield what each attack gains, where gains were given.

    What is gained of few people, or with certainty, would tell how many they are or which value it is.
    """
    outcome = target.target
    gains: list[tuple[str, tuple[str, ...], Leakage | None, int]]
    gains = [(outcome.code, (), outcome.naming_gain, 1 if target.candidates.rough else 4)]
    for secret in outcome.secrets:
        guess, (_, fitting) = target.guess(secret), target.among(secret)
        hidden = secret.certain or fitting.rough or not guess.after.is_exact
        cells = 0 if not guess.before.is_exact else 1 if hidden else 4
        gains.append((secret.code, secret.secret, secret.gain, cells))
    rows = []
    for code, names, gain, cells in gains:
        if gain is not None:
            every = leakage_cells(gain, currency=currency)
            untold = [Cell(text("not shown"))] * len(every[cells:])
            rows.append((Cell(target_label(names), mark=code), *every[:cells], *untold))
    if rows:
        yield cell_table(text("Attack"), gain_titles(), rows, text("What she gains"))


# The analyst's


def secret_table(secret: TargetSecret, currency: str | None) -> Table:
    """Return the most probable values of one person's secret, before and after."""
    title = capitalised(target_label(secret.secret))
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
            percentage(belief.prior),
            percentage(belief.posterior),
            bar(Leakage(Fraction(0), belief.posterior)),
        )
        for belief in secret.values[:MOST_VALUES]
    ]
    rest = secret.values[MOST_VALUES:]
    if rest:
        before = sum((belief.prior for belief in rest), Fraction(0))
        after = sum((belief.posterior for belief in rest), Fraction(0))
        further = text_for(len(rest), "{count} other", "{count} others")
        rows.append((further, percentage(before), percentage(after), ""))
    title_of = "+".join(map(column_label, secret.secret))
    return cell_table(title_of, (text("before"), text("after"), ""), rows, title)
