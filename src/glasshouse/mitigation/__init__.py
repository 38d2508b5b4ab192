"""What would protect a release: recoding, bucketisation, and what they cost in utility."""

from glasshouse.mitigation.anatomy import Anatomy, anatomise
from glasshouse.mitigation.attained import Attained, attained
from glasshouse.mitigation.criteria import (
    AverageRisk,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    HighestRisk,
    InferenceRisk,
    KAnonymity,
    OrderedCloseness,
    RecursiveDiversity,
)
from glasshouse.mitigation.hierarchies import Hierarchy, read_hierarchy, suggest
from glasshouse.mitigation.quality import Quality, Recoding, quality
from glasshouse.mitigation.recoding import recode
from glasshouse.mitigation.utility import Utility, compare_utility

__all__ = [
    "Anatomy",
    "Attained",
    "AverageRisk",
    "DistinctDiversity",
    "EntropyDiversity",
    "EqualCloseness",
    "HierarchicalCloseness",
    "Hierarchy",
    "HighestRisk",
    "InferenceRisk",
    "KAnonymity",
    "OrderedCloseness",
    "Quality",
    "Recoding",
    "RecursiveDiversity",
    "Utility",
    "anatomise",
    "attained",
    "compare_utility",
    "quality",
    "read_hierarchy",
    "recode",
    "suggest",
]
