"""The first minutes: help, demo, inspect."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer import _coercion

from glasshouse.cli.main import app
from glasshouse.cli.translation import command_of
from glasshouse.language import percentage
from glasshouse.runs.folder import stored_measures, stored_report
from tests.conftest import Glasshouse

HEAVY = {"numpy", "numba", "pyarrow", "altair", "pydantic", "scipy", "jinja2", "vl_convert"}


def imported_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


def test_help_imports_nothing_heavy() -> None:
    names = imported_by("from glasshouse.cli.main import main; main(['--help'])")
    assert not names & (HEAVY - {"pydantic"})  # typer itself brings pydantic


def test_a_command_costs_the_words_of_its_own_question_alone() -> None:
    words = "['assess', '--help']"
    names = imported_by(f"from glasshouse.cli.main import main; main({words})")
    studies = {name.rpartition(".")[2] for name in names if name.startswith("glasshouse.study.")}
    assert "assess" in studies
    assert not studies & {"anonymise", "compare", "deter", "threat", "totals"}
    names = imported_by("from glasshouse.cli.main import main; main(['--help'])")
    assert "glasshouse.study" not in names


def test_a_command_makes_options_of_what_is_typed_and_reads_those_that_are_given(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was typed before: a process that carried out every command once took sixty milliseconds for each."""
    command_of(app)
    commands = command_of(app, ["assess"]).commands
    common = len(commands["threat"].params)
    assert common < 10 < len(commands["assess"].params) - common
    read: list[str] = []
    build = _coercion.build_runtime_param

    def noted(descriptor: Any) -> Any:
        read.append(str(descriptor.annotation))
        return build(descriptor)

    monkeypatch.setattr("glasshouse.cli.main.command_of", command_of)  # no other test's
    monkeypatch.setattr("typer.core.build_runtime_param", noted)
    file = tmp_path / "people.csv"
    file.write_text("age,ill\n30,flu\n")
    assert glasshouse("assess", file, "-q", "nothing").code == 2
    assert 2 <= len(read) < 10, "of some seventy"


def test_importing_glasshouse_imports_nothing_heavy() -> None:
    assert not imported_by("import glasshouse") & HEAVY


def test_a_check_imports_nothing_that_protects(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,ill\n" + "30,flu\n31,cold\n" * 40)
    names = imported_by(f"from glasshouse.cli.main import main; main(['check', {str(file)!r}])")
    assert "glasshouse.microdata.lattice" in names
    assert not [name for name in names if name.startswith("glasshouse.mitigation")]


def test_a_run_is_read_and_judged_without_a_compiler_and_without_pictures() -> None:
    names = imported_by("import glasshouse.runs, glasshouse.report.verdict")
    assert not names & {"numba", "altair", "vl_convert", "scipy", "ortools"}


def test_every_public_name_is_there() -> None:
    import glasshouse

    assert len(glasshouse.__all__) <= 30
    assert sorted(glasshouse.__all__) == sorted(set(dir(glasshouse)))
    for name in glasshouse.__all__:
        assert getattr(glasshouse, name) is not None
    with pytest.raises(AttributeError):
        getattr(glasshouse, "nonsense")  # noqa: B009


@pytest.mark.parametrize("arguments", [[], ["--help"], ["assess", "--help"], ["inspect", "--help"]])
def test_help_is_help(glasshouse: Glasshouse, arguments: list[str]) -> None:
    outcome = glasshouse(*arguments)
    assert outcome.code == 0
    assert "Usage" in outcome.out


def options_in(help_text: str) -> list[str]:
    return re.findall(r"^│ (--[a-z-]+)", help_text, re.MULTILINE)


def test_the_help_of_a_command_shows_ten_options_and_names_where_the_others_are(
    glasshouse: Glasshouse,
) -> None:
    commands = command_of(app).commands
    long = [name for name, one in commands.items() if getattr(one.callback, "first", ())]
    assert len(long) > 8
    for name in long:
        first, whole = glasshouse(name, "--help").out, glasshouse(name, "--help-all").out
        shown, every = options_in(first), options_in(whole)
        assert len(shown) == 12, "ten, and both helps"
        assert set(shown) < set(every)
        hidden = len(every) - len(shown)
        assert f"{hidden} more options, by subject: " in first
        assert first.rstrip().endswith(f"{name} --help-all")
        visible = [p for p in commands[name].params if not getattr(p, "hidden", False)]
        options = [p for p in visible if p.param_type_name == "option"]
        assert len(every) == len(options) + 1, "all, and the help"
    short = glasshouse("synth", "--help").out
    assert short == glasshouse("synth", "--help-all").out


def test_version(glasshouse: Glasshouse) -> None:
    assert glasshouse("--version").out.startswith("glasshouse 0.")


def test_the_demo_tells_the_story_and_names_its_report(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    folder = tmp_path / "demo"
    outcome = glasshouse("demo", "--out", folder)
    assert outcome.code == 0, outcome.error
    assert "of the 100,000 students" in outcome.out.replace("\n", "")
    assert outcome.out.count("•") >= 10
    assert (
        "\nProtected by Anatomy\n• Anatomy does not protect against identification" in outcome.out
    )
    assert str(folder / "report.html") in outcome.out
    steps = sorted(path.name for path in folder.iterdir() if path.is_dir())
    assert [step[0] for step in steps] == list("123456")
    assert all((folder / step / "report.html").is_file() for step in steps)
    english = (folder / "report.html").read_text(encoding="utf-8")
    story = stored_report(folder).page("en")
    guesses = []
    for chapter in ("1-assessed", "2-two-years", "3-k-anonymous"):
        measured = stored_measures(folder / chapter)
        guesses += [m.value for m in measured if m.measure == "best-guess" and m.knows is None]
    assert [tile.figure for tile in story.tiles] == [percentage(guess) for guess in guesses]
    assert guesses[1] > guesses[0] > guesses[2], "a second year adds, and protection takes away"
    spoken = glasshouse("demo", "--out", folder, "--lang", "pt-BR", "--json")
    assert json.loads(spoken.out)["records"] == 100_000
    portuguese = (folder / "report.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in english
    assert '<html lang="pt-BR">' in portuguese
    words = re.sub(r"<(style|code|pre)\b.*?</\1>", "", portuguese, flags=re.DOTALL)
    assert "município de residência" in words
    assert not re.findall(
        r"\b(?:of birth|of_birth|of residence|of_residence|gender|ethnicity)\b", words
    )
    again = glasshouse("assess", "--study", folder / "1-assessed" / "study.toml", "--json")
    assert json.loads(again.out)["records"] == 100_000


@pytest.mark.parametrize("fault", ["", "30\n"])
def test_a_first_look_at_a_file_compiles_nothing(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    lines = "".join(f'{i},"{i % 90}","a ""b"", c"\r\n' for i in range(20_000))
    path.write_text(f"id,age,said\r\n{lines}{fault}{lines}", encoding="utf-8", newline="")
    compiled = tmp_path / "compiled"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(compiled))
    names = imported_by(f"from glasshouse.cli.main import main; main(['inspect', {str(path)!r}])")
    assert "pyarrow" in names
    assert "numba" not in names
    assert not compiled.exists()
    page = str(tmp_path / "page.html")
    imported_by(
        f"from glasshouse.cli.main import main; main(['inspect', {str(path)!r}, '--out', {page!r}])"
    )
    assert Path(page).exists() is (not fault)
    assert not [file for file in compiled.rglob("*") if file.is_file()]


def test_an_answer_in_json_imports_nothing_that_draws(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n20,F\n30,M\n", encoding="utf-8")
    words = ["assess", str(path), "-q", "age", "--json"]
    names = imported_by(f"from glasshouse.cli.main import main; main({words!r})")
    assert not names & {"altair", "jinja2", "vl_convert"}


def test_inspect_describes_columns_and_proposes_the_next_command(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    people = ("1,20,F,low", "2,30,M,", "3,30,M,high", "4,20,F,low", "5,30,M,", "6,30,M,high")
    path.write_text("\n".join(("cpf,age,sex,income", *people)), encoding="utf-8")
    outcome = glasshouse("inspect", path)
    assert outcome.code == 0
    assert "people.csv: 6 records, 4 columns" in outcome.out
    assert "-q age -q sex -s income --id cpf" in outcome.out
    content = json.loads(glasshouse("inspect", path, "--json").out)
    assert content["records"] == 6
    assert content["columns"][3] == {
        "name": "income",
        "records": 6,
        "kind": "text",
        "distinct": 2,
        "missing": 2,
        "unique": 0,
        "role": "sensitive",
        "reason": 'called "income"',
        "looks_like": "",
        "maybe_missing": [],
        "dates": [],
        "numbers": [],
        "oddities": [],
        "categories": [["low", 2], ["high", 2]],
        "rarest": 2,
        "label": "",
        "value_labels": {},
    }


def test_inspect_adult(glasshouse: Glasshouse, shared: Callable[[str], Path]) -> None:
    content = json.loads(glasshouse("inspect", shared("data/arx/adult.csv"), "--json").out)
    roles = {column["name"]: column["role"] for column in content["columns"]}
    assert content["records"] == 30_162
    assert roles["salary-class"] == "sensitive"
    assert roles["native-country"] == "quasi-identifier"


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n1\n2\n")
    command = [sys.executable, "-m", "glasshouse", "assess", str(path), "-q", "age", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE
