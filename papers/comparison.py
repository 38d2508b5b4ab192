"""What the scripts of this folder share: the size of a run, and tables of what was published beside what comes out.

Tables are Markdown, so that they can be read in a terminal and stand in a page as they are.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

Cell = str | int | float | Fraction | None


def arguments(about: str | None, given: Sequence[str] | None, **files: str) -> argparse.Namespace:
    """Return what a script was asked: `full` or `records` for the size, and paths of data that cannot be included.

    Args:
        about: The docstring of the script; its first line is its help.
        given: The words of the command line; None: those of this process.
        files: Per option with a path, what it is the path of.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="the size that was published")
    parser.add_argument("--records", type=int, metavar="N", help="another size of synthetic data")
    for name, what in files.items():
        parser.add_argument(f"--{name}", metavar="PATH", help=what)
    return parser.parse_args(given)


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Print a table, aligned; numbers to the right."""
    cells = [[_written(cell) for cell in row] for row in rows]
    numbers = [all(_is_number(row[i]) for row in cells) for i in range(len(header))]
    widths = [max(3, *(len(row[i]) for row in [list(header), *cells])) for i in range(len(header))]

    def line(words: Sequence[str]) -> str:
        placed = (
            word.rjust(width) if right else word.ljust(width)
            for word, width, right in zip(words, widths, numbers, strict=True)
        )
        return f"| {' | '.join(placed)} |"

    rules = (
        "-" * (width - right) + ":" * right for width, right in zip(widths, numbers, strict=True)
    )
    print(f"**{title}**\n", line(header), f"|{'|'.join(f' {rule} ' for rule in rules)}|", sep="\n")
    print(*map(line, cells), "", sep="\n", flush=True)


def percent(share: Fraction | float, digits: int = 2) -> str:
    """Return a share as it is written in a table."""
    return f"{100 * float(share):.{digits}f}%"


def timed(script: Callable[[Sequence[str] | None], None]) -> None:
    """Run a script by the words of the command line, and tell on standard error what it took."""
    start = time.perf_counter()
    script(None)
    wall = time.perf_counter() - start
    print(f"{time.process_time():.0f} CPU s, {wall:.0f} s", file=sys.stderr)


def _written(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, int):
        return f"{cell:,}"
    return str(cell)


def _is_number(word: str) -> bool:
    return re.fullmatch(r"–|[+-]?\$?\d[\d,.]*(/\d+|%| [a-z]+)?( \(\d+%\))?", word) is not None
