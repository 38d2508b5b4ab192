"""What several tests need: the shared folder where it exists, and a way to run the command line."""

from __future__ import annotations

import fcntl
import gc
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from glasshouse.cli import translation
from glasshouse.cli.main import main
from glasshouse.cli.translation import command_of
from glasshouse.language import spoken
from glasshouse.language.current import speak
from glasshouse.report.charts import to_svg
from tests.drawing import Draw, one_of_each_kind
from tests.examples import IS_THOROUGH, examples
from tests.pace import Pace

settings.register_profile(
    "glasshouse",
    max_examples=examples(100),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("glasshouse")

SHARED = Path(__file__).parents[2] / "shared"

# as on most machines: some hundred processes of the tests read what the first one has parsed
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):  # tests speak English unless they say otherwise
    os.environ.pop(variable, None)
os.environ["SOURCE_DATE_EPOCH"] = "1769817600"  # reports are of 31 January 2026, whenever tests run


NOTHING_SKIPPED = "GLASSHOUSE_NOTHING_SKIPPED"
"""Set: what would skip for want of something that the tests require fails instead, so that green hides nothing."""
REQUIRED = ("Chromium", "playwright", "typst", "axe", "PostgreSQL", "Spark")
"""What a machine must have; data of the shared folder only where there is such a folder."""

WITHOUT_EXTRAS = "GLASSHOUSE_WITHOUT_EXTRAS"
"""Set: a test skips that imports or asks for what only an extra installs; where the package imports it, it fails."""
ABSENT = re.compile(
    r"^(?:/\S+/)?tests/\S+:\d+: in .+\n.+\nE +ModuleNotFoundError: No module named '([^']+)'$"
    r"|^E .*pip install '(glasshouse\[\w+\])'",
    re.MULTILINE,
)


def pytest_configure(config: pytest.Config) -> None:
    """Measure how long tests take; and let one of the processes compile a loop, and the others read it from the cache.

    Without it all of them compile the same at the same time, and of two that write to an index of the cache one is
    lost. Who compiles waits for what its loop calls, never for what calls it: so nobody waits in a circle.
    """
    config.pluginmanager.register(Pace(config), "pace")
    if not hasattr(config, "workerinput"):
        return
    folder = Path(config.getoption("basetemp")).parent / "compiled"
    folder.mkdir(parents=True, exist_ok=True)
    compile_loop, begun = Dispatcher.compile, set[str]()

    def compile_in_turn(loop: Any, signature: Any) -> Any:
        name = f"{loop.py_func.__module__}.{loop.py_func.__qualname__}"
        with global_compiler_lock:  # of the threads of this process
            if isinstance(loop._cache, NullCache) or name in begun:  # not kept, or calls itself
                return compile_loop(loop, signature)
            begun.add(name)
            try:
                gc.disable()  # of what a compiler makes, little is garbage before it has ended
                with (folder / name).open("w") as turn:
                    fcntl.flock(turn, fcntl.LOCK_EX)
                    return compile_loop(loop, signature)
            finally:
                begun.remove(name)
                if not begun:
                    gc.enable()

    setattr(Dispatcher, "compile", compile_in_turn)  # noqa: B010


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while thousands of tests are found, which stay, nor among them later."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test fail that skips for want of a required part, where that is asked for."""
    report = yield
    if report.skipped and is_required(str(report.longrepr)):
        report.outcome, report.longrepr = "failed", f"a required part is missing: {report.longrepr}"
    if report.failed and (reason := absent(str(report.longrepr))):
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, reason)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that skips as a whole."""
    report = yield
    if report.skipped and is_required(str(report.longrepr)):
        report.outcome, report.longrepr = "failed", f"a required part is missing: {report.longrepr}"
    if report.failed and (reason := absent(str(report.longrepr))):
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, reason)
    return report


def absent(error: str) -> str | None:
    """Return why a test cannot be carried out without an extra, where it need not be; None: it failed."""
    found = ABSENT.search(error) if WITHOUT_EXTRAS in os.environ else None
    return f"needs {found[1] or found[2]}, which is not installed" if found else None


def is_required(reason: str) -> bool:
    """Tell whether a test may not be skipped for a reason."""
    if NOTHING_SKIPPED not in os.environ:
        return False
    return any(f"needs {part}" in reason for part in REQUIRED) or (
        "of the shared folder" in reason and SHARED.is_dir()
    )


@pytest.fixture(scope="session", autouse=True)
def _command_line_built_once() -> Iterator[None]:
    """Build the command line once for each language: a process of a user runs one command."""

    @lru_cache(maxsize=2)
    def built(app: Any, language: str) -> Any:
        return command_of(app)

    def in_language(app: Any, _: object) -> Any:
        command = built(app, spoken())
        if "typer.rich_utils" in sys.modules:  # whose panels all languages share
            translation._translate_panels()
        return command

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glasshouse.cli.main.command_of", in_language)
        yield


@pytest.fixture(scope="session")
def _one_of_each_kind() -> Draw:
    return one_of_each_kind(to_svg)


@pytest.fixture(scope="module", autouse=True)
def _drawings(request: pytest.FixtureRequest, _one_of_each_kind: Draw) -> Iterator[None]:
    """Draw one picture of each kind, but where a module looks at drawings, or everything is tried."""
    with pytest.MonkeyPatch.context() as patch:
        if not (IS_THOROUGH or getattr(request.module, "LOOKS_AT_DRAWINGS", False)):
            patch.setattr("glasshouse.report.html.to_svg", _one_of_each_kind)
        yield


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    """Its exit code."""
    out: str
    """What it wrote on standard output."""
    error: str
    """What it wrote on standard error."""


Glasshouse = Callable[..., Outcome]


@pytest.fixture
def glasshouse(capfd: pytest.CaptureFixture[str]) -> Iterator[Glasshouse]:
    """Run the command line in this process, which speaks English again afterwards."""

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        written = capfd.readouterr()
        return Outcome(code, written.out, written.err)

    yield run
    speak("en")


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Give a file of the shared folder, or skip where it is absent."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"needs {name} of the shared folder beside the checkout")
        return path

    return find
