"""Pictures in tests: of every kind one is drawn, and of the others only what they say is kept.

Drawing a picture takes longer than all that a small report tells in it, and a fifth of the tests' time. Whether it can
be drawn hangs on its kind: on what its specification is made of, on what its rows hold, and on odd texts and numbers.
So the first of each kind is drawn by the drawing library, as for a user, and each of the others is a stand-in of the
same size with its own texts. Modules that look at drawings say so (`LOOKS_AT_DRAWINGS = True`), and `make thorough`
draws everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from glasshouse.language import spoken

Draw = Callable[[Mapping[str, Any]], str]


def one_of_each_kind(draw: Draw) -> Draw:
    """Return what draws the first picture of every kind, and gives a stand-in for the others.

    Args:
        draw: Draws a picture as SVG.
    """
    first: dict[str, tuple[Mapping[str, Any], str, str]] = {}

    def drawn(chart: Mapping[str, Any]) -> str:
        kind = json.dumps(kind_of(chart))
        if kind not in first:
            first[kind] = (chart, spoken(), draw(chart))
        of_kind, language, svg = first[kind]
        if (chart, spoken()) == (of_kind, language):  # the same again is the same
            return svg
        texts = "".join(f'<text font-size="11px">{escape(text)}</text>' for text in _texts(chart))
        return f"{svg[: svg.index('>') + 1]}{texts}</svg>"

    return drawn


def kind_of(chart: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a picture is made of: those of one kind can all be drawn, or none of them can."""
    rows = [row for rows in chart.get("datasets", {}).values() for row in rows]
    rest = {name: entry for name, entry in chart.items() if name != "datasets"}
    return {**_kind(rest), "datasets": _kinds(rows, is_data=True)}


def _kind(part: Any, *, is_data: bool = False) -> Any:
    if isinstance(part, dict):
        return {name: _kind(entry, is_data=is_data) for name, entry in part.items()}
    if isinstance(part, list):
        return _kinds(part, is_data=is_data)
    if isinstance(part, str):
        is_odd = len(part) > 200 or not all(sign.isalnum() or sign in _USUAL for sign in part)
        is_word = part.isascii() and part.isidentifier() and not is_data
        return part if is_odd or is_word else "…"
    if isinstance(part, int | float) and not isinstance(part, bool):
        return 0 if 0 <= part < 1e6 else 1 if part > 0 else -1
    return part


def _kinds(parts: list[Any], *, is_data: bool) -> list[Any]:
    kinds = {json.dumps(_kind(entry, is_data=is_data)) for entry in parts}
    return [json.loads(kind) for kind in sorted(kinds)]


_USUAL = " .,:;!?%()[]{}<>=≤≥+-–−→/_#'\"“”‘’·…×|&$@*\n"


def _texts(part: Any) -> list[str]:
    if isinstance(part, dict):
        return [text for entry in part.values() for text in _texts(entry)]
    if isinstance(part, list):
        return [text for entry in part for text in _texts(entry)]
    return [part] if isinstance(part, str) else []
