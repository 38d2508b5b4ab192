"""In a browser: every screen of every kind of run, in both languages, narrow and wide, light and dark."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import pytest

from glasshouse import synthetic
from glasshouse.cli.main import main
from tests.app import test_live_browser as live_browser
from tests.app.live import serving, write_people
from tests.app.test_live_browser import check
from tests.examples import IS_THOROUGH

pytestmark = live_browser.pytestmark
LOOKS_AT_DRAWINGS = True
browser = live_browser.browser
KNOWN = "-q age -q sex -s ill"
COMMANDS = (
    f"assess people.csv {KNOWN} --out assess",
    f"assess people.csv {KNOWN} --by city --out parts",
    "target people.csv --know sex=f --know age=30 -s ill --out target",
    "membership sample.csv --population people.csv -q age -q sex --out membership",
    f"anonymise people.csv {KNOWN} --k 5 --out k5",
    f"anonymise people.csv {KNOWN} --k 20 --out k20",
    "compare k5 k20 --out compare",
    "threat k5 --out threat",
    "tables counts.csv --out tables",
    "deter --out deter",
    "protect people.csv -q sex -s ill --policy internal --out protect",
    "totals campaign --study study.toml --out totals",
)
"""What makes a run of every kind."""
RUNS = tuple(command.rpartition(" ")[2] for command in COMMANDS)
OF_RUN = {
    "assess": ("explore?know=0&know=1&pin=1&picture=pairs", "people", "what-if", "groups"),
    "parts": ("groups",),
    "protect": ("export",),
}
"""What else there is to be seen of a run."""
PLACES = (
    *("", "?find=nothing+is+called+so", "compare", "ledger", "further", "tables", "synthetic"),
    *("threat", "totals", "deter", "run/none", "job/none"),
)
"""What there is to be seen without a run."""
WAYS = ((1440, 390), ("light", "dark"), ("en", "pt-BR"))
SEEN = tuple(product(*WAYS) if IS_THOROUGH else zip(*WAYS, strict=True))
"""How screens are looked at: wide in light and English, narrow in dark and Portuguese; or in every way."""
UNFOLD = "() => document.querySelectorAll('details').forEach(folded => { folded.open = true; })"
FAINT = """() => {
    const light = colour => colour.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
    const paper = light(getComputedStyle(document.body).backgroundColor);
    const contrast = own => (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05);
    const within = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...document.querySelectorAll("figure svg text")]
        .filter(said => said.textContent.trim() && said.checkVisibility())
        .filter(said => contrast(light(getComputedStyle(said).fill)) < 4.5)
        .filter(said => ![...said.ownerSVGElement.querySelectorAll(".mark-rect path")]
            .some(mark => within(said.getBoundingClientRect(), mark.getBoundingClientRect())))
        .map(said => said.textContent);
}"""
"""What is written in a drawing, and hard to read: on paper, not on a bar or a cell."""
EMPTY = """() => [...document.querySelectorAll("main section")]
    .filter(part => part.checkVisibility() && part.children.length === 1 && part.firstElementChild.matches("h2, h3"))
    .map(part => part.textContent)"""
"""Headings with nothing below them."""
BEYOND = """() => [...document.querySelectorAll("figure svg text")].filter(said => {
    if (!said.checkVisibility()) return false;
    const [own, figure] = [said, said.closest("figure")].map(one => one.getBoundingClientRect());
    return own.right > figure.right + 1 && said.closest("svg").scrollWidth <= figure.clientWidth;
}).map(said => said.textContent)"""
"""What is written in a drawing, and stands over the edge of its card."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """The app on a port of this machine with a run of every kind: its address, its token, and its folder."""
    folder = tmp_path_factory.mktemp("all")
    write_people(folder / "people.csv")
    rows = (folder / "people.csv").read_text().splitlines()
    (folder / "sample.csv").write_text("\n".join([*rows[:60], ""]))
    (folder / "counts.csv").write_text("age,sex,count\n30,f,3\n30,m,9\n40,f,12\n")
    synthetic.write_trade(folder / "month", transactions=60, importers=12, seed=7)
    copy(Path(__file__).parents[2] / "examples" / "trade" / "study.toml", folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for command in COMMANDS:
            assert main(shlex.split(command)) == 0, command
    copytree(folder / "deter", folder / "earlier")
    with serving(folder) as (home, session):
        yield home, session.launch, folder


@pytest.mark.parametrize(("width", "scheme", "language"), SEEN)
def test_every_screen_fits_can_be_read_and_used_by_everybody(
    browser: Callable[..., Any],
    app: tuple[str, str, Path],
    width: int,
    scheme: str,
    language: str,
) -> None:
    home = app[0]
    tab = browser(width, scheme, language)
    tab.goto(home)
    cards = tab.locator("#runs ~ .cards li")
    assert cards.count() == len(RUNS), "the latest, and no version of a run as one of its own"
    tab.locator("a[href^='/?runs=all']").click()
    tab.wait_for_url("**runs=all#runs")
    assert cards.count() == len(RUNS) + 1
    addresses = {
        name: cards.filter(has_text=f"{name} ·").locator("h3 a").get_attribute("href")
        for name in RUNS
    }
    seen = [addresses[name] for name in RUNS]
    seen += [f"{addresses[name]}/{one}" for name, more in OF_RUN.items() for one in more]
    for address in [*seen, *(f"/{place}" for place in PLACES)]:
        tab.goto(home + address)
        tab.evaluate(UNFOLD)
        check(tab)
        assert not re.search(r"\\x|`", tab.locator("main").inner_text()), tab.url
        assert not any("--" in said for said in tab.locator("main label").all_inner_texts())
        assert tab.evaluate(EMPTY) == [], tab.url
        assert tab.evaluate(FAINT) == [], tab.url
        assert tab.evaluate(BEYOND) == [], tab.url


def test_a_protected_run_begins_with_its_verdict_on_screen_and_on_paper(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    tab = browser(660)  # as wide as what is printed on paper
    tab.goto(f"{app[0]}/")
    tab.locator("#runs ~ .cards li", has_text="protect ·").locator("h3 a").click()
    for media in ("screen", "print"):
        tab.emulate_media(media=media)
        places = [
            tab.locator(part).first.bounding_box()["y"]
            for part in ("section .verdict", ".versions", "#findings")
        ]
        assert places == sorted(places), "the verdict, the versions, and the rest"
    assert places[0] < 400
    assert tab.locator(".versions table").bounding_box()["width"] <= 660, "it is whole on paper"
    tab.emulate_media(media="screen")
    tab.locator("#front > summary").click()
    points = tab.locator("#front figure.trade a")
    addresses = [point.get_attribute("href") for point in points.all()]
    assert len(set(addresses)) == 2, "each version is a point"
    points.last.click()
    tab.wait_for_url(f"**{addresses[-1]}")
    tab.locator("section .verdict").wait_for()
