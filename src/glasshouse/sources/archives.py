"""Files in files: ZIP archives, and what is compressed by itself.

Text is read as it is unpacked. Anything else is unpacked into a private folder that goes with its source.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pyarrow as pa

from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, unknown_name
from glasshouse.progress import OnProgress
from glasshouse.sources.source import Source, damage_error
from glasshouse.sources.text import COMPRESSIONS, TextFile

ZIP_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 1


@dataclass(frozen=True)
class Packed:
    """A file that is compressed, or in an archive."""

    path: Path
    member: str | None
    """Which file of an archive; none: the path itself is compressed."""
    name: str

    @classmethod
    def of(cls, path: Path, start: bytes, member: str | None, name: str) -> Packed | None:
        """Return what is packed in a file that begins so, if anything is.

        Raises:
            DataError: The archive is damaged, empty or encrypted.
            StudyError: It holds several files, and none was chosen, or one that is not there.
        """
        if start.startswith(ZIP_MAGIC):
            return cls(path, _chosen_member(path, member, name), name)
        is_compressed = any(start.startswith(magic) for magic in COMPRESSIONS)
        return cls(path, None, name) if is_compressed else None

    def start(self, size: int) -> bytes:
        """Return the first bytes of it."""
        return next(self._bytes().raw_blocks(size))[0]

    def unpack(self, to: Path) -> None:
        """Write it out as a file."""
        with to.open("xb") as file:
            for block, _ in self._bytes().raw_blocks():
                file.write(block)

    def _bytes(self) -> TextFile:
        return TextFile(self.path, encoding="latin-1", name=self.name, member=self.member)


class Unpacked(Source):
    """What was packed, unpacked for as long as this source is there."""

    def __init__(self, packed: Packed, opened: Callable[[Path], Source]) -> None:
        folder = Path(tempfile.mkdtemp(prefix="glasshouse-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        file = folder / PurePosixPath(packed.member or packed.path.stem).name
        if shutil.disk_usage(folder).free < packed.path.stat().st_size:
            raise DataError(
                "{name}: there is no room to unpack it; set TMPDIR to a folder on a larger disk",
                name=packed.name,
            )
        packed.unpack(file)
        self._source = opened(file)
        super().__init__(packed.name, self._source.columns)

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """What values stand for, by column."""
        return self._source.labels

    @property
    def column_labels(self) -> Mapping[str, str]:
        """What columns stand for."""
        return self._source.column_labels

    @property
    def measures(self) -> Mapping[str, str]:
        """Whether columns are nominal, ordinal or of a scale."""
        return self._source.measures

    @property
    def missing_ranges(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """From which to which value columns are declared missing."""
        return self._source.missing_ranges

    def missing_codes(self, column: str, values: pa.LargeStringArray) -> frozenset[str]:
        """Return those of the values of a column that the file itself calls missing."""
        return self._source.missing_codes(column, values)

    @property
    def assumed_encoding(self) -> str | None:
        """The encoding that was concluded from the letters."""
        return self._source.assumed_encoding

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        yield from self._source.coded_batches(columns, on_progress=on_progress)


def _chosen_member(path: Path, wanted: str | None, name: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
    except (zipfile.BadZipFile, OSError) as error:
        raise damage_error(name, "ZIP", error) from None
    members = [member for member in entries if not _is_mark(member)]
    if wanted is None and len(members) != 1:
        if not members:
            raise DataError("{name}: the archive is empty", name=name)
        raise StudyError(
            "{name}: holds {count} files: {members}; choose one with `member`",
            name=name,
            count=len(members),
            members=quoted(members[:9]),
        )
    member = members[0] if wanted is None else wanted
    if member not in entries:
        raise StudyError(unknown_name("file", member, name, members))
    if entries[member].flag_bits & _ENCRYPTED:
        raise DataError("{name}: is encrypted; unpack it with its password", name=name)
    return member


def _is_mark(member: str) -> bool:
    """Tell whether a member is something that a system leaves in archives."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(member).parts)
