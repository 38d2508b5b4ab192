"""``glasshouse demo``: the whole story on an embedded synthetic census."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

from glasshouse.cli import options
from glasshouse.cli.command import progress
from glasshouse.language import text


def demo(
    out: Path = options.option(
        "--out", "DIR", "Where the data and the runs are written.", default=Path("glasshouse-demo")
    ),
    as_json: options.Json = False,
) -> None:
    """The whole story on a synthetic school census: no data of yours, no set-up.

    Makes 100,000 synthetic students, assesses what someone who knows a few things about a student can find out,
    follows the students into a second year, protects the release in two ways and compares them, asks what a rational
    adversary would do, and names the report.
    """
    from glasshouse.runs import Resources
    from glasshouse.runs.story import tell_story

    with progress() as on_progress:
        story = tell_story(out, resources=Resources(on_progress), on_step=_say)
    if as_json:
        print(json.dumps(story.to_dict(), indent=2))
        return
    from rich.console import Console

    from glasshouse.report.terminal import say

    console = Console()
    page = story.to_page()
    for chapter, findings in groupby(page.findings, key=lambda finding: finding.chapter):
        say(console, f"\n{chapter}")
        for finding in findings:
            say(console, f"• {finding.sentence}")
    say(console, "\n" + text("Report: {path}", path=str(story.report)), soft_wrap=True)


def _say(step: str) -> None:
    """Tell on standard error what is done next."""
    print(f"… {step}", file=sys.stderr)
