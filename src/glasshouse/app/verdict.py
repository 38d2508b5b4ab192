"""A run: its verdict and findings as the report says them, in the frame of the app; and what can be taken along."""

from __future__ import annotations

import re
import shlex
from collections import OrderedDict
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from glasshouse.app.server import page
from glasshouse.app.workspace import MANIFEST, AppWorkspace, OpenRun, Summary
from glasshouse.errors import DataError, GlasshouseError
from glasshouse.language import LANGUAGES, speaking, spoken, text, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from fractions import Fraction

    from glasshouse.measures.verdict import Judgement
    from glasshouse.study import Question

_STYLE = re.compile(r' style="min-width:\d+px"')
DOWNLOADS = {"report.html": "text/html; charset=utf-8", "report.pdf": "application/pdf"}
"""The forms of a report, and their kinds."""
MOST_DRAWN = 400
"""So many drawings are kept, as drawing takes longer than all else."""
MOST_HASHED = 1 << 28
"""Of so many bytes at most it is looked whether they are the same as when a run was made."""
_drawings: OrderedDict[int, Any] = OrderedDict()
_digests: OrderedDict[tuple[tuple[str, int, int, int], ...], dict[str, str]] = OrderedDict()
_lock = Lock()


def pictures(figure: Any) -> tuple[Any, ...]:
    """Return the pictures of a figure as the app may show them: without styles of their own."""
    from glasshouse.report.html import pictures as drawn

    key = id(figure)
    with _lock:
        entry = _drawings.get(key)
    if entry is not None and entry[0] is figure:
        return tuple(entry[1])
    ready = tuple(
        replace(picture, wide=_plain(picture.wide, 500), narrow=_plain(picture.narrow, 270))
        for picture in drawn(figure)
    )
    with _lock:
        _drawings[key] = (figure, ready)
        while len(_drawings) > MOST_DRAWN:
            _drawings.popitem(last=False)
    return ready


def _plain(drawing: Any, room: int) -> Any:
    """Return a drawing with a class where the report has a style; one that would get too small is scrolled."""
    name = ' class="scrolls"' if drawing.least_width > room else ""
    return replace(drawing, svg=Markup(_STYLE.sub(name, str(drawing.svg), count=1)))  # noqa: S704 - drawn here


def opened(request: Request) -> OpenRun:
    """Return the run that an address is about."""
    workspace: AppWorkspace = request.app.state.workspace
    return workspace.run(request.path_params["identifier"])


def command_of(run: OpenRun) -> str:
    """Return the command that repeats a run, as its report says it."""
    return run.page.command


def changes(request: Request, run: OpenRun) -> list[str]:
    """Say what has changed since a run was made, so that its verdict is of something else; nothing: all is as it was.

    A file that is very large is not read for this: it counts as changed if it was written to after the run. Files
    outside of the folders that were given are not looked at.
    """
    from glasshouse.runs.folder import provenance_of
    from glasshouse.study import paths_of

    question = run.question
    if question is None:
        return []
    missing = [path for path in paths_of(question) if not _files(path)]
    sentences = [
        text("{name} is not where it was when this run was made.", name=path.name)
        for path in missing
    ]
    if not missing:
        sentences += [
            text("{name} has changed since this run was made.", name=name)
            for name in _changed(request.app.state.workspace, run, question)
        ]
    is_of_now = run.manifest.get("glasshouse") == version("glasshouse")
    if is_of_now and provenance_of(question, ()).study != run.page.provenance.study:
        sentences.append(text("The study of this run has changed since it was made."))
    return sentences


def _files(path: Path) -> list[Path]:
    """Return the files that a path stands for and that are there."""
    from glasshouse.sources.files import table_files

    try:
        return [file for file in table_files(path)[0] if file.is_file()]
    except GlasshouseError:
        return []


def _changed(workspace: AppWorkspace, run: OpenRun, question: Question) -> list[str]:
    """Return the names of the data of a run that are not the same any more."""
    from glasshouse.runs.folder import digests_of
    from glasshouse.study import paths_of

    files = {path: _files(path) for path in paths_of(question)}
    if not all(map(workspace.holds, files.values())):
        return []
    statuses = {path: [file.stat() for file in inside] for path, inside in files.items()}
    stamp = tuple(
        (str(path), one.st_mtime_ns, one.st_ctime_ns, one.st_size)
        for path, inside in statuses.items()
        for one in inside
    )
    if sum(entry[-1] for entry in stamp) > MOST_HASHED:
        made = (run.folder / MANIFEST).stat().st_mtime_ns
        return [
            path.name
            for path, inside in statuses.items()
            if any(max(one.st_mtime_ns, one.st_ctime_ns) > made for one in inside)
        ]
    now = _digests.get(stamp) or digests_of(question)
    with _lock:
        _digests[stamp] = now
        while len(_digests) > MOST_DRAWN:
            _digests.popitem(last=False)
    before = {entry["name"]: entry["sha256"] for entry in run.manifest.get("datasets", ())}
    return [name for name, digest in now.items() if before.get(name, digest) != digest]


def listed(names: Iterable[str]) -> str:
    """Return what columns are called, as sentences of the report do, with commas between."""
    from glasshouse.report.words import enumeration

    return ", ".join(enumeration([name]) for name in names)


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


def _inner_runs(request: Request, run: OpenRun) -> list[tuple[str, bool, Summary]]:
    """Return the runs within a run: the versions that were found, or those that a story tells of.

    Each comes with what it is called here, and with whether it is the version to take, which is first.
    """
    workspace: AppWorkspace = request.app.state.workspace
    places = (run.folder, run.folder / "versions")
    inside = [entry for entry in workspace.runs() if entry.path.parent in places]
    names: Mapping[str, str] = {}
    if inside and run.command == "protect":
        from glasshouse.mitigation.versions import FAMILIES

        names = FAMILIES
    runs = []
    for entry in sorted(inside, key=lambda one: one.path.name):
        name, summary = entry.path.name, workspace.summary(entry)
        label = translated(names[name]) if name in names else summary.title
        runs.append((label, name == run.manifest.get("recommended"), summary))
    return sorted(runs, key=lambda one: not one[1])


def _verdict(request: Request) -> Response:
    from glasshouse.report.html import template_context

    run = opened(request)
    content = template_context(run.page) | {"pictures": pictures}
    return page(
        request,
        "verdict.html",
        **content,
        title=run.page.title,
        run=run,
        here="",
        changes=changes(request, run),
        inner=_inner_runs(request, run),
        measured=_measured(run),
        definitions=run.page.glossary,
        command=command_of(run),
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
        release=_release_name(run),
        smallest=run.page.provenance.smallest_cell,
        command=f"glasshouse report {shlex.quote(run.folder.name)} --lang {spoken()} --pdf",
    )


def _release_name(run: OpenRun) -> str:
    """Return the name of the release that a run wrote; empty: it wrote none."""
    name = str(run.manifest.get("release", ""))
    return name if name and "/" not in name and (run.folder / name).is_file() else ""


def _release(request: Request) -> Response:
    """Return the release that a run wrote: it is about people."""
    run = opened(request)
    name = _release_name(run)
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
    return _download(body, DOWNLOADS[name], f"{run.folder.name}-{language}-{name}")


def _study(request: Request) -> Response:
    """Return the study, as the report has it: without the folders of this machine."""
    run = opened(request)
    body = run.page.provenance.study.encode("utf-8")
    return _download(body, "application/toml", f"{run.folder.name}-study.toml")


def _download(body: bytes, media_type: str, name: str) -> Response:
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", name)
    return Response(
        body,
        media_type=media_type,
        headers={"content-disposition": f'attachment; filename="{plain}"'},
    )


routes = [
    Route("/run/{identifier}", _verdict),
    Route("/run/{identifier}/export", _export),
    *(Route(f"/run/{{identifier}}/{name}", _report) for name in DOWNLOADS),
    Route("/run/{identifier}/study.toml", _study),
    Route("/run/{identifier}/release", _release),
]
