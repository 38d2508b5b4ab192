"""What every source offers, whatever stands behind it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DataError
from glasshouse.language import quoted, text, unknown_name
from glasshouse.progress import OnProgress, Progress

MISSING = ""
"""Empty and missing are one explicit value."""
SUPPRESSED = "*"
"""Whoever anonymised a release did not tell a value."""

BATCH_RECORDS = 1 << 18
"""At most so many records in a batch that comes from memory or a columnar file."""
BATCH_BYTES = 1 << 23
"""At most so many bytes of text in such a batch, if more than one record is in it."""


LONGEST_VALUE = 1 << 25
"""No value that is meant to be compared has so many bytes; delimited text refuses a record of that length too."""


DAMAGES = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What reading a damaged file may end in; the last one where a name or a value is no text."""
FIRST_RECORDS, FIRST_BYTES = 1 << 16, 1 << 24
"""A first look is at so many records, and reads no more text than this."""
LONG_RECORD, FEWEST_RECORDS = 1 << 10, 100
"""From so many bytes on a record is very long; of such ones, so many are looked at in any case."""
EXACT_INTEGERS = 2.0**53
"""Below it a floating number holds every integer exactly."""


class Source(ABC):
    """A table somewhere, read as text."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self._name = name
        self._columns = check_names(columns, where=name)

    @property
    def name(self) -> str:
        """What messages and results call it."""
        return self._name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, all different and none empty."""
        return self._columns

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """What values stand for, by column: ``{"sex": {"1": "male"}}``. Only some formats have them."""
        return {}

    @property
    def column_labels(self) -> Mapping[str, str]:
        """What columns stand for: ``{"v12": "Highest school"}``. Only some formats have them."""
        return {}

    @property
    def measures(self) -> Mapping[str, str]:
        """Whether columns are ``nominal``, ``ordinal`` or ``scale``, where the file says it. Only SPSS does."""
        return {}

    @property
    def missing_ranges(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """From which to which value columns are declared missing. Only SPSS does so for more than it holds."""
        return {}

    def missing_codes(self, column: str, values: pa.LargeStringArray) -> frozenset[str]:
        """Return those of the values of a column, once it is read, that the file itself calls missing.

        Only some formats call any so.
        """
        return frozenset()

    @property
    def assumed_encoding(self) -> str | None:
        """The encoding that was concluded from the letters, once all is read; none if it was known."""
        return None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was concluded of how it is written, once all is read: phrases, each with what says otherwise."""
        if self.assumed_encoding is None:
            return ()
        return (
            text(
                "{encoding} letters, as it is not UTF-8 (`encoding`)",
                encoding=self.assumed_encoding,
            ),
        )

    def first(self, records: int, most_bytes: int | None = None) -> pa.Table:
        """Return the first records, all columns as text; where they are long, no more than take so many bytes.

        Of very long ones a quarter is enough: whoever looks at them copies them several times.
        """
        batches: list[pa.RecordBatch] = []
        seen = size = 0
        for batch in self.batches(self._columns):
            most = most_bytes
            if most is not None and batch.nbytes >= LONG_RECORD * max(1, len(batch)):
                most //= 4
            left = records - seen
            if most is not None and size + batch.nbytes > most:
                each = batch.nbytes / max(1, len(batch))
                left = min(left, max(FEWEST_RECORDS - seen, int((most - size) / max(1.0, each))))
            batches.append(batch.slice(0, max(0, left)))
            seen += len(batches[-1])
            size += batch.nbytes
            if seen >= records or len(batches[-1]) < len(batch) or (most and size >= most):
                break
        return pa.Table.from_batches(
            batches, pa.schema([(name, pa.string()) for name in self._columns])
        )

    def batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as batches of ``string`` arrays without nulls, as `coded_batches` does.

        A text that stands once in a dictionary is written out as often as it is used: batches have so few records that
        it takes no more than some bytes.
        """
        for batch in self.coded_batches(columns, on_progress=on_progress):
            dictionaries = [
                column.dictionary for column in batch.columns if pa.types.is_dictionary(column.type)
            ]
            records = records_at_once(sum(map(longest_text, dictionaries)))
            for start in range(0, max(1, batch.num_rows), records):
                piece = batch.slice(start, records)
                yield pa.record_batch(
                    [column.cast(pa.string()) for column in piece.columns], names=piece.schema.names
                )

    @abstractmethod
    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as batches of ``string`` arrays, or of dictionaries of these, without nulls.

        A text may be in a dictionary twice, or not be used.

        Args:
            columns: Their names.
            on_progress: Called after each batch with how much is read, in whatever unit fits the source.

        Raises:
            DataError: The content is malformed; nothing that was yielded before may then be used.
        """


def check_names(names: Sequence[str], *, where: str) -> tuple[str, ...]:
    """Return the names of a table's columns, if each exists and stands for one column only.

    Raises:
        DataError: A name is empty, or there twice.
    """
    if not names:
        raise DataError("{where}: has no columns", where=where)
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(
                "{where}: column {position} has no name; name it in the header, or give all names",
                where=where,
                position=position,
            )
        if name in seen:
            raise DataError(
                '{where}: columns {first} and {second} are both called "{name}"; rename one, or give all names',
                where=where,
                first=seen[name],
                second=position,
                name=name,
            )
        seen[name] = position
    return tuple(names)


def longest_text(texts: pa.Array) -> int:
    """Return the bytes of the longest of some texts.

    >>> longest_text(pa.array(["a", "été", None]))
    5
    """
    return pc.max(pc.binary_length(texts)).as_py() or 0


def records_at_once(record_bytes: float) -> int:
    """Return how many records a batch may have, if each has at most so many bytes.

    >>> records_at_once(0), records_at_once(1 << 20), records_at_once(1 << 30)
    (262144, 8, 1)
    """
    return max(1, min(BATCH_RECORDS, int(BATCH_BYTES / max(1, record_bytes))))


def check_columns(source: Source, columns: Sequence[str]) -> None:
    """Make sure that the source has these columns.

    Raises:
        DataError: One is not there; the near ones are named. Or a name is none.
    """
    for column in columns:
        if not isinstance(column, str):
            raise DataError(
                "a column is given by its name, as text, and not by {given}", given=repr(column)
            )
        if column not in source.columns:
            raise DataError(unknown_name("column", column, source.name, source.columns))


def text_batches(
    batches: Iterable[pa.RecordBatch],
    *,
    expected: int,
    name: str,
    kind: str,
    on_progress: OnProgress | None,
) -> Iterator[pa.RecordBatch]:
    """Yield batches as text, and make sure that there are as many records as their file announces.

    Raises:
        DataError: The file is damaged.
    """
    done = 0
    try:
        for batch in batches:
            batch.validate(full=True)  # what it points to may lie anywhere in memory, or be no text
            yield as_text(batch, where=name)
            done += batch.num_rows
            del batch  # before the next one is unpacked
            if on_progress:
                on_progress(Progress("reading", done, expected))
    except DAMAGES as error:
        raise damage_error(name, kind, error) from None
    if done != expected:
        raise DataError(
            "{name}: holds {found} records where it announces {announced}; it is damaged",
            name=name,
            found=done,
            announced=expected,
        )


def damage_error(name: str, kind: str, error: Exception) -> DataError:
    """Return the error for a file that is not what it claims to be, or no longer."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(
        "{name}: is not a readable {kind} file ({reason}); write it again",
        name=name,
        kind=kind,
        reason=reason,
    )


def reader_of(library: str, *, name: str, kind: str, extra: str) -> Any:
    """Return a library that reads one kind of file, and that not everybody has.

    Raises:
        DataError: It is not installed; the extra that brings it is named.
    """
    try:
        return import_module(library)
    except ImportError:
        raise DataError(
            "{name}: is a {kind} file, and reading it needs an extra of Glasshouse: {command}",
            name=name,
            kind=kind,
            command=f"pip install 'glasshouse[{extra}]'",
        ) from None


def as_text(batch: pa.RecordBatch, *, where: str) -> pa.RecordBatch:
    """Return the batch with every column as text, or as a dictionary of texts, and nulls as the missing value.

    Raises:
        DataError: A column holds lists or structures, which have no value to compare.
    """
    return pa.record_batch(
        [
            _text(column, name=name, where=where)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ],
        names=batch.schema.names,
    )


def _text(column: pa.Array, *, name: str, where: str) -> pa.Array:
    if pa.types.is_null(column.type):
        return pa.repeat(MISSING, len(column))
    try:
        values = _written(column)
    except pa.ArrowException:
        raise DataError(
            '{where}: column {name} holds values of type "{kind}", which are not text, numbers or dates; leave it '
            "out or flatten it",
            where=where,
            name=quoted([name]),
            kind=column.type,
        ) from None
    texts = values.dictionary if isinstance(values, pa.DictionaryArray) else values
    if texts.nbytes > LONGEST_VALUE and pc.max(pc.binary_length(texts)).as_py() > LONGEST_VALUE:
        raise DataError(
            "{where}: column {name} holds a value of more than {most} bytes; leave it out",
            where=where,
            name=quoted([name]),
            most=LONGEST_VALUE,
        )
    return _filled(values)


def _filled(values: pa.Array) -> pa.Array:
    return values.fill_null(MISSING) if values.null_count else values


def _written(column: pa.Array) -> pa.Array:
    """Return values as text; where they repeat, as a dictionary, in which every one is written once."""
    kind = column.type
    if isinstance(column, pa.DictionaryArray):
        texts, indices = _filled(_written(column.dictionary).cast(pa.string())), column.indices
        if indices.null_count:
            indices = indices.cast(pa.int64() if len(texts) >> 31 else pa.int32())
            indices = indices.fill_null(len(texts))
            texts = pa.concat_arrays([texts, pa.array([MISSING])])
        return pa.DictionaryArray.from_arrays(indices, texts)
    if isinstance(column, pa.ExtensionArray) or pa.types.is_duration(kind):
        raise pa.ArrowNotImplementedError
    if pa.types.is_string(kind):
        return column
    if _repeats(column):
        return _written(pc.dictionary_encode(column, null_encoding="encode"))
    if pa.types.is_floating(kind):
        return _number_text(column)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return moment_text(column)
    values = column.cast(pa.string())
    # as Python, and a CSV that pandas writes, have it
    return pc.utf8_capitalize(values) if pa.types.is_boolean(kind) else values


def moment_text(column: pa.Array) -> pa.Array:
    """Return moments, or times of day, as text, however finely they are stored: no zero ends a fraction of a second.

    >>> [moment_text(pa.array([1], pa.timestamp(unit))).to_pylist() for unit in ("s", "ms", "ns")]
    [['1970-01-01 00:00:01'], ['1970-01-01 00:00:00.001'], ['1970-01-01 00:00:00.000000001']]
    """
    is_time = pa.types.is_time(column.type)
    try:
        whole = pa.time32("s") if is_time else pa.timestamp("s", column.type.tz)
        return column.cast(whole).cast(pa.string())
    except pa.ArrowInvalid:  # some have a fraction
        values = column.cast(pa.string())
    values = pc.replace_substring_regex(values, r"\.0+([^0-9]|$)", r"\1")
    return pc.replace_substring_regex(values, r"(\.[0-9]*[1-9])0+([^0-9]|$)", r"\1\2")


def _repeats(column: pa.Array) -> bool:
    """Tell whether the values of a long column are likely to repeat so much that it is worth while to find them.

    It is sooner where they are floating numbers, which are slow to write.
    """
    if len(column) < 4 * _LOOKED_AT or pa.types.is_nested(column.type):
        return False
    most = 0.97 if pa.types.is_floating(column.type) else 0.75
    return len(column.slice(0, _LOOKED_AT).unique()) < most * _LOOKED_AT


_LOOKED_AT = 1 << 12
"""By so many values it is told whether a column repeats itself."""


def values_text(values: Sequence[Any]) -> pa.Array:
    """Return values of Python as text, by the same rules as whole columns.

    >>> values_text([35.0, 1e-5, "01310", True, None, datetime(2020, 1, 31)]).to_pylist()
    ['35', '0.00001', '01310', 'True', '', '2020-01-31']
    """
    kinds = set(map(type, values)) - {type(None)}
    if kinds in ({str}, {int}, {float}):
        try:
            return _filled(_written(pa.array(values)))
        except pa.ArrowException:
            pass  # an integer of more than 64 bits
    texts = pa.array(
        [value if isinstance(value, str) else _value_text(value) for value in values], pa.string()
    )
    if not texts.null_count:
        return texts
    numbers = [value if isinstance(value, float) else None for value in values]
    return pc.coalesce(texts, _number_text(pa.array(numbers, pa.float64())), MISSING)


def _value_text(value: Any) -> str | None:
    """Return what is not text as such, but for floating numbers, which are written together."""
    if value is None or isinstance(value, float):
        return None
    if isinstance(value, datetime):
        is_day = value.time() == time()
        return value.date().isoformat() if is_day else _trimmed(value.isoformat(sep=" "))
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, time):
        return _trimmed(value.isoformat())
    return str(value)  # dates as well, as ISO has them


def _trimmed(moment: str) -> str:
    """Return a moment without the zeros that end its fraction of a second.

    >>> _trimmed("10:30:00.500000"), _trimmed("10:30:00.500000+00:00"), _trimmed("10:30:00")
    ('10:30:00.5', '10:30:00.5+00:00', '10:30:00')
    """
    return re.sub(r"(\.\d*[1-9])0+", r"\1", moment)


def _number_text(column: pa.Array) -> pa.Array:
    """Return floating numbers as text: a code that was stored as a number is written without a point.

    Not a number is no value, and no zero is negative.
    """
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    column = pc.add(pc.if_else(pc.is_nan(column), None, column), pa.scalar(0, column.type))
    exact = pc.less(pc.abs(column), pa.scalar(EXACT_INTEGERS, column.type))
    whole = pc.and_(exact, pc.equal(column, pc.trunc(column)))
    integers = pc.if_else(whole, column, None).cast(pa.int64()).cast(pa.string())
    if pc.all(whole).as_py():
        return integers
    return pc.coalesce(integers, column.cast(pa.string()))
