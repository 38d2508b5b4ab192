"""Xia et al. 2015 with a discount of 0.9: every size of every case, and what the publication itself prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasshouse.economics import (
    PeopleGroups,
    Terms,
    exposure,
    policy,
    sensitivity,
    thresholds,
)
from glasshouse.economics.optimal_plan import access_values
from tests.economics.drawing import SENSITIVITY, SETTINGS

CASES = (
    *("const_inf", "const_one", "inc_inf", "inc_one", "const_inf_g1"),
    *("sens_const_inf_Cp10000", "sens_const_inf_Cp50000"),
)
PARAMETERS = {"Cd": "access_cost", "Ce": "exploit_cost", "Cp": "penalty", "pdet": "detection"}


@pytest.fixture
def golden(shared: Callable[[str], Path]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shared("golden/economics.json").read_text())
    return found


def as_terms(given: dict[str, Any]) -> Terms:
    return Terms(
        prior=given["prior"],
        gain=given["G"],
        penalty=given["Cp"],
        access_cost=given["Cd"],
        link_cost=given["Cl"],
        exploit_cost=given["Ce"],
        detection=(given["h0"], given["h1"]),
        penalties=None if given["nf"] < 0 else given["nf"],
        discount=given["gamma"],
    )


def test_all_cases_are_looked_at(golden: dict[str, Any]) -> None:
    assert set(golden["cases"]) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_every_size_of_every_case_comes_out(name: str, golden: dict[str, Any]) -> None:
    case = golden["cases"][name]
    sizes = [int(size) for size in case["sizes"]]
    found = policy(as_terms(case["params"]), sizes)
    assert found.thresholds.to_dict() == {
        "no_attack": case["k_no_attack_known"],
        "no_exploit_after_access": case["k_no_exploit_after_access"],
        "first_partial": case["k_first_not_full_risk"],
        "baseline": case["k_baseline"],
    }
    floats = {
        "V_start": found.value_after_access,
        "V_x0_known": found.value,
        "P_reid_known": found.reidentification,
        "P_reid_after_access": found.reidentification_after_access,
    }
    for key, values in floats.items():
        expected = [float(each[key]) for each in case["sizes"].values()]
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    counts = {
        "exploits_undetected_path_known": found.exploits,
        "exploits_undetected_path_after_access": found.exploits_after_access,
    }
    for key, own in counts.items():
        assert own.tolist() == [each[key] for each in case["sizes"].values()]


def test_access_is_worth_as_much_to_who_does_not_know_the_size(golden: dict[str, Any]) -> None:
    terms = as_terms(golden["cases"]["const_one"]["params"])
    for mean, case in golden["unknown_group_one_penalty"].items():
        value, accesses = access_values(terms, case["n"], np.array([int(mean) / case["n"]]))
        assert value[0] == pytest.approx(float(case["V_access"]), rel=1e-9)
        assert accesses[0] == case["access"]


def test_not_knowing_the_size_raises_or_lowers_the_risk(golden: dict[str, Any]) -> None:
    """Findings 4 and 5."""
    terms = as_terms(golden["cases"]["const_one"]["params"])
    cases = golden["findings_4_5_one_penalty"].values()
    people = next(iter(cases))["n"]
    groups = PeopleGroups(
        "release",
        "register",
        ("age",),
        people,
        np.array([case["actual_size"] for case in cases]),
        np.array([case["belief_mean"] / people for case in cases]),
    )
    found = exposure(groups, terms)
    assert found.known.tolist() == pytest.approx([case["P_reid_known"] for case in cases], rel=1e-9)
    assert found.unknown.tolist() == pytest.approx(
        [case["P_reid_unknown"] for case in cases], rel=1e-9
    )
    names = list(golden["findings_4_5_one_penalty"])
    assert [names[i] for i in found.higher] == ["F5_higher"]
    assert [names[i] for i in found.lower] == ["F4_lower"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_thresholds_of_figure_10(name: str, golden: dict[str, Any]) -> None:
    expected = golden["figure10_threshold_gamma0.9"]["const_inf"][name]
    curve = sensitivity(SENSITIVITY, PARAMETERS[name], [float(value) for value in expected])
    assert [each.no_attack for each in curve.thresholds] == list(expected.values())


def test_the_thresholds_that_the_publication_prints() -> None:
    """Sections 7.2.1 and 7.2.2: 48 with one penalty; 14 and 29 where detection rises. 51 is 54 by its own model."""
    constant, one, rising = map(thresholds, SETTINGS.values())
    assert one.no_attack == 48
    assert (rising.first_partial, rising.no_attack) == (14, 29)
    assert one.no_exploit_after_access == 54
    assert constant.no_attack == constant.first_partial == 45
    assert {each.baseline for each in (constant, one, rising)} == {24}


def test_a_penalty_of_50000_leaves_groups_of_two_attacked() -> None:
    """Section 7.3 says that only groups of one are; the threshold of its own model is 3."""
    curve = sensitivity(SENSITIVITY, "penalty", [50_000.0])
    assert curve.thresholds[0].no_attack == 3
