"""Tables of the synthetic census: counted from the truth, protected as asked for, and answered by their plan."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from glasshouse.synthetic.census_tables import PUBLISHED
from tests.conftest import Glasshouse


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("protection", ["none", "suppressed:4", "rounding:5", "random:3"])
def test_tables_are_of_the_truth_and_protected_as_asked(
    glasshouse: Glasshouse, tmp_path: Path, protection: str
) -> None:
    out = tmp_path / "town"
    words = ["synth", "tables", "--records", "60", "--seed", "3", "--protection", protection]
    assert glasshouse(*words, "--out", str(out)).code == 0
    header, *people = read(out / "truth.csv")
    assert len(people) == 60
    for names in PUBLISHED:
        places = [header.index(name) for name in names]
        true = Counter(tuple(person[place] for place in places) for person in people)
        for *key, shown in read(out / f"{'_'.join(names)}.csv")[1:]:
            count = true[tuple(key)]
            if protection == "suppressed:4" and 1 <= count <= 4:
                assert shown == "*"
            elif protection == "rounding:5":
                assert int(shown) % 5 == 0
                assert abs(int(shown) - count) <= 2
            elif protection == "random:3":
                assert int(shown) % 3 == 0
                assert abs(int(shown) - count) <= 2
            else:
                assert int(shown) == count


def test_the_plan_is_answered_and_the_truth_is_possible(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    out = tmp_path / "town"
    glasshouse("synth", "tables", "--records", "40", "--seed", "1", "--out", str(out))
    done = glasshouse("tables", "--study", str(out / "plan.toml"), "--json", "--time-limit", "5")
    answer = json.loads(done.out)
    header, *people = read(out / "truth.csv")
    possible = {tuple(map(str, values)) for values, _, _ in answer["cells"]}
    places = [header.index(name) for name in answer["attributes"]]
    assert {tuple(person[place] for place in places) for person in people} <= possible


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("tables", "--protection", "magic"), "is not how tables are protected"),
        (("tables", "--protection", "rounding:1"), "is not how tables are protected"),
        (("outpatient", "--protection", "rounding:5"), "--protection is about tables"),
    ],
)
def test_what_is_no_protection_is_one_line(
    glasshouse: Glasshouse, tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    done = glasshouse("synth", *words, "--records", "20", "--out", str(tmp_path / "x.csv"))
    assert done.code == 2
    assert reason in done.error
    assert not (tmp_path / "x.csv").exists()
