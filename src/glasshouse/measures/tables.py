"""What published tables give away together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glasshouse.measures.measurement import Measurement
from glasshouse.tabulation import TablesOutcome


def measured(outcome: TablesOutcome) -> Iterator[Measurement]:
    """Yield how many people have a rare combination that is certain; where that is not proved, it may be all."""
    if outcome.status == "infeasible" or not outcome.records:
        return
    is_proved = outcome.bounds.certain == "proved"
    share = Fraction(outcome.rare_persons, outcome.records) if is_proved else Fraction(1)
    yield Measurement("placed", min(share, Fraction(1)), is_bound=not is_proved)


def figures(outcome: TablesOutcome) -> dict[str, float | None]:
    """Return the main figures: who is certain by all tables, by the best one, and with a rare combination."""
    if outcome.status == "infeasible":
        return {}
    return {
        "certain": outcome.bounds.certain_persons,
        "rare": outcome.rare_persons,
        "one_table": outcome.best_alone,
        "possible": len(outcome.bounds.present),
    }
