"""What names or reaches a person by itself: numbers with their check digits, addresses of every kind, and their forms.

A column is taken for one of them where its values are written so and their check digits are right
(`glasshouse.table.profiles`); words of a column's name are looked up in `glasshouse.table.vocabulary`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from glasshouse.language import marked
from glasshouse.table.encoded import Role


def _digits(value: str) -> list[int]:
    return [int(sign) for sign in value if sign.isdigit()]


def _weighed(digits: Sequence[int], weights: Sequence[int]) -> int:
    """Return a check digit of Brazilian numbers: the weighed sum modulo 11, with 10 as 0."""
    rest = sum(digit * weight for digit, weight in zip(digits, weights, strict=False)) % 11
    return 0 if rest < 2 else 11 - rest


def _is_cpf(value: str) -> bool:
    digits = _digits(value.zfill(11))  # a spreadsheet drops zeros
    return len(set(digits)) > 1 and all(
        digits[place] == _weighed(digits, range(place + 1, 1, -1)) for place in (9, 10)
    )


def _is_cnpj(value: str) -> bool:
    digits = _digits(value)
    weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]
    return len(set(digits)) > 1 and all(
        digits[place] == _weighed(digits, weights[13 - place :]) for place in (12, 13)
    )


def _is_nis(value: str) -> bool:
    digits = _digits(value)
    return len(set(digits)) > 1 and digits[10] == _weighed(digits, [3, 2, 9, 8, 7, 6, 5, 4, 3, 2])


def _is_cns(value: str) -> bool:
    digits = _digits(value)
    return sum(digit * (15 - place) for place, digit in enumerate(digits)) % 11 == 0


def _is_nhs(value: str) -> bool:
    digits = _digits(value)
    check = 11 - sum(digit * (10 - place) for place, digit in enumerate(digits[:9])) % 11
    return check % 11 == digits[9] and check != 10


def _is_dni(value: str) -> bool:
    """Tell whether a Spanish DNI or NIE has its letter: the number modulo 23."""
    number = value[:-1].rstrip("-").replace("X", "0").replace("Y", "1").replace("Z", "2")
    return value[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[int(number.replace("-", "")) % 23]


def _is_nir(value: str) -> bool:
    """Tell whether a French number of social security has its key: 97 less the number modulo 97."""
    plain = value.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return int(plain[13:]) == 97 - int(plain[:13]) % 97


def _is_german_tax(value: str) -> bool:
    """Tell whether a German tax number has its check digit (ISO 7064, modulo 11 and 10), and a digit repeats in it."""
    digits = _digits(value)
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10] and len(set(digits[:10])) in (8, 9)


def _is_curp(value: str) -> bool:
    """Tell whether a Mexican CURP has its check digit."""
    signs = "0123456789ABCDEFGHIJKLMN\u00d1OPQRSTUVWXYZ"
    total = sum(signs.index(sign) * (18 - place) for place, sign in enumerate(value[:17]))
    return -total % 10 == int(value[17])


def _is_rut(value: str) -> bool:
    """Tell whether a Chilean RUT has its check digit: modulo 11, with K for 10."""
    number, _, check = value.replace(".", "").partition("-")
    total = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(number)))
    return check.upper() == "0123456789K"[-total % 11]


def _is_voter(value: str) -> bool:
    """Tell whether a Brazilian voter's number has its check digits: of the number, and of the state."""
    digits = _digits(value)
    first = sum(digit * weight for digit, weight in zip(digits, range(2, 10), strict=False)) % 11
    second = (digits[8] * 7 + digits[9] * 8 + digits[10] * 9) % 11
    return (
        1 <= 10 * digits[8] + digits[9] <= 28
        and [_one_digit(first), _one_digit(second)] == digits[10:]
        and len(set(digits)) > 1
    )


def _one_digit(rest: int) -> int:
    return 0 if rest == 10 else rest


def _is_luhn(value: str) -> bool:
    """Tell whether a number has the check digit of Luhn, as those of cards and of mobile devices have."""
    digits = _digits(value)
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _is_iban(value: str) -> bool:
    """Tell whether an account number has its check digits (ISO 13616): 1 modulo 97."""
    plain = value.replace(" ", "")
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _is_ip(value: str) -> bool:
    """Tell whether a text is an address of the internet; of ``3.3.90.30`` it is not known."""
    is_code = "." in value and not re.search(r"\d{3}|:", value)
    try:
        return not is_code and bool(ip_address(value))
    except ValueError:
        return False


def _has_letter(value: str) -> bool:
    return any(map(str.isalpha, value))


def _is_phone(value: str) -> bool:
    return 8 <= len(_digits(value)) <= 15


def _is_place(value: str) -> bool:
    """Tell whether two numbers are degrees of latitude and longitude, in any order."""
    one, other = (abs(float(number)) for number in re.findall(r"\d+\.\d+", value))
    return min(one, other) <= 90 and max(one, other) <= 180


def is_any(_value: str) -> bool:
    """Take every value: what is written so is that."""
    return True


DIRECT: dict[str, tuple[str, Callable[[str], bool]]] = {
    "CPF": (r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}|\d{8,10}", _is_cpf),
    "NIS": (r"\d{3}\.?\d{5}\.?\d{2}-?\d", _is_nis),
    "CNPJ": (r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}", _is_cnpj),
    "CNS": (r"\d{3} ?\d{4} ?\d{4} ?\d{4}", _is_cns),
    "título de eleitor": (r"\d{4} ?\d{4} ?\d{4}", _is_voter),
    "NHS number": (r"\d{3}[ -]?\d{3}[ -]?\d{4}", _is_nhs),
    "DNI/NIE": (r"(\d|[XYZ]-?)\d{7}-?[A-HJ-NP-TV-Z]", _is_dni),
    "NIR": (r"[12] ?\d{2} ?\d{2} ?(\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}", _is_nir),
    "Steuer-ID": (r"[1-9]\d ?\d{3} ?\d{3} ?\d{3}", _is_german_tax),
    "CURP": (r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[A-Z0-9][0-9]", _is_curp),
    "RUT": (r"\d{1,2}\.?\d{3}\.?\d{3}-[\dkK]", _is_rut),
    "SSN": (r"\d{3}-\d{2}-\d{4}", is_any),
    marked("masked CPF"): (r"([*xX]{3})\.?\d{3}\.?\d{3}-?[*xX]{2}", is_any),
    "RG": (
        r"[A-Z]{2}[ -]?\d{1,2}\.\d{3}\.\d{3}(-[\dxX])?|\d{1,2}\.\d{3}\.\d{3}-[\dxX]",
        is_any,
    ),
    "IBAN": (r"[A-Z]{2}\d{2}( ?[A-Z\d]{4}){2,7}( ?[A-Z\d]{1,4})?", _is_iban),
    marked("card number"): (
        r"([3-6]\d{3}|2[2-7]\d{2})([ -]?\d{4}){3}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}",
        _is_luhn,
    ),
    "IMEI": (r"\d{15}|\d{2}-\d{6}-\d{6}-\d", _is_luhn),
    marked("e-mail address"): (r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", is_any),
    marked("phone number"): (
        r"(\+\d{1,3}[ -]?)?\(?\d{2,4}\)?[ -]\d{3,5}[ -]?\d{4}|\+\d[\d ()/-]{6,20}\d"
        r"|\(\d{2,4}\) ?\d{3,5}[ -]?\d{3,4}|(1[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"
        r"|0[1-9](?P<sign>[ .-])\d{2}((?P=sign)\d{2}){3}|0\d{2,4}[ /]\d{6,8}"
        r"|[679]\d{2} \d{3} \d{3}|[689]\d{2}( \d{2}){3}|9\d \d{3} \d{2} \d{2}",
        _is_phone,
    ),
    marked("IP address"): (r"\d{1,3}(\.\d{1,3}){3}|[\dA-Fa-f]*:[\dA-Fa-f:]*:[\dA-Fa-f:.]*", _is_ip),
    marked("MAC address"): (
        r"[\dA-Fa-f]{2}(?P<sign>[:-])([\dA-Fa-f]{2}(?P=sign)){4}[\dA-Fa-f]{2}",
        _has_letter,
    ),
    marked("licence plate"): (r"[A-Z]{3}-\d{4}|[A-Z]{3}-?\d[A-J]\d{2}", is_any),
    marked("name or page on a social network"): (
        r"@[\w.]{2,30}|(https?://)?((www|m|br)\.)?(facebook\.com|instagram\.com|twitter\.com|x\.com"
        r"|tiktok\.com|github\.com|linkedin\.com/in|t\.me|lattes\.cnpq\.br|orcid\.org)/@?[\w.%-]+/?",
        is_any,
    ),
    marked("person's name"): (r"(?!)", is_any),
    marked("person's number or address"): (r"(?!)", is_any),
}
"""What names or reaches a person by itself: how it is written, and whether its check digits are right."""
SURE = frozenset({"e-mail address", "IBAN"})
"""Of these, what a few values are enough to know."""
CALLED = "person's number or address"
"""The one of these that only a column's name says."""
SHARED = frozenset({"person's name", CALLED, "CNPJ"})
"""Of these, what many people may share,"""
FEW_EACH = 50
"""unless fewer than so many do, on average."""
CHECKED = (
    *("CPF", "NIS", "CNPJ", "CNS", "NHS number", "SSN"),
    *("título de eleitor", "DNI/NIE", "NIR", "Steuer-ID", "CURP", "RUT"),
)
"""Of these, the numbers that stand for one person (or firm) each."""
FORMS: dict[str, tuple[str, Callable[[str], bool], Role]] = {
    "UUID": (r"\{?[\da-fA-F]{8}-([\da-fA-F]{4}-){3}[\da-fA-F]{12}\}?", is_any, Role.IDENTIFIER),
    marked("geographic coordinates"): (
        r"\(?-?\d{1,3}\.\d{3,}( ?[,;] ?| )-?\d{1,3}\.\d{3,}\)?|POINT ?\(-?\d+\.\d+ -?\d+\.\d+\)",
        _is_place,
        Role.QUASI_IDENTIFIER,
    ),
}
"""Other forms of values that suggest a role, though they name nobody by themselves: a number made for the record or the
person, and where somebody was."""
VARIED = {"licence plate": 3}
"""Forms that ordinary codes have, too, with the number of signs at their beginning that differ from value to value."""
