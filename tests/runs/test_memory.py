"""Reading stops as soon as it is clear that the data do not fit into the memory that was given."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from glasshouse.errors import BudgetError
from glasshouse.progress import Progress, give_back_memory, resident_bytes
from glasshouse.runs import Resources
from glasshouse.table.codes import Codes
from glasshouse.table.dictionary import Dictionary, DiskDictionary
from tests.conftest import Glasshouse
from tests.examples import IS_THOROUGH

MIB = 1 << 20
HOME = import_module("glasshouse.runs.run")


def read_until(
    monkeypatch: pytest.MonkeyPatch, taken: Sequence[float], memory: int, files: int = 1
) -> float | None:
    """Return the share of the file at which reading is refused, taking so many MiB after each tenth; None: never."""
    seen: list[Progress] = []
    resources = Resources(on_progress=seen.append, memory=memory * MIB).watching()
    assert resources.on_progress is not None
    for _ in range(files):
        for tenth, mebibytes in enumerate(taken, start=1):
            resident = int(mebibytes * MIB)
            monkeypatch.setattr(HOME, "resident_bytes", lambda resident=resident: resident)
            try:
                resources.on_progress(Progress("reading", tenth, len(taken)))
            except BudgetError:
                assert seen[-1].done == tenth
                return tenth / len(taken)
    return None


def test_what_fits_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_until(monkeypatch, [270, 300, 310, 315, 320, 322, 325, 328, 330, 330], 400) is None


def test_what_is_taken_is_never_more_than_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_until(monkeypatch, [270, 401], 400) == 1.0
    assert read_until(monkeypatch, [500, 500], 400) == 0.5


def test_what_will_not_fit_is_refused_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    growing = [100 + 60 * tenth for tenth in range(1, 11)]
    assert read_until(monkeypatch, growing, 500) == 0.3


def test_buffers_that_fill_at_the_beginning_are_no_reason_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filling = [150, 290, 300, *[301] * 7]
    assert read_until(monkeypatch, filling, 500) is None
    assert read_until(monkeypatch, filling, 500, files=2) is None


def test_what_is_foreseen_early_is_believed_only_if_it_is_far_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slowing = [260, 300, 320, 335, 350, 360, 370, 380, 390, 400]
    assert read_until(monkeypatch, slowing, 420) is None


PEAK = """
import pathlib, sys
from glasshouse.cli.main import main

code = main(sys.argv[1:])
status = pathlib.Path("/proc/self/status").read_text()
peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
print(code, peak.split()[1])
"""
"""Runs a command in a process of its own and prints its exit code, and the most memory that it took, in KiB."""


PEAK_OF_READING = """
import pathlib, sys
from glasshouse.progress import resident_bytes
from glasshouse.sources import open_source

before = resident_bytes() >> 10
for batch in open_source(sys.argv[1]).coded_batches(["note", "age"]):
    del batch
status = pathlib.Path("/proc/self/status").read_text()
peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
print(int(peak.split()[1]) - before)
"""
"""Reads two columns in a process of its own and prints how much memory that took at most, in KiB."""


LOOPS_OF_DICTIONARIES = """
import pyarrow as pa
from glasshouse.table.dictionary import Dictionary, DiskDictionary

for kind in (pa.string(), pa.large_string()):
    texts, on_disk = pa.array([str(i) for i in range(100_000)], kind), DiskDictionary()
    Dictionary().encode(texts)
    on_disk.append(texts)
    assert [len(codes) for codes in on_disk.encoded()] == [100_000]
    assert sum(map(len, on_disk.values())) == 100_000
"""
"""Encodes texts of either kind in memory and on disk, so many that the dictionary grows."""


@pytest.fixture(scope="module")
def needed(tmp_path_factory: pytest.TempPathFactory) -> int:
    """So many MiB a process takes on this machine that is asked about two records.

    Before it is measured all loops are compiled, as compiling takes forty MiB; in processes, too: what this one knows
    to be compiled need not be found by another.
    """
    path = tmp_path_factory.mktemp("small") / "people.csv"
    many = path.with_name("remarks.csv")
    path.write_text("age,ill\n20,no\n30,yes\n")
    many.write_text("\n".join(["age,ill", *(f"{i % 50},{i}" for i in range(130_000)), ""]))
    small, large = (["assess", str(file), "-q", "age", "-s", "ill"] for file in (path, many))
    for script, arguments in (
        (LOOPS_OF_DICTIONARIES, []),
        (PEAK, large),
        (PEAK, small),
        (PEAK, small),
    ):
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, capture_output=True, check=True)
    return int(done.stdout.split()[-1]) >> 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of a process is known")
@pytest.mark.parametrize(
    ("more", "length", "fits"),
    [(50, 1300, None), (200, 1500, True), *([(80, 2600, None)] if IS_THOROUGH else [])],
)
def test_long_texts_take_no_more_than_a_tenth_beyond_the_memory_given(
    tmp_path: Path, needed: int, more: int, length: int, fits: bool | None
) -> None:
    """What is tight may be read or refused, as buffers fill faster than they are emptied; never is more taken."""
    path = tmp_path / "remarks.csv"
    memory = needed + more
    remark = "x" * length  # 130,000 of the shortest are more than 160 MiB by themselves
    with path.open("w") as file:
        file.write("age,ill\n")
        file.writelines(f"{i % 50},{remark}{i}\n" for i in range(130_000))
    study = ["assess", str(path), "-q", "age", "-s", "ill", "--memory", f"{memory}M"]
    done = subprocess.run([sys.executable, "-c", PEAK, *study], capture_output=True, check=True)
    ended, peak = map(int, done.stdout.split()[-2:])
    path.unlink()
    assert ended == 0 if fits else ended in (0, 3)
    assert (ended == 3) == (f"the process may take {memory} MiB" in done.stderr.decode())
    assert peak <= 1.1 * memory * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of a process is known")
def test_a_first_look_at_parquet_of_very_long_texts_keeps_to_the_memory(
    tmp_path: Path, needed: int
) -> None:
    """A trial gave 273 MiB and saw 1.4 times as much taken before the refusal, for a look at four thousand records."""
    path = tmp_path / "notes.parquet"
    records = 40_000
    columns = {
        "age": [str(i % 50) for i in range(records)],
        "note": [f"{i:08d}" * 500 for i in range(records)],
        "ill": [str(i % 3) for i in range(records)],
    }
    pq.write_table(pa.table(columns), path, use_dictionary=False, row_group_size=records)
    study = ["assess", str(path), "-q", "age", "-s", "ill", "--memory", f"{needed}M"]
    done = subprocess.run([sys.executable, "-c", PEAK, *study], capture_output=True, check=True)
    ended, peak = map(int, done.stdout.split()[-2:])
    assert ended in (0, 3)
    assert (ended == 3) == (f"the process may take {needed} MiB" in done.stderr.decode())
    assert peak <= 1.1 * needed * 1024


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no memory of a process is known")
def test_texts_on_disk_are_let_go_of_while_a_part_of_them_is_encoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each part stands in many places of the file, and to touch one takes the memory around it."""
    on_disk, taken = DiskDictionary(codes_only=True), []
    texts = pa.array([f"{i:08d}" * 128 for i in range(8_000)])  # 8 MiB
    for _ in range(20):
        on_disk.append(texts)
    encode = Dictionary.encode

    def measured(self: Dictionary, texts: pa.LargeStringArray) -> Codes:
        taken.append(resident_bytes())
        return encode(self, texts)

    monkeypatch.setattr(Dictionary, "encode", measured)
    give_back_memory()
    before = resident_bytes()
    for _ in on_disk.encoded():
        pass
    assert max(taken) - before < 16 * MIB  # of 160


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of a process is known")
@pytest.mark.usefixtures("needed")
@pytest.mark.parametrize(("kind", "most"), [("feather", 150), ("orc", 320)])
def test_columnar_files_of_long_texts_are_read_a_block_at_a_time(
    tmp_path: Path, kind: str, most: int
) -> None:
    """An ORC file kept all that was read of it, and of an Arrow file two blocks were unpacked to count records."""
    path = tmp_path / f"notes.{kind}"
    records = 120_000
    columns = {
        "note": [f"{i:08d}" * 250 for i in range(records)],
        "age": [str(i % 50) for i in range(records)],
        "sex": [i % 2 for i in range(records)],
    }
    if kind == "orc":
        pyarrow.orc.write_table(pa.table(columns), path)
    else:
        pyarrow.feather.write_feather(pa.table(columns), path, chunksize=40_000)
    done = subprocess.run(
        [sys.executable, "-c", PEAK_OF_READING, path], capture_output=True, check=True
    )
    assert int(done.stdout) < most << 10  # where they are 240 MiB


def test_a_run_that_may_take_nothing_is_refused_with_exit_code_3(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n" + "20,no\n30,yes\n" * 50)
    outcome = glasshouse("assess", path, "-q", "age", "-s", "ill", "--memory", "20M")
    assert outcome.code == 3
    assert "the process may take 20 MiB; give more memory" in outcome.error
    assert glasshouse("assess", path, "-q", "age", "-s", "ill", "--memory", "8G").code == 0
