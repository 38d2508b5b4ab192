"""Recoding against what ARX finds, and against brute force over all nodes in plain Python."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor, log2, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.mitigation import distinct_rows as distinct_rows_module
from glasshouse.mitigation import global_recoding as recoding_module
from glasshouse.mitigation.criteria import (
    AverageRisk,
    Criterion,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    HighestRisk,
    InferenceAdded,
    InferenceCertain,
    InferenceRisk,
    KAnonymity,
    NamedShare,
    OrderedCloseness,
    RecursiveDiversity,
    TableCriterion,
)
from glasshouse.mitigation.distinct_rows import distinct_rows
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import Hierarchy, read_hierarchy, suppression_only
from glasshouse.mitigation.information_loss import OBJECTIVES, Recoding
from glasshouse.progress import Progress
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Row = tuple[str, ...]
AnyCriterion = Criterion | TableCriterion
Shared = Callable[[str], Path]

KNOWN = ("a", "b", "c")
DOMAIN = ("0", "1", "2", "3", "4")
SECRETS = ("p", "q", "r")
SECRET_HIERARCHY = Hierarchy("secret", (("p", "p|q", "*"), ("q", "p|q", "*"), ("r", "r", "*")))


# --- What ARX finds on Adult (Prasser et al.; its source, built and run; confirmed over all nodes) ---

ADULT: dict[str, tuple[list[AnyCriterion], float]] = {
    "k2_s0": ([KAnonymity(2)], 0),
    "k2_s0.04": ([KAnonymity(2)], 0.04),
    "k5_s0": ([KAnonymity(5)], 0),
    "k5_s0.04": ([KAnonymity(5)], 0.04),
    "k10_s0": ([KAnonymity(10)], 0),
    "k10_s0.04": ([KAnonymity(10)], 0.04),
    "k50_s1": ([KAnonymity(50)], 1),
    "k5_distinct_l3_s0.04": ([KAnonymity(5), DistinctDiversity(3, "occupation")], 0.04),
    "k5_equal_t0.2_s0.04": ([KAnonymity(5), EqualCloseness(0.2, "occupation")], 0.04),
    "k5_hierarchical_t0.2_s0.04": ([KAnonymity(5)], 0.04),
}


def adult(shared: Shared) -> tuple[EncodedTable, dict[str, Hierarchy], dict[str, Any]]:
    golden = json.loads(shared("golden/mitigation.json").read_text())
    names = golden["meta"]["qids"]
    table = read(shared("data/arx/adult.csv"), quasi_identifiers=names, sensitive=["occupation"])
    hierarchies = {
        name: read_hierarchy(shared(f"data/arx/adult_hierarchy_{name}.csv"), column=name)
        for name in (*names, "occupation")
    }
    return table, hierarchies, golden["global_recoding"]


@pytest.mark.parametrize("case", ADULT)
def test_adult_as_arx_recodes_it(shared: Shared, case: str) -> None:
    table, hierarchies, golden = adult(shared)
    criteria, suppression = ADULT[case]
    if "hierarchical" in case:
        closeness = HierarchicalCloseness(0.2, "occupation", hierarchies["occupation"])
        criteria = [*criteria, closeness]
    found = recode(table, hierarchies=hierarchies, criteria=criteria, suppression=suppression)
    expected = golden[case]
    assert found.optimal
    assert found.bound is None
    assert found.heights is not None
    assert tuple(found.heights.values()) in map(tuple, expected["independent_brute_force"]["ties"])
    assert found.suppressed.sum() == expected["classes"]["suppressed_records"]
    assert found.loss == pytest.approx(expected["optimum"]["score_lowest"], abs=1e-9)
    if dict(found.heights) == expected["optimum"]["levels"]:
        assert found.classes == expected["classes"]["classes"]


def test_nodes_that_are_ruled_out_are_not_looked_at(shared: Shared) -> None:
    table, hierarchies, golden = adult(shared)
    found = recode(table, hierarchies=hierarchies, criteria=[KAnonymity(5)], suppression=0.04)
    assert found.evaluated < golden["k5_s0.04"]["lattice_size"] / 10


# --- Brute force in plain Python ---


@dataclass(frozen=True)
class Question:
    """A small table with hierarchies, and what is asked of it."""

    rows: list[Row]
    hierarchies: dict[str, Hierarchy]
    criteria: list[AnyCriterion]
    suppression: Fraction
    objective: str
    weights: dict[str, float] | None

    @property
    def names(self) -> list[str]:
        return list(self.hierarchies)

    @property
    def table(self) -> EncodedTable:
        columns = dict(zip((*self.names, "secret"), zip(*self.rows, strict=True), strict=True))
        return read(pa.table(columns), quasi_identifiers=self.names, sensitive=["secret"])

    def answer(self, **options: Any) -> Recoding:
        return recode(
            self.table,
            hierarchies=self.hierarchies,
            criteria=self.criteria,
            suppression=self.suppression,
            objective=self.objective,
            weights=self.weights,
            **options,
        )


@dataclass(frozen=True)
class Solution:
    """A node that meets all criteria."""

    loss: float
    levels: tuple[int, ...]
    suppressed: list[bool]
    classes: int


def labelled(question: Question, levels: Sequence[int]) -> list[Row]:
    rows = {
        name: {row[0]: row for row in hierarchy.rows}
        for name, hierarchy in question.hierarchies.items()
    }
    return [
        tuple(
            rows[name][value][level]
            for name, value, level in zip(question.names, row, levels, strict=False)
        )
        for row in question.rows
    ]


def holds(criterion: AnyCriterion, secrets: list[str], everyone: list[str]) -> bool:
    """Tell whether a class with these secrets meets a criterion, by its definition."""
    counts = Counter(secrets)
    falling = sorted(counts.values(), reverse=True)
    size = len(secrets)
    extra = {
        value: Fraction(counts[value], size) - Fraction(everyone.count(value), len(everyone))
        for value in everyone
    }
    match criterion:
        case KAnonymity(k=k):
            return size >= k
        case HighestRisk(p=p):
            return Fraction(1, size) <= Fraction(str(p))
        case DistinctDiversity(l=l):
            return len(counts) >= l
        case EntropyDiversity(l=l):
            needed = Fraction(str(l)) ** size * prod(count**count for count in falling)
            return bool(Fraction(size) ** size >= needed)
        case RecursiveDiversity(c=c, l=l):
            return falling[0] < Fraction(str(c)) * sum(falling[l - 1 :])
        case InferenceRisk(p=p):
            return Fraction(falling[0], size) <= Fraction(str(p))
        case EqualCloseness(t=t):
            return sum(map(abs, extra.values())) / 2 <= Fraction(str(t))
        case OrderedCloseness(t=t, order=order):
            assert order is not None
            ends = range(1, len(order))
            sums = [
                sum((extra.get(v, Fraction(0)) for v in order[:end]), Fraction(0)) for end in ends
            ]
            moved = sum(map(abs, sums), Fraction(0))
            return moved / (len(order) - 1) <= Fraction(str(t))
        case HierarchicalCloseness(t=t, hierarchy=hierarchy):
            return tree_distance(hierarchy, extra) <= Fraction(str(t))
        case TableCriterion():
            return True
    raise AssertionError(criterion)


def tree_distance(hierarchy: Hierarchy, extra: Mapping[str, Fraction]) -> Fraction:
    top = hierarchy.height - 1
    total = Fraction(0)
    for level in range(1, hierarchy.height):
        for label in {row[level] for row in hierarchy.rows}:
            below: dict[str, Fraction] = {}
            for row in hierarchy.rows:
                if row[level] == label:
                    part = row[level - 1]
                    below[part] = below.get(part, Fraction(0)) + extra.get(row[0], Fraction(0))
            up = sum((each for each in below.values() if each > 0), Fraction(0))
            down = -sum((each for each in below.values() if each < 0), Fraction(0))
            total += Fraction(level, top) * min(up, down)
    return total


def solution(question: Question, levels: tuple[int, ...]) -> Solution | None:
    labels = labelled(question, levels)
    secrets = [row[-1] for row in question.rows]
    classes: dict[Row, list[str]] = {}
    for label, secret in zip(labels, secrets, strict=True):
        classes.setdefault(label, []).append(secret)
    kept = {
        label: len(own)
        for label, own in classes.items()
        if all(holds(criterion, own, secrets) for criterion in question.criteria)
    }
    records = sum(kept.values())
    suppressed = [label not in kept for label in labels]
    if not kept or len(labels) - records > floor(question.suppression * len(labels)):
        return None
    released = [classes[label] for label in kept]
    if not all(allowed(criterion, released) for criterion in question.criteria):
        return None
    loss = LOSSES[question.objective](question, levels, labels, suppressed, kept)
    return Solution(loss, levels, suppressed, len(kept))


def allowed(criterion: AnyCriterion, classes: list[list[str]]) -> bool:
    """Tell whether the kept classes, each with its secrets, meet a criterion of the whole table."""
    records = [secret for members in classes for secret in members]
    match criterion:
        case AverageRisk(p=p):
            figure = Fraction(len(classes), len(records))
        case NamedShare(p=p):
            figure = Fraction(sum(len(members) == 1 for members in classes), len(records))
        case InferenceAdded(p=p):
            right = sum(max(map(members.count, members)) for members in classes)
            figure = Fraction(right - max(map(records.count, records)), len(records))
        case InferenceCertain(p=p):
            certain = sum(len(members) for members in classes if len(set(members)) == 1)
            before = len(records) if len(set(records)) == 1 else 0
            figure = Fraction(certain - before, len(records))
        case _:
            return True
    return figure <= Fraction(str(p))


def shares(
    question: Question, levels: Sequence[int], labels: list[Row], suppressed: list[bool]
) -> list[Fraction]:
    """Return S_a per attribute: the share of the domain under each record's label, added up."""
    sums = []
    for own, hierarchy in enumerate(question.hierarchies.values()):
        column = [row[levels[own]] for row in hierarchy.rows]
        sums.append(
            sum(
                (
                    Fraction(1) if gone else Fraction(column.count(label[own]), hierarchy.domain)
                    for label, gone in zip(labels, suppressed, strict=True)
                ),
                Fraction(0),
            )
        )
    return sums


def weights_of(question: Question) -> list[float]:
    return [(question.weights or {}).get(name, 1) for name in question.names]


def geometric_loss(
    question: Question, levels: Any, labels: Any, suppressed: Any, kept: Any
) -> float:
    n, total = len(labels), sum(weights_of(question))
    loss = 1.0
    sums = shares(question, levels, labels, suppressed)
    for own, hierarchy in enumerate(question.hierarchies.values()):
        least = Fraction(n, hierarchy.domain)
        lost = (sums[own] - least) / (n - least) if hierarchy.domain > 1 else Fraction(0)
        loss *= (1 + floor(lost * 10**10) / 10**10) ** (weights_of(question)[own] / total)
    return loss - 1


def granularity(question: Question, levels: Any, labels: Any, suppressed: Any, kept: Any) -> float:
    n = len(labels)
    sums = shares(question, levels, labels, suppressed)
    least = [Fraction(1, hierarchy.domain) for hierarchy in question.hierarchies.values()]
    parts = list(zip(map(Fraction, weights_of(question)), sums, least, strict=True))
    most = sum(weight * (1 - low) for weight, _, low in parts)
    return float(sum(weight * (own / n - low) for weight, own, low in parts) / most) if most else 0


def non_uniform_entropy(
    question: Question, levels: Any, labels: Any, suppressed: Any, kept: Any
) -> float:
    n, lost, most = len(labels), 0.0, 0.0
    for own, weight in enumerate(weights_of(question)):
        values = Counter(row[own] for row in question.rows)
        told = Counter(label[own] for label in labels)
        gone = Counter(label[own] for label, out in zip(labels, suppressed, strict=True) if out)
        for row, label, out in zip(question.rows, labels, suppressed, strict=True):
            lost -= weight * log2(values[row[own]] / told[label[own]])
            most -= weight * log2(values[row[own]] / n)
            if out:
                lost -= weight * log2(gone[label[own]] / sum(suppressed))
    return lost / most if most else 0.0


def discernibility(
    question: Question, levels: Any, labels: Any, suppressed: Any, kept: Mapping[Row, int]
) -> float:
    n: int = len(labels)
    before = Counter(row[:-1] for row in question.rows).values()
    least = sum(size**2 for size in before)
    own = sum(size**2 for size in kept.values()) + n * sum(map(int, suppressed))
    return (own - least) / max(1, n**2 - least)


def average_class_size(
    question: Question, levels: Any, labels: Any, suppressed: Any, kept: Mapping[Row, int]
) -> float:
    n = len(labels)
    least = n / len({row[:-1] for row in question.rows})
    own = sum(kept.values()) / len(kept)
    return max(0.0, (own - least) / max(1.0, n - least))


LOSSES: dict[str, Callable[..., float]] = {
    "loss": geometric_loss,
    "granularity": granularity,
    "non_uniform_entropy": non_uniform_entropy,
    "discernibility": discernibility,
    "average_class_size": average_class_size,
}


def all_solutions(question: Question) -> list[Solution]:
    heights = [hierarchy.height for hierarchy in question.hierarchies.values()]
    nodes = product(*map(range, heights))
    return [found for levels in nodes if (found := solution(question, levels)) is not None]


@st.composite
def hierarchy(draw: st.DrawFn, name: str) -> Hierarchy:
    """Values in groups, these in groups, and so on; a label names what it stands for."""
    groups: dict[str, tuple[str, ...]] = {
        value: (value,) for value in DOMAIN[: draw(st.integers(1, 5))]
    }
    levels = [dict(groups)]
    for _ in range(draw(st.integers(0, 2))):
        joined: dict[int, tuple[str, ...]] = {}
        place = {group: draw(st.integers(0, 2)) for group in dict.fromkeys(groups.values())}
        for group, own in place.items():
            joined[own] = (*joined.get(own, ()), *group)
        groups = {value: joined[place[group]] for value, group in groups.items()}
        levels.append(dict(groups))
    whole = tuple(sorted(groups))
    rows = [
        (*("|".join(sorted(level[value])) for level in levels), "|".join(whole)) for value in groups
    ]
    if any("|".join(whole) == row[-2] for row in rows):
        rows = [row[:-1] for row in rows]
    return Hierarchy(name, tuple(rows))


SHARE = st.sampled_from(["0.1", "0.2", "0.34", "0.5", "0.7", "1"])
CRITERION: st.SearchStrategy[AnyCriterion] = st.one_of(
    st.builds(KAnonymity, st.integers(1, 4)),
    st.builds(HighestRisk, SHARE),
    st.builds(AverageRisk, SHARE),
    st.builds(DistinctDiversity, st.integers(1, 3), st.just("secret")),
    st.builds(EntropyDiversity, st.sampled_from(["1", "1.5", "2", "3"]), st.just("secret")),
    st.builds(
        RecursiveDiversity, st.sampled_from(["0.5", "1", "3"]), st.integers(1, 3), st.just("secret")
    ),
    st.builds(InferenceRisk, SHARE, st.just("secret")),
    st.builds(EqualCloseness, SHARE, st.just("secret")),
    st.builds(OrderedCloseness, SHARE, st.just("secret"), st.just(SECRETS)),
    st.builds(HierarchicalCloseness, SHARE, st.just("secret"), st.just(SECRET_HIERARCHY)),
)
OF_ALL_CLASSES: st.SearchStrategy[AnyCriterion] = st.one_of(
    st.builds(NamedShare, SHARE),
    st.builds(InferenceAdded, SHARE, st.just("secret")),
    st.builds(InferenceCertain, SHARE, st.just("secret")),
)
"""What only a recoding of all records alike is searched by."""


@st.composite
def questions(draw: st.DrawFn) -> Question:
    names = KNOWN[: draw(st.integers(1, 3))]
    hierarchies = {name: draw(hierarchy(name)) for name in names}
    values = [st.sampled_from([row[0] for row in each.rows]) for each in hierarchies.values()]
    row = st.tuples(*values, st.sampled_from(SECRETS))
    objective = draw(st.sampled_from(OBJECTIVES))
    weighable = objective in OBJECTIVES[:3]
    weights = st.dictionaries(st.sampled_from(names), st.sampled_from([0.5, 1, 3]))
    return Question(
        rows=draw(st.lists(row, min_size=1, max_size=12)),
        hierarchies=hierarchies,
        criteria=draw(st.lists(CRITERION | OF_ALL_CLASSES, min_size=1, max_size=3)),
        suppression=draw(st.sampled_from([Fraction(i, 10) for i in (0, 1, 2, 3, 5, 10)])),
        objective=objective,
        weights=draw(st.none() | weights) if weighable else None,
    )


@settings(max_examples=examples(200))
@given(questions())
def test_the_optimum_is_that_of_brute_force(question: Question) -> None:
    solutions = all_solutions(question)
    try:
        found = question.answer()
    except StudyError:
        assert not solutions
        return
    assert found.optimal
    assert found.heights is not None
    levels = tuple(found.heights.values())
    own = next(each for each in solutions if each.levels == levels)
    best = min(each.loss for each in solutions)
    assert own.loss == pytest.approx(best, abs=1e-9)
    assert found.loss == pytest.approx(own.loss, abs=1e-9)
    assert found.suppressed.tolist() == own.suppressed
    assert found.classes == own.classes


@settings(max_examples=examples(60))
@given(questions(), st.data())
def test_levels_that_are_given_stay_and_the_others_are_the_best(
    question: Question, data: st.DataObject
) -> None:
    levels = {
        name: data.draw(st.integers(0, hierarchy.height - 1))
        for name, hierarchy in question.hierarchies.items()
        if data.draw(st.booleans())
    }
    places = [question.names.index(name) for name in levels]
    solutions = [
        one
        for one in all_solutions(question)
        if [one.levels[place] for place in places] == list(levels.values())
    ]
    try:
        found = question.answer(levels=levels)
    except StudyError:
        assert not solutions
        return
    assert found.optimal
    assert found.heights is not None
    assert levels.items() <= found.heights.items()
    best = min(solutions, key=lambda one: one.loss)
    assert found.loss == pytest.approx(best.loss, abs=1e-9)


@settings(max_examples=examples(100))
@given(questions())
def test_the_released_file_meets_every_criterion(question: Question) -> None:
    try:
        found = question.answer()
    except StudyError:
        return
    released = found.release(question.table)
    texts = {
        name: [column.values[int(code)].as_py() for code in column.codes]
        for name, column in released.columns.items()
    }
    everyone = texts["secret"]
    assert everyone == [row[-1] for row in question.rows]
    classes: dict[Row, list[str]] = {}
    for record, gone in enumerate(found.suppressed):
        label = tuple(texts[name][record] for name in question.names)
        if gone:
            assert set(label) == {"*"}
        else:
            classes.setdefault(label, []).append(everyone[record])
    assert len(classes) == found.classes
    for criterion in question.criteria:
        for own in classes.values():
            assert holds(criterion, own, everyone)
        assert allowed(criterion, list(classes.values()))
    assert found.suppressed.sum() <= question.suppression * len(everyone)


@settings(max_examples=examples(60))
@given(questions())
def test_a_search_without_time_tells_a_true_bound(question: Question) -> None:
    try:
        hurried = question.answer(seconds=0)
    except (StudyError, BudgetError):
        return
    found = question.answer()
    if hurried.optimal:
        assert hurried.loss == pytest.approx(found.loss, abs=1e-9)
    else:
        assert hurried.bound is not None
        assert hurried.bound <= found.loss + 1e-9
        assert found.loss <= hurried.loss + 1e-9


@settings(max_examples=examples(60))
@given(questions())
def test_any_way_to_number_classes_gives_the_same(question: Question) -> None:
    def answer() -> dict[str, Any] | str:
        try:
            return question.answer().to_dict()
        except StudyError as error:
            return str(error)

    expected = answer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct_rows_module, "_DENSE_COUNTS", 0)
        patch.setattr(distinct_rows_module, "_KEYS", 1 << 5)
        patch.setattr(recoding_module, "_MOST_KEPT", 1)
        patch.setattr(recoding_module, "_MOST_EXCLUDED", 1)
        assert answer() == expected


# --- By hand ---


def people(*rows: Row) -> EncodedTable:
    columns = dict(zip(("age", "sex", "ill"), zip(*rows, strict=True), strict=True))
    return read(pa.table(columns), quasi_identifiers=["age", "sex"], sensitive=["ill"])


AGES = Hierarchy(
    "age",
    (("20", "20-29", "*"), ("25", "20-29", "*"), ("30", "30-39", "*"), ("35", "30-39", "*")),
)
SEXES = Hierarchy("sex", (("f", "*"), ("m", "*")))
HIERARCHIES = {"age": AGES, "sex": SEXES}
SIX = people(
    ("20", "f", "flu"),
    ("25", "f", "flu"),
    ("30", "m", "flu"),
    ("35", "m", "gout"),
    ("35", "m", "gout"),
    ("35", "f", "gout"),
)


def test_ages_in_decades_and_one_record_suppressed() -> None:
    """S_age = 5 · 2/4 + 1, L = (3.5 − 1.5) / (6 − 1.5); S_sex = 5 · 1/2 + 1, L = (3.5 − 3) / 3."""
    found = recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], suppression=0.2)
    assert found.heights == {"age": 1, "sex": 0}
    assert found.suppressed.tolist() == [False] * 5 + [True]
    assert found.classes == 2
    assert found.loss == pytest.approx(((1 + 4 / 9) * (1 + 1 / 6)) ** 0.5 - 1)
    released = found.release(SIX)
    assert released.column("age").values.to_pylist() == ["20-29", "30-39", "*"]
    assert released.column("age").codes.tolist() == [0, 0, 1, 1, 1, 2]
    assert released.column("sex").values.to_pylist() == ["f", "m", "*"]
    assert released.column("ill") is SIX.column("ill")
    assert released.roles == SIX.roles


def test_the_limit_is_the_share_rounded_down() -> None:
    """One record of six is 1/6; with less than that none may be suppressed."""
    for share, suppressed in (("1/6", 1), (0.166, 0)):
        found = recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], suppression=share)
        assert found.suppressed.sum() == suppressed


def test_of_equal_losses_the_lowest_levels_win() -> None:
    """Either column suffices; the age has a further level that costs as much as the first."""
    table = people(("20", "f", ""), ("30", "m", ""))
    flat = Hierarchy("age", (("20", "20|30", "*"), ("30", "20|30", "*")))
    tall = Hierarchy("sex", (("f", "f", "*"), ("m", "m", "*")))
    found = recode(table, hierarchies={"age": flat, "sex": tall}, criteria=[KAnonymity(2)])
    assert found.heights == {"age": 1, "sex": 2}


def test_a_weight_spares_an_attribute() -> None:
    table = people(("20", "f", ""), ("20", "m", ""), ("30", "f", ""), ("30", "m", ""))
    for heavy, heights in (("age", {"age": 0, "sex": 1}), ("sex", {"age": 2, "sex": 0})):
        found = recode(table, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], weights={heavy: 5})
        assert found.heights == heights


def test_a_table_that_needs_nothing_stays_as_it_is() -> None:
    found = recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(1)])
    assert found.loss == 0
    assert found.release(SIX).column("age").values == SIX.column("age").values
    assert found.release(SIX).column("age").codes.tolist() == SIX.column("age").codes.tolist()


def test_positions_of_a_treated_table_are_kept() -> None:
    part = SIX.of_records(np.array([0, 1, 3, 4]))
    found = recode(part, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)])
    released = found.release(part)
    assert released.positions is not None
    assert released.positions.tolist() == [0, 1, 3, 4]


def test_a_fact_is_recoded_column_by_column() -> None:
    table = SIX.with_roles(facts={"person": ("age", "sex")}, sensitive=["ill"])
    found = recode(table, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], suppression=0.2)
    assert found.quasi_identifiers == ("age", "sex")
    assert found.release(table).facts == table.facts


def test_an_outcome_as_plain_values() -> None:
    found = recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], suppression=0.2)
    assert found.to_dict() == {
        "method": "full-domain recoding",
        "quasi_identifiers": ["age", "sex"],
        "heights": {"age": 1, "sex": 0},
        "suppressed": 1,
        "classes": 2,
        "objective": "loss",
        "loss": found.loss,
        "optimal": True,
        "bound": None,
    }
    assert found.to_frame().to_pylist() == [
        {"attribute": "age", "height": 1},
        {"attribute": "sex", "height": 0},
    ]


def test_combinations_and_their_secrets() -> None:
    rows = distinct_rows(SIX, ["age", "sex"], ["ill"])
    assert rows.distinct == 5
    assert rows.weights.tolist() == [1, 1, 1, 2, 1]
    assert rows.number.tolist() == [0, 1, 2, 3, 3, 4]
    counts = rows.secrets["ill"]
    assert counts.starts.tolist() == [0, 1, 2, 3, 4, 5]
    assert counts.values.tolist() == [0, 0, 0, 1, 1]
    assert counts.counts.tolist() == [1, 1, 1, 2, 1]
    assert counts.reference.tolist() == [3, 3]


def test_progress_tells_bound_and_best() -> None:
    calls: list[Progress] = []
    found = recode(
        SIX,
        hierarchies=HIERARCHIES,
        criteria=[KAnonymity(2)],
        on_progress=calls.append,
    )
    assert calls
    assert {call.stage for call in calls} == {"searching"}
    assert calls[-1].done <= found.evaluated
    figures = calls[-1].figures
    assert figures["bound"] <= found.loss + 1e-9 <= figures["best"] + 2e-9


def test_a_lattice_too_large_to_list_is_searched_lazily() -> None:
    """Fourteen attributes of five levels: six thousand million nodes."""
    draw = np.random.default_rng(5)
    names = [f"x{i}" for i in range(14)]
    records = pa.table({name: draw.integers(0, 16, 300).astype(str) for name in names})
    table = read(records, quasi_identifiers=names)
    rows = tuple((f"{i}", f"{i // 2}/2", f"{i // 4}/4", f"{i // 8}/8", "*") for i in range(16))
    found = recode(
        table,
        hierarchies={name: Hierarchy(name, rows) for name in names},
        criteria=[KAnonymity(5)],
        suppression=0.1,
        seconds=1,
    )
    assert found.bound is None or 0 <= found.bound <= found.loss
    assert found.suppressed.sum() <= 30


# --- Refusals ---

Change = Mapping[str, Any]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criteria": []}, "needs a list of criteria"),
        ({"criteria": KAnonymity(2)}, "needs a list of criteria"),
        ({"criteria": [KAnonymity(7)]}, "has 6 records, so no class can hold 7"),
        ({"suppression": -0.1}, "from 0 to 1, not -0.1"),
        ({"suppression": 1.5}, "from 0 to 1, not 1.5"),
        ({"suppression": "some"}, "must be a number"),
        ({"quasi_identifiers": []}, "at least one quasi-identifier"),
        ({"quasi_identifiers": "age"}, 'such as \\["age"\\]'),
        ({"quasi_identifiers": ["age", "age"]}, "given twice"),
        ({"quasi_identifiers": ["age", "ill"]}, '"ill" has no hierarchy'),
        ({"hierarchies": {"age": AGES}}, '"sex" has no hierarchy'),
        ({"objective": "lost"}, 'objective "lost" is not in'),
        ({"weights": {"ages": 1}}, 'did you mean "age"'),
        ({"weights": {"age": -1}}, 'the weight of "age" is -1'),
        ({"weights": {"age": 0, "sex": 0}}, "all weights are 0"),
        ({"weights": {"age": 1}, "objective": "discernibility"}, "knows no weights"),
        ({"criteria": [InferenceRisk(0.5, "age")]}, 'column "age" is both'),
        ({"levels": {"ages": 1}}, 'did you mean "age"'),
        ({"levels": {"age": 9}}, "age=9: the hierarchy has the levels 0"),
        ({"levels": {"age": 0, "sex": 0}}, "cannot be reached with the levels that are given"),
    ],
)
def test_questions_that_are_not_well_posed(change: Change, message: str) -> None:
    question = {"hierarchies": HIERARCHIES, "criteria": [KAnonymity(2)], **change}
    with pytest.raises(StudyError, match=message):
        recode(SIX, **question)


def test_what_cannot_be_reached_is_named() -> None:
    table = people(("20", "f", "flu"), ("20", "f", "flu"), ("30", "m", "gout"))
    with pytest.raises(StudyError, match=r"inference of .*0\.5 cannot be reached even when every"):
        recode(
            table,
            hierarchies=HIERARCHIES,
            criteria=[KAnonymity(2), InferenceRisk(0.5, "ill")],
        )


def test_data_that_does_not_fit() -> None:
    with pytest.raises(DataError, match='"zip" is not in'):
        recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], quasi_identifiers=["zip"])
    short = Hierarchy("age", AGES.rows[:3])
    with pytest.raises(DataError, match='"35" of column "age" is not in its hierarchy'):
        recode(SIX, hierarchies=HIERARCHIES | {"age": short}, criteria=[KAnonymity(2)])
    with pytest.raises(DataError, match='"illness" is not in'):
        recode(SIX, hierarchies=HIERARCHIES, criteria=[DistinctDiversity(2, "illness")])


def test_the_release_of_another_table_is_refused() -> None:
    found = recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)])
    with pytest.raises(StudyError, match="is not the table that was recoded"):
        found.release(SIX.of_records(np.array([0, 1])))


def test_no_solution_in_time_is_a_matter_of_budget() -> None:
    """Generalised to the top the flu is too frequent; kept apart, the first two classes are balanced."""
    table = people(("20", "f", "flu"), ("20", "f", "gout"), ("30", "m", "flu"), ("35", "m", "flu"))
    question: dict[str, Any] = {
        "hierarchies": {name: suppression_only(table.column(name)) for name in ("age", "sex")},
        "criteria": [InferenceRisk(0.5, "ill")],
        "suppression": 0.5,
    }
    assert recode(table, **question).suppressed.tolist() == [False, False, True, True]
    with pytest.raises(BudgetError, match="the time was over"):
        recode(table, seconds=0, **question)
