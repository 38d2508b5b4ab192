"""``glasshouse ledger`` and ``check --ledger``: what went out counts, nobody is named, and nothing is half-written."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import glasshouse as gh
from glasshouse.atomic import held, new_file
from glasshouse.errors import DataError
from glasshouse.runs.ledger import CHAIN, Ledger
from tests.conftest import Glasshouse
from tests.tabulation.test_solution import golden

ATTRIBUTES = {
    "town": {"values": ["Springfield", "Ogdenville"]},
    "ill": {"values": ["leprosy", "none"]},
}
HOMES = "town,people\nSpringfield,120\nOgdenville,180\n"
CLINIC = "town,ill,people\nSpringfield,leprosy,20\nSpringfield,none,100\n"
ILL = "ill,people\nleprosy,23\nnone,277\n"


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, glasshouse: Glasshouse) -> Path:
    """Return a folder with three outputs of 300 people, of whom the ledger has one."""
    monkeypatch.chdir(tmp_path)
    for name, content in (("homes", HOMES), ("ill", ILL)):
        Path(f"{name}.csv").write_text(content, encoding="utf-8")
    plan = {
        "attributes": ATTRIBUTES,
        "tables": [
            {
                "id": "clinic",
                "complete": False,
                "by": ["town", "ill"],
                "rows": [["Springfield", "leprosy", 20], ["Springfield", "none", 100]],
            }
        ],
    }
    Path("clinic.json").write_text(json.dumps(plan), encoding="utf-8")
    assert glasshouse("ledger", "add", "went", "homes.csv", "--who", "Ana").code == 0
    return tmp_path


def test_the_golden_check_by_the_command_and_by_python(
    glasshouse: Glasshouse, tmp_path: Path, shared: Callable[[str], Path]
) -> None:
    check = golden(shared, "differencing")["check"]
    for name in ("ledger", "new"):
        (tmp_path / f"{name}.json").write_text(json.dumps(check[name]), encoding="utf-8")
    went = tmp_path / "went"
    assert glasshouse("ledger", "add", str(went), str(tmp_path / "ledger.json")).code == 0
    done = glasshouse("check", str(tmp_path / "new.json"), "--ledger", str(went), "--json")
    assert done.code == 4
    by_python = gh.ledger(went).check(check["new"]).to_dict()
    for content in (json.loads(done.out), by_python):
        assert content["verdict"] == check["verdict"]
        assert (content["before"], content["after"]) == (check["before"], check["after"])
        assert content["new_certain_persons"] == content["new_rare_persons"] == 20
        assert content["because"] == ["out-1"]
        assert content["advice"]["change"] == "round"


def test_an_output_passes_alone_and_not_after_another(glasshouse: Glasshouse, town: Path) -> None:
    assert glasshouse("check", "clinic.json", "--ledger", "went", "--accept").code == 0
    done = glasshouse("check", "ill.csv", "--ledger", "went", "--json")
    assert done.code == 4
    content = json.loads(done.out)
    assert content["verdict"] == "discloses"
    assert content["new_rare_persons"] == 3  # 23 lepers, of whom 20 are in Springfield
    assert set(content["because"]) <= {"homes", "clinic"}
    assert "clinic" in content["because"]
    assert content["advice"]
    refused = glasshouse("check", "ill.csv", "--ledger", "went", "--accept")
    assert refused.code == 4
    names = [entry.name for entry in Ledger(Path("went")).entries]
    assert names == ["homes", "clinic"]
    Path("rounded.json").write_text(
        json.dumps(
            {
                "tables": [
                    {
                        "id": "ill",
                        "by": ["ill"],
                        "rows": [["leprosy", 20], ["none", 280]],
                        "rounding": {"base": 20, "how": "nearest"},
                    }
                ]
            }
        ),
        encoding="utf-8",
    )
    accepted = glasshouse("check", "rounded.json", "--ledger", "went", "--accept", "--json")
    assert accepted.code == 0, accepted.out
    assert json.loads(accepted.out)["accepted"]
    assert [entry.name for entry in Ledger(Path("went")).entries][2:] == ["ill"]


def test_nobody_is_named_but_to_the_publisher(glasshouse: Glasshouse, town: Path) -> None:
    assert glasshouse("ledger", "add", "went", "clinic.json").code == 0
    command = ("check", "ill.csv", "--ledger", "went", "--junit", "v.xml", "--sarif", "v.sarif")
    told = []
    for more in (("--reasons", "reasons.json"), ("--json",), ("--lang", "pt-BR")):
        done = glasshouse(*command, *more, "--overwrite")
        assert done.code == 4, done.error
        told += [done.out, done.error]
    told += [Path(name).read_text(encoding="utf-8") for name in ("v.xml", "v.sarif")]
    for text in told:
        assert "leprosy" not in text
        assert "Ogdenville" not in text
    reasons = json.loads(Path("reasons.json").read_text(encoding="utf-8"))
    assert Path("reasons.json").stat().st_mode & 0o077 == 0
    assert {"town": "Ogdenville", "ill": "leprosy"} in [one["values"] for one in reasons["reasons"]]
    suite = ElementTree.fromstring(Path("v.xml").read_text(encoding="utf-8"))
    assert int(suite.attrib["failures"]) > 0
    results = json.loads(Path("v.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert "newly-certain" in {result["ruleId"] for result in results}
    assert all(
        entry.content["verdict"]["because"] is not None for entry in Ledger(Path("went")).entries
    )
    entries = [path.read_text(encoding="utf-8") for path in Path("went").glob("*clinic.json")]
    assert "Ogdenville" not in re.sub(r'"plan".*', "", entries[0], flags=re.DOTALL)


def test_what_was_withdrawn_still_counts(glasshouse: Glasshouse, town: Path) -> None:
    assert glasshouse("ledger", "add", "went", "clinic.json").code == 0
    before = glasshouse("check", "ill.csv", "--ledger", "went", "--json")
    done = glasshouse("ledger", "withdraw", "went", "clinic", "--why", "a wrong year")
    assert done.code == 0
    assert "still counts" in done.out
    again = glasshouse("check", "ill.csv", "--ledger", "went", "--json")
    first, second = json.loads(before.out), json.loads(again.out)
    assert first.pop("head") != second.pop("head")
    assert first == second
    listed = json.loads(glasshouse("ledger", "list", "went", "--json").out)
    assert [one["withdrawn"] for one in listed["outputs"]] == [False, True]
    assert "conta" in glasshouse("ledger", "list", "went", "--lang", "pt-BR").out
    assert glasshouse("ledger", "withdraw", "went", "clinic").code == 2
    shown = json.loads(glasshouse("ledger", "show", "went", "homes").out)
    assert (shown["who"], shown["event"], shown["number"]) == ("Ana", "added", 1)
    assert shown["plan"]["tables"][0]["rows"][0] == ["Springfield", 120]
    assert glasshouse("ledger", "show", "went", "home").code == 2


def test_cohorts_that_differ_by_one_person_are_differenced(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("march.csv").write_text("age,ill,n\n<65,yes,40\n<65,no,60\n65+,yes,30\n65+,no,70\n")
    Path("april.csv").write_text("age,ill,n\n<65,yes,40\n<65,no,60\n65+,yes,29\n65+,no,70\n")
    first = ("ledger", "add", "went", "march.csv", "--people", "200")
    assert glasshouse(*first).code == 0
    done = glasshouse("check", "april.csv", "--ledger", "went", "--cohort", "in_april", "--json")
    assert done.code == 4
    content = json.loads(done.out)
    assert content["because"] == ["march"]
    assert content["new_rare_persons"] == 1
    whole = glasshouse("check", "april.csv", "--ledger", "went", "--json")
    assert json.loads(whole.out)["verdict"] == "contradiction"
    assert whole.code == 4
    added = glasshouse("ledger", "add", "went", "april.csv")
    assert added.code == 2
    assert "--cohort" in added.error
    assert len(Ledger(Path("went")).entries) == 1


# -- nothing is altered unnoticed ------------------------------------------------------------------------------------


def three(folder: Path) -> Ledger:
    """Return a ledger of three entries."""
    ledger = Ledger(folder)
    for name, count in (("a", 60), ("b", 70)):
        table = {"id": name, "by": [name], "rows": [["x", count], ["y", 100 - count]]}
        attributes = {name: {"values": ["x", "y"]}}
        ledger.add({"people": 100, "attributes": attributes, "tables": [table]}, who="Ana")
    ledger.withdraw("a", why="wrong", who="Ana")
    return ledger


def rewritten(folder: Path, name: str, old: str, new: str, *, sealed: bool = False) -> None:
    """Change a file, and its line of the chain as well where that is to be hidden."""
    path = folder / name
    before = path.read_text(encoding="utf-8")
    assert old in before
    path.write_text(before.replace(old, new, 1), encoding="utf-8")
    if sealed:
        chain = (folder / CHAIN).read_text(encoding="utf-8")
        digests = [hashlib.sha256(one.encode()).hexdigest() for one in (before, path.read_text())]
        (folder / CHAIN).write_text(chain.replace(digests[0], digests[1]), encoding="utf-8")


def lines(folder: Path, order: Callable[[list[str]], list[str]]) -> None:
    chain = (folder / CHAIN).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / CHAIN).write_text("".join(order(chain)), encoding="utf-8")


def forged(folder: Path) -> None:
    (folder / "0000-forged.json").write_text("{}", encoding="utf-8")


def dropped_last(folder: Path) -> None:
    (folder / "0003-a.json").unlink()
    lines(folder, lambda chain: chain[:-1])


PROBES: dict[str, Callable[[Path], object]] = {
    "a count": lambda at: rewritten(at, "0001-a.json", "60", "61"),
    "a count, and its digest": lambda at: rewritten(at, "0001-a.json", "60", "61", sealed=True),
    "a verdict": lambda at: rewritten(at, "0002-b.json", '"publishable"', '"discloses"'),
    "who asked, and its digest": lambda at: rewritten(
        at, "0002-b.json", '"who": "Ana"', '"who": "Eva"', sealed=True
    ),
    "a certificate": lambda at: rewritten(at, "0001-a.proof.json", "60", "61"),
    "a certificate, and its digest": lambda at: rewritten(
        at, "0001-a.proof.json", '"claims": [[6', '"claims": [[5', sealed=True
    ),
    "a file is gone": lambda at: (at / "0001-a.json").unlink(),
    "a certificate is gone": lambda at: (at / "0002-b.proof.json").unlink(),
    "a line is gone": lambda at: lines(at, lambda chain: [*chain[:2], *chain[4:]]),
    "two lines change places": lambda at: lines(
        at, lambda chain: [*chain[2:4], *chain[:2], chain[4]]
    ),
    "the last line is gone": lambda at: lines(at, lambda chain: chain[:3]),
    "the chain is gone": lambda at: (at / CHAIN).unlink(),
    "an entry is forged": forged,
    "the last entry is gone, and its line": dropped_last,
}


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger") / "went"
    three(folder)
    return folder


@pytest.mark.parametrize("probe", PROBES)
def test_whatever_is_altered_is_noticed(
    probe: str, untouched: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    folder = tmp_path / "went"
    folder.mkdir()
    for path in untouched.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    head = Ledger(folder).head
    verify = ("ledger", "verify", str(folder), "--head", head)
    accepted = glasshouse(*verify, "--json")
    assert accepted.code == 0, accepted.error
    assert json.loads(accepted.out)["outputs"] == 2
    PROBES[probe](folder)
    refused = glasshouse(*verify)
    assert refused.code == 2
    assert refused.out == ""
    assert len(refused.error.splitlines()) == 1
    assert "altered" in refused.error


def test_a_stranger_checks_the_digests_by_hand(untouched: Path) -> None:
    done = subprocess.run(["sha256sum", "--check", "--quiet", CHAIN], cwd=untouched, check=False)
    assert done.returncode == 0


# -- nothing is lost, nothing half-written ---------------------------------------------------------------------------


def test_two_processes_do_not_write_at_once(glasshouse: Glasshouse, town: Path) -> None:
    before = {path.name: path.read_bytes() for path in Path("went").iterdir()}
    with held(Path("went") / CHAIN):
        refused = glasshouse("ledger", "add", "went", "ill.csv")
    assert refused.code == 2
    assert "another process" in refused.error
    assert {path.name: path.read_bytes() for path in Path("went").iterdir()} == before
    assert glasshouse("ledger", "add", "went", "ill.csv").code == 0
    assert glasshouse("ledger", "verify", "went").code == 0


@pytest.mark.parametrize("written", range(3))
def test_a_full_disk_or_a_kill_loses_nothing(
    written: int, town: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, count = new_file, 0

    def failing(path: Path, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count > written:
            raise OSError(28, "No space left on device")
        return whole(path, **options)

    monkeypatch.setattr("glasshouse.runs.ledger.new_file", failing)
    failed = glasshouse("ledger", "add", "went", "ill.csv")
    assert failed.code == 2
    assert len(failed.error.splitlines()) == 1
    monkeypatch.undo()
    os.chdir(town)
    assert [entry.name for entry in Ledger(Path("went")).entries] == ["homes"]
    assert glasshouse("ledger", "verify", "went").code == 0
    assert glasshouse("ledger", "add", "went", "clinic.json").code == 0
    assert glasshouse("ledger", "verify", "went").code == 0
    assert [entry.name for entry in Ledger(Path("went")).entries] == ["homes", "clinic"]


@pytest.mark.parametrize(("written", "outputs"), [(0, 1), (1, 1), (2, 2)])
def test_a_process_that_is_killed_loses_nothing(written: int, outputs: int, town: Path) -> None:
    code = (
        "import os, signal, glasshouse.runs.ledger as module\n"
        "whole, files = module.new_file, []\n"
        "def killed(path, **options):\n"
        "    files.append(path)\n"
        f"    if len(files) > {written}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return whole(path, **options)\n"
        "module.new_file = killed\n"
        "module.Ledger(__import__('pathlib').Path('went')).add('ill.csv')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    ledger = Ledger(Path("went"))
    assert len(ledger.outputs) == outputs  # with its entry there, it counts
    ledger.verify()
    ledger.add("clinic.json")
    assert ledger.verify()["outputs"] == outputs + 1
    assert len(Path("went", CHAIN).read_text().splitlines()) == 2 * (outputs + 1)


def plan(**entries: Any) -> str:
    content = {
        "attributes": ATTRIBUTES,
        "tables": [
            {"id": "new", "by": ["town"], "rows": [["Springfield", 120], ["Ogdenville", 180]]}
        ],
    }
    return json.dumps(content | entries)


def one_table(**entries: Any) -> str:
    first = json.loads(plan())["tables"][0]
    return plan(tables=[first | entries])


MALFORMED_OUTPUTS = {
    "no file": None,
    "an empty file": ("x.csv", ""),
    "a header alone": ("x.csv", "town,people\n"),
    "no counts": ("x.csv", "town,people\nSpringfield,many\n"),
    "a negative count": ("x.csv", "town,people\nSpringfield,-3\n"),
    "a broken count": ("x.csv", "town,people\nSpringfield,3.5\n"),
    "a mark without a window": ("x.csv", "town,people\nSpringfield,*\n"),
    "totals of what": ("x.csv", "town,people\nSpringfield,3\nTotal,3\n"),
    "a combination twice": ("x.csv", "town,people\nSpringfield,3\nSpringfield,4\n"),
    "three columns too many": ("x.csv", "a,b,c\n1,2\n3\n"),
    "no JSON": ("x.json", "{"),
    "a list": ("x.json", "[1]"),
    "no TOML": ("x.toml", "tables = ["),
    "no tables": ("x.json", "{}"),
    "an empty list": ("x.json", plan(tables=[])),
    "tables that are none": ("x.json", plan(tables=[1])),
    "an unknown entry": ("x.json", plan(peoples=3)),
    "an unknown attribute": ("x.json", one_table(by=["sex"])),
    "an unknown value": ("x.json", one_table(rows=[["Shelbyville", 3]])),
    "a short row": ("x.json", one_table(rows=[["Springfield"]])),
    "an empty window": ("x.json", one_table(rows=[["Springfield", [3, 1]]])),
    "no multiple": ("x.json", one_table(rounding={"base": 7, "how": "nearest"})),
    "another number of people": ("x.json", plan(people=-1)),
    "a path and rows": ("x.json", one_table(path="homes.csv")),
    "two ids alike": ("x.json", plan(tables=json.loads(plan())["tables"] * 2)),
    "it contradicts the ledger": ("x.json", one_table(rows=[["Springfield", 119]])),
    "a name that is there": ("homes.json", one_table(id="homes")),
    "attributes that are none": ("x.json", plan(attributes=[1])),
    "a folder": ("folder/x.txt", "nothing"),
    "a folder of another tool": ("folder/results.json", '{"results": []}'),
}


@pytest.mark.parametrize("name", MALFORMED_OUTPUTS)
def test_a_malformed_output_is_refused_in_one_line(
    name: str, glasshouse: Glasshouse, town: Path
) -> None:
    given = MALFORMED_OUTPUTS[name]
    path = Path("nothing.csv") if given is None else Path(given[0])
    if given is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(given[1], encoding="utf-8")
    place = path.parent if path.parent != Path() else path
    before = {file.name: file.read_bytes() for file in Path("went").iterdir()}
    done = glasshouse("ledger", "add", "went", str(place))
    assert done.code == 2, done.error
    assert done.out == ""
    assert len(done.error.splitlines()) == 1
    assert "bug" not in done.error
    assert {file.name: file.read_bytes() for file in Path("went").iterdir()} == before


def test_a_folder_that_is_no_ledger_is_refused(glasshouse: Glasshouse, town: Path) -> None:
    Path("other").mkdir()
    Path("other/thesis.txt").write_text("years of work")
    Path("empty").mkdir()
    for command in (
        ("check", "ill.csv", "--ledger", "nowhere"),
        ("check", "ill.csv", "--ledger", "other"),
        ("check", "ill.csv", "--ledger", "ill.csv"),
        ("check", "ill.csv", "--ledger", "went", "-q", "ill"),
        ("check", "ill.csv", "--accept"),
        ("check", "ill.csv", "--ledger", "went", "--rare", "0"),
        ("ledger", "add", "other", "ill.csv"),
        ("ledger", "add", "ill.csv", "ill.csv"),
        ("ledger", "list", "nowhere"),
        ("ledger", "verify", "empty"),
        ("ledger", "verify", "went", "--head", "0"),
        ("ledger", "show", "nowhere", "homes"),
        ("ledger", "withdraw", "nowhere", "homes"),
    ):
        done = glasshouse(*command)
        assert (done.code, done.out) == (2, ""), command
        assert len(done.error.splitlines()) == 1
    assert [path.name for path in Path("other").iterdir()] == ["thesis.txt"]
    assert not Path("nowhere").exists()
    unjudged = glasshouse("check", "ill.csv", "--ledger", "went", "--policy", "open-data")
    assert unjudged.code == 3
    assert glasshouse("check", "homes.csv", "--ledger", "empty").code == 0


def test_what_is_not_proved_does_not_pass(glasshouse: Glasshouse, town: Path) -> None:
    command = ("check", "clinic.json", "--ledger", "went", "--accept", "--json")
    done = glasshouse(*command, "--time-limit", "0.01")
    content = json.loads(done.out)
    assert content["verdict"] in ("limit", "publishable")
    assert done.code == (4 if content["verdict"] == "limit" else 0)
    assert content["accepted"] is (done.code == 0)
    rewritten(Path("went"), "0001-homes.json", "120", "121")
    with pytest.raises(DataError, match="altered"):
        Ledger(Path("went"))


def test_released_records_count_as_what_they_show(glasshouse: Glasshouse, town: Path) -> None:
    people = ["Springfield,none"] * 40 + ["Ogdenville,none"] * 30 + ["Ogdenville,leprosy"] * 2
    lines = [f"{number},{person}" for number, person in enumerate(people)]
    Path("people.csv").write_text("id,town,ill\n" + "\n".join(lines) + "\n")
    asked = ("-q", "town", "-s", "ill", "--id", "id")
    assert glasshouse("assess", "people.csv", *asked, "--out", "run").code == 0
    added = glasshouse("ledger", "add", "records", "run", "--json")
    assert added.code == 0, added.error
    Path("ills.csv").write_text("ill,people\nleprosy,2\nnone,70\n")
    after = glasshouse("check", "ills.csv", "--ledger", "records", "--json")
    assert (after.code, json.loads(after.out)["verdict"]) == (0, "publishable")  # records show it
    Path("wrong.csv").write_text("ill,people\nleprosy,3\nnone,69\n")
    wrong = glasshouse("check", "wrong.csv", "--ledger", "records", "--json")
    assert json.loads(wrong.out)["verdict"] == "contradiction"
    Path("again").mkdir()
    assert glasshouse("assess", "people.csv", *asked, "--out", "again/run-2").code == 0
    twice = glasshouse("ledger", "add", "records", "again/run-2")
    assert twice.code == 2
    assert "--id" in twice.error
    assert (
        glasshouse("assess", "people.csv", *asked, "--where", "ill=none", "--out", "part").code == 0
    )
    part = glasshouse("ledger", "add", "records", "part")
    assert (part.code, len(part.error.splitlines())) == (2, 1)


def test_the_help_of_check_has_what_is_said_of_outputs_in_one_panel(glasshouse: Glasshouse) -> None:
    shown = glasshouse("check", "--help-all").out
    panel = shown[shown.index("After what went out before") :].split("╰", 1)[0]
    for option in ("--people", "--suppressed", "--totals", "--rare", "--seen", "--accept"):
        assert f" {option} " in panel
        assert shown.count(f" {option} ") == 1
