"""What it comes to if the adversary does not know that the person is in the release: the journalist's attack."""

from __future__ import annotations

import math
from fractions import Fraction

from glasshouse.disclosure import smallest_cell
from glasshouse.language import number, text
from glasshouse.microdata.target import Journalist, Target
from glasshouse.report.assess.findings import graded
from glasshouse.report.chances import before_and_after_columns, chance
from glasshouse.report.discretion import Discretion, Told, more_than_one_in, ratio
from glasshouse.report.page import Cell, Column, Finding, Group, Section, Severity, Table
from glasshouse.report.words import counted, plural, rounded, singular

JOURNALIST = (
    "El Emam and Dankar 2008, “Protecting privacy using k-anonymity”, Journal of the American Medical Informatics "
    "Association"
)


def journalist_finding(
    journalist: Journalist, target: Target, subject: str, discretion: Discretion
) -> Finding:
    """Say what it comes to for somebody who does not know that the person is in the release."""
    presence, naming = journalist.presence, journalist.naming
    bound = _fitting_bound(target, journalist, discretion)
    few = discretion.hides(target.candidates) or bound is not None
    told = Told(few and not journalist.estimated)
    hidden = bound is not None and 0 < naming.posterior < 1
    named = more_than_one_in(bound) if bound is not None and hidden else chance(naming.posterior)
    parts = {
        "subject": singular(subject),
        "people": _who_fits(journalist, bound, subject),
        "register": str(journalist.register),
        "inside": discretion.count(target.candidates),
        "before": chance(presence.prior),
        "presence": told.chance(presence.posterior),
        "named": named,
    }
    sentence = _sentence(journalist, target, parts)
    absent = not target.candidates
    return Finding(
        Severity.NOTE
        if absent
        else graded(naming.posterior, certain=presence.posterior == 1 > presence.prior),
        sentence,
        figure=text(
            "being in the release: prior {before}, posterior {after}; naming the record: posterior {named}",
            before=ratio(presence.prior),
            after=told.ratio(presence.posterior),
            named=named if hidden else ratio(naming.posterior),
        ),
        meaning=""
        if absent
        else text(
            "The more people of the population fit, the less a record that fits says about this person."
        ),
    )


def journalist_section(journalist: Journalist, target: Target, discretion: Discretion) -> Section:
    """Return what it comes to for somebody who does not know that the person is in the release."""
    bound = _fitting_bound(target, journalist, discretion)
    few = bound is not None or discretion.hides(target.candidates)
    presence = Told(few and not journalist.estimated).cell(journalist.presence.posterior)
    exact = Told(rough=False)
    naming = journalist.naming
    rows = (
        (
            Cell(text("Number of people who may be meant")),
            _number_cell(journalist.population, reckoned=journalist.estimated),
            _fitting_cell(journalist, bound),
        ),
        (
            Cell(text("The person is in the release")),
            exact.cell(journalist.presence.prior),
            presence,
        ),
        (
            Cell(text("A record that she picks is the person's")),
            exact.cell(naming.prior),
            exact.cell(naming.posterior)
            if bound is None or naming.posterior in (0, 1)
            else Cell(f"> {exact.cell(Fraction(1, bound)).text}"),
        ),
    )
    return Section(
        text("If she does not know that the person is in the release"),
        intro=_counted(journalist),
        tables=(Table((Column(text("What")), *_journalist_columns(journalist)), (Group(rows),)),),
    )


def _fitting_bound(target: Target, journalist: Journalist, discretion: Discretion) -> int | None:
    """Return what the number of people who fit is below, where the number itself is not told."""
    if journalist.estimated:
        share = journalist.population / target.records
        return math.ceil(smallest_cell() * share) if discretion.hides(target.candidates) else None
    return smallest_cell() if discretion.hides(journalist.fitting) else None


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


def _sentence(journalist: Journalist, target: Target, parts: dict[str, str]) -> str:
    if journalist.estimated:
        return text(
            "Someone who does not know whether this {subject} is in the release can only estimate: {people} of the "
            "population may fit, so that this {subject} is in it with an estimated chance of {presence}, and a record "
            "that fits is theirs with an estimated chance of {named}.",
            **parts,
        )
    if not target.candidates:
        return text(
            "Someone who does not know whether this {subject} is in the release learns that it does not hold them: "
            "nobody of {register} who may be meant ({people}) has a record in it.",
            **parts,
        )
    if journalist.presence.posterior == 1 and target.candidates == 1:
        return text(
            "Someone who does not know whether this {subject} is in the release learns that it holds them, for nobody "
            "else of {register} fits: the record is theirs for certain.",
            **parts,
        )
    if journalist.presence.posterior == 1:
        return text(
            "Someone who does not know whether this {subject} is in the release learns that it holds them: it holds "
            "everybody of {register} who may be meant ({people}).",
            **parts,
        )
    if journalist.assumed:
        return text(
            "Someone who does not know whether this {subject} is in the release reckons: of {register}, {people} may "
            "be meant, and the release holds {inside} of them. So this {subject} is in it with a chance of {presence} "
            "(before: {before}), and a record that fits is theirs with a chance of {named}. This assumes that what "
            "{register} does not tell is as frequent among those who are in the release as among those who are not.",
            **parts,
        )
    return text(
        "Someone who does not know whether this {subject} is in the release counts: of {register}, {people} may be "
        "meant, and the release holds {inside} of them. So this {subject} is in it with a chance of {presence} "
        "(before: {before}), and a record that fits is theirs with a chance of {named}.",
        **parts,
    )


def _journalist_columns(journalist: Journalist) -> tuple[Column, Column]:
    if not journalist.estimated:
        return before_and_after_columns()
    return (
        Column(text("Before, estimated"), numeric=True),
        Column(text("After, estimated"), numeric=True),
    )


def _fitting_cell(journalist: Journalist, bound: int | None) -> Cell:
    if bound is not None:
        return Cell(text("fewer than {smallest}", smallest=bound))
    reckoned = journalist.estimated or journalist.assumed
    return _number_cell(journalist.fitting, reckoned=reckoned)


def _number_cell(count: Fraction, *, reckoned: bool) -> Cell:
    said = _people_fitting(count)
    return Cell(text("about {figure}", figure=said) if reckoned else said)


def _counted(journalist: Journalist) -> str:
    """Say how the people who fit were counted."""
    if journalist.estimated:
        return text(
            "There is no register of the population: these figures are estimated, from the share of the population "
            "that is in the release."
        )
    if journalist.assumed:
        return text(
            "Counted in {register}, assuming that what it does not tell is as frequent among those who are in the "
            "release as among those who are not.",
            register=str(journalist.register),
        )
    return text("Counted in {register}.", register=str(journalist.register))
