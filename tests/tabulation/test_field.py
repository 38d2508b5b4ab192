"""What others publish or test, read as an adversary reads it; each with its source."""

from __future__ import annotations

from typing import Any

import pytest

from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import cell_bounds, published

ROWS, COLUMNS = ("w", "x", "y", "z"), ("a", "b", "c", "d")
SHOWN = {
    ("w", "d"): 89,
    ("x", "b"): 124,
    ("x", "d"): 31,
    ("y", "a"): 92,
    ("y", "c"): 59,
    ("z", "a"): 800,
    ("z", "c"): 651,
}
"""sdcTable, tests/testthat/test-simpleheuristic.R: nine of sixteen counts are hidden, two or more in every line."""
CELLS = {
    ("w", "a"): 30,
    ("w", "b"): 47,
    ("w", "c"): 64,
    ("x", "a"): 90,
    ("x", "c"): 5,
    ("y", "b"): 100,
    ("y", "d"): 85,
    ("z", "b"): 991,
    ("z", "d"): 685,
    **SHOWN,
}
INTERVALS = {
    ("w", "a"): (25, 94),
    ("w", "b"): (47, 47),
    ("w", "c"): (0, 69),
    ("x", "a"): (26, 95),
    ("x", "c"): (0, 69),
    ("y", "b"): (0, 185),
    ("y", "d"): (0, 185),
    ("z", "b"): (906, 1091),
    ("z", "d"): (585, 770),
}


def solved(plan: dict[str, Any]) -> dict[tuple[Any, ...], tuple[int, int]]:
    solution = cell_bounds(published(validated(TablesStudy, plan, "plan")), counting=False)
    assert solution.status == "proved"
    return {tuple(values): (low, high) for values, low, high in solution.to_dict()["cells"]}


def test_a_hidden_count_of_sdctable_can_be_recomputed_and_the_others_cannot() -> None:
    rows = [[row, column, SHOWN.get((row, column))] for row in ROWS for column in COLUMNS]
    whole = sum(CELLS.values())
    margins = [
        {
            "by": [name],
            "rows": [
                [value, sum(count for cell, count in CELLS.items() if cell[place] == value)]
                for value in values
            ],
        }
        for place, (name, values) in enumerate({"v1": ROWS, "v2": COLUMNS}.items())
    ]
    plan = {
        "people": whole,
        "attributes": {"v1": {"values": ROWS}, "v2": {"values": COLUMNS}},
        "tables": [{"by": ["v1", "v2"], "rows": rows, "suppressed": [0, whole]}, *margins],
    }
    bounds = solved(plan)
    assert {cell: bounds[cell] for cell in INTERVALS} == INTERVALS


def test_a_count_below_six_beside_its_total_is_known() -> None:
    """Issue 1691 of gtsummary: N = 180, "18+" 177, "<18" shown as "<6"."""
    plan = {
        "people": 180,
        "attributes": {"age": {"values": ["<18", "18+"]}},
        "tables": [{"by": ["age"], "rows": [["<18", "<6"], ["18+", 177]], "suppressed": [1, 5]}],
    }
    assert solved(plan)[("<18",)] == (3, 3)


@pytest.mark.parametrize(("shown", "window"), [(0, (0, 7)), (10, (8, 12)), (15, (13, 17))])
def test_counts_of_opensafely_mean_what_they_say(shown: int, window: tuple[int, int]) -> None:
    """OpenSAFELY: counts up to 7 become 0, the rest is rounded to 5."""
    plan = {
        "people": [0, 100],
        "attributes": {"sex": {"values": ["F", "M"]}},
        "tables": [
            {
                "by": ["sex"],
                "rows": [["F", shown], ["M", 20]],
                "rounding": {"base": 5, "how": "nearest", "below": 7},
            }
        ],
    }
    assert solved(plan)[("F",)] == window


def test_suppressed_zeros_do_not_protect_each_other() -> None:
    """Langsrud (2024): where hidden means 0 or more and the total is 0, both hidden counts are known."""
    rows = [["a", "F", None], ["a", "M", None], ["b", "F", 3], ["b", "M", 4]]
    plan = {
        "people": 7,
        "attributes": {"place": {"values": ["a", "b"]}, "sex": {"values": ["F", "M"]}},
        "tables": [
            {"by": ["place", "sex"], "rows": rows, "suppressed": [0, 2]},
            {"by": ["place"], "rows": [["a", 0], ["b", 7]]},
        ],
    }
    bounds = solved(plan)
    assert ("a", "F") not in bounds
    assert ("a", "M") not in bounds


def test_hiding_small_counts_protects_nobody_where_zeros_are_shown() -> None:
    """Of a table that hides 1 and 2 but shows zeros, a person alone in a line is certain."""
    rows = [["a", "x", None], ["a", "y", 0], ["b", "x", 0], ["b", "y", 6]]
    plan = {
        "people": 7,
        "attributes": {"place": {"values": ["a", "b"]}, "ill": {"values": ["x", "y"]}},
        "tables": [{"by": ["place", "ill"], "rows": rows, "suppressed": [1, 2]}],
    }
    assert solved(plan)["a", "x"] == (1, 1)
