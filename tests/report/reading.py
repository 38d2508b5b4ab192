"""A page as a reader meets it: what it says, what it draws, and everything that it holds."""

from __future__ import annotations

import inspect
import re
import runpy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, wraps
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import patch

from glasshouse.language import catalogue, speaking
from glasshouse.report.archive import to_json
from glasshouse.report.charts import to_svg
from glasshouse.report.html import to_html
from glasshouse.report.page import Figure, Page
from tests.examples import IS_THOROUGH

MOST_SECONDS = 2
"""So many seconds of the processor a law about sentences is tried for in every run."""


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


# Sentences that compare, and the property tests that make them

COMPARING = re.compile(
    r"\b(than|up from|down from|rises?|rose|falls?|fell|grows?|grew|instead of|no better|no more|"
    r"none of them more|hardly|beaten|easier|"
    r"harder|worse|better|differs?|tends?|adds? most|helps most|most detail|least is lost|"
    r"metric below|largest step|before and after|half|"
    r"without these facts and with them|by someone who knows nothing|"
    r"least to the most|(times|twice) as|as (often|likely|easy|many|much|sure) as|no two facts)\b|→",
    re.IGNORECASE,
)
"""What shows that a sentence compares figures, if it has any."""


@cache
def comparing() -> dict[str, str]:
    """Return every sentence of a report that compares, and the folder or module of `glasshouse` that says it.

    That few people are told as “fewer than” so many is a rule of every report, and no comparison.
    """
    script = Path(__file__).parents[2] / "scripts" / "messages.py"
    templates = {}
    for entry in runpy.run_path(str(script))["messages_of_code"]():
        if not entry.place.startswith(("report/", "measures/", "study/policy")):
            continue
        for template in [entry.message] if isinstance(entry.message, str) else entry.message[1:]:
            if "{" in template and "{smallest}" not in template and COMPARING.search(template):
                folder = re.sub(r"^report/|/[^/]*$|[.]py$", "", entry.place)
                templates[template] = folder
    return templates


def tries(folder: str, *fragments: str, seeds: int = 0) -> Callable[[Any], Any]:
    """Say which sentences that compare a property test makes and reads back; it must make them all.

    A test that speaks several languages must make them all in each.

    Args:
        folder: Which folder of reports says them.
        fragments: What tells them from its others; several may have one in common.
        seeds: For how many numbers the test is to be repeated, each as its ``seed``; in every run for as many as some
            seconds are enough for, if they make every sentence, and by ``make thorough`` for all.
    """

    def of(test: Any) -> Any:
        @wraps(test)
        def tried(*arguments: Any, **values: Any) -> None:
            templates, begun = templates_of(folder, fragments), time.process_time()
            with heard() as said:
                for seed in range(max(1, seeds)):
                    test(*arguments, **values, **({"seed": seed} if seeds else {}))
                    is_long = time.process_time() - begun > MOST_SECONDS and not IS_THOROUGH
                    if is_long and said and all(map(templates.issubset, said.values())):
                        break
            assert said, templates
            untold = {code: templates - own for code, own in said.items()}
            assert not any(untold.values()), untold

        signature = inspect.signature(test)
        kept = [entry for name, entry in signature.parameters.items() if name != "seed"]
        tried.__dict__["__signature__"] = signature.replace(parameters=kept)
        tried.__dict__["tries"] = (folder, fragments)
        return tried

    return of


def templates_of(folder: str, fragments: tuple[str, ...]) -> set[str]:
    """Return the sentences of a folder that have one of these in them; each must be in one at least."""
    templates = set()
    for fragment in fragments:
        alike = {text for text, of in comparing().items() if of == folder and fragment in text}
        assert alike, f"no sentence of {folder} that compares has “{fragment}”"
        templates |= alike
    return templates


@contextmanager
def heard() -> Iterator[dict[str, set[str]]]:
    """Yield what is said, by language, as templates; it grows with every sentence."""
    messages, said = catalogue._messages, dict[str, set[str]]()

    class Listening:
        def __init__(self, code: str) -> None:
            self.known = messages(code)
            self.said = said.setdefault(code, set())

        def get(self, message: str, default: str) -> str:
            self.said.update(message.split(catalogue._OR))
            return self.known.get(message, default)

    with patch.object(catalogue, "_messages", Listening):
        yield said


@contextmanager
def telling(code: str) -> Iterator[None]:
    """Speak a language within a block; what fails there says in which one."""
    with speaking(code):
        try:
            yield
        except Exception as error:
            error.add_note(f"in the language {code}")
            raise


def assert_it_asks_nobody(html: str) -> None:
    """Refuse a page that fetches or runs something."""
    fetching = {"src", "xlink:href", "srcset", "data", "action"}
    for tag, attributes in tags(html):
        assert tag not in {"script", "iframe", "object", "embed", "link", "img", "image"}
        assert not fetching & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"url\((?!#)|@import", html)
