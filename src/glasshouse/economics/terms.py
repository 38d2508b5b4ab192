"""The terms on which an adversary attacks: what she may gain, what it costs, how she is detected and punished.

The names are those of the options of ``glasshouse deter``, the defaults those of the case study of Xia, Heatherly,
Kantarcioglu, Vorobeychik, Wan and Malin 2015, "Process-Driven Data Privacy" (CIKM), section 7.2.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from glasshouse.arrays import Floats
from glasshouse.errors import StudyError
from glasshouse.language import text, unknown_name

REGISTER, POPULATION = 6_018_999, 9_553_967
"""The voters of North Carolina and its inhabitants: the publication's register and population."""
UNLIMITED = -1
"""The number of penalties without a limit, in compiled code."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Gain, costs, detection and penalties, as the adversary reckons with them."""

    prior: float = REGISTER / POPULATION
    """The probability that the target is in the register."""
    gain: float = 8_000.0
    """What a successful re-identification is worth to her, G."""
    penalty: float = 10_000.0
    """What she pays when an exploit is detected, C_p."""
    access_cost: float = 100.0
    """What access to the register costs, C_d: its price, and the effort."""
    link_cost: float = 0.0
    """What linking the record to the register costs, C_l."""
    exploit_cost: float = 10.0
    """What it costs to try one person, C_e."""
    detection: tuple[float, float] = (-4.59, 0.0)
    """(h0, h1): the exploit after j others is detected with probability σ(h0 + h1·j), 0.01 by default."""
    penalties: int | None = None
    """How many penalties she pays at most, n_f; None: one for every detection, without limit."""
    discount: float = 0.9
    """What a step later is worth beside now, γ. The publication does not state it; 0.9 gives its thresholds."""

    def __post_init__(self) -> None:
        """Refuse terms that make no sense.

        Raises:
            StudyError: A probability is outside [0, 1], a sum is negative, the discount is not in (0, 1], or the number
                of penalties is not a whole number from 0.
        """
        if not _is_number(self.prior) or not 0 <= self.prior <= 1:
            raise StudyError(
                "`prior` is {given}; it is a probability, give a number from 0 to 1",
                given=repr(self.prior),
            )
        for name in MONEY:
            amount = getattr(self, name)
            if not _is_number(amount) or amount < 0:
                raise StudyError(
                    "{option} is {given}; it is an amount, give a number from 0 on",
                    option=f"`{name}`",
                    given=repr(amount),
                )
        _check_detection(self.detection)
        if self.penalties is not None and (not _is_whole(self.penalties) or self.penalties < 0):
            raise StudyError(
                '`penalties` is {given}; give a whole number from 0 on, or "unlimited"',
                given=repr(self.penalties),
            )
        if not _is_number(self.discount) or not 0 < self.discount <= 1:
            raise StudyError(
                "`discount` is {given}; give a number above 0, and at most 1",
                given=repr(self.discount),
            )
        # Plain numbers from here on: they may have come as fractions or as numpy's.
        for name in ("prior", *MONEY, "discount"):
            object.__setattr__(self, name, float(getattr(self, name)))
        h0, h1 = self.detection
        object.__setattr__(self, "detection", (float(h0), float(h1)))
        if self.penalties is not None:
            object.__setattr__(self, "penalties", int(self.penalties))

    def with_parameter(self, parameter: str, value: float) -> Terms:
        """Return the same terms with another value of one of the `PARAMETERS`; "detection": the rate of the first.

        Raises:
            StudyError: There is no such parameter, or the value makes no sense.
        """
        check_parameter(parameter)
        if parameter == "detection":
            return self.with_detection_rate(value)
        changed: dict[str, Any] = {parameter: value}
        return replace(self, **changed)

    def with_detection_rate(self, rate: float) -> Terms:
        """Return the same terms, the first exploit being detected with this probability; the slope h1 stays.

        Raises:
            StudyError: It is not a probability above 0 and below 1, which is all that a sigmoid reaches.

        >>> Terms().with_detection_rate(0.5).detection
        (0.0, 0.0)
        """
        if not _is_number(rate) or not 0 < rate < 1:
            raise StudyError(
                "`detection`: a rate of {rate} cannot be had; give one above 0 and below 1",
                rate=repr(rate),
            )
        return replace(self, detection=(math.log(rate) - math.log1p(-rate), self.detection[1]))

    @property
    def detection_rate(self) -> float:
        """The probability that the first exploit is detected."""
        return sigmoid(self.detection[0])

    def detection_rates(self, exploits: int) -> Floats:
        """Return the probabilities that each of so many exploits is detected, σ(h0 + h1·j) (equation 4)."""
        h0, h1 = self.detection
        return _sigmoids(h0 + h1 * np.arange(exploits, dtype=np.float64))

    @property
    def fines(self) -> int:
        """The number of penalties for compiled code: `UNLIMITED` where there is no limit, or none that counts."""
        return UNLIMITED if self.penalties is None else self.penalties

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as plain values; no limit on penalties is "unlimited"."""
        plain = asdict(self)
        plain["detection"] = list(self.detection)
        plain["penalties"] = "unlimited" if self.penalties is None else self.penalties
        return plain


MONEY = ("gain", "penalty", "access_cost", "link_cost", "exploit_cost")
"""The terms that are amounts of money."""
PARAMETERS = ("prior", *MONEY, "detection", "discount")
"""What can be varied; the detection by the rate of the first exploit."""


def check_parameter(parameter: str) -> None:
    """Refuse a parameter that there is not.

    Raises:
        StudyError: It is none of the `PARAMETERS`; the near ones are named.
    """
    if parameter not in PARAMETERS:
        raise StudyError(
            unknown_name("parameter", parameter, text("the terms of an attack"), PARAMETERS)
        )


def check_size(size: int) -> None:
    """Refuse a group that has no size.

    Raises:
        StudyError: It is not a whole number from 1 on.
    """
    if not _is_whole(size) or size < 1:
        raise StudyError(
            "`sizes`: a group of {size} makes no sense; give whole numbers from 1 on",
            size=repr(size),
        )


def check_people(people: int, largest: int) -> None:
    """Refuse a belief about a register that cannot hold the groups that are asked about.

    Raises:
        StudyError: It is not a whole number from 1 on, or a group is larger.
    """
    if not _is_whole(people) or people < 1:
        raise StudyError(
            "`belief` is {given}; it is the number of people in the register, from 1 on",
            given=repr(people),
        )
    if largest > people:
        raise StudyError(
            "`belief`: a register of {given} holds no group of {largest}; give the size of the register",
            given=people,
            largest=largest,
        )


def sigmoid(x: float) -> float:
    """Return 1 / (1 + e^−x), without overflow.

    >>> sigmoid(0.0), sigmoid(-1000.0), sigmoid(1000.0)
    (0.5, 0.0, 1.0)
    """
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    power = math.exp(x)
    return power / (1 + power)


def _sigmoids(x: Floats) -> Floats:
    power = np.exp(-np.abs(x))
    rates: Floats = np.where(x >= 0, 1.0, power) / (1 + power)
    return rates


def _check_detection(detection: object) -> None:
    if (
        not isinstance(detection, tuple | list)
        or len(detection) != 2
        or not all(map(_is_number, detection))
    ):
        raise StudyError(
            "`detection` is {given}; give two numbers H0 H1: the exploit after j others is detected with "
            "probability 1/(1 + exp(-H0 - H1·j))",
            given=repr(detection),
        )


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)
