"""Who is alone in a population of which there is no register: estimates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from glasshouse.language import (
    exactly,
    marked,
    number,
    percentage,
    text,
    text_for,
    translated,
)
from glasshouse.measures.membership import named_with_a_register, records_alone
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks
from glasshouse.report import vega
from glasshouse.report.assess.front import less_detail
from glasshouse.report.cells import (
    NOTHING,
    cell_table,
    count_cell,
    percent_cell,
    under,
    yes_cell,
)
from glasshouse.report.charts import (
    TARGETS,
    figure_of,
    plot,
    titled,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.membership.releases import (
    COMMAND,
    NOBODY_NAMED,
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
)
from glasshouse.report.provenance import treatment_section
from glasshouse.report.severity import graded
from glasshouse.report.survey_weights import WEIGHT_TERMS, weighted_finding, weights_section
from glasshouse.report.words import (
    counted,
    enumeration,
    joined,
    percentages,
    plural,
    remarks,
    sentences,
    share,
)
from glasshouse.study.membership import MembershipStudy

TAKEN, OTHER = TARGETS[0][0], "#b5b5b5"
"""Colours of the estimate that is taken, and of the others."""
ESTIMATORS = (
    "Dankar, El Emam, Neisa and Roffey 2012, “Estimating the re-identification risk of clinical data sets”, BMC "
    "Medical Informatics and Decision Making"
)
POPULATION_TERMS = {
    marked("Alone"): marked(
        "Nobody else has the same in everything that is known: alone in the release (a sample unique), or alone in the "
        "whole population (a population unique)."
    ),
    marked("Journalist"): marked(
        "An adversary who has a register and identifies one record: her risk is 1 divided by the number of "
        "people of the population who fit, which is estimated as records alike divided by the sampling "
        "fraction (El Emam and Dankar 2008)."
    ),
    marked("Marketer"): marked(
        "An adversary who has a register and identifies all records as well as she can: the share that she "
        "gets right (Dankar and El Emam 2010). The plain estimate, from the sizes in the release, is low. "
        "Two others take the expected size of each class (Benedetti and Franconi 1998), and the estimated "
        "number of classes in the population (Haas and Stokes 1998)."
    ),
    marked("Rule of Dankar et al."): marked(
        "Which estimator to take: Pitman’s up to a sampling fraction of a tenth, above it the lower one of Zayatz’s "
        "and SNB’s."
    ),
}
"""The words of a report without a register, explained."""


def population_findings(
    risks: PopulationRisks, *, subject: str = "person", is_released: bool = True
) -> tuple[Finding, ...]:
    """Return how many people are estimated to be alone in the population, and what a register would be worth.

    Args:
        risks: What was estimated.
        subject: What a record stands for.
        is_released: Whether survey weights are in the release.
    """
    findings = [_alone(risks, subject), _differing(risks, subject), _with_a_register(risks)]
    if risks.weighted is not None:
        findings.append(weighted_finding(risks.weighted, subject, is_released=is_released))
    if risks.suppressed:
        sentence = text_for(
            risks.suppressed,
            "{count} further record shows nothing but “*” and is left out.",
            "{count} further records show nothing but “*” and are left out.",
        )
        findings.append(note(sentence))
    return tuple(findings)


def answers_of(risks: PopulationRisks) -> list[tuple[Estimate, float]]:
    """Return the estimators that found an answer, with it; the rule that takes one of them is not among them."""
    return [
        (estimate, estimate.population_uniques)
        for estimate in risks.estimates[:-1]
        if estimate.population_uniques is not None
    ]


def taken_by_the_rule(risks: PopulationRisks) -> Estimate | None:
    """Return the estimator whose answer the rule of Dankar et al. takes."""
    rule = risks.dankar
    same = [
        estimate for estimate, uniques in answers_of(risks) if uniques == rule.population_uniques
    ]
    return max(same, key=lambda estimate: estimate.name in rule.note, default=None)


def estimated_count(uniques: float) -> str:
    """Return an estimated number of people as a sentence has it."""
    return text("fewer than {smallest}", smallest=1) if 0 < uniques < 1 else number(uniques, ",.0f")


def _alone(risks: PopulationRisks, subject: str) -> Finding:
    """Say how many are alone in the sample, and how many are estimated to be alone in the population.

    It is graded by the estimated share of the records whose people are alone in the population.
    """
    rule, severity = risks.dankar, Severity.NOTE if risks.uniques else Severity.SAFE
    alone = records_alone(risks)
    if risks.uniques and alone is not None:
        severity = graded(Fraction(0), certain=alone, people=risks.records)
    figure = (
        text("sample uniques: {sample}", sample=risks.uniques)
        if rule.population_uniques is None
        else text(
            "sample uniques: {sample}; population uniques, estimated: {population}",
            sample=risks.uniques,
            population=number(rule.population_uniques, ",.6g"),
        )
    )
    meaning = (
        text("Only people who are alone in the population can be identified with certainty.")
        if risks.fraction == 1
        else text(
            "Only people who are alone in the population can be identified with certainty; someone who is alone "
            "in the release may have a double who was not sampled."
        )
    )
    sentence = " ".join([_alone_in_sample(risks), *_alone_in_population(risks, subject)])
    remedy = text("Generalise or leave out a column: that would protect them.")
    return Finding(severity, sentence, figure, meaning, remedy if risks.uniques else "")


def _alone_in_sample(risks: PopulationRisks) -> str:
    words = {
        "records": counted(risks.records, "record"),
        "dataset": risks.dataset,
        "known": enumeration(risks.quasi_identifiers),
    }
    if not risks.uniques:
        return text(
            "None of the {records} of {dataset} is alone with its {known}: nobody in the release is alone in the "
            "population.",
            **words,
        )
    return text_for(
        risks.uniques,
        "{count} of the {records} of {dataset} is alone with its {known}.",
        "{count} of the {records} of {dataset} are alone with their {known}.",
        **words,
    )


def _alone_in_population(risks: PopulationRisks, subject: str) -> list[str]:
    rule, alone = risks.dankar, records_alone(risks)
    if risks.fraction == 1:
        whole = text(
            "As the release is said to be the whole population, nobody there is like them either."
        )
        return [whole] if risks.uniques else []
    if rule.population_uniques is None or rule.share_of_population is None:
        return [
            text(
                "How many {people} are alone in the population could not be estimated.",
                people=plural(subject),
            )
        ]
    estimated = text(
        "Of the population of about {people}, by estimate, {uniques} ({share}) would be alone.",
        people=counted(risks.people, subject),
        uniques=estimated_count(rule.population_uniques),
        share=percentage(Fraction(rule.share_of_population)),
    )
    if not risks.uniques or alone is None:
        return [estimated]
    if not alone:
        return [
            text("Of these, by estimate, none would be alone in the whole population."),
            estimated,
        ]
    of_these = text_for(
        alone,
        "Of these, by estimate, {count} would be alone in the whole population, too: {share} of all records.",
        "Of these, by estimate, {count} would be alone in the whole population, too: {share} of all records.",
        share=share(alone, risks.records),
    )
    return [of_these, estimated]


def _differing(risks: PopulationRisks, subject: str) -> Finding:
    """Say how far the estimators are apart, and which one is taken."""
    if risks.fraction == 1:
        return note(
            text("The release is said to be the whole population: nothing is left to be estimated.")
        )
    taken = taken_by_the_rule(risks)
    if taken is None:
        return note(text("No estimator of how many are alone in the population found an answer."))
    silent = [row.name for row in risks.estimates[:-1] if row.population_uniques is None]
    figure = _chosen(taken, risks)
    if silent:
        figure = (
            f"{figure} {text('There is no answer from {estimators}.', estimators=joined(silent))}"
        )
    return note(
        _spread(risks, subject),
        figure,
        text("Take it as an order of magnitude: an estimate can be wrong by a multiple."),
        text("Get a register of the population: then it is counted instead of estimated."),
    )


def _spread(risks: PopulationRisks, subject: str) -> str:
    answers = [uniques for _, uniques in answers_of(risks)]
    lowest, highest = map(estimated_count, (min(answers), max(answers)))
    if lowest == highest:
        return text("How many are alone in the population is estimated, not counted.")
    return text(
        "How many are alone in the population is estimated, not counted, and the estimates differ: from {lowest} to "
        "{highest} {people}; {uniques} is taken.",
        lowest=lowest,
        highest=highest,
        uniques=estimated_count(risks.dankar.population_uniques or 0),
        people=plural(subject),
    )


def _chosen(taken: Estimate, risks: PopulationRisks) -> str:
    """Say which estimate is taken, and whether a population like that would have more uniques in its sample."""
    uniques = taken.population_uniques or 0
    template = (
        marked(
            "The estimate of {estimator} is taken, by the rule of Dankar et al. 2012, although it is more than fits "
            "the release."
        )
        if float(risks.fraction) * uniques > risks.uniques + 0.5
        else marked("The estimate of {estimator} is taken, by the rule of Dankar et al. 2012.")
    )
    return translated(template, estimator=taken.name)


def _with_a_register(risks: PopulationRisks) -> Finding:
    """Say what somebody with a register could do with the release."""
    low, high = named_with_a_register(risks)
    figures = percentages(low, high)
    template = (
        marked(
            "Someone with a register of the population would, by estimate, identify {low} of the records "
            "correctly."
        )
        if len(set(figures)) == 1
        else marked(
            "Someone with a register of the population would, by estimate, identify {low} to {high} of the "
            "records correctly."
        )
    )
    return Finding(
        graded(high),
        translated(template, low=figures[0], high=figures[1]),
        figure=text(
            "share identified correctly, estimated: {plain}; with expected class sizes {expected}; by the number "
            "of classes {classes}",
            plain=number(risks.marketer, ".4g"),
            expected=number(risks.marketer_expected, ".4g"),
            classes=number(risks.marketer_by_classes, ".4g"),
        ),
        meaning=text("Such registers exist: of voters, of pupils, of customers."),
    )


def population_page(
    risks: PopulationRisks, question: MembershipStudy, provenance: Provenance
) -> Page:
    """Return the report on the risks in a population of which there is no register."""
    subject = question.subject
    alone, differing, *further = population_findings(
        risks, subject=subject, is_released=question.weight not in question.drop
    )
    if answers_of(risks):
        differing = replace(differing, picture=_estimates_figure(risks, subject))
    sections = (
        Section(
            text("Who is alone in the population: estimates"),
            intro=text(
                "Each estimator has its own model of the population. The one that the rule of Dankar et al. takes is "
                "marked; the last row is the rule’s answer."
            ),
            tables=(_estimates_table(risks, subject),),
        ),
        Section(text("The sample and its risks"), tables=(_sample_table(risks, subject),)),
        None if risks.weighted is None else weights_section(risks.weighted),
        treatment_section(risks.steps),
    )
    words = {
        "records": counted(risks.records, "record"),
        "share": percentage(risks.fraction),
        "people": counted(risks.people, subject),
        "known": enumeration(risks.quasi_identifiers),
    }
    return Page(
        title=text("The people behind {dataset}: estimated risks", dataset=risks.dataset),
        lead=text(
            "{records}, {share} of a population of about {people}; what is known about them: {known}",
            **words,
        ),
        findings=(alone, differing, *further),
        tiles=tuple(_population_tiles(risks, subject)),
        actions=less_detail(
            [alone, differing],
            alone.remedy,
            question,
            records=risks.records,
            known=risks.quasi_identifiers,
        ),
        sections=tuple(filter(None, sections)),
        adversary=(
            text(
                "The adversary has a register of the population and knows, of everybody in it, {known}. The publisher "
                "does not have that register.",
                **words,
            ),
        ),
        limits=sentences(
            marked(
                "The release is taken to be a simple random sample of the population, with one record each, and the "
                "sampling fraction to be right."
            ),
            question.fraction is None
            and marked(
                "The sampling fraction is itself estimated: the number of records divided by the sum of their survey "
                "weights."
            ),
            marked("There is no register: but for counts of records, every figure is estimated."),
            NOBODY_NAMED,
        ),
        provenance=provenance,
        command=COMMAND,
        method=ESTIMATORS,
        glossary=glossary(
            "adversary, quasi-identifier, class, record, release",
            terms=(POPULATION_TERMS, risks.weighted is not None and WEIGHT_TERMS),
        ),
    )


def _population_tiles(risks: PopulationRisks, subject: str) -> Iterator[Tile]:
    """Yield how many records are of people alone in the population, what a register is worth, and how sure that is."""
    alone = records_alone(risks)
    if alone is not None:
        yield Tile(
            text("Who is at risk"),
            share(alone, risks.records),
            text(
                "of the {records} are, by estimate, of people who are alone in the whole population",
                records=counted(risks.records, "record"),
            ),
        )
    low, high = percentages(*named_with_a_register(risks))
    yield Tile(
        text("Who can be identified"),
        low if low == high else f"{low} – {high}",
        text(
            "of the records would, by estimate, be identified correctly by someone who has a register of the "
            "population"
        ),
    )
    answers = sorted(uniques for _, uniques in answers_of(risks))
    if answers and risks.fraction < 1:
        lowest, highest = (number(uniques, ",.0f") for uniques in (answers[0], answers[-1]))
        yield Tile(
            text("How sure it is"),
            lowest if lowest == highest else f"{lowest} – {highest}",
            text(
                "{people} are alone in the population, by the lowest and the highest estimate",
                people=plural(subject),
            ),
        )


def _estimates_table(risks: PopulationRisks, subject: str) -> Table:
    """Return what each estimator says, and which one is taken."""
    taken = taken_by_the_rule(risks)
    rows = [
        (
            Cell(estimate.name, mark=text("taken:") if estimate is taken else None),
            Cell(estimate.reference),
            _uniques_cell(estimate.population_uniques),
            _share_cell(estimate.share_of_population),
            _share_cell(estimate.share_of_sample_uniques),
            yes_cell(estimate.converged),
            Cell(remarks(estimate.note)) if estimate.note else NOTHING,
        )
        for estimate in risks.estimates
    ]
    shares = (text("of the population"), text("of the records alone"))
    columns: tuple[str | Column, ...] = (
        Column(text("Reference")),
        text("Estimated {people} alone", people=plural(subject)),
        *under(text("estimated share"), *shares),
        Column(text("Answer found")),
        Column(text("Remark")),
    )
    return cell_table(text("Estimator"), columns, rows)


def _share_cell(part: float | None) -> Cell:
    return NOTHING if part is None else Cell(percentage(Fraction(part)), exact=exactly(part))


def _uniques_cell(uniques: float | None) -> Cell:
    return NOTHING if uniques is None else Cell(estimated_count(uniques), exact=exactly(uniques))


def _sample_table(risks: PopulationRisks, subject: str) -> Table:
    """Return what the sample is, and the estimated risks of its records."""
    classes = text("about {figure}", figure=number(risks.population_classes, ",.0f"))
    people = text("about {figure}", figure=number(risks.people))
    subjects = text("Number of {people} in the population, estimated", people=plural(subject))
    titles = [
        text("Records"),
        text("Records alone with what is known about them"),
        text("Classes of records alike"),
        text("Classes in the population, estimated"),
        subjects,
        text("Share of the population that is in the release"),
        text("Highest chance that a record is identified (journalist), estimated"),
        text("The same on average over the records, estimated"),
        text("Share of the records that is identified correctly (marketer), estimated"),
        text("The same with the expected size of each class, estimated"),
        text("The same with the number of classes in the population, estimated"),
    ]
    risk = (risks.fraction, risks.journalist_highest, risks.journalist_average, risks.marketer)
    figures = [
        *map(count_cell, (risks.records, risks.uniques, risks.classes)),
        *map(Cell, (classes, people)),
        *map(percent_cell, risk),
        *map(_share_cell, (risks.marketer_expected, risks.marketer_by_classes)),
    ]
    rows = zip(map(Cell, titles), figures, strict=True)
    return cell_table(text("What"), (text("Figure"),), rows)


def estimates_in_short(risks: PopulationRisks) -> Table:
    """Return the estimates of how many people are unique in the population."""
    rows = []
    for estimate in risks.estimates:
        uniques = estimate.population_uniques
        shares = (estimate.share_of_population, estimate.share_of_sample_uniques)
        rows.append(
            (
                f"{estimate.name} ({estimate.reference})",
                text("no answer") if uniques is None else number(uniques, ",.0f"),
                *(
                    "–" if part is None else text("{figure}%", figure=number(100 * part, ".3g"))
                    for part in shares
                ),
            )
        )
    title = text("Estimated: how many people are unique in the population")
    measures = (text("unique people"), text("of the population"), text("of the unique records"))
    return cell_table(text("estimator"), measures, rows, title)


def _estimates_figure(risks: PopulationRisks, subject: str) -> Figure:
    """Show how many people are alone in the population, by each estimator that found an answer."""
    taken, people = taken_by_the_rule(risks), plural(subject)
    answers = [
        (estimate.name, uniques, TAKEN if estimate is taken else OTHER)
        for estimate, uniques in answers_of(risks)
    ]
    bars = [
        {"estimator": name, "people": uniques, "colour": colour, "text": estimated_count(uniques)}
        for name, uniques, colour in answers
    ]
    x = vega.X(
        "people:Q",
        title=text("estimated number alone in the population"),
        scale=vega.Scale(domainMin=0),
        axis=vega.Axis(tickCount=5, format=",d"),
    )
    axis = vega.Axis(labelPadding=8, labelLimit=300)
    base = plot(bars).encode(x=x, y=vega.Y("estimator:N", sort=None, title=None, axis=axis))
    chart = vega.layer(
        base.mark_bar(height=18).encode(color=vega.Color("colour:N", scale=None)),
        base.mark_text(align="left", dx=6, fontSize=12).encode(text="text:N"),
    )
    title = _estimates_title(risks, subject)
    rows = ((Cell(name), _uniques_cell(uniques)) for name, uniques, _ in answers)
    return figure_of(
        titled(chart, title, letters=(80, 80), width=480, height=vega.Step(34)),
        label=text(
            "Estimated number of {people} alone in the population, by estimator", people=people
        ),
        caption=text(
            "Each estimator’s answer; in colour the one that the rule of Dankar et al. takes. They are estimates: how "
            "far they are apart says how little is known."
        ),
        table=cell_table(
            text("Estimator"), [text("Estimated {people} alone", people=people)], rows
        ),
    )


def _estimates_title(risks: PopulationRisks, subject: str) -> str:
    """Say which estimate is taken."""
    taken = taken_by_the_rule(risks)
    if taken is None or taken.population_uniques is None:
        return text(
            "How many {people} are alone in the population: estimates", people=plural(subject)
        )
    return text(
        "{uniques} of about {people} are alone in the population, by the estimate that is taken",
        uniques=estimated_count(taken.population_uniques),
        people=counted(risks.people, subject),
    )
