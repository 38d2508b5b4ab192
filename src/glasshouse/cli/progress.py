"""Progress on standard error, where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from glasshouse.language import marked, number, text, text_for, translated

if TYPE_CHECKING:
    from glasshouse.progress import Progress as SamplingProgress
    from glasshouse.runs import Watch

PHASES = (marked("burn-in"), marked("sampling"))
"""What a sampler says that it does."""


@contextmanager
def progress(*, sweeps: bool = False) -> Iterator[Watch]:
    """Show a bar for reading and, where it sweeps, one for that; nothing when standard error is no terminal."""
    from glasshouse.runs import Watch

    if not sys.stderr.isatty():
        yield Watch()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    from glasshouse.microdata.kernel import is_compiled

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        if sweeps and not is_compiled():
            bar.console.print(
                text("The first sweep compiles its loop: half a minute, once."), highlight=False
            )
        reading = bar.add_task(text("reading"), total=None, note="")
        sweeping = bar.add_task(text("sweeping"), total=1.0, note="", visible=False)
        sampling = bar.add_task(text("sampling"), total=None, note="", visible=False)
        solving = bar.add_task(text("solving"), total=None, note="", visible=False)
        searching = bar.add_task(text("searching"), total=None, note="", visible=False)
        yield Watch(
            reading=lambda done, total: bar.update(reading, completed=done, total=max(total, 1)),
            sweeping=lambda now: bar.update(
                sweeping, completed=now.share, note=_visited(now.visits), visible=True
            ),
            sampling=lambda now: bar.update(
                sampling, completed=now.done, total=now.total, note=_sampled(now), visible=True
            ),
            solving=lambda phase, done, total: bar.update(
                solving, completed=done, total=max(total, 1), note=phase, visible=True
            ),
            searching=lambda done, bound, best: bar.update(
                searching, note=_searched(done, bound, best), visible=True
            ),
        )


def _visited(records: int) -> str:
    """Say how far a sweep is."""
    return text_for(records, "{count} record visited", "{count} records visited")


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


def _sampled(now: SamplingProgress) -> str:
    """Say how far a sampler is."""
    said = [translated(now.note)]
    if "rhat" in now.figures:
        said.append(f"R-hat {number(now.figures['rhat'], '.3f')}")
    if "error" in now.figures:
        said.append(text("error {error}", error=number(now.figures["error"], ".2g")))
    return ", ".join(said)
