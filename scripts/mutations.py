"""Break the code on purpose, one small change at a time, and see whether a test notices.

    python scripts/mutations.py try microdata --count 40 --seed 1 --into mutations.jsonl
    python scripts/mutations.py choose mutations.jsonl --pace pace.tsv --seconds 200 > tests/quick.txt

``try`` copies the project, changes one place of a package (a comparison, a sign, a number, an ``and``), runs the tests
of the package until one fails, and writes a line: what was changed, and which test failed, or that none did. Where a
loop is changed, all compiled loops that may hold it are removed first. ``choose`` writes the tests that noticed most in
so many seconds, by such lines and by what every test takes (what a run of the tests with ``GLASSHOUSE_PACE=FILE``
writes): they are in ``tests/quick.txt``, and ``make quick`` runs them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "qif": (["qif"], ["tests/qif"]),
    "microdata": (["microdata"], ["tests/microdata"]),
    "mitigation": (["mitigation"], ["tests/mitigation"]),
    "disclosure": (
        ["disclosure.py", "report/discretion.py"],
        [
            "tests/test_disclosure.py",
            "tests/report/test_discretion.py",
            "tests/test_differencing.py",
        ],
    ),
    "measures": (
        ["report/verdict.py", "report/coverage.py", "study/policy.py"],
        [
            "tests/study",
            "tests/report/test_verdict.py",
            "tests/cli/test_check.py",
            "tests/cli/test_green.py",
        ],
    ),
}
"""What can be broken: the places of its code, and the tests that are to notice."""
COPIED = ("src", "tests", "scripts", "docs", "examples", "papers", "benchmarks")
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.Is: ("is", "is not"),
}
OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "+"),
}
LOOPS = re.compile(r"^from (glasshouse\.compiled|numba) import", re.MULTILINE)
"""How a file begins that has loops to be compiled."""
MOST_SECONDS = 900
"""No test of a change may take longer; what does has noticed it."""


@dataclass(frozen=True)
class Change:
    """One small change of a file."""

    place: str
    line: int
    start: int
    end: int
    before: str
    after: str


def changes_of(path: Path, source: str) -> Iterator[Change]:
    """Yield all that can be changed in a file, in annotations and docstrings aside."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    encoded = source.encode()
    place = path.relative_to(ROOT).as_posix()
    tree = ast.parse(source)
    annotated = {
        id(inner)
        for node in ast.walk(tree)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if part is not None
        for inner in ast.walk(part)
    }

    def position(line: int, column: int) -> int:
        return starts[line - 1] + column

    def between(left: ast.expr, right: ast.expr, sign: str, other: str) -> Iterator[Change]:
        first = position(left.end_lineno or 0, left.end_col_offset or 0)
        last = position(right.lineno, right.col_offset)
        gap = encoded[first:last].decode()
        found = re.search(rf"(?<![<>=!*/]){re.escape(sign)}(?![=*/])", gap)
        if found is not None and "#" not in gap:
            start = first + len(gap[: found.start()].encode())
            yield Change(place, left.end_lineno or 0, start, start + len(sign), sign, other)

    for node in ast.walk(tree):
        if id(node) in annotated:
            continue
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                if type(operator) in COMPARISONS:
                    yield from between(left, right, *COMPARISONS[type(operator)])
            case ast.BinOp(left=left, op=operator, right=right):
                if type(operator) in OPERATIONS and not isinstance(
                    left, ast.Constant | ast.JoinedStr
                ):
                    yield from between(left, right, *OPERATIONS[type(operator)])
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                signs = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                yield from between(left, right, *signs)
            case ast.Constant(value=value) if type(value) in (int, bool):
                start = position(node.lineno, node.col_offset)
                end = position(node.end_lineno or 0, node.end_col_offset or 0)
                before = encoded[start:end].decode()
                after = str(not value) if isinstance(value, bool) else f"({before} + 1)"
                yield Change(place, node.lineno, start, end, before, after)


def has_loops(path: Path) -> bool:
    """Tell whether a file has loops that are compiled."""
    return bool(LOOPS.search(path.read_text(encoding="utf-8")))


def holding(changed: Path, copy: Path) -> set[Path]:
    """Return the files whose compiled loops may hold one of a file: those that import it, and who imports them."""
    source = copy / "src" / "glasshouse"
    texts = {path: path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    holders = {changed}
    grown = True
    while grown:
        names = {
            "glasshouse." + ".".join(path.relative_to(source).with_suffix("").parts)
            for path in holders
        }
        more = {
            path
            for path, text in texts.items()
            if LOOPS.search(text) and any(f"from {name} import" in text for name in names)
        }
        grown = not more <= holders
        holders |= more
    return holders


def try_out(package: str, count: int, seed: int, into: Path) -> None:
    """Make so many random changes, and write down what noticed each."""
    places, tests = PACKAGES[package]
    source = ROOT / "src" / "glasshouse"
    files = [
        path
        for place in places
        for path in (
            [source / place]
            if (source / place).is_file()
            else sorted((source / place).rglob("*.py"))
        )
    ]
    everything = [
        change for path in files for change in changes_of(path, path.read_text(encoding="utf-8"))
    ]
    chosen = random.Random(seed).sample(everything, min(count, len(everything)))
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "project"
        copy.mkdir()
        for name in COPIED:
            shutil.copytree(ROOT / name, copy / name)
        for path in (
            *ROOT.glob("*.toml"),
            *ROOT.glob("*.md"),
            *ROOT.glob("*.txt"),
            ROOT / "Makefile",
        ):
            shutil.copy(path, copy / path.name)
        for number, change in enumerate(chosen):
            file = copy / change.place
            original = file.read_bytes()
            file.write_bytes(
                original[: change.start] + change.after.encode() + original[change.end :]
            )
            if has_loops(file):
                for holder in holding(file, copy):
                    for loop in holder.parent.glob(f"__pycache__/{holder.stem}.*.nb?"):
                        loop.unlink()
            begun = time.monotonic()
            noticed = noticed_by(copy, in_turn(copy, tests, Path(change.place)))
            file.write_bytes(original)
            row = {
                "package": package,
                "of": len(everything),
                "place": f"{change.place}:{change.line}",
                "change": f"{change.before} → {change.after}",
                "noticed": noticed,
                "seconds": round(time.monotonic() - begun, 1),
            }
            with into.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(
                f"{number + 1}/{len(chosen)} {row['place']} {row['change']}: {noticed or 'SURVIVED'}",
                flush=True,
            )


def in_turn(copy: Path, tests: list[str], changed: Path) -> list[str]:
    """Return the test files of a package: those first that are called as the file that is changed, or as its folder."""
    files = [
        file
        for test in tests
        for file in (
            sorted((copy / test).rglob("test_*.py")) if (copy / test).is_dir() else [copy / test]
        )
    ]
    words = {changed.stem, *changed.stem.split("_"), changed.parent.name}

    def turn(file: Path) -> tuple[bool, bool]:
        return f"test_{changed.stem}" != file.stem, not words & set(file.stem.split("_"))

    return [file.relative_to(copy).as_posix() for file in sorted(files, key=turn)]


def noticed_by(copy: Path, tests: list[str]) -> str:
    """Return the test that fails, or what else shows the change; empty: nothing does."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy)])}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += tests
    try:
        ended = subprocess.run(
            command,
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "takes for ever"
    if ended.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
    return failed[1] if failed else "does not run"


def choose(lines: Path, pace: Path, seconds: float) -> None:
    """Print the tests that notice most in so many seconds.

    Those that noticed a change come first, the best for their time before the others; then, as long as there is time,
    the fastest tests of the files that noticed most for theirs: a fault is seldom where one was tried.
    """
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    noticed = Counter(_function(row["noticed"]) for row in rows if "::" in row["noticed"])
    takes: dict[str, float] = defaultdict(float)
    for line in pace.read_text(encoding="utf-8").splitlines():
        spent, test = line.split("\t", 1)
        takes[_function(test)] += float(spent)
    by_file: Counter[str] = Counter()
    of_file: dict[str, float] = defaultdict(float)
    for test, spent_on in takes.items():
        of_file[_file(test)] += spent_on
        by_file[_file(test)] += noticed[test]
    hits = sorted(
        (test for test in noticed if test in takes),
        key=lambda test: -noticed[test] / (takes[test] + 0.05),
    )
    fillers = sorted(
        (test for test in takes if test not in noticed and by_file[_file(test)]),
        key=lambda test: takes[test] * of_file[_file(test)] / by_file[_file(test)],
    )
    left = seconds
    chosen = []
    for test in (*hits, *fillers):
        if takes[test] <= left:
            left -= takes[test]
            chosen.append(test)
    print("\n".join(sorted(chosen)))


def _function(test: str) -> str:
    return test.partition("[")[0]


def _file(test: str) -> str:
    return test.partition("::")[0]


def main() -> None:
    """Try changes, or choose tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    trying = commands.add_parser("try")
    trying.add_argument("package", choices=PACKAGES)
    trying.add_argument("--count", type=int, default=40)
    trying.add_argument("--seed", type=int, default=1)
    trying.add_argument("--into", type=Path, default=Path("mutations.jsonl"))
    choosing = commands.add_parser("choose")
    choosing.add_argument("lines", type=Path)
    choosing.add_argument("--pace", type=Path, required=True)
    choosing.add_argument("--seconds", type=float, default=200)
    asked = parser.parse_args()
    if asked.command == "try":
        try_out(asked.package, asked.count, asked.seed, asked.into)
    else:
        choose(asked.lines, asked.pace, asked.seconds)


if __name__ == "__main__":
    main()
