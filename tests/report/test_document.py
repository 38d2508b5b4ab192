"""The report is one file, asks nobody for anything, executes nothing and discloses nobody."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

from glasshouse.microdata import assess
from glasshouse.report import Provenance, render_html
from glasshouse.table import read

PROVENANCE = Provenance(version="1.2.3", study='command = "assess"\n', datasets={"a.csv": "0" * 64})


def rendered(columns: dict[str, list[str]], known: list[str], secrets: list[str]) -> str:
    table = read(pa.table(columns), quasi_identifiers=known, sensitive=secrets)
    return render_html(assess(table), subject="person", provenance=PROVENANCE)


@pytest.fixture
def page() -> str:
    return rendered({"age": ["zebra1", "zebra2"], "ill": ["zebra3", "zebra3"]}, ["age"], ["ill"])


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Tags()
    parser.feed(page)
    return parser.found


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    fetching = {"src", "href", "xlink:href", "srcset", "data", "action"}
    for tag, attributes in tags(page):
        assert tag not in {"script", "iframe", "object", "embed", "link", "img", "image"}
        assert not fetching & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"url\(|@import", page)


def test_no_value_of_a_record_is_in_the_report(page: str) -> None:
    assert "zebra" not in page


def test_the_figures_are_exact_ratios(page: str) -> None:
    assert 'title="1/2">0.5</td>' in page
    assert "SHA-256" in page
    assert "0" * 64 in page


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "a\nb",
        "\u202eevil",
        "{{7*7}}",
    ],
)
def test_hostile_names_appear_as_text(name: str) -> None:
    page = rendered({name: ["x", "y"], "ill & <b>": ["p", "q"]}, [name], ["ill & <b>"])
    assert not {"script", "img", "b"} & {tag for tag, _ in tags(page)}
    assert "49" not in re.findall(r"She knows (\S+)", page)


def test_the_largest_set_is_shown_wherever_it_stands() -> None:
    table = read(
        pa.table({"a": ["x", "y"], "b": ["x", "x"], "s": ["p", "q"]}),
        quasi_identifiers=["a", "b"],
        sensitive=["s"],
    )
    outcome = assess(table, subsets=[["a", "b"], ["b"]])
    page = render_html(outcome, subject="person", provenance=PROVENANCE)
    assert page.count("She knows") == 2
    assert page.count("<svg") == 2
    assert "she knows a and b" in page
    assert "Someone who knows a person&#39;s a and b can name every one" in page
