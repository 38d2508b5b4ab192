"""Studies as files: ``study.toml`` read and written, the paths in it, and what is wrong with it in one line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import tomli_w
from pydantic import ValidationError

from glasshouse.errors import StudyError
from glasshouse.study.base import Model, Question

M = TypeVar("M", bound=Model)
Q = TypeVar("Q", bound=Question)


def load_question(path: Path, kind: type[Q]) -> Q:
    """Read a ``study.toml`` of one kind; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is not such a study.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"{path.name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise StudyError(f"{path.name}: is not UTF-8 text; is it a study file?") from None
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path.name}: is not valid TOML: {error}") from None
    content.pop("glasshouse", None)
    command = content.get("command", kind.commands[0])
    if command not in kind.commands and command in COMMANDS:
        raise other_command(path, command)
    study = validated(kind, content, path.name)
    folder = path.absolute().parent
    return with_paths(study, lambda path: folder / path)


COMMANDS = ("assess", "target", "membership", "anonymise", "threat", "totals", "deter")
"""The commands that take a study."""


def other_command(path: Path, command: str) -> StudyError:
    """Return the error of a study that is for another command."""
    said = "totals campaign" if command == "totals" else command
    return StudyError(
        f"{path.name}: is a study for another command; run glasshouse {said} --study {path}"
    )


def dump_study(study: Question, *, version: str) -> str:
    """Return a study as TOML that `load_question` reads back to the same study."""
    content = study.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
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
        return f"{place} is not an entry of a study; remove it or correct its name"
    if kind == "missing":
        return f"{place} is missing; add it"
    reason = _IN_PLAIN_WORDS.get(kind, f"{reason[:1].lower()}{reason[1:]}")
    for limit, words in (("ge", "at least"), ("le", "at most"), ("lt", "below")):
        if limit in problem.get("ctx", {}):
            reason = f"should be {words} {problem['ctx'][limit]:g}, not {problem['input']}"
    return f"{place}: {reason}"


_IN_PLAIN_WORDS = {
    "tuple_type": 'should be a list, such as ["age", "sex"]',
    "too_short": "needs at least one entry",
    "string_too_short": "must not be empty",
    "path_type": "should be text",
    "string_type": "should be text",
    "bool_type": "should be true or false",
    "int_type": "should be a whole number",
    "finite_number": "should be a number, not infinite",
}


def _is_kind(part: str | int) -> bool:
    """Tell whether a part of a place is pydantic's name for one of several types, not the user's."""
    return isinstance(part, str) and (
        part in {"str", "int", "float"} or not part.isprintable() or "[" in part
    )


def _place(parts: list[str | int]) -> str:
    """Return a place in a study as people say it: ``datasets, entry 1, path``."""
    said = [f"entry {part + 1}" if isinstance(part, int) else f'"{part}"' for part in parts]
    return ", ".join(said) or "the study"
