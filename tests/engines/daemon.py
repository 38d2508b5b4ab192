"""Spark's daemon of Python processes, which knows the package before it forks one: each would read it by itself.

Spark starts it as a module, with the interpreter of the workers, which may have no such package.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from pyspark.daemon import manager

with suppress(ImportError):
    for module in ("pyspark.worker", "glasshouse.engines.spark.assess"):
        import_module(module)

if __name__ == "__main__":
    manager()
