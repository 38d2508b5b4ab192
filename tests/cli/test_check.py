"""The gate for pipelines: one verdict, the same on every surface, and an exit code."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pyarrow as pa
import pytest
from pyarrow import csv

import glasshouse as gh
from glasshouse.errors import StudyError
from glasshouse.measures.verdict import Decision, Verdict, verdict_on
from glasshouse.report.verdict import HEADLINES, SHARED
from glasshouse.runs.folder import stored_coverage, stored_measures, stored_report
from glasshouse.study import load_policy
from tests.conftest import Glasshouse, Outcome
from tests.examples import examples

PEOPLE = "age,sex,illness\n" + "".join(
    f"{20 + row // 6},{'FM'[row % 2]},{'flu' if row % 4 else 'cold'}\n" for row in range(120)
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def rule(path: Path, *conditions: str) -> str:
    blocks = "".join(f"[[conditions]]\n{condition}\n" for condition in conditions)
    file = path / "rule.toml"
    file.write_text(f'name = "ours"\n{blocks}', encoding="utf-8")
    return str(file)


def test_a_file_alone_is_understood_assessed_and_judged(
    people: Path, glasshouse: Glasshouse
) -> None:
    answer = glasshouse("check", str(people))
    assert answer.code == 4
    assert "concluded from the file: it stands below the verdict" in answer.out
    assert (
        "Assumed known to the adversary: age and sex.\nWhat she wants to learn: illness.\n"
        in answer.out
    )
    assert "Do not publish as it is" in answer.out
    content = json.loads(glasshouse("check", str(people), "--json").out)
    assert content["understood"]["quasi_identifiers"] == ["age", "sex"]
    assert content["understood"]["sensitive"] == ["illness"]
    assert content["coverage"] == {"known": ["age", "sex"], "sensitive": ["illness"]}
    smallest = next(c for c in content["conditions"] if c["measure"] == "smallest-class")
    assert (smallest["value"], smallest["limit"], smallest["margin"]) == (3, 11, -8)


def test_what_was_named_is_not_said_to_be_guessed_and_the_report_is_named(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    run = tmp_path / "run"
    answer = glasshouse("check", str(people), "-q", "age", "-s", "illness", "--out", str(run))
    assert "Taken as" not in answer.out
    assert "One record is taken for one person (else say --id, or --person where" in answer.out
    assert answer.out.rstrip().endswith(f"Report: {run / 'report.html'}")


def test_a_release_that_meets_the_rule_ends_with_zero(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    ours = rule(tmp_path, 'measure = "smallest-class"\nat_least = 3')
    answer = glasshouse("check", str(people), "--policy", ours)
    assert answer.code == 0, answer.error
    assert "May be published" in answer.out
    assert "safe" not in answer.out.lower()


def test_what_meets_a_rule_for_colleagues_is_not_said_to_be_fit_to_publish(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    alike = tmp_path / "alike.csv"
    alike.write_text("sex,illness\n" + 60 * "F,yes\nF,no\nM,yes\nM,no\n", encoding="utf-8")
    asked = ("check", str(alike), "-q", "sex", "-s", "illness", "--policy")
    for policy, headline in (
        ("open-data", "May be published"),
        ("internal", "May be shared with whom the rule is for"),
        ("research-file", "May be shared with whom the rule is for"),
    ):
        answer = glasshouse(*asked, policy)
        assert answer.code == 0, answer.error
        assert f"✓ {headline}: " in answer.out
        assert ("published" in answer.out) is (policy == "open-data")


def test_restricted_access_is_the_middle_state(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    ours = rule(tmp_path, 'measure = "smallest-class"\nat_least = 4\nrestricted = 3')
    content = json.loads(glasshouse("check", str(people), "--policy", ours, "--json").out)
    assert content["decision"] == "restricted"


def test_a_run_is_judged_again_by_another_rule_without_its_data(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    run = tmp_path / "run"
    options = ("-q", "age", "-q", "sex", "-s", "illness", "--policy", "internal")
    assert glasshouse("assess", str(people), *options, "--out", str(run)).code == 0
    people.unlink()
    assert json.loads(glasshouse("check", str(run), "--json").out)["policy"] == "internal"
    strict = glasshouse("check", str(run), "--policy", "open-data", "--json")
    assert (strict.code, json.loads(strict.out)["policy"]) == (4, "open-data")


def test_pipelines_get_their_own_forms(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    junit, sarif = tmp_path / "v.xml", tmp_path / "v.sarif"
    forms = ("--junit", str(junit), "--sarif", str(sarif))
    content = json.loads(glasshouse("check", str(people), "--json", *forms).out)
    suites = fromstring(junit.read_text(encoding="utf-8"))
    assert int(suites.attrib["failures"]) == content["failed"] == len(suites.findall(".//failure"))
    assert int(suites.attrib["tests"]) == len(content["conditions"])
    (only,) = json.loads(sarif.read_text(encoding="utf-8"))["runs"]
    rules = {entry["id"] for entry in only["tool"]["driver"]["rules"]}
    assert len(only["results"]) == content["failed"]
    assert {result["ruleId"] for result in only["results"]} <= rules
    again = glasshouse("check", str(people), *forms)
    assert again.code == 2
    assert "exists; choose another place" in again.error


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--policy", "open-dat"), 'did you mean "open-data"'),
        (("-q", "agee"), 'did you mean "age"'),
        (("--policy", "no.toml"), "cannot be read"),
    ],
)
def test_a_slip_is_one_line(
    people: Path, glasshouse: Glasshouse, words: tuple[str, ...], fault: str
) -> None:
    answer = glasshouse("check", str(people), *words)
    assert (answer.code, answer.error.count("\n")) == (2, 1)
    assert fault in answer.error


def test_a_condition_on_no_sensitive_attribute_is_refused_before_reading(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    ours = rule(tmp_path, 'measure = "inference-added"\nat_most = 0.1\nof = "ilness"')
    answer = glasshouse("assess", str(people), "-q", "age", "-s", "illness", "--policy", ours)
    assert answer.code == 2
    assert '"ilness", which is not a sensitive attribute here' in answer.error


def test_nothing_that_is_asked_beside_a_run_is_ignored(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    run = tmp_path / "run"
    assert glasshouse("assess", str(people), "-q", "age", "--out", str(run)).code == 0
    answer = glasshouse("check", str(run), "-q", "sex")
    assert answer.code == 2
    assert "leave out -q" in answer.error


def test_a_column_that_names_people_never_meets_the_rule(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    rows = "".join(f"F,person{place}@example.org\n" for place in range(40))
    file = tmp_path / "people.csv"
    file.write_text(f"sex,contact\n{rows}", encoding="utf-8")
    answer = glasshouse("check", file, "-q", "sex", "--json")
    assert answer.code == 4
    (failed,) = [entry for entry in json.loads(answer.out)["conditions"] if not entry["met"]]
    assert (failed["measure"], failed["value"]) == ("direct-identifiers", 1)
    run = tmp_path / "run"
    assert glasshouse("assess", file, "-q", "sex", "--out", run).code == 0
    assert "Leave out" in stored_report(run).page("en").actions[0].sentence
    assert glasshouse("check", run).code == 4
    by_name = glasshouse("check", file, "-q", "sex", "--id", "contact", "--json")
    assert by_name.code == 4, "whom a column names, it names in the release"
    assert conditions(by_name) == conditions(answer)
    assert glasshouse("check", file, "-q", "sex", "--drop", "contact").code == 0


def test_two_runs_side_by_side_are_judged_by_the_rule_that_is_named(
    people: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    for name in ("before", "after"):
        assert glasshouse("assess", people, "-q", "age", "--out", tmp_path / name).code == 0
    words = ("compare", tmp_path / "before", tmp_path / "after", "--policy", "internal", "--json")
    verdict = json.loads(glasshouse(*words).out)["verdict"]
    assert verdict["policy"] == "internal"
    figures = [entry for entry in verdict["conditions"] if entry["release"]]
    assert {entry["release"] for entry in figures} == {"before", "after"}
    (once,) = (entry for entry in verdict["conditions"] if not entry["release"])
    assert (once["measure"], once["value"]) == ("columns-not-looked-at", 2)
    assert "--policy" in glasshouse("totals", "campaign", "--help").out


VISITS = "pseudonym,city,day,diagnosis,survey_weight\n" + "".join(
    f"p{row % 40:03},{'NSEW'[row * row % 7 % 4]},{1 + row * 7 % 11},{'F32 I10 J00'.split()[row % 3]},{1 + row % 2}\n"
    for row in range(160)
)
PAY = "age,sex,income,survey_weight\n" + "".join(
    f"{20 + row * row % 53},{'FM'[row % 2]},{1000 + 37 * (row * row % 50)},{1 + row % 3}\n"
    for row in range(26)
)
KNOWN = ("-q", "city", "-q", "day")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text(VISITS, encoding="utf-8")
    return path


@pytest.fixture
def pay(tmp_path: Path) -> Path:
    path = tmp_path / "pay.csv"
    path.write_text(PAY, encoding="utf-8")
    return path


def conditions(answer: Outcome) -> Any:
    """Return how every condition was judged, by `assess` or by `check`."""
    assert answer.code in (0, 4), answer.error
    content = json.loads(answer.out)
    return content.get("verdict", content)["conditions"]


@pytest.mark.parametrize(
    ("settings", "roles", "condition", "code"),
    [
        (("--knows", "2"), (*KNOWN, "-s", "any diagnosis=F*"), "named:records = 2", 4),
        (("--knows", "2"), (*KNOWN, "-s", "most diagnosis"), "some-records:records = 2", 4),
        (("--knows", "1"), (*KNOWN,), "some-records:records = 1", 4),
        (("--knows", "1"), (*KNOWN, "--drop", "diagnosis"), "some-records:records = 1", 0),
        (("--knows", "all"), (*KNOWN, "-s", "count"), "best-guess:", 4),
        (("--unlinked",), (*KNOWN, "-s", "diagnosis"), "inference-added:", 4),
    ],
)
def test_people_are_judged_as_assess_judges_them(
    visits: Path,
    tmp_path: Path,
    glasshouse: Glasshouse,
    settings: tuple[str, ...],
    roles: tuple[str, ...],
    condition: str,
    code: int,
) -> None:
    measure, records = condition.split(":")
    ours = rule(tmp_path, f'measure = "{measure}"\nat_most = 0.1\n{records}')
    said = ("--person", "pseudonym", "--drop", "survey_weight", *settings, *roles)
    asked = (visits, *said, "--policy", ours, "--json")
    checked = glasshouse("check", *asked)
    assert checked.code == code
    assert conditions(checked) == conditions(glasshouse("assess", *asked))
    understood = json.loads(checked.out)["understood"]
    assert (understood["person"], understood["id"]) == (["pseudonym"], None)


@pytest.mark.parametrize(
    ("settings", "measure", "code"),
    [
        (("--about", "age=±2"), "named-inexactly", 4),
        (("--about", "age=±2"), "inference-certain-inexactly", 4),
        (("--about", "age=90%"), "best-guess-inexactly", 4),
        (("--likely", "age=1%"), "best-guess-inexactly", 0),
        (("--within", "income=10%"), "close-added", 4),
    ],
)
def test_unsure_knowledge_and_close_guesses_are_judged_as_assess_judges_them(
    pay: Path,
    tmp_path: Path,
    glasshouse: Glasshouse,
    settings: tuple[str, ...],
    measure: str,
    code: int,
) -> None:
    ours = rule(tmp_path, f'measure = "{measure}"\nat_most = 0.1')
    asked = ("-s", "income", "--drop", "survey_weight", *settings, "--policy", ours, "--json")
    checked = glasshouse("check", pay, *asked)
    assert checked.code == code, checked.error
    assessed = glasshouse("assess", pay, "-q", "age", "-q", "sex", *asked)
    assert conditions(checked) == conditions(assessed)
    understood = json.loads(checked.out)["understood"]
    assert understood["quasi_identifiers"] == ["age", "sex"]
    assert understood["sensitive"] == ["income"]
    assert "not used as the file suggests" not in checked.error


def test_where_nothing_is_measured_that_the_rule_asks_for_there_is_no_verdict(
    pay: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    ours = rule(tmp_path, 'measure = "inference-certain-inexactly"\nat_most = 0.1')
    answer = glasshouse("check", pay, "--about", "age=±2", "--policy", ours, "--json")
    assert (answer.code, answer.out) == (3, "")
    assert "pay.csv measures nothing that the rule asks for" in answer.error


def test_columns_of_what_is_asked_have_the_roles_that_it_needs(
    visits: Path, pay: Path, glasshouse: Glasshouse
) -> None:
    answer = glasshouse("check", visits, "--person", "pseudonym,day", "--json")
    understood = json.loads(answer.out)["understood"]
    assert understood["person"] == ["pseudonym", "day"]
    assert "day" not in understood["quasi_identifiers"]
    assert understood["sensitive"] == ["diagnosis"]
    assert understood["quasi_identifiers"] == ["city", "survey_weight"]
    assert "not used" not in answer.error
    linked = glasshouse("check", visits, "--person", "pseudonym", "--json")
    assert json.loads(linked.out)["understood"]["sensitive"] == ["most diagnosis"]
    unlinked = glasshouse("check", visits, "--person", "pseudonym", "--unlinked", "--json")
    assert json.loads(unlinked.out)["understood"]["sensitive"] == ["diagnosis"]
    both = glasshouse("check", pay, "--likely", "income=50%", "--within", "age=2", "--json")
    understood = json.loads(both.out)["understood"]
    assert understood["quasi_identifiers"] == ["sex", "income", "survey_weight"]
    assert understood["sensitive"] == ["age"]
    assert "not used" not in both.error


def test_what_is_the_same_in_all_records_of_a_person_is_a_secret_as_it_is(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    rows = "".join(f"p{row % 20},{row % 9},{'AB'[row % 20 % 2]}\n" for row in range(60))
    path = tmp_path / "visits.csv"
    path.write_text(f"pseudonym,day,religion\n{rows}", encoding="utf-8")
    answer = glasshouse("check", path, "--person", "pseudonym", "--json")
    assert json.loads(answer.out)["understood"]["sensitive"] == ["religion"]
    said = glasshouse("check", path, "--person", "pseudonym").out
    assert 'Records with the same "pseudonym" are of one person' in " ".join(said.split())
    assert "One record is taken" not in said


@pytest.mark.parametrize(
    "words",
    [
        ("--knows", "2"),
        ("--unlinked",),
        ("--person", "pseudonym", "--knows", "0"),
        ("--person", "pseudonym", "-q", "pseudonym"),
        ("--person", "pseudonym", "--id", "pseudonym"),
        ("--person", "pseudonym", "-q", "day", "-s", "any diagnosis"),
        ("--person", "pseudonym", "-q", "day", "--likely", "day=50%"),
        ("--person", "pseudonim", "-q", "day"),
        ("-q", "day", "-s", "diagnosis", "--within", "diagnosis=ten"),
        ("-q", "day", "-s", "diagnosis", "--within", "day=2"),
        ("-q", "day", "-s", "diagnosis", "--within", "diagnosis=2"),
        ("-q", "day", "--about", "day"),
        ("-q", "day", "--about", "day=2"),
        ("-q", "day", "--about", "city=90%"),
        ("-q", "city", "--about", "city=±2"),
        ("-q", "day", "--likely", "day=150%"),
        ("-q", "day", "--invalid", "dai=3"),
    ],
)
def test_what_is_wrong_with_what_is_asked_is_said_as_assess_says_it(
    visits: Path, glasshouse: Glasshouse, words: tuple[str, ...]
) -> None:
    checked = glasshouse("check", visits, *words)
    assert (checked.code, checked.error.count("\n")) == (2, 1)
    roles = () if "-q" in words else ("-q", "city")
    assessed = glasshouse("assess", visits, *words, *roles)
    assert checked.error.replace("check: ", "assess: ") == assessed.error


def test_what_the_rule_does_not_judge_is_said(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "dated.csv"
    rows = [f"{1 + day % 28:02}/0{1 + day % 9}/2020,{day % 3}" for day in range(60)]
    path.write_text("\n".join(("birth,ill", *rows)))
    date = ("--date", "birth=dd/mm/yyyy", "-q", "birth", "-s", "ill")
    outcome = glasshouse("check", path, *date, "--about", "birth=±7d")
    assert outcome.code == 4, outcome.error
    assert "note: the rule does not judge what --about asks; a condition on named-inexactly" in (
        outcome.error
    )
    assert "does not judge" not in glasshouse("check", path, *date).error


@pytest.mark.parametrize(
    "word", ["--person", "--knows", "--within", "--about", "--likely", "--invalid"]
)
def test_nothing_about_the_adversary_is_asked_beside_a_run(
    people: Path, tmp_path: Path, glasshouse: Glasshouse, word: str
) -> None:
    run = tmp_path / "run"
    assert glasshouse("assess", people, "-q", "age", "--out", run).code == 0
    answer = glasshouse("check", run, word, "age=2")
    assert answer.code == 2
    assert f"in the folder of the run; leave out {word}" in answer.error


def test_a_question_about_a_column_is_a_secret_of_a_file_alone(
    pay: Path, glasshouse: Glasshouse
) -> None:
    asked = (pay, "-s", "income>1500", "--json")
    checked = glasshouse("check", *asked)
    known = ["age", "sex", "survey_weight"]
    assert json.loads(checked.out)["understood"]["quasi_identifiers"] == known
    roles = [word for name in known for word in ("-q", name)]
    assert conditions(checked) == conditions(glasshouse("assess", *asked, *roles))


def test_an_identifier_that_is_not_the_person_is_left_aside_and_named(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    rows = "".join(f"s{row % 80},p{row % 30},{row % 7}\n" for row in range(100))
    path = tmp_path / "visits.csv"
    path.write_text(f"matricula,pseudonym,day\n{rows}", encoding="utf-8")
    assert json.loads(glasshouse("check", path, "--json").out)["understood"]["id"] == "matricula"
    answer = glasshouse("check", path, "--person", "pseudonym", "--json")
    content = json.loads(answer.out)
    assert content["understood"]["id"] is None
    assert content["coverage"]["direct"] == ["matricula"], "it is counted all the same"
    assert 'does not go with --person: "matricula" (identifier)\n' in answer.error
    of_it = glasshouse("check", path, "--person", "matricula", "--json")
    assert "not used" not in of_it.error


def test_invalid_records_are_left_out_as_assess_leaves_them_out(
    people: Path, glasshouse: Glasshouse
) -> None:
    people.write_text(PEOPLE + "Total,,\n", encoding="utf-8")
    asked = (people, "--invalid", "age=20,21")
    alone = json.loads(glasshouse("check", people, "--json").out)["understood"]["invalid"]
    assert alone == ["age=Total"]
    answer = glasshouse("check", *asked, "--json")
    assert json.loads(answer.out)["understood"]["invalid"] == ["age=20,21", *alone]
    roles = ("-q", "age", "-q", "sex", "-s", "illness", "--invalid", alone[0])
    assert conditions(answer) == conditions(glasshouse("assess", *asked, *roles, "--json"))
    said = " ".join(glasshouse("check", *asked).out.split())
    assert (
        'Left out as totals or repeated names of columns, which are nobody: records with "age=Total" ('
        in said
    )


def test_people_of_a_protected_release_are_judged_afterwards(
    visits: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    out = tmp_path / "protected"
    protection = ("--k", "3", "--keep", "pseudonym", "--out", out)
    assert glasshouse("anonymise", visits, *KNOWN, *protection).code == 0
    asked = ("--person", "pseudonym", "--knows", "2", "--json")
    assessed = glasshouse("assess", out, *asked)
    checked = glasshouse("check", out / "release.csv", *KNOWN, *asked)
    assert conditions(checked) == conditions(assessed)
    for command in ("anonymise", "protect"):
        said = " ".join(re.sub("[│╭╮╰╯─]", " ", glasshouse(command, "--help").out).split())
        assert "exact guesses at single records, each of a person of its own" in said
        assert "--person COL, a column kept by --keep" in said


def test_python_judges_files_and_frames_by_the_same_words(visits: Path, pay: Path) -> None:
    asked: dict[str, Any] = {
        "quasi_identifiers": ["city", "day"],
        "sensitive": ["most diagnosis"],
        "person": "pseudonym",
        "knows": 2,
    }
    of_file = gh.check(visits, **asked)
    run = gh.assess(csv.read_csv(visits), **asked)
    assert of_file == gh.check(csv.read_csv(visits), **asked) == gh.check(run)
    assert any(judgement.measured.records == 2 for judgement in of_file.judgements)
    known: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["income"],
        "about": {"age": "±2"},
        "likely": {"sex": "50%"},
        "within": {"income": "10%"},
        "invalid": ["age=20"],
    }
    assert gh.check(pay, **known) == gh.check(csv.read_csv(pay), **known)
    with pytest.raises(StudyError, match="is in the run; leave out `knows`"):
        gh.check(run, knows=2)


def judged(
    columns: dict[str, list[str]], further: dict[str, list[str]], policy: str, subsets: str
) -> gh.Run[Any, Any]:
    names = list(columns)
    return gh.assess(
        pa.table(columns | further),
        quasi_identifiers=names[:-1],
        sensitive=names[-1:],
        subsets=subsets,
        policy=policy,
    )


def test_every_surface_says_the_same_verdict(tmp_path: Path, glasshouse: Glasshouse) -> None:
    """Random studies: `check`, report, terminal, JSON and notebook agree, and with brute force."""
    chance = random.Random(19)
    decisions = set()
    for case in range(examples(200)):
        records = chance.randrange(4, 120)
        width = chance.randrange(2, 4)
        columns = {
            f"c{place}": [
                str(chance.randrange(chance.choice((1, 2, 9)) + 1)) for _ in range(records)
            ]
            for place in range(width)
        }
        policy = chance.choice(("open-data", "research-file", "internal"))
        further = {"further": ["u", *"v" * (records - 1)]} if case % 4 == 0 else {}
        run = judged(columns, further, policy, chance.choice(("full", "all")))
        verdict = run.verdict
        assert verdict is not None
        decisions.add(verdict.decision)
        assert by_hand(columns, verdict, unseen=len(further)) == verdict.decision
        assert bool(verdict) is (verdict.decision is Decision.MEETS)
        is_for_everybody = policy == "open-data" or verdict.decision is not Decision.MEETS
        headline = HEADLINES[verdict.decision] if is_for_everybody else SHARED
        assert run.to_dict()["verdict"]["decision"] == verdict.decision.value
        shown = run.brief.ruling
        assert shown is not None
        assert (shown.headline, shown.decision) == (headline, verdict.decision)
        if case % 20 == 0:  # drawing takes long
            folder = tmp_path / str(case)
            run.report(folder)
            rule_again = load_policy(policy)
            stored_again = verdict_on(stored_measures(folder), rule_again, stored_coverage(folder))
            assert stored_again == verdict
            stored = stored_report(folder).page("en").ruling
            assert stored is not None
            assert stored.headline == headline
            assert headline in run._repr_html_()
            answer = glasshouse("check", folder, "--policy", policy, "--json")
            assert answer.code == (0 if verdict.decision == Decision.MEETS else 4)
            about = {"glasshouse": gh.__version__, "checked": folder.name}
            assert json.loads(answer.out) == about | verdict.to_dict()
    assert decisions == set(Decision)


def by_hand(columns: dict[str, list[str]], verdict: Verdict, *, unseen: int) -> Decision:
    """Judge a table by counting, with nothing of the house."""
    *known, secret = columns.values()
    classes: dict[tuple[str, ...], list[str]] = {}
    for row, value in zip(zip(*known, strict=True), secret, strict=True):
        classes.setdefault(row, []).append(value)
    records = len(secret)
    most = sum(max(map(values.count, values)) for values in classes.values())
    single = sum(len(values) for values in classes.values() if len(set(values)) == 1)
    before = max(map(secret.count, secret))
    values = {
        "named": Fraction(
            sum(len(members) == 1 for members in classes.values()) - (records == 1), records
        ),
        "best-guess": Fraction(len(classes), records),
        "smallest-class": Fraction(min(map(len, classes.values()))),
        "inference-added": Fraction(most - before, records),
        "inference-certain": Fraction(single, records),
    }
    met, restricted = True, True
    for condition in verdict.policy.conditions:
        if condition.measure in values:
            met &= condition.allows(values[condition.measure])
            restricted &= condition.allows(values[condition.measure], restricted=True)
    if not restricted:
        return Decision.STOP
    return Decision.OPEN if unseen else Decision.MEETS if met else Decision.RESTRICT


@pytest.mark.parametrize("rule", ["hdx", "ema"])
def test_a_rule_on_identifying_alone_says_that_it_judges_no_inference(
    rule: str, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,ill\n" + "f,yes\nm,no\n" * 100)
    done = glasshouse("check", path, "-q", "sex", "-s", "ill", "--policy", rule)
    assert done.code == 0
    said = " ".join(done.out.split())
    assert "this rule judges who can be identified, and not what can be inferred" in said
