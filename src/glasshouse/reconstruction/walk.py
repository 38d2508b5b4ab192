"""Valid allocations where they are many: a walk from one to the next that goes where something is still unseen.

Two bins that together hold some thirty packages can exchange them in a billion ways; a few of these meet the totals of
both again, and meeting in the middle finds them in a millisecond. To show that a package can be in a bin, it is put
there, the bin gives up others, and two large bins make good for what that changed. Nothing is ever proved impossible
here; every allocation is checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from glasshouse.arrays import Floats, Integers, Words
from glasshouse.compiled import compiled
from glasshouse.reconstruction.propagation import Domains
from glasshouse.reconstruction.subsets import TOO_LONG_HALF, meet
from glasshouse.reconstruction.system import Budget, ListEffort, Meter, Witnesses

_CALL = 12_000
"""What a call costs before it looks at anything, in units of work."""
_LONGEST_HALF = 1 << 19
_LONGEST_OF_ALL = 1 << 15
"""Up to this length of the halves, all packages at once are looked at."""
_SOLUTIONS = 64
"""So many solutions of one exchange are looked at."""
_MOST_WORK = 1 << 22
"""So many pairs of sums are looked at for them."""
_EXTRA = (2, 4, 6, 8)
"""By how many bits the choices outnumber what the windows tell apart: more with each attempt that finds nothing."""
_FEWEST, _MOST_FREE = 16, 38
"""How many packages may move at once."""
_STEPS = 24
"""So many packages are exchanged at most before others may move."""
_ENOUGH = 30
"""Two bins with fewer packages always get a third to help."""
_ROUGH = 2
"""What it costs to look at one row of a bin for a package, in units of work."""
_STARTS = 600
"""So many times a first allocation is looked for, if the work allows; most attempts fail early."""


def walk(
    known: Domains,
    witnesses: Witnesses,
    budget: Budget,
    meter: Meter,
    *,
    seed: int,
    trials: int = 40,
) -> None:
    """Look for valid allocations until every pair that is not ruled out is seen, or the work is done.

    Args:
        known: The part.
        witnesses: What was seen of it; more is added.
        budget: What is left of the time.
        meter: The work that it may do.
        seed: What its choices depend on.
        trials: After so many attempts in vain a pair is left to others.

    Raises:
        OutOfTime: The time is over; what was found until then is kept.
    """
    _Walker(known, witnesses, budget, meter, np.random.default_rng(seed)).run(trials)


def aim(
    known: Domains,
    witnesses: Witnesses,
    kind: int,
    bin_: int,
    budget: Budget,
    meter: Meter,
    *,
    seed: int,
    trials: int,
) -> None:
    """Look for a valid allocation with a package of a kind in a bin.

    Raises:
        OutOfTime: The time is over; what was found until then is kept.
    """
    walker = _Walker(known, witnesses, budget, meter, np.random.default_rng(seed))
    for trial in range(trials):
        if meter.empty or witnesses.seen[kind, bin_]:
            return
        number = walker.random.integers(len(witnesses.allocations))
        current = witnesses.allocations[number].astype(np.int64)
        with suppress(_Stuck):
            walker.moved(current, kind, bin_, _EXTRA[trial % len(_EXTRA)])


def allocations_expected(known: Domains) -> float:
    """Return log₁₀ of about how many allocations there are, if sums were drawn at random: below 0, hardly any.

    Every package has its choices; a bin is met by about v / 2.5 σ of them for a window of width v and sums that vary by
    σ. The last bin takes what the others leave.
    """
    system = known.system
    spread = np.minimum(known.most, system.copies[:, None]).T.astype(float) @ (
        system.weights.astype(float) ** 2
    )
    width = np.maximum(1.0, system.high - system.low + 1.0)
    # A bin does not vary by more than it holds, however much could be put into it.
    sigma = np.minimum(np.sqrt(spread) / 2, np.maximum(np.abs(system.high), 1.0))
    met = np.log10(np.maximum(1.0, 2.5 * sigma / width)).sum(axis=1)
    choices = np.log10(np.maximum(1, (known.most > 0).sum(axis=1))) * system.copies
    return float(choices.sum() - met.sum() + met.max(initial=0.0))


class _Stuck(Exception):  # noqa: N818 - never leaves the module
    """An attempt found nothing."""


@dataclass(eq=False)
class _Walker:
    known: Domains
    witnesses: Witnesses
    budget: Budget
    meter: Meter
    random: np.random.Generator

    def __post_init__(self) -> None:
        weights = np.abs(self.known.system.weights).astype(float)
        self._large: set[int] = set()
        self._sizes = (weights / np.maximum(1.0, weights.sum(axis=0))).sum(axis=1)

    def run(self, trials: int) -> None:
        if not self.witnesses.allocations:
            self._start()
        if not self.witnesses.allocations:
            return
        current = self.witnesses.allocations[-1].astype(np.int64)
        vain = np.zeros(self.known.most.shape, np.int64)
        while True:
            unseen = (self.known.most > 0) & ~self.witnesses.seen & (vain < trials)
            if not unseen.any() or self.meter.empty:
                return
            fewest = vain[unseen].min()
            pairs = np.argwhere(unseen & (vain == fewest))
            kind, bin_ = pairs[self.random.integers(len(pairs))].tolist()
            vain[kind, bin_] += 1
            extra = _EXTRA[min(int(vain[kind, bin_]) // 8, len(_EXTRA) - 1)]
            with suppress(_Stuck):
                current = self.moved(current, kind, bin_, extra)

    def _start(self) -> None:
        """Fill all bins one after the other, the two largest together."""
        bins = range(self.known.system.bins)
        enough = self.meter.left // 2
        for attempt in range(_STARTS):
            if self.meter.left < enough:
                return
            rough = self._rough()
            with suppress(_Stuck):
                self._filled(rough, np.zeros_like(rough), bins, _EXTRA[attempt % len(_EXTRA)])
                return

    def _rough(self) -> Integers:
        """Put each package, the largest first, where most is missing; the totals are met roughly."""
        system, most = self.known.system, self.known.most
        noise = 0.5 + self.random.random(system.kinds)
        order = np.argsort(-self._sizes * noise, kind="stable")
        self.meter.spend(_ROUGH * int(system.copies.sum()) * system.low.size)
        return _roughly(order, system.copies, system.weights, system.low, system.high, most)

    def moved(self, current: Integers, kind: int, bin_: int, extra: int) -> Integers:
        """Put a package of a kind into a bin, from where it is, and make good for it."""
        homes = np.flatnonzero(current[kind] * (np.arange(current.shape[1]) != bin_))
        home = int(self.random.choice(homes))
        bins = [bin_, home]
        held = current.sum(axis=0)
        if held[bins].sum() < _ENOUGH or self.random.random() < 0.5:
            # Large bins have most to exchange; the others get their turn.
            rank = held * np.exp(0.5 * self.random.standard_normal(len(held)))
            helpers = [b for b in np.argsort(-rank, kind="stable").tolist() if b not in bins]
            bins += helpers[: int(self.random.choice([1, 2, 3], p=[0.6, 0.3, 0.1]))]
        allocation, fixed = current.copy(), np.zeros_like(current)
        allocation[kind, home] -= 1
        allocation[kind, bin_] += 1
        fixed[kind, bin_] = 1
        return self._filled(allocation, fixed, bins, extra)

    def _filled(
        self, allocation: Integers, fixed: Integers, bins: Iterable[int], extra: int
    ) -> Integers:
        """Fill some bins anew from what they hold together; all others keep what they have.

        Args:
            allocation: The allocation to begin with, which is changed; these bins need not meet their totals.
            fixed: Per kind and bin, how many packages stay where they are.
            bins: The bins.
            extra: By how many bits the choices shall outnumber what the windows tell apart.
        """
        order = self._order(bins, fixed)
        while len(order) > 2:
            bin_ = order.pop(0)
            self._one(allocation, fixed, bin_, order, extra)
        return self._two(allocation, fixed, order[0], order[1], extra)

    def _order(self, bins: Iterable[int], fixed: Integers) -> list[int]:
        """Order bins: those with something fixed or with few subsets first, the largest last."""
        known = self.known
        goal = known.system.high.sum(axis=1)

        def rank(bin_: int) -> tuple[int, int, int]:
            codes = known.lists[bin_]
            length = len(codes) if codes is not None else 1 << 62
            return (not fixed[:, bin_].any(), length, int(goal[bin_]))

        return sorted(bins, key=rank)

    def _one(
        self, allocation: Integers, fixed: Integers, bin_: int, helpers: list[int], extra: int
    ) -> None:
        """Let one bin meet its windows; what it takes comes from the others, what it gives goes to them."""
        system, most = self.known.system, self.known.most
        pool = allocation[:, [bin_, *helpers]].sum(axis=1)
        reserved = fixed[:, helpers].sum(axis=1)
        available = np.minimum(pool - reserved, most[:, bin_])
        codes = self.known.lists[bin_]
        if codes is not None:
            chosen = self._from_list(codes, fixed[:, bin_], available)
        else:
            low, high = system.low[bin_], system.high[bin_]
            stay, free = fixed[:, bin_], available - fixed[:, bin_]
            choices = None
            if bin_ not in self._large:
                base = stay @ system.weights
                choices = self._some(free, low - base, high - base, _LONGEST_OF_ALL)
            if choices is None:
                self._large.add(bin_)
                free = self._free(free, np.maximum(allocation[:, bin_] - stay, 0), bin_, extra)
                now = np.minimum(allocation[:, bin_], available - free)
                stay = self._centred(np.maximum(now, stay), stay, available - free, free, low, high)
                base = stay @ system.weights
                choices = self._some(free, low - base, high - base)
            if choices is None:
                raise _Stuck
            choices = stay + choices
            # What this bin has above its total the others will lack: they must be able to make good for it.
            rest = (pool - choices) @ system.weights
            fitting = (rest >= system.low[helpers].sum(axis=0)) & (
                rest <= system.high[helpers].sum(axis=0)
            )
            choices = choices[fitting.all(axis=1)]
            if not len(choices):
                raise _Stuck
            chosen = choices[self.random.integers(len(choices))]
        self._give(allocation, bin_, helpers, chosen)

    def _give(self, allocation: Integers, bin_: int, helpers: list[int], chosen: Integers) -> None:
        """Let a bin hold what was chosen; the difference is taken from or given to the other bins."""
        most = self.known.most
        change = chosen - allocation[:, bin_]
        allocation[:, bin_] = chosen
        for kind in np.flatnonzero(change).tolist():
            for _ in range(abs(int(change[kind]))):
                if change[kind] > 0:
                    places = [b for b in helpers if allocation[kind, b] > 0]
                    step = -1
                else:
                    places = [b for b in helpers if allocation[kind, b] < most[kind, b]]
                    step = 1
                if not places:
                    raise _Stuck
                allocation[kind, places[self.random.integers(len(places))]] += step

    def _from_list(self, codes: Words, least: Integers, most: Integers) -> Integers:
        """Choose a subset from a list, at random among those that are available."""
        if len(codes) > 4096:
            codes = codes[self.random.integers(len(codes), size=4096)]
        counts = self.known.layout.counts(codes)
        self.meter.spend(_CALL + counts.size)
        fitting = counts[((counts >= least) & (counts <= most)).all(axis=1)]
        if not len(fitting):
            raise _Stuck
        return np.asarray(fitting[self.random.integers(len(fitting))])

    def _two(
        self, allocation: Integers, fixed: Integers, first: int, second: int, extra: int
    ) -> Integers:
        """Divide what two bins hold together between them so that both meet their windows."""
        system, most = self.known.system, self.known.most
        pool = allocation[:, first] + allocation[:, second]
        least = np.maximum(fixed[:, first], pool - most[:, second])
        greatest = np.minimum(most[:, first], pool - fixed[:, second])
        if (least > greatest).any():
            raise _Stuck
        inside = np.maximum(allocation[:, first] - least, 0)
        free = self._free(greatest - least, inside, first, extra)
        whole = pool @ system.weights
        low = np.maximum(system.low[first], whole - system.high[second])
        high = np.minimum(system.high[first], whole - system.low[second])
        stay = np.clip(allocation[:, first], least, greatest - free)
        stay = self._centred(stay, least, greatest - free, free, low, high)
        base = stay @ system.weights
        choices = self._some(free, low - base, high - base)
        if choices is None:
            raise _Stuck
        best = None
        for taken in choices:
            allocation[:, first] = stay + taken
            allocation[:, second] = pool - allocation[:, first]
            if self.witnesses.add(allocation):
                best = allocation.copy()
        return allocation if best is None else best

    def _free(self, available: Integers, inside: Integers, bin_: int, extra: int) -> Integers:
        """Choose at random which packages may move: so many that some choice is likely to meet the windows of a bin.

        The sum of a random half of them varies by σ = ½ √(Σ w²); a window of width v is met by v / 2.5 σ of the
        choices. Small packages are preferred every other time: of them fewer will do. Those that are inside and those
        that are not take turns, so that about half of them fills what is missing.
        """
        kinds = np.repeat(np.arange(len(available)), available)
        if len(kinds) <= _FEWEST:
            return available
        system = self.known.system
        order = self.random.permutation(len(kinds))
        if self.random.random() < 0.5:
            noise = np.exp(0.7 * self.random.standard_normal(len(kinds)))
            order = np.argsort(self._sizes[kinds] * noise, kind="stable")
        kinds = kinds[order]
        within = self._ordinals(kinds) < inside[kinds]
        turn = np.where(within, np.cumsum(within), np.cumsum(~within))
        kinds = kinds[np.argsort(turn, kind="stable")]
        squares = np.cumsum(system.weights[kinds].astype(float) ** 2, axis=0)
        width = np.maximum(1.0, system.high[bin_] - system.low[bin_] + 1.0)
        bits = np.log2(np.maximum(1.0, 1.25 * np.sqrt(squares) / width)).sum(axis=1) + extra
        enough = np.flatnonzero(np.arange(1, len(kinds) + 1) >= bits)
        size = int(enough[0]) + 1 if len(enough) else len(kinds)
        size = min(max(size, _FEWEST), _MOST_FREE)
        return np.bincount(kinds[:size], minlength=len(available))

    def _ordinals(self, kinds: Integers) -> Integers:
        """Return which package of its kind each of some packages is, from 0 on, in their order."""
        order = np.argsort(kinds, kind="stable")
        first = np.searchsorted(kinds[order], kinds[order])
        ordinals = np.empty(len(kinds), np.int64)
        ordinals[order] = np.arange(len(kinds)) - first
        return ordinals

    def _centred(
        self,
        stay: Integers,
        least: Integers,
        most: Integers,
        free: Integers,
        low: Integers,
        high: Integers,
    ) -> Integers:
        """Add or take away packages that do not move, one by one, until half of those that do would fill the bin.

        What is missing counts by how far the sums of those that move vary in its direction: where dear packages are
        heavy, choices that are dear and light are rare.
        """
        weights = self.known.system.weights.astype(float)
        half = free @ weights / 2
        spread = np.sqrt(free @ weights**2) / 2 + 1.0
        scaled = weights / spread
        together = (scaled * free[:, None]).T @ scaled / 4
        root = np.linalg.cholesky(together + 1e-3 * np.eye(len(spread)))
        gap = np.linalg.solve(root, ((low + high) / 2 - half - stay @ weights) / spread)
        gap += 0.3 * self.random.standard_normal(len(gap))
        return _exchanged(stay, least, most, gap, np.linalg.solve(root, scaled.T).T.copy())

    def _some(
        self, free: Integers, low: Integers, high: Integers, longest: int = _LONGEST_HALF
    ) -> Integers | None:
        """Return choices of the free packages whose sums lie between low and high; None: too many to look at."""
        self.budget.check()
        if (low > high).any():
            raise _Stuck
        effort = ListEffort(longest, _SOLUTIONS, _MOST_WORK)
        weights, layout = self.known.system.weights, self.known.layout
        codes, status, work, _ = meet(weights, free, layout, low, high, effort)
        self.meter.spend(_CALL + work)
        if status == TOO_LONG_HALF:
            return None
        if not len(codes):
            raise _Stuck
        return layout.counts(codes)


@compiled
def _roughly(
    order: Integers,
    copies: Integers,
    weights: Integers,
    low: Integers,
    high: Integers,
    most: Integers,
) -> Integers:
    """Put each package, in this order of kinds, where most is missing in the measure that has least room."""
    bins, rows = low.shape
    goal = np.maximum((low + high) / 2.0, 1e-9)
    missing = goal.copy()
    whole = np.maximum(1.0, np.abs(goal.sum(axis=0)))
    allocation = np.zeros(most.shape, np.int64)
    for kind in order:
        for _ in range(copies[kind]):
            best, best_room = 0, -np.inf
            for bin_ in range(bins):
                if allocation[kind, bin_] >= most[kind, bin_]:
                    continue
                room = np.inf
                for row in range(rows):
                    room = min(room, missing[bin_, row] / whole[row])
                if room > best_room:
                    best, best_room = bin_, room
            allocation[kind, best] += 1
            for row in range(rows):
                missing[best, row] -= weights[kind, row]
    return allocation


@compiled
def _exchanged(
    stay: Integers, least: Integers, most: Integers, gap: Floats, steps: Floats
) -> Integers:
    """Add or take away one package after the other, each time the one that closes most of the gap."""
    kinds, rows = steps.shape
    stay, gap = stay.copy(), gap.copy()
    for _ in range(_STEPS):
        now = 0.0
        for row in range(rows):
            now += gap[row] ** 2
        if now < 1.0:
            break
        best, best_sign, best_rest = -1, 1, now
        for kind in range(kinds):
            for sign in (1, -1):
                if (sign > 0 and stay[kind] >= most[kind]) or (
                    sign < 0 and stay[kind] <= least[kind]
                ):
                    continue
                rest = 0.0
                for row in range(rows):
                    rest += (gap[row] - sign * steps[kind, row]) ** 2
                if rest < best_rest:
                    best, best_sign, best_rest = kind, sign, rest
        if best < 0:
            break
        stay[best] += best_sign
        for row in range(rows):
            gap[row] -= best_sign * steps[best, row]
    return stay
