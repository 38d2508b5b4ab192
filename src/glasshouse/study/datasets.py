"""The files of a release as parts of a study: how they are written down, and which of their records belong to it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    model_serializer,
    model_validator,
)

from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.study.base import Model
from glasshouse.study.conditions import parse_condition, without_values


class ColumnType(StrEnum):
    """How the text of a column is to be understood before equal values are told apart."""

    TEXT = "text"
    """As it stands: ``01310`` and ``1310`` are two values. The default."""
    INTEGER = "integer"
    """Whole numbers: ``01310`` and ``1310`` are one value."""
    NUMBER = "number"
    """Decimal numbers: ``1.50`` and ``1.5`` are one value."""


def _tabulator(separator: object) -> object:
    return "\t" if separator in ("\\t", "tab") else separator


def _no_quote(quote: object) -> object:
    return None if quote in ("", "none") else quote


class Dialect(Model):
    """How a delimited text file is written down."""

    separator: Annotated[str | None, BeforeValidator(_tabulator)] = None
    """One character between fields (``tab`` and ``\\t`` mean the tabulator); unset: detected."""
    quote: Annotated[str | None, BeforeValidator(_no_quote)] = '"'
    """The character around fields that hold a separator or a line break; ``none``: no such thing."""
    encoding: str | None = None
    """Any encoding that Python knows; unset: by byte-order mark, else UTF-8."""
    header: StrictBool = True
    """Whether the first record holds the names of the columns."""
    names: tuple[str, ...] = ()
    """Names for the columns, instead of the header's or where there is none."""
    strip: StrictBool = False
    """Whether blanks around a value are dropped."""

    @model_validator(mode="after")
    def _one_character_each(self) -> Self:
        for what, character in (
            (text("the separator"), self.separator),
            (text("the quote"), self.quote),
        ):
            if character is not None and len(character) != 1:
                raise ValueError(
                    text(
                        "{what} must be one character, not {given}",
                        what=what,
                        given=repr(character),
                    )
                )
            if character in ("\n", "\r", "\0"):
                raise ValueError(text("{what} cannot be {given}", what=what, given=repr(character)))
        if self.separator is not None and self.separator == self.quote:
            raise ValueError(text("the separator and the quote must differ"))
        return self

    @model_serializer(mode="wrap")
    def _with_quote(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """TOML has no null, and the default is not null: no quote is written as ``none``."""
        content: dict[str, Any] = dump(self)
        return content | {"quote": "none"} if self.quote is None else content


class Dataset(Model):
    """One file of the release and how to read it."""

    path: Path
    """The file; in ``study.toml`` relative to the folder of the study."""
    dialect: Dialect = Dialect()
    """How it is written down, where it is delimited text."""
    types: dict[str, ColumnType] = Field(default_factory=dict)
    """Columns that are to be understood as something other than text."""
    name: str | None = Field(default=None, min_length=1)
    """What results call it; unset: the file's name."""


def _is_condition(written: str) -> str:
    try:
        parse_condition(written)
    except StudyError as error:
        raise ValueError(str(error)) from None
    return written


ConditionText = Annotated[str, AfterValidator(_is_condition)]
"""A condition in the language of `glasshouse.study.conditions`."""


class Treatment(Model):
    """Which records of the datasets belong to the study."""

    where: tuple[ConditionText, ...] = ()
    """Only records that meet all of these."""
    invalid: tuple[ConditionText, ...] = ()
    """No record that meets any of these: it holds an invalid value."""
    drop_missing: StrictBool = False
    """No record with a missing value in a column that has a role."""
    drop_suppressed: StrictBool = False
    """No record whose quasi-identifiers all hold ``*``: whoever anonymised the release suppressed it."""

    def abridged(self) -> Self:
        """Return it without the values that decide: a report tells how many records were left out for each."""
        values = {"where": without_values(self.where), "invalid": without_values(self.invalid)}
        return self.model_copy(update=values)
