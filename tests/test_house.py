"""The rules of the house that no linter knows: one word per command, names that occur once, results alike."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types
import typing
from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest
from pydantic import BaseModel

import glasshouse as gh
from glasshouse.cli.main import app
from glasshouse.cli.translation import command_of
from glasshouse.study import COMMANDS, study_class
from glasshouse.study.anonymise import IN_ORDER, Means, Protection
from glasshouse.study.entry import models_in
from tests.parsed import SOURCE, modules, nodes

ROOT = Path(__file__).parents[1]
CAPABILITIES = ("microdata", "mitigation", "groups", "reconstruction", "tabulation", "economics")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_one_word_in_every_layer(command: str) -> None:
    for layer in ("study", "runs", "measures", "cli"):
        assert (SOURCE / layer / f"{command}.py").is_file(), layer
    assert (SOURCE / "report" / command / "page.py").is_file()
    assert list((ROOT / "tests" / "cli").glob(f"test_{command}*.py"))
    assert (ROOT / "docs" / f"{command}.md").is_file()
    assert study_class(command).model_fields["command"].default == command
    assert f"glasshouse {command}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert callable(getattr(gh, command)) or command == "totals"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_answered_and_told_by_functions_of_the_same_names(command: str) -> None:
    assert callable(importlib.import_module(f"glasshouse.runs.{command}").answer)
    assert callable(importlib.import_module(f"glasshouse.measures.{command}").measured)
    page = importlib.import_module(f"glasshouse.report.{command}.page")
    assert callable(page.page)
    assert callable(page.brief)


def classes() -> dict[str, list[str]]:
    """Return the public classes of the house, with the modules that define them."""
    homes = defaultdict(list)
    for place, module in modules().items():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(place)
    return homes


def test_no_two_public_classes_share_a_name() -> None:
    assert {name: homes for name, homes in classes().items() if len(homes) > 1} == {}


def test_no_class_of_ours_is_imported_under_another_name() -> None:
    renamed = []
    for place, inside in nodes().items():
        for node in inside:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glasshouse"):
                renamed += [
                    f"{place}: {alias.name} as {alias.asname}"
                    for alias in node.names
                    if alias.asname not in (None, alias.name)
                    and alias.name[0].isupper()
                    and not alias.name.isupper()
                ]
    assert renamed == []


def test_no_module_is_named_for_what_it_does() -> None:
    """A module is a noun for what it gives; recoding, rounding and reading are words of the field."""
    nouns = {"global_recoding", "local_recoding", "reading", "rounding"}
    gerunds = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if path.stem.endswith("ing") and path.stem not in nouns
    ]
    assert gerunds == []


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_capability_exports_functions_and_results_and_no_module_shadows_them(
    capability: str,
) -> None:
    module = importlib.import_module(f"glasshouse.{capability}")
    for name in module.__all__:
        assert not isinstance(getattr(module, name), types.ModuleType), name
        assert not (SOURCE / capability / f"{name}.py").exists(), f"{name} is also a module"


def test_no_function_of_a_package_has_the_name_of_a_module_in_it() -> None:
    """Whoever imports the module would put it in the place of the function, for everybody."""
    shadowed = [
        f"{place}: {node.name}"
        for place, module in modules().items()
        if place.endswith("__init__.py")
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and (SOURCE / place).with_name(f"{node.name}.py").exists()
    ]
    assert shadowed == []


def results() -> list[tuple[str, type]]:
    """Return the classes of ours that public functions return, with the function."""
    found = []
    for capability in CAPABILITIES:
        module = importlib.import_module(f"glasshouse.{capability}")
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function):
                kind = typing.get_type_hints(function).get("return")
                found += [(f"{capability}.{name}", own) for own in _ours(kind)]
    return found


def _ours(kind: object) -> list[type]:
    """Return the classes of a capability that a type is made of."""
    if isinstance(kind, type) and not typing.get_args(kind):
        is_ours = kind.__module__.startswith("glasshouse.") and not issubclass(kind, str)
        return [kind] if is_ours else []
    return [own for part in typing.get_args(kind) for own in _ours(part)]


NO_RESULTS = {
    # what is asked or handed on, not what came out
    *("EncodedTable", "EncodedColumn", "Instance", "Release", "Hierarchy", "TotalsStudy"),
    *("PublishedSet",),
    *("Channel", "GainFunction", "GainMatrix", "Victims", "Original", "Terms"),
}
"""Classes that functions take and give, and that are no results."""


def test_every_result_of_a_public_function_gives_a_table_and_plain_values() -> None:
    lacking = {
        f"{function}: {kind.__name__} has no {method}"
        for function, kind in results()
        if kind.__name__ not in NO_RESULTS
        for method in ("to_dict", "to_frame")
        if not hasattr(kind, method)
    }
    assert lacking == set()


def test_there_are_results_to_check() -> None:
    assert len({kind for _, kind in results()}) > 30


VAGUE = frozenset(
    "own each told said found shown kept asked given made left wanted others parts".split()
)
"""Words that do not say what a variable holds."""


def bound_names() -> Iterator[str]:
    """Yield the name of every parameter and of every variable that is assigned, as often as it is."""
    for inside in nodes().values():
        for node in inside:
            if isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def test_variables_say_what_they_hold() -> None:
    names = list(bound_names())
    vague = sum(name in VAGUE for name in names)
    assert vague < len(names) / 100


def imports() -> dict[str, set[str]]:
    """Return which modules of the house each one imports: for types and inside functions, too."""
    names = {
        place.removesuffix(".py").removesuffix("/__init__").replace("/", "."): place
        for place in modules()
    }
    imported: dict[str, set[str]] = {}
    for name, place in names.items():
        homes = set()
        for node in nodes()[place]:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glasshouse"):
                home = (node.module or "").partition(".")[2]
                for alias in node.names:
                    inner = f"{home}.{alias.name}".strip(".")
                    homes.add(inner if inner in names else home)
        imported[name] = {home for home in homes & set(names) if home != name}
    return imported


def test_no_module_imports_itself_by_way_of_others() -> None:
    waiting = imports()
    while free := {name for name, homes in waiting.items() if not homes & set(waiting)}:
        waiting = {name: homes for name, homes in waiting.items() if name not in free}
    tied = {name: sorted(homes & set(waiting)) for name, homes in waiting.items()}
    # whoever only imports from a circle is not in it
    while loose := set(tied) - {home for homes in tied.values() for home in homes}:
        tied = {name: homes for name, homes in tied.items() if name not in loose}
    assert tied == {}


def test_what_a_function_does_has_at_most_a_hundred_lines() -> None:
    long = set()
    for place, inside in nodes().items():
        for node in inside:
            if isinstance(node, ast.FunctionDef):
                begins = node.body[1 if ast.get_docstring(node, clean=False) else 0 :]
                if begins and (node.end_lineno or 0) - begins[0].lineno >= 100:
                    long.add(f"{place}: {node.name}")
    assert long == set()


LONG_MODULES = frozenset(
    """
    app/drafts.py microdata/individual.py microdata/knowledge.py microdata/linkage.py microdata/people.py
    microdata/sweep_kernel.py microdata/sweep_steps.py mitigation/criteria.py mitigation/global_recoding.py
    mitigation/hierarchies.py mitigation/local_recoding.py mitigation/local_state.py mitigation/utility.py
    report/anonymise/page.py report/compare/page.py report/deter/page.py runs/assess.py
    study/question.py table/profiles.py verbs.py
    """.split()
)
"""Modules of more than 900 lines, a list that may only shrink."""


def test_a_module_has_at_most_900_lines() -> None:
    long = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > 900
    }
    assert long == LONG_MODULES


BRANCHING = 4
"""So many functions branch more than ruff's limit allows, a number that may only fall."""


def test_ever_fewer_functions_branch_too_much() -> None:
    marked = [
        f"{path.relative_to(SOURCE).as_posix()}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "noqa: C901" in line
    ]
    assert len(marked) == BRANCHING, marked


def has_sentence(node: ast.AST | None) -> bool:
    """Tell whether something is written out with blanks in it, as only words for people are."""
    return node is not None and any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and " " in one.value
        for one in ast.walk(node)
    )


def declared() -> Iterator[tuple[str, str, ast.AST | None, ast.AST | None, bool]]:
    """Yield what study and cli declare: place, name, type, default, and whether a docstring stands below it."""
    for place, inside in nodes().items():
        if not place.startswith(("study/", "cli/")):
            continue
        for node in inside:
            if isinstance(node, ast.ClassDef):
                for line, below in zip_longest(node.body, node.body[1:]):
                    if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                        has_docstring = isinstance(below, ast.Expr)
                        yield place, line.target.id, line.annotation, line.value, has_docstring
            elif isinstance(node, ast.FunctionDef):
                plain, defaults = node.args.args, node.args.defaults
                pairs = [*zip(plain[len(plain) - len(defaults) :], defaults, strict=True)]
                for argument, default in [
                    *pairs,
                    *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
                ]:
                    yield place, argument.arg, argument.annotation, default, False


IN_PYTHON = {
    "identifier": "id",
    "time_limit": "seconds",
    "reading": "learner",
    "people": "register",
}
"""Words that have another one in Python."""


def described() -> dict[str, set[str]]:
    """Return the words that study, cli and verbs describe each by a text of their own."""
    shared = {
        f"{prefix}{target.id}"
        for node in nodes()["cli/options.py"]
        if isinstance(node, ast.Assign) and has_sentence(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
        for prefix in ("", "options.")
    }
    words: dict[str, set[str]] = {"study": set(), "cli": set(), "verbs": set()}
    for place, name, kind, default, has_docstring in declared():
        layer = place.partition("/")[0]
        by_type = kind is not None and (has_sentence(kind) or ast.unparse(kind) in shared)
        by_default = isinstance(default, ast.Call) and has_sentence(default)
        if by_default or (layer == "study" and has_docstring) or (layer == "cli" and by_type):
            words[layer].add(IN_PYTHON.get(name, name))
    for node in nodes()["verbs.py"]:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = (ast.get_docstring(node) or "").partition("Args:\n")[2].partition("\n\n")[0]
            written = re.findall(r"^    (\w+): (.*)", arguments, re.MULTILINE)
            words["verbs"] |= {name for name, sentence in written if "…" not in sentence}
    return words


THREEFOLD = 5
"""So many words are described in study, in cli and in verbs, each time for another thing; it may only fall."""


def test_a_question_is_described_once() -> None:
    words = described()
    assert all(len(names) > 10 for names in words.values()), "there is something to compare"
    assert len(set.intersection(*words.values())) <= THREEFOLD, set.intersection(*words.values())


NO_ENTRIES = frozenset(
    """
    language smallest_cell help_all out overwrite as_json study_file resume threads memory per_record save_table
    explain engine master baseline junit sarif
    ledger accept reasons records seen cohort name who
    """.split()
)
"""Options that ask for nothing: where the answer goes, how it is worked out, in which language, beside what."""
OTHERWISE = {"no_header": "header", "values": "domains", "learner": "reading", "register": "people"}
"""Options whose entry has another word."""
OF_NO_ENTRY = {
    ("assess", "focal"),  # which of the datasets comes first
    ("target", "focal"),
    ("target", "unlinked"),  # is refused, with the reason
    ("protect", "noise"),  # is drawn once: what is kept is a study of tables, of the release
    ("protect", "people"),
}


def entries_of(model: type[BaseModel]) -> set[str]:
    """Return the names of the entries of a study, and of the models in it."""
    names: set[str] = set()
    models = [model]
    for one in models:
        names |= set(one.model_fields)
        for field in one.model_fields.values():
            models += [inner for inner in models_in(field.annotation) if inner not in models]
    return names


@pytest.mark.parametrize("command", sorted({*COMMANDS, "check"} - {"totals"}))
def test_every_option_of_a_command_is_an_entry_of_its_study(command: str) -> None:
    options = {
        OTHERWISE.get(parameter.name, parameter.name)
        for parameter in command_of(app).commands[command].params
        if parameter.param_type_name == "option"
        and (command, parameter.name) not in OF_NO_ENTRY
        and parameter.name not in NO_ENTRIES
    }
    asked = ("assess", "tables") if command == "check" else (command,)
    entries = set().union(*(entries_of(study_class(word)) for word in asked))
    assert len(options) > 10
    assert options <= entries


def test_a_protection_has_all_means_and_its_entries_have_an_order() -> None:
    assert issubclass(Protection, Means)
    assert sorted(IN_ORDER) == sorted(Protection.model_fields)
    dumped = Protection(method="k-anonymity", k=2).model_dump()
    assert tuple(dumped) == IN_ORDER
