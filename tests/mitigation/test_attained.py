"""Which k, l and t a table has, against the definitions in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import exp, log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.mitigation import attained
from glasshouse.table import EncodedTable, read

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("pqr"), st.booleans()),
    min_size=1,
    max_size=30,
)


def table_of(rows: list[tuple[str, str, str, bool]]) -> EncodedTable:
    columns = dict(zip(("age", "sex", "ill"), zip(*rows, strict=True), strict=False))
    return read(pa.table(columns), quasi_identifiers=["age", "sex"], sensitive=["ill"])


@given(ROWS)
def test_the_strictest_criteria_are_those_of_the_definitions(
    rows: list[tuple[str, str, str, bool]],
) -> None:
    hidden = np.array([row[3] for row in rows])
    if hidden.all():
        with pytest.raises(StudyError, match="every record is suppressed"):
            attained(table_of(rows), suppressed=hidden)
        return
    classes = defaultdict(list)
    for age, sex, ill, gone in rows:
        if not gone:
            classes[age, sex].append(ill)
    everyone = Counter(ill for _, _, ill, _ in rows)
    found = attained(table_of(rows), suppressed=hidden)
    (secret,) = found.secrets
    assert found.k == min(map(len, classes.values()))
    assert (found.classes, found.records) == (len(classes), int((~hidden).sum()))
    assert secret.distinct == min(len(set(own)) for own in classes.values())
    assert secret.most_frequent == max(
        Fraction(max(Counter(own).values()), len(own)) for own in classes.values()
    )
    assert secret.distance == max(
        sum(
            abs(Fraction(own.count(value), len(own)) - Fraction(count, len(rows)))
            for value, count in everyone.items()
        )
        / 2
        for own in classes.values()
    )
    entropies = [
        -sum(n / len(own) * log(n / len(own)) for n in Counter(own).values())
        for own in classes.values()
    ]
    assert secret.entropy == pytest.approx(exp(min(entropies)))


def test_a_table_as_plain_values() -> None:
    found = attained(table_of([("a", "x", "p", False), ("a", "x", "q", False)]))
    assert found.average == Fraction(1, 2)
    assert found.to_dict() == {
        "k": 2,
        "classes": 1,
        "records": 2,
        "sensitive": [
            {"sensitive": "ill", "l": 2, "entropy_l": 2.0, "most_frequent": 0.5, "t": 0.0}
        ],
    }
