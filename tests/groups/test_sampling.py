"""Samplers against exact answers: golden tables, enumeration, and kernels that leave the posterior as it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.groups.beliefs import Beliefs, normalised
from glasshouse.groups.chains import RunningMeans, log_gamma_draw, random_streams, uniform
from glasshouse.groups.enumeration import enumerated
from glasshouse.groups.estimates import Sampled, Stop
from glasshouse.groups.gibbs_horizontal import HorizontalChain, HorizontalModel
from glasshouse.groups.gibbs_vertical import BLOCKS, PARTS, SUBSETS, VerticalChain, VerticalModel
from glasshouse.groups.readers import from_group_column
from glasshouse.groups.release import Release
from glasshouse.groups.release_json import from_json
from glasshouse.groups.sampler import SamplingBudget, model_of, sample
from glasshouse.groups.victims import joined, victims_of, victims_of_rows, victims_of_table
from glasshouse.mitigation.anatomy import anatomise
from glasshouse.progress import Progress
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Shared = Callable[[str], Path]
SHORT = SamplingBudget(sweeps=1280, every=1, burn_in=20, precision=1e-9, seed=5)
"""A run that is not stopped by precision."""
LETTERS = "xyzw"


@pytest.fixture
def golden(shared: Shared) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(shared("golden/groups.json").read_text())
    return loaded


def by_rows(rows: list[Any], domains: list[list[str]]) -> Release:
    """A horizontal release with a group per row: sensitive value, then the possible values of each attribute."""
    names = [f"a{place}" for place in range(len(domains))]
    return from_json(
        {
            "attributes": [
                {"name": name, "values": values}
                for name, values in zip(names, domains, strict=True)
            ],
            "sensitive": {"name": "s", "values": sorted({row[0] for row in rows})},
            "groups": [{"sensitive": [row[0]], "generalised": row[1]} for row in rows],
        }
    )


def anatomised(groups: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]) -> Release:
    """A vertical release: per group its sensitive values and its rows."""
    width = len(groups[0][1][0])
    seen = [
        sorted({row[place] for _, rows in groups for row in rows} | {"x"}) for place in range(width)
    ]
    return from_json(
        {
            "attributes": [{"name": f"a{place}", "values": own} for place, own in enumerate(seen)],
            "sensitive": {"name": "s", "values": list("pqrstuvwxyzabcdefg")},
            "groups": [
                {"sensitive": list(values), "rows": [list(row) for row in rows]}
                for values, rows in groups
            ],
        }
    )


def assert_near(
    beliefs: Beliefs | None, exact: NDArray[np.float64], *, errors: float = 4.0
) -> None:
    """Sampled beliefs are within some Monte-Carlo errors of the exact ones, and no error is absurd."""
    assert beliefs is not None
    assert beliefs.errors is not None
    assert beliefs.rhat is not None
    assert beliefs.ess is not None
    away = np.abs(beliefs.probabilities - exact)
    assert (away <= errors * beliefs.errors + 1e-6).all(), (away / beliefs.errors).max()
    assert beliefs.errors.max() < 0.03
    assert beliefs.rhat.max() < 1.05
    assert beliefs.ess.min() > 100


def values(answer: dict[str, Any], keys: Sequence[str], kind: str, secrets: Sequence[str]) -> Any:
    return np.array([[float(Fraction(answer[k][kind][s]["frac"])) for s in secrets] for k in keys])


def test_non_laminar_golden_table(golden: dict[str, Any]) -> None:
    own = golden["tiny_horizontal_overlap"]
    release = by_rows(own["rows"], [list("xyz"), list("01")])
    assert not release.is_laminar
    people = [{"a0": x, "a1": y} for x, y in (("x", "0"), ("y", "1"), ("z", "0"))]
    keys = ["('x', '0')", "('y', '1')", "('z', '0')"]
    found = sample(release, victims_of(release, people), budget=SHORT).knowledge
    assert_near(found.attacker, values(own["answer"], keys, "pA", own["S"]))
    assert_near(found.learner, values(own["answer"], keys, "pL_cond5", own["S"]))
    joint = values(own["answer"], keys, "pL_joint", own["S"])
    np.testing.assert_allclose(found.joint, joint, rtol=0.03)
    partial = victims_of(release, [{"a1": "0"}, {"a1": "1"}])
    known = own["answer"]["partial"]
    exact = [[float(Fraction(known[x][s]["frac"])) for s in own["S"]] for x in ("0", "1")]
    assert_near(sample(release, partial, budget=SHORT).knowledge.attacker, np.array(exact))


def test_vertical_golden_table(golden: dict[str, Any]) -> None:
    own = golden["tableIc_vertical_Z6"]
    groups = [
        (["Heart", "Flu"], [["J", "45502"], ["M", "45501"]]),
        (["Flu", "Stomach"], [["J", "55504"], ["J", "55503"]]),
        (["HIV", "Diabetes"], [["J", "66601"], ["C", "66601"]]),
        (["Flu", "Heart"], [["M", "77701"], ["I", "77701"]]),
    ]
    release = from_json(
        {
            "attributes": [
                {"name": "Nat", "values": list("MJCI")},
                {"name": "ZIP", "values": "45501 45502 55503 55504 66601 77701".split()},
            ],
            "sensitive": {"name": "Dis", "values": ["Heart", "Flu", "Stomach", "HIV", "Diabetes"]},
            "groups": [{"sensitive": s, "rows": rows} for s, rows in groups],
        }
    )
    keys = ["('M', '45501')", "('J', '45502')", "('I', '77701')"]
    people = [{"Nat": k[2], "ZIP": k[7:12]} for k in keys]
    found = sample(release, victims_of(release, people), budget=SHORT).knowledge
    secrets = release.sensitive.values
    assert_near(found.attacker, values(own, keys, "pA", secrets))
    assert_near(found.learner, values(own, keys, "pL_cond5", secrets))
    partial = victims_of(release, [{"Nat": x} for x in "JMCI"])
    known = own["partial"]
    exact = [
        [float(Fraction(known[x][s]["frac"])) if s in known[x] else 0.0 for s in secrets]
        for x in "JMCI"
    ]
    assert_near(sample(release, partial, budget=SHORT).knowledge.attacker, np.array(exact))


def test_laminar_golden_table_and_reading_6(golden: dict[str, Any]) -> None:
    own = golden["tiny_laminar"]
    release = by_rows(own["rows"], [list("xyzw")])
    people = [{"a0": x} for x in "xyzw"]
    found = sample(release, victims_of(release, people), budget=SHORT).knowledge
    keys = [f"('{x}',)" for x in "xyzw"]
    assert_near(found.attacker, values(own["answer"], keys, "pA", "ab"))
    assert_near(found.learner, values(own["answer"], keys, "pL_cond5", "ab"))
    table = golden["table3"]["Z6: observed only; 4550*={45501,45502} factorised"]
    nat, codes = list("MJCI"), "45501 45502 55503 55504 66601 77701".split()
    rows = [
        [["M", "J"], codes[:2], ["Heart", "Flu"]],
        [["J"], codes[2:4], ["Flu", "Stomach"]],
        [["C", "J"], codes[4:5], ["HIV", "Diabetes"]],
        [["I", "M"], codes[5:], ["Flu", "Heart"]],
    ]
    release = from_json(
        {
            "attributes": [{"name": "Nat", "values": nat}, {"name": "ZIP", "values": codes}],
            "sensitive": {"name": "Dis", "values": table["S"]},
            "groups": [{"sensitive": s, "generalised": [x, y]} for x, y, s in rows],
        }
    )
    victims = victims_of(release, [{"Nat": "M", "ZIP": "45501"}])
    found = sample(release, victims, budget=SHORT).knowledge
    assert_near(found.learner_mean, np.array([table["pL_eq6"]]))
    assert_near(found.attacker, np.array([[x["val"] for x in table["pA"]]]))


SECRETS = st.sampled_from("pqr")
ROWS = st.lists(
    st.tuples(st.sampled_from(LETTERS[:3]), st.sampled_from(LETTERS[:2])), min_size=2, max_size=5
)
BACKGROUND = st.lists(
    st.tuples(SECRETS, st.sampled_from(LETTERS[:3]), st.sampled_from(LETTERS[:2])), max_size=4
)


@given(ROWS, st.data(), BACKGROUND)
@settings(max_examples=examples(50))
def test_one_group_is_exact_in_a_single_sweep(
    rows: list[tuple[str, str]], data: st.DataObject, background: list[tuple[str, str, str]]
) -> None:
    """With one group that is not certain, its conditional is its posterior: no sampling error is left."""
    repeated = data.draw(st.booleans())
    few = st.lists(SECRETS, min_size=len(rows), max_size=len(rows))
    secrets = data.draw(few) if repeated else list("pqrstu")[: len(rows)]
    release = anatomised([(secrets, rows), *[([s], [(x, y)]) for s, x, y in background]])
    victims = victims_of_rows(release)
    exact = enumerated(release, victims)
    model = model_of(release, victims)
    chain = model.chain(random_streams(1, 1)[0])
    chain.start()
    room, out = model.room(), np.empty(exact.attacker.probabilities.shape)
    chain.sweep(room)
    model.attack(room, out)
    np.testing.assert_allclose(normalised(out), exact.attacker.probabilities, atol=1e-12)


@given(
    st.lists(SECRETS, min_size=1, max_size=4),
    st.sets(st.sampled_from(LETTERS), min_size=2),
    st.lists(st.tuples(SECRETS, st.sampled_from(LETTERS)), max_size=4),
)
@settings(max_examples=examples(40))
def test_one_label_is_exact_in_a_single_sweep(
    secrets: list[str], label: set[str], background: list[tuple[str, str]]
) -> None:
    """Rows that show the only uncertain label: what is recorded of a class is its exact marginal."""
    rows = [[s, [sorted(label)]] for s in secrets] + [[s, [[v]]] for s, v in background]
    release = by_rows(rows, [list(LETTERS)])
    victims = victims_of(release, [{"a0": v} for v in sorted(label)] + [{"a0": sorted(label)}])
    exact = enumerated(release, victims)
    model = model_of(release, victims)
    chain = model.chain(random_streams(1, 1)[0])
    chain.start()
    room, out = model.room(), np.empty(exact.attacker.probabilities.shape)
    chain.sweep(room)
    model.attack(room, out)
    np.testing.assert_allclose(normalised(out), exact.attacker.probabilities, atol=1e-12)


def test_urns_draw_with_the_recorded_probabilities() -> None:
    """Two rows of one class: the second follows the first, as (β + n) (β + n + 1) for two alike."""
    rows = [["p", [["x", "y"]]], ["p", [["x", "y"]]], ["p", [["x"]]]]
    release = by_rows(rows, [list("xyz")])
    model = HorizontalModel(release, victims_of(release, [{"a0": "x"}]))
    chain = HorizontalChain(model.plan, random_streams(2, 1)[0])
    chain.start()
    draws = 20_000
    seen = np.zeros(3)
    for _ in range(draws):
        chain.sweep()
        seen[int((chain.held == 0).sum())] += 1
    exact = np.array([1 * 2, 2 * 2 * 1, 2 * 3]) / 12
    assert (np.abs(seen / draws - exact) < 4 * np.sqrt(exact * (1 - exact) / draws)).all()


def drawn(chain: VerticalChain, plan: Any, sweeps: int) -> NDArray[np.float64]:
    """How often each cell holds: the draws themselves instead of their probabilities."""
    cells = np.zeros(plan.cells)
    place = {}
    for row in range(len(plan.cell_ends) - 1):
        for cell in range(plan.cell_ends[row], plan.cell_ends[row + 1]):
            place[row, int(plan.cell_sensitive[cell])] = cell
    for _ in range(sweeps):
        chain.sweep()
        for slot, held in enumerate(chain.held):
            cells[place[int(plan.distinct[held]), int(plan.sensitive[slot])]] += 1
    return cells / sweeps


@pytest.mark.parametrize(("secrets", "way"), [("pqrs", SUBSETS), ("ppqr", BLOCKS)])
def test_draws_have_the_recorded_probabilities(secrets: str, way: int) -> None:
    rows = [("x", "x"), ("x", "x"), ("y", "x"), ("z", "y")]
    known = [("p", [("x", "x")]), ("q", [("y", "x")]), ("r", [("z", "y")]), ("q", [("z", "x")])]
    release = anatomised([(secrets, rows), *known])
    victims = victims_of_rows(release)
    model = VerticalModel(release, victims)
    plan = model.plan
    assert plan.way[0] == way
    chain = VerticalChain(plan, random_streams(3, 1)[0])
    chain.start()
    expected = model.room()
    chain.sweep(expected)
    sweeps = 20_000
    found = drawn(chain, plan, sweeps)
    assert (np.abs(found - expected) <= 4 * np.sqrt(2 / sweeps) + 1e-9).all()
    before = chain.counts.copy()
    chain.recount()
    np.testing.assert_array_equal(before, chain.counts)


def weight(table: Sequence[tuple[str, tuple[str, ...]]], domains: Sequence[int]) -> Fraction:
    """f(t), up to what all tables of the release share: rows of each sensitive value one after the other, β = 1."""
    total = Fraction(1)
    seen: dict[tuple[str, int, str], int] = {}
    many: dict[str, int] = {}
    for secret, row in table:
        for place, value in enumerate(row):
            key = secret, place, value
            total *= Fraction(1 + seen.get(key, 0), domains[place] + many.get(secret, 0))
            seen[key] = seen.get(key, 0) + 1
        many[secret] = many.get(secret, 0) + 1
    return total


def test_block_kernel_leaves_the_posterior_invariant_and_is_the_compiled_one() -> None:
    """Transition probabilities in fractions over all tables: π K = π; and the compiled marginals are those of K."""
    groups = [("pqr", [("x", "y"), ("y", "y"), ("x", "z")]), ("pq", [("z", "x"), ("y", "x")])]
    release = anatomised(groups)
    domains = [len(each.values) for each in release.attributes]
    states = list(product(permutations(groups[0][1]), permutations(groups[1][1])))

    def table(state: Any) -> list[tuple[str, tuple[str, ...]]]:
        pairs = zip("pqrpq", [*state[0], *state[1]], strict=True)
        return [(secret, row) for secret, row in pairs]

    mass = {state: weight(table(state), domains) for state in states}
    for group in (0, 1):
        arriving = dict.fromkeys(states, Fraction(0))
        for state in states:
            others = [each for each in states if each[1 - group] == state[1 - group]]
            whole = sum(mass[each] for each in others)
            for each in others:
                arriving[each] += mass[state] * mass[each] / whole
        assert arriving == mass
    model = VerticalModel(release, victims_of_rows(release))
    plan = model.plan
    texts = [
        tuple(a.values[c] for a, c in zip(release.attributes, row, strict=True))
        for row in plan.values - np.array([0, domains[0]])
    ]
    for state in states:
        chain = VerticalChain(plan, random_streams(1, 1)[0])
        flat = [*state[0], *state[1]]
        chain.held[:3] = [texts[:3].index(row) for row in flat[:3]]
        chain.held[3:] = [3 + texts[3:].index(row) for row in flat[3:]]
        chain.recount()
        room = model.room()
        chain.sweep(room)
        others = [each for each in states if each[1] == state[1]]
        whole = sum(mass[each] for each in others)
        for row in range(3):
            number = plan.distinct[row]
            for cell in range(plan.cell_ends[number], plan.cell_ends[number + 1]):
                secret = release.sensitive.values[plan.cell_sensitive[cell]]
                at = "pqr".index(secret)
                exact = sum(mass[each] for each in others if each[0][at] == texts[row]) / whole
                assert room[cell] == pytest.approx(float(exact), abs=1e-12)


def test_row_kernel_leaves_the_posterior_invariant_and_is_the_compiled_one() -> None:
    rows = [("p", ["x", "y"]), ("p", ["y", "z"]), ("p", ["y"]), ("q", ["x", "y", "z"])]
    release = by_rows([[s, [own]] for s, own in rows], [list("xyz")])
    free = [own for _, own in rows]
    states = list(product(*free))
    mass = {
        state: weight([(s, (v,)) for (s, _), v in zip(rows, state, strict=True)], [3])
        for state in states
    }
    for row in range(len(rows)):
        arriving = dict.fromkeys(states, Fraction(0))
        for state in states:
            others = [(*state[:row], v, *state[row + 1 :]) for v in free[row]]
            whole = sum(mass[each] for each in others)
            for each in others:
                arriving[each] += mass[state] * mass[each] / whole
        assert arriving == mass
    model = HorizontalModel(release, victims_of(release, [{"a0": "y"}]))
    plan = model.plan
    assert plan.items == 3
    for first, second in product(free[0], free[1]):
        chain = HorizontalChain(plan, random_streams(1, 1)[0])
        chain.held[:] = ["xyz".index(first), "xyz".index(second), 0]
        chain.recount()
        room = model.room()
        chain.sweep(room)
        state = (first, second, "y", "x")
        others = [(v, *state[1:]) for v in free[0]]
        whole = sum(mass[each] for each in others)
        place = plan.class_places[0]
        exact = [float(mass[each] / whole) for each in others]
        np.testing.assert_allclose(room[place : place + 2, 0], exact, atol=1e-12)


def test_large_groups_are_drawn_in_parts() -> None:
    """Twelve rows, one per sensitive value but one: exact marginals by a programme over subsets, in fractions."""
    secrets = "pqrstuvwyzab"
    rows = [(LETTERS[i % 4], LETTERS[i // 4]) for i in range(12)]
    known = [([s], [rows[(5 * i + 1) % 12]]) for i, s in enumerate("pqrstuvwyzabpqrs")]
    release = anatomised([(secrets, rows), *known])
    victims = victims_of_rows(release)
    model = VerticalModel(release, victims)
    assert model.plan.way[0] == PARTS
    fits = np.array(
        [
            [
                prod(
                    1 + sum(s == own[0] and row[a] == other[0][a] for own, other in known)
                    for a in range(2)
                )
                for row in rows
            ]
            for s in secrets
        ],
        object,
    )
    exact = np.array(marginals(fits), float)
    budget = replace(SHORT, sweeps=2560)
    found = sample(release, victims, budget=budget).knowledge.attacker
    held = {
        (tuple(row), s): exact[i][k] for k, row in enumerate(rows) for i, s in enumerate(secrets)
    }
    for s, (row,) in ((own[0], other) for own, other in known):
        held[tuple(row), s] = held.get((tuple(row), s), 0.0) + 1.0
    full = np.zeros(found.probabilities.shape)
    for place, codes in enumerate(victims.codes):
        texts = tuple(a.values[c] for a, c in zip(release.attributes, codes, strict=True))
        for code, name in enumerate(release.sensitive.values):
            full[place, code] = held.get((texts, name), 0.0)
    assert_near(found, normalised(full), errors=4.5)


def test_large_groups_with_repeated_values() -> None:
    """Six slots each of two values: exact over the 924 ways to choose the rows of the first, in fractions."""
    rows = [(LETTERS[i % 4], LETTERS[i // 4]) for i in range(12)]
    known = [("p", rows[0]), ("p", rows[1]), ("p", rows[5]), ("q", rows[10]), ("q", rows[2])]
    release = anatomised([("p" * 6 + "q" * 6, rows), *[([s], [row]) for s, row in known]])
    victims = victims_of_rows(release)
    model = VerticalModel(release, victims)
    assert model.plan.way[0] == PARTS
    domains = [len(each.values) for each in release.attributes]
    total = Fraction(0)
    of_first = dict.fromkeys(rows, Fraction(0))
    for chosen in combinations(rows, 6):
        table = [*known, *[("p" if row in chosen else "q", row) for row in rows]]
        mass = weight(table, domains)
        total += mass
        for row in chosen:
            of_first[row] += mass
    exact = np.zeros((len(victims), len(release.sensitive.values)))
    for place, codes in enumerate(victims.codes):
        row = (release.attributes[0].values[codes[0]], release.attributes[1].values[codes[1]])
        for s in "pq":
            drawn_share = of_first[row] / total if s == "p" else 1 - of_first[row] / total
            exact[place, release.sensitive.code[s]] = drawn_share + known.count((s, row))
    found = sample(release, victims, budget=replace(SHORT, sweeps=5120)).knowledge.attacker
    assert_near(found, normalised(exact), errors=4.5)


def test_people_outside_the_table_have_a_learner_only() -> None:
    whole = victims_of_rows(SMALL)
    points = joined(whole, np.array([[0, 0], [3, 1]], np.int32))
    exact = enumerated(SMALL, points)
    found = sample(SMALL, points, budget=SHORT).knowledge
    assert np.isnan(found.attacker.probabilities[len(whole) :]).all()
    assert_near(found.learner, exact.learner.probabilities)


def marginals(fits: NDArray[Any]) -> list[list[Fraction]]:
    """The chance that slot i holds row k, over all assignments, weighted by their products."""
    size = len(fits)
    after = [0] * (1 << size)
    after[-1] = 1
    for used in range((1 << size) - 2, -1, -1):
        i = used.bit_count()
        after[used] = sum(
            fits[i][k] * after[used | 1 << k] for k in range(size) if not used >> k & 1
        )
    before = [0] * (1 << size)
    before[0] = 1
    chance = [[0] * size for _ in range(size)]
    for used in range((1 << size) - 1):
        i = used.bit_count()
        for k in range(size):
            if not used >> k & 1:
                step = before[used] * fits[i][k]
                before[used | 1 << k] += step
                chance[i][k] += step * after[used | 1 << k]
    return [[Fraction(x, after[0]) for x in line] for line in chance]


SMALL = anatomised(
    [
        ("pqr", [("x", "x"), ("y", "x"), ("z", "y")]),
        ("ppq", [("x", "y"), ("y", "y"), ("z", "x")]),
        ("qr", [("y", "x"), ("z", "y")]),
        ("ps", [("w", "y"), ("z", "x")]),
    ]
)


def test_several_groups_equal_enumeration() -> None:
    victims = victims_of_rows(SMALL)
    exact = enumerated(SMALL, victims)
    found = sample(SMALL, victims, budget=SHORT)
    assert_near(found.knowledge.attacker, exact.attacker.probabilities)
    assert_near(found.knowledge.learner, exact.learner.probabilities)
    np.testing.assert_allclose(found.knowledge.joint, exact.joint, rtol=0.05)
    assert exact.attacker.probabilities.shape == found.knowledge.attacker.probabilities.shape
    assert found.stopped is Stop.SWEEPS
    assert found.converged


def test_a_prior_is_heeded() -> None:
    release = SMALL.with_prior(alpha={"p": "1/2"}, beta={"a0": "1/3", "a1": {"x": 4}})
    victims = victims_of_rows(release)
    exact = enumerated(release, victims)
    found = sample(release, victims, budget=SHORT).knowledge
    assert_near(found.attacker, exact.attacker.probabilities)
    assert_near(found.learner, exact.learner.probabilities)


def same(first: Sampled, second: Sampled) -> bool:
    own, other = first.knowledge, second.knowledge
    return all(
        np.array_equal(x.probabilities, y.probabilities)
        for x, y in zip(own.beliefs().values(), other.beliefs().values(), strict=True)
    ) and np.array_equal(first.traces, second.traces)


def test_same_seed_same_result_for_any_number_of_threads() -> None:
    victims = victims_of_rows(SMALL)
    budget = replace(SHORT, sweeps=200)
    one = sample(SMALL, victims, budget=replace(budget, threads=1))
    assert same(one, sample(SMALL, victims, budget=replace(budget, threads=4)))
    assert not same(one, sample(SMALL, victims, budget=replace(budget, seed=6)))


@pytest.mark.parametrize(
    "release", [SMALL, by_rows([["a", [["x", "y"]]], ["b", [["y", "z"]]]], [list("xyz")])]
)
def test_a_stopped_run_goes_on_as_if_it_had_not(release: Release) -> None:
    victims = victims_of(release, [{"a0": "y"}])
    release = release.with_prior(beta="1/10")
    budget = replace(SHORT, sweeps=400, burn_in=30)
    states: list[dict[str, NDArray[Any]]] = []
    whole = sample(
        release,
        victims,
        budget=budget,
        traced=[0],
        on_state=lambda state: states.append({k: v.copy() for k, v in state.items()}),
    )
    for place in (0, 5, len(states) // 2, len(states) - 1):
        again = sample(release, victims, budget=budget, traced=[0], state=states[place])
        assert same(whole, again)
        assert np.array_equal(whole.details, again.details)
        assert whole.aggregates == again.aggregates
    longer = sample(
        release, victims, budget=replace(budget, sweeps=800), traced=[0], state=states[-1]
    )
    assert longer.sweeps > whole.sweeps
    with pytest.raises(StudyError, match="another question"):
        sample(release, victims, budget=replace(budget, seed=9), traced=[0], state=states[-1])


def test_a_run_stops_at_the_requested_precision_and_tells_how_far_it_is() -> None:
    victims = victims_of_rows(SMALL)
    steps: list[Progress] = []
    budget = SamplingBudget(precision=0.01, every=1, burn_in=20)
    found = sample(SMALL, victims, budget=budget, on_progress=steps.append)
    assert found.stopped is Stop.PRECISION
    assert found.sweeps < budget.sweeps
    assert not found.warnings
    assert max(own.error for own in found.aggregates) <= 0.01
    assert (steps[0].stage, steps[0].note) == ("sampling", "burn-in")
    assert steps[-1].note == "sampling"
    assert steps[-1].figures["rhat"] <= 1.01
    finer = sample(SMALL, victims, budget=replace(budget, cell_precision=0.008))
    assert finer.largest_error <= 0.008
    assert finer.sweeps > found.sweeps
    hurried = sample(SMALL, victims, budget=replace(budget, precision=1e-9, seconds=1e-9))
    assert hurried.stopped is Stop.TIME
    assert any("not reached" in own for own in hurried.warnings)


def test_chains_in_different_modes_are_flagged() -> None:
    """Two sensitive values always come together: who has which of them is undecided, and β near 0 makes it rigid."""
    groups = [("pq", [("x", "x"), ("y", "y")])] * 30
    release = anatomised(groups).with_prior(beta="1/100")
    columns = {"a0": ["x", "y"] * 30, "a1": ["x", "y"] * 30, "s": ["p", "q"] * 30}
    table = read(pa.table(columns), quasi_identifiers=["a0", "a1"], sensitive=["s"])
    victims, original = victims_of_table(release, table)
    budget = SamplingBudget(sweeps=600, every=1, burn_in=20, chains=6)
    found = sample(release, victims, budget=budget, original=original, traced=[0])
    assert found.multimodal
    assert not found.converged
    assert any("several modes" in own for own in found.warnings)
    assert any("trust R-hat" in own for own in found.warnings)
    assert found.stopped is Stop.SWEEPS
    assert found.largest_error > 0.1


def test_what_a_run_says_in_plain_values() -> None:
    found = sample(SMALL, victims_of_rows(SMALL), budget=replace(SHORT, sweeps=200), traced=[1])
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["stopped"] == "sweeps"
    assert [own["name"] for own in plain["aggregates"]] == found.to_frame()["name"].to_pylist()
    assert found.details.shape == (4, found.draws, 3, 1, len(SMALL.sensitive.values))
    np.testing.assert_allclose(found.details.sum(axis=-1), 1.0, rtol=1e-5)
    with pytest.raises(StudyError, match="was not sampled"):
        found.aggregate("gt_attacker")


def test_traces_are_handed_to_arviz_as_chains_by_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in is given what ArviZ's ``from_dict`` takes: posterior by name, dimensions and labels of the beliefs."""
    found = sample(SMALL, victims_of_rows(SMALL), budget=replace(SHORT, sweeps=200), traced=[1, 2])
    given: dict[str, Any] = {}
    stand_in = ModuleType("arviz")
    monkeypatch.setattr(stand_in, "from_dict", lambda **own: given.update(own), raising=False)
    monkeypatch.setitem(sys.modules, "arviz", stand_in)
    found.to_inference_data()
    width = len(SMALL.sensitive.values)
    assert set(given["posterior"]) == {*found.trace_names, "attacker", "learner", "learner_mean"}
    for name in found.trace_names:
        assert given["posterior"][name].shape == (4, found.draws)
    assert given["posterior"]["attacker"].shape == (4, found.draws, 2, width)
    assert given["dims"]["learner"] == ["victim", "sensitive"]
    assert given["coords"] == {"victim": [1, 2], "sensitive": list(SMALL.sensitive.values)}
    untraced = sample(SMALL, victims_of_rows(SMALL), budget=replace(SHORT, sweeps=100))
    assert untraced.inference_content()["coords"] is None


def test_arviz_computes_the_same_rhat() -> None:
    arviz = pytest.importorskip("arviz", reason="ArviZ is optional")
    found = sample(SMALL, victims_of_rows(SMALL), budget=replace(SHORT, sweeps=200), traced=[1])
    told = arviz.rhat(found.to_inference_data())
    for own in found.aggregates:
        assert float(told[own.name]) == pytest.approx(own.rhat, rel=0.01)


def test_without_arviz_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "arviz", None)
    found = sample(SMALL, victims_of_rows(SMALL), budget=replace(SHORT, sweeps=100))
    with pytest.raises(StudyError, match="pip install arviz"):
        found.to_inference_data()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"chains": 1}, "chains is 1; sampling needs at least 2"),
        ({"sweeps": 3}, "sweeps is 3"),
        ({"precision": 0.0}, "precision is 0.0; give a number above 0"),
        ({"seconds": -1.0}, "seconds"),
        ({"rhat": 1.0}, "rhat"),
        ({"every": 0}, "every"),
        ({"seed": -1}, "seed"),
    ],
)
def test_an_effort_that_makes_no_sense_is_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(StudyError, match=why):
        SamplingBudget(**wrong)


def test_what_does_not_fit_is_refused() -> None:
    victims = victims_of_rows(SMALL)
    with pytest.raises(BudgetError, match="more than the"):
        sample(SMALL, victims, budget=SamplingBudget(memory=1000))
    with pytest.raises(DataError, match="cannot be traced"):
        sample(SMALL, victims, budget=SHORT, traced=[99])


def test_means_are_those_of_all_draws_however_often_batches_merge() -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(5.0, 1e-4, (320, 3))
    means = RunningMeans.empty(3, most=8, length=5)
    for draw in draws:
        means.add(draw)
    assert (means.full, means.length) == (4, 80)
    parts = draws.reshape(4, 80, 3).mean(axis=1)
    np.testing.assert_allclose(means.reference + means.batches[:4].astype(float), parts, atol=1e-10)
    shifted = draws - means.reference
    np.testing.assert_allclose(means.squares, (shifted**2).sum(axis=0), rtol=1e-9)


def test_random_numbers_have_their_distributions() -> None:
    stream = random_streams(11, 1)[0]
    flat = np.array([uniform(stream) for _ in range(20_000)])
    assert abs(flat.mean() - 0.5) < 4 / np.sqrt(12 * len(flat))
    assert (flat >= 0).all()
    assert (flat < 1).all()
    for shape in (0.05, 0.7, 1.0, 30.0):
        draws = np.exp([log_gamma_draw(stream, shape) for _ in range(20_000)])
        assert abs(draws.mean() - shape) < 4 * np.sqrt(shape / len(draws))
        assert draws.var() == pytest.approx(shape, rel=0.15)


ADULT = "sex age race marital-status education native-country workclass salary-class".split()


def dealt(secrets: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Groups by Xiao and Tao's figure 3; of buckets that are as full, random ones give a record."""
    names = np.unique(secrets)
    buckets = [list(rng.permutation(np.flatnonzero(secrets == name))) for name in names]
    group = np.full(len(secrets), -1)
    number = 0
    while sum(map(bool, buckets)) >= size:
        fullest = sorted(buckets, key=lambda own: (-len(own), rng.random()))[:size]
        for bucket in fullest:
            group[bucket.pop()] = number
        number += 1
    for name, bucket in zip(names, buckets, strict=True):
        for record in bucket:
            free = np.setdiff1d(np.arange(number), group[secrets == name])
            group[record] = rng.choice(free)
    return group


def adult(shared: Shared, size: int) -> tuple[Release, EncodedTable]:
    options = csv.ParseOptions(delimiter=";")
    people = csv.read_csv(shared("data/arx/adult.csv"), parse_options=options)
    people = people.filter(pc.greater(people["age"], 50))
    secrets = people["occupation"].to_numpy(zero_copy_only=False)
    group = dealt(secrets, size, np.random.default_rng(1))
    people = people.append_column("group", [group])
    table = read(people, quasi_identifiers=ADULT, sensitive=["occupation"], also=["group"])
    return from_group_column(table, group="group"), table


def test_adult_anatomy_4(shared: Shared) -> None:
    """The issue's figures, reached with random ties: groups of many compositions teach the attacker more."""
    release, table = adult(shared, 4)
    victims, original = victims_of_table(release, table)
    assert original.records == 5692
    budget = SamplingBudget(sweeps=1600, every=5, burn_in=200, precision=0.005, seed=1)
    found = sample(release, victims, budget=budget, original=original, learner_mean=False)
    assert 0.45 <= found.aggregate("gt_attacker").value <= 0.48
    assert 0.32 <= found.aggregate("gt_learner").value <= 0.33
    assert 6800 <= found.aggregate("abs_attacker").value <= 7000
    assert max(own.rhat for own in found.aggregates) <= 1.01
    assert not found.multimodal


def test_adult_anatomy_4_over_seven_dealings(shared: Shared) -> None:
    """How Anatomy deals is random, and so are the figures: the mean over the seeds 0 to 6 lies in the issue's ranges.

    Single dealings do not all: GT_L is 0.339 with seed 0. Over 20 seeds it is 0.328 with a deviation of 0.004.
    """
    whole = read(shared("data/arx/adult.csv"), quasi_identifiers=ADULT, sensitive=["occupation"])
    ages = np.array(list(map(int, whole.column("age").values.to_pylist())))
    table = whole.of_records(ages[whole.column("age").codes] > 50)
    budget = SamplingBudget(sweeps=200, every=5, burn_in=150, chains=2, precision=1e-9, seed=1)
    found: dict[str, list[float]] = {"gt_attacker": [], "gt_learner": [], "abs_attacker": []}
    for seed in range(7):
        groups = anatomise(table, l=4, seed=seed).one_table(table, group="group")
        release = from_group_column(groups, group="group")
        victims, original = victims_of_table(release, table)
        run = sample(release, victims, budget=budget, original=original, learner_mean=False)
        for name, values in found.items():
            values.append(run.aggregate(name).value)
    assert 0.45 <= np.mean(found["gt_attacker"]) <= 0.48
    assert 0.32 <= np.mean(found["gt_learner"]) <= 0.33
    assert 6800 <= np.mean(found["abs_attacker"]) <= 7000
    assert np.std(found["gt_learner"], ddof=1) < 0.01
