"""How the figures of a report can be had again."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from glasshouse.disclosure import is_shown
from glasshouse.language import date, marked, number, text, text_for, translated
from glasshouse.report.cells import cell_table
from glasshouse.report.discretion import Discretion
from glasshouse.report.labels import column_label
from glasshouse.report.page import Provenance, Section, Table
from glasshouse.report.words import enumeration, joined, sentences
from glasshouse.views import prefix

if TYPE_CHECKING:
    from glasshouse.table.encoded import ColumnView
    from glasshouse.table.treatment import Step


def instructions(provenance: Provenance) -> tuple[str, ...]:
    """Return how to repeat the figures; the command follows the first sentence, the study all of them."""
    if not provenance.study:
        templates = [marked("Run this command with Glasshouse {version}:")]
    elif not provenance.abridged and not provenance.seed_withheld:
        templates = [
            marked("Save this as study.toml and run this command with Glasshouse {version}:")
        ]
    else:
        templates = [
            marked("Run this command with Glasshouse {version} and the study.toml of the run:"),
            LEFT_OUT[provenance.abridged, provenance.seed_withheld],
        ]
    return sentences(*templates, version=provenance.version)


def source_line(provenance: Provenance) -> str:
    """Return what stands below a picture: the data, what computed the figures, and when; nothing if data have no name.

    >>> source_line(Provenance("1.0", "", ("people.csv",), day="2026-01-31"))
    'Source: people.csv · Glasshouse 1.0 · 31 January 2026'
    """
    if not provenance.datasets:
        return ""
    names = list(provenance.datasets)
    if (rest := len(names) - MOST_SOURCES) > 0:
        names = [*names[:MOST_SOURCES], text_for(rest, "{count} further", "{count} further")]
    words = {"names": joined(names), "version": provenance.version}
    if not provenance.day:
        return text("Source: {names} · Glasshouse {version}", **words)
    return text(
        "Source: {names} · Glasshouse {version} · {day}", day=day_words(provenance.day), **words
    )


def day_words(day: str) -> str:
    """Return a day in full; what is none as it is."""
    try:
        return date(datetime.date.fromisoformat(day))
    except ValueError:
        return day


MOST_SOURCES = 3
"""So many datasets are named below a picture."""
LEFT_OUT = {
    (True, False): marked("Here the study is without the values of the data that it names."),
    (False, True): marked(
        "Here the study is without its seed, which may be that of the random choices that protect a release."
    ),
    (True, True): marked(
        "Here the study is without the values of the data that it names, and without its seed, which may be that of "
        "the random choices that protect a release."
    ),
}
"""What the study lacks here of what the run has: values, or the seed."""


def missing_notes(missing: Mapping[str, int], *, exact: bool = False) -> list[str]:
    """Say of which secrets how many records were left out, because they are missing there.

    Args:
        missing: By secret, in how many records it is missing.
        exact: Whether a small number of records is told as it is: for the analyst's own eyes.
    """
    return [
        text(
            "In {records} the {secret} is missing. Missing values cannot be learned: what is said about {secret} "
            "covers the other records alone.",
            secret=enumeration([secret]),
            records=Discretion(exact).people(records, "record"),
        )
        for secret, records in missing.items()
    ]


def treatment_section(treatment: Sequence[Step], notes: Sequence[str] = ()) -> Section | None:
    """Return which records were left out beforehand, and why; and which columns are seen otherwise."""
    notes = (*view_notes(treatment), *notes)
    treatment = [step for step in treatment if step.view is None]
    if not treatment and not notes:
        return None
    title = text("What was done to the data")
    alike = Counter((step.dataset, step.what) for step in treatment)
    steps = [  # without the sum of a single column, which has been told already
        (step, counts)
        for step, counts in zip(treatment, _counts(treatment), strict=True)
        if step.column is not None or alike[step.dataset, step.what] != 2
    ]
    if not steps:
        return Section(title, notes=tuple(notes))
    intro = sentences(
        marked("Records that were left out before the attack."),
        any(step.column is None for step, _ in steps)
        and marked(
            "Where they are left out for what they have in one of several columns, each column is counted by itself, "
            "and then all together."
        ),
    )
    rows = [
        (
            step.dataset,
            translated(step.what),
            text("in all") if step.column is None else column_label(step.column),
            *counts,
        )
        for step, counts in steps
    ]
    table = cell_table(
        (text("Dataset"), text("Left out for"), text("Column")),
        (text("Records before"), text("Left out"), text("Records after")),
        rows,
    )
    return Section(title, " ".join(intro), (table,), tuple(notes))


def treatment_blocks(steps: Sequence[Step], notes: Sequence[str] = ()) -> tuple[str | Table, ...]:
    """Return what was done to the data before it was attacked, for a terminal."""
    notes = (*view_notes(steps), *notes)
    steps = [step for step in steps if step.view is None]
    notices = ("\n".join(notes),) if notes else ()
    if not steps:
        return notices
    rows = [
        (
            step.dataset,
            text("{what}, in all", what=translated(step.what))
            if step.column is None
            else f"{translated(step.what)}: {column_label(step.column)}",
            *counts,
        )
        for step, counts in zip(steps, _counts(steps), strict=True)
    ]
    table = cell_table(
        (text("dataset"), text("records with")),
        (text("before"), text("removed"), text("kept")),
        rows,
        text("What was left out of the data"),
    )
    return (table, *notices)


def of_those_left_out(what: str) -> Discretion:
    """Return how numbers of records are told that were left out for a reason: whether it is a value of people."""
    from glasshouse.table.treatment import ONE_EACH, SUPPRESSED_RECORD

    return Discretion(what in (ONE_EACH, SUPPRESSED_RECORD))


def _counts(steps: Sequence[Step]) -> list[tuple[str, str, str]]:
    """Return per step how many records there were before, how many were left out, and how many there are after.

    How many have an invalid value of a column, or none, is a count of people with particular values. Where it is small
    it is not told, nor how many records there were before, as how many are left is told. Where it is small in one of
    several columns it is told of none of them, but in all.
    """
    rows: list[tuple[str, str, str]] = []
    after_is_told: dict[str, bool] = {}
    hidden = text("not shown")
    for (dataset, what), alike in groupby(
        reversed(steps), key=lambda step: (step.dataset, step.what)
    ):
        same = list(alike)
        discretion = of_those_left_out(what)
        columns = [step.left_out for step in same if step.column is not None]
        after = after_is_told.get(dataset, True)
        before = after and not discretion.hides(same[0].left_out)
        for step in same:
            counted = discretion.count(step.left_out)
            stays = after
            if step.column is not None and len(columns) > 1:
                stays = before and all(map(is_shown, columns))
                counted = counted if all(map(is_shown, columns)) else hidden
            rows.append(
                (
                    number(step.before) if before else hidden,
                    counted,
                    number(step.after) if stays else hidden,
                )
            )
        after_is_told[dataset] = before
    return rows[::-1]


def view_notes(steps: Sequence[Step]) -> tuple[str, ...]:
    """Say how columns are seen, where that is not as they are written."""
    return tuple(_view_note(step.dataset, step.view) for step in steps if step.view is not None)


def _view_note(dataset: str, view: ColumnView) -> str:
    words = {"dataset": dataset, "column": view.column, "rule": view.rule}
    if view.word == "date":
        return text("{dataset}: “{column}” is read as dates written {rule}.", **words)
    if view.word == "derive":
        note = text("{dataset}: “{column}” is derived: {rule}.", **words)
        return " ".join([note, *sentences(view.negative and BELOW_ZERO)])
    if view.word == "group":
        return text_for(
            prefix(view.rule),
            "{dataset}: only the first character of “{column}” is used.",
            "{dataset}: only the first {count} characters of “{column}” are used.",
            **words,
        )
    words["cuts"] = joined(view.cuts or [cut.strip() for cut in view.rule.split(",")])
    note = (
        text(
            "{dataset}: “{column}” is grouped into bands of about equally many records, which begin at {cuts}.",
            **words,
        )
        if view.cuts
        else text("{dataset}: “{column}” is grouped into bands, which begin at {cuts}.", **words)
    )
    return " ".join([note, *sentences(view.in_doubt and THOUSANDS)])


BELOW_ZERO = marked("Years below 0 belong to dates after the one they are counted to.")
THOUSANDS = marked(
    "All its numbers are below 1000, and some have three decimals: if the sign before these separates "
    "thousands, they were read wrongly; say which sign does."
)
