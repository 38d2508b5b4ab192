"""The languages that Glasshouse speaks: messages, plurals, numbers and dates.

A message is written in English where it is used, as one whole template (``text("{count} records fit", count=3)``), and
looked up in the catalogue of the language that is spoken; English needs none. The catalogues are gettext files
(``pt_BR/messages.po``) that translators can edit with the usual tools. ``scripts/messages.py``
keeps them in step with the code, and a test refuses a message that is missing or stale.

A language is spoken by a whole process (`speak`, the command line) or within a block (`speaking`, a report in another
language). Whole numbers in a message are written as the language writes them; all else goes through `number`.
"""

from __future__ import annotations

from glasshouse.language.catalogue import (
    marked,
    marked_for,
    standing,
    text,
    text_for,
    translated,
    translated_for,
)
from glasshouse.language.current import (
    LANGUAGES,
    Language,
    UnknownLanguageError,
    language_called,
    locale,
    speak,
    speaking,
    spoken,
)
from glasshouse.language.faults import either, system_reason, unknown_name
from glasshouse.language.names import near_names, printable, quoted
from glasshouse.language.numbers import MINUS, date, decimal, exactly, localised, number, rounded
from glasshouse.language.shares import percentage

__all__ = [
    "LANGUAGES",
    "MINUS",
    "Language",
    "UnknownLanguageError",
    "date",
    "decimal",
    "either",
    "exactly",
    "language_called",
    "locale",
    "localised",
    "marked",
    "marked_for",
    "near_names",
    "number",
    "percentage",
    "printable",
    "quoted",
    "rounded",
    "speak",
    "speaking",
    "spoken",
    "standing",
    "system_reason",
    "text",
    "text_for",
    "translated",
    "translated_for",
    "unknown_name",
]
