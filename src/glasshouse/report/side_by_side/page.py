"""The report of assessments side by side: two pictures, and every difference in a table."""

from __future__ import annotations

from fractions import Fraction

import altair as alt

from glasshouse.errors import printable
from glasshouse.language import exactly, number, text, text_for
from glasshouse.microdata import Attack
from glasshouse.mitigation import AssessedRuns, ComparedAttack
from glasshouse.report.cells import factor_cell, number_cell, percent_cell
from glasshouse.report.glossary import glossary
from glasshouse.report.microdata.attacks import target_label
from glasshouse.report.microdata.document import METHOD
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
from glasshouse.report.side_by_side.findings import (
    Change,
    change_by,
    points,
    side_by_side_findings,
)
from glasshouse.report.theme import JOINT, TARGETS, wrapped
from glasshouse.report.words import enumeration, frequencies, percentage


def assessed_page(outcome: AssessedRuns, *, provenance: Provenance, command: str) -> Page:
    """Return the report of assessments side by side, and the command that repeats it."""
    return Page(
        title=text("Assessments side by side"),
        lead=", ".join(run.name for run in outcome.runs),
        findings=side_by_side_findings(outcome),
        figures=_figures(outcome),
        sections=_sections(outcome),
        adversary=_adversary(outcome),
        limits=(
            text(
                "Every figure is that of the run itself: an exact ratio of counts (or of weights, where the study "
                "gives them) in its release. Differences between runs are differences between these figures, not "
                "estimates of a cause."
            ),
            text(
                "Differences are against the first run. Of a best set of each size, each run has its own: what is "
                "compared is how well an adversary can do with so many attributes."
            ),
        ),
        glossary=_glossary(),
        provenance=provenance,
        command=command,
        method=METHOD,
    )


def _adversary(outcome: AssessedRuns) -> tuple[str, ...]:
    known = [", ".join(attack.quasi_identifiers) for attack in outcome.largest[0].attacks]
    if outcome.largest[0].same_knowledge:
        return (
            text(
                "The adversary knows that the person’s record is in the release, and knows that person’s "
                "quasi-identifiers exactly: {known}.",
                known=known[0],
            ),
        )
    return tuple(
        text(
            "In “{name}” the adversary knows that the person’s record is in the release, and knows that person’s "
            "quasi-identifiers exactly: {known}.",
            name=run.name,
            known=own,
        )
        for run, own in zip(outcome.runs, known, strict=True)
    )


def _glossary() -> tuple[Term, ...]:
    own = (
        Term(
            text("Known for certain"),
            text("Records whose secret she infers with probability 1."),
        ),
        Term(
            text("Points, factor"),
            text(
                "The chance of a right guess in one run minus that in the first, in points of a hundred; and divided "
                "by it. ▲ marks what got worse for the people in the data, ▼ what got better."
            ),
        ),
    )
    words = ("adversary", "quasi-identifier", "vulnerability", "leakage", "re-identification")
    return (*own, *glossary(*words, "attribute inference"))


def _figures(outcome: AssessedRuns) -> tuple[Figure, ...]:
    figures = [
        Figure.of(
            largest_chart(outcome),
            label=text("Success of each attack in every run"),
            caption=text(
                "One line per attack, with the largest set of quasi-identifiers that the runs have in common. Further "
                "left is safer."
            )
            if outcome.largest[0].same_knowledge
            else text(
                "One line per attack, with the largest set of quasi-identifiers of each run. Further left is safer."
            ),
            table=_largest_table(outcome),
        )
    ]
    if len({line.size for line in outcome.best}) > 1:
        figures.append(
            Figure.of(
                best_chart(outcome),
                label=text("Success with the best set of each size, in every run"),
                caption=text(
                    "Lower is safer. The best set of a size may be another one in each run."
                ),
                table=_best_chart_table(outcome),
            )
        )
    return tuple(figures)


def _look(outcome: AssessedRuns) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the runs, and a colour and a shape for each."""
    names = [printable(run.name) for run in outcome.runs]
    looks = [TARGETS[place % len(TARGETS)] for place in range(len(names))]
    return names, [colour for colour, _ in looks], [shape for _, shape in looks]


def _steps(line: ComparedAttack) -> list[tuple[str, list[Fraction]]]:
    """Return what is drawn of an attack: a guess and certainty, with the success in every run."""
    label = target_label(line.secret)
    return [
        (
            text("{attack}: a guess", attack=label),
            [attack.probabilistic.posterior for attack in line.attacks],
        ),
        (
            text("{attack}: for certain", attack=label),
            [attack.deterministic.posterior for attack in line.attacks],
        ),
    ]


def largest_chart(outcome: AssessedRuns) -> alt.TopLevelMixin:
    """Show each attack in every run, joined by a line: how often a guess is right, and who is known for certain."""
    names, colours, shapes = _look(outcome)
    rows = [
        {"attack": label, "run": name, "success": 100 * float(success)}
        for line in outcome.largest
        for label, successes in _steps(line)
        for name, success in zip(names, successes, strict=True)
    ]
    order = list(dict.fromkeys(str(row["attack"]) for row in rows))
    places = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "success:Q",
            title=text("share of records for which the adversary succeeds (%)"),
            scale=alt.Scale(domain=[0, 100]),
        ),
        y=alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelPadding=12, labelLimit=360)),
    )
    lines = places.mark_line(strokeWidth=3, color=JOINT).encode(detail="attack:N")
    dots = places.mark_point(filled=True, size=140, opacity=1).encode(
        color=alt.Color(
            "run:N", title=None, sort=names, scale=alt.Scale(domain=names, range=colours)
        ),
        shape=alt.Shape(
            "run:N", title=None, sort=names, scale=alt.Scale(domain=names, range=shapes)
        ),
    )
    return alt.layer(lines, dots).properties(
        width=520,
        height=alt.Step(34),
        title=alt.Title(wrapped(_title(outcome), 75), subtitle=wrapped(_subtitle(outcome), 85)),
    )


def _title(outcome: AssessedRuns) -> str:
    naming = outcome.largest[0].attacks
    before, after = frequencies(*(naming[place].probabilistic.posterior for place in (0, -1)))
    first, last = outcome.runs[0].name, outcome.runs[-1].name
    if before == after:
        return text(
            "A guess at who it is: right for {after} in “{last}”, as in “{first}”",
            after=after,
            last=last,
            first=first,
        )
    return text(
        "A guess at who it is: right for {before} in “{first}”, for {after} in “{last}”",
        before=before,
        first=first,
        after=after,
        last=last,
    )


def _subtitle(outcome: AssessedRuns) -> str:
    line = outcome.largest[0]
    if line.same_knowledge:
        return text("she knows {known}", known=", ".join(line.attacks[0].quasi_identifiers))
    return text("with the largest set of quasi-identifiers of each run")


def best_chart(outcome: AssessedRuns) -> alt.TopLevelMixin:
    """Show how success grows with the number of attributes known, one line per run and a panel per target."""
    names, colours, shapes = _look(outcome)
    rows = [
        {
            "target": target_label(line.secret),
            "run": name,
            "size": line.size,
            "success": 100 * float(attack.probabilistic.posterior),
        }
        for line in outcome.best
        for name, attack in zip(names, line.attacks, strict=True)
    ]
    order = list(dict.fromkeys(str(row["target"]) for row in rows))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "size:O", title=text("quasi-identifiers that she knows"), axis=alt.Axis(labelAngle=0)
        ),
        y=alt.Y(
            "success:Q",
            title=text("probability that one guess is right (%)"),
            scale=alt.Scale(domain=[0, 100]),
        ),
        color=alt.Color(
            "run:N", title=None, sort=names, scale=alt.Scale(domain=names, range=colours)
        ),
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        shape=alt.Shape(
            "run:N", title=None, sort=names, scale=alt.Scale(domain=names, range=shapes)
        )
    )
    return (
        alt.layer(base.mark_line(strokeWidth=2), dots)
        .properties(width=720 // min(len(order), 3) - 20, height=260)
        .facet(
            facet=alt.Facet(
                "target:N", sort=order, title=None, header=alt.Header(labelFontSize=13)
            ),
            columns=3,
        )
        .properties(
            title=alt.Title(
                wrapped(_best_title(outcome), 85),
                subtitle=wrapped(text("with the best set of so many attributes, in each run"), 95),
            )
        )
    )


def _best_title(outcome: AssessedRuns) -> str:
    """Say at which attack, and with how many attributes, a run differs most from the first."""
    difference, place, line = max(
        (
            (abs(difference), place, line)
            for line in outcome.best
            for place, (difference, _) in enumerate(line.differences(), 1)
        ),
        key=lambda each: each[0],
    )
    if difference == 0:
        return text("With the best set of each size an adversary does alike in every run")
    before, after = frequencies(
        *(line.attacks[each].probabilistic.posterior for each in (0, place))
    )
    parts = {
        "first": outcome.runs[0].name,
        "before": before,
        "last": outcome.runs[place].name,
        "after": after,
    }
    if line.secret:
        return text_for(
            line.size,
            "Guesses at the {secret} differ most with {count} attribute known: right for {before} in “{first}”, for "
            "{after} in “{last}”",
            "Guesses at the {secret} differ most with {count} attributes known: right for {before} in “{first}”, for "
            "{after} in “{last}”",
            secret=enumeration(line.secret),
            **parts,
        )
    return text_for(
        line.size,
        "Guesses at who it is differ most with {count} attribute known: right for {before} in “{first}”, for {after} "
        "in “{last}”",
        "Guesses at who it is differ most with {count} attributes known: right for {before} in “{first}”, for {after} "
        "in “{last}”",
        **parts,
    )


def _largest_table(outcome: AssessedRuns) -> Table:
    columns = (Column(text("Attack")), *(Column(run.name, numeric=True) for run in outcome.runs))
    rows = tuple(
        (Cell(label), *map(percent_cell, successes))
        for line in outcome.largest
        for label, successes in _steps(line)
    )
    return Table(columns, (Group(rows),))


def _best_chart_table(outcome: AssessedRuns) -> Table:
    columns = (
        Column(text("Quasi-identifiers known")),
        *(Column(run.name, numeric=True) for run in outcome.runs),
    )
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for line in outcome.best:
        row = (
            Cell(number(line.size)),
            *(percent_cell(attack.probabilistic.posterior) for attack in line.attacks),
        )
        groups.setdefault(target_label(line.secret), []).append(row)
    return Table(columns, _groups(groups))


def _sections(outcome: AssessedRuns) -> tuple[Section, ...]:
    largest = Section(
        text("With the largest set that the runs have in common")
        if outcome.largest[0].same_knowledge
        else text("With the largest set of each run"),
        tables=(_figures_table(outcome),),
    )
    best = Section(
        text("With the best set of each size"),
        intro=text(
            "Hover over a figure for the set with which she does best; all of them are in results.parquet beside this "
            "report."
        ),
        tables=(_best_table(outcome),),
    )
    return (largest, best)


def _against(outcome: AssessedRuns) -> tuple[Column, ...]:
    """Return the columns of the differences of each run against the first."""
    first, *others = outcome.runs
    return tuple(
        Column(
            title,
            numeric=True,
            under=text("“{last}” against “{first}”", last=other.name, first=first.name),
        )
        for other in others
        for title in (text("points"), text("factor"))
    )


def _difference_cells(line: ComparedAttack) -> tuple[Cell, ...]:
    return tuple(
        cell
        for difference, factor in line.differences()
        for cell in (_points_cell(difference), factor_cell(factor))
    )


def _points_cell(difference: Fraction) -> Cell:
    what = change_by(difference)
    mark = None if what == Change.SAME else what.value
    return Cell(points(difference), exact=exactly(difference), mark=mark)


def _figures_table(outcome: AssessedRuns) -> Table:
    titles = (text("known for certain"), text("Guess before"), text("Guess after"))
    columns = (
        Column(text("Attack")),
        *(Column(title, numeric=True, under=run.name) for run in outcome.runs for title in titles),
        *_against(outcome),
    )
    rows = tuple(
        (
            Cell(target_label(line.secret), mark=line.attacks[0].code),
            *(cell for attack in line.attacks for cell in _attack_cells(attack)),
            *_difference_cells(line),
        )
        for line in outcome.largest
    )
    return Table(columns, (Group(rows),))


def _attack_cells(attack: Attack) -> tuple[Cell, Cell, Cell]:
    certain = f"{number(attack.certain)} ({percentage(attack.deterministic.posterior)})"
    return (
        Cell(certain),
        number_cell(attack.probabilistic.prior),
        number_cell(attack.probabilistic.posterior),
    )


def _best_table(outcome: AssessedRuns) -> Table:
    columns = (
        Column(text("Quasi-identifiers known")),
        *(Column(run.name, numeric=True) for run in outcome.runs),
        *_against(outcome),
    )
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for line in outcome.best:
        row = (
            Cell(number(line.size)),
            *(_best_cell(attack) for attack in line.attacks),
            *_difference_cells(line),
        )
        groups.setdefault(target_label(line.secret), []).append(row)
    return Table(columns, _groups(groups))


def _groups(groups: dict[str, list[tuple[Cell, ...]]]) -> tuple[Group, ...]:
    return tuple(Group(tuple(rows), title=title) for title, rows in groups.items())


def _best_cell(attack: Attack) -> Cell:
    shown = number_cell(attack.probabilistic.posterior)
    return Cell(shown.text, exact=f"{', '.join(attack.quasi_identifiers)}: {shown.exact}")
