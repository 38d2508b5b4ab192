"""Linkage against the obvious: the whole stochastic channel, record by record in fractions, and exact Bayes on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.microdata import Assessment, Attack, LinkKey, assess, link, linkage, linkage_kernels
from glasshouse.qif import BayesVulnerability, Certainty, Channel, Prior
from glasshouse.table import EncodedColumn, EncodedTable, read
from glasshouse.table.codes import mapping
from tests.examples import examples

Row = dict[str, str]
ABSENT = "absent"

BORN = st.sampled_from(["1", "2", "3", ""])
CITY = st.sampled_from(["x", "y", ""])
GRADE = st.sampled_from("AB")
FOCAL = st.fixed_dictionaries(
    {
        "born": BORN,
        "city": CITY,
        "grade": GRADE,
        "ill": st.sampled_from("pqr"),
        "drug": GRADE,
        "weight": st.sampled_from(["1", "2", "5"]),
    }
)
LATER = st.fixed_dictionaries({"born": BORN, "city": CITY, "grade": GRADE, "club": GRADE})
CHANCE = st.sampled_from(
    [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(1, 3), Fraction(9, 10)]
)
"""1/2 and 1/3 tell nothing of keys with two and three values; 0 says that everybody changes."""
AWKWARD = st.sampled_from([Fraction(10**17 + 3, 10**18), Fraction(1, 999_999_937), Fraction(1)])
"""Products of these do not fit 64 bits."""


def keys_with(chance: st.SearchStrategy[Fraction]) -> st.SearchStrategy[list[LinkKey]]:
    born = st.builds(LinkKey, st.just("born"), chance, st.sampled_from([0, 0, 1, -1]))
    city = st.builds(LinkKey, st.just("city"), chance)
    return st.tuples(born, city, st.integers(0, 3)).map(
        lambda drawn: [key for bit, key in enumerate(drawn[:2]) if drawn[2] >> bit & 1]
    )


def as_table(rows: Sequence[Row], name: str = "") -> EncodedTable:
    return read(pa.table({column: [row[column] for row in rows] for column in rows[0]}), name=name)


def agrees(key: LinkKey, own: str, other: str) -> bool:
    if key.shift == 0 or not (own and other):
        return own == other != ""
    return int(own) + key.shift == int(other)


def values_of(key: LinkKey, focal: Sequence[Row], later: Sequence[Row]) -> int:
    moved = (
        {r[key.name] and str(int(r[key.name]) + key.shift) for r in focal} if key.shift else None
    )
    values = (moved or {r[key.name] for r in focal}) | {s[key.name] for s in later}
    return max(len(values), 2) if "" in values else len(values)


def weight(key: LinkKey, own: str, other: str, values: int) -> Fraction:
    if agrees(key, own, other):
        return key.probability
    return (1 - key.probability) / (values - 1) if values > 1 else Fraction(0)


def shown(
    focal: Sequence[Row],
    later: Sequence[Row],
    keys: Sequence[LinkKey],
    known: Sequence[str],
    own: Row,
) -> dict[Any, Fraction]:
    """P(y_i | r): the definition."""
    chances: dict[Any, Fraction] = defaultdict(Fraction)
    values = {key.name: values_of(key, focal, later) for key in keys}
    for other in later:
        seen = tuple(other[name] for name in known if name in other)
        chances[seen] += prod(
            (weight(key, own[key.name], other[key.name], values[key.name]) for key in keys),
            start=Fraction(1),
        )
    total = sum(chances.values())
    if total == 0:
        return {ABSENT: Fraction(1)}
    return {seen: chance / total for seen, chance in chances.items() if chance}


def channel_rows(
    focal: Sequence[Row],
    laters: Sequence[Sequence[Row]],
    keys: Sequence[Sequence[LinkKey]],
    known: Sequence[str],
) -> list[dict[Any, Fraction]]:
    """P(y₁, …, y_k | r) of each focal record r."""
    rows = []
    for own in focal:
        first = tuple(own[name] for name in known if name in own)
        others = [
            shown(focal, later, each, known, own) for later, each in zip(laters, keys, strict=True)
        ]
        rows.append(
            {
                (first, *(seen for seen, _ in path)): prod(
                    (chance for _, chance in path), start=Fraction(1)
                )
                for path in product(*(other.items() for other in others))
            }
        )
    return rows


def by_secret(
    rows: list[dict[Any, Fraction]], secrets: Sequence[Any], weights: Sequence[int]
) -> tuple[Prior, Channel]:
    names, seen = list(dict.fromkeys(secrets)), list(dict.fromkeys(y for row in rows for y in row))
    mass = {x: sum(w for s, w in zip(secrets, weights, strict=True) if s == x) for x in names}
    matrix = [
        [
            sum(
                (
                    w * row.get(y, Fraction(0))
                    for row, s, w in zip(rows, secrets, weights, strict=True)
                    if s == x
                ),
                start=Fraction(0),
            )
            / mass[x]
            for y in seen
        ]
        for x in names
    ]
    prior = Prior([Fraction(mass[x], sum(weights)) for x in names], names)
    return prior, Channel(matrix, names, seen)


def check(
    outcome: Attack, rows: list[dict[Any, Fraction]], secrets: Sequence[Any], weights: Sequence[int]
) -> None:
    prior, channel = by_secret(rows, secrets, weights)
    chance, certainty = outcome.probabilistic, outcome.deterministic
    assert chance.prior == BayesVulnerability().prior(prior)
    assert chance.posterior == BayesVulnerability().posterior(prior, channel)
    assert certainty.prior == Certainty().prior(prior)
    assert certainty.posterior == Certainty().posterior(prior, channel)
    assert chance.prior <= chance.posterior <= 1
    assert outcome.classes == len(channel.outputs)
    able: dict[Any, set[Any]] = defaultdict(set)
    for row, secret in zip(rows, secrets, strict=True):
        for y in row:
            able[y].add(secret)
    assert outcome.certain == sum(all(len(able[y]) == 1 for y in row) for row in rows)


def check_all(
    focal: list[Row],
    laters: list[list[Row]],
    keys: list[list[LinkKey]],
    *,
    weighted: bool,
    known: Sequence[str] = ("grade", "club"),
) -> Assessment:
    secrets: list[Any] = ["ill", ["ill", "drug"]]
    outcome = link(
        as_table(focal),
        [as_table(later) for later in laters],
        keys=keys,
        quasi_identifiers=list(known),
        sensitive=secrets,
        prior_weight="weight" if weighted else None,
    )
    weights = [int(row["weight"]) if weighted else 1 for row in focal]
    attacks = iter(outcome.attacks)
    for size in range(len(laters) + 1):
        rows = channel_rows(focal, laters[:size], keys[:size], known)
        naming = next(attacks)
        assert naming.code == "CRL"
        check(naming, rows, range(len(focal)), weights)
        assert naming.uniques == naming.certain
        for columns in (["ill"], ["ill", "drug"]):
            inferring = next(attacks)
            assert (inferring.code, inferring.secret) == ("CAL", tuple(columns))
            assert inferring.uniques == naming.uniques
            check(inferring, rows, [tuple(row[c] for c in columns) for row in focal], weights)
    assert next(attacks, None) is None
    assert outcome.exact
    return outcome


@given(
    st.lists(FOCAL, min_size=1, max_size=6),
    st.lists(LATER, min_size=1, max_size=6),
    keys_with(CHANCE),
    st.booleans(),
)
def test_linking_one_dataset_equals_exact_bayes(
    focal: list[Row], later: list[Row], keys: list[LinkKey], weighted: bool
) -> None:
    check_all(focal, [later], [keys], weighted=weighted)


@settings(max_examples=examples(60))
@given(
    st.lists(FOCAL, min_size=1, max_size=5),
    st.lists(
        st.tuples(st.lists(LATER, min_size=1, max_size=4), keys_with(CHANCE)),
        min_size=2,
        max_size=3,
    ),
    st.booleans(),
)
def test_linking_several_datasets_equals_exact_bayes(
    focal: list[Row], linked: list[tuple[list[Row], list[LinkKey]]], weighted: bool
) -> None:
    laters, keys = [later for later, _ in linked], [own for _, own in linked]
    check_all(focal, laters, keys, weighted=weighted)


@settings(max_examples=examples(60))
@given(
    st.lists(FOCAL, min_size=1, max_size=5),
    st.lists(
        st.tuples(st.lists(LATER, min_size=1, max_size=4), keys_with(AWKWARD)),
        min_size=1,
        max_size=2,
    ),
)
def test_what_64_bits_do_not_hold_is_still_exact_on_small_tables(
    focal: list[Row], linked: list[tuple[list[Row], list[LinkKey]]]
) -> None:
    check_all(focal, [later for later, _ in linked], [own for _, own in linked], weighted=False)


@given(
    st.lists(FOCAL, min_size=1, max_size=6),
    st.lists(LATER, min_size=1, max_size=6),
    keys_with(CHANCE | AWKWARD),
)
def test_doubles_agree_with_exact_bayes_and_say_that_they_are_not_exact(
    focal: list[Row], later: list[Row], keys: list[LinkKey]
) -> None:
    tables: Any = (as_table(focal), [as_table(later), as_table(later)])
    asked: Any = {"keys": keys, "quasi_identifiers": ["grade"], "sensitive": ["ill"]}
    exact = link(*tables, **asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkage, "_LONGEST", 0)
        patch.setattr(linkage, "_SMALL", 0)
        rounded = link(*tables, **asked)
    assert exact.exact
    assert not rounded.exact
    for one, other in zip(exact.attacks, rounded.attacks, strict=True):
        assert abs(one.probabilistic.posterior - other.probabilistic.posterior) < 1e-12
        assert abs(one.deterministic.posterior - other.deterministic.posterior) < 1e-12
        assert (one.classes, one.uniques, one.certain) == (
            other.classes,
            other.uniques,
            other.certain,
        )


def joined(focal: list[Row], later: list[Row]) -> EncodedTable:
    """The left outer join on a unique key."""
    by_key = {row["born"]: row for row in later}
    absent = {"grade": ABSENT, "club": ABSENT}
    return as_table(
        [
            row | {f"{name}@2": by_key.get(row["born"], absent)[name] for name in absent}
            for row in focal
        ]
    )


@given(st.lists(FOCAL, min_size=1, max_size=8), st.lists(LATER, min_size=1, max_size=5))
def test_a_unique_key_that_persists_gives_the_left_outer_join(
    focal: list[Row], later: list[Row]
) -> None:
    focal = [row | {"born": str(number)} for number, row in enumerate(focal)]
    later = [row | {"born": str(2 * number)} for number, row in enumerate(later)]
    linked = link(
        as_table(focal),
        [as_table(later)],
        keys=[LinkKey("born")],
        quasi_identifiers=["grade", "club"],
        sensitive=["ill"],
    )
    join = assess(joined(focal, later), subsets=[["grade", "grade@2", "club@2"]], sensitive=["ill"])
    for one, other in zip(linked.attacks[2:], join.attacks, strict=True):
        assert (one.probabilistic, one.deterministic) == (other.probabilistic, other.deterministic)
        assert (one.classes, one.uniques, one.certain) == (
            other.classes,
            other.uniques,
            other.certain,
        )


@given(st.lists(FOCAL, min_size=1, max_size=6), st.lists(LATER, min_size=1, max_size=6))
def test_without_keys_an_auxiliary_dataset_tells_nothing(
    focal: list[Row], later: list[Row]
) -> None:
    outcome = check_all(focal, [later], [[]], weighted=True)
    for before, after in zip(outcome.attacks[:3], outcome.attacks[3:], strict=True):
        assert after.probabilistic == before.probabilistic
        assert after.deterministic == before.deterministic
        assert (after.uniques, after.certain) == (before.uniques, before.certain)


def test_whoever_nobody_is_compatible_with_is_absent() -> None:
    focal = as_table([{"born": "1", "q": "a"}, {"born": "2", "q": "a"}])
    later = as_table([{"born": "1", "q": "b"}])
    outcome = link(focal, [later], keys=[LinkKey("born")], quasi_identifiers=["q"]).attacks[-1]
    assert outcome.probabilistic.posterior == 1
    assert (outcome.classes, outcome.uniques) == (2, 2)


def test_whoever_must_change_the_only_value_there_is_is_absent() -> None:
    focal = as_table([{"born": "1", "q": "a"}, {"born": "1", "q": "b"}])
    later = as_table([{"born": "1", "q": "c"}])
    outcome = link(focal, [later], keys=[LinkKey("born", 0)], quasi_identifiers=["q"]).attacks[-1]
    assert outcome.classes == 2
    assert outcome.probabilistic.posterior == 1


def test_ages_are_compared_as_integers_after_their_shift_and_missing_ones_never_agree() -> None:
    focal = as_table([{"age": text, "q": "a"} for text in (" 9", "009", "10", " ")])
    later = as_table([{"age": "10", "q": "b"}, {"age": "+11", "q": "c"}, {"age": "", "q": "d"}])
    rows = link(focal, [later], keys=[LinkKey("age", 1, 1)], quasi_identifiers=["q"]).attacks[-1]
    # The nines show b, the ten shows c, and who has no age is compatible with nobody.
    assert (rows.classes, rows.uniques) == (3, 2)
    assert rows.probabilistic.posterior == Fraction(3, 4)


def test_each_auxiliary_dataset_may_have_its_own_keys() -> None:
    focal = as_table([{"age": str(age), "q": "a"} for age in (9, 10)], "2014")
    later = [as_table([{"age": str(age), "q": q}]) for age, q in ((10, "b"), (11, "c"))]
    linked = link(
        focal,
        [replace(later[0], name="2015"), replace(later[1], name="2016")],
        keys=[[LinkKey("age", shift=1)], [LinkKey("age", shift=2)]],
        quasi_identifiers=["q"],
    )
    assert [attack.datasets for attack in linked.attacks] == [
        ("2014",),
        ("2014", "2015"),
        ("2014", "2015", "2016"),
    ]
    assert [attack.probabilistic.posterior for attack in linked.attacks] == [Fraction(1, 2), 1, 1]


def test_values_that_no_record_has_are_not_counted() -> None:
    """Joined tables have such values, and none where somebody is absent."""
    focal = as_table([{"city": "x", "q": "a"}, {"city": "y", "q": "a"}])
    later = as_table([{"city": "y", "q": "c"}, {"city": "x", "q": "b"}])
    city = EncodedColumn(
        "city", np.array([2, 0], np.uint8), pa.array(["x", None, "y"], pa.large_string())
    )
    wider = replace(later, columns={**later.columns, "city": city})
    asked: Any = {"keys": [LinkKey("city", 0.9)], "quasi_identifiers": ["q"]}
    plain = link(focal, [later], **asked)
    assert link(focal, [wider], **asked) == plain
    assert plain.attacks[-1].probabilistic.posterior == Fraction(9, 10)


def test_by_default_each_dataset_shows_its_quasi_identifiers_and_keeps_its_secrets() -> None:
    columns = {"born": ["1", "2"], "grade": ["A", "A"], "ill": ["p", "q"]}
    first = read(pa.table(columns), name="first").with_roles(
        quasi_identifiers=["grade"], sensitive=["ill"]
    )
    second = read(pa.table(columns), name="second").with_roles(quasi_identifiers=["ill"])
    linked = link(first, [second], keys=[LinkKey("born")])
    assert [attack.quasi_identifiers for attack in linked.attacks] == [("grade",)] * 2 + [
        ("grade", "ill")
    ] * 2
    assert [attack.probabilistic.posterior for attack in linked.attacks] == [
        Fraction(1, 2),
        Fraction(1, 2),
        1,
        1,
    ]


def test_large_tables_add_up_exactly() -> None:
    """Against group-bys in Python: a posterior of many denominators, and many ties between secrets."""
    generator = np.random.default_rng(11)

    def columns(size: int) -> dict[str, list[str]]:
        return {
            "born": [str(value) for value in generator.integers(0, 300, size)],
            "q": [str(value) for value in generator.integers(0, 4, size)],
            "x": [str(value) for value in generator.integers(0, 3, size)],
        }

    first, second = columns(4_000), columns(3_000)
    linked = link(
        read(pa.table(first)),
        [read(pa.table(second))],
        keys=[LinkKey("born")],
        quasi_identifiers=["q"],
        sensitive=["x"],
    )
    blocks: dict[str, list[str]] = defaultdict(list)
    for born, q in zip(second["born"], second["q"], strict=True):
        blocks[born].append(q)
    mass: dict[tuple[str, str], dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for born, q, x in zip(*first.values(), strict=True):
        block = blocks.get(born, [ABSENT])
        for seen in set(block):
            mass[q, seen][x] += Fraction(block.count(seen), len(block))
    expected = sum(max(by_value.values()) for by_value in mass.values()) / 4_000
    assert linked.attacks[-1].probabilistic.posterior == expected
    assert linked.exact


def test_many_nodes_are_split_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    tables = [
        read(pa.table({name: generator.integers(0, 5, 60).astype(str) for name in ("k", "q", "x")}))
        for _ in range(4)
    ]
    asked: Any = {"keys": [LinkKey("k", 0.8)], "quasi_identifiers": ["q"], "sensitive": ["x"]}
    whole = link(tables[0], tables[1:], **asked)
    monkeypatch.setattr(linkage, "_PORTION", 7)
    assert link(tables[0], tables[1:], **asked) == whole


def test_near_ties_beyond_64_bits_are_settled_or_not_called_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two secrets tie, or nearly so, through blocks of sizes whose common multiple exceeds 64 bits."""
    primes = [100_003, 100_019, 100_043, 100_049, 100_057]
    focal = [{"k": str(p), "q": "a", "x": x} for p in primes for x in "pq"]
    focal.append({"k": "0", "q": "a", "x": "r"})  # else all would be one class
    later = [{"k": str(p), "q": str(i % 2)} for p in primes for i in range(p)]
    asked: Any = {"keys": [LinkKey("k")], "quasi_identifiers": ["q"], "sensitive": ["x"]}
    exact = link(as_table(focal), [as_table(later)], **asked)
    assert exact.exact
    assert exact.attacks[-1].probabilistic.posterior == Fraction(len(primes) + 1, len(focal))
    monkeypatch.setattr(linkage, "_MOST_UNSETTLED", 0)
    close = link(as_table(focal), [as_table(later)], **asked)
    assert not close.exact
    assert close.attacks[-1].probabilistic == exact.attacks[-1].probabilistic


def test_what_a_wrong_guess_missed_is_made_good() -> None:
    """Two groups with the secret 0 and one with 1, which is better by less than doubles can tell."""
    large = (1 << 61) - 1
    tops = np.array([large // 2, 1, large // 2 + 2])
    bottoms = np.array([large, large - 2, large])
    groups = linkage_kernels.LinkedGroups(
        starts=np.array([0, 3]),
        secrets=np.array([0, 0, 1], np.uint32),
        holders=np.ones(3, np.int64),
        links=np.array([[1, 1, 2]], np.uint32),
        weights=tops,
        records=np.ones(3, np.int64),
    )
    rows = linkage_kernels.LinkedRows(
        starts=np.array([0, 1, 3, 4]),
        observations=np.array([0, 1, 2, 1], np.uint32),
        weights=np.array([1, 1, 1, 1]),
        totals=np.array([1, 2, 1]),
    )
    nodes = linkage_kernels.first_nodes(groups, rows)._replace(bottoms=bottoms)
    values = [Fraction(int(t), int(b)) for t, b in zip(tops, bottoms, strict=True)]
    missed = linkage_kernels.shortfall(nodes, np.array([0, 1, 0]), 0, groups, rows)
    assert missed == values[2] - (values[0] + values[1]) / 2
    assert linkage_kernels.shortfall(nodes, np.array([0, 1, 2]), 0, groups, rows) == 0
    assert linkage_kernels.shortfall(nodes, np.array([0, 2, 1]), 0, groups, rows) == 0


FRACTIONS = st.tuples(st.integers(0, 1 << 61), st.integers(1, 1 << 61))


def pythonic(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function before it is compiled, on Python's integers."""
    plain: Callable[..., Any] = function.py_func  # type: ignore[attr-defined]
    return plain


@given(FRACTIONS, FRACTIONS)
def test_fractions_are_compared_without_growing(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    less = pythonic(linkage_kernels._less)
    assert less(*one, *other) == (Fraction(*one) < Fraction(*other))
    assert not less(*one, *one)


@given(FRACTIONS, FRACTIONS)
def test_fractions_are_added_or_refused(one: tuple[int, int], other: tuple[int, int]) -> None:
    top, bottom = pythonic(linkage_kernels._plus)(*one, *other)
    assert 0 <= top < 1 << 63
    assert 0 <= bottom < 1 << 62
    if bottom:
        assert Fraction(int(top), int(bottom)) == Fraction(*one) + Fraction(*other)


def test_results_are_plain_values_and_a_frame() -> None:
    focal = as_table([{"k": "1", "q": "a", "x": "p"}, {"k": "2", "q": "a", "x": "q"}], "first")
    later = as_table([{"k": "1", "q": "b"}], "second")
    linked = link(focal, [later], keys=[LinkKey("k")], quasi_identifiers=["q"], sensitive=["x"])
    content = linked.to_dict()
    assert (content["records"], content["exact"]) == (2, True)
    assert content["results"][3]["probabilistic"] == {
        "prior": 0.5,
        "posterior": 1.0,
        "additive": 0.5,
        "multiplicative": 2.0,
    }
    frame = linked.to_frame()
    assert frame.column("attack").to_pylist() == ["CRL", "CAL"] * 2
    assert frame.column("datasets").to_pylist()[-1] == ["first", "second"]
    assert frame.column("success_1").null_count >= 2


ONE = [{"born": "1", "city": "x", "q": "a", "x": "p"}]


def refused(error: type[Exception], match: str, **changes: Any) -> None:
    asked: dict[str, Any] = {
        "keys": [LinkKey("born")],
        "quasi_identifiers": ["q"],
        "sensitive": ["x"],
    }
    asked |= {"auxiliaries": [as_table([{"born": "1", "q": "b"}], "later")]} | changes
    with pytest.raises(error, match=match) as caught:
        link(as_table(ONE, "focal"), asked.pop("auxiliaries"), **asked)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "chance", [-0.1, 1.5, "many", float("nan"), "1/0", "1e-19", "", "1e99999999"]
)
def test_a_probability_is_from_0_to_1(chance: Any) -> None:
    with pytest.raises(StudyError, match=r'key "city" persists with probability .* from 0 to 1'):
        LinkKey("city", persists=chance)


def test_decimals_are_taken_at_face_value() -> None:
    assert LinkKey("city", 0.1).probability == LinkKey("city", "0.1").probability == Fraction(1, 10)


def test_a_key_that_is_not_in_a_dataset_is_named() -> None:
    refused(
        DataError, 'column "born " is not in focal; did you mean "born"', keys=[LinkKey("born ")]
    )
    refused(DataError, 'column "city" is not in later; it has', keys=[LinkKey("city")])


def test_a_shift_needs_integers() -> None:
    later = as_table([{"born": "1", "city": "2", "q": "b"}], "later")
    refused(
        DataError,
        'focal, record 1: "x" in column "city" is not an integer',
        keys=[LinkKey("city", shift=1)],
        auxiliaries=[later],
    )


def test_keys_must_fit_the_datasets() -> None:
    refused(StudyError, "there is nothing to link", auxiliaries=[])
    refused(
        StudyError, "2 lists of keys are given for 1", keys=[[LinkKey("born")], [LinkKey("born")]]
    )
    refused(StudyError, 'key "born" is given twice', keys=[LinkKey("born"), LinkKey("born", 0.5)])
    refused(StudyError, "keys are given as a list, such as", keys=["born"])
    refused(StudyError, r'keys are given as a list: \[LinkKey\("born"\)\]', keys=LinkKey("born"))


def test_something_must_be_observed_in_each_auxiliary_dataset() -> None:
    refused(StudyError, "nothing is observed in later", quasi_identifiers=["city"])
    refused(StudyError, "nothing is observed in later", quasi_identifiers=None)
    refused(DataError, 'column "qq" is not in any of the datasets', quasi_identifiers=["q", "qq"])
    refused(StudyError, 'column "x" is both', quasi_identifiers=["q", "x"])


def test_too_many_keys_that_may_change_are_refused() -> None:
    names = [f"k{i}" for i in range(7)]
    rows = [dict.fromkeys(names, str(i)) | {"q": "a"} for i in range(2)]
    with pytest.raises(BudgetError, match=r"7 keys of .* may change, more than 6"):
        link(
            as_table(rows),
            [as_table(rows)],
            keys=[LinkKey(name, 0.9) for name in names],
            quasi_identifiers=["q"],
        )


@pytest.mark.parametrize(
    ("limit", "most"), [("MOST_CELLS", 100), ("MOST_HELD", 100), ("MOST_HELD", 50)]
)
def test_more_than_fits_the_budget_is_refused_before_it_starts(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    generator = np.random.default_rng(5)
    tables = [
        read(pa.table({name: generator.integers(0, 9, 90).astype(str) for name in ("k", "q")}))
        for _ in range(3)
    ]
    monkeypatch.setattr(linkage, limit, most)
    monkeypatch.setattr(linkage, "measure", None)
    with pytest.raises(BudgetError, match=f"beyond the limit of {most}; add a key that persists"):
        link(tables[0], tables[1:], keys=[LinkKey("k", 0.9)], quasi_identifiers=["q"])


def test_more_observations_than_can_be_counted_are_refused() -> None:
    many = as_table([{"q": str(i)} for i in range(1_000)])
    with pytest.raises(BudgetError, match="add a key that persists"):
        link(as_table([{"q": "a"}]), [many] * 7, keys=[], quasi_identifiers=["q"])


def test_what_does_not_fit_into_the_memory_given_is_refused_before_it_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = np.random.default_rng(6)
    tables = [
        read(pa.table({name: generator.integers(0, 9, 90).astype(str) for name in ("k", "q")}))
        for _ in range(2)
    ]
    words: dict[str, Any] = {"keys": [LinkKey("k", 0.9)], "quasi_identifiers": ["q"]}
    everything = link(tables[0], tables[1:], **words)
    monkeypatch.setattr(linkage, "resident_bytes", lambda: 100 << 20)
    monkeypatch.setattr(linkage, "LOOP_BYTES", 0)
    needed = (100 << 20) + 180 * (linkage.RECORD_BYTES + linkage.GROUP_BY_BYTES)
    assert link(tables[0], tables[1:], memory=needed, **words).attacks == everything.attacks
    monkeypatch.setattr(linkage, "_linked", None)
    with pytest.raises(
        BudgetError, match=r"takes about 100 MiB, and the process may take 100 MiB; give more"
    ):
        link(tables[0], tables[1:], memory=needed - 1, **words)


def test_pairs_that_do_not_fit_into_the_memory_given_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = read(pa.table({"k": [str(i) for i in range(90)], "q": [str(i) for i in range(90)]}))
    monkeypatch.setattr(linkage, "resident_bytes", lambda: 0)
    monkeypatch.setattr(linkage, "LOOP_BYTES", 0)
    monkeypatch.setattr(linkage, "CELL_BYTES", 1_000)
    with pytest.raises(BudgetError, match="beyond the limit of 1,048; add a key that persists"):
        link(table, [table], keys=[LinkKey("k", 0.9)], quasi_identifiers=["q"], memory=1 << 20)


@pytest.mark.parametrize(
    ("limits", "weight"),
    [
        ({}, None),
        ({}, "w"),
        ({"_LONGEST": 5}, "w"),
        ({"LARGEST": 10_000}, None),
        ({"LARGEST": 10_000, "_SMALL": 0}, None),
        ({"_PORTION": 20, "_LONGEST": 5}, None),
    ],
    ids=[
        "exact",
        "weights",
        "in doubles",
        "in Python's integers",
        "weighed in doubles",
        "portions",
    ],
)
def test_records_linked_in_slices_on_disk_give_every_digit_of_those_in_memory(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], weight: str | None
) -> None:
    generator = np.random.default_rng(8)
    sizes = {"born": 40, "town": 6, "q": 9, "r": 3, "ill": 3, "poor": 2, "w": 4}
    frames = []
    for _ in range(3):
        columns = {name: generator.integers(0, n, 300).astype("U2") for name, n in sizes.items()}
        columns["born"][::17] = ""
        frames.append(pa.table(columns))
    words: dict[str, Any] = {
        "keys": [
            [LinkKey("born", shift=1), LinkKey("town", 0.9)],
            [LinkKey("born"), LinkKey("poor", 0.5), LinkKey("r", 0.7)],
        ],
        "quasi_identifiers": ["q", "r"],
        "sensitive": ["ill", ("ill", "poor")],
        "prior_weight": weight,
    }
    for name, limit in limits.items():
        monkeypatch.setattr(linkage, name, limit)
    focal, *others = (read(frame, name=str(place)) for place, frame in enumerate(frames))
    whole = link(focal, others, **words)
    for module in ("microdata.attacks", "table.codes", "table.partition"):
        monkeypatch.setattr(f"glasshouse.{module}.BLOCK_RECORDS", 64)
    monkeypatch.setattr("glasshouse.table.encode.VALUES_SHARE", 1 << 50)
    monkeypatch.setattr(linkage, "_budget", lambda *_: linkage._Budget(1 << 40, at_once=False))
    monkeypatch.setattr(linkage._Budget, "slices", lambda *_: 5)
    batches = [pa.Table.from_batches(frame.to_batches(max_chunksize=50)) for frame in frames]
    focal, *others = (read(frame, name=str(place), memory=1) for place, frame in enumerate(batches))
    assert mapping(focal.column("ill").codes) is not None
    assert link(focal, others, memory=1 << 40, **words) == whole
    assert whole.exact == ("_LONGEST" not in limits and "_SMALL" not in limits)
