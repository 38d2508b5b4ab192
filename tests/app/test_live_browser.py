"""In a browser: chips move the gauge, sliders can be undone; in two tabs, forth and back, narrow and wide, dark."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from glasshouse.language import speaking, text
from glasshouse.runs import run
from glasshouse.runs.run import write_run
from glasshouse.study import dump_study
from glasshouse.study.assess import AssessStudy
from tests.app.live import make_run, serving, study, write_people
from tests.app.test_journey import to_verdict
from tests.chromium import PATIENCE, barriers, chromium

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe (extra dev)")
pytest.importorskip("uvicorn", reason="needs uvicorn (extra app)")
CHROMIUM = chromium()
LOOKS_AT_DRAWINGS = True
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, such as Debian's package")

LONG = {
    "age": 60,
    "sex": 2,
    "city": 9,
    "job": 12,
    "school": 5,
    "origin": 7,
    "civil": 4,
    "day": 31,
    "month": 12,
}
"""The columns of a file that takes a while, and how many values each has."""
SPILLS = "() => document.scrollingElement.scrollWidth - window.innerWidth"


def long_study(path: Path) -> AssessStudy:
    """Return the study of a file that takes a while, and write the file."""
    chance = np.random.default_rng(5)
    columns = [chance.integers(0, values, 5_000) for values in (*LONG.values(), 4)]
    rows = (",".join(f"v{value}" for value in row) for row in zip(*columns, strict=True))
    path.write_text("\n".join([",".join([*LONG, "ill"]), *rows]) + "\n")
    return study(path, adversary={"quasi_identifiers": tuple(LONG), "sensitive": ["ill"]})


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """The app on a port of this machine: its address, the token that opens it, and its folder."""
    folder = tmp_path_factory.mktemp("browsed")
    make_run(folder)
    (folder / "long.toml").write_text(dump_study(long_study(folder / "long.csv"), version="0"))
    with serving(folder) as (home, session):
        yield home, session.launch, folder


@pytest.fixture(scope="module")
def browser(app: tuple[str, str, Path]) -> Iterator[Callable[..., Any]]:
    """Open tabs; in the end nobody else was asked for anything, and nothing went wrong."""
    home, launch, _ = app
    strangers: list[str] = []
    wrong: list[str] = []
    with playwright.sync_playwright() as started:
        process = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        entrance = process.new_context()
        entrance.set_default_timeout(PATIENCE)
        entrance.new_page().goto(f"{home}/enter?token={launch}")
        state = entrance.storage_state()

        def tab(width: int = 1440, scheme: str = "light", language: str = "en") -> Any:
            size = {"width": width, "height": 900}
            context = process.new_context(viewport=size, color_scheme=scheme, storage_state=state)
            context.set_default_timeout(PATIENCE)
            context.add_cookies([{"name": "language", "value": language, "url": home}])
            context.on(
                "request",
                lambda one: (
                    None if one.url.startswith((home, "data:")) else strangers.append(one.url)
                ),
            )
            context.on("console", lambda message: _note(message.text, wrong))
            context.on("weberror", lambda error: wrong.append(str(error.error)))
            page = context.new_page()
            page.goto(home)
            made = page.locator("#runs ~ .cards li", has_text="run ·").locator("h3 a")  # `make_run`
            runs = made if made.count() else page.locator("a[href^='/run/']")
            page.goto(home + runs.first.get_attribute("href"))
            return page

        yield tab
        process.close()
    assert strangers == []
    assert wrong == []


def _note(message: str, wrong: list[str]) -> None:
    """Remember what went wrong, but for what a test lets fail."""
    if not re.search("net::ERR_FAILED|status of (422|507)", message):
        wrong.append(message)


def figure(tab: Any) -> str:
    """Return the figure of the first gauge."""
    content: str = tab.locator(".gauge.large .figure strong").inner_text()
    return content


def after(tab: Any, act: Callable[[], Any], part: str) -> None:
    """Do something, and wait until a part of the page has been replaced."""
    tab.evaluate(f"document.getElementById('{part}').dataset.old = 'yes'")
    act()
    tab.locator(f"#{part}:not([data-old])").wait_for(state="attached")


def check(tab: Any) -> None:
    """Make sure that a page fits, and can be used by everybody."""
    assert tab.evaluate(SPILLS) <= 0, tab.url
    assert barriers(tab) == [], tab.url


def test_chips_move_the_gauge(browser: Callable[..., Any]) -> None:
    tab = browser()
    tab.get_by_role("link", name="Explore sets").click()
    assert tab.locator(".gauge").count() == 0
    age, city = tab.get_by_role("checkbox", name="age"), tab.get_by_role("checkbox", name="city")
    after(tab, age.check, "learned")
    with_age = figure(tab)
    city.focus()
    after(tab, lambda: tab.keyboard.press("Space"), "learned")
    with_both = figure(tab)
    assert with_both != with_age
    assert tab.evaluate("document.activeElement.value") == "2", "the chip is still at hand"
    address = tab.url
    tab.reload()
    assert figure(tab) == with_both
    other = tab.context.new_page()
    other.goto(address)
    assert figure(other) == with_both
    after(other, other.get_by_role("checkbox", name="age").uncheck, "learned")
    assert figure(other) != with_both
    tab.go_back()
    tab.locator(".gauge.large strong", has_text=with_age).wait_for()
    assert not tab.get_by_role("checkbox", name="city").is_checked()
    after(tab, lambda: tab.get_by_role("link", name="Pin this set").click(), "compared")
    assert tab.locator("#compared").is_visible()
    after(tab, lambda: tab.get_by_label("At most this many facts").fill("1"), "found")
    assert "4 of 15 sets" in tab.locator("#found").inner_text()
    pairs = tab.get_by_role("link", name="What each pair of columns reveals")
    after(tab, pairs.click, "pictures")
    assert tab.locator("#pictures figure svg").first.is_visible()
    assert pairs.is_visible()
    assert all(entry in tab.url for entry in ("know=0", "pin=1", "most=1", "picture=pairs"))
    tab.locator("#exactly summary").click()
    check(tab)


def test_sliders_are_measured_and_undone(browser: Callable[..., Any]) -> None:
    tab = browser(390, "dark")
    tab.get_by_role("link", name="What if").click()
    before = figure(tab)
    slider = tab.get_by_label("age", exact=True)
    slider.focus()
    after(tab, lambda: tab.keyboard.press("ArrowRight"), "outcome")
    first = figure(tab)
    assert first != before
    assert tab.evaluate("document.activeElement.id") == "level-0"
    after(tab, lambda: tab.keyboard.press("End"), "outcome")
    assert tab.locator("#at-0").inner_text().startswith("the column is left out")
    top = slider.get_attribute("max")
    assert f"--level age={top}" in tab.locator("#command code").text_content()
    other = tab.context.new_page()
    other.goto(tab.url)
    assert figure(other) == figure(tab)
    tab.reload()
    assert tab.locator("#steps tbody tr").count() == 3
    tab.locator("#undo").click()
    tab.wait_for_url("**/what-if?moves=0.1")
    assert figure(tab) == first
    assert slider.input_value() == "1"
    tab.go_back()
    tab.locator("#steps tbody tr").nth(2).wait_for()
    assert slider.input_value() == slider.get_attribute("max")
    after(tab, lambda: tab.get_by_label("At least this many alike (k)").fill("240"), "outcome")
    assert "Not possible" in tab.locator("#outcome").inner_text()
    assert tab.get_by_role("button", name="Make this release").is_disabled()
    check(tab)


@pytest.mark.parametrize(
    ("width", "scheme", "language"), [(1440, "light", "en"), (390, "dark", "pt-BR")]
)
def test_groups_are_dragged_moved_and_named_in_place(
    browser: Callable[..., Any], width: int, scheme: str, language: str
) -> None:
    tab = browser(width, scheme, language)
    tab.goto(f"{tab.url}/what-if?edit=0")
    check(tab)
    first = tab.locator("input[name=edge]").first
    at = int(first.input_value())
    first.focus()
    after(tab, lambda: tab.keyboard.press("ArrowRight"), "grouping")
    assert first.input_value() == str(at + 1)
    assert tab.evaluate("document.activeElement.value") == str(at + 1), "it is still in the hand"
    assert tab.locator("#level-0").input_value() == "1", "the column is told in these groups"
    tracks = first.bounding_box()
    low, high = (float(first.get_attribute(end)) for end in ("min", "max"))
    place = tracks["x"] + 8 + (tracks["width"] - 16) * (at + 1 - low) / (high - low)
    tab.mouse.move(place, tracks["y"] + tracks["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(place + (tracks["width"] - 16) * 2 / (high - low), tracks["y"] + 9, steps=4)
    after(tab, tab.mouse.up, "grouping")
    assert first.input_value() == str(at + 3)
    groups = tab.locator("input[name=edge]").count() + 1
    name = tab.locator("input[name=name]").first
    name.fill("young, really")
    after(tab, lambda: name.press("Enter"), "grouping")
    assert f"edges={at + 3}," in tab.locator("#command code").text_content()
    assert "young%2C really" in tab.locator("#command code").text_content()
    after(tab, tab.locator("button[name=join]").last.click, "grouping")
    assert tab.locator("input[name=name]").count() == groups - 1
    tab.locator("#beside a").click()
    tab.locator("table.invented", has_text="young, really").wait_for()
    assert tab.locator("table.pairs svg").count() == 8
    tab.locator("#beside-title").wait_for()
    check(tab)
    tab.reload()
    assert first.input_value() == str(at + 3), "it is in the address"
    points = tab.locator("figure.trade a")
    assert points.count() == 2
    points.first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.getElementById('level-0').value === '0'")
    check(tab)


def test_no_answer_is_said_as_no_answer(browser: Callable[..., Any]) -> None:
    tab = browser()
    tab.get_by_role("link", name="Explore sets").click()
    age = tab.get_by_role("checkbox", name="age")
    after(tab, age.check, "learned")
    with_age = figure(tab)
    tab.route("**/explore?*", lambda route: route.abort())
    city = tab.get_by_role("checkbox", name="city")
    city.focus()
    tab.keyboard.press("Space")
    tab.locator("#silent", has_text="The app does not answer").wait_for()
    assert (age.is_checked(), city.is_checked(), figure(tab)) == (True, False, with_age)
    check(tab)
    tab.unroute("**/explore?*")
    after(tab, city.check, "learned")
    assert not tab.locator("#silent").is_visible()
    assert figure(tab) != with_age


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1440, "dark")])
def test_everybody_can_use_the_screens(
    browser: Callable[..., Any], width: int, scheme: str
) -> None:
    tab = browser(width, scheme, "pt-BR")
    check(tab)
    tab.emulate_media(media="print")
    assert tab.locator("section .verdict").bounding_box()["y"] < 400, "on paper it comes first"
    for unprinted in ("button", ".button", "#exactly", ".bar", ".rail"):
        assert not tab.locator(unprinted).first.is_visible(), unprinted
    tab.emulate_media(media="screen")
    for name in ("Explorar conjuntos", "Pessoas", "E se"):
        tab.get_by_role("link", name=name, exact=True).click()
        tab.wait_for_load_state("load")
        check(tab)
    tab.goto(f"{tab.url}?moves=0.1-2.1-k.2-r.300")
    check(tab)


@pytest.mark.parametrize(
    ("width", "scheme", "language", "accept", "forms"),
    [
        (390, "dark", "pt-BR", "Aceitar: ela sai", ("further", "tables")),
        (1440, "light", "en", "Accept: it goes out", ("synthetic",)),
    ],
)
def test_an_output_is_dropped_held_against_the_ledger_and_accepted(
    browser: Callable[..., Any],
    width: int,
    scheme: str,
    language: str,
    accept: str,
    forms: tuple[str, ...],
) -> None:
    tab = browser(width, scheme, language)
    home = "/".join(tab.url.split("/")[:3])
    for word in forms:
        tab.goto(f"{home}/{word}")
        check(tab)
    tab.goto(f"{home}/ledger")
    name = f"towns-{width}"
    tab.evaluate(
        """name => {
            const dropped = new DataTransfer();
            dropped.items.add(new File(["town,count\\nnorth,120\\nsouth,115\\n"], `${name}.csv`));
            document.querySelector("form.drop").dispatchEvent(new DragEvent("drop", {dataTransfer: dropped}));
        }""",
        name,
    )
    tab.get_by_role("button", name=accept).click()
    tab.wait_for_selector("[role=status]")
    assert tab.locator("tbody th").last.inner_text() == name
    check(tab)


def test_a_version_that_was_tried_is_made(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    tab = browser()
    tab.get_by_role("link", name="What if").click()
    tab.goto(f"{tab.url}?moves=0.2-2.1-k.2-r.300")
    tab.get_by_role("button", name="Make this release").click()
    tab.wait_for_url("**/job/**")
    made = app[2] / "glasshouse-app" / "runs" / "run-anonymise"
    while not (made / "release.csv").exists():
        time.sleep(0.1)
    released = (made / "release.csv").read_text().splitlines()
    assert len(released) == 241
    assert {line.split(",")[2] for line in released[1:]} == {"*"}


def test_the_best_version_for_the_rule_is_found_opened_and_taken_along(
    browser: Callable[..., Any],
) -> None:
    tab = browser()
    tab.goto(tab.url.partition("/run/")[0])
    tab.locator(".cards a", has_text="What people.csv").click()
    tab.get_by_role("link", name="What if").click()
    tab.get_by_role("button", name="Find the best for my rule").click()
    tab.wait_for_url("**/job/**")
    to_verdict(tab)
    tab.locator(".verdict.meets").wait_for()
    check(tab)
    versions = tab.locator(".versions tbody tr")
    assert versions.locator("th").all_inner_texts()[:3] == [
        *("Verdict", "Detail lost", "Right guesses at who it is"),
    ]
    assert re.search(r"\d%", versions.nth(1).inner_text())
    with tab.expect_download() as best:
        tab.locator("#tools .main").click()
    with tab.expect_download() as first:
        tab.locator(".versions a[download]").first.click()
    tab.locator(".versions thead a").first.click()
    tab.locator(".verdict.meets").wait_for()
    tab.get_by_role("link", name="Export").click()
    check(tab)
    with tab.expect_download() as release:
        tab.get_by_role("link", name="release.csv").click()
    contents = {Path(one.value.path()).read_text() for one in (best, first, release)}
    content = contents.pop().splitlines()
    assert not contents, "all are the file of the version to take"
    assert content[0] == "age,sex,city,job,ill"
    assert len(content) == 241


def test_long_work_is_stopped_and_goes_on_to_the_same_verdict(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    home, _, folder = app
    tab = browser()
    tab.goto(home)
    tab.get_by_role("button", name="Run it").click()
    long = folder / "glasshouse-app" / "runs" / "long"
    while not long.with_name("long.partial").exists():
        time.sleep(0.02)  # from here on it keeps what it finishes
    tab.get_by_text("Since").wait_for()
    tab.get_by_role("button", name="Stop").click()
    going_on = tab.get_by_role("button", name="Go on")
    going_on.wait_for()
    assert "What was finished is kept" in tab.locator("#job").inner_text()
    assert not long.exists()
    check(tab)
    tab.reload()
    going_on.click()
    to_verdict(tab)
    resumed = tab.locator(".verdict").inner_text()
    unbroken = write_run(run(long_study(folder / "long.csv")), folder / "unbroken").parent
    tab.goto(home)
    tab.locator(".cards a[href^='/run/']").first.click()
    assert tab.locator(".verdict").inner_text() == resumed
    results = [pyarrow.parquet.read_table(place / "results.parquet") for place in (long, unbroken)]
    assert results[0].equals(results[1])


@pytest.mark.parametrize(("width", "language"), [(1440, "en"), (390, "pt-BR")])
def test_screens_say_what_is_so_and_a_foreign_file_takes_none_down(
    browser: Callable[..., Any], app: tuple[str, str, Path], width: int, language: str
) -> None:
    home, _, folder = app
    tab = browser(width, "light", language)
    with speaking(language):
        lacks = text("Not in this file: {known}.", known="XX")
        since = text("{name} has changed since this run was made.", name="moved.csv")
        nobody = text("no column")
    persona = {"en": "A neighbour", "pt-BR": "Um vizinho"}[language]
    place = folder / f"review-{width}"
    foreign = place / "foreign"
    foreign.mkdir(parents=True)
    (foreign / "report.json").write_text('{"pages": [1]}')
    (foreign / "report.html").write_text("of another tool")
    partial = place / "x.partial"
    partial.mkdir()
    (partial / "scratch.csv").write_text("a\n1\n")
    rows = [
        f"p{one};{one % 28 + 1:02d}/05/19{30 + one % 60};{'fm'[one % 2]};30{one % 90:03d};ill{one % 3}"
        for one in range(300)
    ]
    lines = ["patient_id;birth_date;sex;postcode;diagnóstico", *rows, ""]
    (place / f"clinic{width}.csv").write_bytes("\n".join(lines).encode("cp1252"))
    moved = place / "moved.csv"
    write_people(moved)
    write_run(run(study(moved)), place / "done")
    moved.write_text(moved.read_text().replace("gout", "cold"))
    time.sleep(2.1)  # until the list of files is looked at anew
    tab.goto(f"{home}/?find=clinic{width}")
    tab.locator("#runs ~ .cards").first.wait_for()
    assert "scratch.csv" not in tab.content(), "work under way is not offered"
    check(tab)
    tab.locator("table.files a", has_text="clinic").first.click()
    said = tab.locator("main").inner_text()
    assert "cp1252" in tab.content(), "what was assumed of it is told"
    assert nobody not in said, "patient_id names people"
    tab.locator("button[name=go]").click()
    card = tab.locator(".cards > li", has_text=persona).first.inner_text()
    assert lacks.partition("XX")[0] in card, "she is not said to know what the file has not"
    assert "birth date" in card
    check(tab)
    tab.goto(home)
    tab.locator(".cards li", has_text=f"review-{width}").locator("h3 a").first.click()
    done = tab.url
    for screen in ("explore", "people", "groups"):
        tab.goto(f"{done}/{screen}")
        tab.get_by_text(since).first.wait_for()
        check(tab)
    tab.goto(f"{home}/compare")
    tab.locator("main input[type=checkbox]").first.check()
    tab.locator("main button.main").click()
    tab.locator("[role=alert]").wait_for()
    assert tab.locator("main input[type=checkbox]:checked").count() == 1, "the choice is kept"
    check(tab)
    shutil.rmtree(place)  # other tests open the newest run


def test_a_full_disk_a_link_outward_and_a_huge_number_are_said_on_a_page(
    browser: Callable[..., Any], app: tuple[str, str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _, folder = app
    whole = os.write

    def write(handle: int, piece: bytes) -> int:
        if b"brimful" in piece:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(handle, piece)

    tab = browser()
    run_page = tab.url
    tab.goto(f"{run_page}/what-if?removed=1e999999999")
    tab.get_by_text("Nothing was tried yet").first.wait_for()

    tab.goto(home)
    uploads = folder / "glasshouse-app" / "files"
    before = sorted(uploads.glob("*"))
    with monkeypatch.context() as full, tab.expect_file_chooser() as chooser:
        full.setattr("glasshouse.app.guard.os.write", write)
        tab.locator("#upload").click()
        chooser.value.set_files({"name": "b.csv", "mimeType": "", "buffer": b"age\nbrimful\n" * 9})
        tab.locator("form.drop button").click()
        tab.get_by_text("The disk is full").first.wait_for()
    assert sorted(uploads.glob("*")) == before

    secret = folder.parent / "secret.csv"
    secret.write_text("brimful\n")
    outward = folder / "outward"
    shutil.copytree(folder / "run", outward)
    manifest = json.loads((outward / "manifest.json").read_text())
    (outward / "manifest.json").write_text(json.dumps(manifest | {"release": "release.csv"}))
    (outward / "release.csv").symlink_to(secret)
    time.sleep(2.1)  # until the list of files is looked at anew
    tab.goto(home)
    tab.locator("#runs ~ .cards li", has_text="outward").locator("h3 a").first.click()
    assert tab.locator("a[href$='/release']").count() == 0
    answer = tab.goto(f"{tab.url}/release")
    assert answer.status == 422
    assert "this run wrote no release" in tab.locator("main").inner_text()
    shutil.rmtree(outward)
    secret.unlink()


def test_a_run_names_its_file_and_its_base_rate_and_leads_back_to_its_question(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    home, _, _ = app
    tab = browser()
    run_page, file = tab.url, re.search(r"\w+\.csv", tab.locator("main").inner_text())
    assert file is not None
    tab.goto(f"{run_page}/explore")
    after(tab, tab.get_by_role("checkbox", name="age").check, "learned")
    gauges = tab.locator(".gauge")
    assert gauges.count() > 1
    for place in range(gauges.count()):
        assert "without knowing anything" in gauges.nth(place).inner_text()
    tab.goto(run_page)
    tab.locator("form[action$='/change'] button").first.click()
    tab.wait_for_url("**/adversary*")
    draft = tab.url.removeprefix(home).partition("/adversary")[0]
    for screen in ("adversary", "roles"):
        tab.goto(f"{home}{draft}/{screen}")
        assert file[0] in tab.locator("main").inner_text(), screen
    tab.goto(home)
    assert tab.locator(f"a[href^='{draft}']").count() > 0, (
        "a question that was begun is found again"
    )
