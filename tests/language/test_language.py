"""Languages: who speaks which, when; numbers and dates; and what a message needs."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from fractions import Fraction

import pytest

from glasshouse.disclosure import smallest_cell
from glasshouse.language import (
    LANGUAGES,
    UnknownLanguageError,
    date,
    language_called,
    locale,
    localised,
    marked,
    marked_for,
    number,
    speak,
    speaking,
    spoken,
    text,
    text_for,
    translated,
    translated_for,
)
from glasshouse.language.shares import percentage
from glasshouse.report.words import counted, indefinite, money, plural, singular


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    speak("en")


@pytest.mark.parametrize(
    ("asked", "code"),
    [("en", "en"), ("en_US.UTF-8", "en"), ("pt", "pt-BR"), ("PT_br", "pt-BR"), ("pt-PT", "pt-BR")],
)
def test_a_language_is_known_however_it_is_written(asked: str, code: str) -> None:
    assert language_called(asked) == code


@pytest.mark.parametrize("asked", ["", "de", "portuguese", "e"])
def test_other_languages_are_refused(asked: str) -> None:
    with pytest.raises(UnknownLanguageError, match="does not speak"):
        language_called(asked)
    with pytest.raises(UnknownLanguageError):
        speak(asked)
    assert spoken() == "en"


def test_a_block_speaks_its_own_language() -> None:
    with speaking("pt-BR"):
        assert (spoken(), locale()) == ("pt-BR", "pt_BR")
        with speaking("en"):
            assert spoken() == "en"
        assert spoken() == "pt-BR"
    assert (spoken(), locale()) == ("en", "en_GB")


def test_a_block_ends_with_its_faults() -> None:
    with pytest.raises(ValueError, match="own"), speaking("pt-BR"):
        raise ValueError("own")
    assert spoken() == "en"


def test_speaking_lasts_for_the_process_and_gives_way_to_a_block() -> None:
    speak("pt")
    assert spoken() == "pt-BR"
    with speaking("en"):
        assert spoken() == "en"
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(spoken).result() == "pt-BR"


def test_a_block_is_its_thread_s_own_unless_it_is_handed_on() -> None:
    with speaking("pt-BR"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(spoken).result() == "en"
        assert pool.submit(copy_context().run, spoken).result() == "pt-BR"


def test_numbers_are_written_as_the_language_writes_them() -> None:
    assert (number(1234567), number(Fraction(1, 8), ".3f")) == ("1,234,567", "0.125")
    assert money(Fraction(12345, 10), "R$") == "R$ 1,234.50"
    with speaking("pt-BR"):
        assert (number(1234567), number(Fraction(1, 8), ".3f")) == ("1.234.567", "0,125")
        assert localised("1,234.5") == "1.234,5"
        assert money(Fraction(12345, 10), "R$") == "R$ 1.234,50"
        assert percentage(Fraction(1, 3)) == "33,3%"
        assert percentage(Fraction(1, 10**6)) == "< 0,1%"


def test_dates_are_written_in_full() -> None:
    day = datetime.date(2026, 3, 1)
    assert date(day) == "1 March 2026"
    with speaking("pt-BR"):
        assert date(day) == "1 de março de 2026"


def test_whole_numbers_of_a_message_are_grouped_and_texts_are_left_alone() -> None:
    assert text("{a} of {b}", a=1000, b="1000 {a}") == "1,000 of 1000 {a}"
    with speaking("pt-BR"):
        assert text("{a} of {b}", a=1000, b="1000") == "1.000 of 1000"


def test_a_message_without_a_translation_is_said_in_english() -> None:
    with speaking("pt-BR"):
        assert text("nobody ever said this") == "nobody ever said this"
        assert text_for(2, "{count} such thing", "{count} such things") == "2 such things"


@pytest.mark.parametrize("template", ["{a} and {b}", "{a} and {}", "{a"])
def test_a_place_without_its_part_is_our_own_bug(template: str) -> None:
    for say in (text, translated):
        with pytest.raises(LookupError, match="lacks a part"):
            say(template, a=1)
    with pytest.raises(LookupError, match="lacks a part"):
        text_for(2, "one", template, a=1)


def test_braces_without_parts_are_braces() -> None:
    assert text("{this} stays") == "{this} stays"


def test_every_message_may_speak_of_the_smallest_count_that_is_told() -> None:
    assert smallest_cell() == 10
    assert text("fewer than {smallest} of {many}", many="1,000 {smallest}") == (
        "fewer than 10 of 1,000 {smallest}"
    )
    assert text("fewer than {smallest}") == "fewer than 10"
    assert text("fewer than {smallest}", smallest=25) == "fewer than 25", "what it is handed"
    assert text("fewer than {smallest} in {this}") == "fewer than 10 in {this}"


def test_plurals_follow_the_number() -> None:
    forms = marked_for("{count} record", "{count} records")
    assert [translated_for(n, forms) for n in (0, 1, 2)] == ["0 records", "1 record", "2 records"]
    with speaking("pt-BR"):
        said = [translated_for(n, forms) for n in (0, 1, 2000)]
    assert said == ["0 registros", "1 registro", "2.000 registros"]


def test_what_is_marked_is_translated_where_it_is_said() -> None:
    message = marked("adversary")
    assert translated(message) == "adversary"
    with speaking("pt-BR"):
        assert translated(message) == "adversário"


def test_the_first_form_of_a_plural_is_a_message_too() -> None:
    with speaking("pt-BR"):
        assert text("record") == "registro"
        assert singular("record") == "registro"


def test_nouns_of_the_user_are_counted_in_every_language() -> None:
    assert [counted(n, "box") for n in (1, 2)] == ["1 box", "2 boxes"]
    assert (indefinite("employee"), indefinite("university")) == ("an employee", "a university")
    with speaking("pt-BR"):
        assert [counted(n, "student") for n in (1, 2)] == ["1 estudante", "2 estudantes"]
        assert [plural(noun) for noun in ("escola", "hospital", "mãe")] == ["escolas", "hospitais", "mães"]  # fmt: skip
        assert indefinite("escola") == "escola"


def test_every_language_has_a_locale_that_is_known() -> None:
    from babel import Locale

    for language in LANGUAGES.values():
        assert Locale.parse(language.locale).language == language.code.partition("-")[0]
