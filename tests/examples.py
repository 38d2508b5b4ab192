"""How many random cases a property is tried on: a fifth of them in every run, all of them by ``make thorough``."""

from __future__ import annotations

import os

IS_THOROUGH = os.environ.get("GLASSHOUSE_THOROUGH") == "1"


def examples(count: int, one_of: int = 5) -> int:
    """Return how many cases to try, of so many that are worth trying: all, or one of every so many."""
    return count if IS_THOROUGH else max(min(count, 10), count // one_of)
