"""What a publisher asks about the attacker's economics, as a frozen model of ``study.toml``."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal, Self

from pydantic import StrictFloat, StrictInt, model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.entry import PEOPLE, TERMS, entry
from glasshouse.study.question import CURRENCY, QUASI_IDENTIFIERS, Dataset, Question

Amount = StrictFloat
"""Whether it makes sense is judged by `glasshouse.economics.Terms`, which names the option."""


_term, _people = partial(entry, panel=TERMS), partial(entry, panel=PEOPLE)


class DeterStudy(Question):
    """On which terms she attacks; and, where there is a release, whom.

    The terms that are not given are those of the publication's case study; see `glasshouse.economics.Terms`.
    """

    command: Literal["deter"] = "deter"
    """The command that answers it."""
    prior: Amount | None = _term(
        "The probability that the target is in the register.", "X", unless="0.63"
    )
    gain: Amount | None = _term(
        "What a re-identification is worth to her.",
        "X",
        unless="8000",
        label="What naming a person is worth to her",
    )
    penalty: Amount | None = _term(
        "What she pays when she is detected.",
        "X",
        unless="10000",
        label="Penalty when she is detected",
    )
    access_cost: Amount | None = _term(
        "What access to the register costs.", "X", unless="100", label="Price of access to the data"
    )
    link_cost: Amount | None = _term("What linking a record costs.", "X", unless="0")
    exploit_cost: Amount | None = _term(
        "What it costs to try one person.", "X", unless="10", label="Cost of trying one person"
    )
    detection: tuple[Amount, Amount] | None = _term(
        "The try after j others is detected with probability 1/(1+exp(-H0-H1*j)).",
        "H0 H1",
        unless="-4.59 0, that is 1%",
        label="Chance that a try is detected, in per cent",
    )
    penalties: StrictInt | Literal["unlimited"] = _term(
        "How many penalties she pays at most.", "N|unlimited", default="unlimited"
    )
    discount: Amount | None = _term("What a step later is worth beside now.", "X", unless="0.9")
    sizes: tuple[StrictInt, StrictInt] | None = _people(
        "The sizes of groups to show.", "A:B", unless="1:100, or to `belief`"
    )
    """The smallest and the largest."""
    belief: StrictInt | None = _people(
        "She does not know the size of a group, only that the register holds N people.", "N"
    )
    target: StrictFloat = _people("The risk that a deterrent is to reach.", "P", default=0.0)
    protect: StrictInt = _people(
        "The size of the group for which deterrents are designed.", "SIZE", default=1
    )
    release: Dataset | None = _people("The de-identified records: shows the risk of each.", "FILE")
    people: Dataset | None = _people("The people that they can be linked with.", "FILE")
    quasi_identifiers: tuple[str, ...] = QUASI_IDENTIFIERS
    """By these columns they are linked."""
    population: Dataset | None = _people(
        "Everybody, where she does not know the register; without `register`, `belief` says its size.",
        "FILE",
    )
    loss: Amount | None = _people("What a re-identified record costs the publisher.", "X")
    loss_by: dict[str, dict[str, Amount]] = _people(
        "The same by the value of a column; other values cost what `loss` says.",
        "COL:VALUE=X,…",
        default={},
    )
    currency: str | None = CURRENCY

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        low, high = self.sizes or (1, 1)
        if not 1 <= low <= high:
            raise ContradictionError(
                "`sizes` {sizes} is not a range of group sizes; give the smallest, from 1 on, and the largest",
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
