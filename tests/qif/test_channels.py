from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from glasshouse.errors import StudyError
from glasshouse.qif import Channel, CoOccurrence, GainFunction, Hyper, Joint, Prior

HALF = Fraction(1, 2)
FLIP = Channel([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])


def test_integers_and_fractions_are_exact_and_one_float_makes_floats() -> None:
    assert Prior([HALF, HALF]).exact
    assert not Prior([HALF, 0.5]).exact
    assert Channel(np.eye(2, dtype=np.int64)).matrix[0, 0] == Fraction(1)
    assert FLIP.cascade(FLIP.to_float()).matrix.dtype == np.float64
    assert Joint.of(Prior([0.5, 0.5]), FLIP).matrix.dtype == np.float64
    assert GainFunction([[1, 2.5]]).matrix.dtype == np.float64


def test_arrays_are_copies_that_cannot_be_written() -> None:
    given = np.array([0.5, 0.5])
    prior = Prior(given)
    given[0] = 0.0
    assert prior[0] == 0.5
    for array in (prior.probabilities, FLIP.matrix, Hyper.of(prior, FLIP).inners):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_values_are_equal_by_their_contents() -> None:
    assert Prior.uniform("ab") == Prior([HALF, HALF], "ab")
    assert Prior.uniform("ab") != Prior.uniform("ba")
    assert len({FLIP, Channel(FLIP.matrix)}) == 1


def test_small_errors_of_floats_do_not_add_up() -> None:
    off = Channel([[0.5 + 9e-10, 0.5]])
    repeated = off.repeated(6)
    assert repeated.matrix.sum() == pytest.approx(1, abs=1e-14)


def test_a_distribution_names_its_support() -> None:
    assert Prior([0, 1, 0], "abc").support == ("b",)
    assert Prior.dirac("b", labels="abc") == Prior([0, 1, 0], "abc")


def test_reduction_drops_null_columns_and_merges_proportional_ones() -> None:
    channel = Channel(
        [[HALF, HALF, 0, 0], [Fraction(1, 4), Fraction(1, 4), 0, HALF]], outputs="wxyz"
    )
    assert channel.reduced() == Channel([[1, 0], [HALF, HALF]], outputs="wz")
    assert channel.to_float().reduced() == channel.reduced().to_float()


def test_parallel_composition_is_sequential_composition_that_does_not_adapt() -> None:
    assert FLIP.parallel(FLIP)[0, (0, 1)] == Fraction(3, 16)
    assert FLIP.parallel(FLIP) == FLIP.sequential(lambda _: FLIP) == FLIP.repeated(2)


def test_sequential_composition_goes_on_by_what_was_seen() -> None:
    nothing = Channel.no_interference(FLIP.inputs)
    adaptive = FLIP.sequential({0: nothing, 1: Channel.identity(FLIP.inputs)}.__getitem__)
    assert adaptive.outputs == ((0, 0), (1, 0), (1, 1))
    assert adaptive[1, (1, 1)] == Fraction(3, 4)


def test_a_choice_between_channels_is_visible_or_hidden() -> None:
    nothing = Channel([[1, 0], [1, 0]])
    visible = FLIP.visible_choice(nothing, probability=HALF)
    assert visible.outputs == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert visible[1, (0, 1)] == Fraction(3, 8)
    hidden = FLIP.hidden_choice(nothing, probability=HALF)
    assert hidden.matrix.tolist() == [
        [Fraction(7, 8), Fraction(1, 8)],
        [Fraction(5, 8), Fraction(3, 8)],
    ]


def test_a_joint_distribution_can_be_asked_about_a_property_of_the_secret() -> None:
    joint = Joint.of(Prior.uniform(range(4)), Channel.identity(range(4)))
    parity = joint.mapped(lambda secret: secret % 2)
    assert parity.prior() == Prior.uniform([0, 1])
    assert parity.channel()[1, 3] == HALF


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Channel([[1, 0], [HALF, Fraction(1, 3)]], ["a", "b"]), "row 'b' sums to 5/6"),
        (lambda: Channel([[1.0, 1e-8]]), "row 0 sums to 1.00000001"),
        (lambda: Channel([[1.5, -0.5]]), "negative probability -0.5"),
        (lambda: Channel([[1], [1, 0]]), "rectangular"),
        (lambda: Channel([[1, 0]], outputs="abc"), "3 labels for 2 columns"),
        (lambda: Prior([HALF, HALF], "aa"), "'a' names more than one"),
        (lambda: Prior([]), "non-empty"),
        (lambda: Prior([float("nan"), 1.0]), "finite"),
        (lambda: Prior(["x"]), "must hold numbers"),  # type: ignore[list-item]
        (lambda: Prior.uniform(["German"])["german"], "did you mean German"),
        (lambda: Joint.of(Prior.uniform("ab"), FLIP), "the prior and the channel"),
        (lambda: Joint([[0, 0], [HALF, HALF]], "ab").channel(), "'a' has probability 0"),
        (lambda: FLIP.cascade(Channel.identity("abc")), "2 observations, 3 inputs"),
        (lambda: FLIP.hidden_choice(FLIP, probability=2), "between 0 and 1"),
        (lambda: FLIP.repeated(0), "once or more"),
        (lambda: CoOccurrence.from_records(["a"], []), "one secret, observation and weight"),
        (lambda: CoOccurrence([[0, 0]]), "at least one"),
        (lambda: Hyper(Prior([1, 0]), [[1, 1]]), "positive probability"),
        (lambda: Hyper(Prior([1]), [[1, 0]]), "2 inners for 1 outers"),
        (lambda: GainFunction.tries(range(100), k=50), "use the measure Tries"),
        (lambda: GainFunction.tries("ab", k=3), "between 1 and the 2 secrets"),
        (lambda: GainFunction([[1]]).scaled(-1), "negative factor"),
    ],
)
def test_ill_posed_input_is_refused_with_its_reason(build: object, message: str) -> None:
    assert callable(build)
    with pytest.raises(StudyError, match=message):
        build()


def test_a_window_needs_numbers_and_a_width() -> None:
    for inputs, off in (([], 1), ([25], -1)):
        with pytest.raises(StudyError, match="a window needs numbers"):
            Channel.around(inputs, off)


def test_one_record_is_enough_to_be_counted() -> None:
    assert CoOccurrence.from_records(["ill"], ["30"]).counts.tolist() == [[1]]


def test_a_wrong_guess_at_secrets_that_differ_in_worth_is_worth_nothing() -> None:
    gain = GainFunction.worth({"ill": 10, "well": 1})
    assert [gain[guess, "ill"] for guess in ("ill", "well")] == [10, 0]
    assert [gain[guess, "well"] for guess in ("ill", "well")] == [0, 1]
