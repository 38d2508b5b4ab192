"""Missing values that match every other: against brute force, record by record, and against sdcMicro's own examples."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.errors import BudgetError, GlasshouseError
from glasshouse.microdata import Attack, neighbourhoods, sweep
from glasshouse.microdata.attacks import attacks_with
from glasshouse.microdata.leakage import SUCCESS_BINS
from glasshouse.table import EncodedTable, read
from tests.conftest import Glasshouse
from tests.examples import examples

Row = list[str]

KEYS: list[list[int | None]] = [
    [2, 3, 2, 2, 3, 3, 1, 2],
    [3, 3, 3, 3, 3, 3, 4, 3],
    [1, 3, None, 2, 1, 1, None, 1],
]
WEIGHTS = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0]
"""The eight records of sdcMicro's tests of ``freqCalc`` and ``indivRisk``, with their sampling weights."""


def agree(first: Row, second: Row, places: tuple[int, ...]) -> bool:
    """Tell whether two records may be the same: alike on all that both tell."""
    return all(
        not first[place] or not second[place] or first[place] == second[place] for place in places
    )


def random_table(dice: random.Random) -> tuple[list[Row], int]:
    """Return a small random table with missing values, and how many of its columns can be known."""
    known, records, values = dice.randint(1, 4), dice.randint(1, 12), dice.randint(1, 4)
    missing = dice.choice([0, 0.1, 0.5, 0.9])

    def cell(place: int) -> str:
        share = missing if place < known else missing / 4
        return "" if dice.random() < share else str(dice.randrange(values))

    return [[cell(place) for place in range(known + 2)] for _ in range(records)], known


def as_table(rows: list[Row], known: int) -> EncodedTable:
    names = [f"q{place}" for place in range(known)] + ["s", "t"]
    columns = {
        name: pa.array(list(values), pa.string())
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    return read(pa.table(columns), quasi_identifiers=names[:known], sensitive=names[known:])


def check_naming(attack: Attack, rows: list[Row], places: tuple[int, ...]) -> None:
    sizes = [sum(agree(row, other, places) for other in rows) for row in rows]
    assert attack.probabilistic.posterior == sum(Fraction(1, size) for size in sizes) / len(rows)
    assert attack.certain == attack.uniques == sizes.count(1)
    assert attack.deterministic.posterior == Fraction(sizes.count(1), len(rows))
    assert attack.class_sizes.smallest == min(sizes)
    assert attack.class_sizes.records_below(3) == sum(size < 3 for size in sizes)


def check_inferring(attack: Attack, rows: list[Row], places: tuple[int, ...], secret: int) -> None:
    told = [row for row in rows if row[secret]]
    chances, success = [], [0] * SUCCESS_BINS
    for row in told:
        near = Counter(other[secret] for other in told if agree(row, other, places))
        chances.append(Fraction(max(near.values()), near.total()))
        success[int(10 * chances[-1])] += 1
    assert attack.records == len(told)
    assert attack.probabilistic.posterior == sum(chances) / len(told)
    assert attack.certain == chances.count(Fraction(1))
    assert attack.success == tuple(success)


def check_milder(matched: Attack, by_class: Attack) -> None:
    """A neighbourhood holds the class: by classes, as where missing is a value, nobody is judged more mildly."""
    assert matched.probabilistic.posterior <= by_class.probabilistic.posterior
    assert matched.certain <= by_class.certain
    assert matched.class_sizes.smallest >= by_class.class_sizes.smallest


def test_random_tables_give_what_comparing_every_pair_of_records_gives() -> None:
    dice = random.Random(42)
    for _ in range(examples(10_000, one_of=60)):
        rows, known = random_table(dice)
        if not all(any(row[place] for row in rows) for place in (known, known + 1)):
            continue  # a secret that is missing throughout is refused
        table = as_table(rows, known)
        subsets = neighbourhoods.subsets_of("all", table.quasi_identifiers, len(rows))
        attacks = iter(neighbourhoods.matched_attacks(table, subsets=subsets))
        by_class = iter(attacks_with(table, subsets=subsets))
        for size in range(1, known + 1):
            for places in combinations(range(known), size):
                naming = next(attacks)
                check_naming(naming, rows, places)
                check_milder(naming, next(by_class))
                for secret in (known, known + 1):
                    inferring = next(attacks)
                    check_inferring(inferring, rows, places, secret)
                    assert inferring.certain <= next(by_class).certain
        risks = neighbourhoods.matched_risks(table)
        whole = tuple(range(known))
        assert risks.sizes.tolist() == [
            sum(agree(row, other, whole) for other in rows) for row in rows
        ]
        assert risks.known[0].astype(bool).tolist() == [bool(row[known]) for row in rows]


def test_a_guess_can_fall_when_more_is_known() -> None:
    """Neighbourhoods overlap: the second record may be either of the others, which knowing q tells apart."""
    frame = pa.table({"p": ["", "", "2"], "q": ["1", "", "2"], "s": ["b", "a", "b"]})
    table = read(frame, quasi_identifiers=["p", "q"], sensitive=["s"])
    attacks = neighbourhoods.matched_attacks(table, subsets=[["p"], ["p", "q"]])
    (_, less, naming, more) = attacks
    assert less.probabilistic.posterior == Fraction(2, 3)
    assert more.probabilistic.posterior == (Fraction(1, 2) + Fraction(2, 3) + Fraction(1, 2)) / 3
    assert naming.probabilistic.posterior > attacks[0].probabilistic.posterior  # who it is cannot


def test_secrets_of_several_columns_are_guessed_together() -> None:
    dice = random.Random(21)
    for _ in range(examples(300)):
        rows, known = random_table(dice)
        told = [row for row in rows if row[known] and row[known + 1]]
        if not told:
            continue
        table = as_table(rows, known)
        (_, joint) = neighbourhoods.matched_attacks(table, sensitive=[("s", "t")])
        places, chances = tuple(range(known)), []
        for row in told:
            near = Counter(tuple(other[known:]) for other in told if agree(row, other, places))
            chances.append(Fraction(max(near.values()), near.total()))
        assert joint.secret == ("s", "t")
        assert joint.probabilistic.posterior == sum(chances) / len(told)
        assert joint.certain == chances.count(Fraction(1))
        whole = Counter(tuple(row[known:]) for row in told)
        assert joint.probabilistic.prior == Fraction(max(whole.values()), len(told))


def test_where_nothing_is_missing_neighbourhoods_are_classes() -> None:
    dice = random.Random(7)
    rows = [[str(dice.randrange(3)) for _ in range(5)] for _ in range(200)]
    table = as_table(rows, 3)
    plain = sweep(table).attacks()
    subsets = neighbourhoods.subsets_of("all", table.quasi_identifiers, len(rows))
    matched = neighbourhoods.matched_attacks(table, subsets=subsets)
    assert [attack.to_dict() | {"capacity": 0} for attack in matched] == [
        attack.to_dict() | {"capacity": 0} for attack in plain
    ]


def test_many_wide_columns_take_more_than_one_word() -> None:
    dice = random.Random(3)
    rows = [
        [*("" if dice.random() < 0.2 else str(dice.randrange(999)) for _ in range(9)), "a", "b"]
        for _ in range(40)
    ]
    (naming, *_) = neighbourhoods.matched_attacks(as_table(rows, 9))
    check_naming(naming, rows, tuple(range(9)))


def francdat(*, eighth_is_missing: bool = False) -> pa.Table:
    """Return sdcMicro's example, as its test of ``freqCalc`` has it, or as that of ``indivRisk``."""
    region, status, age = KEYS
    region = [*region[:-1], None] if eighth_is_missing else region
    return pa.table({"A": region, "B": status, "C": age, "w": WEIGHTS})


@pytest.mark.parametrize(
    ("eighth_is_missing", "frequencies"),
    [(False, [3, 1, 4, 2, 2, 2, 1, 3]), (True, [3, 1, 4, 2, 3, 3, 1, 5])],
)
def test_the_frequencies_are_those_of_sdcmicro(
    eighth_is_missing: bool, frequencies: list[int]
) -> None:
    frame = francdat(eighth_is_missing=eighth_is_missing)
    run = gh.assess(
        frame,
        quasi_identifiers=["A", "B", "C"],
        missing_as="matches",
        weight="w",
        per_record=True,
    )
    assert run.per_record is not None
    assert run.per_record["size"].to_pylist() == frequencies
    expected = sum(Fraction(1, size) for size in frequencies)
    assert run.outcome.attacks[-1].probabilistic.posterior == expected / 8
    weighted = run.outcome.weighted
    assert weighted is not None
    assert weighted.named == expected
    if eighth_is_missing:  # Fk of the eighth record: all that it may be
        assert weighted.expected == sum(
            1 / Fraction(people) for people in (108, 45.5, 125, 56, 151, 151, 123.5, 208)
        )


@pytest.mark.parametrize(
    ("missing_as", "status", "frequencies"),
    [
        ("matches", ["single", "married", "married", "single", "*"], [3, 3, 3, 3, 5]),
        ("value", ["*", "married", "married", "*", "*"], [3, 2, 2, 3, 3]),
    ],
)
def test_the_commented_cases_of_sdcmicro_are_our_two_words(
    missing_as: str, status: list[str], frequencies: list[int]
) -> None:
    """sdcMicro, tests/testthat/test_freqCalc.R: its method 1 is `matches`, and its method 5 is `value`.

    Methods 2 to 4 are of one side only, or in part: a missing value there counts for its own record, or for others by
    a share. An adversary who knows a person's values and takes what is missing for anything does neither.
    """
    frame = pa.table({"region": ["A"] * 5, "status": status, "agegroup": ["5"] * 5})
    run = gh.assess(
        frame, quasi_identifiers=frame.column_names, missing_as=missing_as, per_record=True
    )
    assert run.per_record is not None
    assert run.per_record["size"].to_pylist() == frequencies


def test_the_guide_has_the_same_frequencies() -> None:
    """IHSN, SDC for Microdata: A Practice Guide, table 4.2: the third record may be either of the others."""
    frame = pa.table(
        {
            "gender": ["Male"] * 3,
            "education": ["complete", "incomplete", None],
            "labor": ["Employed"] * 3,
        }
    )
    table = read(frame, quasi_identifiers=frame.column_names)
    assert neighbourhoods.matched_risks(table).sizes.tolist() == [2, 2, 3]


def test_diversity_is_that_of_sdcmicro() -> None:
    """sdcMicro, tests/testthat/test_ldiversity.R: every value is there once, so one over the chance is how many."""
    keys = {
        "sex": ["female"] * 3 + ["male"] * 2 + ["female"] * 2,
        "occupation": [None] * 3 + ["teacher"] * 2 + ["nurse"] * 2,
        "ethnicity": ["other"] * 5 + ["majority"] * 2,
    }
    frame = pa.table({**keys, "sensitive": [1, 0, 2, 1, 0, 0, 1]})
    risks = neighbourhoods.matched_risks(
        read(frame, quasi_identifiers=list(keys), sensitive=["sensitive"])
    )
    distinct = [round(1 / chance) for chance in risks.success("sensitive")]
    assert distinct == [3, 3, 3, 2, 2, 2, 2]
    several = pa.table({"key": [1, 1, 1], "first": ["A", "B", "A"], "second": ["X", "Y", "Z"]})
    risks = neighbourhoods.matched_risks(
        read(several, quasi_identifiers=["key"], sensitive=["first", "second"])
    )
    assert risks.most.tolist() == [[2, 2, 2], [1, 1, 1]]


def test_a_value_is_the_default_and_changes_nothing() -> None:
    frame = francdat()
    asked = gh.assess(frame, quasi_identifiers=["A", "B", "C"], missing_as="value")
    plain = gh.assess(frame, quasi_identifiers=["A", "B", "C"])
    assert asked.to_dict() == plain.to_dict()
    assert plain.outcome.attacks[-1].uniques == 4


def test_apart_leaves_records_out_and_counts_them() -> None:
    run = gh.assess(francdat(), quasi_identifiers=["A", "B", "C"], missing_as="apart")
    assert run.outcome.records == 6
    assert [(step.column, step.left_out) for step in run.outcome.steps] == [("C", 2), (None, 2)]


def test_a_suppressed_value_matches_too(tmp_path: Path) -> None:
    frame = pa.table({"a": ["1", "2", "*"], "b": ["x", "x", "x"]})
    run = gh.assess(frame, quasi_identifiers=["a", "b"], missing_as="matches", per_record=True)
    assert run.per_record is not None
    assert run.per_record["size"].to_pylist() == [2, 2, 3]


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Sixty people, of whom some did not tell their age or sex."""
    dice = random.Random(5)
    rows = "".join(
        f"{'' if dice.random() < 0.2 else 20 + dice.randrange(9)},{dice.choice(['F', 'M', ''])},{dice.randrange(3)}\n"
        for _ in range(60)
    )
    path = tmp_path / "survey.csv"
    path.write_text(f"age,sex,ill\n{rows}", encoding="utf-8")
    return path


KNOWN = ("-q", "age", "-q", "sex", "-s", "ill")


def test_the_command_line_the_study_and_both_languages_have_the_word(
    survey: Path, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    told = glasshouse("assess", survey, *KNOWN, "--missing-as", "matches", "--out", run)
    assert told.code == 0, told.error
    assert "matches every value" in " ".join(told.out.split())
    assert 'missing_as = "matches"' in (run / "study.toml").read_text(encoding="utf-8")
    again = glasshouse("assess", "--study", run / "study.toml", "--json")
    results = json.loads(again.out)["results"]
    assert [len(one["quasi_identifiers"]) for one in results] == [1, 1, 1, 1, 2, 2]
    plain = json.loads(glasshouse("assess", survey, *KNOWN, "--json").out)["results"]
    assert results[-2]["probabilistic"]["posterior"] < plain[-2]["probabilistic"]["posterior"]
    other = tmp_path / "other"
    assert glasshouse("assess", survey, *KNOWN, "--out", other).code == 0
    compared = glasshouse("compare", run, other)
    assert "(run: matches, other: value)" in " ".join(compared.error.split())
    spoken = glasshouse("assess", survey, *KNOWN, "--missing-as", "apart", "--lang", "pt")
    assert "ficaram de lado" in " ".join(spoken.out.split())
    wide = tmp_path / "wide.csv"
    lines = survey.read_text(encoding="utf-8").splitlines()
    wide.write_text(
        "\n".join([lines[0] + ",paid", *(line + ",n" for line in lines[1:])]) + "\n",
        encoding="utf-8",
    )
    joint = glasshouse(
        "assess", wide, *KNOWN[:4], "-s", "ill,paid", "--missing-as", "matches", "--json"
    )
    assert json.loads(joint.out)["results"][-1]["probabilistic"] == results[-1]["probabilistic"], (
        joint.error
    )
    judged = json.loads(
        glasshouse("check", survey, *KNOWN, "--missing-as", "matches", "--json").out
    )
    assert judged["meets"] is False


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--tries", "2"), "leave out --tries"),
        (("--about", "age=±2"), "leave out --about"),
        (("--by", "sex"), "leave out --by"),
        (("--explain",), "is about classes"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(
    survey: Path, glasshouse: Glasshouse, words: tuple[str, ...], why: str
) -> None:
    refused = glasshouse("assess", survey, *KNOWN, "--missing-as", "matches", *words)
    assert refused.code == 2
    assert why in refused.error
    assert len(refused.error.strip().splitlines()) == 1


def test_an_unknown_word_is_refused(survey: Path) -> None:
    with pytest.raises(GlasshouseError, match="missing_as"):
        gh.assess(survey, quasi_identifiers=["age"], missing_as="anything")


def test_too_many_combinations_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbourhoods, "MOST_LOOKUPS", 20)
    with pytest.raises(BudgetError, match="4 different combinations"):
        gh.assess(
            pa.table({"a": ["1", "", "1", ""], "b": ["1", "1", "", ""]}),
            quasi_identifiers=["a", "b"],
            missing_as="matches",
        )
