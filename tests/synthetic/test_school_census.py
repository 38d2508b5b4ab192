"""The synthetic school census: valid values, whole cities, and the published figures."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from glasshouse import synthetic
from glasshouse.synthetic.school_census import STUDENTS, SchoolWorld, school_world
from tests.synthetic.calibration import CalibrationColumn, count, read_columns


@pytest.fixture(scope="module")
def world() -> SchoolWorld:
    return school_world(STUDENTS, np.random.default_rng(5))


@pytest.fixture(scope="module")
def students() -> pa.Table:
    return synthetic.table("school-census", records=20_000, seed=11)


@pytest.fixture(scope="module")
def columns() -> dict[str, CalibrationColumn]:
    return read_columns("school-census", records=300_000)


def test_every_date_of_birth_exists(students: pa.Table) -> None:
    parts = (students[f"{part}_of_birth"].to_pylist() for part in ("year", "month", "day"))
    born = [date(int(year), int(month), int(day)) for year, month, day in zip(*parts, strict=True)]
    assert min(born) >= date(1937, 1, 1)
    assert max(born) <= date(2017, 12, 31)
    assert any((day.month, day.day) == (2, 29) for day in born)


def test_birth_abroad_shows_in_country_city_and_nationality_alike(students: pa.Table) -> None:
    places = zip(
        students["country_of_birth"].to_pylist(),
        students["city_of_birth"].to_pylist(),
        students["nationality"].to_pylist(),
        strict=True,
    )
    abroad = {
        (country != "Brazil", city == "abroad", nationality != "Brazilian")
        for country, city, nationality in places
    }
    assert abroad == {(False, False, False), (True, True, True)}


def test_a_school_has_one_type(students: pa.Table) -> None:
    pairs = students.select(["school", "school_type"]).group_by(["school", "school_type"])
    assert pairs.aggregate([]).num_rows == len(students["school"].unique())


def test_every_value_of_the_small_domains_occurs(columns: dict[str, CalibrationColumn]) -> None:
    sizes = {"gender": 2, "ethnicity": 6, "nationality": 3, "school_type": 4, "transport": 3}
    occurring = {name: len(np.unique(columns[name].codes)) for name in sizes}
    assert occurring == sizes == {name: columns[name].values for name in sizes}


def test_the_country_has_all_its_students_and_a_school_in_every_city(world: SchoolWorld) -> None:
    assert world.schools.size.sum() == STUDENTS
    assert len(np.unique(world.schools.city)) == 5_570
    assert np.count_nonzero(world.schools.size == 1) > 20


def test_a_small_release_keeps_whole_schools_of_whole_cities(world: SchoolWorld) -> None:
    some, every = school_world(20_000, np.random.default_rng(5)).schools, world.schools
    sizes = dict(zip(every.code.tolist(), every.size.tolist(), strict=True))
    assert some.size.tolist() == [sizes[code] for code in some.code.tolist()]
    *whole, _ = dict.fromkeys(some.city.tolist())
    assert len(whole) >= 4
    for city in whole:
        assert set(some.code[some.city == city]) == set(every.code[every.city == city])


def test_only_the_last_school_is_cut() -> None:
    schools = school_world(20_000, np.random.default_rng(5)).schools
    assert schools.size[:-1].sum() < 20_000 <= schools.size.sum()


def test_a_release_beyond_the_country_grows_its_schools() -> None:
    schools = school_world(50_000_000, np.random.default_rng(5)).schools
    assert schools.size.sum() == 50_000_000


def test_twins_share_their_birth_and_home(columns: dict[str, CalibrationColumn]) -> None:
    names = [f"{part}_of_birth" for part in ("day", "month", "year", "city")]
    shared = (*names, "ethnicity", "city_of_residence", "school")
    counts = count(columns, quasi_identifiers=shared, sensitive="disability")
    assert counts.records - counts.uniques > 2 * 0.007 * counts.records


@pytest.mark.parametrize(
    ("attribute", "published", "tolerance"), [("disability", 97.56, 1), ("transport", 81.75, 12)]
)
def test_the_prior_is_near_the_published_one(
    columns: dict[str, CalibrationColumn], attribute: str, published: float, tolerance: float
) -> None:
    """Alvim et al. 2022, section 5.2; transport differs by town, and a small release has few."""
    counts = count(columns, quasi_identifiers=(), sensitive=attribute)
    assert 100 * counts.guessed / counts.records == pytest.approx(published, abs=tolerance)


def test_birth_date_and_school_identify_as_many_as_published(
    columns: dict[str, CalibrationColumn],
) -> None:
    """Alvim et al. 2022, section 5.2; scale-free because schools keep their sizes."""
    counts = count(
        columns,
        quasi_identifiers=("day_of_birth", "month_of_birth", "year_of_birth", "school"),
        sensitive="disability",
    )
    assert 100 * counts.uniques / counts.records == pytest.approx(81.13, abs=5)
    assert 100 * counts.classes / counts.records == pytest.approx(89.93, abs=4)
    assert 100 * counts.settled / counts.records == pytest.approx(99.31, abs=0.5)
