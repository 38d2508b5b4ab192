"""A synthetic month: the publications agree with each other, with the truth, and with the published shape."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from glasshouse.errors import DataError, StudyError
from glasshouse.study import paths_of
from glasshouse.study.question import load_question
from glasshouse.study.totals import TotalsStudy
from glasshouse.synthetic.trade import PLAN, Trade, trade, write_trade, write_trade_study

SCALE = {"value": 100, "weight": 100_000, "quantity": 100_000, "freight": 100, "insurance": 100}


@pytest.fixture(scope="module")
def month() -> Trade:
    return trade(transactions=6_000, importers=300, seed=5, excluded=0.01, added=0.01)


def declarations(month: Trade) -> pa.Table:
    """The effective transactions, one row each, with their truth."""
    rows = month.transactions.filter(pc.equal(month.transactions["nature"], "EFFECTIVE"))
    numbers = pc.utf8_slice_codeunits(rows["order"], 0, 10)
    rows = rows.append_column("declaration", numbers.cast(pa.large_string()))
    first = rows.filter(pc.equal(pc.utf8_slice_codeunits(rows["order"], 10, 14), "0001"))
    return first.join(month.truth, "declaration")


def units(column: pa.ChunkedArray, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([int(each * SCALE[name]) for each in column.to_pylist()], np.int64)


def test_the_same_seed_gives_the_same_month_and_another_gives_another() -> None:
    first, second, third = (trade(transactions=500, importers=40, seed=seed) for seed in (1, 1, 2))
    assert all(
        first_table.equals(getattr(second, name)) for name, first_table in vars(first).items()
    )
    assert not first.by_city.equals(third.by_city)


def test_every_published_transaction_has_its_truth_and_no_other(month: Trade) -> None:
    rows = declarations(month)
    assert rows.num_rows == month.truth.num_rows
    assert rows["importer"].null_count == 0
    known = set(month.importers["importer"].to_pylist())
    assert set(month.truth["importer"].to_pylist()) <= known


@pytest.mark.parametrize("rounding", ["sum", "record"])
def test_totals_by_city_are_the_sums_of_their_records(rounding: str) -> None:
    month = trade(
        transactions=2_000,
        importers=80,
        seed=3,
        rounding=rounding,
        excluded=0,
        added=0,
        suppress_below=0,
    )
    rows = declarations(month)
    country = dict(
        zip(*(month.countries[each].to_pylist() for each in ("country", "code")), strict=True)
    )
    sums: dict[tuple[str, str, str], list[int]] = {}
    for product, origin, city, value, weight in zip(
        rows["product"].to_pylist(),
        rows["origin"].to_pylist(),
        rows["city"].to_pylist(),
        units(rows["value"], "value").tolist(),
        units(rows["weight"], "weight").tolist(),
        strict=True,
    ):
        entry = sums.setdefault((product[:4], country[origin], city), [0, 0])
        for place, (amount, scale) in enumerate(((value, 100), (weight, 100_000))):
            entry[place] += half_up(amount, scale) * scale if rounding == "record" else amount
    published = {
        (row["heading"], row["country"], row["city"]): [row["value"], row["weight"]]
        for row in month.by_city.to_pylist()
    }
    assert published == {
        key: [half_up(value, 100), half_up(weight, 100_000)]
        for key, (value, weight) in sums.items()
    }


def half_up(amount: int, scale: int) -> int:
    return (2 * amount + scale) // (2 * scale)


def test_totals_by_state_and_by_city_have_the_same_records() -> None:
    month = trade(transactions=3_000, importers=100, seed=4, rounding="record")
    by_city = pc.sum(month.by_city["value"]).as_py()
    assert by_city == pc.sum(month.by_state["value"]).as_py()


def test_records_left_out_and_added_are_as_many_as_asked(month: Trade) -> None:
    left_out = pc.sum(pc.equal(month.truth["in_totals"], "no")).as_py()
    assert 0.005 < left_out / month.truth.num_rows < 0.02
    complete = trade(transactions=6_000, importers=300, seed=5, excluded=0, added=0)
    assert pc.all(pc.equal(complete.truth["in_totals"], "yes")).as_py()


def test_products_of_few_importers_are_suppressed() -> None:
    month = trade(transactions=6_000, importers=300, seed=5, suppress_below=20)
    shown = set(month.transactions["product"].to_pylist())
    traded = set(month.by_state["product"].to_pylist())
    assert traded - shown
    rows = declarations(month)
    importers = rows.group_by("product").aggregate([("importer", "count_distinct")])
    assert pc.min(importers["importer_count_distinct"]).as_py() >= 20


def test_few_importers_make_most_transactions_and_every_city_has_one(month: Trade) -> None:
    counts = np.sort(
        month.truth.group_by("importer").aggregate([([], "count_all")])["count_all"].to_numpy()
    )[::-1]
    assert counts[: len(counts) // 5].sum() > 0.6 * counts.sum()
    assert set(month.truth["city"].to_pylist()) <= set(month.importers["city"].to_pylist())


def test_groups_range_from_one_city_to_more_than_anybody_can_try() -> None:
    month = trade(transactions=20_000, importers=450, seed=6)
    rows = declarations(month)
    codes = dict(
        zip(*(month.countries[each].to_pylist() for each in ("country", "code")), strict=True)
    )
    packages: dict[tuple[str, str], int] = {}
    for product, origin in zip(
        rows["product"].to_pylist(), rows["origin"].to_pylist(), strict=True
    ):
        key = product[:4], codes[origin]
        packages[key] = packages.get(key, 0) + 1
    cities: dict[tuple[str, str], int] = {}
    for heading, country in zip(
        *(month.by_city[each].to_pylist() for each in ("heading", "country")), strict=True
    ):
        cities[heading, country] = cities.get((heading, country), 0) + 1
    complexity = np.array(
        [n * np.log10(cities[key]) for key, n in packages.items() if key in cities]
    )
    numbers = np.array([n for key, n in packages.items() if key in cities])
    assert 0.25 < (complexity == 0).mean() < 0.7
    assert complexity.max() > 500
    assert 0.1 < numbers[complexity <= 24].sum() / numbers.sum() < 0.35


def test_headers_are_repeated_for_every_item(month: Trade) -> None:
    rows = month.transactions
    numbers = pc.utf8_slice_codeunits(rows["order"], 0, 10).to_pylist()
    assert len(set(numbers)) < len(numbers)
    headers = {
        (number, *header)
        for number, header in zip(
            numbers, zip(*(rows[each].to_pylist() for each in SCALE), strict=True), strict=True
        )
    }
    assert len(headers) == len(set(numbers))


def test_files_are_written_with_all_decimals(tmp_path: Path) -> None:
    folder = write_trade(tmp_path / "month", transactions=300, importers=20, seed=1)
    assert sorted(path.stem for path in folder.iterdir()) == [
        *("by_city", "by_state", "countries", "importers", "transactions", "truth")
    ]
    first = (folder / "transactions.csv").read_text().splitlines()[1].split(",")
    assert [len(first[place].strip('"').partition(".")[2]) for place in range(5, 10)] == [
        2,
        5,
        5,
        2,
        2,
    ]
    assert first[0].strip('"').isdigit()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"transactions": 0}, "1 to 20,000,000 transactions"),
        ({"importers": 0}, "importers"),
        ({"transactions": 5, "importers": 6}, "importers"),
        ({"rounding": "floor"}, 'rounding "floor"'),
        ({"excluded": 1.5}, "left out"),
        ({"added": 0.5}, "added"),
        ({"seed": -1}, "seed"),
        ({"suppress_below": 1.5}, "whole number"),
    ],
)
def test_arguments_out_of_range_are_refused(wrong: dict[str, float], says: str) -> None:
    arguments: dict[str, object] = {"transactions": 100, "importers": 10, **wrong}
    with pytest.raises(StudyError, match=says):
        trade(**arguments)  # type: ignore[arg-type]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        write_trade(tmp_path / "file" / "month", transactions=100, importers=10)


def test_the_packaged_plan_is_the_example() -> None:
    packaged = files("glasshouse.synthetic").joinpath(PLAN).read_text(encoding="utf-8")
    example = Path(__file__).parents[2] / "examples" / "trade" / "study.toml"
    assert packaged == example.read_text(encoding="utf-8")


def test_a_month_with_its_plan(tmp_path: Path) -> None:
    plan = write_trade_study(tmp_path / "month", records=300, seed=1)
    study = load_question(plan, TotalsStudy)
    assert study.publications["transactions"].path == tmp_path / "month" / "transactions.csv"
    assert all(path.exists() for path in paths_of(study))
    with pytest.raises(DataError, match=r'month" exists; choose another place'):
        write_trade_study(tmp_path / "month", records=300)
    with pytest.raises(StudyError):
        write_trade_study(tmp_path / "none", records=0)
    assert not (tmp_path / "none").exists()
