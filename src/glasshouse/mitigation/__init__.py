"""What would protect a release: recoding, bucketisation, and what they cost in utility."""

from glasshouse.mitigation.anatomy import Anatomy, anatomise
from glasshouse.mitigation.anonymisation import Anonymisation, Attained, attained
from glasshouse.mitigation.comparison import (
    AssessedRuns,
    ComparedAttack,
    ComparedRelease,
    ComparedRun,
    Comparison,
    MeasuredRuns,
    compare_assessments,
    compare_figures,
    compare_release,
)
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
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import (
    Hierarchy,
    by_rule,
    date_parts,
    intervals,
    prefixes,
    read_hierarchy,
    rounding,
    suggest,
    suppression_only,
    top_bottom,
)
from glasshouse.mitigation.information_loss import Quality, Recoding, quality
from glasshouse.mitigation.local_recoding import mondrian, recode_locally
from glasshouse.mitigation.utility import Utility, compare_utility

__all__ = [
    "Anatomy",
    "Anonymisation",
    "AssessedRuns",
    "Attained",
    "AverageRisk",
    "ComparedAttack",
    "ComparedRelease",
    "ComparedRun",
    "Comparison",
    "DistinctDiversity",
    "EntropyDiversity",
    "EqualCloseness",
    "HierarchicalCloseness",
    "Hierarchy",
    "HighestRisk",
    "InferenceRisk",
    "KAnonymity",
    "MeasuredRuns",
    "OrderedCloseness",
    "Quality",
    "Recoding",
    "RecursiveDiversity",
    "Utility",
    "anatomise",
    "attained",
    "by_rule",
    "compare_assessments",
    "compare_figures",
    "compare_release",
    "compare_utility",
    "date_parts",
    "intervals",
    "mondrian",
    "prefixes",
    "quality",
    "read_hierarchy",
    "recode",
    "recode_locally",
    "rounding",
    "suggest",
    "suppression_only",
    "top_bottom",
]
