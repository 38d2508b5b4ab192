"""The reports on who is in a release: of everybody in a register, of one person, and estimated without a register.

The report on everybody discloses nobody: no value of a quasi-identifier is in it, and sets of releases that hold fewer
than five people are summed up. The report on one person is personal data itself, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from textwrap import wrap

import altair as alt

from glasshouse.errors import printable
from glasshouse.microdata.membership import Member, Membership, Pattern
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks
from glasshouse.report.charts import to_svg
from glasshouse.report.document import METHOD
from glasshouse.report.findings import SMALL_CLASS
from glasshouse.report.page import (
    Assumptions,
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
from glasshouse.report.targets import (
    PERSONAL,
    Shift,
    chance,
    chances,
    factor_cell,
    leakage_cells,
    listed,
    percent_cell,
    shift_chart,
)
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    percentage,
    plural,
    share,
    short_names,
)
from glasshouse.sources import MISSING
from glasshouse.table.treatment import Step

MOST_PATTERNS = 10
"""How many sets of releases a table shows by themselves."""
MOST_PATTERNS_SAID = 3
"""How many sets of releases a sentence names."""
MOST_VALUES_LISTED = 10
"""How many possible values of a column are listed."""
OUT, BETWEEN, IN = "out for sure", "not sure", "in for sure"
COLOURS = {OUT: "#0072b2", BETWEEN: "#b5b5b5", IN: "#d55e00"}  # Okabe and Ito 2008
PRESENCE = (
    "out",
    "< 10 %",
    *(f"{tenth}0–{tenth + 1}0 %" for tenth in range(1, 9)),
    "≥ 90 %",
    "in",
)
"""How the bins of `glasshouse.microdata.membership.PRESENCE_LABELS` are called in a picture."""
COMMAND = "glasshouse membership --study study.toml"
NERGIZ = "Nergiz, Atzori and Clifton 2007, “Hiding the presence of individuals from shared databases”, SIGMOD"

ESTIMATORS = (
    "Dankar, El Emam, Neisa and Roffey 2012, “Estimating the re-identification risk of clinical data sets”, BMC "
    "Medical Informatics and Decision Making"
)


def membership_sentences(outcome: Membership, *, subject: str = "person") -> tuple[str, ...]:
    """Return of how many it is certain whether they are in, how much better a guess is, and between which bounds.

    Of several releases the last sentence says instead in which of them most people are.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    sentences = [_sure(outcome, subject), _guessed(outcome, subject)]
    sentences.append(_in_which(outcome, subject) if outcome.each else _bounds(outcome, subject))
    return (*sentences, *_untold(outcome.suppressed, outcome.datasets))


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
        Section("The figures", tables=(_success_table(outcome, subject), _risks_table(outcome))),
        _patterns_section(outcome, subject) if outcome.each else None,
        _presence_section(outcome, subject),
        treatment_section(treatment, notes),
    )
    return Page(
        title=f"Who is in {listed(outcome.datasets)}: what {outcome.population} lets an adversary learn",
        lead=f"{counted(outcome.people, subject)} in {outcome.population}; what is known of them: "
        f"{enumeration(outcome.quasi_identifiers)}",
        sentences=membership_sentences(outcome, subject=subject),
        figures=(_presence_figure(outcome, subject),),
        sections=tuple(section for section in sections if section is not None),
        assumptions=_assumptions(outcome, subject),
        provenance=provenance,
        command=COMMAND,
        method=f"{METHOD}; {NERGIZ}",
    )


def member_sentences(outcome: Member, *, subject: str = "person") -> tuple[str, ...]:
    """Return who fits what is known of one person, and how likely it is that they are in, before and after.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    sentences = [_candidates(outcome, subject)]
    if len(outcome.datasets) == 1:
        sentences.append(_present(outcome, subject))
    else:
        sentences += [_present_in_each(outcome, subject), _best_set(outcome, subject)]
    return (*sentences, *_untold(outcome.suppressed, outcome.datasets))


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
    sections = (
        Section("The figures", tables=_member_tables(outcome, subject)),
        _member_patterns_section(outcome, subject) if len(outcome.datasets) > 1 else None,
        _known_section(outcome, subject),
        treatment_section(treatment, notes),
    )
    return Page(
        title=f"Whether one {subject} is in {listed(outcome.datasets)}",
        lead=f"One of {counted(outcome.people, subject)} in {outcome.population}. This report is personal data.",
        sentences=member_sentences(outcome, subject=subject),
        figures=(_member_figure(outcome, subject),),
        sections=tuple(section for section in sections if section is not None),
        assumptions=_member_assumptions(outcome, subject),
        provenance=provenance,
        command=COMMAND,
        method=METHOD,
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
        _population_section(risks, subject),
        treatment_section(treatment, notes),
    )
    return Page(
        title=f"The people behind {risks.dataset}: estimated risks",
        lead=f"{counted(risks.records, 'record')}, {percentage(risks.fraction)} of a population of about "
        f"{counted(risks.people, subject)}; what is known of them: {enumeration(risks.quasi_identifiers)}",
        sentences=population_sentences(risks, subject=subject),
        figures=(_estimates_figure(risks, subject),) if _answers(risks) else (),
        sections=tuple(section for section in sections if section is not None),
        assumptions=_population_assumptions(risks, subject),
        provenance=provenance,
        command=COMMAND,
        method=ESTIMATORS,
    )


def presence_chart(outcome: Membership, *, subject: str = "person") -> alt.TopLevelMixin:
    """Show how many people there are by how likely they are to be in: a row of bars per release.

    Out for sure and in for sure are bars of their own, in their own colours.
    """
    singles = outcome.each or (outcome,)
    names = short_names(outcome.datasets)
    rows = [
        {
            "release": printable(name),
            "bin": label,
            "sure": OUT if i == 0 else IN if i == len(PRESENCE) - 1 else BETWEEN,
            "people": 100 * number / single.people,
            "text": share(number, single.people) if number else "",
        }
        for name, single in zip(names, singles, strict=True)
        for i, (label, number) in enumerate(zip(PRESENCE, single.presence, strict=True))
    ]
    highest = max(max(single.presence) / single.people for single in singles)
    top = next(top for top in (10, 20, 50, 100) if 100 * highest <= top)
    base = alt.Chart().encode(
        x=alt.X(
            "bin:O",
            sort=list(PRESENCE),
            title="how likely they are to be in",
            axis=alt.Axis(labelAngle=0, labelFontSize=11, labelOverlap=False),
        ),
        y=alt.Y(
            "people:Q",
            title="share (%)",
            scale=alt.Scale(domain=[0, 1.12 * top], nice=False),
            axis=alt.Axis(values=[0, top / 2, top]),
        ),
    )
    bars = base.mark_bar().encode(
        color=alt.Color(
            "sure:N",
            title=None,
            sort=list(COLOURS),
            scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        )
    )
    texts = base.mark_text(dy=-7, fontSize=11, color="#333").encode(text="text:N")
    panel = alt.layer(bars, texts, data=alt.InlineData(values=rows)).properties(
        width=690, height=260 if len(singles) == 1 else 110
    )
    title = alt.Title(wrap(printable(_presence_finding(outcome, subject)), 95))
    if len(singles) == 1:
        return panel.properties(title=title)
    facet = alt.Row(
        "release:N",
        sort=[printable(name) for name in names],
        title=None,
        header=alt.Header(labelOrient="top", labelAnchor="start", labelFontSize=13),
    )
    return panel.facet(row=facet).properties(title=title)


def estimates_chart(risks: PopulationRisks, *, subject: str = "person") -> alt.TopLevelMixin:
    """Show how many people are alone in the population, by each estimator that found an answer."""
    taken, answers = _taken(risks), _answers(risks)
    rows = [
        {
            "estimator": f"{estimate.name} ({estimate.reference})",
            "people": number,
            "colour": COLOURS[IN] if estimate is taken else COLOURS[BETWEEN],
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


def _whose(outcome: Membership, subject: str) -> str:
    return (
        f"Someone who knows a {subject}'s {enumeration(outcome.quasi_identifiers)} from "
        f"{outcome.population}"
    )


def _is_settled(outcome: Membership) -> bool:
    """Tell whether it is known beforehand who is in what: everybody is in the same releases."""
    return outcome.deterministic.prior == 1


def _sure(outcome: Membership, subject: str) -> str:
    """Say of how many people it is certain whether they are in."""
    people, release = counted(outcome.people, subject), listed(outcome.datasets)
    if _is_settled(outcome):
        return _settled(outcome, subject)
    whether = (
        f"in exactly which of the {len(outcome.each)} releases they are"
        if outcome.each
        else f"whether they are in {release}"
    )
    who = _whose(outcome, subject)
    if not outcome.certain:
        return f"{who} is certain of nobody of the {people} {whether}."
    of = (
        f"every one of the {people}"
        if outcome.certain == outcome.people
        else f"{outcome.certain:,} of the {people} ({share(outcome.certain, outcome.people)})"
    )
    return f"{who} is certain of {of} {whether}: {_split(outcome)}."


def _split(outcome: Membership) -> str:
    """Say how many of those who are certain are in, and how many are out."""
    inside, outside = outcome.certainly_in, outcome.certainly_out
    if not outcome.each:
        return f"{_none(inside)} in it and {_none(outside)} not"
    others = outcome.certain - inside - outside
    return f"{_none(inside)} in all of them, {_none(outside)} in none, {_none(others)} in some"


def _none(count: int) -> str:
    return f"{count:,} {'is' if count == 1 else 'are'}" if count else "nobody is"


def _settled(outcome: Membership, subject: str) -> str:
    release, people = listed(outcome.datasets), counted(outcome.people, subject)
    (pattern,) = outcome.patterns
    nothing = "everybody knows that beforehand, and nothing is learned"
    if not pattern:
        return f"Nobody of the {people} of {outcome.population} is in {release}: {nothing}."
    if len(pattern) == len(outcome.datasets):
        return f"Every one of the {people} of {outcome.population} is in {release}: {nothing}."
    return (
        f"Every one of the {people} of {outcome.population} is in {listed(pattern)}, and in no other release: "
        f"{nothing}."
    )


def _guessed(outcome: Membership, subject: str) -> str:
    """Say how much better a guess is."""
    before, after = (
        frequency(outcome.probabilistic.prior),
        frequency(outcome.probabilistic.posterior),
    )
    what = "the exact set of releases" if outcome.each else f"whether a {subject} is in it"
    right = f"A guess at {what} is right for {after} {plural(subject)}"
    if before == after:
        worth = "no" if not outcome.probabilistic.additive else "hardly"
        return f"{right}: {worth} better than without that knowledge."
    return f"{right}; without that knowledge it would be {before}."


def _bounds(outcome: Membership, subject: str) -> str:
    """Say between which bounds everybody's chance of being in lies (δ-presence)."""
    low, high = outcome.delta_min, outcome.delta_max
    if low is None or high is None:
        return ""
    if low == high:
        same = {0: "0", 1: "1"}.get(int(low)) if low in (0, 1) else frequency(low)
        return f"For everybody the chance of being in it is the same: {same}."
    if low == 0 or high == 1:
        lowest = "0 (out for sure)" if low == 0 else frequency(low)
        highest = "1 (in for sure)" if high == 1 else frequency(high)
        return f"From {subject} to {subject} the chance of being in it varies between {lowest} and {highest}."
    span = _span(low, high, "and")
    if span == frequency(high):
        return f"For everybody the chance of being in it is nearly the same: {span}."
    return f"For everybody the chance of being in it lies between {span}."


def _span(low: Fraction, high: Fraction, word: str) -> str:
    """Say two frequencies, with what they have in common once.

    >>> _span(Fraction(4, 100), Fraction(86, 100), "and"), _span(Fraction(1, 250), Fraction(1, 2), "to")
    ('4 and 86 of every 100', '1 of every 250 to 50 of every 100')
    """
    if low >= Fraction(1, 100) and round(100 * low) < round(100 * high) < 100:
        return f"{round(100 * low)} {word} {round(100 * high)} of every 100"
    first, second = frequency(low), frequency(high)
    if first == second:
        return first
    (count, _, base), (_, _, other) = (each.partition(" of every ") for each in (first, second))
    return f"{count if base == other else first} {word} {second}"


def _shown_patterns(outcome: Membership) -> tuple[list[tuple[Pattern, Fraction]], int, Fraction]:
    """Return the most frequent sets of releases, how many others there are, and the share of these together.

    A set that holds fewer than five people is not shown. Where all that is not shown would be so few, one more is not.
    """
    ordered = sorted(outcome.patterns.items(), key=lambda item: -item[1])
    least = Fraction(SMALL_CLASS, outcome.people)
    shown = [item for item in ordered if item[1] >= least][:MOST_PATTERNS]
    rest = 1 - sum((share for _, share in shown), Fraction(0))
    while shown and 0 < rest < least:
        rest += shown.pop()[1]
    return shown, len(ordered) - len(shown), rest


def _set_label(pattern: Pattern, datasets: Sequence[str]) -> str:
    """Say a set of releases.

    >>> _set_label((), ["a_2014", "a_2015"]), _set_label(("a_2015",), ["a_2014", "a_2015"])
    ('none', '2015 only')
    """
    if not pattern:
        return "none"
    if len(pattern) == len(datasets):
        return "both" if len(datasets) == 2 else f"all {len(datasets)}"
    short = dict(zip(datasets, short_names(datasets), strict=True))
    names = [short[name] for name in pattern]
    if len(names) == 1:
        return f"{names[0]} only"
    return f"{', '.join(names[:-1])} and {names[-1]} only"


def _in_which(outcome: Membership, subject: str) -> str:
    """Say in which releases most people are."""
    shown, _, _ = _shown_patterns(outcome)
    if not shown:
        return f"In which releases the {plural(subject)} are is not told: they are too few."
    said = [
        f"{frequency(part)} are in {_set_label(pattern, outcome.datasets)}"
        for pattern, part in shown[:MOST_PATTERNS_SAID]
    ]
    return (
        f"Of the {plural(subject)}, {', '.join(said[:-1])}{' and ' if said[1:] else ''}{said[-1]}."
    )


def _untold(suppressed: Sequence[int], datasets: Sequence[str]) -> list[str]:
    """Say how many records show nothing, where there are some."""
    if not any(suppressed):
        return []
    few = sum(suppressed)
    verb, whose = ("shows", "It is") if few == 1 else ("show", "They are")
    return [
        f"{counted(few, 'record')} of {listed(datasets)} {verb} nothing but “*” and may be anybody's. {whose} not "
        "counted as being in: to be out means to be in none of the other records."
    ]


def _success_table(outcome: Membership, subject: str) -> Table:
    """Return, for all releases together and for each alone, who is certain and how good a guess is."""
    names = short_names(outcome.datasets)
    rows = []
    if outcome.each:
        rows.append(_success_row("all together", outcome, records=sum(outcome.members)))
    rows += [
        _success_row(name, single, records=single.members[0])
        for name, single in zip(names, outcome.each or (outcome,), strict=True)
    ]
    people = plural(subject)
    columns = (
        Column("Release"),
        Column("Records", numeric=True),
        *(
            Column(title, numeric=True, under=f"{people}, for sure")
            for title in ("in", "out", "known")
        ),
        *(
            Column(title, numeric=True, under="one guess")
            for title in ("before", "after", "added", "factor")
        ),
    )
    return Table(columns, (Group(tuple(rows)),), title="What she learns")


def _success_row(label: str, outcome: Membership, *, records: int) -> tuple[Cell, ...]:
    counts = (outcome.certainly_in, outcome.certainly_out)
    return (
        Cell(label, mark=outcome.code),
        Cell(f"{records:,}"),
        *(Cell(f"{count:,}") for count in counts),
        Cell(f"{outcome.certain:,} ({share(outcome.certain, outcome.people)})"),
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
    columns = (
        Column("Release"),
        Column("lowest", numeric=True, under="chance of being in"),
        Column("highest", numeric=True, under="chance of being in"),
        Column("Worst case, at most", numeric=True),
        Column("highest", numeric=True, under="chance that a record is named"),
        Column("on average", numeric=True, under="chance that a record is named"),
    )
    return Table(columns, (Group(rows),), title="Bounds and risks")


def _patterns_section(outcome: Membership, subject: str) -> Section:
    """Return how many people are in exactly which releases."""
    shown, others, rest = _shown_patterns(outcome)
    shares = [(_set_label(pattern, outcome.datasets), part) for pattern, part in shown]
    if others:
        shares.append((f"{counted(others, 'other set')} together", rest))
    rows = tuple((Cell(label), percent_cell(part)) for label, part in shares)
    columns = (Column("In exactly"), Column(plural(subject).capitalize(), numeric=True))
    expected = "" if outcome.linked else "The shares are what is to be expected. "
    few = f"Sets that hold fewer than {counted(SMALL_CLASS, subject)} are summed up."
    return Section(
        "In which releases people are",
        intro=f"{_linking(outcome.linked)} {expected}{few}",
        tables=(Table(columns, (Group(rows),)),),
    )


def _presence_section(outcome: Membership, subject: str) -> Section:
    """Return how many people there are by how likely they are to be in."""
    singles = outcome.each or (outcome,)
    labels = [
        "out for sure",
        "above 0, below 10 %",
        *(f"{tenth}0 % to below {tenth + 1}0 %" for tenth in range(1, 9)),
        "90 % to below 100 %",
        "in for sure",
    ]
    columns = [Column("Chance of being in")]
    for name in short_names(outcome.datasets):
        under = name if outcome.each else None
        columns.append(Column(plural(subject).capitalize(), numeric=True, under=under))
        columns.append(Column("Share", numeric=True, under=under))
    rows = tuple(
        (
            Cell(label),
            *(
                cell
                for single in singles
                for number in (single.presence[i],)
                for cell in (Cell(f"{number:,}"), Cell(share(number, single.people)))
            ),
        )
        for i, label in enumerate(labels)
    )
    return Section(
        "How likely people are to be in",
        tables=(Table(tuple(columns), (Group(rows),)),),
    )


def _presence_figure(outcome: Membership, subject: str) -> Figure:
    return Figure(
        to_svg(presence_chart(outcome, subject=subject)),
        label=f"Number of {plural(subject)} by how likely they are to be in; the same numbers are in a table below",
        caption="How likely someone is to be in: the share of the release among the people who are alike on what is "
        "known. At both ends, in colour, those of whom it is certain.",
    )


def _presence_finding(outcome: Membership, subject: str) -> str:
    if outcome.each:
        return f"How likely each {subject} is to be in each release"
    if not outcome.certain:
        return f"Of no {subject} is it certain whether they are in"
    if outcome.certain == outcome.people:
        return f"Of every {subject} it is certain whether they are in"
    sure = Fraction(outcome.certain, outcome.people)
    return f"Of {frequency(sure)} {plural(subject)} it is certain whether they are in"


def _assumptions(outcome: Membership, subject: str) -> Assumptions:
    several = f" {_linking(outcome.linked)}" if outcome.each else ""
    return Assumptions(
        text=f"The adversary knows everybody in {outcome.population} and, of each, "
        f"{enumeration(outcome.quasi_identifiers)}; whoever is in a release is also there. She takes every {subject} "
        f"as equally likely to be the one she is after. Every figure is an exact ratio of counts.{several} Nothing "
        "here tells who the people are.",
        terms=tuple(_membership_terms(outcome, subject)),
    )


def _membership_terms(outcome: Membership, subject: str) -> list[Term]:
    several = "; of several releases: in all of them, or in none" if outcome.each else ""
    return [
        Term(
            "For sure",
            f"Everybody who is alike on what is known is in, or nobody is{several}.",
        ),
        Term(
            "One guess, before and after",
            "The probability that her best guess is right, knowing only how many are in, and knowing what is known of "
            f"the {subject} besides (prior and posterior Bayes vulnerability).",
        ),
        Term("Added, factor", "After minus before, and after divided by before."),
        Term(
            "Chance of being in, lowest and highest",
            "The bounds of δ-presence (Nergiz, Atzori and Clifton 2007): for everybody the chance of being in lies "
            "between them.",
        ),
        Term(
            "Worst case",
            "No adversary, whatever she believed before and whatever a guess is worth to her, multiplies her success "
            "by more than this (multiplicative Bayes capacity).",
        ),
        Term(
            "Chance that a record is named",
            f"If she picks a {subject} of the register who fits a record: the highest chance that it is theirs (the "
            "journalist’s risk), and the share of all records that she would name right (the marketer’s risk; Dankar "
            "and El Emam 2010).",
        ),
    ]


def _candidates(outcome: Member, subject: str) -> str:
    """Say who fits what is known of one person."""
    known = f" ({enumeration(list(outcome.known))})" if outcome.known else ""
    fits = "fits" if outcome.candidates == 1 else "fit"
    people = counted(outcome.people, subject)
    sentence = (
        f"{outcome.candidates:,} of the {people} of {outcome.population} {fits} what is known of this "
        f"{subject}{known}"
    )
    if len(outcome.datasets) > 1:
        return f"{sentence}."
    records = counted(outcome.records[0], "record") if outcome.records[0] else "no record"
    return f"{sentence}, and {records} of {outcome.datasets[0]} can be theirs."


def _present(outcome: Member, subject: str) -> str:
    """Say whether the person is in the one release."""
    release, register = outcome.datasets[0], outcome.population
    before, after = outcome.present[0].prior, outcome.present[0].posterior
    this = f"this {subject} is {'in' if after else 'not in'} {release}"
    if before in (0, 1):
        return (
            f"It is certain that {this}, as {'everybody' if before else 'nobody'} of {register} is."
        )
    now, then = chances(after, before)
    general = f"of anybody in {register} it is {then}"
    if after in (0, 1):
        return f"It is certain that {this}; of anybody in {register} the chance of being in it is {chance(before)}."
    sentence = f"The chance that this {subject} is in {release} is {now}"
    if after == before:
        return f"{sentence}, the same as of anybody in {register}: nothing is learned."
    if outcome.guess.additive >= 0:
        return f"{sentence}; {general}."
    now, then = chances(outcome.guess.posterior, outcome.guess.prior)
    return (
        f"{sentence}; {general}. Whether this {subject} is in it is harder to guess than of people in general: a guess "
        f"is right with a chance of {now} instead of {then}."
    )


def _present_in_each(outcome: Member, subject: str) -> str:
    """Say in which of several releases the person is."""
    after = [present.posterior for present in outcome.present]
    said = list(zip(short_names(outcome.datasets), after, chances(*after), strict=True))
    inside = [name for name, probability, _ in said if probability == 1]
    outside = [name for name, probability, _ in said if probability == 0]
    parts = [f"certainly in {_and(inside)}"] if inside else []
    parts += [f"certainly not in {_and(outside)}"] if outside else []
    parts += [
        f"in {name} with a chance of {text}"
        for name, probability, text in said
        if 0 < probability < 1
    ]
    return f"This {subject} is {_and(parts)}."


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _best_set(outcome: Member, subject: str) -> str:
    """Say which set of several releases is the best guess, before and after."""
    after, before = outcome.guess.posterior, outcome.guess.prior
    likeliest = max(outcome.patterns, key=lambda pattern: outcome.patterns[pattern].posterior)
    former = max(outcome.patterns, key=lambda pattern: outcome.patterns[pattern].prior)
    best, first = (f"in {_set_label(each, outcome.datasets)}" for each in (likeliest, former))
    if before == 1:
        return f"Everybody in {outcome.population} is {first}: nothing is learned."
    right, then = chances(after, before)
    general = f"of anybody in {outcome.population} the best guess would be {first}, right with a chance of {then}"
    if after == 1:
        return f"So it is certain in which releases this {subject} is; {general}."
    now = f"the best guess at all releases together is {best}, right with a chance of {right}"
    if after < before:
        return f"Less is known of this {subject} than of people in general: {now} only; {general}."
    return f"{now[0].upper()}{now[1:]}; {general}."


def _member_tables(outcome: Member, subject: str) -> tuple[Table, Table]:
    """Return how likely the person is to be in each release, and how good a guess is."""
    presence = zip(short_names(outcome.datasets), outcome.records, outcome.present, strict=True)
    rows = tuple(
        (
            Cell(name),
            Cell(f"{records:,}"),
            percent_cell(present.prior),
            percent_cell(present.posterior),
            Cell("yes" if present.posterior in (0, 1) else "no"),
        )
        for name, records, present in presence
    )
    columns = (
        Column("Release"),
        Column("Records that can be theirs", numeric=True),
        Column("before", numeric=True, under="chance of being in"),
        Column("after", numeric=True, under="chance of being in"),
        Column("Certain"),
    )
    guess = Table(
        (
            Column("Attack"),
            *(
                Column(title, numeric=True)
                for title in ("Guess before", "Guess after", "Added", "Factor")
            ),
        ),
        (
            Group(
                (
                    (
                        Cell(_asked(outcome, subject), mark=outcome.code),
                        *leakage_cells(outcome.guess),
                    ),
                )
            ),
        ),
        title="One guess",
    )
    return Table(columns, (Group(rows),), title=f"Whether this {subject} is in"), guess


def _asked(outcome: Member, subject: str) -> str:
    if len(outcome.datasets) == 1:
        return f"whether this {subject} is in"
    return f"in exactly which releases this {subject} is"


def _member_patterns_section(outcome: Member, subject: str) -> Section:
    """Return how likely the person is to be in exactly which releases."""
    ordered = sorted(outcome.patterns.items(), key=lambda item: -item[1].posterior)
    rows = [
        (
            Cell(_set_label(pattern, outcome.datasets)),
            percent_cell(present.prior),
            percent_cell(present.posterior),
        )
        for pattern, present in ordered[:MOST_PATTERNS]
    ]
    others = [present for _, present in ordered[MOST_PATTERNS:]]
    if others:
        rows.append(
            (
                Cell(f"… and {counted(len(others), 'more set')}, together"),
                percent_cell(sum((each.prior for each in others), Fraction(0))),
                percent_cell(sum((each.posterior for each in others), Fraction(0))),
            )
        )
    columns = (
        Column("In exactly"),
        Column("Before", numeric=True),
        Column("After", numeric=True),
    )
    return Section(
        f"In which releases this {subject} is",
        intro=_linking(outcome.linked),
        tables=(Table(columns, (Group(tuple(rows)),)),),
    )


def _linking(linked: bool) -> str:
    if linked:
        return "The releases were linked by an identifier."
    return (
        "The releases cannot be linked: among people who are alike on what is known, each is taken as an independent "
        "random choice."
    )


def _known_section(outcome: Member, subject: str) -> Section | None:
    """Return what is known of the person."""
    if not outcome.known:
        return None
    rows = tuple((Cell(name), Cell(_possible(values))) for name, values in outcome.known.items())
    columns = (Column("Column"), Column("Possible values"))
    return Section(f"What is known of this {subject}", tables=(Table(columns, (Group(rows),)),))


def _possible(values: Sequence[str]) -> str:
    shown = [value if value != MISSING else "(missing)" for value in values[:MOST_VALUES_LISTED]]
    more = len(values) - len(shown)
    return " or ".join(shown) + (f" or one of {more:,} more" if more else "")


def _member_figure(outcome: Member, subject: str) -> Figure:
    names = short_names(outcome.datasets)
    shifts = [
        Shift(name, present.prior, present.posterior)
        for name, present in zip(names, outcome.present, strict=True)
    ]
    chart = shift_chart(
        shifts,
        title=f"How likely this {subject} is to be in",
        subtitle=f"before: as anybody in {outcome.population}; after: as those who fit what is known",
    )
    return Figure(
        to_svg(chart),
        label=f"How likely this {subject} is to be in, before and after; the same numbers are in a table below",
        caption="“Before”: the share of the register that is in the release. “After”: the share of those who fit what "
        "is known.",
    )


def _member_assumptions(outcome: Member, subject: str) -> Assumptions:
    several = f" {_linking(outcome.linked)}" if len(outcome.datasets) > 1 else ""
    return Assumptions(
        text=f"{PERSONAL} The {subject} is one of those in {outcome.population} who fit what is known, each as likely "
        f"as the other; whoever is in a release is also there. Every figure is an exact ratio of counts.{several}",
        terms=(
            Term(
                "Chance of being in",
                "Among those who fit, the share that is in the release; before: among everybody in the register.",
            ),
            Term("Certain", "Everybody who fits is in, or nobody is."),
            Term(
                "Guess before, guess after",
                "The probability that her best guess is right (prior and posterior Bayes vulnerability).",
            ),
            Term(
                "Added, factor",
                f"After minus before, and after divided by before. For one {subject} a guess may get worse: below 0, "
                "and a factor below 1. On average over everybody it cannot.",
            ),
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
    none = f"; {_and(silent)} found no answer" if silent else ""
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
    right = _span(min(estimates), max(estimates), "to")
    return (
        f"Someone with a register of the population would name an estimated {right} records right, and one of the most "
        f"exposed records with an estimated chance of {chance(risks.journalist_highest)}."
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
            Cell("yes" if estimate.converged else "no"),
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
        return Cell("–")
    return Cell(percentage(Fraction(probability)), exact=repr(probability))


def _population_section(risks: PopulationRisks, subject: str) -> Section:
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
    return Figure(
        to_svg(estimates_chart(risks, subject=subject)),
        label=f"Estimated number of {plural(subject)} alone in the population, by estimator; the same numbers are in "
        "a table below",
        caption="Each estimator’s answer; in colour the one that the rule of Dankar et al. takes. They are estimates: "
        "how far they are apart says how little is known.",
    )


def _population_assumptions(risks: PopulationRisks, subject: str) -> Assumptions:
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
