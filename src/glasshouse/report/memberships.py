"""The reports on who is in a release, of everybody in a register.

They disclose nobody: no value of a quasi-identifier is in them, and sets of releases that hold fewer than five people
are summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from textwrap import wrap

import altair as alt

from glasshouse.errors import printable
from glasshouse.microdata.membership import Membership, Pattern
from glasshouse.report.cells import factor_cell, leakage_cells, percent_cell
from glasshouse.report.chances import both_frequencies
from glasshouse.report.document import METHOD
from glasshouse.report.findings import SMALL_CLASS
from glasshouse.report.lists import joined, listed
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
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    plural,
    share,
    short_names,
)
from glasshouse.table.treatment import Step

MOST_PATTERNS = 10
"""How many sets of releases a table shows by themselves."""
MOST_PATTERNS_SAID = 3
"""How many sets of releases a sentence names."""
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


def membership_sentences(outcome: Membership, *, subject: str = "person") -> tuple[str, ...]:
    """Return of how many it is certain whether they are in, how much better a guess is, and between which bounds.

    Of several releases the last sentence says instead in which of them most people are.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    sentences = [_sure(outcome, subject), _guessed(outcome, subject)]
    sentences.append(_in_which(outcome, subject) if outcome.each else _bounds(outcome, subject))
    return (*sentences, *untold(outcome.suppressed, outcome.datasets))


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
        findings=noted(membership_sentences(outcome, subject=subject)),
        figures=(_presence_figure(outcome, subject),),
        sections=tuple(section for section in sections if section is not None),
        **spread(_assumptions(outcome, subject)),
        provenance=provenance,
        command=COMMAND,
        method=f"{METHOD}; {NERGIZ}",
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


def set_label(pattern: Pattern, datasets: Sequence[str]) -> str:
    """Say a set of releases.

    >>> set_label((), ["a_2014", "a_2015"]), set_label(("a_2015",), ["a_2014", "a_2015"])
    ('none', '2015 only')
    """
    if not pattern:
        return "none"
    if len(pattern) == len(datasets):
        return "both" if len(datasets) == 2 else f"all {len(datasets)}"
    short = dict(zip(datasets, short_names(datasets), strict=True))
    return f"{joined([short[name] for name in pattern])} only"


def linking(linked: bool) -> str:
    """Say how several releases were brought together."""
    if linked:
        return "The releases were linked by an identifier."
    return (
        "The releases cannot be linked: among people who are alike on what is known, each is taken as an independent "
        "random choice."
    )


def untold(suppressed: Sequence[int], datasets: Sequence[str]) -> list[str]:
    """Say how many records show nothing, where there are some."""
    if not any(suppressed):
        return []
    few = sum(suppressed)
    verb, whose = ("shows", "It is") if few == 1 else ("show", "They are")
    return [
        f"{counted(few, 'record')} of {listed(datasets)} {verb} nothing but “*” and may be anybody's. {whose} not "
        "counted as being in: to be out means to be in none of the other records."
    ]


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
    both = both_frequencies(low, high)
    if both == frequency(high):
        return f"For everybody the chance of being in it is nearly the same: {both}."
    return f"For everybody the chance of being in it lies between {both}."


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


def _in_which(outcome: Membership, subject: str) -> str:
    """Say in which releases most people are."""
    shown, _, _ = _shown_patterns(outcome)
    if not shown:
        return f"In which releases the {plural(subject)} are is not told: they are too few."
    said = [
        f"{frequency(part)} are in {set_label(pattern, outcome.datasets)}"
        for pattern, part in shown[:MOST_PATTERNS_SAID]
    ]
    return f"Of the {plural(subject)}, {joined(said)}."


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
    shares = [(set_label(pattern, outcome.datasets), part) for pattern, part in shown]
    if others:
        shares.append((f"{counted(others, 'other set')} together", rest))
    rows = tuple((Cell(label), percent_cell(part)) for label, part in shares)
    columns = (Column("In exactly"), Column(plural(subject).capitalize(), numeric=True))
    expected = "" if outcome.linked else "The shares are what is to be expected. "
    few = f"Sets that hold fewer than {counted(SMALL_CLASS, subject)} are summed up."
    return Section(
        "In which releases people are",
        intro=f"{linking(outcome.linked)} {expected}{few}",
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
    return Figure.of(
        presence_chart(outcome, subject=subject),
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
    several = f" {linking(outcome.linked)}" if outcome.each else ""
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
