"""The attacker's economics: would she attack, how far, and what deters her.

>>> from glasshouse import economics
>>> terms = economics.Terms(penalties=1)
>>> economics.thresholds(terms).no_attack
48
>>> round(economics.least(terms, "penalty", size=20).least)
29636
"""

from glasshouse.economics.deterrents import (
    Deterrent,
    Frontier,
    Sensitivity,
    frontier,
    least,
    least_size,
    sensitivity,
)
from glasshouse.economics.optimal_plan import (
    Baseline,
    Policy,
    Thresholds,
    one_shot,
    policy,
    thresholds,
)
from glasshouse.economics.outcome import Deterrence, deterrence
from glasshouse.economics.people_groups import (
    PeopleGroups,
    groups_by_population,
    groups_by_share,
    groups_in_register,
)
from glasshouse.economics.release_risk import (
    Curve,
    ReleaseExposure,
    curve,
    exposure,
    least_for_release,
    losses_by_value,
)
from glasshouse.economics.terms import Terms

__all__ = [
    "Baseline",
    "Curve",
    "Deterrence",
    "Deterrent",
    "Frontier",
    "PeopleGroups",
    "Policy",
    "ReleaseExposure",
    "Sensitivity",
    "Terms",
    "Thresholds",
    "curve",
    "deterrence",
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
