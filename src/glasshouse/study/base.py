"""The base of studies and of their parts."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Immutable, and strict about names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Question(Model):
    """A study: everything that determines a result besides the data itself."""

    command: Any
    """The command that answers it."""
    subject: str = Field(default="person", min_length=1)
    """What a record stands for, in the words of the report."""

    def abridged(self) -> Self:
        """Return the study as a report that leaves the house should have it: no values of a person."""
        return self
