"""Collective attacks: re-identification (CRS, CRL) and attribute inference (CAS, CAL).

The last letter tells one dataset from a longitudinal collection, which is a table too: its datasets joined on the
identifier (`glasshouse.table.collection`). The adversary picks a person whose record she knows to be in the release,
knows that person's quasi-identifiers, and so knows the person's class (Alvim et al. 2022, section 4.1, assumptions
A1–A4). With n(x, y) the weight of the records in class y with the value x of the secret, and N the weight of all:

- prior Bayes vulnerability     max_x Σ_y n(x, y) / N
- posterior Bayes vulnerability Σ_y max_x n(x, y) / N
- posterior certainty           Σ_y [one x only in y] n(y) / N   (the "deterministic" measure)
- multiplicative capacity       Σ_y max_x n(x, y) / n(x)
- additive capacity             1 − Σ_y min_x n(x, y) / n(x)

For re-identification the secret is the record itself. Other aims and other priors: `glasshouse.microdata.gains`.
Everything is summed in integers; a vulnerability is one exact fraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Integers
from glasshouse.errors import StudyError
from glasshouse.language import marked, text, translated
from glasshouse.microdata import attack_kernels
from glasshouse.microdata.attack_kernels import Weights, record_weights
from glasshouse.microdata.gains import (
    OTHERS,
    Beliefs,
    Gain,
    Game,
    Secret,
    as_secret,
    inferring_game,
    naming_game,
    sum_of_ratios,
)
from glasshouse.table import EncodedTable
from glasshouse.table.partition import Partition, partition, refined

__all__ = [
    "OTHERS",
    "SIZE_BINS",
    "SIZE_LABELS",
    "SUCCESS_BINS",
    "SUCCESS_LABELS",
    "Assessment",
    "Attack",
    "ClassSizes",
    "Gain",
    "Leakage",
    "assess",
    "attack",
    "attack_code",
]


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
        return {
            "prior": float(self.prior),
            "posterior": float(self.posterior),
            "additive": float(self.additive),
            "multiplicative": float_or_none(self.multiplicative),
        }


MEASURES = ("prior", "posterior", "additive", "multiplicative")
"""What is told of a leakage, in this order."""
MEASURE_FIELDS = tuple((measure, pa.float64()) for measure in MEASURES)
"""The columns of a frame that hold a leakage."""
SIZE_BINS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)
"""The least class size of each bin of a histogram."""
SUCCESS_BINS = 11
"""Success of a single guess is counted by tenths, and certainty apart."""
OTHER_GAIN = marked("a gain is given for {secret}, which is none of the secrets {secrets}")
OTHER_PRIOR = marked("a prior is given for {secret}, which is none of the secrets {secrets}")
"""What `refuse_unknown_secrets` says of a gain and of a prior."""


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
    def of(cls, sizes: Integers) -> ClassSizes:
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
    """The number of records whose secret she knows for certain: those in classes with one possible value; when she
    re-identifies, those that are the only possible one of their class. Possible is what has a positive probability."""
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
            "probabilistic": self.probabilistic.to_dict(),
            "capacity": float_or_none(self.capacity),
        }
        return content if self.gain is None else content | {"gain": self.gain.to_dict()}


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
    prior: Beliefs | None = None,
) -> Attack:
    """Attack all records of a table with one set of quasi-identifiers.

    Args:
        table: The release.
        quasi_identifiers: What the adversary knows of a person; by default the table's quasi-identifiers.
        secret: The attribute that she infers, or several together; by default she re-identifies.
        gain: What her guesses are worth, beside the plain chance of a right one.
        weight: The column of record weights that is her prior; by default the table's, else uniform. A record of
            weight 0 cannot be the target's.
        prior: What she believes of the secret instead of what the release says: the probability of each value (``*``:
            of all others together, who share it equally). What is observed of each value stays as in the release.

    Raises:
        DataError: A column is not in the table, or a weight is not a number from 0 on.
        StudyError: The gain or the prior does not fit the secret.

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
    secrets = () if secret is None else attributes_of(secret)
    weights = record_weights(table, weight or table.weight)
    aim = _aim(table, secrets, weights, gain, prior)
    return _attack(table, names, partition(table, names), aim, weights)


def assess(
    table: EncodedTable,
    *,
    subsets: Sequence[Sequence[str]] | None = None,
    secrets: Sequence[str | Sequence[str]] | None = None,
    gains: Mapping[tuple[str, ...], Gain] | None = None,
    weight: str | None = None,
    priors: Mapping[tuple[str, ...], Beliefs] | None = None,
) -> Assessment:
    """Re-identify, and infer each secret, with each set of quasi-identifiers.

    Args:
        table: The release.
        subsets: The sets of quasi-identifiers; by default the whole set.
        secrets: The attributes, or groups of attributes, to infer; by default each sensitive attribute.
        gains: Per secret (the empty one is re-identification), what guesses are worth.
        weight: The column of record weights; by default the table's, else uniform.
        priors: Per secret, what she believes of it instead of what the release says.
    """
    return assess_windows(
        [table], subsets=subsets, secrets=secrets, gains=gains, weight=weight, priors=priors
    )


def assess_windows(
    windows: Sequence[EncodedTable],
    *,
    subsets: Sequence[Sequence[str]] | None = None,
    secrets: Sequence[str | Sequence[str]] | None = None,
    gains: Mapping[tuple[str, ...], Gain] | None = None,
    weight: str | None = None,
    priors: Mapping[tuple[str, ...], Beliefs] | None = None,
) -> Assessment:
    """Assess the growing windows of one collection: each refines the classes of the one before.

    Args:
        windows: The same records with more and more columns known, as of `Collection.windows`.
        subsets: As for `assess`, and so are the others.
        secrets: The attributes, or groups of attributes, to infer.
        gains: Per secret, what guesses are worth.
        weight: The column of record weights.
        priors: Per secret, what she believes of it.

    Returns:
        The attacks window by window.
    """
    table = windows[-1]
    weights = record_weights(table, weight or table.weight)
    chosen = [table.quasi_identifiers] if subsets is None else [tuple(s) for s in subsets]
    named = [attributes_of(secret) for secret in (table.sensitive if secrets is None else secrets)]
    if not chosen:
        raise StudyError(
            text("there is nothing to assess: give at least one set of quasi-identifiers")
        )
    gains, priors = gains or {}, priors or {}
    refuse_unknown_secrets(OTHER_GAIN, gains, named)
    refuse_unknown_secrets(OTHER_PRIOR, priors, named)
    aims = [_aim(table, own, weights, gains.get(own), priors.get(own)) for own in [(), *named]]
    outcomes: list[list[Attack]] = [[] for _ in windows]
    for names in chosen:
        classes, seen = None, set[str]()
        for window, own in zip(windows, outcomes, strict=True):
            columns = [column for name in names for column in window.columns_of(name)]
            new = [column for column in columns if column.name not in seen]
            classes = refined(new, window.records, classes)
            seen.update(column.name for column in new)
            own += [_attack(window, names, classes, aim, weights) for aim in aims]
    return Assessment(table.records, tuple(attack for own in outcomes for attack in own))


def attributes_of(secret: str | Sequence[str]) -> tuple[str, ...]:
    """Return the attributes of a secret, which may be given as one name.

    Raises:
        StudyError: There are none, or one is there twice.
    """
    names = (secret,) if isinstance(secret, str) else tuple(secret)
    if not names or len(set(names)) < len(names):
        raise StudyError(text("a secret needs at least one sensitive attribute, and each once"))
    return names


def refuse_unknown_secrets(
    refusal: str, given: Iterable[tuple[str, ...]], secrets: Sequence[tuple[str, ...]]
) -> None:
    """Check that something is given for the secrets only, or for re-identification.

    Args:
        refusal: What is said otherwise: `OTHER_GAIN` or `OTHER_PRIOR`.
        given: For which secrets it is; the empty one is re-identification.
        secrets: The secrets that there are.

    Raises:
        StudyError: It is given for something else.
    """
    for secret in given:
        if secret != () and secret not in secrets:
            raise StudyError(translated(refusal, secret=secret, secrets=secrets))


@dataclass(frozen=True)
class _Aim:
    """What an adversary is after, made ready once for all sets of quasi-identifiers."""

    names: tuple[str, ...]
    secret: Secret | None
    game: Game | None


def _aim(
    table: EncodedTable,
    names: tuple[str, ...],
    weights: Weights,
    gain: Gain | None,
    prior: Beliefs | None,
) -> _Aim:
    if names:
        secret = as_secret(table, names, weights, prior)
        return _Aim(names, secret, None if gain is None else inferring_game(secret, gain))
    if prior is not None:
        raise StudyError(
            text(
                "re-identification takes no prior on a secret, as record weights are its prior; name a sensitive "
                "attribute, or a column of weights"
            )
        )
    return _Aim((), None, None if gain is None else naming_game(table, weights, gain))


def _attack(
    table: EncodedTable,
    names: tuple[str, ...],
    classes: Partition,
    aim: _Aim,
    weights: Weights,
) -> Attack:
    measured = (
        _reidentify(table, classes, weights) if aim.secret is None else _infer(classes, aim.secret)
    )
    return Attack(
        code=attack_code(table, aim.names),
        datasets=table.datasets,
        quasi_identifiers=names,
        secret=aim.names,
        records=table.records,
        classes=classes.classes,
        uniques=classes.uniques,
        class_sizes=ClassSizes.of(classes.sizes),
        gain=None if aim.game is None else _played(aim.game, classes),
        **measured,
    )


def _played(game: Game, classes: Partition) -> Leakage:
    return Leakage(game.prior(), game.posterior(classes))


def attack_code(table: EncodedTable, secret: Sequence[str]) -> str:
    """Return the code of a collective attack (Alvim et al. 2022, Table 1).

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> attack_code(read(pa.table({"age": [20], "ill": ["a"]})), ["ill"])
    'CAS'
    """
    return f"C{'A' if secret else 'R'}{'L' if table.collection else 'S'}"


def _reidentify(table: EncodedTable, classes: Partition, weights: Weights) -> dict[str, Any]:
    if weights.each.size:
        alone, certain = attack_kernels.lone_records(classes.order, classes.starts, weights.each)
    else:
        alone, certain = classes.uniques, classes.uniques
    known = int(weights.heaviest == weights.total)
    return {
        "certain": certain,
        "deterministic": Leakage(Fraction(known), Fraction(alone, weights.total)),
        "probabilistic": _played(naming_game(table, weights, None), classes),
        "success": (),
        "capacity": Fraction(classes.classes),
        "additive_capacity": Fraction(int(classes.classes > 1)),
    }


def _infer(classes: Partition, secret: Secret) -> dict[str, Any]:
    success = np.zeros(SUCCESS_BINS, np.int64)
    picked, certain = attack_kernels.best_guesses(
        classes.order,
        classes.starts,
        secret.codes,
        secret.weights.each,
        secret.factors,
        secret.slack,
        secret.inverse,
        success,
    )
    known = int(np.count_nonzero(secret.shares) == 1)
    likeliest = Fraction(int(secret.shares.max()), secret.whole)
    totals = secret.totals.tolist()
    return {
        "certain": certain,
        "deterministic": Leakage(Fraction(known), secret.expected(picked[attack_kernels.SURE])),
        "probabilistic": Leakage(likeliest, secret.expected(picked[attack_kernels.GUESSED])),
        "success": tuple(success.tolist()),
        "capacity": sum_of_ratios(picked[attack_kernels.REVEALED].tolist(), totals),
        "additive_capacity": 1 - sum_of_ratios(picked[attack_kernels.CONCEALED].tolist(), totals),
    }


def float_or_none(number: Fraction | None) -> float | None:
    """Return the float nearest to an exact number; of none, none."""
    return None if number is None else float(number)


SIZE_LABELS = ("1", "2", "3", "4", "5_9", "10_19", "20_49", "50_99", "100_999", "1000")
"""What the bins of class sizes are called in frames."""
SUCCESS_LABELS = (*(f"0.{tenth}" for tenth in range(10)), "1")
"""What the bins of success are called: each from its label up to the next, the last exactly 1."""

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
        *((f"probabilistic_{measure}", pa.float64()) for measure in MEASURES),
        ("capacity", pa.float64()),
        *((f"gain_{measure}", pa.float64()) for measure in MEASURES),
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
