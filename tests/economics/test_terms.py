"""Terms that make no sense are refused in one line that names them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from glasshouse.economics import Terms, policy
from glasshouse.economics.terms import PARAMETERS, sigmoid
from glasshouse.errors import StudyError
from tests.economics.drawing import SETTINGS

BAD = [
    *(("prior", value) for value in (-0.1, 1.1, math.nan, "x", True)),
    *((name, -1) for name in ("gain", "penalty", "access_cost", "link_cost", "exploit_cost")),
    *((name, math.inf) for name in ("gain", "penalty", "access_cost")),
    *(("discount", value) for value in (0, -1, 1.01, math.nan)),
    *(("penalties", value) for value in (-1, 1.5, "many", True)),
    *(("detection", value) for value in ((1.0,), (1, 2, 3), (math.nan, 0), (0, math.inf), 0.01)),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_terms_that_make_no_sense_are_refused_by_their_name(name: str, value: Any) -> None:
    with pytest.raises(StudyError) as refused:
        Terms(**{name: value})
    message = str(refused.value)
    assert message.startswith(f"`{name}`")
    assert "give" in message
    assert "\n" not in message


def test_an_unknown_parameter_is_refused_with_the_near_one() -> None:
    with pytest.raises(StudyError, match='did you mean "penalty"'):
        Terms().with_parameter("penality", 1.0)


@pytest.mark.parametrize("rate", [0.0, 1.0, -1.0, math.nan])
def test_a_rate_that_no_sigmoid_has_is_refused(rate: float) -> None:
    with pytest.raises(StudyError, match="`detection`"):
        Terms().with_detection_rate(rate)


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_can_be_varied(name: str) -> None:
    varied = Terms().with_parameter(name, 0.25)
    assert (varied.detection_rate if name == "detection" else getattr(varied, name)) == (
        pytest.approx(0.25)
    )


def test_the_first_exploit_is_detected_with_a_hundredth_and_then_more() -> None:
    """Section 7.2.1: 0.01 for the first, 0.012 for the next."""
    rates = SETTINGS["rising detection, unlimited penalties"].detection_rates(2)
    assert rates.round(3).tolist() == [0.01, 0.012]
    assert rates[0] == sigmoid(-4.59) == Terms().detection_rate


def test_far_rates_are_certain_without_a_warning() -> None:
    assert Terms(detection=(-800.0, 800.0)).detection_rates(3).tolist() == [0.0, 0.5, 1.0]


def test_fractions_and_numbers_of_numpy_become_plain_ones() -> None:
    odd = Terms(
        prior=Fraction(1, 2),  # type: ignore[arg-type]
        gain=np.float32(100),  # type: ignore[arg-type]
        penalties=np.int64(2),  # type: ignore[arg-type]
        detection=[-4, 0],  # type: ignore[arg-type]
    )
    assert odd == Terms(prior=0.5, gain=100.0, penalties=2, detection=(-4.0, 0.0))
    assert {type(value) for value in (odd.prior, odd.gain, *odd.detection)} == {float}
    assert policy(odd, [3]).reidentification.dtype == np.float64


def test_terms_as_plain_values() -> None:
    plain = Terms().to_dict()
    assert plain["penalties"] == "unlimited"
    assert plain["detection"] == [-4.59, 0.0]
    assert Terms(penalties=2).to_dict()["penalties"] == 2
