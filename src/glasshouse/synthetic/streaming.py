"""What a generator of synthetic microdata is, and how its records are streamed.

A generator builds a *world* (cities, schools, establishments, their latent rates) from the seed and
the number of records, then draws the records batch by batch. Every batch has its own child seed, so
that it depends on the seed and the number of records only, not on the batches drawn before it, and
memory holds the world and one batch.

The order of the records must not help an algorithm. The world lists its records place by place;
small groups of neighbours in this list are dealt out to the batches like cards (group k to batch
k mod B), and each batch is then shuffled, so that every batch is a cross-section of the whole
country. Groups, because relatives and records of one visit have to be drawn together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Protocol

import numpy as np
import pyarrow as pa

from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.synthetic.draws import Codes

BATCH_RECORDS = 1 << 19
"""About the most records in one batch: a compromise between memory and repeated dictionaries."""

_WORLD, _BATCH = 0, 1


class World(Protocol):
    """Everything that is drawn once, before the first record."""

    @property
    def labels(self) -> Mapping[str, pa.StringArray]:
        """The text of every code of every column."""

    def draw(self, positions: Codes, rng: np.random.Generator) -> Mapping[str, Codes]:
        """Draw the records at the given ascending positions of the world's list."""


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A synthetic release: what it imitates, its columns and how to draw it."""

    name: str
    """The name in commands and studies, such as "school-census"."""
    title: str
    """One line for a person who chooses."""
    source: str
    """The publication whose figures it is calibrated to."""
    quasi_identifiers: tuple[str, ...]
    """The columns an adversary may know, in the order of the release."""
    sensitive: tuple[str, ...]
    """The columns an adversary wants to learn; they follow the quasi-identifiers."""
    published_records: int
    """The size of the release it imitates."""
    most_records: int
    """The largest size that can be asked for."""
    together: int
    """How many neighbours in the world's list are dealt out and drawn together."""
    world: Callable[[int, np.random.Generator], World]
    """Builds the world for a number of records."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in order."""
        return self.quasi_identifiers + self.sensitive

    @property
    def schema(self) -> pa.Schema:
        """Every column is text, dictionary-encoded."""
        kind = pa.dictionary(pa.int32(), pa.string())
        return pa.schema([pa.field(column, kind, nullable=False) for column in self.columns])

    def batches(self, records: int, *, seed: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield the records in batches; the same seed and number give the same records.

        Raises:
            StudyError: the number of records or the seed is out of range (before the first batch).
        """
        self._check(records, seed)
        return self._stream(records, seed)

    def _check(self, records: int, seed: int) -> None:
        if not _is_whole(records) or not 1 <= records <= self.most_records:
            raise StudyError(
                text(
                    "{generator} makes 1 to {most} records, not {given}",
                    generator=self.name,
                    most=self.most_records,
                    given=repr(records),
                )
            )
        if not _is_whole(seed) or seed < 0:
            raise StudyError(
                text("the seed is a whole number from 0 on, not {given}", given=repr(seed))
            )

    def _stream(self, records: int, seed: int) -> Iterator[pa.RecordBatch]:
        world = self.world(records, _child(seed, _WORLD))
        parts = -(-records // BATCH_RECORDS)
        for part in range(parts):
            positions = dealt(records, together=self.together, part=part, parts=parts)
            yield self._batch(world, positions, _child(seed, _BATCH, part))

    def _batch(self, world: World, positions: Codes, rng: np.random.Generator) -> pa.RecordBatch:
        drawn = world.draw(positions, rng)
        order = rng.permutation(len(positions))
        arrays = [
            pa.DictionaryArray.from_arrays(pa.array(drawn[column][order]), world.labels[column])
            for column in self.columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def dealt(records: int, *, together: int, part: int, parts: int) -> Codes:
    """Return the ascending positions of one part when groups of records are dealt out like cards.

    >>> dealt(9, together=2, part=0, parts=2).tolist()
    [0, 1, 4, 5, 8]
    >>> dealt(9, together=2, part=1, parts=2).tolist()
    [2, 3, 6, 7]
    """
    first = np.arange(together * part, records, together * parts, dtype=np.int32)
    positions: Codes = np.add.outer(first, np.arange(together, dtype=np.int32)).ravel()
    return positions[positions < records]


def _child(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
