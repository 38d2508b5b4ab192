"""A campaign in parts, for several machines: which groups belong to which part, and what is put together again.

What a phase finds of a record narrows later phases for the same record, and nothing else: groups that share no record,
directly or by way of others, have nothing to do with each other in any phase. Such *components* are dealt to the parts,
the largest first and each to the part that has fewest records so far, so that every machine deals them alike.

A part is no answer: it only keeps its attempts, in a folder. A campaign that has those of all parts finds everything
asked before (`folders_of_parts`), and ends as one that was carried out at one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from glasshouse.arrays import Integers
from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import StudyError
from glasshouse.reconstruction.groups import TotalsGroups

_PART = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
FINISHED = 0
"""What a folder of a part takes note of when all its instances had their attempts."""


@dataclass(frozen=True)
class CampaignPart:
    """One of several parts of a campaign."""

    number: int
    """Which one, from 1 on."""
    of: int
    """How many there are."""

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def of_text(cls, written: str) -> CampaignPart:
        """Return the part that is written as "2/4".

        Raises:
            StudyError: It is not written so, or there is no such part.

        >>> CampaignPart.of_text("2/4")
        CampaignPart(number=2, of=4)
        """
        match = _PART.fullmatch(written.strip())
        if match is None or int(match[1]) > int(match[2]):
            raise StudyError(
                'the part is "{part}"; say which of how many, such as 2/4 for the second of four',
                part=written,
            )
        return cls(int(match[1]), int(match[2]))


@dataclass(frozen=True)
class PhasePart:
    """How far a phase came, of what belongs to a part of a campaign."""

    name: str
    """What the plan calls it."""
    tried: int
    """Instances that had an attempt; those with one bin need none."""
    solved: int
    """Those with an exact answer."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return asdict(self)


@dataclass(frozen=True)
class PartResult:
    """What a part of a campaign did: no answer yet, which takes all parts."""

    part: CampaignPart
    """Which part of how many."""
    phases: tuple[PhasePart, ...]
    """How far each phase came."""
    complete: bool
    """Whether every instance had all attempts that the plan allows; else a time limit ended it, and it can go on."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return {
            "part": str(self.part),
            "complete": self.complete,
            "phases": [phase.to_dict() for phase in self.phases],
        }

    def to_frame(self) -> pa.Table:
        """Return a row per phase."""
        kinds = {"name": pa.string(), "tried": pa.int64(), "solved": pa.int64()}
        rows = [phase.to_dict() for phase in self.phases]
        return pa.Table.from_pylist(rows, schema=pa.schema(kinds))


def part_of_groups(groups: Sequence[TotalsGroups], records: int, parts: int) -> list[Integers]:
    """Return per phase the part of each group, from 1 on.

    Args:
        groups: Per phase, its groups.
        records: The number of records.
        parts: How many parts there are.
    """
    begin = np.cumsum([records, *(phase.count for phase in groups)])
    rows = np.concatenate([phase.record for phase in groups])
    places = np.concatenate(
        [phase.record_group + first for phase, first in zip(groups, begin, strict=False)]
    )
    size = int(begin[-1])
    links = coo_array((np.ones(len(rows), np.int8), (rows, places)), shape=(size, size))
    count, component = connected_components(links, directed=False)
    weight = np.bincount(component[:records], minlength=count)
    part = _dealt(weight, parts)
    return [
        part[component[first : first + phase.count]]
        for phase, first in zip(groups, begin, strict=False)
    ]


def _dealt(weight: Integers, parts: int) -> Integers:
    """Deal components to parts: the largest first, each to the part that has least.

    >>> _dealt(np.array([5, 1, 3, 3]), 2).tolist()
    [1, 1, 2, 2]
    """
    part = np.zeros(len(weight), np.int64)
    load = [(0, number) for number in range(1, parts + 1)]
    heapify(load)
    for component in np.argsort(-weight, kind="stable").tolist():
        held, number = heappop(load)
        part[component] = number
        heappush(load, (held + int(weight[component]), number))
    return part


def part_key(key: str, part: CampaignPart) -> str:
    """Return what the folder of a part belongs to, given what the whole campaign is known by."""
    return f"{key} {part}"


def folders_of_parts(folders: Iterable[Path], key: str) -> list[Checkpoint]:
    """Return the folders of all parts of a campaign, and make sure that none is missing.

    Raises:
        StudyError: A folder holds no part, one of another plan or of other data, or one that is not finished; a part is
            missing or there twice.
    """
    kept: dict[int, Checkpoint] = {}
    known: int | None = None
    for folder in folders:
        written, _, which = (Checkpoint.key_in(folder) or "").partition(" ")
        if not which:
            raise StudyError(
                '"{folder}" holds no part of a campaign; name the folder of a part', folder=folder
            )
        if written != key:
            raise StudyError(
                '"{folder}" belongs to another plan, other data or another version; carry out the part again',
                folder=folder,
            )
        part = CampaignPart.of_text(which)
        if known not in (None, part.of):
            raise StudyError(
                '"{folder}" is part {part}, and another one is of {of}; merge parts of one division',
                folder=folder,
                part=str(part),
                of=str(known),
            )
        if part.number in kept:
            raise StudyError(
                'part {part} is there twice, in "{folder}" and before; name each part once',
                part=str(part),
                folder=folder,
            )
        checkpoint = Checkpoint(folder, key=part_key(key, part))
        if not checkpoint.finished(FINISHED):
            raise StudyError(
                '"{folder}": part {part} is not finished; go on with it first, with `resume`',
                folder=folder,
                part=str(part),
            )
        known, kept[part.number] = part.of, checkpoint
    missing = [number for number in range(1, (known or 1) + 1) if number not in kept]
    if missing:
        raise StudyError(
            "part {part} is missing; name the folders of all parts", part=f"{missing[0]}/{known}"
        )
    return [kept[number] for number in sorted(kept)]
