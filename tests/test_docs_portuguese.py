"""The pages in Portuguese say what their English twins say: the same commands, options, code, headings and pictures."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
HERE = DOCS / "pt"
PAGES = sorted(HERE.rglob("*.md"))
INDEX = HERE / "README.md"
TWINS = [page for page in PAGES if page != INDEX and (DOCS / page.relative_to(HERE)).exists()]

FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)\s]+)\)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
TYPED = ("glasshouse ", "pip ", "python ", "make ", "export ", "head ", "ls ", "echo ")
ENGLISH = re.compile(
    r"\b(the|of|and|what|how|who|which|is|are|to|it|its|with|from|not|said|told|she|her|in|on|by|"
    r"page|file|files|release|records?|worked|example|tested|computed)\b",
    re.IGNORECASE,
)
"""Words that stand in English headings and in no Portuguese one."""


def twin_of(page: Path) -> Path:
    return DOCS / page.relative_to(HERE)


def prose(content: str) -> str:
    """Return a page without its fenced blocks."""
    return FENCE.sub("", content)


def commands(content: str) -> list[str]:
    """Return what a page tells its reader to type, without comments and the language."""
    lines = [
        line.strip().removeprefix("$ ")
        for kind, body in FENCE.findall(content)
        if kind not in ("python", "toml", "yaml")
        for line in body.replace("\\\n", " ").splitlines()
    ]
    typed = (re.sub(r"\s+#\s.*", "", line) for line in lines if line.startswith(TYPED))
    return sorted(" ".join(line.replace(" --lang pt-BR", "").split()) for line in typed)


class Spoken(ast.NodeTransformer):
    """Take away that something is said in a language."""

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        """Put what is said in a language where it would be without."""
        self.generic_visit(node)
        return node.body if "speaking(" in ast.unparse(node.items[0]) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        """Leave out the import of what says so."""
        return None if [name.name for name in node.names] == ["speaking"] else node


def code(content: str) -> str:
    """Return the Python of a page, without comments and the language that it speaks."""
    bodies = [body for kind, body in FENCE.findall(content) if kind == "python"]
    return ast.unparse(Spoken().visit(ast.parse("\n".join(bodies))))


def name_of(page: Path) -> str:
    return page.relative_to(HERE).as_posix()


@pytest.mark.parametrize("page", TWINS, ids=name_of)
def test_a_page_in_portuguese_has_what_its_twin_has(page: Path) -> None:
    here, there = page.read_text("utf-8"), twin_of(page).read_text("utf-8")
    assert commands(here) == commands(there)
    assert code(here) == code(there)
    levels = [[len(marks) for marks, _ in HEADING.findall(prose(each))] for each in (here, there)]
    assert levels[0] == levels[1]
    assert set(OPTION.findall(there)) <= set(OPTION.findall(here))
    pictures = [[Path(name).name for name in PICTURE.findall(each)] for each in (here, there)]
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_heading_is_left_in_english(page: Path) -> None:
    titles = [title for _, title in HEADING.findall(prose(page.read_text("utf-8")))]
    assert titles
    assert [title for title in titles if ENGLISH.search(re.sub("`[^`]*`", "", title))] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_in_portuguese_leads_to_pages_in_portuguese(page: Path) -> None:
    """But where it says so; and to headings whose address every builder of sites makes alike."""
    lost = []
    for title, link in LINK.findall(prose(page.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        goal = (page.parent / path).resolve()
        abroad = goal.is_relative_to(DOCS) and not goal.is_relative_to(HERE)
        if abroad and (HERE / goal.relative_to(DOCS)).exists():
            lost += [link] if title.lower() != "in english" else []
        if not anchor.isascii():
            lost.append(link)
    assert lost == []


def test_every_page_in_portuguese_is_in_its_index() -> None:
    listed = {link for _, link in LINK.findall(INDEX.read_text("utf-8"))}
    assert {name_of(page) for page in PAGES if page != INDEX} <= listed
