#!/bin/sh
# Find a Chromium for the tests of pages, or install one: on the PATH, else Playwright's own, else the system's package.
set -u
python - <<'FIND' && exit 0
import sys
from tests.chromium import chromium
sys.exit(chromium() is None)
FIND
playwright install chromium >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    for attempt in 1 2; do
        apt-get update -qq \
            && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null \
            && exit 0
    done
fi
echo "no Chromium: the tests of pages are skipped; install one, such as Debian's package chromium" >&2
