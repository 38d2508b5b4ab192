"""Writing a synthetic release: equal data in every format, whole files or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from glasshouse import synthetic
from glasshouse.errors import DataError, StudyError
from glasshouse.synthetic import stream
from glasshouse.synthetic.stream import write_batches

FORMATS = ("release.parquet", "release.csv", "release.csv.gz")


def read_text(path: Path) -> pa.Table:
    """Read a release back as plain text columns."""
    names = synthetic.generator("outpatient").columns
    text = pa.schema([pa.field(name, pa.string()) for name in names])
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path).cast(text)
    convert = pa.csv.ConvertOptions(column_types=text)
    return pa.csv.read_csv(path, convert_options=convert)


@pytest.mark.parametrize("file", FORMATS)
def test_a_file_holds_the_same_data_in_every_format(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BATCH_RECORDS", 1_000)
    path = synthetic.write("outpatient", records=3_000, path=tmp_path / file, seed=4)
    read = read_text(path)
    assert read.equals(synthetic.table("outpatient", records=3_000, seed=4).cast(read.schema))
    assert [each.name for each in tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("file", FORMATS)
def test_the_same_seed_gives_the_same_bytes(file: str, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    paths = tmp_path / file, tmp_path / "again" / file
    first, second = (synthetic.write("outpatient", records=500, path=path) for path in paths)
    assert first.read_bytes() == second.read_bytes()


def test_a_path_may_be_text_with_a_suffix_in_capitals(tmp_path: Path) -> None:
    assert synthetic.write("outpatient", records=5, path=f"{tmp_path}/X[1].CSV").stat().st_size


@pytest.mark.parametrize("file", FORMATS)
def test_a_failure_leaves_the_old_file_and_nothing_else(file: str, tmp_path: Path) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield next(synthetic.batches("outpatient", records=10))
        raise KeyboardInterrupt

    path = tmp_path / file
    path.write_text("old")
    schema = synthetic.generator("outpatient").schema
    with pytest.raises(KeyboardInterrupt):
        write_batches(failing(), schema=schema, path=path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("file", ["release", "release.xlsx", ".csv", "release.parquet.gz"])
def test_an_unknown_format_is_refused_in_one_line(file: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r'does not say its format; end it in one of ".parquet"'):
        synthetic.write("outpatient", records=5, path=tmp_path / file)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot write .*: No such file or directory; choose"):
        synthetic.write("outpatient", records=5, path=tmp_path / "nowhere" / "x.csv")


def test_a_folder_in_place_of_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(DataError, match="it is a folder"):
        synthetic.write("outpatient", records=5, path=tmp_path / "x.csv")


def test_bad_arguments_are_refused_before_a_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="records"):
        synthetic.write("outpatient", records=0, path=tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())
