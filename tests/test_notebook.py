"""Any result can be shown and drawn, without a notebook."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import altair as alt
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.errors import StudyError
from glasshouse.microdata import membership, population_risks, target
from glasshouse.microdata.family import family
from glasshouse.runs.deterring import run_deter
from glasshouse.study.economics import DeterStudy

PEOPLE = pa.table(
    {
        "age": ["20", "20", "30", "30", "30", "40"] * 5,
        "sex": ["F", "M", "F", "F", "M", "<b>"] * 5,
        "illness": ["a", "b", "b", "a", "a", "a"] * 5,
    }
)


def table() -> gh.EncodedTable:
    return gh.read(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["illness"])


def published() -> gh.groups.Release:
    grouped = PEOPLE.append_column("group", pa.array(["1", "2"] * 15))
    columns = ["age", "sex", "group"]
    read = gh.read(grouped, quasi_identifiers=columns, sensitive=["illness"])
    return gh.groups.from_group_column(read, group="group")


RESULTS: dict[str, Callable[[], object]] = {
    "assessment": lambda: gh.microdata.assess(table()),
    "sweep": lambda: gh.microdata.sweep(table()),
    "target": lambda: target(table(), known={"age": "30"}),
    "membership": lambda: membership(table(), table()),
    "population": lambda: population_risks(table(), fraction=Fraction(1, 10)),
    "family": lambda: family([("one", table()), ("two", table())]),
    "deter": lambda: run_deter(DeterStudy(prior=1.0)),
    "policy": lambda: gh.economics.policy(gh.economics.Terms(), sizes=range(1, 61)),
    "threat": lambda: gh.groups.threat(published(), table()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_shown_in_sentences_and_pictures(name: str) -> None:
    shown = gh.show(RESULTS[name](), subject="patient")
    assert shown.sentences
    assert repr(shown).splitlines() == list(shown.sentences)
    page = shown._repr_html_()
    assert page.count("<svg") == len(shown.figures) > 0
    assert "<script" not in page


@pytest.mark.parametrize("name", RESULTS)
def test_its_main_picture_is_a_chart_of_altair(name: str) -> None:
    drawn = gh.chart(RESULTS[name]())
    assert isinstance(drawn, alt.TopLevelMixin)
    assert drawn.to_dict()["$schema"].startswith("https://vega.github.io/schema/vega-lite")


def test_what_is_no_result_is_refused_with_what_could_be_shown() -> None:
    with pytest.raises(StudyError, match=r"int is not a result .* microdata.Assessment"):
        gh.show(3)
