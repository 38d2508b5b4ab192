"""Releases of records: who can be named, and what can be inferred about them."""

from glasshouse.microdata.influence import (
    best_subsets,
    minimal_subsets,
    shapley_values,
    without_each,
)
from glasshouse.microdata.lattice import Sweep, sweep
from glasshouse.microdata.models import Assessment, Attack, Leakage, assess, attack
from glasshouse.microdata.records import RecordRisks, record_risks

__all__ = [
    "Assessment",
    "Attack",
    "Leakage",
    "RecordRisks",
    "Sweep",
    "assess",
    "attack",
    "best_subsets",
    "minimal_subsets",
    "record_risks",
    "shapley_values",
    "sweep",
    "without_each",
]
