"""A report as data: what it says, shows and proves, in the order in which a reader takes it in.

A capability builds a `Page` from its own outcome; `render` makes of it one HTML file that asks nobody for anything
and runs nothing. Every text is shown as text, whatever it holds: only a figure's SVG is markup, and that is what
`glasshouse.report.charts.to_svg` drew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import jinja2

from glasshouse.errors import InternalError, printable


@dataclass(frozen=True)
class Figure:
    """A picture and what it shows."""

    svg: str
    """The picture, as `glasshouse.report.charts.to_svg` drew it; the only text that is taken for markup."""
    label: str
    """What it shows, for those who do not see it."""
    caption: str
    """What stands below it."""


@dataclass(frozen=True)
class Cell:
    """One entry of a table."""

    text: str
    """What is printed."""
    exact: str | None = None
    """The exact value behind a rounded one, shown on hover."""
    mark: str | None = None
    """A short code set in bold before the text."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    title: str
    """Its heading."""
    numeric: bool = False
    """Whether it holds numbers, which are set to the right."""
    under: str | None = None
    """A heading above its own, shared with the neighbours that are under the same one."""


@dataclass(frozen=True)
class Group:
    """Rows that belong together."""

    rows: tuple[tuple[Cell, ...], ...]
    """The rows; the first cell of each says what the row is about."""
    title: str | None = None
    """What they have in common, on a line of its own above them."""
    note: str = ""
    """A remark beside the title."""


@dataclass(frozen=True)
class Table:
    """Rows under columns."""

    columns: tuple[Column, ...]
    """The columns, from left to right."""
    groups: tuple[Group, ...]
    """The rows, from top to bottom."""
    title: str = ""
    """What it shows, where a section has several."""

    def __post_init__(self) -> None:
        for row in (row for group in self.groups for row in group.rows):
            if len(row) != len(self.columns):
                raise InternalError(
                    f"a row of {len(row)} cells does not fit a table of {len(self.columns)} columns"
                )

    @property
    def headings(self) -> tuple[tuple[str | None, tuple[Column, ...]], ...]:
        """The columns by the heading that they are under."""
        runs = groupby(self.columns, key=lambda column: column.under)
        return tuple((under, tuple(columns)) for under, columns in runs)


@dataclass(frozen=True)
class Section:
    """A part of the figures under a heading of its own."""

    title: str
    """Its heading."""
    intro: str = ""
    """What stands above the tables."""
    tables: tuple[Table, ...] = ()
    """The tables."""
    notes: tuple[str, ...] = ()
    """Plain sentences below the tables."""


@dataclass(frozen=True)
class Term:
    """A word of the report and what it means there."""

    name: str
    """The word."""
    meaning: str
    """What it means."""


@dataclass(frozen=True)
class Assumptions:
    """What must hold for the figures to mean what they say."""

    text: str
    """The assumptions."""
    terms: tuple[Term, ...] = ()
    """The words of the report, explained."""


@dataclass(frozen=True)
class Provenance:
    """Where the figures come from: enough to repeat them, and nothing of the data itself."""

    version: str
    """The version of Glasshouse."""
    study: str
    """The study as TOML."""
    datasets: Mapping[str, str]
    """Per dataset, the SHA-256 of its bytes."""
    abridged: bool = False
    """Whether values of the data that the study names are left out of it here."""


@dataclass(frozen=True)
class Page:
    """A report: first the sentences, then the pictures, then the exact figures, then how to repeat them."""

    title: str
    """What it is about."""
    lead: str
    """One line below the title."""
    sentences: tuple[str, ...]
    """What was found, for those who have one minute."""
    assumptions: Assumptions
    """What must hold, and what the words mean."""
    provenance: Provenance
    """Where the figures come from."""
    command: str
    """The command that repeats them from the study, saved as ``study.toml``."""
    method: str
    """Whose method it is: authors, year, title."""
    figures: tuple[Figure, ...] = ()
    """The pictures."""
    sections: tuple[Section, ...] = ()
    """The exact figures."""


def render(page: Page) -> str:
    """Return a page as one self-contained HTML file that makes no request and runs no script.

    The same page gives the same bytes. Characters that cannot be seen, or that would turn the text around, are
    written as escapes, so that no name can hide or disguise itself.
    """
    return _template().render(page=page)


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


def _as_text(shown: object) -> object:
    """Return what the template shows with every character visible; what is markup already passes as it is."""
    if isinstance(shown, str) and not hasattr(shown, "__html__"):
        return printable(shown)
    return shown
