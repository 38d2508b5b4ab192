"""CPU seconds of two ways to do one thing, in the same run: machines are noisy, ratios less so."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], *, repeats: int = 5) -> float:
    """Return the least CPU time of several runs, after one that warms caches and compiles."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def compare(
    title: str,
    *,
    ours: Callable[[], object],
    baseline: Callable[[], object],
    promise: float,
    repeats: int = 5,
) -> bool:
    """Print the CPU ratio of ours to a baseline beside what is promised; tell whether it holds."""
    own, other = cpu_seconds(ours, repeats=repeats), cpu_seconds(baseline, repeats=repeats)
    ratio = own / other
    verdict = "holds" if ratio <= promise else "BROKEN"
    print(
        f"{title}: ours {own:.3f} CPU s, baseline {other:.3f} CPU s, "
        f"ratio {ratio:.2f} (promised: at most {promise:g}) {verdict}"
    )
    return ratio <= promise
