"""An anonymised table as an adversary sees it: groups of rows, sensitive values, and what hides the rest.

Boreale, Corradi and Viscardi (2020, section II): the rows of a table are arranged in groups. Of each group the
sensitive values are published, and its non-sensitive values

- in a *horizontal* release (k-anonymity, l-diversity by recoding) as one generalised value per attribute, a set that
  holds the true value of every row of the group;
- in a *vertical* release (Anatomy) as they are, but not which row has which sensitive value.

The model of the population (section III): π_S ~ Dirichlet(α); given the sensitive value s, the attributes are
independent, attribute a with π_a|s ~ Dirichlet(β_a).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Codes, Floats, Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.groups.labels import ValueSets, starts_of
from glasshouse.language import text, unknown_name
from glasshouse.table import EncodedColumn
from glasshouse.table.partition import refined

Number: TypeAlias = int | float | str | Decimal | Fraction
"""What a caller may give for a parameter of a prior; a float stands for the decimal that it is written as."""


class Scheme(StrEnum):
    """How the link between sensitive and non-sensitive values is hidden."""

    HORIZONTAL = "horizontal"
    """Values are generalised, alike in all rows of a group."""
    VERTICAL = "vertical"
    """Values are as they were; which row of the group has which sensitive value is not told."""


@dataclass(frozen=True)
class Attribute:
    """A non-sensitive attribute: what an adversary can know of a person."""

    name: str
    """Its name."""
    values: tuple[str, ...]
    """Its domain: every value that a person of the population can have. Codes are positions in it."""
    beta: tuple[Fraction, ...]
    """Per value, the parameter of the Dirichlet prior, the same for every sensitive value."""
    labels: tuple[str, ...]
    """The texts by which a horizontal release names sets of values; of a vertical one, the values themselves."""
    sets: ValueSets
    """Per label, the values that it stands for."""

    @cached_property
    def betas(self) -> Floats:
        """The prior's parameters as floats."""
        return np.array(list(map(float, self.beta)))

    @cached_property
    def code(self) -> dict[str, int]:
        """The code of each value."""
        return {value: code for code, value in enumerate(self.values)}

    def labels_of_values(self) -> dict[str, list[str]]:
        """Return, per value of the domain, the labels that stand for it among others."""
        labels: dict[str, list[str]] = {value: [] for value in self.values}
        for number, label in enumerate(self.labels):
            for code in self.sets.values(number).tolist():
                labels[self.values[code]].append(label)
        return labels


@dataclass(frozen=True)
class Sensitive:
    """The sensitive attribute, or several taken together."""

    names: tuple[str, ...]
    """The names of the columns."""
    values: tuple[str, ...]
    """The domain; of several columns, their values with a comma between them. Codes are positions in it."""
    alpha: tuple[Fraction, ...]
    """Per value, the parameter of the Dirichlet prior."""

    @cached_property
    def alphas(self) -> Floats:
        """The prior's parameters as floats."""
        return np.array(list(map(float, self.alpha)))

    @cached_property
    def code(self) -> dict[str, int]:
        """The code of each value."""
        return {value: code for code, value in enumerate(self.values)}


@dataclass(frozen=True)
class Release:
    """An anonymised table, its domains and the prior: everything that learner and attacker reason with.

    Rows stand group by group. In a vertical release, the i-th entry of ``sensitive_codes`` and the i-th row of
    ``codes`` are in the same group, and nothing else connects them.

    Raises:
        DataError: Sizes do not fit each other, or a code is outside its domain.
    """

    name: str
    """What results call it."""
    scheme: Scheme
    """Horizontal or vertical."""
    attributes: tuple[Attribute, ...]
    """The non-sensitive attributes."""
    sensitive: Sensitive
    """The sensitive attribute."""
    starts: Integers
    """Per group, where its rows begin; one more entry closes the last."""
    sensitive_codes: Codes
    """Per row, the code of its sensitive value."""
    codes: Codes
    """Horizontal: per group and attribute, the code of its label (groups × attributes). Vertical: per row and
    attribute, the code of its value (rows × attributes)."""
    positions: Integers | None = None
    """Per row, the position of its record in the table that was read, where rows are records of it; else None."""
    left_out: int = 0
    """How many records of that table are in no group, because all their values are suppressed."""

    def __post_init__(self) -> None:
        rows, groups, width = len(self.sensitive_codes), len(self.starts) - 1, len(self.attributes)
        height = groups if self.scheme is Scheme.HORIZONTAL else rows
        if (
            self.codes.shape != (height, width)
            or groups < 1
            or self.starts[-1] != rows
            or not width
        ):
            raise DataError(
                "{name}: groups, rows and attributes do not fit each other; give one sensitive value per row and "
                "at least one attribute and one group",
                name=self.name,
            )
        if (np.diff(self.starts) < 1).any():
            raise DataError("{name}: a group has no row; leave it out", name=self.name)
        if self.sensitive_codes.min() < 0 or self.sensitive_codes.max() >= len(
            self.sensitive.values
        ):
            raise DataError(
                "{name}: a sensitive code is outside its domain; give codes of it", name=self.name
            )
        limits = [len(attribute.labels) for attribute in self.attributes]
        if (self.codes < 0).any() or (self.codes >= np.array(limits)).any():
            raise DataError(
                "{name}: a code of an attribute is outside its domain; give codes of it",
                name=self.name,
            )

    @property
    def records(self) -> int:
        """The number of rows in groups."""
        return len(self.sensitive_codes)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    @property
    def is_vertical(self) -> bool:
        """Whether rows are permuted rather than generalised."""
        return self.scheme is Scheme.VERTICAL

    @cached_property
    def sizes(self) -> Integers:
        """Per group, its number of rows."""
        return np.diff(self.starts)

    @cached_property
    def group_of_row(self) -> Integers:
        """Per row, the number of its group."""
        return np.repeat(np.arange(self.groups), self.sizes)

    @cached_property
    def counts(self) -> Integers:
        """Per sensitive value, in how many rows it is (γ_s, known from the release)."""
        return np.bincount(self.sensitive_codes, minlength=len(self.sensitive.values))

    @cached_property
    def value_starts(self) -> Integers:
        """Where the values of each attribute start, counted through all attributes, and where the last ones end."""
        return starts_of([len(attribute.values) for attribute in self.attributes])

    @cached_property
    def expected_shares(self) -> tuple[Fraction, ...]:
        """E[π_S(s)] per sensitive value s, which the release tells exactly."""
        rows = zip(self.sensitive.alpha, self.counts.tolist(), strict=True)
        gamma = [alpha + count for alpha, count in rows]
        return tuple(weight / sum(gamma) for weight in gamma)

    @cached_property
    def sensitive_counts(self) -> tuple[Integers, Codes, Integers]:
        """The distinct sensitive values of each group: where they begin, their codes, how often each is there."""
        width = len(self.sensitive.values)
        cells, counts = np.unique(
            self.group_of_row * width + self.sensitive_codes, return_counts=True
        )
        starts = np.searchsorted(cells, np.arange(self.groups + 1) * width)
        return starts, (cells % width).astype(np.int32), counts

    @cached_property
    def is_laminar(self) -> bool:
        """Whether it is horizontal and, per attribute, any two labels are disjoint or nested: the closed form holds."""
        if self.is_vertical:
            return False
        return all(attribute.sets.is_laminar for attribute in self.attributes)

    def attribute(self, name: str) -> Attribute:
        """Return an attribute by its name.

        Raises:
            StudyError: There is no such attribute; the near ones are named.
        """
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        names = [attribute.name for attribute in self.attributes]
        raise StudyError(unknown_name("attribute", name, self.name, names))

    def with_prior(
        self,
        *,
        alpha: Number | dict[str, Number] = 1,
        beta: Number | dict[str, Number | dict[str, Number]] = 1,
    ) -> Release:
        """Return the same release under another prior.

        Args:
            alpha: The parameter of every sensitive value, or per value; values that are not named have 1.
            beta: The parameter of every value of every attribute; or per attribute; or per attribute and value. What
                is not named has 1.

        Raises:
            StudyError: A parameter is not above 0, or names something that is not there.
        """
        secret = self.sensitive
        per_attribute = beta if isinstance(beta, dict) else {a.name: beta for a in self.attributes}
        for name in per_attribute:
            self.attribute(name)
        attributes = tuple(
            replace(
                attribute,
                beta=prior_of(
                    "beta", per_attribute.get(attribute.name, 1), attribute.name, attribute.values
                ),
            )
            for attribute in self.attributes
        )
        named = ", ".join(secret.names)
        sensitive = replace(secret, alpha=prior_of("alpha", alpha, named, secret.values))
        return replace(self, attributes=attributes, sensitive=sensitive)

    def to_dict(self) -> dict[str, Any]:
        """Return the release as it is written out: `glasshouse.groups.release_json.from_json` reads it again.

        Several sensitive attributes are one by then, and nothing says from which records the rows were read.
        """
        secret = self.sensitive
        texts = [
            [attribute.labels[code] for attribute, code in zip(self.attributes, row, strict=True)]
            for row in self.codes.tolist()
        ]
        groups: list[dict[str, Any]] = []
        for group, (begin, end) in enumerate(pairwise(self.starts.tolist())):
            shown = (
                {"rows": texts[begin:end]} if self.is_vertical else {"generalised": texts[group]}
            )
            values = [secret.values[code] for code in self.sensitive_codes[begin:end]]
            groups.append({"sensitive": values, **shown})
        return {
            "name": self.name,
            "attributes": [
                {
                    "name": attribute.name,
                    "values": list(attribute.values),
                    "beta": dict(zip(attribute.values, map(str, attribute.beta), strict=True)),
                    **({} if self.is_vertical else {"hierarchy": attribute.labels_of_values()}),
                }
                for attribute in self.attributes
            ],
            "sensitive": {
                "name": ", ".join(secret.names),
                "values": list(secret.values),
                "alpha": dict(zip(secret.values, map(str, secret.alpha), strict=True)),
            },
            "groups": groups,
        }

    def to_frame(self) -> pa.Table:
        """Return one row per row of the release: its group, its sensitive value, and its values or labels."""
        columns: dict[str, pa.Array] = {"group": pa.array(self.group_of_row)}
        codes = self.codes if self.is_vertical else self.codes[self.group_of_row]
        for place, attribute in enumerate(self.attributes):
            columns[attribute.name] = pa.array(attribute.labels).take(pa.array(codes[:, place]))
        secret = self.sensitive
        columns[", ".join(secret.names)] = pa.array(secret.values).take(
            pa.array(self.sensitive_codes)
        )
        return pa.table(columns)


def joint_column(columns: Sequence[EncodedColumn], records: int) -> EncodedColumn:
    """Return several columns as one, the values of each record with a comma between them; their own are escaped."""
    if len(columns) == 1:
        return columns[0]
    classes = refined(columns, records)
    first = classes.order[classes.starts[:-1]]
    parts = [_escaped(column.values).take(pa.array(column.codes[first])) for column in columns]
    texts = pc.binary_join_element_wise(*parts, pa.scalar(", ", pa.large_string()))
    name = ", ".join(column.name for column in columns)
    return EncodedColumn(name, classes.numbers, texts)


def _escaped(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    return pc.replace_substring(pc.replace_substring(texts, "\\", "\\\\"), ",", "\\,")


def prior_of(
    letter: str, given: Number | dict[str, Number], name: str, values: tuple[str, ...]
) -> tuple[Fraction, ...]:
    """Return the parameter of a Dirichlet prior for each value of a domain: one for all, or by value.

    Raises:
        StudyError: A parameter is no number above 0, or names a value that is not in the domain.

    >>> prior_of("alpha", {"flu": "1/2"}, "disease", ("flu", "HIV"))
    (Fraction(1, 2), Fraction(1, 1))
    """
    if not isinstance(given, dict):
        return (_positive(letter, given, name),) * len(values)
    known = set(values)
    for value in given:
        if value not in known:
            where = text('the domain of "{name}"', name=name)
            raise StudyError(f"{letter}: {unknown_name('value', value, where, values)}")
    return tuple(_positive(letter, given.get(value, 1), name) for value in values)


def _positive(letter: str, given: Number, name: str) -> Fraction:
    if isinstance(given, float) and not isfinite(given):
        raise StudyError(
            '{letter} of "{name}" is not a number that can be calculated with (it is infinite, or none at '
            "all); give a finite number above 0",
            letter=letter,
            name=name,
        )
    try:
        number = Fraction(str(given)) if isinstance(given, float) else Fraction(given)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise StudyError(
            '{letter} of "{name}" is {given}; give a number above 0',
            letter=letter,
            name=name,
            given=repr(given),
        ) from None
    if number <= 0:
        raise StudyError(
            '{letter} of "{name}" is {given}; a Dirichlet prior needs a number above 0',
            letter=letter,
            name=name,
            given=str(given),
        )
    return number
