"""The part that all studies of records have in common: the files of the release, the adversary, who belongs to it."""

from __future__ import annotations

from typing import Self

from pydantic import Field, StrictInt

from glasshouse.study.adversaries import Adversary
from glasshouse.study.base import Question
from glasshouse.study.conditions import parse_condition
from glasshouse.study.datasets import Dataset, Treatment


class ReleaseStudy(Question):
    """One question about the records of a release, or of a collection of them."""

    datasets: tuple[Dataset, ...] = Field(min_length=1)
    """The files of the release; of several, the first is the focal one."""
    adversary: Adversary
    """Whom the release is assessed against."""
    treatment: Treatment = Treatment()
    """Which records belong to the study."""
    seed: StrictInt = Field(default=0, ge=0, lt=1 << 63)
    """For the choice of one record per person, where somebody has several in a dataset; and for what is random in a
    protected release: keep it as secret as the data."""

    @property
    def is_joined(self) -> bool:
        """Whether the datasets are joined, so that the others tell more about the people of the focal one."""
        return len(self.datasets) > 1

    def columns_without_role(self) -> tuple[str, ...]:
        """Return the columns that the study needs without their having a role."""
        conditions = (*self.treatment.where, *self.treatment.invalid)
        columns = [parse_condition(written).column for written in conditions]
        if self.adversary.gain.record_worth is not None:
            columns.append(self.adversary.gain.record_worth)
        return tuple(dict.fromkeys(columns))

    def abridged(self) -> Self:
        """Return the study without values: what naming one is worth, a prior, who is left out."""
        gain = self.adversary.gain.model_copy(update={"worth": {}})
        adversary = self.adversary.model_copy(update={"gain": gain, "prior": {}})
        return self.model_copy(
            update={"adversary": adversary, "treatment": self.treatment.abridged()}
        )
