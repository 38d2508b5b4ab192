"""Quantitative information flow: what an observation lets an adversary learn about a secret.

`Prior`, `Channel` and `Hyper` say what she knows before, what she sees, and what she knows after;
`GainFunction` what she wants; the measures how well she does; the capacities how well she could do
at most; refinement which of two channels is safer; `noise` has the noises that counts and values are
published with. See docs/mathematics.md.
"""

from glasshouse.qif.arithmetic import Number
from glasshouse.qif.capacity import (
    Capacity,
    ShannonCapacity,
    additive_bayes_capacity,
    additive_bayes_capacity_bound,
    additive_capacity,
    bayes_risk_capacity,
    multiplicative_bayes_capacity,
    predicate_capacity,
    predicate_risk_capacity,
    shannon_capacity,
    spanning_additive_capacity,
)
from glasshouse.qif.channel import Channel
from glasshouse.qif.cooccurrence import CoOccurrence
from glasshouse.qif.d_privacy import (
    is_private,
    row_distances,
    smallest_epsilon,
    smallest_epsilon_of,
)
from glasshouse.qif.estimation import PriorEstimate, estimate_prior
from glasshouse.qif.gain import GainFunction
from glasshouse.qif.hyper import Hyper
from glasshouse.qif.joint import Joint
from glasshouse.qif.measures import (
    BayesRisk,
    BayesVulnerability,
    Certainty,
    DecisionMeasure,
    GuessingEntropy,
    GVulnerability,
    LRisk,
    Measure,
    PredicateRisk,
    PredicateVulnerability,
    ShannonEntropy,
    Tries,
)
from glasshouse.qif.noise import (
    belief_range,
    clamped,
    composition,
    discrete_gaussian,
    gaussian,
    geometric,
    histogram,
    membership,
    perturbation_table,
    randomised_response,
    rounding,
    swapping,
)
from glasshouse.qif.prior import Prior
from glasshouse.qif.refinement import (
    LeakageGap,
    Refinement,
    leakage_gap,
    left_factor,
    max_refined_by,
    privacy_refined_by,
    refined_by,
)

__all__ = [
    "BayesRisk",
    "BayesVulnerability",
    "Capacity",
    "Certainty",
    "Channel",
    "CoOccurrence",
    "DecisionMeasure",
    "GVulnerability",
    "GainFunction",
    "GuessingEntropy",
    "Hyper",
    "Joint",
    "LRisk",
    "LeakageGap",
    "Measure",
    "Number",
    "PredicateRisk",
    "PredicateVulnerability",
    "Prior",
    "PriorEstimate",
    "Refinement",
    "ShannonCapacity",
    "ShannonEntropy",
    "Tries",
    "additive_bayes_capacity",
    "additive_bayes_capacity_bound",
    "additive_capacity",
    "bayes_risk_capacity",
    "belief_range",
    "clamped",
    "composition",
    "discrete_gaussian",
    "estimate_prior",
    "gaussian",
    "geometric",
    "histogram",
    "is_private",
    "leakage_gap",
    "left_factor",
    "max_refined_by",
    "membership",
    "multiplicative_bayes_capacity",
    "perturbation_table",
    "predicate_capacity",
    "predicate_risk_capacity",
    "privacy_refined_by",
    "randomised_response",
    "refined_by",
    "rounding",
    "row_distances",
    "shannon_capacity",
    "smallest_epsilon",
    "smallest_epsilon_of",
    "spanning_additive_capacity",
    "swapping",
]
