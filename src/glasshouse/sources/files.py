"""Paths as users give them: there, readable, and safe to print."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from glasshouse.errors import DataError, near_names, printable, quoted


def display_name(path: Path) -> str:
    r"""Return a file's own name as one line that cannot disturb a terminal.

    >>> display_name(Path("folder/a\nb.csv"))
    'a\\nb.csv'
    """
    return printable(path.name or str(path))


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
        raise DataError(f"{name}: cannot be opened ({error}); check the path") from None
    if stat.S_ISDIR(kind):
        raise DataError(f"{name}: is a folder; give a file in it")
    if kind and not stat.S_ISREG(kind):
        raise DataError(f"{name}: is not a regular file; save the data to one first")
    if "\\udc" in name:
        raise DataError(f"{name}: has a name that is not text; rename the file")
    if not kind:
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        near = near_names(path.name, siblings)
        way_out = f"; did you mean {quoted(near)}?" if near else f" in {path.absolute().parent}"
        raise DataError(f"{name}: there is no such file{way_out}")
    if not os.access(path, os.R_OK):
        raise DataError(f"{name}: cannot be read; check its permissions")
    return path


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, by which a later run knows that it reads the same data."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
