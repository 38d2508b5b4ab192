"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glasshouse.errors import DataError
from glasshouse.language import system_reason


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a temporary neighbour to write to; it takes the path's place if all goes well.

    A file that exists is replaced at the very end; on any failure it is untouched and nothing is left
    behind.

    Raises:
        DataError: The file cannot be written there.
    """
    if path.is_dir():
        raise DataError('cannot write "{path}": it is a folder; choose another place', path=path)
    with _write_errors(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".glasshouse-", suffix=".tmp")
        os.close(handle)
        draft = Path(name)
        try:
            draft.chmod(0o666 & ~_umask())
            yield draft
            _sync(draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Give a temporary neighbour folder to fill; it becomes the path if all goes well.

    Args:
        path: The folder to make.
        replace: Whether a folder that is already there gives way, once the new one is complete.

    Raises:
        DataError: It exists and is not to be replaced, or cannot be written there.
    """
    check_folder(path, replace=replace)
    with _write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=path.parent, prefix=".glasshouse-"))
        try:
            draft.chmod(0o777 & ~_umask())
            yield draft
            for file in draft.iterdir():
                _sync(file)
            _take_place(draft, path)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _take_place(draft: Path, path: Path) -> None:
    """Put a folder in the place of another, or leave that one where it is."""
    if not path.exists():
        draft.replace(path)
        return
    aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=".glasshouse-"))
    try:
        path.replace(aside / "old")
        try:
            draft.replace(path)
        except OSError:
            (aside / "old").replace(path)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def check_folder(path: Path, *, replace: bool) -> None:
    """Make sure that a folder may be made here.

    Raises:
        DataError: It is a file, or holds something and is not to be replaced.
    """
    with _write_errors(path):
        if path.exists() and not path.is_dir():
            raise DataError('"{path}" is a file; choose a folder', path=path)
        if path.exists() and not replace and any(path.iterdir()):
            raise DataError(
                '"{path}" exists; choose another folder, or say `overwrite` to replace a run',
                path=path,
            )


def cannot_write(path: Path, error: OSError) -> DataError:
    """Return the error of a place where the system lets nothing be written."""
    return DataError(
        'cannot write "{path}": {reason}; choose another place',
        path=path,
        reason=system_reason(error),
    )


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
