"""Every result as plain values and as a frame: exact, and the same in JSON."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from glasshouse import groups
from glasshouse.groups import Release
from glasshouse.measures.threat import figures
from glasshouse.table import EncodedTable, read

PEOPLE = pa.table(
    {
        "age": ["20", "21", "21", "30", "31", "31"],
        "city": ["Lyon", "Nice", "Nice", "Bonn", "Bonn", "Lyon"],
        "ill": ["flu", "flu", "HIV", "HIV", "HIV", "flu"],
    }
)
PRIOR: dict[str, Any] = {"alpha": {"flu": "1/2"}, "beta": {"age": {"20": "1/3"}}}


def original() -> EncodedTable:
    return read(PEOPLE, quasi_identifiers=["age", "city"], sensitive=["ill"])


def horizontal() -> Release:
    labels = PEOPLE.set_column(0, "age", [["20-29"] * 3 + ["30-39"] * 3])
    labels = labels.set_column(1, "city", [["France"] * 3 + ["*"] * 3])
    released = read(labels, quasi_identifiers=["age", "city"], sensitive=["ill"])
    cities = {"Lyon": ("France",), "Nice": ("France",), "Bonn": ("Germany",)}
    release = groups.from_generalised(released, domains=original(), hierarchies={"city": cities})
    return release.with_prior(**PRIOR)


def vertical() -> Release:
    table = PEOPLE.append_column("group", [["1", "1", "2", "2", "3", "3"]])
    released = read(table, quasi_identifiers=["age", "city"], sensitive=["ill"], also=["group"])
    return groups.from_group_column(released, group="group").with_prior(**PRIOR)


@pytest.mark.parametrize("release", [horizontal(), vertical()], ids=["horizontal", "vertical"])
def test_a_release_can_be_written_out_and_read_again(release: Release) -> None:
    again = groups.from_json(json.dumps(release.to_dict()))
    assert again.to_dict() == release.to_dict()
    assert again.to_frame().equals(release.to_frame())
    victims, same = (groups.victims_of(each, [{"age": "20"}, {}]) for each in (release, again))
    expected = groups.enumerated_fractions(release, victims)
    assert groups.enumerated_fractions(again, same).attacker == expected.attacker
    assert groups.enumerated_fractions(again, same).joint == expected.joint


def test_exact_beliefs_stay_fractions() -> None:
    release = horizontal()
    exact = groups.closed_form_fractions(release, groups.victims_of(release, [{"age": "20"}]))
    document = json.loads(json.dumps(exact.to_dict()))
    values = release.sensitive.values
    told = document["victims"][0]
    assert tuple(Fraction(told["attacker"][value]) for value in values) == exact.attacker[0]
    frame = exact.to_frame().to_pydict()
    assert tuple(map(Fraction, frame["joint"])) == exact.joint[0]
    assert tuple(map(Fraction, frame["learner"])) == exact.learner[0]


def test_one_victim_is_told_in_full_and_several_on_average() -> None:
    release = horizontal()
    one = groups.threat(release, people=[{"age": "20"}])
    assert one.one_victim
    assert one.exact is not None
    content = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert content["exact"]["attacker"]["flu"] == str(
        one.exact.attacker[0][release.sensitive.code["flu"]]
    )
    ratio, error = one.relative_of(release.sensitive.code["HIV"])
    assert content["relative_threat"]["HIV"] == {"ratio": ratio, "error": None}
    assert np.isnan(error)
    assert one.to_frame()["relative_threat_ratio"].to_pylist() == [
        content["relative_threat"][value]["ratio"] for value in release.sensitive.values
    ]
    several = groups.threat(release, people=[{"age": "20"}, {"age": "30"}])
    assert several.exact is None
    averages = several.to_dict()["averages"]
    assert averages["attacker"]["mean_highest"] == several.average("attacker")[0]
    assert several.to_frame()["adversary"].to_pylist() == list(averages)
    assert figures(one) == figures(several) == {}


def test_the_table_is_told_by_its_measures() -> None:
    outcome = groups.threat(horizontal(), original(), points=50)
    assert outcome.measures is not None
    assert (outcome.records, outcome.groups, outcome.points) == (6, 2, 50)
    assert outcome.victims == len(outcome.knowledge.victims) - 50
    assert figures(outcome)["attacker"] == outcome.measures.attacker.share_at_random
    assert outcome.to_frame().equals(outcome.measures.to_frame())
    for result in (outcome.measures.attacker, outcome.measures.faithfulness):
        assert result is not None
        assert result.to_frame().to_pylist() == [result.to_dict()]


def test_suppressed_records_are_no_group() -> None:
    outcome = groups.threat(vertical())
    assert outcome.groups == 3
    hidden = groups.ThreatOutcome(outcome.knowledge, suppressed=2)
    assert (hidden.groups, hidden.to_dict()["suppressed"]) == (2, 2)
