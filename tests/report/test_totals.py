"""The report of a campaign: what it shows by place, what it keeps to itself, and its pictures."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from glasshouse.disclosure import SMALLEST_CELL, show_cells_from
from glasshouse.language import LANGUAGES, speaking, text
from glasshouse.reconstruction import CampaignResult, ExposurePhase, campaign
from glasshouse.reconstruction.campaign_result import Apart
from glasshouse.report.charts import to_svg
from glasshouse.report.html import to_html
from glasshouse.report.page import Finding, Page, Provenance, Severity, Table
from glasshouse.report.totals.findings import _concentrated, total_findings
from glasshouse.report.totals.page import (
    complexity_table,
    phases_figure,
    places_section,
    value_at_risk,
    value_figure,
)
from glasshouse.report.totals.page import page as total_page
from glasshouse.report.words import counted
from glasshouse.study.totals import TotalsStudy
from tests.report.reading import assert_it_asks_nobody, everything, read_text, telling, tries
from tests.report.snapshots import assert_snapshot
from tests.report.test_deter import figures_in

PROVENANCE = Provenance("1.2.3", 'command = "totals"\n', ("records.csv",))


def write(path: Path, rows: list[tuple[object, ...]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def plan(folder: Path, places: dict[str, tuple[int, int]], **update: Any) -> TotalsStudy:
    """Per place, how many entities are registered and how many records are there: one group for each."""
    records = [(f"id {p} {i}", p, 10) for p, (_, number) in places.items() for i in range(number)]
    totals = [(p, p, 10 * number) for p, (_, number) in places.items()]
    register = [(f"secret {p} {i}", p) for p, (number, _) in places.items() for i in range(number)]
    measures = {"value": "value"}
    return TotalsStudy.model_validate(
        {
            "publications": {
                "records": {
                    "path": write(folder / "records.csv", [("id", "group", "value"), *records]),
                    "measures": measures,
                    "identifier": "id",
                },
                "totals": {
                    "path": write(folder / "totals.csv", [("group", "bin", "value"), *totals]),
                    "measures": measures,
                },
                "register": {
                    "path": write(folder / "register.csv", [("entity", "bin"), *register])
                },
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
            **update,
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


def test_places_are_listed_by_value_at_risk_and_those_of_few_are_not_named(
    found: tuple[TotalsStudy, CampaignResult],
) -> None:
    rows = cells(found[1])
    assert list(rows) == [
        *("Third", "Large", "Other"),
        "2 places that are not named, together",
    ]
    # 90 entities; 30 records of 10 dollars: 300 / 90 before, 300 / 20 after.
    assert rows["Large"] == ["20", "30", "USD 3.33", "USD 15.00", "× 4.5", "30", "0"]
    together = rows["2 places that are not named, together"]
    assert together[:4] == ["15", "44", "USD 4.89", "USD 136.67"]


def test_a_single_place_of_few_cannot_be_told_by_subtraction(tmp_path: Path) -> None:
    result = campaign(plan(tmp_path, {"Large": (20, 30), "Other": (40, 50), "Few": (3, 40)}))
    rows = cells(result)
    assert list(rows) == ["Other", "2 places that are not named, together"]
    assert rows["Other"][0] == "40"


def test_a_place_of_few_that_is_alone_has_no_figures_at_all(tmp_path: Path) -> None:
    rows = cells(campaign(plan(tmp_path, {"Few": (3, 40)})))
    assert rows == {}


def test_places_of_few_that_are_still_few_together_are_covered_by_another(tmp_path: Path) -> None:
    rows = cells(campaign(plan(tmp_path, {"A": (1, 40), "B": (2, 40), "C": (40, 50)})))
    assert list(rows) == ["3 places that are not named, together"]
    assert rows["3 places that are not named, together"][:2] == ["43", "130"]


@pytest.fixture
def _three_are_enough() -> Iterator[None]:
    show_cells_from(3)
    yield
    show_cells_from(SMALLEST_CELL)


@pytest.mark.usefixtures("_three_are_enough")
def test_the_threshold_is_that_of_the_report(found: tuple[TotalsStudy, CampaignResult]) -> None:
    rows = cells(found[1])
    assert rows["Few"][:2] == ["3", "40"]
    assert rows["Seldom"][:2] == ["12", "4"]
    assert not any("not named" in name for name in rows)


def page_of(found: tuple[TotalsStudy, CampaignResult]) -> Page:
    return total_page(found[1], found[0], provenance=PROVENANCE)


def test_the_page_names_no_record_and_no_entity(found: tuple[TotalsStudy, CampaignResult]) -> None:
    page = page_of(found)
    assert_it_asks_nobody(to_html(page))
    said = read_text(page)
    whole = everything(page)
    assert not any(f"secret {place}" in whole for place in PLACES)
    assert "id Few" not in whole
    assert "Where the value at risk is" in said
    assert "“Joined”: she has put the records beside the totals" in said
    exact = {repr(row.value_at_risk) for row in found[1].bins() if row.bin == "Few"}
    assert not any(number in whole for number in exact)


def test_the_page_has_every_part_in_every_language(
    found: tuple[TotalsStudy, CampaignResult],
) -> None:
    pages = {}
    for code in LANGUAGES:
        with speaking(code):
            pages[code] = page_of(found)
            assert to_html(pages[code])
    for page in pages.values():
        assert page.findings
        assert page.adversary
        assert page.limits
        assert page.glossary
        assert all(figure.table is not None for figure in page.pictures)
    assert (
        pages["pt-BR"].title
        == "Quem está por trás de cada registro: importadores e totais publicados"
    )
    assert "“Joined”" not in str([figure.caption for figure in pages["pt-BR"].pictures])


SHIPMENTS = [
    ("172800001", "4924259.04", "39783000"),
    ("172900001", "4078722.43", "31955400"),
    ("228300001", "2272290.64", "29293252"),
    ("229000001", "3752453.61", "42650995"),
    ("256100001", "3496134.03", "49503000"),
    ("256300001", "6508740.07", "77000000"),
    ("257300001", "3183628.58", "31660000"),
    ("257500001", "2319861.17", "22443000"),
    ("316500001", "4660922.94", "44017851"),
    ("317100001", "3673042.49", "33091335"),
    ("94200001", "6202199.17", "60500000"),
]
"""Coal in one month: the shipment, its value in dollars and its weight (Favato 2021, table 1.2)."""
CITIES = {
    "SAO GONCALO DO AMARANTE": (6024745, 71944247, 8),
    "OURO BRANCO": (9002981, 71738400, 1),
    "SERRA": (21710563, 241106000, 106),
    "IPATINGA": (8333965, 77109186, 6),
}
"""Per city the published totals, and how many importers are registered there (table 1.3)."""
IMPORTERS = 18430
"""How many importers there are in the whole country."""


def worked(folder: Path, **update: Any) -> TotalsStudy:
    """The worked example of the source as a campaign of one group."""
    records = [(name, "coal", value, weight) for name, value, weight in SHIPMENTS]
    totals = [("coal", city, value, weight) for city, (value, weight, _) in CITIES.items()]
    rows = [(f"{city} {i}", city) for city, (_, _, many) in CITIES.items() for i in range(many)]
    rows += [(f"elsewhere {i}", "ELSEWHERE") for i in range(IMPORTERS - len(rows))]
    measures = {"value": "value", "weight": "weight"}
    plain = {
        "publications": {
            "shipments": {
                "path": write(
                    folder / "shipments.csv", [("id", "product", "value", "weight"), *records]
                ),
                "measures": measures,
                "identifier": "id",
            },
            "by_city": {
                "path": write(
                    folder / "by_city.csv", [("product", "city", "value", "weight"), *totals]
                ),
                "measures": measures,
            },
            "importers": {"path": write(folder / "importers.csv", [("importer", "city"), *rows])},
        },
        "measures": {"value": {"decimals": 2}, "weight": {}},
        "entities": {"publication": "importers", "keys": {"city": "city"}, "entity": "importer"},
        "phases": [
            {
                "name": "city",
                "packages": "shipments",
                "bins": "by_city",
                "bin": ["city"],
                "keys": {"product": "product"},
            }
        ],
        "rounding": "record",
        "none_bin": False,
        "subject": "importer",
        "currency": "USD",
    }
    return TotalsStudy.model_validate({**plain, **update})


def sentences(findings: tuple[Finding, ...]) -> str:
    return " ".join(finding.sentence for finding in findings)


@pytest.fixture(scope="module")
def coal(tmp_path_factory: pytest.TempPathFactory) -> tuple[TotalsStudy, CampaignResult]:
    study = worked(tmp_path_factory.mktemp("coal"))
    return study, campaign(study)


def test_the_worked_example_names_the_importer_of_two_shipments(
    coal: tuple[TotalsStudy, CampaignResult],
) -> None:
    study, result = coal
    found = total_findings(result, study)
    assert found[0].severity == Severity.HIGH
    assert "who, among 18,430 importers, is behind 2 of 11 records" in found[0].sentence
    assert "USD 9,002,981.47 of USD 45,072,254.17" in found[0].figure
    assert_snapshot("totals-worked", lambda: total_findings(result, study))


def test_without_a_register_only_places_are_told(tmp_path: Path) -> None:
    study = worked(tmp_path, entities=None)
    result = campaign(study)
    found = total_findings(result, study)
    assert found[0].severity == Severity.HIGH
    assert "where each and every record belongs (11 in all)" in found[0].sentence
    assert_snapshot("totals-places", lambda: total_findings(result, study))
    page = read_text(total_page(result, study, provenance=PROVENANCE))
    assert "Where the value at risk is" not in page


def test_what_is_safe_is_said_with_its_assumption(
    found: tuple[TotalsStudy, CampaignResult],
) -> None:
    study, result = found
    safe = [each for each in total_findings(result, study) if each.severity == Severity.SAFE]
    assert [each.sentence for each in safe] == [
        (
            "The published totals do not reveal with certainty who, among 90 importers, is behind "
            "any record (184 in all)."
        )
    ]
    assert "as long as the adversary has nothing but these publications" in safe[0].meaning
    assert_snapshot("totals-nobody", lambda: total_findings(result, study))


def unsettled(result: CampaignResult, *, complete: bool) -> CampaignResult:
    """The same with an instance that was not solved and a group that was set apart."""
    last = result.phases[-1]
    apart = (Apart("rounding", 2, 7, 70.0, "key"), Apart("bin without entities", 1, 5, 50.0, "key"))
    phase = replace(last, instances=last.instances + 1, unsolved=1, apart=apart)
    return replace(result, phases=(*result.phases[:-1], phase), complete=complete)


@pytest.mark.parametrize("complete", [True, False])
def test_what_was_not_solved_is_never_called_safe(
    found: tuple[TotalsStudy, CampaignResult], complete: bool
) -> None:
    study, result = found
    open_ = unsettled(result, complete=complete)
    told = total_findings(open_, study)
    assert not any(each.severity == Severity.SAFE for each in told)
    assert "As far as it was solved" in told[0].sentence
    assert "In 2 groups of phase “city”" in sentences(told)
    assert ("time ran out" in told[-1].meaning) is not complete
    page = read_text(total_page(open_, study, provenance=PROVENANCE))
    assert "Another rounding: the sums agree, but no allocation meets the totals." in page
    assert "place without anybody registered" in page
    if complete:
        assert_snapshot("totals-open", lambda: total_findings(open_, study))


def test_nothing_linked_is_safe_only_if_everything_is_solved(tmp_path: Path) -> None:
    study = plan(tmp_path, {"A": (20, 30)})
    result = campaign(study)
    phase = replace(result.phases[0], linked_so_far=0)
    told = total_findings(replace(result, phases=(phase,)), study)
    (linked,) = (each for each in told if "where any record belongs" in each.sentence)
    assert linked.severity == Severity.SAFE
    told = total_findings(unsettled(replace(result, phases=(phase,)), complete=True), study)
    (linked,) = (each for each in told if "where any record belongs" in each.sentence)
    assert linked.severity == Severity.NOTE


def test_where_no_group_meets_its_totals_no_sentence_reassures(tmp_path: Path) -> None:
    study = plan(tmp_path, {"A": (20, 30)})
    totals = study.publications["totals"].path
    header, row = totals.read_text().splitlines()
    totals.write_text(f"{header}\n{row}00\n")
    result = campaign(study)
    told = total_findings(result, study)
    assert [finding.severity for finding in told] == [Severity.NOTE, Severity.NOTE]
    assert told[0].sentence.endswith("This does not mean that they are safe.")
    assert "records and totals do not agree" in told[1].sentence
    assert to_html(total_page(result, study, provenance=PROVENANCE))


def test_a_register_of_one_needs_no_totals(tmp_path: Path) -> None:
    study = plan(tmp_path, {"A": (1, 30)})
    told = total_findings(campaign(study), study)
    assert told[0].severity == Severity.NOTE
    assert "The register has one entry only, 1 importer" in told[0].sentence
    assert "a guess" not in sentences(told)


def test_places_where_nobody_is_registered_make_guesses_worse(tmp_path: Path) -> None:
    study = plan(tmp_path, {"A": (20, 3), "B": (0, 300)})
    told = total_findings(campaign(study), study)
    assert "nobody is registered where the totals put them" in sentences(told)
    assert "value at risk grows" not in sentences(told)


def test_everybody_named_is_said_so(tmp_path: Path) -> None:
    study = plan(tmp_path, {"A": (1, 3), "B": (1, 5)})
    told = total_findings(campaign(study), study)
    assert told[0].severity == Severity.HIGH
    assert "is behind each and every record (8 in all)" in told[0].sentence


def test_few_places_with_most_value_at_risk_are_counted_not_named(tmp_path: Path) -> None:
    places = {"Rich": (1, 300)} | {f"P{i}": (50, 10) for i in range(9)}
    told = total_findings(campaign(study := plan(tmp_path, places)), study)
    assert "Half of the value at risk, or more, lies in 1 of 10 places." in sentences(told)
    assert "Rich" not in str(told)
    few = plan(tmp_path, dict(list(places.items())[:5]))
    assert "Half of the value" not in sentences(total_findings(campaign(few), few))


def test_where_nobody_is_registered_at_all_no_guess_is_right(tmp_path: Path) -> None:
    study = plan(tmp_path, {"A": (20, 3), "B": (0, 300)})
    records = study.publications["records"].path
    kept = [row for row in records.read_text().splitlines() if not row.startswith("id A")]
    records.write_text("\n".join(kept))
    told = total_findings(campaign(study), study)
    assert "no guess at who is behind a record can be right" in sentences(told)


INSTANCES = pa.table(
    {
        "status": ["unique", "ambiguous", "limit", "unique"],
        "packages": [1, 4, 20, 3],
        "linked": [1, 2, 0, 3],
        "complexity": [0.0, 3.0, 60.0, 3.5],
        "seconds": [0.0, 0.002, 5.0, 0.004],
    }
)


def test_a_wide_axis_of_value_has_powers_of_ten_only() -> None:
    steps = [
        ExposurePhase(name, 1, 0.1, None, value, None, 0, 0.0)
        for name, value in (("prior", 267.0), ("city, joined", 40_700.0), ("city, solved", 4.9e6))
    ]
    axis = value_at_risk(steps, "USD").to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [100.0, 1000.0, 10_000.0, 100_000.0, 1e6, 1e7]
    assert not re.search(r"0\.5|1\.5", str(axis))
    assert '"10 million"' in axis["labelExpr"]
    with speaking("pt-BR"):
        axis = value_at_risk(steps, "USD").to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert '"1 milhão"' in axis["labelExpr"]
    assert '"10 milhões"' in axis["labelExpr"]


def test_value_at_risk_that_grows_a_thousandfold_is_drawn_with_every_label_of_its_axis() -> None:
    steps = [
        ExposurePhase(name, 1, 0.1, None, value, None, 0, 0.0)
        for name, value in (("prior", 267.0), ("city, solved", 4.9e6))
    ]
    with speaking("pt-BR"):
        figure = value_figure(steps, "USD")
        assert figure is not None
        drawn = to_svg(figure.chart)
    assert {"100", "1.000", "10 mil", "100 mil", "1 milhão", "10 milhões"} <= set(
        re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    )


def entries(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[cell.text for cell in row] for group in table.groups for row in group.rows]


def test_how_complex_instances_are_solved_is_a_table_for_specialists() -> None:
    assert entries(complexity_table(INSTANCES)) == [
        ["0–1", "1", "100%", "1", "100%", "0.00", "0.00", "0.00"],
        ["2–4", "2", "100%", "7", "71.4%", "2.50", "3.00", "3.50"],
        ["50+", "1", "0%", "20", "0%", "5,000.00", "5,000.00", "5,000.00"],
    ]


def test_the_numbers_of_every_picture_are_in_a_table(
    coal: tuple[TotalsStudy, CampaignResult],
) -> None:
    values = (("prior", 267.0), ("city", 267.0), ("city, solved", 534.0))
    steps = [ExposurePhase(name, 1, 0.1, None, value, None, 0, 0.0) for name, value in values]
    assert value_figure(steps[:2], "USD") is None  # one bar, twice
    value = value_figure(steps, "USD")
    assert value is not None
    assert [row[1] for row in entries(value.table)] == ["USD 267.00", "USD 267.00", "USD 534.00"]
    (bars,) = value.chart["datasets"].values()
    assert [row["value"] for row in bars] == [267.0, 534.0]
    axis = value.chart["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [0.0, 200.0, 400.0]
    assert '"400"' in axis["labelExpr"]
    figure = phases_figure(coal[1])
    assert entries(figure.table) == [["city", "11", "2"]]
    (rows,) = figure.chart["datasets"].values()
    assert [row["share"] for row in rows] == [100, pytest.approx(100 * 2 / 11)]


def test_the_first_screen_says_who_is_named_what_is_placed_and_what_a_guess_gains(
    found: tuple[TotalsStudy, CampaignResult], coal: tuple[TotalsStudy, CampaignResult]
) -> None:
    assert [tile.figure for tile in page_of(coal).tiles] == ["18.2%", "100%", "< 0.1% → 23.9%"]
    study, result = found
    named, placed, guess = page_of(found).tiles
    assert (named.figure, placed.figure, guess.figure) == ("nobody", "100%", "1.1% → 11.1%")
    unsolved = unsettled(result, complete=True)
    named, placed, _ = page_of((study, unsolved)).tiles
    assert placed.figure == "≥ 100%"
    assert "so far" in named.sentence
    more = page_of((study, unsolved)).actions[-1]
    assert more.command == "glasshouse totals campaign --study study.toml"


def test_certainty_about_many_records_is_a_high_risk_wherever_it_is_told(
    coal: tuple[TotalsStudy, CampaignResult],
) -> None:
    severities = {
        each.severity
        for each in total_findings(coal[1], coal[0])
        if "with certainty" in each.sentence
    }
    assert severities <= {Severity.HIGH, Severity.SAFE}


def change(result: CampaignResult, chance: float, value: float) -> CampaignResult:
    """The same result with another chance, and another value at risk, after the last step."""
    first, *_, last = result.exposures["bayes"]
    last = replace(last, chance=chance, value_at_risk=value)
    return replace(result, exposures={**result.exposures, "bayes": (first, last)})


@tries(
    "totals",
    *("hardly change how often", "are right, down from", "are right, up from", "up from {before}."),
    *("times as much value", "in value: {before}"),
    seeds=40,
)
def test_what_is_said_of_guesses_is_what_came_out(
    seed: int, found: tuple[TotalsStudy, CampaignResult]
) -> None:
    study, result = found
    chosen = random.Random(seed)
    before = result.exposure("bayes")[0]
    close = chosen.choice([1, 1 + 1e-9, 0.9999, 1.0004, 0.3, 3, 40])
    chance, value = before.chance * close, before.value_at_risk * close * chosen.choice([1, 1.2])
    changed = change(result, chance, value)
    directions = {"en": ("up from", "down from"), "pt-BR": ("seria de", "menos que")}
    for code in LANGUAGES:
        with telling(code):
            _, guessed, *further = total_findings(changed, study)
            people = counted(90, "importer")
            gain = page_of((study, changed)).tiles[-1]
            steps = changed.exposures["bayes"]
            title = value_at_risk(steps, "USD").to_dict()["title"]["text"]
            amounts = gain.sentence.rpartition(": ")[2]
            for amount, said in zip(
                (before.value_at_risk, value), figures_in(amounts, code), strict=True
            ):
                assert said == pytest.approx(amount, rel=6e-3)
            for times in figures_in(title, code):
                assert times == pytest.approx(value / before.value_at_risk, rel=6e-3)
                assert times > 1
            figures = figures_in(guessed.sentence.replace(people, ""), code)
            for success in (before.chance, chance):
                assert any(figure == pytest.approx(100 * success, abs=0.06) for figure in figures)
            rises, falls = directions[code]
            assert (rises in guessed.sentence) is (len(figures) == 2 and chance > before.chance)
            assert (falls in guessed.sentence) is (len(figures) == 2 and chance < before.chance)
            if len(figures) == 2:
                assert figures[0] != figures[1]
                assert (figures[0] > figures[1]) is (chance > before.chance)
            at_risk = [each for each in further if each.sentence.count("USD") == 3]
            if at_risk:
                after, whole, least = figures_in(at_risk[0].sentence, code)
                assert after > least
                assert after == pytest.approx(value, rel=6e-3)
                assert least == pytest.approx(before.value_at_risk, rel=6e-3)
                assert whole == pytest.approx(result.value, rel=6e-3)
            else:
                assert value < before.value_at_risk * 1.01


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_of_certainty_is_what_came_out(
    seed: int, found: tuple[TotalsStudy, CampaignResult]
) -> None:
    study, result = found
    chosen = random.Random(seed)
    linked, certain = chosen.randrange(1, 184), chosen.randrange(1, 184)
    first, *_, last = result.exposures["bayes"]
    last = replace(last, certain=certain, certain_value=result.value * chosen.random())
    changed = replace(
        result,
        phases=(replace(result.phases[0], linked_so_far=linked),),
        exposures={**result.exposures, "bayes": (first, last)},
    )
    rest = 184 - certain
    for code in LANGUAGES:
        with telling(code):
            named, *between, unnamed, solved = total_findings(changed, study)
            exact = text("place certain: {linked} of {records} records", linked=linked, records=184)
            (placed,) = (each for each in between if each.figure == exact)
            assert figures_in(named.sentence, code) == [
                *(90, certain, 184, pytest.approx(100 * certain / 184, abs=0.06)),
                pytest.approx(100 * last.certain_value / result.value, abs=0.11),
            ]
            assert figures_in(placed.sentence, code) == [
                linked,
                184,
                pytest.approx(100 * linked / 184, abs=0.06),
            ]
            assert figures_in(unnamed.sentence, code) == [
                rest,
                184,
                pytest.approx(100 * rest / 184, abs=0.06),
            ]
            assert figures_in(solved.sentence, code) == [result.instances]


@tries("totals", "Half of the value at risk, or more", seeds=30)
def test_the_fewest_places_with_half_of_the_value_are_counted(
    seed: int, found: tuple[TotalsStudy, CampaignResult]
) -> None:
    _, result = found
    chosen = random.Random(seed)
    last = result.bins("bayes")[-1]
    values = [chosen.choice([1.0, 5.0, 60.0, 900.0]) for _ in range(chosen.randrange(10, 40))]
    rows = [replace(last, value_at_risk=value, entities=12) for value in values]
    changed: Any = SimpleNamespace(bins=lambda _: rows)
    ranked = sorted(values, reverse=True)
    for code in LANGUAGES:
        with telling(code):
            told = [finding.sentence for finding in _concentrated(changed)]
            for sentence in told:
                few, places = map(int, figures_in(sentence, code))
                assert places == len(values)
                assert 2 * sum(ranked[:few]) >= sum(values) > 2 * sum(ranked[: few - 1])
