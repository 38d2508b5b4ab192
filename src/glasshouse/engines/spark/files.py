"""Files that Spark reads by itself, as text: nothing is inferred, and no line is mended."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Any

from glasshouse.engines.spark.assess import answer, refuse_local
from glasshouse.engines.spark.session import session, spark_failures
from glasshouse.engines.spark.table import SparkTable
from glasshouse.errors import StudyError
from glasshouse.runs.reading import as_written
from glasshouse.runs.run import Resources, Run
from glasshouse.sources import display_name, open_source
from glasshouse.sources.columnar import ParquetFile
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.files import table_files
from glasshouse.sources.folders import DELTA_LOG
from glasshouse.study import Address, Dataset, Dialect
from glasshouse.study.assess import AssessStudy

JAVA_NAMES = {"iso8859-1": "iso-8859-1", "cp1252": "windows-1252"}
"""What Java calls encodings that Python calls otherwise."""
_GLOB = re.compile(r"([\\*?\[\]{}])")


def run_on_files(
    study: AssessStudy,
    *,
    resources: Resources,
    master: str | None = None,
    **extras: object,
) -> Run[AssessStudy, Any]:
    """Carry out a study of a file on Spark.

    Args:
        study: What is asked.
        resources: What there is to work with here.
        master: The address of the cluster; None: as Spark is set.
        extras: What else is asked for.

    Raises:
        DataError: The data is malformed or lacks a column, or Spark failed.
        StudyError: The question does not fit the data, or is not answered on Spark.
    """
    extra_options = {f"`{word}`": value for word, value in extras.items()}
    refuse_local(study, extra_options)
    if resources.threads is not None or resources.memory is not None:
        raise StudyError(
            "`threads` and `memory` are of one machine; a cluster has its own settings, such as "
            "spark.executor.cores and spark.executor.memory: leave them out"
        )
    (dataset,) = study.datasets
    adversary, written, dialect = study.adversary, as_written(dataset), dataset.dialect
    with spark_failures():
        frame, is_decoded = _opened(session(master), dataset)
    table = SparkTable.of(
        frame,
        is_decoded=is_decoded,
        name=dataset.name or display_name(dataset.place),
        quasi_identifiers=adversary.quasi_identifiers,
        sensitive=adversary.secret_columns,
        id=adversary.identifier,
        weight=adversary.weight,
        facts=adversary.facts,
        also=study.columns_without_role(),
        dialect=Dialect(strip=dialect.strip, decimal=dialect.decimal, thousands=dialect.thousands),
        types=written.types,
        missing=written.missing,
        date=written.date,
        derive=written.derive,
    )
    return answer(study, table, resources=resources, in_files=True)


def _opened(spark: Any, dataset: Dataset) -> tuple[Any, bool]:
    """Return a file, or a folder of files, as a frame of Spark; and whether Spark decodes its text.

    Raises:
        DataError: It is not there, or damaged.
        StudyError: It is of a kind that Spark is not asked to read.
    """
    path, dialect = dataset.place, dataset.dialect
    if (path / DELTA_LOG).is_dir():
        return spark.read.format("delta").load(_address(path)), False
    files, top = ([], None) if isinstance(dataset.path, Address) else table_files(path)
    files = files or [path]
    source = None if isinstance(dataset.path, Address) else open_source(files[0], dialect=dialect)
    if isinstance(source, ParquetFile):
        reader = spark.read if files == [path] else spark.read.option("basePath", str(top))
        return reader.parquet(*map(_address, files)), False
    if not isinstance(source, DelimitedFile) or source.skipped_lines or dialect.member:
        raise StudyError(
            "{name}: Spark is asked to read Parquet, Delta, and delimited text that begins with its header; write it "
            "as Parquet, or give assess() a frame of Spark",
            name=display_name(dataset.place),
        )
    quote = source.dialect.quote or ""
    encoding = codecs.lookup(dialect.encoding or source.assumed_encoding or "utf-8").name
    reader = spark.read.options(
        sep=source.dialect.separator,
        quote=quote,
        escape=quote or "\\",
        header=str(dialect.header).lower(),
        encoding=JAVA_NAMES.get(encoding, encoding),
        mode="FAILFAST",
        multiLine="true",
        inferSchema="false",
    )
    columns = ", ".join("`" + name.replace("`", "``") + "` string" for name in source.columns)
    return reader.schema(columns).csv([*map(_address, files)]), True


def _address(path: Path) -> str:
    """Return the address of a file here, of which no letter is a wildcard."""
    return "file://" + _GLOB.sub(r"\\\1", path.absolute().as_posix())
