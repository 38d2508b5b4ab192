"""The base of studies and of their parts."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Immutable, and strict about names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Question(Model):
    """A study: everything that determines a result besides the data itself."""

    commands: ClassVar[tuple[str, ...]]
    """The commands that answer it; the first where it does not say which."""
    command: Any
    """The command that answers it."""

    def abridged(self) -> Self:
        """Return the study as a report that leaves the house should have it: no values of a person."""
        return self
