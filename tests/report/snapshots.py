"""Snapshots of findings: what a report says of a golden example, kept in a readable file per language.

``tests/report/snapshots/<name>.<language>.txt`` is compared exactly; run the tests with ``UPDATE_SNAPSHOTS=1`` to
rewrite the files, and read what changed before committing it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from glasshouse.language import LANGUAGES, speaking
from glasshouse.report.page import Finding

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "UPDATE_SNAPSHOTS"
"""The environment variable that asks for the files to be rewritten."""


def assert_snapshot(name: str, findings: Callable[[], Sequence[Finding]]) -> None:
    """Compare findings with those that are kept, in every language.

    Args:
        name: The name of the example: letters, digits and hyphens.
        findings: Makes the findings in the language that is spoken.
    """
    for code in LANGUAGES:
        with speaking(code):
            said = rendered(findings())
        path = FOLDER / f"{name}.{code}.txt"
        if os.environ.get(UPDATE) == "1":
            path.parent.mkdir(exist_ok=True)
            path.write_text(said, encoding="utf-8")
        assert path.is_file(), f"there is no {path.name}; run the test with {UPDATE}=1 to make it"
        assert said == path.read_text(encoding="utf-8"), f"{path.name} says something else"


def rendered(findings: Sequence[Finding]) -> str:
    """Return findings as lines that are easily read and compared."""
    return "".join(f"{line}\n" for finding in findings for line in _lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield f"[{finding.severity.value}] {finding.sentence}"
    for label in ("figure", "meaning", "remedy"):
        said = getattr(finding, label)
        if said:
            yield f"    {label}: {said}"
