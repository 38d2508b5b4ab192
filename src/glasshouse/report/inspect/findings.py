"""What a file holds, in sentences, and on a terminal: its columns, and the role that each is likely to play."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from glasshouse.language import marked, number, printable, quoted, text, text_for, translated
from glasshouse.report.discretion import DISCREET, Discretion
from glasshouse.report.first_look import owner_sentence
from glasshouse.report.labels import short_label
from glasshouse.report.page import Brief, Cell, Column, Finding, Group, Severity, Table, note
from glasshouse.study.adversaries import catalogue
from glasshouse.table.identifiers import CHECKED
from glasshouse.table.profiles import (
    BROKEN,
    FREE_TEXT,
    PADDED,
    VARIANTS,
    ZEROS,
    ColumnProfile,
    TableProfile,
    meaning_of,
    owner_column,
    person_column,
)

NARROW, WIDE = 76, 100
"""Below and from these numbers of columns on, a terminal is shown less and more."""
MOST_LABELS = 3
"""So many labels of a column's values are told."""
MOST_NAMED = 12
"""So many values that may stand for missing are named."""
PROFILED = (
    *(marked("integer"), marked("number"), marked("date"), marked("text")),
    *(marked("quasi-identifier"), marked("sensitive"), marked("identifier"), marked("weight")),
    marked("ignored"),
)
"""What the values of a column may look like, and the roles that it may have."""
ROLES = marked(
    "Roles are suggestions from names and values: a column is a quasi-identifier if someone could know it."
)
ODDITIES = {
    PADDED: marked("Values with blanks around them: {columns}."),
    ZEROS: marked("Codes with zeros before them, which are kept as they are: {columns}."),
    BROKEN: marked(
        "Letters that were broken before the file was written, by a wrong encoding: {columns}."
    ),
    VARIANTS: marked(
        "Values that differ in nothing but capitals, accents or blanks, and count as different: {columns}."
    ),
}
"""What is said of odd values."""


def inspect_brief(profile: TableProfile, *, width: int) -> Brief:
    """Return a row per column, with the suggested role and its reason: beside it, or else below it.

    Args:
        profile: What the file holds.
        width: How many characters wide the terminal is.
    """
    counts = (text("distinct"), text("missing"), text("unique"))
    counted = len(counts) if width >= NARROW else 1
    columns = (
        *(Column(text("column")), Column(text("values"))),
        *(Column(count, numeric=True) for count in counts[:counted]),
        Column(text("suggested role")),
        *([Column(text("because"))] if width >= WIDE else []),
    )
    rows = tuple(_row(column, counted, wide=width >= WIDE) for column in profile.columns)
    sentences = (
        f"{finding.sentence} {finding.remedy}".rstrip()
        for finding in Findings(profile, Discretion(exact=True)).all()
    )
    table = Table(columns, (Group(rows),), size_of(profile))
    return Brief((table, translated(ROLES), *sentences, *_who_knows(profile)))


def known_columns(profile: TableProfile) -> dict[str, tuple[str, ...]]:
    """Return which columns of a file each adversary of the catalogue would know, by her name; some know none."""
    meanings = {column.name: meaning_of(column) for column in profile.columns}
    columns = {}
    for name, one in catalogue().items():
        known = {column for names in one.in_columns(meanings).columns.values() for column in names}
        if known:
            columns[name] = tuple(column for column in meanings if column in known)
    return columns


def _who_knows(profile: TableProfile) -> Iterator[str]:
    """Say who of the catalogue would know most of the columns: one of each country."""
    most: dict[str, tuple[int, str]] = {}
    for name, columns in known_columns(profile).items():
        country = name.partition("/")[0]
        if len(columns) > most.get(country, (0, ""))[0]:
            most[country] = len(columns), name
    if most:
        yield text(
            "Of the adversaries in the catalogue, these could know most of the columns: {adversaries}. To see "
            "what each would learn: assess --adversary all.",
            adversaries=", ".join(
                f"{name} ({number(count)})" for count, name in sorted(most.values(), reverse=True)
            ),
        )


def size_of(profile: TableProfile) -> str:
    """Say how many records and columns a file has."""
    return text(
        "{name}: {records}, {columns}",
        name=profile.name,
        records=text_for(profile.records, "{count} record", "{count} records"),
        columns=text_for(len(profile.columns), "{count} column", "{count} columns"),
    )


def _row(column: ColumnProfile, counted: int, *, wide: bool) -> tuple[Cell, ...]:
    counts = (column.distinct, column.missing, column.unique)[:counted]
    role = translated(column.role.value)
    reason = (role, column.reason) if wide else (f"{role}\n  {column.reason}",)
    name = f"{column.name}\n  {short_label(column.label)}" if column.label else column.name
    return tuple(map(Cell, (name, kind_of(column), *map(number, counts), *reason)))


def kind_of(column: ColumnProfile) -> str:
    """Say what the values of a column look like; of dates, how they are written, and of codes their first labels."""
    kind = translated(column.kind) if column.kind else "–"
    if column.value_labels:
        first = list(column.value_labels.items())[:MOST_LABELS]
        labels = [f"{printable(code)} = {short_label(label)}" for code, label in first]
        labels += ["…"] if len(column.value_labels) > MOST_LABELS else []
        return f"{kind}: {', '.join(labels)}"
    return f"{kind} {column.dates[0]}" if len(column.dates) == 1 else kind


def missing_options(columns: Sequence[ColumnProfile]) -> str:
    """Return what makes values that may stand for missing do so, as it is typed."""
    words = []
    for column in columns:
        codes = [f'"{code}"' if "," in code else code for code, _ in column.maybe_missing]
        words += ["--missing", f"{column.name}={','.join(codes)}"] if codes else []
    return shlex.join(words)


@dataclass(frozen=True)
class Findings:
    """What would make the answer of an assessment another one than was meant."""

    profile: TableProfile
    """What the file holds."""
    discretion: Discretion = DISCREET
    """Whether small counts, and values of people, may be told: on a terminal, not on a page."""

    def all(self) -> tuple[Finding, ...]:
        """Return them, those about the records first."""
        return (
            *self._strays(),
            *self._people(),
            *self._direct(),
            *self._missing(),
            *self._dates(),
            *self._numbers(),
            *self._oddities(),
        )

    def _strays(self) -> Iterator[Finding]:
        if self.profile.headers:
            yield note(
                text_for(
                    self.profile.headers,
                    "{count} record repeats the header and is nobody's.",
                    "{count} records repeat the header and are nobody's.",
                ),
                remedy=_left_out(),
            )
        if self.profile.totals:
            yield note(
                text_for(
                    self.profile.totals,
                    "{count} record looks like a total or a remark, and is nobody's.",
                    "{count} records look like totals or remarks, and are nobody's.",
                ),
                remedy=_left_out(),
            )

    def _people(self) -> Iterator[Finding]:
        person = person_column(self.profile.columns)
        if person is not None and person.nameless:
            yield note(
                text(
                    "{column} looks like a person's identifier, but in {records} it is missing or stands for nobody in "
                    "particular: as the identifier it would leave out people, so the command does not use it.",
                    column=quoted([person.name]),
                    records=self._records(person.nameless),
                )
            )
        elif person is not None and person.repeats:
            yield note(
                text(
                    "{repeats} belong to somebody who already has a record (by {column}): give the column as --person, "
                    "to see what someone who knows several records of one person learns, or as the identifier, so that "
                    "each person counts once.",
                    repeats=text_for(person.repeats, "{count} record", "{count} records"),
                    column=quoted([person.name]),
                )
            )
        elif sentence := owner_sentence(owner_column(self.profile.columns)):
            yield note(sentence)
        if self.profile.repeated:
            yield note(
                text_for(
                    self.profile.repeated,
                    "{count} record equals an earlier one in every column: something happened twice, or was written "
                    "twice.",
                    "{count} records equal an earlier one in every column: something happened twice, or was written "
                    "twice.",
                )
            )

    def _records(self, count: int) -> str:
        if self.discretion.exact:
            return text_for(count, "{count} record", "{count} records")
        return text("{number} records", number=self.discretion.count(count))

    def _direct(self) -> Iterator[Finding]:
        direct = [column for column in self.profile.columns if column.is_direct]
        if direct:
            yield Finding(
                Severity.HIGH,
                text(
                    "These columns identify or reach people by themselves, and belong in no release: {columns}.",
                    columns=", ".join(
                        f"{printable(column.name)} ({translated(column.looks_like)})"
                        for column in direct
                    ),
                ),
            )
        texts = [column.name for column in self.profile.columns if column.looks_like == FREE_TEXT]
        if texts:
            yield Finding(
                Severity.MODERATE,
                text(
                    "Free text may mention anybody: read it, or leave it out of the release: {columns}.",
                    columns=quoted(texts),
                ),
            )

    def _missing(self) -> Iterator[Finding]:
        columns = [column for column in self.profile.columns if column.looks_like not in CHECKED]
        template = (
            marked("{value} in {column} ({records})")
            if self.discretion.exact
            else marked("{value} in {column}")
        )
        codes = [
            translated(
                template,
                value=quoted([value]),
                column=quoted([column.name]),
                records=number(count),
            )
            for column in columns
            for value, count in column.maybe_missing
        ]
        if codes:
            yield note(
                text(
                    "These values may stand for missing: {values}.",
                    values=", ".join(codes[:MOST_NAMED])
                    + (" …" if len(codes) > MOST_NAMED else ""),
                ),
                remedy=text("If they do, say {options}", options=missing_options(columns)),
            )

    def _dates(self) -> Iterator[Finding]:
        for column in self.profile.columns:
            name = quoted([column.name])
            if len(column.dates) > 1:
                yield note(
                    text(
                        "The dates of {column} do not show how they are written: both {first} and {second} fit all of "
                        "them.",
                        column=name,
                        first=column.dates[0],
                        second=column.dates[1],
                    )
                )
            elif column.kind == "date" and not column.dates:
                yield note(text("The dates of {column} are written in several ways.", column=name))

    def _numbers(self) -> Iterator[Finding]:
        for column in self.profile.columns:
            name = quoted([column.name])
            if len(column.numbers) > 1:
                sign = column.numbers[0][0]
                yield note(
                    text(
                        "The numbers of {column} do not show whether {sign} stands before decimals or between "
                        "thousands.",
                        column=name,
                        sign=quoted([sign]),
                    )
                )
            elif column.numbers and column.numbers != ((".", ""),):
                ((decimal, thousands),) = column.numbers
                words = ["--type", f"{column.name}=number"]
                words += ["--decimal", decimal] if decimal != "." else []
                words += ["--thousands", thousands] if thousands else []
                signs = {
                    "column": name,
                    "decimal": quoted([decimal]),
                    "thousands": quoted([thousands]),
                }
                yield note(
                    text(
                        "{column} holds numbers with {decimal} before decimals and {thousands} between thousands.",
                        **signs,
                    )
                    if thousands
                    else text("{column} holds numbers with {decimal} before decimals.", **signs),
                    remedy=text("{options} reads them so.", options=shlex.join(words)),
                )

    def _oddities(self) -> Iterator[Finding]:
        for what, sentence in ODDITIES.items():
            names = [c.name for c in self.profile.columns if what in dict(c.oddities)]
            if what == PADDED:
                names += [c.name for c in self.profile.columns if c.name != c.name.strip()]
            if names:
                columns = quoted(list(dict.fromkeys(names))[:MOST_NAMED])
                remedy = text("--strip drops the blanks.") if what == PADDED else ""
                yield note(translated(sentence, columns=columns), remedy=remedy)


def _left_out() -> str:
    return text("The proposed command leaves it out (--invalid).")
