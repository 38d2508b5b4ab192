"""The report on the risks in a population of which there is no register: what is estimated, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import altair as alt

from glasshouse.errors import printable
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks
from glasshouse.report.cells import NOTHING, percent_cell, yes_cell
from glasshouse.report.chances import frequency_range
from glasshouse.report.lists import joined
from glasshouse.report.memberships import COMMAND
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
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, enumeration, percentage, plural
from glasshouse.table.treatment import Step

TAKEN, OTHER = "#d55e00", "#b5b5b5"
"""Colours of the estimate that is taken, and of the others (Okabe and Ito 2008)."""
ESTIMATORS = (
    "Dankar, El Emam, Neisa and Roffey 2012, “Estimating the re-identification risk of clinical data sets”, BMC "
    "Medical Informatics and Decision Making"
)


def population_sentences(risks: PopulationRisks, *, subject: str = "person") -> tuple[str, ...]:
    """Return how many people are estimated to be alone in the population, and what a register would be worth.

    Args:
        risks: What was estimated.
        subject: What a record stands for.
    """
    sentences = [_alone(risks, subject), _differing(risks, subject), _with_a_register(risks)]
    return (*filter(None, sentences), *_left_out(risks))


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
        title=f"The people behind {risks.dataset}: estimated risks",
        lead=f"{counted(risks.records, 'record')}, {percentage(risks.fraction)} of a population of about "
        f"{counted(risks.people, subject)}; what is known of them: {enumeration(risks.quasi_identifiers)}",
        findings=noted(population_sentences(risks, subject=subject)),
        figures=(_estimates_figure(risks, subject),) if _answers(risks) else (),
        sections=tuple(section for section in sections if section is not None),
        **spread(_assumptions(risks, subject)),
        provenance=provenance,
        command=COMMAND,
        method=ESTIMATORS,
    )


def estimates_chart(risks: PopulationRisks, *, subject: str = "person") -> alt.TopLevelMixin:
    """Show how many people are alone in the population, by each estimator that found an answer."""
    taken, answers = _taken(risks), _answers(risks)
    rows = [
        {
            "estimator": f"{estimate.name} ({estimate.reference})",
            "people": number,
            "colour": TAKEN if estimate is taken else OTHER,
            "text": _rounded(number),
        }
        for estimate, number in answers
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "people:Q",
            title="estimated number alone in the population",
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
        title=alt.Title(
            f"How many {printable(plural(subject))} are alone in the population: estimates"
        ),
    )


def _answers(risks: PopulationRisks) -> list[tuple[Estimate, float]]:
    """Return the estimators that found an answer, with it; the rule that takes one of them is not among them."""
    return [
        (estimate, estimate.population_uniques)
        for estimate in risks.estimates[:-1]
        if estimate.population_uniques is not None
    ]


def _taken(risks: PopulationRisks) -> Estimate | None:
    """Return the estimator whose answer the rule of Dankar et al. takes."""
    rule = risks.dankar
    same = [estimate for estimate, number in _answers(risks) if number == rule.population_uniques]
    return next((estimate for estimate in same if estimate.name in rule.note), None) or next(
        iter(same), None
    )


def _alone(risks: PopulationRisks, subject: str) -> str:
    """Say how many are alone in the sample, and how many are estimated to be alone in the population."""
    known, records = enumeration(risks.quasi_identifiers), counted(risks.records, "record")
    rule, people = risks.dankar, counted(risks.people, subject)
    if not risks.uniques:
        alone = (
            f"None of the {records} of {risks.dataset} is alone with its {known}: nobody in the release is alone in "
            "the population"
        )
    else:
        verb = "is alone with its" if risks.uniques == 1 else "are alone with their"
        alone = f"{risks.uniques:,} of the {records} of {risks.dataset} {verb} {known}"
    if rule.population_uniques is None or rule.share_of_population is None:
        return f"{alone}; how many {plural(subject)} are alone in the population could not be estimated."
    share_of_these = rule.share_of_sample_uniques
    if risks.uniques and share_of_these is not None:
        alone += (
            f"; of these, {_estimated(risks.uniques * share_of_these, share_of_these)} alone in the whole population, "
            "too"
        )
    return (
        f"{alone}. In the population of about {people}, "
        f"{_estimated(rule.population_uniques, rule.share_of_population)} alone."
    )


def _estimated(number: float, part: float) -> str:
    """Say how many, and which share, are estimated to be something."""
    verb = "is" if 0 < number < 1.5 else "are"
    return f"an estimated {_rounded(number)} ({percentage(Fraction(part))}) {verb}"


def _rounded(number: float) -> str:
    return "fewer than 1" if 0 < number < 1 else f"{number:,.0f}"


def _differing(risks: PopulationRisks, subject: str) -> str:
    """Say how far the estimators are apart, and which one is taken."""
    answers, taken = _answers(risks), _taken(risks)
    if risks.fraction == 1:
        return "The release is said to be the whole population: nothing is left to be estimated."
    if taken is None:
        return "No estimator found an answer."
    silent = [each.name for each in risks.estimates[:-1] if each.population_uniques is None]
    none = f"; {joined(silent)} found no answer" if silent else ""
    chosen = f"the estimate of {taken.name} is taken, by the rule of Dankar et al. 2012"
    if taken.population_uniques is not None and _is_too_many(taken.population_uniques, risks):
        chosen += ", although it is more than fits the release"
    lowest, highest = (extreme(answers, key=lambda answer: answer[1]) for extreme in (min, max))
    if _rounded(lowest[1]) == _rounded(highest[1]):
        return f"This is estimated, not counted: {chosen}{none}."
    return (
        f"This is estimated, not counted, and the estimators differ: from {_rounded(lowest[1])} ({lowest[0].name}) to "
        f"{_rounded(highest[1])} ({highest[0].name}) {plural(subject)}; {chosen}{none}."
    )


def _is_too_many(number: float, risks: PopulationRisks) -> bool:
    """Tell whether a sample of a population with so many uniques would have more than this one has."""
    return float(risks.fraction) * number > risks.uniques + 0.5


def _with_a_register(risks: PopulationRisks) -> str:
    """Say what somebody with a register could do with the release."""
    better = (risks.marketer_expected, risks.marketer_by_classes)
    estimates = (risks.marketer, *(min(Fraction(estimate), Fraction(1)) for estimate in better))
    right = frequency_range(min(estimates), max(estimates))
    return (
        f"Someone with a register of the population would name an estimated {right} records right."
    )


def _left_out(risks: PopulationRisks) -> list[str]:
    if not risks.suppressed:
        return []
    verb = (
        "shows nothing but “*” and is" if risks.suppressed == 1 else "show nothing but “*” and are"
    )
    return [f"{counted(risks.suppressed, 'further record')} {verb} left out."]


def _estimates_section(risks: PopulationRisks, subject: str) -> Section:
    """Return what each estimator says, and which one is taken."""
    taken = _taken(risks)
    rows = tuple(
        (
            Cell(estimate.name, mark="taken:" if estimate is taken else None),
            Cell(estimate.reference),
            Cell(
                "–" if number is None else _rounded(number),
                None if number is None else repr(number),
            ),
            _share_cell(estimate.share_of_population),
            _share_cell(estimate.share_of_sample_uniques),
            yes_cell(estimate.converged),
            Cell(estimate.note or "–"),
        )
        for estimate in risks.estimates
        for number in (estimate.population_uniques,)
    )
    columns = (
        Column("Estimator"),
        Column("Reference"),
        Column(f"Estimated {plural(subject)} alone", numeric=True),
        Column("of the population", numeric=True, under="estimated share"),
        Column("of the records alone", numeric=True, under="estimated share"),
        Column("Answer found"),
        Column("Remark"),
    )
    return Section(
        "Who is alone in the population: estimates",
        intro="Each estimator has its own model of the population. The one that the rule of Dankar et al. takes is "
        "marked; the last row is the rule’s answer.",
        tables=(Table(columns, (Group(rows),)),),
    )


def _share_cell(probability: float | None) -> Cell:
    if probability is None:
        return NOTHING
    return Cell(percentage(Fraction(probability)), exact=repr(probability))


def _sample_section(risks: PopulationRisks, subject: str) -> Section:
    """Return what the sample is, and the estimated risks of its records."""
    counts = (
        ("Records", f"{risks.records:,}"),
        ("Records alone with what is known of them", f"{risks.uniques:,}"),
        ("Classes of records alike", f"{risks.classes:,}"),
        ("Classes in the population, estimated", f"about {risks.population_classes:,.0f}"),
        (f"{plural(subject).capitalize()} in the population, estimated", f"about {risks.people:,}"),
    )
    estimated = (
        ("Highest chance that a record is named (journalist)", risks.journalist_highest),
        ("The same on average over the records", risks.journalist_average),
        ("Share of the records that is named right (marketer)", risks.marketer),
    )
    rows = (
        *((Cell(label), Cell(text)) for label, text in counts),
        (
            Cell("Share of the population that is in the release"),
            percent_cell(risks.fraction),
        ),
        *((Cell(f"{label}, estimated"), percent_cell(risk)) for label, risk in estimated),
        *(
            (Cell(f"The same {how}, estimated"), _share_cell(estimate))
            for how, estimate in (
                ("with the expected size of each class", risks.marketer_expected),
                ("with the number of classes in the population", risks.marketer_by_classes),
            )
        ),
    )
    columns = (Column("What"), Column("Figure", numeric=True))
    return Section("The sample and its risks", tables=(Table(columns, (Group(rows),)),))


def _estimates_figure(risks: PopulationRisks, subject: str) -> Figure:
    return Figure.of(
        estimates_chart(risks, subject=subject),
        label=f"Estimated number of {plural(subject)} alone in the population, by estimator; the same numbers are in "
        "a table below",
        caption="Each estimator’s answer; in colour the one that the rule of Dankar et al. takes. They are estimates: "
        "how far they are apart says how little is known.",
    )


def _assumptions(risks: PopulationRisks, subject: str) -> Assumptions:
    return Assumptions(
        text=f"The release is a simple random sample of the population, one record per {subject}, and the sampling "
        f"fraction is right. There is no register: but for counts of records, every figure is estimated. The "
        f"adversary knows {enumeration(risks.quasi_identifiers)} of everybody in the population. Nothing here tells "
        "who the people are.",
        terms=(
            Term(
                "Alone",
                f"No other {subject} has the same in everything that is known: alone in the release (a sample unique), "
                "or alone in the whole population (a population unique). Only who is alone in the population can be "
                "named with certainty.",
            ),
            Term(
                "Journalist",
                "An adversary who has a register and names one record: her risk is 1 divided by the number of people "
                "of the population who fit, which is estimated as records alike divided by the sampling fraction "
                "(El Emam and Dankar 2008).",
            ),
            Term(
                "Marketer",
                "An adversary who has a register and names all records as well as she can: the share that she gets "
                "right (Dankar and El Emam 2010). The plain estimate, from the sizes in the release, is low. Two "
                "others take the expected size of each class (Benedetti and Franconi 1998), and the estimated number "
                "of classes in the population (Haas and Stokes 1998).",
            ),
            Term(
                "Rule of Dankar et al.",
                "Which estimator to take: Pitman’s up to a sampling fraction of a tenth, above it the lower one of "
                "Zayatz’s and SNB’s.",
            ),
        ),
    )
