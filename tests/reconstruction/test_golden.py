"""The golden instances: feasible bins, status and numbers of allocations, and the worked example of the literature."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glasshouse.reconstruction import Instance, from_json, instance, solve
from tests.reconstruction.examples import CITIES, TRANSACTIONS

NAMES = (
    *("00_thesis_worked_tol1", "01_thesis_worked_tol0.5_infeasible", "02_thesis_worked_record"),
    *("03_sum2d_0", "05_sum2d_2", "07_sum2d_4", "09_sum2d_6", "10_sum2d_7", "13_sum5d_0"),
    *("15_sum5d_2", "17_record2d_0", "18_unknown2d_0", "22_ambiguous_1", "23_ambiguous_2"),
    *("25_ambiguous_4", "27_nonebin_0", "29_infeasible_shifted_total", "32_hard2d_n39m3"),
)


def thesis(**options: object) -> Instance:
    """The example of Favato 2021, section 1.2."""
    return instance(
        [row[1:] for row in TRANSACTIONS],
        [row[1:3] for row in CITIES],
        decimals=[2, 5],
        measures=["value", "weight"],
        package_names=[row[0] for row in TRANSACTIONS],
        bin_names=[row[0] for row in CITIES],
        entities=[row[3] for row in CITIES],
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("name", NAMES)
def test_golden_instances(name: str, shared: Callable[[str], Path]) -> None:
    text = shared(f"golden/totals/{name}.json").read_text(encoding="utf-8")
    expected = json.loads(text)
    solution = solve(from_json(text), seconds=60)
    answer = solution.to_dict()
    assert answer["proved"]
    assert (answer["status"] == "infeasible") == (expected["status"] == "infeasible")
    assert answer["feasible_bins"] == expected["feasible_bins"]
    assert answer["allocations"] == expected["allocations"]
    if expected["allocation_share"] is None:
        assert answer["allocation_share"] is None
    else:
        shares = np.array(expected["allocation_share"])
        np.testing.assert_allclose(answer["allocation_share"], shares, atol=1e-11)
    if solution.witness is not None:
        assert solution.instance.allows(solution.witness)


@pytest.mark.parametrize(
    "options", [{"tolerance": 1}, {"tolerance": "0.75"}, {"rounding": "record"}]
)
def test_the_worked_example_is_unique(options: dict[str, object]) -> None:
    solution = solve(thesis(**options))
    assert (solution.status, solution.allocations, solution.linked) == ("unique", 1, 11)
    target = solution.feasible_bins[0]
    assert [solution.instance.bin_names[b] for b in target] == ["OURO BRANCO"]


def test_the_worked_example_does_not_fit_half_a_unit() -> None:
    solution = solve(thesis())
    assert (solution.status, solution.allocations, solution.reason) == ("infeasible", 0, "rounding")


def test_the_worked_example_from_decimals_is_the_golden_one(shared: Callable[[str], Path]) -> None:
    text = shared("golden/totals/00_thesis_worked_tol1.json").read_text(encoding="utf-8")
    golden, own = from_json(text), thesis(tolerance=1)
    assert (golden.packages == own.packages).all()
    assert (golden.low == own.low).all()
    assert (golden.high == own.high).all()
    assert golden.scale == own.scale
