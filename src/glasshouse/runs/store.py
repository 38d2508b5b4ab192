"""The run folder: the study, what it was run on, the results and the report; whole or not at all."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet

from glasshouse.atomic import check_folder, new_folder
from glasshouse.errors import DataError, quoted
from glasshouse.runs.runner import Run
from glasshouse.sources.files import display_name, fingerprint
from glasshouse.study import Study, dump_study

STUDY, MANIFEST, RESULTS, REPORT = "study.toml", "manifest.json", "results.parquet", "report.html"


def check_place(folder: Path, *, overwrite: bool) -> None:
    """Make sure before a run that its folder can be made after it: only a run gives way to a run.

    Raises:
        DataError: There is a file, a folder that is no run, or a run that is not to be overwritten.
    """
    check_folder(folder, replace=overwrite)
    if not folder.exists():
        return
    others = sorted({path.name for path in folder.iterdir()} - {STUDY, MANIFEST, RESULTS, REPORT})
    if others:
        raise DataError(
            f'"{folder}" holds {quoted(others[:3])}, so it is no run folder of ours and is not replaced; choose another'
        )


def write_run(run: Run, folder: Path, *, overwrite: bool = False) -> Path:
    """Write the run folder and return the path of its report.

    The same study, data and version give the same bytes: nothing in it tells the time.

    Raises:
        DataError: The folder exists (and is not to be overwritten) or cannot be written.
    """
    from glasshouse.report import Provenance, render_html  # drawing takes long to import

    check_place(folder, overwrite=overwrite)
    own_version = version("glasshouse")
    digests = {display_name(d.path): fingerprint(d.path) for d in run.study.datasets}
    manifest = {
        "glasshouse": own_version,
        "command": run.study.command,
        "records": run.assessment.records,
        "datasets": [{"name": name, "sha256": digest} for name, digest in digests.items()],
    }
    provenance = Provenance(
        version=own_version,
        study=dump_study(_travelling(run.study), version=own_version),
        datasets=digests,
    )
    with new_folder(folder, replace=overwrite) as draft:
        located = dump_study(_located(run.study), version=own_version)
        (draft / STUDY).write_text(located, encoding="utf-8")
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(run.assessment.to_frame(), draft / RESULTS)
        report = render_html(
            run.assessment, subject=run.study.subject, provenance=provenance, sweep=run.sweep
        )
        (draft / REPORT).write_text(report, encoding="utf-8")
    return folder / REPORT


def _located(study: Study) -> Study:
    """Return the study with absolute paths, so that it can be run again from its folder."""
    return _with_paths(study, [d.path.parent.resolve() / d.path.name for d in study.datasets])


def _travelling(study: Study) -> Study:
    """Return the study as a report that leaves the house should have it: bare file names, no values of the data."""
    gain = study.adversary.gain.model_copy(update={"worth": {}})
    adversary = study.adversary.model_copy(update={"gain": gain})
    plain = study.model_copy(update={"adversary": adversary})
    return _with_paths(plain, [Path(dataset.path.name) for dataset in study.datasets])


def _with_paths(study: Study, paths: list[Path]) -> Study:
    datasets = tuple(
        dataset.model_copy(update={"path": path})
        for dataset, path in zip(study.datasets, paths, strict=True)
    )
    return study.model_copy(update={"datasets": datasets})
