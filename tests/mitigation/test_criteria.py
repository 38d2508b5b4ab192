"""Criteria against slow and obvious twins in fractions, their laws under merging, and what ARX found on Adult."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from glasshouse.errors import DataError, InternalError, StudyError
from glasshouse.mitigation import criteria as criteria_module
from glasshouse.mitigation.criteria import (
    AverageRisk,
    BetaLikeness,
    ClassCounts,
    Criterion,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    HighestRisk,
    InferenceRisk,
    KAnonymity,
    OrderedCloseness,
    RecursiveDiversity,
    TableCriterion,
    first_unmet,
)
from glasshouse.mitigation.criteria_kernels import add_hierarchical_distance
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import Hierarchy, Number, read_hierarchy, suggest
from glasshouse.mitigation.local_recoding import recode_locally
from glasshouse.table import EncodedColumn, EncodedTable, read
from glasshouse.table.encoded import Role
from glasshouse.table.partition import refined

ILLS = ("cold", "flu", "ulcer", "gastritis", "none")
ORDER = ("none", "cold", "flu", "never seen", "gastritis", "ulcer")
TREE = Hierarchy(
    "ill",
    (
        ("cold", "airways", "sick", "*"),
        ("flu", "airways", "sick", "*"),
        ("cough", "airways", "sick", "*"),
        ("ulcer", "stomach", "sick", "*"),
        ("gastritis", "stomach", "sick", "*"),
        ("none", "none", "none", "*"),
    ),
)
TREE_ROWS = {row[0]: row for row in TREE.rows}

Class = list[str]
CLASSES = st.lists(st.lists(st.sampled_from(ILLS), min_size=1, max_size=9), min_size=1, max_size=6)
SHARES = st.one_of(
    st.fractions(0, 1, max_denominator=12), st.integers(0, 20).map(lambda n: n / 20), st.just("0.3")
)


def table_of(values: Sequence[str] = ILLS, records: int | None = None) -> EncodedTable:
    """Return a table with these sensitive values, one record each or as many as asked for."""
    count = len(values) if records is None else records
    codes = (np.arange(count) % len(values)).astype(np.uint32)
    column = EncodedColumn("ill", codes, pa.array(values, pa.large_string()))
    return EncodedTable("people.csv", count, {"ill": column}, {"ill": Role.SENSITIVE})


TABLE = table_of()


def counted(classes: Sequence[Class], everyone: Sequence[str] | None = None) -> ClassCounts:
    """Count the values of each class, in an order that is neither theirs nor that of their codes."""
    found = [Counter(own) for own in classes]
    entries = [(ILLS.index(value), count) for own in found for value, count in own.items()]
    everyone = [value for own in classes for value in own] if everyone is None else everyone
    return ClassCounts(
        sizes=np.array([len(own) for own in classes], np.int64),
        starts=np.cumsum([0, *map(len, found)]).astype(np.int64),
        values=np.array([value for value, _ in entries], np.uint32),
        counts=np.array([count for _, count in entries], np.int64),
        reference=np.array([everyone.count(value) for value in ILLS], np.int64),
    )


def exactly(number: Number) -> Fraction:
    return number if isinstance(number, Fraction) else Fraction(str(number))


# Slow and obvious twins: one class, all records


def has_distinct(own: Class, least: int) -> bool:
    return len(set(own)) >= least


def has_entropy(own: Class, least: Fraction) -> bool:
    """Compare with 80 digits; 60 equal ones are a tie."""
    with localcontext(prec=80):
        shares = [Decimal(count) / len(own) for count in Counter(own).values()]
        entropy = -sum((share * share.ln() for share in shares), Decimal(0))
        needed = (Decimal(least.numerator) / least.denominator).ln()
        return entropy >= needed - Decimal("1e-60")


def has_recursive(own: Class, c: Fraction, begin: int) -> bool:
    counts = sorted(Counter(own).values(), reverse=True)
    return counts[0] < c * sum(counts[begin - 1 :])


def shares_apart(own: Class, everyone: Sequence[str]) -> dict[str, Fraction]:
    return {
        value: Fraction(own.count(value), len(own)) - Fraction(everyone.count(value), len(everyone))
        for value in {*ILLS, *ORDER, *TREE_ROWS}
    }


def equal_distance(own: Class, everyone: Sequence[str]) -> Fraction:
    return sum(map(abs, shares_apart(own, everyone).values()), Fraction(0)) / 2


def ordered_distance(own: Class, everyone: Sequence[str]) -> Fraction:
    apart = shares_apart(own, everyone)
    below = [sum((apart[v] for v in ORDER[: i + 1]), Fraction(0)) for i in range(len(ORDER))]
    return sum(map(abs, below), Fraction(0)) / (len(ORDER) - 1)


def hierarchical_distance(own: Class, everyone: Sequence[str]) -> Fraction:
    apart = shares_apart(own, everyone)
    distance = Fraction(0)
    for level in range(1, TREE.height):
        for label in {row[level] for row in TREE.rows}:
            below = {row[level - 1] for row in TREE.rows if row[level] == label}
            extras = [
                sum((apart[row[0]] for row in TREE.rows if row[level - 1] == part), Fraction(0))
                for part in below
            ]
            more = sum((extra for extra in extras if extra > 0), Fraction(0))
            less = sum((-extra for extra in extras if extra < 0), Fraction(0))
            distance += Fraction(level, TREE.height - 1) * min(more, less)
    return distance


# What holds


@given(CLASSES, st.integers(1, 10))
def test_k_anonymity(classes: list[Class], k: int) -> None:
    holds = KAnonymity(k).holds(ClassCounts.of_sizes(counted(classes).sizes))
    assert holds.tolist() == [len(own) >= k for own in classes]


@given(CLASSES, SHARES.filter(lambda p: exactly(p) > 0))
def test_highest_risk_is_one_over_the_size(classes: list[Class], p: Number) -> None:
    holds = HighestRisk(p).holds(counted(classes))
    assert holds.tolist() == [Fraction(1, len(own)) <= exactly(p) for own in classes]


@given(st.integers(0, 50), st.integers(0, 50), SHARES.filter(lambda p: exactly(p) > 0))
def test_average_risk_is_classes_over_records(records: int, classes: int, p: Number) -> None:
    classes = min(records, classes)
    expected = records == 0 or Fraction(classes, records) <= exactly(p)
    sizes = np.array([records - classes + 1, *[1] * (classes - 1)] if classes else [], np.int64)
    assert AverageRisk(p).allows(ClassCounts.of_sizes(sizes)) == (expected or not classes)


@given(CLASSES, st.integers(1, 5))
def test_distinct_diversity(classes: list[Class], least: int) -> None:
    holds = DistinctDiversity(least, "ill").holds(counted(classes))
    assert holds.tolist() == [has_distinct(own, least) for own in classes]


@given(CLASSES, st.fractions(1, 5, max_denominator=4) | st.integers(1, 5))
def test_entropy_diversity(classes: list[Class], least: Fraction | int) -> None:
    holds = EntropyDiversity(least, "ill").holds(counted(classes))
    assert holds.tolist() == [has_entropy(own, Fraction(least)) for own in classes]


@pytest.mark.parametrize("times", [1, 7, 10**6])
@pytest.mark.parametrize("values", [1, 2, 3, 5])
def test_equally_frequent_values_have_the_entropy_of_their_number(values: int, times: int) -> None:
    own = counted([list(ILLS[:values])])
    large = ClassCounts(
        own.starts, own.values, own.counts * times, own.reference, own.sizes * times
    )
    assert EntropyDiversity(values, "ill").holds(large).all()
    assert not EntropyDiversity(values + Fraction(1, 10**9), "ill").holds(large).any()


def test_ties_of_unequal_counts_are_decided_in_whole_numbers() -> None:
    """Shares 1/2, 1/4, 1/4 have the entropy 3/2 ln 2 = ln √8, which no fraction is: these two surround it."""
    own = counted([["cold", "cold", "flu", "ulcer"]])
    below, above = Fraction(2828427124746190, 10**15), Fraction(2828427124746191, 10**15)
    assert below**2 < 8 < above**2
    assert EntropyDiversity(below, "ill").holds(own).all()
    assert not EntropyDiversity(above, "ill").holds(own).any()


def test_a_tie_of_too_many_records_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    own = counted([["cold", "cold", "flu", "ulcer"]])
    monkeypatch.setattr(criteria_module, "LARGEST_EXACT_ENTROPY", 3)
    assert not EntropyDiversity(Fraction(2828427124746190, 10**15), "ill").holds(own).any()
    assert EntropyDiversity("2.8", "ill").holds(own).all()


@given(CLASSES, st.fractions(Fraction(1, 4), 6, max_denominator=4), st.integers(1, 5))
def test_recursive_diversity(classes: list[Class], c: Fraction, begin: int) -> None:
    holds = RecursiveDiversity(c, begin, "ill").holds(counted(classes))
    assert holds.tolist() == [has_recursive(own, c, begin) for own in classes]


@given(CLASSES, SHARES.filter(lambda p: exactly(p) > 0))
def test_inference_risk_is_the_share_of_the_most_frequent_value(
    classes: list[Class], p: Number
) -> None:
    holds = InferenceRisk(p, "ill").holds(counted(classes))
    shares = [Fraction(max(Counter(own).values()), len(own)) for own in classes]
    assert holds.tolist() == [share <= exactly(p) for share in shares]


CLOSENESS: dict[str, tuple[Callable[[Number], Criterion], Callable[..., Fraction]]] = {
    "equal": (lambda t: EqualCloseness(t, "ill"), equal_distance),
    "ordered": (lambda t: OrderedCloseness(t, "ill", ORDER), ordered_distance),
    "hierarchical": (lambda t: HierarchicalCloseness(t, "ill", TREE), hierarchical_distance),
}


@pytest.mark.parametrize("kind", CLOSENESS)
@given(classes=CLASSES, t=SHARES)
def test_closeness(kind: str, classes: list[Class], t: Number) -> None:
    make, distance = CLOSENESS[kind]
    everyone = [value for own in classes for value in own]
    holds = make(t).for_table(TABLE).holds(counted(classes))
    assert holds.tolist() == [distance(own, everyone) <= exactly(t) for own in classes]


@pytest.mark.parametrize("kind", CLOSENESS)
@given(classes=CLASSES)
def test_a_class_is_just_as_close_as_its_distance(kind: str, classes: list[Class]) -> None:
    make, distance = CLOSENESS[kind]
    everyone = [value for own in classes for value in own]
    least = distance(classes[0], everyone)
    assert make(least).for_table(TABLE).holds(counted(classes))[0]
    if least > 0:
        nearly = least - Fraction(1, 10**15)
        assert not make(nearly).for_table(TABLE).holds(counted(classes))[0]


@pytest.mark.parametrize("kind", CLOSENESS)
@given(classes=CLASSES, t=SHARES)
def test_sums_beyond_64_bits_never_claim_too_much(
    kind: str, classes: list[Class], t: Number
) -> None:
    make, distance = CLOSENESS[kind]
    everyone = [value for own in classes for value in own]
    with pytest.MonkeyPatch.context() as patch:
        ready = make(t).for_table(TABLE)
        patch.setattr(criteria_module, "LONGEST_EXACT_SUM", 1)
        holds = ready.holds(counted(classes))
    for own, claimed in zip(classes, holds.tolist(), strict=True):
        margin = exactly(t) - distance(own, everyone)
        assert claimed == (margin > Fraction(1, 10**8))


DISTANCES: dict[str, Callable[[str, str], float]] = {
    "equal": lambda a, b: float(a != b),
    "ordered": lambda a, b: abs(ORDER.index(a) - ORDER.index(b)) / (len(ORDER) - 1),
    "hierarchical": lambda a, b: (
        next(level for level in range(4) if TREE_ROWS[a][level] == TREE_ROWS[b][level]) / 3
    ),
}


@pytest.mark.parametrize("kind", CLOSENESS)
@given(
    own=st.lists(st.sampled_from(ILLS), min_size=1, max_size=9),
    rest=st.lists(st.sampled_from(ILLS), max_size=9),
)
def test_distances_are_those_of_an_earth_mover(kind: str, own: Class, rest: Class) -> None:
    """The least work that turns one distribution into the other, by linear programming."""
    size = len(ILLS)
    work = [DISTANCES[kind](a, b) for a in ILLS for b in ILLS]
    leaving = np.kron(np.eye(size), np.ones(size))
    arriving = np.kron(np.ones(size), np.eye(size))
    everyone = own + rest
    shares = [own.count(value) / len(own) for value in ILLS]
    shares += [everyone.count(value) / len(everyone) for value in ILLS]
    least = linprog(work, A_eq=np.vstack([leaving, arriving]), b_eq=shares).fun
    assert least == pytest.approx(float(CLOSENESS[kind][1](own, everyone)), abs=1e-9)


def test_the_example_of_the_paper_on_salaries() -> None:
    """Li, Li, Venkatasubramanian 2007: of salaries 3k–11k, classes {3,4,5} at 0.375 and {6,8,11} at 0.167."""
    salaries = [f"{thousands}k" for thousands in range(3, 12)]
    table = read(pa.table({"salary": salaries}), sensitive=["salary"])

    def classes(*own: int) -> ClassCounts:
        three = np.full(3, 1, np.int64)
        codes = np.array(own, np.uint32) - np.uint32(3)
        everyone = np.ones(9, np.int64)
        return ClassCounts(np.array([0, 3]), codes, three, everyone, np.array([3]))

    for own, distance in (((3, 4, 5), Fraction(3, 8)), ((6, 8, 11), Fraction(1, 6))):
        for t, expected in ((distance, True), (distance - Fraction(1, 10**6), False)):
            ready = OrderedCloseness(t, "salary", tuple(salaries)).for_table(table)
            assert ready.holds(classes(*own)).tolist() == [expected]


def test_numbers_are_ordered_by_value() -> None:
    table = table_of(["10", "9", "1e1", "-2"])
    ready = OrderedCloseness("0.49", "ill").for_table(table)
    least_and_middle = ClassCounts(
        np.array([0, 1, 2]),
        np.array([3, 1], np.uint32),
        np.array([1, 1]),
        np.array([1, 2, 0, 1]),
        np.array([1, 1]),
    )
    assert ready.holds(least_and_middle).tolist() == [False, True]  # 1/2 and 1/4


@pytest.mark.parametrize("values", [2, 40, 500])
def test_large_domains_and_classes_agree_with_the_formula(values: int) -> None:
    rng = np.random.default_rng(values)
    dense = rng.integers(0, 4, (30, values)) * (rng.random((30, values)) < 0.4)
    dense[:, 0] += 1
    sizes, reference = dense.sum(axis=1), dense.sum(axis=0)
    starts = np.concatenate([[0], np.cumsum((dense > 0).sum(axis=1))])
    codes = np.nonzero(dense)[1].astype(np.uint32)
    classes = ClassCounts(starts, codes, dense[dense > 0], reference, sizes)
    table = table_of([str(number) for number in range(values)])
    apart = dense / sizes[:, None] - reference / reference.sum()
    exact = np.abs(np.cumsum(apart, axis=1)).sum(axis=1) / (values - 1)
    middle = float(np.median(exact)) + 1e-7
    ready = OrderedCloseness(middle, "ill").for_table(table)
    assert ready.holds(classes).tolist() == (exact <= middle).tolist()
    falling = -np.sort(-dense, axis=1)
    recursive = RecursiveDiversity("0.5", 2, "ill").holds(classes)
    assert recursive.tolist() == (falling[:, 0] < 0.5 * falling[:, 1:].sum(axis=1)).tolist()


BIG = st.integers(0, 2**63 - 1)


@given(st.lists(st.tuples(BIG, BIG), min_size=1, max_size=5), BIG, st.integers(1, 2**63 - 1), BIG)
def test_ratios_are_compared_in_128_bits(
    pairs: list[tuple[int, int]], numerator: int, denominator: int, factor: int
) -> None:
    limit = Fraction(numerator, denominator)
    tie = factor // max(limit.numerator, limit.denominator)
    pairs = [*pairs, (tie * limit.numerator, tie * limit.denominator)]
    parts, wholes = (np.array(numbers, np.int64) for numbers in zip(*pairs, strict=True))
    found = criteria_module._at_most(parts, wholes, limit)
    assert found.tolist() == [
        part * limit.denominator <= whole * limit.numerator for part, whole in pairs
    ]


# Laws under merging

ALL = [
    KAnonymity(3),
    HighestRisk(0.4),
    DistinctDiversity(3, "ill"),
    EntropyDiversity("2.2", "ill"),
    RecursiveDiversity(2, 2, "ill"),
    InferenceRisk(0.5, "ill"),
    EqualCloseness(0.3, "ill"),
    OrderedCloseness(0.2, "ill", ORDER),
    HierarchicalCloseness(0.2, "ill", TREE),
]
OWN = st.lists(st.sampled_from(ILLS), min_size=1, max_size=9)


@pytest.mark.parametrize("criterion", ALL, ids=lambda criterion: criterion.name)
@given(one=OWN, other=OWN, rest=st.lists(st.sampled_from(ILLS), max_size=9))
def test_merged_classes_hold_as_promised(
    criterion: Criterion, one: Class, other: Class, rest: Class
) -> None:
    everyone = one + other + rest
    ready = criterion.for_table(table_of(records=50))
    first, second, both = ready.holds(counted([one, other, one + other], everyone)).tolist()
    if criterion.monotone and (first or second):
        assert both
    if criterion.monotone_unsuppressed and first and second:
        assert both


NOT_MONOTONE: dict[Criterion, tuple[Class, Class, Class]] = {
    EntropyDiversity(2, "ill"): (["cold", "flu"], ["cold"] * 9, []),
    RecursiveDiversity(2, 2, "ill"): (["cold", "flu"], ["cold"] * 9, []),
    InferenceRisk(0.5, "ill"): (["cold", "flu"], ["cold"] * 9, []),
    EqualCloseness(0.1, "ill"): (["cold", "flu"], ["none"] * 2, ["cold", "flu"] * 40),
    OrderedCloseness(0.1, "ill", ORDER): (["cold", "flu"], ["none"] * 2, ["cold", "flu"] * 40),
    HierarchicalCloseness(0.1, "ill", TREE): (
        ["cold", "flu"],
        ["none"] * 2,
        ["cold", "flu"] * 40,
    ),
}


@pytest.mark.parametrize("criterion", NOT_MONOTONE, ids=lambda criterion: criterion.kind)
def test_a_part_that_holds_is_not_always_enough(criterion: Criterion) -> None:
    one, other, rest = NOT_MONOTONE[criterion]
    classes = counted([one, one + other], one + other + rest)
    assert criterion.for_table(TABLE).holds(classes).tolist() == [True, False]
    assert not criterion.monotone


def test_average_risk_may_rise_when_fewer_records_are_suppressed() -> None:
    limit = AverageRisk("0.001")
    assert limit.allows(ClassCounts.of_sizes(np.array([1000])))
    assert not limit.allows(ClassCounts.of_sizes(np.array([1000, 2])))
    assert (limit.monotone, limit.monotone_unsuppressed) == (False, True)


# Faults

QUESTIONS: dict[str, tuple[Callable[[], object], str]] = {
    "k of nothing": (lambda: KAnonymity(0), "k must be a whole number of at least 1, not 0"),
    "k of a half": (lambda: KAnonymity(2.5), "k must be a whole number"),  # type: ignore[arg-type]
    "k that is no number": (lambda: KAnonymity(True), "k must be a whole number"),
    "l of nothing": (lambda: DistinctDiversity(0, "ill"), "l must be a whole number of at least 1"),
    "entropy below one": (lambda: EntropyDiversity(0.5, "ill"), "l must be at least 1, not 0.5"),
    "entropy of a word": (lambda: EntropyDiversity("two", "ill"), "l must be a number, not 'two'"),
    "c of nothing": (lambda: RecursiveDiversity(0, 2, "ill"), "c must be positive, not 0"),
    "recursive l of nothing": (lambda: RecursiveDiversity(2, 0, "ill"), "l must be a whole number"),
    "t above one": (lambda: EqualCloseness(1.1, "ill"), "t must be from 0 to 1, not 1.1"),
    "t below nothing": (lambda: OrderedCloseness(-0.1, "ill"), "t must be from 0 to 1, not -0.1"),
    "t that is no number": (
        lambda: HierarchicalCloseness(float("nan"), "ill", TREE),
        "t must be a number, not nan",
    ),
    "p of nothing": (
        lambda: HighestRisk(0),
        "the highest risk must be above 0 and at most 1, not 0",
    ),
    "p above one": (
        lambda: AverageRisk(2),
        "the average risk must be above 0 and at most 1, not 2",
    ),
    "inference below nothing": (
        lambda: InferenceRisk(-1, "ill"),
        "the inference risk must be above 0",
    ),
    "too many digits": (
        lambda: EqualCloseness("0.1234567890123456789012", "ill"),
        "t has too many digits",
    ),
    "diversity of nothing": (
        lambda: DistinctDiversity(2, ""),
        "distinct l-diversity needs a sensitive attribute; name the column",
    ),
    "closeness of nothing": (
        lambda: EqualCloseness(0.2, None),  # type: ignore[arg-type]
        "t-closeness with equal distances needs a sensitive attribute",
    ),
    "a value twice in the order": (
        lambda: OrderedCloseness(0.2, "ill", ("cold", "flu", "cold")),
        '"cold" is twice in the order of "ill"',
    ),
    "k above the records": (
        lambda: KAnonymity(9).for_table(TABLE),
        "people.csv has 5 records, so no class can hold 9 (9-anonymity); ask for less",
    ),
    "a risk below one over the records": (
        lambda: HighestRisk(0.1).for_table(TABLE),
        "people.csv has 5 records, so no class can hold 10",
    ),
    "more values than there are": (
        lambda: DistinctDiversity(6, "ill").for_table(TABLE),
        'column "ill" has 5 distinct values, so no class can be 6-diverse; choose l of at most 5',
    ),
    "more entropy than there is": (
        lambda: EntropyDiversity(5.5, "ill").for_table(TABLE),
        'column "ill" has 5 distinct values, so no class can be 5.5-diverse',
    ),
    "a tail beyond the values": (
        lambda: RecursiveDiversity(2, 6, "ill").for_table(TABLE),
        "no class can be 6-diverse",
    ),
    "a share below one over the values": (
        lambda: InferenceRisk(0.1, "ill").for_table(TABLE),
        'column "ill" has 5 distinct values: one of them has at least 1/5 of any class; choose p',
    ),
}
DATA: dict[str, tuple[Callable[[], object], str]] = {
    "an unknown attribute": (
        lambda: EqualCloseness(0.2, "Ill").for_table(TABLE),
        'column "Ill" is not in people.csv; did you mean "ill"?',
    ),
    "a value that is not in the order": (
        lambda: OrderedCloseness(0.2, "ill", ORDER[1:]).for_table(TABLE),
        'people.csv: the value "none" of column "ill" is not in the order given; put it where it belongs',
    ),
    "words without an order": (
        lambda: OrderedCloseness(0.2, "ill").for_table(TABLE),
        'the value "cold" of column "ill" is not a number; give all its values in order',
    ),
    "a value that is not in the hierarchy": (
        lambda: HierarchicalCloseness(0.2, "ill", Hierarchy("ill", TREE.rows[:5])).for_table(TABLE),
        'people.csv: the value "none" of column "ill" is not in its hierarchy',
    ),
}


@pytest.mark.parametrize("fault", QUESTIONS)
def test_questions_that_are_refused(fault: str) -> None:
    ask, message = QUESTIONS[fault]
    with pytest.raises(StudyError) as error:
        ask()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("fault", DATA)
def test_data_that_is_refused(fault: str) -> None:
    ask, message = DATA[fault]
    with pytest.raises(DataError) as error:
        ask()
    assert message in str(error.value)


@pytest.mark.parametrize(
    "criterion", [OrderedCloseness(0.2, "ill", ORDER), HierarchicalCloseness(0.2, "ill", TREE)]
)
def test_a_criterion_that_was_not_made_ready_says_so(criterion: Criterion) -> None:
    with pytest.raises(InternalError, match="call for_table first"):
        criterion.holds(counted([["cold"]]))


def test_sizes_alone_do_not_tell_of_values() -> None:
    with pytest.raises(InternalError, match="sizes only"):
        DistinctDiversity(2, "ill").holds(ClassCounts.of_sizes(np.array([3])))


def test_one_value_is_as_close_as_can_be() -> None:
    table = table_of(["cold"])
    only = ClassCounts(
        np.array([0, 1]), np.array([0], np.uint32), np.array([2]), np.array([2]), np.array([2])
    )
    for criterion in (
        EqualCloseness(0, "ill"),
        OrderedCloseness(0, "ill", ("cold",)),
        HierarchicalCloseness(0, "ill", Hierarchy("ill", (("cold",),))),
    ):
        assert criterion.for_table(table).holds(only).tolist() == [True]


@pytest.mark.parametrize(
    ("criterion", "name"),
    [
        (KAnonymity(5), "5-anonymity"),
        (EqualCloseness("0.2", "ill"), '0.2-closeness of "ill" (equal distances)'),
        (
            OrderedCloseness(Fraction(1, 4), "ill", ("a", "b")).for_table(table_of(["a", "b"])),
            '1/4-closeness of "ill" (ordered distances)',
        ),
        (
            HierarchicalCloseness(0.2, "ill", TREE),
            '0.2-closeness of "ill" (hierarchical distances)',
        ),
        (RecursiveDiversity(3, 2, "ill"), 'recursive (3, 2)-diversity of "ill"'),
        (AverageRisk(0.1), "re-identification with probability at most 0.1 on average"),
    ],
)
def test_criteria_say_what_they_are(criterion: Criterion | TableCriterion, name: str) -> None:
    assert criterion.name == name


def test_numbers_of_numpy_are_whole_numbers() -> None:
    assert json.dumps(KAnonymity(np.int64(5)).k) == "5"  # type: ignore[arg-type]


def test_criteria_are_made_ready_for_a_table() -> None:
    asked = [KAnonymity(2), AverageRisk(0.5), OrderedCloseness(0.2, "ill", ORDER)]
    ready = [criterion.for_table(TABLE) for criterion in asked]
    assert [criterion.sensitive for criterion in ready] == [None, None, "ill"]
    assert isinstance(ready[2], OrderedCloseness)
    assert ready[2].holds(counted([list(ILLS)])).tolist() == [True]


# What ARX found on Adult (shared/golden/mitigation.json): which records each optimum suppresses


def arx_criteria(case: str, occupations: Callable[[], Hierarchy]) -> list[Criterion]:
    size = KAnonymity(int(case.removeprefix("k").split("_")[0]))
    if "distinct" in case:
        return [size, DistinctDiversity(3, "occupation")]
    if "equal" in case:
        return [size, EqualCloseness(0.2, "occupation")]
    if "hierarchical" in case:
        return [size, HierarchicalCloseness(0.2, "occupation", occupations())]
    return [size]


def test_the_classes_that_arx_keeps_are_those_that_hold(shared: Callable[[str], Path]) -> None:
    golden = json.loads(shared("golden/mitigation.json").read_text(encoding="utf-8"))
    adult = read(
        shared("data/arx/adult.csv"), sensitive=["occupation"], also=golden["meta"]["qids"]
    )

    def hierarchy(name: str) -> Hierarchy:
        return read_hierarchy(shared(f"data/arx/adult_hierarchy_{name}.csv"), column=name)

    coded = {
        name: hierarchy(name).coded(adult.column(name), where=adult.name)
        for name in golden["meta"]["qids"]
    }
    secret = adult.column("occupation")
    for case, found in golden["global_recoding"].items():
        columns = [
            EncodedColumn(
                name,
                own.codes[found["optimum"]["levels"][name]][adult.column(name).codes],
                pa.array(own.labels[found["optimum"]["levels"][name]], pa.large_string()),
            )
            for name, own in coded.items()
        ]
        classes = refined(columns, adult.records)
        pairs = classes.numbers.astype(np.int64) * secret.cardinality + secret.codes
        distinct, counts = np.unique(pairs, return_counts=True)
        judged = ClassCounts(
            sizes=classes.sizes,
            starts=np.searchsorted(distinct // secret.cardinality, np.arange(classes.classes + 1)),
            values=(distinct % secret.cardinality).astype(np.uint32),
            counts=counts,
            reference=np.bincount(secret.codes, minlength=secret.cardinality),
        )
        criteria = arx_criteria(case, lambda: hierarchy("occupation"))
        holds = np.logical_and.reduce([each.for_table(adult).holds(judged) for each in criteria])
        assert int(classes.sizes[~holds].sum()) == found["classes"]["suppressed_records"], case
        assert int(np.count_nonzero(holds)) == found["classes"]["classes"], case
        assert int(classes.sizes[holds].min()) == found["classes"]["min_class"], case


# How much more likely a value becomes


def ratios(own: Class, everyone: Sequence[str]) -> dict[str, Fraction]:
    """Return the share of every value of the table in a class, by its share in the table."""
    return {
        value: Fraction(own.count(value), len(own)) / Fraction(everyone.count(value), len(everyone))
        for value in set(everyone)
    }


@given(CLASSES, st.sampled_from(["0.5", "1", "2.5", "1/3"]))
def test_beta_likeness_bounds_how_much_more_frequent_a_value_becomes(
    classes: list[Class], beta: str
) -> None:
    everyone = [value for own in classes for value in own]
    counts, limit = counted(classes), 1 + Fraction(beta)
    basic = [max(ratios(own, everyone).values()) <= limit for own in classes]
    assert BetaLikeness(beta, "ill").holds(counts).tolist() == basic
    enhanced = [
        all(
            ratio <= limit
            and (ratio <= 1 or ratio <= 1 - math.log(everyone.count(value) / len(everyone)))
            for value, ratio in ratios(own, everyone).items()
        )
        for own in classes
    ]
    assert BetaLikeness(beta, "ill", enhanced=True).holds(counts).tolist() == enhanced


@given(CLASSES, st.sampled_from(["0.2", "0.7", "1", "2"]))
def test_delta_disclosure_asks_for_every_value_in_every_class(
    classes: list[Class], delta: str
) -> None:
    everyone = [value for own in classes for value in own]
    expected = [
        all(
            ratio > 0 and abs(math.log(ratio)) < float(delta)
            for ratio in ratios(own, everyone).values()
        )
        for own in classes
    ]
    assert DeltaDisclosure(delta, "ill").holds(counted(classes)).tolist() == expected


@given(CLASSES)
def test_a_union_of_classes_that_are_like_all_records_is_so_too(classes: list[Class]) -> None:
    everyone = [value for own in classes for value in own]
    for criterion in (
        BetaLikeness(1, "ill"),
        BetaLikeness(3, "ill", enhanced=True),
        DeltaDisclosure(1, "ill"),
    ):
        holds = criterion.holds(counted(classes))
        union = [value for own, met in zip(classes, holds, strict=True) if met for value in own]
        if union:
            assert criterion.holds(counted([union], everyone)).all()


def test_beta_and_delta_are_positive() -> None:
    with pytest.raises(StudyError, match="beta must be positive, not 0"):
        BetaLikeness(0, "ill")
    with pytest.raises(StudyError, match="delta must be positive, not -1"):
        DeltaDisclosure(-1, "ill")
    assert BetaLikeness("0.5", "ill").name == '0.5-likeness of "ill"'


class Stranger:
    """A criterion by its members, and of no kind that is judged."""

    name, sensitive, monotone = "a stranger's 5-anonymity", None, True

    def for_table(self, table: EncodedTable) -> Stranger:
        return self


@pytest.mark.parametrize("recoding", ["global", "local"])
def test_a_criterion_that_nothing_judges_never_passes_for_met(recoding: str) -> None:
    """The data came back as they were, and their promise as kept."""
    stranger: Any = Stranger()
    table = read(pa.table({"age": ["20", "30", "40"]}), quasi_identifiers=["age"])
    hierarchies = {"age": suggest(table.column("age"))}
    search = recode if recoding == "global" else recode_locally
    with pytest.raises(InternalError, match="Stranger is judged by nothing"):
        search(table, hierarchies=hierarchies, criteria=[stranger])
    with pytest.raises(InternalError, match="Stranger is judged by nothing"):
        first_unmet([stranger], np.array([1]), lambda name: None)  # type: ignore[arg-type, return-value]


def test_the_distance_of_a_class_along_a_hierarchy_depends_on_no_class_before_it() -> None:
    """Four values under two labels, and these under one: what a label has too much moves first, and the rest above."""
    reference, parents = [6, 3, 4, 7], np.array([4, 4, 5, 5, 6, 6, 6])
    summed = np.array([*reference, 9, 11, 20])
    classes = [[3, 1, 0, 1], [0, 2, 2, 2], [3, 0, 2, 4]]

    def moved(counts: Sequence[int]) -> int:
        extras = [c * 20 - r * sum(counts) for c, r in zip(counts, reference, strict=True)]
        pairs = [extras[:2], extras[2:]]
        above = [sum(pair) for pair in pairs]
        return sum(
            level * min(sum(max(one, 0) for one in part), -sum(min(one, 0) for one in part))
            for level, part in ((1, pairs[0]), (1, pairs[1]), (2, above))
        )

    distance = np.zeros(len(classes), np.int64)
    add_hierarchical_distance(
        distance,
        np.int64(1),
        np.arange(0, 4 * len(classes) + 1, 4),
        np.array(classes).ravel(),
        np.array([sum(counts) for counts in classes]),
        np.tile(np.arange(4, dtype=np.uint32), len(classes)),
        parents,
        summed,
        2,
    )
    assert distance.tolist() == [moved(counts) for counts in classes]
