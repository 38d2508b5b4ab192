"""A run: its verdict and findings as the report says them, in the frame of the app; and what can be taken along."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from glasshouse.app.acts import acts_of, tools_of
from glasshouse.app.runs import (
    changes,
    download,
    listed,
    opened,
    pictures,
    release_name,
)
from glasshouse.app.server import page
from glasshouse.app.workspace import AppWorkspace, OpenRun, Summary
from glasshouse.errors import DataError, GlasshouseError
from glasshouse.language import LANGUAGES, speaking, spoken, text, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from glasshouse.measures.verdict import Judgement
    from glasshouse.report.page import Page

DOWNLOADS = {"report.html": "text/html; charset=utf-8", "report.pdf": "application/pdf"}
"""The forms of a report, and their kinds."""
_OPTIONS = re.compile(r" \(--[a-z-]+\)|: -q, -s, --drop \w+ --ignore")


def _measured(run: OpenRun) -> list[tuple[str, str, str]]:
    """Return what was measured for the rule: what it is, as it is rounded, and exactly where it is told exactly."""
    from glasshouse.report import labelled_by
    from glasshouse.report.discretion import ratio
    from glasshouse.report.verdict import condition_words, value_words
    from glasshouse.runs.folder import stored_verdict
    from glasshouse.runs.reading import labels_of

    question = run.question
    if question is None:  # a story, which has no measures of its own
        return []
    try:
        verdict = stored_verdict(run.folder)
        labels = labels_of(question)
    except GlasshouseError:  # an older version did not keep them, or the file is gone
        return []
    if verdict is None:
        return []
    with labelled_by(question, labels):
        return [
            (condition_words(one), value_words(one.measured), _exactly(one, ratio))
            for one in verdict.judgements
        ]


def _exactly(judgement: Judgement, ratio: Callable[[Fraction], str]) -> str:
    """Return what was measured as a ratio; nothing where it is a count, or no more than a bound is told."""
    measured = judgement.measured
    is_whole = measured.value.denominator == 1
    return "" if measured.is_bound or is_whole else ratio(measured.value)


def _inner_runs(request: Request, run: OpenRun) -> list[Summary]:
    """Return the runs within a run: the versions that were found, or those that a story tells of."""
    workspace: AppWorkspace = request.app.state.workspace
    places = (run.folder, run.folder / "versions")
    inside = [entry for entry in workspace.runs() if entry.path.parent in places]
    return [workspace.summary(entry) for entry in sorted(inside, key=lambda one: one.path.name)]


@dataclass(frozen=True)
class ShownVersion:
    """A version that was found, beside the others."""

    label: str
    """What it is called."""
    is_best: bool
    """Whether it is the one to take."""
    summary: Summary
    """Its run."""
    lost: str
    """Which share of the detail it loses."""
    risk: str
    """How often a guess at who it is would be right."""
    point: tuple[float, float] | None
    """Where it is in a drawing of a hundred by a hundred: what it loses, and from above the risk."""
    has_release: bool
    """Whether its file is there."""
    becomes: Mapping[str, str]
    """What each column becomes."""


@dataclass(frozen=True)
class ShownVersions:
    """The versions side by side."""

    columns: list[str]
    """What the columns of the release are called."""
    versions: list[ShownVersion]
    """They, the one to take first."""


def _of_versions(run: OpenRun) -> dict[str, tuple[str, str, tuple[float, float]]]:
    """Return by family what each version loses, how often a guess at who it is is right, and where both are drawn."""
    from glasshouse.mitigation.versions import BLANKED, FAMILIES
    from glasshouse.report.words import percentages

    families = {title: family for family, title in FAMILIES.items()} | {BLANKED: "few-removed"}
    figures: dict[str, tuple[float, float]] = {}
    names = {"name", "sensitive", "detail_lost", "guess"}
    rows = run.results.to_pylist() if names <= {*run.results.column_names} else []
    for row in rows:
        family = families.get(row["name"], row["name"])
        if row["sensitive"] is None:
            figures.setdefault(family, (row["detail_lost"], row["guess"]))
    losses = percentages(*(Fraction(lost) for lost, _ in figures.values()))
    risks = percentages(*(Fraction(risk) for _, risk in figures.values()))
    width = max((lost for lost, _ in figures.values()), default=0) or 1
    height = max((risk for _, risk in figures.values()), default=0) or 1
    points = [
        (round(90 * lost / width, 2), round(100 - 90 * risk / height, 2))
        for lost, risk in figures.values()
    ]
    return dict(zip(figures, zip(losses, risks, points, strict=True), strict=True))


def _versions(request: Request, run: OpenRun) -> ShownVersions | None:
    """Return the versions that were found, side by side; None: there are none."""
    from glasshouse.mitigation.versions import FAMILIES

    workspace: AppWorkspace = request.app.state.workspace
    measured = _of_versions(run)
    versions = []
    for summary in _inner_runs(request, run):
        inner = workspace.run(summary.entry.identifier)
        family = summary.entry.path.name
        told = inner.manifest.get("changes")
        becomes = told.get(spoken(), {}) if isinstance(told, dict) else {}
        lost, risk, point = measured.get(family, ("", "", None))
        versions.append(
            ShownVersion(
                translated(FAMILIES[family]) if family in FAMILIES else summary.title,
                family == run.manifest.get("recommended"),
                summary,
                lost,
                risk,
                point,
                bool(release_name(inner)),
                {listed([name]): f"{words}" for name, words in becomes.items()},
            )
        )
    if not versions:
        return None
    versions.sort(key=lambda one: not one.is_best)
    columns = dict.fromkeys(name for one in versions for name in one.becomes)
    return ShownVersions(list(columns), versions)


def on_screen(shown: Page) -> Page:
    """Return a report whose verdict names no options: what a column is, is said on a screen."""
    if shown.ruling is None:
        return shown
    coverage = tuple(_OPTIONS.sub("", sentence) for sentence in shown.ruling.coverage)
    columns = tuple(
        replace(alike, sentence=_OPTIONS.sub("", alike.sentence)) for alike in shown.ruling.columns
    )
    return replace(shown, ruling=replace(shown.ruling, coverage=coverage, columns=columns))


def _verdict(request: Request) -> Response:
    from glasshouse.report.html import template_context

    run = opened(request)
    content = template_context(on_screen(run.page)) | {"pictures": pictures}
    stale = changes(request, run)
    return page(
        request,
        "verdict.html",
        **content,
        title=run.page.title,
        run=run,
        here="",
        changes=stale,
        acts=acts_of(run),
        tools=tools_of(run, is_stale=bool(stale)),
        versions=_versions(request, run) if run.command == "protect" else None,
        inner=[] if run.command == "protect" else _inner_runs(request, run),
        measured=_measured(run),
        definitions=run.page.glossary,
        command=run.page.command,
    )


def _export(request: Request) -> Response:
    from importlib.util import find_spec

    run = opened(request)
    return page(
        request,
        "export.html",
        title=text("Take it along"),
        run=run,
        here="export",
        changes=changes(request, run),
        has_pdf=find_spec("typst") is not None,
        has_study=bool(run.page.provenance.study),
        release=release_name(run),
        smallest=run.page.provenance.smallest_cell,
        command=f"glasshouse report {shlex.quote(run.folder.name)} --lang {spoken()} --pdf",
    )


def _release(request: Request) -> Response:
    """Return the release that a run wrote, or of its versions the one to take: it is about people."""
    run = opened(request)
    recommended = run.manifest.get("recommended") if run.command == "protect" else None
    for inner in _inner_runs(request, run) if recommended else ():
        if inner.entry.path.name == recommended:
            run = request.app.state.workspace.run(inner.entry.identifier)
    name = release_name(run)
    if not name:
        raise DataError("this run wrote no release")
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", f"{run.folder.name}-{name}")
    return FileResponse(run.folder / name, filename=plain, media_type="application/octet-stream")


def _report(request: Request) -> Response:
    """Return the report as one file: HTML or PDF, in a language."""
    from glasshouse.report.html import to_html
    from glasshouse.runs.folder import to_pdf

    run = opened(request)
    language = request.query_params.get("language", "")
    language = language if language in LANGUAGES else spoken()
    name = request.url.path.rpartition("/")[2]
    with speaking(language):
        content = run.report.page(language)
        body = to_pdf(content) if name.endswith("pdf") else to_html(content).encode("utf-8")
    return download(body, DOWNLOADS[name], f"{run.folder.name}-{language}-{name}")


def _study(request: Request) -> Response:
    """Return the study, as the report has it: without the folders of this machine."""
    run = opened(request)
    body = run.page.provenance.study.encode("utf-8")
    return download(body, "application/toml", f"{run.folder.name}-study.toml")


routes = [
    Route("/run/{identifier}", _verdict),
    Route("/run/{identifier}/export", _export),
    *(Route(f"/run/{{identifier}}/{name}", _report) for name in DOWNLOADS),
    Route("/run/{identifier}/study.toml", _study),
    Route("/run/{identifier}/release", _release),
]
