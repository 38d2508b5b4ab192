"""Importers, their cities and their lines of trade: the world behind a synthetic month, and its transactions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.synthetic.draws import categories, flags, power_ranks, whole_sizes

TRANSACTIONS, IMPORTERS = 817_468, 18_430
"""Effective transactions and importers of the month (Favato 2021, section 1.2.2)."""
PRODUCTS_PER_TRANSACTION, PRODUCTS_PER_HEADING = 7_062 / TRANSACTIONS, 6.0
"""How many products are traded; 2,277 of 7,062 were suppressed, and those had few transactions."""
CITIES_PER_IMPORTER = 1_450 / IMPORTERS
"""How many cities have importers."""
CITY_EXPONENT, PRODUCT_EXPONENT, ORIGIN_EXPONENT = 1.2, 1.12, 1.0
"""Power laws: of importers over cities, of lines over products, of lines over origins."""
ACTIVITY_SPREAD = 1.55
"""Standard deviation of the logarithm of importers' transactions."""
LINES_EXPONENT = 0.9
"""An importer with n transactions trades n to this power lines (a product from an origin)."""
HOME_ORIGIN = 0.3
"""Share of lines that come from the main origin of their product."""
SECTOR = 0.3
"""Share of an importer's lines that are of its own few headings."""
LINE_EXPONENT = 1.2
"""Power law of an importer's transactions over its lines."""
OTHER_NATURES = 0.04
"""Records that are no effective imports (temporary admissions and the like), beside each effective one."""
ALIKE = 0.03
"""Share of transactions with the measures of another one of the same line."""

STATES = tuple(
    "SP SC RJ PR MG RS ES AM BA PE CE GO DF PA MT MS RN PB MA SE AL RO PI TO AP AC RR".split()
)
STATE_SHARES = (
    *(38, 11, 9, 9, 9, 8, 3, 2.5, 1.8, 1.5, 1.3, 1.3, 0.8, 0.8),
    *(0.7, 0.6, 0.4, 0.4, 0.3, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1),
)
"""The states and their shares of the cities with importers, roughly."""
ORIGINS = (
    *(("CHINA", "156"), ("UNITED STATES", "840"), ("GERMANY", "276"), ("ITALY", "380")),
    *(("JAPAN", "392"), ("INDIA", "356"), ("FRANCE", "250"), ("SOUTH KOREA", "410")),
    *(("TAIWAN", "158"), ("UNITED KINGDOM", "826"), ("SPAIN", "724"), ("ARGENTINA", "032")),
    *(("MEXICO", "484"), ("SWITZERLAND", "756"), ("THAILAND", "764"), ("VIETNAM", "704")),
    *(("NETHERLANDS", "528"), ("BELGIUM", "056"), ("AUSTRIA", "040"), ("SWEDEN", "752")),
    *(("MALAYSIA", "458"), ("CANADA", "124"), ("PORTUGAL", "620"), ("TURKEY", "792")),
    *(("POLAND", "616"), ("CZECHIA", "203"), ("INDONESIA", "360"), ("CHILE", "152")),
    *(("HONG KONG", "344"), ("DENMARK", "208"), ("ISRAEL", "376"), ("FINLAND", "246")),
    *(("HUNGARY", "348"), ("SINGAPORE", "702"), ("IRELAND", "372"), ("URUGUAY", "858")),
    *(("COLOMBIA", "170"), ("PERU", "604"), ("ROMANIA", "642"), ("NORWAY", "578")),
    *(("PARAGUAY", "600"), ("SOUTH AFRICA", "710"), ("PHILIPPINES", "608"), ("RUSSIA", "643")),
    *(("SLOVAKIA", "703"), ("BANGLADESH", "050"), ("PAKISTAN", "586"), ("GREECE", "300")),
    *(("SLOVENIA", "705"), ("BULGARIA", "100"), ("EGYPT", "818"), ("MOROCCO", "504")),
    *(("TUNISIA", "788"), ("UKRAINE", "804"), ("CAMBODIA", "116"), ("SRI LANKA", "144")),
    *(("ECUADOR", "218"), ("BOLIVIA", "068"), ("COSTA RICA", "188"), ("NEW ZEALAND", "554")),
)
"""Countries and their codes (ISO 3166), from the most to the least frequent origin."""
NATURES = ("EFFECTIVE", "ADMINISTRATIVE", "SPECIAL")


@dataclass(frozen=True, kw_only=True)
class TradeWorld:
    """Cities, products, importers and their lines of trade."""

    city_state: Integers
    product: Integers
    """The eight digits of each product."""
    by_unit: Flags
    """Whether a product is counted in pieces, not in kilograms."""
    importer_city: Integers
    importer_size: Integers
    line_importer: Integers
    line_first: Integers
    """Where the lines of each importer begin."""
    line_product: Integers
    line_origin: Integers
    line_level: Floats
    """The logarithm of a usual value, in dollars."""
    line_price: Floats
    """Dollars per kilogram."""
    line_decimals: Integers
    """How many decimals the weights have."""


@dataclass(frozen=True, kw_only=True)
class TradeRows:
    """The transactions, effective or not."""

    importer: Integers
    line: Integers
    nature: Integers
    measures: Integers
    """In cents and 10⁻⁵ kilograms or pieces."""


def draw_world(transactions: int, importers: int, random: np.random.Generator) -> TradeWorld:
    """Draw cities, products, importers and what each of them trades."""
    cities = min(importers, max(3, round(CITIES_PER_IMPORTER * importers)))
    further = categories(_power(cities, CITY_EXPONENT), importers - cities, random)
    importer_city = random.permutation(np.concatenate([np.arange(cities), further])).astype(
        np.int64
    )
    products = max(12, round(PRODUCTS_PER_TRANSACTION * transactions))
    codes = _product_codes(products, random)
    size = whole_sizes(random.lognormal(0.0, ACTIVITY_SPREAD, importers), total=transactions)
    sizes = size.astype(np.int64)
    lines = np.ceil(sizes**LINES_EXPONENT).astype(np.int64)
    line_importer = np.repeat(np.arange(importers), lines)
    line_product = _line_products(line_importer, importers, codes, random)
    level, price = random.normal(7.4, 1.4, products), np.exp(random.normal(2.2, 1.3, products))
    decimals = random.choice([0, 1, 2, 3, 5], len(line_importer), p=[0.2, 0.1, 0.2, 0.2, 0.3])
    return TradeWorld(
        city_state=categories(STATE_SHARES, cities, random).astype(np.int64),
        product=codes,
        by_unit=flags(0.4, products, random),
        importer_city=importer_city,
        importer_size=sizes,
        line_importer=line_importer,
        line_first=np.cumsum(lines) - lines,
        line_product=line_product,
        line_origin=_line_origins(line_product, products, random),
        line_level=random.normal(level[line_product], 0.8),
        line_price=price[line_product],
        line_decimals=decimals.astype(np.int64),
    )


def _product_codes(products: int, random: np.random.Generator) -> Integers:
    """Return codes of eight digits, in a random order of popularity; headings differ much in size."""
    headings = max(4, round(products / PRODUCTS_PER_HEADING))
    numbers = np.sort(random.choice(9_500, min(headings, 9_500), replace=False)) + 101
    share = random.lognormal(0.0, 1.0, len(numbers)).astype(np.float32)
    heading = categories(share, products, random)
    order = np.argsort(heading, kind="stable")
    first = np.searchsorted(heading[order], heading[order], side="left")
    within = np.empty(products, np.int64)
    within[order] = np.arange(products) - first
    return np.asarray(numbers[heading] * 10_000 + within * 10, np.int64)


def _line_products(
    importer: Integers, importers: int, codes: Integers, random: np.random.Generator
) -> Integers:
    """Draw a product per line: mostly of the headings that its importer is in, the others anything."""
    popular = _power(len(codes), PRODUCT_EXPONENT)
    product = categories(popular, len(importer), random).astype(np.int64)
    by_heading = np.argsort(codes, kind="stable")
    place = np.empty_like(by_heading)
    place[by_heading] = np.arange(len(codes))
    main_product = categories(popular, importers, random)
    near = np.rint(random.laplace(0.0, 6.0, len(importer))).astype(np.int64)
    neighbour = np.clip(place[main_product[importer]] + near, 0, len(codes) - 1)
    return np.where(flags(SECTOR, len(importer), random), by_heading[neighbour], product)


def _line_origins(product: Integers, products: int, random: np.random.Generator) -> Integers:
    shares = _power(len(ORIGINS), ORIGIN_EXPONENT)
    main = categories(shares, products, random)
    any_origin = categories(shares, len(product), random)
    home = flags(HOME_ORIGIN, len(product), random)
    return np.where(home, main[product], any_origin).astype(np.int64)


def draw_transactions(
    world: TradeWorld, transactions: int, random: np.random.Generator
) -> TradeRows:
    """Draw so many effective transactions, and those of other natures beside them."""
    importer = np.repeat(np.arange(len(world.importer_size)), world.importer_size)
    further = random.choice(importer, round(OTHER_NATURES * transactions))
    nature = np.concatenate(
        [np.zeros(transactions, np.int64), random.integers(1, len(NATURES), len(further))]
    )
    importer = np.concatenate([importer, further])
    lines = np.diff(np.append(world.line_first, len(world.line_importer)))[importer]
    exponent = np.full(len(importer), LINE_EXPONENT, np.float32)
    rank = power_ranks(exponent, lines.astype(np.int32), random)
    line = world.line_first[importer] + rank
    order = np.argsort(line, kind="stable")
    line, nature = line[order], nature[order]
    return TradeRows(
        importer=importer[order],
        line=line,
        nature=nature,
        measures=_measures(world, line, random),
    )


def _measures(world: TradeWorld, line: Integers, random: np.random.Generator) -> Integers:
    """Draw values, weights, quantities, freights and insurances, in cents and 10⁻⁵; some are those of the last row."""
    count = len(line)
    value = np.exp(np.minimum(random.normal(world.line_level[line], 1.0), 17.0))
    cents = np.maximum(np.rint(value * 100), 1).astype(np.int64)
    kilograms = value / world.line_price[line] * np.exp(random.normal(0.0, 0.35, count))
    step = 10 ** (5 - world.line_decimals[line])
    weight = np.maximum(np.rint(kilograms * 100_000 / step), 1).astype(np.int64) * step
    pieces = np.maximum(np.rint(value / 25), 1).astype(np.int64) * 100_000
    quantity = np.where(world.by_unit[world.line_product[line]], pieces, weight)
    freight = np.rint(cents * random.gamma(1.5, 0.05, count)) * ~flags(0.1, count, random)
    insurance = np.rint(cents * random.gamma(1.0, 0.003, count)) * ~flags(0.6, count, random)
    table = np.stack([cents, weight, quantity, freight, insurance], axis=1).astype(np.int64)
    alike = np.flatnonzero(flags(ALIKE, count, random))
    alike = alike[(alike > 0) & (line[alike] == line[alike - 1])]
    table[alike] = table[alike - 1]
    return table


def _power(number: int, exponent: float) -> NDArray[np.float32]:
    return (np.arange(1, number + 1) ** -exponent).astype(np.float32)
