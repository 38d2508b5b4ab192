"""Where a Chromium is that opens pages in tests: one on the PATH, or Playwright's own."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

PATIENCE = 900_000
"""So many milliseconds a page is waited for: a machine that is busy, or compiles loops, takes its time."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


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
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None
