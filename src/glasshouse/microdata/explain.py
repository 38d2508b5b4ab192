"""A collective attack step by step, for small data: the tables of Alvim et al. 2022 (Tables 4 and 10), as fractions.

From the records to the co-occurrence of secret and observation, to their joint distribution, to prior and channel, to
the hyper: what the fast loops never build, because only sums of it are needed. Here it is built with
`glasshouse.qif`, so that a reader can follow, and check, every number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.microdata.attack_kernels import record_weights
from glasshouse.microdata.attacks import attack_code
from glasshouse.qif import CoOccurrence
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.partition import partition

MOST_VALUES = 40
"""So many values of the secret, and so many observations, are shown at most."""
MOST_RECORDS = 1000
"""So many records are explained at most."""
NO_RECORD = "–"
"""How the absence of a record in an auxiliary dataset is written."""


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


def value_text(value: object) -> str:
    """Return a value, or several together, as one text.

    >>> value_text("F"), value_text(("F", "A", None))
    ('F', '(F, A, –)')
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(value_text, value))})"
    return NO_RECORD if value is None else str(value)


def explain(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    secret: Sequence[str] = (),
    weight: str | None = None,
) -> Explanation:
    """Build every table between the records and the hyper.

    Args:
        table: The release; small.
        quasi_identifiers: What the adversary knows; by default the table's quasi-identifiers.
        secret: The columns that she infers together; none: she re-identifies.
        weight: The column of record weights; by default the table's, else every record is as likely.

    Raises:
        StudyError: The data is too large to be shown.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"sex": ["F", "F", "M"], "ill": ["no", "yes", "no"]}), name="people")
    >>> steps = explain(people, quasi_identifiers=["sex"], secret=["ill"]).to_dict()
    >>> steps["observations"], steps["prior"], steps["inner"]
    (['(F)', '(M)'], ['2/3', '1/3'], [['1/2', '1'], ['1/2', '0']])
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    weights = record_weights(table, weight or table.weight)
    if weights.each.size and not weights.each.all():  # a record of weight 0 cannot be the target's
        table = table.of_records(weights.each > 0)
        weights = record_weights(table, weight or table.weight)
    columns = [column for name in names for column in table.columns_of(name)]
    _check_small(table, names, secret)
    observations = list(zip(*map(_texts, columns), strict=True)) or [()] * table.records
    amounts = [Fraction(int(each)) for each in weights.each] or None
    return Explanation(
        code=attack_code(table, secret),
        datasets=table.datasets,
        observed=tuple(column.name for column in columns),
        secret=tuple(secret),
        counts=CoOccurrence.from_records(_secrets(table, secret), observations, weights=amounts),
    )


def _check_small(table: EncodedTable, names: Sequence[str], secret: Sequence[str]) -> None:
    values = partition(table, secret).classes if secret else table.records
    seen = partition(table, names).classes
    if table.records <= MOST_RECORDS and max(values, seen) <= MOST_VALUES:
        return
    raise StudyError(
        text(
            "to explain step by step is for small data: at most {most_records} records, {most_values} values of the "
            "secret and {most_values} classes, not {records}, {values} and {classes}; take a part of it",
            most_records=MOST_RECORDS,
            most_values=MOST_VALUES,
            records=table.records,
            values=values,
            classes=seen,
        )
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
