"""A reconstruction instance: the records of a group, its published totals, how these were rounded; and its solution.

The publisher releases the records of a group without saying whose they are (*packages*, rows of d numeric measures),
and elsewhere the totals of the same group by city, state or any other breakdown (*bins*). Every record went into
exactly one bin. The adversary asks which allocations of packages to bins meet all totals (Favato 2021, chapter 3).

Everything is in integers: each measure is scaled by a power of ten (cents, 10⁻⁵ kg), and each total becomes an
inclusive window. With S the sum of the c packages in bin j, an allocation is valid if for every bin and measure

    low_j − h · max(1, c) ≤ S ≤ high_j + h · max(1, c)

Which windows these are follows from how the totals were rounded (`glasshouse.reconstruction.rounding`), or the caller
gives them. A *none* bin takes the records that the publisher left out: the windows of the other bins bound its total,
and no entity is registered there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from math import log10
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, quoted, text, unknown_name
from glasshouse.reconstruction.rounding import ROUNDINGS, Rounding

Number = int | float | str | Decimal | Fraction
"""What a caller may give for a number; a float stands for the decimal that it is written as."""

MOST_DECIMALS = 12
"""Numbers with more decimals than this are taken for results of a division, not for published ones."""
NONE = "NONE"
"""The name of the bin for records that the publisher left out."""
LARGEST_SUM = 2**62
"""Sums are kept below this, so that the difference of two of them is a 64-bit integer."""
STATUSES = ("unique", "ambiguous", "infeasible", "limit")
"""One allocation; several; none; or a limit was met, and the bins are a superset."""

Shares = tuple[tuple[Fraction, ...], ...]
"""Per package and bin, a probability."""
_Exact = NDArray[np.object_]
"""A table of fractions, or of whole numbers of any size."""
_NAMED = {
    "measure": marked("{name} has {count} measures; give a list of that many names"),
    "package": marked("{name} has {count} packages; give a list of that many names"),
    "bin": marked("{name} has {count} bins; give a list of that many names"),
}
"""What is wrong where names are not as many as what they name."""


@dataclass(frozen=True, eq=False)
class Instance:
    """Packages, bins and windows in scaled integers; made by `instance`, `from_dict` or `from_json`."""

    packages: Integers
    """Per package and measure, its scaled value; never negative."""
    low: Integers
    """Per bin and measure, the least scaled total."""
    high: Integers
    """Per bin and measure, the greatest scaled total."""
    halfwidth: Integers
    """Per measure, by how much the window widens on either side with each package in the bin (at least once)."""
    measures: tuple[str, ...]
    """The names of the measures."""
    scale: tuple[int, ...]
    """Per measure, how many scaled units make 1."""
    package_names: tuple[str, ...]
    """What results call the packages."""
    bin_names: tuple[str, ...]
    """What results call the bins."""
    entities: tuple[int | None, ...] | None = None
    """Per bin, how many entities are registered there; None for the bin of records left out; None: not known at all."""
    name: str = "instance"
    """What messages call it."""
    rounding: str = "windows"
    """The rounding model that the windows come from."""

    def __post_init__(self) -> None:
        for field in ("packages", "low", "high", "halfwidth"):
            numbers = np.asarray(getattr(self, field))
            if not np.issubdtype(numbers.dtype, np.integer):
                raise DataError(
                    "{name}: {table} must be whole numbers; scale decimals first",
                    name=self.name,
                    table=field,
                )
            table = numbers.astype(np.int64)
            table.flags.writeable = False
            object.__setattr__(self, field, table)
        _check_shapes(self)
        _check_names(self)
        _check_values(self)
        _check_entities(self)

    @property
    def size(self) -> tuple[int, int, int]:
        """The number of packages, of bins and of measures."""
        return len(self.packages), len(self.low), self.low.shape[1]

    @property
    def complexity(self) -> float:
        """How many digits the number of ways has to put the packages into bins: log₁₀ mⁿ (Favato 2021, 3.3.2)."""
        packages, bins, _ = self.size
        return packages * log10(bins)

    @property
    def none_bin(self) -> int | None:
        """The position of the bin for records that the publisher left out, if there is one."""
        return self.bin_names.index(NONE) if NONE in self.bin_names else None

    @cached_property
    def balance(self) -> str:
        """What the sums alone say: "met", "records left out", or "records added" (the totals hold more than there is).

        The totals of all bins together must meet the sum of all packages; if they cannot, no allocation exists.
        """
        slack = self.halfwidth.astype(object) * (len(self.packages) + len(self.low))
        whole = self.packages.sum(axis=0, dtype=object)
        if (self.low.sum(axis=0, dtype=object) - slack > whole).any():
            return "records added"
        if (self.high.sum(axis=0, dtype=object) + slack < whole).any():
            return "records left out"
        return "met"

    def allows(self, bins: ArrayLike) -> bool:
        """Tell whether an allocation, the bin of each package, meets every window; in integers, nothing assumed."""
        allocation = np.asarray(bins, np.int64)
        if allocation.shape != (len(self.packages),):
            return False
        if ((allocation < 0) | (allocation >= len(self.low))).any():
            return False
        sums = np.zeros_like(self.low)
        np.add.at(sums, allocation, self.packages)
        counts = np.maximum(np.bincount(allocation, minlength=len(self.low)), 1)
        slack = counts[:, None] * self.halfwidth
        return bool(((sums >= self.low - slack) & (sums <= self.high + slack)).all())

    def to_dict(self) -> dict[str, Any]:
        """Return the instance in the JSON form that `from_dict` reads."""
        packages, bins, measures = self.size
        return {
            "id": self.name,
            "n": packages,
            "m": bins,
            "d": measures,
            "complexity": round(self.complexity, 3),
            "rounding_semantics": self.rounding,
            "dims": list(self.measures),
            "scale": list(self.scale),
            "packages_scaled": self.packages.tolist(),
            "bins_lo_scaled": self.low.tolist(),
            "bins_hi_scaled": self.high.tolist(),
            "per_package_halfwidth_scaled": self.halfwidth.tolist(),
            "entities_per_bin": None if self.entities is None else list(self.entities),
            "bin_names": list(self.bin_names),
            "package_ids": list(self.package_names),
        }

    def to_frame(self) -> pa.Table:
        """Return a row per package, or bin, and measure: its least and its greatest value, in scaled units.

        Those of a package are the same, and the windows are without what they widen by with every package.
        """
        packages, bins, measures = self.size
        names = [*self.package_names, *self.bin_names]
        return pa.table(
            {
                "kind": pa.array(["package"] * packages * measures + ["bin"] * bins * measures),
                "name": pa.array(names, pa.string()).take(
                    pa.array(np.repeat(np.arange(len(names)), measures))
                ),
                "measure": pa.array(list(self.measures) * len(names), pa.string()),
                "low": pa.array(np.concatenate([self.packages, self.low]).ravel()),
                "high": pa.array(np.concatenate([self.packages, self.high]).ravel()),
                "scale": pa.array(list(self.scale) * len(names), pa.int64()),
            }
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """What all valid allocations of an instance have in common."""

    instance: Instance
    """The instance."""
    status: str
    """One of `STATUSES`."""
    feasible_bins: tuple[tuple[int, ...], ...]
    """Per package, the positions of the bins that it is in under some valid allocation; at a limit, a superset."""
    proved: bool
    """Whether the bins are exactly those."""
    exact: tuple[bool, ...] | None = None
    """Per package, whether its bins are exactly those, also where not all are proved; None: no allocation was found."""
    allocations: int | None
    """The number of valid allocations, packages told apart; None: not counted."""
    shares: Shares | None = None
    """Per package and bin, the share of the valid allocations; None: not counted, or there are none."""
    weighted_shares: Shares | None = None
    """The same with every allocation weighted by Π entities(bin): the posterior of the bin; None: not counted."""
    weights: tuple[int, ...] | None = None
    """Per bin, what a package in it counts in `weighted_shares`, up to a common factor; None: nothing is known."""
    witness: Integers | None = None
    """A valid allocation, the bin of each package; None: none is known."""
    method: str
    """What decided: "propagation", "graph", "walk", "probing", "satisfaction", or "limit"."""
    seconds: float = 0.0
    """The CPU seconds that it took, as work is counted: the same in every run."""

    @property
    def records(self) -> int:
        """The number of packages."""
        return len(self.feasible_bins)

    @property
    def linked(self) -> int:
        """How many packages have one feasible bin only: whose bin is known for certain, if some allocation is."""
        return 0 if self.exact is None else sum(len(bins) == 1 for bins in self.feasible_bins)

    @property
    def reason(self) -> str | None:
        """Why there is no valid allocation: what the sums say, or else "rounding"; None if there is one."""
        if self.status != "infeasible":
            return None
        balance = self.instance.balance
        return "rounding" if balance == "met" else balance

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in plain values."""
        return {
            "status": self.status,
            "feasible_bins": [list(bins) for bins in self.feasible_bins],
            "allocations": self.allocations,
            "allocation_share": None
            if self.shares is None
            else [[float(share) for share in row] for row in self.shares],
            "proved": self.proved,
        }

    def to_frame(self) -> pa.Table:
        """Return a row per package and feasible bin: their names, and the shares where they were counted."""
        packages, bins = self.instance.package_names, self.instance.bin_names
        rows = [(p, b) for p, feasible in enumerate(self.feasible_bins) for b in feasible]
        return pa.table(
            {
                "package": pa.array([packages[p] for p, _ in rows], pa.string()),
                "bin": pa.array([bins[b] for _, b in rows], pa.string()),
                "share": pa.array(_listed(self.shares, rows), pa.float64()),
                "weighted_share": pa.array(_listed(self.weighted_shares, rows), pa.float64()),
            }
        )


# -- making an instance ----------------------------------------------------------------------------------------------


def instance(
    packages: Sequence[Sequence[Number]],
    totals: Sequence[Sequence[Number]],
    *,
    rounding: str = "sum",
    tolerance: Number | None = None,
    unit: Number | Sequence[Number] = 1,
    decimals: Sequence[int] | None = None,
    none_bin: bool = False,
    measures: Sequence[str] | None = None,
    package_names: Sequence[str] | None = None,
    bin_names: Sequence[str] | None = None,
    entities: Sequence[int | None] | None = None,
    name: str = "instance",
) -> Instance:
    """Make an instance from decimal numbers, as they were published.

    Args:
        packages: A row of measures per record. Texts and decimals are exact; a float stands for what it prints as.
        totals: A row of measures per bin.
        rounding: How the totals were made, one of `ROUNDINGS`.
        tolerance: How far a sum may be from its total, in units of the totals; by default ½. Not for `record`.
        unit: What the totals were rounded to, for all measures or for each: 1, or 0.01, or 1000.
        decimals: Per measure, how many decimals to keep; by default as many as the numbers have.
        none_bin: Whether the publisher may have left out records; they go to a further bin, named "NONE".
        measures: The names of the measures.
        package_names: The names of the packages.
        bin_names: The names of the bins.
        entities: Per bin, how many entities are registered there.
        name: What messages call the instance.

    Raises:
        DataError: A number is missing, negative or has too many decimals; a sum does not fit; names do not match.
        StudyError: There is no such rounding model, or its tolerance makes no sense.

    >>> tiny = instance([["1.50"], ["2.25"], ["3.75"]], [[4], [4]], entities=[3, 1])
    >>> tiny.scale, tiny.packages.ravel().tolist(), tiny.low.ravel().tolist(), tiny.high.ravel().tolist()
    ((100,), [150, 225, 375], [350, 350], [450, 450])
    """
    if rounding not in ROUNDINGS:
        raise StudyError(unknown_name("rounding model", rounding, "Glasshouse", ROUNDINGS))
    if not len(packages) or not len(totals):
        raise DataError(
            "{name} needs at least one package and one bin; leave out empty groups", name=name
        )
    width = len(totals[0])
    names = _named(measures, width, "measure", name)
    units = _units(unit, width, name)
    records = _exact_table(packages, names, text("packages"), name)
    published = _exact_table(totals, names, text("totals"), name)
    half = None if tolerance is None else exact(tolerance, text("tolerance"))
    if decimals is None:
        widths = [half * unit for unit in units] if half and rounding == "unknown" else units
        everything: _Exact = np.vstack([records, published, np.array([units, widths], object)])
        decimals = [decimals_of(column.tolist()) for column in everything.T]
    elif len(decimals) != width:
        raise DataError(
            "{name} has {measures} measures, but {given} numbers of decimals",
            name=name,
            measures=width,
            given=len(decimals),
        )
    # From here on all is in whole numbers of any size, and checked to fit at the end.
    weights = _scaled_table(records, decimals, names, name)
    goals = _scaled_table(published, decimals, names, name)
    measured = zip(units, decimals, names, strict=True)
    model = Rounding.of(rounding, [_step(*measure) for measure in measured], half)
    weights, growing = model.records(weights), model.halfwidth
    low, high = goals - model.margin(1), goals + model.margin(1)
    bins = list(_named(bin_names, len(goals), "bin", name))
    registered = None if entities is None else list(entities)
    if none_bin:
        if NONE in bins:
            raise DataError('a bin is named "{none}" already; none_bin=True adds it', none=NONE)
        # What the packages sum to beyond the other bins. With growing windows the slack of all other bins is at most
        # h (n + m), so that this window holds for every valid allocation; it rules none out.
        whole, slack = weights.sum(axis=0), growing * (len(weights) + len(low))
        least, most = whole - high.sum(axis=0) - slack, whole - low.sum(axis=0) + slack
        low, high = np.vstack([low, least]), np.vstack([high, most])
        bins.append(NONE)
        registered = None if registered is None else [*registered, None]
    elif NONE in bins:
        raise DataError(
            '{name}: a bin is named "{none}", which is what the bin of records left out is called; rename it',
            name=name,
            none=NONE,
        )
    return Instance(
        packages=_whole_numbers(weights.tolist(), name),
        low=_whole_numbers(low.tolist(), name),
        high=_whole_numbers(high.tolist(), name),
        halfwidth=_whole_numbers([growing.tolist()], name)[0],
        measures=names,
        scale=tuple(10**places for places in decimals),
        package_names=_named(package_names, len(weights), "package", name),
        bin_names=tuple(bins),
        entities=None if registered is None else tuple(registered),
        name=name,
        rounding=rounding,
    )


def from_dict(values: Mapping[str, Any]) -> Instance:
    """Read an instance from its JSON form; fields that are no part of it (such as answers) are left alone.

    Needed are ``packages_scaled`` (n × d), ``bins_lo_scaled`` and ``bins_hi_scaled`` (m × d). Beside them there may be
    ``per_package_halfwidth_scaled`` (d, by default 0), ``scale`` (d, by default 1), ``dims``, ``bin_names``,
    ``package_ids``, ``entities_per_bin`` (m, null for a bin named NONE), ``id`` and ``rounding_semantics``.

    Raises:
        DataError: A field is missing, of another shape than the others, or holds something else than whole numbers.
    """
    if not isinstance(values, Mapping):
        raise DataError("an instance is a JSON object with packages_scaled, bins_lo_scaled, …")
    name = str(values.get("id", "instance"))
    tables = {}
    for key in ("packages_scaled", "bins_lo_scaled", "bins_hi_scaled"):
        if not values:
            raise DataError(
                "{name} is empty; it needs packages_scaled, bins_lo_scaled and bins_hi_scaled",
                name=name,
            )
        if key not in values:
            raise DataError(unknown_name("field", key, name, map(str, values)))
        tables[key] = _whole_numbers(values[key], _field(name, key))
    packages, low = tables["packages_scaled"], tables["bins_lo_scaled"]
    width = packages.shape[1]
    growing = values.get("per_package_halfwidth_scaled") or [0] * width
    halfwidth = _whole_numbers([growing], _field(name, "per_package_halfwidth_scaled"))[0]
    scale = values.get("scale") or [1] * width
    entities = values.get("entities_per_bin")
    if entities is not None and (not isinstance(entities, Sequence) or isinstance(entities, str)):
        raise DataError(
            "{field} is not a list; give a number for every bin, or leave it out",
            field=_field(name, "entities_per_bin"),
        )
    return Instance(
        packages=packages,
        low=low,
        high=tables["bins_hi_scaled"],
        halfwidth=halfwidth,
        measures=_named(values.get("dims"), width, "measure", name),
        scale=tuple(_whole_numbers([scale], _field(name, "scale"))[0].tolist()),
        package_names=_named(values.get("package_ids"), len(packages), "package", name),
        bin_names=_named(values.get("bin_names"), len(low), "bin", name),
        entities=None if entities is None else tuple(entities),
        name=name,
        rounding=str(values.get("rounding_semantics", "windows")),
    )


def from_json(document: str) -> Instance:
    """Read an instance from a JSON text; see `from_dict`.

    Raises:
        DataError: The text is no JSON, or no instance.
    """
    try:
        return from_dict(json.loads(document))
    except json.JSONDecodeError as error:
        raise DataError(
            "the instance is not JSON: {reason} in line {line}; write it with to_dict()",
            reason=error.msg,
            line=str(error.lineno),
        ) from None
    except RecursionError:
        raise DataError("the instance is nested too deeply to be one") from None
    except ValueError as error:
        raise DataError(
            "the instance holds a number that cannot be read: {reason}", reason=error
        ) from None


def _field(name: str, key: str) -> str:
    return text('{name}: field "{field}"', name=name, field=key)


def _named(names: Sequence[object] | None, count: int, kind: str, name: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{kind} {position + 1}" for position in range(count))
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    if not is_list or len(names) != count:
        raise DataError(_NAMED[kind], name=name, count=str(count))
    return tuple(map(str, names))


def _units(unit: Number | Sequence[Number], width: int, name: str) -> list[Fraction]:
    values = [unit] * width if isinstance(unit, Number) else list(unit)
    if len(values) != width:
        raise DataError(
            "{name} has {measures} measures, but {given} units",
            name=name,
            measures=width,
            given=len(values),
        )
    units = [exact(value, text("unit")) for value in values]
    if min(units) <= 0:
        raise StudyError("the unit that totals are rounded to is positive, such as 1 or 0.01")
    return units


def _step(unit: Fraction, decimals: int, measure: str) -> int:
    """Return what totals were rounded to, in scaled units."""
    step = unit * 10**decimals
    if step.denominator != 1:
        raise StudyError(
            'totals of "{measure}" are rounded to {unit}, which has more than {decimals} decimals; keep more',
            measure=measure,
            unit=f"{float(unit):g}",
            decimals=str(decimals),
        )
    return int(step)


def _exact_table(
    rows: Sequence[Sequence[Number]], names: Sequence[str], what: str, name: str
) -> _Exact:
    """Return the numbers of a table as fractions."""
    for row in rows:
        if not isinstance(row, Sequence | np.ndarray) or isinstance(row, str):
            raise DataError(
                "{name}: a row of {what} is not a list of numbers, one per measure",
                name=name,
                what=what,
            )
        if len(row) != len(names):
            raise DataError(
                "{name}: a row of {what} has {given} measures, not {measures}",
                name=name,
                what=what,
                given=len(row),
                measures=len(names),
            )
    where = [
        text('{name}: {what}, measure "{measure}"', name=name, what=what, measure=label)
        for label in names
    ]
    columns = [[exact(row[column], place) for row in rows] for column, place in enumerate(where)]
    return np.array(columns, object).T


def _scaled_table(
    table: _Exact, decimals: Sequence[int], names: Sequence[str], name: str
) -> _Exact:
    """Return the same in units of the last decimal place of each column."""
    columns = [
        scaled(column, places, text('{name}: measure "{measure}"', name=name, measure=label))
        for column, places, label in zip(table.T.tolist(), decimals, names, strict=True)
    ]
    return np.array(columns, object).T


# -- numbers as they were published, and as integers of the last decimal place ------------------------------------


def exact(value: Number | None, what: str) -> Fraction:
    """Return a number exactly; a float is the shortest decimal that is written so.

    Raises:
        DataError: It is missing, or no finite number.

    >>> exact(0.1, "price"), exact("2.50", "price")
    (Fraction(1, 10), Fraction(5, 2))
    """
    if isinstance(value, Fraction):
        return value
    try:
        if value is None or isinstance(value, bool):
            raise InvalidOperation
        number = Decimal(repr(value) if isinstance(value, float) else str(value).strip())
        if number.is_finite():
            return Fraction(number)
    except (InvalidOperation, ValueError):
        pass
    if value is None or value == "":
        raise DataError(
            "{what}: a value is missing; give a number, or leave the record out", what=what
        )
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d+,\d+\s*", value):
        raise DataError(
            "{what}: a value is {value}, which is not a number; write {point}, with a point",
            what=what,
            value=repr(value),
            point=value.strip().replace(",", "."),
        )
    raise DataError(
        "{what}: a value is {value}, which is not a number; give a number, or leave the record out",
        what=what,
        value=repr(value),
    )


def decimals_of(values: Sequence[Fraction]) -> int:
    """Return the least number of decimals that all the values can be written with.

    Raises:
        DataError: Some value needs more than `MOST_DECIMALS`.

    >>> decimals_of([Fraction(3, 2), Fraction(1, 4)])
    2
    """
    for places in range(MOST_DECIMALS + 1):
        if all((value * 10**places).denominator == 1 for value in values):
            return places
    raise DataError(
        "a number has more than {most} decimals; say how many to keep and round it first",
        most=MOST_DECIMALS,
    )


def scaled(values: Sequence[Fraction], decimals: int, what: str) -> list[int]:
    """Return numbers as integers of the last decimal place.

    Raises:
        DataError: A value has more decimals than that.

    >>> scaled([Fraction(3, 2)], 2, "price")
    [150]
    """
    if not isinstance(decimals, int) or not 0 <= decimals <= MOST_DECIMALS:
        raise DataError(
            "{what}: keep from 0 to {most} decimals, not {decimals}",
            what=what,
            most=MOST_DECIMALS,
            decimals=str(decimals),
        )
    shifted = [value * 10**decimals for value in values]
    for value, original in zip(shifted, values, strict=True):
        if value.denominator != 1:
            raise DataError(
                "{what}: {value} has more than {decimals} decimals",
                what=what,
                value=repr(float(original)),
                decimals=decimals,
            )
    return [int(value) for value in shifted]


# -- what an instance must be: tables of whole numbers that belong together, and sums that fit into 64 bits ----------


def _whole_numbers(rows: Any, what: str) -> Integers:
    """Return a table of whole numbers, or refuse what is none."""
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        raise DataError("{what} is not a table of whole numbers", what=what)
    for row in rows:
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(rows[0]):
            raise DataError("{what} is not a table: its rows are lists of equal length", what=what)
        for value in row:
            if not isinstance(value, int) or isinstance(value, bool):
                raise DataError(
                    "{what} holds {value}; scaled measures are whole numbers",
                    what=what,
                    value=repr(value),
                )
            if abs(value) >= LARGEST_SUM:
                raise DataError(
                    "{what}: {value} needs more than 62 bits; keep fewer decimals",
                    what=what,
                    value=str(value),
                )
    return np.array(rows, np.int64).reshape(len(rows), -1)


def _check_shapes(instance: Instance) -> None:
    if instance.packages.ndim != 2 or instance.low.ndim != 2 or instance.halfwidth.ndim != 1:
        raise DataError(
            "{name}: packages and bins are tables, a row of measures for each", name=instance.name
        )
    packages, bins, width = instance.size
    if not packages or not bins or not width:
        raise DataError(
            "{name} needs at least one package, one bin and one measure", name=instance.name
        )
    if instance.high.shape != instance.low.shape:
        raise DataError(
            "{name}: give every bin a low and a high end in each measure", name=instance.name
        )
    counts = {
        text("the packages"): instance.packages.shape[1],
        text("the half-widths"): len(instance.halfwidth),
        text("the names of measures"): len(instance.measures),
        text("the scales"): len(instance.scale),
    }
    for what, count in counts.items():
        if count != width:
            raise DataError(
                "{name}: the bins have {measures} measures, {what} {given}",
                name=instance.name,
                measures=str(width),
                what=what,
                given=str(count),
            )


def _check_names(instance: Instance) -> None:
    packages, bins, _ = instance.size
    if len(instance.package_names) != packages:
        raise DataError(
            "{name} has {packages} packages, but {names} names for them",
            name=instance.name,
            packages=str(packages),
            names=str(len(instance.package_names)),
        )
    if len(instance.bin_names) != bins:
        raise DataError(
            "{name} has {bins} bins, but {names} names for them",
            name=instance.name,
            bins=str(bins),
            names=str(len(instance.bin_names)),
        )
    repeated = [name for name, times in Counter(instance.package_names).items() if times > 1]
    if repeated:
        raise DataError(
            "{name}: package {package} is given twice; give each its own name",
            name=instance.name,
            package=quoted(repeated[:1]),
        )
    repeated = [name for name, times in Counter(instance.bin_names).items() if times > 1]
    if repeated:
        raise DataError(
            "{name}: bin {bin} is given twice; add up its totals",
            name=instance.name,
            bin=quoted(repeated[:1]),
        )


def _check_values(instance: Instance) -> None:
    if (instance.packages < 0).any():
        row, column = (int(places[0]) for places in np.nonzero(instance.packages < 0))
        raise DataError(
            '{name}: package {package} has a negative "{measure}"; reconstruction needs measures from 0, so leave '
            "such records out or split the measure",
            name=instance.name,
            package=quoted([instance.package_names[row]]),
            measure=instance.measures[column],
        )
    if (instance.low > instance.high).any():
        row = int(np.nonzero(instance.low > instance.high)[0][0])
        raise DataError(
            "{name}: the window of bin {bin} is empty",
            name=instance.name,
            bin=quoted([instance.bin_names[row]]),
        )
    if (instance.halfwidth < 0).any():
        raise DataError("{name}: a half-width is negative; give them from 0", name=instance.name)
    if min(instance.scale) < 1:
        raise DataError(
            "{name}: a scale is below 1; it is 100 for two decimals", name=instance.name
        )
    widest = 2 * instance.halfwidth.astype(object) * (len(instance.packages) + 1)
    sums = instance.packages.sum(axis=0, dtype=object) + widest
    ends = (
        np.abs(instance.high.astype(object)).sum(axis=0),
        np.abs(instance.low.astype(object)).sum(axis=0),
    )
    most = np.maximum(sums, np.maximum(*ends) + widest)
    if (most >= LARGEST_SUM).any():
        column = int(np.nonzero(most >= LARGEST_SUM)[0][0])
        raise DataError(
            '{name}: the sums of "{measure}" need more than 62 bits; keep fewer decimals',
            name=instance.name,
            measure=instance.measures[column],
        )


def _check_entities(instance: Instance) -> None:
    if instance.entities is None:
        return
    if len(instance.entities) != len(instance.low):
        raise DataError(
            "{name} has {bins} bins, but entities for {given} of them",
            name=instance.name,
            bins=str(len(instance.low)),
            given=str(len(instance.entities)),
        )
    for name, count in zip(instance.bin_names, instance.entities, strict=True):
        if name == NONE and count is None:
            continue
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise DataError(
                "{name}: bin {bin} has no entities in the register, although something is published about it; "
                "complete the register, or leave entities out",
                name=instance.name,
                bin=quoted([name]),
            )


def _listed(shares: Shares | None, rows: Sequence[tuple[int, int]]) -> list[float | None]:
    return [None if shares is None else float(shares[p][b]) for p, b in rows]
