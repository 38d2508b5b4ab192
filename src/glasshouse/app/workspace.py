"""The folders that were given: the files and run folders below them, and what the app itself writes there.

No page and no address holds a path: a file or run has an identifier, the keyed digest of its path, that means nothing
to others. Only what lies below the given folders has one, symbolic links resolved. What the app writes is in one
private folder, ``glasshouse-app`` in the first of them: ``runs`` (as the command line writes them), ``jobs``,
``drafts``, ``files`` (what was uploaded) and ``uploads`` (what is being uploaded).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from glasshouse.errors import DataError
from glasshouse.language import printable, spoken, system_reason

if TYPE_CHECKING:
    import pyarrow as pa

    from glasshouse.report.page import Page
    from glasshouse.runs.folder import StoredReport
    from glasshouse.study import Question

HOME = "glasshouse-app"
RUNS, JOBS, DRAFTS, FILES, UPLOADS = "runs", "jobs", "drafts", "files", "uploads"
LEDGER, CHAIN = "ledger", "chain.txt"
"""The ledger of the app, and the file by which `glasshouse.runs.ledger` knows one."""
MANIFEST, REPORT = "manifest.json", "report.json"
ENDINGS = frozenset(
    ".csv .tsv .txt .gz .zip .parquet .arrow .feather .orc .xlsx .xls .xlsb .ods .sav .zsav .por .dta .sas7bdat .xpt "
    ".dbf .dbc .sqlite .sqlite3 .db .duckdb .jsonl .ndjson".split()
)
"""How the names of files end that may hold a table,"""
PLANS = frozenset({".toml", ".json"})
"""and of those that may hold a study, a plan or an instance."""
DEEPEST, MOST_LISTED, FRESH = 5, 2000, 2.0
"""How many folders deep it is looked, how many entries are listed, and for how many seconds a list is good."""
MOST_OPEN = 8
"""So many runs, and so many first looks, are kept open."""
LONGEST_NAME = 200
"""So many bytes of the name of an upload are kept: more are too many for some file systems."""


@dataclass(frozen=True)
class Entry:
    """A file, or the folder of a run."""

    identifier: str
    """What pages and addresses call it."""
    path: Path
    """Where it is; never on a page."""
    name: str
    """What it is called on a page: its name, after the folders that it is in below the given one."""
    modified: float
    """When it was last changed."""
    size: int = 0
    """Its bytes."""
    is_run: bool = False
    """Whether it is a run folder."""
    is_upload: bool = False
    """Whether it is a copy that was uploaded."""

    @property
    def is_plan(self) -> bool:
        """Whether it may hold a study, a plan or an instance, and no table."""
        return not self.is_run and self.path.suffix.lower() in PLANS


class OpenRun:
    """A run folder, opened: what was asked, what it says in every language, and its results.

    Args:
        entry: The folder.
    """

    def __init__(self, entry: Entry) -> None:
        self.identifier = entry.identifier
        self.folder = entry.path
        self.name = entry.name
        self.manifest: Mapping[str, Any] = read_json(entry.path / MANIFEST)

    @property
    def command(self) -> str:
        """The command that made it."""
        return str(self.manifest.get("command", ""))

    @cached_property
    def question(self) -> Question | None:
        """What was asked; None: the run did not keep its study (a story, or a table in memory)."""
        from glasshouse.study import load_study

        path = self.folder / "study.toml"
        return load_study(path) if path.exists() else None

    @cached_property
    def report(self) -> StoredReport:
        """Its report, in every language."""
        from glasshouse.runs.folder import stored_report

        return stored_report(self.folder)

    @property
    def page(self) -> Page:
        """The report in the language that is spoken, or in that of the run where it has no other."""
        pages = self.report.pages
        return pages.get(spoken()) or pages.get(self.report.language) or next(iter(pages.values()))

    @cached_property
    def results(self) -> pa.Table:
        """Every figure of it, as ``results.parquet`` has them."""
        return self.frame("results.parquet")

    def frame(self, name: str) -> pa.Table:
        """Return a table of the run folder.

        Raises:
            DataError: It cannot be read.
        """
        import pyarrow.parquet

        try:
            return pyarrow.parquet.read_table(self.folder / name)
        except (OSError, ValueError, pyarrow.ArrowException):
            raise DataError("{file} is damaged; run the study again", file=name) from None

    @property
    def digests(self) -> dict[str, str]:
        """The fingerprints of its data when it was made, by name; those that the manifest has."""
        entries = self.manifest.get("datasets")
        return {
            f"{entry.get('name')}": f"{entry.get('sha256')}"
            for entry in (entries if isinstance(entries, list) else ())
            if isinstance(entry, dict)
        }

    @property
    def title(self) -> str:
        """What it is called."""
        return self.page.title


@dataclass(frozen=True)
class Summary:
    """What a list says of a run, without its being opened."""

    entry: Entry
    """The run."""
    title: str
    """What it is called."""
    decision: str
    """The decision of its verdict, as `report.page.Decision` calls it; empty: there is none."""
    headline: str
    """The verdict in a few words; empty: there is none."""
    is_damaged: bool = False
    """Whether its report cannot be read, so that nothing else is said of it."""

    @classmethod
    def of(cls, entry: Entry) -> Summary:
        """Return what a run says of itself in the language that is spoken; it may be of any form."""
        pages = read_json(entry.path / REPORT).get("pages")
        pages = {} if not isinstance(pages, dict) else pages
        page = pages.get(spoken()) or next(iter(pages.values()), None)
        title = page.get("title") if isinstance(page, dict) else None
        if not isinstance(page, dict) or not isinstance(title, str):
            return cls(entry, entry.name, "", "", is_damaged=True)
        ruling = page.get("ruling")
        ruling = ruling if isinstance(ruling, dict) else {}
        return cls(entry, title, f"{ruling.get('decision', '')}", f"{ruling.get('headline', '')}")


class AppWorkspace:
    """The given folders.

    Args:
        folders: They; the first one is written to.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        for folder in self.folders:
            if not folder.is_dir():
                raise DataError('there is no folder "{folder}"', folder=folder)
        self.home = self.folders[0] / HOME
        _check_ours(self.home)
        try:
            for name in ("", RUNS, JOBS, DRAFTS, FILES, UPLOADS):
                (self.home / name).mkdir(mode=0o700, exist_ok=True)
            self.home.chmod(0o700)
            self._key = _kept_key(self.home / "key")
        except OSError as error:
            raise DataError(
                '"{folder}" cannot be written to ({reason}); name a folder of yours first',
                folder=self.folders[0],
                reason=system_reason(error),
            ) from None
        for leftover in (self.home / UPLOADS).iterdir():
            leftover.unlink()
        self._lock = Lock()
        self._entries: dict[str, Entry] = {}
        self._names: dict[str, str] = {}
        self._looked = 0.0
        self._runs: OrderedDict[tuple[str, float], OpenRun] = OrderedDict()
        self._summaries: dict[tuple[str, float, str], Summary] = {}

    def identifier(self, path: Path) -> str:
        """Return what pages call a path."""
        return hmac.digest(self._key, str(path.resolve()).encode(), hashlib.sha256).hex()[:20]

    def entries(self, *, fresh: bool = False) -> list[Entry]:
        """Return the files and runs below the given folders, the latest first."""
        with self._lock:
            if fresh or time.monotonic() - self._looked > FRESH:
                entries = (
                    self._entry(path, root) for root in self.folders for path in _below(root)
                )
                self._entries = {one.identifier: one for one in entries if one is not None}
                self._names |= {one.identifier: one.name for one in self._entries.values()}
                self._looked = time.monotonic()
            return sorted(self._entries.values(), key=lambda entry: -entry.modified)

    def files(self) -> list[Entry]:
        """Return the files that may hold a table."""
        return [entry for entry in self.outputs() if not entry.is_plan]

    def outputs(self) -> list[Entry]:
        """Return the files that may hold what is to go out: a table, or a plan of several."""
        return [one for one in self.entries() if not one.is_run and one.path.name != CHAIN]

    def plans(self) -> list[Entry]:
        """Return the files that may hold a study, a plan or an instance."""
        return [entry for entry in self.entries() if entry.is_plan]

    def runs(self) -> list[Entry]:
        """Return the run folders."""
        return [entry for entry in self.entries() if entry.is_run]

    def summaries(self) -> list[Summary]:
        """Return what lists say of the runs; of what other programs have written there is nothing in them."""
        summaries = map(self.summary, self.runs())
        return [
            one for one in summaries if not one.is_damaged or (one.entry.path / MANIFEST).exists()
        ]

    def summary(self, entry: Entry) -> Summary:
        """Return what a list says of a run, in the language that is spoken."""
        key = (entry.identifier, entry.modified, spoken())
        if key not in self._summaries:
            if len(self._summaries) > MOST_LISTED:
                self._summaries.clear()
            self._summaries[key] = Summary.of(entry)
        return self._summaries[key]

    def entry(self, identifier: str) -> Entry:
        """Return a file or run by its identifier.

        Raises:
            DataError: There is none, or it lies outside of the given folders by now.
        """
        for fresh in (False, True):
            self.entries(fresh=fresh)
            entry = self._entries.get(identifier)
            if entry is not None and self._is_inside(entry.path):
                return entry
        raise self._absent(identifier)

    def _absent(self, identifier: str) -> DataError:
        """Return what is said of a file or run that is not there, by its name where it was there before."""
        name = self._names.get(identifier)
        if name is None:
            return DataError("there is no such file or run; it may have been moved")
        return DataError("{name} is not there any more; it may have been moved", name=name)

    def run(self, identifier: str) -> OpenRun:
        """Return a run, opened; the last few are kept open.

        Raises:
            DataError: There is no such run.
        """
        entry = self.entry(identifier)
        if not entry.is_run:
            raise self._absent(identifier)
        key = (identifier, (entry.path / REPORT).stat().st_mtime)
        with self._lock:
            opened = self._runs.pop(key, None)
        opened = opened or OpenRun(entry)
        with self._lock:
            self._runs[key] = opened
            while len(self._runs) > MOST_OPEN:
                self._runs.popitem(last=False)
        return opened

    def new_run(self, name: str) -> Path:
        """Return a folder that is free for a run of a name."""
        stem = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name).strip(
            "-."
        )
        stem = stem[:60] or "run"
        _check_ours(self.home)
        for place in range(1, 10_000):
            folder = self.home / RUNS / (stem if place == 1 else f"{stem}-{place}")
            if not folder.exists() and not any(folder.parent.glob(f".{folder.name}.*")):
                return folder
        raise DataError("there are too many runs of this name; remove some")

    def keep(self, name: str, path: Path) -> Entry:
        """Keep a file that was uploaded, under its name.

        Raises:
            DataError: It has none, or there is one of that name.
        """
        _check_ours(self.home)  # it may have been laid out anew since the start
        name = _plain_name(name)
        if not name:
            raise DataError("choose a file first")
        place = self.home / FILES / name
        if place.suffix.lower() not in ENDINGS | PLANS:
            raise DataError(
                '"{name}" has no ending by which a table can be known, such as .csv or .parquet',
                name=name,
            )
        try:
            os.link(path, place)  # in one step, and never onto another
        except FileExistsError:
            raise DataError(
                'there is a file "{name}" already; open that one, or rename this', name=name
            ) from None
        except OSError as error:
            raise DataError(
                '"{name}" cannot be kept ({reason}); open it from a folder instead',
                name=name,
                reason=system_reason(error),
            ) from None
        self.entries(fresh=True)
        return self.entry(self.identifier(place))

    def check_inside(self, paths: Iterable[Path]) -> None:
        """Make sure that files lie in the given folders.

        Raises:
            DataError: One does not.
        """
        for path in paths:
            if not self.holds([path]):
                raise DataError(
                    '"{name}" is not in the folders that the app was given; start it with its folder, too',
                    name=path.name,
                )

    def holds(self, paths: Iterable[Path]) -> bool:
        """Tell whether files are there, and lie in the given folders."""
        return all(map(self._is_inside, paths))

    def without_paths(self, sentence: str) -> str:
        """Return a sentence with the names of files in the place of their paths."""
        for folder in sorted((self.home, *self.folders), key=lambda path: -len(str(path))):
            sentence = sentence.replace(f"{folder}{os.sep}", "").replace(str(folder), folder.name)
        return sentence

    def drafts(self) -> Path:
        """Return the folder of drafts."""
        return self.home / DRAFTS

    def _is_inside(self, path: Path) -> bool:
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return False
        return any(real.is_relative_to(folder) for folder in self.folders)

    def _entry(self, path: Path, root: Path) -> Entry | None:
        if not self._is_inside(path):
            return None
        try:
            is_run = path.is_dir()
            status = (path / REPORT if is_run else path).stat()
        except OSError:
            return None
        name = path.relative_to(root).as_posix() if path != root else root.name
        is_upload = name.startswith(f"{HOME}/{FILES}/")
        for own_folder in (RUNS, FILES):
            name = name.removeprefix(f"{HOME}/{own_folder}/")
        return Entry(
            self.identifier(path),
            path,
            printable(name),
            status.st_mtime,
            status.st_size,
            is_run,
            is_upload,
        )


def _below(root: Path) -> Iterator[Path]:
    """Yield the files that may hold a table, and the run folders, below a folder."""
    waiting, listed = [(root, 0)], 0
    while waiting and listed < MOST_LISTED:
        folder, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if REPORT in names and (MANIFEST in names or "report.html" in names):
            listed += 1
            yield folder
            if MANIFEST in names:  # else it tells a story, and has the runs that it tells of
                if "versions" in names:
                    waiting.append((folder / "versions", depth + 1))
                continue
        for entry in entries:
            path = Path(entry.path)
            if entry.name.startswith(".") or entry.name.endswith(".partial"):  # work under way
                continue
            if entry.is_dir(follow_symlinks=False):
                is_private = folder.name == HOME and entry.name not in (RUNS, FILES, LEDGER)
                if depth < DEEPEST and not is_private:
                    waiting.append((path, depth + 1))
            elif path.suffix.lower() in ENDINGS | PLANS and entry.name != REPORT:
                listed += 1
                yield path


def _check_ours(home: Path) -> None:
    """Make sure that the folder of the app, where it is there, is ours and nobody else has laid it out.

    Raises:
        DataError: It, or a folder in it, is a link, no folder, or of somebody else.
    """
    for name in ("", RUNS, JOBS, DRAFTS, FILES, UPLOADS):
        try:
            status = (home / name).lstat()
        except OSError:
            continue
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            raise DataError(
                '"{folder}" is a link, or is not yours; remove it, or start the app in a folder of your own',
                folder=home / name,
            )


def _plain_name(given: str) -> str:
    r"""Return under which name an upload is kept: no folder, letters as most systems write them, not too long.

    >>> _plain_name("a/b\\cafe\u0301.csv"), _plain_name("..."), _plain_name("x" * 300 + ".csv")[190:]
    ('café.csv', '', 'xxxxxx.csv')
    """
    name = unicodedata.normalize("NFC", given.replace("\\", "/").rpartition("/")[2]).strip(" .")
    name = "".join(sign if sign.isprintable() else "-" for sign in name)
    stem, dot, ending = name.rpartition(".")
    room = LONGEST_NAME - len(f"{dot}{ending}".encode())
    return (
        f"{stem.encode()[: max(0, room)].decode('utf-8', 'ignore')}{dot}{ending}" if stem else name
    )


def _kept_key(path: Path) -> bytes:
    """Return the key of identifiers, which outlives the app, so that addresses stay."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    key = secrets.token_bytes(32)
    with os.fdopen(handle, "wb") as file:
        file.write(key)
    return key


def read_json(path: Path) -> dict[str, Any]:
    """Return what a file says by names; nothing if it is not there, or of another form."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
