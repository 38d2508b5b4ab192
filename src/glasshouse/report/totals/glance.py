"""Results about published totals at a glance: one group of records and totals, and what its entities risk."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from glasshouse.language import text, text_for
from glasshouse.report.glance import bar_figure, glance, note
from glasshouse.report.grading import graded
from glasshouse.report.page import Figure, Finding, Page, Severity
from glasshouse.report.totals.charts import value_at_risk, value_at_risk_table
from glasshouse.report.totals.solutions import solution_sentences
from glasshouse.report.words import frequency, share
from glasshouse.totals import Solution, SolutionExposure


def solution_page(solution: Solution) -> Page:
    """Return where records can be, and what of it is proved."""
    first, *others = solution_sentences(solution, with_shares=False)
    records = len(solution.feasible_bins)
    known = solution.linked
    severity = (
        graded(Fraction(known, records), certain=True)
        if known
        else Severity.SAFE
        if solution.proved and solution.reason is None
        else Severity.NOTE
    )
    figures = [] if solution.status == "infeasible" else [_places(solution, first)]
    return glance([Finding(severity, first), *map(note, others)], figures)


def _places(solution: Solution, title: str) -> Figure | None:
    left = Counter(len(bins) for bins in solution.feasible_bins)
    return bar_figure(
        {
            text_for(places, "{count} place", "{count} places"): left[places]
            for places in sorted(left)
        },
        title=title,
        subtitle=text("records by how many places are left for them"),
        axis=text("number of records"),
    )


def exposure_page(exposure: SolutionExposure) -> Page:
    """Return how surely the entities behind transactions can be named."""
    counted = exposure.chances.get("bayes") is not None
    steps = exposure.phases("bayes" if counted else "uniform")
    first, last = steps[0], steps[-1]
    chance = Fraction(last.chance).limit_denominator(10**9)
    found = [
        Finding(
            graded(chance, certain=last.certain > 0),
            text(
                "The entity behind a transaction is guessed right for {after}; before the totals were known, for "
                "{before}.",
                after=frequency(chance),
                before=frequency(Fraction(first.chance).limit_denominator(10**9)),
            ),
        ),
        Finding(
            graded(Fraction(last.certain, last.packages), certain=True)
            if last.certain
            else Severity.SAFE,
            text_for(
                last.certain,
                "{count} of {packages} transactions ({share}) is named with certainty.",
                "{count} of {packages} transactions ({share}) are named with certainty.",
                packages=last.packages,
                share=share(last.certain, last.packages),
            )
            if last.certain
            else text("No transaction is named with certainty."),
        ),
    ]
    if not counted:
        found.append(
            note(
                text(
                    "Every place that is left was taken for equally likely: the allocations were not counted."
                )
            )
        )
    figure = Figure.of(
        value_at_risk(steps, None),
        label=text("Value at risk by what the adversary has"),
        caption="",
        table=value_at_risk_table(steps, None),
    )
    return glance(found, [figure] if first.value_at_risk > 0 else [])
