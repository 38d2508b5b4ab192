"""What published tables give away together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glasshouse.measures.measurement import Measurement
from glasshouse.study.policy import NOTHING_UNSEEN
from glasshouse.tabulation import TablesOutcome, TableWeight

_DENOMINATORS = 10**12
"""What doubles tell is told as a fraction with a denominator up to this."""


def measured(outcome: TablesOutcome) -> Iterator[Measurement]:
    """Yield how many people have a rare combination that is certain, and how many a secret that is.

    Where that is not proved, it may be all; so may those whom noise does not protect, where it is too much to tell.
    An attribute that nobody called known or sensitive was not looked at.
    """
    if outcome.status == "infeasible" or not outcome.records:
        return
    is_proved = outcome.bounds.certain == "proved"
    share = Fraction(outcome.rare_persons, outcome.records) if is_proved else Fraction(1)
    yield Measurement("placed", min(share, Fraction(1)), is_bound=not is_proved)
    yield Measurement(NOTHING_UNSEEN.measure, Fraction(len(outcome.unseen)))
    if outcome.noise is not None:
        is_whole = outcome.noise.is_whole
        convinced = Fraction(outcome.noise.worst.convinced).limit_denominator(_DENOMINATORS)
        yield Measurement("noise", convinced if is_whole else Fraction(1), is_bound=not is_whole)
    is_proved = outcome.bounds.possible == "proved"
    for secret in outcome.secrets:
        most = min(secret.certain_at_most, outcome.records) if is_proved else outcome.records
        yield Measurement(
            "inference-certain",
            Fraction(most, outcome.records),
            of=secret.attribute,
            is_bound=not is_proved or most > secret.certain,
        )


def measured_without(outcome: TablesOutcome, table: TableWeight) -> Iterator[Measurement]:
    """Yield what all tables but one measure, where there is no noise: nobody with a rare combination is certain then.

    Of a secret it may be everybody where that was not found out.
    """
    yield Measurement("placed", Fraction(not table.frees), is_bound=not table.frees)
    yield Measurement(NOTHING_UNSEEN.measure, Fraction(len(outcome.unseen)))
    for secret in outcome.secrets:
        most = min(table.secrets.get(secret.attribute, outcome.records), outcome.records)
        share = Fraction(most, outcome.records)
        yield Measurement(
            "inference-certain",
            share,
            of=secret.attribute,
            is_bound=secret.attribute not in table.secrets,
        )


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
