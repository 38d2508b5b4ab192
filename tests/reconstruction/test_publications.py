"""What is wrong with a plan or its publications is refused in one line, or counted while the rest goes on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import DataError, StudyError
from glasshouse.reconstruction import campaign, load_plan
from glasshouse.study import dump_study, validated
from glasshouse.study.totals import Publication, TotalsStudy
from glasshouse.synthetic.trade import write_trade
from tests.reconstruction.plans import GOOD, GOOD_TOTALS, PLAN, changed, tiny_plan, write


@pytest.mark.parametrize(
    ("value", "total", "kind"),
    [
        ("-1.0", "1", "negative"),
        ("", "1", "missing"),
        ("many", "1", "not a number"),
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
    reason = "corrections" if kind == "negative" else "measures"
    assert [(each.reason, each.groups) for each in result.phases[0].apart] == [(reason, 1)]
    assert result.phases[0].linked == 2


def test_records_and_totals_that_share_no_key_are_refused_with_the_key_and_its_values(
    tmp_path: Path,
) -> None:
    plan = tiny_plan(tmp_path, GOOD, [("other", "a", "1")])
    with pytest.raises(DataError) as refused:
        campaign(plan, folder=tmp_path / "kept")
    assert '"group" is "good" in records, and "group" is "other" in totals' in str(refused.value)
    assert not (tmp_path / "kept").exists()


def test_keys_that_agree_one_by_one_but_never_together_are_refused_as_such(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, [("good", "a", "1"), ("other", "r0", "1")])
    (phase,) = (phase.model_dump() for phase in plan.phases)
    plan = changed(plan, phases=[{**phase, "keys": {"group": "group", "id": "bin"}}])
    with pytest.raises(DataError, match="in all keys at once, such as good r0"):
        campaign(plan)


def test_a_key_map_that_knows_no_value_is_refused_by_name(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, GOOD_TOTALS)
    write(tmp_path / "map.csv", ["from", "to"], [("better", "good")])
    rule = {"path": tmp_path / "map.csv", "source": "from", "target": "to"}
    records = plan.publications["records"].model_dump()
    records["derived"] = {"group": {"columns": ["group"], "map": rule}}
    with pytest.raises(DataError, match='the key map of "group" has no value of records'):
        campaign(changed(plan, publications={**plan.publications, "records": records}))


@pytest.mark.parametrize(
    ("value", "total", "words"),
    [
        ("6.215,9", "6216", 'records.csv: .*"6.215,9" in column "value" .* decimal_comma = true, thousands = "."'),
        ("8,313.4", "8313", 'records.csv: .*"8,313.4" in column "value" .* say thousands = ","'),
        ("8313.4", "8'313", 'totals.csv: .*"8\'313" in column "value" .* say thousands = "\'"'),
        ("8.313", "8.313", '"8.313" in column "value" .* say decimal_comma = true, thousands = "."'),
        ("1.00", "x", "totals.csv: .*\"x\" in column \"value\" is not a number; .* suppressed = \\[\"x\"\\]"),
        ("1.00", "", 'totals.csv: .* missing in column "value" .* missing = "open"'),
        ("-1.0", "1", '"-1.0" in column "value" is negative; leave out corrections with where'),
        ("1.25", "1", '"1.25" in column "value" has more than 1 decimals'),
        ("9" * 40, "1", '"9+" in column "value" is too large'),
    ],
)  # fmt: skip
def test_where_no_number_can_be_read_the_campaign_is_refused_with_one_and_its_cause(
    tmp_path: Path, value: str, total: str, words: str
) -> None:
    plan = tiny_plan(tmp_path, [("g", value, "")], [("g", "a", total)])
    with pytest.raises(DataError, match=words) as refused:
        campaign(plan)
    assert "\n" not in str(refused.value)


def test_sums_beyond_62_bits_in_every_group_are_refused(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, [("g", "4" + "0" * 17, "")], [("g", "a", "1")])
    with pytest.raises(DataError, match="all its groups are groups with a measure that is too"):
        campaign(plan)


def test_where_only_large_numbers_have_separators_the_note_says_the_setting(tmp_path: Path) -> None:
    records, totals = [*GOOD, ("big", "8,313.4", "")], [*GOOD_TOTALS, ("big", "a", "8313")]
    plan = tiny_plan(tmp_path, records, totals)
    (trouble,) = campaign(plan).troubles
    assert trouble.kind == (
        'groups with a measure that is not a number, unless the plan says thousands = "," of '
        "its publication"
    )
    publications = {name: entry.model_dump() for name, entry in plan.publications.items()}
    publications["records"]["thousands"] = ","
    result = campaign(changed(plan, publications=publications))
    assert result.troubles == ()
    assert result.value == 8316.4


def test_what_separates_thousands_does_not_stand_before_decimals(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, GOOD_TOTALS)
    entry = {"path": "x.csv", "thousands": ".", "measures": {"value": "value"}}
    with pytest.raises(StudyError, match="also what stands before the decimals"):
        validated(Publication, entry | {"decimal_comma": False}, "plan")
    assert validated(Publication, entry, "plan").decimal_comma  # what else it may be
    assert plan.publications["records"].thousands is None


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
    with pytest.raises(DataError, match="all its groups are groups with a row that repeats"):
        campaign(changed(plan, publications=publications))


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


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trade(tmp_path_factory.mktemp("trade") / "month", transactions=400, importers=80)


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
    tmp_path: Path, month: Path, old: str, new: str, says: str
) -> None:
    text = PLAN.read_text()
    assert old in text
    (tmp_path / "month").symlink_to(month)
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


@pytest.mark.parametrize("page", ["totals.md", "pt/totals.md"])
def test_the_documentation_shows_a_part_of_the_example_plan(page: str) -> None:
    content = (PLAN.parents[2] / "docs" / page).read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```", content, re.MULTILINE | re.DOTALL)
    assert f"\n{shown}" in PLAN.read_text(encoding="utf-8")


def test_a_plan_is_written_and_read_back(tmp_path: Path) -> None:
    plan = load_plan(PLAN)
    (tmp_path / "study.toml").write_text(dump_study(plan, version="1"))
    assert load_plan(tmp_path / "study.toml") == plan
    assert tomllib.loads(PLAN.read_text())["command"] == "totals"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'keys = { state = "state", city = "city" }',
            'keys = { sate = "state" }',
            r'column "sate" is not in the bins of any phase, which \[entities\] needs; did you mean "state"',
        ),
        (
            'keys = { state = "state", city = "city" }',
            'keys = { city = "city" }',
            None,
        ),
        (
            "exposed = false        # it only prepares the next phase\n",
            "",
            None,
        ),
    ],
)
def test_keys_of_the_register_must_be_columns_of_bins(
    tmp_path: Path, old: str, new: str, says: str | None
) -> None:
    text = PLAN.read_text()
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new))
    if says is None:
        load_plan(tmp_path / "study.toml")
        return
    with pytest.raises(StudyError, match=says) as refused:
        load_plan(tmp_path / "study.toml")
    assert "\n" not in str(refused.value)


def test_a_phase_in_which_nobody_can_be_named_is_refused(tmp_path: Path) -> None:
    text = PLAN.read_text().replace("exposed = false ", "exposed = true ")
    text = text.replace('keys = { state = "state", city = "city" }', 'keys = { city = "city" }')
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(StudyError, match='phase "state": its bins have none of the keys'):
        load_plan(tmp_path / "study.toml")


def with_derived(plan: TotalsStudy, derived: dict[str, Any], **more: Any) -> TotalsStudy:
    publications = plan.model_dump()["publications"]
    publications["records"] |= {"derived": derived, **more}
    return changed(plan, publications=publications)


def test_a_derived_column_that_uses_a_later_one_is_refused_in_one_line(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, GOOD_TOTALS)
    derived = {
        "group": {"columns": ["letter"]},
        "letter": {"columns": ["id"], "first": 1},
    }
    says = '"group" is made from "letter", which is derived after it; put "letter" first'
    with pytest.raises(DataError, match=says):
        campaign(with_derived(plan, derived))
    with pytest.raises(DataError, match='"new" is made from itself'):
        campaign(with_derived(plan, {"new": {"columns": ["new"]}}))


def test_an_empty_key_is_shown_as_such(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, [*GOOD, ("", "1.0", ""), ("", "-2", "")], GOOD_TOTALS)
    (trouble,) = campaign(plan).troubles
    assert (trouble.kind, trouble.example) == ("records without totals", "(empty)")
    plan = tiny_plan(tmp_path, [*GOOD, ("", "-2", "")], [*GOOD_TOTALS, ("", "a", "2")])
    (trouble,) = campaign(plan).troubles
    assert (trouble.kind, trouble.example) == (
        "groups with a measure that is negative",
        "(empty)",
    )


def test_no_trouble_tells_the_name_of_a_record(tmp_path: Path) -> None:
    records = [*GOOD, ("new", "5", ""), ("bad", "-1", ""), ("more", "1", "")]
    totals = [*GOOD_TOTALS, ("bad", "a", "1"), ("more", "a", "9"), ("gone", "z", "1")]
    plan = with_derived(
        tiny_plan(tmp_path, records, totals),
        {"letter": {"columns": ["id"], "first": 2}},
        unique=["letter"],
    )
    path = plan.publications["records"].path
    path.write_text(path.read_text() + "r0,good,7\n")
    plain = campaign(plan).to_dict()
    kinds = {each["kind"]: each for each in plain["troubles"]}
    assert kinds["rows that repeat another differ from it"]["example"] == "good"
    assert kinds["groups with excess published totals"]["example"] == "more"
    assert kinds["groups with a measure that is negative"]["example"] == "bad"
    assert not any(name in str(plain) for name in ("r0", "r1", "r2", "r3", "r4"))


def test_every_reason_has_an_example(tmp_path: Path) -> None:
    records = [*GOOD, ("more", "1", ""), ("less", "1", ""), ("less", "9", "")]
    totals = [*GOOD_TOTALS, ("more", "a", "9"), ("less", "a", "1"), ("gone", "b", "4")]
    result = campaign(tiny_plan(tmp_path, records, totals))
    assert {each.reason: each.example for each in result.phases[0].apart} == {
        "records added": "more",
        "records left out": "less",
        "suppressed": "gone",
    }


def test_a_tolerance_with_more_decimals_than_the_measure_is_refused(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, GOOD_TOTALS, rounding="unknown", tolerance=0.75)
    with pytest.raises(StudyError, match=r"a tolerance of 0.75 has more decimals than the measure"):
        campaign(plan)
    result = campaign(changed(plan, measures={"value": {"decimals": 2}}))
    assert result.phases[0].instances == 1


def test_a_row_of_sums_among_the_totals_is_said_to_be_left_out(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, GOOD, [*GOOD_TOTALS, ("good", "Total", "3")])
    plan = changed(plan, entities=None)
    assert [trouble.kind for trouble in campaign(plan).troubles] == [
        "groups with excess published totals",
        "groups with a total that is the sum of all records, as in a row of sums, to be left out with where",
    ]
    totals = plan.publications["totals"].model_copy(update={"where": ("bin!=Total",)})
    result = campaign(changed(plan, publications={**plan.publications, "totals": totals}))
    assert (result.troubles, result.phases[0].linked) == ((), 2)


def test_one_total_above_what_fits_into_it_shows_that_records_were_added(tmp_path: Path) -> None:
    # All is 30, and so are the totals; but nothing that fits into b comes near its 10, and the rest cannot be in a.
    records = [("g", "1", ""), ("g", "29", "")]
    totals = [("g", "a", "20"), ("g", "b", "10")]
    (apart,) = campaign(tiny_plan(tmp_path, records, totals, none_bin=True)).phases[0].apart
    assert (apart.reason, apart.records) == ("records added", 2)
