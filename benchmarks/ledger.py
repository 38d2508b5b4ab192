"""Whether an output may follow fifty others of 500 people: where stored files of people decide, and where they do not.

A synthetic population of six attributes (720 combinations); 50 outputs of it, one-, two- and three-way tables, most of
them rounded, as an agency or a portal publishes them over a year: each is checked as it is added. Then two outputs are
checked against all of them: one whose answer the files of the last certificate show, and one that has to be solved. The
baseline is to solve all tables anew, as ``glasshouse tables`` does, without the ledger.

    python benchmarks/ledger.py
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from glasshouse.runs.ledger import Ledger, OutputCheck
from glasshouse.tabulation import cell_bounds, published
from glasshouse.tabulation.outputs import joined

SIZES = {"sex": 2, "ill": 2, "region": 3, "work": 3, "school": 4, "age": 5}
PEOPLE, OUTPUTS = 500, 50
PROMISES = {"stored files decide": 5.0, "solved": 60.0}


def population(seed: int = 0) -> list[dict[str, str]]:
    """Return people whose attributes hang together a little, as in any population."""
    rng = random.Random(seed)
    people = []
    for _ in range(PEOPLE):
        lean = rng.random()
        person = {}
        for name, size in SIZES.items():
            drawn = min(size - 1, int(size * (0.6 * lean + 0.4 * rng.random())))
            person[name] = f"{name}{drawn}"
        people.append(person)
    return people


def plan(people: list[dict[str, str]], by: tuple[str, ...], base: int, name: str) -> dict[str, Any]:
    """Return a table of everybody, with its counts rounded."""
    counts = Counter(tuple(person[one] for one in by) for person in people)
    attributes = {one: {"values": [f"{one}{at}" for at in range(SIZES[one])]} for one in SIZES}
    rows = [[*key, (count + base // 2) // base * base] for key, count in sorted(counts.items())]
    table: dict[str, Any] = {"id": name, "by": list(by), "rows": rows}
    if base > 1:
        table["rounding"] = {"base": base, "how": "nearest"}
    return {"people": PEOPLE, "attributes": attributes, "tables": [table]}


def outputs() -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield what is published, in its order: the attributes of each table, and what it is rounded to."""
    names = list(SIZES)
    yield from (((name,), 1) for name in names)
    yield from ((pair, 10) for pair in combinations(names, 2))
    yield from ((triple, 20) for triple in combinations(names, 3))
    yield from ((pair, 20) for pair in combinations(names, 2))


def timed(work: Callable[[], OutputCheck]) -> tuple[float, OutputCheck]:
    began = time.process_time()
    checked = work()
    return time.process_time() - began, checked


def main() -> None:
    people = population()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger")
        additions = []
        for number, (by, base) in enumerate(list(outputs())[:OUTPUTS]):
            content = plan(people, by, base, f"T{number}")
            additions.append(timed(lambda content=content: ledger.add(content, rare=9, seconds=60)))  # type: ignore[misc]
        slowest = max(seconds for seconds, _ in additions)
        verdict = "holds" if slowest <= PROMISES["solved"] else "BROKEN"
        print(
            f"{len(additions)} outputs added in {sum(seconds for seconds, _ in additions):.1f} CPU s, the slowest in "
            f"{slowest:.1f} (promised: at most {PROMISES['solved']:g}) {verdict}; "
            f"{sum(checked.answer.undecided for _, checked in additions)} at a limit"
        )
        checks = {
            "stored files decide": plan(people, ("sex", "ill"), 10, "again"),
            "solved": plan(people, ("region", "school"), 1, "exact"),
        }
        for title, content in checks.items():
            seconds, checked = timed(lambda content=content: ledger.check(content, rare=9))  # type: ignore[misc]
            verdict = "holds" if seconds <= PROMISES[title] else "BROKEN"
            print(
                f"{title}: {seconds:.1f} CPU s, {checked.verdict} "
                f"(promised: at most {PROMISES[title]:g}) {verdict}"
            )
        began = time.process_time()
        cell_bounds(published(joined(ledger.outputs)), counting=False)
        print(f"baseline, all tables anew: {time.process_time() - began:.1f} CPU s")


if __name__ == "__main__":
    main()
