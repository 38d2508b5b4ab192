"""The main figures of each command: what each is called, how it is written, and whether more of it is worse."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import partial
from typing import NamedTuple

from glasshouse.language import marked


class Unit(Enum):
    """What a figure is, and so how it is written."""

    CHANCE = "chance"
    COUNT = "count"
    EXPECTED = "expected"
    AMOUNT = "amount"
    SIZE = "size"
    """The size of a group from which on something holds; None: none up to a million, which is beyond all others."""


class FigureKind(NamedTuple):
    """What is known of a figure."""

    label: str
    """What it is called."""
    unit: Unit
    """How it is written."""
    risk: bool = True
    """Whether a higher one is worse for the people in the data; else it says nothing of the risk."""
    one_of: bool = False
    """Whether it tells how many candidates there are, being one of so many."""


_chance, _neutral = (
    partial(FigureKind, unit=Unit.CHANCE),
    partial(FigureKind, unit=Unit.CHANCE, risk=False),
)
_count, _number = (
    partial(FigureKind, unit=Unit.COUNT),
    partial(FigureKind, unit=Unit.COUNT, risk=False),
)
_size, _amount = partial(FigureKind, unit=Unit.SIZE), partial(FigureKind, unit=Unit.AMOUNT)
_expected = partial(FigureKind, unit=Unit.EXPECTED)
FIGURES: Mapping[str, Mapping[str, FigureKind]] = {
    "assess": {
        "naming": _chance(marked("{about}: correct identifications")),
        "inferring": _chance(marked("{about}: right guesses at the {secret}")),
        "pseudonym": _chance(
            marked("known records of a person: {about}; the pseudonym is certain")
        ),
        "guess": _chance(marked("known records: {about}; right guesses at the pseudonym")),
        "record": _chance(marked("known records: {about}; singled out without a pseudonym")),
        "secret": _chance(marked("known records: {about}; right guesses at “{secret}”")),
        "targets": _number(marked("known records: {about}; people who have that many, in tens")),
        "remembered": _chance(marked("remembered about its own people, at least")),
        "copied": _chance(
            marked("its own people whose whole record is in it beyond chance, at least")
        ),
        "whole_records": _neutral(marked("its own people whose whole record is in it")),
    },
    "target": {
        "candidates": _number(marked("records that can be the person’s")),
        "naming": _chance(
            marked("chance that a guess at the person’s record is right"), one_of=True
        ),
        "inferring": _chance(marked("chance that a guess at the person’s {about} is right")),
        "presence": _chance(marked("chance that the person is in the release")),
    },
    "membership": {
        "certain": _chance(marked("people for whom it is certain whether they are in")),
        "certainly_in": _count(marked("people who are certain to be in")),
        "guess": _chance(marked("right guesses at whether somebody is in")),
        "guess_before": _neutral(marked("right guesses without the release")),
        "delta_max": _chance(marked("highest chance of being in (δmax)")),
        "delta_min": _neutral(marked("lowest chance of being in (δmin)")),
        "journalist": _chance(marked("highest chance that a record is identified")),
        "journalist_average": _chance(marked("chance that a record is identified on average")),
        "marketer": _chance(marked("records identified correctly, as expected")),
        "uniques": _count(marked("records that are alone in the release")),
        "population_uniques": _chance(marked("people estimated to be alone in the population")),
        "candidates": _number(marked("people who can be this person")),
        "presence": _chance(marked("chance that the person is in the release")),
        "present": _chance(marked("chance that the person is in {about}")),
        "guess_at_one": _chance(marked("chance that a guess at whether the person is in is right")),
    },
    "deter": {
        "no_attack": _size(marked("size from which on she does not begin")),
        "no_exploit_after_access": _size(
            marked("size from which on she tries nobody although access is paid")
        ),
        "first_partial": _size(
            marked("size from which on she does not go on until everybody was tried")
        ),
        "baseline": _size(
            marked("size from which on the one-shot adversary of the literature does not begin")
        ),
        "highest_risk": _chance(
            marked("highest risk of re-identification of the sizes asked about")
        ),
        "enough": _size(marked("size from which on every group is large enough")),
        "worth_attacking": _count(marked("records worth attacking, sizes known")),
        "expected_known": _expected(marked("expected re-identifications, sizes known")),
        "expected_unknown": _expected(marked("expected re-identifications, sizes not known")),
        "loss_known": _amount(marked("expected loss, sizes known")),
        "loss_unknown": _amount(marked("expected loss, sizes not known")),
    },
    "threat": {
        "attacker": _chance(
            marked("correct guesses by someone who knows that the person is in the table")
        ),
        "learner": _neutral(marked("correct guesses by someone who only studies the population")),
        "baseline": _neutral(marked("right guesses by always saying the most frequent value")),
        "relative_global_threat": _chance(
            marked("records threatened beyond what the population reveals")
        ),
        "share_twice": _chance(
            marked("records of which the attacker is at least twice as sure as the learner")
        ),
    },
    "tables": {
        "certain": _number(marked("people whose whole record is certain")),
        "rare": _count(marked("people whose whole record is certain and rare")),
        "one_table": _count(marked("people whose whole record one table makes certain")),
        "possible": _number(marked("combinations that somebody can have")),
    },
    "totals": {
        "value": _amount(marked("value of all records"), risk=False),
        "instances": _number(marked("instances to be solved")),
        "solved": _number(marked("instances solved")),
        "linked": _count(marked("records whose place is certain")),
        "exposed": _count(marked("records whose owner is certain")),
        "exposed_value": _amount(marked("value of the records whose owner is certain")),
    },
}
"""The figures of each command that keeps such."""
