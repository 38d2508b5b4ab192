"""A report discloses nobody: no value of a record leaves the house in it, and no small count of people with one.

Every value of the data is a marker. Commands run with ``--out``, and the markers are looked for in the report (HTML,
JSON with the data of its pictures, paper), in the manifest and in what is printed. Where a command is asked to name
values (``--by``, the places of totals), those that few people have must not be named.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.report import archive
from glasshouse.synthetic.trade import write_trade
from tests.conftest import Glasshouse
from tests.differencing import drawn_rows
from tests.examples import IS_THOROUGH
from tests.properties.planted import (
    MARK,
    SMALLEST,
    People,
    fingerprints,
    found_in,
    let_out,
    logs,
    people,
)

KNOWN = "-q age -q sex -q district -s ill"
PERSON = f"--know age={MARK}Age1 --know sex={MARK}F"
LINKED = "--release release.csv --register register.csv -q age -q sex"

SILENT = {
    "one set": f"assess people.csv {KNOWN} --subsets full",
    "every subset": f"assess people.csv {KNOWN} --id id",
    "a collection": f"assess people.csv second.csv {KNOWN} --id id",
    "linked records": f"assess people.csv second.csv {KNOWN} --link sex --link age=0.9 --subsets full",
    "each file": "assess people.csv second.csv -q age -q sex -s ill --each",
    "what values are worth": f"assess people.csv {KNOWN} --subsets full --worth ill:{MARK}Ill0=5,*=1",
    "a prior": f"assess people.csv {KNOWN} --subsets full --prior ill:{MARK}Ill0=0.5,{MARK}Ill1=0.5,*=0",
    "a selection": (
        f"assess people.csv -q age -q sex -s ill --where district!={MARK}DistrictRare "
        f"--invalid age={MARK}Age0"
    ),
    "members": "membership release.csv --population register.csv -q age -q sex -q district",
    "members of a sample": "membership release.csv --fraction 0.3 -q age -q sex -q district",
    "k-anonymity": f"anonymise people.csv {KNOWN} --k 3 --suppression 0.2",
    "local recoding": f"anonymise people.csv {KNOWN} --k 3 --recoding local",
    "Mondrian": f"anonymise people.csv {KNOWN} --k 3 --recoding mondrian",
    "l-diversity": f"anonymise people.csv {KNOWN} --l 2 --suppression 0.3",
    "Anatomy": f"anonymise people.csv {KNOWN} --method anatomy --l 2",
    "versions for a rule": f"protect people.csv {KNOWN} --policy research-file",
    "several protections": f"compare people.csv {KNOWN} --k 2,5 --suppression 0.3",
    "deterrence": f"deter {LINKED}",
    "losses by value": f"deter {LINKED} --loss 10 --loss-by ill:{MARK}Ill1=100",
}
"""Commands that never name a value, in files or in print; but for `assess`, which tells who can be named."""

FOLDERS = {
    "runs beside each other": "compare first second",
    "a threat": "threat first --sweeps 50",
    "a threat to Anatomy": "threat anatomy --sweeps 200 --burn-in 50 --chains 2",
}
"""The same, of releases that were made before."""

ONE_PERSON = {
    "one person": f"target people.csv {PERSON} -s ill",
    "one person over the years": (
        f"target people.csv second.csv --id id --know age={MARK}Age1 -s ill"
    ),
    "one person of a population": f"target release.csv {PERSON} -s ill --population register.csv",
    "one member": f"membership release.csv --population register.csv -q age -q sex {PERSON}",
    "a threat to one person": f"threat first {PERSON} --know district={MARK}DistrictA",
}
"""Commands about one person: the analyst sees values in print, but no report holds them."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plant(seed: int) -> None:
    """Write the files that the commands read."""
    for path in Path().iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    planted = people(seed)
    planted.write("people.csv")
    planted.without("note").write("second.csv")
    planted.part(30).write("release.csv")
    planted.without("ill", "note").write("register.csv")


def release(glasshouse: Glasshouse) -> None:
    """Make the releases that further commands read."""
    for folder, how in (
        ("first", "--k 3 --suppression 0.2"),
        ("second", "--k 3 --recoding mondrian"),
        ("anatomy", "--method anatomy --l 2"),
    ):
        arguments = f"anonymise people.csv {KNOWN} {how} --out {folder}"
        assert glasshouse(*arguments.split()).code == 0


def without_common(texts: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return texts without the values of what can be known that so many people have that they may be named."""
    columns = people(seed).columns
    common = [
        value
        for name in ("age", "sex", "district")
        for value, count in Counter(columns[name]).items()
        if count >= SMALLEST
    ]
    pattern = re.compile("|".join(rf"{re.escape(value)}\b" for value in common))
    return {name: pattern.sub("", text) for name, text in texts.items()}


@pytest.mark.parametrize("arguments", SILENT.values(), ids=SILENT)
@settings(max_examples=2 if IS_THOROUGH else 1)
@given(seed=st.integers(0, 999))
def test_no_value_of_a_record_leaves_the_house(
    glasshouse: Glasshouse, arguments: str, seed: int
) -> None:
    plant(seed)
    outcome = glasshouse(*arguments.split(), "--out", "run")
    assert outcome.code == 0, outcome.error
    told = let_out(Path("run"))
    if arguments.startswith("assess"):  # who can be named is told of values that many people have
        told = without_common(told, seed)
    assert found_in(told | logs(outcome)) == {}
    digests = fingerprints(Path("run"))
    assert digests
    del told["manifest.json"]
    assert found_in(told, digests | {str(Path().resolve())}) == {}, "fingerprints and paths stay"


@pytest.mark.parametrize("arguments", FOLDERS.values(), ids=FOLDERS)
def test_nor_by_way_of_a_release(glasshouse: Glasshouse, arguments: str) -> None:
    plant(1)
    release(glasshouse)
    outcome = glasshouse(*arguments.split(), "--out", "run")
    assert outcome.code == 0, outcome.error
    assert found_in(let_out(Path("run")) | logs(outcome)) == {}
    page = archive.from_json(Path("run/report.json").read_text(encoding="utf-8"), "")["en"]
    rows = [row for figure in page.pictures for row in drawn_rows(figure.chart)]
    counts = [row["records"] for row in rows if "records" in row]
    assert not [count for count in counts if 0 < count < SMALLEST], "pictures count as tables do"
    assert bool(counts) == arguments.startswith("threat")


@pytest.mark.parametrize("arguments", ONE_PERSON.values(), ids=ONE_PERSON)
def test_a_report_about_one_person_names_no_value(glasshouse: Glasshouse, arguments: str) -> None:
    plant(1)
    if arguments.startswith("threat"):
        release(glasshouse)
    outcome = glasshouse(*arguments.split(), "--out", "run")
    assert outcome.code == 0, outcome.error
    assert found_in(let_out(Path("run"))) == {}
    assert found_in({"standard error": outcome.error}) == {}


@pytest.mark.parametrize(
    "known",
    [
        ["age=zqAge1,sex=zqF", "district=zqDistrictA"],
        ["age=zqAge1,zqAge2,zqAge3", "sex!=zqF"],
        ["age=zqAge0", "age=zqAge1,sex=zqM,district=zqDistrictB", "sex=zqF,zqM"],
    ],
    ids=["two records", "many fit", "three records"],
)
def test_nor_does_one_about_somebody_with_several_records(
    glasshouse: Glasshouse, known: list[str]
) -> None:
    planted = people(3, records=200)
    whose = [f"{MARK}Who{place * place % 47}" for place in range(200)]
    People(planted.columns | {"whose": whose}, planted.rare).write("visits.csv")
    facts = [word for record in known for word in ("--know", record)]
    secrets = ("-s", "count", "-s", "most ill", "-s", "other ill")
    for language in ("en", "pt-BR"):
        outcome = glasshouse(
            *("--lang", language, "target", "visits.csv", "--person", "whose", *facts, *secrets),
            *("--out", language),
        )
        assert outcome.code == 0, outcome.error
        assert found_in(let_out(Path(language))) == {}
        assert found_in({"standard error": outcome.error}) == {}
        assert all(fact in Path(language, "study.toml").read_text() for fact in known)


@settings(max_examples=2 if IS_THOROUGH else 1)
@given(seed=st.integers(0, 999))
def test_parts_with_few_people_are_not_named(glasshouse: Glasshouse, seed: int) -> None:
    plant(seed)
    outcome = glasshouse(*"assess people.csv -q age -q sex -s ill --by district --out run".split())
    assert outcome.code == 0, outcome.error
    told = let_out(Path("run"))
    assert f"{MARK}DistrictA" in told["report.html"], "parts with many people are named"
    assert found_in(told | logs(outcome), people(seed).rare) == {}
    others = frozenset({f"{MARK}Age", f"{MARK}Ill", f"{MARK}Id", f"{MARK}Note"})
    assert found_in(told | logs(outcome), others) == {}


def test_no_small_part_can_be_found_by_subtraction(glasshouse: Glasshouse) -> None:
    rows = [("F", age % 9, age % 4) for age in range(60)] + [("M", age, 0) for age in range(3)]
    lines = [f"{MARK}{sex},{MARK}{age},{MARK}{ill}" for sex, age, ill in rows]
    Path("sx.csv").write_text("\n".join(["sex,age,ill", *lines]) + "\n")
    outcome = glasshouse(*"assess sx.csv -q age -s ill --by sex --out run".split())
    assert outcome.code == 0, outcome.error
    told = let_out(Path("run")) | logs(outcome)
    assert "63 records" in told["report.html"]
    assert found_in(told) == {}
    page = archive.from_json(told["report.json"], "report.json")["en"]
    figures = re.findall(r"\b\d+\b", " ".join((page.title, page.lead, *map(str, page.findings))))
    assert {"60", "3"}.isdisjoint(figures)


def test_a_chance_in_a_named_part_tells_no_small_count(glasshouse: Glasshouse) -> None:
    ill = {"A": [6, 4, 3], "B": [15, 12, 14]}  # of 13 and of 41 people
    lines = [
        f"{MARK}Part{part},{i % 5},{MARK}{value}"
        for part, counts in ill.items()
        for value, count in enumerate(counts)
        for i in range(count)
    ]
    Path("people.csv").write_text("\n".join(["district,age,ill", *lines]) + "\n")
    outcome = glasshouse(*"assess people.csv -q age -s ill --by district --out run".split())
    assert outcome.code == 0, outcome.error
    told = let_out(Path("run")) | logs(outcome)
    assert f"{MARK}PartA" in told["report.html"]
    assert found_in(told, frozenset({"0.461538 (6/13), ", "46.15 ", "46.2%", "46,2%"})) == {}
    assert "&lt; 69.3%" in told["report.html"]
    document = json.loads(
        glasshouse(*"assess people.csv -q age -s ill --by district --json".split()).out
    )
    assert document["parts"][0]["targets"][1]["best"][0]["prior"] == 6 / 13


def test_a_larger_threshold_names_fewer_parts(glasshouse: Glasshouse) -> None:
    plant(1)
    arguments = "assess people.csv -q age -q sex -s ill --by district --smallest-cell 25 --out run"
    outcome = glasshouse(*arguments.split())
    assert outcome.code == 0, outcome.error
    assert found_in(let_out(Path("run")), frozenset({f"{MARK}DistrictB"})) == {}


PLAN = Path(__file__).parents[2] / "examples" / "trade" / "study.toml"


MARKED = {
    "city": "city",
    "importer": "importer",
    "origin": "origin",
    "order": "order",
    "product": "goods",
    "heading": "goods",
    "year": "month",
    "country": "code",
    "code": "code",
}
"""How the values of a column begin, but for ``month`` of the records and ``country`` of the names of countries."""


def mark_month() -> frozenset[str]:
    """Write a month of trade whose every key is a marker, and its plan; return the places with few importers."""
    write_trade("month", transactions=400, importers=40)
    for path in Path("month").glob("*.csv"):
        own = {
            "transactions.csv": MARKED | {"month": "month"},
            "countries.csv": MARKED | {"country": "origin"},
        }.get(path.name, MARKED)
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        if path.name == "by_city.csv":  # one key has records and no total
            keys = [(row["heading"], row["country"]) for row in rows]
            rows = [row for row, key in zip(rows, keys, strict=True) if key != keys[0]]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            for row in rows:
                writer.writerow(
                    {name: f"{MARK}{own[name]}{v}" if name in own else v for name, v in row.items()}
                )
    plan = PLAN.read_text()
    for digits, kind in ((4, "goods"), (10, "order")):
        plan = plan.replace(f"first = {digits} ", f"first = {digits + len(MARK + kind)} ")
    Path("study.toml").write_text(plan)
    with Path("month/importers.csv").open(newline="") as file:
        by_city = Counter(row["city"] for row in csv.DictReader(file))
    return frozenset(city for city, count in by_city.items() if count < SMALLEST)


def test_totals_name_no_record_no_entity_and_no_place_of_few(glasshouse: Glasshouse) -> None:
    few = mark_month()
    assert few
    arguments = "totals campaign --study study.toml --processes 1 --out run"
    outcome = glasshouse(*arguments.split())
    assert outcome.code == 0, outcome.error
    assert re.search(r"^note: city: records without totals: \d+$", outcome.error, re.MULTILINE)
    assert "note: with --json there is an example of each\n" in outcome.error
    told = let_out(Path("run")) | logs(outcome)
    kinds = {f"{MARK}{kind}" for kind in MARKED.values() if kind != "city"}
    assert found_in(told, few | kinds) == {}
    exact = json.loads(glasshouse(*arguments.split()[:-2], "--json").out)
    assert all(f"{MARK}goods" in each["example"] for each in exact["troubles"])


MALFORMED = {
    "a line too long": "age,sex\n1,F\n2,M,{secret}\n",
    "a quote never closed": 'age,sex\n1,F\n2,"{secret}\n',
    "bytes of another encoding": "age,sex\n1,São é\n2,{secret}\udcff\n",
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
def test_a_fault_in_a_file_is_told_without_its_values(glasshouse: Glasshouse, content: str) -> None:
    text = content.format(secret=f"{MARK}Cell")
    Path("bad.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    outcome = glasshouse("assess", "bad.csv", "-q", "age", "-q", "sex", "--out", "run")
    assert outcome.code == 2
    assert found_in(logs(outcome)) == {}


def test_who_can_be_named_is_told_of_no_value_that_few_people_have(glasshouse: Glasshouse) -> None:
    planted = people(3, records=400)
    town = [  # in one district people live in many towns, so that more of them can be named
        f"{MARK}Town{place % (90 if district.endswith('A') else 20)}"
        for place, district in enumerate(planted.columns["district"])
    ]
    People(planted.columns | {"town": town}, planted.rare).write("people.csv")
    outcome = glasshouse(*f"assess people.csv {KNOWN} -q town --out run".split())
    assert outcome.code == 0, outcome.error
    told = let_out(Path("run"))
    assert found_in(told, frozenset({f"{MARK}DistrictA"})), "of many people it is told"
    assert found_in(told | logs(outcome), planted.rare) == {}
    assert (
        found_in(told | logs(outcome), frozenset({f"{MARK}Ill", f"{MARK}Id", f"{MARK}Note"})) == {}
    )
    assert found_in(logs(outcome)) == {}
    page = archive.from_json(Path("run/report.json").read_text(encoding="utf-8"), "")["en"]
    (who,) = (figure for figure in page.pictures if figure.label == "Who can be identified")
    assert who.table is not None
    for group in who.table.groups:
        for _, records, share in group.rows:
            named = float(share.text.rstrip("%")) / 100 * int(records.text)
            assert all(
                round(n) == 0 or round(n) >= SMALLEST for n in (named, int(records.text) - named)
            )
