"""A plan is drafted from the files as agencies publish them, and a campaign begins with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from glasshouse.reconstruction import load_plan
from glasshouse.synthetic.trade import write_trade
from tests.conftest import Glasshouse

CITIES = {"1": "São Paulo", "2": "Belém", "3": "Ouro Branco"}
RECORDS = [  # number, product, value, city
    ("00001", "27011200", "6.215,95", "1"),
    ("00002", "27011900", "1.000,40", "2"),
    ("00003", "27011200", "37,10", "3"),
    ("00004", "84713012", "1.250.000,00", "1"),
    ("00005", "84713019", "912,34", "1"),
    ("00006", "84713019", "77,77", "2"),
]
"""Records as Brazilian files have them."""
TOTALS = [
    ("2701", "São Paulo", "6216"),
    ("2701", "Belém", "x"),
    ("2701", "Ouro Branco", "37"),
    ("2701", "Total", "7253"),
    ("8471", "São Paulo", "1250912"),
    ("8471", "Belém", "78"),
    ("8471", "Total", "1250990"),
]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_publications() -> None:
    lines = ["NÚMERO;COD.NCM;VALOR", *(";".join(record[:3]) for record in RECORDS)]
    Path("siscori.csv").write_text("\n".join(lines), encoding="latin-1")
    rows = [f'"{heading}","{city}",{value}' for heading, city, value in TOTALS]
    Path("comex.csv").write_text("\n".join(['"SH4","MUNICIPIO","Valor"', *rows]))
    places = ["cnpj,município", *(f"e{number},{city}" for number, city in CITIES.items())]
    Path("register.csv").write_text("\n".join([*places, "e4,Belém"]))


def drafted(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("totals", "init", *arguments, "-o", "plan.toml")
    assert outcome.code == 0, outcome.error
    assert "Next: glasshouse totals campaign --study plan.toml" in outcome.out
    return tomllib.loads(Path("plan.toml").read_text())


def test_a_campaign_begins_with_the_draft_of_what_an_agency_publishes(
    glasshouse: Glasshouse,
) -> None:
    write_publications()
    plan = drafted(glasshouse, "siscori.csv", "comex.csv", "--register", "register.csv")
    records, totals = plan["publications"]["siscori"], plan["publications"]["comex"]
    assert records["dialect"]["separator"] == ";"
    assert (records["decimal_comma"], records["thousands"]) == (True, ".")
    assert records["identifier"] == "NÚMERO"
    assert (totals["suppressed"], totals["where"]) == (["x"], ["MUNICIPIO!=Total"])
    assert plan["measures"] == {"VALOR": {"decimals": 2, "unit": 1.0}}
    assert plan["phases"][0]["keys"] == {"COD.NCM_4": "SH4"}
    assert plan["entities"]["keys"] == {"MUNICIPIO": "município"}
    assert plan["entities"]["entity"] == "cnpj"
    files = ("--per-record", "p.parquet", "--entities", "e.parquet")
    outcome = glasshouse("totals", "campaign", "--study", "plan.toml", "--processes", 1, *files)
    assert outcome.code == 0, outcome.error
    assert "totals that are held back, and may be anything from 0 on: 1" in outcome.error
    assert "4 of 6 records" in " ".join(outcome.out.split())


def test_a_draft_replaces_nothing_unasked_and_never_the_data(glasshouse: Glasshouse) -> None:
    write_publications()
    Path("plan.toml").write_text("mine")
    asked = ("totals", "init", "siscori.csv", "comex.csv", "-o")
    refused = glasshouse(*asked, "plan.toml")
    assert (refused.code, refused.error.count("\n")) == (2, 1)
    assert Path("plan.toml").read_text() == "mine"
    data = glasshouse(*asked, "comex.csv", "--overwrite")
    assert (data.code, "is the data itself" in data.error) == (2, True)
    assert glasshouse(*asked, "plan.toml", "--overwrite").code == 0
    assert load_plan("plan.toml").entities is None


def test_what_cannot_be_guessed_is_a_place_to_fill_with_which_no_campaign_begins(
    glasshouse: Glasshouse,
) -> None:
    write_publications()
    rows = Path("comex.csv").read_text()
    Path("comex.csv").write_text(rows.replace('"Valor"', '"VL_FOB"'))
    outcome = glasshouse("totals", "init", "siscori.csv", "comex.csv", "-o", "plan.toml")
    assert outcome.code == 0, outcome.error
    assert (
        '3 places are to be filled before a campaign can begin: look for "TO FILL"' in outcome.error
    )
    plan = Path("plan.toml").read_text()
    assert "# To fill: no column of numbers has the same name" in plan
    assert '"VL_FOB"' in plan
    refused = glasshouse("totals", "campaign", "--study", "plan.toml")
    assert (refused.code, refused.error.count("\n")) == (2, 1)
    filled = plan.replace('"TO FILL"', "value", 1).replace("decimals = 0", "decimals = 2")
    records, totals = 'value = "VALOR"', 'value = "VL_FOB"'
    filled = filled.replace('"TO FILL" = "TO FILL"', records, 1)
    filled = filled.replace('"TO FILL" = "TO FILL"', totals, 1)
    Path("plan.toml").write_text(
        filled.replace('path = "comex.csv"', 'path = "comex.csv"\nsuppressed = ["x"]')
    )
    done = glasshouse("totals", "campaign", "--study", "plan.toml", "--processes", 1)
    assert done.code == 0, done.error


def test_a_month_in_two_columns_and_a_code_in_fewer_digits_are_derived_and_phases_narrow(
    glasshouse: Glasshouse,
) -> None:
    write_trade("month", transactions=400, importers=40)
    files = [f"month/{name}.csv" for name in ("transactions", "by_state", "by_city")]
    plan = drafted(glasshouse, *files, "--register", "month/importers.csv")
    state, city = plan["phases"]
    assert state["keys"] == {"month": "year_month", "product": "product"}
    assert city["keys"] == {"month": "year_month", "product_4": "heading"}
    assert city["bin"] == ["state", "city"]
    assert city["narrowed_by"] == [{"phase": "by_state", "on": ["state"]}]
    assert set(plan["measures"]) == {"value", "weight", "quantity", "freight", "insurance"}
    assert plan["measures"]["weight"] == {"decimals": 5, "unit": 1.0}
    assert '"country"' in Path("plan.toml").read_text().splitlines()[1]
    assert len(load_plan("plan.toml").phases) == 2


def test_what_may_be_three_decimals_or_thousands_is_asked(glasshouse: Glasshouse) -> None:
    Path("records.csv").write_text("id,group,value\n1,g,1.234\n2,g,5.678\n")
    Path("totals.csv").write_text("group,place,value\ng,a,1.234\ng,b,5.678\n")
    plan = drafted(glasshouse, "records.csv", "totals.csv")
    assert plan["measures"]["value"]["decimals"] == 3
    assert (
        "# Check: whether these are three decimals, or thousands." in Path("plan.toml").read_text()
    )


def test_a_draft_speaks_portuguese(glasshouse: Glasshouse) -> None:
    write_publications()
    outcome = glasshouse(
        "totals", "init", "siscori.csv", "comex.csv", "-o", "p.toml", "--lang", "pt-BR"
    )
    assert outcome.code == 0, outcome.error
    assert "# Confira:" in Path("p.toml").read_text()
    assert "Check" not in Path("p.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no.csv", "comex.csv"), "no.csv: there is no such file"),
        (("siscori.csv", "empty.csv"), "empty.csv: is empty"),
    ],
)
def test_files_that_cannot_be_read_are_one_line_and_no_draft(
    glasshouse: Glasshouse, arguments: tuple[str, ...], words: str
) -> None:
    write_publications()
    Path("empty.csv").write_text("")
    outcome = glasshouse("totals", "init", *arguments, "-o", "plan.toml")
    assert (outcome.code, outcome.error.count("\n")) == (2, 1)
    assert words in outcome.error
    assert not Path("plan.toml").exists()


TINY = {
    "called an amount": ("product,value\nx,50\nx,70\ny,10\ny,30\n", "value", "50 70 40"),
    "called so in Portuguese": ("product,Valor\nx,50\nx,70\ny,10\ny,30\n", "Valor", "50 70 40"),
    "by its sums": ("product,n\nx,50\nx,70\ny,10\ny,30\n", "n", "50 70 40"),
}


@pytest.mark.parametrize("kind", TINY)
def test_of_tiny_files_the_amounts_are_a_measure_and_no_key(
    kind: str, glasshouse: Glasshouse
) -> None:
    records, name, sums = TINY[kind]
    Path("records.csv").write_text(records)
    places = zip(("x,N", "x,S", "y,N"), sums.split(), strict=True)
    rows = "".join(f"{place},{total}\n" for place, total in places)
    Path("totals.csv").write_text(f"product,region,{name}\n{rows}")
    plan = drafted(glasshouse, "records.csv", "totals.csv")
    assert "TO FILL" not in Path("plan.toml").read_text()
    assert plan["measures"] == {name: {"decimals": 0, "unit": 1.0}}
    assert plan["phases"][0]["keys"] == {"product": "product"}
    assert plan["phases"][0]["bin"] == ["region"]
    load_plan(Path("plan.toml"))


def test_codes_of_the_same_name_stay_keys(glasshouse: Glasshouse) -> None:
    Path("records.csv").write_text("code,value\n10,5\n10,7\n20,10\n20,3\n30,8\n")
    Path("totals.csv").write_text("code,city,value\n10,A,12\n20,A,13\n30,B,8\n")
    plan = drafted(glasshouse, "records.csv", "totals.csv")
    assert plan["phases"][0]["keys"] == {"code": "code"}
    assert list(plan["measures"]) == ["value"]
