"""A report as data: what it says, shows and proves, in the order in which a reader takes it in.

A capability builds a `Page` from its own outcome, in the language that is spoken; `glasshouse.report.render` makes of
it an HTML file or a PDF, and `glasshouse.report.archive` keeps it. A page holds nothing but texts and the
specifications of pictures, and is made of aggregates: no record can enter it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any

from glasshouse.errors import InternalError
from glasshouse.language import marked, text, text_for, translated
from glasshouse.measures.verdict import Decision
from glasshouse.report.words import in_words

if TYPE_CHECKING:
    pass

_LAST_AUTHOR = re.compile(r"(\w+) and ((?:[A-Z]\w+ )+[0-9]{4})")
"""The last two authors of a reference, and its year."""
_BOUND = re.compile(r"(?<!\()([<>]) (\d[\d.,]*%)")
"""A percentage with a sign instead of a word, which between brackets may stay."""


class Severity(StrEnum):
    """How much a finding should worry, the worst first."""

    HIGH = "high"
    """People are exposed: do not release without doing something about it."""
    MODERATE = "moderate"
    """Some people are, or many a little: decide knowingly."""
    LOW = "low"
    """Little is told."""
    NOTE = "note"
    """What one must know to judge, such as what a protection costs."""
    SAFE = "safe"
    """What is safe, and under which assumptions."""

    @property
    def heading(self) -> str:
        """What stands before the finding."""
        return translated(_SEVERITIES[self])


_SEVERITIES = {
    Severity.HIGH: marked("High risk"),
    Severity.MODERATE: marked("Moderate risk"),
    Severity.LOW: marked("Low risk"),
    Severity.NOTE: marked("To know"),
    Severity.SAFE: marked("Reassuring"),
}


SIGNS = {Decision.STOP: "✗", Decision.RESTRICT: "!", Decision.OPEN: "?", Decision.MEETS: "✓"}
"""The sign of a decision, for those who do not see its colour."""


@dataclass(frozen=True)
class Finding:
    """One thing that was found; it can be understood by itself."""

    severity: Severity
    """How much it should worry."""
    sentence: str
    """The finding in everyday words, with rounded figures."""
    figure: str = ""
    """The exact figure behind it."""
    meaning: str = ""
    """What it means for a person."""
    remedy: str = ""
    """What could be done."""
    chapter: str = ""
    """Which of several reports it is from, where a page tells of several."""
    picture: Figure | None = None
    """The picture that shows it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentence", _BOUND.sub(_bound_in_words, self.sentence))


def _bound_in_words(bound: re.Match[str]) -> str:
    """Return “> 99.9%” as it is read aloud."""
    words = in_words(bound[0])
    before = bound.string[: bound.start()]
    if before.endswith(words.removesuffix(bound[2])):
        return bound[2]  # the sentence has the words already
    begins = not before or before.endswith(". ")
    return words[:1].upper() + words[1:] if begins else words


def note(sentence: str, figure: str = "", meaning: str = "", remedy: str = "") -> Finding:
    """Return a finding that one must know to judge."""
    return Finding(Severity.NOTE, sentence, figure, meaning, remedy)


def reassurance(sentence: str, figure: str = "", meaning: str = "", remedy: str = "") -> Finding:
    """Return a finding of what is safe, and why."""
    return Finding(Severity.SAFE, sentence, figure, meaning, remedy)


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the worst first; those alike, and those of a story, in the order given.

    >>> low, high = Finding(Severity.LOW, "b"), Finding(Severity.HIGH, "a")
    >>> [finding.sentence for finding in ranked([low, high])]
    ['a', 'b']
    """
    order = list(Severity)
    return tuple(sorted(findings, key=lambda one: 0 if one.chapter else order.index(one.severity)))


@dataclass(frozen=True)
class Figure:
    """A picture and what it shows."""

    chart: Mapping[str, Any]
    """The picture, as a Vega-Lite specification with its own data."""
    label: str
    """What it shows, for those who do not see it."""
    caption: str
    """What stands below it."""
    table: Table | None = None
    """The numbers of the picture."""


@dataclass(frozen=True)
class Cell:
    """One entry of a table."""

    text: str
    """What is printed."""
    exact: str | None = None
    """The exact value behind a rounded one, shown on hover."""
    mark: str | None = None
    """A short code set in bold before the text."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    title: str
    """Its heading."""
    numeric: bool = False
    """Whether it holds numbers, which are set to the right."""
    under: str | None = None
    """A heading above its own, shared with the neighbours that are under the same one."""


@dataclass(frozen=True)
class Group:
    """Rows that belong together."""

    rows: tuple[tuple[Cell, ...], ...]
    """The rows; the first cell of each says what the row is about."""
    title: str | None = None
    """What they have in common, on a line of its own above them."""
    note: str = ""
    """A remark beside the title."""


@dataclass(frozen=True)
class Table:
    """Rows under columns."""

    columns: tuple[Column, ...]
    """The columns, from left to right."""
    groups: tuple[Group, ...]
    """The rows, from top to bottom."""
    title: str = ""
    """What it shows, where a section has several."""

    def __post_init__(self) -> None:
        for row in (row for group in self.groups for row in group.rows):
            if len(row) != len(self.columns):
                raise InternalError(
                    f"a row of {len(row)} cells does not fit a table of {len(self.columns)} columns"
                )

    @property
    def headings(self) -> tuple[tuple[str | None, tuple[Column, ...]], ...]:
        """The columns by the heading that they are under."""
        runs = groupby(self.columns, key=lambda column: column.under)
        return tuple((under, tuple(columns)) for under, columns in runs)


@dataclass(frozen=True)
class Section:
    """A part of the figures under a heading of its own."""

    title: str
    """Its heading."""
    intro: str = ""
    """What stands above the tables."""
    tables: tuple[Table, ...] = ()
    """The tables."""
    notes: tuple[str, ...] = ()
    """Plain sentences below the tables."""
    is_open: bool = False
    """Whether it stands among the findings, for everybody, instead of in the part for specialists."""


@dataclass(frozen=True)
class Term:
    """A word of the report and what it means there."""

    name: str
    """The word."""
    meaning: str
    """What it means."""


@dataclass(frozen=True)
class Provenance:
    """Where the figures come from: enough to repeat them, and nothing of the data itself."""

    version: str
    """The version of Glasshouse."""
    study: str
    """The study as TOML."""
    datasets: tuple[str, ...]
    """The names of the datasets. Who knows a file but for one cell could try its values on a fingerprint."""
    abridged: bool = False
    """Whether values of the data that the study names are left out of it here."""
    seed_withheld: bool = False
    """Whether the seed is left out of it here: it is as secret as the data."""
    smallest_cell: int = 10
    """From how many people on a count of those with particular values is shown."""
    seed: int | None = None
    """What every random choice follows from; None: there was none."""
    libraries: Mapping[str, str] = field(default_factory=dict)
    """The versions of what the figures were computed with."""
    day: str = ""
    """The day on which they were computed, as 2026-01-31; empty: that is not known."""


@dataclass(frozen=True)
class Bullet:
    """A condition of a rule as a bar, beside its limit."""

    condition: str
    """What it is about."""
    measured: str
    """What was measured; empty: nothing was."""
    limit: str
    """What the rule asks."""
    length: float | None = None
    """How long the bar is, from 0 to 2, with its limit at 1; None: it was not judged."""
    met: bool | None = None
    """Whether it is met; None: it was not judged."""


@dataclass(frozen=True)
class ColumnsAlike:
    """Columns of a release of which the same became."""

    fate: str
    """What became of them, by which they have a colour."""
    columns: int
    """How many they are."""
    sentence: str
    """What is said of them."""
    is_judged: bool = True
    """Whether the verdict is about them."""


@dataclass(frozen=True)
class Ruling:
    """A verdict in words."""

    decision: Decision
    """What follows."""
    headline: str
    """The decision, in a few words."""
    tally: str
    """How many conditions of which rule are met."""
    conditions: Table
    """Each condition: what was measured, what the rule allows, and how far apart they are."""
    coverage: tuple[str, ...] = ()
    """What the verdict covers, in sentences: what was looked at, what is not in the release, what was dismissed."""
    notes: tuple[str, ...] = ()
    """What the rule does not cover, and where its numbers come from."""
    bullets: tuple[Bullet, ...] = ()
    """The conditions as bars, the one that is farthest beyond its limit first."""
    columns: tuple[ColumnsAlike, ...] = ()
    """What became of the columns of the release, to be drawn beside what is said of it; nothing where it is not
    known."""
    is_of_part: bool = False
    """Whether something other than the whole release was asked, and what was measured of the rule is met."""

    @property
    def swatches(self) -> dict[str, str]:
        """The colour that a sentence on what the verdict covers has, by the sentence."""
        return {alike.sentence: alike.fate for alike in self.columns}


@dataclass(frozen=True)
class Tile:
    """One figure of the first screen."""

    title: str
    """The question that it answers."""
    figure: str
    """The figure, in a few characters."""
    sentence: str
    """What it is."""
    of_hundred: int | None = None
    """Of a hundred people, how many are drawn as concerned; None: nobody is drawn."""


@dataclass(frozen=True)
class Action:
    """One thing to do, and what comes of it."""

    sentence: str
    """What to do."""
    change: str = ""
    """What a guess achieves before and after."""
    meets: bool | None = None
    """Whether the rule is met then; None: that is not known."""
    command: str = ""
    """The command that shows it."""
    binds: str = ""
    """Which condition of the rule is nearest to its limit then."""


MOST_CONDITIONS = 4
"""So many conditions that are not met are named in what to do."""
MOST_ACTIONS = 3
"""So many things to do are named on the first screen."""


def keep_assumptions() -> Action:
    """Return what to do where nothing else has to be done."""
    return Action(
        text(
            "File these assumptions with the data, and reassess before publishing anything else about the same "
            "people."
        )
    )


def look_at_conditions(ruling: Ruling) -> Action:
    """Return what to do where a rule is not met, and nothing is known that would help: the conditions by name."""
    rows = [row for group in ruling.conditions.groups for row in group.rows]
    failed = [row[0].text for row in rows if row[-1].mark == "✗"]
    unjudged = [row[0].text for row in rows if row[-1].mark == "?"]
    names = failed or unjudged
    shown = "; ".join(names[:MOST_CONDITIONS])
    if (rest := len(names) - MOST_CONDITIONS) > 0:
        shown += "; " + text_for(rest, "{count} further", "{count} further")
    if failed:
        return Action(
            text("Change the release until it meets the rule in: {conditions}.", conditions=shown)
        )
    if unjudged:
        return Action(
            text(
                "These conditions were not judged; have them judged: {conditions}.",
                conditions=shown,
            )
        )
    return Action(text("Some of it was not judged: glasshouse check judges the file itself."))


def remedies(
    findings: Iterable[Finding], commands: Mapping[str, str] | None = None
) -> tuple[Action, ...]:
    """Return what findings say could be done, the worst first, with the command that shows it where there is one."""
    sentences = dict.fromkeys(finding.remedy for finding in ranked(findings) if finding.remedy)
    return tuple(
        Action(sentence, command=(commands or {}).get(sentence, "")) for sentence in sentences
    )


@dataclass(frozen=True)
class Page:
    """A report: first the sentences, then the pictures, then the exact figures, then how to repeat them."""

    title: str
    """What it is about."""
    lead: str
    """One line below the title."""
    findings: tuple[Finding, ...]
    """What was found, in the order in which it is best told."""
    adversary: tuple[str, ...]
    """What the adversary is assumed to know, in sentences."""
    limits: tuple[str, ...]
    """What else must hold for the figures to mean what they say, and what they do not tell."""
    provenance: Provenance
    """Where the figures come from."""
    command: str
    """The command that repeats them from the study, saved as ``study.toml``."""
    method: str
    """Whose method it is: authors, year, title."""
    figures: tuple[Figure, ...] = ()
    """The pictures."""
    sections: tuple[Section, ...] = ()
    """The exact figures."""
    glossary: tuple[Term, ...] = ()
    """The words of the report, explained."""

    ruling: Ruling | None = None
    """The verdict; None: nothing was measured that the policy asks for."""
    summary: str = ""
    """The sentence of the first screen, where it is not that of the first finding."""
    tiles: tuple[Tile, ...] = ()
    """The figures of the first screen."""
    actions: tuple[Action, ...] = ()
    """What to do."""
    front: Figure | None = None
    """The picture of the first screen."""

    @property
    def source(self) -> str:
        """Whose method it is, with the authors joined as the language joins them."""
        return _LAST_AUTHOR.sub(
            lambda names: text("{first} and {last}", first=names[1], last=names[2]), self.method
        )

    @property
    def first_sentence(self) -> str:
        """The sentence of the first screen."""
        return self.summary or next((finding.sentence for finding in ranked(self.findings)), "")

    @property
    def pictures(self) -> tuple[Figure, ...]:
        """Every picture, from top to bottom."""
        inside = (finding.picture for finding in ranked(self.findings))
        return tuple(filter(None, (self.front, *inside, *self.figures)))


@dataclass(frozen=True)
class Brief:
    """What a terminal says of an outcome, to whoever has the data: exact where a report says "fewer than".

    It is a type of its own, and no part of a `Page`, so that what is exact can never be archived or sent on.
    """

    blocks: tuple[str | Table, ...] = ()
    """Sentences and tables, from top to bottom."""
    findings: tuple[Finding, ...] = ()
    """What was found."""
    notes: tuple[str, ...] = ()
    """What to know besides."""
    shows_change: bool = False
    """Whether ▲ and ▼ mark what got worse and better, and are coloured so."""
    ruling: Ruling | None = None
    """The verdict; None: nothing was measured that the policy asks for."""
