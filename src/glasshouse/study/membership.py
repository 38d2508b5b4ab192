"""What is asked of ``membership``: releases, and the people who may be in them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.assess import WEIGHT
from glasshouse.study.question import Gain, refuse_second_role
from glasshouse.study.target import PeopleStudy


class MembershipStudy(PeopleStudy):
    """Who is in a release, or in which of several."""

    command: Literal["membership"] = "membership"
    """The command that answers it."""
    weight: str | None = WEIGHT

    @property
    def is_joined(self) -> bool:
        """Several releases are asked about one by one."""
        return False

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        adversary = self.adversary
        if adversary.prior_weight or adversary.gain != Gain() or adversary.sensitive:
            raise ContradictionError(
                "membership is a guess at who is there; leave out prior weights, gains and sensitive attributes"
            )
        self.refuse_treatment()
        if self.weight is not None and self.population is not None:
            raise ContradictionError(
                "a register counts the people whom survey weights estimate; leave out `weight`, or `population`"
            )
        if self.population is None and self.fraction is None and self.weight is None:
            raise ContradictionError(
                "membership needs the people that the release may be about: a register (`population`), a sampling "
                "fraction (`fraction`) or survey weights (`weight`)"
            )
        refuse_second_role(self.adversary, self.weight)
        return self

    def columns_without_role(self) -> tuple[str, ...]:
        """Return the columns that the study needs without their having a role."""
        return (*super().columns_without_role(), *filter(None, [self.weight]))
