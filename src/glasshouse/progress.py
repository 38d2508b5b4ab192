"""How far a long piece of work is, and what memory it takes: one form for all that takes long, and who watches it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Stage = Literal["reading", "sweeping", "searching", "sampling", "solving"]
"""What is being done."""


@dataclass(frozen=True)
class Progress:
    """How far a stage is.

    >>> Progress("reading", 30, 120).share
    0.25
    """

    stage: Stage
    """What is being done."""
    done: float
    """How much of it is done."""
    total: float | None = None
    """How much there is to do; None: nobody knows."""
    note: str = ""
    """What exactly, such as the phase of a campaign."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What is known so far, by name, such as the best loss found."""

    @property
    def share(self) -> float | None:
        """The part that is done, from 0 to 1; None: nobody knows."""
        return (
            None if self.total is None else min(1.0, self.done / self.total) if self.total else 1.0
        )


PROGRESS_FILE = "GLASSHOUSE_PROGRESS"
"""The environment variable that names a file for how far a command is, which is then told there and not on a bar."""
OnProgress = Callable[[Progress], None]
"""Called now and then with how far the work is; what it raises ends the work."""


def resident_bytes() -> int:
    """Return how much memory this process takes now; where that is not known, its peak."""
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        return int(statistics.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    import resource  # not there on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def give_back_memory() -> None:
    """Give back to the system what was freed but is kept for later: room counts by what a process takes."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
