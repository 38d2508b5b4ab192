"""The reports on who is in a release: of everybody in a register, of one person, and estimated without a register.

Those of everybody disclose nobody: no value of a quasi-identifier is in them, and sets of releases that hold fewer
people than may be told are summed up. That of one person is personal data, as it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import altair as alt

from glasshouse.disclosure import smallest_cell
from glasshouse.language import exactly, marked, number, printable, text, text_for, translated
from glasshouse.microdata.presence import Member, Membership
from glasshouse.microdata.uniqueness import PopulationRisks
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import (
    NOTHING,
    bounded_leakage_cells,
    cell_table,
    count_cell,
    explained,
    factor_cell,
    guess_titles,
    leakage_cells,
    percent_cell,
    text_table,
    three_digits,
    under,
    yes_cell,
)
from glasshouse.report.charts import (
    TARGETS,
    Shift,
    before_and_after_table,
    rest_of,
    shift_chart,
    wrapped,
)
from glasshouse.report.discretion import Discretion, Told, personal, what_is_left_out
from glasshouse.report.membership.findings import (
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
from glasshouse.report.page import Brief, Cell, Column, Figure, Page, Provenance, Section, Table
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    glossary,
    listed,
    percentage,
    plural,
    share,
    short_names,
    singular,
)
from glasshouse.study.membership import MembershipStudy

COMMAND = "glasshouse membership --study study.toml"
"""What repeats a report on who is in a release."""
DISCREET = Discretion()
"""How a report speaks of few people."""
TAKEN, OTHER = TARGETS[0][0], "#b5b5b5"
"""Colours of the estimate that is taken, and of the others."""
NERGIZ = "Nergiz, Atzori and Clifton 2007, “Hiding the presence of individuals from shared databases”, SIGMOD"
ESTIMATORS = (
    "Dankar, El Emam, Neisa and Roffey 2012, “Estimating the re-identification risk of clinical data sets”, BMC "
    "Medical Informatics and Decision Making"
)


def page(
    outcome: Membership | Member | PopulationRisks,
    question: MembershipStudy,
    *,
    provenance: Provenance,
) -> Page:
    """Return the report: of all people, of one person, or estimated without a register."""
    if isinstance(outcome, Membership):
        return _membership_page(outcome, question.subject, provenance)
    if isinstance(outcome, Member):
        return _member_page(outcome, question.subject, provenance)
    return _population_page(outcome, question.subject, provenance)


def brief(outcome: Membership | Member | PopulationRisks, question: MembershipStudy) -> Brief:
    """Return what a terminal says of who is in a release."""
    subject = question.subject
    if isinstance(outcome, Membership):
        table, findings = _brief_releases(outcome), membership_findings(outcome, subject=subject)
    elif isinstance(outcome, Member):
        table = _brief_member(outcome)
        findings = member_findings(outcome, subject=subject, exact=True)
    else:
        table, findings = _brief_estimates(outcome), population_findings(outcome, subject=subject)
    return Brief((*treatment_blocks(outcome.steps), table), findings)


def _brief_releases(outcome: Membership) -> Table:
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
        guess, low, high = row.probabilistic, row.delta_min, row.delta_max
        rows.append(
            (
                f"{row.code} {name}",
                "–" if row.each else number(sum(row.members)),
                number(row.certainly_in),
                number(row.certainly_out),
                f"{three_digits(guess.prior)} → {three_digits(guess.posterior)}",
                "–"
                if low is None or high is None
                else text("{least} to {most}", least=three_digits(low), most=three_digits(high)),
            )
        )
    return text_table(title, text("release"), measures, rows)


def _brief_member(outcome: Member) -> Table:
    """Return how probable it is that one person is in each release."""
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


def _brief_estimates(risks: PopulationRisks) -> Table:
    """Return the estimates of how many people are unique in the population."""
    measures = (text("unique people"), text("of the population"), text("of the unique records"))
    rows = []
    for estimate in risks.estimates:
        uniques = estimate.population_uniques
        shares = (estimate.share_of_population, estimate.share_of_sample_uniques)
        rows.append(
            (
                f"{estimate.name} ({estimate.reference})",
                text("no answer") if uniques is None else number(uniques, ",.0f"),
                *(
                    "–" if part is None else text("{figure} %", figure=number(100 * part, ".3g"))
                    for part in shares
                ),
            )
        )
    title = text("Estimated: how many people are unique in the population")
    return text_table(title, text("estimator"), measures, rows)


def _membership_page(outcome: Membership, subject: str, provenance: Provenance) -> Page:
    """Return the report on who is in one or several releases."""
    parts = {
        "datasets": listed(outcome.datasets),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "known": enumeration(outcome.quasi_identifiers),
    }
    sections = (
        Section(
            text("The attacks"), tables=(_success_table(outcome, subject), _risks_table(outcome))
        ),
        _sets_of_people(outcome, subject) if outcome.each else None,
        treatment_section(outcome.steps),
    )
    return Page(
        title=text("Who is in {datasets}: what {register} lets an adversary learn", **parts),
        lead=text("{people} in {register}; what is known of them: {known}", **parts),
        findings=membership_findings(outcome, subject=subject),
        figures=(_presence_figure(outcome, subject),),
        sections=tuple(filter(None, sections)),
        adversary=(
            text(
                "The adversary knows everybody in {register} and, of each, {known}. She knows the whole release.",
                **parts,
            ),
            text(
                "Before the attack she takes everybody there as equally likely to be the one she is after."
            ),
        ),
        limits=(
            *_register_limits(outcome),
            text("Every figure is an exact ratio of counts; none is estimated.")
            if outcome.linked or not outcome.each
            else text(
                "Every figure of one release is an exact ratio of counts. Those of all releases together are what is "
                "to be expected."
            ),
            text("Nothing here tells who the people are."),
        ),
        provenance=provenance,
        command=COMMAND,
        method=f"{METHOD}; {NERGIZ}",
        glossary=(
            *explained(_membership_terms(several=bool(outcome.each))),
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
    rows = [
        (
            Cell(name, mark=row.code),
            *map(count_cell, (sum(row.members), row.certainly_in, row.certainly_out)),
            Cell(f"{number(row.certain)} ({share(row.certain, row.people)})"),
            *leakage_cells(row.probabilistic),
        )
        for name, row in (
            *([(text("all together"), outcome)] if outcome.each else []),
            *_named_releases(outcome),
        )
    ]
    sure = text("{people}, for sure", people=plural(subject))
    guess = (text("before"), text("after"), text("added"), text("factor"))
    return cell_table(
        text("Release"),
        (
            text("Records"),
            *under(sure, text("in"), text("out"), text("in all")),
            *under(text("one guess"), *guess),
        ),
        rows,
        text("What she learns"),
    )


def _named_releases(outcome: Membership) -> Iterator[tuple[str, Membership]]:
    return zip(short_names(outcome.datasets), outcome.each or (outcome,), strict=True)


def _risks_table(outcome: Membership) -> Table:
    """Return, for each release, the bounds of presence and what follows for its records."""
    rows = [
        (
            Cell(name),
            percent_cell(single.delta_min),
            percent_cell(single.delta_max),
            factor_cell(single.capacity),
            percent_cell(single.journalist),
            percent_cell(single.marketer),
        )
        for name, single in _named_releases(outcome)
    ]
    return cell_table(
        text("Release"),
        (
            *under(text("chance of being in"), text("lowest"), text("highest")),
            text("Worst case, at most"),
            *under(text("chance that a record is named"), text("highest"), text("on average")),
        ),
        rows,
        text("Bounds and risks"),
    )


def _sets_of_people(outcome: Membership, subject: str) -> Section:
    """Return how many people are in exactly which releases."""
    rows = [(Cell(label), percent_cell(part)) for label, part, _ in _sets_of_releases(outcome)]
    people = plural(subject)
    columns = (text("Share of the {people}", people=people),)
    expected = () if outcome.linked else (text("The shares are what is to be expected."),)
    return Section(
        text("In which releases people are"),
        intro=" ".join((linking(outcome.linked), *expected, _summed_up(people))),
        tables=(cell_table(text("In exactly"), columns, rows),),
    )


def _sets_of_releases(outcome: Membership | Member) -> list[Shift]:
    """Return how likely the likeliest sets of releases are, and all others together."""
    shown = shown_patterns(outcome)
    shifts = [Shift.of(set_label(pattern, outcome.datasets), part) for pattern, part in shown]
    others = len(outcome.patterns) - len(shown)
    if others:
        label = text_for(others, "{count} other set", "{count} other sets together")
        shifts.append(rest_of(shifts, label))
    return shifts


def _summed_up(people: str) -> str:
    return text(
        "Sets that hold fewer than {smallest} {people} are summed up.",
        smallest=smallest_cell(),
        people=people,
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


def _register_limits(outcome: Membership | Member) -> tuple[str, ...]:
    """Say what must hold of the register, and how several releases were brought together."""
    once = text(
        "Whoever is in a release must also be in {register}, once.", register=outcome.population
    )
    return (once, linking(outcome.linked)) if len(outcome.datasets) > 1 else (once,)


def _membership_terms(*, several: bool) -> dict[str, str]:
    return {
        text("For sure"): text(
            "Everybody who is alike on what is known is in, or nobody is; of several releases: in all of them, or in "
            "none."
        )
        if several
        else text("Everybody who is alike on what is known is in, or nobody is."),
        text("One guess, before and after"): text(
            "The probability that her best guess is right, knowing only how many are in, and knowing something of the "
            "person besides (prior and posterior Bayes vulnerability)."
        ),
        text("Added, factor"): text("After minus before, and after divided by before."),
        text("Chance of being in, lowest and highest"): text(
            "The bounds of δ-presence (Nergiz, Atzori and Clifton 2007): for everybody the chance of being in lies "
            "between them."
        ),
        text("Worst case"): text(
            "No adversary with non-negative gains, whatever she believed before and whatever a guess is worth to her, "
            "multiplies her success by more than this (multiplicative Bayes capacity)."
        ),
        text("Chance that a record is named"): text(
            "If she picks somebody in the register who fits a record: the highest chance that it is theirs (the "
            "journalist’s risk), and the share of all records that she would name right (the marketer’s risk; Dankar "
            "and El Emam 2010)."
        ),
    }


def _member_page(outcome: Member, subject: str, provenance: Provenance) -> Page:
    """Return the report on whether one person is in one or several releases."""
    parts = {
        "subject": singular(subject),
        "datasets": listed(outcome.datasets),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "known": enumeration(list(outcome.known)) or text("nothing"),
    }
    told = Told(is_rough(outcome, DISCREET))
    sections = (
        Section(
            text("The attacks"),
            tables=(_presence_table(outcome, told), _guess_table(outcome, told)),
        ),
        _sets_of_one(outcome, told) if len(outcome.datasets) > 1 else None,
        treatment_section(outcome.steps),
    )
    return Page(
        title=text("Whether one {subject} is in {datasets}", **parts),
        lead=text("One of {people} in {register}. This report is personal data.", **parts),
        findings=member_findings(outcome, subject=subject),
        figures=(_member_figure(outcome, told),),
        sections=tuple(filter(None, sections)),
        adversary=(
            text(
                "The adversary knows everybody in {register}, the whole release and, of one person, {known}. What she "
                "knows is taken to be right.",
                **parts,
            ),
            text(
                "The person is one of those in {register} who fit what is known, each as likely as the other.",
                **parts,
            ),
        ),
        limits=(
            personal(),
            *what_is_left_out("glasshouse membership --json"),
            *_register_limits(outcome),
            text("The figures follow from counts; none is estimated."),
        ),
        provenance=provenance,
        command=COMMAND,
        method=METHOD,
        glossary=(
            *explained(_member_terms()),
            *glossary("adversary", "target", "membership", "release", "vulnerability", "leakage"),
        ),
    )


def _presence_table(outcome: Member, told: Told) -> Table:
    """Return how likely the person is to be in each release."""
    presence = zip(short_names(outcome.datasets), outcome.records, outcome.present, strict=True)
    discretion = DISCREET if told.rough else Discretion(exact=True)
    rows = [
        (
            Cell(name),
            Cell(may_be_theirs(records, discretion)),
            percent_cell(present.prior),
            told.cell(present.posterior),
            yes_cell(present.posterior in (0, 1)),
        )
        for name, records, present in presence
    ]
    return cell_table(
        text("Release"),
        (
            text("May be theirs"),
            *under(text("chance of being in"), text("before"), text("after")),
            Column(text("Certain")),
        ),
        rows,
        text("Whether the person is in"),
    )


def _guess_table(outcome: Member, told: Told) -> Table:
    """Return how good a guess is."""
    label = (
        text("tell whether the person is in")
        if len(outcome.datasets) == 1
        else text("tell in exactly which releases the person is")
    )
    guess = outcome.guess
    cells = (
        bounded_leakage_cells(guess, told.chance(guess.posterior))
        if told.rough and guess.posterior < 1
        else leakage_cells(guess)
    )
    rows = [(Cell(label, mark=outcome.code), *cells)]
    return cell_table(text("Attack"), guess_titles(), rows, text("One guess"))


def _sets_of_one(outcome: Member, told: Told) -> Section:
    """Return how likely the person is to be in exactly which releases."""
    rows = [
        (label, before, told.cell(after)) for label, before, after in _sets_of_releases(outcome)
    ]
    return Section(
        text("In which releases the person is"),
        intro=f"{linking(outcome.linked)} {_summed_up(plural('person'))}",
        tables=(before_and_after_table(text("In exactly"), rows),),
    )


def _member_figure(outcome: Member, told: Told) -> Figure:
    presence = list(zip(short_names(outcome.datasets), outcome.present, strict=True))
    return Figure.of(
        shift_chart(
            [told.shift(name, present.prior, present.posterior) for name, present in presence],
            title=_member_title(outcome, told),
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
        table=before_and_after_table(
            text("Release"),
            ((name, present.prior, told.cell(present.posterior)) for name, present in presence),
        ),
    )


def _member_title(outcome: Member, told: Told) -> str:
    """Say of the release of which most is learned how likely the person is to be in it."""
    presence = zip(short_names(outcome.datasets), outcome.present, strict=True)
    name, most = max(presence, key=lambda item: abs(item[1].additive))
    now, then = told.chances(most.posterior, most.prior)
    parts = {"release": name, "now": now, "then": then}
    if not most.additive:
        return text(
            "{release}: the person is in it with a chance of {then}, as anybody is", **parts
        )
    return text(
        "{release}: the person is in it with a chance of {now}; of anybody it is {then}", **parts
    )


def _member_terms() -> dict[str, str]:
    return {
        text("Chance of being in"): text(
            "Among those who fit, the share that is in the release; before: among everybody in the register."
        ),
        text("Certain"): text("Everybody who fits is in, or nobody is."),
        text("Guess before, guess after"): text(
            "The probability that her best single guess is right, knowing the release alone, and knowing something of "
            "the person besides (prior and posterior Bayes vulnerability)."
        ),
        text("Added, factor"): text(
            "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a "
            "factor below 1. On average over everybody it cannot."
        ),
    }


def _population_page(risks: PopulationRisks, subject: str, provenance: Provenance) -> Page:
    """Return the report on the risks in a population of which there is no register."""
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
        treatment_section(risks.steps),
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
        sections=tuple(filter(None, sections)),
        adversary=(
            text(
                "The adversary has a register of the population and knows, of everybody in it, {known}. The publisher "
                "does not have that register.",
                known=enumeration(risks.quasi_identifiers),
            ),
        ),
        limits=(
            text(
                "The release is taken to be a simple random sample of the population, with one record each, and the "
                "sampling fraction to be right."
            ),
            text("There is no register: but for counts of records, every figure is estimated."),
            text("Nothing here tells who the people are."),
        ),
        provenance=provenance,
        command=COMMAND,
        method=ESTIMATORS,
        glossary=(
            *explained(_population_terms()),
            *glossary("adversary", "quasi-identifier", "class", "record", "release"),
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
    return cell_table(
        text("Estimator"),
        (
            Column(text("Reference")),
            text("Estimated {people} alone", people=plural(subject)),
            *under(
                text("estimated share"), text("of the population"), text("of the records alone")
            ),
            Column(text("Answer found")),
            Column(text("Remark")),
        ),
        rows,
    )


def _uniques_cell(uniques: float | None) -> Cell:
    return NOTHING if uniques is None else Cell(rounded(uniques), exact=exactly(uniques))


def _share_cell(part: float | None) -> Cell:
    return NOTHING if part is None else Cell(percentage(Fraction(part)), exact=exactly(part))


def _sample_table(risks: PopulationRisks, subject: str) -> Table:
    """Return what the sample is, and the estimated risks of its records."""
    classes = text("about {figure}", figure=number(risks.population_classes, ",.0f"))
    people = text("about {figure}", figure=number(risks.people))
    figures = {
        text("Records"): count_cell(risks.records),
        text("Records alone with what is known of them"): count_cell(risks.uniques),
        text("Classes of records alike"): count_cell(risks.classes),
        text("Classes in the population, estimated"): Cell(classes),
        text("Number of {people} in the population, estimated", people=plural(subject)): Cell(
            people
        ),
        text("Share of the population that is in the release"): percent_cell(risks.fraction),
        text("Highest chance that a record is named (journalist), estimated"): percent_cell(
            risks.journalist_highest
        ),
        text("The same on average over the records, estimated"): percent_cell(
            risks.journalist_average
        ),
        text("Share of the records that is named right (marketer), estimated"): percent_cell(
            risks.marketer
        ),
        text("The same with the expected size of each class, estimated"): _share_cell(
            risks.marketer_expected
        ),
        text("The same with the number of classes in the population, estimated"): _share_cell(
            risks.marketer_by_classes
        ),
    }
    rows = [(Cell(label), cell) for label, cell in figures.items()]
    return cell_table(text("What"), (text("Figure"),), rows)


def _estimates_figure(risks: PopulationRisks, subject: str) -> Figure:
    """Show how many people are alone in the population, by each estimator that found an answer."""
    taken, people = taken_by_the_rule(risks), plural(subject)
    answers = [
        (f"{estimate.name} ({estimate.reference})", uniques, TAKEN if estimate is taken else OTHER)
        for estimate, uniques in answers_of(risks)
    ]
    bars = [
        {"estimator": name, "people": uniques, "colour": colour, "text": rounded(uniques)}
        for name, uniques, colour in answers
    ]
    base = alt.Chart(alt.InlineData(values=bars)).encode(
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
    chart = alt.layer(
        base.mark_bar(height=18).encode(color=alt.Color("colour:N", scale=None)),
        base.mark_text(align="left", dx=6, fontSize=12).encode(text="text:N"),
    ).properties(
        width=480,
        height=alt.Step(34),
        title=alt.Title(wrapped(_estimates_title(risks, subject), 80)),
    )
    return Figure.of(
        chart,
        label=text(
            "Estimated number of {people} alone in the population, by estimator", people=people
        ),
        caption=text(
            "Each estimator’s answer; in colour the one that the rule of Dankar et al. takes. They are estimates: how "
            "far they are apart says how little is known."
        ),
        table=cell_table(
            text("Estimator"),
            (text("Estimated {people} alone", people=people),),
            ((Cell(name), _uniques_cell(uniques)) for name, uniques, _ in answers),
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
        "{uniques} of about {people} are alone in the population, by the estimate of {estimator}",
        uniques=rounded(taken.population_uniques),
        people=counted(risks.people, subject),
        estimator=taken.name,
    )


def _population_terms() -> dict[str, str]:
    return {
        text("Alone"): text(
            "Nobody else has the same in everything that is known: alone in the release (a sample unique), or alone in "
            "the whole population (a population unique)."
        ),
        text("Journalist"): text(
            "An adversary who has a register and names one record: her risk is 1 divided by the number of people of "
            "the population who fit, which is estimated as records alike divided by the sampling fraction (El Emam and "
            "Dankar 2008)."
        ),
        text("Marketer"): text(
            "An adversary who has a register and names all records as well as she can: the share that she gets right "
            "(Dankar and El Emam 2010). The plain estimate, from the sizes in the release, is low. Two others take the "
            "expected size of each class (Benedetti and Franconi 1998), and the estimated number of classes in the "
            "population (Haas and Stokes 1998)."
        ),
        text("Rule of Dankar et al."): text(
            "Which estimator to take: Pitman’s up to a sampling fraction of a tenth, above it the lower one of "
            "Zayatz’s and SNB’s."
        ),
    }


OUT, BETWEEN, IN = marked("out for sure"), marked("not sure"), marked("in for sure")
"""The three kinds of bars, as the legend names them."""
COLOURS = {OUT: TARGETS[1][0], BETWEEN: "#b5b5b5", IN: TARGETS[0][0]}
"""Their colours."""


def presence_chart(outcome: Membership, *, subject: str = "person") -> alt.TopLevelMixin:
    """Show how many people there are by how likely they are to be in: a row of bars per release.

    Out for sure and in for sure are bars of their own, in their own colours.
    """
    singles = outcome.each or (outcome,)
    names = [printable(name) for name in short_names(outcome.datasets)]
    highest = max(max(single.presence) / single.people for single in singles)
    top = next(top for top in (10, 20, 50, 100) if 100 * highest <= top)
    base = alt.Chart().encode(
        x=alt.X(
            "bin:O",
            sort=bins(),
            title=text("how likely they are to be in"),
            axis=alt.Axis(labelAngle=0, labelFontSize=11, labelOverlap=False),
        ),
        y=alt.Y(
            "people:Q",
            title=text("share (%)"),
            scale=alt.Scale(domain=[0, 1.12 * top], nice=False),
            axis=alt.Axis(values=[0, top / 2, top]),
        ),
    )
    kinds = [translated(kind) for kind in COLOURS]
    bars = base.mark_bar().encode(
        color=alt.Color(
            "sure:N",
            title=None,
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=list(COLOURS.values())),
        )
    )
    texts = base.mark_text(dy=-7, fontSize=11, color="#333").encode(text="text:N")
    rows = _rows(outcome, names)
    panel = alt.layer(bars, texts, data=alt.InlineData(values=rows)).properties(
        width=690, height=260 if len(singles) == 1 else 110
    )
    title = alt.Title(wrapped(_finding(outcome, subject), 95))
    if len(singles) == 1:
        return panel.properties(title=title)
    facet = alt.Row(
        "release:N",
        sort=names,
        title=None,
        header=alt.Header(labelOrient="top", labelAnchor="start", labelFontSize=13),
    )
    return panel.facet(row=facet).properties(title=title)


def presence_table(outcome: Membership, *, subject: str = "person") -> Table:
    """Return the numbers of `presence_chart`."""
    titles = (text("Number of {people}", people=plural(subject)), text("Share"))
    columns = [
        column
        for name in short_names(outcome.datasets)
        for column in under(name if outcome.each else None, *titles)
    ]
    rows = [[Cell(label)] for label in _long_bins()]
    for single in outcome.each or (outcome,):
        for row, count in zip(rows, single.presence, strict=True):
            row += [count_cell(count), Cell(share(count, single.people))]
    return cell_table(text("Chance of being in"), columns, rows)


def bins() -> list[str]:
    """Return what the bins of `glasshouse.microdata.presence.PRESENCE_LABELS` are called in a picture."""
    between = ["< 10", *(f"{tenth}0–{tenth + 1}0" for tenth in range(1, 9)), "≥ 90"]
    return [text("out"), *(text("{figure} %", figure=each) for each in between), text("in")]


def _long_bins() -> list[str]:
    """Return what they are called in a table."""
    return [
        text("out for sure"),
        text("above 0, below {high} %", high=10),
        *(
            text("{low} % to below {high} %", low=10 * tenth, high=10 * tenth + 10)
            for tenth in range(1, 10)
        ),
        text("in for sure"),
    ]


def _rows(outcome: Membership, names: list[str]) -> list[dict[str, str | float]]:
    labels = bins()
    return [
        {
            "release": name,
            "bin": label,
            "sure": translated(OUT if i == 0 else IN if i == len(labels) - 1 else BETWEEN),
            "people": 100 * count / single.people,
            "text": share(count, single.people) if count else "",
        }
        for name, single in zip(names, outcome.each or (outcome,), strict=True)
        for i, (label, count) in enumerate(zip(labels, single.presence, strict=True))
    ]


def _finding(outcome: Membership, subject: str) -> str:
    """Say of how many it is certain whether they are in; of several releases, in which one most are."""
    certain = [single.certain for single in outcome.each or (outcome,)]
    best = certain.index(max(certain))
    parts = {
        "subject": singular(subject),
        "many": plural(subject),
        "count": number(len(certain)),
        "release": short_names(outcome.datasets)[best],
        "frequency": frequency(Fraction(certain[best], outcome.people)),
    }
    if outcome.each and not any(certain):
        return text(
            "Of no {subject} is it certain whether they are in any of the {count} releases", **parts
        )
    if outcome.each:
        return text(
            "{release} tells most: of {frequency} {many} it is certain whether they are in it",
            **parts,
        )
    if not outcome.certain:
        return text("Of no {subject} is it certain whether they are in", **parts)
    if outcome.certain == outcome.people:
        return text("Of every {subject} it is certain whether they are in", **parts)
    return text("Of {frequency} {many} it is certain whether they are in", **parts)
