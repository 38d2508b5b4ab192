"""Numbers as people say them: natural frequencies, rounded counts, lists."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}


def frequency(probability: Fraction) -> str:
    """Say a probability as a natural frequency.

    The count is rounded to two digits, on 100, 1,000, … as needed; a rounding never turns "some" into "none" or
    "nearly all" into "all".

    >>> frequency(Fraction(23, 100)), frequency(Fraction(1, 32561)), frequency(Fraction(9999, 10000))
    ('23 of every 100', '1 of every 32,561', 'more than 99 of every 100')
    >>> frequency(Fraction(0)), frequency(Fraction(1)), frequency(Fraction(3, 7000))
    ('none', 'all', '43 of every 100,000')
    """
    if probability <= 0:
        return "none"
    if probability >= 1:
        return "all"
    if probability.numerator == 1 and probability.denominator > 100:
        return f"1 of every {probability.denominator:,}"
    base = 100
    while probability * base < Fraction(95, 10):
        base *= 10
    count = round(probability * base)
    if count == base:
        return f"more than {base - 1:,} of every {base:,}"
    if count % 10 == 0 and base > 100:
        count, base = count // 10, base // 10
    return f"{count:,} of every {base:,}"


def percentage(probability: Fraction) -> str:
    """Say a probability as a percentage that is never rounded to nothing or to everything.

    >>> percentage(Fraction(1, 3)), percentage(Fraction(1, 10**6)), percentage(Fraction(0))
    ('33.3 %', '< 0.1 %', '0 %')
    """
    if probability in (0, 1):
        return "0 %" if probability == 0 else "100 %"
    if probability < Fraction(1, 1000):
        return "< 0.1 %"
    if probability > Fraction(999, 1000):
        return "> 99.9 %"
    return f"{100 * float(probability):.1f} %"


def share(part: int, whole: int) -> str:
    """Say a part of a whole as a percentage.

    >>> share(8841, 100000), share(1, 100000), share(99999, 100000), share(0, 5), share(5, 5)
    ('8.8 %', '< 0.1 %', '> 99.9 %', '0 %', '100 %')
    """
    return percentage(Fraction(part, whole))


def enumeration(names: Sequence[str]) -> str:
    """Join the names of columns as in a sentence.

    >>> enumeration(["sex"]), enumeration(["sex", "age"]), enumeration(["sex", "age", "birth_date"])
    ('sex', 'sex and age', 'sex, age and birth date')
    """
    names = [name.replace("_", " ").strip() or name for name in names]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def plural(noun: str) -> str:
    """Return the plural of an English noun.

    >>> plural("person"), plural("student"), plural("company"), plural("child")
    ('people', 'students', 'companies', 'children')
    """
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def counted(count: int, noun: str) -> str:
    """Return a count and its noun.

    >>> counted(1, "person"), counted(2500, "person")
    ('1 person', '2,500 people')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"
