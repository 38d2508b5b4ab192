"""Synthetic visits to clinics: several records per person, under a pseudonym. Invented, not calibrated.

People live near a clinic, and mostly go there; some visits are to clinics nearby, a few to any. How many visits a
person has is uneven, and the days of the year are as likely. A few people are treated for mental disorders (ICD-10
chapter F), over and over. Visits of one person do not depend on each other beyond that, which real ones do: the figures
of a real file may be higher or lower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Codes, Flags
from glasshouse.language import marked
from glasshouse.synthetic.draws import Rates, categories, flags, place_of
from glasshouse.synthetic.stream import Generator

FIRST_DAY, DAYS = date(2025, 1, 1), 365
"""The days of the release."""
VISITS_MEAN, VISITS_SHAPE, VISITS_MOST = 9.0, 2.0, 84
"""Of the visits of a person beyond the first: their mean and shape (negative binomial); and the most of all."""
CLINIC_PEOPLE, CLINICS_LEAST, CLINIC_SPREAD = 200, 20, 0.8
"""How many people there are for a clinic, the fewest clinics, and the spread of the logarithm of their size."""
AT_HOME, NEARBY, NEAR = 0.55, 0.25, 6
"""Shares of visits to the clinic of one's home, and to one of so many on either side of it; the others are anywhere."""
PRONE, TREATED = 0.1, 0.3
"""The share of people with a mental disorder, and of their visits that are for it."""
DIAGNOSES = (
    *("I10", "J00", "J06", "E11", "M54", "N39", "K21", "Z00", "R51", "H10", "L20", "A09"),
    *("I25", "J45", "E78", "M25", "K29", "R10", "Z34", "C50", "D50", "G43", "S93", "B34"),
)
DISORDERS = ("F32", "F41", "F33", "F10", "F20")
"""Three-character codes of ICD-10, the most frequent first."""


@dataclass(frozen=True, kw_only=True)
class VisitsWorld:
    """The people, how many visits each has and where they live, and the clinics."""

    visits: Codes
    """The visits of each person."""
    home: Codes
    """The clinic nearest to each."""
    prone: Flags
    """Whether each is treated for a mental disorder."""
    sizes: Rates
    """How many people go to each clinic from anywhere, up to a factor."""

    @cached_property
    def labels(self) -> Mapping[str, pa.StringArray]:
        """The text of every code of every column."""
        texts = {
            "pseudonym": [f"p{code:08}" for code in range(len(self.visits))],
            "clinic": [f"clinic {code:05}" for code in range(len(self.sizes))],
            "day": [(FIRST_DAY + timedelta(days=day)).isoformat() for day in range(DAYS)],
            "diagnosis": (*DIAGNOSES, *DISORDERS),
        }
        return {column: pa.array(values, pa.string()) for column, values in texts.items()}

    def draw(self, positions: Codes, rng: np.random.Generator) -> Mapping[str, Codes]:
        """Draw the visits at the given positions of the list."""
        person = place_of(positions, self.visits)
        number = len(person)
        home, clinics = self.home[person], len(self.sizes)
        where = rng.random(number, dtype=np.float32)
        near = (home + rng.integers(-NEAR, NEAR + 1, number)) % clinics
        anywhere = categories(self.sizes, number, rng)
        clinic = np.where(where < AT_HOME, home, np.where(where < AT_HOME + NEARBY, near, anywhere))
        ranks = [1 / rank for rank in range(1, len(DIAGNOSES) + 1)]
        disorders = ranks[: len(DISORDERS)]
        treated = self.prone[person] & flags(TREATED, number, rng)
        usual = categories(ranks, number, rng)
        mental = len(DIAGNOSES) + categories(disorders, number, rng)
        return {
            "pseudonym": person,
            "clinic": clinic.astype(np.int32),
            "day": rng.integers(0, DAYS, number, dtype=np.int32),
            "diagnosis": np.where(treated, mental, usual).astype(np.int32),
        }


def visits_world(records: int, rng: np.random.Generator) -> VisitsWorld:
    """Build as many people as have so many visits; the last one is cut at their number."""
    chance = VISITS_SHAPE / (VISITS_SHAPE + VISITS_MEAN)
    drawn = 1 + rng.negative_binomial(VISITS_SHAPE, chance, records // 8 + 100)
    visits = np.minimum(drawn, VISITS_MOST)
    while visits.sum() < records:
        visits = np.concatenate([visits, visits])
    ends = np.cumsum(visits)
    last = int(np.searchsorted(ends, records))
    visits = visits[: last + 1].astype(np.int32)
    visits[-1] -= ends[last] - records
    people = len(visits)
    clinics = max(CLINICS_LEAST, people // CLINIC_PEOPLE)
    sizes = rng.lognormal(0.0, CLINIC_SPREAD, clinics).astype(np.float32)
    return VisitsWorld(
        visits=visits,
        home=categories(sizes, people, rng),
        prone=flags(PRONE, people, rng),
        sizes=sizes,
    )


VISITS = Generator(
    name="visits",
    title=marked(
        "visits to clinics under a pseudonym, several per person: clinic, day and diagnosis, invented"
    ),
    source="invented",
    quasi_identifiers=("clinic", "day"),
    sensitive=("diagnosis",),
    person="pseudonym",
    published_records=10_000_000,
    most_records=200_000_000,
    together=VISITS_MOST,
    world=visits_world,
)
