"""The report on a synthetic release: what it says about the population, and what it remembers about its own people.

Three things are kept apart: what anybody guesses, what the file adds for people whom it was not made from, and what it
adds beyond that for those whom it was made from. The bound stands beside every difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.microdata.memorisation import TOLERANCE, Excess, Remembered, SyntheticRelease
from glasshouse.microdata.origins import KnownSets
from glasshouse.report import vega
from glasshouse.report.cells import NOTHING, cell_table, float_cell, group_table, percent_cell
from glasshouse.report.charts import (
    NEUTRAL,
    TARGETS,
    figure_of,
    keyed,
    per_cent_up_to,
    plot,
    titled,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_labels
from glasshouse.report.page import (
    Brief,
    Cell,
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
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.words import enumeration, percentage_points, percentages, sentences

MOST_DRAWN = 12
"""So many sets of columns are shown, those of the fewest columns."""
KINDS = {
    "match": marked("a record alike"),
    "single": marked("exactly one record alike"),
    "right": marked("{secret} guessed right"),
}
"""What somebody succeeds in."""
TERMS = {
    marked("Its own people, others"): marked(
        "Those whom the synthetic file was made from, and people of the same population whom it was not made from (the "
        "holdout). What succeeds as often with both is what the file says about the population."
    ),
    marked("Remembered, at least"): marked(
        "How much oftener she succeeds with its own people: the lower bound of the difference, with 95% confidence for "
        "all questions together. Below 0 nothing is shown."
    ),
}
"""The headings of the tables, explained."""
FIGURES = {
    "repU": marked("unique in both files (repU)"),
    "iS": marked("in the synthetic file (iS)"),
    "UEM": marked("of unique people, in the synthetic file (UEM)"),
    "Dorig": marked("share their secret with all who are alike (Dorig)"),
    "DiSCO": marked("secret on which all matching synthetic records agree, and right (DiSCO)"),
    "DCAP": marked("right if one synthetic record alike is drawn (DCAP)"),
    "TCAP": marked("right where all synthetic records alike agree (TCAP)"),
}
"""What others report, under their names."""
ADVERSARY = (
    marked(
        "The adversary has the synthetic file, and knows some columns of a person exactly: any of {known}."
    ),
    marked(
        "She looks for synthetic records that are alike there: says that the person was in it, or guesses what most of "
        "them say."
    ),
)
LIMITS = (
    marked(
        "Counts are exact. Only the step from these people to people like them has an error: bounds hold for all "
        "questions together with 95% confidence, if own people and holdout were drawn alike."
    ),
    marked(
        "Not looked at: guesses from records that are near instead of equal, attacks on the program that made the "
        "file, several synthetic files together, and single people, of whom one may be remembered where the average is "
        "not."
    ),
    marked(
        "What the file says about the population is shown and not judged; it can harm people, too. A missing value "
        "counts as a value."
    ),
)
_SHOWN = Fraction(1, 1000)
"""A smaller share is shown as less than it."""
UNJUDGED = marked(
    "Nothing is judged: without people whom the file was not made from, what it remembers cannot be distinguished from "
    "what it says about everybody."
)


def synthetic_page(outcome: SyntheticRelease, *, provenance: Provenance) -> Page:
    """Return the report on a synthetic release."""
    remembered = outcome.remembered
    return Page(
        title=text("What {dataset} remembers about its own people", dataset=outcome.dataset),
        lead=_lead(outcome),
        findings=tuple(_findings(outcome, remembered)),
        tiles=() if remembered is None else tuple(_tiles(outcome, remembered)),
        adversary=sentences(*ADVERSARY, known=enumeration(outcome.sets[0].columns)),
        limits=sentences(*LIMITS, remembered is None and UNJUDGED),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method="Newcombe 1998; Fisher 1922; Giomi, Boenisch, Wehmeyer and Tasnádi 2023",
        figures=() if remembered is None else tuple(_sets_figures(outcome, remembered)),
        sections=tuple(_sections(outcome, remembered)),
        glossary=glossary(
            "adversary, synthetic data, quasi-identifier, membership, attribute inference",
            terms=(TERMS,),
        ),
    )


def synthetic_brief(outcome: SyntheticRelease) -> Brief:
    """Return what a terminal says of a synthetic release."""
    remembered = outcome.remembered
    tables = [_population_table(outcome)] if outcome.sensitive else []
    if remembered is not None:
        tables.append(_questions_table(outcome, remembered))
    return Brief(
        (_lead(outcome), *treatment_blocks(outcome.steps), *tables),
        tuple(_findings(outcome, remembered, drawn=False)),
    )


def _lead(outcome: SyntheticRelease) -> str:
    records = text_for(outcome.records, "{count} synthetic record", "{count} synthetic records")
    people, others = outcome.people
    if outcome.holdout is None:
        return text(
            "{records}, made from {people} people of {trained_on}",
            records=records,
            people=people,
            trained_on=outcome.trained_on,
        )
    return text(
        "{records}, made from {people} people of {trained_on}; {others} others of {holdout}",
        records=records,
        people=people,
        trained_on=outcome.trained_on,
        others=others,
        holdout=outcome.holdout,
    )


def _findings(
    outcome: SyntheticRelease, remembered: Remembered | None, *, drawn: bool = True
) -> Iterator[Finding]:
    """Yield whether it remembers its people, by what; what it says about the population; and what could be missed."""
    if remembered is None:
        yield Finding(
            Severity.NOTE,
            text(
                "Nobody can say whether this file remembers its own people: no file of other people of the same "
                "population was given, whom it was not made from (a holdout)."
            ),
            meaning=translated(UNJUDGED),
            remedy=text(
                "Keep some people out when the file is made, and name their file with --holdout."
            ),
        )
    else:
        yield from _memory(outcome, remembered, drawn=drawn)
    for sets in outcome.sets[1:]:
        yield _population(sets, remembered)
    if remembered is not None:
        yield note(
            text(
                "Copies of fewer than about {copies} of its people could have been missed, and leaks of other kinds of "
                "fewer than about {otherwise}.",
                copies=percentage(remembered.missed_copies),
                otherwise=percentage(remembered.missed_otherwise),
            )
        )
        if outcome.overlap:
            yield note(
                text_for(
                    outcome.overlap,
                    "{count} record of the holdout is alike with one of its own people in all columns. If that is the "
                    "same person, less seems to be remembered than is.",
                    "{count} records of the holdout are alike with one of its own people in all columns. If these are "
                    "the same people, less seems to be remembered than is.",
                )
            )


def _memory(outcome: SyntheticRelease, remembered: Remembered, *, drawn: bool) -> Iterator[Finding]:
    """Yield what is remembered, the whole record first; or that nothing is shown."""
    gate, most = remembered.gate, remembered.most
    picture = _by_size_figure(outcome, remembered) if drawn else None
    questions = text_for(remembered.questions, "{count} question", "{count} questions")
    if remembered.has_copies:
        own, others = _shares(outcome, gate)
        bound = _bound(remembered.copied)
        yield Finding(
            Severity.HIGH,
            text(
                "Whole records of its own people are in it: {own} of them are found there in all columns, and {others} "
                "of other people. At least {bound} of its people are there beyond chance.",
                own=own,
                others=others,
                bound=bound,
            )
            if remembered.copied >= _SHOWN
            else text(
                "Whole records of its own people are in it more often than chance explains (as they are in 5 of 100 "
                "files that copy nobody): {own} of them are found there in all columns, and {others} of other people. "
                "Beyond chance that may be {bound} of its people.",
                own=own,
                others=others,
                bound=bound,
            ),
            figure=text(
                "{own} of {people} against {others} of {rest}; p = {p} (Fisher), fixed beforehand",
                own=gate.trained_on,
                people=outcome.people[0],
                others=gate.holdout,
                rest=outcome.people[1],
                p=number(remembered.gate_p, ".2g"),
            ),
            meaning=text(
                "Somebody who knows everything about a person can tell whether that person was in the original."
            ),
            remedy=text(
                "Make the file anew so that it copies nobody: with fewer details, or with noise."
            ),
            picture=picture,
        )
    if most.at_least > TOLERANCE:
        yield Finding(
            Severity.HIGH,
            _success(outcome, most),
            figure=_exact(outcome, most),
            meaning=text(
                "The bound holds with 95% confidence for all {questions} together.",
                questions=questions,
            ),
            remedy=text(
                "Make the file anew so that it copies nobody: with fewer details, or with noise."
            ),
            picture=None if remembered.has_copies else picture,
        )
    if not remembered.remembers:
        yield Finding(
            Severity.NOTE,
            text(
                "No more than {tolerance} is shown to be remembered about its own people: of {questions} the greatest "
                "bound is {bound}, and its whole records are there as often as those of others.",
                tolerance=percentage(TOLERANCE),
                questions=questions,
                bound=_bound(remembered.at_least),
            ),
            figure=_exact(outcome, most),
            meaning=text("That nothing is shown does not prove that nothing is there."),
            picture=picture,
        )


def _bound(bound: Fraction) -> str:
    """Say a lower bound; below 0 it is none."""
    return percentage(max(bound, Fraction(0)))


def _shares(outcome: SyntheticRelease, excess: Excess) -> tuple[str, ...]:
    """Say for which shares of its own people, and of others, somebody succeeds."""
    people, others = outcome.people
    return percentages(Fraction(excess.trained_on, people), Fraction(excess.holdout, others))


def _exact(outcome: SyntheticRelease, excess: Excess) -> str:
    people, others = outcome.people
    return text(
        "{own} of {people} against {others} of {rest}: {difference}, at least {bound}",
        own=excess.trained_on,
        people=people,
        others=excess.holdout,
        rest=others,
        difference=percentage_points(excess.difference),
        bound=_bound(excess.at_least),
    )


def _knowable(outcome: SyntheticRelease, excess: Excess) -> tuple[str, ...]:
    """Return what can be known where something is asked."""
    return next(sets.columns for sets in outcome.sets if sets.secret == excess.secret)


def _success(outcome: SyntheticRelease, excess: Excess) -> str:
    """Say how somebody succeeds with its own people, and with others."""
    own, others = _shares(outcome, excess)
    words: dict[str, Any] = {
        "known": _known(excess.known, _knowable(outcome, excess), sentence=True),
        "own": own,
        "others": others,
        "bound": _bound(excess.at_least),
    }
    if excess.kind == "match":
        return text(
            "Someone who knows {known} finds a record alike for {own} of its own people, and for {others} of other "
            "people: it remembers at least {bound}.",
            **words,
        )
    if excess.kind == "single":
        return text(
            "Someone who knows {known} finds exactly one record alike for {own} of its own people, and for {others} of "
            "other people: it remembers at least {bound}.",
            **words,
        )
    return text(
        "Someone who knows {known} guesses {secret} right for {own} of its own people, and for {others} of other "
        "people: it remembers at least {bound}.",
        secret=enumeration([excess.secret or ""]),
        **words,
    )


def _population(sets: KnownSets, remembered: Remembered | None) -> Finding:
    """Say of one secret what anybody guesses, what the file says about all, and what it adds for its people."""
    row, words = _told_row(sets, remembered), {"secret": enumeration([sets.secret or ""])}
    known = _known(sets.names(row), sets.columns, sentence=True)
    if remembered is None:
        before, after = percentages(_share(sets, 0, 0), _share(sets, row, 0))
        return Finding(
            Severity.NOTE,
            text(
                "{secret} is guessed right for {after} of its own people by someone who knows {known}, and for "
                "{before} by anybody who has the file.",
                after=after,
                before=before,
                known=known,
                **words,
            ),
        )
    before, others, own = percentages(
        _share(sets, 0, 1), _share(sets, row, 1), _share(sets, row, 0)
    )
    return Finding(
        Severity.NOTE,
        text(
            "{secret} is guessed right for {before} of other people by anybody who has the file, for {others} by "
            "someone who knows {known} (what the file says about the population), and for {own} of its own people.",
            before=before,
            others=others,
            own=own,
            known=known,
            **words,
        ),
    )


def _told_row(sets: KnownSets, remembered: Remembered | None) -> int:
    """Return the set that is told of: what is remembered most, or else what most is guessed right with.

    Of others where there are any, else of its own people.
    """
    for excess in () if remembered is None else remembered.by_question:
        if excess.secret == sets.secret and excess.secret is not None and excess.at_least > 0:
            return next(r for r in range(len(sets.masks)) if sets.names(r) == excess.known)
    return 1 + int(sets.counts["right"][1:, 0 if remembered is None else 1].argmax())


def _share(sets: KnownSets, row: int, file: int, kind: str = "right") -> Fraction:
    return Fraction(int(sets.counts[kind][row, file]), sets.people[file])


def _tiles(outcome: SyntheticRelease, remembered: Remembered) -> Iterator[Tile]:
    """Yield what is remembered at least, how many whole records are there, and what could have been missed."""
    yield Tile(
        text("What it remembers"),
        _bound(remembered.at_least),
        text("at least, of its own people, beyond what it says about people like them"),
    )
    yield Tile(
        text("Whole records"),
        " / ".join(_shares(outcome, remembered.gate)),
        text("of its own people, and of others, are in it in all columns"),
    )
    yield Tile(
        text("What could be missed"),
        percentage(remembered.missed_copies),
        text("copies of fewer of its people than about this would not have been noticed"),
    )


def _sections(outcome: SyntheticRelease, remembered: Remembered | None) -> Iterator[Section]:
    if remembered is not None:
        yield Section(
            text("What it remembers"),
            intro=text(
                "Of each kind of question the set of columns with the greatest bound, and the question that was fixed "
                "beforehand."
            ),
            tables=(_questions_table(outcome, remembered),),
        )
    if outcome.sensitive:
        yield Section(
            text("What it says about the population"),
            intro=text(
                "Correct guesses at each secret: with the file alone, and with what is known."
            ),
            tables=(_population_table(outcome),),
        )
    yield Section(
        text("In the words of other tools"),
        intro=text(
            "What synthpop and SDNist count in the original, with all columns known; here in the holdout, too. Every "
            "set of columns is in results.parquet."
        ),
        tables=(_figures_table(outcome),),
    )
    if left_out := treatment_section(outcome.steps, ()):
        yield left_out


def _questions_table(outcome: SyntheticRelease, remembered: Remembered) -> Table:
    rows = [
        _question_row(outcome, excess, _kind(excess), excess.at_least)
        for excess in remembered.by_question
    ]
    gate = text("the whole record (fixed beforehand)")
    rows.append(_question_row(outcome, remembered.gate, gate, remembered.copied))
    titles = [
        text("Its own people"),
        text("Others"),
        text("Difference (points)"),
        text("Remembered, at least"),
    ]
    return cell_table([text("She finds"), text("Known")], titles, rows)


def _question_row(
    outcome: SyntheticRelease, excess: Excess, kind: str, bound: Fraction
) -> tuple[Cell | str, ...]:
    people, others = outcome.people
    return (
        kind,
        _known(excess.known, _knowable(outcome, excess)),
        percent_cell(Fraction(excess.trained_on, people)),
        percent_cell(Fraction(excess.holdout, others)),
        Cell(percentage_points(excess.difference)),
        Cell(_bound(bound)),
    )


def _known(names: Sequence[str], columns: Sequence[str], *, sentence: bool = False) -> str:
    """Say which columns are known of all that can be, by those that are not where these are few."""
    said = enumeration if sentence else column_labels
    unknown = [name for name in columns if name not in names]
    if not unknown:
        return text("all columns")
    if not names:
        return text("nothing")
    if len(unknown) < len(names) - 2:
        return text("all columns but {columns}", columns=said(unknown))
    return said(names)


def _kind(excess: Excess) -> str:
    return translated(KINDS[excess.kind], secret=enumeration([excess.secret or ""]))


def _population_table(outcome: SyntheticRelease) -> Table:
    remembered = outcome.remembered
    rows: list[tuple[Cell | str, ...]] = []
    for sets in outcome.sets[1:]:
        row = _told_row(sets, remembered)
        own = percent_cell(_share(sets, row, 0))
        if remembered is None:
            cells = [percent_cell(_share(sets, 0, 0)), NOTHING, own]
        else:
            cells = [percent_cell(_share(sets, place, 1)) for place in (0, row)] + [own]
        rows.append(
            (enumeration([sets.secret or ""]), _known(sets.names(row), sets.columns), *cells)
        )
    titles = [
        text("With the file alone"),
        text("Others, with what is known"),
        text("Its own people"),
    ]
    return cell_table([text("Secret"), text("Known")], titles, rows)


def _figures_table(outcome: SyntheticRelease) -> Table:
    files = range(1 if outcome.holdout is None else 2)
    groups: dict[str, list[tuple[Cell | str, ...]]] = {}
    for sets in outcome.sets:
        columns = [sets.figures(file) for file in files]
        title = (
            text("All columns")
            if sets.secret is None
            else text("{secret}, all else known", secret=enumeration([sets.secret]))
        )
        groups[title] = [
            (
                translated(words),
                *(float_cell(_none_if_nan(of[name][-1]), ".4f") for of in columns),
            )
            for name, words in FIGURES.items()
            if name in columns[0]
        ]
    titles = [text("Its own people"), text("Others")][: len(files)]
    return group_table(text("Share of people"), titles, groups)


def _none_if_nan(value: Any) -> float | None:
    return None if value != value else float(value)


def _by_size_figure(outcome: SyntheticRelease, remembered: Remembered) -> Figure:
    """Show for each number of known columns the set with the greatest difference: its own people against others."""
    most = remembered.gate if remembered.has_copies else remembered.most
    sets = next(one for one in outcome.sets if one.secret == most.secret)
    people, others = sets.people
    counts, sizes = sets.counts[most.kind], sets.sizes
    differences = counts[:, 0] / people - counts[:, 1] / others
    names = [text("its own people"), text("other people")]
    rows: list[dict[str, object]] = []
    table: list[tuple[Cell | str, ...]] = []
    for size in range(int(sizes.max()) + 1):
        of_size = [row for row in range(len(sizes)) if sizes[row] == size]
        if not of_size:
            continue
        row = max(of_size, key=lambda place: differences[place])
        shares = [_share(sets, row, file, most.kind) for file in range(2)]
        rows += [
            {"known": size, "whose": name, "share": 100 * float(share)}
            for name, share in zip(names, shares, strict=True)
        ]
        known = _known(sets.names(row), sets.columns)
        table.append((number(size), known, *map(percent_cell, shares)))
    base = plot(rows).encode(
        x=vega.X("known:O", title=text("number of known columns"), axis=vega.Axis(labelAngle=0)),
        y=vega.Y(
            "share:Q",
            title=text("share of people for whom she succeeds (%)"),
            scale=per_cent_up_to(max(float(str(row["share"])) for row in rows) / 100),
        ),
        color=vega.Color("whose:N", **keyed(names, [TARGETS[0][0], NEUTRAL])),
    )
    chart = vega.layer(
        base.mark_line(strokeWidth=2.5),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            shape=vega.Shape("whose:N", **keyed(names, ["circle", "square"]))
        ),
    )
    title = text("{kind}: its own people against others, by how much is known", kind=_kind(most))
    return figure_of(
        titled(
            chart,
            title[:1].upper() + title[1:],
            text("Of each number of columns the set with the greatest difference"),
            width=680,
            height=260,
        ),
        label=text("Success with its own people and with others, by number of known columns"),
        caption=text(
            "What both lines have in common is what the file says about the population. The gap between them is what "
            "it remembers, if it is wider than chance makes it."
        ),
        table=cell_table([text("Columns"), text("Known")], names, table),
    )


def _sets_figures(outcome: SyntheticRelease, remembered: Remembered) -> Iterator[Figure]:
    """Show with how few columns more than the tolerance is remembered, and how much; nothing where it is not."""
    shown = outcome.fewest(MOST_DRAWN)
    if not shown:
        return
    rows = [
        {
            "set": f"{place + 1}. {_kind(one)}: {_known(one.known, _knowable(outcome, one))}",
            "difference": 100 * float(one.difference),
            "bound": 100 * float(one.at_least),
        }
        for place, one in enumerate(shown)
    ]
    order = [str(row["set"]) for row in rows]
    highest = max(one.difference for one in shown)
    base = plot(rows).encode(
        y=vega.Y("set:N", sort=order, title=None, axis=vega.Axis(labelPadding=12, labelLimit=420))
    )
    points = text("percentage points oftener with its own people")
    scale = per_cent_up_to(highest)
    bars = base.mark_bar(color=TARGETS[0][0], opacity=0.35).encode(
        x=vega.X("difference:Q", title=points, scale=scale)
    )
    ticks = base.mark_point(color=TARGETS[0][0], filled=True, size=90, opacity=1).encode(
        x=vega.X("bound:Q", title=points, scale=scale)
    )
    yield figure_of(
        titled(
            vega.layer(bars, ticks),
            text("The fewest columns with which it is remembered"),
            text(
                "Bar: how much oftener she succeeds with its own people. Point: what that is at least"
            ),
            (60, 90),
            width=330,
            height=vega.Step(26),
        ),
        label=text("What is remembered, by what is known"),
        caption=text(
            "Sets that hold no smaller one with which more than {tolerance} is shown to be remembered, of {questions} "
            "questions.",
            tolerance=percentage(TOLERANCE),
            questions=number(remembered.questions),
        ),
        table=cell_table(
            [text("She finds"), text("Known")],
            [text("Difference (points)"), text("Remembered, at least")],
            [
                (
                    _kind(one),
                    _known(one.known, _knowable(outcome, one)),
                    Cell(percentage_points(one.difference)),
                    Cell(_bound(one.at_least)),
                )
                for one in shown
            ],
        ),
    )
