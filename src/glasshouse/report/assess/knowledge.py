"""What a report says of knowledge that is not exact: a sentence per target, a picture, the best set of each size."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.knowledge import Inexact, InexactKnowledge
from glasshouse.report.assess.charts import before_and_after_chart
from glasshouse.report.attacks import exact_share, knowledge_in_short, target_label
from glasshouse.report.cells import cell_table, percent_cell
from glasshouse.report.charts import figure_of, successes_table
from glasshouse.report.labels import column_labels
from glasshouse.report.page import Cell, Figure, Finding, Section, Severity, Table, Tile
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    capitalised,
    cases,
    enumeration,
    indefinite,
    joined,
    percentages,
    plural,
)
from glasshouse.study.assess import parse_chance, parse_precision

TERMS = {
    marked("Nearly sure"): marked(
        "Her best guess is right with a chance of 95% or more. This is shown instead of certainty where what "
        "she knows may be wrong, as nothing is quite certain then."
    ),
}
"""The headings of the tables of inexact knowledge, explained."""

Figures = tuple[Fraction, Fraction]
"""A right guess, and certainty, or what is nearly sure."""


def knowledge_findings(assessment: Assessment, subject: str) -> list[Finding]:
    """Say of each target what is learned by who does not know everything exactly, beside who does."""
    if assessment.inexact is None:
        return []
    return [
        _finding(assessment.inexact, place, attack, subject)
        for place, attack in enumerate(_attacks(assessment, assessment.inexact))
    ]


def knowledge_tiles(assessment: Assessment, subject: str) -> tuple[Tile, ...]:
    """Return who is at risk and what is given away by who does not know all exactly, and what who does would learn."""
    known = assessment.inexact
    if known is None:
        return ()
    attacks = _attacks(assessment, known)
    how = how_known(known)
    naming, *secrets = known.targets
    guess, sure = _inexactly(known, naming)
    exact_guess, exact_sure = _exactly(known, 0, attacks[0])
    words = {"people": plural(subject), "how": how, "cases": cases(guess)}
    tiles = [
        Tile(
            text("Who is at risk"),
            percentage(sure),
            text(
                "of the {people} can be identified almost for certain by someone who knows {how}; a best guess would "
                "be right {cases}",
                **words,
            )
            if known.errs
            else text(
                "of the {people} can be identified outright by someone who knows {how}; a best guess would be right "
                "{cases}",
                **words,
            ),
        )
    ]
    if secrets:
        most = max(secrets, key=lambda target: _inexactly(known, target)[0] - target.before[0])
        tiles.append(
            Tile(
                text("What is learned"),
                " → ".join(percentages(most.before[0], _inexactly(known, most)[0])),
                text(
                    "correct guesses at {secret}, by someone who knows nothing and by someone who knows {how}",
                    secret=enumeration(most.secret),
                    how=how,
                ),
            )
        )
    tiles.append(
        Tile(
            text("With exact knowledge"),
            percentage(exact_sure),
            text(
                "of the {people} could be identified outright by someone without that doubt; a best guess would be "
                "right {cases}",
                people=plural(subject),
                cases=cases(exact_guess),
            ),
        )
    )
    return tuple(tiles)


def _attacks(assessment: Assessment, known: InexactKnowledge) -> list[Attack]:
    """Return, per target, the attack with exact knowledge of the set that is told of."""
    names = known.names(known.masks[-1]) if known.masks else known.quasi_identifiers
    if known.whole is not None or known.likely:
        names = known.quasi_identifiers
    by_aim = {attack.secret: attack for attack in assessment.attacks}
    by_aim |= {
        attack.secret: attack for attack in assessment.attacks if attack.quasi_identifiers == names
    }
    return [replace(by_aim[target.secret], quasi_identifiers=names) for target in known.targets]


def _inexactly(known: InexactKnowledge, target: Inexact) -> Figures:
    """Return what comes of a target: with what is only likely, else with the largest set that was asked for."""
    chances = target.mixed
    if chances is None:
        row = known.whole
        chances = target.chances(len(known.masks) - 1 if row is None else row)
    guess, certain, nearly = chances
    return guess, nearly if known.errs else certain


def _exactly(known: InexactKnowledge, place: int, attack: Attack) -> Figures:
    """Return what comes of a target with exact knowledge of the same set."""
    if known.whole is not None or known.likely:
        return known.exact[place]
    return attack.probabilistic.posterior, attack.deterministic.posterior


def _finding(known: InexactKnowledge, place: int, attack: Attack, subject: str) -> Finding:
    target = known.targets[place]
    before = target.before[0]
    guess, sure = _inexactly(known, target)
    exact_guess, exact_sure = _exactly(known, place, attack)
    figures = percentages(before, guess, exact_guess)
    words = {
        "subject": indefinite(subject),
        "known": knowledge_in_short(attack),
        "how": how_known(known),
        "secret": enumeration(target.secret),
        "before": figures[0],
        "after": figures[1],
        "exact_after": figures[2],
        "sure": percentage(sure),
        "exact_sure": percentage(exact_sure),
    }
    if not target.secret and known.errs:
        template = marked(
            "Someone who knows {subject}'s {known}, but {how}, is nearly sure who it is in {sure} of cases, and "
            "guesses right in {after}. Knowing all of it exactly, she would be certain in {exact_sure}, and "
            "guess right in {exact_after}."
        )
    elif not target.secret:
        template = marked(
            "Someone who knows {subject}'s {known}, but {how}, is certain who it is in {sure} of cases, and "
            "guesses right in {after}. Knowing all of it exactly, she would be certain in {exact_sure}, and "
            "guess right in {exact_after}."
        )
    elif guess == before and known.errs:
        template = marked(
            "Someone who knows {subject}'s {known}, but {how}, is nearly sure of the {secret} in {sure} of "
            "cases, and guesses it no better than somebody who knows nothing about them: right in {after}. "
            "Knowing all of it exactly, she would be certain in {exact_sure}, and guess right in {exact_after}."
        )
    elif guess == before:
        template = marked(
            "Someone who knows {subject}'s {known}, but {how}, is certain of the {secret} in {sure} of cases, "
            "and guesses it no better than somebody who knows nothing about them: right in {after}. Knowing all "
            "of it exactly, she would be certain in {exact_sure}, and guess right in {exact_after}."
        )
    elif known.errs:
        template = marked(
            "Someone who knows {subject}'s {known}, but {how}, is nearly sure of the {secret} in {sure} of "
            "cases, and guesses it right in {after}, up from {before}. Knowing all of it exactly, she would be "
            "certain in {exact_sure}, and guess right in {exact_after}."
        )
    else:
        template = marked(
            "Someone who knows {subject}'s {known}, but {how}, is certain of the {secret} in {sure} of cases, "
            "and guesses it right in {after}, up from {before}. Knowing all of it exactly, she would be certain "
            "in {exact_sure}, and guess right in {exact_after}."
        )
    learned = max(guess - before, sure - target.before[1]) if target.secret else guess
    nothing = guess == before and sure <= target.before[1]
    return Finding(
        Severity.SAFE
        if nothing
        else graded(learned, certain=int(sure * target.records), people=target.records),
        translated(template, **words),
        figure=text(
            "exactly: a right guess {before} before, {after} after; certain or nearly sure {sure}",
            before=exact_share(before, target.records),
            after=exact_share(guess, target.records),
            sure=exact_share(sure, target.records),
        ),
        meaning=""
        if place
        else text(
            "Doubt about a fact protects people only where others who match them on all other facts are near "
            "them on this one."
        ),
    )


def how_known(known: InexactKnowledge) -> str:
    """Say what is not known exactly, and how well it is."""
    parts = []
    for name, written in known.about.items():
        precision, column = parse_precision(name, written), enumeration([name])
        if precision.right is not None:
            share = _share(precision.right)
            parts.append(
                text("{column} rightly in only {share} of cases", column=column, share=share)
            )
        elif precision.off is None:
            parts.append(text("{column} only by the chances of a file", column=column))
        elif precision.in_days:
            parts.append(
                text_for(
                    int(precision.off),
                    "{column} only within {count} day",
                    "{column} only within {count} days",
                    column=column,
                )
            )
        else:
            amount = number(precision.off, ",.6g")
            parts.append(text("{column} only within {amount}", column=column, amount=amount))
    for name, written in known.likely.items():
        share, column = _share(parse_chance(name, written)), enumeration([name])
        parts.append(text("{column} only with a chance of {share}", column=column, share=share))
    return joined(parts)


def _share(chance: Fraction) -> str:
    """Say a chance as it was asked for."""
    return text("{figure}%", figure=number(100 * chance, ",.6g"))


def _surely(known: InexactKnowledge) -> str:
    return text("Nearly sure") if known.errs else text("For certain")


def knowledge_figure(assessment: Assessment) -> Figure | None:
    """Show, per target, success with exact knowledge and with what is known."""
    known = assessment.inexact
    if known is None:
        return None
    successes = []
    every = _attacks(assessment, known)
    for place, (target, attack) in enumerate(zip(known.targets, every, strict=True)):
        label, before = target_label(target.secret), target.before[0]
        successes += [
            (
                text("{target}, exactly known", target=label),
                (before, *_exactly(known, place, attack)),
            ),
            (
                text("{target}, with what she knows", target=label),
                (before, *_inexactly(known, target)),
            ),
        ]
    exact, inexact = percentages(
        _exactly(known, 0, every[0])[0], _inexactly(known, known.targets[0])[0]
    )
    title = text(
        "Correct identifications: {exact} with exact knowledge, {inexact} with what she knows",
        exact=exact,
        inexact=inexact,
    )
    sure = text("certain, or nearly sure") if known.errs else None
    chart, ways = before_and_after_chart(successes, title, every[0], sure=sure)
    return figure_of(
        chart,
        label=text("What is learned with exact knowledge, and without"),
        caption=text(
            "“With what she knows”: {how}. “Before”: she knows the release, but nothing about the person.",
            how=how_known(known),
        ),
        table=successes_table(successes, ways),
    )


def knowledge_section(assessment: Assessment) -> Section | None:
    """Return the figures of inexact knowledge: the best set of each size."""
    if assessment.inexact is None:
        return None
    return Section(
        text("Knowledge that is not exact"),
        intro=translated(
            marked(
                "What she knows: {how}. For each number of columns, the set with which guesses are right most often, "
                "among those with something inexact."
            )
            if assessment.inexact.masks
            else marked("What she knows: {how}."),
            how=how_known(assessment.inexact),
        ),
        tables=tuple(knowledge_tables(assessment)),
    )


def knowledge_tables(assessment: Assessment, *, short: bool = False) -> list[Table]:
    """Return a table per target: what she knows, what is certain or nearly sure, and a guess before and after.

    Args:
        assessment: What came out.
        short: Whether before and after stand in one cell, as on a terminal.
    """
    known = assessment.inexact
    if known is None:
        return []
    titles = (
        [_surely(known).lower(), text("one guess right")]
        if short
        else [_surely(known), text("Before"), text("After")]
    )
    tables = []
    for target in known.targets:
        rows = [
            (column_labels(known.names(known.masks[row])), target.chances(row))
            for row in known.best_by_size(target)
        ]
        if target.mixed is not None:
            rows.append((text("all, each with its chance"), target.mixed))
        label = target_label(target.secret)
        tables.append(
            cell_table(
                text("she knows") if short else text("She knows"),
                titles,
                [_cells(known, target, name, chances, short=short) for name, chances in rows],
                text(
                    "{target}, {how}",
                    target=capitalised(label),
                    how=how_known(known),
                ),
            )
        )
    return tables


def _cells(
    known: InexactKnowledge,
    target: Inexact,
    name: str,
    chances: tuple[Fraction, Fraction, Fraction],
    *,
    short: bool,
) -> tuple[Cell | str, ...]:
    guess, certain, nearly = chances
    sure, before = nearly if known.errs else certain, target.before[0]
    if short:
        return name, percentage(sure), f"{percentage(before)} → {percentage(guess)}"
    return name, percent_cell(sure), percent_cell(before), percent_cell(guess)
