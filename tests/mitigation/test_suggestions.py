"""What a column is understood as, and the hierarchy that follows: never intervals of codes, never an invented place."""

from __future__ import annotations

import csv
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from glasshouse.errors import DataError
from glasshouse.mitigation import national
from glasshouse.mitigation.hierarchies import by_rule, suggest
from glasshouse.mitigation.suggestions import example_value, suggested_rule
from glasshouse.study.anonymise import RULES, hierarchy_rule
from glasshouse.table import EncodedColumn
from glasshouse.table.generalised import covers


def column_of(name: str, *values: str) -> EncodedColumn:
    codes = np.arange(len(values), dtype=np.uint32)
    return EncodedColumn(name, codes, pa.array(values, pa.large_string()))


UNDERSTOOD = {
    "codes of a sex": ("Sexo", "1 2 9", "suppression_only"),
    "codes of a race": ("Raça/Cor", "1 2 3 4 5 9 99", "suppression_only"),
    "codes of schooling": ("Escolaridade", "1 2 3 4 5", "suppression_only"),
    "codes of no telling name": ("tp_parto", "0 1 2 3", "suppression_only"),
    "what is counted": ("filhos", "0 1 2 3 4 5 6 7", "intervals:2"),
    "ages": ("idade", "3 17 45 88", "intervals:5,10,20"),
    "ages with a few old people": ("Age", "3 17 45 98", "top_bottom:top=90:widths=5,10,20"),
    "years": ("ano_nasc", "1951 1987 2003", "intervals:5,10,20"),
    "months": ("mes", "1 5 12", "intervals:3,6:origin=1"),
    "days": ("day_of_birth", "1 5 31", "intervals:edges=1,6,11,16,21,26/1,11,21"),
    "incomes": ("renda", "10500 23000 99000", "intervals:5000,10000,20000"),
    "Brazilian dates": ("nascimento", "29/02/2000 01/03/2000 13/03/1999", "date_parts:order=dmy"),
    "dates without signs": (
        "dtnasc",
        "19870413 19870519 19870620 19870721 20031231",
        "date_parts",
    ),
    "dates of a century that is not told": ("d", "13/02/87 14/02/87 15/02/87", "suppression_only"),
    "postal codes with a hyphen": ("x", "30130-010 35716-180 01001-000", "cep"),
    "postal codes without one": ("CEP", "30130010 35716180 01001000", "cep"),
    "municipalities": ("CO_MUNICIPIO", "3106200 3550308 1302603", "municipality"),
    "municipalities of six digits": ("CODMUNRES", "310620 355030 130260", "municipality"),
    "states": ("UF", "MG SP AM", "state"),
    "codes of states": ("uf", "31 35 13", "state"),
    "states of another country": ("state", "NY CA TX", "suppression_only"),
    "diseases": ("CID", "F32.1 I10 B20.5", "icd10"),
    "diseases without a dot": ("DIAG_PRINC", "F321 I10 B205", "icd10"),
    "seats, which are no diseases": ("seat", "F32 I10 B20", "prefixes"),
    "occupations": ("CBO", "2231-15 5151-05 7152-10", "cbo"),
    "other codes with signs": ("unit", "12.3-A 12.4-B 45.1-C", "prefixes:5,3,1"),
    "texts": ("district", "Centro Savassi Barreiro", "suppression_only"),
    "intervals, which are generalised already": ("age", "20-29 30-39 40-49", "suppression_only"),
}


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_a_column_is_understood_by_its_name_and_values(case: str) -> None:
    name, values, rule = UNDERSTOOD[case]
    assert suggested_rule(column_of(name, *values.split())) == (rule, ())


def test_numbers_of_people_are_told_or_not_at_all() -> None:
    cpf = "529.982.247-25 111.444.777-35 390.533.447-05 168.995.350-09 935.411.347-80".split()
    assert suggested_rule(column_of("doc", *cpf)) == ("suppression_only", ())


def test_a_firm_is_generalised_to_its_root() -> None:
    firms = column_of("cnpj", "11.222.333/0001-81", "11.222.333/0002-62", "11.444.777/0001-61")
    assert suggest(firms).rows[0] == ("11.222.333/0001-81", "11.222.333/*******", "*")


HIERARCHIES = {
    "cep": ("30130-010", ["30130-***", "3013*****", "301******", "30*******", "3********"]),
    "municipality": ("3106200", ["31*****", "3******"]),
    "state": ("MG", ["ES|MG|RJ|SP"]),
    "icd10": ("F32.1", ["F32*", "F30-F39", "F00-F99"]),
    "cbo": ("2231-15", ["2231-**", "223****", "22*****", "2******"]),
    "education": ("Ensino médio completo", ["Ensino médio completo"]),
}


@pytest.mark.parametrize("rule", HIERARCHIES)
def test_codes_with_a_published_structure(rule: str) -> None:
    value, labels = HIERARCHIES[rule]
    assert by_rule(column_of("code", value), rule).rows == ((value, *labels, "*"),)
    assert all(covers(label, value) for label in labels)


def test_every_kind_of_code_is_a_rule_that_can_be_typed() -> None:
    assert set(national.CODES) <= set(RULES)
    assert all(hierarchy_rule(kind) == (kind, {}) for kind in national.CODES)


def test_a_municipality_tells_no_more_than_its_state_and_region() -> None:
    """The four digits after the state are in the order of the alphabet: no place follows from them."""
    rows = by_rule(column_of("mun", "3106200", "3106309", "3550308"), "municipality").rows
    assert [row[1:] for row in rows] == [("31*****", "3******", "*")] * 2 + [
        ("35*****", "3******", "*")
    ]


def test_schooling_is_grouped_by_stage_in_either_language() -> None:
    column = column_of("escolaridade", "Fundamental incompleto", "Fundamental completo", "Superior")
    rows = suggest(column).rows
    assert rows[0][1] == rows[1][1] == "Fundamental incompleto|Fundamental completo"
    assert rows[2][1] == "Superior"


def test_a_code_that_a_rule_does_not_know_is_named() -> None:
    with pytest.raises(
        DataError, match='the value "9906200" of column "mun" is not a code that the'
    ):
        by_rule(column_of("mun", "3106200", "9906200"), "municipality")


def test_blocks_of_diseases_lie_in_their_chapters_and_apart() -> None:
    with (files("glasshouse.mitigation") / "codes" / "icd10.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    blocks = sorted(row["block"] for row in rows)
    assert all(first[4:] < second[:3] for first, second in pairwise(blocks))
    for row in rows:
        assert row["chapter"][:3] <= row["block"][:3] <= row["block"][4:] <= row["chapter"][4:]
    assert len({row["chapter"] for row in rows}) == 22


def test_missing_values_generalise_as_missing() -> None:
    ages = ("3", "17", "45", "88")
    for missing in ("", "NA", "ignorado", "Não informado"):
        rows = {row[0]: row for row in suggest(column_of("idade", *ages, missing)).rows}
        assert rows[missing] == (missing,) * 4 + ("*",)
        assert rows["17"] == ("17", "15-19", "10-19", "0-19", "*")
        assert by_rule(column_of("idade", *ages, missing), "intervals:5").rows[-1] == (
            *(missing,) * 2,
            "*",
        )
    children = column_of("filhos", "0", "1", "2", "3", "4", "5", "99")
    assert {row[0]: row for row in suggest(children).rows}["99"] == ("99", "99", "*")


def test_an_example_shows_a_rule_and_is_no_value_of_a_record() -> None:
    values = ["30130-017", "35716-180"]
    assert example_value("cep", values) == "30130-010"
    assert example_value("prefixes:6", values) == "12345-678"
    assert example_value("intervals:500,1000", values) == "3700"
    assert example_value("intervals:3,6:origin=1", values) == "5"
    assert example_value("date_parts:order=dmy", values) == "17/05/1984"
    assert example_value("suppression_only", values) == ""
    for rule in ("intervals:5,10", "cep", "icd10", "rounding:10", "top_bottom:20,90", "cbo"):
        assert by_rule(column_of("made up", example_value(rule, [])), rule).height > 2
