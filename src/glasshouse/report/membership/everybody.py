"""Who is in a release, of everybody in a register.

It discloses nobody: no value of a quasi-identifier is in it, and sets of releases that hold fewer people than may be
told are summed up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from glasshouse.language import (
    marked,
    number,
    percentage,
    printable,
    text,
    text_for,
    translated,
)
from glasshouse.microdata.presence import Membership
from glasshouse.report import vega
from glasshouse.report.assess.front import less_detail
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import (
    cell_table,
    count_cell,
    factor_cell,
    leakage_cells,
    percent_cell,
    under,
)
from glasshouse.report.charts import (
    TARGETS,
    figure_of,
    keyed,
    titled,
)
from glasshouse.report.discretion import (
    Among,
    change_told,
    ratio,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.membership.releases import (
    COMMAND,
    NOBODY_NAMED,
    NOTHING_ELSE_KNOWN,
    TELLING_IN_ITSELF,
    has_few,
    linking,
    register_limits,
    set_label,
    sets_of_releases,
    shown_patterns,
    summed_up,
    untold,
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
    reassurance,
)
from glasshouse.report.provenance import treatment_section
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    counted,
    enumeration,
    in_words,
    joined,
    listed,
    percentages,
    plural,
    sentences,
    share,
    short_names,
    singular,
)
from glasshouse.study.membership import MembershipStudy

NERGIZ = "Nergiz, Atzori and Clifton 2007, “Hiding the presence of individuals from shared databases”, SIGMOD"
MOST_PATTERNS_SAID = 3
"""How many sets of releases a sentence names."""
NOBODY_SURE = marked(
    "Someone who knows the {known} of everybody in {register} cannot say for certain, about any of the "
    "{people}, {matter}."
)
EVERYBODY_SURE = marked(
    "Someone who knows the {known} of everybody in {register} can say for certain, about every one of "
    "the {people}, {matter}."
)
SOME_SURE = marked(
    "Someone who knows the {known} of everybody in {register} can say for certain, about {certain} of "
    "the {people} ({share}), {matter}."
)
WHETHER = {
    True: marked("in exactly which of the {releases} releases they are"),
    False: marked("whether they are in {release}"),
}
"""What she cannot tell, by whether there are several releases."""
WHICH = {
    True: marked(
        "in exactly which of the {releases} releases they are: {inside} in all, {outside} in none and {some} in some"
    ),
    False: marked("whether they are in {release}: {inside} in it, {outside} not"),
}
"""What she can tell."""
FOR_SURE = {
    True: marked(
        "Everybody who is alike on what is known is in, or nobody is; of several releases: in all of them, or in none."
    ),
    False: marked("Everybody who is alike on what is known is in, or nobody is."),
}
"""What is for sure, by whether there are several releases."""
MEMBERSHIP_TERMS = {
    marked("One guess, before and after"): marked(
        "The probability that her best guess is right, knowing only how many are in, and also knowing "
        "something about the person (prior and posterior Bayes vulnerability)."
    ),
    marked("Added, factor"): marked("After minus before, and after divided by before."),
    marked("Chance of being in, lowest and highest"): marked(
        "The bounds of δ-presence (Nergiz, Atzori and Clifton 2007): for everybody the chance of being in lies between "
        "them."
    ),
    marked("Worst case"): marked(
        "No adversary with non-negative gains, whatever she believed before and whatever a guess is worth to her, "
        "multiplies her success by more than this (multiplicative Bayes capacity)."
    ),
    marked("Chance that a record is identified"): marked(
        "If she picks somebody in the register who fits a record: the highest chance that it is theirs (the "
        "journalist’s risk), and the share of all records that she would identify correctly (the marketer’s "
        "risk; Dankar and El Emam 2010)."
    ),
}
"""The words of a report on everybody, explained."""
OUT, BETWEEN, IN = marked("out for sure"), marked("not sure"), marked("in for sure")
"""The three kinds of bars, as the legend names them."""
COLOURS = {OUT: TARGETS[1][0], BETWEEN: "#b5b5b5", IN: TARGETS[0][0]}
"""Their colours."""


def membership_findings(outcome: Membership, *, subject: str = "person") -> tuple[Finding, ...]:
    """Return of how many it is certain whether they are in, how much better a guess is, and between which bounds.

    Of several releases the last one says instead in which of them most people are.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    words = {
        "many": plural(subject),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "release": listed(outcome.datasets),
    }
    last = _in_which(outcome, words) if outcome.each else _bounds(outcome, words)
    guessed = None if has_few(outcome) else _guessed(outcome, words)
    return (_sure(outcome, words), *filter(None, [guessed, last]), *untold(outcome))


def _sure(outcome: Membership, words: dict[str, str]) -> Finding:
    """Say of how many people it is certain whether they are in."""
    if outcome.deterministic.prior == 1:
        return reassurance(_settled(outcome, words))
    several = bool(outcome.each)
    words = words | {
        "known": enumeration(outcome.quasi_identifiers),
        "certain": number(outcome.certain),
        "share": share(outcome.certain, outcome.people),
        "inside": number(outcome.certainly_in),
        "outside": number(outcome.certainly_out),
        "some": number(outcome.certain - outcome.certainly_in - outcome.certainly_out),
        "releases": number(len(outcome.each)),
    }
    if not outcome.certain:
        template, matter = NOBODY_SURE, WHETHER[several]
    else:
        template = EVERYBODY_SURE if outcome.certain == outcome.people else SOME_SURE
        matter = (WHETHER if has_few(outcome) else WHICH)[several]
    sentence = translated(template, matter=translated(matter, **words), **words)
    if not outcome.certain:
        return reassurance(sentence, meaning=translated(NOTHING_ELSE_KNOWN))
    remedy = text(
        "Reduce the detail of the columns that the register also holds, then run this again."
    )
    severity = graded(Fraction(0), certain=outcome.certain, people=outcome.people)
    return Finding(severity, sentence, "", translated(TELLING_IN_ITSELF), remedy)


def _settled(outcome: Membership, words: dict[str, str]) -> str:
    """Say that it is known beforehand who is in what: everybody is in the same releases."""
    (pattern,) = outcome.patterns
    if not pattern:
        template = marked(
            "None of the {people} of {register} is in {releases}: everybody knows that beforehand, and nothing is "
            "learned."
        )
    elif len(pattern) == len(outcome.datasets):
        template = marked(
            "Every one of the {people} of {register} is in {releases}: everybody knows that beforehand, and nothing is "
            "learned."
        )
    else:
        template = marked(
            "Every one of the {people} of {register} is in {releases}, and in no other release: everybody knows that "
            "beforehand, and nothing is learned."
        )
    return translated(template, releases=listed(pattern or outcome.datasets), **words)


def _guessed(outcome: Membership, words: dict[str, str]) -> Finding:
    """Say how much better a guess is."""
    guess, among = outcome.probabilistic, Among(outcome.people, exact=True)
    before, after = map(in_words, map(percentage, (guess.prior, guess.posterior)))
    if not guess.additive:
        template = marked(
            "A guess at {matter} is right in {after} of cases: the register makes it no better."
        )
    elif before == after:
        template = marked(
            "A guess at {matter} is right in {after} of cases: the register makes it hardly better."
        )
    else:
        template = marked(
            "A guess at {matter} is right in {after} of cases, up from {before} without the register."
        )
    matter = (
        text("the exact releases that somebody is in")
        if outcome.each
        else text("who is in {release}", **words)
    )
    return Finding(
        graded(guess.additive) if guess.additive else Severity.SAFE,
        translated(template, matter=matter, before=before, after=after, **words),
        change_told(guess, among, among).figure,
    )


def _bounds(outcome: Membership, words: dict[str, str]) -> Finding | None:
    """Say between which bounds everybody's chance of being in lies (δ-presence); from 0 to 1 is told as certainty."""
    low, high = outcome.delta_min, outcome.delta_max
    if low is None or high is None or (low == 0 and high == 1):
        return None
    lowest, highest = map(in_words, map(percentage, (low, high)))
    if low == high:
        template = marked("For everybody the chance of being in {release} is the same: {highest}.")
    elif lowest == highest:
        template = marked(
            "For everybody the chance of being in {release} is nearly the same: {highest}."
        )
    else:
        template = marked(
            "The chance of being in {release} is at least {lowest} and at most {highest} for everybody."
        )
    sentence = translated(template, lowest=lowest, highest=highest, **words)
    figure = text("exactly from {lowest} to {highest}", lowest=ratio(low), highest=ratio(high))
    if low != high:
        meaning = text(
            "The nearer to 100% the chance is, the surer she is that somebody is in; the nearer to 0%, that they are "
            "not."
        )
        return note(sentence, figure, meaning)
    alike = text(
        "People inside and outside the release look alike: the register reveals nothing about anybody."
    )
    return reassurance(sentence, meaning="" if low in (0, 1) else alike)


def _in_which(outcome: Membership, words: dict[str, str]) -> Finding:
    """Say in which releases most people are."""
    words = words | {"people": words["many"]}
    patterns = shown_patterns(outcome)[:MOST_PATTERNS_SAID]
    figures = percentages(*(part.posterior for _, part in patterns)) if patterns else ()
    shares = [
        text(
            "{share} are in {releases}",
            share=in_words(figure),
            releases=set_label(pattern, outcome.datasets),
        )
        if pattern
        else text("{share} are in none of the releases", share=in_words(figure))
        for (pattern, _), figure in zip(patterns, figures, strict=True)
    ]
    if not shares:
        return note(
            text(
                "In which releases the {people} are is not shown, as fewer than {smallest} of them are in the same "
                "ones.",
                **words,
            )
        )
    return note(text("Of the {people} of {register}, {shares}.", shares=joined(shares), **words))


def membership_page(outcome: Membership, question: MembershipStudy, provenance: Provenance) -> Page:
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
    rows = [(Cell(label), percent_cell(part.prior)) for label, part in sets_of_releases(outcome)]
    share_of = text("Share of the {people}", people=subjects)
    sets = Section(
        text("In which releases people are"),
        intro=" ".join((linking(outcome.linked), *expected, *summed_up(outcome, subjects))),
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
        lead=text("{people} in {register}; what is known about them: {known}", **words),
        findings=(replace(sure, picture=presence_figure(outcome, subject)), *findings),
        summary=f"{_finding(outcome, subject)}.",
        tiles=tuple(_membership_tiles(outcome, subject)),
        actions=less_detail(
            [sure],
            sure.remedy,
            question,
            records=max(outcome.members),
            known=outcome.quasi_identifiers,
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
            *register_limits(outcome),
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
            text("What the register adds"),
            " → ".join(percentages(guess.prior, guess.posterior)),
            text("correct guesses at who is in it, without and with the register"),
        )
    if outcome.marketer is not None and outcome.journalist is not None:
        yield Tile(
            text("Who can be identified"),
            percentage(outcome.marketer),
            text(
                "of the records would be identified correctly by someone with the register; the most exposed with a "
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
        few = [Cell(text("not shown"))] * len(guess) if has_few(row) else None
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
        *under(text("chance that a record is identified"), text("highest"), text("on average")),
    )
    return cell_table(text("Release"), columns, rows, text("Bounds and risks"))


def releases_table(outcome: Membership) -> Table:
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
                name,
                "–" if row.each else number(sum(row.members)),
                *map(number, (row.certainly_in, row.certainly_out)),
                f"{percentage(guess.prior)} → {percentage(guess.posterior)}",
                "–"
                if low is None or high is None
                else text("{least} to {most}", least=percentage(low), most=percentage(high)),
            )
        )
    return cell_table(text("release"), measures, rows, title)


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
        "release": text("“{name}”", name=short_names(outcome.datasets)[best]),
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
            "{release} reveals most: {inside} of {many} are certainly in it, and {outside} certainly not"
        )
    elif certain[best] == outcome.people:
        template = marked("For every {subject} it is certain whether they are in {release}")
    else:
        template = marked(
            "{inside} of {many} are certainly in {release}, and {outside} certainly not"
        )
    return translated(template, **words)
