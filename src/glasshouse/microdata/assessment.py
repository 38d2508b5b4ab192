"""What came of a whole study: its attacks, and all that was asked besides; and how a study is carried out.

Everything is counted in integers; a vulnerability is one exact fraction. A float is nearest to that fraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import pyarrow as pa

from glasshouse.microdata.attacks import Explanation, Exposure, attacks_with
from glasshouse.microdata.closeness import Closeness
from glasshouse.microdata.column_noise import ColumnNoise
from glasshouse.microdata.gains import Beliefs, Gain
from glasshouse.microdata.households import Households
from glasshouse.microdata.knowledge import InexactKnowledge
from glasshouse.microdata.lattice import Sweep
from glasshouse.microdata.leakage import (
    ATTACK_SCHEMA,
    Attack,
    missing_entry,
    missing_records,
    treatment,
)
from glasshouse.microdata.special_uniques import SpecialUniques
from glasshouse.microdata.survey_weights import WeightedClasses
from glasshouse.table import CollectionMember, EncodedTable, Step

EXPOSURES = "exposures.parquet"
"""The file of a run that holds who can be named, by value: counts of people, for the analyst."""
CLOSE, INEXACT = "close.parquet", "inexact.parquet"
"""The files of a run that hold how close guesses come, and what is learned without exact knowledge: whole numbers, so
that runs are compared exactly."""


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
    binding: Mapping[str, str | int | None] = field(default_factory=dict)
    """The condition that is nearest to its limit then: the measure, the secret that it is ``of``, and how many facts
    somebody ``knows``; nothing where the policy is not met, or where that is not known."""

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
    households: Households | None = field(default=None, repr=False)
    """Who is named by way of a household, where the study says who lives together."""
    noise: tuple[ColumnNoise, ...] = field(default=(), repr=False)
    """What columns let somebody learn that were released at random, where the study says how."""
    special: SpecialUniques | None = field(default=None, compare=False, repr=False)
    """The special uniques of the records and their scores, where the study asks for them."""
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
        if self.households is not None:
            content["households"] = self.households.to_dict()
        if self.noise:
            content["noise"] = [one.to_dict() for one in self.noise]
        if self.special is not None:
            content["suda"] = self.special.to_dict()
        if self.advice:
            content["advice"] = [advice.to_dict() for advice in self.advice]
        if self.exposures:
            content["exposures"] = [exposure.to_dict() for exposure in self.exposures]
        if self.explanations:
            content["explain"] = [explanation.to_dict() for explanation in self.explanations]
        return content

    def to_frame(self) -> pa.Table:
        """Return one row per attack; lists are columns of lists, missing measures are null."""
        return pa.Table.from_pylist(
            [attack.to_row() for attack in self.attacks], schema=ATTACK_SCHEMA
        )

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
    def of_sweep(cls, sweep: Sweep) -> Assessment:
        """Return the attacks of every subset: re-identification first, then each secret."""
        return cls(sweep.records, sweep.attacks())

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
        attacks = tuple(Attack.from_row(row, joint) for row in frame.to_pylist())
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


def assess(
    table: EncodedTable | Sequence[EncodedTable],
    *,
    subsets: Sequence[Sequence[str]] | None = None,
    sensitive: Sequence[str | Sequence[str]] | None = None,
    gains: Mapping[tuple[str, ...], Gain] | None = None,
    prior_weight: str | None = None,
    priors: Mapping[tuple[str, ...], Beliefs] | None = None,
    drop_suppressed: bool = True,
    most_records: int | None = None,
) -> Assessment:
    """Re-identify, and infer each secret, with each set of quasi-identifiers.

    Args:
        table: The release; or the growing windows of one collection (`Collection.windows`), the same records with more
            and more columns known, of which each refines the classes of the one before.
        subsets: The sets of quasi-identifiers; by default the whole set.
        sensitive: The attributes, or groups of attributes, to infer; by default each sensitive attribute.
        gains: Per secret (the empty one is re-identification), what guesses are worth.
        prior_weight: The column of record weights; by default the table's, else uniform.
        priors: Per secret, what she believes of it instead of what the release says.
        drop_suppressed: Whether records of one release that hold ``*`` in every quasi-identifier, beside others that do
            not, are left out: they are suppressed, and in no class.
        most_records: About so many records are laid out at a time, classes whole; by default all.

    Returns:
        The attacks, window by window.
    """
    attacks = attacks_with(
        table,
        subsets=subsets,
        sensitive=sensitive,
        gains=gains,
        prior_weight=prior_weight,
        priors=priors,
        drop_suppressed=drop_suppressed,
        most_records=most_records,
    )
    return Assessment(attacks[0].records, attacks)
