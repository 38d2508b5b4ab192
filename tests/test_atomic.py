"""Files and folders appear whole or not at all."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from glasshouse import atomic
from glasshouse.atomic import held, new_file, new_folder, scratch_folder
from glasshouse.errors import DataError


def anything(folder: Path) -> bool:
    return True


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
    with (
        pytest.raises(UnicodeEncodeError),
        new_folder(tmp_path / "run", replaces=anything) as draft,
    ):
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
    with new_folder(tmp_path / "run", replaces=anything) as draft:
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


def test_what_appears_meanwhile_is_untouched_and_the_new_folder_stands_beside_it(
    tmp_path: Path,
) -> None:
    with ExitStack() as making:
        (making.enter_context(new_folder(tmp_path / "run")) / "new").write_text("2")
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "thesis").write_text("1")
        with pytest.raises(DataError, match=r"made by somebody else meanwhile.*run-2"):
            making.close()
    assert names(tmp_path) == ["run", "run-2"]
    assert names(tmp_path / "run") == ["thesis"]
    assert names(tmp_path / "run-2") == ["new"]


def test_what_is_put_into_the_old_folder_in_the_last_moment_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    looks = iter([True, False])
    with (
        pytest.raises(DataError, match="made by somebody else meanwhile"),
        new_folder(tmp_path / "run", replaces=lambda _: next(looks)) as draft,
    ):
        (draft / "new").write_text("2")
    assert names(tmp_path / "run") == ["old"]
    assert names(tmp_path / "run-2") == ["new"]


@pytest.mark.skipif(sys.platform != "linux", reason="the system exchanges two names in one step")
def test_there_is_always_the_old_or_the_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")

    def no_second_step(*_: object) -> None:
        raise AssertionError("a folder was moved away")

    with new_folder(tmp_path / "run", replaces=anything) as draft:
        (draft / "new").write_text("2")
        monkeypatch.setattr(Path, "rename", no_second_step)
    assert names(tmp_path / "run") == ["new"]


def test_without_exchange_a_folder_that_cannot_take_its_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    rename = Path.rename
    monkeypatch.setattr(sys, "platform", "other")

    def failing(source: Path, target: Path) -> None:
        if "draft" in source.name and target.name == "run" and "-old" not in source.name:
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(Path, "rename", failing)
    with (
        pytest.raises(DataError, match="Input/output error"),
        new_folder(tmp_path / "run", replaces=anything) as draft,
    ):
        (draft / "new").write_text("2")
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["old"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    with new_folder(tmp_path / "link") as draft:
        (draft / "new").write_text("2")
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "disk") == ["new"]
    (tmp_path / "file").write_text("old")
    (tmp_path / "name").symlink_to(tmp_path / "file")
    with new_file(tmp_path / "name") as draft:
        draft.write_text("new")
    assert (tmp_path / "name").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


KILLED = """
import os, signal, sys
from pathlib import Path
from glasshouse import atomic
from glasshouse.atomic import held, new_file, new_folder, scratch_folder
with new_folder(Path("run")) as folder, new_file(Path("table.csv")) as file:
    (folder / "half").write_text("1")
    file.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_leaves_is_swept_and_what_lives_is_not(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert len(names(tmp_path)) == 2
    with new_file(tmp_path / "table.csv") as draft:
        draft.write_text("a")
        with new_file(tmp_path / "table.csv") as second:
            second.write_text("b")
        assert draft.exists()
    with new_folder(tmp_path / "run") as folder:
        (folder / "whole").write_text("2")
    assert names(tmp_path) == ["run", "table.csv"]


def test_a_place_is_kept_for_one_process(tmp_path: Path) -> None:
    with held(tmp_path / "run"):
        with (
            pytest.raises(DataError, match="being written by another process"),
            held(tmp_path / "run"),
        ):
            pass
        with held(tmp_path / "other"):
            pass
    with held(tmp_path / "run"):
        pass
    assert names(tmp_path) == []


def test_files_about_people_are_for_their_owner(tmp_path: Path) -> None:
    with new_folder(tmp_path / "run", public=lambda name: name == "report") as draft:
        for name in ("report", "records"):
            (draft / name).write_text("1")
    with new_file(tmp_path / "table", private=True) as file:
        file.write_text("1")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes["records"] == modes["table"] == 0o600
    assert modes["report"] & 0o044 == modes["run"] & 0o044
    assert modes["report"] & 0o400


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is swept where there are no locks")
@pytest.mark.parametrize("kind", ["file", "folder", "scratch"])
@pytest.mark.parametrize("moment", ["removed before it is locked", "locked to be removed"])
def test_a_draft_that_another_process_takes_for_left_behind_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, moment: str
) -> None:
    """Two runs that began together: one swept what the other had made and not yet locked, once in many thousands."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    drafts: dict[str, AbstractContextManager[Path]] = {
        "file": new_file(tmp_path / "out"),
        "folder": new_folder(tmp_path / "out"),
        "scratch": scratch_folder(),
    }
    name = "mkstemp" if kind == "file" else "mkdtemp"
    make, flock, taken = getattr(tempfile, name), atomic._flock, list[str]()

    def swept_at_once(**place: Any) -> Any:
        made = make(**place)
        if not taken:
            taken.append(made if isinstance(made, str) else made[1])
            if moment == "removed before it is locked":
                atomic._sweep(tmp_path, place["prefix"])
        return made

    def busy_at_first(handle: int) -> None:
        if moment == "locked to be removed" and taken == taken[:1]:
            taken.append("")
            atomic._remove_if_free(Path(taken[0]))  # by who has locked it
            raise BlockingIOError
        flock(handle)

    monkeypatch.setattr(tempfile, name, swept_at_once)
    monkeypatch.setattr(atomic, "_flock", busy_at_first)
    with drafts[kind] as draft:
        assert draft.exists()
        assert str(draft) != taken[0]
        atomic._sweep(tmp_path, draft.name[:10])
        assert draft.exists(), "it is locked"
        if kind == "file":
            draft.write_text("whole")
        else:
            (draft / "part").write_text("whole")
    assert names(tmp_path) == ([] if kind == "scratch" else ["out"])
