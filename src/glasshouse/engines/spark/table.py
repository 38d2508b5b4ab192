"""A release that stays where it is: its texts become codes, and its records packed words, in tasks of the cluster.

Here are only the distinct values of the columns that matter, read by the same rules as those of a file; what is done to
a value (its type, its band, whether it is missing, whether it meets a condition) is done to them, once, and sent along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from glasshouse.arrays import Flags, Integers
from glasshouse.engines.spark.session import check_workers, spark_failures
from glasshouse.engines.spark.steps import gathered, value_of, values_in, word_names
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.microdata.attack_kernels import Weights, record_numbers
from glasshouse.microdata.parts import part_values
from glasshouse.microdata.sweep_steps import SAMPLED_RECORDS, Packing, packed, plan_packing
from glasshouse.runs.reading import as_seen
from glasshouse.sources import MISSING
from glasshouse.sources.entry import UNNAMED
from glasshouse.sources.source import as_text
from glasshouse.study import Dataset, parse_condition
from glasshouse.study.assess import AssessStudy
from glasshouse.table import EncodedColumn, EncodedTable, Step, view_steps
from glasshouse.table import read as read_table
from glasshouse.table.generalised import SUPPRESSED, is_suppressed
from glasshouse.table.profiles import FIRST_RECORDS
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
        _refuse_quantiles((words.get("bands") or {}).values())
        understood = {kind: words[kind] for kind in (*KINDS, "dialect") if words.get(kind)}
        return cls(frame, first, understood, is_decoded)


@dataclass(frozen=True)
class PackedRelease:
    """The records of a study as packed words, and what is known of them here."""

    name: str
    """What results call it."""
    frame: DataFrame
    """A column per word, and how many equal records each stands for."""
    texts: DataFrame
    """The same, and the columns as they are written: not kept, but worked out anew where it is asked for."""
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
    """Per attribute, what its values stand for; None: it is made of several columns."""
    unknown: tuple[int | None, ...]
    """Per secret, the value that stands for missing, where there is one that is not learned."""
    steps: tuple[Step, ...]
    """What was left out, and how columns are seen."""
    suppressed: int
    """How many records hold nothing but ``*``, be they left out or not."""
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
class _Treating:
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

    def chunks(
        self, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[tuple[list[Integers], pa.RecordBatch]]:
        """Yield some records at a time: per column, the position of every text; and the texts."""
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


def pack(table: SparkTable, study: AssessStudy) -> PackedRelease:
    """Read the columns that a study has to do with, leave out what does not belong, and pack the rest.

    Raises:
        DataError: A value is not what it is to be, or nothing is left.
        StudyError: Something is asked for that is not done on Spark.
        BudgetError: There are too many distinct values.
    """
    columns = _Columns(table, study)
    adversary, first = study.adversary, table.first
    treating = columns.treating()
    records, steps, stars = columns.treated(treating)
    if 0 < stars < records and study.treatment.drop_suppressed is not False:
        treating = replace(treating, without_suppressed=True)
        steps.append(Step(first.name, SUPPRESSED_RECORD, None, records, records - stars))
        records -= stars
    elif stars == records:
        stars = 0
    steps += columns.views(records)
    known = columns.joint([columns.attribute(name) for name in adversary.knowable])
    secrets = [columns.attribute(name) for name in adversary.secret_columns]
    further = [columns.attribute(name) for name in (study.by, adversary.weight) if name is not None]
    packing = plan_packing(
        [attribute.column for attribute in known],
        [attribute.column for attribute in (*secrets, *further)],
    )
    identifier = adversary.identifier
    names = [f"{word} long" for word in word_names(packing)]
    texts = [f"{name} string" for name in columns.frame.columns]
    written = columns.frame.mapInArrow(
        partial(
            _packed,
            treating=treating,
            attributes=known,
            secrets=[*secrets, *further],
            packing=packing,
        ),
        ", ".join([*names, "n long", *texts]),
    )
    if identifier is not None:
        step = Step(first.name, "", identifier, records, records)
        person = sf.col(f"c{columns.sources.index(identifier)}")
        written, of_people = _one_each(written, person, packing, study.seed, step)
        steps += of_people
        records = steps[-1].after if of_people else records
    frame = written.select(*word_names(packing), "n").persist()
    tallies = tally(frame, [*packing.attributes, *packing.secrets], packing.words)
    of_secrets = tallies[len(known) : len(known) + len(secrets)]
    as_value = first.missing_is_a_value or adversary.missing_is_a_value
    unknown: list[int | None] = []
    for name, totals in zip(adversary.secret_columns, of_secrets, strict=True):
        code = -1 if as_value else int(columns.values(name).index(MISSING).as_py())
        unknown.append(code if code >= 0 and totals[code] else None)
    release = PackedRelease(
        first.name,
        frame,
        written,
        tuple(columns.sources),
        packing._replace(secrets=packing.secrets[: len(secrets)]),
        records,
        tuple(of_secrets),
        tuple(tallies[: len(known)]),
        tuple(columns.values(name) for name in adversary.knowable),
        tuple(unknown),
        tuple(steps),
        stars,
    )
    if study.by is not None:
        parts = tuple(
            (value, code, int(tallies[-1][code]))
            for value, code in part_values(first, study.by, columns.values(study.by), tallies[-1])
        )
        release = replace(release, criterion=packing.secrets[-1], parts=parts)
    if adversary.weight is not None:
        there = np.flatnonzero(tallies[-1])
        column = EncodedColumn("", there.astype(np.uint32), columns.values(adversary.weight))
        held = EncodedTable(first.name, records, {adversary.weight: column}, {})
        each = np.zeros(len(tallies[-1]), np.int64)
        each[there] = record_numbers(held, adversary.weight, "weight")[0]
        release = replace(
            release,
            weight=packing.secrets[-1],
            weight_name=adversary.weight,
            weights=Weights(each, 0, 0),
        )
    return release


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
        _refuse_quantiles(study.datasets[0].bands.values())
        self.sources = list(dict.fromkeys(self._source_of[name] for name in self._first.columns))
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
                    '`{kind}` of "{name}", which names people, is not done on Spark; do it in the frame',
                    kind=kind,
                    name=person,
                )
        coded = [place for place, name in enumerate(self.sources) if name != person]
        self._texts, self._records = _distinct_texts(self.frame, coded, self._first.name)
        self._written: dict[str, EncodedTable] = {}
        self._seen: dict[str, EncodedTable] = {}
        for place, texts in self._texts.items():
            name = self.sources[place]
            if table.is_decoded and pc.any(pc.match_substring(texts, "\ufffd")).as_py():
                raise DataError(
                    '{name}: column "{column}" holds bytes that are no text in this encoding; say `encoding`',
                    name=self._first.name,
                    column=name,
                )
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

    def values(self, name: str) -> Any:
        """Return what the values of an attribute, or of a secret, stand for; None: it is made of several columns."""
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
                partial(_joint_values, treating=self.treating(), facts=facts),
                "fact int, key long",
            )
            .distinct()
            .toArrow()
        )
        joint = list(attributes)
        for place, fact in facts.items():
            keys = rows.filter(pc.equal(rows["fact"], place))["key"].to_numpy()
            joint[place] = replace(fact, joint=np.sort(keys))
        return joint

    def views(self, records: int) -> tuple[Step, ...]:
        """Return how columns are seen, in the order in which a file's would be told."""
        views = {
            (view.column, view.word): view for table in self._seen.values() for view in table.views
        }
        first = as_seen(self._first, self._study.datasets[0], self._study)
        ordered = tuple(views[view.column, view.word] for view in first.views)
        return view_steps(replace(first, records=records, views=ordered))

    def treating(self) -> _Treating:
        """Return how tasks tell which records belong to the study.

        Raises:
            DataError: There is no column that it asks for.
        """
        first, treatment = self._first, self._study.treatment
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
        return _Treating(
            self._texts,
            written,
            {name: self.sources.index(self._source_of[name]) for name in first.columns},
            {"where": where, "invalid": invalid, "drop_missing": treatment.drop_missing},
            tuple(hidden if is_hidden else ()),
        )

    def treated(self, treating: _Treating) -> tuple[int, list[Step], int]:
        """Return how many records remain, what was left out, and how many of the remaining are suppressed.

        Raises:
            DataError: None remains.
        """
        if not treating.is_needed:
            return self._records, [], 0
        rows = self.frame.mapInArrow(
            partial(_counted, treating=treating), "what string, name string, n long, place int"
        )
        totals = rows.groupBy("place", "what", "name").agg(sf.sum("n").alias("n")).collect()
        ordered = sorted(totals, key=itemgetter("place"))
        *counts, (_, _, stars) = [(row["what"], row["name"], row["n"]) for row in ordered]
        steps = left_out_steps(self._first.name, self._records, counts)
        return steps[-1].after if steps else self._records, steps, stars

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
                name=self._first.name,
                **words,
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
    frame: DataFrame, person: Column, packing: Packing, seed: int, step: Step
) -> tuple[DataFrame, list[Step]]:
    """Keep one record of every person: of several, by a draw that depends on the seed and on what they hold."""
    words, records = word_names(packing), step.before
    named = frame.where(person != MISSING)
    people, with_name = named.select(sf.countDistinct(person), sf.count(sf.lit(1))).collect()[0]
    nameless = [(WITHOUT_IDENTIFIER, column, records - with_name) for column in (step.column, None)]
    steps = left_out_steps(step.dataset, records, nameless if with_name < records else ())[:1]
    if people < with_name:
        steps.append(replace(step, what=ONE_EACH, before=with_name, after=people))
        draw = Window.partitionBy(person).orderBy(sf.xxhash64(sf.lit(seed), person, *words), *words)
        drawn = named.withColumn("drawn", sf.row_number().over(draw))
        named = drawn.where(sf.col("drawn") == 1).drop("drawn")
    return named, steps


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


def _counted_texts(
    batches: Iterator[pa.RecordBatch], *, places: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    for chunk in _chunks(batches):
        for place in places:
            counted = chunk.column(place).value_counts()
            yield _rows(
                place=np.full(len(counted), place, np.int32),
                text=counted.field("values").cast(pa.string()),
                n=counted.field("counts"),
            )


def _joint_values(
    batches: Iterator[pa.RecordBatch], *, treating: _Treating, facts: Mapping[int, _Attribute]
) -> Iterator[pa.RecordBatch]:
    for raw, _ in treating.chunks(batches):
        for place, fact in facts.items():
            keys = np.unique(fact.keys(raw))
            yield _rows(fact=np.full(len(keys), place, np.int32), key=keys)


def _counted(batches: Iterator[pa.RecordBatch], *, treating: _Treating) -> Iterator[pa.RecordBatch]:
    """Count what is left out for each reason; the reasons come in their order."""
    for raw, chunk in treating.chunks(batches):
        what, names, counts = zip(*treating.left_out(raw, chunk)[1], strict=True)
        yield _rows(
            what=pa.array(what, pa.string()),
            name=pa.array(names, pa.string()),
            n=np.array(counts, np.int64),
            place=np.arange(len(counts), dtype=np.int32),
        )


def _packed(
    batches: Iterator[pa.RecordBatch],
    *,
    treating: _Treating,
    attributes: Sequence[_Attribute],
    secrets: Sequence[_Attribute],
    packing: Packing,
) -> Iterator[pa.RecordBatch]:
    """Pack the records that belong to the study, beside their texts."""
    for raw, chunk in treating.chunks(batches):
        size = chunk.num_rows
        if treating.is_needed:
            staying = ~treating.left_out(raw, chunk)[0]
            size = int(np.count_nonzero(staying))
            raw = [codes[staying] if len(codes) else codes for codes in raw]
            chunk = chunk.filter(pa.array(staying))
        if not size:
            continue
        records = packed(
            packing,
            [attribute.encoded(raw) for attribute in attributes],
            [secret.encoded(raw) for secret in secrets],
            0,
            size,
        )
        words = records.view(np.int64).reshape(size, packing.words)
        columns: dict[str, Any] = {
            name: np.ascontiguousarray(words[:, word])
            for word, name in enumerate(word_names(packing))
        }
        columns["n"] = np.ones(size, np.int64)
        for place, texts in enumerate(chunk.columns):
            columns[f"c{place}"] = texts.cast(pa.string())
        yield _rows(**columns)


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
        yield _rows(
            place=np.full(len(values), place, np.int32), code=values.astype(np.int32), n=totals
        )


def _rows(**columns: Any) -> pa.RecordBatch:
    arrays = [
        pa.array(column) if isinstance(column, np.ndarray) else column
        for column in columns.values()
    ]
    return pa.record_batch(arrays, names=list(columns))
