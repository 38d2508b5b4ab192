"""What could be released instead: computed from what every set of attributes tells, and by generalising.

Every advice carries what a guess achieves before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations

from glasshouse.errors import GlasshouseError
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.assessment import Advice, ClassSizes
from glasshouse.microdata.attacks import assess
from glasshouse.report.attacks import by_knowledge, last_window
from glasshouse.report.verdict import (
    Judgement,
    Measurement,
    Verdict,
    measures,
    of_attacks,
    verdict_on,
)
from glasshouse.runs.run import Resources
from glasshouse.study import validated
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.assess import AssessStudy
from glasshouse.study.policy import promise_of
from glasshouse.table import EncodedTable

MOST_SETS = 6
"""How many of the largest sets that meet a rule are named."""
MOST_RECORDS = 1_000_000
"""Of more records than this, generalising is not tried by itself."""
SECONDS = 20.0
"""How long generalising may be looked for."""
NAMING = frozenset({"named", "best-guess", "highest-risk", "smallest-class"})
"""The measures that are about who somebody is."""
SizesOf = Callable[[tuple[str, ...]], ClassSizes]
"""Counts the classes of a set of attributes."""


def advise(
    assessment: Assessment,
    table: EncodedTable | None,
    study: AssessStudy,
    *,
    generalising: bool = False,
    resources: Resources | None = None,
    sizes_of: SizesOf | None = None,
) -> tuple[Advice, ...]:
    """Return what could be released instead, where the policy is not met: none where it is, or where nothing helps.

    Args:
        assessment: What came out.
        table: The records, with all datasets of a collection joined; None: they are elsewhere.
        study: What was asked.
        generalising: Whether to look for the least generalisation, too, which takes longer.
        resources: What there is to work with.
        sizes_of: Counts the classes of a set of attributes, where the records are elsewhere.
    """
    verdict = verdict_on(measures(assessment, study), study.policy)
    sets = {
        frozenset(same[0].quasi_identifiers): same
        for same in by_knowledge(last_window(assessment.attacks))
    }
    whole = frozenset(study.adversary.knowable)
    if verdict is None or not verdict.failed or whole not in sets:
        return ()
    resources = resources or Resources()
    if table is not None:
        sizes_of = partial(_sizes_of, table, resources.most_records)
    lattice = _Lattice(sets, sizes_of, study, _focus(verdict))
    advice = [*lattice.left_out(), *lattice.published()]
    if generalising and table is not None and table.records <= MOST_RECORDS and not study.is_joined:
        advice += _generalised(table, study, lattice, resources)
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
    failed = [judgement for judgement in verdict.judgements if not judgement.met]
    if any(judgement.condition.measure in NAMING for judgement in failed):
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
    ) -> None:
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
            self._sets.keys() - {self._whole},
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
            if not any(known < larger for larger in chosen) and self.meets(known):
                chosen.append(known)
                if known not in advised:
                    yield self._advice("publish", known)

    def meets(self, known: frozenset[str]) -> bool:
        """Tell whether a release of so many attributes would meet the policy."""
        for attack in self._sets[
            known
        ]:  # of many sets most fail by who is named, which is quickly seen
            if not attack.secret and (
                attack.probabilistic.posterior > self._most_guessed
                or attack.deterministic.posterior > self._most_named
            ):
                return False
        verdict = verdict_on(self._measured(known), self._study.policy)
        if verdict is not None and any(
            not judgement.met and judgement.measured.is_bound for judgement in verdict.judgements
        ):
            verdict = verdict_on(self._measured(known, exactly=True), self._study.policy)
        return verdict is None or not verdict.failed

    def _measured(self, known: frozenset[str], *, exactly: bool = False) -> list[Measurement]:
        attacks = self._sets[known]
        if exactly and self._sizes_of is not None:
            sizes = self._sizes_of(self._ordered(known))
            attacks = [replace(attack, class_sizes=sizes) for attack in attacks]
        measured = list(of_attacks([attacks], None))
        for size in {c.knows for c in self._study.policy.conditions if c.knows != "all"}:
            parts = [frozenset(names) for names in combinations(known, min(size, len(known)))]
            if all(part in self._sets for part in parts):
                measured += of_attacks([self._sets[part] for part in parts], size)
        return measured

    def _ordered(self, known: frozenset[str]) -> tuple[str, ...]:
        return tuple(name for name in self._order if name in known)

    def _advice(self, kind: str, known: frozenset[str]) -> Advice:
        names = self._ordered(known)
        return Advice(
            kind,
            names,
            self._ordered(self._whole - known),
            self.secret,
            self.success(self._whole),
            self.success(known),
            self.meets(known),
        )


def _generalised(
    table: EncodedTable, study: AssessStudy, lattice: _Lattice, resources: Resources
) -> Iterator[Advice]:
    """Yield the least generalisation that meets the policy.

    Values are generalised alike in all records, by suggested hierarchies; nobody's record is removed. A policy that is
    not built in, which no command can name, is asked for as far as who is named goes, and it is told whether it is met.
    """
    from glasshouse.runs.anonymise import answer

    promise = promise_of(study.policy)
    adversary = study.adversary
    if not promise or adversary.facts or not adversary.guesses_once or adversary.weight:
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
        outcome = answer(protection, resources=resources, tables=[table]).outcome
    except GlasshouseError:  # it cannot be reached, or not in time
        return
    verdict = verdict_on(measures(outcome, protection), study.policy)
    after = next(attack for attack in outcome.after.attacks if attack.sensitive == lattice.secret)
    levels = {name: level for name, level in (outcome.heights or {}).items() if level}
    yield Advice(
        "generalise",
        adversary.quasi_identifiers,
        (),
        lattice.secret,
        lattice.success(frozenset(adversary.quasi_identifiers)),
        after.probabilistic.posterior,
        verdict is not None and not verdict.failed,
        levels,
        outcome.loss,
    )
