"""Several releases about the same people, joined on their identifier where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from glasshouse.engines.spark.packed import PackedRelease
from glasshouse.engines.spark.steps import gathered, values_in, word_names
from glasshouse.engines.spark.table import (
    Chunk,
    CodedAttribute,
    Columns,
    SparkTable,
    counted,
    packed_chunks,
    packed_columns,
    with_joint_values,
)
from glasshouse.microdata.sweep_steps import Packing, plan_packing
from glasshouse.runs.reading import dataset_names
from glasshouse.study.assess import AssessStudy
from glasshouse.table import Collection, Role, Step, collect, dataset_tags
from glasshouse.table.collection import PRESENCE


def pack_collection(
    tables: Sequence[SparkTable], study: AssessStudy
) -> tuple[list[PackedRelease], Collection]:
    """Join releases to the people of the first; return each growing window, and what the collection is.

    Raises:
        DataError: A value is not what it is to be, a release has no identifier, or nothing is left.
        StudyError: A release has none of the quasi-identifiers, or a quasi-identifier is in none.
        BudgetError: There are too many distinct values.
    """
    adversary = study.adversary
    collection = collect(
        [table.first for table in tables],
        quasi_identifiers=adversary.knowable,
        seed=study.seed,
        tags=dataset_tags(dataset_names(study)),
    )
    steps: list[Step] = []
    of_people: list[Step] = []
    releases: list[Columns] = []
    packings: list[Packing] = []
    joined: Any = None
    held: dict[str, tuple[CodedAttribute, Any]] = {}
    for place, (table, member) in enumerate(zip(tables, collection.members, strict=True)):
        columns = Columns(table, study, place)
        treating, left_out = columns.treated()
        names = [
            name
            for name, role in table.first.roles.items()
            if name in table.first.columns and role in (Role.QUASI_IDENTIFIER, Role.PART)
        ]
        if not place:
            names += [name for name in (*adversary.secret_columns, adversary.prior_weight) if name]
        attributes = [columns.attribute(name) for name in names]
        packing = plan_packing([one.column for one in attributes], [])
        written = columns.packed(treating, attributes, [], packing, columns.people)
        written, one_each = columns.one_each(written, packing, study.seed + place)
        steps += left_out
        of_people += one_each
        words = [sf.col(word).alias(f"{word}_{place}") for word in word_names(packing)]
        frame = written.select(columns.person.alias("person"), *words)
        joined = frame if joined is None else joined.join(frame, "person", "left")
        held |= _held(columns, names, attributes, len(held), f"@{member.tag}" if place else "")
        releases.append(columns)
        packings.append(packing)
    joined = joined.drop("person").persist()
    linked = joined.agg(*(sf.count(f"w0_{place}") for place in range(len(tables)))).collect()[0]
    members = tuple(
        replace(member, people=columns.records, linked=number)
        for member, columns, number in zip(collection.members, releases, linked, strict=True)
    )
    collection = replace(collection, members=members, steps=(*steps, *of_people))
    hidden = [held[name][0] for name in (*adversary.secret_columns, adversary.prior_weight) if name]
    windows = []
    for window in collection.windows():
        facts = [window.facts[name] for name in adversary.knowable]
        known = with_joint_values(joined, _Joined(packings), [_fact(fact, held) for fact in facts])
        values = [
            (fact[0], held[fact[0]][1]) if fact and (fact[0] == name or len(fact) == 1) else None
            for name, fact in zip(adversary.knowable, facts, strict=True)
        ]
        packing = plan_packing([one.column for one in known], [one.column for one in hidden])
        windows.append(
            replace(
                counted(
                    _packed_window(joined, packings, known, hidden, packing),
                    packing,
                    releases[0],
                    study,
                    known,
                    values,
                ),
                suppressed=releases[0].stars,
                kept=(joined,),
            )
        )
    return windows, collection


def _held(
    columns: Columns,
    names: Sequence[str],
    attributes: Sequence[CodedAttribute],
    start: int,
    tag: str,
) -> dict[str, tuple[CodedAttribute, Any]]:
    """Return the columns of a release as those of all side by side: how each is coded, and what its values are.

    In an auxiliary one there is one more value, of those who are absent; and a column that tells who is.
    """
    held = {}
    for place, (name, attribute) in enumerate(zip(names, attributes, strict=True), start=start):
        values, size = columns.values(name), attribute.sizes[0]
        if tag:
            values = pa.concat_arrays([values, pa.nulls(1, values.type)])
            size += 1
        held[f"{name}{tag}"] = CodedAttribute((place,), (np.arange(size),), (size,)), values
    presence = pa.array(PRESENCE, pa.large_string())
    held[tag] = CodedAttribute((start + len(names),), (np.arange(2),), (2,)), presence
    return held


def _fact(names: Sequence[str], held: Mapping[str, tuple[CodedAttribute, Any]]) -> CodedAttribute:
    """Return the attribute that some columns make together."""
    columns = [held[name][0] for name in names]
    return CodedAttribute(
        tuple(column.places[0] for column in columns),
        tuple(column.codes[0] for column in columns),
        tuple(column.sizes[0] for column in columns),
    )


def _packed_window(
    joined: DataFrame,
    packings: Sequence[Packing],
    known: Sequence[CodedAttribute],
    hidden: Sequence[CodedAttribute],
    packing: Packing,
) -> DataFrame:
    chunked = _Joined(packings)
    return joined.mapInArrow(
        partial(packed_chunks, chunked=chunked, known=known, hidden=hidden, packing=packing),
        ", ".join(packed_columns(packing)),
    )


@dataclass(frozen=True)
class _Joined:
    """Reads the packed words of several releases side by side."""

    packings: Sequence[Packing]
    """How those of each are packed."""

    def chunks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
        """Yield some records at a time: the values of every release, and whether somebody is absent in it."""
        for batch in batches:
            raw, start = [], 0
            for packing in self.packings:
                columns = batch.columns[start : start + packing.words]
                start += packing.words
                absent = columns[0].is_null().to_numpy(zero_copy_only=False)
                filled = [column.fill_null(0) for column in columns]
                counts = pa.array(np.ones(batch.num_rows, np.int64))
                names = [*word_names(packing), "n"]
                some = pa.record_batch([*filled, counts], names=names)
                records, _ = gathered(iter([some]), packing.words)
                for field in packing.attributes:
                    values = values_in(records, packing.words, field).astype(np.int64)
                    values[absent] = field["size"]
                    raw.append(values)
                raw.append(absent.astype(np.int64))
            yield raw, pa.record_batch([], names=[])
