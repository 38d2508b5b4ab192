"""Protected releases beside their original, measured alike.

Of each: the attacks of `glasshouse.microdata` with all quasi-identifiers (`compare_release`), and what the release
still serves for (`compare_utility`). Runs are compared in `glasshouse.measures.compared_runs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags
from glasshouse.microdata import Attack, assess, population_risks
from glasshouse.microdata.leakage import missing_entry, missing_records, treatment
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.mitigation.anatomy import assess_by_group
from glasshouse.mitigation.anonymisation import Anonymisation
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.mitigation.utility import (
    ColumnCosts,
    Utility,
    column_costs,
    compare_utility,
    measured_detail,
)
from glasshouse.table import EncodedTable, Step
from glasshouse.table.generalised import without
from glasshouse.table.partition import partition


@dataclass(frozen=True)
class ComparedRelease:
    """One release, or the original, in figures."""

    name: str
    """What it is called."""
    records: int
    """The number of records, suppressed ones included."""
    suppressed: int
    """The number of suppressed records; they are left out of every risk."""
    classes: int
    """The number of classes."""
    highest: Fraction | None
    """The chance of naming the most exposed record: one over the size of the smallest class; None where values were
    changed at random, so that who looks alike is a matter of chance."""
    average: Fraction
    """The chance of naming a record on average."""
    naming: Attack
    """Re-identification with all quasi-identifiers."""
    inferring: tuple[Attack, ...]
    """The inference of each sensitive attribute."""
    population_uniques: float | None
    """The share of people estimated to be alone in the population, by the rule of Dankar et al. 2012; None where no
    sampling fraction was given, or there is no answer."""
    loss: float | None
    """What is lost by the Loss metric; None where nothing was recoded."""
    detail_lost: float
    """The share of detail that is lost, measured alike however it was protected."""
    utility: Utility
    """What the release still serves for."""
    grouped: bool = False
    """Whether it is by Anatomy: the sensitive attribute is published apart, by groups, and nothing is recoded."""
    costs: ColumnCosts | None = None
    """What became of each column; None: of the original, and of a release whose records cannot be told apart."""
    protection: Anonymisation | None = None
    """How it was protected, in figures; None: it is the original, or was read from its file."""
    judged: tuple[tuple[Attack, ...], ...] = ()
    """The attacks on the file as it is, where it holds suppressed records: they are a class of their own. The worst of
    all ways counts."""

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """The attacks on it, naming first."""
        return (self.naming, *self.inferring)

    def beats(self, other: ComparedRelease) -> bool:
        """Tell whether it loses less detail than another one while no attack succeeds more often."""
        return self.detail_lost < other.detail_lost and all(
            attack.probabilistic.posterior <= beaten.probabilistic.posterior
            and attack.certain <= beaten.certain
            for attack, beaten in zip(self.attacks, other.attacks, strict=True)
        )

    @property
    def risk(self) -> Fraction:
        """The greatest risk that is left: of a right guess at who it is, or of what is added to knowing a secret.

        What is added is that to the share of right guesses, or to that of people of whom it is certain.
        """
        added = (
            max(attack.probabilistic.additive, attack.deterministic.additive)
            for attack in self.inferring
        )
        return max(self.naming.probabilistic.posterior, *added, Fraction(0))

    @property
    def distance(self) -> float:
        """How far the release is from the truth: of two columns together on average; of one, where there is one."""
        pairs = self.utility.distances.mean_pair
        return self.utility.distances.mean_single if pairs is None else pairs

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        prediction = self.utility.prediction
        return {
            "name": self.name,
            "records": self.records,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "highest_risk": None if self.highest is None else float(self.highest),
            "average_risk": float(self.average),
            "population_uniques": self.population_uniques,
            "loss": self.loss,
            "detail_lost": self.detail_lost,
            "column_distance": self.utility.distances.mean_single,
            "pair_distance": self.utility.distances.mean_pair,
            "query_error": self.utility.queries.median,
            "prediction": None if prediction is None else prediction.to_dict(),
            "column_costs": None if self.costs is None else self.costs.to_dict(),
            "levels": None
            if self.protection is None or self.protection.heights is None
            else dict(self.protection.heights),
            "attacks": [attack.to_dict() for attack in self.attacks],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per attack."""
        return pa.Table.from_pylist(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        """Return the rows of the frame as plain values."""
        content = self.to_dict()
        attacks, learned = content.pop("attacks"), content.pop("prediction")
        del content["column_costs"], content["levels"]
        if learned is not None:
            content["accuracy"] = learned["release"]
        return [
            content
            | {
                "attack": attack["attack"],
                "sensitive": attack["sensitive"],
                "certain": attack["deterministic"]["posterior"],
                "guess": attack["probabilistic"]["posterior"],
            }
            for attack in attacks
        ]


@dataclass(frozen=True)
class Comparison:
    """The original and several releases, side by side."""

    original: ComparedRelease
    """The data before protection."""
    releases: tuple[ComparedRelease, ...]
    """The releases, in the order given."""
    subject: str = "person"
    """What a record stands for."""
    steps: tuple[Step, ...] = ()
    """What was left out of the data before."""

    @property
    def rows(self) -> tuple[ComparedRelease, ...]:
        """The original, then each release."""
        return (self.original, *self.releases)

    @property
    def estimated(self) -> bool:
        """Whether it was estimated how many people are alone in the population."""
        return any(row.population_uniques is not None for row in self.rows)

    @property
    def safest(self) -> ComparedRelease:
        """The release in which naming is hardest; of several, the one that loses least detail."""
        return min(
            self.releases, key=lambda row: (row.naming.probabilistic.posterior, row.detail_lost)
        )

    @property
    def by_trade(self) -> tuple[ComparedRelease, ...]:
        """The releases, the best trade of risk against detail lost first: the knee of their frontier.

        Both are counted as shares of their range, the original included, and added. A release that another one beats
        comes after it.
        """
        risks = [row.risk for row in self.rows]
        range_of_risk, most = max(risks) - min(risks), max(row.detail_lost for row in self.rows)

        def cost(row: ComparedRelease) -> tuple[float, Fraction, float]:
            risk = (row.risk - min(risks)) / range_of_risk if range_of_risk else 0
            return float(risk) + row.detail_lost / (most or 1.0), row.risk, row.detail_lost

        return tuple(sorted(self.releases, key=cost))

    @property
    def missing(self) -> dict[str, int]:
        """By secret, in how many records of the original it is missing, if in any."""
        return missing_records(self.original.records, self.original.inferring)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        releases = [release.to_dict() for release in self.rows]
        return treatment(self.steps) | missing_entry(self.missing) | {"releases": releases}

    def to_frame(self) -> pa.Table:
        """Return one row per release and attack."""
        return pa.Table.from_pylist([row for release in self.rows for row in release._rows()])


def compare_release(
    original: EncodedTable,
    release: EncodedTable,
    *,
    name: str,
    suppressed: Flags | None = None,
    dropped: bool = False,
    group: str | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    loss: float | None = None,
    detail_lost: float | None = None,
    fraction: float | None = None,
    predict: str | None = None,
    protection: Anonymisation | None = None,
    weights: SurveyWeights | None = None,
) -> ComparedRelease:
    """Measure a release beside its original, which may be the release itself.

    Args:
        original: The records before.
        release: The records after, in the same order.
        name: What to call it.
        suppressed: Which records are suppressed; by default none.
        dropped: Whether these are not in the file that is released.
        group: The column of Anatomy's groups; None: the classes are made by the quasi-identifiers.
        hierarchies: What the labels of the release stand for.
        loss: What is lost by the Loss metric, where it was recoded.
        detail_lost: The share of detail that is lost, where that is known; by default it is measured, each released
            value against the values of the original that it stands for.
        fraction: The share of the population that the records are; without it nothing is estimated of the population.
        predict: A column that a classifier shall predict; without it none is asked.
        protection: How it was protected, in figures, where that is known. Of a release whose values were changed at
            random it says what an adversary learns who knows how; without it, the release is taken as it stands.
        weights: How many people each record stands for, where what is lost is to count them.
    """
    people = None if weights is None else weights.people
    changed = protection is not None and protection.method in ("microaggregation", "perturbation")
    retained = without(release, suppressed).with_roles(
        quasi_identifiers=original.quasi_identifiers, sensitive=original.sensitive
    )
    if protection is not None:
        assessment = protection.after
    else:
        assessment = (
            assess(retained, drop_suppressed=False)
            if group is None
            else assess_by_group(retained, group)
        )
    judged = () if protection is None else (*protection.retained[1:], *protection.judged)
    if protection is None and not dropped and retained.records < release.records:
        blanked = release.with_roles(
            quasi_identifiers=original.quasi_identifiers, sensitive=original.sensitive
        )
        judged = (assess(blanked, drop_suppressed=False),)
    naming, *inferring = assessment.attacks
    alone = None
    if fraction is not None:
        alone = population_risks(retained, fraction=fraction).dankar.share_of_population
    smallest = int(np.min(partition(retained, retained.quasi_identifiers).sizes))
    return ComparedRelease(
        name=name,
        records=release.records,
        suppressed=release.records - retained.records,
        classes=naming.classes,
        highest=None if protection is not None and protection.changed else Fraction(1, smallest),
        average=naming.probabilistic.posterior,
        naming=naming,
        inferring=tuple(inferring),
        population_uniques=None if alone is None else float(alone),
        loss=loss,
        detail_lost=protection.detail_lost
        if protection is not None
        else detail_lost
        if detail_lost is not None
        else 0.0
        if release is original
        else measured_detail(original, release, hierarchies=hierarchies, weights=people),
        utility=compare_utility(
            original,
            release,
            hierarchies=hierarchies,
            target=predict,
            changed=changed,
            weights=people,
        ),
        grouped=group is not None,
        costs=column_costs(
            original, release, hierarchies=hierarchies, changed=changed, weights=people
        )
        if release is not original and release.records == original.records
        else None,
        protection=protection,
        judged=tuple(one.attacks for one in judged),
    )
