"""The base of a study's parts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Immutable, and strict about names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
