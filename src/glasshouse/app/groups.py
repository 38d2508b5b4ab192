"""Time and groups: what a run says of its years or parts, and how to ask for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.guard import form_of
from glasshouse.app.looks import look_at
from glasshouse.app.runs import changes, listed, opened, pictures
from glasshouse.app.server import page
from glasshouse.app.work import submit_study
from glasshouse.app.workspace import AppWorkspace, OpenRun
from glasshouse.errors import StudyError
from glasshouse.language import text

if TYPE_CHECKING:
    from glasshouse.study.assess import AssessStudy

MOST_PARTS = 60
"""A column with more values than this makes no groups that could be looked at."""


def _groups(request: Request) -> Response:
    from glasshouse.report.html import template_context
    from glasshouse.study.assess import AssessStudy

    workspace: AppWorkspace = request.app.state.workspace
    run = opened(request)
    question = run.question
    if not isinstance(question, AssessStudy):
        raise StudyError("only a run of assess has groups")
    if request.method == "POST":
        return _ask(request, run, question)
    has_groups = question.by is not None or len(question.datasets) > 1
    columns = [] if has_groups else _columns(workspace, question)
    return page(
        request,
        "groups.html",
        **template_context(run.page) | {"pictures": pictures},
        title=text("Time and groups"),
        run=run,
        here="groups",
        changes=changes(request, run),
        has_groups=has_groups,
        columns=[(name, listed([name])) for name in columns],
        command=_command(run, question, columns[0] if columns else ""),
    )


def _columns(workspace: AppWorkspace, question: AssessStudy) -> list[str]:
    """Return the columns that divide people into few groups."""
    path = question.datasets[0].path
    if not isinstance(path, Path):
        return []
    dialect = question.datasets[0].dialect
    look = look_at(workspace.entry(workspace.identifier(path)), dialect)
    return [column.name for column in look.profile.columns if 2 <= column.distinct <= MOST_PARTS]


def _ask(request: Request, run: OpenRun, question: AssessStudy) -> Response:
    """Ask the same of each value of a column."""
    from glasshouse.study.assess import AssessStudy

    column = form_of(request).get("by")
    if column not in _columns(request.app.state.workspace, question):
        raise StudyError("choose a column")
    study = AssessStudy.model_validate(question.model_dump() | {"by": column})
    return submit_study(
        request,
        study,
        title=text("{name}, by {column}", name=run.name, column=column),
        name=f"{run.folder.name}-by-{column}",
        command=_command(run, question, column),
    )


def _command(run: OpenRun, question: AssessStudy, column: str) -> str:
    """Return the command that asks the same by a column; of a run that has groups, the one that asked for them."""
    from glasshouse.report.assess.front import question_command

    if not column:
        return question_command(question, run.folder.name)
    study = question.model_copy(update={"by": column})
    return question_command(study, f"{run.folder.name}-by-{column}")


routes = [Route("/run/{identifier}/groups", _groups, methods=["GET", "POST"])]
