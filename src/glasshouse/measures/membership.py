"""What a question of who is in a release measures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glasshouse.language import rounded
from glasshouse.measures import target
from glasshouse.measures.measurement import Measurement
from glasshouse.microdata import Member, Membership, PopulationRisks


def measured(outcome: Membership | Member | PopulationRisks) -> Iterator[Measurement]:
    """Yield what a question of who is in a release measures."""
    if isinstance(outcome, Member):
        yield from target.measured(outcome)
    elif isinstance(outcome, PopulationRisks):
        yield from _of_population(outcome)
    elif isinstance(outcome, Membership):
        yield Measurement("membership-certain", _certainly_in(outcome))
        if outcome.marketer is not None:
            yield Measurement("best-guess", outcome.marketer)
        if outcome.journalist is not None:
            yield Measurement("highest-risk", outcome.journalist)


def _certainly_in(outcome: Membership) -> Fraction:
    """Return the share of people who are learned to be in the release; of several, in exactly which of them.

    Being in a clinic's file gives something away, not being in it hardly does: who is certainly in none is shown, and
    not judged. Where everybody is in it, or nobody, nothing is learned.
    """
    if outcome.deterministic.additive == 0:
        return Fraction(0)
    return Fraction(outcome.certain - outcome.certainly_out, outcome.people)


def _of_population(risks: PopulationRisks) -> Iterator[Measurement]:
    """Yield what is estimated of a sample: of several estimates the highest, and who is alone in the population, too.

    Where no estimator tells how many of those alone in the sample are, all of them may be.
    """
    low, high = named_with_a_register(risks)
    estimated = records_alone(risks)
    alone = risks.uniques if estimated is None else estimated
    unknown = estimated is None and risks.uniques > 0
    named = Fraction(alone, risks.records)
    yield Measurement("named", named, is_bound=unknown)
    yield Measurement("best-guess", max(named, high), is_bound=unknown or low < high)
    highest = Fraction(1) if alone else risks.journalist_highest
    yield Measurement("highest-risk", highest, is_bound=unknown)


def records_alone(risks: PopulationRisks) -> int | None:
    """Return how many records are, by estimate, of people who are alone in the population, rounded to whole records.

    It is told, graded and judged by this one number. None: no estimator found an answer.
    """
    if risks.fraction == 1:
        return risks.uniques
    part = risks.dankar.share_of_sample_uniques
    return None if part is None else rounded(risks.uniques * Fraction(part))


def named_with_a_register(risks: PopulationRisks) -> tuple[Fraction, Fraction]:
    """Return between what the share of records is that somebody with a register would name right, by estimate."""
    better = (risks.marketer_expected, risks.marketer_by_classes)
    estimates = (risks.marketer, *(min(Fraction(estimate), Fraction(1)) for estimate in better))
    return min(estimates), max(estimates)


def figures(outcome: Membership | Member | PopulationRisks) -> dict[str, float | None]:
    """Return the main figures: of everybody, of one person, or of a sample of a population."""
    if isinstance(outcome, Member):
        return _figures_of_one(outcome)
    if isinstance(outcome, PopulationRisks):
        return _figures_of_population(outcome)
    return _figures_of_everybody(outcome)


def _figures_of_everybody(outcome: Membership) -> dict[str, float | None]:
    """Return the main figures: of whom she is certain, how well she guesses, and the bounds of δ-presence."""
    figures = {
        "certain": outcome.deterministic.posterior,
        "certainly_in": Fraction(outcome.certainly_in),
        "guess": outcome.probabilistic.posterior,
        "guess_before": outcome.probabilistic.prior,
        "delta_max": outcome.delta_max,
        "delta_min": outcome.delta_min,
        "journalist": outcome.journalist,
        "marketer": outcome.marketer,
    }
    return {name: float(figure) for name, figure in figures.items() if figure is not None}


def _figures_of_one(member: Member) -> dict[str, float | None]:
    """Return the main figures: how many people it can be, and how surely she tells whether the person is in."""
    present = {
        f"present: {name}": float(leakage.posterior)
        for name, leakage in zip(member.datasets, member.present, strict=True)
        if len(member.datasets) > 1
    } or {"presence": float(member.present[0].posterior)}
    return {
        "candidates": member.candidates,
        **present,
        "guess_at_one": float(member.guess.posterior),
    }


def _figures_of_population(risks: PopulationRisks) -> dict[str, float | None]:
    """Return the main figures: how surely records are named, and how many people are alone."""
    alone = risks.dankar.share_of_population
    return {
        "uniques": risks.uniques,
        "population_uniques": None if alone is None else float(alone),
        "journalist": float(risks.journalist_highest),
        "journalist_average": float(risks.journalist_average),
        "marketer": float(risks.marketer),
    }
