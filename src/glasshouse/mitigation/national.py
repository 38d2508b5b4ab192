"""Codes with a published structure: what a postal code, a municipality, a disease or an occupation is part of.

A rule here gives the labels of codes on each level, the finest first: `CODES` has one per kind of code. A label is a
prefix with stars, a range of codes or a set, so that `glasshouse.table.generalised.covers` knows which codes it stands
for. Nothing is told that the published structure does not tell: the digits of a Brazilian municipality after the state
are in the order of the alphabet, so that no microregion follows from them. Sources are in ``docs/hierarchies.md``, the
tables beside this module, in ``codes``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from glasshouse.table.generalised import SUPPRESSED, covers
from glasshouse.table.profiles import folded

Levels = list[list[str]]
"""Per level, the label of each code."""


@dataclass(frozen=True)
class Code:
    """A kind of code."""

    pattern: str
    """How one is written."""
    levels: Callable[[Sequence[str]], Levels]
    """The labels of codes of this kind."""
    examples: tuple[str, ...]
    """Codes that show the levels, of each form in which they are written."""
    words: str
    """What columns of them are called: a pattern of the words in their names."""
    telling: str
    """How codes are written that tell by themselves; empty: the name must."""
    is_known: Callable[[str], object] = bool
    """Whether a text that is written so is a code of this kind."""


def are_codes(kind: str, codes: Sequence[str]) -> bool:
    """Tell whether texts are codes of a kind.

    >>> are_codes("cep", ["30130-010"]), are_codes("municipality", ["9906200"])
    (True, False)
    """
    code = CODES[kind]
    written = re.compile(code.pattern)
    return all(written.fullmatch(text) and code.is_known(text) for text in codes)


def kind_of(words: frozenset[str], codes: Sequence[str]) -> str:
    """Return the kind of code that a column holds by the words of its name and by its codes; empty: none.

    >>> kind_of(frozenset({"cid"}), ["F32", "I10"]), kind_of(frozenset({"seat"}), ["F32", "I10"])
    ('icd10', '')
    >>> kind_of(frozenset(), ["30130-010", "35716-180"]), kind_of(frozenset({"city"}), ["3106200"])
    ('cep', '')
    """
    for kind, code in CODES.items():
        is_called = any(re.fullmatch(code.words, word) for word in words)
        if not is_called and not (
            code.telling and any(re.fullmatch(code.telling, text) for text in codes)
        ):
            continue
        if are_codes(kind, codes):
            return kind
    return ""


def _prefixes(codes: Sequence[str], lengths: Sequence[int]) -> Levels:
    """Return codes cut after so many letters or digits, other signs not counted; a star for each that is hidden."""
    return [[_cut(code, length) for code in codes] for length in lengths]


def _cut(code: str, length: int) -> str:
    """Cut a code after so many letters or digits.

    >>> _cut("30130-010", 5), _cut("30130-010", 3)
    ('30130-***', '301******')
    """
    end = length
    while end < len(code) and sum(map(str.isalnum, code[:end])) < length:
        end += 1
    while end < len(code) and not code[end].isalnum():
        end += 1
    return code[:end] + SUPPRESSED * (len(code) - end)


def _postal_codes(codes: Sequence[str]) -> Levels:
    return _prefixes(codes, (5, 4, 3, 2, 1))


def _municipalities(codes: Sequence[str]) -> Levels:
    return _prefixes(codes, (2, 1))


def _federal_states(codes: Sequence[str]) -> Levels:
    states = _states()
    if all(code.isdecimal() for code in codes):
        return _prefixes(codes, (1,))
    regions: dict[str, list[str]] = {}
    for abbreviation, region in states.items():
        if abbreviation.isalpha():
            regions.setdefault(region, []).append(abbreviation)
    return [["|".join(sorted(regions[states[code]])) for code in codes]]


def _diseases(codes: Sequence[str]) -> Levels:
    categories = [code[:3] + SUPPRESSED for code in codes]
    ranges = [_disease_ranges(code[:3]) for code in codes]
    blocks = [block or category for (block, _), category in zip(ranges, categories, strict=True)]
    chapters = [chapter for _, chapter in ranges]
    return [*([categories] if any(len(code) > 3 for code in codes) else []), blocks, chapters]


def _occupations(codes: Sequence[str]) -> Levels:
    return _prefixes(codes, (4, 3, 2, 1))


def _firms(codes: Sequence[str]) -> Levels:
    return _prefixes(codes, (8,))


def _schooling(codes: Sequence[str]) -> Levels:
    stages: dict[str, list[str]] = {}
    for code in codes:
        stages.setdefault(_stages()[_plain(code)], []).append(code)
    return [["|".join(stages[_stages()[_plain(code)]]) for code in codes]]


def _plain(written: str) -> str:
    return " ".join(folded(written.replace("º", "o").replace("°", "o")).split())


@cache
def _table(name: str) -> tuple[dict[str, str], ...]:
    source = files("glasshouse.mitigation") / "codes" / f"{name}.csv"
    return tuple(csv.DictReader(source.read_text(encoding="utf-8").splitlines(), delimiter=";"))


@cache
def _states() -> dict[str, str]:
    """Return the region of every state, by its code and by its abbreviation."""
    return {row[key]: row["region"] for row in _table("states") for key in ("code", "abbreviation")}


@cache
def _stages() -> dict[str, str]:
    """Return the stage of schooling of every name."""
    return {row["name"]: row["level"] for row in _table("education")}


@cache
def _disease_ranges(category: str) -> tuple[str, str]:
    """Return the block and the chapter of a category of ICD-10; empty: it is in none."""
    rows = _table("icd10")
    block = next((row["block"] for row in rows if covers(row["block"], category)), "")
    return block, next((row["chapter"] for row in rows if covers(row["chapter"], category)), "")


CODES = {
    "cep": Code(r"\d{5}-?\d{3}", _postal_codes, ("30130-010", "30130010"), "cep", r"\d{5}-\d{3}"),
    "municipality": Code(
        r"\d{6,7}",
        _municipalities,
        ("3106200", "310620"),
        r"ibge|\w*munic\w*|codmun\w*",
        "",
        lambda code: code[:2] in _states(),
    ),
    "state": Code(
        r"\d{2}|[A-Z]{2}",
        _federal_states,
        ("MG", "31"),
        "uf|estado",
        "",
        lambda code: code in _states(),
    ),
    "icd10": Code(
        r"[A-Z]\d{2}(\.?[0-9A-Z]{1,2})?",
        _diseases,
        ("F32.1", "F321", "F32"),
        r"(cid|icd|diag|causa|cause|linha)\w*",
        r"[A-Z]\d{2}\.\d",
        lambda code: _disease_ranges(code[:3])[1],
    ),
    "cbo": Code(
        r"\d{4}-?\d{2}", _occupations, ("2231-15", "223115"), r"cbo\w*|ocupacao|occupation", ""
    ),
    "cnpj": Code(
        r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}",
        _firms,
        ("11.222.333/0001-81", "11222333000181"),
        "cnpj",
        r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}",
    ),
    "education": Code(
        ".+",
        _schooling,
        (),
        r"educ\w*|escolaridade|instrucao|schooling",
        "",
        lambda code: "|" not in code and _plain(code) in _stages(),
    ),
}
"""The kinds of codes, by the name of their rule."""


def example_of(kind: str, codes: Sequence[str]) -> str:
    """Return a made-up code of a kind that is written as others are; empty where none shows its levels."""
    shapes = {re.sub(r"\w", "9", code) for code in codes}
    examples = CODES[kind].examples
    return next((code for code in examples if re.sub(r"\w", "9", code) in shapes), "") or "".join(
        examples[:1]
    )
