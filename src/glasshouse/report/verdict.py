"""The verdict on a release: what was measured, held against the conditions of a policy.

What a run measures does not depend on a policy and is kept with it, so that any policy can be held against it later. A
verdict is exact; a page, a terminal, ``check`` and JSON say the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, floor, nextafter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from glasshouse.disclosure import is_shown, smallest_cell
from glasshouse.errors import StudyError
from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.report.coverage import OUTSIDE, Coverage, unknown_coverage
from glasshouse.report.page import Cell, Column, Decision, Group, Ruling, Table
from glasshouse.report.words import decimal, enumeration, percentage
from glasshouse.study.assess import parse_person_secret
from glasshouse.study.policy import (
    CLASS_SIZES,
    MEASURES,
    NOTHING_UNSEEN,
    TITLES,
    Measure,
    PolicyCondition,
    ReleasePolicy,
)

if TYPE_CHECKING:
    from glasshouse.economics.outcome import Deterrence
    from glasshouse.groups.outcome import ThreatOutcome
    from glasshouse.microdata import Assessment, Attack, Leakage
    from glasshouse.microdata.closeness import Closeness
    from glasshouse.microdata.individual import Target
    from glasshouse.microdata.knowledge import InexactKnowledge
    from glasshouse.microdata.parts import Family
    from glasshouse.microdata.people import Another, Knowing, People
    from glasshouse.microdata.presence import Member, Membership
    from glasshouse.microdata.uniqueness import PopulationRisks
    from glasshouse.mitigation.anonymisation import Anonymisation
    from glasshouse.mitigation.comparison import (
        AssessedRuns,
        ComparedRelease,
        Comparison,
        MeasuredRuns,
    )
    from glasshouse.mitigation.versions import ProtectedVersions
    from glasshouse.reconstruction import CampaignResult, Solution
    from glasshouse.study import Question

_INFERRING: tuple[Measure, ...] = ("inference-added", "inference-certain")
_CLOSE: tuple[Measure, ...] = ("close-added", "close-certain")
_SINGLING_OUT: tuple[Measure, ...] = ("some-records", "any-records")
MOST_FAILED = 4
"""So many conditions that are not met are named with the verdict."""
_ROUGH_SHARES = tuple(
    Fraction(*ratio) for ratio in ((1, 100), (1, 20), (1, 10), (1, 5), (1, 3), (1, 2), (1, 1))
)
"""What a share of people is told to be at most, where it would tell of a part with few of them."""
TWICE = 2.0
"""From how many times as credible on a secret counts as believed."""


@dataclass(frozen=True)
class Measurement:
    """What a run measured, whatever the policy."""

    measure: Measure
    """What is measured."""
    value: Fraction
    """How much it is."""
    of: str | None = None
    """The sensitive attribute that it is about."""
    knows: int | None = None
    """How many facts the adversary knows, the worst ones; None: all that can be known."""
    release: str = ""
    """Which of several releases, or parts, it is about."""
    is_bound: bool = False
    """Whether it is on the safe side of what is not told, or not known, exactly."""
    is_choice: bool = False
    """Whether the releases are versions of which one is chosen, the better ones first; else all must meet a rule."""
    records: int | None = None
    """How many records of a person the adversary happens to know; 0: all of them; None: it is not about people with
    several."""
    people: str = ""
    """How many people have so many records, as far as that is told: a number, one after a tilde that is rounded, or
    nothing where they are few."""
    inside: Fraction | None = None
    """Of those of whom it is certain whether they are in a release, the share that is; all others are certainly not.
    None: it is not about that, or about several releases."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; the value as an exact ratio in text."""
        return {
            "measure": self.measure,
            "of": self.of,
            "knows": "all" if self.knows is None else self.knows,
            "release": self.release,
            "value": str(self.value),
            "is_bound": self.is_bound,
            **({"is_choice": True} if self.is_choice else {}),
            **({} if self.records is None else {"records": self.records, "people": self.people}),
            **({} if self.inside is None else {"inside": str(self.inside)}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote down."""
        knows, inside = content["knows"], content.get("inside")
        return cls(
            content["measure"],
            Fraction(content["value"]),
            content["of"],
            None if knows == "all" else int(knows),
            content["release"],
            bool(content["is_bound"]),
            bool(content.get("is_choice")),
            content.get("records"),
            str(content.get("people", "")),
            None if inside is None else Fraction(inside),
        )


@dataclass(frozen=True)
class Judgement:
    """One condition, held against what was measured."""

    condition: PolicyCondition
    """The condition."""
    measured: Measurement
    """What was measured."""

    @property
    def met(self) -> bool:
        """Whether the condition is met."""
        return self.condition.allows(self.measured.value)

    @property
    def margin(self) -> Fraction:
        """How far the value is on the right side of the limit; negative: on the wrong one."""
        room = self.condition.limit - self.measured.value
        return -room if self.condition.is_floor else room

    @property
    def is_of_figures(self) -> bool:
        """Whether it is about what was measured, and not about what was not looked at."""
        return self.condition.measure != NOTHING_UNSEEN.measure

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; numbers as floats of the exact ratios."""
        restricted = self.condition.restricted_limit
        inside = self.measured.inside
        return {
            **self.measured.to_dict(),
            "value": float(self.measured.value),
            **({} if inside is None else {"inside": float(inside)}),
            "limit": float(self.condition.limit),
            "restricted_limit": None if restricted is None else float(restricted),
            "margin": float(self.margin),
            "met": self.met,
        }


@dataclass(frozen=True)
class Verdict:
    """What a policy says of a release."""

    policy: ReleasePolicy
    """The policy."""
    judgements: tuple[Judgement, ...]
    """Each condition that was measured, in the order of the policy; for each sensitive attribute and release."""
    unjudged: tuple[PolicyCondition, ...] = ()
    """The conditions of the policy that nothing was measured of, but for those that are asked only where it was."""
    coverage: Coverage | None = None
    """What became of every column of the release; None: that is not known."""

    @property
    def decision(self) -> Decision:
        """What follows: whether it meets the rule, at least under restricted access, or not, or cannot be told."""
        if not self.is_of_release:
            return Decision.OPEN
        if not all(
            judgement.condition.allows(judgement.measured.value, restricted=True)
            for judgement in self.judgements
            if judgement.is_of_figures
        ):
            return Decision.STOP
        if self.is_open:
            return Decision.OPEN
        return Decision.RESTRICT if self.failed else Decision.MEETS

    @property
    def meets(self) -> bool:
        """Whether it meets the rule: all was looked at that the rule asks about, and every condition holds."""
        return self.decision is Decision.MEETS

    @property
    def is_open(self) -> bool:
        """Whether not everything was looked at that must be: a column of the release, or a condition of the rule."""
        return bool(self.lacking) or not all(
            judgement.met for judgement in self.judgements if not judgement.is_of_figures
        )

    @property
    def is_of_release(self) -> bool:
        """Whether it is on a release as a whole: its columns were looked at, all or not; or on published totals."""
        return self.is_of_totals or any(not one.is_of_figures for one in self.judgements)

    @property
    def is_of_totals(self) -> bool:
        """Whether it is on published totals, of which no columns are released."""
        return any(judgement.condition.measure == "placed" for judgement in self.judgements)

    @property
    def lacking(self) -> tuple[PolicyCondition, ...]:
        """The conditions that must be judged and were not."""
        if not self.is_of_release:
            return (NOTHING_UNSEEN, *self.unjudged)
        return tuple(
            one for one in self.unjudged if self.policy.complete and not one.where_measured
        )

    @property
    def of_columns(self) -> tuple[Measurement, ...]:
        """What was measured of the columns of the release, which is the same of each version of it."""
        return tuple(
            replace(judgement.measured, release="")
            for judgement in self.judgements
            if MEASURES[judgement.condition.measure].counts_columns
        )

    @property
    def failed(self) -> int:
        """How many conditions are not met."""
        return sum(not judgement.met for judgement in self.judgements)

    def __bool__(self) -> bool:
        """Tell whether it meets the rule, so that ``if gh.check(data):`` is true only for what may be published."""
        return self.meets

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "policy": self.policy.name,
            "decision": self.decision.value,
            "meets": self.meets,
            "failed": self.failed,
            "judged": len({judgement.condition.measure for judgement in self.judgements}),
            "not_judged": [condition.measure for condition in self.unjudged],
            "coverage": None if self.coverage is None else self.coverage.to_dict(),
            "conditions": [judgement.to_dict() for judgement in self.judgements],
        }


def verdict_on(
    measurements: Iterable[Measurement],
    policy: ReleasePolicy,
    coverage: Coverage | None = None,
) -> Verdict | None:
    """Hold what was measured against a policy; None: it measures nothing that the policy asks for.

    Of versions to choose from it is the verdict on the one to choose: the first of those that do best by the policy.

    Args:
        measurements: What was measured.
        policy: The policy; that no column of a release was passed over is asked whatever it says.
        coverage: What became of the columns of the release, to be told with the verdict.

    Raises:
        StudyError: A condition is about a sensitive attribute that is none.
    """
    measured = tuple(measurements)
    versions = dict.fromkeys(entry.release for entry in measured if entry.is_choice)
    if versions:
        verdicts = (
            verdict_on(
                (
                    replace(entry, is_choice=False)
                    for entry in measured
                    if not entry.is_choice or entry.release == version
                ),
                policy,
                coverage,
            )
            for version in versions
        )
        order = list(Decision)
        return max(
            (verdict for verdict in verdicts if verdict is not None),
            key=lambda verdict: order.index(verdict.decision),
            default=None,
        )
    answers = {
        condition: tuple(_answers(condition, measured))
        for condition in dict.fromkeys((NOTHING_UNSEEN, *policy.conditions))
    }
    judgements = tuple(
        Judgement(condition, measurement)
        for condition, answering in answers.items()
        for measurement in answering
    )
    if not any(judgement.is_of_figures for judgement in judgements):
        return None
    nothing_secret = _nothing_is_secret(measured)
    of_totals = any(entry.measure == "placed" for entry in measured)
    unjudged = tuple(
        condition
        for condition in policy.conditions
        if not answers[condition]
        and not condition.where_measured
        and not of_totals
        and not (nothing_secret and MEASURES[condition.measure].of_secret)
    )
    return Verdict(policy, judgements, unjudged, coverage)


def no_worse_than(
    policy: ReleasePolicy,
    before: Iterable[Measurement],
    now: Sequence[Measurement],
    baseline: str,
) -> ReleasePolicy:
    """Return a policy that also asks that nothing is worse than in a run before, and that no column is new.

    Args:
        policy: The policy.
        before: What the run before measured.
        now: What is judged.
        baseline: What the run before is called.
    """
    conditions = {condition.measure for condition in policy.conditions}
    there = {(entry.measure, entry.of) for entry in now if entry.knows is None}
    source = text("no worse than in “{run}”", run=baseline)
    worst: dict[tuple[Measure, str | None], Fraction] = {}
    for entry in before:
        key = (entry.measure, entry.of)
        if entry.knows is None and key in there and entry.measure in conditions:
            choose = min if entry.measure == "smallest-class" else max
            worst[key] = choose(worst.get(key, entry.value), entry.value)
    further = [
        PolicyCondition(measure=measure, at_least=int(value), of=of, source=source)
        if measure == "smallest-class"
        else PolicyCondition(measure=measure, at_most=_not_below(value), of=of, source=source)
        for (measure, of), value in worst.items()
        if not MEASURES[measure].counts_columns
    ]
    new = PolicyCondition(measure="new-columns", at_most=0, source=source)
    return policy.model_copy(update={"conditions": (*policy.conditions, *further, new)})


def _not_below(value: Fraction) -> float:
    """Return a number that a share is at most, and hardly more than it."""
    return float(value) if value in (0, 1) else min(1.0, nextafter(float(value), 2))


def new_columns(before: Coverage, now: Coverage) -> Measurement:
    """Return how many columns of a release are new since a run before, but for those dropped or dismissed by name."""
    known = {column.name for column in before.columns}
    new = [
        column for column in now.columns if column.name not in known and column.fate not in OUTSIDE
    ]
    return Measurement("new-columns", Fraction(len(new)))


def _nothing_is_secret(measured: Sequence[Measurement]) -> bool:
    """Tell whether all of a release was looked at, and nothing in it is to be inferred."""
    unseen = [entry.value for entry in measured if entry.measure == NOTHING_UNSEEN.measure]
    return bool(unseen) and not any(unseen) and all(entry.of is None for entry in measured)


def _answers(
    condition: PolicyCondition, measured: tuple[Measurement, ...]
) -> Iterator[Measurement]:
    """Yield what answers a condition.

    Who knows all there is knows at least any so many facts: where these were not measured, that is on the safe side.
    """
    alike = [entry for entry in measured if entry.measure == condition.measure]
    if condition.of is not None:
        secrets = sorted({entry.of for entry in alike if entry.of is not None})
        if secrets and condition.of not in secrets:
            raise StudyError(
                'the policy has a condition on "{name}", which is no sensitive attribute here; they are {secrets}',
                name=condition.of,
                secrets=", ".join(secrets),
            )
        alike = [entry for entry in alike if entry.of == condition.of]
    alike = list(_at_known_records(condition, alike))
    facts = None if condition.knows == "all" else condition.knows
    measured_so = [entry for entry in alike if entry.knows == facts]
    whole = (entry for entry in alike if entry.knows is None)
    yield from measured_so or (replace(entry, knows=facts, is_bound=True) for entry in whole)


def _at_known_records(
    condition: PolicyCondition, alike: Sequence[Measurement]
) -> Iterator[Measurement]:
    """Yield what was measured with as many known records of a person as a condition says, or with which it is most."""
    of_people = [entry for entry in alike if entry.records is not None]
    if condition.records is None:
        yield from (entry for entry in alike if entry.records is None)
        for about in dict.fromkeys((entry.of, entry.release) for entry in of_people):
            alike = [entry for entry in of_people if (entry.of, entry.release) == about]
            yield max(alike, key=lambda one: one.value)
        return
    chosen = [entry for entry in of_people if entry.records == condition.records]
    assessed = {entry.release for entry in chosen}
    if lacking := [entry.records or 0 for entry in of_people if entry.release not in assessed]:
        raise StudyError(
            "the policy has a condition on who knows {records} records of a person, and up to {most} were assessed; "
            "assess more of them (`knows`), or leave it out",
            records=condition.records,
            most=max(lacking),
        )
    yield from chosen


# What the outcome of each command measures


def measures(outcome: Any, question: Question) -> tuple[Measurement, ...]:
    """Return what the outcome of any command measures, whatever the policy."""
    return tuple(_MEASURED[question.command](outcome))


def column_measures(coverage: Coverage, release: str = "") -> tuple[Measurement, ...]:
    """Return what is measured of the columns of a release: how many were not looked at, and how many name people."""
    direct = sum(column.names_people for column in coverage.columns)
    counts: dict[Measure, int] = {
        NOTHING_UNSEEN.measure: len(coverage.unseen),
        "direct-identifiers": direct,
    }
    return tuple(
        Measurement(measure, Fraction(count), release=release) for measure, count in counts.items()
    )


def _of_assess(outcome: Assessment | Family | People) -> Iterator[Measurement]:
    from glasshouse.microdata import Assessment, People

    if outcome.with_suppressed is not None:
        without = replace(outcome, with_suppressed=None)
        yield from worst_of(_of_assess(without), _of_assess(outcome.with_suppressed))
    elif isinstance(outcome, Assessment):
        yield from of_assessment(outcome)
    elif isinstance(outcome, People):
        yield from _of_people(outcome)
    else:
        yield from _of_parts(outcome)


def worst_of(*measured: Iterable[Measurement]) -> Iterator[Measurement]:
    """Yield the worst of what was measured of one release in several ways, such as with its suppressed records.

    What was measured in one of the ways only counts as it is.
    """
    alike: dict[tuple[object, ...], list[Measurement]] = {}
    for entry in (entry for entries in measured for entry in entries):
        about = (entry.measure, entry.of, entry.knows, entry.release, entry.records)
        alike.setdefault(about, []).append(entry)
    for entries in alike.values():
        worst = min if entries[0].measure == "smallest-class" else max
        yield worst(entries, key=lambda entry: (entry.value, entry.is_bound))


def _of_inexact(known: InexactKnowledge, release: str) -> Iterator[Measurement]:
    """Yield what is learned by who does not know everything exactly: the most of what was asked for."""
    for target in known.targets:
        chances = [target.chances(row) for row in range(len(known.masks))]
        chances = chances if target.mixed is None else [target.mixed]
        guess = max(one[0] for one in chances)
        sure = max(one[2] if known.errs else one[1] for one in chances)
        if target.secret:
            of, (before, certain) = target.sensitive, target.before
            added, surer = max(Fraction(0), guess - before), max(Fraction(0), sure - certain)
            yield Measurement("inference-added-inexactly", added, of, release=release)
            yield Measurement("inference-certain-inexactly", surer, of, release=release)
        else:
            yield Measurement("named-inexactly", sure, release=release)
            yield Measurement("best-guess-inexactly", guess, release=release)


def _of_people(outcome: People) -> Iterator[Measurement]:
    """Yield what is learned of people with several records, by how many of them are known.

    What was estimated, and what is not told as it is about few people, is judged on the safe side.
    """
    from glasshouse.report.discretion import Among, falling

    def counts_of(curve: Sequence[Knowing | Another]) -> list[str]:
        """Return how many people have so many records, as far as that is told."""
        return [
            (str(count) if count == result.targets else f"~{count}") if count else ""
            for result, count in zip(curve, falling(one.targets for one in curve), strict=True)
        ]

    with_more = {}
    for name in outcome.curve[0].another:
        results = [result for result in outcome.curve if name in result.another]
        _, *people_with_more = counts_of(
            [results[0], *(result.another[name] for result in results)]
        )
        for result, people in zip(results, people_with_more, strict=True):
            with_more[name, result.events] = people
    for result, counted in zip(outcome.curve, counts_of(outcome.curve), strict=True):

        def measured(
            measure: Measure,
            value: Fraction,
            of: str | None = None,
            *,
            margin: Fraction | None = None,
            records: int = result.events or 0,
            people: str = counted,
        ) -> Measurement:
            bound = Fraction(1) if not people else min(Fraction(1), value + (margin or 0))
            is_bound = not people or margin is not None
            return Measurement(
                measure, bound, of, is_bound=is_bound, records=records, people=people
            )

        if outcome.unlinked:
            yield measured("named", result.unlinked)
            if result is not outcome.curve[0]:
                continue
            for name, (guess, certainty) in outcome.record_guess.items():
                if name:
                    of = counted if is_shown(outcome.known_of.get(name, outcome.people)) else ""
                    yield measured("inference-added", guess.additive, name, people=of)
                    yield measured("inference-certain", _made_certain(certainty), name, people=of)
                else:
                    yield measured("best-guess", guess.posterior)
            continue
        yield measured("named", result.certainty.posterior, margin=result.margin)
        yield measured("best-guess", result.guessing.posterior, margin=result.margin)
        for name, (guess, certainty) in result.secrets.items():
            of = counted if is_shown(result.targets_of(name)) else ""
            learned = (guess.additive, _made_certain(certainty))
            for measure, value in zip(_INFERRING, learned, strict=True):
                yield measured(measure, value, name, margin=result.margin, people=of)
        for name, one in result.another.items():
            people = with_more.get((name, result.events), "")
            learned = (one.guess.additive, _made_certain(one.certainty))
            for measure, value in zip(_INFERRING, learned, strict=True):
                yield measured(measure, value, name, margin=one.margin, people=people)
        for measure, single in zip(_SINGLING_OUT, (result.some, result.any), strict=True):
            if single is not None:
                share = Fraction(single, result.targets)
                highest = Among(result.targets).bounds(share)[1]
                entry = measured(measure, highest)
                yield replace(entry, is_bound=entry.is_bound or highest != share)


def of_assessment(assessment: Assessment, release: str = "") -> Iterator[Measurement]:
    """Yield what an assessment measures: with all that can be known, and with any so many facts."""
    from glasshouse.report.attacks import by_knowledge, last_window, widest

    attacks = last_window(assessment.attacks)
    whole = widest(attacks)
    yield from of_attacks([whole], None, release)
    facts = max(len(attack.quasi_identifiers) for attack in whole)
    by_size: dict[int, list[list[Attack]]] = {}
    for same in by_knowledge(attacks):
        by_size.setdefault(len(same[0].quasi_identifiers), []).append(same)
    for size, sets in sorted(by_size.items()):
        if size < facts and len(sets) == comb(facts, size):
            yield from of_attacks(sets, size, release)
    for close in assessment.close:
        yield from _of_close_guesses(close, release)
    if assessment.inexact is not None:
        yield from _of_inexact(assessment.inexact, release)


def _of_close_guesses(close: Closeness, release: str) -> Iterator[Measurement]:
    """Yield what is added to close guesses of a number: with all that can be known, and with any so many facts."""
    sizes = np.array([mask.bit_count() for mask in close.masks.tolist()])
    facts = len(close.quasi_identifiers)
    for size in range(facts, 0, -1):
        rows = sizes == size
        if np.count_nonzero(rows) == comb(facts, size):
            knows = None if size == facts else size
            added = int(close.close[rows].max()) - close.before[0]
            certain = int(close.certain[rows].max()) - close.before[1]
            for measure, count in zip(_CLOSE, (added, certain), strict=True):
                share = Fraction(count, close.records)
                yield Measurement(measure, share, close.secret, knows, release)


def of_attacks(
    sets: Iterable[Iterable[Attack]], knows: int | None, release: str = ""
) -> Iterator[Measurement]:
    """Yield what attacks with several sets of attributes measure: the worst of each.

    Args:
        sets: Per set of attributes, the attacks with it.
        knows: How many attributes they are; None: all that can be known.
        release: Which of several releases it is.
    """
    from glasshouse.report.attacks import classes_are_counted

    def worst(measure: Measure, values: Iterable[Fraction], of: str | None = None) -> Measurement:
        return Measurement(measure, _greatest(values), of, knows, release)

    attacks = [attack for same in sets for attack in same]
    naming = [attack for attack in attacks if not attack.secret]
    if naming:
        yield worst("named", (attack.deterministic.posterior for attack in naming))
        yield worst("best-guess", (attack.probabilistic.posterior for attack in naming))
        if all(map(classes_are_counted, naming)):
            sizes = [attack.class_sizes for attack in naming]
            least = min(size.smallest for size in sizes)
            is_bound = not all(size.is_exact for size in sizes if size.smallest == least)
            yield Measurement("smallest-class", Fraction(least), None, knows, release, is_bound)
            yield Measurement("highest-risk", Fraction(1, least), None, knows, release, is_bound)
    for secret in dict.fromkeys(attack.secret for attack in attacks if attack.secret):
        inferring = [attack for attack in attacks if attack.secret == secret]
        of = inferring[0].sensitive
        added = _added(attack.probabilistic for attack in inferring)
        certain = _added(attack.deterministic for attack in inferring)
        yield worst("inference-added", [Fraction(0), *added], of)
        shared = [one.deterministic.posterior for one in inferring if one.deterministic.prior == 1]
        yield worst("inference-certain", [*certain, *shared], of)


def _made_certain(certainty: Leakage) -> Fraction:
    """Return for how many a release makes a secret certain: all, where everybody in it has the same one."""
    return certainty.posterior if certainty.prior == 1 else certainty.additive


def _greatest(values: Iterable[Fraction]) -> Fraction:
    """Return the greatest ratio: of many, only those with the greatest quotient need to be compared exactly."""
    ratios = list(values)
    quotients = list(map(float, ratios))
    top = max(quotients)
    return max(ratio for ratio, quotient in zip(ratios, quotients, strict=True) if quotient == top)


def _added(leakages: Iterable[Leakage]) -> Iterator[Fraction]:
    """Yield the most that was added to each success before."""
    after: dict[tuple[int, int], list[Leakage]] = {}
    for leakage in leakages:
        after.setdefault(leakage.prior.as_integer_ratio(), []).append(leakage)
    for alike in after.values():
        yield _greatest(leakage.posterior for leakage in alike) - alike[0].prior


def _of_parts(family: Family) -> Iterator[Measurement]:
    """Yield what the parts of a release measure, as far as a report may tell it: on the safe side of what it may not.

    Parts with too few people to be told are judged with all others, by bounds that do not tell of them.
    """
    from glasshouse.disclosure import hidden_parts
    from glasshouse.report.discretion import among_part

    hidden = hidden_parts([(part.records,) for part in family.parts])
    unnamed = {family.parts[place].name for place in hidden}
    sizes = {part.name: part.records for part in family.parts}
    facts = max(family.sizes)
    for name, attacks in family.whole.items():
        is_hidden = name in unnamed or family.by is not None
        for entry in of_attacks([attacks], None, "" if name in unnamed else name):
            yield _bounded(entry, sizes.get(name, family.records)) if is_hidden else entry
    for place, part in enumerate(family.parts):
        if place in hidden:
            continue
        among = among_part(part.records, exact=family.by is None)
        for best in part.best:
            knows = None if best.size == facts else best.size
            if knows is None and part.name in family.whole:
                continue
            leakage, secret = best.leakage, best.sensitive
            if secret is None:
                yield Measurement("best-guess", leakage.posterior, None, knows, part.name)
                continue
            least, most = among.added(leakage.prior, leakage.posterior)
            yield Measurement("inference-added", most, secret, knows, part.name, least < most)


def _bounded(entry: Measurement, people: int) -> Measurement:
    """Return a measurement on the safe side, so roughly that no small count of people in a part follows from it.

    A share is rounded up to one of few, of which two neighbours are many people apart; none stays none.
    """
    if entry.measure == "smallest-class":
        value = Fraction(max(size for size in CLASS_SIZES if size <= entry.value))
        return replace(entry, value=value if is_shown(int(value)) else Fraction(1), is_bound=True)
    apart = Fraction(2 * smallest_cell(), max(people, 1))
    roughly = (share for share in _ROUGH_SHARES if entry.value <= share and apart <= share)
    return replace(
        entry, value=next(roughly, Fraction(1)) if entry.value else entry.value, is_bound=True
    )


def _of_target(target: Target | Member) -> Iterator[Measurement]:
    """Yield how many people can be the one who is looked for; of few it is told, and judged, that they are few."""
    from glasshouse.microdata.individual import Target
    from glasshouse.report.discretion import COARSELY

    if not target.candidates:
        return
    candidates, is_bound = target.candidates, not is_shown(target.candidates)
    if isinstance(target, Target) and target.histories is not None:
        # not all who fit are as likely: as many as would make the best guess right as often, or fewer
        candidates = floor(1 / COARSELY.bounds(target.naming.posterior)[1])
        is_bound = True
    if not is_shown(candidates):
        candidates = 1
    yield Measurement("smallest-class", Fraction(candidates), is_bound=is_bound)
    yield Measurement("highest-risk", Fraction(1, candidates), is_bound=is_bound)


def _of_membership(outcome: Membership | Member | PopulationRisks) -> Iterator[Measurement]:
    from glasshouse.microdata.presence import Member, Membership
    from glasshouse.microdata.uniqueness import PopulationRisks

    if isinstance(outcome, Member):
        yield from _of_target(outcome)
    elif isinstance(outcome, PopulationRisks):
        yield from _of_population(outcome)
    elif isinstance(outcome, Membership):
        certain = outcome.deterministic.additive
        told_apart = not outcome.each and certain > 0
        inside = Fraction(outcome.certainly_in, outcome.people) if told_apart else None
        yield Measurement("membership-certain", certain, inside=inside)
        if outcome.marketer is not None:
            yield Measurement("best-guess", outcome.marketer)
        if outcome.journalist is not None:
            yield Measurement("highest-risk", outcome.journalist)


def _of_population(risks: PopulationRisks) -> Iterator[Measurement]:
    """Yield what is estimated of a sample: of several estimates the highest, and who is alone in the population, too.

    Where no estimator tells how many of those alone in the sample are, all of them may be.
    """
    from glasshouse.report.membership.findings import named_with_a_register, records_alone

    low, high = named_with_a_register(risks)
    estimated = records_alone(risks)
    alone = risks.uniques if estimated is None else estimated
    unknown = estimated is None and risks.uniques > 0
    named = Fraction(alone, risks.records)
    yield Measurement("named", named, is_bound=unknown)
    yield Measurement("best-guess", max(named, high), is_bound=unknown or low < high)
    highest = Fraction(1) if alone else risks.journalist_highest
    yield Measurement("highest-risk", highest, is_bound=unknown)


def _of_compare(outcome: Comparison | AssessedRuns | MeasuredRuns) -> Iterator[Measurement]:
    """Yield what the releases measure that are compared; the original is not about to be released.

    Of runs that are compared by their main figures, those about people with several records have kept it.
    """
    from glasshouse.mitigation.comparison import Comparison

    if isinstance(outcome, Comparison):
        for release in outcome.by_trade:
            for entry in of_release(release):
                yield replace(entry, is_choice=True)
    else:
        for run in outcome.runs:
            for entry in map(Measurement.from_dict, run.measures):
                if not MEASURES[entry.measure].counts_columns:
                    yield replace(entry, release=run.name)


def _of_protect(outcome: ProtectedVersions) -> Iterator[Measurement]:
    """Yield what the versions measure of which one is chosen, the one to recommend first."""
    for version in outcome.by_cost:
        for entry in of_release(version.compared):
            yield replace(entry, is_choice=True)


def of_release(release: ComparedRelease) -> Iterator[Measurement]:
    """Yield what a release measures; where it holds suppressed records, the worst of with and without them."""
    ways = (release.attacks, *release.judged)
    return worst_of(*(of_attacks([attacks], None, release.name) for attacks in ways))


def _of_anonymise(outcome: Anonymisation) -> Iterator[Measurement]:
    """Yield what a protected release measures; where it holds suppressed records, the worst of with and without."""
    return worst_of(*map(of_assessment, (outcome.after, *outcome.judged)))


def _of_threat(outcome: ThreatOutcome) -> Iterator[Measurement]:
    if outcome.measures is not None and not outcome.one_victim:
        share = outcome.measures.share_above(TWICE, threatened=False)
        yield Measurement("believed", share, "+".join(outcome.release.sensitive.names))


def _of_totals(outcome: CampaignResult | Solution) -> Iterator[Measurement]:
    """Yield how many records have one place only; whatever was not solved may, and nothing is told of what was not."""
    from glasshouse.reconstruction import CampaignResult
    from glasshouse.report.totals.findings import is_settled

    if not isinstance(outcome, CampaignResult):
        single = sum(len(bins) == 1 for bins in outcome.feasible_bins)
        if outcome.feasible_bins and outcome.status != "infeasible":
            yield _settled(
                "placed", Fraction(single, len(outcome.feasible_bins)), proved=outcome.proved
            )
        return
    last, proved = outcome.phases[-1], is_settled(outcome)
    if not outcome.records or not outcome.solved:
        return
    yield _settled("placed", Fraction(last.linked_so_far, outcome.records), proved=proved)
    if outcome.entities is not None:
        yield _settled("named", Fraction(last.exposed, outcome.records), proved=proved)
    for exposure in outcome.exposures.get("bayes", ())[-1:]:
        yield Measurement("best-guess", Fraction(str(exposure.chance)))


def _settled(measure: Measure, share: Fraction, *, proved: bool) -> Measurement:
    """Return a measurement of what was proved; else what was not may be all."""
    return Measurement(measure, share if proved else Fraction(1), is_bound=not proved)


def _of_deter(outcome: Deterrence) -> Iterator[Measurement]:
    exposure = outcome.exposure
    if exposure is None:
        highest = float(outcome.policy.reidentification.max(initial=0.0))
    else:
        highest = float(exposure.known.max(initial=0.0))
        most = max(exposure.expected_known, exposure.expected_unknown)
        expected = Fraction(str(most)) / max(1, outcome.records)
        yield Measurement("re-identified", min(Fraction(1), expected))
    yield Measurement("highest-risk", Fraction(str(highest)))


_MEASURED: dict[str, Callable[[Any], Iterator[Measurement]]] = {
    "assess": _of_assess,
    "target": _of_target,
    "membership": _of_membership,
    "protect": _of_protect,
    "anonymise": _of_anonymise,
    "compare": _of_compare,
    "threat": _of_threat,
    "totals": _of_totals,
    "deter": _of_deter,
}


# How a verdict is said


HEADLINES = {
    Decision.STOP: marked("Do not publish as it is"),
    Decision.RESTRICT: marked("Publish only with changes or under restricted access"),
    Decision.OPEN: marked("Not judged as a whole"),
    Decision.MEETS: marked("Meets the rule"),
}
"""What a decision says; that something is safe is never said."""


def ruling(verdict: Verdict) -> Ruling:
    """Return a verdict in words, in the language that is spoken."""
    policy = verdict.policy
    sources = dict.fromkeys(
        translated(judgement.condition.source)
        for judgement in verdict.judgements
        if judgement.condition.source
    )
    return Ruling(
        verdict.decision,
        translated(HEADLINES[verdict.decision])
        if verdict.is_of_release
        else text("No verdict on the release"),
        _tally(verdict),
        _conditions_table(verdict),
        tuple(_coverage_sentences(verdict)),
        tuple(filter(None, (translated(policy.excludes), *_sources(sources)))),
    )


def rule_name(policy: ReleasePolicy) -> str:
    """Return what a rule is called in a sentence."""
    return translated(TITLES.get(policy.name, policy.name))


def _tally(verdict: Verdict) -> str:
    """Say how many conditions of which rule were judged, and how many of them are not met."""
    of_figures: dict[tuple[PolicyCondition, str | None], bool] = {}
    for judgement in verdict.judgements:
        if judgement.is_of_figures:  # of several releases, all must meet a condition
            about = (judgement.condition, judgement.measured.of)
            of_figures[about] = of_figures.get(about, True) and judgement.met
    failed = sum(not met for met in of_figures.values())
    rule = rule_name(verdict.policy)
    judged = len({condition for condition, _ in of_figures})
    if not verdict.is_of_release:
        return (
            text_for(
                judged,
                "of the {conditions} conditions of “{rule}” {count} was measured here, and holds",
                "of the {conditions} conditions of “{rule}” {count} were measured here, and hold",
                conditions=len(verdict.policy.conditions),
                rule=rule,
            )
            if not failed
            else text_for(
                judged,
                "of the {conditions} conditions of “{rule}” {count} was measured here, and is not met",
                "of the {conditions} conditions of “{rule}” {count} were measured here, and {failed} not met",
                conditions=len(verdict.policy.conditions),
                failed=failed,
                rule=rule,
            )
        )
    if failed:
        tally = text_for(
            len(of_figures),
            "it fails the only condition of the rule “{rule}” that was judged",
            "it fails {failed} of the {count} conditions of the rule “{rule}” that were judged",
            failed=failed,
            rule=rule,
        )
    else:
        tally = text_for(
            len(of_figures),
            "the only condition of “{rule}” that was judged holds",
            "all {count} conditions of “{rule}” that were judged hold",
            rule=rule,
        )
    if verdict.unjudged:
        tally += "; " + text_for(
            judged,
            "of {conditions} conditions {count} was judged",
            "of {conditions} conditions {count} were judged",
            conditions=len(verdict.unjudged) + judged,
        )
    return tally


def _coverage_sentences(verdict: Verdict) -> Iterator[str]:
    """Yield what is not met, and what the verdict covers: the columns of the release, and what was not judged."""
    failed = [one for one in verdict.judgements if one.is_of_figures and not one.met]
    if failed:
        conditions = [
            text(
                "{condition}: {value} (the rule: {limit})",
                condition=condition_words(judgement),
                value=value_words(judgement.measured),
                limit=limit_words(judgement.condition, judgement.condition.limit),
            )
            for judgement in failed[:MOST_FAILED]
        ]
        if (rest := len(failed) - MOST_FAILED) > 0:
            conditions.append(text_for(rest, "{count} further", "{count} further"))
        yield text("Not met: {conditions}.", conditions="; ".join(conditions))
    if not verdict.is_of_release:
        yield text(
            "This is no verdict on a release: it is what was measured here. glasshouse check judges the file itself."
        )
    elif verdict.coverage is not None:
        yield from verdict.coverage.sentences()
    elif not verdict.is_of_totals:
        yield unknown_coverage()
    if verdict.unjudged and verdict.is_of_release:
        measures = dict.fromkeys(condition.measure for condition in verdict.unjudged)
        words = "; ".join(map(measure_words, measures))
        if verdict.lacking:
            yield text("Not judged, though the rule requires it: {conditions}.", conditions=words)
        else:
            yield text("Not judged: {conditions}.", conditions=words)


def measure_words(measure: Measure) -> str:
    """Say what a measure is about, of any sensitive attribute."""
    of = {"of": text("sensitive attribute")} if MEASURES[measure].of_secret else {}
    return translated(MEASURES[measure].words, **of)


def _sources(sources: Iterable[str]) -> Iterator[str]:
    listed = "; ".join(sources)
    if listed:
        yield text("Where the numbers come from: {sources}.", sources=listed)


def _conditions_table(verdict: Verdict) -> Table:
    judgements = verdict.judgements
    columns = (
        Column(text("Condition")),
        Column(text("Measured"), numeric=True),
        Column(text("Rule"), numeric=True),
        Column(text("Restricted access"), numeric=True),
        Column(text("Margin"), numeric=True),
        Column(text("Met")),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            Cell(condition_words(judgement)),
            Cell(value_words(judgement.measured)),
            Cell(limit_words(judgement.condition, judgement.condition.limit)),
            Cell(limit_words(judgement.condition, judgement.condition.restricted_limit)),
            Cell(margin_words(judgement)),
            Cell(text("yes") if judgement.met else text("no"), mark="✓" if judgement.met else "✗"),
        )
        for judgement in judgements
    ]
    rows += [
        (
            Cell(measure_words(condition.measure)),
            Cell("–"),
            Cell(limit_words(condition, condition.limit)),
            Cell(limit_words(condition, condition.restricted_limit)),
            Cell("–"),
            Cell(text("not judged"), mark="?"),
        )
        for condition in verdict.unjudged
    ]
    return Table(columns, (Group(tuple(rows)),), text("The conditions"))


def condition_words(judgement: Judgement) -> str:
    """Say what a condition is about: the measure, the sensitive attribute, whom, and which of several releases."""
    measured, condition = judgement.measured, judgement.condition
    words = translated(
        MEASURES[condition.measure].words,
        **(
            {"of": enumeration([measured.of])}
            if measured.of and MEASURES[condition.measure].of_secret
            else {}
        ),
    )
    if measured.knows is not None:
        words = text_for(
            measured.knows,
            "{measure}, by someone who knows any {count} fact",
            "{measure}, by someone who knows any {count} facts",
            measure=words,
        )
    if measured.records is not None:
        words = _with_known_records(words, measured)
    if measured.release:
        words = text("{measure} ({release})", measure=words, release=translated(measured.release))
    return words


def _with_known_records(words: str, measured: Measurement) -> str:
    """Say of how many records a measure is: those that somebody happens to know, some of them, or any of them."""
    about, figure = measured.people.startswith("~"), measured.people.removeprefix("~")
    people = text("fewer than {smallest}", smallest=smallest_cell())
    if figure:
        people = number(int(figure))
        people = text("about {count}", count=people) if about else people
    if not measured.records:
        return text(
            "{measure}, by someone who knows all of their records ({people} people)",
            measure=words,
            people=people,
        )
    if measured.measure in _SINGLING_OUT:
        return text_for(
            measured.records,
            "{measure}: {count} record (of {people} people who have so many)",
            "{measure}: {count} records (of {people} people who have so many)",
            measure=words,
            people=people,
        )
    if measured.of is not None and parse_person_secret(measured.of).how == "other":
        return text_for(
            measured.records,
            "{measure}, by someone who happens to know {count} record of theirs (of {people} people who have more)",
            "{measure}, by someone who happens to know {count} records of theirs (of {people} people who have more)",
            measure=words,
            people=people,
        )
    return text_for(
        measured.records,
        "{measure}, by someone who happens to know {count} record of theirs (of {people} people who have so many)",
        "{measure}, by someone who happens to know {count} records of theirs (of {people} people who have so many)",
        measure=words,
        people=people,
    )


def value_words(measured: Measurement) -> str:
    """Say what was measured, as far as it is told."""
    if MEASURES[measured.measure].counts_columns:
        return number(int(measured.value))
    if measured.measure == "smallest-class":
        count = int(measured.value)
        if measured.is_bound and count == 1:
            return text("few")
        return f"≥ {number(count)}" if measured.is_bound else number(count)
    if MEASURES[measured.measure].in_points:
        share = text("{figure} points", figure=decimal(100 * measured.value, 1))
    else:
        share = percentage(measured.value)
    if measured.inside is not None:
        return text(
            "{inside} in it + {outside} not in it = {share}",
            share=share,
            inside=percentage(measured.inside),
            outside=percentage(measured.value - measured.inside),
        )
    return f"≤ {share}" if measured.is_bound else share


def limit_words(condition: PolicyCondition, limit: Fraction | None) -> str:
    """Say what a condition asks: its limit, or the one for restricted access; a dash where nothing is asked."""
    if limit is None:
        return "–"
    if condition.is_floor:
        return f"≥ {number(int(limit))}"
    if MEASURES[condition.measure].counts_columns:
        return f"≤ {number(int(limit))}"
    figure = number(100 * float(limit), ".4g")
    points = MEASURES[condition.measure].in_points
    return f"≤ {text('{figure} points', figure=figure) if points else text('{figure}%', figure=figure)}"


def margin_words(judgement: Judgement) -> str:
    """Say how far a value is on the right side of its limit, or, with a minus, on the wrong one."""
    margin = judgement.margin
    if judgement.measured.is_bound and not judgement.met:
        return "–"
    if judgement.condition.is_floor or MEASURES[judgement.condition.measure].counts_columns:
        return decimal(margin, 0)
    return text("{figure} points", figure=decimal(100 * margin, 1))
