"""Synthetic files beside their people and others: the sweep against the obvious, golden numbers, and the bounds."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from glasshouse.errors import DataError
from glasshouse.microdata import sweep_steps
from glasshouse.microdata.memorisation import (
    SyntheticRelease,
    assess_synthetic,
    chance_of_as_many,
    lower_bounds,
)
from glasshouse.microdata.origins import KnownSets
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Rows = Sequence[tuple[str, ...]]
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
).split(",")


def table_of(rows: Rows, names: Sequence[str], secrets: Sequence[str] = ()) -> EncodedTable:
    columns = {
        name: pa.array([row[place] for row in rows], pa.string())
        for place, name in enumerate(names)
    }
    known = [name for name in names if name not in secrets]
    return read(pa.table(columns), quasi_identifiers=known, sensitive=secrets)


def assessed(
    files: Sequence[Rows], names: Sequence[str], secrets: Sequence[str], **options: Any
) -> SyntheticRelease:
    tables = [table_of(rows, names, secrets) for rows in files]
    known = tuple(name for name in names if name not in secrets)
    return assess_synthetic(*tables, quasi_identifiers=known, sensitive=tuple(secrets), **options)


def obvious(
    synthetic: Rows, people: Rows, known: Sequence[int], secret: int | None
) -> dict[str, Fraction | int | None]:
    """Return all figures of one file of people with one set of columns, by dictionaries, as they are defined."""

    def key(row: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(row[place] for place in known)

    alike, d = Counter(map(key, synthetic)), Counter(map(key, people))
    n = len(people)
    figures: dict[str, Fraction | int | None] = {
        "match": sum(alike[key(row)] > 0 for row in people),
        "single": sum(alike[key(row)] == 1 for row in people),
        "isolated": sum(alike[key(row)] == 1 and d[key(row)] == 1 for row in people),
        "repU": Fraction(sum(alike[q] == 1 and d[q] == 1 for q in d), n),
        "iS": Fraction(sum(d[q] for q in d if alike[q]), n),
    }
    unique = [q for q in d if d[q] == 1]
    figures["UEM"] = Fraction(sum(alike[q] > 0 for q in unique), len(unique)) if unique else None
    if secret is None:
        return figures
    overall = Counter(row[secret] for row in synthetic)

    def best(counts: Counter[str]) -> str:
        return min(counts, key=lambda value: (-counts[value], -overall[value], value))

    s: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in synthetic:
        s[key(row)][row[secret]] += 1
    guess = {q: best(counts) for q, counts in s.items()}
    usual = best(overall)
    dt = Counter((key(row), row[secret]) for row in people)
    figures["right"] = sum(row[secret] == guess.get(key(row), usual) for row in people)
    figures["Dorig"] = Fraction(sum(c for (q, _), c in dt.items() if c == d[q]), n)
    certain = {q for q, counts in s.items() if len(counts) == 1}
    disco = sum(c for (q, t), c in dt.items() if q in certain and s[q][t])
    figures["DiSCO"] = Fraction(disco, n)
    drawn = sum(
        (Fraction(c * s[q][t], s[q].total()) for (q, t), c in dt.items() if q in s), Fraction(0)
    )
    figures["DCAP"] = drawn / n
    told = sum(c for q, c in d.items() if q in certain)
    figures["TCAP"] = Fraction(disco, told) if told else None
    return figures


def rows_of(sets: KnownSets, file: int) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    figures = {name: of.tolist() for name, of in sets.figures(file).items()}
    for row in range(len(sets.masks)):
        counts = {name: int(of[row, file]) for name, of in sets.counts.items()}
        yield sets.names(row), counts | {name: of[row] for name, of in figures.items()}


def check(files: Sequence[Rows], names: Sequence[str], secrets: Sequence[str]) -> None:
    outcome = assessed(files, names, secrets)
    known = [name for name in names if name not in secrets]
    assert [sets.secret for sets in outcome.sets] == [None, *secrets]
    for sets in outcome.sets:
        columns = [*known, *secrets] if sets.secret is None else known
        subsets = [
            chosen for size in range(len(columns) + 1) for chosen in combinations(columns, size)
        ]
        secret = None if sets.secret is None else names.index(sets.secret)
        for file, people in enumerate(files[1:]):
            rows = list(rows_of(sets, file))
            assert [chosen for chosen, _ in rows] == subsets
            for chosen, figures in rows:
                places = [names.index(name) for name in chosen]
                expected = obvious(files[0], people, places, secret)
                assert figures.keys() == expected.keys()
                for name, value in figures.items():
                    right = expected[name]
                    if right is None:
                        assert np.isnan(value), (chosen, name)
                    elif isinstance(right, int):
                        assert value == right, (chosen, name)
                    else:
                        assert value == pytest.approx(float(right), abs=1e-8), (chosen, name)


def random_triple(seed: int) -> tuple[Sequence[Rows], list[str], list[str]]:
    """Return files of many kinds: small or large, with copies or none, with one value or many, with missing ones."""
    random = np.random.default_rng(seed)
    attributes, secrets = int(random.integers(1, 6)), int(random.integers(0, 3))
    names = [f"c{i}" for i in range(attributes + secrets)]
    sizes = random.integers(1, 4 if seed % 7 == 0 else 40, 3).tolist()
    values = random.integers(1, 2 + 4 * (1 + seed % 3), len(names))
    texts = ["", "b", "a", "é", "z", *(f"v{i}" for i in range(20))]
    files: list[list[tuple[str, ...]]] = []
    for size in sizes:
        columns = [random.integers(0, high, size) for high in values]
        files.append([tuple(texts[column[i]] for column in columns) for i in range(size)])
    for copy in range(int(random.integers(0, 1 + sizes[0]))):
        files[0][copy] = files[1][copy % sizes[1]]
    return files, names, names[attributes:]


@pytest.mark.parametrize("part", range(10))
def test_the_sweep_counts_what_dictionaries_count(part: int) -> None:
    for seed in range(part, examples(500, 10), 10):
        check(*random_triple(seed))


@pytest.fixture
def golden(shared: Callable[[str], Path]) -> dict[str, Any]:
    content = json.loads(shared("golden/synthetic.json").read_text(encoding="utf-8"))
    return {case["name"]: case for case in content["synthetic"]}


def test_six_people_by_hand() -> None:
    """With sex and town: F A yes, M A no, M B tie, so yes, which is more frequent; M C and F B are unseen."""
    files = [
        [tuple(row.split()) for row in rows]
        for rows in (
            ["F A yes", "F A yes", "M A no", "M B no", "F C yes", "M B yes"],
            ["F A yes", "M A no", "M B yes", "F C yes", "M C no", "F B no"],
            ["F A no", "M A no", "M B no", "F B yes", "M C yes", "F A yes"],
        )
    ]
    outcome = assessed(files, ["sex", "town", "ill"], ["ill"])
    both = outcome.sets[1]
    assert both.names(3) == ("sex", "town")
    assert {name: counts[3].tolist() for name, counts in both.counts.items()} == {
        "right": [4, 4],
        "match": [4, 4],
        "single": [2, 1],
        "isolated": [2, 1],
    }
    check(files, ["sex", "town", "ill"], ["ill"])


@pytest.mark.parametrize(
    "name", ["six people, by hand", "random 1, 0 copies", "random 2, 10 copies"]
)
def test_golden_integers_of_every_set(name: str, golden: dict[str, Any]) -> None:
    case = golden[name]
    files = [[tuple(row) for row in case[file]] for file in "STH"]
    outcome = assessed(files, case["columns"], [case["secret"]])
    for sets, expected in zip(
        outcome.sets, (case["membership_all_columns"], case["with_secret"]), strict=True
    ):
        rows = [dict(rows_of(sets, file)) for file in range(2)]
        assert len(rows[0]) == len(expected)
        for written, counts in expected.items():
            known = () if written == "(nothing)" else tuple(written.split("+"))
            for entry, count in counts.items():
                kind, file = entry.split("_")
                assert rows["TH".index(file)][known][kind] == count, (written, entry)


@pytest.mark.parametrize("copies", [0, 109])
def test_golden_integers_of_adult(
    copies: int, golden: dict[str, Any], shared: Callable[[str], Path]
) -> None:
    case = golden[f"Adult, every third record, {copies} copies"]
    used = [n for n in ADULT if not n.startswith(("fnlwgt", "education-num", "capital"))]
    places = [ADULT.index(name) for name in used]
    lines = shared("data/adult.data").read_text(encoding="utf-8").split("\n")
    fields = [[field.strip() for field in line.split(",")] for line in lines if line.strip()]
    rows = [tuple(row[place] for place in places) for row in fields]
    trained_on, holdout, synthetic = (rows[start::3] for start in range(3))
    if copies:
        synthetic = [
            trained_on[place] if place % 100 == 0 else row for place, row in enumerate(synthetic)
        ]
    subsets = [written.split("+") for written in case["subsets"]]
    outcome = assessed(
        [synthetic, trained_on, holdout], used, ["income"], subsets=subsets, threads=1
    )
    counted = [
        {frozenset(known): figures for known, figures in rows_of(outcome.sets[1], file)}
        for file in range(2)
    ]
    for written, counts in case["subsets"].items():
        for entry, count in counts.items():
            kind, file = entry.split("_")
            assert counted["TH".index(file)][frozenset(written.split("+"))][kind] == count
    assert outcome.remembered is not None
    assert outcome.remembered.has_copies == bool(copies)


def test_a_few_sets_are_counted_as_all_are() -> None:
    files, names, secrets = random_triple(11)
    whole = {
        (sets.secret, known): figures
        for sets in assessed(files, names, secrets).sets
        for known, figures in rows_of(sets, 0)
    }
    known = [name for name in names if name not in secrets]
    for subsets in ("max:1", [known[:1], known[:2]]):
        some = assessed(files, names, secrets, subsets=subsets)
        for sets in some.sets:
            rows = dict(rows_of(sets, 0))
            assert () in rows
            assert tuple(sets.columns) in rows
            for chosen, figures in rows.items():
                assert figures == pytest.approx(whole[sets.secret, chosen], nan_ok=True)


def test_the_outcome_is_the_same_for_any_number_of_threads() -> None:
    files, names, secrets = random_triple(5)
    one, three = (assessed(files, names, secrets, threads=threads) for threads in (1, 3))
    assert one.to_dict() == three.to_dict()


def test_with_little_room_for_cells_the_counts_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweep_steps, "DENSE_ATTRIBUTES", 1)
    monkeypatch.setattr(sweep_steps, "HASHED_CELLS", 64)
    for seed in (3, 4, 8, 10):
        check(*random_triple(seed))


def test_without_a_holdout_everything_is_counted_and_nothing_is_judged() -> None:
    files, names, secrets = random_triple(5)
    with_holdout, without = assessed(files, names, secrets), assessed(files[:2], names, secrets)
    assert without.remembered is None
    for one, other in zip(without.sets, with_holdout.sets, strict=True):
        for name, counts in one.counts.items():
            assert counts[:, 0].tolist() == other.counts[name][:, 0].tolist()
    assert without.to_dict()["holdout"] is None
    assert without.to_frame().num_rows == with_holdout.to_frame().num_rows


def test_fishers_test_is_the_sum_of_exact_chances() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        people, others = random.integers(1, 40, 2).tolist()
        first, second = int(random.integers(0, people + 1)), int(random.integers(0, others + 1))
        hits = first + second
        exact = Fraction(
            sum(
                comb(people, k) * comb(others, hits - k)
                for k in range(first, min(hits, people) + 1)
                if hits - k <= others
            ),
            comb(people + others, hits),
        )
        assert chance_of_as_many(first, people, second, others) == pytest.approx(float(exact))


def test_bounds_are_those_of_newcombes_examples() -> None:
    """Newcombe 1998, Table II, method 10: lower limits of 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20 and 10/10 - 0/10."""
    for (x, n, y, m), lower in {
        (56, 70, 48, 80): 0.0524,
        (9, 10, 3, 10): 0.1705,
        (10, 10, 0, 20): 0.6791,
        (10, 10, 0, 10): 0.6075,
    }.items():
        bound = lower_bounds(np.array([x]), n, np.array([y]), m, 1.959964)
        assert float(bound[0]) == pytest.approx(lower, abs=5e-5)


def people_of(count: int, seed: int) -> list[tuple[str, ...]]:
    random = np.random.default_rng(seed)
    town, job = random.integers(0, 30, count), random.integers(0, 12, count)
    age = random.integers(0, 80, count)
    ill = (random.random(count) < 0.2 + 0.3 * (age > 60)).astype(int)
    columns = zip(age.tolist(), town.tolist(), job.tolist(), ill.tolist(), strict=True)
    return [tuple(map(str, row)) for row in columns]


NAMES = ["age", "town", "job", "ill"]


def test_copies_are_remembered_and_another_sample_is_not() -> None:
    people, others, fresh = (people_of(1500, seed) for seed in (1, 2, 3))
    copied = assessed([people[:300] + fresh[300:], people, others], NAMES, ["ill"]).remembered
    honest = assessed([fresh, people, others], NAMES, ["ill"]).remembered
    assert copied is not None
    assert honest is not None
    assert copied.remembers
    assert copied.has_copies
    assert Fraction(1, 10) < copied.at_least < Fraction(1, 5)
    assert not honest.remembers
    assert honest.at_least == honest.copied == 0
    assert honest.questions == 2 * 15 + 7
    assert 0 < honest.missed_copies < honest.missed_otherwise < Fraction(1, 5)


def test_a_bound_holds_for_files_of_different_sizes() -> None:
    people, others = people_of(1500, 1), people_of(400, 2)
    remembered = assessed([people, people, others], NAMES, ["ill"]).remembered
    assert remembered is not None
    assert remembered.gate.trained_on == 1500
    assert remembered.at_least < remembered.most.difference
    assert remembered.at_least > Fraction(4, 5)


def test_a_holdout_that_overlaps_is_refused_and_counted() -> None:
    people, others = people_of(1500, 1), people_of(400, 2)
    with pytest.raises(
        DataError, match=r"2\d\d of its 600 records are in .* too, more than chance"
    ):
        assessed([others, people, people[:200] + others], NAMES, ["ill"])


def test_a_holdout_with_the_same_identifiers_is_refused() -> None:
    rows = [(str(i), "a") for i in range(9)]
    tables = [
        read(
            pa.table({"id": [row[0] for row in some], "x": [row[1] for row in some]}),
            quasi_identifiers=["x"],
            id="id",
        )
        for some in (rows, rows[:6], rows[4:])
    ]
    with pytest.raises(DataError, match="2 people of it are in"):
        assess_synthetic(*tables, quasi_identifiers=("x",))
