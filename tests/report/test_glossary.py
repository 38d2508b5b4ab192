"""The one table of terms: what the pages of the documentation and every report take from it."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import pytest

from glasshouse.language import LANGUAGES, speaking, translated
from glasshouse.report.glossary import TERMS
from tests.report.reading import telling
from tests.report.snapshots import UPDATE

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "en": (
        "glossary.md",
        "pt-BR",
        "# Glossary\n\n"
        "The words of the field as reports, help and documentation use them. A report explains those that it uses. "
        "[Em português](pt/glossary.md)\n\n"
        "| term | in Portuguese | meaning |\n|---|---|---|\n",
    ),
    "pt-BR": (
        "pt/glossary.md",
        "en",
        "# Glossário\n\n"
        "Os termos da área, como os usam os relatórios, a ajuda e a documentação. Cada relatório explica os que usa. "
        "[In English](../glossary.md)\n\n"
        "| termo | em inglês | significado |\n|---|---|---|\n",
    ),
}
"""By language: the page, the other language, and how the page begins."""


def said(message: str, code: str) -> str:
    with speaking(code):
        return translated(message)


def by_the_alphabet(word: str) -> str:
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def glossary_page(code: str) -> str:
    """Return a page of the documentation: every term in a language, with its name in the other one."""
    _, other, beginning = PAGES[code]
    rows = [
        (said(name, code), said(name, other), said(meaning, code))
        for name, meaning in TERMS.items()
    ]
    rows.sort(key=lambda row: by_the_alphabet(row[0]))
    return beginning + "".join(
        f"| {name} | {there} | {meaning} |\n" for name, there, meaning in rows
    )


@pytest.mark.parametrize("code", PAGES)
def test_the_pages_of_the_documentation_say_what_the_table_says(code: str) -> None:
    page = DOCS / PAGES[code][0]
    if os.environ.get(UPDATE) == "1":
        page.write_text(glossary_page(code), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == glossary_page(code), f"run this with {UPDATE}=1"


def test_every_term_has_a_name_of_its_own_and_a_short_meaning() -> None:
    assert set(PAGES) == set(LANGUAGES)
    assert len(TERMS) >= 60
    for code in LANGUAGES:
        with telling(code):
            assert len({translated(name).casefold() for name in TERMS}) == len(TERMS)
            for meaning in TERMS.values():
                explained = translated(meaning)
                assert explained.endswith(".")
                assert len(explained) <= 240, explained
                assert len(re.findall(r"[.!?](?= |$)", explained)) <= 4, explained
