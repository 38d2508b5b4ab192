"""The grammar of pictures: what they need of Vega-Lite, as plain data, under the names that Altair gives it.

Altair itself holds every part against a schema and copies the rows with each step, and takes longer to import than a
page takes to draw. It is left to who changes a picture further; tests hold what is written here against its schema.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any

Part = dict[str, Any]
"""A part of a picture: a channel, an axis, a scale."""
Datum = Mapping[str, object]
"""One thing that is drawn."""
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
_SECOND = ("x2", "y2")
"""Channels that are of the type of the first one."""
_DIGITS = 9
"""So many significant digits of a figure are drawn: those that follow depend on how a processor adds and multiplies."""


def part(**options: Any) -> Part:
    """Return a part of a picture by its options."""
    return options


def channel(shorthand: str, **options: Any) -> Part:
    """Return how a field is shown, whose type is its last letter.

    >>> channel("share:Q", title=None)
    {'field': 'share', 'type': 'quantitative', 'title': None}
    """
    name, _, kind = shorthand.rpartition(":")
    return {"field": name, "type": _TYPES[kind], **options}


Axis = Header = Legend = Scale = OverlayMarkDef = part
Color = Facet = Row = Shape = StrokeDash = Text = X = Y = YOffset = channel


def Title(lines: str | Sequence[str], **options: Any) -> Part:  # noqa: N802 - as Altair has it
    """Return a title."""
    return {"text": lines, **options}


def Step(pixels: float) -> Part:  # noqa: N802 - as Altair has it
    """Return a size by that of each entry."""
    return {"step": pixels}


def value(shown: object) -> Part:
    """Return the same for every row."""
    return {"value": shown}


def condition(test: str, held: Part, otherwise: Part) -> Part:
    """Return one of two values, by an expression that names no text of a user."""
    return {"condition": {"test": test, **held}, **otherwise}


def equal(**wanted: object) -> Part:
    """Return the test that fields of a row have these values."""
    tests = [{"field": name, "equal": value} for name, value in wanted.items()]
    return tests[0] if len(tests) == 1 else {"and": tests}


@dataclass(frozen=True)
class Chart:
    """A picture, or one of which another is made."""

    rows: Sequence[Datum] | None = None
    """What it draws; None: what the picture draws that it is a part of."""
    content: Part = field(default_factory=dict)
    """Everything else."""

    def properties(self, **options: Any) -> Chart:
        """Return it with a title, or a size."""
        return Chart(self.rows, self.content | options)

    def mark(self, kind: str, **options: Any) -> Chart:
        """Return it with a mark for every row."""
        return self.properties(mark={"type": kind, **options})

    mark_area = partialmethod(mark, "area")
    mark_bar = partialmethod(mark, "bar")
    mark_circle = partialmethod(mark, "circle")
    mark_line = partialmethod(mark, "line")
    mark_point = partialmethod(mark, "point")
    mark_rect = partialmethod(mark, "rect")
    mark_rule = partialmethod(mark, "rule")
    mark_text = partialmethod(mark, "text")

    def encode(self, **channels: Part | str) -> Chart:
        """Return it with what the marks show."""
        parts = {
            name: _second_or_first(name, shown) if isinstance(shown, str) else shown
            for name, shown in channels.items()
        }
        return self.properties(encoding=self.content.get("encoding", {}) | parts)

    def transform(self, **step: object) -> Chart:
        """Return it with a step between the rows and the marks."""
        return self.properties(transform=[*self.content.get("transform", ()), step])

    def transform_filter(self, test: Part) -> Chart:
        """Return it with those rows only that pass a test."""
        return self.transform(filter=test)

    def transform_calculate(self, **expressions: str) -> Chart:
        """Return it with further fields, by expressions."""
        chart = self
        for name, expression in expressions.items():
            chart = chart.transform(calculate=expression, **{"as": name})
        return chart

    def facet(self, *, columns: int | None = None, **facet: Part) -> Chart:
        """Return a panel for each value of a field."""
        content: Part = {"facet": facet.get("facet", facet), "spec": Chart(None, self.content)}
        return Chart(self.rows, content if columns is None else content | {"columns": columns})

    def to_dict(self) -> Part:
        """Return the whole as Vega-Lite has it, the rows of all pictures under names of their own."""
        datasets: dict[str, Sequence[Datum]] = {}
        content: Part = _written(self, datasets)
        return {"$schema": _SCHEMA, **content, "datasets": datasets}


def layer(*charts: Chart, rows: Sequence[Datum] | None = None) -> Chart:
    """Return pictures upon each other."""
    return _joined("layer", charts, rows)


def concat(*charts: Chart, **options: Any) -> Chart:
    """Return pictures in rows of so many columns."""
    return _joined("concat", charts).properties(**options)


def hconcat(*charts: Chart, **options: Any) -> Chart:
    """Return pictures beside each other."""
    return _joined("hconcat", charts).properties(**options)


def vconcat(*charts: Chart, **options: Any) -> Chart:
    """Return pictures below each other."""
    return _joined("vconcat", charts).properties(**options)


def _joined(how: str, charts: Sequence[Chart], rows: Sequence[Datum] | None = None) -> Chart:
    """Return one picture of several; rows that all of them draw are its own."""
    if rows is None and all(chart.rows is charts[0].rows for chart in charts):
        rows = charts[0].rows
        charts = [Chart(None, chart.content) for chart in charts]
    return Chart(rows, {how: list(charts)})


def _second_or_first(name: str, shorthand: str) -> Part:
    shown = channel(shorthand)
    return {"field": shown["field"]} if name in _SECOND else shown


def _written(content: Any, datasets: dict[str, Sequence[Datum]]) -> Any:
    if isinstance(content, Chart):
        written = {name: _written(entry, datasets) for name, entry in content.content.items()}
        if content.rows is None:
            return written
        rows = [{key: _drawn(entry) for key, entry in row.items()} for row in content.rows]
        digest = hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
        name = f"data-{digest[:32]}"
        datasets[name] = rows
        return {"data": {"name": name}, **written}
    if isinstance(content, list) and any(isinstance(entry, Chart) for entry in content):
        return [_written(entry, datasets) for entry in content]
    return content


def _drawn(entry: object) -> object:
    """Return a figure as far as every processor finds the same, and anything else as it is.

    >>> _drawn(0.1 + 0.2), _drawn(100 / 3), _drawn(2e-30 / 3), _drawn("a third"), _drawn(1234567891)
    (0.3, 33.3333333, 6.66666667e-31, 'a third', 1234567891)
    """
    return float(f"{entry:.{_DIGITS}g}") if isinstance(entry, float) else entry
