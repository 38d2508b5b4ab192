"""A month of imports, reconstructed in three phases.

817,468 transactions of 18,430 importers, as the example plan has them. Promises: at most 7,200 CPU s and 8 GiB for the
month; at least 85 % of the instances are solved exactly, and 75 % of those of a complexity from 24 to 50; and nothing
is wrong: the true bin of every record is among the feasible ones, and a bin that is called certain is the true one. How
many transactions have bins that are proved is told beside it; most are in groups too large for anybody.

The baselines: the published procedure (Favato 2021, section 5.1) gives up every instance of a complexity above 24, so
that it solves at best those below; the share of these is counted in the same run. And CP-SAT, group by group: with
`--cp-sat N` it gets N instances of the first phase, spread over all complexities, each with the CPU seconds of our
longest attempt; ours makes all its attempts at the same sample beside it, and is promised to take at most a tenth.

    python benchmarks/totals_month.py --share 0.01 --cp-sat 60
    python benchmarks/totals_month.py --folder kept --processes 2        # the month; the same again goes on

Attempts are counted, not timed: what is solved is the same on every machine and under every load. CPU seconds are those
of all processes; with `--folder` those of this run only, so that a run that went on has to be added to those before.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from glasshouse.reconstruction import CampaignResult, campaign, load_plan
from glasshouse.reconstruction.attempt_rounds import next_limit
from glasshouse.reconstruction.phase import Attempt, Task
from glasshouse.reconstruction.solver import prepare
from glasshouse.reconstruction.workers import AttemptTerms, attempt, instance_of
from glasshouse.study.totals import TimeBudget, TotalsStudy
from glasshouse.synthetic.trade import Trade, trade
from glasshouse.synthetic.trade_world import IMPORTERS, TRANSACTIONS
from totals import on_cp_sat

PLAN = Path(__file__).parents[1] / "examples" / "trade" / "study.toml"
GIVEN_UP = 24
"""The complexity above which the published procedure gave up."""
PROMISED = 0.85
PROMISED_MIDDLE = 0.75
"""The share of the instances of a complexity from `GIVEN_UP` to 50."""
PROMISED_SECONDS, PROMISED_GIGABYTES = 7_200, 8.0
"""What the month may take: CPU seconds, and memory of all processes."""
PROMISED_RATIO = 10.0
"""How many times as much CPU as ours CP-SAT takes on the same sample, at least."""


def month(share: float, seed: int, added: float) -> Trade:
    return trade(
        transactions=round(TRANSACTIONS * share),
        importers=max(2, round(IMPORTERS * share)),
        seed=seed,
        added=added,
    )


def plan_of(folder: Path, made: Trade) -> TotalsStudy:
    if not (folder / "study.toml").exists():
        made.write(folder / "month")
        (folder / "study.toml").write_bytes(PLAN.read_bytes())
    return load_plan(folder / "study.toml")


def show_phases(result: CampaignResult) -> None:
    for phase in result.phases:
        print(
            f"{phase.name}: {phase.groups:,} groups of {phase.records:,} records; {phase.instances:,} instances "
            f"({phase.trivial:,} of one bin; {phase.settled:,} settled before): {phase.unique:,} unique, "
            f"{phase.ambiguous:,} ambiguous, {phase.infeasible:,} infeasible, {phase.unsolved:,} unsolved, "
            f"{phase.untried:,} untried; {phase.linked:,} records linked, {phase.seconds:.0f} CPU s"
        )
        for apart in phase.apart:
            print(
                f"  set apart: {apart.reason}, {apart.groups:,} groups, {apart.records:,} records"
            )
    for step in result.exposure("bayes"):
        print(
            f"  {step.name}: chance {step.chance:.3%}, value at risk {step.value_at_risk:,.0f}, "
            f"certain {step.certain:,} ({step.certain_value:,.0f})"
        )


def show_complexity(result: CampaignResult) -> tuple[float, float]:
    """Print the share solved by complexity; return that from 24 to 50, and what the published procedure tries."""
    frame = result.to_frame()
    complexity = frame["complexity"].to_numpy()
    solved = ~np.isin(
        frame["status"].to_numpy(zero_copy_only=False), ["limit", "failed", "untried"]
    )
    seconds = frame["seconds"].to_numpy()
    for low, high in ((-1, 0), (0, 12), (12, 24), (24, 36), (36, 50), (50, np.inf)):
        inside = (complexity > low) & (complexity <= high)
        if inside.any():
            print(
                f"  complexity {max(low, 0)} to {high:g}: {inside.sum():,} instances, {solved[inside].mean():.1%} "
                f"solved, mean {seconds[inside].mean():.3f} CPU s in the last attempt"
            )
    middle = (complexity > GIVEN_UP) & (complexity <= 50)
    return float(solved[middle].mean()), float((complexity <= GIVEN_UP).mean())


def wrong_records(result: CampaignResult, made: Trade) -> tuple[int, int]:
    """Return how many records do not have their true bin among the feasible ones, and how many are linked wrongly."""
    bins = pc.binary_join_element_wise(made.truth["state"], made.truth["city"], " ").to_pylist()
    counted = pc.equal(made.truth["in_totals"], "yes").to_pylist()
    truth = dict(
        zip(
            made.truth["declaration"].to_pylist(),
            (name if inside else "NONE" for name, inside in zip(bins, counted, strict=True)),
            strict=True,
        )
    )
    wrong = wrongly_linked = 0
    frame = result.packages_frame(most_bins=1_000).select(["record", "feasible_bins", "linked"])
    for batch in frame.to_batches(max_chunksize=50_000):
        for record, feasible, linked in zip(*(column.to_pylist() for column in batch), strict=True):
            if feasible is not None:
                wrong += truth[record] not in feasible
                wrongly_linked += linked and feasible != [truth[record]]
    return wrong, wrongly_linked


def spread(result: CampaignResult, number: int) -> list[Task]:
    """Return so many instances of the first phase that are not trivial, spread over their complexities."""
    solved = result.solved_phases[0]
    hard = solved.hard[np.argsort(solved.instances.complexity[solved.hard], kind="stable")]
    places = np.linspace(0, len(hard) - 1, min(number, len(hard))).astype(int)
    return [solved.task(int(part)) for part in hard[np.unique(places)]]


def tried(task: Task, terms: AttemptTerms, budget: TimeBudget) -> Attempt:
    """Make all attempts at an instance that a campaign makes, and return the last."""
    answer = attempt(task, terms, budget.quick)
    while (limit := next_limit(answer, budget)) is not None:
        answer = attempt(task, terms, limit)
    return answer


def beside_cp_sat(result: CampaignResult, number: int) -> bool:
    """Let CP-SAT solve a sample group by group, and ours the same; print and judge what both took."""
    budget = result.study.budget
    terms = AttemptTerms(int(budget.gigabytes * (1 << 30)), None, result.study.left_out)
    sample = spread(result, number)
    spent, solved = np.zeros((len(sample), 2)), np.zeros((len(sample), 2), bool)
    for place, task in enumerate(sample):
        clock = time.process_time()
        answer = tried(task, terms, budget)
        spent[place, 0] = time.process_time() - clock
        clock = time.process_time()
        sets = on_cp_sat(instance_of(task), budget.longest)
        spent[place, 1] = time.process_time() - clock
        solved[place] = answer.status in ("unique", "ambiguous"), sets is not None
        rows = () if answer.feasible is None else tuple(answer.feasible)
        if solved[place].all() and [set(np.flatnonzero(row).tolist()) for row in rows] != sets:
            raise SystemExit("ours and CP-SAT disagree")
    own, other = spent.sum(axis=0)
    both = solved.all(axis=1)
    own_both, other_both = spent[both].sum(axis=0)
    as_many = solved[:, 0].sum() >= solved[:, 1].sum()
    holds = bool(own <= other / PROMISED_RATIO and as_many)
    print(
        f"{len(sample)} instances of the first phase: ours solves {solved[:, 0].sum()} in {own:.2f} CPU s, CP-SAT per "
        f"group, with {budget.longest:g} CPU s for each, {solved[:, 1].sum()} in {other:.2f} CPU s: ratio "
        f"{other / own:.1f} (promised: {PROMISED_RATIO:g}); on the {both.sum()} that both solve, with the same sets, "
        f"{own_both:.3f} and {other_both:.3f} CPU s: ratio {other_both / own_both:.1f}. "
        f"{'holds' if holds else 'BROKEN'}"
    )
    return holds


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it started and that have ended."""
    times = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in times)


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="how much of the month")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--added", type=float, default=0.0, help="records that totals hold beyond the published"
    )
    parser.add_argument("--cp-sat", type=int, default=0, help="so many instances beside CP-SAT")
    parser.add_argument("--folder", type=Path, help="keep the month and the attempts, and go on")
    asked = parser.parse_args()
    made = month(asked.share, asked.seed, asked.added)
    prepare()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        plan = plan_of(folder, made)
        began = cpu_seconds()
        resume = (folder / "attempts" / "key").exists()
        result = campaign(
            plan, processes=asked.processes, folder=folder / "attempts", resume=resume
        )
        spent = cpu_seconds() - began
    sizes = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own, workers = (used.ru_maxrss / 2**20 for used in sizes)
    peak = own + (workers * asked.processes if asked.processes > 1 else 0.0)
    show_phases(result)
    middle, below = show_complexity(result)
    share = result.solved / result.instances
    wrong, wrongly_linked = wrong_records(result, made)
    holds = (
        share >= PROMISED
        and middle >= PROMISED_MIDDLE
        and wrong == wrongly_linked == 0
        and spent <= PROMISED_SECONDS * max(asked.share, 1 / 120)
        and peak <= PROMISED_GIGABYTES
    )
    proved = float(result.standing.proved.mean())
    print(
        f"{made.truth.num_rows:,} transactions, {result.instances:,} instances: {share:.1%} solved exactly (promised: "
        f"{PROMISED:.0%}; the published procedure would not give up {below:.1%}: ratio {share / below:.2f}), of "
        f"complexity 24 to 50 {middle:.1%} (promised: {PROMISED_MIDDLE:.0%}); {proved:.1%} of the transactions have "
        f"bins that are proved; wrong {wrong}, wrongly certain {wrongly_linked} (promised: 0); {spent:.0f} CPU s"
        f"{', this time' if resume else ''}, {spent / made.truth.num_rows * 1000:.2f} ms for a transaction (promised: "
        f"{PROMISED_SECONDS:,} CPU s for the month, 60 for a hundredth); {peak:.2f} GiB at most. "
        f"{'holds' if holds else 'BROKEN'}"
    )
    return all([holds, *([beside_cp_sat(result, asked.cp_sat)] if asked.cp_sat else [])])


if __name__ == "__main__":
    sys.exit(not main())
