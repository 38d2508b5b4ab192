"""Columns that were released at random: what they let somebody learn, against the obvious."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse import qif
from glasshouse.errors import BudgetError, GlasshouseError
from glasshouse.microdata import column_noise as module
from glasshouse.microdata import noisy_classes
from glasshouse.microdata.column_noise import column_noise
from glasshouse.study.column_noise import parse_noise
from glasshouse.table import read
from tests.conftest import Glasshouse

HUNDREDTH = Fraction(1, 100)
PRIOR = {"0": Fraction(1, 2), "1": Fraction(3, 10), "2": Fraction(1, 5)}


def release(classes: list[list[int]]) -> pa.Table:
    rows = [(str(place), str(value)) for place, one in enumerate(classes) for value in one]
    return pa.table({"home": [home for home, _ in rows], "ill": [ill for _, ill in rows]})


def test_the_golden_release_by_randomised_response_is_guessed_as_often_as_it_says() -> None:
    # shared/golden/synthetic.json, "PRAM release, matrix known": 445/896.
    data = release([[0, 0, 1], [2], [1, 1, 2, 0]])
    run = gh.assess(
        data,
        quasi_identifiers=["home"],
        sensitive=["ill"],
        noise={"ill": "response:3/5"},
        prior={"ill": {value: float(chance) for value, chance in PRIOR.items()}},
    )
    [found] = run.outcome.noise
    assert found.learned.guessed == Fraction(445, 896)
    assert found.prior == Fraction(1, 2)
    # 3/5 against 1/5 triples the odds of 1 to 99; a guess between two values is right in (3/5 + 3/5 + 1/5) / 2.
    assert found.worst.beliefs[HUNDREDTH] == (Fraction(1, 298), Fraction(3, 102))
    assert found.worst.right == Fraction(7, 10)
    assert found.worst.convinced == found.worst.certain == 0
    [measure] = [one for one in run.measures if one.measure == "noise"]
    assert measure.value == 0


def test_random_matrices_and_classes_are_as_by_trying_every_value() -> None:
    chance = random.Random(41)
    for _ in range(60):
        values = "abcd"[: chance.randint(2, 4)]
        rows = []
        for _ in values:
            weights = [chance.randint(0, 3) for _ in values]
            weights[0] += not any(weights)
            rows.append([Fraction(weight, sum(weights)) for weight in weights])
        channel = qif.Channel(rows, values, values)
        shown = [value for value in values if any(channel[x, value] for x in values)]
        data = [(chance.choice("uvw"), chance.choice(shown)) for _ in range(12)]
        weights = [chance.randint(1, 5) for _ in values]
        prior = {
            x: Fraction(weight, sum(weights)) for x, weight in zip(values, weights, strict=True)
        }
        table = read(
            pa.table({"k": [k for k, _ in data], "z": [z for _, z in data]}),
            quasi_identifiers=["k"],
            sensitive=["z"],
        )
        found = _by_matrix(table, channel, prior)
        right = Fraction(0)
        for k in {k for k, _ in data}:
            of_class = [z for one, z in data if one == k]
            right += max(
                sum(
                    prior[x]
                    * Fraction(channel[x, z])
                    / sum(prior[v] * Fraction(channel[v, z]) for v in values)
                    for z in of_class
                )
                for x in values
            )
        assert found.learned.guessed == right / len(data)
        pairs = [(x, v) for x in values for v in values if x != v]
        most = max(
            HUNDREDTH * p / (HUNDREDTH * p + (1 - HUNDREDTH) * q)
            for x, v in pairs
            for p, q in zip(channel_row(channel, x), channel_row(channel, v), strict=True)
            if p or q
        )
        convinced = max(
            sum(
                (
                    p
                    for p, q in zip(channel_row(channel, x), channel_row(channel, v), strict=True)
                    if p > 99 * q
                ),
                Fraction(0),
            )
            for x, v in pairs
        )
        assert found.worst.convinced == convinced
        assert found.worst.beliefs[HUNDREDTH][1] <= most


def test_swapped_values_are_learned_as_by_the_channel_of_each_group() -> None:
    chance, trials = random.Random(7), 0
    while trials < 40:
        data = [
            (chance.choice("uv"), chance.choice("abc"), chance.choice("xyz")) for _ in range(12)
        ]
        swapped = Fraction(chance.randint(0, 10), 10)
        groups = {g: [z for one, _, z in data if one == g] for g, _, _ in data}
        if any(len(set(values)) < 2 for values in groups.values()):
            continue
        trials += 1
        table = read(
            pa.table({word: [row[place] for row in data] for place, word in enumerate("gkz")}),
            quasi_identifiers=["g", "k"],
            sensitive=["z"],
        )
        found = column_noise(table, "z", parse_noise("z", f"swap:{swapped},within=g"))
        right, most = Fraction(0), Fraction(0)
        for group, values in groups.items():
            tally = {value: values.count(value) for value in set(values)}
            others = len(values) - 1
            shows = {
                (x, y): (1 - swapped) * (x == y) + swapped * Fraction(tally[y] - (x == y), others)
                for x in tally
                for y in tally
            }
            for k in "abc":
                of_class = [z for g, one, z in data if (g, one) == (group, k)]
                right += max(
                    sum(
                        tally[x] * shows[x, z] / sum(tally[v] * shows[v, z] for v in tally)
                        for z in of_class
                    )
                    for x in tally
                )
            for x in tally:
                for v in tally.keys() - {x}:
                    for y in tally:
                        seen = shows[x, y] + 99 * shows[v, y]
                        most = max(most, shows[x, y] / seen if seen else Fraction(0))
        assert found.learned.guessed == right / len(data)
        assert found.prior == Fraction(
            max(sum(z == value for *_, z in data) for value in "xyz"), len(data)
        )
        assert not found.is_estimated
        assert found.worst.beliefs[HUNDREDTH][1] <= most
        assert (found.worst.certain == 1) == (swapped == 0)


def test_swapping_hides_nothing_where_a_group_has_one_value_only() -> None:
    table = read(
        pa.table({"g": list("uuuvvv"), "z": list("xyzxxx")}),
        quasi_identifiers=["g"],
        sensitive=["z"],
    )
    found = column_noise(table, "z", parse_noise("z", "swap:1/2,within=g"))
    assert found.worst.certain == 1
    assert found.learned.guessed == Fraction(1, 6) + Fraction(3, 6)
    assert found.prior == Fraction(4, 6)
    among_all = column_noise(table, "z", parse_noise("z", "swap:1/2"))
    assert among_all.worst.certain == 0


def channel_row(channel: qif.Channel, x: str) -> list[Fraction]:
    return [Fraction(channel[x, y]) for y in channel.outputs]


def _by_matrix(table: Any, channel: qif.Channel, prior: dict[str, Fraction]) -> Any:
    chances = parse_noise("z", "@matrix.csv")
    original = module._matrix
    module._matrix = lambda _: channel  # type: ignore[assignment]
    try:
        return column_noise(table, "z", chances, prior=prior)
    finally:
        module._matrix = original


def test_frequencies_are_estimated_where_nothing_is_said_of_them() -> None:
    data = pa.table({"home": ["a"] * 100, "ill": ["no"] * 68 + ["yes"] * 32})
    run = gh.assess(
        data, quasi_identifiers=["home"], sensitive=["ill"], noise={"ill": "response:0.8"}
    )
    [found] = run.outcome.noise
    # 0.8 p + 0.2 (1 − p) = 0.68, so that four in five said no in truth; one class tells no more.
    assert float(found.prior) == pytest.approx(0.8, abs=1e-4)
    assert float(found.learned.guessed) == pytest.approx(0.8, abs=1e-4)
    assert found.is_estimated
    kept = gh.assess(data, quasi_identifiers=["home"], sensitive=["ill"], noise={"ill": "pram:0.5"})
    matrix = kept.outcome.noise[0].worst
    assert matrix.right == Fraction(3, 4)  # half of the difference of two rows is what is kept


def test_a_matrix_of_a_file_is_told_through_the_command_in_both_languages(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("home,ill\n" + "a,yes\nb,no\n" * 20)
    (tmp_path / "chances.csv").write_text("ill,yes,no\nyes,9/10,1/10\nno,0,1\n")
    options = [
        "assess",
        str(file),
        "-q",
        "home",
        "-s",
        "ill",
        "--noise",
        f"ill=@{tmp_path / 'chances.csv'}",
    ]
    done = glasshouse(*options, "--json", "--out", str(tmp_path / "run"))
    [noise] = json.loads(done.out)["noise"]
    assert noise["certain"] == noise["convinced"] == 0.9  # a yes is never said in vain
    # Half of the yes are nine in ten of all: 5/9 are ill, and of the no one in nine is. Homes: 1, and 8/9.
    assert noise["guess"]["posterior"] == pytest.approx(17 / 18, abs=1e-4)
    said = " ".join(glasshouse(*options).out.split())
    assert "was released at random. Someone who knows which record is whose" in said
    assert "can still become certain of it" in said
    said = " ".join(glasshouse("--lang", "pt-BR", *options[:-1], "ill=response:0.8").out.split())
    assert "pode passar a achar no máximo 3,9 em 100" in said
    again = glasshouse("assess", "--study", str(tmp_path / "run" / "study.toml"), "--json")
    assert json.loads(again.out)["noise"] == [noise]


@pytest.mark.parametrize(
    ("noise", "reason"),
    [
        ("ill=response:1.5", "is none of ill=response:0.8"),
        ("ill=gaussian:2", "is none of ill=response:0.8"),
        ("ill=swap:0.1,within=", "is none of ill=response:0.8"),
        ("ill=pram:0.1,within=home", "is none of ill=response:0.8"),
        ("ill=swap:0.1,within=age", 'swapped within "age"; name that as a'),
        ("home=response:0.5", 'given for "home", which is no single column'),
        ("ill=@missing.csv", "missing.csv"),
        ("ill=@wrong.csv", "add up to 9/10, not to 1"),
        ("ill=@other.csv", "cannot come out of its noise"),
    ],
)
def test_what_is_no_noise_of_a_column_is_one_line(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("home,ill\na,yes\nb,no\n")
    (tmp_path / "wrong.csv").write_text("ill,yes,no\nyes,0.8,0.1\nno,0.5,0.5\n")
    (tmp_path / "other.csv").write_text("ill,maybe,no\nyes,0.8,0.2\nno,0.5,0.5\n")
    done = glasshouse("assess", "people.csv", "-q", "home", "-s", "ill", "--noise", noise)
    assert done.code == 2
    assert reason in done.error
    assert len(done.error.strip().splitlines()) == 1


def test_a_matrix_of_more_chances_than_are_kept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = release([[0, 1, 2], [2, 1, 0]])
    table = read(data, quasi_identifiers=["home"], sensitive=["ill"])
    monkeypatch.setattr(module, "MOST_CHANCES", 9)
    assert column_noise(table, "ill", parse_noise("ill", "response:1/2"))
    monkeypatch.setattr(module, "MOST_CHANCES", 8)
    with pytest.raises(BudgetError, match="3 values released as 3 are too many"):
        column_noise(table, "ill", parse_noise("ill", "response:1/2"))


def test_noise_is_of_one_release_in_one_piece() -> None:
    data = release([[0, 1], [1, 0]])
    with pytest.raises(GlasshouseError, match="in one piece"):
        gh.assess(
            data,
            quasi_identifiers=["home"],
            sensitive=["ill"],
            noise={"ill": "pram:0.5"},
            by="home",
        )


def test_the_verdict_judges_who_knows_the_noise_beside_who_takes_values_for_true(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    """One value is released as either of two: whoever knows that guesses right where released values seem mixed."""
    rows = [("A", "x"), ("A", "y")] * 20 + [("B", "w")] * 40
    path, chances = tmp_path / "t.csv", tmp_path / "chances.csv"
    path.write_text("home,ill\n" + "".join(f"{home},{ill}\n" for home, ill in rows))
    chances.write_text("true,x,y,w\na,0.5,0.5,0\nb,0,0,1\n")
    added = {}
    for noise in ((), ("--noise", f"ill=@{chances}")):
        shown = glasshouse("assess", path, "-q", "home", "-s", "ill", *noise, "--json")
        judged = json.loads(shown.out)["verdict"]["conditions"]
        [added[noise[:1]]] = [one["value"] for one in judged if one["measure"] == "inference-added"]
    assert added == {(): 0.25, ("--noise",): 0.5}


def test_what_records_alike_show_together_is_as_by_every_share_of_every_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Against fractions: which value is more frequent in a class, and by which share of it, each weighed."""
    steps, chance = 4, random.Random(53)
    monkeypatch.setattr(noisy_classes, "STEPS", steps)
    monkeypatch.setattr(noisy_classes, "_CELLS", 40)  # a few classes at once
    for _ in range(12):
        values = "abcd"[: chance.randint(2, 4)]
        rows = []
        for _ in values:
            weights = [chance.randint(0, 3) for _ in values]
            weights[0] += not any(weights)
            rows.append([Fraction(weight, sum(weights)) for weight in weights])
        channel = qif.Channel(rows, values, values)
        shown = [value for value in values if any(channel[x, value] for x in values)]
        data = [tuple(map(chance.choice, ("uvw", "mn", shown))) for _ in range(12)]
        weights = [chance.randint(1, 5) for _ in values]
        prior = {
            x: Fraction(weight, sum(weights)) for x, weight in zip(values, weights, strict=True)
        }
        table = read(
            pa.table({word: [row[place] for row in data] for place, word in enumerate("ksz")}),
            quasi_identifiers=["k", "s"],
            sensitive=["z"],
        )
        found = _by_matrix(table, channel, prior)
        right = {}
        for names in (("k", "s"), ("k",), ("s",)):
            places = ["ks".index(name) for name in names]
            homes = [tuple(row[place] for place in places) for row in data]
            right[names] = sum(
                _right_together(
                    channel,
                    prior,
                    steps,
                    [z for one, (*_, z) in zip(homes, data, strict=True) if one == home],
                )
                for home in set(homes)
            )
        assert float(found.learned.together) == pytest.approx(
            float(max(found.learned.guessed, max(right.values()) / len(data))), abs=1e-9
        )
        if found.learned.alike:
            assert float(right[found.learned.alike]) == pytest.approx(
                float(max(right.values())), abs=1e-8
            )
        assert found.learned.facts is None
        certain = 0
        for home in {row[:2] for row in data}:
            of_class = [z for *one, z in data if tuple(one) == home]
            can_be = {x for x in values for z in of_class if channel[x, z]}
            certain += len(of_class) * (len(can_be) == 1)
        assert found.learned.certain == Fraction(certain, len(data))


def _right_together(
    channel: qif.Channel, prior: dict[str, Fraction], steps: int, shown: list[str]
) -> Fraction:
    weighed: list[tuple[Fraction, dict[str, Fraction]]] = []
    for v, likely in prior.items():
        for step in range(steps + 1):
            share = Fraction(step, steps)
            of_class = {x: (1 - share) * p + share * (x == v) for x, p in prior.items()}
            weight = likely / (steps + 1)
            for z in shown:
                weight *= sum(p * Fraction(channel[x, z]) for x, p in of_class.items())
            weighed.append((weight, of_class))
    total = sum(weight for weight, _ in weighed)
    return max(
        sum(
            weight
            / total
            * of_class[x]
            * Fraction(channel[x, z])
            / sum(p * Fraction(channel[v, z]) for v, p in of_class.items())
            for weight, of_class in weighed
            if weight
            for z in shown
        )
        for x in prior
    ) or Fraction(0)


def test_noise_protects_one_person_and_not_a_town_that_is_all_ill() -> None:
    """Who is alone keeps what response 0.6 gives; of two towns of a thousand one is all ill, which shows."""
    alone = pa.table(
        {"town": ["a", "b"] * 500, "id": list(range(1000)), "ill": ["1"] * 600 + ["0"] * 400}
    )
    found = column_noise(
        read(alone, quasi_identifiers=["id"], sensitive=["ill"]),
        "ill",
        parse_noise("ill", "response:0.6"),
        prior={"0": 0.5, "1": 0.5},
    )
    assert found.learned.guessed == found.learned.together == Fraction(3, 5)
    assert found.learned.alike == ()
    chance = random.Random(3)
    ill = [str(int((place % 2 == 0) == (chance.random() < 0.6))) for place in range(2000)]
    towns = pa.table({"id": list(range(2000)), "town": ["a", "b"] * 1000, "ill": ill})
    found = column_noise(
        read(towns, quasi_identifiers=["id", "town"], sensitive=["ill"]),
        "ill",
        parse_noise("ill", "response:0.6"),
    )
    assert found.learned.guessed < Fraction(62, 100)
    assert found.learned.together > Fraction(95, 100)
    assert found.learned.alike == ("town",)


def test_a_prior_that_rules_out_what_was_released_is_one_line() -> None:
    data = release([[0, 1], [1, 0]])
    with pytest.raises(GlasshouseError, match='"1" was released, which has no chance'):
        gh.assess(
            data,
            quasi_identifiers=["home"],
            sensitive=["ill"],
            noise={"ill": "response:1"},
            prior={"ill": {"0": 1, "1": 0}},
        )
