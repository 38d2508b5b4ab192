"""Runs of any command side by side, by the main figures that they keep: what got worse, what got better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from glasshouse.language import (
    exactly,
    marked,
    number,
    percentage,
    printable,
    text,
    text_for,
    translated,
)
from glasshouse.measures.compared_runs import Change, ComparedRun, MeasuredRuns
from glasshouse.measures.figures import FIGURES, FigureKind, Unit
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import NOTHING, cell_table
from glasshouse.report.compare.runs import records_finding
from glasshouse.report.deter.page import METHOD as DETERRENCE
from glasshouse.report.discretion import DISCREET, ROUGHLY, Among, Discretion, one_of_few
from glasshouse.report.glossary import glossary
from glasshouse.report.page import (
    Cell,
    Finding,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    Tile,
    note,
)
from glasshouse.report.tables.page import SOURCE as TABLES
from glasshouse.report.threat.page import METHOD as THREAT
from glasshouse.report.totals.page import SOURCE as TOTALS
from glasshouse.report.words import (
    enumeration,
    hundredths,
    in_words,
    joined,
    percentages,
    sentences,
)

_RANKED = {
    "pseudonym": marked(
        "From the least to the most exposed: someone who happens to know {known} of a person’s records is certain of "
        "the pseudonym in {ranking} of cases."
    ),
    "guess": marked(
        "From the least to the most exposed: someone who happens to know {known} of a person’s records guesses the "
        "pseudonym right in {ranking} of cases."
    ),
    "record": marked(
        "From the least to the most exposed: someone who happens to know {known} of a person’s records finds one that "
        "can only be theirs in {ranking} of cases."
    ),
}
"""How runs about people are told in order, by the word of the figure."""
MOST_TILES = 3
"""So many figures are on the first screen."""
MOST_SAID = 2
"""So many changes are in a sentence; all are in its figure."""


def known(outcome: MeasuredRuns, name: str) -> FigureKind:
    """Return what is known of a figure; of one that another version kept, its own name."""
    word = name.partition(": ")[0].partition(" ")[0]
    return FIGURES[outcome.command].get(word, FigureKind("{about}", Unit.EXPECTED, risk=False))


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
    missing = math.inf if what.unit == Unit.SIZE else None
    before, after = (
        missing if run.summary[name] is None else run.summary[name] for run in (first, other)
    )
    if not what.risk or before is None or after is None or before == after:
        return Change.SAME
    if what.unit == Unit.AMOUNT and first.currency != other.currency:
        return Change.SAME
    return Change.WORSE if after > before else Change.BETTER


@dataclass(frozen=True)
class FiguresTold:
    """The figures of runs side by side, as a reader may be told of them."""

    outcome: MeasuredRuns
    """The runs."""
    discretion: Discretion = DISCREET
    """Whether figures are told that would tell how few people are concerned: for the analyst's own eyes."""

    def cell(self, name: str, place: int) -> Cell:
        """Return a figure of one of the runs, marked where it is worse or better than in the first."""
        outcome, run = self.outcome, self.outcome.runs[place]
        if run.parts and not self.discretion.exact:
            cell, before = (_part_cell(other, name) for other in (run, outcome.runs[0]))
            if cell.exact is None or before.exact is None:
                return cell
            return replace(cell, mark=change_of(outcome, name, place).value or None)
        few = self.discretion.hides(int(run.summary.get("candidates") or 0))
        written, first = (self._written(name, other, rough=few) for other in (run, outcome.runs[0]))
        value, changed = run.summary[name], change_of(outcome, name, place).value or None
        return Cell(
            written,
            exact=None if value is None or few else exactly(value),
            mark=changed if few or written != first else None,
        )

    def _written(self, name: str, run: ComparedRun, *, rough: bool) -> str:
        """Return a figure as its kind is written; roughly, where it would tell how few people are concerned."""
        kind, value = known(self.outcome, name), run.summary[name]
        if rough and value is not None and kind.unit == Unit.COUNT:
            return self.discretion.count(int(value))
        if rough and value is not None and 0 < value < 1:
            return one_of_few().words if kind.one_of else ROUGHLY.cell(Fraction(value)).text
        if kind.unit == Unit.SIZE:
            return text("none up to a million") if value is None else number(value, ",.0f")
        if value is None:
            return NOTHING.text
        if kind.unit == Unit.CHANCE:
            return percentage(Fraction(value))
        if kind.unit == Unit.AMOUNT:
            return hundredths(value, run.currency)
        return number(value, ",.0f" if kind.unit == Unit.COUNT else ",.6g")

    def findings(self) -> tuple[Finding, ...]:
        """Return what got worse, what got better and what is the same, from the first run to every other."""
        changes = (self._changes(place) for place in range(1, len(self.outcome.runs)))
        return (
            *_ranking(self.outcome),
            *chain.from_iterable(changes),
            *_conditions(self.outcome),
        )

    def _changes(self, place: int) -> Iterator[Finding]:
        runs = self.outcome.runs
        words = {"first": runs[0].name, "last": runs[place].name}
        marks = {
            name: self.cell(name, place).mark
            for name in self.outcome.figures
            if known(self.outcome, name).risk
        }
        templates = {
            Change.WORSE: marked("From “{first}” to “{last}” this got worse: {changes}."),
            Change.BETTER: marked("From “{first}” to “{last}” this got better: {changes}."),
        }
        look = text("Look at what changed between the two studies, their terms or their data.")
        for change, sentence in templates.items():
            names = [name for name, mark in marks.items() if mark == change.value]
            if names:
                changes, every = self._listed(names, place)
                finding = note(translated(sentence, changes=changes, **words), figure=every)
                worse = replace(finding, severity=Severity.MODERATE, remedy=look)
                yield worse if change == Change.WORSE else finding
        same = not any(marks.values()) and len(set(map(_has_pseudonym, runs))) == 1
        if marks and same and not any(self._is_hidden(name, place) for name in marks):
            yield note(
                text(
                    "“{last}” is no worse and no better than “{first}” in any of the figures.",
                    **words,
                )
            )

    def _is_hidden(self, name: str, place: int) -> bool:
        """Tell whether a figure of the first run or of another is not told as it is."""
        return any(
            self.outcome.runs[run].summary[name] is not None and self.cell(name, run).exact is None
            for run in (0, place)
        )

    def _listed(self, names: Sequence[str], place: int) -> tuple[str, str]:
        """Return the first changes and how many more there are, and all of them."""
        changes = []
        for name in names:
            before, after = (self.cell(name, run).text for run in (0, place))
            change = text("{after} (before: {before})", after=after, before=before)
            if before == after:
                change = text("{after} in both, as far as is shown here", after=after)
            changes.append(f"{label(self.outcome, name)}: {change}")
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

    def tiles(self) -> tuple[Tile, ...]:
        """Return the first figures about the risk, in the first run and in the last; of people, that of each run."""
        outcome = self.outcome
        for name in outcome.ranking:
            return tuple(
                Tile(printable(run.name), self.cell(name, place).text, label(outcome, name))
                for place, run in enumerate(outcome.runs[:MOST_TILES])
            )
        last = len(outcome.runs) - 1
        names = [name for name in outcome.figures if known(outcome, name).risk][:MOST_TILES]
        return tuple(
            Tile(
                text("First and last run"),
                " → ".join(self.cell(name, place).text for place in (0, last)),
                label(outcome, name),
            )
            for name in names
        )

    def table(self) -> Table:
        """Return the figures of the runs, and how they changed: on a terminal under a title."""
        outcome, exact = self.outcome, self.discretion.exact
        title = text("Runs of {command} side by side", command=outcome.command) if exact else ""
        places = range(len(outcome.runs))
        rows = [
            (Cell(label(outcome, name)), *(self.cell(name, place) for place in places))
            for name in outcome.figures
        ]
        first = text("figure") if exact else text("Figure")
        return cell_table(first, [run.name for run in outcome.runs], rows, title)


def _part_cell(run: ComparedRun, name: str) -> Cell:
    """Return how well a part is attacked: a guess at a secret so that it does not tell how few have one value."""
    people = run.people[name]
    success = Fraction(run.summary[name] or 0).limit_denominator(people)
    return Among.of_part(people, exact=name.startswith("naming: ")).cell(success)


def _ranking(outcome: MeasuredRuns) -> Iterator[Finding]:
    """Yield the runs about people in order, the least exposed first, unless they are all alike."""
    for name, groups in outcome.ranking.items():
        if len(groups) == 1:
            continue
        chances = {run.name: Fraction(run.summary[name] or 0) for run in outcome.runs}
        written = percentages(*(chances[group[0]] for group in groups))
        ranked = [
            f"{in_words(figure)} ({joined([f'“{run}”' for run in group])})"
            for group, figure in zip(groups, written, strict=True)
        ]
        word, _, number_known = name.partition(": ")
        records = text("all") if number_known == "all" else number_known
        yield note(
            translated(_RANKED[word], known=records, ranking=joined(ranked)),
            remedy=text(
                "Of these, {runs} exposes people least; judge it by the rule on its own before you publish it.",
                runs=f"“{groups[0][0]}”",
            )
            if len(groups[0]) == 1
            else "",
        )


def _has_pseudonym(run: ComparedRun) -> bool:
    """Tell whether a run about people is of a release that keeps a pseudonym."""
    return any(name.startswith("pseudonym: ") for name in run.summary)


def _conditions(outcome: MeasuredRuns) -> Iterator[Finding]:
    """Yield what makes the runs hard to compare."""
    linked, unlinked = (
        [f"“{run.name}”" for run in outcome.runs if run.person and _has_pseudonym(run) == keeps]
        for keeps in (True, False)
    )
    if linked and unlinked:
        yield replace(
            note(
                text(
                    "{linked} keeps a pseudonym, and {unlinked} does not. Only what would be singled out "
                    "without one is "
                    "compared; with it more is learned, as the report of {linked} shows.",
                    linked=joined(linked),
                    unlinked=joined(unlinked),
                )
            ),
            severity=Severity.MODERATE,
        )
    if outcome.runs[0].parts:
        yield note(
            text_for(
                outcome.runs[0].size,
                "Parts are compared by the best set of {count} column in each of them.",
                "Parts are compared by the best set of {count} columns in each of them.",
            )
        )
    if len({run.person for run in outcome.runs}) > 1:
        people = (
            text("“{name}” by {columns}", name=run.name, columns=enumeration(run.person))
            for run in outcome.runs
        )
        yield note(
            text(
                "The runs do not agree on what counts as one person: {people}.",
                people="; ".join(people),
            ),
            meaning=text(
                "A chance is about one of those whom a run counts. Someone with several pseudonyms is counted once "
                "for each, and finding one of them reveals only the records under it."
            ),
        )
    if len({run.asked for run in outcome.runs}) > 1:
        yield note(
            text(
                "The runs do not assume that the adversary knows the same; differences may come from that."
            )
        )
    if len({run.records for run in outcome.runs}) > 1:
        yield records_finding([(run.name, run.records) for run in outcome.runs])
    amounts = any(known(outcome, name).unit == Unit.AMOUNT for name in outcome.figures)
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
    every, outcome = outcome, outcome.with_shown_parts()
    figures = FiguresTold(outcome)
    method, *words = METHODS[outcome.command]
    in_order = next(_ranking(outcome), None)
    return Page(
        title=text("Runs of {command} side by side", command=outcome.command),
        lead=", ".join(run.name for run in outcome.runs),
        findings=figures.findings(),
        summary="" if in_order is None else in_order.sentence,
        tiles=figures.tiles(),
        sections=(Section(text("The figures"), tables=(figures.table(),)),),
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
            ),
        ),
        glossary=glossary("adversary", *words, terms=(TERMS,)),
        provenance=provenance,
        command=command,
        method=method,
    )


TERMS = {"▲ ▼": marked("▲ marks what got worse for the people in the data, ▼ what got better.")}
METHODS: Mapping[str, tuple[str, ...]] = {
    "assess": (METHOD, "re-identification", "attribute inference"),
    "target": (METHOD, "target", "re-identification", "attribute inference"),
    "membership": (METHOD, "membership"),
    "deter": (DETERRENCE, "exploit", "re-identification"),
    "threat": (THREAT, "attacker", "learner", "relative threat"),
    "tables": (TABLES, "release"),
    "totals": (TOTALS, "release"),
}
"""Whose method the figures of each command are, and the words that it adds to the glossary."""
