"""Green only for what was looked at: every way to a false green that a trial found, by the command that found it."""

from __future__ import annotations

import datetime
import json
import random
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest
from pyarrow import csv

import glasshouse as gh
from glasshouse.measures.verdict import Decision
from tests.conftest import Glasshouse

ILL = ("flu", "asthma", "none")


def write(folder: Path, name: str, columns: dict[str, list[str]]) -> Path:
    path = folder / name
    csv.write_csv(pa.table(columns), path)
    return path


def visits(**further: list[str]) -> dict[str, list[str]]:
    """Return 120 people of two sexes and two states, with an illness that tells nothing."""
    return {
        **further,
        "sex": ["FM"[place % 2] for place in range(120)],
        "state": [("MG", "SP")[place // 2 % 2] for place in range(120)],
        "illness": [ILL[place // 4 % 3] for place in range(120)],
    }


def mails(count: int = 120) -> list[str]:
    return [f"person{place}@example.org" for place in range(count)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("email", mails()),
        ("masked", [f"***.{place + 101}.938-**" for place in range(120)]),
        ("RG", [f"MG-{place + 10}.345.{place + 100}" for place in range(120)]),
        ("telefone", [f"(31) 9{place + 1000}-{place + 2000}" for place in range(120)]),
        ("prontuario", [str(place + 90000) for place in range(120)]),
        ("ip", [f"10.0.{place}.200" for place in range(120)]),
        (
            "placa",
            [f"QX{chr(65 + place % 26)}{place % 10}A{place % 90 + 10}" for place in range(120)],
        ),
        ("nome", [f"Ana {chr(65 + place % 26)}{place}" for place in range(120)]),
    ],
)
def test_what_names_or_reaches_people_never_passes(
    name: str, values: list[str], tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = write(tmp_path, "visits.csv", visits(**{name: values}))
    alone = glasshouse("check", path, "--json")
    assert alone.code == 4
    for roles in ((), ("--id", name)):
        asked = ("-q", "sex", "-q", "state", "-s", "illness", *roles)
        said = glasshouse("check", path, *asked, "--json")
        content = json.loads(said.out)
        assert (said.code, content["meets"]) == (4, False), (name, roles)
        left_out = glasshouse("check", path, *asked, "--drop", name, "--json")
        assert left_out.code == 0
        assert json.loads(left_out.out)["coverage"]["dropped"] == [name]


def test_a_birth_date_is_something_one_can_know_whatever_it_is_called(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    days = [str(datetime.date(1940, 1, 1) + datetime.timedelta(days=157 * n)) for n in range(120)]
    for name in ("birthdate", "geboren am", "zq3"):
        outcome = glasshouse("check", write(tmp_path, "b.csv", visits(**{name: days})), "--json")
        content = json.loads(outcome.out)
        assert outcome.code == 4
        assert name in content["coverage"]["known"]
        named = next(one for one in content["conditions"] if one["measure"] == "named")
        assert named["value"] == 1


def test_a_name_that_many_share_is_known_and_inspect_says_the_same(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    draw = random.Random(2)
    names = ["Maria", "José", "João", "Ana"] * 750
    names[7] = "Wandercleison"
    columns = {
        "nome": names,
        "sexo": [draw.choice("FM") for _ in names],
        "cid": [draw.choice(("J18", "I10", "E11")) for _ in names],
    }
    path = write(tmp_path, "nomes.csv", columns)
    looked_at = json.loads(glasshouse("inspect", path, "--json").out)["columns"][0]
    assert looked_at["role"] == "quasi-identifier"
    assert "belong in no release" not in glasshouse("inspect", path).out
    outcome = glasshouse("check", path, "--json")
    assert outcome.code == 4
    assert "nome" in json.loads(outcome.out)["coverage"]["known"]


def test_a_column_that_is_new_is_named_on_every_surface_and_never_green(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    places = [f"-19.{place:05d} -43.{place:05d}" for place in range(120)]
    path = write(tmp_path, "feb.csv", visits(gps=places))
    asked = ("-q", "sex", "-q", "state", "-s", "illness")
    junit, sarif = tmp_path / "v.xml", tmp_path / "v.sarif"
    outcome = glasshouse("check", path, *asked, "--junit", junit, "--sarif", sarif)
    assert outcome.code == 4
    assert 'Not looked at: "gps"' in outcome.out
    assert "✓ Meets" not in outcome.out
    suite = fromstring(junit.read_text(encoding="utf-8"))
    assert any("gps" in failure.attrib["message"] for failure in suite.findall(".//failure"))
    assert any("gps" in one.attrib["value"] for one in suite.findall(".//property"))
    (run,) = json.loads(sarif.read_text(encoding="utf-8"))["runs"]
    assert any("gps" in result["message"]["text"] for result in run["results"])
    assert {result["level"] for result in run["results"]} == {"error"}
    assessed = tmp_path / "run"
    assert glasshouse("assess", path, *asked, "--out", assessed).code == 0
    assert glasshouse("check", assessed).code == 4
    assert "gps" in (assessed / "report.html").read_text(encoding="utf-8")
    table = csv.read_csv(path)
    verdict = gh.check(table, quasi_identifiers=["sex", "state"], sensitive=["illness"])
    assert (verdict.decision, bool(verdict)) == (Decision.OPEN, False)
    for word in ("drop", "ignore"):
        assert glasshouse("check", path, *asked, f"--{word}", "gps").code == 0
    wrong = glasshouse("check", path, *asked, "--ignore", "gsp")
    assert (wrong.code, '"gsp"' in wrong.error, wrong.out) == (2, True, "")


def test_a_rule_may_dismiss_columns_and_says_so(tmp_path: Path, glasshouse: Glasshouse) -> None:
    path = write(tmp_path, "rows.csv", visits(row=[str(place) for place in range(120)]))
    rule = tmp_path / "rule.toml"
    condition = '[[conditions]]\nmeasure = "smallest-class"\nat_least = 5\n'
    rule.write_text(f'name = "ours"\nignore = ["row", "other"]\n{condition}', encoding="utf-8")
    outcome = glasshouse("check", path, "--policy", rule)
    assert outcome.code == 0
    assert "Not looked at, as the rule dismisses it: row." in outcome.out
    assert glasshouse("check", path).code == 4


def test_what_is_kept_in_a_release_is_judged_with_it(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = write(tmp_path, "mail.csv", visits(email=mails()))
    run = tmp_path / "kept"
    asked = ("-q", "sex", "-q", "state", "-s", "illness", "--k", "11", "--keep", "email")
    made = glasshouse("anonymise", path, *asked, "--out", run)
    assert made.code == 0
    assert "✗ Do not publish as it is" in made.out
    assert "Identifying people by themselves: email" in made.out
    file = glasshouse("check", run / "release.csv", "-q", "sex", "-q", "state", "-s", "illness")
    assert [glasshouse("check", run).code, file.code] == [4, 4]


def test_a_secret_that_everybody_shares_is_learned_by_being_in_the_file(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    columns = visits() | {"illness": ["HIV"] * 120}
    path = write(tmp_path, "register.csv", columns)
    outcome = glasshouse("check", path, "-q", "sex", "-q", "state", "-s", "illness", "--json")
    certain = next(
        one
        for one in json.loads(outcome.out)["conditions"]
        if one["measure"] == "inference-certain"
    )
    assert (outcome.code, certain["value"], certain["met"]) == (4, 1, False)


def test_a_secret_that_everybody_shares_and_nobody_named_is_not_looked_at(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    columns = {"sex": ["F", "M"] * 60, "hiv_status": ["positive"] * 120, "year": ["2023"] * 120}
    path = write(tmp_path, "patients.csv", columns)
    outcome = glasshouse("check", path, "-q", "sex", "--json")
    coverage = json.loads(outcome.out)["coverage"]
    assert (outcome.code, coverage["not-looked-at"]) == (4, ["hiv_status"])
    assert coverage["constant"] == ["year"], "which tells nobody apart, and nothing of anybody"
    verdict = gh.check(pa.table(columns), quasi_identifiers=["sex"])
    assert (verdict.meets, verdict.to_dict()["coverage"]) == (False, coverage)
    assert glasshouse("check", path, "-q", "sex", "--ignore", "hiv_status").code == 0
    chosen = tmp_path / "chosen"
    where = ("--where", "hiv_status=positive", "--where", "year=2023")
    assert glasshouse("assess", path, "-q", "sex", *where, "--out", chosen).code == 0
    judged = json.loads(glasshouse("check", chosen, "--json").out)
    assert (judged["meets"], judged["coverage"]) == (False, coverage)


def test_a_condition_that_was_not_measured_is_shown_as_not_judged(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = write(tmp_path, "v.csv", visits())
    asked = ("-q", "sex", "-q", "state", "-s", "illness")
    rule, junit = tmp_path / "rule.toml", tmp_path / "r.xml"
    conditions = (
        '[[conditions]]\nmeasure = "smallest-class"\nat_least = 5\n'
        '[[conditions]]\nmeasure = "membership-certain"\nat_most = 0.05\n'
    )
    rule.write_text(f'name = "ours"\n{conditions}', encoding="utf-8")
    outcome = glasshouse("check", path, *asked, "--policy", rule, "--junit", junit)
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    assert "1 of 2 conditions was judged" in said
    certain = "people who are certainly in it, as the release reveals"
    assert f"Not judged: {certain}." in said
    suites = fromstring(junit.read_text(encoding="utf-8"))
    assert (suites.attrib["skipped"], len(suites.findall(".//skipped"))) == ("1", 1)
    rule.write_text(f'name = "ours"\ncomplete = true\n{conditions}', encoding="utf-8")
    complete = glasshouse("check", path, *asked, "--policy", rule)
    assert complete.code == 4
    assert "Not judged, though the rule requires it" in complete.out


def test_totals_that_contradict_each_other_have_no_verdict(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = tmp_path / "group.json"
    content = {
        "packages_scaled": [[5], [7]],
        "bins_lo_scaled": [[1], [2]],
        "bins_hi_scaled": [[1], [2]],
        "scale": [1],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    run = tmp_path / "run"
    outcome = glasshouse("totals", "solve", path, "--out", run)
    assert (outcome.code, "May be published" in outcome.out) == (3, False)
    assert glasshouse("check", run).code == 3


@pytest.mark.parametrize("parts", [2, 20])
def test_parts_are_judged_with_the_whole_however_few_people_they_have(
    parts: int, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    people = 400 if parts == 2 else 100
    each = people // parts
    alone = [place % each < 3 or parts == 20 for place in range(people)]
    columns = {
        "group": [str(place // each) for place in range(people)],
        "known": [str(place) if one else "same" for place, one in enumerate(alone)],
    }
    path, run = write(tmp_path, "parts.csv", columns), tmp_path / "run"
    whole = glasshouse("check", path, "-q", "known", "-q", "group")
    glasshouse("assess", path, "-q", "known", "--by", "group", "--out", run)
    assert [whole.code, glasshouse("check", run).code] == [4, 4]


def test_no_verdict_on_the_release_is_given_by_what_asks_something_else(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path, run = write(tmp_path, "v.csv", visits()), tmp_path / "run"
    outcome = glasshouse(
        "target", path, "-q", "sex", "-q", "state", "--know", "sex=F", "--out", run
    )
    assert "? Do not publish on this alone" in outcome.out
    assert "This part neither clears nor refuses the file." in outcome.out
    assert "What to do: Have the whole file judged before it goes out." in outcome.out
    assert f"glasshouse check {path}" in outcome.out
    assert "✓" not in outcome.out
    assert glasshouse("check", run).code == 4


def test_a_baseline_fails_what_is_worse_and_what_is_new(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    january, base = write(tmp_path, "jan.csv", visits()), tmp_path / "base"
    asked = ("-q", "sex", "-q", "state", "-s", "illness")
    assert glasshouse("check", january, *asked, "--out", base).code == 0
    assert glasshouse("check", january, *asked, "--baseline", base).code == 0
    new = write(tmp_path, "feb.csv", visits(shift=["day", "night"] * 60))
    shifts = glasshouse("check", new, *asked, "-q", "shift", "--baseline", base)
    assert shifts.code == 4
    assert "columns of the release that the baseline does not have: 1" in " ".join(
        shifts.out.split()
    )
    fewer = {name: values[:100] for name, values in visits().items()}
    smaller = glasshouse("check", write(tmp_path, "mar.csv", fewer), *asked, "--baseline", base)
    assert smaller.code == 4
    table = csv.read_csv(january)
    assert gh.check(table, quasi_identifiers=["sex", "state"], sensitive=["illness"], baseline=base)


def test_a_row_of_totals_is_nobody_whichever_columns_are_named(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    rows = [
        f"{place:05d};{'FM'[place % 2]};{'MG' if place % 4 < 2 else 'SP'};J18"
        for place in range(400)
    ]
    path = tmp_path / "tot.csv"
    path.write_text("\n".join(["cpf;sexo;uf;cid", *rows, "Total;;;400"]) + "\n", encoding="utf-8")
    asked = ("-q", "sexo", "-q", "uf")
    checked = glasshouse("check", path, *asked, "--drop", "cpf", "--ignore", "cid")
    assert checked.code == 0
    assert "cpf=Total" in checked.out
    for command, further in (("protect", ()), ("anonymise", ("--k", "5"))):
        run = tmp_path / command
        made = glasshouse(command, path, *asked, *further, "--out", run)
        assert '"cpf=Total" (else say --strict)' in made.error
        (release,) = run.rglob("release.csv")
        assert len(release.read_text(encoding="utf-8").splitlines()) == 401


def test_hierarchies_are_taken_from_a_folder_by_the_names_of_their_files(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = write(tmp_path, "v.csv", visits())
    folder = tmp_path / "levels"
    folder.mkdir()
    (folder / "adult_hierarchy_state.csv").write_text("MG;south-east\nSP;south-east\n")
    (folder / "illness.csv").write_text("flu;*\n")
    asked = ("-q", "sex", "-q", "state", "-s", "illness", "--k", "50", "--json")
    made = glasshouse("anonymise", path, *asked, "--hierarchy", folder)
    assert json.loads(made.out)["heights"] == {"sex": 0, "state": 1}
    empty = tmp_path / "empty"
    empty.mkdir()
    refused = glasshouse("anonymise", path, *asked, "--hierarchy", empty)
    assert (refused.code, "called after a column" in refused.error) == (2, True)


def test_a_form_says_what_was_done_and_what_is_known(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    docx = pytest.importorskip("docx")
    path = write(tmp_path, "mail.csv", visits(email=mails()))
    asked = ("-q", "sex", "-q", "state", "-s", "illness")
    before, after = tmp_path / "before", tmp_path / "after"
    glasshouse("assess", path, *asked, "--out", before)
    glasshouse("protect", path, *asked, "--out", after)
    form = glasshouse("report", before, after, "--form", "dpia", "--out", tmp_path / "form")
    assert form.code == 0, form.error
    document = docx.Document(str(tmp_path / "form" / "dpia.docx"))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    text = "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells])
    assert "do not assume the same knowledge" not in text
    assert "left out of the file" in cells
    assert "Assumed known to the adversary: sex and state." in text


def test_the_same_data_have_the_same_verdict_in_whatever_form(tmp_path: Path) -> None:
    columns = visits(email=mails(), place=[f"-19.{n:05d} -43.{n:05d}" for n in range(120)])
    people = pa.table(columns)
    path = write(tmp_path, "visits.csv", columns)
    parquet, sav, base = (tmp_path / f"visits.{kind}" for kind in ("parquet", "sav", "duckdb"))
    pa.parquet.write_table(people, parquet)
    pyreadstat.write_sav(people.to_pandas(), str(sav))
    with duckdb.connect(str(base)) as connection:
        connection.register("people", people)
        connection.execute("create table visits as select * from people")
    relation = duckdb.from_arrow(people)
    forms = (path, parquet, sav, base, people, people.to_pandas(), pl.from_arrow(people), relation)
    asked: dict[str, Any] = {"quasi_identifiers": ["sex", "state"], "sensitive": ["illness"]}
    for roles in ({}, asked, asked | {"drop": ["email"]}, asked | {"drop": ["email", "place"]}):
        verdicts = [gh.check(form, **roles).to_dict() for form in forms]
        assert all(verdict == verdicts[0] for verdict in verdicts[1:]), roles
