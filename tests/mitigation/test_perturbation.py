"""Randomised releases: the risk that is told equals that of the channel found by enumerating every original table."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from math import prod
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.microdata import assess, attack, inexact_knowledge
from glasshouse.mitigation import perturbation
from glasshouse.mitigation.perturbation import (
    assess_randomised,
    exchange_ranks,
    noise,
    perturbation_risk,
    randomise,
    rank_exchange,
    retention,
    sample_records,
)
from glasshouse.qif import BayesVulnerability, Channel, Hyper, Prior
from glasshouse.table import EncodedColumn, EncodedTable, read
from tests.conftest import Glasshouse
from tests.examples import examples
from tests.mitigation.test_local import rows_of, texts

NAMES = ["age", "sex"]
ROWS = st.lists(
    st.tuples(st.sampled_from(["20", "21", "22"]), st.sampled_from(["f", "m"])),
    min_size=1,
    max_size=4,
)


def people(rows: list[tuple[str, str]]) -> EncodedTable:
    ages, sexes = zip(*rows, strict=True)
    return read(pa.table({"age": ages, "sex": sexes}), quasi_identifiers=NAMES)


def enumerated(
    rows: list[tuple[str, str]], released: list[tuple[str, ...]], matrices: dict[str, Channel]
) -> Fraction:
    """Return the posterior of the adversary, over every table that the release may come from.

    Each true record is drawn by how frequent it is; the target is a random one of them, whose values she sees.
    """
    frequent = Counter(rows)
    count = len(rows)

    def chance(true: tuple[str, ...], seen: tuple[str, ...]) -> Fraction:
        cells = zip(NAMES, true, seen, strict=True)
        return prod(
            (
                Fraction(matrices[name][x, y]) if name in matrices else Fraction(x == y)
                for name, x, y in cells
            ),
            start=Fraction(1),
        )

    joint = [dict.fromkeys(frequent, Fraction(0)) for _ in range(count)]
    for table in product(frequent, repeat=count):
        weight = prod(
            (
                Fraction(frequent[true], count) * chance(true, seen)
                for true, seen in zip(table, released, strict=True)
            ),
            start=Fraction(1),
        )
        for place, true in enumerate(table):
            joint[place][true] += weight
    matrix = [[part / sum(row.values()) for part in row.values()] for row in joint]
    channel = Channel(matrix, inputs=range(count), outputs=frequent)
    return Fraction(BayesVulnerability().posterior(Prior.uniform(range(count)), channel))


@settings(max_examples=examples(40), deadline=None)
@given(ROWS, st.sampled_from(["0", "0.5", "0.9", "1"]), st.booleans(), st.integers(0, 5))
def test_the_risk_of_a_randomised_release_is_that_of_its_enumerated_channel(
    rows: list[tuple[str, str]], keep: str, uniform: bool, seed: int
) -> None:
    table = people(rows)
    matrices = {
        "age": noise(table.column("age"), "0.5"),
        "sex": retention(table.column("sex"), keep, uniform=uniform),
    }
    release = randomise(table, matrices, seed=seed)
    risk = perturbation_risk(table, release, matrices)
    assert risk.posterior == enumerated(rows, rows_of(release, NAMES), matrices)
    assert risk.prior <= risk.posterior <= 1


@given(ROWS)
def test_matrices_that_change_nothing_give_the_risk_of_the_table_itself(
    rows: list[tuple[str, str]],
) -> None:
    table = people(rows)
    matrices = {name: retention(table.column(name), 1) for name in NAMES}
    release = randomise(table, matrices)
    assert rows_of(release, NAMES) == rows_of(table, NAMES)
    risk = perturbation_risk(table, release, matrices)
    assert risk.posterior == risk.unchanged == attack(table).probabilistic.posterior


@given(st.lists(st.sampled_from(["1", "2", "10"]), min_size=1, max_size=6), st.integers(1, 3))
def test_the_matrix_of_exchanged_ranks_counts_every_order_of_each_stretch(
    values: list[str], window: int
) -> None:
    column = read(pa.table({"x": values})).column("x")
    order = sorted(values, key=float)
    cuts = [window * number for number in range(1, max(1, len(values) // window))]
    pairs: Counter[tuple[str, str]] = Counter()
    shares: dict[tuple[str, str], Fraction] = {}
    for begin, end in zip([0, *cuts], [*cuts, len(values)], strict=True):
        stretch = order[begin:end]
        orders = list(permutations(stretch))
        for dealt in orders:
            pairs.update(zip(stretch, dealt, strict=True))
        for pair, count in pairs.items():
            shares[pair] = shares.get(pair, Fraction(0)) + Fraction(count, len(orders))
        pairs.clear()
    matrix = rank_exchange(column, window)
    for x in set(values):
        for y in set(values):
            assert matrix[x, y] == shares.get((x, y), Fraction(0)) / values.count(x)


def test_exchanged_numbers_stay_as_often_as_they_were_and_near_their_rank() -> None:
    values = [str(number) for number in range(100)]
    table = read(pa.table({"x": values}))
    release = exchange_ranks(table, "x", window=10, seed=1)
    released = texts(release, "x")
    assert sorted(released) == sorted(values)
    assert released != values
    assert all(int(x) // 10 == int(y) // 10 for x, y in zip(values, released, strict=True))


def test_values_are_drawn_as_the_matrix_says_and_the_same_seed_draws_the_same() -> None:
    table = read(pa.table({"x": ["a"] * 9_000 + ["b"] * 1_000}))
    matrix = {"x": retention(table.column("x"), "0.5", uniform=True)}
    release = randomise(table, matrix, seed=3)
    drawn = Counter(zip(texts(table, "x"), texts(release, "x"), strict=True))
    assert abs(drawn["a", "b"] - 9_000 / 4) < 5 * (9_000 * 3 / 16) ** 0.5
    assert texts(randomise(table, matrix, seed=3), "x") == texts(release, "x")
    assert texts(randomise(table, matrix, seed=4), "x") != texts(release, "x")


def test_what_cannot_be_drawn_is_refused() -> None:
    table = read(pa.table({"x": ["1", "2.5"]}), quasi_identifiers=["x"])
    column = table.column("x")
    with pytest.raises(DataError, match="lies between two steps of 1"):
        noise(column, "0.5")
    assert noise(column, "0.5", step="0.5").outputs == ("1", "1.5", "2", "2.5")
    with pytest.raises(StudyError, match="a chance from 0 to 1, not 2"):
        retention(column, 2)
    with pytest.raises(StudyError, match="from 1 on, not 0"):
        rank_exchange(column, 0)
    other = retention(read(pa.table({"x": ["1"]})).column("x"), 1)
    with pytest.raises(DataError, match=r'the value "2\.5" is not in its matrix'):
        randomise(table, {"x": other})


def inferred(
    rows: list[tuple[str, str]], released: list[tuple[str, ...]], matrices: dict[str, Channel]
) -> Fraction:
    """Return how often the sex of a random person is guessed right, over every table that the release may come from.

    Each true age and each true sex is drawn by how frequent it is; she sees the age of a random person.
    """
    ages, sexes = (Counter(column) for column in zip(*rows, strict=True))
    count = len(rows)
    chances: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    whole = Fraction(0)
    for table in product(product(ages, sexes), repeat=count):
        weight: Fraction | float = prod(
            (
                Fraction(ages[age] * sexes[sex], count**2)
                * (matrices["age"][age, seen[0]] if "age" in matrices else int(age == seen[0]))
                * (matrices["sex"][sex, seen[1]] if "sex" in matrices else int(sex == seen[1]))
                for (age, sex), seen in zip(table, released, strict=True)
            ),
            start=Fraction(1),
        )
        whole += Fraction(weight)
        for person in table:
            chances[person] += Fraction(weight) / count
    return sum(max(chances[age, sex] for sex in sexes) for age in ages) / whole


@settings(max_examples=examples(25), deadline=None)
@given(ROWS.filter(lambda rows: len(rows) < 4), st.sampled_from(["age", "sex", "age sex", ""]))
def test_inference_from_a_randomised_release_is_that_of_its_enumerated_channel(
    rows: list[tuple[str, str]], randomised: str
) -> None:
    table = people(rows).with_roles(quasi_identifiers=["age"], sensitive=["sex"])
    every = {
        "age": noise(table.column("age"), "0.5"),
        "sex": retention(table.column("sex"), "0.7"),
    }
    matrices = {name: every[name] for name in randomised.split()}
    release = randomise(table, matrices, seed=3)
    naming, inferring = assess_randomised(table, release, matrices).attacks
    assert inferring.probabilistic.posterior == inferred(rows, rows_of(release, NAMES), matrices)
    assert inferring.certain == 0 or "sex" not in matrices or len({row[1] for row in rows}) == 1
    if not matrices:
        by_itself = assess(table).attacks
        for randomly, plainly in zip((naming, inferring), by_itself, strict=True):
            assert randomly.probabilistic == plainly.probabilistic
            assert randomly.deterministic == plainly.deterministic
            assert randomly.certain == plainly.certain
            assert randomly.class_sizes == plainly.class_sizes


def test_doubles_tell_what_fractions_do(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(str(20 + i % 7), "fm"[i % 2]) for i in range(30)]
    table = people(rows).with_roles(quasi_identifiers=["age"], sensitive=["sex"])
    matrices = {"age": noise(table.column("age"), "0.5")}
    release = randomise(table, matrices, seed=1)
    exactly = assess_randomised(table, release, matrices)
    monkeypatch.setattr(perturbation, "EXACT_CELLS", 0)
    nearly = assess_randomised(table, release, matrices)
    assert exactly.exact
    assert not nearly.exact
    for one, other in zip(exactly.attacks, nearly.attacks, strict=True):
        assert float(one.probabilistic.posterior) == pytest.approx(
            float(other.probabilistic.posterior)
        )
        assert one.class_sizes == other.class_sizes


def test_a_sample_is_drawn_by_its_seed_and_is_of_the_size_asked_for() -> None:
    table = people([(str(20 + i % 3), "fm"[i % 2]) for i in range(25)])
    drawn = sample_records(table, "0.1", seed=4)
    assert drawn.records == 3  # 2.5, rounded half up
    assert rows_of(drawn, NAMES) == rows_of(sample_records(table, "0.1", seed=4), NAMES)
    assert sample_records(table, 1).records == 25
    with pytest.raises(StudyError, match="above 0 and at most 1"):
        sample_records(table, 0)


def test_a_matrix_of_too_many_chances_is_refused() -> None:
    column = read(pa.table({"pay": [str(i) for i in range(2_000)]})).column("pay")
    makers: list[Callable[[], Channel]] = [
        lambda: retention(column, "0.5"),
        lambda: noise(column, "0.5"),
        lambda: rank_exchange(column, 3),
    ]
    for maker in makers:
        with pytest.raises(BudgetError, match="too many for a matrix"):
            maker()


def kernel_file(path: Path, column: EncodedColumn, matrix: Channel) -> None:
    """Write what is true where a value is released, as docs/people.md does."""
    counts = zip(column.values.to_pylist(), column.tally.tolist(), strict=True)
    records = int(column.tally.sum())
    true = Prior.of({value: Fraction(count, records) for value, count in counts})
    told = Hyper.of(true, matrix)
    rows = [[seen, *(told.inner(seen)[one] for one in true.support)] for seen in told.observations]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["released", *true.support], *rows])


MATRICES: dict[str, Callable[[EncodedColumn], Channel]] = {
    "pram": lambda column: retention(column, "0.8"),
    "uniform": lambda column: retention(column, "0.6", uniform=True),
    "noise": lambda column: noise(column, "0.5"),
    "exchange": lambda column: rank_exchange(column, 3),
}


@pytest.mark.parametrize("way", MATRICES)
def test_a_release_with_errors_is_the_same_channel_by_a_file_of_chances(
    way: str, tmp_path: Path
) -> None:
    """Of one column that was changed at random, `about` reads the matrix turned round and finds the same."""
    for seed in range(6):
        chance = random.Random(seed)
        columns = {
            "age": [str(chance.randrange(20, 26)) for _ in range(12)],
            "ill": [chance.choice("xyz") for _ in range(12)],
        }
        table = read(pa.table(columns), quasi_identifiers=["age"], sensitive=["ill"])
        matrix = MATRICES[way](table.column("age"))
        release = randomise(table, {"age": matrix}, seed=seed)
        kernel_file(tmp_path / "kernel.csv", table.column("age"), matrix)
        known = inexact_knowledge(release, {"age": f"@{tmp_path / 'kernel.csv'}"})
        attacks = assess_randomised(table, release, {"age": matrix}).attacks
        for target, same in zip(known.targets, attacks, strict=True):
            assert target.guess().posterior == same.probabilistic.posterior
            assert target.guess().prior == same.probabilistic.prior


def test_a_run_of_anonymise_and_a_file_of_chances_say_the_same(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("ABCD"[i * i % 7 % 4], "yn"[i % 5 > 1]) for i in range(60)]
    Path("people.csv").write_text("town,ill\n" + "".join(f"{a},{b}\n" for a, b in rows))
    asked = ("people.csv", "-q", "town", "-s", "ill", "--perturb", "town=pram:0.8")
    made = glasshouse("anonymise", *asked, "--out", "protected", "--json")
    assert made.code == 0, made.error
    rule = json.loads(Path("protected/manifest.json").read_text())["parameters"]["perturb"]
    column = read("people.csv").column("town")
    kernel_file(Path("kernel.csv"), column, retention(column, rule["town"].removeprefix("pram:")))
    words = ("protected/release.csv", "-q", "town", "-s", "ill", "--about", "town=@kernel.csv")
    outcome = glasshouse("assess", *words, "--json")
    assert outcome.code == 0, outcome.error
    targets = json.loads(outcome.out)["inexact"]["targets"]
    after = json.loads(made.out)["after"]
    assert [target["subsets"][-1]["posterior"] for target in targets] == [
        attack["probabilistic"]["posterior"] for attack in after
    ]
