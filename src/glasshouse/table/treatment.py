"""What is done to a dataset before it is attacked: records that do not belong are left out, and counted.

Every treatment returns the treated table and the steps it took, so that a report can say what was left out and why.
Nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Flags
from glasshouse.compiled import compiled
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, quoted, translated
from glasshouse.sources import MISSING
from glasshouse.study import Condition
from glasshouse.table.codes import Codes, Places, let_go, no_places
from glasshouse.table.encoded import ColumnView, EncodedTable, Role
from glasshouse.table.generalised import is_suppressed

WHERE = marked("outside the selection")
INVALID = marked("invalid value")
MISSING_VALUE = marked("missing value")
SUPPRESSED_RECORD = marked("suppressed")
WITHOUT_IDENTIFIER = marked("no identifier")
ONE_EACH = marked("further records of the same person")
VIEWED = {
    "date": "read as dates",
    "derive": "derived",
    "bands": "put in bands",
    "group": "grouped",
}
"""What was done to a column, by the word that asks for it: no record is left out for it."""

Reason = tuple[str, list[tuple[str, Flags]]]
"""Why records are left out, and per column which of them have it there."""
LeftOut = tuple[str, str | None, int]
"""A reason, a column or None for all of them, and how many records are left out for it."""


@dataclass(frozen=True)
class Step:
    """Records of one dataset that were left out for one reason, or a column of it that is seen otherwise."""

    dataset: str
    """The name of the dataset."""
    what: str
    """What the records had, for which they were left out."""
    column: str | None
    """The column that it was found in, counted by itself; None: the records left out for this reason in all."""
    before: int
    """The number of records before."""
    after: int
    """The number of records after."""
    view: ColumnView | None = None
    """How the column is seen, where none were left out."""

    @property
    def left_out(self) -> int:
        """How many records were left out."""
        return self.before - self.after

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain values."""
        content: dict[str, Any] = {
            "dataset": self.dataset,
            "what": self.what,
            "column": self.column,
            "before": self.before,
            "left_out": self.left_out,
            "after": self.after,
        }
        if self.view is not None:
            content |= {"rule": self.view.rule, "cuts": list(self.view.cuts)}
        return content


@dataclass(frozen=True)
class Treated:
    """A table after treatment."""

    table: EncodedTable
    """The records that are left."""
    steps: tuple[Step, ...]
    """What was left out, in the order in which it was done."""


def treat(
    table: EncodedTable,
    *,
    where: Sequence[Condition] = (),
    invalid: Sequence[Condition] = (),
    drop_missing: bool = False,
    apart: Sequence[str] = (),
    drop_suppressed: bool = False,
) -> Treated:
    """Keep the records that belong to the study.

    Args:
        table: The dataset.
        where: Only records that meet all of these are kept.
        invalid: Records that meet any of these are left out: they hold an invalid value.
        drop_missing: Whether records with a missing value in a column that has a role are left out.
        apart: Attributes; records with a missing value in one of them are left out, too.
        drop_suppressed: Whether records whose quasi-identifiers all hold ``*``, beside others of which not, are left
            out: they are suppressed, and form no class.

    Raises:
        DataError: A column is not in the table, or no record is left.

    >>> from glasshouse.study import parse_condition
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"age": ["20", "99", "30"], "state": ["SP", "SP", "RJ"]}))
    >>> treated = treat(people, where=[parse_condition("state=SP")], invalid=[parse_condition("age=99")])
    >>> treated.table.records, [(step.what, step.column, step.left_out) for step in treated.steps[1::2]]
    (1, [('outside the selection', None, 1), ('invalid value', None, 1)])
    """
    reasons = left_out_for(
        table, where=where, invalid=invalid, drop_missing=drop_missing, apart=apart
    )
    gone, counts = left_out(reasons, table.records)
    steps = left_out_steps(table.name, table.records, counts)
    if drop_suppressed:
        columns = [column for name in table.quasi_identifiers for column in table.columns_of(name)]
        hidden = is_suppressed(table, [column.name for column in columns]) & ~gone
        remaining, stars = table.records - np.count_nonzero(gone), np.count_nonzero(hidden)
        if 0 < stars < remaining:
            gone |= hidden
            steps.append(
                Step(table.name, SUPPRESSED_RECORD, None, int(remaining), int(remaining - stars))
            )
    return Treated(table.of_records(~gone) if gone.any() else table, tuple(steps))


def left_out_for(
    table: EncodedTable,
    *,
    where: Sequence[Condition] = (),
    invalid: Sequence[Condition] = (),
    drop_missing: bool = False,
    apart: Sequence[str] = (),
) -> Iterator[Reason]:
    """Yield why records do not belong to a study, one reason after the other; see `treat`.

    Raises:
        DataError: A column is not in the table.
    """
    if where:
        yield WHERE, [(condition.column, ~_meets(table, condition)) for condition in where]
    if invalid:
        yield INVALID, [(condition.column, _meets(table, condition)) for condition in invalid]
    if drop_missing or apart:
        named = [column.name for name in apart for column in table.columns_of(name)]
        if drop_missing:
            named = [name for name, role in table.roles.items() if role is not Role.IGNORED]
        yield (
            MISSING_VALUE,
            [(name, table.missing([name])) for name in named if name in table.columns],
        )


def left_out(reasons: Iterable[Reason], records: int) -> tuple[Flags, list[LeftOut]]:
    """Return which records are left out, and how many for each reason of what those before it have left."""
    gone = np.zeros(records, np.bool_)
    counts: list[LeftOut] = []
    for what, by_column in reasons:
        here = np.zeros(records, np.bool_)
        for column, marks in by_column:
            counts.append((what, column, int(np.count_nonzero(marks & ~gone))))
            here |= marks
        counts.append((what, None, int(np.count_nonzero(here & ~gone))))
        gone |= here
    return gone, counts


def left_out_steps(name: str, records: int, counts: Iterable[LeftOut]) -> list[Step]:
    """Say for each column by itself, and in all, how many records are left out of a dataset.

    Raises:
        DataError: All of them are.
    """
    steps: list[Step] = []
    by_column: list[Step] = []
    for what, column, number in counts:
        step = Step(name, what, column, records, records - int(number))
        if column is not None:
            by_column += [step] if number or what != MISSING_VALUE else []
            continue
        if not step.after:
            raise DataError(
                "{table}: all {records} records would be left out ({what} in {columns}): nothing is left",
                table=name,
                records=records,
                what=translated(what),
                columns=quoted(dict.fromkeys(one.column or "" for one in by_column)),
            )
        steps += [*by_column, step] if by_column else []
        records, by_column = step.after, []
    return steps


def view_steps(table: EncodedTable) -> tuple[Step, ...]:
    """Return what was done to the columns of a table before equal values were told apart."""
    return tuple(
        Step(table.name, VIEWED[entry.word], entry.column, table.records, table.records, entry)
        for entry in table.views
    )


def one_record_each(table: EncodedTable, *, seed: int = 0) -> Treated:
    """Keep one record of every person: an assumption of the attacks (Alvim et al. 2022, A2-B).

    Which of several records of a person is kept is a seeded random choice, each as likely. Records without an
    identifier cannot be told to be anybody's, and are left out.

    Args:
        table: A dataset with an identifier.
        seed: What the choice depends on, besides the place of the record in the dataset.

    Raises:
        DataError: No record has an identifier.
    """
    if table.identifier is None:
        raise DataError(
            "{table}: has no identifier, so that people cannot be told apart", table=table.name
        )
    column = table.column(table.identifier)
    gone = table.missing([column.name])
    nameless: list[LeftOut] = [
        (WITHOUT_IDENTIFIER, where, int(np.count_nonzero(gone))) for where in (column.name, None)
    ]  # in all they are those of this column
    steps = left_out_steps(table.name, table.records, nameless if gone.any() else ())[:1]
    table = table.of_records(~gone) if gone.any() else table
    column = table.column(column.name)
    chosen = no_places(column.cardinality, among=table.records)
    people = _choose(column.codes, np.uint64(seed), chosen)
    let_go(column.codes)
    if people < table.records:
        steps.append(Step(table.name, ONE_EACH, column.name, table.records, people))
        marks = np.zeros(table.records, np.bool_)
        marks[chosen[chosen >= 0]] = True
        table = table.of_records(marks)
    return Treated(table, tuple(steps))


def _meets(table: EncodedTable, condition: Condition) -> Flags:
    """Tell for every record whether it meets a condition."""
    column = table.column(condition.column)
    _refuse_former(table, condition)
    if condition.is_interval:
        texts = column.values.to_pylist()
        meeting = np.array([condition.holds(value) for value in texts], np.bool_)
    else:
        listed = pc.is_in(column.values, pa.array(condition.values, pa.large_string()))
        meeting = np.asarray(listed) != condition.negated
    marks: Flags = meeting[column.codes]
    return marks


def _refuse_former(table: EncodedTable, condition: Condition) -> None:
    """Make sure that a condition on a column that is in bands or grouped already names what it holds now.

    Raises:
        StudyError: It speaks of what the column held before, which no record would meet.
    """
    changed = {entry.column for entry in table.views if entry.word in ("bands", "group")}
    if condition.column not in changed:
        return
    labels = {MISSING, *table.column(condition.column).values.to_pylist()}
    if condition.is_interval or not labels.issuperset(condition.values):
        raise StudyError(
            '{table}: a condition on "{column}" speaks of values that it had before it was put in bands or grouped; '
            "give `bands` and `group` to the question, not to the table that was read before",
            table=table.name,
            column=condition.column,
        )


@compiled
def _choose(codes: Codes, seed: np.uint64, chosen: Places) -> int:
    """Choose per person the record with the least hash of the seed and its place; return how many people have one."""
    count = 0
    for i in range(codes.size):
        before = chosen[codes[i]]
        if before < 0:
            count += 1
            chosen[codes[i]] = i
        elif _mixed(np.uint64(i) + _mixed(seed)) < _mixed(np.uint64(before) + _mixed(seed)):
            chosen[codes[i]] = i
    return count


@compiled
def _mixed(number: np.uint64) -> np.uint64:
    """Return 64 bits that look random (the finaliser of SplitMix64, Steele et al. 2014)."""
    number += np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
