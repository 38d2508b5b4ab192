"""Utility against the obvious: every released value spread by hand, or in exact fractions, record by record."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from glasshouse.errors import DataError, StudyError
from glasshouse.mitigation import utility as utility_module
from glasshouse.mitigation.anatomy import anatomise
from glasshouse.mitigation.hierarchies import Hierarchy, read_hierarchy
from glasshouse.mitigation.utility import (
    MarginalDistances,
    Prediction,
    QueryError,
    column_costs,
    compare_utility,
)
from glasshouse.study import Dialect
from glasshouse.table import EncodedColumn, EncodedTable, read
from glasshouse.table.generalised import covers
from tests.examples import examples

Row = tuple[str, str]
NAMES = ["age", "town"]
ALL, TWO_THIRDS = Fraction(1), Fraction(2, 3)
GENERAL = {
    "age": ["*", "1-3", "[2, 5)", ">=4", "{1, 6}", "0..9"],
    "town": ["*", "A*", "B*", "A1|B2", "C*", "{A1, A2, B1, B2, C1}"],
}


def marginal_distances(
    before: EncodedTable, after: EncodedTable, columns: Any = None, **known: Any
) -> MarginalDistances:
    return compare_utility(before, after, columns=columns, queries=1, **known).distances


def count_query_error(
    before: EncodedTable,
    after: EncodedTable,
    columns: Any = None,
    *,
    selectivity: float = utility_module.SELECTIVITY,
    **known: Any,
) -> QueryError:
    with patch.object(utility_module, "SELECTIVITY", selectivity):
        return compare_utility(before, after, columns=columns, **known).queries


def prediction(
    before: EncodedTable, after: EncodedTable, target: str, *, features: Sequence[str], **known: Any
) -> Prediction:
    outcome = compare_utility(before, after, columns=features, target=target, queries=1, **known)
    assert outcome.prediction is not None
    return outcome.prediction


@st.composite
def recoded(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Some records, and the same with values that stand for theirs."""
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("123456"), st.sampled_from(["A1", "A2", "B1", "B2", "C1"])),
            min_size=1,
            max_size=8,
        )
    )
    released = []
    for row in rows:
        told = [
            draw(st.sampled_from([value, *(g for g in GENERAL[name] if covers(g, value))]))
            for name, value in zip(NAMES, row, strict=True)
        ]
        released.append((told[0], told[1]))
    return rows, released


def as_table(rows: Sequence[Row], name: str = "people") -> EncodedTable:
    columns: dict[str, Any] = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return read(pa.table(columns), quasi_identifiers=NAMES, name=name)


def spread(
    rows: Sequence[Row], released: Sequence[Row], chosen: Sequence[int]
) -> dict[tuple[str, ...], Fraction]:
    """Return the expected count of each combination of some columns, one record after the other."""
    domains = [sorted({row[own] for row in rows}) for own in chosen]
    expected: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for told in released:
        stands_for = [
            [value for value in domain if covers(told[own], value)]
            if told[own] not in domain
            else [told[own]]
            for own, domain in zip(chosen, domains, strict=True)
        ]
        combined = list(product(*stands_for))
        for values in combined:
            expected[values] += Fraction(1, len(combined))
    return expected


def total_variation(
    rows: Sequence[Row], released: Sequence[Row], chosen: Sequence[int]
) -> Fraction:
    truth = Counter(tuple(row[own] for own in chosen) for row in rows)
    expected = spread(rows, released, chosen)
    apart = [abs(truth[values] - expected[values]) for values in {*truth, *expected}]
    return sum(apart, start=Fraction(0)) / (2 * len(rows))


# Distances


@given(recoded())
def test_distances_equal_exact_spreading(drawn: tuple[list[Row], list[Row]]) -> None:
    rows, released = drawn
    distances = marginal_distances(as_table(rows), as_table(released))
    for own, name in enumerate(NAMES):
        exact = float(total_variation(rows, released, [own]))
        assert distances.single[name] == pytest.approx(exact, abs=1e-12)
    exact = float(total_variation(rows, released, [0, 1]))
    assert distances.pairs["age", "town"] == pytest.approx(exact, abs=1e-12)
    assert all(0 <= each <= 1 for each in (*distances.single.values(), *distances.pairs.values()))


@given(recoded())
def test_identical_tables_are_not_apart(drawn: tuple[list[Row], list[Row]]) -> None:
    rows, _ = drawn
    distances = marginal_distances(as_table(rows), as_table(rows[::-1]))
    assert [*distances.single.values(), *distances.pairs.values()] == [0.0, 0.0, 0.0]


@given(recoded(), st.integers(0, 3))
def test_left_out_records_count_as_suppressed(
    drawn: tuple[list[Row], list[Row]], left_out: int
) -> None:
    rows, released = drawn
    kept = max(1, len(rows) - left_out)
    starred = [*released[:kept], *([("*", "*")] * (len(rows) - kept))]
    dropped = marginal_distances(as_table(rows), as_table(released[:kept]))
    assert dropped.to_dict() == marginal_distances(as_table(rows), as_table(starred)).to_dict()


def test_suppressing_everything_leaves_the_uniform_distribution() -> None:
    rows = [("1", "A1"), ("1", "A1"), ("1", "B1"), ("2", "A1")]
    distances = marginal_distances(as_table(rows), as_table([("*", "*")] * 4))
    assert dict(distances.single) == {"age": 0.25, "town": 0.25}
    # 2/4, 1/4, 1/4 and 0 against 1/4 each
    assert dict(distances.pairs) == {("age", "town"): 0.25}
    assert (distances.mean_single, distances.mean_pair) == (0.25, 0.25)


def test_marginals_may_be_kept_while_the_pair_is_lost() -> None:
    rows = [("1", "A1"), ("2", "B1")]
    distances = marginal_distances(as_table(rows), as_table([("*", "A1"), ("*", "B1")]))
    assert dict(distances.single) == {"age": 0.0, "town": 0.0}
    assert dict(distances.pairs) == {("age", "town"): 0.5}
    assert distances.to_dict()["pairs"] == [{"columns": ["age", "town"], "distance": 0.5}]
    assert distances.to_frame().to_pylist()[-1] == {"columns": ["age", "town"], "distance": 0.5}


def test_a_cell_that_may_stand_for_anything_is_spread_over_what_there_is() -> None:
    rng = np.random.default_rng(1)
    rows = [(str(a), str(b)) for a, b in rng.integers(0, 30, (200, 2))]
    released = [("0..9" if len(a) == 1 else a, "*") for a, _ in rows]
    whole = marginal_distances(as_table(rows), as_table(released)).pairs["age", "town"]
    assert whole == pytest.approx(float(total_variation(rows, released, [0, 1])), abs=1e-12)


def test_dates_and_numbers_are_compared_by_value() -> None:
    before = read(pa.table({"day": ["2000-01-31", "2000-02-01", "x"], "n": ["1.0", "2", "30"]}))
    after = read(pa.table({"day": ["2000-01-01..2000-12-31"] * 2 + ["x"], "n": ["<2", "2", "30"]}))
    distances = marginal_distances(before, after, ["day", "n"])
    assert dict(distances.single) == {"day": 0.0, "n": 0.0}


def test_labels_are_explained_by_their_hierarchy() -> None:
    city = Hierarchy("c", (("Lyon", "France", "*"), ("Nice", "France", "*"), ("Bonn", "DE", "*")))
    before = read(pa.table({"c": ["Lyon", "Lyon", "Nice", "Nice", "Nice", "Nice", "Bonn"]}))
    after = read(pa.table({"c": ["France"] * 6 + ["DE"]}))
    distances = marginal_distances(before, after, ["c"], hierarchies={"c": city})
    assert distances.single["c"] == pytest.approx(1 / 7)
    with pytest.raises(DataError, match=r'"France" in column "c" of .* stands for no value'):
        marginal_distances(before, after, ["c"])


def test_values_that_nobody_has_do_not_matter() -> None:
    before = as_table([("1", "A1"), ("2", "A1")])
    age = before.column("age")
    wider = pa.array(["nobody", *age.values.to_pylist()], pa.large_string())
    columns = {**before.columns, "age": EncodedColumn("age", age.codes + np.uint8(1), wider)}
    after = EncodedTable("after", 2, columns, before.roles)
    assert marginal_distances(before, after).single["age"] == 0.0


def test_one_column_has_no_pair() -> None:
    table = as_table([("1", "A1"), ("2", "A1")])
    distances = marginal_distances(table, table, ["age"])
    assert distances.mean_pair is None
    assert distances.to_dict()["pairs"] == []


# Queries


@given(recoded(), st.integers(0, 5))
def test_query_errors_equal_exact_spreading(drawn: tuple[list[Row], list[Row]], seed: int) -> None:
    rows, released = drawn
    before, after = as_table(rows), as_table(released)
    outcome = count_query_error(before, after, queries=6, seed=seed, selectivity=0.4)
    columns = [before.column(name) for name in NAMES]
    rng = np.random.default_rng(seed)
    errors = []
    for query in utility_module._random_queries(columns, 6, 0.4, rng):
        wanted = [
            {column.values[int(code)].as_py() for code in np.flatnonzero(marks)}
            for column, marks in zip(
                (columns[own] for own in query.columns), query.values, strict=True
            )
        ]
        truth, answer = (
            sum(
                (
                    count
                    for values, count in spread(rows, told, query.columns).items()
                    if all(value in own for value, own in zip(values, wanted, strict=True))
                ),
                start=Fraction(0),
            )
            for told in (rows, released)
        )
        errors.append(abs(answer - truth) / max(truth, Fraction(len(rows), 1000)))
    assert outcome.mean == pytest.approx(float(sum(errors) / 6), abs=1e-12)
    assert outcome.median == pytest.approx(float(sum(sorted(errors)[2:4]) / 2), abs=1e-12)


def test_identical_tables_answer_every_query_right() -> None:
    table = as_table([("1", "A1"), ("2", "A1"), ("2", "B1")])
    outcome = count_query_error(table, table, queries=50)
    assert (outcome.queries, outcome.median, outcome.mean) == (50, 0.0, 0.0)


def test_answers_of_a_suppressed_column_by_hand() -> None:
    before = read(pa.table({"c": ["a", "a", "a", "b"]}))
    after = read(pa.table({"c": ["*"] * 4}))
    # half of the values are asked for: the answer is 2, the truth 3 or 1
    outcome = count_query_error(before, after, ["c"], queries=200, selectivity=0.5, seed=1)
    assert outcome.median in (1 / 3, 1.0, 2 / 3)
    assert 0.6 < outcome.mean < 0.74
    assert outcome.bound == 0.004
    assert count_query_error(before, after, ["c"], queries=9, selectivity=1.0).mean == 0


def test_truth_of_nothing_is_bounded() -> None:
    before = read(pa.table({"a": ["1", "2"] * 500, "b": ["x", "y"] * 500}))
    after = read(pa.table({"a": ["1", "2"] * 500, "b": ["*"] * 1000}))
    outcome = count_query_error(before, after, ["a", "b"], queries=300, selectivity=0.1, seed=0)
    # asked for both columns: 250 instead of 500, or instead of nothing, which counts as 1
    assert 20 < outcome.mean < 100
    assert outcome.median in (0.0, 0.5)


def test_same_seed_same_queries() -> None:
    before = as_table([("1", "A1"), ("2", "A1"), ("2", "B1"), ("5", "C1")])
    after = as_table([("1-3", "A*"), ("1-3", "A1"), ("2", "*"), ("5", "C1")])
    first, again, other = (
        count_query_error(before, after, queries=40, seed=seed).to_dict() for seed in (1, 1, 2)
    )
    assert first == again
    assert first["mean"] != other["mean"]


def test_ranges_follow_numbers_and_days_and_not_texts() -> None:
    order = utility_module._natural_order
    values = pa.array(["10", "9", "", "-1.5"], pa.large_string())
    found = order(EncodedColumn("n", np.zeros(0, np.uint8), values))
    assert found is not None
    assert values.take(pa.array(found)).to_pylist() == ["", "-1.5", "9", "10"]
    days = pa.array(["2001-02-03", "1999-12-31"], pa.large_string())
    found = order(EncodedColumn("d", np.zeros(0, np.uint8), days))
    assert found is not None
    assert found.tolist() == [1, 0]
    assert order(EncodedColumn("t", np.zeros(0, np.uint8), pa.array(["1", "x"]))) is None
    assert order(EncodedColumn("t", np.zeros(0, np.uint8), pa.array([""]))) is None


# Prediction


class Votes:
    """Predicts the label whose records had most of the features in common: simple, and without chance."""

    def fit(self, rows: csr_array, labels: Any, *, sample_weight: Any) -> None:
        self.labels, own = np.unique(labels, return_inverse=True)
        marks = csr_array((sample_weight.astype(float), (np.arange(len(own)), own)))
        self.votes = (rows.T @ marks).toarray()

    def predict(self, rows: csr_array) -> Any:
        return self.labels[np.argmax(rows @ self.votes, axis=1)]


def lessons() -> tuple[EncodedTable, EncodedTable]:
    """The town tells the illness, and the release does not tell the town."""
    towns, ills = ["A", "A", "B"] * 20, ["flu", "flu", "cold"] * 20
    before = read(pa.table({"town": towns, "ill": ills}), name="before")
    return before, read(pa.table({"town": ["*"] * 60, "ill": ills}), name="after")


def test_suppressed_feature_leaves_the_majority() -> None:
    before, after = lessons()
    outcome = prediction(before, after, "ill", features=["town"], classifier=Votes())
    assert (outcome.original, outcome.release) == (ALL, TWO_THIRDS)
    assert (outcome.majority, outcome.kept, outcome.records) == (TWO_THIRDS, Fraction(0), 60)
    assert outcome.to_dict()["kept"] == 0.0


def test_unchanged_release_predicts_as_well() -> None:
    before, _ = lessons()
    outcome = prediction(before, before, "ill", features=["town"], classifier=Votes())
    assert (outcome.original, outcome.release, outcome.kept) == (ALL, ALL, ALL)


def test_suppressed_targets_are_not_learned_from() -> None:
    before, _ = lessons()
    ills = ["flu", "*", "cold"] * 20
    after = read(pa.table({"town": ["A", "A", "B"] * 20, "ill": ills}))
    outcome = prediction(before, after, "ill", features=["town"], classifier=Votes())
    assert outcome.release == 1


def test_target_with_one_value_needs_no_learning() -> None:
    table = read(pa.table({"town": ["A", "B"] * 9, "ill": ["flu"] * 18}))
    outcome = prediction(table, table, "ill", features=["town"], classifier=Votes())
    assert (outcome.original, outcome.release, outcome.kept) == (ALL, ALL, None)


def test_at_most_a_sample_is_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = lessons()
    monkeypatch.setattr(utility_module, "SAMPLE", 30)
    known = dict(features=["town"], classifier=Votes())  # noqa: C408
    first, again = (prediction(before, after, "ill", seed=4, **known) for _ in range(2))  # type: ignore[arg-type]
    assert first.records == 30
    assert first == again


def test_scikit_learn_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(StudyError, match=r"pip install 'glasshouse\[learn\]'"):
        prediction(*lessons(), "ill", features=["town"])


def test_logistic_regression_by_default() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    outcome = prediction(*lessons(), "ill", features=["town"])
    assert (outcome.original, outcome.release) == (ALL, TWO_THIRDS)


# All together


def test_utility_as_plain_values() -> None:
    before, after = lessons()
    told = compare_utility(
        before, after, columns=["town", "ill"], queries=20, target="ill", classifier=Votes()
    )
    assert told.to_dict()["distances"]["single"] == {"town": pytest.approx(1 / 6), "ill": 0.0}
    assert told.to_dict()["prediction"]["features"] == ["town"]
    frame = told.to_frame().to_pylist()
    assert [row["measure"] for row in frame][-2:] == ["accuracy: release", "accuracy: majority"]
    assert {row["release"] for row in frame} == {"after"}
    assert frame[-1]["value"] == pytest.approx(2 / 3)
    without = compare_utility(before, after, columns=["town", "ill"], queries=20)
    assert without.prediction is None
    assert without.queries == told.queries
    assert without.to_frame().num_rows == 4


def test_anatomy_keeps_marginals_and_loses_the_link() -> None:
    rng = np.random.default_rng(3)
    towns = rng.integers(0, 4, 4_000)
    ills = (towns + rng.integers(0, 2, 4_000)) % 4
    table = read(pa.table({"town": towns.astype(str), "ill": ills.astype(str)}))
    anatomy = anatomise(table, l=3, sensitive="ill", quasi_identifiers=["town"])
    distances = marginal_distances(table, anatomy.one_table(table), ["town", "ill"])
    assert dict(distances.single) == {"town": 0.0, "ill": 0.0}
    assert 0.2 < distances.pairs["town", "ill"] < 0.5


# Faults


def test_unknown_column_is_named() -> None:
    table = as_table([("1", "A1")])
    with pytest.raises(DataError, match='did you mean "town"'):
        marginal_distances(table, table, ["towns"])
    with pytest.raises(DataError, match='"town" is not in after'):
        marginal_distances(table, read(pa.table({"age": ["1"]}), name="after"), ["age", "town"])


@pytest.mark.parametrize(
    ("columns", "message"), [([], "name the columns"), (["age", "age"], "twice"), ("age", "a list")]
)
def test_columns_that_make_no_sense(columns: Any, message: str) -> None:
    table = as_table([("1", "A1")])
    with pytest.raises(StudyError, match=message):
        marginal_distances(table, table, columns)


def test_release_with_more_records_is_refused() -> None:
    with pytest.raises(DataError, match="2 records, more than the 1"):
        marginal_distances(as_table([("1", "A1")]), as_table([("1", "A1")] * 2))


def test_queries_that_make_no_sense() -> None:
    table = as_table([("1", "A1")])
    with pytest.raises(StudyError, match="ask at least one"):
        count_query_error(table, table, queries=0)


@pytest.mark.parametrize("features", [[], ["ill"]])
def test_a_target_without_features_is_refused(features: list[str]) -> None:
    with pytest.raises(StudyError, match="name the columns"):
        prediction(*lessons(), "ill", classifier=Votes(), features=features)


def test_generalised_target_is_refused() -> None:
    before, _ = lessons()
    for told, message in (("sick", "was not generalised"), ("*", "is suppressed")):
        after = read(pa.table({"town": ["A"] * 60, "ill": [told] * 60}))
        with pytest.raises(StudyError, match=message):
            prediction(before, after, "ill", features=["town"], classifier=Votes())


def test_prediction_needs_the_same_records() -> None:
    before, after = lessons()
    with pytest.raises(DataError, match="keep suppressed records"):
        prediction(before, after.of_records(np.arange(9)), "ill", features=["town"])


# A census


def test_adult_recoded_by_its_hierarchies(shared: Callable[[str], Path]) -> None:
    names = ["sex", "age", "education", "marital-status"]
    semicolon = Dialect(separator=";")
    adult = read(
        shared("data/arx/adult.csv"),
        dialect=semicolon,
        quasi_identifiers=names,
        sensitive=["occupation"],
    )
    hierarchies = {
        name: read_hierarchy(
            shared(f"data/arx/adult_hierarchy_{name}.csv"),
            column=name,
            dialect=Dialect(separator=";", header=False),
        )
        for name in names
    }
    levels = {"sex": 0, "age": 2, "education": 1, "marital-status": 1}
    columns = dict(adult.columns)
    for name, level in levels.items():
        coded = hierarchies[name].coded(adult.column(name), where="adult")
        labels = pa.array(coded.labels[level], pa.large_string())
        columns[name] = EncodedColumn(name, coded.codes[level][adult.column(name).codes], labels)
    release = EncodedTable("recoded", adult.records, columns, adult.roles)
    outcome = compare_utility(adult, release, hierarchies=hierarchies, queries=200)
    single = outcome.distances.single
    assert single["sex"] == single["occupation"] == 0.0
    assert all(0 < single[name] < 0.5 for name in ("age", "education", "marital-status"))
    for one, other in combinations((*names, "occupation"), 2):
        assert outcome.distances.pairs[one, other] >= max(single[one], single[other]) - 1e-12
    assert 0 < outcome.queries.median < 1


# --- What became of each column ---


@settings(max_examples=examples(20))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [("21", "21"), ("24", "20-29"), ("28", "20-29"), ("33", "*"), ("", "")]
            ),
            st.sampled_from([("100", "100"), ("250", "200-299"), ("280", "200-299"), ("400", "*")]),
            st.sampled_from([("A", "A"), ("B", "*")]),
        ),
        min_size=12,
        max_size=30,
    )
)
def test_columns_cost_what_spreading_every_record_by_hand_says(records: list[Any]) -> None:
    """Each released record counts as all records that it may stand for, in equal shares."""
    names = ("age", "income", "town")
    # every value occurs, so that the columns are known to hold numbers
    records = [
        *records,
        *(((a, a), (i, i), ("A", "A")) for a in ("21", "24", "28", "33") for i in ("100", "280")),
        *((("21", "21"), (i, i), ("B", "B")) for i in ("250", "400")),
    ]
    rows = [[str(value[0]) for value in record] for record in records]
    released = [[str(value[1]) for value in record] for record in records]
    table, release = (
        read(
            pa.table(dict(zip(names, zip(*side, strict=True), strict=True))),
            quasi_identifiers=["age", "income"],
            sensitive=["town"],
        )
        for side in (rows, released)
    )
    domain = [sorted({row[place] for row in rows}) for place in range(3)]

    def meant(place: int, written: str) -> list[str]:
        if written in domain[place]:
            return [written]
        return [value for value in domain[place] if written == "*" or covers(written, value)]

    def spread(side: list[list[str]]) -> list[tuple[tuple[str, ...], Fraction]]:
        possible = [[*product(*(meant(i, v) for i, v in enumerate(row)))] for row in side]
        return [(row, Fraction(1, len(rest))) for rest in possible for row in rest]

    costs = column_costs(table, release)
    assert [cost.column for cost in costs.columns] == list(names)
    sides = spread(rows), spread(released)
    for place, cost in enumerate(costs.columns):
        counts = [Counter[str](), Counter[str]()]
        for side, count in zip(sides, counts, strict=True):
            for row, weight in side:
                count[row[place]] += weight  # type: ignore[assignment]
        error = sum(abs(counts[0][value] - counts[1][value]) for value in domain[place])
        assert cost.error == pytest.approx(float(error) / (2 * len(rows)))
        assert sorted(before for before, _ in cost.counts) == sorted(counts[0].values())
        assert sum(after for _, after in cost.counts) == pytest.approx(len(rows))
    assert costs.columns[2].mean is None, "towns have no mean"
    for number, cost in enumerate(costs.columns[:2]):
        assert cost.mean is not None
        assert cost.variance is not None
        for place, side in enumerate(sides):
            points = [(Fraction(r[number]), w) for r, w in side if r[number]]
            total = sum(weight for _, weight in points)
            mean = sum(value * weight for value, weight in points) / total
            variance = sum(value**2 * weight for value, weight in points) / total - mean**2
            assert cost.mean[place] == pytest.approx(float(mean))
            assert cost.variance[place] == pytest.approx(float(variance), abs=1e-6)
    for place, side in enumerate(sides):
        both = [(float(r[0]), float(r[1]), float(w)) for r, w in side if r[0]]
        x, y, weights = np.array(both).T
        matrix = np.cov(x, y, aweights=weights, ddof=0)
        if matrix[0, 0] > 1e-9 and matrix[1, 1] > 1e-9:
            expected = matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1])
            assert costs.correlations["age", "income"][place] == pytest.approx(expected, abs=1e-9)


def test_what_is_not_changed_costs_nothing() -> None:
    people = pa.table({"age": ["21", "22", "35", "47"], "sex": ["f", "m", "m", "f"]})
    table = read(people, quasi_identifiers=["age", "sex"])
    costs = column_costs(table, table)
    age, sex = costs.columns
    assert (age.error, age.mean_error, age.variance_error) == (0, 0, 0)
    assert (sex.error, sex.mean, costs.correlation_error("sex")) == (0, None, None)
