"""What is asked of ``membership``: releases, and the people who may be in them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.question import Gain
from glasshouse.study.target import PeopleStudy


class MembershipStudy(PeopleStudy):
    """Who is in a release, or in which of several."""

    command: Literal["membership"] = "membership"
    """The command that answers it."""

    @property
    def is_joined(self) -> bool:
        """Several releases are asked about one by one."""
        return False

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        adversary = self.adversary
        if adversary.weight or adversary.gain != Gain() or adversary.sensitive:
            raise ContradictionError(
                "membership is a guess at who is there; leave out weights, gains and sensitive attributes"
            )
        self.refuse_treatment()
        if self.population is None and self.fraction is None:
            raise ContradictionError(
                "membership needs the people that the release may be about: a register (`population`) or a "
                "sampling fraction (`fraction`)"
            )
        return self
