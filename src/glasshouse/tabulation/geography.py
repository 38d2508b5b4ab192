"""Tables of nested areas: every smallest area by itself, and several together where tables of more areas demand it.

1. What is published of one smallest area is solved alone, with its own proof; then it is put away.
2. What is published of several is held against the files of people that were found: one of each area, and every other
   file in the place of its area's. Where all of them meet it, it tells nothing more of any area.
3. Else the areas that it is of are solved together, from the finest level up, as long as they are not too many. What is
   then still open is told as open: a bound of an area alone holds whatever else is published.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags, Integers
from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import DataError, InternalError, StudyError
from glasshouse.language import quoted
from glasshouse.progress import OnProgress, Progress
from glasshouse.solvers import OutOfTime, SolverBudget
from glasshouse.sources import open_source
from glasshouse.study.tables import NumberInterval, PublishedTable, TablesStudy, Value, Where
from glasshouse.tabulation.cells import NO_LIMIT, CellSystem, WindowRow
from glasshouse.tabulation.proof import proof_of, sealed, showing
from glasshouse.tabulation.search import QUESTIONS
from glasshouse.tabulation.solution import CellBounds, Status, cell_bounds
from glasshouse.tabulation.statements import PEOPLE, PublishedRow, PublishedSet, published

_LARGEST = 4_000
"""Areas with more combinations than these are not solved together."""
_ALONE, _ONCE, _TOGETHER = 0.5, 0.8, 0.3
"""The part of what is left of the time that areas one by one may take where some are asked together, where none are,
and any areas that are asked together."""
_LEAST = 0.3
"""So many seconds an area has at least, as long as there are any."""
_KEPT_AT_ONCE = 200
"""So many areas are kept at a time while a run goes on."""
_PHASE = 0
Areas = tuple[int, ...]
"""Smallest areas, by their place in the file of areas."""


@dataclass(frozen=True)
class Nesting:
    """Which area lies in which."""

    levels: tuple[str, ...]
    """What its levels are called in the tables, the smallest areas first."""
    areas: tuple[tuple[Value, ...], ...]
    """Per smallest area itself, and what it lies in, level by level."""
    _places: dict[Value, int] = field(default_factory=dict, repr=False, compare=False)

    def inside(self, conditions: Mapping[str, object]) -> Areas:
        """Return the smallest areas of which something is said that is true of those of some levels."""
        if not conditions:
            return tuple(range(len(self.areas)))
        places = {self.levels.index(level): _test(one) for level, one in conditions.items()}
        return tuple(
            number
            for number, area in enumerate(self.areas)
            if all(test(area[place]) for place, test in places.items())
        )

    def around(self, where: Mapping[str, Value]) -> dict[str, Value]:
        """Return what the smallest area of somebody lies in, by level."""
        if not self._places:
            self._places.update((area[0], number) for number, area in enumerate(self.areas))
        area = self.areas[self._places[where[self.levels[0]]]]
        return dict(zip(self.levels, area, strict=True))


def _test(condition: object) -> Any:
    if isinstance(condition, NumberInterval):
        return condition.holds
    values = set(condition) if isinstance(condition, tuple) else {condition}
    return values.__contains__


def nesting_of(study: TablesStudy) -> Nesting:
    """Read which area lies in which.

    Raises:
        DataError: An area stands twice, or lies in two others.
        StudyError: A table has an area that the file has not.
    """
    assert study.areas is not None  # noqa: S101 - only such studies have nested areas
    source = open_source(study.areas.path, dialect=study.areas.dialect)
    levels = tuple(source.columns)
    labels = {
        level: {str(value): value for value in study.attributes[level].domain}
        for level in levels
        if level in study.attributes
    }
    if levels[0] not in labels:
        raise StudyError(
            '{file}: no table is by "{level}", its first column, which holds the smallest areas',
            file=source.name,
            level=levels[0],
        )
    areas: list[tuple[Value, ...]] = []
    for batch in source.batches(list(levels)):
        columns = [
            [labels.get(level, {}).get(value, value) for value in batch.column(level).to_pylist()]
            for level in levels
        ]
        areas += zip(*columns, strict=True)
    parents: dict[tuple[int, Value], Value] = {}
    for area in areas:
        for place, (inner, outer) in enumerate(zip(area, (*area[1:], ""), strict=True)):
            if parents.setdefault((place, inner), outer) != outer:
                raise DataError(
                    "{file}: {area} lies in two areas; each lies in one",
                    file=source.name,
                    area=repr(inner),
                )
    if len({area[0] for area in areas}) < len(areas):
        raise DataError("{file}: an area stands twice in its first column", file=source.name)
    for place, level in enumerate(levels):
        missing = set(labels.get(level, {}).values()) - {area[place] for area in areas}
        if missing:
            raise StudyError(
                "{file}: lacks {area}, of which a table tells",
                file=source.name,
                area=repr(min(missing, key=str)),
            )
    return Nesting(levels, tuple(areas))


# -- what is published of which areas --------------------------------------------------------------------------------


class AreaTables:
    """What is published, by the areas that it is of.

    Args:
        study: A study whose tables hold their rows.
        nesting: Which area lies in which.

    Raises:
        StudyError: A percentage is taken of other areas than it is of, or a table has an area in another that it does
            not lie in.
    """

    def __init__(self, study: TablesStudy, nesting: Nesting) -> None:
        self.study, self.nesting = study, nesting
        self.level = nesting.levels[0]
        self.attributes = {
            name: one for name, one in study.attributes.items() if name not in nesting.levels
        }
        self._rows: dict[Areas, dict[int, list[tuple[Any, ...]]]] = {}
        self._statistics: dict[Areas, dict[int, list[Any]]] = {}
        self._found: dict[tuple[Any, ...], Areas] = {}
        for place, table in enumerate(study.tables):
            self._take_rows(place, table)
            for statistic in table.statistics:
                areas, where = self._split({**table.where, **statistic.where})
                within = None if statistic.within is None else dict(statistic.within)
                if within is not None:
                    of_whole, within = self._split({**table.where, **within})
                    if of_whole != areas:
                        raise StudyError(
                            'table "{table}": a percentage is taken of the areas that it is of',
                            table=table.id,
                        )
                plain = statistic.model_copy(update={"where": where, "within": within})
                self._statistics.setdefault(areas, {}).setdefault(place, []).append(plain)
        self._known = [(*self._split(one.where), one) for one in study.known]
        self._impossible = [self._split(where) for where in study.impossible]
        self._reads: dict[Areas, PublishedSet] = {}
        self._open: dict[Areas, tuple[PublishedRow, ...]] = {}
        self.of_several = self._of_several()
        self._several_of: list[list[Areas]] = [[] for _ in nesting.areas]
        for areas in self.of_several:
            for area in areas:
                self._several_of[area].append(areas)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, in their order."""
        return tuple(str(table.id) for table in self.study.tables)

    def only(self, names: Collection[str]) -> Self:
        """Return what some tables say, with what is known besides."""
        tables = tuple(one for one in self.study.tables if one.id in names)
        return type(self)(self.study.model_copy(update={"tables": tables}), self.nesting)

    @property
    def is_of_everything(self) -> bool:
        """Whether something is said of every attribute: else no whole record can be certain."""
        return all(
            len(one.domain) < 2 or self.mentions(name) for name, one in self.attributes.items()
        )

    def mentions(self, attribute: str) -> bool:
        """Tell whether anything is said of an attribute."""
        wheres = [*self.study.impossible, *(one.where for one in self.study.known)]
        for table in self.study.tables:
            wheres.append({**table.where, **dict.fromkeys(table.by, "")})
            for one in table.statistics:
                wheres += [one.where, one.within or {}, {one.of or "": ""}]
        return any(attribute in where for where in wheres)

    def _areas(self, conditions: Mapping[str, Any]) -> Areas:
        key = tuple(conditions.items())
        key = tuple((level, str(one)) for level, one in key)
        if key not in self._found:
            self._found[key] = self.nesting.inside(conditions)
        return self._found[key]

    def _split(self, where: Where) -> tuple[Areas, dict[str, Any]]:
        """Return of which areas something is said, and the rest of the condition."""
        levels = {name: one for name, one in where.items() if name in self.nesting.levels}
        return self._areas(levels), {name: one for name, one in where.items() if name not in levels}

    def _take_rows(self, place: int, table: PublishedTable) -> None:
        if table.rows is None:
            return
        levels = [name for name in table.by if name in self.nesting.levels]
        columns = [table.by.index(name) for name in levels]
        rest = [at for at in range(len(table.by) + 1) if at not in columns]
        shared = {name: one for name, one in table.where.items() if name in self.nesting.levels}
        by_areas: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for row in table.rows:
            key = tuple(row[column] for column in columns)
            by_areas.setdefault(key, []).append(tuple(row[at] for at in rest))
        depths = [self.nesting.levels.index(name) for name in levels]
        inside: dict[tuple[Any, ...], list[int]] = {}
        for number in self._areas(shared):
            area = self.nesting.areas[number]
            inside.setdefault(tuple(area[depth] for depth in depths), []).append(number)
        for key in inside if table.complete else ():
            by_areas.setdefault(key, [])
        for key, rows in by_areas.items():
            if key not in inside:
                raise StudyError(
                    'table "{table}": no area lies in all of {areas}, of which it tells together',
                    table=table.id,
                    areas=quoted(map(str, key)),
                )
            areas = tuple(inside[key])
            self._rows.setdefault(areas, {}).setdefault(place, []).extend(rows)

    def _of_several(self) -> list[Areas]:
        """The areas of which something is published together, the fewest first."""
        sets = {*self._rows, *self._statistics, *(areas for areas, *_ in self._known)}
        if self.study.people is not None:
            sets.add(self._areas({}))
        return sorted((areas for areas in sets if len(areas) > 1), key=lambda one: (len(one), one))

    def rows_of(self, areas: Areas) -> PublishedSet:
        """Return what is published of some areas together, and of no fewer."""
        rows, statistics = self._rows.get(areas, {}), self._statistics.get(areas, {})
        tables = []
        for place in sorted({*rows, *statistics}):
            table = self.study.tables[place]
            plain = {
                "by": tuple(name for name in table.by if name in self.attributes),
                "where": self._split(table.where)[1],
                "rows": tuple(rows[place]) if place in rows else None,
                "statistics": tuple(statistics.get(place, ())),
            }
            tables.append(table.model_copy(update=plain))
        known = tuple(
            one.model_copy(update={"where": where}) for of, where, one in self._known if of == areas
        )
        entries = {
            "attributes": self.attributes,
            "tables": tuple(tables),
            "known": known,
            "impossible": tuple(where for of, where in self._impossible if set(areas) <= set(of)),
            "people": self.study.people if areas == self._areas({}) else None,
        }
        return published(self.study.model_copy(update=entries))

    def together(self, areas: Areas, several: Collection[Areas]) -> PublishedSet:
        """Return what is published of some areas, each alone, and of several of them.

        What is published of these and others is there without a window: it tells nothing, but its sum can be seen.
        """
        place = {area: at for at, area in enumerate(areas)}
        rows: list[PublishedRow] = []
        impossible: list[Any] = []
        choices = 0
        domains: Mapping[str, Any] = {}
        inside = [*((area,) for area in areas), *several]
        for part in [*inside, *self.beyond(areas, several)]:
            read = self.read(part)
            domains = read.domains
            here = {self.level: tuple(place[area] for area in part if area in place)}
            here = {} if len(here[self.level]) == len(areas) else here
            if part in inside:
                rows += _within(read.rows, here, choices)
                choices += len({row.case[0] for row in read.rows if row.case is not None})
            else:
                rows += _within(self._without_windows(part), here, 0)
            if len(part) == 1:
                impossible += [{**here, **where} for where in read.impossible]
        names = tuple(self.nesting.areas[area][0] for area in areas)
        return PublishedSet({self.level: names, **domains}, tuple(impossible), tuple(rows))

    def _without_windows(self, part: Areas) -> tuple[PublishedRow, ...]:
        if part not in self._open:
            rows = self.read(part).rows
            self._open[part] = tuple(replace(row, low=None, high=None, case=None) for row in rows)
        return self._open[part]

    def beyond(self, areas: Areas, several: Collection[Areas]) -> list[Areas]:
        """Return of which several areas something is published that is about some, and not taken into account."""
        return list(
            dict.fromkeys(
                part for area in areas for part in self._several_of[area] if part not in several
            )
        )

    def lengths(self, parts: Iterable[Areas]) -> list[int]:
        """Return how many rows there are of each of several areas."""
        return [len(self.read(part).rows) for part in parts]

    def read(self, part: Areas) -> PublishedSet:
        """Return what is published of some areas; of several it is read once."""
        if len(part) == 1:
            return self.rows_of(part)
        if part not in self._reads:
            self._reads[part] = self.rows_of(part)
        return self._reads[part]


def _within(
    rows: Sequence[PublishedRow], here: Mapping[str, tuple[int, ...]], choices: int
) -> Iterator[PublishedRow]:
    if not here and not choices:
        yield from rows
        return
    for row in rows:
        terms = tuple(replace(term, where={**here, **term.where}) for term in row.terms)
        case = None if row.case is None else (row.case[0] + choices, row.case[1])
        yield replace(row, terms=terms, case=case)


# -- areas that are solved -------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Solved:
    """One area, or several together, without what can be made anew."""

    areas: Areas
    several: tuple[Areas, ...]
    """Of which several areas it takes what is published into account."""
    bounds: CellBounds
    """Without rows and steps."""
    steps: bytes
    files: list[Integers]
    """Files of counts by class; the first stands for the areas beside the files of others."""
    beyond: dict[Areas, _Sums]
    """What each file adds to what is published of several areas besides."""

    @classmethod
    def of(
        cls, tables: AreaTables, areas: Areas, several: tuple[Areas, ...], bounds: CellBounds
    ) -> _Solved:
        system, size = bounds.system, len(bounds.system.sizes)
        ends = [bounds.class_least.tolist(), bounds.class_most.tolist()]
        files = []
        for shown in showing(bounds.files, size, ends):
            counts = np.zeros(size, np.int64)
            counts[list(shown)] = list(shown.values())
            files.append(counts)
        parts = tables.beyond(areas, several)
        place = len(system.rows) - sum(tables.lengths(parts))
        beyond = {}
        for part, length in zip(parts, tables.lengths(parts), strict=True):
            rows = system.rows[place : place + length]
            beyond[part] = _Sums.of(place, rows, files, bounds)
            place += length
        light = replace(
            bounds,
            published=PublishedSet({}, (), ()),
            system=replace(system, domains={}, rows=(), choices=()),
            steps=(),
            files=(),
        )
        steps = zlib.compress(json.dumps(list(bounds.steps)).encode(), 1)
        return cls(areas, several, light, steps, files, beyond)

    def demote(self, kept: Flags) -> None:
        """Tell everything as open, and keep only some files."""
        self.files = [file for file, flag in zip(self.files, kept.tolist(), strict=True) if flag]
        for sums in self.beyond.values():
            sums.of_files = sums.of_files[kept]
        self.bounds = replace(self.bounds, status="limit", certain="limit", possible="limit")


@dataclass(eq=False)
class _Sums:
    """What some areas add to the rows of what is published of them and others."""

    place: int
    """The number of the first row in what is published of the areas."""
    of_files: Integers
    """Per file and row its sum."""
    least: Integers
    """Per row the least that the bounds of the areas leave."""
    most: Integers
    """Per row the most."""

    @classmethod
    def of(
        cls, place: int, rows: Sequence[WindowRow], files: Sequence[Integers], bounds: CellBounds
    ) -> _Sums:
        taken = np.zeros((len(rows), len(bounds.class_least)), np.int64)
        for number, row in enumerate(rows):
            taken[number, row.classes] = row.coefficients
        of_files: Integers = np.array(files, np.int64).reshape(len(files), taken.shape[1]) @ taken.T
        up: Integers = np.maximum(taken, 0)
        down: Integers = np.minimum(taken, 0)
        least: Integers = up @ bounds.class_least + down @ bounds.class_most
        most: Integers = up @ bounds.class_most + down @ bounds.class_least
        return cls(place, of_files, least, most)


@dataclass(frozen=True, eq=False)
class AreaBounds(CellBounds):
    """What every file that meets the tables of all areas has in common."""

    tables_of: AreaTables | None = None
    """What is published of which areas."""
    solved: tuple[_Solved, ...] = ()
    """The areas, alone or together."""
    several: tuple[Areas, ...] = ()
    """Of which several areas what is published was only held against files."""

    @property
    def whole(self) -> AreaTables:
        """What is published of which areas, where it is known."""
        if self.tables_of is None:
            raise InternalError("areas were solved without tables")
        return self.tables_of

    def proofs(self) -> Iterator[dict[str, Any]]:
        """Yield a proof of each area, or of areas together, and last what the files of all must meet."""
        for one in self.solved:
            whole = replace(
                one.bounds,
                published=self.whole.together(one.areas, one.several),
                steps=tuple(json.loads(zlib.decompress(one.steps))),
                files=tuple(
                    {int(at): int(file[at]) for at in np.flatnonzero(file)} for file in one.files
                ),
            )
            yield proof_of(whole, further=False)
        if self.several:
            together = {"area": self.whole.level, "proofs": len(self.solved)}
            yield sealed({**together, "rows": list(self._sums())})

    def _sums(self) -> Iterator[dict[str, Any]]:
        for part in self.several:
            places = [
                (number, one.beyond[part].place)
                for number, one in enumerate(self.solved)
                if part in one.beyond
            ]
            for at, row in enumerate(self.whole.read(part).rows):
                yield {**row.to_dict(), "parts": [[number, place + at] for number, place in places]}


def solved(
    study: TablesStudy, nesting: Nesting | None, *, counting: bool = False, **limits: Any
) -> CellBounds:
    """Find what tables tell: all at once, or area by area, and then not beyond the time.

    Args:
        study: A study whose tables hold their rows.
        nesting: Which area lies in which; None: there are no areas.
        counting: Whether the files that fit are counted, where that is possible; of areas they are not.
        limits: What `cell_bounds` and `area_bounds` take alike.

    Raises:
        BudgetError: The combinations do not fit the memory.
        OutOfTime: The time was over before every area was looked at.
        StudyError: Nothing says how many people there can be.
    """
    if nesting is None:
        return cell_bounds(published(study), counting=counting, **limits)
    return area_bounds(AreaTables(study, nesting), in_time=True, **limits)


def nesting_in(bounds: CellBounds) -> Nesting | None:
    """Return which area lies in which, of bounds that were found area by area; else None."""
    return bounds.whole.nesting if isinstance(bounds, AreaBounds) else None


def area_bounds(
    tables: AreaTables,
    *,
    seconds: float = 60.0,
    memory: int = 2 << 30,
    certifying: bool = False,
    questions: Sequence[str] = QUESTIONS,
    rare: int = 0,
    in_time: bool = False,
    kept: Checkpoint | None = None,
    on_progress: OnProgress | None = None,
) -> AreaBounds:
    """Find between what the number of people with each combination lies in each area.

    Args:
        tables: What is published, by areas.
        seconds: CPU seconds; then what is proved is told, and what is open.
        memory: The bytes that the combinations of one area may take.
        certifying: Whether what the solver alone has proved is also proved by cases.
        questions: What is asked, as of `cell_bounds`; none: only what the rows of each area tell.
        rare: Up to how many people a combination is rare, where that is asked.
        in_time: Whether areas that there is no time for are not even read.
        kept: Where the areas that an interrupted run has finished are, and where they are kept; it is open.
        on_progress: Told how many areas are done.

    Raises:
        BudgetError: The combinations of an area do not fit the memory.
        OutOfTime: The time was over before every area was looked at, and that was asked for.
        StudyError: Nothing says how many people there can be.
    """
    budget = SolverBudget(seconds, memory)
    options: dict[str, Any] = {
        "memory": memory,
        "counting": False,
        "certifying": certifying,
        "questions": questions,
        "rare": rare,
    }
    number = len(tables.nesting.areas)
    solved = [] if kept is None else _restored(kept)
    for area in range(len(solved), number):
        if on_progress is not None:
            on_progress(Progress("solving", area, number))
        if in_time and budget.left <= 0:
            raise OutOfTime
        share = budget.left * (_ALONE if tables.of_several else _ONCE) / (number - area)
        try:
            one = _alone(tables, area, 0 if share <= 0 else max(_LEAST, 2 * share), options)
        except StudyError:  # only what is published of several says how many people there can be
            return _all_at_once(tables, budget.left, options)
        if one.bounds.status == "infeasible":
            return _merged(tables, [one], (), infeasible=True)
        solved.append(one)
        if kept is not None and (len(solved) % _KEPT_AT_ONCE == 0 or area == number - 1):
            begin = (len(solved) - 1) // _KEPT_AT_ONCE * _KEPT_AT_ONCE
            _keep(kept, solved[begin:])
    left = [area for area in range(number) if questions and solved[area].bounds.status == "limit"]
    for done, area in enumerate(sorted(left, key=lambda area: len(solved[area].files))):
        share = budget.left * _ONCE / (len(left) - done)
        if share > _LEAST:
            solved[area] = _alone(tables, area, share, options)
    group_of = dict(enumerate(solved))
    apart: list[Areas] = []
    for areas in tables.of_several if questions else ():
        groups = _touched(group_of, areas)
        check = _Check(tables, areas, groups)
        together = tuple(sorted({area for group in groups for area in group.areas}))
        size = sum(len(group.bounds.system.cells) for group in groups)
        apart.append(areas)
        is_open = size > _LARGEST or budget.left <= 0
        if check.holds or (is_open and not check.is_contradicted):
            continue
        inside = tuple(one for one in apart if set(one) <= set(together))
        inside = tuple(
            dict.fromkeys((*(one for group in groups for one in group.several), *inside))
        )
        bounds = cell_bounds(
            tables.together(together, inside), seconds=budget.left * _TOGETHER, **options
        )
        joined = _Solved.of(tables, together, inside, bounds)
        if bounds.status == "infeasible":
            return _merged(tables, [joined], (), infeasible=True)
        apart = [one for one in apart if one not in inside]
        group_of |= dict.fromkeys(together, joined)
    groups = _touched(group_of, range(number))
    _hold_together(tables, groups, apart if questions else tables.of_several, group_of)
    return _merged(tables, groups, tuple(apart))


def _alone(tables: AreaTables, area: int, seconds: float, options: Mapping[str, Any]) -> _Solved:
    alone = tables.together((area,), ())
    bounds = cell_bounds(alone, seconds=seconds, **options)
    return _Solved.of(tables, (area,), (), bounds)


def _all_at_once(tables: AreaTables, seconds: float, options: Mapping[str, Any]) -> AreaBounds:
    everywhere, several = tuple(range(len(tables.nesting.areas))), tuple(tables.of_several)
    bounds = cell_bounds(tables.together(everywhere, several), seconds=seconds, **options)
    joined = _Solved.of(tables, everywhere, several, bounds)
    return _merged(tables, [joined], (), infeasible=bounds.status == "infeasible")


def _touched(group_of: Mapping[int, _Solved], areas: Iterable[int]) -> list[_Solved]:
    return list({id(group_of[area]): group_of[area] for area in areas}.values())


@dataclass(eq=False)
class _Check:
    """Whether what is published of several areas is met by one file of each, and any other in the place of its own."""

    tables: AreaTables
    areas: Areas
    groups: Sequence[_Solved]
    holds: bool = field(init=False)
    """Whether it is, for every file."""
    is_base: bool = field(init=False)
    """Whether the first files meet it."""
    is_contradicted: bool = field(default=False, init=False)
    """Whether nothing within the bounds of the areas meets it."""
    fits: dict[int, Flags] = field(default_factory=dict, init=False)
    """By group, which of its files meet it beside the first of the others."""

    def __post_init__(self) -> None:
        rows = self.tables.read(self.areas).rows
        low = np.array([-NO_LIMIT if row.low is None else row.low for row in rows], np.int64)
        high = np.array([NO_LIMIT if row.high is None else row.high for row in rows], np.int64)
        sums = [group.beyond[self.areas] for group in self.groups]
        is_plain = all(row.case is None for row in rows)
        least = np.sum([one.least for one in sums], axis=0)
        most = np.sum([one.most for one in sums], axis=0)
        self.is_contradicted = is_plain and bool(((least > high) | (most < low)).any())
        self.is_base = self.holds = False
        if not is_plain or not all(group.files for group in self.groups):
            return
        total = np.sum([one.of_files[0] for one in sums], axis=0)
        for group, one in zip(self.groups, sums, strict=True):
            there = total - one.of_files[0] + one.of_files
            self.fits[id(group)] = ((there >= low) & (there <= high)).all(axis=1)
        self.is_base = bool(((total >= low) & (total <= high)).all())
        self.holds = self.is_base and all(fits.all() for fits in self.fits.values())


def _hold_together(
    tables: AreaTables,
    groups: Sequence[_Solved],
    several: Sequence[Areas],
    group_of: Mapping[int, _Solved],
) -> None:
    """Keep the files that meet what is published of several areas, and tell as open what is not shown by them."""
    before = -1
    while before != (before := sum(len(group.files) for group in groups)):
        for areas in several:
            concerned = _touched(group_of, areas)
            check = _Check(tables, areas, concerned)
            if check.holds:
                continue
            for group in concerned:
                nothing = np.zeros(len(group.files), np.bool_)
                group.demote(check.fits[id(group)] if check.is_base else nothing)


def _merged(
    tables: AreaTables,
    groups: Sequence[_Solved],
    several: tuple[Areas, ...],
    *,
    infeasible: bool = False,
) -> AreaBounds:
    """Return the answers of all areas as one."""
    names = tuple(area[0] for area in tables.nesting.areas)
    domains = {self_name: one.domain for self_name, one in tables.attributes.items()}
    domains = {tables.level: names, **domains}
    cells, class_of, sizes, least, most = [], [], [], [], []
    trusted: set[tuple[int, bool]] = set()
    base: dict[int, int] = {}
    begin = 0
    for group in () if infeasible else groups:
        system = group.bounds.system
        codes = system.cells.copy()
        codes[:, 0] = np.array(group.areas, np.int32)[codes[:, 0]]
        cells.append(codes)
        class_of.append(system.class_of + begin)
        sizes.append(system.sizes)
        least.append(group.bounds.class_least)
        most.append(group.bounds.class_most)
        trusted |= {(place + begin, up) for place, up in group.bounds.trusted}
        if group.files:
            base |= {
                begin + int(at): int(group.files[0][at]) for at in np.flatnonzero(group.files[0])
            }
        begin += len(system.sizes)
    nothing = np.zeros(0, np.int64)
    system = CellSystem(
        domains,
        np.concatenate([np.zeros((0, len(domains)), np.int32), *cells]),
        np.concatenate([nothing, *class_of]),
        np.concatenate([nothing, *sizes]),
        (),
        (),
    )
    class_least, class_most = np.concatenate([nothing, *least]), np.concatenate([nothing, *most])
    single = system.sizes[system.class_of] == 1

    def of_all(states: Iterable[str]) -> Status:
        return "proved" if infeasible or all(state == "proved" for state in states) else "limit"

    whole = all(group.files for group in groups) and not infeasible
    everybody = tables.read(tuple(range(len(names)))).rows
    return AreaBounds(
        PublishedSet(domains, (), tuple(row for row in everybody if row.table == PEOPLE)),
        system,
        least=np.where(single, class_least[system.class_of], 0),
        most=class_most[system.class_of],
        class_least=class_least,
        class_most=class_most,
        files=(base,) if whole else (),
        trusted=frozenset(trusted),
        tables_of=tables,
        solved=tuple(groups),
        several=several,
        status="infeasible" if infeasible else of_all(one.bounds.status for one in groups),
        certain=of_all(one.bounds.certain for one in groups),
        possible=of_all(one.bounds.possible for one in groups),
    )


# -- what an interrupted run has finished ----------------------------------------------------------------------------


def _keep(kept: Checkpoint, solved: Sequence[_Solved]) -> None:
    rows = []
    for one in solved:
        bounds, system = one.bounds, one.bounds.system
        content = {
            "states": [bounds.status, bounds.certain, bounds.possible],
            "cells": system.cells.tolist(),
            "class_of": system.class_of.tolist(),
            "ends": [bounds.class_least.tolist(), bounds.class_most.tolist()],
            "trusted": sorted(bounds.trusted),
            "files": [file.tolist() for file in one.files],
            "sums": [
                [part, sums.place, sums.of_files.tolist(), sums.least.tolist(), sums.most.tolist()]
                for part, sums in one.beyond.items()
            ],
        }
        rows.append({"area": one.areas[0], "content": json.dumps(content), "steps": one.steps})
    kept.save_table(_PHASE, pa.Table.from_pylist(rows))


def _restored(kept: Checkpoint) -> list[_Solved]:
    solved: list[_Solved] = []
    for table in kept.tables(_PHASE):
        for row in table.to_pylist():
            content = json.loads(row["content"])
            class_of = np.array(content["class_of"], np.int64)
            least, most = (np.array(end, np.int64) for end in content["ends"])
            sizes = np.bincount(class_of, minlength=len(least)).astype(np.int64)
            cells = np.array(content["cells"], np.int32)
            single = sizes[class_of] == 1
            status, certain, possible = content["states"]
            bounds = CellBounds(
                PublishedSet({}, (), ()),
                CellSystem({}, cells, class_of, sizes, (), ()),
                status,
                certain,
                possible,
                np.where(single, least[class_of], 0),
                most[class_of],
                least,
                most,
                trusted=frozenset((place, up) for place, up in content["trusted"]),
            )
            files = [np.array(file, np.int64) for file in content["files"]]
            beyond = {
                tuple(part): _Sums(place, *(np.array(one, np.int64) for one in (sums, low, high)))
                for part, place, sums, low, high in content["sums"]
            }
            solved.append(_Solved((row["area"],), (), bounds, row["steps"], files, beyond))
    return solved
