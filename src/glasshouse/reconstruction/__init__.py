"""Published totals: who is behind each transaction, from microdata and totals that were published apart."""

from glasshouse.reconstruction.campaign_result import (
    CampaignResult,
    PhaseResult,
    campaign,
    campaign_part,
    load_plan,
    merge,
)
from glasshouse.reconstruction.chances import (
    BinRegister,
    ExposurePhase,
    SolutionExposure,
    exposure,
    register_of,
)
from glasshouse.reconstruction.division import CampaignPart, PartResult
from glasshouse.reconstruction.group_instance import (
    Instance,
    Solution,
    from_dict,
    from_json,
    instance,
)
from glasshouse.reconstruction.knowledge import BinExposed
from glasshouse.reconstruction.solver import solve

__all__ = [
    "BinExposed",
    "BinRegister",
    "CampaignPart",
    "CampaignResult",
    "ExposurePhase",
    "Instance",
    "PartResult",
    "PhaseResult",
    "Solution",
    "SolutionExposure",
    "campaign",
    "campaign_part",
    "exposure",
    "from_dict",
    "from_json",
    "instance",
    "load_plan",
    "merge",
    "register_of",
    "solve",
]
