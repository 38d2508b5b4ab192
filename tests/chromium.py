"""Where a Chromium is that opens pages in tests: one on the PATH, or Playwright's own.

Chromium's headless shell comes first: the same engine without windows, which takes a fifth of the processor's time.
"""

from __future__ import annotations

import shutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

PATIENCE = 900_000
"""So many milliseconds a page is waited for: a machine that is busy, or compiles loops, takes its time."""
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""What it is called on the PATH."""
SHELLS = "chromium_headless_shell-*/*/*headless*shell"
"""Where Playwright puts its headless shell, in the folder of all its browsers."""


@cache
def chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        whole = Path(playwright.chromium.executable_path)
    shells = sorted(whole.parents[2].glob(SHELLS)) if len(whole.parents) > 2 else []
    return next((str(path) for path in (*reversed(shells), whole) if path.exists()), None)


AXE = """async () => {
    axe.configure({rules: [{id: "color-contrast", selector: "*:not(svg *)"}]});
    const found = await axe.run({resultTypes: ["violations"]});
    return found.violations.map(one => [one.id, one.nodes.map(node => node.html).slice(0, 3)]);
}"""
"""Lets axe look at a page: at contrast not within drawings, whose letters have a fill, which it does not know of."""


def barriers(tab: Any) -> list[tuple[str, list[str]]]:
    """Return what stands in somebody's way on a page: rules that axe sees broken, and the first elements that do.

    Of rules that hold it tells nothing: to describe every element that they hold for takes more than half of its time.
    """
    tab.evaluate(import_module("axe_playwright_python.base").AXE_SCRIPT)
    return [(rule, elements) for rule, elements in tab.evaluate(AXE)]
