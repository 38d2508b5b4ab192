"""In a browser: a report opens from disk, asks nobody for anything, and is readable by everybody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from glasshouse import Run
from glasshouse.language import LANGUAGES, speaking
from glasshouse.report import Page
from glasshouse.report.html import to_html
from tests.chromium import PATIENCE, barriers, chromium
from tests.examples import IS_THOROUGH
from tests.report.pages import HOSTILE, census_page, every_block, inspect_page, small_page
from tests.test_verbs import PEOPLE, VERBS

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe (extra dev)")
CHROMIUM = chromium()
LOOKS_AT_DRAWINGS = True
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, such as Debian's package")

PAGES: dict[str, Callable[[str], Page]] = {
    "small": small_page,
    "census": census_page,
    "inspect": inspect_page,
    "every block": lambda language: every_block(),
    "long names": lambda language: every_block("x" * 200),
}
WIDTHS = (360, 1440)
SCHEMES = ("light", "dark")
SEEN = tuple(product(WIDTHS, SCHEMES) if IS_THOROUGH else zip(WIDTHS, SCHEMES, strict=True))
"""How a page is looked at: narrow in light colours and wide in dark ones, or in every way."""

SVG_SIZES = """() => [...document.querySelectorAll("figure .picture svg")].filter(svg => svg.checkVisibility()).map(
    svg => Math.min(svg.getBoundingClientRect().width, svg.getBoundingClientRect().height))"""
CUT_TITLES = """() => [...document.querySelectorAll("figure h3, figure .subtitle")]
    .filter(said => said.scrollWidth > said.clientWidth || said.clientHeight < 10).map(said => said.textContent)"""
LETTERS_SHOWN = """() => [...document.querySelectorAll("figure svg text")]
    .filter(letters => letters.checkVisibility() && letters.textContent)
    .map(letters => [letters.getScreenCTM(), parseFloat(getComputedStyle(letters).fontSize)])
    .map(([drawn, size]) => size * Math.hypot(drawn.a, drawn.b))"""
HIDDEN_WITHOUT_A_HINT = """() => [...document.querySelectorAll("figure .picture")].filter(picture =>
    picture.checkVisibility() && picture.scrollWidth > picture.clientWidth + 1
    && !picture.previousElementSibling.matches(".hint")).map(picture => picture.getAttribute("aria-label"))"""
UNFOLD = "() => document.querySelectorAll('details').forEach(folded => { folded.open = true; })"
UNFOLD_PICTURES = """() => document.querySelectorAll("details:has(figure)")
    .forEach(folded => { folded.open = true; })"""
SPILLS = "() => document.scrollingElement.scrollWidth - window.innerWidth"
SCROLLING_BUT_UNREACHABLE = """() => [...document.querySelectorAll("body *")].filter(element => {
    const style = getComputedStyle(element);
    const scrolls = ["auto", "scroll"].includes(style.overflowX) && element.scrollWidth > element.clientWidth;
    return scrolls && !(element.tabIndex >= 0 && element.getAttribute("aria-label"));
}).map(element => element.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Write a report once, and return its path."""
    folder = tmp_path_factory.mktemp("reports")

    def write(name: str, language: str) -> Path:
        path: Path = folder / f"{name}-{language}.html"
        if not path.exists():
            with speaking(language):
                path.write_text(to_html(PAGES[name](language)), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def shared_tab(browser: Any) -> Any:
    """A tab that all tests open their pages in: to start one takes longer than to open a page."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    return context.new_page()


@pytest.fixture
def opened(browser: Any, shared_tab: Any) -> Iterator[Callable[..., Any]]:
    """Open a file from disk, and check at the end that nothing was asked for and nothing went wrong."""
    contexts, asked, wrong = [], [], []
    listening: dict[str, Callable[[Any], None]] = {
        "request": lambda request: asked.append(request.url),
        "console": lambda message: wrong.append(message.text),
        "pageerror": lambda error: wrong.append(str(error)),
    }

    def open_page(path: Path, width: int = 1440, scheme: str = "light", **options: Any) -> Any:
        """Open it in the tab that all share, or in one that has options of its own."""
        tab = shared_tab
        if options:
            context = browser.new_context(**options)
            context.set_default_timeout(PATIENCE)
            contexts.append(context)
            tab = context.new_page()
            listen(tab)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(color_scheme=scheme)
        tab.goto(path.as_uri())
        asked.remove(path.as_uri())
        return tab

    def listen(tab: Any) -> None:
        for event, note in listening.items():
            tab.on(event, note)

    listen(shared_tab)
    yield open_page
    for event, note in listening.items():
        shared_tab.remove_listener(event, note)
    for context in contexts:
        context.close()
    assert asked == []
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_it_opens_from_disk_at_every_width_in_light_and_dark(
    opened: Callable[..., Any], written: Callable[[str, str], Path], name: str, language: str
) -> None:
    for width, scheme in SEEN:
        tab = opened(written(name, language), width=width, scheme=scheme)
        assert tab.evaluate("() => document.documentElement.lang") == language
        assert tab.evaluate(f"() => matchMedia('(prefers-color-scheme: {scheme})').matches")
        tab.evaluate(UNFOLD)
        sizes = tab.evaluate(SVG_SIZES)
        assert sizes
        assert min(sizes) > 40
        assert tab.evaluate(SPILLS) <= 0
        assert tab.evaluate(SCROLLING_BUT_UNREACHABLE) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_on_a_telephone_every_picture_tells_its_finding_and_can_be_read(
    opened: Callable[..., Any], written: Callable[[str, str], Path], name: str, language: str
) -> None:
    tab = opened(written(name, language), width=360)
    tab.evaluate(UNFOLD)
    titles = tab.locator("figure h3")
    assert titles.count() >= tab.locator("figure").count() > 0
    assert all(title.inner_text().strip() for title in titles.all())
    assert tab.evaluate(CUT_TITLES) == []
    assert tab.evaluate(SPILLS) <= 0
    assert min(tab.evaluate(LETTERS_SHOWN)) > 9.9
    assert tab.evaluate(HIDDEN_WITHOUT_A_HINT) == []


def test_its_panels_stand_below_one_another_on_a_telephone(
    opened: Callable[..., Any], written: Callable[[str, str], Path]
) -> None:
    tab = opened(
        written("census", "en"), width=360, device_scale_factor=1
    )  # a tab of its own, laid out once
    tab.evaluate(UNFOLD)  # what is folded has no width
    whole = tab.locator(".picture.narrow:not([tabindex])").all()  # others say that they scroll
    assert len(whole) >= 3
    for picture in whole:
        fits = (
            "picture => 0 < picture.scrollWidth && picture.scrollWidth <= picture.clientWidth + 1"
        )
        assert picture.evaluate(fits), picture.get_attribute("aria-label")


def test_the_title_of_a_picture_is_text_and_stands_in_no_drawing(
    opened: Callable[..., Any], written: Callable[[str, str], Path]
) -> None:
    tab = opened(written("census", "en"))
    tab.evaluate(UNFOLD)
    for figure in tab.locator("figure").all():
        title = figure.locator("h3").first.inner_text()
        drawn = figure.locator("svg").first.inner_html()
        assert title
        assert title not in drawn


def test_without_javascript_everything_is_there(
    opened: Callable[..., Any], written: Callable[[str, str], Path]
) -> None:
    tab = opened(written("census", "en"), java_script_enabled=False)
    for heading in tab.locator("h2").all():
        assert heading.is_visible()
    for folded in tab.locator("ol.findings > li > details > summary").all():
        folded.click()
    for picture in tab.locator("figure .wide svg").all():
        box = picture.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 40
    numbers = tab.locator("details").first
    assert not numbers.locator("table").is_visible()
    numbers.locator("summary").click()
    assert numbers.locator("table").is_visible()


@pytest.mark.parametrize("name", ["census", "every block", "long names"])
def test_it_prints(
    opened: Callable[..., Any], written: Callable[[str, str], Path], name: str
) -> None:
    tab = opened(written(name, "en"), scheme="dark")
    paper = tab.pdf(format="A4", prefer_css_page_size=True)
    assert paper.startswith(b"%PDF")
    assert 2 <= paper.count(b"/Type /Page\n") <= 40


@pytest.mark.parametrize(
    ("name", "language"),
    [("small", "en"), ("every block", "en"), ("small", "pt-BR"), ("inspect", "pt-BR")],
)
def test_nothing_stands_in_the_way_of_those_who_see_or_move_differently(
    opened: Callable[..., Any], written: Callable[[str, str], Path], name: str, language: str
) -> None:
    for width, scheme in SEEN:
        tab = opened(written(name, language), width=width, scheme=scheme)
        tab.evaluate(UNFOLD)
        assert barriers(tab) == []


@pytest.mark.parametrize("faint", ["color: #ddd", "background: #555", "opacity: 0.3"])
def test_one_cell_that_is_hard_to_read_is_seen_among_hundreds(
    opened: Callable[..., Any], written: Callable[[str, str], Path], faint: str
) -> None:
    tab = opened(written("small", "en"))
    tab.evaluate(UNFOLD)
    cell = tab.locator("td.number", has_text=re.compile(r"^\d{2,}$")).last
    cell.evaluate("(cell, faint) => { cell.style = faint; }", faint)
    ((rule, elements),) = barriers(tab)
    assert (rule, len(elements)) == ("color-contrast", 1)
    assert tab.locator("[data-unlike]").count() == 0, "the page is as it was"


def test_the_keyboard_is_enough(
    opened: Callable[..., Any], written: Callable[[str, str], Path]
) -> None:
    tab = opened(written("every block", "en"), width=360)
    tab.keyboard.press("Tab")
    focused = "() => document.activeElement.className"
    assert tab.evaluate(focused) == "skip"
    box = tab.locator(".skip").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    tab.keyboard.press("Enter")
    assert tab.evaluate("() => location.hash") == "#verdict"
    assert tab.locator("#verdict").is_visible()
    reached = set()
    for _ in range(40):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("() => document.activeElement.outerHTML.slice(0, 60)"))
    regions = tab.evaluate(
        "() => [...document.querySelectorAll('[tabindex], summary')].filter(e => e.checkVisibility())"
        ".map(e => e.outerHTML.slice(0, 60))"
    )
    assert set(regions) <= reached


CONTRASTS = """() => {
    const channels = colour => colour.match(/[0-9.]+/g).map(Number);
    const light = colour => channels(colour).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
    const paper = light(getComputedStyle(document.body).backgroundColor);
    const contrast = colour => {
        const own = light(colour);
        return (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05);
    };
    const shown = [...document.querySelectorAll("figure svg text")].filter(e => e.textContent);
    const marks = [...document.querySelectorAll("figure svg .mark-symbol path")];
    return {
        text: Math.min(...shown.map(e => contrast(getComputedStyle(e).fill))),
        marks: marks.map(e => getComputedStyle(e).fill).filter(fill => fill.startsWith("rgb("))
            .map(fill => [fill, contrast(fill)]),
    };
}"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pictures_are_legible_and_their_colours_differ(
    opened: Callable[..., Any], written: Callable[[str, str], Path], scheme: str
) -> None:
    tab = opened(written("every block", "en"), scheme=scheme)
    found = tab.evaluate(CONTRASTS)
    assert found["text"] >= 4.5
    colours = {colour for colour, _ in found["marks"]}
    assert len(colours) == 7
    assert min(contrast for _, contrast in found["marks"]) >= (3 if scheme == "dark" else 2)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_in_a_browser(
    opened: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    path = tmp_path / "report.html"
    for page in (every_block(name), small_page("en", name), inspect_page("en", name)):
        path.write_text(to_html(page), encoding="utf-8")
        tab = opened(path)
        assert tab.locator("script, img, b, iframe").count() == 0
        assert tab.evaluate(SPILLS) <= 0


OVER_ONE_ANOTHER = """() => {
    const box = letters => {  // the corners of a text as it is turned, a pixel inside
        const {x, y, width, height} = letters.getBBox(), at = letters.getScreenCTM();
        const rim = 1 / Math.hypot(at.a, at.b);
        const [left, right, top, low] = [x + rim, x + width - rim, y + rim, y + height - rim];
        return [[left, top], [right, top], [right, low], [left, low]]
            .map(([u, v]) => [at.a * u + at.c * v + at.e, at.b * u + at.d * v + at.f]);
    };
    const apart = (one, other) => [one, other].some(corners => corners.some(([x, y], place) => {
        const [u, v] = corners[(place + 1) % 4], along = ([a, b]) => a * (v - y) - b * (u - x);
        const [first, second] = [one, other].map(points => points.map(along));
        return Math.max(...first) <= Math.min(...second) || Math.max(...second) <= Math.min(...first);
    }));
    const over = [];
    for (const svg of document.querySelectorAll("figure svg")) {
        if (!svg.checkVisibility()) continue;
        const texts = [...svg.querySelectorAll("text")].filter(e => e.textContent.trim() && e.checkVisibility());
        const boxes = texts.map(box);
        for (let i = 0; i < boxes.length; i++)
            for (let j = 0; j < i; j++)
                if (!apart(boxes[i], boxes[j]))
                    over.push([svg.parentElement.ariaLabel, texts[j].textContent, texts[i].textContent]);
    }
    return over;
}"""
"""The texts of a drawing that stand over one another, as the reader's font draws them."""
TYPEFACES = """() => [...new Set([document.body, ...document.querySelectorAll("figure svg text")]
    .map(shown => getComputedStyle(shown).fontFamily))]"""
UNUSED_ROOM = """() => [...document.querySelectorAll("figure .picture.wide")].filter(e => e.checkVisibility())
    .map(e => [e.ariaLabel, e.querySelector("svg").getBoundingClientRect().width / (e.clientWidth - 32)])
    .filter(([, share]) => share < 0.85)"""
FIRST_SCREEN = """() => {
    const words = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        if (!walker.currentNode.parentElement.checkVisibility()) continue;
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        const box = range.getBoundingClientRect();
        if (box.height && box.bottom <= 900) words.push(walker.currentNode.textContent);
    }
    return words.join(" ");
}"""


@pytest.fixture(scope="module")
def reported(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str, str], tuple[Page, Path]]]:
    """Carry out a verb once, in a folder with its data, and write its report once in a language."""
    runs: dict[str, Run[Any, Any]] = {}
    reports: dict[tuple[str, str], tuple[Page, Path]] = {}
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        pa.csv.write_csv(PEOPLE, "people.csv")

        def report(verb: str, language: str) -> tuple[Page, Path]:
            if verb not in runs:
                runs[verb] = VERBS[verb]()
            if (verb, language) not in reports:
                path = folder / f"{verb}-{language}.html"
                with speaking(language):
                    page = runs[verb].page
                    path.write_text(to_html(page), encoding="utf-8")
                reports[verb, language] = page, path
            return reports[verb, language]

        yield report


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("verb", VERBS)
def test_the_first_screen_has_the_verdict_a_number_and_something_to_do(
    verb: str,
    language: str,
    opened: Callable[..., Any],
    reported: Callable[[str, str], tuple[Page, Path]],
) -> None:
    page, path = reported(verb, language)
    tab = opened(path)
    seen = " ".join(tab.evaluate(FIRST_SCREEN).split())
    assert page.ruling is None or page.ruling.headline in seen
    assert re.search("[0-9]", seen.partition(page.lead)[2])
    assert " ".join(page.actions[0].sentence.split()) in seen


OPEN_WORDS = "() => document.body.innerText"
FIRST, OPEN = 250, 900
"""So many words a report has on its first screen, and in all before anything is unfolded."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("verb", VERBS)
def test_a_report_is_short(
    verb: str,
    language: str,
    opened: Callable[..., Any],
    reported: Callable[[str, str], tuple[Page, Path]],
) -> None:
    _, path = reported(verb, language)
    tab = opened(path)
    assert len(tab.evaluate(OPEN_WORDS).split()) <= OPEN
    assert len(tab.evaluate(FIRST_SCREEN).split()) <= FIRST


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("verb", VERBS)
def test_every_report_is_for_everybody_on_every_screen(
    verb: str,
    language: str,
    opened: Callable[..., Any],
    reported: Callable[[str, str], tuple[Page, Path]],
) -> None:
    _, path = reported(verb, language)
    wide, narrow = (1440, "light"), (390, "dark")  # each language in one, or in every way
    for width, scheme in (
        product((1440, 390), SCHEMES) if IS_THOROUGH else [wide if language == "en" else narrow]
    ):
        tab = opened(path, width=width, scheme=scheme)
        tab.evaluate(UNFOLD)
        assert tab.evaluate(SPILLS) <= 0
        assert tab.evaluate(SCROLLING_BUT_UNREACHABLE) == []
        assert barriers(tab) == []


def test_labels_of_pictures_stand_apart_in_one_typeface_across_the_card(
    opened: Callable[..., Any],
    reported: Callable[[str, str], tuple[Page, Path]],
    written: Callable[[str, str], Path],
) -> None:
    found: list[tuple[Any, ...]] = []
    for language in LANGUAGES:
        paths = {verb: reported(verb, language)[1] for verb in VERBS}
        paths["census"] = written("census", language)
        for name, path in paths.items():
            tab = opened(path)
            tab.evaluate(UNFOLD_PICTURES)
            assert len(tab.evaluate(TYPEFACES)) == 1
            found += [(name, language, one) for one in tab.evaluate(UNUSED_ROOM)]
            # a wide drawing is scaled and not laid out anew: the languages share the widths that show one
            for width in (1440, 390) if language == "en" else (1024, 768, 390):
                tab.set_viewport_size({"width": width, "height": 900})
                over = tab.evaluate(OVER_ONE_ANOTHER)
                found += [(name, language, width, texts) for texts in over]
    assert found == []
