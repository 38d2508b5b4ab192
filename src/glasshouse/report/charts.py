"""Pictures: one theme, colour-blind safe, drawn without a browser; and what several of them have in common."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import vl_convert

from glasshouse.errors import DataError
from glasshouse.language import printable, spoken, text
from glasshouse.microdata.leakage import Leakage
from glasshouse.report import vega
from glasshouse.report.cells import cell_table, percent_cell
from glasshouse.report.discretion import Among, Told
from glasshouse.report.page import Cell, Figure, Table


class Shift(NamedTuple):
    """How probable something is before and after, as both may be told."""

    label: str
    """What it is."""
    before: Told
    """Its probability before."""
    after: Told
    """Its probability afterwards."""

    @classmethod
    def of(cls, label: str, leakage: Leakage, before: Among, after: Among) -> Shift:
        """Return the shift from the prior to the posterior, and how each of them is told."""
        return cls(label, before.told(leakage.prior), after.told(leakage.posterior))


def rest_of(chances: Sequence[Leakage]) -> Leakage:
    """Return all that is not shown, summed up: what is left of 1.

    >>> rest_of([Leakage(Fraction(1, 2), Fraction(1, 3))])
    Leakage(prior=Fraction(1, 2), posterior=Fraction(2, 3))
    """
    before = sum((chance.prior for chance in chances), Fraction(0))
    after = sum((chance.posterior for chance in chances), Fraction(0))
    return Leakage(1 - before, 1 - after)


def before_and_after_table(first: str, shifts: Iterable[Shift]) -> Table:
    """Return how probable things are: what they are, and what may be told of before and after."""
    rows = ((shift.label, shift.before.cell, shift.after.cell) for shift in shifts)
    return cell_table(first, (text("Before"), text("After")), rows)


def shift_figure(
    first: str,
    shifts: Sequence[Shift],
    *,
    title: str,
    subtitle: str,
    label: str,
    caption: str,
) -> Figure:
    """Show, one line each, how probable things are before and after, joined by a bar.

    Args:
        first: What the things are, above them in the table.
        shifts: What is shown, from top to bottom.
        title: What the picture shows.
        subtitle: What the probability is of.
        label: What it shows, for those who do not see it.
        caption: What stands below it.
    """
    before, after = text("before"), text("after")
    order = [printable(shift.label) for shift in shifts]
    rows = [
        {
            "label": label,
            "before": 100 * shift.before.drawn,
            "after": 100 * shift.after.drawn,
            "change": f"{shift.before.cell.text} → {shift.after.cell.text}",
        }
        for label, shift in zip(order, shifts, strict=True)
    ]
    highest = max(max(shift.before.drawn, shift.after.drawn) for shift in shifts)
    y = vega.Y("label:N", sort=order, title=None, axis=vega.Axis(labelPadding=12))
    scale = per_cent_up_to(highest)
    colour = vega.Color("what:N", **keyed((before, after), (NEUTRAL, TARGETS[0][0])))
    base = plot(rows).encode(y=y)
    bars = base.mark_rule(strokeWidth=3, color=JOINT).encode(
        x=vega.X(
            "before:Q", scale=scale, title=text("probability (%)"), axis=vega.Axis(tickCount=5)
        ),
        x2="after:Q",
    )
    points = [
        base.transform_calculate(what=f"'{label}'")
        .mark_point(filled=True, size=size, opacity=1)
        .encode(x=vega.X(f"{name}:Q", scale=scale), color=colour)
        for name, label, size in (("before", before, 220), ("after", after, 110))
    ]
    labels = base.mark_text(align="left", dx=10, fontSize=12).encode(
        x=vega.value("width"), text="change:N"
    )
    chart = vega.layer(bars, *points, labels)
    chart = titled(chart, title, subtitle, (95, 105), width=600, height=vega.Step(30))
    table = before_and_after_table(first, shifts)
    return figure_of(chart, label=label, caption=caption, table=table)


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
_CODE = ("calculate", "$schema", "expr", "labelExpr", "test")
"""What holds expressions, and no text of a user."""
_NUMBERS: dict[str, Any] = {"en": "en-GB", "pt-BR": "pt-BR"}
"""What the drawing library calls the way in which each language writes numbers."""
_NUMBERED = re.compile(r"\b(gradient_|clip)[0-9]+\b")
"""Names that a picture gives to its parts."""
FONT = "system-ui, sans-serif"
"""The typefaces of pictures: those of the page (``templates/report.css``)."""
_THEME: Mapping[str, Any] = {
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
    "aria": False,
    "axis": {
        "grid": True,
        "labelFontSize": 13,
        "labelLimit": 260,
        "labelSeparation": 8,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titleLimit": 600,
        "titlePadding": 10,
    },
    "background": "transparent",
    "font": FONT,
    "legend": {
        "columnPadding": 26,
        "labelFontSize": 13,
        "labelLimit": 400,
        "orient": "bottom",
        "symbolSize": 140,
    },
    "padding": {"left": 18, "top": 5, "right": 12, "bottom": 5},
    "title": {
        "anchor": "start",
        "fontSize": 16,
        "limit": 860,
        "offset": 14,
        "subtitleColor": SUBTITLE,
        "subtitleFontSize": 13,
    },
}
"""The theme of the house.

What a picture shows is said by the page around it, so no mark is described on its own (``aria``): descriptions would be
programs that the drawing library puts together from names of columns.
"""
_AXIS = {"labelFlush": False}
"""What is said of axes when they are drawn: a label at their end stays where it is, and meets no other."""
PER_CENT = vega.Scale(domain=[0, 100])
"""The scale of an axis of probabilities or shares."""
_TOPS = (1, 2, 5, 10, 20, 50, 100)
"""Where an axis of per cents may end."""


def per_cent_up_to(highest: Fraction | float) -> vega.Part:
    """Return the scale of an axis of per cents that goes a little farther than the highest of them.

    >>> per_cent_up_to(Fraction(16, 100)), per_cent_up_to(1)
    ({'domain': [0, 20], 'nice': False}, {'domain': [0, 100], 'nice': False})
    """
    return vega.Scale(domain=[0, top_of(highest)], nice=False)


def top_of(highest: Fraction | float) -> int:
    """Return where an axis of per cents ends that shows no more than so much.

    >>> top_of(Fraction(16, 100)), top_of(1)
    (20, 100)
    """
    return next((top for top in _TOPS if 100 * highest <= top), _TOPS[-1])


def plot(rows: Sequence[Mapping[str, object]]) -> vega.Chart:
    """Return a chart of rows, without a mark so far."""
    return vega.Chart(rows)


def titled(
    chart: vega.Chart,
    title: str,
    subtitle: str = "",
    letters: tuple[int, int] = (90, 90),
    **size: Any,
) -> vega.Chart:
    """Return a chart with what it shows above it.

    Args:
        chart: The chart.
        title: What was found.
        subtitle: How to read it.
        letters: How many letters of the two fit into a line.
        size: Its width and height, where it is not made of charts that have their own.
    """
    below = {"subtitle": wrapped(subtitle, letters[1])} if subtitle else {}
    return chart.properties(title=vega.Title(wrapped(title, letters[0]), **below), **size)


def keyed(names: Sequence[str], looks: Sequence[str]) -> dict[str, Any]:
    """Return how a channel shows names in their order: by a colour or a shape each, under no title."""
    scale = vega.Scale(domain=list(names), range=list(looks))
    return {"title": None, "sort": list(names), "scale": scale}


def figure_of(chart: vega.Chart, *, label: str, caption: str, table: Table | None = None) -> Figure:
    """Return a figure of a chart, in the theme of the house."""
    return Figure(specification(chart), label, caption, table)


def specification(chart: vega.Chart) -> Mapping[str, Any]:
    """Return a chart in the theme of the house, as a Vega-Lite specification with its own data."""
    content: Mapping[str, Any] = _visible({**chart.to_dict(), "config": _THEME})
    return content


def _visible(content: Any) -> Any:
    """Return a specification whose texts hold nothing that cannot be seen, and no backslash.

    The drawing library reads escapes in some titles, and gives up at the control characters that they stand for.
    """
    if isinstance(content, str):
        visible = _UNSEEN.sub(_sign, content).replace("\\", "⧵")
        return visible if len(visible) <= LONGEST_TEXT else visible[: LONGEST_TEXT - 1] + "…"
    if isinstance(content, list):
        return [_visible(entry) for entry in content]
    if isinstance(content, dict):
        return {
            name: entry if name in _CODE else _visible(entry) for name, entry in content.items()
        }
    return content


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "�"


def to_svg(chart: Mapping[str, Any]) -> str:
    """Draw a chart as SVG: no script, no font and no picture is fetched when it is shown.

    The numbers of its axes are written as the language that is spoken writes them.

    Raises:
        DataError: It is no chart, or a damaged one, or one that would fetch something.
    """
    config = chart.get("config", {})
    apart = {**config, "axis": {**config.get("axis", {}), **_AXIS}}
    return _svg(json.dumps({**chart, "config": apart}), spoken())


@lru_cache(maxsize=64)
def _svg(chart: str, language: str) -> str:
    """Draw a chart that is in JSON: several reports of a run show the same pictures."""
    numbers: Any = vl_convert.get_format_locale(_NUMBERS[language])
    try:
        svg = vl_convert.vegalite_to_svg(chart, format_locale=numbers, allowed_base_urls=[])
    except ValueError:
        raise DataError("a picture cannot be drawn: what it is drawn from is damaged") from None
    return _with_own_names(svg)


def wrapped(sentence: str, width: int = 90) -> list[str]:
    """Return a text in lines; titles do not break by themselves.

    >>> wrapped("one two three", 8)
    ['one two', 'three']
    """
    lines: list[str] = []
    for word in printable(sentence).split(" "):
        if lines and len(lines[-1]) + len(word) < width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _with_own_names(svg: str) -> str:
    """Name gradients and clips by the picture they are in: they are numbered over all pictures of a process."""
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"{match[1]}{len(numbers)}")

    plain = _NUMBERED.sub(numbered, svg)
    digest = hashlib.sha256(plain.encode()).hexdigest()[:8]
    return _NUMBERED.sub(lambda match: f"{match[0]}-{digest}", plain)


def successes_chart(
    steps: Sequence[tuple[str, Sequence[Fraction]]],
    names: Sequence[str],
    *,
    field: str,
    colours: Sequence[str],
    shapes: Sequence[str],
    title: str,
    subtitle: str,
) -> vega.Chart:
    """Show for which share of the records each attack succeeds in every release, joined by a line.

    Args:
        steps: The attacks with their success in each release.
        names: The releases, as the legend calls them.
        field: What the names are called in the data of the picture.
        colours: The colour of each.
        shapes: The mark of each.
        title: What was found.
        subtitle: How to read it.
    """
    rows = [
        {"attack": label, field: name, "success": 100 * float(success)}
        for label, successes in steps
        for name, success in zip(names, successes, strict=True)
    ]
    order = list(dict.fromkeys(label for label, _ in steps))
    share = text("share of records for which the adversary succeeds (%)")
    places = plot(rows).encode(
        x=vega.X("success:Q", title=share, scale=PER_CENT),
        y=vega.Y(
            "attack:N", sort=order, title=None, axis=vega.Axis(labelPadding=12, labelLimit=360)
        ),
    )
    lines = places.mark_line(strokeWidth=3, color=JOINT).encode(detail="attack:N")
    marks = places.mark_point(filled=True, size=140, opacity=1).encode(
        color=vega.Color(f"{field}:N", **keyed(names, colours)),
        shape=vega.Shape(f"{field}:N", **keyed(names, shapes)),
    )
    chart = vega.layer(lines, marks)
    room = {"left": min(40, round(1.2 * max(map(len, order)))), "right": 5}  # other fonts are wider
    return titled(chart, title, subtitle, (75, 85), width=520, height=vega.Step(34), padding=room)


def successes_table(steps: Sequence[tuple[str, Sequence[Fraction]]], names: Sequence[str]) -> Table:
    """Return the numbers of `successes_chart`."""
    rows = [(Cell(label), *map(percent_cell, successes)) for label, successes in steps]
    return cell_table(text("Attack"), names, rows)
