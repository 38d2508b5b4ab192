"""Who can be named where: entities with branches, bins without any, figures by bin, and what a phase hands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.reconstruction import CampaignResult, campaign
from glasshouse.reconstruction.chances import registered
from glasshouse.study.totals import TotalsStudy
from tests.examples import examples
from tests.reconstruction.plans import GOOD, GOOD_TOTALS, changed, register_rows, tiny_plan, write


def outcomes(
    values: Sequence[int], totals: Mapping[str, int], register: Mapping[str, set[str]]
) -> list[dict[str, Fraction]]:
    """Per record the posterior of every entity, by trying every allocation and every entity of its bins."""
    found: list[dict[str, Fraction]] = [{} for _ in values]
    for allocation in product(totals, repeat=len(values)):
        sums = dict.fromkeys(totals, 0)
        for bin_, value in zip(allocation, values, strict=True):
            sums[bin_] += value
        if sums != dict(totals):
            continue
        ways = prod(len(register[bin_]) for bin_ in allocation)
        for own, bin_ in zip(found, allocation, strict=True):
            for entity in register[bin_]:
                each = Fraction(ways, len(register[bin_]))
                own[entity] = own.get(entity, Fraction(0)) + each
    return [
        {entity: each / sum(own.values()) for entity, each in own.items()} if own else {}
        for own in found
    ]


@settings(max_examples=examples(40))
@given(
    truth=st.lists(st.tuples(st.integers(0, 6), st.sampled_from("abc")), min_size=1, max_size=6),
    register=st.fixed_dictionaries(
        {bin_: st.sets(st.sampled_from("uvwxyz"), min_size=1) for bin_ in "abc"}
    ),
)
def test_entities_with_branches_are_named_as_trying_everything_says(
    tmp_path_factory: pytest.TempPathFactory,
    truth: list[tuple[int, str]],
    register: dict[str, set[str]],
) -> None:
    totals: dict[str, int] = {}
    for value, bin_ in truth:
        totals[bin_] = totals.get(bin_, 0) + value
    plan = tiny_plan(
        tmp_path_factory.mktemp("branches"),
        [("g", str(value), "") for value, _ in truth],
        [("g", bin_, str(total)) for bin_, total in totals.items()],
    )
    register_rows(plan, [(e, b) for b in register for e in sorted(register[b])] + [("q", "far")])
    result = campaign(plan)
    assert not any(phase.unsolved for phase in result.phases)
    different = len({"q"}.union(*register.values()))
    assert result.entities == different
    assert result.exposure()[0].chance == pytest.approx(1 / different)
    expected = outcomes([value for value, _ in truth], totals, register)
    rows = result.packages_frame().to_pylist()
    for row, own in zip(rows, expected, strict=True):
        assert row["bayes"] == pytest.approx(float(max(own.values())))
        assert row["uniform"] == 1 / len(own)
        assert row["certain"] == (len(own) == 1)
        assert row["proved"]
    named = {next(iter(own)) for own in expected if len(own) == 1}
    assert set(result.entities_frame()["entity"].to_pylist()) == named
    for rule in ("bayes", "uniform"):
        check_sums(result, rule)
    check_places(result, [value for value, _ in truth], totals, register)


def check_places(
    result: CampaignResult,
    values: Sequence[int],
    totals: Mapping[str, int],
    register: Mapping[str, set[str]],
) -> None:
    """The figures of every bin are those by trying everything: a best guess counts where its chance comes from."""
    whole = outcomes(values, totals, register)
    records, at_risk = dict.fromkeys(register, Fraction(0)), dict.fromkeys(register, Fraction(0))
    for bin_ in register:
        # The entities of one bin only, each told apart from its branches elsewhere.
        here = {
            place: {f"{entity} here" if place == bin_ else entity for entity in entities}
            for place, entities in register.items()
        }
        apart = outcomes(values, totals, here)
        for value, chances, split in zip(values, whole, apart, strict=True):
            best = [entity for entity, chance in chances.items() if chance == max(chances.values())]
            for entity in best:
                chance = split.get(f"{entity} here", Fraction(0))
                records[bin_] += chance / chances[entity] / len(best)
                at_risk[bin_] += value * chance / len(best)
    rows = {row.bin: row for row in result.bins() if row.step == "only, solved"}
    for bin_, number in records.items():
        row = rows.get(bin_)
        assert (0.0 if row is None else row.records) == pytest.approx(float(number), abs=1e-9)
        assert (0.0 if row is None else row.value_at_risk) == pytest.approx(float(at_risk[bin_]))
        assert row is None or row.entities == len(register[bin_])


def check_sums(result: CampaignResult, rule: str) -> None:
    """The figures by bin add up to those of the step."""
    for step in result.exposure(rule)[1:]:
        bins = [row for row in result.bins(rule) if row.step == step.name]
        assert sum(row.records for row in bins) == pytest.approx(step.packages)
        assert sum(row.value_at_risk for row in bins) == pytest.approx(step.value_at_risk)
        assert sum(row.exposed for row in bins) == step.certain
        assert sum(row.exposed_value for row in bins) == pytest.approx(step.certain_value)
        assert sum(row.value for row in bins) == pytest.approx(result.value)
        mean = sum(row.records * row.chance for row in bins) / step.packages
        assert mean == pytest.approx(step.chance)


def test_a_register_whose_bins_add_up_to_more_than_it_has_fails_nothing(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, GOOD_TOTALS)
    register_rows(plan, [("x", "a"), ("y", "a"), ("x", "b"), ("y", "b")])
    result = campaign(plan)
    assert (result.entities, result.phases[0].unique, result.phases[0].unsolved) == (2, 1, 0)
    assert result.standing.bayes.tolist() == [1 / 2, 1 / 2]


def test_an_entity_that_has_all_feasible_bins_is_certain_although_the_bin_is_not(
    tmp_path: Path,
) -> None:
    plan = tiny_plan(tmp_path, [("g", "1", ""), ("g", "1", "")], [("g", "a", "1"), ("g", "b", "1")])
    register_rows(plan, [("x", "a"), ("x", "b"), ("y", "c")])
    result = campaign(plan)
    assert (result.phases[0].linked, result.phases[0].exposed) == (0, 2)
    (row,) = result.entities_frame().to_pylist()
    assert row == {"entity": "x", "records": 2, "value": 2.0}
    bins = {row.bin: row for row in result.bins() if row.step == "only, solved"}
    # The best guess is x; half of its chance comes from either branch.
    assert {name: row.records for name, row in bins.items()} == {"a": 1.0, "b": 1.0}
    assert [bins[name].factor for name in "ab"] == [2.0, 2.0]


def test_guesses_that_are_as_good_are_shared_by_the_entities_that_they_are_of() -> None:
    own = registered(np.array([0, 1, 1]), np.array([0, 1, 2]), bins=2, size=3)
    table = np.ones((1, 2), bool)
    bins = np.arange(2)
    assert own.guesses(table, bins, left_out=False, shares=np.array([1 / 3, 2 / 3])).tolist() == [
        pytest.approx([1 / 3, 2 / 3])
    ]
    assert own.guesses(table, bins, left_out=False, shares=np.array([0.5, 0.5])).tolist() == [
        [1.0, 0.0]
    ]
    # Left out with ½, in the first bin with ½: the guess is its entity, by ½ + ½ · ⅓.
    table = np.array([[True, False, True]])
    shares = np.array([0.5, 0.5])
    assert own.chances(table, bins, left_out=True, shares=shares).tolist() == [pytest.approx(2 / 3)]
    assert own.guesses(table, bins, left_out=True, shares=shares).tolist() == [
        pytest.approx([3 / 4, 0, 1 / 4])
    ]


# -- bins without entities ----------------------------------------------------------------------------------------


def test_a_bin_without_entities_sets_its_own_records_apart_and_not_its_group(
    tmp_path: Path,
) -> None:
    totals = [*GOOD_TOTALS, ("bare", "a", "1"), ("bare", "z", "2"), ("one", "z", "4")]
    records = [*GOOD, ("bare", "1.0", ""), ("bare", "2.0", ""), ("one", "4.0", "")]
    result = campaign(tiny_plan(tmp_path, records, totals))
    (trouble,) = result.troubles
    assert (trouble.kind, trouble.count, trouble.example) == (
        "groups with a bin without entities in the register",
        2,
        "bare: z",
    )
    (apart,) = result.phases[0].apart
    assert (apart.reason, apart.groups, apart.records, apart.value, apart.example) == (
        *("bin without entities", 2, 2, 6.0, "bare"),
    )
    assert result.phases[0].linked == 5
    rows = result.packages_frame().to_pylist()
    assert [row["bayes"] for row in rows] == [1 / 2, 1, 1 / 2, None, None]
    assert [row["uniform"] for row in rows] == [1 / 2, 1, 1 / 2, None, None]
    assert all(row["linked"] and row["proved"] for row in rows)
    assert [row["certain"] for row in rows] == [False, True, False, False, False]
    bins = {row.bin: row for row in result.bins() if row.step == "only, solved"}
    assert (bins["z"].entities, bins["z"].linked, bins["z"].value_at_risk) == (0, 2, 0.0)
    check_sums(result, "bayes")
    assert result.entities_frame()["entity"].to_pylist() == ["e2"]


def test_somebody_unknown_in_a_bin_without_entities_lowers_the_chance(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, [("g", "1", ""), ("g", "1", "")], [("g", "a", "1"), ("g", "z", "1")])
    result = campaign(plan)
    # In a (two entities) with probability ½, or in z.
    assert result.standing.bayes.tolist() == [1 / 4, 1 / 4]
    assert result.standing.uniform.tolist() == [1 / 3, 1 / 3]
    assert not result.standing.unregistered.any()


def test_without_a_register_chances_are_empty_and_what_is_proved_is_said(tmp_path: Path) -> None:
    plan = changed(tiny_plan(tmp_path, [*GOOD, ("x", "1", "")], GOOD_TOTALS), entities=None)
    result = campaign(plan)
    rows = result.packages_frame().to_pylist()
    assert [(row["uniform"], row["bayes"]) for row in rows] == [(None, None)] * 3
    assert [row["proved"] for row in rows] == [True, True, False]
    assert [row["linked"] for row in rows] == [True, True, False]
    assert result.bins() == ()
    assert result.to_dict()["bins"] == []
    with pytest.raises(StudyError, match="no register"):
        result.entities_frame()


# -- records left out ---------------------------------------------------------------------------------------------


def test_a_city_that_is_called_none_is_not_the_bin_of_records_left_out(tmp_path: Path) -> None:
    records = [("g", "1.0", ""), ("g", "2.0", ""), ("g", "4.0", "")]
    plan = tiny_plan(tmp_path, records, [("g", "NONE", "1"), ("g", "b", "4")], none_bin=True)
    register_rows(plan, [("x", "NONE"), ("y", "b"), ("z", "b")])
    result = campaign(plan)
    rows = result.packages_frame().to_pylist()
    assert [row["feasible_bins"] for row in rows] == [["NONE"], ["NONE (left out)"], ["b"]]
    assert [row["may_be_left_out"] for row in rows] == [False, True, False]
    assert [row["linked"] for row in rows] == [True, False, True]
    assert [row["certain"] for row in rows] == [True, False, False]
    bins = {row.bin: row for row in result.bins() if row.step == "only, solved"}
    assert bins["NONE"].entities == 1
    assert bins["NONE (left out)"].entities is None


def left_out_plan(folder: Path) -> TotalsStudy:
    """Two phases on the same totals, with fewer and with more measures."""
    write(
        folder / "records.csv",
        ["id", "group", "value", "weight"],
        [("r0", "g", "2", "1"), ("r1", "g", "2", "5"), ("r2", "g", "7", "3")],
    )
    write(
        folder / "totals.csv",
        ["group", "bin", "value", "weight"],
        [("g", "a", "2", "1"), ("g", "b", "7", "3")],
    )
    measures = {"value": "value", "weight": "weight"}
    phase = {"packages": "records", "bins": "totals", "bin": ["bin"], "keys": {"group": "group"}}
    return TotalsStudy.model_validate(
        {
            "publications": {
                name: {"path": folder / f"{name}.csv", "measures": measures}
                for name in ("records", "totals")
            },
            "measures": {"value": {}, "weight": {}},
            "rounding": "record",
            "phases": [
                {"name": "weight", **phase, "measures": ["weight"]},
                {
                    "name": "value",
                    **phase,
                    "measures": ["value"],
                    "narrowed_by": [{"phase": "weight", "on": ["bin"]}],
                },
            ],
        }
    )


def test_a_record_that_one_phase_proved_left_out_is_so_in_the_next(tmp_path: Path) -> None:
    plan = left_out_plan(tmp_path)
    alone = campaign(changed(plan, phases=[{**plan.phases[1].model_dump(), "narrowed_by": []}]))
    rows = alone.packages_frame().to_pylist()
    assert [row["feasible_bins"] for row in rows] == [["a", "NONE"], ["a", "NONE"], ["b"]]
    both = campaign(plan)
    rows = both.packages_frame().to_pylist()
    assert [row["feasible_bins"] for row in rows] == [["a"], ["NONE"], ["b"]]
    assert [row["may_be_left_out"] for row in rows] == [False, True, False]
    assert not any(each.reason for phase in both.phases for each in phase.apart)
