"""Take the pictures of reports that docs/report.md, the tutorials and the first page show, in both languages.

    python scripts/pictures.py

They are first screens of the reports of the gallery, on synthetic data. That of docs/report.md has numbers at its
parts, set by a browser, so that no picture is drawn by hand; `home` is the same without them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
EXAMPLES = ("assess", "anonymise", "compare", "threat", "totals", "deter")
NUMBERED = "assess"
"""The example that is shown with numbers, which docs/report.md explains, and without them on the first page."""
PLACES = {
    "en": ROOT / "docs" / "pictures",
    "pt-BR": ROOT / "docs" / "pt" / "pictures",
}
PARTS = (".front .verdict", ".front .sentence", ".front .tiles", ".front .actions")
"""The verdict, the sentence, the figures, and what to do, as a report has them."""
MARK = """([selectors]) => {
  document.body.style.paddingLeft = "48px";
  selectors.forEach((selector, place) => {
    const part = document.querySelector(selector);
    if (!part) return;
    const box = part.getBoundingClientRect();
    const mark = document.createElement("div");
    mark.textContent = place + 1;
    mark.style = `position:absolute;left:${box.left - 36}px;top:${box.top + window.scrollY}px;` +
      "width:26px;height:26px;border-radius:13px;background:#b3261e;color:#fff;font:bold 16px/26px sans-serif;" +
      "text-align:center;z-index:9";
    document.body.append(mark);
  });
}"""


def take(tab: Any, path: Path) -> None:
    """Take a picture of the first screen of a report, down to what to do."""
    shown = tab.locator(".front .actions, .front .tiles").last.bounding_box()
    clip = {"x": 0, "y": 0, "width": 900, "height": shown["y"] + shown["height"] + 12}
    tab.screenshot(path=path, clip=clip, full_page=True)


def main() -> None:
    """Make the reports and take a picture of each."""
    from playwright.sync_api import sync_playwright
    from tests.chromium import chromium

    from website import sample_reports

    with tempfile.TemporaryDirectory() as name, sync_playwright() as started:
        folder = Path(name)
        browser = started.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab: Any = browser.new_page(viewport={"width": 900, "height": 760})
        for example, language, page in sample_reports(folder, EXAMPLES):
            file = folder / f"{example}-{language}.html"
            file.write_text(page, "utf-8")
            PLACES[language].mkdir(parents=True, exist_ok=True)
            tab.goto(file.as_uri())
            picture = "home" if example == NUMBERED else example
            take(tab, PLACES[language] / f"{picture}.png")
            if example == NUMBERED:
                tab.evaluate(MARK, [list(PARTS)])
                take(tab, PLACES[language] / f"{example}.png")
        browser.close()


if __name__ == "__main__":
    main()
