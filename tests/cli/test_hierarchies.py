"""``glasshouse hierarchies``: suggestions that can be seen, edited and passed back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glasshouse.mitigation import read_hierarchy
from tests.conftest import Glasshouse

PEOPLE = [
    "Idade;CEP;Raça/Cor;Bairro;Doença",
    "31;30130-010;1;São José;F32.1",
    "38;30130-020;2;Centro;I10",
    "57;35716-180;4;Centro;B20.5",
    "95;35716-190;99;São José;I10",
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write() -> None:
    Path("people.csv").write_text("\r\n".join(PEOPLE), encoding="latin-1")


KNOWN = ("-q", "Idade", "-q", "CEP", "-q", "Raça/Cor", "-q", "Bairro")


def test_suggestions_are_shown_level_by_level_with_made_up_values(glasshouse: Glasshouse) -> None:
    write()
    outcome = glasshouse("hierarchies", "people.csv", *KNOWN, "--encoding", "latin-1")
    words = " ".join(outcome.out.split())
    assert "shown in full or not at all" in words
    assert not any(value in words for value in ("35716", "São José")), "no value of a record"
    used = json.loads(glasshouse("hierarchies", "people.csv", *KNOWN, "--json").out)
    assert used[0]["rule"] == "top_bottom:top=90:widths=5,10,20"
    assert used[0]["example"] == ["37", "37", "35-39", "30-39", "20-39", "*"]


def test_files_are_as_arx_writes_them_and_can_be_passed_back(glasshouse: Glasshouse) -> None:
    write()
    data = ("people.csv", *KNOWN, "--encoding", "latin-1")
    outcome = glasshouse("hierarchies", *data, "--out", "levels")
    assert outcome.code == 0
    assert (Path("levels") / "Raça_Cor.csv").exists()
    rows = Path("levels/CEP.csv").read_text(encoding="latin-1").splitlines()
    assert rows[0] == "30130-010;30130-***;3013*****;301******;30*******;3********;*"
    assert read_hierarchy("levels/CEP.csv", column="CEP").height == 7
    edited = [
        line.replace(";*", ";centro e leste;*")
        for line in Path("levels/Bairro.csv").read_text(encoding="latin-1").splitlines()
    ]
    Path("levels/Bairro.csv").write_text("\n".join(edited), encoding="latin-1")
    given = [f"--hierarchy={name}=levels/{name}.csv" for name in ("Idade", "CEP", "Bairro")]
    made = json.loads(glasshouse("anonymise", *data, *given, "--k", 4, "--json").out)
    levels = {used["column"]: used["levels"] for used in made["hierarchies"]}
    assert levels["Bairro"] == 3
    assert made["suggested_hierarchies"] == ["Raça/Cor"]


def test_without_columns_those_that_somebody_could_know_are_taken(glasshouse: Glasshouse) -> None:
    write()
    content = json.loads(
        glasshouse("hierarchies", "people.csv", "--encoding=latin-1", "--json").out
    )
    assert [used["column"] for used in content] == [
        *("Idade", "CEP", "Raça/Cor", "Bairro", "Doença")
    ], "in so few records a secret tells people apart"
    rule = ("--hierarchy", "Idade=intervals:10")
    content = json.loads(glasshouse("hierarchies", "people.csv", *KNOWN, *rule, "--json").out)
    assert {"intervals:10"} <= {used["rule"] for used in content}


def test_files_that_are_there_are_not_replaced(glasshouse: Glasshouse) -> None:
    write()
    arguments = ("hierarchies", "people.csv", *KNOWN, "--out", "levels")
    assert glasshouse(*arguments).code == 0
    Path("levels/CEP.csv").write_text("edited")
    refused = glasshouse(*arguments)
    assert refused.code == 2
    assert "exists; choose another place, or say --overwrite" in refused.error
    assert Path("levels/CEP.csv").read_text() == "edited"
    assert glasshouse(*arguments, "--overwrite").code == 0


def test_a_file_about_nobody_says_what_to_do(glasshouse: Glasshouse) -> None:
    Path("x.csv").write_text("a,illness\n1,x\n1,y\n1,x\n1,y\n")
    refused = glasshouse("hierarchies", "x.csv")
    assert refused.code == 2
    assert "say which columns are to be generalised: -q" in refused.error
