"""The command line in another language: every word for people is translated, no figure for programs changes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from glasshouse.language import speak, speaking, system_reason, unknown_name
from tests.conftest import Glasshouse

PEOPLE = (
    "age,sex,ill\n20,F,flu\n30,M,flu\n30,M,cold\n40,F,\n40,F,flu\n"
    + "50,M,cold\n" * 1200
    + "60,F,flu\n"
)
KNOWN = ["-q", "age", "-q", "sex", "-s", "ill"]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GLASSHOUSE_LANG", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    yield
    speak("en")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--lang", "pt-BR", "inspect", "people.csv"],
        ["inspect", "--lang", "pt-BR", "people.csv"],
        ["inspect", "people.csv", "--lang=pt_BR"],
        ["--lang", "en", "inspect", "people.csv", "--lang", "pt"],
    ],
)
def test_the_language_may_be_named_anywhere(glasshouse: Glasshouse, arguments: list[str]) -> None:
    outcome = glasshouse(*arguments)
    assert outcome.code == 0, outcome.error
    assert "papel sugerido" in outcome.out
    assert "Próximo passo: glasshouse assess people.csv -q age -q sex" in outcome.out
    assert "suggested role" in glasshouse("inspect", "people.csv").out


def test_the_environment_names_the_language_where_no_option_does(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSHOUSE_LANG", "pt_BR.UTF-8")
    assert "papel sugerido" in glasshouse("inspect", "people.csv").out
    assert "suggested role" in glasshouse("inspect", "people.csv", "--lang", "en").out


@pytest.mark.parametrize("language", ["xx", "", "--json", "klingon_KL"])
def test_a_language_that_is_not_spoken_is_one_line_in_english(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    message = f'glasshouse: Glasshouse does not speak "{language}"; choose one of "en", "pt-BR"\n'
    outcome = glasshouse("inspect", "people.csv", f"--lang={language}")
    assert (outcome.code, outcome.out, outcome.error) == (2, "", message)
    if language:
        monkeypatch.setenv("GLASSHOUSE_LANG", language)
        assert glasshouse("inspect", "people.csv").error == message


def test_a_language_option_without_a_value_is_one_line(glasshouse: Glasshouse) -> None:
    outcome = glasshouse("inspect", "people.csv", "--lang")
    assert outcome.code == 2
    assert outcome.error == "glasshouse: Option '--lang' requires an argument.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["assess", "--frobnicate"],
            "A opção --frobnicate não existe (opções possíveis: --focal, --strict)",
        ),
        (["assess", "--zzzz"], "A opção --zzzz não existe"),
        (["asses"], "O comando 'asses' não existe. Você quis dizer 'assess'?"),
        (["zzz"], "O comando 'zzz' não existe."),
        (["inspect"], "Falta o argumento 'FILE'."),
        (["synth", "x", "--out", "y.csv"], "Falta a opção '--records'."),
        (["assess", "-q"], "A opção '-q' precisa de um valor."),
        (["deter", "--detection", "1"], "A opção '--detection' precisa de 2 valores."),
        (["demo", "--json=3"], "A opção '--json' não aceita valor."),
        (["inspect", "a", "b"], "Há argumentos a mais (b)"),
        (["assess", "--tries", "x"], "Valor inválido para '--tries': deve ser um número inteiro"),
        (["target", "--fraction", "x"], "Valor inválido para '--fraction': deve ser um número"),
        (["assess", "--threads", "0"], "Valor inválido para '--threads': deve ser no mínimo 1"),
    ],
)
def test_what_was_mistyped_is_told_in_the_language(
    glasshouse: Glasshouse, arguments: list[str], message: str
) -> None:
    outcome = glasshouse("--lang", "pt-BR", *arguments)
    assert (outcome.code, outcome.error) == (2, f"glasshouse: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-q", "agee"], 'people.csv não tem coluna "agee"; você quis dizer "age"?'),
        (["-q", "zip"], 'people.csv não tem coluna "zip"; tem "age", "sex", "ill"'),
        (["-q", "age", "--type", "age=c"], "deve ser 'text', 'integer' ou 'number'"),
        (["-q", "age", "-s", "age"], "é um quase-identificador e também sensível; escolha um"),
        (["-q", "age", "--tries", "0"], '"tries": deve ser no mínimo 1, não 0'),
        (["-q", "age", "--where", "age"], "não tem a forma COLUMN=VALUE"),
        (["-q", "age", "--worth", "x"], "não tem a forma COLUMN:VALUE=NUMBER"),
        (["-q", "age", "--out", "people.csv/x"], "não é uma pasta; escolha outro lugar"),
        (["-q", "age", "--separator", ";;"], "o separador deve ser um só caractere, não ';;'"),
        ([], "informe o que o adversário sabe: -q COLUMN"),
    ],
)
def test_an_error_is_one_line_in_the_language(
    glasshouse: Glasshouse, arguments: list[str], message: str
) -> None:
    outcome = glasshouse("assess", "people.csv", *arguments, "--lang", "pt-BR")
    assert outcome.code == 2
    assert message in outcome.error
    assert outcome.error.count("\n") == 1


def test_a_damaged_file_is_told_in_the_language(glasshouse: Glasshouse) -> None:
    Path("bad.csv").write_text("age,sex\n1,F\n2\n", encoding="utf-8")
    outcome = glasshouse("inspect", "bad.csv", "--lang", "pt-BR")
    assert outcome.error.startswith("glasshouse: bad.csv, linha 3: tem 1 campo em vez de 2;")


COMMANDS = (
    *("demo", "inspect", "assess", "target", "membership", "threat", "totals", "anonymise"),
    *("compare", "deter", "report", "synth"),
)
ENGLISH_HELP = re.compile(
    r"\b(the|she|her|which|what|file|Usage|Options|Arguments|Repeatable|default|Example)\b"
)


@pytest.mark.parametrize(
    "command",
    ["", *COMMANDS, "totals solve", "totals campaign"],
)
def test_the_help_of_every_command_is_translated(glasshouse: Glasshouse, command: str) -> None:
    for option in ("--help", "--help-all"):
        outcome = glasshouse(*command.split(), option, "--lang", "pt-BR")
        assert outcome.code == 0
        assert "Uso: " in outcome.out
        assert "Mostra esta mensagem e sai." in outcome.out
        assert not ENGLISH_HELP.findall(re.sub(r"research-\s*│?\s*│?\s*file", "", outcome.out))
    english = glasshouse(*command.split(), "--help-all").out
    assert "Usage: " in english
    assert "<bool>" not in english, "a flag has no value"
    assert ("--install-completion" in english) == (not command)


def test_a_group_without_a_command_shows_its_help(glasshouse: Glasshouse) -> None:
    outcome = glasshouse("totals")
    assert (outcome.code, outcome.error) == (0, "")
    assert "campaign" in outcome.out


@pytest.mark.parametrize(
    "command",
    [
        ["assess", "people.csv", *KNOWN],
        ["assess", "people.csv", *KNOWN, "--explain", "--where", "age=20..45", "--drop-missing"],
        ["assess", "people.csv", "-q", "age", "-s", "ill", "--by", "sex"],
        ["inspect", "people.csv"],
        ["target", "people.csv", "--know", "age=30", "-s", "ill"],
        ["membership", "people.csv", "--fraction", "0.1", "-q", "age"],
        ["anonymise", "people.csv", "-q", "age", "-s", "ill", "--k", "2", "--suppression", "0.1"],
        ["compare", "people.csv", "-q", "age", "-s", "ill", "--k", "2,3", "--suppression", "0.1"],
        ["deter", "--gain", "8000", "--sizes", "1:5"],
    ],
)
def test_json_is_the_same_in_every_language(glasshouse: Glasshouse, command: list[str]) -> None:
    english = glasshouse(*command, "--json", "--lang", "en")
    portuguese = glasshouse(*command, "--json", "--lang", "pt-BR")
    assert english.code == portuguese.code == 0, english.error + portuguese.error
    assert english.out == portuguese.out
    assert english.out.startswith("{")


def test_the_outcome_is_told_in_the_language(glasshouse: Glasshouse) -> None:
    outcome = glasshouse(
        "assess", "people.csv", *KNOWN, "--subsets", "full", "--out", "run", "--lang", "pt-BR"
    )
    assert outcome.code == 0, outcome.error
    assert "people.csv: 1.206 registros" in outcome.out
    assert "O adversário conhece age e sex: " in outcome.out
    assert "acerto em uma tentativa" in outcome.out
    assert "░ antes, █ depois" in outcome.out
    assert "Relatório: run/report.html" in outcome.out


def test_a_study_may_be_run_in_another_language(glasshouse: Glasshouse) -> None:
    glasshouse("assess", "people.csv", *KNOWN, "--out", "run")
    for arguments in (["--lang", "pt-BR", "assess"], ["assess", "--lang", "pt-BR"]):
        outcome = glasshouse(*arguments, "--study", "run/study.toml")
        assert outcome.code == 0, outcome.error
        assert "registros" in outcome.out


def test_notes_and_warnings_are_told_in_the_language(glasshouse: Glasshouse) -> None:
    arguments = ["assess", "people.csv", *KNOWN, "--drop-missing", "--per-record", "risks.parquet"]
    outcome = glasshouse(*arguments, "--json", "--lang", "pt-BR")
    assert outcome.code == 0, outcome.error
    assert "nota: people.csv: registros excluídos: 1 de 1.206; motivo: " in outcome.error
    assert "risks.parquet: O risco de cada registro também é dado pessoal" in outcome.error


def test_a_process_speaks_the_language_of_its_environment() -> None:
    command = [sys.executable, "-m", "glasshouse", "inspect", "none.csv"]
    spoken = {**os.environ, "GLASSHOUSE_LANG": "pt-BR"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=spoken)
    assert done.returncode == 2
    assert done.stderr.startswith("glasshouse: none.csv: esse arquivo não existe em ")


def test_names_and_reasons_are_told_in_the_language() -> None:
    many = [f"column_{i:02}" for i in range(20)]
    assert unknown_name("column", "zip", "x.csv", many).endswith('"column_11" and 8 more')
    near = unknown_name("column", "weightx", "x.csv", ["weight1", "weight2", "weight3"])
    assert near.startswith('column "weightx" is not in x.csv; did you mean "')
    assert near.count(" or ") == 1
    with speaking("pt-BR"):
        assert unknown_name("value", "zip", "x.csv", many).endswith('"column_11" e mais 8')
        assert " ou " in unknown_name("column", "weightx", "x.csv", ["weight1", "weight2"])
        assert system_reason(PermissionError(13, "Permission denied")) == "permissão negada"
        assert system_reason(OSError(1, "Something unheard of")) == "Something unheard of"
        assert system_reason(OSError("no number")) == "no number"
