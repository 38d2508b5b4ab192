"""Joining records with totals by their keys: the groups of a phase, as arrays.

Records and totals that agree in the keys of the phase make a group (Favato 2021, section 5.1.2). Totals of the same bin
that stand in several rows are added up; each of these rows was rounded, so the window of their sum is wider:

    `sum`      T ± tolerance · rows
    `record`   T
    `unknown`  T ± tolerance · (rows − 1), and tolerance more for every record in the bin
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.language import marked
from glasshouse.study.totals import Phase, TotalsStudy
from glasshouse.totals.fixed_point import FAULTS, LARGE, UNMAPPED, exact
from glasshouse.totals.instance import LARGEST_SUM
from glasshouse.totals.publications import UNKNOWN, Published, Trouble, agreed, combined, said

Flags = NDArray[np.bool_]
_KINDS = {
    "missing": marked("groups with a measure that is missing"),
    "no number": marked("groups with a measure that is no number"),
    "negative": marked("groups with a measure that is negative"),
    "too many decimals": marked("groups with a measure of too many decimals"),
    "too large": marked(
        "groups with a measure that is too large: a number or a sum is beyond 62 bits"
    ),
    "contradicted": marked("groups with a row that repeats another and differs from it"),
    "unmapped": marked("groups with a total whose place the key map does not have"),
}
"""What troubles call the faults of measures."""


@dataclass(frozen=True, eq=False)
class Rounding:
    """The rounding model in scaled units, per measure."""

    model: str
    """"sum", "record" or "unknown"."""
    step: Integers
    """What the totals are rounded to."""
    tolerance: Integers
    """How far a sum may be from its total."""

    @property
    def halfwidth(self) -> Integers:
        """By how much a window widens with every record in the bin."""
        return self.tolerance if self.model == "unknown" else np.zeros_like(self.tolerance)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a phase: records and bins that share the keys, group by group."""

    labels: Sequence[str]
    """Per group, its keys in words."""
    record: Integers
    """The rows of the records, group by group."""
    record_group: Integers
    """The group of each of them."""
    packages: Integers
    """Their measures, rounded where records were rounded before adding."""
    bin: Integers
    """The bins, group by group: positions in `bin_names`."""
    bin_group: Integers
    """The group of each of them."""
    low: Integers
    """Per bin and measure, the least total."""
    high: Integers
    """Per bin and measure, the greatest total."""
    rounding: Rounding
    """How the totals were rounded."""
    bin_names: Sequence[str]
    """All bins of the phase."""
    bin_columns: Mapping[str, Sequence[str]]
    """Per column that names a bin, its text for every bin of the phase."""
    fault: NDArray[np.uint8]
    """Per group, the first thing wrong with its measures; see `glasshouse.totals.fixed_point.FAULTS`."""
    suppressed: Flags
    """Per group, whether another publication shows records of it that were not published."""
    unjoined: int
    """How many records agree with no totals."""
    troubles: tuple[Trouble, ...]
    """What is not as the plan says."""

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.labels)


def groups_of(study: TotalsStudy, phase: Phase, publications: Mapping[str, Published]) -> Groups:
    """Join the records of a phase with its totals.

    Groups are those of the totals or of the records that both have, and those of totals without any record. Records
    without totals are counted.
    """
    records, totals = publications[phase.packages], publications[phase.bins]
    record_key, total_key, count = _group_codes(phase, records, totals)
    measures = study.measures_of(phase)
    rounding = rounding_of(study, measures)
    with_totals = np.zeros(count, bool)
    with_totals[total_key[total_key != UNKNOWN]] = True
    renumbered = np.where(with_totals, np.cumsum(with_totals) - 1, UNKNOWN)
    record_key = np.where(record_key == UNKNOWN, UNKNOWN, renumbered[record_key])
    total_key = np.where(total_key == UNKNOWN, UNKNOWN, renumbered[total_key])
    count = int(with_totals.sum())
    order = _sorted_rows(record_key)
    weights = np.stack([records.measures[each] for each in measures], axis=1)[order]
    if rounding.model == "record":
        weights = (2 * weights + rounding.step) // (2 * rounding.step) * rounding.step
    bins, bin_group, low, high, bin_code, large = _bins(
        phase, totals, total_key, measures, rounding
    )
    fault = np.zeros(count, np.uint8)
    _note_faults(fault, records, measures, order, record_key[order])
    _note_faults(fault, totals, measures, (rows := _sorted_rows(total_key)), total_key[rows])
    too_large = large | _beyond(weights, record_key[order], count)
    fault[(fault == 0) & too_large] = LARGE
    fault[total_key[(total_key != UNKNOWN) & (bin_code == UNKNOWN)]] = UNMAPPED
    labels = _labels(phase, totals, total_key, count)
    unjoined = int((record_key == UNKNOWN).sum())
    columns = {each: _texts(totals, each, bin_code) for each in phase.bin}
    groups = Groups(
        labels=labels,
        record=order,
        record_group=record_key[order],
        packages=weights,
        bin=bins,
        bin_group=bin_group,
        low=low,
        high=high,
        rounding=rounding,
        bin_names=[" ".join(each) for each in zip(*columns.values(), strict=True)],
        bin_columns=columns,
        fault=fault,
        suppressed=_suppressed(phase, publications, records, record_key, total_key, count),
        unjoined=unjoined,
        troubles=(),
    )
    return _with_troubles(groups, phase, records, record_key)


def rounding_of(study: TotalsStudy, measures: Sequence[str]) -> Rounding:
    """Return the rounding model of the plan in scaled units."""
    half = Fraction(1, 2) if study.tolerance is None else exact(study.tolerance, "tolerance")
    steps = [
        exact(study.measures[each].unit, "unit") * 10 ** study.measures[each].decimals
        for each in measures
    ]
    margin = [0 if study.rounding == "record" else floor(half * step) for step in steps]
    return Rounding(
        study.rounding,
        np.array([int(step) for step in steps], np.int64),
        np.array(margin, np.int64),
    )


def _group_codes(
    phase: Phase, records: Published, totals: Published
) -> tuple[Integers, Integers, int]:
    """Return the group of every record and of every total."""
    both = []
    for own, other in phase.keys.items():
        column = records.column(own)
        both.append(np.concatenate([column.codes, agreed(column, totals.column(other))]))
    codes, count = combined(both)
    return codes[: records.rows], codes[records.rows :], count


def _sorted_rows(key: Integers) -> Integers:
    """Return the rows with a key, in the order of the keys."""
    order = np.argsort(key, kind="stable")
    return np.asarray(order[key[order] != UNKNOWN])


def _bins(
    phase: Phase, totals: Published, key: Integers, measures: Sequence[str], rounding: Rounding
) -> tuple[Integers, Integers, Integers, Integers, Integers, Flags]:
    """Return the bins with their windows, group by group; the bin of every total; and groups with sums too large."""
    code, _ = combined([totals.column(each).codes for each in phase.bin])
    order = np.lexsort([code, key])
    order = order[(key[order] != UNKNOWN) & (code[order] != UNKNOWN)]
    group, bin_ = key[order], code[order]
    new = np.ones(len(order), bool)
    new[1:] = (group[1:] != group[:-1]) | (bin_[1:] != bin_[:-1])
    first = np.flatnonzero(new)
    table = np.stack([totals.measures[each] for each in measures], axis=1)[order]
    count = int(key.max(initial=-1)) + 1
    large = _beyond(table, group, count)
    sums = np.add.reduceat(table, first, axis=0) if len(first) else table
    rows = np.diff(np.append(first, len(order)))[:, None]
    extra = {"sum": rows, "record": 0 * rows, "unknown": rows - 1}[rounding.model]
    margin = extra * rounding.tolerance
    return bin_[first], group[first], sums - margin, sums + margin, code, large


def _beyond(table: Integers, group: Integers, count: int) -> Flags:
    """Tell per group whether some sum needs more than 62 bits; approximately, on the safe side."""
    most = np.zeros(count)
    for column in table.T:
        most = np.maximum(most, np.bincount(group, column.astype(np.float64), minlength=count))
    return np.asarray(most > LARGEST_SUM * 0.49)


def _note_faults(
    fault: NDArray[np.uint8],
    published: Published,
    measures: Sequence[str],
    rows: Integers,
    group: Integers,
) -> None:
    for measure in measures:
        code = published.faults[measure][rows]
        wrong = np.flatnonzero(code)[::-1]
        fault[group[wrong]] = code[wrong]


def _labels(phase: Phase, totals: Published, key: Integers, count: int) -> list[str]:
    """Return the keys of every group in words, as the totals have them."""
    row = np.zeros(count, np.int64)
    known = np.flatnonzero(key != UNKNOWN)
    row[key[known]] = known
    columns = [totals.column(each) for each in phase.keys.values()]
    texts = [column.values.take(column.codes[row]).to_pylist() for column in columns]
    return [said(each) for each in zip(*texts, strict=True)]


def _texts(totals: Published, name: str, bin_code: Integers) -> list[str]:
    """Return per bin its text in one of the columns that name it."""
    row = np.zeros(int(bin_code.max(initial=-1)) + 1, np.int64)
    known = np.flatnonzero(bin_code != UNKNOWN)
    row[bin_code[known]] = known
    column = totals.column(name)
    return list(column.values.take(column.codes[row]).to_pylist())


def _suppressed(
    phase: Phase,
    publications: Mapping[str, Published],
    records: Published,
    record_key: Integers,
    total_key: Integers,
    count: int,
) -> Flags:
    """Tell per group whether the third publication shows a part of it of which there is no record."""
    found = np.zeros(count, bool)
    with_records = np.zeros(count, bool)
    with_records[record_key[record_key != UNKNOWN]] = True
    found |= ~with_records
    if phase.suppression is None:
        return found
    third = publications[phase.suppression.publication]
    both, coarse = [], []
    for own, other in phase.suppression.keys.items():
        column = records.column(own)
        codes = np.concatenate([column.codes, agreed(column, third.column(other))])
        both.append(codes)
        if own in phase.keys:
            coarse.append(codes)
    fine, fine_count = combined(both)
    group, group_count = combined(coarse)
    shown = np.zeros(fine_count, bool)
    shown[fine[: records.rows][fine[: records.rows] != UNKNOWN]] = True
    own_group = np.full(group_count, UNKNOWN, np.int64)
    inside = group[: records.rows]
    own_group[inside[inside != UNKNOWN]] = record_key[inside != UNKNOWN]
    later_fine, later_group = fine[records.rows :], group[records.rows :]
    known = (later_fine != UNKNOWN) & (later_group != UNKNOWN)
    hidden = later_group[known & ~shown[later_fine]]
    places = own_group[hidden]
    found[places[places != UNKNOWN]] = True
    return found


def _with_troubles(
    groups: Groups, phase: Phase, records: Published, record_key: Integers
) -> Groups:
    troubles = []
    if groups.unjoined:
        row = int(np.flatnonzero(record_key == UNKNOWN)[0])
        example = said(records.column(each).text(row) for each in phase.keys)
        whole = groups.unjoined == records.rows
        kind = (
            marked("records and totals share no key") if whole else marked("records without totals")
        )
        troubles.append(Trouble(phase.name, kind, groups.unjoined, example))
    for code in range(1, len(FAULTS)):
        wrong = np.flatnonzero(groups.fault == code)
        if len(wrong):
            kind = _KINDS[FAULTS[code]]
            troubles.append(Trouble(phase.name, kind, len(wrong), groups.labels[wrong[0]]))
    return Groups(**{**vars(groups), "troubles": tuple(troubles)})
