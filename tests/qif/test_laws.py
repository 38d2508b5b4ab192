"""Laws of quantitative information flow, on random small systems in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from glasshouse.qif import (
    BayesRisk,
    BayesVulnerability,
    Certainty,
    Channel,
    GainFunction,
    GuessingEntropy,
    GVulnerability,
    Hyper,
    LRisk,
    Measure,
    PredicateRisk,
    PredicateVulnerability,
    Prior,
    ShannonEntropy,
    Tries,
    additive_bayes_capacity,
    additive_bayes_capacity_bound,
    additive_capacity,
    bayes_risk_capacity,
    leakage_gap,
    max_refined_by,
    multiplicative_bayes_capacity,
    predicate_capacity,
    predicate_risk_capacity,
    privacy_refined_by,
    refined_by,
    shannon_capacity,
    spanning_additive_capacity,
)

law = settings(derandomize=True, max_examples=examples(40), deadline=None, database=None)


def even(secret: int) -> bool:
    return secret % 2 == 0


@st.composite
def distributions(draw: st.DrawFn, size: int, *, least: int = 0) -> list[Fraction]:
    weights = draw(st.lists(st.integers(least, 6), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def channels(draw: st.DrawFn, rows: int) -> Channel:
    columns = draw(st.integers(1, 4))
    return Channel([draw(distributions(columns)) for _ in range(rows)])


@st.composite
def gains(draw: st.DrawFn, secrets: int, *, least: int = 0) -> GainFunction:
    row = st.lists(st.integers(least, 5), min_size=secrets, max_size=secrets)
    return GainFunction(draw(st.lists(row, min_size=1, max_size=3)))


@st.composite
def systems(draw: st.DrawFn, *, least: int = 0) -> tuple[Prior, Channel]:
    size = draw(st.integers(1, 4))
    return Prior(draw(distributions(size, least=least))), draw(channels(size))


@st.composite
def measures(draw: st.DrawFn, secrets: int) -> Measure:
    return draw(
        st.sampled_from(
            [
                BayesVulnerability(),
                BayesRisk(),
                GVulnerability(draw(gains(secrets, least=-5))),
                LRisk(draw(gains(secrets))),
                Tries(draw(st.integers(1, secrets))),
                Certainty(),
                ShannonEntropy(),
                GuessingEntropy(),
                PredicateVulnerability(even),
                PredicateRisk(even),
            ]
        )
    )


@law
@given(st.data(), systems())
def test_an_observation_never_hurts_the_adversary(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, channel = system
    measure = data.draw(measures(len(pi)))
    assert measure.additive_leakage(pi, channel) >= -1e-12
    if measure.prior(pi) >= 0 and measure.posterior(pi, channel) >= 0:
        assert measure.multiplicative_leakage(pi, channel) >= 1 - 1e-12


@law
@given(st.data(), systems())
def test_processing_what_was_shown_never_helps_the_adversary(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, channel = system
    measure = data.draw(measures(len(pi)))
    processed = channel.cascade(data.draw(channels(len(channel.outputs))))
    before = measure.additive_leakage(pi, channel)
    assert measure.additive_leakage(pi, processed) <= before + 1e-12


@law
@given(st.data(), systems())
def test_observing_two_channels_leaks_at_least_as_much_as_each(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, channel = system
    other, measure = data.draw(channels(len(pi))), data.draw(measures(len(pi)))
    both = measure.additive_leakage(pi, channel.parallel(other))
    assert both >= measure.additive_leakage(pi, channel) - 1e-12
    assert both >= measure.additive_leakage(pi, other) - 1e-12


@law
@given(st.data(), systems())
def test_floats_equal_fractions(data: st.DataObject, system: tuple[Prior, Channel]) -> None:
    pi, channel = system
    measure = data.draw(measures(len(pi)))
    rounded = measure.posterior(pi.to_float(), channel.to_float())
    assert rounded == pytest.approx(float(measure.posterior(pi, channel)), abs=1e-12)
    assert isinstance(rounded, float)


@law
@given(st.data(), systems())
def test_a_hyper_measures_like_its_prior_and_channel_also_when_reduced(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, channel = system
    measure = data.draw(measures(len(pi)))
    expected = pytest.approx(float(measure.posterior(pi, channel)), abs=1e-12)
    hyper = Hyper.of(pi, channel)
    assert float(measure.posterior_of(hyper)) == expected
    assert float(measure.posterior_of(hyper.reduced())) == expected
    assert float(measure.posterior(pi, channel.reduced())) == expected


@law
@given(systems(least=1))
def test_prior_and_channel_come_back_from_the_hyper(system: tuple[Prior, Channel]) -> None:
    pi, channel = system
    hyper = Hyper.of(pi, channel)
    possible = [index for index, total in enumerate(channel.matrix.sum(axis=0)) if total > 0]
    assert hyper.prior() == pi
    assert hyper.channel().matrix.tolist() == channel.matrix[:, possible].tolist()


@law
@given(systems())
def test_certainty_is_at_most_bayes_and_tries_run_from_bayes_to_one(
    system: tuple[Prior, Channel],
) -> None:
    pi, channel = system
    bayes = BayesVulnerability().posterior(pi, channel)
    assert Certainty().posterior(pi, channel) <= bayes
    assert Tries(1).posterior(pi, channel) == bayes == 1 - BayesRisk().posterior(pi, channel)
    assert Tries(len(pi)).posterior(pi, channel) == 1


@law
@given(st.data(), systems())
def test_tries_equal_their_gain_function(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, channel = system
    k = data.draw(st.integers(1, len(pi)))
    listed = GVulnerability(GainFunction.tries(pi.labels, k=k))
    assert Tries(k).posterior(pi, channel) == listed.posterior(pi, channel)


@law
@given(st.data(), systems())
def test_gain_functions_add_and_pass_through_channels(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, channel = system
    first, second = (data.draw(gains(len(pi), least=-5)) for _ in range(2))
    both = GVulnerability(first.plus(second)).posterior(pi, channel)
    apart = [GVulnerability(gain).posterior(pi, channel) for gain in (first, second)]
    assert both == sum(apart)
    assert GVulnerability(first.through(channel)).prior(pi) == apart[0]
    assert GVulnerability(first.scaled(3)).posterior(pi, channel) == 3 * apart[0]
    assert GVulnerability(first.abstaining()).posterior(pi, channel) >= max(0, apart[0])


@law
@given(st.data(), systems())
def test_multiplicative_leakage_is_at_most_the_capacity(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, channel = system
    vulnerability = GVulnerability(data.draw(gains(len(pi))))
    capacity = multiplicative_bayes_capacity(channel)
    if vulnerability.prior(pi) > 0:
        assert vulnerability.multiplicative_leakage(pi, channel) <= capacity
    uniform = Prior.uniform(pi.labels)
    assert BayesVulnerability().multiplicative_leakage(uniform, channel) == capacity


@law
@given(systems())
def test_capacities_over_priors_bound_their_measures_and_are_attained(
    system: tuple[Prior, Channel],
) -> None:
    pi, channel = system
    capacities = {
        BayesRisk(): bayes_risk_capacity(channel),
        PredicateVulnerability(even): predicate_capacity(channel, predicate=even),
        PredicateRisk(even): predicate_risk_capacity(channel, predicate=even),
    }
    for measure, capacity in capacities.items():
        assert measure.multiplicative_leakage(pi, channel) <= capacity.value
        assert measure.multiplicative_leakage(capacity.prior, channel) == capacity.value


@law
@given(systems())
def test_additive_bayes_capacity_is_attained_and_below_its_bound(
    system: tuple[Prior, Channel],
) -> None:
    pi, channel = system
    bayes, capacity = BayesVulnerability(), additive_bayes_capacity(channel)
    assert bayes.additive_leakage(pi, channel) <= capacity.value
    assert bayes.additive_leakage(capacity.prior, channel) == capacity.value
    assert capacity.value <= additive_bayes_capacity_bound(channel)
    assert additive_bayes_capacity(channel.to_float()).value == pytest.approx(float(capacity.value))


@law
@given(systems())
def test_additive_capacity_is_attained_by_betting_against_the_least_likely_secret(
    system: tuple[Prior, Channel],
) -> None:
    pi, channel = system
    support = [index for index, p in enumerate(pi.probabilities) if p > 0]
    bets = []
    for column in channel.matrix.T:
        against = min(support, key=lambda x: column[x])
        odds = pi.probabilities[against]
        bets.append([-(1 - odds) / odds if x == against else 1 for x in range(len(pi))])
    bet = GVulnerability(GainFunction(bets).abstaining())
    assert bet.additive_leakage(pi, channel) == additive_capacity(pi, channel)
    # The same maximum by linear programming, against the channel that shows nothing.
    nothing = Channel.no_interference(pi.labels)
    gap = leakage_gap(pi, nothing, channel)
    assert gap.value == pytest.approx(float(additive_capacity(pi, channel)), abs=1e-9)


@law
@given(systems())
def test_spanning_additive_capacity_is_attained_by_betting_on_what_became_likelier(
    system: tuple[Prior, Channel],
) -> None:
    pi, channel = system
    hyper = Hyper.of(pi, channel)
    likelier = (hyper.inners > pi.probabilities[:, np.newaxis]).astype(int).astype(object).T
    bets = GainFunction(likelier - (likelier @ pi.probabilities)[:, np.newaxis])
    capacity = spanning_additive_capacity(pi, channel)
    assert GVulnerability(bets).additive_leakage(pi, channel) == capacity
    assert capacity <= additive_capacity(pi, channel)


@law
@given(systems())
def test_mutual_information_is_at_most_the_shannon_capacity(system: tuple[Prior, Channel]) -> None:
    pi, channel = system
    capacity = shannon_capacity(channel, gap=1e-3)
    entropy = ShannonEntropy()
    assert entropy.additive_leakage(pi, channel) <= capacity.upper + 1e-9
    assert entropy.additive_leakage(capacity.prior, channel) == pytest.approx(capacity.lower)


@law
@given(st.data(), systems())
def test_refinement_is_found_whenever_a_channel_was_processed(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    _, channel = system
    processed = channel.cascade(data.draw(channels(len(channel.outputs))))
    result = refined_by(channel, processed)
    assert result.holds
    assert result.exact
    assert result.witness is not None
    assert channel.cascade(result.witness).matrix.tolist() == processed.matrix.tolist()
    assert max_refined_by(channel, processed).holds
    assert privacy_refined_by(channel, processed)
    assert refined_by(channel.to_float(), processed.to_float()).holds


@law
@given(st.data(), systems())
def test_refinement_orders_the_leakage_of_every_adversary(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, a = system
    b = data.draw(channels(len(pi)))
    result = refined_by(a, b)
    if result.counterexample is None:
        vulnerability = GVulnerability(data.draw(gains(len(pi), least=-5)))
        assert vulnerability.posterior(pi, b) <= vulnerability.posterior(pi, a)
        return
    shows = GVulnerability(result.counterexample)
    uniform = Prior.uniform(pi.labels)
    assert shows.posterior(uniform, b) > shows.posterior(uniform, a)
    assert 0 <= result.counterexample.matrix.min() <= result.counterexample.matrix.max() <= 1


@law
@given(st.data(), systems())
def test_refinement_is_reflexive_and_transitive(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    pi, a = system
    b, c = data.draw(channels(len(pi))), data.draw(channels(len(pi)))
    assert refined_by(a, a).holds
    if refined_by(a, b).holds and refined_by(b, c).holds:
        assert refined_by(a, c).holds


@law
@given(st.data(), systems())
def test_max_case_counterexamples_separate_an_inner_from_all_others(
    data: st.DataObject, system: tuple[Prior, Channel]
) -> None:
    _, a = system
    b = data.draw(channels(len(a.inputs)))
    result = max_refined_by(a, b)
    uniform = Prior.uniform(a.inputs)
    before, after = Hyper.of(uniform, a), Hyper.of(uniform, b)
    if result.counterexample is not None:
        bet = result.counterexample.matrix[0]
        assert max(bet @ after.inners) > max(bet @ before.inners)
    if result.witness is not None:
        assert (before.inners @ result.witness.matrix.T).tolist() == after.inners.tolist()
