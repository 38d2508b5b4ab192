"""Several reports told as one story: the best of each chapter on one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from glasshouse.language import text
from glasshouse.report.page import Figure, Finding, Page, Provenance, Section, Term, Tile


@dataclass(frozen=True)
class Chapter:
    """One report, and what of it the story tells."""

    title: str
    """What the chapter is about."""
    folder: str
    """Where its own report is, beside the story."""
    page: Page
    """The report."""
    findings: int = 2
    """How many of its findings are told."""
    figures: int = 1
    """How many of its pictures are shown, those inside findings included."""
    risk: str = ""
    """How often a guess at who it is is right; empty: that is not what it is about."""


def story_page(
    chapters: Sequence[Chapter], *, title: str, lead: str, command: str, provenance: Provenance
) -> Page:
    """Return one page of several reports, chapter by chapter.

    Args:
        chapters: The reports, in the order in which they are told.
        title: What the story is about.
        lead: One line below it.
        command: The command that tells it again.
        provenance: Where the figures come from.
    """
    return Page(
        title=title,
        lead=lead,
        findings=tuple(
            finding for chapter in chapters for finding in _findings(chapter, chapter.findings)
        ),
        ruling=chapters[0].page.ruling,
        summary=chapters[0].page.first_sentence,
        tiles=tuple(filter(None, map(_tile, chapters))),
        actions=chapters[0].page.actions,
        front=chapters[0].page.front,
        adversary=tuple(
            text(
                "{chapter} — {sentences}",
                chapter=chapter.title,
                sentences=" ".join(chapter.page.adversary),
            )
            for chapter in chapters
        ),
        limits=_each_once(sentence for chapter in chapters for sentence in chapter.page.limits),
        provenance=provenance,
        command=command,
        method="; ".join(_each_once(chapter.page.method for chapter in chapters)),
        figures=tuple(
            figure for chapter in chapters for figure in _pictures(chapter, chapters[0].page.front)
        ),
        sections=tuple(_section(chapter) for chapter in chapters if chapter.page.sections),
        glossary=_terms(chapters),
    )


def _tile(chapter: Chapter) -> Tile | None:
    """Return the verdict on a chapter, where it has a figure of who is at risk."""
    ruling = chapter.page.ruling
    if not chapter.risk or ruling is None:
        return None
    return Tile(
        chapter.title,
        chapter.risk,
        text("correct identifications. {verdict}.", verdict=ruling.headline),
    )


def _findings(chapter: Chapter, most: int) -> list[Finding]:
    """Return the first findings of a chapter, each saying of which chapter it is."""
    return [
        replace(
            finding,
            chapter=chapter.title,
            picture=finding.picture and _of_chapter(finding.picture, chapter),
        )
        for finding in chapter.page.findings[:most]
    ]


def _of_chapter(figure: Figure, chapter: Chapter) -> Figure:
    """Return a picture under a name of its own: several chapters may have pictures of the same."""
    return replace(figure, label=f"{chapter.title}: {figure.label}")


def _pictures(chapter: Chapter, front: Figure | None) -> list[Figure]:
    """Return the pictures of a chapter that neither the first screen nor a finding shows, each with its chapter."""
    inside = [finding.picture for finding in chapter.page.findings[: chapter.findings]]
    inside = [picture for picture in inside if picture is not None]
    pictures = [figure for figure in chapter.page.pictures if figure not in (front, *inside)]
    return [
        replace(
            _of_chapter(figure, chapter),
            caption=text(
                "{chapter}. {caption} More in {folder}/report.html.",
                chapter=chapter.title,
                caption=figure.caption,
                folder=chapter.folder,
            ),
        )
        for figure in pictures[: max(0, chapter.figures - len(inside))]
    ]


def _section(chapter: Chapter) -> Section:
    """Return the first exact figures of a chapter; all of them are in its own report."""
    first = chapter.page.sections[0]
    more = text("All figures are in {folder}/report.html.", folder=chapter.folder)
    return Section(chapter.title, first.intro, first.tables, (*first.notes, more))


def _terms(chapters: Sequence[Chapter]) -> tuple[Term, ...]:
    terms = {term.name.casefold(): term for chapter in chapters for term in chapter.page.glossary}
    return tuple(terms[name] for name in sorted(terms))


def _each_once(sentences: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentences))
