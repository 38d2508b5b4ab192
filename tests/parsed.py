"""The sources of the house, parsed once for all tests that read them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "glasshouse"


@cache
def modules() -> Mapping[str, ast.Module]:
    """Return every module of the house by its place, in order; nobody changes them."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def nodes() -> Mapping[str, tuple[ast.AST, ...]]:
    """Return all that stands in each module."""
    return {place: tuple(ast.walk(module)) for place, module in modules().items()}
