"""A page is data; rendered, it shows every text as text, asks nobody for anything and can be found one's way in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from glasshouse.errors import InternalError
from glasshouse.language import LANGUAGES, speaking
from glasshouse.measures.verdict import Decision
from glasshouse.report import page as page_module
from glasshouse.report.archive import from_json, to_json
from glasshouse.report.html import to_html
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Figure,
    Finding,
    Group,
    Page,
    Provenance,
    Ruling,
    Section,
    Severity,
    Table,
    Term,
    Tile,
)
from glasshouse.report.provenance import instructions
from glasshouse.report.terminal import show
from tests.report.reading import telling
from tests.report.test_assess import assert_it_asks_nobody, tags, text

CHART = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
LOOKS_AT_DRAWINGS = True
PAGE = Page(
    title="What it is about",
    lead="One line",
    findings=(
        Finding(Severity.SAFE, "First.", "1/2", "It means", "Do this"),
        Finding(Severity.HIGH, "Second.", "1/3", "It also means", "Do that", "A chapter"),
    ),
    adversary=("She knows it.",),
    limits=("It holds.",),
    glossary=(Term("Word", "meaning"),),
    figures=(
        Figure(
            CHART,
            label="A picture",
            caption="Below it",
            table=Table((Column("x"),), (Group(((Cell("1"),),)),)),
        ),
    ),
    sections=(
        Section(
            "The figures",
            intro="Above the tables.",
            tables=(
                Table(
                    (
                        Column("What"),
                        Column("share", numeric=True, under="naming"),
                        Column("change", numeric=True, under="naming"),
                        Column("share", numeric=True, under="guessing"),
                    ),
                    (
                        Group(
                            title="Together",
                            note="remark",
                            rows=(
                                (Cell("x", mark="CODE"), Cell("0.3", "1/3"), Cell("1"), Cell("2")),
                            ),
                        ),
                    ),
                ),
                Table(
                    (Column("Alone"),), (Group(((Cell("y", exact="all of it"),),)),), title="More"
                ),
            ),
            notes=("Below the tables.",),
        ),
    ),
    provenance=Provenance(
        "1.2.3", 'a = "b"\nc = 1\n', ("d.csv",), seed=7, libraries={"numpy": "2.0"}
    ),
    command="glasshouse something",
    method="Somebody 2022",
)


def with_every_text(value: Any, text: str) -> Any:
    """Return a page's part with a text in the place of each of its texts but the pictures."""
    if isinstance(value, Severity):
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(with_every_text(each, text) for each in value)
    if isinstance(value, dict):
        return {text: text}
    if is_dataclass(value) and not isinstance(value, type):
        own = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "chart"}
        return replace(value, **{name: with_every_text(each, text) for name, each in own.items()})
    return value


def texts_of(value: Any) -> list[str]:
    """Return every text of a page but those of the pictures."""
    if isinstance(value, Severity):
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for each in value for text in texts_of(each)]
    if isinstance(value, dict):
        return [text for pair in value.items() for text in pair if isinstance(text, str)]
    if is_dataclass(value):
        return texts_of(tuple(getattr(value, f.name) for f in fields(value) if f.name != "chart"))
    return []


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "</style></title></pre><img src=x onerror=alert(1)>",
        '" onmouseover="alert(1)',
        "' onmouseover='alert(1)",
        "{{7*7}}{% include 'x' %}",
        "<!-- ",
        "]]>&lt;b&gt;",
    ],
)
def test_hostile_text_is_text_wherever_it_stands(hostile: str) -> None:
    page = to_html(with_every_text(PAGE, hostile))
    assert_it_asks_nobody(page)
    assert [tag for tag, _ in tags(page)] == [
        tag for tag, _ in tags(to_html(with_every_text(PAGE, "x")))
    ]
    assert hostile not in page or not re.search(r"[<>\"'&]", hostile)


def numbered(value: Any, number: Iterator[int]) -> Any:
    """Return a page's part with a text of its own in the place of each of its texts."""
    if isinstance(value, Severity):
        return value
    if isinstance(value, str):
        return f"zebra{next(number)}end"
    if isinstance(value, tuple):
        return tuple(numbered(each, number) for each in value)
    if isinstance(value, dict):
        return {numbered(key, number): numbered(each, number) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        own = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "chart"}
        return replace(value, **{name: numbered(each, number) for name, each in own.items()})
    return value


def test_every_text_of_a_page_is_shown() -> None:
    page = numbered(PAGE, count())
    html = to_html(page)
    lost = [text for text in texts_of(page) if text not in html]
    untitled = page.sections[0].tables[1].groups[0].note, page.figures[0].table.groups[0].note
    shared = [column.under for column in page.sections[0].tables[0].columns[2:3]]
    assert set(lost) <= {*untitled, *shared, page.figures[0].table.title}


@given(st.text(st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Lu")), min_size=1))
def test_what_cannot_be_seen_is_written_out(hidden: str) -> None:
    page = to_html(with_every_text(replace(PAGE, figures=()), hidden))
    assert all(character.isprintable() or character == "\n" for character in page)
    page.encode("utf-8")


def test_nothing_is_asked_for_and_the_policy_forbids_it() -> None:
    page = to_html(PAGE)
    assert_it_asks_nobody(page)
    policies = [a["content"] for tag, a in tags(page) if tag == "meta" and "http-equiv" in a]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_a_sign_and_its_number_stay_in_one_line() -> None:
    page = to_html(replace(PAGE, tiles=(Tile("Who is at risk", "< 0.1% → > 99.9%", "of all"),)))
    assert '<p class="large">&lt;&nbsp;0.1% → &gt;&nbsp;99.9%</p>' in page


def test_exact_values_are_shown_on_hover() -> None:
    page = to_html(PAGE)
    assert '<td class="number" title="1/3">0.3</td>' in page
    assert '<th scope="row" title="all of it">y</th>' in page
    assert '<th scope="row"><strong>CODE</strong> x</th>' in page


def test_headings_span_their_columns() -> None:
    page = to_html(PAGE)
    assert '<th scope="col" rowspan="2">What</th>' in page
    assert '<th scope="colgroup" colspan="2" class="number">naming</th>' in page
    assert '<th scope="colgroup" colspan="1" class="number">guessing</th>' in page
    assert page.count('<th scope="col" class="number">share</th>') == 2
    assert '<th scope="rowgroup" colspan="4">Together <span>remark</span></th>' in page


def test_every_region_has_a_name_and_every_name_is_there() -> None:
    found = tags(to_html(PAGE))
    names = [a["id"] for _, a in found if "id" in a]
    assert len(names) == len(set(names))
    for _, attributes in found:
        assert attributes.get("aria-labelledby", names[0]) in names
        link = attributes.get("href") or ""
        assert not link or link.removeprefix("#") in names
    regions = [a for _, a in found if a.get("role") in ("region", "group", "img")]
    assert all(a.get("aria-label") or a.get("aria-labelledby") for a in regions)
    assert "The figures, More: the numbers" in [a.get("aria-label") for a in regions]


def test_the_study_keeps_its_lines_and_the_command_is_named() -> None:
    page = to_html(PAGE)
    assert 'aria-label="study.toml">a = &#34;b&#34;\nc = 1\n</pre>' in page
    assert "run this command with Glasshouse 1.2.3: glasshouse something" in text(page)
    assert "The method Somebody 2022" in text(page)
    assert "Seed of every random choice 7" in text(page)
    assert "Computed with numpy 2.0" in text(page)


@pytest.mark.parametrize(
    ("abridged", "withheld", "said"),
    [
        (False, False, ()),
        (True, False, ("Here the study is without the values of the data that it names.",)),
        (
            False,
            True,
            (
                "Here the study is without its seed, which may be that of the random choices that protect a "
                "release.",
            ),
        ),
    ],
)
def test_only_what_is_left_out_of_the_study_is_said_to_be(
    abridged: bool, withheld: bool, said: tuple[str, ...]
) -> None:
    provenance = replace(PAGE.provenance, abridged=abridged, seed_withheld=withheld)
    assert instructions(provenance)[1:] == said
    shown = text(to_html(replace(PAGE, provenance=provenance)))
    assert ("Save this as study.toml" in shown) is not bool(said)
    assert all(sentence in shown for sentence in said)


def test_both_may_be_left_out() -> None:
    provenance = replace(PAGE.provenance, abridged=True, seed_withheld=True)
    (both,) = instructions(provenance)[1:]
    assert "values of the data" in both
    assert "without its seed" in both


def test_sections_come_in_their_order() -> None:
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", to_html(PAGE))
    assert headings == [
        "In one minute",
        "Findings",
        "More pictures",
        "Assumptions and limits",
        "For specialists",
        "How to reproduce it",
        "Glossary",
    ]


def test_findings_are_ranked_and_say_what_could_be_done() -> None:
    said = text(to_html(PAGE)).partition("Findings High risk")[2]
    assert said.startswith(
        " A chapter Second. What it means, and the exact figure It also means What could be done: Do that 1/3 "
        "Reassuring First."
    )


def test_the_first_sentence_is_that_of_the_worst_finding() -> None:
    high, safe = Finding(Severity.HIGH, "high"), Finding(Severity.SAFE, "safe")
    page = replace(PAGE, findings=(safe, high))
    assert page.first_sentence == "high"
    assert replace(page, summary="In short").first_sentence == "In short"


def test_a_page_speaks_its_language() -> None:
    for code in LANGUAGES:
        with telling(code):
            page = to_html(PAGE)
            assert f'<html lang="{code}">' in page
            assert ("In one minute" in page) == (code == "en")
            assert ("Em um minuto" in page) == (code == "pt-BR")


def test_authors_are_joined_as_the_language_joins_them_and_titles_stay() -> None:
    method = "Dankar and El Emam 2010, “Flexible and Scalable”; Nergiz, Atzori and Clifton 2007"
    page = replace(PAGE, method=method)
    assert page.source == method
    with speaking("pt-BR"):
        assert page.source == (
            "Dankar e El Emam 2010, “Flexible and Scalable”; Nergiz, Atzori e Clifton 2007"
        )
        assert "Atzori e Clifton 2007" in text(to_html(page))


def test_a_page_is_kept_as_it_is() -> None:
    pages = {"en": PAGE, "pt-BR": replace(PAGE, title="Título")}
    assert from_json(to_json(pages), "report.json") == pages


def test_what_a_page_lacks_leaves_no_trace() -> None:
    page = to_html(replace(PAGE, figures=(), sections=()))
    assert not {"figure", "table"} & {tag for tag, _ in tags(page)}
    assert "picture" not in text(page.partition("</style>")[2]).lower()


def test_the_template_is_about_anything() -> None:
    page = text(to_html(replace(with_every_text(PAGE, ""), figures=())))
    template = (Path(page_module.__file__).parent / "templates" / "report.html").read_text("utf-8")
    for word in ("record", "quasi", "attack", "guess", "assess"):
        assert word not in page.lower()
        assert word not in template.lower()


def test_the_same_page_gives_the_same_bytes() -> None:
    assert to_html(PAGE) == to_html(PAGE)


def test_a_row_that_does_not_fit_is_our_own_bug() -> None:
    with pytest.raises(InternalError, match="a row of 2 cells does not fit a table of 1 columns"):
        Table((Column("a"),), (Group(((Cell("x"), Cell("y")),)),))


@pytest.mark.parametrize("width", [36, 40, 60])
def test_nothing_of_a_cell_is_cut_off_on_a_narrow_terminal(width: int) -> None:
    figures = ("> 99.9%", "less than 0.4%", "1,234,567")
    columns = (Column("Known"), *(Column(f"Column {place}", numeric=True) for place in range(3)))
    table = Table(columns, (Group(((Cell("1"), *map(Cell, figures)),)),))
    written = StringIO()
    show(Brief((table,)), console=Console(file=written, width=width))
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert any("> 99.9%" in line and "1,234,567" in line for line in lines)
    assert {"less", "than", "0.4%"} <= set(" ".join(lines).split())


@pytest.mark.parametrize("width", [24, 30, 40, 50, 59])
def test_no_word_and_no_number_is_cut_on_a_narrow_terminal(width: int) -> None:
    columns = (
        Column("attack"),
        *(Column(f"{run}: {what}", numeric=True) for run in "ab" for what in ("certain", "guess")),
        Column("points", numeric=True),
        Column(""),
    )
    figures = ("41.7%", "66.7%", "0%", "0.9%")
    rows = tuple(
        (Cell(label), *map(Cell, figures), Cell("−65.8", mark="▼"), Cell("░░██········"))
        for label in ("identify the person", "infer the diagnosis")
    )
    written = StringIO()
    show(Brief((Table(columns, (Group(rows),)),)), console=Console(file=written, width=width))
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    pieces = re.split(r"[\s:;]+", written.getvalue())
    for piece in ("identify", "person", "diagnosis", "certain", *figures, "▼", "−65.8"):
        assert piece in pieces
    bars = [piece for piece in pieces if piece and not piece.strip("░█·")]
    assert all(len(bar) == 12 for bar in bars), "whole or not at all"


def test_sentences_come_first_on_the_terminal_and_the_verdict_last() -> None:
    table = Table((Column("Known"),), (Group(((Cell("a row"),),)),))
    ruling = Ruling(Decision.MEETS, "Meets the rule", "it passes", table, (), ())
    brief = Brief((table,), (Finding(Severity.HIGH, "What was found."),), ("aside",), ruling=ruling)
    written = StringIO()
    show(brief, console=Console(file=written, width=60))
    said = written.getvalue()
    order = ["What was found.", "a row", "note: aside", "Meets the rule"]
    assert sorted(order, key=said.index) == order


def test_a_sentence_has_words_where_a_table_has_signs() -> None:
    sentence = "Right in > 99.9% of cases, up from < 0.1%; for 3 people (< 0.1%) it is certain."
    assert Finding(Severity.HIGH, sentence).sentence == (
        "Right in more than 99.9% of cases, up from less than 0.1%; for 3 people (< 0.1%) it is certain."
    )
    with speaking("pt-BR"):
        finding = Finding(Severity.HIGH, "Acerta em > 99,9% dos casos, contra < 0,1%.")
    assert finding.sentence == "Acerta em mais de 99,9% dos casos, contra menos de 0,1%."
    assert Finding(Severity.LOW, "> 99.9% is much.").sentence == "More than 99.9% is much."
    lost = Finding(Severity.LOW, "It loses less than < 0.1%.")
    assert lost.sentence == "It loses less than 0.1%."
