"""Progress on standard error, where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.progress import OnProgress, Progress, Stage

STAGES = {
    "reading": marked("reading"),
    "sweeping": marked("sweeping"),
    "searching": marked("searching"),
    "sampling": marked("sampling"),
    "solving": marked("solving"),
}
PHASES = (marked("burn-in"), marked("sampling"))
"""What a sampler says that it does."""


@contextmanager
def progress() -> Iterator[OnProgress | None]:
    """Show a bar for each stage that has begun; nothing when standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bars:
        tasks = {
            stage: bars.add_task(translated(STAGES[stage]), total=None, note="", visible=False)
            for stage in get_args(Stage)
        }

        def show(now: Progress) -> None:
            if now.stage == "sweeping" and not bars.tasks[tasks["sweeping"]].visible:
                _announce_compiling(bars.console)
            bars.update(
                tasks[now.stage],
                completed=now.done,
                total=now.total,
                note=_note(now),
                visible=True,
            )

        yield show


def _announce_compiling(console: object) -> None:
    """Say that the first sweep takes longer."""
    from rich.console import Console

    from glasshouse.microdata.kernel import is_compiled

    if isinstance(console, Console) and not is_compiled():
        console.print(
            text("The first sweep compiles its loop: half a minute, once."), highlight=False
        )


def _note(now: Progress) -> str:
    """Say what is known so far."""
    figures = now.figures
    if now.stage == "sweeping":
        visits = int(figures.get("visits", 0))
        return text_for(visits, "{count} record visited", "{count} records visited")
    if now.stage == "searching":
        return _searched(int(now.done), figures.get("bound", 0.0), figures.get("best"))
    if now.stage != "sampling":
        return now.note
    parts = [translated(now.note)]
    if "rhat" in figures:
        parts.append(f"R-hat {number(figures['rhat'], '.3f')}")
    if "error" in figures:
        parts.append(text("error {error}", error=number(figures["error"], ".2g")))
    return ", ".join(parts)


def _searched(done: int, bound: float, best: float | None) -> str:
    """Say how far a search for the best protection is."""
    if best is None:
        return text(
            "{count} looked at, nothing found yet, none below {bound}",
            count=done,
            bound=number(bound, ".4f"),
        )
    return text(
        "{count} looked at, best loss {best}, none below {bound}",
        count=done,
        best=number(best, ".4f"),
        bound=number(bound, ".4f"),
    )
