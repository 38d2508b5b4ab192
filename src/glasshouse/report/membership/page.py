"""The reports on who is in a release: of everybody in a register, of one person, and estimated without a register.

Those of everybody disclose nobody: no value of a quasi-identifier is in them, and sets of releases that hold fewer
people than may be told are summed up. That of one person is personal data, as it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from glasshouse.disclosure import smallest_cell
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
from glasshouse.measures.membership import named_with_a_register, records_alone
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.presence import Member, Membership
from glasshouse.microdata.uniqueness import PopulationRisks
from glasshouse.report import vega
from glasshouse.report.assess.front import less_detail_command
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import (
    NOTHING,
    cell_table,
    count_cell,
    factor_cell,
    guess_titles,
    leakage_cells,
    percent_cell,
    three_digits,
    under,
    yes_cell,
)
from glasshouse.report.charts import (
    TARGETS,
    Shift,
    before_and_after_table,
    figure_of,
    keyed,
    plot,
    rest_of,
    shift_figure,
    titled,
)
from glasshouse.report.discretion import (
    EXACTLY,
    Among,
    Discretion,
    both_percentages,
    personal,
    what_is_left_out,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.membership.findings import (
    FOR_SURE,
    MEMBER_TERMS,
    MEMBERSHIP_TERMS,
    NOBODY_NAMED,
    POPULATION_TERMS,
    among_candidates,
    answers_of,
    as_told,
    estimated_count,
    has_few,
    linking,
    may_be_theirs,
    member_findings,
    membership_findings,
    population_findings,
    set_label,
    shown_patterns,
    taken_by_the_rule,
)
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Page,
    Provenance,
    Section,
    Table,
    Tile,
    remedies,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.survey_weights import WEIGHT_TERMS, weights_section
from glasshouse.report.words import (
    counted,
    enumeration,
    listed,
    percentages,
    plural,
    remarks,
    sentences,
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
        return _membership_page(outcome, question, provenance)
    if isinstance(outcome, Member):
        return _member_page(outcome, question.subject, provenance)
    return _population_page(outcome, question, provenance)


def brief(outcome: Membership | Member | PopulationRisks, question: MembershipStudy) -> Brief:
    """Return what a terminal says of who is in a release."""
    subject = question.subject
    if isinstance(outcome, Membership):
        table, findings = _brief_releases(outcome), membership_findings(outcome, subject=subject)
    elif isinstance(outcome, Member):
        table = _brief_member(outcome)
        findings = member_findings(outcome, subject=subject, exact=True)
    else:
        table = _brief_estimates(outcome)
        is_released = question.weight not in question.drop
        findings = population_findings(outcome, subject=subject, is_released=is_released)
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
        *(text("in it"), text("certainly in"), text("certainly out"), text("one guess right")),
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
                *map(number, (row.certainly_in, row.certainly_out)),
                f"{three_digits(guess.prior)} → {three_digits(guess.posterior)}",
                "–"
                if low is None or high is None
                else text("{least} to {most}", least=three_digits(low), most=three_digits(high)),
            )
        )
    return cell_table(text("release"), measures, rows, title)


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
    return cell_table(text("release"), measures, rows, title)


def _brief_estimates(risks: PopulationRisks) -> Table:
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


def _membership_page(
    outcome: Membership, question: MembershipStudy, provenance: Provenance
) -> Page:
    """Return the report on who is in one or several releases."""
    subject = question.subject
    sure, *findings = membership_findings(outcome, subject=subject)
    words = {
        "datasets": listed(outcome.datasets),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "known": enumeration(outcome.quasi_identifiers),
    }
    several, subjects = bool(outcome.each), plural(subject)
    expected = () if outcome.linked else (text("The shares are what is to be expected."),)
    rows = [(Cell(label), percent_cell(part)) for label, part, _ in _sets_of_releases(outcome)]
    share_of = text("Share of the {people}", people=subjects)
    sets = Section(
        text("In which releases people are"),
        intro=" ".join((linking(outcome.linked), *expected, *_summed_up(outcome, subjects))),
        tables=(cell_table(text("In exactly"), [share_of], rows),),
    )
    sections = (
        Section(
            text("The attacks"), tables=(_success_table(outcome, subjects), _risks_table(outcome))
        ),
        sets if several and not has_few(outcome) else None,
        treatment_section(outcome.steps),
    )
    return Page(
        title=text("Who is in {datasets}: what {register} lets an adversary learn", **words),
        lead=text("{people} in {register}; what is known of them: {known}", **words),
        findings=(replace(sure, picture=presence_figure(outcome, subject)), *findings),
        summary=f"{_finding(outcome, subject)}.",
        tiles=tuple(_membership_tiles(outcome, subject)),
        actions=remedies(
            [sure], {sure.remedy: less_detail_command(question, outcome.quasi_identifiers)}
        ),
        sections=tuple(filter(None, sections)),
        adversary=sentences(
            marked(
                "The adversary knows everybody in {register} and, of each, {known}. She knows the whole release."
            ),
            marked(
                "Before the attack she takes everybody there as equally likely to be the one she is after."
            ),
            **words,
        ),
        limits=(
            *_register_limits(outcome),
            *sentences(
                marked("Every figure is an exact ratio of counts; none is estimated.")
                if outcome.linked or not several
                else marked(
                    "Every figure of one release is an exact ratio of counts. Those of all releases together are what "
                    "is to be expected."
                ),
                NOBODY_NAMED,
            ),
        ),
        provenance=provenance,
        command=COMMAND,
        method=f"{METHOD}; {NERGIZ}",
        glossary=glossary(
            "adversary, membership, quasi-identifier, class, release, vulnerability, leakage",
            "capacity",
            terms=({marked("For sure"): FOR_SURE[several]}, MEMBERSHIP_TERMS),
        ),
    )


def _membership_tiles(outcome: Membership, subject: str) -> Iterator[Tile]:
    """Yield of how many it is certain, what a guess gains, and how many records could be named with the register."""
    guess = outcome.probabilistic
    if outcome.each or not outcome.certain:
        yield Tile(
            text("Of whom it is certain"),
            share(outcome.certain, outcome.people),
            text(
                "for {certain} of the {people} it is certain in which they are",
                certain=number(outcome.certain),
                people=counted(outcome.people, subject),
            ),
        )
    else:
        people = counted(outcome.people, subject)
        for title, count in (
            (text("Who is certainly in it"), outcome.certainly_in),
            (text("Who is certainly not in it"), outcome.certainly_out),
        ):
            yield Tile(
                title,
                share(count, outcome.people),
                text("{count} of the {people}", count=number(count), people=people),
            )
    if not has_few(outcome):
        yield Tile(
            text("What is given away"),
            " → ".join(percentages(guess.prior, guess.posterior)),
            text("right guesses at who is in it, without the register and with it"),
        )
    if outcome.marketer is not None and outcome.journalist is not None:
        yield Tile(
            text("Who can be named"),
            percentage(outcome.marketer),
            text(
                "of the records would be named right by someone who has the register; the one most at risk with a "
                "chance of {highest}",
                highest=percentage(outcome.journalist),
            ),
        )


def _success_table(outcome: Membership, subjects: str) -> Table:
    """Return, for all releases together and for each alone, who is certain and how good a guess is."""
    together = [(text("all together"), outcome)] if outcome.each else []
    rows = []
    for name, row in (*together, *_named_releases(outcome)):
        sides, guess = (row.certainly_in, row.certainly_out), leakage_cells(row.probabilistic)
        few = [Cell(text("not told"))] * len(guess) if has_few(row) else None
        rows.append(
            (
                Cell(name, mark=row.code),
                count_cell(sum(row.members)),
                *(few[:2] if few else map(count_cell, sides)),
                Cell(f"{number(row.certain)} ({share(row.certain, row.people)})"),
                *(few or guess),
            )
        )
    sure = text("{people}, for sure", people=subjects)
    measures = (text("before"), text("after"), text("added"), text("factor"))
    columns: tuple[str | Column, ...] = (
        text("Records"),
        *under(sure, text("in"), text("out"), text("in all")),
        *under(text("one guess"), *measures),
    )
    return cell_table(text("Release"), columns, rows, text("What she learns"))


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
    columns: tuple[str | Column, ...] = (
        *under(text("chance of being in"), text("lowest"), text("highest")),
        text("Worst case, at most"),
        *under(text("chance that a record is named"), text("highest"), text("on average")),
    )
    return cell_table(text("Release"), columns, rows, text("Bounds and risks"))


def _sets_of_releases(outcome: Membership | Member) -> list[Shift]:
    """Return how likely the likeliest sets of releases are, and all others together."""
    patterns = shown_patterns(outcome)
    shifts = [Shift.of(set_label(pattern, outcome.datasets), part) for pattern, part in patterns]
    further = len(outcome.patterns) - len(patterns)
    if further:
        label = text_for(further, "{count} other set", "{count} other sets together")
        shifts.append(rest_of(shifts, label))
    return shifts


def _summed_up(outcome: Membership | Member, people: str) -> tuple[str, ...]:
    return sentences(
        not outcome.linked
        and marked("Sets that hold fewer than {smallest} {people} are summed up."),
        smallest=smallest_cell(),
        people=people,
    )


def _register_limits(outcome: Membership | Member) -> tuple[str, ...]:
    """Say what must hold of the register, and how several releases were brought together."""
    once = text(
        "Whoever is in a release must also be in {register}, once.", register=outcome.population
    )
    return (once, linking(outcome.linked)) if len(outcome.datasets) > 1 else (once,)


def _member_page(outcome: Member, subject: str, provenance: Provenance) -> Page:
    """Return the report on whether one person is in one or several releases."""
    words = {
        "datasets": listed(outcome.datasets),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "known": enumeration(list(outcome.known)) or text("nothing"),
    }
    outcome = as_told(outcome)
    wording = among_candidates(outcome)
    few, several = has_few(outcome), len(outcome.datasets) > 1
    candidates, present, *further = member_findings(outcome, subject=subject)
    if several:
        present = replace(present, picture=_member_figure(outcome, wording))
    shifts = _sets_of_releases(outcome)
    sets = Section(
        text("In which releases the person is"),
        intro=" ".join((linking(outcome.linked), *_summed_up(outcome, plural("person")))),
        tables=(before_and_after_table(text("In exactly"), shifts, EXACTLY, wording),),
    )
    guess = outcome.guess
    cells = (
        (leakage_cells(guess)[0], wording.cell(guess.posterior), NOTHING, NOTHING)
        if wording.hides(guess.posterior)
        else leakage_cells(guess)
    )
    label = (
        text("tell in exactly which releases the person is")
        if several
        else text("tell whether the person is in")
    )
    row = (Cell(label, mark=outcome.code), *cells)
    guesses = cell_table(text("Attack"), guess_titles(), [row], text("One guess"))
    sections = (
        Section(
            text("The attacks"),
            tables=(_presence_table(outcome, wording), *(() if few else (guesses,))),
        ),
        sets if several and not few else None,
        treatment_section(outcome.steps),
    )
    return Page(
        title=text("Whether one person is in {datasets}", **words),
        lead=text("One of {people} in {register}. This report is personal data.", **words),
        findings=(candidates, present, *further),
        tiles=tuple(_member_tiles(outcome, subject, wording)),
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
            *_register_limits(outcome),
            text("The figures follow from counts; none is estimated."),
        ),
        provenance=provenance,
        command=COMMAND,
        method=METHOD,
        glossary=glossary(
            "adversary, target, membership, release, vulnerability, leakage", terms=(MEMBER_TERMS,)
        ),
    )


def _member_tiles(outcome: Member, subject: str, wording: Among) -> Iterator[Tile]:
    """Yield how likely the person is to be in the release of which most is learned, and how many may be meant."""
    name, most = _most_telling(outcome)
    yield Tile(
        text("Is this person in it?"),
        wording.cell(most.posterior).text,
        text(
            "is the chance that they are in {release}; of anybody in {register} it is {before}",
            release=name,
            register=outcome.population,
            before=percentage(most.prior),
        ),
    )
    few = outcome.candidates < outcome.people and DISCREET.hides(outcome.candidates)
    yield Tile(
        text("Who it can be"),
        f"< {smallest_cell()}" if few else number(outcome.candidates),
        text("of the {people} fit what is known", people=counted(outcome.people, subject)),
    )


def _presence_table(outcome: Member, wording: Among) -> Table:
    """Return how likely the person is to be in each release."""
    presence = zip(short_names(outcome.datasets), outcome.records, outcome.present, strict=True)
    discretion = DISCREET if wording.rough else Discretion(exact=True)
    rows = [
        (
            Cell(name),
            Cell(may_be_theirs(outcome, records, discretion)),
            percent_cell(present.prior),
            wording.cell(present.posterior),
            yes_cell(present.posterior in (0, 1)),
        )
        for name, records, present in presence
    ]
    chance = under(text("chance of being in"), text("before"), text("after"))
    columns: tuple[str | Column, ...] = (text("May be theirs"), *chance, Column(text("Certain")))
    return cell_table(text("Release"), columns, rows, text("Whether the person is in"))


def _member_figure(outcome: Member, wording: Among) -> Figure:
    presence = zip(short_names(outcome.datasets), outcome.present, strict=True)
    return shift_figure(
        text("Release"),
        [Shift.of(name, present) for name, present in presence],
        (EXACTLY, wording),
        title=_member_title(outcome, wording),
        subtitle=text(
            "before: as anybody in {register}; after: as those who fit what is known",
            register=outcome.population,
        ),
        label=text("How likely the person is to be in, before and after"),
        caption=text(
            "“Before”: the share of the register that is in the release. “After”: the share of those who fit what is "
            "known."
        ),
    )


def _most_telling(outcome: Member) -> tuple[str, Leakage]:
    """Return the release of which most is learned, and how likely the person is to be in it."""
    presence = zip(short_names(outcome.datasets), outcome.present, strict=True)
    return max(presence, key=lambda item: abs(item[1].additive))


def _member_title(outcome: Member, wording: Among) -> str:
    """Say of the release of which most is learned how likely the person is to be in it."""
    name, most = _most_telling(outcome)
    now, then = both_percentages((wording, most.posterior), (EXACTLY, most.prior))
    words = {"release": name, "now": now, "then": then}
    if not most.additive and not wording.rough:
        return text("{release}: the chance of being in it is {then}, as for anybody", **words)
    return text("{release}: the chance of being in it is {now}; for anybody it is {then}", **words)


def _population_page(
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
            "{records}, {share} of a population of about {people}; what is known of them: {known}",
            **words,
        ),
        findings=(alone, differing, *further),
        tiles=tuple(_population_tiles(risks, subject)),
        actions=remedies(
            [alone, differing],
            {alone.remedy: less_detail_command(question, risks.quasi_identifiers)},
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
        text("Who can be named"),
        low if low == high else f"{low} – {high}",
        text(
            "of the records would, by estimate, be named right by someone who has a register of the population"
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
        text("Records alone with what is known of them"),
        text("Classes of records alike"),
        text("Classes in the population, estimated"),
        subjects,
        text("Share of the population that is in the release"),
        text("Highest chance that a record is named (journalist), estimated"),
        text("The same on average over the records, estimated"),
        text("Share of the records that is named right (marketer), estimated"),
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


OUT, BETWEEN, IN = marked("out for sure"), marked("not sure"), marked("in for sure")
"""The three kinds of bars, as the legend names them."""
COLOURS = {OUT: TARGETS[1][0], BETWEEN: "#b5b5b5", IN: TARGETS[0][0]}
"""Their colours."""


def presence_chart(outcome: Membership, *, subject: str = "person") -> vega.Chart:
    """Show how many people there are by how likely they are to be in: a row of bars per release.

    Out for sure and in for sure are bars of their own, in their own colours.
    """
    singles, labels = outcome.each or (outcome,), bins()
    names = [printable(name) for name in short_names(outcome.datasets)]
    highest = max(max(single.presence) / single.people for single in singles)
    top = next(top for top in (10, 20, 50, 100) if 100 * highest <= top)
    rows = [
        {
            "release": name,
            "bin": label,
            "sure": translated(OUT if i == 0 else IN if i == len(labels) - 1 else BETWEEN),
            "people": 100 * count / single.people,
            "text": share(count, single.people) if count else "",
        }
        for name, single in zip(names, singles, strict=True)
        for i, (label, count) in enumerate(zip(labels, single.presence, strict=True))
    ]
    axis = vega.Axis(labelAngle=0, labelFontSize=11, labelOverlap=False)
    base = vega.Chart().encode(
        x=vega.X("bin:O", sort=labels, title=text("how likely they are to be in"), axis=axis),
        y=vega.Y(
            "people:Q",
            title=text("share (%)"),
            scale=vega.Scale(domain=[0, 1.12 * top], nice=False),
            axis=vega.Axis(values=[0, top / 2, top]),
        ),
    )
    kinds = keyed([translated(kind) for kind in COLOURS], list(COLOURS.values()))
    bars = base.mark_bar().encode(color=vega.Color("sure:N", **kinds))
    texts = base.mark_text(dy=-7, fontSize=11, color="#333").encode(text="text:N")
    panel = vega.layer(bars, texts, rows=rows).properties(
        width=690, height=260 if len(singles) == 1 else 110
    )
    header = vega.Header(labelOrient="top", labelAnchor="start", labelFontSize=13)
    facet = vega.Row("release:N", sort=names, title=None, header=header)
    chart = panel if len(singles) == 1 else panel.facet(row=facet)
    return titled(chart, _finding(outcome, subject), letters=(95, 95))


def presence_figure(outcome: Membership, subject: str) -> Figure:
    """Return the picture of how likely people are to be in, with its numbers."""
    subjects = plural(subject)
    titles = (text("Number of {people}", people=subjects), text("Share"))
    columns = [
        column
        for name in short_names(outcome.datasets)
        for column in under(name if outcome.each else None, *titles)
    ]
    tenths = (
        text("{low}% to below {high}%", low=10 * tenth, high=10 * tenth + 10)
        for tenth in range(1, 10)
    )
    labels = (translated(OUT), text("above 0, below {high}%", high=10), *tenths, translated(IN))
    rows = [[Cell(label)] for label in labels]
    for single in outcome.each or (outcome,):
        for row, count in zip(rows, single.presence, strict=True):
            row += [count_cell(count), Cell(share(count, single.people))]
    return figure_of(
        presence_chart(outcome, subject=subject),
        label=text("{people} by how likely they are to be in", people=subjects),
        caption=text(
            "How likely someone is to be in: the share of the release among the people who are alike on what is known. "
            "At both ends, in colour, those of whom it is certain."
        ),
        table=cell_table(text("Chance of being in"), columns, rows),
    )


def bins() -> list[str]:
    """Return what the bins of `glasshouse.microdata.presence.PRESENCE_LABELS` are called in a picture."""
    between = ["< 10", *(f"{tenth}0–{tenth + 1}0" for tenth in range(1, 9)), "≥ 90"]
    return [text("out"), *(text("{figure}%", figure=tenth) for tenth in between), text("in")]


def _finding(outcome: Membership, subject: str) -> str:
    """Say of how many it is certain whether they are in; of several releases, in which one most are."""
    singles = outcome.each or (outcome,)
    certain = [single.certain for single in singles]
    shares = [share(count, outcome.people) for count in certain]
    best = certain.index(max(certain))
    words = {
        "subject": singular(subject),
        "many": plural(subject),
        "count": number(len(certain)),
        "release": short_names(outcome.datasets)[best],
        "share": shares[best],
        "inside": share(singles[best].certainly_in, outcome.people),
        "outside": share(singles[best].certainly_out, outcome.people),
    }
    if outcome.each and not any(certain):
        template = marked(
            "For no {subject} is it certain whether they are in any of the {count} releases"
        )
    elif not any(certain):
        template = marked("For no {subject} is it certain whether they are in {release}")
    elif outcome.each and shares.count(shares[best]) == 1:
        template = marked(
            "{release} tells most: {inside} of {many} are certainly in it, and {outside} certainly not"
        )
    elif certain[best] == outcome.people:
        template = marked("For every {subject} it is certain whether they are in {release}")
    else:
        template = marked(
            "{inside} of {many} are certainly in {release}, and {outside} certainly not"
        )
    return translated(template, **words)
