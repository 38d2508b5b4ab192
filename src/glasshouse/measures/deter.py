"""What a game with a rational attacker measures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from glasshouse.economics.outcome import Deterrence
from glasshouse.measures.measurement import Measurement


def measured(outcome: Deterrence) -> Iterator[Measurement]:
    """Yield what a game with a rational attacker measures."""
    exposure = outcome.exposure
    if exposure is None:
        highest = float(outcome.policy.reidentification.max(initial=0.0))
    else:
        highest = float(exposure.known.max(initial=0.0))
        most = max(exposure.expected_known, exposure.expected_unknown)
        expected = Fraction(str(most)) / max(1, outcome.records)
        yield Measurement("re-identified", min(Fraction(1), expected))
    yield Measurement("highest-risk", Fraction(str(highest)))


def figures(outcome: Deterrence) -> dict[str, float | None]:
    """Return the main figures: the sizes at which she changes her mind, the risk, and what a release loses.

    What it loses is left out where it would tell of few records.
    """
    figures: dict[str, float | None] = dict(outcome.policy.thresholds.to_dict())
    figures["highest_risk"] = float(outcome.policy.reidentification.max())
    figures["enough"] = outcome.size.lasting
    if outcome.exposure is not None:
        figures |= {
            "worth_attacking": int(np.count_nonzero(outcome.exposure.known)),
            "expected_known": outcome.exposure.expected_known,
            "expected_unknown": outcome.exposure.expected_unknown,
        }
        if outcome.counts_losses and not outcome.exposure.loss_counts_few:
            figures["loss_known"] = outcome.exposure.loss_known
            figures["loss_unknown"] = outcome.exposure.loss_unknown
    return figures
