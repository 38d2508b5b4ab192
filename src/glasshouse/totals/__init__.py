"""Published totals: who is behind each transaction, from microdata and totals that were published apart."""

from glasshouse.totals.campaigns import CampaignResult, PhaseResult, campaign, load_plan
from glasshouse.totals.exposure import Exposure, Phase, Register, exposure
from glasshouse.totals.instance import Instance, from_dict, from_json, instance
from glasshouse.totals.solution import Solution
from glasshouse.totals.solver import solve

__all__ = [
    "CampaignResult",
    "Exposure",
    "Instance",
    "Phase",
    "PhaseResult",
    "Register",
    "Solution",
    "campaign",
    "exposure",
    "from_dict",
    "from_json",
    "instance",
    "load_plan",
    "solve",
]
