"""The report of a comparison: which version to choose, one picture of risk against error, and one table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from fractions import Fraction

from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.microdata import Attack
from glasshouse.mitigation import ComparedRelease, Comparison
from glasshouse.mitigation.comparison import AssessedRuns, MeasuredRuns
from glasshouse.report.anonymise.page import (
    exact_knowledge,
    guesses_change,
    learned_without_a_name,
    only_quasi_identifiers,
    recoding_known,
)
from glasshouse.report.attacks import (
    METHOD,
    exact_figure,
    learned,
    protect_the_secret,
    release_severity,
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
from glasshouse.report.compare.figures import measured_findings, measured_page, measured_table
from glasshouse.report.compare.frontier import (
    Choice,
    actions,
    choice,
    choice_sentence,
    error_of,
    frontier_figure,
    recommendation,
    tiles,
)
from glasshouse.report.compare.runs import assessed_page, assessed_tables, side_by_side_findings
from glasshouse.report.labels import column_label
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
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
    glossary,
    joined,
    percentage,
    percentages,
    sentences,
    share,
)
from glasshouse.study.compare import CompareStudy
from glasshouse.study.protect import ProtectStudy


def page(
    outcome: Comparison | AssessedRuns | MeasuredRuns,
    question: CompareStudy,
    *,
    provenance: Provenance,
) -> Page:
    """Return the report of releases beside their original, or of runs side by side."""
    command = _command(question)
    if isinstance(outcome, Comparison):
        return comparison_page(outcome, question, provenance=provenance, command=command)
    if isinstance(outcome, AssessedRuns):
        return assessed_page(outcome, provenance=provenance, command=command)
    return measured_page(outcome, provenance=provenance, command=command)


def brief(outcome: Comparison | AssessedRuns | MeasuredRuns, question: CompareStudy) -> Brief:
    """Return what a terminal says of releases beside their original, or of runs side by side."""
    if isinstance(outcome, Comparison):
        done = treatment_blocks(outcome.steps, missing_notes(outcome.missing))
        chosen = choice_sentence(outcome, choice(outcome, question.policy))
        blocks = (*done, releases_table(outcome.rows), chosen)
        return Brief(blocks, comparison_findings(outcome, question))
    legend = text("▲ worse for the people in the data, ▼ better, than in the first run")
    if isinstance(outcome, AssessedRuns):
        return Brief(
            (*assessed_tables(outcome), legend), side_by_side_findings(outcome), shows_change=True
        )
    findings = measured_findings(outcome, exact=True)
    return Brief((measured_table(outcome), legend), findings, shows_change=True)


def releases_table(rows: Sequence[ComparedRelease]) -> Table:
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


def comparison_page(
    comparison: Comparison,
    question: CompareStudy | ProtectStudy,
    *,
    provenance: Provenance,
    command: str,
    chosen: Choice | None = None,
) -> Page:
    """Return the report of a comparison, and the command that repeats it.

    Args:
        comparison: The versions.
        question: What was asked.
        provenance: Where the figures come from.
        command: The command that repeats it.
        chosen: The version to choose; by default the best trade of risk against accuracy.
    """
    chosen = chosen or choice(comparison, question.policy)
    findings = comparison_findings(comparison, question, chosen)
    original, *releases = comparison.rows
    grouped, recoded = (
        joined([text("“{name}”", name=row.name) for row in releases if row.grouped == apart])
        for apart in (True, False)
    )
    predicted = original.to_dict()["prediction"]
    return Page(
        title=text("Protected versions side by side"),
        lead=text_for(
            len(releases),
            "{count} protected version of {dataset}",
            "{count} protected versions of {dataset}",
            dataset=original.naming.datasets[0],
        ),
        findings=findings,
        summary=choice_sentence(comparison, chosen),
        tiles=tiles(comparison, chosen),
        actions=() if isinstance(question, ProtectStudy) else actions(comparison, question, chosen),
        front=frontier_figure(comparison, chosen),
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
            terms=(
                ERROR,
                TERMS,
                comparison.estimated and ALONE,
                predicted is not None and PREDICTION,
            ),
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
ERROR = {
    marked("Error"): marked(
        "For which share of the records a version is wrong in what it says of two columns together, on average; of a "
        "single column, where there is but one."
    )
}
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


def comparison_findings(
    comparison: Comparison, question: CompareStudy | ProtectStudy, chosen: Choice | None = None
) -> tuple[Finding, ...]:
    """Return which version to choose, which protects best and keeps most, what they do not stop, which are beaten."""
    original, *releases = comparison.rows
    chosen = chosen or choice(comparison, question.policy)
    findings = [recommendation(comparison, chosen), _named(comparison), _nearest(releases)]
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
        else text(
            "More people who look alike (a larger k), or less detail of the attributes, makes naming harder."
        ),
    )


def _naming_sentence(
    original: ComparedRelease, best: ComparedRelease, subject: str, *, alone: bool
) -> str:
    before, after = original.naming, best.naming
    said_before, said_after = percentages(
        before.probabilistic.posterior, after.probabilistic.posterior
    )
    words = {"name": best.name, "before": said_before, "after": said_after}
    no_harder = (
        said_before == said_after or after.probabilistic.posterior > before.probabilistic.posterior
    )
    if no_harder and alone:
        return text(
            "“{name}” does not make it harder to guess who it is: guesses are right in {after} of cases, and in the "
            "original in {before}.",
            **words,
        )
    if no_harder:
        return text(
            "None of the versions makes it noticeably harder to guess who it is: guesses are right in {before} of "
            "cases in the original, and in {after} in the best of them.",
            **words,
        )
    both = f"{_certain_sentence(before, best, subject)} {guesses_change(before, after)}"
    if alone:
        return both
    best_one = text("No other version protects better against being named.")
    return f"{both} {best_one}"


def _certain_sentence(before: Attack, best: ComparedRelease, subject: str) -> str:
    """Say who can be named outright in the original, and who in the version in which naming is hardest."""
    after = best.naming
    words = {
        "people": counted(before.certain, subject),
        "share": share(before.certain, before.records),
        "name": best.name,
        "left": counted(after.certain, subject),
        "left_share": share(after.certain, after.records),
    }
    if before.certain == after.certain == 0:
        template = marked("Nobody can be named outright, neither in the original nor in “{name}”.")
    elif before.certain == 0:
        template = marked(
            "In “{name}” {left} ({left_share}) can be named outright; in the original nobody can."
        )
    elif after.certain == 0:
        template = marked(
            "In “{name}” nobody can be named outright; in the original {people} ({share}) can."
        )
    else:
        template = marked(
            "In “{name}” {left} ({left_share}) can be named outright; in the original {people} ({share}) can."
        )
    return translated(template, **words)


def _nearest(releases: Sequence[ComparedRelease]) -> Finding:
    nearest = min(releases, key=lambda row: row.distance)
    content = nearest.to_dict()
    return note(
        _distance_sentence(nearest, releases),
        figure=text(
            "distance of single columns {single}, of pairs {pairs}; median error of counting questions {queries}",
            single=number(content["column_distance"], ".4g"),
            pairs=_four_digits_cell(content["pair_distance"]).text,
            queries=number(content["query_error"], ".4g"),
        ),
        meaning=text(
            "The more accurate a version, the better it still serves those who have an honest question."
        ),
    )


def _distance_sentence(nearest: ComparedRelease, releases: Sequence[ComparedRelease]) -> str:
    """Say how accurate the most accurate version is; that it is the most only where others are less."""
    single = nearest.to_dict()["pair_distance"] is None
    alone = len(set(percentages(*map(error_of, releases)))) == 1
    words = {"name": nearest.name, "wrong": percentage(error_of(nearest))}
    if nearest.distance < NO_DISTANCE:
        template = marked("“{name}” keeps the data as accurate as the original.")
    elif single and alone:
        template = marked("The error is {wrong} in what is said of the column.")
    elif single:
        template = marked(
            "“{name}” keeps the data most accurate: an error of {wrong} in what it says of the column."
        )
    elif alone:
        template = marked(
            "The error is {wrong} in what is said of two columns together, on average."
        )
    else:
        template = marked(
            "“{name}” keeps the data most accurate: an error of {wrong} in what it says of two columns together, on "
            "average."
        )
    return translated(template, **words)


def _inferred(releases: Sequence[ComparedRelease], subject: str) -> Iterator[Finding]:
    """Yield in which versions nobody's secret is known for certain, and how many are known in the others."""
    safe = [row for row in releases if not any(attack.certain for attack in row.inferring)]
    if safe:
        yield reassurance(
            text("Nobody's sensitive value is known for certain in any of the versions.")
            if len(safe) == len(releases) > 1
            else text(
                "In {releases} nobody's sensitive value is known for certain.",
                releases=joined([text("“{name}”", name=row.name) for row in safe]),
            ),
            meaning=text(
                "This holds as long as the adversary knows nothing of a person but the quasi-identifiers; guesses may "
                "still be right often."
            ),
        )
    leaking = [row for row in releases if row not in safe]
    if leaking:
        yield _leaking(leaking, subject, all_of_them=not safe)


def _leaking(leaking: Sequence[ComparedRelease], subject: str, *, all_of_them: bool) -> Finding:
    """Say how many secrets are known in the best of the versions that give some away."""
    least = min(leaking, key=lambda row: max(attack.certain for attack in row.inferring))
    most = max(least.inferring, key=lambda attack: attack.certain)
    words = {
        "name": least.name,
        "secret": enumeration(most.secret),
        "people": counted(most.certain, subject),
        "share": share(most.certain, most.records),
    }
    return Finding(
        release_severity(most, learned(most)),
        text(
            "Protection against naming is not protection against inference: even in “{name}” the {secret} of {people} "
            "({share}) is known for certain.",
            **words,
        )
        if all_of_them
        else text(
            "Protection against naming is not protection against inference: in “{name}” the {secret} of {people} "
            "({share}) is known for certain.",
            **words,
        ),
        figure=f"{least.name} – {exact_figure(most)}",
        meaning=learned_without_a_name(),
        remedy=protect_the_secret(),
    )


def _beaten(releases: Sequence[ComparedRelease]) -> Iterator[Finding]:
    """Yield the versions that another one beats both in risk and in accuracy, where that can be seen."""
    for row in releases:
        better = next((other for other in releases if other.beats(row)), None)
        if better is None:
            continue
        worse_error, better_error = percentages(error_of(row), error_of(better))
        if worse_error != better_error:
            yield note(
                text(
                    "“{worse}” is beaten by “{better}”, which is more accurate (an error of {better_error} against "
                    "{worse_error}) while no attack succeeds more often.",
                    worse=row.name,
                    better=better.name,
                    worse_error=worse_error,
                    better_error=better_error,
                )
            )


def _predicted(releases: Sequence[ComparedRelease]) -> Finding:
    """Say how well a classifier does that learned from the version which serves it best."""
    predicted = {row.name: row.to_dict()["prediction"] for row in releases}
    name, best = max(predicted.items(), key=lambda pair: float(pair[1]["release"]))
    release, original, majority = percentages(
        *(Fraction(best[what]) for what in ("release", "original", "majority"))
    )
    return note(
        text(
            "A classifier that learned from “{name}” tells the {target} of real records right in {release} of cases; "
            "one that learned from the original, in {original}; always saying the most frequent value, in {majority}.",
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
