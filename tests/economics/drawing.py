"""Terms for the tests, random and published, and the obvious twin of the induction: conditional, in fractions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from glasshouse.economics import Terms

LIMITS = (None, 0, 1, 2, 3)
SETTINGS = {
    "constant detection, unlimited penalties": Terms(),
    "one penalty": Terms(penalties=1),
    "rising detection, unlimited penalties": Terms(detection=(-4.59, 0.18)),
}
"""The three settings of the publication (section 7.2.1)."""
SENSITIVITY = Terms(prior=1.0, gain=1_000.0, penalty=20_000.0)
"""The terms of the publication's sensitivity analysis (section 7.3, figure 10)."""


def random_terms(rng: np.random.Generator) -> Terms:
    """Draw terms of every kind: free or dear, one-shot or patient, certain to hold the target or not."""

    def often(value: float, otherwise: float) -> float:
        return value if rng.random() < 0.25 else float(otherwise)

    return Terms(
        prior=often(1.0, rng.uniform(0.02, 1)),
        gain=float(rng.uniform(0, 10_000)),
        penalty=often(0.0, rng.uniform(0, 20_000)),
        access_cost=often(0.0, rng.uniform(0, 300)),
        link_cost=often(0.0, rng.uniform(0, 100)),
        exploit_cost=often(0.0, rng.uniform(0, 400)),
        detection=(float(rng.uniform(-6, 2)), often(0.0, rng.uniform(-0.3, 0.6))),
        penalties=LIMITS[rng.integers(len(LIMITS))],
        discount=often(1.0, rng.uniform(0.3, 1)),
    )


def with_growing_detection(terms: Terms) -> Terms:
    h0, h1 = terms.detection
    return replace(terms, detection=(h0, abs(h1)))


@dataclass(frozen=True)
class Exact:
    """What the twin finds for one group, after access and link."""

    value: Fraction
    risk: Fraction
    undetected: int
    margin: Fraction
    """How near to 0 a decision came."""


def exactly(terms: Terms, size: int) -> Exact:
    """Solve one group state by state, with the success probability of equation (3) as it is printed."""
    prior, discount = Fraction(terms.prior), Fraction(terms.discount)
    gain, cost, penalty = map(Fraction, (terms.gain, terms.exploit_cost, terms.penalty))
    rates = [Fraction(rate) for rate in terms.detection_rates(size).tolist()]
    margins = [Fraction(10**9)]

    @cache
    def worth(j: int, p: int) -> tuple[Fraction, Fraction, int]:
        if j == size:
            return Fraction(0), Fraction(0), 0
        success = 1 / ((1 - prior) / prior * size + size - j) if prior else Fraction(0)
        fine = penalty if terms.penalties is None or p < terms.penalties else Fraction(0)
        seen, unseen = worth(j + 1, p + 1), worth(j + 1, p)
        later = rates[j] * seen[0] + (1 - rates[j]) * unseen[0]
        value = -cost + discount * (success * gain - rates[j] * fine + (1 - success) * later)
        margins.append(abs(value))
        if value <= 0:
            return Fraction(0), Fraction(0), 0
        risk = rates[j] * seen[1] + (1 - rates[j]) * unseen[1]
        return value, success + (1 - success) * risk, 1 + unseen[2]

    value, risk, undetected = worth(0, 0)
    return Exact(value, risk, undetected, min(margins))
