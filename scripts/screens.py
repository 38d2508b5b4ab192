"""Take the pictures of docs/app.md: the app on the demo, in a real browser.

    python scripts/screens.py

Makes the demo in a temporary folder (about half a minute), starts the app on it, and writes docs/app/*.png.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PICTURES = ROOT / "docs" / "app"
SETTLED = 2000
"""Milliseconds until a change is surely shown."""
WIDE, NARROW = {"width": 1200, "height": 820}, {"width": 390, "height": 820}


def main() -> None:
    """Make the demo, start the app on it, and take the pictures."""
    from playwright.sync_api import sync_playwright
    from tests.chromium import chromium

    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        program, folder = [sys.executable, "-m", "glasshouse"], Path(name) / "office"
        demo = [*program, "demo", "--out", str(folder / "demo")]
        subprocess.run(demo, check=True, capture_output=True)
        words = [*program, "app", str(folder), "--no-browser"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address
            with sync_playwright() as started:
                browser = started.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
                take(browser, address[0])
                browser.close()
            process.terminate()


def take(browser: Any, address: str) -> None:
    """Walk through the app and take the pictures."""
    home = address.partition("/enter")[0]
    tab = browser.new_page(viewport=WIDE)

    def shoot(name: str) -> None:
        tab.screenshot(path=PICTURES / f"{name}.png")

    tab.goto(address)
    tab.wait_for_url(f"{home}/")
    shoot("home")
    tab.locator("#files a").first.click()
    shoot("file")
    tab.get_by_role("button", name="On to the adversary").click()
    tab.locator("button[name=persona][value=journalist]").click()
    tab.locator("button[aria-pressed=true][value=journalist]").wait_for()
    shoot("adversary")
    tab.goto(f"{home}/")
    run = tab.get_by_role("link", name="What census-2018.csv lets").get_attribute("href")
    tab.goto(home + run)
    shoot("verdict")
    tab.goto(f"{home}{run}/explore")
    for name in ("year of birth", "city of residence"):
        tab.get_by_role("checkbox", name=name).check()
        tab.wait_for_timeout(SETTLED)
    shoot("explore")
    tab.goto(f"{home}{run}/what-if")
    for name in ("year of birth", "city of residence"):
        tab.get_by_label(name, exact=True).press("ArrowRight")
        tab.wait_for_timeout(SETTLED)
    shoot("what-if")
    tab.goto(home + run)
    tab.set_viewport_size(NARROW)
    tab.emulate_media(color_scheme="dark")
    tab.locator("form.settings button[value='pt-BR']").click()
    tab.wait_for_load_state()
    shoot("verdict-narrow")


if __name__ == "__main__":
    main()
