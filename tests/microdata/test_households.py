"""Households against the obvious: look at every household with dictionaries."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import glasshouse as gh
from glasshouse.errors import BudgetError, GlasshouseError
from glasshouse.microdata import neighbourhoods
from glasshouse.microdata.households import _expected, household_risks
from glasshouse.table import read
from tests.conftest import Glasshouse
from tests.examples import examples


def test_random_households_give_what_looking_at_each_gives() -> None:
    dice = random.Random(4)
    for _ in range(examples(400)):
        rows = [
            (dice.choice(["", *"ABCDEF"]), dice.choice("xyz"), dice.choice("uv"))
            for _ in range(dice.randint(1, 20))
        ]
        homes = [row[0] for row in rows if row[0]]
        table = read(
            pa.table(dict(zip("hab", zip(*rows, strict=True), strict=True))),
            quasi_identifiers=["a", "b"],
            also=["h"],
        )
        if not homes:
            with pytest.raises(GlasshouseError, match="no record has a household"):
                household_risks(table, "h")
            continue
        found = household_risks(table, "h")
        sizes = Counter(row[1:] for row in rows)
        members = {home: [row[1:] for row in rows if row[0] == home] for home in set(homes)}
        best = {home: min(sizes[row] for row in some) for home, some in members.items()}
        kinds = Counter(tuple(sorted(some)) for some in members.values())
        lone = [home for home, some in members.items() if kinds[tuple(sorted(some))] == 1]
        assert (found.records, found.without) == (len(homes), len(rows) - len(homes))
        assert found.alone == sum(row[0] != "" and sizes[row[1:]] == 1 for row in rows)
        assert found.named == sum(best[home] == 1 for home in homes)
        assert found.guessed == sum(Fraction(1, best[home]) for home in homes) / len(homes)
        assert (found.compositions, found.smallest) == (len(kinds), min(kinds.values()))
        assert found.found == Fraction(len(kinds), len(set(homes)))
        assert found.households_alone == len(lone)
        assert found.records_alone == sum(home in lone for home in homes)
        missed = {home: prod(1 - 1 / sizes[row] for row in some) for home, some in members.items()}
        assert found.expected == pytest.approx(sum(1 - missed[home] for home in homes))
        assert found.certain == Fraction(max(found.named, found.records_alone), len(homes))


def agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether two members may be the same: alike on all that both tell."""
    return all(
        not first or not second or first == second for first, second in zip(one, other, strict=True)
    )


def may_be(one: list[tuple[str, ...]], other: list[tuple[str, ...]]) -> bool:
    """Tell whether the members of two households can be paired so that each pair agrees; by trying every order."""
    return len(one) == len(other) and any(
        all(map(agree, one, order)) for order in permutations(other)
    )


def test_where_missing_matches_households_are_alike_if_their_members_can_be_paired() -> None:
    dice = random.Random(8)
    for _ in range(examples(1000, one_of=10)):
        known, missing = dice.randint(1, 3), dice.choice([0, 0.3, 0.6])
        values, names = dice.randint(1, 3), [f"q{place}" for place in range(known)]
        rows = [
            tuple(
                "" if dice.random() < missing else "xyz"[dice.randrange(values)]
                for _ in range(known)
            )
            for _ in range(dice.randint(1, 14))
        ]
        homes = [dice.choice(["", *"ABCDEF"[: dice.randint(3, 6)]]) for _ in rows]
        members = {
            home: [row for row, own in zip(rows, homes, strict=True) if own == home]
            for home in homes
            if home
        }
        if not members or max(map(len, members.values())) > 6:
            continue
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        table = read(pa.table({"h": homes, **columns}), quasi_identifiers=names, also=["h"])
        found = household_risks(table, "h", missing_matches=True)
        sizes = {row: sum(agree(row, other) for other in rows) for row in rows}
        best = {home: min(sizes[row] for row in some) for home, some in members.items()}
        alike = {
            home: sum(may_be(some, other) for other in members.values())
            for home, some in members.items()
        }
        lone = [home for home in members if alike[home] == 1]
        people = sum(map(len, members.values()))
        assert found.alone == sum(sizes[row] == 1 for some in members.values() for row in some)
        assert found.named == sum(len(members[home]) for home in members if best[home] == 1)
        assert (
            found.guessed
            == sum(Fraction(len(members[home]), best[home]) for home in members) / people
        )
        assert found.found == sum(Fraction(1, each) for each in alike.values()) / len(members)
        assert (found.smallest, found.households_alone) == (min(alike.values()), len(lone))
        assert found.records_alone == sum(len(members[home]) for home in lone)
        missed = {home: prod(1 - 1 / sizes[row] for row in some) for home, some in members.items()}
        assert found.expected == pytest.approx(
            sum(len(members[home]) * (1 - missed[home]) for home in members)
        )
        by_class = household_risks(table, "h")
        assert found.compositions == by_class.compositions
        assert found.certain <= by_class.certain
        assert found.found <= by_class.found


def test_too_many_households_that_may_be_alike_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    homes = [*"ABCDEFGH"]  # each of somebody aged so, and of somebody who does not say
    frame = pa.table({"h": 2 * homes, "a": [*map(str, range(8)), *([""] * 8)]})
    table = read(frame, quasi_identifiers=["a"], also=["h"])
    assert household_risks(table, "h", missing_matches=True).smallest == 8
    monkeypatch.setattr(neighbourhoods, "MOST_LOOKUPS", 40)  # 36 to compare records, 72 households
    with pytest.raises(BudgetError, match="too many to match"):
        household_risks(table, "h", missing_matches=True)


def test_the_guide_has_the_same_household_risk() -> None:
    """IHSN, SDC for Microdata: A Practice Guide, "Household risk": members of 0.02, 0.03 and 0.03 have 0.078."""
    risk = _expected(np.zeros(3, np.int64), np.array([0.02, 0.03, 0.03]), np.array([3])) / 3
    assert round(risk, 3) == 0.078


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Forty households of a couple and a child; the ages of the last family are rare."""
    rows = [
        f"{home},{age},{sex},{home % 3}"
        for home in range(40)
        for age, sex in (("30", "F"), ("30", "M"), ("5" if home < 39 else "17", "F"))
    ]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(["home,age,sex,ill", *rows]) + "\n", encoding="utf-8")
    return path


KNOWN = ("-q", "age", "-q", "sex", "-s", "ill")


def test_households_are_in_the_report_the_json_the_verdict_and_rules(
    survey: Path, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    asked = ("assess", survey, *KNOWN, "--household", "home")
    content = json.loads(glasshouse(*asked, "--json").out)
    assert content["households"]["one_member"] == {
        "alone": 1,
        "named": 3,
        "named_share": 3 / 120,
        "best_guess": pytest.approx((39 * 3 / 39 + 3) / 120),
        "sdcmicro_expected": pytest.approx(39 * 3 * (1 - (39 / 40) ** 2 * 38 / 39) + 3),
        "sdcmicro_global": pytest.approx((39 * 3 * (1 - (39 / 40) ** 2 * 38 / 39) + 3) / 120),
    }
    assert content["households"]["composition"]["records_alone"] == 3
    plain = json.loads(glasshouse("assess", survey, *KNOWN, "--drop", "home", "--json").out)
    assert content["results"] == plain["results"]
    assert "so are the others" in " ".join(glasshouse(*asked).out.split())
    assert "mora junto" in " ".join(glasshouse(*asked, "--lang", "pt").out.split())
    rule = tmp_path / "rule.toml"
    for limit, code in (("0.02", 4), ("0.03", 0)):
        rule.write_text(
            f'name = "homes"\n[[conditions]]\nmeasure = "household-named"\nat_most = {limit}\n',
            encoding="utf-8",
        )
        judged = glasshouse("check", survey, *KNOWN, "--household", "home", "--policy", rule)
        assert judged.code == code, (judged.out, judged.error)
        assert "who lives together: home" in " ".join(judged.out.split())
    named = [
        next(one["value"] for one in judged["verdict"]["conditions"] if one["measure"] == "named")
        for judged in (plain, content)
    ]
    assert named == [pytest.approx(1 / 120), pytest.approx(3 / 120)]
    run = gh.assess(survey, quasi_identifiers=["age", "sex"], household="home")
    assert run.outcome.households.households == 40


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--household", "age"), "has another role"),
        (("--household", "home", "--by", "sex"), "leave it out, or --by"),
        (("--household", "house"), 'column "house" is not in'),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    survey: Path, glasshouse: Glasshouse, words: tuple[str, ...], why: str
) -> None:
    refused = glasshouse("assess", survey, *KNOWN, *words)
    assert refused.code == 2
    assert why in refused.error
    assert len(refused.error.strip().splitlines()) == 1


def test_check_in_memory_asks_of_households_and_missing_values_what_a_file_is_asked(
    tmp_path: Path,
) -> None:
    people = pa.table(
        {
            "age": [*["30", "30", "40", "40", "50", None] * 4, "90"],
            "sex": [*["f", "f", "m", "m", "f", "f"] * 4, "m"],
            "home": [*(str(place // 2) for place in range(24)), "0"],
        }
    )
    path = tmp_path / "people.csv"
    pa.csv.write_csv(people, path)
    known: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "policy": "internal"}
    questions: list[dict[str, Any]] = [
        {"household": "home"},
        {"missing_as": "matches", "drop": ["home"]},
        {"missing_as": "matches", "household": "home"},
    ]
    for asked in questions:
        in_memory, in_file = (gh.check(data, **known, **asked) for data in (people, path))
        assert in_memory.to_dict()["conditions"] == in_file.to_dict()["conditions"]
        plain = gh.check(people, **known, drop=["home"])
        assert in_memory.to_dict()["conditions"] != plain.to_dict()["conditions"]
