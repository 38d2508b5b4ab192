"""The command line in the language that is asked for: options that every command has, and its help."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import typer

from glasshouse.language import LANGUAGES, marked, speak, spoken, text, translated

VARIABLE = "GLASSHOUSE_LANG"
"""The environment variable that says in which language to speak where no option does."""
LANG_HELP = marked("The language of the output and of the report: en or pt-BR.")
CELL_HELP = marked(
    "The smallest count of people with particular values that a report shows; smaller ones are shown as fewer."
)
_PANELS = {
    "ARGUMENTS_PANEL_TITLE": marked("Arguments"),
    "OPTIONS_PANEL_TITLE": marked("Options"),
    "COMMANDS_PANEL_TITLE": marked("Commands"),
}


def asked_language(arguments: Sequence[str]) -> str:
    """Return the language that the command line asks for, wherever in it; else the environment's, else English.

    >>> asked_language(["assess", "x.csv", "--lang", "pt-BR"]), asked_language(["--lang=en", "demo"])
    ('pt-BR', 'en')
    """
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--lang" and place + 1 < len(arguments):
            return arguments[place + 1]
        if argument.startswith("--lang="):
            return argument.removeprefix("--lang=")
    return os.environ.get(VARIABLE) or next(iter(LANGUAGES))


def command_of(app: typer.Typer) -> Any:
    """Return the command line of an app: each command takes the options of the whole, and speaks the language."""
    root = typer.main.get_command(app)
    common = [parameter for parameter in root.params if "--version" not in parameter.opts]
    for command in _commands(root):
        if command is not root:
            command.params.extend(copy(parameter) for parameter in common)
        if spoken() != "en":
            _translate(command)
    if spoken() != "en" or "typer.rich_utils" in sys.modules:
        _translate_panels()
    return root


def help_messages(app: typer.Typer) -> set[str]:
    """Return every text of the help, for translators."""
    messages = set()
    for command in _commands(typer.main.get_command(app)):
        for holder in (command, *command.params):
            for name in _SAID:
                message = getattr(holder, name, None)
                if message:
                    messages.add(message)
    return messages


_SAID = ("help", "short_help", "epilog", "rich_help_panel")


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from _commands(inner)


def _translate(command: Any) -> None:
    command.params = [copy(parameter) for parameter in command.params]
    for holder in (command, *command.params):
        for name in _SAID:
            message = getattr(holder, name, None)
            if message:
                setattr(holder, name, translated(message))


def _translate_panels() -> None:
    from typer import rich_utils

    for name, title in _PANELS.items():
        setattr(rich_utils, name, translated(title))
    rich_utils.DEFAULT_STRING = text("[default: {value}]", value="{}")
    rich_utils.REQUIRED_LONG_STRING = text("[required]")


def start_speaking(arguments: Sequence[str]) -> None:
    """Speak the language that the command line asks for.

    Raises:
        StudyError: Glasshouse does not speak it.
    """
    speak(asked_language(arguments))
