"""Keeping house: runs, drafts and uploads are renamed, annotated and removed; what is removed is gone from the disk.

Names and notes are in one private file of the app, by the identifiers of pages. Only what the app itself has written
can be removed here: a run of the command line, and a file of yours, are removed where they are.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.guard import form_of
from glasshouse.app.jobs import Jobs
from glasshouse.app.server import page, see
from glasshouse.app.workspace import AppWorkspace, Entry
from glasshouse.atomic import new_file
from glasshouse.errors import DataError
from glasshouse.language import system_reason, text

NOTES = "notes.json"
LONGEST_NAME, LONGEST_NOTE = 120, 2000
"""So many letters a name, and a note, may have."""
_lock = Lock()


@dataclass(frozen=True)
class Note:
    """What somebody calls a thing, and has written of it."""

    name: str = ""
    """Its name; empty: as it is called."""
    note: str = ""
    """What is noted."""


def notes_of(workspace: AppWorkspace) -> Mapping[str, Note]:
    """Return all names and notes, by identifier."""
    try:
        content = json.loads((workspace.home / NOTES).read_text(encoding="utf-8"))
        return {
            f"{key}": Note(f"{one.get('name', '')}", f"{one.get('note', '')}")
            for key, one in content.items()
        }
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _write(workspace: AppWorkspace, identifier: str, note: Note | None) -> None:
    """Keep a note, or none."""
    with _lock:
        notes = {**notes_of(workspace)}
        notes.pop(identifier, None)
        if note is not None and (note.name or note.note):
            notes[identifier] = note
        content = {key: vars(one) for key, one in notes.items()}
        with new_file(workspace.home / NOTES, private=True, sweep=False) as draft:
            draft.write_text(json.dumps(content), encoding="utf-8")


def _thing(workspace: AppWorkspace, kind: str, identifier: str) -> tuple[str, str, Path | None]:
    """Return what a thing is called, where it is shown, and what is removed with it; None: nothing can be.

    Raises:
        DataError: There is no such thing.
    """
    if kind == "draft" and re.fullmatch("[0-9a-f]{20}", identifier):
        path = workspace.drafts() / f"{identifier}.json"
        if path.is_file():
            return text("A question that was begun"), f"/draft/{identifier}", path
    if kind not in ("run", "file"):
        raise DataError("there is no such file or run; it may have been moved")
    entry: Entry = workspace.entry(identifier)
    is_ours = entry.is_upload or (
        entry.is_run and entry.path.resolve().is_relative_to(workspace.home.resolve())
    )
    is_whole = not entry.is_run or entry.path.parent.parent == workspace.home
    return entry.name, f"/{kind}/{identifier}", entry.path if is_ours and is_whole else None


def _noted(request: Request) -> Response:
    """Show what something is called and what is noted of it, change that, or remove it."""
    workspace: AppWorkspace = request.app.state.workspace
    kind, identifier = (request.path_params[name] for name in ("kind", "identifier"))
    name, address, path = _thing(workspace, kind, identifier)
    if request.method == "POST":
        form = form_of(request)
        if form.get("remove") == "yes":
            if path is None:
                raise DataError(
                    "{name} was not made by the app; remove it where it is, in your folders",
                    name=name,
                )
            _remove(workspace, request.app.state.jobs, path)
            _write(workspace, identifier, None)
            return see("/")
        note = Note(
            form.get("name").strip()[:LONGEST_NAME], form.get("note").strip()[:LONGEST_NOTE]
        )
        _write(workspace, identifier, note)
        return see("/")
    return page(
        request,
        "notes.html",
        title=text("Name, note, remove"),
        called=name,
        thing=address,
        kind=kind,
        can_remove=path is not None,
        note=notes_of(workspace).get(identifier, Note()),
        longest=(LONGEST_NAME, LONGEST_NOTE),
        identifier=identifier,
    )


def _remove(workspace: AppWorkspace, jobs: Jobs, path: Path) -> None:
    """Remove a file or a folder from the disk, and what was kept of the work that made it."""
    try:
        if path.is_dir():
            for left in (path, path.with_name(f"{path.name}.partial")):
                shutil.rmtree(left, ignore_errors=left != path)
            jobs.forget(path)
        else:
            path.unlink()
    except OSError as error:
        raise DataError(
            "{name} cannot be removed ({reason})", name=path.name, reason=system_reason(error)
        ) from None
    workspace.entries(fresh=True)


routes = [Route("/keep/{kind}/{identifier}", _noted, methods=["GET", "POST"])]
