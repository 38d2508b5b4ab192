"""A page as one HTML file that asks nobody for anything and runs nothing.

Every text is shown as text, whatever it holds: only a figure's picture is markup, and that is drawn here. Characters
that cannot be seen, or that would turn the text around, are written as escapes, so that no name can hide or disguise
itself. The same page gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import jinja2
from markupsafe import Markup, escape

from glasshouse.language import printable, spoken, text
from glasshouse.report.charts import to_svg, wrapped
from glasshouse.report.page import SIGNS, Figure, Finding, Page, ranked
from glasshouse.report.provenance import instructions, source_line

MOST_BEGUN = 2
"""So many findings of the first chapter of a story are shown before anything is unfolded, and one of each other."""


def to_html(page: Page, *, proposal: str = "") -> str:
    """Return a page as one self-contained HTML file, in the language that is spoken.

    Args:
        page: What it says.
        proposal: A command to go on with, for who has the data.
    """
    return _template().render(template_context(page, proposal=proposal))


def _unfolded(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return the findings that are shown, and further ones: of a story the first one or two of a chapter are shown."""
    shown, further = list(findings[:MOST_BEGUN]), list[Finding]()
    for before, finding in pairwise(findings[MOST_BEGUN - 1 :]):
        is_further = bool(finding.chapter) and finding.chapter == before.chapter
        (further if is_further else shown).append(finding)
    return {"findings": shown, "later_findings": further}


def template_context(page: Page, *, proposal: str = "") -> dict[str, Any]:
    """Return what the template of a page is given, alone (``report.html``) or in a frame (``page.html``)."""
    return {
        "page": page,
        "proposal": proposal,
        **_unfolded(ranked(page.findings)),
        "pictures": pictures,
        "instructions": instructions(page.provenance),
        "source": source_line(page.provenance),
        "sign": lambda decision: SIGNS[decision],
        "text": text,
        "language": spoken(),
    }


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("glasshouse.report"),
        autoescape=True,
        finalize=_as_text,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("report.html")


def _as_text(value: object) -> object:
    """Return what the template shows with every character visible; what is markup already passes as it is."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable(value)
    return value


CARD = 760
"""How many pixels wide a drawing for a wide screen is, its axes and legends included: the card shows it a little
larger on the widest screens, and with letters that can still be read on the least of them."""
LARGEST = 1.2
"""A drawing is shown at most so many times as large as it is drawn."""
WIDEST_STEP = 110
"""How many pixels wide an entry of an axis of names is at most."""
LEAST_PANEL = 110
"""How many pixels wide a panel is at least, without its axes."""
TELEPHONE = 320
"""How many pixels wide a narrow drawing may be that a screen of 360 shows whole, in letters that can be read."""
NARROW = 200
"""How many pixels wide a panel is on a narrow screen, without its axes."""
NARROWEST = 270
"""How many pixels a screen of 360 leaves for a picture in a finding."""
LEAST_WIDE = 500
"""How many pixels the least of wide screens leaves for a picture in a finding."""
_LEAST_TEXT = 10
"""How many pixels high letters are at least when a drawing is scaled."""
_LETTERS = 34
"""How many letters fit into a line of a narrow drawing."""
_LETTER = 8
"""How many pixels wide a letter is at most."""
_VIEWS = ("layer", "hconcat", "vconcat", "concat")
_WIDTH = re.compile(r'<svg [^>]*?\bwidth="([0-9.]+)"')
_FONT_SIZE = re.compile(r'font-size="([0-9.]+)px"')


@dataclass(frozen=True)
class Drawing:
    """One drawing, ready to be put on a page."""

    svg: Markup
    """The drawing, which says nothing to who does not see it: label and table of the figure do."""
    least_width: int
    """The width in pixels below which its letters would be too small."""

    @property
    def scrolls(self) -> bool:
        """Whether a narrow screen shows only a part of it at a time."""
        return self.least_width > NARROWEST

    @property
    def scrolls_wide(self) -> bool:
        """Whether a wide screen may show only a part of it at a time."""
        return self.least_width > LEAST_WIDE


@dataclass(frozen=True)
class Picture:
    """A picture on a page."""

    title: str
    """What it shows was found."""
    subtitle: str
    """How to read it."""
    wide: Drawing
    """How it is drawn on a wide screen and on paper."""
    narrow: Drawing
    """How it is drawn on a narrow screen."""


def pictures(figure: Figure) -> tuple[Picture, ...]:
    """Return the pictures of a figure: one, or one for each of those that it puts below one another."""
    return tuple(
        Picture(
            title or figure.label, subtitle, _drawn(widened(bare)), _drawn(_fitting(narrowed(bare)))
        )
        for title, subtitle, bare in _parts(figure.chart)
    )


def _parts(chart: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield title, subtitle and the rest of each picture."""
    if "title" in chart or "vconcat" not in chart:
        yield _parted(chart)
        return
    shared = {name: entry for name, entry in chart.items() if name not in ("vconcat", "spacing")}
    for view in chart["vconcat"]:
        yield _parted({**shared, **view})


def _parted(chart: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    title = chart.get("title", "")
    heading = title if isinstance(title, Mapping) else {"text": title}
    bare = {name: entry for name, entry in chart.items() if name != "title"}
    return _one_line(heading.get("text", "")), _one_line(heading.get("subtitle", "")), bare


def _one_line(lines: str | list[str] | None) -> str:
    return lines if isinstance(lines, str) else " ".join(lines or ())


def widened(chart: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a chart that fills the card which it stands in, whatever room its axes and legends take.

    >>> widened({"mark": "bar", "width": 500})["width"]
    760
    """
    if isinstance(chart.get("width"), (int, float)) and ("mark" in chart or "layer" in chart):
        fitted = {"type": "fit-x", "contains": "padding"}
        return {**chart, "width": CARD, "autosize": fitted}
    return _stretched(chart, CARD - _width(to_svg(chart)))


def _fitting(narrow: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a narrow chart whose panels give way where its labels need the room, as far as they can."""
    room = TELEPHONE - _width(to_svg(narrow))
    return narrow if room >= 0 else _stretched(narrow, room)


def _width(svg: str) -> float:
    match = _WIDTH.search(svg)
    return float(match[1]) if match else 0.0


def _stretched(view: Mapping[str, Any], room: float) -> dict[str, Any]:
    """Return a view that is so many pixels wider, or narrower, which the panels beside one another share."""
    view = dict(view)
    for name in _VIEWS:
        if name in view:
            beside = {"hconcat": len(view[name]), "concat": view.get("columns", len(view[name]))}
            share = room / max(1, min(beside.get(name, 1), len(view[name])))
            view[name] = [_stretched(panel, share) for panel in view[name]]
    if "spec" in view:
        view["spec"] = _stretched(view["spec"], room / view.get("columns", 1))
    width = view.get("width")
    if isinstance(width, (int, float)):
        view["width"] = max(LEAST_PANEL, width + room)
    elif isinstance(width, Mapping):
        entries = max(map(_entries, (view, *view.get("layer", ()))))
        if entries:
            step = min(WIDEST_STEP, width["step"] + room / entries)
            view["width"] = {"step": max(width["step"], step)}
    return view


def _entries(view: Mapping[str, Any]) -> int:
    """Return how many names stand along the axis from left to right."""
    order = view.get("encoding", {}).get("x", {}).get("sort")
    return len(order) if isinstance(order, list) else 0


def narrowed(chart: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart for a narrow screen: panels below one another, short lines, legends one entry per line.

    >>> narrowed({"hconcat": [{"width": 500, "mark": "bar"}], "spacing": 9})["vconcat"]
    [{'width': 200, 'mark': 'bar'}]
    """
    config = dict(chart.get("config", {}))
    config["legend"] = config.get("legend", {}) | {"columns": 1, "labelLimit": 230}
    config["axis"] = config.get("axis", {}) | {
        "labelLimit": 145,
        "titleLimit": 260,
        "labelSeparation": 14,
    }
    return {**_stacked(chart), "config": config}


def _stacked(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return a view with its panels below one another, each narrow."""
    view = dict(view)
    if "hconcat" in view:
        view["vconcat"] = view.pop("hconcat")
    if "concat" in view or ("facet" in view and "spec" in view):
        view["columns"] = 1
    if "facet" in view and "column" in view["facet"]:
        view["facet"] = {**view["facet"]["column"]}
    for name in _VIEWS:
        if name in view:
            view[name] = [_stacked(panel) for panel in view[name]]
    if "spec" in view:
        view["spec"] = _stacked(view["spec"])
    if isinstance(view.get("width"), (int, float)):
        view["width"] = min(view["width"], NARROW)
    if "title" in view:
        view["title"] = _short_lines(view["title"])
    if "encoding" in view:
        view["encoding"] = {name: _channel(name, panel) for name, panel in view["encoding"].items()}
    return view


def _channel(name: str, channel: Any) -> Any:
    """Return a channel of an encoding with a title in short lines, and slanted labels where they need room."""
    if not isinstance(channel, Mapping):
        return channel
    narrow = dict(channel)
    if narrow.get("title"):
        narrow["title"] = wrapped(_one_line(narrow["title"]), _LETTERS)
    if isinstance(narrow.get("legend"), Mapping) and "columns" in narrow["legend"]:
        narrow["legend"] = {**narrow["legend"], "columns": 1}
    order = narrow.get("sort")
    if name == "x" and isinstance(order, list) and _is_tight(order):
        narrow["axis"] = {**(narrow.get("axis") or {}), "labelAngle": -45}
    return narrow


def _is_tight(labels: list[str]) -> bool:
    """Tell whether labels beside one another would meet on a narrow screen."""
    widest = _LETTER * max(map(len, labels), default=0)
    return widest * len(labels) > NARROW or len("".join(labels)) > _LETTERS


def _short_lines(title: Any) -> Any:
    if not isinstance(title, Mapping):
        return wrapped(_one_line(title), _LETTERS)
    lines = [line for line in ("text", "subtitle") if title.get(line)]
    return {**title, **{line: wrapped(_one_line(title[line]), _LETTERS) for line in lines}}


def _drawn(chart: Mapping[str, Any]) -> Drawing:
    svg = to_svg(chart)
    width = _width(svg)
    smallest = min((float(size) for size in _FONT_SIZE.findall(svg)), default=_LEAST_TEXT)
    least = round(width * min(1.0, _LEAST_TEXT / smallest))
    sizes = f"min-width:{least}px;max-width:{round(LARGEST * width)}px"
    hidden = svg.replace("<svg ", f'<svg aria-hidden="true" style="{sizes}" ', 1)
    return Drawing(Markup(hidden), least)  # noqa: S704 - the drawing library escapes every text


def to_fragment(page: Page) -> str:
    """Return findings with severity and advice, and the first picture, as HTML for a notebook: without a script."""
    findings = "".join(map(_fragment_of, ranked(page.findings)))
    drawn = ""
    if page.pictures:
        figure = page.pictures[0]
        drawn = (
            '<figure style="margin:1rem 0;background:#fff;padding:.6rem;overflow-x:auto" role="img" '
            f'aria-label="{escape(printable(figure.label))}">{to_svg(figure.chart)}</figure>'
        )
    return f"<div>{_verdict_of(page)}{findings}{drawn}</div>"


def _verdict_of(page: Page) -> str:
    if page.ruling is None:
        return ""
    ruling = page.ruling
    return (
        f'<p style="font-size:1.2em;margin:.4rem 0"><strong>{escape(ruling.headline)}</strong>: '
        f"{escape(printable(ruling.tally))}</p>"
        + "".join(f"<p>{escape(printable(sentence))}</p>" for sentence in ruling.coverage)
    )


def _fragment_of(finding: Finding) -> str:
    advice = f"<br><em>{escape(printable(finding.remedy))}</em>" if finding.remedy else ""
    return (
        '<p style="border-left:.3rem solid currentColor;padding:.3rem .8rem;margin:.4rem 0;'
        f'max-width:60rem;overflow-wrap:anywhere"><strong>{escape(finding.severity.heading)}</strong>: '
        f"{escape(printable(finding.sentence))}{advice}</p>"
    )
