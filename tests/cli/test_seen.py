"""Numbers, dates and codes as the adversary sees them: the same figures as of a file in which they stand so."""

from __future__ import annotations

import csv
import json
import random
import shlex
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

import glasshouse as gh
from tests.conftest import Glasshouse

SEEN = (
    *(
        "--date",
        "born=dd/mm/yyyy",
        "--date",
        "admitted=yyyymmdd",
        "--derive",
        "age=years(born, admitted)",
    ),
    *("--bands", "age=18,40,65", "--bands", "income=1000,5000", "--group", "icd=prefix:1"),
    *("--decimal", ",", "--thousands", ".", "--missing", "income=?"),
)
ROLES = ("-q", "age", "-q", "icd", "-q", "sex", "-s", "income")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Write people as an agency has them."""
    chance = random.Random(7)
    rows = []
    for number in range(400):
        born = date(1930, 1, 1) + timedelta(chance.randrange(29_000))
        admitted = date(2020, 1, 1) + timedelta(chance.randrange(366))
        income = chance.choice(
            ["?", "", f"{chance.randrange(1, 9)}.{chance.randrange(1000):03d},50", "999,99"]
        )
        code = f"{chance.choice('CIJ')}{chance.randrange(10, 20)}.{chance.randrange(10)}"
        written = (born.strftime("%d/%m/%Y"), admitted.strftime("%Y%m%d"))
        rows.append((number, *written, income, code, chance.choice("FM")))
    return _written(tmp_path / "raw" / "people.csv", ("n", *COLUMNS), rows)


COLUMNS = ("born", "admitted", "income", "icd", "sex")


@pytest.fixture
def plain(raw: Path, tmp_path: Path) -> Path:
    """Write the same people with their ages in bands, and so on, computed in plain Python."""
    with raw.open(encoding="utf-8") as file:
        people = list(csv.DictReader(file, delimiter=";"))
    rows = [(_age(p), p["icd"][:1], p["sex"], _income(p["income"]), _iso(p)) for p in people]
    names = ("age", "icd", "sex", "income", "admitted")
    return _written(tmp_path / "plain" / "people.csv", names, rows)


def _iso(person: dict[str, str]) -> str:
    digits = person["admitted"]
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"


def _age(person: dict[str, str]) -> str:
    day, month, year = map(int, person["born"].split("/"))
    at = date.fromisoformat(_iso(person))
    age = at.year - year - ((at.month, at.day) < (month, day))
    for low, high, label in ((0, 18, "<18"), (18, 40, "18-39"), (40, 65, "40-64")):
        if low <= age < high:
            return label
    return ">=65"


def _income(written: str) -> str:
    if written in ("", "?"):
        return ""
    number = float(written.replace(".", "").replace(",", "."))
    return "<1000" if number < 1000 else "[1000, 5000)" if number < 5000 else ">=5000"


def _written(path: Path, names: tuple[str, ...], rows: Iterable[Sequence[object]]) -> Path:
    path.parent.mkdir()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows([names, *rows])
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("assess", *ROLES),
        ("assess", *ROLES, "--where", "admitted >= {day}", "--drop-missing"),
        ("assess", *ROLES[2:], "--invalid", "admitted={day}..", "--by", "age"),
        ("target", *ROLES, "--know", "icd=C", "--know", "age=18-39"),
        ("membership", *ROLES[:-2], "--fraction", "0.5"),
        ("anonymise", *ROLES, "--k", "5", "--suppression", "0.1"),
    ],
)
def test_the_figures_are_those_of_a_file_in_which_values_stand_so(
    command: tuple[str, ...], raw: Path, plain: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    results = []
    for file, options, day in ((raw, SEEN, "20200701"), (plain, (), "2020-07-01")):
        words = [word.format(day=day) for word in command[1:]]
        out = tmp_path / f"run-{file.parent.name}"
        run = glasshouse(command[0], file, *words, *options, "--out", out)
        assert run.code == 0, run.error
        results.append((out / "results.parquet").read_bytes())
        if command[0] == "anonymise":
            assert (out / "release.csv").read_bytes().count(b"\n") == 401
    assert results[0] == results[1]


def test_a_run_repeats_itself_and_tells_everywhere_how_values_were_seen(
    raw: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    quantiles = [word.replace("1000,5000", "quantiles:3") for word in SEEN]
    run = glasshouse(
        "assess", raw, *ROLES, *quantiles, "--where", "admitted<20201101", "--out", first
    )
    assert run.code == 0, run.error
    assert glasshouse("assess", "--study", first / "study.toml", "--out", second).code == 0
    for file in first.iterdir():
        assert file.read_bytes() == (second / file.name).read_bytes()
    assert 'where = [\n    "admitted<2020-11-01",\n]' in (first / "study.toml").read_text()
    views = json.loads((first / "manifest.json").read_text())["views"]
    assert [(entry["column"], entry["what"], entry["rule"]) for entry in views] == [
        ("born", "read as dates", "dd/mm/yyyy"),
        ("admitted", "read as dates", "yyyymmdd"),
        ("age", "derived", "years(born, admitted)"),
        ("age", "put in bands", "18,40,65"),
        ("income", "put in bands", "quantiles:3"),
        ("icd", "grouped", "prefix:1"),
    ]
    (cuts,) = (entry["cuts"] for entry in views if entry["cuts"])
    sentences = (
        "“born” is read as dates written dd/mm/yyyy.",
        "“age” is derived: years(born, admitted).",
        "“age” is grouped into bands, which begin at 18, 40 and 65.",
        f"into bands of about equally many records, which begin at {cuts[0]} and {cuts[1]}.",
        "only the first character of “icd” is used.",
    )
    terminal = " ".join(run.out.split())
    for sentence in sentences:
        assert sentence in terminal
        assert sentence in (first / "report.html").read_text()
    notes = glasshouse("assess", raw, *ROLES, *SEEN, "--json")
    assert "“age” is derived: years(born, admitted)." in notes.error
    assert [step["rule"] for step in json.loads(notes.out)["treatment"]][
        2
    ] == "years(born, admitted)"


def test_a_study_may_list_cut_points_as_numbers(
    raw: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(f"""
        command = "assess"
        [[datasets]]
        path = "{raw}"
        dialect = {{ decimal = ",", thousands = "." }}
        missing = {{ income = ["?"] }}
        bands = {{ income = [1000, 5000] }}
        [adversary]
        quasi_identifiers = ["sex", "income"]
    """)
    first = glasshouse("assess", "--study", study, "--json")
    options = ("--bands", "income=1000,5000", "--subsets", "full", *SEEN[-6:])
    second = glasshouse("assess", raw, "-q", "sex", "-q", "income", *options, "--json")
    assert first.code == second.code == 0, first.error
    assert json.loads(first.out)["results"] == json.loads(second.out)["results"]


def test_python_says_the_same_with_the_same_words(
    raw: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    seen: dict[str, Any] = {
        "date": {"born": "dd/mm/yyyy", "admitted": "yyyymmdd"},
        "derive": {"age": "years(born, admitted)"},
        "bands": {"age": [18, 40, 65]},
        "group": {"icd": "prefix:1"},
    }
    known = ["age", "icd", "sex"]
    conditions = ["admitted >= 20200701"]
    spoken = [
        word
        for pair in zip(SEEN[::2], SEEN[1::2], strict=True)
        if "inc" not in pair[1]
        for word in pair
    ]
    options = ("-q", "age", "-q", "icd", "-q", "sex", *spoken, "--where", *conditions, "--json")
    answer = json.loads(glasshouse("assess", raw, *options).out)["results"]
    frame = pyarrow.csv.read_csv(raw, parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    table = gh.read(
        raw, date=seen["date"], derive=seen["derive"], quasi_identifiers=known, also=["admitted"]
    )
    later = {"bands": seen["bands"], "group": seen["group"]}
    for run in (
        gh.assess(raw, quasi_identifiers=known, where=conditions, **seen),
        gh.assess(table, where=conditions, **later),
    ):
        assert run.to_dict()["results"] == answer
    of_frame = gh.assess(frame, quasi_identifiers=known, where=conditions, **seen).to_dict()
    assert of_frame["results"][-1]["classes"] == answer[-1]["classes"]
    assert [step["rule"] for step in of_frame["treatment"] if "rule" in step][-1] == "prefix:1"
    with pytest.raises(gh.StudyError, match="are for reading"):
        gh.assess(gh.read(raw), quasi_identifiers=["sex", "born"], date=seen["date"])
    with pytest.raises(gh.DataError, match='column "icb" is not in'):
        gh.assess(table, group={"icb": "prefix:1"})


def test_release_and_register_are_seen_alike(
    raw: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    with raw.open(encoding="utf-8") as file:
        names, *rows = list(csv.reader(file, delimiter=";"))
    whole = [(*row[:3], "2000", *row[4:]) for row in rows[::2]]
    release = _written(tmp_path / "release" / "some.csv", tuple(names), whole)
    register = [(*row[:3], "2000,00", *row[4:]) for row in rows[::2]] + [
        (*row[:3], "7000,50", *row[4:]) for row in rows[1::2]
    ]
    population = _written(tmp_path / "all.d" / "all.csv", tuple(names), register)
    options = ("--population", population, "-q", "age", "-q", "income", *SEEN)
    answer = glasshouse("membership", release, *options, "--json")
    assert answer.code == 0, answer.error
    content = json.loads(answer.out)
    assert (content["people"], content["members"], content["certainly_out"]) == (400, [200], 200)
    target = glasshouse(
        "target",
        release,
        "--know",
        "born=01/01/1930..31/12/1989",
        "--know",
        "income=2000",
        *options[:2],
        *SEEN,
        "--json",
    )
    assert target.code == 0, target.error
    by_age = glasshouse("membership", release, *options, "--know", "age=18-39", "--json")
    assert by_age.code == 0, by_age.error
    quantiles = glasshouse("membership", release, *options, "--bands", "n=quantiles:2")
    assert quantiles.code == 2
    assert "in each of several files" in quantiles.error


def test_who_is_known_by_a_number_or_a_date_is_in_its_band(
    raw: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    options = ("--derive", "age=years(born, 2020-12-31)", *SEEN[:2], "--json")
    bands = ("--bands", "age=18,40,65")
    by_age = glasshouse("target", raw, "--know", "age=41", *options, *bands)
    by_band = glasshouse("target", raw, "--know", "age=40..64", *options, *bands)
    assert by_age.code == by_band.code == 0, by_age.error
    first, second = (json.loads(answer.out) for answer in (by_age, by_band))
    assert first["candidates"] == second["candidates"] > 50


def test_years_of_a_collection_are_derived_in_each_file_that_has_the_dates(
    raw: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    with raw.open(encoding="utf-8") as file:
        people = list(csv.reader(file, delimiter=";"))
    second = _written(
        tmp_path / "later" / "later.csv", ("n", "ward"), [(row[0], row[4][0]) for row in people[1:]]
    )
    run = glasshouse(
        "assess",
        raw,
        second,
        "--id",
        "n",
        "-q",
        "age",
        "-q",
        "ward",
        "-s",
        "income",
        *SEEN,
        "--json",
    )
    assert run.code == 0, run.error
    assert json.loads(run.out)["results"][-1]["datasets"] == ["people.csv", "later.csv"]
    wrong = glasshouse("assess", raw, second, "--id", "n", "-q", "ward", "--group", "wrd=prefix:1")
    assert wrong.code == 2
    assert 'column "wrd" is not in' in wrong.error


def test_what_inspect_suggests_sees_values_as_it_was_told(
    raw: Path, glasshouse: Glasshouse
) -> None:
    shown = glasshouse("inspect", raw, *SEEN)
    assert shown.code == 0, shown.error
    words = shlex.split(shown.out.replace("\n", " ").partition("Next: ")[2])
    assert [word for word in words if word in SEEN] != []
    answer = glasshouse(*words[1:], "--json")
    assert answer.code == 0, answer.error
    assert "“age” is derived: years(born, admitted)." in answer.error


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--date", "born=mm/dd/yyyy"), 'is not a date written mm/dd/yyyy; records with such values: '),
        (("--date", "born=dd/mm/yy"), "--date \"dd/mm/yy\" does not show the century"),
        (("--derive", "x=years(born)"), "write years(born, 2020-12-31), or a column of dates"),
        (("--derive", "x=year(born)"), "say how the file writes dates: --date born=dd/mm/yyyy"),
        (("--bands", "income=0,1000"), "say how numbers are written (--decimal, --thousands)"),
        (("--bands", "income=5,1"), "--bands \"5,1\" are not bands"),
        (("--group", "icd=first:1"), "write prefix:3 for their first 3 characters"),
        (("--where", "born < 01/03/2020"), "say how: --date born=dd/mm/yyyy"),
        (("--where", "born=01/03/2020.."), "say how: --date born=dd/mm/yyyy"),
        (("--group", "icd"), '--group "icd" is not of the form COLUMN=prefix:3'),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_so_is_refused_in_one_line(
    options: tuple[str, ...], sentence: str, raw: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    known = [] if options[0] in ("--where", "--group") else ["-q", options[1].partition("=")[0]]
    run = glasshouse("assess", raw, "-q", "sex", *known, *options, "--out", tmp_path / "run")
    assert run.code == 2
    assert sentence in run.error
    assert run.error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_thousands_that_are_taken_for_decimals_are_pointed_out(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    people = _written(tmp_path / "in" / "people.csv", ("x",), [["1.234"], ["987"], ["2.500"]])
    run = glasshouse("assess", people, "-q", "x", "--bands", "x=0,1000")
    assert "some have three decimals: if the sign before these separates" in " ".join(
        run.out.split()
    )
    run = glasshouse("assess", people, "-q", "x", "--bands", "x=0,1000", *SEEN[-6:-2])
    assert "decimals" not in run.out


def test_the_notes_are_in_portuguese_too(raw: Path, glasshouse: Glasshouse) -> None:
    run = glasshouse("--lang", "pt-BR", "assess", raw, *ROLES, *SEEN, "--json")
    assert run.code == 0, run.error
    assert "“age” é agrupada em faixas, que começam em 18, 40 e 65." in run.error
