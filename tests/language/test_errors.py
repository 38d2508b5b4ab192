"""Every error that is addressed to the user is said in the language that is spoken where it is shown."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pytest

from glasshouse.cli.main import app
from glasshouse.cli.options import with_options
from glasshouse.cli.translation import command_of
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import speaking
from glasshouse.microdata import assess, target
from glasshouse.table import collect, read
from tests.parsed import nodes

TO_THE_USER = {
    "DataError",
    "StudyError",
    "ContradictionError",
    "BudgetError",
    "SolverError",
    "StoppedError",
}
"""The errors that the user reads; `InternalError` is a bug of ours and stays in English."""
ENGLISH = {
    "qif": "the mathematics imports nothing but errors, and its names are those of the formulas",
}
"""Packages that speak English, and why."""


def errors_of(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """Yield where the errors that the user reads are made."""
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in TO_THE_USER
        ):
            yield node


def is_written_out(message: ast.expr) -> bool:
    """Tell whether a message is put together where it is raised, and so cannot be translated as a whole.

    It is a template that the catalogue has, a call makes it (a function that says what is wrong), or a variable holds
    it. What is only joined to others, as in ``f"{where}: {reason}"``, has no words of its own.
    """
    match message:
        case ast.JoinedStr(values=values):
            return any(_has_words(value) for value in values)
        case ast.BinOp(left=left, right=right):
            return any(_has_words(side) or is_written_out(side) for side in (left, right))
        case ast.IfExp(body=body, orelse=orelse):
            return any(_has_words(side) or is_written_out(side) for side in (body, orelse))
        case ast.Call(func=ast.Attribute(value=ast.Constant())):  # "…".format(…), "…".join(…)
            return True
    return False


def _has_words(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and any(map(str.isalpha, str(part.value)))


def test_no_error_for_the_user_is_written_out_where_it_is_raised() -> None:
    strayed = [
        f"{place}:{call.lineno}"
        for place, inside in nodes().items()
        if place.partition("/")[0] not in ENGLISH
        for call in errors_of(inside)
        if any(map(is_written_out, call.args))
    ]
    assert strayed == []


def test_the_packages_that_speak_english_are_there() -> None:
    assert set(ENGLISH) <= {place.partition("/")[0] for place in nodes()}


@pytest.mark.parametrize(
    ("raised", "found"),
    [
        ('DataError("no records")', False),
        ('DataError("{name} has none", name=name)', False),
        ('DataError(f"{name} has none")', True),
        ('DataError("none in " + name)', True),
        ('DataError("none" if empty else text("some"))', True),
        ('DataError("{name} has none".format(name=name))', True),
        ("DataError(_reason(name))", False),
        ("DataError(reason)", False),
        ('DataError(f"{where}: {reason}")', False),
        ('InternalError(f"{name} is broken")', False),
    ],
)
def test_what_is_written_out_is_found(raised: str, found: bool) -> None:
    calls = errors_of(ast.walk(ast.parse(f"raise {raised}")))
    assert any(is_written_out(call.args[0]) for call in calls) is found


OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])")
SPEAK_OF_OPTIONS = {
    "app": "it runs the command line, and shows the command that gives the same",
    "cli": "options are its own",
    "report": "a report says how its run can be had again, by a command",
    "sources/databases.py": "a session of PostgreSQL is opened with options of its own",
    "study/question.py": "it names the whole command that would answer the study",
}
"""Where a message may name an option of the command line, and why."""


def said_below_the_command_line() -> Iterator[tuple[str, str]]:
    """Yield every text in the code that is no docstring, with its place, where Python's keywords are spoken of."""
    for place, inside in nodes().items():
        if place.startswith(tuple(SPEAK_OF_OPTIONS)):
            continue
        docstrings = {id(node.value) for node in inside if isinstance(node, ast.Expr)}
        for node in inside:
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docstrings
            ):
                yield f"{place}:{node.lineno}", node.value


def test_below_the_command_line_nothing_speaks_of_its_options() -> None:
    strayed = [place for place, said in said_below_the_command_line() if OPTION.search(said)]
    assert strayed == []


PYTHON_ONLY = {"`bottom`", "`ratio`", "`step`", "`top`", "`window`"}
"""Keywords of functions that no command calls: what changes single values at random, or codes their tails."""


def test_every_keyword_in_a_message_is_an_option_of_the_command_line() -> None:
    options = {
        flag
        for command in command_of(app).commands.values()
        for nested in [command, *getattr(command, "commands", {}).values()]
        for parameter in nested.params
        for flag in (*parameter.opts, *parameter.secondary_opts)
    }
    keywords = {
        keyword
        for _, said in said_below_the_command_line()
        for keyword in re.findall(r"`[a-z_]+`", said)
    }
    assert len(keywords) > 40
    assert {with_options(keyword) for keyword in keywords - PYTHON_ONLY} <= options


PEOPLE = pa.table({"age": ["20", "30"], "ill": ["yes", "no"]})
SAID: dict[str, tuple[Callable[[], object], str]] = {
    "two roles": (
        lambda: read(PEOPLE, quasi_identifiers=["age"], sensitive=["age"]),
        'a coluna "age" aparece como quase-identificador e como sensível; dê a ela um só papel, uma só vez',
    ),
    "no identifier": (
        lambda: collect([read(PEOPLE, name="people")]),
        "people: não tem identificador, e não é possível distinguir as pessoas",
    ),
    "nobody fits": (
        lambda: target(
            read(PEOPLE, quasi_identifiers=["age"], sensitive=["ill"], name="people"),
            known=["age=40"],
        ),
        'o valor "40" não ocorre na coluna "age" de people: nenhum candidato; os valores mais próximos são "30", "20"',
    ),
    "a prior that is none": (
        lambda: assess(
            read(PEOPLE, quasi_identifiers=["age"], sensitive=["ill"], name="people"),
            priors={("ill",): {"yes": 0.25, "no": 0.25}},
        ),
        'a distribuição a priori de "ill" soma 0,5, não 1; corrija-a',
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_errors_speak_portuguese(case: str) -> None:
    ask, said = SAID[case]
    with pytest.raises((DataError, StudyError)) as raised, speaking("pt-BR"):
        ask()
    with speaking("pt-BR"):
        assert str(raised.value) == said


def test_an_error_is_said_in_the_language_of_where_it_is_shown() -> None:
    error = DataError("{name}: has no records", name="people")
    assert str(error) == "people: has no records"
    with speaking("pt-BR"):
        assert str(error) == "people: não tem registros"


def test_an_error_comes_back_from_another_process_with_its_parts() -> None:
    error = pickle.loads(pickle.dumps(BudgetError("{name}: has no records", name="people")))
    assert isinstance(error, BudgetError)
    assert (error.template, error.parts) == ("{name}: has no records", {"name": "people"})
