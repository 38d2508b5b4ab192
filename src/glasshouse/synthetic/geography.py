"""Synthetic territories: cities, their populations and the regions they belong to."""

from __future__ import annotations

from dataclasses import dataclass

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


def draw_cities(territory: Territory, rng: np.random.Generator) -> Cities:
    """Draw the populations and deal the cities out to regions."""
    others = territory.cities - len(territory.largest)
    population = territory.median * rng.lognormal(0.0, territory.spread, others)
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


def whole_cities(city: Codes, size: Codes, *, records: int, rng: np.random.Generator) -> Codes:
    """Choose places (schools, establishments) so that a small release keeps whole cities.

    Cities come in random order, each with all its places, until there are enough records; only the
    last city, and in it the last place, may be cut. A city of more than a fifth of the records
    comes after all others, so that a small release is several towns and not a part of the capital.

    Args:
        city: the city of each place.
        size: how many records each place has.
        records: how many are wanted, at most the sum of the sizes.
        rng: draws the order of the cities.

    Returns:
        The places to keep, city by city.
    """
    records_of = np.bincount(city, size)
    large = records_of > max(records / 5, float(np.median(records_of)))
    rank = np.empty(len(records_of), dtype=np.int32)
    rank[np.lexsort([rng.permutation(len(rank)), large])] = np.arange(len(rank), dtype=np.int32)
    kept = np.argsort(rank[city], kind="stable").astype(np.int32)
    ends = np.cumsum(size[kept], dtype=np.int64)
    return kept[: np.searchsorted(ends, records) + 1]
