"""What is asked of ``compare``: which releases or runs are put side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.question import ContradictionError, Probability, Question


class CompareStudy(Question):
    """Runs of the same command side by side; or one file, protected in several ways."""

    command: Literal["compare"] = "compare"
    """The command that answers it."""
    runs: tuple[Path, ...] = ()
    """The folders of the runs, in the order in which they are compared."""
    protections: dict[str, AnonymiseStudy] = Field(default_factory=dict)
    """Instead of runs: how one file is protected, by what each release is called."""
    fraction: Probability | None = None
    """The share of the population that is in the data, where population uniqueness is to be estimated."""
    predict: str | None = None
    """A column that a classifier is to predict from each release."""

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if bool(self.runs) == bool(self.protections):
            raise ContradictionError(
                "name one file to protect in several ways, or only folders of runs"
            )
        return self
