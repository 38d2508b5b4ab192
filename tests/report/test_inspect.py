"""The page on what a file holds tells of columns, and of no person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pyarrow as pa
import pytest

from glasshouse.disclosure import cell_count, show_cells_from, smallest_cell
from glasshouse.language import LANGUAGES, speaking
from glasshouse.report.html import to_html
from glasshouse.report.inspect.page import shown_categories
from glasshouse.table import ColumnProfile, Role, profile, read
from tests.report.pages import inspect_page


@pytest.fixture
def smallest(request: pytest.FixtureRequest) -> Iterator[int]:
    """Show counts from so many on, and from as many as before afterwards."""
    before = smallest_cell()
    show_cells_from(request.param)
    yield request.param
    show_cells_from(before)


def partitions(total: int, parts: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to make a number of so many others, the largest first."""
    if parts == 1:
        if 0 < total <= most:
            yield (total,)
        return
    for first in range(min(total - parts + 1, most), 0, -1):
        for rest in partitions(total - first, parts - 1, first):
            yield (first, *rest)


def column_of(counts: tuple[int, ...], missing: int) -> ColumnProfile:
    """Return a column whose values so many records have."""
    return ColumnProfile(
        name="town",
        records=sum(counts) + missing,
        kind="text",
        distinct=len(counts),
        missing=missing,
        unique=counts.count(1),
        role=Role.QUASI_IDENTIFIER,
        reason="",
        categories=tuple((f"value {place}", count) for place, count in enumerate(counts[:5])),
        rarest=min(counts),
    )


@pytest.mark.parametrize(
    ("smallest", "records", "values"),
    [(5, 40, 2), (5, 40, 3), (5, 40, 4), (5, 250, 2), (5, 220, 3), (10, 120, 3)],
    indirect=["smallest"],
)
def test_no_count_below_the_smallest_can_be_worked_out(
    smallest: int, records: int, values: int
) -> None:
    """Of all files that look alike on the page, the smallest count that it does not tell differs."""
    hidden: dict[object, set[int]] = defaultdict(set)
    for empty in range(smallest + 2):
        for counts in partitions(records - empty, values, records):
            told = shown_categories(column_of(counts, empty))
            if not told:
                continue
            assert all(count >= smallest for count in counts[: len(told)])
            untold = [*counts[len(told) :], *([empty] if 0 < empty < smallest else [])]
            if untold:
                hidden[cell_count(empty), *told].add(min(untold))
    pinned = {view: least for view, least in hidden.items() if len(least) == 1}
    assert [view for view, least in pinned.items() if min(least) < smallest] == []


def test_a_column_that_names_people_tells_no_value() -> None:
    names = ["Ana Lima"] * 40 + ["Bia Dias"] * 60
    remarks = [
        f"came {place % 2} times last week, with a cold and her sister" for place in range(100)
    ]
    town = ["Betim"] * 50 + ["Ubá"] * 50
    columns = profile(read(pa.table({"nome": names, "remarks": remarks, "cidade": town})))
    assert [len(shown_categories(column)) for column in columns] == [0, 0, 2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_what_to_do_next_and_why(language: str) -> None:
    with speaking(language):
        html = to_html(inspect_page(language), proposal="glasshouse assess people.csv -q idade")
    assert f'<html lang="{language}">' in html
    assert "<code>glasshouse assess people.csv -q idade</code>" in html
    assert "cp1252" in html
    assert 'id="known"' not in html
    assert {"en": "called &#34;idade&#34;", "pt-BR": "o nome contém &#34;idade&#34;"}[
        language
    ] in html
