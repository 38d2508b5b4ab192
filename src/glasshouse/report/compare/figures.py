"""Runs of any command side by side, by the main figures that they keep: what got worse, what got better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from glasshouse.disclosure import cell_count, hidden_parts, smallest_cell
from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.mitigation import ComparedRun, MeasuredRuns
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import NOTHING, cell_table
from glasshouse.report.compare.runs import Change, records_finding
from glasshouse.report.deter.page import METHOD as DETERRENCE
from glasshouse.report.discretion import Among, Discretion, Told, more_than_one_in
from glasshouse.report.page import Cell, Finding, Page, Provenance, Section, Severity, Table, note
from glasshouse.report.threat.page import METHOD as THREAT
from glasshouse.report.totals.page import SOURCE as TOTALS
from glasshouse.report.words import enumeration, glossary, hundredths, percentage, sentences


class Kind(Enum):
    """How a figure is written."""

    CHANCE = "chance"
    COUNT = "count"
    EXPECTED = "expected"
    AMOUNT = "amount"
    SIZE = "size"
    """The size of a group from which on something holds; None: none up to a million, which is beyond all others."""


class Known(NamedTuple):
    """What is known of a figure."""

    label: str
    """What it is called."""
    kind: Kind
    """How it is written."""
    risk: bool = True
    """Whether a higher one is worse for the people in the data; else it says nothing of the risk."""
    one_of: bool = False
    """Whether it tells how many candidates there are, being one of so many."""

    def written(self, value: float | None, currency: str | None, *, rough: bool = False) -> str:
        """Return a figure as its kind is written; roughly, where it would tell how few people are concerned."""
        if rough and value is not None and self.kind == Kind.COUNT:
            return cell_count(int(value))
        if rough and value is not None and 0 < value < 1:
            return (
                more_than_one_in(smallest_cell())
                if self.one_of
                else ROUGH.cell(Fraction(value)).text
            )
        if self.kind == Kind.SIZE:
            return text("none up to a million") if value is None else number(value, ",.0f")
        if value is None:
            return NOTHING.text
        if self.kind == Kind.CHANCE:
            return percentage(Fraction(value))
        if self.kind == Kind.AMOUNT:
            return hundredths(value, currency)
        return number(value, ",.0f" if self.kind == Kind.COUNT else ",.6g")


ROUGH = Told(rough=True)
FIGURES: Mapping[str, Mapping[str, Known]] = {
    "assess": {
        "naming": Known(marked("{about}: right guesses at who it is"), Kind.CHANCE),
        "inferring": Known(marked("{about}: right guesses at the {secret}"), Kind.CHANCE),
    },
    "target": {
        "candidates": Known(marked("records that can be the person’s"), Kind.COUNT, risk=False),
        "naming": Known(
            marked("chance that a guess at the person’s record is right"), Kind.CHANCE, one_of=True
        ),
        "inferring": Known(
            marked("chance that a guess at the person’s {about} is right"), Kind.CHANCE
        ),
        "presence": Known(marked("chance that the person is in the release"), Kind.CHANCE),
    },
    "membership": {
        "certain": Known(marked("people of whom it is certain whether they are in"), Kind.CHANCE),
        "certainly_in": Known(marked("people who are certain to be in"), Kind.COUNT),
        "guess": Known(marked("right guesses at whether somebody is in"), Kind.CHANCE),
        "guess_before": Known(marked("right guesses without the release"), Kind.CHANCE, risk=False),
        "delta_max": Known(marked("highest chance of being in (δmax)"), Kind.CHANCE),
        "delta_min": Known(marked("lowest chance of being in (δmin)"), Kind.CHANCE, risk=False),
        "journalist": Known(marked("highest chance that a record is named"), Kind.CHANCE),
        "journalist_average": Known(
            marked("chance that a record is named on average"), Kind.CHANCE
        ),
        "marketer": Known(marked("records named right, as expected"), Kind.CHANCE),
        "uniques": Known(marked("records that are alone in the release"), Kind.COUNT),
        "population_uniques": Known(
            marked("people estimated to be alone in the population"), Kind.CHANCE
        ),
        "candidates": Known(marked("people who can be this person"), Kind.COUNT, risk=False),
        "presence": Known(marked("chance that the person is in the release"), Kind.CHANCE),
        "present": Known(marked("chance that the person is in {about}"), Kind.CHANCE),
        "guess_at_one": Known(
            marked("chance that a guess at whether the person is in is right"), Kind.CHANCE
        ),
    },
    "deter": {
        "no_attack": Known(marked("size from which on she does not begin"), Kind.SIZE),
        "no_exploit_after_access": Known(
            marked("size from which on she tries nobody although access is paid"), Kind.SIZE
        ),
        "first_partial": Known(
            marked("size from which on she does not go on until everybody was tried"), Kind.SIZE
        ),
        "baseline": Known(
            marked("size from which on the one-shot adversary of the literature does not begin"),
            Kind.SIZE,
        ),
        "highest_risk": Known(
            marked("highest risk of re-identification of the sizes asked about"), Kind.CHANCE
        ),
        "enough": Known(marked("size from which on every group is large enough"), Kind.SIZE),
        "worth_attacking": Known(marked("records worth attacking, sizes known"), Kind.COUNT),
        "expected_known": Known(marked("expected re-identifications, sizes known"), Kind.EXPECTED),
        "expected_unknown": Known(
            marked("expected re-identifications, sizes not known"), Kind.EXPECTED
        ),
        "loss_known": Known(marked("expected loss, sizes known"), Kind.AMOUNT),
        "loss_unknown": Known(marked("expected loss, sizes not known"), Kind.AMOUNT),
    },
    "threat": {
        "attacker": Known(
            marked("right guesses of somebody who knows that the person is in the table"),
            Kind.CHANCE,
        ),
        "learner": Known(
            marked("right guesses of somebody who only learns about the population"),
            Kind.CHANCE,
            risk=False,
        ),
        "baseline": Known(
            marked("right guesses by always saying the most frequent value"),
            Kind.CHANCE,
            risk=False,
        ),
        "relative_global_threat": Known(
            marked("records threatened beyond what the population tells"), Kind.CHANCE
        ),
        "share_twice": Known(
            marked("records of which the attacker is at least twice as sure as the learner"),
            Kind.CHANCE,
        ),
    },
    "totals": {
        "value": Known(marked("value of all records"), Kind.AMOUNT, risk=False),
        "instances": Known(marked("instances to be solved"), Kind.COUNT, risk=False),
        "solved": Known(marked("instances solved"), Kind.COUNT, risk=False),
        "linked": Known(marked("records whose place is certain"), Kind.COUNT),
        "exposed": Known(marked("records whose owner is certain"), Kind.COUNT),
        "exposed_value": Known(marked("value of the records whose owner is certain"), Kind.AMOUNT),
    },
}
"""The figures of each command that keeps such."""
MOST_SAID = 2
"""So many changes are in a sentence; all are in its figure."""


def known(outcome: MeasuredRuns, name: str) -> Known:
    """Return what is known of a figure; of one that another version kept, its own name."""
    word = name.partition(": ")[0].partition(" ")[0]
    return FIGURES[outcome.command].get(word, Known("{about}", Kind.EXPECTED, risk=False))


def label(outcome: MeasuredRuns, name: str) -> str:
    """Return what a figure is called; of one of several alike, with what it is about."""
    word, _, about = name.partition(": ")
    secret = enumeration([word.partition(" ")[2]])
    return translated(known(outcome, name).label, about=about or name, secret=secret)


def change_of(outcome: MeasuredRuns, name: str, place: int) -> Change:
    """Tell whether a figure is worse than in the first run for the people in the data; same: or not about them.

    No size up to a million is beyond all sizes.
    """
    what, first, other = known(outcome, name), outcome.runs[0], outcome.runs[place]
    missing = math.inf if what.kind == Kind.SIZE else None
    before, after = (
        missing if run.summary[name] is None else run.summary[name] for run in (first, other)
    )
    if not what.risk or before is None or after is None or before == after:
        return Change.SAME
    if what.kind == Kind.AMOUNT and first.currency != other.currency:
        return Change.SAME
    return Change.WORSE if after > before else Change.BETTER


def figure_cell(outcome: MeasuredRuns, name: str, place: int, *, exact: bool) -> Cell:
    """Return a figure of one of the runs, marked where it is worse or better than in the first."""
    run = outcome.runs[place]
    if run.parts and not exact:
        told, before = (_part_cell(other, name) for other in (run, outcome.runs[0]))
        is_told = told.exact is not None and before.exact is not None
        return (
            replace(told, mark=change_of(outcome, name, place).value or None) if is_told else told
        )
    value, candidates = run.summary[name], run.summary.get("candidates")
    rough = candidates is not None and Discretion(exact).hides(int(candidates))
    return Cell(
        known(outcome, name).written(value, run.currency, rough=rough),
        exact=None if value is None or rough else exactly(value),
        mark=change_of(outcome, name, place).value or None,
    )


def _part_cell(run: ComparedRun, name: str) -> Cell:
    """Return how well a part is attacked: a guess at a secret so that it does not tell how few have one value."""
    people = run.parts[name.partition(": ")[2]]
    success = Fraction(run.summary[name] or 0).limit_denominator(people)
    return Among(people, exact=name.startswith("naming: ")).cell(success)


def with_shown_parts(outcome: MeasuredRuns) -> MeasuredRuns:
    """Return the runs without the parts of so few people that a report does not show them in one of the runs."""
    hidden = {
        list(run.parts)[place]
        for run in outcome.runs
        for place in hidden_parts([(people,) for people in run.parts.values()])
    }

    def shown(run: ComparedRun) -> ComparedRun:
        figures = run.summary.items()
        return replace(
            run,
            summary={
                name: value for name, value in figures if name.partition(": ")[2] not in hidden
            },
        )

    return MeasuredRuns(tuple(map(shown, outcome.runs))) if hidden else outcome


def measured_findings(outcome: MeasuredRuns, *, exact: bool = False) -> tuple[Finding, ...]:
    """Return what got worse, what got better and what is the same, from the first run to every other.

    Args:
        outcome: The runs.
        exact: Whether small numbers of people are told as they are: for the analyst's own eyes.
    """
    changes = (_changes(outcome, place, exact=exact) for place in range(1, len(outcome.runs)))
    return (*chain.from_iterable(changes), *_conditions(outcome))


def _changes(outcome: MeasuredRuns, place: int, *, exact: bool) -> Iterator[Finding]:
    risks = [name for name in outcome.figures if known(outcome, name).risk]
    words = {"first": outcome.runs[0].name, "last": outcome.runs[place].name}
    worse, better = (
        [name for name in risks if change_of(outcome, name, place) == change]
        for change in (Change.WORSE, Change.BETTER)
    )
    if worse:
        changes, every = _listed(outcome, worse, place, exact=exact)
        yield Finding(
            Severity.MODERATE,
            text("From “{first}” to “{last}” this got worse: {changes}.", changes=changes, **words),
            figure=every,
            remedy=text("Look at what changed between the two studies, their terms or their data."),
        )
    if better:
        changes, every = _listed(outcome, better, place, exact=exact)
        yield note(
            text(
                "From “{first}” to “{last}” this got better: {changes}.", changes=changes, **words
            ),
            figure=every,
        )
    if risks and not worse and not better:
        yield note(
            text(
                "“{last}” is no worse and no better than “{first}” in any of the figures.", **words
            )
        )


def _listed(
    outcome: MeasuredRuns, names: Sequence[str], place: int, *, exact: bool
) -> tuple[str, str]:
    """Return the first changes and how many more there are, and all of them."""
    changes = [
        text(
            "{figure}: {after} instead of {before}",
            figure=label(outcome, name),
            after=figure_cell(outcome, name, place, exact=exact).text,
            before=figure_cell(outcome, name, 0, exact=exact).text,
        )
        for name in names
    ]
    first, every = "; ".join(changes[:MOST_SAID]), "; ".join(changes)
    if len(names) <= MOST_SAID:
        return first, every
    shortened = text_for(
        len(names) - MOST_SAID,
        "{changes}; and {count} further figure",
        "{changes}; and {count} further figures",
        changes=first,
    )
    return shortened, every


def _conditions(outcome: MeasuredRuns) -> Iterator[Finding]:
    """Yield what makes the runs hard to compare."""
    if outcome.runs[0].parts:
        yield note(
            text_for(
                outcome.runs[0].size,
                "Parts are compared by the best set of {count} attribute in each of them.",
                "Parts are compared by the best set of {count} attributes in each of them.",
            )
        )
    if len({run.asked for run in outcome.runs}) > 1:
        yield note(
            text(
                "The adversary is not taken to know the same in all of the runs; differences may come from that."
            )
        )
    if len({run.records for run in outcome.runs}) > 1:
        yield records_finding([(run.name, run.records) for run in outcome.runs])
    amounts = any(known(outcome, name).kind == Kind.AMOUNT for name in outcome.figures)
    if amounts and len({run.currency for run in outcome.runs}) > 1:
        yield note(
            text("The runs do not count money alike; their amounts are shown, but not compared."),
        )
    missing = sorted({name for run in outcome.runs for name in run.summary} - {*outcome.figures})
    if missing:
        yield note(
            text(
                "Not in all of the runs, and not compared: {figures}.",
                figures="; ".join(label(outcome, name) for name in missing),
            ),
        )


def measured_page(outcome: MeasuredRuns, *, provenance: Provenance, command: str) -> Page:
    """Return the report of runs side by side by their main figures, and the command that repeats it."""
    every, outcome = outcome, with_shown_parts(outcome)
    return Page(
        title=text("Runs of {command} side by side", command=outcome.command),
        lead=", ".join(run.name for run in outcome.runs),
        findings=measured_findings(outcome),
        sections=(
            Section(text("The figures"), tables=(_table(outcome, text("Figure"), exact=False),)),
        ),
        adversary=(text("What the adversary is assumed to know is in the report of each run."),),
        limits=(
            text(
                "Differences between runs are differences between their figures, not estimates of a cause. Differences "
                "are against the first run."
            ),
            *sentences(
                every is not outcome
                and marked(
                    "Parts with fewer than {smallest} people in one of the runs are not shown, and others with them so "
                    "that no such number can be found by subtraction."
                ),
                smallest=smallest_cell(),
            ),
        ),
        glossary=glossary("adversary", *WORDS[outcome.command], terms=(TERMS,)),
        provenance=provenance,
        command=command,
        method=METHODS[outcome.command],
    )


TERMS = {"▲ ▼": marked("▲ marks what got worse for the people in the data, ▼ what got better.")}
METHODS = {
    "assess": METHOD,
    "target": METHOD,
    "membership": METHOD,
    "deter": DETERRENCE,
    "threat": THREAT,
    "totals": TOTALS,
}
"""Whose method the figures of each command are."""
WORDS = {
    "assess": ("re-identification", "attribute inference"),
    "target": ("target", "re-identification", "attribute inference"),
    "membership": ("membership",),
    "deter": ("exploit", "re-identification"),
    "threat": ("attacker", "learner", "relative threat"),
    "totals": ("release",),
}
"""The words that each command adds to the glossary."""


def _table(outcome: MeasuredRuns, first: str, title: str = "", *, exact: bool) -> Table:
    places = range(len(outcome.runs))
    rows = [
        (
            Cell(label(outcome, name)),
            *(figure_cell(outcome, name, place, exact=exact) for place in places),
        )
        for name in outcome.figures
    ]
    return cell_table(first, [run.name for run in outcome.runs], rows, title)


def measured_table(outcome: MeasuredRuns) -> Table:
    """Return the figures of the runs, and how they changed, for a terminal."""
    title = text("Runs of {command} side by side", command=outcome.command)
    return _table(outcome, text("figure"), title, exact=True)
