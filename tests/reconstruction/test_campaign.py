"""A campaign is never wrong, spends its time as the plan says, can be resumed, and names what is wrong with data."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import DataError, StoppedError, StudyError
from glasshouse.measures.totals import figures, is_settled, measured
from glasshouse.progress import Progress
from glasshouse.reconstruction import CampaignResult, attempt_rounds, campaign, workers
from glasshouse.reconstruction.campaign_result import Apart
from glasshouse.reconstruction.phase import Attempt, Task
from glasshouse.study.totals import TotalsStudy
from tests.examples import examples
from tests.reconstruction.plans import (
    GOOD,
    GOOD_TOTALS,
    changed,
    rewrite,
    rows_of,
    tiny_plan,
    trade_plan,
    write,
)


def mistakes(result: CampaignResult, folder: Path) -> tuple[int, int, int]:
    """How many records have their true bin among the feasible ones, how many not, and how many are linked wrongly."""
    truth = {
        row["declaration"]: f"{row['state']} {row['city']}" if row["in_totals"] == "yes" else "NONE"
        for row in rows_of(folder / "month" / "truth.csv")
    }
    right = wrong = wrongly_linked = 0
    for row in result.packages_frame(most_bins=10_000).to_pylist():
        if row["feasible_bins"] is None:
            continue
        inside = truth[row["record"]] in row["feasible_bins"]
        right, wrong = right + inside, wrong + (not inside)
        wrongly_linked += row["linked"] and row["feasible_bins"] != [truth[row["record"]]]
    return right, wrong, wrongly_linked


@pytest.fixture(scope="module")
def hundredth(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CampaignResult]:
    folder = tmp_path_factory.mktemp("hundredth")
    plan = trade_plan(
        folder,
        budget={"quick": 0.05, "longest": 0.05},
        transactions=8_175,
        importers=184,
        seed=11,
        excluded=0.001,
        added=0.0,
    )
    return folder, campaign(plan)


def test_a_hundredth_of_a_month_is_never_wrong(hundredth: tuple[Path, CampaignResult]) -> None:
    folder, result = hundredth
    right, wrong, wrongly_linked = mistakes(result, folder)
    assert wrong == wrongly_linked == 0
    assert right > 0.75 * result.records


def test_most_instances_of_a_hundredth_are_solved(hundredth: tuple[Path, CampaignResult]) -> None:
    _, result = hundredth
    assert result.complete
    assert result.solved > 0.8 * result.instances
    city, state, again = result.phases
    assert city.instances > 200
    assert state.settled > 100
    assert again.linked > 0
    assert city.linked_so_far + again.linked == again.linked_so_far
    for phase in result.phases:
        assert phase.solved + phase.unsolved + phase.untried == phase.instances


def test_chances_grow_from_phase_to_phase_and_bayes_is_never_below_uniform(
    hundredth: tuple[Path, CampaignResult],
) -> None:
    _, result = hundredth
    uniform, bayes = result.exposure("uniform"), result.exposure("bayes")
    assert uniform[0].chance == pytest.approx(1 / 184)
    assert uniform[0].value_at_risk == pytest.approx(result.value / 184)
    assert uniform[-1].chance > uniform[2].chance > uniform[0].chance
    assert bayes[-1].chance >= uniform[-1].chance
    assert (result.standing.bayes >= result.standing.uniform - 1e-12).all()


def test_the_summary_and_the_tables_of_a_run_are_those_of_the_result(
    hundredth: tuple[Path, CampaignResult],
) -> None:
    _, result = hundredth
    last = result.phases[-1]
    assert figures(result) == {
        "value": result.value,
        "instances": result.instances,
        "solved": result.solved,
        "linked": last.linked_so_far,
        "exposed": last.exposed,
        "exposed_value": last.exposed_value,
    }
    ((name, table),) = result.tables().items()
    assert name == "bins.parquet"
    assert table.num_rows == sum(len(result.bins(rule)) for rule in ("uniform", "bayes"))


def test_frames_agree_with_the_figures_and_tell_no_names(
    hundredth: tuple[Path, CampaignResult],
) -> None:
    _, result = hundredth
    instances = result.to_frame()
    assert instances.num_rows == result.instances
    assert not {"group", "keys", "bin", "record"} & set(instances.column_names)
    packages = result.packages_frame()
    assert packages.num_rows == result.records
    assert sum(packages["linked"].to_pylist()) == result.phases[-1].linked_so_far
    last = [row for row in result.bins_frame().to_pylist() if row["step"].startswith("city within")]
    assert sum(row["linked"] for row in last if row["step"].endswith("solved")) == (
        result.phases[-1].linked_so_far
    )
    for row in packages.slice(0, 500).to_pylist():
        if row["shares"] is not None:
            assert sum(row["shares"]) == pytest.approx(1)
    plain = result.to_dict()
    assert plain["phases"][0]["solved"] == result.phases[0].solved
    assert "importer" not in str(plain["troubles"])


@pytest.mark.parametrize(
    ("made", "model"), [("record", "record"), ("sum", "unknown"), ("record", "unknown")]
)
def test_other_rounding_models_are_never_wrong(tmp_path: Path, made: str, model: str) -> None:
    plan = trade_plan(
        tmp_path,
        budget={"quick": 0.03, "longest": 0.03},
        transactions=900,
        importers=60,
        seed=2,
        rounding=made,
        excluded=0.004,
        added=0.0,
    )
    result = campaign(changed(plan, rounding=model))
    right, wrong, wrongly_linked = mistakes(result, tmp_path)
    assert wrong == wrongly_linked == 0
    assert right > 800


# -- a slow, obvious twin ------------------------------------------------------------------------------------------


def by_hand(
    values: Sequence[Decimal], totals: Mapping[str, Decimal], *, none_bin: bool
) -> list[set[str]]:
    """Every allocation is tried; |S − T| ≤ ½ for every bin."""
    bins = [*totals, *(["NONE"] if none_bin else [])]
    feasible: list[set[str]] = [set() for _ in values]
    for allocation in itertools.product(bins, repeat=len(values)):
        sums = dict.fromkeys(bins, Decimal(0))
        for bin_, value in zip(allocation, values, strict=True):
            sums[bin_] += value
        if all(abs(sums[each] - total) <= Decimal("0.5") for each, total in totals.items()):
            for seen, bin_ in zip(feasible, allocation, strict=True):
                seen.add(bin_)
    return feasible


tenths = st.integers(0, 90).map(lambda number: Decimal(number) / 10)


@settings(max_examples=examples(40))
@given(
    groups=st.lists(
        st.lists(st.tuples(tenths, st.sampled_from("abc")), min_size=1, max_size=5),
        min_size=1,
        max_size=3,
    ),
    shift=st.sampled_from([0, 0, 0, 1, -1, 3]),
    none_bin=st.booleans(),
)
def test_a_tiny_campaign_finds_what_trying_everything_finds(
    tmp_path_factory: pytest.TempPathFactory,
    groups: list[list[tuple[Decimal, str]]],
    shift: int,
    none_bin: bool,
) -> None:
    folder = tmp_path_factory.mktemp("tiny")
    records, totals, expected = [], [], []
    for number, group in enumerate(groups):
        sums: dict[str, Decimal] = {}
        for value, bin_ in group:
            sums[bin_] = sums.get(bin_, Decimal(0)) + value
            records.append((f"g{number}", str(value), ""))
        rounded = {bin_: Decimal(int(total + Decimal("0.5"))) for bin_, total in sums.items()}
        first = next(iter(rounded))
        rounded[first] = max(rounded[first] + shift, Decimal(0))
        totals += [(f"g{number}", bin_, str(total)) for bin_, total in rounded.items()]
        expected += by_hand([value for value, _ in group], rounded, none_bin=none_bin)
    result = campaign(tiny_plan(folder, records, totals, none_bin=none_bin))
    for row, bins in zip(result.packages_frame().to_pylist(), expected, strict=True):
        assert set(row["feasible_bins"] or []) == bins


def test_rows_of_the_same_bin_are_added_up_and_their_windows_with_them(tmp_path: Path) -> None:
    records = [("g", "0.4", ""), ("g", "0.4", ""), ("g", "7.0", "")]
    totals = [("g", "a", "0"), ("g", "a", "0"), ("g", "b", "7")]
    result = campaign(tiny_plan(tmp_path, records, totals))
    feasible = result.packages_frame()["feasible_bins"].to_pylist()
    assert feasible == [["a", "b"], ["a", "b"], ["b"]]


# -- totals that are held back --------------------------------------------------------------------------------------

HALF = Decimal("0.5")


def half_up(value: Decimal) -> Decimal:
    return Decimal(int(value + HALF))


def published_rows(
    group: Sequence[tuple[Decimal, str, int]], made: str
) -> dict[tuple[str, int], Decimal]:
    """The totals of a group by bin and row, rounded as the publisher does; what is in no bin was left out."""
    rows: dict[tuple[str, int], Decimal] = {}
    for value, bin_, row in group:
        if bin_ != "NONE":
            amount = half_up(value) if made == "record" else value
            rows[bin_, row] = rows.get((bin_, row), Decimal(0)) + amount
    return {key: half_up(amount) for key, amount in rows.items()}


def trying_all(
    values: Sequence[Decimal], rows: Mapping[tuple[str, int], Decimal | None], model: str
) -> list[set[str]]:
    """Every allocation is tried; of a bin with a row that is held back only the least is known."""
    bins = [*dict.fromkeys(bin_ for bin_, _ in rows), "NONE"]
    feasible: list[set[str]] = [set() for _ in values]
    for allocation in itertools.product(bins, repeat=len(values)):
        valid = True
        for bin_ in bins[:-1]:
            inside = [
                value for value, place in zip(values, allocation, strict=True) if place == bin_
            ]
            amounts = [half_up(value) for value in inside] if model == "record" else inside
            totals = [total for (place, _), total in rows.items() if place == bin_]
            known = [total for total in totals if total is not None]
            slack = {
                "sum": HALF * len(known),
                "record": Decimal(0),
                "unknown": HALF * (max(len(known) - 1, 0) + max(len(inside), 1)),
            }[model]
            valid &= sum(amounts) >= sum(known) - slack
            valid &= len(known) < len(totals) or sum(amounts) <= sum(known) + slack
        if valid:
            for seen, bin_ in zip(feasible, allocation, strict=True):
                seen.add(bin_)
    return feasible


@settings(max_examples=examples(120))
@given(
    group=st.lists(
        st.tuples(tenths, st.sampled_from(["a", "b", "c", "NONE"]), st.integers(0, 1)),
        min_size=1,
        max_size=5,
    ),
    made_as=st.sampled_from([("sum", "sum"), ("record", "record"), ("sum", "unknown"), ("record", "unknown")]),
    data=st.data(),
)  # fmt: skip
def test_where_totals_are_held_back_the_truth_stays_and_trying_everything_finds_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    group: list[tuple[Decimal, str, int]],
    made_as: tuple[str, str],
    data: st.DataObject,
) -> None:
    made, model = made_as
    rows: dict[tuple[str, int], Decimal | None] = {
        key: data.draw(st.sampled_from([total, None, None]))
        for key, total in published_rows(group, made).items()
    }
    if not rows:
        return
    plan = tiny_plan(
        tmp_path_factory.mktemp("open"),
        [("g", str(value), "") for value, _, _ in group],
        [("g", bin_, "x" if total is None else str(total)) for (bin_, _), total in rows.items()],
        rounding=model,
        none_bin=True,
    )
    totals = plan.publications["totals"].model_copy(update={"suppressed": ("x",)})
    result = campaign(changed(plan, publications={**plan.publications, "totals": totals}))
    expected = trying_all([value for value, _, _ in group], rows, model)
    table = result.packages_frame().to_pylist()
    for row, bins, (_, bin_, _) in zip(table, expected, group, strict=True):
        assert set(row["feasible_bins"]) == bins
        assert bin_ in bins
    hidden = {bin_ for (bin_, _), total in rows.items() if total is None}
    assert [t.count for t in result.troubles if "held back" in t.kind] == (
        [len(hidden)] * bool(hidden)
    )


def test_a_blank_total_is_open_where_the_plan_says_so(tmp_path: Path) -> None:
    records = [("g", "1.0", ""), ("g", "2.0", ""), ("g", "4.0", "")]
    totals = [("g", "a", "1"), ("g", "b", ""), ("g", "c", "")]
    plan = tiny_plan(tmp_path, records, totals)
    with pytest.raises(DataError, match='missing = "open"'):
        campaign(plan)
    publication = plan.publications["totals"].model_copy(update={"missing": "open"})
    result = campaign(changed(plan, publications={**plan.publications, "totals": publication}))
    feasible = result.packages_frame()["feasible_bins"].to_pylist()
    assert feasible == [["a"], ["b", "c"], ["b", "c"]]
    assert result.phases[0].linked == 1
    assert [trouble.count for trouble in result.troubles] == [2]


def test_a_repeated_total_that_is_held_back_once_and_0_once_is_in_doubt(tmp_path: Path) -> None:
    totals = [*GOOD_TOTALS, ("g", "a", "x"), ("g", "a", "0")]
    plan = tiny_plan(tmp_path, [*GOOD, ("g", "3.0", "")], totals)
    update = {"suppressed": ("x",), "unique": ("group", "bin")}
    publication = plan.publications["totals"].model_copy(update=update)
    result = campaign(changed(plan, publications={**plan.publications, "totals": publication}))
    assert [(apart.reason, apart.groups) for apart in result.phases[0].apart] == [("measures", 1)]
    assert result.phases[0].linked == 2


def test_a_record_that_is_held_back_sets_its_group_apart(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, [*GOOD, ("g", "x", "")], [*GOOD_TOTALS, ("g", "a", "1")])
    records = plan.publications["records"].model_copy(update={"suppressed": ("x",)})
    result = campaign(changed(plan, publications={**plan.publications, "records": records}))
    assert [trouble.kind for trouble in result.troubles] == [
        "groups with a record whose measure is suppressed"
    ]
    assert [apart.reason for apart in result.phases[0].apart] == ["measures"]


# -- phases --------------------------------------------------------------------------------------------------------


def narrowing_plan(folder: Path) -> TotalsStudy:
    """Four records with the same values in two cities of each of two states; a code tells the states apart."""
    write(
        folder / "records.csv",
        ["id", "group", "code", "value"],
        [
            ("r0", "g", "x", "1"),
            ("r1", "g", "x", "2"),
            ("r2", "g", "y", "1"),
            ("r3", "g", "y", "2"),
        ],
    )
    cities = [
        ("g", "N", "n1", "1"),
        ("g", "N", "n2", "2"),
        ("g", "S", "s1", "1"),
        ("g", "S", "s2", "2"),
    ]
    write(folder / "cities.csv", ["group", "state", "city", "value"], cities)
    write(folder / "states.csv", ["code", "state", "value"], [("x", "N", "3"), ("y", "S", "3")])
    write(
        folder / "register.csv",
        ["state", "city"],
        [("N", "n1"), ("N", "n2"), ("N", "n2"), ("S", "s1"), ("S", "s2")],
    )
    measures = {"value": "value"}
    by_city = {
        "packages": "records",
        "bins": "cities",
        "bin": ["state", "city"],
        "keys": {"group": "group"},
    }
    return TotalsStudy.model_validate(
        {
            "publications": {
                "records": {
                    "path": folder / "records.csv",
                    "measures": measures,
                    "identifier": "id",
                },
                "cities": {"path": folder / "cities.csv", "measures": measures},
                "states": {"path": folder / "states.csv", "measures": measures},
                "register": {"path": folder / "register.csv"},
            },
            "measures": {"value": {}},
            "rounding": "record",
            "none_bin": False,
            "entities": {"publication": "register", "keys": {"state": "state", "city": "city"}},
            "phases": [
                {"name": "city", **by_city},
                {
                    "name": "state",
                    "packages": "records",
                    "bins": "states",
                    "bin": ["state"],
                    "keys": {"code": "code"},
                    "narrowed_by": [{"phase": "city", "on": ["state"]}],
                    "exposed": False,
                },
                {
                    "name": "again",
                    **by_city,
                    "narrowed_by": [
                        {"phase": "state", "on": ["state"]},
                        {"phase": "city", "on": ["state", "city"]},
                    ],
                },
            ],
        }
    )


def test_a_phase_narrows_the_next(tmp_path: Path) -> None:
    result = campaign(narrowing_plan(tmp_path))
    city, state, again = result.phases
    assert (city.instances, city.ambiguous, city.linked) == (1, 1, 0)
    assert (state.instances, state.trivial, state.linked) == (2, 2, 0)
    assert (again.instances, again.unique, again.linked) == (2, 2, 4)
    packages = result.packages_frame().to_pylist()
    assert [row["feasible_bins"] for row in packages] == [["N n1"], ["N n2"], ["S s1"], ["S s2"]]
    assert [row["uniform"] for row in packages] == [1, 0.5, 1, 1]
    assert [row["certain"] for row in packages] == [True, False, True, True]
    assert again.exposed == 3


def test_chances_of_the_phases_are_those_by_hand(tmp_path: Path) -> None:
    result = campaign(narrowing_plan(tmp_path))
    steps = result.exposure("uniform")
    assert [step.name for step in steps] == [
        *("prior", "city, joined", "city, solved", "again, joined", "again, solved")
    ]
    # r0 and r2 are in n1 or s1 (two entities), r1 and r3 in n2 or s2 (three); with the state, in one of them.
    expected = [1 / 5, 1 / 5, (1 / 2 + 1 / 3) / 2, (1 + 1 / 2 + 1 + 1) / 4, (1 + 1 / 2 + 1 + 1) / 4]
    assert [step.chance for step in steps] == pytest.approx(expected)
    # All four allocations weigh alike: each record is in either state with probability ½, and s2 has one entity.
    assert result.exposure("bayes")[2].chance == pytest.approx(1 / 2)


def test_phases_that_contradict_each_other_are_set_apart(tmp_path: Path) -> None:
    plan = narrowing_plan(tmp_path)
    rewrite(
        tmp_path / "cities.csv",
        [
            {"group": "g", "state": "N", "city": "n1", "value": "3"},
            {"group": "g", "state": "N", "city": "n2", "value": "3"},
        ],
    )
    result = campaign(plan)
    assert [phase.instances for phase in result.phases] == [1, 0, 0]
    assert [phase.settled for phase in result.phases] == [0, 1, 1]
    assert {each.reason: each.groups for each in result.phases[1].apart} == {"phases disagree": 1}


@settings(max_examples=examples(40))
@given(
    truth=st.lists(
        st.tuples(
            st.sampled_from("gh"),
            st.sampled_from("xyz"),
            st.sampled_from(["N n1", "N n2", "S s1", "S s2"]),
            st.integers(1, 12).map(lambda number: Decimal(number) / 4),
            st.booleans(),
        ),
        min_size=2,
        max_size=9,
    ),
    model=st.sampled_from(["sum", "unknown"]),
)
def test_three_phases_with_records_left_out_are_never_wrong(
    tmp_path_factory: pytest.TempPathFactory,
    truth: list[tuple[str, str, str, Decimal, bool]],
    model: str,
) -> None:
    folder = tmp_path_factory.mktemp("phases")
    plan = narrowing_plan(folder)
    by_city: dict[tuple[str, ...], Decimal] = {}
    by_state: dict[tuple[str, ...], Decimal] = {}
    for group, code, bin_, value, left_out in truth:
        if not (left_out and value < 2):
            state, city = bin_.split()
            by_city[group, state, city] = by_city.get((group, state, city), Decimal(0)) + value
            by_state[code, state] = by_state.get((code, state), Decimal(0)) + value
    if not by_city:
        return
    rows = [
        (f"r{i}", group, code, str(value)) for i, (group, code, _, value, _) in enumerate(truth)
    ]
    write(folder / "records.csv", ["id", "group", "code", "value"], rows)
    for name, header, sums in (
        ("cities", ["group", "state", "city", "value"], by_city),
        ("states", ["code", "state", "value"], by_state),
    ):
        totals = [(*key, str(int(total + Decimal("0.5")))) for key, total in sums.items()]
        write(folder / f"{name}.csv", header, totals)
    result = campaign(
        changed(plan, rounding=model, none_bin=True, measures={"value": {"decimals": 2}})
    )
    for row, (_, _, bin_, value, left_out) in zip(
        result.packages_frame().to_pylist(), truth, strict=True
    ):
        if row["feasible_bins"] is not None:
            assert ("NONE" if left_out and value < 2 else bin_) in row["feasible_bins"]
            assert not row["linked"] or row["feasible_bins"] == [bin_]
            assert row["bayes"] <= 1
    assert not any(
        each.reason == "phases disagree" for phase in result.phases for each in phase.apart
    )


# -- limits and resuming -------------------------------------------------------------------------------------------


def same(first: CampaignResult, second: CampaignResult) -> bool:
    return bool(
        first.to_dict() == second.to_dict()
        and first.to_frame().equals(second.to_frame())
        and first.packages_frame().equals(second.packages_frame())
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TotalsStudy, CampaignResult]:
    folder = tmp_path_factory.mktemp("small")
    plan = trade_plan(
        folder,
        budget={"quick": 5.0, "longest": 5.0},
        transactions=400,
        importers=80,
        seed=0,
        added=0.0,
    )
    result = campaign(plan)
    assert all(phase.unsolved == 0 for phase in result.phases)
    return folder, plan, result


@pytest.mark.parametrize("stopped_at", [1, 2, 3])
def test_a_campaign_that_was_stopped_goes_on_and_ends_the_same(
    tmp_path: Path, small: tuple[Path, TotalsStudy, CampaignResult], stopped_at: int
) -> None:
    _, plan, whole = small
    calls = itertools.count(1)

    def stop(*_: object) -> None:
        if next(calls) >= stopped_at:
            raise StoppedError("stopped")

    with pytest.raises(StoppedError):
        campaign(plan, folder=tmp_path / "run", on_progress=stop)
    assert len(list((tmp_path / "run").glob("*.arrow"))) == stopped_at
    resumed = campaign(plan, folder=tmp_path / "run", resume=True)
    assert same(resumed, whole)
    again = campaign(plan, folder=tmp_path / "run", resume=True, on_progress=stop)
    assert same(again, whole)


def test_a_campaign_that_was_killed_between_any_two_files_ends_the_same(
    tmp_path: Path,
    small: tuple[Path, TotalsStudy, CampaignResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, plan, whole = small
    monkeypatch.setattr(attempt_rounds, "_BATCH", 7)
    monkeypatch.setattr(attempt_rounds, "_SAVED_EVERY", -1.0)
    campaign(plan, folder=tmp_path / "run")
    parts = sorted(path.name for path in (tmp_path / "run").glob("*.arrow"))
    assert len(parts) >= 5
    for kept in range(len(parts)):
        copied = tmp_path / f"after {kept}"
        shutil.copytree(tmp_path / "run", copied)
        for name in parts[kept:]:
            (copied / name).unlink()
        assert same(campaign(plan, folder=copied, resume=True), whole)


def test_several_processes_find_the_same(
    small: tuple[Path, TotalsStudy, CampaignResult],
) -> None:
    _, plan, whole = small
    assert same(campaign(plan, processes=2), whole)


def test_a_checkpoint_belongs_to_its_plan_and_its_data(
    tmp_path: Path, small: tuple[Path, TotalsStudy, CampaignResult]
) -> None:
    _, plan, _ = small
    with pytest.raises(StudyError, match="nothing to resume"):
        campaign(plan, folder=tmp_path / "run", resume=True)
    with pytest.raises(StudyError, match="needs the folder"):
        campaign(plan, resume=True)
    own = tiny_plan(tmp_path, [("g", "1", "")], [("g", "a", "1")])
    campaign(own, folder=tmp_path / "run")
    with pytest.raises(StudyError, match="another study"):
        campaign(changed(own, rounding="unknown"), folder=tmp_path / "run", resume=True)
    write(tmp_path / "totals.csv", ["group", "bin", "value"], [("g", "a", "2")])
    with pytest.raises(StudyError, match="other data"):
        campaign(own, folder=tmp_path / "run", resume=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("keep")
    with pytest.raises(DataError, match="something else"):
        campaign(own, folder=tmp_path / "other")
    assert (tmp_path / "other" / "mine.txt").exists()


def test_without_time_nothing_is_claimed(
    small: tuple[Path, TotalsStudy, CampaignResult],
) -> None:
    _, plan, whole = small
    result = campaign(plan, time_limit=1e-6)
    assert not result.complete
    assert whole.complete
    assert result.phases[0].untried == whole.phases[0].instances - whole.phases[0].trivial
    assert result.phases[0].linked == sum(
        instance["packages"]
        for instance in result.to_frame().to_pylist()
        if instance["phase"] == "city" and instance["status"] == "unique"
    )


def test_what_was_not_solved_is_not_measured_as_safe(
    small: tuple[Path, TotalsStudy, CampaignResult],
) -> None:
    _, _, whole = small
    assert is_settled(whole)
    assert [one.is_bound for one in measured(whole) if one.measure == "placed"] == [False]
    apart = (Apart("totals without records", 1, 5, 9.0, "a group"),)
    contradicted = replace(whole, phases=tuple(replace(one, apart=apart) for one in whole.phases))
    assert not is_settled(contradicted)
    placed = [one for one in measured(contradicted) if one.measure == "placed"]
    assert [(one.value, one.is_bound) for one in placed] == [(Fraction(1), True)]
    phases = (replace(one, unique=0, ambiguous=0, infeasible=0) for one in whole.phases)
    unsolved = replace(whole, phases=tuple(phases))
    assert [*measured(unsolved)] == []


def test_records_are_proved_in_instances_that_are_not_solved(tmp_path: Path) -> None:
    """What a short attempt proves of a record is what a long one finds of it; the rest of its group is open."""
    budget = {"quick": 1.0, "longest": 3.0}
    plan = trade_plan(tmp_path, budget=budget, transactions=500, importers=40, seed=3)
    first = changed(plan, phases=[plan.phases[0]])
    whole = campaign(first)
    short = {"quick": 0.01, "patience": 1e-3, "longest": 0.01}
    early = campaign(changed(first, budget=short))
    assert whole.phases[0].unsolved == 0 < early.phases[0].unsolved
    assert whole.standing.proved.all()
    (solved,) = early.solved_phases
    unsolved = [part for part, tried in solved.attempts.items() if tried.status == "limit"]
    rows = np.concatenate([solved.instances.records_of(part) for part in unsolved])
    proved = early.standing.proved
    assert 50 < proved[rows].sum() < len(rows)
    assert np.delete(proved, rows).all()
    assert early.standing.linked[rows].any()
    assert (early.standing.linked <= whole.standing.linked).all()
    both = early.packages_frame().to_pylist(), whole.packages_frame().to_pylist()
    for record, other in zip(*both, strict=True):
        if record["proved"]:
            assert record["feasible_bins"] == other["feasible_bins"]
    instances = early.to_frame().to_pylist()
    linked = sum(row["linked"] for row in instances if row["status"] == "limit")
    assert linked == early.standing.linked[rows].sum()


def test_an_instance_has_a_quick_attempt_first_and_longer_ones_where_little_is_open(
    small: tuple[Path, TotalsStudy, CampaignResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, plan, whole = small
    tried: list[tuple[float, int, float]] = []
    monkeypatch.setattr(workers, "PAIRS_PER_SECOND", 1)
    attempt = workers.attempt

    def noted(task: Task, terms: workers.AttemptTerms, limit: float) -> Any:
        answer = attempt(task, terms, limit)
        assert answer.feasible is not None
        tried.append((limit, task.part, float(np.log10(answer.feasible.sum(axis=1)).sum())))
        return answer

    monkeypatch.setattr(workers, "attempt", noted)
    budget = {"quick": 0.02, "patience": 8.0, "longest": 0.08}
    result = campaign(changed(plan, phases=[plan.phases[0]], budget=budget))
    hard = whole.phases[0].instances - whole.phases[0].trivial
    quick, later = tried[:hard], tried[hard:]
    assert {limit for limit, _, _ in quick} == {0.02}
    assert len({part for _, part, _ in quick}) == hard
    allowed = {part: min(0.08, 8 / max(left_open, 1) ** 2) for _, part, left_open in quick}
    assert {part: limit for limit, part, _ in later} == {
        part: limit for part, limit in allowed.items() if limit >= 0.04
    }
    assert 0 < len(later) < len(quick)
    products = [limit * left_open**2 for limit, _, left_open in later]
    assert products == sorted(products)
    assert result.phases[0].unsolved == hard
    assert result.complete


def test_the_answer_is_the_same_on_a_busy_machine_and_at_every_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instances that meet their limits stop at the same place, whatever the clocks say."""
    budget = {"quick": 0.004, "patience": 20.0, "longest": 0.03}
    plan = trade_plan(
        tmp_path, budget=budget, transactions=900, importers=60, seed=2, excluded=0.004
    )
    first = campaign(plan)
    assert sum(phase.unsolved for phase in first.phases) > 5
    clock = time.thread_time
    monkeypatch.setattr(time, "thread_time", lambda: 50 * clock())
    steady = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 50 * steady())
    assert same(campaign(plan), first)


@pytest.mark.parametrize("slowdown", [1.0, 10.0, 30.0])
def test_a_time_limit_holds_on_a_busy_machine(
    small: tuple[Path, TotalsStudy, CampaignResult],
    monkeypatch: pytest.MonkeyPatch,
    slowdown: float,
) -> None:
    """Every attempt takes its whole limit, and the clock goes on for many times as long."""
    _, plan, _ = small
    clock = [time.monotonic()]
    began = clock[0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def slow(task: Task, terms: workers.AttemptTerms, limit: float) -> Attempt:
        clock[0] += slowdown * limit
        everything = np.ones((len(task.packages), len(task.low)), bool)
        return Attempt(task.part, "limit", "walk", limit, seconds=limit, feasible=everything)

    monkeypatch.setattr(workers, "attempt", slow)
    budget = {"quick": 0.05, "patience": 1e6, "longest": 60.0}
    result = campaign(changed(plan, phases=[plan.phases[0]], budget=budget), time_limit=200.0)
    assert result.phases[0].untried == 0
    assert not result.complete
    assert 100 < clock[0] - began < 220


def test_what_a_time_limit_left_open_is_found_when_it_is_resumed(
    tmp_path: Path,
    small: tuple[Path, TotalsStudy, CampaignResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, plan, whole = small
    monkeypatch.setattr(attempt_rounds, "_BATCH", 1)
    attempt, steady = workers.attempt, time.monotonic
    ahead = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: steady() + ahead[0])

    def late(task: Task, terms: workers.AttemptTerms, limit: float) -> Attempt:
        ahead[0] += 100.0
        return attempt(task, terms, limit)

    monkeypatch.setattr(workers, "attempt", late)
    folder = tmp_path / "run"
    part = campaign(plan, folder=folder, time_limit=1000.0)
    assert not part.complete
    first = part.phases[0]
    assert 0 < first.solved < whole.phases[0].solved
    assert first.untried == first.instances - first.solved
    assert part.phases[-1].linked_so_far <= whole.phases[-1].linked_so_far
    further = campaign(plan, folder=folder, resume=True, time_limit=1000.0)
    assert first.solved < further.phases[0].solved < whole.phases[0].solved
    monkeypatch.undo()
    assert same(campaign(plan, folder=folder, resume=True), whole)


def test_progress_tells_what_is_certain_so_far_and_what_is_left(
    small: tuple[Path, TotalsStudy, CampaignResult],
) -> None:
    _, plan, whole = small
    told: list[Progress] = []
    campaign(plan, on_progress=told.append)
    assert {progress.note for progress in told} <= {phase.name for phase in plan.phases}
    placed = [progress.figures["placed"] for progress in told]
    assert placed == sorted(placed)
    trivial = sum(row["packages"] for row in whole.to_frame().to_pylist() if row["method"] is None)
    assert 0 < placed[-1] <= whole.phases[-1].linked_so_far <= placed[-1] + trivial
    for progress in told:
        assert progress.figures["seconds"] >= 0
        assert progress.figures["solved"] <= progress.done <= (progress.total or 0)


@pytest.mark.parametrize("limit", [0.0, -1.0, float("inf"), float("nan")])
def test_a_time_limit_that_is_none_is_refused(tmp_path: Path, limit: float) -> None:
    with pytest.raises(StudyError, match="the time limit is"):
        campaign(tiny_plan(tmp_path, GOOD, GOOD_TOTALS), time_limit=limit)


def test_a_process_too_few_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="at least one process"):
        campaign(tiny_plan(tmp_path, GOOD, GOOD_TOTALS), processes=0)
