"""``assess`` with several files: the published example, windows, treatment, links, families."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_sweep import contents, on_disk_only
from tests.conftest import Glasshouse

FIRST = {
    "id": "1 2 3 4 5 6 7 8 9 10".split(),
    "age": "25 25 25 25 25 49 49 49 49 60".split(),
    "gender": "F F F M M F F F M M".split(),
    "grade": "A A C B B C C E D D".split(),
    "disability": "no yes yes yes no yes yes no no no".split(),
}
SECOND = {
    "id": "1 2 3 4 5 6 7 8 9 11".split(),
    "age": "26 26 26 26 26 50 50 50 50 19".split(),
    "grade": "B A C B B D C E D A".split(),
}
KNOWN = ("-q", "gender", "-q", "grade")


def write(name: str, data: dict[str, list[str]]) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    return path


@pytest.fixture
def years(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Alvim et al. 2022, Table 3."""
    monkeypatch.chdir(tmp_path)
    return write("D1.csv", FIRST), write("D2.csv", SECOND)


def results(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("assess", *arguments, "--json")
    assert outcome.code == 0, outcome.error
    document: dict[str, Any] = json.loads(outcome.out)
    return document


def found(document: dict[str, Any], code: str, datasets: list[str]) -> dict[str, Any]:
    """Return the attack with the whole set in one window."""
    return next(
        r
        for r in document["results"]
        if r["attack"] == code and r["datasets"] == datasets and len(r["quasi_identifiers"]) == 2
    )


def test_the_published_example(glasshouse: Glasshouse, years: tuple[Path, Path]) -> None:
    document = results(glasshouse, *years, "--id", "id", *KNOWN, "-s", "disability")
    both = ["D1.csv", "D2.csv"]
    inferring, naming = found(document, "CAL", both), found(document, "CRL", both)
    assert inferring["deterministic"]["prior"] == 0
    assert inferring["deterministic"]["posterior"] == 0.8
    assert inferring["probabilistic"] == {
        "prior": 0.5,
        "posterior": 0.9,
        "additive": 0.4,
        "multiplicative": 1.8,
    }
    assert naming["deterministic"]["posterior"] == 0.6
    assert naming["probabilistic"]["prior"] == 0.1
    assert naming["probabilistic"]["posterior"] == 0.8
    assert naming["probabilistic"]["multiplicative"] == 8
    assert naming["capacity"] == 8
    assert inferring["capacity"] == pytest.approx(9 / 5)
    assert found(document, "CRL", ["D1.csv"])["probabilistic"]["posterior"] == 0.5
    assert document["datasets"] == [
        {"name": "D1.csv", "tag": "D1", "people": 10, "linked": 10},
        {"name": "D2.csv", "tag": "D2", "people": 10, "linked": 9},
    ]


def test_the_steps_are_explained_as_fractions(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    arguments = (*years, "--id", "id", *KNOWN, "-s", "disability", "--explain")
    naming, inferring = results(glasshouse, *arguments)["explain"]
    assert naming["attack"] == "CRL"
    assert naming["secrets"] == FIRST["id"]
    assert inferring["quasi_identifiers"] == ["gender", "grade", "grade@D2"]
    assert inferring["prior"] == ["1/2", "1/2"]
    column = inferring["observations"].index("(M, B, B)")
    assert [row[column] for row in inferring["channel"]] == ["1/5", "1/5"]
    assert [row[column] for row in inferring["inner"]] == ["1/2", "1/2"]
    assert inferring["outer"][column] == "1/5"
    printed = glasshouse("assess", *arguments, "--subsets", "full")
    assert "Infer disability, hyper" in printed.out
    assert "–)" in printed.out, "the person who is absent from D2"


def test_large_data_is_not_explained(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    many = write("many.csv", {"age": [str(i) for i in range(41)]})
    outcome = glasshouse("assess", many, "-q", "age", "--explain")
    assert outcome.code == 2
    assert "small data" in outcome.error


def test_another_dataset_can_be_focal(glasshouse: Glasshouse, years: tuple[Path, Path]) -> None:
    document = results(glasshouse, *years, "--id", "id", *KNOWN, "--focal", "D2")
    assert document["results"][-1]["datasets"] == ["D2.csv", "D1.csv"]


def test_a_column_whose_name_looks_like_a_shift_is_a_column(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    renamed = [
        write(f"E{i}.csv", {"born-19" if n == "age" else n: v for n, v in data.items()})
        for i, data in enumerate((FIRST, SECOND))
    ]
    document = results(glasshouse, *renamed, "--link", "born-19=0.9", *KNOWN)
    assert document["results"]


def test_a_family_answers_no_other_question_than_the_one_asked(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    common = ("assess", years[0], "-q", "age", "--by", "gender", "--subsets", "full")
    for more in (("-s", "grade,disability"), ("-s", "grade", "--tries", 2)):
        outcome = glasshouse(*common, *more)
        assert outcome.code == 2
        assert "leave out gains, priors and joint secrets" in outcome.error


def test_only_the_focal_dataset_is_treated(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    document = results(glasshouse, *years, "--id", "id", *KNOWN, "--invalid", "grade=B")
    assert [step["dataset"] for step in document["treatment"]] == ["D1.csv", "D1.csv"]
    assert document["datasets"][1]["people"] == 10


def test_files_of_the_same_name_are_told_apart_by_their_folders(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    paths = [write("2014/students.csv", FIRST), write("2015/students.csv", SECOND)]
    known = ("--know", "gender=F", "--know", "grade@2015=C")
    person = glasshouse("target", *paths, "--id", "id", *known, "--json")
    assert json.loads(person.out)["candidates"] == 2
    document = results(glasshouse, *paths, "--id", "id", *KNOWN)
    assert document["results"][-1]["datasets"] == ["2014/students.csv", "2015/students.csv"]


def test_several_records_of_a_person_are_counted_and_the_run_can_be_repeated(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    twice = {name: [*values, *values[:3], values[0]] for name, values in SECOND.items()}
    write("D2.csv", twice)
    arguments = (*years, "--id", "id", *KNOWN, "-s", "disability", "--seed", 7)
    outcome = glasshouse("assess", *arguments, "--json", "--out", "run")
    assert outcome.code == 0
    assert "note: D2.csv: 4 of 14 records left out: further records of the same person" in (
        outcome.error
    )
    assert json.loads(outcome.out)["treatment"] == [
        {
            "dataset": "D2.csv",
            "what": "further records of the same person",
            "column": "id",
            "before": 14,
            "left_out": 4,
            "after": 10,
        }
    ]
    again = glasshouse("assess", "--study", "run/study.toml", "--json")
    assert json.loads(again.out) == json.loads(outcome.out)


def test_the_report_tells_how_it_grows(glasshouse: Glasshouse, years: tuple[Path, Path]) -> None:
    outcome = glasshouse("assess", *years, "--id", "id", *KNOWN, "-s", "disability", "--out", "run")
    assert outcome.code == 0
    assert "As datasets are added" in outcome.out
    report = Path("run/report.html").read_text()
    assert "With D1 alone, a best guess at who it is would be right in 50.0% of cases" in report
    assert "Of the 10 people, fewer than 10 are also in D2.csv, or fewer than 10 are not" in report
    frame = pq.read_table("run/results.parquet").to_pylist()
    assert {row["attack"] for row in frame} == {"CRL", "CAL"}
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert [entry["name"] for entry in manifest["datasets"]] == ["D1.csv", "D2.csv"]


def test_an_interrupted_collection_goes_on(
    glasshouse: Glasshouse, years: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from glasshouse.checkpoint import Checkpoint

    arguments = (*years, "--id", "id", *KNOWN, "-s", "disability")
    whole = glasshouse("assess", *arguments, "--out", "whole")
    assert whole.code == 0
    save, kept = Checkpoint.save, list[int]()

    def stop_in_the_second_window(self: Checkpoint, step: int, rows: Any) -> None:
        save(self, step, rows)
        kept.append(step)
        if step >= 1000:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", stop_in_the_second_window)
    stopped = glasshouse("assess", *arguments, "--out", "again")
    assert stopped.code == 130
    assert max(kept) >= 1000
    monkeypatch.setattr(Checkpoint, "save", save)
    resumed = glasshouse("assess", *arguments, "--out", "again", "--resume")
    assert resumed.code == 0, resumed.error
    for name in ("results.parquet", "report.html"):
        assert Path("again", name).read_bytes() == Path("whole", name).read_bytes()


def test_keys_link_where_there_is_no_identifier(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    joined = results(glasshouse, *years, "--id", "id", *KNOWN, "--subsets", "full")
    unique = results(glasshouse, *years, "--link", "id", *KNOWN)
    aged = results(glasshouse, *years, "--link", "age+1=0.9", *KNOWN, "-s", "disability")
    for document in (joined, unique):
        assert found(document, "CRL", ["D1.csv", "D2.csv"])["probabilistic"]["posterior"] == 0.8
    between = found(aged, "CRL", ["D1.csv", "D2.csv"])["probabilistic"]["posterior"]
    assert 0.5 <= between <= 0.8
    assert aged["exact"] is True


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_link_whatever_file_holds_them(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    """Three people, each with a moment of her own: the towns of both files together tell them apart."""
    monkeypatch.chdir(tmp_path)
    moments = [datetime(2020, 1, 31, 10, minute) for minute in (30, 31, 32)]
    rows = [
        f"{moment:%Y-%m-%d %H:%M:%S},{town}" for moment, town in zip(moments, "aab", strict=True)
    ]
    Path("first.csv").write_text("\n".join(["t,town", *rows]) + "\n")
    stored = pa.table({"t": pa.array(moments, pa.timestamp(unit)), "town": list("abb")})
    pq.write_table(stored, "second.parquet")
    linked = results(glasshouse, "first.csv", "second.parquet", "--link", "t", "-q", "town")
    (attack,) = [
        one for one in linked["results"] if one["datasets"] == ["first.csv", "second.parquet"]
    ]
    assert attack["probabilistic"]["posterior"] == 1  # without the link, 2/3


def test_parts_and_files_are_compared(glasshouse: Glasshouse, years: tuple[Path, Path]) -> None:
    by = results(glasshouse, years[0], "-q", "age", "-q", "grade", "--by", "gender")
    assert [part["part"] for part in by["parts"]] == ["F", "M"], "the analyst's own output is exact"
    each = results(glasshouse, *years, "-q", "age", "-q", "grade", "--each")
    assert [part["part"] for part in each["parts"]] == ["D1.csv", "D2.csv"]
    assert each["changes"]
    shown = glasshouse("assess", *years, "-q", "age", "-q", "grade", "--each", "--out", "run")
    assert shown.code == 0, shown.error
    assert "▲ highest" in shown.out
    assert "Does size protect?" in Path("run/report.html").read_text()
    assert pq.read_table("run/results.parquet").num_rows == 4


def test_treatment_is_said_and_kept_in_the_study(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    arguments = ("-q", "grade", "--where", "age=0..50", "--invalid", "grade=E", "--drop-missing")
    outcome = glasshouse(
        "assess", years[0], *arguments, "--out", "run", "--per-record", "r.parquet"
    )
    assert outcome.code == 0, outcome.error
    assert "D1.csv: 8 records" in outcome.out
    assert "outside the selection: age" in outcome.out
    study = Path("run/study.toml").read_text()
    assert 'where = [\n    "age=0..50",\n]' in study
    assert pq.read_table("r.parquet")["record"].to_pylist() == [1, 2, 3, 4, 5, 6, 7, 9]


def test_facts_enter_and_leave_together(glasshouse: Glasshouse, years: tuple[Path, Path]) -> None:
    document = results(glasshouse, years[0], "--fact", "who=age,gender", "-q", "grade")
    assert [r["quasi_identifiers"] for r in document["results"]] == [
        ["grade"],
        ["who"],
        ["grade", "who"],
    ]
    columns = results(glasshouse, years[0], "-q", "age", "-q", "gender", "--subsets", "full")
    assert document["results"][1]["classes"] == columns["results"][0]["classes"]


def test_gains_and_priors(glasshouse: Glasshouse, years: tuple[Path, Path]) -> None:
    write("bet.csv", {"action": ["accuse"], "yes": ["100"], "no": ["-150"]})
    common = (years[0], "-q", "gender", "-s", "disability")
    bet = ("--gain", "disability=bet.csv", "--abstain", "--currency", "R$")
    gained = results(glasshouse, *common, *bet)["results"][1]["gain"]
    assert gained["prior"] == 0
    assert gained["posterior"] == pytest.approx((4 * 100 - 2 * 150) / 10)
    assert gained["multiplicative"] is None
    assert "R$ 0.00 → R$ 10.00" in glasshouse("assess", *common, *bet).out
    believed = results(glasshouse, *common, "--prior", "disability:yes=0.9,*=0.1")
    assert believed["results"][1]["probabilistic"]["prior"] == 0.9
    worth = results(glasshouse, years[0], "-q", "gender", "--record-worth", "age")
    assert worth["results"][0]["gain"]["prior"] == pytest.approx(60 / 10)


BAD = {
    "no identifier": (("--id", "student"), 'column "student" is not in D1.csv'),
    "nothing joins": ((), "need a column that identifies a person (--id)"),
    "both": (("--id", "id", "--link", "age"), "linking keys are for where there is none"),
    "unknown key": (("--link", "ages"), 'did you mean "age"?'),
    "no probability": (("--link", "age=1.5"), "should be at most 1, not 1.5"),
    "no focal": (("--id", "id", "--focal", "D3"), 'dataset "D3"'),
    "subsets of links": (("--link", "age", "--subsets", "all"), "leave out --subsets"),
    "explained beliefs": (
        ("--id", "id", "-s", "disability", "--prior", "disability:yes=0.5,no=0.5", "--explain"),
        "leave out --prior",
    ),
    "saved": (("--id", "id", "--save-table", "t.arrow"), "--save-table keeps one dataset"),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD)
def test_a_bad_question_is_one_line(
    glasshouse: Glasshouse, years: tuple[Path, Path], options: tuple[str, ...], message: str
) -> None:
    outcome = glasshouse("assess", *years, *KNOWN, *options)
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
    assert not Path("t.arrow").exists()


def test_where_nobody_is_in_a_dataset_everybody_is_absent_and_a_note_says_so(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    stranger = write("D3.csv", {"id": ["x"], "grade": ["A"]})
    outcome = glasshouse("assess", years[0], stranger, "--id", "id", *KNOWN, "--json")
    assert outcome.code == 0, outcome.error
    assert 'D3.csv has nobody of D1.csv: no value of "id" is in both' in outcome.error
    alone, both = (
        [a["probabilistic"] for a in json.loads(outcome.out)["results"] if len(a["datasets"]) == n]
        for n in (1, 2)
    )
    assert alone == both


def test_an_empty_key_agrees_with_nothing_and_a_note_says_so(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = write("D1.csv", {"born": ["", "1", "2"], "grade": ["A", "A", "A"]})
    second = write("D2.csv", {"born": ["", "1", "2"], "grade": ["A", "B", "C"]})
    outcome = glasshouse("assess", first, second, "-q", "grade", "--link", "born", "--json")
    assert outcome.code == 0, outcome.error
    assert '1 record of D1.csv has no "born": an empty key is unknown' in outcome.error
    assert '1 record of D2.csv has no "born"' in outcome.error
    linked = json.loads(outcome.out)["results"][-1]
    assert linked["classes"] == 3  # B, C, and for who has no birth date: absent
    text = glasshouse("assess", first, second, "-q", "grade", "--link", "born")
    assert "An empty key agrees with nothing" in " ".join(text.out.split())


def test_data_that_does_not_fit_is_one_line(
    glasshouse: Glasshouse, years: tuple[Path, Path]
) -> None:
    nothing = write("D4.csv", {"id": ["1"], "school": ["A"]})
    wrong = write("gain.csv", {"action": ["a"], "yes": ["1"], "maybe": ["2"]})
    for arguments, message in (
        ((years[0], nothing, "--id", "id", *KNOWN), "D4.csv: has none of the quasi-identifiers"),
        ((*years, "--id", "id", "-q", "gradee", "-q", "gender"), 'did you mean "grade"?'),
        (
            (years[0], *KNOWN, "-s", "disability", "--gain", f"disability={wrong}"),
            'no column for "no"',
        ),
        (
            (years[0], *KNOWN, "-s", "disability", "--prior", "disability:yes=0.2,no=0.2"),
            "adds up to 0.4",
        ),
    ):
        outcome = glasshouse("assess", *arguments)
        assert outcome.code == 2, outcome.error
        assert message in outcome.error
        assert outcome.error.count("\n") == 1


def test_years_that_are_joined_on_disk_give_the_same_files(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    for year in ("2014", "2015"):
        people = rng.permutation(6_000)[:4_000]
        columns = {"id": [f"p{number}" for number in people.tolist()]}
        for name, values in (("school", 400), ("grade", 9), ("sex", 2), ("ill", 3)):
            columns[name] = [f"{v}" for v in rng.integers(0, values, 4_000).tolist()]
        pq.write_table(pa.table(columns), f"{year}.parquet")
    command = ["assess", "2014.parquet", "2015.parquet", "--id", "id", "-s", "ill", "--seed", "3"]
    command += ["-q", "school", "-q", "grade", "-q", "sex"]
    assert glasshouse(*command, "--out", "whole").code == 0
    on_disk_only(monkeypatch)
    monkeypatch.setattr("glasshouse.table.encode.VALUES_SHARE", 1 << 50)
    for module in ("collection", "partition"):
        monkeypatch.setattr(f"glasshouse.table.{module}.BLOCK_RECORDS", 700)
    outcome = glasshouse(*command, "--memory", "8G", "--out", "run")
    assert outcome.code == 0, outcome.error
    assert contents(Path("run")) == contents(Path("whole"))


def test_links_of_tables_on_disk_are_those_in_memory_or_refused_in_one_line(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    for year in ("2014", "2015"):
        sizes = (("born", 600), ("sex", 2), ("grade", 9), ("ill", 3))
        columns = {name: rng.integers(0, n, 4_000).astype(str) for name, n in sizes}
        pq.write_table(pa.table(columns), f"{year}.parquet")
    command = ["assess", "2014.parquet", "2015.parquet", "--link", "born", "--link", "sex=0.9"]
    command += ["-q", "grade", "-s", "ill"]
    assert glasshouse(*command, "--out", "whole").code == 0
    refused = glasshouse(*command, "--memory", "100M", "--json")
    assert refused.code == 3
    assert refused.error.count("\n") == 1
    on_disk_only(monkeypatch)
    monkeypatch.setattr("glasshouse.table.encode.VALUES_SHARE", 1 << 50)
    outcome = glasshouse(*command, "--memory", "8G", "--out", "run")
    assert outcome.code == 0, outcome.error
    assert contents(Path("run")) == contents(Path("whole"))
