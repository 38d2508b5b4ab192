"""What is wrong, in the words that many messages share: names that do not exist, and what the system refuses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from glasshouse.language.catalogue import marked, text, translated
from glasshouse.language.names import near_names, quoted

MOST_NAMES = 12
"""So many of the names that there are, are told."""

KINDS = (
    marked("adversary"),
    marked("attribute"),
    marked("bin"),
    marked("column"),
    marked("dataset"),
    marked("deterrent"),
    marked("effort"),
    marked("entry"),
    marked("field"),
    marked("file"),
    marked("generator"),
    marked("measure"),
    marked("objective"),
    marked("package"),
    marked("parameter"),
    marked("phase"),
    marked("publication"),
    marked("quasi-identifier"),
    marked("rounding model"),
    marked("rounding"),
    marked("rule"),
    marked("secret"),
    marked("sheet"),
    marked("table"),
    marked("value"),
)
"""What `unknown_name` speaks of."""
REASONS = (
    marked("Cross-device link"),
    marked("Directory not empty"),
    marked("File exists"),
    marked("File name too long"),
    marked("Input/output error"),
    marked("Is a directory"),
    marked("No space left on device"),
    marked("No such file or directory"),
    marked("Not a directory"),
    marked("Operation not permitted"),
    marked("Permission denied"),
    marked("Read-only file system"),
    marked("Too many levels of symbolic links"),
    marked("Too many open files"),
)
"""What `system_reason` translates of all that an operating system may say."""


def unknown_name(kind: str, name: str, where: str, available: Iterable[str]) -> str:
    """Say that a name does not exist, and name the near ones, or else what there is.

    Args:
        kind: What it would be the name of: one of `KINDS`.
        name: The name.
        where: Where it is not: the name of a file, or a noun with its article in the language that is spoken.
        available: The names that there are.

    >>> unknown_name("column", "idade", "students.csv", ["IDADE", "SEXO"])
    'column "idade" is not in students.csv; did you mean "IDADE"?'
    >>> unknown_name("column", "zip", "students.csv", ["IDADE", "SEXO"])
    'column "zip" is not in students.csv; it has "IDADE", "SEXO"'
    """
    names = list(available)
    near = near_names(name, names)
    if near:
        return text(
            "{kind} {name} is not in {where}; did you mean {near}?",
            kind=translated(kind),
            name=quoted([name]),
            where=where,
            near=either([quoted([candidate]) for candidate in near]),
        )
    return text(
        "{kind} {name} is not in {where}; it has {names}",
        kind=translated(kind),
        name=quoted([name]),
        where=where,
        names=_first_names(names),
    )


def either(names: Sequence[str]) -> str:
    """Join alternatives as in a sentence.

    >>> either(["a"]), either(["a", "b"]), either(["a", "b", "c"])
    ('a', 'a or b', 'a, b or c')
    """
    *rest, last = names
    return text("{first} or {last}", first=", ".join(rest), last=last) if rest else last


def system_reason(error: OSError) -> str:
    """Return why the operating system refused something.

    >>> system_reason(PermissionError(13, "Permission denied"))
    'Permission denied'
    """
    return translated(error.strerror) if error.strerror else str(error)


def _first_names(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    if more <= 0:
        return quoted(names)
    return text("{names} and {more} more", names=quoted(names[:MOST_NAMES]), more=more)
