"""The report is one file, asks nobody for anything, executes nothing and discloses nobody."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from glasshouse.language import LANGUAGES, speaking
from glasshouse.microdata import Assessment, assess, sweep
from glasshouse.report import Page, Provenance
from glasshouse.report.archive import to_json
from glasshouse.report.assess.page import assessment_page
from glasshouse.report.html import to_html
from glasshouse.table import read
from glasshouse.table.collection import collect
from glasshouse.table.treatment import Step

PROVENANCE = Provenance(version="1.2.3", study='command = "assess"\n', datasets=("a.csv",))


def render_html(assessment: Assessment, **how: Any) -> str:
    return to_html(assessment_page(assessment, **how))


def rendered(columns: dict[str, list[str]], known: list[str], secrets: list[str]) -> str:
    table = read(pa.table(columns), quasi_identifiers=known, sensitive=secrets)
    return render_html(assess(table), subject="person", provenance=PROVENANCE)


@pytest.fixture(scope="module")
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


def text(page: str) -> str:
    """Return what a reader sees: no tags, blanks made one."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def assert_it_asks_nobody(page: str) -> None:
    fetching = {"src", "href", "xlink:href", "srcset", "data", "action"}
    for tag, attributes in tags(page):
        assert tag not in {"script", "iframe", "object", "embed", "link", "img", "image"}
        asked = {name: value or "" for name, value in attributes.items() if name in fetching}
        assert all(name == "href" and value.startswith("#") for name, value in asked.items())
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"url\(|@import", page)


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    assert_it_asks_nobody(page)


def test_no_value_of_a_record_is_in_the_report(page: str) -> None:
    assert "zebra" not in page


def test_the_figures_are_exact_ratios(page: str) -> None:
    assert 'title="1/2">0.5</td>' in page
    assert "a.csv; fingerprints are in the manifest of the run" in page


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
    assert "\u202e" not in page


def test_the_largest_set_is_shown_wherever_it_stands() -> None:
    table = read(
        pa.table({"a": ["x", "y"], "b": ["x", "x"], "s": ["p", "q"]}),
        quasi_identifiers=["a", "b"],
        sensitive=["s"],
    )
    outcome = assess(table, subsets=[["a", "b"], ["b"]])
    page = render_html(outcome, subject="person", provenance=PROVENANCE)
    assert page.count(">She knows") == 2
    assert "she knows a and b" in page
    assert "can be identified outright by anyone who knows their a and b" in page


def grown(*names: str) -> Assessment:
    """Return what growing windows of a collection give: four people whose class of 2014 the later ones split."""
    classes = (list("AABB"), list("ABAB"), list("AAAA"), list("BBBB"))
    tables = [
        read(
            pa.table({"id": list("1234"), "class": own, "ill": list("zxxx")}),
            quasi_identifiers=["class"],
            sensitive=["ill"],
            id="id",
            name=name,
        )
        for name, own in zip(names, classes, strict=False)
    ]
    windows = collect(tables).windows()
    return Assessment(4, tuple(attack for window in windows for attack in assess(window).attacks))


def provenance_of(*names: str) -> Provenance:
    return replace(PROVENANCE, datasets=tuple(names))


def test_a_growing_collection_is_shown_growing() -> None:
    names = ("census_2014.csv", "census_2015.csv")
    page = render_html(grown(*names), subject="pupil", provenance=provenance_of(*names))
    assert_it_asks_nobody(page)
    assert page.count('class="picture wide"') == 3  # growing, before and after, class sizes
    said = text(page)
    assert "What census_2014.csv and census_2015.csv let an adversary learn" in said
    assert "4 records of census_2014.csv, and what the others say about the same people" in said
    assert "The attacks With 2014 and 2015 together." in said
    growth = said.partition("How it grows with each dataset")[2]
    assert "CRL 2014 0 (0%) 0.25 0.5 0.25 × 2" in growth
    assert "CRL + 2015 4 (100%) 0.25 1 0.75 × 4" in growth
    assert "CAL 2014 2 (50.0%) 0.75 0.75 0 × 1" in growth
    assert "Datasets so far The records are those of the first dataset." in growth


def test_one_dataset_grows_nowhere(page: str) -> None:
    assert "grows" not in page
    assert "Datasets so far" not in page


def test_many_datasets_fit_into_the_title() -> None:
    names = ("D1.csv", "D2.csv", "D3.csv", "D4.csv")
    page = render_html(grown(*names), subject="person", provenance=provenance_of(*names))
    assert "<h1>What D1.csv and 3 further datasets let an adversary learn</h1>" in page


def test_what_was_left_out_is_accounted_for() -> None:
    missing = "missing value"
    steps = (
        Step("D1.csv", "outside the selection", "state", 4000, 3500),
        Step("D1.csv", "outside the selection", None, 4000, 3500),
        Step("D1.csv", missing, "age", 3500, 3300),
        Step("D1.csv", missing, "<b>", 3500, 3400),
        Step("D1.csv", missing, None, 3500, 3250),
    )
    page = render_html(
        replace(grown("D1.csv"), steps=steps),
        subject="person",
        provenance=PROVENANCE,
        notes=["One record of each person was drawn with the seed 7."],
    )
    done = text(page).partition("What was done to the data")[2].partition("How to reproduce it")[0]
    assert "D1.csv outside the selection state 4,000 500 3,500 D1.csv missing value age" in done
    assert "D1.csv missing value age 3,500 200 3,300" in done
    assert "D1.csv missing value &lt;b&gt; 3,500 100 3,400" in done
    assert "D1.csv missing value in all 3,500 250 3,250" in done
    assert done.rstrip().endswith("One record of each person was drawn with the seed 7.")


def test_notes_stand_alone_and_nothing_done_is_not_mentioned(page: str) -> None:
    noted = render_html(
        grown("D1.csv"), subject="person", provenance=PROVENANCE, notes=["Nothing was left out."]
    )
    assert "What was done to the data Nothing was left out." in text(noted)
    assert "What was done to the data" not in page


def worth(currency: str | None) -> str:
    table = read(
        pa.table({"age": ["1", "1", "2"], "ill": ["flu", "cold", "flu"]}),
        quasi_identifiers=["age"],
        sensitive=["ill"],
    )
    outcome = assess(table, gains={("ill",): {"flu": Fraction(1), "cold": Fraction(7500)}})
    return text(render_html(outcome, subject="person", provenance=PROVENANCE, currency=currency))


def test_gains_are_numbers_or_money() -> None:
    plain = worth(None)
    assert "Gain factor She knows age 2 classes, 1 unique record CAS infer ill" in plain
    assert "CAS infer ill 2,500 2,500.33 0.333333 × 1.00013" in plain
    assert "CAS infer ill R$ 2,500.00 R$ 2,500.33 R$ 0.33 × 1.00013" in worth("R$")
    assert "CAS infer ill &lt; 2,500.00" in worth("<")


def test_without_gains_nothing_is_said_of_them(page: str) -> None:
    assert "Gain" not in page


def test_the_worst_case_is_told_where_it_is_known() -> None:
    naming, inferring = (replace(attack, capacity=None) for attack in grown("D1.csv").attacks)
    unknown = Assessment(4, (naming, inferring))
    assert "Worst case" not in render_html(unknown, subject="person", provenance=PROVENANCE)
    known = Assessment(4, (replace(naming, capacity=Fraction(5, 2)), inferring))
    said = text(render_html(known, subject="person", provenance=PROVENANCE))
    assert "CRL identify the person 0 (0%) 0.25 0.5 0.25 × 2 at most × 2.5" in said
    assert "CAL infer ill 2 (50.0%) 0.75 0.75 0 × 1 –" in said
    assert "Worst case No adversary with non-negative gains, whatever she believed before" in said


CROWD = pa.table(
    {
        "age": [str(20 + i % 40) for i in range(400)],
        "sex": ["F", "M"] * 200,
        "town": [str(i % 7) for i in range(400)],
        "ill": ["flu" if i % 3 else "cold" for i in range(400)],
    }
)


def page_of_a_sweep() -> Page:
    known = ["age", "sex", "town"]
    swept = sweep(read(CROWD, quasi_identifiers=known, sensitive=["ill"], name="crowd.csv"))
    return assessment_page(
        Assessment.of_sweep(swept), subject="person", provenance=PROVENANCE, sweep=swept
    )


def test_every_picture_has_its_numbers_in_a_table() -> None:
    page = page_of_a_sweep()
    assert [figure.label for figure in page.pictures] == [
        "Risk by the number of facts that are known",
        "Success of each attack before and after",
        "What each pair of columns reveals",
        "How many others look like a person",
        "What leaving out one column would do",
    ]
    for figure in page.pictures:
        assert figure.table is not None
        assert figure.table.groups
        assert figure.caption


def numbers_of(page: Page, label: str) -> dict[str | None, dict[str, int]]:
    pictures = {figure.label: figure.table for figure in page.pictures}
    sections = {section.title: section.tables[0] for section in page.sections if section.tables}
    table = (pictures | sections)[label]
    assert table is not None
    return {
        group.title: {row[0].text: int(row[-1].text.replace(",", "")) for row in group.rows}
        for group in table.groups
    }


def test_records_are_counted_by_class_size_and_by_success() -> None:
    page = page_of_a_sweep()
    sizes = numbers_of(page, "How many others look like a person")[None]
    assert sum(sizes.values()) == 400
    success = numbers_of(page, "Records by the probability that a guess about them is right")
    assert set(success) == {"identify the person", "infer ill"}
    for target in success.values():
        assert sum(target.values()) == 400
    assert success["identify the person"]["for certain"] == sizes["1"]
    assert success["identify the person"]["50%"] == sizes["2"]


def test_where_success_does_not_follow_from_class_sizes_naming_is_not_drawn() -> None:
    table = read(
        pa.table({"age": list("1122"), "w": [1, 3, 1, 1], "ill": list("xyxy")}),
    ).with_roles(quasi_identifiers=["age"], sensitive=["ill"], prior_weight="w")
    page = assessment_page(assess(table), subject="person", provenance=PROVENANCE)
    success = numbers_of(page, "Records by the probability that a guess about them is right")
    assert set(success) == {"infer ill"}


def test_no_part_of_a_sweep_tells_a_value() -> None:
    hidden = pa.table(
        {name: [f"zebra{each}" for each in CROWD[name].to_pylist()] for name in CROWD.column_names}
    )
    swept = sweep(read(hidden, quasi_identifiers=["age", "sex", "town"], sensitive=["ill"]))
    for code in LANGUAGES:
        with speaking(code):
            page = assessment_page(
                Assessment.of_sweep(swept), subject="person", provenance=PROVENANCE, sweep=swept
            )
            assert "zebra" not in to_html(page) + to_json({code: page})


def test_the_report_is_in_portuguese_throughout() -> None:
    with speaking("pt-BR"):
        said = text(to_html(page_of_a_sweep()))
    assert "O que crowd.csv revela a um adversário" in said
    for english in ("Someone who", "The adversary", "quasi-identifiers", "guess", "records"):
        assert english not in said
