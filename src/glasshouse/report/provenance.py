"""How the figures of a report can be had again."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.language import number, text, translated
from glasshouse.report.cells import text_table
from glasshouse.report.page import Provenance, Section, Table
from glasshouse.table.treatment import Step


def instructions(provenance: Provenance) -> tuple[str, ...]:
    """Return how to repeat the figures; the command follows the first sentence, the study all of them."""
    version = provenance.version
    if not provenance.study:
        return (text("Run this command with Glasshouse {version}:", version=version),)
    if not provenance.abridged and not provenance.seed_withheld:
        return (
            text(
                "Save this as study.toml and run this command with Glasshouse {version}:",
                version=version,
            ),
        )
    return (
        text(
            "Run this command with Glasshouse {version} and the study.toml of the run:",
            version=version,
        ),
        _left_out(provenance),
    )


def _left_out(provenance: Provenance) -> str:
    """Say what the study lacks here, of what the run has."""
    if not provenance.seed_withheld:
        return text("Here the study is without the values of the data that it names.")
    if not provenance.abridged:
        return text(
            "Here the study is without its seed, which may be that of the random choices that protect a release."
        )
    return text(
        "Here the study is without the values of the data that it names, and without its seed, which may be that of "
        "the random choices that protect a release."
    )


def treatment_section(treatment: Sequence[Step], notes: Sequence[str] = ()) -> Section | None:
    """Return which records were left out beforehand, and why."""
    if not treatment and not notes:
        return None
    title = text("What was done to the data")
    steps = [step for step in treatment if not _says_the_same_again(step, treatment)]
    if not steps:
        return Section(title, notes=tuple(notes))
    intro = text("Records that were left out before the attack.")
    if any(step.column is None for step in steps):
        intro += " " + text(
            "Where they are left out for what they have in one of several columns, each column is counted by itself, "
            "and then all together."
        )
    table = text_table(
        "",
        (text("Dataset"), text("Left out for"), text("Column")),
        (text("Records before"), text("Left out"), text("Records after")),
        [
            (
                step.dataset,
                translated(step.what),
                text("in all") if step.column is None else step.column,
                *map(number, (step.before, step.left_out, step.after)),
            )
            for step in steps
        ],
    )
    return Section(title, intro, (table,), tuple(notes))


def _says_the_same_again(step: Step, treatment: Sequence[Step]) -> bool:
    """Tell whether a step sums up a single column, which has been told already."""
    alike = [s for s in treatment if (s.dataset, s.what) == (step.dataset, step.what)]
    return step.column is None and len(alike) == 2


def treatment_blocks(steps: Sequence[Step], notes: Sequence[str] = ()) -> tuple[str | Table, ...]:
    """Return what was done to the data before it was attacked, for a terminal."""
    notices = ("\n".join(notes),) if notes else ()
    if not steps:
        return notices
    rows = [
        (
            step.dataset,
            text("{what}, in all", what=translated(step.what))
            if step.column is None
            else f"{translated(step.what)}: {step.column}",
            *map(number, (step.before, step.left_out, step.after)),
        )
        for step in steps
    ]
    table = text_table(
        text("What was left out of the data"),
        (text("dataset"), text("records with")),
        (text("before"), text("left out"), text("kept")),
        rows,
    )
    return (table, *notices)
