"""What if: columns told in less detail, step by step, with the exact risk and cost of each; every step can be undone.

What was tried is in the address, so that reloading, going back and a second tab are right by themselves. The records
are encoded once and kept for the next step. A step is measured as ``anonymise`` measures the release that it gives.
"""

from __future__ import annotations

import copy
import re
import shlex
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from typing import Any
from urllib.parse import urlencode

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from glasshouse.app.columns import SHOWN_GROUPS, edited, editor, invented, side_by_side
from glasshouse.app.drafts import POLICIES
from glasshouse.app.explore import Gauge, definitions, exact_figures, guessed
from glasshouse.app.guard import form_of
from glasshouse.app.runs import opened
from glasshouse.app.server import page
from glasshouse.app.work import submit_study
from glasshouse.app.workspace import AppWorkspace, OpenRun
from glasshouse.arrays import Flags
from glasshouse.disclosure import rounded_count, smallest_cell
from glasshouse.errors import DataError, GlasshouseError, StudyError
from glasshouse.language import (
    exactly,
    number,
    percentage,
    text,
    text_for,
    translated,
)
from glasshouse.measures import measures
from glasshouse.measures.measurement import column_measures
from glasshouse.measures.verdict import verdict_on
from glasshouse.microdata import assess
from glasshouse.mitigation.anonymisation import Anonymisation, columns_of
from glasshouse.mitigation.distinct_rows import distinct_rows
from glasshouse.mitigation.hierarchies import Hierarchy, example_row
from glasshouse.report import labelled_by
from glasshouse.report.anonymise.front import anonymise_words
from glasshouse.report.assess.front import protect_command
from glasshouse.report.cells import NOTHING, cell_table, count_cell, percent_cell
from glasshouse.report.page import SIGNS, Cell, Ruling, Table
from glasshouse.report.verdict import ruling
from glasshouse.report.words import counted, enumeration, percentages
from glasshouse.runs.anonymise import hierarchies_of, protected_table, release_look, unprotected
from glasshouse.runs.reading import labels_of
from glasshouse.runs.run import Resources
from glasshouse.sources.files import fingerprint, own_place
from glasshouse.study import (
    Question,
    ReleaseStudy,
    load_policy,
    paths_of,
    validated,
    with_paths,
)
from glasshouse.study.anonymise import (
    AnonymiseStudy,
    Means,
    Protection,
    hierarchy_rule,
    release_content,
)
from glasshouse.study.entry import label_of
from glasshouse.study.policy import ReleasePolicy
from glasshouse.study.protect import ProtectStudy
from glasshouse.table import EncodedTable, Labels, Step

MOST_OPEN, MOST_TRIED = 2, 256
"""The records of so many runs are kept, and of each run so many trials."""
MOST_RECORDS = 5_000_000
"""Of more records than this a step takes too long to be tried by hand."""
SHOWN_TOO = ("edit", "beside")
"""What else an address says to be shown: the groups of a column, and the file beside the original."""
LONGEST_RULE = 2000
"""No rule by which a column is grouped is longer."""
MOST_MOVES, SHOWN_MOVES = 40, 10
"""So many steps can be undone, and so many are shown with their figures."""


@dataclass(frozen=True)
class Proposal:
    """What is tried: how much detail each column is told in, and what is promised besides."""

    levels: tuple[int, ...]
    """Per column, the level of its hierarchy, 0 as it is."""
    k: int = 1
    """The least number of records alike; 1: none is promised."""
    l: int = 1  # noqa: E741 - the letter of l-diversity
    """The least number of sensitive values in a class; 1: none is promised."""
    removed: int = 0
    """How many in a thousand records may be removed."""

    def after(self, move: str) -> Proposal:
        """Return the proposal after a move: ``2.1`` tells the third column at level 1, ``k.5`` has five alike."""
        what, _, written = move.partition(".")
        value = int(written)
        if what == "k":
            return replace(self, k=max(1, value))
        if what == "l":
            return replace(self, l=max(1, value))
        if what == "r":
            return replace(self, removed=min(1000, value))
        levels = list(self.levels)
        levels[int(what)] = value
        return replace(self, levels=tuple(levels))

    def moves_from(self, other: Proposal) -> list[str]:
        """Return the moves that lead here from another proposal."""
        moves = [
            f"{place}.{level}"
            for place, (level, before) in enumerate(zip(self.levels, other.levels, strict=True))
            if level != before
        ]
        for name, value, before in (
            ("k", self.k, other.k),
            ("l", self.l, other.l),
            ("r", self.removed, other.removed),
        ):
            moves += [f"{name}.{value}"] if value != before else []
        return moves

    @property
    def suppression(self) -> float:
        """The share of records that may be removed."""
        return self.removed / 1000


@dataclass(frozen=True)
class Trial:
    """What comes of a proposal."""

    proposal: Proposal
    """What was tried."""
    outcome: Anonymisation | None
    """The release and its original in figures, as if all records might be removed; None: none would be left."""
    records: int
    """The number of records of the original."""
    kept: bytes = b""
    """Which records are released, a bit for each; empty: all."""

    def kept_of(self, trials: Trials) -> Flags:
        """Return which records are released."""
        if not self.kept:
            return np.ones(trials.table.records, bool)
        kept = np.unpackbits(np.frombuffer(self.kept, np.uint8), count=trials.table.records)
        return kept.astype(bool)

    @property
    def allowed(self) -> int:
        """How many records may be removed."""
        return self.proposal.removed * self.records // 1000

    @property
    def is_possible(self) -> bool:
        """Whether no more are removed than may be."""
        return self.outcome is not None and self.outcome.suppressed <= self.allowed


class Trials:
    """The records of a run, encoded once, and what was tried on them.

    Args:
        question: What the run asked.
        digests: The fingerprints of its data when it was made, where they are known.

    Raises:
        DataError: The data is not there any more, or not the same.
        StudyError: The run is not of one file of records.
    """

    def __init__(self, question: Question | None, digests: Sequence[str] = ()) -> None:
        if not isinstance(question, ReleaseStudy):
            raise StudyError("“what if” is about the records of one file; this run is not")
        if getattr(question, "person", ()):
            raise StudyError(
                "“what if” counts every record for itself; this run is about people with several records each"
            )
        if len(question.datasets) > 1:
            raise StudyError("“what if” is about the records of one file; this run is of several")
        self.question = question
        self.content = release_content(question)
        self.rules: dict[str, str] = {}
        self.ungrouped = self
        self.study({})  # refuses what cannot be protected
        path = question.datasets[0].place
        if not path.exists():
            raise DataError("{name} is not there any more", name=path.name)
        if digests and path.is_file() and fingerprint(path) not in digests:
            raise DataError("{name} has changed since this run; run it again", name=path.name)
        single, self._columns = unprotected(self.study({}), (), Resources(), ())
        self.table: EncodedTable = single.table
        self._steps: tuple[Step, ...] = single.steps
        if self.table.records > MOST_RECORDS:
            raise StudyError(
                "{records} records are too many to try by hand; let glasshouse protect find the best version",
                records=self.table.records,
            )
        self.names = columns_of(self.table)
        rows = distinct_rows(self.table, self.names, self.table.sensitive)
        self._rows = {"l-diversity": rows, "k-anonymity": replace(rows, secrets={})}
        self._before = assess(self.table, drop_suppressed=False)
        self._group({})
        self.labels: Labels = labels_of(question)
        columns = dict.fromkeys((*self.names, *self.table.sensitive))
        self.coverage = release_look(self.study({}), self.table, list(columns)).coverage

    def _group(self, rules: Mapping[str, str]) -> None:
        """Make the hierarchies, some of them by rules, and forget what was tried by others."""
        self.rules = dict(rules)
        self.hierarchies: Mapping[str, Hierarchy] = hierarchies_of(
            self.study({}).protection,
            self.table,
            encoding=self.question.datasets[0].dialect.encoding,
        )
        self.heights = tuple(self.hierarchies[name].height for name in self.names)
        self.examples = tuple(
            example_row(self.hierarchies[name], self.table.column(name)) for name in self.names
        )
        self._tried: OrderedDict[Proposal, Trial] = OrderedDict()
        self._lock = Lock()

    def grouped(self, rules: Mapping[str, str]) -> Trials:
        """Return the same records with columns grouped by rules, such as ``intervals:10,20``.

        Raises:
            DataError: A value does not fit its rule.
            StudyError: A rule is none.
        """
        if not rules:
            return self
        for name, rule in rules.items():
            if not hierarchy_rule(rule):
                raise StudyError(
                    "“{rule}” is not a rule by which {column} can be grouped, such as intervals:10,20 or prefixes:3,2",
                    rule=rule,
                    column=name,
                )
        other = copy.copy(self)
        other.ungrouped = self.ungrouped
        other._group(rules)
        return other

    def groups(self, place: int, level: int) -> list[tuple[str, str]]:
        """Return the groups of a column at a level, the largest first, with how many records are in each."""
        column = self.table.column(self.names[place])
        coded = self.hierarchies[column.name].coded(column, where=self.table.name)
        counts = np.bincount(coded.codes[level], weights=column.tally).astype(np.int64)
        largest = np.argsort(-counts, kind="stable")[:SHOWN_GROUPS]
        return [(coded.labels[level][code], rounded_count(int(counts[code]))) for code in largest]

    @property
    def start(self) -> Proposal:
        """The data as they are."""
        return Proposal((0,) * len(self.names))

    def study(self, protection: Mapping[str, Any]) -> AnonymiseStudy:
        """Return the study of a protection."""
        entries = {
            "method": "k-anonymity",
            "k": 1,
            "hierarchies": {**_means(self.question), **self.rules},
            **protection,
        }
        return validated(AnonymiseStudy, {**self.content, "protection": entries}, "what-if")

    def study_of(self, proposal: Proposal, rule: str = "") -> AnonymiseStudy:
        """Return the study that gives the release of a proposal, by the rule of the run or another one."""
        protection: dict[str, Any] = {
            "method": "k-anonymity" if proposal.l == 1 else "l-diversity",
            "k": proposal.k,
            "levels": dict(zip(self.names, proposal.levels, strict=True)),
            "suppression": proposal.suppression,
            "drop_suppressed": True,
        }
        study = self.study(protection | ({} if proposal.l == 1 else {"l": proposal.l}))
        return study.model_copy(update={"policy": self.rule(rule)})

    def rule_study(
        self, rule: str = "", importance: Mapping[str, float] | None = None
    ) -> ProtectStudy:
        """Return the study that finds the best version for the rule of the run, or another one, with some weights."""
        means = {"hierarchies": {**_means(self.question), **self.rules}}
        content = {**self.content, "means": means | {"importance": importance or {}}}
        study = validated(ProtectStudy, content, "what-if")
        return study.model_copy(update={"policy": self.rule(rule)})

    def locked_study(self, proposal: Proposal, rule: str, grouping: Grouping) -> AnonymiseStudy:
        """Return the study that finds the best version for a rule in which some columns stay as they are proposed."""
        levels = dict(zip(self.names, proposal.levels, strict=True))
        protection: dict[str, Any] = {
            "method": "policy",
            "k": None,
            "levels": {name: levels[name] for name in grouping.locked},
            "importance": grouping.weights,
            "suppression": proposal.suppression or Means().suppression,
            "drop_suppressed": True,
        }
        return self.study(protection).model_copy(update={"policy": self.rule(rule)})

    def rule(self, name: str) -> ReleasePolicy:
        """Return a rule of the house by its name; empty: that of the run."""
        return load_policy(name) if name else self.question.policy

    def trial(self, proposal: Proposal) -> Trial:
        """Measure a proposal exactly, once."""
        with self._lock:
            if proposal not in self._tried:
                self._tried[proposal] = self._measured(proposal)
                while len(self._tried) > MOST_TRIED:
                    self._tried.popitem(last=False)
            self._tried.move_to_end(proposal)
            return self._tried[proposal]

    def _measured(self, proposal: Proposal) -> Trial:
        # as if all might be removed, so that it can be told how many have to be
        study = self.study_of(replace(proposal, removed=1000))
        try:
            protected = protected_table(
                study,
                self.table,
                Resources(),
                columns=self._columns,
                steps=self._steps,
                hierarchies=self.hierarchies,
                rows=self._rows[study.protection.method],
                before=self._before,
            )
        except StudyError:  # no class meets what is promised
            return Trial(proposal, None, self.table.records)
        kept = b""
        if protected.recoding is not None and protected.recoding.suppressed.any():
            kept = np.packbits(~protected.recoding.suppressed).tobytes()
        return Trial(proposal, protected.outcome, self.table.records, kept)


def _means(question: ReleaseStudy) -> Mapping[str, Any]:
    """Return the hierarchies that a study names; of other columns they are suggested."""
    holder = getattr(question, "protection", None) or getattr(question, "means", None)
    hierarchies: Mapping[str, Any] = getattr(holder, "hierarchies", {})
    return hierarchies


_TRIALS: OrderedDict[str, Trials] = OrderedDict()
_lock = Lock()


def trials_of(request: Request, run: OpenRun, rules: Mapping[str, str] | None = None) -> Trials:
    """Return the records of a run, encoded, and grouped by rules; those of the last few runs are kept.

    Raises:
        DataError: They lie outside of the folders that were given, or do not fit a rule.
        StudyError: A rule is none.
    """
    workspace: AppWorkspace = request.app.state.workspace
    for path in () if run.question is None else paths_of(run.question):
        place = own_place(path).resolve()
        if not any(place.is_relative_to(folder) for folder in workspace.folders):
            raise DataError(
                "{name} is not in a folder that the app was started with; start it with that folder, too",
                name=path.name,
            )
    digests = list(run.digests.values())
    key = "\n".join([run.identifier, *digests])
    with _lock:
        if key not in _TRIALS:
            _TRIALS[key] = Trials(run.question, digests)
            while len(_TRIALS) > MOST_OPEN:
                _TRIALS.popitem(last=False)
        _TRIALS.move_to_end(key)
        kept = _TRIALS[key]
        if rules is None or rules == kept.rules:
            return kept
        _TRIALS[key] = kept.grouped(rules) if rules else kept.ungrouped
        return _TRIALS[key]


@dataclass(frozen=True)
class Grouping:
    """How the columns of a run are grouped and weighed otherwise than suggested, as an address or a form says it."""

    rules: Mapping[str, str]
    """By column, the rule by which its values are grouped."""
    weights: Mapping[str, float]
    """By column, how much its loss weighs where the best version is looked for."""
    locked: tuple[str, ...] = ()
    """The columns that stay as they are there."""

    @classmethod
    def of(cls, said: Callable[[str], str | None], names: Sequence[str]) -> Grouping:
        """Return what is said of some columns.

        Raises:
            StudyError: A rule is too long: it is not cut, as it would then be another one.
        """
        rules = {name: (said(f"group-{place}") or "").strip() for place, name in enumerate(names)}
        if too_long := [name for name, rule in rules.items() if len(rule) > LONGEST_RULE]:
            raise StudyError(
                "the rule by which {column} is grouped is too long; put fewer values into groups",
                column=too_long[0],
            )
        weights = {
            name: (said(f"weight-{place}") or "").strip() for place, name in enumerate(names)
        }
        return cls(
            {name: rule for name, rule in rules.items() if rule},
            {
                name: float(weight)
                for name, weight in weights.items()
                if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3})?", weight)
                and float(weight) not in (0, 1)
            },
            tuple(name for place, name in enumerate(names) if said(f"lock-{place}") == "yes"),
        )

    def entries(self, names: Sequence[str]) -> dict[str, str]:
        """Return the same as entries of an address."""
        rules = {f"group-{names.index(name)}": rule for name, rule in self.rules.items()}
        weights = {f"weight-{names.index(name)}": f"{one:g}" for name, one in self.weights.items()}
        return rules | weights | {f"lock-{names.index(name)}": "yes" for name in self.locked}


@dataclass(frozen=True)
class Ladder:
    """The moves so far, in the order in which they were made."""

    moves: tuple[str, ...]
    """They."""
    proposals: tuple[Proposal, ...]
    """The proposal before the first move, and after each."""
    rule: str = ""
    """The rule that it is judged by; empty: that of the run."""
    further: Mapping[str, str] = field(default_factory=dict)
    """What else the address says: how columns are grouped and weighed."""

    @classmethod
    def of(cls, entries: Mapping[str, str], trials: Trials, *, leave: Sequence[str] = ()) -> Ladder:
        """Return the moves of an address, and then those that its sliders, and columns to leave out, ask for."""
        start = trials.start
        moves = [move for move in entries.get("moves", "").split("-") if _is_move(move, trials)]
        now = start
        for move in moves:
            now = now.after(move)
        aim = now
        for name, value in entries.items():
            what = {"k": "k", "l": "l", "removed": "r"}.get(name, name.removeprefix("level-"))
            written = _thousandths(value) if name == "removed" else value
            if name != "moves" and _is_move(move := f"{what}.{written}", trials):
                aim = aim.after(move)
        for name in leave:
            if name in trials.names:
                place = trials.names.index(name)
                aim = aim.after(f"{place}.{trials.heights[place] - 1}")
        moves += aim.moves_from(now)
        if len(moves) > MOST_MOVES:
            older, moves = moves[: -MOST_MOVES // 2], moves[-MOST_MOVES // 2 :]
            now = start
            for move in older:
                now = now.after(move)
            moves = [*now.moves_from(start), *moves]
        proposals = [start]
        for move in moves:
            proposals.append(proposals[-1].after(move))
        rule = entries.get("rule", "")
        said = Grouping.of(entries.get, trials.names).entries(trials.names)
        said |= {name: entries[name] for name in SHOWN_TOO if entries.get(name)}
        return cls(tuple(moves), tuple(proposals), rule if rule in POLICIES else "", said)

    @property
    def now(self) -> Proposal:
        """Where they lead."""
        return self.proposals[-1]

    def address(self, count: int, *further: str, **shown: str) -> str:
        """Return the address after so many moves, and some further ones, with something else shown besides."""
        moves = (*self.moves[:count], *further)
        entries = {**self.further, **shown, "moves": "-".join(moves), "rule": self.rule}
        return f"?{urlencode({name: value for name, value in entries.items() if value})}"


def _is_move(move: str, trials: Trials) -> bool:
    what, _, written = move.partition(".")
    if not (written.isascii() and written.isdecimal() and len(written) < 8):
        return False
    if what in ("k", "r"):
        return True
    if what == "l":
        return bool(trials.table.sensitive)
    is_place = (
        what.isascii() and what.isdecimal() and len(what) < 4 and int(what) < len(trials.names)
    )
    return is_place and int(written) < trials.heights[int(what)]


def _thousandths(percent: str) -> str:
    """Return a written number of per cent in thousandths, rounded down; nothing where it is none.

    >>> _thousandths("2,55"), _thousandths("1e999999999")
    ('25', '')
    """
    written = percent.strip().replace(",", ".")
    return str(int(Fraction(written) * 10)) if re.fullmatch(r"\d{1,3}(\.\d{0,9})?", written) else ""


def what_if(request: Request) -> Response:
    """Show what a proposal comes to, beside the original, and the steps that led there."""
    run = opened(request)
    said, entries = request.query_params.getlist, {**request.query_params}
    ungroupable = ""
    entries |= edited(trials_of(request, run), said) if "drawn" in entries else {}
    try:
        trials = _grouped(request, run, entries.get)
    except GlasshouseError as error:  # a rule is none, or does not fit: they are shown as suggested
        trials, ungroupable = trials_of(request, run, {}), str(error)
        entries = {name: value for name, value in entries.items() if "group-" not in name}
    leave = request.query_params.getlist("leave")
    ladder = Ladder.of(entries, trials, leave=leave)
    with labelled_by(trials.question, trials.labels):
        now, original = trials.trial(ladder.now), trials.trial(trials.start)
        verdict = _ruling(now, trials, ladder.rule)
        is_beside = bool(ladder.further.get("beside")) and now.is_possible
        return page(
            request,
            "what_if.html",
            title=text("What if"),
            run=run,
            here="what-if",
            columns=_columns(trials, now),
            editor=editor(trials, said, ladder.now.levels),
            pairs=side_by_side(trials, now) if is_beside else [],
            invented=invented(trials, now) if is_beside else [],
            smallest=smallest_cell(),
            of_beside=ladder.address(len(ladder.moves), beside="" if is_beside else "yes"),
            of_editor=lambda place: ladder.address(len(ladder.moves), edit=str(place)),
            has_secret=bool(trials.table.sensitive),
            proposal=ladder.now,
            removed=f"{ladder.now.removed / 10:g}",
            labels={name: label_of(Protection, name) for name in ("k", "l", "suppression")},
            moves="-".join(ladder.moves),
            further=ladder.further,
            ungroupable=ungroupable,
            rule=ladder.rule,
            rules={"": text("The rule of this run: {rule}", rule=trials.question.policy.title)}
            | {
                name: translated(label)
                for name, label in POLICIES.items()
                if name != trials.question.policy.option
            },
            undo=ladder.address(len(ladder.moves) - 1) if ladder.moves else "",
            summary=_summary(now, original),
            trouble=_trouble(now, trials),
            allow=ladder.address(len(ladder.moves), f"r.{_needed(now)}") if _needed(now) else "",
            needed=percentage(Fraction(_needed(now), 1000)),
            gauges=_gauges(now, original),
            gauge_figures=exact_figures(_gauges(now, original)),
            definitions=definitions("k-anonymity, l-diversity, loss, suppression"),
            beside=_beside(now, original),
            ruling=verdict,
            sign=lambda decision: SIGNS[decision],
            ladder=_rungs(trials, ladder),
            points=_points(trials, ladder),
            percentage=percentage,
            command=_command(trials.study_of(ladder.now, ladder.rule)),
            assumed=_assumed(trials.question),
        )


@dataclass(frozen=True)
class Slider:
    """One column."""

    place: int
    """Its place."""
    label: str
    """What it is called."""
    level: int
    """The level that is tried."""
    top: int
    """The highest level: left out."""
    words: str
    """What it is told as at that level."""
    remaining: str
    """How much of its detail is left."""
    groups: list[tuple[str, str]]
    """Its largest groups at that level, or at the first, with how many records are in each."""


def _grouped(request: Request, run: OpenRun, said: Callable[[str], str | None]) -> Trials:
    """Return the records of a run, grouped as an address or a form says."""
    names = trials_of(request, run).names
    return trials_of(request, run, Grouping.of(said, names).rules)


def _columns(trials: Trials, trial: Trial) -> list[Slider]:
    sliders = []
    outcome = trial.outcome if trial.is_possible else None
    quality = None if outcome is None else outcome.quality
    for place, name in enumerate(trials.names):
        level, top = trial.proposal.levels[place], trials.heights[place] - 1
        remaining = ""
        if quality is not None:
            share = Fraction(str(max(0.0, quality.attributes[name].granularity)))
            remaining = text("{share} of its detail left", share=percentage(share))
        sliders.append(
            Slider(
                place,
                enumeration([name]),
                level,
                top,
                _words_of(trials, place, level),
                remaining,
                trials.groups(place, level or min(1, top)),
            )
        )
    return sliders


def _words_of(trials: Trials, place: int, level: int) -> str:
    """Say what a column is told as at a level."""
    if level == 0:
        return text("as it is")
    if level == trials.heights[place] - 1:
        return text("the column is left out")
    example = trials.examples[place]
    if example:
        return text("such as {value} → {label}", value=example[0], label=example[level])
    return text("level {level} of {top}", level=level, top=trials.heights[place] - 1)


def _needed(trial: Trial) -> int:
    """Return how many in a thousand records would have to be removed, rounded up; 0: no more than may be."""
    if trial.outcome is None or trial.is_possible:
        return 0
    return -(-1000 * trial.outcome.suppressed // trial.records)


def _trouble(trial: Trial, trials: Trials) -> str:
    """Say why a proposal is not possible; nothing where it is."""
    proposal, subject = trial.proposal, trials.question.subject
    promise = (
        text("{k} alike, with {l} sensitive values among them", k=proposal.k, l=proposal.l)
        if proposal.l > 1
        else text("{k} alike", k=proposal.k)
    )
    if trial.outcome is None:
        return text(
            "Not possible: at these levels no group has {promise}, so nobody’s record would be left. Tell columns in "
            "less detail, or ask for less.",
            promise=promise,
        )
    if trial.is_possible:
        return ""
    return text_for(
        trial.outcome.suppressed,
        "Not possible: {people} is in a group that does not have {promise} ({share} of the records), and {allowed} may "
        "be removed. Tell columns in less detail, ask for less, or allow more to be removed.",
        "Not possible: {people} are in groups that do not have {promise} ({share} of the records), and {allowed} may "
        "be removed. Tell columns in less detail, ask for less, or allow more to be removed.",
        people=counted(trial.outcome.suppressed, subject),
        promise=promise,
        share=percentage(Fraction(trial.outcome.suppressed, trial.records)),
        allowed=number(trial.allowed),
    )


def _summary(now: Trial, original: Trial) -> str:
    """Say in one line what comes of a proposal, for a narrow screen."""
    if now.outcome is None or original.outcome is None or not now.is_possible:
        return text("Not possible")
    before, after = percentages(_risk(original.outcome), _risk(now.outcome))
    return text(
        "Right guesses: {before} → {after}; detail lost: {lost}",
        before=before,
        after=after,
        lost=percentage(_lost(now.outcome)),
    )


def _gauges(now: Trial, original: Trial) -> list[Gauge]:
    """Return what a guess achieves in the original, and now."""
    if now.outcome is None or original.outcome is None or not now.is_possible:
        return []
    return [
        replace(Gauge.of(after), before=before.probabilistic.posterior, is_version=True)
        for before, after in zip(
            original.outcome.after.attacks, now.outcome.after.attacks, strict=True
        )
    ]


def _beside(now: Trial, original: Trial) -> Table | None:
    """Return the figures beside those of the original."""
    if now.outcome is None or original.outcome is None:
        return None
    pair = (original.outcome, now.outcome)
    rows: list[tuple[Cell | str, ...]] = [
        (
            text("Identified for certain"),
            *(count_cell(one.after.attacks[0].certain) for one in pair),
        ),
        (
            text("Correct identifications"),
            *(percent_cell(one.after.attacks[0].probabilistic.posterior) for one in pair),
        ),
        (text("Fewest alike"), *(count_cell(one.attained.k) for one in pair)),
    ]
    for place, attack in enumerate(now.outcome.after.attacks[1:], 1):
        rows += [
            (
                text("{target}: right guesses", target=guessed(attack.secret)),
                *(percent_cell(one.after.attacks[place].probabilistic.posterior) for one in pair),
            ),
            (
                text("{target}: for certain", target=guessed(attack.secret)),
                *(percent_cell(one.after.attacks[place].deterministic.posterior) for one in pair),
            ),
        ]
    rows += [
        (text("Detail lost"), *(_lost_cell(one) for one in pair)),
        (text("Records removed"), *(count_cell(one.suppressed) for one in pair)),
    ]
    version = text("This version") if now.is_possible else text("If all of them were removed")
    return cell_table(text("Measured"), [text("The original"), version], rows)


def _risk(outcome: Anonymisation) -> Fraction:
    return outcome.after.attacks[0].probabilistic.posterior


def _lost(outcome: Anonymisation) -> Fraction:
    return Fraction(str(outcome.detail_lost))


def _lost_cell(outcome: Anonymisation) -> Cell:
    return Cell(percentage(_lost(outcome)), exactly(outcome.detail_lost))


def _ruling(trial: Trial, trials: Trials, rule: str) -> Ruling | None:
    """Return what the rule of the run, or another one, says of a proposal."""
    if trial.outcome is None or not trial.is_possible:
        return None
    study = trials.study_of(trial.proposal, rule)
    measured = (*column_measures(trials.coverage), *measures(trial.outcome, study))
    verdict = verdict_on(measured, study.policy, trials.coverage)
    return None if verdict is None else ruling(verdict)


def _rungs(trials: Trials, ladder: Ladder) -> list[tuple[str, Cell, Cell, Cell, str]]:
    """Return the last steps, the latest first: what was done, risk, loss and removed records, and how to go back."""
    steps = []
    for count in range(len(ladder.moves), max(-1, len(ladder.moves) - SHOWN_MOVES - 1), -1):
        trial = trials.trial(ladder.proposals[count])
        words = _step(trials, ladder.moves[count - 1]) if count else text("the original")
        figures = (NOTHING, NOTHING, Cell(text("not possible")))
        if trial.outcome is not None and trial.is_possible:
            figures = (
                percent_cell(_risk(trial.outcome)),
                _lost_cell(trial.outcome),
                count_cell(trial.outcome.suppressed),
            )
        steps.append((words, *figures, ladder.address(count)))
    return steps


def _step(trials: Trials, move: str) -> str:
    """Say what a move does."""
    what, _, value = move.partition(".")
    if what == "k":
        return text("at least {count} alike", count=int(value))
    if what == "l":
        return text("at least {count} sensitive values in a group", count=int(value))
    if what == "r":
        return text(
            "up to {share} of the records removed", share=percentage(Fraction(int(value), 1000))
        )
    place = int(what)
    return text(
        "{column}: {words}",
        column=enumeration([trials.names[place]]),
        words=_words_of(trials, place, int(value)),
    )


def _points(trials: Trials, ladder: Ladder) -> list[tuple[str, str, str, str]]:
    """Return the steps as points (of a hundred, detail lost, and risk from above), their words, and the ways back."""
    first = max(1, len(ladder.moves) - SHOWN_MOVES)
    points = []
    for count in (0, *range(first, len(ladder.moves) + 1)):
        trial = trials.trial(ladder.proposals[count])
        if trial.outcome is None or not trial.is_possible:
            continue
        risk, lost = _risk(trial.outcome), _lost(trial.outcome)
        step = _step(trials, ladder.moves[count - 1]) if count else text("the original")
        words = text(
            "{step}: {risk} right guesses, {lost} of the detail lost",
            step=step,
            risk=percentage(risk),
            lost=percentage(lost),
        )
        x, y = f"{100 * float(lost):.2f}", f"{100 - 100 * float(risk):.2f}"
        points.append((x, y, words, ladder.address(count)))
    return points


def _command(study: AnonymiseStudy) -> str:
    """Return the command that gives the same release."""
    return shlex.join(["glasshouse", "anonymise", *anonymise_words(study), "--out", "protected"])


def _assumed(question: ReleaseStudy) -> str:
    """Say what of the run is not asked here; nothing where all of it is."""
    adversary = question.adversary
    if adversary.guesses_once and not adversary.prior_weight and not adversary.facts:
        return ""
    return text(
        "Here every record is as likely as any other, and she makes one guess at each single column; "
        "weights, priors, gains, facts and joint secrets of the run are left aside."
    )


def release(request: Request) -> Response:
    """Make the release of a proposal, as a job."""
    run, form = opened(request), form_of(request)
    trials = _grouped(request, run, form.get)
    ladder = Ladder.of({name: form.get(name) for name in ("moves", "rule")}, trials)
    with labelled_by(trials.question, trials.labels):
        if not trials.trial(ladder.now).is_possible:
            raise StudyError(_trouble(trials.trial(ladder.now), trials))
        study = trials.study_of(ladder.now, ladder.rule)
        command = _command(study)
    title = text("The release that was tried, of {name}", name=trials.table.name)
    return submitted(request, run, study, title, command)


def best(request: Request) -> Response:
    """Find the best version for the rule of the run, or another one, as a job."""
    run, form = opened(request), form_of(request)
    trials = _grouped(request, run, form.get)
    grouping = Grouping.of(form.get, trials.names)
    weights = grouping.weights
    rule = one if (one := form.get("rule", "")) in POLICIES else ""
    if grouping.locked:
        ladder = Ladder.of({"moves": form.get("moves", "")}, trials)
        locked = trials.locked_study(ladder.now, rule, grouping)
        title = text("The version of {name} that meets the rule", name=trials.table.name)
        return submitted(request, run, locked, title, "glasshouse anonymise --study study.toml")
    study = trials.rule_study(rule, weights)
    asked = {"--hierarchy": trials.rules, "--importance": weights}
    words = [
        word
        for option, columns in asked.items()
        for name, value in columns.items()
        for word in (option, f"{name}={value}")
    ]
    command = shlex.join([*shlex.split(protect_command(study)), *words])
    title = text("Versions of {name} that meet the rule", name=trials.table.name)
    return submitted(request, run, study, title, command)


def submitted(
    request: Request, run: OpenRun, study: Question, title: str, command: str
) -> Response:
    """Put a study about the data of a run into the queue, and show how far it is."""
    return submit_study(
        request,
        with_paths(study, own_place),
        title=title,
        name=f"{run.folder.name}-{study.command}",
        command=command,
    )
