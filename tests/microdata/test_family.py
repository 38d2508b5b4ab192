"""Families against the obvious: parts by filtering, best sets by dictionaries, correlations by numpy."""

from __future__ import annotations

import json
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.microdata import Leakage, assess, attack, best_subsets, sweep
from glasshouse.microdata.parts import Best, Family, FamilyPart, family, parts_by, pearson
from glasshouse.progress import Progress
from glasshouse.qif.measures import ShannonEntropy
from glasshouse.qif.prior import Prior
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Row = tuple[str, str, str, str, int]
NAMES = ("state", "a", "b", "secret", "weight")
KNOWN = ("a", "b")
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["10", "9", "RR", ""]),
        st.sampled_from("xyz"),
        st.sampled_from("uvw"),
        st.sampled_from("pqr"),
        st.integers(1, 4),
    ),
    min_size=1,
    max_size=14,
)


def as_table(rows: list[Row], **roles: Any) -> EncodedTable:
    frame = pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    given = {"quasi_identifiers": KNOWN, "sensitive": ["secret"]} | roles
    return read(frame, name="people").with_roles(**given)


def of_state(rows: list[Row], state: str) -> list[Row]:
    return [row for row in rows if row[0] == state]


def posterior(rows: list[Row], known: tuple[str, ...], sensitive: str | None) -> Fraction:
    """Σ over classes of the most frequent value, record by record."""
    classes: dict[tuple[Any, ...], Counter[Any]] = {}
    for number, row in enumerate(rows):
        named = dict(zip(NAMES, row, strict=True))
        secret = number if sensitive is None else named[sensitive]
        classes.setdefault(tuple(named[name] for name in known), Counter())[secret] += 1
    return Fraction(sum(max(each.values()) for each in classes.values()), len(rows))


def part(name: str, *additive: str, records: int = 10, entropy: float = 1.0) -> FamilyPart:
    """A part of which only the leakage about one secret, in per cent, matters."""
    prior, *leaked = (Fraction(each) / 100 for each in additive)
    best = [
        Best(sensitive, size, KNOWN[:size], Leakage(prior, prior + each))
        for sensitive in (None, "secret")
        for size, each in enumerate(leaked, start=1)
    ]
    return FamilyPart(name, records, tuple(best), {None: 1.0, "secret": entropy})


def of_parts(*parts: FamilyPart, ordered: bool = False) -> Family:
    return Family(KNOWN, ("secret",), ordered, parts)


@settings(max_examples=examples(40))
@given(ROWS)
def test_a_part_is_what_reading_its_records_alone_would_give(rows: list[Row]) -> None:
    parts = list(parts_by(as_table(rows), "state"))
    order = [state for state in ("9", "10", "RR", "") if of_state(rows, state)]
    assert [value for value, _ in parts] == order
    assert sum(own.records for _, own in parts) == len(rows)
    for value, own in parts:
        alone = as_table(of_state(rows, value))
        assert (own.name, own.records) == (f"people: {value}", alone.records)
        assert own.roles == alone.roles
        for name in NAMES:
            assert own.column(name).codes.tolist() == alone.column(name).codes.tolist()
            assert own.column(name).values.to_pylist() == alone.column(name).values.to_pylist()


@settings(max_examples=examples(40))
@given(ROWS)
def test_a_part_knows_the_positions_of_its_records(rows: list[Row]) -> None:
    table = as_table(rows)
    reversed_table = table.of_records(np.arange(len(rows))[::-1])
    for whole, positions in ((table, range(len(rows))), (reversed_table, range(len(rows))[::-1])):
        for value, own in parts_by(whole, "state"):
            assert own.positions is not None
            assert own.positions.tolist() == [i for i in positions if rows[i][0] == value]


@settings(max_examples=examples(40))
@given(ROWS)
def test_attacks_on_a_part_are_those_on_its_records_whatever_the_rest_holds(
    rows: list[Row],
) -> None:
    """Weights and worths are taken over the dictionary: those of other parts must not be in it."""
    table = as_table(rows, prior_weight="weight")
    for value, own in parts_by(table, "state"):
        alone = as_table(of_state(rows, value), prior_weight="weight")
        for ours, theirs in zip(assess(own).attacks, assess(alone).attacks, strict=True):
            assert ours.probabilistic == theirs.probabilistic
            assert ours.deterministic == theirs.deterministic
        worth = dict.fromkeys(alone.column("secret").values.to_pylist(), 2)
        assert (
            attack(own, sensitive="secret", gain=worth).gain
            == attack(alone, sensitive="secret", gain=worth).gain
        )


def test_a_value_that_no_record_has_makes_no_part() -> None:
    rows: list[Row] = [("B", "x", "u", "p", 1), ("A", "y", "u", "q", 1), ("B", "x", "v", "q", 1)]
    table = as_table(rows).of_records(np.array([0, 2]))
    assert [(value, own.records) for value, own in parts_by(table, "state")] == [("B", 2)]


def test_parts_come_in_the_order_of_numbers_then_of_text_then_missing() -> None:
    values = ["b", "10", "", "9", "-1.5", "1e1", "B", "a"]
    table = read(pa.table({"by": values, "a": values})).with_roles(quasi_identifiers=["a"])
    found = [value for value, _ in parts_by(table, "by")]
    assert found == ["-1.5", "9", "10", "1e1", "B", "a", "b", ""]


def test_facts_stay_facts_in_every_part() -> None:
    columns = {"state": list("AAB"), "day": [1, 1, 2], "month": [1, 2, 2], "sex": list("FFM")}
    table = read(pa.table(columns)).with_roles(
        quasi_identifiers=["sex"], facts={"birth": ["day", "month"]}
    )
    for _, own in parts_by(table, "state"):
        assert own.facts == {"birth": ("day", "month")}
    assert family(parts_by(table, "state")).parts[0].of(None)[0].quasi_identifiers == ("birth",)


@settings(max_examples=examples(40))
@given(ROWS)
def test_the_best_set_of_each_size_in_every_part(rows: list[Row]) -> None:
    found = family(parts_by(as_table(rows), "state"), threads=1)
    assert (found.quasi_identifiers, found.sensitive, found.sizes) == (KNOWN, ("secret",), (1, 2))
    assert sum(own.records for own in found.parts) == len(rows)
    for own in found.parts:
        alone = of_state(rows, own.name)
        for target in found.targets:
            for best, size in zip(own.of(target), found.sizes, strict=True):
                first = max(combinations(KNOWN, size), key=lambda s: posterior(alone, s, target))
                assert (best.size, best.quasi_identifiers) == (size, first)
                assert best.leakage.prior == posterior(alone, (), target)
                assert best.leakage.posterior == posterior(alone, first, target)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("subsets", ["all", "max:1", [["a"], ["a", "b"]], [["b", "a"]]])
def test_a_family_is_a_sweep_of_each_part(weight: str | None, subsets: Any) -> None:
    generator = np.random.default_rng(3)
    drawn = generator.integers(0, 3, (60, 5)).tolist()
    rows: list[Row] = [("NSW"[s], "xyz"[a], "uvw"[b], "pqr"[c], w + 1) for s, a, b, c, w in drawn]
    told: list[Progress] = []
    found = family(
        parts_by(as_table(rows, prior_weight=weight), "state"),
        subsets=subsets,
        on_progress=told.append,
    )
    assert [now.note for now in told] == [part.name for part in found.parts]
    assert [now.done for now in told] == np.cumsum([part.records for part in found.parts]).tolist()
    for own in found.parts:
        alone = sweep(as_table(of_state(rows, own.name), prior_weight=weight), subsets=subsets)
        expected = best_subsets(alone).subsets
        assert [(b.sensitive, b.quasi_identifiers, b.leakage) for b in own.best] == [
            (each.sensitive, each.quasi_identifiers, each.leakage) for each in expected
        ]


def test_the_outcome_is_the_same_for_any_number_of_threads() -> None:
    rows: list[Row] = [(s, a, b, a, 1) for s in "AB" for a in "xyz" for b in "uvw"]
    one, two = (family(parts_by(as_table(rows), "state"), threads=threads) for threads in (1, 2))
    assert one == two


@settings(max_examples=examples(40))
@given(ROWS, st.booleans())
def test_entropies_are_those_of_the_priors(rows: list[Row], weighted: bool) -> None:
    table = as_table(rows, prior_weight="weight" if weighted else None)
    for own in family(parts_by(table, "state"), threads=1).parts:
        alone = of_state(rows, own.name)
        weights = [row[4] if weighted else 1 for row in alone]
        secret = Counter[str]()
        for row, weight in zip(alone, weights, strict=True):
            secret[row[3]] += weight
        for target, counts in ((None, weights), ("secret", list(secret.values()))):
            prior = Prior([Fraction(n, sum(counts)) for n in counts], range(len(counts)))
            assert own.entropy[target] == pytest.approx(ShannonEntropy().prior(prior), abs=1e-12)


def test_equal_distributions_have_the_same_entropy_to_the_last_bit() -> None:
    """Else a correlation would be drawn from the rounding."""
    counts = [3, 1, 7, 13, 5, 5]
    rows: list[Row] = []
    for state, order, times in (("A", counts, 1), ("B", counts[::-1], 1), ("C", counts, 7)):
        for value, count in enumerate(order):
            rows += [(state, str(i), "u", f"{state}{value}", 1) for i in range(count * times)]
    found = family(parts_by(as_table(rows), "state"))
    assert len({own.entropy["secret"] for own in found.parts}) == 1
    assert [each.entropy for each in found.correlations("secret")] == [None, None]


@given(
    st.lists(
        st.tuples(st.fractions(0, 1), st.integers(1, 10**8), st.floats(0, 12)),
        min_size=3,
        max_size=30,
    )
)
def test_correlations_are_those_of_numpy(drawn: list[tuple[Fraction, int, float]]) -> None:
    leakages, records, entropies = (list(column) for column in zip(*drawn, strict=True))
    found = of_parts(
        *(
            part(str(i), "0", str(100 * leaked), records=n, entropy=h)
            for i, (leaked, n, h) in enumerate(drawn)
        )
    ).correlations("secret")
    assert [each.size for each in found] == [1]
    for ours, other in ((found[0].records, records), (found[0].entropy, entropies)):
        x, y = np.array(leakages, np.float64), np.array(other, np.float64)
        constant = len(set(x.tolist())) == 1 or len(set(y.tolist())) == 1
        if constant:
            assert ours is None
        elif (
            y.max() > 1e-100 and min(np.ptp(x), np.ptp(y) / y.max()) > 1e-9
        ):  # else numpy only rounds
            assert ours == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)


def test_a_correlation_needs_three_parts_and_two_sides_that_vary() -> None:
    two = of_parts(part("A", "5", "1", records=3), part("B", "5", "2", records=9))
    assert two.correlations("secret")[0].records is None
    same_size = (
        part("A", "5", "1", entropy=1), part("B", "5", "2", entropy=2), part("C", "5", "3", entropy=9)
    )  # fmt: skip
    (found,) = of_parts(*same_size).correlations("secret")
    assert found.records is None
    assert found.entropy == pytest.approx(np.corrcoef([1, 2, 3], [1, 2, 9])[0, 1])
    same_leakage = (part(str(n), "5", "3", records=n, entropy=n) for n in (1, 2, 3))
    (constant,) = of_parts(*same_leakage).correlations("secret")
    assert (constant.records, constant.entropy) == (None, None)


def test_a_correlation_stays_within_its_bounds() -> None:
    third = [Fraction(1, 3), Fraction(2, 3), Fraction(1)]
    assert pearson(third, [1, 2, 3]) == 1.0
    assert pearson(third, [3, 2, 1]) == -1.0
    assert pearson([0, 5e-324, 1e-323], [1, 2, 3]) is None


def test_parts_with_the_same_figure_stand_out_together() -> None:
    table = of_parts(
        part("A", "5", "10", "20"), part("B", "6", "10", "30"), part("C", "5", "7", "20")
    ).table("secret")
    assert table.sizes == (1, 2)
    priors = [(row.prior.highest, row.prior.lowest) for row in table.rows]
    assert priors == [(False, True), (True, False), (False, True)]
    marks = [[(cell.highest, cell.lowest) for cell in row.additive] for row in table.rows]
    assert marks == [
        [(True, False), (False, True)],
        [(True, False), (True, False)],
        [(False, True), (False, True)],
    ]


def test_where_all_parts_are_alike_none_stands_out() -> None:
    for parts in ((part("A", "5", "10"), part("B", "5", "10")), (part("A", "5", "10"),)):
        for row in of_parts(*parts).table("secret").rows:
            for cell in (row.prior, *row.additive):
                assert not cell.highest
                assert not cell.lowest


def test_a_part_with_a_single_record_leaks_nothing_as_all_is_known_before() -> None:
    rows: list[Row] = [("A", "x", "u", "p", 1), ("B", "x", "u", "p", 1), ("B", "y", "u", "q", 1)]
    alone = family(parts_by(as_table(rows), "state")).parts[0]
    assert (alone.records, alone.entropy[None], alone.entropy["secret"]) == (1, 0.0, 0.0)
    assert {best.leakage for best in alone.best} == {Leakage(Fraction(1), Fraction(1))}


def test_a_change_goes_from_the_first_to_the_last_and_names_the_largest_step() -> None:
    found = of_parts(
        part("2019", "5", "10", "20"),
        part("2020", "5", "13", "18"),
        part("2021", "5", "7", "20"),
        part("2022", "5", "8", "22"),
        ordered=True,
    )
    small, large = found.change("secret")
    assert (small.first, small.last, small.difference) == ("2019", "2022", Fraction(-2, 100))
    assert (small.step_from, small.step_to, small.step) == ("2020", "2021", Fraction(-6, 100))
    assert (large.before, large.after, large.difference) == (
        Fraction(20, 100),
        Fraction(22, 100),
        Fraction(2, 100),
    )
    assert (large.step_from, large.step_to) == ("2019", "2020")


def test_everything_as_plain_values() -> None:
    rows: list[Row] = [("A", "x", "u", "p", 1), ("A", "y", "u", "q", 1), ("B", "x", "u", "p", 1)]
    found = family(parts_by(as_table(rows), "state"), ordered=True)
    content = json.loads(json.dumps(found.to_dict()))
    assert content["parts"][0]["targets"][1] == {
        "sensitive": "secret",
        "entropy": 1.0,
        "best": [
            {"size": 1, "quasi_identifiers": ["a"], "prior": 0.5, "posterior": 1.0, "additive": 0.5,
             "multiplicative": 2.0},
            {"size": 2, "quasi_identifiers": ["a", "b"], "prior": 0.5, "posterior": 1.0,
             "additive": 0.5, "multiplicative": 2.0},
        ],
    }  # fmt: skip
    assert len(content["correlations"]) == len(content["changes"]) == 4
    assert of_parts(part("A", "5", "10")).to_dict()["changes"] == []
    frame = found.to_frame()
    assert frame.num_rows == 2 * 2 * 2
    assert frame.to_pylist()[2] == {
        "part": "A", "records": 2, "entropy": 1.0, "sensitive": "secret", "size": 1,
        "quasi_identifiers": ["a"], "prior": 0.5, "posterior": 1.0, "additive": 0.5,
        "multiplicative": 2.0, "highest": True, "lowest": False,
    }  # fmt: skip


def test_one_part_at_a_time_is_in_memory() -> None:
    rows: list[Row] = [(state, "x", "u", "p", 1) for state in "ABC"]

    def watched() -> Iterator[tuple[str, EncodedTable]]:
        previous: weakref.ref[EncodedTable] | None = None
        for value, own in parts_by(as_table(rows), "state"):
            assert previous is None or previous() is None
            previous = weakref.ref(own)
            handed = [own]
            del own
            yield value, handed.pop()

    assert len(family(watched()).parts) == 3


@pytest.mark.parametrize(
    ("column", "role"),
    [
        ("a", "quasi-identifier"),
        ("secret", "sensitive"),
        ("weight", "prior weight"),
        ("state", "identifier"),
        ("b", "part of a fact"),
    ],
)
def test_parts_are_not_told_apart_by_a_column_of_the_attack(column: str, role: str) -> None:
    table = as_table(
        [("A", "x", "u", "p", 1)],
        quasi_identifiers=["a"],
        facts={"both": ["b"]},
        identifier="state",
        prior_weight="weight",
    )
    with pytest.raises(StudyError, match=f'column "{column}" is {role}; parts are told apart by'):
        parts_by(table, column)


def test_faults_of_dividing_are_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = as_table([("A", "x", "u", "p", 1), ("B", "x", "u", "p", 1)])
    with pytest.raises(DataError, match=r'"sate" is not in people; did you mean "state"\?'):
        parts_by(table, "sate")
    monkeypatch.setattr(sys.modules[parts_by.__module__], "MOST_PARTS", 1)
    with pytest.raises(BudgetError, match='"state" of people has 2 values; a family takes at most'):
        parts_by(table, "state")


def test_faults_of_a_family() -> None:
    table = as_table([("A", "x", "u", "p", 1)])
    other = table.with_roles(quasi_identifiers=["a"], sensitive=["secret"])
    blank = table.of_records(np.array([], np.int64))
    with pytest.raises(StudyError, match="needs at least one part"):
        family([])
    with pytest.raises(StudyError, match='two parts are called "2019"; give each a name'):
        family([("2019", table), ("2019", table)])
    with pytest.raises(StudyError, match='quasi-identifiers of "2020" are "a", those of people'):
        family([("2019", table), ("2020", other)])
    with pytest.raises(DataError, match='part "2019" has no records; leave it out'):
        family([("2019", blank)])


def test_faults_of_a_question() -> None:
    found = of_parts(part("A", "5", "10"))
    with pytest.raises(StudyError, match=r'secret "secrets" is not in the family; did you mean'):
        found.table("secrets")
    with pytest.raises(StudyError, match="not points in time; say ordered=True"):
        found.change("secret")
    with pytest.raises(StudyError, match="needs at least two parts"):
        of_parts(part("A", "5", "10"), ordered=True).change("secret")
    with pytest.raises(StudyError, match='secret "x" is not in the family; it has none'):
        Family(KNOWN, (), False, ()).correlations("x")


def test_the_published_states_stand_out_as_published(shared: Callable[[str], Path]) -> None:
    """Gonze et al. 2025, Table 2: prior and additive leakage in per cent with the best 1 to 7."""
    golden = json.loads(shared("golden/microdata.json").read_text())["datasus_published"]
    states = {name: figures for name, figures in golden.items() if isinstance(figures, list)}
    table = of_parts(*(part(name, *map(str, own)) for name, own in states.items())).table("secret")
    assert table.sizes == (1, 2, 3, 4, 5, 6, 7)
    for row in table.rows:
        assert [float(100 * cell.value) for cell in row.additive] == states[row.part][1:]
        assert all(cell.highest == (row.part == "RR") for cell in row.additive)
        assert all(cell.lowest == (row.part == "SE") for cell in row.additive)
        assert (row.prior.highest, row.prior.lowest) == (row.part == "AC", row.part == "SE")


LEAST_PUBLISHED = """
AM  7.66 17.67 19.54 22.12 23.16 24.06 24.77 25.02
DF 16.32 10.26 12.34 13.65 15.44 17.12 18.71 19.08
RJ 10.06 14.30 16.64 18.49 20.43 21.70 22.62 22.95
SE  5.89 11.98 13.22 14.39 16.36 17.68 18.79 18.90
"""
"""Gonze et al. 2025, Table 2: the four states with the lowest leakage in any of its columns."""


def test_the_federal_district_leaks_least_until_all_is_known() -> None:
    """Their text calls it the second lowest for any number; their table, the lowest for one to six."""
    parts = [part(*line.split()) for line in LEAST_PUBLISHED.strip().splitlines()]
    lowest = [
        [row.part for row in of_parts(*parts).table("secret").rows if row.additive[i].lowest]
        for i in range(7)
    ]
    assert lowest == [["DF"]] * 6 + [["SE"]]
