"""In a browser: from a raw file to a report in one's hands, from one language into the other."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasshouse.cli.main import main
from glasshouse.language import speaking, text
from tests.chromium import PATIENCE, barriers, chromium
from tests.examples import IS_THOROUGH

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe (extra dev)")
pytest.importorskip("starlette", reason="needs starlette (extra app)")
CHROMIUM = chromium()
LOOKS_AT_DRAWINGS = True
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, such as Debian's package")

SPILLS = "() => document.scrollingElement.scrollWidth - window.innerWidth"
MARKER = "zanzibar"
"""A value of one record, which no page holds but the one that is asked to show the records."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of 500 people, as an agency sends it: with a title, a total, a note, and old letters."""
    chance = np.random.default_rng(3)
    rows = [
        f"{age};{'MF'[sex]};town{place};{'no' if well else 'yes'}"
        for age, sex, place, well in zip(
            chance.integers(18, 70, 500),
            chance.integers(0, 2, 500),
            chance.integers(0, 9, 500),
            chance.integers(0, 4, 500),
            strict=True,
        )
    ]
    lines = ["Pessoas por município;;;", "age;sex;city;disease", f"44;F;{MARKER};no", *rows]
    lines += ["Total;;;501", "Fonte: Secretaria de Saúde, 2024."]
    (tmp_path / "people.csv").write_bytes("\n".join([*lines, ""]).encode("cp1252"))
    return tmp_path


@pytest.fixture
def app(folder: Path) -> Iterator[str]:
    """The app, started from the command line; it ends cleanly when it is asked to."""
    words = [sys.executable, "-m", "glasshouse", "app", str(folder), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/enter\?token=\S+", line)
        assert address
        yield address[0]
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        (again,) = re.findall(r"^To open it once more: (http\S+)\n$", process.stdout.read())
        assert again.partition("=")[2] != address[0].partition("=")[2]


@pytest.fixture
def enter(app: str, folder: Path) -> Iterator[Callable[..., Any]]:
    """Open the app in a browser; in the end nobody else was asked for anything, and nothing went wrong."""
    home = app.partition("/enter")[0]
    door = (folder / "glasshouse-app" / "enter.html").as_uri()
    strangers: list[str] = []
    wrong: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        def is_ours(address: str) -> bool:
            return address.startswith((f"{home}/", "data:", "blob:")) or address == door

        def open_app(language: str, width: int, **options: Any) -> Any:
            size = {"width": width, "height": 900}
            context = browser.new_context(viewport=size, locale=language, **options)
            context.set_default_timeout(PATIENCE)
            context.add_cookies([{"name": "language", "value": language, "url": home}])
            context.on(
                "request", lambda one: None if is_ours(one.url) else strangers.append(one.url)
            )
            context.on(
                "console",
                lambda message: (
                    None if "status of 422" in message.text else wrong.append(message.text)
                ),
            )
            context.on("weberror", lambda error: wrong.append(str(error.error)))
            tab = context.new_page()
            tab.goto(app if language == "en" else door)  # as the browser is started
            tab.wait_for_url(f"{home}/")
            return tab

        yield open_app
        browser.close()
    assert strangers == []
    assert wrong == []


def check(tab: Any) -> None:
    """Make sure that a page fits, can be used by everybody, and tells neither a record nor a path."""
    tab.wait_for_load_state("load")
    assert tab.evaluate(SPILLS) <= 0, tab.url
    assert barriers(tab) == [], tab.url
    content = tab.content()
    assert str(Path.cwd()) not in content
    assert "/tmp" not in content
    assert MARKER not in content


def to_verdict(tab: Any) -> None:
    """Wait for a job: whoever looks on is led to its verdict, whoever comes later has a button."""
    tab.locator("section .verdict, main:not([data-events]) #job .main").first.wait_for()
    if "/job/" in tab.url:
        tab.locator("#job .main").click()
    tab.locator("section .verdict").wait_for()


def journey(tab: Any, folder: Path, words: Callable[[str], str]) -> tuple[str, str]:
    """Go from the file to the report; return the page and the study that come out."""
    check(tab)
    clicks = 1
    tab.get_by_role("link", name="people.csv", exact=True).click()
    for _ in ("a title", "a note below the table"):  # neither of which can be a record
        check(tab)
        clicks += 1
        tab.get_by_role("link", name=words("Yes, read it so")).click()
    assert "cp1252" in tab.content()
    tab.get_by_role("link", name=words("Show them as they are")).click()
    tab.locator("#rows").get_by_text(MARKER).first.wait_for()
    tab.get_by_role("link", name=words("Mask them")).click()
    assert tab.locator("input[name=role-3]:checked").input_value() == "sensitive"
    tab.locator("input[name=role-1]:checked").focus()
    tab.keyboard.press("ArrowLeft")  # before the first comes the last: leave it out
    assert tab.locator("input[name=role-1]:checked").input_value() == "out"
    tab.get_by_text(words("not looked at: with it the rule is not met")).nth(1).wait_for()
    check(tab)
    tab.keyboard.press("ArrowRight")  # and take it in again
    tab.get_by_role("button", name=words("On to the adversary")).click()
    check(tab)
    assert tab.locator("input[name=known]").count() == 3
    tab.get_by_text("city", exact=True).click()
    tab.locator("details.command code").wait_for(state="attached")
    tab.locator("#unsure > summary").click()
    about = tab.locator("#about-0")
    about.press_sequentially("±2", delay=80)
    tab.wait_for_function("() => document.body.textContent.includes(\"--about 'age=±2'\")")
    check(tab)
    about.fill("")
    tab.locator("#tries").wait_for()
    tries, command = tab.locator("#tries"), tab.locator("details.command code")
    tries.fill("")
    tries.press_sequentially("12", delay=80)  # while answers come in
    tab.wait_for_function("() => document.body.textContent.includes('--tries 12 ')")
    assert tries.input_value() == "12"
    tries.fill("1")
    tab.wait_for_function("() => !document.body.textContent.includes('--tries')")
    assert "--tries" not in command.text_content()
    neighbour = tab.locator("button[name=persona][value=neighbour]")  # who knows all three
    neighbour.focus()
    tab.keyboard.press("Enter")
    tab.locator("button[aria-pressed=true][value=neighbour]").wait_for()
    assert tab.evaluate("document.activeElement.value") == "neighbour", "the keyboard stays"
    last = tab.locator("input[name=known]").last
    for is_ticked in (False, True):
        last.focus()
        tab.keyboard.press("Space")
        tab.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
        tab.locator(
            f"input[name=known][value='2']{':checked' if is_ticked else ':not(:checked)'}"
        ).wait_for()
        assert tab.evaluate("document.activeElement.value") == "2", "and not at the first box"
    neighbour.click()
    tab.locator("button[aria-pressed=true][value=neighbour]").wait_for()
    assert tab.locator("input[name=known]:checked").count() == 3
    tab.reload()
    assert tab.locator("input[name=known]:checked").count() == 3
    clicks += 3  # on to the adversary, who she is, run it
    tab.get_by_role("button", name=words("Run it")).click()
    tab.wait_for_url("**/job/*")
    assert MARKER not in tab.content()
    other = tab.context.new_page()
    other.goto(tab.url)  # a second window follows the same job
    for window in (tab, other):
        to_verdict(window)
    other.close()
    check(tab)
    tab.go_back()
    tab.go_forward()
    tab.get_by_role("link", name=words("Export")).click()
    check(tab)
    with tab.expect_download() as report:
        language = tab.evaluate("() => document.documentElement.lang")
        tab.locator(f"a[href*='report.html'][href$='{language}']").click()
    with tab.expect_download() as study:
        tab.get_by_role("link", name="study.toml").click()
    tab.get_by_role("link", name=words("Verdict"), exact=True).click()
    for name in ("Try what helps", "Make this release"):
        clicks += 1
        tab.locator("#tools .main, #make .main", has_text=words(name)).click()
    to_verdict(tab)
    tab.locator(".verdict.meets").wait_for()
    check(tab)
    with tab.expect_download() as release:
        tab.locator("#tools .main").click()
    with tab.expect_download() as form:
        tab.locator("#tools a[href*='/form/']").click()
    assert Path(form.value.path()).read_bytes()[:2] == b"PK"
    assert clicks + 2 <= 20
    made = folder / "glasshouse-app" / "runs" / "people-anonymise"
    main(["anonymise", "--study", str(made / "study.toml"), "--out", str(folder / "typed")])
    typed = (folder / "typed" / "release.csv").read_bytes()
    assert Path(release.value.path()).read_bytes() == typed
    return tuple(Path(one.value.path()).read_text("utf-8") for one in (report, study))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("language", "width", "scheme"),
    [("pt-BR", 390, "dark"), *([("en", 1440, "light")] if IS_THOROUGH else [])],
)
def test_an_officer_goes_from_a_raw_file_to_a_report(
    enter: Callable[..., Any], folder: Path, language: str, width: int, scheme: str
) -> None:
    def words(english: str) -> str:
        with speaking(language):
            return text(english)

    tab = enter(language, width, color_scheme=scheme)
    report, study = journey(tab, folder, words)
    assert f'lang="{language}"' in report
    assert words("What to do") in report
    assert MARKER not in report + study
    assert str(folder) not in report + study
    assert 'quasi_identifiers = [\n    "age",\n    "sex",\n    "city",\n]' in study
    runs = folder / "glasshouse-app" / "runs"
    assert (runs / "people" / "results.parquet").exists()  # as the command line writes it

    home, run = re.findall("(http://[^/]+)(/run/[^/]+)", tab.url)[0]
    tab.goto(f"{home}/keep{run}")
    check(tab)
    tab.goto(f"{home}/deter")
    tab.get_by_label(words("Penalty when she is detected")).focus()
    before = tab.locator("#answer").inner_text()
    tab.keyboard.press("End")
    tab.wait_for_function("old => document.getElementById('answer').innerText !== old", arg=before)
    check(tab)

    tab.goto(f"{home}/")
    other = "pt-BR" if language == "en" else "en"
    tab.locator(f"form.settings button[value='{other}']").click()
    tab.locator(f"html[lang='{other}']").wait_for(state="attached")
    assert tab.locator("#runs ~ .cards h3 a[href^='/run/']").count() == 3

    with tab.expect_file_chooser() as chooser:
        tab.locator("#upload").click()
    chooser.value.set_files({"name": "população.csv", "mimeType": "", "buffer": b"age\n1\n" * 30})
    tab.locator("form.drop button").click()
    tab.wait_for_url("**/file/*")
    assert (folder / "glasshouse-app" / "files" / "população.csv").stat().st_size == 6 * 30
