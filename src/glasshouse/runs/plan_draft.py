"""A first plan, drafted from the files themselves: what their columns look like, and which of them belong together.

Columns belong together by their names and by the values that they have in common. Such a guess may be wrong: the draft
says what to check, and where nothing can be guessed it has a place to fill, with which no campaign begins. A column of
the totals that is neither key nor bin does no harm, since rows that differ only in it are added up.
"""

from __future__ import annotations

import itertools
import os
import unicodedata
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomli_w

from glasshouse.arrays import Integers
from glasshouse.language import marked, quoted, text, translated
from glasshouse.reconstruction.group_instance import MOST_DECIMALS
from glasshouse.reconstruction.publications import (
    DECIMALS,
    NO_NUMBER,
    NUMBER_FORMS,
    Faults,
    amounts,
)
from glasshouse.sources import open_source
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.table.profiles import words_of

TO_FILL = "TO FILL"
"""What stands in a draft where nothing could be guessed."""
MOST_ROWS = 200_000
"""So many rows of a file are looked at."""
_FEW_ROWS = 10_000
"""So many of them tell how numbers are written."""
COMMENTS = {
    "rounding = ": marked("Check: whether sums were rounded (sum) or every record (record); unknown covers both."),
    "none_bin = ": marked("Check: whether the totals may leave out records."),
    "decimals = 3": marked("Check: whether these are three decimals, or thousands."),
    "unit = ": marked("Check: what the totals are rounded to."),
    "suppressed = ": marked("Check: what stands for totals that are held back."),
    "missing = ": marked("Check: empty totals are held back, and may be anything from 0 on."),
    "where = ": marked("Check: a row of sums is not a place."),
    "entity = ": marked("Check: who may be behind a record."),
    "bin = ": marked("Check: the columns that name a place."),
    "[phases.keys]": marked("Check: columns of the records = those of the totals that they agree with."),
}  # fmt: skip
"""What is to be checked, by how the line begins."""
_NUMERIC = 0.9
"""A column is one of numbers if so many of its texts are."""
_ALIKE, _SAME = 0.5, 0.8
"""So many of the values must be in common for columns to agree: with the same name, and with another."""
_LONGEST_MARK = 3
"""So long may what stands for a number that is held back be."""
_AMOUNTS = frozenset(
    "value values valor valores amount amounts quantia montante quantity quantities quantidade qtd qtde qty sum soma "
    "weight peso kg price preco cost custo revenue receita income renda sales vendas turnover faturamento fob".split()
)
"""Words that call a column one of amounts."""
_SUMS = {"total", "totals", "totais", "all", "sum", "soma", "grandtotal", "totalgeral", "todos"}
"""What the place of a row of sums is called."""


@dataclass(frozen=True)
class PlanDraft:
    """A plan as it is written, and how much of it is to be filled."""

    toml: str
    """The text of the plan."""
    to_fill: int
    """The number of places that nobody could guess."""


@dataclass(frozen=True, eq=False)
class _Column:
    """A column as far as it was looked at."""

    name: str
    texts: pa.ChunkedArray
    form: tuple[bool, str | None] = NUMBER_FORMS[0]
    """How its numbers are written."""

    @cached_property
    def values(self) -> frozenset[str]:
        return frozenset(value.strip() for value in self.texts.unique().to_pylist())

    @cached_property
    def length(self) -> int:
        """How long every text is; 0: they differ."""
        lengths = {len(value) for value in self.values}
        return lengths.pop() if len(lengths) == 1 else 0

    def numbers(self, decimals: int = 0) -> tuple[list[str], Integers, Faults]:
        """Return the texts that are not empty, each as a number with so many decimals and with its fault."""
        values, (comma, thousands) = sorted(self.values - {""}), self.form
        texts = pa.array(values, pa.string())
        read = amounts(texts, decimals=decimals, decimal_comma=comma, thousands=thousands)
        return values, *read

    @cached_property
    def wrong(self) -> frozenset[str]:
        """The texts that are no numbers."""
        values, _, faults = self.numbers()
        return frozenset(itertools.compress(values, faults == NO_NUMBER))

    @cached_property
    def is_numeric(self) -> bool:
        wrong = [value for value in self.wrong if len(value) > _LONGEST_MARK]
        return len(self.wrong) < len(self.values - {""}) and (
            len(wrong) <= (1 - _NUMERIC) * len(self.values)
        )

    @cached_property
    def decimals(self) -> int:
        """The most decimals that a number of it has."""
        enough = (p for p in range(MOST_DECIMALS) if not (self.numbers(p)[2] == DECIMALS).any())
        return next(enough, MOST_DECIMALS)

    @property
    def is_code(self) -> bool:
        """Whether it is more likely a code than an amount: whole numbers that are all as long."""
        return not self.decimals and self.length > 1

    @property
    def step(self) -> float:
        """What its numbers are rounded to, as it seems: thousands, or the last decimal."""
        common = gcd(*self.numbers(self.decimals)[1].tolist())
        powers = [power for power in (3, 6, 9) if common and common % 10**power == 0]
        return 10.0 ** (max(powers) if powers and not self.decimals else -self.decimals)

    def agreement(self, other: _Column) -> tuple[bool, float]:
        """Return how well two columns agree: whether by name, and how many values of the fewer; 0: not well enough."""
        same = _plain(self.name) == _plain(other.name)
        share = _shared(self.values, other.values)
        return same, share if share >= (_ALIKE if same else _SAME) else 0.0


class _File:
    """A file, and what the plan says of it."""

    def __init__(self, path: Path, name: str, folder: Path) -> None:
        self.name = name
        self.entry: dict[str, Any] = {"path": Path(os.path.relpath(path, folder)).as_posix()}
        dialect, columns = _read(path)
        if dialect:
            self.entry["dialect"] = dialect
        readable = {
            form: -sum(len(_Column(c.name, c.texts[:_FEW_ROWS], form).wrong) for c in columns)
            for form in NUMBER_FORMS
        }
        self.form = max(readable, key=readable.__getitem__)  # of several the plainest
        self.columns = {c.name: _Column(c.name, c.texts, self.form) for c in columns}
        self.used: set[str] = set()
        """The columns that have a role."""

    @property
    def free(self) -> dict[str, _Column]:
        """The columns that have none."""
        return {name: column for name, column in self.columns.items() if name not in self.used}

    def measure(self, name: str, column: str) -> None:
        """Take a column for a measure, and say how its numbers are written."""
        comma, thousands = self.form
        self.entry |= {"decimal_comma": True} if comma else {}
        self.entry |= {"thousands": thousands} if thousands else {}
        self.entry.setdefault("measures", {})[name] = column
        self.used.add(column)

    def derive(self, name: str, columns: Sequence[str], **rule: Any) -> str:
        """Add a derived column."""
        self.entry.setdefault("derived", {})[name] = {"columns": list(columns), **rule}
        return name


def draft_plan(
    records: Path, totals: Sequence[Path], *, folder: Path, register: Path | None = None
) -> PlanDraft:
    """Draft a plan from the files of records, of totals and of the register.

    Args:
        records: The file of records.
        totals: The files of totals, a phase each, in this order.
        folder: Where the plan will be: paths in it are relative to this folder.
        register: The file of entities and their places.

    Raises:
        DataError: A file cannot be read.
    """
    paths = [records, *totals, *([] if register is None else [register])]
    files = [_File(path, name, folder) for path, name in zip(paths, _names(paths), strict=True)]
    packages, bins = files[0], files[1 : 1 + len(totals)]
    entities = None if register is None else files[-1]
    notes = [text("A draft by glasshouse totals init: check it before you rely on it.")]
    measures = _measures(packages, bins)
    if TO_FILL in measures:
        candidates = [
            f"{file.name}: {quoted(c.name for c in file.columns.values() if c.is_numeric)}"
            for file in (packages, *bins)
        ]
        unnamed = text(
            "To fill: no column of numbers has the same name in records and totals. Numbers are in {columns}.",
            columns="; ".join(candidates),
        )
        notes.append(unnamed)
    phases: list[dict[str, Any]] = []
    in_register: dict[str, str] = {}
    for file in bins:
        keys = _keys(packages, file)
        packages.used |= keys.keys()
        places = _places(file, entities)
        in_register |= {name: column for name, column in places.items() if column is not None}
        narrowed_by = [
            {"phase": earlier["name"], "on": on}
            for earlier in phases
            if (on := [name for name in places if name in earlier["bin"]])
        ]
        phase = {
            "name": file.name,
            "packages": packages.name,
            "bins": file.name,
            "bin": list(places) or [TO_FILL],
            "keys": keys or {TO_FILL: TO_FILL},
        }
        phases.append(phase | ({"narrowed_by": narrowed_by} if narrowed_by else {}))
        if file.free:
            unused = text(
                "Not used of {name}, so that rows which differ only there are added up: {columns}. A key that the "
                "records write otherwise needs a map.",
                name=file.name,
                columns=quoted(file.free),
            )
            notes.append(unused)
    for name, column in packages.free.items():
        if len(column.values) == len(column.texts):
            packages.entry["identifier"] = name
            break
    content = {
        "command": "totals",
        "rounding": "unknown",
        "none_bin": True,
        "measures": measures,
        "publications": {file.name: file.entry for file in files},
        "phases": phases,
    }
    if entities is None:
        notes.append(
            text("Without a register, [entities], places are shown, and nobody is identified.")
        )
    else:
        content["entities"] = _entities(entities, in_register)
    return _written(content, notes)


def _read(path: Path) -> tuple[dict[str, str], list[_Column]]:
    """Return how a file is written down, as far as that is not usual, and the columns of its first rows."""
    source = open_source(path)
    table = source.first(MOST_ROWS)
    encoding = source.assumed_encoding
    dialect = {} if encoding is None else {"encoding": encoding}
    if isinstance(source, DelimitedFile) and source.dialect.separator not in (None, ","):
        dialect["separator"] = str(source.dialect.separator)
    return dialect, [_Column(name, table.column(name)) for name in source.columns]


def _names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its own, and a number where two have the same."""
    names: list[str] = []
    for path in paths:
        stem = path.name.partition(".")[0] or "publication"
        further = (f"{stem}_{number}" for number in itertools.count(2))
        names.append(next(name for name in itertools.chain([stem], further) if name not in names))
    return names


def _plain(name: str) -> str:
    """Return a name without accents, case and what stands between words."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def _shared(first: AbstractSet[str], second: AbstractSet[str]) -> float:
    """Return how many of the fewer values are in common, as a share; what is empty does not count."""
    fewer = min(len(first - {""}), len(second - {""}))
    return len((first & second) - {""}) / fewer if fewer else 0.0


def _agreeing(column: _Column, candidates: Iterable[_Column]) -> str | None:
    """Return the column that agrees best with one: by name, and by the values in common."""
    agreements = {other.name: column.agreement(other) for other in candidates}
    agreements = {name: found for name, found in agreements.items() if found[1]}
    return max(agreements, key=agreements.__getitem__) if agreements else None


def _measures(packages: _File, bins: Sequence[_File]) -> dict[str, dict[str, Any]]:
    """Take numbers of the same name for a measure, unless their values are those of a key."""
    measures: dict[str, dict[str, Any]] = {}
    for name, column in packages.columns.items():
        for file in bins:
            same = [c for c in file.columns.values() if _plain(c.name) == _plain(name)]
            if not same or not (column.is_numeric and same[0].is_numeric):
                continue
            total = same[0]
            shared = _shared(column.values, total.values)
            may_be_key = column.is_code or (not column.decimals and shared >= _ALIKE)
            if may_be_key and not _adds_up(column, total):
                continue
            packages.measure(name, name)
            file.measure(name, total.name)
            if total.wrong:
                marks = {*file.entry.get("suppressed", ()), *total.wrong}
                file.entry["suppressed"] = sorted(marks)
            if "" in total.values:
                file.entry["missing"] = "open"
            known = measures.setdefault(name, {"decimals": column.decimals, "unit": total.step})
            known["decimals"] = max(known["decimals"], total.decimals)
            known["unit"] = min(known["unit"], total.step)
    if not measures:
        for file in (packages, *bins):
            file.measure(TO_FILL, TO_FILL)
    return measures or {TO_FILL: {"decimals": 0}}


def _adds_up(column: _Column, total: _Column) -> bool:
    """Tell whether numbers of records and totals are amounts, though few files tell them from codes.

    They are called so, or there are more records than totals and both sum up to the same, but for rounding.
    """
    if words_of(column.name) & _AMOUNTS:
        return True
    decimals = max(column.decimals, total.decimals)
    sums = []
    for one in (column, total):
        if one.wrong or "" in one.values:
            return False
        values, numbers, _ = one.numbers(decimals)
        of = dict(zip(values, numbers.tolist(), strict=True))
        sums.append(sum(of[value.strip()] for value in one.texts.to_pylist()))
    allowed = len(total.texts) * total.step * 10**decimals / 2
    return len(column.texts) > len(total.texts) and abs(sums[0] - sums[1]) <= allowed


def _keys(packages: _File, file: _File) -> dict[str, str]:
    """Return the columns of records and totals that agree: as they are, two put together, or cut to fewer digits."""
    keys: dict[str, str] = {}
    measures = packages.entry["measures"]
    records = {name: c for name, c in packages.columns.items() if name not in measures}
    for name, total in file.free.items():
        agreeing = _agreeing(total, (c for key, c in records.items() if key not in keys))
        if agreeing is not None:
            keys[agreeing] = name
            file.used.add(name)
    for name, column in records.items():
        pairs = itertools.permutations(file.free.values(), 2) if name not in keys else ()
        for pair in pairs:
            one, other = pair
            if not one.length or not other.length or one.length + other.length != column.length:
                continue
            texts = zip(one.texts.to_pylist(), other.texts.to_pylist(), strict=True)
            if _shared(column.values, {first + second for first, second in texts}) >= _SAME:
                both = [one.name, other.name]
                keys[name] = file.derive("_".join(both), both)
                file.used |= {*both}
                break
    for name, total in file.free.items():
        size = total.length
        longer = [column for column in records.values() if column.length > size > 1]
        cut = {c.name: _shared({v[:size] for v in c.values}, total.values) for c in longer}
        best = max(cut, key=cut.__getitem__, default=None)
        if best is not None and cut[best] >= _SAME:
            keys[packages.derive(f"{best}_{size}", [best], first=size)] = name
            file.used.add(name)
    return keys


def _places(file: _File, entities: _File | None) -> dict[str, str | None]:
    """Return the columns that name a place, each with that of the register which agrees with it."""
    places: dict[str, str | None] = {}
    for name, column in file.free.items():
        if entities is None:
            agreeing = None
        else:
            free = (c for key, c in entities.columns.items() if key not in places.values())
            agreeing = _agreeing(column, free)
        if agreeing is None and (entities is not None or column.is_numeric):
            continue
        places[name] = agreeing
        file.used.add(name)
        sums = sorted(value for value in column.values if _plain(value) in _SUMS)
        if sums:
            file.entry.setdefault("where", []).append(f"{name}!={','.join(sums)}")
    return places


def _entities(register: _File, keys: dict[str, str]) -> dict[str, Any]:
    """Return what the plan says of the register: the keys, and the column with the most values as the name."""
    free = [column for name, column in register.columns.items() if name not in keys.values()]
    entry: dict[str, Any] = {"publication": register.name}
    if free:
        entry["entity"] = max(free, key=lambda column: len(column.values)).name
    return entry | {"keys": keys or {TO_FILL: TO_FILL}}


def _written(content: dict[str, Any], notes: Sequence[str]) -> PlanDraft:
    """Return the plan with its comments; each stands above the first line that it is about."""
    lines = [f"# {note}" for note in notes]
    unsaid = dict(COMMENTS)
    for line in tomli_w.dumps(content).splitlines():
        due = [beginning for beginning in unsaid if line.startswith(beginning)]
        lines += [f"# {translated(unsaid.pop(beginning))}" for beginning in due]
        lines.append(line)
    toml = "\n".join(lines) + "\n"
    return PlanDraft(toml, sum(TO_FILL in line for line in toml.splitlines()))
