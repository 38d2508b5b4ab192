"""A study survives its own file, and says in one line what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import StudyError
from glasshouse.study import dump_study, load_question, load_study, validated
from glasshouse.study.assess import AssessStudy

CONTENT: dict[str, Any] = {
    "datasets": [
        {
            "path": "/data/people.csv",
            "dialect": {
                "separator": "tab",
                "quote": "none",
                "encoding": "latin-1",
                "header": False,
                "names": ["age", "sex", "ill", "pay", "w", "key"],
                "strip": True,
            },
            "types": {"age": "integer"},
        }
    ],
    "adversary": {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["ill", ["ill", "pay"]],
        "identifier": "key",
        "prior_weight": "w",
        "gain": {"worth": {"ill": {"flu": 2, "*": 1.5}}},
    },
    "subsets": ["full", ["sex"]],
    "subject": "student",
}


def test_a_study_reads_back_as_it_was_written(tmp_path: Path) -> None:
    study = validated(AssessStudy, CONTENT, "the study")
    path = tmp_path / "study.toml"
    path.write_text(dump_study(study, version="1.2.3"), encoding="utf-8")
    assert load_study(path) == study


def test_paths_start_at_the_folder_of_the_study(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text('datasets = [{path = "x.csv"}]\n[adversary]\nquasi_identifiers = ["a"]\n')
    assert load_question(path, AssessStudy).datasets[0].path == tmp_path / "x.csv"


def test_subsets_come_by_size_then_in_the_order_given() -> None:
    adversary = {"quasi_identifiers": ["c", "a", "b"]}
    subsets = [["a", "b"], "full", ["b"], ["b", "c"], ["c"], ["b", "a"]]
    study = validated(
        AssessStudy,
        {"datasets": [{"path": "x"}], "adversary": adversary, "subsets": subsets},
        "study",
    )
    assert study.chosen_subsets() == (("c",), ("b",), ("c", "b"), ("a", "b"), ("c", "a", "b"))


def changed(**entries: object) -> dict[str, Any]:
    return CONTENT | {"adversary": CONTENT["adversary"] | entries}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(sensitive=["age"]), 'column "age" is a quasi-identifier and also sensitive'),
        (changed(identifier="sex"), 'column "sex" is a quasi-identifier and also the identifier'),
        (changed(quasi_identifiers=["age", "age"]), 'column "age" is given twice'),
        (changed(quasi_identifiers=[]), "quasi_identifiers"),
        (changed(gain={"tries": 0}), "should be at least 1, not 0"),
        (changed(gain={"tries": 2, "worth": {"ill": {"flu": 1}}}), "tries or worth, not both"),
        (changed(gain={"worth": {"age": {"1": 1}}}), 'worth is given for "age"'),
        (CONTENT | {"subsets": [["sexo"]]}, '"sexo" in a subset is not a quasi-identifier; did'),
        (CONTENT | {"subset": []}, '"subset" is not an entry of a study'),
        (CONTENT | {"subsets": []}, '"subsets": needs at least one entry'),
        (CONTENT | {"subsets": ["some"]}, '"some" are not subsets'),
        (changed(sensitive=[""]), "a secret needs at least one sensitive attribute"),
        (changed(sensitive=[[]]), "a secret needs at least one sensitive attribute"),
        (
            changed(sensitive=[["ill", "pay"], ["pay", "ill"]]),
            "a sensitive attribute is given twice",
        ),
        (
            changed(gain={"worth": {"ill": {"flu": float("nan")}}}),
            "should be a number, not infinite",
        ),
        (changed(gain={"tries": True}), "should be a whole number"),
        (
            CONTENT | {"datasets": [{"path": "x", "dialect": {"separator": "::"}}]},
            "the separator must be one character, not '::'",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(content: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        validated(AssessStudy, content, "the study")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b"a = ", "is not valid TOML"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"", '"datasets" is missing'),
    ],
)
def test_a_file_that_is_no_study_is_refused(tmp_path: Path, written: bytes, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(written)
    with pytest.raises(StudyError, match=r"study\.toml") as caught:
        load_study(path)
    assert message in str(caught.value)


def test_a_study_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot be read"):
        load_study(tmp_path / "none.toml")
