"""Collective attacks: re-identification (CRS, CRL) and attribute inference (CAS, CAL).

The last letter tells one dataset from a longitudinal collection, which is a table too: its datasets joined on the
identifier (`glasshouse.table.collection`). The adversary picks a person whose record she knows to be in the release,
knows that person's quasi-identifiers, and so knows the person's class (Alvim et al. 2022, section 4.1, assumptions
A1–A4). With n(x, y) the weight of the records in class y with the value x of the secret, and N the weight of all:

- prior Bayes vulnerability     max_x Σ_y n(x, y) / N
- posterior Bayes vulnerability Σ_y max_x n(x, y) / N
- posterior certainty           Σ_y [one x only in y] n(y) / N   (the "deterministic" measure)
- multiplicative capacity       Σ_y max_x n(x, y) / n(x)
- additive capacity             1 − Σ_y min_x n(x, y) / n(x)

For re-identification the secret is the record itself. What is missing is not learned: an attribute is inferred from the
records of which it is known, as if there were no others, unless the table says that missing is a value; people are
named among all records. Other aims and other priors: `glasshouse.microdata.gains`. Everything is summed in integers; a
vulnerability is one exact fraction.

A single record of a class is named with probability 1 / size, and its secret guessed right with probability
max_x n(x) / size, where n(x) counts the value x in the class (`record_risks`). For small data `explain` builds what the
fast loops never do, because only sums of it are needed: from the records to the co-occurrence of secret and
observation, to their joint distribution, to prior and channel, to the hyper (Tables 4 and 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.language import marked, text, unknown_name
from glasshouse.microdata import attack_kernels
from glasshouse.microdata.attack_kernels import Weights, most_frequent, record_weights
from glasshouse.microdata.gains import (
    Beliefs,
    Gain,
    Game,
    NamingRecords,
    Secret,
    as_secret,
    inferring_game,
    naming_game,
    sum_of_ratios,
)
from glasshouse.microdata.leakage import SUCCESS_BINS, Attack, ClassSizes, Leakage, value_text
from glasshouse.qif import CoOccurrence
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import (
    BLOCK_RECORDS,
    CodePieces,
    blocks,
    let_go,
    smallest_unsigned,
    taken,
)
from glasshouse.table.generalised import without_suppressed
from glasshouse.table.partition import Partition, partition, refined

OTHER_GAIN = marked("a gain is given for {secret}, which is none of the secrets {secrets}")
OTHER_PRIOR = marked("a prior is given for {secret}, which is none of the secrets {secrets}")
"""What `refuse_unknown_secrets` says of a gain and of a prior."""
MOST_VALUES = 40
"""So many values of the secret, and so many observations, are shown at most."""
MOST_RECORDS = 1000
"""So many records are explained at most."""

SENSITIVE_WARNING = marked(
    "The risk of each record is itself personal data: it shows whose records are easily identified, and "
    "whose secrets are easily guessed. Keep it as closely as the data it was computed from, and do not "
    "publish it."
)
"""What the user is told before per-record risks leave the program."""


@dataclass(frozen=True)
class Explanation:
    """One attack as tables."""

    code: str
    """The attack: CRS, CAS, CRL or CAL."""
    datasets: tuple[str, ...]
    """The names of the datasets that it uses."""
    observed: tuple[str, ...]
    """The columns that the adversary observes: the quasi-identifiers, tagged with their dataset."""
    secret: tuple[str, ...]
    """The columns that she infers; none when she re-identifies."""
    counts: CoOccurrence
    """How often each value of the secret occurs with each observation; all the rest follows."""

    def to_dict(self) -> dict[str, Any]:
        """Return every step as plain values: labels as text, numbers as fractions in text."""
        hyper, joint = self.counts.hyper(), self.counts.joint()
        prior, channel = self.counts.prior(), self.counts.channel()
        secrets, seen = self.counts.secrets, self.counts.observations

        def rows(cells: Any) -> list[list[str]]:
            return [[str(cells[x, y]) for y in range(len(seen))] for x in range(len(secrets))]

        return {
            "attack": self.code,
            "datasets": list(self.datasets),
            "quasi_identifiers": list(self.observed),
            "sensitive": "+".join(self.secret) or None,
            "secrets": [value_text(x) for x in secrets],
            "observations": [value_text(y) for y in seen],
            "co_occurrence": rows(self.counts.counts),
            "joint": rows(joint.matrix),
            "prior": [str(prior[x]) for x in secrets],
            "channel": rows(channel.matrix),
            "outer": [str(hyper.outer(y)) for y in seen],
            "inner": [[str(hyper.inner(y)[x]) for y in seen] for x in secrets],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per value of the secret and observation; numbers as fractions in text."""
        content = self.to_dict()
        rows = [
            {"secret": secret, "observation": observation}
            | {"prior": content["prior"][x], "outer": content["outer"][y]}
            | {step: content[step][x][y] for step in ("co_occurrence", "joint", "channel", "inner")}
            for x, secret in enumerate(content["secrets"])
            for y, observation in enumerate(content["observations"])
        ]
        return pa.Table.from_pylist(rows)


@dataclass(frozen=True)
class Exposure:
    """Who can be named by somebody who knows all that can be known: how many of the people with each value."""

    column: str
    """What can be known of a person, and has few values."""
    values: tuple[str, ...]
    """Its values; the empty one stands for missing."""
    records: tuple[int, ...]
    """Per value, how many records have it."""
    named: tuple[int, ...]
    """Per value, how many of these are alone in their class."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values: counts of people with particular values, for the analyst."""
        return {
            "column": self.column,
            "values": list(self.values),
            "records": list(self.records),
            "named": list(self.named),
        }


@dataclass(frozen=True)
class RecordRisks:
    """What an adversary who knows the quasi-identifiers achieves against each record, in the order of the file."""

    dataset: str
    """The name of the release."""
    quasi_identifiers: tuple[str, ...]
    """What she knows of a person."""
    sensitive: tuple[str, ...]
    """The secrets."""
    sizes: NDArray[np.uint32]
    """Per record, how many records are in its class, itself included."""
    most: NDArray[np.uint32]
    """Per secret (row) and record (column), how many records of its class have the most frequent value."""
    known: NDArray[np.uint32]
    """Per secret (row) and record (column), in how many records of its class the secret is known; 0 where that of the
    record itself is missing, so that there is nothing to guess."""
    positions: Integers | None = None
    """Per record, its position in the file, where records of it were left out."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.sizes)

    @property
    def reidentification(self) -> Floats:
        """Per record, the probability that she names it: 1 / size."""
        chance: Floats = 1.0 / self.sizes
        return chance

    def success(self, secret: str) -> Floats:
        """Return, per record, the probability that her best guess of a secret is right; NaN where it is missing."""
        place = self._place(secret)
        chance = np.full(self.records, np.nan)
        np.divide(self.most[place], self.known[place], out=chance, where=self.known[place] > 0)
        return chance

    def certain(self, secret: str) -> Flags:
        """Return, per record, whether its class has one value of a secret only; not where it is missing."""
        place = self._place(secret)
        single: Flags = (self.most[place] == self.known[place]) & (self.known[place] > 0)
        return single

    def to_dict(self) -> dict[str, Any]:
        """Return every record as plain values, as in the frame: personal data, see `SENSITIVE_WARNING`."""
        return {
            "dataset": self.dataset,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "risks": self.to_frame().to_pylist(),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per record: the class size, and the probabilities as floats of the exact ratios.

        Where records of the file were left out, the column ``record`` says which one it is, counted from 1. Where the
        secret of a record is missing, there is nothing to guess: its figures are null.
        The frame is personal data: see `SENSITIVE_WARNING`.
        """
        columns: dict[str, Any] = {} if self.positions is None else {"record": self.positions + 1}
        columns |= {"size": self.sizes, "reidentification": self.reidentification}
        for name in self.sensitive:
            unknown = self.known[self._place(name)] == 0
            columns[f"{name}: success"] = pa.array(self.success(name), mask=unknown)
            columns[f"{name}: certain"] = pa.array(self.certain(name), mask=unknown)
        return pa.table(columns)

    def _place(self, secret: str) -> int:
        if secret not in self.sensitive:
            where = text("the record risks of {dataset}", dataset=self.dataset)
            raise StudyError(unknown_name("secret", secret, where, self.sensitive))
        return self.sensitive.index(secret)


def attack(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    gain: Gain | None = None,
    prior_weight: str | None = None,
    prior: Beliefs | None = None,
    drop_suppressed: bool = True,
) -> Attack:
    """Attack all records of a table with one set of quasi-identifiers.

    Args:
        table: The release.
        quasi_identifiers: What the adversary knows of a person; by default the table's quasi-identifiers.
        sensitive: The attribute that she infers, or several together; by default she re-identifies.
        gain: What her guesses are worth, beside the plain chance of a right one.
        prior_weight: The column of record weights that is her prior; by default the table's, else uniform. A record of
            weight 0 cannot be the target's.
        prior: What she believes of the secret instead of what the release says: the probability of each value (``*``:
            of all others together, who share it equally). What is observed of each value stays as in the release.
        drop_suppressed: Whether records that hold ``*`` in every quasi-identifier, beside others that do not, are left
            out: they are suppressed, and in no class.

    Raises:
        DataError: A column is not in the table, or a weight is not a number from 0 on.
        StudyError: The gain or the prior does not fit the secret.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({
    ...     "language": ["English", "Port.", "German", "German"],
    ...     "gender": ["M", "M", "F", "M"],
    ...     "age": [">30", "<=30", "<=30", "<=30"],
    ... })
    >>> outcome = attack(read(people), quasi_identifiers=["gender", "age"], sensitive="language")
    >>> outcome.probabilistic.prior, outcome.probabilistic.posterior
    (Fraction(1, 2), Fraction(3, 4))
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    secret = () if sensitive is None else attributes_of(sensitive)
    table = without_suppressed(table, names) if drop_suppressed else table
    table = table.with_known(secret)
    weights = record_weights(table, prior_weight or table.prior_weight)
    aim = aim_of(table, secret, weights, gain, prior)
    return _attacks(table, names, [(slice(None), partition(table, names))], [aim], weights)[0]


def attacks_with(
    table: EncodedTable | Sequence[EncodedTable],
    *,
    subsets: Sequence[Sequence[str]] | None = None,
    sensitive: Sequence[str | Sequence[str]] | None = None,
    gains: Mapping[tuple[str, ...], Gain] | None = None,
    prior_weight: str | None = None,
    priors: Mapping[tuple[str, ...], Beliefs] | None = None,
    drop_suppressed: bool = True,
    most_records: int | None = None,
) -> tuple[Attack, ...]:
    """Re-identify, and infer each secret, with each set of quasi-identifiers; arguments as of `assess`.

    Returns:
        The attacks, window by window; within a set of quasi-identifiers, re-identification first.
    """
    windows = (table,) if isinstance(table, EncodedTable) else tuple(table)
    if drop_suppressed and isinstance(table, EncodedTable):
        listed = [name for names in subsets or () for name in names]
        windows = (without_suppressed(table, listed),)
    whole = windows[-1]
    chosen = [whole.quasi_identifiers] if subsets is None else [tuple(s) for s in subsets]
    named = [
        attributes_of(secret) for secret in (whole.sensitive if sensitive is None else sensitive)
    ]
    if not chosen:
        raise StudyError("there is nothing to assess: give at least one set of quasi-identifiers")
    gains, priors = gains or {}, priors or {}
    refuse_unknown_secrets(OTHER_GAIN, gains, named)
    refuse_unknown_secrets(OTHER_PRIOR, priors, named)
    aims = [(), *named]
    outcomes: dict[tuple[int, int, tuple[str, ...]], Attack] = {}
    for secrets in whole.alike_known(aims):
        known = [window.with_known(secrets[0]) for window in windows]
        weights = record_weights(known[-1], prior_weight or whole.prior_weight)
        ready = [
            aim_of(known[-1], secret, weights, gains.get(secret), priors.get(secret))
            for secret in secrets
        ]
        for row, names in enumerate(chosen):
            for place, (window, slices) in enumerate(_growing(known, names, most_records)):
                for aim, found in zip(
                    ready, _attacks(window, names, slices, ready, weights), strict=True
                ):
                    outcomes[place, row, aim.names] = found
    every = product(range(len(windows)), range(len(chosen)), aims)
    return tuple(outcomes[which] for which in every)


Slices = Iterable[tuple[slice | Integers, Partition]]
"""All records, or some of them after the other, in their order, with their classes; a class is whole in one slice."""


def _growing(
    windows: Sequence[EncodedTable], names: Sequence[str], most_records: int | None
) -> Iterator[tuple[EncodedTable, Slices]]:
    """Yield the windows of a collection with their classes, which refine those of the one before."""
    classes, seen = None, set[str]()
    slices = slices_of(windows[-1].records, most_records)
    for window in windows:
        columns = [column for name in names for column in window.columns_of(name)]
        if slices > 1:
            yield window, _in_slices(columns, window.records, slices)
            continue
        new = [column for column in columns if column.name not in seen]
        classes = refined(new, window.records, classes)
        seen.update(column.name for column in new)
        yield window, [(slice(None), classes)]


def _in_slices(columns: Sequence[EncodedColumn], records: int, slices: int) -> Slices:
    for some in whole_classes(columns, records, slices):
        yield some, refined(of_records(columns, some), size_of(some, records))


def of_records(columns: Sequence[EncodedColumn], records: slice | Integers) -> list[EncodedColumn]:
    """Return columns of some records, whose positions ascend, with the values of all."""
    return [replace(column, codes=taken(column.codes, records)) for column in columns]


def size_of(records: slice | Integers, everything: int) -> int:
    """Return how many records these are: some, or everything."""
    return everything if isinstance(records, slice) else len(records)


def slices_of(records: int, most_records: int | None) -> int:
    """Return in how many slices so many records are looked at, if about so many fit."""
    return 1 if most_records is None else max(1, -(-records // most_records))


def whole_classes(
    columns: Sequence[EncodedColumn], records: int, slices: int
) -> Iterator[slice | Integers]:
    """Yield the records in so many slices, each in its order; a class is whole in one of them.

    Columns of two tables in the same codes give slices with the same classes.
    """
    if slices == 1:
        yield slice(None)
        return
    telling = sorted(columns, key=lambda column: -column.cardinality)[:4]
    pieces = CodePieces()
    for begin in range(0, records, BLOCK_RECORDS):
        mixed = np.zeros(min(BLOCK_RECORDS, records - begin), np.uint64)
        for column in telling:
            mixed ^= column.codes[begin : begin + BLOCK_RECORDS]
            mixed *= np.uint64(0x9E3779B97F4A7C15)
            let_go(column.codes)
        pieces.append(((mixed >> np.uint64(32)) % slices).astype(smallest_unsigned(slices)))
        pieces.spill()
    slice_of = pieces.joined(slices)
    for number in range(slices):
        inside = [begin + np.flatnonzero(some == number) for begin, some in blocks(slice_of)]
        yield np.concatenate(inside)


def explain(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    prior_weight: str | None = None,
    drop_suppressed: bool = True,
) -> Explanation:
    """Build every table between the records and the hyper.

    Args:
        table: The release; small.
        quasi_identifiers: What the adversary knows; by default the table's quasi-identifiers.
        sensitive: The columns that she infers together; none: she re-identifies.
        prior_weight: The column of record weights; by default the table's, else every record is as likely.
        drop_suppressed: Whether records that hold ``*`` in every quasi-identifier, beside others that do not, are left
            out: they are suppressed, and in no class.

    Raises:
        StudyError: The data is too large to be shown.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"sex": ["F", "F", "M"], "ill": ["no", "yes", "no"]}), name="people")
    >>> steps = explain(people, quasi_identifiers=["sex"], sensitive=["ill"]).to_dict()
    >>> steps["observations"], steps["prior"], steps["inner"]
    (['(F)', '(M)'], ['2/3', '1/3'], [['1/2', '1'], ['1/2', '0']])
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    table = without_suppressed(table, names) if drop_suppressed else table
    table = table.with_known(sensitive)
    weights = record_weights(table, prior_weight or table.prior_weight)
    if weights.each.size and not weights.each.all():  # a record of weight 0 cannot be the target's
        table = table.of_records(weights.each > 0)
        weights = record_weights(table, prior_weight or table.prior_weight)
    columns = [column for name in names for column in table.columns_of(name)]
    _check_small(table, names, sensitive)
    observations = list(zip(*map(_texts, columns), strict=True)) or [()] * table.records
    amounts = [Fraction(int(weight)) for weight in weights.each] or None
    return Explanation(
        code=attack_code(table, sensitive),
        datasets=table.datasets,
        observed=tuple(column.name for column in columns),
        secret=tuple(sensitive),
        counts=CoOccurrence.from_records(_secrets(table, sensitive), observations, weights=amounts),
    )


FEW_VALUES = 12
"""A column with more values than this does not tell who is at risk in a picture that one can read."""


def exposures(table: EncodedTable, *, most_records: int | None = None) -> tuple[Exposure, ...]:
    """Tell who can be named by all quasi-identifiers: per value of those with few, how many are alone in their class.

    Of a collection, the values are those of the focal dataset. A fact of several columns is left out; so is everything
    where records have weights, as being alone is not enough to be named then.

    Args:
        table: The release.
        most_records: About so many records are laid out at a time, classes whole; by default all.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"sex": ["F", "F", "F", "M"], "age": [20, 30, 30, 30]})
    >>> exposures(read(people, quasi_identifiers=["sex", "age"]))[0]
    Exposure(column='sex', values=('F', 'M'), records=(3, 1), named=(1, 1))
    """
    if table.prior_weight is not None:
        return ()
    first = {name: table.columns_of(name)[0] for name in table.quasi_identifiers}
    columns = [
        first[name]
        for name in table.quasi_identifiers
        if 1 < first[name].cardinality <= FEW_VALUES
        and (first[name].name == name or len(table.columns_of(name)) == 1)
    ]
    if not columns:
        return ()
    whole = [column for name in table.quasi_identifiers for column in table.columns_of(name)]
    named = [np.zeros(column.cardinality, np.int64) for column in columns]
    slices = slices_of(table.records, most_records)
    for records, classes in _in_slices(whole, table.records, slices):
        alone = classes.sizes[classes.numbers] == 1
        for column, tally in zip(columns, named, strict=True):
            tally += np.bincount(taken(column.codes, records)[alone], minlength=len(tally))
    return tuple(
        Exposure(
            column.name,
            tuple(value or "" for value in column.values.to_pylist()),
            tuple(column.tally.tolist()),
            tuple(tally.tolist()),
        )
        for column, tally in zip(columns, named, strict=True)
    )


def record_risks(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    drop_suppressed: bool = True,
) -> RecordRisks:
    """Tell of every record how surely an adversary names it, and guesses its secrets.

    The outcome is personal data: see `SENSITIVE_WARNING`.

    Args:
        table: The release.
        quasi_identifiers: What the adversary knows of a person; by default the table's quasi-identifiers.
        sensitive: The secrets; by default the table's sensitive attributes.
        drop_suppressed: Whether records that hold ``*`` in every quasi-identifier, beside others that do not, are left
            out: they are suppressed, and in no class. ``positions`` then says which records are told of.

    Raises:
        DataError: A column is not in the table.
        StudyError: There is no quasi-identifier, a column is given twice, or records have weights.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [20, 30, 30, 30], "ill": ["a", "b", "b", "c"]})
    >>> risks = record_risks(read(people, quasi_identifiers=["age"], sensitive=["ill"]))
    >>> risks.sizes.tolist(), risks.most[0].tolist(), risks.certain("ill").tolist()
    ([1, 3, 3, 3], [1, 2, 2, 2], [True, False, False, False])
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    secrets = tuple(table.sensitive if sensitive is None else sensitive)
    if not names:
        raise StudyError("the risk of each record needs at least one quasi-identifier; name one")
    if table.prior_weight is not None:
        raise StudyError("the risk of each record counts records alike; leave out the prior weight")
    table.with_roles(quasi_identifiers=names, sensitive=secrets, identifier=table.identifier)
    table = without_suppressed(table, names) if drop_suppressed else table
    classes = partition(table, names)
    most = np.zeros((len(secrets), table.records), np.uint32)
    known = np.zeros_like(most)
    for row, name in enumerate(secrets):
        part = table.with_known([name])
        alike = classes if part is table else partition(part, names)
        column, counts = part.column(name), np.empty(part.records, np.uint32)
        most_frequent(alike.order, alike.starts, column.codes, column.cardinality, counts)
        is_known = slice(None) if part is table else ~table.missing([name])
        most[row, is_known] = counts
        known[row, is_known] = alike.sizes.astype(np.uint32)[alike.numbers]
    return RecordRisks(
        dataset=table.name,
        quasi_identifiers=names,
        sensitive=secrets,
        sizes=classes.sizes.astype(np.uint32)[classes.numbers],
        most=most,
        known=known,
        positions=table.positions,
    )


def attributes_of(secret: str | Sequence[str]) -> tuple[str, ...]:
    """Return the attributes of a secret, which may be given as one name.

    Raises:
        StudyError: There are none, or one is there twice.
    """
    names = (secret,) if isinstance(secret, str) else tuple(secret)
    if not names or len(set(names)) < len(names):
        raise StudyError("a secret needs at least one sensitive attribute, and each once")
    return names


def refuse_unknown_secrets(
    refusal: str, given: Iterable[tuple[str, ...]], secrets: Sequence[tuple[str, ...]]
) -> None:
    """Check that something is given for the secrets only, or for re-identification.

    Args:
        refusal: What is said otherwise: `OTHER_GAIN` or `OTHER_PRIOR`.
        given: For which secrets it is; the empty one is re-identification.
        secrets: The secrets that there are.

    Raises:
        StudyError: It is given for something else.
    """
    for secret in given:
        if secret != () and secret not in secrets:
            raise StudyError(refusal, secret=secret, secrets=secrets)


@dataclass(frozen=True)
class Aim:
    """What an adversary is after, made ready once for all sets of quasi-identifiers."""

    names: tuple[str, ...]
    """The sensitive attributes; none: she re-identifies."""
    secret: Secret | None
    """What she infers."""
    game: Game | None
    """What it is worth to her beside being right."""


def aim_of(
    table: EncodedTable,
    names: tuple[str, ...],
    weights: Weights,
    gain: Gain | None,
    prior: Beliefs | None,
) -> Aim:
    """Return what an adversary is after who infers some attributes together, or none and re-identifies.

    Raises:
        StudyError: Her gain or her prior does not fit.
    """
    if names:
        secret = as_secret(table, names, weights, prior)
        return Aim(names, secret, None if gain is None else inferring_game(secret, gain))
    if prior is not None:
        raise StudyError(
            "re-identification takes no prior on a secret, as record weights are its prior; name a sensitive "
            "attribute, or a column of weights"
        )
    return Aim((), None, None if gain is None else naming_game(table, weights, gain))


def _attacks(
    table: EncodedTable,
    names: tuple[str, ...],
    slices: Slices,
    aims: Sequence[Aim],
    weights: Weights,
) -> list[Attack]:
    """Attack the records of a table for each of some aims."""
    sizes, uniques = ClassSizes.of(np.zeros(0, np.int64)), 0
    naming = naming_game(table, weights, None)
    counts = [
        _Named(aim, naming, weights) if aim.secret is None else _Inferred(aim, aim.secret)
        for aim in aims
    ]
    for records, classes in slices:
        sizes += ClassSizes.of(classes.sizes)
        uniques += classes.uniques
        for count in counts:
            count.add(classes, records)
    return [
        Attack(
            code=attack_code(table, count.aim.names),
            datasets=table.datasets,
            quasi_identifiers=names,
            secret=count.aim.names,
            records=table.records,
            classes=sum(sizes.classes),
            uniques=uniques,
            class_sizes=sizes,
            gain=None if count.aim.game is None else Leakage(count.aim.game.prior(), count.earned),
            **count.measured(sum(sizes.classes)),
        )
        for count in counts
    ]


@dataclass
class _Counted:
    """What is counted for one aim, slice by slice."""

    aim: Aim
    certain: int = field(default=0, init=False)
    """How many records she is certain of."""
    earned: Fraction = field(default=Fraction(0), init=False)
    """What her game earns."""

    def add(self, classes: Partition, records: slice | Integers) -> None:
        """Count the classes of some records."""
        if self.aim.game is not None:
            self.earned += self.aim.game.of_records(records).posterior(classes)


@dataclass
class _Named(_Counted):
    """She re-identifies."""

    naming: NamingRecords
    weights: Weights
    alone: int = 0
    """What records weigh that alone in their class weigh anything."""
    named: Fraction = Fraction(0)
    """How likely she names the right one."""

    def add(self, classes: Partition, records: slice | Integers) -> None:
        """Count the classes of some records."""
        super().add(classes, records)
        self.named += self.naming.of_records(records).posterior(classes)
        if self.weights.each.size:
            each = self.weights.each[records]
            alone, certain = attack_kernels.lone_records(classes.order, classes.starts, each)
        else:
            alone = certain = classes.uniques
        self.alone += alone
        self.certain += certain

    def measured(self, classes: int) -> dict[str, Any]:
        """Return the measures, once all of so many classes are counted."""
        known = int(self.weights.heaviest == self.weights.total)
        return {
            "certain": self.certain,
            "deterministic": Leakage(Fraction(known), Fraction(self.alone, self.weights.total)),
            "probabilistic": Leakage(self.naming.prior(), self.named),
            "success": (),
            "capacity": Fraction(classes),
            "additive_capacity": Fraction(int(classes > 1)),
        }


@dataclass
class _Inferred(_Counted):
    """She infers a secret."""

    secret: Secret
    picked: Integers = field(init=False)
    success: Integers = field(init=False)
    """How many records are guessed right with which chance, by tenths."""

    def __post_init__(self) -> None:
        self.picked = np.zeros((4, self.secret.cardinality), np.int64)
        self.success = np.zeros(SUCCESS_BINS, np.int64)

    def add(self, classes: Partition, records: slice | Integers) -> None:
        """Guess the secret in every class of some records."""
        super().add(classes, records)
        secret = self.secret.of_records(records)
        self.certain += attack_kernels.best_guesses(
            classes.order,
            classes.starts,
            secret.codes,
            secret.weights.each,
            secret.factors,
            secret.slack,
            secret.inverse,
            np.count_nonzero(secret.inverse),
            self.success,
            self.picked,
            np.zeros((2, secret.cardinality), np.int64),
        )

    def measured(self, classes: int) -> dict[str, Any]:
        """Return the measures, once all classes are counted."""
        secret, totals = self.secret, self.secret.totals.tolist()
        revealed = self.picked[attack_kernels.REVEALED].tolist()
        concealed = self.picked[attack_kernels.CONCEALED].tolist()
        known = int(np.count_nonzero(secret.shares) == 1)
        likeliest = Fraction(int(secret.shares.max()), secret.whole)
        return {
            "certain": self.certain,
            "deterministic": Leakage(
                Fraction(known), secret.expected(self.picked[attack_kernels.SURE])
            ),
            "probabilistic": Leakage(
                likeliest, secret.expected(self.picked[attack_kernels.GUESSED])
            ),
            "success": tuple(self.success.tolist()),
            "capacity": sum_of_ratios(revealed, totals),
            "additive_capacity": 1 - sum_of_ratios(concealed, totals),
        }


def attack_code(table: EncodedTable, secret: Sequence[str]) -> str:
    """Return the code of a collective attack (Alvim et al. 2022, Table 1).

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> attack_code(read(pa.table({"age": [20], "ill": ["a"]})), ["ill"])
    'CAS'
    """
    return f"C{'A' if secret else 'R'}{'L' if table.collection else 'S'}"


def _check_small(table: EncodedTable, names: Sequence[str], secret: Sequence[str]) -> None:
    values = partition(table, secret).classes if secret else table.records
    seen = partition(table, names).classes
    if table.records <= MOST_RECORDS and max(values, seen) <= MOST_VALUES:
        return
    raise StudyError(
        "to explain step by step is for small data: at most {most_records} records, {most_values} values of the "
        "secret and {most_values} classes, not {records}, {values} and {classes}; take a part of it",
        most_records=MOST_RECORDS,
        most_values=MOST_VALUES,
        records=table.records,
        values=values,
        classes=seen,
    )


def _secrets(table: EncodedTable, secret: Sequence[str]) -> list[Any]:
    if secret:
        texts = [_texts(table.column(name)) for name in secret]
        return texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))
    if table.identifier is not None:
        named = _texts(table.column(table.identifier))
        if len(set(named)) == table.records:
            return named
    return [f"record {number}" for number in range(1, table.records + 1)]


def _texts(column: EncodedColumn) -> list[Any]:
    values = column.values.to_pylist()
    return [values[code] for code in column.codes]
