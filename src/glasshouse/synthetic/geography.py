"""Synthetic territories: cities, their populations and the regions they belong to."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from glasshouse.arrays import Codes
from glasshouse.synthetic.draws import Rates, below


@dataclass(frozen=True, kw_only=True)
class Territory:
    """How the people of a territory spread over its cities."""

    cities: int
    largest: tuple[float, ...]
    """Populations of the largest cities."""
    median: float
    """Median population of the others, which are log-normal."""
    spread: float
    """Standard deviation of the logarithm of the others."""
    region_cities: int
    """Cities in a region, on average."""


BRAZIL = Territory(
    cities=5_570,
    largest=(
        *(12.2e6, 6.7e6, 2.97e6, 2.86e6, 2.64e6, 2.5e6, 2.15e6, 1.92e6, 1.65e6, 1.5e6),
        *(1.49e6, 1.38e6, 1.19e6, 1.09e6, 1.08e6, 1.01e6, 0.92e6, 0.88e6, 0.86e6, 0.83e6),
    ),
    median=11_600,
    spread=1.38,
    region_cities=40,
)
"""The municipalities of Brazil (IBGE estimates for 2018, rounded) and its 137 meso-regions."""

SAO_PAULO = Territory(
    cities=645,
    largest=(*(11.45e6, 1.29e6, 1.14e6, 0.81e6, 0.75e6), *(0.73e6, 0.72e6, 0.70e6, 0.70e6, 0.48e6)),
    median=14_000,
    spread=1.4,
    region_cities=43,
)
"""The municipalities of the state of São Paulo (census of 2022, rounded) and its 15 regions."""


@dataclass(frozen=True, kw_only=True)
class Cities:
    """All cities of a territory, from the largest to the smallest."""

    population: Rates
    region: Codes
    """The region of each city."""
    members: Codes
    """All cities, region by region, each region from its largest city on."""
    first: Codes
    """Where each region begins in `members`, and the end of the last."""

    def hub(self, city: Codes) -> Codes:
        """Return the largest city of the region: where the hospital is."""
        return self.members[self.first[self.region[city]]]

    def neighbour(self, city: Codes, rng: np.random.Generator) -> Codes:
        """Draw a city of the same region, whatever its size."""
        region = self.region[city]
        first = self.first[region]
        chosen: Codes = first + below(self.first[region + 1] - first, rng)
        return self.members[chosen]


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where records come from, such as schools; a subclass has the rates that they are drawn from."""

    code: Codes
    """The number of the place in the territory."""
    city: Codes
    """Where it is."""
    size: Codes
    """How many records it has."""

    def take(self, rows: Codes) -> Self:
        """Return some of the places, in the given order."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def whole_cities(self, records: int, rng: np.random.Generator) -> Self:
        """Return places, city by city, so that a small release has whole cities.

        Cities come in random order, each with all its places, until there are enough records; only the last city, and
        in it the last place, may be cut. A city of more than a fifth of the records comes after all others, so that a
        small release is several towns and not a part of the capital.

        Args:
            records: How many there are to be, at most the sum of the sizes.
            rng: Draws the order of the cities.
        """
        records_of = np.bincount(self.city, self.size)
        large = records_of > max(records / 5, float(np.median(records_of)))
        rank = np.empty(len(records_of), dtype=np.int32)
        rank[np.lexsort([rng.permutation(len(rank)), large])] = np.arange(len(rank), dtype=np.int32)
        order = np.argsort(rank[self.city], kind="stable").astype(np.int32)
        ends = np.cumsum(self.size[order], dtype=np.int64)
        return self.take(order[: np.searchsorted(ends, records) + 1])


def draw_cities(territory: Territory, rng: np.random.Generator) -> Cities:
    """Draw the populations and deal the cities out to regions."""
    smaller = territory.cities - len(territory.largest)
    population = territory.median * rng.lognormal(0.0, territory.spread, smaller)
    population = np.sort(np.minimum(population, territory.largest[-1]))[::-1]
    regions = territory.cities // territory.region_cities
    region = rng.integers(0, regions, territory.cities, dtype=np.int32)
    members = np.argsort(region, kind="stable").astype(np.int32)
    return Cities(
        population=np.concatenate([territory.largest, population]).astype(np.float32),
        region=region,
        members=members,
        first=np.searchsorted(region[members], np.arange(regions + 1)).astype(np.int32),
    )
