"""Samples as survey methodologists look at them: missing values that match anything, and special uniques.

Both have a plain loop as a baseline in the same run: every pair of records compared, and every set of attributes
grouped with dictionaries, on as many records as that is patient for. What is promised is printed beside what is
measured, in CPU seconds: 20 for the whole set and 120 for all 127 subsets of 1,000,000 × 7 with 2 % of the values
missing, and 30 for special uniques of 1,000,000 × 8.

    python benchmarks/sample.py [--records 1000000]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.microdata import neighbourhoods
from glasshouse.microdata.special_uniques import elliot_scores, find_special_uniques
from glasshouse.table import EncodedColumn, EncodedTable, Role

CARDINALITIES = (100, 2, 9, 27, 5, 12, 16, 8)
"""Values of age, sex, race, state, marital status, occupation, schooling and size of the household."""
FEW = 2000
"""On so many records the plain loops are tried."""


def survey(records: int, attributes: int, missing: float) -> EncodedTable:
    """Return a made-up survey with a secret of ten values; some of what can be known is missing."""
    dice = np.random.default_rng(42)
    columns = {}
    for place, cardinality in enumerate(CARDINALITIES[:attributes]):
        skew = dice.random(records) ** 1.6
        codes = 1 + (skew * cardinality).astype(np.uint8)
        codes[dice.random(records) < missing] = 0
        values = pa.array(["", *map(str, range(cardinality))], pa.large_string())
        columns[f"q{place}"] = EncodedColumn(f"q{place}", codes, values)
    codes = (dice.random(records) ** 2 * 10).astype(np.uint8)
    columns["s"] = EncodedColumn("s", codes, pa.array([*map(str, range(10))], pa.large_string()))
    roles = dict.fromkeys(columns, Role.QUASI_IDENTIFIER) | {"s": Role.SENSITIVE}
    return EncodedTable("survey", records, columns, roles)


def clocked(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what comes of work, and its CPU seconds."""
    start = time.process_time()
    return work(), time.process_time() - start


def sizes_by_pairs(table: EncodedTable) -> list[int]:
    """Compare every pair of records."""
    rows = np.stack([table.column(name).codes for name in table.quasi_identifiers], axis=1)
    return [
        int(np.count_nonzero(((rows == row) | (rows == 0) | (row == 0)).all(axis=1)))
        for row in rows
    ]


def scores_by_dictionaries(table: EncodedTable) -> list[int]:
    """Group by every set of attributes, and keep the minimal ones with which a record is alone."""
    names = table.quasi_identifiers
    rows = list(zip(*(table.column(name).codes.tolist() for name in names), strict=True))
    found: list[list[frozenset[int]]] = [[] for _ in rows]
    weights = elliot_scores(len(names), len(names))
    for size in range(1, len(names) + 1):
        for some in combinations(range(len(names)), size):
            keys = [tuple(row[place] for place in some) for row in rows]
            tally = Counter(keys)
            for record, key in enumerate(keys):
                if tally[key] == 1 and not any(one < set(some) for one in found[record]):
                    found[record].append(frozenset(some))
    return [sum(weights[len(one) - 1] for one in some) for some in found]


def main() -> None:
    """Measure, and say what holds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    records = parser.parse_args().records
    neighbourhoods.matched_attacks(survey(FEW, 7, 0.02))  # compiles
    table = survey(records, 7, 0.02)
    (naming, guess), seconds = clocked(lambda: neighbourhoods.matched_attacks(table))
    print(
        f"missing matches, {records} x 7, whole set: {seconds:.1f} CPU s (promised: 20); {naming.uniques} alone, "
        f"{float(naming.probabilistic.posterior):.4f} named, {float(guess.probabilistic.posterior):.4f} guessed"
    )
    subsets = neighbourhoods.subsets_of("all", table.quasi_identifiers, records)
    every, seconds = clocked(lambda: neighbourhoods.matched_attacks(table, subsets=subsets))
    print(f"missing matches, {len(subsets)} subsets: {seconds:.1f} CPU s (promised: 120)")
    assert every[-2].uniques == naming.uniques
    small = survey(FEW, 7, 0.02)
    plain, slowly = clocked(lambda: sizes_by_pairs(small))
    quick, seconds = clocked(lambda: neighbourhoods.matched_risks(small))
    assert quick.sizes.tolist() == plain
    print(f"of {FEW} records every pair: {slowly:.2f} CPU s, ours {seconds:.3f}")
    find_special_uniques(survey(FEW, 8, 0))  # compiles
    table = survey(records, 8, 0)
    scored, seconds = clocked(lambda: find_special_uniques(table))
    print(
        f"special uniques, {records} x 8: {seconds:.1f} CPU s (promised: 30 beyond the sweep); MSUs by size "
        f"{scored.sizes}"
    )
    small = survey(FEW, 8, 0)
    plain, slowly = clocked(lambda: scores_by_dictionaries(small))
    quick, seconds = clocked(lambda: find_special_uniques(small))
    assert quick.scores.tolist() == plain
    print(f"of {FEW} records with dictionaries: {slowly:.2f} CPU s, ours {seconds:.3f}")


if __name__ == "__main__":
    main()
