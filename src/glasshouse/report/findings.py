"""What was found, in sentences that a minister understands.

Findings are made from aggregates only: names of columns, counts of records, probabilities. No value of a record
can enter a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.microdata import Assessment, Attack
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    money,
    percentage,
    plural,
    share,
    short_names,
    together,
)

SMALL_CLASS = 5
"""Below so many people alike, a group is commonly held too small to publish."""


def findings(
    assessment: Assessment, *, subject: str = "person", currency: str | None = None
) -> tuple[str, ...]:
    """Return who can be named, what can be inferred, and how little is enough or how many stand alone: three sentences.

    They speak of all datasets together, of the largest set of quasi-identifiers that was assessed, and of the
    sensitive attribute about which the adversary gains most. Of a growing collection a fourth sentence, after the
    first, says how her success grows with it.
    """
    naming, *inferring = widest(assessment.attacks)
    sentences = [_named(naming, subject)]
    stages = growth(assessment.attacks)
    if len(stages) > 1:
        sentences.append(_grown(stages[0][0], naming))
    if inferring:
        worst = max(inferring, key=lambda a: (a.probabilistic.additive, a.certain))
        sentences.append(_inferred(worst, subject))
    else:
        sentences.append(_expected(naming, subject))
    gaining = [attack for attack in (naming, *inferring) if attack.gain is not None]
    if gaining:
        sentences.append(_gained(max(gaining, key=_added_gain), currency))
    enough = _enough(assessment, naming)
    if enough is not None:
        sentences.append(_already(enough, subject))
    elif any(naming.class_sizes.classes):
        sentences.append(_nearly_alone(naming, subject))
    return tuple(sentences)


def _knowing(attack: Attack, subject: str) -> str:
    known = f"a {subject}'s {enumeration(attack.quasi_identifiers)}"
    if len(attack.datasets) == 1:
        return f"Someone who knows {known}"
    return f"With {together(short_names(attack.datasets))}, someone who knows {known}"


def _grown(first: Attack, last: Attack) -> str:
    """Say what the first dataset alone gives her, and what all of them do."""
    names = dict(zip(last.datasets, short_names(last.datasets), strict=True))
    alone, all_of_them = (
        together([names.get(dataset, dataset) for dataset in attack.datasets])
        for attack in (first, last)
    )
    before, after = first.probabilistic.posterior, last.probabilistic.posterior
    if before == after:
        return (
            f"With {alone} a guess is right for {frequency(before)}; {all_of_them} give no better."
        )
    return (
        f"With {alone} a guess is right for {frequency(before)}; with {all_of_them}, for "
        f"{frequency(after)}."
    )


def _named(attack: Attack, subject: str) -> str:
    knowing = _knowing(attack, subject)
    if attack.certain == 0:
        return (
            f"{knowing} cannot name any of the {counted(attack.records, subject)} with certainty; a guess is right "
            f"for {frequency(attack.probabilistic.posterior)}."
        )
    if attack.records == 1:
        return f"{knowing} can name the only {subject} in the release, and so can anyone."
    if attack.certain == attack.records:
        return f"{knowing} can name every one of the {counted(attack.records, subject)} with certainty."
    return (
        f"{knowing} can name {attack.certain:,} of the {counted(attack.records, subject)} with certainty "
        f"({_certainty(attack)}), and by guessing would be right for {frequency(attack.probabilistic.posterior)}."
    )


def _certainty(attack: Attack) -> str:
    """Say how large a share is certain; where records are not alike, how probable it is to meet one."""
    if Fraction(attack.certain, attack.records) == attack.deterministic.posterior:
        return share(attack.certain, attack.records)
    return f"she is certain with a chance of {percentage(attack.deterministic.posterior)}"


def _expected(attack: Attack, subject: str) -> str:
    before = frequency(attack.probabilistic.prior)
    after = frequency(attack.probabilistic.posterior)
    return f"Without that knowledge a guess at a {subject}'s record is right for {before}; with it, for {after}."


def _inferred(attack: Attack, subject: str) -> str:
    secret = enumeration(attack.secret)
    before, after = attack.probabilistic.prior, attack.probabilistic.posterior
    certain = (
        f"That same person learns the {secret} of {counted(attack.certain, subject)} with certainty "
        f"({_certainty(attack)})"
        if attack.certain
        else f"That same person learns nobody's {secret} with certainty"
    )
    if before == after:
        return (
            f"{certain}, and guesses it no better than someone who knows nothing of the {subject}: right for "
            f"{frequency(after)}."
        )
    return (
        f"{certain}, and guesses it right for {frequency(after)} {plural(subject)}; without that knowledge it would "
        f"be {frequency(before)}."
    )


def _enough(assessment: Assessment, whole: Attack) -> Attack | None:
    """Return the attack with the fewest attributes that names at least half as well as the whole set."""
    fewer = [
        attack
        for attack in assessment.attacks
        if not attack.secret
        and attack.datasets == whole.datasets
        and len(attack.quasi_identifiers) < len(whole.quasi_identifiers)
        and 2 * attack.probabilistic.posterior >= whole.probabilistic.posterior
    ]
    return min(
        fewer,
        key=lambda a: (len(a.quasi_identifiers), -a.probabilistic.posterior),
        default=None,
    )


def _already(attack: Attack, subject: str) -> str:
    known = enumeration(attack.quasi_identifiers)
    alone = "alone is" if len(attack.quasi_identifiers) == 1 else "are"
    return (
        f"Already {known} {alone} enough to name {frequency(attack.probabilistic.posterior)} {plural(subject)} by "
        f"guessing, and {attack.certain:,} of them with certainty."
    )


def _added_gain(attack: Attack) -> Fraction:
    return attack.gain.additive if attack.gain is not None else Fraction(0)


def _gained(attack: Attack, currency: str | None) -> str:
    """Say what she can expect to gain, where the study says what guesses are worth."""
    gain = attack.gain or attack.probabilistic

    def said(value: Fraction) -> str:
        return f"{float(value):,.4g}" if currency is None else money(value, currency)

    goal = f"trying to learn the {enumeration(attack.secret)}" if attack.secret else "naming people"
    if gain.additive == 0:
        return f"What she can expect to gain by {goal}, as the study counts it, stays at {said(gain.prior)}."
    return (
        f"What she can expect to gain by {goal}, as the study counts it, rises from {said(gain.prior)} to "
        f"{said(gain.posterior)}."
    )


def _nearly_alone(attack: Attack, subject: str) -> str:
    exposed = attack.class_sizes.records_below(SMALL_CLASS)
    if exposed == 0:
        smallest = attack.class_sizes.smallest
        return f"Every {subject} looks like at least {smallest - 1:,} others in these respects."
    who = f"{counted(exposed, subject)} ({share(exposed, attack.records)})"
    if exposed == attack.records > 1:
        who = f"All {plural(subject)}"
    return (
        f"{who} {'looks' if exposed == 1 else 'look'} like fewer than {SMALL_CLASS - 1} others in these respects: "
        "generalising or removing an attribute is what would protect them."
    )


def attack_label(attack: Attack) -> str:
    """Say what an attack tries, in a few words.

    The label of a chart or the first cell of a row.
    """
    return f"infer {' and '.join(attack.secret)}" if attack.secret else "name the person"


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
    return max(
        by_knowledge(attacks),
        key=lambda same: (len(same[0].quasi_identifiers), same[0].probabilistic.posterior),
    )
