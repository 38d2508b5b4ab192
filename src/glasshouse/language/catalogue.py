"""Messages and their translations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from glasshouse.language.current import LANGUAGES, spoken
from glasshouse.language.numbers import number

_OR = "\x00"
"""What stands between the two forms of a message with a plural."""


def text(message: str, /, **values: object) -> str:
    """Return a message in the language that is spoken, with its values in their places.

    The message must be written out where this is called, so that translators get to see it. Whole numbers are
    written as the language writes them; everything else is a text already.

    >>> text("{count} of the records fit {what}", count=1234, what="{this}")
    '1,234 of the records fit {this}'
    """
    return _sentence(_messages(spoken()).get(message, message), values)


def text_for(count: int, one: str, many: str, /, **values: object) -> str:
    """Return a message about ``{count}`` things, in the form that the number asks for.

    >>> text_for(1, "{count} record", "{count} records"), text_for(2000, "{count} record", "{count} records")
    ('1 record', '2,000 records')
    """
    forms = _messages(spoken()).get(one + _OR + many, one + _OR + many).split(_OR)
    return _sentence(forms[count != 1], {"count": count, **values})


def marked(message: str) -> str:
    """Return a message as it is: translators get to see it here, and `translated` says it where it is used."""
    return message


def translated(message: str, /, **values: object) -> str:
    """Return a message that was `marked` elsewhere in the language that is spoken."""
    return _sentence(_messages(spoken()).get(message, message), values)


def marked_for(one: str, many: str) -> tuple[str, str]:
    """Return both forms of a message as they are, marked for translators; `translated_for` says them."""
    return one, many


def translated_for(count: int, forms: tuple[str, str], /, **values: object) -> str:
    """Return a message about ``{count}`` things that was marked elsewhere by `marked_for`."""
    return text_for(count, *forms, **values)


def _sentence(template: str, values: Mapping[str, object]) -> str:
    if not values:
        return template
    texts = {
        name: number(value) if isinstance(value, int) else str(value)
        for name, value in values.items()
    }
    try:
        return template.format(**texts)
    except (KeyError, IndexError, ValueError) as error:
        raise LookupError(f"the message “{template}” lacks a part: {error}") from error


@cache
def _messages(code: str) -> Mapping[str, str]:
    """Return the translation of each message in a language; of those with a plural, both forms."""
    folder = files("glasshouse.language") / LANGUAGES[code].locale
    if not folder.is_dir():
        return {}
    from babel.messages.pofile import read_po  # only who speaks another language needs it

    messages: dict[str, str] = {}
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.endswith(".po"):
            with path.open("rb") as file:
                for entry in read_po(file, locale=LANGUAGES[code].locale):
                    messages |= _entry(entry)
    return messages


def _entry(entry: Any) -> dict[str, str]:
    if not entry.id or not all(entry.string if isinstance(entry.id, tuple) else [entry.string]):
        return {}
    if isinstance(entry.id, tuple):  # its first form is a message by itself too, as for gettext
        return {_OR.join(entry.id): _OR.join(entry.string), entry.id[0]: entry.string[0]}
    return {entry.id: entry.string}
