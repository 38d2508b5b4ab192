"""Bad input through the command line: one line on standard error, exit code 2, nothing half-written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.conftest import Glasshouse

GOOD = b"age,sex,ill\n20,F,flu\n30,M,flu\n"

FILES: dict[str, tuple[bytes, str]] = {
    "too many fields": (GOOD + b"40,M,flu,x\n", "people.csv, line 4: has 4 fields where 3 are"),
    "too few fields": (GOOD + b"40,M\n", "people.csv, line 4: has 2 fields where 3 are expected"),
    "unclosed quote": (GOOD + b'"40,M,flu\n', 'people.csv, line 4: a " opens a value'),
    "wrong byte": (
        GOOD + "40,M,asmática grávida\n".encode() + b"40,M,asi\xe1tica\n",
        "line 5: byte 0xE1 is not utf-8",
    ),
    "duplicate column": (
        b"age,sex,age\n1,F,2\n",
        'column "age" is not in people.csv; did you mean "age_2" or "age_1"?',
    ),
    "missing column": (b"idade,sex\n1,F\n", 'column "age" is not in people.csv; it has "idade"'),
    "near column": (b"AGE,sex\n1,F\n", 'column "age" is not in people.csv; did you mean "AGE"?'),
    "empty file": (b"", "people.csv: is empty"),
    "only a header": (b"age,sex\n", "people.csv: has a header but no records"),
    "damaged gzip": (gzip.compress(GOOD)[:-9], "the gzip stream is damaged or cut short"),
    "damaged parquet": (b"PAR1 and nothing more", "is not a readable Parquet file"),
}

OPTIONS: dict[str, tuple[list[str], str]] = {
    "no quasi-identifier": ([], "say what the adversary knows: -q COLUMN"),
    "one column with two roles": (["-q", "age", "-s", "age"], "a quasi-identifier and also sens"),
    "unknown sensitive column": (["-q", "age", "-s", "il"], 'did you mean "ill"?'),
    "unknown identifier": (["-q", "age", "--id", "cpf"], 'column "cpf" is not in people.csv'),
    "unknown subset": (["-q", "age", "--subsets", "sex"], '"sex" in a subset is not a quasi-id'),
    "no tries": (["-q", "age", "--tries", "0"], "should be at least 1, not 0"),
    "tries in words": (["-q", "age", "--tries", "two"], "tries"),
    "worth without a column": (
        ["-q", "age", "--worth", "flu=1"],
        "is not of the form COLUMN:VALUE",
    ),
    "worth in words": (["-q", "age", "-s", "ill", "--worth", "ill:flu=much"], '"much" of ill:flu'),
    "worth of nothing": (["-q", "age", "-s", "ill", "--worth", "ill:cold=1"], 'value "cold"'),
    "long separator": (["-q", "age", "--separator", ";;"], "the separator must be one character"),
    "unknown encoding": (["-q", "age", "--encoding", "klingon"], '"klingon" is not an encoding'),
    "unknown type": (
        ["-q", "age", "--type", "age=colour"],
        "\"types\", \"age\": input should be 'text', 'integer'",
    ),
    "type of an unknown column": (["-q", "age", "--type", "ages=integer"], 'column "ages"'),
    "text read as integer": (["-q", "sex", "--type", "sex=integer"], 'record 1: "F" in column'),
    "weights in words": (["-q", "age", "--prior-weight", "sex"], 'record 1: weight "F"'),
    "unknown option": (["-q", "age", "--frobnicate"], "No such option"),
    "study and options": (["-q", "age", "--study", "study.toml"], "--study says it all"),
    "an unwritable run folder": (["-q", "age", "--out", "people.csv/run"], "cannot write"),
    "an unwritable table": (["-q", "age", "--save-table", "none/t.arrow"], "cannot write"),
}


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(glasshouse: Glasshouse, arguments: list[str], message: str) -> None:
    before = sorted(Path().iterdir())
    outcome = glasshouse(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
    assert outcome.error.startswith("glasshouse: ")
    assert "Traceback" not in outcome.error
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("fault", FILES)
def test_a_bad_file_to_assess(glasshouse: Glasshouse, fault: str) -> None:
    content, message = FILES[fault]
    Path("people.csv").write_bytes(content)
    known = ["-q", "age", "-q", "sex"]
    check(glasshouse, ["assess", "people.csv", *known, "--out", "run", "--json"], message)


@pytest.mark.parametrize("fault", [fault for fault in FILES if "column" not in fault])
def test_a_bad_file_to_inspect(glasshouse: Glasshouse, fault: str) -> None:
    content, message = FILES[fault]
    Path("people.csv").write_bytes(content)
    check(glasshouse, ["inspect", "people.csv"], message)


@pytest.mark.parametrize("fault", OPTIONS)
def test_a_bad_option(glasshouse: Glasshouse, fault: str) -> None:
    options, message = OPTIONS[fault]
    Path("people.csv").write_bytes(GOOD)
    check(glasshouse, ["assess", "people.csv", *options, "--json"], message)


def test_no_file(glasshouse: Glasshouse) -> None:
    check(glasshouse, ["assess", "-q", "age"], "name the file to assess")
    check(glasshouse, ["assess", "nowhere.csv", "-q", "age"], "nowhere.csv: there is no such file")
    check(glasshouse, ["assess", ".", "-q", "age"], "a folder without a release")
    Path("people.csv").write_bytes(GOOD)
    check(glasshouse, ["assess", "poeple.csv", "-q", "age"], 'did you mean "people.csv"?')


def test_a_bad_study(glasshouse: Glasshouse) -> None:
    check(glasshouse, ["assess", "--study", "none.toml"], "none.toml: cannot be read")
    Path("study.toml").write_text("command = 'assess'\nquasi = 1\n")
    check(glasshouse, ["assess", "--study", "study.toml"], "study.toml: ")


def test_an_unknown_command(glasshouse: Glasshouse) -> None:
    check(glasshouse, ["asses"], "No such command 'asses'")


@pytest.mark.parametrize(
    "name", ["x[1].csv", "'; DROP TABLE x; --.csv", "<script>.csv", "a\nb.csv"]
)
def test_hostile_names_are_only_names(glasshouse: Glasshouse, name: str) -> None:
    Path(name).write_bytes(GOOD)
    outcome = glasshouse("assess", name, "-q", "age", "--out", "run", "--json")
    assert outcome.code == 0, outcome.error
    assert sorted(path.name for path in Path().iterdir()) == sorted([name, "run"])
    assert "<script>" not in Path("run/report.html").read_text()
    Path(name).write_bytes(b"")
    check(glasshouse, ["assess", name, "-q", "age"], "is empty")


def test_a_bug_of_ours_is_one_line_and_exit_code_1(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("unforeseen")

    Path("people.csv").write_bytes(GOOD)
    monkeypatch.setattr("glasshouse.runs.run", fail)
    outcome = glasshouse("assess", "people.csv", "-q", "age")
    assert outcome.code == 1
    assert outcome.error == (
        "glasshouse: a bug in Glasshouse, please report it: RuntimeError: unforeseen\n"
    )


def test_an_interrupted_run_says_that_nothing_was_written(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    Path("people.csv").write_bytes(GOOD)
    monkeypatch.setattr("glasshouse.runs.run", interrupt)
    outcome = glasshouse("assess", "people.csv", "-q", "age", "--out", "run")
    assert outcome.code == 130
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("en", "Invalid value for '--smallest-cell': give a whole number"),
        ("pt-BR", "Valor inválido para '--smallest-cell': deve ser um número inteiro"),
    ],
)
def test_a_value_that_is_no_number_is_refused_in_our_own_words(
    glasshouse: Glasshouse, code: str, said: str
) -> None:
    outcome = glasshouse("demo", "--smallest-cell", "x", "--lang", code)
    assert (outcome.code, outcome.error) == (2, f"glasshouse: {said}\n")
