"""What R and Stata type is what the command line takes, and their versions are ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from glasshouse.cli.main import app
from glasshouse.cli.translation import command_of

ROOT = Path(__file__).parents[1]
STATA = (ROOT / "stata" / "glasshouse.ado").read_text("utf-8")
R = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "r" / "R").glob("*.R")))
OPTION = re.compile(r"(?<=[\s\"])(--[a-z][a-z-]+|-[qs])(?=[\s\"])")


def options_of(*commands: str) -> set[str]:
    """Return the options that all of these commands take."""
    root = command_of(app)
    return set.intersection(
        *({word for one in root.commands[name].params for word in one.opts} for name in commands)
    )


def test_stata_passes_options_that_its_three_questions_take() -> None:
    typed = set(OPTION.findall(STATA))
    assert {"--policy", "--lang", "-q", "-s", "--id", "--out"} == typed
    assert typed <= options_of("assess", "check", "protect")


@pytest.mark.parametrize("command", ["assess", "check", "protect", "tables"])
def test_r_passes_options_that_its_questions_take(command: str) -> None:
    body = re.search(rf"^gh_{command} <- .*?^}}", R, re.MULTILINE | re.DOTALL)
    assert body is not None
    typed = set(OPTION.findall(re.sub(r"#.*", "", body[0])))
    assert typed <= options_of(command), command
    shared = re.search(r"^gh_question <- .*?^}", R, re.MULTILINE | re.DOTALL)
    asked = re.search(r"^gh_ask <- .*?^}", R, re.MULTILINE | re.DOTALL)
    assert shared is not None
    assert asked is not None
    assert set(OPTION.findall(asked[0])) <= options_of(command)
    if command in ("assess", "check"):
        assert set(OPTION.findall(shared[0])) <= options_of(command)


def test_blocks_of_the_stata_programme_are_closed() -> None:
    code = "\n".join(line for line in STATA.splitlines() if not line.lstrip().startswith("*"))
    opened = [line for line in code.splitlines() if line.rstrip().endswith("{")]
    closed = [line for line in code.splitlines() if line.strip() == "}"]
    assert len(opened) == len(closed) > 5
    assert code.count("program define glasshouse") == code.splitlines().count("end") == 1
    assert code.count('`"') == code.count("\"'") > 10


def test_every_language_has_the_version_of_the_package() -> None:
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert version is not None
    assert f"Version: {version[1]}\n" in (ROOT / "r" / "DESCRIPTION").read_text("utf-8")
    assert STATA.startswith(f"*! version {version[1]} ")
