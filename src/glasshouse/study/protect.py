"""What is asked of ``protect``: which rule a release is to meet, and what may be done for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.anonymise import ReleaseFormat, Share, rule_or_path
from glasshouse.study.question import Model, ReleaseStudy


class Means(Model):
    """What may be done to meet a rule."""

    suppression: Share = 0.01
    """The largest share of records that a version may suppress; 0: none."""
    hierarchies: dict[str, Annotated[str | Path, BeforeValidator(rule_or_path)]] = Field(
        default_factory=dict
    )
    """Per column, the file of its generalisation hierarchy, or a rule; of other quasi-identifiers it is suggested."""
    importance: dict[str, Annotated[StrictFloat, Field(gt=0, le=1e6)]] = Field(default_factory=dict)
    """Per quasi-identifier, how much its loss weighs; 1 where nothing is said."""
    weight: str | None = None
    """The column of survey weights: how many people of the population each record stands for."""
    time_limit: StrictFloat | None = Field(default=None, gt=0)
    """After so many seconds the best versions found so far are taken."""
    keep: tuple[str, ...] = ()
    """Further columns that are released as they are."""
    keep_order: StrictBool = False
    """Whether the records stay in the order of the file, which may tell more than their values do."""
    drop_suppressed: StrictBool = True
    """Whether suppressed records are left out of the files; else they stay in them, as a class of their own, with
    nothing but ``*`` of what can be known."""
    format: ReleaseFormat = "same"
    """The kind of files that are written; ``same``: delimited text, written down as the data is."""


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
