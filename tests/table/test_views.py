"""Columns as they are seen: bands divide the line, quantiles the records, and derived ages are those of a calendar."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.mitigation.hierarchies import intervals
from glasshouse.study import ColumnType, Dialect, parse_condition
from glasshouse.table import EncodedTable, as_viewed, read, treat
from glasshouse.table.generalised import covers

Numbers = st.decimals(-1000, 1000, places=2, allow_nan=False)
Written = st.one_of(Numbers.map(str), st.integers(-50, 50).map(str), st.just(""))


def values(table: EncodedTable, name: str) -> list[str]:
    """Return what the records of a table hold in a column."""
    column = table.column(name)
    texts: list[str] = column.values.take(pa.array(column.codes)).to_pylist()
    return texts


@given(
    written=st.lists(Written, min_size=1),
    cuts=st.lists(Numbers, min_size=1, max_size=5, unique=True).map(sorted),
)
def test_bands_divide_the_line(written: list[str], cuts: list[Decimal]) -> None:
    table = read(pa.table({"x": written}))
    bands = values(as_viewed(table, bands={"x": ",".join(map(str, cuts))}), "x")
    for text, band in zip(written, bands, strict=True):
        assert (text == "") == (band == "")
        if not text:
            continue
        assert covers(band, text)
        assert sum(covers(other, text) for other in set(bands)) == 1
        for other, other_band in zip(written, bands, strict=True):
            if other:
                below = [sum(Decimal(number) >= cut for cut in cuts) for number in (text, other)]
                assert (band == other_band) == (below[0] == below[1])


@given(
    written=st.lists(st.integers(-50, 50), min_size=1),
    cuts=st.lists(st.integers(-50, 50), min_size=1, max_size=5, unique=True).map(sorted),
)
def test_bands_are_called_as_the_levels_of_a_hierarchy(written: list[int], cuts: list[int]) -> None:
    table = read(pa.table({"x": list(map(str, written))}))
    level = {row[0]: row[1] for row in intervals(table.column("x"), edges=[cuts]).rows}
    for number, band in zip(
        written, values(as_viewed(table, bands={"x": ",".join(map(str, cuts))}), "x"), strict=True
    ):
        first, _, last = level[str(number)].rpartition("-")
        assert band == (first if first == last else level[str(number)])


def test_a_band_of_whole_numbers_names_them_and_of_others_its_ends() -> None:
    whole = read(pa.table({"x": ["-5", "0", "999", "1", "5000", ""]}))
    bands = values(as_viewed(whole, bands={"x": "0,1,2,5000"}), "x")
    assert bands == ["<0", "0", "2-4999", "1", ">=5000", ""]
    others = read(pa.table({"x": ["-5", "0", "999.5"]}))
    assert values(as_viewed(others, bands={"x": "-10,0,1000"}), "x") == [
        "[-10, 0)",
        *["[0, 1000)"] * 2,
    ]
    types = {"x": ColumnType.NUMBER}
    assert values(as_viewed(whole, bands={"x": "0,1000"}, types=types), "x")[1] == "[0, 1000)"


@given(
    written=st.lists(Numbers | st.integers(0, 5).map(Decimal), min_size=2), bands=st.integers(2, 8)
)
def test_quantiles_cut_nearest_to_equal_shares_and_keep_ties_together(
    written: list[Decimal], bands: int
) -> None:
    table = read(pa.table({"x": list(map(str, written))}))
    counts = Counter(written)
    rising = sorted(counts)
    if len(rising) < 2:
        with pytest.raises(DataError, match="fewer than two different numbers"):
            as_viewed(table, bands={"x": f"quantiles:{bands}"})
        return
    seen = as_viewed(table, bands={"x": f"quantiles:{bands}"})
    cuts = [Decimal(cut) for cut in seen.views[-1].cuts]
    below = [sum(number < cut for number in written) for cut in rising[1:]]
    for share in range(1, bands):
        goal = Fraction(share * len(written), bands)
        nearest = min(abs(count - goal) for count in below)
        chosen = [sum(number < cut for number in written) for cut in cuts]
        assert min(abs(count - goal) for count in chosen) == nearest
    assert cuts == sorted(set(cuts))
    assert len(cuts) < bands
    shown = values(seen, "x")
    for number, band in zip(written, shown, strict=True):
        assert band == shown[written.index(number)]
    explicit = as_viewed(table, bands={"x": ",".join(map(str, cuts))})
    assert values(explicit, "x") == shown


def test_a_quantile_is_cut_at_the_roundest_number_that_divides_the_records_there() -> None:
    incomes = ["987", "640", "1012", "2400", "1013", "12", "5300"]
    seen = as_viewed(read(pa.table({"x": incomes})), bands={"x": "quantiles:2"})
    assert seen.views[-1].cuts == ("1000",)


@given(codes=st.lists(st.text(max_size=6), min_size=1), length=st.integers(1, 4))
def test_a_prefix_is_the_first_characters_whatever_they_are(codes: list[str], length: int) -> None:
    table = as_viewed(read(pa.table({"icd": codes})), group={"icd": f"prefix:{length}"})
    assert values(table, "icd") == [code[:length] for code in codes]
    assert table.column("icd").cardinality == len({code[:length] for code in codes})


def years(born: date, at: date) -> int:
    """Count birthdays, one by one; that of 29 February is on 1 March where there is none."""

    def birthday(year: int) -> date:
        try:
            return born.replace(year=year)
        except ValueError:
            return date(year, 3, 1)

    age = at.year - born.year
    return age if birthday(at.year) <= at else age - 1


Days = st.dates(date(1890, 1, 1), date(2030, 12, 31)) | st.sampled_from(
    [date(2000, 2, 29), date(2001, 2, 28), date(2001, 3, 1), date(2004, 2, 29)]
)


@given(pairs=st.lists(st.tuples(Days | st.none(), Days | st.none()), min_size=1), at=Days)
def test_ages_are_those_of_a_calendar(
    pairs: list[tuple[date | None, date | None]], at: date
) -> None:
    born = [None if day is None else day.strftime("%d/%m/%Y") for day, _ in pairs]
    seen = [None if day is None else day.isoformat() for _, day in pairs]
    table = read(
        pa.table({"born": pa.array(born, pa.string()), "seen": pa.array(seen, pa.string())}),
        date={"born": "dd/mm/yyyy"},
        derive={
            "age": f"years(born, {at.isoformat()})",
            "then": "years(born, seen)",
            "year": "year(born)",
            "month": "month(born)",
            "week": "week(born)",
        },
    )
    for record, (day, other) in enumerate(pairs):
        names = ("age", "then", "year", "month", "week")
        row = {name: values(table, name)[record] for name in names}
        assert row["age"] == ("" if day is None else str(years(day, at)))
        then = "" if day is None or other is None else str(years(day, other))
        assert row["then"] == then
        assert row["year"] == ("" if day is None else str(day.year))
        assert row["month"] == ("" if day is None else str(day.month))
        assert row["week"] == ("" if day is None else f"{day:%G%V}".lstrip("0"))
    for name in ("age", "then"):
        first = list(dict.fromkeys(values(table, name)))
        assert table.column(name).values.to_pylist() == first


def test_ages_are_the_same_however_many_records_are_looked_at_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = pa.table(
        {
            "born": [f"19{year}-06-01" for year in (80, 90, 80, 70, 99, 90, 60)] + [None],
            "at": ["2020-01-01"] * 7 + [None],
        }
    )
    monkeypatch.setattr("glasshouse.table.views._RECORDS_AT_ONCE", 3)
    table = read(people, derive={"age": "years(born, at)"})
    assert values(table, "age") == ["39", "29", "39", "49", "20", "29", "59", ""]
    assert table.column("age").values.to_pylist() == ["39", "29", "49", "20", "59", ""]


def test_years_below_zero_are_kept_and_told() -> None:
    table = read(pa.table({"born": ["2021-01-01"]}), derive={"age": "years(born, 2020-12-31)"})
    assert values(table, "age") == ["-1"]
    assert table.views[-1].negative


def test_only_what_was_asked_for_is_in_the_table() -> None:
    people = pa.table({"born": ["1980-01-01"], "income": ["7"], "sex": ["F"]})
    table = read(
        people,
        quasi_identifiers=["age"],
        derive={"age": "years(born, 2020-12-31)", "month": "month(born)"},
        bands={"age": [0, 18, 65], "income": "0"},
    )
    assert list(table.columns) == ["age"]
    assert values(table, "age") == ["18-64"]


def test_numbers_are_put_in_bands_as_the_file_writes_them() -> None:
    table = read(
        pa.table({"x": ["1.234,50", "999,99", "?", " "]}),
        bands={"x": [0, 1000]},
        missing={"x": ["?"]},
        dialect=Dialect(decimal=",", thousands="."),
    )
    assert values(table, "x") == [">=1000", "[0, 1000)", "", ""]


@pytest.mark.parametrize(
    ("written", "in_doubt"),
    [
        (["1.234", "987", "2.000"], True),
        (["1.25", "987", "2.00"], False),
        (["1.2345", "987.123"], False),
        (["1.234", "1987"], False),
        (["1234", "987"], False),
    ],
)
def test_decimals_that_may_be_thousands_are_pointed_out(written: list[str], in_doubt: bool) -> None:
    table = read(pa.table({"x": written}), bands={"x": "0,1000"})
    assert table.views[-1].in_doubt == in_doubt
    dialect = Dialect(decimal=",", thousands=".")
    if all("." in text for text in written[:1]):
        other = read(pa.table({"x": written}), bands={"x": "0,1000"}, dialect=dialect)
        assert not other.views[-1].in_doubt


def test_what_does_not_fit_is_one_line_with_a_value_and_the_number_of_records() -> None:
    people = pa.table({"x": ["1", "n/a", "2", "n/a", "-"], "born": ["1/1/2000", "?", "", "x", "x"]})
    with pytest.raises(DataError, match='record 2: "n/a" in column "x"') as bands:
        read(people, bands={"x": "0"})
    assert "records with such values: 3;" in str(bands.value)
    with pytest.raises(DataError, match="records with such values: 3;"):
        as_viewed(read(people), bands={"x": "0"})
    with pytest.raises(
        DataError, match=r'record 2: "\?" in column "born" is not a date written dd/mm'
    ) as dates:
        read(people, date={"born": "dd/mm/yyyy"})
    assert "records with such values: 3;" in str(dates.value)
    assert "`missing` born=?" in str(dates.value)
    with pytest.raises(DataError, match=r"say how the file writes dates: `date` born=dd/mm/yyyy"):
        read(people, derive={"year": "year(born)"})
    fitting = read(people, date={"born": "dd/mm/yyyy"}, missing={"born": ["?", "x"]})
    assert values(fitting, "born") == ["2000-01-01", "", "", "", ""]


def test_what_contradicts_itself_is_refused() -> None:
    people = pa.table({"x": ["1"], "born": ["2000-01-01"]})
    with pytest.raises(StudyError, match='has a column "x" already'):
        read(people, derive={"x": "year(born)"})
    with pytest.raises(DataError, match='column "burn" is not in'):
        read(people, derive={"y": "year(burn)"})
    with pytest.raises(StudyError, match='`group` and `bands` are both given for "x"'):
        read(people, bands={"x": "0"}, group={"x": "prefix:1"})
    with pytest.raises(StudyError, match='`derive` and `date` are both given for "y"'):
        read(people, derive={"y": "year(born)"}, date={"y": "yyyymmdd"})
    with pytest.raises(StudyError, match='`date` and `bands` are both given for "x"'):
        read(people, bands={"x": "0"}, date={"x": "yyyymmdd"})
    unknown: list[dict[str, Any]] = [
        {"bands": {"z": "0"}},
        {"group": {"z": "prefix:1"}},
        {"date": {"z": "ddmmyyyy"}},
    ]
    for words in unknown:
        with pytest.raises(DataError, match='column "z" is not in'):
            read(people, **words)


def test_a_condition_on_a_column_that_is_seen_otherwise_never_passes_for_met_by_nobody() -> None:
    table = read(pa.table({"x": ["1", "7", "99"]}), bands={"x": "0,10"})
    for condition in ("x=90..", "x!=0..5", "x=99", "x>=90"):
        with pytest.raises(StudyError, match="before it was put in bands or grouped"):
            treat(table, invalid=[parse_condition(condition)])
    assert treat(table, where=[parse_condition("x=0-9")]).table.records == 2


def test_a_saved_table_keeps_how_it_is_seen_and_can_be_seen_further(tmp_path: Path) -> None:
    people = pa.table({"born": ["01/02/1980", "01/03/1990"], "income": ["5", "700"]})
    table = read(people, date={"born": "dd/mm/yyyy"}, bands={"income": "quantiles:2"})
    table.save(tmp_path / "table.arrow")
    again = read(tmp_path / "table.arrow")
    assert again.views == table.views
    seen = read(tmp_path / "table.arrow", derive={"year": "year(born)"}, group={"born": "prefix:7"})
    assert values(seen, "year") == ["1980", "1990"]
    assert values(seen, "born") == ["1980-02", "1990-03"]
    with pytest.raises(DataError, match="is not in"):
        read(tmp_path / "table.arrow", bands={"z": "0"})
