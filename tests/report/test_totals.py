"""The report of a campaign: what it shows by place, what it keeps to itself, and its pictures."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pyarrow as pa
import pytest

from glasshouse.report.page import Provenance, render
from glasshouse.report.total_charts import (
    EDGES,
    linked_by_complexity,
    time_by_complexity,
    value_at_risk,
)
from glasshouse.report.total_places import FEWER, places_section
from glasshouse.report.totals import total_page
from glasshouse.study.totals import TotalsStudy
from glasshouse.totals import CampaignResult, Phase, campaign
from tests.report.test_document import assert_it_asks_nobody, text

PROVENANCE = Provenance("1.2.3", 'command = "totals"\n', {"records.csv": "0" * 64})


def plan(folder: Path, places: dict[str, tuple[int, int]]) -> TotalsStudy:
    """Per place, how many entities are registered and how many records are there: one group for each."""

    def write(name: str, rows: list[tuple[object, ...]]) -> Path:
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return folder / name

    records = [(f"id {p} {i}", p, 10) for p, (_, number) in places.items() for i in range(number)]
    totals = [(p, p, 10 * number) for p, (_, number) in places.items()]
    register = [(f"secret {p} {i}", p) for p, (number, _) in places.items() for i in range(number)]
    measures = {"value": "value"}
    return TotalsStudy.model_validate(
        {
            "publications": {
                "records": {
                    "path": write("records.csv", [("id", "group", "value"), *records]),
                    "measures": measures,
                    "identifier": "id",
                },
                "totals": {
                    "path": write("totals.csv", [("group", "bin", "value"), *totals]),
                    "measures": measures,
                },
                "register": {"path": write("register.csv", [("entity", "bin"), *register])},
            },
            "measures": {"value": {}},
            "entities": {"publication": "register", "keys": {"bin": "bin"}, "entity": "entity"},
            "phases": [
                {
                    "name": "city",
                    "packages": "records",
                    "bins": "totals",
                    "bin": ["bin"],
                    "keys": {"group": "group"},
                }
            ],
            "subject": "importer",
            "currency": "USD",
        }
    )


PLACES = {
    "Large": (20, 30),
    "Other": (40, 50),
    "Few": (3, 40),
    "Seldom": (12, 4),
    "Third": (15, 60),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[TotalsStudy, CampaignResult]:
    study = plan(tmp_path_factory.mktemp("report"), PLACES)
    return study, campaign(study)


def cells(result: CampaignResult) -> dict[str, list[str]]:
    (table,) = places_section(result, "importer", "USD").tables
    return {
        row[0].text: [cell.text for cell in row[1:]] for group in table.groups for row in group.rows
    }


def test_places_are_listed_by_value_at_risk_and_those_of_few_without_figures(
    found: tuple[TotalsStudy, CampaignResult],
) -> None:
    rows = cells(found[1])
    assert list(rows) == [
        *("Few", "Third", "Large", "Other", "Seldom"),
        "2 places whose figures are not shown, together",
    ]
    # 90 entities; 30 records of 10 dollars: 300 / 90 before, 300 / 20 after.
    assert rows["Large"] == ["20", "30", "USD 3.33", "USD 15.00", "× 4.5", "30", "0"]
    assert rows["Few"] == [FEWER, *["–"] * 6]
    assert rows["Seldom"] == ["–", FEWER, *["–"] * 5]
    together = rows["2 places whose figures are not shown, together"]
    assert together[:4] == ["15", "44", "USD 4.89", "USD 136.67"]
    assert FEWER == "fewer than 10"


def test_a_single_place_of_few_cannot_be_told_by_subtraction(tmp_path: Path) -> None:
    result = campaign(plan(tmp_path, {"Large": (20, 30), "Other": (40, 50), "Few": (3, 40)}))
    rows = cells(result)
    assert rows["Few"] == [FEWER, *["–"] * 6]
    assert rows["Large"] == ["–"] * 7
    assert rows["Other"][0] == "40"
    assert "2 places whose figures are not shown, together" in rows


def test_the_page_names_no_record_and_no_entity(found: tuple[TotalsStudy, CampaignResult]) -> None:
    study, result = found
    page = render(total_page(result, study, provenance=PROVENANCE))
    assert_it_asks_nobody(page)
    said = text(page)
    assert "secret" not in said
    assert "id Few" not in said
    assert "Where the value at risk is" in said
    assert "“Joined”: she has put the records beside the totals" in said
    exact = {repr(row.value_at_risk) for row in result.bins() if row.bin == "Few"}
    assert not any(number in page for number in exact)


INSTANCES = pa.table(
    {
        "status": ["unique", "ambiguous", "limit", "unique"],
        "packages": [1, 4, 20, 3],
        "linked": [1, 2, 0, 3],
        "complexity": [0.0, 3.0, 60.0, 3.5],
        "seconds": [0.0, 0.002, 5.0, 0.004],
    }
)


def rows_of(chart: object) -> list[dict[str, object]]:
    drawn = chart.to_dict()  # type: ignore[attr-defined]
    (rows,) = drawn["datasets"].values()
    return list(rows)


def test_the_share_linked_is_drawn_beside_the_share_solved() -> None:
    chart = linked_by_complexity(INSTANCES)
    shares = {(row["complexity"], row["what"]): row["share"] for row in rows_of(chart)}
    assert shares["2–4|2", "instances solved exactly"] == 100
    assert shares["2–4|2", "records linked"] == pytest.approx(100 * 5 / 7)
    assert shares["50+|1", "instances solved exactly"] == 0
    drawn = chart.to_dict()
    assert len(drawn["encoding"]["x"]["scale"]["domain"]) == len(EDGES) - 1
    assert drawn["encoding"]["y"]["scale"]["domain"] == [0, 100]


def test_no_bar_of_complexity_is_left_out_of_the_times_and_ticks_are_powers_of_ten() -> None:
    drawn = time_by_complexity(INSTANCES).to_dict()
    axis = drawn["layer"][0]["encoding"]["y"]["axis"]["values"]
    assert axis == [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
    assert len(drawn["layer"][0]["encoding"]["x"]["scale"]["domain"]) == len(EDGES) - 1
    times = {row["complexity"]: row["middle"] for row in rows_of(time_by_complexity(INSTANCES))}
    assert times == {"0–1|1": 0.01, "2–4|2": pytest.approx(3.0), "50+|1": pytest.approx(5000)}


def test_a_wide_axis_of_value_has_powers_of_ten_only() -> None:
    steps = [
        Phase(name, 1, 0.1, None, value, None, 0, 0.0)
        for name, value in (("prior", 267.0), ("city, joined", 40_700.0), ("city, solved", 4.9e6))
    ]
    axis = value_at_risk(steps, "USD").to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [100.0, 1000.0, 10_000.0, 100_000.0, 1e6, 1e7]
    assert not re.search(r"0\.5|1\.5", str(axis))
