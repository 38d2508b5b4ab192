"""What the adversary of an attack knows, and the exact figures of what she gets, as findings say them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.language import number, text, text_for
from glasshouse.microdata import Attack
from glasshouse.report.words import enumeration, set_apart, short_names, within

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


def ratio(value: Fraction) -> str:
    """Say a probability as a decimal and as a ratio of whole numbers, where that is not too long.

    >>> ratio(Fraction(1, 3)), ratio(Fraction(1)), ratio(Fraction(1, 10**13))
    ('0.333333 (1/3)', '1', '< 0.000000000001')
    """
    decimal = number(value, ".6g")
    if value.denominator == 1 or len(str(value.denominator)) > 12:
        return decimal
    return f"{decimal} ({number(value.numerator)}/{number(value.denominator)})"


def knowledge(attack: Attack) -> str:
    """Say what she knows of a person, and of a collection in which datasets."""
    return _in_datasets(attack, enumeration(attack.quasi_identifiers), attack.datasets)


def knowledge_in_short(attack: Attack) -> str:
    """Say the same, of many attributes the first ones only: all of them are told in the report once."""
    return _in_datasets(attack, _shortened(attack), attack.datasets)


def knowledge_counted(attack: Attack) -> str:
    """Say by what the classes of an attack were counted: the attributes, and of a collection in which datasets."""
    if len(attack.datasets) == 1:
        return _shortened(attack)
    return set_apart(_shortened(attack), _short(attack, datasets_counted(attack)))


def _shortened(attack: Attack) -> str:
    own = attack.quasi_identifiers
    if len(own) <= MOST_NAMED:
        return enumeration(own)
    return text_for(
        len(own) - FIRST_NAMED,
        "{first} and {count} further attribute",
        "{first} and {count} further attributes",
        first=", ".join(enumeration([name]) for name in own[:FIRST_NAMED]),
    )


def _in_datasets(attack: Attack, known: str, datasets: Sequence[str]) -> str:
    if len(attack.datasets) == 1:
        return known
    return within(known, _short(attack, datasets))


def _short(attack: Attack, datasets: Sequence[str]) -> list[str]:
    """Return the short names of some of the datasets of an attack."""
    names = dict(zip(attack.datasets, short_names(attack.datasets), strict=True))
    return [names[dataset] for dataset in datasets]


def datasets_counted(attack: Attack) -> tuple[str, ...]:
    """Return the datasets that the classes of an attack were counted in.

    Records that are linked by uncertain keys have as many classes as there are observations; those that are counted
    by their size are the classes of the first dataset.
    """
    return attack.datasets if classes_are_counted(attack) else attack.datasets[:1]


def classes_are_counted(attack: Attack) -> bool:
    """Tell whether the class sizes are those of the very classes of the attack."""
    return sum(attack.class_sizes.classes) == attack.classes
