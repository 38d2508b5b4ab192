"""People of the population who need not be in a table."""

from __future__ import annotations

import numpy as np

from glasshouse.arrays import Codes
from glasshouse.groups.labels import ValueSets
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Matches, Victims


def population_points(release: Release, codes: Codes) -> Victims:
    """Points of the population, fully known and in no group: the attacker says nothing about them."""
    known = tuple(ValueSets.singletons(len(each.values)) for each in release.attributes)
    starts, nothing = np.zeros(len(codes) + 1, np.int64), np.zeros(0, np.int64)
    return Victims(codes, known, starts, nothing, Matches(starts, nothing, starts[1:]))
