"""Home: the latest runs with their verdicts, the files that can be opened, what is running, and the demo."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.guard import form_of
from glasshouse.app.jobs import Jobs
from glasshouse.app.server import page, see
from glasshouse.app.workspace import AppWorkspace
from glasshouse.errors import DataError
from glasshouse.language import spoken, text

MOST_RECENT = 12
"""So many runs are shown."""


def _home(request: Request) -> Response:
    workspace: AppWorkspace = request.app.state.workspace
    jobs: Jobs = request.app.state.jobs
    runs = workspace.runs()
    return page(
        request,
        "home.html",
        title=text("What does a release give away?"),
        runs=[workspace.summary(entry) for entry in runs[:MOST_RECENT]],
        files=workspace.files(),
        studies=[one for one in workspace.plans() if one.path.suffix == ".toml"],
        jobs=[standing for standing in jobs.all()[:MOST_RECENT] if standing.state != "done"],
        command="glasshouse app",
    )


def _demo(request: Request) -> Response:
    """Run the demo."""
    workspace: AppWorkspace = request.app.state.workspace
    jobs: Jobs = request.app.state.jobs
    out = workspace.new_run("demo")
    job = jobs.submit(
        text("The demo"),
        ["demo", "--out", str(out), "--lang", spoken()],
        out=out,
        shown_command="glasshouse demo",
    )
    return see(f"/job/{job.identifier}")


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
