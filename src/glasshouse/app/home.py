"""Home: the files that can be opened, what was begun and what runs, the latest runs with their verdicts, the demo."""

from __future__ import annotations

import unicodedata

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.drafts import kept_drafts
from glasshouse.app.guard import form_of
from glasshouse.app.jobs import Jobs
from glasshouse.app.notes import notes_of
from glasshouse.app.server import page, see
from glasshouse.app.work import submit
from glasshouse.app.workspace import AppWorkspace
from glasshouse.errors import DataError
from glasshouse.language import number, text

MOST_RECENT = 12
"""So many runs, and so many drafts, are shown."""
MOST_FILES = 30
"""So many files are shown; a search finds the others."""
UNITS = ("B", "kB", "MB", "GB", "TB")


def _folded(name: str) -> str:
    """Return a name without what tells capitals and accents apart.

    >>> _folded("População.CSV")
    'populacao.csv'
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def size_in_words(size: int) -> str:
    """Return a number of bytes as people write it.

    >>> size_in_words(999), size_in_words(1_500), size_in_words(29_000_000)
    ('999 B', '1.5 kB', '29 MB')
    """
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{number(amount, '.2g' if unit and amount < 10 else '.0f')} {UNITS[unit]}"


def _home(request: Request) -> Response:
    workspace: AppWorkspace = request.app.state.workspace
    jobs: Jobs = request.app.state.jobs
    wanted = request.query_params.get("find", "").strip()[:100]
    files = [one for one in workspace.files() if _folded(wanted) in _folded(one.name)]
    runs = [one for one in workspace.summaries() if one.entry.path.parent.name != "versions"]
    most = None if request.query_params.get("runs") else MOST_RECENT
    return page(
        request,
        "home.html",
        title=text("What does a release give away?"),
        runs=runs[:most],
        earlier=len(runs[most:]) if most else 0,
        drafts=kept_drafts(workspace)[:MOST_RECENT],
        files=files[:MOST_FILES],
        hidden=len(files) - MOST_FILES,
        wanted=wanted,
        notes=notes_of(workspace),
        size=size_in_words,
        folders=", ".join(folder.name for folder in workspace.folders),
        studies=[one for one in workspace.plans() if one.path.suffix == ".toml"],
        jobs=[standing for standing in jobs.all()[:MOST_RECENT] if standing.state != "done"],
        command="glasshouse app",
    )


def _demo(request: Request) -> Response:
    """Run the demo."""
    return submit(request, ["demo"], title=text("The demo"), name="demo", command="glasshouse demo")


def _upload(request: Request) -> Response:
    """Keep a file that was uploaded."""
    workspace: AppWorkspace = request.app.state.workspace
    uploaded = form_of(request).files.get("file")
    if uploaded is None:
        raise DataError("choose a file first")
    return see(f"/file/{workspace.keep(*uploaded).identifier}")


routes = [
    Route("/", _home),
    Route("/demo", _demo, methods=["POST"]),
    Route("/upload", _upload, methods=["POST"]),
]
