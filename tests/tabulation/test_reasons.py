"""Sets of tables are irreducible as trying every file says; what is not decided is kept, and said."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import (
    TablesAudit,
    cell_bounds,
    contradicting_tables,
    published,
    tables_audit,
)
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


def audit_of(plan: dict[str, Any], *, rare: int = 1, seconds: float = 20.0) -> TablesAudit:
    study = study_of(plan)
    bounds = cell_bounds(published(study), counting=False)
    return tables_audit(study, bounds, rare=rare, seconds=seconds, memory=MEMORY)


def paired_plan(seed: int) -> dict[str, Any]:
    """Return the plan of a random file of which every pair of three attributes is published: they work together."""
    rng = random.Random(seed)
    attributes = {name: {"values": [f"{name}0", f"{name}1"]} for name in "abc"}
    file = [[rng.choice(attributes[name]["values"]) for name in "abc"] for _ in range(5)]
    tables = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        counts = Counter((person[first], person[second]) for person in file)
        by = ["abc"[first], "abc"[second]]
        tables.append({"id": "".join(by), "by": by, "rows": [[*k, n] for k, n in counts.items()]})
    return {"people": 5, "attributes": attributes, "tables": tables}


def certain_in(plan: dict[str, Any], tables: set[str]) -> dict[Any, tuple[int, int]]:
    """Return what is certain by some tables, by trying every file."""
    tried = answer(of_some(plan, tables))
    assert tried is not None
    return {cell: ends for cell, ends in tried["cells"].items() if ends[0]}


@pytest.mark.parametrize("seed", range(examples(300, one_of=5)))
def test_reasons_and_weights_are_as_trying_every_file_says(seed: int) -> None:
    plan = paired_plan(seed) if seed % 2 else random_plan(seed)
    if "people" not in plan:
        return
    names = {table["id"] for table in plan["tables"]}
    audit = audit_of(plan)
    whole = certain_in(plan, names)
    rare = {cell: ends for cell, ends in whole.items() if ends[1] <= 1}
    assert {one.values: (one.least, one.most) for one in audit.reasons} == rare
    for one in audit.reasons:
        tables = set(one.because.tables)
        assert one.because.irreducible == "proved"
        assert one.values in certain_in(plan, tables)
        assert not any(one.values in certain_in(plan, tables - {table}) for table in tables)
    for weight in audit.weights:
        left = certain_in(plan, names - {weight.table})
        rare_left = sum(least for least, most in left.values() if most <= 1)
        stopped = sum(least for least, _ in whole.values()) - sum(low for low, _ in left.values())
        assert (weight.people, weight.rare_left) == (stopped, rare_left)
        assert weight.frees == (rare_left == 0)
    people = [weight.people or 0 for weight in audit.weights]
    assert people == sorted(people, reverse=True)


def test_enough_random_plans_have_reasons_of_several_tables() -> None:
    reasons = [one for seed in range(1, 60, 2) for one in audit_of(paired_plan(seed)).reasons]
    several = [len(one.because.tables) for one in reasons]
    assert several.count(2) > 10


def test_without_time_every_table_is_kept_and_nothing_is_advised() -> None:
    audit = audit_of(random_plan(0) | {"people": None}, seconds=0.0, rare=9)
    assert audit.reasons
    for one in audit.reasons:
        assert one.because.irreducible == "limit"
        assert len(one.because.tables) == len(audit.weights)
    assert not audit.to_withhold
    assert not audit.none_frees
    assert {weight.people for weight in audit.weights} == {None}


def test_a_median_whose_group_is_counted_elsewhere_is_not_judged_without_that_table() -> None:
    plan = {
        "people": 3,
        "attributes": {"sex": {"values": ["F", "M"]}, "age": {"values": [1, 2, 3]}},
        "tables": [
            {"id": "sexes", "by": ["sex"], "rows": [["F", 1], ["M", 2]]},
            {
                "id": "median",
                "statistics": [{"where": {"sex": "F"}, "median": 2, "of": "age"}],
            },
        ],
    }
    audit = audit_of(plan)
    weights = {weight.table: weight for weight in audit.weights}
    assert weights["sexes"].people is None
    assert (weights["median"].people, weights["median"].frees) == (1, True)
    assert audit.to_frame().to_pylist() == audit.to_dict()["ranking"]
    [reason] = audit.reasons
    assert reason.values == ("F", 2)
    assert reason.because.to_frame().column("table").to_pylist() == ["sexes", "median"]
    assert reason.because.to_dict() == {"tables": ["sexes", "median"], "irreducible": "limit"}
