"""The ways in which Glasshouse refuses, and what each one means to the user.

Everything above this module raises one of these and nothing else on purpose; the command line turns
each into one line on standard error and an exit code. An error carries its message as a template and the
parts of it, and is said in the language that is spoken where it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from glasshouse.language import translated


class GlasshouseError(Exception):
    """Base of every error that is addressed to the user: one line that says what, where, what to do.

    Args:
        template: What is wrong, written out where it is raised so that translators get to see it; or a text that is
            said already, without values.
        values: What stands in its places.

    >>> print(GlasshouseError("{path}: {count} records, which is too few", path="a.csv", count=1200))
    a.csv: 1,200 records, which is too few
    """

    exit_code = 2

    def __init__(self, template: str, /, **values: object) -> None:
        super().__init__(template)
        self.template = template
        self.parts: Mapping[str, object] = values

    def __str__(self) -> str:
        """Return the message in the language that is spoken."""
        return translated(self.template, **self.parts)

    def __reduce__(self) -> tuple[object, ...]:
        """Return how another process makes the same error."""
        return _error, (type(self), self.template, dict(self.parts))


class DataError(GlasshouseError):
    """The data is not what it was said to be: a malformed file, a missing column, a wrong encoding."""


class StudyError(GlasshouseError):
    """The question is not well posed: contradictory roles, an unknown option, an unreadable study file."""


class ContradictionError(StudyError, ValueError):
    """What a study says makes no sense, or not together; raised while it is validated, which adds where."""


class BudgetError(GlasshouseError):
    """A limit on memory, time or size forbids the work, or stopped it."""

    exit_code = 3


class SolverError(GlasshouseError):
    """A solver gave up before it had proved its answer."""

    exit_code = 3


class UnjudgedError(GlasshouseError):
    """Nothing was attacked, or measured, that a verdict could stand on."""

    exit_code = 3


class StoppedError(GlasshouseError):
    """The user stopped it; what was finished is kept and can be resumed."""

    exit_code = 130


class InternalError(GlasshouseError):
    """Our own bug: an invariant that Glasshouse guarantees does not hold."""

    exit_code = 1


def _error(
    kind: type[GlasshouseError], template: str, values: dict[str, object]
) -> GlasshouseError:
    return kind(template, **values)
