"""No sentence that compares is without a property test that makes it and reads its figures back."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from glasshouse.language import LANGUAGES, speaking, spoken, text
from tests.report.reading import comparing, heard, telling, templates_of, tries

NO_FIGURES = {
    "alike on {known}; orange: fewer alike": "how to read a picture",
    "Parts with fewer than {people}": "the smallest-cell rule",
    "no worse than in “{run}”": "what a baseline asks",
    "correctly, and none with a chance of more than": "estimates; tests/microdata/test_survey_weights.py",
    "at least one of them has fewer than {people}": "the smallest-cell rule",
    "the facts add more than in": "told without figures, where one of them is not told",
    "the facts add less than in": "told without figures, where one of them is not told",
    "How risk differs by {column}": "a title without figures",
    "How probable the values of {secret} are": "the label of a picture",
    "Pearson’s correlation": "how to read a table",
    "records in classes of fewer than {size}": "an exact count",
    "no class of fewer than {size}": "an exact count",
    "Someone who knows no more than": "how much is known",
    "(which grows by {shift}": "what the adversary is assumed to know",
    "so that she finds the class that a person falls into": "what she is assumed to know",
    "It is the chance that the right one": "what a figure means",
    "the risk seems smaller than it is": "what several records of one person do",
    "Values that differ in nothing but": "what was understood of a file",
    "each as likely as the other": "what is assumed",
    "by how many times as sure of the truth an": "the label of a picture",
    "with exact windows instead of": "the method",
    "becomes more than twice as credible": "the name of a measure",
    "times as likely as the one before": "how values are changed at random",
    "differ in how close a guess at": "what the runs ask",
    "larger sets are reckoned to take more": "what was assessed, as the tests of `within` hold it",
    "less seems to be remembered than is": "what an overlap of two files does",
    "Sets that hold no smaller one": "how to read a picture",
    "but for what happens less than once in a million times": "how far a bound holds",
    "that reveals no more than the noise does": "what clamping does to noise",
}
"""Sentences with a word that compares in which no two figures are: what they are instead."""
BOUNDS = ("discretion", "words")
"""Where one figure is told as a bound; tests/report/test_discretion.py and test_words.py hold them."""


def test_every_sentence_that_compares_is_made_by_a_property_test() -> None:
    tried = set()
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for value in vars(import_module(f"tests.report.{path.stem}")).values():
            if "tries" in getattr(value, "__dict__", {}):
                tried |= templates_of(*value.tries)
    strays = [
        f"{folder}: {template}"
        for template, folder in comparing().items()
        if template not in tried
        and folder not in BOUNDS
        and not any(words in template for words in NO_FIGURES)
    ]
    assert strays == []
    assert all(any(words in template for template in comparing()) for words in NO_FIGURES)


def test_a_test_that_does_not_make_what_it_claims_fails() -> None:
    sentence = "Guesses at who it is are right in {after} of cases, down from {before}."

    def silent() -> None:
        text("Risk: {before} → {after}.", before="2%", after="1%")

    with heard() as said:
        silent()
    assert said == {"en": {"Risk: {before} → {after}."}}
    tries("deter", "Risk: {before}")(silent)()
    with pytest.raises(AssertionError, match="down from"):
        tries("anonymise", sentence)(silent)()
    with pytest.raises(AssertionError, match="no sentence of"):
        tries("anonymise", "Risk: {before}")(silent)()


def test_what_one_language_makes_another_one_must_make_too() -> None:
    def only_in_english() -> None:
        text("Risk: {before} → {after}.", before="2%", after="1%")
        with speaking("pt-BR"):
            text("Glossary")

    with pytest.raises(AssertionError, match=r"pt-BR.*Risk"):
        tries("deter", "Risk: {before}")(only_in_english)()


def test_what_fails_while_a_language_is_spoken_says_which_one() -> None:
    for code in LANGUAGES:
        with pytest.raises(AssertionError) as failed, telling(code):
            assert spoken() != code
        assert failed.value.__notes__ == [f"in the language {code}"]
