"""A page as one HTML file that asks nobody for anything and runs nothing.

Every text is shown as text, whatever it holds: only a figure's picture is markup, and that is drawn here. Characters
that cannot be seen, or that would turn the text around, are written as escapes, so that no name can hide or disguise
itself. The same page gives the same bytes.
"""

from __future__ import annotations

from functools import cache

import jinja2

from glasshouse.errors import printable
from glasshouse.language import spoken, text
from glasshouse.report.page import Page, ranked
from glasshouse.report.pictures import pictures
from glasshouse.report.repeating import instructions


def to_html(page: Page) -> str:
    """Return a page as one self-contained HTML file, in the language that is spoken."""
    return _template().render(
        page=page,
        findings=ranked(page.findings),
        pictures=pictures,
        instructions=instructions(page.provenance),
        text=text,
        language=spoken(),
    )


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
