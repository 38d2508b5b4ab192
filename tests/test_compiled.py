"""Compiled loops are kept from one run of the tests to the next, and never for other sources."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary

from glasshouse.compiled import called, inlined


def project(folder: Path, source: str, name: str = "loops") -> Path:
    """Write a project with a module that has a loop, beside those that it has."""
    (folder / "src" / "glasshouse" / "__pycache__").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "glasshouse" / f"{name}.py").write_text(f"import numba\n{source}\n")
    return folder


def loop(folder: Path, name: str = "loops") -> Path:
    return folder / "src" / "glasshouse" / "__pycache__" / f"{name}.walk-1.py311.1.nbc"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "compiled.py"))


def test_a_fresh_clone_gets_the_loops_of_the_same_sources(script: Any, tmp_path: Path) -> None:
    first, clone = project(tmp_path / "a", "x = 1"), project(tmp_path / "b", "x = 1")
    assert script["restore"](first) == 0
    loop(first).write_bytes(b"machine code")
    assert script["keep"](first) == 1
    assert script["restore"](clone) == 1
    assert loop(clone).read_bytes() == b"machine code"


def test_loops_of_other_sources_are_removed_and_never_kept(script: Any, tmp_path: Path) -> None:
    folder = project(tmp_path / "a", "x = 1")
    loop(folder).write_bytes(b"of whatever")
    assert script["keep"](folder) == 0, "nobody knows of which sources it is"
    assert script["restore"](folder) == 0
    assert not loop(folder).exists()
    loop(folder).write_bytes(b"of x = 1")
    project(folder, "x = 2")
    assert script["keep"](folder) == 0
    assert script["restore"](folder) == 0
    assert not loop(folder).exists()


def test_whoever_changes_a_loop_compiles_what_holds_it_and_nothing_else(
    script: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    sources = {
        "loops": "x = 1",
        "caller": "from glasshouse.loops import (\n    x,\n    y,\n)",
        "holder": "from glasshouse import caller",
        "stranger": "x = 1",
    }
    for name, source in sources.items():
        project(folder, source, name)
    script["restore"](folder)
    for name in sources:
        loop(folder, name).write_bytes(b"machine code")
    assert script["keep"](folder) == 4
    project(folder, "x = 2")
    assert script["restore"](folder) == 0
    assert [name for name in sources if loop(folder, name).exists()] == ["stranger"]
    clone = tmp_path / "b"
    for name, source in sources.items():
        project(clone, "x = 2" if name == "loops" else source, name)
    assert script["restore"](clone) == 1
    assert loop(clone, "stranger").read_bytes() == b"machine code"


def test_the_last_few_are_kept(script: Any, tmp_path: Path) -> None:
    for number in range(5):
        folder = project(tmp_path / "a", f"x = {number}")
        script["restore"](folder)
        loop(folder).write_bytes(b"machine code")
        assert script["keep"](folder) == 1
    assert len(list((tmp_path / "cache" / "glasshouse" / "loops").iterdir())) == script["KEPT"]


def test_a_fresh_clone_gets_what_is_known_of_types_and_the_last_is_kept(
    script: Any, tmp_path: Path
) -> None:
    first, clone = tmp_path / "a" / ".mypy_cache", tmp_path / "b" / ".mypy_cache"
    assert script["restore_types"](clone.parent) == script["keep_types"](clone.parent) == 0
    for content in ("old", "new"):
        first.mkdir(parents=True, exist_ok=True)
        (first / "cache.db").write_text(content)
        assert script["keep_types"](first.parent) == 1
    clone.parent.mkdir()
    assert script["restore_types"](clone.parent) == 1
    assert (clone / "cache.db").read_text() == "new"
    (clone / "cache.db").write_text("of its own")
    assert script["restore_types"](clone.parent) == 0
    assert (clone / "cache.db").read_text() == "of its own"
    assert [path.name for path in script["kept_in"]().iterdir()] == ["types"]


def test_of_what_only_loops_call_machine_code_is_made_with_them_and_not_besides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numba may come to do otherwise: then all is right, and the first run of a command takes half as long again."""
    made: list[str] = []
    make = JITCodeLibrary._finalize_specific

    def counted(library: Any) -> None:
        made.append(library.name)
        make(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", counted)

    @called
    def next_one(number: int) -> int:
        return number + 1

    @inlined
    def twice(number: int) -> int:
        return 2 * next_one(number)

    def all_of(count: int) -> int:
        total = 0
        for number in range(count):
            total += twice(number) + next_one(number)
        return total

    assert njit(all_of)(4) == sum(2 * (number + 1) + number + 1 for number in range(4))
    assert [name.rpartition(".")[2] for name in made if name != "nrt"] == ["all_of"]
