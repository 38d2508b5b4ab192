"""A campaign is never wrong, spends its time as the plan says, can be resumed, and names what is wrong with data."""

from __future__ import annotations

import csv
import itertools
import shutil
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import DataError, StoppedError, StudyError
from glasshouse.study import dump_study
from glasshouse.study.totals import TotalsStudy
from glasshouse.synthetic.trade import write_trade
from glasshouse.totals.campaigns import CampaignResult, campaign, load_plan
from glasshouse.totals.fixed_point import FAULTS, amounts

PLAN = Path(__file__).parents[2] / "examples" / "trade" / "study.toml"


def trade_plan(folder: Path, *, budget: Mapping[str, float], **month: Any) -> TotalsStudy:
    """The example plan, on a month of its own."""
    write_trade(folder / "month", **month)
    (folder / "study.toml").write_bytes(PLAN.read_bytes())
    plan = load_plan(folder / "study.toml")
    return changed(plan, budget={**plan.budget.model_dump(), **budget})


def changed(plan: TotalsStudy, **update: Any) -> TotalsStudy:
    return TotalsStudy.model_validate({**plan.model_dump(), **update})


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def rewrite(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


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
        budget={"seconds": 600.0, "quick": 0.05, "longest": 0.05},
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


def test_frames_agree_with_the_figures_and_tell_no_names(
    hundredth: tuple[Path, CampaignResult],
) -> None:
    _, result = hundredth
    instances = result.instances_frame()
    assert instances.num_rows == result.instances
    assert result.to_frame().num_rows == 3
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
        budget={"seconds": 120.0, "quick": 0.03, "longest": 0.03},
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


def tiny_plan(
    folder: Path,
    records: Sequence[tuple[str, str, str]],
    totals: Sequence[tuple[str, str, str]],
    **more: Any,
) -> TotalsStudy:
    """Records (group, value, weight) and totals (group, bin, value) as a plan with one measure."""
    write(
        folder / "records.csv",
        ["id", "group", "value"],
        [(f"r{i}", g, v) for i, (g, v, _) in enumerate(records)],
    )
    write(folder / "totals.csv", ["group", "bin", "value"], totals)
    write(folder / "register.csv", ["entity", "bin"], [(f"e{i}", b) for i, b in enumerate("aabc")])
    content = {
        "publications": {
            "records": {
                "path": folder / "records.csv",
                "identifier": "id",
                "measures": {"value": "value"},
            },
            "totals": {"path": folder / "totals.csv", "measures": {"value": "value"}},
            "register": {"path": folder / "register.csv"},
        },
        "measures": {"value": {"decimals": 1}},
        "rounding": "sum",
        "none_bin": False,
        "entities": {"publication": "register", "keys": {"bin": "bin"}, "entity": "entity"},
        "phases": [
            {
                "name": "only",
                "packages": "records",
                "bins": "totals",
                "bin": ["bin"],
                "keys": {"group": "group"},
            }
        ],
        **more,
    }
    return TotalsStudy.model_validate(content)


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


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


@settings(max_examples=40)
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


@settings(max_examples=40)
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
    def figures(result: CampaignResult) -> Any:
        plain = result.to_dict()
        del plain["seconds"]
        for phase in plain["phases"]:
            del phase["seconds"]
        return plain

    instances = (each.instances_frame().drop_columns(["seconds"]) for each in (first, second))
    left, right = instances
    return bool(
        figures(first) == figures(second)
        and left.equals(right)
        and first.packages_frame().equals(second.packages_frame())
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TotalsStudy, CampaignResult]:
    folder = tmp_path_factory.mktemp("small")
    plan = trade_plan(
        folder,
        budget={"seconds": 600.0, "quick": 5.0, "longest": 5.0},
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
    monkeypatch.setattr("glasshouse.totals.campaigns._BATCH", 7)
    monkeypatch.setattr("glasshouse.totals.campaigns._SAVED_EVERY", -1.0)
    campaign(plan, folder=tmp_path / "run")
    parts = sorted(path.name for path in (tmp_path / "run").glob("*.arrow"))
    assert len(parts) >= 5
    for kept in range(len(parts)):
        copied = tmp_path / f"after {kept}"
        shutil.copytree(tmp_path / "run", copied)
        for name in parts[kept:]:
            (copied / name).unlink()
        for done in copied.glob("*.done"):
            if int(done.stem) >= int(parts[kept].partition("-")[0]):
                done.unlink()
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
    result = campaign(changed(plan, budget={"seconds": 1e-6, "quick": 1e-6, "longest": 1e-6}))
    assert not result.complete
    assert result.phases[0].untried == whole.phases[0].instances - whole.phases[0].trivial
    assert result.phases[0].linked == sum(
        instance["packages"]
        for instance in result.instances_frame().to_pylist()
        if instance["phase"] == "city" and instance["status"] == "unique"
    )


def test_time_goes_first_to_all_and_then_to_the_most_valuable(
    small: tuple[Path, TotalsStudy, CampaignResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    import glasshouse.totals.attempts as attempts

    _, plan, whole = small
    tried: list[tuple[float, int, int]] = []
    monkeypatch.setattr(attempts, "PAIRS_PER_SECOND", 1)

    def noted(tasks: Sequence[attempts.Task], terms: attempts.Terms, limit: float) -> Any:
        found = [attempts.attempt(task, terms, limit) for task in tasks]
        tried.extend((limit, task.part, int(task.packages[:, 0].sum())) for task in tasks)
        return found

    monkeypatch.setattr(attempts, "attempt_all", noted)
    result = campaign(
        changed(
            plan, phases=[plan.phases[0]], budget={"seconds": 60.0, "quick": 0.02, "longest": 0.1}
        )
    )
    hard = whole.phases[0].instances - whole.phases[0].trivial
    quick, later = tried[:hard], tried[hard:]
    assert {limit for limit, _, _ in quick} == {0.02}
    assert len({part for _, part, _ in quick}) == hard
    assert {limit for limit, _, _ in later} == {0.1}
    assert [value for _, _, value in later] == sorted((v for _, _, v in later), reverse=True)
    assert result.phases[0].unsolved == hard


# -- bad input -----------------------------------------------------------------------------------------------------


GOOD = [("good", "1.0", ""), ("good", "2.0", "")]
GOOD_TOTALS = [("good", "a", "1"), ("good", "b", "2")]


@pytest.mark.parametrize(
    ("value", "total", "kind"),
    [
        ("-1.0", "1", "negative"),
        ("", "1", "missing"),
        ("many", "1", "no number"),
        ("1.05", "1", "too many decimals"),
        ("1.0", "-1", "negative"),
        ("1.0", "", "missing"),
        ("400000000000000000.0", "1", "too large"),
        ("90000000000000000000000", "1", "too large"),
    ],
)
def test_a_wrong_measure_sets_its_group_apart_and_the_rest_goes_on(
    tmp_path: Path, value: str, total: str, kind: str
) -> None:
    plan = tiny_plan(
        tmp_path,
        [*GOOD, ("bad", value, ""), ("bad", "1.0", "")],
        [*GOOD_TOTALS, ("bad", "a", total)],
    )
    result = campaign(plan)
    (trouble,) = result.troubles
    assert kind in trouble.kind
    assert (trouble.where, trouble.count, trouble.example) == ("only", 1, "bad")
    assert [(each.reason, each.groups) for each in result.phases[0].apart] == [("measures", 1)]
    assert result.phases[0].linked == 2


def test_records_and_totals_that_share_no_key_are_reported(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, [("other", "a", "1")])
    result = campaign(plan)
    (trouble,) = result.troubles
    assert (trouble.kind, trouble.count) == ("records and totals share no key", 2)
    assert trouble.example == "good"
    assert result.phases[0].instances == 0
    assert [(a.reason, a.groups) for a in result.phases[0].apart] == [("suppressed", 1)]


def test_records_without_totals_are_counted(tmp_path: Path) -> None:
    result = campaign(tiny_plan(tmp_path, [*GOOD, ("new", "1.0", "")], GOOD_TOTALS))
    (trouble,) = result.troubles
    assert (trouble.kind, trouble.count, trouble.example) == ("records without totals", 1, "new")
    assert result.phases[0].linked == 2


@pytest.mark.parametrize(
    ("totals", "none_bin", "reason"),
    [
        ([("good", "a", "1"), ("good", "b", "9")], True, "records added"),
        ([("good", "a", "1.4"), ("good", "b", "2.4")], True, "records added or rounding"),
        ([("good", "a", "1"), ("good", "b", "0")], False, "records left out"),
        ([("good", "a", "0"), ("good", "b", "0"), ("good", "c", "3")], False, None),
        ([("good", "a", "1.4"), ("good", "b", "1.6")], False, "rounding"),
        ([("good", "a", "1"), ("good", "b", "2"), ("gone", "a", "5")], True, "suppressed"),
    ],
)
def test_totals_that_cannot_be_met_are_set_apart_with_the_reason(
    tmp_path: Path, totals: list[tuple[str, str, str]], none_bin: bool, reason: str | None
) -> None:
    plan = tiny_plan(tmp_path, GOOD, totals, none_bin=none_bin, tolerance=0.3)
    result = campaign(plan)
    assert [each.reason for each in result.phases[0].apart] == ([] if reason is None else [reason])


def test_a_suppressed_part_of_a_group_is_recognised_by_a_third_publication(tmp_path: Path) -> None:
    write(tmp_path / "records.csv", ["group", "part", "value"], [("g", "p", "1"), ("h", "p", "1")])
    write(tmp_path / "totals.csv", ["group", "bin", "value"], [("g", "a", "6"), ("h", "a", "1")])
    write(tmp_path / "third.csv", ["group", "part"], [("g", "p"), ("g", "q"), ("h", "p")])
    measures = {"value": "value"}
    plan = TotalsStudy.model_validate(
        {
            "publications": {
                "records": {"path": tmp_path / "records.csv", "measures": measures},
                "totals": {"path": tmp_path / "totals.csv", "measures": measures},
                "third": {"path": tmp_path / "third.csv"},
            },
            "measures": {"value": {}},
            "phases": [
                {
                    "name": "only",
                    "packages": "records",
                    "bins": "totals",
                    "bin": ["bin"],
                    "keys": {"group": "group"},
                    "suppression": {
                        "publication": "third",
                        "keys": {"group": "group", "part": "part"},
                    },
                }
            ],
        }
    )
    result = campaign(plan)
    (apart,) = result.phases[0].apart
    assert (apart.reason, apart.groups, apart.records) == ("suppressed", 1, 1)
    assert result.phases[0].linked == 1
    with pytest.raises(StudyError, match="no register"):
        result.exposure()


def test_a_key_map_without_an_entry_and_repetitions_that_differ_are_reported(
    tmp_path: Path,
) -> None:
    plan = tiny_plan(
        tmp_path, [*GOOD, ("elsewhere", "1.0", "")], [("G", "a", "1"), ("G", "b", "2")]
    )
    write(tmp_path / "map.csv", ["from", "to"], [("good", "G")])
    records = plan.publications["records"].model_dump()
    records["derived"] = {
        "group": {
            "columns": ["group"],
            "map": {"path": tmp_path / "map.csv", "source": "from", "target": "to"},
        },
        "letter": {"columns": ["id"], "first": 1},
    }
    publications = {**plan.model_dump()["publications"], "records": records}
    result = campaign(changed(plan, publications=publications))
    kinds = {each.kind: (each.count, each.example) for each in result.troubles}
    assert kinds['the key map of "group" has no entry'] == (1, "elsewhere")
    assert result.phases[0].linked == 2
    records["unique"] = ["letter"]
    result = campaign(changed(plan, publications=publications))
    kinds = {each.kind: (each.count, each.example) for each in result.troubles}
    assert kinds["rows that repeat another differ from it"] == (2, "G")
    assert kinds["groups with a row that repeats another and differs from it"] == (1, "G")
    assert result.publications[0]["repeated"] == 0
    assert result.phases[0].linked == 0


@pytest.mark.parametrize(
    "repetition",
    [("r0", "good", "2"), ("r0", "other", "1"), ("r1", "other", "2")],
    ids=["another measure", "another group", "a third group"],
)
def test_groups_with_a_repetition_that_differs_are_set_apart(
    tmp_path: Path, repetition: tuple[str, str, str]
) -> None:
    records = [("good", "1", ""), ("good", "2", ""), ("other", "7", ""), ("third", "5", "")]
    totals = [("good", "a", "1"), ("good", "b", "2"), ("other", "a", "7"), ("third", "b", "5")]
    plan = tiny_plan(tmp_path, records, totals)
    records_file = plan.publications["records"].path
    records_file.write_text(records_file.read_text() + ",".join(repetition) + "\n")
    given = plan.model_dump()["publications"]
    unique = {**given, "records": {**given["records"], "unique": ["id"]}}
    result = campaign(changed(plan, publications=unique))
    apart = {"good", repetition[1]}
    told = result.packages_frame().to_pylist()
    assert {each["record"]: each["linked"] for each in told if each["record"] != "r0"} == {
        "r1": False,
        "r2": "other" not in apart,
        "r3": True,
    }
    assert not any(each["certain"] for each in told if each["record"] in ("r0", "r1"))
    kinds = {each.kind: each.count for each in result.troubles}
    assert kinds["rows that repeat another differ from it"] == 1
    assert kinds["groups with a row that repeats another and differs from it"] == len(apart)


@pytest.mark.parametrize("none_bin", [False, True])
def test_a_group_with_a_place_that_the_key_map_does_not_have_is_set_apart(
    tmp_path: Path, none_bin: bool
) -> None:
    totals = [*GOOD_TOTALS, ("lost", "a", "7"), ("lost", "zz", "9")]
    plan = tiny_plan(tmp_path, [*GOOD, ("lost", "7", ""), ("lost", "9", "")], totals)
    write(tmp_path / "map.csv", ["from", "to"], [(own, own) for own in "abc"])
    given = plan.model_dump()["publications"]
    map_ = {"path": tmp_path / "map.csv", "source": "from", "target": "to"}
    given["totals"]["derived"] = {"bin": {"columns": ["bin"], "map": map_}}
    result = campaign(changed(plan, publications=given, none_bin=none_bin))
    kinds = {each.kind: (each.count, each.example) for each in result.troubles}
    unmapped = "groups with a total whose place the key map does not have"
    assert kinds[unmapped] == (1, "lost")
    lost = [each for each in result.packages_frame().to_pylist() if each["record"] in ("r2", "r3")]
    assert [each["feasible_bins"] for each in lost] == [None, None]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "month/by_city.csv",
            "month/by_town.csv",
            r'by_town.csv: there is no such file; did you mean "by_city.csv"',
        ),
        (
            'columns = ["order"]',
            'columns = ["oder"]',
            r'column "oder" is not in transactions.csv; did you mean "order"',
        ),
        ('insurance = "insurance"', 'insurance = "insurence"', 'column "insurence" is not in'),
        ('target = "code"', 'target = "cod"', 'column "cod" is not in countries.csv'),
        ('"nature=EFFECTIVE"', '"natur=EFFECTIVE"', 'column "natur" is not in transactions.csv'),
        ('entity = "importer"', 'entity = "importr"', 'column "importr" is not in importers.csv'),
        ('product = "product" }', 'product = "prduct" }', 'column "prduct" is not in by_state.csv'),
    ],
)
def test_a_plan_that_names_missing_files_or_columns_is_refused_in_one_line(
    tmp_path: Path,
    small: tuple[Path, TotalsStudy, CampaignResult],
    old: str,
    new: str,
    says: str,
) -> None:
    folder, _, _ = small
    text = PLAN.read_text()
    assert old in text
    (tmp_path / "month").symlink_to(folder / "month")
    (tmp_path / "study.toml").write_text(text.replace(old, new))
    with pytest.raises(DataError, match=says) as refused:
        campaign(load_plan(tmp_path / "study.toml"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('bins = "by_city"', 'bins = "by_town"', 'publication "by_town" is not in the plan'),
        ('phase = "state", on', 'phase = "stat", on', 'phase "stat" is not in the phases before'),
        (
            'on = ["state"] }, {',
            'on = ["city"] }, {',
            'column "city" is not in the bins of phase "state"',
        ),
        ('value = "value"\ncurrency', 'value = "worth"\ncurrency', 'measure "worth"'),
        ("decimals = 5", "decimals = 50", "should be at most 12"),
        ('rounding = "sum"', 'rounding = "floor"', "rounding"),
        ('name = "state"', 'name = "city"', 'phase "city" is given twice'),
        ("[budget]", "[budgets]", '"budgets" is not an entry of a study'),
        ('command = "totals"', 'command = "assess"', "another command"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused_in_one_line(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    text = PLAN.read_text()
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new))
    with pytest.raises(StudyError, match=says) as refused:
        load_plan(tmp_path / "study.toml")
    assert "\n" not in str(refused.value)


def test_the_documentation_shows_the_example_plan() -> None:
    page = PLAN.parents[2] / "docs" / "totals-campaign.md"
    assert f"```toml\n{PLAN.read_text()}```" in page.read_text()


def test_a_plan_is_written_and_read_back(tmp_path: Path) -> None:
    plan = load_plan(PLAN)
    (tmp_path / "study.toml").write_text(dump_study(plan, version="1"))
    assert load_plan(tmp_path / "study.toml") == plan
    assert tomllib.loads(PLAN.read_text())["command"] == "totals"


def test_a_process_too_few_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="at least one process"):
        campaign(tiny_plan(tmp_path, GOOD, GOOD_TOTALS), processes=0)


# -- numbers -------------------------------------------------------------------------------------------------------


@given(
    texts=st.lists(
        st.one_of(
            st.decimals(min_value=-(10**12), max_value=10**12, places=3).map(str),
            st.text(alphabet="0123456789.,+- e", max_size=8),
        ),
        max_size=8,
    )
)
def test_amounts_are_what_decimal_says(texts: list[str]) -> None:
    units, faults = amounts(pa.array(texts, pa.string()), decimals=2)
    for text, unit, fault in zip(texts, units.tolist(), faults.tolist(), strict=True):
        assert (unit, FAULTS[fault]) == expected_amount(text.strip(" "))


def expected_amount(text: str) -> tuple[int, str]:
    if not text:
        return 0, "missing"
    plain = text[1:] if text[0] in "+-" else text
    if not plain.replace(".", "", 1).isdigit():
        return 0, "no number"
    number = Decimal(plain) * 100
    if number != int(number):
        return 0, "too many decimals"
    return (0, "negative") if text[0] == "-" and number else (int(number), "")


def test_numbers_may_have_a_decimal_comma() -> None:
    units, faults = amounts(pa.array(["1,5", "1.5"]), decimals=2, decimal_comma=True)
    assert units.tolist() == [150, 0]
    assert [FAULTS[code] for code in faults] == ["", "no number"]


def test_the_largest_numbers_are_told_from_those_too_large() -> None:
    units, faults = amounts(pa.array([str(2**62 - 1), str(2**62), "9" * 40]), decimals=0)
    assert units[0] == 2**62 - 1
    assert [FAULTS[code] for code in faults] == ["", "too large", "too large"]
    assert np.array_equal(units[1:], [0, 0])
