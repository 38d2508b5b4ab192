"""The ways in which Glasshouse refuses, and what each one means to the user.

Everything above this module raises one of these and nothing else on purpose; the command line turns
each into one line on standard error and an exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class GlasshouseError(Exception):
    """Base of every error that is addressed to the user: one line that says what, where, what to do."""

    exit_code = 2


class DataError(GlasshouseError):
    """The data is not what it was said to be: a malformed file, a missing column, a wrong encoding."""


class StudyError(GlasshouseError):
    """The question is not well posed: contradictory roles, an unknown option, an unreadable study file."""


class BudgetError(GlasshouseError):
    """A limit on memory, time or size forbids the work, or stopped it."""

    exit_code = 3


class SolverError(GlasshouseError):
    """A solver gave up before it had proved its answer."""

    exit_code = 3


class StoppedError(GlasshouseError):
    """The user stopped it; what was finished is kept and can be resumed."""

    exit_code = 130


class InternalError(GlasshouseError):
    """Our own bug: an invariant that Glasshouse guarantees does not hold."""

    exit_code = 1


def quoted(names: Iterable[str]) -> str:
    """Return names as a readable list, each in quotation marks.

    >>> quoted(["age", "sex"])
    '"age", "sex"'
    """
    return ", ".join(map(_quote, names))


def printable(text: str) -> str:
    r"""Return a text as one line that cannot disturb a terminal or an encoder.

    >>> printable("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in text
    )


def near_names(name: str, available: Iterable[str]) -> list[str]:
    """Return at most three available names that a person may have meant, the nearest first."""
    by_folded: dict[str, list[str]] = {}
    for candidate in available:
        by_folded.setdefault(candidate.casefold().strip(), []).append(candidate)
    matches = get_close_matches(name.casefold().strip(), by_folded, n=3, cutoff=0.7)
    return [candidate for match in matches for candidate in by_folded[match]][:3]


def _quote(name: str) -> str:
    return f'"{printable(name)}"'
