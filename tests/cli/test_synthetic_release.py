"""``assess --trained-on``: what a synthetic release remembers, through the command line and from Python."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.report import archive
from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse

SIX = {
    "made": ["F A yes", "F A yes", "M A no", "M B no", "F C yes", "M B yes"],
    "people": ["F A yes", "M A no", "M B yes", "F C yes", "M C no", "F B no"],
    "others": ["F A no", "M A no", "M B no", "F B yes", "M C yes", "F A yes"],
}
NAMES = ("sex", "town", "ill")
LARGE = ("age", "town", "job", "ill")
ASKED = "-q age -q town -q job -s ill"


def columns(rows: list[str]) -> dict[str, list[str]]:
    fields = [row.split() for row in rows]
    return {name: [row[i] for row in fields] for i, name in enumerate(NAMES)}


def people_of(count: int, seed: int) -> list[list[str]]:
    random = np.random.default_rng(seed)
    numbers = [random.integers(0, size, count).tolist() for size in (80, 30, 12, 2)]
    return [list(map(str, row)) for row in zip(*numbers, strict=True)]


def write_rows(name: str, rows: list[list[str]], names: tuple[str, ...] = LARGE) -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in SIX.items():
        write(f"{name}.csv", columns(rows))
    people, others, fresh = (people_of(1200, seed) for seed in (1, 2, 3))
    write_rows("T.csv", people)
    write_rows("H.csv", others)
    write_rows("fresh.csv", fresh)
    write_rows("copied.csv", people[:240] + fresh[240:])


def assess(glasshouse: Glasshouse, options: str) -> dict[str, Any]:
    done = glasshouse("assess", *shlex.split(options), "--json")
    assert done.code == 0, done.error
    document: dict[str, Any] = json.loads(done.out)
    return document


def test_every_set_is_counted_in_both_files_of_people(glasshouse: Glasshouse) -> None:
    document = assess(
        glasshouse,
        "made.csv --trained-on people.csv --holdout others.csv -q sex -q town -s ill",
    )
    rows = {tuple(row["known"]): row for row in document["with_secret"]}
    assert list(rows) == [(), ("sex",), ("town",), ("sex", "town")]
    both = rows["sex", "town"]
    assert both["secret"] == "ill"
    counts = {
        name: [both[file][name] for file in ("trained_on", "holdout")]
        for name in ("right", "match", "single", "isolated")
    }
    assert counts == {"right": [4, 4], "match": [4, 4], "single": [2, 1], "isolated": [2, 1]}
    assert both["trained_on"]["iS"] == 4 / 6
    assert both["trained_on"]["repU"] == 2 / 6
    assert {"Dorig", "DiSCO", "DCAP", "TCAP", "UEM"} < both["holdout"].keys()
    whole = document["membership_all_columns"]
    assert len(whole) == 8
    assert whole[-1]["known"] == ["sex", "town", "ill"]
    assert whole[-1]["secret"] is None
    assert [whole[-1][file]["match"] for file in ("trained_on", "holdout")] == [4, 3]
    assert document["remembered"]["remembers"] is False
    assert document["verdict"]["policy"] == "open-data"


def test_copies_fail_the_rule_and_a_fresh_sample_meets_it(glasshouse: Glasshouse) -> None:
    for file, decision, code in (("copied", "do-not-publish", 4), ("fresh", "meets", 0)):
        options = f"{file}.csv --trained-on T.csv --holdout H.csv {ASKED} --out {file}"
        document = assess(glasshouse, options)
        assert document["verdict"]["decision"] == decision
        measured = {one["measure"] for one in document["verdict"]["conditions"]}
        assert {"remembered", "copied"} < measured
        assert glasshouse("check", file).code == code
        assert Path(file, "results.parquet").exists()


def test_a_rule_of_ones_own_judges_what_is_remembered(glasshouse: Glasshouse) -> None:
    Path("rule.toml").write_text(
        'name = "mine"\n[[conditions]]\nmeasure = "remembered"\nat_most = 0.3\n', encoding="utf-8"
    )
    options = f"copied.csv --trained-on T.csv --holdout H.csv {ASKED} --policy rule.toml"
    assert assess(glasshouse, options)["verdict"]["decision"] == "meets"


def test_without_a_holdout_nothing_is_judged_and_it_says_why(glasshouse: Glasshouse) -> None:
    options = shlex.split(f"copied.csv --trained-on T.csv {ASKED} --out run")
    shown = glasshouse("assess", *options)
    assert shown.code == 0, shown.error
    words = " ".join(shown.out.split())
    assert "Nobody can say whether this file remembers its own people" in words
    assert "Do not publish yet" in words
    assert glasshouse("check", "run").code == 4
    document = assess(glasshouse, f"copied.csv --trained-on T.csv {ASKED}")
    assert document["remembered"] is document["holdout"] is None
    assert document["verdict"]["not_judged"] == ["remembered", "copied"]
    for rule in ("open-data", "research-file", "internal"):
        assert glasshouse("check", "run", "--policy", rule).code != 0
    assert document["with_secret"][-1]["holdout"] is None


def test_reports_say_the_bound_in_both_languages_and_never_that_it_is_safe(
    glasshouse: Glasshouse,
) -> None:
    for file in ("copied", "fresh"):
        options = shlex.split(f"{file}.csv --trained-on T.csv --holdout H.csv {ASKED}")
        assert glasshouse("assess", *options, "--out", file).code == 0
        pages = archive.from_json(
            Path(file, "report.json").read_text(encoding="utf-8"), "report.json"
        )
        for language, (at_least, missed) in {
            "en": ("at least", "could have been missed"),
            "pt-BR": ("no mínimo", "podem ter escapado"),
        }.items():
            page = pages[language]
            said = " ".join(
                f"{finding.sentence} {finding.figure} {finding.meaning}"
                for finding in page.findings
            )
            assert missed in said
            assert at_least in said
            assert "safe" not in said.lower()
            assert "segur" not in said.lower()
            assert len(page.pictures) == (2 if file == "copied" else 1)
            for finding in page.findings:
                assert "p =" not in finding.figure or at_least in finding.sentence.lower()


def test_a_study_repeats_it_byte_for_byte(glasshouse: Glasshouse) -> None:
    options = shlex.split(f"copied.csv --trained-on T.csv --holdout H.csv {ASKED} --out run")
    assert glasshouse("assess", *options).code == 0
    again = glasshouse("assess", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    for name in ("results.parquet", "report.json", "manifest.json"):
        assert Path("run", name).read_bytes() == Path("again", name).read_bytes()
    assert len(json.loads(Path("run/manifest.json").read_text())["datasets"]) == 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("fresh.csv --trained-on people.csv -q age -q job", "has none of the columns"),
        ("made.csv --trained-on T.csv -q sex -q town -s ill", 'column "sex" is not in T.csv'),
        (f"fresh.csv --trained-on T.csv --holdout overlap.csv {ASKED}", "611 of its 1,200 records"),
        (f"fresh.csv --holdout H.csv {ASKED}", "name their file with --trained-on"),
        (f"fresh.csv --trained-on nowhere.csv {ASKED}", "nowhere.csv"),
        (f"fresh.csv --trained-on empty.csv {ASKED}", "empty.csv"),
        (f"fresh.csv --trained-on T.csv {ASKED} --tries 2", "leave out --tries with it"),
        (f"fresh.csv H.csv --trained-on T.csv {ASKED} --each", "leave out --each with it"),
        ("fresh.csv --trained-on T.csv -q age -q town -s ill,job", "is a single column"),
        (f"fresh.csv --trained-on T.csv {ASKED} --bands age=quantiles:4", "cut elsewhere in each"),
        (f"fresh.csv --trained-on T.csv {ASKED} --explain", "leave it out with --trained-on"),
        (f"fresh.csv --trained-on T.csv {ASKED} --engine spark", "leave out --engine spark"),
    ],
)
def test_bad_input_is_one_line(glasshouse: Glasshouse, options: str, says: str) -> None:
    people, others = people_of(1200, 1), people_of(1200, 2)
    write_rows("overlap.csv", others[:600] + people[:600])
    write_rows("empty.csv", [])
    done = glasshouse("assess", *shlex.split(options))
    assert done.code == 2, done.out
    assert done.error.count("\n") == 1
    assert says in done.error


def test_frames_give_what_files_give(glasshouse: Glasshouse) -> None:
    frames = [
        pa.table(dict(zip(LARGE, zip(*rows, strict=True), strict=True)))
        for rows in (
            people_of(1200, 1)[:240] + people_of(1200, 3)[240:],
            people_of(1200, 1),
            people_of(1200, 2),
        )
    ]
    run = gh.assess(
        frames[0],
        trained_on=frames[1],
        holdout=frames[2],
        quasi_identifiers=["age", "town", "job"],
        sensitive=["ill"],
    )
    document = assess(glasshouse, f"copied.csv --trained-on T.csv --holdout H.csv {ASKED}")
    content = run.to_dict()
    for part in ("with_secret", "membership_all_columns", "remembered"):
        assert content[part] == document[part]
    assert run.verdict is not None
    assert not run.verdict.meets
    with pytest.raises(gh.GlasshouseError, match="one is a file, and the other in memory"):
        gh.assess(frames[0], trained_on="T.csv", quasi_identifiers=["age"])


def test_views_hold_in_all_files(glasshouse: Glasshouse) -> None:
    options = f"copied.csv --trained-on T.csv --holdout H.csv {ASKED} --bands age=0,20,40,60"
    document = assess(glasshouse, options)
    (age,) = [row for row in document["with_secret"] if row["known"] == ["age"]]
    assert age["trained_on"]["match"] == age["holdout"]["match"] == 1200


def test_check_judges_a_synthetic_file_beside_its_people(glasshouse: Glasshouse) -> None:
    for file, code in (("copied", 4), ("fresh", 0)):
        beside = ("--trained-on", "T.csv", "--holdout", "H.csv", *shlex.split(ASKED))
        checked = glasshouse("check", f"{file}.csv", *beside)
        assert checked.code == code, checked.error
        verdict = gh.check(
            f"{file}.csv",
            trained_on="T.csv",
            holdout="H.csv",
            quasi_identifiers=["age", "town", "job"],
            sensitive=["ill"],
        )
        assert verdict.meets is (code == 0)
    assert glasshouse("check", "fresh.csv", "--trained-on", "T.csv", *shlex.split(ASKED)).code == 4


def test_runs_of_several_generators_stand_side_by_side(glasshouse: Glasshouse) -> None:
    for file in ("copied", "fresh"):
        options = shlex.split(f"{file}.csv --trained-on T.csv --holdout H.csv {ASKED}")
        assert glasshouse("assess", *options, "--out", file).code == 0
    shown = glasshouse("compare", "copied", "fresh")
    assert shown.code == 0, shown.error
    assert "remembered about its own people, at least" in " ".join(shown.out.split())
    figures = json.loads(glasshouse("compare", "copied", "fresh", "--json").out)["figures"]
    assert figures["remembered"][0] > 0.1 > figures["remembered"][1] == 0
    assert figures["copied"][0] > figures["copied"][1] == 0
