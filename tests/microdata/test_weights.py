"""Records of weight 0 cannot be the target's, whichever way the figures are computed."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import LinkKey, assess, attack, explain, link, record_risks, sweep
from glasshouse.table import EncodedTable, collect, read

weights = st.lists(st.sampled_from(["0", "1", "2"]), min_size=1, max_size=6).filter(
    lambda drawn: any(weight != "0" for weight in drawn)
)


def people(drawn: list[str], values: str, name: str = "D1") -> EncodedTable:
    size = len(drawn)
    columns = {
        "id": [str(i) for i in range(size)],
        "q": list((values * size)[:size]),
        "s": list(("xxy" * size)[:size]),
        "w": drawn,
    }
    return read(
        pa.table(columns),
        quasi_identifiers=["q"],
        sensitive=["s"],
        id="id",
        prior_weight="w",
        name=name,
    )


@given(weights)
def test_a_sweep_agrees_with_an_assessment(drawn: list[str]) -> None:
    table = people(drawn, "ab")
    assert sweep(table).attacks() == assess(table).attacks


@given(weights)
def test_a_link_by_a_unique_key_agrees_with_the_join(drawn: list[str]) -> None:
    first, second = people(drawn, "ab"), people(drawn, "aab", "D2")
    other = second.with_roles(quasi_identifiers=["q"], identifier="id")
    linked = link(first, [other], keys=[LinkKey("id")], quasi_identifiers=["q"], sensitive=["s"])
    joined = assess(collect([first, other]).window(2), sensitive=["s"]).attacks
    for ours, theirs in zip(linked.attacks[2:], joined, strict=True):
        assert ours.probabilistic == theirs.probabilistic
        assert ours.deterministic == theirs.deterministic


def test_only_possible_records_are_explained() -> None:
    steps = explain(people(["1", "0", "1"], "ab"), sensitive=["s"])
    assert steps.counts.counts.sum() == 2
    assert steps.counts.prior()["y"] == Fraction(1, 2)


@given(
    st.lists(
        st.tuples(st.sampled_from("12"), st.sampled_from("uvw"), st.sampled_from("012")),
        min_size=1,
        max_size=9,
    ).filter(lambda rows: any(weight != "0" for *_, weight in rows))
)
def test_nobody_without_weight_is_learned_for_certain(rows: list[tuple[str, str, str]]) -> None:
    known, secret, weight = map(list, zip(*rows, strict=True))
    frame = pa.table({"a": known, "s": secret, "w": weight})
    table = read(frame, quasi_identifiers=["a"], sensitive=["s"], prior_weight="w")
    possible = [row for row in rows if row[2] != "0"]
    certain = sum(
        len({other[1] for other in possible if other[0] == row[0]}) == 1 for row in possible
    )
    found = attack(table, sensitive="s")
    assert found.certain == found.success[-1] == certain
    assert sum(found.success) == len(rows)


def test_the_risk_of_each_record_takes_no_weights() -> None:
    frame = pa.table({"a": ["1", "1"], "s": ["u", "v"], "w": ["9", "1"]})
    table = read(frame, quasi_identifiers=["a"], sensitive=["s"], prior_weight="w")
    with pytest.raises(StudyError, match="counts records alike; leave out the prior weight"):
        record_risks(table)


def test_weights_of_any_size_are_exact_if_they_can_be_added_up() -> None:
    frame = pa.table({"a": list("1122"), "w": ["1e-300", "2E-300", "0", "+1.0e-299"]})
    table = read(frame, quasi_identifiers=["a"], prior_weight="w")
    assert attack(table).probabilistic.posterior == Fraction(12, 13)


@pytest.mark.parametrize("written", ["1e-300", "1e-99999999", "1e+9999", "1" * 5_000])
def test_a_weight_with_too_many_digits_is_refused_for_its_digits(written: str) -> None:
    frame = pa.table({"a": ["1", "2"], "w": [written, "1"]})
    table = read(frame, quasi_identifiers=["a"], prior_weight="w")
    with pytest.raises(DataError, match=r'weights in column "w" have too many digits'):
        attack(table)
