"""What is asked of ``protect``: which rule a release is to meet, and what may be done for it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.anonymise import Means
from glasshouse.study.question import ReleaseStudy


class ProtectStudy(ReleaseStudy):
    """By which versions of one file a rule is met at the least cost."""

    command: Literal["protect"] = "protect"
    """The command that answers it."""
    means: Means = Means()
    """What may be done."""

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        if len(self.datasets) > 1:
            raise ContradictionError("one dataset is protected at a time; name one file")
        if self.adversary.prior or self.adversary.facts or self.adversary.prior_weight:
            raise ContradictionError(
                "priors, prior weights and facts are for assess; leave them out"
            )
        if any(len(columns) > 1 for columns in self.adversary.secrets):
            raise ContradictionError(
                "sensitive attributes are protected one by one; give `sensitive` for each, not several together"
            )
        return self

    def abridged(self) -> Self:
        """Return the study without its seed: whoever knows it can repeat the random choices of a release."""
        return super().abridged().model_copy(update={"seed": 0})
