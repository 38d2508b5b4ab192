"""Releases of records: who can be named, and what can be inferred about them."""

from typing import TYPE_CHECKING

from glasshouse.lazy import names_of

if TYPE_CHECKING:
    from glasshouse.microdata.assessment import (
        Assessment,
        Attack,
        Explanation,
        Leakage,
        RecordRisks,
        Sweep,
    )
    from glasshouse.microdata.attacks import assess, attack, explain, record_risks
    from glasshouse.microdata.gains import (
        RecordWorth,
        read_gain_matrix,
        read_prior,
        with_abstaining,
    )
    from glasshouse.microdata.individual import Target, target
    from glasshouse.microdata.influence import (
        BestSubsets,
        MinimalSubsets,
        Removals,
        ShapleyValues,
        best_subsets,
        minimal_subsets,
        shapley_values,
        without_each,
    )
    from glasshouse.microdata.lattice import sweep
    from glasshouse.microdata.linkage import LinkKey, link
    from glasshouse.microdata.parts import Family, family, parts_by
    from glasshouse.microdata.presence import Member, Membership, member, membership
    from glasshouse.microdata.uniqueness import PopulationRisks, population_risks

_HOME = {
    "assessment": (
        "Assessment",
        "Attack",
        "Explanation",
        "Leakage",
        "RecordRisks",
        "Sweep",
    ),
    "attacks": (
        "assess",
        "attack",
        "explain",
        "record_risks",
    ),
    "gains": (
        "RecordWorth",
        "read_gain_matrix",
        "read_prior",
        "with_abstaining",
    ),
    "individual": (
        "Target",
        "target",
    ),
    "influence": (
        "BestSubsets",
        "MinimalSubsets",
        "Removals",
        "ShapleyValues",
        "best_subsets",
        "minimal_subsets",
        "shapley_values",
        "without_each",
    ),
    "lattice": ("sweep",),
    "linkage": (
        "LinkKey",
        "link",
    ),
    "parts": (
        "Family",
        "family",
        "parts_by",
    ),
    "presence": (
        "Member",
        "Membership",
        "member",
        "membership",
    ),
    "uniqueness": (
        "PopulationRisks",
        "population_risks",
    ),
}
"""The public names, by the module that they come from: a question loads what it needs."""

__all__ = [
    "Assessment",
    "Attack",
    "BestSubsets",
    "Explanation",
    "Family",
    "Leakage",
    "LinkKey",
    "Member",
    "Membership",
    "MinimalSubsets",
    "PopulationRisks",
    "RecordRisks",
    "RecordWorth",
    "Removals",
    "ShapleyValues",
    "Sweep",
    "Target",
    "assess",
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

__getattr__ = names_of("glasshouse.microdata", _HOME)
