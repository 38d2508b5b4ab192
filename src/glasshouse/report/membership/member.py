"""Whether one person is in a release. Its report is personal data, as it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from glasshouse.language import marked, number, percentage, text, translated
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.presence import Member
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import (
    GUESSES,
    cell_table,
    guess_titles,
    leakage_cells,
    under,
    yes_cell,
)
from glasshouse.report.charts import (
    Shift,
    before_and_after_table,
    shift_figure,
)
from glasshouse.report.discretion import (
    EXACTLY,
    NOT_TOLD,
    ROUGHLY,
    Among,
    Discretion,
    ToldChange,
    change_told,
    personal,
    what_is_left_out,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.membership.releases import (
    COMMAND,
    NOTHING_ELSE_KNOWN,
    TELLING_IN_ITSELF,
    has_few,
    linking,
    register_limits,
    set_label,
    sets_of_releases,
    summed_up,
    untold,
)
from glasshouse.report.page import (
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
)
from glasshouse.report.provenance import treatment_section
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    counted,
    enumeration,
    in_words,
    joined,
    listed,
    percentages,
    plural,
    sentences,
    short_names,
)

MEMBER_TERMS = {
    marked("Chance of being in"): marked(
        "Among those who fit, the share that is in the release; before: among everybody in the register."
    ),
    marked("Certain"): marked("Everybody who fits is in, or nobody is."),
    **GUESSES,
    marked("Added, factor"): marked(
        "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a factor "
        "below 1. On average over everybody it cannot."
    ),
}
"""The words of a report on one person, explained."""

LESS_LIKELY = Fraction(1, 5)
"""How likely a set of releases is taken to be that is not the likeliest, where its chance is not told."""


@dataclass(frozen=True)
class MemberTold:
    """Whether one person is in, as a reader may be told of it."""

    exactly: Member
    """What came out."""
    subject: str
    """What a record stands for."""
    exact: bool = False
    """Whether small numbers of people are told: for the analyst's own eyes, never for a report."""

    @cached_property
    def outcome(self) -> Member:
        """An outcome that is the same for all that looks the same in a report, so that no sentence tells more."""
        outcome, patterns = self.exactly, self.exactly.patterns
        if not self.among.rough:
            return outcome

        def leakage(exact: Leakage, most: Fraction = Fraction(1)) -> Leakage:
            return replace(exact, posterior=min(most, self.among.drawn(exact.posterior)))

        likeliest = max(patterns, key=lambda pattern: patterns[pattern].posterior)
        less_likely = {pattern: leakage(part, LESS_LIKELY) for pattern, part in patterns.items()}
        return replace(
            outcome,
            present=tuple(map(leakage, outcome.present)),
            patterns=less_likely | {likeliest: leakage(patterns[likeliest])},
            guess=leakage(outcome.guess),
        )

    @cached_property
    def counts(self) -> Discretion:
        """How numbers of those who fit are told: how many are in a release of all is no secret."""
        return Discretion(self.exact or self.exactly.candidates == self.exactly.people)

    @cached_property
    def among(self) -> Among:
        """How chances among those who fit are told: hardly where they are few, or those of them in or out."""
        candidates = self.exactly.candidates
        if self.counts.bound(candidates) is not None:
            return ROUGHLY
        few = any(self._is_few(records) for records in self.exactly.records)
        return NOT_TOLD if few else EXACTLY

    def _is_few(self, records: int) -> bool:
        """Tell whether so few of those who fit are in a release, or are not, that it may not be told."""
        counts = (records, self.exactly.candidates - records)
        return any(self.counts.bound(count) is not None for count in counts)

    @cached_property
    def presence(self) -> list[ToldChange]:
        """How likely the person is to be in each release."""
        return [change_told(present, EXACTLY, self.among) for present in self.outcome.present]

    @cached_property
    def guess(self) -> ToldChange:
        """How often a guess at the releases that hold the person is right."""
        guess = self.outcome.guess
        change, (before, *_) = change_told(guess, EXACTLY, self.among), leakage_cells(guess)
        return replace(change, cells=(before, *change.cells[1:]))

    def may_be_theirs(self, records: int) -> str:
        """Say how many records may be the person's, unless it would tell how few are in the release, or are not."""
        if self.counts.bound(self.outcome.candidates) is None and self._is_few(records):
            return text("some records")
        return self.counts.people(records, "record") if records else text("no record")

    # Findings

    def findings(self) -> tuple[Finding, ...]:
        """Return who fits what is known, and how likely it is that they are in, before and after."""
        several = len(self.outcome.datasets) > 1 and (self.exact or not has_few(self.outcome))
        return (
            self._candidates(),
            self._present(),
            *([self._best_set()] if several else []),
            *untold(self.outcome),
        )

    def _candidates(self) -> Finding:
        """Say who fits what is known of one person."""
        outcome = self.outcome
        if not outcome.known:
            template = marked(
                "Nothing is known about this person: any of the {people} of {register} may be meant."
            )
        elif len(outcome.datasets) > 1:
            template = marked(
                "{candidates} of the {people} of {register} may be this person, judging by what is known ({known})."
            )
        else:
            template = marked(
                "{candidates} of the {people} of {register} may be this person, judging by what is known ({known}); "
                "in {release}, {records} may be theirs."
            )
        sentence = translated(
            template,
            register=outcome.population,
            people=counted(outcome.people, self.subject),
            known=enumeration(list(outcome.known)),
            candidates=self.counts.count(outcome.candidates),
            release=outcome.datasets[0],
            records=self.may_be_theirs(outcome.records[0]),
        )
        return note(sentence[:1].upper() + sentence[1:])

    def _present(self) -> Finding:
        """Say whether the person is in the release, or in which of several."""
        outcome = self.outcome
        moved = [abs(present.additive) for present in outcome.present]
        certain = any(
            present.posterior in (0, 1) and present.additive for present in outcome.present
        )
        if len(outcome.datasets) == 1:
            sentence, figure = self._present_sentence(), self.presence[0].figure
        else:
            sentence, figure = self._places(), ""
        if not any(moved) and all(chance.after.is_exact for chance in self.presence):
            return reassurance(sentence, figure, translated(NOTHING_ELSE_KNOWN))
        severity = graded(max(moved), certain=certain)
        return Finding(severity, sentence, figure, translated(TELLING_IN_ITSELF))

    def _present_sentence(self) -> str:
        outcome, among = self.outcome, self.among
        before, after = outcome.present[0].prior, outcome.present[0].posterior
        now, then = self.presence[0].words
        if before == 1:
            template = marked(
                "It is certain that this person is in {release}, as everybody of {register} is."
            )
        elif before == 0:
            template = marked(
                "It is certain that this person is not in {release}, as nobody of {register} is."
            )
        elif after == 1:
            template = marked(
                "It is certain that this person is in {release}; for anybody in {register} the chance of being in it "
                "is {then}."
            )
        elif after == 0:
            template = marked(
                "It is certain that this person is not in {release}; for anybody in {register} the chance of being "
                "in it is {then}."
            )
        elif after == before and self.presence[0].is_exact:
            template = marked(
                "The chance that this person is in {release} is {then}, the same as for anybody in {register}: "
                "nothing is learned."
            )
        elif among.people == 0:
            template = marked(
                "How likely it is that this person is in {release} is not shown; for anybody in {register} it is "
                "{then}."
            )
        else:
            template = marked(
                "The chance that this person is in {release} is {now}; for anybody in {register} it is {then}."
            )
        sentence = translated(
            template, release=outcome.datasets[0], register=outcome.population, now=now, then=then
        )
        if (
            among.rough
            or outcome.guess.additive >= 0
            or after in (0, 1, before)
            or before in (0, 1)
        ):
            return sentence
        right, general = map(in_words, percentages(outcome.guess.posterior, outcome.guess.prior))
        harder = text(
            "Whether they are in it is harder to guess than for people in general: a guess is right in {right} "
            "of cases instead of {general}.",
            right=right,
            general=general,
        )
        return f"{sentence} {harder}"

    def _places(self) -> str:
        """Say how likely the person is to be in each of several releases."""
        after = [present.posterior for present in self.outcome.present]
        rough = [chance.after.cell.text for chance in self.presence]
        figures = rough if self.among.rough else percentages(*after)
        likely = map(in_words, figures)
        releases = list(zip(short_names(self.outcome.datasets), after, likely, strict=True))
        inside = [name for name, probability, _ in releases if probability == 1]
        outside = [name for name, probability, _ in releases if probability == 0]
        places = [text("certain for {releases}", releases=joined(inside))] if inside else []
        places += [text("ruled out for {releases}", releases=joined(outside))] if outside else []
        places += [
            text("{chance} for {release}", chance=how_likely, release=name)
            for name, probability, how_likely in releases
            if 0 < probability < 1
        ]
        return text(
            "How likely it is that this person is in each release: {places}.",
            places="; ".join(places),
        )

    def _best_set(self) -> Finding:
        """Say which set of several releases is the best guess, before and after."""
        outcome = self.outcome
        patterns, guess = outcome.patterns, outcome.guess
        after, before = guess.posterior, guess.prior
        right, then = self.guess.words
        likeliest = max(patterns, key=lambda pattern: patterns[pattern].posterior)
        former = max(patterns, key=lambda pattern: patterns[pattern].prior)
        if before == 1:
            template = marked(
                "Everybody in {register} is in the same releases ({first}): nothing is learned."
            )
        elif after == 1:
            template = marked(
                "It is certain which releases hold this person: {best}. For anybody in {register} the best guess "
                "would be {first}, right in {then} of cases."
            )
        elif after < before and right != then and not self.among.rough:
            template = marked(
                "Which releases hold this person is harder to guess than for people in general: the best guess is "
                "{best}, right in {right} of cases; for anybody in {register} it would be {first}, right in {then}."
            )
        else:
            template = marked(
                "The best guess at which releases hold this person is {best}, right in {right} of cases; for anybody "
                "in {register} it would be {first}, right in {then}."
            )
        sentence = translated(
            template,
            register=outcome.population,
            best=set_label(likeliest, outcome.datasets),
            first=set_label(former, outcome.datasets),
            right=right,
            then=then,
        )
        changed = any(pattern.additive for pattern in patterns.values())
        return Finding(
            graded(guess.additive, certain=outcome.certain) if changed else Severity.SAFE,
            sentence,
            self.guess.figure,
        )

    # Tiles, tables and the picture

    def tiles(self) -> Iterator[Tile]:
        """Yield how likely the person is to be in the release of which most is learned, and how many may be meant."""
        outcome, (name, most) = self.outcome, self._most_telling()
        yield Tile(
            text("Is this person in it?"),
            most.after.cell.text,
            text(
                "is the chance that they are in {release}; for anybody in {register} it is {before}",
                release=name,
                register=outcome.population,
                before=most.before.cell.text,
            ),
        )
        yield Tile(
            text("Who it can be"),
            self.counts.figure(outcome.candidates),
            text("of the {people} fit what is known", people=counted(outcome.people, self.subject)),
        )

    def presence_table(self) -> Table:
        """Return how likely the person is to be in each release."""
        outcome = self.outcome
        certain = [present.posterior in (0, 1) for present in outcome.present]
        names = short_names(outcome.datasets)
        rows = [
            (
                Cell(name),
                Cell(self.may_be_theirs(records)),
                chance.before.cell,
                chance.after.cell,
                yes_cell(is_certain),
            )
            for name, records, chance, is_certain in zip(
                names, outcome.records, self.presence, certain, strict=True
            )
        ]
        chance = under(text("chance of being in"), text("before"), text("after"))
        columns: tuple[str | Column, ...] = (
            text("May be theirs"),
            *chance,
            Column(text("Certain")),
        )
        return cell_table(text("Release"), columns, rows, text("Whether the person is in"))

    def guess_table(self) -> Table:
        """Return how often a guess at the releases that hold the person is right."""
        label = (
            text("say in exactly which releases the person is")
            if len(self.outcome.datasets) > 1
            else text("say whether the person is in")
        )
        row = (Cell(label, mark=self.outcome.code), *self.guess.cells)
        return cell_table(text("Attack"), guess_titles(), [row], text("One guess"))

    def sets_section(self) -> Section:
        """Return in which releases the person is, and how likely that is."""
        shifts = [
            Shift.of(label, part, EXACTLY, self.among)
            for label, part in sets_of_releases(self.outcome)
        ]
        linked, few = linking(self.outcome.linked), summed_up(self.outcome, plural("person"))
        return Section(
            text("In which releases the person is"),
            intro=" ".join((linked, *few)),
            tables=(before_and_after_table(text("In exactly"), shifts),),
        )

    def figure(self) -> Figure:
        """Show how likely the person is to be in each release, before and after."""
        names = short_names(self.outcome.datasets)
        presence = zip(names, self.presence, strict=True)
        return shift_figure(
            text("Release"),
            [Shift(name, chance.before, chance.after) for name, chance in presence],
            title=self._title(),
            subtitle=text(
                "before: as anybody in {register}; after: as those who fit what is known",
                register=self.outcome.population,
            ),
            label=text("How likely the person is to be in, before and after"),
            caption=text(
                "“Before”: the share of the register that is in the release. “After”: the share of those who fit what "
                "is known."
            ),
        )

    def _most_telling(self) -> tuple[str, ToldChange]:
        """Return the release of which most is learned, and how likely the person is to be in it."""
        added = [abs(present.additive) for present in self.outcome.present]
        most = added.index(max(added))
        return short_names(self.outcome.datasets)[most], self.presence[most]

    def _title(self) -> str:
        """Say of the release of which most is learned how likely the person is to be in it."""
        name, most = self._most_telling()
        now, then = most.words
        words = {"release": name, "now": now, "then": then}
        nothing = not any(present.additive for present in self.outcome.present)
        if nothing and not self.among.rough:
            return text("{release}: the chance of being in it is {then}, as for anybody", **words)
        return text(
            "{release}: the chance of being in it is {now}; for anybody it is {then}", **words
        )

    def table_in_short(self) -> Table:
        """Return how probable it is that one person is in each release, for a terminal."""
        outcome = self.outcome
        title = text(
            "{candidates} of the {people} people of {population} fit",
            candidates=outcome.candidates,
            people=outcome.people,
            population=outcome.population,
        )
        rows = [
            (name, number(fitting), percentage(present.prior), percentage(present.posterior))
            for name, fitting, present in zip(
                outcome.datasets, outcome.records, outcome.present, strict=True
            )
        ]
        measures = (text("records that fit"), text("in it: before"), text("after"))
        return cell_table(text("release"), measures, rows, title)


def member_page(outcome: Member, subject: str, provenance: Provenance) -> Page:
    """Return the report on whether one person is in one or several releases."""
    words = {
        "datasets": listed(outcome.datasets),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "known": enumeration(list(outcome.known)) or text("nothing"),
    }
    person, several = MemberTold(outcome, subject), len(outcome.datasets) > 1
    few = has_few(person.outcome)
    candidates, present, *further = person.findings()
    if several:
        present = replace(present, picture=person.figure())
    guesses = () if few else (person.guess_table(),)
    sections = (
        Section(text("The attacks"), tables=(person.presence_table(), *guesses)),
        person.sets_section() if several and not few else None,
        treatment_section(outcome.steps),
    )
    return Page(
        title=text("Whether one person is in {datasets}", **words),
        lead=text("One of {people} in {register}. This report is personal data.", **words),
        findings=(candidates, present, *further),
        tiles=tuple(person.tiles()),
        sections=tuple(filter(None, sections)),
        adversary=sentences(
            marked(
                "The adversary knows everybody in {register}, the whole release and, of one person, {known}. What she "
                "knows is taken to be right."
            ),
            marked(
                "The person is one of those in {register} who fit what is known, each as likely as the other."
            ),
            **words,
        ),
        limits=(
            personal(),
            *what_is_left_out("glasshouse membership --json"),
            *register_limits(outcome),
            text("The figures follow from counts; none is estimated."),
        ),
        provenance=provenance,
        command=COMMAND,
        method=METHOD,
        glossary=glossary(
            "adversary, target, membership, release, vulnerability, leakage", terms=(MEMBER_TERMS,)
        ),
    )
