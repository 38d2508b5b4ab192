"""The language of how values are seen: dates, derivations, bands and groups; what each says, and what is refused."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.views import (
    cut_points,
    date_form,
    derivation,
    prefix,
    quantiles,
    with_iso_dates,
)

FORMS = {
    "dd/mm/yyyy": "%d/%m/%Y",
    "mm/dd/yyyy": "%m/%d/%Y",
    "yyyy-mm-dd": "%Y-%m-%d",
    "ddmmyyyy": "%d%m%Y",
    "mmddyyyy": "%m%d%Y",
    "yyyymmdd": "%Y%m%d",
    "dd.mm.yyyy": "%d.%m.%Y",
    "dd-mm-yyyy": "%d-%m-%Y",
    "DD/MM/AAAA": "%d/%m/%Y",
    "yyyy/mm/dd": "%Y/%m/%d",
}


@given(day=st.dates(date(1000, 1, 1)), form=st.sampled_from(list(FORMS)))
def test_a_date_is_the_same_day_in_every_form(day: date, form: str) -> None:
    written = day.strftime(FORMS[form])
    assert date_form(form).iso(written) == day.isoformat()
    assert date_form(form).iso(f" {written} 23:59:59 ") == day.isoformat()


@given(day=st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_years_of_two_digits_are_read_only_in_the_century_that_is_said(day: date) -> None:
    form = date_form(f"dd/mm/{day.year // 100}yy")
    assert form.iso(day.strftime("%d/%m/%y")) == day.isoformat()
    with pytest.raises(StudyError, match="does not show the century"):
        date_form("dd/mm/yy")


@pytest.mark.parametrize(
    "written",
    [
        "31/02/2000",
        "29/02/1900",
        "1/1/00",
        "2000-01-01",
        "01/13/2000",
        "01.01.2000",
        "x",
        "01/01/20000",
    ],
)
def test_what_is_no_date_of_the_form_is_none(written: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        date_form("dd/mm/yyyy").iso(written)


@pytest.mark.parametrize(
    "form", ["", "dd/mm", "dd/dd/yyyy", "yyyy-dd-mm", "dd/mm-yyyy", "%d/%m/%Y", "ddmmyy"]
)
def test_a_form_that_does_not_tell_day_month_and_year_is_refused(form: str) -> None:
    with pytest.raises(StudyError, match="`date`"):
        date_form(form)


def test_years_need_a_date_to_be_counted_to_and_the_refusal_shows_the_form() -> None:
    with pytest.raises(StudyError, match=r"write years\(birth, 2020-12-31\)"):
        derivation("years(birth)")
    for wrong in ("age(birth)", "year(birth, death)", "years()", "years(a,b,c)", "birth"):
        with pytest.raises(StudyError, match="is not a derivation"):
            derivation(wrong)


def test_a_date_to_count_to_may_be_written_as_the_column_is() -> None:
    forms = {"birth": date_form("dd/mm/yyyy")}
    assert derivation("years(birth, 31/12/2020)", forms).at == date(2020, 12, 31)
    assert derivation("years(birth, 2020-12-31)", forms).at == date(2020, 12, 31)
    assert derivation("years(birth, 31/12/2020)").other == "31/12/2020"
    assert derivation('years("birth, day", death)').columns == ("birth, day", "death")


def test_cut_points_are_exact_and_rise() -> None:
    assert cut_points("-1.5, 0, 1e3") == (Decimal("-1.5"), Decimal(0), Decimal(1000))
    for wrong in ("", "1,1", "2,1", "a", "1,", "2000-01-01", "quantiles:1", "quantiles:x"):
        with pytest.raises(StudyError, match="are not bands"):
            cut_points(wrong)
    assert quantiles("quantiles:10") == 10


def test_a_prefix_keeps_at_least_one_character() -> None:
    assert prefix("prefix:12") == 12
    for wrong in ("prefix", "prefix:0", "prefix:-1", "suffix:1", "1"):
        with pytest.raises(StudyError, match="is not a way to group codes"):
            prefix(wrong)


@given(
    day=st.dates(date(1000, 1, 2), date(9999, 12, 30)),
    sign=st.sampled_from([">=", "<=", ">", "<", " >= ", "=", "!="]),
    form=st.sampled_from(list(FORMS)),
)
def test_a_condition_on_dates_means_the_same_in_the_form_of_the_file_and_in_iso(
    day: date, sign: str, form: str
) -> None:
    from glasshouse.study import parse_condition

    written = with_iso_dates(f"day{sign}{day.strftime(FORMS[form])}", {"day": date_form(form)})
    condition = parse_condition(written)
    assert with_iso_dates(written, {"day": date_form(form)}) == written
    for other in (day - timedelta(1), day, day + timedelta(1)):
        holds = {
            ">=": other >= day,
            "<=": other <= day,
            ">": other > day,
            "<": other < day,
            "=": other == day,
            "!=": other != day,
        }[sign.strip()]
        assert condition.holds(other.isoformat()) == holds


def test_a_condition_on_other_columns_stays_as_it_is() -> None:
    forms = {"day": date_form("dd/mm/yyyy")}
    for written in ("age=18..65", 'name="Silva, Ana"', "day=", "income>50K=yes", "day!=1,x"):
        assert with_iso_dates(written, forms) == written
    assert with_iso_dates("day=01/02/2000,x", forms) == "day=2000-02-01,x"
    assert with_iso_dates("day@2015=01/02/2000..", forms) == "day@2015=2000-02-01.."
