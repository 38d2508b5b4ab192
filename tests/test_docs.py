"""What the documentation promises is held by tests that exist, and it stays as short as it is promised to be."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MOST_PAGES, MOST_WORDS = 40, 55_000
"""Of each language, generated pages counted among the pages."""
GENERATED = {"en": 4, "pt": 2}


@pytest.mark.parametrize("page", ["promises.md", "pt/promises.md"])
def test_every_test_that_a_promise_names_is_there(page: str) -> None:
    named = re.findall(r"`(tests/[^`]+)`", (DOCS / page).read_text("utf-8"))
    assert len(named) > 30
    for path, _, function in (name.partition("::") for name in named):
        assert f"def {function}" in (ROOT / path).read_text("utf-8"), (path, function)


@pytest.mark.parametrize("language", ["en", "pt"])
def test_the_documentation_is_no_longer_than_a_reader_bears(language: str) -> None:
    here = DOCS / "pt"
    portuguese = sorted(here.rglob("*.md"))
    pages = portuguese if language == "pt" else sorted({*DOCS.rglob("*.md")} - {*portuguese})
    assert 30 < len(pages) + GENERATED[language] <= MOST_PAGES
    assert sum(len(page.read_text("utf-8").split()) for page in pages) <= MOST_WORDS


def test_a_page_begins_with_what_to_type_and_what_it_shows() -> None:
    """A command's own page: a block of a command stands before any heading but its own."""
    with (DOCS / "site.toml").open("rb") as file:
        commands = tomllib.load(file)["section"][1]["twin"]
    assert len(commands) == 10
    for name in commands:
        for home in (DOCS, DOCS / "pt"):
            opening = (home / f"{name}.md").read_text("utf-8").split("\n## ")[0]
            block = re.search(r"^```console\n(.*?)^```", opening, re.MULTILINE | re.DOTALL)
            assert block is not None, name
            assert f"$ glasshouse {name}" in opening, name
            assert any(not line.startswith(("$", " ")) for line in block[1].splitlines()), name
