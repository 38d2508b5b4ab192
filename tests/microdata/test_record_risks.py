"""The risk of each record against the obvious: look at every record's class with dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import RecordRisks, attack, record_risks
from glasshouse.microdata.attacks import SENSITIVE_WARNING
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Row = tuple[int, ...]

TABLES = st.tuples(st.integers(1, 3), st.integers(0, 2), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        st.just(shape[0]),
        st.lists(
            st.tuples(*[st.integers(0, shape[2] - 1)] * sum(shape[:2])), min_size=1, max_size=30
        ),
    )
)


def as_table(rows: list[Row], attributes: int) -> EncodedTable:
    names = [f"q{i}" if i < attributes else f"s{i - attributes}" for i in range(len(rows[0]))]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return read(
        pa.table(columns), quasi_identifiers=names[:attributes], sensitive=names[attributes:]
    )


def check(outcome: RecordRisks, rows: list[Row], attributes: int) -> None:
    classes: dict[Row, list[Row]] = {}
    for row in rows:
        classes.setdefault(row[:attributes], []).append(row)
    own = [classes[row[:attributes]] for row in rows]
    sizes = [len(members) for members in own]
    assert outcome.records == len(rows)
    assert outcome.sizes.tolist() == sizes
    assert outcome.reidentification.tolist() == [1 / size for size in sizes]
    assert outcome.most.shape == (len(outcome.sensitive), len(rows))
    for s, name in enumerate(outcome.sensitive):
        counted = {
            id(members): Counter(row[attributes + s] for row in members)
            for members in classes.values()
        }
        most = [max(counted[id(members)].values()) for members in own]
        assert outcome.most[s].tolist() == most
        assert outcome.success(name).tolist() == [
            count / size for count, size in zip(most, sizes, strict=True)
        ]
        assert outcome.certain(name).tolist() == [
            count == size for count, size in zip(most, sizes, strict=True)
        ]


@settings(max_examples=examples(100))
@given(TABLES)
def test_every_record_equals_brute_force_in_row_order(drawn: tuple[int, list[Row]]) -> None:
    attributes, rows = drawn
    check(record_risks(as_table(rows, attributes)), rows, attributes)


def test_larger_tables_with_large_classes_and_many_values() -> None:
    generator = np.random.default_rng(11)
    sizes = (3, 40, 700, 5_000)
    columns = [(size * generator.random(6_000) ** 2).astype(int).tolist() for size in sizes]
    rows = list(zip(*columns, strict=True))
    check(record_risks(as_table(rows, 2)), rows, 2)


@settings(max_examples=examples(40))
@given(TABLES)
def test_the_mean_over_records_is_the_collective_attack(drawn: tuple[int, list[Row]]) -> None:
    attributes, rows = drawn
    table = as_table(rows, attributes)
    outcome = record_risks(table)
    named = attack(table)
    assert outcome.reidentification.mean() == pytest.approx(float(named.probabilistic.posterior))
    assert int((outcome.sizes == 1).sum()) == named.certain
    for name in table.sensitive:
        inferred = attack(table, sensitive=name)
        assert outcome.success(name).mean() == pytest.approx(
            float(inferred.probabilistic.posterior)
        )
        assert int(outcome.certain(name).sum()) == inferred.certain


def test_columns_may_be_chosen_and_the_frame_names_them() -> None:
    people = pa.table({"age": [30, 20, 30], "sex": ["F", "M", "M"], "ill": ["a", "b", "b"]})
    table = read(people, quasi_identifiers=["age", "sex"], sensitive=["ill"])
    outcome = record_risks(table, quasi_identifiers=["age"], sensitive=["ill", "sex"])
    assert (outcome.quasi_identifiers, outcome.sensitive) == (("age",), ("ill", "sex"))
    assert outcome.to_frame().to_pydict() == {
        "size": [2, 1, 2],
        "reidentification": [0.5, 1.0, 0.5],
        "ill: success": [0.5, 1.0, 0.5],
        "ill: certain": [False, True, False],
        "sex: success": [0.5, 1.0, 0.5],
        "sex: certain": [False, True, False],
    }


def test_the_warning_is_one_line_that_says_personal_data() -> None:
    assert "personal data" in SENSITIVE_WARNING
    assert "\n" not in SENSITIVE_WARNING


def test_bad_columns_are_named() -> None:
    people = pa.table({"id": [1, 2], "age": [1, 2], "ill": [1, 2]})
    table = read(people, quasi_identifiers=["age"], sensitive=["ill"], id="id")
    with pytest.raises(DataError, match='column "Age" is not in the frame; did you mean "age"'):
        record_risks(table, quasi_identifiers=["Age"])
    with pytest.raises(DataError, match='column "il" is not in the frame'):
        record_risks(table, sensitive=["il"])
    with pytest.raises(StudyError, match='column "age" is both quasi-identifier and sensitive'):
        record_risks(table, sensitive=["age"])
    with pytest.raises(StudyError, match='column "age" is given twice as quasi-identifier'):
        record_risks(table, quasi_identifiers=["age", "age"])
    with pytest.raises(StudyError, match='column "id" is both quasi-identifier and identifier'):
        record_risks(table, quasi_identifiers=["id"])
    with pytest.raises(StudyError, match="needs at least one quasi-identifier"):
        record_risks(table, quasi_identifiers=[])
    with pytest.raises(StudyError, match=r'secret "age" is not in the record risks of .*"ill"'):
        record_risks(table).success("age")
