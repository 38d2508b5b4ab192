"""A synthetic population of adults, shaped like the voters of an American state.

Age, race, gender and postal code, the quasi-identifiers that Xia et al. 2015 took from the voter register of North
Carolina, and an illness as the sensitive attribute of what is published about some of them. Ages and races have the
rounded shares of the census of 2010: the ages of the United States (Howden and Meyer 2011, C2010BR-03, table 2), the
races of North Carolina (redistricting data, 9,535,483 people). All else is invented: the illnesses, who of the old are
women, and that postal codes are of very unequal size, as by Zipf's law, each with its own mix of races and ages;
without that, small groups would be far too rare.

`study` gives the three tables of an attack at once: everybody, a register of some of them, and a de-identified sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Codes, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.language import marked
from glasshouse.synthetic.draws import Rates, flags, place_of, whole_sizes
from glasshouse.synthetic.stream import Generator

RECORDS = 9_553_967
"""The inhabitants of North Carolina as Xia et al. 2015 state them (section 6.1)."""
REGISTER = 6_018_999
"""The voters in its register."""
PEOPLE_PER_CODE = 8_800
"""Mean number of people of a postal code: the inhabitants over 1,080 codes."""
CODE_EXPONENT, CODE_OFFSET = 1.1, 60.0
"""Sizes of postal codes fall as (rank + offset)^−exponent: Zipf's law with a flattened top, as cities are divided."""
FIRST_CODE = 27_000
"""The first postal code, as North Carolina's begin with 27 and 28."""

YOUNGEST, OLDEST = 18, 105
"""The ages of adults; the oldest stands for all who are older."""
AGE_BANDS = (
    *(18, 20, 25, 30, 35, 40, 45, 50),
    *(55, 60, 65, 70, 75, 80, 85),
)
"""Where the bands of ages begin."""
AGE_SHARES = (
    *(2.84, 7.0, 6.8, 6.5, 6.5, 6.8, 7.4, 7.2),
    *(6.4, 5.4, 4.0, 3.0, 2.4, 1.9, 1.8),
)
"""Per cent of all inhabitants of the United States in each band (Howden and Meyer 2011; of 15 to 19 two fifths)."""
OLD_AGE_DECAY = 0.14
"""From 85 on each year has so much less than the year before, on a logarithmic scale."""
FEMALE_YOUNG, FEMALE_OLD = 0.505, 0.67
"""Share of women below 60, and at 90, invented; in between it grows evenly."""

RACES = ("white", "black", "American Indian", "Asian", "other", "two or more")
RACE_SHARES = (0.685, 0.215, 0.013, 0.022, 0.043, 0.022)
"""Shares of the races in North Carolina (census of 2010); the 0.1 % of Pacific Islanders are left out."""
RACE_CONCENTRATION = 4.0
"""How alike the mixes of postal codes are (Dirichlet); the lower the more segregated."""
AGE_TILT = 0.012
"""Standard deviation of the tilt of a postal code's ages: per year, on a logarithmic scale."""

ILLNESSES = ("none", "hypertension", "diabetes", "asthma", "depression", "cancer", "HIV")
ILLNESS_BASE = (1.0, 0.05, 0.02, 0.08, 0.07, 0.005, 0.004)
"""Odds of the illnesses at 18, beside no illness: invented."""
ILLNESS_GROWTH = (0.0, 0.045, 0.045, 0.0, 0.0, 0.055, 0.0)
"""Growth of their logarithm per year of age."""


@dataclass(frozen=True, kw_only=True)
class PopulationWorld:
    """The postal codes, and who lives in them."""

    sizes: Codes
    """The people of each postal code."""
    races: Rates
    """Per postal code, the cumulated shares of the races."""
    tilt: Rates
    """Per postal code, how much older its people are than all."""

    @cached_property
    def labels(self) -> Mapping[str, pa.StringArray]:
        """The text of every code of every column."""
        texts = {
            "age": [str(age) for age in range(YOUNGEST, OLDEST + 1)],
            "race": RACES,
            "gender": ("female", "male"),
            "postal_code": [f"{FIRST_CODE + code:05}" for code in range(len(self.sizes))],
            "illness": ILLNESSES,
        }
        return {column: pa.array(values, pa.string()) for column, values in texts.items()}

    @cached_property
    def _bounds(self) -> Floats:
        """Per step of the tilt, the cumulated shares of the ages, raised by the step: one ascending list for all."""
        ages = np.arange(YOUNGEST, OLDEST + 1)
        tilts = _TILT_STEPS[:, None] * (ages - ages.mean())
        shares = age_shares() * np.exp(tilts)
        bounds = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        bounds[:, -1] = 1.0
        raised: Floats = (bounds + np.arange(float(len(_TILT_STEPS)))[:, None]).ravel()
        return raised

    def draw(self, positions: Codes, rng: np.random.Generator) -> Mapping[str, Codes]:
        """Draw the people at the given positions of the list."""
        code = place_of(positions, self.sizes)
        age = self._ages(code, rng)
        race_draw = rng.random(len(code), dtype=np.float32)[:, None]
        race = (self.races[code] < race_draw).sum(axis=1, dtype=np.int32)
        years = (age + YOUNGEST).astype(np.float32)
        grown = np.clip((years - 60) / 30, 0, 1)
        female = FEMALE_YOUNG + (FEMALE_OLD - FEMALE_YOUNG) * grown
        return {
            "age": age,
            "race": np.minimum(race, len(RACES) - 1),
            "gender": (~flags(female, len(code), rng)).astype(np.int32),
            "postal_code": code,
            "illness": _illnesses(age, rng),
        }

    def _ages(self, code: Codes, rng: np.random.Generator) -> Codes:
        step = np.searchsorted(_TILT_STEPS, self.tilt[code]).clip(0, len(_TILT_STEPS) - 1)
        ages = OLDEST - YOUNGEST + 1
        drawn = np.searchsorted(self._bounds, step + rng.random(len(code)), side="right")
        age: Codes = np.clip(drawn - step * ages, 0, ages - 1).astype(np.int32)
        return age


_TILT_STEPS = np.linspace(-3, 3, 25) * AGE_TILT


def age_shares() -> Floats:
    """Return the share of each age from 18 on: even within a band, and falling from 85 on."""
    shares = np.zeros(OLDEST - YOUNGEST + 1)
    ends = (*AGE_BANDS[1:], OLDEST + 1)
    for begin, end, share in zip(AGE_BANDS, ends, AGE_SHARES, strict=True):
        years = np.ones(end - begin)
        if begin == AGE_BANDS[-1]:
            years = np.exp(-OLD_AGE_DECAY * np.arange(end - begin))
        shares[begin - YOUNGEST : end - YOUNGEST] = share * years / years.sum()
    whole: Floats = shares / shares.sum()
    return whole


def population_world(records: int, rng: np.random.Generator) -> PopulationWorld:
    """Draw the postal codes of so many people."""
    codes = max(1, records // PEOPLE_PER_CODE)
    rank = np.arange(codes) + CODE_OFFSET * min(1.0, codes / 1_080) + 1
    weight = rank**-CODE_EXPONENT * rng.lognormal(0.0, 0.8, codes)
    mix = rng.dirichlet(RACE_CONCENTRATION * np.array(RACE_SHARES), codes)
    return PopulationWorld(
        sizes=whole_sizes(weight, total=records),
        races=np.cumsum(mix, axis=1).astype(np.float32),
        tilt=rng.normal(0.0, AGE_TILT, codes).astype(np.float32),
    )


POPULATION = Generator(
    name="population",
    title=marked(
        "adults of a state as in a voter register: 4 quasi-identifiers and an invented illness"
    ),
    source="Xia et al. 2015 (voter register of North Carolina; census of 2010)",
    quasi_identifiers=("age", "race", "gender", "postal_code"),
    sensitive=("illness",),
    published_records=RECORDS,
    most_records=50_000_000,
    together=1,
    world=population_world,
)


@dataclass(frozen=True)
class PopulationStudy:
    """Everybody, a register of some of them, and a de-identified sample of everybody."""

    population: pa.Table
    """Everybody: the quasi-identifiers."""
    register: pa.Table
    """Those in the register: a number that names the person, and the quasi-identifiers."""
    release: pa.Table
    """The sample: the quasi-identifiers and the illness, without a name."""
    truth: Integers
    """Per record of the release, the position of its person in the register; −1: the person is not in it."""

    @property
    def prior(self) -> float:
        """The probability that somebody is in the register: its share of everybody."""
        return int(self.register.num_rows) / int(self.population.num_rows)


def study(
    people: int, *, register: int | None = None, sample: int = 32_561, seed: int = 0
) -> PopulationStudy:
    """Make a population, a register that is a random part of it, and a de-identified random sample of it.

    Args:
        people: How many there are.
        register: How many of them are in the register; by default the publication's share of them, 63 %.
        sample: How many of them are in the release; by default as many as Adult has.
        seed: The same seed gives the same tables.

    Raises:
        StudyError: A number or the seed is not possible.

    >>> made = study(10_000, sample=100, seed=1)
    >>> made.register.num_rows, made.release.column_names, len(made.truth)
    (6300, ['age', 'race', 'gender', 'postal_code', 'illness'], 100)
    """
    batches = POPULATION.batches(people, seed=seed)
    listed = round(people * REGISTER / RECORDS) if register is None else register
    if not 1 <= listed <= people:
        raise StudyError(
            "a register of {people} people has 1 to {people}, not {given}",
            people=people,
            given=repr(listed),
        )
    if not 1 <= sample <= people:
        raise StudyError(
            "a sample of {people} people has 1 to {people}, not {given}",
            people=people,
            given=repr(sample),
        )
    everybody = pa.Table.from_batches(batches, schema=POPULATION.schema)
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    in_register = np.sort(chance.choice(people, listed, replace=False, shuffle=False))
    in_release = chance.choice(people, sample, replace=False)
    place = np.searchsorted(in_register, in_release)
    registered = np.append(in_register, -1)[place] == in_release
    known = everybody.select(POPULATION.quasi_identifiers)
    names = pa.array(chance.permutation(listed)).cast(pa.string())
    return PopulationStudy(
        population=known,
        register=known.take(pa.array(in_register)).add_column(0, "person", names),
        release=everybody.take(pa.array(in_release)),
        truth=np.where(registered, place, -1).astype(np.int64),
    )


def _illnesses(age: Codes, rng: np.random.Generator) -> Codes:
    """Draw illnesses, more of them with age."""
    ages = np.arange(OLDEST - YOUNGEST + 1)[:, None]
    odds = np.array(ILLNESS_BASE) * np.exp(np.array(ILLNESS_GROWTH) * ages)
    bounds = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1).astype(np.float32)
    drawn = rng.random(len(age), dtype=np.float32)
    illness = np.zeros(len(age), np.int32)
    for place in range(len(ILLNESSES) - 1):
        illness += drawn >= bounds[:, place][age]
    return illness
