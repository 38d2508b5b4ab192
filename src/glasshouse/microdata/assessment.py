"""What came of collective attacks: one attack, all subsets of the quasi-identifiers, or a whole study.

Everything is counted in integers; a vulnerability is one exact fraction. A float is nearest to that fraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Rational, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.language import marked, text, unknown_name
from glasshouse.qif import CoOccurrence
from glasshouse.table import CollectionMember, Step

if TYPE_CHECKING:
    from glasshouse.microdata.closeness import Closeness
    from glasshouse.microdata.knowledge import InexactKnowledge
    from glasshouse.microdata.survey_weights import WeightedClasses

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
EXPOSURES = "exposures.parquet"
"""The file of a run that holds who can be named, by value: counts of people, for the analyst."""
CLOSE, INEXACT = "close.parquet", "inexact.parquet"
"""The files of a run that hold how close guesses come, and what is learned without exact knowledge: whole numbers, so
that runs are compared exactly."""
NO_RECORD = "–"
"""How the absence of a record in an auxiliary dataset is written."""
SENSITIVE_WARNING = marked(
    "The risk of each record is itself personal data: it shows whose records are easily named, and whose secrets are "
    "easily guessed. Keep it as closely as the data it was computed from, and do not publish it."
)
"""What the user is told before per-record risks leave the program."""


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
        return self.records[place] if self.classes[place] == 1 else SIZE_BINS[place]

    @property
    def is_exact(self) -> bool:
        """Whether the size of the smallest class is known."""
        place = next(place for place, classes in enumerate(self.classes) if classes)
        lowest = self.classes[place] * SIZE_BINS[place] == self.records[place]
        return self.least is not None or self.classes[place] == 1 or lowest

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
        return pa.Table.from_pylist([_row(self)], schema=_SCHEMA)


@dataclass(frozen=True)
class Explanation:
    """One attack as tables."""

    code: str
    """The attack: CRS, CAS, CRL or CAL."""
    datasets: tuple[str, ...]
    """The names of the datasets that it uses."""
    observed: tuple[str, ...]
    """The columns that the adversary observes: the quasi-identifiers, tagged with their dataset."""
    secret: tuple[str, ...]
    """The columns that she infers; none when she re-identifies."""
    counts: CoOccurrence
    """How often each value of the secret occurs with each observation; all the rest follows."""

    def to_dict(self) -> dict[str, Any]:
        """Return every step as plain values: labels as text, numbers as fractions in text."""
        hyper, joint = self.counts.hyper(), self.counts.joint()
        prior, channel = self.counts.prior(), self.counts.channel()
        secrets, seen = self.counts.secrets, self.counts.observations

        def rows(cells: Any) -> list[list[str]]:
            return [[str(cells[x, y]) for y in range(len(seen))] for x in range(len(secrets))]

        return {
            "attack": self.code,
            "datasets": list(self.datasets),
            "quasi_identifiers": list(self.observed),
            "sensitive": "+".join(self.secret) or None,
            "secrets": [value_text(x) for x in secrets],
            "observations": [value_text(y) for y in seen],
            "co_occurrence": rows(self.counts.counts),
            "joint": rows(joint.matrix),
            "prior": [str(prior[x]) for x in secrets],
            "channel": rows(channel.matrix),
            "outer": [str(hyper.outer(y)) for y in seen],
            "inner": [[str(hyper.inner(y)[x]) for y in seen] for x in secrets],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per value of the secret and observation; numbers as fractions in text."""
        content = self.to_dict()
        rows = [
            {"secret": secret, "observation": observation}
            | {"prior": content["prior"][x], "outer": content["outer"][y]}
            | {step: content[step][x][y] for step in ("co_occurrence", "joint", "channel", "inner")}
            for x, secret in enumerate(content["secrets"])
            for y, observation in enumerate(content["observations"])
        ]
        return pa.Table.from_pylist(rows)


@dataclass(frozen=True)
class Sweep:
    """What an adversary achieves with every subset of the quasi-identifiers: integer sums, a row per subset."""

    datasets: tuple[str, ...]
    """The names of the datasets of the release."""
    codes: tuple[str, str]
    """The codes of the attacks: re-identification, and attribute inference."""
    records: int
    """The number of records."""
    quasi_identifiers: tuple[str, ...]
    """The attributes, in the order given: bit i of a mask is the i-th."""
    sensitive: tuple[str, ...]
    """The secrets."""
    total: int
    """The weight of all records: their number, where all weigh the same."""
    heaviest: int
    """The largest weight of a record: the prior guess at whose it is."""
    likeliest: tuple[int, ...]
    """Per secret, the weight of its most frequent value: the prior guess."""
    masks: Integers
    """Per row, the subset: by size, then in the order of the attributes."""
    classes: Integers
    """Per row and size bin, the number of classes."""
    class_records: Integers
    """Per row and size bin, the number of records in them."""
    named: Integers
    """Per row, Σ over classes of the weight of the heaviest record: the number of classes, where all weigh the same."""
    alone: Integers
    """Per row, the weight of the records that are alone in their class."""
    exposed: Integers
    """Per row, the number of records that are named for certain: those alone in their class, among records that can be
    the target's."""
    most: Integers
    """Per row and secret, Σ over classes of the weight of the most frequent value."""
    sure: Integers
    """Per row and secret, the weight of the records in classes with a single value."""
    success: Integers
    """Per row, secret and tenth of the chance of a right guess, the number of records; the last is certainty."""
    known: Mapping[str, Sweep] = field(default_factory=dict, repr=False)
    """By secret that is missing in some records, the sweep of the others: its sums are of them."""

    @property
    def uniques(self) -> Integers:
        """Per row, the number of records that are alone in their class."""
        return self.classes[:, 0]

    @property
    def certain(self) -> Integers:
        """Per row and secret, the number of records in classes with a single value."""
        return self.success[:, :, -1]

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the attributes of a subset."""
        return tuple(name for i, name in enumerate(self.quasi_identifiers) if (mask >> i) & 1)

    def of(self, secret: str | None) -> Sweep:
        """Return the sweep of the records of which a secret is known; None: of all, as where people are named."""
        return self if secret is None else self.known.get(secret, self)

    def assessment(self) -> Assessment:
        """Return every subset's attacks: re-identification first, then each secret."""
        return Assessment(self.records, tuple(self._attacks()))

    def to_dict(self) -> dict[str, Any]:
        """Return every subset as plain values, as in the frame."""
        return {
            "datasets": list(self.datasets),
            "records": self.records,
            **missing_entry({name: self.records - of.records for name, of in self.known.items()}),
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "subsets": self.to_frame().to_pylist(),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per subset: its mask, size and attributes, and every sum by name."""
        columns: dict[str, object] = {
            "subset": self.masks,
            "size": np.array([int(mask).bit_count() for mask in self.masks], np.int64),
            "quasi_identifiers": [list(self.names(int(mask))) for mask in self.masks],
            "classes": self.classes.sum(axis=1),
            "uniques": self.uniques,
        }
        for i, label in enumerate(SIZE_LABELS):
            columns[f"classes_{label}"] = self.classes[:, i]
        for i, label in enumerate(SIZE_LABELS):
            columns[f"records_{label}"] = self.class_records[:, i]
        for s, name in enumerate(self.sensitive):
            columns[f"{name}: most"] = self.most[:, s]
            columns[f"{name}: certain"] = self.certain[:, s]
            for i, label in enumerate(SUCCESS_LABELS):
                columns[f"{name}: success_{label}"] = self.success[:, s, i]
        return pa.table(columns)

    def _attacks(self) -> Iterator[Attack]:
        known = {int(mask): self.names(int(mask)) for mask in self.masks}
        records, whole = self.records, self.total
        one = Fraction(int(self.heaviest == self.total))
        for row, mask in enumerate(self.masks.tolist()):
            sizes = self._class_sizes(row)
            classes, uniques = sum(sizes.classes), sizes.classes[0]
            common = (self.datasets, known[mask])
            yield Attack(
                self.codes[0], *common, (), records, classes, uniques, sizes, int(self.exposed[row]),
                Leakage(one, Fraction(int(self.alone[row]), whole)),
                Leakage(Fraction(self.heaviest, whole), Fraction(int(self.named[row]), whole)), (), None,
                capacity=Fraction(classes), additive_capacity=Fraction(int(classes > 1)),
            )  # fmt: skip
            for s, name in enumerate(self.sensitive):
                part = self.of(name)
                alike = sizes if part is self else part._class_sizes(row)
                certain, first, total = int(self.certain[row, s]), self.likeliest[s], part.total
                yield Attack(
                    self.codes[1], *common, (name,), part.records,
                    sum(alike.classes), alike.classes[0], alike, certain,
                    Leakage(Fraction(int(first == total)), Fraction(int(self.sure[row, s]), total)),
                    Leakage(Fraction(first, total), Fraction(int(self.most[row, s]), total)),
                    tuple(self.success[row, s].tolist()), None,
                )  # fmt: skip

    def _class_sizes(self, row: int) -> ClassSizes:
        return ClassSizes(
            tuple(self.classes[row].tolist()), tuple(self.class_records[row].tolist())
        )


@dataclass(frozen=True)
class Advice:
    """A release with less in it, and what somebody who knows all that can be known could do then."""

    kind: str
    """``leave-out`` (of what can be known, one attribute or two), ``publish`` (as many as a rule allows), or
    ``generalise``."""
    quasi_identifiers: tuple[str, ...]
    """What would still be told of what can be known."""
    left_out: tuple[str, ...]
    """What would not."""
    secret: str | None
    """What a guess is about; None: who it is."""
    before: Fraction
    """The share of people for whom a guess is right in the release as it is,"""
    after: Fraction
    """and in the release with less in it."""
    meets: bool | None
    """Whether the release then meets the policy, by all that was asked; None: that is not known."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """Per attribute that would be generalised, by how many levels."""
    loss: float | None = None
    """The share of detail that generalising loses."""
    examples: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Per attribute that would be generalised, a made-up value and what it becomes; ``*``: nothing is told of it."""
    besides: tuple[str, ...] = ()
    """The further columns of the file, which are not in it either."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; probabilities as floats of the exact ratios."""
        return asdict(self) | {
            "quasi_identifiers": list(self.quasi_identifiers),
            "left_out": list(self.left_out),
            "besides": list(self.besides),
            "before": float(self.before),
            "after": float(self.after),
        }


@dataclass(frozen=True)
class Exposure:
    """Who can be named by somebody who knows all that can be known: how many of the people with each value."""

    column: str
    """What can be known of a person, and has few values."""
    values: tuple[str, ...]
    """Its values; the empty one stands for missing."""
    records: tuple[int, ...]
    """Per value, how many records have it."""
    named: tuple[int, ...]
    """Per value, how many of these are alone in their class."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values: counts of people with particular values, for the analyst."""
        return {
            "column": self.column,
            "values": list(self.values),
            "records": list(self.records),
            "named": list(self.named),
        }


@dataclass(frozen=True)
class CataloguedAttacks:
    """The attacks of an adversary of a catalogue, with what she knows of a person."""

    adversary: str
    """What she is called."""
    attacks: tuple[Attack, ...]
    """Re-identification first, then each secret."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "adversary": self.adversary,
            "results": [attack.to_dict() for attack in self.attacks],
        }


@dataclass(frozen=True)
class Assessment:
    """The outcomes of several attacks on one release, or on the growing windows of a collection."""

    records: int
    """The number of records; of a collection, those of the focal dataset."""
    attacks: tuple[Attack, ...]
    """By window of a collection, the focal dataset alone first, and by set of quasi-identifiers; within one,
    re-identification first, then each secret."""
    sweep: Sweep | None = field(default=None, compare=False, repr=False)
    """The sums of every subset, where one sweep answered; of a collection, those of all its datasets."""
    steps: tuple[Step, ...] = ()
    """What was left out of the datasets."""
    members: tuple[CollectionMember, ...] = ()
    """The datasets of a collection, and how many people of the focal one are in each."""
    suppressed: int = 0
    """How many records hold nothing but ``*``: left out where ``steps`` say so, else a class of their own."""
    explanations: tuple[Explanation, ...] = ()
    """Each attack with the whole set step by step, where asked for."""
    exact: bool = True
    """Whether every vulnerability is the exact fraction; records linked by uncertain keys may need rounding."""
    links: tuple[str, ...] = ()
    """The columns by which the datasets were linked, where nothing names a person in all of them."""
    advice: tuple[Advice, ...] = ()
    """What could be released instead, where the policy of the study is not met; none where nothing helps."""
    exposures: tuple[Exposure, ...] = field(default=(), repr=False)
    """Who can be named, by what can be known and has few values; none where records have weights."""
    close: tuple[Closeness, ...] = field(default=(), repr=False)
    """How close guesses of numbers come, where the study says how close they need be."""
    known_sets: tuple[CataloguedAttacks, ...] = field(default=(), repr=False)
    """What adversaries of a catalogue achieve, in the order of the study."""
    inexact: InexactKnowledge | None = field(default=None, repr=False)
    """What is learned by who does not know everything exactly, where the study says how well it is known."""
    weighted: WeightedClasses | None = field(default=None, repr=False)
    """How many people the classes of the widest set stand for, where the study names survey weights."""
    sanitised: bool = field(default=False, compare=False, repr=False)
    """Whether ``*`` is a value of what can be known: the release was protected before."""
    with_suppressed: Assessment | None = field(default=None, compare=False, repr=False)
    """The same where suppressed records that were left out are a class of their own: a release that holds them is
    judged by the worse of both. None: none were left out."""

    @property
    def missing(self) -> dict[str, int]:
        """By secret, in how many records it is missing, if in any: they are left out of what is inferred about it."""
        return missing_records(self.records, self.attacks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values; probabilities as floats of the exact ratios."""
        content: dict[str, Any] = {"records": self.records} | missing_entry(self.missing)
        if self.members:
            content["datasets"] = [asdict(member) for member in self.members]
        content |= treatment(self.steps)
        if self.suppressed:
            content["suppressed"] = self.suppressed
        if self.links or not self.exact:
            content["exact"] = self.exact
        content["results"] = [attack.to_dict() for attack in self.attacks]
        if self.close:
            content["close"] = [closeness.to_dict() for closeness in self.close]
        if self.known_sets:
            content["adversaries"] = [known.to_dict() for known in self.known_sets]
        if self.inexact is not None:
            content["inexact"] = self.inexact.to_dict()
        if self.weighted is not None:
            content["weighted"] = self.weighted.to_dict()
        if self.advice:
            content["advice"] = [advice.to_dict() for advice in self.advice]
        if self.exposures:
            content["exposures"] = [exposure.to_dict() for exposure in self.exposures]
        if self.explanations:
            content["explain"] = [explanation.to_dict() for explanation in self.explanations]
        return content

    def to_frame(self) -> pa.Table:
        """Return one row per attack; lists are columns of lists, missing measures are null."""
        return pa.Table.from_pylist([_row(attack) for attack in self.attacks], schema=_SCHEMA)

    def tables(self) -> dict[str, pa.Table]:
        """Return what is kept besides the attacks, where it was asked for, by the names of its files.

        Who can be named by value of each column, how close guesses come, and what is learned without exact knowledge.
        """
        rows = [
            {"column": exposure.column, "value": value, "records": records, "named": named}
            for exposure in self.exposures
            for value, records, named in zip(
                exposure.values, exposure.records, exposure.named, strict=True
            )
        ]
        tables = {EXPOSURES: pa.Table.from_pylist(rows)} if rows else {}
        if self.close:
            tables[CLOSE] = pa.concat_tables([closeness.to_sums() for closeness in self.close])
        if self.inexact is not None:
            tables[INEXACT] = self.inexact.to_sums()
        return tables

    @classmethod
    def from_frame(
        cls,
        frame: pa.Table,
        *,
        secrets: Sequence[tuple[str, ...]] = (),
        exposures: pa.Table | None = None,
    ) -> Assessment:
        """Return the attacks that a frame holds, and who can be named, as far as the two tell.

        A probability is the ratio of whole numbers of records that the frame has the nearest double of. Where there is
        none, as records have weights, it is that double, and the assessment is not ``exact``.

        Args:
            frame: What `to_frame` returned.
            secrets: The columns of each secret, so that those of several are told apart.
            exposures: What `tables` returned.
        """
        joint = {"+".join(columns): columns for columns in secrets}
        attacks = tuple(_attack(row, joint) for row in frame.to_pylist())
        by_column: dict[str, list[dict[str, Any]]] = {}
        for row in [] if exposures is None else exposures.to_pylist():
            by_column.setdefault(row["column"], []).append(row)
        return cls(
            records=max((attack.records for attack in attacks), default=0),
            attacks=attacks,
            exact=all(
                (share * attack.records).denominator == 1
                for attack in attacks
                for share in (attack.probabilistic.posterior, attack.deterministic.posterior)
            ),
            exposures=tuple(
                Exposure(
                    column,
                    *(tuple(row[name] for row in rows) for name in ("value", "records", "named")),
                )
                for column, rows in by_column.items()
            ),
        )


@dataclass(frozen=True)
class RecordRisks:
    """What an adversary who knows the quasi-identifiers achieves against each record, in the order of the file."""

    dataset: str
    """The name of the release."""
    quasi_identifiers: tuple[str, ...]
    """What she knows of a person."""
    sensitive: tuple[str, ...]
    """The secrets."""
    sizes: NDArray[np.uint32]
    """Per record, how many records are in its class, itself included."""
    most: NDArray[np.uint32]
    """Per secret (row) and record (column), how many records of its class have the most frequent value."""
    known: NDArray[np.uint32]
    """Per secret (row) and record (column), in how many records of its class the secret is known; 0 where that of the
    record itself is missing, so that there is nothing to guess."""
    positions: Integers | None = None
    """Per record, its position in the file, where records of it were left out."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.sizes)

    @property
    def reidentification(self) -> Floats:
        """Per record, the probability that she names it: 1 / size."""
        chance: Floats = 1.0 / self.sizes
        return chance

    def success(self, secret: str) -> Floats:
        """Return, per record, the probability that her best guess of a secret is right; NaN where it is missing."""
        place = self._place(secret)
        chance = np.full(self.records, np.nan)
        np.divide(self.most[place], self.known[place], out=chance, where=self.known[place] > 0)
        return chance

    def certain(self, secret: str) -> Flags:
        """Return, per record, whether its class has one value of a secret only; not where it is missing."""
        place = self._place(secret)
        single: Flags = (self.most[place] == self.known[place]) & (self.known[place] > 0)
        return single

    def to_dict(self) -> dict[str, Any]:
        """Return every record as plain values, as in the frame: personal data, see `SENSITIVE_WARNING`."""
        return {
            "dataset": self.dataset,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "risks": self.to_frame().to_pylist(),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per record: the class size, and the probabilities as floats of the exact ratios.

        Where records of the file were left out, the column ``record`` says which one it is, counted from 1. Where the
        secret of a record is missing, there is nothing to guess: its figures are null.
        The frame is personal data: see `SENSITIVE_WARNING`.
        """
        columns: dict[str, Any] = {} if self.positions is None else {"record": self.positions + 1}
        columns |= {"size": self.sizes, "reidentification": self.reidentification}
        for name in self.sensitive:
            unknown = self.known[self._place(name)] == 0
            columns[f"{name}: success"] = pa.array(self.success(name), mask=unknown)
            columns[f"{name}: certain"] = pa.array(self.certain(name), mask=unknown)
        return pa.table(columns)

    def _place(self, secret: str) -> int:
        if secret not in self.sensitive:
            where = text("the record risks of {dataset}", dataset=self.dataset)
            raise StudyError(unknown_name("secret", secret, where, self.sensitive))
        return self.sensitive.index(secret)


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


def _attack(row: Mapping[str, Any], joint: Mapping[str, tuple[str, ...]]) -> Attack:
    """Return the attack that a row of a frame holds; the inverse of `_row`."""
    secret, records = row["sensitive"], row["records"]

    def leakage(kind: str) -> Leakage:
        return Leakage(*(_share(row[f"{kind}_{when}"], records) for when in ("prior", "posterior")))

    return Attack(
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


def _share(value: float, records: int) -> Fraction:
    """Return the ratio of records that a double is the nearest one of; where there is none, the double itself.

    >>> _share(1 / 3, 999), _share(0.1, 7)
    (Fraction(1, 3), Fraction(1, 10))
    """
    share = Fraction(round(value * records), records) if records else Fraction(0)
    return share if float(share) == value else Fraction(str(value))


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
