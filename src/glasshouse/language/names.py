"""Names that others gave, as they stand in a message."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def quoted(names: Iterable[str]) -> str:
    """Return names as a readable list, each in quotation marks.

    >>> quoted(["age", "sex"])
    '"age", "sex"'
    """
    return ", ".join(map(_quote, names))


def printable(text: str) -> str:
    r"""Return a text as one line that cannot disturb a terminal or an encoder.

    >>> printable("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in text
    )


def near_names(name: str, available: Iterable[str]) -> list[str]:
    """Return at most three available names that a person may have meant, the nearest first."""
    by_folded: dict[str, list[str]] = {}
    for candidate in available:
        by_folded.setdefault(candidate.casefold().strip(), []).append(candidate)
    matches = get_close_matches(name.casefold().strip(), by_folded, n=3, cutoff=0.7)
    return [candidate for match in matches for candidate in by_folded[match]][:3]


def _quote(name: str) -> str:
    return f'"{printable(name)}"'
