"""What a protected release must satisfy: k-anonymity, l-diversity, t-closeness, and limits on an adversary's success.

A criterion judges each class of a release by its size and by how often each sensitive value occurs in it
(`ClassCounts`); classes that fail are suppressed whole. A few judge the kept table as a whole (`TableCriterion`).
`Criterion.for_table` says what is wrong with the question before anything is searched, and makes a criterion that needs
the values' texts, such as their order, ready to judge. A missing sensitive value is a value like any other.

Everything is decided exactly: counts are integers, limits are fractions (a float stands for the decimal that it is
written as), and ratios are compared as products of 128 bits. Two things cannot be: sums that would leave 64 bits,
and entropy. There doubles decide, what rounding leaves open is decided in whole numbers where these are of bearable
size, and else the criterion is not claimed to hold.

Monotone
    When a release is generalised further, its classes merge. A criterion is *monotone* if a class that contains one
    that holds does hold, whatever else it contains: then a record that is kept stays kept in every more general
    release, so no more records are suppressed there. Without suppression less is enough, as every class holds: that
    the union of two classes that hold does hold. All criteria here have at least that property
    (`Criterion.monotone_unsuppressed`); the proofs are with each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, gcd, prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import DataError, InternalError, StudyError
from glasshouse.language import marked, printable, quoted, translated
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.microdata.uniqueness import Estimate, people_alone
from glasshouse.mitigation.criteria_kernels import (
    add_equal_distance,
    add_hierarchical_distance,
    add_ordered_distance,
    distinct_values,
    entropy_holds,
    most_and_tail,
    products_at_most,
)
from glasshouse.mitigation.distinct_rows import PEOPLE, CodedHierarchy, ValueCounts
from glasshouse.mitigation.hierarchies import Hierarchy, Number, exact
from glasshouse.table import EncodedTable
from glasshouse.table.encode import NUMBER

LARGEST_EXACT_ENTROPY = 10_000
"""Up to so many records, their counts divided by what they have in common, a tie of entropies is decided exactly."""
LONGEST_EXACT_SUM = 2**63
"""Sums below it are exact integers."""

_SUM_GUARD = 1e-9
_LOGARITHM_GUARD = 1e-12


@dataclass(frozen=True)
class ClassCounts(ValueCounts):
    """What a set of classes looks like to a criterion."""

    sizes: Integers
    """Per class, how many records it holds."""

    @classmethod
    def of_sizes(cls, sizes: Integers) -> ClassCounts:
        """Return classes of which only the sizes are known, for criteria without a sensitive attribute."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros(1, np.int64), np.zeros(0, np.uint32), none, none, sizes)

    @classmethod
    def seen_by(
        cls,
        criterion: Criterion | TableCriterion,
        sizes: Integers,
        counts: Callable[[str], ValueCounts],
    ) -> ClassCounts:
        """Return classes as a criterion sees them, given what tells the counts of a sensitive attribute."""
        of_people = isinstance(criterion, OfPeople | EstimatedKMap)
        looks_at = PEOPLE if of_people else criterion.sensitive
        if looks_at is None:
            return cls.of_sizes(sizes)
        return cls(**vars(counts(looks_at)), sizes=sizes)

    @property
    def records(self) -> int:
        """The number of all input records; where people are counted, of these."""
        return int(self.reference.sum())

    @property
    def counted(self) -> Integers:
        """Per class, how many records, or people, are counted by value."""
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])[self.starts]
        return np.diff(ends)

    def only(self, kept: Flags) -> ClassCounts:
        """Return some of the classes, with what they are measured against left as it is."""
        lengths = np.diff(self.starts)
        if len(lengths) != len(self.sizes):  # only sizes are known
            return ClassCounts.of_sizes(self.sizes[kept])
        entries = np.repeat(kept, lengths)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[kept])])
        return replace(
            self,
            starts=starts,
            values=self.values[entries],
            counts=self.counts[entries],
            sizes=self.sizes[kept],
        )


class _Stated(ABC):
    """What all criteria can say of themselves."""

    says: ClassVar[str]
    """Its name in sentences, with the names of its parameters in the place of their values."""
    sensitive: str | None
    """The sensitive attribute that it protects; None: it looks at sizes only."""
    monotone: ClassVar[bool] = False
    """Whether a class holds as soon as a part of it does: a more general release then suppresses no more records."""
    monotone_unsuppressed: ClassVar[bool] = True
    """Whether a union of classes holds if all of them do: enough where nothing may be suppressed."""

    @property
    def name(self) -> str:
        """What it is called in sentences, with its numbers, such as ``5-anonymity``."""
        sensitive = None if self.sensitive is None else quoted([self.sensitive])
        return self.says.format(**vars(self) | {"sensitive": sensitive})

    def for_table(self, table: EncodedTable) -> Self:
        """Return the criterion ready to judge classes of a table.

        Raises:
            DataError: The sensitive attribute is not in the table, or a value is not in an order or hierarchy.
            StudyError: No class of this table could ever hold.
        """
        if self.sensitive is not None:
            table.column(self.sensitive)
        return self


class Criterion(_Stated):
    """What every class of a release has to meet."""

    @abstractmethod
    def holds(self, classes: ClassCounts) -> Flags:
        """Tell of each class whether it meets the criterion."""


class TableCriterion(_Stated):
    """What the kept classes of a release have to meet together."""

    @abstractmethod
    def allows(self, classes: ClassCounts) -> bool:
        """Tell whether these classes may be released together."""

    def may_allow_parts(self, classes: ClassCounts, suppressible: int) -> bool:
        """Tell whether these classes, or parts of them, may be allowed with so many records suppressed at most.

        Without suppression a release is allowed only if every more general one is; with it, nothing is known.
        """
        return suppressible > 0 or self.allows(classes)


def sensitive_of(criteria: Iterable[Criterion | TableCriterion]) -> tuple[str, ...]:
    """Return the sensitive attributes that criteria look at."""
    names = (criterion.sensitive for criterion in criteria)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def refuse_strangers(criteria: Iterable[object]) -> None:
    """Make sure that every criterion is of a kind that is judged: one that is not must never pass for met.

    Raises:
        InternalError: One is not.
    """
    for criterion in criteria:
        if not isinstance(criterion, Criterion | TableCriterion):
            raise InternalError(
                f"a criterion of the kind {type(criterion).__name__} is judged by nothing, and would pass for met"
            )


def least_size(criteria: Iterable[Criterion | TableCriterion]) -> int:
    """Return the least size of a class by those criteria that look at nothing else."""
    return max((rule.k for rule in criteria if isinstance(rule, _LeastSize)), default=1)


def population_of(criteria: Iterable[Criterion | TableCriterion]) -> EncodedTable | None:
    """Return the population that criteria look at; None: they look at none.

    Raises:
        StudyError: There are two.
    """
    populations = [rule.population for rule in criteria if isinstance(rule, OfPeople)]
    if any(population is not populations[0] for population in populations):
        raise StudyError("give all criteria the same population")
    return populations[0] if populations else None


def first_unmet(
    criteria: Iterable[Criterion | TableCriterion],
    sizes: Integers,
    counts: Callable[[str], ValueCounts],
) -> str | None:
    """Return the name of the first criterion that classes do not meet; None: they meet all.

    Args:
        criteria: What is to be met, ready to judge.
        sizes: Per class, its records.
        counts: Returns how often each value of a sensitive attribute occurs in each class.

    Raises:
        InternalError: One is of no known kind.
    """
    criteria = tuple(criteria)
    refuse_strangers(criteria)
    for criterion in criteria:
        classes = ClassCounts.seen_by(criterion, sizes, counts)
        met = not isinstance(criterion, TableCriterion) or criterion.allows(classes)
        if isinstance(criterion, Criterion):
            met &= bool(criterion.holds(classes).all())
        if not met:
            return criterion.name
    return None


class _LeastSize(Criterion):
    """What asks for a number of records in every class; monotone, as a class is at least as large as any part of it."""

    k: int
    """The least size of a class."""

    monotone: ClassVar[bool] = True
    sensitive = None

    def holds(self, classes: ClassCounts) -> Flags:
        """Tell of each class whether it holds k records."""
        return classes.sizes >= self.k

    def for_table(self, table: EncodedTable) -> Self:
        """Return it as it is, if the table has k records."""
        if self.k > table.records:
            raise StudyError(
                "{table} has {records} records, so no class can hold {k} ({name}); ask for less",
                table=printable(table.name),
                records=str(table.records),
                k=str(self.k),
                name=self.name,
            )
        return self


@dataclass(frozen=True)
class KAnonymity(_LeastSize):
    """Every class holds at least k records (Samarati 2001; Sweeney 2002).

    >>> KAnonymity(3).holds(ClassCounts.of_sizes(np.array([2, 3])))
    array([False,  True])
    """

    k: int
    """The least size of a class."""

    says: ClassVar[str] = "{k}-anonymity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", _whole(self.k, "k"))


@dataclass(frozen=True)
class HighestRisk(_LeastSize):
    """No record can be re-identified with a probability above p: k-anonymity with k = ⌈1 / p⌉."""

    p: Number
    """The highest probability."""

    says: ClassVar[str] = "re-identification of any record with probability at most {p}"

    def __post_init__(self) -> None:
        _check_share(self.p, marked("the highest risk"))

    @property
    def k(self) -> int:  # type: ignore[override]
        """The least size of a class."""
        return ceil(1 / exact(self.p, what="p"))


@dataclass(frozen=True)
class AverageRisk(TableCriterion):
    """The records are re-identified with a probability of at most p on average: kept classes / kept records ≤ p.

    This is the posterior Bayes vulnerability of the kept records under re-identification. Monotone without
    suppression: classes become fewer and records stay. With suppression not: two records that were suppressed may
    become a class of their own, and raise the average.
    """

    p: Number
    """The highest average probability."""

    says: ClassVar[str] = "re-identification with probability at most {p} on average"
    sensitive = None

    def __post_init__(self) -> None:
        _check_share(self.p, marked("the average risk"))

    def for_table(self, table: EncodedTable) -> Self:
        """Return it as it is, if the table has records enough: in one class, each is named with one in all of them."""
        needed = ceil(1 / exact(self.p, what="p"))
        if needed > table.records:
            raise StudyError(
                "{table} has {records} records, too few for {name}: it needs at least {needed}",
                table=printable(table.name),
                records=str(table.records),
                name=self.name,
                needed=str(needed),
            )
        return self

    def most_classes(self, records: int) -> int:
        """Return in how many classes so many records may be released."""
        return floor(exact(self.p, what="p") * records)

    def allows(self, classes: ClassCounts) -> bool:
        """Tell whether the average is at most p; without any record it is."""
        return len(classes.sizes) <= self.most_classes(int(classes.sizes.sum()))

    def may_allow_parts(self, classes: ClassCounts, suppressible: int) -> bool:
        """Tell whether the fewest classes that can be left are few enough.

        A class has parts that are kept unless all its records are suppressed: as many classes as may be suppressed
        whole, the smallest first, are the fewest that can be left.
        """
        sizes = classes.sizes
        removable = np.searchsorted(np.cumsum(np.sort(sizes)), suppressible, side="right")
        fewest = max(0, len(sizes) - int(removable))
        return fewest <= self.most_classes(int(sizes.sum()))


@dataclass(frozen=True)
class NamedShare(TableCriterion):
    """At most a share p of the records are alone in their class, and so named with certainty.

    This is the posterior vulnerability of the kept records under certain re-identification. Monotone without
    suppression: a record that has company keeps it when classes merge.
    """

    p: Number
    """The greatest share."""

    says: ClassVar[str] = "certain re-identification of a share of at most {p}"
    sensitive = None

    def __post_init__(self) -> None:
        _check_share(self.p, marked("the share identified"))

    def allows(self, classes: ClassCounts) -> bool:
        """Tell whether few enough records are alone."""
        alone = int(np.count_nonzero(classes.sizes == 1))
        return alone <= exact(self.p, what="p") * int(classes.sizes.sum())


@dataclass(frozen=True)
class _OfSecret(TableCriterion):
    """What looks at how well a sensitive attribute is inferred from all classes together.

    As the attacks do, it leaves out records whose value is missing, where that is no value to learn.
    """

    p: Number
    """The most that the release may add."""
    sensitive: str
    """The sensitive attribute."""
    _is_known: Flags | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= _bounded(self.p, marked("what is added")) <= 1:
            raise StudyError(
                "{what} must be from 0 to 1, not {number}",
                what=translated(marked("what is added")),
                number=str(self.p),
            )

    def for_table(self, table: EncodedTable) -> Self:
        """Return it with which values count."""
        return replace(self, _is_known=table.known_values(self.sensitive))

    def allows(self, classes: ClassCounts) -> bool:
        """Tell whether the release adds no more than that."""
        if self._is_known is None:
            raise _not_ready(self.name)
        counts = np.where(self._is_known[classes.values], classes.counts, 0)
        totals = np.bincount(classes.values, counts, len(self._is_known)).astype(np.int64)
        records = int(totals.sum())
        if not records:
            return True
        gained = self._right(classes.starts, counts) - self._right_before(totals)
        return gained <= exact(self.p, what="p") * records

    @abstractmethod
    def _right(self, starts: Integers, counts: Integers) -> int:
        """Return of how many records the value is told right, class by class."""

    @abstractmethod
    def _right_before(self, totals: Integers) -> int:
        """Return of how many it is without the release, from the records of each value."""


@dataclass(frozen=True)
class InferenceAdded(_OfSecret):
    """Guesses of a sensitive attribute are right at most p more often, as a share of the records, than without it.

    Posterior minus prior Bayes vulnerability of the kept records. Monotone without suppression: the greatest count of
    a union is at most the sum of the parts', and what is right without the release stays.
    """

    says: ClassVar[str] = "right guesses of {sensitive} more often by at most {p}"

    def _right(self, starts: Integers, counts: Integers) -> int:
        most, _ = most_and_tail(starts, counts, 1)
        return int(most.sum())

    def _right_before(self, totals: Integers) -> int:
        return int(totals.max(initial=0))


@dataclass(frozen=True)
class InferenceCertain(_OfSecret):
    """A sensitive attribute becomes certain of at most a share p of the records: their class has one value only.

    Monotone without suppression: a class with two values keeps them when it merges with another.
    """

    says: ClassVar[str] = "certainty about {sensitive} for a share of at most {p}"

    def _right(self, starts: Integers, counts: Integers) -> int:
        most, all_of_class = most_and_tail(starts, counts, 1)
        return int(most[most == all_of_class].sum())

    def _right_before(self, totals: Integers) -> int:
        return int(totals.sum()) if np.count_nonzero(totals) == 1 else 0


class _OfSensitive(Criterion):
    """What looks at the values of a sensitive attribute."""

    kind: ClassVar[str]
    """Its name without its numbers."""
    sensitive: str
    """The sensitive attribute."""

    def __post_init__(self) -> None:
        if not isinstance(self.sensitive, str) or not self.sensitive:
            raise StudyError(
                "{kind} needs a sensitive attribute; name the column that it protects",
                kind=translated(self.kind),
            )

    def holds(self, classes: ClassCounts) -> Flags:
        """Tell of each class whether it meets the criterion."""
        if len(classes.starts) != len(classes.sizes) + 1:
            raise InternalError("a criterion with a sensitive attribute was given sizes only")
        return self._holds(classes)

    @abstractmethod
    def _holds(self, classes: ClassCounts) -> Flags:
        """Tell it of classes with sensitive values."""


class _Diversity(_OfSensitive):
    """What asks for several values in every class."""

    l: Number  # noqa: E741 - the letter of l-diversity
    """How many."""

    def for_table(self, table: EncodedTable) -> Self:
        """Return it as it is, if the attribute has l values."""
        column, least = table.column(self.sensitive), exact(self.l, what="l")
        if least > column.cardinality:
            raise StudyError(
                "column {column} has {values} distinct values, so no class can be "
                "{least}-diverse; choose l of at most {values}",
                column=quoted([column.name]),
                values=str(column.cardinality),
                least=f"{float(least):g}",
            )
        return self


@dataclass(frozen=True)
class DistinctDiversity(_Diversity):
    """Every class holds at least l distinct sensitive values (Machanavajjhala et al. 2007, section 4).

    Monotone: a class has every value that a part of it has.
    """

    l: int  # noqa: E741 - the letter of l-diversity
    """The least number of values."""
    sensitive: str
    """The sensitive attribute."""

    kind: ClassVar[str] = marked("distinct l-diversity")
    says: ClassVar[str] = "distinct {l}-diversity of {sensitive}"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", _whole(self.l, "l"))
        super().__post_init__()

    def _holds(self, classes: ClassCounts) -> Flags:
        enough: Flags = distinct_values(classes.starts, classes.counts) >= self.l
        return enough


@dataclass(frozen=True)
class EntropyDiversity(_Diversity):
    """The entropy of the sensitive values in every class is at least ln l (Machanavajjhala et al. 2007, section 4).

    With n records and counts c: H = ln n − Σ c ln c / n. It holds exactly if nⁿ ≥ lⁿ Π cᶜ; doubles decide where they
    differ by more than a part in 10¹², equal counts by their number, other near ties in whole numbers up to
    `LARGEST_EXACT_ENTROPY` records, and beyond the criterion is not claimed to hold.

    Not monotone: l equally frequent values hold, and do no more beside many records with one of them. Monotone
    without suppression: entropy is concave, so that of a union is at least the mean of its parts'.
    """

    l: Number  # noqa: E741 - the letter of l-diversity
    """The number of equally frequent values whose entropy is required; it need not be whole."""
    sensitive: str
    """The sensitive attribute."""

    kind: ClassVar[str] = marked("entropy l-diversity")
    says: ClassVar[str] = "entropy {l}-diversity of {sensitive}"

    def __post_init__(self) -> None:
        if _bounded(self.l, "l") < 1:
            raise StudyError("l must be at least 1, not {l}", l=str(self.l))
        super().__post_init__()

    def _holds(self, classes: ClassCounts) -> Flags:
        least = exact(self.l, what="l")
        holds, undecided = entropy_holds(
            classes.starts, classes.counts, classes.sizes, float(least), ceil(least)
        )
        for number in np.flatnonzero(undecided).tolist():
            counts = classes.counts[classes.starts[number] : classes.starts[number + 1]]
            holds[number] = _has_entropy(counts[counts > 0].tolist(), least)
        decided: Flags = holds
        return decided


@dataclass(frozen=True)
class RecursiveDiversity(_Diversity):
    """The most frequent value of every class is not too frequent beside the rare ones: (c, l)-diversity.

    With counts r₁ ≥ r₂ ≥ …: r₁ < c (r_l + r_{l+1} + …) (Machanavajjhala et al. 2007, section 4).

    Not monotone: a class that holds does no more beside many records with one value. Monotone without suppression: let
    the tail be all but the l − 1 most frequent. In a union r₁ is at most the sum of the parts', and the tail at least
    the sum of the parts' tails, since the l − 1 most frequent together take no more than they could in each part.
    """

    c: Number
    """How much more frequent than the tail together the most frequent value may be."""
    l: int  # noqa: E741 - the letter of l-diversity
    """Where the tail begins."""
    sensitive: str
    """The sensitive attribute."""

    kind: ClassVar[str] = marked("recursive (c, l)-diversity")
    says: ClassVar[str] = "recursive ({c}, {l})-diversity of {sensitive}"

    def __post_init__(self) -> None:
        if _bounded(self.c, "c") <= 0:
            raise StudyError("c must be positive, not {c}", c=str(self.c))
        object.__setattr__(self, "l", _whole(self.l, "l"))
        super().__post_init__()

    def _holds(self, classes: ClassCounts) -> Flags:
        """Tell whether r₁ < c · tail: whether tail / r₁ is not at most 1 / c."""
        most, tail = most_and_tail(classes.starts, classes.counts, self.l)
        return ~_at_most(tail, most, 1 / exact(self.c, what="c"))


@dataclass(frozen=True)
class InferenceRisk(_OfSensitive):
    """No sensitive value can be inferred with a probability above p in any class: max count / size ≤ p.

    This limits the posterior Bayes vulnerability of the attribute in every class, not only on average.

    Not monotone: a class that holds does no more beside many records with one value. Monotone without suppression: the
    greatest count of a union is at most the sum of the parts', each of which is at most p times its size.
    """

    p: Number
    """The highest probability."""
    sensitive: str
    """The sensitive attribute."""

    kind: ClassVar[str] = marked("inference risk")
    says: ClassVar[str] = "inference of {sensitive} with probability at most {p}"

    def __post_init__(self) -> None:
        _check_share(self.p, marked("the inference risk"))
        super().__post_init__()

    def for_table(self, table: EncodedTable) -> Self:
        """Return it as it is, if the attribute has values enough."""
        values = table.column(self.sensitive).cardinality
        if exact(self.p, what="p") * values < 1:
            raise StudyError(
                "column {column} has {values} distinct values: one of them has at least 1/{values} "
                "of any class; choose p of at least that",
                column=quoted([self.sensitive]),
                values=str(values),
            )
        return self

    def _holds(self, classes: ClassCounts) -> Flags:
        most, _ = most_and_tail(classes.starts, classes.counts, 1)
        return _at_most(most, classes.sizes, exact(self.p, what="p"))


@dataclass(frozen=True)
class _Closeness(_OfSensitive):
    """The earth mover's distance from every class to all records is at most t; how far are two values apart?"""

    t: Number
    """The greatest distance."""
    sensitive: str
    """The sensitive attribute."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= _bounded(self.t, "t") <= 1:
            raise StudyError("t must be from 0 to 1, not {t}", t=str(self.t))

    def _holds(self, classes: ClassCounts) -> Flags:
        """Tell whether the distance of a class is at most t: its sum of integers at most t times a whole."""
        whole, factor, add_distance, arguments = self._sum(classes)
        if whole == 0:
            return np.ones(len(classes.sizes), np.bool_)
        # The sums are integers where all of them stay exact, else doubles.
        exactly = factor * int(classes.sizes.max(initial=0)) * classes.records < LONGEST_EXACT_SUM
        one = np.int64(1) if exactly else np.float64(1)
        distance = np.zeros(len(classes.sizes), type(one))
        add_distance(distance, one, classes.starts, classes.counts, classes.sizes, *arguments)
        wholes = whole * one * classes.sizes * classes.records
        return _at_most(distance, wholes, exact(self.t, what="t"))

    @abstractmethod
    def _sum(self, classes: ClassCounts) -> tuple[int, int, Callable[..., None], tuple[Any, ...]]:
        """Return how the distances of classes are added up.

        Returns:
            What n N is multiplied with to be the whole of which t is a share, 0 where all values are alike; how many
            times n N a sum is at most; what adds it up, and what that looks at besides.

        Raises:
            InternalError: The criterion was not made ready for a table.
        """


@dataclass(frozen=True)
class EqualCloseness(_Closeness):
    """The sensitive values of every class are distributed nearly as in the whole table, all values equally far apart.

    Half the sum of the absolute differences of shares is at most t (Li, Li, Venkatasubramanian 2007, equal
    distance): Σ |c N − R n| ≤ 2 t n N.

    Not monotone: a class that holds does no more beside one with a rare value only. Monotone without suppression: the
    distance to a fixed distribution is convex, so that of a union is at most the greatest of its parts'. This is true
    of every earth mover's distance, and so of the other two t-closeness criteria.
    """

    kind: ClassVar[str] = marked("t-closeness with equal distances")
    says: ClassVar[str] = "{t}-closeness of {sensitive} (equal distances)"

    def _sum(self, classes: ClassCounts) -> tuple[int, int, Callable[..., None], tuple[Any, ...]]:
        return 2, 2, add_equal_distance, (classes.values, classes.reference)


@dataclass(frozen=True)
class OrderedCloseness(_Closeness):
    """As `EqualCloseness`, but values in an order are as far apart as they have steps between them.

    With m values: Σ_{i<m} |Σ_{j≤i} (p_j − q_j)| / (m − 1) is at most t (Li, Li, Venkatasubramanian 2007, ordered
    distance). Not monotone, but monotone without suppression, for the same reasons.
    """

    order: tuple[str, ...] | None = None
    """All values of its domain in order, those that no record has too; None: by number."""
    _ranks: Integers | None = field(default=None, repr=False, compare=False)
    _domain: int = field(default=0, repr=False, compare=False)

    kind: ClassVar[str] = marked("t-closeness with ordered distances")
    says: ClassVar[str] = "{t}-closeness of {sensitive} (ordered distances)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order is not None and len(set(self.order)) < len(self.order):
            twice = next(value for value in self.order if self.order.count(value) > 1)
            raise StudyError(
                "{value} is twice in the order of {column}; give each value once",
                value=quoted([twice]),
                column=quoted([self.sensitive]),
            )

    def for_table(self, table: EncodedTable) -> Self:
        """Return it with the rank of each value.

        Raises:
            DataError: A value is not in the order, or is no number where none is given.
        """
        values = table.column(self.sensitive).values.to_pylist()
        ranks, domain = _ranked(values, self.order, self.sensitive, table.name)
        return replace(self, _ranks=ranks, _domain=domain)

    def _sum(self, classes: ClassCounts) -> tuple[int, int, Callable[..., None], tuple[Any, ...]]:
        if self._ranks is None:
            raise _not_ready(self.name)
        by_rank = np.bincount(self._ranks, classes.reference, self._domain).astype(np.int64)
        arguments = self._ranks[classes.values], np.cumsum(by_rank)
        return self._domain - 1, 2 * self._domain, add_ordered_distance, arguments


@dataclass(frozen=True)
class HierarchicalCloseness(_Closeness):
    """As `EqualCloseness`, but values are as far apart as the level of their nearest common label is high.

    The distance of two values is that level divided by the level of the root. The earth mover's distance is then the
    sum over all labels above the values of (level / level of the root) · min(positive, negative extras). A label's
    extra is its share in the class minus that in the table; the two sums go over the labels right below (Li, Li,
    Venkatasubramanian 2007, hierarchical distance). Not monotone, but monotone without suppression, for the same
    reasons.
    """

    hierarchy: Hierarchy = field(repr=False)
    """The hierarchy of its values."""
    _tree: _Tree | None = field(default=None, repr=False, compare=False)

    kind: ClassVar[str] = marked("t-closeness with hierarchical distances")
    says: ClassVar[str] = "{t}-closeness of {sensitive} (hierarchical distances)"

    def for_table(self, table: EncodedTable) -> Self:
        """Return it with the labels of each value.

        Raises:
            DataError: A value is not in the hierarchy.
        """
        column = table.column(self.sensitive)
        return replace(self, _tree=_Tree.of(self.hierarchy.coded(column, where=table.name)))

    def _sum(self, classes: ClassCounts) -> tuple[int, int, Callable[..., None], tuple[Any, ...]]:
        if self._tree is None:
            raise _not_ready(self.name)
        top, records = self._tree.top, self._tree.summed(classes.reference)
        arguments = classes.values, self._tree.parents, records, top
        return top, top * (top + 1), add_hierarchical_distance, arguments


class _Likeness(_OfSensitive):
    """What limits how much more, or less, likely each value is in a class than in the whole table."""

    def _shares(self, classes: ClassCounts) -> tuple[Integers, Integers]:
        """Return, per value of a class, the products c N and R n, whose ratio is its share there by that of all."""
        sizes = np.repeat(classes.sizes, np.diff(classes.starts))
        if int(classes.sizes.max(initial=0)) * classes.records >= LONGEST_EXACT_SUM:
            raise StudyError("the table has too many records for {name}", name=self.name)
        return classes.counts * classes.records, classes.reference[classes.values] * sizes

    def _all(self, classes: ClassCounts, met: Flags) -> Flags:
        """Tell of each class whether something is met by all its values."""
        return np.logical_and.reduceat(met, classes.starts[:-1]) if len(met) else met


@dataclass(frozen=True)
class BetaLikeness(_Likeness):
    """No value is more frequent in a class than in the table by more than a share β of that (Cao and Karras 2012).

    With shares p in the class and q in the table: (p − q) / q ≤ β wherever p > q, that is c N ≤ (1 + β) R n. Enhanced,
    ≤ min(β, −ln q), so that frequent values are protected too; then doubles decide, and near ties are not claimed to
    hold. Not monotone: a class that holds does no more beside many records with one value. Monotone without
    suppression: the share in a union lies between those of its parts.
    """

    beta: Number
    """By which share of it a frequency may grow."""
    sensitive: str
    """The sensitive attribute."""
    enhanced: bool = False
    """Whether frequent values may grow by less."""

    kind: ClassVar[str] = marked("beta-likeness")
    says: ClassVar[str] = "{beta}-likeness of {sensitive}"

    def __post_init__(self) -> None:
        if _bounded(self.beta, "beta") <= 0:
            raise StudyError("beta must be positive, not {beta}", beta=str(self.beta))
        super().__post_init__()

    def _holds(self, classes: ClassCounts) -> Flags:
        inside, outside = self._shares(classes)
        met = _at_most(inside, outside, 1 + exact(self.beta, what="beta"))
        if self.enhanced:
            limit = 1 - np.log(classes.reference[classes.values] / classes.records)
            met &= (inside <= outside) | (inside * (1 + _LOGARITHM_GUARD) <= limit * outside)
        return self._all(classes, met)


@dataclass(frozen=True)
class DeltaDisclosure(_Likeness):
    """Every value is in every class, about as frequent as in the whole table (Brickell and Shmatikov 2008).

    With shares p in the class and q in the table, |ln(p / q)| < δ for all values of the table: a class that lacks one
    does not hold (tools that look only at the values of a class are more lenient, and unions of their classes may
    fail). e^δ is no fraction, so that there are no ties; doubles decide, and what is too near is not claimed to hold.
    Not monotone; monotone without suppression, as the share in a union lies between those of its parts.
    """

    delta: Number
    """How far the logarithm of a frequency may be from that of the whole table."""
    sensitive: str
    """The sensitive attribute."""

    kind: ClassVar[str] = marked("delta-disclosure privacy")
    says: ClassVar[str] = "{delta}-disclosure privacy of {sensitive}"

    def __post_init__(self) -> None:
        if _bounded(self.delta, "delta") <= 0:
            raise StudyError("delta must be positive, not {delta}", delta=str(self.delta))
        super().__post_init__()

    def _holds(self, classes: ClassCounts) -> Flags:
        inside, outside = self._shares(classes)
        present = distinct_values(classes.starts, classes.counts)
        limit = float(exact(self.delta, what="delta")) - _LOGARITHM_GUARD
        with np.errstate(divide="ignore"):
            met = np.abs(np.log(inside / outside)) < limit
        complete: Flags = present == np.count_nonzero(classes.reference)
        return complete & self._all(classes, met)


# What a release tells beside the population that its records are from


class OfPeople(_Stated):
    """What looks at how many people of the population fit each class.

    The population is generalised as the records are, by the same hierarchies: a person fits a class if all labels are
    the same. It holds everybody of the table.
    """

    population: EncodedTable
    """The people, each one record; it has the quasi-identifiers of the table."""
    sensitive = None


@dataclass(frozen=True)
class KMap(OfPeople, Criterion):
    """Every class fits at least k people of the population (Sweeney 2001), however few of them are in the table.

    Monotone: a class fits everybody whom a part of it fits.
    """

    k: int
    """The least number of people."""
    population: EncodedTable = field(repr=False, compare=False)
    """The people, each one record; it has the quasi-identifiers of the table."""

    says: ClassVar[str] = "{k}-map"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", _whole(self.k, "k"))

    def for_table(self, table: EncodedTable) -> Self:
        """Return it as it is, if there are k people."""
        if self.k > self.population.records:
            raise StudyError(
                "{population} has {people} people, so no class can fit {k} ({name}); ask for less",
                population=printable(self.population.name),
                people=str(self.population.records),
                k=str(self.k),
                name=self.name,
            )
        return self

    def holds(self, classes: ClassCounts) -> Flags:
        """Tell of each class whether it fits k people."""
        return classes.counted >= self.k


@dataclass(frozen=True)
class EstimatedKMap(Criterion):
    """Every class stands for at least k people of the population, by the survey weights of its records.

    The number of people who fit a class is estimated by the sum of the weights of its records, F̂ = Σ w, and the risk of
    each of them by 1 / F̂. Monotone: a class stands for everybody whom a part of it stands for.
    """

    k: int
    """The least number of people."""
    weight: str
    """The column of the survey weights."""
    _least: int = field(default=0, repr=False, compare=False)

    sensitive = None
    says: ClassVar[str] = "{k}-map, estimated"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", _whole(self.k, "k"))

    def for_table(self, table: EncodedTable) -> Self:
        """Return it in terms of the weights of a table, if all of it stands for k people."""
        weights = SurveyWeights.of(table, self.weight)
        least = self.k * weights.scale
        if int(weights.each.sum()) < least:
            raise StudyError(
                "{table} stands for {people} people, so no class can stand for {k} ({name}); ask for less",
                table=printable(table.name),
                people=f"{weights.people.sum():.15g}",
                k=str(self.k),
                name=self.name,
            )
        return replace(self, _least=least)

    def holds(self, classes: ClassCounts) -> Flags:
        """Tell of each class whether it stands for k people."""
        return classes.counted >= self._least


@dataclass(frozen=True)
class Presence(OfPeople, Criterion, TableCriterion):
    """Of everybody in the population, the chance of being in the table lies between two limits (Nergiz et al. 2007).

    This is δ-presence. With f records of a class that fits F people the chance is f / F. Who fits no class that is
    released is one of the suppressed records, or in none: those people are one class more, with the suppressed records.

    Not monotone: a class that holds does no more beside one with as many records as people. Monotone without
    suppression: f / F of a union lies between those of its parts, and who fits a class fits one still.
    """

    low: Number
    """The lowest chance."""
    high: Number
    """The highest chance."""
    population: EncodedTable = field(repr=False, compare=False)
    """The people, each one record; it has the quasi-identifiers of the table."""
    _records: int = field(default=0, repr=False, compare=False)

    says: ClassVar[str] = "({low}, {high})-presence"

    def __post_init__(self) -> None:
        what = marked("the chance of being in the table")
        if not 0 <= _bounded(self.low, what) <= _bounded(self.high, what) <= 1:
            raise StudyError(
                "the chance of being in the table lies between two numbers from 0 to 1, the lower first, not "
                "{low} and {high}",
                low=str(self.low),
                high=str(self.high),
            )

    def for_table(self, table: EncodedTable) -> Self:
        """Return it with the number of records, if the share of everybody lies within."""
        if not self._within(np.array([table.records]), np.array([self.population.records])).all():
            raise StudyError(
                "{records} of {people} people are in {table}, so that {name} cannot be reached; choose limits around "
                "that share",
                records=str(table.records),
                people=str(self.population.records),
                table=printable(table.name),
                name=self.name,
            )
        return replace(self, _records=table.records)

    def holds(self, classes: ClassCounts) -> Flags:
        """Tell of each class whether the chance of its people lies within."""
        return self._within(classes.sizes, classes.counted)

    def allows(self, classes: ClassCounts) -> bool:
        """Tell whether the chance of those who fit none of these classes does."""
        people = classes.records - int(classes.counted.sum())
        if not people:
            return True
        records = self._records - int(classes.sizes.sum())
        return bool(self._within(np.array([records]), np.array([people])).all())

    def _within(self, records: Integers, people: Integers) -> Flags:
        low, high = exact(self.low, what="low"), exact(self.high, what="high")
        within = _at_most(records, people, high)
        return within & _at_most(people, records, 1 / low) if low else within


@dataclass(frozen=True)
class PopulationUniques(OfPeople, TableCriterion):
    """At most a share p of the released records belongs to people who are alone in their class of the population.

    Monotone without suppression: who has company in the population keeps it when classes merge.
    """

    p: Number
    """The greatest share."""
    population: EncodedTable = field(repr=False, compare=False)
    """The people, each one record; it has the quasi-identifiers of the table."""

    says: ClassVar[str] = "population uniques among the records of a share of at most {p}"

    def __post_init__(self) -> None:
        _check_uniques(self.p)

    def allows(self, classes: ClassCounts) -> bool:
        """Tell whether few enough are."""
        alone = int(np.count_nonzero(classes.counted == 1))
        return alone <= exact(self.p, what="p") * int(classes.sizes.sum())


@dataclass(frozen=True)
class EstimatedUniques(TableCriterion):
    """At most a share p of the population is estimated to be alone in its class, and so of the records on average.

    There is no file of the population: the records are a simple random sample of it, and the estimate is that of the
    rule of Dankar et al. (`glasshouse.microdata.uniqueness`), from the sizes of the classes. An estimate may rise when
    a release is generalised further, so that the criterion is not monotone in any way and rules out no node but its
    own; without an estimate it does not hold.
    """

    p: Number
    """The greatest share."""
    fraction: Number
    """The share of the population that is in the table."""

    says: ClassVar[str] = "estimated population uniques of a share of at most {p}"
    sensitive = None
    monotone_unsuppressed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_uniques(self.p)
        if not 0 < exact(self.fraction, what="fraction") <= 1:
            raise StudyError(
                "the sampling fraction is {fraction}; it must be above 0 and at most 1 (all of the population)",
                fraction=str(self.fraction),
            )

    def estimate(self, sizes: Integers) -> Estimate:
        """Return the estimate for classes of these sizes."""
        return people_alone(sizes, fraction=exact(self.fraction, what="fraction"))

    def allows(self, classes: ClassCounts) -> bool:
        """Tell whether few enough are estimated to be."""
        if not len(classes.sizes):
            return True
        share = self.estimate(classes.sizes).share_of_population
        return share is not None and share <= exact(self.p, what="p")


def _check_uniques(share: Number) -> None:
    what = marked("the share of population uniques")
    if not 0 <= _bounded(share, what) <= 1:
        raise StudyError(
            "{what} must be from 0 to 1, not {number}", what=translated(what), number=str(share)
        )


@dataclass(frozen=True)
class _Tree:
    """The labels of all levels of a hierarchy in one numbering: values first, the root last."""

    parents: Integers
    """Per label, the number of its label one level up; the root is its own."""
    firsts: tuple[int, ...]
    """Per level, the number of its first label."""

    @classmethod
    def of(cls, coded: CodedHierarchy) -> _Tree:
        firsts = np.cumsum([0, *map(len, coded.labels)]).tolist()
        above = [
            parents.astype(np.int64) + first
            for parents, first in zip(coded.parents, firsts[1:], strict=False)
        ]
        return cls(np.concatenate([*above, np.array([firsts[-1] - 1])]), tuple(firsts[:-1]))

    @property
    def top(self) -> int:
        """The level of the root."""
        return len(self.firsts) - 1

    def summed(self, reference: Integers) -> Integers:
        """Return how many records each label stands for, from those of the values."""
        records = np.zeros(len(self.parents), np.int64)
        records[: len(reference)] = reference
        for first, end in zip(self.firsts[:-1], self.firsts[1:], strict=True):
            np.add.at(records, self.parents[first:end], records[first:end])
        return records


def _whole(number: object, letter: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise StudyError(
            "{letter} must be a whole number of at least 1, not {number}",
            letter=letter,
            number=repr(number),
        )
    return int(number)


def _check_share(number: Number, what: str) -> None:
    if not 0 < _bounded(number, what) <= 1:
        raise StudyError(
            "{what} must be above 0 and at most 1, not {number}",
            what=translated(what),
            number=str(number),
        )


def _bounded(number: Number, what: str) -> Fraction:
    """Return a number exactly, if it can be multiplied with counts in 128 bits."""
    limit = exact(number, what=what)
    if max(abs(limit.numerator), limit.denominator) >= LONGEST_EXACT_SUM:
        raise StudyError(
            "{what} has too many digits ({number}); give at most 18 decimals",
            what=translated(what),
            number=str(number),
        )
    return limit


def _not_ready(name: str) -> InternalError:
    return InternalError(f"{name} was not made ready for a table; call for_table first")


def _ranked(
    values: Sequence[str], order: tuple[str, ...] | None, sensitive: str, where: str
) -> tuple[Integers, int]:
    """Return the rank of each value, and how many there are."""
    if order is None:
        numbers = [_number(value, sensitive, where) for value in values]
        distinct = {number: rank for rank, number in enumerate(sorted(set(numbers)))}
        return np.array([distinct[number] for number in numbers], np.int64), len(distinct)
    ranks = {value: rank for rank, value in enumerate(order)}
    for value in values:
        if value not in ranks:
            raise DataError(
                "{where}: the value {value} of column {column} is not in the order given; put "
                "it where it belongs",
                where=where,
                value=quoted([value]),
                column=quoted([sensitive]),
            )
    return np.array([ranks[value] for value in values], np.int64), len(order)


def _number(value: str, sensitive: str, where: str) -> Fraction:
    if not NUMBER.fullmatch(value.strip()):
        raise DataError(
            "{where}: the value {value} of column {column} is not a number; give all its values in order with "
            '`order` "{name}=LOWEST,…,HIGHEST", or take equal or hierarchical closeness',
            where=where,
            value=quoted([value]),
            column=quoted([sensitive]),
            name=sensitive,
        )
    return Fraction(value.strip())


def _at_most(sums: NDArray[Any], wholes: NDArray[Any], limit: Fraction) -> Flags:
    """Tell of each sum whether it is at most this share of its whole: exactly, or if in doubt no."""
    if sums.dtype == np.float64:
        return np.asarray(sums + _SUM_GUARD * wholes <= float(limit) * wholes)
    within: Flags = products_at_most(
        sums.astype(np.uint64),
        np.uint64(limit.denominator),
        wholes.astype(np.uint64),
        np.uint64(limit.numerator),
    )
    return within


def _has_entropy(counts: list[int], least: Fraction) -> bool:
    """Tell whether the entropy of some counts is at least the logarithm of a number, in whole numbers."""
    common = gcd(*counts)
    counts = [count // common for count in counts]
    records = sum(counts)
    if records > LARGEST_EXACT_ENTROPY:
        return False
    needed = prod(count**count for count in counts) * least.numerator**records
    return bool((records * least.denominator) ** records >= needed)
