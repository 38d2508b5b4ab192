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

from glasshouse import microdata
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


def test_suppressed_records_are_no_class_of_a_file_that_is_read() -> None:
    ages, ill = ["2*"] * 3 + ["3*"] * 3 + ["*"], list("abcabca")
    release = read(
        pa.table({"age": ages, "zip": ages, "ill": ill}),
        quasi_identifiers=["age", "zip"],
        sensitive=["ill"],
    )
    levels = attained(release)
    assert (levels.k, levels.classes, levels.records, levels.secrets[0].distinct) == (3, 2, 6, 3)
    hidden = np.array([age == "*" for age in ages])
    assert levels == attained(release, suppressed=hidden), "of t all records are the reference"
    as_a_class = attained(release, suppressed=np.zeros(7, np.bool_))
    assert (as_a_class.k, as_a_class.classes) == (1, 3)
    assert microdata.attack(release).certain == 0
    assert microdata.attack(release, quasi_identifiers=["age"]).records == 6
    assert microdata.attack(release, drop_suppressed=False).certain == 1
    assert microdata.assess(release).records == 6
    assert microdata.sweep(release).attacks()[-2].classes == 2
    assert microdata.record_risks(release).sizes.tolist() == [3] * 6
    assert microdata.explain(release).to_dict()["observations"] == ["(2*, 2*)", "(3*, 3*)"]
    alike = read(pa.table({"age": ["*"] * 3}), quasi_identifiers=["age"])
    assert (attained(alike).k, microdata.attack(alike).records) == (3, 3)


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
