"""What is asked of ``compare``: which releases or runs are put side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.question import Probability, Question


class CompareStudy(Question):
    """Runs of the same command side by side; or one file, protected in several ways."""

    command: Literal["compare"] = "compare"
    """The command that answers it."""
    runs: tuple[Path, ...] = ()
    """The folders of the runs, in the order in which they are compared."""
    protections: dict[str, AnonymiseStudy] = Field(default_factory=dict)
    """Instead of runs: how one file is protected, by what each release is called."""
    fraction: Probability | None = None
    """The share of the population that is in the data, where population uniqueness is to be estimated."""
    predict: str | None = None
    """A column that a classifier is to predict from each release."""

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if bool(self.runs) == bool(self.protections):
            raise ContradictionError(
                "name one file to protect in several ways, or only folders of runs"
            )
        return self

    def entries(self) -> list[tuple[str, object]]:
        """Return what is asked by entries of a study, without the places of files, values of records, and the seed."""
        content: list[tuple[str, object]] = []
        if self.protections:
            studies = [study.abridged() for study in self.protections.values()]
            first, protections = studies[0], [study.protection for study in studies]
            content += [("quasi_identifiers", name) for name in first.adversary.quasi_identifiers]
            content += [("sensitive", "+".join(names)) for names in first.adversary.secrets]
            for parameter in ("k", "l", "t"):
                values = dict.fromkeys(getattr(protection, parameter) for protection in protections)
                listed = ",".join(f"{value:.15g}" for value in values if value is not None)
                content.append((parameter, listed or None))
        content += [("fraction", self.fraction), ("predict", self.predict)]
        if self.protections:
            further = protections[0].model_dump(exclude_defaults=True)
            content += [
                (name, getattr(protections[0], name)) for name in ("recoding", "suppression")
            ]
            content += [("method", "anatomy" if further["method"] == "anatomy" else None)]
            content += _entries(further, but=("method", "k", "l", "t", "recoding", "suppression"))
            content += [("identifier", first.adversary.identifier)]
            content += _entries(first.treatment.model_dump(exclude_defaults=True))
        return [(name, value) for name, value in content if value is not None]


def _entries(content: Mapping[str, Any], *, but: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield entries one by one: of a table for each column, of a list for each of it."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from ((name, f"{column}={_written(entry)}") for column, entry in value.items())
        elif name not in but:
            yield from ((name, entry) for entry in (value if isinstance(value, tuple) else [value]))


def _written(entry: object) -> object:
    """Return what an entry says of a column: of a path no more than the name, of values in order a list."""
    return ",".join(entry) if isinstance(entry, tuple) else getattr(entry, "name", entry)
