"""The outcome of ``deter``: what a rational adversary does, and how much of each deterrent would stop her."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.economics.deterrents import Deterrent, Sensitivity, least, least_size, sensitivity
from glasshouse.economics.optimal_plan import Policy
from glasshouse.economics.release_risk import ReleaseExposure
from glasshouse.economics.terms import Terms
from glasshouse.errors import BudgetError

LEVERS = ("penalty", "access_cost", "exploit_cost", "detection")
"""The deterrents that a publisher or a legislator can raise."""
VARIED = (*LEVERS, "gain", "prior", "link_cost", "discount")
"""What the thresholds are drawn against."""
POINTS = 40
"""How many values of each."""


@dataclass(frozen=True)
class Deterrence:
    """Whether she would attack, how far, and what deters her."""

    policy: Policy
    """Her optimal plan for groups of each size."""
    deterrents: tuple[Deterrent, ...]
    """How much of each deterrent is enough for the group that is to be protected."""
    size: Deterrent
    """How large a group must be."""
    exposure: ReleaseExposure | None = None
    """The risk of every record of the release, where there is one."""
    counts_losses: bool = False
    """Whether it is said what a re-identified record costs the publisher."""
    prior_is_given: bool = True
    """Whether the prior was given, or follows from the data; else it is the publication's."""

    @property
    def records(self) -> int:
        """The number of records of the release; 0 where there is none."""
        return 0 if self.exposure is None else self.exposure.groups.records

    @cached_property
    def curves(self) -> list[Sensitivity]:
        """The thresholds against each parameter, computed once."""
        curves = [threshold_curve(self.policy.terms, name) for name in VARIED]
        return [curve for curve in curves if curve is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values; thresholds are those of the known group."""
        return {
            "terms": self.policy.terms.to_dict(),
            "belief": self.policy.belief,
            **self.policy.to_dict(),
            "deterrents": [enough.to_dict() for enough in (*self.deterrents, self.size)],
            **({} if self.exposure is None else {"exposure": self.exposure.to_dict()}),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per size of the group: of the release, where there is one."""
        return self.policy.to_frame() if self.exposure is None else self.exposure.to_frame()


def deterrence(
    policy: Policy,
    *,
    protect: int = 1,
    target: float = 0.0,
    exposure: ReleaseExposure | None = None,
) -> Deterrence:
    """Return the deterrents that would stop the adversary of a policy.

    Args:
        policy: Her optimal plan.
        protect: The size of the group that is to be protected.
        target: The risk that is to be reached, from 0.
        exposure: What a release risks on the same terms.

    Raises:
        StudyError: The size or the target makes no sense.
        BudgetError: Too many sizes would have to be looked at.
    """
    terms, belief = policy.terms, policy.belief
    enough = tuple(
        least(terms, name, size=protect, target=target, belief=belief) for name in LEVERS
    )
    return Deterrence(policy, enough, least_size(terms, target=target, belief=belief), exposure)


def threshold_curve(terms: Terms, parameter: str) -> Sensitivity | None:
    """Return the thresholds against one parameter, from a hundredth to a hundred times what it is.

    None: at some value too many sizes would have to be looked at.
    """
    if parameter == "discount":
        values = np.linspace(0.5, 1.0, POINTS)
    elif parameter == "prior":
        values = np.linspace(0.05, 1.0, POINTS)
    elif parameter == "detection":
        values = np.geomspace(1e-4, 0.9, POINTS)
    else:
        middle = float(getattr(terms, parameter)) or 100.0
        values = np.geomspace(middle / 100, middle * 100, POINTS)
    try:
        return sensitivity(terms, parameter, values.tolist())
    except BudgetError:
        return None
