"""The page on what a file holds tells of columns, and of no person."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

import pyarrow as pa
import pytest

from glasshouse.disclosure import cell_count, show_cells_from, smallest_cell
from glasshouse.language import LANGUAGES, speaking
from glasshouse.measures.categories import shown_categories
from glasshouse.report import Page, Provenance, Severity
from glasshouse.report.html import to_html
from glasshouse.report.inspect.page import page
from glasshouse.table import ColumnProfile, EncodedTable, Role, profile, read, table_profile
from glasshouse.table.profiles import identifying
from tests.report.pages import inspect_page
from tests.report.reading import read_text, telling
from tests.report.test_deter import figures_in


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
    account = ["17"] * 49 + [str(100 + place) for place in range(51)]
    columns = profile(
        read(pa.table({"nome": names, "remarks": remarks, "cidade": town, "conta": account}))
    )
    assert [len(shown_categories(column)) for column in columns] == [0, 0, 2, 0]


def test_the_page_says_what_to_do_next_and_why() -> None:
    reasons = {"en": "called &#34;idade&#34;", "pt-BR": "o nome contém &#34;idade&#34;"}
    for language in LANGUAGES:
        with telling(language):
            html = to_html(inspect_page(language), proposal="glasshouse assess people.csv -q idade")
            assert f'<html lang="{language}">' in html
            assert "<code>glasshouse assess people.csv -q idade</code>" in html
            assert "cp1252" in html
            assert 'id="known"' not in html
            assert reasons[language] in html


def table_of(columns: dict[str, list[str]]) -> EncodedTable:
    return read(pa.table(columns), name="people.csv")


def page_of(table: EncodedTable, assumptions: tuple[str, ...] = ()) -> Page:
    """Return the page on a table in the language that is spoken."""
    found = table_profile(table)
    known = [column.name for column in found.columns if column.role is Role.QUASI_IDENTIFIER]
    return page(
        found,
        identifying(table, known),
        assumptions=assumptions,
        command="",
        provenance=Provenance("1.2.3", "", ()),
    )


PEOPLE = {
    "nome": [f"Ana {name}" for name in ("Lima", "Dias", "Melo", "Reis", "Sá")] * 40,
    "sexo": ["F", "M"] * 100,
    "idade": [str(20 + place * 7 % 60) for place in range(200)],
    "cep": [f"{35700 + place % 90}-000" for place in range(200)],
}


def test_the_first_screen_says_what_was_understood_what_names_people_and_what_to_do() -> None:
    named = page_of(table_of(PEOPLE), assumptions=("“;” between fields (--separator)",))
    understood, names, alone = named.tiles
    assert (understood.figure, names.figure) == ("200", "1 column")
    assert "in 4 columns; 1 thing about how the file is written" in understood.sentence
    assert '"nome"' in names.sentence
    assert named.actions[0].sentence == 'Leave out of the release: "nome".'
    assert "nome" in named.first_sentence, "what names people by itself comes first"
    assert "--" not in " ".join(finding.sentence for finding in named.findings)
    nameless = {name: values for name, values in PEOPLE.items() if name != "nome"}
    plain = page_of(table_of(nameless))
    assert plain.tiles[1].figure == "no column"
    coded = page_of(table_of({"paciente_id": [f"P{place}" for place in range(200)], **nameless}))
    assert coded.tiles[1].figure == "1 column", (
        "a code of a person is no name, and yet tells who it is"
    )
    assert '"paciente_id"' in coded.tiles[1].sentence
    assert plain.actions[0].sentence.startswith("Check the suggested roles")
    assert alone.figure in plain.first_sentence


def test_few_of_few_are_told_in_words_and_not_as_a_bound_that_reads_as_many() -> None:
    """Of 12 records 3 are alone: below 83.3%, which nobody reads as a quarter."""
    sexes = ["F", "M"] * 2 + ["F"] * 5 + ["M"] * 3
    few = table_of({"idade": list("aaaabbbbbcde"), "sexo": sexes})
    for language, said in (
        ("en", "Fewer than 10 of the 12 records are unique on"),
        ("pt-BR", "Menos de 10 dos 12 registros são únicos em"),
    ):
        with speaking(language):
            shown = page_of(few)
            assert shown.tiles[-1].figure == cell_count(9)
        assert "12" in shown.tiles[-1].sentence
        assert shown.first_sentence.startswith(said)
        assert "83" not in " ".join(read_text(shown).split())


@pytest.mark.parametrize("seed", range(8))
def test_who_is_alone_is_told_as_it_is_counted(seed: int) -> None:
    chosen = random.Random(seed)
    people = range(300)
    columns = {
        "sexo": [chosen.choice("FM") for _ in people],
        "idade": [str(chosen.randrange(18, 18 + 5 * (1 + seed))) for _ in people],
        "cep": [f"{35700 + chosen.randrange(1 + 6 * seed)}-000" for _ in people],
    }
    table = table_of(columns)
    best = max(
        Counter(Counter(zip(*(columns[name] for name in names), strict=True)).values())[1]
        for size in (1, 2, 3)
        for names in combinations(columns, size)
    )
    for language in LANGUAGES:
        with telling(language):
            made = page_of(table)
            finding = next(each for each in made.findings if "300" in each.sentence)
            share, records = figures_in(finding.sentence, language)
            assert records == 300
            if best >= smallest_cell() or best == 0:
                assert share == pytest.approx(100 * best / 300, abs=0.051)
            else:
                assert share == pytest.approx(100 * smallest_cell() / 300, abs=0.051)
                assert "<" in finding.sentence
            assert (finding.severity is Severity.HIGH) is (best > 0), "few are not told apart by it"
            assert (finding.picture is not None) is (best >= smallest_cell())
            if finding.picture is not None:
                (rows,) = finding.picture.chart["datasets"].values()
                assert all(row["share"] * 3 >= smallest_cell() - 1e-9 for row in rows)
