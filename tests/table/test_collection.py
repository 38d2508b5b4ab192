from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import assess, attack, sweep
from glasshouse.qif import BayesVulnerability, Certainty, CoOccurrence
from glasshouse.table import (
    Collection,
    EncodedTable,
    Role,
    collect,
    load_table,
    one_record_each,
    read,
)
from glasshouse.table.codes import mapping
from glasshouse.table.partition import with_facts_joined

FIRST = {
    "id": "1 2 3 4 5 6 7 8 9 10".split(),
    "gender": "F F F M M F F F M M".split(),
    "grade": "A A C B B C C E D D".split(),
    "disability": "no yes yes yes no yes yes no no no".split(),
}
SECOND = {"id": "1 2 3 4 5 6 7 8 9 11".split(), "grade": "B A C B B D C E D A".split()}


def published() -> Collection:
    """Alvim et al. 2022, Table 3."""
    return collect([focal(FIRST), auxiliary(SECOND)])


def focal(data: dict[str, list[str]], name: str = "D1.csv") -> EncodedTable:
    known = [column for column in data if column not in ("id", "disability")]
    return read(
        pa.table(data), quasi_identifiers=known, sensitive=["disability"], id="id", name=name
    )


def auxiliary(data: dict[str, list[str]], name: str = "D2.csv") -> EncodedTable:
    known = [column for column in data if column != "id"]
    return read(pa.table(data), quasi_identifiers=known, id="id", name=name)


def texts(table: EncodedTable, name: str) -> list[str | None]:
    column = table.column(name)
    values = column.values.to_pylist()
    return [values[code] for code in column.codes]


def test_attributes_are_tagged_and_absence_is_an_observation() -> None:
    collection = published()
    assert texts(collection.table, "grade@D2") == [*"BACBBDCED", None]
    assert texts(collection.table, "@D2") == ["present"] * 9 + ["absent"]
    assert collection.table.records == 10, "person 11 is only in an auxiliary dataset"
    assert [(m.name, m.people, m.linked) for m in collection.members] == [
        ("D1.csv", 10, 10),
        ("D2.csv", 10, 9),
    ]
    assert collection.table.roles["grade@D2"] is Role.PART
    assert collection.steps == ()


def test_the_published_example_comes_out() -> None:
    window = published().window(2)
    inferring, naming = attack(window, sensitive="disability"), attack(window)
    assert (inferring.code, naming.code) == ("CAL", "CRL")
    assert inferring.deterministic.posterior == Fraction(8, 10)
    assert inferring.probabilistic.posterior == Fraction(9, 10)
    assert inferring.probabilistic.multiplicative == Fraction(9, 5)
    assert naming.deterministic.posterior == Fraction(6, 10)
    assert naming.probabilistic.posterior == Fraction(8, 10)
    assert naming.probabilistic.multiplicative == 8


def test_every_window_refines_the_last() -> None:
    third = {"id": ["1", "4", "5"], "grade": ["A", "A", "C"]}
    windows = list(collect([focal(FIRST), auxiliary(SECOND), auxiliary(third, "D3.csv")]).windows())
    assert [window.datasets for window in windows] == [
        ("D1.csv",),
        ("D1.csv", "D2.csv"),
        ("D1.csv", "D2.csv", "D3.csv"),
    ]
    named = [attack(window).probabilistic.posterior for window in windows]
    assert named == sorted(named)
    assert named[0] == attack(focal(FIRST)).probabilistic.posterior


def test_an_attribute_may_be_in_some_datasets_only_or_be_constant() -> None:
    second = {"id": ["1", "2"], "city": ["x", "x"]}
    collection = collect([focal(FIRST), auxiliary(second)])
    assert collection.window(1).facts["city"] == ()
    assert collection.window(2).facts["city"] == ("city@D2",)
    swept = sweep(collection.window(2))
    alone = next(a for a in swept.attacks() if a.quasi_identifiers == ("city",))
    assert alone.classes == 2, "present and absent"


def test_a_tagged_quasi_identifier_is_known_in_that_dataset_only() -> None:
    collection = collect(
        [focal(FIRST), auxiliary(SECOND)], quasi_identifiers=["gender", "grade@D2", "@D2"]
    )
    assert dict(collection.window(2).facts) == {
        "gender": ("gender",),
        "grade@D2": ("grade@D2",),
        "@D2": ("@D2",),
    }


def test_a_fact_is_known_in_every_dataset_that_has_a_part_of_it() -> None:
    birth = {"id": ["1", "2"], "day": ["3", "4"], "year": ["2000", "2001"]}
    tables = [
        read(pa.table(birth), facts={"birth": ["day", "year"]}, id="id", name=name)
        for name in ("D1", "D2")
    ]
    collection = collect(tables)
    assert collection.window(2).facts["birth"] == ("day", "year", "day@D2", "year@D2")
    assert collection.window(2).quasi_identifiers == ("birth",)


def test_a_window_can_be_kept_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "window.arrow"
    window = published().window(2)
    window.save(path)
    loaded = load_table(path)
    assert attack(loaded) == attack(window)


def test_one_record_of_a_person_is_kept_and_the_others_are_counted() -> None:
    twice = {name: [*values, values[0]] for name, values in FIRST.items()}
    collection = collect([focal(twice), auxiliary({"id": ["1", "1", "", "2"], "grade": [*"ABCD"]})])
    assert collection.table.records == 10
    assert [(s.dataset, s.what, s.before, s.after) for s in collection.steps] == [
        ("D1.csv", "further records of the same person", 11, 10),
        ("D2.csv", "no identifier", 4, 3),
        ("D2.csv", "further records of the same person", 3, 2),
    ]


def test_the_choice_of_a_record_is_seeded_and_fair() -> None:
    table = read(
        pa.table({"id": ["1", "1", "1"], "value": ["a", "b", "c"]}), id="id", also=["value"]
    )
    chosen = [texts(one_record_each(table, seed=seed).table, "value")[0] for seed in range(3000)]
    assert chosen == [
        texts(one_record_each(table, seed=seed).table, "value")[0] for seed in range(3000)
    ]
    assert all(abs(count - 1000) < 120 for count in Counter(chosen).values())


@pytest.mark.parametrize(
    ("second", "names", "message"),
    [
        ({"id": ["1"], "school": ["A"]}, ["gender"], "D2.csv: has none of the quasi-identifiers"),
        ({"id": ["1"], "grade": ["A"]}, ["gradee"], '"gradee"'),
    ],
)
def test_what_cannot_be_joined_is_said(
    second: dict[str, list[str]], names: list[str] | None, message: str
) -> None:
    with pytest.raises((DataError, StudyError), match=message):
        collect([focal(FIRST), auxiliary(second)], quasi_identifiers=names)


def test_a_dataset_without_identifier_is_refused() -> None:
    table = read(pa.table({"grade": ["A"]}), quasi_identifiers=["grade"], name="D2.csv")
    with pytest.raises(DataError, match="has no identifier"):
        collect([focal(FIRST), table])


people = st.integers(0, 5).map(str)


@st.composite
def collections(draw: st.DrawFn) -> list[dict[str, list[str]]]:
    """Draw a focal dataset and up to two auxiliary ones, in which perhaps nobody of the focal one is."""
    datasets = []
    for number in range(draw(st.integers(1, 3))):
        ids = draw(st.lists(people, min_size=1, max_size=6, unique=True))
        values = st.lists(st.sampled_from("ab"), min_size=len(ids), max_size=len(ids))
        data = {"id": ids, "grade": draw(values), "city": draw(values)}
        if number == 0:
            data["disability"] = draw(values)
        datasets.append(data)
    return datasets


@example(
    [
        {"id": ["1", "2"], "grade": ["a", "b"], "city": ["a", "a"], "disability": ["a", "b"]},
        {"id": ["3"], "grade": ["a"], "city": ["b"]},
    ]
)
@given(collections())
def test_windows_agree_with_brute_force_bayes(datasets: list[dict[str, list[str]]]) -> None:
    tables = [focal(datasets[0])]
    tables += [auxiliary(data, f"D{i}.csv") for i, data in enumerate(datasets[1:], start=2)]
    for number, window in enumerate(collect(tables).windows(), start=1):
        outcome = assess(window, subsets=[["grade"], ["grade", "city"]]).attacks
        for found in outcome:
            seen = [
                tuple(_value(data, person, name) for data in datasets[:number]
                      for name in found.quasi_identifiers)
                for person in datasets[0]["id"]
            ]  # fmt: skip
            secrets = datasets[0]["disability"] if found.secret else datasets[0]["id"]
            hyper = CoOccurrence.from_records(secrets, seen).hyper()
            prior = CoOccurrence.from_records(secrets, seen).prior()
            assert found.probabilistic.prior == BayesVulnerability().prior(prior)
            assert found.probabilistic.posterior == BayesVulnerability().posterior_of(hyper)
            assert found.deterministic.posterior == Certainty().posterior_of(hyper)
        swept = sweep(window, subsets=[["grade"], ["grade", "city"]]).attacks()
        assert [a.probabilistic for a in swept] == [a.probabilistic for a in outcome]


def _value(data: dict[str, list[str]], person: str, name: str) -> str | None:
    return data[name][data["id"].index(person)] if person in data["id"] else None


def drawn_year(people: int, seed: int) -> dict[str, list[str]]:
    """Draw a dataset in which some have several records, some none, and some no identifier."""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, people, people)
    return {
        "id": ["" if number % 97 == 0 else f"p{number}" for number in person.tolist()],
        "town": [f"t{number}" for number in rng.integers(0, 300, people).tolist()],
        "grade": [f"g{number}" for number in rng.integers(0, 5, people).tolist()],
        "disability": [f"d{number}" for number in rng.integers(0, 3, people).tolist()],
    }


def test_a_collection_that_is_read_and_joined_on_disk_is_the_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = []
    for year in range(3):
        data = drawn_year(4_000, year)
        paths.append(tmp_path / f"{year}.parquet")
        pa.parquet.write_table(pa.table(data), paths[-1])

    def collected(memory: int | None) -> Collection:
        known: dict[str, Any] = {"quasi_identifiers": ["town", "grade"], "id": "id"}
        return collect(
            read(path, sensitive=[] if number else ["disability"], memory=memory, **known)
            for number, path in enumerate(paths)
        )

    in_memory = collected(None)
    monkeypatch.setattr("glasshouse.sources.source.BATCH_RECORDS", 500)
    monkeypatch.setattr("glasshouse.table.encode.CODES_SHARE", 1 << 50)
    monkeypatch.setattr("glasshouse.table.encode.VALUES_SHARE", 1 << 50)
    for module in ("codes", "collection", "partition"):
        monkeypatch.setattr(f"glasshouse.table.{module}.BLOCK_RECORDS", 300)
    on_disk = collected(1 << 30)
    assert on_disk.table.column("id").files
    assert on_disk.members == in_memory.members
    assert on_disk.steps == in_memory.steps
    for name, column in in_memory.table.columns.items():
        same = on_disk.table.column(name)
        assert same.codes.dtype == column.codes.dtype
        assert np.array_equal(same.codes, column.codes)
        assert same.values.equals(column.values)
        assert mapping(same.codes) is not None or name.startswith("@")
    joint = [with_facts_joined(each.table, ["town", "grade"]) for each in (in_memory, on_disk)]
    for name in ("town", "grade"):
        assert mapping(joint[1].column(name).codes) is not None
        assert np.array_equal(joint[0].column(name).codes, joint[1].column(name).codes)
        assert joint[0].column(name).cardinality == joint[1].column(name).cardinality
