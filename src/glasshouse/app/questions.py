"""Further questions: runs side by side, what an anonymised table tells, totals, and what would deter an adversary."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.drafts import submit_study
from glasshouse.app.guard import Form, form_of
from glasshouse.app.jobs import Jobs
from glasshouse.app.runs import pictures
from glasshouse.app.server import page, see
from glasshouse.app.workspace import MANIFEST, AppWorkspace, Entry
from glasshouse.errors import StudyError
from glasshouse.language import number, spoken, text

if TYPE_CHECKING:
    from glasshouse.study import Question

SLIDERS: dict[str, tuple[float, float, float, float]] = {
    "access_cost": (0, 10_000, 50, 100),
    "penalty": (0, 100_000, 500, 10_000),
    "detection": (0.5, 50, 0.5, 1),
    "gain": (0, 50_000, 250, 8000),
    "exploit_cost": (0, 1000, 5, 10),
}
"""What can be moved, from where to where, by which steps, and where it begins."""


def _submit(
    request: Request, title: str, name: str, words: list[str], paths: list[Entry], shown: list[str]
) -> Response:
    """Ask the command line for a run of some files or runs."""
    workspace: AppWorkspace = request.app.state.workspace
    jobs: Jobs = request.app.state.jobs
    workspace.check_inside(entry.path for entry in paths)
    out = workspace.new_run(name)
    places = [str(entry.path) for entry in paths]
    job = jobs.submit(
        title,
        [*words, *places, "--out", str(out), "--lang", spoken()],
        out=out,
        shown_command=shlex.join(["glasshouse", *words, *shown, "--out", "run"]),
    )
    return see(f"/job/{job.identifier}")


def _compare(request: Request) -> Response:
    workspace: AppWorkspace = request.app.state.workspace
    ticked, trouble = [], ""
    if request.method == "POST":
        ticked = form_of(request).getlist("run")
        chosen = [workspace.entry(one) for one in ticked]
        trouble = _incomparable(workspace, chosen)
        if not trouble:
            return _submit(
                request,
                text("Comparing {count} runs", count=len(chosen)),
                "compared",
                ["compare"],
                chosen,
                [entry.path.name for entry in chosen],
            )
    return page(
        request,
        "compare.html",
        status=422 if trouble else 200,
        title=text("Runs side by side"),
        trouble=trouble,
        ticked=ticked,
        runs=[
            one
            for one in workspace.summaries()
            if (one.entry.path / MANIFEST).exists()  # what has none tells a story of several
            and not one.is_damaged
        ],
        command="glasshouse compare run2018 run2019 --out changes",
    )


def _incomparable(workspace: AppWorkspace, chosen: list[Entry]) -> str:
    """Say why runs cannot be compared; nothing where they can."""
    if len(chosen) < 2:
        return text("Choose two runs or more to compare.")
    commands = {workspace.run(entry.identifier).command for entry in chosen}
    if len(commands) > 1:
        return text(
            "Only runs of the same command can be compared; these are of {commands}.",
            commands=", ".join(sorted(commands)),
        )
    return ""


def _threat(request: Request) -> Response:
    workspace: AppWorkspace = request.app.state.workspace
    if request.method == "POST":
        entry = workspace.entry(form_of(request).get("run"))
        name = entry.path.name
        return _submit(
            request,
            text("What {name} reveals about a person", name=name),
            f"threat-{name}",
            ["threat"],
            [entry],
            [name],
        )
    releases = [entry for entry in workspace.runs() if _makes_release(entry)]
    return page(
        request,
        "threat.html",
        title=text("What an anonymised table reveals"),
        runs=[workspace.summary(entry) for entry in releases],
        command="glasshouse threat protected --out run",
    )


def _makes_release(entry: Entry) -> bool:
    """Tell whether a run wrote a release of its own."""
    from glasshouse.errors import DataError
    from glasshouse.runs.folder import stored_release

    try:
        stored_release(entry.path)
    except (DataError, RecursionError):  # a manifest may be of any form
        return False
    return True


def _totals(request: Request) -> Response:
    workspace: AppWorkspace = request.app.state.workspace
    if request.method == "POST":
        return _ask_totals(request, form_of(request))
    return page(
        request,
        "totals.html",
        title=text("Who is behind published totals"),
        plans=workspace.plans(),
        command="glasshouse totals campaign --study plan.toml --out run",
    )


def _ask_totals(request: Request, form: Form) -> Response:
    """Solve an instance, or carry out a plan."""
    from glasshouse.study import load_study
    from glasshouse.study.totals import TotalsStudy

    workspace: AppWorkspace = request.app.state.workspace
    uploaded = form.files.get("file")
    entry = workspace.keep(*uploaded) if uploaded else workspace.entry(form.get("plan"))
    title = text("Totals of {name}", name=entry.path.name)
    if entry.path.suffix.lower() == ".json":
        shown = [entry.path.name]
        return _submit(request, title, "totals", ["totals", "solve"], [entry], shown)
    study = load_study(entry.path)
    if not isinstance(study, TotalsStudy):
        raise StudyError("this is a study of another command; give a plan of totals")
    return _carry_out(request, study, entry, title)


def _carry_out(request: Request, study: Question, entry: Entry, title: str) -> Response:
    """Ask the command line for the run of a study that is there."""
    words = ["totals", "campaign"] if study.command == "totals" else [study.command]
    return submit_study(
        request,
        study,
        title=title,
        name=entry.path.stem,
        command=shlex.join(["glasshouse", *words, "--study", entry.path.name, "--out", "run"]),
    )


def _study(request: Request) -> Response:
    """Carry out a study that is there."""
    from glasshouse.study import load_study

    workspace: AppWorkspace = request.app.state.workspace
    entry = workspace.entry(form_of(request).get("study"))
    return _carry_out(request, load_study(entry.path), entry, entry.name)


def _deter(request: Request) -> Response:
    from glasshouse.report.html import template_context
    from glasshouse.runs import run
    from glasshouse.study import validated
    from glasshouse.study.deter import DeterStudy
    from glasshouse.study.entry import label_of

    form = (
        form_of(request)
        if request.method == "POST"
        else Form(list(request.query_params.multi_items()))
    )
    terms = {name: _moved(form.get(name), name) for name in SLIDERS}
    study = validated(DeterStudy, _asked_terms(terms), "deter")
    command = _deter_command(terms)
    if form.get("keep"):
        return submit_study(
            request, study, title=text("What would deter her"), name="deter", command=command
        )
    answer = run(study).page
    return page(
        request,
        "deter.html",
        **template_context(answer) | {"pictures": pictures},
        title=text("What would deter her"),
        sliders=[
            (
                name,
                label_of(DeterStudy, name),
                low,
                high,
                step,
                terms[name],
                number(terms[name], ",g"),
            )
            for name, (low, high, step, _) in SLIDERS.items()
        ],
        command=command,
    )


def _moved(written: str, name: str) -> float:
    """Return where a slider stands."""
    low, high, _, start = SLIDERS[name]
    if not re.fullmatch(r"\d{1,9}(\.\d{1,6})?", written):
        return float(start)
    return min(max(float(written), low), high)


def _asked_terms(terms: Mapping[str, float]) -> dict[str, Any]:
    """Return the terms as a study has them: the chance of detection by its log-odds, alike for every try."""
    chance = terms["detection"] / 100
    odds = round(math.log(chance / (1 - chance)), 2)
    return {**terms, "detection": (odds, 0.0)}


def _deter_command(terms: Mapping[str, float]) -> str:
    words = ["glasshouse", "deter"]
    for name, amount in _asked_terms(terms).items():
        words.append(f"--{name.replace('_', '-')}")
        words += [f"{one:g}" for one in (amount if isinstance(amount, tuple) else (amount,))]
    return shlex.join([*words, "--out", "run"])


routes = [
    Route("/compare", _compare, methods=["GET", "POST"]),
    Route("/threat", _threat, methods=["GET", "POST"]),
    Route("/totals", _totals, methods=["GET", "POST"]),
    Route("/study", _study, methods=["POST"]),
    Route("/deter", _deter, methods=["GET", "POST"]),
]
