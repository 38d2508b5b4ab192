"""The report of versions that meet a rule: which one to take, what happens to each column, and what it costs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from glasshouse.language import marked, percentage, text, text_for, translated
from glasshouse.measures.verdict import Verdict
from glasshouse.mitigation.versions import FAMILIES, ProtectedVersions, Version
from glasshouse.report.anonymise.front import absent, columns_gone, detail_meaning, metric_meaning
from glasshouse.report.compare.page import (
    Choice,
    column_change,
    columns_table,
    comparison_findings,
    comparison_page,
    lost_of,
    releases_table,
)
from glasshouse.report.page import (
    Action,
    Brief,
    Finding,
    Page,
    Provenance,
    Table,
    keep_assumptions,
    note,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks
from glasshouse.report.words import enumeration, joined, percentages, share
from glasshouse.study.protect import ProtectStudy


def page(
    outcome: ProtectedVersions,
    question: ProtectStudy,
    *,
    provenance: Provenance,
    verdict: Verdict | None = None,
) -> Page:
    """Return the report of versions that meet a rule."""
    spoken = _spoken(outcome)
    chosen = _choice(spoken, verdict)
    side_by_side = comparison_page(
        spoken.comparison,
        question,
        provenance=provenance,
        command="glasshouse protect --study study.toml",
        chosen=chosen,
        columns=_columns(spoken),
    )
    return replace(
        side_by_side,
        title=text("How the rule can be met"),
        summary=_recommendation(spoken),
        findings=(_changes(spoken), *_not_found(spoken), *side_by_side.findings),
        actions=_actions(spoken),
    )


def brief(
    outcome: ProtectedVersions, question: ProtectStudy, *, verdict: Verdict | None = None
) -> Brief:
    """Return what a terminal says of versions that meet a rule."""
    spoken = _spoken(outcome)
    comparison = spoken.comparison
    blocks = (
        *treatment_blocks(comparison.steps, missing_notes(comparison.missing)),
        releases_table(comparison.rows),
        _columns(spoken),
    )
    findings = (
        note(_recommendation(spoken)),
        _changes(spoken),
        *_not_found(spoken),
        *comparison_findings(comparison, question, _choice(spoken, verdict)),
    )
    return Brief(blocks, findings)


def _spoken(outcome: ProtectedVersions) -> ProtectedVersions:
    """Return the versions under their names in the language that is spoken."""
    versions = tuple(
        replace(version, compared=replace(version.compared, name=translated(version.title)))
        for version in outcome.versions
    )
    releases = tuple(version.compared for version in versions)
    return replace(
        outcome, comparison=replace(outcome.comparison, releases=releases), versions=versions
    )


def _choice(outcome: ProtectedVersions, verdict: Verdict | None) -> Choice:
    return Choice(
        outcome.recommended.compared,
        verdict,
        sum(version.meets for version in outcome.versions),
    )


def _recommendation(outcome: ProtectedVersions) -> str:
    """Say which version to take, and why."""
    best = outcome.recommended
    gone = (absent(best.release), columns_gone(best.release))
    meeting = sum(version.meets for version in outcome.versions)
    least = min(one.compared.detail_lost for one in outcome.versions if one.meets == best.meets)
    lost, smallest = percentages(lost_of(best.compared), Fraction(least))
    if lost != smallest:
        taken = text(
            "Choose “{name}”: of the {meeting} versions found that meet the rule, it is the simplest to use among "
            "those that lose within a point of the least detail, {least}; it loses {lost}.",
            meeting=meeting,
            name=best.compared.name,
            lost=lost,
            least=smallest,
        )
    else:
        taken = text_for(
            meeting,
            "Choose “{name}”: it is the only version found that meets the rule; {lost} of the detail is lost.",
            "Choose “{name}”: of the {count} versions found that meet the rule, it loses the least detail, {lost}.",
            name=best.compared.name,
            lost=lost,
        )
    return " ".join(filter(None, (taken, detail_meaning(), *gone)))


def _changes(outcome: ProtectedVersions) -> Finding:
    """Say what happens to each column in the version to take, and to records."""
    best = outcome.recommended
    release = best.release
    became = {name: column_change(release, name) for name in release.quasi_identifiers}
    kept = [name for name, change in became.items() if change == text("as it is")]
    changed = "; ".join(
        text("{column}: {change}", column=enumeration([name]), change=change)
        for name, change in became.items()
        if name not in kept
    )
    part = share(release.suppressed, release.records)
    if release.drops and release.suppressed:
        removed = text_for(
            release.suppressed,
            "{count} record ({share}) is removed.",
            "{count} records ({share}) are removed.",
            share=part,
        )
    elif release.suppressed:
        removed = text_for(
            release.suppressed,
            "{count} record ({share}) is suppressed: it stays in the file, with “*” for all that could be known.",
            "{count} records ({share}) are suppressed: they stay in the file, with “*” for all that could be known.",
            share=part,
        )
    else:
        removed = absent(release) or text("Nobody’s record is removed.")
    words = {"name": best.compared.name, "changes": changed, "removed": removed}
    if not changed:
        sentence = text("“{name}” leaves all columns as they are. {removed}", **words)
    elif kept:
        sentence = text(
            "“{name}” – {changes}; as in the original: {kept}. {removed}",
            kept=enumeration(kept),
            **words,
        )
    else:
        sentence = text("“{name}” – {changes}. {removed}", **words)
    return note(sentence, figure=_proof(best), meaning=_family_meaning(best))


_MEANINGS = {
    "alike": marked(
        "Every value is generalised alike in all records, so tables can be made as from the original."
    ),
    "few-removed": marked(
        "Every value is generalised alike in all records but those that stood out most: they are not in the "
        "file, so totals miss them."
    ),
    "few-blanked": marked(
        "Every value is generalised alike in all records but those that stood out most: they are in the file with “*” "
        "for all that could be known, as a group of their own."
    ),
    "left-out": marked(
        "The columns that stay are as in the original; the others are not published."
    ),
    "local": marked(
        "A value is shown in full where many people share it and coarsely where few do, so tables must cope "
        "with values of different detail in one column."
    ),
    "cells": marked(
        "Single cells are blank, more often those of people who stand out, so tables must cope with values "
        "that are missing, and not at random."
    ),
    "anatomy": marked(
        "All columns are as in the original, but which sensitive value belongs to whom is shown for groups "
        "only."
    ),
}


def _family_meaning(version: Version) -> str:
    return translated(_MEANINGS["few-blanked" if version.is_blanked else version.family])


def _proof(version: Version) -> str:
    """Say what is proved of a version: that it loses least of its kind, or nothing."""
    release = version.release
    if release.optimal:
        proof = text(
            "It is proved that no other version of this kind meets the rule with a smaller Loss metric ({loss}).",
            loss=percentage(Fraction(release.loss or 0)),
        )
        return f"{proof} {metric_meaning()}"
    if release.bound is not None:
        proof = text(
            "Time ran out: the Loss metric is {loss}, and it is proved that every version of this kind has at least "
            "{bound}.",
            loss=percentage(Fraction(release.loss or 0)),
            bound=percentage(Fraction(release.bound)),
        )
        return f"{proof} {metric_meaning()}"
    return text("It is a good version of its kind; it is not proved that there is none better.")


def _columns(outcome: ProtectedVersions) -> Table:
    """Return what happens to each column in every version, whether it meets the rule, and whether another beats it."""
    versions = outcome.versions
    rows = {
        text("meets the rule"): [version.meets for version in versions],
        text("beaten by another"): [outcome.is_beaten(version) for version in versions],
    }
    return columns_table(
        {version.compared.name: version.release for version in versions},
        [
            (title, *(text("yes") if so else text("no") for so in row))
            for title, row in rows.items()
        ],
    )


def _not_found(outcome: ProtectedVersions) -> tuple[Finding, ...]:
    """Say which families have no version."""
    if not outcome.without:
        return ()
    names = joined(
        [text("“{name}”", name=translated(FAMILIES[family])) for family in outcome.without]
    )
    return (
        note(
            text("No version of these kinds was found that meets the rule: {names}.", names=names),
            figure=" ".join(outcome.without.values()),
        ),
    )


def _actions(outcome: ProtectedVersions) -> tuple[Action, ...]:
    """Return what to do: the version to take, or the one that protects more for what it costs."""
    best = outcome.recommended
    chances = [
        one.naming.probabilistic.posterior for one in (outcome.comparison.original, best.compared)
    ]
    actions = [
        Action(
            text(
                "Give out “{name}” alone, without the original or a second version: it is in versions/{family}.",
                name=best.compared.name,
                family=best.family,
            ),
            text("Correct identifications: {change}.", change=" → ".join(percentages(*chances))),
            best.meets,
        )
    ]
    knee = outcome.comparison.by_trade[0]
    if knee.name != best.compared.name and knee.risk < best.compared.risk:
        risk, other = percentages(best.compared.risk, knee.risk)
        actions.append(
            Action(
                text(
                    "For more protection, “{name}” is the best trade-off between risk and detail.",
                    name=knee.name,
                ),
                text(
                    "Average risk: {change}; detail lost: {lost}.",
                    change=f"{risk} → {other}",
                    lost=" → ".join(percentages(lost_of(best.compared), lost_of(knee))),
                ),
                next(one.meets for one in outcome.versions if one.compared.name == knee.name),
            )
        )
    return (*actions, keep_assumptions())
