"""What is asked of ``compare``: which releases or runs are put side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from glasshouse.errors import ContradictionError
from glasshouse.study.anonymise import (
    CHANGES,
    IN_ORDER,
    LIMITS,
    AnonymiseStudy,
    Protection,
    method_of,
)
from glasshouse.study.entry import entry
from glasshouse.study.question import FRACTION, Probability, Question

SEVERAL = (
    *("method", "recoding", "effort", "k", "l", "t"),
    *(name for name in LIMITS if name != "presence"),
    *("suppression", "sample"),
)
"""What versions of one file can differ in, by the names of the entries."""
_OF_RECODING = ("suppression", "objective", "importance", "time_limit")


def useless(protection: Mapping[str, Any]) -> set[str]:
    """Return what says nothing to a version by its method and recoding, though it may to the one beside it.

    No promise about a class is among them, but the k, l and t that a method by itself knows nothing of: a version is
    called by those that it has.

    >>> sorted(useless({"method": "k-anonymity", "recoding": "local"}) & {"effort", "levels", "perturb"})
    ['levels', 'perturb']
    """
    method, recoding = protection["method"], protection.get("recoding", "global")
    names = {name for kind, ways in CHANGES.items() if kind != method for name in ways}
    if method in CHANGES:
        promises = ("l", "t") if method == "microaggregation" else ("k", "l", "t")
        return names | {"recoding", "effort", "levels", "hierarchies", *_OF_RECODING, *promises}
    if method == "anatomy":
        return names | {"recoding", "effort", "levels", "hierarchies", *_OF_RECODING, "k", "t"}
    names |= {"effort"} if recoding != "local" else set()
    names |= {"levels"} if recoding != "global" else set()
    return names | (set(_OF_RECODING) if recoding == "mondrian" else set())


def version_names(protections: Sequence[Protection]) -> list[str]:
    """Return what versions are called: by what they promise, and by what else they differ in.

    >>> five = Protection(method="k-anonymity", k=5)
    >>> version_names([five, five.model_copy(update={"recoding": "local"})])
    ['k = 5, global', 'k = 5, local']
    """
    contents = list(map(_content, protections))
    differing = {
        name
        for name in SEVERAL
        if len({content[name] for content in contents if name in content}) > 1
    }
    return [", ".join(_words(protection, differing)) for protection in protections]


def _words(protection: Protection, differing: set[str]) -> Iterator[str]:
    """Yield what a version is called by."""
    content = _content(protection)
    promises = [name for name in ("k", "l", "t") if content.get(name) is not None]
    named = {*differing, *(promises or LIMITS)} | {"k", "l", "t"}
    if protection.method in (*CHANGES, "anatomy"):
        yield "Anatomy" if protection.method == "anatomy" else protection.method
    elif "method" in differing and protection.method == "policy":
        yield protection.method
    for name in ("k", "l", "t", *LIMITS, "suppression", "sample"):
        if name in named and content.get(name) is not None:
            yield f"{name.replace('_', '-')} = {_number(content[name])}"
    if "recoding" in content and ("recoding" in differing or protection.recoding != "global"):
        yield protection.recoding
    if "effort" in content and "effort" in differing:
        yield protection.effort


def _content(protection: Protection) -> dict[str, Any]:
    """Return the entries that say something to a version."""
    return protection.model_dump(exclude=useless(vars(protection)))


def _number(value: float | Sequence[float]) -> str:
    """Return a number as it is typed, or two limits."""
    return ":".join(
        f"{number:.15g}" for number in (value if isinstance(value, Sequence) else [value])
    )


class CompareStudy(Question):
    """Runs of the same command side by side; or one file, protected in several ways."""

    command: Literal["compare"] = "compare"
    """The command that answers it."""
    runs: tuple[Path, ...] = ()
    """The folders of the runs, in the order in which they are compared."""
    protections: dict[str, AnonymiseStudy] = Field(default_factory=dict)
    """Instead of runs: how one file is protected, by what each release is called."""
    fraction: Probability | None = FRACTION
    """Population uniqueness is estimated by it."""
    predict: str | None = entry(
        "Also show how well a classifier trained on each release predicts this column (extra learn).",
        "COL",
    )

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if bool(self.runs) == bool(self.protections):
            raise ContradictionError(
                "name one file to protect in several ways, or only folders of runs"
            )
        return self

    def entries(self) -> list[tuple[str, object]]:
        """Return how releases are compared by entries of a study, without the places of files and values of records."""
        content: list[tuple[str, object]] = []
        if self.protections:
            studies = [study.abridged() for study in self.protections.values()]
            content += _of_versions([study.protection for study in studies])
            if studies[0].population is not None:
                content.append(("population", studies[0].population.place.name))
        content += [("fraction", self.fraction), ("predict", self.predict)]
        return [(name, value) for name, value in content if value is not None]


def _of_versions(protections: Sequence[Protection]) -> list[tuple[str, object]]:
    """Return how versions are protected: what they can differ in with commas, then what they have in common."""
    contents = [_content(protection) for protection in protections]
    entries: dict[str, list[tuple[str, object]]] = {}
    for name in dict.fromkeys(("k", "l", "t", *SEVERAL, *IN_ORDER)):
        default = Protection.model_fields[name].get_default(call_default_factory=True)
        values = [content[name] for content in contents if content.get(name) is not None]
        if name in SEVERAL:
            written = [value if isinstance(value, str) else _number(value) for value in values]
            listed = ",".join(dict.fromkeys(written))
            is_said = name in ("recoding", "suppression") or set(values) != {default}
            entries[name] = [(name, listed)] if values and is_said else []
        elif values and values[0] != default:
            value = _number(values[0]) if name == "presence" else values[0]
            entries[name] = list(_entries({name: value}))
    if {protection.method for protection in protections} == {_usual_method(protections[0])}:
        del entries["method"]
    return [entry for some in entries.values() for entry in some]


def _usual_method(protection: Protection) -> str:
    """Return the method that is taken where none is named."""
    changes = {name: getattr(protection, name) for names in CHANGES.values() for name in names}
    changes.pop("grouping")
    return method_of(k=protection.k, l=protection.l, t=protection.t, changes=changes)


def _entries(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield entries one by one: of a table for each column, of a list for each of it."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from ((name, f"{column}={_written(entry)}") for column, entry in value.items())
        else:
            yield from ((name, entry) for entry in (value if isinstance(value, tuple) else [value]))


def _written(entry: object) -> object:
    """Return what an entry says of a column: of a path no more than the name, of values in order a list."""
    return ",".join(entry) if isinstance(entry, tuple) else getattr(entry, "name", entry)
