"""What is missing is not learned: a secret is inferred as if the records without it were not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.arrays import Integers
from glasshouse.errors import DataError
from glasshouse.microdata import (
    Attack,
    LinkKey,
    assess,
    attack,
    best_subsets,
    explain,
    family,
    link,
    minimal_subsets,
    parts_by,
    record_risks,
    shapley_values,
    sweep,
    target,
    without_each,
)
from glasshouse.qif import Tries
from glasshouse.table import EncodedTable, collect, read
from tests.examples import examples

Row = tuple[str, str, str, str, str, str]

rows = st.lists(
    st.tuples(
        st.sampled_from("12"),
        st.sampled_from("AB"),
        st.sampled_from("xyz"),
        st.sampled_from(["u", "v", ""]),
        st.sampled_from(["s", "t", "", "9"]),
        st.sampled_from("123"),
    ),
    min_size=1,
    max_size=12,
).filter(lambda drawn: {row[3] for row in drawn} != {""} and {row[4] for row in drawn} - {"", "9"})


def people(drawn: Sequence[Row], *, weight: bool = False, name: str = "D1") -> EncodedTable:
    """Return records of three quasi-identifiers and three secrets; that of c is complete, 9 is a code of f."""
    columns: dict[str, list[str]] = {
        column: [row[place] for row in drawn] for place, column in enumerate("abcefw")
    }
    columns["id"] = [str(number) for number in range(len(drawn))]
    table = read(
        pa.table(columns),
        quasi_identifiers=["a", "b"],
        sensitive=["e", "c", "f"],
        id="id",
        prior_weight="w" if weight else None,
        name=name,
    )
    return replace(table, missing_codes={"f": frozenset({"9"})})


def known(drawn: Sequence[Row], secret: str) -> list[Row]:
    """Return the records of which a secret is known, by the plainest means."""
    return [
        row
        for row in drawn
        if not ("e" in secret and row[3] == "") and not ("f" in secret and row[4] in ("", "9"))
    ]


@settings(max_examples=examples(50))
@given(rows, st.booleans())
def test_an_inference_is_that_of_the_records_with_the_secret(
    drawn: list[Row], weighted: bool
) -> None:
    subsets = [["a"], ["a", "b"]]
    found = assess(people(drawn, weight=weighted), subsets=subsets).attacks
    for secret in "ecf":
        alone = people(known(drawn, secret), weight=weighted)
        expected = assess(alone, subsets=subsets, sensitive=[secret]).attacks
        assert [a for a in found if a.secret == (secret,)] == [a for a in expected if a.secret]
        assert [a.capacity for a in found if a.secret == (secret,)] == [
            a.capacity for a in expected if a.secret
        ]
        assert attack(people(drawn, weight=weighted), sensitive=secret) == expected[-1]
    complete = assess(people(drawn, weight=weighted), subsets=subsets, sensitive=[]).attacks
    assert [a for a in found if not a.secret] == [*complete]
    assert all(a.records == len(drawn) for a in complete)


@settings(max_examples=examples(30))
@given(rows)
def test_a_sweep_gives_the_integers_of_the_records_with_each_secret(drawn: list[Row]) -> None:
    for weighted in (False, True):
        table = people(drawn, weight=weighted)
        swept = sweep(table)
        assert swept.attacks() == assess(table, subsets=[["a"], ["b"], ["a", "b"]]).attacks
        for s, secret in enumerate("ecf"):
            alone = sweep(people(known(drawn, secret), weight=weighted), sensitive=[secret])
            assert swept.likeliest[s] == alone.likeliest[0]
            for sums in ("most", "sure", "success", "certain"):
                assert np.array_equal(getattr(swept, sums)[:, s], getattr(alone, sums)[:, 0])
            if weighted:
                continue
            for measured in (best_subsets, without_each, shapley_values):
                ours = [
                    r for r in measured(swept).to_frame().to_pylist() if r["sensitive"] == secret
                ]
                theirs = measured(alone).to_frame().to_pylist()
                assert ours == [row for row in theirs if row["sensitive"]]
            for certain in (False, True):
                least: dict[str, Any] = {
                    "risk": Fraction(2, 3),
                    "sensitive": secret,
                    "certain": certain,
                }
                assert minimal_subsets(swept, **least) == minimal_subsets(alone, **least)


@given(rows)
def test_gains_priors_and_joint_secrets_leave_out_what_is_missing_too(drawn: list[Row]) -> None:
    alone = people(known(drawn, "e"))
    values = {value: Fraction(1, place + 2) for place, value in enumerate("uv")}
    present = alone.column("e").values.to_pylist()
    worth = {value: values[value] for value in present}
    prior = {value: Fraction(1, len(present)) for value in present}
    for more in ({"gain": Tries(2)}, {"gain": worth}, {"prior": prior}):
        assert attack(people(drawn), sensitive="e", **more) == attack(alone, sensitive="e", **more)
    both = known(drawn, "ef")
    if both:
        assert attack(people(drawn), sensitive=("e", "f")) == attack(
            people(both), sensitive=("e", "f")
        )


@given(rows)
def test_the_risk_of_each_record_is_that_among_records_with_the_secret(drawn: list[Row]) -> None:
    risks = record_risks(people(drawn))
    for secret in "ecf":
        with_secret = known(drawn, secret)
        alone = record_risks(people(with_secret), sensitive=[secret])
        frame = risks.to_frame()
        for figure in ("success", "certain"):
            column = frame.column(f"{secret}: {figure}")
            assert column.drop_null().equals(alone.to_frame().column(f"{secret}: {figure}"))
            assert column.null_count == len(drawn) - len(with_secret)
    assert risks.sizes.tolist() == record_risks(people(drawn), sensitive=[]).sizes.tolist()


@settings(max_examples=examples(30))
@given(rows)
def test_windows_and_links_leave_out_the_records_without_the_secret(drawn: list[Row]) -> None:
    def linked(secret: str) -> list[list[Attack]]:
        focal = people(drawn)
        if len(secret) == 1:  # only the people whose secret is known, each with their identifier
            held = [number for number, row in enumerate(drawn) if row in known(drawn, secret)]
            focal = focal.of_records(np.array(held))
        other = people(drawn, name="D2").with_roles(quasi_identifiers=["b"], identifier="id")
        windows = [*collect([focal, other]).windows()]
        by_key = link(focal, [other], keys=[LinkKey("a")], sensitive=secret)
        return [[*assess(windows, sensitive=secret).attacks], [*by_key.attacks]]

    whole = linked("ecf")
    for secret in "ecf":
        for ours, theirs in zip(whole, linked(secret), strict=True):
            assert [a for a in ours if a.secret == (secret,)] == [a for a in theirs if a.secret]


@given(rows)
def test_a_part_of_a_family_tells_of_the_records_with_the_secret(drawn: list[Row]) -> None:
    table = people(drawn).with_roles(quasi_identifiers=["a"], sensitive=["e"])
    alone = people(known(drawn, "e")).with_roles(quasi_identifiers=["a"], sensitive=["e"])
    (part,), (expected,) = (family([("all", t)]).parts for t in (table, alone))
    assert part.of("e") == expected.of("e")
    assert part.entropy["e"] == expected.entropy["e"]
    assert part.known("e") == expected.records
    assert dict(part.missing) == ({"e": len(drawn) - expected.records} if part.missing else {})


@given(rows, st.sampled_from("12"))
def test_of_a_person_is_learned_what_the_records_with_the_secret_tell(
    drawn: list[Row], a: str
) -> None:
    if all(row[0] != a for row in drawn):
        return
    found = target(people(drawn), known=[f"a={a}"], sensitive=["e"])
    with_secret = known(drawn, "e")
    assert found.candidates == sum(row[0] == a for row in drawn)
    if all(row[0] != a for row in with_secret):
        assert (found.secrets, found.unlearned) == ((), ("e",))
        return
    expected = target(people(with_secret), known=[f"a={a}"], sensitive=["e"])
    assert found.secret("e").values == expected.secret("e").values
    assert found.secret("e").missing == len(drawn) - len(with_secret)
    assert found.secret("e").missing_candidates == found.candidates - expected.candidates


def test_missing_is_a_value_where_the_table_says_so() -> None:
    drawn: list[Row] = [("1", "A", "x", value, "s", "1") for value in ["", "", "u"]]
    table = people(drawn)
    assert attack(table, sensitive="e").probabilistic.prior == 1
    asked = replace(table, missing_is_a_value=True)
    assert attack(asked, sensitive="e").probabilistic.prior == Fraction(2, 3)
    assert attack(asked, sensitive="e").records == 3


def test_a_secret_that_nobody_has_is_refused_in_one_line() -> None:
    table = people([("1", "A", "x", "", "9", "1")] * 2)
    for secret in "ef":
        with pytest.raises(DataError, match=f'D1: "{secret}" is missing in all 2 records'):
            assess(table, sensitive=[secret])
    part = people([("1", "A", "x", "u", "s", "1"), ("2", "A", "x", "", "s", "1")])
    by_a = parts_by(part.with_roles(quasi_identifiers=["b"], sensitive=["e"]), "a")
    with pytest.raises(DataError, match='D1: 2: "e" is missing in all'):
        family(by_a)


def test_an_explanation_shows_no_missing_secret() -> None:
    steps = explain(
        people([("1", "A", "x", value, "s", "1") for value in "uv"] * 2), sensitive=["e"]
    )
    more = people([("1", "A", "x", value, "s", "1") for value in ["u", "v", ""] * 2])
    assert explain(more, sensitive=["e"]).to_dict() == steps.to_dict()


def test_an_assessment_counts_what_it_leaves_out_by_secret() -> None:
    drawn: list[Row] = [("1", "A", "x", e, f, "1") for e, f in zip("u" * 4, "s9st", strict=True)]
    outcome = assess(people(drawn))
    assert outcome.missing == {"f": 1} == outcome.to_dict()["missing"]
    assert "missing" not in assess(people(drawn), sensitive=["e"]).to_dict()
    assert sweep(people(drawn)).to_dict()["missing"] == {"f": 1}


def test_a_sweep_of_secrets_that_are_missing_goes_on_where_it_stopped() -> None:
    drawn: list[Row] = [
        (a, b, "x", e, f, "1")
        for a in "12"
        for b in "AB"
        for e in ["u", ""]
        for f in ["s", "t", "9"]
    ]
    steps: dict[int, Integers] = {}
    whole = sweep(people(drawn), on_step=lambda step, sums: steps.update({step: sums}))
    assert len(steps) == 3 * 2
    calls: list[int] = []
    again = sweep(people(drawn), finished=steps, on_step=lambda step, _: calls.append(step))
    assert not calls
    assert again.attacks() == whole.attacks()


def test_a_saved_table_knows_the_codes_of_its_file(tmp_path: Path) -> None:
    table = people([("1", "A", "x", "u", f, "1") for f in "s9"])
    table.save(tmp_path / "people.arrow")
    again = read(tmp_path / "people.arrow", types={"a": "integer"})
    assert dict(again.missing_codes) == {"f": {"9"}}
    assert again.missing(["f"]).tolist() == [False, True]
