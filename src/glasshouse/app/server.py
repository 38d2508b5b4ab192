"""The application: pages in a frame, the screens behind the guard, and how it starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from glasshouse.app.guard import ENTRANCE, TOKEN, Guard, Session, form_of, leading_to
from glasshouse.app.jobs import Jobs, State
from glasshouse.app.workspace import HOME, JOBS, UPLOADS, AppWorkspace, OpenRun
from glasshouse.atomic import new_file
from glasshouse.errors import DataError, GlasshouseError
from glasshouse.language import (
    LANGUAGES,
    UnknownLanguageError,
    date,
    language_called,
    marked,
    number,
    printable,
    speaking,
    spoken,
    text,
    text_for,
    translated,
)

PACKAGE = Path(__file__).parent.parent
"""Where templates, style sheets and the script are; importing the report for its own takes long."""
ADDRESS = "127.0.0.1"
"""Where the app listens: this machine only."""
SCREENS = (
    "home",
    "drafts",
    "work",
    "verdict",
    "acts",
    "notes",
    "groups",
    "questions",
    "ledger",
    "live",
)
"""The modules of screens, each with its ``routes``."""
SECTIONS = {
    "/": marked("Home"),
    "/compare": marked("Compare"),
    "/ledger": marked("Ledger"),
    "/further": marked("Further questions"),
}
"""What every page leads to."""
RUN_RAIL = (
    ("", marked("Verdict")),
    ("explore", marked("Explore sets")),
    ("people", marked("People")),
    ("what-if", marked("What if")),
    ("groups", marked("Time and groups")),
    ("export", marked("Export")),
)
"""The screens of a run, below its address; those are shown that there is a route for."""
OF_ASSESS = ("explore", "people", "what-if", "groups")
"""Those that only a run of ``assess`` has."""
DRAFT_RAIL = (
    ("", marked("File and roles")),
    ("adversary", marked("Adversary")),
)
"""The steps before a run, below the address of its draft."""
THEMES = {"auto": marked("As the system"), "light": marked("Light"), "dark": marked("Dark")}
"""How light the pages are."""
STATES = {
    State.QUEUED: marked("waits"),
    State.RUNNING: marked("runs"),
    State.DONE: marked("done"),
    State.CANCELLED: marked("stopped"),
    State.FAILED: marked("failed"),
}
"""How a job stands, in a word."""
SIGNS = {"do-not-publish": "✗", "restricted": "!", "not-judged": "?", "meets": "✓"}
"""The signs of decisions, as a report has them: importing one takes longer than a first page may."""
SETTINGS_AGE = 365 * 24 * 3600
"""For how many seconds a browser remembers language and theme."""
LOOK = ("report/templates/report.css", "app/static/app.css", "app/static/screens.css")
"""The style sheets, one after the other: the app looks like the report's sister."""
TIDILY = (2000, 10, 10)
"""How often garbage is looked for: a command ends before it matters, the app does not."""
LOADED_LATER = ("runs.reading", "report.inspect.page", "report.html")
"""What screens load where they are opened, so that the app starts at once."""
PAUSE = 0.3
"""Seconds between two looks at the queue of jobs."""


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(
            [PACKAGE / folder / "templates" for folder in ("app", "report")]
        ),
        autoescape=True,
        finalize=_as_text,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _as_text(value: object) -> object:
    """Return what a template shows with every character visible; what is markup already passes as it is."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable(value)
    return value


def page(request: Request, name: str, *, status: int = 200, **context: Any) -> Response:
    """Return a template in the frame of the app, in the language that is spoken.

    Args:
        request: What was asked.
        name: The template, which extends ``frame.html``.
        status: The code of the answer.
        context: What it shows. ``title`` is its heading; ``run``, ``draft`` and ``here`` choose the rail; ``command``
            is what gives the same on the command line.
    """
    defaults: dict[str, Any] = {
        "run": None,
        "draft": None,
        "here": None,
        "command": "",
        "title": "",
    }
    session: Session = request.scope["session"]
    content = (
        _environment()
        .get_template(name)
        .render(
            **defaults
            | {
                "text": text,
                "text_for": text_for,
                "number": number,
                "translated": translated,
                "language": spoken(),
                "languages": LANGUAGES,
                "theme": theme_of(request),
                "themes": {key: translated(label) for key, label in THEMES.items()},
                "token": lambda: Markup('<input type="hidden" name="{}" value="{}">').format(
                    TOKEN, session.form_token
                ),
                "states": {state: translated(label) for state, label in STATES.items()},
                "signs": SIGNS,
                "sections": {path: translated(label) for path, label in SECTIONS.items()},
                "in_app": True,
                "moment": _moment,
                "address": request.url.path,
                "back": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
                "rail": _rail(request, context),
            }
            | context
        )
    )
    return HTMLResponse(content, status)


def _moment(seconds: float) -> str:
    """Return the day and the minute of a moment."""
    when = datetime.fromtimestamp(seconds)
    return f"{date(when.date())}, {when:%H:%M}"


@dataclass(frozen=True)
class RailEntry:
    """One line of the rail."""

    address: str
    """Where it leads."""
    label: str
    """What it is called."""
    is_here: bool
    """Whether it is what is shown."""


def _rail(request: Request, context: dict[str, Any]) -> list[RailEntry]:
    """Return the rail of a run, or of the steps before it."""
    run, draft, here = (context.get(name) for name in ("run", "draft", "here"))
    thing, screens, prefix = (
        (run, RUN_RAIL, "/run") if run is not None else (draft, DRAFT_RAIL, "/draft")
    )
    if thing is None:
        return []
    paths = request.app.state.paths
    hidden = () if run is None else _hidden(run)
    return [
        RailEntry(
            f"{prefix}/{thing.identifier}" + (f"/{name}" if name else ""),
            translated(label),
            name == (here or ""),
        )
        for name, label in screens
        if f"{prefix}/{{identifier}}" + (f"/{name}" if name else "") in paths and name not in hidden
    ]


def _hidden(run: OpenRun) -> tuple[str, ...]:
    """Return the screens that a run does not have: of sets of attributes, or of single records, where it has none."""
    if run.command != "assess":
        return OF_ASSESS
    question: Any = run.question
    if question is None or question.person or question.trained_on:
        return ("explore", "people", "what-if")
    return ("explore", "people") if question.by or question.each else ()


def theme_of(request: Request) -> str:
    """Return how light pages are to be."""
    theme = request.cookies.get("theme", "auto")
    return theme if theme in THEMES else "auto"


def see(address: str) -> Response:
    """Return what sends a browser on to a page after a change."""
    return RedirectResponse(address, status_code=303)


async def _settings(request: Request) -> Response:
    """Change language or theme, and show the same page again."""
    form = form_of(request)
    back = form.get("back", "/")
    answer = see(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/")
    for name, allowed in (("language", LANGUAGES), ("theme", THEMES)):
        if form.get(name) in allowed:
            answer.set_cookie(
                name, form.get(name), max_age=SETTINGS_AGE, httponly=True, samesite="strict"
            )
    return answer


@cache
def _asset(name: str) -> bytes:
    return (PACKAGE / name).read_bytes()


async def _look(request: Request) -> Response:
    """Return the style sheet, for a theme."""
    theme = request.path_params["theme"]
    sheet = b"\n".join(map(_asset, LOOK)).decode("utf-8")
    if theme != "auto":
        query = "all" if theme == "dark" else "not all"
        sheet = sheet.replace("screen and (prefers-color-scheme: dark)", query)
        sheet = sheet.replace("(prefers-color-scheme: dark)", query)
        sheet = sheet.replace("color-scheme: light dark", f"color-scheme: {theme}")
    return Response(sheet, media_type="text/css")


async def _script(_request: Request) -> Response:
    return Response(_asset("app/static/app.js"), media_type="text/javascript")


async def _refused(request: Request, error: Exception) -> Response:
    """Return a page with one line that says what is wrong, without a path."""
    workspace: AppWorkspace = request.app.state.workspace
    message = workspace.without_paths(str(error))
    return _error(request, 422, text("That did not work"), message)


def _error(request: Request, status: int, title: str, message: str) -> Response:
    """Return a page with one line; of a run, or of the steps before one, in its rail, and with the way back."""
    kind, _, rest = request.url.path.strip("/").partition("/")
    thing: dict[str, Any] = {}
    with contextlib.suppress(GlasshouseError):
        if kind == "run":
            thing = {"run": request.app.state.workspace.run(rest.partition("/")[0])}
        elif kind == "draft":
            drafts = import_module("glasshouse.app.drafts")
            thing = {"draft": drafts.draft_of(request.app.state.workspace, rest.partition("/")[0])}
    came_from = urlsplit(request.headers.get("referer", ""))
    before = came_from.path if came_from.netloc == request.url.netloc else ""
    before += f"?{came_from.query}" if before and came_from.query else ""
    is_here = before.partition("?")[0] == request.url.path and request.method == "GET"
    is_away = before.startswith(("//", "/\\")) or not before.startswith("/")
    return page(
        request,
        "error.html",
        status=status,
        title=title,
        message=message,
        here="-",
        before="" if is_here or is_away or before.startswith("/enter") else before,
        **thing,
    )


async def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    message = text("There is no such page.") if status == 404 else text("That cannot be done here.")
    return _error(request, status, text("Nothing here"), message)


async def _broken(request: Request, error: Exception) -> Response:
    """Return a page for a bug of ours: its kind, and nothing of what it was about."""
    import traceback

    traceback.print_exception(error, file=sys.stderr)
    message = text(
        "A bug in Glasshouse ({kind}); the window in which the app was started says more.",
        kind=type(error).__name__,
    )
    return _error(request, 500, text("That did not work"), message)


class _Speaking:
    """Speaks the language of the reader while a request is answered."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            code = language_called(Request(scope).cookies.get("language") or spoken())
        except UnknownLanguageError:
            code = spoken()
        with speaking(code):
            await self._app(scope, receive, send)


def application(
    folders: Sequence[Path], *, hosts: tuple[str, ...], session: Session, **limits: Any
) -> Callable[..., Any]:
    """Return the application: the screens, behind the guard.

    Args:
        folders: What may be opened; the first one is written to.
        hosts: The names by which it is called, with the port.
        session: Who may ask.
        limits: What else the guard is told, such as ``most_uploaded``.

    Raises:
        DataError: A folder is not there, or cannot be written to.
    """
    workspace = AppWorkspace(folders)
    jobs = Jobs(workspace.home / JOBS)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watch(jobs))
        yield
        app.state.is_stopping = True
        watching.cancel()

    routes = [
        Route("/settings", _settings, methods=["POST"]),
        Route("/look/{theme}.css", _look),
        Route("/app.js", _script),
    ]
    for name in SCREENS:
        routes += import_module(f"glasshouse.app.{name}").routes
    screens = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={GlasshouseError: _refused, HTTPException: _missing, Exception: _broken},
    )
    screens.state.workspace, screens.state.jobs = workspace, jobs
    screens.state.paths = {route.path for route in routes}
    screens.state.is_stopping = False
    return Guard(
        _Speaking(screens),
        session=session,
        hosts=hosts,
        uploads=workspace.home / UPLOADS,
        **limits,
    )


async def _watch(jobs: Jobs) -> None:
    """Start what waits, as long as the app runs."""
    while True:
        await asyncio.to_thread(jobs.advance)
        await asyncio.sleep(PAUSE)


def listener(port: int) -> socket.socket:
    """Return a socket of this machine that is listened at.

    Args:
        port: The port; 0: one that is free.

    Raises:
        DataError: It is taken.
    """
    # With the protocol, so that small packets do not wait for one another.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
    except OSError:
        listening.close()
        raise DataError("port {port} is taken; choose another, or none", port=str(port)) from None
    listening.listen(2048)
    return listening


def _made_ready() -> None:
    """Load what the screens behind the first page need, while that one is read: it takes two seconds.

    What cannot be loaded says so where it is asked for.
    """
    with contextlib.suppress(Exception):
        for name in LOADED_LATER:
            import_module(f"glasshouse.{name}")
        import_module("glasshouse.report.charts").to_svg({"mark": "bar", "data": {"values": []}})
        for name in ("file.html", "adversary.html", "job.html", "verdict.html"):
            _environment().get_template(name)
        import_module("glasshouse.app.what_if")


def serve(
    folders: Sequence[Path],
    *,
    port: int,
    on_ready: Callable[[str, Path], None],
    on_entered: Callable[[str], None],
) -> None:
    """Run the app until it is interrupted.

    Args:
        folders: What may be opened; the first one is written to.
        port: The port; 0: one that is free.
        on_ready: Called with the address that opens it once, and with a private file that leads there: what a browser
            is started with can be read by every user of the machine.
        on_entered: Called, when that address was used, with the next one that opens it once.
    """
    import uvicorn

    session = Session()
    listening = listener(port)
    port = listening.getsockname()[1]
    hosts = (f"{ADDRESS}:{port}", f"localhost:{port}")
    app = application(folders, hosts=hosts, session=session)
    configuration = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=1 << 16,
    )
    server = uvicorn.Server(configuration)
    gc.set_threshold(*TIDILY)
    door = folders[0].resolve() / HOME / "enter.html"

    def laid_out() -> str:
        """Write the file that leads in by the token that is good, and return the address."""
        address = f"http://{hosts[0]}{ENTRANCE}?token={session.launch}"
        with new_file(door, private=True) as draft:
            draft.write_text(leading_to(address), encoding="utf-8")
        return address

    ready = Thread(target=_made_ready, daemon=True)

    def entered() -> None:
        """Lay out the next address, and the first time get ready for what comes after the first page."""
        on_entered(laid_out())
        if ready.ident is None:
            ready.start()

    session.on_entered = entered
    on_ready(laid_out(), door)
    with contextlib.suppress(KeyboardInterrupt):  # which is how it is ended
        server.run(sockets=[listening])
    door.unlink(missing_ok=True)
