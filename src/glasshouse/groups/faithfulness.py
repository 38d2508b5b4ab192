"""How much of the original's lesson about the population a release still teaches (Boreale et al. 2020, definition 2).

RF = 1 − TV(p_I, p_L), the total variation being over all combinations of values, far too many to visit. Both estimators
take combinations drawn from p_I:

    equation (21):  1 − ½ mean |1 − p_L / p_I|        bounded:  mean min(1, p_L / p_I)

They have the same expectation, 1 − TV, if p_I is nowhere 0. The first can fall below 0 and has a heavy tail; the second
is between 0 and 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.groups.knowledge import Knowledge
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Original
from glasshouse.groups.worlds import ideal_joint, value_counts
from glasshouse.language import text


@dataclass(frozen=True)
class Points:
    """Combinations of values drawn from the ideal p_I(s, r | t)."""

    codes: NDArray[np.int32]
    """Per point and attribute, the code of its value."""
    sensitive: NDArray[np.int32]
    """Per point, the code of its sensitive value."""
    ideal: NDArray[np.float64]
    """Per point, p_I(s, r | t)."""

    def __len__(self) -> int:
        return len(self.sensitive)


@dataclass(frozen=True)
class Faithfulness:
    """Relative faithfulness of a release, estimated at points of the population."""

    points: int
    """How many points."""
    published: float
    """1 minus the empirical total variation of equation (21); may be below 0."""
    published_points_error: float
    """Its standard error because only some points were drawn."""
    bounded: float
    """The mean of min(1, p_L / p_I): between 0 and 1."""
    bounded_points_error: float
    """Its standard error because only some points were drawn."""
    published_chains_error: float = 0.0
    """The standard error of ``published`` because p_L was sampled; 0: it is exact."""
    bounded_chains_error: float = 0.0
    """The same of ``bounded``."""

    @property
    def published_error(self) -> float:
        """The standard error of ``published``: points and chains are drawn independently, so variances add."""
        return float(np.hypot(self.published_points_error, self.published_chains_error))

    @property
    def bounded_error(self) -> float:
        """The standard error of ``bounded``, of both sources."""
        return float(np.hypot(self.bounded_points_error, self.bounded_chains_error))

    def with_chains(self, *, published: float, bounded: float) -> Faithfulness:
        """Return it with the errors that the sampler of p_L adds."""
        return replace(self, published_chains_error=published, bounded_chains_error=bounded)

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        both = {"published_error": self.published_error, "bounded_error": self.bounded_error}
        return asdict(self) | both


def draw_points(
    release: Release, original: Original, *, count: int = 10_000, seed: int = 0
) -> Points:
    """Draw combinations (s, r) from p_I, equation (20): first s, then each attribute given s.

    Put them behind the victims (`glasshouse.groups.victims.joined`) to learn p_L there.

    Raises:
        StudyError: There are fewer than two points.
    """
    if count < 2:
        raise StudyError(
            text("faithfulness is asked for at {count} points; give at least 2", count=str(count))
        )
    generator = np.random.default_rng(seed)
    gamma = original.weights.sum(axis=0)
    shares = release.sensitive.alphas + gamma
    sensitive = generator.choice(len(shares), size=count, p=shares / shares.sum())
    codes = np.empty((count, len(release.attributes)), np.int32)
    counts = value_counts(release, original)
    for place, attribute in enumerate(release.attributes):
        weights = attribute.betas[:, None] + counts[place]
        for s in np.unique(sensitive):
            own = np.flatnonzero(sensitive == s)
            chances = weights[:, s] / weights[:, s].sum()
            codes[own, place] = generator.choice(len(chances), size=len(own), p=chances)
    ideal = ideal_joint(release, original, codes)[np.arange(count), sensitive]
    return Points(codes, sensitive.astype(np.int32), ideal)


def faithfulness(points: Points, knowledge: Knowledge) -> Faithfulness:
    """Compare p_L with p_I at points that are the last victims of some knowledge.

    Raises:
        StudyError: The last victims are not these points.
    """
    count = len(points)
    first = len(knowledge.victims) - count
    if first < 0 or not np.array_equal(knowledge.victims.codes[first:], points.codes):
        raise StudyError(
            text(
                "the last victims are not the points of the population; put the points behind the victims"
            )
        )
    published, bounded = contributions(points, knowledge.joint)
    return Faithfulness(
        points=count,
        published=float(published.mean()),
        published_points_error=_standard_error(published),
        bounded=float(bounded.mean()),
        bounded_points_error=_standard_error(bounded),
    )


def contributions(
    points: Points, joint: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what each point adds to the two estimators: to that of equation (21), and to the bounded one.

    Args:
        points: The points.
        joint: p_L(s, r), equation (5), of victims of whom the points are the last.
    """
    first = len(joint) - len(points)
    ratio = joint[first + np.arange(len(points)), points.sensitive] / points.ideal
    return 1 - np.abs(1 - ratio) / 2, np.minimum(1, ratio)


def _standard_error(sample: NDArray[np.float64]) -> float:
    return float(sample.std(ddof=1) / np.sqrt(len(sample)))
