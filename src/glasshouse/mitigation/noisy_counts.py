"""Counts with noise: drawn by OpenDP, by a perturbation table, or rounded at random.

Nothing of it can be repeated: what is drawn comes from the system, without a seed, since whoever knows a seed can undo
the noise. A release is therefore kept, and the study of it has the counts as they were drawn.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from fractions import Fraction
from math import lcm, log

from glasshouse.errors import StudyError
from glasshouse.study.tables import CountNoise


def noisy_counts(counts: Sequence[int], noise: CountNoise) -> list[int]:
    """Return counts with noise, drawn for each apart; what falls below the least is clamped.

    Args:
        counts: The true counts.
        noise: The noise; a perturbation table with its rows.

    Raises:
        StudyError: OpenDP draws it, and is not installed.

    >>> from glasshouse.study.tables import CountNoise
    >>> noisy_counts([0, 7], CountNoise(law="table", rows=[(0, 0, "1"), (1, 2, "1")]))
    [0, 8]
    """
    if noise.base is not None:
        whole = noise.base
        rests = [count % whole for count in counts]
        return [
            count - rest + whole * (secrets.randbelow(whole) < rest)
            for count, rest in zip(counts, rests, strict=True)
        ]
    if noise.law == "table":
        chances = noise.chances
        last = max(chances)
        return [_drawn(chances[min(count, last)]) + count - min(count, last) for count in counts]
    drawn = _by_opendp(counts, noise)
    return drawn if noise.least is None else [max(count, noise.least) for count in drawn]


def _drawn(chances: dict[int, Fraction]) -> int:
    """Draw a count by its chances, exactly."""
    whole = lcm(*(chance.denominator for chance in chances.values()))
    left = secrets.randbelow(whole)
    for shown, chance in chances.items():
        left -= int(chance * whole)
        if left < 0:
            return shown
    raise AssertionError("chances add up to 1")


def _by_opendp(counts: Sequence[int], noise: CountNoise) -> list[int]:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise StudyError(
            "{law} noise is drawn by OpenDP, which is not installed: {command}",
            law=noise.law,
            command="pip install 'glasshouse[opendp]'",
        ) from None
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if noise.law == "gaussian":
        draw = dp.m.make_gaussian(domain, dp.l2_distance(T=int), scale=noise.deviation)
    else:
        step = noise.step
        # ln of a Fraction by its parts: as a float it may be 0 or 1.
        scale = 1 / (
            log(step.denominator) - log(step.numerator)
            if isinstance(step, Fraction)
            else -log(step)
        )
        draw = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=scale)
    return [int(count) for count in draw([int(count) for count in counts])]
