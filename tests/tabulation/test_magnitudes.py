"""The rules about the records behind an output: each figure here is counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import StudyError
from glasshouse.study import load_policy, validated
from glasshouse.study.policy import ACRO, MagnitudeRule
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import RecordChecks, record_checks
from tests.conftest import Glasshouse


def people(*groups: tuple[str, str, list[object]]) -> list[dict[str, str]]:
    """Return records by town and illness, with what each earns."""
    return [
        {"town": town, "ill": ill, "pay": str(pay)} for town, ill, pays in groups for pay in pays
    ]


RECORDS = people(
    ("A", "yes", [10] * 12), ("A", "no", [10] * 15), ("B", "yes", [10] * 3), ("C", "no", [10] * 20)
)
ROWS = [["A", "yes", 12], ["A", "no", 15], ["B", "yes", 3], ["C", "no", 20]]


def checks(rule: MagnitudeRule | None = None, **table: Any) -> RecordChecks:
    plan = {
        "attributes": {
            "town": {"values": ["A", "B", "C"]},
            "ill": {"values": ["yes", "no"]},
            "pay": {"range": [0, 1000]},
        },
        "tables": [{"id": "T", **table}],
    }
    records = table.pop("records", RECORDS)
    plan["tables"][0].pop("records", None)  # type: ignore[index]
    return record_checks(validated(TablesStudy, plan, "plan"), records, rule or ACRO.magnitudes)


def test_threshold_zeros_and_class_disclosure_are_counted() -> None:
    found = checks(by=["town", "ill"], rows=ROWS)
    assert found.below_threshold == 1  # B, yes: 3
    assert found.empty == 2  # B, no and C, yes
    assert found.one_class == 2  # everybody of B is ill, nobody of C
    hidden = checks(
        by=["town", "ill"], rows=[*ROWS[:2], ["B", "yes", "*"], ROWS[3]], suppressed=[0, 9]
    )
    assert (hidden.below_threshold, hidden.one_class) == (0, 1)
    few = checks(MagnitudeRule(threshold=3, zeros=False), by=["town", "ill"], rows=ROWS)
    assert (few.below_threshold, few.empty) == (0, 0)


def figure(pays: list[object], **rule: Any) -> RecordChecks:
    statistic = {"where": {"town": "A"}, "of": "pay", "mean": "1", "unit": "2000"}
    records = people(("A", "yes", pays))
    return checks(MagnitudeRule(**rule), statistics=[statistic], records=records)


@pytest.mark.parametrize(
    ("pays", "dominated", "estimable"),
    [
        ([10] * 12, 0, 0),
        ([500, 400, *[1] * 10], 1, 1),  # 900 of 910; 10 of 500 is 2 %
        ([500, 400, *[10] * 10], 0, 0),  # 900 of 1000 is not above 90 %; 100 of 500 is 20 %
        ([500, 400, *[9] * 11], 1, 0),  # 900 of 999; 99 of 500 is 19.8 %
        ([900, 1, *[8] * 11], 1, 1),  # 908 of 989; 81 of 900 is 9 %
    ],
)
def test_dominance_and_p_percent(pays: list[object], dominated: int, estimable: int) -> None:
    found = figure(pays)
    assert (found.dominated, found.estimable) == (dominated, estimable)


def test_values_behind_a_mean_are_counted_and_not_records() -> None:
    assert figure([10] * 9).below_threshold == 1
    assert figure([*[10] * 9, "", "", ""]).below_threshold == 1  # ACRO counts twelve records
    assert figure([10] * 10).below_threshold == 0


def test_a_table_of_other_records_is_refused() -> None:
    with pytest.raises(StudyError, match="not those of the records"):
        checks(by=["town", "ill"], rows=[*ROWS[:3], ["C", "no", 21]])


def test_a_rule_of_ones_own_has_other_numbers(tmp_path: Path) -> None:
    rule = tmp_path / "rule.toml"
    rule.write_text(
        'name = "ours"\n[magnitudes]\nthreshold = 3\nk = 0.8\n'
        '[[conditions]]\nmeasure = "below-threshold"\nat_most = 0\n'
    )
    assert load_policy(str(rule)).magnitudes == MagnitudeRule(threshold=3, k=0.8)


def test_check_judges_the_records_behind_an_output(tmp_path: Path, glasshouse: Glasshouse) -> None:
    data = tmp_path / "people.csv"
    lines = [f"{one['town']},{one['ill']}" for one in RECORDS]
    data.write_text("town,ill\n" + "\n".join(lines) + "\n")
    table = tmp_path / "towns.csv"
    table.write_text("town,n\nA,27\nB,3\nC,20\n")
    went = tmp_path / "went"
    went.mkdir()
    command = (
        "check",
        str(table),
        "--ledger",
        str(went),
        "--records",
        str(data),
        "--json",
        "--accept",
    )
    done = glasshouse(*command, "--rare", "2")
    assert done.code == 4, done.error
    content = json.loads(done.out)
    assert content["policy"] == "acro"
    assert content["verdict"] == "publishable"
    assert content["records"]["below_threshold"] == 1
    assert not content["accepted"]
    assert not list(went.glob("0001*"))
    lax = glasshouse(*command, "--rare", "2", "--policy", "outputs")
    assert lax.code == 0
    assert json.loads(lax.out)["accepted"]
    table.write_text("region,n\nA,27\n")
    wrong = glasshouse(*command, "--name", "other")
    assert (wrong.code, len(wrong.error.splitlines())) == (2, 1)
