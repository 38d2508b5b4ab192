"""Records of a study as packed words that stay on their cluster, and what is known of them here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from glasshouse.arrays import Integers
from glasshouse.engines.spark.steps import gathered, value_of, values_in, word_names
from glasshouse.errors import DataError
from glasshouse.microdata.attack_kernels import Weights
from glasshouse.microdata.sweep_steps import SAMPLED_RECORDS, Packing, refinement_order
from glasshouse.table import EncodedColumn, EncodedTable, Step


@dataclass(frozen=True)
class PackedRelease:
    """The records of a study as packed words, and what is known of them here."""

    name: str
    """What results call it."""
    frame: DataFrame
    """A column per word, and how many equal records each stands for."""
    texts: DataFrame
    """The same, and the columns as they are written, where they were asked for: not kept, but worked out anew."""
    sources: tuple[str, ...]
    """What those columns are called."""
    packing: Packing
    """How they are packed."""
    records: int
    """How many records belong to the study."""
    totals: tuple[Integers, ...]
    """Per secret and value, how many records have it."""
    tallies: tuple[Integers, ...]
    """Per attribute and value, likewise."""
    values: tuple[Any, ...]
    """Per attribute, its first column and what the values of it stand for; None: that is not told of."""
    firsts: tuple[Integers | None, ...]
    """Per attribute and value, that of its first column; None: it is the only one."""
    unknown: tuple[int | None, ...]
    """Per secret, the value that stands for missing, where there is one that is not learned."""
    steps: tuple[Step, ...] = ()
    """What was left out, and how columns are seen."""
    suppressed: int = 0
    """How many records hold nothing but ``*``, be they left out or not."""
    kept: tuple[DataFrame, ...] = ()
    """Frames that it is made of, which the cluster keeps."""
    criterion: Any = None
    """Where the column stands that tells parts apart, if there is one."""
    weight: Any = None
    """Where the weight of a record stands, if they have weights."""
    weight_name: str | None = None
    """What that column is called."""
    weights: Weights | None = None
    """The weights behind its codes, what they add up to, and the largest."""
    parts: tuple[tuple[str, int, int], ...] = ()
    """Its values, their codes, and how many records have each."""

    def by_first(self, place: int, counts: Integers) -> Integers:
        """Return counts by value of an attribute as counts by value of its first column."""
        firsts = self.firsts[place]
        if firsts is None:
            return counts
        totals = np.zeros(len(self.values[place][1]), np.int64)
        np.add.at(totals, firsts, counts)
        return totals

    def let_go(self) -> None:
        """Let go of the records."""
        for frame in (self.frame, *self.kept):
            frame.unpersist()

    def part(self, value: str, code: int, records: int) -> PackedRelease:
        """Return the records with one value of the column that tells parts apart."""
        frame = self.frame.where(value_of(self.criterion) == code)
        totals = tuple(tally(frame, self.packing.secrets, self.packing.words))
        return replace(
            self,
            name=f"{self.name}: {value}",
            frame=frame,
            records=records,
            totals=totals,
            unknown=tuple(
                None if missing is None or not counts[missing] else missing
                for missing, counts in zip(self.unknown, totals, strict=True)
            ),
        )

    def weighed(self) -> PackedRelease:
        """Return the release with totals of weights, and the weight of a record behind the secrets.

        Raises:
            DataError: All weigh nothing.
        """
        if self.weights is None:
            return self
        each = self.weights.each
        packing = self.packing._replace(secrets=np.append(self.packing.secrets, self.weight))
        *totals, counts = tally(self.frame, packing.secrets, packing.words, each)
        weights = Weights(each, int(counts.sum()), int(each[counts > 0].max(initial=0)))
        if not weights.total:
            raise DataError(
                '{table}: every weight in column "{name}" is 0; give a positive one to somebody',
                table=self.name,
                name=self.weight_name,
            )
        return replace(self, packing=packing, totals=tuple(totals), weights=weights)

    def of_known(self, secret: int) -> PackedRelease:
        """Return the records of which a secret is known, with this one only."""
        code, totals = self.unknown[secret], self.totals[secret].copy()
        totals[code] = 0
        return replace(
            self.with_secrets([secret]),
            frame=self.frame.where(value_of(self.packing.secrets[secret]) != code),
            records=int(totals.sum()),
            totals=(totals,),
        )

    def with_secrets(self, places: Sequence[int]) -> PackedRelease:
        """Return the records with some of the secrets."""
        packing = self.packing._replace(secrets=self.packing.secrets[list(places)])
        return replace(self, packing=packing, totals=tuple(self.totals[i] for i in places))

    def order(self, names: Sequence[str]) -> list[int]:
        """Return the order of refinement, which one task chooses by some records: the same ones wherever they stand."""
        stride = max(1, self.records // SAMPLED_RECORDS)
        chosen = sf.xxhash64(*word_names(self.packing)) % stride == 0
        for some in (self.frame.where(chosen).limit(4 * SAMPLED_RECORDS), self.frame):
            rows = (
                some.limit(4 * SAMPLED_RECORDS)
                .coalesce(1)
                .mapInArrow(partial(_ordered, packing=self.packing, names=names), "place int")
                .collect()
            )
            if rows:
                break
        return [row["place"] for row in rows]


def tally(
    frame: DataFrame, fields: Sequence[Any], words: int, weights: Integers | None = None
) -> list[Integers]:
    """Count the values of attributes and secrets in packed records; or add up the weights behind the last's codes."""
    tallies = [np.zeros(int(entry["size"]), np.int64) for entry in fields]
    rows = (
        frame.mapInArrow(
            partial(_tallied, fields=fields, words=words, weights=weights),
            "place int, code int, n long",
        )
        .groupBy("place", "code")
        .agg(sf.sum("n").alias("n"))
        .toArrow()
    )
    for place, counts in enumerate(tallies):
        of_place = rows.filter(pc.equal(rows["place"], place))
        counts[of_place["code"].to_numpy()] = of_place["n"].to_numpy()
    return tallies


def _ordered(
    batches: Iterator[pa.RecordBatch], *, packing: Packing, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    records, counts = gathered(batches, packing.words)
    if not len(counts):
        return
    columns = {
        name: EncodedColumn(
            name, values_in(records, packing.words, attribute), pa.nulls(0, pa.large_string())
        )
        for name, attribute in zip(names, packing.attributes, strict=True)
    }
    order = refinement_order(EncodedTable("", len(counts), columns, {}), names)
    yield as_rows(place=np.array(order, np.int32))


def _tallied(
    batches: Iterator[pa.RecordBatch],
    *,
    fields: Sequence[Any],
    words: int,
    weights: Integers | None,
) -> Iterator[pa.RecordBatch]:
    records, counts = gathered(batches, words)
    if weights is not None:
        counts = counts * weights[values_in(records, words, fields[-1])]
    for place, entry in enumerate(fields):
        values, numbers = np.unique(values_in(records, words, entry), return_inverse=True)
        totals = np.zeros(len(values), np.int64)
        np.add.at(totals, numbers, counts)
        yield as_rows(
            place=np.full(len(values), place, np.int32), code=values.astype(np.int32), n=totals
        )


def as_rows(**columns: Any) -> pa.RecordBatch:
    """Return what a task hands on: columns by name."""
    arrays = [
        pa.array(column) if isinstance(column, np.ndarray) else column
        for column in columns.values()
    ]
    return pa.record_batch(arrays, names=list(columns))
