"""Published tables of many areas: 8 tables of blocks of Adult, some of blocks, some of tracts and some of everybody.

A block is 20 people drawn from Adult; 25 blocks are a tract. Told are the CPU seconds and the memory of the command,
what was proved, and how long its proof takes to check again.

    python benchmarks/areas.py ../shared/data/adult.data --areas 10000
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.tabulation.adult import COLUMNS, DOMAINS, _people

PEOPLE, BLOCKS_PER_TRACT = 20, 25
BLOCKS = (
    *(
        ("block", "sex", "age"),
        ("block", "sex", "income"),
        ("block", "race"),
        ("block", "age", "income"),
    ),
    *(("block", "marital", "sex"), ("block", "marital", "income")),
)
NESTED = (*BLOCKS, ("tract", "marital", "income"), ("sex", "income"))
"""What is published of tracts and of everybody adds up what is published of blocks."""
CROSSED = (*BLOCKS, ("tract", "sex", "age", "marital"), ("sex", "race"))
"""Or crosses more than that does."""


def write(
    adult: Path, folder: Path, areas: int, tables: tuple[tuple[str, ...], ...] = NESTED
) -> None:
    """Write the tables, the areas and the plan."""
    everybody = _people(adult)
    names = list(COLUMNS)[:5]
    domains = {
        name: DOMAINS.get(name) or tuple(sorted({person[name] for person in everybody}))
        for name in names
    }
    rng = random.Random(0)
    blocks = [f"B{number:05}" for number in range(areas)]
    tract = {block: f"T{number // BLOCKS_PER_TRACT:04}" for number, block in enumerate(blocks)}
    people = [
        {**person, "block": block, "tract": tract[block]}
        for block in blocks
        for person in rng.sample(everybody, PEOPLE)
    ]
    domains |= {"block": tuple(blocks), "tract": tuple(dict.fromkeys(tract.values()))}
    with (folder / "areas.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("block", "tract"), *tract.items()])
    lines = [f"people = {len(people)}", 'areas = {path = "areas.csv"}', "sensitive = []"]
    for by in tables:
        counts = Counter(tuple(person[name] for name in by) for person in people)
        path = "_".join(by) + ".csv"
        with (folder / path).open("w", newline="") as file:
            rows = ((*key, counts[key]) for key in product(*(domains[name] for name in by)))
            csv.writer(file).writerows([(*by, "people"), *rows])
        lines += ["", "[[tables]]", f'path = "{path}"']
    (folder / "plan.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Write the tables, ask the command, and check its proof."""
    parser = argparse.ArgumentParser()
    parser.add_argument("adult", type=Path)
    parser.add_argument("--areas", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--crossed", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(options.adult, folder, options.areas, CROSSED if options.crossed else NESTED)
        run = folder / "run"
        command = [sys.executable, "-m", "glasshouse"]
        asked = [
            "tables",
            "--study",
            str(folder / "plan.toml"),
            "--time-limit",
            str(options.seconds),
        ]
        for words in ([*asked, "--out", str(run)], ["verify", str(run)]):
            began = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.monotonic()
            done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = spent.ru_utime + spent.ru_stime - began.ru_utime - began.ru_stime
            print(
                f"{words[0]}: exit code {done.returncode}, {cpu:.1f} CPU s, {time.monotonic() - start:.0f} s, "
                f"at most {spent.ru_maxrss >> 10} MiB"
            )
            print(done.stdout, done.stderr[-2000:])
        if run.exists():
            print(f"proof: {(run / 'proof.json').stat().st_size >> 20} MiB")


if __name__ == "__main__":
    main()
