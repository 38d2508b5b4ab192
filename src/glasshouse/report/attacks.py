"""Attacks in groups, as reports show them, and what each is called."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from operator import attrgetter

from glasshouse.language import number, text, text_for
from glasshouse.microdata import Assessment, Attack
from glasshouse.report.discretion import ratio
from glasshouse.report.labels import column_label
from glasshouse.report.page import Severity
from glasshouse.report.severity import graded
from glasshouse.report.words import enumeration, joined, set_apart, short_names, within
from glasshouse.study.assess import AssessStudy

METHOD = (
    "Alvim, Fernandes, McIver, Morgan and Nunes 2022, “Flexible and scalable privacy assessment for very large "
    "datasets”, PoPETs"
)
"""Whose method it is."""


def subsets_sentence(assessment: Assessment, study: AssessStudy) -> str:
    """Say which sets were assessed and why, where the time asked for is not enough for all; else nothing."""
    attributes = len(study.adversary.knowable)
    sizes = {len(attack.quasi_identifiers) for attack in assessment.attacks}
    smaller = max(sizes - {attributes}, default=0)
    if study.seconds is None or smaller >= attributes - 1:
        return ""
    return text(
        "Every set of at most {largest} of the {attributes} quasi-identifiers was assessed, and all {attributes} "
        "together: for {records} records, larger sets are reckoned to take more than the {seconds} seconds of "
        "“within:{seconds}”.",
        largest=smaller,
        attributes=attributes,
        records=assessment.records,
        seconds=study.seconds,
    )


def target_label(secret: Sequence[str]) -> str:
    """Say what is attacked: a secret, or the name of the person.

    >>> target_label(("income", "race")), target_label(())
    ('infer income and race', 'name the person')
    """
    return (
        text("infer {secret}", secret=joined(list(map(column_label, secret))))
        if secret
        else text("name the person")
    )


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


MOST_NAMED, FIRST_NAMED = 6, 3
"""So many attributes are all named in a sentence; of more, so many."""


def exact_figure(attack: Attack) -> str:
    """Return the exact figures behind a sentence about an attack: its code, and prior and posterior as ratios."""
    return text(
        "{code}: prior {prior}, posterior {posterior}; known for certain {certain} of {records} records",
        code=attack.code,
        prior=ratio(attack.probabilistic.prior),
        posterior=ratio(attack.probabilistic.posterior),
        certain=attack.certain,
        records=attack.records,
    )


def exact_guesses(attack: Attack) -> str:
    """Return the exact figures behind a sentence about an attack without a code: counts over all records."""
    guess = attack.probabilistic
    return text(
        "exactly: right guesses {prior} before, {posterior} after; certain of {certain} of {records} records",
        prior=exact_share(guess.prior, attack.records),
        posterior=exact_share(guess.posterior, attack.records),
        certain=attack.certain,
        records=attack.records,
    )


def exact_share(value: Fraction, records: int) -> str:
    """Say a probability as a ratio of records, not reduced; where it is none, as a decimal too.

    >>> exact_share(Fraction(1, 4), 1000), exact_share(Fraction(1, 3), 1000)
    ('250/1,000', '0.333333 (1/3)')
    """
    count = value * records
    if count.denominator > 1:
        return ratio(value)
    return f"{number(int(count))}/{number(records)}"


def knowledge(attack: Attack) -> str:
    """Say what she knows of a person, and of a collection in which datasets."""
    return _in_datasets(attack, enumeration(attack.quasi_identifiers))


def knowledge_in_short(attack: Attack) -> str:
    """Say the same, of many attributes the first ones only: all of them are told in the report once."""
    return _in_datasets(attack, _shortened(attack))


def knowledge_counted(attack: Attack) -> str:
    """Say by what the classes of an attack were counted: the attributes, and of a collection in which datasets.

    Records that are linked by uncertain keys have as many classes as there are observations; those that are counted
    by their size are the classes of the first dataset.
    """
    if len(attack.datasets) == 1:
        return _shortened(attack)
    counted = len(attack.datasets) if classes_are_counted(attack) else 1
    return set_apart(_shortened(attack), short_names(attack.datasets)[:counted])


def _shortened(attack: Attack) -> str:
    return in_short(attack.quasi_identifiers)


def in_short(names: Sequence[str]) -> str:
    """Say some attributes, of many the first ones only."""
    if len(names) <= MOST_NAMED:
        return enumeration(names)
    return text_for(
        len(names) - FIRST_NAMED,
        "{first} and {count} further attribute",
        "{first} and {count} further attributes",
        first=", ".join(enumeration([name]) for name in names[:FIRST_NAMED]),
    )


def _in_datasets(attack: Attack, known: str) -> str:
    return known if len(attack.datasets) == 1 else within(known, short_names(attack.datasets))


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


def is_small(attack: Attack) -> bool:
    """Tell whether a guess is seldom right, and nothing certain."""
    return graded(attack.probabilistic.posterior, certain=attack.certain) is Severity.LOW


def release_severity(attack: Attack, risk: Fraction) -> Severity:
    """Return how much an attack on a release should worry; what hardly succeeds, and never surely, is safe."""
    grade = graded(risk, certain=attack.certain, people=attack.records)
    return Severity.SAFE if grade is Severity.LOW else grade


def success_steps(attacks: Iterable[Sequence[Attack]]) -> list[tuple[str, list[Fraction]]]:
    """Return what `successes_chart` draws of attacks, each in every release: a guess, and certainty."""
    steps = []
    for same in attacks:
        label = target_label(same[0].secret)
        guesses = [attack.probabilistic.posterior for attack in same]
        certain = [attack.deterministic.posterior for attack in same]
        steps += [
            (text("{attack}: a guess", attack=label), guesses),
            (text("{attack}: for certain", attack=label), certain),
        ]
    return steps


def protect_the_secret() -> str:
    """Say what to do where people cannot be named, but their secrets inferred."""
    return text(
        "Protect the secret itself: l-diversity or t-closeness, or Anatomy, besides k-anonymity."
    )


def change_the_pseudonym() -> str:
    """Say what to do where a few records of a person give away all of them."""
    return text(
        "Leave out the pseudonym, or tell places and dates less finely. A new pseudonym every month hides nobody: it "
        "only limits to a month what is found."
    )
