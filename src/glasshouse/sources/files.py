"""Paths as users give them: there, readable, and safe to print."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from glasshouse.errors import DataError
from glasshouse.language import near_names, printable, quoted, text


def display_name(path: Path) -> str:
    r"""Return a file's own name as one line that cannot disturb a terminal.

    >>> display_name(Path("folder/a\nb.csv"))
    'a\\nb.csv'
    """
    return printable(path.name or str(path))


def own_place(path: Path) -> Path:
    """Return where a file is, the same however it was reached."""
    return path.parent.resolve() / path.name


def telling_paths(paths: Iterable[Path]) -> dict[Path, Path]:
    """Return by its `own_place` as much of the path of each file as tells it from the others: mostly its name.

    Files of one name are told apart by the folders in which they are, from the one on that holds all of them, so that
    nothing is told of where that is.

    >>> told = telling_paths(map(Path, ["/a/b/x.csv", "/a/b/c/x.csv", "/a/d.csv", "/a/b/x.csv"]))
    >>> [path.as_posix() for path in told.values()]
    ['x.csv', 'c/x.csv', 'd.csv']
    """
    by_name: dict[str, dict[Path, None]] = {}
    places = list(dict.fromkeys(map(own_place, paths)))
    for place in places:
        by_name.setdefault(place.name, {})[place] = None
    return {place: _within_common_folder(place, by_name[place.name]) for place in places}


def _within_common_folder(place: Path, alike: Iterable[Path]) -> Path:
    return place.relative_to(os.path.commonpath([path.parent for path in alike]))


def existing_file(path: Path) -> Path:
    """Return the path if it is a file that can be opened.

    Raises:
        DataError: It is not; near names in the same folder are named.
    """
    name = display_name(path)
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        kind = 0
    except (OSError, ValueError) as error:
        raise DataError(
            "{name}: cannot be opened ({reason}); check the path", name=name, reason=error
        ) from None
    if stat.S_ISDIR(kind):
        raise DataError("{name}: is a folder; give a file in it", name=name)
    if kind and not stat.S_ISREG(kind):
        raise DataError("{name}: is not a regular file; save the data to one first", name=name)
    if "\\udc" in name:
        raise DataError("{name}: has a name that is not text; rename the file", name=name)
    if not kind:
        raise DataError(_no_such_file(path, name))
    if not os.access(path, os.R_OK):
        raise DataError("{name}: cannot be read; check its permissions", name=name)
    return path


def _no_such_file(path: Path, name: str) -> str:
    siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = near_names(path.name, siblings)
    if near:
        return text(
            "{name}: there is no such file; did you mean {near}?", name=name, near=quoted(near)
        )
    return text(
        "{name}: there is no such file in {folder}", name=name, folder=path.absolute().parent
    )


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, by which a later run knows that it reads the same data."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
