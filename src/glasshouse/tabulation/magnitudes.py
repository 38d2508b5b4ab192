"""Whether an output may be told of the records behind it: threshold, zeros, class disclosure, dominance and p %.

These rules look at one output at a time, and at the records that its publisher has: how many are behind a count or a
figure, how much of a total the largest of them make up, and how nearly the second largest can estimate the largest. A
count that is suppressed or rounded is protected already, and judged by what follows from all outputs instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa

from glasshouse.errors import StudyError
from glasshouse.study.policy import MagnitudeRule
from glasshouse.study.tables import NumberInterval, PublishedTable, Statistic, TablesStudy
from glasshouse.tabulation.outputs import IN

Record = Mapping[str, str]


@dataclass(frozen=True)
class RecordChecks:
    """How many counts and figures of an output break a rule about the records behind them."""

    below_threshold: int = 0
    """Of too few records, or of too few values."""
    empty: int = 0
    """Of nobody, shown as such."""
    one_class: int = 0
    """Groups of which everybody has the same value."""
    dominated: int = 0
    """Figures of which the largest records make up too much."""
    estimable: int = 0
    """Figures from which the second largest estimates the largest too nearly."""

    def to_dict(self) -> dict[str, int]:
        """Return them as plain values."""
        return dict(vars(self))

    def to_frame(self) -> pa.Table:
        """Return them as a table of one row."""
        return pa.Table.from_pylist([self.to_dict()])


def columns_of(plan: TablesStudy, columns: Sequence[str]) -> list[str]:
    """Return the columns of records that an output is about; a cohort that is no column is that of all records.

    Args:
        plan: The plan of the output.
        columns: The columns that the records have.
    """
    names: dict[str, None] = {}
    for table in plan.tables:
        wheres = [table.where, *(one.where for one in table.statistics)]
        wheres += [one.within or {} for one in table.statistics]
        names |= dict.fromkeys(table.by)
        names |= {
            name: None
            for where in wheres
            for name, condition in where.items()
            if name in columns or condition != IN
        }
        names |= dict.fromkeys(one.of for one in table.statistics if one.of is not None)
    return list(names)


def record_checks(
    plan: TablesStudy, records: Sequence[Record], rule: MagnitudeRule
) -> RecordChecks:
    """Judge an output by the records behind it.

    Args:
        plan: The plan of the output.
        records: The records, with the columns that `columns_of` names.
        rule: The numbers of the rule.

    Raises:
        StudyError: A table has counts that are not those of the records.
    """
    checks = Counter[str]()
    for table in plan.tables:
        inside = [record for record in records if _is_in(table.where, record)]
        if table.rows is not None:
            checks.update(_of_counts(plan, table, inside, rule))
        for statistic in table.statistics:
            group = [record for record in inside if _is_in(statistic.where, record)]
            checks.update(_of_figure(table, statistic, group, rule))
    return RecordChecks(**checks)


def _is_in(where: Mapping[str, Any], record: Record) -> bool:
    for name, condition in where.items():
        if name not in record:
            continue
        if isinstance(condition, NumberInterval):
            number = _number(record[name])
            if number is None or not condition.holds(float(number)):
                return False
        else:
            among = condition if isinstance(condition, tuple) else (condition,)
            if record[name] not in {str(value) for value in among}:
                return False
    return True


def _of_counts(
    plan: TablesStudy, table: PublishedTable, records: Sequence[Record], rule: MagnitudeRule
) -> Iterator[str]:
    """Yield the rules that counts of a table break, once for each."""
    counts = Counter(tuple(record[name] for name in table.by) for record in records)
    differing = 0
    shown = {}
    for row in table.rows or ():
        key = tuple(map(str, row[:-1]))
        low, high = table.window(_count(row[-1]))
        differing += not low <= counts[key] <= high
        if low == high:
            shown[key] = counts[key]
    if differing:
        raise StudyError(
            'table "{table}": {count} counts are not those of the records; is it of these people?',
            table=table.id,
            count=differing,
        )
    yield from ("below_threshold" for count in shown.values() if 0 < count < rule.threshold)
    domains = [tuple(map(str, plan.attributes[name].domain)) for name in table.by]
    hidden = {tuple(map(str, row[:-1])) for row in table.rows or ()} - shown.keys()
    if rule.zeros and table.complete and table.rounding is None:
        zeros = (key for key in product(*domains) if not counts[key] and key not in hidden)
        yield from ("empty" for _ in zeros)
    for place, domain in enumerate(domains if len(domains) > 1 else ()):
        groups: dict[tuple[str, ...], set[str]] = {}
        masked = {(*key[:place], *key[place + 1 :]) for key in hidden}
        for key in counts:
            groups.setdefault((*key[:place], *key[place + 1 :]), set()).add(key[place])
        alike = [rest for rest, values in groups.items() if len(values) == 1 < len(domain)]
        yield from ("one_class" for rest in alike if rest not in masked)


def _count(entry: Any) -> int | tuple[int, int] | str:
    """Return the last entry of a row, which the plan has found to be a count."""
    count: int | tuple[int, int] | str = entry
    return count


def _of_figure(
    table: PublishedTable, statistic: Statistic, group: Sequence[Record], rule: MagnitudeRule
) -> Iterator[str]:
    """Yield the rules that a figure of some people breaks, once for each."""
    if statistic.count is not None:
        low, high = table.window(statistic.count)
        if not low <= len(group) <= high:
            raise StudyError(
                'table "{table}": {count} counts are not those of the records; is it of these people?',
                table=table.id,
                count=1,
            )
        if low == high and 0 < len(group) < rule.threshold:
            yield "below_threshold"
    if statistic.of is None:
        return
    values = [_number(record[statistic.of]) for record in group]
    sizes = sorted((abs(value) for value in values if value is not None), reverse=True)
    if len(sizes) < rule.threshold:
        yield "below_threshold"
    if statistic.sum is None and statistic.mean is None:
        return
    total = sum(sizes, Fraction(0))
    if total and sum(sizes[: rule.n]) > Fraction(str(rule.k)) * total:
        yield "dominated"
    if total and total - sum(sizes[:2]) < Fraction(str(rule.p)) * sizes[0]:
        yield "estimable"


def _number(written: str) -> Fraction | None:
    """Return a number exactly; None: there is none.

    >>> _number("2.5"), _number("")
    (Fraction(5, 2), None)
    """
    try:
        return Fraction(written)
    except (ValueError, ZeroDivisionError):
        return None
