"""What a protection gives, what it costs and what it does not stop: the outcome of ``anonymise``.

A table is recoded (`recode`, `recode_locally`, `mondrian`) or its records are put into groups (`anatomise`); then the
release is measured as its original is, by the same attacks with all quasi-identifiers (`glasshouse.microdata`), and by
the k, l and t that it has whatever was promised (`attained`). An `Anonymisation` holds the figures of both, and no
record of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.microdata import Assessment, assess
from glasshouse.mitigation.anatomy import Anatomy
from glasshouse.mitigation.attained_levels import Attained, attained
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.mitigation.information_loss import Quality, Recoding, quality
from glasshouse.table import EncodedTable, Step

GROUP = "group"
"""What the column of Anatomy's groups is called in a release."""


@dataclass(frozen=True)
class UsedHierarchy:
    """What is told of a hierarchy that a recoding used."""

    column: str
    """The attribute."""
    suggested: bool
    """Whether it was made automatically, and is to be reviewed."""
    height: int
    """Its number of levels, the values themselves and the root among them."""


@dataclass(frozen=True)
class Anonymisation:
    """A protected release in figures, beside its original."""

    dataset: str
    """The name of the table that was protected."""
    method: str
    """What is promised: ``k-anonymity``, ``l-diversity``, ``t-closeness``, ``risk`` or ``anatomy``."""
    parameters: Mapping[str, Any]
    """How it was to be protected, as plain values by the names of the options; where it is recoded, among them the
    ``recoding``, the ``objective`` and the ``importance`` of attributes; and which further columns to ``keep``."""
    quasi_identifiers: tuple[str, ...]
    """The columns that an adversary can know."""
    sensitive: tuple[str, ...]
    """The columns that she wants to infer."""
    records: int
    """The number of records, suppressed ones included."""
    classes: int
    """The number of released classes, or of groups."""
    attained: Attained
    """Which k, l and t the release itself has."""
    before: Assessment
    """What an adversary learns from the original with all quasi-identifiers."""
    after: Assessment
    """What she learns from the release; suppressed records are left out of it."""
    suppressed: int = 0
    """The number of suppressed records."""
    heights: Mapping[str, int] | None = None
    """Per quasi-identifier, the level of its hierarchy that is released; None where records differ, or by groups."""
    loss: float | None = None
    """The share of detail that is lost, whatever was made least; None where nothing was recoded."""
    optimal: bool | None = None
    """Whether it is proved that no such recoding is better; None where nothing was recoded."""
    bound: float | None = None
    """What the objective is proved to be at least, where the search of a global recoding was stopped early."""
    objective_value: float | None = None
    """What was made least, in its own measure; None where nothing was recoded."""
    quality: Quality | None = None
    """What is left of the data, where it was recoded."""
    hierarchies: tuple[UsedHierarchy, ...] = ()
    """The hierarchies that were used."""
    left_out: tuple[str, ...] = ()
    """The columns of the dataset that are not released."""
    steps: tuple[Step, ...] = ()
    """What was left out of the dataset before it was protected."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        if self.heights is not None:
            object.__setattr__(self, "heights", MappingProxyType(dict(self.heights)))

    @classmethod
    def of_recoding(
        cls,
        table: EncodedTable,
        recoding: Recoding,
        hierarchies: Mapping[str, Hierarchy],
        *,
        method: str,
        parameters: Mapping[str, Any],
        left_out: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> Anonymisation:
        """Measure a recoded table.

        Args:
            table: The records before.
            recoding: How they were recoded.
            hierarchies: The hierarchies that were used.
            method: What is promised.
            parameters: How it was to be protected; see the field.
            left_out: The columns of the dataset that are not released.
            steps: What was left out of the dataset before.
        """
        release = recoding.release(table)
        hidden = recoding.suppressed
        left = quality(table, recoding, hierarchies)
        return cls(
            dataset=table.name,
            method=method,
            parameters=parameters,
            quasi_identifiers=columns_of(table),
            sensitive=table.sensitive,
            records=table.records,
            classes=recoding.classes,
            attained=attained(release, suppressed=hidden),
            before=assess(table),
            after=assess(release.of_records(~hidden) if hidden.any() else release),
            suppressed=int(np.count_nonzero(hidden)),
            heights=recoding.heights,
            loss=left.loss,
            optimal=recoding.optimal,
            bound=recoding.bound if parameters.get("recoding", "global") == "global" else None,
            objective_value=recoding.loss,
            quality=left,
            hierarchies=tuple(
                UsedHierarchy(name, hierarchy.suggested, hierarchy.height)
                for name, hierarchy in hierarchies.items()
            ),
            left_out=tuple(left_out),
            steps=tuple(steps),
        )

    @classmethod
    def of_groups(
        cls,
        table: EncodedTable,
        release: EncodedTable,
        anatomy: Anatomy,
        *,
        parameters: Mapping[str, Any],
        left_out: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> Anonymisation:
        """Measure a table whose records were put into groups; nothing of it is recoded.

        Args:
            table: The records before.
            release: What is published of them, with a column `GROUP`.
            anatomy: The groups.
            parameters: How it was to be protected.
            left_out: The columns of the dataset that are not released.
            steps: What was left out of the dataset before.
        """
        return cls(
            dataset=table.name,
            method="anatomy",
            parameters=parameters,
            quasi_identifiers=columns_of(table),
            sensitive=table.sensitive,
            records=table.records,
            classes=anatomy.groups,
            attained=attained(release, quasi_identifiers=[GROUP], sensitive=table.sensitive),
            before=assess(table),
            after=assess_by_group(release, GROUP),
            left_out=tuple(left_out),
            steps=tuple(steps),
        )

    @property
    def grouped(self) -> bool:
        """Whether it is by Anatomy: the sensitive attribute is published apart, and nothing is recoded."""
        return self.method == "anatomy"

    @property
    def suggested(self) -> list[str]:
        """The columns whose hierarchies were made automatically."""
        return [hierarchy.column for hierarchy in self.hierarchies if hierarchy.suggested]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values: method, parameters, heights, suppressed, classes, loss, optimal."""
        content: dict[str, Any] = {
            "method": self.method,
            "parameters": dict(self.parameters),
            "heights": None if self.heights is None else dict(self.heights),
            "suppressed": self.suppressed,
            "classes": self.classes,
            "loss": self.loss,
            "optimal": self.optimal,
        }
        if not self.grouped:
            content["bound"] = self.bound
            objective = self.parameters.get("objective", "loss")
            if objective != "loss" or self.parameters.get("importance"):
                content["objective"] = self.objective_value
        if self.quality is not None:
            content["quality"] = self.quality.to_dict()
        content["attained"] = self.attained.to_dict()
        content["suggested_hierarchies"] = self.suggested
        content["columns_left_out"] = list(self.left_out)
        if self.steps:
            content["treatment"] = [step.to_dict() for step in self.steps]
        content["before"] = [attack.to_dict() for attack in self.before.attacks]
        content["after"] = [attack.to_dict() for attack in self.after.attacks]
        return content

    def to_frame(self) -> pa.Table:
        """Return one row per attack, on the original and on the protected release."""
        frames = [
            frame.append_column("release", pa.array([name] * len(frame)))
            for name, frame in (
                ("original", self.before.to_frame()),
                ("protected", self.after.to_frame()),
            )
        ]
        return pa.concat_tables(frames)

    def manifest(self, *, release: str, hierarchies: Mapping[str, str]) -> dict[str, Any]:
        """Return what later commands must know of the release.

        Args:
            release: The name of its file.
            hierarchies: Per column, the fingerprint of the file of its hierarchy.
        """
        facts = ["method", "parameters", "heights", "suppressed", "classes", "loss", "optimal"]
        facts += [] if self.bound is None else ["bound"]
        content = self.to_dict()
        return {
            "release": release,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            **{name: content[name] for name in facts},
            "hierarchies": dict(hierarchies),
            "suggested_hierarchies": self.suggested,
            "group": GROUP if self.grouped else None,
            "shuffled": not self.parameters.get("keep_order", False),
        }


def columns_of(table: EncodedTable) -> tuple[str, ...]:
    """Return the columns that the quasi-identifiers of a table stand for."""
    return tuple(
        column.name for known in table.quasi_identifiers for column in table.columns_of(known)
    )


def assess_by_group(release: EncodedTable, group: str) -> Assessment:
    """Assess a release by Anatomy: people are named by their quasi-identifiers, which it publishes as they are.

    What is inferred goes by the group: beside it, the value of a record is a random one of its group.
    """
    named = assess(release.with_roles(quasi_identifiers=release.quasi_identifiers))
    known = release.with_roles(quasi_identifiers=[group], sensitive=release.sensitive)
    return Assessment(named.records, (*named.attacks[:1], *assess(known).attacks[1:]))
