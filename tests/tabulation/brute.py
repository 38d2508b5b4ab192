"""Random tiny plans of every kind, and what trying every file says of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial
from statistics import median
from typing import Any

Cell = tuple[Any, ...]


def random_plan(seed: int) -> dict[str, Any]:
    """Return the plan of a random file of few people: exact, suppressed, rounded, perturbed, medians, means, shares."""
    rng = random.Random(seed)
    attributes: dict[str, Any] = {}
    several = rng.randint(2, 3)
    for number in range(several):
        size = rng.randint(2, 3) if several == 2 or number == 0 else 2
        if number == 0 and rng.random() < 0.5:
            attributes["a0"] = {"values": sorted(rng.sample(range(1, 9), size))}
        else:
            attributes[f"a{number}"] = {"values": [f"v{number}{place}" for place in range(size)]}
    names = list(attributes)
    people = rng.randint(2, 4)
    cells = list(product(*(attributes[name]["values"] for name in names)))
    file = [rng.choice(cells) for _ in range(people)]
    plan: dict[str, Any] = {"attributes": attributes, "tables": []}
    if rng.random() < 0.8:
        plan["people"] = people if rng.random() < 0.8 else [people - 1, people + 1]
    empty = [cell for cell in cells if cell not in file]
    if empty and rng.random() < 0.3:
        plan["impossible"] = [dict(zip(names, rng.choice(empty), strict=True))]
    if rng.random() < 0.2:
        plan["known"] = [{"where": dict(zip(names, rng.choice(file), strict=True))}]
    for number in range(rng.randint(1, 3)):
        by = rng.sample(names, rng.randint(1, len(names)))
        plan["tables"].append(_table(rng, f"T{number}", by, names, attributes, file))
    if "people" not in plan:
        plan["tables"].append(_table(rng, "all", names[:1], names, attributes, file, kind="exact"))
    if "a0" in attributes and isinstance(attributes["a0"]["values"][0], int) and rng.random() < 0.7:
        plan["tables"].append(_statistics(rng, names, attributes, file))
    return plan


def _table(
    rng: random.Random,
    name: str,
    by: list[str],
    names: list[str],
    attributes: dict[str, Any],
    file: list[Cell],
    kind: str = "",
) -> dict[str, Any]:
    kind = kind or rng.choice(
        ["exact", "exact", "suppressed", "nearest", "random", "down", "within"]
    )
    counts = Counter(tuple(person[names.index(column)] for column in by) for person in file)
    table: dict[str, Any] = {"id": name, "by": by, "rows": []}
    if kind == "suppressed":
        table["suppressed"] = [1, 2]
    elif kind == "within":
        table["within"] = 1
    elif kind != "exact":
        table["rounding"] = {"base": 3, "how": kind}
    for key in product(*(attributes[column]["values"] for column in by)):
        count: int | None = counts[key]
        assert count is not None
        if kind == "suppressed" and 1 <= count <= 2:
            count = None
        elif kind == "nearest":
            count = (count + 1) // 3 * 3
        elif kind == "down":
            count = count // 3 * 3
        elif kind == "random":
            count = count // 3 * 3 + 3 * (count % 3 > 0 and rng.random() < 0.5)
        elif kind == "within":
            count = max(0, count + rng.randint(-1, 1))
        if count == 0 and kind == "exact" and rng.random() < 0.5:
            continue
        table["rows"].append([*key, count])
    return table


def _statistics(
    rng: random.Random, names: list[str], attributes: dict[str, Any], file: list[Cell]
) -> dict[str, Any]:
    where: dict[str, Any] = {}
    if rng.random() < 0.5:
        name = rng.choice(names[1:])
        where = {name: rng.choice(attributes[name]["values"])}
    group = [one[0] for one in file if all(one[names.index(n)] == v for n, v in where.items())]
    statistics: list[dict[str, Any]] = [{"where": where, "count": len(group)}]
    if rng.random() < 0.3:
        statistics[0]["count"] = [max(0, len(group) - 1), len(group) + 1]
    kind = rng.choice(["mean", "median", "sum", "percent"])
    if group and kind == "mean":
        mean = Fraction(sum(group), len(group))
        rounded = Fraction(round(mean * 2), 2)
        statistics.append({"where": where, "mean": str(float(rounded)), "unit": "0.5", "of": "a0"})
    elif group and kind == "median":
        statistics.append({"where": where, "median": median(group), "of": "a0"})
    elif group and kind == "sum":
        statistics.append({"where": where, "sum": [sum(group) - 1, sum(group)], "of": "a0"})
    elif group:
        high = attributes["a0"]["values"][-1]
        share = Fraction(100 * sum(value == high for value in group), len(group))
        inside = {"where": {**where, "a0": high}, "within": where}
        statistics.append({**inside, "percent": str(round(share / 10) * 10), "unit": "10"})
    return {"id": "S", "statistics": statistics}


def _meets(where: dict[str, Any], names: list[str], cell: Cell) -> bool:
    return all(cell[names.index(name)] == value for name, value in where.items())


def _window(table: dict[str, Any], published: Any, most: int) -> tuple[int, int]:
    if published is None:
        return tuple(table["suppressed"])
    if isinstance(published, list):
        return published[0], published[1]
    if "rounding" in table:
        down, up = {"nearest": (1, 1), "random": (2, 2), "down": (0, 2)}[table["rounding"]["how"]]
        return published - down, published + up
    reach = table.get("within", 0)
    return published - reach, published + reach


def fits(plan: dict[str, Any], file: Cell) -> bool:
    """Tell whether a file meets a plan, by the definitions alone."""
    names = list(plan["attributes"])
    if any(_meets(where, names, cell) for where in plan.get("impossible", ()) for cell in file):
        return False
    for known in plan.get("known", ()):
        if not any(_meets(known["where"], names, cell) for cell in file):
            return False
    for table in plan["tables"]:
        if "by" in table:
            shown = {tuple(row[:-1]): row[-1] for row in table["rows"]}
            for key in product(*(plan["attributes"][name]["values"] for name in table["by"])):
                count = sum(
                    tuple(cell[names.index(n)] for n in table["by"]) == key for cell in file
                )
                low, high = _window(table, shown.get(key, 0), len(file))
                if not low <= count <= high:
                    return False
        for statistic in table.get("statistics", ()):
            if not _holds(statistic, names, file):
                return False
    return True


def _holds(statistic: dict[str, Any], names: list[str], file: Cell) -> bool:
    group = [cell for cell in file if _meets(statistic["where"], names, cell)]
    half = Fraction(str(statistic.get("unit", 0))) / 2
    values = [cell[names.index(statistic.get("of", names[0]))] for cell in group]
    if "count" in statistic:
        low, high = _window({}, statistic["count"], len(file))
        return bool(low <= len(group) <= high)
    if "sum" in statistic:
        low, high = statistic["sum"]
        return bool(low <= sum(values) <= high)
    if "mean" in statistic:
        target = Fraction(statistic["mean"]) * len(group)
        return bool(abs(sum(values) - target) <= half * len(group))
    if "median" in statistic:
        return not group or bool(median(values) == statistic["median"])
    base = [cell for cell in file if _meets(statistic["within"], names, cell)]
    target = Fraction(statistic["percent"]) * len(base)
    return abs(100 * len(group) - target) <= half * len(base)


def every_file(plan: dict[str, Any]) -> Iterator[Counter[Cell]]:
    """Yield every table of counts that meets a plan."""
    names = list(plan["attributes"])
    cells = list(product(*(plan["attributes"][name]["values"] for name in names)))
    people = plan.get("people")
    if people is None:  # the last table counts everybody
        [whole] = [table for table in plan["tables"] if table["id"] == "all"]
        people = sum(row[-1] for row in whole["rows"])
    first, last = (people, people) if isinstance(people, int) else people
    for size in range(first, last + 1):
        for file in combinations_with_replacement(cells, size):
            if fits(plan, file):
                yield Counter(file)


def answer(plan: dict[str, Any]) -> dict[str, Any] | None:
    """Return bounds, counts and means by trying every file; None: none fits."""
    files = list(every_file(plan))
    if not files:
        return None
    cells = {cell for file in files for cell in file}
    weights = [Fraction(1) for _ in files]
    for place, file in enumerate(files):
        for count in file.values():
            weights[place] /= factorial(count)
    whole = sum(weights)
    return {
        "cells": {
            cell: (min(f[cell] for f in files), max(f[cell] for f in files)) for cell in cells
        },
        "tables": len(files),
        "files": [
            factorial(file.total()) * weight for file, weight in zip(files, weights, strict=True)
        ],
        "by_tables": {cell: Fraction(sum(f[cell] for f in files), len(files)) for cell in cells},
        "by_files": {
            cell: sum(f[cell] * w for f, w in zip(files, weights, strict=True)) / whole
            for cell in cells
        },
    }
