"""A page is data; rendered, it shows every text as text, asks nobody for anything and can be found one's way in."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import InternalError
from glasshouse.report import page as page_module
from glasshouse.report.page import (
    Assumptions,
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
    render,
)
from tests.report.test_document import assert_it_asks_nobody, tags, text

PAGE = Page(
    title="What it is about",
    lead="One line",
    sentences=("First.", "Second."),
    figures=(Figure("<svg></svg>", label="A picture", caption="Below it"),),
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
    assumptions=Assumptions("It holds.", (Term("Word", "meaning"),)),
    provenance=Provenance("1.2.3", 'a = "b"\nc = 1\n', {"d.csv": "0" * 64}),
    command="glasshouse something",
    method="Somebody 2022",
)


def with_every_text(value: Any, text: str) -> Any:
    """Return a page's part with a text in the place of each of its texts but the pictures."""
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(with_every_text(each, text) for each in value)
    if isinstance(value, dict):
        return {text: text}
    if is_dataclass(value) and not isinstance(value, type):
        own = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "svg"}
        return replace(value, **{name: with_every_text(each, text) for name, each in own.items()})
    return value


def number_of_texts(value: Any) -> int:
    if isinstance(value, str):
        return 1
    if isinstance(value, tuple):
        return sum(map(number_of_texts, value))
    if isinstance(value, dict):
        return 2 * len(value)
    if is_dataclass(value):
        return sum(number_of_texts(getattr(value, f.name)) for f in fields(value))
    return 0


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
    page = render(with_every_text(PAGE, hostile))
    assert_it_asks_nobody(page)
    assert [tag for tag, _ in tags(page)] == [
        tag for tag, _ in tags(render(with_every_text(PAGE, "x")))
    ]
    assert hostile not in page or not re.search(r"[<>\"'&]", hostile)


def test_every_text_of_a_page_is_shown() -> None:
    page = with_every_text(PAGE, "zebra")
    texts = number_of_texts(page) - 1  # the picture
    again = [page.title, page.provenance.version]  # in the head, in the footer
    for table in page.sections[0].tables:
        again += [table.title, page.sections[0].title]  # in the name of the region
    once = 2  # three columns are under one heading
    untitled = 1  # the note of a group without a title
    assert render(page).count("zebra") == texts + len(again) - once - untitled


@given(st.text(st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Lu")), min_size=1))
def test_what_cannot_be_seen_is_written_out(hidden: str) -> None:
    page = render(with_every_text(PAGE, hidden))
    assert all(character.isprintable() or character == "\n" for character in page)
    page.encode("utf-8")


def test_nothing_is_asked_for_and_the_policy_forbids_it() -> None:
    page = render(PAGE)
    assert_it_asks_nobody(page)
    policies = [a["content"] for tag, a in tags(page) if tag == "meta" and "http-equiv" in a]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_exact_values_are_shown_on_hover() -> None:
    page = render(PAGE)
    assert '<td class="number" title="1/3">0.3</td>' in page
    assert '<th scope="row" title="all of it">y</th>' in page
    assert '<th scope="row"><strong>CODE</strong> x</th>' in page


def test_headings_span_their_columns() -> None:
    page = render(PAGE)
    assert '<th scope="col" rowspan="2">What</th>' in page
    assert '<th scope="colgroup" colspan="2" class="number">naming</th>' in page
    assert '<th scope="colgroup" colspan="1" class="number">guessing</th>' in page
    assert page.count('<th scope="col" class="number">share</th>') == 2
    assert '<th scope="rowgroup" colspan="4">Together <span>remark</span></th>' in page


def test_every_region_has_a_name_and_every_name_is_there() -> None:
    found = tags(render(PAGE))
    names = [a["id"] for _, a in found if "id" in a]
    assert len(names) == len(set(names))
    for _, attributes in found:
        assert attributes.get("aria-labelledby", names[0]) in names
    regions = [a for _, a in found if a.get("role") in ("region", "group")]
    assert len(regions) == 3
    assert all(a.get("aria-label") or a.get("aria-labelledby") for a in regions)
    assert "The figures: More" in [a.get("aria-label") for a in regions]


def test_the_study_keeps_its_lines_and_the_command_is_named() -> None:
    page = render(PAGE)
    assert '<pre tabindex="0">a = &#34;b&#34;\nc = 1\n</pre>' in page
    assert "run glasshouse something with Glasshouse 1.2.3." in text(page)
    assert "The method: Somebody 2022." in text(page)


def test_what_a_page_lacks_leaves_no_trace() -> None:
    page = render(replace(PAGE, figures=(), sections=()))
    assert not {"figure", "table"} & {tag for tag, _ in tags(page)}
    assert "picture" not in text(page)


def test_a_page_is_about_anything() -> None:
    page = text(render(with_every_text(PAGE, "")))
    template = (Path(page_module.__file__).parent / "templates" / "report.html").read_text("utf-8")
    for word in ("record", "quasi", "adversary", "attack", "guess", "assess"):
        assert word not in page.lower()
        assert word not in template.lower()


def test_the_same_page_gives_the_same_bytes() -> None:
    assert render(PAGE) == render(PAGE)


def test_a_row_that_does_not_fit_is_our_own_bug() -> None:
    with pytest.raises(InternalError, match="a row of 2 cells does not fit a table of 1 columns"):
        Table((Column("a"),), (Group(((Cell("x"), Cell("y")),)),))
