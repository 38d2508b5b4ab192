"""What is asked of ``target``: a release, and what is known of one person in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Self

from pydantic import model_validator

from glasshouse.conditions import facts_of, without_values
from glasshouse.errors import ContradictionError
from glasshouse.study.assess import PERSON, columns_of_people, refuse_beside_person
from glasshouse.study.entry import ADVERSARY, entry
from glasshouse.study.question import (
    FRACTION,
    POPULATION,
    Dataset,
    DatedCondition,
    Probability,
    ReleaseStudy,
)


class PeopleStudy(ReleaseStudy):
    """A question about people who may or may not be in a release."""

    population: Dataset | None = POPULATION
    fraction: Probability | None = FRACTION
    known: tuple[DatedCondition, ...] = entry(
        "What is known about one person: COL=A, COL=A,B (one of them), COL=LOW..HIGH.",
        "COL=VALUE",
        panel=ADVERSARY,
        python='{"age": 41}; ["age=40..45"]',
        default=(),
    )
    """Several facts may stand in one, with commas between."""

    @property
    def files(self) -> tuple[Dataset, ...]:
        """All the data that it is about: the releases and the register."""
        return (*self.datasets, *filter(None, [self.population]))

    @model_validator(mode="after")
    def _known_dates_are_iso(self) -> Self:
        known = self.known_as(self.iso_conditions)
        return self if known == self.known else self.model_copy(update={"known": known})

    @model_validator(mode="after")
    def _population_is_one(self) -> Self:
        if self.adversary.prior:
            raise ContradictionError("a prior is for assess; leave it out")
        if self.adversary.facts:
            raise ContradictionError(
                "facts are for assess; name their columns as quasi-identifiers"
            )
        if self.population is not None and self.fraction is not None:
            raise ContradictionError("give a population register or a sampling fraction, not both")
        if self.fraction == 0:
            raise ContradictionError("a sampling fraction is above 0 and at most 1")
        return self

    def known_as(self, said: Callable[[tuple[str, ...]], tuple[str, ...]]) -> tuple[str, ...]:
        """Return what is known, fact by fact, with its conditions said in another way."""
        return said(tuple(fact for facts in self.known for fact in facts_of(facts)))

    def refuse_treatment(self) -> None:
        """Make sure that nobody is left out who would then be taken for absent.

        Raises:
            ValueError: Somebody is.
        """
        if self.treatment.invalid or self.treatment.drop_missing:
            raise ContradictionError(
                "records left out as invalid or missing would be taken for people who are not there; leave out "
                "invalid and drop_missing where membership is asked"
            )

    def abridged(self) -> Self:
        """Return the study without values, those that are known of a person among them."""
        return super().abridged().model_copy(update={"known": self.known_as(without_values)})


class TargetStudy(PeopleStudy):
    """What is learned of one person, of whom some things are known."""

    command: Literal["target"] = "target"
    """The command that answers it."""
    known: tuple[DatedCondition, ...] = entry(
        "What is known about the person: COL=A, COL=A,B (one of them), COL=LOW..HIGH; of several files "
        "COL@FILE=A, or @FILE=absent. With `person` each describes one of their records: COL=A,COL=B.",
        "COL=VALUE",
        panel=ADVERSARY,
        python='{"age": 41}; ["age=40..45"]; [{"place": "A", "day": 3}, {"place": "B"}]',
        default=(),
    )
    person: tuple[str, ...] = PERSON

    def known_as(self, said: Callable[[tuple[str, ...]], tuple[str, ...]]) -> tuple[str, ...]:
        """Return what is known with its conditions said in another way, record by record where there are several."""
        if not self.person:
            return super().known_as(said)
        return tuple(",".join(said(facts_of(record))) for record in self.known)

    def columns_without_role(self) -> tuple[str, ...]:
        """Return the columns that the study needs without their having a role."""
        return columns_of_people(self, super().columns_without_role())

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        if self.is_joined and self.adversary.identifier is None and not self.person:
            raise ContradictionError(
                "several datasets need a column that identifies a person (`id`)"
            )
        if self.population is not None:
            self.refuse_treatment()
        if not self.known:
            raise ContradictionError(
                "say what is known about the person: `known` COLUMN=VALUE, once or more"
            )
        if self.person:
            refuse_beside_person(self, population=self.population, fraction=self.fraction)
        return self
