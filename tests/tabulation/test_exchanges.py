"""People exchange values and every table still holds; sums of counts are constant exactly where every file says so."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np

from glasshouse.solvers import SolverBudget
from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import cell_bounds, published
from glasshouse.tabulation.bounds import first_bounds, narrow
from glasshouse.tabulation.cells import system_of
from glasshouse.tabulation.exchanges import Exchanges
from glasshouse.tabulation.parts import parts_of
from glasshouse.tabulation.search import PartSearch
from glasshouse.tabulation.solution import constant_sums
from tests.examples import examples
from tests.tabulation.brute import every_file, random_plan


def enough() -> SolverBudget:
    """Return a minute that begins now."""
    return SolverBudget(60.0, 2 << 30)


def test_sums_are_constant_where_trying_every_file_says_so() -> None:
    kinds = Counter[bool]()
    for seed in range(examples(400, one_of=20)):
        plan = random_plan(seed)
        files = list(every_file(plan))
        if not files:
            continue
        solution = cell_bounds(
            published(validated(TablesStudy, plan, "plan")), counting=False, questions=()
        )
        rng = random.Random(seed)
        sums = np.array(
            [[rng.randrange(2) for _ in solution.system.sizes] for _ in range(6)], np.int64
        )
        verdicts, more = constant_sums(solution, sums, enough())
        cells = [tuple(solution.system.values(cell)) for cell in range(len(solution.least))]
        for taken, verdict in zip(sums, verdicts, strict=True):
            inside = [
                cell
                for cell, number in zip(cells, solution.system.class_of, strict=True)
                if taken[number]
            ]
            totals = {sum(file[cell] for cell in inside) for file in files}
            assert verdict is (len(totals) == 1), (seed, taken)
            shown = {
                sum(int(taken[at]) * count for at, count in file.items()) for file in more.files
            }
            assert len(shown) == 1 if verdict else len(shown) > 1
            kinds[verdict] += 1
    assert min(kinds[True], kinds[False]) > 20


def rounded_pairs() -> dict[str, Any]:
    """Return the tables of all pairs of four attributes, rounded to 5, of 60 people."""
    rng = random.Random(4)
    domains = {name: [f"{name}{place}" for place in range(3)] for name in "ABCD"}
    people = [tuple(rng.choice(values) for values in domains.values()) for _ in range(60)]
    tables = []
    for pair in combinations(range(4), 2):
        counts = Counter(tuple(person[place] for place in pair) for person in people)
        names = ["ABCD"[place] for place in pair]
        keys = product(*(domains[name] for name in names))
        rows = [[*key, (counts[key] + 2) // 5 * 5] for key in keys]
        rounding = {"base": 5, "how": "nearest"}
        tables.append({"id": "x".join(names), "by": names, "rows": rows, "rounding": rounding})
    attributes = {name: {"values": values} for name, values in domains.items()}
    return {"people": 60, "attributes": attributes, "tables": tables}


def test_one_file_leads_to_files_that_empty_nearly_every_combination() -> None:
    system = system_of(published(validated(TablesStudy, rounded_pairs(), "plan")))
    bounds = first_bounds(system)
    narrow(bounds)
    [part] = parts_of(bounds)
    search = PartSearch(part, [], enough())
    search.run(())
    assert len(part.files) == 1
    exchanges = Exchanges.of(part, system)
    assert exchanges is not None
    nothing = np.zeros(0, np.int64)
    exchanges.walk(lambda: (nothing, np.flatnonzero(part.open_low())), lambda: False)
    assert np.mean(part.lowest == 0) > 0.9
    assert all(part.rows.meet(file) and (file >= 0).all() for file in part.files)
    assert search.solves == 0


def test_a_walk_ends_when_its_time_is_over() -> None:
    system = system_of(published(validated(TablesStudy, rounded_pairs(), "plan")))
    bounds = first_bounds(system)
    narrow(bounds)
    [part] = parts_of(bounds)
    PartSearch(part, [], enough()).run(())
    exchanges = Exchanges.of(part, system)
    assert exchanges is not None
    everything = np.arange(part.size)
    exchanges.walk(lambda: (everything, everything), lambda: True)
    assert len(part.files) == 1
