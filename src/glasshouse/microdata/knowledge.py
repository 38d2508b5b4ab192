"""Knowledge that is not exact: an age within two years, a postcode that is right nine times in ten, any chances.

The adversary holds y instead of the value x of an attribute with the chance K(y | x), which she knows; of several
attributes independently. With J(s, y) = (1/N) Σ_{r: s(r) = s} Π_a K_a(y_a | x_a(r)), where the secret s is a sensitive
attribute, or which record it is:

- a right guess   Σ_y max_s J(s, y)                                    (Bayes vulnerability)
- for certain     Σ_y [one s is possible] Σ_s J(s, y)
- nearly sure     Σ_y [max_s J(s, y) ≥ 95% of Σ_s J(s, y)] Σ_s J(s, y)

Where a mistake is always possible nothing is certain, so that the last is told instead. Four ways of knowing:

- `±w`        every number from x − w to x + w as likely, also beyond the ends of the data
- `90%`       right with 90%, otherwise each of the other values that occur in the release, as likely
- `@file`     any matrix of decimals. The same for errors in the release, read from what it says to what is true
- `likely`    she has the value with some chance, and knows whether: the sum over what she may have, by its chance

All sums are of integers, and every chance is one exact fraction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import lcm, prod
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.conditions import as_bound
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, quoted
from glasshouse.microdata import attacks, knowledge_kernel
from glasshouse.microdata.knowledge_kernel import CERTAIN, GUESS
from glasshouse.microdata.lattice import holds_whole_set, largest_size
from glasshouse.microdata.leakage import Attack, Leakage
from glasshouse.microdata.sweep_steps import mask_of, subset_masks
from glasshouse.sources import MISSING, open_source
from glasshouse.study.assess import Precision, parse_chance, parse_precision
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.generalised import SUPPRESSED, without_suppressed
from glasshouse.table.partition import partition, with_facts_joined
from glasshouse.table.views import misfit

MOST_AT_ONCE = 13
"""Subsets of more attributes than this are answered one by one."""
MOST_ENTRIES = 1 << 25
"""A set for which records count with more values that may be held than this is refused."""
MOST_LOOKS = 1 << 27
"""Where sets are answered one by one, the whole set alone is, if all would look at more records than this."""
_LARGEST = 1 << 57
"""Sums stay below this, so that twenty times as much can be counted."""
_MOST_DECIMALS = 18
_NO_NUMBER = marked(
    '{table}, record {record}: "{value}" in column "{column}" is not a number, so that `about` '
    "{column}=±… says nothing about it; records with such values: {count}; of dates say days (±7d), else "
    "what stands for missing (`missing` {column}={value}), or how often she is right (`about` "
    "{column}=90%)"
)
_NO_DATE = marked(
    '{table}, record {record}: "{value}" in column "{column}" is not a date, so that `about` '
    "{column}=±…d says nothing about it; records with such values: {count}; say how dates are written "
    "(`date` {column}=FORM), or what stands for missing (`missing` {column}={value})"
)
_NO_ROW = marked(
    '{table}, record {record}: "{value}" in column "{column}" has no row in {file}; records with such values: {count}; '
    "a kernel needs a row for every value of the release"
)

Kernel = Mapping[str, Mapping[str, Fraction]]
"""Per value of the release, with which chance she holds what."""


@dataclass(frozen=True)
class Inexact:
    """What comes of one target with each of some sets: naming the record, or a secret."""

    secret: tuple[str, ...]
    """The sensitive attributes; none: which record it is."""
    records: int
    """The number of records in which the secret is known."""
    before: tuple[Fraction, Fraction]
    """A right guess, and certainty, for who knows the release only."""
    units: tuple[int, ...]
    """Per row, how many units a record has: chances are sums of them."""
    sums: tuple[tuple[int, int, int], ...]
    """Per row, the units of the best guess, of what is certain, and of what is nearly sure."""
    mixed: tuple[Fraction, Fraction, Fraction] | None = None
    """The same three chances for who has some attributes only with some chance, where that is asked."""

    @property
    def sensitive(self) -> str | None:
        """The name of the secret; None: which record it is."""
        return "+".join(self.secret) or None

    def chances(self, row: int) -> tuple[Fraction, Fraction, Fraction]:
        """Return the chance of a right guess, of certainty, and of being nearly sure."""
        of = self.records * self.units[row]
        guess, certain, nearly = (Fraction(units, of) for units in self.sums[row])
        return guess, certain, nearly

    def guess(self, row: int = -1) -> Leakage:
        """Return the chance of a right guess, before and with the set of a row; by default the last."""
        return Leakage(self.before[0], self.chances(row)[GUESS])

    def certainty(self, row: int = -1) -> Leakage:
        """Return the chance that she knows it for certain."""
        return Leakage(self.before[1], self.chances(row)[CERTAIN])


@dataclass(frozen=True)
class InexactKnowledge:
    """What an adversary learns whose knowledge is not exact, with each of some sets of quasi-identifiers."""

    about: dict[str, str]
    """What is not known exactly, and how well it is, as it was asked for."""
    likely: dict[str, str]
    """What is known only with some chance."""
    quasi_identifiers: tuple[str, ...]
    """What can be known of a person: bit i of a mask is the i-th."""
    masks: tuple[int, ...]
    """Per row, the set of what she knows, with something inexact in it: by size, then in order of the attributes."""
    targets: tuple[Inexact, ...]
    """Naming first, then each secret."""
    exact: tuple[tuple[Fraction, Fraction], ...]
    """Per target, a right guess and certainty with all that can be known, exactly."""
    skipped: int = 0
    """How many sets were asked for and not answered, as each would have been looked at by itself."""

    @property
    def errs(self) -> bool:
        """Whether she may be mistaken everywhere, so that what is nearly sure is told instead of what is certain."""
        ways = [parse_precision(name, written) for name, written in self.about.items()]
        return any(way.off is None and way.right != 1 for way in ways)

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the attributes of a set."""
        return tuple(name for i, name in enumerate(self.quasi_identifiers) if (mask >> i) & 1)

    def row_of(self, names: Collection[str]) -> int:
        """Return the row of a set of attributes."""
        return self.masks.index(mask_of(names, self.quasi_identifiers))

    @property
    def whole(self) -> int | None:
        """The row of all that can be known, where it was asked for."""
        whole = (1 << len(self.quasi_identifiers)) - 1
        return self.masks.index(whole) if whole in self.masks else None

    def best_by_size(self, target: Inexact) -> list[int]:
        """Return, for each number of attributes, the row of the set with which a guess is right most often."""
        best: dict[int, int] = {}
        for row, mask in enumerate(self.masks):
            size = mask.bit_count()
            if size not in best or target.chances(row)[GUESS] > target.chances(best[size])[GUESS]:
                best[size] = row
        return list(best.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; probabilities as floats of the exact ratios."""
        content: dict[str, Any] = {"about": self.about, "likely": self.likely, "targets": []}
        if self.skipped:
            content["skipped"] = self.skipped
        for target, exact in zip(self.targets, self.exact, strict=True):
            entry = {
                "sensitive": target.sensitive,
                "records": target.records,
                "prior": float(target.before[0]),
                "certain_prior": float(target.before[1]),
                "exact": {"posterior": float(exact[0]), "certain": float(exact[1])},
                "subsets": [
                    {"quasi_identifiers": list(self.names(mask)), **_floats(target.chances(row))}
                    for row, mask in enumerate(self.masks)
                ],
            }
            if target.mixed is not None:
                entry["likely"] = _floats(target.mixed)
            content["targets"].append(entry)
        return content

    def to_sums(self) -> pa.Table:
        """Return one row per target and set with the sums that all figures are made of, for `from_sums`.

        Sums are whole numbers, and what does not depend on the set is told as ratios. Where no set was asked for, as
        with what is only likely, a target has one row without a set.
        """
        rows = []
        for target, exact in zip(self.targets, self.exact, strict=True):
            whole: dict[str, Any] = {
                "sensitive": target.sensitive,
                "records": target.records,
                "before": list(map(str, target.before)),
                "exact": list(map(str, exact)),
                "likely": None if target.mixed is None else list(map(str, target.mixed)),
                "skipped": self.skipped,
            }
            for mask, units, sums in zip(self.masks, target.units, target.sums, strict=True):
                known = {"quasi_identifiers": list(self.names(mask)), "units": units}
                rows.append(whole | known | dict(zip(_SUMS, sums, strict=True)))
            rows += [] if self.masks else [whole]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)

    @classmethod
    def from_sums(
        cls,
        sums: pa.Table,
        *,
        about: Mapping[str, str],
        likely: Mapping[str, str],
        quasi_identifiers: Sequence[str],
        secrets: Mapping[str, tuple[str, ...]],
    ) -> Self:
        """Return what `to_sums` wrote down.

        Args:
            sums: The rows.
            about: How well she knows some attributes, as it was asked for.
            likely: With which chance she knows some of them at all.
            quasi_identifiers: What can be known of a person, in its order.
            secrets: The columns of each secret, by what it is called.
        """
        by_target: dict[str | None, list[dict[str, Any]]] = {}
        for row in sums.to_pylist():
            by_target.setdefault(row["sensitive"], []).append(row)
        sets = [
            row["quasi_identifiers"]
            for row in by_target[None]
            if row["quasi_identifiers"] is not None
        ]
        targets = []
        for name, rows in by_target.items():
            counted = rows if sets else []
            guess, certain, nearly = map(Fraction, rows[0]["likely"] or (0, 0, 0))
            targets.append(
                Inexact(
                    secret=() if name is None else secrets.get(name, (name,)),
                    records=rows[0]["records"],
                    before=_pair(rows[0]["before"]),
                    units=tuple(row["units"] for row in counted),
                    sums=tuple((row["guess"], row["certain"], row["nearly"]) for row in counted),
                    mixed=(guess, certain, nearly) if rows[0]["likely"] else None,
                )
            )
        return cls(
            about=_without_places(about),
            likely=dict(likely),
            quasi_identifiers=tuple(quasi_identifiers),
            masks=tuple(mask_of(names, quasi_identifiers) for names in sets),
            targets=tuple(targets),
            exact=tuple(_pair(rows[0]["exact"]) for rows in by_target.values()),
            skipped=by_target[None][0]["skipped"],
        )

    def to_frame(self) -> pa.Table:
        """Return one row per target and set: a right guess, certainty, and what is nearly sure."""
        rows = [
            {
                "sensitive": target.sensitive,
                "quasi_identifiers": list(self.names(mask)),
                "prior": float(target.before[0]),
                **_floats(target.chances(row)),
            }
            for target in self.targets
            for row, mask in enumerate(self.masks)
        ]
        return pa.Table.from_pylist(rows)


_SUMS = ("guess", "certain", "nearly")
_RATIOS = pa.list_(pa.string())
_SCHEMA = pa.schema(
    [
        ("sensitive", pa.string()),
        ("records", pa.int64()),
        *((name, _RATIOS) for name in ("before", "exact", "likely")),
        ("skipped", pa.int64()),
        ("quasi_identifiers", pa.list_(pa.string())),
        *((name, pa.int64()) for name in ("units", *_SUMS)),
    ]
)


def _pair(ratios: Sequence[str]) -> tuple[Fraction, Fraction]:
    first, second = map(Fraction, ratios)
    return first, second


def _without_places(about: Mapping[str, str]) -> dict[str, str]:
    """Return how well attributes are known, as it was asked for, without the places of files.

    >>> _without_places({"age": "±2", "region": "@kernels/region.csv"})
    {'age': '±2', 'region': '@region.csv'}
    """
    return {
        name: f"@{Path(written[1:]).name}" if written.startswith("@") else written
        for name, written in about.items()
    }


def _floats(chances: tuple[Fraction, Fraction, Fraction]) -> dict[str, float]:
    return dict(zip(("posterior", "certain", "nearly_sure"), map(float, chances), strict=True))


def inexact_knowledge(
    table: EncodedTable,
    about: Mapping[str, str],
    *,
    likely: Mapping[str, str] | None = None,
    secrets: Sequence[Sequence[str]] | None = None,
    subsets: str | Sequence[Sequence[str]] = "all",
    drop_suppressed: bool = True,
    attacked: Iterable[Attack] = (),
) -> InexactKnowledge:
    """Tell what is learned by an adversary who does not know some quasi-identifiers exactly.

    Args:
        table: The release.
        about: How well she knows some of the table's quasi-identifiers: ``±2``, ``±7d``, ``90%`` or ``@FILE``.
        likely: With which chance she knows some of them at all: ``50%``.
        secrets: What she wants to infer; by default each sensitive attribute of the table.
        subsets: ``"all"``, ``"max:K"``, ``"within:SECONDS"``, or a list of subsets, as `sweep` takes them; of them
            those with something inexact are told.
        drop_suppressed: Whether records that hold ``*`` in every quasi-identifier, beside others that do not, are left
            out: they are suppressed, and in no class.
        attacked: Attacks with exact knowledge that are known already.

    Raises:
        DataError: A column is not in the table, or does not hold what `about` is of; or a kernel is none.
        StudyError: It takes too much.

    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [25, 26, 40], "ill": ["y", "n", "y"]})
    >>> table = read(people, quasi_identifiers=["age"], sensitive=["ill"])
    >>> naming, ill = inexact_knowledge(table, {"age": "±1"}).targets
    >>> naming.chances(0)[:2], ill.guess().posterior
    ((Fraction(7, 9), Fraction(5, 9)), Fraction(7, 9))
    """
    names, likely = table.quasi_identifiers, likely or {}
    for name in (*about, *likely):
        table.columns_of(name)
    table = without_suppressed(table, names) if drop_suppressed else table
    aims = [
        (),
        *([(name,) for name in table.sensitive] if secrets is None else map(tuple, secrets)),
    ]
    ways = {
        name: _way(table, name, parse_precision(name, written)) for name, written in about.items()
    }
    whole = (1 << len(names)) - 1
    inexactly = mask_of(about, names)
    masks = [mask for mask in _asked(names, subsets, table.records) if mask & inexactly]
    if about and not masks and not likely:
        raise StudyError(
            "none of the `subsets` has anything that `about` is given for; choose others, or leave it out"
        )
    at_once, asked_for = _one_way(ways) and len(names) <= MOST_AT_ONCE, len(masks)
    if not at_once and len(masks) * len(aims) * table.records > MOST_LOOKS:
        masks = [mask for mask in masks if mask == whole] or masks[-1:]
    chances = {name: parse_chance(name, written) for name, written in likely.items()}
    mixture = _mixture(names, chances)
    errs = any(way.errs for way in ways.values())
    attacked = _with_sets(attacked, table, names, aims, [whole, *mixture])
    complete = [aim for aim in aims[1:] if not table.missing(aim).any()]
    walked: dict[tuple[str, ...], Integers | None] = dict.fromkeys(complete[:1])
    results, exact = [], []
    for aim in aims:
        known = table.with_known(aim)
        of_known = ways
        if known.records < table.records:
            there = ~table.missing(aim)
            of_known = {name: way.of(there) for name, way in ways.items()}
        sums = _Sums(with_facts_joined(known, names), names, of_known, aim, walked)
        rows = sums.of(masks)
        alike = {
            mask_of(attack.quasi_identifiers, names): attack
            for attack in attacked
            if attack.secret == aim
        }
        first = alike[whole]
        before = (first.probabilistic.prior, first.deterministic.prior)
        mixed = None
        if mixture:
            mixed = _mixed(mixture, before, alike, sums, inexactly, errs=errs)
        results.append(
            Inexact(
                secret=aim,
                records=known.records,
                before=before,
                units=tuple(sums.unit(mask) for mask in masks),
                sums=tuple(rows),
                mixed=mixed,
            )
        )
        exact.append((first.probabilistic.posterior, first.deterministic.posterior))
    return InexactKnowledge(
        about=_without_places(about),
        likely=dict(likely),
        quasi_identifiers=names,
        masks=tuple(masks),
        targets=tuple(results),
        exact=tuple(exact),
        skipped=asked_for - len(masks),
    )


def refuse_unfit(table: EncodedTable, about: Mapping[str, str]) -> None:
    """Make sure that the columns of a table can be known as well as is said, before anything is computed.

    Args:
        table: The table.
        about: As in `inexact_knowledge`.

    Raises:
        DataError: A column holds something else than numbers or dates, or a file of chances does not fit it.
        StudyError: There is no such column, or it cannot be known so.
    """
    for name, written in about.items():
        _way(table, name, parse_precision(name, written))


def _asked(
    names: tuple[str, ...], subsets: str | Sequence[Sequence[str]], records: int
) -> list[int]:
    """Return the sets of attributes that are asked for: by size, then in their order."""
    if not isinstance(subsets, str):
        chosen = {tuple(sorted(map(names.index, subset))) for subset in subsets}
        by_size = sorted(chosen, key=lambda places: (len(places), places))
        return [sum(1 << place for place in places) for places in by_size]
    largest = largest_size(subsets, len(names), records)
    masks: list[int] = subset_masks(len(names), largest).tolist()
    if largest < len(names) and holds_whole_set(subsets, len(names)):
        masks.append((1 << len(names)) - 1)
    return masks


def _mixture(names: tuple[str, ...], chances: Mapping[str, Fraction]) -> dict[int, Fraction]:
    """Return the sets that she may have, with their chances; none where nothing is only likely."""
    if not chances:
        return {}
    sets = {mask_of([name for name in names if name not in chances], names): Fraction(1)}
    for name, chance in chances.items():
        bit = 1 << names.index(name)
        sets = {
            mask | having * bit: share * (chance if having else 1 - chance)
            for mask, share in sets.items()
            for having in (False, True)
        }
    return {mask: share for mask, share in sets.items() if share}


def _with_sets(
    attacked: Iterable[Attack],
    table: EncodedTable,
    names: tuple[str, ...],
    aims: Sequence[tuple[str, ...]],
    masks: Iterable[int],
) -> list[Attack]:
    """Return the attacks with exact knowledge of some sets: those that are known, and the others."""
    every = list(attacked)
    there = {mask_of(attack.quasi_identifiers, names) for attack in every}
    lacking = [
        [name for place, name in enumerate(names) if (mask >> place) & 1]
        for mask in dict.fromkeys(masks)
        if mask and mask not in there
    ]
    if lacking:
        every += attacks.attacks_with(
            table, subsets=lacking, sensitive=[aim for aim in aims if aim], drop_suppressed=False
        )
    return every


def _mixed(
    mixture: Mapping[int, Fraction],
    before: tuple[Fraction, Fraction],
    attacked: Mapping[int, Attack],
    sums: _Sums,
    inexactly: int,
    *,
    errs: bool,
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the chances of who has some attributes only with some chance: those of each set, by its chance."""
    totals = [Fraction(0)] * 3
    for mask, share in mixture.items():
        if mask & inexactly or errs:
            of = sums.records * sums.unit(mask)
            (row,) = sums.of([mask])
            chances = [Fraction(units, of) for units in row]
        elif mask:
            attack = attacked[mask]
            certain = attack.deterministic.posterior
            chances = [attack.probabilistic.posterior, certain, certain]
        else:
            chances = [before[0], before[1], before[1]]
        totals = [total + share * chance for total, chance in zip(totals, chances, strict=True)]
    guess, certain, nearly = totals
    return guess, certain, nearly


@dataclass(frozen=True)
class _Way:
    """How an attribute is known inexactly: a window, a value that may be mistaken, or a kernel."""

    values: Integers
    """Per record, its number in a window, its place in a domain, or its row in a kernel."""
    unit: int
    """How many units a record has: the width of a window, or the sum of a row of integers."""
    right: int = 0
    """The units of the right value."""
    wrong: int = 0
    """Those of each other one."""
    domain: int = 0
    """How many values there are; 0: not one that may be mistaken."""
    apart: Integers | None = None
    """Of one that may be mistaken, per record, 0, or the number of what it is instead of a value; None: none is."""
    entries: tuple[Integers, Integers, Integers] | None = None
    """Of a kernel: per row where its entries begin, and per entry what is held, and its units."""

    @property
    def errs(self) -> bool:
        """Whether a mistake is possible."""
        return self.entries is not None or self.domain > 0

    @property
    def is_window(self) -> bool:
        """Whether it is a window."""
        return not self.errs

    def of(self, chosen: Flags) -> _Way:
        """Return how some of the records are known; what may be held is still of all."""
        apart = None if self.apart is None else self.apart[chosen]
        return replace(self, values=self.values[chosen], apart=apart)


def _one_way(ways: Mapping[str, _Way]) -> bool:
    """Tell whether one walk over all subsets answers it."""
    return len(ways) == 1 and all(way.entries is None for way in ways.values())


def _way(table: EncodedTable, name: str, precision: Precision) -> _Way:
    """Return how an attribute of a table is known.

    Raises:
        DataError: Its values are not what the precision is of.
        StudyError: It is right less often than a value at random.
    """
    column = table.columns_of(name)[0]
    if column.name != name or len(table.columns_of(name)) > 1:
        raise StudyError(
            '"{name}" is a fact of several columns; say of each column how well she knows it',
            name=name,
        )
    if precision.off is not None:
        return _window(column, table, precision)
    if precision.kernel:
        return _of_kernel(column, table, precision.kernel)
    no_value = np.array(list(map(_is_apart, column.values.to_pylist())), np.bool_)
    apart = np.where(no_value, np.cumsum(no_value), 0)[column.codes] if no_value.any() else None
    present = (column.tally > 0) & ~no_value
    places = np.where(no_value, 0, np.cumsum(present) - 1)[column.codes]
    domain = int(present.sum())
    right = precision.right or Fraction(0)
    if domain <= 1:
        return _Way(places, 1, 1, 0, 1, apart)
    wrong = (1 - right) / (domain - 1)
    if right < wrong:
        raise StudyError(
            '`about` "{name}": with {domain} values a blind guess is right more often than she is; say at least '
            "{least}%",
            name=name,
            domain=domain,
            least=-(-100 // domain),
        )
    scale = lcm(right.denominator, wrong.denominator)
    units = scale, int(right * scale), int(wrong * scale)
    return _Way(places, *units, domain, apart)


def _is_apart(written: str) -> bool:
    """Tell whether a text is no value, and has no neighbours: who holds it knows that it is missing, or suppressed."""
    return written.strip() in (MISSING, SUPPRESSED)


def _window(column: EncodedColumn, table: EncodedTable, precision: Precision) -> _Way:
    """Return how numbers or dates are known within so much; what is missing has no neighbours."""
    texts = column.values.to_pylist()
    bounds = [as_bound(written) for written in texts]
    apart = list(map(_is_apart, texts))
    kind = date if precision.in_days else Decimal
    wrong = [
        code for code, bound in enumerate(bounds) if not apart[code] and not isinstance(bound, kind)
    ]
    if wrong:
        raise misfit(column, wrong, _NO_DATE if precision.in_days else _NO_NUMBER, where=table.name)
    figures = [
        Fraction(bound.toordinal() if isinstance(bound, date) else bound)
        for code, bound in enumerate(bounds)
        if bound is not None and not apart[code]
    ]
    divisor, scale = lcm(*(figure.denominator for figure in figures)), 1
    while scale % divisor:  # numbers are decimals, and so are their steps
        scale *= 10
    off = (precision.off or Fraction(0)) * scale
    if off.denominator > 1:
        raise StudyError(
            '`about` "{name}" is given in smaller steps than the column has, which has steps of {step}',
            name=column.name,
            step="1 d" if precision.in_days else f"{Decimal(1) / scale:f}",
        )
    width = 2 * int(off) + 1
    least = min(figures, default=Fraction(0))
    numbers = [int((figure - least) * scale) for figure in figures]
    beyond = max(numbers, default=0) + width
    if max(beyond + width * len(texts), width * table.records) >= _LARGEST:
        raise DataError(
            '{table}: the numbers in column "{name}" have too many digits to be compared exactly; round them',
            table=table.name,
            name=column.name,
        )
    rest = iter(numbers)
    values = np.array(
        [beyond + width * code if lonely else next(rest) for code, lonely in enumerate(apart)],
        np.int64,
    )
    return _Way(values[column.codes], width)


def _of_kernel(column: EncodedColumn, table: EncodedTable, path: str) -> _Way:
    """Return how a column is known by a file of chances."""
    kernel = read_kernel(path)
    counted = column.tally > 0
    texts = column.values.to_pylist()
    lacking = [
        code for code, written in enumerate(texts) if counted[code] and written not in kernel
    ]
    if lacking:
        raise misfit(column, lacking, _NO_ROW, where=table.name, file=str(path))
    used = [kernel[written] if counted[code] else {} for code, written in enumerate(texts)]
    scale = lcm(*(chance.denominator for row in used for chance in row.values()))
    places = {held: place for place, held in enumerate({held for row in used for held in row})}
    starts = np.cumsum([0, *(len(row) for row in used)])
    held = np.array([places[value] for row in used for value in row], np.int64)
    if scale >= _LARGEST:
        raise StudyError("{file}: the chances have too many digits; round them", file=str(path))
    units = np.array([int(chance * scale) for row in used for chance in row.values()], np.int64)
    return _Way(column.codes.astype(np.int64), scale, entries=(starts, held, units))


def read_kernel(path: str | PathLike[str]) -> dict[str, dict[str, Fraction]]:
    """Read with which chance the adversary holds what, for each value of the release.

    The first column has the values of the release. Each further column is a value that she may hold. Cells are decimals
    or ratios, exact; empty ones are 0.

    Raises:
        DataError: A value is there twice, a chance is none, or a row does not add up to 1.
    """
    source = open_source(path)
    _, *held = source.columns
    kernel: dict[str, dict[str, Fraction]] = {}
    for batch in source.batches(source.columns):
        for value, *cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if value in kernel:
                raise DataError(
                    "{source}: value {value} is there twice; remove one",
                    source=source.name,
                    value=quoted([value]),
                )
            row = {
                name: _chance(cell, source.name, value)
                for name, cell in zip(held, cells, strict=True)
            }
            total = sum(row.values())
            if total != 1:
                raise DataError(
                    "{source}: the chances of {value} add up to {total}, not to 1; correct them",
                    source=source.name,
                    value=quoted([value]),
                    total=str(total),
                )
            kernel[value] = {name: chance for name, chance in row.items() if chance}
    return kernel


def _chance(cell: str, source: str, value: str) -> Fraction:
    try:
        chance = Fraction(cell.strip() or 0)
    except (ValueError, ZeroDivisionError):
        chance = Fraction(-1)
    if not 0 <= chance <= 1:
        raise DataError(
            '{source}: "{cell}" in the row of {value} is not a chance; say a number from 0 to 1',
            source=source,
            cell=cell,
            value=quoted([value]),
        )
    return chance


class _Sums:
    """The three sums of one target, of any set of attributes."""

    def __init__(
        self,
        table: EncodedTable,
        names: tuple[str, ...],
        ways: Mapping[str, _Way],
        aim: tuple[str, ...],
        walked: dict[tuple[str, ...], Integers | None],
    ) -> None:
        self.table, self.names, self.ways = table, names, ways
        self.aim, self.walked = aim, walked
        self.records = table.records
        self.is_naming = not aim
        self.secrets = (
            partition(table, aim).numbers.astype(np.int32)
            if aim
            else np.arange(table.records, dtype=np.int32)
        )
        if prod(way.unit for way in ways.values()) * table.records >= _LARGEST:
            raise StudyError(
                "`about` has chances with too many digits together to be added up exactly; round them, or give fewer"
            )

    def unit(self, mask: int) -> int:
        """Return how many units a record has with a set."""
        return prod(self.ways[name].unit for name in self._inexact(mask))

    def of(self, masks: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return the sums of each set: of the best guess, of what is certain, and of what is nearly sure."""
        whole = (1 << len(self.names)) - 1
        if len(masks) > 2 and len(self.names) <= MOST_AT_ONCE and _one_way(self.ways):
            every = self._at_once()
            return [tuple(every[:, mask & whole].tolist()) for mask in masks]
        return [tuple(self._alone(mask).tolist()) for mask in masks]

    def _inexact(self, mask: int) -> list[str]:
        return [
            name
            for place, name in enumerate(self.names)
            if (mask >> place) & 1 and name in self.ways
        ]

    def _at_once(self) -> Integers:
        """Return the three sums of every set that has the inexact attribute, by its mask.

        The column that tells most comes first, as it divides classes soonest. The walk that names takes a secret with
        it that is known of all records.
        """
        before = self.walked.get(self.aim)
        if before is not None:
            return before
        ((name, way),) = self.ways.items()
        values = way.values
        order = np.argsort(values, kind="stable")
        columns = {other: self.table.column(other) for other in self.names if other != name}
        others = sorted(columns, key=lambda other: -_entropy(columns[other]))
        largest = max((columns[other].cardinality for other in others), default=1)
        codes = np.empty(
            (self.records, len(others)), np.uint16 if largest <= 1 << 16 else np.uint32
        )
        for bit, other in enumerate(others):
            codes[:, bit] = columns[other].codes[order]
        beside = next(iter(self.walked), ()) if self.is_naming else self.aim
        secrets = (
            partition(self.table, beside).numbers.astype(np.int32)
            if beside
            else np.zeros(self.records, np.int32)
        )
        sums = np.zeros((6, 1 << len(others)), np.int64)
        apart = np.zeros(self.records, np.int64) if way.apart is None else way.apart[order]
        for group in np.unique(apart):
            chosen = apart == group
            sums += knowledge_kernel.by_subset(
                codes[chosen],
                np.array([columns[other].cardinality for other in others], np.int64),
                values[order][chosen],
                secrets[order][chosen],
                way.unit,
                way.right,
                way.wrong,
                way.domain,
                self.is_naming,
            )
        masks = np.arange(1 << len(self.names))
        renamed = np.zeros(len(masks), np.int64)
        for bit, other in enumerate(others):
            renamed |= ((masks >> self.names.index(other)) & 1) << bit
        of_secret: Integers = sums[:3, renamed]
        of_naming: Integers = sums[3:, renamed]
        if self.is_naming and beside:
            self.walked[beside] = of_secret
        return of_naming if self.is_naming else of_secret

    def _alone(self, mask: int) -> Integers:
        """Return the three sums of one set: all ways but the last are written out, record by record."""
        inexact = self._inexact(mask)
        exact = [
            name
            for place, name in enumerate(self.names)
            if (mask >> place) & 1 and name not in inexact
        ]
        classes = partition(self.table, exact).numbers.astype(np.int64)
        for name in inexact:
            apart = self.ways[name].apart
            if apart is not None:
                classes = np.unique(classes * (int(apart.max()) + 1) + apart, return_inverse=True)[
                    1
                ]
        entries = _Entries(np.arange(self.records), classes, np.ones(self.records, np.int64))
        windows = sorted(
            (name for name in inexact if self.ways[name].is_window),
            key=lambda name: self.ways[name].unit,
        )
        mistaken = sorted(
            (name for name in inexact if self.ways[name].domain),
            key=lambda name: self.ways[name].domain,
        )
        slides = bool(windows) and len(windows) == len(inexact)
        for name in windows[:-1] if slides else windows:
            entries = entries.in_windows(self.ways[name].values, self.ways[name].unit)
        for name in inexact:
            if self.ways[name].entries is not None:
                entries = entries.by_kernel(self.ways[name].values, self.ways[name])
        for name in mistaken[:-1]:
            entries = entries.mistaken(self.ways[name].values, self.ways[name])
        last = windows[-1] if slides else mistaken[-1] if mistaken else None
        values = np.zeros(self.records, np.int64) if last is None else self.ways[last].values
        rows, starts, times = entries.in_order(values)
        records = entries.records
        if slides:
            sums = knowledge_kernel.by_window(
                rows, starts, values[records], self.secrets[records], self.ways[windows[-1]].unit
            )
        else:
            way = self.ways[last] if last else _Way(values, 1, 1, 0, 1)
            sums = knowledge_kernel.by_mistake(
                *(rows, starts, values[records], self.secrets[records], entries.weights, times),
                *(way.right, way.wrong, way.domain),
            )
        counted: Integers = sums
        return counted


@dataclass(frozen=True)
class _Entries:
    """Records with what the adversary may hold of them: each as often as there are values that she may hold."""

    records: Integers
    """Per entry, its record."""
    classes: Integers
    """Per entry, the number of its class: what is known exactly, and what is held."""
    weights: Integers
    """Per entry, its units."""
    times: Integers | None = None
    """Per class, how many values that are held it stands for; None: one."""

    def in_windows(self, values: Integers, width: int) -> _Entries:
        """Return the entries with every number that she may hold."""
        _refuse_many(len(self.records) * width)
        held = (values[self.records][:, None] + np.arange(width)).ravel()
        repeated = np.repeat(np.arange(len(self.records)), width)
        return self._divided(repeated, held, np.ones(len(held), np.int64))

    def by_kernel(self, codes: Integers, way: _Way) -> _Entries:
        """Return the entries with every value that a kernel gives a chance."""
        starts, held, units = way.entries or (codes, codes, codes)
        sizes = np.diff(starts)[codes[self.records]]
        _refuse_many(int(sizes.sum()))
        repeated = np.repeat(np.arange(len(self.records)), sizes)
        first = np.repeat(starts[codes[self.records]] - (np.cumsum(sizes) - sizes), sizes)
        places = first + np.arange(len(repeated))
        return self._divided(repeated, held[places], units[places])

    def mistaken(self, values: Integers, way: _Way) -> _Entries:
        """Return the entries with every value that some record of their class has, and one for all others."""
        rows, starts, times = self.in_order(np.zeros(int(self.records.max()) + 1, np.int64))
        of_entry = values[self.records]
        numbers = np.diff(starts)
        _refuse_many(int((numbers * (np.minimum(numbers, way.domain) + 1)).sum()))
        places, begins, held, number = knowledge_kernel.spread(rows, starts, of_entry, way.domain)
        sizes = np.diff(begins)
        classes = np.repeat(np.arange(len(sizes)), sizes)
        chosen = rows[places]
        is_right = of_entry[chosen] == held[classes]
        weights = self.weights[chosen] * np.where(is_right, way.right, way.wrong)
        of_class = np.searchsorted(starts, places[begins[:-1]], side="right") - 1
        entries = _Entries(self.records[chosen], classes, weights, number * times[of_class])
        return entries.possible()

    def possible(self) -> _Entries:
        """Return the entries without those that cannot be."""
        there = self.weights > 0
        if there.all():
            return self
        return replace(
            self,
            records=self.records[there],
            classes=self.classes[there],
            weights=self.weights[there],
        )

    def _divided(self, repeated: Integers, held: Integers, units: Integers) -> _Entries:
        if held.max() >= 1 << 31:
            held = np.unique(held, return_inverse=True)[1]
        key = self.classes[repeated] * (int(held.max()) + 1) + held
        classes = np.unique(key, return_inverse=True)[1]
        return _Entries(self.records[repeated], classes, self.weights[repeated] * units)

    def in_order(self, values: Integers) -> tuple[NDArray[np.int32], Integers, Integers]:
        """Return the entries class by class, each by rising value; where each class begins, and how often it counts."""
        order = np.lexsort((values[self.records], self.classes)).astype(np.int32)
        ordered = self.classes[order]
        begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        starts = np.append(begins, len(ordered))
        times = (
            np.ones(len(begins), np.int64) if self.times is None else self.times[ordered[begins]]
        )
        return order, starts, times


def _refuse_many(entries: int) -> None:
    """Make sure that so many entries can be held.

    Raises:
        StudyError: They cannot.
    """
    if entries > MOST_ENTRIES:
        raise StudyError(
            "`about` leaves more values open together than can be worked out ({entries} with their records); "
            "give fewer columns, or narrower windows",
            entries=entries,
        )


def _entropy(column: EncodedColumn) -> float:
    """Return how much a column tells apart, in nats."""
    counts = column.tally
    shares = counts[counts > 0] / len(column.codes)
    return float(-(shares * np.log(shares)).sum())
