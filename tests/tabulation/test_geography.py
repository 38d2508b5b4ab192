"""Areas that are solved one by one, and together where tables of several demand it, are as trying every file."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest

from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import AreaBounds, AreaTables, area_bounds, geography
from glasshouse.tabulation.geography import Nesting
from glasshouse.tabulation.verifier import check
from tests.examples import examples
from tests.tabulation.brute import answer, random_plan
from tests.tabulation.test_solution import bounds_in

SIDES = {"b0": "west", "b1": "west", "b2": "east"}


def nested(plan: dict[str, Any], level: str = "") -> AreaTables:
    """Return the tables of a plan with its last attribute as areas, of which the first two lie in one."""
    level = level or list(plan["attributes"])[-1]
    values = plan["attributes"][level]["values"]
    areas = tuple((value, "west" if place < 2 else "east") for place, value in enumerate(values))
    return AreaTables(validated(TablesStudy, plan, "plan"), Nesting((level, "side"), areas))


def of_two_levels(seed: int) -> dict[str, Any]:
    """Return the plan of random people in three blocks on two sides, with tables of both and of all of them."""
    rng = random.Random(f"levels {seed}")
    attributes = {
        "ill": {"values": ["no", "yes"]},
        "sex": {"values": ["F", "M"]},
        "block": {"values": list(SIDES)},
        "side": {"values": ["west", "east"]},
    }
    people = [
        (rng.choice(["no", "yes"]), rng.choice("FM"), block, SIDES[block])
        for block in rng.choices(list(SIDES), k=rng.randint(2, 4))
    ]
    names = list(attributes)
    crossed = [["block", "sex"], ["block", "ill"], ["side", "ill", "sex"], ["ill", "sex"], ["side"]]
    tables: list[dict[str, Any]] = []
    for by in [crossed[0], *rng.sample(crossed[1:], rng.randint(1, 3))]:
        kind = rng.choice(["exact", "exact", "suppressed", "within"])
        table: dict[str, Any] = {"id": "_".join(by), "by": by, "rows": []}
        if kind != "exact":
            table[kind] = [1, 2] if kind == "suppressed" else 1
        for key in product(*(attributes[name]["values"] for name in by)):
            count: int | None = sum(
                all(one[names.index(name)] == value for name, value in zip(by, key, strict=True))
                for one in people
            )
            if kind == "suppressed" and count in (1, 2):
                count = None
            elif kind == "within" and count is not None:
                count = max(0, count + rng.randint(-1, 1))
            table["rows"].append([*key, count])
        tables.append(table)
    impossible = [
        {"block": block, "side": "east" if side == "west" else "west"}
        for block, side in SIDES.items()
    ]
    return {
        "attributes": attributes,
        "people": len(people),
        "tables": tables,
        "impossible": impossible,
    }


def checked(found: AreaBounds) -> dict[str, int]:
    """Check the proof of areas."""
    return check(json.dumps(proof) for proof in found.proofs())


def compare(
    tables: AreaTables, found: AreaBounds, expected: dict[str, Any], names: list[str]
) -> None:
    """Hold what was found against what trying every file says."""
    order = [list(found.system.domains).index(name) for name in names]
    cells = {
        tuple(values[place] for place in order): ends
        for values, ends in bounds_in(found.to_dict()["cells"]).items()
    }
    assert found.status != "infeasible"
    if found.status == "proved":
        assert cells == expected["cells"]
    if found.certain == "proved":
        certain = sum(least for least, _ in expected["cells"].values())
        assert found.certain_persons == certain
    if found.possible == "proved":
        assert cells.keys() == expected["cells"].keys()
    for values, (least, most) in expected["cells"].items():
        low, high = cells[values]
        assert low <= least <= most <= high


@pytest.mark.parametrize("largest", [4_000, 0])
@pytest.mark.parametrize("seed", range(examples(600, one_of=20)))
def test_areas_are_as_trying_every_file(
    seed: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever may be solved together: what is not is told as open, and never as more than it is."""
    monkeypatch.setattr(geography, "_LARGEST", largest)
    plan = random_plan(seed)
    expected = answer(plan)
    tables = nested(plan)
    found = area_bounds(tables)
    checked(found)
    if expected is None:
        assert found.status == "infeasible" or not largest
        return
    compare(tables, found, expected, list(plan["attributes"]))


@pytest.mark.parametrize("largest", [4_000, 30, 0])
@pytest.mark.parametrize("seed", range(examples(200, one_of=25)))
def test_areas_of_two_levels_are_as_trying_every_file(
    seed: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(geography, "_LARGEST", largest)
    plan = of_two_levels(seed)
    expected = answer(plan)
    assert expected is not None
    expected["cells"] = {values[:3]: ends for values, ends in expected["cells"].items()}
    tables = nested({**plan, "impossible": []}, "block")
    found = area_bounds(tables)
    assert largest < 4_000 or found.status == "proved"
    checked(found)
    compare(tables, found, expected, list(plan["attributes"])[:3])
