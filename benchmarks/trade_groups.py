"""Groups of import transactions by city, as the trade statistics of a month have them, with the truth.

Importers live in cities of very different sizes; each trades a few kinds of products from a few countries, in several
transactions of similar size. A group is a product and an origin: its transactions are published one by one (cents,
10⁻⁵ kg), its totals by city in whole dollars and kilograms. Distributions are those that make groups look like the
published ones: skewed sizes, weights with few decimals, some transactions alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshouse.reconstruction import Instance

SCALE = (100, 100_000)
CITIES, PRODUCTS, ORIGINS = 400, 220, 14


@dataclass(frozen=True, eq=False)
class Group:
    """One group, and which bin each transaction truly belongs to."""

    instance: Instance
    truth: NDArray[np.int64]


def groups(seed: int, *, importers: int = 6_000, rounding: str = "sum") -> list[Group]:
    """Return the groups of a month with at least two cities, in the order of product and origin."""
    random = np.random.default_rng(seed)
    cities = random.choice(CITIES, importers, p=_zipf(CITIES, 1.05))
    registered = np.bincount(cities, minlength=CITIES)
    value_level = random.normal(8.3, 1.3, PRODUCTS)
    price = np.exp(random.normal(2.0, 1.2, PRODUCTS))
    rows: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    products, origins = _zipf(PRODUCTS, 0.9), _zipf(ORIGINS, 1.3)
    for city in cities.tolist():
        activity = np.exp(random.normal(0, 0.9))
        for _ in range(1 + random.poisson(2.0)):
            product = int(random.choice(PRODUCTS, p=products))
            origin = int(random.choice(ORIGINS, p=origins))
            number = min(int(random.geometric(1 / (1 + 3 * activity))), 60)
            level = random.normal(value_level[product], 0.8)
            cents = np.rint(np.exp(level + random.normal(0, 1, number)) * 100).clip(1)
            kilograms = cents / 100 / price[product] * np.exp(random.normal(0, 0.35, number))
            places = random.choice([0, 1, 2, 3, 5], number, p=[0.25, 0.1, 0.2, 0.15, 0.3])
            powers = 10.0**places
            weights = np.rint(np.rint(kilograms * powers) / powers * 100_000).clip(1)
            alike = np.flatnonzero(random.random(number) < 0.03)
            alike = alike[alike > 0]
            cents[alike], weights[alike] = cents[alike - 1], weights[alike - 1]
            rows.setdefault((product, origin), []).extend(
                (city, int(c), int(w)) for c, w in zip(cents, weights, strict=True)
            )
    found = [_group(key, rows[key], registered, random, rounding) for key in sorted(rows)]
    return [group for group in found if len(group.instance.low) > 1]


def _zipf(number: int, exponent: float) -> NDArray[np.float64]:
    shares = 1 / np.arange(1, number + 1) ** exponent
    return np.asarray(shares / shares.sum())


def _group(
    key: tuple[int, int],
    rows: list[tuple[int, int, int]],
    registered: NDArray[np.int64],
    random: np.random.Generator,
    rounding: str,
) -> Group:
    table = np.array(rows, np.int64)[random.permutation(len(rows))]
    names, truth = np.unique(table[:, 0], return_inverse=True)
    packages, scale = table[:, 1:], np.array(SCALE)
    halfwidth = np.zeros(2, np.int64)
    sums = np.zeros((len(names), 2), np.int64)
    if rounding == "sum":
        np.add.at(sums, truth, packages)
        totals = (2 * sums + scale) // (2 * scale) * scale
        low, high = totals - scale // 2, totals + scale // 2
    else:
        rounded = (2 * packages + scale) // (2 * scale) * scale
        np.add.at(sums, truth, rounded)
        low = high = sums
        if rounding == "record":
            packages = rounded
        else:
            halfwidth = scale // 2
    instance = Instance(
        packages=packages,
        low=low,
        high=high,
        halfwidth=halfwidth,
        measures=("value", "weight"),
        scale=SCALE,
        package_names=tuple(map(str, range(len(packages)))),
        bin_names=tuple(f"city {name}" for name in names),
        entities=tuple(int(registered[name]) for name in names),
        name=f"product {key[0]} from {key[1]}",
        rounding=rounding,
    )
    return Group(instance, truth.astype(np.int64))
