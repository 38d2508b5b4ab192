"""Tells exactly which groups meet all criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.arrays import Flags
from glasshouse.mitigation.criteria import ClassCounts, Criterion, TableCriterion
from glasshouse.mitigation.distinct_rows import ValueCounts, merged_counts
from glasshouse.mitigation.local.items import Criteria, Groups, Items


@dataclass(frozen=True)
class Judge:
    """Applies all criteria to groups of items."""

    criteria: Criteria
    """What has to be met, ready to judge."""
    items: Items
    """What the groups are made of."""

    def failing(self, groups: Groups) -> Flags:
        """Tell of each group whether there is a criterion that it does not meet."""
        failing = np.zeros(len(groups), np.bool_)
        for criterion in self.criteria:
            if isinstance(criterion, Criterion):
                failing |= ~criterion.holds(self._as_counts(criterion.sensitive, groups))
        return failing

    def most_classes(self, classes: int) -> int:
        """Return in how many classes all records may be released, if at most in so many."""
        of_table = [each for each in self.criteria if isinstance(each, TableCriterion)]
        low, high = 1, classes
        while low < high:
            middle = (low + high + 1) // 2
            if all(each.allows(len(self.items.kept), middle) for each in of_table):
                low = middle
            else:
                high = middle - 1
        return low

    def unmet_together(self) -> str | None:
        """Return the name of a criterion that all records in one class do not meet.

        Then no recoding of them does: unions of classes that hold do hold.
        """
        everything = self.items.together()
        for each in self.criteria:
            if isinstance(each, TableCriterion):
                met = each.allows(len(self.items.kept), 1)
            else:
                met = bool(each.holds(self._as_counts(each.sensitive, everything)).all())
            if not met:
                return each.name
        return None

    def _as_counts(self, sensitive: str | None, groups: Groups) -> ClassCounts:
        if sensitive is None:
            return ClassCounts.of_sizes(groups.sizes)
        place = self.items.sensitive.index(sensitive)
        pieces = ValueCounts(
            np.arange(len(groups.items) + 1),
            self.items.secrets[groups.items, place],
            groups.counts,
            self.items.references[place],
        )
        own = merged_counts(groups.numbers.astype(np.uint32), len(groups), pieces)
        return ClassCounts(groups.sizes, own.starts, own.values, own.counts, own.reference)
