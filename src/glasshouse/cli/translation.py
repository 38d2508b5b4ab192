"""The command line in the language that is asked for: options that every command has, and its help."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from typing import Any

import typer

from glasshouse.cli.options import Expanded, help_of
from glasshouse.errors import StudyError
from glasshouse.language import (
    LANGUAGES,
    UnknownLanguageError,
    marked,
    speak,
    spoken,
    text,
    translated,
)

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


MISTYPED = (
    marked("No such option: {option} (Possible options: {near})"),
    marked("No such option: {option}"),
    marked("No such command {command}. Did you mean {near}?"),
    marked("No such command {command}."),
    marked("Missing argument {argument}."),
    marked("Missing option {option}."),
    marked("Missing command."),
    marked("Option {option} requires an argument."),
    marked("Option {option} requires {number} arguments."),
    marked("Option {option} does not take a value."),
    marked("Got unexpected extra argument(s) ({arguments})"),
    marked("Invalid value for {option}: {reason}"),
)
"""What the parser of the command line says of what was typed, as it says it."""
INVALID = {
    "Input should be a valid integer, unable to parse string as an integer": marked(
        "give a whole number"
    ),
    "Input should be a valid number, unable to parse string as a number": marked("give a number"),
    "Input should be greater than or equal to {limit}": marked("give {limit} or more"),
    "Input should be less than or equal to {limit}": marked("give {limit} or less"),
}
"""The reasons that it gives for refusing a value, and what is said of them instead."""


def asked_language(arguments: Sequence[str]) -> str:
    """Return the language that the command line asks for, wherever in it; else the environment's, else English.

    Of the environment our own variable counts first, then what every program goes by.

    >>> asked_language(["assess", "x.csv", "--lang", "pt-BR"]), asked_language(["--lang=en", "demo"])
    ('pt-BR', 'en')
    """
    named = named_language(arguments)
    if named is not None:
        return named
    if chosen := os.environ.get(VARIABLE):
        return chosen
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    spoken_there = locale.partition(".")[0].replace("_", "-")
    return spoken_there if spoken_there in LANGUAGES else next(iter(LANGUAGES))


def named_language(arguments: Sequence[str]) -> str | None:
    """Return the language that the command line names, the last one of several; None: it names none."""
    named = None
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--lang" and place + 1 < len(arguments):
            named = arguments[place + 1]
        elif argument.startswith("--lang="):
            named = argument.removeprefix("--lang=")
    return named


def retold(message: str) -> str:
    """Return a message of the parser of the command line in the language that is spoken.

    >>> from glasshouse.language import speaking
    >>> with speaking("pt-BR"):
    ...     retold("No such command 'asses'. Did you mean 'assess'?")
    "O comando 'asses' não existe. Você quis dizer 'assess'?"
    >>> retold("Invalid value for '--tries': Input should be greater than or equal to 1")
    "Invalid value for '--tries': give 1 or more"
    """
    for template, reply in ({message: message for message in MISTYPED} | INVALID).items():
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(template))
        match = re.fullmatch(pattern, message, re.DOTALL)
        if match:
            groups = match.groupdict()
            return translated(
                reply,
                **{
                    name: retold(part) if name == "reason" else part
                    for name, part in groups.items()
                },
            )
    return message


def command_of(app: typer.Typer, arguments: Sequence[str] | None = None) -> Any:
    """Return the command line of an app: each command takes the options of the whole, and speaks the language.

    Args:
        app: The app.
        arguments: What was typed: only commands that are among it get their options; None: all do.
    """
    root = _spread(app, None if _is_completing() else arguments)
    common = [parameter for parameter in root.params if not _OF_THE_WHOLE & {*parameter.opts}]
    for command in _commands(root):
        if command is not root:
            command.params.extend(copy(parameter) for parameter in common)
        command.get_help_option = _with_help_option(command.get_help_option)
        first = getattr(command.callback, "first", ())
        if first:
            command.format_help = _shortened(command, first)
        for parameter in command.params:
            if parameter.name == "help_all":
                parameter.hidden = not first
        for parameter in command.params:
            _bare(parameter)
            parameter._runtime_param = _Reader()
        if spoken() != "en":
            _translate(command)
        described = getattr(command.callback, "descriptions", {})
        for parameter in command.params:
            if parameter.name in described:
                repeatable = parameter.multiple
                parameter.help = help_of(described[parameter.name], repeatable=repeatable)
    if spoken() != "en" or "typer.rich_utils" in sys.modules:
        _translate_panels()
    return root


def check_names(root: Any, arguments: Sequence[str]) -> None:
    """Make sure that every file and folder has a name: a path of no letters is the folder that one is in.

    Raises:
        StudyError: One has none, as where a variable of the shell is empty.
    """
    options = {
        flag: parameter
        for command in _commands(root)
        for parameter in command.params
        for flag in parameter.opts
    }
    asks = None  # the option that takes the next word
    for argument in arguments:
        is_assigned = asks is None and argument.endswith("=")
        named = options.get(argument[:-1]) if is_assigned else asks
        if (is_assigned and _is_path(named)) or (not argument and (asks is None or _is_path(asks))):
            raise StudyError(
                '"" names no file or folder; give a name (is a variable of the shell empty?)'
            )
        option = options.get(argument)
        asks = None if asks or getattr(option, "is_flag", False) else option


_WHOLE = "glasshouse.whole_help"


def show_whole_help(context: typer.Context) -> None:
    """Show every option of a command, and end."""
    context.meta[_WHOLE] = True
    typer.echo(context.get_help())
    raise typer.Exit


def _shortened(command: Any, first: Collection[str]) -> Callable[[Any, Any], None]:
    """Return a function that shows the help of a command: the first of its options, or all where they are asked for."""
    whole: Callable[[Any, Any], None] = command.format_help

    def format_help(context: Any, formatter: Any) -> None:
        if context.meta.get(_WHOLE):
            return whole(context, formatter)
        every, epilog = command.params, command.epilog
        needed = {*first, "help_all"}
        needed |= {one.name for one in every if one.param_type_name == "argument"}
        shown = [copy(one) for one in every if one.name in needed]
        rest = sum(not one.hidden for one in every if one.name not in needed)
        for parameter in shown:
            parameter.rich_help_panel = None
        command.params = shown
        command.epilog = text(
            "{count} more options, by subject: {command}",
            count=rest,
            command=f"{context.command_path} --help-all",
        )
        try:
            return whole(context, formatter)
        finally:
            command.params, command.epilog = every, epilog

    return format_help


def _spread(app: typer.Typer, words: Sequence[str] | None = None) -> Any:
    """Return the command line of an app in which the commands among words, or all, have their options.

    Others have none again where they had them, as one process may carry out many commands.
    """
    groups = [group for info in app.registered_groups if (group := info.typer_instance)]
    commands = [(one, _name_of(one)) for one in app.registered_commands]
    commands += [
        (one, str(group.info.name)) for group in groups for one in group.registered_commands
    ]
    for info, word in commands:
        if isinstance(info.callback, Expanded):
            if words is None or word in words:
                info.callback.spread()
            else:
                info.callback.fold()
    if app.registered_callback and isinstance(app.registered_callback.callback, Expanded):
        app.registered_callback.callback.spread()
    return typer.main.get_command(app)


def _name_of(info: Any) -> str:
    name: str = info.name or info.callback.__name__
    return name


def _is_completing() -> bool:
    """Tell whether a shell asks how a line can be completed: it says what was typed in its own way."""
    return any(name.endswith("_COMPLETE") for name in os.environ)


def help_messages(app: typer.Typer) -> set[str]:
    """Return the texts of the help that are those of options and commands alone, for translators."""
    commands = _commands(_spread(app))
    return {message for command in commands for _, _, message in _help_texts(command)}


def _help_texts(command: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield the texts in the help of a command: what has each, under which name, and the text."""
    for holder in (command, *command.params):
        for name in ("help", "short_help", "epilog", "rich_help_panel"):
            if message := getattr(holder, name, None):
                yield holder, name, message


def _is_path(parameter: Any) -> bool:
    described = getattr(parameter, "type_descriptor", None)
    return "Path" in str(getattr(described, "annotation", ""))


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from _commands(inner)


def _translate(command: Any) -> None:
    command.params = [copy(parameter) for parameter in command.params]
    command.context_class = _context_class(command.context_class)
    command.options_metavar = text("[OPTIONS]")
    if hasattr(command, "subcommand_metavar"):
        command.subcommand_metavar = text("COMMAND [ARGS]...")
    for holder, name, message in _help_texts(command):
        setattr(holder, name, translated(message))


_OF_THE_WHOLE = frozenset({"--version", "--install-completion", "--show-completion"})
"""Options that no command has, but the program alone."""
COMPLETION = (
    marked("Install completion for the current shell."),
    marked("Show completion for the current shell, to copy it or customize the installation."),
)
"""What the library of the command line says of its own options."""


def _context_class(plain: Any) -> Any:
    """Return a kind of context that says how a command is used in the language that is spoken."""

    def write_usage(self: Any, prog: str, args: str = "", prefix: str | None = None) -> None:
        plain.formatter_class.write_usage(self, prog, args, prefix or text("Usage: "))

    formatter = type("Formatter", (plain.formatter_class,), {"write_usage": write_usage})
    return type("Context", (plain,), {"formatter_class": formatter})


def _with_help_option(get_help_option: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that gets the option ``--help`` with its own help in the language that is spoken."""

    def help_option(context: Any) -> Any:
        option = get_help_option(context)
        if option is not None:
            option.help = text("Show this message and exit.")
            _bare(option)
        return option

    return help_option


class _Reader:
    """Stands for what reads the value of an option, which typer makes of each: what is not given needs no reader."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option, and from the first one that is there let typer read it."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _bare(parameter: Any) -> None:
    """Let the help show a flag alone: it has no value, and so none of a type."""
    if getattr(parameter, "is_flag", False) and parameter.metavar is None:
        parameter.metavar = ""


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
    try:
        speak(asked_language(arguments))
    except UnknownLanguageError as error:
        raise StudyError(str(error)) from None
