"""Attacks in groups, as reports show them, and what each is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from glasshouse.language import number, text, text_for
from glasshouse.measures.attacks import classes_are_counted
from glasshouse.microdata import Assessment, Attack
from glasshouse.report.discretion import ratio
from glasshouse.report.page import Severity
from glasshouse.report.severity import graded
from glasshouse.report.words import enumeration, set_apart, short_names, within
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
    ('infer income and race', 'identify the person')
    """
    return (
        text("infer {secret}", secret=enumeration(secret))
        if secret
        else text("identify the person")
    )


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
        "{first} and {count} further column",
        "{first} and {count} further columns",
        first=", ".join(enumeration([name]) for name in names[:FIRST_NAMED]),
    )


def _in_datasets(attack: Attack, known: str) -> str:
    return known if len(attack.datasets) == 1 else within(known, short_names(attack.datasets))


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
        "k-anonymity alone does not stop this: also ask for varied values in each group (l-diversity or "
        "t-closeness), or publish the sensitive column separately (Anatomy)."
    )


def change_the_pseudonym() -> str:
    """Say what to do where a few records of a person give away all of them."""
    return text(
        "Leave out the pseudonym, or publish places and dates in less detail. A new pseudonym every month "
        "hides nobody; it only limits what is found to one month."
    )
