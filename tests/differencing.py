"""Somebody who has a report and knows all of the data but some counts: which of these do the figures tell?

A report is a channel from what the data may be to what is read. A small count is told if every table that gives the
same report, in all its sentences, tables, severities and pictures' data, has it alike. So the attacker is handed tables
that differ in what must stay unknown, makes the real report of each, and looks which look the same: exact, whatever the
figures are (sums, correlations, marks, bounds), and on the safe side, as she knows all the rest.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from types import ModuleType
from typing import Any, TypeVar
from unittest.mock import patch

from glasshouse import report
from glasshouse.disclosure import smallest_cell
from glasshouse.report import Page, archive

World = TypeVar("World", bound=Hashable)
"""What the data may be, as far as the attacker does not know it."""


def small_counts_told(
    worlds: Sequence[World],
    look: Callable[[World], Hashable],
    counts: Callable[[World], Mapping[str, int]],
) -> list[str]:
    """Return the small counts that a report tells to somebody who knows that the data is one of some.

    Args:
        worlds: What the data may be.
        look: Makes the report.
        counts: The counts of people that must not be told where they are small.
    """
    return [leak for world in worlds for leak in told_of(world, worlds, look, counts)]


def told_of(
    world: World,
    rivals: Iterable[World],
    look: Callable[[World], Hashable],
    counts: Callable[[World], Mapping[str, int]],
) -> list[str]:
    """Return the same of one table: the small counts that no rival which looks alike has otherwise."""
    small = {name: count for name, count in counts(world).items() if 0 < count < smallest_cell()}
    for rival in rivals:
        if not small:
            break
        others = counts(rival)
        if any(others[name] != count for name, count in small.items()) and look(rival) == look(
            world
        ):
            small = {name: count for name, count in small.items() if others[name] == count}
    return [f"{name} is {count} in {world}" for name, count in small.items()]


def told_beyond(
    world: World,
    rivals: Iterable[World],
    look: Callable[[World], Hashable],
    counts: Callable[[World], Mapping[str, int]],
    totals: Callable[[World], Hashable],
) -> list[str]:
    """Return the small counts of one table that a report tells to somebody who knows the totals that it is to tell.

    What follows from the totals is the answer that was asked for: told beyond them is a count that other tables with
    the same totals have otherwise, though none of these looks alike.
    """
    alike = [rival for rival in rivals if totals(rival) == totals(world)]
    exact = counts(world)
    names = {
        name for rival in alike for name, count in counts(rival).items() if count != exact[name]
    }
    return told_of(world, alike, look, lambda some: {name: counts(some)[name] for name in names})


class Pencil:
    """Stands for the drawing library, which is slow: keeps all that it is told, and draws nothing."""

    def __init__(self) -> None:
        self.strokes: list[str] = []

    def __getattr__(self, name: str) -> Pencil:
        return self

    def __call__(self, *told: object, **named: object) -> Pencil:
        self.strokes.append(repr((told, sorted(named.items()))))
        return self

    def __repr__(self) -> str:
        return "…"


PENCIL = Pencil()


@cache
def drawing_modules() -> list[ModuleType]:
    """Return the modules of the report that draw."""
    found = pkgutil.walk_packages(report.__path__, "glasshouse.report.")
    modules = [importlib.import_module(module.name) for module in found]
    return [module for module in modules if hasattr(module, "vega")]


@contextmanager
def sketched() -> Iterator[None]:
    """Let reports hand their pictures, data and all, to a pencil."""
    with ExitStack() as stack:
        for module in drawing_modules():
            stack.enter_context(patch.object(module, "vega", PENCIL))
        stack.enter_context(patch("glasshouse.report.charts.specification", lambda chart: {}))
        yield


def figures(make: Callable[[], Page]) -> str:
    """Return all that a report says, shows and draws; HTML, JSON and paper are made of it alone."""
    PENCIL.strokes.clear()
    with sketched():
        content = archive.to_dict(make()) | {"provenance": None}
    return json.dumps([content, PENCIL.strokes], sort_keys=True)


def drawn_rows(chart: object) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of data that a picture is drawn from."""
    if isinstance(chart, Mapping):
        for name, content in chart.items():
            if name == "datasets":
                yield from (row for rows in content.values() for row in rows)
            elif name == "values" and content and isinstance(content[0], Mapping):
                yield from content
            else:
                yield from drawn_rows(content)
    elif isinstance(chart, list):
        for content in chart:
            yield from drawn_rows(content)
