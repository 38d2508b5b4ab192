"""A page as one HTML file that asks nobody for anything and runs nothing.

Every text is shown as text, whatever it holds: only a figure's picture is markup, and that is drawn here. Characters
that cannot be seen, or that would turn the text around, are written as escapes, so that no name can hide or disguise
itself. The same page gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup, escape

from glasshouse.language import printable, spoken, text
from glasshouse.report.charts import to_svg, wrapped
from glasshouse.report.page import SIGNS, Figure, Finding, Page, ranked
from glasshouse.report.provenance import instructions


def to_html(page: Page, *, proposal: str = "") -> str:
    """Return a page as one self-contained HTML file, in the language that is spoken.

    Args:
        page: What it says.
        proposal: A command to go on with, for who has the data.
    """
    return _template().render(template_context(page, proposal=proposal))


def template_context(page: Page, *, proposal: str = "") -> dict[str, Any]:
    """Return what the template of a page is given, alone (``report.html``) or in a frame (``page.html``)."""
    return {
        "page": page,
        "proposal": proposal,
        "findings": ranked(page.findings),
        "pictures": pictures,
        "instructions": instructions(page.provenance),
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
        Picture(title or figure.label, subtitle, _drawn(bare), _drawn(narrowed(bare)))
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
        "labelSeparation": 8,
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
    if (
        name == "x"
        and isinstance(narrow.get("sort"), list)
        and len("".join(narrow["sort"])) > _LETTERS
    ):
        narrow["axis"] = {**(narrow.get("axis") or {}), "labelAngle": -45}
    return narrow


def _short_lines(title: Any) -> Any:
    if not isinstance(title, Mapping):
        return wrapped(_one_line(title), _LETTERS)
    lines = [line for line in ("text", "subtitle") if title.get(line)]
    return {**title, **{line: wrapped(_one_line(title[line]), _LETTERS) for line in lines}}


def _drawn(chart: Mapping[str, Any]) -> Drawing:
    svg = to_svg(chart)
    match = _WIDTH.search(svg)
    width = float(match[1]) if match else 0.0
    smallest = min((float(size) for size in _FONT_SIZE.findall(svg)), default=_LEAST_TEXT)
    least = round(width * min(1.0, _LEAST_TEXT / smallest))
    hidden = svg.replace("<svg ", f'<svg aria-hidden="true" style="min-width:{least}px" ', 1)
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
