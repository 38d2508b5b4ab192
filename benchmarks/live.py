"""The app's live screens: the CPU of a chip's answer with 2,047 sets, and of a slider's with 100,000 records.

Promises: at most 0.05 CPU seconds for a chip, and at most 1 for a slider, on average, the page and who asks for it
included. Beside them stands reading the 100,000 records anew, which a slider does not do.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from starlette.testclient import TestClient

from glasshouse import synthetic
from glasshouse.app.guard import Session
from glasshouse.app.server import application
from glasshouse.runs import run
from glasshouse.runs.run import write_run
from glasshouse.study import validated
from glasshouse.study.assess import AssessStudy
from glasshouse.table import read
from measure import cpu_seconds

CHIP, SLIDER = 0.05, 1.0
STUDENTS, PEOPLE = 20_000, 100_000
CHIPS, MOVES = 20, 8
COLUMNS = {"age": 100, "zip": 999, "sex": 2, "city": 300, "job": 50, "degree": 12, "children": 6}
HOST = "127.0.0.1:8000"


def write_people(path: Path) -> list[str]:
    """Write random people with eight columns that can be known, and one secret."""
    draw = np.random.default_rng(1)
    columns = {name: draw.integers(0, values, PEOPLE) for name, values in COLUMNS.items()}
    columns["income"] = draw.integers(0, 3000, PEOPLE) * 10
    known = list(columns)
    columns["illness"] = draw.integers(0, 20, PEOPLE)
    pyarrow.csv.write_csv(pa.table(columns), path)
    return known


def assessed(folder: Path, data: Path, known: list[str], secrets: list[str], subsets: str) -> None:
    """Assess a file, and keep the run."""
    content = {
        "datasets": [{"path": data}],
        "adversary": {"quasi_identifiers": known, "sensitive": secrets},
        "subsets": [subsets],
    }
    write_run(run(validated(AssessStudy, content, "assess")), folder)


def opened(folder: Path) -> tuple[TestClient, Any]:
    """Return a browser that has entered the app, and what names a run there."""
    session = Session()
    app: Any = application([folder], hosts=(HOST,), session=session)
    client = TestClient(app, base_url=f"http://{HOST}")
    client.get("/enter", params={"token": session.launch}).raise_for_status()
    return client, app._app._app.state.workspace.identifier


def main() -> bool:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        census = synthetic.generator("school-census")
        synthetic.write("school-census", records=STUDENTS, seed=1, path=folder / "students.csv")
        attributes, secrets = list(census.quasi_identifiers), list(census.sensitive)
        assessed(folder / "sets", folder / "students.csv", attributes, secrets, "all")
        known = write_people(folder / "people.csv")
        assessed(folder / "people", folder / "people.csv", known, ["illness"], "full")
        client, identifier = opened(folder)
        chips, sliders = count(1), count(1)

        def tick() -> None:
            for _ in range(CHIPS):
                mask = next(chips) * 211 % (2 ** len(attributes) - 1) + 1
                places = [place for place in range(len(attributes)) if mask >> place & 1]
                address = f"/run/{identifier(folder / 'sets')}/explore"
                client.get(address, params={"know": places}).raise_for_status()

        def move() -> None:
            for _ in range(MOVES):
                number = next(
                    sliders
                )  # another place each time, so that nothing was measured before
                columns = f"0.{number % 5}-1.{number // 5 % 3}-3.{number % 3}-7.{number % 4}"
                address = f"/run/{identifier(folder / 'people')}/what-if"
                entries = {"moves": f"{columns}-k.{2 + number}-r.1000"}
                client.get(address, params=entries).raise_for_status()

        anew = cpu_seconds(lambda: read(folder / "people.csv", quasi_identifiers=known), repeats=2)
        ticked = cpu_seconds(tick, repeats=3) / CHIPS
        moved = cpu_seconds(move, repeats=2) / MOVES
    holds = {True: "holds", False: "BROKEN"}
    print(
        f"a chip's answer, {2 ** len(attributes) - 1:,} sets: {ticked:.3f} CPU s (promised: at most {CHIP:g}) "
        f"{holds[ticked <= CHIP]}"
    )
    print(
        f"a slider's answer, {PEOPLE:,} records of {len(known)} columns: {moved:.3f} CPU s "
        f"(promised: at most {SLIDER:g}) {holds[moved <= SLIDER]}; reading them anew: {anew:.3f} CPU s"
    )
    return ticked <= CHIP and moved <= SLIDER


if __name__ == "__main__":
    sys.exit(not main())
