"""A synthetic month of foreign trade: transactions without importers, totals by state and by city, and the truth.

Shaped like the Brazilian imports of January 2021 (Favato 2021, chapters 4 and 5): 817,468 effective transactions of
18,430 importers, 7,062 products. One agency publishes the transactions with cents and 10⁻⁵ kg, but not whose they are,
and none of a product that fewer than four companies imported; the other publishes totals in whole dollars and
kilograms, by state × product × origin (five measures) and by city × heading × origin (two), and the register of
importers.

What decides how much can be reconstructed is modelled: few importers make most transactions, most cities have few
importers, importers keep to few products and origins, and so groups range from one city to hundreds of them. The
parameters are assumptions, chosen so that the number and the complexity of groups come out as published.
`papers/favato2021.md` has the figures. No record describes a company.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from glasshouse.arrays import Flags, Integers
from glasshouse.atomic import cannot_write, new_file
from glasshouse.errors import DataError, StudyError
from glasshouse.language import localised, text, unknown_name
from glasshouse.synthetic.draws import flags
from glasshouse.synthetic.stream import check_seed, is_whole
from glasshouse.synthetic.trade_world import (
    IMPORTERS,
    NATURES,
    ORIGINS,
    OTHER_NATURES,
    STATES,
    TRANSACTIONS,
    TradeRows,
    TradeWorld,
    draw_transactions,
    draw_world,
)

MOST_TRANSACTIONS = 20_000_000
"""The most transactions that can be asked for."""
PLAN = "trade_plan.toml"
"""The plan of the attack on such a month, which stands in the folder above it."""
MONTH = "202101"
MEASURES = ("value", "weight", "quantity", "freight", "insurance")
"""The measures of a transaction; totals by city have the first two."""
DECIMALS = (2, 5, 5, 2, 2)
"""Their decimals in the transactions; totals have none."""
ITEMS = 0.35
"""Chance that a declaration has a further item; the header is repeated for each."""
ROUNDINGS = ("sum", "record")
"""Whether the totals are rounded, or the records are rounded before they are summed."""


@dataclass(frozen=True, eq=False)
class Trade:
    """The publications of a month, and what is true of it."""

    transactions: pa.Table
    """One agency's records, without importers; a row per item, with the header repeated."""
    by_state: pa.Table
    """The other's totals by state × product × origin: five measures."""
    by_city: pa.Table
    """Its totals by city × heading × origin: two measures."""
    importers: pa.Table
    """Its register of importers."""
    countries: pa.Table
    """The names of countries in the records, and the codes of the totals."""
    truth: pa.Table
    """Per published transaction who imported it, and whether the totals hold it. Nobody publishes that."""

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write each table as a CSV file of its name into a folder, which is made if need be.

        Raises:
            DataError: The files cannot be written there.
        """
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(place, error) from None
        for name, table in vars(self).items():
            with new_file(place / f"{name}.csv") as draft:
                pyarrow.csv.write_csv(table, draft)
        return place


def trade(
    *,
    transactions: int = TRANSACTIONS,
    importers: int = IMPORTERS,
    seed: int = 0,
    rounding: str = "sum",
    excluded: float = 0.0005,
    added: float = 0.0,
    suppress_below: int = 4,
) -> Trade:
    """Draw a month; the same arguments give the same month.

    Args:
        transactions: How many effective transactions there are, before some products are suppressed.
        importers: How many importers make them, at most as many.
        seed: What the draws depend on.
        rounding: How the totals are rounded, one of `ROUNDINGS`; halves go up.
        excluded: The share of effective transactions that the totals leave out.
        added: Transactions of other natures that the totals hold although the records call them not effective, as a
            share of the effective ones. By default none, as in the months that `papers/favato2021.md` measures:
            where the sums do not show such records, nothing about their group is proved.
        suppress_below: The records of a product that fewer importers traded are not published.

    Raises:
        StudyError: An argument is out of its range.
    """
    _check(transactions, importers, seed, rounding, excluded, added, suppress_below)
    random = np.random.default_rng(np.random.SeedSequence(seed))
    world = draw_world(transactions, importers, random)
    rows = draw_transactions(world, transactions, random)
    not_effective = min(round(OTHER_NATURES * transactions), len(rows.importer) - transactions)
    effective = rows.nature == 0
    left_out = effective & flags(excluded, len(effective), random)
    chance = min(1.0, added * transactions / max(not_effective, 1))
    counted = (effective & ~left_out) | (~effective & flags(chance, len(effective), random))
    # Records of products with enough importers are published.
    product = world.line_product[rows.line]
    pairs = np.unique(np.stack([product[effective], rows.importer[effective]], axis=1), axis=0)
    traders = np.bincount(pairs[:, 0], minlength=len(world.product))
    public = traders[product] >= suppress_below
    declaration = random.permutation(len(effective))
    return Trade(
        transactions=_published(world, rows, public, declaration, random),
        by_state=_by_state(world, rows, counted, rounding),
        by_city=_by_city(world, rows, counted, rounding),
        importers=_register(world),
        countries=pa.table({"country": [n for n, _ in ORIGINS], "code": [c for _, c in ORIGINS]}),
        truth=_truth(world, rows, public & effective, counted, declaration),
    )


def write_trade(
    folder: str | os.PathLike[str],
    *,
    transactions: int = TRANSACTIONS,
    importers: int = IMPORTERS,
    seed: int = 0,
    rounding: str = "sum",
    excluded: float = 0.0005,
    added: float = 0.0,
    suppress_below: int = 4,
) -> Path:
    """Draw a month and write it as CSV files into a folder; see `trade` and `Trade`.

    Raises:
        StudyError: An argument is out of its range.
        DataError: The files cannot be written there.
    """
    month = trade(
        transactions=transactions,
        importers=importers,
        seed=seed,
        rounding=rounding,
        excluded=excluded,
        added=added,
        suppress_below=suppress_below,
    )
    return month.write(folder)


def write_trade_study(folder: str | os.PathLike[str], *, records: int, seed: int = 0) -> Path:
    """Draw a month of so many transactions, with importers in proportion, and write it with the plan of the attack.

    Returns:
        The plan, ``study.toml`` in the folder.

    Raises:
        StudyError: The number of records or the seed is not possible.
        DataError: The folder exists, or cannot be written.
    """
    place = Path(folder)
    if place.is_file() or (place.is_dir() and any(place.iterdir())):
        raise DataError('"{path}" exists; choose another place', path=place)
    importers = max(2, round(IMPORTERS * records / TRANSACTIONS))
    write_trade(place, transactions=records, importers=min(importers, records), seed=seed)
    plan = files("glasshouse.synthetic").joinpath(PLAN).read_text(encoding="utf-8")
    with new_file(place / "study.toml") as draft:
        draft.write_text(_beside_the_month(plan), encoding="utf-8")
    return place / "study.toml"


def _beside_the_month(plan: str) -> str:
    """Return the plan for the folder of the month itself: its first lines and paths speak of the folder above."""
    return plan[plan.index('command = "totals"') :].replace('"month/', '"')


def _published(
    world: TradeWorld,
    rows: TradeRows,
    public: Flags,
    declaration: Integers,
    random: np.random.Generator,
) -> pa.Table:
    """Return the records in the order of their declarations, a row per item."""
    chosen = np.flatnonzero(public)
    chosen = chosen[np.argsort(declaration[chosen])]
    items = random.geometric(1 - ITEMS, len(chosen))
    header = np.repeat(chosen, items)
    item = np.arange(len(header)) - np.repeat(np.cumsum(items) - items, items) + 1
    share = np.maximum(rows.measures[header, 0] // np.repeat(items, items), 1)
    columns = {
        "order": _digits(declaration[header], 10, item, 4),
        "month": pa.repeat(MONTH, len(header)),
        "product": _digits(world.product[world.line_product[rows.line[header]]], 8),
        "origin": _labelled(world.line_origin[rows.line[header]], [n for n, _ in ORIGINS]),
        "nature": _labelled(rows.nature[header], NATURES),
    }
    for name, places, column in zip(MEASURES, DECIMALS, rows.measures[header].T, strict=True):
        columns[name] = _decimal(column, places)
    columns["item_value"] = _decimal(share, 2)
    return pa.table(columns)


def _by_state(world: TradeWorld, rows: TradeRows, counted: Flags, rounding: str) -> pa.Table:
    line, importer = rows.line[counted], rows.importer[counted]
    keys = [
        world.product[world.line_product[line]],
        world.line_origin[line],
        world.city_state[world.importer_city[importer]],
    ]
    (product, origin, state), totals = _totals(keys, rows.measures[counted], DECIMALS, rounding)
    columns: dict[str, pa.Array] = {
        **_year_and_month(len(product)),
        "product": _digits(product, 8),
        "country": _labelled(origin, [code for _, code in ORIGINS]),
        "state": _labelled(state, STATES),
    }
    return pa.table(columns | dict(zip(MEASURES, map(pa.array, totals.T), strict=True)))


def _by_city(world: TradeWorld, rows: TradeRows, counted: Flags, rounding: str) -> pa.Table:
    line, importer = rows.line[counted], rows.importer[counted]
    keys = [
        world.product[world.line_product[line]] // 10_000,
        world.line_origin[line],
        world.importer_city[importer],
    ]
    measures = rows.measures[counted][:, :2]
    (heading, origin, city), totals = _totals(keys, measures, DECIMALS[:2], rounding)
    columns: dict[str, pa.Array] = {
        **_year_and_month(len(heading)),
        "heading": _digits(heading, 4),
        "country": _labelled(origin, [code for _, code in ORIGINS]),
        "state": _labelled(world.city_state[city], STATES),
        "city": _city_names(city),
    }
    return pa.table(columns | dict(zip(MEASURES[:2], map(pa.array, totals.T), strict=True)))


def _register(world: TradeWorld) -> pa.Table:
    city = world.importer_city
    columns = {
        "importer": _digits(np.arange(len(city)), 8),
        "city": _city_names(city),
        "state": _labelled(world.city_state[city], STATES),
    }
    return pa.table(columns)


def _truth(
    world: TradeWorld,
    rows: TradeRows,
    chosen: Flags,
    counted: Flags,
    declaration: Integers,
) -> pa.Table:
    places = np.flatnonzero(chosen)
    places = places[np.argsort(declaration[places])]
    city = world.importer_city[rows.importer[places]]
    columns = {
        "declaration": _digits(declaration[places], 10),
        "importer": _digits(rows.importer[places], 8),
        "state": _labelled(world.city_state[city], STATES),
        "city": _city_names(city),
        "in_totals": _labelled(counted[places].astype(np.int64), ["no", "yes"]),
    }
    return pa.table(columns)


def _totals(
    keys: list[Integers], measures: Integers, decimals: tuple[int, ...], rounding: str
) -> tuple[list[Integers], Integers]:
    """Return the distinct keys in ascending order and, in whole units, the totals of their records."""
    scale = 10 ** np.array(decimals, np.int64)
    if not len(measures):
        return keys, measures
    order = np.lexsort(keys[::-1])
    sorted_keys = [key[order] for key in keys]
    new = np.ones(len(order), bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in sorted_keys], axis=0)
    first = np.flatnonzero(new)
    amounts = measures[order]
    if rounding == "record":
        amounts = _half_up(amounts, scale) * scale
    sums = np.add.reduceat(amounts, first, axis=0)
    return [key[first] for key in sorted_keys], _half_up(sums, scale)


def _half_up(amounts: Integers, scale: Integers) -> Integers:
    return (2 * amounts + scale) // (2 * scale)


def _year_and_month(rows: int) -> dict[str, pa.Array]:
    return {"year": pa.repeat(MONTH[:4], rows), "month": pa.repeat(MONTH[4:], rows)}


def _labelled(codes: Integers, labels: list[str] | tuple[str, ...]) -> pa.Array:
    return pa.array(labels, pa.string()).take(pa.array(codes))


def _city_names(city: Integers) -> pa.Array:
    cities, place = np.unique(city, return_inverse=True)
    return _labelled(place.reshape(-1), [f"city {code:05}" for code in cities.tolist()])


def _digits(*numbers_and_widths: Integers | int) -> pa.Array:
    """Return whole numbers with leading zeros, one behind the other: a number, its width, and so on."""
    pairs = list(zip(numbers_and_widths[::2], numbers_and_widths[1::2], strict=True))
    width = sum(int(digits) for _, digits in pairs)
    rows = len(np.asarray(pairs[0][0]))
    letters = np.empty((rows, width), np.uint8)
    end = 0
    for number, digits in pairs:
        end += int(digits)
        rest = np.asarray(number, np.int64).copy()
        for place in range(end - 1, end - 1 - int(digits), -1):
            letters[:, place] = rest % 10 + ord("0")
            rest //= 10
    offsets = np.arange(0, (rows + 1) * width, width, dtype=np.int64)
    return pa.LargeStringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(letters))


def _decimal(units: Integers, places: int) -> pa.Array:
    """Return units of the last decimal place as decimal numbers."""
    words = np.zeros((len(units), 2), np.int64)
    words[:, 0] = units
    kind = pa.decimal128(19, places)
    return pa.Array.from_buffers(kind, len(units), [None, pa.py_buffer(words)])


def _check(
    transactions: int,
    importers: int,
    seed: int,
    rounding: str,
    excluded: float,
    added: float,
    suppress_below: int,
) -> None:
    if rounding not in ROUNDINGS:
        raise StudyError(unknown_name("rounding", rounding, text("synthetic trade"), ROUNDINGS))
    if not is_whole(transactions) or not 1 <= transactions <= MOST_TRANSACTIONS:
        raise StudyError(
            "a month of trade has 1 to {most} transactions, not {given}",
            most=MOST_TRANSACTIONS,
            given=repr(transactions),
        )
    if not is_whole(importers) or not 1 <= importers <= transactions:
        raise StudyError(
            "{transactions} transactions have 1 to {transactions} importers, not {given}",
            transactions=int(transactions),
            given=repr(importers),
        )
    check_seed(seed)
    if not is_whole(suppress_below) or suppress_below < 0:
        raise StudyError(
            "the number of importers to publish from is a whole number from 0 on, not {given}",
            given=repr(suppress_below),
        )
    if not 0 <= excluded <= 1:
        raise StudyError(
            "the share of records left out is from 0 to 1, not {given}", given=repr(excluded)
        )
    if not 0 <= added <= OTHER_NATURES:
        raise StudyError(
            "the share of records added is from 0 to {most}, not {given}",
            most=localised(f"{OTHER_NATURES:g}"),
            given=repr(added),
        )
