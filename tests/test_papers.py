"""The pages about publications show what their scripts print, at the size that needs no data and little time."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "papers"
SCRIPTS = sorted(path.stem for path in (ROOT / "papers").glob("*[0-9].py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_page_shows_the_tables_that_its_script_prints(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "papers"))
    importlib.import_module(name).main([])
    printed = [
        table.strip() for table in re.split(r"^(?=\*\*)", capsys.readouterr().out, flags=re.M)
    ]
    shown = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    tables = [table for table in printed if table]
    assert len(tables) > 3
    for table in tables:
        assert table in shown


def test_files_of_a_state_are_held_against_its_published_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "papers"))
    gonze = importlib.import_module("gonze2025")
    header = ",".join([*gonze.KNOWN, gonze.SECRET])
    lines = ["1,30,140010,3,F,202301,202301,a", "1,31,140010,3,M,202301,202301,b"]
    unknown = "2,40,140010,99,F,202301,202301,a"
    for month, records in (("01", lines), ("02", [*lines, unknown])):
        text = "\n".join([header, *records])
        (tmp_path / f"PARR23{month}.csv").write_text(text, encoding="utf-8")
    gonze.main(["--data", str(tmp_path / "PARR23*.csv")])
    printed = capsys.readouterr().out
    assert "Table 3. One guess; 4 records, RR, DATASUS" in printed
    assert re.search(r"all +\| +56\.67% \| 100\.00%", printed)
    with pytest.raises(SystemExit, match="says no state"):
        gonze.main(["--data", "file.csv"])


def test_every_script_has_a_page_that_the_overview_names() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == {*SCRIPTS}
    for overview, home in (
        ("docs/mathematics.md", "../papers"),
        ("docs/pt/mathematics.md", "../../papers"),
    ):
        said = (ROOT / overview).read_text(encoding="utf-8")
        assert all(f"({home}/{name}.md)" in said for name in SCRIPTS)
        assert all(f"papers/{name}.py" in said for name in SCRIPTS)


def test_every_page_cites_its_publication() -> None:
    for name in SCRIPTS:
        first = (PAGES / f"{name}.md").read_text(encoding="utf-8").split("\n## ")[0]
        assert re.search(r"https://", first), name
        assert name[-4:] in first, name
