"""What a channel lets somebody learn who suspects one secret out of two: as beliefs before and after, and as chances.

The first input of the channel is what she thinks likely, the second what she suspects. Where the law of the channel is
rational, so is every figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from glasshouse.qif.arithmetic import Number
from glasshouse.qif.channel import Channel

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
"""What somebody may have thought before; the first is what a rule is about."""
LEFT_OUT = Fraction(1, 1_000_000)
"""What may be left out of what beliefs can become, where they can become anything."""


@dataclass(frozen=True)
class Suspicion:
    """What becomes of a suspicion."""

    beliefs: Mapping[Fraction, tuple[Number, Number]]
    """By what she thought before: the least and the most that she can come to think."""
    right: Number
    """How often her guess is right where she thought both as likely."""
    certain: Number
    """How often what she suspects becomes certain, where it is true."""
    convinced: Number
    """How often, where it is true, she comes to think it more likely than not who thought it 1 in 100."""
    is_exact: bool
    """Whether all of it is in fractions."""
    leaves_out: bool
    """Whether beliefs leave out what happens less than once in a million times."""

    @property
    def order(self) -> tuple[float, ...]:
        """By what the worst is chosen: who is convinced, what 1 in 100 becomes, and how often a guess is right."""
        return float(self.convinced), float(self.beliefs[PRIORS[0]][1]), float(self.right)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "beliefs": [
                {"prior": float(prior), "least": float(least), "most": float(most)}
                for prior, (least, most) in self.beliefs.items()
            ],
            "right": float(self.right),
            "certain": float(self.certain),
            "convinced": float(self.convinced),
            "exact": self.is_exact,
            "left_out": float(LEFT_OUT) if self.leaves_out else 0.0,
        }

    def to_row(self) -> dict[str, Any]:
        """Return it as a row of a table."""
        content = self.to_dict()
        for belief in content.pop("beliefs"):
            content |= {f"{name}_{belief['prior']:g}": belief[name] for name in ("least", "most")}
        return content


def suspicion_of(channel: Channel, *, leaves_out: bool = False) -> Suspicion:
    """Return what a channel of two secrets makes of a suspicion of the second.

    Args:
        channel: What is seen under each.
        leaves_out: Whether anything can be seen once in a great while, so that the rarest is left out of beliefs.

    >>> coin = Channel([[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]], "ab")
    >>> print(suspicion_of(coin).right, *suspicion_of(coin).beliefs[Fraction(1, 100)])
    2/3 1/199 2/101
    """
    out, inside = channel.matrix.tolist()
    observed = [(x, y) for x, y in zip(out, inside, strict=True) if x or y]
    mostly = _but_for_the_rarest(observed) if leaves_out else observed
    beliefs = {}
    for prior in PRIORS:
        before: Number = prior if channel.exact else float(prior)
        after = [before * y / (before * y + (1 - before) * x) for x, y in mostly]
        beliefs[prior] = (min(after), max(after))
    first: Number = PRIORS[0] if channel.exact else float(PRIORS[0])
    return Suspicion(
        beliefs,
        sum(max(x, y) for x, y in observed) / 2,
        sum((y for x, y in observed if not x), Fraction(0)) if not leaves_out else 0.0,
        sum((y for x, y in observed if first * y > (1 - first) * x), Fraction(0)),
        channel.exact,
        leaves_out,
    )


def _but_for_the_rarest(observed: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return what is observed but for what tells most of somebody who is in, or out, and happens hardly ever."""
    ordered = sorted(observed, key=lambda one: one[1] / one[0] if one[0] else float("inf"))
    first, last, seen = 0, len(ordered), 0.0
    while last > first and seen + ordered[last - 1][1] <= LEFT_OUT:
        last -= 1
        seen += ordered[last][1]
    seen = 0.0
    while first < last - 1 and seen + ordered[first][0] <= LEFT_OUT:
        seen += ordered[first][0]
        first += 1
    return ordered[first:last]
