"""Anatomy against its definition: every group by hand or by counting, and a link that is really cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import attack
from glasshouse.mitigation import anatomy as anatomy_module
from glasshouse.mitigation.anatomy import Anatomy, anatomise
from glasshouse.study import Dialect
from glasshouse.table import EncodedTable, Role, load_table, read

SECRETS = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=40)


def with_secrets(secrets: list[str]) -> EncodedTable:
    people = pa.table({"age": list(range(len(secrets))), "ill": secrets})
    return read(people, quasi_identifiers=["age"], sensitive=["ill"])


def texts(table: EncodedTable, name: str) -> list[str]:
    column = table.column(name)
    found: list[str] = column.values.take(pa.array(column.codes)).to_pylist()
    return found


def by_group(anatomy: Anatomy, secrets: list[str]) -> list[list[str]]:
    groups: list[list[str]] = [[] for _ in range(anatomy.groups)]
    for number, secret in zip(anatomy.group.tolist(), secrets, strict=True):
        groups[number].append(secret)
    return groups


def eligible(secrets: list[str], l: int) -> bool:  # noqa: E741
    return max(Counter(secrets).values()) * l <= len(secrets)


def plain_anatomy(secrets: list[str], l: int) -> tuple[int, int]:  # noqa: E741
    """Xiao and Tao's figure 3 with a list that is sorted anew for every group: groups made, records left."""
    left = Counter(secrets)
    groups = 0
    while len(left) >= l:
        for value, _ in left.most_common(l):
            left[value] -= 1
        left = +left
        groups += 1
    return groups, left.total()


# The law


@given(SECRETS, st.integers(2, 5), st.integers(0, 3))
def test_every_group_has_l_records_with_different_values(
    secrets: list[str],
    l: int,  # noqa: E741
    seed: int,
) -> None:
    table = with_secrets(secrets)
    if not eligible(secrets, l):
        with pytest.raises(StudyError, match="more than 1 in l"):
            anatomise(table, l=l, seed=seed)
        return
    anatomy = anatomise(table, l=l, seed=seed)
    groups = by_group(anatomy, secrets)
    for members in groups:
        assert len(members) >= l
        assert len(set(members)) == len(members)
    assert [len(members) for members in groups] == anatomy.sizes.tolist()
    assert (anatomy.groups, anatomy.residues) == plain_anatomy(secrets, l)
    assert anatomy.residues < l
    assert anatomy.highest == max(Fraction(1, len(members)) for members in groups) <= Fraction(1, l)
    guessed = sum(max(Counter(members).values()) for members in groups)
    assert anatomy.vulnerability == Fraction(guessed, len(secrets))


@given(SECRETS, st.integers(2, 4))
def test_each_group_takes_the_fullest_buckets(secrets: list[str], l: int) -> None:  # noqa: E741
    assume(eligible(secrets, l))
    anatomy = anatomise(with_secrets(secrets), l=l)
    assume(anatomy.residues == 0)
    left = Counter(secrets)
    for members in by_group(anatomy, secrets):
        taken = [left.pop(value) for value in members]
        assert min(taken) >= max(left.values(), default=0)
        left += Counter(dict(zip(members, (count - 1 for count in taken), strict=True)))


def test_many_records_with_many_values() -> None:
    rng = np.random.default_rng(0)
    secrets = [f"v{value}" for value in (rng.pareto(1.0, 50_000) * 40 % 3_000).astype(int)]
    table = with_secrets(secrets)
    anatomy = anatomise(table, l=7)
    pairs = anatomy.group.astype(np.int64) * 3_000 + table.column("ill").codes
    assert len(np.unique(pairs)) == table.records
    assert anatomy.sizes.min() >= 7
    assert anatomy.sizes.sum() == table.records


def test_a_group_may_hold_hundreds_of_values() -> None:
    secrets = [f"v{value % 300}" for value in range(1_199)]
    anatomy = anatomise(with_secrets(secrets), l=299)
    assert [sorted(set(g)) == sorted(g) for g in by_group(anatomy, secrets)] == [True] * 4
    _, sensitive = anatomy.tables(with_secrets(secrets))
    first = sensitive.slice(0, anatomy.sizes[0])["ill"].to_pylist()
    assert first == sorted(first)


# The paper's own table


def hospital() -> EncodedTable:
    """Xiao and Tao 2006, table 1."""
    people = pa.table(
        {
            "age": [23, 27, 35, 59, 61, 65, 65, 70],
            "sex": list("MMMMFFFF"),
            "zip": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
            "disease": [
                *("pneumonia", "dyspepsia", "dyspepsia", "pneumonia"),
                *("flu", "gastritis", "flu", "bronchitis"),
            ],
        }
    )
    return read(people, quasi_identifiers=["age", "sex", "zip"], sensitive=["disease"])


def test_published_tables_hold_all_but_the_link() -> None:
    table = hospital()
    anatomy = anatomise(table, l=2)
    known, sensitive = anatomy.tables(table)
    assert known.column_names == ["age", "sex", "zip", "group"]
    assert known["age"].to_pylist() == texts(table, "age")
    assert known["group"].to_pylist() == (anatomy.group + 1).tolist()
    assert sensitive.column_names == ["group", "disease", "count"]
    rows = [tuple(row.values()) for row in sensitive.to_pylist()]
    assert rows == sorted(rows)
    expected = Counter(zip((anatomy.group + 1).tolist(), texts(table, "disease"), strict=True))
    assert {row[:2]: row[2] for row in rows} == dict(expected)


def test_result_as_plain_values() -> None:
    anatomy = anatomise(hospital(), l=4, seed=99)
    told = anatomy.to_dict()
    assert told["parameters"] == {"l": 4}
    assert (told["records"], told["groups"], told["group_sizes"]) == (8, 2, {4: 2})
    assert (told["vulnerability"], told["highest"], told["residues"]) == (0.25, 0.25, 0)
    assert "seed" not in told
    assert "99" not in repr(anatomy)
    assert anatomy.to_frame().to_pylist() == [{"size": 4, "groups": 2, "records": 8}]


def test_names_of_columns_can_be_chosen() -> None:
    table = hospital()
    anatomy = anatomise(table, l=2, quasi_identifiers=["age"])
    known, sensitive = anatomy.tables(table, group="bucket", count="people")
    assert known.column_names == ["age", "bucket"]
    assert sensitive.column_names == ["bucket", "disease", "people"]
    assert "bucket" in anatomy.one_table(table, group="bucket").columns


def test_facts_are_published_by_their_columns() -> None:
    birth = {"year": ["1990", "1991"], "month": ["1", "2"], "ill": ["a", "b"]}
    table = read(pa.table(birth), facts={"birth": ["year", "month"]}, sensitive=["ill"])
    known, _ = anatomise(table, l=2).tables(table)
    assert known.column_names == ["year", "month", "group"]


# One table, and the link


@given(SECRETS, st.integers(0, 3), st.randoms(use_true_random=False))
def test_one_table_is_the_same_whoever_had_which_value(
    secrets: list[str], seed: int, random: object
) -> None:
    assume(eligible(secrets, 2))
    table = with_secrets(secrets)
    anatomy = anatomise(table, l=2, seed=seed)
    exchanged = list(secrets)
    for number in range(anatomy.groups):
        members = np.flatnonzero(anatomy.group == number)
        values = [secrets[member] for member in members]
        random.shuffle(values)  # type: ignore[attr-defined]
        for member, value in zip(members, values, strict=True):
            exchanged[member] = value
    released = anatomy.one_table(table)
    other = anatomy.one_table(with_secrets(exchanged))
    assert released.column("ill").values == other.column("ill").values
    assert released.column("ill").codes.tolist() == other.column("ill").codes.tolist()
    shuffled = by_group(anatomy, texts(released, "ill"))
    assert list(map(sorted, shuffled)) == list(map(sorted, by_group(anatomy, secrets)))


@given(SECRETS, st.integers(2, 3))
def test_attack_by_group_finds_the_vulnerability(secrets: list[str], l: int) -> None:  # noqa: E741
    assume(eligible(secrets, l))
    table = with_secrets(secrets)
    anatomy = anatomise(table, l=l)
    outcome = attack(anatomy.one_table(table), quasi_identifiers=["group"], sensitive="ill")
    assert outcome.probabilistic.posterior == anatomy.vulnerability <= Fraction(1, l)


def test_dictionary_of_the_release_does_not_tell_who_came_first() -> None:
    table = with_secrets(["z", "y", "x", "w"])
    released = anatomise(table, l=2).one_table(table)
    assert released.column("ill").values.to_pylist() == ["w", "x", "y", "z"]


def test_one_table_keeps_the_rest(tmp_path: Path) -> None:
    table = hospital()
    anatomy = anatomise(table, l=3)
    released = anatomy.one_table(table)
    assert list(released.columns) == ["age", "sex", "zip", "disease", "group"]
    assert texts(released, "age") == texts(table, "age")
    assert texts(released, "group") == [str(number + 1) for number in anatomy.group]
    assert released.roles["group"] is Role.IGNORED
    assert released.sensitive == ("disease",)
    released.save(tmp_path / "released.arrow")
    assert texts(load_table(tmp_path / "released.arrow"), "disease") == texts(released, "disease")


def test_both_arrangements_of_two_values_are_as_likely() -> None:
    table = with_secrets(["a", "b"])
    first = Counter(
        texts(anatomise(table, l=2, seed=seed).one_table(table), "ill")[0] for seed in range(400)
    )
    assert first.total() == 400
    assert 150 < first["a"] < 250


def test_every_matching_of_records_is_as_likely() -> None:
    table = with_secrets(["a", "a", "a", "b", "b", "b"])
    found = Counter()  # type: Counter[tuple[int, ...]]
    for seed in range(600):
        group = anatomise(table, l=2, seed=seed).group.tolist()
        found[tuple(group[:3].index(number) for number in group[3:])] += 1
    assert len(found) == 6
    assert all(60 < count < 140 for count in found.values())


# The seed


def test_same_seed_same_groups_and_other_seed_other_groups() -> None:
    table = with_secrets(list("abcdefgh") * 10)
    first, again, other = (anatomise(table, l=4, seed=seed) for seed in (5, 5, 6))
    assert first.group.tobytes() == again.group.tobytes() != other.group.tobytes()
    released, repeated = first.one_table(table), again.one_table(table)
    assert released.column("ill").codes.tobytes() == repeated.column("ill").codes.tobytes()


def test_seed_may_be_a_long_secret() -> None:
    table = with_secrets(list("abcd") * 10)
    assert anatomise(table, l=4, seed=2**200).groups == 10


def test_knowing_the_seed_is_not_enough_to_repeat_the_draw() -> None:
    """One exchanged pair of values changes the groups of people who have nothing to do with it."""
    secrets = list("abcd") * 50
    exchanged = ["b", "a", *secrets[2:]]
    first, other = (anatomise(with_secrets(each), l=4).group for each in (secrets, exchanged))
    assert np.count_nonzero(first[2:] != other[2:]) > 150


def test_length_of_a_chunk_of_random_words_only_matters_at_its_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(anatomy_module, "_CHUNK", 7)
    secrets = list("abcde") * 20
    anatomy = anatomise(with_secrets(secrets), l=5)
    assert all(len(set(members)) == 5 for members in by_group(anatomy, secrets))


# Faults


def test_too_frequent_value_is_named_with_the_largest_l() -> None:
    table = with_secrets(["flu"] * 4 + ["a", "b", "c", "d", "e"])
    with pytest.raises(StudyError) as refused:
        anatomise(table, l=3)
    assert str(refused.value) == (
        '"flu" is the value of "ill" in 4 of 9 records (44.44%), more than 1 in l = 3; '
        "the largest l that works is 2"
    )
    assert anatomise(table, l=2).residues == 1


def test_where_no_l_works() -> None:
    with pytest.raises(StudyError, match="no l works"):
        anatomise(with_secrets(["flu", "flu", "a"]), l=2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"l": 1}, "from l = 2 on"),
        ({"l": 2, "seed": -1}, "from 0"),
        ({"l": 2, "quasi_identifiers": []}, "needs the quasi-identifiers"),
        ({"l": 2, "quasi_identifiers": ["disease"]}, "both quasi-identifier and sensitive"),
        ({"l": 2, "quasi_identifiers": "age"}, "give a list"),
    ],
)
def test_question_that_makes_no_sense(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        anatomise(hospital(), **wrong)  # type: ignore[arg-type]


def test_unknown_column_is_named_with_the_near_ones() -> None:
    with pytest.raises(DataError, match='did you mean "disease"'):
        anatomise(hospital(), l=2, sensitive="diseas")


def test_sensitive_attribute_must_be_clear() -> None:
    table = read(pa.table({"a": ["1", "2"], "b": ["1", "2"]}), quasi_identifiers=["a", "b"])
    with pytest.raises(StudyError, match="name it with sensitive="):
        anatomise(table, l=2)


def test_another_table_is_refused() -> None:
    anatomy = anatomise(hospital(), l=2)
    with pytest.raises(DataError, match="4 records, but the groups were made of 8"):
        anatomy.tables(hospital().of_records(np.arange(4)))
    with pytest.raises(DataError, match="4 records, but the groups were made of 8"):
        anatomy.one_table(hospital().of_records(np.arange(4)))


def test_taken_name_is_refused() -> None:
    table = hospital()
    anatomy = anatomise(table, l=2)
    for names in ({"group": "age"}, {"count": "disease"}, {"group": "n", "count": "n"}):
        with pytest.raises(StudyError, match="already; choose another name"):
            anatomy.tables(table, **names)
    with pytest.raises(StudyError, match='"sex" already'):
        anatomy.one_table(table, group="sex")


# A census


def test_adult_occupations(shared: Callable[[str], Path]) -> None:
    adult = read(
        shared("data/arx/adult.csv"),
        dialect=Dialect(separator=";"),
        quasi_identifiers=["sex", "age", "race"],
        sensitive=["occupation"],
    )
    anatomy = anatomise(adult, l=7)
    assert (anatomy.records, anatomy.groups, anatomy.residues) == (30_162, 4_308, 6)
    with pytest.raises(StudyError, match="the largest l that works is 7"):
        anatomise(adult, l=8)
