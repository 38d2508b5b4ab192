"""What the attempts of a phase have found so far, kept in memory and, part file by part file, on disk.

A checkpoint belongs to one plan, one state of the data and one version; its key says which. Every part file holds some
attempts and appears whole or not at all, so that a campaign that is ended at any moment goes on from there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

from glasshouse.atomic import new_file
from glasshouse.errors import DataError, StudyError
from glasshouse.language import text
from glasshouse.totals.attempts import Attempt

KEY = "key"
_SCHEMA = pa.schema(
    {
        "part": pa.int64(),
        "status": pa.string(),
        "method": pa.string(),
        "limit": pa.float64(),
        "seconds": pa.float64(),
        "allocations": pa.string(),
        "packages": pa.int64(),
        "feasible": pa.large_binary(),
        "shares": pa.large_binary(),
        "joined": pa.large_binary(),
        "uniform": pa.large_binary(),
        "bayes": pa.large_binary(),
    }
)


class Checkpoint:
    """A folder with the attempts that were made, phase by phase."""

    def __init__(self, folder: Path, *, key: str) -> None:
        self._folder = folder
        self._key = key
        self._written = 0

    def start(self, *, resume: bool) -> None:
        """Begin anew, or go on with what is there.

        Raises:
            StudyError: There is nothing to resume, or it belongs to another plan, other data or another version.
            DataError: The folder cannot be written, or holds something else.
        """
        place = self._folder / KEY
        if resume and not place.exists():
            raise StudyError(
                text(
                    'there is nothing to resume in "{folder}"; leave out --resume',
                    folder=self._folder,
                )
            )
        if resume and place.read_text(encoding="ascii") != self._key:
            raise StudyError(
                text(
                    '"{folder}" belongs to another plan, other data or another version; leave out --resume',
                    folder=self._folder,
                )
            )
        if not resume and self._folder.exists():
            if any(self._folder.iterdir()) and not place.exists():
                raise DataError(
                    text(
                        '"{folder}" holds something else; choose another folder',
                        folder=self._folder,
                    )
                )
            shutil.rmtree(self._folder, ignore_errors=True)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                text(
                    'cannot write "{path}": {reason}; choose another place',
                    path=self._folder,
                    reason=error.strerror,
                )
            ) from None
        with new_file(place) as draft:
            draft.write_text(self._key, encoding="ascii")
        self._written = len(list(self._folder.glob("*.arrow")))

    def load(self, phase: int) -> list[Attempt]:
        """Return the attempts of a phase, in the order in which they were made."""
        found = []
        for path in sorted(self._folder.glob(f"{phase}-*.arrow")):
            with pa.memory_map(str(path)) as file:
                found += _attempts(pyarrow.ipc.open_file(file).read_all())
        return found

    def elapsed(self) -> float:
        """Return how many seconds the campaign has taken so far."""
        most = 0.0
        for path in self._folder.glob("*.arrow"):
            with pa.memory_map(str(path)) as file:
                metadata = pyarrow.ipc.open_file(file).schema.metadata or {}
                most = max(most, float(metadata.get(b"elapsed", b"0")))
        return most

    def save(self, phase: int, attempts: Sequence[Attempt], elapsed: float) -> None:
        """Keep some attempts, and how long the campaign has taken."""
        if not attempts:
            return
        table = _table(attempts).replace_schema_metadata({"elapsed": repr(elapsed)})
        self._written += 1
        with (
            new_file(self._folder / f"{phase}-{self._written:08}.arrow") as draft,
            pa.OSFile(str(draft), "wb") as file,
            pyarrow.ipc.new_file(file, table.schema) as writer,
        ):
            writer.write_table(table)

    def finish(self, phase: int) -> None:
        """Take note that a phase is complete: it will not be taken up again."""
        with new_file(self._folder / f"{phase}.done") as draft:
            draft.write_text("", encoding="ascii")

    def finished(self, phase: int) -> bool:
        """Tell whether a phase is complete."""
        return (self._folder / f"{phase}.done").exists()

    def remove(self) -> None:
        """Forget everything."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _table(attempts: Iterable[Attempt]) -> pa.Table:
    rows = [
        {
            "part": each.part,
            "status": each.status,
            "method": each.method,
            "limit": each.limit,
            "seconds": each.seconds,
            "allocations": None if each.allocations is None else f"{each.allocations:x}",
            "packages": 0 if each.feasible is None else len(each.feasible),
            "feasible": None
            if each.feasible is None
            else np.packbits(each.feasible, axis=1).tobytes()
            + each.feasible.shape[1].to_bytes(8, "little"),
            **{
                name: None if getattr(each, name) is None else getattr(each, name).tobytes()
                for name in ("shares", "joined", "uniform", "bayes")
            },
        }
        for each in attempts
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def _attempts(table: pa.Table) -> list[Attempt]:
    found = []
    for row in table.to_pylist():
        values: dict[str, Any] = dict(row)
        packages = values.pop("packages")
        for name in ("shares", "joined", "uniform", "bayes"):
            values[name] = None if row[name] is None else np.frombuffer(row[name], np.float64)
        values["allocations"] = None if row["allocations"] is None else int(row["allocations"], 16)
        values["feasible"] = (
            None if row["feasible"] is None else _unpacked(row["feasible"], packages)
        )
        found.append(Attempt(**values))
    return found


def _unpacked(content: bytes, packages: int) -> NDArray[np.bool_]:
    bins = int.from_bytes(content[-8:], "little")
    table = np.frombuffer(content[:-8], np.uint8).reshape(packages, -1)
    return np.unpackbits(table, axis=1, count=bins).astype(bool)
