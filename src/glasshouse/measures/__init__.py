"""What a run measured, in figures that know what they are about, and what a policy says of them: no sentence here.

Every command has a module of its name, whose function ``measured`` yields what an outcome of it measures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.measures.measurement import Measurement
    from glasshouse.study import Question


def measures(outcome: Any, question: Question) -> tuple[Measurement, ...]:
    """Return what the outcome of any command measures, whatever the policy."""
    return tuple(_module(question).measured(outcome))


def main_figures(outcome: Any, question: Question) -> dict[str, float | None]:
    """Return the main figures of an outcome by name, by which runs are put side by side.

    Empty where there are none for the release as a whole, or where every attack is kept instead.
    """
    of_outcome = getattr(_module(question), "figures", None)
    return {} if of_outcome is None else dict(of_outcome(outcome))


def _module(question: Question) -> Any:
    return import_module(f"glasshouse.measures.{question.command}")
