"""The same students a year later."""

from __future__ import annotations

import pyarrow as pa
import pytest

from glasshouse import synthetic
from glasshouse.errors import DataError
from glasshouse.synthetic.school_census import (
    CHANGING_SCHOOL,
    DECLARING_ANEW,
    LEAVING,
    a_year_later,
)

RECORDS = 20_000


@pytest.fixture(scope="module")
def students() -> pa.Table:
    made = synthetic.table("school-census", records=RECORDS, seed=3)
    return made.append_column("student", pa.array(range(RECORDS)))


def test_so_many_leave_change_school_and_declare_anew(students: pa.Table) -> None:
    later = a_year_later(students, seed=3).to_pandas().set_index("student")
    before = students.to_pandas().set_index("student").loc[later.index]
    assert len(later) / RECORDS == pytest.approx(1 - LEAVING, abs=0.01)
    moved = (later["school"] != before["school"]).mean()
    assert 0 < moved <= CHANGING_SCHOOL + 0.01
    assert 0 < (later["ethnicity"] != before["ethnicity"]).mean() <= DECLARING_ANEW + 0.01
    for column in ("day_of_birth", "gender", "city_of_birth", "disability"):
        assert (later[column] == before[column]).all()


def test_whoever_changes_school_stays_in_the_city(students: pa.Table) -> None:
    later = a_year_later(students, seed=3).to_pandas().set_index("student")
    before = students.to_pandas().set_index("student").loc[later.index]
    moved = later["school"] != before["school"]
    homes = before.groupby("school")["city_of_residence"].agg(set)
    pairs = zip(later["school"][moved], later["city_of_residence"][moved], strict=True)
    assert all(city in homes[school] for school, city in pairs)


def test_the_seed_decides(students: pa.Table) -> None:
    assert a_year_later(students, seed=1).equals(a_year_later(students, seed=1))
    assert not a_year_later(students, seed=1).equals(a_year_later(students, seed=2))


def test_another_table_is_refused() -> None:
    with pytest.raises(DataError, match='no column "city_of_residence"'):
        a_year_later(pa.table({"school": ["a"]}))
