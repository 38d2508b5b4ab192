"""Which rule for a hierarchy the name and the values of a column suggest, and an example that shows it.

The evidence is what ``inspect`` finds (`glasshouse.table.profiles`): dates and how they are written, numbers of people
with their check digits, values that may stand for missing, and what the column is called. A few whole numbers from 0 or
1 on are codes of categories, such as a sex of 1, 2 and 9, and never intervals, unless the name says that they count
something. A suggestion is a rule that can be typed, so that it can be seen, changed and kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

from glasshouse.mitigation import national
from glasshouse.sources import MISSING
from glasshouse.study.anonymise import hierarchy_rule
from glasshouse.table.encode import INTEGER, NUMBER
from glasshouse.table.encoded import NOTHING_DECLARED, Declared, EncodedColumn
from glasshouse.table.generalised import SUPPRESSED, as_interval, plain_decimal
from glasshouse.table.profiles import (
    MOST_CODES,
    ColumnProfile,
    column_profile,
    is_missing_mark,
    words_of,
)

SUGGESTED_INTERVALS = 20
"""A suggestion for numbers begins with at most so many intervals."""
LONGEST_CODE = 20
"""A suggestion takes values that are written alike for codes up to so many characters."""
FEW_ODD = 10
"""One in so many values, or a single one, may be no number, and the others are still taken for numbers."""
FEWEST_NUMBERS = 3
"""Fewer numbers beside a text that is none are not taken for numbers."""
OLDEST, TOP_AGE, BANDS = 130, 90, (5, 10, 20)
"""Ages are at most so many years; from the second on they are told together; and into which bands they fall."""
YEARS = range(1850, 2101)

_NOTHING = "suppression_only"
_AGES = frozenset("age ages idade idades".split())
_COUNTED = _AGES | frozenset(
    "years anos year ano month months mes meses day days dia dias hour hours hora horas week weeks semana semanas "
    "number numero num nr count quantity quantidade qtd qtde total size tamanho children filhos births partos "
    "persons people pessoas moradores members membros rooms comodos income renda salary salario wage value valor "
    "amount score nota points pontos weight peso height altura distance distancia duration duracao tempo".split()
)
"""Words that say that whole numbers count or measure something."""
_AMOUNTS = frozenset("income renda salary salario wage value valor amount score points".split())
"""Words that say that long numbers are amounts and no codes."""
_SIGNS = " -./()"
_DIGITS, _LETTERS = "1234567890", "ABCDEFGHIJ"


def suggested_rule(
    column: EncodedColumn, declared: Declared = NOTHING_DECLARED
) -> tuple[str, tuple[str, ...]]:
    """Return the rule that a column suggests, and the values that it does not hold for, which stay up to the root.

    What the file declares a category is never told in intervals, and what it declares missing stays apart.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"sexo": ["1", "2", "9"], "idade": ["30", "47", "95"], "cep": ["30130-010"] * 3}))
    >>> [suggested_rule(people.column(name))[0] for name in ("sexo", "idade")]
    ['suppression_only', 'top_bottom:top=90:widths=5,10,20']
    """
    profile = column_profile(column, declared)
    apart = {value for value, _ in profile.maybe_missing} | declared.missing
    values = [value for value in column.values.to_pylist() if value != MISSING]
    meant = [value for value in values if value not in apart]
    if len(meant) <= 2 or any(SUPPRESSED in value for value in meant):
        return _NOTHING, ()
    words = words_of(f"{column.name} {declared.label}")
    rule = _rule_of(profile, words, meant, is_category=declared.is_category)
    odd = [value for value in values if value in apart and not is_missing_mark(value)]
    if rule == _NOTHING and not declared.is_category:
        numbers = [value for value in meant if NUMBER.fullmatch(value.strip())]
        few = 0 < len(meant) - len(numbers) <= max(1, len(meant) // FEW_ODD)
        if few and len(numbers) >= FEWEST_NUMBERS:
            rule = _of_numbers(words, numbers)
            odd += [value for value in meant if value not in set(numbers)]
    return (rule, tuple(odd)) if rule != _NOTHING else (_NOTHING, ())


def _rule_of(
    profile: ColumnProfile, words: frozenset[str], values: Sequence[str], *, is_category: bool
) -> str:
    """Return the rule that values suggest, those aside that may stand for missing."""
    if kind := national.kind_of(words, values):
        return kind
    if profile.is_direct:  # it names or reaches people: a part of it means nothing
        return _NOTHING
    if profile.dates:
        return _of_dates(profile.dates)
    if all(NUMBER.fullmatch(value.strip()) for value in values):
        is_code = _are_digits(values) and not words & _AMOUNTS
        if is_code or is_category:
            return _of_codes(values) if is_code else _NOTHING
        return _of_numbers(words, values)
    return _of_codes(values)


def _of_dates(forms: Sequence[str]) -> str:
    """Return the rule for dates; only years, if days and months cannot be told apart."""
    if any("yyyy" not in form for form in forms):  # the century is not told
        return _NOTHING
    orders = {"".join(dict.fromkeys(sign for sign in form if sign in "dmy")) for form in forms}
    if len(orders) > 1:
        return "date_parts:year,decade:order=dmy"
    order = orders.pop()
    return "date_parts" if order == "ymd" else f"date_parts:order={order}"


def _are_digits(values: Sequence[str]) -> bool:
    """Tell whether whole numbers are codes: as long as one another, and long or with a zero before them."""
    length = len(values[0])
    return all(value.isdecimal() and len(value) == length for value in values) and (
        length > 4 or (length > 1 and any(value.startswith("0") for value in values))
    )


def _of_codes(values: Sequence[str]) -> str:
    """Return the rule for codes that are written alike: what stands at the end is hidden first."""
    shapes = {re.sub(r"[^\W_]", "9", value) for value in values}
    shape = shapes.pop()
    if shapes or not 2 <= len(shape) <= LONGEST_CODE or set(shape) - {"9", *_SIGNS}:
        return _NOTHING
    if not all(any(map(str.isdecimal, value)) and not as_interval(value) for value in values):
        return _NOTHING
    # What is hidden begins with a letter or a digit: 30130-***, not 30130****.
    lengths = [place for place in range(len(shape) - 1, 0, -1) if shape[place] == "9"]
    if len(lengths) == len(shape) - 1:
        return "prefixes"
    return f"prefixes:{','.join(map(str, lengths))}"


def _of_numbers(words: frozenset[str], values: Sequence[str]) -> str:
    """Return the rule for numbers; none for a few codes of categories."""
    numbers = [Fraction(value.strip()) for value in values]
    least, greatest = min(numbers), max(numbers)
    if least == greatest:
        return _NOTHING
    width = _round_width((greatest - least) / SUGGESTED_INTERVALS)
    if not all(INTEGER.fullmatch(value.strip()) for value in values):
        return _intervals(width, least, greatest)
    if words & {"month", "mes"} and least >= 1 and greatest <= 12:
        return "intervals:3,6:origin=1"
    if words & {"day", "dia"} and least >= 1 and greatest <= 31:
        return "intervals:edges=1,6,11,16,21,26/1,11,21"
    if _are_categories(words, numbers):
        return _NOTHING
    if words & _AGES and least >= 0 and greatest <= OLDEST:
        bands = [band for band in BANDS if greatest // band > least // band]
        if greatest >= TOP_AGE:
            return f"top_bottom:top={TOP_AGE}:widths={','.join(map(str, BANDS))}"
        if bands:
            return f"intervals:{','.join(map(str, bands))}"
    if all(number in YEARS for number in numbers):
        width = max(width, Fraction(5))
    return _intervals(max(width, Fraction(2)), least, greatest)


def _are_categories(words: frozenset[str], numbers: Sequence[Fraction]) -> bool:
    """Tell whether whole numbers are codes: few, from 0 or 1 on, with few gaps, and not said to count anything."""
    span = max(numbers) - min(numbers) + 1
    return (
        not words & _COUNTED
        and len(numbers) <= MOST_CODES
        and min(numbers) in (0, 1)
        and 2 * len(numbers) >= span
    )


def _intervals(width: Fraction, least: Fraction, greatest: Fraction) -> str:
    """Return intervals of a width and wider ones, while there are at least three: 5, 10, 20, 100."""
    widths = [width]
    while True:
        wider = next(
            candidate
            for candidate in _round_widths(widths[-1])
            if candidate > widths[-1] and (candidate / widths[-1]).denominator == 1
        )
        if floor(greatest / wider) - floor(least / wider) < 2:
            return f"intervals:{','.join(map(plain_decimal, widths))}"
        widths.append(wider)


def _round_width(least: Fraction) -> Fraction:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not less.

    >>> _round_width(Fraction(3)), _round_width(Fraction(3, 40))
    (Fraction(5, 1), Fraction(1, 10))
    """
    return next(width for width in _round_widths(least) if width >= least)


def _round_widths(about: Fraction) -> Iterable[Fraction]:
    """Yield 1, 2 and 5 times the powers of ten from that below a number on."""
    power = Fraction(1)
    while power > about:
        power /= 10
    while power * 10 <= about:
        power *= 10
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def example_value(rule: str, values: Iterable[str]) -> str:
    """Return a made-up value that shows what a rule does; empty where none would.

    It is made of the rule and of how all codes are written: no value of a record, unless by chance.

    Args:
        rule: The rule, as it is typed.
        values: The values of the column.

    >>> example_value("intervals:5,10", []), example_value("prefixes:2", ["30130-010", "01001-000"])
    ('37', '12345-678')
    """
    parsed = hierarchy_rule(rule)
    present = [value for value in values if value != MISSING and not is_missing_mark(value)]
    if parsed is None or parsed[0] in (_NOTHING, "groups"):
        return ""
    name, keywords = parsed
    if name in national.CODES:
        return national.example_of(name, present)
    if name == "date_parts":
        order = keywords.get("order", "ymd")
        day = {"y": "1984", "m": "05", "d": "17"}
        time = " 10:30" if any(":" in value for value in present) else ""
        return ("-" if order == "ymd" else "/").join(day[part] for part in order) + time
    if name == "prefixes":
        shapes = {_made_up(value) for value in present}
        longest = max(keywords.get("lengths", [5]))
        return shapes.pop() if len(shapes) == 1 else (_DIGITS * longest)[: longest + 1]
    if present and all(re.fullmatch(r"(18|19|20)\d\d", value) for value in present):
        return "1984"
    return _example_number(keywords)


def _made_up(code: str) -> str:
    """Return a code that is written alike, with letters and digits in their order.

    >>> _made_up("XY-070")
    'AB-123'
    """
    places = {"digit": 0, "letter": 0}

    def sign(written: str) -> str:
        kind, signs = ("digit", _DIGITS) if written.isdecimal() else ("letter", _LETTERS)
        places[kind] += 1
        return signs[(places[kind] - 1) % len(signs)] if written.isalnum() else written

    return "".join(map(sign, code))


def _example_number(keywords: Mapping[str, Any]) -> str:
    """Return a number that shows the levels of a rule."""
    if edges := keywords.get("edges"):
        return str(edges[0][0])
    if widths := keywords.get("widths") or keywords.get("to"):
        width, origin = Fraction(widths[0]), keywords.get("origin")
        if origin is not None:
            return plain_decimal(Fraction(origin) + width + width // 2)
        number = width * Fraction(37, 5)
        return plain_decimal(Fraction(floor(number)) if width.denominator == 1 else number)
    return str(keywords.get("top") or keywords.get("bottom"))
