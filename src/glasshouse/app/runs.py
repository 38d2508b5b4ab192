"""A run, as every screen of it needs it: opened, drawn, held against its data as they are now, and taken along."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from glasshouse.app.workspace import MANIFEST, AppWorkspace, OpenRun
from glasshouse.errors import GlasshouseError
from glasshouse.language import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from glasshouse.study import Question

_STYLE = re.compile(r' style="min-width:\d+px;max-width:\d+px"')
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


def changes(request: Request, run: OpenRun) -> list[str]:
    """Say what has changed since a run was made, so that its verdict is of something else; nothing: all is as it was.

    A file that is very large is not read for this: it counts as changed if it was written to after the run. Files
    outside of the folders that were given are not looked at. Parts that the script asks for do not hold it.
    """
    from glasshouse.runs.folder import provenance_of
    from glasshouse.study import paths_of

    question = run.question
    if question is None or request.headers.get("sec-fetch-dest") == "empty":
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
    before = run.digests
    return [name for name, digest in now.items() if before.get(name, digest) != digest]


def listed(names: Iterable[str]) -> str:
    """Return what columns are called, as sentences of the report do, with commas between."""
    from glasshouse.report.words import enumeration

    return ", ".join(enumeration([name]) for name in names)


def release_name(run: OpenRun) -> str:
    """Return the name of the release that a run wrote; empty: it wrote none, or a link stands in its place."""
    name = str(run.manifest.get("release", ""))
    path = run.folder / name
    is_its_own = bool(name) and "/" not in name and path.is_file() and not path.is_symlink()
    return name if is_its_own else ""


def download(body: bytes, media_type: str, name: str) -> Response:
    """Return a file to be taken along."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", name)
    return Response(
        body,
        media_type=media_type,
        headers={"content-disposition": f'attachment; filename="{plain}"'},
    )
