"""The worked examples of Alvim et al. 2022, Flexible and scalable privacy assessment for very large
datasets, with an application to official governmental microdata (PoPETs); tables retyped."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.qif import (
    BayesVulnerability,
    Certainty,
    CoOccurrence,
    GainFunction,
    GVulnerability,
    multiplicative_bayes_capacity,
)

# Table 2a: language, gender and age of four people.
LANGUAGE = ["English", "Port.", "German", "German"]
GENDER_AGE = ["M,>30", "M,<=30", "F,<=30", "M,<=30"]

# Table 3c: (id, gender, grade in D1, disability, grade in D2) after the join; "-" where D2 has none.
COLLECTION = [
    (1, "F", "A", "no", "B"),
    (2, "F", "A", "yes", "A"),
    (3, "F", "C", "yes", "C"),
    (4, "M", "B", "yes", "B"),
    (5, "M", "B", "no", "B"),
    (6, "F", "C", "yes", "D"),
    (7, "F", "C", "yes", "C"),
    (8, "F", "E", "no", "E"),
    (9, "M", "D", "no", "D"),
    (10, "M", "D", "no", "-"),
]
QIDS = [(gender, first, second) for _, gender, first, _, second in COLLECTION]

HALF, QUARTER, TENTH = Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)


def test_language_example_builds_the_hyper_of_table_9_step_by_step() -> None:
    table = CoOccurrence.from_records(LANGUAGE, GENDER_AGE)
    assert table.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert table.joint().matrix.tolist() == [
        [QUARTER, 0, 0],
        [0, QUARTER, 0],
        [0, QUARTER, QUARTER],
    ]
    assert table.prior().probabilities.tolist() == [QUARTER, QUARTER, HALF]
    assert table.channel().matrix.tolist() == [[1, 0, 0], [0, 1, 0], [0, HALF, HALF]]
    hyper = table.hyper()
    assert hyper.outer("M,<=30") == HALF
    assert hyper.outer("M,>30") == hyper.outer("F,<=30") == QUARTER
    assert hyper.inner("M,<=30").probabilities.tolist() == [0, HALF, HALF]
    assert hyper.inner("M,>30")["English"] == 1
    assert hyper.inner("F,<=30")["German"] == 1


def test_language_example_raises_the_gain_from_two_dollars_to_three() -> None:
    hyper = CoOccurrence.from_records(LANGUAGE, GENDER_AGE).hyper()
    bet = GVulnerability(GainFunction.bayes(hyper.secrets).scaled(4))
    assert bet.prior(hyper.prior()) == 2
    assert bet.posterior_of(hyper) == 3
    assert bet.additive_leakage_of(hyper) == 1
    assert bet.strategy_of(hyper)["M,>30"] == "English"


def test_longitudinal_attribute_inference_reproduces_table_4() -> None:
    table = CoOccurrence.from_records([record[3] for record in COLLECTION], QIDS)
    yes, no = table.secrets.index("yes"), table.secrets.index("no")
    assert table.counts[yes].tolist() == [0, 1, 2, 1, 1, 0, 0, 0]
    assert table.counts[no].tolist() == [1, 0, 0, 1, 0, 1, 1, 1]
    hyper = table.hyper()
    assert table.channel()["yes", ("F", "C", "C")] == Fraction(2, 5)
    assert hyper.outer(("F", "C", "C")) == hyper.outer(("M", "B", "B")) == Fraction(1, 5)
    assert hyper.inner(("M", "B", "B"))["yes"] == HALF
    assert BayesVulnerability().prior(hyper.prior()) == HALF
    assert BayesVulnerability().posterior_of(hyper) == Fraction(9, 10)
    assert BayesVulnerability().multiplicative_leakage_of(hyper) == Fraction(9, 5)
    assert Certainty().prior(hyper.prior()) == 0
    assert Certainty().posterior_of(hyper) == Fraction(8, 10)


def test_longitudinal_reidentification_reproduces_table_10() -> None:
    table = CoOccurrence.from_records([record[0] for record in COLLECTION], QIDS)
    hyper = table.hyper()
    assert BayesVulnerability().prior(hyper.prior()) == TENTH
    assert BayesVulnerability().posterior_of(hyper) == Fraction(8, 10)
    assert BayesVulnerability().multiplicative_leakage_of(hyper) == 8
    assert Certainty().additive_leakage_of(hyper) == Fraction(6, 10)
    # With a uniform prior on the records, leakage is at capacity: the number of classes.
    assert multiplicative_bayes_capacity(table.channel()) == 8


def test_weights_replace_the_uniform_choice_of_a_record() -> None:
    table = CoOccurrence.from_records(["a", "b"], ["y", "y"], weights=[3, 1])
    assert table.prior()["a"] == Fraction(3, 4)
