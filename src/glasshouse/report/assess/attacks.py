"""Attacks in groups, as reports show them, and what each is called."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.language import text
from glasshouse.microdata import Attack
from glasshouse.report.lists import joined
from glasshouse.report.words import short_names


def attack_label(attack: Attack) -> str:
    """Say what an attack tries, in a few words.

    The label of a chart or the first cell of a row.
    """
    return target_label(attack.secret)


def target_label(secret: Sequence[str]) -> str:
    """Say what is attacked: a secret, or the name of the person.

    >>> target_label(("income", "race")), target_label(())
    ('infer income and race', 'name the person')
    """
    return text("infer {secret}", secret=joined(secret)) if secret else text("name the person")


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


def by_knowledge(attacks: Sequence[Attack]) -> list[list[Attack]]:
    """Return the attacks in groups with the same datasets and quasi-identifiers, in their order."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Attack]] = {}
    for attack in attacks:
        groups.setdefault((attack.datasets, attack.quasi_identifiers), []).append(attack)
    return list(groups.values())


def by_window(attacks: Sequence[Attack]) -> list[list[Attack]]:
    """Return the attacks in groups with the same datasets: the windows of a growing collection, the smallest first."""
    windows: dict[tuple[str, ...], list[Attack]] = {}
    for attack in attacks:
        windows.setdefault(attack.datasets, []).append(attack)
    return sorted(windows.values(), key=lambda window: len(window[0].datasets))


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


def stage_labels(stages: Sequence[Sequence[Attack]]) -> list[str]:
    """Say what each stage of a growing collection adds: ``2014``, ``+ 2015``, …."""
    every = stages[-1][0].datasets
    names = dict(zip(every, short_names(every), strict=True))
    labels, seen = [], set[str]()
    for stage in stages:
        datasets = stage[0].datasets
        new = ", ".join(names.get(name, name) for name in datasets if name not in seen)
        labels.append(f"+ {new}" if seen else new)
        seen.update(datasets)
    return labels


def _largest(attacks: Sequence[Attack]) -> list[Attack]:
    """Return the attacks with the largest set that people are named with.

    A secret that is not attacked with that set (of an Anatomy release it goes by the group) comes with its own largest.
    """
    best = max(
        by_knowledge(attacks),
        key=lambda same: (
            not same[0].secret,
            len(same[0].quasi_identifiers),
            same[0].probabilistic.posterior,
        ),
    )
    covered = {attack.secret for attack in best}
    others: dict[tuple[str, ...], Attack] = {}
    for attack in attacks:
        known = others.get(attack.secret, attack)
        if attack.secret not in covered and _size(attack) >= _size(known):
            others[attack.secret] = attack
    return [*best, *others.values()]


def _size(attack: Attack) -> int:
    return len(attack.quasi_identifiers)
