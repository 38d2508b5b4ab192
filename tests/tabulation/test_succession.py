"""What follows what: certainty only grows, the order does not matter, and all at once is the same as one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import StudyError
from glasshouse.study import validated
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation import (
    PublishedOutput,
    Succession,
    cell_bounds,
    published,
    remedy_of,
    succession_of,
)
from glasshouse.tabulation.outputs import joined, output_of
from glasshouse.tabulation.proof import proof_of
from glasshouse.tabulation.relaxation import Relaxation
from glasshouse.tabulation.search import PartSearch
from glasshouse.tabulation.succession import needed
from tests.examples import examples
from tests.tabulation.brute import answer, random_plan
from tests.tabulation.test_solution import golden


def outputs_of(plan: dict[str, Any]) -> list[PublishedOutput]:
    """Return a plan as outputs of one table each."""
    return [
        PublishedOutput(table["id"], validated(TablesStudy, plan | {"tables": [table]}, "plan"))
        for table in plan["tables"]
        if not any("median" in one for one in table.get("statistics", ()))
    ]


def stepwise(outputs: list[PublishedOutput], rare: int) -> list[Succession]:
    """Return what each output adds to those before it, with the proof of these."""
    steps: list[Succession] = []
    proof = None
    for place, output in enumerate(outputs):
        steps.append(succession_of(outputs[:place], output, rare=rare, proof=proof))
        bounds = steps[-1].bounds
        assert bounds is not None
        proof = proof_of(bounds)
    return steps


def certain_by_trying(plan: dict[str, Any], rare: int) -> tuple[int, int]:
    """Return how many people are certain, and how many of these with a rare combination, by trying every file."""
    tried = answer(plan)
    assert tried is not None
    cells = tried["cells"].values()
    return sum(low for low, _ in cells), sum(low for low, high in cells if high <= rare)


FOUND = (267, 321)
"""Ledgers that once counted a person twice, or stopped at a count of everybody."""


@pytest.mark.parametrize("batch", range(4))
def test_random_ledgers_end_as_all_tables_at_once_in_any_order(batch: int) -> None:
    for seed in (*FOUND, *range(batch, examples(1000, one_of=12), 4)):
        plan = random_plan(seed)
        rng = random.Random(seed)
        outputs = outputs_of(plan)
        rare = rng.randint(1, 3)
        if "people" not in plan:
            outputs = [one for one in outputs if one.name == "all"] + [
                one for one in outputs if one.name != "all"
            ]
        whole = plan | {
            "tables": [t for t in plan["tables"] if t["id"] in {o.name for o in outputs}]
        }
        certain, rare_certain = certain_by_trying(whole, rare)
        for _ in range(2):
            steps = stepwise(outputs, rare)
            assert [step.undecided for step in steps] == [False] * len(steps)
            assert steps[-1].after == certain, seed
            assert sum(step.new_rare for step in steps) == rare_certain, seed
            assert steps[0].before == 0
            for before, after in pairwise(steps):
                assert after.before == before.after <= after.after, seed
            if "people" in plan:  # else the first one says how many there are
                rng.shuffle(outputs)


def test_certainty_never_falls_for_any_combination() -> None:
    for seed in range(examples(60, one_of=4)):
        plan = random_plan(seed)
        if "people" not in plan:
            continue
        outputs = outputs_of(plan)
        before: dict[tuple[Any, ...], int] = {}
        for count in range(1, len(outputs) + 1):
            labels = [output.name for output in outputs[:count]]
            bounds = cell_bounds(published(joined(outputs, tables=labels)), counting=False)
            ends = {
                tuple(bounds.system.values(cell)): int(bounds.least[cell])
                for cell in range(len(bounds.least))
            }
            for values, least in before.items():
                assert least == 0 or ends[values] >= least
            before = ends


def test_the_golden_check_is_reproduced(shared: Callable[[str], Path]) -> None:
    check = golden(shared, "differencing")["check"]
    earlier = [output_of(check["ledger"])]
    new = output_of(check["new"], earlier=earlier)
    found = succession_of(earlier, new, rare=9)
    assert (found.verdict, found.before, found.after) == (
        check["verdict"],
        check["before"],
        check["after"],
    )
    assert found.bounds is not None
    newly = [[values, low, high] for values, low, high in found.bounds.certain_cells()]
    assert newly == check["newly_certain"]
    assert found.because.tables == ("out-1",)
    assert found.because.irreducible == "proved"


AGES: dict[str, Any] = {
    "people": 200,
    "attributes": {
        "age": {"values": ["young", "old"]},
        "ill": {"values": ["yes", "no"]},
        "town": {"values": ["A", "B"]},
    },
}


def table(name: str, by: list[str], *rows: list[Any], **entries: Any) -> PublishedOutput:
    plan = AGES | {"tables": [{"id": name, "by": by, "rows": list(rows), **entries}]}
    return PublishedOutput(name, validated(TablesStudy, plan, "plan"))


def ages() -> PublishedOutput:
    rows = (["young", "yes", 60], ["young", "no", 40], ["old", "yes", 55], ["old", "no", 45])
    return table("ages", ["age", "ill"], *rows)


def test_stored_files_of_people_answer_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    towns = table("towns", ["town"], ["A", 120], ["B", 80])
    first = succession_of([ages()], towns, rare=9)
    assert first.bounds is not None
    proof = proof_of(first.bounds)

    def refuse(*_: object) -> None:
        raise AssertionError("a solver was asked")

    monkeypatch.setattr(Relaxation, "__init__", refuse)
    monkeypatch.setattr(PartSearch, "model", refuse)
    coarser = table("ill", ["ill"], ["yes", 115], ["no", 85])
    again = succession_of([ages(), towns], coarser, rare=9, proof=proof)
    assert again.verdict == "publishable"
    with pytest.raises(AssertionError, match="a solver was asked"):
        succession_of([ages(), towns], coarser, rare=9)


def test_a_proof_of_something_else_is_not_used() -> None:
    towns = table("towns", ["town"], ["A", 120], ["B", 80])
    bounds = succession_of([], ages(), rare=9).bounds
    assert bounds is not None
    other = proof_of(bounds)
    with_other = succession_of([towns], ages(), rare=9, proof=other)
    assert with_other.to_dict() == succession_of([towns], ages(), rare=9).to_dict()


def test_a_small_count_is_new_only_once() -> None:
    clinic = table("clinic", ["town", "ill"], *(["A", "yes", 3], ["A", "no", 57]), complete=False)
    first = succession_of([ages()], clinic, rare=9)
    assert (first.verdict, first.small_cells, first.new_rare) == ("discloses", 1, 0)
    assert first.because.tables == ()
    again = table("again", ["town", "ill"], ["A", "yes", 3], complete=False)
    assert succession_of([ages(), clinic], again, rare=9).verdict == "publishable"


def test_a_suppressed_count_that_follows_is_recovered() -> None:
    rows = (["A", "yes", "*"], ["A", "no", 97], ["B", "yes", 80], ["B", "no", 20])
    first = table("clinic", ["town", "ill"], *rows, suppressed=[0, 9])
    exact = table("homes", ["town"], ["A", 100], ["B", 100])
    found = succession_of([exact], first, rare=9)
    assert found.recovered_cells == 1
    assert found.because.tables == ()  # that there are 200 people is known besides
    open_number = [
        PublishedOutput(one.name, one.plan.model_copy(update={"people": (150, 250)}))
        for one in (first, exact)
    ]
    alone = succession_of([], open_number[0], rare=9)
    assert alone.recovered_cells == 0
    together = succession_of(open_number[:1], open_number[1], rare=9)
    assert (together.recovered_cells, together.because.tables) == (1, ("clinic",))


def test_what_was_not_proved_is_never_publishable() -> None:
    towns = table("towns", ["town"], ["A", 120], ["B", 80])
    found = succession_of([ages()], towns, rare=9, seconds=1e-9)
    assert found.verdict == "limit"
    assert found.undecided


def test_outputs_that_contradict_each_other_are_named() -> None:
    found = succession_of([ages()], table("ill", ["ill"], ["yes", 116], ["no", 84]), rare=9)
    assert found.verdict == "contradiction"
    assert found.contradiction is not None
    assert found.contradiction.tables == ("ages", "ill")


def test_two_cohorts_are_differenced() -> None:
    rows = [["young", "yes", 60], ["young", "no", 40], ["old", "yes", 55], ["old", "no", 45]]
    fewer = [["young", "yes", 59], *rows[1:]]
    attributes = {name: AGES["attributes"][name] for name in ("age", "ill")}
    one = output_of(
        {
            "attributes": attributes,
            "tables": [{"id": "january", "by": ["age", "ill"], "rows": rows}],
        },
        cohort="in_january",
    )
    nested = {"in_january": {"values": ["yes", "no"]}, "in_march": {"values": ["yes", "no"]}}
    two = output_of(
        {
            "attributes": attributes | nested,
            "impossible": [{"in_january": "no", "in_march": "yes"}],
            "tables": [{"id": "march", "by": ["age", "ill"], "rows": fewer}],
        },
        cohort="in_march",
    )
    found = succession_of([one], two, rare=9)
    assert found.verdict == "discloses"
    assert found.new_rare == 1
    [reason] = [reason for reason in found.reasons if reason.most == 1]
    assert reason.where["age"] == "young"
    assert reason.where["ill"] == "yes"
    apart = output_of(
        {
            "attributes": attributes,
            "tables": [{"id": "march", "by": ["age", "ill"], "rows": fewer}],
        },
        cohort="in_march",
    )
    assert (
        succession_of([one], apart, rare=9).verdict == "publishable"
    )  # who is in both is not known


def test_advice_is_true_and_the_cheapest_of_what_was_tried() -> None:
    rows = (["A", "yes", 3], ["A", "no", 97], ["B", "yes", 70], ["B", "no", 30])
    new = table("clinic", ["town", "ill"], *rows)
    asked: list[PublishedOutput] = []

    def follows(changed: PublishedOutput, seconds: float) -> Succession:
        asked.append(changed)
        return succession_of([], changed, rare=9, seconds=seconds)

    found = succession_of([], new, rare=9)
    remedy = remedy_of(new, found, follows, seconds=30)
    assert remedy.change in ("hide", "coarsen")
    assert follows(asked[-1], 30).verdict == "publishable"
    assert all(follows(changed, 30).verdict != "publishable" for changed in asked[:-2])
    assert "hidden" not in remedy.to_dict()


def test_a_count_may_be_hidden_where_nothing_says_how_many_people_there_are() -> None:
    rows = [["A", "yes", 40], ["A", "no", 30], ["B", "no", 50], ["B", "yes", 4]]
    attributes = {name: AGES["attributes"][name] for name in ("town", "ill")}
    plan = {"attributes": attributes, "tables": [{"id": "T", "by": ["town", "ill"], "rows": rows}]}
    output = output_of(plan)
    found = succession_of([], output, rare=9)
    remedy = remedy_of(
        output,
        found,
        lambda changed, seconds: succession_of([], changed, rare=9, seconds=seconds),
        seconds=30,
    )
    assert (remedy.change, remedy.cells) == ("hide", 1)
    assert remedy.hidden == ({"town": "B", "ill": "yes"},)


def test_two_tables_that_each_give_a_count_away_are_changed_together() -> None:
    towns = table("towns", ["town"], ["A", 100], ["B", 100])
    young = table("young", ["age"], ["young", 120], ["old", 80])
    plan = AGES | {
        "tables": [
            {
                "id": "clinic",
                "by": ["town", "ill"],
                "suppressed": [0, 9],
                "rows": [["A", "yes", "*"], ["A", "no", 97], ["B", "yes", 60], ["B", "no", 40]],
            },
            {
                "id": "ages",
                "by": ["age", "ill"],
                "suppressed": [0, 9],
                "rows": [
                    *(["young", "yes", 59], ["young", "no", 61]),
                    *(["old", "yes", "*"], ["old", "no", 76]),
                ],
            },
        ]
    }
    output = PublishedOutput("both", validated(TablesStudy, plan, "plan"))
    asked: list[PublishedOutput] = []

    def follows(changed: PublishedOutput, seconds: float) -> Succession:
        asked.append(changed)
        return succession_of([towns, young], changed, rare=9, seconds=seconds, explaining=False)

    found = succession_of([towns, young], output, rare=9)
    assert found.recovered_cells == 2
    remedy = remedy_of(output, found, follows, seconds=60)
    assert remedy.change == "several"
    assert [(part.change, part.table) for part in remedy.parts] == [
        ("hide", "clinic"),
        ("hide", "ages"),
    ]
    assert remedy.cells == sum(part.cells for part in remedy.parts) == len(remedy.hidden)
    last = asked[-1]
    assert [len(one.rows or ()) for one in last.plan.tables] == [4, 4]
    assert follows(last, 60).verdict == "publishable"


def test_different_numbers_of_people_are_refused() -> None:
    other = PublishedOutput("b", ages().plan.model_copy(update={"people": 199}))
    with pytest.raises(StudyError, match="different numbers of people"):
        succession_of([ages()], other, rare=9)


def test_few_of_many_are_needed() -> None:
    asked = 0

    def follows(some: tuple[str, ...]) -> bool | None:
        nonlocal asked
        asked += 1
        return {"T7", "T40"} <= set(some)

    found = needed([f"T{number}" for number in range(50)], follows)
    assert found.tables == ("T7", "T40")
    assert asked < 30
    assert needed(["A", "B"], lambda some: None).irreducible == "limit"
    assert needed(["A"], lambda some: True).tables == ()
