"""A page as a reader meets it: what it says, what it draws, and everything that it holds."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser

from glasshouse.report.archive import to_json
from glasshouse.report.charts import to_svg
from glasshouse.report.html import to_html
from glasshouse.report.page import Figure, Page


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return the tags of a page with their attributes."""
    parser = _Tags()
    parser.feed(html)
    return parser.found


def read_text(page: Page) -> str:
    """Return what a reader sees of a page: no tags, blanks made one."""
    seen = re.sub(r"<style>.*?</style>", " ", to_html(page), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", seen).split())


def drawn(figure: Figure) -> str:
    """Return a picture as it is drawn."""
    return to_svg(figure.chart)


def everything(page: Page) -> str:
    """Return all that a page holds, in all its forms."""
    return to_html(page) + to_json({"en": page})


_FIGURE = re.compile(r"(less than |menos de |more than |mais de )?(\d+(?:[.,]\d+)?)%")


def assert_it_says(sentence: str, *probabilities: Fraction) -> None:
    """Read the percentages of a sentence back, in either language: they are these, each as far as it is written."""
    figures = _FIGURE.findall(sentence)
    assert len(figures) == len(probabilities), sentence
    for (bound, figure), probability in zip(figures, probabilities, strict=True):
        written = Fraction(figure.replace(",", "."))
        if bound:
            less = bound in ("less than ", "menos de ")
            assert 100 * probability < written if less else 100 * probability > written, sentence
        else:
            decimals = len(re.split("[.,]", figure)[1]) if re.search("[.,]", figure) else 0
            assert abs(100 * probability - written) <= Fraction(1, 2 * 10**decimals), sentence


def assert_it_asks_nobody(html: str) -> None:
    """Refuse a page that fetches or runs something."""
    fetching = {"src", "xlink:href", "srcset", "data", "action"}
    for tag, attributes in tags(html):
        assert tag not in {"script", "iframe", "object", "embed", "link", "img", "image"}
        assert not fetching & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"url\((?!#)|@import", html)
