"""The attack on one person: re-identification (IRS, IRL) and attribute inference (IAS, IAL).

The adversary is after one person, the target, of whom she knows some facts. The *prosecutor* knows that the target is
in the release (Alvim et al. 2022, section 4.1, assumption A1): the target's record is one of the candidates, those that
fit all the facts. With w(r) the weight of record r (1 without weights), R all records and Y the candidates:

- she names the record        max over r in R of w(r) / w(R)    →  max over r in Y of w(r) / w(Y); unweighted 1/N → 1/n
- she believes the secret is x  w(R, x) / w(R)                    →  w(Y, x) / w(Y)
- her best guess is right     max_x w(R, x) / w(R)              →  max_x w(Y, x) / w(Y)
- her best action gains       max_w Σ_x g(w, x)·prior(x)        →  max_w Σ_x g(w, x)·posterior(x)

For one target the leakage can be *negative*: she may learn that the target is harder to guess than people are in
general. On average over all targets it cannot: the expected posterior is that of the collective attack
(`glasshouse.microdata.attack`). What is missing is not learned: of a secret, R and Y are the records of which it is
known, and without such a candidate nothing is learned of it, unless the table says that missing is a value.

The *journalist* does not know whether the target is in the release, only that the target is in the population
(El Emam and Dankar 2008). If F people of the population fit and n of them are in the release, the target is in it with
probability n/F, and any one of the candidate records is the target's with probability 1/F. A register may lack some of
the columns: if a people fit the facts that it has, b records fit these, and n of them fit the further facts too, then
F = a·n/b, assuming that the further facts are independent of being in the release, given those that it has.

Where people have several records (`person`), she knows that the target is in the release and happens to know some of
the target's records. People are counted then, not records: R are those with at least so many records, each as likely,
Y those who have records that fit, and w(p) is L(p) of `glasshouse.microdata.histories`.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags, Integers
from glasshouse.conditions import Condition, facts_of, parse_condition
from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, text, unknown_name
from glasshouse.microdata.attack_kernels import Weights, record_weights, value_weights
from glasshouse.microdata.attacks import (
    OTHER_GAIN,
    attack_code,
    attributes_of,
    refuse_unknown_secrets,
)
from glasshouse.microdata.gains import (
    Acting,
    Gain,
    NamingValues,
    Secret,
    as_secret,
    inferring_game,
    naming_game,
)
from glasshouse.microdata.histories import FittingPeople, alike
from glasshouse.microdata.leakage import (
    MEASURE_FIELDS,
    Leakage,
    as_fraction,
    missing_entry,
    treatment,
)
from glasshouse.microdata.people import secret_of_each, with_person
from glasshouse.qif import GainFunction, Tries
from glasshouse.sources import MISSING
from glasshouse.sources.source import as_text
from glasshouse.study.assess import parse_person_secret
from glasshouse.table import EncodedTable, Step
from glasshouse.table.generalised import is_suppressed
from glasshouse.table.matches import (
    column_known,
    fitting_without_one,
    people_behind,
    records_fitting,
    records_that_may_fit,
)
from glasshouse.table.partition import refined

Value: TypeAlias = str | tuple[str | None, ...] | None
"""A value of a secret, or of several together; None: the person has no record in that dataset of a collection."""

Known: TypeAlias = Sequence[Condition | str] | Mapping[str, object]
"""What is known of the target: conditions, or their texts; or per column a value, several, or a condition."""


class Belief(NamedTuple):
    """How probable the adversary holds one value of the target's secret."""

    value: Value
    """The value."""
    prior: Fraction
    """Before she uses what she knows of the target: its share in the release."""
    posterior: Fraction
    """Afterwards: its share among the candidates."""


@dataclass(frozen=True)
class TargetSecret:
    """What the adversary learns of one secret of the target."""

    code: str
    """The attack: IAS or IAL."""
    secret: tuple[str, ...]
    """The sensitive attributes that she infers, together."""
    values: tuple[Belief, ...]
    """Every value that occurs in the release, the most probable after the attack first; among equals the one that was
    more probable before."""
    gain: Leakage | None = None
    """What her best action gains her, where a gain was given."""
    best_action: Hashable | None = None
    """The action that gains most after the attack: the values that she tries, the value that she bets on, or the guess
    of a gain function; None where no gain was given."""
    missing: int = 0
    """In how many records of the release, or of how many people, the secret is missing: they are left out,"""
    missing_candidates: int = 0
    """and how many of these are candidates."""
    another: bool = False
    """Whether it is what another record of the person says than the known ones: whoever has no more records than are
    known has none, and is left out as what is missing."""

    @property
    def sensitive(self) -> str:
        """The secret as one name."""
        return "+".join(self.secret)

    @property
    def best(self) -> tuple[Value, Fraction]:
        """Her best guess, and the probability that it is right."""
        return self.values[0].value, self.values[0].posterior

    @cached_property
    def prior_best(self) -> tuple[Value, Fraction]:
        """What her best guess would be without knowing anything of the target, and its probability."""
        likeliest = max(self.values, key=lambda belief: belief.prior)
        return likeliest.value, likeliest.prior

    @property
    def guess(self) -> Leakage:
        """The probability that her best guess is right (Bayes vulnerability), before and after.

        It may fall: of this target she may know less than of people in general.
        """
        return Leakage(self.prior_best[1], self.best[1])

    @property
    def certain(self) -> bool:
        """Whether she knows the secret: all candidates have the same value."""
        return self.best[1] == 1

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; probabilities as floats of the exact ratios."""
        content: dict[str, Any] = {
            "attack": self.code,
            "sensitive": self.sensitive,
            **self._left_out(),
            "certain": self.certain,
            "best": _plain_guess(self.best),
            "prior_best": _plain_guess(self.prior_best),
            "guess": self.guess.to_dict(),
            "values": [
                {
                    "value": _plain_label(belief.value),
                    "prior": float(belief.prior),
                    "posterior": float(belief.posterior),
                }
                for belief in self.values
            ],
        }
        if self.gain is None:
            return content
        return content | {
            "gain": self.gain.to_dict(),
            "best_action": _plain_label(self.best_action),
        }

    def _left_out(self) -> dict[str, Any]:
        """Return how many records, or people, nothing is said of."""
        if self.another:
            return {"without_another": self.missing, "candidates_without": self.missing_candidates}
        left_out = {"records": self.missing, "candidates": self.missing_candidates}
        return missing_entry(left_out if self.missing else {})

    def to_frame(self) -> pa.Table:
        """Return one row per value: a column per attribute of the secret, then prior and posterior."""
        values = [(b.value if isinstance(b.value, tuple) else (b.value,)) for b in self.values]
        columns: dict[str, Any] = {
            name: pa.array([part[i] for part in values], pa.string())
            for i, name in enumerate(self.secret)
        }
        columns["prior"] = [float(belief.prior) for belief in self.values]
        columns["posterior"] = [float(belief.posterior) for belief in self.values]
        return pa.table(list(columns.values()), names=list(columns))


@dataclass(frozen=True)
class Journalist:
    """What the attack comes to for an adversary who does not know that the target is in the release."""

    register: str | None
    """The name of the register of the population; None: there is none, and the figures are estimates."""
    population: Fraction
    """The number of people in the population."""
    fitting: Fraction
    """The number of them who can be the target, given all that is known."""
    presence: Leakage
    """The probability that the target is in the release."""
    naming: Leakage
    """The probability that a candidate record that she picks is the target's."""
    assumed: bool = False
    """Whether the register lacks something that is known, which is then assumed to be independent of being in the
    release, given what the register has."""

    @property
    def estimated(self) -> bool:
        """Whether the people who fit were not counted but estimated, from the sampling fraction."""
        return self.register is None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; probabilities as floats of the exact ratios."""
        return {
            "register": self.register,
            "estimated": self.estimated,
            "assumed": self.assumed,
            "population": _plain_count(self.population),
            "fitting": _plain_count(self.fitting),
            "presence": self.presence.to_dict(),
            "naming": self.naming.to_dict(),
        }


@dataclass(frozen=True)
class Histories:
    """Whose records are whose, and which are known, where people have several."""

    person: tuple[str, ...]
    """The columns that say whose a record is."""
    known: tuple[tuple[str, ...], ...]
    """Per known record, the columns of which something is known; not what."""
    people: int
    """The number of people in the release, also of those with fewer records than are known."""
    records: int
    """The number of records in the release."""


@dataclass(frozen=True)
class Target:
    """The outcome of the attack on one person."""

    code: str
    """The attack: IRS or IRL; that on each secret has its own."""
    datasets: tuple[str, ...]
    """The names of the datasets that it uses."""
    known: tuple[str, ...]
    """The columns of which something is known; not what."""
    records: int
    """The number of records in the release."""
    candidates: int
    """How many of them fit what is known, without those that are suppressed as long as there are others. None only
    where a register shows that the target is not in the release."""
    naming: Leakage
    """The probability that she names the target's record. Zero afterwards where there is no candidate."""
    secrets: tuple[TargetSecret, ...]
    """What she learns of each secret, if the target is in the release; empty where there is no candidate."""
    unlearned: tuple[str, ...] = ()
    """Secrets of which she learns nothing, because they are missing in every candidate."""
    journalist: Journalist | None = None
    """What it comes to if she does not know that the target is in the release; None where that was not asked."""
    naming_gain: Leakage | None = None
    """What naming the record gains her, or the probability that several tries do, where such a gain was given."""
    suppressed: int = 0
    """How many records hold nothing but ``*`` of what is known, and are no candidates because others tell more. One of
    them may be the target's all the same."""
    candidate_records: Integers = field(
        default_factory=lambda: np.empty(0, np.int64), repr=False, compare=False
    )
    """The positions of the candidates in the file. They point at people: keep them as closely as the data itself."""
    steps: tuple[Step, ...] = ()
    """What was left out of the datasets."""

    @property
    def certain(self) -> bool:
        """Whether she names the target's record with certainty, if it is not suppressed: there is one candidate."""
        return self.candidates == 1

    def secret(self, *names: str) -> TargetSecret:
        """Return what she learns of a secret, by its attributes.

        Raises:
            StudyError: It is none of those that were inferred.
        """
        for inference in self.secrets:
            if inference.secret == names:
                return inference
        inferred = [inference.sensitive for inference in self.secrets]
        raise StudyError(unknown_name("secret", "+".join(names), text("the outcome"), inferred))

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; nothing in it points at a record."""
        content: dict[str, Any] = {
            "attack": self.code,
            "datasets": list(self.datasets),
            "known": list(self.known),
            "records": self.records,
            "candidates": self.candidates,
            "suppressed": self.suppressed,
            "certain": self.certain,
            "naming": self.naming.to_dict(),
            "secrets": [secret.to_dict() for secret in self.secrets],
            **({"unlearned": list(self.unlearned)} if self.unlearned else {}),
            "journalist": None if self.journalist is None else self.journalist.to_dict(),
        }
        if self.naming_gain is not None:
            content["naming_gain"] = self.naming_gain.to_dict()
        return content | self._of_people() | treatment(self.steps)

    def _of_people(self) -> dict[str, Any]:
        """Return what there is to say of people with several records: nothing."""
        return {}

    def to_frame(self) -> pa.Table:
        """Return one row per attack: naming first, then each secret; for the values see `TargetSecret.to_frame`."""
        attacks = [
            (self.code, None, self.naming, self.certain),
            *(
                (inference.code, inference.sensitive, inference.guess, inference.certain)
                for inference in self.secrets
            ),
        ]
        rows = [
            {
                "attack": code,
                "sensitive": sensitive,
                "records": self.records,
                "candidates": self.candidates,
                "certain": certain,
                **leakage.to_dict(),
            }
            for code, sensitive, leakage, certain in attacks
        ]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)


@dataclass(frozen=True, kw_only=True)
class PersonTarget(Target):
    """The outcome of the attack on one of people with several records, some of which are known.

    People are counted: `records` are those with at least as many records as are known, candidates those of them who
    have records that fit, and what is suppressed those who fit only by suppressed ones.
    """

    histories: Histories
    """How many records people have, and which of them are known."""

    def _of_people(self) -> dict[str, Any]:
        return {
            "person": list(self.histories.person),
            "known_records": [list(columns) for columns in self.histories.known],
            "people": self.histories.people,
            "records": self.histories.records,
            "targets": self.records,
        }


_SCHEMA = pa.schema(
    [
        ("attack", pa.string()),
        ("sensitive", pa.string()),
        ("records", pa.int64()),
        ("candidates", pa.int64()),
        ("certain", pa.bool_()),
        *MEASURE_FIELDS,
    ]
)


def target(
    table: EncodedTable,
    *,
    known: Known | Sequence[Known],
    sensitive: Sequence[str | Sequence[str]] | None = None,
    gains: Mapping[tuple[str, ...], Gain] | None = None,
    prior_weight: str | None = None,
    population: EncodedTable | None = None,
    fraction: float | Fraction | None = None,
    person: str | Sequence[str] = (),
) -> Target:
    """Attack one person of whom something is known.

    Args:
        table: The release; a collection that was joined to one table makes the attack longitudinal.
        known: What the adversary knows of the target: conditions such as ``"age=18..65"``; or a mapping from columns
            to a value, several possible values, or a `Condition`. With ``person``, a list of records of which she
            knows something, each such a mapping, a list of conditions, or a text such as ``"place=A,day=3"``.
        sensitive: The attributes, or groups of attributes, to infer; by default each sensitive attribute.
        gains: Per secret, what her guesses are worth; for the empty one, a number of tries to name the record, or a
            worth per record.
        prior_weight: The column of record weights that is her prior; by default the table's, else uniform.
        population: A register of the population that the release was drawn from, if she does not know that the target
            is in the release. Facts about columns that it lacks are assumed to be independent of being in the release.
        fraction: Instead of a register, the share of the population that is in the release.
        person: The column that says whose a record is, or several together, where people have several records. Then a
            secret is one of the person, as in `assess_people`: ``any icd=F*``, ``sum price``, ``other icd``.

    Raises:
        DataError: A column is not in the table; nobody fits what is known; or the register lacks people of the release.
        StudyError: Nothing is known, a known column is also a secret, or a gain does not fit its secret; with
            ``person``, nobody has so many records, or there are weights, gains or a population.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [20, 30, 30, 30], "ill": ["a", "b", "b", "c"]})
    >>> outcome = target(read(people, quasi_identifiers=["age"], sensitive=["ill"]), known=["age=30"])
    >>> outcome.candidates, outcome.naming.posterior, outcome.secret("ill").best
    (3, Fraction(1, 3), ('b', Fraction(2, 3)))
    >>> visits = read(pa.table({"who": list("aabbb"), "clinic": list("NSNSS")}), also=["who"])
    >>> target(visits, known=["clinic=S", "clinic=S"], person="who").candidates
    1
    """
    if person:
        for word, value in (
            ("prior_weight", prior_weight or table.prior_weight),
            ("tries", gains),
            ("population", population),
            ("fraction", fraction),
        ):
            if value is not None and value != {}:
                raise StudyError(
                    "`person` counts people with several records, each as likely, and one guess; leave out `{word}`",
                    word=word,
                )
        names = (person,) if isinstance(person, str) else tuple(person)
        return _target_of_people(table, names, known, sensitive)
    conditions = _conditions(table, known)
    inferred = _inferred(table, sensitive, conditions, gains or {})
    weights = record_weights(table, prior_weight or table.prior_weight)
    fitting = np.flatnonzero(records_that_may_fit(table, conditions))
    if not fitting.size and population is None:
        raise DataError(_nobody(table, conditions))
    nothing_told = is_suppressed(table, _columns(conditions))
    candidates, suppressed = _telling(_possible(table, weights, fitting), nothing_told)
    gains = gains or {}
    learned = {
        names: _learned(
            table, names, gains.get(names), prior_weight or table.prior_weight, candidates
        )
        for names in (inferred if candidates.size else ())
    }
    return Target(
        code=_code(table, ()),
        datasets=table.datasets,
        known=_columns(conditions),
        records=table.records,
        candidates=candidates.size,
        naming=_named(table, weights, candidates, None),
        secrets=tuple(filter(None, learned.values())),
        unlearned=tuple("+".join(names) for names in learned if learned[names] is None),
        journalist=_journalist(
            table, conditions, _telling(fitting, nothing_told)[0], population, fraction
        ),
        naming_gain=_named(table, weights, candidates, gains[()]) if () in gains else None,
        suppressed=suppressed,
        candidate_records=candidates if table.positions is None else table.positions[candidates],
    )


def _target_of_people(
    table: EncodedTable,
    person: tuple[str, ...],
    known: Known | Sequence[Known],
    sensitive: Sequence[str | Sequence[str]] | None,
) -> PersonTarget:
    """Attack one of the people who have several records, some of which are known."""
    table, steps = with_person(table, person)
    whose = refined([table.column(name) for name in person], table.records)
    by_record = _by_record(table, known)
    longest, number = int(whose.sizes.max()), len(by_record)
    if number > longest:
        raise StudyError(
            "nobody has {events} records: the longest history has {longest}; give at most {longest} known records",
            events=number,
            longest=longest,
        )
    columns = tuple(map(_columns, by_record))
    secrets = [
        _only_one(secret) for secret in (table.sensitive if sensitive is None else sensitive)
    ]
    _refuse_known(secrets, dict.fromkeys(name for names in columns for name in names))
    fitting = [records_that_may_fit(table, conditions) for conditions in by_record]
    everybody = FittingPeople.of(whose, fitting)
    if not everybody.people.size:
        raise DataError(_nobody_has(table, by_record))
    telling = everybody
    suppressed = [is_suppressed(table, names) for names in columns]
    if any(hidden.any() for hidden in suppressed):
        showing = [fits & ~hidden for fits, hidden in zip(fitting, suppressed, strict=True)]
        by_shown = FittingPeople.of(whose, showing)
        telling = by_shown if by_shown.people.size else everybody
    candidates = telling.people.size
    targets = int(np.count_nonzero(whose.sizes >= number))
    learned = {name: _learned_of_person(table, name, telling) for name in secrets}
    records = np.flatnonzero(np.isin(whose.numbers, telling.people))
    return PersonTarget(
        code=_code(table, ()),
        datasets=table.datasets,
        known=tuple(dict.fromkeys(name for names in columns for name in names)),
        records=targets,
        candidates=candidates,
        naming=Leakage(Fraction(1, targets), telling.heaviest()),
        secrets=tuple(filter(None, learned.values())),
        unlearned=tuple(name for name, one in learned.items() if one is None),
        suppressed=everybody.people.size - candidates,
        candidate_records=records if table.positions is None else table.positions[records],
        steps=tuple(steps),
        histories=Histories(person, columns, whose.classes, table.records),
    )


def _by_record(
    table: EncodedTable, known: Known | Sequence[Known]
) -> tuple[tuple[Condition, ...], ...]:
    """Return what is known of each record, as conditions on columns of the table."""
    if isinstance(known, str | Condition | Mapping):
        raise StudyError(
            "give a list of the records that are known, such as [{example}], not one of them",
            example='{"place": "A", "day": 3}',
        )
    records = [facts_of(record) if isinstance(record, str) else record for record in known]
    if not records:
        raise StudyError("the attack on one person needs something that is known about them")
    return tuple(
        _conditions(table, [record] if isinstance(record, Condition) else record)
        for record in records
    )


def _only_one(secret: str | Sequence[str]) -> str:
    """Return a secret that is not several together."""
    names = attributes_of(secret)
    if len(names) > 1:
        raise StudyError(
            "a secret of a person with several records is a single one; name {secrets} one by one",
            secrets=quoted(names),
        )
    return names[0]


def _nobody_has(table: EncodedTable, by_record: Sequence[Sequence[Condition]]) -> str:
    """Say why nobody has records that fit: one that fits no record by itself, or else records not of one person."""
    for conditions in by_record:
        if not records_that_may_fit(table, conditions).any():
            return _nobody(table, conditions)
    return text(
        "nobody in {table} has {count} different records that fit what is known, though each fits "
        "somebody's: zero candidates; correct it, or give fewer records",
        count=len(by_record),
        table=table.name,
    )


def _learned_of_person(
    table: EncodedTable, name: str, fitting: FittingPeople
) -> TargetSecret | None:
    """Infer a secret of a person with several records; None: it is missing, or of another record that nobody has."""
    whose, asked = fitting.whose, parse_person_secret(name)
    is_target = whose.sizes >= fitting.known + (asked.how == "other")
    if asked.how == "other":
        column = table.column(str(asked.column))
        is_value = table.known_values(column.name)
        by_event = is_target[whose.numbers] & is_value[column.codes]
        owner = whose.numbers[by_event]
        is_asked = np.bincount(owner, minlength=whose.classes) > 0
        before: dict[int, Fraction] = {}
        for (code, size), count in alike(column.codes[by_event], whose.sizes[owner]):
            before[code] = before.get(code, Fraction(0)) + Fraction(count, size)
        after = {
            code: chance
            for code, chance in fitting.by_other_value(column.codes).items()
            if is_value[code]
        }
        labels = {code: str(column.values[code].as_py()) for code in before}
    else:
        secret = secret_of_each(table, whose.numbers, name)
        is_asked = is_target & (secret.codes >= 0)
        values, counts = np.unique(secret.codes[is_asked], return_counts=True)
        before = dict(zip(values.tolist(), map(Fraction, counts.tolist()), strict=True))
        after = fitting.by_value(secret.codes)
        after.pop(-1, None)
        labels = {code: secret.text_of(int(secret.values[code])) for code in before}
    if not any(after.values()):
        return None
    whole, part = (sum(chances.values(), Fraction(0)) for chances in (before, after))
    beliefs = [
        Belief(labels[code], chance / whole, after.get(code, Fraction(0)) / part)
        for code, chance in before.items()
    ]
    beliefs.sort(key=lambda belief: (-belief.posterior, -belief.prior, _order(belief.value)))
    return TargetSecret(
        _code(table, (name,)),
        (name,),
        tuple(beliefs),
        missing=int(np.count_nonzero((whose.sizes >= fitting.known) & ~is_asked)),
        missing_candidates=int(np.count_nonzero(~is_asked[fitting.people])),
        another=asked.how == "other",
    )


def _code(table: EncodedTable, secret: Sequence[str]) -> str:
    """Return the code of the attack on one person: that of the collective one, with I for individual."""
    return f"I{attack_code(table, secret)[1:]}"


def _conditions(table: EncodedTable, known: Known | Sequence[Known]) -> tuple[Condition, ...]:
    """Return what is known as conditions on columns of the table."""
    if isinstance(known, str | Condition):
        raise StudyError('give a list of what is known, such as ["age=34"], not one condition')
    if isinstance(known, Mapping):
        conditions = [_from_mapping(name, value) for name, value in known.items()]
    else:
        conditions = [_condition(fact) for fact in known]
    if not conditions:
        raise StudyError("the attack on one person needs something that is known about them")
    return tuple(
        replace(condition, column=column_known(table, condition.column).name)
        for condition in conditions
    )


def _condition(fact: Condition | str | Known) -> Condition:
    """Return a condition that is one, or a text that says it."""
    if isinstance(fact, Condition):
        return fact
    if isinstance(fact, str):
        return parse_condition(fact)
    raise StudyError(
        "facts of several records are about people who have several; say with `person` which column says "
        "whose a record is"
    )


def _columns(conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Return the names of the columns of which something is known."""
    return tuple(dict.fromkeys(condition.column for condition in conditions))


def _from_mapping(name: str, value: object) -> Condition:
    if isinstance(value, Condition):
        return replace(value, column=name)
    if isinstance(value, list | tuple | AbstractSet):
        texts = [_text(name, member) for member in value]
        return Condition(
            name, values=tuple(sorted(texts) if isinstance(value, AbstractSet) else texts)
        )
    return Condition(name, values=(_text(name, value),))


def _text(name: str, value: object) -> str:
    """Return a value as the text that `glasshouse.read` makes of it."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    try:
        column = as_text(pa.record_batch([pa.array([value])], names=[name]), where=name)[0]
        return str(column[0].as_py())
    except (pa.ArrowException, TypeError, DataError):
        raise StudyError(
            'what is known about "{name}" is {value}, which is not text, a number or a date; give one, a list '
            "of them, or a condition",
            name=name,
            value=repr(value),
        ) from None


def _inferred(
    table: EncodedTable,
    secrets: Sequence[str | Sequence[str]] | None,
    conditions: Sequence[Condition],
    gains: Mapping[tuple[str, ...], Gain],
) -> list[tuple[str, ...]]:
    """Return the secrets, each as the names of its columns."""
    if isinstance(secrets, str):
        raise StudyError('give a list of secrets, such as ["{name}"], not one text', name=secrets)
    named = [
        attributes_of([column_known(table, name).name for name in attributes_of(secret)])
        for secret in (table.sensitive if secrets is None else secrets)
    ]
    _refuse_known([name for names in named for name in names], _columns(conditions))
    refuse_unknown_secrets(OTHER_GAIN, gains, named)
    return named


def _refuse_known(secrets: Sequence[str], known: Container[str]) -> None:
    """Make sure that nothing is known that is to be inferred."""
    both = [name for name in secrets if name in known]
    if both:
        raise StudyError(
            'column "{name}" is known about the target and also a secret to infer; leave it out of one of them',
            name=both[0],
        )


def _nobody(table: EncodedTable, conditions: Sequence[Condition]) -> str:
    """Say why nobody fits: one fact that fits nobody by itself, or else facts that do not go together."""
    records_fitting(table, conditions)  # raises for the first fact that fits nobody by itself
    names = quoted(_columns(conditions))
    without = fitting_without_one(table, conditions)
    most = max(without)
    if not most:
        return text(
            "nobody in {table} has all of {names}: zero candidates; nor would there be any without one of them",
            table=table.name,
            names=names,
        )
    return text(
        "nobody in {table} has all of {names}: zero candidates; without what is known about {name} there "
        "would be {most}",
        table=table.name,
        names=names,
        name=quoted([conditions[without.index(most)].column]),
        most=most,
    )


def _possible(table: EncodedTable, weights: Weights, fitting: Integers) -> Integers:
    """Return the records that fit and can be the target's: those that weigh something."""
    if not weights.each.size:
        return fitting
    candidates = fitting[weights.each[fitting] > 0]
    if fitting.size and not candidates.size:
        raise DataError(
            "every record of {table} that fits what is known weighs 0, so that none can be the target's: zero "
            "candidates; correct the weights, or what is known",
            table=table.name,
        )
    return candidates


def _telling(fitting: Integers, nothing_told: Flags) -> tuple[Integers, int]:
    """Return the records that tell something of what is known, or all where none does; and how many are left out."""
    telling = fitting[~nothing_told[fitting]]
    return (telling, fitting.size - telling.size) if telling.size else (fitting, 0)


def _named(
    table: EncodedTable, weights: Weights, candidates: Integers, gain: Gain | None
) -> Leakage:
    """Return what naming the best of all records earns, and the best of the candidates."""
    game = naming_game(table, weights, gain)
    if not candidates.size:
        return Leakage(game.prior(), Fraction(0))
    tries = min(game.tries, candidates.size)
    earned = game.each[candidates] if game.each.size else np.ones(candidates.size, np.int64)
    best = int(np.partition(earned, earned.size - tries)[earned.size - tries :].sum())
    weight = int(weights.each[candidates].sum()) if weights.each.size else candidates.size
    return Leakage(game.prior(), Fraction(best * weights.total, weight * game.whole))


def _learned(
    table: EncodedTable,
    names: tuple[str, ...],
    gain: Gain | None,
    prior_weight: str | None,
    candidates: Integers,
) -> TargetSecret | None:
    """Infer one secret of the target, from the records of which it is known; None: no candidate is one."""
    part, fitting = table.with_known(names), len(candidates)
    if part is not table:
        is_known = ~table.missing(names)
        candidates = (np.cumsum(is_known) - 1)[candidates[is_known[candidates]]]
        if not candidates.size:
            return None
    unknown = table.records - part.records, fitting - len(candidates)
    table, weights = part, record_weights(part, prior_weight)
    secret = as_secret(table, names, weights, None)
    chosen_weights = weights.each[candidates] if weights.each.size else weights.each
    among = value_weights(secret.codes[candidates], chosen_weights, secret.cardinality)
    values: Sequence[Value] = secret.values
    before, after = secret.totals.tolist(), among.tolist()
    order = sorted(
        np.flatnonzero(secret.totals).tolist(),
        key=lambda code: (-after[code], -before[code], _order(values[code])),
    )
    whole, part = sum(before), sum(after)
    beliefs = tuple(
        Belief(values[code], Fraction(before[code], whole), Fraction(after[code], part))
        for code in order
    )
    outcome = TargetSecret(_code(table, names), names, beliefs, None, None, *unknown)
    if gain is None:
        return outcome
    leakage, action = _gained(secret, gain, among, order)
    return replace(outcome, gain=leakage, best_action=action)


def _order(value: Value) -> tuple[tuple[bool, str], ...]:
    """Return a key that puts values in the order of their texts, and what is absent first."""
    attributes = value if isinstance(value, tuple) else (value,)
    return tuple((part is not None, part or "") for part in attributes)


def _gained(
    secret: Secret, gain: Gain, among: Integers, order: Sequence[int]
) -> tuple[Leakage, Hashable]:
    """Return what the best action gains before and after, and which it is after.

    Args:
        secret: The secret.
        gain: What she wants.
        among: Per value, the weight of the candidates that have it.
        order: The values that occur, the most probable after the attack first.
    """
    game = inferring_game(secret, gain)
    whole = int(among.sum()) * game.scale
    if isinstance(game, Acting):
        earned = among @ game.gains
        best = int(earned.argmax())
        actions = gain.guesses if isinstance(gain, GainFunction) else ()
        return Leakage(game.prior(), Fraction(int(earned[best]), whole)), actions[best]
    won, named = _best_values(game, among, order)
    values = tuple(secret.values[code] for code in named)
    action = values if isinstance(gain, Tries) else values[0]
    return Leakage(game.prior(), Fraction(won, whole)), action


def _best_values(
    game: NamingValues, among: Integers, order: Sequence[int]
) -> tuple[int, list[int]]:
    """Return what naming the best values earns, and which they are; of several none that cannot be right."""
    earned = (among * game.worth).tolist()
    best = sorted(order, key=lambda code: -earned[code])[
        : game.tries
    ]  # stable: the likelier of equals
    return sum(earned[code] for code in best), [c for c in best if among[c]] or best[:1]


def _journalist(
    table: EncodedTable,
    conditions: Sequence[Condition],
    candidates: Integers,
    population: EncodedTable | None,
    fraction: float | Fraction | None,
) -> Journalist | None:
    """Ask for the journalist too, where a register or a sampling fraction is given."""
    if population is not None and fraction is not None:
        raise StudyError("give a register of the population or a sampling fraction, not both")
    if population is not None:
        return _by_register(table, conditions, candidates, population)
    return None if fraction is None else _by_fraction(table, candidates.size, fraction)


def _by_fraction(table: EncodedTable, candidates: int, fraction: float | Fraction) -> Journalist:
    """Estimate how many people fit from the share of the population that is in the release."""
    share = _exact_share(fraction)
    return Journalist(
        register=None,
        population=table.records / share,
        fitting=candidates / share,
        presence=Leakage(share, share),
        naming=Leakage(share / table.records, share / candidates),
    )


def _exact_share(fraction: float | Fraction) -> Fraction:
    """Return a share of the population as the ratio that its decimals stand for."""
    share = as_fraction(fraction)
    if share is None or not 0 < share <= 1:
        raise StudyError(
            "the sampling fraction must be a number above 0 and at most 1, not {fraction}",
            fraction=str(fraction),
        )
    return share


def _by_register(
    table: EncodedTable,
    conditions: Sequence[Condition],
    candidates: Integers,
    register: EncodedTable,
) -> Journalist:
    """Count who of the population can be the target.

    With a people and b records that fit the facts that the register knows, and n candidates, it is F = a·n/b. Without a
    candidate it is those who have no record, a − b: the target is not in the release.
    """
    shared = [condition for condition in conditions if condition.column in register.columns]
    if not shared:
        names = quoted(_columns(conditions))
        raise StudyError(
            "{register} has none of the columns of which something is known ({names}); the register needs one",
            register=register.name,
            names=names,
        )
    alike, people = _alike(table, conditions, candidates, shared, register)
    if alike > people or table.records > register.records:
        raise DataError(
            "{alike} of {records} records of {table} fit what is known, but {people} of {everybody} people of "
            "{register}; the register must hold everybody who is in the release",
            alike=alike,
            records=table.records,
            table=table.name,
            people=people,
            everybody=register.records,
            register=register.name,
        )
    inside = candidates.size
    possible = Fraction(people * inside, alike) if inside else Fraction(people - alike)
    if not possible:
        raise DataError(
            "everybody in {register} who fits has a record in {table} that contradicts what else is known: zero "
            "candidates",
            register=register.name,
            table=table.name,
        )
    return Journalist(
        register=register.name,
        population=Fraction(register.records),
        fitting=possible,
        presence=Leakage(Fraction(table.records, register.records), inside / possible),
        naming=Leakage(Fraction(1, register.records), min(inside, 1) / possible),
        assumed=len(shared) < len(conditions),
    )


def _alike(
    table: EncodedTable,
    conditions: Sequence[Condition],
    candidates: Integers,
    shared: Sequence[Condition],
    register: EncodedTable,
) -> tuple[int, int]:
    """Count the records that fit what the register knows of the target, and the people who can be behind them.

    Where all candidates are suppressed, these are everybody but those whose records are not.
    """
    nothing_told = is_suppressed(table, _columns(conditions))
    if candidates.size and nothing_told[candidates].all():
        unsuppressed = table.records - candidates.size
        return candidates.size, _people(table, candidates, shared, register) - unsuppressed
    alike = np.flatnonzero(records_that_may_fit(table, shared) & ~nothing_told)
    return alike.size, _people(table, alike, shared, register)


def _people(
    table: EncodedTable,
    alike: Integers,
    shared: Sequence[Condition],
    register: EncodedTable,
) -> int:
    """Count the people who fit what the register knows of the target, or who can be behind a record that does."""
    fits = records_that_may_fit(register, shared)
    fits |= people_behind(table, alike, register, _columns(shared))
    people = int(np.count_nonzero(fits))
    if not people:
        raise DataError(_nobody(register, shared))
    return people


def _plain_guess(guess: tuple[Value, Fraction]) -> dict[str, Any]:
    return {"value": _plain_label(guess[0]), "probability": float(guess[1])}


def _plain_label(label: object) -> Any:
    """Return a label as what JSON can hold."""
    if isinstance(label, tuple):
        return [_plain_label(part) for part in label]
    return label if label is None or isinstance(label, str | int | float) else str(label)


def _plain_count(count: Fraction) -> int | float:
    return int(count) if count.denominator == 1 else float(count)
