"""Adversaries beyond one guess: what they believe beforehand, what they can do, and what it is worth to them.

With n(x, y) the weight of the records in class y with the value x of the secret, and n(x) that of all with the value x,
the channel is C(x, y) = n(x, y) / n(x). The prior is π(x) = n(x) / N, as the release has it, or one that is given; the
channel stays that of the release. Then (Alvim et al. 2020, chapters 3 and 5):

- k tries                    prior: the k largest π(x)       posterior: Σ_y the k largest π(x)·C(x, y)
- worth(x) of naming x       prior: max_x worth(x)·π(x)      posterior: Σ_y max_x worth(x)·π(x)·C(x, y)
- gain g(w, x) of action w   prior: max_w Σ_x g(w, x)·π(x)   posterior: Σ_y max_w Σ_x g(w, x)·π(x)·C(x, y)

In `attack_kernels` the adversary makes her choice in each class; here the weights of what she chose become one exact
fraction.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from os import PathLike
from sys import float_info
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.language import (
    localised,
    marked,
    near_names,
    printable,
    quoted,
    text,
    translated,
    unknown_name,
)
from glasshouse.microdata import attack_kernels
from glasshouse.microdata.attack_kernels import (
    LARGEST_TOTAL,
    Weights,
    is_endless,
    record_numbers,
)
from glasshouse.microdata.leakage import as_fraction
from glasshouse.qif import GainFunction, Tries
from glasshouse.sources import Source, open_source
from glasshouse.study import Dialect
from glasshouse.table import EncodedTable
from glasshouse.table.codes import Codes, taken
from glasshouse.table.partition import Partition, numbered

OTHERS = "*"
"""Stands for all values that are not named."""

ABSTAIN = "abstain"
"""What the action is called that neither wins nor loses anything."""

_NO_PROBABILITY = marked("a probability of {number} is not a number")
_NO_GAIN = marked("a gain of {number} is not a number")

Value = str | tuple[str, ...]
"""A value of a sensitive attribute, or of several that are inferred together."""


@dataclass(frozen=True)
class RecordWorth:
    """Naming a person's record right is worth what stands in a column of that record: numbers, none negative."""

    column: str
    """The name of the column."""


Gain = GainFunction | Tries | RecordWorth | Mapping[Any, int | float | Fraction]
"""What the adversary wants: a gain function, a number of tries, a worth per value (``*``: each of the others), or, when
she re-identifies, a worth per record."""

Beliefs = Mapping[Any, int | float | Fraction]
"""A prior on a secret: the probability of each value (``*``: of all others together, who share it equally)."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[0-9]+/0*[1-9][0-9]*")


def with_abstaining(gain: GainFunction) -> GainFunction:
    """Return the gain function with an action ``abstain`` that gains nothing, if it has none yet.

    An adversary who would lose stays away, so that no expected gain is negative.

    Raises:
        StudyError: It has an action of that name that gains or loses something.

    >>> bet = GainFunction([[10, -1], [-1, 1]], guesses=["buy", "sell"], secrets=["ill", "well"])
    >>> with_abstaining(with_abstaining(bet)).guesses
    ('buy', 'sell', 'abstain')
    """
    if ABSTAIN not in gain.guesses:
        return gain.abstaining()
    if np.any(gain.matrix[gain.guesses.index(ABSTAIN)] != 0):
        raise StudyError(
            'the action "{name}" gains or loses something; give it another name', name=ABSTAIN
        )
    return gain


def read_gain_matrix(path: str | PathLike[str], *, dialect: Dialect | None = None) -> GainFunction:
    """Read what each action is worth for each value of a secret from a file.

    The first column names the actions. Each further column is a value of the secret (of a joint secret the values
    joined by ``+``, such as ``yes+public``; ``*``: each value that has no column). Cells are decimals or ratios, exact.

    Args:
        path: A file that `read` would read, too.
        dialect: How it is written down, if it is delimited text.

    Raises:
        DataError: It holds no actions or no values, an action twice, or something that is not a number.
    """
    source = open_source(path, dialect=dialect)
    strip = dialect is not None and dialect.strip
    if renamed := getattr(source, "renamed", ()):
        raise DataError(
            "{source}: columns have no name, or the same as another ({names} were given to them); a gain matrix has "
            "one column per value",
            source=source.name,
            names=quoted(renamed),
        )
    _, *values = (name.strip() if strip else name for name in source.columns)
    if not values:
        raise DataError(
            "{source}: has one column only; a gain matrix has the actions in the first, and a column per value",
            source=source.name,
        )
    gains: dict[str, list[Fraction]] = {}
    for action, *cells in _rows(source, strip=strip):
        if action in gains:
            raise DataError(
                "{source}: action {action} is there twice; rename one",
                source=source.name,
                action=quoted([action]),
            )
        if not action:
            raise DataError(
                "{source}: action {position} has no name; give it one",
                source=source.name,
                position=str(len(gains) + 1),
            )
        gains[action] = [
            _cell(
                cell,
                source,
                text(
                    "the gain of action {action} in column {column}",
                    action=quoted([action]),
                    column=quoted([value]),
                ),
            )
            for value, cell in zip(values, cells, strict=True)
        ]
    if not gains:
        raise DataError(
            "{source}: has no actions; a gain matrix has a row per action", source=source.name
        )
    return GainFunction(list(gains.values()), gains, values)


def read_prior(path: str | PathLike[str], *, dialect: Dialect | None = None) -> dict[str, Fraction]:
    """Read a prior on a secret from a file of two columns: the values, and the probability of each.

    Args:
        path: A file that `read` would read, too.
        dialect: How it is written down, if it is delimited text.

    Returns:
        The probabilities, exact, by value (of a joint secret the values joined by ``+``). Whether they are a
        distribution on the values of a secret is checked when they are used.

    Raises:
        DataError: It has other than two columns, a value twice, or something that is not a number.
    """
    source = open_source(path, dialect=dialect)
    if len(source.columns) != 2:
        raise DataError(
            "{source}: has {columns} columns; a prior has two: the value, and its probability",
            source=source.name,
            columns=str(len(source.columns)),
        )
    probabilities: dict[str, Fraction] = {}
    for value, cell in _rows(source, strip=dialect is not None and dialect.strip):
        if value in probabilities:
            raise DataError(
                "{source}: value {value} is there twice; remove one",
                source=source.name,
                value=quoted([value]),
            )
        what = text("the probability of {value}", value=quoted([value]))
        probabilities[value] = _cell(cell, source, what)
    return probabilities


def _rows(source: Source, *, strip: bool) -> Iterator[list[str]]:
    for batch in source.batches(source.columns):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield [cell.strip() for cell in row] if strip else list(row)


def _cell(written: str, source: Source, what: str) -> Fraction:
    if not _NUMBER.fullmatch(written.strip()):
        raise DataError(
            '{source}: {what} is "{written}", which is not a number; correct it',
            source=source.name,
            what=what,
            written=printable(written),
        )
    if is_endless(written):
        raise DataError(
            "{source}: {what} has too many digits; round it", source=source.name, what=what
        )
    return Fraction(written.strip())


@dataclass(frozen=True)
class Secret:
    """What the adversary infers, as one column of codes, and what she believes of it beforehand.

    Her prior is π(x) = ``shares[x] / whole``; if she has none of her own, the shares are the weights n(x).
    """

    names: tuple[str, ...]
    """The sensitive attributes."""
    table: EncodedTable
    """The release."""
    weights: Weights
    """The weights of its records."""
    codes: Codes
    """Per record, its value."""
    totals: Integers
    """Per value, the weight n(x) of its records."""
    shares: NDArray[Any]
    """Per value, its part of ``whole``: integers of any size."""
    whole: int
    """What the shares add up to."""
    factors: attack_kernels.Factors
    """Per value, what a unit of its weight scores: 1, or with a prior of her own π(x) / n(x), in doubles."""

    @property
    def cardinality(self) -> int:
        """The number of values."""
        return len(self.totals)

    @cached_property
    def inverse(self) -> Floats:
        """Per value, 1 / n(x); 0 where its records weigh nothing."""
        inverse = np.zeros(self.cardinality)
        np.divide(1, self.totals, out=inverse, where=self.totals > 0)
        return inverse

    @property
    def slack(self) -> float:
        """How much rounding may take from a chance."""
        return attack_kernels.ROUNDING if self.factors.dtype == np.float64 else 0

    @cached_property
    def values(self) -> list[Value]:
        """The value behind each code."""
        columns = [self.table.column(name) for name in self.names]
        if len(columns) == 1:
            return list(columns[0].values.to_pylist())
        _, first = np.unique(self.codes, return_index=True)
        texts = [
            column.values.take(pa.array(column.codes[first])).to_pylist() for column in columns
        ]
        return list(zip(*texts, strict=True))

    def of_records(self, records: slice | Integers) -> Secret:
        """Return the secret of some records, whose positions ascend; the prior stays that of all."""
        if isinstance(records, slice):
            return self
        each = self.weights.each
        weights = replace(self.weights, each=each[records]) if each.size else self.weights
        return replace(self, codes=taken(self.codes, records), weights=weights)

    def expected(self, amounts: Integers) -> Fraction:
        """Return Σ_x π(x)·amount(x) / n(x), exactly: the probability of an amount of weight of each value."""
        numerators = [a * s for a, s in zip(amounts.tolist(), self.shares.tolist(), strict=True)]
        return sum_of_ratios(numerators, self.totals.tolist()) / self.whole

    def by_code(self, given: Mapping[Any, Any], lacking: str) -> list[Any]:
        """Return what is given for each value: under its own name, joined by ``+``, or for all others.

        Args:
            given: Something per value; a value whose records weigh nothing may be left out, and gets None.
            lacking: What says that nothing is given for ``{values}`` of ``{name}``, marked for translators.

        Raises:
            StudyError: A value of the data is not given, or one that is given is not in the data.
        """
        codes = self._codes_by_label()
        assigned: dict[int, Any] = {}
        unknown = []
        for label, thing in given.items():
            code = codes.get(_label(label))
            if code in assigned:
                raise StudyError(
                    "{value} of {name} is given twice; give it once",
                    value=quoted([_text(label)]),
                    name=quoted(self.names),
                )
            if code is not None:
                assigned[code] = thing
            elif label != OTHERS:
                unknown.append(label)
        missing = [
            value
            for code, value in enumerate(self.values)
            if code not in assigned and OTHERS not in given and self.totals[code]
        ]
        if unknown or missing:
            raise StudyError(self._complaint(unknown, missing, lacking))
        return [assigned.get(code, given.get(OTHERS)) for code in range(self.cardinality)]

    def _codes_by_label(self) -> dict[Any, int]:
        joined = [_text(value) for value in self.values]
        often = Counter(joined)
        plain = {label: code for code, label in enumerate(joined) if often[label] == 1}
        return plain | {value: code for code, value in enumerate(self.values)}

    def _complaint(self, unknown: Sequence[Any], missing: Sequence[Value], lacking: str) -> str:
        values = quoted(map(_text, missing[:5]))
        lack = translated(lacking, values=values, name=quoted(self.names))
        if not unknown:
            return text(
                '{lack}; give one for each value, or for "{others}" (all others)',
                lack=lack,
                others=OTHERS,
            )
        surplus = self._unknown([_text(label) for label in unknown])
        return text("{lack}, and {surplus}", lack=lack, surplus=surplus) if missing else surplus

    def _unknown(self, labels: Sequence[str]) -> str:
        column = quoted(self.names)
        where = text("column {column} of {table}", column=column, table=self.table.name)
        known_labels = [_text(value) for value in self.values]
        if len(labels) == 1:
            return unknown_name("value", labels[0], where, known_labels)
        near = dict.fromkeys(name for label in labels for name in near_names(label, known_labels))
        if near:
            return text(
                "values {values} are not in {where}; did you mean {near}?",
                values=quoted(labels[:5]),
                where=where,
                near=quoted(near),
            )
        return text(
            "values {values} are not in {where}; it has {names}",
            values=quoted(labels[:5]),
            where=where,
            names=quoted(known_labels[:12]),
        )


def as_secret(
    table: EncodedTable, names: tuple[str, ...], weights: Weights, prior: Beliefs | None
) -> Secret:
    """Return sensitive attributes as one secret, with the prior of the release, or the one given.

    Raises:
        DataError: There is no such column.
        StudyError: The prior is not a distribution on the values of the secret.
    """
    codes, cardinality = numbered(table, names)
    totals = attack_kernels.value_weights(codes, weights.each, cardinality)
    secret = replace(secret_of_totals(table, names, weights, totals), codes=codes)
    return secret if prior is None else _believed(secret, prior)


def secret_of_totals(
    table: EncodedTable, names: tuple[str, ...], weights: Weights, totals: Integers
) -> Secret:
    """Return a secret with the prior of the release, whose records are elsewhere, by the weight of each value."""
    plain, nowhere = np.ones(len(totals), np.int64), np.empty(0, np.uint8)
    return Secret(names, table, weights, nowhere, totals, totals, weights.total, plain)


def _believed(secret: Secret, prior: Beliefs) -> Secret:
    """Return the secret with a prior of the adversary's own."""
    probabilities = _probabilities(secret, prior)
    for code, probability in enumerate(probabilities):
        if probability > 0 and not secret.totals[code]:
            raise StudyError(
                "the prior gives {value} of {name} a probability, but no record with it weighs anything; what is "
                "observed of it is unknown: make it 0",
                value=quoted([_text(secret.values[code])]),
                name=quoted(secret.names),
            )
    whole = lcm(*(probability.denominator for probability in probabilities))
    shares = np.array([int(probability * whole) for probability in probabilities], object)
    factors = [
        max(float(probability / total), float_info.min) if probability else 0.0
        for probability, total in zip(probabilities, secret.totals.tolist(), strict=True)
    ]
    return replace(secret, shares=shares, whole=whole, factors=np.array(factors))


def _probabilities(secret: Secret, prior: Beliefs) -> list[Fraction]:
    """Return the probability of each value, by code; what is left to ``*`` is shared equally."""
    name = quoted(secret.names)
    if not isinstance(prior, Mapping):
        raise StudyError(
            "the prior on {name} is a probability per value, not {given}",
            name=name,
            given=repr(prior),
        )
    exact = {value: _exact(number, _NO_PROBABILITY) for value, number in prior.items()}
    for value, probability in exact.items():
        if not 0 <= probability <= 1:
            raise StudyError(
                "the probability of {value} of {name} is {probability}; it must be between 0 and 1",
                value=quoted([_text(value)]),
                name=name,
                probability=_decimal(probability),
            )
    remainder = exact.get(OTHERS)
    by_code = secret.by_code(
        exact if remainder is None else exact | {OTHERS: None},
        marked("no probability is given for {values} of {name}"),
    )
    if sum(exact.values()) != 1:
        raise StudyError(
            "the prior on {name} adds up to {total}, not to 1; correct it",
            name=name,
            total=_decimal(sum(exact.values(), Fraction(0))),
        )
    unnamed = [
        code
        for code, probability in enumerate(by_code)
        if probability is None and secret.totals[code]
    ]
    if remainder and not unnamed:
        raise StudyError(
            'the prior on {name} names every value, so that nothing is left for "{others}"; leave it out',
            name=name,
            others=OTHERS,
        )
    for code in unnamed:
        by_code[code] = (remainder or Fraction(0)) / len(unnamed)
    return [probability or Fraction(0) for probability in by_code]


@dataclass(frozen=True)
class NamingRecords:
    """She names records; the right one earns its weight."""

    each: Integers
    """What each record earns; empty: 1 each."""
    records: int
    """The number of records."""
    whole: int
    """What gains are divided by."""
    tries: int = 1
    """How many records she may name."""

    def prior(self) -> Fraction:
        """Return the expected gain of naming the best records of all."""
        tries = min(self.tries, self.records)
        if not self.each.size:
            return Fraction(tries, self.whole)
        best = np.partition(self.each, self.records - tries)[self.records - tries :]
        return Fraction(int(best.sum()), self.whole)

    def of_records(self, records: slice | Integers) -> NamingRecords:
        """Return what some records earn; posteriors of slices with whole classes add up."""
        return replace(self, each=self.each[records]) if self.each.size else self

    def posterior(self, classes: Partition) -> Fraction:
        """Return the expected gain of naming the best records of the person's class."""
        if not self.each.size:
            return Fraction(int(np.minimum(classes.sizes, self.tries).sum()), self.whole)
        tries = min(self.tries, self.records)
        best = attack_kernels.heaviest_records(classes.order, classes.starts, self.each, tries)
        return Fraction(best, self.whole)


@dataclass(frozen=True)
class NamingValues:
    """She names values of the secret; the right one earns its worth."""

    secret: Secret
    """What she infers."""
    worth: Integers
    """Per value, what it earns."""
    scale: int = 1
    """What worth is divided by."""
    tries: int = 1
    """How many values she may name."""

    def prior(self) -> Fraction:
        """Return the expected gain of naming the best values of all."""
        worth, shares = self.worth.tolist(), self.secret.shares.tolist()
        earned = sorted(w * share for w, share in zip(worth, shares, strict=True))
        return Fraction(sum(earned[-self.tries :]), self.secret.whole * self.scale)

    def of_records(self, records: slice | Integers) -> NamingValues:
        """Return the game about some records; posteriors of slices with whole classes add up."""
        return replace(self, secret=self.secret.of_records(records))

    def posterior(self, classes: Partition) -> Fraction:
        """Return the expected gain of naming the best values of the person's class."""
        secret, factors = self.secret, self.secret.factors * self.worth
        tries = min(self.tries, secret.cardinality)
        picked = attack_kernels.best_values(
            classes.order, classes.starts, secret.codes, secret.weights.each, factors, tries
        )
        return secret.expected(picked * self.worth) / self.scale


@dataclass(frozen=True)
class Acting:
    """She takes one of several actions; each earns, or loses, what it does for the value of the secret."""

    secret: Secret
    """What she infers."""
    gains: Integers
    """Per value (row) and action (column), what is earned."""
    scale: int
    """What gains are divided by."""

    def prior(self) -> Fraction:
        """Return the expected gain of the best action for everybody."""
        earned = self.secret.shares @ self.gains
        return Fraction(int(earned.max()), self.secret.whole * self.scale)

    def of_records(self, records: slice | Integers) -> Acting:
        """Return the game about some records; posteriors of slices with whole classes add up."""
        return replace(self, secret=self.secret.of_records(records))

    def posterior(self, classes: Partition) -> Fraction:
        """Return the expected gain of the best action for the person's class."""
        secret = self.secret
        scores = np.ascontiguousarray(self.gains * secret.factors[:, None])
        picked = attack_kernels.best_actions(
            classes.order, classes.starts, secret.codes, secret.weights.each, scores
        )
        return secret.expected((picked * self.gains).sum(axis=1)) / self.scale


Game = NamingRecords | NamingValues | Acting
"""What an adversary plays for: her expected gain before and after."""


def naming_game(table: EncodedTable, weights: Weights, gain: Gain | None) -> NamingRecords:
    """Return the game of an adversary who re-identifies; without a gain, a right name earns 1.

    Raises:
        DataError: The worth of a record is not a number from 0 on.
        StudyError: The gain does not fit re-identification.
    """
    if gain is None or isinstance(gain, Tries):
        tries = 1 if gain is None else gain.k
        return NamingRecords(weights.each, table.records, weights.total, tries)
    if not isinstance(gain, RecordWorth):
        raise StudyError(
            "re-identification takes a number of tries, or a worth per record, as its gain; a worth per value or "
            "a gain function needs a sensitive attribute"
        )
    worth, scale = record_numbers(table, gain.column, "worth")
    if int(worth.max()) * weights.total > LARGEST_TOTAL:
        raise StudyError(
            "weights, and worth in column {column}, have too many digits to be multiplied exactly; round them",
            column=quoted([gain.column]),
        )
    earned = worth * weights.each if weights.each.size else worth
    return NamingRecords(earned, table.records, weights.total * scale)


def inferring_game(secret: Secret, gain: Gain) -> NamingValues | Acting:
    """Return the game of an adversary who infers a secret.

    Raises:
        StudyError: The gain does not fit the secret.
    """
    if isinstance(gain, Tries):
        return NamingValues(secret, np.ones(secret.cardinality, np.int64), tries=gain.k)
    if isinstance(gain, GainFunction):
        return Acting(secret, *_scaled(_aligned(secret, gain), secret.weights))
    if isinstance(gain, RecordWorth):
        raise StudyError(
            "a worth per record is for re-identification; give a worth per value of {name}",
            name=quoted(secret.names),
        )
    if not isinstance(gain, Mapping):
        raise StudyError(
            "a gain is a gain function, Tries(k) or a worth per value, not {given}",
            given=repr(gain),
        )
    worth = secret.by_code(
        {value: _exact(number, _NO_GAIN) for value, number in gain.items()},
        marked("no worth is given for {values} of {name}"),
    )
    exact = [number or Fraction(0) for number in worth]
    if min(exact) < 0:
        raise StudyError(
            "a worth of {name} is negative; use a gain function for losses",
            name=quoted(secret.names),
        )
    return NamingValues(secret, *_scaled(np.array(exact, object), secret.weights))


def _aligned(secret: Secret, gain: GainFunction) -> NDArray[Any]:
    """Return the gain matrix with a row per value of the secret, in the order of its codes."""
    columns = {
        value: [_exact(number, _NO_GAIN) for number in column]
        for value, column in zip(gain.secrets, gain.matrix.T, strict=True)
    }
    aligned = secret.by_code(
        columns, marked("the gain matrix has no column for {values} of {name}")
    )
    nothing = [Fraction(0)] * len(gain.guesses)
    return np.array([nothing if column is None else column for column in aligned], object)


def sum_of_ratios(numerators: Iterable[int], denominators: Iterable[int]) -> Fraction:
    """Return Σ numerator / denominator, exactly; where a numerator is 0, so is the term.

    Terms are added by pairs, so that few of the sums have long denominators.

    >>> sum_of_ratios([1, 1, 0], [2, 3, 0])
    Fraction(5, 6)
    """
    alike: dict[int, int] = defaultdict(int)
    for numerator, denominator in zip(numerators, denominators, strict=True):
        if numerator:
            alike[denominator] += numerator
    terms = [(numerator, denominator) for denominator, numerator in alike.items()]
    while len(terms) > 1:
        single = terms[-1:] if len(terms) % 2 else []
        terms = [*map(_sum_of_two, terms[::2], terms[1::2]), *single]
    return Fraction(*terms[0]) if terms else Fraction(0)


def _sum_of_two(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    """Add two ratios over their least common denominator."""
    (above, below), (other, further) = first, second
    shared = gcd(below, further)
    return above * (further // shared) + other * (below // shared), below // shared * further


def _exact(number: object, refusal: str) -> Fraction:
    """Return a number as a fraction, or refuse what is none."""
    exact = as_fraction(number)
    if exact is None:
        raise StudyError(refusal, number=str(number))
    return exact


def _scaled(numbers: NDArray[Any], weights: Weights) -> tuple[Integers, int]:
    """Return fractions as integers over one common denominator."""
    scale = lcm(*(number.denominator for number in numbers.flat))
    largest = max(abs(number) for number in numbers.flat) * scale
    if largest * weights.total > LARGEST_TOTAL:
        raise StudyError("the gains have too many digits to be added up exactly; round them")
    whole = np.array([int(number * scale) for number in numbers.flat], np.int64)
    return whole.reshape(numbers.shape), scale


def _label(label: object) -> object:
    """Return the name of a value as the table has it: values are texts, those of joint secrets tuples of texts."""
    return tuple(map(str, label)) if isinstance(label, tuple) else str(label)


def _text(label: object) -> str:
    return "+".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _decimal(number: Fraction) -> str:
    """Return a number in digits where they tell it from 0 and 1, else as a ratio."""
    nearest = float(number)
    return str(number) if nearest in (0, 1) else localised(str(nearest))
