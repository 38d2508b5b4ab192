"""The attacker's economics: would she attack, how far, and what deters her.

>>> from glasshouse import economics
>>> terms = economics.Terms(penalties=1)
>>> economics.thresholds(terms).no_attack
48
>>> round(economics.least(terms, "penalty", size=20).least)
29636
"""

from glasshouse.economics.deterrence import (
    COSTS,
    DETERRENTS,
    Deterrent,
    Frontier,
    Sensitivity,
    frontier,
    least,
    least_size,
    sensitivity,
)
from glasshouse.economics.exposure import (
    Curve,
    Exposure,
    curve,
    exposure,
    least_for_release,
    losses_by_value,
)
from glasshouse.economics.joining import (
    Groups,
    groups_by_population,
    groups_by_share,
    groups_in_register,
)
from glasshouse.economics.policy import Baseline, Policy, Thresholds, one_shot, policy, thresholds
from glasshouse.economics.process import (
    Choice,
    Process,
    Solution,
    attack_process,
    by_linear_programme,
    by_value_iteration,
)
from glasshouse.economics.terms import PARAMETERS, SENSITIVITY, SETTINGS, Terms

__all__ = [
    "COSTS",
    "DETERRENTS",
    "PARAMETERS",
    "SENSITIVITY",
    "SETTINGS",
    "Baseline",
    "Choice",
    "Curve",
    "Deterrent",
    "Exposure",
    "Frontier",
    "Groups",
    "Policy",
    "Process",
    "Sensitivity",
    "Solution",
    "Terms",
    "Thresholds",
    "attack_process",
    "by_linear_programme",
    "by_value_iteration",
    "curve",
    "exposure",
    "frontier",
    "groups_by_population",
    "groups_by_share",
    "groups_in_register",
    "least",
    "least_for_release",
    "least_size",
    "losses_by_value",
    "one_shot",
    "policy",
    "sensitivity",
    "thresholds",
]
