"""Runs side by side: guesses that need only be close, and what is learned without exact knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from glasshouse.language import exactly, marked, number, percentage, text, translated
from glasshouse.measures.compared_runs import (
    AssessedRuns,
    Change,
    ComparedAttack,
    ComparedGuess,
    change_by,
    change_in,
)
from glasshouse.report.assess.closeness import amounts, tolerance_text
from glasshouse.report.assess.knowledge import how_known
from glasshouse.report.attacks import exact_share, target_label
from glasshouse.report.cells import (
    NOTHING,
    cell_table,
    factor_cell,
    number_cell,
    percent_cell,
    under,
)
from glasshouse.report.discretion import unless_few
from glasshouse.report.labels import column_label
from glasshouse.report.page import Cell, Column, Finding, Section, Severity, Table, note
from glasshouse.report.severity import graded
from glasshouse.report.words import enumeration, percentages, plural, points, times


def guess_findings(outcome: AssessedRuns) -> Iterator[Finding]:
    """Yield what became of close guesses and of inexact knowledge, from the first run to every other."""
    for place in range(1, len(outcome.runs)):
        for guess in (*outcome.close, *outcome.inexact):
            yield _changed(guess, outcome, place)


def _changed(guess: ComparedGuess, outcome: AssessedRuns, place: int) -> Finding:
    chances = [(guess.guesses[run].posterior, guess.surely[run].posterior) for run in (0, place)]
    (old, old_sure), (new, new_sure) = chances
    before, after = percentages(old, new)
    sure_before, sure = percentages(old_sure, new_sure)
    seen = before != after or sure_before != sure
    what = change_in(new - old, new_sure - old_sure) if seen else Change.SAME
    words = {
        "first": outcome.runs[0].name,
        "last": outcome.runs[place].name,
        "secret": enumeration(guess.secret),
        "many": plural(outcome.subject),
        "tolerance": tolerance_text(guess.within) if guess.within else "",
        "before": before,
        "after": after,
        "sure_before": sure_before,
        "sure": sure,
    }
    close, naming, inferring = _HEADS[what]
    head = close if guess.within else inferring if guess.secret else naming
    body = _CLOSE if guess.within else _NEARLY_SURE if guess.nearly else _CERTAIN
    sentences = [translated(head, **words), translated(body, **words)]
    errors = _errors(guess, 0, place)
    if len(errors) == 2:
        off_before, off = amounts(*errors)
        sentences.append(
            text(
                "Her best estimate is off by {after} on average (“{first}”: {before}).",
                after=off,
                first=words["first"],
                before=off_before,
            )
        )
    people, learned = guess.records[place], new
    if guess.secret:
        learned = max(guess.guesses[place].additive, guess.surely[place].additive)
    certain = int(new_sure * people) if learned > 0 else 0
    grade = graded(learned, certain=certain, people=people)
    safe = grade == Severity.LOW and what in (Change.BETTER, Change.SAME)
    return Finding(
        Severity.SAFE if safe else grade,
        " ".join(sentences),
        figure=text(
            "{first} – {before}. {last} – {after}. Difference {points} points, factor {factor}.",
            first=words["first"],
            before=_exactly(chances[0], guess.records[0]),
            last=words["last"],
            after=_exactly(chances[1], people),
            points=points(new - old),
            factor=times(new / old) if old else "–",
        ),
    )


def _exactly(chances: tuple[Fraction, Fraction], records: int) -> str:
    guess, sure = (exact_share(chance, records) for chance in chances)
    return text("a guess {guess}, certain or nearly sure {sure}", guess=guess, sure=sure)


_HEADS = {
    Change.WORSE: (
        marked("From “{first}” to “{last}” it became easier to guess the {secret} {tolerance}."),
        marked(
            "From “{first}” to “{last}” it became easier to identify {many} without exact knowledge."
        ),
        marked(
            "From “{first}” to “{last}” it became easier to infer the {secret} without exact knowledge."
        ),
    ),
    Change.BETTER: (
        marked("From “{first}” to “{last}” it became harder to guess the {secret} {tolerance}."),
        marked(
            "From “{first}” to “{last}” it became harder to identify {many} without exact knowledge."
        ),
        marked(
            "From “{first}” to “{last}” it became harder to infer the {secret} without exact knowledge."
        ),
    ),
    Change.MIXED: (
        marked("From “{first}” to “{last}” guessing the {secret} {tolerance} changed both ways."),
        marked(
            "From “{first}” to “{last}” identifying {many} without exact knowledge changed both ways."
        ),
        marked(
            "From “{first}” to “{last}” inferring the {secret} without exact knowledge changed both ways."
        ),
    ),
    Change.SAME: (
        marked("In “{last}” it is as easy to guess the {secret} {tolerance} as in “{first}”."),
        marked(
            "In “{last}” it is as easy to identify {many} without exact knowledge as in “{first}”."
        ),
        marked(
            "In “{last}” it is as easy to infer the {secret} without exact knowledge as in “{first}”."
        ),
    ),
}
"""What is said of close guesses, and of naming and inferring without exact knowledge, by what became of them."""
_CLOSE = marked(
    "A guess is so close in {after} of cases (“{first}”: {before}), and she knows that it is in {sure} (“{first}”: "
    "{sure_before})."
)
_CERTAIN = marked(
    "A guess is right in {after} of cases (“{first}”: {before}), and she is certain in {sure} (“{first}”: "
    "{sure_before})."
)
_NEARLY_SURE = marked(
    "A guess is right in {after} of cases (“{first}”: {before}), and she is nearly sure in {sure} (“{first}”: "
    "{sure_before})."
)


def only_in_some(outcome: AssessedRuns) -> Iterator[str]:
    """Yield what only some of the runs ask: close guesses of a number, and knowledge that is not exact."""
    for name, tolerances in outcome.tolerances.items():
        if None in tolerances:
            yield text("close guesses at the {secret}", secret=enumeration([name]))
    known = [assessment.inexact for assessment in outcome.assessments]
    if None in known and any(known):
        yield text("what is learned without exact knowledge")


def asked_otherwise(outcome: AssessedRuns) -> Iterator[Finding]:
    """Yield what all runs ask, but not alike, so that it is not put side by side."""
    compared = {guess.secret[0] for guess in outcome.close}
    for name, tolerances in outcome.tolerances.items():
        if None in tolerances or name in compared:
            continue
        windows = [tolerance_text(tolerance) for tolerance in tolerances if tolerance]
        if len(set(tolerances)) > 1:
            yield note(
                text(
                    "The runs differ in how close a guess at the {secret} must be, so close guesses are not compared: "
                    "{ways}.",
                    secret=enumeration([name]),
                    ways=_by_run(outcome, windows),
                )
            )
        else:
            yield note(
                text(
                    "Close guesses at the {secret} are not about the same columns in all of the runs, and are not "
                    "compared.",
                    secret=enumeration([name]),
                )
            )
    known = [assessment.inexact for assessment in outcome.assessments if assessment.inexact]
    if len(known) < len(outcome.runs) or outcome.inexact:
        return
    ways = list(map(how_known, known))
    if outcome.knows_alike:
        yield note(
            text(
                "What is learned without exact knowledge is not about the same columns in all of the runs, and is "
                "not compared."
            )
        )
    elif len(set(ways)) == 1:
        yield note(
            text(
                "The files of chances are not the same in all of the runs, so what is learned without exact "
                "knowledge is not compared: {ways}.",
                ways=ways[0],
            )
        )
    else:
        yield note(
            text(
                "The runs do not assume that she knows equally well, so what is learned without exact knowledge is "
                "not compared: {ways}.",
                ways=_by_run(outcome, ways),
            )
        )


def _by_run(outcome: AssessedRuns, ways: Sequence[str]) -> str:
    """Return what each run asks."""
    runs = zip(outcome.runs, ways, strict=True)
    return "; ".join(f"“{run.name}” {way}" for run, way in runs)


def guess_sections(outcome: AssessedRuns, differences: Sequence[Column]) -> Iterator[Section]:
    """Yield the tables of a report: close guesses, and what is learned without exact knowledge."""
    if outcome.close:
        titles = [text("For certain"), text("Close before"), text("Close after"), text("Off by")]
        yield Section(
            text("Guesses that need only be close"),
            intro=_knowledge(outcome.close),
            tables=(_table(outcome, outcome.close, titles, differences),),
        )
    if outcome.inexact:
        surely = text("Nearly sure") if outcome.inexact[0].nearly else text("For certain")
        titles = [surely, text("Guess before"), text("Guess after")]
        known = outcome.assessments[0].inexact
        yield Section(
            text("Knowledge that is not exact"),
            intro=" ".join(
                (
                    _knowledge(outcome.inexact),
                    text("What she knows: {how}.", how=how_known(known)) if known else "",
                )
            ),
            tables=(_table(outcome, outcome.inexact, titles, differences),),
        )


def _errors(guess: ComparedGuess, *places: int) -> list[Fraction]:
    """Return by how much the best guess is off in some runs, but for those of few people, whom it would tell."""
    return [
        error
        for place in places
        if guess.errors
        for error in unless_few([guess.errors[place][1]], guess.records[place])
    ]


def _knowledge(guesses: Sequence[ComparedGuess]) -> str:
    """Say with which attributes the figures are."""
    return text("She knows {known}.", known=enumeration(guesses[0].quasi_identifiers))


def _table(
    outcome: AssessedRuns,
    guesses: Sequence[ComparedGuess],
    titles: Sequence[str],
    differences: Sequence[Column],
) -> Table:
    columns = [column for run in outcome.runs for column in under(run.name, *titles)]
    rows = []
    for guess in guesses:
        row: list[Cell | str] = [Cell(_label(guess))]
        for place, (leakage, sure) in enumerate(zip(guess.guesses, guess.surely, strict=True)):
            row += [
                percent_cell(sure.posterior),
                number_cell(leakage.prior),
                number_cell(leakage.posterior),
            ]
            if guess.errors:
                errors = _errors(guess, place)
                row += [Cell(number(error, ",.4g"), exactly(error)) for error in errors] or [
                    NOTHING
                ]
        rows.append([*row, *difference_cells(guess)])
    return cell_table(text("Attack"), [*columns, *differences], rows)


def _label(guess: ComparedGuess) -> str:
    if not guess.within:
        return target_label(guess.secret)
    return text(
        "{secret}, {tolerance}",
        secret=column_label(guess.secret[0]),
        tolerance=tolerance_text(guess.within),
    )


def guess_tables(outcome: AssessedRuns, differences: Sequence[str]) -> Iterator[Table]:
    """Yield the same for a terminal."""
    names = [run.name for run in outcome.runs]
    if outcome.close:
        columns = [
            heading
            for name in names
            for heading in (
                text("{run}: certain", run=name),
                text("{run}: close", run=name),
                text("{run}: off by", run=name),
            )
        ]
        rows = []
        for guess in outcome.close:
            row: list[Cell | str] = [_label(guess)]
            for leakage, sure, error in zip(guess.guesses, guess.surely, guess.errors, strict=True):
                row += [percentage(sure.posterior), percentage(leakage.posterior)]
                row.append(number(error[1], ",.4g"))
            rows.append([*row, *marked_points(guess)])
        title = text(
            "Guesses that need only be close, by someone who knows {known}",
            known=enumeration(outcome.close[0].quasi_identifiers),
        )
        yield cell_table(text("attack"), [*columns, *differences], rows, title)
    if outcome.inexact:
        nearly = outcome.inexact[0].nearly
        columns = [
            heading
            for name in names
            for heading in (
                text("{run}: nearly sure", run=name)
                if nearly
                else text("{run}: certain", run=name),
                text("{run}: guess", run=name),
            )
        ]
        rows = []
        for guess in outcome.inexact:
            row = [_label(guess)]
            for leakage, sure in zip(guess.guesses, guess.surely, strict=True):
                row += [percentage(sure.posterior), percentage(leakage.posterior)]
            rows.append([*row, *marked_points(guess)])
        known = outcome.assessments[0].inexact
        title = text(
            "She knows {known}, but {how}",
            known=enumeration(outcome.inexact[0].quasi_identifiers),
            how=how_known(known) if known else "",
        )
        yield cell_table(text("attack"), [*columns, *differences], rows, title)


def difference_cells(line: ComparedAttack | ComparedGuess) -> tuple[Cell, ...]:
    """Return by how much each run differs from the first, for a report: points, and the factor."""
    return tuple(
        cell
        for difference, factor in line.differences()
        for cell in (
            Cell(points(difference), exactly(difference), change_by(difference).value or None),
            factor_cell(factor),
        )
    )


def marked_points(line: ComparedAttack | ComparedGuess) -> list[str]:
    """Return the same for a terminal: points, marked where it got worse or better."""
    return [
        f"{change_by(difference).value or ' '} {points(difference)}"
        for difference, _ in line.differences()
    ]
