"""Releases of records: who can be named, and what can be inferred about them."""

from typing import TYPE_CHECKING

from glasshouse.lazy import names_of

if TYPE_CHECKING:
    from glasshouse.microdata.assessment import Assessment, assess
    from glasshouse.microdata.attacks import Explanation, RecordRisks, attack, explain, record_risks
    from glasshouse.microdata.closeness import Closeness, close_guesses
    from glasshouse.microdata.gains import (
        RecordWorth,
        read_gain_matrix,
        read_prior,
        with_abstaining,
    )
    from glasshouse.microdata.individual import PersonTarget, Target, target
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
    from glasshouse.microdata.knowledge import InexactKnowledge, inexact_knowledge
    from glasshouse.microdata.lattice import Sweep, sweep
    from glasshouse.microdata.leakage import Attack, Leakage
    from glasshouse.microdata.linkage import LinkKey, link
    from glasshouse.microdata.memorisation import SyntheticRelease, assess_synthetic
    from glasshouse.microdata.parts import Family, family, parts_by
    from glasshouse.microdata.people import People, assess_people
    from glasshouse.microdata.presence import Member, Membership, member, membership
    from glasshouse.microdata.uniqueness import PopulationRisks, population_risks

_HOME = {
    "assessment": (
        "Assessment",
        "assess",
    ),
    "attacks": (
        "Explanation",
        "RecordRisks",
        "attack",
        "explain",
        "record_risks",
    ),
    "closeness": (
        "Closeness",
        "close_guesses",
    ),
    "gains": (
        "RecordWorth",
        "read_gain_matrix",
        "read_prior",
        "with_abstaining",
    ),
    "individual": (
        "PersonTarget",
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
    "knowledge": (
        "InexactKnowledge",
        "inexact_knowledge",
    ),
    "lattice": (
        "Sweep",
        "sweep",
    ),
    "leakage": (
        "Attack",
        "Leakage",
    ),
    "linkage": (
        "LinkKey",
        "link",
    ),
    "parts": (
        "Family",
        "family",
        "parts_by",
    ),
    "people": (
        "People",
        "assess_people",
    ),
    "presence": (
        "Member",
        "Membership",
        "member",
        "membership",
    ),
    "memorisation": (
        "SyntheticRelease",
        "assess_synthetic",
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
    "Closeness",
    "Explanation",
    "Family",
    "InexactKnowledge",
    "Leakage",
    "LinkKey",
    "Member",
    "Membership",
    "MinimalSubsets",
    "People",
    "PersonTarget",
    "PopulationRisks",
    "RecordRisks",
    "RecordWorth",
    "Removals",
    "ShapleyValues",
    "Sweep",
    "SyntheticRelease",
    "Target",
    "assess",
    "assess_people",
    "assess_synthetic",
    "attack",
    "best_subsets",
    "close_guesses",
    "explain",
    "family",
    "inexact_knowledge",
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
