"""One run of ``compare``: the original beside several protected releases, risk against utility."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet
from numpy.typing import NDArray

from glasshouse.atomic import new_folder
from glasshouse.errors import DataError, StudyError
from glasshouse.language import text
from glasshouse.mitigation.anonymisation import GROUP
from glasshouse.mitigation.comparison import Comparison, compare_release
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.runs.anonymising import (
    AnonymiseRun,
    hierarchies_of,
    release_order,
    run_anonymise,
)
from glasshouse.runs.reading import one_each, prepared
from glasshouse.runs.runner import Means
from glasshouse.runs.store import (
    MANIFEST,
    REPORT,
    RESULTS,
    STUDY,
    StoredRelease,
    check_place,
    digests_of,
    provenance_of,
    report_manifest,
    stored_release,
    write_report,
)
from glasshouse.sources import existing_file
from glasshouse.study import Study, load_study, paths_of
from glasshouse.table import EncodedTable, read
from glasshouse.table.generalised import is_suppressed

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance


@dataclass(frozen=True)
class CompareRun:
    """Releases that were compared, and what was asked of them."""

    study: Study
    """What was asked of the first release: the data and the adversary are those of all."""
    outcome: Comparison
    """The original and the releases in figures."""

    def to_page(self, provenance: Provenance, command: str = "") -> Page:
        """Return the report, in the language that is spoken, and the command that repeats it."""
        from glasshouse.report.mitigation.comparison_page import comparison_page

        return comparison_page(self.outcome, provenance=provenance, command=command)


@dataclass(frozen=True)
class _Released:
    """A release as it is compared with its original."""

    name: str
    original: EncodedTable
    table: EncodedTable
    suppressed: NDArray[np.bool_]
    group: str | None
    """The column of Anatomy's groups; None: the classes are made by the quasi-identifiers."""
    hierarchies: Mapping[str, Hierarchy]
    loss: float | None


def compare_runs(
    folders: Sequence[Path],
    *,
    fraction: float | None = None,
    predict: str | None = None,
    means: Means | None = None,
) -> CompareRun:
    """Compare releases that ``anonymise`` wrote, as they are on disk, with their original.

    Raises:
        DataError: A folder holds no release, or its original or a hierarchy has changed since.
        StudyError: The releases are of different data or quasi-identifiers.
    """
    stored = [stored_release(folder) for folder in folders]
    names = [folder.resolve().name for folder in folders]
    studies = [load_study(folder / STUDY) for folder in folders]
    _check_alike(studies, names)
    for study, release, name in zip(studies, stored, names, strict=True):
        for path in paths_of(study):
            existing_file(path)
        for file, digest in digests_of(study).items():
            if release.digests.get(file, digest) != digest:
                raise DataError(
                    text(
                        '{file}: has changed since "{name}" was made of it; run anonymise again',
                        file=file,
                        name=name,
                    )
                )
    original = _original_of(studies[0], means or Means(), predict)
    found = [
        _read_release(*each, original, predict) for each in zip(studies, stored, names, strict=True)
    ]
    return _compared(found, studies[0], fraction=fraction, predict=predict)


def compare_studies(
    studies: Sequence[Study],
    names: Sequence[str],
    *,
    fraction: float | None = None,
    predict: str | None = None,
    means: Means | None = None,
) -> CompareRun:
    """Protect the same data in several ways, and compare.

    Raises:
        StudyError: They are of different data or quasi-identifiers, or are no protections.
    """
    _check_alike(studies, names)
    means = means or Means()
    original = _original_of(studies[0], means, predict)
    found = [
        _of_run(run_anonymise(study, means=means, table=original), name)
        for study, name in zip(studies, names, strict=True)
    ]
    return _compared(found, studies[0], fraction=fraction, predict=predict)


def _check_alike(studies: Sequence[Study], names: Sequence[str]) -> None:
    """Make sure that releases can be compared: the same data, and the same adversary."""
    first = studies[0]
    for study, name in zip(studies, names, strict=True):
        if study.protection is None:
            raise StudyError(text('"{name}" protects nothing; name runs of anonymise', name=name))
        same = (study.datasets, study.treatment, study.adversary, study.seed)
        if same != (first.datasets, first.treatment, first.adversary, first.seed):
            raise StudyError(
                text(
                    '"{name}" is of other data, or of another adversary, than "{first}"; compare releases of the same',
                    name=name,
                    first=names[0],
                )
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StudyError(text('"{name}" is there twice; name each release once', name=twice))


def _original_of(study: Study, means: Means, predict: str | None) -> EncodedTable:
    also = () if predict is None else (predict,)
    return one_each(
        next(prepared(study, also=also, on_progress=means.watch.reading)), seed=study.seed
    ).table


def _of_run(run: AnonymiseRun, name: str) -> _Released:
    nothing = np.zeros(run.records, np.bool_)
    return _Released(
        name=name,
        original=run.original,
        table=run.release,
        suppressed=nothing if run.recoding is None else run.recoding.suppressed,
        group=None if run.anatomy is None else GROUP,
        hierarchies=run.hierarchies,
        loss=run.outcome.loss,
    )


def _read_release(
    study: Study,
    stored: StoredRelease,
    name: str,
    original: EncodedTable,
    predict: str | None,
) -> _Released:
    """Read a release; its records are those of the original, in the same order."""
    adversary = study.adversary
    table = read(
        stored.path,
        quasi_identifiers=adversary.quasi_identifiers,
        sensitive=stored.sensitive,
        facts=adversary.facts,
        also=_further(study, stored, predict),
        name=name,
    )
    if table.records != original.records:
        raise DataError(
            text(
                "{name}: the release has {records} records, its original {original}; run anonymise again",
                name=name,
                records=table.records,
                original=original.records,
            )
        )
    if stored.shuffled:
        table = table.of_records(np.argsort(release_order(original, seed=study.seed)))
    hidden = is_suppressed(table, stored.quasi_identifiers)
    protection = study.protection
    recoded = protection is not None and stored.group is None
    return _Released(
        name=name,
        original=original,
        table=table,
        suppressed=hidden if stored.suppressed else np.zeros_like(hidden),
        group=stored.group,
        hierarchies=hierarchies_of(
            protection, original, encoding=study.datasets[0].dialect.encoding
        )
        if protection and recoded
        else {},
        loss=stored.loss,
    )


def _further(study: Study, stored: StoredRelease, predict: str | None) -> list[str]:
    """Return what is read of a release beside what has a role."""
    known = {*study.adversary.quasi_identifiers, *stored.sensitive}
    return [name for name in (stored.group, predict) if name is not None and name not in known]


def _compared(
    releases: Sequence[_Released], study: Study, *, fraction: float | None, predict: str | None
) -> CompareRun:
    first = releases[0]
    original = compare_release(
        first.original,
        first.original,
        name="original",
        hierarchies=first.hierarchies,
        loss=0.0,
        fraction=fraction,
        predict=predict,
    )
    rows = tuple(
        compare_release(
            release.original,
            release.table,
            name=release.name,
            suppressed=release.suppressed,
            group=release.group,
            hierarchies=release.hierarchies,
            loss=release.loss,
            fraction=fraction,
            predict=predict,
        )
        for release in releases
    )
    return CompareRun(study, Comparison(original, rows, study.subject))


def write_comparison(
    run: CompareRun, folder: Path, *, command: str, overwrite: bool = False
) -> Path:
    """Write the figures and the report, which names the command that repeats it; return the path of the report."""
    check_place(folder, overwrite=overwrite)
    names = [release.name for release in run.outcome.releases]
    digests = digests_of(run.study)
    manifest = {
        "glasshouse": version("glasshouse"),
        "command": "compare",
        "releases": names,
        "datasets": [{"name": name, "sha256": digest} for name, digest in digests.items()],
        "report": report_manifest(),
    }
    provenance = replace(provenance_of(run.study, digests), study="")
    with new_folder(folder, replace=overwrite) as draft:
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(run.outcome.to_frame(), draft / RESULTS)
        write_report(lambda: run.to_page(provenance, command), draft)
    return folder / REPORT
