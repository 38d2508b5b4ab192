"""Averages are over people, not over different rows; what is asked about one person is as precise as was asked for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.groups.enumeration import enumerated_fractions
from glasshouse.groups.estimates import Stop
from glasshouse.groups.outcome import threat
from glasshouse.groups.readers import from_group_column
from glasshouse.groups.release import Release
from glasshouse.groups.sampler import SamplingBudget, sample
from glasshouse.groups.victims import joined, victims_of_rows
from glasshouse.table import read
from tests.examples import examples


def grouped(ages: str, ills: str, groups: str) -> Release:
    """A vertical release; a letter is a value."""
    table = pa.table({"age": list(ages), "ill": list(ills), "group": list(groups)})
    own = read(table, quasi_identifiers=["age"], sensitive=["ill"], also=["group"])
    return from_group_column(own, group="group")


def test_who_is_like_many_others_counts_as_often_as_there_are() -> None:
    """Six people of 20 with two illnesses, one of 30: (6 · ½ + 1) / 7."""
    release = grouped("2222223", "fHfHfHc", "1122334")
    knowledge = threat(release).knowledge
    assert len(knowledge.victims) == 2
    assert knowledge.mean_highest("attacker") == pytest.approx(float(Fraction(4, 7)))
    assert knowledge.mean_highest("random_worlds") == pytest.approx(float(Fraction(4, 7)))


PEOPLE = st.lists(st.tuples(st.sampled_from("234"), st.sampled_from("fHc")), min_size=2, max_size=6)


@given(PEOPLE)
@settings(max_examples=examples(30), deadline=None)
def test_the_average_is_that_of_the_records_one_by_one(people: list[tuple[str, str]]) -> None:
    ages, ills = ("".join(own) for own in zip(*people, strict=True))
    release = grouped(ages, ills, "".join(str(place // 2) for place in range(len(people))))
    knowledge = threat(release).knowledge
    exact = enumerated_fractions(release, knowledge.victims)
    by_age = {
        release.attributes[0].values[int(code)]: place
        for place, code in enumerate(knowledge.victims.codes[:, 0])
    }
    for name, rows in (("attacker", exact.attacker), ("learner", exact.learner)):
        whole = sum(max(rows[by_age[age]]) for age in ages) / len(ages)
        assert knowledge.mean_highest(name) == pytest.approx(float(whole), abs=1e-12)


def large(copies: int = 10) -> Release:
    """Too many tables to be visited, and most people alike."""
    return grouped("2" * 5 * copies + "345" * copies, "fHcfH" * copies + "fHc" * copies,
                   "".join(chr(200 + place // 4) for place in range(8 * copies)))  # fmt: skip


EFFORT = SamplingBudget(sweeps=400, every=1, burn_in=20, precision=1e-9, seed=2, threads=1)


def test_a_sampled_average_is_over_people_too() -> None:
    release = large()
    found = threat(release, budget=EFFORT)
    assert found.sampled is not None
    for name in ("attacker", "learner"):
        own = getattr(found.knowledge, name)
        people = found.knowledge.victims.people
        assert people is not None
        by_hand = float((own.highest * people).sum() / people.sum())
        told = found.sampled.aggregate(f"{name}_success")
        assert told.value == pytest.approx(by_hand, abs=1e-12)
        assert found.knowledge.mean_highest(name) == pytest.approx(by_hand, abs=1e-12)
        assert by_hand != pytest.approx(float(own.highest.mean()), abs=1e-3), "as rows would be"
        place = found.sampled.trace_names.index(f"{name}_success")
        draws = found.sampled.traces[:, :, place].mean()
        assert draws == pytest.approx(by_hand, abs=0.15), "the trace is of the same figure"


def test_points_of_the_population_are_nobody_in_the_table() -> None:
    release = large()
    victims = joined(victims_of_rows(release), np.zeros((3, 1), np.int32))
    assert victims.people is not None
    assert victims.people.sum() == release.records
    with_points = sample(release, victims, budget=EFFORT, learner_mean=False)
    without = sample(release, victims_of_rows(release), budget=EFFORT, learner_mean=False)
    for name in ("attacker_success", "learner_success"):
        assert with_points.aggregate(name).value == pytest.approx(without.aggregate(name).value)


def crossing() -> Release:
    """Labels that cross, in more rows than can be enumerated."""
    from glasshouse.groups.release_json import from_json

    sets = [["x", "y"], ["y", "z"], ["z", "x"]]
    groups: list[dict[str, Any]] = [
        {"sensitive": ["a", "b"], "generalised": [sets[place % 3]]} for place in range(12)
    ]
    return from_json({"attributes": [{"name": "r"}], "sensitive": {"name": "s"}, "groups": groups})


@pytest.mark.parametrize("learner_mean", [False, True])
def test_what_is_believed_of_one_victim_is_as_precise_as_was_asked(learner_mean: bool) -> None:
    asked = replace(EFFORT, precision=0.004, sweeps=40_000, every=1)
    found = threat(crossing(), people=[{"r": "x"}], learner_mean=learner_mean, budget=asked).sampled
    assert found is not None
    assert found.stopped is Stop.PRECISION
    for own in found.knowledge.beliefs().values():
        if own.errors is not None:
            assert own.errors.max() <= 0.004
    short = threat(
        crossing(),
        people=[{"r": "x"}],
        learner_mean=True,
        budget=replace(asked, precision=1e-5, sweeps=400),
    ).sampled
    assert short is not None
    assert short.stopped is Stop.SWEEPS
    assert any("was not reached" in warning for warning in short.warnings)


def test_warnings_name_figures_in_plain_words() -> None:
    found = threat(large(), budget=EFFORT).sampled
    assert found is not None
    apart = replace(
        found, aggregates=tuple(replace(own, rhat=1.4, geweke=1.0) for own in found.aggregates)
    )
    said = " ".join(apart.warnings)
    assert "mean greatest probability, attacker" in said
    assert "_success" not in said


def test_a_warning_when_single_chains_look_fine_and_together_do_not() -> None:
    found = threat(large(), budget=EFFORT).sampled
    assert found is not None

    def warned(rhat: float, geweke: float, weiss: float) -> bool:
        aggregates = tuple(
            replace(aggregate, rhat=rhat, geweke=geweke, weiss=weiss)
            for aggregate in found.aggregates
        )
        return any(
            "trust R-hat" in warning for warning in replace(found, aggregates=aggregates).warnings
        )

    assert warned(rhat=1.4, geweke=1.1, weiss=0.2)
    assert warned(rhat=1.4, geweke=1.1, weiss=float("nan"))
    assert not warned(rhat=1.004, geweke=0.3, weiss=0.4)
    assert not warned(rhat=1.4, geweke=3.0, weiss=0.4)
    assert not warned(rhat=1.4, geweke=0.3, weiss=0.001)
