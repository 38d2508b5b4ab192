"""``assess`` on a cluster: the same question, the same integers, and the same run; the records stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from glasshouse.arrays import Integers
from glasshouse.engines.spark.session import spark_failures
from glasshouse.engines.spark.steps import (
    OnMoved,
    gathered,
    merged,
    sums_of_all_subsets,
    sums_of_whole_set,
    tasks_for,
    values_in,
    word_names,
)
from glasshouse.engines.spark.table import PackedRelease, SparkTable, pack
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, quoted, text
from glasshouse.microdata import Assessment, Sweep, sweep_kernel
from glasshouse.microdata.assessment import SIZE_BINS, SUCCESS_BINS, ClassSizes, Exposure
from glasshouse.microdata.attack_kernels import CONCEALED, REVEALED, best_guesses
from glasshouse.microdata.attacks import FEW_VALUES, attack_code
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.microdata.lattice import (
    MOST_ATTRIBUTES,
    RESULTS_LIMIT,
    check_budget,
    check_roles,
    joined_sweeps,
    largest_size,
    numbered_from,
    steps_of,
    sweep_of_sums,
)
from glasshouse.microdata.sweep_steps import Packing, refinement_order
from glasshouse.runs.advice import advise
from glasshouse.runs.assess import column_notes, person_notes
from glasshouse.runs.reading import first_looks, labels_of
from glasshouse.runs.run import Resources, Run
from glasshouse.study.assess import AssessStudy
from glasshouse.table import EncodedTable

LOCAL_ONLY = marked(
    "{option} is answered on one machine only, not on Spark; leave it out, or give the records as a file or a frame "
    "in memory"
)
"""What is said of what a cluster is not asked."""
FIRST_STEP, FIRST_ORDER = 500_000_000, 600_000_000
"""The steps of a sweep on Spark, and its orders of refinement, are kept under numbers from these on."""


def answer(
    study: AssessStudy,
    table: SparkTable,
    *,
    resources: Resources | None = None,
    in_files: bool = False,
    extras: Mapping[str, object] | None = None,
    on_moved: OnMoved | None = None,
) -> Run[AssessStudy, Assessment]:
    """Carry out a study of collective attacks where the records are.

    Args:
        study: What is asked.
        table: The records.
        resources: What there is to work with here; threads and memory are those of the cluster.
        in_files: Whether the records are in files that can be looked at from here, too.
        extras: What else is asked for, by option: all of it is refused.
        on_moved: Called with each step that is begun, and how many records are moved for it.

    Raises:
        DataError: The data is malformed or lacks a column, or Spark failed.
        StudyError: The question does not fit the data, or is not answered on Spark.
        BudgetError: It does not fit.
    """
    study.check_policy()
    refuse_local(study, extras or {})
    resources = resources or Resources()
    first, names = table.first, study.adversary.knowable
    secrets = study.adversary.secret_columns
    check_roles(first, names, secrets)
    if study.sweep:
        largest, width = (
            largest_size(study.sweep, len(names)),
            sweep_kernel.cell_width(len(secrets)),
        )
        check_budget(len(names), largest, width, RESULTS_LIMIT)
    looks = first_looks(study, () if in_files else [first])
    checkpoint = resources.checkpoint
    finished = checkpoint.start(resume=resources.resume) if checkpoint else {}
    with spark_failures():
        release = pack(table, study)
        by_secret = _by_secrets(release, secrets, first.name)
        sweeps = [
            _swept(part, of_part, study, first, place, resources, finished, on_moved)
            for place, (of_part, part) in enumerate(by_secret)
        ]
        swept = joined_sweeps(secrets, sweeps) if len(sweeps) > 1 else sweeps[0]
        attacks = list(swept.assessment().attacks)
        whole = attacks[-1 - len(secrets) :]
        exposures: list[Exposure] = []
        if whole[0].quasi_identifiers == names:
            exact: dict[str | None, dict[str, Any]] = {}
            for of_part, part in reversed(by_secret):
                measures, exposures = _whole_set(part, of_part, names)
                exact |= measures
            attacks[-len(whole) :] = [
                replace(attack, **exact[attack.sensitive]) for attack in whole
            ]
        outcome = Assessment(
            release.records,
            tuple(attacks),
            sweep=swept if study.sweep else None,
            steps=release.steps,
            suppressed=release.suppressed,
            exposures=tuple(exposures),
        )
        advice = advise(outcome, None, study, sizes_of=cache(partial(_class_sizes, release, names)))
        release.frame.unpersist()
    outcome = replace(outcome, advice=advice)
    return Run(
        study,
        outcome,
        warnings=(*person_notes(looks), *column_notes(outcome)),
        first_looks=looks,
        labels=labels_of(study, () if in_files else [first]),
    )


def refuse_local(study: AssessStudy, extras: Mapping[str, object]) -> None:
    """Say what is not answered on a cluster.

    Raises:
        StudyError: The study asks for it.
    """
    adversary = study.adversary
    asked_for: dict[str, object] = {
        **extras,
        "`each`": study.each,
        "`by`": study.by,
        "`link`": study.links,
        text("a release by Anatomy"): study.group,
        text("a collection of several datasets"): len(study.datasets) > 1,
        "`weight`": adversary.weight,
        "`advise`": study.advise,
        text("a gain, a prior or a joint secret"): not adversary.guesses_once,
        text("a list of subsets"): study.sweep is None and study.subsets != ("full",),
    }
    for option, value in asked_for.items():
        if value:
            raise StudyError(LOCAL_ONLY, option=option)


def _by_secrets(
    release: PackedRelease, secrets: Sequence[str], table: str
) -> list[tuple[tuple[str, ...], PackedRelease]]:
    """Return all records with the secrets that are known of all; then, for every other, those of which it is known.

    Raises:
        DataError: One is missing in all.
    """
    known = [place for place, code in enumerate(release.unknown) if code is None]
    releases = [(tuple(secrets[place] for place in known), _with_secrets(release, known))]
    for place, code in enumerate(release.unknown):
        if code is None:
            continue
        totals = release.totals[place].copy()
        records = release.records - int(totals[code])
        totals[code] = 0
        if not records:
            raise DataError(
                "{table}: {secret} is missing in all {records} records, so that there is nothing to infer; leave it "
                "out of the secrets, or say `missing_is_a_value` to count missing as one of its values",
                table=table,
                secret=quoted([secrets[place]]),
                records=release.records,
            )
        part = replace(
            _with_secrets(release, [place]),
            frame=release.of_known(place),
            records=records,
            totals=(totals,),
        )
        releases.append(((secrets[place],), part))
    return releases


def _with_secrets(release: PackedRelease, places: Sequence[int]) -> PackedRelease:
    packing = release.packing._replace(secrets=release.packing.secrets[list(places)])
    totals = tuple(release.totals[place] for place in places)
    return replace(release, packing=packing, totals=totals)


def _swept(
    release: PackedRelease,
    secrets: tuple[str, ...],
    study: AssessStudy,
    first: EncodedTable,
    place: int,
    resources: Resources,
    finished: Mapping[int, Integers],
    on_moved: OnMoved | None,
) -> Sweep:
    """Sweep the records for some secrets; the whole set alone where no more is asked for."""
    names = study.adversary.knowable
    if study.sweep is None:
        masks, sums = sums_of_whole_set(release.frame, release.records, release.packing)
    else:
        save = resources.checkpoint.save if resources.checkpoint else None
        order = finished.get(FIRST_ORDER + place)
        if order is None:
            order = np.array(refinement_order(release.sample(names), names))
            if save:
                save(FIRST_ORDER + place, order)
        number = FIRST_STEP + place * MOST_ATTRIBUTES
        masks, sums = sums_of_all_subsets(
            release.frame,
            release.records,
            release.packing,
            order.tolist(),
            largest=largest_size(study.sweep, len(names)),
            on_progress=resources.on_progress,
            finished=steps_of(finished, number, MOST_ATTRIBUTES),
            on_step=numbered_from(number, save),
            on_moved=on_moved,
        )
    return sweep_of_sums(
        masks,
        sums,
        datasets=first.datasets,
        codes=(attack_code(first, ()), attack_code(first, secrets or names)),
        records=release.records,
        quasi_identifiers=names,
        sensitive=secrets,
        likeliest=[int(totals.max()) for totals in release.totals],
    )


def _whole_set(
    release: PackedRelease, secrets: Sequence[str], names: Sequence[str]
) -> tuple[dict[str | None, dict[str, Any]], list[Exposure]]:
    """Return what a sweep does not compute of the whole set: the smallest class, capacities, and who can be named."""
    packing = release.packing
    few = [
        place
        for place, (counts, values) in enumerate(zip(release.tallies, release.values, strict=True))
        if values is not None and 1 < np.count_nonzero(counts) <= FEW_VALUES
    ]
    records = merged(release.frame, packing, range(len(packing.attributes)))
    bits = sweep_kernel.bits_of(packing.attributes, packing.words).view(np.int64)
    keys = [
        sf.col(name).bitwiseAND(sf.lit(int(word)))
        for name, word in zip(word_names(packing), bits, strict=True)
    ]
    rows = (
        records.repartition(tasks_for(records, release.records), *keys)
        .mapInArrow(
            partial(_classes, packing=packing, totals=release.totals, few=few),
            "least long, counts binary",
        )
        .collect()
    )
    counts = np.sum([np.frombuffer(row["counts"], np.int64) for row in rows], axis=0)
    bins = len(SIZE_BINS)
    sizes = ClassSizes(
        tuple(counts[:bins].tolist()),
        tuple(counts[bins : 2 * bins].tolist()),
        min(row["least"] for row in rows),
    )
    classes = sum(sizes.classes)
    exact: dict[str | None, dict[str, Any]] = {
        None: {
            "class_sizes": sizes,
            "capacity": Fraction(classes),
            "additive_capacity": Fraction(int(classes > 1)),
        }
    }
    start = 2 * bins
    for secret, totals in zip(secrets, release.totals, strict=True):
        picked = counts[start : start + 2 * len(totals)].reshape(2, -1).tolist()
        start += 2 * len(totals)
        exact[secret] = {
            "class_sizes": sizes,
            "capacity": sum_of_ratios(picked[0], totals.tolist()),
            "additive_capacity": 1 - sum_of_ratios(picked[1], totals.tolist()),
        }
    exposures = []
    for place in few:
        tally, values = release.tallies[place], release.values[place]
        named, start = counts[start : start + len(tally)], start + len(tally)
        there = np.flatnonzero(tally)
        exposures.append(
            Exposure(
                names[place],
                tuple(values.take(pa.array(there)).to_pylist()),
                tuple(tally[there].tolist()),
                tuple(named[there].tolist()),
            )
        )
    return exact, exposures


def _classes(
    batches: Iterator[pa.RecordBatch],
    *,
    packing: Packing,
    totals: Sequence[Integers],
    few: Sequence[int],
) -> Iterator[pa.RecordBatch]:
    """Count the classes of the whole set, pick what each reveals of the secrets, and count those who are alone."""
    records, counts = gathered(batches, packing.words)
    if not len(counts):
        return
    keys = records.reshape(-1, packing.words) & sweep_kernel.bits_of(
        packing.attributes, packing.words
    )
    _, numbers = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(numbers, kind="stable").astype(np.uint32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(numbers))])
    sizes = np.add.reduceat(counts[order], starts[:-1])
    by_size = ClassSizes.of(sizes)
    content = [np.array(by_size.classes), np.array(by_size.records)]
    for secret, of_values in zip(packing.secrets, totals, strict=True):
        codes = values_in(records, packing.words, secret)
        inverse = np.zeros(len(of_values))
        np.divide(1, of_values, out=inverse, where=of_values > 0)
        picked = np.zeros((4, len(of_values)), np.int64)
        best_guesses(
            order,
            starts,
            codes,
            counts,
            np.ones(len(of_values), np.int64),
            0,
            inverse,
            np.count_nonzero(inverse),
            np.zeros(SUCCESS_BINS, np.int64),
            picked,
            np.zeros((2, len(of_values)), np.int64),
        )
        content += [picked[REVEALED], picked[CONCEALED]]
    alone = records.reshape(-1, packing.words)[sizes[numbers] == 1].ravel()
    for field in packing.attributes[list(few)]:
        codes = values_in(alone, packing.words, field)
        content.append(np.bincount(codes, minlength=int(field["size"])))
    yield pa.record_batch(
        [
            pa.array([int(sizes.min())], pa.int64()),
            pa.array([np.concatenate(content).astype(np.int64).tobytes()], pa.binary()),
        ],
        names=["least", "counts"],
    )


def _class_sizes(
    release: PackedRelease, names: Sequence[str], known: tuple[str, ...]
) -> ClassSizes:
    """Return the sizes of the classes of some attributes, exactly."""
    packing = release.packing._replace(secrets=release.packing.secrets[:0])
    sizes = (
        merged(release.frame, packing, [names.index(name) for name in known])
        .groupBy("n")
        .count()
        .collect()
    )
    return ClassSizes.of(np.repeat([row["n"] for row in sizes], [row["count"] for row in sizes]))
