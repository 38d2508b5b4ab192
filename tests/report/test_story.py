"""A story of several reports says of each finding which one it is from."""

from __future__ import annotations

import json
from dataclasses import replace

from glasshouse import synthetic
from glasshouse.language import LANGUAGES
from glasshouse.report import Finding, Page, Provenance, Severity, archive
from glasshouse.report.html import to_html
from glasshouse.report.page import Figure
from glasshouse.report.pdf import content_of
from glasshouse.report.story import Chapter, story_page
from glasshouse.runs.story import STUDENT, labels_by_language
from tests.report.reading import telling
from tests.report.test_assess import text

PROVENANCE = Provenance("1.0", "", ())


def page(sentence: str) -> Page:
    return Page(
        title="",
        lead="",
        findings=(Finding(Severity.HIGH, sentence), Finding(Severity.SAFE, "Nobody is named.")),
        adversary=("She knows it.", "She knows more."),
        limits=(),
        provenance=PROVENANCE,
        command="",
        method="",
    )


def story() -> Page:
    chapters = [
        Chapter("One census", "1", page("All are named.")),
        Chapter("Protected by Anatomy", "2", page("Some are named.")),
    ]
    return story_page(chapters, title="t", lead="l", command="c", provenance=PROVENANCE)


def test_every_finding_has_its_chapter() -> None:
    told = story()
    assert [finding.chapter for finding in told.findings] == [
        *["One census"] * 2,
        *["Protected by Anatomy"] * 2,
    ]


def test_the_chapter_is_in_every_kind_of_report() -> None:
    told = story()
    shown = text(to_html(told))
    assert "High risk Protected by Anatomy Some are named." in shown
    assert "Reassuring One census Nobody is named." in shown
    paper = content_of(told)
    assert [finding["chapter"] for finding in paper["findings"]] == [
        *["One census"] * 2,
        *["Protected by Anatomy"] * 2,
    ], "a story is told in its order"
    kept = json.loads(archive.to_json({"en": told}))["pages"]["en"]
    assert kept["findings"][0]["chapter"] == "One census"
    assert archive.from_json(archive.to_json({"en": told}), "x")["en"] == told


def test_what_later_chapters_assume_and_pictures_of_findings_are_unfolded_by_who_wants_them() -> (
    None
):
    shown = to_html(story())
    first, second = "One census — She knows it.", "Protected by Anatomy — She knows it."
    assert shown.count(first) == shown.count(second) == 1
    assert shown.index(first) < shown.index("What else is assumed") < shown.index(second)
    drawn = replace(
        page("All are named."),
        findings=(
            Finding(
                Severity.HIGH,
                "All.",
                picture=Figure({"mark": "bar", "data": {"values": []}}, "Bars", ""),
            ),
        ),
    )
    assert "What it means, a picture" not in to_html(drawn)
    told = story_page(
        [Chapter("One census", "1", drawn)], title="t", lead="l", command="c", provenance=PROVENANCE
    )
    assert "What it means, a picture" in to_html(told)


def test_a_story_shows_two_findings_of_its_first_chapter_and_one_of_each_other_first() -> None:
    finding = page("All are named.").findings[0]
    told = replace(page(""), findings=(finding,) * 3)
    chapters = [Chapter(name, name, told, findings=3) for name in ("A", "B")]
    whole = story_page(chapters, title="t", lead="l", command="c", provenance=PROVENANCE)
    first, _, rest = to_html(whole).partition("More findings")
    assert [part.count('class="chapter"') for part in (first, rest)] == [3, 3]
    assert "More findings" not in to_html(told), "a report that is no story shows all of them"


def test_a_page_of_one_report_has_no_chapters() -> None:
    assert 'class="chapter"' not in to_html(page("All are named."))


def test_no_sentence_begins_after_a_colon() -> None:
    for code in LANGUAGES:
        with telling(code):
            told = story().adversary
            assert told == (
                "One census — She knows it. She knows more.",
                "Protected by Anatomy — She knows it. She knows more.",
            )


def test_a_picture_that_a_finding_shows_is_not_shown_again() -> None:
    pictures = [Figure({"mark": name}, name, "") for name in ("bar", "line", "point")]
    told = replace(
        page("All are named."),
        findings=(Finding(Severity.HIGH, "All are named.", picture=pictures[0]),),
        figures=tuple(pictures[1:]),
    )
    chapters = [
        Chapter("One census", "1", told),
        Chapter("Two years", "2", told, figures=2),
        Chapter("Protected", "3", told, findings=0, figures=3),
    ]
    whole = story_page(chapters, title="t", lead="l", command="c", provenance=PROVENANCE)
    assert [figure.label for figure in whole.figures] == [
        "Two years: line",
        "Protected: bar",
        "Protected: line",
        "Protected: point",
    ]
    labels = [figure.label for figure in whole.pictures]
    assert len(set(labels)) == len(labels), "a screen reader tells every picture by its name"


def test_the_demo_has_a_label_in_every_language_for_every_column() -> None:
    columns = synthetic.table("school-census", records=100, seed=0).column_names
    labels_by_code = labels_by_language()
    english = set(labels_by_code["en"].values())
    for code in LANGUAGES:
        labels = labels_by_code[code]
        assert list(labels) == [*columns, STUDENT], code
        assert not any("_" in label for label in labels.values()), code
        assert code == "en" or not english & set(labels.values()), code
