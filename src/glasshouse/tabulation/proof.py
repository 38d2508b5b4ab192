"""The certificate of a solution: what was published, files that show what is possible, steps that prove what is not.

It is checked by `glasshouse.tabulation.verifier`, which is one file, needs nothing but Python, and knows nothing of how
the solution was found. What is claimed as proved is what the steps prove when they are carried out there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.tabulation import verifier
from glasshouse.tabulation.solution import CellBounds

VERIFIER = Path(verifier.__file__)
"""The file that checks a proof by itself."""
_FURTHER = 24
"""So many files are kept besides those that show the ends: they answer what is asked of further tables."""


def proof_of(solution: CellBounds, *, further: bool = True) -> dict[str, Any]:
    """Return the proof of a solution, as `glasshouse.tabulation.verifier.verify` reads it.

    It tells of every class of combinations between what its count lies: it is the disclosure itself.

    Args:
        solution: What was found.
        further: Whether files are chosen of it, and some kept for what is asked of further tables; else all are taken.
    """
    published = solution.published.to_dict()
    classes, rows = verifier.rebuilt(published)
    argument = verifier.Argument(rows, classes)
    steps = list(solution.steps)
    is_closed = argument.is_closed(steps)
    files: list[dict[str, int]] = []
    if solution.status == "infeasible":
        claims: list[list[Any]] = [[0, 0, *[False] * 4]] * classes
    else:
        claims, files = _claims(solution, argument, further=further)
    proof = {
        "published": published,
        "steps": steps,
        "files": files,
        "claims": claims,
        "contradiction": is_closed if solution.status == "infeasible" else None,
    }
    return sealed(proof)


def sealed(proof: dict[str, Any]) -> dict[str, Any]:
    """Return a proof with its seal."""
    return {**proof, "seal": verifier.digest(proof)}


def _claims(
    solution: CellBounds, argument: verifier.Argument, *, further: bool
) -> tuple[list[list[Any]], list[dict[str, int]]]:
    """Return what is claimed of each class, and the files that show it."""
    least, most = solution.class_least, solution.class_most
    chosen = list(solution.files)
    if further:
        chosen = showing(solution.files, len(least), [least.tolist(), most.tolist()])
        chosen += [file for file in solution.files[-_FURTHER:] if file not in chosen]
    shown = [{file.get(number, 0) for file in chosen} for number in range(len(least))]
    claims = []
    for number, (low, high) in enumerate(zip(least.tolist(), most.tolist(), strict=True)):
        end = argument.high[number]
        proved = [argument.low[number] >= low, end is not None and end <= high]
        claims.append([low, high, *proved, low in shown[number], high in shown[number]])
    return claims, [{str(place): count for place, count in file.items()} for file in chosen]


def showing(
    files: Sequence[dict[int, int]], classes: int, ends: Sequence[Sequence[int]]
) -> list[dict[int, int]]:
    """Return files that show as many ends of classes as all of them do, few of them."""
    open_ends = [np.array(end) for end in ends]
    missing = [np.ones(classes, np.bool_) for _ in ends]
    chosen: list[dict[int, int]] = []
    for file in reversed(files):
        counts = np.zeros(classes, np.int64)
        counts[list(file)] = list(file.values())
        reached = [(counts == end) & left for end, left in zip(open_ends, missing, strict=True)]
        if not chosen or any(one.any() for one in reached):
            chosen.append(file)
            missing = [left & ~one for left, one in zip(missing, reached, strict=True)]
    return chosen
