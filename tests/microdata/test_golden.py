"""Numbers of the literature, exact, through the Python API. The small tables are retyped here."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from glasshouse.microdata import assess, attack
from glasshouse.qif.cooccurrence import CoOccurrence
from glasshouse.study import Dialect
from glasshouse.table import EncodedTable, read

LANGUAGES = pa.table(
    {
        "id": ["1", "2", "3", "4"],
        "language": ["English", "Port.", "German", "German"],
        "gender": ["M", "M", "F", "M"],
        "age": [">30", "<=30", "<=30", "<=30"],
    }
)
"""Alvim et al. 2022, Table 2a."""

GRADES = pa.table(
    {
        "id": list(range(1, 11)),
        "age": [25, 25, 25, 25, 25, 49, 49, 49, 49, 60],
        "gender": list("FFFMMFFFMM"),
        "grade": list("AACBBCCEDD"),
        "disability": ["no", "yes", "yes", "yes", "no", "yes", "yes", "no", "no", "no"],
    }
)
"""The ten students of Alvim et al. 2022, Table 3a, as in bvmlib's own example with worth per value."""

PRIVATTACKS = pa.table(
    {
        "age": [20, 30, 30, 30, 30, 55, 55, 55],
        "education": ["Master", *["High School"] * 2, *["PhD"] * 2, *["Bachelor"] * 3],
        "income": ["low", "medium", "low", "medium", "medium", "high", "high", "medium"],
    }
)
"""The example in the documentation of privattacks."""

ADULT_COLUMNS = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)


def test_the_language_example_gains_two_before_and_three_after() -> None:
    outcome = attack(
        read(LANGUAGES), quasi_identifiers=["gender", "age"], sensitive="language", gain={"*": 4}
    )
    assert outcome.gain is not None
    assert (outcome.gain.prior, outcome.gain.posterior) == (Fraction(2), Fraction(3))


def test_the_language_example_has_the_published_prior_and_outers() -> None:
    rows = LANGUAGES.to_pylist()
    steps = CoOccurrence.from_records(
        [row["language"] for row in rows], [f"{row['gender']},{row['age']}" for row in rows]
    )
    prior, hyper = steps.prior(), steps.hyper()
    assert {label: prior[label] for label in prior.labels} == {
        "English": Fraction(1, 4),
        "Port.": Fraction(1, 4),
        "German": Fraction(1, 2),
    }
    assert {label: hyper.outer(label) for label in hyper.observations} == {
        "M,<=30": Fraction(1, 2),
        "M,>30": Fraction(1, 4),
        "F,<=30": Fraction(1, 4),
    }


def test_re_identification_of_ten_students() -> None:
    outcome = attack(read(GRADES), quasi_identifiers=["age", "gender"])
    assert outcome.deterministic.posterior == Fraction(2, 10)
    assert outcome.probabilistic.prior == Fraction(1, 10)
    assert outcome.probabilistic.posterior == Fraction(5, 10)
    assert outcome.probabilistic.multiplicative == 5
    assert outcome.class_sizes.classes[:3] == (2, 1, 2)
    assert outcome.class_sizes.records[:3] == (2, 2, 6)


@pytest.mark.parametrize(
    ("secret", "worth", "certain", "chances", "worths"),
    [
        ("grade", {"A": 10, "B": 6, "C": 6, "D": 6, "E": 8}, 4, ("3/10", "8/10"), ("2", "28/5")),
        ("disability", {"yes": 10, "no": 2}, 2, ("1/2", "7/10"), ("5", "27/5")),
    ],
)
def test_attribute_inference_on_ten_students_with_worth(
    secret: str,
    worth: dict[str, int],
    certain: int,
    chances: tuple[str, str],
    worths: tuple[str, str],
) -> None:
    outcome = attack(
        read(GRADES), quasi_identifiers=["age", "gender"], sensitive=secret, gain=worth
    )
    assert outcome.certain == certain
    assert outcome.deterministic.posterior == Fraction(certain, 10)
    assert (outcome.probabilistic.prior, outcome.probabilistic.posterior) == tuple(
        map(Fraction, chances)
    )
    assert outcome.gain is not None
    assert (outcome.gain.prior, outcome.gain.posterior) == tuple(map(Fraction, worths))


def test_the_example_of_privattacks() -> None:
    table = read(PRIVATTACKS, quasi_identifiers=["age", "education"], sensitive=["income"])
    naming, inferring = assess(table).attacks
    assert naming.probabilistic.prior == Fraction(1, 8)
    assert naming.probabilistic.posterior == Fraction(1, 2)
    assert inferring.probabilistic.prior == Fraction(1, 2)
    assert inferring.probabilistic.posterior == Fraction(3, 4)


@pytest.fixture
def adult(shared: Callable[[str], Path]) -> EncodedTable:
    dialect = Dialect(header=False, strip=True, names=tuple(ADULT_COLUMNS.split(",")))
    return read(shared("data/adult.data"), dialect=dialect)


def test_adult_comes_out_exactly(adult: EncodedTable, shared: Callable[[str], Path]) -> None:
    golden = json.loads(shared("golden/microdata.json").read_text())["adult_uci_32561"]
    assert adult.records == 32_561
    subsets = [tuple(names.split(",")) for names in golden["subsets"]]
    outcomes = assess(adult, subsets=subsets, sensitive=["occupation"]).attacks
    for (names, expected), naming, inferring in zip(
        golden["subsets"].items(), outcomes[::2], outcomes[1::2], strict=True
    ):
        assert ",".join(naming.quasi_identifiers) == names
        assert float(naming.probabilistic.prior) == 1 / 32_561
        assert float(naming.probabilistic.posterior) == expected["re_post"]
        assert float(naming.deterministic.posterior) == expected["dCR"]
        assert float(inferring.probabilistic.posterior) == expected["ai_post"]
        assert float(inferring.deterministic.posterior) == expected["dCA"]
        assert inferring.probabilistic.prior == Fraction(4140, 32_561)
        assert abs(float(inferring.probabilistic.prior) - golden["prior_attribute"]) < 1e-10
