"""The report of assessments side by side: two pictures, and every difference in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from glasshouse.language import marked, number, percentage, printable, text, text_for, translated
from glasshouse.measures.attacks import learned
from glasshouse.measures.compared_runs import AssessedRuns, Change, ComparedAttack, change
from glasshouse.microdata import Attack
from glasshouse.report import vega
from glasshouse.report.anonymise.front import risk_tiles
from glasshouse.report.anonymise.page import (
    CERTAINTY,
    exact_knowledge,
    guesses_change,
    only_quasi_identifiers,
)
from glasshouse.report.assess.closeness import TERMS as CLOSE_TERMS
from glasshouse.report.assess.knowledge import TERMS as KNOWLEDGE_TERMS
from glasshouse.report.attacks import (
    METHOD,
    exact_figure,
    release_severity,
    success_steps,
    target_label,
)
from glasshouse.report.cells import (
    cell_table,
    certain_cell,
    group_table,
    number_cell,
    percent_cell,
    under,
)
from glasshouse.report.charts import (
    PER_CENT,
    TARGETS,
    figure_of,
    keyed,
    plot,
    successes_chart,
    successes_table,
    titled,
)
from glasshouse.report.compare.guesses import (
    asked_otherwise,
    difference_cells,
    guess_findings,
    guess_sections,
    guess_tables,
    marked_points,
    only_in_some,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_label, column_labels
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
    note,
)
from glasshouse.report.words import (
    enumeration,
    joined,
    percentages,
    plural,
    points,
    sentences,
    times,
)


def assessed_page(outcome: AssessedRuns, *, provenance: Provenance, command: str) -> Page:
    """Return the report of assessments side by side, and the command that repeats it."""
    first = outcome.largest[0]
    figures = _figures(outcome) if comparable(outcome) else []
    return Page(
        title=text("Assessments side by side"),
        lead=", ".join(run.name for run in outcome.runs),
        findings=side_by_side_findings(outcome),
        summary=_summary(outcome),
        tiles=tuple(risk_tiles(_first_and_last(outcome), outcome.subject))
        if _knows_the_same(outcome)
        else (),
        front=next(iter(figures), None),
        figures=tuple(figures[1:]),
        sections=_sections(outcome),
        adversary=(exact_knowledge(first.attacks[0].quasi_identifiers),)
        if first.same_knowledge
        else tuple(
            text(
                "In “{name}” the adversary knows that the person’s record is in the release, and knows that person’s "
                "quasi-identifiers exactly: {known}.",
                name=run.name,
                known=enumeration(attack.quasi_identifiers),
            )
            for run, attack in zip(outcome.runs, first.attacks, strict=True)
        ),
        limits=sentences(
            marked(
                "Every figure is that of the run itself: an exact ratio of counts (or of weights, where the study "
                "gives them) in its release. Differences between runs are differences between these figures, not "
                "estimates of a cause."
            ),
            marked(
                "Differences are against the first run. Each run has its own best set of each size: what is compared "
                "is how well an adversary can do with that many columns."
            ),
        ),
        glossary=glossary(
            "adversary, quasi-identifier, vulnerability, leakage, re-identification",
            "attribute inference",
            terms=(
                CERTAINTY,
                TERMS,
                bool(outcome.close) and CLOSE_TERMS,
                any(guess.nearly for guess in outcome.inexact) and KNOWLEDGE_TERMS,
            ),
        ),
        provenance=provenance,
        command=command,
        method=METHOD,
    )


def _summary(outcome: AssessedRuns) -> str:
    """Return the sentence of the first screen: what became of naming, and of the first secret, up to the last run."""
    if not comparable(outcome):
        return ""
    if not _knows_the_same(outcome):
        return text(
            "These runs do not assume the same knowledge, so they are compared only on what both have: {known}.",
            known=_shared(outcome),
        )
    names = (outcome.runs[0].name, outcome.runs[-1].name)
    heads = " ".join(
        _head(before, after, names, outcome.subject)
        for before, after in _first_and_last(outcome)[:MOST_SUMMED_UP]
    )
    return _of_exact_knowledge(outcome, heads)


def comparable(outcome: AssessedRuns) -> bool:
    """Tell whether the runs have quasi-identifiers in common: else no figure of one is against that of another."""
    return all(line.same_knowledge for line in outcome.largest)


def _knows_the_same(outcome: AssessedRuns) -> bool:
    """Tell whether the adversary can know the same in all runs: else the best sets are of different columns."""
    known = {
        frozenset(name for attack in assessment.attacks for name in attack.quasi_identifiers)
        for assessment in outcome.assessments
    }
    return len(known) == 1


def _shared(outcome: AssessedRuns) -> str:
    """Return what all runs have of what can be known, in words."""
    shared = outcome.largest[0].attacks[0].quasi_identifiers
    return joined([column_label(name) for name in shared])


def _of_exact_knowledge(outcome: AssessedRuns, sentence: str) -> str:
    """Return what is said of an attack, with the reminder that it is one of several ways to know and to guess."""
    if not any(one.close or one.inexact for one in outcome.assessments):
        return sentence
    return text(
        "With exact knowledge and exact guesses: {sentence}",
        sentence=f"{sentence[:1].lower()}{sentence[1:]}",
    )


def _first_and_last(outcome: AssessedRuns) -> list[tuple[Attack, Attack]]:
    """Return each attack in the first run and in the last."""
    return [(line.attacks[0], line.attacks[-1]) for line in outcome.largest]


def _figures(outcome: AssessedRuns) -> list[Figure]:
    steps = success_steps(line.attacks for line in outcome.largest)
    figures = [
        figure_of(
            largest_chart(outcome),
            label=text("Success of each attack in every run"),
            caption=text(
                "One line per attack, with the largest set of quasi-identifiers that the runs have in common. Further "
                "left is safer."
            ),
            table=successes_table(steps, [run.name for run in outcome.runs]),
        )
    ]
    if _knows_the_same(outcome) and len({line.size for line in outcome.best}) > 1:

        def successes(line: ComparedAttack) -> list[Cell]:
            return [percent_cell(attack.probabilistic.posterior) for attack in line.attacks]

        best = figure_of(
            best_chart(outcome),
            label=text("Success with the best set of each size, in every run"),
            caption=text("Lower is safer. The best set of a size may be another one in each run."),
            table=_by_size(outcome, successes),
        )
        figures.append(best)
    return figures


def _looks(outcome: AssessedRuns) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the runs, and a colour and a shape for each."""
    names = [printable(run.name) for run in outcome.runs]
    looks = [TARGETS[place % len(TARGETS)] for place in range(len(names))]
    return names, [colour for colour, _ in looks], [shape for _, shape in looks]


MOST_SUMMED_UP = 2
"""So many attacks are in the sentence of the first screen."""
TERMS = {
    marked("Points, factor"): marked(
        "The chance of a right guess in one run minus that in the first, in points of a hundred; and divided by it. ▲ "
        "marks what got worse for the people in the data, ▼ what got better."
    )
}
"""What the differences of runs are."""


def largest_chart(outcome: AssessedRuns) -> vega.Chart:
    """Show each attack in every run, joined by a line: how often a guess is right, and who is known for certain."""
    first = outcome.largest[0]
    names, colours, shapes = _looks(outcome)
    return successes_chart(
        success_steps(line.attacks for line in outcome.largest),
        names,
        field="run",
        colours=colours,
        shapes=shapes,
        title=_title(outcome),
        subtitle=text("she knows {known}", known=enumeration(first.attacks[0].quasi_identifiers)),
    )


def _title(outcome: AssessedRuns) -> str:
    naming = outcome.largest[0].attacks
    before, after = percentages(*(naming[place].probabilistic.posterior for place in (0, -1)))
    words = {"after": after, "first": outcome.runs[0].name, "last": outcome.runs[-1].name}
    if before == after:
        return text(
            "Guesses at who it is are right in {after} of cases in “{last}”, as in “{first}”",
            **words,
        )
    return text(
        "Guesses at who it is are right in {before} of cases in “{first}”, and in {after} in “{last}”",
        before=before,
        **words,
    )


def best_chart(outcome: AssessedRuns) -> vega.Chart:
    """Show how success grows with the number of attributes known, one line per run and a panel per target."""
    names, colours, shapes = _looks(outcome)
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
    known = text("quasi-identifiers that she knows")
    right = text("probability that one guess is right (%)")
    base = plot(rows).encode(
        x=vega.X("size:O", title=known, axis=vega.Axis(labelAngle=0)),
        y=vega.Y("success:Q", title=right, scale=PER_CENT),
        color=vega.Color("run:N", **keyed(names, colours)),
    )
    dots = base.mark_point(filled=True, size=90, opacity=1)
    layers = vega.layer(
        base.mark_line(strokeWidth=2),
        dots.encode(shape=vega.Shape("run:N", **keyed(names, shapes))),
    )
    header = vega.Header(labelFontSize=13)
    panels = layers.properties(width=720 // min(len(order), 3) - 20, height=260).facet(
        facet=vega.Facet("target:N", sort=order, title=None, header=header), columns=3
    )
    subtitle = text("with the best set of that many columns, in each run")
    return titled(panels, _best_title(outcome), subtitle, (85, 95))


def _best_title(outcome: AssessedRuns) -> str:
    """Say at which attack, and with how many attributes, a run differs most from the first."""
    line, place = outcome.most_different
    if line.differences()[place - 1][0] == 0:
        return text("With the best set of each size an adversary does equally well in every run")
    before, after = percentages(
        *(line.attacks[entry].probabilistic.posterior for entry in (0, place))
    )
    words = {
        "first": outcome.runs[0].name,
        "before": before,
        "last": outcome.runs[place].name,
        "after": after,
    }
    if line.secret:
        return text_for(
            line.size,
            "Guesses at the {secret} differ most with {count} column known: right in {before} of cases in "
            "“{first}”, and in {after} in “{last}”",
            "Guesses at the {secret} differ most with {count} columns known: right in {before} of cases in "
            "“{first}”, and in {after} in “{last}”",
            secret=enumeration(line.secret),
            **words,
        )
    return text_for(
        line.size,
        "Guesses at who it is differ most with {count} column known: right in {before} of cases in "
        "“{first}”, and in {after} in “{last}”",
        "Guesses at who it is differ most with {count} columns known: right in {before} of cases in "
        "“{first}”, and in {after} in “{last}”",
        **words,
    )


def _by_size(
    outcome: AssessedRuns,
    cells: Callable[[ComparedAttack], Iterable[Cell]],
    differences: Iterable[Column] = (),
) -> Table:
    """Return the best attacks of each size under their targets: cells for every run, and how they differ."""
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for line in outcome.best:
        row = (Cell(number(line.size)), *cells(line))
        rows.setdefault(target_label(line.secret), []).append(row)
    names: list[str | Column] = [run.name for run in outcome.runs]
    return group_table(text("Quasi-identifiers known"), [*names, *differences], rows)


def _sections(outcome: AssessedRuns) -> tuple[Section, ...]:
    alike = _knows_the_same(outcome)

    def cells(line: ComparedAttack) -> list[Cell]:
        best = []
        for attack in line.attacks:
            cell, known = number_cell(attack.probabilistic.posterior), attack.quasi_identifiers
            best.append(Cell(cell.text, exact=f"{column_labels(known)}: {cell.exact}"))
        return [*best, *(difference_cells(line) if alike else ())]

    first, *further = outcome.runs
    differences = [
        column
        for run in further
        for column in under(
            text("“{last}” against “{first}”", last=run.name, first=first.name),
            *(text("points"), text("factor")),
        )
    ]
    largest = Section(
        text("With the largest set that the runs have in common")
        if comparable(outcome)
        else text("With the largest set of each run"),
        tables=(_figures_table(outcome, differences if comparable(outcome) else ()),),
    )
    best = Section(
        text("With the best set of each size"),
        intro=text(
            "On screen, hover over a figure for the set with which she does best; all of them are in "
            "results.parquet beside this report."
        ),
        tables=(_by_size(outcome, cells, differences if alike else ()),),
    )
    return (largest, best, *guess_sections(outcome, differences))


def _figures_table(outcome: AssessedRuns, differences: Sequence[Column]) -> Table:
    titles = (text("known for certain"), text("Guess before"), text("Guess after"))
    columns = [column for run in outcome.runs for column in under(run.name, *titles)]
    rows = []
    for line in outcome.largest:
        row = [Cell(target_label(line.secret), mark=line.attacks[0].code)]
        for attack in line.attacks:
            guess = attack.probabilistic
            row += [certain_cell(attack), number_cell(guess.prior), number_cell(guess.posterior)]
        rows.append([*row, *(difference_cells(line) if differences else ())])
    return cell_table(text("Attack"), [*columns, *differences], rows)


def side_by_side_findings(outcome: AssessedRuns) -> tuple[Finding, ...]:
    """Return what became of each attack from the first run to every other, and how far they can be compared."""
    first, *names = (run.name for run in outcome.runs)
    if not comparable(outcome):
        return (_incomparable(outcome), *_data(outcome))
    changes = [
        _changed(line, (first, name), line.attacks[place], outcome.subject)
        for place, name in enumerate(names, 1)
        for line in outcome.largest
    ]
    changes = [
        replace(change, sentence=_of_exact_knowledge(outcome, change.sentence))
        for change in changes
    ]
    if not _knows_the_same(outcome):
        changes = [
            replace(
                change,
                sentence=text(
                    "With {known} alone: {sentence}",
                    known=_shared(outcome),
                    sentence=f"{change.sentence[:1].lower()}{change.sentence[1:]}",
                ),
            )
            for change in changes
        ]
    return (*changes, *guess_findings(outcome), *_conditions(outcome))


def _incomparable(outcome: AssessedRuns) -> Finding:
    """Say that runs with no set of quasi-identifiers in common cannot be compared, and what each was assessed with."""
    return note(
        text(
            "These runs cannot be compared: they have no set of quasi-identifiers in common, so what differs may "
            "come from what the adversary is assumed to know, not from the releases."
        ),
        figure=_known_by_run(outcome),
        remedy=text("Assess both with the same quasi-identifiers, and compare these runs."),
    )


def _known_by_run(outcome: AssessedRuns) -> str:
    """Return what the adversary of each run knows."""
    runs = zip(outcome.runs, outcome.assessments, strict=True)
    known = {
        run.name: dict.fromkeys(
            name for attack in assessment.attacks for name in attack.quasi_identifiers
        )
        for run, assessment in runs
    }
    return "; ".join(f"{name}: {', '.join(columns)}" for name, columns in known.items())


def _changed(line: ComparedAttack, names: tuple[str, str], after: Attack, subject: str) -> Finding:
    before = line.attacks[0]
    what = _change(before, after)
    risk = learned(after) if line.secret else after.probabilistic.posterior
    grade = release_severity(after, risk)
    safe = grade == Severity.SAFE and what in (Change.BETTER, Change.SAME)
    return Finding(
        Severity.LOW if grade == Severity.SAFE and not safe else grade,
        " ".join(
            (
                _head(before, after, names, subject),
                guesses_change(before, after),
                _certainty_change(before, after, subject),
            )
        ),
        figure=_figure(names, before, after),
        meaning=_meaning(what, before, after, safe=safe),
        remedy=text(
            "Look at what changed between them: more columns, more detail, or fewer people alike; glasshouse "
            "protect shows what protection would cost."
        )
        if what == Change.WORSE
        else "",
    )


def _change(before: Attack, after: Attack) -> Change:
    """Tell what became of an attack, as far as it can be seen in the figures that are shown."""
    guesses = percentages(before.probabilistic.posterior, after.probabilistic.posterior)
    certain = percentages(before.deterministic.posterior, after.deterministic.posterior)
    is_seen = len(set(guesses)) > 1 or len(set(certain)) > 1
    return change(before, after) if is_seen else Change.SAME


def _head(before: Attack, after: Attack, names: tuple[str, str], subject: str) -> str:
    """Say what became of naming people, or of inferring a secret, in a word."""
    naming, inferring = _HEADS[_change(before, after)]
    return translated(
        inferring if after.secret else naming,
        first=names[0],
        last=names[1],
        secret=enumeration(after.secret),
        many=plural(subject),
    )


_HEADS = {
    Change.WORSE: (
        marked("From “{first}” to “{last}” it became easier to identify {many}."),
        marked("From “{first}” to “{last}” it became easier to infer the {secret}."),
    ),
    Change.BETTER: (
        marked("From “{first}” to “{last}” it became harder to identify {many}."),
        marked("From “{first}” to “{last}” it became harder to infer the {secret}."),
    ),
    Change.MIXED: (
        marked("From “{first}” to “{last}” identifying {many} changed both ways."),
        marked("From “{first}” to “{last}” inferring the {secret} changed both ways."),
    ),
    Change.SAME: (
        marked("In “{last}” it is as easy to identify {many} as in “{first}”."),
        marked("In “{last}” it is as easy to infer the {secret} as in “{first}”."),
    ),
}
"""What is said of naming and of inferring, by what became of them."""


def _certainty_change(before: Attack, after: Attack, subject: str) -> str:
    """Say of how many people something is certain, and of how many it was; a direction only where figures differ."""
    first, last = before.deterministic.posterior, after.deterministic.posterior
    said_before, said_after = percentages(first, last)
    words = {
        "secret": enumeration(after.secret),
        "many": plural(subject),
        "before": said_before,
        "after": said_after,
        "counted": number(after.certain),
        "counted_before": number(before.certain),
    }
    if before.certain == after.certain == 0:
        template = (
            marked("Nobody’s {secret} is known for certain, as before.")
            if after.secret
            else marked("Nobody can be identified outright, as before.")
        )
    elif said_before == said_after:
        template = (
            marked(
                "The {secret} is known for certain for {after} of {many} ({counted}), as before."
            )
            if after.secret
            else marked("{after} of {many} ({counted}) can be identified outright, as before.")
        )
    elif last < first:
        template = (
            marked(
                "The {secret} is known for certain for {after} of {many} ({counted}), down from {before} "
                "({counted_before})."
            )
            if after.secret
            else marked(
                "{after} of {many} ({counted}) can be identified outright, down from {before} ({counted_before})."
            )
        )
    else:
        template = (
            marked(
                "The {secret} is known for certain for {after} of {many} ({counted}), up from {before} "
                "({counted_before})."
            )
            if after.secret
            else marked(
                "{after} of {many} ({counted}) can be identified outright, up from {before} ({counted_before})."
            )
        )
    return translated(template, **words)


def _figure(names: tuple[str, str], before: Attack, after: Attack) -> str:
    old, new = before.probabilistic.posterior, after.probabilistic.posterior
    return text(
        "{first} – {before}. {last} – {after}. Difference {points} points, factor {factor}.",
        first=names[0],
        before=exact_figure(before),
        last=names[1],
        after=exact_figure(after),
        points=points(new - old),
        factor=times(new / old) if old else "–",
    )


def _meaning(what: Change, before: Attack, after: Attack, *, safe: bool) -> str:
    if after.secret:
        return text(
            "What the quasi-identifiers add to right guesses was {before} percentage points, and is {after}.",
            before=points(before.probabilistic.additive),
            after=points(after.probabilistic.additive),
        )
    if safe:
        return only_quasi_identifiers()
    if what == Change.BETTER:
        return text("It is better than it was, but the risk is still there.")
    return ""


def _conditions(outcome: AssessedRuns) -> Iterator[Finding]:
    """Yield what must be known to compare the runs: other data, other knowledge, other secrets."""
    if not _knows_the_same(outcome):
        yield note(
            text(
                "The runs were not assessed with the same quasi-identifiers; they are compared with what all of them "
                "have: {known}.",
                known=_shared(outcome),
            ),
            figure=_known_by_run(outcome),
        )
    yield from _data(outcome)
    secrets = [frozenset(attack.secret for attack in one.attacks) for one in outcome.assessments]
    missing = sorted(frozenset.union(*secrets) - frozenset.intersection(*secrets))
    lacking = [*map(enumeration, missing), *only_in_some(outcome)]
    if lacking:
        yield note(
            text(
                "Not in all of the runs, and not compared: {secrets}.",
                secrets=joined(lacking),
            )
        )
    yield from asked_otherwise(outcome)


def _data(outcome: AssessedRuns) -> Iterator[Finding]:
    """Yield whether the runs are of the same data, and of how much."""
    runs = zip(outcome.runs, outcome.assessments, strict=True)
    records = {run.name: assessment.records for run, assessment in runs}
    files = [frozenset(run.digests.values()) for run in outcome.runs]
    if len(set(files)) == 1:
        yield note(
            text("The runs read the same files: what differs comes from what was asked of them."),
        )
    if len(set(records.values())) > 1:
        yield records_finding(
            records.items(),
            text(
                "Among more people it is harder to identify one, if all else is the same; part of a difference may "
                "be just that."
            ),
        )
    windows = {len(attack.datasets) for line in outcome.largest for attack in line.attacks}
    if len(windows) > 1:
        yield note(
            text(
                "The runs do not join the same number of datasets: differences may come from how much the adversary "
                "has."
            ),
        )


def records_finding(records: Iterable[tuple[str, int]], meaning: str = "") -> Finding:
    """Say that runs are not of the same number of records."""
    return note(
        text(
            "The runs do not have the same number of records: {records}.",
            records="; ".join(
                text("“{name}” {records}", name=name, records=count) for name, count in records
            ),
        ),
        meaning=meaning,
    )


def assessed_tables(outcome: AssessedRuns) -> tuple[Table, ...]:
    """Return the attacks that all runs have, the best of each size, and guesses of other kinds, for a terminal."""
    first, names = outcome.largest[0], [run.name for run in outcome.runs]
    title = (
        text("She knows {known}", known=enumeration(first.attacks[0].quasi_identifiers))
        if comparable(outcome)
        else text("With the largest set of each run")
    )
    differences = [
        text("points") if len(names) == 2 else text("{run}: points", run=name) for name in names[1:]
    ]
    columns = [
        heading
        for name in names
        for heading in (text("{run}: certain", run=name), text("{run}: guess", run=name))
    ]
    largest, best = [], []
    for line in outcome.largest:
        row = [target_label(line.secret)]
        for attack in line.attacks:
            successes = (attack.deterministic.posterior, attack.probabilistic.posterior)
            row += map(percentage, successes)
        largest.append([*row, *(marked_points(line) if comparable(outcome) else ())])
    for line in outcome.best if _knows_the_same(outcome) else ():
        row = [target_label(line.secret), number(line.size)]
        row += (percentage(attack.probabilistic.posterior) for attack in line.attacks)
        best.append([*row, *marked_points(line)])
    sized = [text("columns"), *names, *differences]
    best_title = text("With the best set of each size, a guess is right")
    if not comparable(outcome):
        return (cell_table(text("attack"), columns, largest, title),)
    return (
        cell_table(text("attack"), [*columns, *differences], largest, title),
        *([cell_table(text("attack"), sized, best, best_title)] if best else ()),
        *guess_tables(outcome, differences),
    )
