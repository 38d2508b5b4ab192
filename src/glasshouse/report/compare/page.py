"""The report of a comparison: which version to choose, one picture of risk against detail lost, and one table."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from glasshouse.language import marked, number, percentage, printable, text, text_for, translated
from glasshouse.measures.attacks import learned
from glasshouse.measures.compare import of_release
from glasshouse.measures.compared_runs import AssessedRuns, MeasuredRuns
from glasshouse.measures.verdict import Decision, Verdict, verdict_on
from glasshouse.microdata import Attack
from glasshouse.mitigation import Anonymisation, ComparedRelease, Comparison
from glasshouse.report import vega
from glasshouse.report.anonymise.costs import costs_figure, costs_section
from glasshouse.report.anonymise.dictionary import changes
from glasshouse.report.anonymise.front import anonymise_command, risk_tiles, stricter
from glasshouse.report.anonymise.page import (
    exact_knowledge,
    guesses_change,
    learned_without_a_name,
    only_quasi_identifiers,
    recoding_known,
    suppressed_findings,
)
from glasshouse.report.assess.front import command_words
from glasshouse.report.attacks import (
    METHOD,
    exact_figure,
    protect_the_secret,
    release_severity,
    target_label,
)
from glasshouse.report.cells import (
    NOTHING,
    cell_table,
    count_cell,
    float_cell,
    number_cell,
    percent_cell,
    under,
)
from glasshouse.report.charts import NEUTRAL, TARGETS, figure_of, plot, titled
from glasshouse.report.compare.figures import FiguresTold, measured_page
from glasshouse.report.compare.runs import (
    assessed_page,
    assessed_tables,
    comparable,
    side_by_side_findings,
)
from glasshouse.report.discretion import Discretion
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_label
from glasshouse.report.page import (
    MOST_ACTIONS,
    Action,
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
    Tile,
    keep_assumptions,
    note,
    reassurance,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.words import counted, enumeration, joined, percentages, sentences, share
from glasshouse.study.anonymise import CHANGES
from glasshouse.study.compare import CompareStudy
from glasshouse.study.policy import ReleasePolicy
from glasshouse.study.protect import ProtectStudy


def page(
    outcome: Comparison | AssessedRuns | MeasuredRuns,
    question: CompareStudy,
    *,
    provenance: Provenance,
    verdict: Verdict | None = None,
) -> Page:
    """Return the report of releases beside their original, or of runs side by side."""
    command = _command(question)
    if isinstance(outcome, Comparison):
        chosen = choice(outcome, question.policy, verdict)
        return comparison_page(
            outcome, question, provenance=provenance, command=command, chosen=chosen
        )
    if isinstance(outcome, AssessedRuns):
        return assessed_page(outcome, provenance=provenance, command=command)
    return measured_page(outcome, provenance=provenance, command=command)


def brief(
    outcome: Comparison | AssessedRuns | MeasuredRuns,
    question: CompareStudy,
    *,
    verdict: Verdict | None = None,
) -> Brief:
    """Return what a terminal says of releases beside their original, or of runs side by side."""
    if isinstance(outcome, Comparison):
        done = treatment_blocks(outcome.steps, missing_notes(outcome.missing))
        chosen = choice(outcome, question.policy, verdict)
        columns = filter(None, [_columns(outcome)])
        sentence = choice_sentence(outcome, chosen)
        blocks = (*done, releases_table(outcome.rows), *columns, sentence)
        return Brief(blocks, comparison_findings(outcome, question, chosen))
    legend = text("▲ worse for the people in the data, ▼ better, than in the first run")
    if isinstance(outcome, AssessedRuns):
        legends = [legend] if comparable(outcome) else []
        return Brief(
            (*assessed_tables(outcome), *legends), side_by_side_findings(outcome), shows_change=True
        )
    figures = FiguresTold(outcome, Discretion(exact=True))
    return Brief((figures.table(), legend), figures.findings(), shows_change=True)


def releases_table(rows: Sequence[ComparedRelease]) -> Table:
    """Return the original and each release: risks and what is lost."""
    measures = [text("suppressed"), text("identified: certain"), text("guess")]
    measures += [
        text("{secret}: certain", secret="+".join(map(column_label, attack.secret)))
        for attack in rows[0].inferring
    ]
    measures.append(text("detail lost"))
    learned = rows[0].utility.prediction
    if learned:
        measures.append(text("{target} predicted", target=learned.target))
    cells = [
        (
            row.name,
            number(row.suppressed),
            percentage(row.naming.deterministic.posterior),
            percentage(row.naming.probabilistic.posterior),
            *(percentage(attack.deterministic.posterior) for attack in row.inferring),
            percentage(lost_of(row)),
            *([percentage(row.utility.prediction.release)] if row.utility.prediction else []),
        )
        for row in rows
    ]
    title = text("Risk and utility, with all quasi-identifiers")
    return cell_table(text("release"), measures, cells, title)


def _columns(comparison: Comparison) -> Table | None:
    """Return what happens to each column in every version; None: it is not known how they were protected."""
    releases = {row.name: row.protection for row in comparison.releases}
    known = {name: release for name, release in releases.items() if release is not None}
    return columns_table(known) if known else None


def columns_table(
    releases: Mapping[str, Anonymisation], further: Sequence[Sequence[str]] = ()
) -> Table:
    """Return what happens to each column in every version, and how many records are removed, or blanked in it.

    Args:
        releases: The versions by their names.
        further: What else there is to say of the versions, row by row.
    """
    names = dict.fromkeys(
        name
        for release in releases.values()
        for name in (*release.quasi_identifiers, *(column.column for column in release.changed))
    )
    rows = [
        (column_label(name), *(column_change(release, name) for release in releases.values()))
        for name in names
    ]
    counts = {
        text("records removed"): [one.suppressed * one.drops for one in releases.values()],
        text("records suppressed"): [one.suppressed * (not one.drops) for one in releases.values()],
    }
    hidden = [
        (
            title,
            *(share(count, one.records) for count, one in zip(row, releases.values(), strict=True)),
        )
        for place, (title, row) in enumerate(counts.items())
        if any(row) or (place == 0 and not any(one.suppressed for one in releases.values()))
    ]
    return cell_table(
        text("Column"),
        list(map(Column, releases)),
        [*rows, *hidden, *further],
        text("What happens to each column"),
    )


def column_change(release: Anonymisation, name: str) -> str:
    """Say what happens to a column in a release."""
    if release.method in CHANGES:
        change = changes(release)[name]
        return text("as it is") if change == text("as it was") else change
    if release.grouped or name not in release.quasi_identifiers:
        return text("as it is")
    detail = release.quality.attributes[name] if release.quality else None
    kept = Fraction(1) if detail is None else Fraction(detail.granularity)
    level = None if release.heights is None else release.heights[name]
    if kept >= 1 or level == 0:
        return text("as it is")
    if kept <= 0:
        return text("left out")
    if level is None:
        return text("{share} of detail kept", share=percentage(kept))
    return text(
        "{change} ({share} of detail kept)", change=changes(release)[name], share=percentage(kept)
    )


_FLAGS = {"hierarchies": "--hierarchy", "levels": "--level"}


def _command(question: CompareStudy) -> str:
    """Return the command in short, for a report that leaves the house."""
    words = ["glasshouse", "compare", *(path.name for path in question.runs)]
    for study in list(question.protections.values())[:1]:
        words += command_words(study, study.adversary.quasi_identifiers)
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
    columns: Table | None = None,
) -> Page:
    """Return the report of a comparison, and the command that repeats it.

    Args:
        comparison: The versions.
        question: What was asked.
        provenance: Where the figures come from.
        command: The command that repeats it.
        chosen: The version to choose; by default the best trade of risk against detail.
        columns: What happens to each column in every version; by default what is known of it.
    """
    columns = columns or _columns(comparison)
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
        figures=tuple(filter(None, [costs_figure(chosen.release.costs)])),
        sections=tuple(
            filter(
                None,
                (
                    None
                    if columns is None
                    else Section(columns.title, tables=(replace(columns, title=""),), is_open=True),
                    Section(text("The figures"), tables=(_figures(comparison),)),
                    costs_section(
                        {row.name: row.costs for row in releases if row.costs is not None}
                    ),
                    treatment_section(comparison.steps, missing_notes(comparison.missing)),
                ),
            )
        ),
        adversary=(
            exact_knowledge(original.naming.quasi_identifiers),
            *([recoding_known()] if not grouped else []),
            *sentences(bool(grouped and recoded) and RECODED, releases=recoded),
            *sentences(bool(grouped) and GROUPED, releases=grouped),
        ),
        limits=sentences(
            *LIMITS,
            any(row.protection and row.protection.method in CHANGES for row in releases)
            and CHANGED,
            comparison.estimated and ESTIMATED,
        ),
        glossary=glossary(
            "adversary, quasi-identifier, class, re-identification, attribute inference, loss",
            "generalisation, suppression",
            terms=(
                LOST,
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
        "Every risk is an exact ratio of counts, not an estimate. Suppressed records are left out of every risk."
    ),
    marked(
        "Distances and errors take a generalised value to be spread evenly over the values that it stands "
        "for: that is all that anyone with the release alone can expect."
    ),
)
CHANGED = marked(
    "Where values were changed, the risks assume that the adversary knows by which rule. A number that "
    "the original does not have counts as the nearest one that it has, and every record of a sample "
    "stands for as many as it was drawn from."
)
ESTIMATED = marked(
    "How many are alone in the population is an estimate from the sample, by the rule of Dankar et al. 2012."
)
LOST = {
    marked("Detail lost"): marked(
        "How many of a column’s values could stand behind a published one (0%: only itself, 100%: any of them), "
        "averaged over all records and all columns that were looked at, sensitive ones included."
    )
}
TERMS = {
    marked("Highest, average"): marked("The chances that a person's record is identified."),
    marked("Other views of utility"): marked(
        "Versions are ranked by the detail that is lost. The others ask something else, and may rank them differently: "
        "the Loss metric is the geometric mean that a search makes least; distances are the share of the records for "
        "which a table of one column, or of two, is wrong (total variation)."
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
        "How often a classifier trained on the release predicts the {target} of real records correctly; "
        "always saying the most frequent value is right for {majority}."
    )
}
UTILITIES = ("loss", "column_distance", "pair_distance", "query_error")


def _figures(comparison: Comparison) -> Table:
    alone, predicted = comparison.estimated, bool(comparison.rows[0].utility.prediction)
    views = (
        *(text("Loss metric"), text("one column"), text("two columns")),
        text("query error"),
    )
    columns: list[str | Column] = [
        *(text("records suppressed"), text("classes")),
        *under(text("Chance of identification"), text("highest"), text("average"), text("certain")),
        *[text("alone in population")] * alone,
        *(
            column
            for attack in comparison.rows[0].inferring
            for column in under(target_label(attack.secret), text("certain"), text("guess"))
        ),
        text("detail lost"),
        *under(text("Other views of utility"), *views, *[text("prediction")] * predicted),
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
                NOTHING if row.highest is None else Cell(number(float(row.highest), ".4g")),
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
                percent_cell(lost_of(row)),
                *(float_cell(figure, ".4g") for figure in figures),
            )
        )
    return cell_table(text("Release"), columns, rows)


def comparison_findings(
    comparison: Comparison, question: CompareStudy | ProtectStudy, chosen: Choice | None = None
) -> tuple[Finding, ...]:
    """Return which version to choose, which protects best and keeps most, what they do not stop, which are beaten."""
    original, *releases = comparison.rows
    taken, chosen = chosen, chosen or choice(comparison, question.policy)
    return (
        *(recommendation(comparison, chosen), _named(comparison), _fullest(releases)),
        *(_inferred(releases, comparison.subject) if original.inferring else ()),
        *_suppressed(releases),
        *_beaten(releases, taken),
        *([_predicted(releases)] if original.to_dict().get("prediction") else []),
    )


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
            "More people who look alike (a larger k), or less detail in the columns, makes identification harder."
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
    best_one = text("No other version protects better against identification.")
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
        template = marked(
            "Nobody can be identified outright, neither in the original nor in “{name}”."
        )
    elif before.certain == 0:
        template = marked(
            "In “{name}” {left} ({left_share}) can be identified outright; in the original nobody can."
        )
    elif after.certain == 0:
        template = marked(
            "In “{name}” nobody can be identified outright; in the original {people} ({share}) can."
        )
    else:
        template = marked(
            "In “{name}” {left} ({left_share}) can be identified outright; in the original {people} ({share}) "
            "can."
        )
    return translated(template, **words)


def _fullest(releases: Sequence[ComparedRelease]) -> Finding:
    """Say which version loses least, and in the figure how wrong tables of it are."""
    fullest = min(releases, key=lambda row: row.detail_lost)
    content = fullest.to_dict()
    words = {"name": fullest.name, "lost": percentage(lost_of(fullest))}
    if not fullest.detail_lost:
        template = marked("“{name}” has all the detail of the original.")
    elif len(set(percentages(*map(lost_of, releases)))) == 1:
        template = marked("{lost} of the detail is lost.")
    else:
        template = marked("“{name}” keeps the most detail: {lost} is lost.")
    return note(
        translated(template, **words),
        figure=text(
            "distance of single columns {single}, of pairs {pairs}; median error of counting questions {queries}",
            single=number(content["column_distance"], ".4g"),
            pairs=float_cell(content["pair_distance"], ".4g").text,
            queries=number(content["query_error"], ".4g"),
        ),
        meaning=text(
            "The more detail a version keeps, the better it still serves those who have an honest question."
        ),
    )


def _inferred(releases: Sequence[ComparedRelease], subject: str) -> Iterator[Finding]:
    """Yield in which versions nobody's secret is known for certain, and how many are known in the others."""
    leaking = [row for row in releases if any(attack.certain for attack in row.inferring)]
    blanked = [row for row in releases if _is_read_from_blanked(row)]
    safe = [row for row in releases if row not in leaking and row not in blanked]
    if safe:
        yield reassurance(
            text("Nobody's sensitive value is known for certain in any of the versions.")
            if len(safe) == len(releases) > 1
            else text(
                "In {releases} nobody's sensitive value is known for certain.",
                releases=joined([text("“{name}”", name=row.name) for row in safe]),
            ),
            meaning=text(
                "This holds as long as the adversary knows nothing about a person but the quasi-identifiers; guesses "
                "may still be right often."
            ),
        )
    if leaking:
        yield _leaking(leaking, subject, all_of_them=not safe and not blanked)


def _is_read_from_blanked(row: ComparedRelease) -> bool:
    """Tell whether a secret is known for certain from the suppressed records that stay in a release."""
    return any(attack.certain for way in row.judged for attack in way if attack.secret)


def _suppressed(releases: Sequence[ComparedRelease]) -> Iterator[Finding]:
    """Yield what is told of suppressed records that stay in a version, and are fewer than any class."""
    for row in releases:
        smallest = None if row.highest is None else round(1 / row.highest)
        if row.judged and smallest is not None and row.suppressed < smallest:
            for finding in suppressed_findings(row.suppressed, row.records, smallest):
                sentence = text("“{name}”: {sentence}", name=row.name, sentence=finding.sentence)
                yield replace(finding, sentence=sentence)


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
            "Protection against identification is not protection against inference: even in “{name}” the "
            "{secret} of {people} ({share}) is known for certain.",
            **words,
        )
        if all_of_them
        else text(
            "Protection against identification is not protection against inference: in “{name}” the {secret} of "
            "{people} ({share}) is known for certain.",
            **words,
        ),
        figure=f"{least.name} – {exact_figure(most)}",
        meaning=learned_without_a_name(),
        remedy=protect_the_secret(),
    )


def _beaten(releases: Sequence[ComparedRelease], taken: Choice | None) -> Iterator[Finding]:
    """Yield the versions that another one beats both in risk and in detail, where that can be seen."""
    failing = frozenset() if taken is None else taken.failing
    for row in releases:
        better = next((other for other in releases if other.beats(row)), None)
        if better is None:
            continue
        worse_lost, better_lost = percentages(lost_of(row), lost_of(better))
        if worse_lost != better_lost:
            yield note(
                text(
                    "“{worse}” is beaten by “{better}”, which loses less detail ({better_lost} against {worse_lost}) "
                    "while no attack succeeds more often.",
                    worse=row.name,
                    better=better.name,
                    worse_lost=worse_lost,
                    better_lost=better_lost,
                ),
                meaning=""
                if taken is None or row.name != taken.release.name
                else text(
                    "It is chosen all the same: “{name}” does not meet the rule.",
                    name=better.name,
                )
                if better.name in failing
                else text(
                    "It is chosen all the same: it is simpler to use, and the difference in detail is small."
                ),
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
            "A classifier trained on “{name}” predicts the {target} of real records correctly in {release} of "
            "cases; one trained on the original, in {original}; always saying the most frequent value, in "
            "{majority}.",
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


# The frontier: what each version leaves of risk and of detail, and which one to choose


Align: TypeAlias = Literal["left", "center", "right"]


class Choice(NamedTuple):
    """The version to choose."""

    release: ComparedRelease
    """The version."""
    verdict: Verdict | None
    """What the rule says of it; None: nothing."""
    meeting: int
    """How many of the versions meet the rule."""
    failing: frozenset[str] = frozenset()
    """The names of those that do not, where this one does."""

    @property
    def meets(self) -> bool:
        """Whether it meets the rule."""
        return self.verdict is not None and self.verdict.meets


def choice(comparison: Comparison, policy: ReleasePolicy, verdict: Verdict | None = None) -> Choice:
    """Return the version to choose: of those that do best by the rule, the best trade of risk against detail.

    Args:
        comparison: The versions.
        policy: The rule.
        verdict: What it says of the one to choose, with what was measured of the columns, which all versions have.
    """
    of_columns = () if verdict is None else verdict.of_columns
    versions = [
        Choice(row, verdict_on((*of_columns, *of_release(row)), policy), 0)
        for row in comparison.by_trade
    ]
    decisions = [None, *Decision]
    best = max(
        versions,
        key=lambda version: decisions.index(
            None if version.verdict is None else version.verdict.decision
        ),
    )
    failing = frozenset(version.release.name for version in versions if not version.meets)
    return best._replace(
        meeting=len(versions) - len(failing), failing=failing if best.meets else frozenset()
    )


def lost_of(row: ComparedRelease) -> Fraction:
    """Return the share of detail that a version loses."""
    return Fraction(row.detail_lost)


def recommendation(comparison: Comparison, chosen: Choice) -> Finding:
    """Say what the figures of the version to choose are, and what comes next."""
    stricter_one = _next(comparison, chosen)
    how = text(
        "The average risk is the higher of two shares of all people: how often a guess at who it is is right, and what "
        "a version adds to knowing a sensitive value, at a guess or for certain; single people may be at more. Risk "
        "and detail lost are each taken as a share of their range over all versions and the original; where their sum "
        "is least, more protection costs more than it brings."
    )
    sentence = _figures_sentence(comparison, chosen.release)
    if stricter_one is not None:
        sentence += " " + text(
            "The next stricter version is “{name}”: average risk {risk}, detail lost {lost}.",
            name=stricter_one.name,
            risk=percentages(chosen.release.risk, stricter_one.risk)[1],
            lost=percentages(lost_of(chosen.release), lost_of(stricter_one))[1],
        )
    return note(sentence, meaning=how)


def _next(comparison: Comparison, chosen: Choice) -> ComparedRelease | None:
    """Return the version with the next smaller risk, of those that may be taken as well and that no other one beats."""
    risk = chosen.release.risk
    safer = [
        row
        for row in comparison.releases
        if row.risk < risk
        and row.name not in chosen.failing
        and len(set(percentages(row.risk, risk))) > 1
        and not any(other.beats(row) for other in comparison.releases)
    ]
    return max(safer, key=lambda row: row.risk, default=None)


def choice_sentence(comparison: Comparison, chosen: Choice) -> str:
    """Say which version to choose, and why."""
    versions, name = len(comparison.releases), chosen.release.name
    if versions == 1:
        template = (
            marked("“{name}” meets the rule.")
            if chosen.meets
            else marked("“{name}” does not meet the rule.")
        )
    elif not chosen.meets:
        template = marked(
            "None of the versions meets the rule; “{name}” is the best trade-off between risk and detail."
        )
    else:
        return text_for(
            chosen.meeting,
            "Choose “{name}”: it is the only version that meets the rule.",
            "Choose “{name}”: of the {count} versions that meet the rule, it is the best trade-off between risk "
            "and detail.",
            name=name,
        )
    return translated(template, name=name)


def _figures_sentence(comparison: Comparison, chosen: ComparedRelease) -> str:
    """Say how great the average risk is, before and after, and how much detail is lost."""
    before, after = percentages(comparison.original.risk, chosen.risk)
    words = {
        "name": chosen.name,
        "before": before,
        "after": after,
        "lost": percentage(lost_of(chosen)),
    }
    if before == after:
        template = marked(
            "In “{name}” the average risk is {after}, as in the original; {lost} of the detail is lost."
        )
    elif chosen.risk < comparison.original.risk:
        template = marked(
            "In “{name}” the average risk is {after}, down from {before} in the original; {lost} of the detail is lost."
        )
    else:
        template = marked(
            "In “{name}” the average risk is {after}, up from {before} in the original; {lost} of the detail is lost."
        )
    return translated(template, **words)


def tiles(comparison: Comparison, chosen: Choice) -> tuple[Tile, ...]:
    """Return who is at risk and what is given away, before and in the version to choose, and what is lost."""
    pairs = list(zip(comparison.original.attacks, chosen.release.attacks, strict=True))
    return (*risk_tiles(pairs, comparison.subject), _cost_tile(comparison, chosen.release))


def _cost_tile(comparison: Comparison, chosen: ComparedRelease) -> Tile:
    fullest = min(comparison.releases, key=lambda row: row.detail_lost)
    lost, least = percentages(lost_of(chosen), lost_of(fullest))
    words = {"name": chosen.name, "fullest": fullest.name, "least": least}
    template = marked("of the detail is lost in “{name}”; least is lost in “{fullest}”, {least}")
    if least == lost:
        template = marked("of the detail is lost in “{name}”: no version loses less")
    if len(comparison.releases) == 1:
        template = marked("of the detail is lost in “{name}”")
    return Tile(text("What it costs"), lost, translated(template, **words))


def actions(comparison: Comparison, question: CompareStudy, chosen: Choice) -> tuple[Action, ...]:
    """Return what to do: publish the version to choose where it meets the rule, or else what would."""
    study = question.protections.get(chosen.release.name)
    change = " → ".join(percentages(comparison.original.risk, chosen.release.risk))
    sentence = text("Of these versions, publish “{name}”.", name=chosen.release.name)
    if not chosen.meets:
        sentence = text(
            "Of these versions, choose “{name}”, and protect it further before you publish it.",
            name=chosen.release.name,
        )
    first = Action(
        sentence,
        text("Average risk: {change}.", change=change),
        chosen.meets,
        "" if study is None else anonymise_command(study),
    )
    further = list(stricter(study, chosen.verdict, chosen.release.protection)) or [
        keep_assumptions()
    ]
    return (first, *further)[:MOST_ACTIONS]


# The picture


class Panel(NamedTuple):
    """One kind of risk, version by version."""

    title: str
    """What it is."""
    risk: Callable[[ComparedRelease], Fraction]
    """How great it is in a version."""


BEFORE_ZERO = 0.05
"""Which part of the axis of detail lost is before 0, so that the original does not stand on the other axis."""
WIDTH, HEIGHT, LETTER, LINE = 200, 200, 7.6, 15.0
"""How large a panel is on a narrow screen, and the letters in it, in pixels."""


def frontier_figure(comparison: Comparison, chosen: Choice) -> Figure:
    """Show what each version leaves of risk against the detail it loses; the line joins those that nothing beats."""
    panels = [
        Panel(
            text("correct identifications (%)"),
            lambda row: row.naming.probabilistic.posterior,
        )
    ]
    if comparison.original.inferring:
        panels.append(
            Panel(
                text("added to knowing a sensitive value (points)"),
                lambda row: max(map(learned, row.inferring)),
            )
        )
    original, names = text("original"), [printable(row.name) for row in comparison.releases]
    numbered = not all(
        labels_beside(_spots(comparison, panel), [original, *names]) for panel in panels
    )
    labels = [str(place) for place in range(1, len(names) + 1)] if numbered else names
    rows_and_labels = zip(comparison.rows, [original, *labels], strict=True)
    shown = {id(row): label for row, label in rows_and_labels}
    charts = [_panel(comparison, panel, chosen.release, shown) for panel in panels]
    key = " · ".join(f"{label}: {name}" for label, name in zip(labels, names, strict=True))
    titles = [text("Detail lost"), *(panel.title for panel in panels), text("Beaten by")]
    rows = [
        (
            Cell(_name(comparison, row)),
            percent_cell(lost_of(row)),
            *(percent_cell(panel.risk(row)) for panel in panels),
            Cell(
                next((other.name for other in comparison.releases if other.beats(row)), "–")
                if row is not comparison.original
                else "–"
            ),
        )
        for row in comparison.rows
    ]
    return figure_of(
        titled(
            vega.hconcat(*charts, spacing=40),
            _title(comparison, chosen),
            "; ".join(
                [
                    text(
                        "towards the lower left is better; the line joins the versions that no other one beats"
                    ),
                    *([key] if numbered else []),
                ]
            ),
        ),
        label=text("Risk against detail lost, one mark per version"),
        caption=text(
            "Down: harder to learn about somebody. Left: more detail. Hollow: another version loses less detail while "
            "no attack succeeds more often. Diamond: the version to choose. Hollow square: the original, which loses "
            "none."
        ),
        table=cell_table(text("Version"), titles, rows),
    )


def _title(comparison: Comparison, chosen: Choice) -> str:
    before, after = percentages(comparison.original.risk, chosen.release.risk)
    return text(
        "“{name}”: average risk {after} (original: {before}), detail lost {lost}",
        name=chosen.release.name,
        after=after,
        before=before,
        lost=percentage(lost_of(chosen.release)),
    )


def _ends(comparison: Comparison, panel: Panel) -> tuple[float, float]:
    """Return how far the axes of a panel go: detail lost, and risks, those of the original among them."""
    widest = max(100 * row.detail_lost for row in comparison.releases) * 1.1 or 1.0
    return widest, max(100 * float(panel.risk(row)) for row in comparison.rows) * 1.15 or 1.0


def _spots(comparison: Comparison, panel: Panel) -> list[tuple[float, float]]:
    """Return where the marks of the original and of the versions stand in a panel."""
    widest, highest = _ends(comparison, panel)
    return [
        (
            (100 * row.detail_lost / widest + BEFORE_ZERO) / (1 + BEFORE_ZERO) * WIDTH,
            HEIGHT - 100 * float(panel.risk(row)) / highest * HEIGHT,
        )
        for row in comparison.rows
    ]


def _panel(
    comparison: Comparison, panel: Panel, chosen: ComparedRelease, labels: Mapping[int, str]
) -> vega.Chart:
    releases = sorted(comparison.releases, key=lambda row: (row.detail_lost, panel.risk(row)))
    frontier = list(_undominated(releases, panel.risk))
    widest, highest = _ends(comparison, panel)
    x = vega.X(
        "lost:Q",
        title=text("detail lost (%)"),
        scale=vega.Scale(domain=[-BEFORE_ZERO * widest, widest], nice=False),
        axis=vega.Axis(tickCount=5),
    )
    y = vega.Y("risk:Q", title=None, scale=vega.Scale(domain=[0, highest], nice=False))

    def place(row: ComparedRelease) -> dict[str, object]:
        return {
            "name": labels[id(row)],
            "lost": 100 * row.detail_lost,
            "risk": 100 * float(panel.risk(row)),
            "kind": "original"
            if row is comparison.original
            else "chosen"
            if row is chosen
            else "beaten"
            if any(other.beats(row) for other in releases)
            else "frontier",
        }

    line = [place(row) for row in frontier]
    layers: list[vega.Chart] = [
        plot(line)
        .mark_line(interpolate="step-after", strokeWidth=1.5, color=TARGETS[0][0])
        .encode(x=x, y=y)
    ]
    looks = {
        "original": ("square", False),
        "frontier": ("circle", True),
        "beaten": ("circle", False),
        "chosen": ("diamond", True),
    }
    marks = [place(row) for row in (comparison.original, *releases)]
    for kind, (shape, filled) in looks.items():
        alike = [mark for mark in marks if mark["kind"] == kind]
        if alike:
            layers.append(
                plot(alike)
                .mark_point(
                    shape=shape,
                    filled=filled,
                    size=180 if kind == "chosen" else 90,
                    opacity=1,
                    color=NEUTRAL if kind == "original" else TARGETS[0][0],
                )
                .encode(x=x, y=y)
            )
    ordered = [labels[id(row)] for row in comparison.rows]
    beside = labels_beside(_spots(comparison, panel), ordered)
    places = dict(zip(ordered, beside or [_PLACES[0]] * len(ordered), strict=True))
    for mark in marks:
        dx, dy, align = places[str(mark["name"])]
        layers.append(
            plot([mark])
            .mark_text(align=align, baseline="middle", dx=dx, dy=dy, fontSize=12)
            .encode(x=x, y=y, text="name:N")
        )
    return vega.layer(*layers).properties(
        width=300, height=HEIGHT, title=vega.Title(panel.title, fontSize=13, fontWeight="normal")
    )


def _undominated(
    releases: Sequence[ComparedRelease], risk: Callable[[ComparedRelease], Fraction]
) -> Iterator[ComparedRelease]:
    """Yield the versions, the most detailed first, of which none before has as little risk."""
    least: Fraction | None = None
    for row in releases:
        if least is None or risk(row) < least:
            least = risk(row)
            yield row


def labels_beside(
    spots: Sequence[tuple[float, float]], names: Sequence[str]
) -> list[tuple[int, int, Align]]:
    """Return where the name of each mark stands: how far to the right of it and below it, and how it is aligned.

    No two names overlap, nor a name and a mark, also on a narrow screen; on a wide one marks are farther apart. Nothing
    is returned where there is no room for that near the marks.

    >>> labels_beside([(0, 100), (4, 100)], ["k = 2", "k = 5"])
    [(8, -25, 'left'), (8, 12, 'left')]
    """
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in spots]
    placed = []
    for (x, y), name in zip(spots, names, strict=True):
        width = LETTER * len(name)
        best = None
        for dx, dy, align in _PLACES:
            left = (
                x + dx if align == "left" else x + dx - width if align == "right" else x - width / 2
            )
            box = (left, y + dy - LINE / 2, left + width, y + dy + LINE / 2)
            inside = box[0] >= 0 and box[2] <= WIDTH + 30 and box[1] >= -10 and box[3] <= HEIGHT
            if inside and not any(_overlap(box, other) for other in taken):
                best = (dx, dy, align, box)
                break
        if best is None:
            return []
        placed.append(best[:3])
        taken.append(best[3])
    return placed


_SIDES: tuple[tuple[int, Align], ...] = ((8, "left"), (-8, "right"), (0, "center"))
_PLACES: tuple[tuple[int, int, Align], ...] = tuple(
    (dx, dy, align)
    for dy in (-11, 12, 0, -25, 26)
    for dx, align in _SIDES
    if dy or align != "center"
)


def _overlap(
    first: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return (
        first[0] < other[2] and other[0] < first[2] and first[1] < other[3] and other[1] < first[3]
    )
