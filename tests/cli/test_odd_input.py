"""Input that no honest user has, and places that some servers are: one line and the right exit code, or it works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from glasshouse.study.assess import SWEPT_BY_DEFAULT
from tests.conftest import Glasshouse
from tests.faults import fate_of

GOOD = "age,sex,ill\n20,f,no\n20,f,no\n30,m,yes\n30,m,no\n"


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("people.csv")
    path.write_text(GOOD)
    return path


def refused(glasshouse: Glasshouse, *arguments: object) -> str:
    """Return the one line by which a command is refused."""
    outcome = glasshouse(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.count("\n") == 1
    assert "a bug in Glasshouse" not in outcome.error
    return outcome.error


def test_a_damaged_arrow_file_is_refused_and_kills_nothing(glasshouse: Glasshouse) -> None:
    table = pa.table({"name": [f"person {i}" for i in range(1000)], "age": list(range(1000))})
    with pa.ipc.new_file("good.arrow", table.schema) as writer:
        writer.write_table(table)
    good = Path("good.arrow").read_bytes()
    outcomes = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        content = bytearray(good)
        content[random.integers(8, len(good) - 8)] ^= 1 << random.integers(8)
        Path("bad.arrow").write_bytes(content)
        outcomes.append(glasshouse("inspect", "bad.arrow", "--json"))
    assert {outcome.code for outcome in outcomes} <= {0, 2}
    assert any("not a readable Arrow file" in outcome.error for outcome in outcomes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_a_malformed_file_never_lies() -> None:
    Path("people.csv").unlink()
    fates = [fate_of(number) for number in range(30, 60)]
    assert set(fates) == {"read", "refused"}  # 44 is a Parquet file with a name that is no text


def test_offsets_that_point_elsewhere_are_refused(glasshouse: Glasshouse) -> None:
    offsets = pa.py_buffer(np.array([0, 2_000_000_000, 4], np.int32))
    column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abcd")])
    batch = pa.record_batch([column], names=["name"])
    with pa.ipc.new_file("bad.arrow", batch.schema) as writer:
        writer.write_batch(batch)
    assert "is not a readable Arrow file" in refused(glasshouse, "inspect", "bad.arrow")


def test_a_leading_tilde_is_a_name_like_any_other(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    Path("~").mkdir()
    pyarrow.parquet.write_table(pa.table({"age": [1, 2, 3]}), "people.parquet")
    Path("people.parquet").rename("~/people.parquet")
    pyarrow.parquet.write_table(pa.table({"age": list(range(50))}), home / "people.parquet")
    assert '"records": 3' in glasshouse("inspect", "~/people.parquet", "--json").out
    assert glasshouse("assess", "people.csv", "-q", "age", "--out=~/run").code == 0
    assert (home / "run" / "report.html").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_nothing_waits_for_a_named_pipe(glasshouse: Glasshouse) -> None:
    os.mkfifo("pipe.csv")
    for command in (("inspect",), ("assess", "-q", "age")):
        assert "is not a regular file" in refused(glasshouse, *command, "pipe.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_nothing_in_a_folder_of_data_is_passed_over_unsaid(glasshouse: Glasshouse) -> None:
    Path("data").mkdir()
    Path("data", "a.csv").write_text("age,sex\n20,f\n30,m\n", encoding="utf-8")
    assert glasshouse("inspect", "data").code == 0
    os.mkfifo(Path("data", "b.csv"))
    for name in ("data", "data/*.csv"):
        assert "b.csv: is a pipe, a device, or a link to a folder or to nothing" in refused(
            glasshouse, "inspect", name
        )
    Path("data", "b.csv").unlink()
    Path("data", "c.csv").symlink_to("gone.csv")
    assert "c.csv: is a pipe, a device, or a link" in refused(glasshouse, "inspect", "data")
    Path("data", "c.csv").unlink()
    Path("more").mkdir()
    Path("data", "d").symlink_to(Path("more").absolute())
    assert "d: is a pipe, a device, or a link to a folder" in refused(glasshouse, "inspect", "data")


@pytest.mark.parametrize(
    "encoding", ["base64", "hex", "zlib", "rot13", "uu", "bz2", "\0", "utf-8\0", "x" * 5000]
)
def test_an_encoding_that_is_none_of_text_is_refused(glasshouse: Glasshouse, encoding: str) -> None:
    line = refused(glasshouse, "inspect", "people.csv", "--encoding", encoding)
    assert "is not an encoding" in line


def test_a_file_name_that_is_not_text_is_refused(glasshouse: Glasshouse, people: Path) -> None:
    strange = os.fsdecode(b"people\xff.csv")
    try:
        Path(strange).write_text(GOOD)
    except OSError:
        pytest.skip("the file system has text names only")
    assert "is not text in the encoding of this system" in refused(glasshouse, "inspect", strange)


@pytest.mark.parametrize(
    "command",
    [
        ("inspect", ""),
        ("assess", ""),
        ("check", "--json", ""),
        ("assess", "people.csv", "", "-q", "age"),
        ("compare", "", "run"),
        ("totals", "campaign", "--study", ""),
        ("assess", "people.csv", "-q", "age", "--out", ""),
        ("assess", "people.csv", "-q", "age", "--out="),
        ("membership", "people.csv", "-q", "age", "--population", ""),
    ],
    ids=" ".join,
)
def test_no_name_is_not_the_folder_that_one_is_in(
    glasshouse: Glasshouse, command: tuple[str, ...]
) -> None:
    assert '"" names no file or folder' in refused(glasshouse, *command)


def test_what_names_no_file_is_refused_for_its_own_reason(glasshouse: Glasshouse) -> None:
    command = ("assess", "people.csv", "-q", "age", "--policy", "")
    assert 'there is no rule ""' in refused(glasshouse, *command)


@pytest.mark.parametrize(
    ("study", "reason"),
    [
        ("a = " + "[" * 900 + "]" * 900, "nested too deeply"),
        ("a = " + "{b = " * 3000 + "1" + "}" * 3000, "nested too deeply"),
        ("a" + ".a" * 50_000 + " = 1", "nested too deeply"),
        ("seed = " + "9" * 5000, "not valid TOML"),
        ("# " + "x" * 5_000_000, "too long for a study"),
    ],
    ids=["arrays", "tables", "dots", "digits", "long"],
)
def test_a_study_that_is_none_is_refused(glasshouse: Glasshouse, study: str, reason: str) -> None:
    Path("study.toml").write_text(study)
    assert reason in refused(glasshouse, "assess", "--study", "study.toml")


def test_a_folder_as_a_study_is_named(glasshouse: Glasshouse) -> None:
    assert ".: cannot be read" in refused(glasshouse, "assess", "--study", ".")


def test_a_parquet_bomb_is_refused_before_it_is_read(glasshouse: Glasshouse) -> None:
    value = pa.array(["x" * (1 << 28)])
    pyarrow.parquet.write_table(pa.table({"name": value}), "long.parquet", compression="zstd")
    zeros = pa.table({"zero": np.zeros(8_000_000, np.int8)})
    with pyarrow.parquet.ParquetWriter("many.parquet", zeros.schema, compression="zstd") as writer:
        for _ in range(4):
            writer.write_table(zeros, row_group_size=8_000_000)
    for name in ("long.parquet", "many.parquet"):
        assert Path(name).stat().st_size < 200_000
        assert "is not an ordinary table" in refused(glasshouse, "inspect", name)


def test_a_value_that_nobody_compares_is_refused(glasshouse: Glasshouse) -> None:
    long = pa.array(["x" * ((1 << 25) + 1), "y"])
    pyarrow.parquet.write_table(pa.table({"name": long}), "long.parquet", compression="none")
    assert "holds a value of more than" in refused(glasshouse, "inspect", "long.parquet")


def spawned(*arguments: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "glasshouse", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_without_docstrings_it_works_as_with_them(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "30\n" * 20)
    command = [sys.executable, "-m", "glasshouse"]

    def said(*arguments: str, **environment: str) -> str:
        done = subprocess.run(
            [*command, *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    for arguments in (["assess", str(path), "-q", "age"], ["assess", "--help"]):
        assert said(*arguments, PYTHONOPTIMIZE="2") == said(*arguments)


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and names of bytes")
def test_a_study_that_is_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (str(tmp_path / "pipe"), "/dev/zero"):
        for command in (["assess"], ["totals", "campaign"], ["deter"]):
            code, error = spawned(*command, "--study", place)
            assert code == 2
            assert "is not a regular file" in error


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and names of bytes")
def test_a_name_that_is_no_text_is_one_line_wherever_it_is_typed(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    path = tmp_path / "people.csv"
    path.write_text("age\n30\n")
    for arguments in (
        ["assess", odd, "-q", "age"],
        ["assess", str(path), "-q", "age", "--out", odd],
        ["assess", str(path), "-q", "age", "--title", "caf\udce9"],
        ["check", str(path), "--policy", odd],
    ):
        code, error = spawned(*arguments)
        assert code == 2
        assert len(error.splitlines()) == 1
        assert "caf\\udce9: is not text" in error


def test_in_a_folder_whose_name_is_no_text_a_run_is_refused_in_one_line(
    glasshouse: Glasshouse, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = Path(os.fsdecode(b"caf\xe9"))
    try:
        strange.mkdir()
    except OSError:
        pytest.skip("the file system has text names only")
    people.rename(strange / people)
    monkeypatch.chdir(strange)
    assert glasshouse("inspect", people).code == 0
    line = refused(glasshouse, "assess", people, "-q", "age", "--out", "run")
    assert "caf\\udce9/people.csv: is not text" in line
    assert [path.name for path in Path().iterdir()] == [people.name]


def test_a_release_that_goes_deep_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000 + "]" * 100_000)
    code, error = spawned("threat", str(path))
    assert code == 2
    assert "nested too deeply" in error


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("damage", ["pipe", "deep"])
@pytest.mark.parametrize("file", ["manifest.json", "report.json", "study.toml"])
def test_a_damaged_run_is_one_line_and_not_waited_for(
    glasshouse: Glasshouse, file: str, damage: str
) -> None:
    for folder in ("run", "other"):
        assert glasshouse("assess", "people.csv", "-q", "age", "--out", folder).code == 0
    path = Path("run", file)
    path.unlink()
    if damage == "pipe":
        os.mkfifo(path)
    else:
        path.write_text(("a = " if file == "study.toml" else "") + "[" * 100_000 + "]" * 100_000)
    asked: dict[str, list[tuple[str, ...]]] = {
        "manifest.json": [("check", "run"), ("compare", "run", "other"), ("assess", "run")],
        "report.json": [("report", "run")],
        "study.toml": [("check", "run"), ("compare", "run", "other")],
    }
    for arguments in asked[file]:
        refused(glasshouse, *arguments)


@pytest.mark.skipif(os.name != "posix", reason="needs users and modes")
def test_without_a_place_for_compiled_loops_one_is_found(tmp_path: Path) -> None:
    seek = (
        "import os, tempfile; from unittest.mock import patch\n"
        "with patch('os.access', return_value=False): import glasshouse\n"
        "print(os.environ['NUMBA_CACHE_DIR'])"
    )
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    place = subprocess.run(
        [sys.executable, "-c", seek],
        env={**kept, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert Path(place).parent == tmp_path
    assert Path(place).stat().st_mode & 0o777 == 0o700


def records_of(glasshouse: Glasshouse, path: str) -> int:
    records: int = json.loads(glasshouse("inspect", path, "--json").out)["records"]
    return records


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n\r\n", "\n\n\n\n"])
def test_blank_lines_at_the_end_of_one_column_are_nobody(glasshouse: Glasshouse, end: str) -> None:
    Path("one.csv").write_bytes(f"a\n1\n1{end}".encode())
    assert records_of(glasshouse, "one.csv") == 2


def test_a_blank_line_between_values_of_one_column_is_a_missing_value(
    glasshouse: Glasshouse,
) -> None:
    Path("one.csv").write_text("a\n1\n\n\n1\n\n")
    assert records_of(glasshouse, "one.csv") == 4


def test_blank_lines_are_told_apart_across_blocks(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for length in range(2, 9):
        monkeypatch.setattr("glasshouse.sources.text.BLOCK_BYTES", length)
        Path("one.csv").write_text("a\n1\n\n\n12\n\n\n\n")
        assert records_of(glasshouse, "one.csv") == 4


def test_a_sensitive_column_may_begin_with_a_blank(glasshouse: Glasshouse) -> None:
    Path("blank.csv").write_text("a, s\n1,x\n1,y\n")
    assert glasshouse("assess", "blank.csv", "-q", "a", "-s", " s").code == 0


def test_an_index_of_pandas_is_a_column_by_its_number(glasshouse: Glasshouse) -> None:
    Path("indexed.csv").write_text(",age\n0,20\n1,30\n")
    columns = json.loads(glasshouse("inspect", "indexed.csv", "--json").out)["columns"]
    assert [column["name"] for column in columns] == ["column_1", "age"]


def test_who_asks_for_json_is_told_what_was_not_assessed(glasshouse: Glasshouse) -> None:
    columns = [f"c{i}" for i in range(25)]
    Path("wide.csv").write_text(f"{','.join(columns)},ill\n{'1,' * 25}yes\n{'2,' * 25}no\n")
    asked = (
        "assess",
        "wide.csv",
        *(word for name in columns for word in ("-q", name)),
        "-s",
        "ill",
    )
    outcome = glasshouse(*asked, "--json")
    assert outcome.code == 0
    assert "note: only the whole set of quasi-identifiers was assessed" in outcome.error


def test_of_many_attributes_the_sets_that_fit_a_minute_are_assessed_and_told(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.microdata.lattice.SUBSET_SECONDS", 4.0)
    columns = [f"c{i}" for i in range(14)]
    lines = [",".join(str((j + i) % (2 + i % 3)) for i in range(15)) for j in range(40)]
    Path("wide.csv").write_text("\n".join([f"{','.join(columns)},ill", *lines]))
    known = [word for name in columns for word in ("-q", name)]
    asked = ("assess", "wide.csv", *known, "-s", "ill", "--out", "run")
    outcome = glasshouse(*asked)
    assert outcome.code == 0
    told = (
        "very set of at most 1 of the 14 quasi-identifiers was assessed, and all 14 together: for 40 records, larger "
        "sets are reckoned to take more than the 60 seconds of “within:60”."
    )
    assert f"note: e{told}" in outcome.error
    assert f"E{told}" in Path("run/report.html").read_text(encoding="utf-8")
    sets = pyarrow.parquet.read_table("run/results.parquet")["quasi_identifiers"].to_pylist()
    assert sorted({len(names) for names in sets}) == [1, 14]
    line = refused(glasshouse, *asked, "--overwrite", "--subsets", "within:9", "--subsets", "c1")
    assert '--subsets "within:9" chooses all of them; leave out the others' in line


def test_the_risk_of_each_record_is_that_of_the_set_chosen(glasshouse: Glasshouse) -> None:
    Path("x.csv").write_text("a,b,s\n1,x,u\n1,y,v\n2,x,v\n2,y,u\n")
    asked = ("assess", "x.csv", "-q", "a", "-q", "b", "-s", "s", "--per-record", "o.parquet")
    assert glasshouse(*asked, "--subsets", "a").code == 0
    assert pyarrow.parquet.read_table("o.parquet")["reidentification"].to_pylist() == [0.5] * 4
    for chosen in (("--subsets", "a", "--subsets", "b"), ("--subsets", "max:1")):
        line = refused(glasshouse, *asked, *chosen, "--overwrite")
        assert "--per-record is about one set of quasi-identifiers; name one in --subsets" in line
    assert glasshouse(*asked, "--subsets", "all", "--overwrite").code == 0
    assert pyarrow.parquet.read_table("o.parquet")["reidentification"].to_pylist() == [1.0] * 4


def test_readme_and_help_say_up_to_how_many_attributes_every_subset_is_assessed(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "600")
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"up to {SWEPT_BY_DEFAULT} of them" in readme
    assert f"up to {SWEPT_BY_DEFAULT} of them" in glasshouse("assess", "--help").out
    asked = (
        "assess",
        "people.csv",
        "-q",
        "age",
        "-q",
        "sex",
        "-s",
        "ill",
        "--tries",
        "2",
        "--json",
    )
    outcome = glasshouse(*asked)
    assert len(json.loads(outcome.out)["results"]) == 6
    assert "note" not in outcome.error
