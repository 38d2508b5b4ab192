"""A first look at a table: what its columns hold, and which role each is likely to play.

Roles are suggested, never assumed: each suggestion carries its reason, from the column's name (in English or
Portuguese) or from its values.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute

from glasshouse.language import text
from glasshouse.sources import MISSING
from glasshouse.table.encoded import Column, EncodedTable, Role

IDENTIFYING_WORDS = frozenset(
    "id identifier uid uuid cpf cnpj cns nis pis rg ssn passport passaporte matricula nome name "
    "surname sobrenome email mail phone telefone celular pseudonym pseudonimo".split()
)
QUASI_IDENTIFYING_WORDS = frozenset(
    "age idade sex sexo gender genero race raca cor ethnicity etnia colour color birth nascimento nasc dob born "
    "day dia month mes year ano zip zipcode cep postcode postal city cidade municipality municipio county "
    "state estado uf province region regiao country pais nationality nacionalidade native naturalidade "
    "marital civil marriage education educacao escolaridade school escola grade serie occupation ocupacao "
    "profession profissao job workclass cbo residence residencia neighbourhood bairro address endereco "
    "latitude longitude language idioma household domicilio date data admission internacao establishment "
    "estabelecimento cnes hospital".split()
)
SENSITIVE_WORDS = frozenset(
    "disease doenca diagnosis diagnostico cid icd disability deficiencia income renda salary salario wage "
    "religion religiao hiv aids cancer procedure procedimento treatment tratamento medication medicamento drug "
    "party partido vote voto sexual orientation orientacao crime conviction condenacao debt divida score nota "
    "transport transporte benefit beneficio bolsa test exame result resultado death obito cause causa".split()
)
WEIGHT_WORDS = frozenset("weight weights peso pesos fnlwgt".split())

MANY_VALUES = 0.5
"""A column with more distinct values than this share of the records tells records apart by itself."""


@dataclass(frozen=True)
class ColumnProfile:
    """What one column holds, and what it is likely to be."""

    name: str
    """Its name."""
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


def profile(table: EncodedTable) -> tuple[ColumnProfile, ...]:
    """Describe every column of a table, in the order of the file."""
    return tuple(_profiled(column, table.records) for column in table.columns.values())


def _profiled(column: Column, records: int) -> ColumnProfile:
    counts = np.bincount(column.codes, minlength=column.cardinality)
    present = np.array([value != MISSING for value in column.values.to_pylist()], bool)
    distinct = int(np.count_nonzero(present))
    missing = int(counts[~present].sum())
    unique = int(np.count_nonzero(counts[present] == 1))
    role, reason = _suggestion(column.name, column.cardinality, unique, records)
    return ColumnProfile(
        name=column.name,
        kind=_kind(column.values.filter(pa.array(present))),
        distinct=distinct,
        missing=missing,
        unique=unique,
        role=role,
        reason=reason,
    )


def _suggestion(name: str, distinct: int, unique: int, records: int) -> tuple[Role, str]:
    words = _words(name)
    if distinct <= 1:
        return Role.IGNORED, text("holds one value only, so it tells nobody apart")
    if hint := words & WEIGHT_WORDS:
        return Role.WEIGHT, _called(hint)
    if hint := words & IDENTIFYING_WORDS:
        return Role.IDENTIFIER, _called(hint)
    if hint := words & SENSITIVE_WORDS:
        return Role.SENSITIVE, _called(hint)
    if hint := words & QUASI_IDENTIFYING_WORDS:
        return Role.QUASI_IDENTIFIER, _called(hint)
    if unique == records:
        return Role.IDENTIFIER, text("every record has a value of its own")
    if distinct > MANY_VALUES * records:
        return Role.IDENTIFIER, text(
            "{distinct} distinct values in {records} records", distinct=distinct, records=records
        )
    return Role.IGNORED, text("nothing in its name or values suggests a role; decide yourself")


def _called(hint: frozenset[str]) -> str:
    return text('called "{word}"', word=min(hint))


def _words(name: str) -> frozenset[str]:
    """Return the words of a column's name, folded: no accents, no case, camel case taken apart.

    >>> sorted(_words("DT_Nascimento")), sorted(_words("maritalStatus")), sorted(_words("Raça/cor"))
    (['dt', 'nascimento'], ['marital', 'status'], ['cor', 'raca'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    plain = unicodedata.normalize("NFKD", apart).encode("ascii", "ignore").decode("ascii")
    return frozenset(re.findall(r"[a-z]+", plain.lower()))


_PATTERNS = {
    "integer": r"^[+-]?\d{1,18}$",
    "number": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    "date": r"^(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{4})([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?$",
}


def _kind(values: pa.LargeStringArray) -> str:
    if len(values) == 0:
        return ""
    for kind, pattern in _PATTERNS.items():
        matches = pa.compute.match_substring_regex(values, pattern)
        if pa.compute.all(matches).as_py():
            return kind
    return "text"
