"""All subsets for adversaries beyond one guess, against each subset attacked alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from glasshouse.microdata import assess, sweep, sweep_steps
from glasshouse.microdata.gains import RecordWorth
from glasshouse.microdata.lattice import attack_with_all_subsets
from glasshouse.qif import GainFunction, Tries
from glasshouse.table import EncodedTable, read

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
BET = GainFunction([[10, -1], [-1, 1], [0, 0]], guesses=["buy", "sell", "wait"], secrets=["0", "1"])
WORTH = {"0": 1, "1": 5, "*": Fraction(1, 3)}
IMPOSSIBLE = {"0": 0, "1": QUARTER, "*": 3 * QUARTER}
GAMES: dict[str, dict[str, Any]] = {
    "weights": {"prior_weight": "weight"},
    "tries": {"gains": {(): Tries(3), ("many",): Tries(2)}},
    "tries at weighted records": {
        "prior_weight": "weight",
        "gains": {(): Tries(3), ("many",): Tries(2)},
    },
    "a worth per record and value": {"gains": {(): RecordWorth("worth"), ("many",): WORTH}},
    "worths with weights": {
        "prior_weight": "weight",
        "gains": {(): RecordWorth("worth"), ("many",): WORTH},
    },
    "a prior": {"priors": {("many",): {"0": HALF, "*": HALF}}},
    "a prior, weights and tries": {
        "prior_weight": "weight",
        "priors": {("many",): IMPOSSIBLE, ("two",): {"0": 0.3, "1": 0.7}},
        "gains": {("many",): Tries(2)},
    },
    "a gain matrix": {"gains": {("two",): BET}},
    "a gain matrix with a prior and weights": {
        "prior_weight": "weight",
        "priors": {("two",): {"0": 0.3, "1": 0.7}},
        "gains": {("two",): BET},
    },
    "joint secrets": {"sensitive": ["many", ("many", "two")], "gains": {("many", "two"): Tries(2)}},
}


def people(seed: int, attributes: int = 4) -> EncodedTable:
    """Return some people at random, among them some alike, some who weigh nothing and some whose secret is missing."""
    generator = np.random.default_rng(seed)
    records = int(generator.integers(8, 200))
    columns = {
        f"q{i}": generator.integers(0, generator.integers(1, 6), records).astype(str)
        for i in range(attributes)
    }
    names = list(columns)
    for name, values in (("many", 4), ("two", 2), ("weight", 4), ("worth", 9)):
        columns[name] = generator.integers(0, values, records).astype(str)
        columns[name][:4] = ["1"] * 4 if name == "weight" else [str(i % values) for i in range(4)]
    if seed % 3 == 0:
        columns["two"] = np.where(np.arange(records) % 7 == 6, "", columns["two"])
    return read(
        pa.table(columns),
        quasi_identifiers=names,
        sensitive=["many", "two"],
        also=["weight", "worth"],
    )


def one_by_one(table: EncodedTable, largest: int, **game: Any) -> Any:
    """Return the attacks with each subset on its own."""
    names = table.quasi_identifiers
    subsets = [chosen for size in range(1, largest + 1) for chosen in combinations(names, size)]
    return assess(table, subsets=subsets, **game).attacks


@pytest.mark.parametrize("name", GAMES)
def test_a_sweep_is_every_subset_on_its_own(name: str) -> None:
    for seed in range(12):
        table = people(seed)
        swept = attack_with_all_subsets(table, threads=2, **GAMES[name])
        assert swept == one_by_one(table, 4, **GAMES[name]), seed


@pytest.mark.parametrize("name", GAMES)
def test_with_little_room_for_cells_and_limited_sizes_too(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_steps, "DENSE_ATTRIBUTES", 0)
    monkeypatch.setattr(sweep_steps, "GAME_SUMS", 1)
    for seed in range(4):
        table = people(seed, attributes=5)
        swept = attack_with_all_subsets(table, subsets="max:3", threads=1, **GAMES[name])
        assert swept == one_by_one(table, 3, **GAMES[name]), seed


def test_an_interrupted_sweep_goes_on_where_it_was() -> None:
    table, game = people(5), GAMES["worths with weights"]
    steps: dict[int, Any] = {}
    whole = attack_with_all_subsets(table, on_step=steps.__setitem__, **game)
    del steps[2]
    assert attack_with_all_subsets(table, finished=steps, **game) == whole


def test_a_sweep_of_weighted_records_is_that_of_its_listed_subsets() -> None:
    table = people(7)
    weighted = read(
        pa.table({c: table.column(c).values.take(table.column(c).codes) for c in table.columns}),
        quasi_identifiers=table.quasi_identifiers,
        sensitive=["many", "two"],
        prior_weight="weight",
    )
    names = weighted.quasi_identifiers
    listed = [chosen for size in range(1, 5) for chosen in combinations(names, size)]
    assert (
        sweep(weighted).to_frame().to_pylist()
        == sweep(weighted, subsets=listed).to_frame().to_pylist()
    )
