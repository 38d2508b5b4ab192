"""The catalogue of adversaries: who is likely to know what of a person, by country, and what makes that plausible.

What an adversary knows is said by meaning (a date of birth, a municipality): which columns that is in a file, its names
and values tell (`glasshouse.table.profiles`). The catalogue is data, a TOML file per country; a file of the same form
can be given instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from glasshouse.errors import StudyError
from glasshouse.language import either, marked, near_names, spoken, text, translated
from glasshouse.study.question import Model, toml_content, validated

COUNTRIES = ("br", "eu", "us")
"""The countries of the catalogue, and the generic European Union."""
MEANINGS = {
    "birth-date": marked("date of birth"),
    "birth-year": marked("year of birth"),
    "birth-month": marked("month of birth"),
    "birth-day": marked("day of birth"),
    "birthplace": marked("place of birth"),
    "age": marked("age"),
    "sex": marked("sex"),
    "race": marked("race or colour"),
    "nationality": marked("nationality"),
    "marital-status": marked("marital status"),
    "household": marked("household"),
    "address": marked("address"),
    "postcode": marked("postal code"),
    "neighbourhood": marked("neighbourhood"),
    "municipality": marked("municipality"),
    "state": marked("state"),
    "school": marked("school"),
    "grade": marked("school grade"),
    "education": marked("education"),
    "occupation": marked("occupation"),
    "employer": marked("employer"),
    "hospital": marked("hospital"),
    "care-date": marked("date of treatment"),
}
"""What an attribute may mean, and what it is called."""
IMPLIED = {
    "birth-date": ("birth-year", "birth-month", "birth-day", "age"),
    "birth-year": ("age",),
    "address": ("postcode", "neighbourhood", "municipality", "state"),
    "postcode": ("neighbourhood", "municipality", "state"),
    "neighbourhood": ("municipality", "state"),
    "municipality": ("state",),
}
"""What else is known by who knows an attribute."""


def _in_languages(words: object) -> object:
    return {"en": words} if isinstance(words, str) else words


Words = Annotated[dict[str, str], BeforeValidator(_in_languages), Field(min_length=1)]
"""Words by language; a plain text stands for all of them."""


class CatalogueAdversary(Model):
    """Somebody who may look for people in a release, and what she is likely to know of them."""

    name: str = Field(min_length=1)
    """What she is called in the catalogue: ``br/voter-roll``."""
    title: Words
    """Who she is, by language."""
    knows: tuple[str, ...] = Field(min_length=1)
    """What she knows, by meaning (`MEANINGS`), or as a column is called."""
    source: Words
    """What makes it plausible: a law, a register, a publication; by language."""
    url: str = ""
    """Where the source is."""
    columns: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By what she knows, the columns of a release that it was found in; none in the catalogue itself."""

    @model_validator(mode="before")
    @classmethod
    def _of_the_catalogue(cls, content: Any) -> Any:
        """Complete somebody of whom a study keeps no more than the name and the columns."""
        if not isinstance(content, dict) or content.keys() - {"name", "columns"}:
            return content
        one = catalogue().get(f"{content.get('name')}")
        return content if one is None else {**dict(one), **content}

    @model_serializer(mode="wrap")
    def _in_short(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keep of somebody of the catalogue the name and the columns: the rest comes with the house."""
        content: dict[str, Any] = dump(self)
        if catalogue().get(self.name) == self.model_copy(update={"columns": {}}):
            return {"name": self.name, "columns": content.get("columns", {})}
        return content

    @property
    def missing(self) -> tuple[str, ...]:
        """What she knows and the release was not found to hold."""
        return tuple(meaning for meaning in self.knows if meaning not in self.columns)

    def in_columns(self, meanings: Mapping[str, str]) -> CatalogueAdversary:
        """Return her with the columns of a release that she knows.

        Args:
            meanings: By column, what it means; empty: nothing that is known.
        """
        columns = {}
        for known in self.knows:
            is_known = {known, *IMPLIED.get(known, ())}
            names = [
                name
                for name, meaning in meanings.items()
                if meaning in is_known or (known not in MEANINGS and name == known)
            ]
            if names:
                columns[known] = tuple(names)
        return self.model_copy(update={"columns": columns})


def in_words(words: Mapping[str, str]) -> str:
    """Return words in the language that is spoken, or else in the first that there is."""
    return words.get(spoken()) or next(iter(words.values()))


def meaning_in_words(meaning: str) -> str:
    """Return what a meaning is called; a column is called as it is."""
    return translated(MEANINGS[meaning]) if meaning in MEANINGS else meaning


@cache
def catalogue() -> dict[str, CatalogueAdversary]:
    """Return the adversaries that come with the house, by name."""
    folder = files("glasshouse.study.adversaries")
    return {
        one.name: one
        for country in COUNTRIES
        for one in _adversaries(
            tomllib.loads((folder / f"{country}.toml").read_text(encoding="utf-8")), country
        )
    }


def chosen_adversaries(names: Iterable[str]) -> tuple[CatalogueAdversary, ...]:
    """Return the adversaries of names, of countries, of files that end in ``.toml``, or all of the catalogue.

    Raises:
        StudyError: There is none of that name, or a file is no catalogue.
    """
    chosen: dict[str, CatalogueAdversary] = {}
    for name in names:
        if name.endswith(".toml"):
            path = Path(name).expanduser()
            members = _adversaries(toml_content(path), path.stem)
            if not members:
                raise StudyError(
                    "{file}: holds no adversary; write a table for each", file=path.name
                )
        else:
            members = [
                one
                for one in catalogue().values()
                if name in ("all", one.name, one.name.partition("/")[0])
            ]
        if not members:
            raise StudyError(_no_adversary(name))
        chosen |= {one.name: one for one in members}
    return tuple(chosen.values())


def _no_adversary(name: str) -> str:
    """Say that there is no such adversary, and who may be meant: by the whole name, or without the country."""
    words: dict[str, list[str]] = {}
    for one in catalogue():
        words.setdefault(one.partition("/")[2], []).append(one)
    near = near_names(name, catalogue()) or [
        one for word in near_names(name.rpartition("/")[2], words) for one in words[word]
    ]
    if near:
        return text(
            'there is no adversary "{name}"; did you mean {near}? glasshouse inspect FILE shows who could know '
            "most of it, docs/quasi-identifiers.md who there is",
            name=name,
            near=either(near[:3]),
        )
    return text(
        'there is no adversary "{name}"; say all, {countries}, the name of a TOML file, or one of '
        "docs/quasi-identifiers.md; glasshouse inspect FILE shows who could know most of it",
        name=name,
        countries=", ".join(COUNTRIES),
    )


def _adversaries(content: Mapping[str, Any], where: str) -> list[CatalogueAdversary]:
    """Return the adversaries of a file, each a table of it."""
    return [
        validated(
            CatalogueAdversary,
            {**entry, "name": f"{where}/{word}"} if isinstance(entry, dict) else {"name": word},
            f"{where}: {word}",
        )
        for word, entry in content.items()
    ]
