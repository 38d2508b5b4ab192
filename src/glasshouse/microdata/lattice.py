"""Every subset of the quasi-identifiers, exactly: which combinations of attributes expose how many people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import BudgetError, StudyError
from glasshouse.microdata import game_kernel, sweep_kernel, sweep_steps
from glasshouse.microdata.attack_kernels import Weights, record_weights
from glasshouse.microdata.attacks import (
    OTHER_GAIN,
    OTHER_PRIOR,
    Aim,
    aim_of,
    attack_code,
    attacks_with,
    attributes_of,
    refuse_unknown_secrets,
)
from glasshouse.microdata.gains import (
    Acting,
    Beliefs,
    Gain,
    Game,
    NamingRecords,
    NamingValues,
    Secret,
)
from glasshouse.microdata.game_kernel import Aims
from glasshouse.microdata.leakage import (
    SIZE_BINS,
    SIZE_LABELS,
    SUCCESS_BINS,
    SUCCESS_LABELS,
    Attack,
    ClassSizes,
    Leakage,
    missing_entry,
)
from glasshouse.microdata.sweep_kernel import Fields
from glasshouse.microdata.sweep_steps import Hidden, OnStep, number_of_subsets
from glasshouse.progress import OnProgress, Progress
from glasshouse.table import EncodedTable
from glasshouse.table.codes import Codes
from glasshouse.table.generalised import without_suppressed
from glasshouse.table.partition import with_facts_joined

MOST_ATTRIBUTES = 24
"""A sweep takes at most so many quasi-identifiers."""
RESULTS_LIMIT = 8 << 30
"""What the results may take where no memory is given."""
RECORD_SECONDS, SUBSET_SECONDS = 2e-8, 2e-3
"""What ``within:SECONDS`` reckons that a subset takes: for each record, and for its figures and its place in a report.
Measured, and then fixed: the same data and seconds give the same subsets on every machine, however busy it is."""


@dataclass(frozen=True)
class Sweep:
    """What an adversary achieves with every subset of the quasi-identifiers: integer sums, a row per subset."""

    datasets: tuple[str, ...]
    """The names of the datasets of the release."""
    codes: tuple[str, str]
    """The codes of the attacks: re-identification, and attribute inference."""
    records: int
    """The number of records."""
    quasi_identifiers: tuple[str, ...]
    """The attributes, in the order given: bit i of a mask is the i-th."""
    sensitive: tuple[str, ...]
    """The secrets."""
    total: int
    """The weight of all records: their number, where all weigh the same."""
    heaviest: int
    """The largest weight of a record: the prior guess at whose it is."""
    likeliest: tuple[int, ...]
    """Per secret, the weight of its most frequent value: the prior guess."""
    masks: Integers
    """Per row, the subset: by size, then in the order of the attributes."""
    classes: Integers
    """Per row and size bin, the number of classes."""
    class_records: Integers
    """Per row and size bin, the number of records in them."""
    named: Integers
    """Per row, Σ over classes of the weight of the heaviest record: the number of classes, where all weigh the same."""
    alone: Integers
    """Per row, the weight of the records that are alone in their class."""
    exposed: Integers
    """Per row, the number of records that are named for certain: those alone in their class, among records that can be
    the target's."""
    most: Integers
    """Per row and secret, Σ over classes of the weight of the most frequent value."""
    sure: Integers
    """Per row and secret, the weight of the records in classes with a single value."""
    success: Integers
    """Per row, secret and tenth of the chance of a right guess, the number of records; the last is certainty."""
    known: Mapping[str, Sweep] = field(default_factory=dict, repr=False)
    """By secret that is missing in some records, the sweep of the others: its sums are of them."""

    @property
    def uniques(self) -> Integers:
        """Per row, the number of records that are alone in their class."""
        return self.classes[:, 0]

    @property
    def certain(self) -> Integers:
        """Per row and secret, the number of records in classes with a single value."""
        return self.success[:, :, -1]

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the attributes of a subset."""
        return tuple(name for i, name in enumerate(self.quasi_identifiers) if (mask >> i) & 1)

    def of(self, secret: str | None) -> Sweep:
        """Return the sweep of the records of which a secret is known; None: of all, as where people are named."""
        return self if secret is None else self.known.get(secret, self)

    def attacks(self) -> tuple[Attack, ...]:
        """Return every subset's attacks: re-identification first, then each secret."""
        return tuple(self._attacks())

    def to_dict(self) -> dict[str, Any]:
        """Return every subset as plain values, as in the frame."""
        return {
            "datasets": list(self.datasets),
            "records": self.records,
            **missing_entry({name: self.records - of.records for name, of in self.known.items()}),
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "subsets": self.to_frame().to_pylist(),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per subset: its mask, size and attributes, and every sum by name."""
        columns: dict[str, object] = {
            "subset": self.masks,
            "size": np.array([int(mask).bit_count() for mask in self.masks], np.int64),
            "quasi_identifiers": [list(self.names(int(mask))) for mask in self.masks],
            "classes": self.classes.sum(axis=1),
            "uniques": self.uniques,
        }
        for i, label in enumerate(SIZE_LABELS):
            columns[f"classes_{label}"] = self.classes[:, i]
        for i, label in enumerate(SIZE_LABELS):
            columns[f"records_{label}"] = self.class_records[:, i]
        for s, name in enumerate(self.sensitive):
            columns[f"{name}: most"] = self.most[:, s]
            columns[f"{name}: certain"] = self.certain[:, s]
            for i, label in enumerate(SUCCESS_LABELS):
                columns[f"{name}: success_{label}"] = self.success[:, s, i]
        return pa.table(columns)

    def _attacks(self) -> Iterator[Attack]:
        known = {int(mask): self.names(int(mask)) for mask in self.masks}
        records, whole = self.records, self.total
        one = Fraction(int(self.heaviest == self.total))
        for row, mask in enumerate(self.masks.tolist()):
            sizes = self._class_sizes(row)
            classes, uniques = sum(sizes.classes), sizes.classes[0]
            common = (self.datasets, known[mask])
            yield Attack(
                self.codes[0], *common, (), records, classes, uniques, sizes, int(self.exposed[row]),
                Leakage(one, Fraction(int(self.alone[row]), whole)),
                Leakage(Fraction(self.heaviest, whole), Fraction(int(self.named[row]), whole)), (), None,
                capacity=Fraction(classes), additive_capacity=Fraction(int(classes > 1)),
            )  # fmt: skip
            for s, name in enumerate(self.sensitive):
                part = self.of(name)
                alike = sizes if part is self else part._class_sizes(row)
                certain, first, total = int(self.certain[row, s]), self.likeliest[s], part.total
                yield Attack(
                    self.codes[1], *common, (name,), part.records,
                    sum(alike.classes), alike.classes[0], alike, certain,
                    Leakage(Fraction(int(first == total)), Fraction(int(self.sure[row, s]), total)),
                    Leakage(Fraction(first, total), Fraction(int(self.most[row, s]), total)),
                    tuple(self.success[row, s].tolist()), None,
                )  # fmt: skip

    def _class_sizes(self, row: int) -> ClassSizes:
        return ClassSizes(
            tuple(self.classes[row].tolist()), tuple(self.class_records[row].tolist())
        )


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
        subsets: ``"all"``, ``"max:K"`` (at most K attributes), ``"within:SECONDS"`` (the whole set, and those of at
            most as many attributes as `largest_size` reckons that time to be enough for), or a list of subsets, which
            is answered one by one: as exact, but slower.
        quasi_identifiers: The attributes; by default the table's quasi-identifiers.
        sensitive: The secrets; by default the table's sensitive attributes.
        threads: How many threads share the work; by default all processors. The outcome is the same for any number.
        memory: How many bytes the whole process may take; records that do not fit are kept on disk meanwhile.
        on_progress: Called now and then with how far it is.
        finished: Steps that an earlier, interrupted sweep of the same table has finished or begun, by number.
        on_step: Called with the number of a step and what is answered of it so far, for ``finished`` later.
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
    check_roles(table, names, secrets)
    table = without_suppressed(table, names) if drop_suppressed else table
    if isinstance(subsets, str) and subsets.startswith(WITHIN):
        largest = largest_size(subsets, len(names), table.records)
        roles: dict[str, Any] = {"quasi_identifiers": names, "sensitive": secrets}
        swept = sweep(
            table,
            subsets=f"max:{largest}",
            **roles,
            threads=threads,
            memory=memory,
            on_progress=on_progress,
            finished=finished,
            on_step=on_step,
            drop_suppressed=False,
        )
        if largest == len(names):
            return swept
        return _followed(swept, sweep(table, subsets=[names], **roles, drop_suppressed=False))
    groups = table.alike_known([(), *((name,) for name in secrets)])
    if len(groups) > 1:
        return joined_sweeps(
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
    largest = largest_size(subsets, len(names), table.records)
    width = sweep_kernel.cell_width(len(secrets))
    check_budget(len(names), largest, width, memory or RESULTS_LIMIT)
    if table.prior_weight is not None:
        weighed = attack_with_all_subsets(
            table,
            subsets=subsets,
            quasi_identifiers=names,
            sensitive=secrets,
            threads=threads,
            memory=memory,
            on_progress=on_progress,
            finished=finished,
            on_step=on_step,
        )
        masks = sweep_steps.subset_masks(len(names), largest)
        each = 1 + len(secrets)
        rows = [weighed[at : at + each] for at in range(0, len(weighed), each)]
        return sweep_of_attacks(
            names,
            secrets,
            masks,
            rows,
            codes=_codes(table),
            weights=record_weights(table, table.prior_weight),
        )
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
    return sweep_of_sums(
        masks,
        sums,
        datasets=table.datasets,
        codes=_codes(table),
        records=table.records,
        quasi_identifiers=names,
        sensitive=secrets,
        likeliest=[int(table.column(name).tally.max()) for name in secrets],
    )


def sweep_of_sums(
    masks: Integers,
    sums: Integers,
    *,
    datasets: tuple[str, ...],
    codes: tuple[str, str],
    records: int,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...],
    likeliest: Sequence[int],
) -> Sweep:
    """Return the sums of root steps, wherever they were taken, as a sweep."""
    first_bins = sums[:, : sweep_kernel.COUNTED_BINS] * np.array(
        SIZE_BINS[: sweep_kernel.COUNTED_BINS]
    )
    counted = sums[:, sweep_kernel.RECORDS : sweep_kernel.SECRETS]
    secret_sums = sums[
        :, sweep_kernel.SECRETS : sweep_kernel.SECRETS + sweep_kernel.PER_SECRET * len(sensitive)
    ]
    secret_sums = secret_sums.reshape(len(sums), len(sensitive), sweep_kernel.PER_SECRET)
    certain = secret_sums[:, :, sweep_kernel.CERTAIN]
    classes = sums[:, : len(SIZE_LABELS)]
    return Sweep(
        datasets=datasets,
        codes=codes,
        records=records,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        total=records,
        heaviest=1,
        likeliest=tuple(likeliest),
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


def attack_with_all_subsets(
    table: EncodedTable,
    *,
    subsets: str = "all",
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str | Sequence[str]] | None = None,
    gains: Mapping[tuple[str, ...], Gain] | None = None,
    priors: Mapping[tuple[str, ...], Beliefs] | None = None,
    prior_weight: str | None = None,
    threads: int | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
    finished: Mapping[int, Integers] | None = None,
    on_step: OnStep | None = None,
) -> tuple[Attack, ...]:
    """Re-identify, and infer each secret, with every subset: for records with weights, joint secrets, priors and gains.

    The outcome is that of `assess` with each of the subsets, but for capacities, which only the whole set has.

    Args:
        table: The release.
        subsets: ``"all"``, ``"max:K"`` or ``"within:SECONDS"``, as in `sweep`.
        quasi_identifiers: The attributes; by default the table's quasi-identifiers.
        sensitive: The attributes, or groups of attributes, to infer; by default each sensitive attribute.
        gains: Per secret (the empty one is re-identification), what guesses are worth.
        priors: Per secret, what she believes of it instead of what the release says.
        prior_weight: The column of record weights; by default the table's, else uniform.
        threads: How many threads share the work; by default all processors. The outcome is the same for any number.
        memory: How many bytes the whole process may take; records that do not fit are kept on disk meanwhile.
        on_progress: Called now and then with how far it is.
        finished: Steps that an earlier, interrupted sweep of the same table has finished or begun, by number.
        on_step: Called with the number of a step and what is answered of it so far, for ``finished`` later.

    Raises:
        StudyError: The quasi-identifiers, subsets, gains or priors make no sense.
        BudgetError: There are more subsets than the memory holds; it says which ``max:K`` fits.
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    largest = largest_size(subsets, len(names), table.records)
    secrets = [attributes_of(s) for s in (table.sensitive if sensitive is None else sensitive)]
    check_roles(table, names, ())
    refuse_unknown_secrets(OTHER_GAIN, gains or {}, secrets)
    refuse_unknown_secrets(OTHER_PRIOR, priors or {}, secrets)
    groups = table.alike_known([(), *secrets])
    outcomes: dict[tuple[str, ...], list[Attack]] = {}
    for place, group in enumerate(groups):
        known = table.with_known(group[0])
        weights = record_weights(known, prior_weight or table.prior_weight)
        aims = [
            aim_of(known, secret, weights, (gains or {}).get(secret), (priors or {}).get(secret))
            for secret in group
        ]
        games = Games(known, aims, weights)
        check_budget(len(names), largest, games.width, memory or RESULTS_LIMIT)
        masks, sums = sweep_steps.sums_of_all_subsets(
            with_facts_joined(known, names),
            quasi_identifiers=names,
            sensitive=(),
            hidden=Hidden(games.columns, games.aims),
            largest=largest,
            threads=threads or sweep_steps.available_threads(),
            memory=memory,
            on_progress=share_of(on_progress, place, len(groups)),
            finished=steps_of(finished or {}, place * MOST_ATTRIBUTES, MOST_ATTRIBUTES),
            on_step=numbered_from(place * MOST_ATTRIBUTES, on_step),
        )
        subsets_known = [tuple(names[i] for i in _positions(mask, len(names))) for mask in masks]
        for each in aims:
            outcomes[each.names] = games.attacks(each, subsets_known, sums)
    swept = tuple(
        attack
        for row in zip(*(outcomes[secret] for secret in [(), *secrets]), strict=True)
        for attack in row
    )
    if largest == len(names) or not holds_whole_set(subsets, len(names)):
        return swept
    whole = attacks_with(
        table,
        subsets=[names],
        sensitive=secrets,
        gains=gains,
        priors=priors,
        prior_weight=prior_weight,
        drop_suppressed=False,
    )
    return (*swept, *whole)


class _Column(NamedTuple):
    """Something that every record holds, as a code."""

    codes: Codes
    """The code of each record."""
    cardinality: int
    """How many codes there are."""


class Games:
    """What an adversary is after, as sums over the classes of every subset, and the attacks that they tell of."""

    def __init__(self, table: EncodedTable, aims: Sequence[Aim], weights: Weights) -> None:
        self._table = table
        self._weights = weights
        self._naming = next((aim.game for aim in aims if aim.secret is None), None)
        self._secrets = [aim.secret for aim in aims if aim.secret is not None]
        self._games = {aim.names: aim.game for aim in aims}
        self._each = np.zeros(len(self._secrets), game_kernel.AIM)
        self.columns = [_Column(secret.codes, secret.cardinality) for secret in self._secrets]
        self._weight_values = self._coded(weights.each)
        earned = self._naming.each if isinstance(self._naming, NamingRecords) else weights.each[:0]
        self._earnings = self._coded(earned)
        self._lay_out()

    def _coded(self, numbers: Integers) -> Integers:
        """Pack a number of each record as a code; return the numbers behind the codes, none where all are 1."""
        if numbers.size == 0:
            return numbers
        values, codes = np.unique(numbers, return_inverse=True)
        self.columns.append(_Column(codes.astype(np.uint32), len(values)))
        return values

    def _lay_out(self) -> None:
        """Find the columns of a cell, and put factors, gains and scores side by side."""
        column = game_kernel.AIMS
        factors: list[NDArray[Any]] = []
        gains: list[NDArray[Any]] = []
        scores: list[NDArray[Any]] = []
        alone: list[NDArray[Any]] = []
        for secret, entry in zip(self._secrets, self._each, strict=True):
            game = self._games[secret.names]
            believed = secret.factors.dtype == np.float64
            entry["column"], entry["values"] = column, secret.cardinality
            entry["block"] = secret.cardinality if believed else 1
            entry["believed"], entry["slack"] = believed, secret.slack
            entry["factors"] = sum(array.size for array in factors)
            entry["gains"] = sum(array.size for array in gains)
            entry["tries"] = entry["actions"] = 1
            factors.append(secret.factors)
            if isinstance(game, Acting):
                entry["game"], entry["actions"] = game_kernel.ACTING, game.gains.shape[1]
                gains.append(game.gains.ravel())
                scores.append((game.gains * secret.factors[:, None]).ravel())
            elif isinstance(game, NamingValues):
                entry["game"] = game_kernel.NAMING_VALUES
                entry["tries"] = min(game.tries, secret.cardinality)
                gains.append(game.worth)
                scores.append(game.worth * secret.factors)
            alone.append(_gains_alone(secret, game))
            blocks = 2 if entry["game"] == game_kernel.NO_GAME else 3
            column += SUCCESS_BINS + blocks * int(entry["block"])
        self.width = column
        self._factors, self._gains = _side_by_side(factors), _side_by_side(gains)
        self._scores, self._alone = _side_by_side(scores), _side_by_side(alone)

    def aims(self, fields: Fields) -> Aims:
        """Return what is added up, where the columns stand in the records."""
        further = len(self._secrets)
        weighted, earning = self._weight_values.size > 0, self._earnings.size > 0
        earned = further + weighted
        tries = self._naming.tries if isinstance(self._naming, NamingRecords) else 0
        return Aims(
            weight=fields[further : further + weighted],
            weights=self._weight_values,
            earned=fields[earned : earned + earning],
            earnings=self._earnings,
            tries=tries,
            each=self._each,
            factors=self._factors.astype(np.int64),
            beliefs=self._factors.astype(np.float64),
            possible=self._factors > 0,
            best_gain=self._alone.astype(np.int64),
            gains=self._gains.astype(np.int64),
            scores=self._scores.astype(np.int64),
            believed_scores=self._scores.astype(np.float64),
            origin=fields[:0],
            width=self.width,
        )

    def attacks(self, aim: Aim, subsets: Sequence[tuple[str, ...]], sums: Integers) -> list[Attack]:
        """Return the attack with each subset that its sums tell of."""
        measured = partial(self._inferred, aim.secret) if aim.secret else self._reidentified
        outcomes = []
        bins = len(SIZE_BINS)
        for names, row in zip(subsets, sums, strict=True):
            sizes = ClassSizes(tuple(row[:bins].tolist()), tuple(row[bins : 2 * bins].tolist()))
            outcomes.append(
                Attack(
                    code=attack_code(self._table, aim.names),
                    datasets=self._table.datasets,
                    quasi_identifiers=names,
                    secret=aim.names,
                    records=self._table.records,
                    classes=sum(sizes.classes),
                    uniques=sizes.classes[0],
                    class_sizes=sizes,
                    **measured(row, sizes),
                )
            )
        return outcomes

    def _reidentified(self, row: Integers, sizes: ClassSizes) -> dict[str, Any]:
        weights, game = self._weights, self._naming
        classes, uniques = sum(sizes.classes), sizes.classes[0]
        named, alone, exposed = classes, uniques, uniques
        if weights.each.size:
            named, alone, exposed = row[game_kernel.NAMED : game_kernel.EARNED].tolist()
        gain = None
        if isinstance(game, NamingRecords):
            gain = Leakage(game.prior(), Fraction(int(row[game_kernel.EARNED]), game.whole))
        return {
            "certain": exposed,
            "deterministic": Leakage(
                Fraction(int(weights.heaviest == weights.total)), Fraction(alone, weights.total)
            ),
            "probabilistic": Leakage(
                Fraction(weights.heaviest, weights.total), Fraction(named, weights.total)
            ),
            "success": (),
            "gain": gain,
            "capacity": Fraction(classes),
            "additive_capacity": Fraction(int(classes > 1)),
        }

    def _inferred(self, secret: Secret, row: Integers, _: ClassSizes) -> dict[str, Any]:
        game = self._games[secret.names]
        entry = self._each[[each.names for each in self._secrets].index(secret.names)]
        first, block = int(entry["column"]), int(entry["block"])
        success = tuple(row[first : first + SUCCESS_BINS].tolist())
        guessed, sure, earned = (
            row[begin : begin + block]
            for begin in (first + SUCCESS_BINS + place * block for place in range(3))
        )
        known = int(np.count_nonzero(secret.shares) == 1)
        likeliest = Fraction(int(secret.shares.max()), secret.whole)
        gain = None
        if game is not None and not isinstance(game, NamingRecords):
            gain = Leakage(game.prior(), _expected(secret, earned) / game.scale)
        return {
            "certain": success[-1],
            "deterministic": Leakage(Fraction(known), _expected(secret, sure)),
            "probabilistic": Leakage(likeliest, _expected(secret, guessed)),
            "success": success,
            "gain": gain,
        }


def _gains_alone(secret: Secret, game: Game | None) -> Integers:
    """Return what each value of a secret earns in a class where it is the only one."""
    if isinstance(game, Acting):
        best = (game.gains * secret.factors[:, None]).argmax(axis=1)
        return np.take_along_axis(game.gains, best[:, None], axis=1)[:, 0]
    if isinstance(game, NamingValues):
        return game.worth
    return np.zeros(secret.cardinality, np.int64)


def _side_by_side(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays one after the other; at least one number, so that there is a place to look at."""
    return np.concatenate(arrays) if arrays else np.zeros(1, np.int64)


def _expected(secret: Secret, amounts: Integers) -> Fraction:
    """Return the probability of an amount of weight: of all values, or where a prior is hers of each."""
    if len(amounts) == 1 and secret.factors.dtype != np.float64:
        return Fraction(int(amounts[0]), secret.whole)
    return secret.expected(amounts)


def joined_sweeps(secrets: tuple[str, ...], parts: Sequence[Sweep]) -> Sweep:
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


def _followed(swept: Sweep, further: Sweep) -> Sweep:
    """Return the sums of two sweeps of the same records and secrets, one after the other."""
    sums: dict[str, Any] = {
        entry.name: np.concatenate([getattr(swept, entry.name), getattr(further, entry.name)])
        for entry in fields(Sweep)
        if isinstance(getattr(swept, entry.name), np.ndarray)
    }
    known = {name: _followed(of, further.known[name]) for name, of in swept.known.items()}
    return replace(swept, known=known, **sums)


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


WITHIN = "within:"
"""What asks for as many subsets as some seconds are enough for."""


def largest_size(subsets: str, attributes: int, records: int) -> int:
    """Return the largest size of the subsets that ``all``, ``max:K`` or ``within:SECONDS`` asks for.

    For a time it is the largest K for which all subsets of at most K attributes are reckoned to fit, at least 1.

    Raises:
        StudyError: It is none of them.

    >>> largest_size("all", 11, 1000), largest_size("max:3", 11, 1000), largest_size("max:30", 11, 1000)
    (11, 3, 11)
    >>> largest_size("within:60", 14, 1000), largest_size("within:60", 20, 1_000_000)
    (14, 3)
    """
    if subsets == "all":
        return attributes
    kind, _, number = subsets.partition(":")
    if kind == "within" and number.isdecimal() and int(number) >= 1:
        fitting = int(number) / (RECORD_SECONDS * records + SUBSET_SECONDS)
        sizes = range(1, min(attributes, MOST_ATTRIBUTES) + 1)
        return max((k for k in sizes if number_of_subsets(attributes, k) <= fitting), default=1)
    if kind != "max" or not number.isdecimal() or int(number) < 1:
        raise StudyError(
            'subsets "{subsets}" are neither all, nor max:K with a number K from 1 on',
            subsets=subsets,
        )
    return min(int(number), attributes)


def holds_whole_set(subsets: str, attributes: int) -> bool:
    """Tell whether the set of all attributes is among the subsets that are asked for.

    >>> holds_whole_set("within:60", 20), holds_whole_set("max:3", 20), holds_whole_set("max:3", 3)
    (True, False, True)
    """
    return subsets.startswith(WITHIN) or largest_size(subsets, attributes, 0) == attributes


def check_roles(table: EncodedTable, names: Sequence[str], secrets: Sequence[str]) -> None:
    """Make sure that a sweep of these attributes and secrets makes sense.

    Raises:
        StudyError: It does not.
    """
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


def check_budget(attributes: int, largest: int, width: int, memory: int) -> None:
    """Make sure that the results of a sweep fit.

    Raises:
        BudgetError: They do not; it says which ``max:K`` fits.
    """
    row = 8 * width
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
    """Answer subsets one by one."""
    rows: list[tuple[Attack, ...]] = []
    for done, mask in enumerate(masks, start=1):
        known = tuple(name for i, name in enumerate(names) if (mask >> i) & 1)
        rows.append(attacks_with(table, subsets=[known], sensitive=secrets, drop_suppressed=False))
        if on_progress:
            visits = {"visits": done * table.records}
            on_progress(Progress("sweeping", done / len(masks), 1.0, figures=visits))
    return sweep_of_attacks(
        names,
        secrets,
        np.array(masks, np.int64),
        rows,
        codes=_codes(table),
        weights=record_weights(table, table.prior_weight),
    )


def sweep_of_attacks(
    names: tuple[str, ...],
    secrets: tuple[str, ...],
    masks: Integers,
    rows: Sequence[Sequence[Attack]],
    *,
    codes: tuple[str, str],
    weights: Weights,
) -> Sweep:
    """Return the sums that the attacks of each subset tell of: re-identification first, then each secret."""

    def weight(probability: Fraction) -> int:
        return int(probability * weights.total)

    naming = [row[0] for row in rows]
    shape = (len(rows), len(secrets))
    success = [[attack.success for attack in row[1:]] for row in rows]
    most = [[weight(attack.probabilistic.posterior) for attack in row[1:]] for row in rows]
    sure = [[weight(attack.deterministic.posterior) for attack in row[1:]] for row in rows]
    return Sweep(
        datasets=rows[0][0].datasets,
        codes=codes,
        records=rows[0][0].records,
        quasi_identifiers=names,
        sensitive=secrets,
        total=weights.total,
        heaviest=weights.heaviest,
        likeliest=tuple(weight(attack.probabilistic.prior) for attack in rows[0][1:]),
        masks=masks,
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
