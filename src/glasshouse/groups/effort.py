"""How long to sample, and for what precision."""

from __future__ import annotations

from dataclasses import dataclass

from glasshouse.errors import StudyError
from glasshouse.language import text

EVERY = 5
"""A draw is recorded after so many sweeps, unless another number is given."""


def least_effort(every: int = EVERY) -> dict[str, int]:
    """Return the least that each whole number of an effort may be: two halves of four batches of one draw, and so on.

    >>> least_effort()["sweeps"], least_effort()["chains"]
    (40, 2)
    """
    least = {"sweeps": 8 * every, "chains": 2, "burn_in": 0, "every": 1, "memory": 1}
    return least | {"seed": 0, "threads": 1}


@dataclass(frozen=True)
class Effort:
    """How long to sample, and for what precision.

    Raises:
        StudyError: A number makes no sense.
    """

    precision: float = 0.002
    """The Monte-Carlo error that every aggregate shall have at most, as a share (of records, or of 2 N for ABS)."""
    cell_precision: float | None = None
    """The Monte-Carlo error that every single belief of learner and attacker shall have at most; None: not asked."""
    rhat: float = 1.01
    """What R-hat of every aggregate shall be at most."""
    sweeps: int = 20_000
    """How many sweeps each chain makes at most, after the burn-in."""
    seconds: float | None = None
    """After so many seconds no further step is begun; None: no limit."""
    chains: int = 4
    """How many chains run."""
    burn_in: int = 400
    """How many sweeps each chain makes before anything is recorded."""
    every: int = EVERY
    """A draw is recorded after so many sweeps."""
    threads: int | None = None
    """How many chains run at a time; None: as many as there are processors. Results do not depend on it."""
    memory: int = 4 << 30
    """How many bytes the means may take."""
    seed: int = 0
    """What all random numbers follow from."""

    def __post_init__(self) -> None:
        for name, low in least_effort(self.every).items():
            own = getattr(self, name)
            if own is not None and own < low:
                raise StudyError(
                    text(
                        "{name} is {given}; sampling needs at least {low}",
                        name=name,
                        given=str(own),
                        low=str(low),
                    )
                )
        for name in ("precision", "cell_precision", "seconds"):
            own = getattr(self, name)
            if own is not None and not own > 0:
                raise StudyError(
                    text("{name} is {given}; give a number above 0", name=name, given=str(own))
                )
        if not self.rhat > 1:
            raise StudyError(
                text("rhat is {given}; give a limit above 1, such as 1.01", given=str(self.rhat))
            )
