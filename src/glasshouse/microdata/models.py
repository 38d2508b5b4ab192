"""Collective attacks: re-identification (CRS, CRL) and attribute inference (CAS, CAL).

The last letter tells one dataset from a longitudinal collection, which is a table too: its datasets joined on the
identifier (`glasshouse.table.collection`). The adversary picks a person whose record she knows to be in the release,
knows that person's quasi-identifiers, and so knows the person's class (Alvim et al. 2022, section 4.1, assumptions
A1–A4). With n(x, y) the weight of the records in class y with the value x of the secret, and N the weight of all:

- prior Bayes vulnerability     max_x Σ_y n(x, y) / N
- posterior Bayes vulnerability Σ_y max_x n(x, y) / N
- posterior certainty           Σ_y [one x only in y] n(y) / N   (the "deterministic" measure)
- posterior gain                Σ_y max_w Σ_x g(w, x)·n(x, y) / N

For re-identification the secret is the record itself. Everything is summed in integers; a vulnerability is one
exact fraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import isfinite, lcm
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import StudyError, quoted, unknown_name
from glasshouse.microdata import sums
from glasshouse.microdata.partition import Partition, partition
from glasshouse.microdata.weights import LARGEST_TOTAL, Weights, record_weights
from glasshouse.qif import GainFunction, Tries
from glasshouse.table import EncodedTable
from glasshouse.table.dictionary import Codes

Value = str | tuple[str, ...]
"""A value of a sensitive attribute, or of several that are inferred together."""

Gain = GainFunction | Tries | Mapping[Any, int | float | Fraction]
"""What a guess is worth: a gain function, a number of tries, or a worth per value (``*``: all others)."""

OTHERS = "*"


@dataclass(frozen=True)
class Leakage:
    """What the adversary has before and after the attack, and what the attack gave her."""

    prior: Fraction
    """Her success before she learns the quasi-identifiers."""
    posterior: Fraction
    """Her expected success afterwards."""

    @property
    def additive(self) -> Fraction:
        """What was added: posterior − prior."""
        return self.posterior - self.prior

    @property
    def multiplicative(self) -> Fraction | None:
        """By which factor it grew: posterior / prior; None where the prior is zero."""
        return self.posterior / self.prior if self.prior else None


SIZE_BINS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)
"""The least class size of each bin of a histogram."""
SUCCESS_BINS = 11
"""Success of a single guess is counted by tenths, and certainty apart."""


@dataclass(frozen=True)
class ClassSizes:
    """How many classes there are by size, and how many records are in them, in the bins of `SIZE_BINS`."""

    classes: tuple[int, ...]
    """The number of classes per bin."""
    records: tuple[int, ...]
    """The number of records in them."""

    @property
    def smallest(self) -> int:
        """The least size of the first bin that holds a class: no class is smaller."""
        return next(size for size, classes in zip(SIZE_BINS, self.classes, strict=True) if classes)

    def records_below(self, size: int) -> int:
        """Return how many records are in classes of fewer than so many, which must be the edge of a bin."""
        return sum(self.records[: SIZE_BINS.index(size)])

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> ClassSizes:
        """Count classes of the given sizes."""
        bins = np.searchsorted(np.array(SIZE_BINS), sizes, side="right") - 1
        classes = np.bincount(bins, minlength=len(SIZE_BINS))
        records = [int(sizes[bins == each].sum()) for each in range(len(SIZE_BINS))]
        return cls(tuple(classes.tolist()), tuple(records))


@dataclass(frozen=True)
class Attack:
    """The outcome of one collective attack with one set of quasi-identifiers."""

    code: str
    """The attack: CRS or CRL (re-identification), CAS or CAL (attribute inference)."""
    datasets: tuple[str, ...]
    """The names of the datasets that it uses."""
    quasi_identifiers: tuple[str, ...]
    """What the adversary knows of a person."""
    secret: tuple[str, ...]
    """The sensitive attributes that she infers, together; none when she re-identifies."""
    records: int
    """The number of records."""
    classes: int
    """The number of classes of records alike on the quasi-identifiers."""
    uniques: int
    """The number of records that are alone in their class."""
    class_sizes: ClassSizes
    """How many classes there are by size."""
    certain: int
    """The number of records whose secret she knows for certain."""
    deterministic: Leakage
    """The probability that she is certain, and right."""
    probabilistic: Leakage
    """The probability that her best single guess is right (Bayes vulnerability)."""
    success: tuple[int, ...]
    """Per tenth of the chance of a right guess, how many records have it; the last entry counts those that are certain.
    Empty when she re-identifies: there it follows from the class sizes."""
    gain: Leakage | None
    """Her expected gain, where a gain was given."""

    @property
    def sensitive(self) -> str | None:
        """The secret as one name, or None when she re-identifies."""
        return "+".join(self.secret) or None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; probabilities as floats of the exact ratios."""
        content: dict[str, Any] = {
            "attack": self.code,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "datasets": list(self.datasets),
            "classes": self.classes,
            "uniques": self.uniques,
            "deterministic": {
                "prior": float(self.deterministic.prior),
                "posterior": float(self.deterministic.posterior),
                "additive": float(self.deterministic.additive),
                "records": self.certain,
            },
            "probabilistic": _both_leakages(self.probabilistic),
        }
        return content if self.gain is None else content | {"gain": _both_leakages(self.gain)}


@dataclass(frozen=True)
class Assessment:
    """The outcomes of several attacks on one table."""

    records: int
    """The number of records."""
    attacks: tuple[Attack, ...]
    """By set of quasi-identifiers; within one, re-identification first, then each secret."""

    def to_frame(self) -> pa.Table:
        """Return one row per attack; lists are columns of lists, missing measures are null."""
        rows = [_row(attack) for attack in self.attacks]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)


def attack(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    secret: str | Sequence[str] | None = None,
    gain: Gain | None = None,
    weight: str | None = None,
) -> Attack:
    """Attack all records of a table with one set of quasi-identifiers.

    Args:
        table: The release.
        quasi_identifiers: What the adversary knows of a person; by default the table's quasi-identifiers.
        secret: The attribute that she infers, or several together; by default she re-identifies.
        gain: What her guesses are worth, beside the plain chance of a right one.
        weight: The column of record weights that is her prior; by default the table's, else uniform.

    Raises:
        DataError: A column is not in the table, or a weight is not a positive number.
        StudyError: The gain does not fit the secret.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({
    ...     "language": ["English", "Port.", "German", "German"],
    ...     "gender": ["M", "M", "F", "M"],
    ...     "age": [">30", "<=30", "<=30", "<=30"],
    ... })
    >>> outcome = attack(read(people), quasi_identifiers=["gender", "age"], secret="language")
    >>> outcome.probabilistic.prior, outcome.probabilistic.posterior
    (Fraction(1, 2), Fraction(3, 4))
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    secrets = () if secret is None else _attributes(secret)
    weights = record_weights(table, weight or table.weight)
    return _attack(table, names, partition(table, names), secrets, gain, weights)


def assess(
    table: EncodedTable,
    *,
    subsets: Sequence[Sequence[str]] | None = None,
    secrets: Sequence[str | Sequence[str]] | None = None,
    gains: Mapping[tuple[str, ...], Gain] | None = None,
    weight: str | None = None,
) -> Assessment:
    """Re-identify, and infer each secret, with each set of quasi-identifiers.

    Args:
        table: The release.
        subsets: The sets of quasi-identifiers; by default the whole set.
        secrets: The attributes, or groups of attributes, to infer; by default each sensitive attribute.
        gains: Per secret (the empty one is re-identification), what guesses are worth.
        weight: The column of record weights; by default the table's, else uniform.
    """
    weights = record_weights(table, weight or table.weight)
    chosen = [table.quasi_identifiers] if subsets is None else [tuple(s) for s in subsets]
    named = [_attributes(secret) for secret in (table.sensitive if secrets is None else secrets)]
    if not chosen:
        raise StudyError("there is nothing to assess: give at least one set of quasi-identifiers")
    for secret in gains or {}:
        if secret != () and secret not in named:
            raise StudyError(
                f"a gain is given for {secret!r}, which is none of the secrets {named}"
            )
    outcomes = []
    for names in chosen:
        classes = partition(table, names)
        for secret in [(), *named]:
            gain = (gains or {}).get(secret)
            outcomes.append(_attack(table, names, classes, secret, gain, weights))
    return Assessment(table.records, tuple(outcomes))


def _attributes(secret: str | Sequence[str]) -> tuple[str, ...]:
    names = (secret,) if isinstance(secret, str) else tuple(secret)
    if not names or len(set(names)) < len(names):
        raise StudyError("a secret needs at least one sensitive attribute, and each once")
    return names


@dataclass(frozen=True)
class _Secret:
    """A secret as one column of codes."""

    names: tuple[str, ...]
    codes: Codes
    table: EncodedTable

    @cached_property
    def cardinality(self) -> int:
        return int(self.codes.max()) + 1

    def values(self) -> list[Value]:
        """Return the value behind each code."""
        columns = [self.table.column(name) for name in self.names]
        if len(columns) == 1:
            return list(columns[0].values.to_pylist())
        _, first = np.unique(self.codes, return_index=True)
        texts = [
            column.values.take(pa.array(column.codes[first])).to_pylist() for column in columns
        ]
        return list(zip(*texts, strict=True))


def _attack(
    table: EncodedTable,
    names: tuple[str, ...],
    classes: Partition,
    secret: tuple[str, ...],
    gain: Gain | None,
    weights: Weights,
) -> Attack:
    measured = (
        _infer(table, classes, secret, gain, weights)
        if secret
        else _reidentify(table, classes, gain, weights)
    )
    return Attack(
        code=attack_code(table, secret),
        datasets=table.datasets,
        quasi_identifiers=names,
        secret=secret,
        records=table.records,
        classes=classes.classes,
        uniques=classes.uniques,
        class_sizes=ClassSizes.of(classes.sizes),
        **measured,
    )


def attack_code(table: EncodedTable, secret: Sequence[str]) -> str:
    """Return the code of a collective attack (Alvim et al. 2022, Table 1).

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> attack_code(read(pa.table({"age": [20], "ill": ["a"]})), ["ill"])
    'CAS'
    """
    return f"C{'A' if secret else 'R'}{'L' if table.collection else 'S'}"


def _reidentify(
    table: EncodedTable, classes: Partition, gain: Gain | None, weights: Weights
) -> dict[str, Any]:
    if weights.each.size:
        best, alone = sums.heaviest_records(classes.order, classes.starts, weights.each)
    else:
        best, alone = classes.classes, classes.uniques
    total = weights.total
    return {
        "certain": classes.uniques,
        "deterministic": Leakage(Fraction(int(table.records == 1)), Fraction(alone, total)),
        "probabilistic": Leakage(Fraction(weights.heaviest, total), Fraction(best, total)),
        "success": (),
        "gain": None if gain is None else _tries_to_reidentify(table, classes, gain, weights),
    }


def _tries_to_reidentify(
    table: EncodedTable, classes: Partition, gain: Gain, weights: Weights
) -> Leakage:
    if not isinstance(gain, Tries):
        raise StudyError(
            "re-identification takes a number of tries as its gain; a worth or a gain function needs a sensitive "
            "attribute"
        )
    if not weights.each.size:
        found = int(np.minimum(classes.sizes, gain.k).sum())
        return Leakage(
            Fraction(min(gain.k, table.records), table.records), Fraction(found, table.records)
        )
    own = np.arange(table.records, dtype=np.uint32)
    everyone = np.array([0, table.records])
    parts = (table.records, min(gain.k, table.records))
    prior = sums.best_tries(own, everyone, own, weights.each, *parts)
    posterior = sums.best_tries(classes.order, classes.starts, own, weights.each, *parts)
    return Leakage(Fraction(prior, weights.total), Fraction(posterior, weights.total))


def _infer(
    table: EncodedTable,
    classes: Partition,
    names: tuple[str, ...],
    gain: Gain | None,
    weights: Weights,
) -> dict[str, Any]:
    if gain is not None and not isinstance(gain, GainFunction | Tries | Mapping):
        raise StudyError(f"a gain is a gain function, Tries(k) or a worth per value, not {gain!r}")
    secret = _Secret(names, _joint_codes(table, names), table)
    worth, scale = _scaled_worth(secret, gain, weights)
    success = np.zeros(SUCCESS_BINS, np.int64)
    best, best_worth, certain_weight, certain = sums.best_guesses(
        classes.order, classes.starts, secret.codes, weights.each, worth, success
    )
    totals = sums.value_weights(secret.codes, weights.each, secret.cardinality)
    likeliest, total = int(totals.max()), weights.total
    if isinstance(gain, GainFunction | Tries):
        gained: Leakage | None = _gain(secret, classes, gain, weights, totals)
    elif gain is not None:
        prior = int((totals * worth).max())
        gained = Leakage(Fraction(prior, scale * total), Fraction(best_worth, scale * total))
    else:
        gained = None
    return {
        "certain": certain,
        "deterministic": Leakage(
            Fraction(int(likeliest == total)), Fraction(certain_weight, total)
        ),
        "probabilistic": Leakage(Fraction(likeliest, total), Fraction(best, total)),
        "success": tuple(success.tolist()),
        "gain": gained,
    }


def _joint_codes(table: EncodedTable, names: tuple[str, ...]) -> Codes:
    return table.column(names[0]).codes if len(names) == 1 else partition(table, names).numbers


def _scaled_worth(
    secret: _Secret, gain: Gain | None, weights: Weights
) -> tuple[NDArray[np.int64], int]:
    if not isinstance(gain, Mapping):
        return np.zeros(secret.cardinality, np.int64), 1
    values = secret.values()
    for value in gain:
        if value != OTHERS and value not in values:
            where = f"column {quoted(secret.names)} of {secret.table.name}"
            raise StudyError(unknown_name("value", str(value), where, map(str, values)))
    without = [str(value) for value in values if value not in gain and OTHERS not in gain]
    if without:
        raise StudyError(
            f"no worth is given for {quoted(without[:5])} of {quoted(secret.names)}; give one for each value, or for "
            f'"{OTHERS}" (all others)'
        )
    worth = [_exact(gain.get(value, gain.get(OTHERS, 0))) for value in values]
    if min(worth) < 0:
        raise StudyError(
            f"a worth of {quoted(secret.names)} is negative; use a gain function for losses"
        )
    return _scaled(np.array(worth, object), weights)


def _gain(
    secret: _Secret,
    classes: Partition,
    gain: GainFunction | Tries,
    weights: Weights,
    totals: NDArray[np.int64],
) -> Leakage:
    """Measure a gain: on the classes, and on all records as one class, which is the prior."""
    values = np.arange(secret.cardinality, dtype=np.uint32)
    everyone = np.array([0, secret.cardinality])
    parts: tuple[Any, ...]
    if isinstance(gain, Tries):
        parts, scale = (secret.cardinality, min(gain.k, secret.cardinality)), 1
        loop = sums.best_tries
    else:
        gains, scale = _scaled(_aligned(secret, gain), weights)
        parts, loop = (np.ascontiguousarray(gains.T),), sums.best_actions
    prior = loop(values, everyone, values, totals, *parts)
    posterior = loop(classes.order, classes.starts, secret.codes, weights.each, *parts)
    whole = weights.total * scale
    return Leakage(Fraction(prior, whole), Fraction(posterior, whole))


def _aligned(secret: _Secret, gain: GainFunction) -> NDArray[Any]:
    """Return the gain matrix with its columns in the order of the secret's codes."""
    position = {label: i for i, label in enumerate(gain.secrets)}
    missing = [str(value) for value in secret.values() if value not in position]
    if missing:
        raise StudyError(
            f"the gain function says nothing of {quoted(missing[:5])} of {quoted(secret.names)}; its secrets are "
            f"{quoted(map(str, gain.secrets[:12]))}"
        )
    chosen = gain.matrix[:, [position[value] for value in secret.values()]]
    exact: NDArray[Any] = np.vectorize(_exact, otypes=[object])(chosen)
    return exact


def _exact(number: int | float | Decimal | Fraction) -> Fraction:
    """Return a number as the fraction that its shortest decimal form stands for."""
    if isinstance(number, int | Fraction | Decimal):
        return Fraction(number)
    if not isfinite(number):
        raise StudyError(f"a gain of {number} is not a number")
    return Fraction(str(float(number)))


def _scaled(numbers: NDArray[Any], weights: Weights) -> tuple[NDArray[np.int64], int]:
    """Return fractions as integers over one common denominator."""
    scale = lcm(*(number.denominator for number in numbers.flat))
    largest = max(abs(number) for number in numbers.flat) * scale
    if largest * weights.total > LARGEST_TOTAL:
        raise StudyError("the gains have too many digits to be added up exactly; round them")
    whole = np.array([int(number * scale) for number in numbers.flat], np.int64)
    return whole.reshape(numbers.shape), scale


def _both_leakages(leakage: Leakage) -> dict[str, float | None]:
    factor = leakage.multiplicative
    return {
        "prior": float(leakage.prior),
        "posterior": float(leakage.posterior),
        "additive": float(leakage.additive),
        "multiplicative": None if factor is None else float(factor),
    }


SIZE_LABELS = ("1", "2", "3", "4", "5_9", "10_19", "20_49", "50_99", "100_999", "1000")
"""What the bins of class sizes are called in frames."""
SUCCESS_LABELS = (*(f"0.{tenth}" for tenth in range(10)), "1")
"""What the bins of success are called: each from its label up to the next, the last exactly 1."""

_MEASURES = ("prior", "posterior", "additive", "multiplicative")
_SCHEMA = pa.schema(
    [
        ("attack", pa.string()),
        ("datasets", pa.list_(pa.string())),
        ("quasi_identifiers", pa.list_(pa.string())),
        ("sensitive", pa.string()),
        ("records", pa.int64()),
        ("classes", pa.int64()),
        ("uniques", pa.int64()),
        ("deterministic_prior", pa.float64()),
        ("deterministic_posterior", pa.float64()),
        ("deterministic_additive", pa.float64()),
        ("deterministic_records", pa.int64()),
        *((f"probabilistic_{measure}", pa.float64()) for measure in _MEASURES),
        *((f"gain_{measure}", pa.float64()) for measure in _MEASURES),
        *((f"classes_{label}", pa.int64()) for label in SIZE_LABELS),
        *((f"records_{label}", pa.int64()) for label in SIZE_LABELS),
        *((f"success_{label}", pa.int64()) for label in SUCCESS_LABELS),
    ]
)


def _row(attack: Attack) -> dict[str, Any]:
    content = attack.to_dict()
    measures = {
        f"{kind}_{measure}": value
        for kind in ("deterministic", "probabilistic", "gain")
        for measure, value in content.pop(kind, {}).items()
    }
    histograms = {
        f"{kind}_{label}": count
        for kind, labels, counts in (
            ("classes", SIZE_LABELS, attack.class_sizes.classes),
            ("records", SIZE_LABELS, attack.class_sizes.records),
            ("success", SUCCESS_LABELS, attack.success),
        )
        for label, count in zip(labels, counts, strict=False)
    }
    return content | measures | histograms | {"records": attack.records}
