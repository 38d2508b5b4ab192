"""What an attack on one person comes to for somebody who does not know that the person is in the release.

Only where each record is somebody's: of people with several records it is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from glasshouse.language import marked, number, percentage, rounded, text, translated
from glasshouse.microdata.individual import Journalist
from glasshouse.microdata.leakage import Leakage
from glasshouse.report.cells import cell_table, percent_cell
from glasshouse.report.discretion import (
    EXACTLY,
    ROUGHLY,
    Among,
    Discretion,
    Told,
    ToldChange,
    change_told,
    more_than_one_in,
)
from glasshouse.report.page import Cell, Finding, Section, Severity, Tile
from glasshouse.report.severity import graded
from glasshouse.report.words import counted, plural, singular

METHOD = (
    "El Emam and Dankar 2008, “Protecting privacy using k-anonymity”, Journal of the American Medical Informatics "
    "Association"
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
        "Counted in {register}, assuming that what it does not say is as frequent among those who are in the "
        "release as among those who are not."
    ),
    "counted": marked("Counted in {register}."),
}
"""How the people who fit were counted."""


@dataclass(frozen=True)
class JournalistTold:
    """What it comes to, as a reader may be told of it."""

    journalist: Journalist
    """What came out."""
    records: int
    """The number of records in the release."""
    candidates: int
    """How many of them fit."""
    discretion: Discretion
    """Whether small numbers of people are told."""

    @property
    def bound(self) -> int | None:
        """What the number of people who fit is told to be below; None: it is told."""
        if self.journalist.estimated:
            return self.discretion.bound(self.candidates, self.journalist.population / self.records)
        return self.discretion.bound(self.journalist.fitting)

    @property
    def _wording(self) -> Among:
        """How the chance of being in is told."""
        few = self.bound is not None or self.discretion.bound(self.candidates) is not None
        return ROUGHLY if few and not self.journalist.estimated else EXACTLY

    @property
    def presence(self) -> ToldChange:
        """How likely the person is to be in the release."""
        return change_told(self.journalist.presence, EXACTLY, self._wording)

    @property
    def naming(self) -> Told:
        """How likely a record that fits is theirs."""
        chance, bound = self.journalist.naming.posterior, self.bound
        if bound is None or chance in (0, 1):
            return EXACTLY.told(chance)
        least, words = Fraction(1, bound), more_than_one_in(bound)
        return Told(words, Cell(f"> {percentage(least)}"), words, float(least))

    def as_told(self) -> Journalist:
        """Return an outcome that is the same for all that looks the same in a report."""
        presence, naming = self.journalist.presence, self.journalist.naming
        presence = replace(presence, posterior=self._wording.drawn(presence.posterior))
        naming = naming if self.bound is None else one_of_two(naming)
        return replace(self.journalist, presence=presence, naming=naming)

    def finding(self, subject: str, caveats: Sequence[str]) -> Finding:
        """Say what it comes to, and what must hold for it."""
        journalist, presence = self.journalist, self.presence
        is_certain = journalist.presence.posterior == 1
        if journalist.estimated:
            case = "estimated"
        elif not self.candidates:
            case = "nobody"
        elif is_certain:
            case = "alone" if self.candidates == 1 else "everybody"
        else:
            case = "assumed" if journalist.assumed else "counted"
        now, then = presence.words
        sentence = translated(
            NOT_KNOWING[case],
            people=self._who_fits(subject),
            register=str(journalist.register),
            inside=self.discretion.count(self.candidates),
            before=then,
            presence=now,
            named=self.naming.words,
        )
        certain = is_certain and journalist.presence.prior < 1
        severity = graded(journalist.naming.posterior, certain=certain)
        return Finding(
            severity if self.candidates else Severity.NOTE,
            " ".join((sentence, *caveats)),
            text(
                "being in the release: exactly {after}; before, {before}; the record is theirs: {named}",
                before=presence.before.figure,
                after=presence.after.figure,
                named=self.naming.figure,
            ),
            text(
                "The more people of the population fit, the less a record that fits says about this person."
            )
            if self.candidates
            else "",
        )

    def _who_fits(self, subject: str) -> str:
        """Return how many people of the population fit, in words."""
        journalist, fitting = self.journalist, self.journalist.fitting
        if self.bound is not None:
            fewer = text("fewer than {smallest}", smallest=self.bound)
            return text("{count} {people}", count=fewer, people=plural(subject))
        if not journalist.estimated and not journalist.assumed:
            return counted(int(fitting), subject)
        return text(
            "about {count} {people}",
            count=_people(fitting),
            people=singular(subject) if fitting == 1 else plural(subject),
        )

    def tile(self) -> Tile | None:
        """Return how likely the person is to be in the release; None where it is told only between bounds."""
        presence = self.presence
        if not presence.after.is_exact:
            return None
        template = (
            marked("is the estimated chance that they are in the release")
            if self.journalist.estimated
            else marked("is the chance that they are in the release; before: {before}")
        )
        return Tile(
            text("Is this person in it?"),
            presence.after.cell.text,
            translated(template, before=presence.before.cell.text),
        )

    def section(self) -> Section:
        """Return the figures."""
        journalist, presence = self.journalist, self.presence
        population, fitting = map(_people, (journalist.population, journalist.fitting))
        columns = (text("Before"), text("After"))
        if journalist.estimated:
            how, columns = "estimated", (text("Before, estimated"), text("After, estimated"))
            population = text("about {figure}", figure=population)
        else:
            how = "assumed" if journalist.assumed else "counted"
        if self.bound is not None:
            fitting = text("fewer than {smallest}", smallest=self.bound)
        elif journalist.estimated or journalist.assumed:
            fitting = text("about {figure}", figure=fitting)
        rows = (
            (text("Number of people who may be meant"), population, fitting),
            (text("The person is in the release"), presence.before.cell, presence.after.cell),
            (
                text("A record that she picks is the person's"),
                percent_cell(journalist.naming.prior),
                self.naming.cell,
            ),
        )
        return Section(
            text("If she does not know that the person is in the release"),
            intro=translated(COUNTED[how], register=str(journalist.register)),
            tables=(cell_table(text("What"), columns, rows),),
        )


def one_of_two(chance: Leakage) -> Leakage:
    """Return a chance that is not told, as if there were two."""
    return replace(chance, posterior=Fraction(1, 2)) if 0 < chance.posterior < 1 else chance


def _people(count: Fraction) -> str:
    """Return a number of people; an estimated one may be broken, which matters only where it is small."""
    return number(count, ",.1f") if count < 10 and count.denominator > 1 else number(rounded(count))
