"""Work: what is put into the queue, how far a job is, cancelling and resuming it, and where its run is in the end."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from glasshouse.app.guard import form_of
from glasshouse.app.jobs import Jobs, JobStanding, State
from glasshouse.app.server import page, see
from glasshouse.app.workspace import AppWorkspace
from glasshouse.atomic import new_file
from glasshouse.language import marked, spoken, text, translated

if TYPE_CHECKING:
    from glasshouse.study import Question

PAUSE, LONGEST = 0.4, 600.0
"""Seconds between two looks at a job, and until a browser has to ask again."""
MOST_SAID = 8
"""So many lines of what a job says are shown."""
STAGES = {
    "reading": marked("Reading the data"),
    "sweeping": marked("Trying every set of columns"),
    "searching": marked("Searching for a protection"),
    "sampling": marked("Sampling"),
    "solving": marked("Solving"),
}
"""What a job does, as its page says it."""


def submit(
    request: Request, words: Sequence[str], *, title: str, name: str, command: str
) -> Response:
    """Ask the command line for a run, and show how far it is.

    Args:
        request: What was asked.
        words: The words of the command, without the folder of the run.
        title: What the job is called.
        name: What the run folder is called, if that is free.
        command: The same as it would be typed beside the data.
    """
    workspace: AppWorkspace = request.app.state.workspace
    jobs: Jobs = request.app.state.jobs
    out = workspace.new_run(name)
    arguments = [*words, "--out", str(out), "--lang", spoken()]
    job = jobs.submit(title, arguments, out=out, shown_command=command)
    return see(f"/job/{job.identifier}")


def submit_study(request: Request, study: Question, **about: str) -> Response:
    """Write a study as anybody could have written it, and ask the command line for its run, as `submit` does."""
    from importlib.metadata import version

    from glasshouse.study import dump_study, paths_of

    workspace: AppWorkspace = request.app.state.workspace
    workspace.check_inside(paths_of(study))
    place = workspace.drafts() / f"{secrets.token_hex(10)}.toml"
    with new_file(place, private=True) as unfinished:
        unfinished.write_text(dump_study(study, version=version("glasshouse")), encoding="utf-8")
    return submit(request, [*asked_by(study), "--study", str(place)], **about)


def asked_by(study: Question) -> list[str]:
    """Return the command that carries out a study."""
    return ["totals", "campaign"] if study.command == "totals" else [study.command]


def _job(request: Request) -> Response:
    jobs: Jobs = request.app.state.jobs
    workspace: AppWorkspace = request.app.state.workspace
    standing = jobs.standing(request.path_params["identifier"])
    run = workspace.identifier(Path(standing.job.out)) if standing.state is State.DONE else ""
    words = standing.job.arguments
    asked_in = words[words.index("--lang") + 1] if "--lang" in words else spoken()
    if run:
        workspace.entries(fresh=True)
    return page(
        request,
        "job.html",
        title=standing.job.title,
        asked_in=asked_in,
        standing=standing,
        told=_told(standing),
        stage=_stage(standing),
        said=[workspace.without_paths(line) for line in standing.said[-MOST_SAID:]],
        result=run,
        message=workspace.without_paths(standing.message)
        or text("It ended without a word, as if it had been killed; perhaps memory ran out."),
        command=standing.job.shown_command,
    )


def _stage(standing: JobStanding) -> str:
    """Say what a job does; nothing if that is not known."""
    if standing.share == 1 and standing.stage != "reading":
        return text("Writing the report")
    return translated(STAGES[standing.stage]) if standing.stage in STAGES else ""


def _told(standing: JobStanding) -> str:
    """Return a short text that changes whenever the page does."""
    share = "" if standing.share is None else f"{standing.share:.2f}"
    over = "over" if standing.state.is_over else ""
    further = f"{len(standing.said)}{standing.is_stopping:d}" if not over else ""
    return f"{standing.state} {standing.stage} {share} {further}{over}".strip()


async def _events(request: Request) -> Response:
    """Tell a browser whenever a job has gone on."""
    jobs: Jobs = request.app.state.jobs
    identifier = request.path_params["identifier"]
    await asyncio.to_thread(jobs.standing, identifier)

    async def tell() -> AsyncIterator[str]:
        last, waited = "", 0.0
        while waited < LONGEST and not request.app.state.is_stopping:
            now = _told(await asyncio.to_thread(jobs.standing, identifier))
            if now != last:
                yield f"data: {now}\n\n"
            if now.endswith("over"):
                return
            last, waited = now, waited + PAUSE
            await asyncio.sleep(PAUSE)

    return StreamingResponse(tell(), media_type="text/event-stream")


def _cancel(request: Request) -> Response:
    jobs: Jobs = request.app.state.jobs
    jobs.cancel(request.path_params["identifier"])
    return see(f"/job/{request.path_params['identifier']}")


def _resume(request: Request) -> Response:
    jobs: Jobs = request.app.state.jobs
    anew = form_of(request).get("anew") == "yes"
    jobs.resume(request.path_params["identifier"], anew=anew)
    return see(f"/job/{request.path_params['identifier']}")


routes = [
    Route("/job/{identifier}", _job),
    Route("/job/{identifier}/events", _events),
    Route("/job/{identifier}/cancel", _cancel, methods=["POST"]),
    Route("/job/{identifier}/resume", _resume, methods=["POST"]),
]
