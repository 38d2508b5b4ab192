"""A first look at a release: what was assumed, what in it names people by itself, and who may be in it twice.

All of it is from a first look at the file and speaks of columns; no value of a record is told but the marks that may
stand for missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from glasshouse.language import number, percentage, printable, quoted, text, text_for, translated
from glasshouse.measures.first_look import FirstLook
from glasshouse.report.page import MOST_ACTIONS, Action, Brief, Finding, Page, Severity, note
from glasshouse.report.words import counted, joined
from glasshouse.table import ColumnProfile

if TYPE_CHECKING:
    pass

MOST_NAMED = 6
"""So many marks that may stand for missing are named."""


def on_page(page: Page, looks: Sequence[FirstLook]) -> Page:
    """Return a page with what was understood of its data: findings first, and what was assumed among the limits."""
    return replace(
        page,
        findings=(*release_findings(looks), *_repetitions(looks), *page.findings),
        actions=(*_leave_out(looks), *page.actions)[:MOST_ACTIONS],
        limits=(*page.limits, *assumptions(looks)),
    )


def _leave_out(looks: Sequence[FirstLook]) -> Iterator[Action]:
    """Yield that columns which name people are to be left out, before anything else."""
    names = dict.fromkeys(column.name for one in looks for column in one.direct)
    if names:
        yield Action(
            text(
                "Leave out {columns}: with them, the file alone is enough to identify people.",
                columns=quoted(names),
            )
        )


def in_brief(brief: Brief, looks: Sequence[FirstLook]) -> Brief:
    """Return what a terminal says with what was understood of the data; who repeats was said before."""
    first, *blocks = brief.blocks
    assumed = " ".join(assumptions(looks))
    return replace(
        brief,
        blocks=(first, *([assumed] if assumed else []), *blocks),
        findings=(*release_findings(looks), *brief.findings),
    )


def assumptions(looks: Sequence[FirstLook]) -> tuple[str, ...]:
    """Say what was assumed in reading files, each with the option that says otherwise; alike files together."""
    files: dict[tuple[str, ...], list[str]] = {}
    for one in looks:
        phrases = tuple(assumed_of(one))
        if phrases:
            files.setdefault(phrases, []).append(one.name)
    return tuple(
        text("Assumed of {files}: {assumed}.", files=joined(names), assumed="; ".join(phrases))
        for phrases, names in files.items()
    )


def assumed_of(one: FirstLook) -> Iterator[str]:
    """Yield what was assumed in reading a file, in phrases, each with the option that says otherwise."""
    if one.separator is not None:
        sign = text("a tabulator") if one.separator == "\t" else f"“{printable(one.separator)}”"
        yield text("{separator} stands between fields (--separator)", separator=sign)
    if one.encoding is not None:
        yield text(
            "its letters are written as {encoding} (--encoding)", encoding=printable(one.encoding)
        )
    if one.has_header and one.first_is_record:
        yield text("its first line holds names, though it looks like a record (--no-header)")
    elif one.has_header:
        yield text("its first line holds names (--no-header)")
    if one.skipped:
        yield text_for(
            one.skipped,
            "{count} line before the header is not part of the table (--skip)",
            "{count} lines before the header are not part of the table (--skip)",
        )
    if one.renamed:
        yield text(
            "columns without a name, or with the same as another, are called {names} (--names)",
            names=quoted(one.renamed),
        )
    if one.decimal is not None:
        yield text("“{sign}” stands before decimals (--decimal)", sign=one.decimal)
    marks = [
        text("{value} in {column}", value=quoted([value]), column=quoted([column.name]))
        for column in one.columns
        for value, _ in column.maybe_missing
    ]
    if marks:
        rest = len(marks) - MOST_NAMED
        more = [text_for(rest, "{count} further", "{count} further")] if rest > 0 else []
        yield text_for(
            len(marks),
            "{values} is a value like others, and not missing (--missing)",
            "{values} are values like others, and not missing (--missing)",
            values=joined([*marks[:MOST_NAMED], *more]),
        )


def release_findings(looks: Sequence[FirstLook]) -> Iterator[Finding]:
    """Yield what in a release names people by itself, and which columns may."""
    direct = [
        f"{printable(column.name)} ({translated(column.looks_like)})"
        for one in looks
        for column in one.direct
    ]
    looked_at = text(
        "seen in the first {records} records",
        records=max((one.records for one in looks), default=0),
    )
    if direct:
        yield Finding(
            Severity.HIGH,
            text(
                "The file contains direct identifiers: {columns}.",
                columns=joined(list(dict.fromkeys(direct))),
            ),
            looked_at,
            text(
                "Anyone with the file needs to know nothing else. The other figures are about what is left once "
                "these columns are removed."
            ),
            text(
                "Leave them out of what is published, or put random pseudonyms in their place; a hash will not do, "
                "since every number can be tried. A column that is in the file only to tell people apart can be "
                "given as --id, and left out of what is published."
            ),
        )
    texts = [name for one in looks for name in one.free_text]
    if texts:
        yield Finding(
            Severity.MODERATE,
            text(
                "Free text may mention anybody, and no figure here covers it: {columns}.",
                columns=quoted(dict.fromkeys(texts)),
            ),
            looked_at,
            text("What somebody wrote about a person can hold a name, an address or a story."),
            text("Read it, or leave it out of the release."),
        )


def person_sentence(one: FirstLook) -> str:
    """Say that a column looks like a person's identifier and repeats, and what one record of each would give."""
    person = one.person
    if person is None:
        return ""
    return _with_figure(
        one,
        text(
            'Column "{name}" looks like a person\'s identifier, and {repeats} of the first {records} repeat '
            "one. Several records of one person hide each other, so the risk seems smaller than it is: --person "
            "shows what someone who knows several records of one person learns, and with --id each person counts "
            "once.",
            name=printable(person.name),
            repeats=text_for(person.repeats, "{count} record", "{count} records"),
            records=number(person.records),
        ),
    )


def owner_sentence(column: ColumnProfile | None) -> str:
    """Say that a column may tell whose a record is, and how people are counted then; nothing: there is none."""
    if column is None:
        return ""
    return text(
        'Column "{name}" repeats: if it says whose a record is, --person {name} shows what someone who '
        "knows several records of one person learns.",
        name=printable(column.name),
    )


def _with_figure(one: FirstLook, sentence: str) -> str:
    """Add what counting everybody once would give, where that was counted."""
    attack = one.one_each
    if attack is None:
        return sentence
    return f"{sentence} " + text(
        "Then {certain} of {people} can be identified with certainty, and a guess is right in {share} of "
        "cases.",
        certain=number(attack.certain),
        people=counted(attack.records, "person"),
        share=percentage(attack.probabilistic.posterior),
    )


def repeated_sentence(one: FirstLook) -> str:
    """Say that a few records are the same as others in every column; nothing where that may well be chance."""
    if not one.seems_repeated:
        return ""
    return _with_figure(
        one,
        text_for(
            one.repeated,
            "{count} of the first {records} records of {name} is the same as another in every column: if they "
            "belong to one person, there are fewer people than records, and the risk seems smaller than it is.",
            "{count} of the first {records} records of {name} are the same as others in every column: if they "
            "belong to the same people, there are fewer people than records, and the risk seems smaller than it "
            "is.",
            records=number(one.records),
            name=one.name,
        ),
    )


def _repetitions(looks: Sequence[FirstLook]) -> Iterator[Finding]:
    """Yield who may be counted several times."""
    from glasshouse.report.attacks import exact_figure  # which draws: only a page needs it
    from glasshouse.report.severity import graded

    for one in looks:
        attack = one.one_each
        sentence = person_sentence(one) or repeated_sentence(one)
        if one.owner is not None:
            yield note(owner_sentence(one.owner))
        if sentence and attack is None:
            yield note(sentence)
        elif sentence and attack is not None:
            grade = graded(attack.probabilistic.posterior, certain=attack.certain > 0)
            yield Finding(grade, sentence, exact_figure(attack))
