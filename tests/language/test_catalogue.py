"""Every message has its translation, none is stale, parts agree, and the words of the field are used alike."""

from __future__ import annotations

import importlib.util
import re
import sys
import unicodedata
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from babel.numbers import get_decimal_symbol, get_group_symbol

from glasshouse.disclosure import smallest_cell
from glasshouse.language import (
    LANGUAGES,
    Language,
    number,
    speaking,
    translated,
    translated_for,
)

SCRIPT = Path(__file__).parents[2] / "scripts" / "messages.py"
FOREIGN = [language for language in LANGUAGES.values() if language.code != "en"]

TERMS = {
    "adversary": "adversari",
    "quasi-identifier": "quase-identificador",
    "sensitive attribute": "atributo(s)? sensive",
    "record": "registro",
    "class": "classe",
    "release": r"\bbases?\b|vers(ao|oes)\b|publi[cq]|tabela",
    "channel": "cana(l|is)",
    "hyper": "hiperdistribui",
    "gain function": "fun(cao|coes) de ganho",
    "vulnerability": "vulnerabilidade",
    "leakage": "vazamento",
    "capacity": "capacidade",
    "re-identification": "reidentifica",
    "attribute inference": "inferencia de atributo",
    "membership": "pertencimento",
    "k-anonymity": "k-anonimato",
    "l-diversity": "l-diversidade",
    "t-closeness": "t-proximidade",
    "anatomy": "anatomy",
    "suppression": "supress",
    "suppressed": "suprimi",
    "generalisation": "generaliza",
    "hierarchy": "hierarquia",
    "anonymised": "anonimiza",
    "utility": "utilidade",
    "attacker": "atacante",
    "learner": "so estuda a populacao|learner",
    "random worlds": "mundos aleatorios",
    "relative threat": "ameaca relativa",
    "faithfulness": "fidelidade",
    "published totals": "totais publicados",
    "transaction": "transac",
    "value at risk": "valor(es)? em risco",
    "allocation": "alocac",
    "solver": "resolvedor",
    "fine": "multa",
    "seed": "semente",
    "report": "relatorio",
    "study": "estudo",
    "sample": "amostra",
    "population": "populac",
    "journalist": "jornalista",
    "prosecutor": "promotor",
    "marketer": "profissiona(l|is) de marketing",
    "standard error": "erros?[ -]padrao",
    "privacy": "privacidade",
    "with certainty": "certeza|identificacao certa",
    "policy": "politica|regra",
    "verdict": "veredito",
    "margin": "margem",
    "register": "cadastro",
    "best guess": "melhor(es)? (tentativa|resposta)|acert",
    "penalty": "multa",
    "prior": "a priori",
    "unique": "unic",
}
"""The words of the field and how their translations begin, without accents (a regular expression)."""

OTHERWISE = {
    "record": [
        "whose record it is",  # “quem é a pessoa”: what a guess is at, in everyday words
    ],
    "membership": [  # the command
        "glasshouse membership",
        "membership is a guess",
        "membership needs",
    ],
    "population": ["outpatient, population, visits, trade or tables"],  # the generator
    "release": ["sample the release instead", "sample this release"],  # “use a amostragem”
    "report": ["please report it"],  # the verb
    "study": [
        "studies the population",  # the verb, as “learner” is said in sentences
        "Longitudinal Study",  # its name
    ],
    "suppressed": ["none, suppressed:4"],  # as it is typed
}
"""Phrases in which a word is said in another way on purpose."""


@cache
def script() -> ModuleType:
    """Return the script that keeps the catalogues, loaded by its path."""
    spec = importlib.util.spec_from_file_location("messages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", FOREIGN, ids=lambda each: each.code)
def test_no_message_is_missing_or_stale_and_parts_agree(language: Language) -> None:
    folder = script().CATALOGUES / language.locale
    assert script().faults(folder) == []


def test_a_message_is_found_wherever_it_is_said() -> None:
    places = {said.place for group in script().messages().values() for said in group}
    assert {"report/assess/findings.py", "report/templates/report.html", "cli/help"} <= places


def plain(said: str) -> str:
    """Return a text in small letters, without accents, without its parts and without keywords of Python."""
    letters = unicodedata.normalize("NFD", re.sub(r"\{[^}]*\}|`[^`]*`", "", said).casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def has_word(said: str, word: str) -> bool:
    """Tell whether a text has a whole word, in the singular or the plural, that is not part of a command or option."""
    plurals = rf"{re.escape(word)}(s|es)?"
    if word.endswith("y"):
        plurals = rf"{re.escape(word[:-1])}(y|ies)"
    return re.search(rf"(?<![\w.\-]){plurals}(?![\w\-]|\.\w)", plain(said)) is not None


@cache
def pairs() -> list[tuple[str, str]]:
    """Return every message with its translation; of those with a plural, form by form."""
    found: list[tuple[str, str]] = []
    for english, foreign in script().translations(script().CATALOGUES / "pt_BR").items():
        if isinstance(english, tuple):
            found += zip(english, foreign, strict=True)
        else:
            found.append((english, str(foreign)))
    return found


@pytest.mark.parametrize("word", TERMS)
def test_the_words_of_the_field_are_used_alike(word: str) -> None:
    strayed = [
        (english, foreign)
        for english, foreign in pairs()
        if has_word(without_phrases(english, word), word)
        and not re.search(TERMS[word], plain(foreign))
    ]
    assert strayed == []


STRUCK = r"palpite|aprendiz\b|\balvo \(|tranquilizador|convem saber|[a-z]\w+,? and [A-Z]"
"""What an editor struck from the Portuguese: colloquial, a calque, or English (a regular expression)."""


def test_no_word_that_an_editor_struck_comes_back() -> None:
    assert [foreign for _, foreign in pairs() if re.search(STRUCK, plain(foreign))] == []


def without_phrases(said: str, word: str) -> str:
    for phrase in OTHERWISE.get(word, ()):
        said = said.replace(phrase, "")
    return said


def test_every_phrase_is_said_somewhere() -> None:
    for word, phrases in OTHERWISE.items():
        for phrase in phrases:
            assert has_word(phrase, word)
            assert any(phrase in english for english, _ in pairs())


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Records alike", True),
        ("--per-record tells it", False),
        ("record.csv", False),
        ("recorded", False),
        ("{records} people", False),
    ],
)
def test_words_are_found_whole(said: str, found: bool) -> None:
    assert has_word(said, "record") is found


def test_plurals_are_found() -> None:
    assert has_word("Two adversaries", "adversary")
    assert has_word("The classes", "class")
    assert not has_word("classify", "class")


def test_the_program_reads_the_catalogue_as_babel_does() -> None:
    with speaking("pt-BR"):
        for english, foreign in script().translations(script().CATALOGUES / "pt_BR").items():
            if isinstance(english, tuple):
                fields = set().union(*map(script().fields_of, english)) - {"count"}
                values = {name: name for name in fields}
                said = [translated_for(count, english, **values) for count in (1, 2)]
                forms = [form.format(count=n, **values) for n, form in enumerate(foreign, start=1)]
                assert said == forms
            else:
                assert translated(english) == foreign.replace("{smallest}", number(smallest_cell()))


def test_marks_between_digits_are_those_of_the_locale() -> None:
    for code, language in LANGUAGES.items():
        assert language.group == get_group_symbol(language.locale), code
        assert language.decimal == get_decimal_symbol(language.locale), code
