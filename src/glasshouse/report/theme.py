"""The look of all pictures: one theme, colour-blind safe, readable in print, drawn without a browser."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import altair as alt
import vl_convert

from glasshouse.errors import DataError, printable
from glasshouse.language import spoken, text

NEUTRAL = "#7f7f7f"
"""What was before, or is there for comparison."""
JOINT = "#d9b08c"
"""The line that joins before and after."""
SUBTITLE = "#555"
"""What stands below the title."""
TARGETS = (
    ("#d55e00", "circle"),
    ("#0072b2", "square"),
    ("#009e73", "triangle-up"),
    ("#cc79a7", "diamond"),
    ("#56b4e9", "triangle-down"),
    ("#e69f00", "cross"),
    ("#000000", "triangle-right"),
)
"""A colour (Okabe and Ito 2008) and a shape for each target, so that neither alone tells them apart.

On dark paper ``templates/report.css`` draws some of them in lighter shades.
"""
LONGEST_TEXT = 120
"""Longer texts are cut in pictures, which have no room for them."""
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_CODE = ("calculate", "filter", "$schema", "expr", "test")
"""What holds expressions, and no text of a user."""
_NUMBERS: dict[str, Any] = {"en": "en-GB", "pt-BR": "pt-BR"}
"""What the drawing library calls the way in which each language writes numbers."""
_NUMBERED = re.compile(r"\b(gradient_|clip)[0-9]+\b")
"""Names that a picture gives to its parts."""


def specification(chart: alt.TopLevelMixin) -> Mapping[str, Any]:
    """Return a chart in the theme of the house, as a Vega-Lite specification with its own data."""
    content: Mapping[str, Any] = _visible(_themed(chart).to_dict())
    return content


def _visible(content: Any) -> Any:
    """Return a specification whose texts hold nothing that cannot be seen, and no backslash.

    The drawing library reads escapes in some titles, and gives up at the control characters that they stand for.
    """
    if isinstance(content, str):
        shown = _UNSEEN.sub(_sign, content).replace("\\", "⧵")
        return shown if len(shown) <= LONGEST_TEXT else shown[: LONGEST_TEXT - 1] + "…"
    if isinstance(content, list):
        return [_visible(each) for each in content]
    if isinstance(content, dict):
        return {name: each if name in _CODE else _visible(each) for name, each in content.items()}
    return content


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "�"


def to_svg(chart: Mapping[str, Any]) -> str:
    """Draw a chart as SVG: no script, no font and no picture is fetched when it is shown.

    The numbers of its axes are written as the language that is spoken writes them.

    Raises:
        DataError: It is no chart, or a damaged one, or one that would fetch something.
    """
    return _svg(json.dumps(dict(chart)), spoken())


@lru_cache(maxsize=64)
def _svg(chart: str, language: str) -> str:
    """Draw a chart that is in JSON: several reports of a run show the same pictures."""
    numbers: Any = vl_convert.get_format_locale(_NUMBERS[language])
    try:
        svg = vl_convert.vegalite_to_svg(chart, format_locale=numbers, allowed_base_urls=[])
    except ValueError:
        raise DataError(
            text("a picture cannot be drawn: what it is drawn from is damaged")
        ) from None
    return _with_own_names(svg)


def wrapped(said: str, width: int = 90) -> list[str]:
    """Return a text in lines; titles do not break by themselves.

    >>> wrapped("one two three", 8)
    ['one two', 'three']
    """
    lines: list[str] = []
    for word in printable(said).split(" "):
        if lines and len(lines[-1]) + len(word) < width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _with_own_names(svg: str) -> str:
    """Name gradients and clips by the picture they are in: they are numbered over all pictures of a process."""
    numbers: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"{found[1]}{len(numbers)}")

    plain = _NUMBERED.sub(numbered, svg)
    own = hashlib.sha256(plain.encode()).hexdigest()[:8]
    return _NUMBERED.sub(lambda found: f"{found[0]}-{own}", plain)


def _themed(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    """Return a chart in the theme of the house.

    What it shows is said by the page around it, so no mark is described on its own: descriptions would be programs
    that the drawing library puts together from names of columns.
    """
    themed: alt.TopLevelMixin = (
        chart.configure(font="sans-serif", background="transparent", aria=False)
        .configure_axis(
            labelFontSize=13,
            titleFontSize=13,
            titleFontWeight="normal",
            grid=True,
            labelLimit=260,
            titleLimit=600,
        )
        .configure_legend(labelFontSize=13, orient="bottom", symbolSize=140, labelLimit=400)
        .configure_title(
            anchor="start",
            fontSize=16,
            subtitleFontSize=13,
            subtitleColor=SUBTITLE,
            offset=14,
            limit=860,
        )
        .configure_view(stroke=None)
    )
    return themed
