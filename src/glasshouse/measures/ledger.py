"""What an output gives away after those that went out before."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glasshouse.measures.measurement import Measurement
from glasshouse.tabulation import RecordChecks, Succession


def measured(
    outcome: Succession,
    *,
    unchecked: int = 0,
    few_degrees: int | None = None,
    records: RecordChecks | None = None,
) -> Iterator[Measurement]:
    """Yield how many people become certain, and how many counts become known.

    Where that is not proved, or the outputs contradict each other, it may be everybody.

    Args:
        outcome: What follows.
        unchecked: How many parts of the output nothing was checked of.
        few_degrees: How many models have too few degrees of freedom; None: there are none.
        records: What the records behind it tell.
    """
    is_open = outcome.undecided or outcome.contradiction is not None
    people = max(outcome.records, 1) if is_open else outcome.new_rare
    yield Measurement("newly-certain", Fraction(people), is_bound=is_open)
    yield Measurement("recovered-counts", Fraction(outcome.recovered_cells))
    yield Measurement("small-counts", Fraction(outcome.small_cells))
    if unchecked:
        yield Measurement("parts-not-checked", Fraction(unchecked))
    if few_degrees is not None:
        yield Measurement("few-degrees", Fraction(few_degrees))
    if records is not None:
        yield Measurement("below-threshold", Fraction(records.below_threshold))
        yield Measurement("empty-counts", Fraction(records.empty))
        yield Measurement("one-class", Fraction(records.one_class))
        yield Measurement("dominated", Fraction(records.dominated))
        yield Measurement("estimable", Fraction(records.estimable))
