"""The examples in the documentation run, and print what they say they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in CODE.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, page.name, "exec"), names)
        printed = capsys.readouterr().out.split("\n")
        promised = re.findall(r"^print\(.*\)  +# ([^:\n]*)", block, re.MULTILINE)
        for said, line in zip(promised, printed, strict=False):
            assert line == said


@pytest.mark.parametrize("page", ["promises.md", "stability.md", "pt/stability.md"])
def test_every_test_that_a_promise_names_is_there(page: str) -> None:
    root = Path(__file__).parents[1]
    named = re.findall(r"`(tests/[^`]+)`", (root / "docs" / page).read_text("utf-8"))
    assert len(named) > 15
    for path, _, function in (name.partition("::") for name in named):
        assert f"def {function}" in (root / path).read_text("utf-8"), (path, function)
