"""The report of a comparison: one picture of risk against what is lost, and one table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from glasshouse.language import exactly, marked, number, printable, text, text_for, translated
from glasshouse.microdata import Attack
from glasshouse.mitigation import ComparedRelease, Comparison
from glasshouse.mitigation.comparison import AssessedRuns, MeasuredRuns
from glasshouse.report.anonymise.page import (
    exact_knowledge,
    learned_without_a_name,
    only_quasi_identifiers,
    recoding_known,
    release_severity,
)
from glasshouse.report.attacks import (
    METHOD,
    exact_figure,
    graded,
    learned,
    protect_the_secret,
    target_label,
)
from glasshouse.report.cells import (
    NOTHING,
    cell_table,
    count_cell,
    number_cell,
    percent_cell,
    three_digits,
    under,
)
from glasshouse.report.charts import PER_CENT, TARGETS, plot, titled
from glasshouse.report.compare.figures import measured_findings, measured_page, measured_table
from glasshouse.report.compare.runs import assessed_page, assessed_tables, side_by_side_findings
from glasshouse.report.labels import column_label
from glasshouse.report.page import (
    Brief,
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
    reassurance,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    frequencies,
    frequency,
    glossary,
    joined,
    percentage,
    sentences,
    share,
)
from glasshouse.study.compare import CompareStudy


def page(
    outcome: Comparison | AssessedRuns | MeasuredRuns,
    question: CompareStudy,
    *,
    provenance: Provenance,
) -> Page:
    """Return the report of releases beside their original, or of runs side by side."""
    command = _command(question)
    if isinstance(outcome, Comparison):
        return comparison_page(outcome, provenance=provenance, command=command)
    if isinstance(outcome, AssessedRuns):
        return assessed_page(outcome, provenance=provenance, command=command)
    return measured_page(outcome, provenance=provenance, command=command)


def brief(outcome: Comparison | AssessedRuns | MeasuredRuns, question: CompareStudy) -> Brief:
    """Return what a terminal says of releases beside their original, or of runs side by side."""
    if isinstance(outcome, Comparison):
        done = treatment_blocks(outcome.steps, missing_notes(outcome.missing))
        blocks = (*done, _releases_table(outcome.rows))
        return Brief(blocks, comparison_findings(outcome))
    legend = text("▲ worse for the people in the data, ▼ better, than in the first run")
    if isinstance(outcome, AssessedRuns):
        return Brief(
            (*assessed_tables(outcome), legend), side_by_side_findings(outcome), shows_change=True
        )
    findings = measured_findings(outcome, exact=True)
    return Brief((measured_table(outcome), legend), findings, shows_change=True)


def _releases_table(rows: Sequence[ComparedRelease]) -> Table:
    """Return the original and each release: risks and what is lost."""
    measures = [text("suppressed"), text("named: certain"), text("guess")]
    measures += [
        text("{secret}: certain", secret="+".join(map(column_label, attack.secret)))
        for attack in rows[0].inferring
    ]
    measures += [text("loss"), text("distance")]
    learned = rows[0].utility.prediction
    if learned:
        measures.append(text("{target} predicted", target=learned.target))
    cells = [
        (
            row.name,
            number(row.suppressed),
            percentage(row.naming.deterministic.posterior),
            three_digits(row.naming.probabilistic.posterior),
            *(percentage(attack.deterministic.posterior) for attack in row.inferring),
            NOTHING.text if row.loss is None else number(row.loss, ".4g"),
            text("{figure}%", figure=number(100 * row.distance, ".1f")),
            *([percentage(row.utility.prediction.release)] if row.utility.prediction else []),
        )
        for row in rows
    ]
    title = text("Risk and utility, with all quasi-identifiers")
    return cell_table(text("release"), measures, cells, title)


_FLAGS = {
    "quasi_identifiers": "-q",
    "sensitive": "-s",
    "identifier": "--id",
    "hierarchies": "--hierarchy",
}


def _command(question: CompareStudy) -> str:
    """Return the command in short, for a report that leaves the house."""
    files = [study.datasets[0].place for study in question.protections.values()]
    words = ["glasshouse", "compare", *(path.name for path in question.runs or files[:1])]
    for name, value in question.entries():
        flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
        words += [flag, *([] if value is True else [str(value)])]
    return shlex.join(words)


def comparison_page(comparison: Comparison, *, provenance: Provenance, command: str) -> Page:
    """Return the report of a comparison, and the command that repeats it."""
    original, *releases = comparison.rows
    grouped, recoded = (
        joined([text("“{name}”", name=row.name) for row in releases if row.grouped == apart])
        for apart in (True, False)
    )
    predicted = original.to_dict()["prediction"]
    return Page(
        title=text("Protected releases side by side"),
        lead=text_for(
            len(releases),
            "{count} release of {dataset}",
            "{count} releases of {dataset}",
            dataset=original.naming.datasets[0],
        ),
        findings=comparison_findings(comparison),
        figures=(
            Figure.of(
                risk_and_utility(comparison),
                label=text("Risk against utility, one point per release and attack"),
                caption=text("Down: harder to learn about somebody. Left: nearer to the truth."),
                table=_chart_table(comparison),
            ),
        ),
        sections=(
            Section(text("The figures"), tables=(_figures(comparison),)),
            *filter(None, [treatment_section(comparison.steps, missing_notes(comparison.missing))]),
        ),
        adversary=(
            exact_knowledge(original.naming.quasi_identifiers),
            *([recoding_known()] if not grouped else []),
            *sentences(bool(grouped and recoded) and RECODED, releases=recoded),
            *sentences(bool(grouped) and GROUPED, releases=grouped),
        ),
        limits=sentences(*LIMITS, comparison.estimated and ESTIMATED),
        glossary=glossary(
            "adversary, quasi-identifier, class, re-identification, attribute inference, loss",
            "generalisation, suppression",
            terms=(TERMS, comparison.estimated and ALONE, predicted is not None and PREDICTION),
            target=predicted and predicted["target"],
            majority=predicted and percentage(Fraction(predicted["majority"])),
        ),
        provenance=provenance,
        command=command,
        method=METHOD,
    )


def _name(comparison: Comparison, row: ComparedRelease) -> str:
    return text("original") if row is comparison.original else row.name


RECODED = marked(
    "In {releases} she knows how the quasi-identifiers were recoded, so that she finds the class that a person falls "
    "into."
)
GROUPED = marked(
    "In {releases} nothing is recoded: the quasi-identifiers are published as they are, and she knows which group a "
    "record is in and which sensitive values the group holds."
)
LIMITS = (
    marked(
        "Every risk is an exact ratio of counts in each release, not an estimate. Suppressed records form no class and "
        "are left out of every risk."
    ),
    marked(
        "Distances and errors take a generalised value to be spread evenly over the values that it stands for: what "
        "somebody can expect who has the release and knows nothing more."
    ),
)
ESTIMATED = marked(
    "How many are alone in the population is an estimate from the sample, by the rule of Dankar et al. 2012."
)
TERMS = {
    marked("Highest, average"): marked("Of the chances that the record of a person is named."),
    marked("Distance, of pairs"): marked(
        "How far the distribution of a column, or of two columns together, is from the truth on average (total "
        "variation)."
    ),
    marked("Query error"): marked("The median relative error of 1,000 random counting questions."),
}
ALONE = {
    marked("Alone in population"): marked(
        "The estimated share of people who are unlike anybody else in the whole population (Dankar et al. 2012)."
    )
}
PREDICTION = {
    marked("Prediction"): marked(
        "How often a classifier that learned from the release tells the {target} of real records right; always saying "
        "the most frequent value is right for {majority}."
    )
}
UTILITIES = ("loss", "column_distance", "pair_distance", "query_error")


def risk_and_utility(comparison: Comparison) -> alt.TopLevelMixin:
    """Show what is lost against what she still learns: one point per release and attack."""
    labels = (target_label(attack.secret) for attack in comparison.original.attacks)
    attacks = list(dict.fromkeys(labels))[: len(TARGETS)]
    rows = [
        {
            "name": printable(_name(comparison, row)),
            "attack": label,
            "error": 100 * row.distance,
            "risk": 100 * float(attack.probabilistic.posterior),
        }
        for row in sorted(comparison.rows, key=lambda row: row.distance)
        for label, attack in zip(attacks, row.attacks, strict=False)
    ]
    error = (
        text("distance from the truth, single columns (%)")
        if comparison.rows[0].to_dict()["pair_distance"] is None
        else text("distance from the truth, pairs of columns (%)")
    )
    base = plot(rows).encode(
        x=alt.X("error:Q", title=error),
        y=alt.Y("risk:Q", title=text("share of right guesses (%)"), scale=PER_CENT),
    )
    colours, shapes = (
        alt.Scale(domain=attacks, range=list(looks))
        for looks in zip(*TARGETS[: len(attacks)], strict=True)
    )
    colour = alt.Color("attack:N", title=None, scale=colours)
    lines = base.mark_line(strokeWidth=1.5, opacity=0.5).encode(color=colour)
    points = base.mark_point(filled=True, size=120, opacity=1).encode(
        color=colour, shape=alt.Shape("attack:N", title=None, scale=shapes)
    )
    chart = alt.layer(lines, points, *_labels(rows))
    subtitle = text("towards the lower left is better; each column of points is a release")
    return titled(chart, _chart_title(comparison), subtitle, (85, 95), width=620, height=340)


def _chart_title(comparison: Comparison) -> str:
    best = comparison.safest
    before, after = (row.naming.probabilistic.posterior for row in (comparison.original, best))
    if after >= before:
        return text(
            "No release makes it harder to guess who it is: right for {before}",
            before=frequency(before),
        )
    said_before, said_after = frequencies(before, after)
    return text(
        "A guess at who it is: right for {before} in the original, for {after} in “{name}”",
        before=said_before,
        after=said_after,
        name=best.name,
    )


def _labels(rows: Sequence[Mapping[str, Any]]) -> list[alt.Chart]:
    """Name each release above its topmost point, the neighbours at different heights."""
    topmost: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if row["name"] not in topmost or row["risk"] > topmost[row["name"]]["risk"]:
            topmost[row["name"]] = row
    return [
        plot(named)
        .mark_text(align="left", dx=6, dy=dy, fontSize=12)
        .encode(x="error:Q", y="risk:Q", text="name:N")
        for turn, dy in ((0, -10), (1, -26))
        if (named := list(topmost.values())[turn::2])
    ]


def _chart_table(comparison: Comparison) -> Table:
    labels = [target_label(attack.secret) for attack in comparison.original.attacks]
    rows = [
        (
            Cell(_name(comparison, row)),
            percent_cell(Fraction(row.distance)),
            *(percent_cell(attack.probabilistic.posterior) for attack in row.attacks),
        )
        for row in comparison.rows
    ]
    return cell_table(text("Release"), [text("Distance"), *labels], rows)


def _figures(comparison: Comparison) -> Table:
    alone, predicted = comparison.estimated, bool(comparison.rows[0].utility.prediction)
    utility = (text("loss"), text("distance"), text("of pairs"), text("query error"))
    columns: list[str | Column] = [
        *(text("records suppressed"), text("classes")),
        *under(text("Chance of naming"), text("highest"), text("average"), text("certain")),
        *[text("alone in population")] * alone,
        *(
            column
            for attack in comparison.rows[0].inferring
            for column in under(target_label(attack.secret), text("certain"), text("guess"))
        ),
        *under(text("Utility"), *utility, *[text("prediction")] * predicted),
    ]
    rows = []
    for row in comparison.rows:
        content, naming = row.to_dict(), row.naming
        uniques = content["population_uniques"]
        figures = [content[name] for name in UTILITIES]
        figures += [content["prediction"]["release"]] if predicted else []
        rows.append(
            (
                Cell(_name(comparison, row)),
                *(count_cell(content["suppressed"]), count_cell(content["classes"])),
                Cell(number(content["highest_risk"], ".4g")),
                number_cell(naming.probabilistic.posterior),
                percent_cell(naming.deterministic.posterior),
                *[NOTHING if uniques is None else Cell(percentage(Fraction(uniques)))] * alone,
                *(
                    cell
                    for attack in row.inferring
                    for cell in (
                        percent_cell(attack.deterministic.posterior),
                        number_cell(attack.probabilistic.posterior),
                    )
                ),
                *map(_four_digits_cell, figures),
            )
        )
    return cell_table(text("Release"), columns, rows)


def _four_digits_cell(value: float | None) -> Cell:
    return NOTHING if value is None else Cell(number(value, ".4g"), exact=exactly(value))


NO_DISTANCE = 1e-12
"""Below this, a distance from the truth is none: what is left is the rounding of its sum."""


def comparison_findings(comparison: Comparison) -> tuple[Finding, ...]:
    """Return which release protects best and which keeps most, what they do not stop, and which another one beats."""
    original, *releases = comparison.rows
    findings = [_named(comparison), _nearest(releases)]
    if original.inferring:
        findings.extend(_inferred(releases, comparison.subject))
    findings.extend(_beaten(releases))
    if original.to_dict().get("prediction"):
        findings.append(_predicted(releases))
    return tuple(findings)


def _named(comparison: Comparison) -> Finding:
    original, best = comparison.original, comparison.safest
    severity = release_severity(best.naming, best.naming.probabilistic.posterior)
    safe = severity == Severity.SAFE
    return Finding(
        severity,
        _naming_sentence(original, best, comparison.subject, alone=len(comparison.releases) == 1),
        figure=text(
            "Original – {original}. {name} – {release}.",
            original=exact_figure(original.naming),
            name=best.name,
            release=exact_figure(best.naming),
        ),
        meaning=only_quasi_identifiers() if safe else "",
        remedy=""
        if safe
        else text("A larger k, or less detail of the attributes released, makes naming harder."),
    )


def _naming_sentence(
    original: ComparedRelease, best: ComparedRelease, subject: str, *, alone: bool
) -> str:
    before, after = original.naming, best.naming
    said_before, said_after = frequencies(
        before.probabilistic.posterior, after.probabilistic.posterior
    )
    words = {"name": best.name, "before": said_before, "after": said_after}
    no_harder = after.probabilistic.posterior >= before.probabilistic.posterior
    if no_harder and alone:
        return text(
            "“{name}” does not make it harder to guess who it is: a guess is right for {after}, and in the original "
            "for {before}.",
            **words,
        )
    if no_harder:
        return text(
            "None of the releases makes it harder to guess who it is: a guess is right for {before} in the original, "
            "and no less often in any of them.",
            **words,
        )
    guess = (
        text("A guess is right for {after} there, instead of {before}.", **words)
        if alone
        else text(
            "A guess is right for {after} there, instead of {before}; none of the other releases makes it harder.",
            **words,
        )
    )
    return f"{_certain_sentence(before, best, subject)} {guess}"


def _certain_sentence(before: Attack, best: ComparedRelease, subject: str) -> str:
    """Say who can be named with certainty in the original, and who in the release in which naming is hardest."""
    after = best.naming
    words = {
        "people": counted(before.certain, subject),
        "share": share(before.certain, before.records),
        "name": best.name,
        "left": counted(after.certain, subject),
        "left_share": share(after.certain, after.records),
    }
    if before.certain == after.certain == 0:
        template = marked(
            "Nobody can be named with certainty, neither in the original nor in “{name}”."
        )
    elif before.certain == 0:
        template = marked(
            "Nobody can be named with certainty in the original, but {left} ({left_share}) can in “{name}”."
        )
    elif after.certain == 0:
        template = marked(
            "Without protection {people} ({share}) can be named with certainty; in “{name}” nobody can."
        )
    else:
        template = marked(
            "Without protection {people} ({share}) can be named with certainty; in “{name}” {left} ({left_share}) can."
        )
    return translated(template, **words)


def _nearest(releases: Sequence[ComparedRelease]) -> Finding:
    nearest = min(releases, key=lambda row: row.distance)
    content = nearest.to_dict()
    return note(
        _distance_sentence(nearest, alone=len(releases) == 1),
        figure=text(
            "distance of single columns {single}, of pairs {pairs}; median error of counting questions {queries}",
            single=number(content["column_distance"], ".4g"),
            pairs=_four_digits_cell(content["pair_distance"]).text,
            queries=number(content["query_error"], ".4g"),
        ),
        meaning=text(
            "The nearer to the truth, the more the release still serves those who have an honest question."
        ),
    )


def _distance_sentence(nearest: ComparedRelease, *, alone: bool) -> str:
    """Say how near to the truth the nearest release is."""
    single = nearest.to_dict()["pair_distance"] is None
    words = {"name": nearest.name, "wrong": percentage(Fraction(nearest.distance))}
    if nearest.distance < NO_DISTANCE and single:
        template = marked(
            "“{name}” keeps the truth: what it says of the column is right for all records."
        )
    elif nearest.distance < NO_DISTANCE:
        template = marked(
            "“{name}” keeps the truth: what it says of two columns together is right for all records."
        )
    elif single:
        template = marked(
            "None of the releases is nearer to the truth than “{name}”: what it says of the column is wrong for "
            "{wrong} of the records."
        )
    elif alone:
        template = marked(
            "The cost of “{name}”: what it says of two columns together is wrong for {wrong} of the records on "
            "average."
        )
    else:
        template = marked(
            "None of the releases is nearer to the truth than “{name}”: what it says of two columns together is wrong "
            "for {wrong} of the records on average."
        )
    return translated(template, **words)


def _inferred(releases: Sequence[ComparedRelease], subject: str) -> Iterator[Finding]:
    """Yield in which releases nobody's secret is known with certainty, and how many are known in the others."""
    safe = [row for row in releases if not any(attack.certain for attack in row.inferring)]
    if safe:
        yield reassurance(
            text("In all of the releases nobody's sensitive value is known with certainty.")
            if len(safe) == len(releases) > 1
            else text(
                "In {releases} nobody's sensitive value is known with certainty.",
                releases=joined([text("“{name}”", name=row.name) for row in safe]),
            ),
            meaning=text(
                "This holds as long as the adversary knows nothing of a person but the quasi-identifiers; guesses may "
                "still be good ones."
            ),
        )
    leaking = [row for row in releases if row not in safe]
    if leaking:
        yield _leaking(leaking, subject, all_of_them=not safe)


def _leaking(leaking: Sequence[ComparedRelease], subject: str, *, all_of_them: bool) -> Finding:
    """Say how many secrets are known in the best of the releases that give some away."""
    least = min(leaking, key=lambda row: max(attack.certain for attack in row.inferring))
    most = max(least.inferring, key=lambda attack: attack.certain)
    words = {
        "name": least.name,
        "secret": enumeration(most.secret),
        "people": counted(most.certain, subject),
        "share": share(most.certain, most.records),
    }
    return Finding(
        graded(learned(most), certain=True),
        text(
            "Protection against naming is not protection against inference: even in “{name}” the {secret} of {people} "
            "({share}) is known with certainty.",
            **words,
        )
        if all_of_them
        else text(
            "Protection against naming is not protection against inference: in “{name}” the {secret} of {people} "
            "({share}) is known with certainty.",
            **words,
        ),
        figure=f"{least.name} – {exact_figure(most)}",
        meaning=learned_without_a_name(),
        remedy=protect_the_secret(),
    )


def _beaten(releases: Sequence[ComparedRelease]) -> Iterator[Finding]:
    """Yield the releases that another one beats both in risk and in what is left of the data."""
    for row in releases:
        better = next((other for other in releases if other.beats(row)), None)
        if better is not None:
            yield note(
                text(
                    "“{worse}” is beaten by “{better}”, which is nearer to the truth while no attack succeeds more "
                    "often.",
                    worse=row.name,
                    better=better.name,
                ),
                figure=text(
                    "distance {worse} against {better}",
                    worse=number(row.distance, ".4g"),
                    better=number(better.distance, ".4g"),
                ),
            )


def _predicted(releases: Sequence[ComparedRelease]) -> Finding:
    """Say how well a classifier does that learned from the release which serves it best."""
    predicted = {row.name: row.to_dict()["prediction"] for row in releases}
    name, best = max(predicted.items(), key=lambda pair: float(pair[1]["release"]))
    release, original, majority = frequencies(
        *(Fraction(best[what]) for what in ("release", "original", "majority"))
    )
    return note(
        text(
            "A classifier that learned from “{name}” tells the {target} of real records right for {release}; one that "
            "learned from the original, for {original}; always saying the most frequent value, for {majority}.",
            name=name,
            target=enumeration([best["target"]]),
            release=release,
            original=original,
            majority=majority,
        ),
        figure="; ".join(
            f"{release} {number(figures['release'], '.4g')}"
            for release, figures in predicted.items()
        ),
    )
