"""The words in the names of columns, and a few values: what they say, in which languages, and where they are from.

They are data: ``vocabulary.csv`` beside this module has a row per word, folded (no accents, lower case), with

* ``role``: the role that it suggests, if any;
* ``meaning``: what it says that a column means, of `glasshouse.study.adversaries.MEANINGS`;
* ``marks``: what else it does, one of `MARKS`, or a meaning that it has beside a word of birth (``year``);
* ``languages``: those in which columns are called so; and ``source``: the system, standard or dictionary it is from.

Two or three words that are listed as one (``faixaetaria``) are found however they are written (``faixa_etaria``).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

LANGUAGES = ("en", "pt", "es", "de", "fr")
"""The languages of the words."""
MARKS = {
    "alone": "it says something only where no other word stands beside it",
    "name": "a column called so holds names of people",
    "pseudonym": "it calls a column one of numbers that need not reach anybody by themselves",
    "owner": "with nothing beside it, it calls a column that says whose a record is",
    "other": "it calls a column after somebody or something that several people share",
    "date": "it calls a column one of dates",
    "missing": "a value that stands for a missing one",
    "sex": "a value of a person's sex",
}
"""What else a word may do."""
VALUES = ("missing", "sex")
"""Of these, the marks of values: no column need be called so."""


class Word(NamedTuple):
    """A word, or a few written as one, of which something is known."""

    word: str
    """The word, without accents and in lower case."""
    role: str
    """The role that it suggests; empty: none."""
    meaning: str
    """What it says that a column means; empty: nothing in particular."""
    marks: tuple[str, ...]
    """What else it does (`MARKS`)."""
    languages: tuple[str, ...]
    """The languages in which it is used."""
    sources: tuple[str, ...]
    """The systems, standards and dictionaries it is from."""


def vocabulary() -> tuple[Word, ...]:
    """Return all words, in the order of the table."""
    return tuple(
        Word(
            word,
            role,
            meaning,
            tuple(marks.split()),
            tuple(languages.split()),
            tuple(source.split("; ")),
        )
        for word, role, meaning, marks, languages, source in _rows()
    )


def _rows() -> Iterator[list[str]]:
    """Return the rows of the table, without the names of its columns."""
    content = files("glasshouse.table").joinpath("vocabulary.csv").read_text(encoding="utf-8")
    rows = csv.reader(content.splitlines())
    next(rows)
    return rows


@cache
def _words() -> dict[tuple[str, str], set[str]]:
    """Return the words by what they say: a role, a meaning or a mark; and all that names of columns may hold."""
    words: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for word, role, meaning, marks, _, _ in _rows():
        words["role", role].add(word)
        words["meaning", meaning].add(word)
        for mark in marks.split():
            words["mark", mark].add(word)
        if marks not in ("alone", *VALUES):
            words["part", ""].add(word)
    return dict(words)


def words_of_role(role: str) -> frozenset[str]:
    """Return the words that suggest a role.

    >>> "doenca" in words_of_role("sensitive"), "doenca" in words_of_role("identifier")
    (True, False)
    """
    return frozenset(_words().get(("role", role), ()))


def words_meaning(meaning: str) -> frozenset[str]:
    """Return the words that say that a column means something.

    >>> {"plz", "cep", "zip"} <= words_meaning("postcode")
    True
    """
    return frozenset(_words().get(("meaning", meaning), ()))


def words_marked(mark: str) -> frozenset[str]:
    """Return the words with a mark: one of `MARKS`, or a meaning that they have beside a word of birth.

    >>> sorted(words_marked("birth-month"))
    ['mes', 'mois', 'monat', 'month']
    """
    return frozenset(_words().get(("mark", mark), ()))


@cache
def compounds() -> frozenset[str]:
    """Return the words that several in the name of a column may make together."""
    return frozenset(_words()["part", ""])
