"""People, not records: close guesses, inexact knowledge, and people with several records, in CPU seconds.

Close guesses have a baseline in the same run: every subset by itself, sorted and scanned with numpy. People have one,
too: all pairs of events as 64-bit keys, sorted, which gives certainty only.

With the interpreter of an environment in which scikit-mobility is installed, its location attack is another: on the
example of its documentation, and on a few visits. Its risk of a person for knowledge of length m is 1 over the fewest
people who have some m of that person's places, the worst case over all choices of m; who has fewer places is attacked
with all of them. Our walk counts the same people on its way (`luckiest` is the mean of these risks over the people with
at least m records, and `some_events_single_out` counts the risks that are 1), so that both must agree on every person.

    python benchmarks/people.py [--records 1000000] [--events 10000000] [--skmob PYTHON]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from census import Stream, school_census
from glasshouse import synthetic
from glasshouse.microdata import (
    assess,
    assess_people,
    close_guesses,
    inexact_knowledge,
    people_kernel,
)
from glasshouse.study.assess import Tolerance
from glasshouse.table import EncodedColumn, EncodedTable, read
from glasshouse.table.partition import refined

TENTH = Tolerance(Fraction(1, 10), is_share=True)
EXAMPLE = {"1": "LVPF", "2": "LPLV", "3": "VPLF", "4": "PVF", "5": "PFL", "6": "LV", "7": "LLF"}
"""The people of scikit-mobility's example, and the places of each: Lucca, Livorno (V), Pisa and Florence."""
VISITS = 120
"""On so many visits the location attack is tried, besides the example."""
THEIRS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
start = time.process_time()
import pandas as pd
from skmob import TrajDataFrame
from skmob.privacy.attacks import LocationAttack
imported = time.process_time() - start
asked = json.load(sys.stdin)
events = pd.DataFrame(asked["events"], columns=["uid", "lat"])
events["lng"] = 0.0
events["datetime"] = pd.date_range("2025-01-01", periods=len(events), freq="h")
visits = TrajDataFrame(events, latitude="lat", longitude="lng", datetime="datetime", user_id="uid")
start = time.process_time()
risks = LocationAttack(knowledge_length=asked["known"]).assess_risk(visits)
seconds = time.process_time() - start
risks = dict(zip(risks["uid"].astype(str), risks["risk"].astype(float)))
json.dump({"risks": risks, "seconds": seconds, "imported": imported}, sys.stdout)
"""
"""What the other interpreter does: it reads who was where, and writes the risk of each person."""


def clocked(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what comes of work, and its CPU seconds."""
    start = time.process_time()
    return work(), time.process_time() - start


def with_income(table: EncodedTable) -> EncodedTable:
    """Return the table with a made-up income, which depends on nothing that is known."""
    incomes = np.random.default_rng(7).lognormal(7.6, 0.7, table.records).round(-1).astype(np.int64)
    values, codes = np.unique(incomes, return_inverse=True)
    column = EncodedColumn(
        "income", codes.astype(np.uint32), pa.array(map(str, values), pa.large_string())
    )
    wider = replace(table, columns={**table.columns, "income": column})
    return wider.with_roles(quasi_identifiers=table.quasi_identifiers, sensitive=["income"])


def close(records: int) -> None:
    """Tell what close guesses of an income take: all subsets, and a few of them one by one."""
    close_guesses(with_income(school_census(1000)), "income", TENTH)
    table = with_income(school_census(records))
    swept, seconds = clocked(lambda: close_guesses(table, "income", TENTH))
    some = [swept.names(mask) for mask in swept.masks[:: len(swept.masks) // 8].tolist()]
    alone, each = clocked(lambda: close_guesses(table, "income", TENTH, subsets=some))
    for row, mask in enumerate(alone.masks.tolist()):
        assert alone.guess(row) == swept.guess(swept.row_of(alone.names(mask)))
    subsets = len(swept.masks)
    print(
        f"close guesses, {records:,} records, {subsets:,} subsets: {seconds:.1f} CPU s; one by one "
        f"{each / len(alone.masks) * subsets:.0f} CPU s (from {len(alone.masks)}, equal)"
    )


def with_birth(table: EncodedTable) -> EncodedTable:
    """Return the table with the date of birth in one column, instead of in three."""
    parts = ("year_of_birth", "month_of_birth", "day_of_birth")
    columns = [table.column(name) for name in parts]
    numbers = [np.array(column.values.to_pylist(), np.int64)[column.codes] for column in columns]
    days, codes = np.unique(
        numbers[0] * 372 + numbers[1] * 31 + numbers[2] - 32, return_inverse=True
    )
    dates = [
        str(np.datetime64(f"{day // 372:04}-{day // 31 % 12 + 1:02}") + 0) for day in days.tolist()
    ]
    texts = [f"{month}-{day % 31 + 1:02}" for month, day in zip(dates, days.tolist(), strict=True)]
    column = EncodedColumn("birth", codes.astype(np.uint32), pa.array(texts, pa.large_string()))
    others = [name for name in table.quasi_identifiers if name not in parts]
    wider = replace(table, columns={**table.columns, "birth": column})
    return wider.with_roles(quasi_identifiers=["birth", *others], sensitive=["disability"])


def about(records: int) -> None:
    """Tell what a birth date within a week and a city that may be wrong take: the whole set, and all subsets."""
    table = with_birth(school_census(records))
    exact = assess(table).attacks
    for name, written in (("birth", "±7d"), ("city_of_birth", "90%")):
        asked = partial(inexact_knowledge, attacked=exact)
        for subsets in ([table.quasi_identifiers], "all"):
            inexact_knowledge(
                with_birth(school_census(1000)), {name: written}, subsets=subsets
            )  # compiled
        whole, alone = clocked(
            partial(asked, table, {name: written}, subsets=[table.quasi_identifiers])
        )
        swept, seconds = clocked(partial(asked, table, {name: written}))
        for target, same in zip(whole.targets, swept.targets, strict=True):
            assert target.chances(0) == same.chances(swept.whole)
        guess, certain, nearly = (float(chance) for chance in whole.targets[0].chances(0))
        print(
            f"{name} {written}, {records:,} records, naming and a secret: {alone:.2f} CPU s; all {len(swept.masks)} "
            f"subsets with it {seconds:.1f} CPU s; named by guessing {guess:.4f}, certain {certain:.4f}, nearly sure "
            f"{nearly:.4f}"
        )


def pairs(table: EncodedTable) -> float:
    """Return the certainty of two known events with numpy: all pairs of everybody, as sorted keys."""
    who, facts = table.column("pseudonym").codes, table.column("clinic").codes.astype(np.int64)
    facts = facts * table.column("day").cardinality + table.column("day").codes
    order = np.lexsort((facts, who))
    facts = np.unique(facts, return_inverse=True)[1][order]
    sizes = np.bincount(who)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    keys, owners = [], []
    for size in np.unique(sizes[sizes > 1]).tolist():
        people = np.flatnonzero(sizes == size)
        rows = facts[starts[people][:, None] + np.arange(size)]
        first, second = np.triu_indices(size, 1)
        keys.append(((rows[:, first] << 32) | rows[:, second]).ravel())
        owners.append(np.repeat(people, len(first)))
    key, owner = np.concatenate(keys), np.concatenate(owners)
    order = np.lexsort((owner, key))
    key, owner = key[order], owner[order]
    begins = np.concatenate(([True], key[1:] != key[:-1]))
    group = np.cumsum(begins) - 1
    changes = np.concatenate(([False], (owner[1:] != owner[:-1]) & ~begins[1:]))
    single = np.bincount(group, weights=changes)[group] == 0
    chance = 1 / (sizes[owner] * (sizes[owner] - 1) / 2)
    return float((single * chance).sum() / np.count_nonzero(sizes > 1))


def people(events: int) -> None:
    """Tell what knowing one to four of a person's visits takes."""
    roles: dict[str, Any] = {
        "quasi_identifiers": ["clinic", "day"],
        "also": ["pseudonym", "diagnosis"],
    }
    secrets = ["any diagnosis=F*"]
    few = read(synthetic.table("visits", records=100_000, seed=1), **roles)
    outcome, seconds = clocked(lambda: assess_people(few, "pseudonym", knows=2))
    outcome, seconds = clocked(lambda: assess_people(few, "pseudonym", knows=2))
    certain, baseline = clocked(lambda: pairs(few))
    assert abs(certain - float(outcome.results[-1].certainty.posterior)) < 1e-9
    print(
        f"two visits, {few.records:,} events: {seconds:.2f} CPU s for m = 1 and 2, all measures; numpy's pairs "
        f"{baseline:.2f} CPU s for certainty alone (equal)"
    )
    assess_people(few, "pseudonym", knows=2, secrets=secrets)
    table = read(Stream(events, name="visits"), **roles)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = [time.process_time()]
    outcome = assess_people(
        table,
        "pseudonym",
        secrets=secrets,
        on_progress=lambda _: times.append(time.process_time()),
    )
    times.append(time.process_time())
    print(
        f"{outcome.people:,} people, {events:,} events: lists {times[1] - times[0]:.1f} CPU s; at most "
        f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (1 << 20):.2f} GiB above the table"
    )
    for result, start, end in zip(outcome.results, times[1:], times[2:], strict=False):
        print(
            f"  m = {result.events}: {end - start:.1f} CPU s; certain {float(result.certainty.posterior):.4f}, guess "
            f"{float(result.guessing.posterior):.4f}; {'exact' if result.margin is None else 'estimate'}"
        )


def luckiest_of_each(table: EncodedTable, person: str, known: int) -> dict[str, Fraction]:
    """Return, per person, 1 over the fewest people who have some so many of their events, or all if they have fewer."""
    fewest = []
    walk = people_kernel.walk

    def noted(*arguments: Any) -> Any:
        walked = walk(*arguments)
        fewest.append(walked[0].fewest)
        return walked

    with patch.object(people_kernel, "walk", noted):
        outcome = assess_people(table, person, knows=known)
    column = table.column(person)
    numbers = refined([column], table.records)
    of_person = dict(zip(numbers.numbers.tolist(), column.codes.tolist(), strict=True))
    risks = {
        str(column.values[code]): Fraction(
            1, int(fewest[min(known, int(numbers.sizes[number])) - 1][number])
        )
        for number, code in of_person.items()
    }
    targets = [
        risks[str(column.values[code])]
        for number, code in of_person.items()
        if numbers.sizes[number] >= known
    ]
    assert sum(targets) / len(targets) == outcome.results[-1].luckiest
    assert targets.count(Fraction(1)) == outcome.results[-1].some
    return risks


def location_attack(python: str) -> None:
    """Set scikit-mobility's location attack beside ours, person by person; stop where they differ."""
    rows = [(who, place) for who, places in EXAMPLE.items() for place in places]
    example = pa.table({"pseudonym": [who for who, _ in rows], "clinic": [at for _, at in rows]})
    few = synthetic.table("visits", records=VISITS, seed=1)
    for name, visits, lengths in (("its example", example, (2, 3)), ("visits", few, (2,))):
        table = read(visits, quasi_identifiers=["clinic"], also=["pseudonym"])
        who, where = table.column("pseudonym"), table.column("clinic").codes.tolist()
        people = [str(who.values[code]) for code in who.codes.tolist()]
        for known in lengths:
            luckiest_of_each(table, "pseudonym", known)  # compiled
            ours, seconds = clocked(partial(luckiest_of_each, table, "pseudonym", known))
            asked = {"known": known, "events": list(zip(people, where, strict=True))}
            try:
                answer = subprocess.run(
                    [python, "-c", THEIRS], input=json.dumps(asked), text=True, capture_output=True
                )
            except OSError as error:
                raise SystemExit(f"--skmob {python} is no interpreter: {error}") from None
            if answer.returncode:
                raise SystemExit(f"scikit-mobility did not answer: {answer.stderr.strip()[-400:]}")
            theirs = json.loads(answer.stdout)
            differ = [
                f"{person}: {risk}, theirs {theirs['risks'].get(person)}"
                for person, risk in ours.items()
                if theirs["risks"].get(person) != float(risk)
            ]
            if differ or len(theirs["risks"]) != len(ours):
                raise SystemExit(f"{name}, m = {known}: risks differ: {'; '.join(differ)}")
            print(
                f"location attack on {name}, {table.records} events of {len(ours)} people, m = {known}: {seconds:.4f} "
                f"CPU s with all measures; scikit-mobility {theirs['seconds']:.2f} CPU s, × "
                f"{theirs['seconds'] / seconds:,.0f} (and {theirs['imported']:.1f} to import it); every risk equal"
            )


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--skmob", metavar="PYTHON", help="an interpreter with scikit-mobility")
    chosen = parser.parse_args()
    if chosen.records:
        close(chosen.records)
        about(chosen.records)
    if chosen.events:
        people(chosen.events)
    if chosen.skmob:
        location_attack(chosen.skmob)
    else:
        print(
            "scikit-mobility is left out; --skmob PYTHON, of an environment with it, sets it beside"
        )


if __name__ == "__main__":
    main()
