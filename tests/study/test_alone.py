"""What a question about records excludes is said once, and refused in one sentence whichever comes first."""

from __future__ import annotations

from typing import Any

import pytest

from glasshouse.errors import StudyError
from glasshouse.study import validated
from glasshouse.study.assess import ALONE, AssessStudy

ASKED: dict[str, dict[str, Any]] = {
    "within": {"within": {"pay": "10%"}},
    "noise": {"noise": {"pay": "response:0.8"}},
    "about": {"about": {"age": "±2"}},
    "likely": {"likely": {"age": "50%"}},
    "weight": {"weight": "w"},
    "household": {"household": "home"},
    "suda": {"suda": 0.01},
    "matches": {"missing_as": "matches"},
    "missing_as": {"missing_as": "apart"},
    "trained_on": {"trained_on": {"path": "t.csv"}},
    "by": {"by": "town"},
    "each": {"each": True},
    "group": {"group": "g"},
    "person": {"person": ("p",)},
    "link": {"links": [{"name": "age"}]},
    "advise": {"advise": True},
    "prior": {"adversary": {"prior": {"path": "prior.csv"}}},
    "prior_weight": {"adversary": {"prior_weight": "v"}},
    "tries": {"adversary": {"gain": {"tries": 2}}},
}
"""How each word is asked."""


def study(*words: str, datasets: int = 1) -> AssessStudy:
    content: dict[str, Any] = {
        "command": "assess",
        "datasets": [{"path": f"{number}.csv"} for number in range(datasets)],
        "adversary": {"quasi_identifiers": ["age", "sex"], "sensitive": ["pay"]},
    }
    for word in words:
        asked = dict(ASKED[word])
        content["adversary"] = content["adversary"] | asked.pop("adversary", {})
        content |= asked
    return validated(AssessStudy, content, "study")


@pytest.mark.parametrize(
    "alone", [one for one in ALONE if one.option in ASKED], ids=lambda one: one.option
)
def test_what_one_question_excludes_is_refused_in_one_line(alone: Any) -> None:
    study(alone.option)
    for word in alone.without:
        if word not in ASKED:
            continue
        with pytest.raises(StudyError) as refused:
            study(alone.option, word)
        assert "\n" not in str(refused.value)
        assert "{" not in str(refused.value)


def test_what_is_not_excluded_goes_together() -> None:
    study("weight", "household", "suda")
    study("weight", "matches")
    study("about", "likely")
