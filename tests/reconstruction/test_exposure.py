"""Exposure: the published figures of the worked example, Bayes against brute force, and faults."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.reconstruction import BinRegister, Instance, exposure, instance, register_of, solve
from tests.examples import examples
from tests.reconstruction.examples import CITIES, every_allocation, small_instances
from tests.reconstruction.test_golden import thesis

REGISTER = BinRegister({row[0]: row[3] for row in CITIES}, total=18_430)


def test_the_worked_example_goes_from_18430_importers_to_121_to_one() -> None:
    """Favato 2021, table 1.4."""
    solution = solve(thesis(tolerance=1))
    found = exposure(solution, REGISTER, value="value", packages=["172800001"])
    prior, joined, posterior = found.phases()
    assert [round(1 / each.chance) for each in (prior, joined, posterior)] == [18_430, 121, 1]
    assert prior.factor is None
    assert joined.factor == pytest.approx(152, abs=0.5)
    assert posterior.factor == pytest.approx(121)
    assert prior.value_at_risk == pytest.approx(267, abs=0.5)
    assert joined.value_at_risk == pytest.approx(40_700, abs=50)
    assert posterior.value_at_risk == pytest.approx(4_924_259.04)
    assert posterior.leaked == pytest.approx(4_924_259.04 - joined.value_at_risk)
    assert (prior.certain, joined.certain, posterior.certain) == (0, 0, 1)


def test_the_city_with_one_importer_is_exposed_with_certainty() -> None:
    found = exposure(solve(thesis(tolerance=1)), REGISTER)
    rows = found.to_frame().to_pylist()
    assert [(row["package"], row["feasible_bins"]) for row in rows if row["certain"]] == [
        ("172800001", ["OURO BRANCO"]),
        ("172900001", ["OURO BRANCO"]),
    ]
    last = found.phases()[-1]
    assert last.certain == 2
    assert last.certain_value == pytest.approx(9_002_981.47)
    assert found.to_frame().num_rows == 11


@given(small_instances())
@settings(max_examples=examples(60))
def test_bayes_is_the_posterior_of_every_entity_by_enumeration(
    case: tuple[Instance, tuple[int, ...]],
) -> None:
    made, _ = case
    assert made.entities is not None
    sizes = [size for size in made.entities if size is not None]
    register = BinRegister(dict(zip(made.bin_names, sizes, strict=True)))
    found = exposure(solve(made), register)
    valid = every_allocation(made)
    if not valid:
        assert found.chances["uniform"] == found.chances["joined"]
        return
    # An allocation of packages to entities is one to bins, and for each package an entity of its bin.
    ways = [prod(sizes[b] for b in allocation) for allocation in valid]
    bayes, uniform = found.chances["bayes"], found.chances["uniform"]
    assert bayes is not None
    assert uniform is not None
    for package in range(len(made.packages)):
        best = max(
            Fraction(sum(w for a, w in zip(valid, ways, strict=True) if a[package] == bin_), size)
            for bin_, size in enumerate(sizes)
        )
        assert bayes[package] == best / sum(ways)
        bins = {a[package] for a in valid}
        assert uniform[package] == Fraction(1, sum(sizes[b] for b in bins))
        assert bayes[package] >= uniform[package]
        sure = found.certain["bayes"][package]
        assert sure == (len(bins) == 1 and sizes[next(iter(bins))] == 1)


@given(small_instances(), st.data())
@settings(max_examples=examples(60))
def test_entities_with_branches_are_named_by_all_their_bins(
    case: tuple[Instance, tuple[int, ...]], data: st.DataObject
) -> None:
    made, _ = case
    names = made.bin_names
    members = {
        name: data.draw(st.sets(st.sampled_from("uvwxyz"), min_size=1), label=name)
        for name in names
    }
    register = register_of(members, total=7)
    weights = register.weights(made)
    assert weights == tuple(100 * len(members[name]) for name in names)
    found = exposure(solve(made, weights=weights), register)
    assert set(found.chances["prior"] or ()) == {Fraction(1, 7)}
    valid = every_allocation(made)
    if not valid:
        return
    bayes, uniform = found.chances["bayes"], found.chances["uniform"]
    assert bayes is not None
    assert uniform is not None
    for package in range(len(made.packages)):
        # Every way to name an entity in the bin of every package is as likely.
        ways: dict[str, Fraction] = {}
        for allocation in valid:
            others = prod(len(members[names[b]]) for p, b in enumerate(allocation) if p != package)
            for entity in members[names[allocation[package]]]:
                ways[entity] = ways.get(entity, Fraction(0)) + others
        assert bayes[package] == max(ways.values()) / sum(ways.values())
        assert uniform[package] == Fraction(1, len(ways))
        assert bayes[package] >= uniform[package]
        assert found.certain["bayes"][package] == (len(ways) == 1)


def test_where_only_numbers_are_known_branches_make_the_chances_lower_bounds() -> None:
    made = instance([[1], [1]], [[1], [1]])
    register = BinRegister({"bin 1": 2, "bin 2": 2}, total=3)
    found = exposure(solve(made, weights=register.weights(made)), register)
    assert found.chances["prior"] == found.chances["uniform"] == (Fraction(1, 3),) * 2
    assert found.chances["bayes"] == (Fraction(1, 4),) * 2
    members = register_of({"bin 1": ["x", "y"], "bin 2": ["x", "z"]})
    assert exposure(solve(made, weights=(2, 2)), members).chances["bayes"] == (Fraction(1, 2),) * 2


def test_a_record_that_may_have_been_left_out_can_be_anybodys() -> None:
    made = instance([[3], [3]], [[3]], none_bin=True, bin_names=["a"])
    register = BinRegister({"a": 2, "b": 6})
    weights = register.weights(made, left_out="0.25")
    assert weights == (2 * 3, 8 * 1)
    found = exposure(solve(made, weights=weights), register)
    assert found.chances["uniform"] == (Fraction(1, 8),) * 2
    # Either of the two is the one left out, with equal chance.
    assert found.chances["bayes"] == (Fraction(1, 2) / 2 + Fraction(1, 2) / 8,) * 2
    assert found.certain["bayes"] == (False, False)


def test_groups_that_were_not_counted_are_guessed_by_the_uniform_rule() -> None:
    made = instance([[1], [2]], [[1], [2]])
    found = exposure(solve(made), BinRegister({"bin 1": 2, "bin 2": 4}))
    assert found.chances["bayes"] is None
    assert found.phases()[-1].chance == found.phases("uniform")[-1].chance == (1 / 2 + 1 / 4) / 2


def test_phases_add_up_over_packages() -> None:
    register = BinRegister({"bin 1": 1, "bin 2": 4})
    group = instance([[1], [2], [2]], [[1], [4]], entities=[1, 4])
    last = exposure(solve(group), register).phases()[-1]
    assert last.packages == 3
    assert last.chance == pytest.approx((1 + 1 / 4 + 1 / 4) / 3)
    assert last.value_at_risk == pytest.approx(1 + 2 / 4 + 2 / 4)
    assert (last.certain, last.certain_value) == (1, 1.0)
    assert last.to_dict()["name"] == "bayes"


def test_exposures_and_registers_in_plain_values() -> None:
    register = register_of({"bin 1": ["x"], "bin 2": ["y", "x"]}, total=9)
    found = exposure(solve(instance([[1], [2]], [[1], [2]]), weights=(1, 2)), register)
    plain = found.to_dict()
    assert plain["packages"] == 2
    assert plain["phases"]["bayes"] == [step.to_dict() for step in found.phases()]
    assert exposure(found.solution, register, packages=[]).to_dict()["phases"] == {}
    assert register.to_dict() == {
        "total": 9,
        "entities": {"bin 1": 1, "bin 2": 2},
        "members": {"bin 1": ["x"], "bin 2": ["x", "y"]},
    }
    assert register.to_frame().to_pylist()[1] == {
        "bin": "bin 2",
        "entities": 2,
        "members": ["x", "y"],
    }
    assert BinRegister({"bin 1": 1}).to_frame()["members"].to_pylist() == [None]


def test_faults() -> None:
    solution = solve(instance([[1], [2]], [[1], [2]], entities=[1, 4], measures=["value"]))
    register = BinRegister({"bin 1": 1, "bin 2": 4})
    with pytest.raises(DataError, match='bin "bin 2" is not in the register'):
        exposure(solution, BinRegister({"bin 1": 1}))
    with pytest.raises(DataError, match="no entities in the register"):
        BinRegister({"bin 1": 0})
    with pytest.raises(DataError, match='3 entities, but bin "bin 2" alone 4'):
        BinRegister({"bin 1": 1, "bin 2": 4}, total=3)
    with pytest.raises(DataError, match="2 entities, but its bins 3 different ones"):
        register_of({"bin 1": ["x", "y"], "bin 2": ["z"]}, total=2)
    with pytest.raises(StudyError, match="other weights than the register's"):
        exposure(solution, BinRegister({"bin 1": 4, "bin 2": 4}))
    with pytest.raises(DataError, match='did you mean "value"'):
        exposure(solution, register, value="values")
    with pytest.raises(DataError, match="2 packages, but 1 values"):
        exposure(solution, register, value=[1])
    with pytest.raises(DataError, match='package "x" is not in'):
        exposure(solution, register, packages=["x"])
    with pytest.raises(StudyError, match="above 0 and below 1"):
        register.weights(solution.instance, left_out=1)
    with pytest.raises(StudyError, match="rule"):
        exposure(solution, register).phases("best")
    with pytest.raises(StudyError, match="no transaction"):
        exposure(solution, register, packages=[]).phases()
