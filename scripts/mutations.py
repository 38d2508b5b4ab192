"""Break the code on purpose, one small change at a time, and see whether a test notices.

    python scripts/mutations.py try microdata --count 40 --seed 1 --into mutations.jsonl
    python scripts/mutations.py choose mutations.jsonl --pace pace.tsv --seconds 200 > tests/quick.txt
    python scripts/mutations.py again mutations.jsonl --count 20

``try`` copies the project, changes one place of a package (a comparison, a sign, a number, an ``and``), runs the tests
of the package, and the examples of the file, until one fails, and writes a line: what was changed, and which test
failed, or that none did. Compiled loops that may hold what is changed are put aside meanwhile. With ``--pace`` the
fastest test files come first, and with ``--most`` tests that take more seconds are left out. ``choose`` writes the
tests that noticed most in so many seconds, by such lines and by what every test takes (what a run of the tests with
``GLASSHOUSE_PACE=FILE`` writes): they are in ``tests/quick.txt``, and ``make quick`` runs them. ``again`` tries some of
the changes that were noticed with these tests only, and tells how many they notice.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "qif": (["qif"], ["tests/qif", "tests/tabulation/test_noise.py"]),
    "microdata": (["microdata"], ["tests/microdata"]),
    "mitigation": (["mitigation"], ["tests/mitigation"]),
    "disclosure": (
        ["disclosure.py", "measures/discretion.py", "report/discretion.py"],
        [
            "tests/test_disclosure.py",
            "tests/test_differencing.py",
            "tests/properties/test_disclosure.py",
            "tests/report/test_discretion.py",
            "tests/report/test_family.py",
            "tests/report/test_inspect.py",
            "tests/report/test_membership.py",
            "tests/report/test_people_sentences.py",
            "tests/report/test_target.py",
        ],
    ),
    "measures": (
        ["measures", "study/policy.py"],
        [
            "tests/study",
            "tests/test_measures.py",
            "tests/cli/test_check.py",
            "tests/cli/test_deter.py",
            "tests/cli/test_forms.py",
            "tests/cli/test_green.py",
            "tests/cli/test_people.py",
            "tests/report/test_assess_sentences.py",
            "tests/report/test_family.py",
            "tests/report/test_inspect.py",
            "tests/report/test_membership.py",
            "tests/report/test_people_sentences.py",
            "tests/report/test_population.py",
            "tests/report/test_protected_sentences.py",
            "tests/report/test_target.py",
            "tests/runs/test_suppressed.py",
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
LOADED = ("hypothesis", "numba", "pyarrow", "pydantic", "scipy.optimize", "typer", "xdist")
"""What takes long to import, and is imported once for all changes."""
REWRITTEN = "Module already imported:pytest.PytestAssertRewriteWarning"
"""What pytest says of modules that are there before it."""
QUICK = "tests/quick.txt"
"""The tests of ``make quick``, as pytest reads them."""
MOST_SECONDS = 200
"""The tests of a change may not take more seconds of the processor; those that do have noticed it."""


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


@contextmanager
def copied() -> Iterator[Path]:
    """Copy what the tests need of the project, for as long as it is used."""
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
        yield copy


@contextmanager
def changed_in(copy: Path, change: Change) -> Iterator[None]:
    """Change a file of the copy, and put it back, with the compiled loops that may hold it."""
    file = copy / change.place
    original = file.read_bytes()

    def loops() -> list[Path]:
        return [
            loop
            for holder in holding(file, copy)
            for loop in holder.parent.glob(f"__pycache__/{holder.stem}.*.nb?")
        ]

    aside = {loop: loop.read_bytes() for loop in loops()}
    for loop in aside:
        loop.unlink()
    file.write_bytes(original[: change.start] + change.after.encode() + original[change.end :])
    try:
        yield
    finally:
        file.write_bytes(original)
        for loop in loops():
            loop.unlink()
        for loop, content in aside.items():
            loop.write_bytes(content)


def all_changes(package: str) -> list[Change]:
    """Return all that can be changed in a package."""
    source = ROOT / "src" / "glasshouse"
    places = [source / place for place in PACKAGES[package][0]]
    files = [
        path
        for place in places
        for path in ([place] if place.is_file() else sorted(place.rglob("*.py")))
    ]
    return [
        change for path in files for change in changes_of(path, path.read_text(encoding="utf-8"))
    ]


def try_out(
    package: str,
    count: int,
    seed: int,
    into: Path,
    *,
    pace: Path | None,
    most: float,
    unchecked: bool,
) -> None:
    """Make so many random changes, and write down what noticed each; go on where a file of lines ends.

    Tests that take more seconds than `most` are left out. Unless `unchecked`, all must pass where nothing is changed.
    """
    everything = all_changes(package)
    chosen = random.Random(seed).sample(everything, min(count, len(everything)))
    tests = PACKAGES[package][1]
    rows = [json.loads(line) for line in into.read_text().splitlines()] if into.exists() else []
    done = {
        (
            row["package"],
            row["place"].partition(":")[0],
            row["start"],
            row["change"].split(" → ")[1],
        )
        for row in rows
    }
    for module in LOADED:
        import_module(module)
    takes = seconds_of(pace, _file) if pace else {}
    single = seconds_of(pace, str) if pace else {}
    without = [f"--deselect={test}" for test, spent in single.items() if spent > most]
    with copied() as copy:
        if failed := not unchecked and noticed_by(copy, [*tests, *without]):
            sys.exit(f"{failed}: fails, or takes too long, where nothing is changed")
        for number, change in enumerate(chosen):
            if (package, change.place, change.start, change.after) in done:
                continue
            begun = time.monotonic()
            with changed_in(copy, change):
                first, others = in_turn(copy, tests, Path(change.place), takes)
                noticed = (
                    (first and noticed_by(copy, [*first, *without]))
                    or noticed_by(copy, ["--doctest-modules", change.place])
                    or (others and noticed_by(copy, [*others, *without]))
                    or ""
                )
            row = {
                "package": package,
                "of": len(everything),
                "place": f"{change.place}:{change.line}",
                "start": change.start,
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


def try_again(lines: Path, count: int, seed: int) -> None:
    """Make some of the changes that were noticed again, and tell how many the quick tests notice."""
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    known = {
        (f"{change.place}:{change.line}", change.start, f"{change.before} → {change.after}"): change
        for package in PACKAGES
        for change in all_changes(package)
    }
    names = [(row["place"], row["start"], row["change"]) for row in rows if row["noticed"]]
    there = [known[name] for name in names if name in known]
    chosen = random.Random(seed).sample(there, min(count, len(there)))
    found = 0
    with copied() as copy:
        if failed := noticed_by(copy, [f"@{QUICK}"]):
            sys.exit(f"{failed}: fails, or takes too long, where nothing is changed")
        for number, change in enumerate(chosen):
            with changed_in(copy, change):
                noticed = noticed_by(copy, [f"@{QUICK}"])
            found += bool(noticed)
            print(
                f"{number + 1}/{len(chosen)} {change.place}:{change.line} {change.before} → {change.after}:"
                f" {noticed or 'SURVIVED'}",
                flush=True,
            )
    print(f"{found} of {len(chosen)} noticed")


def in_turn(
    copy: Path, tests: list[str], changed: Path, takes: dict[str, float]
) -> tuple[list[str], list[str]]:
    """Return the test files of a package that are called as what is changed, and the others; the fastest first."""
    files = [
        file.relative_to(copy)
        for test in tests
        for file in (
            sorted((copy / test).rglob("test_*.py")) if (copy / test).is_dir() else [copy / test]
        )
    ]
    files.sort(key=lambda file: takes.get(file.as_posix(), 0.0))
    words = {*changed.stem.split("_"), changed.parent.name}
    first = [file for file in files if words & set(file.stem.split("_"))]
    others = [file for file in files if file not in first]
    return [file.as_posix() for file in first], [file.as_posix() for file in others]


def noticed_by(copy: Path, tests: list[str]) -> str:
    """Return the test that fails, or what else shows the change; empty: nothing does."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            os._exit(_run(copy, tests))
        _, status = os.waitpid(child, 0)
        output.seek(0)
        told = output.read()
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return "takes for ever"
    if os.waitstatus_to_exitcode(status) in (0, 5):  # 5: no tests, as in a module without examples
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", told, re.MULTILINE)
    return failed[1] if failed else "does not run"


def _run(copy: Path, tests: list[str]) -> int:
    """Run tests of the copy in this process, which has all that they import but the project itself."""
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 5))
        os.chdir(copy)
        sys.path[:0] = [str(copy / "src"), str(copy)]
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
        pace: Any = import_module("tests.pace")
        pace._loop = float  # how fast the machine is does not matter here, and takes time
        pace.MOST_SECONDS = float("inf")
        asked = ["-x", "-q", "-p", "no:cacheprovider", "-W", f"ignore:{REWRITTEN}", *tests]
        return int(pytest.main(asked))
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def choose(lines: Path, pace: Path, seconds: float) -> None:
    """Print the tests that notice most in so many seconds.

    Those that noticed a change come first, the best for their time before the others; then, as long as there is time,
    the fastest tests of the files that noticed most for theirs, and then the fastest of all files: a fault is seldom
    where one was tried. A file of which all tests are chosen is named as a whole, so that new ones join them.
    """
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    noticed = Counter(_function(row["noticed"]) for row in rows if "::" in row["noticed"])
    takes = {test: spent for test, spent in seconds_of(pace, _function).items() if is_there(test)}
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
        (
            test
            for test in takes
            if test not in noticed and by_file[_file(test)] and takes[test] <= seconds / 100
        ),
        key=lambda test: takes[test] * of_file[_file(test)] / by_file[_file(test)],
    )
    left = seconds
    chosen = set()
    for test in (*hits, *fillers):
        if takes[test] <= left:
            left -= takes[test]
            chosen.add(test)
    for file in sorted(of_file, key=lambda file: of_file[file]):
        if not by_file[file] and of_file[file] <= left:
            left -= of_file[file]
            chosen |= {test for test in takes if _file(test) == file}
    in_part = {_file(test) for test in takes if test not in chosen}
    print("\n".join(sorted({test if _file(test) in in_part else _file(test) for test in chosen})))


def seconds_of(pace: Path, name_of: Callable[[str], str]) -> dict[str, float]:
    """Return what tests took, or whatever of them is named."""
    takes: dict[str, float] = defaultdict(float)
    for line in pace.read_text(encoding="utf-8").splitlines():
        spent, test = line.split("\t", 1)
        takes[name_of(test)] += float(spent)
    return takes


def is_there(test: str) -> bool:
    """Tell whether a test is (still) defined in its file."""
    file, _, name = test.partition("::")
    return (ROOT / file).is_file() and name in functions_of(ROOT / file)


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Return the names of the functions that a file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


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
    trying.add_argument("--pace", type=Path, default=None)
    trying.add_argument("--most", type=float, default=float("inf"))
    trying.add_argument("--unchecked", action="store_true")
    choosing = commands.add_parser("choose")
    choosing.add_argument("lines", type=Path)
    choosing.add_argument("--pace", type=Path, required=True)
    choosing.add_argument("--seconds", type=float, default=200)
    trying_again = commands.add_parser("again")
    trying_again.add_argument("lines", type=Path)
    trying_again.add_argument("--count", type=int, default=20)
    trying_again.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.command == "try":
        try_out(
            asked.package,
            asked.count,
            asked.seed,
            asked.into,
            pace=asked.pace,
            most=asked.most,
            unchecked=asked.unchecked,
        )
    elif asked.command == "again":
        try_again(asked.lines, asked.count, asked.seed)
    else:
        choose(asked.lines, asked.pace, asked.seconds)


if __name__ == "__main__":
    main()
