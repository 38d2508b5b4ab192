"""What several tests need: the shared folder where it exists, and a way to run the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from glasshouse.cli.main import main
from glasshouse.language.current import speak

settings.register_profile(
    "glasshouse",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("glasshouse")

SHARED = Path(__file__).parents[2] / "shared"


NOTHING_SKIPPED = "GLASSHOUSE_NOTHING_SKIPPED"
"""Set: what would skip for want of something that the tests require fails instead, so that green hides nothing."""
REQUIRED = ("Chromium", "playwright", "typst", "axe", "PostgreSQL")
"""What a machine must have; data of the shared folder only where there is such a folder."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test fail that skips for want of a required part, where that is asked for."""
    report = yield
    if report.skipped and is_required(str(report.longrepr)):
        report.outcome, report.longrepr = "failed", f"a required part is missing: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that skips as a whole."""
    report = yield
    if report.skipped and is_required(str(report.longrepr)):
        report.outcome, report.longrepr = "failed", f"a required part is missing: {report.longrepr}"
    return report


def is_required(reason: str) -> bool:
    """Tell whether a test may not be skipped for a reason."""
    if NOTHING_SKIPPED not in os.environ:
        return False
    return any(f"needs {part}" in reason for part in REQUIRED) or (
        "of the shared folder" in reason and SHARED.is_dir()
    )


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
