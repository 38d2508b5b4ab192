"""The ledger: an output is dropped, held against what went out before, and accepted or refused."""

from __future__ import annotations

import shlex
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glasshouse.app.guard import Form, form_of
from glasshouse.app.looks import in_fields
from glasshouse.app.questions import POSITIONAL, TABLES, AskedEntry
from glasshouse.app.runs import download
from glasshouse.app.server import page, see
from glasshouse.app.workspace import CHAIN, LEDGER, AppWorkspace
from glasshouse.errors import GlasshouseError
from glasshouse.language import date, marked, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.runs.ledger import Ledger, OutputCheck

ENTRIES = (
    AskedEntry("output", "output", says=marked("The output"), option=POSITIONAL),
    AskedEntry("name", says=marked("What it is called, if not as its file")),
    AskedEntry("cohort", says=marked("The people that it is of, if not all")),
    AskedEntry("people", "number", TABLES),
    AskedEntry("suppressed", "pair", "tables.PublishedTable"),
    AskedEntry("totals", "choice", "tables.PublishedTable"),
    AskedEntry("rare", "number", TABLES),
    AskedEntry("seen", "columns", says=marked("Parts that cannot be checked and you looked at")),
)
"""What is asked of an output, as `glasshouse check --ledger` does."""
SECONDS = 30.0
"""So many CPU seconds a check may take; what is not proved by then does not pass."""


def _places(workspace: AppWorkspace) -> dict[str, tuple[str, Path]]:
    """Return the ledgers in the given folders, by identifier: what each is called, and where; the app's first."""
    home = workspace.home / LEDGER
    others = [entry.path.parent for entry in workspace.entries() if entry.path.name == CHAIN]
    return {
        workspace.identifier(place): (
            text("the ledger of the app") if place == home else place.name,
            place,
        )
        for place in dict.fromkeys((home, *others))
    }


def _page(request: Request) -> Response:
    """Show what went out, and what follows of the output that is asked about; keep it if it passes."""
    from glasshouse.runs.ledger import Ledger

    workspace: AppWorkspace = request.app.state.workspace
    is_change = request.method == "POST"
    form = form_of(request) if is_change else Form(list(request.query_params.multi_items()))
    uploaded = form.files.get("file")
    if uploaded:
        kept = {"ledger", *(one.name for one in ENTRIES)} - {"output"}
        said = [entry for entry in form.entries if entry[0] in kept]
        output = workspace.keep(*uploaded).identifier
        return see(f"/ledger?{urlencode([*said, ('output', output)])}")
    places = _places(workspace)
    chosen = form.get("ledger") if form.get("ledger") in places else next(iter(places))
    ledger = Ledger(places[chosen][1])
    context: dict[str, Any] = {
        "trouble": "",
        "brief": None,
        "passes": False,
        "accepted": False,
        "reasons": "",
        "words": [],
    }
    if form.get("output"):
        try:
            answers = {one.name: one.answer(workspace, form) for one in ENTRIES}
            context["words"] = [word for one in ENTRIES for word in one.typed(answers[one.name])]
            context |= _checked(
                ledger, answers, accepting=is_change and form.get("accept") == "yes"
            )
        except GlasshouseError as error:
            context["trouble"] = in_fields(workspace.without_paths(str(error)))
    if context["reasons"] and form.get("reasons") == "yes":
        return download(context["reasons"].encode(), "application/json", "reasons.json")
    words = ["glasshouse", "check", *context.pop("words"), "--ledger", places[chosen][1].name]
    return page(
        request,
        "ledger.html",
        status=422 if context["trouble"] else 200,
        **context,
        title=text("What went out before, and what may follow"),
        places={identifier: name for identifier, (name, _) in places.items()},
        chosen=chosen,
        fields=[(one, one.offered(workspace), form.getlist(one.name)) for one in ENTRIES],
        entries=form.entries,
        ledger=[entry for entry in ledger.entries if entry.is_output],
        withdrawn=ledger.withdrawn,
        head=ledger.head,
        day=lambda written: date(datetime.fromisoformat(written).date()),
        command=shlex.join(words) if form.get("output") else "glasshouse ledger list released",
    )


def _checked(ledger: Ledger, answers: Mapping[str, Any], *, accepting: bool) -> dict[str, Any]:
    """Check an output against a ledger, and add it where it is to be added and passes."""
    from glasshouse.report.ledger import brief
    from glasshouse.study.policy import OUTPUTS

    (entry,) = answers["output"]
    tables = {name: answers[name] for name in ("suppressed", "totals") if answers[name] is not None}
    output = ledger.read(
        entry.path,
        name=answers["name"],
        cohort=answers["cohort"],
        tables=tables,
        people=answers["people"],
    )

    def is_passed(checked: OutputCheck) -> bool:
        return checked.passes(OUTPUTS)

    limits = {"rare": answers["rare"], "seconds": SECONDS, "seen": answers["seen"] or ()}
    checked = (
        ledger.add(output, source=entry.path, only_if=is_passed, **limits)
        if accepting
        else ledger.check(output, **limits)
    )
    said = brief(
        checked.answer,
        checked.advice,
        checked.judged(OUTPUTS),
        left_out=checked.unchecked,
        earlier_left_out=checked.earlier_left_out,
        margins_of_shown=checked.margins_of_shown,
    )
    passes = is_passed(checked)
    return {
        "brief": said,
        "passes": passes,
        "accepted": accepting and passes,
        "reasons": checked.file_of_reasons() if checked.answer.reasons else "",
    }


routes = [Route("/ledger", _page, methods=["GET", "POST"])]
