"""Perturbation: values are released at random, by a channel that is published with them.

Whatever changes the values of a record independently of the other records is a matrix per column: the chance that a
value x is released as y. That is a channel of `glasshouse.qif`, and these functions make the usual ones:

- `retention`       PRAM: a value is kept with some chance, and otherwise drawn anew (Gouweleeuw et al. 1998)
- `noise`           a number moves by a geometric number of steps, and stays within its range (Ghosh et al. 2009)
- `rank_exchange`   numbers change places at random with others of nearly their rank: what one record is released as

`randomise` draws a release, and `perturbation_risk` says what it gives away to an adversary who knows the matrices and
how often each combination occurs: the strongest that needs no more than one target's values. With n records released as
y₁ … y_n and q(x) the share of people with values x, she believes of a target with values x that record j is hers in
proportion to q(x) M(x, y_j) / Σ q M(·, y_j), where M multiplies the matrices of all columns. This is the channel from
released records to true values; with matrices that change nothing it is the naming attack on the table itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Integers
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import quoted
from glasshouse.mitigation.distinct_rows import first_of_each, records_per_value
from glasshouse.mitigation.hierarchies import Number, exact
from glasshouse.mitigation.microaggregation import column_numbers
from glasshouse.qif import Channel
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.encoded import smallest_unsigned
from glasshouse.table.partition import refined

MOST_CELLS = 20_000_000
"""So many pairs of a true and a released combination are compared at most."""


def retention(column: EncodedColumn, keep: Number, *, uniform: bool = False) -> Channel:
    """Return the matrix by which a value is kept with a chance, and otherwise drawn anew.

    Args:
        column: The column.
        keep: The chance that nothing is done; a value that is drawn anew may come out the same.
        uniform: Whether all values are then equally likely; by default they are as frequent as in the column, so that
            the expected counts stay what they were (invariant PRAM).

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> ill = read(pa.table({"ill": ["flu", "flu", "flu", "hiv"]})).column("ill")
    >>> print(retention(ill, "0.8")["hiv", "flu"])
    3/20
    """
    chance = _chance(keep, "`keep`")
    values = column.values.to_pylist()
    tally = [1] * len(values) if uniform else records_per_value(column).tolist()
    rest = [(1 - chance) * Fraction(count, sum(tally)) for count in tally]
    rows = [[chance * (x == y) + share for y, share in enumerate(rest)] for x in range(len(values))]
    return Channel(rows, inputs=values, outputs=values)


def noise(column: EncodedColumn, ratio: Number, *, step: Number = 1) -> Channel:
    """Return the matrix by which a number moves by a random number of steps.

    A place one step farther is less likely by a ratio: the chance of d steps is (1 − r) / (1 + r) r^|d|. What would
    leave the range of the column stays at its end.

    Args:
        column: The column.
        ratio: How much less likely each step is, above 0 and below 1; the logarithm of its inverse is the privacy loss
            per step.
        step: How far a step goes; every number must be a whole number of steps from the least.

    Raises:
        DataError: A value is no number, or lies between two steps.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> age = read(pa.table({"age": ["3", "5"]})).column("age")
    >>> print(noise(age, "0.5")["3", "4"], noise(age, "0.5")["3", "5"])
    1/6 1/6
    """
    chance, width = _chance(ratio, "`ratio`"), exact(step, what="a step")
    if chance in (0, 1) or width <= 0:
        raise StudyError("`ratio` lies above 0 and below 1, and `step` above 0")
    numbers = [Fraction(number) for number in column_numbers(column, where=column.name)]
    least, most = min(numbers), max(numbers)
    places = [(number - least) / width for number in numbers]
    if any(place.denominator != 1 for place in places):
        raise DataError(
            "column {column}: a value lies between two steps of {step}; give a `step` that all are multiples of",
            column=quoted([column.name]),
            step=str(step),
        )
    last = int((most - least) / width)
    written = dict(zip(map(int, places), column.values.to_pylist(), strict=True))
    outputs = [written.get(place) or _plain(least + place * width) for place in range(last + 1)]
    rows = []
    for place in map(int, places):
        row = [(1 - chance) / (1 + chance) * chance ** abs(y - place) for y in range(last + 1)]
        row[0] += chance ** (place + 1) / (1 + chance)
        row[last] += chance ** (last - place + 1) / (1 + chance)
        rows.append(row)
    return Channel(rows, inputs=column.values.to_pylist(), outputs=outputs)


def rank_exchange(column: EncodedColumn, window: int) -> Channel:
    """Return what one record is released as where numbers change places with others of nearly their rank.

    The records are put in order by number and cut into stretches of so many, the last one longer; in each stretch the
    numbers are dealt out anew, all orders being equally likely. `exchange_ranks` does so.

    Args:
        column: The column.
        window: The least number of records in a stretch.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> age = read(pa.table({"age": ["20", "30", "40", "40"]})).column("age")
    >>> print(rank_exchange(age, 2)["20", "30"], rank_exchange(age, 2)["40", "40"])
    1/2 1
    """
    values = column.values.to_pylist()
    tally = records_per_value(column)
    rows = [[Fraction(0)] * len(values) for _ in values]
    for stretch in _ranks(column, window):
        inside = np.bincount(column.codes[stretch], minlength=len(values)).tolist()
        present = [value for value, count in enumerate(inside) if count]
        for x in present:
            for y in present:
                rows[x][y] += Fraction(inside[x] * inside[y], int(tally[x]) * len(stretch))
    return Channel(rows, inputs=values, outputs=values)


def exchange_ranks(table: EncodedTable, column: str, *, window: int, seed: int = 0) -> EncodedTable:
    """Return a table in which the numbers of a column have changed places with others of nearly their rank.

    Every number stays as often as it was. See `rank_exchange` for the chances.

    Args:
        table: The records.
        column: The column.
        window: The least number of records that exchange their numbers with each other.
        seed: Where chance begins.
    """
    before = table.column(column)
    random = np.random.default_rng(seed)
    codes = np.array(before.codes)
    for stretch in _ranks(before, window):
        codes[stretch] = codes[random.permutation(stretch)]
    return replace(table, columns={**table.columns, column: replace(before, codes=codes)})


def randomise(
    table: EncodedTable, matrices: Mapping[str, Channel], *, seed: int = 0
) -> EncodedTable:
    """Return a table in which the values of some columns are released by a matrix, each record for itself.

    Args:
        table: The records.
        matrices: Per column, the chance of every released value (output) for every value (input).
        seed: Where chance begins; whoever knows it can undo what was drawn.

    Raises:
        DataError: A column is not in the table, or a value of it not in its matrix.
    """
    columns = dict(table.columns)
    for name, matrix in matrices.items():
        # A stream of its own per column: what is drawn for one does not depend on the others.
        random = np.random.default_rng([seed, *name.encode()])
        column, rows = table.column(name), _rows(table.column(name), matrix)
        ends = np.cumsum(rows.astype(np.float64), axis=1)
        drawn = random.random(table.records) * ends[column.codes, -1]
        codes = np.empty(table.records, smallest_unsigned(len(matrix.outputs)))
        for code in range(column.cardinality):
            holders = np.flatnonzero(column.codes == code)
            codes[holders] = np.searchsorted(ends[code], drawn[holders], side="right")
        texts = pa.array([str(output) for output in matrix.outputs], pa.large_string())
        columns[name] = EncodedColumn(name, codes, texts)
    return replace(table, columns=columns)


@dataclass(frozen=True)
class PerturbationRisk:
    """What a randomised release gives away of a random person."""

    records: int
    """The number of records."""
    prior: Fraction
    """The chance of naming somebody's record without knowing anything of her."""
    posterior: Fraction
    """The chance for who knows her true values, the matrices, and how often each combination occurs."""
    unchanged: Fraction
    """The chance if nothing had been changed."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        figures = {name: float(getattr(self, name)) for name in ("prior", "posterior", "unchanged")}
        return {"records": self.records, **figures}

    def to_frame(self) -> pa.Table:
        """Return the figures as a table of one row."""
        return pa.Table.from_pylist([self.to_dict()])


def perturbation_risk(
    table: EncodedTable, release: EncodedTable, matrices: Mapping[str, Channel]
) -> PerturbationRisk:
    """Say how likely somebody's record is named in a randomised release.

    The posterior is that of Bayes vulnerability over the channel from released records to true values, in fractions:
    Σ_x max_j q(x) M(x, y_j) / (n Σ_x' q(x') M(x', y_j)).

    Args:
        table: The records before, with quasi-identifiers.
        release: The records as they are released.
        matrices: The matrix of every column that was randomised; the others are released as they are.

    Raises:
        DataError: A column is not in the table, or a value of it not in its matrix.
        StudyError: The two tables do not have the same records.
        BudgetError: There are too many different combinations.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"age": ["20", "20", "30", "40"]}), quasi_identifiers=["age"])
    >>> matrices = {"age": retention(people.column("age"), "0.5")}
    >>> risk = perturbation_risk(people, people, matrices)
    >>> print(risk.prior, risk.posterior, risk.unchanged)
    1/4 1/2 3/4
    """
    names = [column.name for known in table.quasi_identifiers for column in table.columns_of(known)]
    if not names or release.records != table.records:
        raise StudyError("give a table with quasi-identifiers, and the release of the same records")
    classes = refined([table.column(name) for name in names], table.records)
    true, seen = _combinations(table, names), _combinations(release, names)
    if len(true) * len(seen) > MOST_CELLS:
        raise BudgetError(
            "{true} different combinations released as {seen} are too many to compare; leave columns out, or take "
            "a sample",
            true=str(len(true)),
            seen=str(len(seen)),
        )
    shares = [Fraction(int(size), table.records) for size in classes.sizes]
    likelihoods = _likelihoods(table, release, names, matrices)
    best = [Fraction(0)] * len(true)
    for released in seen:
        joint = [
            share * likelihoods(row, released) for share, row in zip(shares, true, strict=True)
        ]
        total = sum(joint, Fraction(0))
        if total:
            best = [max(old, part / total) for old, part in zip(best, joint, strict=True)]
    return PerturbationRisk(
        records=table.records,
        prior=Fraction(1, table.records),
        posterior=sum(best, Fraction(0)) / table.records,
        unchanged=Fraction(classes.classes, table.records),
    )


def _combinations(table: EncodedTable, names: list[str]) -> list[tuple[int, ...]]:
    """Return the distinct combinations of codes, in order of first appearance."""
    columns = [table.column(name) for name in names]
    first = first_of_each(refined(columns, table.records))
    return list(zip(*(column.codes[first].tolist() for column in columns), strict=True))


def _likelihoods(
    table: EncodedTable, release: EncodedTable, names: list[str], matrices: Mapping[str, Channel]
) -> Callable[[tuple[int, ...], tuple[int, ...]], Fraction]:
    """Return a function that tells how likely a combination of codes is released as another."""
    tables: list[list[list[Fraction]]] = []
    for name in names:
        before, after = table.column(name), release.column(name).values.to_pylist()
        if name in matrices:
            rows, outputs = _rows(before, matrices[name]), list(matrices[name].outputs)
            place = {value: number for number, value in enumerate(outputs)}
            tables.append(
                [
                    [Fraction(row[place[y]]) if y in place else Fraction(0) for y in after]
                    for row in rows
                ]
            )
        else:
            values = before.values.to_pylist()
            tables.append([[Fraction(int(x == y)) for y in after] for x in values])

    def likelihood(row: tuple[int, ...], released: tuple[int, ...]) -> Fraction:
        product = Fraction(1)
        for cells, x, y in zip(tables, row, released, strict=True):
            product *= cells[x][y]
            if not product:
                break
        return product

    return likelihood


def _rows(column: EncodedColumn, matrix: Channel) -> Any:
    """Return the rows of a matrix in the order of the codes of a column."""
    place = {value: number for number, value in enumerate(matrix.inputs)}
    values = column.values.to_pylist()
    if lacking := [value for value in values if value not in place]:
        raise DataError(
            "column {column}: the value {value} is not in its matrix",
            column=quoted([column.name]),
            value=quoted(lacking[:1]),
        )
    return matrix.matrix[[place[value] for value in values]]


def _ranks(column: EncodedColumn, window: int) -> list[Integers]:
    """Return the records in order of their numbers, in stretches of so many; the last is longer."""
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise StudyError(
            "`window` is a whole number of records from 1 on, not {window}", window=repr(window)
        )
    numbers = column_numbers(column, where=column.name)
    ranks = {number: rank for rank, number in enumerate(sorted(set(numbers)))}
    order = np.argsort(np.array([ranks[number] for number in numbers])[column.codes], kind="stable")
    stretches = max(1, len(order) // window)
    return np.split(order, [window * number for number in range(1, stretches)])


def _chance(number: Number, what: str) -> Fraction:
    chance = exact(number, what=what)
    if not 0 <= chance <= 1:
        raise StudyError(
            "{what} is a chance from 0 to 1, not {number}", what=what, number=str(number)
        )
    return chance


def _plain(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else str(float(number))
