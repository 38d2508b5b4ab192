"""Attempts at instances, in this process or in another: what goes into one, and what comes of it.

An attempt gets arrays and returns arrays, whatever the platform's way to start a process. Instances are independent,
and the solver is the same for every run that meets no limit: the number of processes changes nothing but the time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import GlasshouseError
from glasshouse.totals.exposure import Register, exposure
from glasshouse.totals.instance import NONE, Instance, Solution
from glasshouse.totals.solver import solve

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

PAIRS_PER_SECOND = 2_000_000
"""The solver looks at so many pairs of a package and a bin before it looks at the clock for the first time."""
BYTES_PER_PAIR = 72
"""What a pair takes in it, at least."""


@dataclass(frozen=True, eq=False)
class Task:
    """An instance as arrays."""

    part: int
    """Which part of the phase it is."""
    packages: Integers
    """Per package and measure, its scaled value."""
    low: Integers
    """Per bin and measure, the least total; the bin of records left out, if there is one, comes last."""
    high: Integers
    """Per bin and measure, the greatest total."""
    halfwidth: Integers
    """Per measure, by how much windows widen with every package."""
    left_out: bool
    """Whether the last bin is that of records left out."""
    allowed: Flags | None
    """Per package and bin, whether earlier phases left it open; None: all of them."""
    entities: Integers | None
    """Per bin, how many entities are registered there, without that of records left out; None: not known for all."""


@dataclass(frozen=True)
class Terms:
    """What holds for all attempts."""

    memory: int
    """The bytes that the lists of one may take."""
    register: int | None
    """The number of entities in the register; None: there is none."""
    share_left_out: float
    """How many records the adversary believes were left out."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """What came of one."""

    part: int
    """Which part of the phase it was."""
    status: str
    """One of the solver's, or "failed" where something went wrong."""
    method: str
    """What decided it; or why it failed."""
    limit: float
    """The CPU seconds that it was given."""
    seconds: float
    """Those that it took."""
    allocations: int | None
    """The number of valid allocations; None: not counted."""
    feasible: Flags | None
    """Per package and bin, whether some valid allocation has it there; None: there is none."""
    shares: Floats | None
    """Per feasible pair, row by row, its posterior, or the share of the allocations where no register is; None: not
    counted."""
    joined: Floats | None
    """Per package, the chance to name its entity from what was open before; None: no register."""
    uniform: Floats | None
    """Per package, the same from the feasible bins."""
    bayes: Floats | None
    """Per package, the same from the posterior; None: not counted."""


def attempt(task: Task, terms: Terms, limit: float) -> Attempt:
    """Try one instance for so many CPU seconds; whatever goes wrong with it, it is an attempt that failed."""
    began = time.thread_time()
    try:
        return _attempt(task, terms, limit, began)
    except Exception as error:
        reason = said_of(error).removeprefix(f"{_name(task)}: ")
        return failed(task, reason, limit, time.thread_time() - began)


def _attempt(task: Task, terms: Terms, limit: float, began: float) -> Attempt:
    open_, rest = _without_settled(task)
    answer = _answer(rest, terms, limit)
    feasible, shares, bayes = _with_settled(task, terms, open_, answer)
    joined, uniform = _uniform(task, terms, feasible)
    return Attempt(
        part=task.part,
        status=_status(answer.status, feasible),
        method=answer.method,
        limit=limit,
        seconds=time.thread_time() - began,
        allocations=answer.allocations,
        feasible=feasible,
        shares=None if shares is None or feasible is None else shares[feasible],
        joined=joined,
        uniform=uniform,
        bayes=bayes,
    )


def attempt_all(tasks: Sequence[Task], terms: Terms, limit: float) -> list[Attempt]:
    """Try some instances one after the other."""
    return [attempt(task, terms, limit) for task in tasks]


def failed(task: Task, reason: str, limit: float, seconds: float = 0.0) -> Attempt:
    """Return the attempt at an instance that came to nothing."""
    return Attempt(
        part=task.part,
        status="failed",
        method=reason,
        limit=limit,
        seconds=seconds,
        allocations=None,
        feasible=None,
        shares=None,
        joined=None,
        uniform=None,
        bayes=None,
    )


def said_of(error: Exception) -> str:
    """Return what an error says, with its kind where it was not meant for users."""
    kind = "" if isinstance(error, GlasshouseError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split()).removesuffix(":")


@dataclass(frozen=True, eq=False)
class _Answer:
    """What the solver says about the packages that are not settled."""

    status: str
    method: str
    allocations: int | None
    feasible: Flags | None
    shares: Floats | None
    bayes: Floats | None


def _without_settled(task: Task) -> tuple[Flags, Task]:
    """Return which packages are open, and the instance with those only: the others have one bin left, and are in it.

    Windows that widen with every package are left alone: what a settled package adds to them depends on the others.
    """
    open_ = np.ones(len(task.packages), bool)
    if task.allowed is None or task.halfwidth.any():
        return open_, task
    open_ = task.allowed.sum(axis=1) != 1
    base = np.zeros_like(task.low)
    np.add.at(base, task.allowed[~open_].argmax(axis=1), task.packages[~open_])
    allowed = task.allowed[open_]
    rest = replace(
        task,
        packages=task.packages[open_],
        low=task.low - base,
        high=task.high - base,
        allowed=None if allowed.all() else allowed,
    )
    return open_, rest


def _answer(task: Task, terms: Terms, limit: float) -> _Answer:
    pairs = len(task.packages) * len(task.low)
    if not pairs:
        return _settled_answer(task)
    if pairs > PAIRS_PER_SECOND * limit or pairs * BYTES_PER_PAIR > terms.memory:
        return _answer_by_bounds(task)
    return _answer_by_solver(task, terms, limit)


def _answer_by_solver(task: Task, terms: Terms, limit: float) -> _Answer:
    given = _instance(task)
    register = _register(task, terms)
    weights = None if register is None else register.weights(given, left_out=terms.share_left_out)
    found = solve(given, seconds=limit, memory=terms.memory, weights=weights)
    feasible = _feasible(found) if found.status != "infeasible" else None
    shares = found.shares if found.weighted_shares is None else found.weighted_shares
    bayes = None
    if register is not None and found.weighted_shares is not None:
        chances = exposure(found, register, value=[0] * len(task.packages)).chances["bayes"]
        bayes = None if chances is None else np.array([float(chance) for chance in chances])
    return _Answer(
        status=found.status,
        method=found.method,
        allocations=found.allocations,
        feasible=feasible,
        shares=None if shares is None else np.array(shares, np.float64),
        bayes=bayes,
    )


def _answer_by_bounds(task: Task) -> _Answer:
    """Return the answer for an instance too large for the limits: every bin that holds as much as the package.

    A window that widens with every package is taken as wide as all of them make it.
    """
    most = task.high + task.halfwidth * len(task.packages)
    feasible = np.ones((len(task.packages), len(task.low)), bool)
    for weight, capacity in zip(task.packages.T, most.T, strict=True):
        feasible &= weight[:, None] <= capacity[None, :]
    if task.allowed is not None:
        feasible &= task.allowed
    return _Answer("limit", "bounds", None, feasible, None, None)


def _settled_answer(task: Task) -> _Answer:
    """Return the answer where no package is open: whether nothing more meets the windows."""
    bins = len(task.low)
    met = bool(((task.low <= 0) & (task.high >= 0)).all())
    return _Answer(
        status="unique" if met else "infeasible",
        method="propagation",
        allocations=int(met),
        feasible=np.zeros((0, bins), bool) if met else None,
        shares=np.zeros((0, bins)) if met else None,
        bayes=np.zeros(0) if met and task.entities is not None else None,
    )


def _with_settled(
    task: Task, terms: Terms, open_: Flags, answer: _Answer
) -> tuple[Flags | None, Floats | None, Floats | None]:
    """Return the answer for all packages: feasible bins, shares and chances."""
    if answer.feasible is None or open_.all() or task.allowed is None:
        return answer.feasible, answer.shares, answer.bayes
    feasible = task.allowed.copy()
    feasible[open_] = answer.feasible
    shares = bayes = None
    if answer.shares is not None:
        shares = feasible.astype(np.float64)
        shares[open_] = answer.shares
    if answer.bayes is not None and task.entities is not None and terms.register is not None:
        sizes = np.append(task.entities, terms.register)
        bayes = 1 / sizes[feasible.argmax(axis=1)].astype(np.float64)
        bayes[open_] = answer.bayes
    return feasible, shares, bayes


def _status(status: str, feasible: Flags | None) -> str:
    """Return the status for all packages."""
    if status not in ("unique", "ambiguous") or feasible is None:
        return status
    return "unique" if (feasible.sum(axis=1) == 1).all() else "ambiguous"


def _instance(task: Task) -> Instance:
    """Return the instance; bins that are ruled out beforehand are so by further measures.

    Packages with the same bins open are marked by a measure of their own, 1 for each of them; a bin that is not open
    for them holds none.
    """
    packages, low, high, halfwidth = task.packages, task.low, task.high, task.halfwidth
    if task.allowed is not None:
        rows, kind = np.unique(task.allowed, axis=0, return_inverse=True)
        restricted = np.flatnonzero(~rows.all(axis=1))
        marks = (kind.reshape(-1)[:, None] == restricted[None, :]).astype(np.int64)
        most = np.where(rows[restricted].T, len(packages), 0)
        packages = np.concatenate([packages, marks], axis=1)
        low = np.concatenate([low, np.zeros_like(most)], axis=1)
        high = np.concatenate([high, most], axis=1)
        halfwidth = np.append(halfwidth, np.zeros(len(restricted), np.int64))
    bins = len(low) - task.left_out
    return Instance(
        packages=packages,
        low=low,
        high=high,
        halfwidth=halfwidth,
        measures=tuple(map(str, range(packages.shape[1]))),
        scale=(1,) * packages.shape[1],
        package_names=tuple(map(str, range(len(packages)))),
        bin_names=(*map(str, range(bins)), *((NONE,) if task.left_out else ())),
        name=_name(task),
    )


def _name(task: Task) -> str:
    return f"part {task.part}"


def _register(task: Task, terms: Terms) -> Register | None:
    if terms.register is None or task.entities is None:
        return None
    sizes = {str(place): count for place, count in enumerate(task.entities.tolist())}
    return Register(sizes, terms.register)


def _feasible(found: Solution) -> Flags:
    table = np.zeros(found.instance.size[:2], bool)
    counts = [len(bins) for bins in found.feasible_bins]
    columns = np.fromiter((b for bins in found.feasible_bins for b in bins), np.int64, sum(counts))
    table[np.repeat(np.arange(len(table)), counts), columns] = True
    return table


def _uniform(
    task: Task, terms: Terms, feasible: Flags | None
) -> tuple[Floats | None, Floats | None]:
    """Return the chances under the uniform rule, before and after; see `glasshouse.totals.exposure`."""
    if terms.register is None or task.entities is None:
        return None, None
    sizes = task.entities.astype(np.float64)
    if task.left_out:
        sizes = np.append(sizes, np.inf)
    before = np.ones((len(task.packages), len(task.low)), bool)
    before = before if task.allowed is None else task.allowed
    after = before if feasible is None else feasible
    chances = [
        1 / np.minimum((np.where(table, sizes, 0.0)).sum(axis=1), terms.register)
        for table in (before, after)
    ]
    return chances[0], chances[1]
