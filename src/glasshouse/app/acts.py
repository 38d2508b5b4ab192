"""Acting where one reads: advice is tried or made, a run is asked again or changed, its form is taken along.

What a report advises is a sentence and a command. The command is not carried out as it stands there, as a run folder
may come from elsewhere: it is made again of the study of the run, and only where both are the same is there a button.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.guard import form_of
from glasshouse.app.runs import download, opened, release_name
from glasshouse.app.server import see
from glasshouse.app.workspace import AppWorkspace, OpenRun
from glasshouse.errors import DataError, StudyError
from glasshouse.language import LANGUAGES, spoken, text

if TYPE_CHECKING:
    from glasshouse.report.page import Action
    from glasshouse.study import Question

PATH = 2
"""The place of the file in a command, which is told from where it was typed."""
FORMS = {"dpia": "GDPR", "ripd": "LGPD"}
"""The forms of `glasshouse.report.form.LAWS`, and whose law asks for them."""
FORM_KINDS = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
}


@dataclass(frozen=True)
class Act:
    """Something that can be done where it is read."""

    label: str
    """What a button says."""
    address: str
    """Where it leads, or what is posted to."""
    entry: str = ""
    """What is posted with it; empty: it is a link."""
    is_download: bool = False
    """Whether it hands out a file."""


@dataclass(frozen=True)
class Advised:
    """What an action of a report asks for, as far as it can be done here."""

    kind: str
    """``publish`` (some columns only), ``generalise`` (by the rule), or ``protect`` (versions to choose from)."""
    kept: tuple[str, ...] = ()
    """The columns that can be known and stay."""


def advised_by(action: Action, question: Question | None) -> Advised | None:
    """Return what an action asks for; None: nothing that the app does, or nothing that the study of the run says."""
    from glasshouse.microdata.assessment import Advice
    from glasshouse.report.assess.front import command_of, protect_command
    from glasshouse.study import ReleaseStudy
    from glasshouse.study.assess import AssessStudy

    words = _words(action.command)
    if not isinstance(question, ReleaseStudy) or len(words) <= PATH:
        return None
    if words[1] == "protect":
        return Advised("protect") if _same(words, protect_command(question)) else None
    if words[1] != "anonymise" or not isinstance(question, AssessStudy):
        return None
    kept = tuple(after for word, after in pairwise(words) if word == "-q")
    for kind in ("publish", "generalise"):
        advice = Advice(kind, kept, (), None, Fraction(0), Fraction(0), meets=None)
        if _same(words, command_of(advice, question)):
            return Advised(kind, kept)
    return None


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _same(words: list[str], command: str) -> bool:
    """Tell whether a command is that of some words, but for where the file is."""
    ours = _words(command)
    return words[:PATH] == ours[:PATH] and words[PATH + 1 :] == ours[PATH + 1 :]


def acts_of(run: OpenRun) -> list[list[Act]]:
    """Return what can be done about each action of a run's report."""
    base = f"/run/{run.identifier}"
    acts = []
    for place, action in enumerate(run.page.actions):
        advised = advised_by(action, run.question) if action.command else None
        act = []
        if advised is not None and advised.kind == "publish":
            act.append(Act(text("Try it"), f"{base}/what-if?{_leaving(run.question, advised)}"))
        if advised is not None and advised.kind == "protect":
            act += [
                Act(text("Try it by hand"), f"{base}/what-if"),
                Act(text("Find the best for my rule"), f"{base}/what-if/best", "yes"),
            ]
        elif advised is not None:
            act.append(Act(text("Make this file"), f"{base}/make", str(place)))
        acts.append(act)
    return acts


def _leaving(question: Any, advised: Advised) -> str:
    """Return the address of what is tried where some columns are left out."""
    adversary = question.adversary
    columns = (*adversary.quasi_identifiers, *adversary.fact_columns)
    return urlencode([("leave", name) for name in columns if name not in advised.kept])


def tools_of(run: OpenRun, *, is_stale: bool) -> list[Act]:
    """Return what can be done with a run as a whole, the best first."""
    base, decision = f"/run/{run.identifier}", run.page.ruling and run.page.ruling.decision.value
    report = Act(text("The report"), f"{base}/report.html?language={spoken()}", is_download=True)
    tools = []
    release = release_name(run) or (run.command == "protect" and _best_version(run) is not None)
    if release and decision == "meets":
        tools.append(Act(text("The release"), f"{base}/release", is_download=True))
    has_what_if = run.command == "assess" and _is_of_records(run.question)
    if has_what_if and decision != "meets":
        advised = [one for group in acts_of(run) for one in group if "leave=" in one.address]
        tools.append(
            Act(text("Try what helps"), (advised or [Act("", f"{base}/what-if")])[0].address)
        )
    tools.append(report)
    if run.question is not None and run.command in ("assess", "anonymise"):
        law = "ripd" if spoken() == "pt-BR" else "dpia"
        label = text("The form ({law})", law=FORMS[law])
        tools.append(Act(label, f"{base}/form/{law}.docx", is_download=True))
    if run.command == "assess" and run.question is not None:
        tools.append(Act(text("Ask again, changed"), f"{base}/change", "yes"))
    elif run.question is not None and not is_stale:
        tools.append(Act(text("Ask again"), f"{base}/again", "yes"))
    return tools


def _is_of_records(question: Any) -> bool:
    if question is None or question.person or question.trained_on:
        return False
    return len(question.datasets) == 1


def _best_version(run: OpenRun) -> Path | None:
    """Return the folder of the version to take; None: there is none."""
    name = str(run.manifest.get("recommended") or "")
    folder = run.folder / "versions" / name
    is_inside = bool(name) and "/" not in name and folder.is_dir() and not folder.is_symlink()
    return folder if is_inside else None


def _again(request: Request) -> Response:
    """Ask the question of a run again, of the data as they are now."""
    from glasshouse.app.what_if import submitted

    run = opened(request)
    if run.question is None:
        raise StudyError("this run did not keep its study; it cannot be asked again")
    name = run.title
    return submitted(request, run, run.question, text("Again: {name}", name=name), run.page.command)


def _change(request: Request) -> Response:
    """Begin a draft with the question of a run."""
    from glasshouse.app.drafts import draft_from, keep_draft, left_aside

    workspace: AppWorkspace = request.app.state.workspace
    question = opened(request).question
    draft = draft_from(workspace, question)
    keep_draft(workspace, replace(draft, aside=tuple(left_aside(workspace, draft, question))))
    return see(f"/draft/{draft.identifier}/adversary")


def _make(request: Request) -> Response:
    """Make the file that an action of the report asks for."""
    from glasshouse.app.what_if import submitted
    from glasshouse.study import ReleaseStudy, validated
    from glasshouse.study.anonymise import AnonymiseStudy, method_of, release_content
    from glasshouse.study.policy import promise_of

    run = opened(request)
    place = form_of(request).get("act")
    actions = run.page.actions
    action = (
        actions[int(place)] if re.fullmatch("[0-9]", place) and int(place) < len(actions) else None
    )
    advised = None if action is None else advised_by(action, run.question)
    question = run.question
    if action is None or advised is None or not isinstance(question, ReleaseStudy):
        raise StudyError("this run advises nothing that can be made here; use its command")
    promise = {"k": 1} if advised.kind == "publish" else promise_of(question.policy)
    content = release_content(question)
    content["adversary"] |= {"quasi_identifiers": advised.kept}
    method = (
        {} if "method" in promise else {"method": method_of(k=promise.get("k"), l=promise.get("l"))}
    )
    study = validated(AnonymiseStudy, {**content, "protection": promise | method}, "make")
    title = text("The advised file of {name}", name=question.datasets[0].place.name)
    return submitted(request, run, study, title, action.command)


def _form(request: Request) -> Response:
    """Return the form that a law asks for, of a run."""
    from glasshouse.runs.folder import write_form

    run = opened(request)
    law, _, kind = request.path_params["name"].partition(".")
    if law not in FORMS or kind not in FORM_KINDS:
        raise DataError("there is no such form")
    language = request.query_params.get("language", "")
    with TemporaryDirectory(prefix="glasshouse-form-") as place:
        write_form(law, [run.folder], Path(place), language if language in LANGUAGES else spoken())
        body = (Path(place) / f"{law}.{kind}").read_bytes()
    return download(body, FORM_KINDS[kind], f"{run.folder.name}-{law}.{kind}")


routes = [
    Route("/run/{identifier}/again", _again, methods=["POST"]),
    Route("/run/{identifier}/change", _change, methods=["POST"]),
    Route("/run/{identifier}/make", _make, methods=["POST"]),
    Route("/run/{identifier}/form/{name}", _form),
]
