"""Reports kept as JSON, in every language, so that they can be read again in another one or on paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json as to_json_bytes

from glasshouse.errors import DataError
from glasshouse.language import LANGUAGES, speaking
from glasshouse.report.page import Page

FORMAT = 2
"""The number of the format; a reader refuses others."""


def in_every_language(make: Callable[[], Page]) -> dict[str, Page]:
    """Return a page in every language that Glasshouse speaks.

    Args:
        make: Makes the page in the language that is spoken.
    """
    pages = {}
    for code in LANGUAGES:
        with speaking(code):
            pages[code] = make()
    return pages


def to_json(pages: Mapping[str, Page]) -> str:
    """Return pages by language as one JSON document."""
    content = {code: to_dict(page) for code, page in pages.items()}
    return to_json_bytes({"format": FORMAT, "pages": content}, indent=1).decode() + "\n"


def to_dict(page: Page) -> dict[str, Any]:
    """Return a page as plain values."""
    content: dict[str, Any] = _adapter().dump_python(page, mode="json")
    for section in content["sections"]:
        if not section["is_open"]:  # as most are
            del section["is_open"]
    return content


def from_json(document: str, name: str) -> dict[str, Page]:
    """Return pages by language.

    Args:
        document: What `to_json` made.
        name: The name of the file, for a message.

    Raises:
        DataError: It is something else.
    """
    try:
        content = json.loads(document)
        if content["format"] != FORMAT:
            raise DataError(
                "{name} was written by another version of Glasshouse; run the study again",
                name=name,
            )
        return {code: _adapter().validate_python(page) for code, page in content["pages"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError("{name} is not a report of Glasshouse", name=name) from None


@cache
def _adapter() -> TypeAdapter[Page]:
    return TypeAdapter(Page)
