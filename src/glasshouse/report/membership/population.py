"""The report on the risks in a population of which there is no register: what is estimated, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import altair as alt

from glasshouse.language import exactly, number, text
from glasshouse.microdata.uniqueness import PopulationRisks
from glasshouse.report.cells import NOTHING, count_cell, percent_cell, yes_cell
from glasshouse.report.glossary import glossary
from glasshouse.report.membership.population_findings import (
    answers_of,
    population_findings,
    remarks,
    rounded,
    taken_by_the_rule,
)
from glasshouse.report.membership.releases import COMMAND
from glasshouse.report.page import (
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
from glasshouse.report.theme import TARGETS, wrapped
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, enumeration, percentage, plural
from glasshouse.table.treatment import Step

__all__ = ["estimates_chart", "population_findings", "population_page"]

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
        adversary=_adversary(risks),
        limits=_limits(),
        provenance=provenance,
        command=COMMAND,
        method=ESTIMATORS,
        glossary=(
            *_terms(),
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
        title=alt.Title(wrapped(_finding(risks, subject), 80)),
    )


def _finding(risks: PopulationRisks, subject: str) -> str:
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


def _adversary(risks: PopulationRisks) -> tuple[str, ...]:
    return (
        text(
            "The adversary has a register of the population and knows, of everybody in it, {known}. The publisher does "
            "not have that register.",
            known=enumeration(risks.quasi_identifiers),
        ),
    )


def _limits() -> tuple[str, ...]:
    return (
        text(
            "The release is taken to be a simple random sample of the population, with one record each, and the "
            "sampling fraction to be right."
        ),
        text("There is no register: but for counts of records, every figure is estimated."),
        text("Nothing here tells who the people are."),
    )


def _terms() -> tuple[Term, ...]:
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
