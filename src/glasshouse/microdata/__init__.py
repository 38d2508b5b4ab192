"""Releases of records: who can be named, and what can be inferred about them."""

from glasshouse.microdata.attacks import (
    Assessment,
    Attack,
    Leakage,
    assess,
    assess_windows,
    attack,
)
from glasshouse.microdata.explain import Explanation, explain
from glasshouse.microdata.family import Family, family, parts_by
from glasshouse.microdata.gains import RecordWorth, read_gain_matrix, read_prior, with_abstaining
from glasshouse.microdata.influence import (
    best_subsets,
    minimal_subsets,
    shapley_values,
    without_each,
)
from glasshouse.microdata.lattice import Sweep, sweep
from glasshouse.microdata.linkage import Linked, LinkKey, link
from glasshouse.microdata.membership import Member, Membership, member, membership
from glasshouse.microdata.record_risks import RecordRisks, record_risks
from glasshouse.microdata.target import Target, target
from glasshouse.microdata.uniqueness import PopulationRisks, population_risks

__all__ = [
    "Assessment",
    "Attack",
    "Explanation",
    "Family",
    "Leakage",
    "LinkKey",
    "Linked",
    "Member",
    "Membership",
    "PopulationRisks",
    "RecordRisks",
    "RecordWorth",
    "Sweep",
    "Target",
    "assess",
    "assess_windows",
    "attack",
    "best_subsets",
    "explain",
    "family",
    "link",
    "member",
    "membership",
    "minimal_subsets",
    "parts_by",
    "population_risks",
    "read_gain_matrix",
    "read_prior",
    "record_risks",
    "shapley_values",
    "sweep",
    "target",
    "with_abstaining",
    "without_each",
]
