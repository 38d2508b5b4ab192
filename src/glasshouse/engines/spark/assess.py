"""``assess`` on a cluster: the same question, the same integers, and the same run; the records stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import log2
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from glasshouse.arrays import Integers
from glasshouse.engines.spark.collection import pack_collection
from glasshouse.engines.spark.packed import PackedRelease
from glasshouse.engines.spark.session import spark_failures
from glasshouse.engines.spark.steps import (
    OnMoved,
    gathered,
    merged,
    sums_of_all_subsets,
    sums_of_whole_set,
    tasks_for,
    value_of,
    values_in,
    word_names,
)
from glasshouse.engines.spark.table import SparkTable, look, pack
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, quoted, text
from glasshouse.measures.first_look import FirstLook
from glasshouse.microdata import Assessment, Attack, Family, Sweep, sweep_kernel
from glasshouse.microdata.attack_kernels import CONCEALED, REVEALED, Weights, best_guesses
from glasshouse.microdata.attacks import FEW_VALUES, Aim, Exposure, attack_code
from glasshouse.microdata.gains import secret_of_totals, sum_of_ratios
from glasshouse.microdata.game_kernel import Aims
from glasshouse.microdata.lattice import (
    MOST_ATTRIBUTES,
    RESULTS_LIMIT,
    Games,
    check_budget,
    check_roles,
    joined_sweeps,
    largest_size,
    numbered_from,
    steps_of,
    sweep_of_attacks,
    sweep_of_sums,
)
from glasshouse.microdata.leakage import SIZE_BINS, SUCCESS_BINS, ClassSizes
from glasshouse.microdata.parts import entropy, family_part
from glasshouse.microdata.sweep_steps import Packing
from glasshouse.progress import Progress
from glasshouse.runs.advice import advise
from glasshouse.runs.assess import known_of_each, refuse_in_parts
from glasshouse.runs.reading import strangers
from glasshouse.runs.run import Resources, Run
from glasshouse.study.assess import AssessStudy
from glasshouse.table import Collection, EncodedTable
from glasshouse.table.treatment import SUPPRESSED_RECORD

LOCAL_ONLY = marked(
    "{option} is answered on one machine only, not on Spark; leave it out, or give the records as a file or a frame "
    "in memory"
)
"""What is said of what a cluster is not asked."""
OfSecrets = tuple[tuple[str, ...], PackedRelease]
"""Some secrets, and the records of which they are known."""
FIRST_STEP, FIRST_ORDER = 500_000_000, 600_000_000
"""The steps of a sweep on Spark, and its orders of refinement, are kept under numbers from these on."""


def answer(
    study: AssessStudy,
    tables: Sequence[SparkTable],
    *,
    resources: Resources | None = None,
    looks: tuple[FirstLook, ...] | None = None,
    per_record: bool = False,
    extras: Mapping[str, object] | None = None,
    on_moved: OnMoved | None = None,
) -> Run[AssessStudy, Any]:
    """Carry out a study of collective attacks where the records are.

    Args:
        study: What is asked.
        tables: The records; of a collection, those of the focal dataset first.
        resources: What there is to work with here; threads and memory are those of the cluster.
        looks: What a first look at the files told; by default one at the columns that matter.
        per_record: Whether each record's risk is wanted, too: a frame of Spark, which stays there as well.
        extras: What else is asked for, by option: all of it is refused.
        on_moved: Called with each step that is begun, and how many records are moved for it.

    Raises:
        DataError: The data is malformed or lacks a column, or Spark failed.
        StudyError: The question does not fit the data, or is not answered on Spark.
        BudgetError: It does not fit.
    """
    study.check_policy()
    refuse_local(study, extras or {})
    notes: tuple[str, ...] = ()
    if (study.sweep or "").startswith("within"):
        study = study.model_copy(update={"subsets": ("full",)})
        notes = (
            text(
                "note: how many sets fit a time is reckoned for one machine; on Spark the whole set is assessed, and "
                "`subsets` max:K asks for more"
            ),
        )
    resources = resources or Resources()
    names, secrets = study.adversary.knowable, study.adversary.secret_columns
    firsts = [table.first for table in tables]
    known = known_of_each(study) if per_record else ()
    if study.by is not None:
        refuse_in_parts({"`per_record`": per_record, "`resume`": resources.resume})
    if len(tables) > 1:
        refuse_local(study, {text("`per_record` of a collection"): per_record})
    else:
        check_roles(firsts[0], names, secrets)
    if study.sweep:
        width = sweep_kernel.cell_width(len(secrets))
        check_budget(len(names), largest_size(study.sweep, len(names), 0), width, RESULTS_LIMIT)
    collection, risks = None, None
    outcome: Assessment | Family
    with spark_failures():
        if looks is None:
            seen = [look(table, study, table.frame.columns) for table in tables]
            looks = tuple(replace(one, repeated=0) for one in seen)
        if len(tables) > 1:
            windows, collection = pack_collection(tables, study)
            notes = (*notes, *strangers(collection))
        else:
            windows = [pack(tables[0], study, with_texts=per_record)]
        if study.by is not None:
            whole = _attacked_as_a_whole(tables[0], study, on_moved)
            outcome = replace(_family(windows[0], study, firsts[0], resources), whole={"": whole})
        else:
            outcome = _assessment(windows, study, firsts[0], collection, resources, on_moved, looks)
        if per_record:
            risks = _record_risks(windows[0], study, known)
        for release in windows:
            release.let_go()
    if any(step.what == SUPPRESSED_RECORD for step in outcome.steps):
        treatment = study.treatment.model_copy(update={"drop_suppressed": False})
        kept = study.model_copy(update={"treatment": treatment})
        beside = answer(kept, tables, looks=looks, on_moved=on_moved).outcome
        outcome = replace(outcome, with_suppressed=beside)
    return Run(
        study,
        outcome,
        per_record=risks,
        warnings=notes if study.by is None else (),
        first_looks=looks,
    )


def _assessment(
    windows: Sequence[PackedRelease],
    study: AssessStudy,
    first: EncodedTable,
    collection: Collection | None,
    resources: Resources,
    on_moved: OnMoved | None,
    looks: Sequence[FirstLook],
) -> Assessment:
    """Attack each window with every subset asked for, and measure the whole set exactly."""
    names, secrets = study.adversary.knowable, study.adversary.secret_columns
    checkpoint = resources.checkpoint
    finished = checkpoint.start(resume=resources.resume) if checkpoint else {}
    attacks: list[Attack] = []
    exposures: list[Exposure] = []
    for window, release in enumerate(windows):
        seen = first if collection is None else collection.window(window + 1)
        number = window * (1 + len(secrets))
        of_window, swept, exposures = _attacks(
            release, study, seen, resources, finished, on_moved, number
        )
        attacks += of_window
    last = windows[-1]
    outcome = Assessment(
        last.records,
        tuple(attacks),
        sweep=swept if study.sweep else None,
        steps=last.steps if collection is None else collection.steps,
        members=() if collection is None else collection.members,
        suppressed=windows[0].suppressed,
        exposures=tuple(exposures),
    )
    sizes_of = cache(partial(_class_sizes, last, names))
    return replace(outcome, advice=advise(outcome, None, study, sizes_of=sizes_of, looks=looks))


def _attacks(
    release: PackedRelease,
    study: AssessStudy,
    seen: EncodedTable,
    resources: Resources,
    finished: Mapping[int, Integers],
    on_moved: OnMoved | None,
    number: int,
) -> tuple[list[Attack], Sweep, list[Exposure]]:
    """Attack a release with every subset asked for, and measure the whole set exactly."""
    secrets = study.adversary.secret_columns
    exposures: list[Exposure] = []
    by_secret = _by_secrets(release, secrets)
    swept = _swept(by_secret, study, seen, resources, finished, on_moved, number)
    attacks = list(swept.attacks())
    whole = attacks[-1 - len(secrets) :]
    if whole[0].quasi_identifiers == study.adversary.knowable:
        exact: dict[str | None, dict[str, Any]] = {}
        for of_part, part in reversed(by_secret):
            measures, exposures = _whole_set(part, of_part)
            exact |= measures
        attacks[-len(whole) :] = [replace(one, **exact[one.sensitive]) for one in whole]
    return attacks, swept, exposures


def _attacked_as_a_whole(
    table: SparkTable, study: AssessStudy, on_moved: OnMoved | None
) -> tuple[Attack, ...]:
    """Attack a release with all that can be known, and with the part, of whose parts a study asks."""
    adversary = study.adversary
    known = adversary.quasi_identifiers
    if study.by is not None and study.by not in {*adversary.knowable, *adversary.secret_columns}:
        known = (*known, study.by)
    content = {
        "adversary": adversary.model_copy(update={"quasi_identifiers": known}),
        "by": None,
        "subsets": ("full",),
    }
    whole = study.model_copy(update=content)
    release = pack(table, whole)
    attacks, *_ = _attacks(release, whole, table.first, Resources(), {}, on_moved, 0)
    release.let_go()
    return tuple(attacks)


def _family(
    release: PackedRelease, study: AssessStudy, first: EncodedTable, resources: Resources
) -> Family:
    """Assess the parts of a release one by one."""
    secrets = study.adversary.secret_columns
    parts = []
    for value, code, records in release.parts:
        part = release.part(value, code, records)
        by_secret = _by_secrets(part, secrets)
        swept = _swept(by_secret, study, replace(first, name=part.name), Resources())
        entropies: dict[str | None, float] = {None: log2(records)}
        for of_part, known in by_secret:
            totals = zip(of_part, known.totals, strict=True)
            entropies |= {secret: entropy(counts) for secret, counts in totals}
        in_order = {secret: entropies[secret] for secret in (None, *secrets)}
        parts.append(family_part(value, swept, in_order))
        if resources.on_progress:
            share = sum(one.records for one in parts) / release.records
            resources.on_progress(Progress("sweeping", share, 1.0, note=value))
    return Family(
        first.quasi_identifiers,
        first.sensitive,
        ordered=False,
        parts=tuple(parts),
        by=study.by,
        steps=release.steps,
    )


def _record_risks(release: PackedRelease, study: AssessStudy, known: Sequence[str]) -> DataFrame:
    """Return every record as it is written, with its risks: the columns of `microdata.RecordRisks`."""
    packing, names = release.packing, study.adversary.knowable
    attributes = packing.attributes[[names.index(name) for name in known]]
    bits = sweep_kernel.bits_of(attributes, packing.words).view(np.int64)
    keys = [f"k{word}" for word in range(packing.words)]
    records = release.texts
    texts = [sf.col(f"c{place}").alias(name) for place, name in enumerate(release.sources)]
    for key, name, mask in zip(keys, word_names(packing), bits, strict=True):
        records = records.withColumn(key, sf.col(name).bitwiseAND(sf.lit(int(mask))))
    sizes = records.groupBy(*keys).agg(sf.count(sf.lit(1)).alias("size"))
    risks = records.join(sizes, keys)
    columns = [sf.col("size"), (1 / sf.col("size")).alias("reidentification")]
    for place, secret in enumerate(study.adversary.secret_columns):
        value, unknown = value_of(packing.secrets[place]), release.unknown[place]
        is_known = sf.lit(value=True) if unknown is None else value != unknown
        most, among = f"most{place}", f"known{place}"
        guesses = (
            records.where(is_known)
            .groupBy(*keys, value.alias("value"))
            .agg(sf.count(sf.lit(1)).alias("n"))
            .groupBy(*keys)
            .agg(sf.max("n").alias(most), sf.sum("n").alias(among))
        )
        risks = risks.join(guesses, keys, "left")
        success = sf.when(is_known, sf.col(most) / sf.col(among))
        certain = sf.when(is_known, sf.col(most) == sf.col(among))
        columns += [success.alias(f"{secret}: success"), certain.alias(f"{secret}: certain")]
    return risks.select(*texts, *columns)


def refuse_local(study: AssessStudy, extras: Mapping[str, object]) -> None:
    """Say what is not answered on a cluster.

    Raises:
        StudyError: The study asks for it.
    """
    adversary = study.adversary
    asked_for: dict[str, object] = {
        **extras,
        "`each`": study.each,
        "`link`": study.links,
        "`person`": study.person,
        "`within`": study.within,
        "`adversary`": study.adversaries,
        "`about`": study.precisions,
        "`likely`": study.likely,
        "`weight`": study.weight,
        "`missing_as`": study.missing_as != "value",
        "`household`": study.household,
        "`noise`": study.noises,
        "`suda`": study.suda,
        text("a release by Anatomy"): study.group,
        text("`by` with `prior_weight`"): study.by and adversary.prior_weight,
        text("`by` of several datasets"): study.by and len(study.datasets) > 1,
        "`advise`": study.advise,
        text("a gain, a prior or a joint secret"): not adversary.guesses_once,
        text("a list of subsets"): study.sweep is None and study.subsets != ("full",),
    }
    for option, value in asked_for.items():
        if value:
            raise StudyError(LOCAL_ONLY, option=option)


def _by_secrets(release: PackedRelease, secrets: Sequence[str]) -> list[OfSecrets]:
    """Return all records with the secrets that are known of all; then, for every other, those of which it is known.

    Raises:
        DataError: One is missing in all.
    """
    known = [place for place, code in enumerate(release.unknown) if code is None]
    releases = [(tuple(secrets[place] for place in known), release.with_secrets(known).weighed())]
    for place, code in enumerate(release.unknown):
        if code is None:
            continue
        part = release.of_known(place)
        if not part.records:
            raise DataError(
                "{table}: {secret} is missing in all {records} records, so that there is nothing to infer; leave it "
                "out of the secrets, or say `missing_is_a_value` to count missing as one of its values",
                table=release.name,
                secret=quoted([secrets[place]]),
                records=release.records,
            )
        releases.append(((secrets[place],), part.weighed()))
    return releases


def _swept(
    by_secret: Sequence[OfSecrets],
    study: AssessStudy,
    first: EncodedTable,
    resources: Resources,
    finished: Mapping[int, Integers] | None = None,
    on_moved: OnMoved | None = None,
    start: int = 0,
) -> Sweep:
    """Sweep the records for all secrets; with the whole set alone where no more is asked for."""
    names = study.adversary.knowable
    codes = (attack_code(first, ()), attack_code(first, study.adversary.secret_columns or names))
    sweeps = []
    for place, (secrets, release) in enumerate(by_secret, start=start):
        games, targets, aims = _games(release, secrets, first)
        if study.sweep is None:
            masks, sums = sums_of_whole_set(release.frame, release.records, release.packing, aims)
        else:
            save = resources.checkpoint.save if resources.checkpoint else None
            order = (finished or {}).get(FIRST_ORDER + place)
            if order is None:
                order = np.array(release.order(names))
                if save:
                    save(FIRST_ORDER + place, order)
            number = FIRST_STEP + place * MOST_ATTRIBUTES
            masks, sums = sums_of_all_subsets(
                release.frame,
                release.records,
                release.packing,
                order.tolist(),
                largest=largest_size(study.sweep, len(names), 0),
                on_progress=resources.on_progress,
                finished=steps_of(finished or {}, number, MOST_ATTRIBUTES),
                on_step=numbered_from(number, save),
                on_moved=on_moved,
                aims=aims,
            )
        if release.weights is not None:
            sets = [tuple(name for i, name in enumerate(names) if mask >> i & 1) for mask in masks]
            rows = list(zip(*(games.attacks(aim, sets, sums) for aim in targets), strict=True))
            sweeps.append(
                sweep_of_attacks(names, secrets, masks, rows, codes=codes, weights=release.weights)
            )
            continue
        sweeps.append(
            sweep_of_sums(
                masks,
                sums,
                datasets=first.datasets,
                codes=codes,
                records=release.records,
                quasi_identifiers=names,
                sensitive=secrets,
                likeliest=[int(totals.max()) for totals in release.totals],
            )
        )
    every = study.adversary.secret_columns
    return joined_sweeps(every, sweeps) if len(sweeps) > 1 else sweeps[0]


def _games(
    release: PackedRelease, secrets: Sequence[str], first: EncodedTable
) -> tuple[Any, list[Aim], Aims | None]:
    """Return what is added up where records have weights, and of which attacks that tells."""
    if release.weights is None:
        return None, [], None
    table = replace(first, records=release.records)
    targets = [Aim((), None, None)]
    for name, totals in zip(secrets, release.totals, strict=True):
        secret = secret_of_totals(table, (name,), release.weights, totals)
        targets.append(Aim((name,), secret, None))
    games = Games(table, targets, release.weights)
    aims = games.aims(release.packing.secrets)
    return games, targets, aims._replace(weights=release.weights.each)


def _whole_set(
    release: PackedRelease, secrets: Sequence[str]
) -> tuple[dict[str | None, dict[str, Any]], list[Exposure]]:
    """Return what a sweep does not compute of the whole set: the smallest class, capacities, and who can be named."""
    packing = release.packing
    few = [
        place
        for place, (counts, values) in enumerate(zip(release.tallies, release.values, strict=True))
        if release.weights is None
        and values is not None
        and 1 < np.count_nonzero(release.by_first(place, counts)) <= FEW_VALUES
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
            partial(
                _classes, packing=packing, totals=release.totals, few=few, weights=release.weights
            ),
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
        size = len(release.tallies[place])
        named, start = counts[start : start + size], start + size
        tally = release.by_first(place, release.tallies[place])
        there = np.flatnonzero(tally)
        column, values = release.values[place]
        exposures.append(
            Exposure(
                column,
                tuple(value or "" for value in values.take(pa.array(there)).to_pylist()),
                tuple(tally[there].tolist()),
                tuple(release.by_first(place, named)[there].tolist()),
            )
        )
    return exact, exposures


def _classes(
    batches: Iterator[pa.RecordBatch],
    *,
    packing: Packing,
    totals: Sequence[Integers],
    few: Sequence[int],
    weights: Weights | None,
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
    if weights is not None:
        counts = counts * weights.each[values_in(records, packing.words, packing.secrets[-1])]
    for secret, of_values in zip(packing.secrets, totals, strict=False):
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
