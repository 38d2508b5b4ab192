"""A synthetic national school census, shaped like Brazil's of 2018.

Eleven quasi-identifiers and two sensitive attributes of up to 50 million students, after Alvim,
Fernandes, McIver, Morgan and Nunes 2022, "Flexible and scalable privacy assessment for very large
datasets" (their tables 5 to 7 and 11, section 5.2). The published risks depend on a few distributions,
and these are what the generator models: how students spread over cities and schools, which ages a
school teaches, how rates of disability, transport and missing answers differ between schools, how
far from their school students live and were born, and twins. `papers/alvim2022.md` has the figures
that come out beside the published ones.

A second census has the same students a year later. The shares of those who leave, change school or declare another
ethnicity are assumptions, of the order that school statistics report; they are not calibrated to a publication. Whoever
changes school goes to that of a random student who lives in the same city, and travels as one does there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Codes, Integers
from glasshouse.errors import DataError
from glasshouse.language import marked, quoted
from glasshouse.synthetic.draws import (
    Rates,
    below,
    beta_rates,
    categories,
    flags,
    gamma_rates,
    place_of,
    whole_sizes,
)
from glasshouse.synthetic.geography import BRAZIL, Cities, Places, draw_cities
from glasshouse.synthetic.stream import Generator

CITIES = BRAZIL.cities

STUDENTS = 48_176_423
"""Students of the 2018 census, one record each (Alvim et al. 2022, table 5)."""
SCHOOLS = 180_000
"""Schools of the census, rounded."""
CENSUS_YEAR, FIRST_YEAR = 2018, 1937
"""The year of the census, and the first year of birth."""

SCHOOL_TYPES = ("municipal", "state", "private", "federal")
ETHNICITIES = ("not declared", "white", "brown", "black", "Asian", "indigenous")
NATIONALITIES = ("Brazilian", "Brazilian born abroad", "foreign")
COUNTRIES = ("Brazil", *(f"country {code:03}" for code in range(1, 180)))

LEAVING = 0.08
"""The share of students who are not in the census a year later."""
CHANGING_SCHOOL = 0.12
"""The share of those who stay that are at another school."""
DECLARING_ANEW = 0.05
"""The share of those who stay whose ethnicity is declared as that of a random student of their school."""
WITH_THE_SCHOOL = ("school", "school_type", "transport")
NEEDED = ("city_of_residence", "ethnicity", *WITH_THE_SCHOOL)


@dataclass(frozen=True)
class Stage:
    """A kind of school, by the ages it teaches."""

    name: str
    share: float
    """Of all schools."""
    youngest: int
    """Age that the youngest reach in the year of the census."""
    oldest: int
    size: float
    """Students, relative to the other schools of the city."""
    adults: float
    """Mean share of students of any age from 15 (adult and vocational education)."""
    types: tuple[float, float, float, float]
    """Shares of `SCHOOL_TYPES`."""


STAGES = (
    Stage("nursery", 0.16, 1, 5, 0.7, 0.00, (0.62, 0.00, 0.38, 0.000)),
    Stage("first years", 0.25, 4, 11, 0.8, 0.02, (0.84, 0.04, 0.12, 0.000)),
    Stage("fundamental", 0.27, 6, 15, 1.0, 0.05, (0.70, 0.21, 0.09, 0.000)),
    Stage("secondary", 0.12, 10, 18, 1.4, 0.14, (0.10, 0.83, 0.06, 0.010)),
    Stage("all-through", 0.14, 3, 18, 1.0, 0.02, (0.40, 0.12, 0.48, 0.001)),
    Stage("upper secondary", 0.06, 15, 20, 1.2, 0.35, (0.02, 0.68, 0.24, 0.060)),
)
"""Chosen so that ages and school types come near those of the country's enrolment."""

REFERENCE_CITY = 100_000
"""Population of the city for which rates that depend on the population are stated."""

SIZE_SPREAD = 1.10
"""Standard deviation of the logarithm of school sizes within a city."""
SCHOOLS_BY_POPULATION = 0.9
"""Exponent: schools are fewer, and larger, per person in large cities."""
LARGEST_SCHOOL = 2_800
TINY_SHARE, TINY_LIMIT = 0.0035, 7
"""Share of remote or specialised schools of a handful of students, and the size they stay below."""

DISABILITY = (0.0206, 1.0)
"""Mean rate and gamma shape in ordinary schools: many schools have no student with a disability."""
SPECIAL_SCHOOLS, SPECIAL_RATE = 0.0045, 0.95
"""Share of special schools, and the disability rate in them."""

TRANSPORT_RATE, TRANSPORT_SHAPE = 0.238, 0.6
"""Mean rate in the reference city, and gamma shape: many cities run hardly any buses."""
TRANSPORT_BY_POPULATION = -0.25
"""Exponent: transport serves the country, less the large cities."""
TRANSPORT_BY_TYPE = (1.0, 1.0, 0.25, 0.25)
"""Against the city's rate, by `SCHOOL_TYPES`: private schools seldom have public transport."""
TRANSPORT_CONCENTRATION = 2.4
"""Within a city it differs by school: one village is bused, one suburb walks."""
EXEMPT_SCHOOLS, EXEMPT_RATE = 0.012, 0.67
"""Share of schools that leave the question out for most students, and for how many of them."""

UNDECLARED_ETHNICITY = (0.28, 1.25)
"""Mean and concentration of a school's share of students without an ethnicity."""
WHITE = (0.457, 3.5)
"""Mean and concentration of a school's share of white students among the others."""
OTHER_ETHNICITIES = (0.88, 0.095, 0.01, 0.015)
"""Shares of brown, black, Asian and indigenous among those declared and not white."""

COMMUTERS = (0.035, 0.5)
"""Mean and gamma shape of a school's share of students who live elsewhere in the region."""
UNDECLARED_RESIDENCE = (0.205, 0.5)
"""Mean and concentration of a school's share of students without a city of residence.

Assumed: without a large class of unknown residence, date of birth, gender and city would settle
the disability of far more students than the published 65.54 %."""

ABROAD = 0.0038
"""Students born abroad."""
ABROAD_NATIONALITIES = (0.34, 0.66)
"""Shares of Brazilian and foreign among those born abroad."""
COUNTRY_EXPONENT = 1.3
"""Countries of birth follow a power law."""
BORN_AT_HOME, BORN_AT_HOME_EXPONENT, BORN_AT_HOME_LIMITS = 0.583, 0.3, (0.22, 0.82)
"""Share born where they live in the reference city, how it grows with the population, and its
limits: small towns have no maternity ward."""
BIRTHPLACES = (0.84, 0.115, 0.045)
"""Of those born elsewhere: in the hub of the region, in another city of it, or anywhere."""

TWINS = 0.016
"""Chance that the second of two neighbours in the list of a school is the twin of the first."""
TWINS_ALIKE = 0.4
"""Chance that twins are identical; the others share their gender by chance."""
TWINS_SHARE = (
    "day_of_birth",
    "month_of_birth",
    "year_of_birth",
    "ethnicity",
    "nationality",
    "country_of_birth",
    "city_of_birth",
    "city_of_residence",
    "transport",
)

MALE = 0.51

LATE = (0.91, 0.06, 0.03)
"""Students in time, one year late and two years late (repeated grades)."""
ADULT_AGE = (1.3, 9.0)
"""Gamma shape and scale of an adult's years after 15."""

_MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LEAP_DAY = 59
_MONTH = np.repeat(np.arange(12, dtype=np.int32), _MONTH_LENGTHS)
_DAY_OF_MONTH = np.concatenate([np.arange(days, dtype=np.int32) for days in _MONTH_LENGTHS])
"""Month and day of month, both from 0, of each day of a leap year, from 0."""


@dataclass(frozen=True, kw_only=True)
class Schools(Places):
    """The schools of a release and the rates that their students are drawn from."""

    school_type: Codes
    """Who runs it."""
    youngest: Codes
    """The first age it teaches."""
    ages: Codes
    """How many years of age it teaches."""
    adults: Rates
    """Share of students of any age from 15."""
    undeclared_ethnicity: Rates
    """Share of students without an ethnicity."""
    white: Rates
    """Share of white students among the others."""
    disability: Rates
    """Share of students with a disability."""
    transport: Rates
    """Share of students with public school transport."""
    exempt: Rates
    """Share of students for whom the question of transport is left out."""
    commuters: Rates
    """Share of students who live elsewhere in the region."""
    undeclared_residence: Rates
    """Share of students without a city of residence."""


@dataclass(frozen=True)
class SchoolWorld:
    """The cities, and the schools that the records asked for attend."""

    cities: Cities
    """All cities of the country."""
    schools: Schools
    """The schools kept, city by city; their students are the list that records are drawn from."""

    @cached_property
    def labels(self) -> Mapping[str, pa.StringArray]:
        """The text of every code of every column."""
        cities = [f"city {code:04}" for code in range(CITIES)]
        texts = {
            "day_of_birth": [str(day) for day in range(1, 32)],
            "month_of_birth": [str(month) for month in range(1, 13)],
            "year_of_birth": [str(year) for year in range(FIRST_YEAR, CENSUS_YEAR)],
            "gender": ["F", "M"],
            "ethnicity": ETHNICITIES,
            "nationality": NATIONALITIES,
            "country_of_birth": COUNTRIES,
            "city_of_birth": [*cities, "abroad"],
            "city_of_residence": [*cities, "not declared"],
            "school": [f"school {code:06}" for code in self.schools.code.tolist()],
            "school_type": SCHOOL_TYPES,
            "disability": ["no", "yes"],
            "transport": ["no", "yes", "n-a"],
        }
        return {column: pa.array(text, pa.string()) for column, text in texts.items()}

    def draw(self, positions: Codes, rng: np.random.Generator) -> Mapping[str, Codes]:
        """Draw the students at the given positions of the list, pairs of neighbours together."""
        size = len(positions)
        row = place_of(positions, self.schools.size)
        school = self.schools.take(row)
        home = _homes(school, self.cities, rng)
        undeclared = flags(school.undeclared_residence, size, rng)
        students = {
            "gender": flags(MALE, size, rng).astype(np.int32),
            "ethnicity": _ethnicities(school, rng),
            "city_of_residence": np.where(undeclared, np.int32(CITIES), home),
            "school": row,
            "school_type": school.school_type,
            "disability": flags(school.disability, size, rng).astype(np.int32),
            "transport": _transport(school, rng),
            **_births(school, rng),
            **_birthplaces(home, self.cities, rng),
        }
        _make_twins(students, rng)
        return students


def school_world(records: int, rng: np.random.Generator) -> SchoolWorld:
    """Build the country and keep as many whole cities as the number of records needs."""
    cities = draw_cities(BRAZIL, rng)
    schools = _draw_schools(cities, max(records, STUDENTS), rng)
    return SchoolWorld(cities, schools.whole_cities(records, rng))


SCHOOL_CENSUS = Generator(
    name="school-census",
    title=marked("a national school census: 11 quasi-identifiers, disability and school transport"),
    source="Alvim, Fernandes, McIver, Morgan and Nunes 2022 (Brazil's school census of 2018)",
    quasi_identifiers=(
        "day_of_birth",
        "month_of_birth",
        "year_of_birth",
        "gender",
        "ethnicity",
        "nationality",
        "country_of_birth",
        "city_of_birth",
        "city_of_residence",
        "school",
        "school_type",
    ),
    sensitive=("disability", "transport"),
    published_records=STUDENTS,
    most_records=50_000_000,
    together=2,
    world=school_world,
)


def a_year_later(students: pa.Table, *, seed: int = 0) -> pa.Table:
    """Return a census of the same students one year later, in another order.

    Args:
        students: The census, with an identifier of each student if they are to be found again.
        seed: What the changes follow from.

    Raises:
        DataError: A column of the school census is missing.

    >>> from glasshouse import synthetic
    >>> later = a_year_later(synthetic.table("school-census", records=1_000))
    >>> 900 < later.num_rows < 940
    True
    """
    missing = [name for name in NEEDED if name not in students.column_names]
    if missing:
        raise DataError(
            "the census has no column {columns}; make it with school-census",
            columns=quoted(missing),
        )
    rng = np.random.default_rng(seed)
    staying = np.flatnonzero(rng.random(students.num_rows) >= LEAVING)
    rng.shuffle(staying)
    later = students.take(pa.array(staying))
    moved = np.flatnonzero(rng.random(len(staying)) < CHANGING_SCHOOL)
    likeness = _alike(later.column("city_of_residence"), moved, rng)
    for name in WITH_THE_SCHOOL:
        later = _with_values_of(later, name, moved, likeness)
    declared = np.flatnonzero(rng.random(len(staying)) < DECLARING_ANEW)
    return _with_values_of(
        later, "ethnicity", declared, _alike(later.column("school"), declared, rng)
    )


def _draw_schools(cities: Cities, students: int, rng: np.random.Generator) -> Schools:
    # Every city has a school, and further ones by its population.
    further = categories(cities.population**SCHOOLS_BY_POPULATION, SCHOOLS - CITIES, rng)
    city = np.concatenate([np.arange(CITIES, dtype=np.int32), further])
    stage = categories([stage.share for stage in STAGES], SCHOOLS, rng)
    school_type = _school_types(stage, rng)
    youngest = np.array([stage.youngest for stage in STAGES], dtype=np.int32)
    oldest = np.array([stage.oldest for stage in STAGES], dtype=np.int32)
    adults = np.array([stage.adults for stage in STAGES], dtype=np.float32)
    return Schools(
        code=np.arange(SCHOOLS, dtype=np.int32),
        city=city,
        size=_school_sizes(cities, city, stage, students, rng),
        school_type=school_type,
        youngest=youngest[stage],
        ages=(oldest - youngest + 1)[stage],
        adults=gamma_rates(adults[stage], 1.0, SCHOOLS, rng),
        undeclared_ethnicity=beta_rates(*UNDECLARED_ETHNICITY, SCHOOLS, rng),
        white=beta_rates(*WHITE, SCHOOLS, rng),
        disability=_disability_rates(rng),
        transport=_transport_rates(cities, city, school_type, rng),
        exempt=flags(EXEMPT_SCHOOLS, SCHOOLS, rng) * np.float32(EXEMPT_RATE),
        commuters=gamma_rates(*COMMUTERS, SCHOOLS, rng),
        undeclared_residence=beta_rates(*UNDECLARED_RESIDENCE, SCHOOLS, rng),
    )


def _school_types(stage: Codes, rng: np.random.Generator) -> Codes:
    bounds = np.cumsum([stage.types for stage in STAGES], axis=1)
    drawn = rng.random(len(stage)) * bounds[stage, -1]
    types: Codes = (drawn[:, None] >= bounds[stage]).sum(axis=1, dtype=np.int32)
    return types


def _school_sizes(
    cities: Cities, city: Codes, stage: Codes, students: int, rng: np.random.Generator
) -> Codes:
    """Log-normal sizes within each city, scaled to its population; a few tiny schools anywhere."""
    factor = np.array([stage.size for stage in STAGES])
    weight = factor[stage] * rng.lognormal(0.0, SIZE_SPREAD, SCHOOLS)
    weight *= (cities.population / np.bincount(city, weight, minlength=CITIES))[city]
    size = np.minimum(weight * (students / weight.sum()), LARGEST_SCHOOL)
    tiny = flags(TINY_SHARE, SCHOOLS, rng)
    size[tiny] = rng.integers(1, TINY_LIMIT, tiny.sum())
    return whole_sizes(size, total=students)


def _disability_rates(rng: np.random.Generator) -> Rates:
    rates = gamma_rates(*DISABILITY, SCHOOLS, rng)
    rates[flags(SPECIAL_SCHOOLS, SCHOOLS, rng)] = SPECIAL_RATE
    return rates


def _transport_rates(
    cities: Cities, city: Codes, school_type: Codes, rng: np.random.Generator
) -> Rates:
    rural = (cities.population / REFERENCE_CITY) ** TRANSPORT_BY_POPULATION
    served = gamma_rates(TRANSPORT_RATE * rural, TRANSPORT_SHAPE, CITIES, rng)
    mean = served[city] * np.array(TRANSPORT_BY_TYPE, dtype=np.float32)[school_type]
    return beta_rates(mean, TRANSPORT_CONCENTRATION, SCHOOLS, rng)


def _births(school: Schools, rng: np.random.Generator) -> dict[str, Codes]:
    """Draw dates of birth: the ages that the school teaches, late students, and adults."""
    size = len(school.ages)
    age = school.youngest + below(school.ages, rng) + categories(LATE, size, rng)
    adult = np.flatnonzero(flags(school.adults, size, rng))
    age[adult] = 15 + rng.gamma(*ADULT_AGE, len(adult)).astype(np.int32)
    year = np.maximum(CENSUS_YEAR - age, FIRST_YEAR)
    leap = year % 4 == 0
    day = below(np.where(leap, np.int32(366), np.int32(365)), rng)
    day[~leap & (day >= _LEAP_DAY)] += 1
    return {
        "day_of_birth": _DAY_OF_MONTH[day],
        "month_of_birth": _MONTH[day],
        "year_of_birth": year - FIRST_YEAR,
    }


def _ethnicities(school: Schools, rng: np.random.Generator) -> Codes:
    size = len(school.white)
    ethnicity = 2 + categories(OTHER_ETHNICITIES, size, rng)
    ethnicity[flags(school.white, size, rng)] = 1
    ethnicity[flags(school.undeclared_ethnicity, size, rng)] = 0
    return ethnicity


def _homes(school: Schools, cities: Cities, rng: np.random.Generator) -> Codes:
    """Draw where students live: in the city of the school, some elsewhere in its region."""
    home = school.city.copy()
    away = np.flatnonzero(flags(school.commuters, len(home), rng))
    home[away] = cities.neighbour(home[away], rng)
    return home


def _birthplaces(home: Codes, cities: Cities, rng: np.random.Generator) -> dict[str, Codes]:
    """Draw cities of birth, and for the few who were born abroad country and nationality."""
    city = _birth_cities(home, cities, rng)
    country = np.zeros_like(home)
    nationality = np.zeros_like(home)
    abroad = np.flatnonzero(flags(ABROAD, len(home), rng))
    ranks = np.arange(1, len(COUNTRIES))
    city[abroad] = CITIES
    country[abroad] = 1 + categories(ranks**-COUNTRY_EXPONENT, len(abroad), rng)
    nationality[abroad] = 1 + categories(ABROAD_NATIONALITIES, len(abroad), rng)
    return {"nationality": nationality, "country_of_birth": country, "city_of_birth": city}


def _birth_cities(home: Codes, cities: Cities, rng: np.random.Generator) -> Codes:
    """Draw the city of the maternity ward: at home, in the hub of the region, or elsewhere."""
    relative = cities.population / REFERENCE_CITY
    at_home = BORN_AT_HOME * relative**BORN_AT_HOME_EXPONENT
    at_home = np.clip(at_home, *BORN_AT_HOME_LIMITS)
    city = home.copy()
    away = np.flatnonzero(~flags(at_home[home], len(home), rng))
    place = categories(BIRTHPLACES, len(away), rng)
    in_hub, in_region, anywhere = (away[place == where] for where in range(3))
    city[in_hub] = cities.hub(home[in_hub])
    city[in_region] = cities.neighbour(home[in_region], rng)
    city[anywhere] = categories(cities.population, len(anywhere), rng)
    return city


def _transport(school: Schools, rng: np.random.Generator) -> Codes:
    size = len(school.transport)
    transport = flags(school.transport, size, rng).astype(np.int32)
    transport[flags(school.exempt, size, rng)] = 2
    return transport


def _make_twins(students: dict[str, Codes], rng: np.random.Generator) -> None:
    """Make the second of some pairs of neighbours the twin of the first, in place."""
    school = students["school"]
    second = np.arange(1, len(school), 2)
    second = second[school[second] == school[second - 1]]
    second = second[flags(TWINS, len(second), rng)]
    for column in TWINS_SHARE:
        students[column][second] = students[column][second - 1]
    alike = second[flags(TWINS_ALIKE, len(second), rng)]
    students["gender"][alike] = students["gender"][alike - 1]


def _alike(column: pa.ChunkedArray, places: Integers, rng: np.random.Generator) -> Integers:
    """Return, for each place, a random place with the same value."""
    codes = column.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    first, size = starts[codes[places]], np.diff(starts)[codes[places]]
    alike: Integers = order[first + (rng.random(len(places)) * size).astype(np.int64)]
    return alike


def _with_values_of(table: pa.Table, name: str, places: Integers, origins: Integers) -> pa.Table:
    """Return the table with the values of other places in some places of one column."""
    taken = np.arange(table.num_rows)
    taken[places] = origins
    column = table.column(name).take(pa.array(taken))
    return table.set_column(table.column_names.index(name), name, column)
