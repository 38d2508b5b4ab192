"""Any result can be shown and drawn, without a notebook."""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.economics import Terms
from glasshouse.errors import StudyError
from glasshouse.language import speaking
from glasshouse.microdata import membership, population_risks, target
from glasshouse.microdata.family import family
from glasshouse.mitigation.local import mondrian, recode_locally
from glasshouse.notebook import _kind_of, _pages
from glasshouse.qif import Channel, Hyper, Prior
from glasshouse.runs.deterring import run_deter
from glasshouse.study.economics import DeterStudy

PEOPLE = pa.table(
    {
        "age": ["20", "20", "30", "30", "30", "40"] * 5,
        "sex": ["F", "M", "F", "F", "M", "<b>"] * 5,
        "illness": ["a", "b", "b", "a", "a", "a"] * 5,
    }
)
UNIFORM = Prior.uniform(["a", "b"])
NOISY = Channel([[0.8, 0.2], [0.3, 0.7]], ["a", "b"], ["y", "z"])
CLEAR = Channel.identity(["a", "b"])


def table() -> gh.EncodedTable:
    return gh.read(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["illness"])


def even() -> gh.EncodedTable:
    people = PEOPLE.set_column(2, "illness", pa.array(["a", "b", "c"] * 10))
    return gh.read(people, quasi_identifiers=["age", "sex"], sensitive=["illness"])


def published() -> gh.groups.Release:
    grouped = PEOPLE.append_column("group", pa.array(["1", "2"] * 15))
    columns = ["age", "sex", "group"]
    read = gh.read(grouped, quasi_identifiers=columns, sensitive=["illness"])
    return gh.groups.from_group_column(read, group="group")


def tiny() -> gh.groups.Release:
    rows = pa.table({"sex": ["F", "M", "F", "M"], "ill": list("abab"), "group": list("1122")})
    read = gh.read(rows, quasi_identifiers=["sex", "group"], sensitive=["ill"])
    return gh.groups.from_group_column(read, group="group")


@cache
def threatened() -> gh.groups.Assessment:
    return gh.groups.threat(published(), table())


def measured() -> gh.groups.Measures:
    found = threatened().measures
    assert found is not None
    return found


@cache
def swept() -> gh.microdata.Sweep:
    return gh.microdata.sweep(table())


def hierarchies() -> dict[str, gh.mitigation.Hierarchy]:
    own = table()
    return {name: gh.mitigation.suggest(own.column(name)) for name in ("age", "sex")}


@cache
def recoded() -> gh.mitigation.Recoding:
    return gh.mitigation.recode(
        table(), hierarchies=hierarchies(), criteria=[gh.mitigation.KAnonymity(10)]
    )


def grouped() -> gh.economics.PeopleGroups:
    return gh.economics.groups_in_register(table(), table())


def summed() -> gh.totals.Instance:
    return gh.totals.instance(
        [["1"], ["2"], ["2"]], [["3"], ["2"]], bin_names=["here", "there"], entities=[2, 1]
    )


@cache
def solved() -> gh.totals.Solution:
    return gh.totals.solve(summed())


RESULTS: dict[str, Callable[[], object]] = {
    "microdata.Assessment": lambda: gh.microdata.assess(table()),
    "microdata.Attack": lambda: gh.microdata.attack(table()),
    "microdata.Attack on a secret": lambda: gh.microdata.attack(table(), sensitive="illness"),
    "microdata.BestSubsets": lambda: gh.microdata.best_subsets(swept()),
    "microdata.Explanation": lambda: gh.microdata.explain(table(), sensitive=["illness"]),
    "microdata.Family": lambda: family([("one", table()), ("two", table())]),
    "microdata.Leakage": lambda: gh.microdata.Leakage(Fraction(1, 4), Fraction(1, 2)),
    "microdata.Leakage of nothing": lambda: gh.microdata.Leakage(Fraction(9), Fraction(9)),
    "microdata.Assessment of linked datasets": lambda: gh.microdata.link(
        table(), [table()], keys=[gh.microdata.LinkKey("sex")]
    ),
    "microdata.Member": lambda: gh.microdata.member(table(), table(), known={"age": "40"}),
    "microdata.Membership": lambda: membership(table(), table()),
    "microdata.MinimalSubsets": lambda: gh.microdata.minimal_subsets(swept(), risk=Fraction(1, 10)),
    "microdata.MinimalSubsets of a secret": lambda: gh.microdata.minimal_subsets(
        swept(), risk=Fraction(1, 2), sensitive="illness", certain=True
    ),
    "microdata.PopulationRisks": lambda: population_risks(table(), fraction=Fraction(1, 10)),
    "microdata.RecordRisks": lambda: gh.microdata.record_risks(table()),
    "microdata.Removals": lambda: gh.microdata.without_each(swept()),
    "microdata.ShapleyValues": lambda: gh.microdata.shapley_values(swept()),
    "microdata.Sweep": swept,
    "microdata.Target": lambda: target(table(), known={"age": "30"}),
    "mitigation.Anatomy": lambda: gh.mitigation.anatomise(even(), l=2),
    "mitigation.Attained": lambda: gh.mitigation.attained(table()),
    "mitigation.Quality": lambda: gh.mitigation.quality(table(), recoded(), hierarchies()),
    "mitigation.Recoding": recoded,
    "mitigation.Recoding in places": lambda: recode_locally(
        table(), hierarchies=hierarchies(), criteria=[gh.mitigation.KAnonymity(10)], seed=1
    ),
    "mitigation.Recoding by cuts": lambda: mondrian(
        table(), hierarchies=hierarchies(), criteria=[gh.mitigation.KAnonymity(10)]
    ),
    "mitigation.Utility": lambda: gh.mitigation.compare_utility(
        table(), recoded().release(table())
    ),
    "groups.Assessment": threatened,
    "groups.Assessment without an original": lambda: gh.groups.threat(published()),
    "groups.ExactKnowledge": lambda: gh.groups.enumerated_fractions(
        tiny(), gh.groups.victims_of_rows(tiny())
    ),
    "groups.Faithfulness": lambda: measured().faithfulness,
    "groups.Knowledge": lambda: threatened().knowledge,
    "groups.Measures": measured,
    "groups.Sampled": lambda: gh.groups.sample(
        tiny(), gh.groups.victims_of_rows(tiny()), gh.groups.Effort(sweeps=200, chains=2)
    ),
    "groups.Threat": lambda: measured().attacker,
    "totals.Exposure": lambda: gh.totals.exposure(
        solved(), gh.totals.Register({"here": 2, "there": 1})
    ),
    "totals.Solution": solved,
    "economics.Baseline": lambda: gh.economics.one_shot(Terms(), range(1, 30)),
    "economics.Curve": lambda: gh.economics.curve(grouped(), Terms(), "penalty", [1.0, 1e5]),
    "economics.Deterrence": lambda: gh.economics.deterrence(
        gh.economics.policy(Terms(), sizes=range(1, 61))
    ),
    "economics.Deterrent": lambda: gh.economics.least(Terms(), "penalty", size=2),
    "economics.Deterrent by size": lambda: gh.economics.least_size(Terms()),
    "economics.Frontier": lambda: gh.economics.frontier(Terms(), [1, 5], parameter="access_cost"),
    "economics.Policy": lambda: gh.economics.policy(Terms(), sizes=range(1, 61)),
    "economics.ReleaseExposure": lambda: gh.economics.exposure(grouped(), Terms()),
    "economics.Sensitivity": lambda: gh.economics.sensitivity(Terms(), "gain", [100.0, 1e4]),
    "economics.Thresholds": lambda: gh.economics.thresholds(Terms()),
    "qif.Capacity": lambda: gh.qif.additive_bayes_capacity(NOISY),
    "qif.Hyper": lambda: Hyper.of(UNIFORM, NOISY),
    "qif.LeakageGap": lambda: gh.qif.leakage_gap(UNIFORM, CLEAR, NOISY),
    "qif.PriorEstimate": lambda: gh.qif.estimate_prior(NOISY, Prior.uniform(["y", "z"])),
    "qif.Refinement": lambda: gh.qif.refined_by(CLEAR, NOISY),
    "qif.Refinement that does not hold": lambda: gh.qif.refined_by(NOISY, CLEAR),
    "qif.ShannonCapacity": lambda: gh.qif.shannon_capacity(NOISY),
    "run of deter": lambda: run_deter(DeterStudy(prior=1.0)),
}
SHOWN_ELSEWHERE = {
    "totals.CampaignResult": "tests/report/test_totals.py",
    "runs.Comparison": "tests/report/test_protections.py",
}
"""Results that take long to make: their pages are tested there."""
WITHOUT_PICTURE = {
    "economics.Deterrent",
    "economics.Deterrent by size",
    "groups.Assessment without an original",
    "groups.ExactKnowledge",
    "groups.Faithfulness",
    "groups.Knowledge",
    "groups.Sampled",
    "groups.Threat",
    "microdata.Leakage of nothing",
    "microdata.MinimalSubsets",
    "microdata.MinimalSubsets of a secret",
    "mitigation.Recoding by cuts",
    "mitigation.Recoding in places",
    "qif.LeakageGap",
    "qif.Refinement",
    "qif.Refinement that does not hold",
}
INPUTS = {
    "microdata": {"EncodedTable", "Fraction", "GainFunction", "Iterator", "dict", "str", "tuple"},
    "mitigation": {"Hierarchy"},
    "groups": {
        *("Original", "Points", "Release", "Victims"),
        *("NDArray", "dict", "int", "np.float", "np.float64", "str", "tuple", "..."),
    },
    "totals": {"Instance", "Register", "TotalsStudy"},
    "economics": {"Floats", "None", "PeopleGroups", "float"},
    "qif": {"Array", "Channel", "None", "Number", "bool", "float"},
}
"""What public functions return that is no result: what others take, and plain numbers."""


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_shown_in_sentences_and_pictures(name: str) -> None:
    shown = gh.show(RESULTS[name](), subject="patient")
    assert shown.sentences
    assert repr(shown).splitlines() == list(shown.sentences)
    page = shown._repr_html_()
    assert page.count("<svg") == len(shown.figures)
    assert bool(shown.figures) == (name not in WITHOUT_PICTURE)
    assert "<script" not in page


@pytest.mark.parametrize(
    "name", [name for name in RESULTS if name.startswith(("microdata.", "economics."))]
)
def test_a_result_is_a_frame_and_plain_values(name: str) -> None:
    result: Any = RESULTS[name]()
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert isinstance(result.to_frame(), pa.Table)


@pytest.mark.parametrize("name", RESULTS)
def test_its_main_picture_is_a_chart_of_altair(name: str) -> None:
    if name in WITHOUT_PICTURE:
        with pytest.raises(StudyError, match=r"there is no picture of this .*; show\(\) tells it"):
            gh.chart(RESULTS[name]())
        return
    drawn = gh.chart(RESULTS[name]())
    assert isinstance(drawn, alt.TopLevelMixin)
    assert drawn.to_dict()["$schema"].startswith("https://vega.github.io/schema/vega-lite")


@pytest.mark.parametrize("name", RESULTS)
def test_it_speaks_portuguese_in_whole_sentences(name: str) -> None:
    english = gh.show(RESULTS[name]()).sentences
    with speaking("pt-BR"):
        told = gh.show(RESULTS[name]()).sentences
    assert len(told) == len(english)
    assert not set(told) & set(english)
    for sentence in (*told, *english):
        assert not re.search(r"\d[eE][+-]\d|\{|\}", sentence), sentence


@pytest.mark.parametrize("name", [name for name in RESULTS if "run" not in name])
def test_the_example_is_of_the_kind_that_it_is_for(name: str) -> None:
    assert _kind_of(RESULTS[name]()) == name.partition(" ")[0]


def test_every_kind_that_can_be_shown_has_an_example() -> None:
    examples = {name.partition(" ")[0] for name in RESULTS} | set(SHOWN_ELSEWHERE)
    assert set(_pages()) <= examples
    root = Path(__file__).parent.parent
    assert all((root / path).exists() for path in SHOWN_ELSEWHERE.values())


@pytest.mark.parametrize("capability", INPUTS)
def test_whatever_a_public_function_returns_can_be_shown(capability: str) -> None:
    module = getattr(gh, capability)
    for name in module.__all__:
        function = getattr(module, name)
        if not inspect.isfunction(function):
            continue
        for kind in _returned(function):
            known = kind in INPUTS[capability] or f"{capability}.{kind}" in _pages()
            assert known, f"{capability}.{name} returns {kind}, which cannot be shown"


def _returned(function: types.FunctionType) -> list[str]:
    """Return the names of the types that a function returns."""
    return re.findall(r"[A-Za-z_.]+", str(inspect.signature(function).return_annotation))


def test_what_is_no_result_is_refused_with_what_could_be_shown() -> None:
    with pytest.raises(StudyError, match=r"int is not a result .* microdata.Assessment"):
        gh.show(3)
