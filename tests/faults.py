"""Runs that are killed and files that are damaged, by number: a few in the tests, many in ``make soak``."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

import glasshouse.report.assess.page  # for the processes that are forked
import glasshouse.runs.assess  # noqa: F401
from glasshouse.cli.main import main

STUDY = ("assess", "people.csv", "-q", "age", "-q", "sex", "--subsets", "all")
"""What is killed, in a folder with people.csv."""


def forked(arguments: tuple[str, ...], *, seconds: float | None = None) -> tuple[int, str, str]:
    """Run a command in a process of its own, which dies of a signal that nobody catches after so much CPU time.

    Returns:
        What `os.waitstatus_to_exitcode` says, standard output and standard error.
    """
    child = os.fork()
    if child == 0:
        for number, name in ((1, ".out"), (2, ".error")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        if seconds is not None:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, seconds)
        code = main(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    written = [Path(name).read_text(errors="replace") for name in (".out", ".error")]
    for name in (".out", ".error"):
        Path(name).unlink()
    return os.waitstatus_to_exitcode(status), written[0], written[1]


def write_people(records: int = 3000) -> None:
    """Write what `STUDY` reads."""
    drawn = random.Random(1)
    with Path("people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("age", "sex", "town", "ill"))
        writer.writerows(
            (drawn.randrange(90), drawn.choice("fm"), drawn.randrange(40), drawn.randrange(5))
            for _ in range(records)
        )


def contents(folder: str) -> dict[str, bytes]:
    """Return the files of a run."""
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def killed_and_resumed(whole: dict[str, bytes], seconds: float) -> str:
    """Kill the study after so much CPU time and go on; return what became of it.

    Returns:
        "finished" before it could be killed, "resumed" or "begun anew" with the same bytes and nothing else left.
    """
    code, _, _ = forked((*STUDY, "--out", "run"), seconds=seconds)
    fate = "finished" if code == 0 else "resumed" if Path("run.partial").exists() else "begun anew"
    if code != 0:
        assert code == -signal.SIGPROF
        resume = ("--resume",) if fate == "resumed" else ("--overwrite",)
        code, _, error = forked((*STUDY, "--out", "run", *resume))
        assert code == 0, error
    assert contents("run") == whole
    shutil.rmtree("run")
    strangers = [path.name for path in Path().iterdir() if path.name not in ("people.csv", "whole")]
    assert strangers == []
    return fate


def _rows(drawn: random.Random) -> list[list[str]]:
    kinds = ("x", "é", "a b", 'say "hi"', "two\nlines", "1,5", "", "  ", "-0", "'")
    records = drawn.randint(1, 40)
    return [[f"{drawn.choice(kinds)}{i}" for _ in range(3)] for i in range(records)]


def _text(drawn: random.Random, rows: list[list[str]]) -> bytes:
    written = io.StringIO()
    end = drawn.choice(["\n", "\r\n"])
    csv.writer(written, lineterminator=end).writerows([["a", "b", "c"], *rows])
    return written.getvalue().encode(drawn.choice(["utf-8", "utf-8-sig", "latin-1"]))


def _columnar(drawn: random.Random, rows: list[list[str]], kind: str) -> bytes:
    table = pa.table(dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True)))
    sink = io.BytesIO()
    if kind == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def _damaged(drawn: random.Random, content: bytes) -> bytes:
    """Cut, flip, insert, repeat or leave alone."""
    place, damage = drawn.randrange(len(content)), drawn.randrange(6)
    flipped = bytes([content[place] ^ (1 << drawn.randrange(8))])
    return {
        0: content,
        1: content[:place],
        2: content[:place] + flipped + content[place + 1 :],
        3: content[:place]
        + drawn.choice([b'"', b"\x00", b",", b"\r", b"\xff", b"\n"])
        + content[place:],
        4: content[:place] + content[place // 2 :],
        5: drawn.randbytes(len(content)),
    }[damage]


def malformed(number: int) -> tuple[str, bytes, Callable[[int], bool]]:
    """Return a file by its number: its name, its bytes, and whether a number of records is no lie."""
    drawn = random.Random(number)
    kind = drawn.choice(["csv", "csv", "csv.gz", "parquet", "arrow"])
    rows = _rows(drawn)
    if kind in ("parquet", "arrow"):
        content = _damaged(drawn, _columnar(drawn, rows, kind))
        return f"file.{kind}", content, lambda records: records == len(rows)
    text = _damaged(drawn, _text(drawn, rows))
    if kind == "csv.gz":
        packed = _damaged(drawn, gzip.compress(text, mtime=0))
        try:
            text = gzip.decompress(packed)
        except (OSError, EOFError, ValueError):
            return "file.csv.gz", packed, lambda records: False
        except Exception:
            return "file.csv.gz", packed, lambda records: False
        return "file.csv.gz", packed, lambda records: records in _counts(text)
    return "file.csv", text, lambda records: records in _counts(text)


def _counts(content: bytes) -> set[int]:
    """Return the numbers of records that Python's own reader finds, whatever separates its fields."""
    counts = set()
    for encoding in ("utf-8-sig", "latin-1", "utf-16"):
        for separator in ",;\t|":
            try:
                lines = io.StringIO(content.decode(encoding), newline="")
                rows = [row for row in csv.reader(lines, delimiter=separator, strict=True) if row]
            except (UnicodeError, csv.Error):
                continue
            blank = content.decode(encoding).count("\n\n")
            counts |= {len(rows) - 1 + more for more in range(blank + 1)}
    return counts


def fate_of(number: int) -> str:
    """Read a malformed file; return what became of it: "read" or "refused", or what is wrong."""
    name, content, is_true = malformed(number)
    Path(name).write_bytes(content)
    code, out, error = forked(("inspect", name, "--json"))
    Path(name).unlink()
    if code == 0:
        records = json.loads(out)["records"]
        return "read" if is_true(records) else f"file {number}: lied of {records} records"
    if code == 2 and error.count("\n") == 1 and "a bug in Glasshouse" not in error and not out:
        return "refused"
    return f"file {number}: exit code {code}: {error[-200:]}"
