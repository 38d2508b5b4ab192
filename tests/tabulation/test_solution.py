"""Bounds, counts and posteriors are those of trying every file; the golden instances; the truth is never outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasshouse.errors import BudgetError, StudyError
from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import CellBounds, cell_bounds, published
from tests.examples import examples
from tests.tabulation.adult import adult_block, plan_of
from tests.tabulation.brute import answer, random_plan

GOLDEN = (
    *("garfinkel", "garfinkel-2A-2B", "suppressed-two-way", "three-pairs", "integrality-gap"),
    *("rounded-5", "random-3", "decomposable", "median-mean", "differencing"),
)


def solved(plan: dict[str, Any], **options: Any) -> CellBounds:
    return cell_bounds(published(validated(TablesStudy, plan, "plan")), **options)


def golden(shared: Callable[[str], Path], name: str) -> dict[str, Any]:
    content = json.loads(shared("golden/tables.json").read_text(encoding="utf-8"))
    [instance] = [one for one in content["instances"] if one["id"] == name]
    return dict(instance)


def bounds_in(cells: list[Any]) -> dict[tuple[Any, ...], tuple[int, int]]:
    return {tuple(values): (low, high) for values, low, high in cells}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_instances(name: str, shared: Callable[[str], Path]) -> None:
    instance = golden(shared, name)
    outcome = solved(instance["spec"]).to_dict()
    expected = instance["expected"]
    assert bounds_in(outcome["cells"]) == bounds_in(expected["cells"])
    for entry in ("status", "possible", "certain_persons", "tables", "files"):
        if entry in expected:
            assert outcome[entry] == expected[entry], entry


def test_suppressed_cells_as_the_authors_encoded_them_leave_eight_solutions(
    shared: Callable[[str], Path],
) -> None:
    """Garfinkel, Abowd and Martindale (2018) print 8 solutions: of the suppressed cells they encode 3A alone."""
    plan = golden(shared, "garfinkel-2A-2B")["spec"]
    for table in plan["tables"]:
        table["statistics"] = [
            one
            for one in table["statistics"]
            if not isinstance(one.get("count"), list) or table["id"] == "3A"
        ]
    plan["tables"] = [table for table in plan["tables"] if table["statistics"]]
    solution = solved(plan)
    assert (solution.status, solution.tables) == ("proved", 8)


@pytest.mark.parametrize("seed", range(examples(2000, one_of=20)))
def test_random_plans_are_as_trying_every_file(seed: int) -> None:
    plan = random_plan(seed)
    expected = answer(plan)
    solution = solved(plan)
    if expected is None:
        assert solution.status == "infeasible"
        return
    assert solution.status == solution.certain == solution.possible == "proved"
    outcome = solution.to_dict()
    assert bounds_in(outcome["cells"]) == expected["cells"]
    if solution.tables is None:
        return
    assert solution.tables == expected["tables"]
    if isinstance(plan.get("people"), int):
        assert solution.ordered_files == sum(expected["files"])
    for cell in solution.present.tolist():
        values = tuple(solution.system.values(cell))
        assert solution.mean(cell, "tables") == expected["by_tables"][values]
        assert solution.mean(cell, "files") == expected["by_files"][values]


def test_most_random_plans_are_counted() -> None:
    counted = [solved(random_plan(seed)).tables is not None for seed in range(40)]
    assert sum(counted) > 30


@pytest.mark.parametrize("seed", range(examples(200, one_of=20)))
def test_the_truth_is_never_outside(seed: int, shared: Callable[[str], Path]) -> None:
    block = adult_block(shared("data/adult.data"), 4 + seed % 3, (10, 30, 80)[seed % 3], seed)
    kind = ("exact", "suppressed", "rounded", "within")[seed % 4]
    solution = solved(plan_of(block, kind), seconds=2.0, counting=False)
    counts = np.zeros(len(solution.system.cells), np.int64)
    places = {tuple(solution.system.values(cell)): cell for cell in range(len(counts))}
    for record in block.records:
        counts[places[record]] += 1
    assert (counts >= solution.least).all()
    assert (counts <= solution.most).all()


def test_a_certain_person_that_a_linear_programme_does_not_see(
    shared: Callable[[str], Path],
) -> None:
    instance = golden(shared, "integrality-gap")
    [[values, exact, relaxed]] = instance["lp_is_wider_at"]
    assert bounds_in(solved(instance["spec"]).to_dict()["cells"])[tuple(values)] == tuple(exact)
    assert relaxed[0] < exact[0]


def test_at_a_limit_nothing_is_called_certain_that_is_not(shared: Callable[[str], Path]) -> None:
    block = adult_block(shared("data/adult.data"), 6, 200, 1)
    quick = solved(plan_of(block, "exact"), seconds=0.01, counting=False)
    longer = solved(plan_of(block, "exact"), seconds=2.0, counting=False)
    assert quick.status == "limit"
    assert (quick.least <= longer.least).all()
    assert (quick.most >= longer.most).all()


def test_tables_that_contradict_each_other_leave_no_file() -> None:
    plan = {
        "people": 3,
        "attributes": {"sex": {"values": ["F", "M"]}},
        "tables": [{"id": "T", "by": ["sex"], "rows": [["F", 1], ["M", 1]]}],
    }
    assert solved(plan).to_dict()["status"] == "infeasible"


def test_without_a_number_of_people_nothing_is_guessed() -> None:
    attributes = {"sex": {"values": ["F", "M"]}, "age": {"range": [0, 3]}}
    tables = [{"statistics": [{"where": {"sex": "F"}, "count": 2}]}]
    with pytest.raises(StudyError, match="nothing says how many people"):
        solved({"attributes": attributes, "tables": tables})


def test_too_many_combinations_for_the_memory_are_refused() -> None:
    attributes = {f"a{number}": {"range": [0, 99]} for number in range(5)}
    tables = [{"statistics": [{"count": 2}]}]
    with pytest.raises(BudgetError, match="combinations"):
        solved({"attributes": attributes, "tables": tables}, memory=64 << 20)
