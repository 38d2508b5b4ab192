"""Studies as files: ``study.toml`` read and written, the paths in it, and what is wrong with it in one line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import tomli_w
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from glasshouse.errors import StudyError
from glasshouse.language import either, marked, number, system_reason, text, translated
from glasshouse.study.base import Model, Question

M = TypeVar("M", bound=Model)
Q = TypeVar("Q", bound=Question)


COMMANDS = ("assess", "target", "membership", "anonymise", "compare", "threat", "totals", "deter")
"""The commands that answer a study; each has a module here, under its own word."""


def study_class(command: str) -> type[Question]:
    """Return the kind of study that a command answers.

    >>> study_class("deter").__name__
    'DeterStudy'
    """
    module = import_module(f"glasshouse.study.{command}")
    kind: type[Question] = getattr(module, f"{command.capitalize()}Study")
    return kind


def load_study(path: Path) -> Question:
    """Read a ``study.toml`` for any command; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is no study.
    """
    content = _content(path)
    command = content.get("command", COMMANDS[0])
    if command not in COMMANDS:
        raise StudyError(
            "{file}: {place}: {reason}",
            file=path.name,
            place='"command"',
            reason=text(
                "input should be {choices}", choices=either([repr(word) for word in COMMANDS])
            ),
        )
    return _located(path, study_class(command), content)


def load_question(path: Path, kind: type[Q]) -> Q:
    """Read a ``study.toml`` of one kind; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is not such a study.
    """
    content = _content(path)
    expected = kind.model_fields["command"].default
    command = content.get("command", expected)
    if command != expected and command in COMMANDS:
        raise other_command(path, command)
    return _located(path, kind, content)


def _content(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(
            "{file}: cannot be read ({reason})", file=path.name, reason=system_reason(error)
        ) from None
    except UnicodeDecodeError:
        raise StudyError("{file}: is not UTF-8 text; is it a study file?", file=path.name) from None
    except tomllib.TOMLDecodeError as error:
        raise StudyError(
            "{file}: is not valid TOML: {reason}", file=path.name, reason=error
        ) from None
    content.pop("glasshouse", None)
    return content


def _located(path: Path, kind: type[Q], content: dict[str, Any]) -> Q:
    folder = path.absolute().parent
    return with_paths(validated(kind, content, path.name), lambda relative: folder / relative)


def other_command(path: Path, command: str) -> StudyError:
    """Return the error of a study that is for another command."""
    said = "totals campaign" if command == "totals" else command
    return StudyError(
        "{file}: is a study for another command; run glasshouse {command} --study {path}",
        file=path.name,
        command=said,
        path=path,
    )


def dump_study(study: Question, *, version: str) -> str:
    """Return a study as TOML that `load_question` reads back to the same study."""
    content = study.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if "subject" in content:  # the entries of the question itself come first
        content["subject"] = content.pop("subject")
    return tomli_w.dumps({"glasshouse": version, "command": study.command, **content})


def with_paths(study: M, located: Callable[[Path], Path]) -> M:
    """Return a study with every path in it replaced."""
    return cast(M, _replaced(study, located))


def paths_of(study: Model) -> Iterator[Path]:
    """Yield the paths in a study."""
    found: list[Path] = []

    def noted(path: Path) -> Path:
        found.append(path)
        return path

    _replaced(study, noted)
    yield from found


def _replaced(part: Any, located: Callable[[Path], Path]) -> Any:
    if isinstance(part, Path):
        return located(part)
    if isinstance(part, Model):
        fields = {name: getattr(part, name) for name in type(part).model_fields}
        changed = {name: _replaced(value, located) for name, value in fields.items()}
        update = {name: value for name, value in changed.items() if value is not fields[name]}
        return part.model_copy(update=update) if update else part
    if isinstance(part, tuple) and any(isinstance(each, Model | Path) for each in part):
        return tuple(_replaced(each, located) for each in part)
    if isinstance(part, dict) and any(isinstance(each, Model | Path) for each in part.values()):
        return {name: _replaced(each, located) for name, each in part.items()}
    return part


def validated(model: type[M], content: dict[str, Any], where: str) -> M:
    """Build a model from plain values, or say in one line what is wrong with them.

    Raises:
        StudyError: Naming the entry and the reason.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise StudyError(f"{where}: {_first_problem(error)}") from None


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    place = _place([part for part in problem["loc"] if not _is_kind(part)])
    kind, reason = problem["type"], str(problem["msg"]).removeprefix("Value error, ")
    if kind == "value_error":
        return reason
    if kind == "extra_forbidden":
        others = [command for command in COMMANDS if _has_entry(command, problem["loc"])]
        if others:
            return text(
                "{place} is an entry of a study for {commands}; leave it out here",
                place=place,
                commands=either(others),
            )
        return text(
            "{place} is not an entry of a study; remove it or correct its name", place=place
        )
    if kind == "missing":
        return text("{place} is missing; add it", place=place)
    return f"{place}: {_in_plain_words(problem, reason)}"


def _has_entry(command: str, place: tuple[int | str, ...]) -> bool:
    return len(place) == 1 and place[0] in study_class(command).model_fields


def _in_plain_words(problem: ErrorDetails, reason: str) -> str:
    """Return what is wrong with an entry, in our words where there are any."""
    kind, context = problem["type"], problem.get("ctx", {})
    for limit, words in _LIMITS.items():
        if limit in context:
            return translated(words, limit=number(context[limit], "g"), given=problem["input"])
    if kind in ("literal_error", "enum"):
        choices = re.findall("'[^']*'", str(context["expected"]))
        return text("input should be {choices}", choices=either(choices))
    if kind in _KINDS:
        return translated(_KINDS[kind])
    return f"{reason[:1].lower()}{reason[1:]}"


_LIMITS = {
    "ge": marked("should be at least {limit}, not {given}"),
    "gt": marked("should be above {limit}, not {given}"),
    "le": marked("should be at most {limit}, not {given}"),
    "lt": marked("should be below {limit}, not {given}"),
}
_KINDS = {
    "tuple_type": marked('should be a list, such as ["age", "sex"]'),
    "too_short": marked("needs at least one entry"),
    "too_long": marked("has too many entries"),
    "string_too_short": marked("must not be empty"),
    "path_type": marked("should be text"),
    "string_type": marked("should be text"),
    "bool_type": marked("should be true or false"),
    "int_type": marked("should be a whole number"),
    "float_type": marked("should be a number"),
    "finite_number": marked("should be a number, not infinite"),
    "dict_type": marked("should be a table of entries"),
    "model_type": marked("should be a table of entries"),
}


def _is_kind(part: str | int) -> bool:
    """Tell whether a part of a place is pydantic's name for one of several types, not the user's."""
    return isinstance(part, str) and (
        part in {"str", "int", "float"} or not part.isprintable() or "[" in part
    )


def _place(parts: list[str | int]) -> str:
    """Return a place in a study as people say it: ``datasets, entry 1, path``."""
    said = [
        text("entry {place}", place=part + 1) if isinstance(part, int) else f'"{part}"'
        for part in parts
    ]
    return ", ".join(said) or text("the study")
