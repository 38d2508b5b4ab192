"""One run of ``compare``: the original beside several protected releases, risk against utility."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from glasshouse.atomic import new_folder
from glasshouse.errors import StudyError
from glasshouse.microdata import Attack, assess, population_risks
from glasshouse.mitigation.utility import Utility, compare_utility
from glasshouse.runs.anonymising import GROUP, AnonymiseRun, run_anonymise
from glasshouse.runs.runner import Means
from glasshouse.runs.store import MANIFEST, REPORT, RESULTS, STUDY, check_place
from glasshouse.study import Study, load_study
from glasshouse.table import EncodedTable


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
            "attacks": [attack.to_dict() for attack in (self.naming, *self.inferring)],
        }


@dataclass(frozen=True)
class Comparison:
    """The original and several releases, side by side."""

    original: Compared
    """The data before protection."""
    releases: tuple[Compared, ...]
    """The releases, in the order given."""
    subject: str
    """What a record stands for."""

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
            attacks = content.pop("attacks")
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


def compare_runs(folders: Sequence[Path], *, fraction: float | None = None) -> Comparison:
    """Compare releases that ``anonymise`` wrote; each is made again from its study, which gives the same bytes.

    Raises:
        StudyError: A folder is not of such a run, or the runs are of different data or quasi-identifiers.
    """
    studies = []
    for folder in folders:
        if not (folder / STUDY).is_file():
            raise StudyError(f'"{folder}" is no run folder; name folders that anonymise wrote')
        studies.append(load_study(folder / STUDY))
    return compare_studies(studies, [folder.name for folder in folders], fraction=fraction)


def compare_studies(
    studies: Sequence[Study],
    names: Sequence[str],
    *,
    fraction: float | None = None,
    means: Means | None = None,
) -> Comparison:
    """Protect the same data in several ways, and compare.

    Raises:
        StudyError: They are of different data or quasi-identifiers, or are no protections.
    """
    for study, name in zip(studies, names, strict=True):
        if study.protection is None:
            raise StudyError(f'"{name}" protects nothing; name runs of anonymise')
        same = (study.datasets, study.treatment, study.adversary, study.seed)
        first = studies[0]
        if same != (first.datasets, first.treatment, first.adversary, first.seed):
            raise StudyError(
                f'"{name}" is of other data, or of another adversary, than "{names[0]}"; compare releases of the same'
            )
    rows: list[Compared] = []
    original: Compared | None = None
    for study, name in zip(studies, names, strict=True):
        run = run_anonymise(study, means=means)
        if original is None:
            original = _original(run, fraction)
        rows.append(_compared(run, name, fraction))
    if original is None:
        raise StudyError("there is nothing to compare; name at least one release")
    return Comparison(original, tuple(rows), studies[0].subject)


def write_comparison(
    comparison: Comparison, folder: Path, *, command: str, overwrite: bool = False
) -> Path:
    """Write the figures and the report, which names the command that repeats it; return the path of the report."""
    from glasshouse.report.comparisons import comparison_page
    from glasshouse.report.page import Provenance, render

    check_place(folder, overwrite=overwrite)
    own = version("glasshouse")
    names = [row.name for row in comparison.releases]
    manifest = {"glasshouse": own, "command": "compare", "releases": names}
    page = comparison_page(comparison, provenance=Provenance(own, "", {}), command=command)
    with new_folder(folder, replace=overwrite) as draft:
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(comparison.to_frame(), draft / RESULTS)
        (draft / REPORT).write_text(render(page), encoding="utf-8")
    return folder / REPORT


def _original(run: AnonymiseRun, fraction: float | None) -> Compared:
    table = run.original
    return _figures(
        "original",
        table,
        table,
        run.before.attacks,
        loss=0.0,
        suppressed=0,
        utility=compare_utility(table, table, hierarchies=run.hierarchies),
        fraction=fraction,
    )


def _compared(run: AnonymiseRun, name: str, fraction: float | None) -> Compared:
    marks = None if run.recoding is None else run.recoding.suppressed
    kept = run.release if marks is None else run.release.of_records(~marks)
    if run.anatomy is not None:
        kept = kept.with_roles(quasi_identifiers=[GROUP], sensitive=run.original.sensitive)
    return _figures(
        name,
        run.release,
        kept,
        assess(kept).attacks,
        loss=None if run.recoding is None else run.recoding.loss,
        suppressed=run.suppressed,
        utility=compare_utility(run.original, run.release, hierarchies=run.hierarchies),
        fraction=fraction,
    )


def _figures(
    name: str,
    release: EncodedTable,
    kept: EncodedTable,
    attacks: Sequence[Attack],
    *,
    loss: float | None,
    suppressed: int,
    utility: Utility,
    fraction: float | None,
) -> Compared:
    naming, *inferring = attacks
    smallest = int(np.min(_class_sizes(kept)))
    alone = None
    if fraction is not None:
        alone = population_risks(kept, fraction=fraction).dankar.share_of_population
    return Compared(
        name=name,
        records=release.records,
        suppressed=suppressed,
        classes=naming.classes,
        highest=Fraction(1, smallest),
        average=naming.probabilistic.posterior,
        naming=naming,
        inferring=tuple(inferring),
        population_uniques=None if alone is None else float(alone),
        loss=loss,
        utility=utility,
    )


def _class_sizes(table: EncodedTable) -> Any:
    from glasshouse.table.partition import partition

    return partition(table, table.quasi_identifiers).sizes
