"""Influence against the obvious: subsets by dictionaries, minimality by all pairs, Shapley values by all orders."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.microdata import Sweep, sweep
from glasshouse.microdata.influence import (
    MinimalSubsets,
    best_subsets,
    minimal_subsets,
    shapley_values,
    without_each,
)
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Row = tuple[int, ...]
Subset = tuple[str, ...]

TABLES = st.tuples(st.integers(1, 4), st.integers(0, 2), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        st.just(shape[0]),
        st.lists(
            st.tuples(*[st.integers(0, shape[2] - 1)] * sum(shape[:2])), min_size=1, max_size=12
        ),
    )
)
"""The number of quasi-identifiers, and records of these and of the secrets."""
RISKS = st.one_of(
    st.fractions(0, 1, max_denominator=12), st.floats(0, 1), st.sampled_from([0, 1, 0.1, 0.3])
)


class Twin:
    """What the adversary achieves with each subset, the empty one too, counted with dictionaries."""

    def __init__(self, rows: list[Row], attributes: int) -> None:
        self.names = [f"q{i}" for i in range(attributes)]
        self.secrets = [f"s{i}" for i in range(len(rows[0]) - attributes)]
        self.rows = [dict(zip([*self.names, *self.secrets], row, strict=True)) for row in rows]
        self.subsets: list[Subset] = [
            chosen for size in range(attributes + 1) for chosen in combinations(self.names, size)
        ]
        """In the order of a sweep, after the empty one."""
        self.targets: list[str | None] = [None, *self.secrets]
        self._known: dict[tuple[Subset, str | None], tuple[Fraction, int]] = {
            (subset, target): self._count(subset, target)
            for subset in self.subsets
            for target in self.targets
        }

    def _count(self, subset: Subset, target: str | None) -> tuple[Fraction, int]:
        classes: dict[Row, Counter[int]] = {}
        for number, row in enumerate(self.rows):
            secret = number if target is None else row[target]
            classes.setdefault(tuple(row[name] for name in subset), Counter())[secret] += 1
        right = sum(max(counts.values()) for counts in classes.values())
        certain = sum(counts.total() for counts in classes.values() if len(counts) == 1)
        return Fraction(right, len(self.rows)), certain

    def posterior(self, subset: Subset, target: str | None) -> Fraction:
        return self._known[subset, target][0]

    def certain(self, subset: Subset, target: str | None) -> int:
        return self._known[subset, target][1]

    def sweep(self, subsets: Any = "all") -> Sweep:
        return sweep(self.table(), subsets=subsets, threads=1)

    def table(self) -> EncodedTable:
        return read(
            pa.Table.from_pylist(self.rows), quasi_identifiers=self.names, sensitive=self.secrets
        )


@settings(max_examples=examples(40))
@given(TABLES, st.booleans())
def test_the_best_subset_of_each_size_is_the_first_with_the_highest_posterior(
    drawn: tuple[int, list[Row]], limited: bool
) -> None:
    attributes, rows = drawn
    twin = Twin(rows, attributes)
    best = iter(best_subsets(twin.sweep("max:2" if limited else "all")).subsets)
    for target in twin.targets:
        for size in range(1, min(attributes, 2 if limited else attributes) + 1):
            expected = max(
                combinations(twin.names, size),
                key=lambda subset: twin.posterior(subset, target),
            )
            own = next(best)
            assert (own.sensitive, own.quasi_identifiers) == (target, expected)
            assert own.leakage.prior == twin.posterior((), target)
            assert own.leakage.posterior == twin.posterior(expected, target)
            assert own.certain == twin.certain(expected, target)
    assert next(best, None) is None


@settings(max_examples=examples(40))
@given(TABLES)
def test_removing_an_attribute_gives_the_subset_without_it_and_never_helps_her(
    drawn: tuple[int, list[Row]],
) -> None:
    attributes, rows = drawn
    twin = Twin(rows, attributes)
    outcome = without_each(twin.sweep())
    whole = tuple(twin.names)
    removals = iter(outcome.removals)
    assert [each.sensitive for each in outcome.whole] == twin.targets
    for before in outcome.whole:
        target = before.sensitive
        assert before.quasi_identifiers == whole
        assert before.leakage.posterior == twin.posterior(whole, target)
        assert before.certain == twin.certain(whole, target)
        for name in whole:
            left = tuple(other for other in whole if other != name)
            own = next(removals)
            assert (own.sensitive, own.removed) == (target, name)
            assert own.posterior == twin.posterior(left, target)
            assert own.certain == twin.certain(left, target)
            assert own.posterior + own.drop == before.leakage.posterior
            assert own.certain + own.certain_drop == before.certain
            assert own.drop >= 0
            assert own.certain_drop >= 0
    assert next(removals, None) is None


@settings(max_examples=examples(80))
@given(TABLES, RISKS, st.booleans(), st.integers(0, 2), st.data())
def test_minimal_subsets_reach_the_risk_and_no_proper_subset_does(
    drawn: tuple[int, list[Row]], risk: Any, certain: bool, number: int, data: st.DataObject
) -> None:
    attributes, rows = drawn
    twin = Twin(rows, attributes)
    target = twin.targets[number % len(twin.targets)]
    subsets = data.draw(
        st.one_of(
            st.just("all"),
            st.integers(1, 4).map("max:{}".format),
            st.lists(st.sampled_from(twin.subsets[1:]), min_size=1, max_size=6),
        )
    )
    if subsets == "all":
        held = twin.subsets
    elif isinstance(subsets, str):
        held = [subset for subset in twin.subsets if len(subset) <= int(subsets[4:])]
    else:
        held = [subset for subset in twin.subsets if subset in subsets or not subset]

    def reaches(subset: Subset) -> bool:
        share = Fraction(twin.certain(subset, target), len(rows))
        exact = risk if isinstance(risk, Fraction) else Fraction(str(risk))
        return (share if certain else twin.posterior(subset, target)) >= exact

    expected = [
        subset
        for subset in held
        if reaches(subset)
        and not any(set(other) < set(subset) and reaches(other) for other in held)
    ]
    outcome = minimal_subsets(twin.sweep(subsets), risk=risk, sensitive=target, certain=certain)
    assert [each.quasi_identifiers for each in outcome.subsets] == expected
    for each in outcome.subsets:
        assert each.leakage.posterior == twin.posterior(each.quasi_identifiers, target)
        assert each.leakage.prior == twin.posterior((), target)
        assert each.certain == twin.certain(each.quasi_identifiers, target)
    assert outcome.among_all == (len(held) == len(twin.subsets))
    assert (outcome.sensitive, outcome.by_certainty) == (target, certain)


@settings(max_examples=examples(40))
@given(TABLES)
def test_shapley_values_are_what_attributes_add_on_average_over_all_orders(
    drawn: tuple[int, list[Row]],
) -> None:
    attributes, rows = drawn
    twin = Twin(rows, attributes)
    values = iter(shapley_values(twin.sweep()).values)
    orders = list(permutations(twin.names))
    for target in twin.targets:
        total = twin.posterior(tuple(twin.names), target) - twin.posterior((), target)
        shared = Fraction(0)
        for name in twin.names:
            added = Fraction(0)
            for order in orders:
                before = tuple(sorted(order[: order.index(name)]))
                after = tuple(sorted((*before, name)))
                added += twin.posterior(after, target) - twin.posterior(before, target)
            own = next(values)
            assert (own.sensitive, own.quasi_identifier) == (target, name)
            assert own.value == added / len(orders)
            assert own.share == (own.value / total if total else None)
            shared += own.value
        assert shared == total
    assert next(values, None) is None


@settings(max_examples=examples(25))
@given(TABLES)
def test_a_constant_attribute_gets_nothing_and_copies_get_the_same(
    drawn: tuple[int, list[Row]],
) -> None:
    attributes, rows = drawn
    extended = [(7, row[0], *row) for row in rows]
    twin = Twin(extended, attributes + 2)
    outcome = {
        (each.sensitive, each.quasi_identifier): each.value
        for each in shapley_values(twin.sweep()).values
    }
    removed = {
        (each.sensitive, each.removed): each.drop for each in without_each(twin.sweep()).removals
    }
    for target in twin.targets:
        assert outcome[target, "q0"] == removed[target, "q0"] == 0
        assert outcome[target, "q1"] == outcome[target, "q2"]
        assert removed[target, "q1"] == removed[target, "q2"] == 0
        assert all(outcome[target, name] >= 0 for name in twin.names)


@pytest.fixture(scope="module")
def wide() -> Sweep:
    """Thirteen quasi-identifiers: 8,191 subsets."""
    generator = np.random.default_rng(6)
    values = (generator.random((400, 15)) ** 2 * np.array([2, 3, 4] * 5)).astype(int)
    names = [f"q{i}" for i in range(13)]
    columns = dict(zip([*names, "s0", "s1"], values.T, strict=True))
    return sweep(read(pa.table(columns), quasi_identifiers=names, sensitive=["s0", "s1"]))


def test_shapley_values_of_thirteen_attributes_sum_to_the_whole_leakage(wide: Sweep) -> None:
    assert len(wide.masks) == 8_191
    values = shapley_values(wide).values
    for whole in without_each(wide).whole:
        own = [each.value for each in values if each.sensitive == whole.sensitive]
        assert len(own) == 13
        assert sum(own) == whole.leakage.additive


@pytest.mark.parametrize("certain", [False, True])
def test_minimal_subsets_of_thirteen_attributes_are_an_antichain_below_all_that_reach(
    wide: Sweep, certain: bool
) -> None:
    risk = Fraction(2, 5)
    outcome = minimal_subsets(wide, risk=risk, certain=certain)
    minimal = [sum(1 << wide.quasi_identifiers.index(name) for name in each.quasi_identifiers)
               for each in outcome.subsets]  # fmt: skip
    assert len(minimal) > 1
    counts = wide.uniques if certain else wide.classes.sum(axis=1)
    for mask, count in zip(wide.masks.tolist(), counts.tolist(), strict=True):
        below = [each for each in minimal if each & mask == each]
        assert bool(below) == (Fraction(count, wide.records) >= risk)
        assert mask not in minimal or below == [mask]


def test_in_a_list_a_subset_is_minimal_among_those_listed() -> None:
    """q0 alone tells all apart: it rules out the set of four, although none of the sets between them is listed."""
    twin = Twin([(0, 0, 0, 0), (1, 0, 1, 0), (2, 1, 0, 0), (3, 1, 1, 0)], 4)
    listed = [["q0"], ["q1", "q2"], ["q3"], ["q0", "q2", "q3"], ["q1", "q2", "q3"], twin.names]
    outcome = minimal_subsets(twin.sweep(listed), risk=1)
    assert [each.quasi_identifiers for each in outcome.subsets] == [("q0",), ("q1", "q2")]
    assert not outcome.among_all
    outcome = minimal_subsets(twin.sweep(listed[3:]), risk=1)
    assert [each.quasi_identifiers for each in outcome.subsets] == [
        ("q0", "q2", "q3"),
        ("q1", "q2", "q3"),
    ]


def test_a_decimal_risk_means_what_it_says() -> None:
    """As a binary float 0.3 is less, and 0.1 more, than the decimal number; three in ten reach 0.3 and not 0.31."""
    rows: list[Row] = [(i % 3, 0) for i in range(10)]
    swept = Twin(rows, 2).sweep()
    for risk in (0.3, Fraction(3, 10)):
        assert [each.quasi_identifiers for each in minimal_subsets(swept, risk=risk).subsets] == [
            ("q0",)
        ]
    assert minimal_subsets(swept, risk=0.1).subsets[0].quasi_identifiers == ()
    assert minimal_subsets(swept, risk=0.31).subsets == ()


def test_the_frames_hold_floats_of_the_fractions() -> None:
    swept = Twin([(0, 0, 0), (1, 0, 1), (2, 0, 1), (2, 1, 1)], 2).sweep()
    assert best_subsets(swept).to_frame().to_pylist()[1] == {
        "attack": "CRS",
        "sensitive": None,
        "size": 2,
        "quasi_identifiers": ["q0", "q1"],
        "prior": 0.25,
        "posterior": 1.0,
        "additive": 0.75,
        "certain": 4,
    }
    assert without_each(swept).to_frame().to_pylist()[3] == {
        "attack": "CAS",
        "sensitive": "s0",
        "removed": "q1",
        "posterior": 1.0,
        "drop": 0.0,
        "certain": 4,
        "certain_drop": 0,
    }
    assert shapley_values(swept).to_frame().to_pylist()[1:3] == [
        {"attack": "CRS", "sensitive": None, "quasi_identifier": "q1", "value": 0.25, "share": 1 / 3},
        {"attack": "CAS", "sensitive": "s0", "quasi_identifier": "q0", "value": 0.25, "share": 1.0},
    ]  # fmt: skip
    frame = minimal_subsets(swept, risk=1, sensitive="s0").to_frame()
    assert frame.column("quasi_identifiers").to_pylist() == [["q0"]]


def test_where_nothing_leaks_the_shares_are_null_and_frames_keep_their_columns() -> None:
    swept = Twin([(0, 0), (0, 0)], 1).sweep()
    assert shapley_values(swept).to_frame().column("share").to_pylist() == [None, None]
    empty = minimal_subsets(swept, risk=1)
    assert isinstance(empty, MinimalSubsets)
    assert empty.to_frame().num_rows == 0
    assert empty.to_frame().column_names == best_subsets(swept).to_frame().column_names


@pytest.mark.parametrize("subsets", ["max:2", [["q0", "q1", "q2"], ["q1", "q2"]]])
def test_shapley_values_and_removals_need_the_subsets(subsets: Any) -> None:
    swept = Twin([(0, 1, 2), (1, 1, 2)], 3).sweep(subsets)
    with pytest.raises(
        StudyError, match=r"Shapley values need every subset .* of 7 subsets: sweep"
    ):
        shapley_values(swept)
    with pytest.raises(StudyError, match=r"needs the whole set of .* of 7 subsets: sweep all"):
        without_each(swept)


def test_removals_are_answered_from_a_list_that_has_what_they_need() -> None:
    twin = Twin([(0, 1, 2), (1, 1, 2), (1, 0, 2)], 3)
    listed = twin.sweep([["q0", "q1", "q2"], ["q1", "q2"], ["q0", "q2"], ["q0", "q1"]])
    assert without_each(listed) == without_each(twin.sweep())


@pytest.mark.parametrize("risk", [-0.1, 1.5, 2, Fraction(-1, 3), float("nan"), float("inf")])
def test_a_risk_is_a_probability(risk: Any) -> None:
    with pytest.raises(
        StudyError, match=r"^risk \S+ is not a probability; give a number from 0 to"
    ):
        minimal_subsets(Twin([(0, 1)], 2).sweep(), risk=risk)


def test_an_unknown_secret_is_named() -> None:
    with pytest.raises(StudyError, match=r'secret "S0" is not in the sweep of .*did you mean "s0"'):
        minimal_subsets(Twin([(0, 1, 2)], 2).sweep(), risk=1, sensitive="S0")
    with pytest.raises(StudyError, match=r'secret "s0" is not in the sweep of .*; it has none'):
        minimal_subsets(Twin([(0, 1)], 2).sweep(), risk=1, sensitive="s0")


@pytest.mark.parametrize("seed", range(examples(300, one_of=10)))
def test_with_weights_certainty_is_of_records_that_can_be_the_target_s(seed: int) -> None:
    """Against classes of records of positive weight, counted and weighed one by one."""
    random = np.random.default_rng(seed)
    records = int(random.integers(1, 9))
    columns = {name: random.integers(0, 3, records).tolist() for name in ("q", "r", "s")}
    weights = random.integers(0, 3, records)
    weights[int(random.integers(records))] = 2
    table = read(
        pa.table({**columns, "w": weights.tolist()}),
        quasi_identifiers=["q", "r"],
        sensitive=["s"],
        prior_weight="w",
    )
    swept = sweep(table, threads=1)

    def certain(subset: Subset, secret: str | None) -> tuple[int, int]:
        classes: dict[Row, dict[int, list[int]]] = {}
        for number in np.flatnonzero(weights).tolist():
            known = classes.setdefault(tuple(columns[name][number] for name in subset), {})
            known.setdefault(columns[secret][number] if secret else number, []).append(number)
        sure = [row for known in classes.values() if len(known) == 1 for (row,) in [known.values()]]
        members = [number for row in sure for number in row]
        return len(members), int(weights[members].sum())

    subsets: list[Subset] = [(), ("q",), ("r",), ("q", "r")]
    removals = without_each(swept)
    for secret in (None, "s"):
        (whole,) = (one for one in removals.whole if one.sensitive == secret)
        assert whole.certain == certain(("q", "r"), secret)[0]
        for removal in removals.removals:
            if removal.sensitive == secret:
                left = tuple(name for name in ("q", "r") if name != removal.removed)
                assert removal.certain == certain(left, secret)[0]
                assert removal.certain_drop == whole.certain - removal.certain
        for risk in (Fraction(1, 4), Fraction(1, 2), Fraction(1)):
            least = risk * int(weights.sum())
            reaching = [one for one in subsets if certain(one, secret)[1] >= least]
            expected = [
                one for one in reaching if not any(set(other) < set(one) for other in reaching)
            ]
            found = minimal_subsets(swept, risk=risk, sensitive=secret, certain=True).subsets
            assert [one.quasi_identifiers for one in found] == expected
            assert [one.certain for one in found] == [certain(one, secret)[0] for one in expected]
