"""Results of the mathematics at a glance: what a hyper, a capacity or a comparison of channels says."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import number, text, text_for
from glasshouse.qif import (
    BayesVulnerability,
    Capacity,
    Hyper,
    LeakageGap,
    Number,
    Prior,
    PriorEstimate,
    Refinement,
    ShannonCapacity,
)
from glasshouse.report.chances import Shift
from glasshouse.report.glance import bar_figure, glance, guess_figure, note
from glasshouse.report.page import Figure, Page
from glasshouse.report.words import frequency, percentage


def hyper_page(hyper: Hyper) -> Page:
    """Return how much better one guess is after the observation."""
    guess = BayesVulnerability()
    before = _chance(guess.prior(hyper.prior()))
    after = _chance(guess.posterior_of(hyper))
    found = [
        note(
            text(
                "One guess at the secret is right for {before} before the observation, and for {after} after it.",
                before=frequency(before),
                after=frequency(after),
            )
        ),
        note(
            text_for(
                len(hyper.observations),
                "The secret has {secrets} values; {count} observation is possible.",
                "The secret has {secrets} values; {count} observations are possible.",
                secrets=len(hyper.secrets),
            )
        ),
    ]
    shift = Shift(text("one guess at the secret"), before, after)
    subtitle = text("before the observation and after it")
    figure = guess_figure(shift, title=found[0].sentence, subtitle=subtitle)
    return glance(found, [figure])


def capacity_page(capacity: Capacity) -> Page:
    """Return a greatest leakage."""
    sentence = text(
        "The greatest leakage of this kind over all priors is {value}.",
        value=number(capacity.value, ",.6g"),
    )
    return glance([note(sentence)], [_prior(capacity.prior)])


def shannon_capacity_page(capacity: ShannonCapacity) -> Page:
    """Return how many bits at most an observation tells."""
    sentence = text(
        "An observation tells at most {upper} bits of the secret, whatever the prior; by the prior found it tells "
        "{lower}.",
        upper=number(capacity.upper, ",.6g"),
        lower=number(capacity.lower, ",.6g"),
    )
    return glance([note(sentence)], [_prior(capacity.prior)])


def refinement_page(refinement: Refinement) -> Page:
    """Return whether one channel is at least as safe as another."""
    sentence = (
        text(
            "The second channel is at least as safe as the first, for every adversary that this order is about."
        )
        if refinement.holds
        else text(
            "The second channel is not always as safe as the first: some adversary gains more by it."
        )
    )
    proof = (
        text("The proof was checked in exact fractions.")
        if refinement.exact
        else text("The proof holds within the rounding of floating-point numbers.")
    )
    return glance([note(sentence), note(proof)])


def leakage_gap_page(gap: LeakageGap) -> Page:
    """Return by how much one channel can leak more than another."""
    sentence = (
        text(
            "The second channel can give an adversary up to {value} more than the first.",
            value=number(gap.value, ",.6g"),
        )
        if gap.value > 0
        else text("The second channel gives no adversary more than the first.")
    )
    return glance([note(sentence)])


def prior_estimate_page(estimate: PriorEstimate) -> Page:
    """Return what the prior is estimated to be."""
    sentence = text_for(
        estimate.iterations,
        "The prior under which the observations are most likely was found after {count} update.",
        "The prior under which the observations are most likely was found after {count} updates.",
    )
    return glance([note(sentence)], [_prior(estimate.prior)])


def _prior(prior: Prior) -> Figure | None:
    chances = zip(prior.labels, prior.probabilities, strict=True)
    return bar_figure(
        {str(label): 100 * _chance(chance) for label, chance in chances},
        title=text(
            "By this prior the likeliest secret has a probability of {chance}",
            chance=percentage(max(map(_chance, prior.probabilities))),
        ),
        axis=text("probability (%)"),
    )


def _chance(probability: Number) -> Fraction:
    """Return a probability, exact or of floats, as a fraction between 0 and 1."""
    return min(max(Fraction(probability), Fraction(0)), Fraction(1))
