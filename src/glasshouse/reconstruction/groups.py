"""Records, totals and the register of entities joined by their keys: the groups of a phase, as arrays.

Records and totals that agree in the keys of the phase make a group (Favato 2021, section 5.1.2). Totals of the same bin
that stand in several rows are added up; each of these rows was rounded, so the window of their sum is wider:

    `sum`      T ± tolerance · rows
    `record`   T
    `unknown`  T ± tolerance · (rows − 1), and tolerance more for every record in the bin

The register says who is in each bin, by the columns that it shares with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import DataError
from glasshouse.language import marked, printable
from glasshouse.reconstruction.chances import Registered, registered
from glasshouse.reconstruction.group_instance import LARGEST_SUM, exact
from glasshouse.reconstruction.publications import (
    FAULTS,
    LARGE,
    UNKNOWN,
    UNMAPPED,
    Coded,
    Published,
    Trouble,
    both_codes,
    combined,
    key_text,
)
from glasshouse.study.totals import Phase, TotalsStudy

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
class TotalsGroups:
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
    """Per group, the first thing wrong with its measures; see `glasshouse.reconstruction.publications.FAULTS`."""
    suppressed: Flags
    """Per group, whether another publication shows records of it that were not published."""
    troubles: tuple[Trouble, ...]
    """What is not as the plan says."""

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.labels)


def groups_of(
    study: TotalsStudy, phase: Phase, publications: Mapping[str, Published]
) -> TotalsGroups:
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
    weights = np.stack([records.measures[name] for name in measures], axis=1)[order]
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
    keys = _texts(totals, phase.keys.values(), total_key)
    labels = [key_text(texts) for texts in zip(*keys, strict=True)]
    columns = dict(zip(phase.bin, _texts(totals, phase.bin, bin_code), strict=True))
    return TotalsGroups(
        labels=labels,
        record=order,
        record_group=record_key[order],
        packages=weights,
        bin=bins,
        bin_group=bin_group,
        low=low,
        high=high,
        rounding=rounding,
        bin_names=[" ".join(texts) for texts in zip(*columns.values(), strict=True)],
        bin_columns=columns,
        fault=fault,
        suppressed=_suppressed(phase, publications, records, record_key, total_key, count),
        troubles=_troubles(phase, records, record_key, fault, labels),
    )


def rounding_of(study: TotalsStudy, measures: Sequence[str]) -> Rounding:
    """Return the rounding model of the plan in scaled units."""
    half = Fraction(1, 2) if study.tolerance is None else exact(study.tolerance, "tolerance")
    steps = [
        exact(study.measures[name].unit, "unit") * 10 ** study.measures[name].decimals
        for name in measures
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
    codes, count = combined(
        [
            both_codes(records.columns[one], totals.columns[other])
            for one, other in phase.keys.items()
        ]
    )
    return codes[: records.rows], codes[records.rows :], count


def _sorted_rows(key: Integers) -> Integers:
    """Return the rows with a key, in the order of the keys."""
    order = np.argsort(key, kind="stable")
    return np.asarray(order[key[order] != UNKNOWN])


def _bins(
    phase: Phase, totals: Published, key: Integers, measures: Sequence[str], rounding: Rounding
) -> tuple[Integers, Integers, Integers, Integers, Integers, Flags]:
    """Return the bins with their windows, group by group; the bin of every total; and groups with sums too large."""
    code, _ = combined([totals.columns[name].codes for name in phase.bin])
    order = np.lexsort([code, key])
    order = order[(key[order] != UNKNOWN) & (code[order] != UNKNOWN)]
    group, bin_ = key[order], code[order]
    new = np.ones(len(order), bool)
    new[1:] = (group[1:] != group[:-1]) | (bin_[1:] != bin_[:-1])
    first = np.flatnonzero(new)
    table = np.stack([totals.measures[name] for name in measures], axis=1)[order]
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


def _texts(totals: Published, names: Iterable[str], code: Integers) -> list[list[str]]:
    """Return per column the texts of every code, as the last total that has it says them."""
    row = np.zeros(int(code.max(initial=-1)) + 1, np.int64)
    known = np.flatnonzero(code != UNKNOWN)
    row[code[known]] = known
    columns = [totals.columns[name] for name in names]
    return [column.values.take(column.codes[row]).to_pylist() for column in columns]


def _suppressed(
    phase: Phase,
    publications: Mapping[str, Published],
    records: Published,
    record_key: Integers,
    total_key: Integers,
    count: int,
) -> Flags:
    """Tell per group whether the third publication shows a part of it of which there is no record."""
    suppressed = np.ones(count, bool)
    suppressed[record_key[record_key != UNKNOWN]] = False
    if phase.suppression is None:
        return suppressed
    third = publications[phase.suppression.publication]
    both, coarse = [], []
    for name, other in phase.suppression.keys.items():
        codes = both_codes(records.columns[name], third.columns[other])
        both.append(codes)
        if name in phase.keys:
            coarse.append(codes)
    fine, fine_count = combined(both)
    group, group_count = combined(coarse)
    with_record = np.zeros(fine_count, bool)
    with_record[fine[: records.rows][fine[: records.rows] != UNKNOWN]] = True
    group_of = np.full(group_count, UNKNOWN, np.int64)
    inside = group[: records.rows]
    group_of[inside[inside != UNKNOWN]] = record_key[inside != UNKNOWN]
    later_fine, later_group = fine[records.rows :], group[records.rows :]
    known = (later_fine != UNKNOWN) & (later_group != UNKNOWN)
    hidden = later_group[known & ~with_record[later_fine]]
    places = group_of[hidden]
    suppressed[places[places != UNKNOWN]] = True
    return suppressed


def _troubles(
    phase: Phase,
    records: Published,
    record_key: Integers,
    fault: NDArray[np.uint8],
    labels: Sequence[str],
) -> tuple[Trouble, ...]:
    """Say how many records agree with no totals, and how many groups have which fault."""
    troubles = []
    unjoined = np.flatnonzero(record_key == UNKNOWN)
    if len(unjoined):
        example = key_text(records.columns[name].text(int(unjoined[0])) for name in phase.keys)
        kind = (
            marked("records and totals share no key")
            if len(unjoined) == records.rows
            else marked("records without totals")
        )
        troubles.append(Trouble(phase.name, kind, len(unjoined), example))
    for code in range(1, len(FAULTS)):
        wrong = np.flatnonzero(fault == code)
        if len(wrong):
            kind = _KINDS[FAULTS[code]]
            troubles.append(Trouble(phase.name, kind, len(wrong), labels[wrong[0]]))
    return tuple(troubles)


# -- who is registered where -----------------------------------------------------------------------------------------


def registered_in(
    study: TotalsStudy, groups: TotalsGroups, publications: Mapping[str, Published]
) -> Registered | None:
    """Return who is registered in each bin of a phase; None: there is no register."""
    register = study.entities
    if register is None:
        return None
    published = publications[register.publication]
    both = []
    for name, other in register.keys.items():
        if name in groups.bin_columns:
            column = Coded.of(pa.array(groups.bin_columns[name], pa.large_string()))
            both.append(both_codes(column, published.columns[other]))
    entity = entity_codes(study, published)
    size = len(np.unique(entity[entity != UNKNOWN]))
    bins = len(groups.bin_names)
    if not both:
        nobody = np.zeros(0, np.int64)
        return registered(nobody, nobody, bins=bins, size=size)
    codes, _ = combined(both)
    bin_code, row_code = codes[:bins], codes[bins:]
    rows = np.flatnonzero((row_code != UNKNOWN) & (entity != UNKNOWN))
    rows = rows[np.argsort(row_code[rows], kind="stable")]
    # Each bin has the rows of the register with its keys; several bins may have the same.
    start = np.searchsorted(row_code[rows], bin_code)
    counts = np.searchsorted(row_code[rows], bin_code, side="right") - start
    inside = rows[ranges(start, counts)]
    return registered(np.repeat(np.arange(bins), counts), entity[inside], bins=bins, size=size)


def entity_codes(study: TotalsStudy, published: Published) -> Integers:
    """Return the entity of every row of the register; where no column names them, each row is its own."""
    if study.entities is None or study.entities.entity is None:
        return np.arange(published.rows)
    return published.columns[study.entities.entity].codes


def register_size(study: TotalsStudy, publications: Mapping[str, Published]) -> int | None:
    """Return the number of different entities in the register.

    Raises:
        DataError: There is none.
    """
    if study.entities is None:
        return None
    published = publications[study.entities.publication]
    codes = entity_codes(study, published)
    size = len(np.unique(codes[codes != UNKNOWN]))
    if not size:
        raise DataError(
            'the register "{register}" has no entities; name another publication in [entities]',
            register=printable(published.name),
        )
    return size


def ranges(start: Integers, counts: Integers) -> Integers:
    """Return the numbers of several ranges, one behind the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(start - before, counts))
