"""Recoding: Adult as ARX's examples have it, and 1,000,000 and 10,000,000 school-census records.

Adult, 5-anonymity with 4 % suppression, searched exactly over 4,320 nodes. Promise: within 1 CPU second, warm. The
baseline is anjana, which is greedy, and pycanon, which only looks at the classes of a release; both run where they are
installed, in this interpreter or in that which the variable ANJANA_PYTHON names (they are no part of the project).
ARX itself took 0.35 to 1.5 s per search on the machine of the golden figures.

Adult by local recoding, 5-anonymity, beside ARX's figures: a loss of 0.0325 in 1.5 CPU seconds. Promise: ``fast`` loses
no more in no more CPU. ``best`` loses 0.0276 in half of what it took before it was made faster: that was 1 / 0.06 of
what ``fast`` takes, as both were measured under the same load; so ``fast``, measured in the same run, is the clock.

1,000,000 census records with eight quasi-identifiers, and as many with eight numbers. Promise: global recoding within 2
CPU seconds, local with effort ``fast`` within 20, microaggregation (MDAV, k = 5) within 10; together within 1 GiB.

The census, 5-anonymity and 0.3-closeness with 4 % suppression and suggested hierarchies. Promise: within 6 GiB.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from census import school_census
from glasshouse.mitigation import Recoding, attained, microaggregate, recode, recode_locally
from glasshouse.mitigation.criteria import EqualCloseness, KAnonymity
from glasshouse.mitigation.hierarchies import Hierarchy, read_hierarchy, suggest
from glasshouse.table import EncodedTable, read
from measure import cpu_seconds

RECORDS, MILLION = 10_000_000, 1_000_000
ARX_LOCAL_LOSS, ARX_LOCAL_SECONDS = 0.0325, 1.5
FAST_BEFORE = 0.06
"""What ``fast`` takes, as a share of what ``best`` took before."""
LOCAL_PROMISES = {
    "fast": (ARX_LOCAL_LOSS, 1.0),
    "good": (0.03, 0.5 / FAST_BEFORE),
    "best": (0.0276, 0.5 / FAST_BEFORE),
}
"""Per effort, the highest loss and the most CPU, in units of ``fast``; that itself is held against ARX's seconds."""
KNOWN = (
    *("day_of_birth", "month_of_birth", "year_of_birth", "gender", "ethnicity", "nationality"),
    *("city_of_residence", "school_type"),
)
ADULT = Path(__file__).parents[2] / "shared" / "data" / "arx"
ATTRIBUTES = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass"),
    "salary-class",
)
OTHERS = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import pandas as pd
from anjana.anonymity import k_anonymity
from pycanon import anonymity
folder, names = sys.argv[1], json.loads(sys.argv[2])
def frame(name, header):
    return pd.read_csv(f"{folder}/{name}.csv", sep=";", header=header, dtype=str)
adult = frame("adult", 0)
levels = {name: dict(frame(f"adult_hierarchy_{name}", None)) for name in names}
start = time.process_time()
released = k_anonymity(adult, [], names, 5, 4, levels)
found = time.process_time()
secret = ["occupation"]
def looked_at(frame):
    measures = [
        anonymity.k_anonymity(frame, names),
        anonymity.l_diversity(frame, names, secret),
        anonymity.entropy_l_diversity(frame, names, secret),
        anonymity.t_closeness(frame, names, secret),
    ]
    return list(map(float, measures))
before = looked_at(adult)
middle = time.process_time()
after = looked_at(released)
seconds = found - start, middle - found, time.process_time() - middle
print(json.dumps([*seconds, len(released), len(released[names].drop_duplicates()), before, after]))
"""


def adult() -> tuple[EncodedTable, dict[str, Hierarchy]]:
    table = read(ADULT / "adult.csv", quasi_identifiers=ATTRIBUTES, sensitive=["occupation"])
    return table, {
        name: read_hierarchy(ADULT / f"adult_hierarchy_{name}.csv", column=name)
        for name in ATTRIBUTES
    }


def search(table: EncodedTable, hierarchies: dict[str, Hierarchy]) -> Recoding:
    return recode(table, hierarchies=hierarchies, criteria=[KAnonymity(5)], suppression=0.04)


def adult_holds() -> bool:
    if not ADULT.exists():
        print(f"Adult: skipped, {ADULT} is not there")
        return True
    table, hierarchies = adult()
    found = search(table, hierarchies)
    assert found.optimal
    assert (int(found.suppressed.sum()), found.classes) == (1178, 370)
    own = cpu_seconds(partial(search, table, hierarchies))
    print(
        f"Adult, k = 5, 4 % suppression: {own:.3f} CPU s for {found.evaluated} of 4,320 nodes, loss {found.loss:.6f} "
        f"(promised: at most 1 CPU s) {'holds' if own <= 1 else 'BROKEN'}"
    )
    return own <= 1 and beside_others(table, found, own)


def beside_others(table: EncodedTable, found: Recoding, own: float) -> bool:
    """Print what anjana and pycanon take, where they are installed. Promise: at least 20 times what we take."""
    python = os.environ.get("ANJANA_PYTHON", sys.executable)
    arguments = [python, "-c", OTHERS, str(ADULT), json.dumps(ATTRIBUTES)]
    outcome = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if outcome.returncode:
        print(
            f"anjana and pycanon: skipped, {python} does not have them; install them elsewhere and name that "
            "interpreter in ANJANA_PYTHON"
        )
        return True
    seconds, *looking, kept, classes, before, after = json.loads(outcome.stdout.splitlines()[-1])
    print(
        f"anjana: {seconds:.2f} CPU s, {kept} records kept in {classes} classes (ours {found.records - 1178} in "
        f"{found.classes}, proved), {seconds / own:.0f} times ours; promised: at least 20 times"
    )
    holds = bool(seconds >= 20 * own)
    release = found.release(table).of_records(~found.suppressed)
    for name, records, spent, theirs in (
        ("Adult as it is", table, looking[0], before),
        ("the release", release, looking[1], after),
    ):
        has = attained(records)
        looked = cpu_seconds(partial(attained, records))
        secret = has.secrets[0]
        # pycanon cuts the l of entropy off to a whole number.
        ours = (has.k, secret.distinct, math.floor(secret.entropy + 1e-9), float(secret.distance))
        same = all(
            math.isclose(one, other, abs_tol=1e-9) for one, other in zip(ours, theirs, strict=True)
        )
        print(
            f"pycanon, k, l, entropy l and t of {name}: {spent:.2f} CPU s ({theirs}), {spent / looked:.0f} times ours "
            f"({list(ours)}); promised: at least 20 times, and the same figures"
        )
        holds &= same and spent >= 20 * looked
    return holds


def local_holds() -> bool:
    if not ADULT.exists():
        return True
    table, hierarchies = adult()
    holds, fast = True, ARX_LOCAL_SECONDS
    for effort, (most, units) in LOCAL_PROMISES.items():
        work = partial(
            recode_locally,
            table,
            hierarchies=hierarchies,
            criteria=[KAnonymity(5)],
            effort=effort,
        )
        recoding, own = work(), cpu_seconds(work, repeats=2)
        seconds = units * fast
        met = recoding.loss <= most and own <= seconds
        print(
            f"Adult, local recoding, k = 5, {effort}: {own:.2f} CPU s, loss {recoding.loss:.4f} (promised: "
            f"{seconds:.1f} CPU s, {most}; ARX {ARX_LOCAL_SECONDS} and {ARX_LOCAL_LOSS}) {'holds' if met else 'BROKEN'}"
        )
        holds &= met
        fast = own if effort == "fast" else fast
    return holds


def million_holds() -> bool:
    table = school_census(MILLION).with_roles(quasi_identifiers=KNOWN)
    hierarchies = {name: suggest(table.column(name)) for name in KNOWN}
    random = np.random.default_rng(0)
    numbers = random.normal(size=(MILLION, 8)) @ random.normal(size=(8, 8)) * 1000
    columns = {f"x{i}": pa.array(numbers[:, i].astype(int)).cast(pa.string()) for i in range(8)}
    points = read(pa.table(columns), quasi_identifiers=list(columns))
    options: dict[str, Any] = {"hierarchies": hierarchies, "criteria": [KAnonymity(5)]}
    holds = True
    for name, seconds, work in (
        ("global, 4 % suppression", 2, partial(recode, table, suppression=0.04, **options)),
        ("local, fast", 20, partial(recode_locally, table, effort="fast", **options)),
        ("microaggregation by MDAV", 10, partial(microaggregate, points, k=5)),
    ):
        loss, own = work().loss, cpu_seconds(work, repeats=1)
        print(
            f"{MILLION:,} records × 8, k = 5, {name}: {own:.1f} CPU s (promised: at most {seconds}), loss {loss:.4f}, "
            f"peak {peak():.2f} GiB (promised: at most 1) {'holds' if own <= seconds and peak() <= 1 else 'BROKEN'}"
        )
        holds &= own <= seconds and peak() <= 1
    return holds


def census_holds() -> bool:
    table = school_census(RECORDS).with_roles(quasi_identifiers=KNOWN, sensitive=["transport"])
    before = peak()
    start = time.perf_counter(), time.process_time()
    hierarchies = {name: suggest(table.column(name)) for name in KNOWN}
    found = recode(
        table,
        hierarchies=hierarchies,
        criteria=[KAnonymity(5), EqualCloseness(0.3, "transport")],
        suppression=0.04,
    )
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    nodes = math.prod(hierarchy.height for hierarchy in hierarchies.values())
    assert found.optimal
    print(
        f"{RECORDS:,} census records, {len(KNOWN)} quasi-identifiers, k = 5 and t = 0.3, 4 % suppression: wall "
        f"{wall:.1f} s, CPU {cpu:.1f} s for {found.evaluated} of {nodes:,} nodes; {found.classes:,} classes, "
        f"{int(found.suppressed.sum()):,} suppressed, loss {found.loss:.6f}; peak {peak():.2f} GiB, the table alone "
        f"{before:.2f} (promised: at most 6 GiB) {'holds' if peak() <= 6 else 'BROKEN'}"
    )
    return peak() <= 6


def peak() -> float:
    """Return the most memory that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> bool:
    return all([adult_holds(), local_holds(), million_holds(), census_holds()])


if __name__ == "__main__":
    sys.exit(not main())
