"""In a browser: a file is put right, a door found again, what was made is named and removed; by keys, if one likes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from glasshouse.language import speaking, text
from tests.app import test_live_browser as live_browser
from tests.app.live import make_run, serving, write_people
from tests.app.test_journey import to_verdict
from tests.app.test_live_browser import after, check
from tests.chromium import PATIENCE

pytestmark = live_browser.pytestmark
browser = live_browser.browser
HEADER = "patient_id;birth_date;sex;district;cost;diagnosis"
MOST_TABS = 150
"""So often Tab is pressed at most until something is reached."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """The app on a port of this machine: its address, the token that opens it, and its folder."""
    folder = tmp_path_factory.mktemp("given")
    make_run(folder)
    write_clinic(folder / "clinic.csv")
    with serving(folder) as (home, session):
        yield home, session.launch, folder


def write_clinic(path: Path) -> None:
    """Write patients as a spreadsheet does: old letters, blanks, words for what is missing, a line that is empty."""
    rows = [
        f"P{one:04d};{one % 28 + 1:02d}/05/{1930 + one % 60};{'fm'[one % 2]};"
        f"{('Centro ', 'Mansões', 'N/D')[one % 3]};{one % 90},{one % 10}0;ill{one % 3}"
        for one in range(300)
    ]
    path.write_bytes("\n".join([HEADER, *rows[:90], "", *rows[90:], ""]).encode("cp1252"))


def tabbed_to(tab: Any, selector: str) -> None:
    """Press Tab until something has the keyboard."""
    tab.locator("html.scripted").wait_for(state="attached")
    for _ in range(MOST_TABS):
        tab.keyboard.press("Tab")
        if tab.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"{selector} is not reached on {tab.url}")


def test_keys_alone_lead_from_a_file_to_its_release(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    tab = browser()
    tab.goto(app[0])
    tabbed_to(tab, "table.files a[href^='/file/']:not(.keep)")
    while tab.evaluate("document.activeElement.innerText") != "people.csv":
        tabbed_to(tab, "table.files a[href^='/file/']:not(.keep)")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/file/*")
    tabbed_to(tab, "input[name=role-3]")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Enter")  # the form is sent as from any of its fields
    tab.wait_for_url("**/adversary")
    tabbed_to(tab, "input[name=known][value='1']")
    for is_ticked in (False, True):
        after(tab, lambda: tab.keyboard.press("Space"), "adversary")
        assert tab.evaluate("document.activeElement.value") == "1", "the keyboard stays"
        assert tab.evaluate("document.activeElement.checked") == is_ticked
    tab.reload()
    tabbed_to(tab, "button[name=go]")
    tab.keyboard.press("Enter")
    tab.locator("section .verdict.do-not-publish").wait_for()
    tabbed_to(tab, "#tools .main")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/what-if*")
    slider = "input[type=range][name=level-1]"
    tabbed_to(tab, slider)
    after(tab, lambda: tab.keyboard.press("End"), "outcome")
    assert tab.evaluate("document.activeElement.name") == "level-1"
    foretold = tab.locator("#outcome .verdict p").first.inner_text()
    tab.reload()
    tabbed_to(tab, "#make button.main")
    tab.keyboard.press("Enter")
    tab.locator("section .verdict.meets").wait_for()
    tally = tab.locator("section .verdict p").first.inner_text()
    assert tally.lower() in foretold.lower(), "of as many conditions as was foretold"
    tabbed_to(tab, "#tools .main")
    with tab.expect_download() as release:
        tab.keyboard.press("Enter")
    assert Path(release.value.path()).read_text().startswith("age,sex,city,job,ill\n")


def test_a_door_that_was_used_leads_on_and_a_second_app_leaves_the_first_open(
    browser: Callable[..., Any], app: tuple[str, str, Path], tmp_path: Path
) -> None:
    home = app[0]
    write_people(tmp_path / "people.csv")
    inside = browser().context
    with serving(tmp_path) as (second, session):
        spent = f"{second}/enter?token={session.launch}"
        both = inside.browser.new_context(storage_state=inside.storage_state())
        both.set_default_timeout(PATIENCE)
        tab = both.new_page()
        for address in (spent, home, second):
            tab.goto(address)
            tab.locator("#files").wait_for()
        outside = inside.browser.new_context(locale="pt-BR")
        tab = outside.new_page()
        for address in (spent, second):
            assert tab.goto(address).status == 401
            assert "enter.html" in tab.locator("body").inner_text()
            check(tab)
        tab.goto(f"{second}/enter?token={session.launch}")
        tab.locator("#files").wait_for()
    with serving(tmp_path, int(second.rpartition(":")[2])) as (again, session):
        assert again == second
        assert tab.goto(again).status == 401, "an app that was started anew knows nobody"
        tab.goto(f"{again}/enter?token={session.launch}")
        tab.locator("#files", has_text="people.csv").wait_for()


@pytest.mark.parametrize(("width", "language"), [(1440, "en"), (390, "pt-BR")])
def test_a_file_is_put_right_where_it_is_looked_at(
    browser: Callable[..., Any], app: tuple[str, str, Path], width: int, language: str
) -> None:
    with speaking(language):
        ignored, comma = text("are ignored"), text("a comma (1,5)")
        half, lacks = "±183d", text("Not in this file: {known}.", known="XX").partition("XX")[0]
    tab = browser(width, "dark", language)
    tab.goto(f"{app[0]}/?find=clinic")
    tab.locator("table.files a", has_text="clinic").first.click()
    said = tab.locator("#understood").inner_text()
    assert "cp1252" in said, "what was assumed of it is told"
    assert "N/D" in said
    tab.locator("#read > summary").click()
    after(tab, lambda: tab.locator("#strip").select_option(label=ignored), "understood")
    after(tab, lambda: tab.locator("#decimal").select_option(label=comma), "understood")
    after(
        tab,
        tab.locator(".codes input", has=tab.locator("xpath=..", has_text="N/D")).first.check,
        "understood",
    )
    check(tab)
    tab.locator("button[name=go]").click()
    tab.wait_for_url("**/adversary")
    command = tab.locator("#command code").text_content()
    assert "--strip" in command
    assert "--missing" in command
    tab.locator("button[name=persona][value=neighbour]").click()
    found = tab.locator("#found-of").inner_text()
    assert lacks in found, "what she is said to know, and the file has not"
    assert tab.locator("#about-0, #about-1").first.input_value() == half
    assert f"birth_date={half}" in tab.locator("#command code").text_content()
    check(tab)


def test_what_was_made_is_named_noted_and_removed(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    home, _, folder = app
    tab = browser()
    made = folder / "glasshouse-app"
    tab.goto(home)
    for name in ("cafe\u0301.csv", "łódź.csv", "人口.csv"):
        with tab.expect_file_chooser() as chooser:
            tab.locator("#upload").click()
        chooser.value.set_files({"name": name, "mimeType": "", "buffer": b"age\n1\n" * 30})
        tab.locator("form.drop button").click()
        tab.wait_for_url("**/file/*")
        tab.goto(home)
    kept = sorted(path.name for path in (made / "files").iterdir())
    assert kept == ["café.csv", "łódź.csv", "人口.csv"]
    tab.locator("#find").press_sequentially("cafe", delay=50)  # accents need not be typed
    tab.wait_for_function("() => document.querySelectorAll('table.files tbody tr').length === 1")
    assert tab.locator("table.files .chip").count() == 1, "copies are told from originals"
    tab.locator("table.files tbody a").first.click()
    tab.locator("button[name=go]").click()
    tab.wait_for_url("**/adversary")
    draft = made / "drafts" / f"{tab.url.split('/')[-2]}.json"
    old = shutil.copytree(folder / "run", made / "runs" / "old")
    things = {
        "section:has(#drafts) li": draft,
        "section:has(#runs) li:has-text('old ·')": old,
        "#files tbody tr": made / "files" / "café.csv",
    }
    for place, path in things.items():
        tab.goto(f"{home}/?find=cafe")
        tab.locator(f"{place} a.keep").first.click()
        tab.get_by_label("What it is called in the app").fill("<b>Mine</b>")
        tab.get_by_label("A note for yourself").fill("For the minister")
        check(tab)
        tab.get_by_role("button", name="Keep it").click()
        tab.goto(f"{home}/?find=cafe")
        said = tab.locator(place).first.inner_text()
        assert "<b>Mine</b>" in said
        assert "For the minister" in said
        if path == old:
            tab.goto(f"{home}/compare")
            assert "<b>Mine</b>" in tab.locator("fieldset").inner_text()
            tab.goto(home)
        tab.locator(f"{place} a.keep").first.click()
        remove = tab.get_by_role("button", name="Remove")
        remove.click()
        assert path.exists(), "a click is not enough"
        tab.locator("input[name=remove]").check()
        remove.click()
        tab.wait_for_url(f"{home}/")
        assert not path.exists()


def test_a_folder_that_was_laid_out_anew_meanwhile_gets_nothing(
    browser: Callable[..., Any], app: tuple[str, str, Path], tmp_path: Path
) -> None:
    home, _, folder = app
    tab = browser()
    files, kept = folder / "glasshouse-app" / "files", tmp_path / "kept"
    tab.goto(home)
    files.rename(kept)
    (tmp_path / "elsewhere").mkdir()
    files.symlink_to(tmp_path / "elsewhere")
    tab.locator("#upload").set_input_files(
        {"name": "secret.csv", "mimeType": "", "buffer": b"age\n1\n" * 30}
    )
    tab.locator("form.drop button").click()
    tab.locator("form.drop .trouble", has_text="is a link, or is not yours").wait_for()
    assert not list((tmp_path / "elsewhere").iterdir())
    check(tab)
    files.unlink()
    kept.rename(files)


def test_damaged_and_foreign_files_are_told_and_the_way_back_stays(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    home, _, folder = app
    tab = browser()
    deep = folder / "deep"
    deep.mkdir()
    (deep / "report.json").write_text("[" * 100_000)
    (deep / "report.html").write_text("of another tool")
    damaged = shutil.copytree(folder / "run", folder / "damaged")
    for name in ("results.parquet", "exposures.parquet"):
        (damaged / name).write_bytes(b"PAR1")
    tab.goto(f"{home}/?find=none")
    while not tab.locator(".cards li", has_text="damaged").count():  # until it is looked for anew
        tab.reload()
    tab.locator(".cards li", has_text="damaged").locator("h3 a").click()
    verdict = tab.url
    for screen in ("Explore sets", "People"):
        tab.get_by_role("link", name=screen).click()
        tab.get_by_text("is damaged; run the study again").wait_for()
        check(tab)
        assert tab.get_by_role("link", name="Export").is_visible(), "the rail of the run stays"
        tab.get_by_role("link", name="Back to where you were").click()
        tab.wait_for_url(verdict)
    shutil.rmtree(damaged)
    tab.goto(f"{verdict}/export")
    tab.get_by_text("damaged is not there any more").wait_for()
    check(tab)
    shutil.rmtree(deep)


def test_locked_columns_and_weights_are_asked_for_in_place(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    tab = browser()
    tab.goto(app[0])
    tab.locator(".cards a", has_text="What people.csv").first.click()
    tab.get_by_role("link", name="What if").click()
    tab.locator("#groups > summary").click()
    weight = tab.get_by_label("What its loss weighs").nth(2)
    weight.fill("2.5")
    after(tab, lambda: weight.press("Enter"), "grouping")
    after(tab, tab.get_by_label("Lock job").check, "grouping")
    assert tab.get_by_label("Lock job").is_checked()
    check(tab)
    tab.reload()
    assert tab.get_by_label("What its loss weighs").nth(2).input_value() == "2.5"
    tab.get_by_role("button", name="Find the best for my rule").click()
    tab.wait_for_url("**/job/**")
    to_verdict(tab)
    runs = (app[2] / "glasshouse-app" / "runs").glob("*-anonymise*/release.csv")
    made = max(runs, key=lambda path: path.stat().st_mtime)
    jobs = {line.split(",")[3] for line in made.read_text().splitlines()[1:]}
    assert jobs == {"baker", "cook"}, "what is locked is told as it is"


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_work_speaks_the_language_in_which_it_was_asked_and_its_page_says_so(
    browser: Callable[..., Any], app: tuple[str, str, Path], language: str
) -> None:
    tab = browser(390, "light", language)
    other = {"en": "pt-BR", "pt-BR": "en"}[language]
    tab.goto(app[0])
    tab.route("**/app.js", lambda route: route.abort())  # nothing leads on from the page
    tab.locator("#runs ~ .cards a", has_text="people.csv").first.click()
    tab.locator("#tools button[value=yes]").last.click()
    tab.wait_for_url("**/adversary")
    tab.locator("button[name=go]").click()
    tab.wait_for_url("**/job/*")
    assert tab.locator("h1").get_attribute("lang") == language
    named = tab.locator("h1 + .hintline")
    assert named.count() == 0
    tab.locator(f"form.settings button[value='{other}']").click()
    tab.locator(f"html[lang='{other}']").wait_for(state="attached")
    assert {"en": "English", "pt-BR": "Português"}[language] in named.inner_text()
    check(tab)


def test_work_that_cannot_be_followed_is_said_not_to_answer(
    browser: Callable[..., Any], app: tuple[str, str, Path]
) -> None:
    tab = browser()
    tab.goto(app[0])
    tab.locator("#runs ~ .cards a", has_text="What people.csv").first.click()
    tab.get_by_role("button", name="Ask again, changed").click()
    tab.wait_for_url("**/adversary")
    tab.route("**/events", lambda route: route.abort())
    tab.locator("button[name=go]").click()
    tab.wait_for_url("**/job/*")
    tab.route("**/job/*", lambda route: route.abort())
    tab.locator("#silent", has_text="The app does not answer").wait_for()
    check(tab)
    tab.unroute("**/job/*")
    tab.locator("section .verdict").wait_for()
