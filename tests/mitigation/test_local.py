"""Local recoding against what ARX finds, and every release against slow checkers over its own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse import synthetic
from glasshouse.errors import BudgetError, DataError, InternalError, StudyError
from glasshouse.mitigation import local_recoding
from glasshouse.mitigation.criteria import (
    AverageRisk,
    DistinctDiversity,
    EqualCloseness,
    InferenceAdded,
    InferenceRisk,
    KAnonymity,
    NamedShare,
)
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import Hierarchy, suggest, suppression_only
from glasshouse.mitigation.information_loss import Recoding, quality
from glasshouse.mitigation.local_recoding import EFFORTS, OBJECTIVES, mondrian, recode_locally
from glasshouse.mitigation.local_state import Judge
from glasshouse.progress import Progress
from glasshouse.table import EncodedTable, read
from glasshouse.table.generalised import covers
from glasshouse.table.partition import partition
from tests.examples import examples
from tests.mitigation.test_recoding import (
    CRITERION,
    HIERARCHIES,
    KNOWN,
    SECRETS,
    SIX,
    AnyCriterion,
    Row,
    Shared,
    adult,
    hierarchy,
    holds,
    people,
)

# --- Slow checkers, over the released rows ---


def texts(table: EncodedTable, name: str) -> list[str]:
    column = table.column(name)
    values = column.values.to_pylist()
    return [values[code] for code in column.codes.tolist()]


def rows_of(table: EncodedTable, names: Sequence[str]) -> list[Row]:
    return list(zip(*(texts(table, name) for name in names), strict=True))


def released_classes(table: EncodedTable, found: Recoding, sensitive: str) -> dict[Row, list[str]]:
    """Return the sensitive values of each class, from the released rows alone."""
    release = found.release(table)
    classes: dict[Row, list[str]] = {}
    rows = rows_of(release, found.quasi_identifiers)
    for row, secret, gone in zip(rows, texts(release, sensitive), found.suppressed, strict=True):
        if gone:
            assert set(row) == {"*"}
        else:
            classes.setdefault(row, []).append(secret)
    return classes


def assert_kept_promises(
    table: EncodedTable,
    found: Recoding,
    criteria: Sequence[AnyCriterion],
    sensitive: str = "secret",
    suppression: Any = 0,
) -> None:
    classes = released_classes(table, found, sensitive)
    everyone = texts(table, sensitive)
    assert texts(found.release(table), sensitive) == everyone
    assert len(classes) == found.classes
    records = sum(map(len, classes.values()))
    assert len(everyone) - records <= floor(Fraction(suppression) * len(everyone))
    for criterion in criteria:
        assert all(holds(criterion, own, everyone) for own in classes.values())
        if isinstance(criterion, AverageRisk):
            assert len(classes) <= Fraction(str(criterion.p)) * records


def slow_loss(
    table: EncodedTable,
    found: Recoding,
    hierarchies: Mapping[str, Hierarchy],
    weights: Mapping[str, float] | None = None,
) -> float:
    """Return the Loss of a release whose labels are ancestors of the values that they replace."""
    total = sum((weights or {}).get(name, 1) for name in found.quasi_identifiers)
    product = 1.0
    for name in found.quasi_identifiers:
        own = hierarchies[name]
        paths = {row[0]: row for row in own.rows}
        sizes = [Counter(row[level] for row in own.rows) for level in range(own.height)]
        lost = 0
        pairs = Counter(
            zip(
                texts(table, name), texts(found.release(table), name), found.suppressed, strict=True
            )
        )
        for (value, label, gone), records in pairs.items():
            level = own.height - 1 if gone else paths[value].index(label)
            lost += records * (sizes[level][paths[value][level]] - 1)
        share = Fraction(lost, max(1, own.domain - 1) * table.records)
        product *= (1 + floor(share * 10**10) / 10**10) ** ((weights or {}).get(name, 1) / total)
    return product - 1


# --- Adult ---


def test_adult_loses_less_than_arx_and_every_class_has_five_records(shared: Shared) -> None:
    """ARX's local recoding reached 0.0325 with 3,394 classes; the promise is 0.04 with nothing suppressed."""
    table, hierarchies, _ = adult(shared)
    options: dict[str, Any] = {"hierarchies": hierarchies, "criteria": [KAnonymity(5)]}
    fast, found, best = (recode_locally(table, effort=effort, **options) for effort in EFFORTS)
    assert not found.suppressed.any()
    assert best.loss < 0.0276
    assert 0.0325 > fast.loss > 0.03 > found.loss > best.loss
    assert found.loss == pytest.approx(slow_loss(table, found, hierarchies), abs=1e-12)
    assert quality(table, found, hierarchies).loss == pytest.approx(found.loss, abs=1e-12)
    classes = released_classes(table, found, "occupation")
    assert len(classes) == found.classes
    assert sum(map(len, classes.values())) == 30_162
    assert min(map(len, classes.values())) >= 5


def test_adult_divided(shared: Shared) -> None:
    table, hierarchies, _ = adult(shared)
    criteria = [KAnonymity(5), InferenceRisk(0.5, "occupation")]
    found = mondrian(table, hierarchies=hierarchies, criteria=criteria)
    assert found.loss < 0.1
    assert found.loss == pytest.approx(slow_loss(table, found, hierarchies), abs=1e-12)
    for own in released_classes(table, found, "occupation").values():
        assert len(own) >= 5
        assert 2 * max(Counter(own).values()) <= len(own)


def test_adult_loses_less_than_with_global_recoding_and_suppression(shared: Shared) -> None:
    table, hierarchies, golden = adult(shared)
    diverse = [KAnonymity(5), DistinctDiversity(3, "occupation")]
    found = recode_locally(table, hierarchies=hierarchies, criteria=diverse, effort="fast")
    assert not found.suppressed.any()
    assert found.loss < 0.2 * golden["k5_distinct_l3_s0.04"]["optimum"]["score_lowest"]
    for own in released_classes(table, found, "occupation").values():
        assert len(own) >= 5
        assert len(set(own)) >= 3


def test_adult_with_closeness(shared: Shared) -> None:
    table, hierarchies, golden = adult(shared)
    close = [KAnonymity(5), EqualCloseness(0.2, "occupation")]
    found = recode_locally(table, hierarchies=hierarchies, criteria=close, seconds=0)
    assert found.loss < 0.8 * golden["k5_equal_t0.2_s0.04"]["optimum"]["score_lowest"]
    everyone = Counter(texts(table, "occupation"))
    for own in released_classes(table, found, "occupation").values():
        counts = Counter(own)
        moved = sum(
            abs(Fraction(counts[value], len(own)) - Fraction(records, table.records))
            for value, records in everyone.items()
        )
        assert moved / 2 <= Fraction(1, 5)


# --- Small tables: whatever is asked, what is promised is kept ---


@dataclass(frozen=True)
class Question:
    """A small table with hierarchies, and what is asked of it."""

    rows: list[Row]
    hierarchies: dict[str, Hierarchy]
    criteria: list[AnyCriterion]
    suppression: Fraction
    objective: str
    weights: dict[str, float] | None
    effort: str
    seed: int

    @property
    def table(self) -> EncodedTable:
        names = list(self.hierarchies)
        columns = dict(zip((*names, "secret"), zip(*self.rows, strict=True), strict=True))
        return read(pa.table(columns), quasi_identifiers=names, sensitive=["secret"])

    @property
    def options(self) -> dict[str, Any]:
        names = ("hierarchies", "criteria", "suppression", "objective", "weights")
        return {name: getattr(self, name) for name in names}

    def answer(self) -> Recoding:
        return recode_locally(self.table, seed=self.seed, effort=self.effort, **self.options)


@st.composite
def questions(draw: st.DrawFn, longest: int = 24) -> Question:
    names = KNOWN[: draw(st.integers(1, 3))]
    hierarchies = {name: draw(hierarchy(name)) for name in names}
    values = [st.sampled_from([row[0] for row in each.rows]) for each in hierarchies.values()]
    row = st.tuples(*values, st.sampled_from(SECRETS))
    weights = st.dictionaries(st.sampled_from(names), st.sampled_from([0.5, 1, 3]))
    return Question(
        rows=draw(st.lists(row, min_size=1, max_size=longest)),
        hierarchies=hierarchies,
        criteria=draw(st.lists(CRITERION, min_size=1, max_size=3)),
        suppression=draw(st.sampled_from([Fraction(i, 10) for i in (0, 0, 1, 3, 5, 10)])),
        objective=draw(st.sampled_from(OBJECTIVES)),
        weights=draw(st.none() | weights),
        effort=draw(st.sampled_from(sorted(EFFORTS))),
        seed=draw(st.integers(0, 3)),
    )


def unmet_in_one_class(question: Question) -> bool:
    """Tell whether all records in one class fail a criterion: then no recoding without suppression meets it."""
    secrets = [row[-1] for row in question.rows]
    return not all(
        Fraction(1, len(secrets)) <= Fraction(str(each.p))
        if isinstance(each, AverageRisk)
        else holds(each, secrets, secrets)
        for each in question.criteria
    )


@settings(max_examples=examples(200))
@given(questions())
def test_what_is_released_keeps_every_promise(question: Question) -> None:
    try:
        found = question.answer()
    except StudyError:
        assert unmet_in_one_class(question)
        return
    table = question.table
    assert_kept_promises(table, found, question.criteria, suppression=question.suppression)
    assert found.suppressed.any() or not unmet_in_one_class(question)
    try:
        everywhere = recode(
            table,
            hierarchies=question.hierarchies,
            criteria=question.criteria,
            suppression=question.suppression,
            objective=question.objective,
            weights=question.weights,
        )
    except StudyError:
        pass
    else:
        assert found.loss <= everywhere.loss + 1e-12
    if question.objective == "loss":
        expected = slow_loss(table, found, question.hierarchies, question.weights)
    else:
        expected = slow_granularity(question, found)
    assert found.loss == pytest.approx(expected, abs=1e-9)
    assert 0 <= found.loss <= 1
    assert not found.optimal
    assert quality(table, found, question.hierarchies).granularity <= 1


def slow_granularity(question: Question, found: Recoding) -> float:
    lost = most = Fraction(0)
    for name, own in question.hierarchies.items():
        weight = Fraction((question.weights or {}).get(name, 1))
        paths = {row[0]: row for row in own.rows}
        released = texts(found.release(question.table), name)
        for value, label, gone in zip(
            texts(question.table, name), released, found.suppressed, strict=True
        ):
            level = own.height - 1 if gone else paths[value].index(label)
            size = sum(row[level] == paths[value][level] for row in own.rows)
            lost += weight * Fraction(size - 1, own.domain)
            most += weight * Fraction(own.domain - 1, own.domain)
    return float(lost / most) if most else 0.0


@settings(max_examples=examples(60))
@given(questions())
def test_released_classes_are_those_that_the_table_finds(question: Question) -> None:
    try:
        found = question.answer()
    except StudyError:
        return
    release = found.release(question.table).of_records(~found.suppressed)
    assert partition(release, list(question.hierarchies)).classes == found.classes


@settings(max_examples=examples(60))
@given(questions())
def test_the_same_seed_gives_the_same_release(question: Question) -> None:
    def answer() -> list[Row] | str:
        try:
            found = question.answer()
        except StudyError as error:
            return str(error)
        return rows_of(found.release(question.table), list(question.hierarchies))

    assert answer() == answer()


@settings(max_examples=examples(60))
@given(questions())
def test_small_blocks_keep_the_promises_too(question: Question) -> None:
    with pytest.MonkeyPatch.context() as patch:
        small = {name: effort._replace(block=3) for name, effort in EFFORTS.items()}
        patch.setattr(local_recoding, "EFFORTS", small)
        try:
            found = question.answer()
        except StudyError:
            assert unmet_in_one_class(question)
            return
    assert_kept_promises(question.table, found, question.criteria, suppression=question.suppression)


@settings(max_examples=examples(60))
@given(questions())
def test_mondrian_keeps_every_promise_with_hierarchies_and_without(question: Question) -> None:
    table, names = question.table, list(question.hierarchies)
    some = {name: question.hierarchies[name] for name in names[::2]}
    for hierarchies in (None, question.hierarchies, some):
        try:
            found = mondrian(table, hierarchies=hierarchies, criteria=question.criteria)
        except StudyError:
            assert unmet_in_one_class(question)
            continue
        assert not found.suppressed.any()
        assert_kept_promises(table, found, question.criteria)
        for name in names:
            pairs = zip(texts(table, name), texts(found.release(table), name), strict=True)
            paths = {row[0]: row for row in (hierarchies or {}).get(name, ANY).rows}
            assert all(
                label in paths.get(value, ()) or covers(label, value) for value, label in pairs
            )


ANY = Hierarchy("any", (("none", "*"),))


# --- By hand ---


def test_each_class_is_generalised_only_as_far_as_it_needs() -> None:
    """At best the women of 20 and 25 share a decade, 30m joins one 35m and 35f the other: L = 2/9 and 2/6.

    That is not promised; the best global recoding tells no age and loses √2 − 1.
    """
    found = recode_locally(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)])
    assert (11 / 9 * 4 / 3) ** 0.5 - 1 <= found.loss + 1e-12 < 2**0.5 - 1
    assert found.loss == pytest.approx(slow_loss(SIX, found, HIERARCHIES))


def test_combinations_that_meet_the_criteria_stay_as_they_are() -> None:
    found = recode_locally(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(1)])
    assert found.loss == 0
    assert found.classes == 5
    assert rows_of(found.release(SIX), ["age", "sex"]) == rows_of(SIX, ["age", "sex"])


def test_a_weight_spares_an_attribute() -> None:
    table = people(("20", "f", ""), ("20", "m", ""), ("30", "f", ""), ("30", "m", ""))
    for heavy, spared in (("age", {"20", "30"}), ("sex", {"f", "m"})):
        found = recode_locally(
            table, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], weights={heavy: 5}
        )
        assert set(texts(found.release(table), heavy)) == spared
        assert found.loss == pytest.approx(slow_loss(table, found, HIERARCHIES, {heavy: 5}))


def test_a_record_is_suppressed_where_that_loses_less_than_to_release_it() -> None:
    """One child among adults of one age: together all ages are lost, without it none is."""
    ages = ["30"] * 9 + ["1"]
    rows = tuple((str(age), str(age), str(age)) for age in range(1, 101, 29))
    wide = {
        name: Hierarchy(name, tuple((row[0], "*") for row in (*rows, ("100",))))
        for name in ("age", "size")
    }
    table = read(pa.table({"age": ages, "size": ages}), quasi_identifiers=["age", "size"])
    options: dict[str, Any] = {"hierarchies": wide, "criteria": [KAnonymity(9)]}
    whole = recode_locally(table, **options)
    assert (whole.loss, whole.suppressed.sum()) == (1, 0)
    found = recode_locally(table, suppression=0.1, **options)
    assert found.suppressed.tolist() == [False] * 9 + [True]
    assert found.loss == pytest.approx(0.1)
    assert recode_locally(table, suppression=0.05, **options).loss == 1


def test_more_suppression_never_loses_more() -> None:
    census = synthetic.table("school-census", records=1_000, seed=3)
    known = ["day_of_birth", "month_of_birth", "gender", "ethnicity"]
    table = read(census, quasi_identifiers=known, sensitive=["transport"])
    hierarchies = {name: suggest(table.column(name)) for name in known}
    for criteria in ([KAnonymity(20)], [KAnonymity(10), DistinctDiversity(2, "transport")]):
        losses = []
        for share in (0, 0.02, 0.1):
            found = recode_locally(
                table, hierarchies=hierarchies, criteria=criteria, suppression=share
            )
            assert_kept_promises(table, found, criteria, "transport", suppression=share)
            assert found.loss == pytest.approx(slow_loss(table, found, hierarchies), abs=1e-12)
            losses.append(found.loss)
        assert losses == sorted(losses, reverse=True)


def test_records_are_suppressed_only_where_nothing_else_helps() -> None:
    """All together the flu is too frequent; without the men it is not."""
    table = people(("20", "f", "flu"), ("20", "f", "gout"), ("30", "m", "flu"), ("35", "m", "flu"))
    options: dict[str, Any] = {"hierarchies": HIERARCHIES, "criteria": [InferenceRisk(0.5, "ill")]}
    found = recode_locally(table, suppression=0.5, **options)
    assert found.suppressed.tolist() == [False, False, True, True]
    assert found.loss == pytest.approx(slow_loss(table, found, HIERARCHIES))
    for share in (0, 0.25):
        with pytest.raises(StudyError, match="is not met by all records in one class, nor by"):
            recode_locally(table, suppression=share, **options)
    with pytest.raises(BudgetError, match="the time was over"):
        recode_locally(table, suppression=0.5, seconds=0, **options)
    with pytest.raises(StudyError, match=r"0\.5 is not met even by all records in one class"):
        mondrian(table, **options)


def test_few_classes_keep_the_average_risk_low() -> None:
    for p in ("0.5", "0.34", "0.2"):
        criteria = [AverageRisk(p)]
        found = recode_locally(SIX, hierarchies=HIERARCHIES, criteria=criteria)
        assert_kept_promises(SIX, found, criteria, "ill")
        assert_kept_promises(SIX, mondrian(SIX, criteria=criteria), criteria, "ill")


def test_a_time_limit_still_finds_a_solution_and_progress_is_told() -> None:
    calls: list[Progress] = []
    census = synthetic.table("school-census", records=1_400, seed=3)
    known = ["day_of_birth", "month_of_birth", "gender", "ethnicity"]
    table = read(census, quasi_identifiers=known, sensitive=["transport"])
    options: dict[str, Any] = {
        "hierarchies": {name: suggest(table.column(name)) for name in known},
        "criteria": [KAnonymity(4), DistinctDiversity(2, "transport")],
    }
    hurried = recode_locally(table, seconds=0, **options)
    found = recode_locally(table, on_progress=calls.append, **options)
    for each in (hurried, found):
        assert_kept_promises(table, each, options["criteria"], "transport")
    assert {call.stage for call in calls} == {"searching"}
    passes = [call.done for call in calls]
    assert sorted({*passes}) == list(range(int(passes[-1]) + 1))
    assert passes == sorted(passes)
    assert len(passes) > 2 * len({*passes}), "it is told inside of a pass, too"
    assert {call.figures["bound"] for call in calls} == {0}
    assert found.loss < hurried.loss
    losses = [call.figures["best"] for call in calls]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(found.loss)
    assert found.loss < recode(table, **options).loss


def test_a_fact_is_recoded_column_by_column_and_others_stay() -> None:
    table = SIX.with_roles(facts={"person": ("age", "sex")}, sensitive=["ill"])
    found = recode_locally(table, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)])
    assert found.quasi_identifiers == ("age", "sex")
    assert found.heights is None
    assert found.release(table).column("ill") is table.column("ill")
    assert found.to_dict()["method"] == "local recoding"


# --- Mondrian without hierarchies ---


EARLY, LATE = "1999-01-01..2001-04-30", "2001-05-01..2020-12-31"


def divided(values: Sequence[str], k: int = 2) -> list[str]:
    table = read(pa.table({"x": list(values)}), quasi_identifiers=["x"])
    found = mondrian(table, criteria=[KAnonymity(k)])
    released = texts(found.release(table), "x")
    assert all(covers(label, value) for label, value in zip(released, values, strict=True))
    return released


@pytest.mark.parametrize(
    ("values", "released"),
    [
        (["9", "10", "11", "30"], ["9-10", "9-10", "11-30", "11-30"]),
        (["-1", "5", "+6", "7.5"], ["-1..5", "-1..5", "+6..7.5", "+6..7.5"]),
        (["01", "02", "10", "11"], ["01..02", "01..02", "10..11", "10..11"]),
        (
            ["2001-05-01", "2001-04-30", "1999-01-01", "2020-12-31"],
            [LATE, EARLY, EARLY, LATE],
        ),
        (["b", "a", "d", "c"], ["{a, b}", "{a, b}", "{c, d}", "{c, d}"]),
        (["", "", "4", "7"], ["", "", "4-7", "4-7"]),
        (["", "3", "4", "7"], ["*", "*", "4-7", "4-7"]),
        (["x", "x", "x", "y"], ["{x, y}"] * 4),
        (["", "", "", ""], [""] * 4),
    ],
)
def test_ranges_and_sets(values: list[str], released: list[str]) -> None:
    assert divided(values) == released


def test_a_long_set_is_a_star() -> None:
    assert set(divided([f"v{i}" for i in range(33)], k=33)) == {"*"}
    assert set(divided([f"v{i}" for i in range(32)], k=32)) != {"*"}


def test_the_loss_of_ranges_counts_the_values_of_the_table() -> None:
    """Four ages in two ranges of two: each loses (2 − 1) / (4 − 1)."""
    table = read(pa.table({"x": ["9", "10", "11", "30"]}), quasi_identifiers=["x"])
    assert mondrian(table, criteria=[KAnonymity(2)]).loss == pytest.approx(1 / 3)


def test_quality_needs_hierarchies() -> None:
    found = mondrian(SIX, criteria=[KAnonymity(2)])
    with pytest.raises(StudyError, match='"age" has no hierarchy'):
        quality(SIX, found, {})


@pytest.mark.parametrize("unfit", ["a, b", "{a", "a|b", "*", " a"])
def test_texts_that_cannot_stand_in_a_set_need_a_hierarchy(unfit: str) -> None:
    with pytest.raises(StudyError, match=r'of column "x" cannot be released as one of a set'):
        divided(["c", unfit])


# --- Refusals ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criteria": []}, "needs a list of criteria"),
        ({"criteria": KAnonymity(2)}, "needs a list of criteria"),
        ({"criteria": [KAnonymity(7)]}, "has 6 records, so no class can hold 7"),
        ({"criteria": [DistinctDiversity(3, "ill")]}, "has 2 distinct values"),
        ({"suppression": -0.1}, "from 0 to 1, not -0.1"),
        ({"suppression": 1.5}, "from 0 to 1, not 1.5"),
        ({"suppression": "some"}, "must be a number"),
        ({"effort": "bets"}, 'effort "bets" is not in .*; did you mean "best"'),
        ({"seed": -1}, "a seed is a whole number from 0 on, not -1"),
        ({"quasi_identifiers": []}, "at least one quasi-identifier"),
        ({"quasi_identifiers": "age"}, 'such as \\["age"\\]'),
        ({"quasi_identifiers": ["age", "age"]}, "given twice"),
        ({"quasi_identifiers": ["age", "ill"]}, '"ill" has no hierarchy'),
        ({"hierarchies": {"age": HIERARCHIES["age"]}}, '"sex" has no hierarchy'),
        ({"objective": "discernibility"}, 'objective "discernibility" is not in'),
        ({"objective": "los"}, 'did you mean "loss"'),
        ({"weights": {"ages": 1}}, 'did you mean "age"'),
        ({"weights": {"age": -1}}, 'the weight of "age" is -1'),
        ({"weights": {"age": 0, "sex": 0}}, "all weights are 0"),
        ({"criteria": [InferenceRisk(0.5, "age")]}, 'column "age" is both'),
    ],
)
def test_questions_that_are_not_well_posed(change: Mapping[str, Any], message: str) -> None:
    question = {"hierarchies": HIERARCHIES, "criteria": [KAnonymity(2)], **change}
    with pytest.raises(StudyError, match=message):
        recode_locally(SIX, **question)


def test_data_that_does_not_fit() -> None:
    with pytest.raises(DataError, match='"zip" is not in'):
        mondrian(SIX, criteria=[KAnonymity(2)], quasi_identifiers=["zip"])
    short = Hierarchy("age", HIERARCHIES["age"].rows[:3])
    for find in (mondrian, recode_locally):
        with pytest.raises(DataError, match='"35" of column "age" is not in its hierarchy'):
            find(SIX, hierarchies=HIERARCHIES | {"age": short}, criteria=[KAnonymity(2)])


def test_a_release_that_does_not_keep_its_promise_is_never_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search is told that every group is fine; the released columns say otherwise."""
    monkeypatch.setattr(Judge, "failing", lambda _, groups: np.zeros(len(groups), np.bool_))
    for find in (mondrian, recode_locally):
        with pytest.raises(InternalError, match="does not meet 3-anonymity"):
            find(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(3)])


def test_what_is_about_all_classes_together_is_refused_in_one_line() -> None:
    people = pa.table({"a": ["1", "2"], "ill": ["x", "y"]})
    table = read(people, quasi_identifiers=["a"], sensitive=["ill"])
    for criterion in (NamedShare("0.5"), InferenceAdded("0.5", "ill")):
        with pytest.raises(StudyError, match="global"):
            recode_locally(
                table,
                hierarchies={"a": suppression_only(table.column("a"))},
                criteria=[criterion],
            )
