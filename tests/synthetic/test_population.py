"""The synthetic population: its promises, its shape, and the register and sample drawn from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from glasshouse import synthetic
from glasshouse.errors import StudyError
from glasshouse.synthetic import stream
from glasshouse.synthetic.population import (
    AGE_BANDS,
    AGE_SHARES,
    POPULATION,
    RACE_SHARES,
    RACES,
    RECORDS,
    age_shares,
    population_world,
    study,
)
from glasshouse.synthetic.stream import dealt


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return synthetic.table("population", records=300_000, seed=5)


CENSUS_AGES = (
    *(22_040_343, 21_585_999, 21_101_849, 19_962_099, 20_179_642, 20_890_964, 22_708_591),
    *(22_298_125, 19_664_805, 16_817_924, 12_435_263, 9_278_166, 7_317_795, 5_743_327, 5_493_433),
)
"""United States, census of 2010: 15 to 19, 20 to 24, …, 85 and over (Howden and Meyer 2011, C2010BR-03, table 2)."""
CENSUS_PEOPLE = 308_745_538
NORTH_CAROLINA = (6_528_950, 2_048_628, 122_110, 208_962, 414_030, 206_199)
"""Its races, census of 2010, redistricting data, without 6,604 Pacific Islanders."""
NORTH_CAROLINA_PEOPLE = 9_535_483


def test_ages_and_races_are_the_rounded_shares_of_the_census() -> None:
    ages = [round(100 * count / CENSUS_PEOPLE, 1) for count in CENSUS_AGES]
    assert pytest.approx([0.4 * ages[0], *ages[1:]]) == AGE_SHARES
    races = [round(count / NORTH_CAROLINA_PEOPLE, 3) for count in NORTH_CAROLINA]
    assert list(RACE_SHARES) == races


@pytest.mark.parametrize("records", [1, 2, 999, 100_000])
def test_the_number_of_records_is_exact(records: int) -> None:
    assert synthetic.table("population", records=records).num_rows == records


def test_the_same_seed_gives_the_same_records_and_another_seed_others() -> None:
    first, again, other = (
        synthetic.table("population", records=500, seed=seed) for seed in (7, 7, 8)
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_columns_are_text_in_the_order_of_the_roles_and_never_missing(people: pa.Table) -> None:
    assert people.schema.equals(POPULATION.schema)
    assert people.column_names == ["age", "race", "gender", "postal_code", "illness"]
    assert all(column.null_count == 0 for column in people.columns)


def test_a_batch_can_be_drawn_without_the_batches_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream, "BATCH_RECORDS", 1_000)
    *_, last = POPULATION.batches(3_000, seed=3)
    world = population_world(
        3_000, np.random.default_rng(np.random.SeedSequence(3, spawn_key=(0,)))
    )
    positions = dealt(3_000, together=1, batch=2, batches=3)
    drawn = world.draw(
        positions, np.random.default_rng(np.random.SeedSequence(3, spawn_key=(1, 2)))
    )
    for column in POPULATION.columns:
        alone = world.labels[column].take(pa.array(drawn[column])).to_pylist()
        assert sorted(alone) == sorted(last.column(column).to_pylist())


def test_the_ages_have_the_pyramid_of_the_census(people: pa.Table) -> None:
    ages = pc.cast(people["age"].cast(pa.string()), pa.int64()).to_numpy()
    assert (ages.min(), ages.max() <= 105) == (18, True)
    counts = np.histogram(ages, bins=[*AGE_BANDS, 106])[0]
    expected = np.array(AGE_SHARES) / sum(AGE_SHARES)
    np.testing.assert_allclose(counts / counts.sum(), expected, atol=0.01)
    assert age_shares().sum() == pytest.approx(1)


def test_the_races_of_the_state_and_more_women_among_the_old(people: pa.Table) -> None:
    world = population_world(RECORDS, np.random.default_rng(1))
    mixes = np.diff(np.insert(world.races, 0, 0, axis=1), axis=1)
    shares = (mixes * (world.sizes / world.sizes.sum())[:, None]).sum(axis=0)
    np.testing.assert_allclose(shares, RACE_SHARES, atol=0.05)
    assert set(people["race"].unique().to_pylist()) == set(RACES)
    women = pc.equal(people["gender"].cast(pa.string()), "female").to_numpy()
    old = pc.cast(people["age"].cast(pa.string()), pa.int64()).to_numpy() >= 80
    assert women[old].mean() > women[~old].mean() + 0.05


def test_postal_codes_are_as_many_and_as_unequal_as_those_of_a_state() -> None:
    sizes = np.sort(population_world(RECORDS, np.random.default_rng(1)).sizes)[::-1]
    assert sizes.sum() == RECORDS
    assert 1_000 < len(sizes) < 1_200
    assert sizes[: len(sizes) // 10].sum() > 0.25 * RECORDS
    assert np.median(sizes) < 0.8 * sizes.mean()


def test_a_study_has_a_register_and_a_sample_of_the_same_people() -> None:
    made = study(50_000, register=20_000, sample=2_000, seed=1)
    names = list(POPULATION.quasi_identifiers)
    assert made.population.num_rows == 50_000
    assert made.register.column_names == ["person", *names]
    assert len(set(made.register["person"].to_pylist())) == made.register.num_rows == 20_000
    assert made.prior == 0.4
    found = np.flatnonzero(made.truth >= 0)
    assert len(found) == pytest.approx(800, abs=120)
    theirs = made.register.select(names).take(pa.array(made.truth[found]))
    released = made.release.select(names).take(pa.array(found))
    assert theirs.to_pylist() == released.to_pylist()
    assert len(set(made.truth[found].tolist())) == len(found)


def test_a_study_is_the_same_again() -> None:
    first, again = (study(5_000, sample=300, seed=9) for _ in range(2))
    assert first.register.equals(again.register)
    assert first.release.equals(again.release)


@pytest.mark.parametrize(
    "numbers", [{"register": 0}, {"register": 1_001}, {"sample": 0}, {"sample": 1_001}]
)
def test_an_impossible_study_is_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match=r"of 1,000 people has 1 to 1,000, not"):
        study(1_000, **{"sample": 10, **numbers})


def test_a_generator_of_that_name_is_listed() -> None:
    assert "population" in synthetic.names()
    assert synthetic.generator("population") is POPULATION
