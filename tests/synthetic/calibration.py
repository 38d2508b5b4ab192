"""Measuring a generator against the published figures.

Run as `python -m tests.synthetic.calibration school-census`; the tables in `papers/alvim2022.md`
and `papers/gonze2025.md`
are its output. Each subset of quasi-identifiers is measured exactly by sorting one 64-bit key per
record: a slow and obvious way that shares no code with the measures of Glasshouse.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from glasshouse.arrays import Flags, Words
from glasshouse.synthetic import batches, generator, names


@dataclass(frozen=True)
class CalibrationColumn:
    """One column of codes, and how many values it may have."""

    codes: npt.NDArray[np.unsignedinteger]
    values: int


@dataclass(frozen=True, kw_only=True)
class MeasuredClasses:
    """What the classes of one subset of quasi-identifiers say about one sensitive attribute."""

    records: int
    classes: int
    uniques: int
    """Records alone in their class."""
    settled: int
    """Records in classes with a single sensitive value."""
    guessed: int
    """Records that have the most frequent sensitive value of their class."""


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure and what answers to it."""

    subset: str
    """The quasi-identifiers, in short."""
    quasi_identifiers: tuple[str, ...]
    sensitive: str
    measure: str
    """The field of `MeasuredClasses`."""
    published: int | float
    """A whole number of records, or else per cent of them."""


_BIRTH = ("day_of_birth", "month_of_birth", "year_of_birth")
_CITY = (*_BIRTH, "gender", "city_of_residence")
_MOVES = ("city_of_birth", "city_of_residence")
_ALL = generator("school-census").quasi_identifiers
_PATIENT = generator("outpatient").quasi_identifiers
_CHAIN = (
    *("establishment", "age", "procedure_month", "city_of_residence", "race", "sex"),
    "processing_month",
)


def _census(
    subset: str, columns: tuple[str, ...], **published: int | float
) -> list[PublishedFigure]:
    """Read `disability_settled=65.54` as a target for the settled records of that attribute."""
    targets = []
    for name, value in published.items():
        sensitive, _, measure = name.rpartition("_")
        targets.append(PublishedFigure(subset, columns, sensitive or "disability", measure, value))
    return targets


def _outpatient(subset: str, columns: tuple[str, ...], published: float) -> list[PublishedFigure]:
    return [PublishedFigure(subset, columns, "procedure", "guessed", published)]


def _without(column: str) -> tuple[str, ...]:
    return tuple(name for name in _PATIENT if name != column)


TARGETS = {
    "school-census": [
        *_census("none", (), disability_guessed=97.556444, transport_guessed=81.75),
        *_census("school", ("school",), uniques=99, settled=5_900_000),
        *_census("city of birth, city", _MOVES, uniques=430_000),
        *_census("city of birth, city, ethnicity", (*_MOVES, "ethnicity"), uniques=800_000),
        *_census(
            "day, month, school",
            (*_BIRTH[:2], "school"),
            uniques=30.92,
            disability_settled=95.35,
            transport_settled=85.63,
        ),
        *_census(
            "date of birth, school",
            (*_BIRTH, "school"),
            uniques=81.13,
            classes=89.93,
            disability_settled=99.31,
            disability_guessed=99.69,
            transport_settled=97.42,
            transport_guessed=98.82,
        ),
        *_census(
            "date of birth, gender, city",
            _CITY,
            uniques=26.63,
            disability_settled=65.54,
            transport_settled=54.54,
        ),
        *_census(
            "date of birth, gender, city, school",
            (*_CITY, "school"),
            uniques=90.43,
            disability_settled=99.67,
            transport_settled=98.77,
        ),
        *_census(
            "all eleven",
            _ALL,
            uniques=96.34256,
            classes=98.138799,
            disability_settled=99.890918,
            disability_guessed=99.946785,
        ),
    ],
    "outpatient": [
        *_outpatient("none", (), 7.00),
        *_outpatient("establishment", _CHAIN[:1], 32.05),
        *_outpatient("+ age", _CHAIN[:2], 35.78),
        *_outpatient("+ procedure month", _CHAIN[:3], 38.44),
        *_outpatient("+ city", _CHAIN[:4], 41.15),
        *_outpatient("+ race", _CHAIN[:5], 43.88),
        *_outpatient("+ sex", _CHAIN[:6], 46.51),
        *_outpatient("all seven", _PATIENT, 47.04),
        *_outpatient("all but establishment", _without("establishment"), 22.51),
        *_outpatient("all but age", _without("age"), 35.63),
        *_outpatient("all but city", _without("city_of_residence"), 43.24),
        *_outpatient("all but race", _without("race"), 44.01),
        *_outpatient("all but sex", _without("sex"), 44.42),
        *_outpatient("all but processing month", _without("processing_month"), 46.51),
        *_outpatient("all but procedure month", _without("procedure_month"), 46.52),
    ],
}
"""Alvim et al. 2022, tables 7 and 11 and section 5.2; Gonze et al. 2025, tables 2 and 3, São Paulo (prior
plus additive leakage; for two to six quasi-identifiers the best subset, which is not named)."""


def read_columns(name: str, *, records: int, seed: int = 0) -> dict[str, CalibrationColumn]:
    """Generate a release and keep its codes only, each in as few bytes as it needs."""
    columns: dict[str, CalibrationColumn] = {}
    start = 0
    for batch in batches(name, records=records, seed=seed):
        for column in batch.schema.names:
            array = batch.column(column)
            if column not in columns:
                values = len(array.dictionary)
                columns[column] = CalibrationColumn(
                    np.empty(records, np.min_scalar_type(values)), values
                )
            columns[column].codes[start : start + batch.num_rows] = array.indices.to_numpy()
        start += batch.num_rows
    return columns


def count(
    columns: Mapping[str, CalibrationColumn], *, quasi_identifiers: Sequence[str], sensitive: str
) -> MeasuredClasses:
    """Count classes, uniques, settled and guessed records of one subset exactly."""
    secret = columns[sensitive]
    keys = _keys([*(columns[name] for name in quasi_identifiers), secret])
    records = len(keys)
    keys.sort()
    first_of_value = np.flatnonzero(_changes(keys))
    classes = keys[first_of_value]
    del keys
    classes //= np.uint64(secret.values)
    sizes = np.diff(first_of_value, append=records)
    first_of_class = np.flatnonzero(_changes(classes))
    totals = np.add.reduceat(sizes, first_of_class)
    largest = np.maximum.reduceat(sizes, first_of_class)
    return MeasuredClasses(
        records=records,
        classes=len(first_of_class),
        uniques=int((totals == 1).sum()),
        settled=int(totals[totals == largest].sum()),
        guessed=int(largest.sum()),
    )


def table(name: str, *, records: int, seed: int = 0) -> Iterator[str]:
    """Yield the lines of a Markdown table: every published figure beside the measured one."""
    columns = read_columns(name, records=records, seed=seed)

    @lru_cache(maxsize=1)
    def counted(quasi_identifiers: tuple[str, ...], sensitive: str) -> MeasuredClasses:
        return count(columns, quasi_identifiers=quasi_identifiers, sensitive=sensitive)

    yield "| quasi-identifiers | measure | published | synthetic | difference |"
    yield "|---|---|---:|---:|---:|"
    for target in TARGETS[name]:
        counts = counted(target.quasi_identifiers, target.sensitive)
        yield f"| {target.subset} | {_measure(target)} | {_figures(target, counts)} |"


def _keys(columns: Sequence[CalibrationColumn]) -> Words:
    """Pack the columns into one number per record, renumbering whenever 64 bits would overflow."""
    keys = np.zeros(len(columns[0].codes), np.uint64)
    values = 1
    for column in columns:
        if values * column.values >= 1 << 64:
            values = _renumber(keys)
        keys *= np.uint64(column.values)
        keys += column.codes
        values *= column.values
    return keys


def _renumber(keys: Words) -> int:
    """Replace keys by their ranks among the distinct ones, in place, and return how many there are."""
    order = np.argsort(keys)
    ranks = np.cumsum(_changes(keys[order])) - 1
    keys[order] = ranks
    return int(ranks[-1]) + 1


def _changes(keys: Words) -> Flags:
    """Mark where a sorted column begins a new value."""
    changes = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=changes[1:])
    return changes


def _measure(target: PublishedFigure) -> str:
    return {
        "uniques": "alone in their class",
        "classes": "re-identified, expected",
        "settled": f"{target.sensitive} certain",
        "guessed": f"{target.sensitive} guessed",
    }[target.measure]


def _figures(target: PublishedFigure, counts: MeasuredClasses) -> str:
    found: int = getattr(counts, target.measure)
    if isinstance(target.published, int):
        return f"{target.published:,} | {found:,} | {found - target.published:+,}"
    share = 100 * found / counts.records
    return f"{target.published:.2f}% | {share:.2f}% | {share - target.published:+.2f}"


def _main() -> None:
    parser = argparse.ArgumentParser(description="Measure a generator against published figures.")
    parser.add_argument("name", choices=names())
    parser.add_argument("--records", type=int, help="default: as many as the published release")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    records = options.records or generator(options.name).published_records
    for line in table(options.name, records=records, seed=options.seed):
        print(line, flush=True)


if __name__ == "__main__":
    _main()
