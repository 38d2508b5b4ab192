"""What the documentation promises is held by tests that exist, and it stays as short as it is promised to be."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.cli.main import app
from glasshouse.cli.translation import command_of
from tests.pages import blocks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MOST_PAGES, MOST_WORDS = 40, 55_000
"""Of each language, generated pages counted among the pages."""
GENERATED = {"en": 6, "pt": 3}
KINDS = ("", "console")
"""Blocks in which a reader finds commands."""


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
    assert len(commands) == 11
    for name in commands:
        for home in (DOCS, DOCS / "pt"):
            opening = (home / f"{name}.md").read_text("utf-8").split("\n## ")[0]
            block = re.search(r"^```console\n(.*?)^```", opening, re.MULTILINE | re.DOTALL)
            assert block is not None, name
            assert f"$ glasshouse {name}" in opening, name
            assert any(not line.startswith(("$", " ")) for line in block[1].splitlines()), name


def test_totals_of_a_small_release_are_exact_as_the_page_on_sharing_says() -> None:
    assert "of a file of twelve people a report says “5 of the 12”" in (
        DOCS / "share.md"
    ).read_text("utf-8")
    ages = [20, 21, 22, 23, 24, 30, 30, 31, 31, 32, 32, 32]
    people = pa.table({"age": ages, "ill": list("ynynynynynyn")})
    run = gh.assess(people, quasi_identifiers=["age"], sensitive=["ill"])
    assert any("5 of the 12" in finding.sentence for finding in run.findings)


def typed(page: Path) -> list[list[str]]:
    """Return the commands that a page tells its reader to type, carried out or not, as a shell takes them apart."""
    bodies = [block.body for block in blocks(page.read_text("utf-8")) if block.kind in KINDS]
    lines = [
        line.strip().removeprefix("$ ")
        for body in bodies
        for line in body.replace("\\\n", " ").splitlines()
    ]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("glasshouse ")]


def test_every_option_that_a_page_types_is_one_of_its_command() -> None:
    root = command_of(app)
    pages = [*DOCS.rglob("*.md"), ROOT / "README.md"]
    commands = [(page, words[1:]) for page in pages for words in typed(page)]
    assert len(commands) > 250
    for page, words in commands:
        command = root
        while words and words[0] in getattr(command, "commands", ()):
            command, words = command.commands[words[0]], words[1:]
        options = {
            option for each in command.params for option in (*each.opts, *each.secondary_opts)
        }
        given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert given <= options, (page.relative_to(ROOT).as_posix(), command.name, given - options)
