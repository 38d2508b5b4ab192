"""A small run in a folder, and the app that opens it."""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from glasshouse.app.guard import Session
from glasshouse.runs import Run, run
from glasshouse.runs.run import write_run
from glasshouse.study import validated
from glasshouse.study.assess import AssessStudy

testclient = pytest.importorskip("starlette.testclient", reason="needs starlette (extra app)")

KNOWN = ("age", "sex", "city", "job")
HOST = "127.0.0.1:8000"


def write_people(path: Path, records: int = 240) -> None:
    """Write people of whom some are alone: ages, and a city that few live in."""
    draw = random.Random(7)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*KNOWN, "ill"])
        for _ in range(records):
            age = draw.choice([30, 31, 35, 42, 47, 58, 60, 61])
            city = draw.choices(["north", "south", "hamlet"], [120, 110, 5])[0]
            ill = draw.choice(["flu", "cold", "gout"])
            rows.writerow([age, draw.choice("fm"), city, draw.choice(["baker", "cook"]), ill])


def study(path: Path, **changes: Any) -> AssessStudy:
    """Return the study of a file."""
    content = {
        "datasets": [{"path": path}],
        "adversary": {"quasi_identifiers": KNOWN, "sensitive": ["ill"]},
        "subsets": ["all"],
    }
    return validated(AssessStudy, content | changes, "assess")


def make_run(folder: Path, **changes: Any) -> Run[Any, Any]:
    """Write the data and a run of it into a folder, and return the run."""
    data = folder / "people.csv"
    if not data.exists():
        write_people(data)
    done = run(study(data, **changes))
    write_run(done, folder / "run")
    return done


@contextmanager
def browsing(folder: Path) -> Iterator[tuple[Any, str, Session]]:
    """Open the app for a folder: a client that has entered, the address of its run, and the session."""
    from glasshouse.app.server import application

    session = Session()
    app = application([folder], hosts=(HOST,), session=session)
    with testclient.TestClient(app, base_url=f"http://{HOST}") as client:
        client.get("/enter", params={"token": session.launch})
        identifier = client.app._app._app.state.workspace.identifier(folder / "run")
        yield client, f"/run/{identifier}", session


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[tuple[str, Session]]:
    """Serve the app for a folder on a port of this machine: its address, and the session that opens it."""
    import uvicorn

    from glasshouse.app.server import ADDRESS, application, listener

    session, listening = Session(), listener(port)
    host = f"{ADDRESS}:{listening.getsockname()[1]}"
    screens: Any = application([folder], hosts=(host,), session=session)
    server = uvicorn.Server(uvicorn.Config(screens, log_config=None, access_log=False))
    running = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    running.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://{host}", session
    finally:
        while screens._app._app.state.jobs._children:  # a job that has ended is noticed soon
            time.sleep(0.1)
        server.should_exit = True
        running.join(20)
        listening.close()
