"""Runs read back from their folders: what was asked, of what data, and what came out."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from glasshouse.errors import DataError, StudyError
from glasshouse.language import text
from glasshouse.microdata import Assessment, Attack, Leakage
from glasshouse.microdata.assessment import SIZE_LABELS, SUCCESS_LABELS, ClassSizes
from glasshouse.runs.store import MANIFEST, RESULTS, STUDY
from glasshouse.study import attributes, load_study


@dataclass(frozen=True)
class StoredRun:
    """A run as its folder tells it."""

    name: str
    """What it is called: its folder."""
    folder: Path
    """Where it is."""
    command: str
    """The command that wrote it."""
    records: int
    """The number of records of its release."""
    digests: Mapping[str, str]
    """The fingerprints of the files that it read, by their names."""
    summary: Mapping[str, float | None]
    """Its main figures by name, where it keeps such."""
    subject: str
    """What a record stands for."""
    currency: str | None
    """What money is counted in."""


def stored_runs(folders: Sequence[Path]) -> tuple[StoredRun, ...]:
    """Return the runs in folders, each with a name of its own.

    Raises:
        DataError: A folder holds no run, or a damaged one.
        StudyError: A run is there twice.
    """
    places = [folder.resolve() for folder in folders]
    for place in places:
        if places.count(place) > 1:
            raise StudyError(text("“{name}” is there twice; name each run once", name=place.name))
    names = [place.name for place in places]
    own = [
        name if names.count(name) == 1 else f"{place.parent.name}/{name}"
        for name, place in zip(names, places, strict=True)
    ]
    return tuple(_stored_run(*each) for each in zip(folders, own, strict=True))


def command_of(folder: Path) -> str:
    """Return the command that wrote a run folder.

    Raises:
        DataError: It is none, or a damaged one.
    """
    _check_there(folder)
    try:
        return str(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["command"])
    except (OSError, ValueError, KeyError, TypeError):
        raise _damaged(folder, MANIFEST) from None


def _stored_run(folder: Path, name: str) -> StoredRun:
    _check_there(folder)
    try:
        study = tomllib.loads((folder / STUDY).read_text(encoding="utf-8"))
        gain = study.get("adversary", {}).get("gain", {})
    except (OSError, ValueError, AttributeError):
        raise _damaged(folder, STUDY) from None
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return StoredRun(
            name=name,
            folder=folder,
            command=str(manifest["command"]),
            records=int(manifest["records"]),
            digests={each["name"]: each["sha256"] for each in manifest["datasets"]},
            summary={key: _figure(value) for key, value in manifest.get("summary", {}).items()},
            subject=str(study.get("subject", "person")),
            currency=study.get("currency") or gain.get("currency"),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(folder, MANIFEST) from None


def _check_there(folder: Path) -> None:
    """Make sure that a folder is there, and that a run was written to it."""
    if not folder.exists():
        raise DataError(
            text('there is no folder "{folder}"; name the folder of a run', folder=folder)
        )
    if not (folder / MANIFEST).exists():
        raise DataError(
            text(
                "“{folder}” is a folder without a run; name folders that glasshouse wrote with --out",
                folder=folder,
            )
        )


def _damaged(folder: Path, name: str) -> DataError:
    """Return the error of a run of which a file is missing or is not what was written."""
    return DataError(
        text(
            "“{folder}” is a damaged run: {name} is missing or cannot be read; run its study again",
            folder=folder,
            name=name,
        )
    )


def _figure(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else value


def stored_assessment(run: StoredRun) -> Assessment:
    """Return what came out of a run of ``assess``.

    Probabilities are stored as the doubles nearest to ratios of counts; these ratios are taken back where every record
    counts alike.

    Raises:
        DataError: The results are not there, or are those of parts (``--by``, ``--each``).
    """
    try:
        secrets = load_study(run.folder / STUDY).adversary.sensitive
    except (OSError, StudyError):
        raise _damaged(run.folder, STUDY) from None
    try:
        frame = pyarrow.parquet.read_table(run.folder / RESULTS)
    except (OSError, pa.ArrowException):
        raise _damaged(run.folder, RESULTS) from None
    if "probabilistic_posterior" not in frame.column_names:
        raise DataError(
            text(
                "“{name}” is an assessment of parts (--by or --each), which compares them itself; name runs of whole "
                "releases",
                name=run.name,
            )
        )
    names = {"+".join(attributes(secret)): attributes(secret) for secret in secrets}
    try:
        attacks = [_attack(row, names) for row in frame.to_pylist()]
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise _damaged(run.folder, RESULTS) from None
    if not attacks:
        raise _damaged(run.folder, RESULTS)
    return Assessment(run.records, tuple(attacks))


def _attack(row: Mapping[str, Any], secrets: Mapping[str, tuple[str, ...]]) -> Attack:
    records = row["records"]
    sensitive = row["sensitive"]
    return Attack(
        code=row["attack"],
        datasets=tuple(row["datasets"]),
        quasi_identifiers=tuple(row["quasi_identifiers"]),
        secret=() if sensitive is None else secrets.get(sensitive, (sensitive,)),
        records=records,
        classes=row["classes"],
        uniques=row["uniques"],
        class_sizes=ClassSizes(_counts(row, "classes"), _counts(row, "records")),
        certain=row["deterministic_records"],
        deterministic=_leakage(row, "deterministic", records),
        probabilistic=_leakage(row, "probabilistic", records),
        success=tuple(
            row[f"success_{label}"]
            for label in SUCCESS_LABELS
            if row[f"success_{label}"] is not None
        ),
        gain=None if row["gain_prior"] is None else _leakage(row, "gain", records),
    )


def _counts(row: Mapping[str, Any], kind: str) -> tuple[int, ...]:
    return tuple(row[f"{kind}_{label}"] or 0 for label in SIZE_LABELS)


def _leakage(row: Mapping[str, Any], kind: str, records: int) -> Leakage:
    prior, posterior = (row[f"{kind}_{measure}"] for measure in ("prior", "posterior"))
    return Leakage(ratio(prior, records), ratio(posterior, records))


def ratio(probability: float, records: int) -> Fraction:
    """Return the ratio of counts that a double stands for; where there is none, the double itself.

    >>> ratio(1 / 3, 9), ratio(0.123, 9) == Fraction(0.123)
    (Fraction(1, 3), True)
    """
    counted = Fraction(round(probability * records), records)
    return counted if float(counted) == probability else Fraction(probability)
