"""A checkpoint is opened anew or resumed, refuses what is not its own, and gives back what it was given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import DataError, StudyError


def test_what_is_kept_comes_back_when_resumed_and_not_when_begun_anew(tmp_path: Path) -> None:
    first = Checkpoint.beside(tmp_path / "run", key="a")
    assert first.folder == tmp_path / "run.partial"
    assert first.start(resume=False) == {}
    first.save(3, np.array([1, 2]))
    first.save_state({"x": np.array([0.5])})
    first.save_table(0, pa.table({"n": [1]}))
    first.save_table(1, pa.table({"n": [2]}).replace_schema_metadata({"t": "7"}))
    first.save_table(0, pa.table({"n": [3]}))
    first.finish(0)
    again = Checkpoint.beside(tmp_path / "run", key="a")
    assert {step: rows.tolist() for step, rows in again.start(resume=True).items()} == {3: [1, 2]}
    state = again.start_state(resume=True)
    assert state is not None
    assert state["x"].tolist() == [0.5]
    assert [table["n"].to_pylist() for table in again.tables(0)] == [[1], [3]]
    assert len(again.tables()) == 3
    assert again.tables(1)[0].schema.metadata == {b"t": b"7"}
    assert again.finished(0)
    assert not again.finished(1)
    with pytest.raises(StudyError, match="interrupted run of this study; say `resume`"):
        again.start_state(resume=False)
    with pytest.raises(StudyError, match="interrupted run of another study"):
        Checkpoint.beside(tmp_path / "run", key="b").open(resume=False)
    assert len(again.tables()) == 3
    anew = Checkpoint.beside(tmp_path / "run", key="a", discard=True)
    assert anew.start_state(resume=False) is None
    assert anew.tables() == []
    again.remove()
    assert not again.folder.exists()


def test_a_checkpoint_refuses_what_is_not_its_own(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="nothing to resume"):
        Checkpoint(tmp_path / "new", key="a").open(resume=True)
    Checkpoint(tmp_path / "new", key="a").open(resume=False)
    Checkpoint(tmp_path / "new", key="a").open(resume=False)
    (tmp_path / "new" / "key").write_bytes(b"\xff")
    with pytest.raises(StudyError, match="another study, other data or another version"):
        Checkpoint(tmp_path / "new", key="b").open(resume=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("keep")
    with pytest.raises(DataError, match="something else"):
        Checkpoint(tmp_path / "other", key="a").open(resume=False)
    assert (tmp_path / "other" / "mine.txt").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        Checkpoint(tmp_path / "file", key="a").open(resume=False)


def test_a_file_that_was_never_finished_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".key.draft-abc").write_text("")
    Checkpoint(tmp_path / "run", key="a").open(resume=False)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["key"]


@pytest.mark.parametrize("change", ["cut short", "emptied", "one byte is another"])
@pytest.mark.parametrize("kind", ["*.npy", "*.npz", "*.arrow"])
def test_what_is_damaged_is_never_gone_on_with(tmp_path: Path, kind: str, change: str) -> None:
    kept = Checkpoint(tmp_path / "kept", key="a")
    kept.open(resume=False)
    kept.save(3, np.arange(100))
    kept.save_state({"x": np.arange(100)})
    kept.save_table(0, pa.table({"n": range(100)}))
    (path,) = kept.folder.glob(kind)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    lengths = {"cut short": len(content) // 2, "emptied": 0, "one byte is another": len(content)}
    path.write_bytes(content[: lengths[change]])
    opened: dict[str, Callable[[], object]] = {
        "*.npy": lambda: kept.start(resume=True),
        "*.npz": lambda: kept.start_state(resume=True),
        "*.arrow": kept.tables,
    }
    with pytest.raises(DataError, match=r"is damaged; say `overwrite`"):
        opened[kind]()
