"""Numbers as people say them: percentages, rounded counts, money; and names in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from glasshouse.language import (
    MINUS,
    decimal,
    localised,
    marked,
    marked_for,
    number,
    percentage,
    rounded,
    spoken,
    text,
    text_for,
    translated,
    translated_for,
)
from glasshouse.report.labels import column_label

_ENDINGS = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{0,7})+$")
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_MOST_IN_A_LIST = 5


def told_apart(ways: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the first of several ways to say the same figures that tells most of them apart.

    >>> told_apart([("30", "30"), ("30.5", "30.0"), ("30.50", "30.00")])
    ('30.5', '30.0')
    """
    return max(ways, key=lambda figures: len(set(figures)))


def percentages(*probabilities: Fraction) -> tuple[str, ...]:
    """Say probabilities as percentages that can be compared: what differs is said differently.

    >>> percentages(Fraction(1, 3), Fraction(2, 3)), percentages(Fraction(30012, 10**5), Fraction(30041, 10**5))
    (('33.3%', '66.7%'), ('30.01%', '30.04%'))
    """
    return told_apart(
        tuple(percentage(probability, digits) for probability in probabilities)
        for digits in (1, 2, 3, 4)
    )


def cases(probability: Fraction) -> str:
    """Say in how many cases something is so: as a percentage; below one per cent, as one of so many.

    >>> cases(Fraction(3, 5)), cases(Fraction(1, 155)), cases(Fraction(2, 311)), cases(Fraction(0))
    ('in 60.0% of cases', 'once in 155 cases', 'about once in 156 cases', 'in 0% of cases')
    """
    if not 0 < probability < Fraction(1, 100):
        return text("in {share} of cases", share=percentage(probability))
    count = rounded(1 / probability)
    if probability.numerator == 1:
        return text("once in {count} cases", count=count)
    return text("about once in {count} cases", count=count)


def percentage_points(difference: Fraction) -> str:
    """Say how far apart two probabilities are, in percentage points; never round some to none.

    >>> percentage_points(Fraction(-1, 40)), percentage_points(Fraction(1, 10**6)), percentage_points(Fraction(0))
    ('2.5', 'less than 0.1', '0.0')
    """
    size = abs(difference)
    if 0 < size < Fraction(1, 2000):
        return text("less than {figure}", figure=localised("0.1"))
    return decimal(100 * size, 1)


def share(part: int, whole: int) -> str:
    """Say a part of a whole as a percentage.

    >>> share(8841, 100000), share(1, 100000), share(99999, 100000), share(0, 5), share(5, 5)
    ('8.8%', '< 0.1%', '> 99.9%', '0%', '100%')
    """
    return percentage(Fraction(part, whole))


_SIGNS = {
    "<": marked("less than {share}"),
    ">": marked("more than {share}"),
    "≤": marked("at most {share}"),
    "≥": marked("at least {share}"),
}
"""How a bound is read aloud, by its sign."""


def in_words(share: str) -> str:
    """Return a figure as it stands in a sentence: what is less than another, or at most as much, is said to be.

    >>> in_words("< 0.1%"), in_words("> 99.9%"), in_words("50.0%"), in_words("≤ 5%"), in_words("≥ 11"), in_words("≤ 0%")
    ('less than 0.1%', 'more than 99.9%', '50.0%', 'at most 5%', 'at least 11', '0%')
    """
    sign, _, figure = share.partition(" ")
    if sign == "≤" and figure in ("0", "0%"):
        return figure
    return translated(_SIGNS[sign], share=figure) if sign in _SIGNS else share


def capitalised(label: str) -> str:
    """Return a label as a title, which begins with a capital."""
    return f"{label[:1].upper()}{label[1:]}"


def enumeration(names: Sequence[str]) -> str:
    """Join the names of columns as in a sentence.

    >>> enumeration(["sex"]), enumeration(["sex", "age"]), enumeration(["sex", "age", "birth_date"])
    ('sex', 'sex and age', 'sex, age and birth date')
    """
    return joined([_in_words(name) for name in names])


def _in_words(name: str) -> str:
    """Return the label of a column, or else its name with blanks."""
    label = column_label(name)
    return (label.replace("_", " ").strip() or name) if label == name else label


def money(value: Fraction, currency: str) -> str:
    """Say an amount of money, to the nearest hundredth; exact halves go to the even one.

    >>> money(Fraction(12345, 10), "R$"), money(Fraction(-1, 3), "€"), money(Fraction(-1, 1000), "€")
    ('R$ 1,234.50', '−€ 0.33', '€ 0.00')
    """
    hundredths = round(value * 100)
    whole, rest = divmod(abs(hundredths), 100)
    return f"{MINUS if hundredths < 0 else ''}{currency} {localised(f'{whole:,}.{rest:02d}')}"


def times(factor: Fraction, *, short: bool = False) -> str:
    """Say a factor with six digits, or to the nearest whole number where it has more; in short with one decimal.

    >>> times(Fraction(8, 3)), times(Fraction(48176423, 2)), times(Fraction(8, 3), short=True)
    ('× 2.66667', '× 24,088,212', '× 2.7')
    >>> times(Fraction(2), short=True)
    '× 2'
    """
    if short:
        is_whole = factor >= 1000 or factor == round(factor)
        return f"× {number(round(factor)) if is_whole else number(factor, '.1f')}"
    return f"× {number(round(factor)) if factor >= 10**6 else number(factor, ',.6g')}"


def points(difference: Fraction) -> str:
    """Say a difference of probabilities in points of a hundred; never round some to none.

    >>> points(Fraction(1, 8)), points(Fraction(-1, 1000)), points(Fraction(-1, 10**6)), points(Fraction(0))
    ('+12.5', '−0.1', '−0.0001', '0.0')
    """
    size = abs(100 * difference)
    if 0 < size < Fraction(1, 20):
        return number(100 * float(difference), "+.1g")
    sign = "+" if difference > 0 else "−" if difference < 0 else ""
    return f"{sign}{decimal(size, 1)}"


def short_names(datasets: Sequence[str]) -> tuple[str, ...]:
    """Say datasets by what tells them apart: the year in their names, or else the names without endings.

    >>> short_names(["census_2014.csv", "census_2015.csv"]), short_names(["D1.csv", "D2.csv.gz"])
    (('2014', '2015'), ('D1', 'D2'))
    >>> short_names(["a.csv", "a.parquet"]), short_names(["students-2018.csv"])
    (('a.csv', 'a.parquet'), ('students-2018',))
    """
    stems = [_ENDINGS.sub("", name) or name for name in datasets]
    years = [_YEAR.findall(stem) for stem in stems]
    alike = {_YEAR.sub("", stem) for stem in stems}
    if len(stems) > len(alike) == 1 and all(len(matches) == 1 for matches in years):
        stems = [matches[0] for matches in years]
    return tuple(stems if len(set(stems)) == len(set(datasets)) else datasets)


def together(names: Sequence[str]) -> str:
    """Say which datasets someone has, by their short names.

    >>> together(["2014"]), together(["2014", "2015"]), together(["2016", "2015", "2014"])
    ('2014 alone', '2014 and 2015 together', '2014 to 2016 together')
    >>> together(["D1", "D2", "D3"]), together(list("abcdef"))
    ('D1, D2 and D3 together', 'a and 5 further datasets together')
    """
    if len(names) == 1:
        return text("{name} alone", name=names[0])
    return _datasets(
        names,
        marked("{first} to {last} together"),
        marked_for(
            "{first} and {count} further dataset together",
            "{first} and {count} further datasets together",
        ),
        marked("{names} together"),
    )


def within(known: str, names: Sequence[str]) -> str:
    """Say in which datasets, by their short names, something is known.

    >>> within("age", ["2014", "2015"]), within("age", ["2016", "2015", "2014"]), within("age", list("abcdef"))
    ('age in 2014 and 2015', 'age in each of 2014 to 2016', 'age in a and 5 further datasets')
    """
    return text("{known} {where}", known=known, where=_in_datasets(names))


def set_apart(known: str, names: Sequence[str]) -> str:
    """Say the same as `within`, where what is known must not run into what follows.

    >>> set_apart("age", ["2014", "2015"]), set_apart("age", list("abcdef"))
    ('age (in 2014 and 2015)', 'age (in a and 5 further datasets)')
    """
    return text("{known} ({where})", known=known, where=_in_datasets(names))


def _in_datasets(names: Sequence[str]) -> str:
    return _datasets(
        names,
        marked("in each of {first} to {last}"),
        marked_for(
            "in {first} and {count} further dataset", "in {first} and {count} further datasets"
        ),
        marked("in {datasets}"),
    )


def _datasets(names: Sequence[str], in_a_row: str, many: tuple[str, str], few: str) -> str:
    """Say datasets by their short names: as three or more years without a gap, or the first of many, or all."""
    if len(names) > 2 and all(map(_YEAR.fullmatch, names)):
        years = {int(name) for name in names}
        first, last = min(years), max(years)
        if years == set(range(first, last + 1)):
            return translated(in_a_row, first=str(first), last=str(last))
    if len(names) > _MOST_IN_A_LIST:
        return text_for(len(names) - 1, *many, first=names[0])
    return translated(few, names=joined(names), datasets=joined(names))


MOST_NAMED = 3
"""How many datasets are all named."""


def joined(phrases: Sequence[str]) -> str:
    """Join parts of a sentence as they stand.

    >>> joined([]), joined(["a_1"]), joined(["a_1", "b"]), joined(["a_1", "b", "c"])
    ('', 'a_1', 'a_1 and b', 'a_1, b and c')
    """
    if len(phrases) < 2:
        return "".join(phrases)
    return text("{first} and {last}", first=", ".join(phrases[:-1]), last=phrases[-1])


def either(phrases: Sequence[str]) -> str:
    """Join parts of a sentence of which one will do.

    >>> either(["a"]), either(["a", "b"]), either(["a", "b", "c"])
    ('a', 'a or b', 'a, b or c')
    """
    if len(phrases) < 2:
        return "".join(phrases)
    return text("{first} or {last}", first=", ".join(phrases[:-1]), last=phrases[-1])


def listed(datasets: Sequence[str]) -> str:
    """Name datasets, or the first of many.

    >>> listed(["a.csv"]), listed(["a.csv", "b.csv"]), listed(list("abc")), listed(list("abcde"))
    ('a.csv', 'a.csv and b.csv', 'a, b and c', 'a and 4 further datasets')
    """
    if len(datasets) > MOST_NAMED:
        return text_for(
            len(datasets) - 1,
            "{first} and {count} further dataset",
            "{first} and {count} further datasets",
            first=datasets[0],
        )
    return joined(datasets)


_KNOWN = {
    one: (one, many)
    for one, many in (
        marked_for("person", "people"),
        marked_for("student", "students"),
        marked_for("pupil", "pupils"),
        marked_for("teacher", "teachers"),
        marked_for("patient", "patients"),
        marked_for("child", "children"),
        marked_for("man", "men"),
        marked_for("woman", "women"),
        marked_for("worker", "workers"),
        marked_for("employee", "employees"),
        marked_for("citizen", "citizens"),
        marked_for("voter", "voters"),
        marked_for("customer", "customers"),
        marked_for("household", "households"),
        marked_for("company", "companies"),
        marked_for("entity", "entities"),
        marked_for("importer", "importers"),
        marked_for("record", "records"),
        marked_for("transaction", "transactions"),
        marked_for("dataset", "datasets"),
        marked_for("part", "parts"),
        marked_for("group", "groups"),
        marked_for("state", "states"),
        marked_for("city", "cities"),
        marked_for("municipality", "municipalities"),
        marked_for("region", "regions"),
        marked_for("year", "years"),
    )
}
_A, _AN = ("uni", "use", "eu", "one"), ("hour", "heir", "honest", "honour")
"""How words begin whose article is not the one of their first letter."""


def singular(noun: str) -> str:
    """Return a noun in the language that is spoken, if it is a common one.

    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     singular("student"), singular("aluno")
    ('estudante', 'aluno')
    """
    return translated_for(1, _KNOWN[noun]) if noun in _KNOWN else noun


def indefinite(noun: str) -> str:
    """Return a noun as any one of its kind.

    English has it with its article. The article of Portuguese depends on the gender of the word, which is not known
    of a user's own, so that its sentences are written to do without.

    >>> indefinite("student"), indefinite("employee"), indefinite("hour"), indefinite("user")
    ('a student', 'an employee', 'an hour', 'a user')
    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     indefinite("student")
    'estudante'
    """
    if spoken() != "en":
        return singular(noun)
    word = noun.casefold()
    vowel = word.startswith(_AN) or (word[:1] in "aeiou" and not word.startswith(_A))
    return f"{'an' if vowel else 'a'} {noun}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("person"), plural("student"), plural("company"), plural("box")
    ('people', 'students', 'companies', 'boxes')
    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     [plural(noun) for noun in ("person", "aluno", "trabalhador", "homem", "cidadão", "casal", "lei")]
    ['pessoas', 'alunos', 'trabalhadores', 'homens', 'cidadãos', 'casais', 'leis']
    """
    if noun in _KNOWN:
        return translated_for(2, _KNOWN[noun])
    return _portuguese_plural(noun) if spoken() == "pt-BR" else _english_plural(noun)


def counted(count: int, noun: str) -> str:
    """Return a count and its noun.

    >>> counted(1, "person"), counted(2500, "person")
    ('1 person', '2,500 people')
    """
    return f"{number(count)} {singular(noun) if count == 1 else plural(noun)}"


def _english_plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _portuguese_plural(noun: str) -> str:
    """Make a plural by the endings; words in -ão have three plurals, of which the commonest is taken but for people."""
    if noun in ("cidadão", "irmão", "órfão"):
        return noun + "s"
    for ending, many in (("ão", "ões"), ("m", "ns"), ("al", "ais"), ("el", "éis"), ("il", "is")):
        if noun.endswith(ending):
            return noun[: -len(ending)] + many
    return noun + ("es" if noun.endswith(("r", "s", "z")) else "s")


def sentences(*templates: str | bool, **words: object) -> tuple[str, ...]:
    """Return sentences that are `marked`, but for those that do not apply: ``applies and marked("…")``."""
    return tuple(translated(message, **words) for message in templates if isinstance(message, str))


def hundredths(value: float, currency: str | None) -> str:
    """Say an amount to the nearest hundredth: of money where there is a currency.

    >>> hundredths(1234.5, None), hundredths(1234.5, "€")
    ('1,234.50', '€ 1,234.50')
    """
    return number(value, ",.2f") if currency is None else money(Fraction(value), currency)


def remarks(note: str) -> str:
    """Return the remarks of an estimator in the language that is spoken."""
    return "; ".join(map(translated, note.split("; ")))
