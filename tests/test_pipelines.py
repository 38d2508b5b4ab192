"""What pipelines use of the repository itself: the action runs the check as its inputs say, and so does the hook."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from glasshouse.study.policy import POLICIES

ROOT = Path(__file__).parents[1]


def step() -> str:
    """Return the script of the action's last step."""
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    script = action.rpartition("run: |\n")[2]
    return re.sub("^ {8}", "", script, flags=re.MULTILINE)


@pytest.mark.parametrize(("policy", "code"), [("internal", 0), ("open-data", 4), ("nothing", 2)])
@pytest.mark.parametrize("arguments", ["-q\nsex\n-q\nage\n", "-q sex -q 'age'"])
def test_the_action_checks_what_its_inputs_say(
    tmp_path: Path, policy: str, code: int, arguments: str
) -> None:
    release = tmp_path / "my release.csv"
    rows = "".join(f"{'FM'[place % 2]},{place % 5}\n" for place in range(50))
    release.write_text(f"sex,age\n{rows}", encoding="utf-8")
    done = run_step(
        CHECK_PATH=str(release),
        CHECK_POLICY=policy,
        CHECK_ARGUMENTS=arguments,
        CHECK_JUNIT=str(tmp_path / "verdict.xml"),
    )
    assert done.returncode == code, done.stderr
    assert (tmp_path / "verdict.xml").exists() == (code != 2)


@pytest.mark.parametrize(("people", "code"), [(40, 0), (4, 4)])
def test_the_action_checks_an_output_against_a_ledger(
    tmp_path: Path, people: int, code: int
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(f"sex,people\nF,{people}\nM,30\n", encoding="utf-8")
    (tmp_path / "went").mkdir()
    done = run_step(CHECK_PATH=str(table), CHECK_LEDGER=str(tmp_path / "went"))
    assert done.returncode == code, done.stderr


def run_step(**given: str) -> subprocess.CompletedProcess[bytes]:
    """Run the script of the action with some of its inputs, and the others empty."""
    names = ("PATH", "POLICY", "LEDGER", "ARGUMENTS", "JUNIT", "SARIF")
    inputs = {f"CHECK_{name}": "" for name in names} | given
    # the runner has the installed command on its path; here it lies beside the interpreter
    path = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    return subprocess.run(
        ["bash", "-c", step()], env=os.environ | path | inputs, capture_output=True, check=False
    )


def test_the_inputs_reach_the_script_by_its_environment_only() -> None:
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert "${{" not in step()
    named = set(re.findall(r"\$\{\{ inputs\.(\w+) \}\}", action))
    inputs = re.findall(r"^  (\w+):\n    description", action, flags=re.MULTILINE)
    assert named == set(inputs)


def test_the_action_names_every_rule_that_comes_along() -> None:
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    said = re.search(r"policy:\n +description: (.*)", action)
    assert said is not None
    assert said[1].partition(", or ")[0].split(", ") == [*POLICIES]


def test_the_hook_runs_a_command_of_ours() -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert "entry: glasshouse check\n" in hook
    assert "pass_filenames: false" in hook
