"""Write the reference pages of the site from what they describe: the parser, the models, the docstrings, the messages.

scripts/website.py calls `pages`; nothing of it is committed, so nothing of it can be out of date.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pydantic

from glasshouse.language import speaking, translated
from glasshouse.report.glossary import TERMS

sys.path.insert(0, str(Path(__file__).parent))
import messages

ROOT = Path(__file__).resolve().parent.parent
TITLES = {
    "command-line": {"en": "Command line", "pt-BR": "Linha de comando"},
    "errors": {"en": "Errors", "pt-BR": "Erros"},
    "glossary": {"en": "Glossary", "pt-BR": "Glossário"},
}
COMMAND_LINE = {
    "en": "Every command and option, as `--help-all` prints them. Exit codes: 0 done · 4 the policy is not met "
    "(`check`) · 2 the input is wrong · 3 a budget or solver limit stopped it · 1 our own bug · 130 stopped by you.",
    "pt-BR": "Todos os comandos e opções, como `--help-all` os mostra. Códigos de saída: 0 concluído · 4 a política "
    "não foi atendida (`check`) · 2 a entrada está errada · 3 um limite de orçamento ou do resolvedor "
    "interrompeu · 1 defeito nosso · 130 interrompido por você.",
}
COLUMNS = {"en": "| option | what it does |", "pt-BR": "| opção | o que faz |"}
REQUIRED = {"en": "required", "pt-BR": "obrigatória"}
ERRORS = {
    "en": "Every error for the user: one line on standard error that says what is wrong and what to do, and an exit "
    "code; nothing is half-written. What stands in braces is filled in. The page is in the order of the code; search "
    "it for the words that you see.",
    "pt-BR": "Todos os erros que o usuário pode ver: uma linha que diz o que está errado e o que fazer, e um código de "
    "saída; nada fica gravado pela metade. O que está entre chaves é preenchido. Procure na página as palavras que "
    "você vê.",
}
GLOSSARY = {
    "en": "The words of the field as reports, help and documentation use them. A report explains those that it uses."
    "\n\n| term | in Portuguese | meaning |",
    "pt-BR": "Os termos da área, como os usam os relatórios, a ajuda e a documentação. Cada relatório explica os que "
    "usa.\n\n| termo | em inglês | significado |",
}
KINDS = {
    "DataError": ("2", {"en": "The data", "pt-BR": "Os dados"}),
    "StudyError": ("2", {"en": "The question", "pt-BR": "A pergunta"}),
    "BudgetError": ("3", {"en": "Limits", "pt-BR": "Limites"}),
    "SolverError": ("3", {"en": "Solvers", "pt-BR": "Resolvedores"}),
}
"""Kinds of errors: their exit code and what the page calls them."""


def pages(language: str) -> dict[str, str]:
    """Return the generated pages of a language by their names."""
    with speaking(language):
        both = {
            "reference/command-line": command_line(language),
            "reference/errors": errors(language),
            "reference/glossary": glossary(language),
        }
    if language != "en":
        return both
    written = {"decisions": (ROOT / "DECISIONS.md").read_text("utf-8").replace("](docs/", "](")}
    return both | written | {"reference/study": study(), "reference/python": python()}


def command_line(language: str) -> str:
    """Return the page of all commands, from the parser."""
    from glasshouse.cli.main import app
    from glasshouse.cli.translation import command_of

    lines = [f"# {TITLES['command-line'][language]}", "", COMMAND_LINE[language], ""]
    for name, command in _commands("glasshouse", command_of(app)):
        lines += [f"## {name}", "", _plain(command.help or ""), ""]
        usage = " ".join(
            parameter.metavar or parameter.name.upper()
            for parameter in command.params
            if parameter.param_type_name == "argument"
        )
        lines += ["```text", f"{name} {usage}".rstrip(), "```", ""]
        panels: dict[str, list[Any]] = {}
        for parameter in command.params:
            if parameter.help and not getattr(parameter, "hidden", False):
                panels.setdefault(getattr(parameter, "rich_help_panel", None) or "", []).append(
                    parameter
                )
        for panel, parameters in panels.items():
            if panel:
                lines += [f"**{panel}**", ""]
            lines += [COLUMNS[language], "|---|---|"]
            lines += [_option(parameter, language) for parameter in parameters]
            lines.append("")
    return "\n".join(lines)


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in children.items():
        yield from _commands(f"{path} {name}", child)


def _option(parameter: Any, language: str) -> str:
    flags = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "argument":
        flags = [parameter.metavar or parameter.name.upper()]
    takes = "" if parameter.param_type_name == "argument" else parameter.metavar or ""
    written = ", ".join(f"`{flag}`" for flag in flags) + (f" `{takes}`" if takes else "")
    needed = f" ({REQUIRED[language]})" if parameter.required else ""
    return f"| {written.replace('|', chr(92) + '|')} | {_cell(_plain(parameter.help))}{needed} |"


def _plain(words: str) -> str:
    """Return a text of the help without the marks of its terminal."""
    return re.sub(r"\[/?(?:bold|dim|italic)\]", "", words).replace("\\[", "[").strip()


def _cell(words: str) -> str:
    """Return a text as a cell of a table."""
    words = re.sub(r"``(.*?)``", r"`\1`", " ".join(words.split()))
    return words.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def errors(language: str) -> str:
    """Return the page of all errors, from where they are raised."""
    lines = [f"# {TITLES['errors'][language]}", "", ERRORS[language], ""]
    raised: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, message in _raised():
        if message not in raised[kind]:
            raised[kind].append(message)
    for kind, (code, name) in KINDS.items():
        lines += [f"## {name[language]} ({kind}, {code})", ""]
        lines += [
            f"- {_cell(translated(message)).replace('{', '`{').replace('}', '}`')}"
            for message in raised[kind]
        ]
        lines.append("")
    return "\n".join(lines)


def glossary(language: str) -> str:
    """Return the page of all words that reports explain, by the alphabet, each with its name in the other language."""
    rows = []
    for name, meaning in TERMS.items():
        with speaking("en" if language != "en" else "pt-BR"):
            there = translated(name)
        rows.append((translated(name), there, translated(meaning)))
    rows.sort(key=lambda row: _by_the_alphabet(row[0]))
    lines = [f"# {TITLES['glossary'][language]}", "", GLOSSARY[language], "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(map(_cell, row))} |" for row in rows), ""])


def _by_the_alphabet(word: str) -> str:
    """Return a word as a dictionary puts it: accents and capitals do not count."""
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@cache
def _raised() -> tuple[tuple[str, str], ...]:
    """Return every error that the code raises: its kind and its message."""
    return tuple(_errors_of_code())


def _errors_of_code() -> Iterator[tuple[str, str]]:
    for path in sorted(messages.PACKAGE.rglob("*.py")):
        if path.relative_to(messages.PACKAGE).as_posix().startswith(messages.ENGLISH):
            continue
        content = path.read_text("utf-8")
        for node in ast.walk(ast.parse(content)) if "Error(" in content else ():
            if (
                not isinstance(node, ast.Call)
                or not isinstance(node.func, ast.Name)
                or not node.args
            ):
                continue
            kind = "StudyError" if node.func.id == "ContradictionError" else node.func.id
            message = node.args[0]
            if (
                kind in KINDS
                and isinstance(message, ast.Constant)
                and isinstance(message.value, str)
            ):
                yield kind, message.value


def study() -> str:
    """Return the page of study.toml, from its models."""
    from glasshouse.study.question import COMMANDS, study_class

    lines = [
        "# study.toml",
        "",
        "A study holds everything that determines a result besides the data. Every run folder has one; "
        '`glasshouse COMMAND --study study.toml` and `gh.run("study.toml")` answer it. Paths are relative to the '
        "study's own folder. A name that is not listed here is an error. The rule under `[policy]`: "
        "[policy](../policy.md).",
        "",
        "The smallest one:",
        "",
        "```toml",
        'command = "assess"',
        "",
        "[[datasets]]",
        'path = "people.csv"',
        "",
        "[adversary]",
        'quasi_identifiers = ["age", "sex"]',
        "```",
        "",
    ]
    tables: dict[str, type[pydantic.BaseModel]] = {}
    for command in COMMANDS:
        kind = study_class(command)
        lines += [f'## command = "{command}"', "", _cell(inspect.getdoc(kind) or ""), ""]
        lines += _fields(kind, tables)
    lines += ["## Tables", "", "What stands under a name in brackets.", ""]
    written: set[str] = set()
    while left := [name for name in tables if name not in written]:
        for name in left:
            written.add(name)
            lines += [
                f"### {name}",
                "",
                _cell((inspect.getdoc(tables[name]) or "").split("\n\n")[0]),
                "",
            ]
            lines += _fields(tables[name], tables)
    return "\n".join(lines)


def _fields(
    kind: type[pydantic.BaseModel], tables: dict[str, type[pydantic.BaseModel]]
) -> list[str]:
    below = _docstrings(kind)
    lines = ["| entry | kind | unless given | what it is |", "|---|---|---|---|"]
    for name, field in kind.model_fields.items():
        for model in _models(field.annotation):
            tables.setdefault(model.__name__, model)
        inner = ", ".join(
            f"[{model.__name__}](#{model.__name__.lower()})" for model in _models(field.annotation)
        )
        shown = inner or f"`{_kind(field.annotation)}`".replace("|", "\\|")
        words = " ".join(filter(None, [field.description, below.get(name)]))
        lines.append(f"| `{name}` | {shown} | {_default(field)} | {_cell(words)} |")
    return [*lines, ""]


def _docstrings(kind: type) -> dict[str, str]:
    """Return what stands below each field of a class and of those that it extends."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if not one.__module__.startswith("glasshouse."):
            continue
        (tree,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(one))).body
        assert isinstance(tree, ast.ClassDef)
        for line, below in pairwise(tree.body):
            match line, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(words))),
                ):
                    found[name] = words
    return found


def _models(annotation: Any) -> list[type[pydantic.BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    return [model for inner in getattr(annotation, "__args__", ()) for model in _models(inner)]


def _kind(annotation: Any) -> str:
    words = (
        annotation.__name__
        if inspect.isclass(annotation) and not hasattr(annotation, "__args__")
        else str(annotation)
    )
    words = re.sub(r"\w+\(.*\)|<[^>]*>", "", words)  # what validates it
    words = re.sub(r"\b(?:[a-z_]+\.)+", "", words)
    words = re.sub(r"Annotated\[(.*?),[^\]]*\]", r"\1", words)
    words = re.sub(
        r"(?:Union|Optional)\[(.*)\]", lambda match: match[1].replace(", ", " | "), words
    )
    for python, plain in (
        ("tuple", "list"),
        ("str", "text"),
        ("float", "number"),
        ("int", "whole number"),
    ):
        words = re.sub(rf"\b{python}\b", plain, words)
    return words.replace(", ...", "").replace(" | None", "").replace(" | NoneType", "")


def _default(field: Any) -> str:
    if field.is_required():
        return "**required**"
    value = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, pydantic.BaseModel) or value in ((), {}, []):
        return _cell((field.json_schema_extra or {}).get("unless") or "–")
    return f"`{getattr(value, 'value', value)}`".replace("|", "\\|").lower()[:50]


MODULES = (
    "verbs",
    "runs",
    "totals",
    "microdata",
    "mitigation",
    "groups",
    "reconstruction",
    "economics",
    "qif",
    "synthetic",
)


def python() -> str:
    """Return the page of every public name, from docstrings."""
    import glasshouse

    lines = [
        "# Python API",
        "",
        "Every public name with its signature and its first words; `help(name)` has the rest. What the verbs share is "
        "told in [From Python](../python.md).",
        "",
        "## glasshouse",
        "",
    ]
    lines += _names("gh", glasshouse)
    for name in MODULES[2:]:
        module = importlib.import_module(f"glasshouse.{name}")
        lines += [f"## glasshouse.{name}", "", (inspect.getdoc(module) or "").split("\n\n")[0], ""]
        lines += _names(f"gh.{name}", module)
    return "\n".join(lines)


def _names(prefix: str, module: Any) -> list[str]:
    lines = ["| name | what it is |", "|---|---|"]
    for name in getattr(module, "__all__", sorted(vars(module))):
        value = getattr(module, name)
        if inspect.ismodule(value) or name.startswith("_") or not callable(value):
            continue
        first = (inspect.getdoc(value) or "").split("\n\n")[0]
        shown = f"`{prefix}.{name}{_signature(value)}`".replace("|", "\\|")
        lines.append(f"| {shown} | {_cell(first)} |")
    return [*lines, ""]


def _signature(value: Any) -> str:
    if inspect.isclass(value):
        return ""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ""
    names = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            names.append("…")
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names.append(f"*{parameter.name}")
        elif parameter.default is parameter.empty:
            names.append(parameter.name)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            names.append(f"{parameter.name}=")
        else:
            names.append(f"{parameter.name}=")
    return f"({', '.join(names)})"
