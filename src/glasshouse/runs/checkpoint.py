"""What a sweep has finished so far, kept beside the run folder until the run is complete.

A checkpoint belongs to one study, one state of the data and one version: its key says which. Each finished step is a
file of integers that appears whole or not at all, so that a run that is killed at any moment goes on from its last step
and ends with the same bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glasshouse.atomic import cannot_write, new_file
from glasshouse.errors import StudyError
from glasshouse.language import text

KEY, STATE = "key", "state.npz"


class Checkpoint:
    """A folder beside the run folder that holds the finished steps."""

    def __init__(self, run_folder: Path, *, key: str) -> None:
        self._folder = run_folder.with_name(f"{run_folder.name}.partial")
        self._key = key

    @property
    def folder(self) -> Path:
        """Where the steps are kept."""
        return self._folder

    def start(self, *, resume: bool) -> Mapping[int, NDArray[np.int64]]:
        """Return the steps that an earlier run has finished; without ``resume``, begin anew.

        Raises:
            StudyError: There is nothing to resume, or it belongs to another study, data or version.
        """
        self._open(resume=resume)
        return {int(path.stem): np.load(path) for path in self._folder.glob("*.npy")}

    def start_state(self, *, resume: bool) -> Mapping[str, NDArray[np.generic]] | None:
        """Return the state that an earlier run has left, if any; without ``resume``, begin anew.

        Raises:
            StudyError: There is nothing to resume, or it belongs to another study, data or version.
        """
        self._open(resume=resume)
        place = self._folder / STATE
        if not place.exists():
            return None
        with np.load(place) as arrays:
            return dict(arrays)

    def _open(self, *, resume: bool) -> None:
        if not resume:
            self.remove()
        elif not (self._folder / KEY).exists():
            raise StudyError(
                text(
                    'there is nothing to resume in "{folder}"; leave out --resume',
                    folder=self._folder,
                )
            )
        elif (self._folder / KEY).read_text(encoding="ascii") != self._key:
            raise StudyError(
                text(
                    '"{folder}" belongs to another study, other data or another version; leave out --resume',
                    folder=self._folder,
                )
            )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self._folder, error) from None
        with new_file(self._folder / KEY) as draft:
            draft.write_text(self._key, encoding="ascii")

    def save(self, step: int, rows: NDArray[np.int64]) -> None:
        """Keep a finished step."""
        with new_file(self._folder / f"{step}.npy") as draft, draft.open("wb") as file:
            np.save(file, rows)

    def save_state(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Keep the state of a sampler instead of the one before."""
        with new_file(self._folder / STATE) as draft, draft.open("wb") as file:
            np.savez(file, **dict(arrays))  # type: ignore[arg-type]

    def remove(self) -> None:
        """Forget everything: the run is complete, or begins anew."""
        shutil.rmtree(self._folder, ignore_errors=True)
