"""No command destroys what it did not make, and every terminal gets something readable."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glasshouse import synthetic
from glasshouse.atomic import scratch_folder
from glasshouse.errors import DataError
from tests.conftest import Glasshouse

GOOD = "age,sex,ill\n20,F,flu\n30,M,cold\n30,M,flu\n"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(GOOD)
    return Path("people.csv")


def test_overwrite_replaces_a_run_and_nothing_else(glasshouse: Glasshouse, people: Path) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    for place, reason in (
        ("people.csv", "is a file"),
        ("mine", "is not a run folder"),
        (".", "is not a run"),
    ):
        outcome = glasshouse("assess", people, "-q", "age", "--out", place, "--overwrite")
        assert outcome.code == 2
        assert reason in outcome.error
    assert people.read_text() == GOOD
    assert sorted(path.name for path in Path().iterdir()) == ["mine", "people.csv"]
    for _ in range(2):
        assert glasshouse("assess", people, "-q", "age", "--out", "run", "--overwrite").code == 0


def test_saving_a_table_destroys_nothing(glasshouse: Glasshouse, people: Path) -> None:
    assert (
        "is the data itself"
        in glasshouse(
            "assess", people, "-q", "age", "--save-table", "people.csv", "--overwrite"
        ).error
    )
    Path("t.arrow").write_text("something else")
    assert glasshouse("assess", people, "-q", "age", "--save-table", "t.arrow").code == 2
    assert (people.read_text(), Path("t.arrow").read_text()) == (GOOD, "something else")


def test_a_study_that_does_not_fit_the_data_saves_no_table(
    glasshouse: Glasshouse, people: Path
) -> None:
    wrong = ("-q", "age", "-s", "ill", "--worth", "ill:plague=1")
    assert glasshouse("assess", people, *wrong, "--save-table", "t.arrow").code == 2
    assert not Path("t.arrow").exists()


def test_the_demo_takes_no_foreign_place(glasshouse: Glasshouse, people: Path) -> None:
    Path("1-assessed").mkdir()
    Path("1-assessed/mine").write_text("x")
    assert glasshouse("demo", "--out", ".").code == 2
    assert glasshouse("demo", "--out", people).code == 2
    Path("d").mkdir()
    Path("d/census-2018.csv").write_text("my own")
    assert glasshouse("demo", "--out", "d").code == 2
    assert Path("d/census-2018.csv").read_text() == "my own"


def test_a_study_takes_no_further_options(glasshouse: Glasshouse, people: Path) -> None:
    assert glasshouse("assess", people, "-q", "age", "--out", "run").code == 0
    for option in (
        ["--subject", "cow"],
        ["--separator", ";"],
        ["--no-header"],
        ["--type", "age=integer"],
    ):
        outcome = glasshouse("assess", "--study", "run/study.toml", *option)
        assert (outcome.code, "--study says it all" in outcome.error) == (2, True)


def test_what_applies_to_delimited_text_only_is_refused_elsewhere(
    glasshouse: Glasshouse, people: Path
) -> None:
    assert glasshouse("assess", people, "-q", "age", "--save-table", "t.arrow").code == 0
    outcome = glasshouse("assess", "t.arrow", "-q", "age", "--separator", ";")
    assert (outcome.code, "is not delimited text" in outcome.error) == (2, True)


def test_the_worth_of_values_stays_out_of_the_report(glasshouse: Glasshouse, people: Path) -> None:
    options = ("-q", "age", "-s", "ill", "--worth", "ill:flu=10,cold=1")
    assert glasshouse("assess", people, *options, "--out", "run").code == 0
    report = Path("run/report.html").read_text(encoding="utf-8")
    assert "flu" not in report
    assert "flu" in Path("run/study.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_no_terminal_is_too_narrow_for_the_words(
    glasshouse: Glasshouse, people: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = "".join(glasshouse("inspect", people).out.split())
    assert "quasi-identifier" in shown
    assert 'called"age"' in shown
    told = "".join(glasshouse("assess", people, "-q", "age", "-q", "sex", "-s", "ill").out.split())
    assert "identifytheperson" in told
    assert "sharetheirswithonly1to3others" in told


def test_control_characters_do_not_reach_the_terminal(glasshouse: Glasshouse, people: Path) -> None:
    people.write_text("a\x1b[31mred,b\n1,2\n")
    for arguments in (
        ["inspect", people],
        ["assess", people, "-q", "a\x1b[31mred"],
        ["assess", people, "-q", "x"],
    ):
        outcome = glasshouse(*arguments)
        assert "\x1b[31m" not in outcome.out + outcome.error


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_cannot_show_a_character_shows_another(people: Path, encoding: str) -> None:
    command = [sys.executable, "-m", "glasshouse", "assess", str(people), "-q", "age"]
    done = subprocess.run(
        command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding}, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"can be identified outright by anyone" in done.stdout


def has_open(process: subprocess.Popen[bytes], name: str) -> bool:
    """Tell whether a process has a file open, or has ended."""
    handles = Path(f"/proc/{process.pid}/fd")
    try:
        return any(handle.readlink().name == name for handle in handles.iterdir())
    except OSError:  # a handle, or the process, was gone meanwhile
        return process.poll() is not None


def test_an_interrupt_is_one_line_and_exit_code_130(people: Path) -> None:
    synthetic.write("school-census", records=400_000, path="census.csv")
    command = [sys.executable, "-m", "glasshouse", "inspect", "census.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        if Path("/proc").is_dir():  # while it reads, however fast the machine is
            while not has_open(process, "census.csv"):
                time.sleep(0.01)
        else:
            time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate()
    assert (process.returncode, out, error) == (130, b"", b"glasshouse: stopped\n")


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["in blocks", "at once"])
def test_a_full_disk_under_the_output_is_one_line(people: Path, unbuffered: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    command = [sys.executable, "-m", "glasshouse", "assess", str(people), "-q", "age", "--json"]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, check=False, env=environment
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


def test_too_few_open_files_are_one_line(people: Path) -> None:
    command = [sys.executable, "-m", "glasshouse", "assess", str(people), "-q", "age", "--out", "r"]
    limited = ["sh", "-c", 'ulimit -n 16; exec "$@"', "sh", *command]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "allow 32 (ulimit -n 32)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("r").exists()


def test_a_full_disk_for_what_does_not_fit_into_memory_is_named(tmp_path: Path) -> None:
    full = OSError("449944 requested and 131072 written")
    with pytest.raises(DataError, match=r"cannot be kept there .* set TMPDIR"), scratch_folder():
        raise full


def test_a_pipe_is_not_a_file_to_read(glasshouse: Glasshouse, people: Path) -> None:
    outcome = glasshouse("inspect", "/dev/null")
    assert (outcome.code, "is not a regular file" in outcome.error) == (2, True)


def test_the_command_that_inspect_proposes_works(glasshouse: Glasshouse, people: Path) -> None:
    rows = "20;F;1\n30;M;2\n30;M;2\n" * 4
    people.write_bytes(f"idade;sexo;renda, líquida\n{rows}".encode("latin-1"))
    reading = ("--encoding", "latin-1", "--type", "idade=integer")
    proposed = glasshouse("inspect", people, *reading).out.partition("Next: glasshouse ")[2].strip()
    import shlex

    outcome = glasshouse(*shlex.split(proposed))
    assert outcome.code == 0, outcome.error
    assert "infer renda, líquida" in outcome.out
