"""The guides do what they say, in both languages; and the site is whole, and asks nobody for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

from tests.chromium import chromium
from tests.pages import DOCS, ROOT, agrees, carried_out, carry_out, cut_alike

LARGEST = 30_000_000
"""Bytes of the site, at most."""


@pytest.mark.parametrize("page", carried_out(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_commands_print(page: Path, tmp_path: Path) -> None:
    carry_out(page, tmp_path)


def test_an_output_that_is_renewed_is_cut_as_it_was() -> None:
    printed = [
        "• 22 of 1,000 can be named,",
        "which is much.",
        "• Nothing else.",
        "",
        "✗ Fails 4 of 6",
    ]
    shown = ["• Can name 21 of the 1,000", "…", "✗ It fails 4 of the 6"]
    assert cut_alike(shown, printed) == [printed[0], "…", printed[-1]]
    assert cut_alike(["0000 §§§§", "…"], printed) == printed


def test_an_output_that_is_shown_differently_is_noticed() -> None:
    assert agrees(["a", "…", "c"], ["a", "b", "c"])
    assert not agrees(["a", "c"], ["a", "b", "c"])
    assert not agrees(["a", "…", "d"], ["a", "b", "c"])
    assert not agrees(["a"], ["a", "b"])


GENERATED = {"reference/study", "reference/python", "decisions"}
"""Pages in English that stand in no file of the documentation."""


@pytest.fixture(scope="module")
def builder() -> Iterator[ModuleType]:
    spec = spec_from_file_location("site_builder", ROOT / "scripts" / "website.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    before = list(sys.path)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


def test_every_guide_is_in_both_languages(builder: ModuleType) -> None:
    if not list((DOCS / "pt").rglob("*.md")):
        pytest.skip("no page is in Portuguese yet")
    assert builder.without_twin() == []


def test_every_page_of_the_navigation_is_there(builder: ModuleType) -> None:
    for section in builder.sections():
        written = {*section.twins, *section.english} - GENERATED
        assert [name for name in sorted(written) if not (DOCS / f"{name}.md").exists()] == []


def test_links_lead_from_one_language_to_the_other(builder: ModuleType) -> None:
    staged = {"en": {"assess", "start", "tutorials/hospital"}, "pt-BR": {"start", "README"}}
    pages = (
        ("[a](../assess.md#x)", "start", "pt-BR", "[a](anchor:../assess.html#x)"),
        ("[`a`](start.md)", "README", "pt-BR", "[`a`](start.md)"),
        ("[a](../start.md)", "tutorials/hospital", "en", "[a](../start.md)"),
        ("[a](../pt/README.md)", "tutorials/hospital", "en", "[a](path:../pt/index.html)"),
        (
            "[a](../../CITATION.cff)",
            "tutorials/hospital",
            "en",
            "[a](path:../project/CITATION.cff)",
        ),
        ("[a](../papers/xia2015.md)", "papers", "en", "[a](path:project/papers/xia2015.txt)"),
        ("[a](https://x.org)", "start", "en", "[a](https://x.org)"),
    )
    for content, name, language, expected in pages:
        assert builder.linked(content, name, language, staged) == expected


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    pytest.importorskip("Stemmer")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, str(ROOT / "scripts" / "website.py"), str(folder), "--no-samples"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


class Anchors(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.names.add(value)


@cache
def anchors(page: Path) -> Anchors:
    """Return the links and anchors of a page."""
    return Anchors(page.read_text("utf-8"))


def test_every_link_and_anchor_of_the_site_leads_somewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert {site / "index.html", site / "pt" / "index.html", site / "start.html"} <= set(pages)
    lost = []
    for page in pages:
        for link in anchors(page).links:
            if re.match(r"(https?|mailto|data):", link) or "samples/" in link:
                continue
            path, _, anchor = unquote(link).partition("#")
            goal = (page.parent / path.partition("?")[0]).resolve() if path else page
            found = goal.is_file() and (
                not anchor or goal.suffix != ".html" or anchor in anchors(goal).names
            )
            if not found:
                lost.append((page.relative_to(site).as_posix(), link))
    assert lost == []


def test_an_old_address_of_the_site_leads_to_the_new_page(site: Path, builder: ModuleType) -> None:
    moved = builder.moved()
    assert len(moved) > 50
    for old, goals in moved.items():
        for language, goal in goals.items():
            assert not (DOCS / builder.HOMES[language] / f"{old}.md").exists(), old
            page = site / builder.HOMES[language] / f"{old}.html"
            (link,) = anchors(page).links
            assert f'content="0; url={link}"' in page.read_text("utf-8")
            path, _, anchor = link.partition("#")
            there = (page.parent / path).resolve()
            assert (
                there
                == (site / builder.HOMES[language] / f"{goal.partition('#')[0]}.html").resolve()
            )
            assert not anchor or anchor in anchors(there).names, (old, link)


def test_the_frame_of_a_page_speaks_its_language(site: Path, builder: ModuleType) -> None:
    english, portuguese = (
        (site / home / "start.html").read_text("utf-8") for home in builder.HOMES.values()
    )
    for said, word in builder.FRAME.items():
        if said in english:
            assert word in portuguese
    assert "On this page" in english
    assert "On this page" not in portuguese


def test_the_site_is_small(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < LARGEST / 2


def test_the_site_asks_nobody_and_its_search_works_from_disk(site: Path) -> None:
    if chromium() is None:
        pytest.skip("no Chromium")
    from playwright.sync_api import sync_playwright

    requests: list[str] = []
    complaints: list[str] = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab: Any = browser.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on(
            "console", lambda said: complaints.append(said.text) if said.type == "error" else None
        )
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        for name in (
            "index",
            "start",
            "report",
            "tutorials/hospital",
            "pt/index",
            "reference/python",
        ):
            tab.goto((site / f"{name}.html").as_uri())
            tab.wait_for_load_state("load")
        tab.goto((site / "gallery.html").as_uri(), wait_until="commit")  # which is no more
        tab.wait_for_url("**/report.html#gallery")
        tab.goto((site / "start.html").as_uri())
        if (site / "pt" / "start.html").exists():
            tab.locator("a.language").first.click()
            tab.wait_for_url("**/pt/start.html")
        tab.goto(f"{(site / 'search.html').as_uri()}?q=hospital")
        tab.locator("#search-results li a").first.wait_for()
        tab.emulate_media(color_scheme="dark")
        browser.close()
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert complaints == []
