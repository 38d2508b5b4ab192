"""The run folder: the study, what it was run on, the results and the report; whole or not at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.parquet

from glasshouse.atomic import check_folder, new_folder
from glasshouse.disclosure import smallest_cell
from glasshouse.errors import DataError, printable, quoted
from glasshouse.language import spoken, text
from glasshouse.sources.files import fingerprint, own_place, telling_paths
from glasshouse.study import Question, Study, dump_study, paths_of, with_paths

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

STUDY, MANIFEST, RESULTS, REPORT = "study.toml", "manifest.json", "results.parquet", "report.html"
PAGES, PDF = "report.json", "report.pdf"
LIBRARIES = ("numpy", "numba", "pyarrow", "scipy", "ortools")
"""What figures are computed with."""


def check_place(folder: Path, *, overwrite: bool) -> None:
    """Make sure before a run that its folder can be made after it: only a run gives way to a run.

    Raises:
        DataError: There is a file, a folder that is no run, or a run that is not to be overwritten.
    """
    check_folder(folder, replace=overwrite)
    if not folder.exists():
        return
    own = {STUDY, MANIFEST, RESULTS, REPORT, PAGES, PDF, *RELEASES, *TABLES}
    others = sorted({path.name for path in folder.iterdir()} - own)
    if others:
        raise DataError(
            text(
                '"{folder}" holds {others}, so it is no run folder of ours and is not replaced; choose another',
                folder=folder,
                others=quoted(others[:3]),
            )
        )


RELEASES = ("release.csv", "quasi_identifiers.csv", "sensitive.csv")
"""What a run that makes a release writes besides."""
TABLES = ("bins.parquet",)
"""What a run with further tables writes besides."""


@runtime_checkable
class MakesRelease(Protocol):
    """A run that writes a release besides its results."""

    def manifest(self) -> dict[str, Any]:
        """Return what later commands must know of the release."""

    def write_files(self, folder: Path) -> None:
        """Write the release."""


@runtime_checkable
class HasTables(Protocol):
    """A run that has further tables besides its results."""

    def tables(self) -> dict[str, pa.Table]:
        """Return them by the names of their files, which are among `TABLES`."""


@runtime_checkable
class Summarised(Protocol):
    """A run whose main figures are kept in the manifest, so that runs can be put side by side."""

    def summary(self) -> dict[str, float | None]:
        """Return the main figures by name; empty where there are none for the release as a whole."""


class Outcome(Protocol):
    """What a run of any command has to be stored."""

    @property
    def study(self) -> Question:
        """What was asked."""

    @property
    def records(self) -> int:
        """The number of records of the release."""

    def to_frame(self) -> pa.Table:
        """Return the results as a table."""

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""


@dataclass(frozen=True)
class StoredRelease:
    """A release that ``anonymise`` wrote."""

    path: Path
    """The file."""
    quasi_identifiers: tuple[str, ...]
    """What an adversary can know of a person."""
    sensitive: tuple[str, ...]
    """What she wants to infer."""
    method: str
    """What is promised of it."""
    suppressed: int
    """How many records are suppressed."""
    loss: float | None
    """The share of detail that is lost; None where nothing was recoded."""
    group: str | None
    """The column of Anatomy's groups; None: the classes are made by the quasi-identifiers."""
    shuffled: bool
    """Whether its records are in random order."""
    digests: dict[str, str]
    """The fingerprints of the files that it was made of, by their names."""


def stored_release(folder: Path) -> StoredRelease:
    """Return the release in a run folder.

    Raises:
        DataError: The folder is not that of a run that made a release.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return StoredRelease(
            path=folder / manifest["release"],
            quasi_identifiers=tuple(manifest["quasi_identifiers"]),
            sensitive=tuple(manifest["sensitive"]),
            method=manifest["method"],
            suppressed=int(manifest["suppressed"]),
            loss=manifest["loss"],
            group=manifest["group"],
            shuffled=manifest["shuffled"],
            digests={each["name"]: each["sha256"] for each in manifest["datasets"]},
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            text(
                '"{folder}" is a folder without a release; name a file, or a folder that anonymise wrote',
                folder=folder,
            )
        ) from None


def write_run(outcome: Outcome, folder: Path, *, overwrite: bool = False) -> Path:
    """Write the run folder and return the path of its report, which is in the language that is spoken.

    The same study, data and version give the same bytes: nothing in it tells the time.

    Raises:
        DataError: The folder exists (and is not to be overwritten) or cannot be written.
    """
    check_place(folder, overwrite=overwrite)
    study, own_version = outcome.study, version("glasshouse")
    digests = digests_of(study)
    provenance = provenance_of(study, digests)
    manifest: dict[str, Any] = {
        "glasshouse": own_version,
        "command": study.command,
        "records": outcome.records,
        "datasets": [{"name": name, "sha256": digest} for name, digest in digests.items()],
        "report": report_manifest(),
    }
    if isinstance(outcome, MakesRelease):
        manifest |= outcome.manifest()
    if isinstance(outcome, Summarised) and (figures := outcome.summary()):
        manifest["summary"] = figures
    with new_folder(folder, replace=overwrite) as draft:
        if isinstance(outcome, MakesRelease):
            outcome.write_files(draft)
        located = dump_study(_located(study), version=own_version)
        (draft / STUDY).write_text(located, encoding="utf-8")
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(outcome.to_frame(), draft / RESULTS)
        if isinstance(outcome, HasTables):
            for name, table in outcome.tables().items():
                pyarrow.parquet.write_table(table, draft / name)
        write_report(lambda: outcome.to_page(provenance), draft)
    return folder / REPORT


def report_manifest() -> dict[str, Any]:
    """Return what a manifest says of the report: its language, and the smallest count of people that it shows."""
    return {"language": spoken(), "smallest_cell": smallest_cell()}


def provenance_of(study: Question, digests: Mapping[str, str]) -> Provenance:
    """Return where the figures of a study come from, as a report says it."""
    from glasshouse.report import Provenance

    own_version = version("glasshouse")
    python = ".".join(map(str, sys.version_info[:2]))
    return Provenance(
        version=own_version,
        study=dump_study(_travelling(study), version=own_version),
        datasets=digests,
        abridged=_lacks_values(study),
        seed_withheld=_told_seed(study) != getattr(study, "seed", None),
        smallest_cell=smallest_cell(),
        seed=_told_seed(study),
        libraries={"Python": python, **{name: version(name) for name in LIBRARIES}},
    )


def _lacks_values(study: Question) -> bool:
    """Tell whether a report shows a study without some values of the data that it names."""
    shown = study.abridged()
    return any(
        getattr(shown, name) != getattr(study, name)
        for name in type(study).model_fields
        if name != "seed"
    )


def _told_seed(study: Question) -> int | None:
    """Return the seed; None where there is none, or where it is as secret as the data (see `Question.abridged`)."""
    seed: int | None = getattr(study, "seed", None)
    return seed if seed == getattr(study.abridged(), "seed", None) else None


def write_report(make: Callable[[], Page], folder: Path) -> None:
    """Write a report: as data in every language, and as a page to read in the one that is spoken.

    Args:
        make: Makes the page in the language that is spoken.
        folder: Where to.
    """
    from glasshouse.report import archive, to_html

    pages = archive.in_every_language(make)
    (folder / PAGES).write_text(archive.to_json(pages), encoding="utf-8")
    (folder / REPORT).write_text(to_html(pages[spoken()]), encoding="utf-8")


def digests_of(study: Question) -> dict[str, str]:
    """Return the SHA-256 of every file that a study reads, once each, by the name that it gives it or its own."""
    datasets = study.datasets if isinstance(study, Study) else ()
    names = {own_place(dataset.path): dataset.name for dataset in datasets}
    digests: dict[str, str] = {}
    for path, told in telling_paths(paths_of(study)).items():
        own = names.get(path) or printable(told.as_posix())
        while own in digests:
            own += "′"
        digests[own] = fingerprint(path)
    return digests


def _located(study: Question) -> Question:
    """Return the study with absolute paths, so that it can be run again from its folder."""
    return with_paths(study, own_place)


def _travelling(study: Question) -> Question:
    """Return the study as a report that leaves the house should have it: no values of a person, no places of files.

    Of a path there is no more than tells the file from others of its name.
    """
    told = telling_paths(paths_of(study))
    return with_paths(study.abridged(), lambda path: told[own_place(path)])
