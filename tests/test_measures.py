"""What was not proved, or not solved, is never measured as safe."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from glasshouse.measures import tables
from glasshouse.study.policy import POLICIES, PolicyCondition, ReleasePolicy, promised


def of_tables(*, is_proved: bool, certain: int, at_most: int) -> dict[str, tuple[Fraction, bool]]:
    """Return the measurements of tables of ten people, and whether each is a bound."""
    proved = "proved" if is_proved else "limit"
    secret = SimpleNamespace(attribute="ill", certain=certain, certain_at_most=at_most)
    outcome: Any = SimpleNamespace(
        status="optimal",
        records=10,
        rare_persons=1,
        bounds=SimpleNamespace(certain=proved, possible=proved),
        unseen=(),
        noise=None,
        secrets=(secret,),
    )
    return {one.measure: (one.value, one.is_bound) for one in tables.measured(outcome)}


def test_what_was_not_proved_of_tables_may_be_so_of_everybody() -> None:
    known = of_tables(is_proved=True, certain=2, at_most=2)
    assert (known["placed"], known["inference-certain"]) == (
        (Fraction(1, 10), False),
        (Fraction(2, 10), False),
    )
    between = of_tables(is_proved=True, certain=2, at_most=3)
    assert between["inference-certain"] == (Fraction(3, 10), True)
    for certain in (2, 10):
        unknown = of_tables(is_proved=False, certain=certain, at_most=certain)
        assert unknown["placed"] == unknown["inference-certain"] == (Fraction(1), True)


def test_that_nobody_is_named_is_promised_by_classes_of_two() -> None:
    nobody = PolicyCondition(measure="named", at_most=0)
    assert promised(ReleasePolicy(name="own", conditions=(nobody,))) == {"highest_risk": 0.75}
    some = PolicyCondition(measure="named", at_most=0.01)
    assert promised(ReleasePolicy(name="own", conditions=(some,))) == {}
    assert (nobody.people_needed, some.people_needed) == (2, 2)


def test_the_rule_of_acro_asks_for_none_of_what_it_counts() -> None:
    limits = {one.measure: one.limit for one in POLICIES["acro"].conditions}
    assert {limits[name] for name in ("few-degrees", "small-counts", "recovered-counts")} == {0}
