"""Files and folders that appear whole or not at all, and of which nothing that somebody else made is ever lost.

What is being made is a draft beside its place, ``.NAME.draft-…``, locked by the process that makes it. At the end it
takes its place in one step of the system: onto nothing, or onto what was to be replaced and is still that; in no moment
is there neither the old nor the new. A draft whose lock is free belongs to a process that died, and the next one that
writes there removes it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from glasshouse.errors import DataError
from glasshouse.language import system_reason

if sys.platform != "win32":
    import fcntl

_SCRATCH = "glasshouse-scratch-"
_MOST_NAMES = 1000
"""So many names are tried for a folder whose own was taken meanwhile."""
_OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
_HERE = -100
"""Linux: a path is meant from the current folder on."""
_EXCHANGE = 2
"""Linux and macOS alike: the two names change places."""


@contextmanager
def new_file(path: Path, *, private: bool = False, sweep: bool = True) -> Iterator[Path]:
    """Give a draft to write to; it takes the path's place if all goes well.

    A file that exists is replaced at the very end, one that a symbolic link points to where it is; on any failure it is
    untouched and nothing is left behind.

    Args:
        path: The file to make.
        private: Whether only its owner may read it: it tells of people.
        sweep: Whether to look for drafts that dead processes have left; a folder of ours with many files needs no look.

    Raises:
        DataError: The file cannot be written there.
    """
    path = _real(path)
    if path.is_dir():
        raise DataError('cannot write "{path}": it is a folder; choose another place', path=path)
    with _explained(path):
        if sweep:
            _sweep(path.parent, _prefix(path))
        draft, handle = _locked_draft(lambda: _draft_file(path))
        try:
            draft.chmod(0o600 if private else 0o666 & ~_umask())
            yield draft
            _synced(draft)
            draft.replace(path)
        finally:
            if handle is not None:
                os.close(handle)
            draft.unlink(missing_ok=True)


@contextmanager
def new_folder(
    path: Path,
    *,
    replaces: Callable[[Path], bool] | None = None,
    public: Callable[[str], bool] | None = None,
) -> Iterator[Path]:
    """Give a draft folder to fill; it becomes the path if all goes well.

    Args:
        path: The folder to make; one that is there and empty is taken, and a symbolic link followed.
        replaces: Tells whether a folder may give way once the new one is complete; without it nothing gives way.
        public: Tells by its name whether others than the owner may read a file of it; without it they may read all.

    Raises:
        DataError: It exists and is not to be replaced, or cannot be written there, or somebody else has made it
            meanwhile: what is there is untouched, and the new folder stands beside it under a name that is free.
    """
    path = _real(path)
    check_folder(path, replace=replaces is not None)
    with _explained(path):
        _make_parents(path)
        _sweep(path.parent, _prefix(path))
        draft, handle = _locked_draft(lambda: _draft_folder(path.parent, _prefix(path)))
        try:
            yield draft
            for file in draft.iterdir():
                if file.is_dir():  # it was made whole by itself
                    file.chmod(0o777 & ~_umask())
                    continue
                _synced(file)
                is_open = public is None or public(file.name)
                file.chmod(0o666 & ~_umask() if is_open else 0o600)
            draft.chmod(0o777 & ~_umask())
            _take_place(draft, path, replaces)
        finally:
            if handle is not None:
                os.close(handle)
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder for what does not fit into memory; it is gone afterwards, or when the next one is asked for.

    Raises:
        DataError: It cannot be made, or its disk is full.
    """
    folder, handle = None, None
    try:
        with scratch_explained():
            _sweep(Path(tempfile.gettempdir()), _SCRATCH)
            folder, handle = _locked_draft(lambda: _draft_folder(None, _SCRATCH))
            yield folder
    finally:
        if handle is not None:
            os.close(handle)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_explained() -> Iterator[None]:
    """Say in one line why what does not fit into memory cannot be kept on disk, where that fails.

    Raises:
        DataError: It fails.
    """
    try:
        yield
    except OSError as error:
        try:
            folder = tempfile.gettempdir()
        except OSError:
            folder = os.environ.get("TMPDIR", "TMPDIR")
        raise DataError(
            '"{folder}": what does not fit into memory cannot be kept there ({reason}); make room, set TMPDIR to '
            "another folder, or give more memory",
            folder=folder,
            reason=system_reason(error),
        ) from error


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep a place for this process while it works towards it.

    Raises:
        DataError: Another process works towards the same place.
    """
    path = _real(path)
    with _explained(path):
        _make_parents(path)
        place = path.with_name(f".{path.name}.lock")
        handle = _locked_file(place)
    if handle is None:
        raise DataError(
            '"{path}" is being written by another process; wait for it, or choose another place',
            path=path,
        )
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(handle)


def check_folder(path: Path, *, replace: bool) -> None:
    """Make sure that a folder may be made here.

    Raises:
        DataError: It is a file, or holds something and is not to be replaced.
    """
    with _explained(path):
        if path.exists() and not path.is_dir():
            raise DataError('"{path}" is a file; choose a folder', path=path)
        if not replace and _holds_something(path):
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


def is_draft(name: str) -> bool:
    """Tell whether a file is named as a draft that was never finished."""
    return name.startswith(".") and ".draft-" in name


# -- taking a place


def _take_place(draft: Path, path: Path, replaces: Callable[[Path], bool] | None) -> None:
    """Put a folder where nothing is, or in the place of one that may give way."""
    if _holds_something(path) and replaces is not None and replaces(path):
        _exchange(draft, path)
        if not replaces(draft):  # somebody put something into it in the last moment
            _exchange(draft, path)
            raise _taken(draft, path)
        return
    try:
        draft.rename(path)  # the system refuses a folder that holds something
    except OSError as error:
        if error.errno not in _OCCUPIED:
            raise
        raise _taken(draft, path) from None


def _taken(draft: Path, path: Path) -> DataError:
    """Put a folder beside its place, which somebody else has taken, and return what to say of it."""
    for number in range(2, _MOST_NAMES):
        beside = path.with_name(f"{path.name}-{number}")
        try:
            draft.rename(beside)
        except OSError as error:
            if error.errno not in _OCCUPIED:
                raise
        else:
            return DataError(
                '"{path}" was made by somebody else meanwhile and is not touched; what you asked for is in "{beside}"',
                path=path,
                beside=beside,
            )
    return DataError('"{path}" is a file; choose a folder', path=path)


def _exchange(draft: Path, path: Path) -> None:
    """Let two folders change places, in one step where the system can."""
    names = (os.fsencode(draft), os.fsencode(path))
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        if library.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0:
            return
    elif sys.platform == "darwin" and library.renamex_np(*names, _EXCHANGE) == 0:
        return
    aside = draft.with_name(f"{draft.name}-old")
    path.rename(aside)
    try:
        draft.rename(path)
    except OSError:
        aside.rename(path)
        raise
    aside.rename(draft)


# -- drafts and locks


def _real(path: Path) -> Path:
    """Return a path behind symbolic links: what they point to is written, not what they are."""
    return Path(os.path.realpath(path))


def _prefix(path: Path) -> str:
    return f".{path.name[:100]}.draft-"


def _sweep(folder: Path, prefix: str) -> None:
    """Remove what dead processes have left in a folder under names that begin so."""
    if not folder.is_dir():
        return
    for entry in os.scandir(folder):
        if entry.name.startswith(prefix):
            _remove_if_free(Path(entry.path))


def _remove_if_free(draft: Path) -> None:
    try:
        handle = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if not _lock(handle):
            return
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _locked_draft(make: Callable[[], tuple[Path, int | None]]) -> tuple[Path, int | None]:
    """Return a draft and its lock, or None where the system has none.

    Another process that sweeps before it is locked takes it for what a dead one has left: then it is made anew.
    """
    while True:
        draft, handle = make()
        if handle is None:
            if draft.exists():
                return draft, None
            continue
        is_ours = True
        try:
            _flock(handle)
        except BlockingIOError:
            is_ours = False
        except OSError:
            pass  # there are no locks here
        if is_ours and draft.exists():
            return draft, handle
        os.close(handle)


def _draft_file(path: Path) -> tuple[Path, int]:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path))
    return Path(name), handle


def _draft_folder(place: Path | None, prefix: str) -> tuple[Path, int | None]:
    draft = Path(tempfile.mkdtemp(dir=place, prefix=prefix))
    try:
        return draft, os.open(draft, os.O_RDONLY)
    except OSError:
        return draft, None


def _lock(handle: int) -> bool:
    """Lock what is open and tell whether it was free; where there are no locks nothing ever is."""
    try:
        _flock(handle)
    except OSError:
        return False
    return True


def _flock(handle: int) -> None:
    """Lock what is open, until it is closed.

    Raises:
        BlockingIOError: Another process has.
        OSError: The system, or this disk, has no such locks.
    """
    if sys.platform == "win32":
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _locked_file(place: Path) -> int | None:
    """Return a file that this process alone has locked, or None: another one has."""
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _flock(handle)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:
            return handle  # there are no locks here
        if place.exists() and os.path.samestat(os.fstat(handle), place.stat()):
            return handle
        os.close(handle)  # the one before removed it when it was done: try again


def _make_parents(path: Path) -> None:
    if not path.parent.exists():  # where it is a file, what is written there says so
        path.parent.mkdir(parents=True)


def _holds_something(path: Path) -> bool:
    return path.is_dir() and any(path.iterdir())


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def _synced(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
