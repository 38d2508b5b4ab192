"""Survey weights: Σ 1/F̂ against brute force in fractions, and the figures of who knows who was sampled, unchanged."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.errors import DataError, GlasshouseError
from glasshouse.microdata import survey_weights
from glasshouse.microdata.survey_weights import FEW_PEOPLE, WeightedClasses, weighted_sample
from glasshouse.microdata.uniqueness import population_risks
from glasshouse.report.survey_weights import few_people_table, weighted_finding
from glasshouse.study import load_study
from glasshouse.table import read
from tests.conftest import Glasshouse

NAMES = "age,workclass,fnlwgt,education,education_num,marital,occupation,relationship,race,sex,gain,loss,hours,country"
ROWS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("uv"), st.integers(100, 900)),
    min_size=1,
    max_size=15,
)
Row = tuple[str, str, int]


def frame_of(rows: list[Row], scale: int = 100) -> pa.Table:
    """Return records with weights that have decimals."""
    return pa.table(
        {
            "a": [a for a, _, _ in rows],
            "b": [b for _, b, _ in rows],
            "w": [f"{weight / scale:.2f}" for *_, weight in rows],
        }
    )


@given(ROWS)
def test_the_expected_number_is_that_of_brute_force(rows: list[Row]) -> None:
    people: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for a, b, weight in rows:
        people[a, b] += Fraction(weight, 100)
    each = [people[a, b] for a, b, _ in rows]
    found = weighted_sample(read(frame_of(rows), also=["a", "b", "w"]), "w", ["a", "b"])
    assert found.expected == sum((1 / fitting for fitting in each), Fraction(0))
    assert found.people == sum(Fraction(weight, 100) for *_, weight in rows)
    assert (found.fewest, found.highest) == (min(each), 1 / min(each))
    assert found.average == found.expected / len(rows)
    assert found.few == tuple(sum(fitting < few for fitting in each) for few in FEW_PEOPLE)
    assert (found.records, found.classes) == (len(rows), len(people))


@given(ROWS)
def test_many_different_sums_are_added_up_to_digits_that_nobody_sees(rows: list[Row]) -> None:
    table = read(frame_of(rows), also=["a", "b", "w"])
    exact = weighted_sample(table, "w", ["a", "b"]).expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey_weights, "MOST_RATIOS", 0)
        cut = weighted_sample(table, "w", ["a", "b"]).expected
    assert 0 <= exact - cut < Fraction(len(rows), 1 << survey_weights.DIGITS)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A sample of 60, whose last record is unlike all others."""
    rows = "".join(
        f"{20 + row % 5},{'FM'[row % 2]},{row % 3},{1.5 + row % 4}\n" for row in range(59)
    )
    path = tmp_path / "survey.csv"
    path.write_text(f"age,sex,ill,w\n{rows}99,F,1,2.5\n", encoding="utf-8")
    return path


KNOWN = ("-q", "age", "-q", "sex", "-s", "ill")


def expected_of(path: Path) -> tuple[float, float]:
    """Return Σ 1/F̂ and Σ w over age and sex, record by record."""
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").split()[1:]]
    people: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for age, sex, _, weight in rows:
        people[age, sex] += Fraction(weight)
    right = sum((1 / people[age, sex] for age, sex, *_ in rows), Fraction(0))
    return float(right), float(sum(people.values()))


def test_a_survey_weight_changes_nothing_for_who_knows_who_was_sampled(
    survey: Path, glasshouse: Glasshouse
) -> None:
    weighed = json.loads(glasshouse("assess", survey, *KNOWN, "--weight", "w", "--json").out)
    plain = json.loads(glasshouse("assess", survey, *KNOWN, "--drop", "w", "--json").out)
    assert weighed["results"] == plain["results"]
    assert "weighted" not in plain
    told = weighed["weighted"]
    assert (told["expected"], told["people"]) == expected_of(survey)
    assert told["highest"] == 1 / 2.5
    assert told["records_below"]["3"] == 1
    assert weighed["verdict"]["coverage"]["weight"] == ["w"]
    swept = glasshouse("assess", survey, *KNOWN, "--weight", "w", "--prior-weight", "w2", "--json")
    assert 'column "w2" is not in survey.csv' in swept.error


def test_the_sentence_is_told_in_the_terminal_the_report_and_both_languages(
    survey: Path, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    told = glasshouse("assess", survey, *KNOWN, "--weight", "w", "--out", run)
    shown = " ".join(told.out.split())
    assert "By the survey weights of w, the 60 records stand for 178 people." in shown
    assert "someone who knows who was sampled, 11." in shown
    assert "F̂ below 3 fewer than 10" in shown
    report = (run / "report.html").read_text(encoding="utf-8")
    assert "but not who was sampled, could expect to identify" in report
    assert "The weights are in the release" in report
    dropped = glasshouse(
        *("assess", survey, *KNOWN, "--weight", "w", "--drop", "w", "--out", run, "--overwrite")
    )
    assert dropped.code == 0
    assert "The weights are in the release" not in (run / "report.html").read_text(encoding="utf-8")
    spoken = glasshouse("assess", survey, *KNOWN, "--weight", "w", "--lang", "pt")
    assert "Pelos pesos amostrais de w, os 60 registros representam 178 pessoas." in " ".join(
        spoken.out.split()
    )


def test_check_takes_no_weight_unasked_and_tells_the_sampling_view_if_asked(
    survey: Path, glasshouse: Glasshouse
) -> None:
    renamed = survey.with_name("named.csv")
    renamed.write_text(survey.read_text(encoding="utf-8").replace("ill,w", "ill,survey_weight"))
    alone = json.loads(glasshouse("check", renamed, "--json").out)
    assert alone["understood"]["weight"] is None
    assert "survey_weight" in alone["understood"]["quasi_identifiers"]
    assert "weighted" not in alone
    asked = json.loads(glasshouse("check", renamed, "--weight", "survey_weight", "--json").out)
    assert asked["understood"]["weight"] == "survey_weight"
    assert "survey_weight" not in asked["understood"]["quasi_identifiers"]
    assert asked["weighted"]["people"] == 178
    assert not {one["measure"] for one in asked["conditions"]} & {"expected", "weighted"}
    told = glasshouse("check", renamed, "--weight", "survey_weight")
    assert "By the survey weights of survey_weight, the 60 records" in " ".join(told.out.split())


def test_membership_estimates_the_fraction_by_the_weights(
    survey: Path, glasshouse: Glasshouse
) -> None:
    told = json.loads(
        glasshouse("membership", survey, "-q", "age", "-q", "sex", "--weight", "w", "--json").out
    )
    assert (told["fraction"], told["people"]) == (60 / 178, 178)
    assert told["weighted"]["expected"] == expected_of(survey)[0]
    given_too = ("--fraction", 0.5)
    other = json.loads(
        glasshouse(
            "membership", survey, "-q", "age", "-q", "sex", "--weight", "w", *given_too, "--json"
        ).out
    )
    assert (other["fraction"], other["weighted"]) == (0.5, told["weighted"])


REFUSED = {
    "two roles": (("assess", "-q", "age", "--weight", "age"), "is a quasi-identifier and also the"),
    "two weights": (
        ("assess", "-q", "age", "--weight", "w", "--prior-weight", "w"),
        "is the prior weight and also the survey weight; choose one",
    ),
    "parts": (("assess", "-q", "age", "--weight", "w", "--by", "sex"), "--weight, or --by"),
    "people": (
        ("assess", "-q", "age", "--weight", "w", "--person", "sex"),
        "leave out --weight, or --person",
    ),
    "two files": (
        ("assess", "survey.csv", "-q", "age", "--weight", "w", "--id", "ill"),
        "of one sample; leave out --weight",
    ),
    "scaled": (("assess", "-q", "age", "--weight", "small"), "add up to 15 people, fewer than the"),
    "a register": (
        ("membership", "-q", "age", "--weight", "w", "--population", "survey.csv"),
        "leave out --weight, or --population",
    ),
    "one person": (
        ("membership", "-q", "age", "--weight", "w", "--know", "age=20"),
        "survey weights are about one release as a whole",
    ),
    "the old word": (("target", "--know", "age=20", "--weight", "w"), "--prior-weight"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nonsense_is_refused_in_one_line(
    case: str, survey: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(survey.parent)
    header, *lines = survey.read_text(encoding="utf-8").split()
    other = "\n".join([f"{header},small", *(f"{line},0.25" for line in lines)])
    survey.with_name("other.csv").write_text(other + "\n", encoding="utf-8")
    (command, *words), reason = REFUSED[case]
    answer = glasshouse(command, "other.csv", *words)
    assert answer.code == 2
    assert reason in answer.error
    assert answer.error.count("\n") == 1


def test_a_study_with_the_old_word_is_told_both_new_ones(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'command = "assess"\ndatasets = [{path = "x.csv"}]\n'
        '[adversary]\nquasi_identifiers = ["a"]\nweight = "w"\n'
    )
    with pytest.raises(GlasshouseError) as refusal:
        load_study(path)
    assert 'say "prior_weight"' in str(refusal.value)
    assert '"weight" of the study itself is for survey weights' in str(refusal.value)


def test_python_has_the_same_two_words(survey: Path) -> None:
    known: Any = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}
    frame = pa.table(
        dict(
            zip(
                ("age", "sex", "ill", "w"),
                zip(*(line.split(",") for line in survey.read_text().split()[1:]), strict=True),
                strict=True,
            )
        )
    )
    plain = gh.assess(frame, **known).outcome
    weighed = gh.assess(frame, **known, weight="w").outcome
    believed = gh.assess(gh.read(frame, **known, prior_weight="w")).outcome
    assert weighed.attacks == plain.attacks != believed.attacks
    assert weighed.weighted is not None
    assert float(weighed.weighted.expected) == expected_of(survey)[0]
    assert believed.attacks == gh.assess(frame, **known, prior_weight="w").outcome.attacks
    risks = gh.membership(frame, quasi_identifiers=["age", "sex"], weight="w").outcome
    assert risks.weighted == weighed.weighted
    with pytest.raises(GlasshouseError, match="prior_weight"):
        gh.read(frame, **{"weight": "w"} | known)


def test_suppressed_records_stand_for_nobody_in_the_classes() -> None:
    frame = pa.table({"a": ["x", "x", "*"], "w": ["2", "3", "9"]})
    risks = population_risks(read(frame, also=["a", "w"]), quasi_identifiers=["a"], weight="w")
    assert risks.fraction == Fraction(2, 5)
    assert risks.weighted is not None
    assert (risks.weighted.people, risks.weighted.expected) == (Fraction(5), Fraction(2, 5))


def test_no_small_number_of_records_and_no_weight_of_a_record_is_told() -> None:
    weighted = WeightedClasses(
        column="w",
        quasi_identifiers=("a",),
        people=Fraction(900),
        records=100,
        classes=60,
        named=Fraction(60),
        fewest=Fraction(12345, 100),
        expected=Fraction(7),
        few=(4, 30, 35, 95),
        individual=8.0,
        individual_highest=0.1,
        approximate=8.0,
    )
    cells = [
        [cell.text for cell in row]
        for group in few_people_table(weighted).groups
        for row in group.rows
    ]
    assert [row[1] for row in cells] == ["fewer than 10", "not shown", "35", "not shown"]
    told = weighted_finding(weighted, "person", is_released=True)
    assert "none with a chance of more than 1 in 120" in told.sentence
    assert "123.45" not in f"{told.sentence} {told.figure}"


@given(ROWS)
def test_the_sentence_says_the_figures_of_the_outcome(rows: list[Row]) -> None:
    weighted = weighted_sample(read(frame_of(rows), also=["a", "b", "w"]), "w", ["a", "b"])
    said = weighted_finding(weighted, "person", is_released=False).sentence
    people, expected, most, classes = re.fullmatch(
        r"By .* stand for ([\d,]+) people[.] .* could expect to identify ([\d.]+) of the .*, and none "
        r"with a chance of more than 1 in ([\d.,]+); someone who knows who was sampled, (\d+)[.]",
        said,
    ).groups()  # type: ignore[union-attr]
    assert int(people.replace(",", "")) == round(weighted.people)
    assert float(expected) == pytest.approx(float(weighted.expected), rel=0.05)
    assert Fraction(most) <= max(weighted.fewest, Fraction(1)) < Fraction(most) * Fraction(11, 10)
    assert int(classes) == weighted.classes


def test_weights_that_add_up_to_fewer_people_than_records_are_no_survey_weights() -> None:
    table = read(pa.table({"a": ["x", "y"], "w": ["0.5", "1"]}), also=["a", "w"])
    with pytest.raises(DataError, match=r"add up to 1\.5 people, fewer than the 2 records"):
        weighted_sample(table, "w", ["a"])


def test_adult_by_its_weights(shared: Callable[[str], Path]) -> None:
    path, names = shared("data/adult.data"), [*NAMES.split(","), "income"]
    table = gh.read(path, header=False, names=names, strip=True, also=["fnlwgt"])
    known = ["age", "sex", "race", "marital", "education", "country"]
    assert float(weighted_sample(table, "fnlwgt", known).expected) == pytest.approx(0.06, abs=2e-3)


def test_inspect_names_the_word_and_does_not_say_it_by_itself(
    survey: Path, glasshouse: Glasshouse
) -> None:
    _, *lines = survey.read_text(encoding="utf-8").split()
    survey.write_text("\n".join(["age,sex,ill,survey_weight", *lines]) + "\n", encoding="utf-8")
    told = json.loads(glasshouse("inspect", survey, "--json").out)
    (column,) = (one for one in told["columns"] if one["name"] == "survey_weight")
    assert column["role"] == "weight"
    assert column["reason"].endswith("if it is a survey weight, name it as the weight")
    assert "weight survey_weight" not in told["next"]
