"""Files that Spark reads by itself, as text: nothing is inferred, and no line is mended."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from glasshouse.atomic import new_folder
from glasshouse.engines.spark.assess import answer, refuse_local
from glasshouse.engines.spark.session import session, spark_failures
from glasshouse.engines.spark.table import SparkTable, look
from glasshouse.errors import StudyError
from glasshouse.runs.reading import (
    as_written,
    columns_of,
    dataset_names,
    first_looks,
    labels_of,
    roles_in_collection,
    roles_of,
)
from glasshouse.runs.run import Resources, Run
from glasshouse.sources import display_name, open_source
from glasshouse.sources.columnar import ParquetFile
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.files import table_files
from glasshouse.sources.folders import DELTA_LOG, DeltaTable
from glasshouse.study import Address, Dataset, Dialect
from glasshouse.study.assess import AssessStudy
from glasshouse.table import dataset_tags

JAVA_NAMES = {"iso8859-1": "iso-8859-1", "cp1252": "windows-1252"}
"""What Java calls encodings that Python calls otherwise."""
_GLOB = re.compile(r"([\\*?\[\]{}])")


def run_on_files(
    study: AssessStudy,
    *,
    resources: Resources,
    master: str | None = None,
    per_record: bool = False,
    **extras: object,
) -> Run[AssessStudy, Any]:
    """Carry out a study of files on Spark.

    Args:
        study: What is asked.
        resources: What there is to work with here.
        master: The address of the cluster; None: as Spark is set.
        per_record: Whether each record's risk is wanted, too.
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
    spark, names = session(master), dataset_names(study)
    tables = []
    for place, (dataset, tag) in enumerate(zip(study.datasets, dataset_tags(names), strict=True)):
        with spark_failures():
            frame, is_decoded = _opened(spark, dataset)
        name, roles, there = dataset.name or display_name(dataset.place), roles_of(study), None
        if len(study.datasets) > 1:
            there, name = columns_of(dataset), names[place]
            roles = roles_in_collection(dataset, tag, study, there, focal=place == 0)
        written, dialect = as_written(dataset), dataset.dialect
        words: dict[str, Any] = {
            kind: {
                column: rule for column, rule in rules.items() if there is None or column in there
            }
            for kind in ("types", "missing", "date", "derive")
            if (rules := getattr(written, kind))
        }
        understood = Dialect(
            strip=dialect.strip, decimal=dialect.decimal, thousands=dialect.thousands
        )
        tables.append(
            SparkTable.of(
                frame, is_decoded=is_decoded, name=name, dialect=understood, **roles, **words
            )
        )
    if any(table.is_decoded for table in tables):
        looks = first_looks(study)
    else:
        with spark_failures():
            looks = tuple(look(table, study, table.frame.columns) for table in tables)
    run = answer(study, tables, resources=resources, looks=looks, per_record=per_record)
    return replace(run, labels=labels_of(study))


def write_frame(frame: Any, path: Path) -> None:
    """Write a frame of Spark as a folder of Parquet, whole or not at all, for nobody else to read.

    Raises:
        DataError: It cannot be written, or Spark failed.
    """
    with new_folder(path, replaces=_is_written, public=lambda _: False) as draft, spark_failures():
        frame.write.mode("append").parquet(_address(draft))


def _is_written(path: Path) -> bool:
    return (path / "_SUCCESS").is_file()


def _opened(spark: Any, dataset: Dataset) -> tuple[Any, bool]:
    """Return a file, or a folder of files, as a frame of Spark; and whether Spark decodes its text.

    Raises:
        DataError: It is not there, or damaged.
        StudyError: It is of a kind that Spark is not asked to read.
    """
    dialect = dataset.dialect
    if isinstance(dataset.path, Address):
        return _database(spark, dataset.path, dialect), False
    path = dataset.path
    files, top = table_files(path)
    files = files or [path]
    source = open_source(path if (path / DELTA_LOG).is_dir() else files[0], dialect=dialect)
    if isinstance(source, DeltaTable):
        reader = spark.read.options(basePath=f"file://{path.absolute()}", mergeSchema="true")
        return reader.parquet(*map(_address, source.files)), False
    if isinstance(source, ParquetFile):
        reader = spark.read if files == [path] else spark.read.option("basePath", str(top))
        return reader.parquet(*map(_address, files)), False
    cut = bool(dialect.skip or dialect.skip_end or dialect.member)
    if not isinstance(source, DelimitedFile) or source.skipped_lines or cut:
        raise StudyError(
            "{name}: Spark is asked to read Parquet, Delta, databases by JDBC, and delimited text that begins with its "
            "header; write it as Parquet, or give assess() a frame of Spark",
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


def _database(spark: Any, address: Address, dialect: Dialect) -> Any:
    """Return a table of a database, or what a query finds there, as a frame of Spark.

    Raises:
        StudyError: It is not said what to read.
    """
    if bool(dialect.table) == bool(dialect.query):
        raise StudyError("say what to read from the database: either `table` or `query`")
    user, password = os.environ.get("JDBC_USER"), os.environ.get("JDBC_PASSWORD")
    if not address.startswith("jdbc:"):
        parts = urlsplit(address)
        user, password = parts.username or user, os.environ.get("PGPASSWORD") or password
        port = "" if parts.port is None else f":{parts.port}"
        query = f"?{parts.query}" if parts.query else ""
        address = Address(
            f"jdbc:postgresql://{parts.hostname or 'localhost'}{port}{parts.path}{query}"
        )
    chosen = {"user": user, "password": password, "dbtable": dialect.table, "query": dialect.query}
    options = {name: value for name, value in chosen.items() if value}
    return spark.read.format("jdbc").options(url=address, **options).load()


def _address(path: Path) -> str:
    """Return the address of a file here, of which no letter is a wildcard."""
    return "file://" + _GLOB.sub(r"\\\1", path.absolute().as_posix())
