"""The synthetic outpatient procedures: valid values, whole cities, and the published figures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from glasshouse import synthetic
from glasshouse.synthetic.outpatient import OUTPATIENT, RECORDS, outpatient_world
from tests.synthetic.calibration import CalibrationColumn, count, read_columns


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    return synthetic.table("outpatient", records=20_000, seed=3)


@pytest.fixture(scope="module")
def columns() -> dict[str, CalibrationColumn]:
    return read_columns("outpatient", records=500_000)


def test_a_procedure_is_processed_in_its_month_or_up_to_three_later(visits: pa.Table) -> None:
    months = [
        [12 * int(month[:4]) + int(month[5:]) for month in visits[name].to_pylist()]
        for name in ("processing_month", "procedure_month")
    ]
    lags = {processed - performed for processed, performed in zip(*months, strict=True)}
    assert lags == {0, 1, 2, 3}
    assert {month[:4] for month in visits["processing_month"].to_pylist()} == {"2023"}


def test_a_record_without_a_patient_lacks_age_sex_city_and_race(visits: pa.Table) -> None:
    names = ("age", "sex", "city_of_residence")
    missing = [[value == "not informed" for value in visits[name].to_pylist()] for name in names]
    assert missing[0] == missing[1] == missing[2]
    assert 0.05 < np.mean(missing[0]) < 0.95
    races = visits["race"].to_pylist()
    assert all(race == "not informed" for race, lost in zip(races, missing[0], strict=True) if lost)


def test_the_state_has_all_its_records_and_an_establishment_in_every_city() -> None:
    places = outpatient_world(RECORDS, np.random.default_rng(1)).establishments
    assert places.size.sum() == RECORDS
    assert len(np.unique(places.city)) == 645


def test_a_small_release_keeps_whole_establishments_of_whole_cities() -> None:
    every = outpatient_world(RECORDS, np.random.default_rng(1)).establishments
    some = outpatient_world(300_000, np.random.default_rng(1)).establishments
    sizes = dict(zip(every.code.tolist(), every.size.tolist(), strict=True))
    assert some.size.tolist() == [sizes[code] for code in some.code.tolist()]
    *whole, _ = dict.fromkeys(some.city.tolist())
    for city in whole:
        assert set(some.code[some.city == city]) == set(every.code[every.city == city])


def test_prior_and_leakage_are_in_the_published_ranges(
    columns: dict[str, CalibrationColumn],
) -> None:
    """Gonze et al. 2025, table 2, over all states: prior 4.5 to 18.4, leakage 10 to 33 and to 50."""

    def guessed(*quasi_identifiers: str) -> float:
        counts = count(columns, quasi_identifiers=quasi_identifiers, sensitive="procedure")
        return 100 * counts.guessed / counts.records

    prior = guessed()
    one_by_one = {name: guessed(name) for name in OUTPATIENT.quasi_identifiers}
    assert 4 < prior < 18.5
    assert max(one_by_one, key=one_by_one.__getitem__) == "establishment"
    assert 15 < one_by_one["establishment"] - prior < 33.5
    assert 30 < guessed(*OUTPATIENT.quasi_identifiers) - prior < 50.5
