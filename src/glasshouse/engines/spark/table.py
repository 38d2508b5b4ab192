"""A release that stays where it is: its texts become codes, and its records packed words, in tasks of the cluster.

Here are only the distinct values of the columns that matter, read by the same rules as those of a file; what is done to
a value (its type, its band, whether it is missing, whether it meets a condition) is done to them, once, and sent along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from glasshouse.arrays import Flags, Integers
from glasshouse.engines.spark.session import check_workers, spark_failures
from glasshouse.engines.spark.steps import gathered, value_of, values_in, word_names
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import quoted, translated
from glasshouse.microdata.sweep_steps import SAMPLED_RECORDS, Packing, plan_packing
from glasshouse.microdata.sweep_steps import packed as packed_words
from glasshouse.runs.reading import as_seen
from glasshouse.sources import MISSING
from glasshouse.sources.entry import UNNAMED
from glasshouse.sources.source import as_text
from glasshouse.study import Dataset, parse_condition
from glasshouse.study.assess import AssessStudy
from glasshouse.table import EncodedColumn, EncodedTable, Role, Step, view_steps
from glasshouse.table import read as read_table
from glasshouse.table.generalised import is_suppressed
from glasshouse.table.profiles import FIRST_RECORDS
from glasshouse.table.treatment import (
    INVALID,
    MISSING_VALUE,
    ONE_EACH,
    SUPPRESSED_RECORD,
    WHERE,
    WITHOUT_IDENTIFIER,
    meets,
)
from glasshouse.views import derivation, quantiles

MOST_VALUES = 5_000_000
"""The columns may have so many distinct values in all: they come here, and go to every worker."""
CHUNK_RECORDS = 1 << 18
"""So many records are looked at together."""
_NO_CODES = np.empty(0, np.uint8)


@dataclass(frozen=True)
class SparkTable:
    """A release on a cluster, and what its columns are to the adversary."""

    frame: DataFrame = field(repr=False)
    """The records."""
    first: EncodedTable = field(repr=False)
    """The first of them, with the roles of the columns."""
    words: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How its texts are to be understood, by the words of ``read``."""
    is_decoded: bool = False
    """Whether Spark decoded its texts, so that bytes which are no text have become U+FFFD."""

    @classmethod
    def of(
        cls,
        frame: DataFrame,
        *,
        name: str | None = None,
        also: Sequence[str] = (),
        is_decoded: bool = False,
        **words: Any,
    ) -> SparkTable:
        """Return a frame of Spark as a table; the words are those of ``read``.

        Raises:
            DataError: A column is not in it, or it holds no records.
            StudyError: A column is given two roles, or the workers cannot do their part.
        """
        check_workers(frame.sparkSession)
        with spark_failures():
            head = frame.limit(FIRST_RECORDS).toArrow()
        first = read_table(head, name=name or UNNAMED, also=also, **words)
        for rule in words.get("bands") or {}:
            _refuse_quantiles(str(words["bands"][rule]))
        kinds = ("types", "missing", "date", "derive", "bands", "group", "dialect")
        understood = {kind: words[kind] for kind in kinds if words.get(kind)}
        return cls(frame, first, understood, is_decoded)


@dataclass(frozen=True)
class PackedRelease:
    """The records of a study as packed words, and what is known of them here."""

    frame: DataFrame
    """A column per word, and how many equal records each stands for."""
    packing: Packing
    """How they are packed."""
    records: int
    """How many records belong to the study."""
    totals: tuple[Integers, ...]
    """Per secret and value, how many records have it."""
    tallies: tuple[Integers, ...]
    """Per attribute and value, likewise."""
    values: tuple[pa.Array | None, ...]
    """Per attribute, what its values stand for; None: it is made of several columns."""
    unknown: tuple[int | None, ...]
    """Per secret, the value that stands for missing, where there is one that is not learned."""
    steps: tuple[Step, ...]
    """What was left out, and how columns are seen."""
    suppressed: int
    """How many records hold nothing but ``*``, be they left out or not."""

    def of_known(self, secret: int) -> DataFrame:
        """Return the records of which a secret is known."""
        return self.frame.where(value_of(self.packing.secrets[secret]) != self.unknown[secret])

    def sample(self, names: Sequence[str]) -> EncodedTable:
        """Return some records, for the order of refinement: the same ones wherever they stand."""
        stride = max(1, self.records // SAMPLED_RECORDS)
        chosen = sf.xxhash64(*word_names(self.packing)) % stride == 0
        some = self.frame.where(chosen).limit(4 * SAMPLED_RECORDS).toArrow()
        if not some.num_rows:
            some = self.frame.limit(SAMPLED_RECORDS).toArrow()
        records, counts = gathered(iter(some.to_batches()), self.packing.words)
        columns = {}
        for name, attribute in zip(names, self.packing.attributes, strict=True):
            codes = values_in(records, self.packing.words, attribute)
            columns[name] = EncodedColumn(name, codes, pa.nulls(0, pa.large_string()))
        return EncodedTable("", len(counts), columns, {})


@dataclass(frozen=True)
class _Attribute:
    """An attribute or a secret: columns whose codes together are its value."""

    places: tuple[int, ...]
    """The columns of the frame."""
    codes: tuple[Integers, ...]
    """Per column, the code of each of its texts."""
    sizes: tuple[int, ...]
    """Per column, how many codes there are."""
    joint: Integers | None = None
    """The joint values that occur, in order; None: those of the only column."""

    @property
    def column(self) -> EncodedColumn:
        """A column without records, for its number of values."""
        values = self.sizes[0] if self.joint is None else len(self.joint)
        return EncodedColumn("", _NO_CODES, pa.nulls(values, pa.large_string()))

    def keys(self, raw: Sequence[Integers]) -> Integers:
        """Return the joint value in every record, by the positions of their texts."""
        keys = np.zeros(len(raw[self.places[0]]), np.int64)
        for place, codes, size in zip(self.places, self.codes, self.sizes, strict=True):
            keys = keys * size + codes[raw[place]]
        return keys

    def encoded(self, raw: Sequence[Integers]) -> EncodedColumn:
        """Return the value in every record as a column."""
        keys = self.keys(raw)
        codes = keys if self.joint is None else np.searchsorted(self.joint, keys)
        return replace(self.column, codes=codes.astype(np.uint32))


@dataclass(frozen=True)
class _Reason:
    """Why records are left out: they are marked in one of some columns, or in all of them."""

    what: str
    columns: tuple[str, ...]
    places: tuple[int, ...]
    marks: tuple[Flags, ...]
    everywhere: bool = False

    def marked(self, raw: Sequence[Integers]) -> list[Flags]:
        """Return which records are marked, per column, by the positions of their texts."""
        return [marks[raw[place]] for place, marks in zip(self.places, self.marks, strict=True)]

    def gone(self, raw: Sequence[Integers]) -> Flags:
        """Return which records are left out for it."""
        join = np.logical_and if self.everywhere else np.logical_or
        gone: Flags = join.reduce(self.marked(raw))
        return gone


def pack(table: SparkTable, study: AssessStudy) -> PackedRelease:
    """Read the columns that a study has to do with, leave out what does not belong, and pack the rest.

    Raises:
        DataError: A value is not what it is to be, or nothing is left.
        StudyError: Something is asked for that is not done on Spark.
        BudgetError: There are too many distinct values.
    """
    columns = _Columns(table, study)
    adversary, first = study.adversary, table.first
    reasons, hidden = columns.reasons()
    records, steps, stars = columns.counted(reasons, hidden)
    if 0 < stars < records and study.treatment.drop_suppressed is not False:
        reasons.append(hidden)
        steps.append(Step(first.name, SUPPRESSED_RECORD, None, records, records - stars))
    else:
        stars = stars if stars < records else 0
    records = steps[-1].after if steps else records
    steps += columns.views(records)
    known = columns.joint([columns.attribute(name) for name in adversary.knowable])
    secrets = [columns.attribute(name) for name in adversary.secret_columns]
    packing = plan_packing([a.column for a in known], [a.column for a in secrets])
    identifier = adversary.identifier
    person = None if identifier is None else columns.sources.index(identifier)
    names = [f"{word} long" for word in word_names(packing)]
    frame = columns.frame.mapInArrow(
        partial(
            _packed,
            texts=columns.texts,
            attributes=known,
            secrets=secrets,
            packing=packing,
            reasons=reasons,
            person=person,
        ),
        ", ".join([*names, "n long", *([] if person is None else ["person string"])]),
    )
    if identifier is not None:
        frame, of_people = _one_each(
            frame, packing, study.seed, Step(first.name, "", identifier, records, records)
        )
        steps += of_people
        records = steps[-1].after if of_people else records
    frame = frame.persist()
    tallies = tally(frame, [*packing.secrets, *packing.attributes], packing.words)
    totals, tallies = tallies[: len(secrets)], tallies[len(secrets) :]
    as_value = first.missing_is_a_value or adversary.missing_is_a_value
    unknown = [
        None if as_value else columns.missing_code(name) for name in adversary.secret_columns
    ]
    return PackedRelease(
        frame,
        packing,
        records,
        tuple(totals),
        tuple(tallies),
        tuple(columns.values(name) for name in adversary.knowable),
        tuple(
            code if code is not None and counts[code] else None
            for code, counts in zip(unknown, totals, strict=True)
        ),
        tuple(steps),
        stars,
    )


class _Columns:
    """The columns of a release that a study has to do with, and their distinct texts."""

    def __init__(self, table: SparkTable, study: AssessStudy) -> None:
        self._table, self._study = table, study
        self._first = table.first
        forms = Dataset(path=Path(), date=dict(table.words.get("date") or {})).date_forms
        rules = {name: str(rule) for name, rule in (table.words.get("derive") or {}).items()}
        self._source_of = {name: name for name in self._first.columns}
        for name in rules:
            columns = derivation(rules[name], forms).columns
            if name in self._source_of and len(columns) > 1:
                raise StudyError(
                    "`derive` {name} is made of two columns, which is not done on Spark; derive it in the frame",
                    name=name,
                )
            self._source_of[name] = columns[0]
        for rule in study.datasets[0].bands.values():
            _refuse_quantiles(rule)
        self.sources = list(dict.fromkeys(self._source_of[name] for name in self._first.columns))
        self.frame = table.frame.select(
            *(
                sf.col("`" + name.replace("`", "``") + "`").alias(f"c{place}")
                for place, name in enumerate(self.sources)
            )
        )
        person = study.adversary.identifier
        coded = [place for place, name in enumerate(self.sources) if name != person]
        self.texts, self._records = _distinct_texts(self.frame, coded, self._first.name)
        self._written, self._seen = {}, {}
        for place, texts in self.texts.items():
            if table.is_decoded and pc.any(pc.match_substring(texts, "\ufffd")).as_py():
                raise DataError(
                    '{name}: column "{column}" holds bytes that are no text in this encoding; say `encoding`',
                    name=self._first.name,
                    column=self.sources[place],
                )
            name = self.sources[place]
            self._written[name] = self._understood(name, texts)
            self._seen[name] = as_seen(self._written[name], study.datasets[0], study)

    def attribute(self, name: str) -> _Attribute:
        """Return how an attribute, or a secret, is coded."""
        columns = [
            (self._source_of[part.name], self._seen[self._source_of[part.name]].column(part.name))
            for part in self._first.columns_of(name)
        ]
        return _Attribute(
            tuple(self.sources.index(source) for source, _ in columns),
            tuple(column.codes.astype(np.int64) for _, column in columns),
            tuple(column.cardinality for _, column in columns),
        )

    def values(self, name: str) -> pa.Array | None:
        """Return what the values of an attribute stand for, if it is one column."""
        columns = self._first.columns_of(name)
        if len(columns) > 1:
            return None
        return self._seen[self._source_of[columns[0].name]].column(columns[0].name).values

    def joint(self, attributes: Sequence[_Attribute]) -> list[_Attribute]:
        """Return the attributes; those of several columns with the joint values that occur."""
        facts = {place: a for place, a in enumerate(attributes) if len(a.places) > 1}
        if not facts:
            return list(attributes)
        if any(prod(fact.sizes) >= 1 << 63 for fact in facts.values()):
            raise BudgetError("a fact has too many columns with many values; leave some out")
        rows = (
            self.frame.mapInArrow(
                partial(_joint_values, texts=self.texts, facts=facts), "fact int, key long"
            )
            .distinct()
            .toArrow()
        )
        joint = list(attributes)
        for place, fact in facts.items():
            keys = rows.filter(pc.equal(rows["fact"], place))["key"].to_numpy()
            joint[place] = replace(fact, joint=np.sort(keys))
        return joint

    def missing_code(self, name: str) -> int | None:
        """Return the code of a secret that stands for missing, if it has one."""
        values = self._seen[self._source_of[name]].column(name).values
        code = int(values.index(MISSING).as_py())
        return None if code < 0 else code

    def views(self, records: int) -> tuple[Step, ...]:
        """Return how columns are seen, in the order in which a file's would be told."""
        views = {
            (view.column, view.word): view for table in self._seen.values() for view in table.views
        }
        first = as_seen(self._first, self._study.datasets[0], self._study)
        ordered = tuple(views[view.column, view.word] for view in first.views)
        return view_steps(replace(first, records=records, views=ordered))

    def reasons(self) -> tuple[list[_Reason], _Reason]:
        """Return why records are left out, one after the other; and what marks a suppressed record."""
        treatment = self._study.treatment
        roles = {
            name: role for name, role in self._first.roles.items() if name in self._first.columns
        }
        named = [name for name, role in roles.items() if role is not Role.IGNORED]
        coded = [name for name in named if self._source_of[name] in self._written]
        hidden = [
            part.name
            for name in self._first.quasi_identifiers
            for part in self._first.columns_of(name)
        ]

        def reason(
            what: str, marks: Sequence[tuple[str, Flags]], *, everywhere: bool = False
        ) -> _Reason:
            places = [self.sources.index(self._source_of[name]) for name, _ in marks]
            return _Reason(
                what,
                tuple(name for name, _ in marks),
                tuple(places),
                tuple(flags for _, flags in marks),
                everywhere,
            )

        reasons = []
        for what, conditions in ((WHERE, treatment.where), (INVALID, treatment.invalid)):
            parsed = [parse_condition(condition) for condition in conditions]
            marks = [(c.column, meets(self._of(c.column), c) != (what == WHERE)) for c in parsed]
            reasons += [reason(what, marks)] if marks else []
        if treatment.drop_missing:
            marks = [(name, self._of(name).missing([name])) for name in coded]
            marks = [(name, flags) for name, flags in marks if flags.any()]
            reasons += [reason(MISSING_VALUE, marks)] if marks else []
        stars = [(name, is_suppressed(self._of(name), [name])) for name in hidden]
        return reasons, reason(SUPPRESSED_RECORD, stars, everywhere=True)

    def counted(self, reasons: Sequence[_Reason], hidden: _Reason) -> tuple[int, list[Step], int]:
        """Return how many records remain, what was left out, and how many of the remaining are suppressed.

        Raises:
            DataError: None remains.
        """
        if not reasons and not all(marks.any() for marks in hidden.marks):
            return self._records, [], 0
        rows = self.frame.mapInArrow(
            partial(_left_out, texts=self.texts, reasons=[*reasons, hidden]),
            "place int, records long",
        )
        totals = {
            row["place"]: row["records"]
            for row in rows.groupBy("place").agg(sf.sum("records").alias("records")).collect()
        }
        before, steps, place = self._records, [], 0
        for reason in reasons:
            of_reason = []
            for column in reason.columns:
                step = Step(self._first.name, reason.what, column, before, before - totals[place])
                of_reason += [step] if step.left_out or reason.what != MISSING_VALUE else []
                place += 1
            after, place = before - totals[place], place + 1
            if not after:
                raise _nothing_left(of_reason)
            if of_reason:
                steps += [*of_reason, Step(self._first.name, reason.what, None, before, after)]
            before = after
        return before, steps, totals[place + len(hidden.columns)]

    def _of(self, name: str) -> EncodedTable:
        """Return the distinct values of a column, as they are written.

        Raises:
            DataError: There is no such column.
        """
        self._first.column(name)
        return self._written[self._source_of[name]]

    def _understood(self, name: str, texts: pa.Array) -> EncodedTable:
        """Read the distinct texts of a column as those of a file are read.

        Raises:
            DataError: One is not what it is to be.
        """
        words = self._table.words
        of_column: dict[str, Any] = {
            kind: {name: words[kind][name]}
            for kind in ("types", "missing", "date", "bands", "group")
            if name in words.get(kind, ())
        }
        derived = [new for new, source in self._source_of.items() if source == name != new]
        for new in derived:
            of_column.setdefault("derive", {})[new] = words["derive"][new]
            for kind in ("types", "bands", "group"):
                if new in words.get(kind, ()):
                    of_column.setdefault(kind, {})[new] = words[kind][new]
        try:
            return read_table(
                pa.table({name: texts}),
                also=[name, *derived],
                dialect=words.get("dialect"),
                name=self._first.name,
                **of_column,
            )
        except DataError as error:
            if "record" not in error.parts:
                raise
            raise DataError(
                '{table}: "{value}" in column "{column}" is not a number or a date as asked for; say how they are '
                "written, or what stands for missing: `missing` {column}={value}",
                table=self._first.name,
                value=error.parts["value"],
                column=error.parts["column"],
            ) from None


def _nothing_left(steps: Sequence[Step]) -> DataError:
    return DataError(
        "{table}: all {records} records would be left out ({what} in {columns}): nothing is left",
        table=steps[0].dataset,
        records=steps[0].before,
        what=translated(steps[0].what),
        columns=quoted(dict.fromkeys(step.column or "" for step in steps)),
    )


def _refuse_quantiles(rule: str) -> None:
    if quantiles(rule):
        raise StudyError(
            "bands by quantiles are not cut on Spark; say where they begin: 0,1000,5000"
        )


def _distinct_texts(
    frame: DataFrame, places: Sequence[int], name: str
) -> tuple[dict[int, pa.Array], int]:
    """Return the distinct texts of some columns, in order, and the number of records."""
    rows = (
        frame.mapInArrow(partial(_counted_texts, places=places), "place int, text string, n long")
        .groupBy("place", "text")
        .agg(sf.sum("n").alias("n"))
        .limit(MOST_VALUES + 1)
        .toArrow()
    )
    if rows.num_rows > MOST_VALUES:
        raise BudgetError(
            "{name}: the columns have more than {most} distinct values in all, which is too many on Spark; leave out "
            "those that name people, or group them",
            name=name,
            most=MOST_VALUES,
        )
    texts, records = {}, 0
    for place in places:
        of_place = rows.filter(pc.equal(rows["place"], place))
        texts[place] = of_place["text"].combine_chunks().cast(pa.large_string()).sort()
        records = pc.sum(of_place["n"]).as_py() or 0
    if not records:
        raise DataError("{name}: has no records", name=name)
    return texts, records


def _one_each(
    frame: DataFrame, packing: Packing, seed: int, step: Step
) -> tuple[DataFrame, list[Step]]:
    """Keep one record of every person: of several, by a draw that depends on the seed and on what they hold."""
    words, records = word_names(packing), step.before
    frame = frame.persist()
    named = frame.where(sf.col("person") != MISSING)
    people, with_name = named.select(sf.countDistinct("person"), sf.count(sf.lit(1))).collect()[0]
    if not people:
        raise _nothing_left([replace(step, what=WITHOUT_IDENTIFIER)])
    steps = []
    if with_name < records:
        steps.append(replace(step, what=WITHOUT_IDENTIFIER, after=with_name))
    if people < with_name:
        steps.append(replace(step, what=ONE_EACH, before=with_name, after=people))
        draw = Window.partitionBy("person").orderBy(
            sf.xxhash64(sf.lit(seed), "person", *words), *words
        )
        named = named.withColumn("place", sf.row_number().over(draw)).where(sf.col("place") == 1)
    return named.select(*words, "n"), steps


def tally(frame: DataFrame, fields: Sequence[Any], words: int) -> list[Integers]:
    """Count the values of attributes and secrets in packed records."""
    tallies = [np.zeros(int(field["size"]), np.int64) for field in fields]
    rows = (
        frame.mapInArrow(
            partial(_tallied, fields=fields, words=words), "place int, code int, n long"
        )
        .groupBy("place", "code")
        .agg(sf.sum("n").alias("n"))
        .toArrow()
    )
    for place, counts in enumerate(tallies):
        of_place = rows.filter(pc.equal(rows["place"], place))
        counts[of_place["code"].to_numpy()] = of_place["n"].to_numpy()
    return tallies


# What tasks do with their records.


def _raw(
    batches: Iterator[pa.RecordBatch], texts: Mapping[int, pa.Array]
) -> Iterator[tuple[list[Integers], pa.RecordBatch]]:
    """Yield some records at a time: per column, the position of every text; and the texts."""
    for chunk in _chunks(batches):
        raw = [np.empty(0, np.int64)] * chunk.num_columns
        for place, values in texts.items():
            column = chunk.column(place).cast(pa.large_string())
            encoded = column.dictionary_encode()
            codes = pc.index_in(encoded.dictionary, value_set=values)
            raw[place] = codes.to_numpy(zero_copy_only=False).astype(np.int64)[encoded.indices]
        yield raw, chunk


def _chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches as text, several together."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= CHUNK_RECORDS:
            yield _as_text(waiting)
            waiting = []
    if waiting:
        yield _as_text(waiting)


def _as_text(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    (batch,) = pa.Table.from_batches(batches).combine_chunks().to_batches() or batches[:1]
    columns = [
        column.cast(pa.timestamp(column.type.unit, "UTC"))
        if pa.types.is_timestamp(column.type) and column.type.tz
        else column
        for column in batch.columns
    ]
    return as_text(pa.record_batch(columns, names=batch.schema.names), where="Spark")


def _counted_texts(
    batches: Iterator[pa.RecordBatch], *, places: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    for chunk in _chunks(batches):
        for place in places:
            counted = chunk.column(place).value_counts()
            yield pa.record_batch(
                [
                    pa.array(np.full(len(counted), place, np.int32)),
                    counted.field("values").cast(pa.string()),
                    counted.field("counts"),
                ],
                names=["place", "text", "n"],
            )


def _joint_values(
    batches: Iterator[pa.RecordBatch],
    *,
    texts: Mapping[int, pa.Array],
    facts: Mapping[int, _Attribute],
) -> Iterator[pa.RecordBatch]:
    for raw, _ in _raw(batches, texts):
        for place, fact in facts.items():
            keys = np.unique(fact.keys(raw))
            of_fact = pa.array(np.full(len(keys), place, np.int32))
            yield pa.record_batch([of_fact, pa.array(keys)], names=["fact", "key"])


def _left_out(
    batches: Iterator[pa.RecordBatch], *, texts: Mapping[int, pa.Array], reasons: Sequence[_Reason]
) -> Iterator[pa.RecordBatch]:
    """Count what is left out for each reason, in each column by itself and in all, of what those before have left."""
    for raw, _ in _raw(batches, texts):
        counts = []
        for reason in reasons:
            counts += [np.count_nonzero(marks) for marks in reason.marked(raw)]
            gone = reason.gone(raw)
            counts.append(np.count_nonzero(gone))
            raw = [codes[~gone] if len(codes) else codes for codes in raw]
        places = pa.array(range(len(counts)), pa.int32())
        yield pa.record_batch([places, pa.array(counts, pa.int64())], names=["place", "records"])


def _packed(
    batches: Iterator[pa.RecordBatch],
    *,
    texts: Mapping[int, pa.Array],
    attributes: Sequence[_Attribute],
    secrets: Sequence[_Attribute],
    packing: Packing,
    reasons: Sequence[_Reason],
    person: int | None,
) -> Iterator[pa.RecordBatch]:
    """Pack the records that belong to the study."""
    for raw, chunk in _raw(batches, texts):
        staying = np.ones(chunk.num_rows, np.bool_)
        for reason in reasons:
            staying &= ~reason.gone(raw)
        size = int(np.count_nonzero(staying))
        if not size:
            continue
        if size < chunk.num_rows:
            raw = [codes[staying] if len(codes) else codes for codes in raw]
        records = packed_words(
            packing,
            [a.encoded(raw) for a in attributes],
            [a.encoded(raw) for a in secrets],
            0,
            size,
        )
        words = records.view(np.int64).reshape(size, packing.words)
        columns = [pa.array(np.ascontiguousarray(words[:, word])) for word in range(packing.words)]
        names = [*word_names(packing), "n"]
        columns.append(pa.array(np.ones(size, np.int64)))
        if person is not None:
            columns.append(chunk.column(person).filter(pa.array(staying)).cast(pa.string()))
            names.append("person")
        yield pa.record_batch(columns, names=names)


def _tallied(
    batches: Iterator[pa.RecordBatch], *, fields: Sequence[Any], words: int
) -> Iterator[pa.RecordBatch]:
    records, counts = gathered(batches, words)
    for place, of_place in enumerate(fields):
        values, numbers = np.unique(values_in(records, words, of_place), return_inverse=True)
        totals = np.zeros(len(values), np.int64)
        np.add.at(totals, numbers, counts)
        yield pa.record_batch(
            [
                pa.array(np.full(len(values), place, np.int32)),
                pa.array(values.astype(np.int32)),
                pa.array(totals),
            ],
            names=["place", "code", "n"],
        )
