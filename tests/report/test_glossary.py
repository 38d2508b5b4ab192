"""The one table of terms: what the site and every report take from it."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from glasshouse.language import LANGUAGES, speaking, translated
from glasshouse.report.glossary import TERMS
from tests.report.reading import telling

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_page_of_the_site_says_what_the_table_says(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = spec_from_file_location("reference_pages", SCRIPTS / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = module_from_spec(spec)
    spec.loader.exec_module(reference)
    with speaking(code):
        page = reference.glossary(code)
        expected = {(translated(name), translated(meaning)) for name, meaning in TERMS.items()}
    page = page.replace("\\*", "*")
    rows = [row.strip("| ").split(" | ") for row in page.splitlines() if row.startswith("| ")][1:]
    assert {(name, meaning) for name, _, meaning in rows} == expected
    names = [name for name, _, _ in rows]
    first, last = ("channel", "class") if code == "en" else ("canal", "classe")
    assert names.index(first) < names.index(last)


def test_every_term_has_a_name_of_its_own_and_a_short_meaning() -> None:
    assert len(TERMS) >= 60
    for code in LANGUAGES:
        with telling(code):
            assert len({translated(name).casefold() for name in TERMS}) == len(TERMS)
            for meaning in TERMS.values():
                explained = translated(meaning)
                assert explained.endswith(".")
                assert len(explained) <= 240, explained
                assert len(re.findall(r"[.!?](?= |$)", explained)) <= 4, explained
