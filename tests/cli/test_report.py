"""``glasshouse report``: the report of a run again, in another language or on paper."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from glasshouse.errors import DataError
from glasshouse.language import speak, spoken
from glasshouse.report import Page, archive
from glasshouse.report.html import to_html
from tests.conftest import Glasshouse


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GLASSHOUSE_LANG", raising=False)
    Path("people.csv").write_text("age,ill\n20,flu\n30,cold\n30,flu\n", encoding="utf-8")
    yield
    speak("en")


@pytest.fixture
def run(glasshouse: Glasshouse) -> Path:
    done = glasshouse("assess", "people.csv", "-q", "age", "-s", "ill", "--out", "run")
    assert done.code == 0, done.error
    return Path("run")


def page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [["--lang", "pt-BR", "report", "run"], ["report", "run", "--lang", "pt-BR"]],
)
def test_a_report_is_written_in_the_language_that_is_asked_for(
    glasshouse: Glasshouse, run: Path, arguments: list[str]
) -> None:
    english = page(run)
    kept = {path.name: path.read_bytes() for path in run.iterdir() if path.name != "report.html"}
    outcome = glasshouse(*arguments)
    assert (outcome.code, outcome.error) == (0, "")
    assert outcome.out == "Relatório: run/report.html\n"
    assert '<html lang="pt-BR"' in page(run)
    assert {name: (run / name).read_bytes() for name in kept} == kept
    assert sorted(path.name for path in run.iterdir()) == sorted([*kept, "report.html"])
    again = glasshouse("report", "run")
    assert again.out == "Report: run/report.html\n"
    assert page(run) == english


def test_without_a_language_it_is_that_of_the_run(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["assess", "people.csv", "-q", "age", "--out", "run", "--lang", "pt-BR"]
    assert glasshouse(*arguments).code == 0
    first = page(Path("run"))
    assert glasshouse("report", "run", "--lang", "en").code == 0
    assert page(Path("run")) != first
    monkeypatch.setenv("GLASSHOUSE_LANG", "en")
    assert glasshouse("report", "run").out == "Report: run/report.html\n"
    assert page(Path("run")) == first


def test_a_run_whose_manifest_names_no_language_is_in_english(
    glasshouse: Glasshouse, run: Path
) -> None:
    english = page(run)
    for content in ("{}", '{"report": {"language": 3}}', '{"report": {"language": "xx"}}', "["):
        (run / "manifest.json").write_text(content)
        (run / "report.html").unlink()
        assert glasshouse("report", "run").code == 0
        assert page(run) == english


def test_json_is_the_page_of_that_language(glasshouse: Glasshouse, run: Path) -> None:
    pages = json.loads((run / "report.json").read_text(encoding="utf-8"))["pages"]
    for language in ("en", "pt-BR"):
        outcome = glasshouse("report", "run", "--json", "--lang", language)
        assert outcome.code == 0
        assert json.loads(outcome.out) == pages[language]


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for what makes a PDF."""
    module = ModuleType("glasshouse.report.pdf")

    def to_pdf(page: Page) -> bytes:
        return f"%PDF {spoken()} {page.title}".encode()

    module.to_pdf = to_pdf  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "glasshouse.report.pdf", module)


@pytest.mark.usefixtures("paper")
def test_a_report_is_also_written_as_pdf(glasshouse: Glasshouse, run: Path) -> None:
    outcome = glasshouse("report", "run", "--pdf", "--lang", "pt-BR")
    assert outcome.code == 0, outcome.error
    assert outcome.out == "Relatório: run/report.html\nRelatório: run/report.pdf\n"
    assert (run / "report.pdf").read_bytes().startswith(b"%PDF pt-BR ")
    again = glasshouse("assess", "people.csv", "-q", "age", "--out", "run", "--overwrite")
    assert again.code == 0, again.error
    assert not (run / "report.pdf").exists()


def test_without_what_makes_a_pdf_nothing_is_written(
    glasshouse: Glasshouse, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "glasshouse.report.pdf", None)
    english = page(run)
    outcome = glasshouse("report", "run", "--pdf", "--lang", "pt-BR")
    assert outcome.code == 2
    assert outcome.error.count("\n") == 1
    assert "pip install 'glasshouse[pdf]'" in outcome.error
    assert page(run) == english


def test_what_is_no_run_is_refused(glasshouse: Glasshouse) -> None:
    def check(folder: str, message: str) -> None:
        outcome = glasshouse("report", folder)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.error == f"glasshouse: {message}\n"

    check("nowhere", 'there is no folder "nowhere"; name the folder of a run')
    check("people.csv", '"people.csv" is a file; name the folder of a run')
    Path("old").mkdir()
    check("old", '"old" is not a run folder: it holds no report.json')
    Path("old/manifest.json").write_text("{}")
    check("old", '"old" is a run without report.json, of an older version; run the study again')
    for foreign in ("", "[]", "{}", '{"format": 2, "pages": []}', '{"format": 2}', "\udcff"):
        Path("old/report.json").write_bytes(foreign.encode("utf-8", "surrogateescape"))
        check("old", "old/report.json is not a report of Glasshouse")
    Path("old/report.json").write_text('{"format": 2, "pages": {"en": {"title": "x"}}}')
    check("old", "old/report.json is not a report of Glasshouse")
    Path("old/report.json").write_text('{"format": 99}')
    version = "was written by another version of Glasshouse; run the study again"
    check("old", f"old/report.json {version}")
    Path("old/report.json").write_text('{"format": 2, "pages": {}}')
    check("old", "old/report.json: holds no report in English; run the study again")
    Path("old/report.json").unlink()
    Path("old/report.json").mkdir()
    check("old", "old/report.json: cannot be read (Is a directory)")


UNDRAWABLE = "is damaged: its pictures cannot be drawn; run the study again"


def kept_pictures(page: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pictures of a stored page, of which there is one at least."""
    inside = [finding["picture"] for finding in page["findings"]]
    pictures = [figure for figure in (page["front"], *inside, *page["figures"]) if figure]
    assert pictures
    return pictures


def test_a_foreign_picture_fetches_nothing(glasshouse: Glasshouse, run: Path) -> None:
    content = json.loads((run / "report.json").read_text(encoding="utf-8"))
    for kept in content["pages"].values():
        for figure in kept_pictures(kept):
            figure["chart"] = {"data": {"url": "http://127.0.0.1:9/x.json"}, "mark": "point"}
    (run / "report.json").write_text(json.dumps(content), encoding="utf-8")
    before = page(run)
    outcome = glasshouse("report", "run")
    assert outcome.code == 2
    assert outcome.error == f"glasshouse: run/report.json {UNDRAWABLE}\n"
    assert page(run) == before


def test_a_report_whose_pictures_are_damaged_is_refused_in_one_line(
    glasshouse: Glasshouse, run: Path
) -> None:
    content = json.loads((run / "report.json").read_text(encoding="utf-8"))
    for kept in content["pages"].values():
        for figure in kept_pictures(kept):
            for rows in figure["chart"]["datasets"].values():
                rows.append(None)
    (run / "report.json").write_text(json.dumps(content), encoding="utf-8")
    outcome = glasshouse("report", "run")
    assert (outcome.code, outcome.error) == (2, f"glasshouse: run/report.json {UNDRAWABLE}\n")
    damaged = archive.from_json((run / "report.json").read_text(encoding="utf-8"), "report.json")
    with pytest.raises(DataError, match="what it is drawn from is damaged"):
        to_html(damaged["en"])


@pytest.mark.parametrize(
    "arguments",
    [["report", "run", "--smallest-cell", "3"], ["--smallest-cell", "3", "report", "run"]],
)
def test_what_a_report_shows_was_decided_by_its_run(
    glasshouse: Glasshouse, run: Path, arguments: list[str]
) -> None:
    outcome = glasshouse(*arguments)
    assert outcome.code == 2
    assert "run the study again with --smallest-cell" in outcome.error


def test_every_kind_of_run_can_be_told_again(glasshouse: Glasshouse) -> None:
    for number, command in enumerate(
        (
            ["target", "people.csv", "--know", "age=30", "-s", "ill"],
            ["membership", "people.csv", "--fraction", "0.1", "-q", "age"],
            ["anonymise", "people.csv", "-q", "age", "--k", "3"],
            ["compare", "people.csv", "-q", "age", "--k", "2,3", "--suppression", "0.5"],
        )
    ):
        folder = f"run{number}"
        assert glasshouse(*command, "--out", folder).code == 0
        outcome = glasshouse("report", folder, "--lang", "pt-BR")
        assert outcome.code == 0, outcome.error
        assert '<html lang="pt-BR"' in page(Path(folder))
