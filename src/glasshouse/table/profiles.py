"""A first look at a table: what each column holds, what it is likely to be, and which one names a person.

Roles are suggested, never assumed: each suggestion carries its reason, from the column's values (numbers of people with
their check digits, addresses, dates, free text) or from its name, in English or Portuguese. So are records that seem to
be nobody's, such as a row of totals: no record is left out here but by a condition that the user can read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Flags, Integers
from glasshouse.language import marked, text, translated
from glasshouse.sources import MISSING
from glasshouse.table.encoded import EncodedColumn, EncodedTable, Role

MANY_VALUES = 0.5
"""A column with more distinct values than this share of the records tells records apart by itself."""
_INTEGER = r"^[+-]?\d{1,18}$"
NUMBER_FORMS = {
    (".", ""): r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    (",", ""): r"^[+-]?\d+(,\d+)?$",
    (",", "."): r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$",
    (".", ","): r"^[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$",
}
"""How numbers are written, by the signs before decimals and between thousands."""
DATE_FORMS = (
    *(f"yyyy{sign}mm{sign}dd" for sign in "-/."),
    *(form.replace("/", sign) for sign in "/-." for form in ("dd/mm/yyyy", "mm/dd/yyyy")),
    *("dd/mm/yy", "mm/dd/yy", "yyyymmdd", "ddmmyyyy", "mmddyyyy"),
)
"""How dates are written; a time of day may follow."""
_TIME = r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?"
_YEARS = range(1850, 2101)
PADDED, ZEROS, BROKEN, VARIANTS = "padded", "zeros", "broken", "variants"
"""What is odd about values: blanks around them, zeros before a number, broken accents, spellings of one word."""
_BROKEN = "\u00c3[\u0080-\u00bf]|\u00c2[\u00a0-\u00bf]|\u00e2\u20ac|\ufffd"
_TOTAL = re.compile(r"(sub|grand )?tota(l|is)\b.*|soma|sum")
_SEXES = frozenset("m f masculino feminino male female homem mulher h i".split())
_POSTCODE = re.compile(r"\d{5}-\d{3}")
MOST_CATEGORIES = 5
"""So many of the most frequent values of a column are told."""
MOST_COMBINED = 10
"""Of so many columns what they tell alone, in pairs and in triples is counted."""
_MOST_COUNTED = 1 << 25
"""So many records are looked at for all of these together."""

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

_BIRTH = frozenset("birth nascimento nasc dob born birthdate birthday dtnasc dtnascimento".split())
_BIRTH_PARTS = {
    "birth-year": frozenset("year ano yob".split()),
    "birth-month": frozenset("month mes".split()),
    "birth-day": frozenset("day dia".split()),
    "birthplace": frozenset(
        "place local municipality municipio munic city cidade uf state estado country pais".split()
    ),
}
_CARE = frozenset(
    "admission internacao inter discharge alta saida visit visita atendimento consulta".split()
)
_DATED = frozenset("date data dt".split())
MEANING_WORDS = {
    "birthplace": frozenset("birthplace naturalidade".split()),
    "birth-year": frozenset("yob birthyear".split()),
    "age": frozenset("age idade etaria".split()),
    "sex": frozenset("sex sexo gender genero".split()),
    "race": frozenset("race raca cor racacor ethnicity etnia".split()),
    "marital-status": frozenset("marital civil marriage conjugal".split()),
    "nationality": frozenset("nationality nacionalidade native country pais".split()),
    "household": frozenset("household domicilio family familia relationship parentesco".split()),
    "address": frozenset("address endereco street rua logradouro".split()),
    "postcode": frozenset("zip zipcode cep postcode postal".split()),
    "neighbourhood": frozenset("neighbourhood neighborhood bairro".split()),
    "grade": frozenset("grade serie turma".split()),
    "school": frozenset("school escola".split()),
    "hospital": frozenset(
        "hospital cnes establishment estabelecimento clinic clinica unidade".split()
    ),
    "municipality": frozenset("municipality municipio munic mun city cidade".split()),
    "education": frozenset("education educacao escolaridade schooling instrucao".split()),
    "occupation": frozenset("occupation ocupacao profession profissao job workclass cbo".split()),
    "employer": frozenset("employer empregador company empresa".split()),
    "state": frozenset("state estado uf province provincia".split()),
}
"""The words in a column's name that say what it means, in the order in which they are looked for."""


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


def _is_any(value: str) -> bool:
    return True


DIRECT: dict[str, tuple[str, Callable[[str], bool]]] = {
    "CPF": (r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}|\d{8,10}", _is_cpf),
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
OWNERS = frozenset(
    "patient paciente prontuario person pessoa member membro insured segurado beneficiary beneficiario customer "
    "client cliente student aluno employee empregado".split()
)
"""Words that, with nothing beside them, call a column that says whose a record is."""
OTHERS = frozenset(
    "family familia familiar household domicilio guardian responsavel mother mae father pai doctor medico "
    "professional profissional employer empregador company empresa firm school escola class turma municipality "
    "municipio hospital unit unidade".split()
)
"""Words that call a column the identifier of somebody or something else, which several people share."""
MOST_RECORDS_EACH = 20
"""A number that more records have on average is not that of the person whom they are about."""
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
    dates: tuple[str, ...] = ()
    """The forms of dates that all values have, such as ``dd/mm/yyyy``; several: they do not tell which."""
    numbers: tuple[tuple[str, str], ...] = ()
    """The signs of decimals and thousands that all values fit; several: they do not tell which."""
    oddities: tuple[tuple[str, int], ...] = ()
    """What is odd about values (`PADDED` and the like), and of how many distinct ones."""
    categories: tuple[tuple[str, int], ...] = ()
    """The most frequent values, and in how many records."""
    rarest: int = 0
    """The fewest records that share a value."""

    @property
    def repeats(self) -> int:
        """The number of records whose value a record before them has."""
        return self.records - self.missing - self.distinct

    @property
    def is_direct(self) -> bool:
        """Whether it names or reaches people by itself."""
        return self.looks_like in DIRECT

    @property
    def nameless(self) -> int:
        """The number of records that it would not name a person of: without a value, or with one for all unknown."""
        return self.missing + sum(count for _, count in self.maybe_missing)


@dataclass(frozen=True)
class TableProfile:
    """What a table holds, record by record and column by column."""

    name: str
    """What it is called."""
    records: int
    """The number of records."""
    columns: tuple[ColumnProfile, ...]
    """Its columns, without the records that seem to be nobody's."""
    lacks_header: bool
    """Whether its first line looks like a record and was read as names."""
    headers: int
    """The number of records that repeat the names of the columns."""
    totals: int
    """The number of records at the end that look like totals."""
    strays: tuple[str, ...]
    """Conditions that these two meet and no other record does."""
    repeated: int
    """The number of records that are, in every column, as one before them."""

    @property
    def is_padded(self) -> bool:
        """Whether blanks stand around names or values."""
        return any(
            PADDED in dict(column.oddities) or column.name != column.name.strip()
            for column in self.columns
        )

    def nobody(self, *, stripped: bool) -> tuple[tuple[str, str], ...]:
        """Return the columns, and their values, of records that seem to be nobody's; perhaps without blanks."""
        pairs = [(name, values) for name, _, values in (s.partition("=") for s in self.strays)]
        if not stripped:
            return tuple(pairs)
        return tuple((name, re.sub(r'"\s*([^"]*?)\s*"', r'"\1"', values)) for name, values in pairs)


@dataclass(frozen=True)
class Combination:
    """How well some columns together tell records apart."""

    columns: tuple[str, ...]
    """Their names."""
    classes: int
    """The number of distinct combinations of their values."""
    unique: int
    """The number of records whose combination no other record has."""
    records: int
    """The number of records that were looked at."""


def table_profile(table: EncodedTable) -> TableProfile:
    """Describe a table: its columns, and the records that seem to be nobody's."""
    lacks_header, headers, totals = _nobody(table)
    described = people_of(table)
    return TableProfile(
        name=table.name,
        records=table.records,
        columns=profile(described),
        lacks_header=lacks_header,
        headers=int(np.count_nonzero(headers.marks)),
        totals=int(np.count_nonzero(totals.marks)),
        strays=tuple(filter(None, (headers.condition, totals.condition))),
        repeated=_repeated(described),
    )


def people_of(table: EncodedTable) -> EncodedTable:
    """Return a table without the records that seem to be nobody's: repeated headers, and totals."""
    _, headers, totals = _nobody(table)
    strays = headers.marks | totals.marks
    return table.of_records(~strays) if strays.any() else table


class _Strays(NamedTuple):
    """Records that seem to be nobody's."""

    marks: Flags
    """Which ones; none if no condition tells them from all others."""
    condition: str
    """What they meet and no other record does."""


def _nobody(table: EncodedTable) -> tuple[bool, _Strays, _Strays]:
    """Tell whether a table lacks a header; find the records that repeat it, and those that look like totals."""
    nothing = _Strays(np.zeros(table.records, np.bool_), "")
    headers = _repeated_headers(table)
    rest = table.of_records(~headers) if headers.any() else table
    if headers.any() and any(map(_is_a_value, rest.columns.values())):
        headers, rest = nothing.marks, table  # a record that is as the first line, which is one
    if has_no_header(rest):
        return True, nothing, nothing
    totals = _totals(table)
    return (
        False,
        next(_strays(table, headers, is_total=False), nothing),
        next(_strays(table, totals, is_total=True), nothing),
    )


def _repeated_headers(table: EncodedTable) -> Flags:
    """Mark the records whose values are the names of their columns."""
    marks: Flags = np.ones(table.records, np.bool_)
    matching = 0
    for column in table.columns.values():
        code = pc.index(column.values, pa.scalar(column.name, pa.large_string())).as_py()
        if code >= 0:
            marks &= column.codes == code
            matching += 1
    is_header = matching > max(1, len(table.columns) // 2) and not marks.all()
    return marks if is_header else np.zeros_like(marks)


def _totals(table: EncodedTable) -> Flags:
    """Mark the records at the end that say that they are totals, and lack something that people have."""
    marks: Flags = np.zeros(table.records, np.bool_)
    for place in range(table.records - 1, max(0, table.records - 4), -1):
        values = [column.values[column.codes[place]].as_py() for column in table.columns.values()]
        if MISSING not in values or not any(_is_total(value) for value in values):
            break
        marks[place] = True
    return marks


def _is_total(value: str) -> bool:
    return bool(_TOTAL.fullmatch(folded(value).strip()))


def _strays(table: EncodedTable, marks: Flags, *, is_total: bool) -> Iterator[_Strays]:
    """Yield the ways in which a column tells some records from all others."""
    for column in table.columns.values():
        if marks.any() and not re.search(r'[=!"]', column.name):
            condition = _condition(column, marks, is_total=is_total)
            if condition:
                yield _Strays(marks, condition)


def _condition(column: EncodedColumn, marks: Flags, *, is_total: bool) -> str:
    """Return the condition that a column's values in some records meet, if no other record has these values."""
    codes = np.unique(column.codes[marks])
    values = [column.values[code].as_py() for code in codes]
    is_telling = not is_total or all(_is_total(value) for value in values)
    if not is_telling or np.isin(column.codes, codes).sum() > marks.sum() or '"' in "".join(values):
        return ""
    listed = (f'"{value}"' if re.search(r"[,]|\.\.|^\s|\s$", value) else value for value in values)
    return f"{column.name}={','.join(listed)}"


def _repeated(table: EncodedTable) -> int:
    """Count the records that are in every column as one before them.

    A record that some columns tell from all others is looked at no further.
    """
    alike = np.arange(table.records)
    key: Integers = np.zeros(table.records, np.int64)
    columns = sorted(table.columns.values(), key=lambda column: -column.cardinality)
    if columns[0].cardinality == table.records:
        return 0
    for column in columns:
        _, key, counts = np.unique(
            key * column.cardinality + column.codes[alike], return_inverse=True, return_counts=True
        )
        is_shared = counts[key] > 1
        alike, key = alike[is_shared], key[is_shared]
        if not len(alike):
            return 0
    return len(alike) - len(np.unique(key))


def identifying(table: EncodedTable, names: Sequence[str]) -> tuple[Combination, ...]:
    """Count how well columns, pairs and triples of them tell records apart, the best first, of alike the smallest.

    Of a large table records at equal distances are looked at; among all of them fewer are alone.

    Args:
        table: The table.
        names: The columns; of many, those with the most values.
    """
    largest = sorted(map(table.column, names), key=lambda column: -column.cardinality)
    chosen_names = {column.name for column in largest[:MOST_COMBINED]}
    columns = [column for column in table.columns.values() if column.name in chosen_names]
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(columns, size)]
    step = -(-table.records * max(len(sets), 1) // _MOST_COUNTED)
    counted = [_combination(chosen, step) for chosen in sets]
    return tuple(sorted(counted, key=lambda pair: -pair.unique))


def _combination(columns: Sequence[EncodedColumn], step: int) -> Combination:
    key, radix = columns[0].codes[::step].astype(np.int64), columns[0].cardinality
    for column in columns[1:]:
        if radix * column.cardinality >= 1 << 62:
            values, key = np.unique(key, return_inverse=True)
            radix = len(values)
        key, radix = key * column.cardinality + column.codes[::step], radix * column.cardinality
    if radix <= 4 * len(key):
        counts = np.bincount(key)
        counts = counts[counts > 0]
    else:
        counts = np.unique(key, return_counts=True)[1]
    names = tuple(column.name for column in columns)
    return Combination(names, len(counts), int(np.count_nonzero(counts == 1)), len(key))


def profile(table: EncodedTable) -> tuple[ColumnProfile, ...]:
    """Describe every column of a table, in the order of the file."""
    return tuple(column_profile(column) for column in table.columns.values())


def has_no_header(table: EncodedTable) -> bool:
    """Tell whether the names of most columns look like values: a file without a header, read as if it had one.

    >>> from glasshouse.table import read
    >>> has_no_header(read(pa.table({"39": ["50", "38"], " Private": [" Private", " Other"], "x": ["a", "b"]})))
    True
    """
    alike = sum(_is_a_value(column) for column in table.columns.values())
    years = [name for name in table.columns if re.fullmatch("(19|20)[0-9]{2}", name)]
    return 2 * alike > len(table.columns) and 2 * len(years) <= alike


def _is_a_value(column: EncodedColumn) -> bool:
    """Tell whether the name of a column is written as its values are."""
    values = [value.strip() for value in column.values.slice(0, _SAMPLE).to_pylist()]
    name, sample = column.name.strip(), [value for value in values if value]
    if name not in sample:  # the reader numbers columns of one name
        name = re.sub(r"_[0-9]+$", "", name)
    if name in sample:
        return True
    for pattern, is_right in ((NUMBER_FORMS[".", ""], _is_any), *DIRECT.values()):
        if re.fullmatch(pattern, name) and is_right(name):
            right = sum(bool(re.fullmatch(pattern, value)) for value in sample)
            return right >= (1 - _MOST_WRONG) * len(sample)
    return any(_is_date(name, form) for form in _date_forms(sample))


def reading_note(table: EncodedTable) -> str:
    """Say what was concluded of how a file is written, where nobody said it; else nothing."""
    if not table.assumptions:
        return ""
    return text(
        "note: this was assumed of {name}; what stands in brackets overrides it: {assumptions}",
        name=table.name,
        assumptions="; ".join(table.assumptions),
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


def owner_column(profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """Return the column that may say whose a record is where people have several: it is called so, and repeats.

    Unlike the one that names a person (`person_column`) it may well be a pseudonym with few values to many records.
    """
    candidates = [
        profile
        for profile in profiles
        if profile.role is Role.IDENTIFIER
        and profile.repeats
        and profile.records <= MOST_RECORDS_EACH * profile.distinct
        and not words_of(profile.name) & OTHERS
        and (
            profile.looks_like in {*CHECKED} - {"CNPJ"}
            or (
                not profile.looks_like
                and (words_of(profile.name) & WORDS[Role.IDENTIFIER] or _is_owner(profile.name))
            )
        )
    ]
    return max(candidates, key=lambda profile: profile.distinct, default=None)


def suggested_roles(profiles: Sequence[ColumnProfile]) -> dict[Role, tuple[str, ...]]:
    """Return the columns of each suggested role: the identifier only if it names people, and one weight at most."""
    person = person_column(profiles)
    roles = {
        role: tuple(profile.name for profile in profiles if profile.role is role) for role in Role
    }
    roles[Role.IDENTIFIER] = () if person is None or person.nameless else (person.name,)
    roles[Role.WEIGHT] = roles[Role.WEIGHT][:1]
    return roles


def _may_name_a_person(profile: ColumnProfile) -> bool:
    if profile.role is not Role.IDENTIFIER or profile.unique == profile.records:
        return profile.role is Role.IDENTIFIER
    if profile.looks_like == "CNPJ" or words_of(profile.name) & OTHERS:
        return False
    if profile.looks_like in CHECKED:
        return profile.records <= MOST_RECORDS_EACH * profile.distinct
    is_called = bool(words_of(profile.name) & WORDS[Role.IDENTIFIER]) and not profile.looks_like
    return is_called and profile.distinct > MANY_VALUES * profile.records


def column_profile(column: EncodedColumn) -> ColumnProfile:
    """Describe one column: what its values and its name say that it is."""
    records = len(column.codes)
    counts = np.bincount(column.codes, minlength=column.cardinality)
    texts = column.values.to_pylist()
    present = np.array([value != MISSING for value in texts], bool)
    unique = int(np.count_nonzero(counts[present] == 1))
    values = column.values.filter(pa.array(present))
    looks_like = _look(column.name, values, records)
    maybe_missing = _maybe_missing(texts, counts.tolist(), looks_like)
    marks = {value for value, _ in maybe_missing} if looks_like not in CHECKED else set()
    meant = (
        values if not marks else pa.array([v for v in texts if v and v not in marks], values.type)
    )
    kind, dates, numbers = _kind(meant)
    is_index = unique == records and _numbers_records(texts)
    role, reason = _suggestion(
        column.name, looks_like, column.cardinality, unique, records, is_index=is_index
    )
    if not present.any():
        reason = text("holds nothing")
    elif role is Role.IGNORED and column.cardinality > 1 and not (looks_like or is_index):
        role, reason = _suggested_by_values(meant.to_pylist(), dates) or (role, reason)
    is_weighed = kind == "integer" or numbers == ((".", ""),)
    if role is Role.WEIGHT and not (is_weighed and present.all() and not marks):
        role, reason = Role.IGNORED, text("called a weight, but not all of it is numbers")
    order = np.argsort(-counts, kind="stable")
    frequent = [int(code) for code in order[: MOST_CATEGORIES + 1] if present[code]]
    return ColumnProfile(
        name=column.name,
        records=records,
        kind=kind,
        distinct=int(np.count_nonzero(present)),
        missing=int(counts[~present].sum()),
        unique=unique,
        role=role,
        reason=reason,
        looks_like=looks_like,
        maybe_missing=maybe_missing,
        dates=dates,
        numbers=numbers,
        oddities=_oddities(values, kind),
        categories=tuple((texts[code], int(counts[code])) for code in frequent[:MOST_CATEGORIES]),
        rarest=int(counts[present].min()) if present.any() else 0,
    )


def _numbers_records(values: Sequence[str]) -> bool:
    """Tell whether the values of a column, each of one record, count the records."""
    first = values[0] if values[0] in ("0", "1") else ""
    return bool(first) and all(
        value == str(place) for place, value in enumerate(values, start=int(first))
    )


def _oddities(values: pa.LargeStringArray, kind: str) -> tuple[tuple[str, int], ...]:
    """Count the distinct values about which something is odd."""
    spellings: dict[str, int] = {}
    if kind == "text" and len(values) <= _SAMPLE:
        for value in values.to_pylist():
            word = " ".join(folded(value).split())
            spellings[word] = spellings.get(word, 0) + 1
    padded = pc.not_equal(values, pc.utf8_trim_whitespace(values))
    zeros = pc.match_substring_regex(values, r"^0\d+$") if kind == "integer" else None
    counts = {
        PADDED: pc.sum(padded).as_py(),
        ZEROS: 0 if zeros is None else pc.sum(zeros).as_py(),
        BROKEN: pc.sum(pc.match_substring_regex(values, _BROKEN)).as_py(),
        VARIANTS: sum(count for word, count in spellings.items() if count > 1 and word),
    }
    return tuple((what, count) for what, count in counts.items() if count)


def meaning_of(column: ColumnProfile) -> str:
    """Return what a column means, of `glasshouse.study.adversaries.MEANINGS`, by its name and values; or nothing."""
    values = [folded(value).strip() for value, _ in column.categories]
    if called := meaning_of_name(column.name):
        is_year = called == "birth-date" and column.kind == "integer" and column.distinct > 1
        if is_year and all(re.fullmatch("(18|19|20)[0-9]{2}", value) for value in values):
            return "birth-year"
        return "" if called == "care-date" and column.kind not in ("date", "integer") else called
    if values and column.distinct <= len(_SEXES) and set(values) <= _SEXES:
        return "sex"
    return "postcode" if values and all(map(_POSTCODE.fullmatch, values)) else ""


def meaning_of_name(name: str) -> str:
    """Return what the name of a column says that it means; or nothing.

    >>> meaning_of_name("DT_NASC"), meaning_of_name("ano_nascimento"), meaning_of_name("Estado civil")
    ('birth-date', 'birth-year', 'marital-status')
    >>> meaning_of_name("native-country"), meaning_of_name("birth_weight"), meaning_of_name("v12")
    ('nationality', '', '')
    """
    words = words_of(name)
    if words & _BIRTH:
        for meaning, telling in _BIRTH_PARTS.items():
            if words & telling:
                return meaning
        return "birth-date" if words <= _BIRTH | _DATED | {"of", "de"} else ""
    if words & _CARE and (words & _DATED or len(words) == 1):
        return "care-date"
    return next((meaning for meaning, telling in MEANING_WORDS.items() if words & telling), "")


def _maybe_missing(
    values: Sequence[str], counts: Sequence[int], looks_like: str = ""
) -> tuple[tuple[str, int], ...]:
    """Return values that may stand for missing, with their counts: marks, and nines beyond a few codes.

    Among numbers of people with check digits it is a wrong number that several records have.

    >>> _maybe_missing(["1", "2", "5", "9", "?"], [4, 3, 2, 1, 7]), _maybe_missing(["8", "9", "10"], [1, 1, 1])
    ((('?', 7), ('9', 1)), ())
    """
    counted = [(value, int(count)) for value, count in zip(values, counts, strict=True)]
    suspects = [pair for pair in counted if is_missing_mark(pair[0])]
    if looks_like in CHECKED:
        pattern, is_right = DIRECT[looks_like]
        return tuple(
            (value, count)
            for value, count in counted
            if value and count > 1 and not (re.fullmatch(pattern, value) and is_right(value))
        )
    codes = sorted(
        (int(value), value, count) for value, count in counted if re.fullmatch(r"\d{1,4}", value)
    )
    if 2 < len(codes) <= MOST_CODES and len(codes) + len(suspects) >= len(values) - 1:
        *_, (before, _, _), (last, value, count) = codes
        if last in (9, 99, 999, 9999) and last - before > 1:
            suspects.append((value, count))
    return tuple(suspects)


def is_missing_mark(value: str) -> bool:
    """Tell whether a value is what programs and people write where one is missing, such as ``NA`` or ``ignorado``."""
    return folded(value).strip() in MISSING_MARKS


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
    called = words_of(name)
    if called & NAMES and not called & WORDS[Role.QUASI_IDENTIFIER]:
        return "person's name"
    return ""


def _suggestion(
    name: str, looks_like: str, distinct: int, unique: int, records: int, *, is_index: bool
) -> tuple[Role, str]:
    words = words_of(name)
    if distinct <= 1:
        return Role.IGNORED, text("holds one value only, so it tells nobody apart")
    if is_index and not words & WORDS[Role.IDENTIFIER]:
        return Role.IGNORED, text("it numbers the records, and says nothing of a person")
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
    if _is_owner(name) and records <= MOST_RECORDS_EACH * distinct:
        return Role.IDENTIFIER, text('called "{word}"', word=min(words))
    if distinct > MANY_VALUES * records:
        return Role.IDENTIFIER, text(
            "{distinct} distinct values in {records} records", distinct=distinct, records=records
        )
    return Role.IGNORED, text("nothing in its name or values suggests a role; decide yourself")


def _suggested_by_values(values: Sequence[str], dates: Sequence[str]) -> tuple[Role, str] | None:
    """Return the role that values suggest of a column whose name says nothing."""
    if dates:
        return Role.QUASI_IDENTIFIER, text("holds dates, which others may know of a person")
    if len(values) <= len(_SEXES) and {folded(value).strip() for value in values} <= _SEXES:
        return Role.QUASI_IDENTIFIER, text("its values are those of a person's sex")
    sample = values[:_SAMPLE]
    if len(sample) >= _FEWEST and all(_POSTCODE.fullmatch(value.strip()) for value in sample):
        return Role.QUASI_IDENTIFIER, text("its values are written as postal codes")
    return None


def _is_owner(name: str) -> bool:
    """Tell whether a column is called after those whom records are of, and nothing else."""
    words = words_of(name)
    return bool(words) and words <= OWNERS


def words_of(name: str) -> frozenset[str]:
    """Return the words of a column's name, folded: no accents, no case, camel case taken apart.

    >>> sorted(words_of("DT_Nascimento")), sorted(words_of("maritalStatus")), sorted(words_of("Raça/cor"))
    (['dt', 'nascimento'], ['marital', 'status'], ['cor', 'raca'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+", folded(apart)))


def folded(name: str) -> str:
    """Return a text without accents and case."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return plain.lower()


def _kind(
    values: pa.LargeStringArray,
) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return what values look like, and how they are written if they are dates or numbers."""
    if len(values) == 0:
        return "", (), ()
    if dates := _date_forms(values):
        return "date", dates, ()
    if _all_match(values, _INTEGER):
        return "integer", (), ()
    numbers = tuple(signs for signs, form in NUMBER_FORMS.items() if _all_match(values, form))
    if numbers:  # 1.5 is no 1.500, and 1,5 no 1,500
        decimal = [signs for signs in numbers if not signs[1]]
        other = [signs for signs in numbers if signs[1] and signs[1] in (s[0] for s in decimal)]
        return "number", (), (*decimal[:1], *other) if decimal else numbers[:1]
    several = len(values) <= _SAMPLE and all(
        any(_is_date(value, form) for form in DATE_FORMS if not form.isalpha())
        for value in values.to_pylist()
    )
    return ("date" if several else "text"), (), ()


def _all_match(values: pa.LargeStringArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _date_forms(values: pa.LargeStringArray | Sequence[str]) -> tuple[str, ...]:
    """Return the forms of dates that all values have; a few numbers of eight digits are no dates.

    >>> _date_forms(["31/12/1980", "1/2/1990"]), _date_forms(["01/02/1990"])
    (('dd/mm/yyyy',), ('dd/mm/yyyy', 'mm/dd/yyyy'))
    """
    if not len(values):
        return ()
    first = str(values[0])
    forms = [form for form in DATE_FORMS if _is_date(first, form)]
    if not forms or (len(values) < _FEWEST and forms[0].isalpha()):
        return ()
    texts = values if isinstance(values, Sequence) else values.to_pylist()
    return tuple(form for form in forms if all(_is_date(value, form) for value in texts))


@cache
def _date_pattern(form: str) -> re.Pattern[str]:
    digits = "{2}" if form.isalpha() else "{1,2}"
    pattern = re.escape(form).replace("dd", f"(?P<d>[0-9]{digits})")
    pattern = pattern.replace("mm", f"(?P<m>[0-9]{digits})")
    pattern = pattern.replace("yyyy", "(?P<y>[0-9]{4})").replace("yy", "(?P<y>[0-9]{2})")
    return re.compile(rf"\s*{pattern}{_TIME}\s*")


def _is_date(value: str, form: str) -> bool:
    match = _date_pattern(form).fullmatch(value)
    if match is None:
        return False
    year = int(match["y"])
    try:
        date(year if year > 99 else 2000 + year, int(match["m"]), int(match["d"]))
    except ValueError:
        return False
    return year < 100 or year in _YEARS
