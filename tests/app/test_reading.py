"""A file as agencies send it, in the app: what is assumed is said, and what is wrong can be said on the page."""

from __future__ import annotations

import html
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh

testclient = pytest.importorskip("starlette.testclient", reason="needs starlette (extra app)")
from glasshouse.app.drafts import (  # noqa: E402 - it needs the extra
    Draft,
    draft_from,
    draft_of,
    left_aside,
    study_of,
)
from glasshouse.app.workspace import AppWorkspace  # noqa: E402
from tests.app.test_screens import Reader  # noqa: E402

HEADER = "cpf;nome;sexo;municipio;dias"
NAMES = ("Ana Simões", "Bia Araújo", "Caio Sá")


def records() -> list[str]:
    """Return stays in hospital; three names are shared by many."""
    chance = random.Random(4)
    return [
        f"{number:05};{chance.choice(NAMES)};{'FM'[number % 2]};{'Betim' if number % 3 else 'Ubá'};{number % 9}"
        for number in range(90)
    ]


def written(folder: Path, *, before: str = "", after: str = "", total: bool = True) -> Path:
    """Write a file as a spreadsheet in Brazil does."""
    rows = [HEADER, *records(), *(["Total;;;;360"] if total else [])]
    path = folder / "internacoes.csv"
    path.write_bytes((before + "\n".join(rows) + "\n" + after).encode("cp1252"))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    return folder


def page_of(folder: Path, query: str = "", language: str = "en") -> tuple[Reader, str, str, int]:
    """Open the file; return who reads, its address, its page, and the code of the answer."""
    reader = Reader(folder)
    (entry,) = AppWorkspace([folder]).files()
    reader.post("/settings", language=language, back="/")
    answer = reader.get(f"/file/{entry.identifier}{query}")
    return reader, f"/file/{entry.identifier}", html.unescape(answer.text), answer.status_code


SAID = {
    "en": (
        "The first line looks like a title, and the table begins behind it.",
        "read as such files are usually written",
        "cp1252 letters, as it is not UTF-8 (“Encoding of the letters”)",
    ),
    "pt-BR": (
        "A primeira linha parece um título, e a tabela começa depois dela.",
        "lidos como esses arquivos costumam ser escritos",
        "(“Codificação das letras”)",
    ),
}


@pytest.mark.parametrize("language", SAID)
def test_a_title_is_told_what_is_assumed_is_told_and_no_name_of_a_person_is_shown(
    folder: Path, language: str
) -> None:
    written(folder, before="Internações de 2023;;;;\n")
    title, nothing, letters = SAID[language]
    reader, address, page, status = page_of(folder, language=language)
    assert status == 200
    assert title in page
    assert 'href="?skip=1"' in page
    assert nothing not in page
    assert letters in page
    assert not any(name in page for name in NAMES)
    again = html.unescape(reader.get(f"{address}?skip=1").text)
    assert title not in again
    assert letters in again
    assert not any(name in again for name in NAMES), "which the column of names says itself"
    assert "Betim" in again, "other frequent values are told then"


def test_columns_without_a_name_do_not_tell_values_that_may_be_names(folder: Path) -> None:
    path = folder / "people.csv"
    rows = [row.split(";") for row in records()]
    path.write_text(",x,y\n" + "".join(f"{row[1]},{row[2]},{row[4]}\n" for row in rows))
    *_, page, _ = page_of(folder)
    assert "column_1" in page
    assert not any(name in page for name in NAMES)


def test_what_is_said_of_the_file_is_in_the_study_and_in_the_command(folder: Path) -> None:
    written(folder, before="Internações de 2023\n\n", after="\nFonte: SES/MG, 2024.\n")
    reader, address, page, status = page_of(folder, "?skip=2")
    assert status == 422, "and yet a page on which it can be mended"
    assert "say “Lines after the last record” 1" in page
    assert 'name="skip_end"' in page
    said = {"skip": "2", "skip_end": "1", "encoding": "cp1252", "separator": ";"}
    query = "&".join(f"{name}={value.replace(';', '%3B')}" for name, value in said.items())
    page = html.unescape(reader.get(f"{address}?{query}").text)
    assert "read as such files are usually written" in page
    assert "1 record looks like a total or a remark, and is nobody's" in page
    command = "inspect internacoes.csv --skip 2 --skip-end 1 --encoding cp1252 --separator ';'"
    assert command in page

    def begun(**reading: str) -> tuple[str, Draft]:
        place = reader.post(f"{address}/draft", **reading).headers["location"]
        draft = place.removesuffix("/roles").rpartition("/")[2]
        content = json.loads((AppWorkspace([folder]).drafts() / f"{draft}.json").read_text())
        return html.unescape(reader.get(place).text), Draft(**content)

    roles, draft = begun(**said)
    assert "records with cpf=Total" in roles
    assert "--skip 2 --skip-end 1 --invalid cpf=Total --out run" in roles
    question = study_of(AppWorkspace([folder]), draft)
    dialect = question.model_dump()["datasets"][0]["dialect"]
    assert [dialect[name] for name in said] == [2, 1, "cp1252", ";"]
    assert question.model_dump()["treatment"]["invalid"] == ("cpf=Total",)
    _, kept = begun(**said, totals="keep")
    assert not kept.invalid


def test_each_column_is_shown_with_its_values_its_role_and_what_becomes_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder, total=False)
    reader, address, page, _ = page_of(folder)
    rows = {
        re.findall(r'id="column-\d">(\w+)<', row)[0]: row
        for row in page.partition('<table class="roles">')[2]
        .partition("</table>")[0]
        .split("<tr>")[2:]
    }
    assert list(rows) == HEADER.split(";")
    assert "<svg" not in rows["cpf"] + rows["nome"], "what names people has no picture"
    assert rows["sexo"].count("<rect") == 2
    assert rows["dias"].count('<rect x="') == 9
    assert 'name="role-2" value="known" checked' in rows["sexo"]
    assert "judged: people may be identified by it" in rows["sexo"]
    monkeypatch.setattr("glasshouse.disclosure._smallest", 31)
    few = html.unescape(reader.get(address).text)
    assert few.count('<rect class="few"') == 9 + 1, "the days, and the town of thirty"


def test_what_stands_for_missing_and_how_numbers_are_written_is_said_with_a_tick(
    folder: Path,
) -> None:
    rows = "".join(f"{i % 40};{('F', 'M', 'NA')[i % 3]};1.{100 + i},50\n" for i in range(90))
    (folder / "gastos.csv").write_text(f"idade;sexo;gasto\n{rows}")
    reader, address, page, _ = page_of(folder)
    assert 'name="missing" value="1.NA">' in page
    page = html.unescape(reader.get(f"{address}?missing=1.NA&decimal=,&strip=yes").text)
    assert 'name="missing" value="1.NA" checked>' in page
    assert "30 missing" in page
    said = {"missing": "1.NA", "decimal": ",", "strip": "yes", "go": "yes"}
    place = reader.post(f"{address}/draft", **said).headers["location"]
    assert place.endswith("/adversary")
    assert "--strip --decimal , --thousands . --type gasto=number --missing sexo=NA" in (
        html.unescape(reader.get(place).text)
    )
    workspace = AppWorkspace([folder])
    question: Any = study_of(workspace, draft_of(workspace, place.split("/")[2]))
    dataset = question.datasets[0]
    assert dict(dataset.missing) == {"sexo": ("NA",)}
    assert dict(dataset.types) == {"gasto": "number"}
    assert (dataset.dialect.decimal, dataset.dialect.strip) == (",", True)
    outcome: Any = gh.run(question).outcome
    assert outcome.records == 90
    again = draft_from(workspace, question)
    assert left_aside(workspace, again, question) == []
    assert study_of(workspace, again).model_dump()["datasets"] == question.model_dump()["datasets"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?skip=x", "“x” is not a number of lines"),
        ("?skip_end=-1", "“-1” is not a number of lines"),
        ("?encoding=klingon", "klingon"),
        ("?separator=ab", "must be one character"),
        ("?skip_end=50000", "leaves no records"),
    ],
)
def test_what_makes_no_sense_is_told_beside_the_fields(
    folder: Path, query: str, message: str
) -> None:
    written(folder)
    *_, page, status = page_of(folder, query)
    assert status == 422
    assert message in page
    assert 'id="skip"' in page


def test_a_first_line_that_is_a_record_can_be_said_to_be_one(folder: Path) -> None:
    path = folder / "people.csv"
    path.write_text("".join(f"{20 + n % 9},F,{n % 7},200{n % 5}-01-02\n" for n in range(60)))
    reader, address, page, _ = page_of(folder)
    assert "The first line looks like a record" in page
    again = html.unescape(reader.get(f"{address}?header=no").text)
    assert "The first line looks like a record" not in again
    assert "--no-header" in again


def test_what_the_app_suggests_has_the_verdict_of_the_command_line(folder: Path) -> None:
    written(folder)
    reader, address, *_ = page_of(folder)
    place = reader.post(f"{address}/draft").headers["location"]
    draft = place.removesuffix("/roles").rpartition("/")[2]
    content = json.loads((AppWorkspace([folder]).drafts() / f"{draft}.json").read_text())
    verdict = gh.run(study_of(AppWorkspace([folder]), Draft(**content))).verdict
    (file,) = folder.glob("*.csv")
    assert verdict is not None
    assert verdict.to_dict() == gh.check(file).to_dict()
    assert not verdict.meets
