"""Households that are kept together: suppressed as a whole, and alike by their members together."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.errors import GlasshouseError
from tests.conftest import Glasshouse


def people(seed: int, homes: int) -> dict[str, list[str]]:
    """Return households of one to three members, of few ages and towns."""
    chance = random.Random(seed)
    rows = []
    for home in range(homes):
        town = chance.choice("AAAB")
        for _ in range(chance.choice([1, 2, 2, 2, 3])):
            age = chance.choice(["20", "21", "30", "31", "40", "41", "50"])
            rows.append((f"h{home}", town, age, chance.choice(["flu", "cold"])))
    return dict(
        zip(("home", "town", "age", "ill"), map(list, zip(*rows, strict=True)), strict=True)
    )


def compositions(
    columns: dict[str, list[str]], known: list[str]
) -> tuple[Counter[Any], Counter[Any]]:
    """Return how many households have each composition, and how many records each class."""
    members = defaultdict(list)
    for row in zip(columns["home"], *(columns[name] for name in known), strict=True):
        members[row[0]].append(row[1:])
    classes = Counter(one for home in members.values() for one in home)
    return Counter(tuple(sorted(home)) for home in members.values()), classes


def texts(release: Any, names: list[str]) -> dict[str, list[str]]:
    columns = {name: release.column(name) for name in names}
    return {
        name: [column.values.to_pylist()[code] for code in column.codes]
        for name, column in columns.items()
    }


@pytest.mark.parametrize("seed", range(3))
def test_at_least_k_households_of_every_composition_are_left_and_none_in_part(seed: int) -> None:
    data = people(seed, 60)
    run = gh.anonymise(
        pa.table(data),
        quasi_identifiers=["town", "age"],
        sensitive=["ill"],
        k=3,
        suppression=0.2,
        household="home",
        hierarchies={"age": "intervals:10,20,40"},
        drop_suppressed=True,
    )
    left = texts(run.release, ["home", "town", "age"])
    alike, classes = compositions(left, ["town", "age"])
    assert min(alike.values()) >= 3
    assert min(classes.values()) >= 3
    before, after = Counter(data["home"]), Counter(left["home"])
    assert all(after[home] in (0, count) for home, count in before.items())
    assert len(left["home"]) >= 0.8 * len(data["home"])
    homes = run.outcome.after.households
    assert homes.households_alone == homes.named == 0
    assert homes.smallest == min(alike.values())
    measured = {one.measure: one.value for one in run.measures}
    assert measured["household-named"] == 0


def test_without_being_kept_together_the_same_release_gives_households_away() -> None:
    data = people(1, 60)
    words: dict[str, Any] = {
        "quasi_identifiers": ["town", "age"],
        "sensitive": ["ill"],
        "k": 3,
        "suppression": 0.2,
        "hierarchies": {"age": "intervals:10,20,40"},
        "keep": ["home"],
        "drop_suppressed": True,
    }
    loose = gh.anonymise(pa.table(data), **words)
    alike, _ = compositions(texts(loose.release, ["home", "town", "age"]), ["town", "age"])
    assert min(alike.values()) == 1


def test_protect_keeps_households_together_and_judges_them(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    data = people(3, 120)
    file = tmp_path / "people.csv"
    lines = [",".join(data), *map(",".join, zip(*data.values(), strict=True))]
    file.write_text("\n".join(lines) + "\n")
    out = tmp_path / "protected"
    options = [
        "-q",
        "town",
        "-q",
        "age",
        "-s",
        "ill",
        "--suppression",
        "0.1",
        "--household",
        "home",
    ]
    done = glasshouse(
        "protect", str(file), *options, "--policy", "research-file", "--out", str(out)
    )
    assert done.code == 0, done.error
    version = json.loads((out / "manifest.json").read_text())["recommended"]
    again = glasshouse(
        *("assess", str(out / "versions" / version / "release.csv"), "-q", "town", "-q", "age"),
        *("-s", "ill", "--household", "home", "--subsets", "full", "--json"),
    )
    homes = json.loads(again.out)["households"]
    assert homes["one_member"]["named"] == 0
    assert homes["composition"]["smallest"] >= 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"recoding": "local"}, "take `recoding` global"),
        ({"l": 2}, "leave out `household`"),
        ({"household": "ill"}, "has another role"),
        ({"suppression": 0.0, "k": 30}, "at least 30 households of every composition"),
    ],
)
def test_what_cannot_be_kept_together_is_one_line(words: dict[str, Any], reason: str) -> None:
    options: dict[str, Any] = {"k": 3, "household": "home", **words}
    with pytest.raises(GlasshouseError, match=reason):
        gh.anonymise(
            pa.table(people(0, 60)), quasi_identifiers=["town", "age"], sensitive=["ill"], **options
        )


def test_a_record_without_a_household_is_refused() -> None:
    data = people(0, 20)
    data["home"][0] = ""
    with pytest.raises(GlasshouseError, match="a record has no household"):
        gh.anonymise(
            pa.table(data), quasi_identifiers=["town"], sensitive=["ill"], k=2, household="home"
        )
