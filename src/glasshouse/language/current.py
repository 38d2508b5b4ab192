"""Which language is spoken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from glasshouse.language.names import quoted


class UnknownLanguageError(ValueError):
    """Glasshouse does not speak a language."""


@dataclass(frozen=True)
class Language:
    """A language of the program."""

    code: str
    """What ``--lang`` and HTML call it."""
    locale: str
    """How it writes numbers and dates; also the folder of its messages."""
    name: str
    """What its speakers call it."""
    group: str
    """What stands between thousands,"""
    decimal: str
    """and before decimals."""


LANGUAGES = {
    language.code: language
    for language in (
        Language("en", "en_GB", "English", ",", "."),
        Language("pt-BR", "pt_BR", "Português (Brasil)", ".", ","),
    )
}
"""The languages by their codes; the first one is that of the code itself."""

_everywhere = "en"
_here: ContextVar[str | None] = ContextVar("language", default=None)


def language_called(code: str) -> str:
    """Return the code of a language, however it is written.

    >>> language_called("pt_BR"), language_called("PT-br"), language_called("pt"), language_called("en_GB.UTF-8")
    ('pt-BR', 'pt-BR', 'pt-BR', 'en')

    Raises:
        UnknownLanguageError: Glasshouse does not speak it.
    """
    tag = code.partition(".")[0].replace("_", "-").casefold()
    for known in LANGUAGES:
        if tag.partition("-")[0] == known.partition("-")[0]:
            return known
    raise UnknownLanguageError(
        f"Glasshouse does not speak {quoted([code])}; choose one of {quoted(LANGUAGES)}"
    )


def speak(code: str) -> None:
    """Speak a language from now on, in the whole process.

    Raises:
        UnknownLanguageError: Glasshouse does not speak it.
    """
    global _everywhere
    _everywhere = language_called(code)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Speak a language within a block.

    >>> with speaking("pt-BR"):
    ...     spoken()
    'pt-BR'
    """
    token = _here.set(language_called(code))
    try:
        yield
    finally:
        _here.reset(token)


def spoken() -> str:
    """Return the code of the language that is spoken now."""
    return _here.get() or _everywhere


def locale() -> str:
    """Return the locale of the language that is spoken now."""
    return LANGUAGES[spoken()].locale
