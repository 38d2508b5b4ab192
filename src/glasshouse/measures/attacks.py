"""Attacks in groups: by what is known, by window of a collection, and those that are told of first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.microdata import Assessment, Attack


def best_by_size(attacks: Sequence[Attack]) -> list[Attack]:
    """Return the first attack with the highest posterior per window, target and number of quasi-identifiers."""
    best: dict[tuple[tuple[str, ...], tuple[str, ...], int], Attack] = {}
    for attack in attacks:
        key = (attack.datasets, attack.secret, len(attack.quasi_identifiers))
        if key not in best or attack.probabilistic.posterior > best[key].probabilistic.posterior:
            best[key] = attack
    return list(best.values())


def widest(attacks: Sequence[Attack]) -> list[Attack]:
    """Return the attacks with the largest set of quasi-identifiers in the last window.

    Of several sets as large, the one that names best.
    """
    return _largest(last_window(attacks))


def by_knowledge(attacks: Iterable[Attack]) -> list[list[Attack]]:
    """Return the attacks in groups with the same datasets and quasi-identifiers, in their order."""
    return _grouped(attacks, attrgetter("datasets", "quasi_identifiers"))


def by_window(attacks: Iterable[Attack]) -> list[list[Attack]]:
    """Return the attacks in groups with the same datasets: the windows of a growing collection, the smallest first."""
    windows = _grouped(attacks, attrgetter("datasets"))
    return sorted(windows, key=lambda window: len(window[0].datasets))


def _grouped(attacks: Iterable[Attack], key: Callable[[Attack], Hashable]) -> list[list[Attack]]:
    groups: dict[Hashable, list[Attack]] = {}
    for name, alike in groupby(attacks, key):  # of a sweep, thousands in a row are alike
        groups.setdefault(name, []).extend(alike)
    return list(groups.values())


def last_window(attacks: Sequence[Attack]) -> list[Attack]:
    """Return the attacks that use all datasets; where there is one window only, all of them."""
    return by_window(attacks)[-1]


def growth(attacks: Sequence[Attack]) -> list[list[Attack]]:
    """Return, window by window, the attacks with the set of quasi-identifiers that is the largest of the last one.

    A window in which that set was not assessed is represented by its own largest.
    """
    known = widest(attacks)[0].quasi_identifiers
    return [
        [attack for attack in window if attack.quasi_identifiers == known] or _largest(window)
        for window in by_window(attacks)
    ]


def _largest(attacks: Sequence[Attack]) -> list[Attack]:
    """Return the attacks with the largest set that people are named with.

    A secret that is not attacked with that set (of an Anatomy release it goes by the group) comes with its own largest.
    """
    naming = [attack for attack in attacks if not attack.secret] or attacks
    sizes = [len(attack.quasi_identifiers) for attack in naming]
    largest = max(sizes)
    first = max(
        (attack for attack, size in zip(naming, sizes, strict=True) if size == largest),
        key=lambda attack: attack.probabilistic.posterior,
    )
    known = first.quasi_identifiers
    best = [
        attack
        for attack in attacks
        if attack.quasi_identifiers == known and attack.datasets == first.datasets
    ]
    covered = {attack.secret for attack in best}
    further: dict[tuple[str, ...], Attack] = {}
    for attack in attacks if {attack.secret for attack in attacks} - covered else ():
        known_best = further.get(attack.secret, attack)
        if attack.secret not in covered and _size(attack) >= _size(known_best):
            further[attack.secret] = attack
    return [*best, *further.values()]


def _size(attack: Attack) -> int:
    return len(attack.quasi_identifiers)


def classes_are_counted(attack: Attack) -> bool:
    """Tell whether the class sizes are those of the very classes of the attack."""
    return sum(attack.class_sizes.classes) == attack.classes


def fewest(assessment: Assessment) -> Attack | None:
    """Return the attack with the fewest attributes that adds at least half as much as all of them; None: it has all."""
    whole = widest(assessment.attacks)[0]
    half = whole.probabilistic.additive / 2
    by_size: dict[int, list[Attack]] = {}
    for attack in last_window(assessment.attacks):
        if not attack.secret and _size(attack) < _size(whole):
            by_size.setdefault(_size(attack), []).append(attack)
    for _, alike in sorted(by_size.items()) if half > 0 else ():
        enough = [attack for attack in alike if attack.probabilistic.additive >= half]
        if enough:
            return max(enough, key=lambda attack: attack.probabilistic.posterior)
    return None


def learned(attack: Attack) -> Fraction:
    """Return what an attack on a secret adds: to the share of right guesses, or to that of people known for certain.

    Of a secret that most people share, a guess is good before, so that little is added to it; that it becomes certain
    is the greater gain then.
    """
    return max(attack.probabilistic.additive, attack.deterministic.additive)
