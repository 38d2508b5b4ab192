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


def table_files(path: Path) -> tuple[list[Path], Path]:
    """Return the files that a path stands for, by name, and the folder that holds them all.

    Of a folder these are all below it but the hidden ones and the marks that programs leave; of a name with wildcards
    those that it describes.

    Raises:
        DataError: The files of a folder are of several kinds, or one is none that can be read again.
    """
    if path.is_dir():
        inside = [
            entry.relative_to(path)
            for entry in path.rglob("*")
            if not entry.is_dir() or entry.is_symlink()  # what it leads to is not read
        ]
        files = [file for file in sorted(inside) if not any(map(_is_mark, file.parts))]
        _refuse_what_is_no_file(path / file for file in files)
        kinds = sorted({file.suffix for file in files})
        if len(kinds) > 1:
            raise DataError(
                "{name}: is a folder with files of several kinds ({kinds}); give one of them, or those that are meant "
                "as {example}",
                name=display_name(path),
                kinds=", ".join(kind or "?" for kind in kinds[:5]),
                example=quoted([f"{display_name(path)}/*{kinds[0]}"]),
            )
        return [path / file for file in files], path
    parts = path.parts
    first = next((i for i, part in enumerate(parts) if any(sign in part for sign in "*?[")), None)
    if first is None or path.exists():
        return [path], path.parent
    top = Path(*parts[:first])
    files = sorted(entry for entry in top.glob(str(Path(*parts[first:]))) if not entry.is_dir())
    _refuse_what_is_no_file(files)
    return files, top


def _refuse_what_is_no_file(paths: Iterable[Path]) -> None:
    """Make sure that nothing is passed over which may hold data.

    Raises:
        DataError: One is a pipe, a device, or a link to a folder or to what is not there.
    """
    for path in paths:
        if not path.is_file():
            raise DataError(
                "{name}: is a pipe, a device, or a link to a folder or to nothing; take it out of the folder",
                name=display_name(path),
            )


def _is_mark(part: str) -> bool:
    return part.startswith((".", "_"))


def existing_data(path: Path) -> Path:
    """Return the path if it is a file that can be opened, or stands for several.

    Raises:
        DataError: It does not.
    """
    files, _ = table_files(path)
    for file in files or [path]:
        existing_file(file)
    return path


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of the data behind a path, by which a later run knows that it reads the same.

    Of several files it is that of their names and of the SHA-256 of each.
    """
    files, top = table_files(path)
    if files != [path]:
        lines = (f"{file.relative_to(top).as_posix()} {fingerprint(file)}\n" for file in files)
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
