"""The solver against brute force, on every kind of window; never wrong; limits, determinism, faults."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from math import comb, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.progress import Progress
from glasshouse.reconstruction import (
    Instance,
    Solution,
    allocation_graph,
    instance,
    propagation,
    solve,
    solver,
    subsets,
)
from glasshouse.reconstruction.group_instance import STATUSES
from glasshouse.reconstruction.propagation import domains_of
from glasshouse.reconstruction.solver import prepare
from glasshouse.reconstruction.subsets import DONE, layout_of, meet
from glasshouse.reconstruction.system import (
    EFFORTS,
    Budget,
    ListEffort,
    Meter,
    Witnesses,
    system_of,
)
from glasshouse.reconstruction.walk import allocations_expected, walk
from tests.examples import examples
from tests.reconstruction.examples import (
    every_allocation,
    plain_instance,
    small_instances,
    trying_everything,
)


def check(solution: Solution, weights: tuple[int, ...]) -> None:
    """Compare a solution with all valid allocations, in fractions."""
    valid = every_allocation(solution.instance)
    packages, bins, _ = solution.instance.size
    feasible = tuple(tuple(sorted({a[p] for a in valid})) for p in range(packages))
    assert solution.proved
    assert solution.feasible_bins == feasible
    assert solution.allocations == len(valid)
    if not valid:
        assert solution.status == "infeasible"
        assert solution.reason is not None
        return
    assert solution.status == ("unique" if all(len(b) == 1 for b in feasible) else "ambiguous")
    assert solution.witness is not None
    assert tuple(solution.witness.tolist()) in valid
    worth = [prod(weights[b] for b in a) for a in valid]
    for package in range(packages):
        for bin_ in range(bins):
            inside = [w for a, w in zip(valid, worth, strict=True) if a[package] == bin_]
            assert solution.shares is not None
            assert solution.weighted_shares is not None
            assert solution.shares[package][bin_] == Fraction(len(inside), len(valid))
            assert solution.weighted_shares[package][bin_] == Fraction(sum(inside), sum(worth))


@given(small_instances())
@settings(max_examples=examples(150))
def test_windows_of_every_kind_against_brute_force(case: tuple[Instance, tuple[int, ...]]) -> None:
    made, _ = case
    assert made.entities is not None
    check(solve(made), tuple(e for e in made.entities if e is not None))


def published(
    rows: list[list[int]], truth: list[int], bins: int, model: str, excluded: set[int]
) -> list[list[int]]:
    """The totals in whole units that a publisher would release, of records in hundredths."""
    totals = [[0] * len(rows[0]) for _ in range(bins)]
    for package, (row, bin_) in enumerate(zip(rows, truth, strict=True)):
        if package not in excluded:
            for measure, value in enumerate(row):
                own = (value + 50) // 100 * 100 if model == "record" else value
                totals[bin_][measure] += own
    return [[(total + 50) // 100 for total in row] for row in totals]


def test_500_groups_the_truth_is_never_ruled_out_and_certainty_is_true() -> None:
    """Every rounding model, with and without records left out, up to ten records: all allocations are tried."""
    tried: Counter[tuple[str, bool]] = Counter()

    @given(st.data())
    @settings(max_examples=500)
    def one(data: st.DataObject) -> None:
        tried[never_wrong(data)] += 1

    one()
    assert tried.total() >= 500
    assert len(tried) == 6
    assert min(tried.values()) >= 20


def never_wrong(data: st.DataObject) -> tuple[str, bool]:
    """Make a group and check what is said of it; return its rounding model, and whether it may leave out records."""
    bins = data.draw(st.integers(1, 3))
    left_out = data.draw(st.booleans())
    number = data.draw(st.integers(1, {1: 10, 2: 10, 3: 10, 4: 8}[bins + left_out]))
    width = data.draw(st.integers(1, 2))
    largest = data.draw(st.sampled_from([300, 20_000, 1_000_000]))
    value = st.integers(0, largest)
    rows = data.draw(
        st.lists(st.lists(value, min_size=width, max_size=width), min_size=number, max_size=number)
    )
    truth = [data.draw(st.integers(0, bins - 1)) for _ in range(number)]
    made_by = data.draw(st.sampled_from(["sum", "record"]))
    model = data.draw(st.sampled_from([made_by, "unknown"]))
    excluded = data.draw(st.sets(st.integers(0, number - 1), max_size=2)) if left_out else set()
    totals = published(rows, truth, bins, made_by, excluded)
    made = instance(
        [[Fraction(v, 100) for v in row] for row in rows],
        totals,
        rounding=model,
        none_bin=left_out,
        decimals=[2] * width,
    )
    solution = solve(made)
    real = [bins if p in excluded else bin_ for p, bin_ in enumerate(truth)]
    assert made.allows(real)
    assert solution.proved
    for package, bin_ in enumerate(real):
        assert bin_ in solution.feasible_bins[package]
    if solution.status == "unique":
        assert [bins_[0] for bins_ in solution.feasible_bins] == real
    valid, inside = trying_everything(made)
    assert solution.allocations == valid
    assert solution.feasible_bins == tuple(tuple(np.flatnonzero(row).tolist()) for row in inside)
    assert solution.shares is not None
    assert [[share * valid for share in row] for row in solution.shares] == inside.tolist()
    return model, left_out


def test_a_single_bin_takes_all() -> None:
    assert solve(instance([[1], [2]], [[3]])).status == "unique"
    assert solve(instance([[1], [2]], [[4]])).reason == "records added"


def test_equal_packages_are_told_apart_and_counted_exactly() -> None:
    half = np.array([[50], [50]])
    made = plain_instance(np.ones((100, 1), np.int64), half, half)
    solution = solve(made)
    assert solution.allocations == comb(100, 50)
    assert solution.shares is not None
    assert solution.shares[0] == (Fraction(1, 2), Fraction(1, 2))
    assert solution.status == "ambiguous"


def test_counts_beyond_64_bits_with_settled_copies() -> None:
    ones, big = np.ones((80, 1), np.int64), np.array([[1000]])
    windows = np.array([[1030], [30], [20]])
    made = plain_instance(np.concatenate([ones, big]), windows, windows, entities=(3, 1, 1))
    solution = solve(made)
    assert solution.allocations == comb(80, 30) * comb(50, 30)
    assert solution.feasible_bins[-1] == (0,)
    assert solution.weighted_shares == solution.shares


def dense(packages: int, bins: int, seed: int, *, width: int = 2) -> Instance:
    """An instance with very many allocations: small numbers, many packages."""
    random = np.random.default_rng(seed)
    table = random.integers(1, 60, (packages, width))
    truth = random.integers(0, bins, packages)
    totals = np.zeros((bins, width), np.int64)
    np.add.at(totals, truth, table)
    return plain_instance(table, totals, totals)


def sparse(packages: int, bins: int, seed: int) -> tuple[Instance, NDArray[np.int64]]:
    """An instance whose numbers are so long that the truth is the only allocation."""
    random = np.random.default_rng(seed)
    table = random.integers(1, 10**9, (packages, 2))
    truth = random.integers(0, bins, packages)
    totals = np.zeros((bins, 2), np.int64)
    np.add.at(totals, truth, table)
    return plain_instance(table, totals, totals), truth


def test_thirty_packages_with_long_numbers_are_linked_for_certain() -> None:
    made, truth = sparse(30, 4, seed=1)
    solution = solve(made, seconds=20)
    assert solution.status == "unique"
    assert [b[0] for b in solution.feasible_bins] == truth.tolist()


def test_where_allocations_are_too_many_to_count_the_sets_are_still_proved() -> None:
    solution = solve(dense(60, 3, seed=0), seconds=5)
    assert (solution.status, solution.proved, solution.allocations) == ("ambiguous", True, None)
    assert solution.method == "walk"
    assert {len(bins) for bins in solution.feasible_bins} == {3}


def test_what_cp_sat_decides_is_counted_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    made = dense(20, 3, seed=1)
    counted = solve(made)
    found = allocation_graph.graph_of
    tries = []

    def later(*arguments: Any) -> allocation_graph.Graph:
        tries.append(arguments)
        if len(tries) <= 3:
            raise allocation_graph.TooLarge
        return found(*arguments)

    monkeypatch.setattr(solver, "graph_of", later)
    monkeypatch.setattr(solver, "EFFORTS", EFFORTS[:3])
    again = solve(made)
    assert len(tries) == 4
    assert (again.method, again.allocations) == ("satisfaction", counted.allocations)
    assert again.shares == counted.shares


def test_solutions_do_not_depend_on_the_run() -> None:
    made = dense(36, 3, seed=5)
    first, second = solve(made, seconds=5), solve(made, seconds=5)
    assert first.to_dict() == second.to_dict()
    assert first.witness is not None
    assert second.witness is not None
    assert first.witness.tolist() == second.witness.tolist()


@pytest.mark.parametrize("seconds", [0.05, 0.5])
def test_at_a_limit_the_bins_are_a_flagged_superset(seconds: float) -> None:
    made, truth = sparse(70, 5, seed=3)
    solve(made, seconds=0.01)
    start = time.thread_time()
    solution = solve(made, seconds=seconds)
    spent = time.thread_time() - start
    assert (solution.status, solution.proved, solution.method) == ("limit", False, "limit")
    assert (solution.allocations, solution.shares, solution.linked) == (None, None, 0)
    assert all(bin_ in bins for bin_, bins in zip(truth, solution.feasible_bins, strict=True))
    assert spent <= 3 * seconds + 0.3
    assert solution.seconds <= 1.3 * seconds + 0.05
    assert solve(made, seconds=seconds).seconds == solution.seconds


def test_records_are_proved_one_by_one_where_the_limit_is_met() -> None:
    """Of what was seen and ruled out until then, more time finds the same; a record with one bin is linked."""
    made = dense(40, 3, seed=2)
    far = made.packages.sum(axis=0, keepdims=True)
    packages, totals = np.concatenate([made.packages, far]), np.concatenate([made.low, far])
    early = solve(plain_instance(packages, totals, totals), seconds=0.05)
    whole = solve(plain_instance(packages, totals, totals), seconds=10)
    assert (early.status, whole.status) == ("limit", "ambiguous")
    assert whole.exact == (True,) * 41
    assert early.exact is not None
    assert 1 < sum(early.exact) < 41
    assert early.exact[-1]
    assert early.linked == whole.linked == 1
    for proved, found, bins in zip(
        early.exact, early.feasible_bins, whole.feasible_bins, strict=True
    ):
        assert found == bins if proved else set(found) >= set(bins)


@given(small_instances(), st.sampled_from([1e-6, 1e-5, 3e-5, 1e-4, 1e-3]))
@settings(max_examples=examples(60))
def test_what_is_proved_before_a_limit_is_what_trying_everything_finds(
    case: tuple[Instance, tuple[int, ...]], seconds: float
) -> None:
    made, _ = case
    solution, valid = solve(made, seconds=seconds), every_allocation(made)
    assert (solution.exact is None) >= (not valid)
    for package, proved in enumerate(solution.exact or ()):
        feasible = {allocation[package] for allocation in valid}
        found = set(solution.feasible_bins[package])
        assert found == feasible if proved else found >= feasible


MEMORY = """
import resource
import numpy as np
from glasshouse.reconstruction import from_json, solve
from glasshouse.reconstruction.solver import prepare
from ortools.sat.python import cp_model
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
hard = from_json(input())
prepare()
solve(hard, seconds=0.2, memory=64 << 20)
before = peak()
solve(hard, seconds=3, memory=192 << 20)
print((peak() - before) / (192 << 20))
"""


def test_the_memory_limit_holds() -> None:
    text = json.dumps(sparse(60, 3, seed=3)[0].to_dict())
    command = [sys.executable, "-c", MEMORY]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 1.1


def test_little_memory_makes_no_difference_to_small_instances() -> None:
    made, _ = sparse(20, 3, seed=2)
    assert solve(made, memory=64 << 20).status == "unique"


@given(small_instances(), st.integers(0, 3))
@settings(max_examples=examples(60))
def test_the_walk_only_finds_valid_allocations(
    case: tuple[Instance, tuple[int, ...]], seed: int
) -> None:
    made, _ = case
    system, kind_of = system_of(made)
    known, seen = domains_of(system), Witnesses(system)
    if not known.possible or system.bins < 2:
        return
    walk(known, seen, Budget(5, 1 << 30), Meter(5_000_000), seed=seed)
    valid = every_allocation(made)
    for package, kind in enumerate(kind_of):
        shown = set(np.flatnonzero(seen.seen[kind]).tolist())
        assert shown <= {a[package] for a in valid}


def test_a_walk_begins_where_dear_packages_are_heavy() -> None:
    """Many packages, one large bin and four small ones: choices that are dear and light are rare."""
    random = np.random.default_rng(1)
    value = np.exp(random.normal(10, 1.0, 120))
    weight = value * np.exp(random.normal(0, 0.35, 120))
    table = np.stack([value, weight], axis=1).astype(np.int64)
    truth = random.choice(5, 120, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    totals = np.zeros((5, 2), np.int64)
    np.add.at(totals, truth, table)
    system, _ = system_of(plain_instance(table, totals - 40, totals + 40))
    known, seen = domains_of(system), Witnesses(system)
    budget = Budget(0.3, 1 << 30)
    walk(known, seen, budget, budget.meter(1.0), seed=0, trials=1)
    assert seen.seen.sum() > 400


def test_how_many_allocations_are_expected_is_about_how_many_there_are() -> None:
    for seed in range(3):
        made = dense(20, 3, seed=seed)
        system, _ = system_of(made)
        allocations = solve(made, seconds=5).allocations
        assert allocations is not None
        assert abs(allocations_expected(domains_of(system)) - np.log10(allocations)) < 2
    sums_of_long_numbers, _ = system_of(sparse(30, 4, seed=1)[0])
    assert allocations_expected(domains_of(sums_of_long_numbers)) < 0


@given(
    st.lists(st.tuples(st.integers(-9, 30), st.integers(0, 30)), min_size=1, max_size=9),
    st.integers(-5, 90),
    st.integers(0, 20),
    st.integers(1, 3),
)
def test_meeting_in_the_middle_finds_every_subset(
    rows: list[tuple[int, int]], low: int, width: int, copies: int
) -> None:
    weights = np.array(rows, np.int64)
    number = np.array([1 + (k % copies) for k in range(len(rows))])
    layout = layout_of(number)
    floor, ceiling = np.array([low, 0]), np.array([low + width, 60])
    effort = ListEffort(longest_half=10_000, longest_list=100_000, most_work=10**9)
    found, status, _, _ = meet(weights, number, layout, floor, ceiling, effort)
    assert status == DONE
    choices = np.stack(np.meshgrid(*[np.arange(n + 1) for n in number], indexing="ij"), -1)
    choices = choices.reshape(-1, len(rows))
    sums = choices @ weights
    valid = choices[((sums >= floor) & (sums <= ceiling)).all(axis=1)]
    expected = {tuple(layout.code(row).tolist()) for row in valid}
    assert len(found) == len(valid)
    assert {tuple(row) for row in found.tolist()} == expected


def test_progress_is_told() -> None:
    seen: list[Progress] = []
    solve(dense(14, 3, seed=5), on_progress=seen.append)
    assert [now.note for now in seen[:2]] == ["propagation", "graph"]
    assert {(now.stage, now.total) for now in seen} == {("solving", 14 * 3)}


def test_a_solution_in_plain_values() -> None:
    solution = solve(instance([["1.50"], ["2.25"], ["3.75"]], [[4], [4]], entities=[3, 1]))
    assert solution.to_dict() == {
        "status": "ambiguous",
        "feasible_bins": [[0, 1]] * 3,
        "allocations": 2,
        "allocation_share": [[0.5, 0.5]] * 3,
        "proved": True,
    }
    frame = solution.to_frame().to_pylist()
    assert frame[0] == {
        "package": "package 1",
        "bin": "bin 1",
        "share": 0.5,
        "weighted_share": 0.75,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"seconds": 0},
        {"seconds": float("inf")},
        {"seconds": float("nan")},
        {"memory": 1000},
        {"counting": -0.1},
        {"counting": 1.5},
        {"weights": [1]},
        {"weights": [1, 0]},
    ],
)
def test_limits_and_weights_that_make_no_sense_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(StudyError):
        solve(instance([[1], [2]], [[1], [2]]), **arguments)  # type: ignore[arg-type]


def loops() -> dict[str, int]:
    """How often each compiled loop that Python calls was compiled."""
    return {
        f"{module.__name__}.{name}": len(value.signatures)
        for module in (allocation_graph, propagation, subsets)
        for name, value in vars(module).items()
        if hasattr(value, "signatures")
    }


def test_nothing_is_compiled_within_a_time_limit() -> None:
    prepare()
    before = loops()
    solve(sparse(20, 3, seed=2)[0])
    solve(dense(60, 3, seed=0), seconds=1)
    solve(dense(9, 3, seed=0, width=1))
    solve(instance([["1.5"], ["1.5"], ["2.6"]], [[3], [3]], rounding="unknown"))
    assert loops() == before


def test_every_status_has_a_meaning() -> None:
    assert set(STATUSES) == {"unique", "ambiguous", "infeasible", "limit"}
