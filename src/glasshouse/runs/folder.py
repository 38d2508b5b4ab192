"""The run folder: the study, what it was run on, the results and the report; written whole or not at all, and read."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from glasshouse.atomic import cannot_write, check_folder, new_file
from glasshouse.disclosure import smallest_cell
from glasshouse.errors import DataError, StudyError
from glasshouse.language import (
    LANGUAGES,
    language_called,
    printable,
    quoted,
    speaking,
    spoken,
    system_reason,
)
from glasshouse.measures.coverage import Coverage
from glasshouse.measures.measurement import Measurement
from glasshouse.measures.verdict import Verdict, new_columns, no_worse_than, verdict_on
from glasshouse.report.form import LAWS, FiledRun, form_of, role, to_docx
from glasshouse.report.page import Page, Provenance
from glasshouse.sources.exports import FORMATS
from glasshouse.sources.files import fingerprint, own_place, telling_paths
from glasshouse.study import Question, ReleaseStudy, dump_study, load_study, paths_of, with_paths
from glasshouse.study.policy import OPEN_DATA, ReleasePolicy
from glasshouse.study.question import datasets_of
from glasshouse.table import Labels

STUDY, MANIFEST, RESULTS, REPORT = "study.toml", "manifest.json", "results.parquet", "report.html"
PAGES, PDF = "report.json", "report.pdf"
LIBRARIES = ("numpy", "numba", "pyarrow", "scipy", "ortools")
"""What figures are computed with."""


def check_place(folder: Path, *, overwrite: bool, data: Iterable[Path] = ()) -> None:
    """Make sure before a run that its folder can be made after it: only a run gives way to a run, and never its data.

    Args:
        folder: The run folder.
        overwrite: Whether a run that is there gives way.
        data: The files that the run is made of.

    Raises:
        DataError: There is a file, a folder that is no run, a run that is not to be overwritten, or the data itself.
            Or a folder of the data has a name that no study can hold.
    """
    places = tuple(map(own_place, data))
    for place in map(str, places):
        shown = place.encode("utf-8", "backslashreplace").decode("utf-8")
        if shown != place:
            raise DataError(
                "{argument}: is not text in the encoding of this system; rename the file or folder",
                argument=shown,
            )
    check_folder(folder, replace=overwrite)
    if not folder.exists():
        return
    strangers = sorted({path.name for path in folder.iterdir()} - _NAMES)
    if strangers:
        raise DataError(
            '"{folder}" holds {others}, so it is not a run folder of ours and is not replaced; choose another',
            folder=folder,
            others=quoted(strangers[:3]),
        )
    for path in places:
        if path.resolve().is_relative_to(folder.resolve()):
            raise DataError(
                '"{folder}" holds the data itself ({name}) and is not replaced; choose another folder',
                folder=folder,
                name=path.name,
            )
    if any(folder.iterdir()) and not is_run(folder):
        raise DataError(
            '"{folder}" has no manifest of ours, so it is not a run folder and is not replaced; choose another',
            folder=folder,
        )


def is_run(folder: Path) -> bool:
    """Tell whether a folder holds a run of ours and nothing else, and the same of its versions."""
    try:
        manifest = json_content(folder / MANIFEST)
        names = {path.name for path in folder.iterdir()}
        versions = list((folder / VERSIONS).iterdir()) if VERSIONS in names else []
    except (OSError, ValueError):
        return False
    return (
        isinstance(manifest, dict)
        and "glasshouse" in manifest
        and names <= _NAMES
        and all(map(is_run, versions))
    )


def json_content(path: Path) -> Any:
    """Return what a JSON file of a run holds.

    Raises:
        OSError: It is not there, or is no file but a pipe, for which nobody waits.
        ValueError: It is no JSON, or nests too deeply to be ours.
    """
    if not path.is_file():
        raise FileNotFoundError(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError(path) from error


RELEASE, QUASI_IDENTIFIERS, SENSITIVE, DICTIONARY = (
    *("release", "quasi_identifiers", "sensitive"),
    "dictionary.md",
)
"""What a run that makes a release writes besides: the files without their endings, and what was changed in them."""
_RELEASES = {
    f"{name}.{kind}" for name in (RELEASE, QUASI_IDENTIFIERS, SENSITIVE) for kind in FORMATS
}
TABLES = ("bins.parquet", "exposures.parquet", "close.parquet", "inexact.parquet")
"""What a run with further tables writes besides."""
PROOFS = ("proof.json", "verify.py", "reasons.json")
"""What a run on published tables writes besides: its proof, what checks it, and why somebody is certain."""
VERSIONS = "versions"
"""The folder in which a run that makes several releases writes a run for each."""
FORMS = {f"{law}.{kind}" for law in LAWS for kind in ("docx", "pdf")}
"""The forms that can be made of a run."""
PUBLIC = {REPORT, PAGES, PDF, DICTIONARY, *FORMS}
"""What of it leaves the house; the rest tells of people, and is for its owner only."""
_NAMES = {STUDY, MANIFEST, RESULTS, VERSIONS, *PUBLIC, *_RELEASES, *TABLES, *PROOFS}
"""All that a run folder holds."""


@dataclass(frozen=True)
class StoredRelease:
    """A release that ``anonymise`` wrote."""

    path: Path
    """The file."""
    method: str
    """How it was protected."""
    quasi_identifiers: tuple[str, ...]
    """What an adversary can know of a person."""
    sensitive: tuple[str, ...]
    """What she wants to infer."""
    suppressed: int
    """How many records are suppressed."""
    heights: dict[str, int] | None
    """Per quasi-identifier, the level of its hierarchy that is released; None where records differ, or by groups."""
    loss: float | None
    """What is lost by the Loss metric; None where nothing was recoded."""
    detail_lost: float | None
    """The share of detail that is lost; None where an earlier version made it, which did not say."""
    group: str | None
    """The column of Anatomy's groups; None: the classes are made by the quasi-identifiers."""
    shuffled: bool
    """Whether its records are in random order."""
    digests: dict[str, str]
    """The fingerprints of the files that it was made of, by their names."""
    missing: dict[str, tuple[str, ...]]
    """By sensitive attribute, the values that the original itself calls missing."""
    labels: Labels
    """What the original calls its columns and their values."""
    dialect: dict[str, Any]
    """How the file is written down."""
    types: dict[str, str]
    """The columns whose numbers are written with another sign before their decimals than a point."""


def stored_release(folder: Path) -> StoredRelease:
    """Return the release in a run folder.

    Raises:
        DataError: The folder is not that of a run that made a release.
    """
    try:
        manifest = json_content(folder / MANIFEST)
        return StoredRelease(
            path=folder / manifest["release"],
            method=manifest["method"],
            quasi_identifiers=tuple(manifest["quasi_identifiers"]),
            sensitive=tuple(manifest["sensitive"]),
            suppressed=0 if manifest.get("drops_suppressed") else int(manifest["suppressed"]),
            heights=manifest.get("heights"),
            loss=manifest["loss"],
            detail_lost=manifest.get("detail_lost"),
            group=manifest["group"],
            shuffled=manifest["shuffled"],
            digests={dataset["name"]: dataset["sha256"] for dataset in manifest["datasets"]},
            missing={name: tuple(codes) for name, codes in manifest.get("missing", {}).items()},
            labels=Labels(**manifest.get("labels", {})),
            dialect=manifest.get("dialect", {}),
            types=manifest.get("types", {}),
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            '"{folder}" is a folder without a release; name a file, or a folder that anonymise wrote',
            folder=folder,
        ) from None


@cache
def installed(name: str) -> str:
    """Return the version of a package that is installed, which stays while it is used: to look takes a millisecond."""
    return version(name)


def provenance_of(study: Question, names: Iterable[str]) -> Provenance:
    """Return where the figures of a study come from, as a report says it: names of datasets, no fingerprints."""
    own_version, abridged = installed("glasshouse"), study.abridged()
    # The report leaves the house: of a path it has no more than tells the file from others of its name.
    short_paths = telling_paths(paths_of(study))
    travelling = with_paths(abridged, lambda path: short_paths[own_place(path)])
    seed: int | None = getattr(study, "seed", None)
    is_told = seed == getattr(abridged, "seed", None)
    values = [name for name in type(study).model_fields if name != "seed"]
    python = ".".join(map(str, sys.version_info[:2]))
    return Provenance(
        version=own_version,
        study=dump_study(travelling, version=own_version),
        datasets=tuple(names),
        abridged=any(getattr(abridged, name) != getattr(study, name) for name in values),
        seed_withheld=not is_told,
        smallest_cell=smallest_cell(),
        seed=seed if is_told else None,
        libraries={"Python": python, **{name: installed(name) for name in LIBRARIES}},
        day=today(),
    )


def today() -> str:
    """Return the day on which figures are computed, as 2026-01-31, by universal time.

    ``SOURCE_DATE_EPOCH``, seconds since 1970 as the makers of reproducible software have it, says another one, so that
    a run gives the same bytes on any day.
    """
    return now().date().isoformat()


def now() -> datetime:
    """Return the moment by universal time, or the one that ``SOURCE_DATE_EPOCH`` says."""
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(said) if said.isdecimal() and len(said) < 12 else time.time()
    return datetime.fromtimestamp(seconds, UTC)


def report_files(make: Callable[[], Page]) -> dict[str, str]:
    """Return the files of a report by their names: data in every language, and a page in the one that is spoken.

    Args:
        make: Makes the page in the language that is spoken.
    """
    from glasshouse.report import archive
    from glasshouse.report.html import to_html

    pages = archive.in_every_language(make)
    return {PAGES: archive.to_json(pages), REPORT: to_html(pages[spoken()])}


def digests_of(study: Question) -> dict[str, str]:
    """Return the SHA-256 of every file that a study reads, once each, by the name that it gives it or its own."""
    datasets = study.datasets if isinstance(study, ReleaseStudy) else ()
    names = {own_place(dataset.place): dataset.name for dataset in datasets}
    digests: dict[str, str] = {}
    for path, short in telling_paths(paths_of(study)).items():
        name = names.get(path) or printable(short.as_posix())
        while name in digests:
            name += "′"
        digests[name] = fingerprint(path)
    return digests


@dataclass(frozen=True)
class StoredReport:
    """The report of a run, in every language."""

    folder: Path
    """The folder of the run."""
    pages: Mapping[str, Page]
    """The pages, by language."""
    language: str
    """The language that the run was made in."""

    def page(self, language: str) -> Page:
        """Return the page in a language.

        Raises:
            DataError: The run did not keep it in that language.
        """
        if language not in self.pages:
            raise DataError(
                "{file}: holds no report in {language}; run the study again",
                file=self.folder / PAGES,
                language=LANGUAGES[language].name,
            )
        return self.pages[language]


def stored_measures(folder: Path) -> tuple[Measurement, ...]:
    """Return what a run measured, whatever its policy.

    Raises:
        DataError: The folder is not that of a run, or of one that an older version wrote.
    """
    entries = _manifest_entry(folder, "measures")
    if entries is None:
        raise DataError(
            "{file} does not say what was measured, as an older version wrote it; run the study again",
            file=folder / MANIFEST,
        )
    with _damage_told(folder / MANIFEST):
        return tuple(Measurement.from_dict(entry) for entry in entries)


def stored_coverage(folder: Path) -> Coverage | None:
    """Return what became of every column of the release of a run; None: that is not known.

    Raises:
        DataError: The folder is not that of a run, or is damaged.
    """
    content = _manifest_entry(folder, "coverage")
    with _damage_told(folder / MANIFEST):
        return None if content is None else Coverage.from_dict(content)


def stored_verdict(folder: Path, policy: ReleasePolicy | None = None) -> Verdict | None:
    """Return what a policy says of a run, or what its own says; None: nothing was measured that it asks for.

    Raises:
        DataError: The folder is not that of a run, or of one that an older version wrote.
    """
    return verdict_on(
        stored_measures(folder), policy or stored_policy(folder), stored_coverage(folder)
    )


def beside(
    baseline: Path,
    measured: tuple[Measurement, ...],
    coverage: Coverage | None,
    policy: ReleasePolicy,
) -> tuple[tuple[Measurement, ...], ReleasePolicy]:
    """Return what is judged, and by what, where nothing may be worse than in a run before, and no column new.

    Raises:
        DataError: The folder is not that of a run, or it is not known which columns its release has.
    """
    before, columns = stored_measures(baseline), stored_coverage(baseline)
    if columns is None or coverage is None:
        raise DataError(
            '"{folder}": which columns the two releases have is not known; run the study of the baseline again',
            folder=baseline,
        )
    rule = no_worse_than(policy, before, measured, baseline.resolve().name)
    return (*measured, new_columns(columns, coverage)), rule


def _manifest_entry(folder: Path, name: str) -> Any:
    """Return an entry of the manifest of a run; None: it has none."""
    path = folder / MANIFEST
    try:
        with _damage_told(path):
            return json_content(path).get(name)
    except OSError:
        raise DataError(
            '"{folder}" is not a run folder: it holds no {file}', folder=folder, file=MANIFEST
        ) from None


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Say of a manifest that cannot be understood that it is damaged."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError):
        raise DataError("{file} is damaged; run the study again", file=path) from None


def stored_policy(folder: Path) -> ReleasePolicy:
    """Return the policy that a run was judged by: that of its study, or the one that is taken where none is said."""
    path = folder / STUDY
    return load_study(path).policy if path.exists() else OPEN_DATA


def check_there(folder: Path) -> None:
    """Make sure that a folder is there.

    Raises:
        DataError: It is not.
    """
    if not folder.exists():
        raise DataError('there is no folder "{folder}"; name the folder of a run', folder=folder)


def stored_report(folder: Path) -> StoredReport:
    """Read the report of a run.

    Raises:
        DataError: The folder is not there, or is not that of a run that kept its report.
    """
    from glasshouse.report import archive

    check_there(folder)
    if not folder.is_dir():
        raise DataError('"{folder}" is a file; name the folder of a run', folder=folder)
    path = folder / PAGES
    is_there = path.is_file() or path.is_dir()  # for a pipe nobody waits
    if not is_there and (folder / MANIFEST).exists():
        raise DataError(
            '"{folder}" is a run without {file}, of an older version; run the study again',
            folder=folder,
            file=PAGES,
        )
    if not is_there:
        raise DataError(
            '"{folder}" is not a run folder: it holds no {file}', folder=folder, file=PAGES
        )
    try:
        document = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(
            "{file}: cannot be read ({reason})", file=path, reason=system_reason(error)
        ) from None
    except UnicodeDecodeError:
        raise DataError("{name} is not a report of Glasshouse", name=path) from None
    pages = archive.from_json(document, str(path))
    return StoredReport(folder, pages, _language(folder / MANIFEST))


def write_again(report: StoredReport, language: str, *, pdf: bool = False) -> list[Path]:
    """Write a report in a language into its folder, in the place of the one that is there; return the paths.

    Args:
        report: The report.
        language: The language to write it in.
        pdf: Whether to write it as PDF, too.

    Raises:
        DataError: There is none in that language, its pictures cannot be drawn, or it cannot be written.
        StudyError: What makes a PDF is not installed.
    """
    from glasshouse.report.html import to_html

    page = report.page(language)
    with speaking(language):
        try:
            contents = {REPORT: to_html(page).encode("utf-8")}
            if pdf:
                contents[PDF] = to_pdf(page)
        except (DataError, ValueError):
            raise DataError(
                "{file} is damaged: its pictures cannot be drawn; run the study again",
                file=report.folder / PAGES,
            ) from None
    for name, content in contents.items():
        with new_file(report.folder / name) as draft:
            draft.write_bytes(content)
    return [report.folder / name for name in contents]


def write_form(
    law: str, folders: Sequence[Path], place: Path, language: str | None, *, overwrite: bool = False
) -> list[Path]:
    """Write the form that a law asks for, as DOCX and as PDF, and return the paths.

    Args:
        law: One of `glasshouse.report.form.LAWS`.
        folders: The runs: the release that is decided on comes last, the state before it first.
        place: The folder to write it in.
        language: The language to write it in; None: that of the last run.
        overwrite: Whether forms that are there give way.

    Raises:
        DataError: A folder is not that of a run, or of one that a form can be made of, or a form is there already.
        StudyError: What makes it is not installed.
    """
    paths = [place / f"{law}.{kind}" for kind in ("docx", "pdf")]
    for path in paths:
        if path.exists() and not overwrite:
            raise DataError('"{path}" exists; choose another place, or say `overwrite`', path=path)
    reports = [stored_report(_decided_on(folder)) for folder in folders]
    code = reports[-1].language if language is None else language
    with speaking(code):
        runs = [_filed(report, role(place, len(reports))) for place, report in enumerate(reports)]
        form = form_of(law, runs)
        contents = [to_docx(form), _pdf_module().form_to_pdf(form)]
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(place, error) from None
    for path, content in zip(paths, contents, strict=True):
        with new_file(path) as draft:
            draft.write_bytes(content)
    return paths


def _decided_on(folder: Path) -> Path:
    """Return the folder of the release that a run is about: of versions to choose from, the one to take."""
    check_there(folder)
    if not (folder / MANIFEST).is_file():
        return folder
    recommended = _manifest_entry(folder, "recommended")
    return folder / VERSIONS / recommended if isinstance(recommended, str) else folder


def _filed(report: StoredReport, name: str) -> FiledRun:
    """Return what a form tells of a run, in the language that is spoken."""
    study = load_study(report.folder / STUDY) if (report.folder / STUDY).exists() else None
    if study is None or study.command in ("compare", "protect", "target"):
        raise DataError(
            '"{folder}" is about several releases, or one person; a form is made of runs about one release, such as of '
            "assess or anonymise",
            folder=report.folder,
        )
    if getattr(study, "known", ()):
        raise DataError(
            '"{folder}" is about one person, and personal data; no form is made of it',
            folder=report.folder,
        )
    return FiledRun(
        name=name,
        command=study.command,
        page=_without_folders(report.page(spoken()), study),
        measures=stored_measures(report.folder),
        digest=fingerprint(report.folder / PAGES),
        known=frozenset(study.adversary.knowable)
        if isinstance(study, ReleaseStudy)
        else frozenset(),
        changes=(_manifest_entry(report.folder, "changes") or {}).get(spoken(), {}),
        of_records=tuple((_manifest_entry(report.folder, "of_records") or {}).get(spoken(), ())),
    )


def _without_folders(page: Page, study: Question) -> Page:
    """Return a page whose release is called as its file, where it is called as the folder that anonymise wrote."""
    lead, written = page.lead, page.provenance.study
    for dataset in datasets_of(study):
        path = dataset.path
        if dataset.name and isinstance(path, Path) and path.stem == RELEASE:
            lead = lead.replace(dataset.name, path.name)
            written = written.replace(f'name = "{dataset.name}"', f'name = "{path.name}"')
    return replace(page, lead=lead, provenance=replace(page.provenance, study=written))


def to_pdf(page: Page) -> bytes:
    """Return a page as PDF.

    Raises:
        StudyError: What makes it is not installed.
    """
    content: bytes = _pdf_module().to_pdf(page)
    return content


def _pdf_module() -> Any:
    try:
        return import_module("glasshouse.report.pdf")
    except ImportError:
        raise StudyError(
            "a PDF needs an extra of Glasshouse: pip install 'glasshouse[pdf]'"
        ) from None


def _language(manifest: Path) -> str:
    """Return the language of a run; that of the code where its manifest does not say."""
    try:
        content = json_content(manifest)
        return language_called(content["report"]["language"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return next(iter(LANGUAGES))
