"""Records, totals and the register of entities joined by their keys: the groups of a phase, as arrays.

Records and totals that agree in the keys of the phase make a group (Favato 2021, section 5.1.2). Totals of the same bin
that stand in several rows are added up, and each of these rows was rounded (`glasshouse.reconstruction.rounding`).

A row that is held back may be anything from 0 on. Its bin then has what the other rows say as the least, and all
records of the group as the most: no allocation gives it more, so that the truth is never ruled out. What the other bins
leave of it is for the solver to find.

The register says who is in each bin, by the columns that it shares with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import DataError
from glasshouse.language import marked, printable, translated
from glasshouse.reconstruction.chances import Registered, registered
from glasshouse.reconstruction.group_instance import LARGEST_SUM, exact
from glasshouse.reconstruction.publications import (
    DECIMALS,
    FAULTS,
    LARGE,
    MISSING,
    NEGATIVE,
    NO_NUMBER,
    OPEN,
    UNKNOWN,
    UNMAPPED,
    Coded,
    Published,
    Trouble,
    both_codes,
    combined,
    key_text,
    other_form,
    text_of,
)
from glasshouse.reconstruction.rounding import Rounding
from glasshouse.study.totals import Phase, Publication, TotalsStudy
from glasshouse.table.codes import positions

_KINDS = {
    "missing": marked("groups with a measure that is missing"),
    "no number": marked("groups with a measure that is not a number"),
    "negative": marked("groups with a measure that is negative"),
    "too many decimals": marked("groups with a measure of too many decimals"),
    "too large": marked(
        "groups with a measure that is too large: a number or a sum is beyond 62 bits"
    ),
    "contradicted": marked("groups with a row that repeats another and differs from it"),
    "unmapped": marked("groups with a total whose place the key map does not have"),
    "suppressed": marked("groups with a record whose measure is suppressed"),
}
"""What troubles call the faults of measures."""
_FORMS = {
    NO_NUMBER: marked(
        "groups with a measure that is not a number, unless the plan says {name} of its publication"
    ),
    DECIMALS: marked(
        "groups with a measure of too many decimals, unless the plan says {name} of its publication"
    ),
}
"""What they call faults that the settings of a publication would mend."""
_NOTHING_IN_THIS_FORM = marked(
    '{file}: nothing can be solved: "{value}" in column "{column}" is not a number as the plan says; '
    "if numbers are written so, say {settings} of this publication"
)
_NOTHING = {
    MISSING: marked(
        '{file}: nothing can be solved: a number is missing in column "{column}" of every group; complete it, or say '
        'missing = "open" of this publication if totals are held back'
    ),
    NO_NUMBER: marked(
        '{file}: nothing can be solved: "{value}" in column "{column}" is not a number; correct it, or '
        'say suppressed = ["{value}"] of this publication if totals are held back'
    ),
    NEGATIVE: marked(
        '{file}: nothing can be solved: "{value}" in column "{column}" is negative; leave out corrections with where, '
        "as measures are from 0 on"
    ),
    DECIMALS: marked(
        '{file}: nothing can be solved: "{value}" in column "{column}" has more than {decimals} decimals; say in '
        "[measures] how many there are"
    ),
    LARGE: marked(
        '{file}: nothing can be solved: "{value}" in column "{column}" is too large; keep fewer decimals'
    ),
    OPEN: marked(
        '{file}: nothing can be solved: "{value}" in column "{column}" says that a record is suppressed; leave such '
        "records out with where"
    ),
}
"""What is said where every group has such a fault."""


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
    total: Integers
    """Per bin and measure, what was published, added up."""
    open: Flags
    """Per bin and measure, whether something of it is held back: then nothing but the records bounds it from above."""
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
    weights = rounding.records(np.stack([records.measures[n] for n in measures], axis=1)[order])
    bins, bin_group, total, margin, open_, bin_code = _bins(
        phase, totals, total_key, measures, rounding
    )
    inside, rows = record_key[order], _sorted_rows(total_key)
    whole = np.zeros((count, len(measures)), np.int64)
    np.add.at(whole, inside, weights)
    high = total + margin
    high = np.where(open_, np.maximum(high, whole[bin_group]), high)
    fault = np.zeros(count, np.uint8)
    _note_faults(fault, records, measures, order, inside)
    _note_faults(fault, totals, measures, rows, total_key[rows], OPEN)
    published = np.stack([totals.measures[name] for name in measures], axis=1)[rows]
    for table, group in (weights, inside), (published, total_key[rows]), (high, bin_group):
        fault[(fault == 0) & _beyond(table, group, count)] = LARGE
    fault[total_key[(total_key != UNKNOWN) & (bin_code == UNKNOWN)]] = UNMAPPED
    keys = _texts(totals, phase.keys.values(), total_key)
    labels = [key_text(texts) for texts in zip(*keys, strict=True)]
    columns = dict(zip(phase.bin, _texts(totals, phase.bin, bin_code), strict=True))
    return TotalsGroups(
        labels=labels,
        record=order,
        record_group=inside,
        packages=weights,
        bin=bins,
        bin_group=bin_group,
        low=total - margin,
        high=high,
        total=total,
        open=open_,
        rounding=rounding,
        bin_names=[" ".join(texts) for texts in zip(*columns.values(), strict=True)],
        bin_columns=columns,
        fault=fault,
        suppressed=_suppressed(phase, publications, records, record_key, count),
        troubles=(
            *_troubles(study, phase, publications, record_key, fault, labels),
            *_open_totals(phase, bin_group[open_.any(axis=1)], labels),
        ),
    )


def rounding_of(study: TotalsStudy, measures: Sequence[str]) -> Rounding:
    """Return the rounding model of the plan in scaled units.

    Raises:
        StudyError: The tolerance has more decimals than a measure.
    """
    half = None if study.tolerance is None else exact(study.tolerance, "tolerance")
    steps = [
        int(exact(study.measures[name].unit, "unit") * 10 ** study.measures[name].decimals)
        for name in measures
    ]
    model = Rounding.of(study.rounding, steps, half)
    return replace(
        model, step=model.step.astype(np.int64), tolerance=model.tolerance.astype(np.int64)
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
) -> tuple[Integers, Integers, Integers, Integers, Flags, Integers]:
    """Return the bins, group by group: each with its group, its totals, how far they may be off, which are open.

    The last is the bin of every row.
    """
    code, _ = combined([totals.columns[name].codes for name in phase.bin])
    order = np.lexsort([code, key])
    order = order[(key[order] != UNKNOWN) & (code[order] != UNKNOWN)]
    group, bin_ = key[order], code[order]
    new = np.ones(len(order), bool)
    new[1:] = (group[1:] != group[:-1]) | (bin_[1:] != bin_[:-1])
    first = np.flatnonzero(new)
    table = np.stack([totals.measures[name] for name in measures], axis=1)[order]
    said = np.stack([totals.faults[name] != OPEN for name in measures], axis=1)[order]
    sums, rows = (
        np.add.reduceat(rows, first, axis=0) if len(first) else rows
        for rows in (table, said.astype(np.int64))
    )
    counts = np.diff(np.append(first, len(order)))[:, None]
    return bin_[first], group[first], sums, rounding.margin(rows), rows < counts, code


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
    harmless: int = 0,
) -> None:
    for measure in measures:
        code = published.faults[measure][rows]
        wrong = np.flatnonzero((code != 0) & (code != harmless))[::-1]
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
    study: TotalsStudy,
    phase: Phase,
    publications: Mapping[str, Published],
    record_key: Integers,
    fault: NDArray[np.uint8],
    labels: Sequence[str],
) -> tuple[Trouble, ...]:
    """Say how many records agree with no totals, and how many groups have which fault."""
    troubles, records = [], publications[phase.packages]
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
        if not len(wrong):
            continue
        where, count, example = phase.name, len(wrong), labels[wrong[0]]
        faulty = _first_fault(study, phase, publications, code) if code in _FORMS else None
        settings = None if faulty is None else faulty.other_form
        if settings is None:
            troubles.append(Trouble(where, _KINDS[FAULTS[code]], count, example))
        else:
            troubles.append(Trouble.of(where, _FORMS[code], count, example, name=settings))
    return tuple(troubles)


def _open_totals(phase: Phase, group: Integers, labels: Sequence[str]) -> Iterator[Trouble]:
    """Say how many totals are open, given the groups of those that are."""
    if len(group):
        kind = marked("totals that are held back, and may be anything from 0 on")
        yield Trouble(phase.name, kind, len(group), labels[group[0]])


# -- nothing to begin with -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FirstFault:
    """A number that cannot be used, and where it stands."""

    publication: Publication
    column: str
    value: str
    decimals: int

    @property
    def other_form(self) -> str | None:
        return other_form(self.value, self.publication, self.decimals)


def _first_fault(
    study: TotalsStudy, phase: Phase, publications: Mapping[str, Published], code: int
) -> _FirstFault | None:
    """Return the first number of a phase that has a fault; None: it is not that of one number."""
    for name in (phase.packages, phase.bins):
        for measure in study.measures_of(phase):
            rows = np.flatnonzero(publications[name].faults[measure] == code)
            if len(rows):
                publication = study.publications[name]
                column = publication.measures[measure]
                row = int(publications[name].row[rows[0]])
                value = text_of(publication, column, row)
                decimals = study.measures[measure].decimals
                return _FirstFault(publication, column, value, decimals)
    return None


def check_usable(
    study: TotalsStudy, publications: Mapping[str, Published], groups: Sequence[TotalsGroups]
) -> None:
    """Make sure that some group of some phase has records and totals, all of them numbers.

    Raises:
        DataError: Nothing can be read, or joined: what follows would tell nothing, and look as if all were safe.
    """
    if any((phase.fault[phase.record_group] == 0).any() for phase in groups):
        return
    for phase, joined in zip(study.phases, groups, strict=True):
        if len(joined.record_group):
            code = int(joined.fault[joined.record_group[0]])
            faulty = _first_fault(study, phase, publications, code)
            raise _unusable(phase, code, faulty)
    raise _unjoined(study.phases[0], publications)


def _unusable(phase: Phase, code: int, faulty: _FirstFault | None) -> DataError:
    """Return what to say where every group has a number that cannot be used."""
    if faulty is None or code not in _NOTHING:
        return DataError(
            'phase "{phase}": nothing can be solved: all its groups are {trouble}; correct the publications, or the '
            "plan",
            phase=phase.name,
            trouble=translated(_KINDS[FAULTS[code]]),
        )
    settings = faulty.other_form
    return DataError(
        _NOTHING[code] if settings is None else _NOTHING_IN_THIS_FORM,
        file=faulty.publication.path.name,
        column=printable(faulty.column),
        value=printable(faulty.value),
        settings=settings or "",
        decimals=str(faulty.decimals),
    )


def _unjoined(phase: Phase, publications: Mapping[str, Published]) -> DataError:
    """Return what to say where no record agrees with a total: the first key that never does, or all of them."""
    records, totals = publications[phase.packages], publications[phase.bins]
    for one, other in phase.keys.items():
        first, second = records.columns[one], totals.columns[other]
        for name, column, published in ((one, first, records), (other, second, totals)):
            if not len(column.values):
                return DataError(
                    'phase "{phase}": no record agrees with a total: the key map of "{name}" has no value of {where}; '
                    "correct the map",
                    phase=phase.name,
                    name=name,
                    where=published.name,
                )
        if not (positions(second.values, first.values) >= 0).any():
            return DataError(
                'phase "{phase}": no record agrees with a total: "{one}" is "{value}" in {records}, and "{other}" is '
                '"{total}" in {totals}; correct the keys, or derive a column or map one to the other',
                phase=phase.name,
                one=one,
                value=key_text([first.text(0)]),
                records=records.name,
                other=other,
                total=key_text([second.text(0)]),
                totals=totals.name,
            )
    return DataError(
        'phase "{phase}": no record agrees with a total in all keys at once, such as {key}; leave out a key, or '
        "derive it alike in both publications",
        phase=phase.name,
        key=key_text(records.columns[name].text(0) for name in phase.keys),
    )


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
