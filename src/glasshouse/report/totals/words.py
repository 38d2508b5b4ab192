"""The words of a campaign against published totals: amounts in sentences, steps of the attack, reasons."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log10

from glasshouse.language import exactly, localised, marked, number, text, text_for, translated
from glasshouse.report.page import Cell
from glasshouse.report.words import money

JOINED, SOLVED = ", joined", ", solved"
"""How the names of steps end that a campaign gives them."""
LEAST = 0.01
"""Smaller amounts are not said more exactly."""
REASONS = {
    "suppressed": marked("records suppressed"),
    "records added": marked("records added"),
    "records left out": marked("records left out"),
    "phases disagree": marked("phases that disagree"),
    "measures": marked("measures missing or malformed"),
    "rounding": marked("another rounding"),
    "records added or rounding": marked("records added, or another rounding"),
    "bin without entities": marked("place without anybody registered"),
}
"""Why groups are set apart, by what results call it."""
EXPLAINED = {
    "suppressed": marked(
        "Records suppressed: another publication shows that some records of the group were not published, so that "
        "what is there need not add up."
    ),
    "records added": marked(
        "Records added: the totals are above what all records can give, however they were rounded. Unless another "
        "publication shows what was suppressed, suppressed records look the same."
    ),
    "records left out": marked(
        "Records left out: the totals hold less than the records, and no record fits what is missing."
    ),
    "phases disagree": marked(
        "Phases that disagree: what an earlier phase left open cannot be met here."
    ),
    "measures": marked(
        "Measures missing or malformed: a number of the group is missing, negative or too long."
    ),
    "rounding": marked(
        "Another rounding: the sums agree, but no allocation meets the totals. They were rounded in another way, or as "
        "much was added as was left out; it cannot be told."
    ),
    "records added or rounding": marked(
        "Records added, or another rounding: the totals are above what all records can give, but so little that "
        "another way of rounding would explain it; it cannot be told."
    ),
    "bin without entities": marked(
        "Place without anybody registered: the register has nobody where these records can be, so that nobody can be "
        "named."
    ),
}
"""What these reasons mean."""


def short(value: float) -> str:
    """Say a number in three digits and a word.

    >>> short(4_923_000.0), short(40_700.0), short(267.4), short(1.5e9), short(999_999.9), short(1e-5), short(0.0)
    ('4.92 million', '40.7 thousand', '267', '1.5 billion', '1 million', 'less than 0.01', '0')
    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     short(1_500_000.0), short(4_923_000.0), short(40_700.0)
    ('1,5 milhão', '4,92 milhões', '40,7 mil')
    """
    if 0 < value < LEAST:
        return text("less than {figure}", figure=number(LEAST, "g"))
    said = float(f"{value:.3g}")
    if said >= 1e9:
        figure = number(said / 1e9, ",.12g")
        return text_for(_form(said / 1e9), "{figure} billion", "{figure} billion", figure=figure)
    if said >= 1e6:
        figure = number(said / 1e6, ",.12g")
        return text_for(_form(said / 1e6), "{figure} million", "{figure} million", figure=figure)
    if said >= 1e4:
        return text("{figure} thousand", figure=number(said / 1e3, ",.12g"))
    return number(value, ",.0f") if value >= 1000 else number(value, ".3g")


def _form(size: float) -> int:
    """Return the count whose form a word takes: in Portuguese it is the singular below two."""
    return 1 if size < 2 else 2


def short_money(value: float, currency: str | None) -> str:
    """Say an amount in three digits and a word, with its currency where there is one.

    >>> short_money(40_696.4, "USD"), short_money(40_696.4, None)
    ('USD 40.7 thousand', '40.7 thousand')
    """
    return f"{currency} {short(value)}" if currency else short(value)


def amount(value: float, currency: str | None) -> str:
    """Say an amount to the hundredth.

    >>> amount(40_696.444, "USD"), amount(40_696.444, None)
    ('USD 40,696.44', '40,696.44')
    """
    return number(value, ",.2f") if currency is None else money(Fraction(value), currency)


def exact_amount(value: float, currency: str | None) -> Cell:
    """Return an amount as the cell of a table, exact on hover."""
    return Cell(amount(value, currency), exact=exactly(value))


def decimal(chance: float) -> str:
    """Say a chance with six digits that count, never as a power of ten.

    >>> decimal(1 / 18430), decimal(0.2391371), decimal(0.25), decimal(1.0), decimal(0.0)
    ('0.0000542594', '0.239137', '0.25', '1', '0')
    """
    places = 6 if chance <= 0 else max(6, 5 - floor(log10(chance)))
    digits = f"{chance:.{places}f}".rstrip("0").removesuffix(".")
    return localised(digits)


def growth(factor: float | None, digits: int = 4) -> str:
    """Say by which factor something grew.

    >>> growth(4.5), growth(18430.0), growth(None)
    ('× 4.5', '× 18,430', '–')
    """
    if factor is None:
        return "–"
    return f"× {number(float(f'{factor:.{digits}g}') if factor < 10**digits else round(factor), ',.12g')}"


def step_label(name: str) -> str:
    """Say what the adversary has at a step.

    >>> step_label("prior"), step_label("city, joined"), step_label("city, solved")
    ('the register alone', 'city, joined', 'city, solved')
    """
    if name.endswith(JOINED):
        return text("{phase}, joined", phase=name.removesuffix(JOINED))
    if name.endswith(SOLVED):
        return text("{phase}, solved", phase=name.removesuffix(SOLVED))
    return text("the register alone")


def reason_label(reason: str) -> str:
    """Say why groups are set apart.

    >>> reason_label("rounding")
    'another rounding'
    """
    return translated(REASONS.get(reason, reason))


def explained(reason: str) -> str:
    """Say what a reason can and cannot tell."""
    return translated(EXPLAINED[reason])
