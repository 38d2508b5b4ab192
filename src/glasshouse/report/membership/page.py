"""The reports on who is in a release, of everybody in a register.

They disclose nobody: no value of a quasi-identifier is in them, and sets of releases that hold fewer people than may be
told are summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from glasshouse.disclosure import hidden_parts, smallest_cell
from glasshouse.language import exactly, number, text, text_for
from glasshouse.microdata.assessment import Leakage
from glasshouse.microdata.presence import Member, Membership, Pattern
from glasshouse.microdata.uniqueness import PopulationRisks
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import (
    NOTHING,
    count_cell,
    factor_cell,
    guess_titles,
    leakage_cells,
    percent_cell,
    text_table,
    three_digits,
    yes_cell,
)
from glasshouse.report.charts import TARGETS, before_and_after_columns, shift_chart, wrapped
from glasshouse.report.discretion import Discretion, Told, personal, what_is_left_out
from glasshouse.report.membership.charts import presence_chart, presence_table
from glasshouse.report.membership.findings import (
    COMMAND,
    MOST_PATTERNS,
    answers_of,
    is_rough,
    linking,
    may_be_theirs,
    member_findings,
    membership_findings,
    population_findings,
    remarks,
    rounded,
    set_label,
    shown_patterns,
    taken_by_the_rule,
)
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    glossary,
    listed,
    percentage,
    plural,
    share,
    short_names,
    singular,
)
from glasshouse.study.membership import MembershipStudy
from glasshouse.table.treatment import Step

NERGIZ = "Nergiz, Atzori and Clifton 2007, “Hiding the presence of individuals from shared databases”, SIGMOD"


def page(
    outcome: Membership | Member | PopulationRisks,
    question: MembershipStudy,
    *,
    provenance: Provenance,
) -> Page:
    """Return the report: of all people, of one person, or estimated without a register."""
    common: dict[str, Any] = {
        "subject": question.subject,
        "provenance": provenance,
        "treatment": outcome.steps,
    }
    if isinstance(outcome, Membership):
        return membership_page(outcome, **common)
    if isinstance(outcome, Member):
        return member_page(outcome, **common)
    return population_page(outcome, **common)


def brief(outcome: Membership | Member | PopulationRisks, question: MembershipStudy) -> Brief:
    """Return what a terminal says of who is in a release."""
    subject = question.subject
    if isinstance(outcome, Membership):
        table, found = _releases_table(outcome), membership_findings(outcome, subject=subject)
    elif isinstance(outcome, Member):
        table = member_table(outcome)
        found = member_findings(outcome, subject=subject, exact=True)
    else:
        table, found = estimates_table(outcome), population_findings(outcome, subject=subject)
    return Brief((*treatment_blocks(outcome.steps), table), found)


def _releases_table(outcome: Membership) -> Table:
    """Return what a register tells of who is in each release, and in which of several."""
    title = text_for(
        outcome.classes,
        "{people} of {population} in {count} class",
        "{people} of {population} in {count} classes",
        people=counted(outcome.people, "person"),
        population=outcome.population,
    )
    measures = (
        text("in it"),
        text("certainly in"),
        text("certainly out"),
        text("one guess right"),
        text("chance of being in"),
    )
    rows = []
    for row in (*outcome.each, outcome):
        name = text("which of them") if row.each else ", ".join(row.datasets)
        guess = row.probabilistic
        rows.append(
            (
                f"{row.code} {name}",
                "–" if row.each else number(sum(row.members)),
                number(row.certainly_in),
                number(row.certainly_out),
                f"{three_digits(guess.prior)} → {three_digits(guess.posterior)}",
                _between(row.delta_min, row.delta_max),
            )
        )
    return text_table(title, text("release"), measures, rows)


def _between(least: Fraction | None, most: Fraction | None) -> str:
    if least is None or most is None:
        return "–"
    return text("{least} to {most}", least=three_digits(least), most=three_digits(most))


def membership_page(
    outcome: Membership,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
) -> Page:
    """Return the report on who is in one or several releases as a page.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
    """
    sections = (
        Section(
            text("The attacks"), tables=(_success_table(outcome, subject), _risks_table(outcome))
        ),
        _patterns_section(outcome, subject) if outcome.each else None,
        treatment_section(treatment, notes),
    )
    return Page(
        title=text(
            "Who is in {datasets}: what {register} lets an adversary learn",
            datasets=listed(outcome.datasets),
            register=outcome.population,
        ),
        lead=text(
            "{people} in {register}; what is known of them: {known}",
            people=counted(outcome.people, subject),
            register=outcome.population,
            known=enumeration(outcome.quasi_identifiers),
        ),
        findings=membership_findings(outcome, subject=subject),
        figures=(_presence_figure(outcome, subject),),
        sections=tuple(section for section in sections if section is not None),
        adversary=_adversary(outcome),
        limits=_limits(outcome),
        provenance=provenance,
        command=COMMAND,
        method=f"{METHOD}; {NERGIZ}",
        glossary=(
            *_terms(outcome),
            *glossary(
                "adversary",
                "membership",
                "quasi-identifier",
                "class",
                "release",
                "vulnerability",
                "leakage",
                "capacity",
            ),
        ),
    )


def _success_table(outcome: Membership, subject: str) -> Table:
    """Return, for all releases together and for each alone, who is certain and how good a guess is."""
    names = short_names(outcome.datasets)
    rows = []
    if outcome.each:
        rows.append(_success_row(text("all together"), outcome, records=sum(outcome.members)))
    rows += [
        _success_row(name, single, records=single.members[0])
        for name, single in zip(names, outcome.each or (outcome,), strict=True)
    ]
    sure = text("{people}, for sure", people=plural(subject))
    guess = text("one guess")
    columns = (
        Column(text("Release")),
        Column(text("Records"), numeric=True),
        *(
            Column(title, numeric=True, under=sure)
            for title in (text("in"), text("out"), text("in all"))
        ),
        *(
            Column(title, numeric=True, under=guess)
            for title in (text("before"), text("after"), text("added"), text("factor"))
        ),
    )
    return Table(columns, (Group(tuple(rows)),), title=text("What she learns"))


def _success_row(label: str, outcome: Membership, *, records: int) -> tuple[Cell, ...]:
    counts = (records, outcome.certainly_in, outcome.certainly_out)
    known = f"{count_cell(outcome.certain).text} ({share(outcome.certain, outcome.people)})"
    return (
        Cell(label, mark=outcome.code),
        *map(count_cell, counts),
        Cell(known),
        *leakage_cells(outcome.probabilistic),
    )


def _risks_table(outcome: Membership) -> Table:
    """Return, for each release, the bounds of presence and what follows for its records."""
    rows = tuple(
        (
            Cell(name),
            percent_cell(single.delta_min),
            percent_cell(single.delta_max),
            factor_cell(single.capacity),
            percent_cell(single.journalist),
            percent_cell(single.marketer),
        )
        for name, single in zip(
            short_names(outcome.datasets), outcome.each or (outcome,), strict=True
        )
    )
    being_in, named = text("chance of being in"), text("chance that a record is named")
    columns = (
        Column(text("Release")),
        Column(text("lowest"), numeric=True, under=being_in),
        Column(text("highest"), numeric=True, under=being_in),
        Column(text("Worst case, at most"), numeric=True),
        Column(text("highest"), numeric=True, under=named),
        Column(text("on average"), numeric=True, under=named),
    )
    return Table(columns, (Group(rows),), title=text("Bounds and risks"))


def _patterns_section(outcome: Membership, subject: str) -> Section:
    """Return how many people are in exactly which releases."""
    shown, others, rest = shown_patterns(outcome)
    shares: list[tuple[str, Fraction]] = [
        (set_label(pattern, outcome.datasets), part) for pattern, part in shown
    ]
    if others:
        together = text_for(others, "{count} other set", "{count} other sets together")
        shares.append((together, rest))
    rows = tuple((Cell(label), percent_cell(part)) for label, part in shares)
    columns = (
        Column(text("In exactly")),
        Column(text("Share of the {people}", people=plural(subject)), numeric=True),
    )
    intro = [linking(outcome.linked)]
    if not outcome.linked:
        intro.append(text("The shares are what is to be expected."))
    intro.append(
        text(
            "Sets that hold fewer than {smallest} {people} are summed up.",
            smallest=smallest_cell(),
            people=plural(subject),
        )
    )
    return Section(
        text("In which releases people are"),
        intro=" ".join(intro),
        tables=(Table(columns, (Group(rows),)),),
    )


def _presence_figure(outcome: Membership, subject: str) -> Figure:
    return Figure.of(
        presence_chart(outcome, subject=subject),
        label=text("{people} by how likely they are to be in", people=plural(subject)),
        caption=text(
            "How likely someone is to be in: the share of the release among the people who are alike on what is known. "
            "At both ends, in colour, those of whom it is certain."
        ),
        table=presence_table(outcome, subject=subject),
    )


def _adversary(outcome: Membership) -> tuple[str, ...]:
    return (
        text(
            "The adversary knows everybody in {register} and, of each, {known}. She knows the whole release.",
            register=outcome.population,
            known=enumeration(outcome.quasi_identifiers),
        ),
        text(
            "Before the attack she takes everybody there as equally likely to be the one she is after."
        ),
    )


def _limits(outcome: Membership) -> tuple[str, ...]:
    return (
        text(
            "Whoever is in a release must also be in {register}, once.", register=outcome.population
        ),
        *([linking(outcome.linked)] if outcome.each else []),
        text("Every figure is an exact ratio of counts; none is estimated.")
        if outcome.linked or not outcome.each
        else text(
            "Every figure of one release is an exact ratio of counts. Those of all releases together are what is to be "
            "expected."
        ),
        text("Nothing here tells who the people are."),
    )


def _terms(outcome: Membership) -> list[Term]:
    return [
        Term(
            text("For sure"),
            text(
                "Everybody who is alike on what is known is in, or nobody is; of several releases: in all of them, or "
                "in none."
            )
            if outcome.each
            else text("Everybody who is alike on what is known is in, or nobody is."),
        ),
        Term(
            text("One guess, before and after"),
            text(
                "The probability that her best guess is right, knowing only how many are in, and knowing something of "
                "the person besides (prior and posterior Bayes vulnerability)."
            ),
        ),
        Term(text("Added, factor"), text("After minus before, and after divided by before.")),
        Term(
            text("Chance of being in, lowest and highest"),
            text(
                "The bounds of δ-presence (Nergiz, Atzori and Clifton 2007): for everybody the chance of being in lies "
                "between them."
            ),
        ),
        Term(
            text("Worst case"),
            text(
                "No adversary with non-negative gains, whatever she believed before and whatever a guess is worth to "
                "her, multiplies her success by more than this (multiplicative Bayes capacity)."
            ),
        ),
        Term(
            text("Chance that a record is named"),
            text(
                "If she picks somebody in the register who fits a record: the highest chance that it is theirs (the "
                "journalist’s risk), and the share of all records that she would name right (the marketer’s risk; "
                "Dankar and El Emam 2010)."
            ),
        ),
    ]


DISCREET = Discretion()
"""How a report speaks of few people."""


def member_page(
    outcome: Member,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
) -> Page:
    """Return the report on whether one person is in one or several releases as a page.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
    """
    told = Told(is_rough(outcome, DISCREET))
    sections = (
        Section(
            text("The attacks"), tables=(_presence_table(outcome, told), _guess(outcome, told))
        ),
        _member_patterns_section(outcome, told) if len(outcome.datasets) > 1 else None,
        treatment_section(treatment, notes),
    )
    return Page(
        title=text(
            "Whether one {subject} is in {datasets}",
            subject=singular(subject),
            datasets=listed(outcome.datasets),
        ),
        lead=text(
            "One of {people} in {register}. This report is personal data.",
            people=counted(outcome.people, subject),
            register=outcome.population,
        ),
        findings=member_findings(outcome, subject=subject),
        figures=(_figure(outcome, told),),
        sections=tuple(section for section in sections if section is not None),
        adversary=_member_adversary(outcome),
        limits=_member_limits(outcome),
        provenance=provenance,
        command=COMMAND,
        method=METHOD,
        glossary=(
            *_member_terms(),
            *glossary("adversary", "target", "membership", "release", "vulnerability", "leakage"),
        ),
    )


def _presence_table(outcome: Member, told: Told) -> Table:
    """Return how likely the person is to be in each release."""
    presence = zip(short_names(outcome.datasets), outcome.records, outcome.present, strict=True)
    discretion = DISCREET if told.rough else Discretion(exact=True)
    rows = tuple(
        (
            Cell(name),
            Cell(may_be_theirs(records, discretion)),
            percent_cell(present.prior),
            told.cell(present.posterior),
            yes_cell(present.posterior in (0, 1)),
        )
        for name, records, present in presence
    )
    being_in = text("chance of being in")
    columns = (
        Column(text("Release")),
        Column(text("May be theirs"), numeric=True),
        Column(text("before"), numeric=True, under=being_in),
        Column(text("after"), numeric=True, under=being_in),
        Column(text("Certain")),
    )
    return Table(columns, (Group(rows),), title=text("Whether the person is in"))


def _guess(outcome: Member, told: Told) -> Table:
    """Return how good a guess is."""
    label = (
        text("tell whether the person is in")
        if len(outcome.datasets) == 1
        else text("tell in exactly which releases the person is")
    )
    row = (Cell(label, mark=outcome.code), *_guess_cells(outcome.guess, told))
    titles = (Column(title, numeric=True) for title in guess_titles())
    return Table((Column(text("Attack")), *titles), (Group((row,)),), title=text("One guess"))


def _guess_cells(guess: Leakage, told: Told) -> tuple[Cell, ...]:
    if told.rough and guess.posterior < 1:
        return leakage_cells(guess)[0], Cell(told.chance(guess.posterior)), NOTHING, NOTHING
    return leakage_cells(guess)


def _member_patterns_section(outcome: Member, told: Told) -> Section:
    """Return how likely the person is to be in exactly which releases."""
    shown, others, rest = _shown_patterns(outcome)
    rows = [(set_label(pattern, outcome.datasets), present) for pattern, present in shown]
    if others:
        label = text_for(others, "{count} other set", "{count} other sets together")
        rows.append((label, rest))
    cells = tuple(
        (Cell(label), percent_cell(present.prior), told.cell(present.posterior))
        for label, present in rows
    )
    columns = (Column(text("In exactly")), *before_and_after_columns())
    few = text(
        "Sets that hold fewer than {smallest} people are summed up.", smallest=smallest_cell()
    )
    return Section(
        text("In which releases the person is"),
        intro=f"{linking(outcome.linked)} {few}",
        tables=(Table(columns, (Group(cells),)),),
    )


def _shown_patterns(outcome: Member) -> tuple[list[tuple[Pattern, Leakage]], int, Leakage]:
    """Return the likeliest sets of releases, how many others there are, and these together.

    A set that holds fewer people than may be told is not shown, nor are as many others as it takes to cover it.
    """
    ordered = sorted(outcome.patterns.items(), key=lambda item: -item[1].posterior)
    held = [item for item in ordered if item[1].prior]
    hidden = hidden_parts([(float(present.prior * outcome.people),) for _, present in held])
    shown = [item for place, item in enumerate(held) if place not in hidden][:MOST_PATTERNS]
    rest = Leakage(
        1 - sum((present.prior for _, present in shown), Fraction(0)),
        1 - sum((present.posterior for _, present in shown), Fraction(0)),
    )
    return shown, len(ordered) - len(shown), rest


def _figure(outcome: Member, told: Told) -> Figure:
    names = short_names(outcome.datasets)
    presence = list(zip(names, outcome.present, strict=True))
    shifts = [told.shift(name, present.prior, present.posterior) for name, present in presence]
    rows = tuple(
        (Cell(name), percent_cell(present.prior), told.cell(present.posterior))
        for name, present in presence
    )
    return Figure.of(
        shift_chart(
            shifts,
            title=_member_finding(outcome, told),
            subtitle=text(
                "before: as anybody in {register}; after: as those who fit what is known",
                register=outcome.population,
            ),
        ),
        label=text("How likely the person is to be in, before and after"),
        caption=text(
            "“Before”: the share of the register that is in the release. “After”: the share of those who fit what is "
            "known."
        ),
        table=Table((Column(text("Release")), *before_and_after_columns()), (Group(rows),)),
    )


def _member_finding(outcome: Member, told: Told) -> str:
    """Say of the release of which most is learned how likely the person is to be in it."""
    presence = zip(short_names(outcome.datasets), outcome.present, strict=True)
    name, most = max(presence, key=lambda item: abs(item[1].additive))
    now, then = told.chances(most.posterior, most.prior)
    if not most.additive:
        return text(
            "{release}: the person is in it with a chance of {then}, as anybody is",
            release=name,
            then=then,
        )
    return text(
        "{release}: the person is in it with a chance of {now}; of anybody it is {then}",
        release=name,
        now=now,
        then=then,
    )


def _member_adversary(outcome: Member) -> tuple[str, ...]:
    knows = text(
        "The adversary knows everybody in {register}, the whole release and, of one person, {known}. What she knows is "
        "taken to be right.",
        register=outcome.population,
        known=enumeration(list(outcome.known)) or text("nothing"),
    )
    believes = text(
        "The person is one of those in {register} who fit what is known, each as likely as the other.",
        register=outcome.population,
    )
    return knows, believes


def _member_limits(outcome: Member) -> tuple[str, ...]:
    return (
        personal(),
        *what_is_left_out("glasshouse membership --json"),
        text(
            "Whoever is in a release must also be in {register}, once.", register=outcome.population
        ),
        *([linking(outcome.linked)] if len(outcome.datasets) > 1 else []),
        text("The figures follow from counts; none is estimated."),
    )


def _member_terms() -> tuple[Term, ...]:
    return (
        Term(
            text("Chance of being in"),
            text(
                "Among those who fit, the share that is in the release; before: among everybody in the register."
            ),
        ),
        Term(text("Certain"), text("Everybody who fits is in, or nobody is.")),
        Term(
            text("Guess before, guess after"),
            text(
                "The probability that her best single guess is right, knowing the release alone, and knowing something "
                "of the person besides (prior and posterior Bayes vulnerability)."
            ),
        ),
        Term(
            text("Added, factor"),
            text(
                "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a "
                "factor below 1. On average over everybody it cannot."
            ),
        ),
    )


def member_table(outcome: Member) -> Table:
    """Return how probable it is that one person is in each release, for a terminal."""
    title = text(
        "{code}: {candidates} of the {people} people of {population} fit",
        code=outcome.code,
        candidates=outcome.candidates,
        people=outcome.people,
        population=outcome.population,
    )
    rows = [
        (name, number(fitting), three_digits(present.prior), three_digits(present.posterior))
        for name, fitting, present in zip(
            outcome.datasets, outcome.records, outcome.present, strict=True
        )
    ]
    measures = (text("records that fit"), text("in it: before"), text("after"))
    return text_table(title, text("release"), measures, rows)


TAKEN, OTHER = TARGETS[0][0], "#b5b5b5"
"""Colours of the estimate that is taken, and of the others."""
ESTIMATORS = (
    "Dankar, El Emam, Neisa and Roffey 2012, “Estimating the re-identification risk of clinical data sets”, BMC "
    "Medical Informatics and Decision Making"
)


def population_page(
    risks: PopulationRisks,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
) -> Page:
    """Return the report on the risks in a population of which there is no register as a page.

    Args:
        risks: What was estimated.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
    """
    sections = (
        _estimates_section(risks, subject),
        _sample_section(risks, subject),
        treatment_section(treatment, notes),
    )
    return Page(
        title=text("The people behind {dataset}: estimated risks", dataset=risks.dataset),
        lead=text(
            "{records}, {share} of a population of about {people}; what is known of them: {known}",
            records=counted(risks.records, "record"),
            share=percentage(risks.fraction),
            people=counted(risks.people, subject),
            known=enumeration(risks.quasi_identifiers),
        ),
        findings=population_findings(risks, subject=subject),
        figures=(_estimates_figure(risks, subject),) if answers_of(risks) else (),
        sections=tuple(section for section in sections if section is not None),
        adversary=_population_adversary(risks),
        limits=_population_limits(),
        provenance=provenance,
        command=COMMAND,
        method=ESTIMATORS,
        glossary=(
            *_population_terms(),
            *glossary("adversary", "quasi-identifier", "class", "record", "release"),
        ),
    )


def estimates_chart(risks: PopulationRisks, *, subject: str = "person") -> alt.TopLevelMixin:
    """Show how many people are alone in the population, by each estimator that found an answer."""
    taken, answers = taken_by_the_rule(risks), answers_of(risks)
    rows = [
        {
            "estimator": f"{estimate.name} ({estimate.reference})",
            "people": uniques,
            "colour": TAKEN if estimate is taken else OTHER,
            "text": rounded(uniques),
        }
        for estimate, uniques in answers
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "people:Q",
            title=text("estimated number alone in the population"),
            scale=alt.Scale(domainMin=0),
            axis=alt.Axis(tickCount=5, format=",d"),
        ),
        y=alt.Y(
            "estimator:N", sort=None, title=None, axis=alt.Axis(labelPadding=8, labelLimit=300)
        ),
    )
    bars = base.mark_bar(height=18).encode(color=alt.Color("colour:N", scale=None))
    texts = base.mark_text(align="left", dx=6, fontSize=12).encode(text="text:N")
    return alt.layer(bars, texts).properties(
        width=480,
        height=alt.Step(34),
        title=alt.Title(wrapped(_population_finding(risks, subject), 80)),
    )


def _population_finding(risks: PopulationRisks, subject: str) -> str:
    """Say which estimate is taken."""
    taken = taken_by_the_rule(risks)
    if taken is None or taken.population_uniques is None:
        return text(
            "How many {people} are alone in the population: estimates", people=plural(subject)
        )
    return text(
        "{uniques} of about {people} are alone in the population, by the estimate of {estimator}",
        uniques=rounded(taken.population_uniques),
        people=counted(risks.people, subject),
        estimator=taken.name,
    )


def _estimates_section(risks: PopulationRisks, subject: str) -> Section:
    """Return what each estimator says, and which one is taken."""
    return Section(
        text("Who is alone in the population: estimates"),
        intro=text(
            "Each estimator has its own model of the population. The one that the rule of Dankar et al. takes is "
            "marked; the last row is the rule’s answer."
        ),
        tables=(_estimates_table(risks, subject),),
    )


def _estimates_table(risks: PopulationRisks, subject: str) -> Table:
    taken = taken_by_the_rule(risks)
    rows = tuple(
        (
            Cell(estimate.name, mark=text("taken:") if estimate is taken else None),
            Cell(estimate.reference),
            NOTHING if uniques is None else Cell(rounded(uniques), exact=exactly(uniques)),
            _share_cell(estimate.share_of_population),
            _share_cell(estimate.share_of_sample_uniques),
            yes_cell(estimate.converged),
            Cell(remarks(estimate.note)) if estimate.note else NOTHING,
        )
        for estimate in risks.estimates
        for uniques in (estimate.population_uniques,)
    )
    share = text("estimated share")
    columns = (
        Column(text("Estimator")),
        Column(text("Reference")),
        Column(text("Estimated {people} alone", people=plural(subject)), numeric=True),
        Column(text("of the population"), numeric=True, under=share),
        Column(text("of the records alone"), numeric=True, under=share),
        Column(text("Answer found")),
        Column(text("Remark")),
    )
    return Table(columns, (Group(rows),))


def _share_cell(probability: float | None) -> Cell:
    if probability is None:
        return NOTHING
    return Cell(percentage(Fraction(probability)), exact=exactly(probability))


def _sample_section(risks: PopulationRisks, subject: str) -> Section:
    """Return what the sample is, and the estimated risks of its records."""
    classes = text("about {figure}", figure=number(risks.population_classes, ",.0f"))
    rows = (
        (Cell(text("Records")), count_cell(risks.records)),
        (Cell(text("Records alone with what is known of them")), count_cell(risks.uniques)),
        (Cell(text("Classes of records alike")), count_cell(risks.classes)),
        (Cell(text("Classes in the population, estimated")), Cell(classes)),
        (
            Cell(text("Number of {people} in the population, estimated", people=plural(subject))),
            Cell(text("about {figure}", figure=number(risks.people))),
        ),
        (
            Cell(text("Share of the population that is in the release")),
            percent_cell(risks.fraction),
        ),
        (
            Cell(text("Highest chance that a record is named (journalist), estimated")),
            percent_cell(risks.journalist_highest),
        ),
        (
            Cell(text("The same on average over the records, estimated")),
            percent_cell(risks.journalist_average),
        ),
        (
            Cell(text("Share of the records that is named right (marketer), estimated")),
            percent_cell(risks.marketer),
        ),
        (
            Cell(text("The same with the expected size of each class, estimated")),
            _share_cell(risks.marketer_expected),
        ),
        (
            Cell(text("The same with the number of classes in the population, estimated")),
            _share_cell(risks.marketer_by_classes),
        ),
    )
    columns = (Column(text("What")), Column(text("Figure"), numeric=True))
    return Section(text("The sample and its risks"), tables=(Table(columns, (Group(rows),)),))


def _estimates_figure(risks: PopulationRisks, subject: str) -> Figure:
    rows = tuple(
        (
            Cell(f"{estimate.name} ({estimate.reference})"),
            Cell(rounded(uniques), exact=exactly(uniques)),
        )
        for estimate, uniques in answers_of(risks)
    )
    columns = (
        Column(text("Estimator")),
        Column(text("Estimated {people} alone", people=plural(subject)), numeric=True),
    )
    return Figure.of(
        estimates_chart(risks, subject=subject),
        label=text(
            "Estimated number of {people} alone in the population, by estimator",
            people=plural(subject),
        ),
        caption=text(
            "Each estimator’s answer; in colour the one that the rule of Dankar et al. takes. They are estimates: how "
            "far they are apart says how little is known."
        ),
        table=Table(columns, (Group(rows),)),
    )


def _population_adversary(risks: PopulationRisks) -> tuple[str, ...]:
    return (
        text(
            "The adversary has a register of the population and knows, of everybody in it, {known}. The publisher does "
            "not have that register.",
            known=enumeration(risks.quasi_identifiers),
        ),
    )


def _population_limits() -> tuple[str, ...]:
    return (
        text(
            "The release is taken to be a simple random sample of the population, with one record each, and the "
            "sampling fraction to be right."
        ),
        text("There is no register: but for counts of records, every figure is estimated."),
        text("Nothing here tells who the people are."),
    )


def _population_terms() -> tuple[Term, ...]:
    return (
        Term(
            text("Alone"),
            text(
                "Nobody else has the same in everything that is known: alone in the release (a sample unique), or "
                "alone in the whole population (a population unique)."
            ),
        ),
        Term(
            text("Journalist"),
            text(
                "An adversary who has a register and names one record: her risk is 1 divided by the number of people "
                "of the population who fit, which is estimated as records alike divided by the sampling fraction (El "
                "Emam and Dankar 2008)."
            ),
        ),
        Term(
            text("Marketer"),
            text(
                "An adversary who has a register and names all records as well as she can: the share that she gets "
                "right (Dankar and El Emam 2010). The plain estimate, from the sizes in the release, is low. Two "
                "others take the expected size of each class (Benedetti and Franconi 1998), and the estimated number "
                "of classes in the population (Haas and Stokes 1998)."
            ),
        ),
        Term(
            text("Rule of Dankar et al."),
            text(
                "Which estimator to take: Pitman’s up to a sampling fraction of a tenth, above it the lower one of "
                "Zayatz’s and SNB’s."
            ),
        ),
    )


def estimates_table(risks: PopulationRisks) -> Table:
    """Return the estimates of how many people are unique in the population, for a terminal."""
    measures = (text("unique people"), text("of the population"), text("of the unique records"))
    rows = [
        (
            f"{estimate.name} ({estimate.reference})",
            text("no answer")
            if estimate.population_uniques is None
            else number(estimate.population_uniques, ",.0f"),
            _share_of(estimate.share_of_population),
            _share_of(estimate.share_of_sample_uniques),
        )
        for estimate in risks.estimates
    ]
    title = text("Estimated: how many people are unique in the population")
    return text_table(title, text("estimator"), measures, rows)


def _share_of(share: float | None) -> str:
    return "–" if share is None else text("{figure} %", figure=number(100 * float(share), ".3g"))
