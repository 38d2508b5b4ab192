"""How long the tests take: what is kept together, what begins first, and what has become too slow.

Tests of a module that share something dear to make, a fixture of the module or an outcome that is kept, run in one
process, so that it is made once. Whatever takes long begins first, so that no process waits for it at the end. Every
test is measured in seconds of the processor, its own processes included, which say more than those of the clock on a
machine that does other things, too; the slowest are shown. A test file must not take more than `MOST_SECONDS` of them.
"""

from __future__ import annotations

import ast
import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from tests.examples import IS_THOROUGH

MOST_SECONDS = 60
"""So many seconds of the processor may a test file take on a quiet machine of 2026."""
SLOW: frozenset[str] = frozenset(
    {
        "tests/app/test_live_browser.py",
        "tests/cli/test_frozen.py",
        "tests/test_docs_site.py",
    }
)
"""Files that take more, a list that may only shrink."""
FIRST: tuple[str, ...] = (
    "tests/test_docs_site.py",
    "tests/app/test_live_browser.py",
    "tests/microdata/test_lattice.py",
    "tests/cli/test_frozen.py",
    "tests/cli/test_totals_stopped.py",
    "tests/test_differencing.py",
    "tests/engines/test_cluster.py",
    "tests/engines/test_spark.py",
    "tests/cli/test_advice.py",
    "tests/groups/test_sampling.py",
    "tests/report/test_browser.py",
    "tests/properties/test_disclosure.py",
    "tests/app/test_journey.py",
    "tests/mitigation/test_local.py",
    "tests/cli/test_start.py",
    "tests/app/test_live.py",
    "tests/cli/test_protect.py",
    "tests/cli/test_side_by_side.py",
    "tests/reconstruction/test_campaign.py",
    "tests/cli/test_totals.py",
)
"""What takes long, the longest first: files, or single tests of them."""
FEW = 8
"""So many tests of a file are handed to a process at once, where they share nothing and are not dear."""
QUIET_LOOP = 0.125
"""What `_loop` takes on a quiet machine, in seconds."""
SHOWN = 25
"""So many of the slowest tests are shown."""
_KEEPING = {"cache", "lru_cache"}


def _spent() -> float:
    """Return the seconds of the processor that this process and those that it has waited for took."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _loop() -> float:
    """Return how long a loop of plain Python takes here and now: a machine that is busy, or slow, takes longer."""
    begun = time.process_time()
    sum(number * number % 7 for number in range(1_500_000))
    return time.process_time() - begun


@cache
def sharing(path: Path) -> str:
    """Return what the tests of a module share something with; empty: nothing.

    Within the module that is a fixture of it, or an outcome that is kept; beyond it, the parsed sources of the house.
    """
    source = path.read_text(encoding="utf-8")
    if "from tests.parsed import" in source:
        return "sources"
    return path.as_posix() if _keeps_something(source) else ""


def _keeps_something(source: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
                scopes = [
                    word.value.value
                    for word in getattr(decorator, "keywords", ())
                    if word.arg == "scope" and isinstance(word.value, ast.Constant)
                ]
                if name in _KEEPING or (name == "fixture" and {*scopes} & {"module", "session"}):
                    return True
    return False


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """Hands tests to processes, in their order: those that share something together, of all others a few of a file.

    To hand them on one by one takes longer than most of them do.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._scopes: dict[str, str] = {}
        self._counts: dict[str, int] = defaultdict(int)

    def _split_scope(self, nodeid: str) -> str:
        if nodeid not in self._scopes:
            file = nodeid.partition("::")[0]
            few = 1 if file in FIRST else FEW
            part = f"{file} {self._counts[file] // few}"
            self._counts[file] += 1
            self._scopes[nodeid] = sharing(self.config.rootpath / file) or part
        return self._scopes[nodeid]


class Pace:
    """What is known of the time that tests took: in the process that shows it, of all of them.

    Args:
        config: How pytest was called.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.tests: dict[str, float] = defaultdict(float)
        self.loop = 0.0
        self._begun = 0.0
        self._started = time.monotonic()
        self._ended: dict[str, float] = {}
        self._output: dict[str, Any] | None = getattr(config, "workeroutput", None)

    @property
    def slowdown(self) -> float:
        """How many times slower than a quiet machine this one is."""
        return max(1.0, self.loop / QUIET_LOOP)

    @property
    def files(self) -> dict[str, float]:
        """The seconds of each test file."""
        seconds: dict[str, float] = defaultdict(float)
        for test, spent in self.tests.items():
            seconds[test.partition("::")[0]] += spent
        return seconds

    def too_slow(self) -> Iterator[str]:
        """Yield what is wrong with files that take too long; where all random cases are tried, any may."""
        if IS_THOROUGH:
            return
        for file, seconds in sorted(self.files.items(), key=lambda entry: -entry[1]):
            if seconds / self.slowdown > MOST_SECONDS and file not in SLOW:
                yield (
                    f"{file} took {seconds:.0f} s of the processor, on a machine that is {self.slowdown:.1f} times as "
                    f"slow as a quiet one; {MOST_SECONDS} are allowed: make dear things once, or try fewer random cases"
                    " in every run and all of them in make thorough (tests/examples.py)"
                )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put what takes long before everything else."""
        places = {name: place for place, name in enumerate(FIRST)}

        def turn(item: pytest.Item) -> int:
            names = (item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0])
            return min(places.get(name, len(FIRST)) for name in names)

        items.sort(key=turn)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Let tests that share something run in one process."""
        return Together(config, log)

    def pytest_sessionstart(self) -> None:
        """See how fast the machine is."""
        self.loop = _loop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        """Begin to measure a test."""
        self._begun = _spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Measure each phase of a test."""
        report = yield
        now = _spent()
        report.spent = now - self._begun  # type: ignore[attr-defined]
        self._begun = now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a phase of a test, wherever it ran."""
        self.tests[report.nodeid] += getattr(report, "spent", 0.0)
        self._ended[getattr(report, "worker_id", "")] = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over how fast the machine was where tests ran beside each other."""
        self.loop = max(self.loop, getattr(node, "workeroutput", {}).get("loop", 0.0))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the slowest tests, and which files are too slow."""
        slowest = sorted(self.tests.items(), key=lambda entry: -entry[1])[:SHOWN]
        total = sum(self.tests.values())
        terminalreporter.section(
            f"the slowest {len(slowest)} tests, of {total:.0f} s of the processor in all"
        )
        for test, seconds in slowest:
            terminalreporter.line(f"{seconds:7.1f}  {test}")
        terminalreporter.line(self._idle())
        for trouble in self.too_slow():
            terminalreporter.line(f"too slow: {trouble}", red=True)
        if path := os.environ.pop("GLASSHOUSE_PACE", ""):  # for whoever looks where the time goes
            lines = (f"{seconds:.3f}\t{test}\n" for test, seconds in self.tests.items())
            Path(path).write_text("".join(lines), encoding="utf-8")

    def _idle(self) -> str:
        """Return how much of the machine was not used, how fast it was, and how long processes had nothing to do."""
        cores, last = os.cpu_count() or 1, max(self._ended.values(), default=self._started)
        waited = sorted(last - ended for ended in self._ended.values())
        return (
            f"{cores} cores had {cores * (last - self._started):.0f} s; a loop that takes {QUIET_LOOP} s on a quiet "
            f"machine took up to {self.loop:.2f}; processes without a test at the end, for s: "
            + ", ".join(f"{seconds:.0f}" for seconds in waited)
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail where a file has become too slow."""
        if self._output is not None:
            self._output["loop"] = max(self.loop, _loop())
        elif session.exitstatus == pytest.ExitCode.OK and any(self.too_slow()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
