"""A page as a PDF, set by typst: the same sections as the HTML file, on paper.

The page is handed to a fixed document (``paper/report.typ``) as data, so nothing of it is ever read as markup.
Characters that cannot be seen, or that would turn the text around, are written as escapes. The same page gives the
same bytes: of the time nothing in it tells more than the day of the run, and its fonts come with typst; what these
lack is taken from the machine's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.resources import files
from typing import Any

from glasshouse.errors import GlasshouseError, InternalError
from glasshouse.language import locale, printable, spoken, text
from glasshouse.report import charts
from glasshouse.report.cells import column_widths
from glasshouse.report.form import ImpactForm, blank_mark
from glasshouse.report.page import (
    Action,
    Cell,
    Figure,
    Finding,
    Page,
    Ruling,
    Section,
    Table,
    ranked,
)
from glasshouse.report.provenance import instructions, source_line

FONT = "Libertinus Serif"
"""The font of texts and pictures; typst brings it along."""
LONGEST_WORD, LONGEST_CODE = 24, 80
"""Words of so many characters may be broken, so that no name leaves its column; in what is to be copied, of more."""
FORM_PAGES, LETTERS = 2, (10.0, 9.5, 9.0, 8.5, 8.0, 7.5, 7.0, 6.5)
"""So many pages a form has before its annex, and the sizes of letters that are tried for it, in points."""
_OWN = "// The report."
"""Where the document of a report leaves what it shares with that of a form."""
LONGEST_NAME = 240
"""Longer words, and longer headings of tables, are cut."""
_COPIED = ("command", "study")
_DIGEST = r"[0-9a-f]{64}\b"
_STEP = re.compile(r"(?<=[_\-./,;:\\])(?=\S)|(?<=\S{12})(?=\S)")
_UNIT = re.compile(r"(?<=[0-9]) (?=%)|(?<=[<>×]) (?=[0-9])")
_CAN_BREAK, _NO_BREAK = "\u200b", "\u00a0"
_ON_SCREEN = f'font-family="{charts.FONT}"'


def to_pdf(page: Page) -> bytes:
    """Return a page as a PDF, in the language that is spoken.

    Screen readers can read it (PDF/UA-1), unless it has characters that no font at hand can show.

    Raises:
        GlasshouseError: typst is not installed.
    """
    return _set(_paper("report.typ").encode(), content_of(page))


def form_to_pdf(form: ImpactForm) -> bytes:
    """Return a form as a PDF, in the language that is spoken, in letters so small that it has two pages and an annex.

    Raises:
        GlasshouseError: typst is not installed.
    """
    content = next(
        (content for content in _form_contents(form) if form_pages(content) <= FORM_PAGES),
        _form_content(form, LETTERS[-1]),
    )
    return _set(_form_document(), content)


def form_pages(content: dict[str, Any]) -> int:
    """Return how many pages the content of a form takes before its annex."""
    inputs = {"page": json.dumps(content, ensure_ascii=False)}
    last = _typst().query(_form_document(), "<front>", field="value", one=True, sys_inputs=inputs)
    return int(json.loads(last))


def _form_document() -> bytes:
    """Return the document of a form, which shares the beginning of that of a report."""
    return (_paper("report.typ").partition(_OWN)[0] + _paper("form.typ")).encode()


def _form_contents(form: ImpactForm) -> Iterator[dict[str, Any]]:
    return (_form_content(form, size) for size in LETTERS)


def _form_content(form: ImpactForm, size: float) -> dict[str, Any]:
    """Return all that the document of a form shows, as plain values with every character visible."""
    content = {
        "language": spoken().partition("-")[0],
        "region": locale().partition("_")[2],
        "font": FONT,
        "size": size,
        "titles": {"report": form.title},
        "title": form.title,
        "lead": form.lead,
        "blank": blank_mark(),
        "sections": [_section(section) for section in form.sections],
        "annex-title": text("Annex"),
        "annex": [_section(section) for section in form.annex],
        "studies": [
            (text("The study of {run}", run=name), study.rstrip().split("\n"))
            for name, study in form.studies
        ],
        "made": text("Made by Glasshouse {version}.", version=form.version),
    }
    return {
        name: _shown(entry, LONGEST_CODE if name == "studies" else LONGEST_WORD)
        for name, entry in content.items()
    }


def _paper(name: str) -> str:
    """Return a document of typst."""
    return (files("glasshouse.report") / "paper" / name).read_text(encoding="utf-8")


def _set(document: bytes, content: dict[str, Any]) -> bytes:
    """Return a document with its content as a PDF.

    Raises:
        GlasshouseError: typst is not installed.
    """
    typst = _typst()
    inputs = {"page": json.dumps(content, ensure_ascii=False)}
    try:
        paper: bytes = typst.compile(
            document, format="pdf", sys_inputs=inputs, pdf_standards=["ua-1"]
        )
    except (
        typst.TypstError
    ):  # the standard refuses what the fonts lack; an empty box is better than no page
        try:
            paper = typst.compile(document, format="pdf", sys_inputs=inputs, pdf_standards=[])
        except typst.TypstError as error:
            raise InternalError(f"the report could not be set on paper: {error}") from error
    return paper


def content_of(page: Page) -> dict[str, Any]:
    """Return all that the document shows, as plain values with every character visible."""
    smallest = text(
        "Counts below {smallest} are shown as “fewer than {smallest}”.",
        smallest=page.provenance.smallest_cell,
    )
    content = {
        "language": spoken().partition("-")[0],
        "region": locale().partition("_")[2],
        "font": FONT,
        "titles": _titles(page),
        "title": page.title,
        "lead": page.lead,
        "verdict": None if page.ruling is None else _verdict(page, page.ruling),
        "sentence": page.first_sentence,
        "tiles": [asdict(tile) for tile in page.tiles],
        "actions": [_action(action) for action in page.actions],
        "findings": [_finding(finding) for finding in ranked(page.findings)],
        "front": None if page.front is None else _figure(page.front),
        "figures": [_figure(figure) for figure in page.figures],
        "sections": [_section(section) for section in page.sections],
        "limits": [*page.adversary, *page.limits, smallest],
        "instruction": instructions(page.provenance),
        "source": source_line(page.provenance),
        "command": page.command,
        "study": page.provenance.study.rstrip().split("\n") if page.provenance.study else [],
        "origins": _origins(page),
        "glossary": [[term.name, term.meaning] for term in page.glossary],
        "made": text("Made by Glasshouse {version}.", version=page.provenance.version),
    }
    return {
        name: _shown(entry, LONGEST_CODE if name in _COPIED else LONGEST_WORD)
        for name, entry in content.items()
    }


def _shown(value: Any, longest: int) -> Any:
    """Return a value with every text of it safe to set; pictures pass as they are."""
    if isinstance(value, str):
        return _breakable(_UNIT.sub(_NO_BREAK, printable(value)), longest)
    if isinstance(value, dict):
        return {
            name: entry if name == "picture" else _shown(entry, longest)
            for name, entry in value.items()
        }
    if isinstance(value, list | tuple):
        return [_shown(entry, longest) for entry in value]
    return value


def _breakable(line: str, longest: int) -> str:
    """Return a text with places to break its long words, save fingerprints, which fit."""
    return re.sub(
        rf"(?!{_DIGEST})\S{{{longest},}}",
        lambda match: _STEP.sub(_CAN_BREAK, _shortened(match[0])),
        line,
    )


def _shortened(line: str) -> str:
    """Return a text that is no longer than paper bears: a heading that fills a page would be repeated without end.

    >>> len(_shortened("x" * 1000)), _shortened("age")
    (240, 'age')
    """
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def _titles(page: Page) -> dict[str, str]:
    return {
        "report": text("Glasshouse report: {title}", title=page.title),
        "verdict": text("Verdict"),
        "minute": text("In one minute"),
        "what_to_do": text("What to do"),
        "conditions": text("The conditions of the rule"),
        "findings": text("Findings"),
        "remedy": text("What could be done:"),
        "pictures": text("More pictures"),
        "numbers": text("The numbers of this picture"),
        "figures": text("For specialists"),
        "limits": text("Assumptions and limits"),
        "repeat": text("How to reproduce it"),
        "glossary": text("Glossary"),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    picture = None if finding.picture is None else _figure(finding.picture)
    words = asdict(replace(finding, picture=None))
    return words | {"heading": finding.severity.heading, "shown": picture}


def _verdict(page: Page, ruling: Ruling) -> dict[str, Any]:
    """Return the first page, which can be signed: the verdict, what it was judged by, and what risk is left."""
    return {
        "decision": ruling.decision.value,
        "headline": ruling.headline,
        "tally": ruling.tally,
        "coverage": list(ruling.coverage),
        "conditions": _table(ruling.conditions),
        "notes": ruling.notes,
        "signing": [
            text("Organisation"),
            text("Data of (date or period)"),
            text("Decision, and how the residual risk is carried"),
            text("Name, role, date, signature"),
        ],
        "datasets": text("The data: {names}", names=", ".join(page.provenance.datasets))
        if page.provenance.datasets
        else "",
    }


def _action(action: Action) -> dict[str, str]:
    met = {True: text("✓ meets the rule"), False: text("✗ not enough for the rule"), None: ""}
    return {
        "sentence": " ".join(filter(None, (action.sentence, action.change, met[action.meets]))),
        "command": action.command,
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "picture": charts.to_svg(figure.chart).replace(_ON_SCREEN, f'font-family="{FONT}"'),
        "label": figure.label,
        "caption": figure.caption,
        "table": None if figure.table is None else _table(figure.table),
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "intro": section.intro,
        "tables": [_table(table) for table in section.tables],
        "notes": section.notes,
    }


def _table(table: Table) -> dict[str, Any]:
    grouped = any(column.under is not None for column in table.columns)
    return {
        "title": table.title,
        "numeric": [column.numeric for column in table.columns],
        "columns": [_shortened(column.title) for column in table.columns],
        "widths": column_widths(table),
        "above": [
            [_shortened(under or ""), len(columns)] for under, columns in table.headings if grouped
        ],
        "groups": [
            {
                "title": group.title,
                "note": group.note,
                "rows": [[_cell(cell) for cell in row] for row in group.rows],
            }
            for group in table.groups
        ],
    }


def _cell(cell: Cell) -> list[str]:
    return [cell.mark or "", cell.text]


def _origins(page: Page) -> list[list[str]]:
    """Return where the figures come from: a name, and what stands below it."""
    provenance = page.provenance
    origins, names = [], ", ".join(provenance.datasets)
    if names:
        fingerprints = text("{names}; fingerprints are in the manifest of the run", names=names)
        origins.append([text("The data"), fingerprints])
    if provenance.seed is not None:
        origins.append([text("Seed of every random choice"), str(provenance.seed)])
    if provenance.libraries:
        versions = ", ".join(f"{name} {version}" for name, version in provenance.libraries.items())
        origins.append([text("Computed with"), versions])
    return [*origins, [text("The method"), page.source]]


def _typst() -> Any:
    try:
        import typst  # the extra that sets paper
    except ImportError:
        raise GlasshouseError(
            text(
                "a PDF needs typst, which is not installed; run {command}",
                command="pip install 'glasshouse[pdf]'",
            )
        ) from None
    return typst
