#!/bin/sh
# Find a Chromium for the tests of pages, or install one: on the PATH, else Playwright's own, else the system's package.
# Its headless shell is asked for first, which takes a fifth of the time.
set -u
python - <<'FIND' && exit 0
import sys
from tests.chromium import chromium
sys.exit("headless" not in (chromium() or ""))
FIND
playwright install --only-shell chromium >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    for package in chromium-headless-shell chromium; do
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $package >/dev/null && exit 0
    done
fi
python -c 'import sys; from tests.chromium import chromium; sys.exit(chromium() is None)' && exit 0
echo "no Chromium: the tests of pages are skipped; install one, such as Debian's package chromium" >&2
