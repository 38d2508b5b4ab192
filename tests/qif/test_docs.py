from __future__ import annotations

import doctest
from pathlib import Path


def test_the_worked_example_of_the_guide_runs() -> None:
    guide = Path(__file__).parents[2] / "docs" / "mathematics.md"
    result = doctest.testfile(str(guide), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0
