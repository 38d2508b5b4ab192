"""A release that stays where it is: its texts become codes, and its records packed words, in tasks of the cluster.

Here are only the distinct values of the columns that matter, read by the same rules as those of a file; what is done to
a value (its type, its band, whether it is missing, whether it meets a condition) is done to them, once, and sent along.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from glasshouse.arrays import Flags, Integers
from glasshouse.engines.spark.packed import PackedRelease, as_rows, tally
from glasshouse.engines.spark.session import check_workers
from glasshouse.engines.spark.steps import word_names
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.measures.first_look import FirstLook
from glasshouse.microdata.attack_kernels import Weights, record_numbers
from glasshouse.microdata.parts import part_values
from glasshouse.microdata.sweep_steps import Packing, packed, plan_packing
from glasshouse.runs.reading import as_seen, look_at, looked_at
from glasshouse.sources import MISSING
from glasshouse.sources.entry import UNNAMED
from glasshouse.sources.source import as_text
from glasshouse.study import Dataset, Treatment, parse_condition
from glasshouse.study.assess import AssessStudy
from glasshouse.table import EncodedColumn, EncodedTable, Step, view_steps
from glasshouse.table import read as read_table
from glasshouse.table.generalised import SUPPRESSED, is_suppressed
from glasshouse.table.treatment import (
    ONE_EACH,
    SUPPRESSED_RECORD,
    WITHOUT_IDENTIFIER,
    LeftOut,
    left_out,
    left_out_for,
    left_out_steps,
)
from glasshouse.views import derivation, quantiles

MOST_VALUES = 5_000_000
"""The columns may have so many distinct values in all: they come here, and go to every worker."""
CHUNK_RECORDS = 1 << 18
"""So many records are looked at together."""
KINDS = ("types", "missing", "date", "derive", "bands", "group")
"""What is said of how the values of a column are to be understood."""
_NO_CODES = np.empty(0, np.uint8)


Chunk = tuple[list[Integers], pa.RecordBatch]
"""Some records: per column, the position of the text of each; and the texts."""


class Chunked(Protocol):
    """What tasks read some records at a time with."""

    def chunks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
        """Yield some records at a time."""


@dataclass(frozen=True)
class SparkTable:
    """A release on a cluster, and what its columns are to the adversary."""

    frame: DataFrame = field(repr=False)
    """The records."""
    first: EncodedTable = field(repr=False)
    """Its columns and their roles, with one record that holds nothing: those of the release stay where they are."""
    words: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How its texts are to be understood, by the words of ``read``."""
    is_decoded: bool = False
    """Whether Spark decoded its texts, so that bytes which are no text have become U+FFFD."""

    @property
    def columns(self) -> list[str]:
        """The columns of the frame that matter."""
        return [name for name in self.frame.columns if name in self.first.columns]

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
            DataError: A column is not in it.
            StudyError: A column is given two roles, or the workers cannot do their part.
        """
        check_workers(frame.sparkSession)
        nobody = {
            column: ["0" if column == words.get("id") else MISSING] for column in frame.columns
        }
        first = read_table(pa.table(nobody), name=name or UNNAMED, also=also, **words)
        _refuse_quantiles((words.get("bands") or {}).values())
        understood = {kind: words[kind] for kind in (*KINDS, "dialect") if words.get(kind)}
        return cls(frame, first, understood, is_decoded)


def look(table: SparkTable, study: AssessStudy, columns: Sequence[str]) -> FirstLook:
    """Have one task look at the first records: what it tells of them comes here, and they do not.

    Raises:
        DataError: There are none.
    """
    names = ["`" + name.replace("`", "``") + "`" for name in columns]
    words = {"name": table.first.name, "missing": table.words.get("missing")}
    rows = (
        table.frame.select(*names)
        .limit(looked_at(len(names)))
        .coalesce(1)
        .mapInArrow(partial(_looked_at, study=study, words=words), "look binary")
        .collect()
    )
    if not rows:
        raise DataError("{name}: has no records", name=table.first.name)
    seen: FirstLook = pickle.loads(rows[0]["look"])  # noqa: S301 - from our own workers
    return seen


@dataclass(frozen=True)
class CodedAttribute:
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
    def firsts(self) -> Integers | None:
        """Per joint value, that of the first column."""
        return None if self.joint is None else self.joint // prod(self.sizes[1:])

    @property
    def column(self) -> EncodedColumn:
        """A column without records, for its number of values."""
        values = self.sizes[0] if self.joint is None else len(self.joint)
        return EncodedColumn("", _NO_CODES, pa.nulls(values, pa.large_string()))

    def keys(self, raw: Sequence[Integers]) -> Integers:
        """Return the joint value in every record, by the positions of their texts."""
        keys = np.zeros(max(map(len, raw)), np.int64)
        for place, codes, size in zip(self.places, self.codes, self.sizes, strict=True):
            keys = keys * size + codes[raw[place]]
        return keys

    def encoded(self, raw: Sequence[Integers]) -> EncodedColumn:
        """Return the value in every record as a column."""
        keys = self.keys(raw)
        codes = keys if self.joint is None else np.searchsorted(self.joint, keys)
        return replace(self.column, codes=codes.astype(np.uint32))


@dataclass(frozen=True)
class Treating:
    """Which records belong to a study, as every task tells it."""

    texts: Mapping[int, pa.Array]
    """Per column of the frame, its distinct texts in order."""
    written: EncodedTable
    """The columns as they are written: their values, for each distinct text."""
    places: Mapping[str, int]
    """Where each of them stands in the frame."""
    rules: Mapping[str, Any]
    """Who belongs, by the words of `left_out_for`."""
    hidden: tuple[str, ...]
    """The columns which all hold ``*`` in a suppressed record; none: there is no such record."""
    without_suppressed: bool = False
    """Whether those are left out, too."""

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to look at."""
        return any(self.rules.values()) or bool(self.hidden)

    def chunks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
        """Yield some records at a time that belong to the study."""
        for raw, chunk in self.every(batches):
            if not self.is_needed:
                yield raw, chunk
                continue
            staying = ~self.left_out(raw, chunk)[0]
            raw = [codes[staying] if len(codes) else codes for codes in raw]
            yield raw, chunk.filter(pa.array(staying))

    def every(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
        """Yield some records at a time, whether they belong or not."""
        for chunk in _chunks(batches):
            raw = [np.empty(0, np.int64)] * chunk.num_columns
            for place, values in self.texts.items():
                encoded = chunk.column(place).cast(pa.large_string()).dictionary_encode()
                codes = pc.index_in(encoded.dictionary, value_set=values)
                raw[place] = codes.to_numpy(zero_copy_only=False).astype(np.int64)[encoded.indices]
            yield raw, chunk

    def left_out(
        self, raw: Sequence[Integers], chunk: pa.RecordBatch
    ) -> tuple[Flags, list[LeftOut]]:
        """Return which records are left out, and how many for each reason; then, how many are suppressed."""
        columns = {}
        for name, place in self.places.items():
            if place in self.texts:
                column = self.written.column(name)
                columns[name] = replace(column, codes=column.codes[raw[place]])
            else:
                encoded = chunk.column(place).cast(pa.large_string()).dictionary_encode()
                codes = encoded.indices.to_numpy().astype(np.uint32)
                columns[name] = EncodedColumn(name, codes, encoded.dictionary)
        table = replace(self.written, records=chunk.num_rows, columns=columns)
        gone, counts = left_out(left_out_for(table, **self.rules), table.records)
        hidden = is_suppressed(table, self.hidden) & ~gone
        counts.append((SUPPRESSED_RECORD, None, int(np.count_nonzero(hidden))))
        return gone | hidden if self.without_suppressed else gone, counts


def pack(table: SparkTable, study: AssessStudy, *, with_texts: bool = False) -> PackedRelease:
    """Read the columns that a study has to do with, leave out what does not belong, and pack the rest.

    Args:
        table: The release.
        study: What is asked.
        with_texts: Whether the records are wanted as they are written, too.

    Raises:
        DataError: A value is not what it is to be, or nothing is left.
        StudyError: Something is asked for that is not done on Spark.
        BudgetError: There are too many distinct values.
    """
    adversary = study.adversary
    columns = Columns(table, study)
    treating, steps = columns.treated()
    further = [name for name in (study.by, adversary.prior_weight) if name is not None]
    known = [columns.attribute(name) for name in adversary.knowable]
    hidden = [columns.attribute(name) for name in (*adversary.secret_columns, *further)]
    known = with_joint_values(columns.frame, treating, known)
    packing = plan_packing([one.column for one in known], [one.column for one in hidden])
    places = range(len(columns.sources)) if with_texts else columns.people
    written = columns.packed(treating, known, hidden, packing, places)
    if adversary.identifier is not None:
        written, of_people = columns.one_each(written, packing, study.seed)
        steps += of_people
    values = []
    for name in adversary.knowable:
        column, *more = columns.first.columns_of(name)
        values.append(None if more else (column.name, columns.values(name)))
    release = counted(written, packing, columns, study, known, values)
    return replace(release, texts=written, steps=tuple(steps), suppressed=columns.stars)


def counted(
    written: DataFrame,
    packing: Packing,
    columns: Columns,
    study: AssessStudy,
    known: Sequence[CodedAttribute],
    values: Sequence[Any],
) -> PackedRelease:
    """Return packed records with what is known of them here: how many have each value.

    Args:
        written: The packed records.
        packing: How they are packed: the secrets, then what tells parts apart, then the weight.
        columns: The columns of the release.
        study: What is asked.
        known: The attributes.
        values: Per attribute, its first column and what the values of it stand for; None: that is not told of.
    """
    adversary, first = study.adversary, columns.first
    frame = written.select(*word_names(packing), "n").persist()
    tallies = tally(frame, [*packing.attributes, *packing.secrets], packing.words)
    first_secret, secrets = len(values), len(adversary.secret_columns)
    totals = tallies[first_secret : first_secret + secrets]
    records = int(tallies[0].sum())
    as_value = first.missing_is_a_value or adversary.missing_is_a_value
    unknown: list[int | None] = []
    for name, counts in zip(adversary.secret_columns, totals, strict=True):
        code = -1 if as_value else int(columns.values(name).index(MISSING).as_py())
        unknown.append(code if code >= 0 and counts[code] else None)
    release = PackedRelease(
        first.name,
        frame,
        written,
        tuple(columns.sources),
        packing._replace(secrets=packing.secrets[:secrets]),
        records,
        tuple(totals),
        tuple(tallies[:first_secret]),
        tuple(values),
        tuple(attribute.firsts for attribute in known),
        tuple(unknown),
    )
    if study.by is not None:
        parts = tuple(
            (value, code, int(tallies[-1][code]))
            for value, code in part_values(first, study.by, columns.values(study.by), tallies[-1])
        )
        release = replace(release, criterion=packing.secrets[-1], parts=parts)
    if adversary.prior_weight is not None:
        there = np.flatnonzero(tallies[-1])
        column = EncodedColumn("", there.astype(np.uint32), columns.values(adversary.prior_weight))
        held = EncodedTable(first.name, records, {adversary.prior_weight: column}, {})
        each = np.zeros(len(tallies[-1]), np.int64)
        each[there] = record_numbers(held, adversary.prior_weight, "weight")[0]
        release = replace(
            release,
            weight=packing.secrets[-1],
            weight_name=adversary.prior_weight,
            weights=Weights(each, 0, 0),
        )
    return release


def with_joint_values(
    frame: DataFrame, chunked: Chunked, attributes: Sequence[CodedAttribute]
) -> list[CodedAttribute]:
    """Return the attributes; those of several columns with the joint values that occur.

    Raises:
        BudgetError: There are too many.
    """
    facts = {place: one for place, one in enumerate(attributes) if len(one.places) != 1}
    if not facts:
        return list(attributes)
    if any(prod(fact.sizes) >= 1 << 63 for fact in facts.values()):
        raise BudgetError("a fact has too many columns with many values; leave some out")
    rows = (
        frame.mapInArrow(partial(_joint_values, chunked=chunked, facts=facts), "fact int, key long")
        .distinct()
        .limit(MOST_VALUES + 1)
        .toArrow()
    )
    if rows.num_rows > MOST_VALUES:
        raise BudgetError("a fact has too many columns with many values; leave some out")
    joint = list(attributes)
    for place, fact in facts.items():
        keys = rows.filter(pc.equal(rows["fact"], place))["key"].to_numpy()
        joint[place] = replace(fact, joint=np.sort(keys))
    return joint


class Columns:
    """The columns of a release that a study has to do with, and their distinct texts."""

    stars = 0
    """How many records hold nothing but ``*``, once it is known who belongs to the study."""

    def __init__(self, table: SparkTable, study: AssessStudy, place: int = 0) -> None:
        self._table, self._study, self._dataset = table, study, study.datasets[place]
        # Whom the study is about is a matter of the focal dataset: in another, who is left out would seem absent.
        self._treatment = Treatment() if place else study.treatment
        self.first = table.first
        forms = Dataset(path=Path(), date=dict(table.words.get("date") or {})).date_forms
        rules = {name: str(rule) for name, rule in (table.words.get("derive") or {}).items()}
        self._source_of = {name: name for name in self.first.columns}
        for name in rules:
            columns = derivation(rules[name], forms).columns
            if name in self._source_of and len(columns) > 1:
                raise StudyError(
                    "`derive` {name} is made of two columns, which is not done on Spark; derive it in the frame",
                    name=name,
                )
            self._source_of[name] = columns[0]
        _refuse_quantiles(self._dataset.bands.values())
        self.sources = list(dict.fromkeys(self._source_of[name] for name in self.first.columns))
        self.frame = table.frame.select(
            *(
                sf.col("`" + name.replace("`", "``") + "`").alias(f"c{place}")
                for place, name in enumerate(self.sources)
            )
        )
        person = study.adversary.identifier
        for kind in KINDS:
            if person in table.words.get(kind, ()):
                raise StudyError(
                    '`{kind}` of "{name}", which identifies people, is not done on Spark; do it in the frame',
                    kind=kind,
                    name=person,
                )
        coded = [place for place, name in enumerate(self.sources) if name != person]
        self._texts, self.records = _distinct_texts(self.frame, coded, self.first.name)
        self._written: dict[str, EncodedTable] = {}
        self._seen: dict[str, EncodedTable] = {}
        for place, texts in self._texts.items():
            name = self.sources[place]
            if table.is_decoded and pc.any(pc.match_substring(texts, "\ufffd")).as_py():
                raise DataError(
                    '{name}: column "{column}" holds bytes that are not text in this encoding; say `encoding`',
                    name=self.first.name,
                    column=name,
                )
            self._written[name] = self._understood(name, texts)
            self._seen[name] = as_seen(self._written[name], self._dataset, study)

    def attribute(self, name: str) -> CodedAttribute:
        """Return how an attribute, or a secret, is coded."""
        columns = [
            (self._source_of[part.name], self._seen[self._source_of[part.name]].column(part.name))
            for part in self.first.columns_of(name)
        ]
        return CodedAttribute(
            tuple(self.sources.index(source) for source, _ in columns),
            tuple(column.codes.astype(np.int64) for _, column in columns),
            tuple(column.cardinality for _, column in columns),
        )

    def values(self, name: str) -> Any:
        """Return what the values of an attribute of one column, or of a secret, stand for."""
        (column,) = self.first.columns_of(name)
        return self._seen[self._source_of[column.name]].column(column.name).values

    def _views(self, records: int) -> tuple[Step, ...]:
        """Return how columns are seen, in the order in which a file's would be told."""
        views = {
            (view.column, view.word): view for table in self._seen.values() for view in table.views
        }
        first = as_seen(self.first, self._dataset, self._study)
        ordered = tuple(views[view.column, view.word] for view in first.views)
        return view_steps(replace(first, records=records, views=ordered))

    def _treating(self) -> Treating:
        """Return how tasks tell which records belong to the study.

        Raises:
            DataError: There is no column that it asks for.
        """
        first, treatment = self.first, self._treatment
        where, invalid = (
            [parse_condition(condition) for condition in conditions]
            for conditions in (treatment.where, treatment.invalid)
        )
        hidden = [part.name for name in first.quasi_identifiers for part in first.columns_of(name)]
        columns = {}
        for name in first.columns:
            source = self._source_of[name]
            if source in self._written:
                columns[name] = self._written[source].column(name)
        is_hidden = all(columns[name].values.index(SUPPRESSED).as_py() >= 0 for name in hidden)
        written = replace(
            first,
            columns=columns,
            missing_codes={},
            views=tuple(view for table in self._written.values() for view in table.views),
        )
        for condition in (*where, *invalid):
            first.column(condition.column)
        return Treating(
            self._texts,
            written,
            {name: self.sources.index(self._source_of[name]) for name in first.columns},
            {"where": where, "invalid": invalid, "drop_missing": treatment.drop_missing},
            tuple(hidden if is_hidden else ()),
        )

    def treated(self) -> tuple[Treating, list[Step]]:
        """Return how tasks tell which records belong to the study; what was left out, and how columns are seen.

        Raises:
            DataError: There is no column that the study asks for, or no record remains.
        """
        treating, steps, records, stars = self._treating(), list[Step](), self.records, 0
        if treating.is_needed:
            rows = self.frame.mapInArrow(
                partial(_left_out, treating=treating), "what string, name string, n long, place int"
            )
            totals = rows.groupBy("place", "what", "name").agg(sf.sum("n").alias("n")).collect()
            ordered = sorted(totals, key=itemgetter("place"))
            *counts, (_, _, stars) = [(row["what"], row["name"], row["n"]) for row in ordered]
            steps = left_out_steps(self.first.name, records, counts)
            records = steps[-1].after if steps else records
        dropping = self._treatment.drop_suppressed
        if 0 < stars < records and (not self._study.is_joined if dropping is None else dropping):
            treating = replace(treating, without_suppressed=True)
            steps.append(Step(self.first.name, SUPPRESSED_RECORD, None, records, records - stars))
            records -= stars
        elif stars == records:
            stars = 0
        self.records, self.stars = records, stars
        return treating, [*steps, *self._views(records)]

    def packed(
        self,
        treating: Treating,
        known: Sequence[CodedAttribute],
        hidden: Sequence[CodedAttribute],
        packing: Packing,
        texts: Sequence[int],
    ) -> DataFrame:
        """Return the records that belong to the study, packed, beside the texts of some columns."""
        names = [f"c{place} string" for place in texts]
        return self.frame.mapInArrow(
            partial(
                packed_chunks,
                chunked=treating,
                known=known,
                hidden=hidden,
                packing=packing,
                texts=texts,
            ),
            ", ".join([*packed_columns(packing), *names]),
        )

    def one_each(
        self, written: DataFrame, packing: Packing, seed: int
    ) -> tuple[DataFrame, list[Step]]:
        """Keep one record of every person: of several, by a draw that depends on the seed and on what they hold."""
        words, name = word_names(packing), str(self.first.identifier)
        person = self.person
        named = written.where(person != MISSING)
        people, with_name = named.select(sf.countDistinct(person), sf.count(sf.lit(1))).collect()[0]
        nameless = [
            (WITHOUT_IDENTIFIER, column, self.records - with_name) for column in (name, None)
        ]
        are_nameless = with_name < self.records
        steps = left_out_steps(self.first.name, self.records, nameless if are_nameless else ())[:1]
        if people < with_name:
            steps.append(Step(self.first.name, ONE_EACH, name, with_name, people))
            draw = Window.partitionBy(person).orderBy(
                sf.xxhash64(sf.lit(seed), person, *words), *words
            )
            drawn = named.withColumn("drawn", sf.row_number().over(draw))
            named = drawn.where(sf.col("drawn") == 1).drop("drawn")
        self.records = people
        return named, steps

    @property
    def people(self) -> list[int]:
        """Where the column stands that names a person, if there is one."""
        name = self.first.identifier
        return [] if name is None else [self.sources.index(name)]

    @property
    def person(self) -> Column:
        """The column that names a person."""
        return sf.col(f"c{self.people[0]}")

    def _understood(self, name: str, texts: pa.Array) -> EncodedTable:
        """Read the distinct texts of a column as those of a file are read.

        Raises:
            DataError: One is not what it is to be.
        """
        derived = [new for new, source in self._source_of.items() if source == name != new]
        words: dict[str, Any] = {
            kind: {column: rules[column] for column in (name, *derived) if column in rules}
            for kind, rules in self._table.words.items()
            if kind in KINDS
        }
        try:
            return read_table(
                pa.table({name: texts}),
                also=[name, *derived],
                dialect=self._table.words.get("dialect"),
                name=self.first.name,
                **words,
            )
        except DataError as error:
            if "record" not in error.parts:
                raise
            raise DataError(
                '{table}: "{value}" in column "{column}" is not a number or a date as asked for; say how they are '
                "written, or what stands for missing: `missing` {column}={value}",
                table=self.first.name,
                value=error.parts["value"],
                column=error.parts["column"],
            ) from None


def _refuse_quantiles(rules: Any) -> None:
    if any(quantiles(str(rule)) for rule in rules):
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
            "{name}: the columns have more than {most} distinct values in all, which is too many on Spark; leave "
            "out those that identify people, or group them",
            name=name,
            most=MOST_VALUES,
        )
    texts, records = {}, 0 if places else frame.count()
    for place in places:
        of_place = rows.filter(pc.equal(rows["place"], place))
        texts[place] = of_place["text"].combine_chunks().cast(pa.large_string()).sort()
        records = pc.sum(of_place["n"]).as_py() or 0
    if not records:
        raise DataError("{name}: has no records", name=name)
    return texts, records


# What tasks do with their records.


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


def _looked_at(
    batches: Iterator[pa.RecordBatch], *, study: AssessStudy, words: Mapping[str, Any]
) -> Iterator[pa.RecordBatch]:
    first = [chunk for chunk in _chunks(batches) if chunk.num_rows]
    if first:
        seen = look_at(read_table(pa.Table.from_batches(first), **words), study)
        yield as_rows(look=pa.array([pickle.dumps(seen)], pa.binary()))


def _counted_texts(
    batches: Iterator[pa.RecordBatch], *, places: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    for chunk in _chunks(batches):
        for place in places:
            counted = chunk.column(place).value_counts()
            yield as_rows(
                place=np.full(len(counted), place, np.int32),
                text=counted.field("values").cast(pa.string()),
                n=counted.field("counts"),
            )


def _joint_values(
    batches: Iterator[pa.RecordBatch], *, chunked: Chunked, facts: Mapping[int, CodedAttribute]
) -> Iterator[pa.RecordBatch]:
    for raw, _ in chunked.chunks(batches):
        for place, fact in facts.items():
            keys = np.unique(fact.keys(raw))
            yield as_rows(fact=np.full(len(keys), place, np.int32), key=keys)


def _left_out(batches: Iterator[pa.RecordBatch], *, treating: Treating) -> Iterator[pa.RecordBatch]:
    """Count what is left out for each reason; the reasons come in their order."""
    for raw, chunk in treating.every(batches):
        what, names, counts = zip(*treating.left_out(raw, chunk)[1], strict=True)
        yield as_rows(
            what=pa.array(what, pa.string()),
            name=pa.array(names, pa.string()),
            n=np.array(counts, np.int64),
            place=np.arange(len(counts), dtype=np.int32),
        )


def packed_chunks(
    batches: Iterator[pa.RecordBatch],
    *,
    chunked: Chunked,
    known: Sequence[CodedAttribute],
    hidden: Sequence[CodedAttribute],
    packing: Packing,
    texts: Sequence[int] = (),
) -> Iterator[pa.RecordBatch]:
    """Pack the records that belong to the study, beside the texts of some columns."""
    for raw, chunk in chunked.chunks(batches):
        size = chunk.num_rows or max(map(len, raw))
        if not size:
            continue
        records = packed(
            packing,
            [attribute.encoded(raw) for attribute in known],
            [attribute.encoded(raw) for attribute in hidden],
            0,
            size,
        )
        words = records.view(np.int64).reshape(size, packing.words)
        columns: dict[str, Any] = {
            name: np.ascontiguousarray(words[:, word])
            for word, name in enumerate(word_names(packing))
        }
        columns["n"] = np.ones(size, np.int64)
        for place in texts:
            columns[f"c{place}"] = chunk.column(place).cast(pa.string())
        yield as_rows(**columns)


def packed_columns(packing: Packing) -> list[str]:
    """Return the columns of packed records, and what they hold."""
    return [*(f"{word} long" for word in word_names(packing)), "n long"]
