"""A policy says what may be told of a release; a wrong one is one line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from glasshouse.errors import StudyError
from glasshouse.study import dump_study, load_policy, load_study, validated
from glasshouse.study.assess import AssessStudy
from glasshouse.study.policy import MEASURES, OPEN_DATA, POLICIES, PolicyCondition, ReleasePolicy

STUDY = {"datasets": [{"path": "/x.csv"}], "adversary": {"quasi_identifiers": ["age"]}}
NAMED = 'name = "ours"\n[[conditions]]\nmeasure = "named"\n'


def written(path: Path, content: str) -> str:
    file = path / "rule.toml"
    file.write_text(content, encoding="utf-8")
    return str(file)


def test_every_number_of_a_rule_of_the_house_has_its_source() -> None:
    for policy in POLICIES.values():
        assert policy.excludes
        assert all(condition.source for condition in policy.conditions)


def test_columns_and_outputs_are_counted_and_everything_else_is_a_share_or_a_class() -> None:
    counted = {measure for measure, kind in MEASURES.items() if kind.counts_columns}
    assert counted == {"columns-not-looked-at", "new-columns", "direct-identifiers"}
    numbers = {measure for measure, kind in MEASURES.items() if kind.is_number}
    assert numbers - counted == {
        *("newly-certain", "recovered-counts", "small-counts"),
        *("below-threshold", "empty-counts", "one-class", "dominated", "estimable"),
        *("few-degrees", "parts-not-checked"),
    }


def test_the_rules_of_the_house_are_ordered_from_strict_to_lax() -> None:
    strictest = {condition.measure: condition for condition in OPEN_DATA.conditions}
    for name in ("research-file", "internal"):
        for condition in POLICIES[name].conditions:
            assert strictest[condition.measure].limit <= condition.limit


def test_rules_of_offices_ask_what_their_sources_say_and_never_pass_unmeasured() -> None:
    asked = {
        name: [(one.measure, one.limit) for one in POLICIES[name].conditions]
        for name in ("hdx", "ema", "ons")
    }
    assert asked == {
        "hdx": [("direct-identifiers", 0), ("best-guess", Fraction(3, 100))],
        "ema": [("direct-identifiers", 0), ("highest-risk", Fraction(9, 100))],
        "ons": [
            *(("newly-certain", 0), ("recovered-counts", 0)),
            *(("small-counts", 0), ("below-threshold", 0)),
        ],
    }
    assert POLICIES["ons"].complete
    for name in ("hdx", "ema"):
        assert POLICIES[name].complete
        assert not any(one.where_measured for one in POLICIES[name].conditions)


def test_a_limit_is_the_number_that_was_written() -> None:
    condition = PolicyCondition(measure="named", at_most=0.1)
    assert condition.limit == Fraction(1, 10)
    assert condition.allows(Fraction(1, 10))
    assert not condition.allows(Fraction(100_001, 1_000_000))


def test_one_in_three_is_a_third() -> None:
    (guess,) = (one for one in POLICIES["internal"].conditions if one.measure == "best-guess")
    assert guess.limit == Fraction(1, 3)
    assert guess.allows(Fraction(1, 3))
    assert not guess.allows(Fraction(1, 3) + Fraction(1, 10**9))
    (guess,) = (one for one in POLICIES["research-file"].conditions if one.measure == "best-guess")
    assert (guess.limit, guess.restricted_limit) == (Fraction(1, 5), Fraction(1, 3))


def test_a_smallest_class_is_a_floor() -> None:
    condition = PolicyCondition(measure="smallest-class", at_least=5, restricted="any")
    assert [condition.allows(Fraction(size)) for size in (4, 5)] == [False, True]
    assert condition.allows(Fraction(1), restricted=True)


def test_a_policy_of_ones_own_is_kept_in_the_study(tmp_path: Path) -> None:
    rule = load_policy(written(tmp_path, f"{NAMED}at_most = 0.01\nrestricted = 0.02\nknows = 3\n"))
    study = validated(AssessStudy, STUDY | {"policy": rule}, "the study")
    path = tmp_path / "study.toml"
    path.write_text(dump_study(study, version="1"), encoding="utf-8")
    assert "[policy]" in path.read_text(encoding="utf-8")
    assert load_study(path).policy == rule


def test_a_rule_of_the_house_is_kept_by_its_name(tmp_path: Path) -> None:
    study = validated(AssessStudy, STUDY | {"policy": "internal"}, "the study")
    assert 'policy = "internal"' in dump_study(study, version="1")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (f"{NAMED}at_mst = 0.1", '"at_mst" is not an entry of a rule'),
        (f"{NAMED}at_most = 1.5", "should be at most 1, not 1.5"),
        (f"{NAMED}at_least = 5", "needs `at_most`, and only that"),
        (f"{NAMED}at_most = 0.1\nrestricted = 0.05", "stricter where access is restricted"),
        (f"{NAMED}at_most = 0.1\nrestricted = 5", "give a share from 0 to 1"),
        (f'{NAMED}at_most = 0.1\nof = "income"', "is not about a sensitive attribute"),
        (f"{NAMED}at_most = 0.1\nknows = 0", "a number of facts from 1 on"),
        (NAMED.replace("named", "nmed") + "at_most = 0", "'named', 'best-guess'"),
        ('name = "ours"\nconditions = []', "needs at least one entry"),
        (
            'name = "a"\n[[conditions]]\nmeasure = "smallest-class"\nat_least = 7\nknows = 3',
            "is counted by 1, 2, 3, 4, 5, 10",
        ),
        ("name =", "is not valid TOML"),
    ],
)
def test_a_wrong_policy_is_one_line(tmp_path: Path, content: str, fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        load_policy(written(tmp_path, content))
    message = str(caught.value)
    assert fault in message
    assert message.startswith("rule.toml: ")
    assert "\n" not in message


def test_a_name_with_a_slip_is_told_what_was_meant() -> None:
    with pytest.raises(StudyError, match='did you mean "open-data"'):
        load_policy("open-dat")


def test_every_measure_has_words() -> None:
    conditions = [
        PolicyCondition(measure=measure, at_least=1)
        if measure == "smallest-class"
        else PolicyCondition(measure=measure, at_most=0.0)
        for measure in MEASURES
    ]
    assert len(ReleasePolicy(name="all", conditions=tuple(conditions)).conditions) == len(MEASURES)
