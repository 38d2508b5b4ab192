"""One run of ``compare``: the original beside several protected releases, risk against utility."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from glasshouse.atomic import new_folder
from glasshouse.errors import DataError, StudyError
from glasshouse.language import text
from glasshouse.microdata import Attack, assess, population_risks
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.mitigation.utility import Utility, compare_utility
from glasshouse.runs.anonymise import (
    GROUP,
    AnonymiseRun,
    hierarchies_of,
    release_order,
    run_anonymise,
)
from glasshouse.runs.assess import Means
from glasshouse.runs.folder import (
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
from glasshouse.runs.assess import assess_by_group
from glasshouse.runs.reading import one_each, prepared
from glasshouse.sources import existing_file
from glasshouse.study import Study, load_study, paths_of
from glasshouse.table import EncodedTable, read
from glasshouse.table.generalised import is_suppressed
from glasshouse.table.partition import partition


@dataclass(frozen=True)
class Compared:
    """One release, or the original, in figures."""

    name: str
    """What it is called."""
    records: int
    """The number of records, suppressed ones included."""
    suppressed: int
    """The number of suppressed records; they are left out of every risk."""
    classes: int
    """The number of classes."""
    highest: Fraction
    """The chance of naming the most exposed record: one over the size of the smallest class."""
    average: Fraction
    """The chance of naming a record on average."""
    naming: Attack
    """Re-identification with all quasi-identifiers."""
    inferring: tuple[Attack, ...]
    """The inference of each sensitive attribute."""
    population_uniques: float | None
    """The share of people estimated to be alone in the population, by the rule of Dankar et al. 2012; None where no
    sampling fraction was given, or there is no answer."""
    loss: float | None
    """The share of detail that is lost; None where nothing was recoded."""
    utility: Utility
    """What the release still serves for."""
    grouped: bool = False
    """Whether it is by Anatomy: the sensitive attribute is published apart, by groups, and nothing is recoded."""

    @property
    def distance(self) -> float:
        """How far the release is from the truth: of two columns together on average; of one, where there is one."""
        pairs = self.utility.distances.mean_pair
        return self.utility.distances.mean_single if pairs is None else pairs

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "name": self.name,
            "records": self.records,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "highest_risk": float(self.highest),
            "average_risk": float(self.average),
            "population_uniques": self.population_uniques,
            "loss": self.loss,
            "column_distance": self.utility.distances.mean_single,
            "pair_distance": self.utility.distances.mean_pair,
            "query_error": self.utility.queries.median,
            "prediction": None
            if self.utility.prediction is None
            else self.utility.prediction.to_dict(),
            "attacks": [attack.to_dict() for attack in (self.naming, *self.inferring)],
        }


@dataclass(frozen=True)
class Comparison:
    """The original and several releases, side by side."""

    original: Compared
    """The data before protection."""
    releases: tuple[Compared, ...]
    """The releases, in the order given."""
    study: Study
    """What was asked of the first release: the data and the adversary are those of all."""

    @property
    def subject(self) -> str:
        """What a record stands for."""
        return self.study.subject

    @property
    def rows(self) -> tuple[Compared, ...]:
        """The original, then each release."""
        return (self.original, *self.releases)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"releases": [row.to_dict() for row in self.rows]}

    def to_frame(self) -> pa.Table:
        """Return one row per release and attack."""
        rows = []
        for row in self.rows:
            content = row.to_dict()
            attacks, learned = content.pop("attacks"), content.pop("prediction")
            if learned is not None:
                content["accuracy"] = learned["release"]
            rows += [
                content
                | {
                    "attack": attack["attack"],
                    "sensitive": attack["sensitive"],
                    "certain": attack["deterministic"]["posterior"],
                    "guess": attack["probabilistic"]["posterior"],
                }
                for attack in attacks
            ]
        return pa.Table.from_pylist(rows)


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
) -> Comparison:
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
    return _comparison(found, studies[0], fraction=fraction, predict=predict)


def compare_studies(
    studies: Sequence[Study],
    names: Sequence[str],
    *,
    fraction: float | None = None,
    predict: str | None = None,
    means: Means | None = None,
) -> Comparison:
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
    return _comparison(found, studies[0], fraction=fraction, predict=predict)


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
        loss=run.loss,
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


def _comparison(
    releases: Sequence[_Released], study: Study, *, fraction: float | None, predict: str | None
) -> Comparison:
    first = releases[0]
    table = first.original
    nothing = np.zeros(table.records, np.bool_)
    itself = _Released("original", table, table, nothing, None, first.hierarchies, 0.0)
    original, *rows = (_figures(each, fraction, predict) for each in (itself, *releases))
    return Comparison(original, tuple(rows), study)


def write_comparison(
    comparison: Comparison, folder: Path, *, command: str, overwrite: bool = False
) -> Path:
    """Write the figures and the report, which names the command that repeats it; return the path of the report."""
    from glasshouse.report.compare.page import comparison_page

    check_place(folder, overwrite=overwrite)
    names = [row.name for row in comparison.releases]
    digests = digests_of(comparison.study)
    manifest = {
        "glasshouse": version("glasshouse"),
        "command": "compare",
        "releases": names,
        "datasets": [{"name": name, "sha256": digest} for name, digest in digests.items()],
        "report": report_manifest(),
    }
    provenance = replace(provenance_of(comparison.study, digests), study="")
    with new_folder(folder, replace=overwrite) as draft:
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(comparison.to_frame(), draft / RESULTS)
        write_report(
            lambda: comparison_page(comparison, provenance=provenance, command=command), draft
        )
    return folder / REPORT


def _figures(release: _Released, fraction: float | None, predict: str | None) -> Compared:
    kept = release.table
    if release.suppressed.any():
        kept = kept.of_records(~release.suppressed)
    group = release.group
    kept = kept.with_roles(
        quasi_identifiers=release.original.quasi_identifiers,
        sensitive=release.original.sensitive,
    )
    assessment = assess(kept) if group is None else assess_by_group(kept, group)
    naming, *inferring = assessment.attacks
    alone = None
    if fraction is not None:
        alone = population_risks(kept, fraction=fraction).dankar.share_of_population
    return Compared(
        name=release.name,
        records=release.table.records,
        suppressed=int(np.count_nonzero(release.suppressed)),
        classes=naming.classes,
        highest=Fraction(1, int(np.min(partition(kept, kept.quasi_identifiers).sizes))),
        average=naming.probabilistic.posterior,
        naming=naming,
        inferring=tuple(inferring),
        population_uniques=None if alone is None else float(alone),
        loss=release.loss,
        utility=compare_utility(
            release.original, release.table, hierarchies=release.hierarchies, target=predict
        ),
        grouped=group is not None,
    )
