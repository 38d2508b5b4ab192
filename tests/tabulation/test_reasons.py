"""Sets of tables are irreducible as trying every file says; what is not decided is kept, and said."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import (
    Remedy,
    TablesAudit,
    area_bounds,
    cell_bounds,
    contradicting_tables,
    published,
    tables_advice,
    tables_audit,
)
from glasshouse.tabulation.reasons import irreducible_set
from tests.examples import examples
from tests.tabulation.brute import answer, every_file, random_plan
from tests.tabulation.test_geography import nested

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
    """Return which tables make people certain, and what is left of the last attribute to who knows the others."""
    study = study_of(plan)
    bounds = cell_bounds(published(study), counting=False)
    *known, secret = plan["attributes"]
    asked = {secret: known}
    return tables_audit(study, bounds, rare=rare, secrets=asked, seconds=seconds, memory=MEMORY)


def secret_at_most(plan: dict[str, Any], tables: set[str]) -> int:
    """Return of how many people the last attribute may be certain by some tables, by trying every file."""
    tried = answer(of_some(plan, tables))
    assert tried is not None
    by_known: dict[Any, list[int]] = {}
    for cell, (_, most) in tried["cells"].items():
        if most:
            by_known.setdefault(cell[:-1], []).append(most)
    certain = sum(most for [most] in (group for group in by_known.values() if len(group) == 1))
    people = plan["people"]
    return min(certain, people if isinstance(people, int) else people[1])


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
        [at_most] = weight.secrets.values()
        assert at_most == secret_at_most(plan, names - {weight.table})
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


def changed(plan: dict[str, Any], remedy: Remedy) -> dict[str, Any]:
    """Return a plan with a change carried out as an office would: in its own way, from the rows alone."""
    tables = []
    for table in plan["tables"]:
        if remedy.table in ("", table["id"]):
            by, rows = table["by"], table["rows"]
            most = sum(row[-1] for row in rows)
            if remedy.change == "coarsen":
                at = by.index(remedy.attribute)
                sums: Counter[tuple[Any, ...]] = Counter()
                for *key, count in rows:
                    sums[tuple(key[:at] + key[at + 1 :])] += count
                by = by[:at] + by[at + 1 :]
                rows = [[*key, count] for key, count in sums.items()]
            elif remedy.change == "hide":
                hidden = [
                    tuple(one[name] for name in by) for one in remedy.hidden if set(one) == set(by)
                ]
                rows = [
                    [*key, [0, most]] if tuple(key) in hidden else [*key, count]
                    for *key, count in rows
                ]
            else:
                base = remedy.base or 1
                half = base // 2
                rounded = [(key, (count + half) // base * base) for *key, count in rows]
                rows = [[*key, [max(0, count - half), count + half]] for key, count in rounded]
            table = {"id": table["id"], "by": by, "rows": rows}
        tables.append(table)
    return plan | {"tables": tables}


def town_of(seed: int) -> dict[str, Any]:
    """Return exact tables of four random people, with every combination."""
    rng = random.Random(f"town {seed}")
    attributes = {name: [f"{name}{place}" for place in range(2)] for name in "abc"}
    people = [tuple(rng.choice(values) for values in attributes.values()) for _ in range(4)]
    tables = []
    for by in (["a", "b"], ["b", "c"], ["a", "c"])[: rng.randint(2, 3)]:
        places = ["abc".index(name) for name in by]
        counts = Counter(tuple(one[place] for place in places) for one in people)
        rows = [[*key, counts[key]] for key in product(*(attributes[name] for name in by))]
        tables.append({"id": "".join(by), "by": by, "rows": rows})
    domains = {name: {"values": values} for name, values in attributes.items()}
    return {"people": 4, "attributes": domains, "tables": tables}


@pytest.mark.parametrize("seed", range(examples(60, one_of=6)))
def test_whatever_is_advised_leaves_nobody_certain(seed: int) -> None:
    plan = town_of(seed)
    bounds = cell_bounds(published(study_of(plan)))
    rare = 1 + seed % 2
    advice = tables_advice(study_of(plan), bounds, rare=rare, seconds=20.0, memory=MEMORY)
    for remedy in advice:
        expected = answer(changed(plan, remedy))
        assert expected is not None
        assert not any(least > 0 and most <= rare for least, most in expected["cells"].values())
    assert [one.cells for one in advice] == sorted(one.cells for one in advice)


def test_towns_are_advised_every_kind_of_change() -> None:
    plan = town_of(1)
    bounds = cell_bounds(published(study_of(plan)))
    advice = tables_advice(study_of(plan), bounds, rare=2, seconds=20.0, memory=MEMORY)
    assert {one.change for one in advice} == {"coarsen", "hide", "round"}
    assert not any("hidden" in one.to_dict() for one in advice)
    [hidden] = [one.for_publisher()["hidden"] for one in advice if one.change == "hide"]
    assert hidden


def test_a_table_that_lacks_combinations_is_not_summed_up() -> None:
    """What it leaves out would be missing in the sums: they would not be true."""
    plan = town_of(1)
    for table in plan["tables"]:
        table["complete"] = False
    bounds = cell_bounds(published(study_of(plan)))
    advice = tables_advice(study_of(plan), bounds, rare=2, seconds=20.0, memory=MEMORY)
    assert "coarsen" not in {one.change for one in advice}


# -- areas ------------------------------------------------------------------------------------------------------------


def in_order(plan: dict[str, Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a combination whose area, the last attribute of a plan, stands first, in the order of the plan."""
    area, *rest = values
    assert len(plan["attributes"]) == len(values)
    return (*rest, area)


@pytest.mark.parametrize("seed", range(examples(120, one_of=6)))
def test_areas_have_reasons_and_weights_as_trying_every_file_says(seed: int) -> None:
    plan = paired_plan(seed) if seed % 2 else town_of(seed)
    names = {table["id"] for table in plan["tables"]}
    bounds = area_bounds(nested(plan))
    *known, secret = plan["attributes"]
    audit = tables_audit(
        study_of(plan), bounds, rare=1, secrets={secret: known}, seconds=20.0, memory=MEMORY
    )
    whole = certain_in(plan, names)
    found = {in_order(plan, one.values): (one.least, one.most) for one in audit.reasons}
    assert bounds.status == "proved"
    assert found == {cell: ends for cell, ends in whole.items() if ends[1] <= 1}
    for one in audit.reasons:
        tables, cell = set(one.because.tables), in_order(plan, one.values)
        assert one.because.irreducible == "proved"
        assert cell in certain_in(plan, tables)
        assert not any(cell in certain_in(plan, tables - {table}) for table in tables)
    for weight in audit.weights:
        left = certain_in(plan, names - {weight.table})
        rare_left = sum(least for least, most in left.values() if most <= 1)
        stopped = sum(least for least, _ in whole.values()) - sum(low for low, _ in left.values())
        assert (weight.people, weight.rare_left) == (stopped, rare_left)
        assert weight.frees == (rare_left == 0)
        [at_most] = weight.secrets.values()
        assert at_most == secret_at_most(plan, names - {weight.table})


@pytest.mark.parametrize("seed", range(examples(60, one_of=6)))
def test_whatever_is_advised_of_areas_leaves_nobody_certain(seed: int) -> None:
    plan = town_of(seed)
    rare = 1 + seed % 2
    bounds = area_bounds(nested(plan))
    advice = tables_advice(study_of(plan), bounds, rare=rare, seconds=20.0, memory=MEMORY)
    for remedy in advice:
        expected = answer(changed(plan, remedy))
        assert expected is not None
        assert not any(least > 0 and most <= rare for least, most in expected["cells"].values())


def test_areas_are_advised_every_kind_of_change() -> None:
    plan = town_of(1)
    bounds = area_bounds(nested(plan))
    advice = tables_advice(study_of(plan), bounds, rare=2, seconds=20.0, memory=MEMORY)
    assert {one.change for one in advice} == {"coarsen", "hide", "round"}


def test_no_area_is_read_for_which_there_is_no_time() -> None:
    plan = town_of(1)
    bounds = area_bounds(nested(plan))
    audit = tables_audit(study_of(plan), bounds, rare=2, seconds=0.0, memory=MEMORY)
    assert {(one.people, one.rare_left, one.frees) for one in audit.weights} == {
        (None, None, False)
    }
    assert {one.because.irreducible for one in audit.reasons} == {"limit"}
    assert not tables_advice(study_of(plan), bounds, rare=2, seconds=0.0, memory=MEMORY)
