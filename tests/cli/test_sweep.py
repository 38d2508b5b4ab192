"""Every subset through the command line: what is printed, and what survives an interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from glasshouse import microdata, synthetic
from glasshouse.checkpoint import Checkpoint
from glasshouse.microdata import attacks, sweep_steps
from glasshouse.runs import assess
from glasshouse.table import EncodedTable, codes
from tests.conftest import Glasshouse
from tests.faults import forked

KNOWN = ("day_of_birth", "gender", "ethnicity", "city_of_birth", "school")
OPTIONS = [option for name in KNOWN for option in ("-q", name)] + ["-s", "disability"]


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic.write(
        "school-census",
        records=3_000,
        path=tmp_path_factory.mktemp("census") / "census.csv",
        seed=4,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_subset_is_assessed_by_default(glasshouse: Glasshouse, census: Path) -> None:
    content = json.loads(glasshouse("assess", census, *OPTIONS, "--json").out)
    subsets = [tuple(result["quasi_identifiers"]) for result in content["results"]]
    assert len(subsets) == 2 * 31
    assert subsets[:4] == [("day_of_birth",)] * 2 + [("gender",)] * 2
    assert subsets[10] == ("day_of_birth", "gender")
    assert subsets[-1] == KNOWN
    single = glasshouse("assess", census, *OPTIONS, "--json", "--subsets", "full")
    assert content["results"][-2:] == json.loads(single.out)["results"]


def test_subsets_can_be_limited_in_size(glasshouse: Glasshouse, census: Path) -> None:
    content = json.loads(glasshouse("assess", census, *OPTIONS, "--json", "--subsets", "max:2").out)
    assert {len(result["quasi_identifiers"]) for result in content["results"]} == {1, 2}
    assert len(content["results"]) == 2 * 15


def test_what_a_sweep_does_not_know_is_assessed_subset_by_subset(
    glasshouse: Glasshouse, census: Path
) -> None:
    plain = json.loads(glasshouse("assess", census, *OPTIONS, "--json").out)["results"]
    asked = glasshouse("assess", census, *OPTIONS, "--json", "--subsets", "all", "--tries", "1")
    tried = json.loads(asked.out)["results"]
    assert [result["gain"] for result in tried] == [result["probabilistic"] for result in plain]


def test_the_best_set_of_each_size_and_the_influence_are_shown(
    glasshouse: Glasshouse, census: Path
) -> None:
    shown = glasshouse("assess", census, *OPTIONS).out
    assert "Identify the person: the best set of each size" in shown
    assert "What each column contributes" in shown
    assert (
        shown.count("•") == 5
    )  # naming, inferring, what is enough, how many are alone, what is safe


def test_all_rows_are_in_the_results_and_the_report_shows_a_dot_for_each(
    glasshouse: Glasshouse, census: Path, tmp_path: Path
) -> None:
    outcome = glasshouse("assess", census, *OPTIONS, "--out", tmp_path / "run")
    assert outcome.code == 0, outcome.error
    frame = pyarrow.parquet.read_table(tmp_path / "run" / "results.parquet")
    assert frame.num_rows == 2 * 31
    assert "success_0.9" in frame.column_names
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count('class="picture wide"') == 6
    assert "31 sets of quasi-identifiers" in page
    assert "What each column contributes" in page
    assert not (tmp_path / "run.partial").exists()


def test_an_interrupted_run_goes_on_with_the_same_bytes(
    glasshouse: Glasshouse, census: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert glasshouse("assess", census, *OPTIONS, "--out", tmp_path / "whole").code == 0
    finish = sweep_steps._Steps.run

    def interrupted(own: sweep_steps._Steps, step: int, *further: Any) -> Any:
        if step == 3:
            raise KeyboardInterrupt
        return finish(own, step, *further)

    command = ("assess", census, *OPTIONS, "--out", tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(sweep_steps._Steps, "run", interrupted)
        outcome = glasshouse(*command)
    assert outcome.code == 130
    assert "--resume" in outcome.error
    assert not (tmp_path / "run").exists()
    assert sorted(contents(tmp_path / "run.partial")) == ["0.npy", "1.npy", "2.npy", "key"]
    assert glasshouse(*command, "--resume").code == 0
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert not (tmp_path / "run.partial").exists()


def on_disk_only(patch: pytest.MonkeyPatch) -> list[str]:
    """Make a run keep codes, records and classes on disk, in pieces far smaller than its data; note what was done."""
    done: list[str] = []
    spill = codes.CodePieces.spill

    def spilled(pieces: codes.CodePieces) -> None:
        done.append("spilled")
        spill(pieces)

    def sliced(table: EncodedTable, *, most_records: int, **words: Any) -> Any:
        done.append("sliced")
        assert most_records == 900
        return microdata.assess(table, most_records=most_records, **words)

    def exposed(table: EncodedTable, *, most_records: int) -> Any:
        done.append("exposed")
        assert most_records == 900
        return exposures(table, most_records=most_records)

    exposures = attacks.exposures
    patch.setattr(attacks, "exposures", exposed)
    patch.setattr(codes.CodePieces, "spill", spilled)
    patch.setattr(assess, "assess", sliced)
    patch.setattr("glasshouse.sources.source.BATCH_RECORDS", 1_000)
    patch.setattr("glasshouse.table.encode.FEW_BYTES", 0)
    patch.setattr("glasshouse.table.encode.CODES_SHARE", 1 << 50)
    patch.setattr("glasshouse.table.codes.BLOCK_RECORDS", 700)
    patch.setattr("glasshouse.microdata.attacks.BLOCK_RECORDS", 700)
    home = import_module("glasshouse.runs.run")
    patch.setattr(home, "LEAST_LAID_OUT", 900)
    patch.setattr(home, "RECORD_BYTES", 1 << 50)
    patch.setattr(sweep_steps, "CHUNK_RECORDS", 777)
    patch.setattr(sweep_steps, "COUNTED", 2_000)
    patch.setattr(sweep_steps._Steps, "_fitting", lambda *_: 1_500)
    return done


def test_a_chosen_set_of_attributes_keeps_to_the_memory_with_the_same_bytes(
    glasshouse: Glasshouse, census: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("assess", census, *OPTIONS, "--subsets", "full", "--tries", "2", "--out")
    assert glasshouse(*command, tmp_path / "whole").code == 0
    done = on_disk_only(monkeypatch)
    outcome = glasshouse(*command, tmp_path / "run", "--memory", "8G")
    assert outcome.code == 0, outcome.error
    assert "sliced" in done
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_what_goes_over_the_disk_has_the_same_bytes_also_where_it_was_interrupted(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    census = synthetic.write("school-census", records=8_000, path=tmp_path / "census.parquet")
    assert glasshouse("assess", census, *OPTIONS, "--out", tmp_path / "whole").code == 0
    finish = sweep_steps._Steps.run

    def interrupted(own: sweep_steps._Steps, step: int, *further: Any) -> Any:
        if step == 2:
            raise KeyboardInterrupt
        return finish(own, step, *further)

    done = on_disk_only(monkeypatch)
    command = ("assess", census, *OPTIONS, "--memory", "8G", "--out", tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(sweep_steps._Steps, "run", interrupted)
        assert glasshouse(*command).code == 130
    assert glasshouse(*command, "--resume").code == 0
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert set(done) == {"spilled", "sliced", "exposed"}


def test_a_kept_table_answers_the_next_question_without_the_file(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    census = synthetic.write("school-census", records=8_000, path=tmp_path / "census.parquet")
    kept = tmp_path / "kept.arrow"
    on_disk_only(monkeypatch)
    options = (*OPTIONS, "--memory", "8G", "--json")
    first = glasshouse("assess", census, *options, "--save-table", kept)
    assert first.code == 0, first.error
    census.unlink()
    again = glasshouse("assess", kept, *options)
    assert again.code == 0, again.error
    assert json.loads(again.out)["results"] == json.loads(first.out)["results"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_killed_run_goes_on_with_the_same_bytes(glasshouse: Glasshouse, tmp_path: Path) -> None:
    census = synthetic.write("school-census", records=200_000, path=tmp_path / "census.parquet")
    made = synthetic.generator("school-census")
    options = [option for name in made.quasi_identifiers for option in ("-q", name)]
    options += ["-s", "disability", "-s", "transport", "--threads", "1"]
    command = [sys.executable, "-m", "glasshouse", "assess", str(census), *options]
    with subprocess.Popen([*command, "--out", str(tmp_path / "run")]) as process:
        while process.poll() is None and not (tmp_path / "run.partial" / "0.npy").exists():
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
    assert not (tmp_path / "run").exists()
    again = glasshouse("assess", census, *options, "--out", tmp_path / "run", "--resume")
    assert again.code == 0, again.error
    assert glasshouse("assess", census, *options, "--out", tmp_path / "whole").code == 0
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.parametrize("where", ["in memory", "on disk", "in memory, then on disk"])
def test_a_run_that_is_killed_within_its_first_step_goes_on_there_with_the_same_bytes(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    census = synthetic.write("school-census", records=8_000, path=tmp_path / "census.parquet")
    assert glasshouse("assess", census, *OPTIONS, "--out", "whole").code == 0
    monkeypatch.setattr(sweep_steps, "PORTION_SECONDS", 0.0)
    monkeypatch.setattr(sweep_steps, "PORTION_RECORDS", 1_000)
    save, sweep_partition, handed_over = Checkpoint.save, sweep_steps.sweep_partition, []

    def saved_and_killed(own: Checkpoint, step: int, rows: Any) -> None:
        save(own, step, rows)
        if rows[-1, 1] > 3_000:
            os.kill(os.getpid(), signal.SIGKILL)

    def swept(*arguments: Any, **options: Any) -> Any:
        handed_over.append(int(options["bounds"][-1]) if "bounds" in options else 0)
        return sweep_partition(*arguments, **options)

    command: tuple[str, ...] = ("assess", str(census), *OPTIONS, "--out", "run")
    if where == "on disk":
        on_disk_only(monkeypatch)
        command += ("--memory", "8G")
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", saved_and_killed)
        assert forked(command)[0] == -signal.SIGKILL
    assert sorted(contents(tmp_path / "run.partial")) == ["0.npy", "key"]
    answered = int(np.load("run.partial/0.npy")[-1, 1])
    assert 3_000 < answered < 8_000
    if where.endswith("then on disk"):
        on_disk_only(monkeypatch)
        command += ("--memory", "8G")
    monkeypatch.setattr(sweep_steps, "PORTION_RECORDS", 10_000)
    monkeypatch.setattr(sweep_steps, "sweep_partition", swept)
    resumed = glasshouse(*command, "--resume")
    assert resumed.code == 0, resumed.error
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    if where == "in memory":
        assert handed_over[0] == 8_000 - answered


def test_a_checkpoint_of_another_study_is_not_resumed(
    glasshouse: Glasshouse, census: Path, tmp_path: Path
) -> None:
    command = ("assess", census, *OPTIONS, "--out", tmp_path / "run", "--resume")
    nothing = glasshouse(*command)
    assert (nothing.code, "there is nothing to resume" in nothing.error) == (2, True)
    (tmp_path / "run.partial").mkdir()
    (tmp_path / "run.partial" / "key").write_text("another")
    other = glasshouse(*command)
    assert (other.code, "belongs to another study" in other.error) == (2, True)
    assert glasshouse("assess", census, *OPTIONS, "--resume").code == 2


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--subsets", "max:0"], 2, '"max:0" are neither all, nor max:K with a number K from 1 on'),
        (["--subsets", "within:0"], 2, '"within:0" name no time; say within:SECONDS, with a whole'),
        (["--subsets", "within:1.5"], 2, '"within:1.5" name no time; say within:SECONDS'),
        (["--memory", "much"], 2, 'memory "much" is not a size'),
        (["--memory", "1K"], 3, "the process may take 0 MiB; give more memory"),
        (["--threads", "0"], 2, "threads"),
    ],
)
def test_a_bad_limit_is_one_line(
    glasshouse: Glasshouse, census: Path, options: list[str], code: int, message: str
) -> None:
    outcome = glasshouse("assess", census, *OPTIONS, *options, "--json")
    assert outcome.code == code
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
    assert outcome.out == ""


def test_synth_writes_a_release_and_proposes_the_next_command(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    outcome = glasshouse("synth", "outpatient", "--records", 500, "--out", tmp_path / "o.parquet")
    assert outcome.code == 0, outcome.error
    assert pyarrow.parquet.read_metadata(tmp_path / "o.parquet").num_rows == 500
    assert "Next: glasshouse assess" in outcome.out
    wrong = glasshouse("synth", "outpatients", "--records", 5, "--out", tmp_path / "x.csv")
    assert (wrong.code, 'did you mean "outpatient"?' in wrong.error) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.parquet"]


def test_every_record_has_its_own_risk_only_when_asked(
    glasshouse: Glasshouse, census: Path, tmp_path: Path
) -> None:
    path = tmp_path / "risks.parquet"
    outcome = glasshouse("assess", census, *OPTIONS, "--json", "--per-record", path)
    assert outcome.code == 0
    assert "personal data" in outcome.error
    assert outcome.error.count("\n") == 1
    frame = pyarrow.parquet.read_table(path)
    assert frame.num_rows == 3_000
    whole = json.loads(outcome.out)["results"][-2]
    assert sum(size == 1 for size in frame.column("size").to_pylist()) == whole["uniques"]
    again = glasshouse("assess", census, *OPTIONS, "--json", "--per-record", path)
    assert (again.code, "exists" in again.error) == (2, True)
    as_text = tmp_path / "risks.csv"
    assert glasshouse("assess", census, *OPTIONS, "--json", "--per-record", as_text).code == 0
    assert pyarrow.csv.read_csv(as_text).to_pydict() == frame.to_pydict()
    assert as_text.stat().st_mode & 0o077 == 0
    odd = glasshouse("assess", census, *OPTIONS, "--per-record", tmp_path / "risks.txt")
    assert (odd.code, odd.error.count("\n"), "Parquet or CSV" in odd.error) == (2, 1, True)


def test_columns_that_tell_nothing_or_everything_are_pointed_out(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("one,own,ill\nx,1,a\nx,2,b\nx,3,b\n")
    outcome = glasshouse("assess", path, "-q", "one", "-q", "own", "-s", "ill", "--json")
    assert outcome.code == 0
    assert outcome.error.splitlines() == [
        'note: column "one" holds one value only; it adds nothing',
        'note: every record has its own value of column "own": it identifies by itself',
    ]


def test_every_subset_with_weights(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("a,b,w\nx,1,0.5\nx,2,1.5\ny,2,2\n")
    command = ("assess", path, "-q", "a", "-q", "b", "--prior-weight", "w", "--json")
    assert len(json.loads(glasshouse(*command, "--subsets", "full").out)["results"]) == 1
    rows = json.loads(glasshouse(*command).out)["results"]
    assert [row["probabilistic"]["posterior"] for row in rows] == [0.875, 0.625, 1.0]
