"""A first look at a table: what each column holds, what it is likely to be, and which one names a person.

Roles are suggested, never assumed: each suggestion carries its reason, from the column's values (numbers of people with
their check digits, addresses, free text) or from its name, in English or Portuguese.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.language import marked, text, translated
from glasshouse.sources import MISSING
from glasshouse.table.encoded import EncodedColumn, EncodedTable, Role

MANY_VALUES = 0.5
"""A column with more distinct values than this share of the records tells records apart by itself."""
_PATTERNS = {
    "integer": r"^[+-]?\d{1,18}$",
    "number": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    "date": r"^(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{4})([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?$",
}

WORDS = {
    Role.WEIGHT: frozenset("weight weights peso pesos fnlwgt".split()),
    Role.IDENTIFIER: frozenset(
        "id identifier uid uuid cpf cnpj cns nis pis rg ssn passport passaporte matricula nome name "
        "surname sobrenome email mail phone telefone celular pseudonym pseudonimo".split()
    ),
    Role.SENSITIVE: frozenset(
        "disease doenca diagnosis diagnostico cid icd disability deficiencia income renda salary salario wage "
        "religion religiao hiv aids cancer procedure procedimento treatment tratamento medication medicamento drug "
        "party partido vote voto sexual orientation orientacao crime conviction condenacao debt divida score nota "
        "transport transporte benefit beneficio bolsa test exame result resultado death obito cause causa".split()
    ),
    Role.QUASI_IDENTIFIER: frozenset(
        "age idade sex sexo gender genero race raca cor ethnicity etnia colour color birth nascimento nasc dob born "
        "day dia month mes year ano zip zipcode cep postcode postal city cidade municipality municipio county "
        "state estado uf province region regiao country pais nationality nacionalidade native naturalidade "
        "marital civil marriage education educacao escolaridade school escola grade serie occupation ocupacao "
        "profession profissao job workclass cbo residence residencia neighbourhood bairro address endereco "
        "latitude longitude language idioma household domicilio date data admission internacao establishment "
        "estabelecimento cnes hospital".split()
    ),
}
"""The words in a column's name that suggest a role, in the order in which they are looked for."""


def _digits(value: str) -> list[int]:
    return [int(sign) for sign in value if sign.isdigit()]


def _weighed(digits: Sequence[int], weights: Sequence[int]) -> int:
    """Return a check digit of Brazilian numbers: the weighed sum modulo 11, with 10 as 0."""
    rest = sum(digit * weight for digit, weight in zip(digits, weights, strict=False)) % 11
    return 0 if rest < 2 else 11 - rest


def _is_cpf(value: str) -> bool:
    digits = _digits(value)
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


def _is_any(value: str) -> bool:
    return True


DIRECT: dict[str, tuple[str, Callable[[str], bool]]] = {
    "CPF": (r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}", _is_cpf),
    "NIS": (r"\d{3}\.?\d{5}\.?\d{2}-?\d", _is_nis),
    "CNPJ": (r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}", _is_cnpj),
    "CNS": (r"\d{3} ?\d{4} ?\d{4} ?\d{4}", _is_cns),
    "NHS number": (r"\d{3}[ -]?\d{3}[ -]?\d{4}", _is_nhs),
    "SSN": (r"\d{3}-\d{2}-\d{4}", _is_any),
    marked("e-mail address"): (r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", _is_any),
    marked("phone number"): (
        r"(\+\d{1,3}[ -]?)?\(?\d{2,4}\)?[ -]\d{3,5}[ -]?\d{4}|\+\d{8,15}",
        _is_any,
    ),
    marked("person's name"): (r"(?!)", _is_any),
}
"""What names or reaches a person by itself: how it is written, and whether its check digits are right."""
CHECKED = ("CPF", "NIS", "CNPJ", "CNS", "NHS number", "SSN")
"""Of these, the numbers that stand for one person (or firm) each."""
MISSING_MARKS = frozenset(
    {"?", "na", "n/a", "nan", "null", "none", "-", "--", ".", "missing", "unknown", "not stated"}
    | {"ignorado", "ignorada", "nao informado", "nao informada", "nao declarado", "sem informacao"}
    | {"#n/d", "n/d", "nd", "s/i"}
)
"""What programs and people write where a value is missing, without accents."""
MOST_CODES = 20
"""A column with more numbers than this holds amounts, of which 99 may be one."""
FREE_TEXT = marked("free text")
NAMES = frozenset("nome name surname sobrenome nombre apellido".split())
"""Words that call a column one of names; ``city name`` is another matter."""
FIRST_RECORDS = 1 << 16
"""So many records are looked at before a file is read."""
_SAMPLE = 2000
"""So many distinct values tell what a column holds."""
_FEWEST = 5
"""Fewer values than this say nothing of the way in which they are written."""
_MOST_WRONG = 0.05
_LONG_TEXT, _MANY_WORDS = 30, 5


@dataclass(frozen=True)
class ColumnProfile:
    """What one column holds, and what it is likely to be."""

    name: str
    """Its name."""
    records: int
    """The number of records."""
    kind: str
    """What its values look like: integer, number, date or text; empty when it holds nothing."""
    distinct: int
    """The number of distinct values, missing not counted."""
    missing: int
    """The number of records without a value."""
    unique: int
    """The number of records whose value no other record has."""
    role: Role
    """The role that is suggested."""
    reason: str
    """Why, in the language that is spoken."""
    looks_like: str = ""
    """What its values, or its name, say that it is: one of `DIRECT` or `FREE_TEXT`; empty: nothing in particular."""

    maybe_missing: tuple[tuple[str, int], ...] = ()
    """Values that may stand for missing, and in how many records."""

    @property
    def repeats(self) -> int:
        """The number of records whose value a record before them has."""
        return self.records - self.missing - self.distinct

    @property
    def is_direct(self) -> bool:
        """Whether it names or reaches people by itself."""
        return self.looks_like in DIRECT


def profile(table: EncodedTable) -> tuple[ColumnProfile, ...]:
    """Describe every column of a table, in the order of the file."""
    return tuple(_profiled(column, table.records) for column in table.columns.values())


def has_no_header(table: EncodedTable) -> bool:
    """Tell whether the names of most columns look like values: a file without a header, read as if it had one.

    >>> import pyarrow as pa
    >>> has_no_header(read(pa.table({"39": ["50", "38"], " Private": [" Private", " Other"], "x": ["a", "b"]})))
    True
    """
    alike = 0
    for column in table.columns.values():
        values = {value.strip() for value in column.values.slice(0, _SAMPLE).to_pylist()}
        is_number = re.fullmatch(_PATTERNS["number"], column.name.strip())
        of_kind = bool(is_number) and _kind(column.values) in ("integer", "number")
        alike += of_kind or column.name.strip() in values
    return 2 * alike > len(table.columns)


def encoding_note(table: EncodedTable) -> str:
    """Say in which encoding a file was read, where nobody said it; else nothing."""
    if table.assumed_encoding is None:
        return ""
    return text(
        "note: {name} is no UTF-8; it was read as {encoding}, by its letters; say `encoding` if that is wrong",
        name=table.name,
        encoding=table.assumed_encoding,
    )


def person_column(profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """Return the column that names a person most likely: a number with check digits, or else the most distinct one.

    A column with few values names nobody, whatever it is called; and values that merely differ much, like incomes, or
    names, which people share, name nobody for certain: they would make one person of several.
    """
    candidates = [profile for profile in profiles if _may_name_a_person(profile)]
    return max(
        candidates,
        key=lambda profile: (profile.looks_like in CHECKED, profile.distinct),
        default=None,
    )


def suggested_roles(profiles: Sequence[ColumnProfile]) -> dict[Role, tuple[str, ...]]:
    """Return the columns of each suggested role: the identifier only if it names people, and one weight at most."""
    person = person_column(profiles)
    roles = {
        role: tuple(profile.name for profile in profiles if profile.role is role) for role in Role
    }
    roles[Role.IDENTIFIER] = () if person is None else (person.name,)
    roles[Role.WEIGHT] = roles[Role.WEIGHT][:1]
    return roles


def _may_name_a_person(profile: ColumnProfile) -> bool:
    if profile.looks_like in CHECKED or profile.role is not Role.IDENTIFIER:
        return profile.role is Role.IDENTIFIER
    if profile.unique == profile.records:
        return True
    is_called = bool(_words(profile.name) & WORDS[Role.IDENTIFIER]) and not profile.looks_like
    return is_called and profile.distinct > MANY_VALUES * profile.records


def _profiled(column: EncodedColumn, records: int) -> ColumnProfile:
    counts = np.bincount(column.codes, minlength=column.cardinality)
    present = np.array([value != MISSING for value in column.values.to_pylist()], bool)
    unique = int(np.count_nonzero(counts[present] == 1))
    values = column.values.filter(pa.array(present))
    looks_like = _look(column.name, values, records)
    role, reason = _suggestion(column.name, looks_like, column.cardinality, unique, records)
    return ColumnProfile(
        name=column.name,
        records=records,
        kind=_kind(values),
        distinct=int(np.count_nonzero(present)),
        missing=int(counts[~present].sum()),
        unique=unique,
        role=role,
        reason=reason,
        looks_like=looks_like,
        maybe_missing=_maybe_missing(column.values.to_pylist(), counts.tolist()),
    )


def _maybe_missing(values: Sequence[str], counts: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """Return values that may stand for missing, with their counts: marks, and nines beyond a few codes.

    >>> _maybe_missing(["1", "2", "5", "9", "?"], [4, 3, 2, 1, 7]), _maybe_missing(["8", "9", "10"], [1, 1, 1])
    ((('?', 7), ('9', 1)), ())
    """
    suspects = [
        (value, int(count))
        for value, count in zip(values, counts, strict=True)
        if _folded(value).strip() in MISSING_MARKS
    ]
    codes = sorted(
        (int(value), value, int(count))
        for value, count in zip(values, counts, strict=True)
        if re.fullmatch(r"\d{1,4}", value)
    )
    if 2 < len(codes) <= MOST_CODES and len(codes) + len(suspects) >= len(values) - 1:
        *_, (before, _, _), (last, value, count) = codes
        if last in (9, 99, 999, 9999) and last - before > 1:
            suspects.append((value, count))
    return tuple(suspects)


def _look(name: str, values: pa.LargeStringArray, records: int) -> str:
    """Return what the distinct values of a column say that it is, or its name."""
    sample = [value.strip() for value in values.slice(0, _SAMPLE).to_pylist()]
    if len(sample) >= _FEWEST:
        for kind, (pattern, is_right) in DIRECT.items():
            written = re.compile(pattern)
            right = sum(bool(written.fullmatch(value)) and is_right(value) for value in sample)
            if right >= (1 - _MOST_WRONG) * len(sample):
                return kind
        letters = sum(map(len, sample)) / len(sample)
        words = sum(value.count(" ") + 1 for value in sample) / len(sample)
        if letters > _LONG_TEXT and words > _MANY_WORDS and len(values) > MANY_VALUES * records:
            return FREE_TEXT
    called = _words(name)
    if called & NAMES and not called & WORDS[Role.QUASI_IDENTIFIER]:
        return "person's name"
    return ""


def _suggestion(
    name: str, looks_like: str, distinct: int, unique: int, records: int
) -> tuple[Role, str]:
    words = _words(name)
    if distinct <= 1:
        return Role.IGNORED, text("holds one value only, so it tells nobody apart")
    if looks_like == FREE_TEXT:
        return Role.IGNORED, text("free text, which may name anybody: read it, or leave it out")
    if looks_like in DIRECT and looks_like != "person's name":
        return Role.IDENTIFIER, text(
            "its values are written as: {kind}", kind=translated(looks_like)
        )
    for role, telling in WORDS.items():
        if hint := words & telling:
            return role, text('called "{word}"', word=min(hint))
    if unique == records:
        return Role.IDENTIFIER, text("every record has a value of its own")
    if distinct > MANY_VALUES * records:
        return Role.IDENTIFIER, text(
            "{distinct} distinct values in {records} records", distinct=distinct, records=records
        )
    return Role.IGNORED, text("nothing in its name or values suggests a role; decide yourself")


def _words(name: str) -> frozenset[str]:
    """Return the words of a column's name, folded: no accents, no case, camel case taken apart.

    >>> sorted(_words("DT_Nascimento")), sorted(_words("maritalStatus")), sorted(_words("Raça/cor"))
    (['dt', 'nascimento'], ['marital', 'status'], ['cor', 'raca'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+", _folded(apart)))


def _folded(name: str) -> str:
    """Return a text without accents and case."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return plain.lower()


def _kind(values: pa.LargeStringArray) -> str:
    if len(values) == 0:
        return ""
    for kind, pattern in _PATTERNS.items():
        if pc.all(pc.match_substring_regex(values, pattern)).as_py():
            return kind
    return "text"
