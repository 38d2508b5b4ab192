"""What one collective attack leaks: before and after, by how many records, in classes of which sizes.

Everything is counted in integers; a vulnerability is one exact fraction. A float is nearest to that fraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Rational, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Integers

if TYPE_CHECKING:
    from glasshouse.table import Step

MEASURES = ("prior", "posterior", "additive", "multiplicative")
"""What is told of a leakage, in this order."""
MEASURE_FIELDS = tuple((measure, pa.float64()) for measure in MEASURES)
"""The columns of a frame that hold a leakage."""
SIZE_BINS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)
"""The least class size of each bin of a histogram."""
SUCCESS_BINS = 11
"""Success of a single guess is counted by tenths, and certainty apart."""
SIZE_LABELS = ("1", "2", "3", "4", "5_9", "10_19", "20_49", "50_99", "100_999", "1000")
"""What the bins of class sizes are called in frames."""
SUCCESS_LABELS = (*(f"0.{tenth}" for tenth in range(10)), "1")
"""What the bins of success are called: each from its label up to the next, the last exactly 1."""
ATTACK_SCHEMA = pa.schema(
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
        *((f"probabilistic_{measure}", pa.float64()) for measure in MEASURES),
        ("capacity", pa.float64()),
        *((f"gain_{measure}", pa.float64()) for measure in MEASURES),
        *((f"classes_{label}", pa.int64()) for label in SIZE_LABELS),
        *((f"records_{label}", pa.int64()) for label in SIZE_LABELS),
        *((f"success_{label}", pa.int64()) for label in SUCCESS_LABELS),
    ]
)
"""The columns of a frame with a row per attack."""
NO_RECORD = "–"
"""How the absence of a record in an auxiliary dataset is written."""


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
        """By which factor it grew: posterior / prior; None where the prior is not positive, as no factor tells then."""
        return self.posterior / self.prior if self.prior > 0 else None

    def to_dict(self) -> dict[str, float | None]:
        """Return the four `MEASURES` as floats of the exact ratios.

        >>> Leakage(Fraction(1, 4), Fraction(1, 2)).to_dict()
        {'prior': 0.25, 'posterior': 0.5, 'additive': 0.25, 'multiplicative': 2.0}
        """
        # A quotient of integers is rounded once, like the float of a ratio; a sweep has many thousands of them.
        before, of = self.prior.as_integer_ratio()
        after, among = self.posterior.as_integer_ratio()
        return {
            "prior": before / of,
            "posterior": after / among,
            "additive": (after * of - before * among) / (of * among),
            "multiplicative": (after * of) / (among * before) if before > 0 else None,
        }

    def to_frame(self) -> pa.Table:
        """Return one row: a column per measure, null where no factor tells."""
        return pa.Table.from_pylist([self.to_dict()], schema=pa.schema(MEASURE_FIELDS))


@dataclass(frozen=True)
class ClassSizes:
    """How many classes there are by size, and how many records are in them, in the bins of `SIZE_BINS`."""

    classes: tuple[int, ...]
    """The number of classes per bin."""
    records: tuple[int, ...]
    """The number of records in them."""
    least: int | None = field(default=None, compare=False, repr=False)
    """The size of the smallest class; None: no more is known of it than its bin."""

    @property
    def smallest(self) -> int:
        """The size of the smallest class, or, where that is not known (`is_exact`), the least of its bin."""
        if self.least is not None:
            return self.least
        place = next(place for place, classes in enumerate(self.classes) if classes)
        only = self.classes[place] == 1
        return max(self.records[place], SIZE_BINS[place]) if only else SIZE_BINS[place]

    @property
    def is_exact(self) -> bool:
        """Whether the size of the smallest class is known."""
        place = next(place for place, classes in enumerate(self.classes) if classes)
        least = self.classes[place] * SIZE_BINS[place]
        if self.records[place] < least:  # neighbourhoods, of which records share what they hold
            return self.least is not None
        return self.least is not None or self.classes[place] == 1 or least == self.records[place]

    def records_below(self, size: int) -> int:
        """Return how many records are in classes of fewer than so many, which must be the edge of a bin."""
        return sum(self.records[: SIZE_BINS.index(size)])

    @classmethod
    def of(cls, sizes: Integers) -> ClassSizes:
        """Count classes of the given sizes."""
        bins = np.searchsorted(np.array(SIZE_BINS), sizes, side="right") - 1
        classes = np.bincount(bins, minlength=len(SIZE_BINS))
        records = [int(sizes[bins == place].sum()) for place in range(len(SIZE_BINS))]
        return cls(
            tuple(classes.tolist()), tuple(records), int(sizes.min()) if len(sizes) else None
        )

    def __add__(self, other: ClassSizes) -> ClassSizes:
        """Return the sizes of the classes of both, which have no class in common."""
        known = [one.least for one in (self, other) if one.least is not None]
        return ClassSizes(
            tuple(map(sum, zip(self.classes, other.classes, strict=True))),
            tuple(map(sum, zip(self.records, other.records, strict=True))),
            min(known, default=None),
        )


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
    """The number of records; of an inference, those of which the secret is known."""
    classes: int
    """The number of classes of records alike on the quasi-identifiers."""
    uniques: int
    """The number of records that are alone in their class."""
    class_sizes: ClassSizes
    """How many classes there are by size."""
    certain: int
    """The number of records whose secret she knows for certain: those in classes with one possible value that can be
    the target's; when she re-identifies, those that are the only possible one of their class. Possible is what has a
    positive probability."""
    deterministic: Leakage
    """The probability that she is certain, and right."""
    probabilistic: Leakage
    """The probability that her best single guess is right (Bayes vulnerability)."""
    success: tuple[int, ...]
    """Per tenth of the chance of a right guess, how many records have it; the last entry counts those that are certain.
    Empty when she re-identifies: there it follows from the class sizes."""
    gain: Leakage | None
    """Her expected gain, where a gain was given."""
    capacity: Fraction | None = field(default=None, compare=False, repr=False)
    """The multiplicative Bayes capacity of the channel, Σ_y max_x C(x, y): no prior and no gain that is never negative
    can make the multiplicative leakage larger (the "miracle theorem", Alvim et al. 2020, chapter 7; see
    `glasshouse.qif.capacity`), so it is the capacity over all of these too. For re-identification it is the number of
    classes. Which C(x, y) = n(x, y) / n(x) of a class is the greatest is decided in doubles; those that rounding cannot
    tell apart differ by less than a part in 10¹⁵. None: not computed, as in a sweep."""
    additive_capacity: Fraction | None = field(default=None, compare=False, repr=False)
    """1 − Σ_y min_x C(x, y): no prior, and no gain whose vulnerability varies by at most 1, can make the additive
    leakage larger (Chatzikokolakis 2018). Decided like the capacity. None: not computed."""

    @property
    def sensitive(self) -> str | None:
        """The secret as one name, or None when she re-identifies."""
        return "+".join(self.secret) or None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; probabilities as floats of the exact ratios."""
        certainty = self.deterministic.to_dict()
        content: dict[str, Any] = {
            "attack": self.code,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "datasets": list(self.datasets),
            "classes": self.classes,
            "uniques": self.uniques,
            "deterministic": {name: certainty[name] for name in ("prior", "posterior", "additive")}
            | {"records": self.certain},
            "probabilistic": self.probabilistic.to_dict(),
            "capacity": float_or_none(self.capacity),
        }
        return content if self.gain is None else content | {"gain": self.gain.to_dict()}

    def to_frame(self) -> pa.Table:
        """Return one row; lists are columns of lists, missing measures are null."""
        return pa.Table.from_pylist([self.to_row()], schema=ATTACK_SCHEMA)

    def to_row(self) -> dict[str, Any]:
        """Return it as a row of a frame with `ATTACK_SCHEMA`."""
        content = self.to_dict()
        measures = {
            f"{kind}_{measure}": value
            for kind in ("deterministic", "probabilistic", "gain")
            for measure, value in content.pop(kind, {}).items()
        }
        histograms = {
            f"{kind}_{label}": count
            for kind, labels, counts in (
                ("classes", SIZE_LABELS, self.class_sizes.classes),
                ("records", SIZE_LABELS, self.class_sizes.records),
                ("success", SUCCESS_LABELS, self.success),
            )
            for label, count in zip(labels, counts, strict=False)
        }
        return content | measures | histograms | {"records": self.records}

    @classmethod
    def from_row(cls, row: Mapping[str, Any], joint: Mapping[str, tuple[str, ...]]) -> Attack:
        """Return the attack that a row holds; ``joint`` are the columns of each secret that has several."""
        secret, records = row["sensitive"], row["records"]

        def leakage(kind: str) -> Leakage:
            return Leakage(
                *(_share(row[f"{kind}_{when}"], records) for when in ("prior", "posterior"))
            )

        return cls(
            code=row["attack"],
            datasets=tuple(row["datasets"]),
            quasi_identifiers=tuple(row["quasi_identifiers"]),
            secret=() if secret is None else joint.get(secret, (secret,)),
            records=records,
            classes=row["classes"],
            uniques=row["uniques"],
            class_sizes=ClassSizes(
                tuple(row[f"classes_{label}"] for label in SIZE_LABELS),
                tuple(row[f"records_{label}"] for label in SIZE_LABELS),
            ),
            certain=row["deterministic_records"],
            deterministic=leakage("deterministic"),
            probabilistic=leakage("probabilistic"),
            success=tuple(
                row[f"success_{label}"]
                for label in SUCCESS_LABELS
                if row[f"success_{label}"] is not None
            ),
            gain=None if row["gain_prior"] is None else leakage("gain"),
        )


def treatment(steps: Sequence[Step]) -> dict[str, Any]:
    """Return what was left out of the datasets as an entry of an outcome; nothing where there were no steps."""
    return {"treatment": [step.to_dict() for step in steps]} if steps else {}


def missing_records(records: int, attacks: Sequence[Attack]) -> dict[str, int]:
    """Return, by secret, in how many of some records it is missing, if in any: those that an attack leaves out."""
    left_out = {
        attack.sensitive: records - attack.records
        for attack in attacks
        if attack.sensitive is not None
    }
    return {secret: missing for secret, missing in left_out.items() if missing}


def missing_entry(missing: Mapping[str, int]) -> dict[str, Any]:
    """Return in how many records each secret is missing as an entry of an outcome; nothing where in none."""
    return {"missing": dict(missing)} if missing else {}


def value_text(value: object) -> str:
    """Return a value, or several together, as one text.

    >>> value_text("F"), value_text(("F", "A", None))
    ('F', '(F, A, –)')
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(value_text, value))})"
    return NO_RECORD if value is None else str(value)


def as_fraction(number: object) -> Fraction | None:
    """Return a number as the fraction that its shortest decimal form stands for: 0.1 is one tenth; None: it is none.

    >>> as_fraction(0.1), as_fraction(float("nan"))
    (Fraction(1, 10), None)
    """
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, Real | Decimal) and isfinite(number):
        return Fraction(number if isinstance(number, Decimal) else str(float(number)))
    return None


def float_or_none(number: Fraction | None) -> float | None:
    """Return the float nearest to an exact number; of none, none."""
    return None if number is None else float(number)


def _share(value: float, records: int) -> Fraction:
    """Return the ratio of records that a double is the nearest one of; where there is none, the double itself.

    >>> _share(1 / 3, 999), _share(0.1, 7)
    (Fraction(1, 3), Fraction(1, 10))
    """
    share = Fraction(round(value * records), records) if records else Fraction(0)
    return share if float(share) == value else Fraction(str(value))
