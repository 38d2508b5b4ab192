"""What a report says of guesses that need only be close: a sentence, a picture, and the best set of each size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.language import exactly, marked, number, percentage, text, translated
from glasshouse.measures.attacks import widest
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.closeness import Closeness
from glasshouse.report.assess.charts import before_and_after_chart
from glasshouse.report.attacks import exact_share, knowledge_in_short, protect_the_secret
from glasshouse.report.cells import NOTHING, cell_table, percent_cell
from glasshouse.report.charts import figure_of, successes_table
from glasshouse.report.discretion import unless_few
from glasshouse.report.labels import column_label, column_labels
from glasshouse.report.page import Cell, Figure, Finding, Section, Severity, Table
from glasshouse.report.severity import graded
from glasshouse.report.words import counted, enumeration, indefinite, percentages, share, told_apart

TERMS = {
    marked("Close guess"): marked(
        "A guess at a number that is off by no more than the study allows. “For certain” counts the people "
        "for whom she knows that her guess is that close: all numbers that can be theirs lie within reach of "
        "one guess."
    ),
    marked("Off by"): marked(
        "How far off her best estimate is on average: the distance from the middle (the median) of the "
        "numbers that can be theirs."
    ),
}
"""The headings of the tables of close guesses, explained."""


def closeness_findings(assessment: Assessment, subject: str) -> list[Finding]:
    """Say of each number how often a guess is close, and by how much the best one is off."""
    naming = widest(assessment.attacks)[0]
    return [_finding(close, naming, subject) for close in assessment.close]


def _finding(close: Closeness, naming: Attack, subject: str) -> Finding:
    row = close.row_of(naming.quasi_identifiers)
    guess, certainty = close.guess(row), close.certainty(row)
    before, after = percentages(guess.prior, guess.posterior)
    certain = int(close.certain[row])
    words = {
        "subject": indefinite(subject),
        "known": knowledge_in_short(naming),
        "secret": enumeration([close.secret]),
        "tolerance": tolerance_text(close.tolerance),
        "before": before,
        "after": after,
        "people": counted(certain, subject),
        "share": share(certain, close.records),
    }
    nothing = guess.additive == 0 == certainty.additive
    if nothing and certain:
        template = marked(
            "All values of {secret} are so close together that one guess is {tolerance} for everybody: it is "
            "enough to know that someone is in the release."
        )
    elif nothing:
        template = marked(
            "Someone who knows {subject}'s {known} guesses the {secret} {tolerance} no more often than somebody "
            "who does not: in {after} of cases."
        )
    elif guess.additive == 0:
        template = marked(
            "Someone who knows {subject}'s {known} guesses the {secret} {tolerance} no more often than somebody "
            "who does not, in {after} of cases, but knows for {people} that the guess is that close ({share})."
        )
    elif certain:
        template = marked(
            "Someone who knows {subject}'s {known} guesses the {secret} {tolerance} in {after} of cases, up from "
            "{before}, and knows for {people} that the guess is that close ({share})."
        )
    else:
        template = marked(
            "Someone who knows {subject}'s {known} guesses the {secret} {tolerance} in {after} of cases, up from "
            "{before}, but can never be sure of it."
        )
    sentences = [translated(template, **words), *_off_sentence(close, row)]
    learned = max(guess.additive, certainty.additive)
    grade = Severity.SAFE if nothing else graded(learned, certain=certain, people=close.records)
    return Finding(
        grade,
        " ".join(sentences),
        figure=text(
            "exactly: close guesses {prior} before, {posterior} after; certain of {certain} of {records} records",
            prior=exact_share(guess.prior, close.records),
            posterior=exact_share(guess.posterior, close.records),
            certain=certain,
            records=close.records,
        ),
        meaning=""
        if nothing
        else text(
            "Hardly anybody wants the last digit of a number: that exact guesses are rare says little."
        ),
        remedy="" if nothing else protect_the_secret(),
    )


def tolerance_text(tolerance: str) -> str:
    """Say how close a guess is: within 10%, or within 5."""
    figure, percent, _ = tolerance.partition("%")
    amount = number(Fraction(figure), ",.6g")
    return (
        text("within {share}", share=text("{figure}%", figure=amount))
        if percent
        else text("within {amount}", amount=amount)
    )


def _off_sentence(close: Closeness, row: int) -> list[str]:
    """Say by how much the best guess is off, unless there are so few people that it would tell their numbers."""
    errors = _errors(close, row)
    if not errors:
        return []
    before, after = amounts(*errors)
    if before == after:
        return [text("Her best estimate is off by {after} on average.", after=after)]
    return [
        text(
            "Her best estimate is off by {after} on average, down from {before}.",
            after=after,
            before=before,
        )
    ]


def _errors(close: Closeness, row: int) -> list[Fraction]:
    """Return by how much the best guess is off before and after; nothing of few people, whose numbers it would tell."""
    return unless_few(close.mean_error(row), close.records)


def amounts(*values: Fraction) -> tuple[str, ...]:
    """Write numbers with as many digits as tell them apart."""
    return told_apart(
        tuple(number(value, f",.{digits}g") for value in values) for digits in (4, 6, 8)
    )


def closeness_figure(assessment: Assessment) -> Figure | None:
    """Show guesses of each number, exact and close: before, after, and for certain."""
    if not assessment.close:
        return None
    naming, *inferring = widest(assessment.attacks)
    exact = {attack.sensitive: attack for attack in inferring}
    row = assessment.close[0].row_of(naming.quasi_identifiers)
    successes = []
    for close in assessment.close:
        name = column_label(close.secret)
        attack = exact[close.secret]
        guess = attack.probabilistic
        successes += [
            (
                text("{secret}, exactly", secret=name),
                (guess.prior, guess.posterior, attack.deterministic.posterior),
            ),
            (
                text(
                    "{secret}, {tolerance}", secret=name, tolerance=tolerance_text(close.tolerance)
                ),
                (
                    close.guess(row).prior,
                    close.guess(row).posterior,
                    close.certainty(row).posterior,
                ),
            ),
        ]
    first = assessment.close[0]
    before, after = percentages(first.guess(row).prior, first.guess(row).posterior)
    title = text(
        "Guesses at {secret} {tolerance}: {before} before, {after} after",
        secret=enumeration([first.secret]),
        tolerance=tolerance_text(first.tolerance),
        before=before,
        after=after,
    )
    chart, ways = before_and_after_chart(successes, title, naming)
    return figure_of(
        chart,
        label=text("Guesses that are exact, and guesses that are close"),
        caption=text(
            "Exact guesses at a number are far rarer than close ones. “Before”: she knows the release, but "
            "nothing about the person."
        ),
        table=successes_table(successes, ways),
    )


def closeness_section(assessment: Assessment) -> Section | None:
    """Return the figures of close guesses: the best set of each size, or all where they are few."""
    if not assessment.close:
        return None
    return Section(
        text("Guesses that need only be close"),
        intro=text("For each number of columns, the set with which guesses come close most often."),
        tables=tuple(closeness_tables(assessment.close)),
    )


def closeness_tables(every: Sequence[Closeness], *, short: bool = False) -> list[Table]:
    """Return a table per number: what she knows, a close guess before and after, certainty, and the mean error.

    Args:
        every: The numbers.
        short: Whether before and after stand in one cell, as on a terminal.
    """
    titles = (
        [text("certain"), text("one guess close"), text("off by")]
        if short
        else [
            text("For certain"),
            text("Close before"),
            text("Close after"),
            text("Off by, before"),
            text("Off by, after"),
        ]
    )
    return [
        cell_table(
            text("she knows") if short else text("She knows"),
            titles,
            [_cells(close, row, short=short) for row in close.best_by_size()],
            text(
                "{secret}, {tolerance}",
                secret=column_label(close.secret),
                tolerance=tolerance_text(close.tolerance),
            ),
        )
        for close in every
    ]


def _cells(close: Closeness, row: int, *, short: bool) -> tuple[Cell | str, ...]:
    guess, certain = close.guess(row), int(close.certain[row])
    known = column_labels(close.names(int(close.masks[row])))
    sure = f"{number(certain)} ({percentage(close.certainty(row).posterior)})"
    off = close.mean_error(row)
    if short:
        chances = f"{percentage(guess.prior)} → {percentage(guess.posterior)}"
        return known, sure, chances, " → ".join(number(value, ",.4g") for value in off)
    errors = [Cell(number(value, ",.4g"), exactly(value)) for value in _errors(close, row)]
    return (
        known,
        sure,
        percent_cell(guess.prior),
        percent_cell(guess.posterior),
        *(errors or (NOTHING, NOTHING)),
    )
