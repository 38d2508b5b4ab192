"""What a synthetic file remembers: how often it is said in vain, how often it is missed, and what it takes.

Files are made from Adult with seeds of our own: another real sample (a true null), independent marginals, a noisy tree
of pairs, and each with copies. Per kind it is counted how often the greatest bound of all questions is above 0 and
above 1%, and how often the gate (the whole record, fixed beforehand) rings. Then the time of all sets of 11 columns
beside a loop over the sets in numpy, and of a million people.

    python benchmarks/synthetic_release.py ../shared/data/adult.data [--share 1] [--seed 5] [--million]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.microdata.memorisation import TOLERANCE, Remembered, assess_synthetic
from glasshouse.microdata.origins import KnownSets
from glasshouse.table import EncodedColumn, EncodedTable

COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
USED = [name for name in COLUMNS if not name.startswith(("fnlwgt", "education-num", "capital"))]
SIX = ["age", "workclass", "education", "occupation", "hours-per-week", "income"]
EDGES = [(5, 3), (3, 0), (5, 7), (5, 10), (10, 4), (4, 2), (4, 1), (0, 8), (2, 9), (9, 6)]
"""Pairs of columns by which the tree goes, the known one first."""
NOISE = 10.5
"""The standard deviation of the noise of its tables: ρ of 0.05 in all."""
Rows = NDArray[np.int64]


def adult(path: Path) -> Rows:
    """Return the 11 columns of Adult as codes."""
    lines = [line.split(",") for line in path.read_text().splitlines() if line.strip()]
    columns = []
    for name in USED:
        values = [fields[COLUMNS.index(name)].strip() for fields in lines]
        columns.append(np.unique(values, return_inverse=True)[1])
    return np.stack(columns, axis=1)


def table_of(rows: Rows, sizes: Rows, names: list[str]) -> EncodedTable:
    """Return rows as a table: every file with the same dictionaries."""
    columns = {
        name: EncodedColumn(
            name,
            rows[:, place].astype(np.uint32),
            pa.array([f"{value:06}" for value in range(sizes[place])], pa.large_string()),
        )
        for place, name in enumerate(names)
    }
    return EncodedTable("rows", len(rows), columns, {})


def assessed(
    files: tuple[Rows, ...], names: list[str], *, whole: bool = False
) -> tuple[Remembered, tuple[KnownSets, ...]]:
    """Return what a file remembers, of all sets of columns or of the whole record only."""
    sizes = np.max([file.max(axis=0) for file in files], axis=0) + 1
    outcome = assess_synthetic(
        *(table_of(file, sizes, names) for file in files),
        quasi_identifiers=tuple(names[:-1]),
        sensitive=tuple(names[-1:]),
        subsets=[names[:-1]] if whole else "all",
        threads=1,
    )
    assert outcome.remembered is not None
    return outcome.remembered, outcome.sets


def marginals(people: Rows, seed: np.random.Generator) -> Rows:
    """Draw every column by itself."""
    number, width = people.shape
    return np.stack([people[seed.integers(0, number, number), j] for j in range(width)], axis=1)


def tree(people: Rows, seed: np.random.Generator) -> Rows:
    """Draw each column given another, by noisy tables of pairs."""
    sizes, number = people.max(axis=0) + 1, len(people)
    made = np.empty_like(people)

    def noisy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(counts + np.rint(seed.normal(0, NOISE, counts.shape)), 0)

    root = EDGES[0][0]
    first = noisy(np.bincount(people[:, root], minlength=sizes[root]).astype(float))
    made[:, root] = seed.choice(len(first), number, p=first / first.sum())
    for known, drawn in EDGES:
        pairs = people[:, known] * sizes[drawn] + people[:, drawn]
        counts = np.bincount(pairs, minlength=sizes[known] * sizes[drawn]).astype(float)
        counts = noisy(counts.reshape(sizes[known], sizes[drawn]))
        counts[counts.sum(axis=1) == 0] = 1
        below = np.cumsum(counts / counts.sum(axis=1, keepdims=True), axis=1)
        places = (seed.random(number)[:, None] > below[made[:, known]]).sum(axis=1)
        made[:, drawn] = np.minimum(places, sizes[drawn] - 1)
    return made


def with_copies(
    made: Rows, people: Rows, share: float, seed: np.random.Generator, redrawn: int = 0
) -> Rows:
    """Put copies of a share of the people into a file, with some columns of each drawn anew."""
    number = round(share * len(people))
    copies = people[seed.permutation(len(people))[:number]].copy()
    for _ in range(redrawn):
        column = seed.integers(0, people.shape[1], number)
        copies[np.arange(number), column] = people[seed.integers(0, len(people), number), column]
    changed = made.copy()
    changed[seed.permutation(len(made))[:number]] = copies
    return changed


Maker = Callable[[Rows, Rows, np.random.Generator], Rows]
KINDS: dict[str, tuple[Maker, int, list[str], bool]] = {
    "another real sample (true null), six columns": (lambda _, fresh, __: fresh, 200, SIX, False),
    "marginals, six columns": (lambda people, _, seed: marginals(people, seed), 100, SIX, False),
    "marginals with 5% copies, six columns": (
        lambda people, _, seed: with_copies(marginals(people, seed), people, 0.05, seed),
        40,
        SIX,
        False,
    ),
    "marginals with 5% copies, 11 columns": (
        lambda people, _, seed: with_copies(marginals(people, seed), people, 0.05, seed),
        20,
        USED,
        False,
    ),
    "100% copies with two columns redrawn, 11 columns": (
        lambda people, _, seed: with_copies(people, people, 1.0, seed, redrawn=2),
        20,
        USED,
        False,
    ),
    "gate: marginals": (lambda people, _, seed: marginals(people, seed), 100, USED, True),
    "gate: noisy tree": (lambda people, _, seed: tree(people, seed), 100, USED, True),
    "gate: marginals with 1% copies": (
        lambda people, _, seed: with_copies(marginals(people, seed), people, 0.01, seed),
        100,
        USED,
        True,
    ),
    "gate: noisy tree of another sample (true null)": (
        lambda _, fresh, seed: tree(fresh, seed),
        200,
        USED,
        True,
    ),
    "gate: noisy tree, thirds": (lambda people, _, seed: tree(people, seed), 200, USED, True),
    "gate: noisy tree with 1% copies": (
        lambda people, _, seed: with_copies(tree(people, seed), people, 0.01, seed),
        100,
        USED,
        True,
    ),
}
"""How each file is made of its people, or of a fresh sample; how often; of which columns; and whether whole records are
all that is looked at."""


def calibrate(rows: Rows, share: float, first: int) -> None:
    """Count how often what is said: of halves of Adult, or of thirds where one is the file."""
    for place, (name, (make, times, names, whole)) in enumerate(KINDS.items()):
        above, over, rings, bounds, start = 0, 0, 0, [], time.process_time()
        number = max(1, round(times * share))
        for turn in range(number):
            seed = np.random.default_rng(first + 1000 * place + turn)
            part = len(rows) // (3 if times == 200 else 2)
            dealt = rows[seed.permutation(len(rows))]
            dealt = dealt[:, [USED.index(column) for column in names]]
            people, others, fresh = (dealt[i * part : (i + 1) * part] for i in range(3))
            files = (make(people, fresh, seed), people, others)
            found, _ = assessed(files, names, whole=whole)
            above += found.at_least > 0
            over += found.at_least > TOLERANCE
            rings += found.has_copies
            bounds.append(float(found.at_least))
        said = f"bound > 0: {above}, > 1%: {over} ({min(bounds):.2%} to {max(bounds):.2%}); "
        seconds = time.process_time() - start
        print(
            f"{name}, {number}: {said * (not whole)}gate {rings} ({seconds:.0f} CPU s)", flush=True
        )


def by_numpy(files: tuple[Rows, ...], known: tuple[int, ...], secret: int | None) -> list[float]:
    """Return what is counted of both files with one set, as a good analyst would write it."""
    together = np.concatenate(files)
    origin = np.repeat(np.arange(3), [len(file) for file in files])
    key = np.zeros(len(together), np.int64)
    for column in known:
        key = key * (together[:, column].max() + 1) + together[:, column]
    _, classes = np.unique(key, return_inverse=True)
    number = classes.max() + 1
    counts = np.bincount(classes * 3 + origin, minlength=3 * number).reshape(-1, 3)
    made = counts[:, 0]
    if secret is None:
        return [
            int(count)
            for of in (counts[:, 1], counts[:, 2])
            for count in (
                of[made > 0].sum(),
                of[made == 1].sum(),
                (of[made == 1] == 1).sum(),
                (of == 1).sum(),
                (of[made > 0] == 1).sum(),
            )
        ]
    values = together[:, secret]
    width = values.max() + 1
    usual = np.bincount(values[origin == 0], minlength=width).argmax()
    joint = np.bincount((classes * width + values) * 3 + origin, minlength=3 * width * number)
    joint = joint.reshape(number, width, 3)
    said = joint[:, :, 0]
    ties = said == said.max(axis=1, keepdims=True)
    best = np.where(ties[:, usual], usual, said.argmax(axis=1))
    guess = np.where(made > 0, best, usual)
    agree = (said.max(axis=1) == made) & (made > 0)
    figures: list[float] = []
    for file in (1, 2):
        of, whole = joint[:, :, file], counts[:, file]
        right = of[np.arange(number), guess]
        drawn = (of * said).sum(axis=1)[made > 0] / made[made > 0]
        certain = whole[of.max(axis=1) == whole].sum()
        figures += [int(right.sum()), int(certain), int(whole[agree].sum())]
        figures += [int(right[agree].sum()), float(drawn.sum())]
    return figures


def counted(block: KnownSets, row: int) -> list[float]:
    """Return the same from ours."""
    parts: list[NDArray[Any] | None] = [block.match, block.single, block.isolated]
    parts += [block.unique, block.unique_match]
    if block.secret is not None:
        parts = [block.right, block.certain, block.sure, block.surely_right, block.drawn]
    return [float(part[row, file]) for file in range(2) for part in parts if part is not None]


def race(rows: Rows) -> bool:
    """Tell what all sets of 11 columns take, beside a loop over some of them in numpy."""
    seed = np.random.default_rng(77)
    dealt = rows[seed.permutation(len(rows))]
    half = len(rows) // 2
    people, others = dealt[:half], dealt[half : 2 * half]
    files = (with_copies(marginals(people, seed), people, 0.05, seed), people, others)
    assessed(files, USED)
    ours = min(clocked(lambda: assessed(files, USED)) for _ in range(3))
    sets = assessed(files, USED)[1]
    loop = 0.0
    for of_secret, block in ((None, sets[0]), (len(USED) - 1, sets[1])):
        every = list(subsets(len(block.columns)))
        some = random.Random(5).sample(every, 60)
        row_of = {block.names(row): row for row in range(len(block.masks))}
        start = time.process_time()
        figures = [by_numpy(files, chosen, of_secret) for chosen in some]
        loop += (time.process_time() - start) / len(some) * len(every)
        for chosen, expected in zip(some, figures, strict=True):
            row = row_of[tuple(block.columns[place] for place in chosen)]
            assert np.allclose(expected, counted(block, row), atol=1e-3)
    print(
        f"11 columns, {len(rows):,} records beside {half:,} synthetic ones, {2047 + 1023:,} sets: ours {ours:.2f} "
        f"CPU s (promised: at most 3), a numpy loop {loop:.1f} (from 120 sets): {loop / ours:.1f} times"
    )
    return ours <= 3


def subsets(number: int) -> Iterator[tuple[int, ...]]:
    """Yield every set of so many columns but the empty one."""
    for size in range(1, number + 1):
        yield from combinations(range(number), size)


def clocked(work: Callable[[], object]) -> float:
    """Return the CPU seconds of work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def million(rows: Rows) -> None:
    """Tell what a million synthetic records of a million people take."""
    seed = np.random.default_rng(3)

    def drawn() -> Rows:
        """Return people who are alike with those of Adult in all columns but the age, which is drawn near theirs."""
        people = rows[seed.integers(0, len(rows), 1_000_000)].copy()
        people[:, 0] = np.clip(people[:, 0] + seed.integers(-3, 4, len(people)), 0, 72)
        return people

    people, others = drawn(), drawn()
    files = (with_copies(marginals(people, seed), people, 0.05, seed), people, others)
    print(f"a million each, 11 columns: {clocked(lambda: assessed(files, USED)):.1f} CPU s (≤ 60)")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = Path(__file__).parents[2] / "shared" / "data" / "adult.data"
    parser.add_argument("adult", type=Path, nargs="?", default=shared)
    parser.add_argument("--share", type=float, default=0.1, help="of the files of each kind")
    parser.add_argument("--million", action="store_true")
    parser.add_argument(
        "--seed", type=int, default=910_000, help="the first of the seeds of the files"
    )
    options = parser.parse_args()
    if not options.adult.exists():
        print(f"needs Adult: {options.adult} is not there")
        return
    rows = adult(options.adult)
    race(rows)
    if options.million:
        million(rows)
    calibrate(rows, options.share, options.seed)


if __name__ == "__main__":
    main()
