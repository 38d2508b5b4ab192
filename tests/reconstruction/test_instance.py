"""Instances: scaling, rounding models, the bin of records left out, the JSON form, and every fault of the input."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from glasshouse.errors import DataError, StudyError
from glasshouse.reconstruction import Instance, from_dict, from_json, instance
from glasshouse.reconstruction.group_instance import Number
from tests.reconstruction.examples import plain_instance

THREE: list[list[Number]] = [["1.50", 2], ["2.25", 3], ["3.75", 4]]
TWO: list[list[Number]] = [[4, 5], [4, 4]]


def test_the_scale_is_that_of_the_decimals_found() -> None:
    made = instance(THREE, TWO)
    assert made.scale == (100, 1)
    assert made.packages.tolist() == [[150, 2], [225, 3], [375, 4]]


def test_texts_decimals_fractions_and_floats_are_the_same_numbers() -> None:
    for value in ("0.1", Decimal("0.1"), Fraction(1, 10), 0.1):
        assert instance([[value]], [[0]]).packages.tolist() == [[1]]


def test_a_sum_that_was_rounded_is_within_half_a_unit() -> None:
    made = instance(THREE, TWO, rounding="sum")
    assert made.low.tolist() == [[350, 5], [350, 4]]
    assert made.high.tolist() == [[450, 5], [450, 4]]
    assert made.halfwidth.tolist() == [0, 0]


def test_records_that_were_rounded_are_rounded_half_up_and_met_exactly() -> None:
    made = instance(THREE, TWO, rounding="record")
    assert made.packages[:, 0].tolist() == [200, 200, 400]
    assert (made.low == made.high).all()


def test_rounding_of_unknown_kind_widens_with_the_packages() -> None:
    made = instance(THREE, TWO, rounding="unknown")
    assert made.halfwidth.tolist() == [50, 0]
    assert made.allows([0, 0, 1])
    assert not instance([["1.5"], ["1.5"]], [[1], [4]], rounding="unknown").allows([0, 1])


def test_a_tolerance_that_is_given_is_what_every_package_widens_the_window_by() -> None:
    """By the documented window, |3 − 4| ≤ 0.75 · 3; cut to whole units per package nothing would be left."""
    made = instance([["1"], ["1"], ["1"]], [["4"]], rounding="unknown", tolerance="0.75")
    assert (made.scale, made.halfwidth.tolist()) == ((100,), [75])
    assert made.allows([0, 0, 0])
    assert not instance([[1]], [[2]], rounding="unknown", tolerance="0.75").allows([0])
    with pytest.raises(StudyError, match=r"a tolerance of 0.75 has more decimals"):
        instance([[1]], [[2]], rounding="unknown", tolerance="0.75", decimals=[1])


def test_a_publisher_who_rounds_halves_to_even_is_one_of_unknown_rounding() -> None:
    """0.5 became 0 in X: `record` rounds halves up and rules that out, `unknown` keeps the truth."""
    given: dict[str, Any] = {"packages": [["0.5"], ["7"], ["3"]], "totals": [["7"], ["3"]]}
    truth = [0, 0, 1]
    assert not instance(**given, rounding="record", none_bin=True).allows(truth)
    assert instance(**given, rounding="unknown", none_bin=True).allows(truth)


def test_an_empty_bin_has_the_slack_of_one_package() -> None:
    made = plain_instance(
        np.array([[4]]), np.array([[1], [4]]), np.array([[1], [4]]), np.array([1])
    )
    assert made.allows([1])
    assert not plain_instance(made.packages, made.low + 1, made.high + 1, made.halfwidth).allows(
        [1]
    )


@pytest.mark.parametrize(("unit", "width"), [(1, 50), ("0.1", 5), (10, 500)])
def test_the_window_follows_the_unit_of_the_totals(unit: Any, width: int) -> None:
    made = instance([["12.34"]], [[10]], unit=unit)
    assert (int(made.high[0, 0]) - 1000, 1000 - int(made.low[0, 0])) == (width, width)


def test_records_left_out_fill_what_the_totals_leave() -> None:
    made = instance([["1.50"], ["2.25"], ["3.75"]], [[4]], none_bin=True, entities=[7])
    assert made.bin_names == ("bin 1", "NONE")
    assert made.none_bin == 1
    assert made.entities == (7, None)
    assert (made.low[1].tolist(), made.high[1].tolist()) == ([750 - 450], [750 - 350])


def test_the_sums_tell_records_left_out_from_records_added() -> None:
    assert instance([[3], [4]], [[2], [5]]).balance == "met"
    assert instance([[3], [4]], [[2], [3]]).balance == "records left out"
    assert instance([[3], [4]], [[5], [6]]).balance == "records added"


def test_the_json_form_comes_back() -> None:
    made = instance(THREE, TWO, rounding="unknown", entities=[3, 1], name="group")
    back = from_json(json.dumps(made.to_dict()))
    assert back.to_dict() == made.to_dict()


def test_an_instance_as_a_table_of_scaled_values() -> None:
    frame = instance(THREE, TWO).to_frame()
    assert frame.num_rows == 10
    assert frame.to_pylist()[0] == {
        "kind": "package",
        "name": "package 1",
        "measure": "measure 1",
        "low": 150,
        "high": 150,
        "scale": 100,
    }
    assert frame.select(["kind", "name", "low", "high"]).to_pylist()[-1] == {
        "kind": "bin",
        "name": "bin 2",
        "low": 4,
        "high": 4,
    }


def test_only_packages_and_windows_are_needed() -> None:
    made = from_dict({"packages_scaled": [[1]], "bins_lo_scaled": [[1]], "bins_hi_scaled": [[1]]})
    assert (made.measures, made.bin_names, made.scale) == (("measure 1",), ("bin 1",), (1,))


def test_an_instance_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        instance(THREE, TWO).packages[0, 0] = 1


def windows(**changes: Any) -> dict[str, Any]:
    return {
        "packages_scaled": [[1], [2]],
        "bins_lo_scaled": [[1], [2]],
        "bins_hi_scaled": [[1], [2]],
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"packages_scaled": [[1], [-2]]}, 'package "package 2" has a negative "measure 1"'),
        ({"packages_scaled": [[1], [None]]}, "holds None; scaled measures are whole numbers"),
        ({"packages_scaled": [[1], [2.5]]}, "holds 2.5; scaled measures are whole numbers"),
        ({"packages_scaled": [[1], [True]]}, "holds True"),
        ({"packages_scaled": [[1], [2, 3]]}, "rows are lists of equal length"),
        ({"packages_scaled": [[1, 1], [2, 2]]}, "the bins have 1 measures, the packages 2"),
        ({"packages_scaled": []}, "is not a table of whole numbers"),
        ({"packages_scaled": "1"}, "is not a table of whole numbers"),
        ({"packages_scaled": [[2**61], [2**61]]}, "need more than 62 bits; keep fewer decimals"),
        ({"bins_hi_scaled": [[2**70], [2]]}, "needs more than 62 bits"),
        ({"bins_lo_scaled": [[5], [2]]}, 'the window of bin "bin 1" is empty'),
        ({"bins_hi_scaled": [[1]]}, "give every bin a low and a high end"),
        ({"bin_names": ["a", "a"]}, 'bin "a" is given twice'),
        ({"package_ids": ["a", "a"]}, 'package "a" is given twice; give each its own name'),
        ({"bin_names": ["a"]}, "give a list of that many names"),
        ({"bin_names": 5}, "give a list of that many names"),
        ({"bin_names": {"a": 1, "b": 2}}, "give a list of that many names"),
        ({"dims": 5}, "give a list of that many names"),
        ({"package_ids": 5}, "give a list of that many names"),
        ({"entities_per_bin": [1, 0]}, 'bin "bin 2" has no entities in the register'),
        ({"entities_per_bin": [1, None]}, 'bin "bin 2" has no entities in the register'),
        ({"entities_per_bin": [1]}, "but entities for 1 of them"),
        ({"per_package_halfwidth_scaled": [-1]}, "a half-width is negative"),
        ({"scale": [0]}, "a scale is below 1"),
        ({"entities_per_bin": 5}, 'entities_per_bin" is not a list'),
        ({"entities_per_bin": "12"}, 'entities_per_bin" is not a list'),
        ({"per_package_halfwidth_scaled": [1, 1]}, "the half-widths 2"),
    ],
)
def test_faults_of_the_json_form(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError) as caught:
        from_dict(windows(**changes))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_field_is_named() -> None:
    values = windows()
    del values["bins_lo_scaled"]
    with pytest.raises(DataError, match='field "bins_lo_scaled" is not in instance'):
        from_dict(values)


def test_an_instance_without_any_field_says_which_it_needs() -> None:
    with pytest.raises(DataError, match="is empty; it needs packages_scaled, bins_lo_scaled and"):
        from_dict({})


def test_fractions_are_not_cut_off() -> None:
    with pytest.raises(DataError, match="must be whole numbers"):
        plain_instance(np.array([[1.5]]), np.array([[1]]), np.array([[1]]))


@pytest.mark.parametrize("text", ["{", "[]", "3", '"x"', "[" * 100_000])
def test_what_is_no_instance_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        from_json(text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"packages": [[None]]}, 'packages, measure "measure 1": a value is missing'),
        ({"packages": [[""]]}, "a value is missing"),
        ({"packages": [["1,5"]]}, "'1,5', which is not a number; write 1.5, with a point"),
        ({"packages": [["1,5,"]]}, "'1,5,', which is not a number; give a number"),
        ({"decimals": ["x"]}, "keep from 0 to 12 decimals, not x"),
        ({"packages": [[float("nan")]]}, "which is not a number"),
        ({"packages": [[-1]]}, "negative"),
        ({"packages": [["0.123"]], "decimals": [2]}, "0.123 has more than 2 decimals"),
        ({"packages": [[1 / 3]]}, "more than 12 decimals"),
        ({"packages": []}, "at least one package and one bin"),
        ({"packages": [[1, 2]]}, "has 2 measures, not 1"),
        ({"decimals": [1, 2]}, "2 numbers of decimals"),
        ({"rounding": "sums"}, 'did you mean "sum"'),
        ({"rounding": "record", "tolerance": 1}, "need no tolerance"),
        ({"tolerance": -1}, "give it from 0"),
        ({"unit": 0}, "is positive"),
        ({"unit": [1, 1]}, "2 units"),
        ({"bin_names": ["NONE"], "none_bin": True}, 'a bin is named "NONE" already'),
        ({"bin_names": ["NONE"]}, "what the bin of records left out is called; rename it"),
    ],
)
def test_faults_of_decimals(arguments: dict[str, Any], words: str) -> None:
    given = {"packages": [[1]], "totals": [[1]], **arguments}
    with pytest.raises((DataError, StudyError)) as caught:
        instance(given.pop("packages"), given.pop("totals"), **given)
    assert words in str(caught.value)


def test_allocations_of_another_shape_are_not_allowed() -> None:
    made: Instance = instance(THREE, TWO)
    assert not made.allows([0, 0])
    assert not made.allows([0, 0, 2])
    assert not made.allows([0, 0, -1])


@pytest.mark.parametrize("rounding", ["sum", "record", "unknown"])
def test_a_unit_with_more_decimals_than_are_kept_is_refused(rounding: str) -> None:
    """Cut off, it would rule out true allocations: 9 and 11 both round to 10 if the unit is 2.5."""
    with pytest.raises(StudyError, match=r'"measure 1" are rounded to 2.5, which has more than 0'):
        instance([[9], [11], [4], [4]], [[10], [20]], rounding=rounding, unit=2.5, decimals=[0])
    kept = instance([[9], [11], [4], [4]], [[10], [20]], rounding=rounding, unit=2.5)
    assert kept.scale == (10,)
    assert kept.allows([1, 0, 1, 1]) or rounding == "sum"


def test_rows_that_are_no_lists_are_refused() -> None:
    with pytest.raises(DataError, match="is not a list of numbers, one per measure"):
        instance([1, 2], [[1]])  # type: ignore[list-item]
