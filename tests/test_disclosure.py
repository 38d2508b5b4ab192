"""Whoever subtracts what is told from a total finds no small number of people."""

from __future__ import annotations

from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from glasshouse.disclosure import cell_count, column_counts, smallest_cell
from tests.examples import examples

LEAST = smallest_cell()


def readings(cells: list[str], rest: int, total: int) -> list[tuple[int, ...]]:
    """Return all counts that a reader may take a column for who knows its cells and its sum."""
    ranges = [
        range(1, LEAST)
        if cell == cell_count(1)
        else range(1, total + 1)
        if cell == "not shown"
        else [int(cell.replace(",", ""))]
        for cell in cells
    ]
    unlisted = range(total + 1) if rest else [0]
    return [counts[:-1] for counts in product(*ranges, unlisted) if sum(counts) == total]


@given(st.lists(st.integers(0, 24), min_size=1, max_size=4), st.sampled_from([0, 0, 12]))
@settings(max_examples=examples(150))
def test_no_small_count_of_a_column_is_determined_by_its_sum(counts: list[int], rest: int) -> None:
    total = sum(counts) + rest
    assume(total >= LEAST)  # a smaller sum is not told itself
    cells = column_counts(counts, rest)
    possible = readings(cells, rest, total)
    assert tuple(counts) in possible
    small = [place for place, count in enumerate(counts) if 0 < count < LEAST]
    for place in small:
        assert len({reading[place] for reading in possible}) > 1
