"""A run: its verdict and findings as the report says them, in the frame of the app; and what can be taken along."""

from __future__ import annotations

import re
import shlex
from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from glasshouse.app.server import page
from glasshouse.app.workspace import AppWorkspace, OpenRun
from glasshouse.errors import DataError
from glasshouse.language import LANGUAGES, speaking, spoken, text

_STYLE = re.compile(r' style="min-width:\d+px"')
DOWNLOADS = {"report.html": "text/html; charset=utf-8", "report.pdf": "application/pdf"}
"""The forms of a report, and their kinds."""
MOST_DRAWN = 400
"""So many drawings are kept, as drawing takes longer than all else."""
_drawings: OrderedDict[int, Any] = OrderedDict()
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
