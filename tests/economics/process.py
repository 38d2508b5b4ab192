"""The slow twin of the induction: the attack as a decision process, state by state, as published, and exact solvers.

`attack_process` writes out the factored Markov decision process of Xia et al. 2015, section 4: eight state variables,
four actions, the reward R(x, a) = R_g(x) + R_p(x) − C_a collected in the state x itself, so that the gain and the
penalty of an exploit come one step after its cost. `glasshouse.economics.policy` solves the same process without its
states, some hundred thousand times faster, and is checked against this one. A `Process` is any set of states with
choices.

Where the publication is silent or misprints:

- an exploit needs the link (X_l; printed as X_t), and a terminated attack pays and costs nothing any more (R_p does
  not say so), so that all terminated states are one;
- penalties already paid are counted up to the limit only, and not at all where there is no limit: nothing depends on
  more;
- success and detection of one exploit are independent; of equally good actions terminating comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.economics.terms import Terms, check_size, sigmoid
from glasshouse.errors import BudgetError, SolverError, StudyError

ACCESS, LINK, EXPLOIT, TERMINATE = "access", "link", "exploit", "terminate"
"""The actions of an attack."""
MOST_STATES = 200_000
"""The largest process that is written out state by state."""
_MOST_SWEEPS = 100_000
_SURE = 1e-9
"""So far the probabilities of a choice may be from 1 in sum."""


@dataclass(frozen=True)
class Choice:
    """One action in one state."""

    action: str
    """What it is called."""
    reward: float
    """What it brings, less what it costs, at once."""
    outcomes: Mapping[Hashable, float]
    """The states that it may lead to, each with its probability."""


@dataclass(frozen=True)
class Process:
    """A finite Markov decision process; a state without choices is an end, and is worth 0."""

    choices: Mapping[Hashable, tuple[Choice, ...]]
    """Per state, what can be done in it; of equally good choices the first is taken."""
    discount: float
    """What a step later is worth beside now, in (0, 1]."""

    def __post_init__(self) -> None:
        """Check that every choice leads to states of the process, with probabilities.

        Raises:
            StudyError: One does not, or the discount is not in (0, 1].
        """
        if not 0 < self.discount <= 1:
            raise StudyError(
                f"--discount is {self.discount!r}; give a number above 0, and at most 1"
            )
        for state, choices in self.choices.items():
            for choice in choices:
                _check_choice(state, choice, self.choices)
        object.__setattr__(self, "choices", MappingProxyType(dict(self.choices)))

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states, in the order in which they were given."""
        return tuple(self.choices)


@dataclass(frozen=True)
class Solution:
    """What each state of a process is worth to somebody who acts in the best way, and what that is."""

    process: Process = field(repr=False)
    """The process."""
    values: Mapping[Hashable, float] = field(repr=False)
    """Per state, the greatest expected discounted sum of rewards from there on."""
    actions: Mapping[Hashable, str | None] = field(repr=False)
    """Per state, the best action; None in an end."""

    def chance(self, start: Hashable, reached: Callable[[Hashable], bool]) -> float:
        """Return the probability that the best actions lead from a state to one of some others (equation 5).

        Raises:
            SolverError: The process can go round in circles, and does not come to an end.
        """
        at, total = {start: 1.0}, 0.0
        for _ in range(len(self.process.choices) + 1):
            total += sum(chance for state, chance in at.items() if reached(state))
            at = self._one_step(at, reached)
            if not at:
                return total
        raise SolverError(
            "the process goes round in circles under its best actions; give it an end"
        )

    def _one_step(
        self, at: Mapping[Hashable, float], reached: Callable[[Hashable], bool]
    ) -> dict[Hashable, float]:
        after: dict[Hashable, float] = {}
        for state, chance in at.items():
            action = self.actions[state]
            if action is None or reached(state):
                continue
            choice = next(c for c in self.process.choices[state] if c.action == action)
            for following, probability in choice.outcomes.items():
                if probability > 0:
                    after[following] = after.get(following, 0.0) + chance * probability
        return after


class AttackState(NamedTuple):
    """The eight state variables of the publication (table 1)."""

    terminated: bool = False
    """X_t."""
    detected: bool = False
    """X_d: whether the last exploit was detected."""
    penalised: int = 0
    """X_p: how many penalties were paid before."""
    succeeded: bool = False
    """X_s."""
    accessed: bool = False
    """X_a."""
    linked: bool = False
    """X_l."""
    group: int = 0
    """X_g: the size of the group."""
    remaining: int = 0
    """X_r: how many of the group were not exploited yet."""

    @property
    def exploited(self) -> int:
        """How many were exploited."""
        return self.group - self.remaining


BEGIN = AttackState()
"""The state before access, x_0."""
TERMINATED = AttackState(terminated=True)
"""The end of every attack."""


def accessed(size: int) -> AttackState:
    """Return the state after access, when she sees the size of the group."""
    return AttackState(accessed=True, group=size, remaining=size)


def linked(size: int) -> AttackState:
    """Return the state after the link, before the first exploit: x_start."""
    return AttackState(accessed=True, linked=True, group=size, remaining=size)


def attack_process(
    terms: Terms, sizes: Mapping[int, float], *, start: AttackState = BEGIN
) -> Process:
    """Return the decision process of an attack, state by state.

    Args:
        terms: The terms of the attack.
        sizes: What she believes of the size of the group: sizes from 0 on, with probabilities that add up to 1. One
            size of probability 1: she knows it.
        start: Where it begins; by default before access. `linked` gives one "sink cluster" of the publication.

    Raises:
        StudyError: The sizes are no distribution.
        BudgetError: There are more than `MOST_STATES` states.

    >>> process = attack_process(Terms(), {2: 1.0})
    >>> len(process.states), [choice.action for choice in process.choices[linked(2)]]
    (12, ['terminate', 'exploit'])
    >>> round(by_linear_programme(process).values[linked(2)], 6)
    4146.810583
    """
    for size in sizes:
        if size != 0:
            check_size(size)
    dynamics = _Dynamics(terms, dict(sizes))
    choices: dict[Hashable, tuple[Choice, ...]] = {}
    open_states = [start]
    while open_states:
        state = open_states.pop()
        if state in choices:
            continue
        choices[state] = tuple(dynamics.choices(state))
        if len(choices) > MOST_STATES:
            raise BudgetError(
                f"the process has more than {MOST_STATES} states; ask glasshouse.economics.policy, which needs none"
            )
        open_states += [after for each in choices[state] for after in _attack_states(each)]
    return Process(choices, terms.discount)


def by_linear_programme(process: Process) -> Solution:
    """Solve a process as a linear programme: the least values that no choice exceeds (Puterman 1994, section 6.9).

    HiGHS takes coefficients below 1e-9 for zero, probabilities among them.

    minimise Σ_x V(x)  subject to  V(x) ≥ R(x, a) + γ·Σ_x' P(x' | x, a)·V(x')  for all x and a.

    Raises:
        SolverError: It has no finite solution, or the solver gave up.
    """
    from scipy import optimize, sparse  # take long to import, and few need them

    form = _Form.of(process)
    rows = len(form.reward)
    own = sparse.csr_array(
        (np.ones(rows), (np.arange(rows), form.state)), shape=(rows, form.states)
    )
    bounds = [(None, None) if form.is_open[x] else (0.0, 0.0) for x in range(form.states)]
    if rows == 0:
        return form.solution(np.zeros(form.states))
    found = optimize.linprog(
        np.ones(form.states),
        A_ub=process.discount * form.transitions() - own,
        b_ub=-form.reward,
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        raise SolverError(f"the process has no finite solution that HiGHS finds: {found.message}")
    return form.solution(np.asarray(found.x))


def by_value_iteration(process: Process, *, tolerance: float = 1e-12) -> Solution:
    """Solve a process by repeated improvement of all values, until they are within a tolerance of the exact ones.

    Values of a process that cannot go round in circles are exact, but for rounding, after as many sweeps as it has
    steps. With a discount below 1 the distance of others is at most γ/(1 − γ) times the last change.

    Args:
        process: The process.
        tolerance: How far the values may be off, beside the greatest of them.

    Raises:
        SolverError: The values do not settle.
    """
    form = _Form.of(process)
    values = np.zeros(form.states)
    transitions = form.transitions()
    discount = process.discount
    reach = discount / (1 - discount) if discount < 1 else math.inf
    for _ in range(_MOST_SWEEPS):
        better = form.best(form.reward + discount * (transitions @ values))
        change = float(np.max(np.abs(better - values), initial=0.0))
        values = better
        allowed = tolerance * max(1.0, float(np.max(np.abs(values), initial=0.0)))
        if change == 0 or reach * change <= allowed:
            return form.solution(values)
    raise SolverError(f"the values of the process did not settle in {_MOST_SWEEPS} sweeps")


@dataclass(frozen=True)
class _Dynamics:
    """What can be done in each state of an attack, and what comes of it (sections 4.2 to 4.4)."""

    terms: Terms
    sizes: dict[int, float]

    def choices(self, state: AttackState) -> Iterator[Choice]:
        if state.terminated:
            return
        yield Choice(TERMINATE, self._reward(state), {TERMINATED: 1.0})
        if state.succeeded or (state.linked and state.remaining == 0):
            return
        if not state.accessed:
            cost = self.terms.access_cost
            outcomes: dict[Hashable, float] = {
                accessed(size): chance for size, chance in self.sizes.items()
            }
            yield Choice(ACCESS, self._reward(state) - cost, outcomes)
        elif not state.linked:
            cost = self.terms.link_cost
            yield Choice(LINK, self._reward(state) - cost, {state._replace(linked=True): 1.0})
        else:
            cost = self.terms.exploit_cost
            yield Choice(EXPLOIT, self._reward(state) - cost, self._exploits(state))

    def _reward(self, state: AttackState) -> float:
        gain = self.terms.gain if state.succeeded else 0.0
        return gain - self.terms.penalty if self._is_penalised(state) else gain

    def _is_penalised(self, state: AttackState) -> bool:
        limit = self.terms.penalties
        return state.detected and (limit is None or state.penalised < limit)

    def _exploits(self, state: AttackState) -> dict[Hashable, float]:
        h0, h1 = self.terms.detection
        detection = sigmoid(h0 + h1 * state.exploited)
        success = self._success(state)
        paid = state.penalised
        if self.terms.penalties is not None:
            paid += self._is_penalised(state)
        outcomes: dict[Hashable, float] = {}
        for succeeded, detected in product((False, True), repeat=2):
            chance = (success if succeeded else 1 - success) * (
                detection if detected else 1 - detection
            )
            after = state._replace(
                succeeded=succeeded,
                detected=detected,
                penalised=paid,
                remaining=state.remaining - 1,
            )
            if chance > 0:
                outcomes[after] = chance
        return outcomes

    def _success(self, state: AttackState) -> float:
        """Return the probability of equation (3)."""
        prior = self.terms.prior
        if prior == 0:
            return 0.0
        return min(1.0, 1 / ((1 - prior) / prior * state.group + state.remaining))


@dataclass(frozen=True)
class _Form:
    """A process as numbers: one row per choice, the choices of a state together."""

    process: Process
    states: int
    state: Integers
    """Per row, the number of the state."""
    reward: Floats
    """Per row, the reward."""
    cells: tuple[Integers, Integers, Floats]
    """The transitions: row, state, probability."""

    @classmethod
    def of(cls, process: Process) -> _Form:
        number = {state: position for position, state in enumerate(process.choices)}
        state: list[int] = []
        reward: list[float] = []
        rows: list[int] = []
        columns: list[int] = []
        chances: list[float] = []
        for own, choices in process.choices.items():
            for choice in choices:
                rows += [len(reward)] * len(choice.outcomes)
                columns += [number[after] for after in choice.outcomes]
                chances += list(choice.outcomes.values())
                state.append(number[own])
                reward.append(choice.reward)
        cells = (np.array(rows, np.int64), np.array(columns, np.int64), np.array(chances, float))
        return cls(process, len(number), np.array(state, np.int64), np.array(reward, float), cells)

    @property
    def is_open(self) -> Flags:
        """Per state, whether anything can be done in it."""
        marks = np.zeros(self.states, np.bool_)
        marks[self.state] = True
        return marks

    def transitions(self) -> Any:
        from scipy import sparse

        rows, columns, chances = self.cells
        return sparse.csr_array((chances, (rows, columns)), shape=(len(self.reward), self.states))

    def best(self, worth: Floats) -> Floats:
        """Return, per state, the greatest of what its choices are worth; 0 in an end."""
        values = np.where(self.is_open, -np.inf, 0.0)
        np.maximum.at(values, self.state, worth)
        return values

    def solution(self, values: Floats) -> Solution:
        """Return the solution with these values: of choices that are equally good but for rounding the first."""
        worth = self.reward + self.process.discount * (self.transitions() @ values)
        best = self.best(worth)
        slack = 1e-9 * max(1.0, float(np.max(np.abs(best), initial=0.0)))
        good = worth >= best[self.state] - slack
        actions: dict[Hashable, str | None] = dict.fromkeys(self.process.choices)
        flat = [
            (own, choice.action)
            for own, choices in self.process.choices.items()
            for choice in choices
        ]
        for row in np.flatnonzero(good)[::-1].tolist():
            own, action = flat[row]
            actions[own] = action
        found = dict(zip(self.process.choices, values.tolist(), strict=True))
        return Solution(self.process, MappingProxyType(found), MappingProxyType(actions))


def _attack_states(choice: Choice) -> Iterator[AttackState]:
    for state in choice.outcomes:
        assert isinstance(state, AttackState)
        yield state


def _check_choice(state: Hashable, choice: Choice, known: Mapping[Hashable, object]) -> None:
    where = f"the choice {choice.action!r} in state {state!r}"
    if not math.isfinite(choice.reward):
        raise StudyError(f"{where} has the reward {choice.reward!r}; give a finite number")
    for after, chance in choice.outcomes.items():
        if after not in known:
            raise StudyError(f"{where} leads to {after!r}, which is no state of the process")
        if not 0 <= chance <= 1:
            raise StudyError(f"{where} leads to {after!r} with probability {chance!r}")
    total = math.fsum(choice.outcomes.values())
    if abs(total - 1) > _SURE:
        raise StudyError(f"{where} has probabilities that add up to {total!r}; they must to 1")
