"""What could be released instead: computed from what every set of attributes tells, and by generalising.

Every advice carries what a guess achieves before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from glasshouse.errors import GlasshouseError
from glasshouse.measures import measures
from glasshouse.measures.assess import of_attacks
from glasshouse.measures.attacks import by_knowledge, last_window
from glasshouse.measures.coverage import Coverage, CoveredColumn, Fate
from glasshouse.measures.first_look import FirstLook, coverage_of
from glasshouse.measures.measurement import Measurement, column_measures
from glasshouse.measures.verdict import Judgement, Verdict, verdict_on
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.assessment import Advice, assess
from glasshouse.microdata.leakage import ClassSizes
from glasshouse.runs.reading import questions_among
from glasshouse.runs.run import Resources
from glasshouse.study import validated
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.assess import AssessStudy
from glasshouse.study.policy import MEASURES, promise_of
from glasshouse.study.question import Treatment
from glasshouse.table import EncodedTable
from glasshouse.table.generalised import SUPPRESSED

if TYPE_CHECKING:
    from glasshouse.mitigation.anonymisation import UsedHierarchy

MOST_SETS = 6
"""How many of the largest sets that meet a rule are named."""
MOST_RECORDS = 1_000_000
"""Of more records than this, generalising is not tried by itself."""
MOST_CONFIRMED = 12
"""For so many sets it is measured what was not swept for all."""
SECONDS = 20.0
"""How long generalising may be looked for."""
NAMING = frozenset({"named", "best-guess", "highest-risk", "smallest-class"})
"""The measures that are about who somebody is."""
SizesOf = Callable[[tuple[str, ...]], ClassSizes]
"""Counts the classes of a set of attributes."""
Assessed = Callable[[AssessStudy, Sequence[EncodedTable], Resources], Assessment]
"""Measures of records all that a study asks."""


def advise(
    assessment: Assessment,
    table: EncodedTable | None,
    study: AssessStudy,
    *,
    generalising: bool = False,
    resources: Resources | None = None,
    sizes_of: SizesOf | None = None,
    assessed: Assessed | None = None,
    looks: Sequence[FirstLook] = (),
) -> tuple[Advice, ...]:
    """Return what could be released instead, where the policy is not met: none where it is, or where nothing helps.

    Args:
        assessment: What came out.
        table: The records, with all datasets of a collection joined; None: they are elsewhere.
        study: What was asked.
        generalising: Whether to look for the least generalisation, too, which takes longer.
        resources: What there is to work with.
        sizes_of: Counts the classes of a set of attributes, where the records are elsewhere.
        assessed: Measures of records all that a study asks; None: what is asked beyond every set is not known.
        looks: How the files were understood: which columns name people by themselves.
    """
    coverage = coverage_of(looks)
    of_columns = () if coverage is None else column_measures(coverage)
    verdict = verdict_on((*of_columns, *measures(assessment, study)), study.policy, coverage)
    sets = {
        frozenset(same[0].quasi_identifiers): same
        for same in by_knowledge(last_window(assessment.attacks))
    }
    whole = frozenset(study.adversary.knowable)
    if verdict is None or not verdict.failed or whole not in sets:
        return ()
    if assessment.records < study.policy.people_needed or assessment.sanitised:
        return ()
    resources = resources or Resources()
    if table is not None:
        sizes_of = partial(_sizes_of, table, resources.most_records)
    measured = _Measured(study, table, resources, assessed)
    lattice = _Lattice(sets, sizes_of, study, _focus(verdict), coverage, measured)
    advice = [*lattice.left_out(), *lattice.published()]
    if generalising and table is not None and table.records <= MOST_RECORDS and not study.is_joined:
        advice += _generalised(table, study, lattice, measured)
    return tuple(advice)


def _sizes_of(table: EncodedTable, most_records: int | None, known: tuple[str, ...]) -> ClassSizes:
    (alone,) = assess(
        table,
        subsets=[known],
        sensitive=(),
        drop_suppressed=False,
        most_records=most_records,
    ).attacks
    return alone.class_sizes


def _focus(verdict: Verdict) -> str | None:
    """Return what the advice is about: who somebody is, or the secret whose conditions are failed by most."""
    failed = [
        judgement
        for judgement in verdict.judgements
        if not judgement.met and not MEASURES[judgement.condition.measure].is_number
    ]
    if not failed or any(judgement.condition.measure in NAMING for judgement in failed):
        return None

    def excess(judgement: Judgement) -> Fraction:
        return -judgement.margin

    return max(failed, key=excess).measured.of


class _Lattice:
    """Every set of attributes, and whether a release of it would meet the policy."""

    def __init__(
        self,
        sets: dict[frozenset[str], list[Attack]],
        sizes_of: SizesOf | None,
        study: AssessStudy,
        secret: str | None,
        coverage: Coverage | None,
        measured_as_asked: _Measured,
    ) -> None:
        self._coverage = coverage
        self._measured_as_asked = measured_as_asked
        self._confirmed: dict[frozenset[str], Verdict | None] = {}
        self._sets = sets
        self._sizes_of = sizes_of
        self._study = study
        self.secret = secret
        self._order = study.adversary.knowable
        self._whole = frozenset(self._order)
        self._most_named, self._most_guessed = (
            min(
                (
                    condition.limit
                    for condition in study.policy.conditions
                    if condition.measure == measure and condition.knows == "all"
                ),
                default=Fraction(1),
            )
            for measure in ("named", "best-guess")
        )

    def success(self, known: frozenset[str]) -> Fraction:
        """Return how often a guess is right: at who it is, or at the secret that matters."""
        attack = next(attack for attack in self._sets[known] if attack.sensitive == self.secret)
        return attack.probabilistic.posterior

    def left_out(self) -> Iterator[Advice]:
        """Yield the best attribute to leave out, and the best two where they are better and one is not enough."""
        before = self.success(self._whole)
        if self.meets(self._whole):  # it is other columns that are too many
            return
        for count in (1, 2):
            smaller = [self._whole - set(names) for names in combinations(self._order, count)]
            best = min(
                (known for known in smaller if known in self._sets), key=self.success, default=None
            )
            if best is not None and self.success(best) < before:
                before = self.success(best)
                yield self._advice("leave-out", best)
                if self.meets(best):
                    return

    def published(self) -> Iterator[Advice]:
        """Yield the largest sets that meet the policy; of as large ones, those where a guess is right most seldom."""
        advised = {frozenset(advice.quasi_identifiers) for advice in self.left_out()}
        chosen: list[frozenset[str]] = []
        by_size = sorted(
            self._sets,
            key=lambda known: (
                -len(known),
                float(
                    self.success(known)
                ),  # ratios are compared only where their quotients are the same
                self.success(known),
                sorted(known),
            ),
        )
        for known in by_size:
            if len(chosen) == MOST_SETS:
                return
            if any(known < larger for larger in chosen):
                continue
            if self.meets(known) or (self._is_weighted and self._may_meet(known)):
                chosen.append(known)
                if known not in advised:
                    yield self._advice("publish", known)

    def meets(self, known: frozenset[str]) -> bool | None:
        """Tell whether a release of these attributes would meet the policy, by all that was asked; None: unknown.

        Where more is asked than every set was swept for, close guesses or knowledge that is not exact, that is
        measured for so many sets and not known of the others. What a release without its weights tells is not known.
        """
        if not self._may_meet(known):
            return False
        if self._is_weighted:
            return None
        study = self._study
        if not (study.within or study.precisions or study.likely):
            return True
        if known not in self._confirmed:
            if len(self._confirmed) == MOST_CONFIRMED:
                return None
            measured = self._measured_as_asked.of(self._ordered(known))
            self._confirmed[known] = (
                None
                if measured is None
                else verdict_on((*self.of_columns(known), *measured), study.policy)
            )
        verdict = self._confirmed[known]
        return None if verdict is None else verdict.meets

    @property
    def _is_weighted(self) -> bool:
        """Whether records count by a column that the release would not hold."""
        return self._study.adversary.prior_weight is not None

    def _may_meet(self, known: frozenset[str]) -> bool:
        """Tell whether a release of these attributes meets the policy by what every set was swept for."""
        for attack in self._sets[
            known
        ]:  # of many sets most fail by who is named, which is quickly seen
            if not attack.secret and (
                attack.probabilistic.posterior > self._most_guessed
                or attack.deterministic.posterior > self._most_named
            ):
                return False
        verdict = self._swept(known)
        return verdict is not None and verdict.meets

    def _swept(self, known: frozenset[str]) -> Verdict | None:
        """Return the verdict on a release of these attributes, by what every set was swept for."""
        verdict = verdict_on(self._measured(known), self._study.policy)
        if verdict is not None and any(
            not judgement.met and judgement.measured.is_bound for judgement in verdict.judgements
        ):
            verdict = verdict_on(self._measured(known, exactly=True), self._study.policy)
        return verdict

    def _measured(self, known: frozenset[str], *, exactly: bool = False) -> list[Measurement]:
        attacks = self._sets[known]
        if exactly and self._sizes_of is not None:
            sizes = self._sizes_of(self._ordered(known))
            attacks = [replace(attack, class_sizes=sizes) for attack in attacks]
        measured = [*self.of_columns(known), *of_attacks([attacks], None)]
        for size in {c.knows for c in self._study.policy.conditions if c.knows != "all"}:
            parts = [frozenset(names) for names in combinations(known, min(size, len(known)))]
            if all(part in self._sets for part in parts):
                measured += of_attacks([self._sets[part] for part in parts], size)
        return measured

    def _columns(self, known: frozenset[str]) -> set[str]:
        """Return the columns of a release that holds these attributes and the secrets, and nothing else."""
        adversary = self._study.adversary
        facts = (name for fact in known for name in adversary.facts.get(fact, (fact,)))
        return {*facts, *published_secrets(self._study, self._coverage)}

    def of_columns(self, known: frozenset[str]) -> tuple[Measurement, ...]:
        """Return what is measured of the columns of a release that holds these and the secrets, and nothing else."""
        covered = () if self._coverage is None else self._coverage.columns
        direct = {column.name: column.direct for column in covered}
        return column_measures(
            Coverage(
                tuple(
                    CoveredColumn(name, Fate.KNOWN, direct.get(name, ""))
                    for name in sorted(self._columns(known))
                )
            )
        )

    @property
    def besides(self) -> tuple[str, ...]:
        """The columns of the file, other than what was swept, that no advised release holds."""
        swept = self._columns(self._whole)
        return tuple(
            column.name
            for column in (() if self._coverage is None else self._coverage.columns)
            if column.name not in swept and column.fate is not Fate.DROPPED
        )

    def _ordered(self, known: frozenset[str]) -> tuple[str, ...]:
        return tuple(name for name in self._order if name in known)

    def _advice(self, kind: str, known: frozenset[str]) -> Advice:
        names, meets = self._ordered(known), self.meets(known)
        return Advice(
            kind,
            names,
            self._ordered(self._whole - known),
            self.secret,
            self.success(self._whole),
            self.success(known),
            meets,
            besides=self.besides,
            binding=_binding(self._confirmed.get(known) or self._swept(known)) if meets else {},
        )


def _binding(verdict: Verdict | None) -> dict[str, str | int | None]:
    """Return what the condition is about that is nearest to its limit; how near is not told."""
    binding = None if verdict is None else verdict.binding
    if binding is None:
        return {}
    measured = binding.measured
    return {"measure": measured.measure, "of": measured.of, "knows": measured.knows}


def published_secrets(study: AssessStudy, coverage: Coverage | None = None) -> tuple[str, ...]:
    """Return the columns that hold the secrets of a study: each attribute, and what a question is about."""
    names = study.adversary.secret_columns
    there = names if coverage is None else [column.name for column in coverage.columns]
    asked = questions_among(names, there)
    return tuple(dict.fromkeys(asked.get(name, name) for name in names))


@dataclass(frozen=True)
class _Measured:
    """Measures releases that tell some attributes of a table, by all that a study asks."""

    study: AssessStudy
    """What was asked of the release as it is."""
    table: EncodedTable | None
    """The records that would be released; None: they are elsewhere."""
    resources: Resources
    """What there is to work with."""
    assessed: Assessed | None
    """Measures of records all that a study asks."""

    def of(
        self, known: Sequence[str], release: EncodedTable | None = None
    ) -> tuple[Measurement, ...] | None:
        """Return what a release measures that tells some attributes of the records.

        Args:
            known: The attributes that it would tell.
            release: The records as they would be released; by default as they are.

        Returns:
            What is measured; None: it cannot be, such as what is known to within two years of ages in bands.
        """
        study, table = self.study, self.table if release is None else release
        if table is None or self.assessed is None:
            return None
        adversary = study.adversary
        facts = {name: columns for name, columns in adversary.facts.items() if name in known}
        columns = {*known, *(name for names in facts.values() for name in names)}
        counted = any(condition.knows != "all" for condition in study.policy.conditions)
        content = {
            "adversary": adversary.model_copy(
                update={
                    "quasi_identifiers": tuple(name for name in known if name not in facts),
                    "facts": facts,
                    "identifier": None,
                }
            ),
            "about": {name: how for name, how in study.about.items() if name in columns},
            "kernels": {name: path for name, path in study.kernels.items() if name in columns},
            "likely": {name: how for name, how in study.likely.items() if name in columns},
            "subsets": ("all",) if counted else ("full",),
            "adversaries": (),
            "treatment": Treatment(),
            "drop": (),
            "ignore": (),
            "advise": False,
        }
        quiet = replace(self.resources, checkpoint=None, resume=False, on_progress=None)
        try:
            narrowed = study.model_copy(update=content)
            seen = table.with_roles(
                quasi_identifiers=known, sensitive=table.sensitive, prior_weight=table.prior_weight
            )
            outcome = self.assessed(narrowed, [seen], quiet)
        except GlasshouseError:
            return None
        return measures(outcome, narrowed)


def _generalised(
    table: EncodedTable, study: AssessStudy, lattice: _Lattice, measured_as_asked: _Measured
) -> Iterator[Advice]:
    """Yield the least generalisation that meets the policy, unless nothing would be told any more.

    Values are generalised alike in all records, by suggested hierarchies; nobody's record is removed. A policy that is
    not built in, which no command can name, is asked for as far as who is named goes, and it is told whether it is met.
    """
    from glasshouse.runs.anonymise import answer

    promise = promise_of(study.policy)
    adversary = study.adversary
    if not promise or adversary.facts or not adversary.guesses_once or adversary.prior_weight:
        return
    content = {
        "datasets": study.datasets,
        "adversary": adversary,
        "treatment": study.treatment,
        "policy": study.policy,
        "protection": {"method": "risk", "time_limit": SECONDS} | promise,
    }
    try:
        protection = validated(AnonymiseStudy, content, "assess")
        run = answer(protection, resources=measured_as_asked.resources, tables=[table])
    except GlasshouseError:  # it cannot be reached, or not in time
        return
    outcome = run.outcome
    if run.release is None or not outcome.loss or outcome.loss >= 1:
        return
    known = frozenset(adversary.quasi_identifiers)
    measured = measured_as_asked.of(adversary.quasi_identifiers, run.release)
    verdict = (
        None
        if measured is None
        else verdict_on((*lattice.of_columns(known), *measured), study.policy)
    )
    after = next(attack for attack in outcome.after.attacks if attack.sensitive == lattice.secret)
    levels = {name: level for name, level in (outcome.heights or {}).items() if level}
    used = {hierarchy.column: hierarchy for hierarchy in outcome.hierarchies}
    yield Advice(
        "generalise",
        adversary.quasi_identifiers,
        (),
        lattice.secret,
        lattice.success(frozenset(adversary.quasi_identifiers)),
        after.probabilistic.posterior,
        None if verdict is None else verdict.meets,
        levels,
        outcome.detail_lost,
        {name: example_of(used[name], level) for name, level in levels.items()},
        lattice.besides,
        _binding(verdict) if verdict is not None and verdict.meets else {},
    )


def example_of(used: UsedHierarchy, level: int) -> tuple[str, str]:
    """Return a made-up value and what it becomes at a level of a hierarchy; ``*``: nothing; empty: none shows it."""
    if level == used.height - 1:
        return "", SUPPRESSED
    value, label = (used.example[0], used.example[level]) if used.example else ("", "")
    return ("", "") if value == label else (value, label)
