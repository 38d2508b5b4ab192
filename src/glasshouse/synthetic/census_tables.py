"""Tables of the synthetic census as an office publishes them, with the plan that asks who can be read out of them.

The records behind them are written, too, so that what is found can be held against the truth.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from glasshouse.atomic import new_folder
from glasshouse.errors import DataError, StudyError

PUBLISHED = (
    ("gender", "ethnicity"),
    ("gender", "disability"),
    ("ethnicity", "disability"),
    ("school_type", "disability", "transport"),
    ("gender", "school_type"),
)
"""By which columns each table counts."""
SENSITIVE = "disability"
PLAN, TRUTH = "plan.toml", "truth.csv"
"""The files of the plan and of the records."""
PROTECTIONS = ("none", "suppressed", "rounding", "random")
"""How counts can be protected: not at all, those from 1 to a number suppressed, rounded, rounded at random."""


def write_census_tables(
    folder: str | os.PathLike[str], people: pa.Table, *, protection: str = "none", seed: int = 0
) -> Path:
    """Write the tables of some records, their plan, and the records.

    Args:
        folder: Where; it is made.
        people: The records of the census.
        protection: ``none``, ``suppressed:4``, ``rounding:5`` or ``random:3``.
        seed: What is rounded at random follows from it.

    Returns:
        The plan.

    Raises:
        StudyError: It is no protection.
        DataError: The folder exists, or cannot be written.
    """
    place = Path(folder)
    if place.is_file() or (place.is_dir() and any(place.iterdir())):
        raise DataError('"{path}" exists; choose another place', path=place)
    shown, words = _protection(protection, seed)
    columns = list(dict.fromkeys(name for names in PUBLISHED for name in names))
    texts = {name: people.column(name).cast(pa.string()).to_pylist() for name in columns}
    lines = ['command = "tables"', f"people = {people.num_rows}", f'sensitive = ["{SENSITIVE}"]']
    with new_folder(place) as draft:
        for names in PUBLISHED:
            file = "_".join(names) + ".csv"
            _write_table(draft / file, {name: texts[name] for name in names}, shown)
            lines += ["", "[[tables]]", f'path = "{file}"', *words]
        (draft / PLAN).write_text("\n".join(lines) + "\n", encoding="utf-8")
        pyarrow.csv.write_csv(pa.table(texts), draft / TRUTH)
    return place / PLAN


def _write_table(
    path: Path, columns: Mapping[str, list[str]], shown: Callable[[int], int | str]
) -> None:
    """Write a long table with every combination of the values that occur."""
    counts = Counter(zip(*columns.values(), strict=True))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, "count"])
        for key in product(*(sorted(set(values)) for values in columns.values())):
            writer.writerow([*key, shown(counts[key])])


def _protection(written: str, seed: int) -> tuple[Callable[[int], int | str], list[str]]:
    """Return how a count is shown, and what the plan says of it."""
    kind, _, number = written.partition(":")
    size = int(number) if number.isdecimal() else 0
    if kind not in PROTECTIONS or (size < 2 and kind != "none") or (kind == "none" and number):
        raise StudyError(
            '"{given}" is not how tables are protected; write none, suppressed:4, rounding:5 or random:3',
            given=written,
        )
    random = np.random.default_rng([seed, *b"tables"])
    if kind == "suppressed":
        return lambda count: "*" if 1 <= count <= size else count, [f"suppressed = [1, {size}]"]
    if kind == "rounding":
        plan = [f'rounding = {{base = {size}, how = "nearest"}}']
        return lambda count: (count + size // 2) // size * size, plan
    if kind == "random":
        plan = [f'rounding = {{base = {size}, how = "random"}}']
        return (
            lambda count: count - count % size + size * int(random.integers(size) < count % size),
            plan,
        )
    return lambda count: count, []
