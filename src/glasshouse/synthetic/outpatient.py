"""Synthetic outpatient procedures, shaped like those of the state of São Paulo in 2023.

Seven quasi-identifiers and the procedure of up to 120 million records, after Gonze, Lemes, Almeida,
Gonçalves and Alvim 2025, "Riscos de privacidade em dados de saúde" (DATASUS, SIA-PA; their tables 1
to 3). The published leakages depend on a few distributions, and these are what the generator
models: how many procedures an establishment performs and how unevenly, which procedures go with
which age and sex, how many procedures a visit has, and how many records come without a patient.
`papers/gonze2025.md` has the figures that come out beside the published ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Codes, Flags
from glasshouse.language import marked
from glasshouse.synthetic.draws import (
    Rates,
    beta_rates,
    categories,
    flags,
    gamma_rates,
    place_of,
    power_ranks,
    whole_sizes,
)
from glasshouse.synthetic.geography import SAO_PAULO, Cities, Places, draw_cities
from glasshouse.synthetic.stream import Generator

RECORDS = 112_637_066
"""Records of São Paulo in 2023 (Gonze et al. 2025, section 4.3)."""
CITIES = SAO_PAULO.cities
ESTABLISHMENTS, PROCEDURES = 12_000, 4_000
"""Establishments of the state and codes of procedures, in round numbers."""

SEXES = ("F", "M", "not informed")
RACES = ("white", "brown", "black", "Asian", "indigenous", "not informed")
OLDEST = 99
"""Age of the oldest, and of all who are older."""
MONTHS = tuple(
    [f"2022-{month:02}" for month in (10, 11, 12)] + [f"2023-{month:02}" for month in range(1, 13)]
)
"""Months in which a procedure may have been performed; those of 2023 are those of processing."""
LAGS = (0.93, 0.05, 0.015, 0.005)
"""Shares of records processed in the month of the procedure, and one to three months later."""

POPULARITY_EXPONENT = 0.88
"""Procedures follow a power law over the state."""
LOCAL, CITY_FAVOURITES, CITY_EXPONENT = 0.7, 60, 1.3
"""Share of an establishment's procedures that its city favours (one health department, one set of
programmes), how many these are, and the exponent of their power law."""
SIZE_SPREAD = 1.25
"""Standard deviation of the logarithm of establishments' records within a city."""
OFFER_MEDIAN, OFFER_SPREAD, OFFER_LIMIT = 45.0, 1.0, 800
"""Median, spread of the logarithm, and limit of the number of procedures an establishment has."""
UNEVENNESS = (1.05, 0.45)
"""Mean and standard deviation of the exponent of an establishment's own power law."""

VISIT_LIMIT = 16
"""The most procedures of one visit: they are drawn together."""
VISIT_RECORDS = 1.5
"""Mean, over establishments, of the records of a visit beyond the first; exponential."""

WITHOUT_PATIENT = (0.38, 0.8)
"""Mean and concentration of an establishment's share of visits reported without the patient.

Assumed: the base has consolidated production, without sex, age, race or city; were all records of
known patients, the seven quasi-identifiers would leak far more than was published."""
RACE_SHARES = (0.56, 0.25, 0.07, 0.01, 0.002, 0.108)
"""Shares of `RACES` among the patients reported."""
FROM_ELSEWHERE = (0.22, 1.0)
"""Mean and gamma shape of an establishment's share of patients from other cities of the region."""

AGE_MEAN, AGE_MEAN_SPREAD, AGE_SPREAD = 45.0, 20.0, 10.0
"""Mean age of patients of a procedure, its spread between procedures, and the spread within one."""
FEMALE = (0.58, 3.0)
"""Mean and concentration of the share of women of a procedure."""


@dataclass(frozen=True, kw_only=True)
class Establishments(Places):
    """The establishments of a release and the rates that their records are drawn from."""

    offer: Codes
    """How many procedures it performs."""
    offer_start: Codes
    """Where they begin in the list of all offers."""
    unevenness: Rates
    """Exponent of the power law of its procedures."""
    visit_end: Rates
    """Chance that a record is the last of its visit."""
    without_patient: Rates
    """Share of visits reported without the patient."""
    from_elsewhere: Rates
    """Share of patients from another city of the region."""


@dataclass(frozen=True, kw_only=True)
class OutpatientWorld:
    """The state, its establishments and the patients of each procedure."""

    cities: Cities
    establishments: Establishments
    offers: Codes
    """The procedures of all establishments, one after the other, the most frequent first."""
    age: Rates
    """Mean age of the patients of each procedure."""
    female: Rates
    """Share of women among them."""

    @cached_property
    def labels(self) -> Mapping[str, pa.StringArray]:
        """The text of every code of every column."""
        establishments = self.establishments.code.tolist()
        texts = {
            "sex": SEXES,
            "race": RACES,
            "age": [*(str(age) for age in range(OLDEST + 1)), "not informed"],
            "city_of_residence": [*(f"city {code:04}" for code in range(CITIES)), "not informed"],
            "establishment": [f"establishment {code:05}" for code in establishments],
            "processing_month": MONTHS[len(LAGS) - 1 :],
            "procedure_month": MONTHS,
            "procedure": [f"procedure {code:04}" for code in range(PROCEDURES)],
        }
        return {column: pa.array(text, pa.string()) for column, text in texts.items()}

    def draw(self, positions: Codes, rng: np.random.Generator) -> Mapping[str, Codes]:
        """Draw the records at the given positions of the list."""
        row = place_of(positions, self.establishments.size)
        place = self.establishments.take(row)
        rank = power_ranks(place.unevenness, place.offer, rng)
        procedure = self.offers[place.offer_start + rank]
        starts = _visit_starts(positions, row, place.visit_end, rng)
        visit = np.cumsum(starts, dtype=np.int32) - 1
        first = np.flatnonzero(starts).astype(np.int32)
        visits = {
            **self._patients(place.take(first), procedure[first], rng),
            **_months(len(first), rng),
        }
        drawn = {column: codes[visit] for column, codes in visits.items()}
        return {**drawn, "establishment": row, "procedure": procedure}

    def _patients(
        self, place: Establishments, lead: Codes, rng: np.random.Generator
    ) -> dict[str, Codes]:
        """Draw the patients of visits, given where each took place and its first procedure."""
        size = len(lead)
        age = self.age[lead] + AGE_SPREAD * rng.standard_normal(size, dtype=np.float32)
        city = place.city
        away = np.flatnonzero(flags(place.from_elsewhere, size, rng))
        city[away] = self.cities.neighbour(city[away], rng)
        patient = {
            "sex": (~flags(self.female[lead], size, rng)).astype(np.int32),
            "race": categories(RACE_SHARES, size, rng),
            "age": np.clip(age, 0, OLDEST).astype(np.int32),
            "city_of_residence": city,
        }
        hidden = np.flatnonzero(flags(place.without_patient, size, rng))
        not_informed = (len(SEXES) - 1, len(RACES) - 1, OLDEST + 1, CITIES)
        for codes, code in zip(patient.values(), not_informed, strict=True):
            codes[hidden] = code
        return patient


def outpatient_world(records: int, rng: np.random.Generator) -> OutpatientWorld:
    """Build the state and keep as many whole cities as the number of records needs."""
    cities = draw_cities(SAO_PAULO, rng)
    places = _draw_establishments(cities, max(records, RECORDS), rng)
    establishments = places.whole_cities(records, rng)
    age = AGE_MEAN + AGE_MEAN_SPREAD * rng.standard_normal(PROCEDURES, dtype=np.float32)
    return OutpatientWorld(
        cities=cities,
        establishments=establishments,
        offers=_draw_offers(places, rng),
        age=age,
        female=beta_rates(*FEMALE, PROCEDURES, rng),
    )


OUTPATIENT = Generator(
    name="outpatient",
    title=marked(
        "outpatient procedures of a state: 7 quasi-identifiers and the procedure, 4,000 codes"
    ),
    source="Gonze, Lemes, Almeida, Gonçalves and Alvim 2025 (DATASUS SIA-PA 2023, São Paulo)",
    quasi_identifiers=(
        "sex",
        "race",
        "age",
        "city_of_residence",
        "establishment",
        "processing_month",
        "procedure_month",
    ),
    sensitive=("procedure",),
    published_records=RECORDS,
    most_records=120_000_000,
    together=VISIT_LIMIT,
    world=outpatient_world,
)


def _draw_establishments(cities: Cities, records: int, rng: np.random.Generator) -> Establishments:
    further = categories(cities.population, ESTABLISHMENTS - CITIES, rng)
    city = np.concatenate([np.arange(CITIES, dtype=np.int32), further])
    weight = rng.lognormal(0.0, SIZE_SPREAD, ESTABLISHMENTS)
    weight *= (cities.population / np.bincount(city, weight))[city]
    offered = OFFER_MEDIAN * rng.lognormal(0.0, OFFER_SPREAD, ESTABLISHMENTS)
    offer = np.clip(offered, 1, OFFER_LIMIT).astype(np.int32)
    beyond_first = VISIT_RECORDS * rng.exponential(1.0, ESTABLISHMENTS)
    return Establishments(
        code=np.arange(ESTABLISHMENTS, dtype=np.int32),
        city=city,
        size=whole_sizes(weight, total=records),
        offer=offer,
        offer_start=(np.cumsum(offer) - offer).astype(np.int32),
        unevenness=rng.normal(*UNEVENNESS, ESTABLISHMENTS).astype(np.float32),
        visit_end=(1 / (1 + beyond_first)).astype(np.float32),
        without_patient=beta_rates(*WITHOUT_PATIENT, ESTABLISHMENTS, rng),
        from_elsewhere=gamma_rates(*FROM_ELSEWHERE, ESTABLISHMENTS, rng),
    )


def _draw_offers(places: Establishments, rng: np.random.Generator) -> Codes:
    """Draw what each establishment performs: some of it what the city favours, the rest anything."""
    popularity = np.arange(1, PROCEDURES + 1) ** -POPULARITY_EXPONENT
    offers = categories(popularity, int(places.offer.sum()), rng)
    favourites = categories(popularity, CITIES * CITY_FAVOURITES, rng)
    local = np.flatnonzero(flags(LOCAL, len(offers), rng))
    city = np.repeat(places.city, places.offer)[local]
    rank = categories(np.arange(1, CITY_FAVOURITES + 1) ** -CITY_EXPONENT, len(local), rng)
    offers[local] = favourites[CITY_FAVOURITES * city + rank]
    return offers


def _visit_starts(
    positions: Codes, establishment: Codes, visit_end: Rates, rng: np.random.Generator
) -> Flags:
    """Begin a visit where the last one ended, and at every new group and establishment."""
    starts = flags(visit_end, len(positions), rng)
    starts |= positions % VISIT_LIMIT == 0
    starts[1:] |= establishment[1:] != establishment[:-1]
    return starts


def _months(size: int, rng: np.random.Generator) -> dict[str, Codes]:
    """Draw when visits were processed, and when, a little earlier, they took place."""
    processed = rng.integers(0, 12, size, dtype=np.int32)
    performed = processed + len(LAGS) - 1 - categories(LAGS, size, rng)
    return {"processing_month": processed, "procedure_month": performed}
