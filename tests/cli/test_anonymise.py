"""``anonymise``: from a file to a protected release that keeps what it promises."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from glasshouse.mitigation import assess_randomised, noise, retention
from glasshouse.table import read
from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse

PEOPLE = {
    "id": [str(i) for i in range(12)],
    "age": ["21", "22", "23", "24", "31", "32", "33", "34", "41", "42", "43", "44"],
    "sex": ["F", "M"] * 6,
    "ill": ["flu", "hiv", "flu", "flu", "hiv", "flu", "cold", "flu", "flu", "cold", "flu", "hiv"],
}
KNOWN = ("-q", "age", "-q", "sex")


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("people.csv", PEOPLE)


def released(folder: str) -> list[dict[str, str]]:
    with Path(folder, "release.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian"])
def test_every_released_class_has_k_records(glasshouse: Glasshouse, recoding: str) -> None:
    arguments = ("people.csv", *KNOWN, "-s", "ill", "--id", "id", "--k", 3, "--recoding", recoding)
    outcome = glasshouse("anonymise", *arguments, "--keep-order", "--out", "run")
    assert outcome.code == 0, outcome.error
    rows = released("run")
    assert len(rows) == 12
    assert "id" not in rows[0], "the identifier is not released"
    assert min(Counter((row["age"], row["sex"]) for row in rows).values()) >= 3
    assert [row["ill"] for row in rows] == PEOPLE["ill"], "sensitive values stay"
    assert "Nothing was written" not in outcome.out
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert manifest["release"] == "release.csv"
    assert manifest["method"] == "k-anonymity"
    again = glasshouse("anonymise", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    for name in ("release.csv", "results.parquet"):
        assert Path("again", name).read_bytes() == Path("run", name).read_bytes()


def test_levels_that_are_given_are_those_of_the_release(glasshouse: Glasshouse) -> None:
    arguments = (
        "anonymise",
        "people.csv",
        *KNOWN,
        "-s",
        "ill",
        "--hierarchy",
        "age=intervals:10,20",
    )
    fixed = ("--level", "age=1", "--level", "sex=0", "--k", 1)
    outcome = glasshouse(*arguments, *fixed, "--keep-order", "--out", "run")
    assert outcome.code == 0, outcome.error
    rows = released("run")
    assert [row["age"] for row in rows] == ["20-29"] * 4 + ["30-39"] * 4 + ["40-49"] * 4
    assert [row["sex"] for row in rows] == PEOPLE["sex"]
    again = glasshouse("anonymise", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    assert released("again") == rows
    refused = glasshouse(*arguments, "--level", "age=1.5", "--k", 1)
    assert refused.code == 2
    missing = glasshouse(*arguments, "--level", "agee=1", "--k", 1)
    assert '--level agee: column "agee"' in missing.error
    local = glasshouse(*arguments, "--level", "age=1", "--k", 2, "--recoding", "local")
    assert "--level says nothing without --recoding global" in local.error


def test_a_release_holds_what_it_should_in_random_order(glasshouse: Glasshouse) -> None:
    write("people.csv", PEOPLE | {"note": [f"n{i}" for i in range(12)], "pay": ["9"] * 12})
    arguments = ("anonymise", "people.csv", *KNOWN, "-s", "ill", "--k", 3, "--where", "pay=9")
    outcome = glasshouse(*arguments, "--out", "run")
    assert outcome.code == 0, outcome.error
    assert "columns not released: id, note, pay" in " ".join(outcome.out.split())
    rows = released("run")
    assert list(rows[0]) == ["age", "sex", "ill"], "what chooses records is not released"
    assert [row["ill"] for row in rows] != PEOPLE["ill"]
    assert sorted(row["ill"] for row in rows) == sorted(PEOPLE["ill"])
    assert glasshouse(*arguments, "--keep", "pay", "--out", "kept").code == 0
    assert list(released("kept")[0]) == ["age", "sex", "ill", "pay"]
    secret = glasshouse(*arguments, "--seed", 424242, "--out", "seeded")
    assert secret.code == 0
    assert [row["ill"] for row in released("seeded")] != [row["ill"] for row in rows]
    assert "424242" not in Path("seeded/report.html").read_text()


def test_what_marks_suppression_is_no_value(glasshouse: Glasshouse) -> None:
    write("stars.csv", PEOPLE | {"sex": ["*", "M"] * 6})
    outcome = glasshouse("anonymise", "stars.csv", *KNOWN, "--k", 3)
    assert outcome.code == 2
    assert 'column "sex" holds "*"' in outcome.error


def test_the_loss_is_the_same_measure_whatever_was_made_least(glasshouse: Glasshouse) -> None:
    losses = {}
    for objective in ("loss", "discernibility"):
        arguments = ("people.csv", *KNOWN, "--k", 6, "--objective", objective, "--json")
        document = json.loads(glasshouse("anonymise", *arguments).out)
        losses[objective] = document["loss"]
        assert document["loss"] == document["quality"]["loss"]
        assert ("objective" in document) == (objective != "loss")
    assert losses["loss"] <= losses["discernibility"]


def test_the_outcome_as_json(glasshouse: Glasshouse) -> None:
    outcome = glasshouse("anonymise", "people.csv", *KNOWN, "-s", "ill", "--k", 3, "--json")
    document = json.loads(outcome.out)
    assert document["method"] == "k-anonymity"
    assert document["parameters"]["k"] == 3
    assert set(document["heights"]) == {"age", "sex"}
    assert document["suppressed"] == 0
    assert document["optimal"] is True
    assert document["attained"]["k"] >= 3
    assert document["attained"]["classes"] == document["classes"]
    assert document["before"][0]["deterministic"]["posterior"] == 1
    assert document["after"][0]["deterministic"]["posterior"] == 0


def test_a_release_is_assessed_by_its_folder(glasshouse: Glasshouse) -> None:
    made = glasshouse("anonymise", "people.csv", *KNOWN, "-s", "ill", "--k", 3, "--out", "run")
    assert made.code == 0, made.error
    outcome = glasshouse("assess", "run", "--subsets", "full", "--json")
    assert outcome.code == 0, outcome.error
    naming, inferring = json.loads(outcome.out)["results"]
    assert naming["quasi_identifiers"] == ["age", "sex"]
    assert naming["uniques"] == 0
    assert inferring["sensitive"] == "ill"


def test_suppressed_records_are_no_class(glasshouse: Glasshouse) -> None:
    lonely = {name: [*values, "9"] for name, values in PEOPLE.items()}
    write("lonely.csv", lonely | {"age": [*["20"] * 12, "90"], "sex": [*["F"] * 12, "M"]})
    options = ("--k", 3, "--suppression", 0.1, "--out", "run")
    made = glasshouse("anonymise", "lonely.csv", *KNOWN, "-s", "ill", *options)
    assert made.code == 0, made.error
    assert json.loads(Path("run/manifest.json").read_text())["suppressed"] == 1
    document = json.loads(glasshouse("assess", "run", "--subsets", "full", "--json").out)
    assert document["records"] == 12
    assert document["treatment"] == [
        {
            "dataset": "release.csv",
            "what": "suppressed",
            "column": None,
            "before": 13,
            "left_out": 1,
            "after": 12,
        }
    ]
    assert document["results"][0]["uniques"] == 0
    _, protected = json.loads(glasshouse("compare", "run", "--json").out)["releases"]
    assert (protected["suppressed"], protected["classes"]) == (1, 1)


def test_a_release_of_anatomy_is_assessed_by_its_groups(glasshouse: Glasshouse) -> None:
    write("balanced.csv", PEOPLE | {"ill": ["a", "b", "c"] * 4})
    arguments = ("balanced.csv", *KNOWN, "-s", "ill", "--method", "anatomy", "--l", 3)
    assert glasshouse("anonymise", *arguments, "--out", "run").code == 0
    document = json.loads(glasshouse("assess", "run", "--subsets", "full", "--json").out)
    naming, inferring = document["results"]
    assert naming["quasi_identifiers"] == ["age", "sex"]
    assert naming["uniques"] == 12, "Anatomy publishes the quasi-identifiers as they are"
    assert inferring["quasi_identifiers"] == ["group"]
    assert inferring["probabilistic"]["posterior"] <= 1 / 3
    _, protected = json.loads(glasshouse("compare", "run", "--json").out)["releases"]
    assert protected["highest_risk"] == 1
    refused = glasshouse("assess", "run", "-q", "age")
    assert refused.code == 2
    assert "leave out -q" in refused.error


def test_anatomy_parts_what_is_known_from_what_is_sensitive(glasshouse: Glasshouse) -> None:
    write("balanced.csv", PEOPLE | {"ill": ["a", "b", "c"] * 4})
    arguments = ("balanced.csv", *KNOWN, "-s", "ill", "--method", "anatomy", "--l", 3)
    outcome = glasshouse("anonymise", *arguments, "--out", "run")
    assert outcome.code == 0, outcome.error
    assert Path("run/quasi_identifiers.csv").exists()
    assert Path("run/sensitive.csv").exists()
    groups: dict[str, list[str]] = {}
    for row in released("run"):
        groups.setdefault(row["group"], []).append(row["ill"])
    assert all(len(set(values)) == len(values) >= 3 for values in groups.values())


def test_the_best_recoding_of_adult_is_found(
    glasshouse: Glasshouse, shared: Callable[[str], Path]
) -> None:
    golden = json.loads(shared("golden/mitigation.json").read_text())
    best = golden["global_recoding"]["k5_s0.04"]
    known = [part for name in golden["meta"]["qids"] for part in ("-q", name)]
    files = [
        part
        for name in golden["meta"]["qids"]
        for part in ("--hierarchy", f"{name}={shared(f'data/arx/adult_hierarchy_{name}.csv')}")
    ]
    outcome = glasshouse(
        "anonymise", shared("data/arx/adult.csv"), *known, "-s", "occupation", *files,
        "--k", 5, "--suppression", 0.04, "--json",
    )  # fmt: skip
    document = json.loads(outcome.out)
    assert document["heights"] == best["optimum"]["levels"]
    assert document["suppressed"] == best["classes"]["suppressed_records"]
    assert document["classes"] == best["classes"]["classes"]
    assert document["loss"] == pytest.approx(best["optimum"]["score_lowest"], abs=1e-9)
    assert document["quality"]["granularity"] == pytest.approx(
        golden["quality"]["k5_s0.04"]["granularity"], abs=1e-8
    )


BAD = {
    "no promise": ((), "say what to promise"),
    "no k": (("--method", "k-anonymity"), "k-anonymity needs --k"),
    "c alone": (("--k", 3, "--c", 2), "--c says nothing without"),
    "kind of nothing": (("--k", 3, "--closeness", "ordered"), "--closeness says nothing without"),
    "effort for nothing": (
        ("--k", 3, "--effort", "fast"),
        "--effort says nothing without --recoding",
    ),
    "part of a value": (("--l", 2.5, "-s", "ill"), "only --diversity entropy takes others"),
    "part of a value of Anatomy": (
        ("--method", "anatomy", "--l", 1.5, "-s", "ill"),
        "1.5 is not a whole number",
    ),
    "less than a value": (
        ("--l", 0.5, "-s", "ill", "--diversity", "entropy"),
        "should be at least 1, not 0.5",
    ),
    "order of nothing": (
        ("--t", 0.5, "-s", "ill", "--order", "ill=flu,cold,hiv"),
        "--order says nothing without --closeness ordered",
    ),
    "order of another": (
        ("--t", 0.5, "-s", "ill", "--closeness", "ordered", "--order", "il=flu,cold,hiv"),
        'did you mean "ill"',
    ),
    "no order": (
        ("--t", 0.5, "-s", "ill", "--closeness", "ordered"),
        'with --order "ill=LOWEST,…,HIGHEST"',
    ),
    "part of an order": (
        ("--t", 0.5, "-s", "ill", "--closeness", "ordered", "--order", "ill=flu,cold"),
        '"hiv" of column "ill" is not in the order given',
    ),
    "secrets together": (("--k", 3, "-s", "ill,id"), "one by one"),
    "hierarchy of nothing": (("--k", 3, "--hierarchy", "ill=ages.csv"), "-q"),
    "huge weight": (("--k", 3, "--importance", "age=1e300"), "at most 1,000,000"),
    "k too large": (("--k", 13), "13"),
    "no secret": (("--method", "l-diversity", "--l", 2), "give one with -s"),
    "too diverse": (("--method", "l-diversity", "--l", 9, "-s", "ill"), "9"),
    "all suppressed": (("--k", 3, "--suppression", 1.5), "should be at most 1, not 1.5"),
    "unknown method": (("--method", "magic"), "k-anonymity"),
    "ineligible": (("--method", "anatomy", "--l", 3, "-s", "ill"), "flu"),
    "no hierarchy file": (("--k", 3, "--hierarchy", "age=no.csv"), "there is no such file"),
    "missing value": (("--k", 3, "--hierarchy", "age=ages.csv"), "44"),
    "two roots": (("--k", 3, "--hierarchy", "sex=roots.csv"), "root"),
    "two parents": (("--k", 3, "--hierarchy", "sex=parents.csv"), '"F"'),
    "unequal depth": (
        ("--k", 3, "--hierarchy", "sex=depth.csv"),
        'depth.csv: the hierarchy of "sex", row 2 ("M"): has 2 levels where the first row has 3',
    ),
    "cycle": (("--k", 3, "--hierarchy", "sex=cycle.csv"), '"F"'),
    "unknown rule": (("--k", 3, "--hierarchy", "age=interval:5"), 'the rules are "intervals"'),
    "rule without levels": (("--k", 3, "--hierarchy", "age=rounding"), "example rounding:10,100"),
    "unknown keyword": (("--k", 3, "--hierarchy", "age=intervals:5:of=3"), "intervals:5,10"),
    "levels not nested": (
        ("--k", 3, "--hierarchy", "age=intervals:5,7"),
        "--hierarchy age: intervals of width 7 do not nest",
    ),
    "rule of no numbers": (
        ("--k", 3, "--hierarchy", "sex=intervals:5"),
        'leave out such records with --invalid "sex=F"',
    ),
    "weight of no number": (("--k", 3, "--importance", "age=much"), "is not a number"),
    "weight of no column": (("--k", 3, "--importance", "agee=2"), 'did you mean "age"'),
    "suppressing Mondrian": (
        ("--k", 3, "--recoding", "mondrian", "--suppression", 0.1),
        "leave out --suppression",
    ),
    "people of nobody": (("--k-map", 3), "--k-map needs a register of all people"),
    "sample of nothing": (("--k", 3, "--fraction", 0.1), "--fraction says nothing without"),
    "one limit": (("--presence", "0.3", "--population", "people.csv"), "write two"),
    "people by several labels": (
        ("--k-map", 3, "--population", "people.csv", "--recoding", "local"),
        "take --recoding global",
    ),
    "likeness of nothing": (("--beta", 1), "give one with -s"),
    "nothing changed": (("--method", "perturbation"), "say what to change: --perturb"),
    "no such change": (("--perturb", "age=nois:1"), "write for example pram:0.8, noise:0.5"),
    "no chance": (("--perturb", "sex=pram:2"), "write for example pram:0.8"),
    "part of a record": (("--perturb", "age=exchange:2.5"), "write for example exchange:20"),
    "no tail": (("--perturb", "age=tails:"), "write for example tails:1%,99%"),
    "change of no column": (("--perturb", "agee=pram:0.5"), 'did you mean "age"'),
    "noise of no number": (("--perturb", "sex=noise:0.5"), "is not a number"),
    "changed and recoded": (("--perturb", "age=noise:0.5", "--k", 3), "takes no --k"),
    "recoded and changed": (("--k", 3, "--grouping", "univariate"), "takes no --grouping"),
    "means of nobody": (("--aggregate", "age"), "microaggregation needs --k"),
    "mean of no number": (("--method", "microaggregation", "--k", 3), "is not a number"),
    "recoding Anatomy": (
        ("--method", "anatomy", "--l", 2, "-s", "ill", "--recoding", "local"),
        "leave out --recoding",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_a_protection_that_makes_no_sense_is_one_line(
    glasshouse: Glasshouse, arguments: tuple[object, ...], message: str
) -> None:
    Path("ages.csv").write_text("".join(f"{age};*\n" for age in PEOPLE["age"][:-1]))
    Path("roots.csv").write_text("F;female\nM;male\n")
    Path("parents.csv").write_text("F;female;*\nF;woman;*\nM;male;*\n")
    Path("depth.csv").write_text("F;female;*\nM;*\n")
    Path("cycle.csv").write_text("F;M;F\nM;F;M\n")
    outcome = glasshouse("anonymise", "people.csv", *KNOWN, *arguments, "--out", "run")
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
    assert not Path("run").exists()


RULES = {
    "age=intervals:10": {"20-29", "30-39", "40-49"},
    "age=intervals:edges=0,30/30": {"0-29", ">=30"},
    "age=rounding:20": {"10-29", "30-49"},
    "age=top_bottom:25,35:widths=10": {"<25", "25-29", "30-34", ">=35"},
    "birth=prefixes:5": {"01/01******", "02/01******"},
    "birth=date_parts:year:order=dmy": {"2000-*", "2001-*"},
}


@pytest.mark.parametrize("rule", RULES)
def test_a_hierarchy_is_made_by_a_rule(glasshouse: Glasshouse, rule: str) -> None:
    days = [f"{1 + i % 2:02d}/01/200{i % 2}" for i in range(12)]
    write("people.csv", PEOPLE | {"birth": days})
    column, _, written = rule.partition("=")
    arguments = ("people.csv", "-q", column, "-s", "ill", "--k", 2, "--suppression", 0.4)
    made = glasshouse("anonymise", *arguments, "--hierarchy", rule, "--out", "run")
    assert made.code == 0, made.error
    assert "suggested hierarchies" not in made.out
    assert {row[column] for row in released("run")} - {"*"} <= RULES[rule] | set(days)
    if not rule.startswith("birth"):
        assert {row[column] for row in released("run")} & RULES[rule]
    assert json.loads(Path("run/manifest.json").read_text())["hierarchies"] == {column: written}
    again = glasshouse("anonymise", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    assert Path("again/release.csv").read_bytes() == Path("run/release.csv").read_bytes()


def test_what_a_rule_made_is_compared_and_attacked(glasshouse: Glasshouse) -> None:
    arguments = ("people.csv", *KNOWN, "-s", "ill", "--k", 2, "--hierarchy", "age=intervals:20")
    for folder in ("run", "again"):
        assert glasshouse("anonymise", *arguments, "--out", folder).code == 0
    for command in (("compare", "run", "again"), ("threat", "run")):
        outcome = glasshouse(*command)
        assert outcome.code == 0, outcome.error


def test_a_file_may_have_the_name_of_a_rule(glasshouse: Glasshouse) -> None:
    Path("prefixes").write_text("".join(f"{age};some;*\n" for age in PEOPLE["age"]))
    arguments = ("anonymise", "people.csv", *KNOWN, "--k", 12, "--hierarchy", "age=./prefixes")
    assert json.loads(glasshouse(*arguments, "--json").out)["heights"]["age"] == 1


def test_what_keeps_numbers_from_intervals_is_said_with_the_way_out(glasshouse: Glasshouse) -> None:
    write("holes.csv", PEOPLE | {"age": [*PEOPLE["age"][:9], "few", "many", "few"]})
    arguments = ("anonymise", "holes.csv", *KNOWN, "--k", 3)
    told = " ".join(glasshouse(*arguments).out.split())
    assert (
        "shown in full or not at all, as not all values are numbers: age; --invalid COLUMN=VALUE,…"
        in told
    )
    assert (
        "shown in full or not at all, being categories: sex; --hierarchy groups their values"
        in told
    )
    told = " ".join(glasshouse(*arguments, "--invalid", "age=few,many").out.split())
    assert "suggested hierarchies: age;" in told


def test_entropy_takes_a_fraction_of_a_value(glasshouse: Glasshouse) -> None:
    # Both classes have counts 2, 1, 1: an entropy of 1.5 bits, that of 2√2 = 2.828… equally frequent values.
    ill = ["flu", "flu", "cold", "hiv"] * 2
    write("even.csv", {"age": ["20"] * 4 + ["30"] * 4, "ill": ill})
    arguments = ("anonymise", "even.csv", "-q", "age", "-s", "ill", "--diversity", "entropy")
    met = json.loads(glasshouse(*arguments, "--l", "2.828", "--json").out)
    assert met["heights"] == {"age": 0}
    assert met["parameters"]["l"] == 2.828
    missed = glasshouse(*arguments, "--l", "2.829")
    assert missed.code == 2
    assert "2.829" in missed.error
    assert json.loads(glasshouse(*arguments, "--l", "2.0", "--json").out)["parameters"]["l"] == 2


TOWN = {"age": [str(20 + i % 30) for i in range(240)], "sex": ["F", "M", "M"] * 80}
TRIAL = {
    **{name: column[::5] for name, column in TOWN.items()},
    "ill": ["flu", "cold", "hiv", "flu"] * 12,
}


def fits(label: str, value: str) -> bool:
    low, _, high = label.partition("-")
    return label in ("*", value) or (bool(high) and int(low) <= int(value) <= int(high))


@pytest.mark.parametrize(
    ("promise", "fewest", "highest"),
    [(("--k-map", 12), 12, 1), (("--presence", "0:0.25"), 1, 0.25)],
)
def test_a_release_keeps_what_it_promises_of_a_population(
    glasshouse: Glasshouse, promise: tuple[object, ...], fewest: int, highest: float
) -> None:
    write("town.csv", TOWN)
    write("trial.csv", TRIAL)
    arguments = ("trial.csv", *KNOWN, "-s", "ill", *promise, "--population", "town.csv")
    outcome = glasshouse("anonymise", *arguments, "--out", "run")
    assert outcome.code == 0, outcome.error
    people = list(zip(TOWN["age"], TOWN["sex"], strict=True))
    fitting, chances = [], []
    for (age, sex), records in Counter((row["age"], row["sex"]) for row in released("run")).items():
        fitting.append(sum(fits(age, person[0]) and fits(sex, person[1]) for person in people))
        chances.append(records / fitting[-1])
    assert min(fitting) >= fewest
    assert max(chances) <= highest
    assert "Every released class fits at least" in " ".join(outcome.out.split())
    document = json.loads(glasshouse("anonymise", *arguments, "--json").out)
    assert document["population"]["fewest"] == min(fitting)
    assert document["population"]["highest"] == max(chances)
    again = glasshouse("anonymise", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    assert Path("again/release.csv").read_bytes() == Path("run/release.csv").read_bytes()
    assert glasshouse("compare", "run", "again").code == 0


def test_an_estimate_of_population_uniques_is_said_to_be_one(glasshouse: Glasshouse) -> None:
    write("trial.csv", TRIAL)
    arguments = ("trial.csv", *KNOWN, "--population-uniques", 0.05, "--fraction", 0.2)
    outcome = glasshouse("anonymise", *arguments)
    assert "An estimate, not a count" in " ".join(outcome.out.split()), outcome.error
    document = json.loads(glasshouse("anonymise", *arguments, "--json").out)
    assert document["estimated_uniques"]["share_of_population"] <= 0.05
    assert document["parameters"]["fraction"] == 0.2


def test_values_are_nearly_as_frequent_in_a_class_as_in_all(glasshouse: Glasshouse) -> None:
    ill = ["flu", "flu", "flu", "cold", "flu", "cold", "cold", "cold"]
    write("even.csv", {"age": ["20"] * 4 + ["30"] * 4, "ill": ill})
    arguments = ("anonymise", "even.csv", "-q", "age", "-s", "ill", "--json")
    for option, met, missed in (("--beta", 0.5, 0.4), ("--delta", 0.7, 0.6)):  # shares ×1.5, ×0.5
        for number, height in ((met, 0), (missed, 1)):
            document = json.loads(glasshouse(*arguments, option, number).out)
            assert document["heights"] == {"age": height}, (option, number)


def test_the_risk_of_changed_values_is_that_of_their_channel(glasshouse: Glasshouse) -> None:
    rules = ("--perturb", "age=noise:0.5", "--perturb", "sex=pram:0.7")
    arguments = ("anonymise", "people.csv", *KNOWN, "-s", "ill", *rules, "--keep-order")
    assert glasshouse(*arguments, "--out", "run").code == 0
    original = read("people.csv", quasi_identifiers=["age", "sex"], sensitive=["ill"])
    written = read("run/release.csv", quasi_identifiers=["age", "sex"], sensitive=["ill"])
    matrices = {
        "age": noise(original.column("age"), "0.5"),
        "sex": retention(original.column("sex"), "0.7"),
    }
    anew = assess_randomised(original, written, matrices)
    document = json.loads(glasshouse(*arguments, "--json").out)
    for attack, measured in zip(anew.attacks, document["after"], strict=True):
        assert measured["probabilistic"]["posterior"] == float(attack.probabilistic.posterior)
        assert measured["deterministic"]["records"] == attack.certain
    same = [
        sum(row[name] == true for row, true in zip(released("run"), PEOPLE[name], strict=True)) / 12
        for name in ("age", "sex")
    ]
    assert [column["unchanged"] for column in document["changed"]] == same
    assert glasshouse(*arguments, "--out", "again").code == 0
    assert Path("again/release.csv").read_bytes() == Path("run/release.csv").read_bytes()
    assert glasshouse(*arguments, "--seed", 1, "--out", "other").code == 0
    assert Path("other/release.csv").read_bytes() != Path("run/release.csv").read_bytes()
    report = Path("run/report.html").read_text()
    assert "12 people are too few for this rule" in report
    assert "glasshouse anonymise people" not in report, "no command helps so few"
    assert "may have been changed at random" in glasshouse("assess", "run").error
    assert "were changed, not generalised" in glasshouse("compare", "run", "again").error
    assert "were changed, not generalised" in glasshouse("threat", "run").error


def test_a_sample_is_measured_beside_those_who_were_not_drawn(glasshouse: Glasshouse) -> None:
    write("town.csv", TOWN | {"ill": ["flu", "cold", "hiv"] * 80})
    arguments = ("anonymise", "town.csv", *KNOWN, "-s", "ill", "--sample", 0.25)
    outcome = glasshouse(*arguments, "--out", "run")
    assert "the file is a sample of 25.0% of the records" in " ".join(outcome.out.split())
    drawn = Counter((row["age"], row["sex"]) for row in released("run"))
    everybody = Counter(zip(TOWN["age"], TOWN["sex"], strict=True))
    assert drawn.total() == 60
    document = json.loads(glasshouse(*arguments, "--json").out)
    assert document["after"][0]["probabilistic"]["posterior"] == len(drawn) / 60
    behind = document["population"]
    assert behind["naming"] == len(drawn) / 240
    assert behind["fewest"] == min(everybody[person] for person in drawn)
    chances = [drawn[person] / count for person, count in everybody.items()]
    assert (behind["lowest"], behind["highest"]) == (min(chances), max(chances))


def test_means_of_groups_keep_totals_and_hide_among_k(glasshouse: Glasshouse) -> None:
    pay = [str(100 + 7 * i % 50) for i in range(12)]
    write("people.csv", PEOPLE | {"pay": pay})
    arguments = ("anonymise", "people.csv", "-q", "age", "-q", "pay", "-s", "ill", "--k", 3)
    outcome = glasshouse(*arguments, "--method", "microaggregation", "--out", "run")
    assert outcome.code == 0, outcome.error
    rows = released("run")
    assert min(Counter((row["age"], row["pay"]) for row in rows).values()) >= 3
    assert sum(float(row["pay"]) for row in rows) == pytest.approx(sum(map(float, pay)), abs=0.6)
    assert "the mean of a group of at least 3 records" in Path("run/dictionary.md").read_text()
    assert "totals change by rounding only" in Path("run/report.json").read_text()
    single = glasshouse(
        *arguments, "--aggregate", "pay", "--grouping", "univariate", "--out", "one"
    )
    assert single.code == 0, single.error
    assert min(Counter(row["pay"] for row in released("one")).values()) >= 3
    assert Counter(row["age"] for row in released("one")) == Counter(PEOPLE["age"])


def test_tails_are_told_as_one_value(glasshouse: Glasshouse) -> None:
    arguments = ("anonymise", "people.csv", *KNOWN, "-s", "ill", "--perturb", "age=tails:25%,75%")
    assert glasshouse(*arguments, "--out", "run").code == 0
    ages = Counter(row["age"] for row in released("run"))
    assert (ages["<23"], ages[">41"]) == (2, 3)
    assert json.loads(glasshouse(*arguments, "--json").out)["changed"][0]["unchanged"] == 7 / 12


def test_values_in_an_order_are_close_by_their_steps(glasshouse: Glasshouse) -> None:
    # A quarter of the records, all of them of flu or of hiv, is too much in each class: moved by two steps or by one.
    ill = ["flu", "cold", "flu", "cold", "hiv", "cold", "hiv", "cold"]
    write("steps.csv", {"age": ["20"] * 4 + ["30"] * 4, "ill": ill})
    arguments = ("steps.csv", "-q", "age", "-s", "ill", "--closeness", "ordered", "--k", 2)
    for order, t, height in (
        *(("flu,cold,hiv", 0.24, 1), ("flu,cold,hiv", 0.25, 0)),
        *(("cold,flu,hiv", 0.12, 1), ("cold,flu,hiv", 0.125, 0)),
    ):
        options = ("--t", t, "--order", f"ill={order}", "--json")
        outcome = glasshouse("anonymise", *arguments, *options)
        assert json.loads(outcome.out)["heights"]["age"] == height, (order, t)
    made = glasshouse(
        *("anonymise", *arguments, "--t", 0.25, "--order", "ill=flu,cold,hiv", "--out", "run")
    )
    assert made.code == 0, made.error
    again = glasshouse("anonymise", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    report = Path("run/report.html").read_text()
    assert "t with equal distances" in report
    assert "hiv" not in report, "no value of a record is in a report"


def test_releases_are_compared(glasshouse: Glasshouse) -> None:
    arguments = ("compare", "people.csv", *KNOWN, "-s", "ill", "--k", "2,3,6", "--fraction", "0.5")
    document = json.loads(glasshouse(*arguments, "--json").out)
    assert [row["name"] for row in document["releases"]] == ["original", "k = 2", "k = 3", "k = 6"]
    risks = [row["average_risk"] for row in document["releases"]]
    assert risks == sorted(risks, reverse=True)
    assert document["releases"][0]["query_error"] == 0
    shown = glasshouse(*arguments, "--out", "run")
    assert shown.code == 0, shown.error
    assert "Risk and utility" in shown.out
    assert "“k = 2”" in Path("run/report.html").read_text()


def test_a_comparison_takes_the_options_of_a_protection(glasshouse: Glasshouse) -> None:
    people = {name: [*values, values[0]] for name, values in PEOPLE.items()}
    write("people.csv", people | {"age": [*PEOPLE["age"], "NA"], "sex": [*PEOPLE["sex"], "F"]})
    data = ("people.csv", *KNOWN, "-s", "ill", "--id", "id", "--invalid", "age=NA", "--seed", 3)
    options = (
        *("--hierarchy", "age=intervals:10,20", "--importance", "age=2", "--highest-risk", 0.4),
        *("--objective", "granularity", "--inference-risk", 0.9, "--time-limit", 60),
        *("--diversity", "entropy", "--closeness", "ordered", "--order", "ill=flu,cold,hiv"),
    )
    arguments = ("--l", "1.2,1.5", "--t", "0.6", *data, *options)
    outcome = glasshouse("compare", *arguments, "--out", "both", "--json")
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    assert [step["left_out"] for step in document["treatment"]][:2] == [1, 1]
    _, first, second = document["releases"]
    assert [first["name"], second["name"]] == ["l = 1.2, t = 0.6", "l = 1.5, t = 0.6"]
    assert first["records"] == 12
    alone = glasshouse("anonymise", "--l", "1.5", "--t", "0.6", *data, *options, "--json")
    document = json.loads(alone.out)
    assert (document["loss"], document["suppressed"]) == (second["loss"], second["suppressed"])
    report = Path("both/report.html").read_text()
    for part in (
        *("--hierarchy age=intervals:10,20", "--importance age=2.0", "--highest-risk 0.4"),
        *("--objective granularity", "--diversity entropy", "--id id", "--order", "--invalid"),
        "What was done to the data",
    ):
        assert part in report, part
    assert not re.search(r"\bhiv\b|\bNA\b", report), "no value of a record is in a report"


def test_groups_are_compared_for_several_l(glasshouse: Glasshouse) -> None:
    write("people.csv", PEOPLE | {"ill": ["flu", "cold", "hiv"] * 4})
    arguments = ("compare", "people.csv", *KNOWN, "-s", "ill", "--method", "anatomy", "--l", "2,3")
    document = json.loads(glasshouse(*arguments, "--json").out)
    assert [row["loss"] for row in document["releases"][1:]] == [None, None]


def test_one_release_has_one_k(glasshouse: Glasshouse) -> None:
    outcome = glasshouse("anonymise", "people.csv", *KNOWN, "--k", "2,5")
    assert outcome.code == 2
    assert "glasshouse compare takes several" in outcome.error


def test_stored_releases_are_compared(glasshouse: Glasshouse) -> None:
    for k in (2, 4):
        made = glasshouse(
            "anonymise", "people.csv", *KNOWN, "-s", "ill", "--k", k, "--out", f"k{k}"
        )
        assert made.code == 0, made.error
    document = json.loads(glasshouse("compare", "k2", "k4", "--json").out)
    assert [row["name"] for row in document["releases"]] == ["original", "k = 2", "k = 4"]
    for arguments, message in (
        (("compare", "people.csv", *KNOWN), "say what to promise"),
        (("compare", "people.csv", *KNOWN, "--k", "two"), '"two" is not a number'),
        (("compare", "people.csv", "k2"), "or only folders of runs"),
        (("compare", "."), "a folder without a run"),
        (("compare", "k2", "k4", "--k", "3"), "leave out --k"),
        (("compare", "k2", "k2"), '"k2" is there twice'),
        (("compare", "k2", "--suppression", "0.1"), "leave out --suppression"),
    ):
        outcome = glasshouse(*arguments)
        assert outcome.code == 2
        assert message in outcome.error


def test_what_is_compared_is_what_was_written(glasshouse: Glasshouse) -> None:
    made = glasshouse("anonymise", "people.csv", *KNOWN, "-s", "ill", "--k", 3, "--out", "run")
    assert made.code == 0, made.error
    before = json.loads(glasshouse("compare", "run", "--json").out)["releases"][1]
    rows = released("run")
    rows[0]["age"], rows[0]["sex"] = "21", "F"
    write("run/release.csv", {name: [row[name] for row in rows] for name in rows[0]})
    after = json.loads(glasshouse("compare", "run", "--json").out)["releases"][1]
    assert before["highest_risk"] <= 1 / 3
    assert after["highest_risk"] == 1, "somebody put a record back"
    write("people.csv", PEOPLE | {"sex": ["M"] * 12})
    changed = glasshouse("compare", "run")
    assert changed.code == 2
    assert 'people.csv: has changed since "run" was made of it' in changed.error


def test_a_column_is_predicted_from_each_release(glasshouse: Glasshouse) -> None:
    pytest.importorskip("sklearn", reason="needs the extra learn")
    many = {name: values * 20 for name, values in PEOPLE.items()}
    write("many.csv", many)
    arguments = ("compare", "many.csv", *KNOWN, "-s", "ill", "--k", "5,60", "--predict", "ill")
    document = json.loads(glasshouse(*arguments, "--json").out)
    told = [row["prediction"] for row in document["releases"]]
    assert all(each["target"] == "ill" for each in told)
    assert told[0]["release"] == told[0]["original"]
    assert told[2]["release"] <= told[0]["release"]
    assert "predicted" in glasshouse(*arguments).out
    assert glasshouse(*arguments[:-1], "illl").code == 2


def test_certainty_about_attributes_survives_k_anonymity(glasshouse: Glasshouse) -> None:
    made = glasshouse("synth", "school-census", "--records", 5000, "--out", "census.csv")
    assert made.code == 0, made.error
    known = ("day_of_birth", "month_of_birth", "year_of_birth", "gender", "school")
    options = [part for name in known for part in ("-q", name)]
    outcome = glasshouse(
        "anonymise", "census.csv", *options, "-s", "disability", "--k", 4, "--suppression", 0.05,
        "--json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    naming, inferring = document["before"][0], document["after"][1]
    assert naming["deterministic"]["posterior"] > 0.9
    assert document["after"][0]["deterministic"]["posterior"] == 0
    assert inferring["deterministic"]["posterior"] > 0.01


def test_survey_weights_count_in_what_is_promised_and_lost(glasshouse: Glasshouse) -> None:
    weights = ["1.5", "20", "3", "3", "8", "1", "2", "30", "4", "4.25", "6", "2"]
    write("people.csv", PEOPLE | {"w": weights})
    way = (*KNOWN, "-s", "ill", "--weight", "w", "--k-map", 8, "--suppression", 0.1)
    outcome = glasshouse("anonymise", "people.csv", *way, "--out", "run", "--json")
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    sums: dict[tuple[str, ...], float] = {}
    for row in released("run"):
        names = tuple(row[name] for name in KNOWN if name in row)
        if set(names) != {"*"}:
            sums[names] = sums.get(names, 0) + float(row["w"])
    assert min(sums.values()) >= 8
    assert document["weighted"]["fewest"] == min(sums.values())
    assert document["weighted"]["people"] == 84.75
    assert document["weighted"]["highest"] == 1 / min(sums.values())
    assert sorted(row["w"] for row in released("run")) == sorted(weights), "as they are"
    fixed = (
        "--k",
        1,
        "--hierarchy",
        "age=top_bottom:25,42",
        "--level",
        "age=1",
        "--level",
        "sex=0",
    )
    plain = glasshouse("anonymise", "people.csv", *KNOWN, *fixed, "--json")
    weighed = glasshouse("anonymise", "people.csv", *KNOWN, *fixed, "--weight", "w", "--json")
    assert json.loads(plain.out)["loss"] != json.loads(weighed.out)["loss"]
    told = " ".join(glasshouse("anonymise", "people.csv", *way).out.split())
    assert "By the weights of w, the records stand for 84.75 people" in told
    rows = glasshouse("compare", "people.csv", *KNOWN, *fixed, "--weight", "w", "--json")
    assert json.loads(rows.out)["releases"][1]["loss"] == json.loads(weighed.out)["loss"]
    assert glasshouse("compare", "run").code == 0


def test_what_cannot_count_survey_weights_refuses_them(glasshouse: Glasshouse) -> None:
    write("people.csv", PEOPLE | {"w": ["2"] * 11 + ["0"]})
    for options, message in (
        (("--k", 2, "--recoding", "local"), "take --recoding global, or leave out --weight"),
        (("--method", "anatomy", "--l", 2), "take --recoding global, or leave out --weight"),
        (("--sample", 0.5), "perturbation takes no --weight"),
        (("--k", 2, "--method", "microaggregation"), "microaggregation takes no --weight"),
        (("--k-map", 2, "--population", "people.csv"), "leave out --weight, or --population"),
        (("--k", 2), 'record 12: the survey weight in column "w" is 0'),
        (("--k", 2, "-q", "w"), "--weight w is a quasi-identifier or sensitive"),
    ):
        known = (*KNOWN, "-s", "ill", "--weight", "w")
        outcome = glasshouse("anonymise", "people.csv", *known, *options)
        assert outcome.code == 2, options
        assert message in outcome.error, outcome.error
        assert outcome.error.count("\n") == 1
