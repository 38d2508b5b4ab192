"""People: how risk is distributed, and who is at risk by value of a column, as the report tells it or exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from starlette.requests import Request
from starlette.responses import Response

from glasshouse.app.explore import definitions
from glasshouse.app.runs import changes, opened, pictures
from glasshouse.app.server import page
from glasshouse.app.sets import AssessedSets, sets_of
from glasshouse.disclosure import smallest_cell
from glasshouse.language import text
from glasshouse.microdata.attacks import Exposure
from glasshouse.report.assess.charts import class_sizes_figure, success_section
from glasshouse.report.assess.exposure import exposure_figure
from glasshouse.report.assess.family_charts import part_label
from glasshouse.report.attacks import knowledge
from glasshouse.report.cells import cell_table, count_cell, percent_cell
from glasshouse.report.labels import value_label
from glasshouse.report.page import Table
from glasshouse.report.words import enumeration


def people(request: Request) -> Response:
    """Show how many people are how much at risk, and who they are by value."""
    run = opened(request)
    sets = sets_of(run)
    is_exact = request.query_params.get("exact") == "1"
    with sets.labelled():
        subject = sets.study.subject
        whole = sets.whole
        chosen = _chosen(sets, request.query_params.get("column", ""), subject)
        alone = None if chosen is None else replace(sets.assessment, exposures=(chosen,))
        return page(
            request,
            "people.html",
            title=text("People"),
            run=run,
            here="people",
            changes=changes(request, run),
            known=knowledge(whole.naming),
            sizes=class_sizes_figure(whole.naming, sets.study.policy),
            success=success_section(whole.attacks),
            columns=[
                (place, enumeration([one.column]), one is chosen)
                for place, one in enumerate(sets.assessment.exposures)
            ],
            by_value=None if alone is None or is_exact else exposure_figure(alone, subject),
            counts=_exactly(chosen) if chosen is not None and is_exact else None,
            is_exact=is_exact,
            smallest=smallest_cell(),
            definitions=definitions(),
            command=run.page.command,
            pictures=pictures,
        )


def _chosen(sets: AssessedSets, written: str, subject: str) -> Exposure | None:
    """Return the column that is asked for, or else the first of which something is shown; None: there is none."""
    exposures = sets.assessment.exposures
    for one in exposures if not written else ():
        if exposure_figure(replace(sets.assessment, exposures=(one,)), subject):
            return one
    place = int(written) if written.isascii() and written.isdecimal() and len(written) < 6 else 0
    return exposures[place if place < len(exposures) else 0] if exposures else None


def _exactly(exposure: Exposure) -> Table:
    """Return how many people have each value, and how many of them can be named: for the analyst alone."""
    counts = [
        (value, records, named)
        for value, records, named in zip(
            exposure.values, exposure.records, exposure.named, strict=True
        )
        if records
    ]
    return cell_table(
        enumeration([exposure.column]),
        [text("People"), text("Can be identified outright"), text("Share")],
        [
            (
                part_label(value_label([exposure.column], value)),
                count_cell(records),
                count_cell(named),
                percent_cell(Fraction(named, records)),
            )
            for value, records, named in sorted(counts, key=lambda one: (-one[1], one[0]))
        ],
    )
