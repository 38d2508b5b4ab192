"""What an assessment: of all people, of parts of a release, or of people with several records measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np

from glasshouse.disclosure import hidden_parts, is_shown, smallest_cell
from glasshouse.measures.attacks import by_knowledge, classes_are_counted, last_window, widest
from glasshouse.measures.discretion import Bounding, falling
from glasshouse.measures.measurement import Measurement, worst_of
from glasshouse.microdata import (
    Assessment,
    Attack,
    Closeness,
    Family,
    InexactKnowledge,
    Leakage,
    People,
    SyntheticRelease,
)
from glasshouse.microdata.column_noise import ColumnNoise
from glasshouse.microdata.households import Households
from glasshouse.microdata.people import Another, Knowing
from glasshouse.study.policy import BY_RECORDS, CLASS_SIZES, Measure

_INFERRING: tuple[Measure, ...] = ("inference-added", "inference-certain")
_CLOSE: tuple[Measure, ...] = ("close-added", "close-certain")
_ROUGH_SHARES = tuple(
    Fraction(*ratio) for ratio in ((1, 100), (1, 20), (1, 10), (1, 5), (1, 3), (1, 2), (1, 1))
)
"""What a share of people is told to be at most, where it would tell of a part with few of them."""


def measured(
    outcome: Assessment | Family | People | SyntheticRelease,
) -> Iterator[Measurement]:
    """Yield what an assessment measures: of people, of parts, of people with several records, or of synthetic ones."""
    if isinstance(outcome, SyntheticRelease):
        yield from _of_synthetic(outcome)
    elif outcome.with_suppressed is not None:
        without = replace(outcome, with_suppressed=None)
        yield from worst_of(measured(without), measured(outcome.with_suppressed))
    elif isinstance(outcome, Assessment):
        yield from of_assessment(outcome)
    elif isinstance(outcome, People):
        yield from _of_people(outcome)
    else:
        yield from _of_parts(outcome)


def _of_synthetic(outcome: SyntheticRelease) -> Iterator[Measurement]:
    """Yield what a synthetic release remembers of its own people; without a holdout it may be all, and is not known."""
    remembered, everything = outcome.remembered, Fraction(1)
    at_least = everything if remembered is None else remembered.at_least
    copied = everything if remembered is None else remembered.copied
    yield Measurement("remembered", at_least, is_bound=remembered is None)
    yield Measurement("copied", copied, is_bound=remembered is None)


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
        for measure, single in zip(BY_RECORDS, (result.some, result.any), strict=True):
            if single is not None:
                share = Fraction(single, result.targets)
                highest = Bounding(result.targets).bounds(share)[1]
                entry = measured(measure, highest)
                yield replace(entry, is_bound=entry.is_bound or highest != share)


_DENOMINATORS = 10**12
"""What doubles tell is told as a fraction with a denominator up to this."""


def of_assessment(assessment: Assessment, release: str = "") -> Iterator[Measurement]:
    """Yield what an assessment of people, of parts of a release, or of people with several records measures."""
    """Yield what an assessment measures: with all that can be known, and with any so many facts."""
    attacks = last_window(assessment.attacks)
    whole = widest(attacks)
    yield from worst_of(
        of_attacks([whole], None, release),
        _of_households(assessment.households, release),
        _of_noise(assessment.noise, release),
    )
    if assessment.noise:
        convinced = max(Fraction(one.worst.convinced) for one in assessment.noise)
        share = convinced.limit_denominator(_DENOMINATORS)
        yield Measurement("noise", share, release=release)
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


def _of_noise(noises: Iterable[ColumnNoise], release: str) -> Iterator[Measurement]:
    """Yield what is added to guesses at true values, and certain of them, by who knows how they were changed."""
    for one in noises:
        added = max(one.learned.together - one.prior, Fraction(0))
        yield Measurement("inference-added", added, of=one.column, release=release)
        yield Measurement("inference-certain", one.learned.certain, of=one.column, release=release)


def _of_households(homes: Households | None, release: str) -> Iterator[Measurement]:
    """Yield who is named by way of a household: where it is more than who is by themselves, a rule judges it."""
    if homes is None:
        return
    yield Measurement("named", homes.certain, release=release)
    yield Measurement("best-guess", homes.guessed, release=release)
    yield Measurement("household-named", homes.certain, release=release)
    yield Measurement("household-best-guess", homes.found, release=release)


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
        among = Bounding.of_part(part.records, exact=family.by is None)
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

    A share is rounded up to one of few, of which two neighbours are many people apart; none stays none, unless that
    would itself be told of few people: of a part of so few nothing is told, and it is taken to be as bad as can be.
    """
    if not is_shown(people):
        return replace(entry, value=Fraction(1), is_bound=True)
    if entry.measure == "smallest-class":
        value = Fraction(max(size for size in CLASS_SIZES if size <= entry.value))
        return replace(entry, value=value if is_shown(int(value)) else Fraction(1), is_bound=True)
    apart = Fraction(2 * smallest_cell(), max(people, 1))
    roughly = (share for share in _ROUGH_SHARES if entry.value <= share and apart <= share)
    return replace(
        entry, value=next(roughly, Fraction(1)) if entry.value else entry.value, is_bound=True
    )


def figures(
    outcome: Assessment | Family | People | SyntheticRelease,
) -> dict[str, float | None]:
    """Return the main figures of people with several records and of synthetic ones; of others every attack is kept."""
    if isinstance(outcome, SyntheticRelease):
        return _figures_of_synthetic(outcome)
    return _figures_of_people(outcome) if isinstance(outcome, People) else {}


def _figures_of_synthetic(outcome: SyntheticRelease) -> dict[str, float | None]:
    """Return what is remembered at least, and which share of its own people have their whole record in it."""
    remembered, whole = outcome.remembered, outcome.sets[0]
    figures: dict[str, float | None] = {"whole_records": int(whole.match[-1, 0]) / whole.people[0]}
    if remembered is not None:
        figures |= {"remembered": float(remembered.at_least), "copied": float(remembered.copied)}
    return figures


def _figures_of_people(outcome: People) -> dict[str, float | None]:
    """Return the main figures by name, each with how many records are known: of enough people, and exact ones.

    The number of people is rounded to tens, so that two of them do not tell of few.
    """
    figures: dict[str, float | None] = {}
    for result in outcome.curve:
        if result.margin is not None or not is_shown(result.targets):
            continue
        events = "all" if result.events is None else result.events
        if not outcome.unlinked:
            figures[f"pseudonym: {events}"] = float(result.certainty.posterior)
            figures[f"guess: {events}"] = float(result.guessing.posterior)
        figures[f"record: {events}"] = float(result.unlinked)
        for name, (guess, _) in result.secrets.items():
            if is_shown(result.targets_of(name)):
                figures[f"secret {name}: {events}"] = float(guess.posterior)
        figures[f"targets: {events}"] = float(round(result.targets, -1))
    return figures
