"""Who can be read out of published tables: 40 blocks of Adult at ten CPU seconds each, and CP-SAT twice per cell.

Blocks of 10 to 500 people with 4 to 7 attributes, two of each; about half of the tables cross three attributes. Told
are the blocks of which is proved who is certain, what is possible, and every bound. The baseline asks CP-SAT for the
least and the greatest of every open class, on the same rows after the same propagation; it is run on the blocks of at
most 80 people and 5 attributes, since on the others it takes too long. Every bound of both is compared.

    python benchmarks/tables.py ../shared/data/adult.data
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ortools.sat.python import cp_model

from glasshouse.solvers import SolverBudget
from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import CellBounds, cell_bounds, published
from glasshouse.tabulation.bounds import first_bounds, narrow
from glasshouse.tabulation.cells import system_of
from glasshouse.tabulation.parts import parts_of
from glasshouse.tabulation.search import PartSearch

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.tabulation.adult import adult_block, plan_of

ATTRIBUTES, PEOPLE, SEEDS = (4, 5, 6, 7), (10, 30, 80, 200, 500), (0, 1)
SECONDS = 10.0


def twice_per_cell(plan: dict[str, object]) -> dict[int, tuple[int, int]]:
    """Return the bounds of every open class, each by two solves of CP-SAT."""
    bounds = first_bounds(system_of(published(validated(TablesStudy, plan, "plan"))))
    narrow(bounds)
    found = {}
    for part in parts_of(bounds):
        search = PartSearch(part, [], SolverBudget(1e9, 2 << 30))
        for place, number in enumerate(part.classes.tolist()):
            ends = []
            for up in (False, True):
                model, unknowns = search.model()
                (model.maximize if up else model.minimize)(unknowns[place])
                solver = cp_model.CpSolver()
                solver.parameters.num_workers = 1
                solver.solve(model)
                ends.append(round(solver.objective_value))
            found[number] = ends[0], ends[1]
    return found


def ours(plan: dict[str, object]) -> CellBounds:
    study = validated(TablesStudy, plan, "plan")
    return cell_bounds(published(study), seconds=SECONDS, counting=False)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("adult", type=Path)
    parser.add_argument("--kind", default="exact")
    parser.add_argument("--largest", type=int, default=500)
    options = parser.parse_args()
    ours(plan_of(adult_block(options.adult, 4, 10, 0)))  # imports, once
    proved = dict.fromkeys(("certain", "possible", "bounds"), 0)
    blocks, cpu, baseline = 0, 0.0, [0.0, 0.0]
    for attributes in ATTRIBUTES:
        for people in (size for size in PEOPLE if size <= options.largest):
            for seed in SEEDS:
                plan = plan_of(adult_block(options.adult, attributes, people, seed), options.kind)
                began = time.process_time()
                solution = ours(plan)
                seconds = time.process_time() - began
                blocks, cpu = blocks + 1, cpu + seconds
                states = solution.certain, solution.possible, solution.status
                for question, state in zip(proved, states, strict=True):
                    proved[question] += state == "proved"
                open_cells = int((solution.class_most > solution.class_least).sum())
                print(
                    f"{attributes} attributes, {people:3} people, seed {seed}: {' '.join(states)}, "
                    f"{open_cells} open, {solution.certain_persons} certain, "
                    f"{len(solution.trusted)} without certificate, {seconds:.2f} s",
                    flush=True,
                )
                if attributes <= 5 and people <= 80 and solution.status == "proved":
                    began = time.process_time()
                    for number, (least, most) in twice_per_cell(plan).items():
                        is_single = solution.system.sizes[number] == 1
                        assert not is_single or solution.class_least[number] == least
                        assert solution.class_most[number] == most
                    baseline[0] += time.process_time() - began
                    baseline[1] += seconds
    print(f"{blocks} blocks, {cpu:.1f} CPU s; proved: {proved}")
    print(
        f"CP-SAT twice per cell: {baseline[0]:.1f} s where ours takes {baseline[1]:.1f} s, "
        f"{baseline[0] / max(baseline[1], 1e-9):.1f} times as much"
    )


if __name__ == "__main__":
    main()
