"""What several tests need: the shared folder where it exists, and a way to run the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from glasshouse.cli.main import main

settings.register_profile(
    "glasshouse",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("glasshouse")

SHARED = Path(__file__).parents[2] / "shared"


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
def glasshouse(capfd: pytest.CaptureFixture[str]) -> Glasshouse:
    """Run the command line in this process."""

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        written = capfd.readouterr()
        return Outcome(code, written.out, written.err)

    return run


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Give a file of the shared folder, or skip where it is absent."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"needs {name} of the shared folder beside the checkout")
        return path

    return find
