"""Progress on standard error, where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.groups import Progress as SamplingProgress
    from glasshouse.runs import Watch


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
                "The first sweep compiles its loop: half a minute, once.", highlight=False
            )
        reading = bar.add_task("reading", total=None, note="")
        sweeping = bar.add_task("sweeping", total=1.0, note="", visible=False)
        sampling = bar.add_task("sampling", total=None, note="", visible=False)
        solving = bar.add_task("solving", total=None, note="", visible=False)
        searching = bar.add_task("searching", total=None, note="", visible=False)
        yield Watch(
            reading=lambda done, total: bar.update(reading, completed=done, total=max(total, 1)),
            sweeping=lambda now: bar.update(
                sweeping, completed=now.share, note=f"{now.visits:,} records visited", visible=True
            ),
            sampling=lambda now: bar.update(
                sampling, completed=now.sweeps, total=now.most, note=_sampled(now), visible=True
            ),
            solving=lambda phase, done, total: bar.update(
                solving, completed=done, total=max(total, 1), note=phase, visible=True
            ),
            searching=lambda done, bound, best: bar.update(
                searching, note=_searched(done, bound, best), visible=True
            ),
        )


def _searched(done: int, bound: float, best: float | None) -> str:
    """Say how far a search for the best protection is."""
    found = "nothing found yet" if best is None else f"best loss {best:.4f}"
    return f"{done:,} looked at, {found}, none below {bound:.4f}"


def _sampled(now: SamplingProgress) -> str:
    """Say how far a sampler is."""
    rhat = "" if now.rhat is None else f", R-hat {now.rhat:.3f}"
    error = "" if now.error is None else f", error {now.error:.2g}"
    return f"{now.phase}{rhat}{error}"
