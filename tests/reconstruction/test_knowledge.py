"""What the adversary knows only grows: phases in any order, exposed or not, against trying everything."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glasshouse.reconstruction import CampaignResult, campaign
from glasshouse.reconstruction.knowledge import told_apart
from glasshouse.study.totals import TotalsStudy
from tests.examples import examples
from tests.reconstruction.plans import write
from tests.reconstruction.test_knowledge_by_bin import check_sums

PLACES = (("S", "a"), ("S", "b"), ("T", "a"), ("T", "c"))
LEFT_OUT = ("left out",)
COLUMNS = {"cities": ("state", "city"), "states": ("state",)}
KEYS = {"cities": "heading", "states": "product"}
Bin = tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """A record with its truth."""

    heading: str
    product: str
    value: int
    place: Bin
    in_totals: Mapping[str, bool]

    def bin(self, totals: str) -> Bin:
        return self.place[: len(COLUMNS[totals])]


# -- the plan ------------------------------------------------------------------------------------------------------


def plan_of(
    folder: Path,
    records: Sequence[Record],
    register: Sequence[tuple[str, Bin]],
    phases: Sequence[Mapping[str, Any]],
    *,
    none_bin: bool = False,
) -> TotalsStudy:
    """Records, their exact totals by city and by state, a register, and phases over them."""
    write(
        folder / "records.csv",
        ["id", "heading", "product", "value"],
        [(f"r{i}", r.heading, r.product, str(r.value)) for i, r in enumerate(records)],
    )
    for totals, columns in COLUMNS.items():
        sums = sums_of(records, totals)
        rows = [(key, *bin_, str(total)) for (key, bin_), total in sums.items()]
        write(folder / f"{totals}.csv", [KEYS[totals], *columns, "value"], rows)
    write(folder / "register.csv", ["entity", "state", "city"], [(e, *p) for e, p in register])
    measures = {"value": "value"}
    publications: dict[str, Any] = {
        name: {"path": folder / f"{name}.csv", "measures": measures}
        for name in ("records", *COLUMNS)
    }
    publications["records"]["identifier"] = "id"
    publications["register"] = {"path": folder / "register.csv"}
    return TotalsStudy.model_validate(
        {
            "publications": publications,
            "measures": {"value": {}},
            "rounding": "record",
            "none_bin": none_bin,
            "entities": {
                "publication": "register",
                "entity": "entity",
                "keys": {"state": "state", "city": "city"},
            },
            "phases": [
                {
                    "packages": "records",
                    "bin": COLUMNS[each["bins"]],
                    "keys": {KEYS[each["bins"]]: KEYS[each["bins"]]},
                    **each,
                }
                for each in phases
            ],
        }
    )


def sums_of(records: Sequence[Record], totals: str) -> dict[tuple[str, Bin], int]:
    sums: dict[tuple[str, Bin], int] = {}
    for record in records:
        if record.in_totals[totals]:
            key = (getattr(record, KEYS[totals]), record.bin(totals))
            sums[key] = sums.get(key, 0) + record.value
    return sums


# -- the slow, obvious twin ----------------------------------------------------------------------------------------

Feasible = list[dict[Bin, Fraction] | None]
"""Per record, the posterior of every bin that is left; None: no total was joined with it."""


def try_everything(
    plan: TotalsStudy, records: Sequence[Record], register: Mapping[Bin, set[str]]
) -> dict[str, Feasible]:
    """Per phase, what is left of every record."""
    found: dict[str, Feasible] = {}
    everybody = len(set().union(*register.values()))
    odds = Fraction(str(plan.left_out))
    for phase in plan.phases:
        totals = sums_of(records, phase.bins)
        groups: dict[str, list[int]] = defaultdict(list)
        for row, record in enumerate(records):
            groups[getattr(record, KEYS[phase.bins])].append(row)
        own: Feasible = [None] * len(records)
        for key, rows in groups.items():
            bins = {bin_: total for (group, bin_), total in totals.items() if group == key}
            if not bins:
                continue
            weight = {bin_: Fraction(max(len(members(register, bin_)), 1)) for bin_ in bins}
            weight[LEFT_OUT] = odds / (1 - odds) * everybody
            options = [*bins, *([LEFT_OUT] if plan.none_bin else [])]
            allowed = [
                [each for each in options if is_open(plan, phase, found, row, each)] for row in rows
            ]
            left: list[dict[Bin, Fraction]] = [defaultdict(Fraction) for _ in rows]
            for allocation in itertools.product(*allowed):
                sums = dict.fromkeys(bins, 0)
                ways = Fraction(1)
                for row, bin_ in zip(rows, allocation, strict=True):
                    ways *= weight[bin_]
                    if bin_ != LEFT_OUT:
                        sums[bin_] += records[row].value
                if sums == bins:
                    for each, bin_ in zip(left, allocation, strict=True):
                        each[bin_] += ways
            for row, each in zip(rows, left, strict=True):
                whole = sum(each.values())
                own[row] = {bin_: ways / whole for bin_, ways in each.items()}
        found[phase.name] = own
    return found


def is_open(
    plan: TotalsStudy, phase: Any, found: Mapping[str, Feasible], row: int, bin_: Bin
) -> bool:
    """Whether the phases that narrow another leave a bin open for a record."""
    for narrowing in phase.narrowed_by:
        left = found[narrowing.phase][row]
        earlier = next(each for each in plan.phases if each.name == narrowing.phase)
        same = earlier.bins == phase.bins
        if left is None or (not same and (LEFT_OUT in left or bin_ == LEFT_OUT)):
            continue
        if bin_ == LEFT_OUT:
            if LEFT_OUT not in left:
                return False
            continue
        width = len(narrowing.on)
        if bin_[:width] not in {each[:width] for each in left if each != LEFT_OUT}:
            return False
    return True


def members(register: Mapping[Bin, set[str]], bin_: Bin) -> set[str]:
    """The entities of a city, or of all cities of a state."""
    return set().union(*(own for place, own in register.items() if place[: len(bin_)] == bin_))


def chances(
    left: Mapping[Bin, Fraction], register: Mapping[Bin, set[str]]
) -> tuple[Fraction, Fraction, set[str]]:
    """The chance by the uniform rule and by Bayes, and who it can be, with unknown ones as such."""
    everybody = set().union(*register.values())
    own: dict[str, Fraction] = defaultdict(Fraction)
    for bin_, share in left.items():
        who = everybody if bin_ == LEFT_OUT else members(register, bin_) or {f"unknown {bin_}"}
        for each in who:
            own[each] += share / len(who)
    named = [each for each in own if each in everybody]
    uniform = Fraction(1, len(own)) if named else Fraction(0)
    return uniform, max((own[each] for each in named), default=Fraction(0)), set(own)


def names_of(result: CampaignResult) -> list[str | None]:
    """The name that is certain for each record."""
    assert result.register is not None
    values = result.register.columns["entity"].values.to_pylist()
    return [None if code < 0 else values[code] for code in result.standing.named.tolist()]


# -- random plans --------------------------------------------------------------------------------------------------


@st.composite
def phases_of_a_plan(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Two to four phases, one of them by city, each narrowed by any of those before it, in any order."""
    phases: list[dict[str, Any]] = []
    kinds = draw(st.lists(st.sampled_from(["cities", "cities", "states"]), min_size=1, max_size=3))
    kinds.insert(draw(st.integers(0, len(kinds))), "cities")
    for number, bins in enumerate(kinds):
        earlier = draw(st.permutations(phases))[: draw(st.integers(0, number))]
        narrowed_by = [
            {
                "phase": each["name"],
                "on": ["state", "city"]
                if each["bins"] == bins == "cities" and draw(st.integers(0, 3))
                else ["state"],
            }
            for each in earlier
        ]
        exposed = draw(st.integers(0, 2)) > 0
        phases.append(
            {
                "name": f"{number} {bins}",
                "bins": bins,
                "exposed": exposed,
                "narrowed_by": narrowed_by,
            }
        )
    return phases


@st.composite
def records_of_a_plan(draw: st.DrawFn, *, left_out: bool) -> list[Record]:
    number = draw(st.integers(2, 6))
    flags = st.integers(0, 5).map(lambda each: each > 0 or not left_out)
    return [
        Record(
            heading=draw(st.sampled_from("gggh")),
            product=draw(st.sampled_from("xy")),
            value=draw(st.integers(1, 4)),
            place=draw(st.sampled_from(PLACES)),
            in_totals={totals: draw(flags) for totals in COLUMNS},
        )
        for _ in range(number)
    ]


def registers(*, least: int) -> st.SearchStrategy[dict[Bin, set[str]]]:
    names = st.sets(st.sampled_from("uvwxyz"), min_size=least, max_size=3)
    return st.fixed_dictionaries(dict.fromkeys(PLACES, names))


@settings(max_examples=examples(120))
@given(data=st.data(), phases=phases_of_a_plan(), none_bin=st.booleans())
def test_any_phases_find_what_trying_everything_finds(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    phases: list[dict[str, Any]],
    none_bin: bool,
) -> None:
    records = data.draw(records_of_a_plan(left_out=none_bin))
    register = data.draw(registers(least=1))
    rows = [(e, place) for place, own in register.items() for e in sorted(own)]
    if not all(sums_of(records, totals) for totals in COLUMNS):
        return
    plan = plan_of(tmp_path_factory.mktemp("any"), records, rows, phases, none_bin=none_bin)
    left = try_everything(plan, records, register)
    result = campaign(plan)
    assert not any(each.unsolved or each.untried or each.apart for each in result.phases)
    everybody = set().union(*register.values())
    exposed = [each for each in plan.phases if each.exposed]
    names = names_of(result)
    for row, told in enumerate(result.packages_frame().to_pylist()):
        known = {each.name: own for each in exposed if (own := left[each.name][row]) is not None}
        expected = {name: chances(own, register) for name, own in known.items()}
        best = max((each[0] for each in expected.values()), default=Fraction(1, len(everybody)))
        assert told["uniform"] == pytest.approx(float(best))
        sole = [who for uniform, _, who in expected.values() if uniform == 1]
        assert names[row] == (next(iter(sole[0])) if sole else None) or len(everybody) == 1
        assert told["certain"] == (best == 1)
        if not expected:
            assert told["feasible_bins"] is None
            continue
        own = known[told["phase"]]
        shown = [" ".join(each) if each != LEFT_OUT else "NONE" for each in own]
        assert set(told["feasible_bins"]) == set(shown)
        assert told["proved"]
        assert chances(own, register)[0] == best
        known_bins = [each for each in known.values() if len(each) == 1 and LEFT_OUT not in each]
        assert told["linked"] or len(own) > 1 or LEFT_OUT in own
        assert not told["linked"] or known_bins
        if len({each.bins for each in exposed}) == 1:
            last = [name for name in expected if is_last(plan, name, expected)]
            assert told["bayes"] == pytest.approx(max(float(expected[name][1]) for name in last))
    for rule in ("uniform", "bayes"):
        check_sums(result, rule)
    risks = [step.value_at_risk for step in result.exposure("uniform")]
    assert risks == pytest.approx(sorted(risks))


def is_last(plan: TotalsStudy, name: str, told: Mapping[str, Any]) -> bool:
    """Whether no later phase on the same totals is narrowed by all that narrows this one."""
    names = [each.name for each in plan.phases]
    own = plan.phases[names.index(name)]
    return not any(
        each.name in told and set(own.narrowed_by) <= set(each.narrowed_by)
        for each in plan.phases[names.index(name) + 1 :]
        if each.bins == own.bins
    )


@settings(max_examples=examples(60))
@given(data=st.data(), phases=phases_of_a_plan())
def test_no_name_is_wrong_where_the_register_lacks_somebody(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, phases: list[dict[str, Any]]
) -> None:
    """Who is behind a record in a place without entities is not in the register."""
    records = data.draw(records_of_a_plan(left_out=False))
    register = data.draw(registers(least=0))
    rows = [(e, place) for place, own in register.items() for e in sorted(own)]
    if not rows:
        return
    plan = plan_of(tmp_path_factory.mktemp("lacks"), records, rows, phases)
    result = campaign(plan)
    for record, name, told in zip(
        records, names_of(result), result.packages_frame().to_pylist(), strict=True
    ):
        assert name is None or name in register[record.place]
        assert told["certain"] == (name is not None)
        if told["feasible_bins"] is not None and told["linked"] and not register[record.place]:
            assert not told["certain"]
    assert sum(result.entities_frame()["records"].to_pylist()) == result.standing.certain.sum()
    for rule in ("uniform", "bayes"):
        check_sums(result, rule)


# -- cases by hand -------------------------------------------------------------------------------------------------

IN_ALL = {"cities": True, "states": True}
CITY: dict[str, Any] = {"name": "city", "bins": "cities"}
STATE: dict[str, Any] = {"name": "state", "bins": "states"}


def sharp_and_coarse(folder: Path, phases: Sequence[Mapping[str, Any]], **more: Any) -> TotalsStudy:
    """One importer in S a, many in S b: the state hides the one."""
    records = [
        Record("g", "x", 10, ("S", "a"), IN_ALL),
        Record("g", "x", 20, ("S", "b"), IN_ALL),
        Record("g", "x", 5, ("T", "c"), IN_ALL),
    ]
    register = [(f"innocent {i:02}", ("S", "b")) for i in range(20)]
    register += [("true", ("S", "a")), ("t1", ("T", "c")), ("t2", ("T", "c"))]
    return plan_of(folder, records, register, phases, **more)


@pytest.mark.parametrize(
    "phases",
    [
        [CITY, STATE],
        [STATE, CITY],
        [CITY, {**STATE, "narrowed_by": [{"phase": "city", "on": ["state"]}]}],
        [CITY, STATE, {**STATE, "name": "once more"}],
    ],
)
def test_a_coarser_phase_takes_nothing_back_and_names_nobody_else(
    tmp_path: Path, phases: list[dict[str, Any]]
) -> None:
    result = campaign(sharp_and_coarse(tmp_path, phases))
    assert result.entities_frame().to_pylist() == [{"entity": "true", "records": 1, "value": 10.0}]
    assert result.standing.uniform.tolist() == [1, 1 / 20, 1 / 2]
    rows = result.packages_frame().to_pylist()
    assert [row["feasible_bins"] for row in rows] == [["S a"], ["S b"], ["T c"]]
    risks = [step.value_at_risk for step in result.exposure()]
    assert risks == sorted(risks)
    assert risks[-1] == pytest.approx(10 + 1 + 2.5)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_order_of_what_narrows_a_phase_does_not_matter(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    records = [
        Record("g", "x", 1, ("S", "a"), IN_ALL),
        Record("g", "y", 1, ("T", "c"), IN_ALL),
    ]
    narrowed_by = [{"phase": "city", "on": ["state", "city"]}, {"phase": "state", "on": ["state"]}]
    phases = [
        CITY,
        {**STATE, "exposed": False},
        {**CITY, "name": "again", "narrowed_by": [narrowed_by[each] for each in order]},
    ]
    result = campaign(plan_of(tmp_path, records, [("x", ("S", "a")), ("y", ("T", "c"))], phases))
    rows = result.packages_frame().to_pylist()
    assert [row["feasible_bins"] for row in rows] == [["S a"], ["T c"]]
    assert result.phases[2].linked == 2
    assert names_of(result) == ["x", "y"]


def test_what_was_found_without_exposing_it_is_told_by_the_phase_that_exposes_it(
    tmp_path: Path,
) -> None:
    hidden = {**CITY, "exposed": False}
    shown = {**CITY, "name": "again", "narrowed_by": [{"phase": "city", "on": ["state", "city"]}]}
    result = campaign(sharp_and_coarse(tmp_path, [hidden, shown]))
    assert names_of(result) == ["true", None, None]
    assert result.phases[1].linked == 3


def test_a_phase_that_had_nothing_new_hands_on_what_the_one_before_it_found(
    tmp_path: Path,
) -> None:
    records = [
        Record("g", "x", 2, ("S", "a"), IN_ALL),
        Record("g", "x", 1, ("T", "c"), IN_ALL),
        Record("h", "x", 1, ("S", "a"), IN_ALL),
        Record("h", "x", 1, ("T", "c"), IN_ALL),
    ]
    phases = [
        CITY,
        {**CITY, "name": "again"},
        {**STATE, "narrowed_by": [{"phase": "again", "on": ["state"]}]},
    ]
    result = campaign(plan_of(tmp_path, records, [("x", ("S", "a")), ("y", ("T", "c"))], phases))
    assert result.phases[1].settled == 2
    # By the state alone the first record could be in either; those of h can, since only their cities were ambiguous.
    (attempt,) = result.solved_phases[2].attempts.values()
    assert attempt.feasible is not None
    assert attempt.feasible.sum(axis=1).tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize("phases", [[CITY], [CITY, STATE], [STATE, CITY]])
def test_the_only_entity_of_a_register_is_not_named_where_it_is_not(
    tmp_path: Path, phases: list[dict[str, Any]]
) -> None:
    records = [Record("g", "x", 1, ("S", "b"), IN_ALL), Record("h", "x", 2, ("S", "b"), IN_ALL)]
    result = campaign(plan_of(tmp_path, records, [("only", ("S", "a"))], phases))
    assert result.entities_frame().num_rows == 0
    assert result.exposure()[0].certain == 0
    last = result.exposure()[-1]
    assert (last.certain, last.chance, last.value_at_risk) == (0, 0.0, 0.0)
    assert result.standing.unregistered.all()
    (apart,) = [a for phase in result.phases for a in phase.apart]
    assert (apart.reason, apart.records) == ("bin without entities", 2)


def test_the_only_entity_of_a_register_is_behind_everything_where_nothing_speaks_against_it(
    tmp_path: Path,
) -> None:
    records = [Record("g", "x", 1, ("S", "a"), IN_ALL)]
    result = campaign(plan_of(tmp_path, records, [("only", ("S", "a"))], [CITY]))
    assert [step.certain for step in result.exposure()] == [1, 1, 1]
    assert names_of(result) == ["only"]


@pytest.mark.parametrize("phases", [[CITY, STATE], [STATE, CITY]])
def test_nobody_is_certain_in_a_state_if_the_city_may_be_one_without_entities(
    tmp_path: Path, phases: list[dict[str, Any]]
) -> None:
    records = [Record("g", "x", 1, ("S", "a"), IN_ALL), Record("g", "x", 1, ("S", "b"), IN_ALL)]
    register = [("x", ("S", "b")), ("y", ("T", "c"))]
    result = campaign(plan_of(tmp_path, records, register, phases))
    # By the state both are x's; but one of them is in S a, where somebody unknown is.
    assert names_of(result) == [None, None]
    assert result.standing.uniform.tolist() == [1 / 2, 1 / 2]
    assert result.standing.bayes.tolist() == [1 / 2, 1 / 2]


def test_a_record_that_may_be_left_out_or_be_in_a_bin_without_entities_is_not_certain(
    tmp_path: Path,
) -> None:
    records = [
        Record("g", "x", 1, ("S", "b"), IN_ALL),
        Record("g", "x", 1, ("S", "b"), {"cities": False, "states": True}),
    ]
    plan = plan_of(tmp_path, records, [("only", ("S", "a"))], [CITY], none_bin=True)
    result = campaign(plan)
    assert names_of(result) == [None, None]
    assert result.standing.uniform.tolist() == [1 / 2, 1 / 2]


def test_phases_that_name_different_entities_name_nobody(tmp_path: Path) -> None:
    records = [Record("g", "x", 1, ("S", "a"), IN_ALL)]
    plan = plan_of(
        tmp_path, records, [("x", ("S", "a")), ("y", ("T", "c")), ("z", ("T", "c"))], [CITY, STATE]
    )
    write(tmp_path / "states.csv", ["product", "state", "value"], [("x", "T", "1")])
    result = campaign(plan)
    assert names_of(result) == [None]
    assert result.standing.unregistered.all()
    assert result.exposure()[-1].value_at_risk == 0


# -- rows and names ------------------------------------------------------------------------------------------------


def test_an_entity_without_a_name_is_told_by_its_row_in_the_file(tmp_path: Path) -> None:
    plan = sharp_and_coarse(tmp_path, [CITY])
    write(
        tmp_path / "register.csv",
        ["state", "city", "active"],
        [("S", "a", "no")] * 3 + [("S", "a", "yes"), ("S", "b", "yes"), ("S", "b", "yes")],
    )
    content = plan.model_dump()
    content["publications"]["register"]["where"] = ["active=yes"]
    content["entities"]["entity"] = None
    content["publications"]["records"] |= {"identifier": None, "where": ["value=10,5"]}
    write(
        tmp_path / "cities.csv",
        ["heading", "state", "city", "value"],
        [("g", "S", "a", "10"), ("g", "T", "c", "5")],
    )
    result = campaign(TotalsStudy.model_validate(content))
    assert result.entities_frame()["entity"].to_pylist() == ["row 4"]
    assert result.packages_frame()["record"].to_pylist() == ["1", "3"]


def test_different_bins_are_told_apart_though_their_texts_come_to_the_same(tmp_path: Path) -> None:
    records = [
        Record("g", "x", 10, ("New York", "City"), IN_ALL),
        Record("g", "x", 20, ("New", "York City"), IN_ALL),
        Record("g", "x", 5, ("S", "a"), IN_ALL),
    ]
    register = [
        ("p", ("New York", "City")),
        ("q", ("New", "York City")),
        ("r", ("New", "York City")),
    ]
    result = campaign(plan_of(tmp_path, records, register, [CITY]))
    bins = {row.bin: row for row in result.bins() if row.step == "city, solved"}
    one, two = bins["New York / City"], bins["New / York City"]
    assert (one.entities, one.linked, one.exposed) == (1, 1, 1)
    assert (two.entities, two.linked, two.exposed) == (2, 1, 0)
    rows = result.packages_frame().to_pylist()
    assert [row["feasible_bins"] for row in rows] == [
        ["New York / City"],
        ["New / York City"],
        ["S a"],
    ]


texts = st.sampled_from(["a", "b", "a b", "a / b", "a (state)", "a (2)", "", " "])


@given(
    keys=st.lists(
        st.one_of(
            st.tuples(st.tuples(st.just("state"), texts), st.tuples(st.just("city"), texts)),
            st.tuples(st.tuples(st.sampled_from(["state", "city"]), texts)),
        ),
        unique=True,
    )
)
@example(keys=[(("state", "a"),), (("state", "a"), ("city", "b")), (("city", "a"),)])
def test_no_two_bins_have_the_same_name(keys: list[Any]) -> None:
    names = told_apart(keys)
    assert len(set(names)) == len(keys)
    plain = [" ".join(text for _, text in key) for key in keys]
    assert names == plain or len(set(plain)) < len(keys)
