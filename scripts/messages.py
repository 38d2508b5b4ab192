"""Keep the catalogues of messages in step with the code.

    python scripts/messages.py            gather what the program says, and update every catalogue
    python scripts/messages.py --check    tell what is missing or stale, and change nothing

A message is what stands in ``text("…")``, ``text_for(n, "…", "…")``, ``marked("…")`` or ``marked_for("…", "…")`` in the
code, what an error for the user is raised with (``DataError("…")``), in ``{{ text("…") }}`` in a template, in the help
of the command line, or what an entry of a study says. New ones are added to
``src/glasshouse/language/<locale>/messages.po`` without a translation; those that nothing says any more are removed.
"""

from __future__ import annotations

import argparse
import ast
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "glasshouse"
CATALOGUES = PACKAGE / "language"
ONE, TWO = {"text": 0, "marked": 0}, {"text_for": 1, "marked_for": 0}
"""Which argument of a function is the message, or the first of its two forms."""
ERRORS = {
    "DataError",
    "StudyError",
    "ContradictionError",
    "BudgetError",
    "SolverError",
    "UnjudgedError",
    "StoppedError",
}
"""Errors that the user reads; what they are raised with is a message, unless it was said before."""
DISPENSABLE = {"count", "subject"}
"""Parts that a translation may leave out: a number that its form says, a user's noun whose gender it would need."""
ENGLISH = "qif/"
"""The mathematics speaks to those who write formulas in Python, in English."""
Message = str | tuple[str, str]


class Said(NamedTuple):
    """Where the program says something."""

    message: Message
    place: str
    line: int


class NotWrittenOutError(Exception):
    """A message is put together where it should be written out."""


def messages_of_code() -> Iterator[Said]:
    """Yield the messages of all modules."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place == "language/catalogue.py" or place.startswith(ENGLISH):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield from _of_call(node, node.func.id, place)


def _of_call(node: ast.Call, name: str, place: str) -> Iterator[Said]:
    if name in ONE and node.args:
        yield Said(_literal(node.args[ONE[name]], place), place, node.lineno)
    elif name in ERRORS and node.args and isinstance(node.args[0], ast.Constant):
        yield Said(_literal(node.args[0], place), place, node.lineno)
    elif name in TWO and len(node.args) >= TWO[name] + 2:
        first = TWO[name]
        forms = (_literal(node.args[first], place), _literal(node.args[first + 1], place))
        yield Said(forms, place, node.lineno)


def _literal(node: ast.expr, place: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotWrittenOutError(
        f"{place}:{node.lineno}: write the message out, so that it can be translated"
    )


def messages_of_templates() -> Iterator[Said]:
    """Yield the messages of the templates."""
    environment = jinja2.Environment(autoescape=True)
    for path in sorted(PACKAGE.rglob("templates/*")):
        tree = environment.parse(path.read_text(encoding="utf-8"))
        place = path.relative_to(PACKAGE).as_posix()
        for call in tree.find_all(jinja2.nodes.Call):
            name = call.node.name if isinstance(call.node, jinja2.nodes.Name) else ""
            if name in ONE:
                yield Said(call.args[ONE[name]].as_const(), place, call.lineno)
            elif name in TWO:
                first, second = (call.args[TWO[name] + place_of].as_const() for place_of in (0, 1))
                yield Said((first, second), place, call.lineno)


def messages_of_help() -> Iterator[Said]:
    """Yield the texts of the help of the command line."""
    from glasshouse.cli.main import app
    from glasshouse.cli.translation import help_messages

    for message in sorted(help_messages(app)):
        yield Said(message, "cli/help", 0)


def messages_of_entries() -> Iterator[Said]:
    """Yield what is said of the entries of a study."""
    from glasshouse.study import entry

    for message in sorted(entry.messages()):
        yield Said(message, "study/entry", 0)


def messages() -> dict[Message, list[Said]]:
    """Return everything that the program says, and where."""
    found: dict[Message, list[Said]] = {}
    every = (messages_of_code(), messages_of_templates(), messages_of_help(), messages_of_entries())
    for said in (said for some in every for said in some):
        found.setdefault(said.message, []).append(said)
    for forms in [message for message in found if isinstance(message, tuple)]:
        found[forms] += found.pop(forms[0], [])  # a catalogue has one entry for both
    return found


def translations(folder: Path) -> dict[Message, str | tuple[str, ...]]:
    """Return what the catalogues of a language say."""
    known: dict[Message, str | tuple[str, ...]] = {}
    for path in sorted(folder.glob("*.po")):
        with path.open("rb") as file:
            for entry in read_po(file, locale=folder.name):
                said: Any = entry.string
                if entry.id and said and (not isinstance(said, tuple) or all(said)):
                    message: Any = entry.id
                    known[message] = said
    return known


def fields_of(template: str) -> set[str]:
    """Return the parts that a message has places for."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def faults(folder: Path) -> list[str]:
    """Return what is wrong with the catalogue of a language: missing and stale messages, and wrong parts."""
    said, known = messages(), translations(folder)
    missing = [
        f"missing: {message!r} ({said[message][0].place})"
        for message in said
        if message not in known
    ]
    stale = [f"stale: {message!r}" for message in known if message not in said]
    wrong = []
    for message in said.keys() & known.keys():
        if said[message][0].place in ("cli/help", "study/entry"):
            continue
        english = message if isinstance(message, tuple) else (message,)
        foreign = known[message]
        parts = set().union(*map(fields_of, english))
        for form in foreign if isinstance(foreign, tuple) else (foreign,):
            extra = fields_of(form) - parts
            lost = fields_of(english[-1]) - fields_of(form) - DISPENSABLE
            if extra or (lost and isinstance(message, str)):
                wrong.append(f"other parts: {message!r} → {form!r}")
    return missing + stale + sorted(wrong)


def update(folder: Path) -> None:
    """Write the one catalogue of a language anew, with all that is said and the translations there are."""
    said, known = messages(), translations(folder)
    catalogue = Catalog(locale=folder.name, project="Glasshouse", charset="utf-8", fuzzy=False)
    for message in sorted(
        said, key=lambda each: (said[each][0].place, said[each][0].line, str(each))
    ):
        places = sorted({(each.place, 0) for each in said[message]})
        catalogue.add(message, known.get(message, ""), locations=places)
    for path in folder.glob("*.po"):
        path.unlink()
    with (folder / "messages.po").open("wb") as file:
        write_po(file, catalogue, width=116, include_lineno=False)
    _without_dates(folder / "messages.po")


def _without_dates(path: Path) -> None:
    """Remove the lines of the header that change with every update."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    dated = (
        '"POT-Creation-Date',
        '"PO-Revision-Date',
        '"Generated-By',
        '"Last-Translator',
        '"Language-Team',
    )
    kept = [line for line in lines if not line.startswith((*dated, '"Report-Msgid'))]
    text = "".join(line for line in kept if not line.startswith("# "))
    path.write_text(text.replace("plural=(n > 1)", "plural=(n != 1)"), encoding="utf-8")


def main() -> int:
    """Update or check every catalogue."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    folders = [path for path in CATALOGUES.iterdir() if any(path.glob("*.po"))]
    if not check:
        for folder in folders:
            update(folder)
    found = [f"{folder.name}: {fault}" for folder in folders for fault in faults(folder)]
    print("\n".join(found) or "every message is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
