"""Where a Chromium is that opens pages in tests: one on the PATH, or Playwright's own.

Chromium's headless shell comes first: the same engine without windows, which takes a fifth of the processor's time.
"""

from __future__ import annotations

import shutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

PATIENCE = 300_000
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
    const plain = new CSSStyleSheet();
    plain.replaceSync("* { background-image: none !important; }");
    document.adoptedStyleSheets.push(plain);
    const looks = new Map([[null, ""]]), seen = new Map();
    const look = element => {  // of what it stands on
        if (!looks.has(element)) {
            const style = getComputedStyle(element);
            looks.set(element, [look(element.parentElement), element.localName, element.className,
                style.backgroundColor, style.opacity, style.position, style.filter].join());
        }
        return looks.get(element);
    };
    const says = element => element.matches("input, select, textarea")
        || [...element.childNodes].some(part => part.nodeType === Node.TEXT_NODE && part.data.trim().length > 1);
    for (const element of document.querySelectorAll("body *:not(svg *)")) {
        if (!says(element) || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const kind = [look(element), style.color, style.fontSize, style.fontWeight, style.textShadow].join();
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        element.toggleAttribute("data-unlike", seen.get(kind) <= 2);
    }
    axe.configure({rules: [{id: "color-contrast", selector: "[data-unlike]"}]});
    const found = await axe.run({resultTypes: ["violations"]});
    document.querySelectorAll("[data-unlike]").forEach(element => element.removeAttribute("data-unlike"));
    document.adoptedStyleSheets.pop();
    return found.violations.map(one => [one.id, one.nodes.map(node => node.html).slice(0, 3)]);
}"""
"""Lets axe look at a page: at contrast of two of all texts that look alike on what looks alike, as that takes most of
the time; of none in drawings, whose letters have a fill, or of one letter, of which it says nothing. Nor does it say
anything of what stands on a picture, as the shadow at the edge of a wide table is one: there are none meanwhile."""


def barriers(tab: Any) -> list[tuple[str, list[str]]]:
    """Return what stands in somebody's way on a page: rules that axe sees broken, and the first elements that do.

    Of rules that hold it tells nothing: to describe every element that they hold for takes more than half of its time.
    """
    tab.evaluate(import_module("axe_playwright_python.base").AXE_SCRIPT)
    return [(rule, elements) for rule, elements in tab.evaluate(AXE)]
