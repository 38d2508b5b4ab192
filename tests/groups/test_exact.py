"""Learner and attacker exactly: the literature's numbers as fractions, and random tables against their definition."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import roots_jacobi

from glasshouse.errors import BudgetError, StudyError
from glasshouse.groups import beliefs as beliefs_module
from glasshouse.groups import enumeration
from glasshouse.groups.beliefs import ExactKnowledge, random_worlds, with_ideal
from glasshouse.groups.enumeration import (
    enumerated,
    enumerated_fractions,
    number_of_tables,
)
from glasshouse.groups.readers import from_generalised
from glasshouse.groups.release import Release
from glasshouse.groups.release_json import from_json
from glasshouse.groups.sampler import SamplingBudget, sample
from glasshouse.groups.tree import closed_form, closed_form_fractions
from glasshouse.groups.victims import Victims, victims_of, victims_of_table
from glasshouse.table import read
from tests.examples import examples
from tests.groups.points import population_points

DISEASES = ["Heart", "Flu", "Stomach", "HIV", "Diabetes"]
TABLE_I_B = [
    (["Heart", "Flu"], "MJ", "4550"),
    (["Flu", "Stomach"], "J", "5550"),
    (["HIV", "Diabetes"], "CJ", "6660"),
    (["Flu", "Heart"], "IM", "7770"),
]
"""Boreale et al. 2020, Table I(b): sensitive values, nationalities and beginnings of ZIP codes of each group."""
TABLE_I_C = [
    (["Heart", "Flu"], [["J", "45502"], ["M", "45501"]]),
    (["Flu", "Stomach"], [["J", "55504"], ["J", "55503"]]),
    (["HIV", "Diabetes"], [["J", "66601"], ["C", "66601"]]),
    (["Flu", "Heart"], [["M", "77701"], ["I", "77701"]]),
]
"""Table I(c), Anatomy."""


def ten(start: str) -> list[str]:
    return [f"{start}{digit}" for digit in range(10)]


ZIPS = {
    "Z6": ["45501", "45502", "55503", "55504", "66601", "77701"],
    "Z22": [*ten("4550"), *ten("5550"), "66601", "77701"],
    "Z40": [*ten("4550"), *ten("5550"), *ten("6660"), *ten("7770")],
    "Z4": ["45501", "5550*", "66601", "77701"],
}
"""The domains under which Table III was computed."""


def table_one_b(domain: str, *, joint: bool = False) -> Release:
    zips = ZIPS[domain]
    groups, values = [], [nation + code for nation in "MJCI" for code in zips]
    for secrets, nations, start in TABLE_I_B:
        codes = [code for code in zips if code.startswith(start)]
        both = [nation + code for nation in nations for code in codes]
        generalised = [both] if joint else [list(nations), codes]
        groups.append({"sensitive": secrets, "generalised": generalised})
    separate = [{"name": "Nat.", "values": list("MJCI")}, {"name": "ZIP", "values": zips}]
    attributes = [{"name": "both", "values": values}] if joint else separate
    return from_json(
        {
            "attributes": attributes,
            "sensitive": {"name": "Dis.", "values": DISEASES},
            "groups": groups,
        }
    )


def table_one_c() -> Release:
    return from_json(
        {
            "attributes": [
                {"name": "Nat.", "values": list("MJCI")},
                {"name": "ZIP", "values": ZIPS["Z6"]},
            ],
            "sensitive": {"name": "Dis.", "values": DISEASES},
            "groups": [{"sensitive": s, "rows": rows} for s, rows in TABLE_I_C],
        }
    )


@pytest.fixture
def golden(shared: Callable[[str], Path]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shared("golden/groups.json").read_text(encoding="utf-8"))
    return found


def fractions(cells: Any, values: list[str]) -> list[Fraction]:
    """Read golden fractions: a list, or by sensitive value, where those not named are 0."""
    if isinstance(cells, list):
        return [Fraction(cell["frac"]) for cell in cells]
    return [Fraction(cells[value]["frac"]) if value in cells else Fraction(0) for value in values]


def assert_golden(exact: ExactKnowledge, victim: int, answer: dict[str, Any]) -> None:
    values = list(exact.release.sensitive.values)
    assert list(exact.attacker[victim]) == fractions(answer["pA"], values)
    assert list(exact.learner[victim]) == fractions(answer["pL_cond5"], values)
    if "pL_joint" in answer:
        assert list(exact.joint[victim]) == fractions(answer["pL_joint"], values)


# the literature


@pytest.mark.parametrize(
    "case",
    [
        "Z22: 4550*,5550* full(10 each)+66601+77701 factorised",
        "Z40: 4550*,5550*,6660*,7770* factorised",
        "Z6: observed only; 4550*={45501,45502} factorised",
        "Z4: 4550* etc one symbol factorised",
    ],
)
def test_table_three_with_crossing_labels_is_enumerated_exactly(
    golden: dict[str, Any], case: str
) -> None:
    release = table_one_b(case[: case.index(":")])
    assert not release.is_laminar
    victims = victims_of(release, [{"Nat.": "M", "ZIP": "45501"}])
    assert_golden(enumerated_fractions(release, victims), 0, golden["table3"][case])


@pytest.mark.parametrize("case", ["Z22", "Z40", "Z6", "Z4"])
def test_table_three_as_one_joint_attribute_has_a_closed_form(
    golden: dict[str, Any], case: str
) -> None:
    answer = next(
        own
        for name, own in golden["table3"].items()
        if name.startswith(f"{case}:") and "joint" in name
    )
    release = table_one_b(case, joint=True)
    victims = victims_of(release, [{"both": "M45501"}])
    assert_golden(closed_form_fractions(release, victims), 0, answer)
    knowledge = closed_form(release, victims, learner_mean=True)
    assert knowledge.learner_mean is not None
    np.testing.assert_allclose(
        knowledge.learner_mean.probabilities[0], answer["pL_eq6"], atol=1e-9, rtol=0
    )


@pytest.mark.parametrize(
    ("case", "tolerance"), [("Z6", 2e-9), ("Z4", 1e-9), ("Z22", 1e-7), ("Z40", 3e-7)]
)
def test_the_expectation_of_the_ratio_is_that_of_the_golden_file(
    golden: dict[str, Any], case: str, tolerance: float
) -> None:
    """The golden values of Z22 and Z40 were themselves integrated numerically, and are right to seven and six digits.

    That it is not ours that errs: `test_the_quadrature_depends_neither_on_its_line_nor_on_its_steps`.
    """
    answer = next(
        own
        for name, own in golden["table3"].items()
        if name.startswith(f"{case}:") and "fact" in name
    )
    release = table_one_b(case)
    victims = victims_of(release, [{"Nat.": "M", "ZIP": "45501"}])
    knowledge = enumerated(release, victims, learner_mean=True)
    assert knowledge.learner_mean is not None
    found = knowledge.learner_mean.probabilities[0]
    np.testing.assert_allclose(found, answer["pL_eq6"], atol=tolerance, rtol=0)
    assert abs(found[0] - knowledge.learner.probabilities[0, 0]) > 0.01


@pytest.mark.parametrize(("line", "step"), [(-0.3, 0.3), (-0.7, 0.3), (-0.5, 0.1)])
def test_the_quadrature_depends_neither_on_its_line_nor_on_its_steps(
    monkeypatch: pytest.MonkeyPatch, line: float, step: float
) -> None:
    """Any vertical line between -1 and 0 gives the same integral, by Cauchy: ten digits of Z40 stay."""
    release = table_one_b("Z40")
    victims = victims_of(release, [{"Nat.": "M", "ZIP": "45501"}])
    plain = enumerated(release, victims, learner_mean=True).learner_mean
    nodes = (line + 1j * np.imag(beliefs_module.NODES)).astype(np.complex128)
    monkeypatch.setattr(beliefs_module, "NODES", nodes)
    monkeypatch.setattr(enumeration, "NODES", nodes)
    monkeypatch.setattr(beliefs_module, "_LOG_STEP", step)
    beliefs_module._waves.cache_clear()
    other = enumerated(release, victims, learner_mean=True).learner_mean
    beliefs_module._waves.cache_clear()
    assert plain is not None
    assert other is not None
    np.testing.assert_allclose(other.probabilities, plain.probabilities, atol=1e-10, rtol=0)


def test_table_one_b_with_the_observed_codes(golden: dict[str, Any]) -> None:
    release, answer = table_one_b("Z6"), golden["tableIb_Z6_horizontal"]
    assert number_of_tables(release) == answer["n_tables"]
    people = [{"Nat.": "M", "ZIP": "45501"}, {"Nat.": "J", "ZIP": "45502"}]
    exact = enumerated_fractions(release, victims_of(release, people))
    assert_golden(exact, 0, answer["('M', '45501')"])
    assert_golden(exact, 1, answer["('J', '45502')"])


@pytest.mark.parametrize(
    ("release", "case"),
    [(table_one_b("Z6"), "tableIb_Z6_horizontal"), (table_one_c(), "tableIc_vertical_Z6")],
    ids=["horizontal", "vertical"],
)
def test_an_attacker_who_knows_the_nationality_only(
    golden: dict[str, Any], release: Release, case: str
) -> None:
    partial = golden[case]["partial"]
    exact = enumerated_fractions(release, victims_of(release, [{"Nat.": own} for own in partial]))
    for victim, own in enumerate(partial):
        assert list(exact.attacker[victim]) == fractions(partial[own], DISEASES)


def test_table_one_c_is_anatomy(golden: dict[str, Any]) -> None:
    release, answer = table_one_c(), golden["tableIc_vertical_Z6"]
    assert number_of_tables(release) == answer["n_tables"]
    codes = [("M", "45501"), ("J", "45502"), ("I", "77701")]
    people = [{"Nat.": nation, "ZIP": code} for nation, code in codes]
    exact = enumerated_fractions(release, victims_of(release, people))
    for victim, own in enumerate(codes):
        assert_golden(exact, victim, answer[str(own)])


def of_rows(rows: list[Any], **attributes: list[str]) -> Release:
    """Return a horizontal release with a group for each row."""
    return from_json(
        {
            "attributes": [{"name": name, "values": own} for name, own in attributes.items()],
            "sensitive": {"name": "s", "values": ["a", "b"]},
            "groups": [{"sensitive": [s], "generalised": sets} for s, sets in rows],
        }
    )


def test_the_tiny_laminar_table(golden: dict[str, Any]) -> None:
    case = golden["tiny_laminar"]
    release = of_rows(case["rows"], first=list("xyzw"))
    assert release.is_laminar
    victims = victims_of(release, [{"first": value} for value in "xyzw"])
    for exact in (
        closed_form_fractions(release, victims),
        enumerated_fractions(release, victims),
    ):
        for victim, value in enumerate("xyzw"):
            assert_golden(exact, victim, case["answer"][f"('{value}',)"])


def test_the_tiny_table_with_overlaps(golden: dict[str, Any]) -> None:
    case = golden["tiny_horizontal_overlap"]
    release = of_rows(case["rows"], first=list("xyz"), second=list("01"))
    assert not release.is_laminar
    codes = [("x", "0"), ("y", "1"), ("z", "0")]
    people = [{"first": first, "second": second} for first, second in codes]
    exact = enumerated_fractions(release, victims_of(release, people))
    for victim, own in enumerate(codes):
        assert_golden(exact, victim, case["answer"][str(own)])
    partial = victims_of(release, [{"second": value} for value in "01"])
    for victim, value in enumerate("01"):
        shares = enumerated_fractions(release, partial).attacker[victim]
        assert list(shares) == fractions(case["answer"]["partial"][value], ["a", "b"])
    with pytest.raises(
        StudyError, match=r'two labels of "first".* overlap without one holding the other'
    ):
        closed_form(release, partial)


def island(inhabitants: int, tested: int, present: object, absent: object) -> Release:
    """Remark 2: one culprit with the trait, some tested inhabitants without it, and the others, who are not tested."""
    innocent = inhabitants - 1
    return from_json(
        {
            "attributes": [
                {"name": "trait", "values": ["0", "1"], "beta": {"1": present, "0": absent}}
            ],
            "sensitive": {"name": "guilty", "values": ["0", "1"]},
            "groups": [
                {"sensitive": ["1"], "generalised": ["1"]},
                *[{"sensitive": ["0"], "generalised": ["0"]}] * tested,
                *[{"sensitive": ["0"], "generalised": ["*"]}] * (innocent - tested),
            ],
        }
    )


def test_island_and_database_search_are_special_cases(golden: dict[str, Any]) -> None:
    cases = {name: own for name, own in golden["island"].items() if "enumeration" not in name}
    assert len(cases) == 12
    for name, answer in cases.items():
        told = {key: int(value) for key, _, value in (w.partition("=") for w in name.split()[1:])}
        tested = told.get("k", 0)
        release = island(told["N"], tested, told["beta1"], told["beta0"])
        victims = victims_of(release, [{"trait": "1"}])
        expected = Fraction(answer["pA_learned" if tested else "pA"]["frac"])
        assert closed_form_fractions(release, victims).attacker[0][1] == expected
        assert enumerated_fractions(release, victims).attacker[0][1] == expected
        if tested:
            many = 10**12
            certain = island(told["N"], tested, many * told["beta1"], many * told["beta0"])
            found = closed_form_fractions(certain, victims_of(certain, [{"trait": "1"}]))
            fixed = Fraction(answer["pA_fixed_p"]["frac"])
            assert abs(found.attacker[0][1] - fixed) < Fraction(1, 10**10)


def test_a_million_records_published_as_they_are_still_threaten_one(golden: dict[str, Any]) -> None:
    """Remark 5: r_v is there once, with a sensitive value that nobody else has."""
    records, values = 1_000_000, 1_000
    place = np.arange(records) % (values - 1) + 1
    place[0] = 0
    people = pa.table(
        {
            "r": pa.array([str(v) for v in range(values)]).take(pa.array(place)),
            "s": pa.array(["rare", "usual"]).take(pa.array(np.minimum(np.arange(records), 1))),
        }
    )
    table = read(people, quasi_identifiers=["r"], sensitive=["s"])
    release = from_generalised(table)
    victims, original = victims_of_table(release, table)
    knowledge = with_ideal(closed_form(release, victims), original)
    assert knowledge.ideal is not None
    [victim] = np.flatnonzero(victims.codes[:, 0] == release.attributes[0].code["0"])
    expected = golden["remark5"]["pI_s0"]["val"]
    assert knowledge.ideal.probabilities[victim, 0] == pytest.approx(expected, rel=1e-12)
    assert knowledge.learner.probabilities[victim, 0] == pytest.approx(expected, rel=1e-12)
    assert knowledge.attacker.probabilities[victim].tolist() == [1, 0]
    exact = closed_form_fractions(release, victims_of(release, [{"r": "0"}]))
    assert exact.learner[0][0] == Fraction(golden["remark5"]["pI_s0"]["frac"])
    assert exact.attacker[0][0] / exact.learner[0][0] == Fraction(
        golden["remark5"]["ratio"]["frac"]
    )


# random tables by their definition

Table = list[tuple[int, tuple[int, ...]]]


def allowed_tables(release: Release) -> Iterator[Table]:
    secrets = release.sensitive_codes.tolist()
    if release.is_vertical:
        groups = [
            list(permutations(map(tuple, release.codes[begin:end].tolist())))
            for begin, end in zip(release.starts[:-1], release.starts[1:], strict=True)
        ]
        for arranged in product(*groups):
            yield list(zip(secrets, [row for group in arranged for row in group], strict=True))
        return
    rows = []
    for group in release.group_of_row.tolist():
        labels = release.codes[group].tolist()
        sets = [a.sets.values(n).tolist() for a, n in zip(release.attributes, labels, strict=True)]
        rows.append(list(product(*sets)))
    for chosen in product(*rows):
        yield list(zip(secrets, chosen, strict=True))


def weight_and_predictions(
    release: Release, table: Table
) -> tuple[Fraction, Callable[[int, int, int], Fraction]]:
    """Return the probability of a table, row after row, and how likely each value of a further row would be."""
    counts: Counter[tuple[int, int, int]] = Counter()
    people: Counter[int] = Counter()

    def share(place: int, s: int, value: int) -> Fraction:
        beta = release.attributes[place].beta
        return (beta[value] + counts[place, s, value]) / (sum(beta) + people[s])

    weight = Fraction(1)
    for s, row in table:
        for place, value in enumerate(row):
            weight *= share(place, s, value)
        people[s] += 1
        for place, value in enumerate(row):
            counts[place, s, value] += 1
    return weight, share


def by_definition(
    release: Release, victims: Victims
) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Return p_L(s, r) and the attacker's weights, from equations (2) to (8) and (15), table by table."""
    width, alpha = len(release.sensitive.values), release.sensitive.alpha
    known = [
        [
            set(sets.values(int(code)).tolist())
            for sets, code in zip(victims.known, row, strict=True)
        ]
        for row in victims.codes
    ]
    joint = [[Fraction(0)] * width for _ in known]
    agreeing = [[Fraction(0)] * width for _ in known]
    total = Fraction(0)
    for table in allowed_tables(release):
        weight, share = weight_and_predictions(release, table)
        total += weight
        people = Counter(s for s, _ in table)
        for victim, sets in enumerate(known):
            for s in range(width):
                own = weight * (alpha[s] + people[s]) / (sum(alpha) + len(table))
                for place, values in enumerate(sets):
                    own *= sum(share(place, s, value) for value in values)
                joint[victim][s] += own
            for s, row in table:
                if all(value in values for value, values in zip(row, sets, strict=True)):
                    agreeing[victim][s] += weight
    return (
        [[own / total for own in row] for row in joint],
        [[own / total for own in row] for row in agreeing],
    )


PARAMETERS = st.sampled_from([1, "1/2", "3/4", 2, "5/2"])


@st.composite
def releases(draw: st.DrawFn, *, kind: str) -> Release:
    """Draw a small release: vertical, horizontal with any labels, or horizontal with nested ones."""
    domains = [["p", "q", "r"], ["0", "1"]][: draw(st.integers(1, 2))]
    nested = [[["p"], ["r"], ["p", "q"], ["p", "q", "r"]], [["0"], ["0", "1"]]]
    groups = []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(1, 2 if kind != "vertical" else 3))
        group: dict[str, Any] = {"sensitive": [draw(st.sampled_from("ab")) for _ in range(size)]}
        if kind == "vertical":
            group["rows"] = [[draw(st.sampled_from(own)) for own in domains] for _ in range(size)]
        else:
            group["generalised"] = [
                draw(st.sampled_from(nested[place]))
                if kind == "nested"
                else sorted(draw(st.sets(st.sampled_from(own), min_size=1)))
                for place, own in enumerate(domains)
            ]
        groups.append(group)
    return from_json(
        {
            "attributes": [
                {"name": str(place), "values": own, "beta": {v: draw(PARAMETERS) for v in own}}
                for place, own in enumerate(domains)
            ],
            "sensitive": {"name": "s", "values": list("abc"), "alpha": {"a": draw(PARAMETERS)}},
            "groups": groups,
        }
    )


def everybody(release: Release) -> Victims:
    """Return all combinations that some group allows, and for each attribute one who is known by it alone."""
    people: list[dict[str, Any]] = [
        dict(zip([a.name for a in release.attributes], row, strict=True))
        for row in product(*(a.values for a in release.attributes))
    ]
    people += [{a.name: [a.values[0], a.values[-1]]} for a in release.attributes] + [{}]
    return victims_of(release, [person for person in people if allows(release, person)])


def allows(release: Release, person: dict[str, Any]) -> bool:
    """Tell whether some group has, or may have, a row that agrees with a person."""
    return any(
        all(
            person.get(a.name) is None
            or any(a.values[v] in person[a.name] for v in a.sets.values(code).tolist())
            for a, code in zip(release.attributes, row, strict=True)
        )
        for row in release.codes.tolist()
    )


@pytest.mark.parametrize("kind", ["vertical", "any", "nested"])
def test_exact_answers_are_those_of_the_definition(kind: str) -> None:
    @settings(max_examples=examples(60))
    @given(releases(kind=kind))
    def check(release: Release) -> None:
        victims = everybody(release)
        joint, agreeing = by_definition(release, victims)
        exact = enumerated_fractions(release, victims)
        assert [list(row) for row in exact.joint] == joint
        assert [list(row) for row in exact.weights] == agreeing
        if kind == "nested":
            closed = closed_form_fractions(release, victims)
            assert (closed.joint, closed.weights) == (exact.joint, exact.weights)
            floats = closed_form(release, victims)
            expected = exact.to_knowledge()
            np.testing.assert_allclose(floats.joint, expected.joint, rtol=1e-12)
            np.testing.assert_allclose(
                floats.attacker.probabilities, expected.attacker.probabilities, rtol=1e-12
            )
            np.testing.assert_allclose(
                floats.learner.probabilities, expected.learner.probabilities, rtol=1e-12
            )

    check()


@pytest.mark.parametrize("kind", ["vertical", "any"])
def test_random_worlds_count_tables(kind: str) -> None:
    @given(releases(kind=kind))
    def check(release: Release) -> None:
        victims = everybody(release)
        counts = np.zeros((len(victims), len(release.sensitive.values)))
        for table in allowed_tables(release):
            for victim, codes in enumerate(victims.codes):
                for s, row in table:
                    counts[victim, s] += all(
                        value in sets.values(int(code))
                        for sets, code, value in zip(victims.known, codes, row, strict=True)
                    )
        expected = counts / counts.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(random_worlds(release, victims), expected, rtol=1e-12)

    check()


# Reading


def gauss_jacobi(chosen: float, others: float, nodes: int) -> tuple[Any, Any]:
    """Return points and weights that integrate polynomials under a beta distribution exactly."""
    points, weights = roots_jacobi(nodes, others - 1, chosen - 1)
    return (points + 1) / 2, weights / weights.sum()


def test_the_quadrature_of_reading_six_agrees_with_another_one() -> None:
    """One attribute with values x and y, three rows that tell it: the learner's variables are a gamma times a beta."""
    release = of_rows([("a", ["x"]), ("a", ["y"]), ("b", ["y"])], first=["x", "y"])
    knowledge = closed_form(release, victims_of(release, [{"first": "x"}]), learner_mean=True)
    logs = np.arange(-30, 60, 0.1)
    transforms, slopes = [], []
    for shape, chosen, others in ((3, 2, 2), (2, 1, 2)):
        points, weights = gauss_jacobi(chosen, others, 200)
        base = 1 + np.exp(logs) * points[:, None]
        transforms.append(weights @ base**-shape)
        slopes.append(weights @ (shape * points[:, None] * base ** (-shape - 1)))
    expected = (slopes[0] * transforms[1] * np.exp(logs)).sum() * 0.1
    assert knowledge.learner_mean is not None
    assert knowledge.learner_mean.is_exact
    assert knowledge.learner_mean.probabilities[0, 0] == pytest.approx(expected, abs=1e-8)


def test_reading_six_in_closed_form_is_the_mean_over_all_tables() -> None:
    rows = [("a", ["{x, y}", "*"]), ("a", ["x", "0"]), ("b", ["*", "1"]), ("b", ["{x, y}", "0"])]
    release = of_rows(rows, first=list("xyz"), second=list("01"))
    people = [{"first": "x", "second": "0"}, {"first": "z", "second": "1"}]
    victims = victims_of(release, people)
    closed = closed_form(release, victims, learner_mean=True).learner_mean
    whole = enumerated(release, victims, learner_mean=True).learner_mean
    assert closed is not None
    assert whole is not None
    np.testing.assert_allclose(closed.probabilities, whole.probabilities, atol=1e-9)


def test_reading_six_of_a_vertical_release_is_near_its_mean_over_draws() -> None:
    """Of one certain table, draws of π are draws from independent Dirichlet distributions."""
    release = from_json(
        {
            "attributes": [{"name": "r", "values": ["x", "y"]}],
            "sensitive": {"name": "s", "values": ["a", "b"]},
            "groups": [
                {"sensitive": ["a"], "rows": [["x"]]},
                {"sensitive": ["b"], "rows": [["y"]]},
            ],
        }
    )
    found = enumerated(release, victims_of(release, [{"r": "x"}]), learner_mean=True).learner_mean
    assert found is not None
    generator = np.random.default_rng(1)
    share = generator.beta(2, 2, 200_000)
    left = share * generator.beta(2, 1, 200_000)
    right = (1 - share) * generator.beta(1, 2, 200_000)
    ratio = left / (left + right)
    assert abs(found.probabilities[0, 0] - ratio.mean()) < 4 * ratio.std() / np.sqrt(len(ratio))


def test_reading_six_of_partial_knowledge_is_sampled_with_its_error() -> None:
    release = of_rows(
        [("a", ["{x, y}"]), ("a", ["x"]), ("b", ["*"]), ("b", ["z"])], first=list("xyz")
    )
    victims = victims_of(release, [{"first": "x"}, {"first": ["x", "z"]}])
    sampled = closed_form(release, victims, learner_mean=True, draws=4_000, seed=5).learner_mean
    again = closed_form(release, victims, learner_mean=True, draws=4_000, seed=5).learner_mean
    assert sampled is not None
    assert again is not None
    assert sampled.errors is not None
    assert sampled.errors[0].max() == 0
    assert 0 < sampled.errors[1].max() < 0.01
    assert (sampled.probabilities == again.probabilities).all()
    whole = closed_form(release, victims_of(release, [{}]), learner_mean=True).learner_mean
    assert whole is not None
    np.testing.assert_allclose(whole.probabilities[0], [0.5, 0.5], atol=1e-9)


PARTLY: list[dict[str, Any]] = [{"first": ["x", "z"]}, {"second": "0"}, {}, {"first": "y"}]


@pytest.mark.parametrize("kind", ["horizontal", "vertical"])
def test_reading_six_of_partial_knowledge_is_enumerated(kind: str) -> None:
    """What is known is a set of values, whose share is a Beta variable in every table: against draws of π."""
    if kind == "horizontal":
        rows = [
            ("a", ["{x, y}", "*"]),
            ("a", ["{y, z}", "0"]),
            ("b", ["*", "1"]),
            ("b", ["x", "0"]),
        ]
        release = of_rows(rows, first=list("xyz"), second=list("01"))
    else:
        release = from_json(
            {
                "attributes": [{"name": "first", "beta": "1/2"}, {"name": "second"}],
                "sensitive": {"name": "s"},
                "groups": [
                    {"sensitive": ["a", "b", "b"], "rows": [["x", "0"], ["y", "1"], ["x", "1"]]},
                    {"sensitive": ["a", "b"], "rows": [["z", "0"], ["x", "1"]]},
                ],
            }
        )
    victims = victims_of(release, PARTLY)
    found = enumerated(release, victims, learner_mean=True).learner_mean
    assert found is not None
    assert found.is_exact
    budget = SamplingBudget(sweeps=1_600, every=1, burn_in=50, precision=1e-9, seed=3, threads=1)
    sampled = sample(release, victims, budget=budget, learner_mean=True).knowledge.learner_mean
    assert sampled is not None
    assert sampled.errors is not None
    distance = np.abs(found.probabilities - sampled.probabilities)
    assert (distance <= 4.5 * sampled.errors + 1e-9).all()
    alone = enumerated(release, victims_of(release, [{"second": "0"}]), learner_mean=True)
    assert alone.learner_mean is not None
    np.testing.assert_allclose(
        alone.learner_mean.probabilities[0], found.probabilities[1], rtol=0, atol=1e-12
    )


def test_draws_go_on_until_reading_six_is_precise() -> None:
    release = of_rows(
        [("a", ["{x, y}"]), ("a", ["x"]), ("b", ["*"]), ("b", ["z"])], first=list("xyz")
    )
    victims = victims_of(release, [{"first": ["x", "z"]}])
    few = closed_form(release, victims, learner_mean=True, draws=500).learner_mean
    many = closed_form(release, victims, learner_mean=True, draws=500, precision=0.002).learner_mean
    assert few is not None
    assert many is not None
    assert few.errors is not None
    assert many.errors is not None
    assert many.errors.max() <= 0.002 < few.errors.max()


def test_draws_agree_with_the_quadrature(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a", ["{x, y}", "*"]), ("a", ["x", "0"]), ("b", ["*", "1"]), ("b", ["{x, y}", "0"])]
    release = of_rows(rows, first=list("xyz"), second=list("01"))
    victims = everybody(release)
    exact = closed_form(release, victims, learner_mean=True, draws=3_000).learner_mean
    monkeypatch.setattr("glasshouse.groups.tree._MOST_MOMENTS", 0)
    sampled = closed_form(release, victims, learner_mean=True, draws=3_000, seed=8).learner_mean
    assert exact is not None
    assert sampled is not None
    assert exact.errors is not None
    assert sampled.errors is not None
    quadrature = exact.errors.max(axis=1) == 0
    assert quadrature.sum() == 7
    assert (sampled.errors > 0).all()
    distance = np.abs(sampled.probabilities - exact.probabilities)
    assert (distance <= 4.5 * np.hypot(sampled.errors, exact.errors)).all()


def test_a_prior_that_is_too_sparse_for_the_quadrature_is_sampled() -> None:
    rows = [("a", ["{x, y}"]), ("a", ["x"]), ("b", ["*"]), ("b", ["z"])]
    release = of_rows(rows, first=list("xyz")).with_prior(alpha="1/2", beta="1/100")
    found = closed_form(release, victims_of(release, [{"first": "y"}]), learner_mean=True)
    assert found.learner_mean is not None
    assert found.learner_mean.errors is not None
    assert 0 < found.learner_mean.errors.max() < 0.02
    whole = enumerated(release, victims_of(release, [{"first": "y"}]), learner_mean=True)
    assert whole.learner_mean is not None
    assert whole.learner_mean.errors is not None
    error = np.hypot(whole.learner_mean.errors, found.learner_mean.errors)
    distance = np.abs(whole.learner_mean.probabilities - found.learner_mean.probabilities)
    assert (distance < 4 * error).all()


# size and limits


def test_a_large_release_agrees_with_fractions_at_some_victims() -> None:
    """Twenty thousand rows with four nested attributes: floats against fractions, victim by victim."""
    generator = np.random.default_rng(3)
    count = 20_000
    people = pa.table(
        {
            "age": generator.integers(20, 60, count),
            "city": generator.integers(10, 30, count),
            "sex": generator.integers(0, 2, count),
            "ill": generator.integers(0, 6, count),
        }
    )
    ages = pa.array([f"{v // 10 * 10}-{v // 10 * 10 + 9}" for v in people["age"].to_pylist()])
    cities = pa.array([f"{v // 10}*" if v % 3 else str(v) for v in people["city"].to_pylist()])
    names = ["age", "city", "sex"]
    recoded = people.set_column(0, "age", ages).set_column(1, "city", cities)
    original = read(people, quasi_identifiers=names, sensitive=["ill"])
    release = from_generalised(
        read(recoded, quasi_identifiers=names, sensitive=["ill"]), domains=original
    )
    assert release.is_laminar
    victims, _ = victims_of_table(release, original, in_order=True)
    knowledge = closed_form(release, victims)
    few = [0, 7, len(victims) - 1]
    for victim in few:
        person = {
            each.name: each.values[code]
            for each, code in zip(release.attributes, victims.codes[victim], strict=True)
        }
        exact = closed_form_fractions(release, victims_of(release, [person])).to_knowledge()
        np.testing.assert_allclose(
            knowledge.attacker.probabilities[victim], exact.attacker.probabilities[0], rtol=1e-11
        )
        np.testing.assert_allclose(knowledge.joint[victim], exact.joint[0], rtol=1e-11)


def test_the_population_has_points_that_are_in_no_group() -> None:
    release = of_rows([("a", ["x"]), ("b", ["y"])], first=["x", "y", "z"])
    points = population_points(release, np.array([[2]], np.int32))
    knowledge = closed_form(release, points)
    assert np.isnan(knowledge.attacker.probabilities).all()
    np.testing.assert_allclose(knowledge.learner.probabilities[0], [0.5, 0.5])
    exact = closed_form_fractions(release, points)
    assert exact.joint[0][0] == Fraction(1, 2) * Fraction(1, 4)


def test_too_many_tables_are_refused_before_they_are_visited() -> None:
    rows = [[str(i), str(i % 7)] for i in range(12)]
    release = from_json(
        {
            "attributes": [{"name": "i"}, {"name": "j"}],
            "sensitive": {"name": "s"},
            "groups": [{"sensitive": list("abcdefghijkl"), "rows": rows}],
        }
    )
    with pytest.raises(
        BudgetError, match=r"allows 479,001,600 tables.* sample the release instead"
    ):
        enumerated_fractions(release, victims_of(release, [{"i": "0"}]))
    alone = from_json(
        {
            "attributes": [{"name": "i"}],
            "sensitive": {"name": "s"},
            "groups": [{"sensitive": ["a"], "rows": [["x"]]}] * 500,
        }
    )
    assert number_of_tables(alone) == 1
    with pytest.raises(BudgetError, match="has 500 rows, complete enumeration takes at most 200"):
        enumerated_fractions(alone, victims_of(alone, [{"i": "x"}]))
    with pytest.raises(StudyError, match="closed form is for horizontal releases"):
        closed_form(release, victims_of(release, [{"i": "0"}]))
