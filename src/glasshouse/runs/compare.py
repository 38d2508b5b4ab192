"""``compare``: protected releases beside the original, and runs of the same command side by side.

Assessments are compared attack by attack, runs of other commands by the main figures that they keep in their manifests
(`glasshouse.measures.compared_runs`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from importlib.metadata import version
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from glasshouse.arrays import Flags
from glasshouse.disclosure import smallest_cell
from glasshouse.errors import DataError, GlasshouseError, StudyError
from glasshouse.language import quoted, text
from glasshouse.measures.compared_runs import (
    AssessedRuns,
    ComparedRun,
    MeasuredRuns,
    compare_assessments,
    compare_figures,
)
from glasshouse.measures.coverage import Coverage
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.assessment import CLOSE, INEXACT
from glasshouse.microdata.closeness import Closeness
from glasshouse.microdata.knowledge import InexactKnowledge
from glasshouse.microdata.leakage import SIZE_LABELS, SUCCESS_LABELS, ClassSizes, Leakage
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.mitigation.anonymisation import Anonymisation, columns_of
from glasshouse.mitigation.comparison import Comparison, compare_release
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.report.page import Provenance
from glasshouse.runs.anonymise import (
    ProtectedTable,
    as_it_is,
    hierarchies_of,
    protected_table,
    release_look,
    release_order,
    survey_weights,
)
from glasshouse.runs.folder import (
    MANIFEST,
    RESULTS,
    STUDY,
    StoredRelease,
    check_there,
    digests_of,
    json_content,
    provenance_of,
    stored_coverage,
    stored_release,
    today,
)
from glasshouse.runs.reading import (
    Prepared,
    labels_of,
    only_one,
    read_register,
    secrets_by_name,
)
from glasshouse.runs.run import Resources, Run
from glasshouse.sources import existing_file
from glasshouse.study import ColumnType, Dialect, load_question, load_study, paths_of
from glasshouse.study.anonymise import CHANGES, GROUP, AnonymiseStudy
from glasshouse.study.assess import AssessStudy
from glasshouse.study.compare import CompareStudy, version_names
from glasshouse.study.question import toml_content
from glasshouse.table import EncodedColumn, EncodedTable, Labels, read
from glasshouse.table.generalised import SUPPRESSED, is_suppressed

ASSESSED, MEASURED = "assess", ("target", "membership", "threat", "deter", "totals")
"""The commands whose runs are compared attack by attack, and by their main figures."""


def answer(
    study: CompareStudy, *, resources: Resources
) -> Run[CompareStudy, Comparison | AssessedRuns | MeasuredRuns]:
    """Put releases beside their original, or runs of the same command side by side.

    Raises:
        DataError: A folder holds no run that can be compared, or its original or a hierarchy has changed since.
        StudyError: They are of different data or commands, or cannot be compared.
    """
    if study.protections:
        return _protection_comparison(study, resources)
    study, labels = _labelled(study)
    return replace(_compared(study, resources), labels=labels)


def _labelled(study: CompareStudy) -> tuple[CompareStudy, Labels]:
    """Return a study with the labels of the runs that it compares, and what their files call their columns."""
    labels, by_language = Labels(), dict(study.labels)
    for folder in study.runs:
        try:
            stored = load_study(folder / STUDY)
        except GlasshouseError:  # of data in memory there is none
            continue
        labels = labels_of(stored) | labels
        for language, columns in stored.labels.items():
            by_language[language] = columns | by_language.get(language, {})
    return study.model_copy(update={"labels": by_language}), labels


def _compared(
    study: CompareStudy, resources: Resources
) -> Run[CompareStudy, Comparison | AssessedRuns | MeasuredRuns]:
    if {command_of(folder) for folder in study.runs} == {"anonymise"}:
        return _release_comparison(study, resources)
    outcome = side_by_side(study.runs)
    names = tuple(f"{run.name}: {name}" for run in outcome.runs for name in run.digests)
    provenance = Provenance(
        version=version("glasshouse"),
        study="",
        datasets=names,
        smallest_cell=smallest_cell(),
        day=today(),
    )
    described = {"runs": [run.to_dict() for run in outcome.runs]}
    return Run(
        study,
        outcome,
        provenance=provenance,
        manifest=described,
        warnings=tuple(_not_compared(study.runs)),
        covered=_covered(study.runs),
    )


def _covered(folders: Sequence[Path]) -> Coverage | None:
    """Return what became of every column of the releases of several runs; None: of one of them it is not known."""
    coverages = [stored_coverage(folder) for folder in folders]
    if None in coverages:
        return None
    return reduce(or_, (coverage for coverage in coverages if coverage is not None))


def _not_compared(folders: Sequence[Path]) -> Iterator[str]:
    """Say of which runs something is not put side by side, and that a missing value is not the same in all."""
    meanings: dict[str, str] = {}
    for folder in folders:
        try:
            stored = load_study(folder / STUDY)
        except GlasshouseError:  # of data in memory there is none
            continue
        if not isinstance(stored, AssessStudy):
            continue
        meanings[folder.resolve().name] = stored.missing_as
        asked = {CLOSE: stored.within, INEXACT: stored.precisions or stored.likely}
        if any(wanted and not (folder / name).exists() for name, wanted in asked.items()):
            yield text(
                "note: “{name}” is from before close guesses and inexact knowledge were kept to be compared; run it "
                "again for them",
                name=folder.resolve().name,
            )
    if len(set(meanings.values())) > 1:
        yield text(
            "note: a missing value is not taken alike in these runs ({meanings}); what differs may come of that",
            meanings=", ".join(f"{name}: {word}" for name, word in meanings.items()),
        )


def side_by_side(folders: Sequence[Path]) -> AssessedRuns | MeasuredRuns:
    """Put runs of the same command side by side.

    Raises:
        DataError: A folder holds no run that can be compared.
        StudyError: There are fewer than two, they are of different commands, or such runs cannot be compared.
    """
    commands = [command_of(folder) for folder in folders]
    command = commands[0]
    for folder, another in zip(folders, commands, strict=True):
        if another != command:
            raise StudyError(
                "“{first}” is a run of {command}, “{other}” one of {another}; compare runs of the same command",
                first=folders[0].resolve().name,
                command=command,
                other=folder.resolve().name,
                another=another,
            )
    if command not in (ASSESSED, *MEASURED):
        raise StudyError(
            "runs of {command} cannot be put side by side; those of {commands} can",
            command=command,
            commands=quoted(["anonymise", ASSESSED, *MEASURED]),
        )
    runs = stored_runs(folders)
    if len(runs) < 2:
        raise StudyError("name two runs or more to put side by side")
    if command == ASSESSED:
        if any(run.summary for run in runs):
            return compare_figures(_of_people(runs))
        parts = _with_parts(folders, runs)
        if parts is None:
            return compare_assessments(runs, list(map(stored_assessment, folders, runs)))
        return compare_figures(parts)
    return compare_figures(runs)


def _of_people(runs: Sequence[ComparedRun]) -> Sequence[ComparedRun]:
    """Return runs about people with several records, which keep figures by how many of them are known."""
    for run in runs:
        if not run.summary:
            raise StudyError(
                "“{name}” is not about people with several records, and others are, or it covers too few people; "
                "compare runs with `person`, or without",
                name=run.name,
            )
    return runs


def _with_parts(folders: Sequence[Path], runs: Sequence[ComparedRun]) -> list[ComparedRun] | None:
    """Return runs that assess parts (``--by``, ``--each``) with how well each is attacked; None: not all are such.

    The parts are attacked with the best set of as many quasi-identifiers as all of the runs have.
    """
    rows = []
    for folder in folders:
        with _undamaged(folder, RESULTS):
            frame = pyarrow.parquet.read_table(folder / RESULTS)
        if "part" not in frame.column_names:
            return None
        rows.append(frame.to_pylist())
    sizes = set.intersection(*({row["size"] for row in parts} for parts in rows))
    if not sizes:
        raise StudyError(
            "the runs have no number of quasi-identifiers in common; run them again with `subsets` all"
        )
    size = max(sizes)
    return [
        replace(
            run,
            summary={_part_figure(row): row["posterior"] for row in parts if row["size"] == size},
            parts={row["part"]: row["records"] for row in parts if row["sensitive"] is None},
            people={_part_figure(row): row["records"] for row in parts},
            size=size,
        )
        for run, parts in zip(runs, rows, strict=True)
    ]


def _part_figure(row: Mapping[str, Any]) -> str:
    """Return what the success of an attack on a part is called: ``naming: SP``, ``inferring income: SP``."""
    part, secret = row["part"], row["sensitive"]
    return f"naming: {part}" if secret is None else f"inferring {secret}: {part}"


@dataclass(frozen=True)
class ComparableRelease:
    """A release as it is compared with its original: the keywords of `compare_release`."""

    name: str
    release: EncodedTable
    suppressed: Flags | None
    group: str | None
    hierarchies: Mapping[str, Hierarchy]
    loss: float | None
    detail_lost: float | None = None
    protection: Anonymisation | None = None
    weights: SurveyWeights | None = None
    dropped: bool = False


def _release_comparison(study: CompareStudy, resources: Resources) -> Run[CompareStudy, Comparison]:
    """Compare releases that ``anonymise`` wrote, as they are on disk, with their original."""
    folders = study.runs
    stored = [stored_release(folder) for folder in folders]
    studies = [load_question(folder / STUDY, AnonymiseStudy) for folder in folders]
    names = [folder.resolve().name for folder in folders]
    _check_alike(studies, names)
    runs = list(zip(studies, stored, names, strict=True))
    for protection, release, name in runs:
        if release.method in CHANGES:
            raise StudyError(
                "{name}: its values were changed, not generalised, so that its loss is no other's; its own report has "
                "its risks and what it costs",
                name=name,
            )
        for path in paths_of(protection):
            existing_file(path)
        for file, digest in digests_of(protection).items():
            if release.digests.get(file, digest) != digest:
                raise DataError(
                    '{file}: has changed since "{name}" was made of it; run anonymise again',
                    file=file,
                    name=name,
                )
    original = _original(studies[0], resources, study.predict)
    promises = _titles(version_names([protection.protection for protection in studies]), names)
    titles = _titles([protection.title for protection in studies], promises)
    releases = [
        _read_release(protection, release, title, original.table, study.predict)
        for protection, release, title in zip(studies, stored, titles, strict=True)
    ]
    return _comparison(original, releases, study, studies[0], _covered(folders))


def _protection_comparison(
    study: CompareStudy, resources: Resources
) -> Run[CompareStudy, Comparison]:
    """Protect the same data in several ways, and compare."""
    names, studies = list(study.protections), list(study.protections.values())
    _check_alike(studies, names)
    original = _original(studies[0], resources, study.predict)
    register = None if studies[0].population is None else read_register(studies[0])
    releases = [
        replace(
            comparable_release(
                protected_table(protection, original.table, resources, population=register), name
            ),
            weights=survey_weights(protection, original.table),
        )
        for name, protection in zip(names, studies, strict=True)
    ]
    release = releases[0].release
    columns = [*columns_of(release), *release.sensitive, *as_it_is(studies[0].protection)]
    whole = [name for name in dict.fromkeys(columns) if name in release.columns]
    covered = release_look(studies[0], release, whole).coverage
    return _comparison(original, releases, study, studies[0], covered)


def _check_alike(studies: Sequence[AnonymiseStudy], names: Sequence[str]) -> None:
    """Make sure that releases can be compared: the same data, and the same adversary."""
    first = studies[0]
    for study, name in zip(studies, names, strict=True):
        if _what_is_protected(study) != _what_is_protected(first):
            raise StudyError(
                '"{name}" is of other data, or of another adversary, than "{first}"; compare releases of the same',
                name=name,
                first=names[0],
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StudyError('"{name}" is there twice; name each release once', name=twice)


def _what_is_protected(study: AnonymiseStudy) -> tuple[object, ...]:
    """Return the data, the adversary, and what each record counts."""
    weight = study.protection.weight
    return study.datasets, study.treatment, study.adversary, study.seed, weight


def _original(study: AnonymiseStudy, resources: Resources, predict: str | None) -> Prepared:
    also = [name for name in (predict, study.protection.weight) if name is not None]
    return only_one(study, also=list(dict.fromkeys(also)), on_progress=resources.on_progress)


def comparable_release(protected: ProtectedTable, name: str) -> ComparableRelease:
    """Return a protected table under a name, as it is compared with its original."""
    return ComparableRelease(
        name=name,
        release=protected.release,
        suppressed=None if protected.recoding is None else protected.recoding.suppressed,
        group=None if protected.anatomy is None else GROUP,
        hierarchies=protected.hierarchies,
        loss=protected.outcome.loss if protected.recoding is not None else None,
        protection=protected.outcome,
    )


def _read_release(
    study: AnonymiseStudy,
    stored: StoredRelease,
    name: str,
    original: EncodedTable,
    predict: str | None,
) -> ComparableRelease:
    """Read a release; its records are those of the original, in the same order."""
    adversary = study.adversary
    roles = {*adversary.quasi_identifiers, *stored.sensitive}
    table = read(
        stored.path,
        dialect=Dialect(**stored.dialect),
        types={name: ColumnType(kind) for name, kind in stored.types.items()},
        quasi_identifiers=adversary.quasi_identifiers,
        sensitive=stored.sensitive,
        facts=adversary.facts,
        also=[name for name in (stored.group, predict) if name is not None and name not in roles],
        name=name,
    )
    hierarchies: Mapping[str, Hierarchy] = {}
    if stored.group is None:
        encoding = study.datasets[0].dialect.encoding
        register = None if study.population is None else read_register(study)
        hierarchies = hierarchies_of(
            study.protection, original, encoding=encoding, population=register
        )
    dropped = table.records < original.records and study.protection.drop_suppressed
    if dropped:
        if stored.heights is None:
            raise DataError(
                "{name}: its suppressed records are left out of the file, and cannot be compared with the original; "
                "make it without `drop_suppressed`",
                name=name,
            )
        table = _with_dropped(table, original, stored.heights, hierarchies)
    if table.records != original.records:
        raise DataError(
            "{name}: the release has {records} records, its original {original}; run anonymise again",
            name=name,
            records=table.records,
            original=original.records,
        )
    if stored.shuffled and not dropped:
        table = table.of_records(np.argsort(release_order(original, seed=study.seed)))
    table = replace(
        table,
        missing_codes=original.missing_codes,
        missing_is_a_value=original.missing_is_a_value,
    )
    has_stars = stored.suppressed or dropped
    return ComparableRelease(
        name=name,
        release=table,
        suppressed=is_suppressed(table, stored.quasi_identifiers) if has_stars else None,
        dropped=dropped,
        group=stored.group,
        hierarchies=hierarchies,
        loss=stored.loss,
        detail_lost=stored.detail_lost,
        weights=survey_weights(study, original),
    )


def _with_dropped(
    table: EncodedTable,
    original: EncodedTable,
    heights: Mapping[str, int],
    hierarchies: Mapping[str, Hierarchy],
) -> EncodedTable:
    """Return all records of an original as they were released, in its order; those that are not in the file blank.

    Classes are suppressed whole: a record is in the file if what it is generalised to is.
    """
    columns: dict[str, EncodedColumn] = {}
    classes = np.zeros(original.records, np.int64)
    in_file = np.zeros(table.records, np.int64)
    for name, level in heights.items():
        column = original.column(name)
        if level:
            coded = hierarchies[name].coded(column, where=name)
            column = column.with_values(
                coded.labels[level][code] for code in coded.codes[level].tolist()
            )
        columns[name] = column
        place = {value: code for code, value in enumerate(column.values.to_pylist())}
        released = table.column(name)
        codes = np.array([place.get(value, len(place)) for value in released.values.to_pylist()])
        both = np.concatenate([classes, in_file]) * (len(place) + 1)
        both += np.concatenate([column.codes.astype(np.int64), codes[released.codes]])
        numbers = np.unique(both, return_inverse=True)[1]
        classes, in_file = numbers[: original.records], numbers[original.records :]
    hidden = ~np.isin(classes, in_file)
    if original.records - np.count_nonzero(hidden) != table.records:
        return table  # which is not what was made of the original
    for name, column in columns.items():
        values = [*column.values.to_pylist(), SUPPRESSED]
        codes = np.where(hidden, len(values) - 1, column.codes).astype(np.uint32)
        columns[name] = EncodedColumn(name, codes, pa.array(values, pa.large_string()))
    return replace(original, name=table.name, columns={**original.columns, **columns})


def _comparison(
    prepared: Prepared,
    releases: Sequence[ComparableRelease],
    study: CompareStudy,
    protection: AnonymiseStudy,
    covered: Coverage | None,
) -> Run[CompareStudy, Comparison]:
    table = prepared.table
    compared = partial(compare_release, table, fraction=study.fraction, predict=study.predict)
    hierarchies = releases[0].hierarchies
    original = compared(
        table, name="original", hierarchies=hierarchies, loss=0.0, weights=releases[0].weights
    )
    rows = tuple(compared(**vars(release)) for release in releases)
    digests = digests_of(protection)
    datasets = [{"name": name, "sha256": digest} for name, digest in digests.items()]
    described = {"releases": [release.name for release in rows], "datasets": datasets}
    provenance = replace(provenance_of(protection, digests), study="")
    comparison = Comparison(original, rows, protection.subject, prepared.steps)
    return Run(study, comparison, provenance=provenance, manifest=described, covered=covered)


def stored_runs(folders: Sequence[Path]) -> tuple[ComparedRun, ...]:
    """Return the runs in folders, each with a name of its own.

    Raises:
        DataError: A folder holds no run, or a damaged one.
        StudyError: A run is there twice.
    """
    places = [folder.resolve() for folder in folders]
    for place in places:
        if places.count(place) > 1:
            raise StudyError("“{name}” is there twice; name each run once", name=place.name)
    names = [place.name for place in places]
    labels = [
        name if names.count(name) == 1 else f"{place.parent.name}/{name}"
        for name, place in zip(names, places, strict=True)
    ]
    runs = list(map(_stored_run, folders, labels))
    titles = _titles([title for title, _ in runs], labels)
    return tuple(replace(run, name=title) for title, (_, run) in zip(titles, runs, strict=True))


def _titles(titles: Sequence[str | None], names: Sequence[str]) -> list[str]:
    """Return what runs are called: by their titles, where each has one of its own, else by their names."""
    titled = [title for title in titles if title]
    return titled if len(set(titled)) == len(names) else list(names)


def command_of(folder: Path) -> str:
    """Return the command that wrote a run folder.

    Raises:
        DataError: It is none, or a damaged one.
    """
    _check_run(folder)
    with _undamaged(folder, MANIFEST):
        return str(json_content(folder / MANIFEST)["command"])


def _stored_run(folder: Path, name: str) -> tuple[str | None, ComparedRun]:
    """Return the run of a folder with its title: its data, its main figures, and the units of its study."""
    _check_run(folder)
    with _undamaged(folder, STUDY):
        study = toml_content(folder / STUDY)
        adversary = study.get("adversary", {})
        gain = adversary.get("gain", {})
        asked = study.get("known") or adversary.get("quasi_identifiers", ())
    with _undamaged(folder, MANIFEST):
        manifest = json_content(folder / MANIFEST)
        return study.get("title"), ComparedRun(
            name=name,
            command=str(manifest["command"]),
            records=int(manifest["records"]),
            digests={dataset["name"]: dataset["sha256"] for dataset in manifest["datasets"]},
            summary={
                name: None if value is None or math.isnan(value) else value
                for name, value in manifest.get("summary", {}).items()
            },
            subject=str(study.get("subject", "person")),
            currency=study.get("currency") or gain.get("currency"),
            asked=tuple(sorted(map(str, asked))),
            person=tuple(map(str, study.get("person", ()))),
            measures=tuple(manifest.get("measures", ())) if manifest["command"] == ASSESSED else (),
        )


def _check_run(folder: Path) -> None:
    """Make sure that a folder is there, and that a run was written to it."""
    check_there(folder)
    if not (folder / MANIFEST).exists():
        raise DataError(
            "“{folder}” is a folder without a run; name folders that glasshouse wrote with `out`",
            folder=folder,
        )


@contextmanager
def _undamaged(folder: Path, name: str) -> Iterator[None]:
    """Say of a run that it is damaged where one of its files is missing or is not what was written."""
    try:
        yield
    except (
        *(OSError, pa.ArrowException, StudyError),
        *(ValueError, KeyError, TypeError, AttributeError, ArithmeticError),
    ):
        raise DataError(
            "“{folder}” is a damaged run: {name} is missing or cannot be read; run its study again",
            folder=folder,
            name=name,
        ) from None


def stored_assessment(folder: Path, run: ComparedRun) -> Assessment:
    """Return the assessment that a run of ``assess`` stored.

    Probabilities are stored as the doubles nearest to ratios of counts; these ratios are taken back where every record
    counts alike.

    Raises:
        DataError: The results are not there, or are those of parts (``--by``, ``--each``).
    """
    with _undamaged(folder, STUDY):
        study = load_question(folder / STUDY, AssessStudy)
        names = secrets_by_name(study.adversary)
    with _undamaged(folder, RESULTS):
        frame = pyarrow.parquet.read_table(folder / RESULTS)
    if "probabilistic_posterior" not in frame.column_names:
        raise DataError(
            "“{name}” is an assessment of parts (`by` or `each`), and others are of whole releases; compare runs of "
            "one kind",
            name=run.name,
        )
    with _undamaged(folder, RESULTS):
        attacks = [_attack(row, names) for row in frame.to_pylist()]
        if not attacks:
            raise ValueError("there is no attack")
    return Assessment(
        run.records,
        tuple(attacks),
        close=_stored_closeness(folder, study),
        inexact=_stored_knowledge(folder, study),
    )


def _stored_closeness(folder: Path, study: AssessStudy) -> tuple[Closeness, ...]:
    """Return how close guesses come, as a run stored it; nothing where it did not."""
    if not study.within or not (folder / CLOSE).exists():
        return ()
    with _undamaged(folder, CLOSE):
        sums = pyarrow.parquet.read_table(folder / CLOSE)
        return Closeness.from_sums(sums, study.adversary.knowable)


def _stored_knowledge(folder: Path, study: AssessStudy) -> InexactKnowledge | None:
    """Return what is learned without exact knowledge, as a run stored it; None where it did not."""
    if not (study.precisions or study.likely) or not (folder / INEXACT).exists():
        return None
    with _undamaged(folder, INEXACT):
        return InexactKnowledge.from_sums(
            pyarrow.parquet.read_table(folder / INEXACT),
            about=study.precisions,
            likely=study.likely,
            quasi_identifiers=study.adversary.knowable,
            secrets=secrets_by_name(study.adversary),
        )


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
