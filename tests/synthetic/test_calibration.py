"""The measuring instrument of the calibration against its obvious twin."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.synthetic.calibration import (
    TARGETS,
    CalibrationColumn,
    MeasuredClasses,
    count,
    table,
)


def obvious_counts(rows: list[tuple[int, int, int]]) -> MeasuredClasses:
    """Count classes of the first two columns with dictionaries."""
    classes: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for first, second, secret in rows:
        classes[first, second][secret] += 1
    return MeasuredClasses(
        records=len(rows),
        classes=len(classes),
        uniques=sum(each.total() == 1 for each in classes.values()),
        settled=sum(each.total() for each in classes.values() if len(each) == 1),
        guessed=sum(max(each.values()) for each in classes.values()),
    )


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=60
    ),
    values=st.sampled_from([5, 2**40]),
)
def test_counting_by_sorting_equals_counting_by_dictionaries(
    rows: list[tuple[int, int, int]], values: int
) -> None:
    """Domains of 2 to the power of 40 overflow the key, so that it is renumbered."""
    codes = np.array(rows, dtype=np.uint64).T
    columns = {
        name: CalibrationColumn(codes[place], values if name != "secret" else 3)
        for place, name in enumerate(("first", "second", "secret"))
    }
    counted = count(columns, quasi_identifiers=("first", "second"), sensitive="secret")
    assert counted == obvious_counts(rows)


@pytest.mark.parametrize("name", ["school-census", "outpatient"])
def test_the_table_has_a_line_for_every_published_figure(name: str) -> None:
    lines = list(table(name, records=2_000))
    assert len(lines) == 2 + len(TARGETS[name])
    assert all(line.count("|") == 6 for line in lines)
