"""What a long run has finished so far, kept in a folder until the run is complete.

A checkpoint belongs to one study, one state of the data and one version: its key says which. Everything in it is a file
that appears whole or not at all, so that a run that is killed at any moment goes on from there and ends the same. A
sweep keeps an array per step, a sampler its last state, a campaign tables part by part.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.atomic import cannot_write, is_draft, new_file
from glasshouse.errors import DataError, StudyError

KEY, STATE = "key", "state.npz"


class Checkpoint:
    """A folder that holds what is finished.

    Args:
        folder: The folder.
        key: What the study, the data and the version are known by.
        discard: Whether an interrupted run that is there may be thrown away where it is not resumed.
    """

    def __init__(self, folder: Path, *, key: str, discard: bool = False) -> None:
        self._folder = folder
        self._key = key
        self._discard = discard

    @classmethod
    def beside(cls, run_folder: Path, *, key: str, discard: bool = False) -> Checkpoint:
        """Return the checkpoint of a run, in a folder beside that of the run."""
        return cls(run_folder.with_name(f"{run_folder.name}.partial"), key=key, discard=discard)

    @classmethod
    def is_kept_of(cls, run_folder: Path) -> bool:
        """Tell whether something is kept of a run that was interrupted."""
        return (cls.beside(run_folder, key="").folder / KEY).exists()

    @classmethod
    def key_in(cls, folder: Path) -> str | None:
        """Return what the checkpoint in a folder belongs to; None: there is none."""
        place = folder / KEY
        return place.read_text(encoding="ascii", errors="replace") if place.is_file() else None

    @property
    def folder(self) -> Path:
        """Where everything is kept."""
        return self._folder

    @property
    def discards(self) -> bool:
        """Whether an interrupted run that is there may be thrown away where it is not resumed."""
        return self._discard

    def open(self, *, resume: bool) -> None:
        """Begin anew, or go on with what is there.

        Raises:
            StudyError: There is nothing to resume, or it belongs to another study, data or version.
            DataError: The folder cannot be written, or holds something else.
        """
        place = self._folder / KEY
        if not resume:
            self._refuse_loss()
            self.remove()
        elif not place.exists():
            raise StudyError(
                'there is nothing to resume in "{folder}"; leave out `resume`',
                folder=self._folder,
            )
        elif not self._is_of_this_study():
            raise StudyError(
                '"{folder}" belongs to another study, other data or another version; leave out `resume`',
                folder=self._folder,
            )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self._folder, error) from None
        with self._new_file(KEY) as draft:
            draft.write_text(self._key, encoding="ascii")

    def remove(self) -> None:
        """Forget everything: the run is complete, or begins anew."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _refuse_loss(self) -> None:
        """Make sure that beginning anew throws nothing away that somebody may want."""
        if not self._folder.is_dir():
            return
        names = {path.name for path in self._folder.iterdir() if not is_draft(path.name)}
        if names and KEY not in names:
            raise DataError(
                '"{folder}" holds something else; choose another folder', folder=self._folder
            )
        if names <= {KEY} or self._discard:
            return
        if self._is_of_this_study():
            raise StudyError(
                '"{folder}" holds an interrupted run of this study; say `resume` to go on from it, or `overwrite` to '
                "begin anew",
                folder=self._folder,
            )
        raise StudyError(
            '"{folder}" holds an interrupted run of another study, other data or another version; choose another '
            "folder, or say `overwrite` to throw it away",
            folder=self._folder,
        )

    def _is_of_this_study(self) -> bool:
        return self.key_in(self._folder) == self._key

    def _new_file(self, name: str) -> AbstractContextManager[Path]:
        """Return a draft of one of its files, which tell of people."""
        return new_file(self._folder / name, private=True, sweep=False)

    def _keep(self, name: str, content: memoryview) -> None:
        """Keep a file, and behind its content a sum over it."""
        with self._new_file(name) as draft, draft.open("wb") as file:
            file.write(content)
            file.write(_sum(content))

    def _content(self, path: Path) -> memoryview:
        """Return what was kept in a file.

        Raises:
            DataError: It is no longer what was kept.
        """
        kept = memoryview(path.read_bytes())
        content = kept[: -len(_sum(b""))]
        if kept[len(content) :] != _sum(content):
            raise DataError(
                '"{file}" of the interrupted run is damaged; say `overwrite` instead of `resume` to begin anew',
                file=path,
            )
        return content

    # -- arrays: the steps of a sweep, the state of a sampler

    def start(self, *, resume: bool) -> Mapping[int, Integers]:
        """Open it, and return the steps that an earlier run has finished; see `open`."""
        self.open(resume=resume)
        return {
            int(path.stem): np.load(BytesIO(self._content(path)))
            for path in self._folder.glob("*.npy")
        }

    def save(self, step: int, rows: Integers) -> None:
        """Keep a finished step."""
        content = BytesIO()
        np.save(content, rows)
        self._keep(f"{step}.npy", content.getbuffer())

    def start_state(self, *, resume: bool) -> Mapping[str, NDArray[np.generic]] | None:
        """Open it, and return the state that an earlier run has left, if any; see `open`."""
        self.open(resume=resume)
        place = self._folder / STATE
        if not place.exists():
            return None
        with np.load(BytesIO(self._content(place))) as arrays:
            return dict(arrays)

    def save_state(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Keep the state of a sampler instead of the one before."""
        content = BytesIO()
        np.savez(content, **dict(arrays))  # type: ignore[arg-type]
        self._keep(STATE, content.getbuffer())

    # -- tables: the parts of a phase, one after the other

    def tables(self, phase: int | None = None) -> list[pa.Table]:
        """Return the tables of a phase, or of all of them, in the order in which they were kept."""
        kept = sorted(self._folder.glob("*.arrow" if phase is None else f"{phase}-*.arrow"))
        return [pyarrow.ipc.open_file(self._content(path)).read_all() for path in kept]

    def save_table(self, phase: int, table: pa.Table) -> None:
        """Keep a further table of a phase."""
        number = len(list(self._folder.glob("*.arrow"))) + 1
        content = pa.BufferOutputStream()
        with pyarrow.ipc.new_file(content, table.schema) as writer:
            writer.write_table(table)
        self._keep(f"{phase}-{number:08}.arrow", memoryview(content.getvalue()))

    def finish(self, phase: int) -> None:
        """Take note that a phase is complete: it will not be taken up again."""
        with self._new_file(f"{phase}.done") as draft:
            draft.write_text("", encoding="ascii")

    def finished(self, phase: int) -> bool:
        """Tell whether a phase is complete."""
        return (self._folder / f"{phase}.done").exists()


def _sum(content: memoryview | bytes) -> bytes:
    return crc32(content).to_bytes(4, "big")
