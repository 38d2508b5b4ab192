"""Messages and their translations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from glasshouse.language.current import LANGUAGES, spoken
from glasshouse.language.numbers import number

_OR = "\x00"
"""What stands between the two forms of a message with a plural."""
_STANDING: dict[str, Callable[[], int]] = {}
"""Numbers of which every message may speak without being handed them, by the names of their places."""


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


def standing(name: str, count: Callable[[], int]) -> None:
    """Let every message speak of a number by its name, such as of the smallest count that is told.

    Where a message is handed a value of that name, it is the one that is said.
    """
    _STANDING[name] = count


def _sentence(template: str, values: Mapping[str, object]) -> str:
    for name, count in _STANDING.items():
        if name not in values and (place := f"{{{name}}}") in template:
            template = template.replace(place, number(count()))
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
    path = files("glasshouse.language") / LANGUAGES[code].locale / "messages.po"
    if not path.is_file():
        return {}
    messages: dict[str, str] = {}
    for entry in _entries(path.read_text(encoding="utf-8").splitlines()):
        one, many = entry.get("msgid", ""), entry.get("msgid_plural")
        forms = [entry.get(name, "") for name in ("msgstr[0]", "msgstr[1]")]
        if many is not None and all(forms):
            messages[one + _OR + many] = _OR.join(forms)
        said = forms[0] if many is not None else entry.get("msgstr", "")
        if one and said:  # the first form of two is a message by itself too, as for gettext
            messages[one] = said
    return messages


def _entries(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the entries of a catalogue as Babel writes it; to read it so takes a tenth of the time."""
    entry: dict[str, str] = {}
    field = ""
    for line in lines:
        if line.startswith('"'):
            entry[field] += json.loads(line)
        elif line.startswith("msg"):
            field, _, quoted = line.partition(" ")
            if field == "msgid":
                yield entry
                entry = {}
            entry[field] = json.loads(quoted)
    yield entry
