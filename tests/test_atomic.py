"""Files and folders appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse.atomic import new_file, new_folder
from glasshouse.errors import DataError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_place_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with new_file(target) as draft:
        draft.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert names(tmp_path) == ["out.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError), new_file(target) as draft:
        draft.write_text("half \ud800", encoding="utf-8")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


def test_a_folder_appears_complete(tmp_path: Path) -> None:
    with new_folder(tmp_path / "deep" / "run") as draft:
        (draft / "a").write_text("1")
        assert not (tmp_path / "deep" / "run").exists()
    assert names(tmp_path / "deep") == ["run"]
    assert names(tmp_path / "deep" / "run") == ["a"]


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    with pytest.raises(UnicodeEncodeError), new_folder(tmp_path / "run", replace=True) as draft:
        (draft / "new").write_text("half \ud800", encoding="utf-8")
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["old"]


def test_a_folder_with_content_is_replaced_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    with (
        pytest.raises(DataError, match="exists; choose another folder"),
        new_folder(tmp_path / "run"),
    ):
        pass
    with new_folder(tmp_path / "run", replace=True) as draft:
        (draft / "new").write_text("2")
    assert names(tmp_path / "run") == ["new"]
    assert names(tmp_path) == ["run"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with new_folder(tmp_path / "run") as draft:
        (draft / "new").write_text("2")
    assert names(tmp_path / "run") == ["new"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="cannot write"), new_folder(tmp_path / "file" / "run"):
        pass
    with pytest.raises(DataError, match="cannot write"), new_file(tmp_path / "none" / "x"):
        pass
