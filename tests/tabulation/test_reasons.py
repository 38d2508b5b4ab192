"""Sets of tables are irreducible as trying every file says; what is not decided is kept, and said."""

from __future__ import annotations

import random
from typing import Any

import pytest

from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import contradicting_tables
from glasshouse.tabulation.reasons import irreducible_set
from tests.examples import examples
from tests.tabulation.brute import answer, every_file, random_plan

MEMORY = 1 << 30


def study_of(plan: dict[str, Any]) -> TablesStudy:
    return validated(TablesStudy, plan, "plan")


def of_some(plan: dict[str, Any], tables: tuple[str, ...] | set[str]) -> dict[str, Any]:
    """Return a plan with some of its tables only."""
    return plan | {"tables": [table for table in plan["tables"] if table["id"] in tables]}


def contradicting_plan(seed: int) -> dict[str, Any] | None:
    """Return a random plan with a count changed so that no file meets it; None: files still do."""
    plan = random_plan(seed)
    rng = random.Random(seed)
    tables = [table for table in plan["tables"] if table.get("rows")]
    row = rng.choice(rng.choice(tables)["rows"])
    row[-1] = [row[-1] + 3, row[-1] + 4] if isinstance(row[-1], int) else [3, 4]
    if "people" not in plan or any(True for _ in every_file(plan)):
        return None
    return plan


@pytest.mark.parametrize("seed", range(examples(300, one_of=5)))
def test_contradicting_tables_are_irreducible_as_trying_every_file_says(seed: int) -> None:
    plan = contradicting_plan(seed)
    if plan is None:
        return
    reason = contradicting_tables(study_of(plan), seconds=20.0, memory=MEMORY)
    assert reason.irreducible == "proved"
    assert answer(of_some(plan, reason.tables)) is None
    for table in reason.tables:
        assert answer(of_some(plan, {*reason.tables} - {table})) is not None


def test_enough_random_plans_contradict_themselves() -> None:
    assert sum(contradicting_plan(seed) is not None for seed in range(60)) > 20


def test_what_is_not_decided_is_kept_and_said() -> None:
    reason = irreducible_set("ABC", lambda some: None if "A" not in some else "C" in some)
    assert (reason.tables, reason.irreducible) == (("A", "C"), "limit")
    plan = contradicting_plan(next(s for s in range(60) if contradicting_plan(s) is not None))
    assert plan is not None
    reason = contradicting_tables(study_of(plan), seconds=0.0, memory=MEMORY)
    assert reason.to_dict() == {
        "tables": [table["id"] for table in plan["tables"]],
        "irreducible": "limit",
    }
