"""What was found: in sentences, in a picture, in exact figures. Handed aggregates only.

Every command has a folder of its word here, and in it a module ``page`` that makes of an outcome the two things that
are ever shown: a `Page` (a report; HTML, JSON, PDF and a notebook are forms of it) and a `Brief` (the terminal's).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from glasshouse.language import printable, spoken, text
from glasshouse.measures import measures
from glasshouse.measures.first_look import FirstLook
from glasshouse.measures.verdict import Decision, Verdict, verdict_on
from glasshouse.report.first_look import in_brief, on_page
from glasshouse.report.page import (
    MOST_ACTIONS,
    Action,
    Brief,
    Finding,
    Page,
    Provenance,
    Ruling,
    Severity,
    keep_assumptions,
    look_at_conditions,
    ranked,
    remedies,
)
from glasshouse.report.verdict import ruling
from glasshouse.study.question import datasets_of

if TYPE_CHECKING:
    from glasshouse.study import Question
    from glasshouse.table import Labels

__all__ = [
    "Brief",
    "Finding",
    "Page",
    "Provenance",
    "Severity",
    "brief_of",
    "labelled_by",
    "notes_of",
    "page_of",
    "ranked",
]


JUDGED = frozenset({"assess", "anonymise", "protect", "compare"})
"""The commands that judge a release; the others tell what they measured of it."""


def page_of(
    outcome: object,
    question: Question,
    *,
    provenance: Provenance,
    labels: Labels | None = None,
    verdict: Verdict | None = None,
    looks: Sequence[FirstLook] = (),
) -> Page:
    """Return the report of an outcome, in the language that is spoken.

    Args:
        outcome: What came out.
        question: What was asked; its command says how the outcome is told.
        provenance: Where the figures come from.
        labels: What the files call their columns and values; those of the question come first.
        verdict: What the policy says; None: by what the outcome alone measures.
        looks: How the files of a release were understood, where that belongs to the answer.
    """
    with labelled_by(question, labels):
        page: Page = _teller(question).page(
            outcome, question, provenance=provenance, **_judged(question, verdict)
        )
    ruling = _ruling(outcome, question, labels, verdict)
    actions = page.actions or remedies(page.findings)[:MOST_ACTIONS]
    if ruling is not None and ruling.is_of_part:
        actions = (_judge_whole(question), *actions)[:MOST_ACTIONS]
    elif not actions and ruling is not None and ruling.decision != Decision.MEETS:
        actions = (look_at_conditions(ruling),)
    actions = actions or (keep_assumptions(),)
    page = replace(
        page,
        title=page.title if question.title is None else printable(question.title),
        ruling=ruling,
        actions=actions,
    )
    return on_page(page, looks) if looks else page


def _judge_whole(question: Question) -> Action:
    """Return what comes first where a part of a rule was measured, and is met: to have all of the file judged."""
    files = [dataset.path for dataset in datasets_of(question)]
    command = shlex.join(["glasshouse", "check", str(files[0])]) if files else ""
    return Action(text("Have the whole file judged before it goes out."), command=command)


def brief_of(
    outcome: object,
    question: Question,
    *,
    labels: Labels | None = None,
    verdict: Verdict | None = None,
    looks: Sequence[FirstLook] = (),
) -> Brief:
    """Return what a terminal says of an outcome, in the language that is spoken."""
    with labelled_by(question, labels):
        brief: Brief = _teller(question).brief(outcome, question, **_judged(question, verdict))
    brief = replace(brief, ruling=_ruling(outcome, question, labels, verdict, whole=True))
    return in_brief(brief, looks) if looks else brief


def notes_of(outcome: object, question: Question, looks: Sequence[FirstLook]) -> tuple[str, ...]:
    """Return what to know of an outcome in whatever form it is told, in the language that is spoken."""
    if question.command != "assess":
        return ()
    return tuple(import_module("glasshouse.report.assess.notes").notes(outcome, question, looks))


def _judged(question: Question, verdict: Verdict | None) -> dict[str, Verdict | None]:
    """Return the verdict for the page of a release, which says what to do by it."""
    return {"verdict": verdict} if question.command in JUDGED else {}


def _ruling(
    outcome: object,
    question: Question,
    labels: Labels | None,
    verdict: Verdict | None,
    *,
    whole: bool = False,
) -> Ruling | None:
    if verdict is None:
        verdict = verdict_on(measures(outcome, question), question.policy)
    with labelled_by(question, labels):
        return None if verdict is None else ruling(verdict, whole=whole)


def labelled_by(question: Question, labels: Labels | None) -> AbstractContextManager[None]:
    """Call columns and values as the question does in the language that is spoken, or else the files."""
    from glasshouse.report.labels import labelled
    from glasshouse.table import Labels

    return labelled((labels or Labels()) | Labels(question.labels.get(spoken(), {})))


def _teller(question: Question) -> Any:
    """Return the module that tells what a command found; importing it takes long, so it waits until it is needed."""
    return import_module(f"glasshouse.report.{question.command}.page")
