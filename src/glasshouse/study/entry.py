"""What is said of an entry of a study, once: options of the command line, docs of ``gh`` and forms are made of it.

A field of a model is declared with `entry`, in the words that every surface uses. Other entries that it speaks of stand
in backquotes, by Python's keywords: the command line says its own options instead. `messages` gathers all of it for
translators.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field

from glasshouse.errors import InternalError
from glasshouse.language import translated

ADVERSARY = "The adversary"
GAINS = "What guesses are worth to her"
RECORDS = "Which records belong to it"
READING = "How the file is written down"
SEEN = "How values are seen"
PROTECTION = "The protection"
RELEASE = "The release"
PRIOR = "The prior"
SAMPLING = "Sampling"
TERMS = "The terms of the attack"
PEOPLE = "The people"
SYNTHETIC = "A synthetic release"
"""The panels of the help that entries stand in."""


MODULES = (
    *("question", "assess", "target", "membership", "anonymise", "protect", "compare", "threat"),
    *("deter", "totals", "tables"),
)
"""Where models are that have entries."""


@dataclass(frozen=True)
class Description:
    """What is said of an entry, in English; whoever shows it translates it."""

    says: str
    """What it is, in whole sentences."""
    shows: str = ""
    """What its value looks like where it is typed, such as ``COL=VALUE``; of choices, these."""
    panel: str = ""
    """The panel of the help that it stands in."""
    unless: str = ""
    """What is taken where nothing is said of it."""
    label: str = ""
    """What a field of a form is called that asks for it."""
    python: str = ""
    """Examples of its value in Python, with semicolons between, where they look otherwise than they are typed."""


def entry(
    says: str,
    shows: str = "",
    *,
    panel: str = "",
    unless: str = "",
    label: str = "",
    python: str = "",
    default: Any = None,
    **checks: Any,
) -> Any:
    """Return the field of an entry: what is said of it, as in `Description`, its default, and what it must meet.

    Args:
        says: What it is.
        shows: What its value looks like where it is typed; of choices they need not be said.
        panel: The panel of the help that it stands in.
        unless: What is taken where nothing is said of it.
        label: What a field of a form is called that asks for it.
        python: Examples of its value in Python.
        default: Its value where nothing is said; ``...``: something must be.
        checks: What else `pydantic.Field` takes.
    """
    further: dict[str, Any] = {"shows": shows, "panel": panel, "unless": unless}
    further |= {"label": label, "python": python}
    if "default_factory" not in checks:
        checks["default"] = default
    return Field(description=says, json_schema_extra=further, **checks)


def description_of(model: type[BaseModel], name: str) -> Description | None:
    """Return what is said of an entry of a model; None: nothing is, for every surface."""
    field = model.model_fields[name]
    if field.description is None or not isinstance(field.json_schema_extra, dict):
        return None
    further: dict[str, Any] = dict(field.json_schema_extra)
    further["shows"] = further["shows"] or "|".join(_choices(field.annotation))
    return Description(field.description, **further)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return the words among which an entry chooses; nothing: it takes other values."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    parts = [one for one in get_args(annotation) if one is not type(None)]
    return _choices(parts[0]) if len(parts) == 1 else ()


def messages() -> set[str]:
    """Return every text that is said of an entry and has words, for translators."""
    models = [
        model
        for module in map(import_module, (f"glasshouse.study.{name}" for name in MODULES))
        for model in vars(module).values()
        if isinstance(model, type) and issubclass(model, BaseModel)
    ]
    every = [description_of(model, name) for model in models for name in model.model_fields]
    texts = [(one.says, one.panel, one.unless, one.label) for one in every if one is not None]
    return {one for some in texts for one in some if re.search("[a-z]{3}", one)}


def in_python(described: Description, *, several: bool = False) -> str:
    """Return what an entry is, as a docstring says it.

    Args:
        described: What is said of it.
        several: Whether its value is a list.

    >>> in_python(Description("How often she guesses.", unless="once", python='{"a": 1}; {"b": 2}'))
    'How often she guesses; by default once: ``{"a": 1}``, ``{"b": 2}``.'
    """
    sentence = described.says.removesuffix(".")
    if several and not described.python:
        sentence += "; several in a list"
    if described.unless:
        sentence += f"; by default {described.unless}"
    if described.python:
        examples = ", ".join(f"``{example}``" for example in described.python.split("; "))
        sentence += f": {examples}"
    return f"{sentence}."


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that the type of an entry is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def label_of(model: type[BaseModel], name: str) -> str:
    """Return what a field of a form is called that asks for an entry, in the language that is spoken.

    Raises:
        InternalError: No form asks for it.
    """
    described = description_of(model, name)
    if described is None or not described.label:
        raise InternalError(f"{model.__name__}.{name} has no label")
    return translated(described.label)
