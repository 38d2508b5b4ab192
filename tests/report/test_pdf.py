"""The report on paper: the same sections, every text as text, the same bytes for the same page."""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from glasshouse.errors import GlasshouseError
from glasshouse.language import LANGUAGES, printable, speaking
from glasshouse.report import archive
from glasshouse.report.page import Page
from glasshouse.report.pdf import content_of, to_pdf
from tests.report.pages import HOSTILE, census_page, every_block, small_page

pytest.importorskip("typst", reason="needs typst (extra pdf)")
LOCALES = {"en": "en-GB", "pt-BR": "pt-BR"}
LOOKS_AT_DRAWINGS = True


def unpacked(paper: bytes) -> bytes:
    """Return a PDF with what is packed in it."""
    packed = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", paper, re.DOTALL)
    return paper + b"".join(map(_inflated, packed))


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def texts(value: Any) -> list[str]:
    """Return every text that is handed to typst, without what only tells where lines may break."""
    if isinstance(value, str):
        return [value.replace("\u200b", "").replace("\u00a0", " ")]
    if isinstance(value, dict):
        return [text for own in value.values() for text in texts(own)]
    if isinstance(value, list):
        return [text for own in value for text in texts(own)]
    return []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("make", [small_page, census_page])
def test_a_page_becomes_a_pdf_in_every_language(make: Callable[[str], Page], language: str) -> None:
    with speaking(language):
        paper = to_pdf(make(language))
    assert paper.startswith(b"%PDF-1.7")
    assert re.search(rf"/Lang ?\({LOCALES[language]}\)".encode(), unpacked(paper))
    assert len(paper) < 1_000_000


def test_the_same_page_gives_the_same_bytes_and_no_date() -> None:
    paper = to_pdf(every_block())
    assert paper == to_pdf(every_block())
    assert b"CreationDate" not in unpacked(paper)


def test_everything_of_a_page_is_on_paper() -> None:
    page = every_block("zebra")
    on_paper = "\n".join(texts(content_of(page)))
    for said in texts(json.loads(archive.to_json({"en": page}))["pages"]["en"]):
        if "zebra" in said and said != "zebra" and "schema" not in said:
            assert said in on_paper or printable(said) in on_paper, said


def test_a_page_without_pictures_tables_or_words_is_a_pdf_too() -> None:
    page = every_block()
    bare = replace(page, figures=(), sections=(), glossary=(), findings=(), adversary=())
    nothing = replace(bare.provenance, study="", datasets=(), seed=None, libraries={})
    assert to_pdf(replace(bare, provenance=nothing)).startswith(b"%PDF")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_on_paper(name: str) -> None:
    page = every_block(name)
    assert to_pdf(page).startswith(b"%PDF")
    content = content_of(page)
    assert all(
        character.isprintable() or character in "\u200b\u00a0"
        for shown in texts({**content, "figures": []})
        for character in shown
    )
    assert f"What {printable(name)} lets an adversary learn" in texts(content["title"])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_does_not_stop_the_pictures_of_microdata(name: str) -> None:
    assert to_pdf(small_page("en", name)).startswith(b"%PDF")


def test_no_name_makes_the_paper_endless() -> None:
    assert len(to_pdf(every_block("x" * 5_000))) < 3_000_000


def test_without_typst_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(GlasshouseError, match=r"pip install 'glasshouse\[pdf\]'") as caught:
        to_pdf(every_block())
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
