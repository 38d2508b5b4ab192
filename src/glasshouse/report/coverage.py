"""How it is said what a verdict covers: the columns of a release by their fate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from glasshouse.language import marked, printable, quoted, text, text_for, translated
from glasshouse.measures.coverage import OUTSIDE, Coverage, CoveredColumn, Fate
from glasshouse.report.page import ColumnsAlike
from glasshouse.report.words import enumeration, joined

MOST_NAMED = 12
"""So many columns of one fate are named."""


_SENTENCES = {
    Fate.UNSEEN: marked("Not looked at: {columns}. Say what each is: -q, -s, --drop or --ignore."),
    Fate.KNOWN: marked("Assumed known to the adversary: {columns}."),
    Fate.SENSITIVE: marked("What she wants to learn: {columns}."),
    Fate.DIRECT: marked("Identifying people by themselves: {columns}."),
    Fate.PERSON: marked("Taken to say whose a record is: {columns}."),
    Fate.HOUSEHOLD: marked("Taken to say who lives together: {columns}."),
    Fate.WEIGHT: marked("Taken as a weight: {columns}."),
    Fate.CONSTANT: marked("The same in all records: {columns}."),
    Fate.DROPPED: marked("Not in the release: {columns}."),
    Fate.DISMISSED: marked(
        "Not looked at, as whoever ran this dismissed it (--ignore): {columns}."
    ),
    Fate.DISMISSED_BY_RULE: marked("Not looked at, as the rule dismisses it: {columns}."),
}
_NOT_LOOKED_AT = {Fate.UNSEEN, Fate.DISMISSED, Fate.DISMISSED_BY_RULE}


def coverage_sentences(coverage: Coverage) -> Iterator[str]:
    """Yield what was looked at, what is not in the release, and what was not looked at, or that everything was."""
    yield from (alike.sentence for alike in columns_alike(coverage))
    fates = {column.fate for column in coverage.columns}
    if fates & _NOT_LOOKED_AT:
        return
    if Fate.DROPPED in fates:
        yield text("Every other column was looked at.")
    else:
        yield text("Every column was looked at.")


def columns_alike(coverage: Coverage) -> Iterator[ColumnsAlike]:
    """Yield the columns by what became of them, each with its sentence."""
    for fate, sentence in _SENTENCES.items():
        columns = [column for column in coverage.columns if column.fate is fate]
        if columns:
            yield ColumnsAlike(
                fate.value,
                len(columns),
                translated(sentence, columns=_named(columns)),
                is_judged=fate not in {*OUTSIDE, Fate.UNSEEN},
            )


def secrets_sentence(secrets: Iterable[str]) -> str:
    """Say which columns an adversary wants to learn, where nothing else is known of the columns."""
    return translated(_SENTENCES[Fate.SENSITIVE], columns=printable(enumeration(list(secrets))))


def _named(columns: list[CoveredColumn]) -> str:
    """Return what columns are called, with what names people in brackets; of many the first, and how many more.

    What was not looked at has the name that is to be typed, between quotation marks.
    """
    names = [
        f"{called} ({translated(column.direct)})" if column.direct else called
        for column in columns[:MOST_NAMED]
        for called in [
            quoted([printable(column.name)])
            if column.fate is Fate.UNSEEN
            else printable(enumeration([column.name]))
        ]
    ]
    rest = len(columns) - MOST_NAMED
    return joined(
        [*names, *([text_for(rest, "{count} further", "{count} further")] if rest > 0 else [])]
    )


def unknown_coverage() -> str:
    """Say that it is not known which columns of a release were looked at."""
    return text("Which columns of the release were looked at is not known.")
