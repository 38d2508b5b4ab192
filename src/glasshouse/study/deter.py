"""What a publisher asks about the attacker's economics, as a frozen model of ``study.toml``."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, StrictFloat, StrictInt, model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.question import Dataset, Question

Amount = StrictFloat
"""Whether it makes sense is judged by `glasshouse.economics.Terms`, which names the option."""


class DeterStudy(Question):
    """On which terms she attacks; and, where there is a release, whom.

    The terms that are not given are those of the publication's case study; see `glasshouse.economics.Terms`.
    """

    command: Literal["deter"] = "deter"
    """The command that answers it."""
    prior: Amount | None = None
    """The probability that the target is in the register."""
    gain: Amount | None = None
    """What a re-identification is worth to her."""
    penalty: Amount | None = None
    """What she pays when an exploit is detected."""
    access_cost: Amount | None = None
    """What access to the register costs."""
    link_cost: Amount | None = None
    """What linking the record to the register costs."""
    exploit_cost: Amount | None = None
    """What it costs to try one person."""
    detection: tuple[Amount, Amount] | None = None
    """(h0, h1): the exploit after j others is detected with probability 1 / (1 + exp(−h0 − h1·j))."""
    penalties: StrictInt | Literal["unlimited"] = "unlimited"
    """How many penalties she pays at most."""
    discount: Amount | None = None
    """What a step later is worth beside now."""
    sizes: tuple[StrictInt, StrictInt] | None = None
    """The smallest and the largest group that is asked about; unset: 1 to 100, or to the size of the register."""
    belief: StrictInt | None = None
    """The number of people in the register, where she does not know the size of a group."""
    target: StrictFloat = 0.0
    """The risk that a deterrent is to reach."""
    protect: StrictInt = 1
    """The size of the group that is to be protected by a deterrent."""
    release: Dataset | None = None
    """The de-identified records."""
    people: Dataset | None = None
    """The register: the people that they are linked with."""
    quasi_identifiers: tuple[str, ...] = ()
    """The columns by which they are linked."""
    population: Dataset | None = None
    """Everybody: how frequent people like a record are, for an adversary who does not know the register."""
    loss: Amount | None = None
    """What a re-identified record costs the publisher."""
    loss_by: dict[str, dict[str, Amount]] = Field(default_factory=dict)
    """Of one column, what a re-identified record with each value costs the publisher."""
    currency: str | None = None
    """What money is counted in."""

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        low, high = self.sizes or (1, 1)
        if not 1 <= low <= high:
            raise ContradictionError(
                "`sizes` {sizes} is no range of group sizes; give the smallest, from 1 on, and the largest",
                sizes=f"{low}:{high}",
            )
        if self.belief is not None and self.belief < 1:
            raise ContradictionError(
                "`belief` is {given}; it is the number of people in the register, from 1 on",
                given=str(self.belief),
            )
        if not 0 <= self.target <= 1:
            raise ContradictionError(
                "`target` is {given}; it is a risk, give a number from 0 to 1",
                given=f"{self.target:g}",
            )
        if self.protect < 1:
            raise ContradictionError(
                "`protect` is {given}; a group has at least one person", given=str(self.protect)
            )
        for option, amounts in (
            ("`loss`", [] if self.loss is None else [self.loss]),
            ("`loss_by`", [loss for losses in self.loss_by.values() for loss in losses.values()]),
        ):
            for amount in amounts:
                if not 0 <= amount < math.inf:
                    raise ContradictionError(
                        "{option} is {given}; give an amount from 0 on",
                        option=option,
                        given=f"{amount:g}",
                    )
        linked = self.people is not None or self.population is not None
        if self.release is None and (linked or self.quasi_identifiers):
            raise ContradictionError(
                "a register and quasi-identifiers need a release; give `release` FILE"
            )
        if self.release is not None and not self.quasi_identifiers:
            raise ContradictionError(
                "say by which columns the release is linked: `quasi_identifiers` COLUMN, once or more"
            )
        if self.release is not None and self.people is None and self.population is None:
            raise ContradictionError(
                "a release needs the people it is linked with: `register` FILE"
            )
        if self.release is not None and self.people is None and self.belief is None:
            raise ContradictionError(
                "without a register, say how many people of the population it holds: `belief` N"
            )
        if self.release is None and (self.loss is not None or self.loss_by):
            raise ContradictionError(
                "what a record costs the publisher needs a release; give `release` FILE"
            )
        if len(self.loss_by) > 1:
            raise ContradictionError(
                "losses go by the values of one column (`loss_by`), not of several"
            )
        return self

    def abridged(self) -> Self:
        """Return the study without the values that losses go by."""
        return self.model_copy(update={"loss_by": {column: {} for column in self.loss_by}})
