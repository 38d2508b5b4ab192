"""People rather than records, from end to end: the exact answers through the command and through Python."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import glasshouse as gh
from glasshouse.report.archive import from_json
from tests.conftest import Glasshouse

Case = dict[str, Any]


@pytest.fixture
def case(shared: Callable[[str], Path], tmp_path: Path) -> Callable[[str], tuple[Case, Path]]:
    """Give a case of the golden answers, and a file with its table."""
    cases = json.loads(shared("golden/people.json").read_text())["cases"]

    def chosen(name: str) -> tuple[Case, Path]:
        (golden,) = (entry for entry in cases if entry["id"] == name)
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = golden["table"]
            csv.writer(file).writerows([[*table], *zip(*table.values(), strict=True)])
        return golden, path

    return chosen


def answer(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("assess", *arguments, "--json")
    assert outcome.code == 0, outcome.error
    content: dict[str, Any] = json.loads(outcome.out)
    return content


def exactly(figures: dict[str, Any], **expected: str) -> None:
    """Compare figures with the floats nearest to exact fractions."""
    for name, fraction in expected.items():
        assert figures[name] == float(Fraction(fraction)), name


def test_close_guesses_come_out_exactly(
    glasshouse: Glasshouse, case: Callable[[str], tuple[Case, Path]]
) -> None:
    for name, secret, tolerance in (("C1", "income", "10%"), ("C2", "band", "1")):
        golden, path = case(name)
        expected = golden["expect"]
        known = ("-q", "sex", "-q", "town")
        content = answer(
            glasshouse, path, *known, "-s", secret, "--within", f"{secret}={tolerance}"
        )
        (close,) = content["close"]
        assert (close["sensitive"], close["within"], close["records"]) == (secret, tolerance, 10)
        assert len(close["subsets"]) == 3
        exactly(
            close["subsets"][-1],
            close_prior=expected["close before"],
            close_posterior=expected["close by guessing"],
            certain_posterior=expected["close with certainty"],
            off_prior=expected["off before"],
            off_posterior=expected["off"],
        )
        run = gh.assess(
            pa.table(golden["table"]),
            quasi_identifiers=["sex", "town"],
            sensitive=[secret],
            within={secret: tolerance},
        )
        (outcome,) = run.outcome.close
        assert str(outcome.guess().posterior) == expected["close by guessing"]
        assert str(outcome.mean_error()[1]) == expected["off"]


def test_a_question_about_a_column_is_a_secret(
    glasshouse: Glasshouse, case: Callable[[str], tuple[Case, Path]]
) -> None:
    golden, path = case("C2")
    expected = golden["expect"]
    questions = ("income>1999", "income>1100")
    asked = [word for question in questions for word in ("-s", question)]
    content = answer(glasshouse, path, "-q", "sex", "-q", "town", *asked, "--subsets", "full")
    for result in content["results"][1:]:
        question = result["sensitive"]
        exactly(
            result["probabilistic"],
            prior=expected[f"{question} before"],
            posterior=expected[f"{question} by guessing"],
        )


def test_codes_that_begin_alike_are_one_answer(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "ill.csv"
    path.write_text("sex,icd\nF,F32\nF,F41\nM,I10\nM,\n")
    (_, result) = answer(glasshouse, path, "-q", "sex", "-s", "icd=F*", "--subsets", "full")[
        "results"
    ]
    exactly(result["probabilistic"], prior="2/3", posterior="1")
    assert result["deterministic"]["records"] == 3


def test_close_guesses_are_told_in_both_languages(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    rows = [("FM"[i % 2], "ABC"[i % 3], 1000 + 37 * (i * i % 50)) for i in range(60)]
    path.write_text("sex,town,income\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    for language, phrases in (
        (
            "en",
            (
                "guesses the income within 10% in",
                "Guesses that need only be close",
                "best estimate",
            ),
        ),
        ("pt-BR", ("com erro de até 10% em", "só precisam chegar perto", "melhor estimativa")),
    ):
        folder = tmp_path / language
        outcome = glasshouse(
            *("--lang", language, "assess", path, "-q", "sex", "-q", "town", "-s", "income"),
            *("--within", "income=10%", "--out", folder),
        )
        assert outcome.code == 0, outcome.error
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert all(phrase in page for phrase in phrases)


PEOPLE = {
    "A1": ("owner", 1, ("hint",), "sensitive"),
    "A2": ("uid", 2, ("place",), None),
    "A3": ("uid", 3, ("place",), None),
    "A4": ("cpf", 1, ("clinic", "day"), "any icd=F*"),
    "A5": ("cpf", 2, ("clinic", "day"), "any icd=F*"),
}
"""By case: whose a record is, how many are known, what of them, and a secret of the person."""


@pytest.mark.parametrize("name", PEOPLE)
def test_people_with_several_records_come_out_exactly(
    glasshouse: Glasshouse, case: Callable[[str], tuple[Case, Path]], name: str
) -> None:
    golden, path = case(name)
    expected = golden["expect"]
    person, known, facts, secret = PEOPLE[name]
    asked = [word for fact in facts for word in ("-q", fact)]
    asked += [] if secret is None else ["-s", secret]
    content = answer(glasshouse, path, "--person", person, "--knows", str(known), *asked)
    assert [result["events"] for result in content["results"]] == [*range(1, known + 1)]
    result = content["results"][-1]
    naming = result["naming"]
    assert result["exact"]
    assert result["targets"] == expected["people"]
    exactly(
        naming,
        before=expected["naming before"],
        guessing=expected["naming by guessing"],
        certain=expected["naming with certainty"],
        evenly=expected["naming, guessing evenly among those who fit"],
        luckiest=expected["naming, her luckiest events"],
        unluckiest=expected["naming, her unluckiest events"],
    )
    for extreme in ("some", "any"):
        share = Fraction(naming[f"{extreme}_events_single_out"], result["targets"])
        assert str(share) == expected[f"people whom {extreme} m events single out"]
    if secret is not None:
        (learned,) = result["secrets"]
        exactly(
            learned,
            before=expected["secret before"],
            guessing=expected["secret by guessing"],
            certain=expected["secret with certainty"],
        )
    alone = "without the pseudonym, at least one of the two visits is the only such record"
    if alone in expected:
        exactly(result["unlinked"], certain=expected[alone])
    run = gh.assess(
        pa.table(golden["table"]),
        person=person,
        knows=known,
        quasi_identifiers=facts,
        sensitive=[] if secret is None else [secret],
    )
    assert str(run.outcome.results[-1].guessing.posterior) == expected["naming by guessing"]


def test_the_risks_that_scikit_mobility_prints(
    case: Callable[[str], tuple[Case, Path]],
) -> None:
    """LocationAttack(2) on its own example: of each person, 1 / the fewest people who have two of her places."""
    golden, path = case("A2")
    run = gh.assess(path, person="uid", knows=2, quasi_identifiers=["place"])
    risks = map(Fraction, golden["expect"]["luckiest per person"].values())
    assert run.outcome.results[-1].luckiest == sum(risks, Fraction(0)) / 7


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Sixty people with one to four visits each."""
    path = tmp_path / "visits.csv"
    rows = [
        (who, (7 * who + 3 * turn) % 11, (5 * who * turn) % 13, "FIJ"[(who * turn) % 3])
        for who in range(60)
        for turn in range(1 + who % 4)
    ]
    path.write_text(
        "pseudonym,clinic,day,icd\n" + "".join(f"{a},{b},{c},{d}10\n" for a, b, c, d in rows)
    )
    return path


def test_a_report_on_people_keeps_its_sayings_apart_in_both_languages(
    glasshouse: Glasshouse, visits: Path, tmp_path: Path
) -> None:
    for language, phrases in (
        (
            "en",
            (
                *("happens to know the clinic and day of 2 records", "give them away"),
                *("any 2 of their", "The price of the pseudonym"),
                "among the 45 people who have that many",
            ),
        ),
        (
            "pt-BR",
            (
                "por acaso conhece",
                "expõem a pessoa",
                "registros quaisquer",
                "O preço do pseudônimo",
            ),
        ),
    ):
        folder = tmp_path / language
        outcome = glasshouse(
            *("--lang", language, "assess", visits, "--person", "pseudonym", "-q", "clinic"),
            *("-q", "day", "-s", "any icd=F*", "--out", folder),
        )
        assert outcome.code == 0, outcome.error
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert all(phrase in page for phrase in phrases)
        frame = pyarrow.parquet.read_table(folder / "results.parquet")
        assert frame["targets"].to_pylist() == [60, 45, 30, 15]


def test_what_another_record_says_is_told_of_those_who_have_one(
    glasshouse: Glasshouse, visits: Path
) -> None:
    asked = ("assess", visits, "--person", "pseudonym", "-q", "clinic", "-s", "other icd")
    for language, phrase in (
        ("en", "says about icd is guessed right in"),
        ("pt-BR", "entre 30 pessoas que têm mais registros"),
    ):
        outcome = glasshouse("--lang", language, *asked, "--knows", "2")
        assert outcome.code == 0, outcome.error
        assert phrase in " ".join(outcome.out.split())
    content = answer(glasshouse, *asked[1:])
    learned = [result["secrets"] for result in content["results"]]
    assert [[one["targets"] for one in every] for every in learned] == [[45], [30], [15], []]
    refused = glasshouse(*asked, "--knows", "all")
    assert refused.code == 2
    assert "someone who knows all records of a person knows of no other" in refused.error


def test_a_pseudonym_that_repeats_points_to_person(
    glasshouse: Glasshouse, visits: Path, tmp_path: Path
) -> None:
    for language, phrase in (
        ("en", "--person pseudonym shows what someone who knows several records"),
        ("pt-BR", "--person pseudonym mostra o que descobre quem conhece vários registros"),
    ):
        looked = glasshouse("--lang", language, "inspect", visits)
        assert phrase in " ".join(looked.out.split())
        asked = ("--lang", language, "assess", visits, "-q", "clinic", "--overwrite")
        plain = glasshouse(*asked, "--out", tmp_path / "run")
        assert phrase in " ".join(plain.error.split())
        assert phrase in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
        people = glasshouse(*asked, "--person", "pseudonym", "--out", tmp_path / "run")
        assert phrase not in people.error + people.out
        assert phrase not in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_a_report_tells_nothing_of_few_people(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    rows = [(who, turn) for who in range(30) for turn in range(1 if who < 27 else 2)]
    path.write_text("who,place\n" + "".join(f"{who},{turn}\n" for who, turn in rows))
    outcome = glasshouse("assess", path, "--person", "who", "-q", "place", "--knows", "2")
    assert outcome.code == 0, outcome.error
    assert "Fewer than 10 people have that many records" in outcome.out
    assert "fewer than 10" in outcome.out


RULE = """name = "visits"
[[conditions]]
measure = "named"
at_most = 0.5
records = 2
[[conditions]]
measure = "some-records"
at_most = 0.9
records = 2
[[conditions]]
measure = "any-records"
at_most = 0.9
records = 2
[[conditions]]
measure = "best-guess"
at_most = 1
"""


def test_a_policy_asks_by_how_many_records_are_known(
    glasshouse: Glasshouse, visits: Path, tmp_path: Path
) -> None:
    rule, run = tmp_path / "rule.toml", tmp_path / "run"
    rule.write_text(RULE)
    asked = ("--person", "pseudonym", "-q", "clinic", "-q", "day", "--knows", "2")
    results = answer(glasshouse, visits, *asked, "--out", run)["results"]
    verdict = json.loads(glasshouse("check", run, "--policy", rule, "--json").out)
    unseen, *of_people = verdict["conditions"]
    named, some, every, guess = of_people
    assert unseen["measure"] == "columns-not-looked-at"
    assert named["value"] == results[1]["naming"]["certain"]
    assert [entry["records"] for entry in of_people] == [2, 2, 2, 2]
    assert [entry["people"] for entry in of_people] == ["45"] * 4
    assert guess["value"] == max(result["naming"]["guessing"] for result in results)
    assert named["value"] <= some["value"]
    assert (every["value"], every["is_bound"]) == (
        1.0,
        True,
    )  # all but few: that would tell how few
    for language, phrases in (
        ("en", ("happens to know 2", "some of their records", "any of their records", "45 people")),
        ("pt-BR", ("por acaso conhece 2", "alguns dos seus", "quaisquer dos seus", "45 pessoas")),
    ):
        file = tmp_path / f"{language}.xml"
        glasshouse("--lang", language, "check", run, "--policy", rule, "--junit", file)
        assert all(phrase in file.read_text(encoding="utf-8") for phrase in phrases)
    rule.write_text(RULE.replace("records = 2", "records = 3"))
    refused = glasshouse("check", run, "--policy", rule)
    assert refused.code == 2
    assert "who knows 3 records of a person, and up to 2 were assessed" in refused.error


def test_a_verdict_tells_nothing_of_few_people(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path, rule, run = tmp_path / "few.csv", tmp_path / "rule.toml", tmp_path / "run"
    rows = [(who, turn) for who in range(30) for turn in range(1 if who < 27 else 2)]
    path.write_text("who,place\n" + "".join(f"{who},{turn}\n" for who, turn in rows))
    rule.write_text(RULE)
    asked = ("--person", "who", "-q", "place", "--knows", "2")
    answer(glasshouse, path, *asked, "--out", run, "--policy", rule)
    verdict = json.loads(glasshouse("check", run, "--json").out)
    of_people = [entry for entry in verdict["conditions"] if entry.get("records") == 2]
    assert of_people
    for entry in of_people:
        assert (entry["value"], entry["is_bound"], entry["people"]) == (1.0, True, "")


def test_a_policy_asks_how_close_guesses_come(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path, rule, run = tmp_path / "pay.csv", tmp_path / "rule.toml", tmp_path / "run"
    rows = [("FM"[i % 2], "ABC"[i % 3], 1000 + 37 * (i * i % 50)) for i in range(60)]
    path.write_text("sex,town,income\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    rule.write_text(
        'name = "pay"\n'
        '[[conditions]]\nmeasure = "close-added"\nat_most = 0.01\nof = "income"\n'
        '[[conditions]]\nmeasure = "close-added"\nat_most = 0.5\nknows = 1\n'
        '[[conditions]]\nmeasure = "close-certain"\nat_most = 0.5\n'
    )
    asked = (path, "-q", "sex", "-q", "town", "-s", "income", "--within", "income=10%")
    (close,) = answer(glasshouse, *asked, "--out", run)["close"]
    verdict = json.loads(glasshouse("check", run, "--policy", rule, "--json").out)
    unseen, whole, one_fact, certain = verdict["conditions"]
    assert (unseen["measure"], unseen["value"]) == ("columns-not-looked-at", 0)
    figures = close["subsets"]
    assert whole["value"] == pytest.approx(figures[-1]["close_additive"])
    assert one_fact["value"] == pytest.approx(max(row["close_additive"] for row in figures[:2]))
    assert certain["value"] == figures[-1]["certain_posterior"]
    assert [entry["met"] for entry in verdict["conditions"]] == [True, False, True, True]
    house = json.loads(glasshouse("check", run, "--policy", "open-data", "--json").out)
    assert {"close-added", "close-certain"} <= {entry["measure"] for entry in house["conditions"]}


def test_without_a_pseudonym_only_records_are_singled_out(
    glasshouse: Glasshouse, visits: Path
) -> None:
    asked = ("--person", "pseudonym", "-q", "clinic", "-q", "day", "-s", "icd", "--unlinked")
    content = answer(glasshouse, visits, *asked)
    assert content["unlinked"]
    assert [entry["sensitive"] for entry in content["one_record"]] == [None, "icd"]
    linked = answer(glasshouse, visits, *asked[:-3])
    for one, other in zip(content["results"], linked["results"], strict=True):
        assert one["unlinked"] == other["unlinked"]
        assert one["unlinked"]["certain"] <= other["naming"]["certain"]


def test_a_secret_that_differs_between_records_is_the_most_frequent_and_that_is_said(
    glasshouse: Glasshouse, visits: Path
) -> None:
    asked = ("--person", "pseudonym", "-q", "clinic")
    plain = glasshouse("assess", visits, *asked, "-s", "icd", "--json")
    assert '"icd" differs between the records of a person' in plain.error
    named = glasshouse("assess", visits, *asked, "-s", "most icd", "--json")
    assert (plain.code, plain.out) == (0, named.out)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--knows", "5"), "nobody has 5 records: the longest history has 4"),
        (("--knows", "0"), "neither a number from 1 to 20 nor all"),
        (("--knows", "some"), "neither a number from 1 to 20 nor all"),
        (("-s", "any icd"), "is not of the form"),
        (("-s", "sum icd"), "is not a number"),
        (("-s", "any ycd=F*"), "ycd"),
        (("-s", "count", "--unlinked"), "a secret of all records of a person"),
        (("--prior-weight", "day"), "leave out --prior-weight"),
        (("--within", "icd=1", "-s", "icd"), "leave out --within"),
        (("-q", "pseudonym"), "says whose a record is"),
        (("--per-record", "r.parquet"), "--per-record is about records"),
    ],
)
def test_what_cannot_be_asked_of_people_is_refused_in_one_line(
    glasshouse: Glasshouse, visits: Path, tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    outcome = glasshouse(
        *("assess", visits, "--person", "pseudonym", "-q", "clinic", *arguments),
        *("--out", tmp_path / "run"),
    )
    assert outcome.code == 2
    assert why in outcome.error
    assert len(outcome.error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_knowing_records_of_a_person_needs_to_be_told_whose_they_are(
    glasshouse: Glasshouse, visits: Path
) -> None:
    outcome = glasshouse("assess", visits, "-q", "clinic", "--knows", "2")
    assert outcome.code == 2
    assert "--knows is about the records of one person; say with --person" in outcome.error


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-s", "pay", "--within", "pay=100%"), "a guess of 0 is always close"),
        (("-s", "pay", "--within", "pay=much"), "neither a share such as pay=10%"),
        (("-s", "pay", "--within", "pay=-1"), "neither a share such as pay=10%"),
        (("-s", "pay", "--within", "icd=1"), 'given for "icd", which is not a secret'),
        (("-s", "icd", "--within", "icd=1"), 'in column "icd" is not a number'),
        (("-s", "pay", "--within", "pay=1", "--prior-weight", "w"), "leave out --prior-weight"),
        (("-s", "sex=F"), 'about "sex", which she knows'),
        (("-s", "icd>F"), "is a number, or a date"),
        (("-s", "ycd=F*"), "ycd"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(
    glasshouse: Glasshouse, tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,pay,icd,w\nF,10,F32,1\nM,20,I10,1\n")
    outcome = glasshouse("assess", path, "-q", "sex", *arguments, "--out", tmp_path / "run")
    assert outcome.code == 2
    assert why in outcome.error
    assert len(outcome.error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


INEXACT: dict[str, tuple[list[str], str, dict[str, Any]]] = {
    "B1": (["sex", "age"], "ill", {"about": {"age": "±2"}}),
    "B2": (["sex", "postcode"], "ill", {"about": {"postcode": "90%"}}),
    "B3": (["age", "gender"], "disability", {"likely": {"age": "50%", "gender": "90%"}}),
}


@pytest.mark.parametrize("name", INEXACT)
def test_knowledge_that_is_not_exact_comes_out_exactly(
    glasshouse: Glasshouse, case: Callable[[str], tuple[Case, Path]], name: str
) -> None:
    known, secret, how = INEXACT[name]
    golden, path = case(name)
    expected = golden["expect"]
    said = [
        part
        for option, by_column in how.items()
        for column, written in by_column.items()
        for part in (f"--{option}", f"{column}={written.replace('±', '+-')}")
    ]
    asked = [part for column in known for part in ("-q", column)]
    content = answer(glasshouse, path, *asked, "-s", secret, *said)["inexact"]
    outcome = gh.assess(
        pa.table(golden["table"]), quasi_identifiers=known, sensitive=[secret], **how
    ).outcome.inexact
    for place, aim in enumerate(("naming", "secret")):
        entry, target = content["targets"][place], outcome.targets[place]
        chances = target.mixed or target.chances(outcome.whole)
        for kind, words in ((0, "by guessing"), (1, "with certainty")):
            assert str(chances[kind]) == expected[f"{aim} {words}"]
        if (before := expected.get(f"{aim} before")) is not None:
            assert str(target.before[0]) == before
            exactly(entry, prior=before)
        exactly(
            entry["likely"] if "likely" in how else entry["subsets"][-1],
            posterior=expected[f"{aim} by guessing"],
            certain=expected[f"{aim} with certainty"],
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--about", "town=±2"), '"A" in column "town" is not a number'),
        (("--about", "age=±2d"), "is not a date"),
        (("--about", "age=2"), '--about "age=2" is none of age=±2'),
        (("--about", "town=120%"), "say one from 0% to 100%"),
        (("--about", "income=±2"), 'is given for "income", which is nothing that she knows'),
        (("--about", "town=@none.csv"), "none.csv"),
        (("--about", "town=@kernel.csv"), 'the chances of "A" add up to 3/2, not to 1'),
        (("--about", "age=±2", "--prior-weight", "income"), "leave out --prior-weight"),
        (("--likely", "age=130%"), "is not a chance"),
        (("--likely", "nobody=50%"), "nothing that she knows"),
        (("--person", "income", "--about", "age=±2"), "leave out --about"),
        (("-s", "any income=1"), "is asked of all records of a person; say with --person"),
        (("-s", "most income"), "is asked of all records of a person; say with --person"),
    ],
)
def test_what_is_known_in_no_such_way_is_said_in_one_line(
    glasshouse: Glasshouse,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,town,income\n30,A,1\n31,B,2\n")
    Path("kernel.csv").write_text("is,A,B\nA,1,0.5\nB,0,1\n")
    asked = ("-q", "age", "-q", "town", *options, "--out", "run")
    outcome = glasshouse("assess", "people.csv", *asked)
    assert outcome.code == 2
    assert message in outcome.error
    assert len(outcome.error.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernel.csv", "people.csv"]


def test_a_rule_can_judge_who_does_not_know_all_exactly(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path, rule = tmp_path / "people.csv", tmp_path / "rule.toml"
    path.write_text("age,ill\n" + "".join(f"{20 + 2 * i},{'yn'[i % 2]}\n" for i in range(40)))
    names = ("named-inexactly", "best-guess-inexactly")
    secret = ("inference-added-inexactly", "inference-certain-inexactly")
    conditions = "".join(
        f'[[conditions]]\nmeasure = "{name}"\nat_most = 0.5\n' for name in (*names, *secret)
    )
    rule.write_text('name = "in doubt"\n' + conditions)
    folder = tmp_path / "run"
    asked = (path, "-q", "age", "-s", "ill", "--about", "age=±5", "--policy", rule)
    assert glasshouse("assess", *asked, "--out", folder).code == 0
    outcome = glasshouse("check", folder, "--policy", rule, "--json")
    judged = {
        entry["measure"]: (entry["of"], entry["value"])
        for entry in json.loads(outcome.out)["conditions"]
    }
    guess = Fraction(11 + 39 * 2, 40 * 11)  # every record has two values that nobody below it has
    assert judged["best-guess-inexactly"] == (None, float(guess))
    assert judged["named-inexactly"] == (None, float(Fraction(4, 40 * 11)))  # at the ends
    near = [
        Counter("yn"[i % 2] for i in range(40) if abs(20 + 2 * i - said) <= 5)
        for said in range(15, 104)
    ]
    right = Fraction(sum(max(ill.values()) for ill in near), 40 * 11)
    assert judged["inference-added-inexactly"] == ("ill", float(right - Fraction(1, 2)))
    assert judged["inference-certain-inexactly"] == ("ill", float(Fraction(4, 40 * 11)))
    assert set(judged) == {"columns-not-looked-at", *names, *secret}


def test_inexact_knowledge_is_told_in_both_languages(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    rows = [("FM"[i % 2], 20 + i * i % 50, "ABC"[i % 3], "yn"[i % 5 > 1]) for i in range(60)]
    path.write_text("sex,age,town,ill\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    for language, phrases in (
        (
            "en",
            (
                "but age only within 2 and town rightly in only 90% of cases, is nearly sure",
                "Knowledge that is not exact",
                "Knowing all of it exactly",
            ),
        ),
        (
            "pt-BR",
            (
                "mas age só com erro de até 2 e town corretamente só em 90% dos casos, está quase certo",
                "Conhecimento que não é exato",
                "Sabendo tudo isso com exatidão",
            ),
        ),
    ):
        folder = tmp_path / language
        known = ("-q", "sex", "-q", "age", "-q", "town", "-s", "ill")
        said = ("--about", "age=±2", "--about", "town=90%", "--out", folder)
        outcome = glasshouse("--lang", language, "assess", path, *known, *said)
        assert outcome.code == 0, outcome.error
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert all(phrase in page for phrase in phrases)


def test_a_study_keeps_where_the_chances_are(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("town,ill\nA,y\nB,n\nB,y\n")
    Path("kernel.csv").write_text("is,A,B\nA,1,0\nB,1/4,3/4\n")
    asked = ("people.csv", "-q", "town", "-s", "ill", "--about", "town=@kernel.csv")
    outcome = glasshouse("assess", *asked, "--out", "run")
    assert outcome.code == 0, outcome.error
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    content = answer(glasshouse, "--study", tmp_path / "run" / "study.toml")["inexact"]
    assert content["about"] == {"town": "@kernel.csv"}
    # of A and the two of B, A is held by all, with 1, 1/4 and 1/4; B by two, with 3/4 each
    exactly(content["targets"][0]["subsets"][-1], posterior="7/12", certain="0")


def test_where_nobody_is_given_away_it_is_said_so(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("who,place\n" + "".join(f"p{i % 40},{i % 2}\n" for i in range(80)))
    out = " ".join(glasshouse("assess", path, "--person", "who", "-q", "place").out.split())
    assert "Nobody is given away by 2 of their records." in out
    assert "price of the pseudonym" not in out
    assert "0% of people" not in out


def test_a_missing_secret_is_no_more_learned_with_person_than_without(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    """Of one record each, in either place ten tell the secret, all the same one, and forty do not."""
    rows = [
        (place, secret if row < 10 else "") for place, secret in ("Ay", "Bn") for row in range(50)
    ]
    lines = [f"p{row},{place},{secret}" for row, (place, secret) in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join(["p,q,ill", *lines]) + "\n")
    plain = (tmp_path / "t.csv", "-q", "q", "-s", "ill")
    by_person = ("--person", "p", "--knows")
    for further in ((), (*by_person, "1"), (*by_person, "1", "--unlinked"), (*by_person, "all")):
        told = answer(glasshouse, *plain, *further)
        judged = {one["measure"]: one for one in told["verdict"]["conditions"]}
        assert judged["inference-added"]["value"] == 0.5, further
        assert judged["inference-certain"]["value"] == 1, further
        assert not judged["inference-certain"]["met"], further
        assert told["missing"] == {"ill": 80}
        told = answer(glasshouse, *plain, *further, "--missing-is-a-value")
        judged = {one["measure"]: one for one in told["verdict"]["conditions"]}
        assert judged["inference-added"]["value"] == 0, further
        assert "missing" not in told


def test_a_secret_that_few_people_tell_is_not_told(glasshouse: Glasshouse, tmp_path: Path) -> None:
    lines = [f"p{row},{'AB'[row % 2]},{'xy'[row % 2] if row < 4 else ''}" for row in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["p,q,ill", *lines]) + "\n")
    for how in (("--knows", "1"), ("--knows", "1", "--unlinked")):
        said = glasshouse(
            "assess", tmp_path / "t.csv", "-q", "q", "-s", "ill", "--person", "p", *how
        )
        assert said.code == 0, said.error
        told, _, judged = said.out.partition("\n✗ ")
        assert "of ill" not in told.partition("is missing")[2].partition("alone")[2]
        assert "100%" not in told
        figures = re.findall(r"(\S+ \S+) 100(?:\.0)?(?:%| points)", " ".join(judged.split()))
        assert figures, "what is not told is judged on the safe side"
        assert set(figures) == {"up to"}


@pytest.mark.parametrize(
    ("language", "change", "untold"),
    [
        (
            "en",
            r"Found with certainty: (?:about )?([\d.]+)%, with all of their records → ([\d.]+)%, with one of them\.",
            "The effect is not computed here",
        ),
        (
            "pt-BR",
            r"Encontrados com certeza: (?:cerca de )?([\d,]+)%, com todos os seus registros → ([\d,]+)%, "
            r"com um deles\.",
            "O efeito disso não é calculado aqui",
        ),
    ],
)
def test_leaving_out_the_pseudonym_is_advised_with_what_it_gives_and_whether_it_can_be_enough(
    glasshouse: Glasshouse,
    visits: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    change: str,
    untold: str,
) -> None:
    """The advice is carried out: the command that it names gives its figure, and the rule is not met, as it says."""
    monkeypatch.chdir(visits.parent)
    known = ("--person", "pseudonym", "-q", "clinic", "-q", "day", "--knows", "2")
    asked = ("assess", visits, *known, "-s", "any icd=F*", "--lang", language)
    assert glasshouse(*asked, "--out", tmp_path / "run").code == 0
    content = (tmp_path / "run" / "report.json").read_text(encoding="utf-8")
    page = from_json(content, "report")[language]
    leave, coarsen = page.actions
    assert untold in coarsen.sentence
    told = re.fullmatch(change, leave.change)
    assert told is not None, leave.change
    assert leave.meets is False
    assert [tile.figure for tile in page.tiles][-1] == f"{told[2]}%"
    assert len(page.tiles) == 3
    words = shlex.split(leave.command)
    assert words[-1] == "--unlinked"
    done = json.loads(glasshouse(*words[1:], "--json").out)
    (share,) = [one["unlinked"]["certain"] for one in done["results"] if one["events"] == 2]
    assert float(told[2].replace(",", ".")) == pytest.approx(100 * share, abs=0.05)
    assert glasshouse("check", *words[2:]).code == 4
