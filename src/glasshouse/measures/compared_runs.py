"""Runs of the same command side by side, before and after.

No table is needed for it:

- Assessments are matched attack by attack (`compare_assessments`): the same target, the same number of datasets and
  the same quasi-identifiers. Of all sets that every run has, the largest is compared; besides, the best set of each
  size, which may be another one in each run. Guesses that need only be close, and what is learned without exact
  knowledge, are compared where all runs ask for them alike.
- Runs of other commands are compared by the main figures that they keep (`compare_figures`).

Whether runs are of the same command is seen where their folders are read (`glasshouse.runs.compare`), and how they are
shown is in `glasshouse.report.compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from glasshouse.disclosure import hidden_parts
from glasshouse.errors import StudyError
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.closeness import Closeness
from glasshouse.microdata.knowledge import InexactKnowledge
from glasshouse.microdata.leakage import Leakage
from glasshouse.study.assess import parse_chance, parse_precision


@dataclass(frozen=True)
class ComparedRun:
    """What is known of a run that is compared."""

    name: str
    """What it is called."""
    command: str
    """The command that wrote it."""
    records: int
    """The number of records of its release; 0 where it has none."""
    digests: Mapping[str, str]
    """The fingerprints of the files that it read, by their names."""
    summary: Mapping[str, float | None]
    """Its main figures by name, where it keeps such."""
    subject: str
    """What a record stands for."""
    currency: str | None
    """What money is counted in."""
    asked: tuple[str, ...] = ()
    """What the adversary is taken to know, as its study writes it."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """The records of each part, where the parts of a release were assessed."""
    people: Mapping[str, int] = field(default_factory=dict)
    """The records that each figure of a part is about: of a secret, those of which it is known."""
    size: int = 0
    """With how many quasi-identifiers the parts are compared."""
    person: tuple[str, ...] = ()
    """The columns that tell whose a record is, where people have several."""
    measures: tuple[Mapping[str, Any], ...] = ()
    """What it measured for verdicts, as it is kept with the run, where it is one of assess."""

    def without_parts(self, names: Container[str]) -> ComparedRun:
        """Return it without the figures of some parts."""
        figures = self.summary.items()
        others = {name: value for name, value in figures if name.partition(": ")[2] not in names}
        return replace(self, summary=others)

    def to_dict(self) -> dict[str, Any]:
        """Return of what it is, as plain values."""
        return {
            "name": self.name,
            "records": self.records,
            "datasets": dict(self.digests),
            **({"person": list(self.person)} if self.person else {}),
        }


@dataclass(frozen=True)
class ComparedAttack:
    """One attack in every run."""

    secret: tuple[str, ...]
    """What is inferred; nothing when people are named."""
    size: int
    """How many quasi-identifiers she knows; of runs without a set in common, the fewest."""
    attacks: tuple[Attack, ...]
    """The attack, run by run."""

    @property
    def same_knowledge(self) -> bool:
        """Whether she knows the same quasi-identifiers in every run."""
        return len({frozenset(attack.quasi_identifiers) for attack in self.attacks}) == 1

    def differences(self) -> list[tuple[Fraction, Fraction | None]]:
        """Return, run by run, the change of success against the first: as a difference, and as a factor."""
        return _differences([attack.probabilistic.posterior for attack in self.attacks])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "sensitive": "+".join(self.secret) or None,
            "runs": [_figures_of(attack) for attack in self.attacks],
            "differences": [
                {"points": 100 * float(points), "factor": None if factor is None else float(factor)}
                for points, factor in self.differences()
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per run."""
        return pa.Table.from_pylist(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        """Return the rows of the frame as plain values."""
        changes = [(None, None), *self.differences()]
        return [
            {"size": self.size, "sensitive": "+".join(self.secret) or None}
            | _figures_of(attack)
            | {
                "difference": None if points is None else float(points),
                "factor": None if factor is None else float(factor),
            }
            for attack, (points, factor) in zip(self.attacks, changes, strict=True)
        ]


def _differences(successes: Sequence[Fraction]) -> list[tuple[Fraction, Fraction | None]]:
    """Return what each success but the first differs by from it, and the factor."""
    first, *later = successes
    return [(success - first, success / first if first else None) for success in later]


@dataclass(frozen=True)
class ComparedGuess:
    """Guesses of a number that need only be close, or at one target without exact knowledge, in every run."""

    secret: tuple[str, ...]
    """What is guessed; nothing when people are named."""
    quasi_identifiers: tuple[str, ...]
    """What she knows, in every run."""
    records: tuple[int, ...]
    """Run by run, in how many records the secret is known."""
    guesses: tuple[Leakage, ...]
    """Run by run, the chance that a guess is close, or right."""
    surely: tuple[Leakage, ...]
    """Run by run, the chance that she knows it to be, or is nearly sure."""
    within: str = ""
    """How close a guess need be; nothing: it is about knowledge that is not exact."""
    errors: tuple[tuple[Fraction, Fraction], ...] = ()
    """Run by run, by how much the best guess of a number is off on average, before and after."""
    nearly: bool = False
    """Whether what is nearly sure is told, as she may be mistaken everywhere."""

    def differences(self) -> list[tuple[Fraction, Fraction | None]]:
        """Return, run by run, the change of success against the first: as a difference, and as a factor."""
        return _differences([guess.posterior for guess in self.guesses])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "sensitive": "+".join(self.secret) or None,
            **({"within": self.within} if self.within else {}),
            "quasi_identifiers": list(self.quasi_identifiers),
            "runs": [self._figures(place) for place in range(len(self.records))],
            "differences": [
                {"points": 100 * float(points), "factor": None if factor is None else float(factor)}
                for points, factor in self.differences()
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per run."""
        return pa.Table.from_pylist(self._rows())

    def _figures(self, place: int) -> dict[str, Any]:
        """Return the figures of one of the runs."""
        guess, sure = self.guesses[place], self.surely[place]
        name = "nearly_sure" if self.nearly else "certain"
        figures: dict[str, Any] = {
            "records": self.records[place],
            "prior": float(guess.prior),
            "posterior": float(guess.posterior),
            "certain_prior": float(sure.prior),
            name: float(sure.posterior),
        }
        if self.errors:
            before, after = self.errors[place]
            figures |= {"off_prior": float(before), "off_posterior": float(after)}
        return figures

    def _rows(self) -> list[dict[str, Any]]:
        """Return the rows of the frame as plain values; what is certain or nearly sure as a share."""
        changes = [(None, None), *self.differences()]
        rows = []
        for place, (points, factor) in enumerate(changes):
            figures = self._figures(place)
            figures.pop("certain_prior")
            figures["sure"] = figures.pop("nearly_sure" if self.nearly else "certain")
            rows.append(
                {
                    "size": len(self.quasi_identifiers),
                    "sensitive": "+".join(self.secret) or None,
                    "within": self.within or None,
                    "quasi_identifiers": list(self.quasi_identifiers),
                    "difference": None if points is None else float(points),
                    "factor": None if factor is None else float(factor),
                }
                | figures
            )
        return rows


class Change(Enum):
    """What became of an attack from one run to another."""

    WORSE = "▲"
    BETTER = "▼"
    SAME = ""
    MIXED = "◆"
    """A guess is right more often but certainty is rarer, or the other way round."""


def change(before: Attack, after: Attack) -> Change:
    """Tell whether an attack succeeds more often than before, both by one guess and with certainty."""
    return change_in(
        after.probabilistic.posterior - before.probabilistic.posterior,
        after.deterministic.posterior - before.deterministic.posterior,
    )


def change_in(guess: Fraction, certainty: Fraction) -> Change:
    """Tell what became of an attack by the differences of its success, by one guess and with certainty."""
    if guess * certainty < 0:
        return Change.MIXED
    return change_by(guess or certainty)


def change_by(difference: Fraction) -> Change:
    """Tell whether a success is greater than before."""
    if difference == 0:
        return Change.SAME
    return Change.WORSE if difference > 0 else Change.BETTER


def _figures_of(attack: Attack) -> dict[str, Any]:
    return {
        "quasi_identifiers": list(attack.quasi_identifiers),
        "datasets": list(attack.datasets),
        "records": attack.records,
        "certain": attack.certain,
        "prior": float(attack.probabilistic.prior),
        "posterior": float(attack.probabilistic.posterior),
    }


@dataclass(frozen=True)
class AssessedRuns:
    """Several assessments side by side."""

    runs: tuple[ComparedRun, ...]
    """The runs, in the order given; differences are against the first."""
    assessments: tuple[Assessment, ...]
    """What came out of each."""
    largest: tuple[ComparedAttack, ...]
    """Per target that all have, the largest set of quasi-identifiers that all have."""
    best: tuple[ComparedAttack, ...]
    """Per target and number of quasi-identifiers, the best set of each run."""
    close: tuple[ComparedGuess, ...] = ()
    """Per number of which all runs ask alike how close guesses come, with the largest set that all have."""
    inexact: tuple[ComparedGuess, ...] = ()
    """Per target, what is learned without exact knowledge, where all runs take her to know as well."""

    @property
    def tolerances(self) -> dict[str, list[str | None]]:
        """By number that may be guessed closely in one of the runs, how close it need be in each; None: not asked."""
        asked = [
            {close.secret: close.tolerance for close in assessment.close}
            for assessment in self.assessments
        ]
        names = dict.fromkeys(name for of_run in asked for name in of_run)
        return {name: [of_run.get(name) for of_run in asked] for name in names}

    @property
    def knows_alike(self) -> bool:
        """Whether no run takes her to know less exactly than another."""
        return _alike(self.runs, self.assessments)

    @property
    def subject(self) -> str:
        """What a record stands for."""
        return self.runs[0].subject

    @property
    def most_different(self) -> tuple[ComparedAttack, int]:
        """The best attack of a size, and the number of the run, in which success differs most from the first run."""
        _, line, place = max(
            (
                (abs(difference), line, place)
                for line in self.best
                for place, (difference, _) in enumerate(line.differences(), 1)
            ),
            key=lambda entry: entry[0],
        )
        return line, place

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "command": self.runs[0].command,
            "runs": [run.to_dict() for run in self.runs],
            "largest_common": [attack.to_dict() for attack in self.largest],
            "best_by_size": [{"size": attack.size} | attack.to_dict() for attack in self.best],
            **{
                name: [guess.to_dict() for guess in guesses]
                for name, guesses in (("close", self.close), ("inexact", self.inexact))
                if guesses
            },
        }

    def to_frame(self) -> pa.Table:
        """Return one row per run and attack compared."""
        kinds: tuple[tuple[str, Sequence[ComparedAttack | ComparedGuess]], ...] = (
            ("largest common", self.largest),
            ("best of size", self.best),
            ("close guess", self.close),
            ("inexact knowledge", self.inexact),
        )
        rows = [
            {"run": run.name, "compared": kind} | row
            for kind, attacks in kinds
            for attack in attacks
            for run, row in zip(self.runs, attack._rows(), strict=True)
        ]
        columns = dict.fromkeys(name for row in rows for name in row)
        return pa.Table.from_pylist([dict.fromkeys(columns) | row for row in rows])


@dataclass(frozen=True)
class MeasuredRuns:
    """Several runs side by side by their main figures."""

    runs: tuple[ComparedRun, ...]
    """The runs, in the order given; differences are against the first."""

    @property
    def command(self) -> str:
        """The command that wrote them."""
        return self.runs[0].command

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that all of them have."""
        return tuple(
            name for name in self.runs[0].summary if all(name in run.summary for run in self.runs)
        )

    @property
    def ranking(self) -> dict[str, list[tuple[str, ...]]]:
        """Of runs about people, by figure, the runs from the least to the greatest; equal ones together.

        The figures are those of the most known records that all of the runs tell of.
        """
        if not all(run.person for run in self.runs):
            return {}
        known = [name.partition(": ")[2] for name in self.figures]
        linked = [f"{word}: {number}" for number in known[-1:] for word in ("pseudonym", "guess")]
        names = [name for name in linked if name in self.figures]
        names = names or [f"record: {number}" for number in known[-1:]]
        return {
            name: [
                tuple(run.name for run in self.runs if run.summary[name] == value)
                for value in sorted({run.summary[name] or 0.0 for run in self.runs})
            ]
            for name in names
        }

    def with_shown_parts(self) -> MeasuredRuns:
        """Return the runs without the parts that in one of them have too few people for a report to show them."""
        hidden = {
            list(run.parts)[place]
            for run in self.runs
            for place in hidden_parts([(people,) for people in run.parts.values()])
        }
        if not hidden:
            return self
        return MeasuredRuns(tuple(run.without_parts(hidden) for run in self.runs))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "command": self.command,
            "runs": [run.to_dict() for run in self.runs],
            "figures": {name: [run.summary[name] for run in self.runs] for name in self.figures},
            **({"ranking": self.ranking} if self.ranking else {}),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per run and figure."""
        rows = [
            {"run": run.name, "figure": name, "value": run.summary[name]}
            for name in self.figures
            for run in self.runs
        ]
        kinds = [("run", pa.string()), ("figure", pa.string()), ("value", pa.float64())]
        return pa.Table.from_pylist(rows, schema=pa.schema(kinds))


def compare_figures(runs: Sequence[ComparedRun]) -> MeasuredRuns:
    """Put runs of the same command side by side, by their main figures.

    Raises:
        StudyError: One keeps none, or they have none in common.
    """
    for run in runs:
        if not run.summary:
            raise StudyError(
                "“{name}” keeps no figures of the release as a whole; run it again, and not about one person",
                name=run.name,
            )
    outcome = MeasuredRuns(tuple(runs))
    if not outcome.figures:
        raise StudyError(
            "the runs have no figure in common: they do not answer the same question, such as about one person or "
            "about all, with a register or with a fraction; compare runs that do"
        )
    return outcome


def compare_assessments(
    runs: Sequence[ComparedRun], assessments: Sequence[Assessment]
) -> AssessedRuns:
    """Put assessments side by side, attack by attack, given the run that each came from."""
    attacked = [
        [attack for attack in assessment.attacks if len(attack.datasets) == datasets]
        for assessment, datasets in zip(assessments, _common_window(assessments), strict=True)
    ]
    targets = _common(attacked, lambda attack: attack.secret)
    largest = tuple(_largest(attacked, secret) for secret in targets)
    known = frozenset(largest[0].attacks[0].quasi_identifiers)
    comparable = all(line.same_knowledge for line in largest)
    return AssessedRuns(
        runs=tuple(runs),
        assessments=tuple(assessments),
        largest=largest,
        best=tuple(attack for secret in targets for attack in _best(attacked, secret)),
        close=tuple(_close(assessments, known)) if comparable else (),
        inexact=tuple(_inexact(runs, assessments, known)) if comparable else (),
    )


def _close(assessments: Sequence[Assessment], preferred: frozenset[str]) -> Iterator[ComparedGuess]:
    """Yield the numbers of which all ask alike how close guesses come, with the largest set that all have."""
    for first in assessments[0].close:
        alike = [
            close
            for assessment in assessments
            for close in assessment.close
            if (close.secret, close.tolerance) == (first.secret, first.tolerance)
        ]
        if len(alike) < len(assessments):
            continue
        sets = [[close.names(mask) for mask in close.masks.tolist()] for close in alike]
        known = _common_set(sets, preferred)
        if known is None:
            continue
        rows = [close.row_of(known) for close in alike]
        yield ComparedGuess(
            secret=(first.secret,),
            quasi_identifiers=known,
            records=tuple(close.records for close in alike),
            guesses=tuple(map(Closeness.guess, alike, rows)),
            surely=tuple(map(Closeness.certainty, alike, rows)),
            within=first.tolerance,
            errors=tuple(map(Closeness.mean_error, alike, rows)),
        )


def _inexact(
    runs: Sequence[ComparedRun], assessments: Sequence[Assessment], preferred: frozenset[str]
) -> Iterator[ComparedGuess]:
    """Yield what is learned of each target without exact knowledge, where all take her to know as well.

    Where something is only likely it is what she learns on average over what she may have, of all that can be known;
    else with the largest set that all have.
    """
    every = [one.inexact for one in assessments if one.inexact is not None]
    if len(every) < len(assessments) or not _alike(runs, assessments):
        return
    if every[0].likely:
        sets = [[known.quasi_identifiers] for known in every]
    else:
        sets = [[known.names(mask) for mask in known.masks] for known in every]
    shared = _common_set(sets, preferred)
    if shared is None:
        return
    of_run = [{target.secret: target for target in known.targets} for known in every]
    for secret in of_run[0]:
        if not all(secret in targets for targets in of_run):
            continue
        targets = [by_secret[secret] for by_secret in of_run]
        chances = [
            target.mixed or target.chances(known.row_of(shared))
            for target, known in zip(targets, every, strict=True)
        ]
        nearly = every[0].errs
        yield ComparedGuess(
            secret=secret,
            quasi_identifiers=shared,
            records=tuple(target.records for target in targets),
            guesses=tuple(
                Leakage(target.before[0], guess)
                for target, (guess, _, _) in zip(targets, chances, strict=True)
            ),
            surely=tuple(
                Leakage(target.before[1], sure if nearly else certain)
                for target, (_, certain, sure) in zip(targets, chances, strict=True)
            ),
            nearly=nearly,
        )


def _common_set(
    sets: Sequence[Sequence[tuple[str, ...]]], preferred: frozenset[str]
) -> tuple[str, ...] | None:
    """Return a set of attributes that all have, as the first writes it: the one preferred, else the largest."""
    others = [set(map(frozenset, of_run)) for of_run in sets[1:]]
    shared = [names for names in sets[0] if all(frozenset(names) in other for other in others)]
    return max(shared, key=lambda names: (frozenset(names) == preferred, len(names)), default=None)


def _alike(runs: Sequence[ComparedRun], assessments: Sequence[Assessment]) -> bool:
    """Tell whether all runs that take her not to know everything exactly take her to know as well."""
    ways = [
        _ways(run, assessment.inexact)
        for run, assessment in zip(runs, assessments, strict=True)
        if assessment.inexact is not None
    ]
    return all(way == ways[0] for way in ways)


def _ways(run: ComparedRun, known: InexactKnowledge) -> dict[str, dict[str, object]]:
    """Return how well she knows attributes, and with which chance; of files of chances, the fingerprints."""
    about: dict[str, object] = {}
    for name, written in known.about.items():
        precision = parse_precision(name, written)
        about[name] = precision
        if precision.kernel:
            about[name] = {
                digest
                for file, digest in run.digests.items()
                if PurePath(file.rstrip("′")).name == precision.kernel
            }
    chances = {name: parse_chance(name, written) for name, written in known.likely.items()}
    return {"about": about, "likely": {**chances}}


def _common_window(assessments: Sequence[Assessment]) -> list[int]:
    """Return how many datasets the attacks compared use: as many as all runs have, else all that each has."""
    sizes = [{len(attack.datasets) for attack in assessment.attacks} for assessment in assessments]
    shared = set.intersection(*sizes)
    return [max(shared)] * len(sizes) if shared else list(map(max, sizes))


def _common(attacked: Sequence[Sequence[Attack]], key: Callable[[Attack], Any]) -> list[Any]:
    """Return what the attacks of all runs have in common, in the order of the first run."""
    shared = set.intersection(*({key(attack) for attack in attacks} for attacks in attacked))
    return [common for common in dict.fromkeys(map(key, attacked[0])) if common in shared]


def _of_target(attacked: Sequence[Sequence[Attack]], secret: tuple[str, ...]) -> list[list[Attack]]:
    return [[attack for attack in attacks if attack.secret == secret] for attacks in attacked]


def _largest(attacked: Sequence[Sequence[Attack]], secret: tuple[str, ...]) -> ComparedAttack:
    """Return an attack with the largest set that all have; where there is none, with the largest of each run."""
    on_target = _of_target(attacked, secret)
    shared = _common(on_target, lambda attack: frozenset(attack.quasi_identifiers))
    if not shared:
        widest = tuple(max(attacks, key=_width) for attacks in on_target)
        return ComparedAttack(secret, min(map(_size, widest)), widest)
    candidates = [
        ComparedAttack(secret, len(known), tuple(_with(attacks, known) for attacks in on_target))
        for known in shared
    ]
    return max(candidates, key=lambda candidate: _width(candidate.attacks[0]))


def _size(attack: Attack) -> int:
    return len(attack.quasi_identifiers)


def _width(attack: Attack) -> tuple[int, Fraction]:
    return _size(attack), attack.probabilistic.posterior


def _with(attacks: Sequence[Attack], known: frozenset[str]) -> Attack:
    return next(attack for attack in attacks if frozenset(attack.quasi_identifiers) == known)


def _best(attacked: Sequence[Sequence[Attack]], secret: tuple[str, ...]) -> list[ComparedAttack]:
    """Return, per number of quasi-identifiers that all have, the best attack of each run."""
    on_target = _of_target(attacked, secret)
    best = []
    for size in sorted(_common(on_target, _size)):
        of_size = [[attack for attack in attacks if _size(attack) == size] for attacks in on_target]
        winners = tuple(max(attacks, key=_width) for attacks in of_size)
        best.append(ComparedAttack(secret, size, winners))
    return best
