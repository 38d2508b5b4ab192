"""Every quantity against libqif: its recorded values everywhere, itself where it is installed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasshouse.qif import (
    BayesRisk,
    BayesVulnerability,
    Channel,
    DecisionMeasure,
    GainFunction,
    GuessingEntropy,
    GVulnerability,
    Hyper,
    Joint,
    LRisk,
    Measure,
    PredicateRisk,
    PredicateVulnerability,
    Prior,
    ShannonEntropy,
    additive_capacity,
    bayes_risk_capacity,
    estimate_prior,
    is_private,
    leakage_gap,
    max_refined_by,
    multiplicative_bayes_capacity,
    predicate_capacity,
    predicate_risk_capacity,
    privacy_refined_by,
    refined_by,
    shannon_capacity,
    smallest_epsilon,
    smallest_epsilon_of,
    spanning_additive_capacity,
)

RECORDED = json.loads((Path(__file__).parent / "libqif_values.json").read_text("utf-8"))
LOOSE = {  # libqif's own accuracy, where an iteration or a linear programme is stopped
    "shannon.add_capacity": 2e-6,
    "channel.iterative_bayesian_update": 1e-5,
    "refinement.add_metric": 1e-8,
}


class System:
    """One recorded case: the same numbers as libqif was given."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.channel = Channel(_fractions(case["channel"]))
        self.other = Channel(_fractions(case["other"]))
        self.pi = Prior(_fractions(case["prior"]))
        self.gain = GainFunction(_fractions(case["gain"]))
        self.loss = GainFunction(_fractions(case["loss"]))
        self.predicate = lambda secret: bool(case["predicate"][secret])

    def measures(self) -> dict[str, Measure]:
        return {
            "bayes_vuln": BayesVulnerability(),
            "bayes_risk": BayesRisk(),
            "g_vuln": GVulnerability(self.gain),
            "l_risk": LRisk(self.loss),
            "shannon": ShannonEntropy(),
            "guessing": GuessingEntropy(),
            "pred_vuln": PredicateVulnerability(self.predicate),
            "pred_risk": PredicateRisk(self.predicate),
        }

    def quantities(self) -> dict[str, Callable[[], Any]]:
        """What we compute for each of libqif's function names."""
        pi, channel, other, predicate = self.pi, self.channel, self.other, self.predicate
        line, discrete = _line, _discrete
        found: dict[str, Callable[[], Any]] = {
            "bayes_vuln.mult_capacity": lambda: multiplicative_bayes_capacity(channel),
            "bayes_risk.mult_capacity": lambda: bayes_risk_capacity(channel).value,
            "g_vuln.add_capacity": lambda: additive_capacity(pi, channel),
            "g_vuln.add_capacity.one_spanning_g": lambda: spanning_additive_capacity(pi, channel),
            "g_vuln.g_from_posterior": lambda: GVulnerability(self.gain.through(channel)).prior(pi),
            "pred_vuln.mult_capacity": lambda: (
                predicate_capacity(channel, predicate=predicate).value
            ),
            "pred_risk.mult_capacity": lambda: (
                predicate_risk_capacity(channel, predicate=predicate).value
            ),
            "shannon.add_capacity": lambda: shannon_capacity(channel).lower,
            "d_privacy.smallest_epsilon": lambda: smallest_epsilon(channel, distance=line),
            "d_privacy.smallest_epsilon.discrete": lambda: smallest_epsilon(
                channel, distance=discrete
            ),
            "d_privacy.is_private": lambda: is_private(channel, distance=line),
            "d_privacy.prior": lambda: smallest_epsilon_of(pi, distance=line),
            "channel.parallel": lambda: channel.parallel(other).matrix,
            "channel.iterative_bayesian_update": lambda: (
                estimate_prior(
                    channel, Joint.of(pi, channel).outers(), max_change=1e-6
                ).prior.probabilities
            ),
            "refinement.refined_by": lambda: refined_by(channel, other).holds,
            "refinement.refined_by.converse": lambda: refined_by(other, channel).holds,
            "refinement.max_refined_by": lambda: max_refined_by(channel, other).holds,
            "refinement.priv_refined_by": lambda: privacy_refined_by(channel, other),
            "refinement.add_metric": lambda: leakage_gap(pi, channel, other).value,
        }
        for name, measure in self.measures().items():
            found |= {
                f"{name}.prior": partial(measure.prior, pi),
                f"{name}.posterior": partial(measure.posterior, pi, channel),
                f"{name}.add_leakage": partial(measure.additive_leakage, pi, channel),
                f"{name}.mult_leakage": partial(measure.multiplicative_leakage, pi, channel),
            }
        return found


CASES = [pytest.param(case, id=case["name"]) for case in RECORDED["cases"]]


@pytest.mark.parametrize("case", CASES)
def test_every_quantity_equals_what_libqif_computed(case: dict[str, Any]) -> None:
    system = System(case)
    for name, compute in system.quantities().items():
        if name in case["libqif"]:
            _assert_equal(compute(), case["libqif"][name], name)


@pytest.mark.parametrize("case", CASES)
def test_floats_give_what_libqif_computed_as_well(case: dict[str, Any]) -> None:
    system = System(case)
    system.pi, system.channel = system.pi.to_float(), system.channel.to_float()
    for name, measure in system.measures().items():
        expected = _number(case["libqif"][f"{name}.posterior"])
        assert measure.posterior(system.pi, system.channel) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_hyper_and_reduced_channel_have_the_columns_of_libqif(case: dict[str, Any]) -> None:
    system = System(case)
    outers, inners = case["libqif"]["channel.hyper"]
    ours = Hyper.of(system.pi, system.channel).reduced()
    theirs = [
        [outer, *column] for outer, column in zip(outers, zip(*inners, strict=True), strict=True)
    ]
    weighted = np.vstack([ours.outers.probabilities, ours.inners])
    # libqif leaves merged columns behind with probability 0.
    assert _columns(weighted) == sorted(c for c in _fractions(theirs) if c[0] > 0)
    reduced = [
        c for c in zip(*_fractions(case["libqif"]["channel.reduced"]), strict=True) if any(c)
    ]
    assert _columns(system.channel.reduced().matrix) == sorted(map(list, reduced))


@pytest.mark.parametrize("case", CASES)
def test_strategies_are_those_of_libqif(case: dict[str, Any]) -> None:
    system = System(case)
    for name, measure in system.measures().items():
        if isinstance(measure, DecisionMeasure) and f"{name}.strategy" in case["libqif"]:
            chosen = dict(enumerate(case["libqif"][f"{name}.strategy"]))
            ours = measure.strategy(system.pi, system.channel)
            assert ours.items() <= chosen.items()


@pytest.mark.parametrize("case", CASES)
def test_binary_channel_is_the_joint_of_the_predicate(case: dict[str, Any]) -> None:
    system = System(case)
    joint = Joint.of(system.pi, system.channel).mapped(system.predicate)
    for row, kind in enumerate([True, False]):
        share = case["libqif"]["pred_vuln.binary_channel"][0][row]
        assert float(joint.prior()[kind]) == pytest.approx(share)
        if share > 0:
            expected = case["libqif"]["pred_vuln.binary_channel"][1][row]
            found = joint.matrix[joint.secrets.index(kind)] / joint.prior()[kind]
            assert found.astype(float) == pytest.approx(expected)


def test_installed_libqif_agrees_on_random_systems() -> None:
    reason = "libqif (PyPI: qif) has wheels for x86-64 only"
    qif = pytest.importorskip("qif", reason=reason, exc_type=ImportError)
    generator = np.random.default_rng(7)
    for _ in range(50):
        secrets, observations = generator.integers(2, 7, size=2)
        matrix = generator.dirichlet(np.ones(observations), size=secrets)
        pi = generator.dirichlet(np.ones(secrets))
        gains = generator.uniform(-1, 2, size=(3, secrets))
        ours = GVulnerability(GainFunction(gains)).posterior(Prior(pi), Channel(matrix))
        assert ours == pytest.approx(qif.measure.g_vuln.posterior(gains, pi, matrix))
        for name, measure in {
            "bayes_vuln": BayesVulnerability(),
            "guessing": GuessingEntropy(),
            "shannon": ShannonEntropy(),
        }.items():
            theirs = getattr(qif.measure, name).posterior(pi, matrix)
            assert measure.posterior(Prior(pi), Channel(matrix)) == pytest.approx(theirs)


def _assert_equal(found: Any, recorded: Any, name: str) -> None:
    if isinstance(recorded, bool):
        assert found is recorded, name
    elif isinstance(recorded, list):
        expected = np.vectorize(lambda v: float(Fraction(v)))(np.array(recorded, dtype=object))
        assert np.asarray(found, dtype=float) == pytest.approx(expected, abs=LOOSE.get(name, 1e-12))
    elif isinstance(recorded, str) and isinstance(found, Fraction):
        assert found == Fraction(recorded), name
    else:
        assert found == pytest.approx(_number(recorded), abs=LOOSE.get(name, 1e-9)), name


def _number(recorded: Any) -> float:
    return math.inf if recorded == "inf" else float(Fraction(recorded))


def _fractions(texts: Any) -> Any:
    return [_fractions(t) for t in texts] if isinstance(texts, list) else Fraction(texts)


def _columns(matrix: Any) -> list[list[Fraction]]:
    return sorted(list(column) for column in matrix.T)


def _line(x: Any, other: Any) -> float:
    return float(abs(x - other))


def _discrete(x: Any, other: Any) -> float:
    return float(x != other)
