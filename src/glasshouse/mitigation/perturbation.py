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
`assess_randomised` puts it, and what she infers of sensitive attributes, in the form of the other attacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import quoted
from glasshouse.microdata import Assessment, Attack, Leakage
from glasshouse.microdata.leakage import ClassSizes
from glasshouse.mitigation.distinct_rows import first_of_each, records_per_value
from glasshouse.mitigation.hierarchies import Number, exact
from glasshouse.mitigation.microaggregation import column_numbers
from glasshouse.qif import Channel
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.partition import Partition, refined

MOST_CELLS = 1_000_000_000
"""So many pairs of a true and a released combination are compared at most,"""
EXACT_CELLS = 20_000
"""and up to so many in fractions; more in doubles."""
MOST_CHANCES = 250_000
"""A matrix has at most so many chances."""
_AT_ONCE = 4_000_000
_DENOMINATORS = 10**12
"""What doubles tell is told as a fraction with a denominator up to this."""


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
    _refuse_large(column, column.cardinality)
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
    _refuse_large(column, last + 1)
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
    _refuse_large(column, column.cardinality)
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

    The posterior is that of Bayes vulnerability over the channel from released records to true values:
    Σ_x max_j q(x) M(x, y_j) / (n Σ_x' q(x') M(x', y_j)). See `assess_randomised` for more.

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
    naming = _naming(_Comparison(table, release, matrices))
    classes = refined(
        [column for known in table.quasi_identifiers for column in table.columns_of(known)],
        table.records,
    )
    return PerturbationRisk(
        records=table.records,
        prior=Fraction(1, table.records),
        posterior=naming.probabilistic.posterior,
        unchanged=Fraction(classes.classes, table.records),
    )


def assess_randomised(
    table: EncodedTable, release: EncodedTable, matrices: Mapping[str, Channel]
) -> Assessment:
    """Attack a randomised release: name people, and infer each sensitive attribute of the table.

    The adversary knows the true quasi-identifiers of her target, the matrices, and how often each combination of
    quasi-identifiers, and each sensitive value, occurs. With P(x | y_j) what she believes of the true values behind
    record j, the chance of a right guess is Σ_x max_j P(x | y_j) / n at who it is, and
    Σ_x max_s Σ_j P(x | y_j) P(s | z_j) / n at a sensitive value that is released as z_j. She is certain where one
    record, or one value, is possible. In the place of a class stands a combination of true values, and in that of its
    size the greatest number of people among whom her best guess is as good as a random one: of matrices that change
    nothing these are the classes of the table. Where there are more than `EXACT_CELLS` pairs, doubles are added up.

    Args:
        table: The records before, with quasi-identifiers; records whose sensitive value is missing are left out of
            inferring it, unless that is randomised.
        release: The records as they are released.
        matrices: The matrix of every column that was randomised; the others are released as they are.

    Raises:
        DataError: A column is not in the table, or a value of it not in its matrix.
        StudyError: The two tables do not have the same records.
        BudgetError: There are too many different combinations.
    """
    compared = _Comparison(table, release, matrices)
    attacks = [_naming(compared)]
    for name in table.sensitive:
        known = table.known_values(name)[table.column(name).codes]
        if name in matrices or known.all():
            attacks.append(_inferring(compared, name))
        elif known.any():
            some = table.of_records(known), release.of_records(known)
            attacks.append(_inferring(_Comparison(*some, matrices), name))
    return Assessment(table.records, tuple(attacks), exact=compared.exactly)


class _Block(NamedTuple):
    """Some true and some released combinations that are alike in all columns that are released as they are."""

    true: Integers
    """The true combinations."""
    seen: Integers
    """The released ones."""
    beliefs: NDArray[Any]
    """Per released (row) and true (column) combination, the chance that it is what is behind it."""


@dataclass(frozen=True)
class _Comparison:
    """A table and its release, by their distinct combinations of quasi-identifiers."""

    table: EncodedTable
    release: EncodedTable
    matrices: Mapping[str, Channel]
    names: tuple[str, ...] = field(init=False)
    true: Partition = field(init=False)
    seen: Partition = field(init=False)

    def __post_init__(self) -> None:
        table, release = self.table, self.release
        names = [
            column.name for known in table.quasi_identifiers for column in table.columns_of(known)
        ]
        if not names or release.records != table.records:
            raise StudyError(
                "give a table with quasi-identifiers, and the release of the same records"
            )
        object.__setattr__(self, "names", tuple(names))
        for side, source in (("true", table), ("seen", release)):
            classes = refined([source.column(name) for name in names], source.records)
            object.__setattr__(self, side, classes)
        if self.pairs > MOST_CELLS:
            raise BudgetError(
                "{true} different combinations released as {seen} are too many to compare; leave columns out, or take "
                "a sample",
                true=str(self.true.classes),
                seen=str(self.seen.classes),
            )

    @property
    def pairs(self) -> int:
        """How many pairs of a true and a released combination may belong together."""
        return sum(len(true) * len(seen) for true, seen in self._groups())

    @property
    def exactly(self) -> bool:
        """Whether fractions are added up."""
        return self.true.classes * self.seen.classes <= EXACT_CELLS

    def blocks(self) -> Iterator[_Block]:
        """Yield what is believed, some combinations at a time; no two blocks have a released one in common."""
        chances = {
            name: _chances(self.table, self.release, name, self.matrices[name], self.exactly)
            for name in self.names
            if name in self.matrices
        }
        true, seen = first_of_each(self.true), first_of_each(self.seen)
        shares = self._share(self.true.sizes)
        for those, others in self._groups():
            step = max(1, _AT_ONCE // len(those))
            for some in np.split(others, range(step, len(others), step)):
                joint = np.broadcast_to(shares[those], (len(some), len(those)))
                for name, table in chances.items():
                    rows = self.release.column(name).codes[seen[some]]
                    joint = joint * table[np.ix_(rows, self.table.column(name).codes[true[those]])]
                totals = joint.sum(axis=1)
                possible = totals > 0
                yield _Block(those, some[possible], joint[possible] / totals[possible, None])

    def _share(self, counts: Integers) -> NDArray[Any]:
        if self.exactly:
            return np.array([Fraction(int(count), self.table.records) for count in counts], object)
        return counts / self.table.records

    def _groups(self) -> Iterator[tuple[Integers, Integers]]:
        """Yield the true and the released combinations that are alike in what is released as it is."""
        true, seen = first_of_each(self.true), first_of_each(self.seen)
        keys = [np.zeros(len(true) + len(seen), np.int64)]
        for name in self.names:
            if name not in self.matrices:
                before, after = self.table.column(name), self.release.column(name)
                place = {value: code for code, value in enumerate(before.values.to_pylist())}
                codes = np.array([place.get(value, -1) for value in after.values.to_pylist()])
                keys.append(np.concatenate([before.codes[true], codes[after.codes[seen]]]))
        _, numbers = np.unique(np.stack(keys), axis=1, return_inverse=True)
        numbers = numbers.reshape(-1)
        order = np.argsort(numbers, kind="stable")
        ends = np.flatnonzero(np.diff(numbers[order])) + 1
        for group in np.split(order, ends):
            those, others = group[group < len(true)], group[group >= len(true)] - len(true)
            if len(those) and len(others):
                yield those, others


def _naming(compared: _Comparison) -> Attack:
    """Return how well people are named."""
    zero = Fraction(0) if compared.exactly else 0.0
    best, mass = (np.full(compared.true.classes, zero) for _ in range(2))
    possible = np.zeros(compared.true.classes, np.int64)
    sizes = compared.seen.sizes
    for true, seen, beliefs in compared.blocks():
        if len(seen):
            best[true] = np.maximum(best[true], beliefs.max(axis=0))
            mass[true] += (beliefs * sizes[seen, None]).sum(axis=0)
            possible[true] += ((beliefs > 0) * sizes[seen, None]).sum(axis=0)
    records = compared.table.records
    alike = np.array(
        [int(total / most + 1e-9) if most else 1 for total, most in zip(mass, best, strict=True)]
    )
    certain = _fraction(mass[possible == 1].sum() + zero) / records
    return _attack(
        compared,
        (),
        alike,
        Leakage(Fraction(int(records == 1)), certain),
        Leakage(Fraction(1, records), _fraction(best.sum() + zero) / records),
    )


def _inferring(compared: _Comparison, name: str) -> Attack:
    """Return how well a sensitive attribute is inferred."""
    table, release = compared.table, compared.release
    before, after = table.column(name), release.column(name)
    tally = records_per_value(before)
    if name in compared.matrices:
        chances = _chances(table, release, name, compared.matrices[name], compared.exactly)
        joint = chances * (tally if not compared.exactly else tally.astype(object))
    else:
        place = {value: code for code, value in enumerate(before.values.to_pylist())}
        joint = np.zeros((after.cardinality, before.cardinality), np.int64)
        for code, value in enumerate(after.values.to_pylist()):
            if value in place:
                joint[code, place[value]] = 1
        joint = joint.astype(object) if compared.exactly else joint.astype(np.float64)
    totals = joint.sum(axis=1)
    guesses = joint / np.where(totals > 0, totals, 1)[:, None]
    if compared.exactly:
        guesses = np.vectorize(Fraction, otypes=[object])(guesses) if guesses.size else guesses
    together = np.zeros((compared.seen.classes, after.cardinality), np.int64)
    np.add.at(together, (compared.seen.numbers, after.codes), 1)
    behind = (
        together.astype(guesses.dtype) @ guesses
    )  # per released combination and sensitive value
    zero = Fraction(0) if compared.exactly else 0.0
    beliefs = np.full((compared.true.classes, before.cardinality), zero)
    for true, seen, block in compared.blocks():
        beliefs[true] += block.T @ behind[seen]
    records = table.records
    only = (beliefs > 0).sum(axis=1) == 1
    guess = _fraction(beliefs.max(axis=1).sum() + zero) / records
    certain = _fraction(beliefs[only].sum() + zero) / records
    return _attack(
        compared,
        (name,),
        compared.true.sizes,
        Leakage(Fraction(int(np.count_nonzero(tally) == 1)), certain),
        Leakage(Fraction(int(tally.max()), records), guess),
    )


def _attack(
    compared: _Comparison,
    secret: tuple[str, ...],
    sizes: Integers,
    deterministic: Leakage,
    probabilistic: Leakage,
) -> Attack:
    records = compared.table.records
    return Attack(
        code="CAS" if secret else "CRS",
        datasets=(compared.table.name,),
        quasi_identifiers=compared.table.quasi_identifiers,
        secret=secret,
        records=records,
        classes=len(sizes),
        uniques=int(np.count_nonzero(sizes == 1)),
        class_sizes=ClassSizes.of(sizes),
        certain=ceil(deterministic.posterior * records),
        deterministic=deterministic,
        probabilistic=probabilistic,
        success=(),
        gain=None,
    )


def _fraction(number: Any) -> Fraction:
    """Return a sum as a fraction."""
    return (
        number
        if isinstance(number, Fraction)
        else Fraction(number).limit_denominator(_DENOMINATORS)
    )


def _chances(
    table: EncodedTable, release: EncodedTable, name: str, matrix: Channel, exactly: bool
) -> NDArray[Any]:
    """Return, per released (row) and true (column) value of a column, the chance that the one becomes the other."""
    rows = _rows(table.column(name), matrix)
    place = {value: number for number, value in enumerate(matrix.outputs)}
    none = np.zeros(len(rows), rows.dtype)
    columns = [
        rows[:, place[value]] if value in place else none
        for value in release.column(name).values.to_pylist()
    ]
    stacked = np.stack(columns)
    return stacked if exactly else stacked.astype(np.float64)


def sample_records(table: EncodedTable, share: Number, *, seed: int = 0) -> EncodedTable:
    """Return a simple random sample of the records of a table, in their order.

    Args:
        table: The records.
        share: The share of them that is drawn, above 0 and at most 1; the number is rounded half up, and at least 1.
        seed: Where chance begins.

    Raises:
        StudyError: It is not such a share.
    """
    fraction = exact(share, what="a share")
    if not 0 < fraction <= 1:
        raise StudyError(
            "a sample is a share of the records above 0 and at most 1, not {share}",
            share=str(share),
        )
    drawn = max(1, int(fraction * table.records + Fraction(1, 2)))
    random = np.random.default_rng([seed, *b"sample"])
    return table.of_records(np.sort(random.permutation(table.records)[:drawn]))


def _refuse_large(column: EncodedColumn, outputs: int) -> None:
    """Make sure that a matrix can be held.

    Raises:
        BudgetError: It has too many chances.
    """
    if column.cardinality * outputs > MOST_CHANCES:
        raise BudgetError(
            "column {column}: {values} values released as {outputs} are too many for a matrix; group its values first",
            column=quoted([column.name]),
            values=str(column.cardinality),
            outputs=str(outputs),
        )


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
