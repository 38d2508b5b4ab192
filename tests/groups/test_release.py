"""Releases from every form they come in, who can be in which group, and each bad input's one line."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import BudgetError, DataError, GlasshouseError, StudyError
from glasshouse.groups import victims as victims_module
from glasshouse.groups.labels import ValueSets, ancestors, domain_of, labelled_sets, values_of_label
from glasshouse.groups.readers import from_anatomy, from_generalised, from_group_column
from glasshouse.groups.release import Release, Scheme
from glasshouse.groups.release_json import from_json
from glasshouse.groups.victims import (
    joined,
    matches,
    victims_of,
    victims_of_rows,
    victims_of_table,
)
from glasshouse.mitigation.anatomy import anatomise
from glasshouse.mitigation.criteria import KAnonymity
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.table import EncodedTable, read
from tests.conftest import Glasshouse
from tests.groups.points import population_points

NAMES = ["age", "city"]
PEOPLE = pa.table(
    {
        "age": ["20", "27", "31", "38", "38"],
        "city": ["Lyon", "Nice", "Bonn", "Lyon", "Nice"],
        "ill": ["flu", "HIV", "flu", "flu", "HIV"],
    }
)
DIVERSE = PEOPLE.set_column(2, "ill", [["flu", "HIV", "flu", "asthma", "HIV"]])
"""The same, with illnesses that Anatomy can deal into groups of two."""
CITIES = {"Lyon": ("France", "*"), "Nice": ("France", "*"), "Bonn": ("Germany", "*")}


def table_of(people: pa.Table, names: list[str] = NAMES, **roles: Any) -> EncodedTable:
    return read(people, quasi_identifiers=names, sensitive=["ill"], **roles)


def recoded(ages: list[str], cities: list[str]) -> EncodedTable:
    return table_of(PEOPLE.set_column(0, "age", [ages]).set_column(1, "city", [cities]))


def usual() -> tuple[Release, EncodedTable]:
    original = table_of(PEOPLE)
    labels = recoded(["20-29"] * 2 + ["30-39"] * 3, ["France", "France", "*", "*", "*"])
    return from_generalised(labels, domains=original, hierarchies={"city": CITIES}), original


def one_line(error: pytest.ExceptionInfo[GlasshouseError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


# ---------------------------------------------------------------------------------------------------------- sets


FAMILIES = st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=6)


@given(FAMILIES)
def test_laminar_families_are_recognised(family: list[set[int]]) -> None:
    sets = ValueSets.of(family, 6)
    crossing = [(a, b) for a in family for b in family if a & b and a - b and b - a]
    assert sets.is_laminar == (not crossing)
    if sets.crossing is not None:
        first, second = (family[number] for number in sets.crossing)
        assert (first, second) in crossing
    else:
        for number, parent in enumerate(sets.parents().tolist()):
            holding = [own for own in family if own > family[number]]
            if parent < 0:
                assert not holding
            else:
                assert family[parent] >= family[number]
                assert all(family[parent] <= own for own in holding)


def common(sets: ValueSets, others: ValueSets) -> np.ndarray[Any, Any]:
    """Tell, for each set and each other one, whether they have a value in common."""
    return np.asarray((sets.matrix()[:, None, :] & others.matrix()).any(axis=2))


@given(FAMILIES, FAMILIES)
def test_sets_know_their_values_and_what_they_share(
    family: list[set[int]], others: list[set[int]]
) -> None:
    sets, more = ValueSets.of(family, 6), ValueSets.of(others, 6)
    assert [set(sets.values(number).tolist()) for number in range(len(sets))] == family
    expected = [[bool(own & other) for other in others] for own in family]
    assert common(sets, more).tolist() == expected


@given(st.data())
def test_matches_are_those_of_comparing_everything(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 3))
    labels = [ValueSets.of(data.draw(FAMILIES), 6) for _ in range(width)]
    known = [
        ValueSets.of(data.draw(FAMILIES), 6)
        if data.draw(st.booleans())
        else ValueSets.singletons(6)
        for _ in range(width)
    ]

    def rows(sets: list[ValueSets], count: int) -> np.ndarray[Any, Any]:
        cells = [[data.draw(st.integers(0, len(own) - 1)) for own in sets] for _ in range(count)]
        return np.array(cells, np.int32).reshape(count, width)

    codes, victims = rows(labels, data.draw(st.integers(1, 8))), rows(known, 3)
    found = matches(codes, labels, known, victims)
    shared = [common(own, other) for own, other in zip(known, labels, strict=True)]
    for number, victim in enumerate(victims):
        agrees = np.stack([shared[a][victim[a], codes[:, a]] for a in range(width)], axis=1)
        own = found.rows[found.starts[number] : found.starts[number + 1]]
        assert own.tolist() == np.flatnonzero(agrees.all(axis=1)).tolist()
        assert found.agreed[number] == max(int(np.argmin([*row, False])) for row in agrees.tolist())


def test_too_many_matches_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(victims_module, "MOST_MATCHES", 2)
    release, original = usual()
    with pytest.raises(BudgetError, match="too many to keep; ask for fewer victims") as error:
        victims_of_table(release, original)
    one_line(error)


# -------------------------------------------------------------------------------------------------------- labels


def test_labels_of_all_kinds_stand_for_their_values() -> None:
    domain = ["19", "20", "25", "29", "30", "4550", "4551", "A", "B"]
    texts = ["20-29", "[20, 30[", "4550", "455*", "{A, B}", "A|B", "*", ">=30", "25"]
    sets = labelled_sets("x", texts, domain)
    found = [[domain[code] for code in sets.values(n)] for n in range(len(texts))]
    assert found == [
        ["20", "25", "29"],
        ["20", "25", "29"],
        ["4550"],
        ["4550", "4551"],
        ["A", "B"],
        ["A", "B"],
        domain,
        ["30", "4550", "4551"],
        ["25"],
    ]
    assert values_of_label("nothing", domain) == []


def test_labels_of_a_hierarchy_stand_for_what_is_below_them() -> None:
    rows = [("Lyon", "France", "*"), ("Nice", "France", "*"), ("Bonn", "Bonn", "*")]
    sets = labelled_sets("city", ["France", "Bonn", "*"], ["Bonn", "Lyon"], ancestors(rows))
    assert [own.tolist() for own in map(sets.values, range(3))] == [[1], [0], [0, 1]]


def test_the_domain_is_given_or_the_hierarchys_or_what_the_release_names() -> None:
    labels = recoded(["20-29"] * 2 + ["30-39"] * 3, ["France", "France", "*", "*", "*"])
    of_hierarchy = from_generalised(
        labels, domains={"age": range(18, 50)}, hierarchies={"city": CITIES}
    )
    assert [len(each.values) for each in of_hierarchy.attributes] == [32, 3]
    assert of_hierarchy.attribute("city").values == ("Lyon", "Nice", "Bonn")
    observed, _ = usual()
    assert observed.attribute("age").values == ("20", "27", "31", "38")
    named = recoded(["20"] * 5, ["{Lyon, Nice}", "Bonn", "*", "*", "*"])
    assert from_generalised(named).attribute("city").values == ("Bonn", "Lyon", "Nice")
    assert domain_of("x", ["a|b", "c"]) == ("a", "b", "c")


# ------------------------------------------------------------------------------------------------ the five forms


def test_generalised_values_make_a_horizontal_release() -> None:
    release, original = usual()
    assert release.scheme is Scheme.HORIZONTAL
    assert release.sizes.tolist() == [2, 3]
    assert release.is_laminar
    assert release.positions is not None
    assert release.positions.tolist() == [0, 1, 2, 3, 4]
    victims, own = victims_of_table(release, original, in_order=True)
    assert len(victims) == 5
    assert [victims.groups_of(victim).tolist() for victim in range(5)] == [[0], [0], [1], [1], [1]]
    assert own.sensitive.tolist() == [
        release.sensitive.code[ill] for ill in PEOPLE["ill"].to_pylist()
    ]
    assert release.to_frame().column_names == ["group", "age", "city", "ill"]
    assert release.to_frame()["city"].to_pylist() == ["France", "France", "*", "*", "*"]


def test_records_keep_the_order_of_the_original() -> None:
    order = pa.array([0, 2, 1, 4, 3])
    people = PEOPLE.take(order).select(["age", "ill"])
    ages = ["20-29" if age < "30" else "30-39" for age in people["age"].to_pylist()]
    original = table_of(people, ["age"])
    release = from_generalised(
        table_of(people.set_column(0, "age", [ages]), ["age"]), domains=original
    )
    assert release.positions is not None
    assert release.positions.tolist() == [0, 2, 1, 3, 4]
    for in_order in (False, True):
        _, truth = victims_of_table(release, original, in_order=in_order)
        ills = [release.sensitive.values[code] for code in truth.sensitive]
        assert ills == people["ill"].to_pylist()


def test_what_anonymise_makes_is_a_laminar_release() -> None:
    table = table_of(PEOPLE)
    ages = Hierarchy("age", tuple((v, f"{v[0]}0-{v[0]}9", "*") for v in ("20", "27", "31", "38")))
    cities = Hierarchy("city", tuple((city, *labels) for city, labels in CITIES.items()))
    hierarchies = {"age": ages, "city": cities}
    found = recode(table, hierarchies=hierarchies, criteria=[KAnonymity(2)], suppression="0.2")
    labels = {name: ancestors(own.rows) for name, own in hierarchies.items()}
    assert found.suppressed.sum() == 1
    whole = from_generalised(found.release(table), hierarchies=labels)
    assert whole.is_laminar
    assert (whole.records, whole.left_out) == (5, 0)
    assert victims_of_table(whole, table, in_order=True)[1].records == 5
    kept = from_generalised(found.release(table), hierarchies=labels, leave_out_suppressed=True)
    assert (kept.records, kept.left_out, kept.groups) == (4, 1, whole.groups - 1)
    victims, original = victims_of_table(kept, table)
    assert original.records == 4
    assert victims.in_table.all()


def test_the_folder_that_anonymise_writes_can_be_read(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(2)
    people = pa.table(
        {
            "age": generator.integers(20, 50, 60),
            "city": generator.choice(["Lyon", "Nice", "Bonn"], 60),
            "ill": generator.choice(["flu", "HIV", "gout", "asthma"], 60),
        }
    )
    pyarrow.csv.write_csv(people, "people.csv")
    original = read("people.csv", quasi_identifiers=NAMES, sensitive=["ill"])
    arguments = ("anonymise", "people.csv", "-q", "age", "-q", "city", "-s", "ill", "--keep-order")
    recoding = glasshouse(*arguments, "--k", 3, "--suppression", 0.1, "--out", "recoded")
    anatomy = glasshouse(*arguments, "--method", "anatomy", "--l", 2, "--out", "anatomised")
    assert (recoding.code, anatomy.code) == (0, 0)
    published = read("recoded/release.csv", quasi_identifiers=NAMES, sensitive=["ill"])
    horizontal = from_generalised(published, domains=original)
    assert horizontal.is_laminar
    assert victims_of_table(horizontal, original, in_order=True)[0].in_table.all()
    two = from_anatomy(read("anatomised/quasi_identifiers.csv"), read("anatomised/sensitive.csv"))
    whole = read("anatomised/release.csv")
    one = from_group_column(whole, group="group", quasi_identifiers=NAMES, sensitive=["ill"])
    for vertical in (one, two):
        assert victims_of_table(vertical, original)[1].records == 60
    assert two.sizes.sum() == one.sizes.sum() == 60


def test_groups_of_a_horizontal_release_can_be_named() -> None:
    people = RECODED_WITH_GROUPS
    table = read(people, quasi_identifiers=["age"], sensitive=["ill"], id=None)
    named = from_generalised(table.with_roles(quasi_identifiers=["age"], sensitive=["ill"]))
    assert named.groups == 1
    both = read(people, quasi_identifiers=["age", "group"], sensitive=["ill"])
    release = from_generalised(both, group="group", domains={"age": ["20", "21"]})
    assert release.groups == 2
    assert [each.name for each in release.attributes] == ["age"]


RECODED_WITH_GROUPS = pa.table(
    {"age": ["{20, 21}"] * 4, "ill": ["flu", "HIV", "flu", "flu"], "group": ["a", "a", "b", "b"]}
)


def test_a_group_column_and_anatomys_two_tables_make_the_same_release() -> None:
    table = table_of(DIVERSE)
    anatomy = anatomise(table, l=2, seed=3)
    known, sensitive = anatomy.tables(table)
    two = from_anatomy(read(known), read(sensitive))
    one = from_group_column(anatomy.one_table(table, group="group"), group="group")
    assert two.scheme is one.scheme is Scheme.VERTICAL
    assert two.sizes.tolist() == one.sizes.tolist()
    for group in range(two.groups):
        rows = slice(two.starts[group], two.starts[group + 1])
        assert sorted(two.codes[rows].tolist()) == sorted(one.codes[rows].tolist())
        assert sorted(two.sensitive_codes[rows]) == sorted(one.sensitive_codes[rows])
    assert len(victims_of_rows(two)) == 5
    for release in (one, two):
        victims, original = victims_of_table(release, table)
        assert victims.in_table.all()
        assert original.weights.sum() == 5


def test_a_group_column_that_was_not_read_is_said_with_the_way_out() -> None:
    known = pa.table({"age": [20, 21, 22], "group": [1, 1, 1]})
    sensitive = read(pa.table({"group": [1, 1], "ill": ["flu", "HIV"], "count": [2, 1]}))
    table = read(known, quasi_identifiers=["age"], name="known.csv")
    with pytest.raises(DataError) as error:
        from_anatomy(table, sensitive)
    assert str(error.value) == (
        'known.csv: the column of groups, "group", was not read: where roles are given, only columns that have one '
        "are; read the table without roles, or with also=[group]"
    )
    with pytest.raises(DataError, match="was not read"):
        from_group_column(table, group="group", sensitive=["age"])
    with pytest.raises(DataError, match="is not in"):
        from_anatomy(read(known), sensitive, group="grp")
    assert from_anatomy(
        read(known, quasi_identifiers=["age"], also=["group"]), sensitive
    ).sizes.tolist() == [3]


def test_counts_of_the_sensitive_table_stand_for_rows() -> None:
    known = read(pa.table({"age": [20, 21, 22], "group": [1, 1, 1]}))
    sensitive = read(pa.table({"group": [1, 1], "ill": ["flu", "HIV"], "count": [2, 1]}))
    assert from_anatomy(known, sensitive).counts.tolist() == [1, 2]


def test_several_sensitive_attributes_are_taken_together() -> None:
    people = PEOPLE.append_column("job", [["cook", "cook", "spy", "spy", "cook"]])
    table = read(people, quasi_identifiers=["age"], sensitive=["ill", "job"])
    release = from_generalised(table)
    assert release.sensitive.names == ("ill", "job")
    commas = pa.table({"age": ["1", "2"], "ill": ["a, b", "a"], "job": ["c", "b, c"]})
    both = read(commas, quasi_identifiers=["age"], sensitive=["ill", "job"])
    assert from_generalised(both).sensitive.values == ("a, b\\, c", "a\\, b, c")
    assert release.sensitive.values == ("HIV, cook", "flu, cook", "flu, spy")
    assert victims_of_table(release, table, in_order=True)[1].weights.sum(axis=0).tolist() == [
        2,
        1,
        2,
    ]


def test_the_written_form_reads_texts_lists_and_fractions(tmp_path: Path) -> None:
    document = {
        "name": "example",
        "attributes": [
            {"name": "age", "values": [20, 21], "beta": {"20": "1/3"}},
            {"name": "city", "hierarchy": {"Lyon": ["France"], "Bonn": ["Germany"]}},
        ],
        "sensitive": {"name": "ill", "values": ["flu", "HIV"], "alpha": 2},
        "groups": [{"sensitive": ["flu", "flu"], "generalised": [[20, 21], "France"]}],
    }
    release = from_json(json.dumps(document))
    assert release.attribute("age").beta == (Fraction(1, 3), Fraction(1))
    assert release.sensitive.alpha == (Fraction(2), Fraction(2))
    assert release.attribute("city").sets.values(0).tolist() == [0]
    assert release.counts.tolist() == [2, 0]


def test_the_prior_can_be_changed_as_a_whole_or_in_part() -> None:
    release, _ = usual()
    other = release.with_prior(alpha=0.1, beta={"age": {"20": 3}, "city": "1/2"})
    assert set(other.sensitive.alpha) == {Fraction(1, 10)}
    assert other.attribute("age").beta == (Fraction(3), *[Fraction(1)] * 3)
    assert set(other.attribute("city").beta) == {Fraction(1, 2)}


def test_knowledge_of_victims_can_be_sets_and_intervals() -> None:
    release, _ = usual()
    victims = victims_of(
        release, [{"age": "20-29"}, {"city": ["Lyon", "Bonn"]}, {"city": "France"}]
    )
    assert not victims.is_full
    ages, cities = victims.known
    assert ages.values(int(victims.codes[0, 0])).tolist() == [0, 1]
    assert cities.values(int(victims.codes[1, 1])).tolist() == [0, 1]
    assert cities.values(int(victims.codes[2, 1])).tolist() == [1, 2]
    assert [victims.groups_of(victim).tolist() for victim in range(3)] == [[0], [0, 1], [0, 1]]


def test_points_of_the_population_are_put_behind_victims() -> None:
    release, original = usual()
    victims, _ = victims_of_table(release, original)
    both = joined(victims, np.zeros((3, 2), np.int32))
    assert both.in_table.tolist() == [True] * 5 + [False] * 3
    assert len(population_points(release, np.zeros((3, 2), np.int32))) == 3
    with pytest.raises(StudyError, match="who are fully known only"):
        joined(victims_of(release, [{}]), np.zeros((1, 2), np.int32))


# -------------------------------------------------------------------------------------------------------- faults


def written(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "attributes": [{"name": "age", "values": ["20", "21"]}],
        "sensitive": {"name": "ill"},
        "groups": [{"sensitive": ["flu", "HIV"], "generalised": ["*"]}],
    }
    return document | changes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"groups": [{"sensitive": ["flu", "HIV"], "rows": [["20"]]}]},
            r"a group has more sensitive values \(2\) than rows \(1\)",
        ),
        (
            {"groups": [{"sensitive": ["flu"], "rows": [["20"], ["21"]]}]},
            r"a group has fewer sensitive values \(1\) than rows \(2\)",
        ),
        (
            {"groups": [{"sensitive": ["flu"], "generalised": ["30-39"]}]},
            '"age": the released value "30-39" is outside its domain',
        ),
        (
            {"groups": [{"sensitive": ["flu"], "generalised": [["20", "22"]]}]},
            'value "22" is not in the domain of "age"',
        ),
        (
            {
                "groups": [
                    {"sensitive": ["flu"], "generalised": ["*"], "people": [1]},
                    {"sensitive": ["HIV"], "generalised": ["*"], "people": [1]},
                ]
            },
            'groups overlap, "1" is in two of them',
        ),
        ({"groups": []}, "there is no group"),
        ({"groups": [{"sensitive": [], "generalised": ["*"]}]}, "a group has no row"),
        ({"groups": [{"sensitive": ["flu"], "generalised": []}]}, "0 values for 1 attributes"),
        (
            {
                "groups": [
                    {"sensitive": ["flu"], "generalised": ["*"]},
                    {"sensitive": ["flu"], "rows": [["20"]]},
                ]
            },
            "one release has one kind",
        ),
        ({"groups": [{"generalised": ["*"]}]}, 'group 1 lacks the entry "sensitive"'),
        ({"groups": [{"sensitive": ["flu"]}]}, 'group 1 lacks the entry "generalised"'),
        ({"attributes": None}, '"attributes" is null, where a list is needed'),
        ({"attributes": ["age"]}, 'attribute 1 is "age", where entries are needed'),
        ({"sensitive": "ill"}, '"sensitive" is "ill", where entries are needed'),
        (
            {"groups": [{"sensitive": "xy", "generalised": ["*"]}]},
            '"sensitive" of group 1 is "xy", where a list is needed',
        ),
        (
            {"groups": [{"sensitive": ["flu"], "rows": ["20"]}]},
            '"rows" of group 1 is "20", where a list is needed',
        ),
        (
            {"groups": [{"sensitive": ["flu", None], "generalised": ["*"]}]},
            '"sensitive" of group 1 holds null, which is neither a text nor a number',
        ),
        (
            {"groups": [{"sensitive": ["flu"], "generalised": [[]]}]},
            '"generalised" of group 1 holds an empty list',
        ),
        (
            {"groups": [{"sensitive": ["flu"], "generalised": ["*"], "rows": [["20"]]}]},
            'group 1 has "rows" and "generalised"',
        ),
        (
            {"sensitive": {"name": "ill", "alhpa": 2}},
            'entry "alhpa" is not in "sensitive"; did you mean "alpha"',
        ),
        ({"alpha": 2}, 'entry "alpha" is not in the release'),
        (
            {"sensitive": {"name": "ill", "alpha": True}},
            '"alpha" of "sensitive" is true; give a number above 0',
        ),
        (
            {"attributes": [{"name": "age", "hierarchy": ["20", "21"]}]},
            "where each value has a list of its labels",
        ),
        ({"sensitive": {"name": "ill", "values": ["flu"]}}, '"HIV" is not in the domain of "ill"'),
        (
            {"groups": [{"sensitive": ["flu"], "rows": [["30"]]}]},
            '"30" is not in the domain of "age"',
        ),
    ],
)
def test_written_releases_are_refused_in_one_line(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said) as error:
        from_json(written(**changes))
    one_line(error)


def test_an_entry_that_is_there_twice_is_refused() -> None:
    text = '{"groups": [], "groups": []}'
    with pytest.raises(DataError, match='the entry "groups" is given twice'):
        from_json(text)


def test_a_parameter_that_is_infinite_is_not_said_to_be_too_small() -> None:
    document = json.dumps(written(attributes=[{"name": "age", "values": ["20", "21"], "beta": 1}]))
    with pytest.raises(StudyError, match="give a finite number above 0") as error:
        from_json(document.replace('"beta": 1', '"beta": 1e400'))
    one_line(error)


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(DataError, match="the release is not JSON"):
        from_json("{")


@pytest.mark.parametrize("number", [0, -1, "0", "x", float("nan")])
@pytest.mark.parametrize("letter", ["alpha", "beta"])
def test_a_prior_is_above_zero(letter: str, number: object) -> None:
    release, _ = usual()
    with pytest.raises(StudyError, match=f"{letter} of .* is .*above 0") as error:
        release.with_prior(**{letter: number})  # type: ignore[arg-type]
    one_line(error)


def test_a_prior_names_what_is_there() -> None:
    release, _ = usual()
    with pytest.raises(StudyError, match=r'attribute "agge" is not in .*; did you mean "age"'):
        release.with_prior(beta={"agge": 1})
    with pytest.raises(
        StudyError, match='value "fluu" is not in the domain of "ill"; did you mean "flu"'
    ):
        release.with_prior(alpha={"fluu": 1})


def test_a_generalised_value_outside_its_hierarchy_is_named() -> None:
    labels = recoded(["20"] * 5, ["France", "Francia", "*", "*", "*"])
    with pytest.raises(
        DataError, match='"city": the released value "Francia" is outside its hierarchy'
    ):
        from_generalised(labels, hierarchies={"city": CITIES})


def test_intervals_and_prefixes_need_a_domain() -> None:
    with pytest.raises(
        DataError, match='"age": the released value "20-29" does not name the values'
    ):
        from_generalised(recoded(["20-29"] * 5, ["Lyon"] * 5))
    with pytest.raises(DataError, match='"age" is suppressed in all rows'):
        from_generalised(recoded(["*"] * 5, ["Lyon"] * 5))


def test_anatomys_tables_must_fit_each_other() -> None:
    known = read(pa.table({"age": [20, 21, 22], "group": [1, 1, 2]}))

    def with_sensitive(groups: list[int], counts: list[object]) -> Release:
        ills = ["flu", "HIV", "asthma"][: len(groups)]
        return from_anatomy(known, read(pa.table({"group": groups, "ill": ills, "count": counts})))

    assert with_sensitive([1, 1, 2], [1, 1, 1]).groups == 2
    with pytest.raises(
        DataError, match=r'group "1" .* more sensitive values \(3\) than rows \(2\)'
    ):
        with_sensitive([1, 1, 2], [1, 2, 1])
    with pytest.raises(
        DataError, match=r'group "2" .* fewer sensitive values \(0\) than rows \(1\)'
    ):
        with_sensitive([1, 1], [1, 1])
    with pytest.raises(DataError, match=r'group "3" .* has sensitive values but no row'):
        with_sensitive([1, 1, 3], [1, 1, 1])
    with pytest.raises(DataError, match='"count" holds "one", which is not a whole number'):
        with_sensitive([1, 1, 2], ["1", "one", "1"])
    with pytest.raises(
        DataError, match='"count" holds "-1", which cannot be a number of the 3 people'
    ):
        with_sensitive([1, 1, 2], [1, -1, 1])


def test_overlapping_groups_are_refused() -> None:
    people = pa.table(
        {"who": ["x", "x", "y"], "age": [1, 2, 3], "ill": list("abc"), "group": [1, 2, 2]}
    )
    table = read(people, quasi_identifiers=["age", "group"], sensitive=["ill"], id="who")
    with pytest.raises(DataError, match='groups overlap, "x" of "who" is in two of them') as error:
        from_group_column(table, group="group")
    one_line(error)
    mixed = pa.table({"age": ["1", "2"], "ill": ["a", "b"], "group": ["g", "g"]})
    both = read(mixed, quasi_identifiers=["age", "group"], sensitive=["ill"])
    with pytest.raises(DataError, match='rows of group "g" differ in their generalised values'):
        from_generalised(both, group="group")


def changed(column: str, record: int, value: str) -> EncodedTable:
    values = PEOPLE[column].to_pylist()
    values[record] = value
    place = PEOPLE.column_names.index(column)
    return table_of(PEOPLE.set_column(place, column, [values]))


def test_an_original_that_does_not_match_is_told_by_record_and_attribute() -> None:
    release, original = usual()
    with pytest.raises(DataError, match=r'record 2 of .+: "44" is not in the domain of "age"'):
        victims_of_table(release, changed("age", 1, "44"))
    with pytest.raises(DataError, match=r'record 2 of .*: "age" is "31", but .* has "20-29"'):
        victims_of_table(release, changed("age", 1, "31"), in_order=True)
    with pytest.raises(DataError, match=r'record 3 of .*: "ill" is "HIV", but .* has "flu"'):
        victims_of_table(release, changed("ill", 2, "HIV"), in_order=True)
    with pytest.raises(
        DataError, match=r'record 2 of .*: no group of .* can hold it, "city" being "Bonn"'
    ):
        victims_of_table(release, changed("city", 1, "Bonn"))
    with pytest.raises(
        DataError, match=r'has 2 records with "flu" as "ill", but .* has 3|has 3 .* has 2'
    ):
        victims_of_table(release, changed("ill", 2, "HIV"))
    with pytest.raises(DataError, match=r"has 4 records, but .* has 5"):
        victims_of_table(release, original.of_records(np.arange(4)))
    with pytest.raises(DataError, match='column "city" is not in'):
        victims_of_table(release, table_of(PEOPLE.drop_columns(["city"]), ["age"]))


GROUPED = pa.table(
    {
        "age": ["20", "21", "30", "31"],
        "ill": ["flu", "HIV", "flu", "cold"],
        "group": ["1", "1", "2", "2"],
    }
)


def forms_of_anatomy() -> list[Release]:
    """The same vertical release with a group column, its sensitive values permuted in groups, and as two tables."""
    columns = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "also": ["group"]}
    permuted = GROUPED.set_column(1, "ill", [["HIV", "flu", "cold", "flu"]])
    one = from_group_column(read(permuted, **columns), group="group")  # type: ignore[arg-type]
    counts = {"group": ["2", "1", "1", "2"], "ill": ["flu", "flu", "HIV", "cold"]}
    two = from_anatomy(read(GROUPED.drop_columns(["ill"])), read(pa.table(counts)))
    return [one, two]


def test_each_record_is_compared_with_its_own_row_of_anatomy() -> None:
    def original(ages: str, ills: str) -> EncodedTable:
        return table_of(pa.table({"age": ages.split(), "ill": ills.split()}), ["age"], name="o.csv")

    for release in forms_of_anatomy():
        whole = original("20 21 30 31", "flu HIV flu cold")
        victims, _ = victims_of_table(release, whole, in_order=True)
        assert victims.people is not None
        assert victims.people.tolist() == [1, 1, 1, 1]
        other = original("21 20 30 31", "HIV flu flu cold")
        victims_of_table(release, other)
        with pytest.raises(DataError, match=r'record 1 of o.csv: "age" is "21", but .* has "20"'):
            victims_of_table(release, other, in_order=True)
        swapped = original("20 21 30 31", "flu cold flu HIV")
        victims_of_table(release, swapped)
        with pytest.raises(
            DataError, match=r'record 2 of o.csv: its group in .* has "cold" as "ill" less often'
        ):
            victims_of_table(release, swapped, in_order=True)


def test_the_rows_of_an_anatomised_original_are_counted() -> None:
    table = table_of(DIVERSE)
    known, sensitive = anatomise(table, l=2).tables(table)
    release = from_anatomy(read(known), read(sensitive))
    twice = DIVERSE.take(pa.array([0, 0, 2, 3, 4])).set_column(2, "ill", DIVERSE["ill"])
    with pytest.raises(DataError, match='"20", "Lyon" as "age", "city" is there more often'):
        victims_of_table(release, table_of(twice))
    with pytest.raises(StudyError, match="does not show people's values"):
        victims_of_rows(usual()[0])


def test_the_order_of_written_releases_is_not_known() -> None:
    release = from_json(written())
    table = read(pa.table({"age": ["20", "21"], "ill": ["flu", "HIV"]}))
    assert len(victims_of_table(release, table)[0]) == 2
    with pytest.raises(StudyError, match="does not show the order of its records"):
        victims_of_table(release, table, in_order=True)


def test_a_victim_incompatible_with_every_group_is_refused() -> None:
    release, _ = usual()
    with pytest.raises(
        DataError, match=r'incompatible with every group; .* this value of "city"'
    ) as error:
        victims_of(release, [{"age": "20", "city": "Nice"}, {"age": "20", "city": "Bonn"}])
    assert "age = 20, city = Bonn" in one_line(error)


def test_what_is_known_of_victims_must_be_of_the_release() -> None:
    release, _ = usual()
    with pytest.raises(StudyError, match='attribute "town" is not in'):
        victims_of(release, [{"town": "Lyon"}])
    with pytest.raises(
        StudyError, match='value "Lion" is not in the domain of "city"; did you mean "Lyon"'
    ):
        victims_of(release, [{"city": "Lion"}])
    with pytest.raises(StudyError, match='no value of "city" is left'):
        victims_of(release, [{"city": []}])
    with pytest.raises(StudyError, match="there is no victim"):
        victims_of(release, [])


def test_roles_are_asked_for() -> None:
    table = read(PEOPLE)
    with pytest.raises(StudyError, match="name the quasi-identifiers and the sensitive attribute"):
        from_generalised(table)
    with pytest.raises(StudyError, match='"ill" is sensitive, and cannot name the groups'):
        from_group_column(table, group="ill", quasi_identifiers=["age"], sensitive=["ill"])
    with pytest.raises(DataError, match='column "grup" is not in'):
        from_group_column(table, group="grup", quasi_identifiers=["age"], sensitive=["ill"])
    with pytest.raises(StudyError, match="need a non-sensitive and a sensitive column"):
        from_anatomy(read(pa.table({"group": [1]})), read(pa.table({"group": [1], "count": [1]})))
    with pytest.raises(DataError, match='"Bonn" is not in the domain of "city"'):
        from_group_column(
            read(PEOPLE.append_column("group", [[1, 1, 2, 2, 2]])),
            group="group",
            quasi_identifiers=["city"],
            sensitive=["ill"],
            domains={"city": ["Lyon", "Nice"]},
        )


def test_shapes_that_do_not_fit_are_refused() -> None:
    release, _ = usual()
    with pytest.raises(DataError, match="do not fit each other"):
        replace(release, codes=release.codes[:1])
    with pytest.raises(DataError, match="a code of an attribute is outside"):
        replace(release, codes=release.codes + 9)
    with pytest.raises(DataError, match="a sensitive code is outside"):
        replace(release, sensitive_codes=release.sensitive_codes + 9)
    with pytest.raises(DataError, match="a set of values is empty"):
        ValueSets.of([[]], 3)


@pytest.mark.parametrize("count", ["1000000000000", "9" * 30, "-1", "two", "3"])
def test_a_count_that_cannot_be_is_refused_before_anything_is_made_of_it(count: str) -> None:
    known = read(pa.table({"age": ["20", "30"], "group": ["1", "1"]}))
    counts = pa.table({"group": ["1"], "ill": ["flu"], "count": [count]})
    with pytest.raises(DataError, match=r'"count" holds ".*"') as refused:
        from_anatomy(known, read(counts, name="sensitive.csv"))
    assert "correct it" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_many_counts_that_are_too_much_together_are_refused() -> None:
    known = read(pa.table({"age": ["20"] * 3, "group": ["1", "1", "2"]}))
    counts = pa.table(
        {"group": ["1", "1", "2"], "ill": ["flu", "HIV", "flu"], "count": ["3", "3", "1"]}
    )
    with pytest.raises(
        DataError, match=r'group "1" .* more sensitive values \(6\) than rows \(2\)'
    ):
        from_anatomy(known, read(counts))


def test_attributes_of_the_JSON_form_have_names_of_their_own() -> None:
    groups = [{"sensitive": ["flu"], "generalised": ["20", "30"]}]
    twice = {"attributes": [{"name": "a"}, {"name": "a"}], "sensitive": {"name": "s"}}
    with pytest.raises(DataError, match='two attributes are called "a"; rename one'):
        from_json(twice | {"groups": groups})
    secret = {"attributes": [{"name": "a"}, {"name": "b"}], "sensitive": {"name": "b"}}
    with pytest.raises(DataError, match='two attributes are called "b"'):
        from_json(secret | {"groups": groups})
