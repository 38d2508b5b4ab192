"""The commands as Python functions: one way to ask, one kind of answer."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, cast

import altair as alt
import pyarrow as pa
import pyarrow.csv
import pytest

import glasshouse as gh
from glasshouse.cli.main import main
from glasshouse.errors import DataError
from glasshouse.language import speaking
from glasshouse.report import Severity
from glasshouse.study import load_study

PEOPLE = pa.table(
    {
        "age": ["20", "20", "30", "30", "30", "40"] * 5,
        "sex": ["F", "M", "F", "F", "M", "<b>"] * 5,
        "illness": ["a", "b", "b", "a", "a", "a"] * 5,
        "town": ["north", "south", "south"] * 10,
    }
)
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["illness"]}
GROUP = Path(__file__).parents[1] / "examples" / "trade" / "group.json"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(PEOPLE, "people.csv")


@cache
def table() -> gh.EncodedTable:
    return gh.read(PEOPLE, **ROLES)


def compared() -> gh.Run[Any, Any]:
    for name, records in (("before", 30), ("after", 20)):
        gh.assess(PEOPLE.slice(0, records), **ROLES)
        pa.csv.write_csv(PEOPLE.slice(0, records), f"{name}.csv")
        gh.assess(f"{name}.csv", **ROLES).report(name)
    return gh.compare("before", "after")


def threatened() -> gh.Run[Any, Any]:
    gh.anonymise("people.csv", **ROLES, k=5).report("protected")
    return gh.threat("protected")


VERBS: dict[str, Callable[[], gh.Run[Any, Any]]] = {
    "assess": lambda: gh.assess(table()),
    "assess of parts": lambda: gh.assess(PEOPLE, **ROLES, by="town"),
    "target": lambda: gh.target(table(), {"age": 40}),
    "membership": lambda: gh.membership(table(), PEOPLE, quasi_identifiers=["age", "sex"]),
    "protect": lambda: gh.protect(table(), policy="research-file"),
    "anonymise": lambda: gh.anonymise(table(), k=5),
    "compare": compared,
    "threat": threatened,
    "totals solve": lambda: gh.totals.solve(GROUP),
    "deter": lambda: gh.deter(gain=8000, penalty=10000, sizes=(1, 20)),
}


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_gives_a_run_with_the_same_members(name: str) -> None:
    run = VERBS[name]()
    assert isinstance(run, gh.Run)
    assert run.findings
    assert all(finding.sentence and finding.severity in Severity for finding in run.findings)
    assert run.to_frame().num_rows
    assert json.loads(json.dumps(run.to_dict()))
    content = run.to_dict()
    content.pop("verdict", None)
    assert run.outcome.to_dict() == content
    assert run.question.command == name.split()[0]
    page = run.report("report.html")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("name", VERBS)
def test_a_run_says_what_it_is_in_one_line_without_a_value_of_a_record(name: str) -> None:
    said = repr(VERBS[name]())
    assert said.startswith(f"<Run of {name.split()[0]}: ")
    assert "\n" not in said
    assert "<b>" not in said


@pytest.mark.parametrize("name", VERBS)
def test_a_notebook_is_shown_severity_and_advice_in_the_language_spoken(name: str) -> None:
    run = VERBS[name]()
    for code in ("en", "pt-BR"):
        with speaking(code):
            shown = run._repr_html_()
            first = run.findings[0]
            assert first.severity.heading in shown
    assert "<script" not in shown
    assert "<b>" not in shown


def test_the_main_picture_is_a_chart_of_altair() -> None:
    assert isinstance(gh.assess(table()).chart(), alt.TopLevelMixin)
    assert isinstance(VERBS["anonymise"]().chart(), alt.TopLevelMixin)


def test_python_and_the_command_line_say_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    line = "assess people.csv -q age -q sex -s illness --json"
    assert main(line.split()) == 0
    document = json.loads(capfd.readouterr().out)
    assert gh.assess("people.csv", **ROLES).to_dict() == document
    read = gh.read("people.csv", **ROLES)
    assert gh.assess(read).to_dict() == document


def test_a_study_of_any_command_is_run() -> None:
    gh.assess("people.csv", **ROLES).report("run")
    again = gh.run("run/study.toml")
    assert again.to_dict() == gh.assess("people.csv", **ROLES).to_dict()
    assert gh.run(load_study(Path("run/study.toml"))).to_dict() == again.to_dict()
    gh.deter(gain=800.0, sizes=(1, 5)).report("deterred")
    assert gh.run("deterred/study.toml").to_frame().num_rows == 5


def test_a_folder_of_a_run_is_that_of_the_command_line() -> None:
    gh.assess("people.csv", **ROLES).report("python")
    assert main("assess people.csv -q age -q sex -s illness --out line".split()) == 0
    for name in ("study.toml", "manifest.json", "results.parquet", "report.html", "report.json"):
        assert Path("python", name).read_bytes() == Path("line", name).read_bytes(), name


def test_a_run_never_replaces_the_data_that_it_is_of(tmp_path: Path) -> None:
    original, folder = tmp_path / "people.csv", tmp_path / "protected"
    original.write_text("age,ill\n" + "20,no\n30,yes\n" * 20)
    gh.anonymise(original, quasi_identifiers=["age"], k=2).report(folder)
    released = gh.assess(folder / "release.csv", quasi_identifiers=["age"])
    with pytest.raises(DataError, match="holds the data itself"):
        released.report(folder, overwrite=True)
    assert (folder / "release.csv").exists()


def test_the_protected_table_can_be_assessed_at_once() -> None:
    run = gh.anonymise(table(), k=5)
    assert run.release is not None
    assert gh.assess(run.release).outcome.attacks[-2].uniques == 0


def test_a_file_is_read_as_it_is_written_down() -> None:
    Path("odd.csv").write_text("nome;idade\nJosé;41\n", encoding="latin-1")
    read = gh.read("odd.csv", encoding="latin-1", separator=";")
    assert read.column("nome").values.to_pylist() == ["José"]
    with pytest.raises(gh.StudyError, match="must be one character"):
        gh.read("odd.csv", separator=";;")


def test_values_are_named_as_the_frame_has_them() -> None:
    frame = pa.table({"age": [20, 20, 30], "ill": [True, False, True], "say": ['"no"', "", ""]})
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    for worth in ({True: 10, False: 2}, {"True": 10, "False": 2}):
        run = gh.assess(frame, **roles, worth={"ill": worth})
        assert run.outcome.attacks[1].gain.prior == Fraction(20, 3)
    believed = gh.assess(frame, **roles, prior={"ill": {True: 0.25, False: 0.75}})
    assert believed.outcome.attacks[1].probabilistic.prior == Fraction(3, 4)
    assert gh.target(frame, {"say": '"no"'}, sensitive=["ill"]).outcome.candidates == 1


VISITS = pa.table(
    {
        "who": list("aaabbbccddde"),
        "clinic": list("NNSNSSNSNNSS"),
        "day": [1, 2, 3, 1, 3, 3, 1, 2, 1, 2, 2, 3],
        "icd": "F32 I10 J00 I10 J00 J00 F20 I10 I10 J00 I10 F41".split(),
    }
)


def test_records_of_a_person_are_known_in_several_ways() -> None:
    pa.csv.write_csv(VISITS, "visits.csv")
    question: dict[str, Any] = {"person": "who", "sensitive": ["any icd=F*", "other icd"]}
    ways: list[Any] = [
        [{"clinic": "N", "day": 1}, {"clinic": ["S"]}],
        [{"clinic": "N", "day": 1}, "clinic=S"],
        ["clinic=N,day=1", "clinic=S"],
        [["clinic=N", "day=1"], ["clinic=S"]],
    ]
    table = gh.read(VISITS, quasi_identifiers=["clinic", "day"], also=["who", "icd"])
    data = (VISITS, "visits.csv", table)
    runs = [gh.target(release, known, **question) for release in data for known in ways]
    assert {run.outcome.naming.posterior for run in runs} == {Fraction(3, 7)}
    assert {run.outcome.secret("any icd=F*").best for run in runs} == {("yes", Fraction(4, 7))}
    assert {run.outcome.histories.person for run in runs} == {("who",)}


def test_what_is_known_of_records_does_not_travel_with_a_report() -> None:
    run = gh.target(VISITS, [{"clinic": "N", "day": 1}, "day=2..3"], person="who")
    assert run.question.known == ('clinic="N",day="1"', "day=2..3")
    assert run.question.abridged().known == ("clinic=…,day=…", "day=…")


def test_per_record_risks_are_given_where_they_are_asked_for() -> None:
    assert gh.assess(table()).per_record is None
    risks = gh.assess(table(), per_record=True).per_record
    assert risks is not None
    assert risks.num_rows == 30


def test_progress_has_one_form() -> None:
    seen: list[gh.Progress] = []
    gh.assess("people.csv", **ROLES, on_progress=seen.append)
    assert {now.stage for now in seen} == {"reading", "sweeping"}
    assert all(now.share is None or 0 <= now.share <= 1 for now in seen)


assess = cast(Any, gh.assess)
"""As somebody calls it who has no type checker."""


def test_every_keyword_of_a_verb_is_described_in_whole_sentences() -> None:
    verbs = [getattr(gh, name) for name in gh.__all__ if name.islower()]
    verbs = [verb for verb in verbs if inspect.isfunction(verb)]
    assert len(verbs) > 10
    for verb in verbs:
        doc = inspect.getdoc(verb) or ""
        for name in inspect.signature(verb).parameters:
            told = re.search(rf"^    {name}: (.*(?:\n        .*)*)", doc, re.MULTILINE)
            assert told, (verb, name)
            assert len(told[1]) > 8, (verb, name)
            assert told[1].endswith((".", "…")), (verb, name)
            assert not told[1].startswith("…"), (verb, name)
    assert "; by default 4." in (gh.assess.__doc__ or "")
    assert '``{"race": ["9", "?"]}``' in (gh.read.__doc__ or "")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: assess(table(), sensitves=["illness"]), 'did you mean "sensitive"'),
        (lambda: assess(table(), secret="illness"), "it takes quasi_identifiers, sensitive"),
        (lambda: assess(), "cannot be called so"),
        (lambda: gh.assess("people.csv"), "quasi_identifiers"),
        (lambda: gh.assess("nowhere.csv", **ROLES), "there is no such file"),
        (lambda: gh.assess(table(), sensitive=["ilness"]), 'did you mean "illness"'),
        (lambda: gh.target(table(), {"agee": 1}), 'did you mean "age"'),
        (lambda: gh.target(VISITS, [{"day": 1}, {"day": 2}]), "say with `person` which column"),
        (lambda: gh.target(VISITS, {"day": 1}, person="who"), "give a list of the records"),
        (lambda: gh.target(VISITS, ["clinic"], person="who"), "is not of the form COLUMN=VALUE"),
        (lambda: gh.target(VISITS, [{"a,b": 1, "c,d": 1}], person="who"), "has a comma or a sign"),
        (lambda: gh.target(VISITS, ["day=1"], person="who", fraction=0.5), "leave out `fraction`"),
        (lambda: gh.anonymise(table(), k=1000), "no class can hold 1000"),
        (lambda: gh.deter(gian=3), 'deter() has no "gian"; did you mean "gain"'),
        (lambda: gh.compare("nowhere", "neither"), 'there is no folder "nowhere"'),
        (lambda: gh.run("nowhere.toml"), "cannot be read"),
    ],
)
def test_a_wrong_call_is_answered_with_a_sentence(
    call: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(gh.GlasshouseError) as caught:
        call()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_report_is_never_written_over_unasked() -> None:
    run = gh.assess(table())
    run.report("report.html")
    with pytest.raises(gh.DataError, match="exists"):
        run.report("report.html")
    run.report("report.html", overwrite=True)
    assert json.loads(run.report("report.json").read_text(encoding="utf-8"))["pages"].keys() == {
        "en",
        "pt-BR",
    }


def test_a_condition_on_a_column_that_was_not_read_is_refused_and_never_passes_for_met() -> None:
    for condition in ("town=north", "town!=north"):
        with pytest.raises(gh.DataError, match='column "town" is not in'):
            gh.assess(table(), where=[condition])
        with pytest.raises(gh.DataError, match='column "town" is not in'):
            gh.assess(table(), invalid=[condition])
    assert gh.assess(PEOPLE, **ROLES, where=["town=north"]).records == 10


def test_a_condition_chooses_people_of_a_register_in_memory_too() -> None:
    known = ["age", "sex"]
    pa.csv.write_csv(PEOPLE.slice(0, 12), "some.csv")
    of_files = gh.membership(
        "some.csv", "people.csv", quasi_identifiers=known, where=["town=north"]
    )
    of_frames = gh.membership(
        PEOPLE.slice(0, 12), PEOPLE, quasi_identifiers=known, where=["town=north"]
    )
    assert of_files.outcome.people == of_frames.outcome.people == 10
    assert of_files.outcome.certainly_in == of_frames.outcome.certainly_in


def test_frames_that_are_joined_are_asked_for_what_they_have(tmp_path: Path) -> None:
    """The second has no secret and only one of the quasi-identifiers, as a file of the command line may."""
    first = pa.table({"id": list("1234"), "q": list("xyxy"), "r": list("aabb"), "s": list("uvuu")})
    second = pa.table({"id": list("1234"), "q": list("xxyy")})
    names = [str(tmp_path / "frame_1.csv"), str(tmp_path / "frame_2.csv")]
    for frame, name in zip((first, second), names, strict=True):
        pyarrow.csv.write_csv(frame, name)
    roles: dict[str, Any] = {"id": "id", "quasi_identifiers": ["q", "r"], "sensitive": ["s"]}
    by_name, in_memory = (gh.assess(data, **roles) for data in (names, [first, second]))
    assert figures(in_memory) == figures(by_name)


def test_a_secret_may_be_asked_for_alone_and_together(tmp_path: Path) -> None:
    frame = pa.table({"q": list("xyxy"), "s": list("uvuu"), "t": list("mnmm")})
    pyarrow.csv.write_csv(frame, tmp_path / "t.csv")
    secrets = ["s", ("s", "t")]
    in_memory, by_name = (
        gh.assess(data, quasi_identifiers=["q"], sensitive=secrets)
        for data in (frame, tmp_path / "t.csv")
    )
    assert figures(in_memory) == figures(by_name)
    assert {attack.secret for attack in in_memory.outcome.attacks} == {(), ("s",), ("s", "t")}


def figures(run: Any) -> list[Any]:
    return [
        (attack.quasi_identifiers, attack.secret, attack.probabilistic, attack.deterministic)
        for attack in run.outcome.attacks
    ]
