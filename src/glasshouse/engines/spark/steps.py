"""The root steps of a sweep on a cluster: a shuffle by the root attribute, then `sweep_partition` in every task.

A task hands on its merged records and, as one more row, its sums: never an accumulator, which a task that is tried
again would add to twice. A value with too many records for one task is answered by longer prefixes: what holds the
root alone, and, for each attribute that comes after, what holds both; every class is still whole in one task.
"""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import and_, or_
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from glasshouse.arrays import Integers, Words
from glasshouse.microdata import game_kernel, sweep_kernel
from glasshouse.microdata.game_kernel import Aims
from glasshouse.microdata.sweep_steps import (
    Counts,
    OnStep,
    Packing,
    partition_masks,
    read_values,
    subset_masks,
    sweep_partition,
)
from glasshouse.progress import OnProgress, Progress

HOT_RECORDS = 1 << 21
"""A value with more records than this is split by prefixes: one task does not take them."""
TASK_RECORDS = 1 << 17
"""A task gets about so many records, as long as there are no more tasks than Spark is set to have in a shuffle."""
LAST_RECORDS = 1 << 17
"""When no more records than this are left, one task takes all steps that remain."""
ADDED_TASKS = 64
"""The sums of more tasks than this are added up on the cluster before they come here."""
BATCH_RECORDS = 1 << 18
"""A task hands on so many records at a time."""

Stage = tuple[tuple[int, ...], tuple[int, ...]]
"""A prefix, and the attributes that come after it."""
OnMoved = Callable[[int, int], None]
"""Called with a step and how many records were moved for it."""


def sums_of_all_subsets(
    records: DataFrame,
    number: int,
    packing: Packing,
    order: Sequence[int],
    *,
    largest: int,
    on_progress: OnProgress | None = None,
    finished: Mapping[int, Integers] | None = None,
    on_step: OnStep | None = None,
    on_moved: OnMoved | None = None,
    aims: Aims | None = None,
) -> tuple[Integers, Integers]:
    """Return the masks of the subsets (bit i is the i-th attribute of the packing) and a row of sums for each.

    Args:
        records: The packed records: a column per word, and how many equal ones each stands for.
        number: How many rows there are.
        packing: How they are packed.
        order: The attributes in the order of refinement.
        largest: The largest number of attributes in a subset.
        on_progress: Told how far it is.
        finished: The rows of steps that an earlier, interrupted sweep with this order has finished.
        on_step: Called with each step that is finished, and its rows.
        on_moved: Called with each step that is begun, and how many records are moved for it.
        aims: What is added up where records have weights; by default what `sweep_kernel` adds up.
    """
    steps = _Steps(packing, subset_masks(len(order), largest), aims)
    stages: list[Stage] = [((root,), tuple(order[i + 1 :])) for i, root in enumerate(order)]
    for step, rows in (finished or {}).items():
        steps.add(*stages[step], largest - 1, rows)
    waiting = [step for step in range(len(order)) if step not in (finished or {})]
    try:
        while waiting:
            taken = waiting if number <= LAST_RECORDS else waiting[:1]
            if on_moved:
                on_moved(taken[0], number)
            records, number = steps.run(
                records, number, [stages[step] for step in taken], largest - 1
            )
            if on_step:
                for step in taken:
                    on_step(step, steps.rows(*stages[step], largest - 1))
            waiting = waiting[len(taken) :]
            if on_progress:
                on_progress(Progress("sweeping", 1 - len(waiting) / len(order), 1.0))
    finally:
        steps.release()
    return steps.masks, steps.sums


def sums_of_whole_set(
    records: DataFrame, number: int, packing: Packing, aims: Aims | None = None
) -> tuple[Integers, Integers]:
    """Return the mask and the row of sums of the set of all attributes; see `sums_of_all_subsets`."""
    everything = tuple(range(len(packing.attributes)))
    steps = _Steps(packing, partition_masks(everything, (), 0), aims)
    try:
        steps.run(records, number, [(everything, ())], 0)
    finally:
        steps.release()
    return steps.masks, steps.sums


def tasks_for(records: DataFrame, number: int) -> int:
    """Return into how many tasks so many records are shuffled."""
    most = int(records.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    return max(1, min(most, -(-number // TASK_RECORDS)), -(-number // HOT_RECORDS))


def word_names(packing: Packing) -> list[str]:
    """Return the columns that hold the words of packed records."""
    return [f"w{word}" for word in range(packing.words)]


def merged(records: DataFrame, packing: Packing, attributes: Sequence[int]) -> DataFrame:
    """Return the records with some attributes and the secrets only, equal ones as one."""
    return (
        records.select(*_with_bits(packing, attributes), "n")
        .groupBy(*word_names(packing))
        .agg(sf.sum("n").alias("n"))
    )


def value_of(field: Any) -> Column:
    """Return the value of an attribute, or of a secret, in a packed record."""
    word, shift, mask = (int(field[part]) for part in ("word", "shift", "mask"))
    return sf.shiftrightunsigned(sf.col(f"w{word}"), shift).bitwiseAND(sf.lit(mask))


def values_in(records: Words, words: int, field: Any) -> NDArray[np.uint32]:
    """Return the values of an attribute, or of a secret, in packed records."""
    values = np.empty(len(records) // words, np.uint32)
    read_values(records, words, field["word"], field["shift"], field["mask"], values)
    return values


def gathered(batches: Iterator[pa.RecordBatch], words: int) -> tuple[Words, Integers]:
    """Return all packed records of a task, and their counts."""
    columns = [np.empty(0, np.int64) for _ in range(words + 1)]
    if there := list(batches):
        table = pa.Table.from_batches(there)
        columns = [column.combine_chunks().to_numpy() for column in table.columns]
    return np.stack(columns[:words], axis=1).ravel().view(np.uint64), columns[words]


class _Steps:
    """The sums so far, and the frames that hold records meanwhile."""

    def __init__(self, packing: Packing, masks: Integers, aims: Aims | None) -> None:
        self._packing, self._aims = packing, aims
        self.masks = masks
        self._row_of = {int(mask): row for row, mask in enumerate(self.masks)}
        width = sweep_kernel.cell_width(len(packing.secrets)) if aims is None else aims.width
        self.sums = np.zeros((len(self.masks), width), np.int64)
        self._frames: list[DataFrame] = []

    def run(
        self, records: DataFrame, number: int, stages: Sequence[Stage], largest: int
    ) -> tuple[DataFrame, int]:
        """Answer one root step, or all that remain; return the records of the next, and how many rows they are."""
        before, self._frames = self._frames, []
        if len(stages) > 1:
            outcome = self._tasks(records, number, stages, largest)
        else:
            outcome = self._answer(records, number, *stages[0], largest)
        for frame in before:
            frame.unpersist()
        return outcome

    def release(self) -> None:
        """Let go of the records."""
        for frame in self._frames:
            frame.unpersist()

    def add(self, prefix: Sequence[int], rest: Sequence[int], largest: int, rows: Integers) -> None:
        """Add the rows of some records."""
        self.sums[self._places(prefix, rest, largest)] += rows

    def rows(self, prefix: Sequence[int], rest: Sequence[int], largest: int) -> Integers:
        """Return the rows so far."""
        return self.sums[self._places(prefix, rest, largest)]

    def _places(self, prefix: Sequence[int], rest: Sequence[int], largest: int) -> list[int]:
        return [self._row_of[mask] for mask in partition_masks(prefix, rest, largest).tolist()]

    def _answer(
        self,
        records: DataFrame,
        number: int,
        prefix: tuple[int, ...],
        rest: tuple[int, ...],
        largest: int,
    ) -> tuple[DataFrame, int]:
        """Answer the subsets with a prefix; its values that are too frequent for a task by longer ones."""
        is_hot, frequent = self._hot(records, number, prefix)
        if is_hot is None:
            return self._tasks(records, number, [(prefix, rest)], largest)
        alike = self._held(merged(records.where(is_hot), self._packing, (*prefix, *rest)))
        usual, usual_number = records.where(~is_hot), number - frequent
        alike_number = alike.count()
        is_hot, crowded = self._hot(alike, alike_number, prefix)
        if is_hot is None:
            usual, usual_number = usual.unionAll(alike), usual_number + alike_number
            return self._tasks(usual, usual_number, [(prefix, rest)], largest)
        crowd = alike.where(is_hot)
        self._tasks(merged(crowd, self._packing, prefix), crowded, [(prefix, ())], 0)
        for i, following in enumerate(rest if largest else ()):
            self._answer(crowd, crowded, (*prefix, following), rest[i + 1 :], largest - 1)
        usual_number += alike_number - crowded
        usual, usual_number = self._tasks(
            usual.unionAll(alike.where(~is_hot)), usual_number, [(prefix, rest)], largest
        )
        return usual.unionAll(crowd), usual_number + crowded

    def _hot(
        self, records: DataFrame, number: int, prefix: Sequence[int]
    ) -> tuple[Column | None, int]:
        """Return what tells records whose values of a prefix are too frequent, and how many they are."""
        if number <= HOT_RECORDS:
            return None, 0
        keys = [value_of(field) for field in self._packing.attributes[list(prefix)]]
        names = [f"k{i}" for i in range(len(keys))]
        hot = (
            records.groupBy(*(key.alias(name) for key, name in zip(keys, names, strict=True)))
            .agg(sf.count(sf.lit(1)).alias("rows"))
            .where(sf.col("rows") > HOT_RECORDS)
            .collect()
        )
        if not hot:
            return None, 0
        alike = (
            reduce(and_, (key == row[name] for key, name in zip(keys, names, strict=True)))
            for row in hot
        )
        return reduce(or_, alike), sum(row["rows"] for row in hot)

    def _tasks(
        self, records: DataFrame, number: int, stages: Sequence[Stage], largest: int
    ) -> tuple[DataFrame, int]:
        """Have tasks answer prefixes, one after the other; return the records without them, and how many they are."""
        packing, (prefix, _) = self._packing, stages[0]
        tasks = tasks_for(records, number) if len(stages) == 1 else 1
        keys = [value_of(field) for field in packing.attributes[list(prefix)]]
        words = word_names(packing)
        columns = [*(f"{word} long" for word in words), "n long", "stage int", "rows binary"]
        outcome = self._held(
            records.select(*words, "n")
            .repartition(tasks, *keys)
            .mapInArrow(
                partial(_swept, packing=packing, stages=stages, largest=largest, aims=self._aims),
                ", ".join(columns),
            )
        )
        answered = outcome.where(sf.col("stage").isNotNull()).select("stage", "n", "rows")
        if tasks > ADDED_TASKS:
            answered = answered.repartition(ADDED_TASKS // 8).mapInArrow(
                _added, "stage int, n long, rows binary"
            )
        remaining = 0
        for row in answered.collect():
            sums = np.frombuffer(row["rows"], np.int64).reshape(-1, self.sums.shape[1])
            prefix, rest = stages[row["stage"]]
            self.add(prefix, rest, largest, sums)
            remaining += row["n"]
        return outcome.where(sf.col("stage").isNull()).select(*words, "n"), remaining

    def _held(self, frame: DataFrame) -> DataFrame:
        self._frames.append(frame.persist())
        return frame


def _with_bits(packing: Packing, attributes: Sequence[int]) -> list[Column]:
    """Return the words with nothing but some attributes and the secrets."""
    bits = sweep_kernel.bits_of(packing.attributes[list(attributes)], packing.words)
    bits = (bits | sweep_kernel.bits_of(packing.secrets, packing.words)).view(np.int64)
    return [
        sf.col(name).bitwiseAND(sf.lit(int(word))).alias(name)
        for name, word in zip(word_names(packing), bits, strict=True)
    ]


def _swept(
    batches: Iterator[pa.RecordBatch],
    *,
    packing: Packing,
    stages: Sequence[Stage],
    largest: int,
    aims: Aims | None,
) -> Iterator[pa.RecordBatch]:
    """Sweep the records of a task; yield a row of sums for each stage, and the records that remain."""
    records, many = gathered(batches, packing.words)
    if not len(many):
        return
    counts: Counts = many if many.max() >= 1 << 31 else many.astype(np.int32)
    names = [*word_names(packing), "n", "stage", "rows"]
    answers: list[tuple[int, bytes]] = []
    with _compiled_once(sweep_kernel.sweep_parts if aims is None else game_kernel.sweep_parts):
        for stage, (prefix, rest) in enumerate(stages):
            rows, records, counts = sweep_partition(
                packing, prefix, rest, records, counts, largest=min(largest, len(rest)), aims=aims
            )
            answers.append((stage, np.ascontiguousarray(rows).tobytes()))
    absent: list[pa.Array] = [pa.nulls(len(answers), pa.int64())] * packing.words
    remaining = [0] * (len(answers) - 1) + [len(counts)]
    columns = [
        pa.array(remaining, pa.int64()),
        pa.array([stage for stage, _ in answers], pa.int32()),
    ]
    sums = pa.array([rows for _, rows in answers], pa.binary())
    yield pa.record_batch([*absent, *columns, sums], names=names)
    words = records.view(np.int64).reshape(-1, packing.words)
    for start in range(0, len(counts), BATCH_RECORDS):
        some = words[start : start + BATCH_RECORDS]
        columns = [pa.array(np.ascontiguousarray(some[:, word])) for word in range(packing.words)]
        columns += [
            pa.array(counts[start : start + BATCH_RECORDS].astype(np.int64)),
            pa.nulls(len(some), pa.int32()),
            pa.nulls(len(some), pa.binary()),
        ]
        yield pa.record_batch(columns, names=names)


def _added(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up the sums of several tasks."""
    numbers: dict[int, int] = {}
    sums: dict[int, Integers] = {}
    for batch in batches:
        for row in batch.to_pylist():
            stage, rows = row["stage"], np.frombuffer(row["rows"], np.int64)
            numbers[stage] = numbers.get(stage, 0) + row["n"]
            sums[stage] = sums[stage] + rows if stage in sums else rows
    yield pa.record_batch(
        [
            pa.array(list(sums), pa.int32()),
            pa.array([numbers[stage] for stage in sums], pa.int64()),
            pa.array([rows.tobytes() for rows in sums.values()], pa.binary()),
        ],
        names=["stage", "n", "rows"],
    )


@contextmanager
def _compiled_once(loop: Any) -> Iterator[None]:
    """Have one worker of this machine compile a loop, where it was not before; the others load what it kept."""
    if sweep_kernel.is_compiled(loop):
        yield
        return
    with (Path(tempfile.gettempdir()) / "glasshouse-compiling").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if sweep_kernel.is_compiled(loop):
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield
