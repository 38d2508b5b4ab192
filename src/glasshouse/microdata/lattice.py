"""Every subset of the quasi-identifiers, exactly: which combinations of attributes expose how many people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.errors import BudgetError, StudyError
from glasshouse.microdata import sweep_kernel, sweep_steps
from glasshouse.microdata.assessment import SIZE_BINS, SIZE_LABELS, SUCCESS_BINS, Attack, Sweep
from glasshouse.microdata.attack_kernels import record_weights
from glasshouse.microdata.attacks import assess, attack_code
from glasshouse.microdata.sweep_steps import OnStep, number_of_subsets
from glasshouse.progress import OnProgress, Progress
from glasshouse.table import EncodedTable
from glasshouse.table.generalised import without_suppressed
from glasshouse.table.partition import with_facts_joined

MOST_ATTRIBUTES = 24
"""A sweep takes at most so many quasi-identifiers."""
RESULTS_LIMIT = 8 << 30
"""What the results may take where no memory is given."""


def sweep(
    table: EncodedTable,
    *,
    subsets: str | Sequence[Sequence[str]] = "all",
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    threads: int | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
    finished: Mapping[int, Integers] | None = None,
    on_step: OnStep | None = None,
    drop_suppressed: bool = True,
) -> Sweep:
    """Attack all records of a table with every subset of the quasi-identifiers.

    Secrets that are missing in some records are swept apart, without these: what is missing is not learned.

    Args:
        table: The release.
        subsets: ``"all"``, ``"max:K"`` (at most K attributes), or a list of subsets. A list, and a table with record
            weights, is answered subset by subset: as exact, but slower.
        quasi_identifiers: The attributes; by default the table's quasi-identifiers.
        sensitive: The secrets; by default the table's sensitive attributes.
        threads: How many threads share the work; by default all processors. The outcome is the same for any number.
        memory: How many bytes the whole process may take; records that do not fit are kept on disk meanwhile.
        on_progress: Called now and then with how far it is.
        finished: Steps that an earlier, interrupted sweep of the same table has finished, by number.
        on_step: Called with the number and the rows of each step that is finished, for ``finished`` later.
        drop_suppressed: Whether records that hold ``*`` in every quasi-identifier, beside others that do not, are left
            out: they are suppressed, and in no class.

    Raises:
        StudyError: The quasi-identifiers or the subsets make no sense.
        BudgetError: There are more subsets than the memory holds; it says which ``max:K`` fits.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [20, 30, 30], "sex": ["F", "F", "M"], "ill": ["a", "b", "b"]})
    >>> table = read(people, quasi_identifiers=["age", "sex"], sensitive=["ill"])
    >>> sweep(table).to_frame().select(["quasi_identifiers", "classes", "uniques", "ill: most"]).to_pylist()[-1]
    {'quasi_identifiers': ['age', 'sex'], 'classes': 3, 'uniques': 3, 'ill: most': 3}
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    secrets = tuple(table.sensitive if sensitive is None else sensitive)
    _check_roles(table, names, secrets)
    table = without_suppressed(table, names) if drop_suppressed else table
    groups = table.alike_known([(), *((name,) for name in secrets)])
    if len(groups) > 1:
        return _joined(
            secrets,
            [
                sweep(
                    table.with_known(group[0]),
                    subsets=subsets,
                    quasi_identifiers=names,
                    sensitive=[name for secret in group for name in secret],
                    threads=threads,
                    memory=memory,
                    on_progress=share_of(on_progress, place, len(groups)),
                    finished=steps_of(finished or {}, place * MOST_ATTRIBUTES, MOST_ATTRIBUTES),
                    on_step=numbered_from(place * MOST_ATTRIBUTES, on_step),
                    drop_suppressed=False,
                )
                for place, group in enumerate(groups)
            ],
        )
    if not isinstance(subsets, str):
        return _sweep_each(table, names, secrets, _listed(names, subsets), on_progress)
    largest = largest_size(subsets, len(names))
    _check_budget(len(names), largest, len(secrets), memory or RESULTS_LIMIT)
    if table.weight is not None:
        everything = sweep_steps.subset_masks(len(names), largest).tolist()
        return _sweep_each(table, names, secrets, everything, on_progress)
    table = with_facts_joined(table, names)
    masks, sums = sweep_steps.sums_of_all_subsets(
        table,
        quasi_identifiers=names,
        sensitive=secrets,
        largest=largest,
        threads=threads or sweep_steps.available_threads(),
        memory=memory,
        on_progress=on_progress,
        finished=finished,
        on_step=on_step,
    )
    first_bins = sums[:, : sweep_kernel.COUNTED_BINS] * np.array(
        SIZE_BINS[: sweep_kernel.COUNTED_BINS]
    )
    counted = sums[:, sweep_kernel.RECORDS : sweep_kernel.SECRETS]
    secret_sums = sums[
        :, sweep_kernel.SECRETS : sweep_kernel.SECRETS + sweep_kernel.PER_SECRET * len(secrets)
    ]
    secret_sums = secret_sums.reshape(len(sums), len(secrets), sweep_kernel.PER_SECRET)
    certain = secret_sums[:, :, sweep_kernel.CERTAIN]
    classes = sums[:, : len(SIZE_LABELS)]
    return Sweep(
        datasets=table.datasets,
        codes=_codes(table),
        records=table.records,
        quasi_identifiers=names,
        sensitive=secrets,
        total=table.records,
        heaviest=1,
        likeliest=tuple(int(table.column(name).tally.max()) for name in secrets),
        masks=masks,
        classes=classes,
        class_records=np.concatenate([first_bins, counted], axis=1),
        named=classes.sum(axis=1),
        alone=classes[:, 0],
        exposed=classes[:, 0],
        most=secret_sums[:, :, sweep_kernel.MOST] + certain,
        sure=certain,
        success=np.concatenate(
            [secret_sums[:, :, sweep_kernel.SHARES :], certain[:, :, None]], axis=2
        ),
    )


def _joined(secrets: tuple[str, ...], parts: Sequence[Sweep]) -> Sweep:
    """Join the sweep of all records with those of the records of which some secrets are known."""
    whole = parts[0]
    sums = {name: (part, s) for part in parts for s, name in enumerate(part.sensitive)}
    columns = [sums[name] for name in secrets]
    return replace(
        whole,
        sensitive=secrets,
        likeliest=tuple(part.likeliest[s] for part, s in columns),
        most=np.stack([part.most[:, s] for part, s in columns], axis=1),
        sure=np.stack([part.sure[:, s] for part, s in columns], axis=1),
        success=np.stack([part.success[:, s] for part, s in columns], axis=1),
        known={name: part for name, (part, _) in sums.items() if part is not whole},
    )


def share_of(on_progress: OnProgress | None, place: int, sweeps: int) -> OnProgress | None:
    """Return a listener to the progress of one of several sweeps, which tells that of all."""
    if on_progress is None:
        return None
    return lambda now: on_progress(
        replace(now, done=(place + (now.share or 0.0)) / sweeps, total=1.0)
    )


def steps_of(finished: Mapping[int, Integers], first: int, room: int) -> dict[int, Integers]:
    """Return the finished steps of one of several sweeps: those with so many numbers from a first one on."""
    return {step - first: rows for step, rows in finished.items() if first <= step < first + room}


def numbered_from(first: int, on_step: OnStep | None) -> OnStep | None:
    """Return what is called with the steps of one of several sweeps, whose numbers begin with a first one."""
    return None if on_step is None else lambda step, rows: on_step(first + step, rows)


def _codes(table: EncodedTable) -> tuple[str, str]:
    return attack_code(table, ()), attack_code(table, ("secret",))


def largest_size(subsets: str, attributes: int) -> int:
    """Return the largest size of the subsets that ``all`` or ``max:K`` asks for.

    Raises:
        StudyError: It is neither.

    >>> largest_size("all", 11), largest_size("max:3", 11), largest_size("max:30", 11)
    (11, 3, 11)
    """
    if subsets == "all":
        return attributes
    kind, _, number = subsets.partition(":")
    if kind != "max" or not number.isdecimal() or int(number) < 1:
        raise StudyError(
            'subsets "{subsets}" are neither all, nor max:K with a number K from 1 on',
            subsets=subsets,
        )
    return min(int(number), attributes)


def _check_roles(table: EncodedTable, names: Sequence[str], secrets: Sequence[str]) -> None:
    if not names:
        raise StudyError("a sweep needs at least one quasi-identifier")
    for name in names:
        table.columns_of(name)
    for name in secrets:
        table.column(name)
    for name in names:
        if name in secrets:
            raise StudyError(
                'column "{name}" is both quasi-identifier and sensitive; choose one', name=name
            )
        if name == table.identifier:
            raise StudyError(
                'column "{name}" is the identifier; it cannot be a quasi-identifier too',
                name=name,
            )
    if len(set(names)) < len(names) or len(set(secrets)) < len(secrets):
        raise StudyError("a column is given twice; name each once")


def _check_budget(attributes: int, largest: int, secrets: int, memory: int) -> None:
    row = 8 * sweep_kernel.cell_width(secrets)
    subsets = number_of_subsets(attributes, largest)
    if attributes <= MOST_ATTRIBUTES and 3 * subsets * row <= memory:
        return
    if attributes > MOST_ATTRIBUTES:
        raise BudgetError(
            "{attributes} quasi-identifiers have {subsets} subsets; a sweep takes at most {most} "
            "quasi-identifiers: leave some out",
            attributes=str(attributes),
            subsets=subsets,
            most=MOST_ATTRIBUTES,
        )
    fits = max(
        (k for k in range(1, largest) if 3 * number_of_subsets(attributes, k) * row <= memory),
        default=0,
    )
    if fits:
        raise BudgetError(
            "{attributes} quasi-identifiers have {subsets} subsets; their results do not fit {memory} MiB of "
            "memory: max:{fits} fits",
            attributes=attributes,
            subsets=subsets,
            memory=memory >> 20,
            fits=fits,
        )
    raise BudgetError(
        "{attributes} quasi-identifiers have {subsets} subsets; their results do not fit {memory} MiB of "
        "memory: give it more",
        attributes=attributes,
        subsets=subsets,
        memory=memory >> 20,
    )


def _listed(names: tuple[str, ...], subsets: Sequence[Sequence[str]]) -> list[int]:
    """Return the masks of chosen subsets, by size, then in the order of the attributes; each once."""
    chosen = {_mask(names, subset) for subset in subsets}
    if not chosen:
        raise StudyError("there is nothing to sweep: give at least one subset")
    return sorted(chosen, key=lambda mask: (mask.bit_count(), _positions(mask, len(names))))


def _sweep_each(
    table: EncodedTable,
    names: tuple[str, ...],
    secrets: tuple[str, ...],
    masks: Sequence[int],
    on_progress: OnProgress | None,
) -> Sweep:
    """Answer subsets one by one: for a few of them, or where records weigh differently."""
    weights = record_weights(table, table.weight)
    rows: list[tuple[Attack, ...]] = []
    for done, mask in enumerate(masks, start=1):
        known = tuple(name for i, name in enumerate(names) if (mask >> i) & 1)
        outcome = assess(table, subsets=[known], sensitive=secrets, drop_suppressed=False)
        rows.append(outcome.attacks)
        if on_progress:
            visits = {"visits": done * table.records}
            on_progress(Progress("sweeping", done / len(masks), 1.0, figures=visits))

    def weight(probability: Fraction) -> int:
        return int(probability * weights.total)

    naming = [row[0] for row in rows]
    shape = (len(rows), len(secrets))
    success = [[attack.success for attack in row[1:]] for row in rows]
    most = [[weight(attack.probabilistic.posterior) for attack in row[1:]] for row in rows]
    sure = [[weight(attack.deterministic.posterior) for attack in row[1:]] for row in rows]
    return Sweep(
        datasets=table.datasets,
        codes=_codes(table),
        records=table.records,
        quasi_identifiers=names,
        sensitive=secrets,
        total=weights.total,
        heaviest=weights.heaviest,
        likeliest=tuple(weight(attack.probabilistic.prior) for attack in rows[0][1:]),
        masks=np.array(masks, np.int64),
        classes=np.array([attack.class_sizes.classes for attack in naming], np.int64),
        class_records=np.array([attack.class_sizes.records for attack in naming], np.int64),
        named=np.array([weight(a.probabilistic.posterior) for a in naming], np.int64),
        alone=np.array([weight(a.deterministic.posterior) for a in naming], np.int64),
        exposed=np.array([a.certain for a in naming], np.int64),
        most=np.array(most, np.int64).reshape(shape),
        sure=np.array(sure, np.int64).reshape(shape),
        success=np.array(success, np.int64).reshape(*shape, SUCCESS_BINS),
    )


def _mask(names: Sequence[str], subset: Sequence[str]) -> int:
    unknown = [name for name in subset if name not in names]
    if unknown or not subset:
        raise StudyError("a subset needs quasi-identifiers, not {subset}", subset=list(subset))
    return sum(1 << names.index(name) for name in set(subset))


def _positions(mask: int, attributes: int) -> tuple[int, ...]:
    return tuple(i for i in range(attributes) if (mask >> i) & 1)
