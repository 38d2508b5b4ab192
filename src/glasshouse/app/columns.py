"""What becomes of columns in What if: groups moved and renamed in place, and the protected file beside the original.

No record is shown. Counts are rounded, as what two ways of grouping tell could else be subtracted; records are
invented, column by column, of values that enough people have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasshouse.app.looks import BARS, Bar, amounts_of, bars, histogram, masked, spread
from glasshouse.disclosure import rounded_count, smallest_cell
from glasshouse.language import number, text
from glasshouse.report.words import enumeration
from glasshouse.study.anonymise import edges_rule, groups_rule, hierarchy_rule
from glasshouse.table.encode import NUMBER
from glasshouse.table.generalised import SUPPRESSED, as_interval, plain_decimal
from glasshouse.table.profiles import is_missing_mark, table_profile

if TYPE_CHECKING:
    from glasshouse.arrays import Floats, Integers
    from glasshouse.mitigation.distinct_rows import CodedHierarchy
    from glasshouse.table import EncodedColumn

MOST_WORDS, MOST_EDGES, SHOWN_GROUPS, LONGEST_NAME = 40, 24, 12, 60
"""So many values can be put into groups by hand, so many boundaries moved, and so many groups are shown at first."""
INVENTED = 8
"""So many records are invented."""
_EDGE = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,9})?")
NONE = "-"
"""What stands for no rule where a page says which one it shows."""
Said = Callable[[str], list[str]]


class EditedGroup(NamedTuple):
    """A group of numbers, or a value that can be put into a group."""

    words: str
    """What it holds."""
    records: str
    """In how many it is, rounded."""
    name: str
    """What somebody called it, or the group that the value is put into; empty: nobody did."""


@dataclass(frozen=True)
class Editor:
    """The groups of one column, to be moved and renamed."""

    label: str
    """What the column is called."""
    drawn: str
    """The rule that is shown, so that it is known whether something was changed."""
    groups: list[EditedGroup]
    """Groups of numbers, the lowest first; or values, the most frequent first, and last all others."""
    edges: list[str]
    """The boundaries between groups of numbers; none between words."""
    axis: Mapping[str, str]
    """From where to where boundaries can be moved, and by how much at least."""
    bars: Sequence[Bar]
    """How the numbers are distributed between these two."""


def _chosen(trials: Any, said: Said) -> EncodedColumn | None:
    """Return the column whose groups are shown; None: none is chosen."""
    written = (said("edit") or [""])[0]
    is_one = re.fullmatch("[0-9]{1,3}", written) and int(written) < len(trials.names)
    column: EncodedColumn = trials.table.column(trials.names[int(written if is_one else 0)])
    return column if is_one else None


def edited(trials: Any, said: Said) -> dict[str, str]:
    """Return the rule of the column whose groups were changed, and its level, as entries of an address; or nothing."""
    column, drawn = _chosen(trials, said), (said("drawn") or [""])[0]
    if column is None or not drawn:
        return {}
    names = [" ".join(name.split())[:LONGEST_NAME] for name in said("name")]
    edges = [Fraction(one) for one in said("edge")[:MOST_EDGES] if _EDGE.fullmatch(one)]
    if edges and (axis := _Axis.of(column)):
        starts = dict(sorted(zip(edges, [*names[1:], *[""] * len(edges)], strict=False)))
        starts = axis.changed(starts, said)
        written = edges_rule([*map(plain_decimal, starts)], [*names[:1], *starts.values()])
    else:
        written = groups_rule(dict(zip(_words(column), names, strict=False))) or NONE
    place = trials.names.index(column.name)
    if written == drawn:
        return {}
    return {f"group-{place}": written.removeprefix(NONE), f"level-{place}": "1"}


def editor(trials: Any, said: Said, levels: Sequence[int]) -> Editor | None:
    """Return the groups of the column that is chosen; None: none is, or values say their groups."""
    column = _chosen(trials, said)
    if column is None:
        return None
    label = enumeration([column.name])
    rule, keywords = hierarchy_rule(trials.hierarchies[column.name].rule) or ("", {})
    if rule in ("intervals", "rounding", "top_bottom") and (axis := _Axis.of(column)):
        return axis.editor(label, *axis.seeded(trials, levels, keywords))
    values = _words(column) if rule in ("suppression_only", "groups") else {}
    into = {one: name for name, some in keywords.get("groups", {}).items() for one in some}
    rest = text("every other value")
    rows = [
        EditedGroup(rest if one == SUPPRESSED else one, rounded_count(count), into.get(one, ""))
        for one, count in values.items()
    ]
    drawn = groups_rule({value: into.get(value, "") for value in values}) or NONE
    return Editor(label, drawn, rows, [], {}, ()) if rows else None


def _words(column: EncodedColumn) -> dict[str, int]:
    """Return the values that enough people have, the most frequent first, and last how many have any other."""
    tally = zip(column.values.to_pylist(), column.tally.tolist(), strict=True)
    there = [(-count, value) for value, count in tally if value and not is_missing_mark(value)]
    shown = [one for one in sorted(there) if -one[0] >= smallest_cell()][:MOST_WORDS]
    words = {value: -count for count, value in shown}
    rest = -sum(count for count, _ in there) - sum(words.values())
    return words | ({SUPPRESSED: rest} if rest and words else {})


@dataclass(frozen=True)
class _Axis:
    """The numbers of a column, and where boundaries are moved: beyond its extremes, which are people's."""

    column: EncodedColumn
    amounts: Floats
    counts: Integers
    low: Fraction
    high: Fraction
    step: Fraction

    @classmethod
    def of(cls, column: EncodedColumn) -> _Axis | None:
        """Return the axis of a column; None: some of its values are no numbers."""
        values = [one.strip() for one in column.values.to_pylist()]
        there = [place for place, one in enumerate(values) if one and not is_missing_mark(one)]
        written = [values[place] for place in there]
        if not written or not all(NUMBER.fullmatch(one) for one in written):
            return None
        step = Fraction(1, 10 ** min(4, max(len(one.partition(".")[2]) for one in written)))
        amounts = np.array(written, float)
        if not np.isfinite(amounts).all():
            return None
        least, most = Fraction(float(amounts.min())), Fraction(float(amounts.max()))
        wide = max(step, Fraction(10) ** floor(log10(max(most - least, step))))
        low, high = floor(least / wide) * wide, (floor(most / wide) + 1) * wide
        return cls(column, amounts, column.tally[there], low, high, step)

    def rounded(self, edge: Fraction) -> Fraction:
        """Return a boundary that can be moved to."""
        return floor(edge / self.step) * self.step

    def changed(self, starts: dict[Fraction, str], said: Said) -> dict[Fraction, str]:
        """Return groups by where each begins, one split, or joined with the next one, where that is asked for."""
        edges = list(starts)
        places = {what: (said(what) or [""])[0] for what in ("split", "join")}
        asked = {what: int(one) for what, one in places.items() if re.fullmatch("[0-9]{1,2}", one)}
        if asked.get("join", len(edges)) < len(edges) > 1:
            del starts[edges[asked["join"]]]
        elif asked.get("split", MOST_EDGES) <= len(edges) < MOST_EDGES:
            below, above = [self.low, *edges, self.high][asked["split"] :][:2]
            if below < (middle := self.rounded((below + above) / 2)) < above:
                starts = dict(sorted({**starts, middle: ""}.items()))
        return starts

    def seeded(
        self, trials: Any, levels: Sequence[int], keywords: Mapping[str, Any]
    ) -> tuple[list[Fraction], list[str]]:
        """Return the boundaries and names of a rule, or those of the level that is shown, or three."""
        said = keywords.get("edges", ())
        if len(said) == 1 and len(said[0]) <= MOST_EDGES:
            return [*map(Fraction, said[0])], keywords.get("names") or [""] * (len(said[0]) + 1)
        coded = _coded(trials, self.column)
        level = max(1, levels[trials.names.index(self.column.name)])
        edges = {self.rounded(self.low + (self.high - self.low) * part / 4) for part in (1, 2, 3)}
        for labels in coded.labels[level:-1]:
            spans = [span for label in labels if (span := as_interval(label))]
            ends = {Fraction(span.low[0]) for span in spans if span.low[0].is_finite()}
            inner = {end for end in map(self.rounded, ends) if self.low < end < self.high}
            if inner and len(inner) < SHOWN_GROUPS and len(spans) == len(labels):
                edges = inner
                break
        return sorted(edges), [""] * (len(edges) + 1)

    def editor(self, label: str, edges: Sequence[Fraction], names: Sequence[str]) -> Editor:
        """Return what is shown of some boundaries."""
        low, high = min(self.low, edges[0]), max(self.high, edges[-1])
        step = min([self.step, *(Fraction(1, edge.denominator) for edge in edges)])
        bins = [-np.inf, *map(float, edges), np.inf]
        counts = np.histogram(self.amounts, bins, weights=self.counts)[0]
        ends = [plain_decimal(edge) for edge in edges]
        between = (f"{one} – < {other}" for one, other in pairwise(ends))
        words = [f"< {ends[0]}", *between, f"≥ {ends[-1]}"]
        drawn = np.histogram(self.amounts, 2 * BARS, (float(low), float(high)), None, self.counts)
        return Editor(
            label,
            edges_rule(ends, names),
            list(map(EditedGroup, words, map(rounded_count, map(int, counts)), names)),
            ends,
            {"min": plain_decimal(low), "max": plain_decimal(high), "step": plain_decimal(step)},
            bars(drawn[0]),
        )


def _coded(trials: Any, column: EncodedColumn) -> CodedHierarchy:
    coded: CodedHierarchy = trials.hierarchies[column.name].coded(column, where=trials.table.name)
    return coded


def side_by_side(trials: Any, trial: Any) -> list[tuple[str, list[Bar], list[Bar], str]]:
    """Return each column, how it is distributed in the original and in what is released, and how many values it has."""
    kept, pairs = trial.kept_of(trials), []
    profiles = {one.name: one for one in table_profile(trials.table).columns}
    for place, name in enumerate(trials.names):
        column, level = trials.table.column(name), trial.proposal.levels[place]
        coded, profile = _coded(trials, column), profiles[name]
        labels = coded.codes[level].astype(np.int64)
        left = np.bincount(column.codes[kept], minlength=len(labels))
        groups = np.bincount(labels, left, len(coded.labels[level]))
        is_out = bool(level) and level == trials.heights[place] - 1
        values = column.values.to_pylist()
        there = [place for place, value in enumerate(values) if value]
        amounts = amounts_of([values[place] for place in there], profile)
        starts = None
        if amounts is not None:
            starts = np.full(len(groups), np.inf)
            np.minimum.at(starts, labels[there], amounts)
        told = [number(int(np.sum(one >= smallest_cell()))) for one in (column.tally, groups)]
        after = [] if is_out else spread(starts, groups, whole=profile.kind != "number")
        pairs.append((enumeration([name]), histogram(column, profile), after, " → ".join(told)))
    return pairs


def invented(trials: Any, trial: Any) -> list[tuple[tuple[str, str], ...]]:
    """Return records that are nobody's, as they would be in the original and as they would be protected.

    Each column is drawn for itself. A value of too few people is masked, and so is what becomes of it.
    """
    draw = np.random.default_rng(trials.question.seed)
    columns = []
    for column, level in zip(
        map(trials.table.column, trials.names), trial.proposal.levels, strict=True
    ):
        coded, tally = _coded(trials, column), column.tally
        labels = coded.codes[level].astype(np.int64)
        groups = np.bincount(labels, tally)[labels]
        chosen = draw.choice(len(tally), INVENTED, p=tally / tally.sum())
        columns.append(
            [
                (
                    value if tally[one] >= smallest_cell() else masked(value),
                    label if groups[one] >= smallest_cell() else masked(label),
                )
                for one in chosen
                for value, label in [
                    (column.values[int(one)].as_py(), coded.labels[level][labels[one]])
                ]
            ]
        )
    return list(zip(*columns, strict=True))
