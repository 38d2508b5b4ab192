"""What an output gives away after those that went out before."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glasshouse.measures.measurement import Measurement
from glasshouse.tabulation import RecordChecks, Succession


def measured(
    outcome: Succession, *, left_out: int = 0, records: RecordChecks | None = None
) -> Iterator[Measurement]:
    """Yield how many people become certain, and how many counts become known.

    Where that is not proved, the outputs contradict each other, or something was left out, it may be everybody.
    """
    is_open = outcome.undecided or outcome.contradiction is not None or left_out > 0
    people = max(outcome.records, 1) if is_open else outcome.new_rare
    yield Measurement("newly-certain", Fraction(people), is_bound=is_open)
    yield Measurement("recovered-counts", Fraction(outcome.recovered_cells))
    yield Measurement("small-counts", Fraction(outcome.small_cells))
    if records is not None:
        yield Measurement("below-threshold", Fraction(records.below_threshold))
        yield Measurement("empty-counts", Fraction(records.empty))
        yield Measurement("one-class", Fraction(records.one_class))
        yield Measurement("dominated", Fraction(records.dominated))
        yield Measurement("estimable", Fraction(records.estimable))
