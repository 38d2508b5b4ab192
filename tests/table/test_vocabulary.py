"""The table of words: every row is sound, and columns of many systems get their role and meaning from it."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from glasshouse.study.adversaries import MEANINGS
from glasshouse.table import ColumnProfile, Role, profile, read
from glasshouse.table.profiles import folded, meaning_of_name, words_of
from glasshouse.table.vocabulary import LANGUAGES, MARKS, VALUES, vocabulary

DOCS = Path(__file__).parents[2] / "docs"
ROLES = {"identifier", "quasi-identifier", "sensitive", "weight"}
OF_BIRTH = {"birth-year", "birth-month", "birth-day", "birthplace"}


def test_every_row_is_folded_says_something_and_has_languages_and_a_source() -> None:
    words = [one.word for one in vocabulary()]
    assert len(words) == len(set(words))
    for one in vocabulary():
        assert one.word == folded(one.word).strip(), one
        assert one.role in {"", *ROLES}, one
        assert one.meaning in {"", *MEANINGS}, one
        assert {*one.marks} <= {*MARKS, *OF_BIRTH}, one
        assert one.role or one.meaning or one.marks, one
        assert one.languages, one
        assert {*one.languages} <= {*LANGUAGES}, one
        assert all(source == source.strip() != "" for source in one.sources), one
        if not {*VALUES} & {
            *one.marks
        }:  # a value may have signs and blanks; a word of a name has neither
            assert re.fullmatch("[a-z]+", one.word), one


def test_rows_stand_in_order_so_that_a_new_one_has_its_place() -> None:
    places = ["weight", "identifier", "sensitive", "quasi-identifier", ""]
    keys = [
        (
            places.index(one.role),
            one.meaning,
            "" if one.role or one.meaning else " ".join(one.marks),
            one.word,
        )
        for one in vocabulary()
    ]
    assert keys == sorted(keys)


@pytest.mark.parametrize("page", ["quasi-identifiers.md", "pt/quasi-identifiers.md"])
def test_every_source_is_explained_on_the_page_of_words(page: str) -> None:
    content = (DOCS / page).read_text(encoding="utf-8")
    sources = {source for one in vocabulary() for source in one.sources}
    assert [source for source in sources if f"| `{source}` |" not in content] == []


NOTHING = "nothing says that nobody can know it"


def suggested(name: str) -> ColumnProfile:
    """Return what is suggested of a column of a few letters, which say nothing."""
    (column,) = profile(read(pa.table({name: ["q", "q", "v", "v", "x", "x"]})))
    return column


def role_of(name: str) -> Role:
    """Return the role of a column of a few letters, which say nothing."""
    return suggested(name).role


IDENTIFIER, QUASI, SENSITIVE = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE


@pytest.mark.parametrize(
    ("names", "role"),
    [
        ("birthdate employer citizenship children cargo lotacao orgao faixa_etaria", QUASI),
        ("logradouro plz nuts3 timestamp occup hours relationship FaixaEtaria DTNASC", QUASI),
        ("DT_INTER MUNIC_RES ESTCIV CODMUNRES TP_COR_RACA CO_MUNICIPIO CS_ESCOL_N", QUASI),
        ("Geburtsdatum Geschlecht Wohnort Straße Staatsangehörigkeit PLZ", QUASI),
        ("fecha_nacimiento código_postal date_naissance code_postal sexe département", QUASI),
        ("illness sentence convicted pregnant union_member unionMember remuneracao", SENSITIVE),
        ("diag diag_princ proc_rea PROC_REA CAUSABAS vl_remun_media_nom bolsa_familia", SENSITIVE),
        ("enfermedad Krankheit maladie Einkommen ingresos salaire sindicato", SENSITIVE),
        ("Gewerkschaft aborto Vorstrafen refugiado orientação_sexual adn alcoolismo", SENSITIVE),
        (
            "dni nie nif curp rut Steuer-ID NIR passport Kfz-Kennzeichen placa ip_address",
            IDENTIFIER,
        ),
        ("imei MACAddress IBAN card_number prontuario titulo_de_eleitor cnh matricula", IDENTIFIER),
        ("telefone e-mail username url nomemae nome_mae Nom prénom Nachname apellidos", IDENTIFIER),
    ],
)
def test_columns_of_many_systems_get_a_role_by_their_names(names: str, role: Role) -> None:
    assert [name for name in names.split() if role_of(name) is not role] == []


@pytest.mark.parametrize("name", ["v12", "q7", "not_a", "x_y", "x_c_or", "batch", "lote"])
def test_pieces_that_make_no_word_say_nothing(name: str) -> None:
    assert (role_of(name), suggested(name).reason) == (QUASI, NOTHING)


def test_an_ambiguous_word_counts_only_alone() -> None:
    assert words_of("nom") == {"nom"}
    assert "nom" not in words_of("Vl Remun Média Nom")
    assert (role_of("union_council"), suggested("union_council").reason) == (QUASI, NOTHING)
    assert role_of("vitima") is Role.SENSITIVE
    assert role_of("SEXO_VITIMA") is Role.QUASI_IDENTIFIER  # whose sex it is, is not a secret


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Geburtsdatum", "birth-date"),
        ("fecha de nacimiento", "birth-date"),
        ("année de naissance", "birth-year"),
        ("Geburtsort", "birthplace"),
        ("lugar_nacimiento", "birthplace"),
        ("edad", "age"),
        ("PLZ", "postcode"),
        ("code postal", "postcode"),
        ("código_postal", "postcode"),
        ("NUTS3", "state"),
        ("Familienstand", "marital-status"),
        ("ORG_LOTACAO", "employer"),
        ("DESCRICAO_CARGO", "occupation"),
        ("Aufnahmedatum", "care-date"),
        ("CODMUNNATU", "birthplace"),
        ("TP_ETAPA_ENSINO", "grade"),
        ("tipo_consulta", ""),
    ],
)
def test_names_in_five_languages_say_what_they_mean(name: str, meaning: str) -> None:
    assert meaning_of_name(name) == meaning
