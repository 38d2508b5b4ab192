"""The officer's journey: a hospital file as it came, and a release that she would publish.

The file is as an agency holds it: latin-1, semicolons, decimal commas and Windows line ends, days first in dates, a
postal code with its hyphen, and sex, race and schooling as codes with 9 and 99 for what is not known.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from glasshouse.table import read
from tests.conftest import Glasshouse

NAMES = "Nome;Data de Nascimento;CEP;Sexo;Raça/Cor;Escolaridade;Situação;CID;Renda"
DATA = (
    "atendimentos.csv",
    *("-q", "Data de Nascimento", "-q", "CEP", "-q", "Sexo", "-q", "Raça/Cor"),
    *("-q", "Escolaridade", "-s", "CID", "--encoding", "latin-1"),
)
SEXES, RACES, STAGES = ("1", "2", "9"), ("1", "2", "3", "4", "5", "9", "99"), ("1", "2", "3", "")


@pytest.fixture(autouse=True)
def _hospital(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(7)
    records = [
        ";".join(
            [
                f"Paciente {number}",
                f"{draw.randint(1, 28):02}/{draw.randint(1, 12):02}/{draw.randint(1940, 2009)}",
                f"{draw.choice(['30130', '30140', '31270', '32010'])}-{draw.randrange(0, 400, 10):03}",
                draw.choices(SEXES, [49, 49, 2])[0],
                draw.choices(RACES, [40, 15, 35, 4, 2, 2, 2])[0],
                draw.choice(STAGES),
                draw.choice(["são", "não"]),
                draw.choice(["F32.1", "B20.5", "I10", "J45.0"]),
                f"{draw.randint(800, 9000)},{draw.randint(0, 99):02}",
            ]
        )
        for number in range(1500)
    ]
    content = "\r\n".join([NAMES, *records, ""])
    Path("atendimentos.csv").write_bytes(content.encode("latin-1"))


def test_the_officer_gets_a_release_that_she_would_publish(glasshouse: Glasshouse) -> None:
    """She asks for k = 5 and drops what is suppressed; every promise is checked on the file, read anew."""
    outcome = glasshouse(
        *("anonymise", *DATA, "--k", 5, "--suppression", "0.05", "--recoding", "local"),
        *("--drop-suppressed", "--keep", "Situação", "--time-limit", 5),
        *("--lang", "pt-BR", "--out", "protegido"),
    )
    assert outcome.code == 0
    screen = " ".join(outcome.out.split())
    assert "Como os valores são generalizados" in screen
    assert "Data de Nascimento date_parts:order=dmy varia entre registros" in screen
    assert "CEP cep varia entre registros" in screen
    assert "hierarquias sugeridas: Data de Nascimento, CEP" in screen
    assert "por serem categorias: Sexo, Raça/Cor, Escolaridade" in screen

    content = Path("protegido/release.csv").read_bytes()
    lines = content.decode("latin-1").split("\r\n")
    assert lines[0] == "Data de Nascimento;CEP;Sexo;Raça/Cor;Escolaridade;CID;Situação"
    assert lines[-1] == ""
    assert b'"' not in content
    assert "\n" not in "".join(lines)
    assert {"são", "não"} >= {line.split(";")[-1] for line in lines[1:-1]}

    release = read("protegido/release.csv", quasi_identifiers=lines[0].split(";")[:5])
    values = {name: set(column.values.to_pylist()) for name, column in release.columns.items()}
    assert values["Sexo"] <= {*SEXES, "*"}, "codes are never intervals"
    assert values["Raça/Cor"] <= {*RACES, "*"}
    assert values["Escolaridade"] <= {*STAGES, "*"}
    assert any(value != "*" for value in values["CEP"])
    records = list(zip(*(column.codes for column in release.columns.values()), strict=True))
    classes = [record[:5] for record in records]
    assert min(map(classes.count, set(classes))) >= 5
    stars = ["*"] * 5
    assert not any(line.split(";")[:5] == stars for line in lines), "no suppressed record is left"

    words = Path("protegido/dictionary.md").read_text(encoding="utf-8")
    assert "| Nome | left out of the file |" in words
    assert "| Nome | fora do arquivo |" in words
    assert "| Data de Nascimento | com o detalhe que as pessoas parecidas permitem" in words
    assert "Paciente" not in words

    again = glasshouse("assess", "protegido", "--lang", "pt-BR")
    assert again.code == 0
    assert "0%" in again.out


def test_the_global_recoding_says_what_became_of_each_column(glasshouse: Glasshouse) -> None:
    """No level without its maximum, and a column that says nothing any more is called so."""
    arguments = ("anonymise", *DATA, "--k", 5, "--suppression", "0.05", "--out", "protegido")
    screen = " ".join(glasshouse(*arguments).out.split())
    made = json.loads(Path("protegido/manifest.json").read_text())
    heights = made["heights"]
    highest = {"Data de Nascimento": 5, "CEP": 6}
    for name, most in highest.items():
        assert f"{heights[name]} of {most}: " in screen
    assert made["dialect"] == {"separator": ";", "encoding": "iso8859-1"}
    words = Path("protegido/dictionary.md").read_text(encoding="utf-8")
    for name, most in highest.items():
        if heights[name] == most:
            assert f"| {name} | no longer told: every record has \\* |" in words
    report = Path("protegido/report.html").read_text(encoding="utf-8")
    assert "30130-010 → 30130-*** → 3013*****" in report
    assert "17/05/1984 → 1984-05-* → 1984-Q2 → 1984-* → 198* → *" in report


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_other_kinds_of_files_hold_the_same_release(glasshouse: Glasshouse, kind: str) -> None:
    arguments = ("anonymise", *DATA, "--k", 5, "--suppression", "0.05")
    assert glasshouse(*arguments, "--format", kind, "--out", "a").code == 0
    assert glasshouse(*arguments, "--format", "csv", "--out", "b").code == 0
    first, second = read(f"a/release.{kind}"), read("b/release.csv")
    for name, column in second.columns.items():
        other = first.column(name)
        texts = [column.values[int(code)].as_py() for code in column.codes]
        assert [other.values[int(code)].as_py() for code in other.codes] == texts
    assert Path("b/release.csv").read_text(encoding="utf-8").startswith("Data de Nascimento,CEP,")
    assert glasshouse("assess", "a", "--json").code == 0


def test_numbers_have_the_decimal_sign_of_the_data(glasshouse: Glasshouse) -> None:
    numbers = ("--decimal", ",", "--type", "Renda=number", "--keep", "Renda")
    arguments = ("anonymise", *DATA, *numbers, "--k", 5, "--suppression", "0.05", "--out", "a")
    assert glasshouse(*arguments).code == 0
    incomes = [
        line.split(";")[-1] for line in Path("a/release.csv").read_text("latin-1").split("\n")[1:-1]
    ]
    assert all("." not in income for income in incomes)
    assert any("," in income for income in incomes)
    assert json.loads(Path("a/manifest.json").read_text())["dialect"]["decimal"] == ","


def test_the_seed_is_in_nothing_that_is_published(glasshouse: Glasshouse) -> None:
    seed = 987_654_321
    arguments = ("anonymise", *DATA, "--k", 5, "--suppression", "0.05", "--seed", seed)
    assert glasshouse(*arguments, "--out", "a", "--format", "parquet").code == 0
    for name in ("release.parquet", "dictionary.md", "report.html", "report.json"):
        assert str(seed).encode() not in (Path("a") / name).read_bytes()
    assert str(seed) in Path("a/study.toml").read_text(encoding="utf-8")
