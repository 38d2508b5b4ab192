"""Take the pictures of docs/how-to/read-the-report.md: first screens of reports, with numbers at their parts.

    python scripts/pictures.py

The reports are those of the gallery, on synthetic data; the marks are set by a browser, so no picture is drawn by hand.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
EXAMPLES = ("assess", "compare", "threat", "totals", "deter")
PLACES = {
    "en": ROOT / "docs" / "how-to" / "pictures",
    "pt-BR": ROOT / "docs" / "pt" / "how-to" / "pictures",
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
            tab.goto(file.as_uri())
            tab.evaluate(MARK, [list(PARTS)])
            PLACES[language].mkdir(parents=True, exist_ok=True)
            shown = tab.locator(".front .actions, .front .tiles").last.bounding_box()
            tab.screenshot(
                path=PLACES[language] / f"{example}.png",
                clip={
                    "x": 0,
                    "y": 0,
                    "width": 900,
                    "height": shown["y"] + shown["height"] + 12,
                },
                full_page=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
