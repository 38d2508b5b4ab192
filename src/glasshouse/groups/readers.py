"""Releases from tables: generalised values, values with a group column, and Anatomy's two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Codes, Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.groups.labels import Ancestors, ValueSets, domain_of, labelled_sets
from glasshouse.groups.release import Attribute, Release, Scheme, Sensitive, joint_column, prior_of
from glasshouse.language import marked, quoted, text
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.generalised import is_suppressed
from glasshouse.table.partition import Partition, refined

Domains: TypeAlias = Mapping[str, Sequence[object]] | EncodedTable
"""Per attribute its values, be they in the release or not; a table stands for the values that its columns have."""
Hierarchies: TypeAlias = Mapping[str, Ancestors]
"""Per attribute a hierarchy: per value its labels, from the most specific to the root."""


def from_generalised(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    group: str | None = None,
    domains: Domains | None = None,
    hierarchies: Hierarchies | None = None,
    leave_out_suppressed: bool = False,
) -> Release:
    """Return the horizontal release that a table of generalised values is: what recoding writes.

    Args:
        table: The table as published.
        quasi_identifiers: The generalised attributes; by default the table's quasi-identifiers.
        sensitive: The sensitive attributes, taken together; by default the table's.
        group: The column of group names, if there is one; otherwise rows with the same labels are a group.
        domains: The values that people can have, by attribute, or a table that has them (the original: the observed
            domain). By default the hierarchy's, or what the release names itself.
        hierarchies: Per attribute its hierarchy, where labels do not explain themselves.
        leave_out_suppressed: Whether records of which everything is ``*`` are left out. By default they stay: their
            sensitive values are published, and anybody's record may be one of them.

    Raises:
        DataError: A generalised value is outside its domain or hierarchy, or rows of a group differ.

    >>> from glasshouse.table import read
    >>> table = read(pa.table({"age": ["20-29", "20-29", "30"], "ill": ["flu", "HIV", "flu"]}),
    ...     quasi_identifiers=["age"], sensitive=["ill"])
    >>> release = from_generalised(table, domains={"age": range(20, 31)})
    >>> release.groups, release.is_laminar
    (2, True)
    """
    names, secrets = _roles(table, quasi_identifiers, sensitive, group)
    records = np.arange(table.records)
    if leave_out_suppressed:
        records = np.flatnonzero(~is_suppressed(table, names))
    if not len(records):
        raise DataError("{table}: no record is left in any group; release more", table=table.name)
    columns = [table.column(name) for name in names]
    by_labels = refined([_taken(column, records) for column in columns], len(records))
    classes = by_labels if group is None else _groups(table, group, records, by_labels)
    order = classes.order.astype(np.int64)
    firsts = records[order[classes.starts[:-1]]]
    given_domains = _domains(domains, names)
    attributes, codes = [], []
    for column in columns:
        attribute, label = _labelled(
            column, records, given_domains.get(column.name), (hierarchies or {}).get(column.name)
        )
        attributes.append(attribute)
        codes.append(label[column.codes[firsts]])
    secret, secret_codes = _sensitive(table, secrets, records, domains)
    return Release(
        name=table.name,
        scheme=Scheme.HORIZONTAL,
        attributes=tuple(attributes),
        sensitive=secret,
        starts=classes.starts,
        sensitive_codes=secret_codes[order],
        codes=np.ascontiguousarray(np.stack(codes, axis=1)),
        positions=records[order],
        left_out=table.records - len(records),
    )


def from_group_column(
    table: EncodedTable,
    *,
    group: str,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    domains: Domains | None = None,
) -> Release:
    """Return the vertical release that a table with a group column is: values as they are, links cut within groups.

    Args:
        table: The table as published; which row of a group stands beside which sensitive value means nothing.
        group: The column of group names.
        quasi_identifiers: The non-sensitive attributes; by default the table's quasi-identifiers but the group.
        sensitive: The sensitive attributes, taken together; by default the table's.
        domains: The values that people can have, by attribute; by default those in the release.

    Raises:
        DataError: A value is outside its domain, or a person is in two groups.

    >>> from glasshouse.table import read
    >>> table = read(pa.table({"age": [20, 30, 40], "ill": ["flu", "HIV", "flu"], "group": [1, 1, 2]}))
    >>> from_group_column(table, group="group", quasi_identifiers=["age"], sensitive=["ill"]).sizes.tolist()
    [2, 1]
    """
    by_group = _group_column(table, group)
    names, secrets = _roles(table, quasi_identifiers, sensitive, group)
    records = np.arange(table.records)
    _check_nobody_twice(table, group)
    classes = refined([by_group], table.records)
    secret, secret_codes = _sensitive(table, secrets, records, domains)
    return _vertical(table, names, domains, classes, secret, secret_codes[classes.order])


def from_anatomy(
    known: EncodedTable,
    sensitive: EncodedTable,
    *,
    group: str = "group",
    count: str | None = "count",
    quasi_identifiers: Sequence[str] | None = None,
    values: Sequence[str] | None = None,
    domains: Domains | None = None,
) -> Release:
    """Return the vertical release that Anatomy's two tables are (Xiao and Tao 2006).

    Args:
        known: Per person the non-sensitive values and the group.
        sensitive: Per group its sensitive values, each with how many people of the group have it.
        group: The column of group names, in both.
        count: The column of these numbers; None, or not there: one person per row.
        quasi_identifiers: The non-sensitive attributes; by default the quasi-identifiers of ``known``, or else all its
            columns but the group.
        values: The sensitive attributes, taken together; by default all columns of ``sensitive`` but group and count.
        domains: The values that people can have, by attribute; by default those in the release.

    Raises:
        DataError: A group has more sensitive values than rows, or fewer, or is in one table only; a count is no number.
    """
    names = list(quasi_identifiers or known.quasi_identifiers)
    names = [name for name in names or known.columns if name != group]
    secrets = [name for name in values or sensitive.columns if name not in (group, count)]
    if not names or not secrets:
        raise StudyError(
            "Anatomy's tables need a non-sensitive and a sensitive column beside the group"
        )
    by_group = _group_column(known, group)
    _check_nobody_twice(known, group)
    classes = refined([by_group], known.records)
    number = {
        by_group.values[int(by_group.codes[first])].as_py(): place
        for place, first in enumerate(classes.order[classes.starts[:-1]].tolist())
    }
    group_of_row = _group_of_row(sensitive, group, number, known.name)
    times = _times(sensitive, count, known)
    counted = np.bincount(group_of_row, weights=times, minlength=classes.classes).astype(np.int64)
    _check_sizes(classes, counted, list(number), known.name)
    repeated = np.repeat(np.arange(sensitive.records), times)
    group_of = group_of_row[repeated]
    secret, secret_codes = _sensitive(sensitive, secrets, np.arange(sensitive.records), domains)
    secret_codes = secret_codes[repeated[np.argsort(group_of, kind="stable")]]
    return _vertical(known, names, domains, classes, secret, secret_codes)


def _vertical(
    table: EncodedTable,
    names: Sequence[str],
    domains: Domains | None,
    classes: Partition,
    sensitive: Sensitive,
    sensitive_codes: Codes,
) -> Release:
    """Return a vertical release: its groups with their sensitive values, and the values of each row as they are."""
    texts = _domains(domains, names)
    order = classes.order.astype(np.int64)
    attributes, codes = [], []
    for name in names:
        column = table.column(name)
        values = texts.get(name) or tuple(sorted(column.values.to_pylist()))
        code_of_text = recoded(column, values, where=text('the domain of "{name}"', name=name))
        sets = ValueSets.singletons(len(values))
        attributes.append(Attribute(name, values, prior_of("beta", 1, name, values), values, sets))
        codes.append(code_of_text[column.codes[order]])
    return Release(
        name=table.name,
        scheme=Scheme.VERTICAL,
        attributes=tuple(attributes),
        sensitive=sensitive,
        starts=classes.starts,
        sensitive_codes=sensitive_codes,
        codes=np.stack(codes, axis=1),
        positions=order,
    )


def _roles(
    table: EncodedTable,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    group: str | None,
) -> tuple[list[str], list[str]]:
    names = list(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    names = [name for name in names if name != group]
    secrets = list(table.sensitive if sensitive is None else sensitive)
    if group in secrets:
        raise StudyError(
            '{table}: "{group}" is sensitive, and cannot name the groups; name another column',
            table=table.name,
            group=group,
        )
    if not names or not secrets:
        raise StudyError(
            "{table}: name the quasi-identifiers and the sensitive attribute of the release; one is missing",
            table=table.name,
        )
    for name in [*names, *secrets, *([] if group is None else [group])]:
        table.column(name)
    return names, secrets


def _domains(domains: Domains | None, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the given domains as texts, each value once, in the order in which they were given."""
    if domains is None:
        return {}
    if isinstance(domains, EncodedTable):
        return {
            name: tuple(sorted(domains.columns[name].values.to_pylist()))
            for name in names
            if name in domains.columns
        }
    return {name: tuple(dict.fromkeys(map(str, values))) for name, values in domains.items()}


def _taken(column: EncodedColumn, records: Integers) -> EncodedColumn:
    return EncodedColumn(column.name, column.codes[records], column.values)


def _used(column: EncodedColumn, records: Integers) -> Integers:
    """Return the codes that records have, in ascending order."""
    return np.flatnonzero(np.bincount(column.codes[records], minlength=column.cardinality))


def _labelled(
    column: EncodedColumn,
    records: Integers,
    domain: tuple[str, ...] | None,
    hierarchy: Ancestors | None,
) -> tuple[Attribute, Codes]:
    """Return an attribute of a horizontal release, and the label's code for each code of its column."""
    used = _used(column, records)
    texts = column.values.take(pa.array(used)).to_pylist()
    values = domain or domain_of(column.name, texts, hierarchy)
    sets = labelled_sets(column.name, texts, values, hierarchy)
    label = np.full(column.cardinality, -1, np.int32)
    label[used] = np.arange(len(used))
    beta = prior_of("beta", 1, column.name, values)
    return Attribute(column.name, values, beta, tuple(texts), sets), label


def recoded(column: EncodedColumn, values: Sequence[str], *, where: str) -> Codes:
    """Return, for each code of a column, the position of its text among some values.

    Raises:
        DataError: A text is not among them.
    """
    code = {value: number for number, value in enumerate(values)}
    texts = column.values.to_pylist()
    for written in texts:
        if written not in code:
            raise DataError(
                "{value} is not in {where}; give a domain that holds it",
                value=quoted([written]),
                where=where,
            )
    return np.array([code[written] for written in texts], np.int32)


def _sensitive(
    table: EncodedTable, names: Sequence[str], records: Integers, domains: Domains | None
) -> tuple[Sensitive, Codes]:
    """Return the sensitive attribute, and the codes of the kept records."""
    column = joint_column([table.column(name) for name in names], table.records)
    given = None if isinstance(domains, EncodedTable) else _domains(domains, []).get(column.name)
    used = column.values.take(pa.array(_used(column, records))).to_pylist()
    values = given or tuple(sorted(used))
    code_of_text = np.full(column.cardinality, -1, np.int32)
    chosen = EncodedColumn(column.name, np.zeros(0, np.uint8), pa.array(used, pa.large_string()))
    code_of_text[_used(column, records)] = recoded(
        chosen, values, where=text('the domain of "{name}"', name=column.name)
    )
    sensitive = Sensitive(tuple(names), values, prior_of("alpha", 1, column.name, values))
    return sensitive, code_of_text[column.codes[records]]


def _groups(table: EncodedTable, group: str, records: Integers, by_labels: Partition) -> Partition:
    """Return the groups that a column names, whose rows must have the same labels."""
    _check_nobody_twice(table, group)
    classes = refined([_taken(table.column(group), records)], len(records))
    both = refined([_taken(table.column(group), records)], len(records), by_labels)
    if both.classes != classes.classes:
        labels_of_groups = both.numbers[classes.order[classes.starts[:-1]]]
        row = int(np.argmax(both.numbers != labels_of_groups[classes.numbers]))
        column = table.column(group)
        raise DataError(
            "{table}: rows of group {group} differ in their generalised values; in a horizontal "
            "release they are alike (read a vertical one with its groups' values as they are)",
            table=table.name,
            group=quoted([column.values[int(column.codes[records[row]])].as_py()]),
        )
    return classes


def _group_column(table: EncodedTable, group: str) -> EncodedColumn:
    """Return the column of group names.

    Raises:
        DataError: It is not there; where only columns with roles were read, that is said.
    """
    if group not in table.columns and (table.quasi_identifiers or table.sensitive):
        raise DataError(
            '{table}: the column of groups, "{group}", was not read: where roles are given, only columns that have one '
            "are; read the table without roles, or with also=[{group}]",
            table=table.name,
            group=group,
        )
    return table.column(group)


def _check_nobody_twice(table: EncodedTable, group: str) -> None:
    """Refuse overlapping groups: a person, where the table names people, is in one group."""
    if table.identifier is None:
        return
    people = refined([table.column(table.identifier)], table.records)
    both = refined([table.column(group)], table.records, people)
    if both.classes == people.classes:
        return
    groups = np.bincount(people.numbers[both.order[both.starts[:-1]]], minlength=people.classes)
    first = int(people.order[people.starts[int(np.argmax(groups > 1))]])
    column = table.column(table.identifier)
    written = column.values[int(column.codes[first])].as_py()
    raise DataError(
        '{table}: groups overlap, {value} of "{column}" is in two of them; put each person in one',
        table=table.name,
        value=quoted([written]),
        column=column.name,
    )


def _group_of_row(
    sensitive: EncodedTable, group: str, number: Mapping[str, int], known: str
) -> Integers:
    """Return, per row of the sensitive table, the number of its group."""
    column = _group_column(sensitive, group)
    texts = column.values.to_pylist()
    for written in texts:
        if written not in number:
            raise DataError(
                "group {group} of {table} has sensitive values but no row in {known}; give "
                "both tables of one release",
                group=quoted([written]),
                table=sensitive.name,
                known=known,
            )
    return np.array([number[written] for written in texts], np.int64)[column.codes]


def _times(sensitive: EncodedTable, count: str | None, known: EncodedTable) -> Integers:
    """Return, per row of the sensitive table, how many people have its value; nobody can count more than there are."""
    if count is None or count not in sensitive.columns:
        return np.ones(sensitive.records, np.int64)
    column = sensitive.column(count)
    counts = []
    for written in column.values.to_pylist():
        try:
            times = int(written)
        except ValueError:
            raise DataError(
                '{table}: "{count}" holds {value}, which is not a whole number; correct it',
                table=sensitive.name,
                count=count,
                value=quoted([written[:40]]),
            ) from None
        if not 0 <= times <= known.records:
            raise DataError(
                '{table}: "{count}" holds {value}, which cannot be a number of the '
                "{people} people of {other}; correct it",
                table=sensitive.name,
                count=count,
                value=quoted([written[:40]]),
                people=known.records,
                other=known.name,
            )
        counts.append(times)
    return np.array(counts, np.int64)[column.codes]


def _check_sizes(classes: Partition, counted: Integers, names: Sequence[str], where: str) -> None:
    unlike = classes.sizes != counted
    if unlike.any():
        worst = int(np.argmax(unlike))
        template = marked(
            "group {group} of {where} has more sensitive values ({values}) than rows ({rows}); every person has one"
        )
        if counted[worst] < classes.sizes[worst]:
            template = marked(
                "group {group} of {where} has fewer sensitive values ({values}) than rows ({rows}); every person has "
                "one"
            )
        raise DataError(
            template,
            group=quoted([names[worst]]),
            where=where,
            values=int(counted[worst]),
            rows=int(classes.sizes[worst]),
        )
