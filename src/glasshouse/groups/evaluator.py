"""All figures that an evaluator reports of a release, from any beliefs: of all draws, of half a chain, of one batch.

`glasshouse.groups.measures` has the same figures record by record. Here they are computed from victims × sensitive
values, fast enough to be repeated for every part of every chain: how far they differ is how well they are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from glasshouse.groups.beliefs import Points, contributions
from glasshouse.groups.measures import THRESHOLDS, TIE
from glasshouse.groups.victims import Original

Floats = NDArray[np.float64]


def above_name(threshold: float, *, threatened: bool) -> str:
    """Return the name of the share of records with a relative threat above a threshold.

    >>> above_name(2.0, threatened=False)
    'ti_above_2_of_all'
    """
    return f"ti_above_{threshold:g}" + ("" if threatened else "_of_all")


@dataclass(frozen=True)
class Evaluator:
    """Who has the original, and so knows which belief is right."""

    original: Original
    """The original; its people are the first victims."""
    points: Points | None = None
    """Points of the population, which are the last victims; None: faithfulness is not asked for."""
    thresholds: tuple[float, ...] = THRESHOLDS
    """The relative threats that the share of records above is told of."""

    @cached_property
    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Victim, sensitive value and number of records, where there is a record."""
        victim, sensitive = np.nonzero(self.original.weights)
        return victim, sensitive, self.original.weights[victim, sensitive]

    def is_share(self, name: str) -> bool:
        """Tell whether a figure is a share of records or of probability, which a precision can be asked of."""
        return name.startswith(("gt_", "ti_above_")) or name in ("rgt", "rf_bounded")

    def figures(self, attacker: Floats, learner: Floats, joint: Floats) -> dict[str, float]:
        """Return the figures by name; those of nobody (no record is threatened) are not numbers.

        Args:
            attacker: p_A, victims × sensitive values.
            learner: p_L(s | r) by the reading that the attacker is compared with.
            joint: p_L(s, r), equation (5).

        >>> original = Original(np.array([0, 0]), np.array([0, 1], np.int32), np.zeros((1, 1), np.int32),
        ...     np.array([[1, 1]]))
        >>> found = Evaluator(original).figures(np.array([[0.75, 0.25]]), np.array([[0.5, 0.5]]), np.ones((1, 2)))
        >>> found["gt_attacker"], found["gt_learner"], found["abs_attacker"], found["highest_ti"]
        (0.5, 1.0, 2.0, 1.5)
        """
        victim, sensitive, many = self.cells
        levels = {
            name: own[victim, sensitive]
            for name, own in (("attacker", attacker), ("learner", learner))
        }
        ratio = levels["attacker"] / levels["learner"]
        threatened = {}
        found: dict[str, float] = {}
        for name, own in (("attacker", attacker), ("learner", learner)):
            marks = _strongest(own[: len(self.original.codes)])
            hit = marks[victim, sensitive]
            threatened[name] = hit
            rivals = marks.sum(axis=1)[victim]
            found[f"gt_{name}"] = _share(many, hit)
            found[f"gt_{name}_random_ties"] = float((many * hit / rivals).sum() / many.sum())
            found[f"abs_{name}"] = float(2 * (many * (1 - levels[name])).sum())
        found["rgt"] = max(0.0, found["gt_attacker"] - found["gt_learner"])
        own_ratio = ratio[threatened["attacker"]]
        found["highest_ti"] = float(own_ratio.max()) if len(own_ratio) else float("nan")
        found["highest_ti_of_all"] = float(ratio.max())
        for threshold in self.thresholds:
            above = ratio > threshold * (1 + TIE)
            named = above & threatened["attacker"]
            found[above_name(threshold, threatened=True)] = _share(many, named)
            found[above_name(threshold, threatened=False)] = _share(many, above)
        for name, hit in threatened.items():
            mean, skewness = _moments(ratio[hit], many[hit])
            found[f"log2_ti_{name}_mean"], found[f"log2_ti_{name}_skewness"] = mean, skewness
        return found | self._faithfulness(joint)

    def _faithfulness(self, joint: Floats) -> dict[str, float]:
        if self.points is None:
            return {}
        published, bounded = contributions(self.points, joint)
        return {"rf": float(published.mean()), "rf_bounded": float(bounded.mean())}


def _strongest(own: Floats) -> NDArray[np.bool_]:
    marks: NDArray[np.bool_] = own >= own.max(axis=1, keepdims=True) * (1 - TIE)
    return marks


def _share(many: NDArray[np.int64], chosen: NDArray[np.bool_]) -> float:
    return float(many[chosen].sum() / many.sum())


def _moments(ratio: Floats, many: NDArray[np.int64]) -> tuple[float, float]:
    """Return mean and skewness of log₂ Ti over records; as `glasshouse.groups.measures.Histogram` has them."""
    kept = ratio > 0
    logs, many = np.log2(ratio[kept]), many[kept]
    if not len(logs):
        return float("nan"), float("nan")
    mean = float(np.average(logs, weights=many))
    deviations = logs - mean
    spread = np.sqrt(np.average(deviations**2, weights=many))
    if spread <= TIE:
        return mean, float("nan")
    return mean, float(np.average(deviations**3, weights=many) / spread**3)
