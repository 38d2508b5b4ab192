"""The papers of the project are in order: what can be cited, reported and looked up, and what is declared is used."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOTHING_SKIPPED, WITHOUT_EXTRAS, absent

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
TEMPLATES = ROOT / ".github" / "ISSUE_TEMPLATE"
FORMS = sorted(set(TEMPLATES.glob("*.yml")) - {TEMPLATES / "config.yml"})
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("papers/*.md"), *(ROOT / "docs").rglob("*.md")])

HEADINGS = ["Context", "Decision", "Consequences", "Alternatives considered"]
"""The parts of a decision, in this order."""
KINDS_OF_CHANGE = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
"""The headings that Keep a Changelog has under a version."""
LONGEST_LINE = 200
"""So many characters has a line of the changelog at most: an entry is one thought."""
TO_BE_TAGGED = "to be tagged"
"""What stands for the date of the newest version until it is out."""
RELEASED = re.compile(rf"\d+\.\d+\.\d+ – (\d{{4}}-\d\d-\d\d|{TO_BE_TAGGED})")
"""The heading of a version."""
ELEMENTS = {
    "markdown": {"value"},
    "textarea": {"label"},
    "input": {"label"},
    "dropdown": {"label", "options"},
    "checkboxes": {"label", "options"},
}
"""The elements of a form, and what each must say."""
NOT_FOR_USERS = {"dev", "docs", "oracle", "tests"}
"""The extras that only tests need."""
MODULES = {
    "pystemmer": "Stemmer",
    "scikit-learn": "sklearn",
    "httpx": "starlette",
    "python-docx": "docx",
}
"""Distributions whose module has another name, or that another one imports: the test client of Starlette."""
TOOLS = {
    "import-linter": "lint-imports",
    "mypy": "mypy",
    "pytest-xdist": "--numprocesses",
    "ruff": "ruff",
}
"""Distributions that nothing imports, and what shows in the Makefile that they are used."""
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def from_yaml(document: str) -> Any:
    """Read YAML by typst, the one among our tools that can."""
    typst = pytest.importorskip("typst", reason="needs typst (extra pdf), which reads YAML")
    source = b"#metadata(yaml(bytes(sys.inputs.document))) <content>"
    content = typst.query(
        source, "<content>", field="value", one=True, sys_inputs={"document": document}
    )
    return json.loads(content)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def form_of(path: Path) -> Any:
    return from_yaml(path.read_text(encoding="utf-8"))


def headings(page: str, level: int) -> list[str]:
    """Return the headings of a page at one level, in their order."""
    return re.findall(rf"^{'#' * level} (.+)$", CODE.sub("", page), re.MULTILINE)


def test_yaml_that_is_none_is_refused() -> None:
    assert from_yaml("a: [1, two]") == {"a": [1, "two"]}
    with pytest.raises(Exception, match="YAML"):
        from_yaml("a: [1, 2")


# What can be cited.


def test_the_citation_says_what_the_package_says() -> None:
    citation = from_yaml(text_of("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["message"]
    assert citation["type"] == "software"
    assert citation["title"].casefold() == PROJECT["name"]
    assert citation["abstract"] == PROJECT["description"]
    assert citation["authors"] == PROJECT["authors"]
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]


def test_every_source_in_the_readme_can_be_cited() -> None:
    sources = text_of("README.md").partition("## Sources")[2]
    titles = re.findall(r"\*([^*]+)\*", sources)
    references = from_yaml(text_of("CITATION.cff"))["references"]
    assert len(titles) == len(references) > 0
    for title, reference in zip(titles, references, strict=True):
        assert reference["title"].casefold().startswith(title.casefold())
        for author in reference["authors"]:
            assert author["family-names"] in sources
        assert str(reference["year"]) in sources
        assert reference["type"]
        for page in re.findall(r"beside ours in (\S+\.md)", reference.get("notes", "")):
            assert (ROOT / page).is_file(), page


# What can be reported.


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_can_be_filled_in(form: Path) -> None:
    content = form_of(form)
    assert {"name", "description", "body"} <= content.keys()
    assert any(element["type"] != "markdown" for element in content["body"])
    for element in content["body"]:
        assert ELEMENTS[element["type"]] <= element["attributes"].keys()
        assert all(element["attributes"][part] for part in ELEMENTS[element["type"]])
    ids = [element["id"] for element in content["body"] if element["type"] != "markdown"]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", each) for each in ids)
    assert len(ids) == len(set(ids))


def test_forms_have_names_of_their_own_and_are_those_that_pages_speak_of() -> None:
    names = [form_of(form)["name"] for form in FORMS]
    assert len(names) == len(set(names)) >= 3
    spoken_of = re.findall(r"issue form \*([^*]+)\*", text_of("SECURITY.md"))
    assert spoken_of
    assert set(spoken_of) <= set(names)


# What runs before a commit.


def test_hooks_are_the_fast_checks_of_make() -> None:
    [repository] = from_yaml(text_of(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local"
    fast = re.search(r"^check: ([a-z ]+?) ##", text_of("Makefile"), re.MULTILINE)
    assert fast is not None
    entries = [hook["entry"] for hook in repository["hooks"]]
    assert entries == [f"make --silent {target}" for target in fast[1].split()]
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    for hook in repository["hooks"]:
        assert not hook["pass_filenames"]
        re.compile(hook["files"])


# What can be looked up.


def test_every_decision_has_its_number_and_its_parts() -> None:
    records = re.split(r"^## ", text_of("DECISIONS.md"), flags=re.MULTILINE)[1:]
    assert len(records) >= 14
    for number, record in enumerate(records, 1):
        assert record.startswith(f"{number}. ")
        assert re.search(r"^Status: (proposed|accepted|replaced by)", record, re.MULTILINE)
        parts = re.findall(r"^\*\*(.+?)\.\*\* \S", record, re.MULTILINE)
        assert parts == HEADINGS, number


def test_every_page_is_in_the_index() -> None:
    listed = LINK.findall(text_of("docs/README.md"))
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        if name != "README.md" and not name.startswith("pt/"):
            assert listed.count(name) == 1, name
    assert "docs/README.md" in LINK.findall(text_of("README.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    lost = []
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        goal = page.parent / name if name else page
        if not goal.exists() or (anchor and anchor not in anchors_of(goal)):
            lost.append(link)
    assert lost == []


def anchors_of(page: Path) -> list[str]:
    """Return what the headings of a page are called in links."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles]


def test_the_changelog_is_kept() -> None:
    changelog = text_of("CHANGELOG.md")
    assert [line for line in changelog.splitlines() if len(line) > LONGEST_LINE] == []
    unreleased, *released = headings(changelog, 2)
    assert unreleased == "Unreleased"
    assert [each for each in released if not RELEASED.fullmatch(each)] == []
    numbers, dates = zip(*(each.split(" – ") for each in released), strict=True)
    assert numbers[0] == PROJECT["version"]
    ordered = [tuple(map(int, number.split("."))) for number in numbers]
    assert ordered == sorted(set(ordered), reverse=True)
    assert TO_BE_TAGGED not in dates[1:]
    assert list(dates) == sorted(dates, reverse=True)  # letters come after digits
    for part in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        kinds = headings(part, 3)
        assert set(kinds) <= KINDS_OF_CHANGE
        assert len(kinds) == len(set(kinds))


def test_the_citation_has_a_date_where_the_changelog_has_one() -> None:
    date = headings(text_of("CHANGELOG.md"), 2)[1].split(" – ")[1]
    released = from_yaml(text_of("CITATION.cff")).get("date-released", TO_BE_TAGGED)
    assert released == date


# What is declared is used.


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"all"}))
def test_what_an_extra_installs_is_used(extra: str) -> None:
    makefile = text_of("Makefile")
    for name in map(distribution, EXTRAS[extra]):
        used = TOOLS[name] in makefile if name in TOOLS else is_imported(module_of(name))
        assert used, name


def test_all_is_all_that_is_for_users() -> None:
    [everything] = EXTRAS["all"]
    named = re.fullmatch(rf"{PROJECT['name']}\[(.+)\]", everything)
    assert named is not None
    assert set(named[1].split(",")) == EXTRAS.keys() - {"all", *NOT_FOR_USERS}


def distribution(requirement: str) -> str:
    """Return the name of what a requirement asks for."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return name[0].lower()


def module_of(name: str) -> str:
    return MODULES.get(name, name.replace("-", "_"))


def is_imported(module: str) -> bool:
    """Tell whether something in the package or its tests imports a module, by whatever means."""
    for path in (path for part in ("src", "tests") for path in (ROOT / part).rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        if module in code and module in imports_of(code):  # parsing takes long
            return True
    return False


def imports_of(code: str) -> Iterator[str]:
    """Yield the first names of the modules that some code imports."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import(names=names):
                yield from (each.name.partition(".")[0] for each in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Call(
                func=ast.Attribute(attr="importorskip")
                | ast.Name(id="import_module")
                | ast.Name(id="reader_of"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module.partition(".")[0]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import a.b", ["a"]),
        ("from a.b import c", ["a"]),
        ("from . import a", []),
        ('pytest.importorskip("a.b", reason="c")', ["a"]),
        ('x = import_module("a.b")', ["a"]),
        ('x = reader_of("a.b", extra="formats")', ["a"]),
        ('x = "import a"', []),
    ],
)
def test_imports_are_found(code: str, found: list[str]) -> None:
    assert list(imports_of(code)) == found


def test_what_nobody_imports_is_not_found() -> None:
    assert is_imported("pytest")
    assert not is_imported(module_of(distribution("Nicegui>=2.10")))


def test_without_extras_a_test_may_lack_a_library_and_the_package_may_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = "\n    import polars\nE   ModuleNotFoundError: No module named 'polars'"
    in_a_test = f"tests/table/test_read.py:3: in <module>{lacking}"
    in_the_package = (
        f"{in_a_test.partition(':')[0]}:3: in x\n    read()\nsrc/glasshouse/a.py:1: in y{lacking}"
    )
    asked = "E   glasshouse.errors.StudyError: needs an extra: pip install 'glasshouse[formats]'"
    monkeypatch.delenv(WITHOUT_EXTRAS, raising=False)
    assert absent(in_a_test) is None
    monkeypatch.setenv(WITHOUT_EXTRAS, "1")
    assert absent(in_a_test) == "needs polars, which is not installed"
    assert absent(asked) == "needs glasshouse[formats], which is not installed"
    assert absent(in_the_package) is None


QUIETLY = ("-q", "-p", "no:cacheprovider", "--continue-on-collection-errors")


def test_every_quick_test_is_there() -> None:
    names = (ROOT / "tests" / "quick.txt").read_text(encoding="utf-8").split()
    assert names
    assert sorted(set(names)) == names, "each once, in the order of the alphabet"
    by_file: dict[str, set[str]] = {}
    for name in names:
        file, _, function = name.partition("::")
        by_file.setdefault(file, set()).add(function)
    for file, wanted in by_file.items():
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert wanted - {""} <= defined, f"{file} has no {wanted - defined}: see tests/quick.txt"


def test_a_required_part_is_not_skipped_where_nothing_may_be(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n", encoding="utf-8")
    (tmp_path / "test_module.py").write_text(
        "import pytest\npytest.importorskip('none', reason='needs typst (extra pdf)')\n",
        encoding="utf-8",
    )
    (tmp_path / "test_parts.py").write_text(
        "import pytest\n"
        "def test_required(): pytest.skip('needs Chromium')\n"
        "def test_optional(): pytest.skip('ArviZ is optional')\n",
        encoding="utf-8",
    )
    for variable, expected in (({}, "3 skipped"), ({NOTHING_SKIPPED: "1"}, "1 skipped")):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *QUIETLY, str(tmp_path)],
            env={**{k: v for k, v in os.environ.items() if k != NOTHING_SKIPPED}, **variable},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert expected in done.stdout.splitlines()[-1]
        assert (done.returncode == 0) is (not variable)
