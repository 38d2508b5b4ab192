"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def names_of(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that imports a public name when it is first used.

    Args:
        package: The name of the package.
        homes: The public names by the module of the package that they come from; by an empty name, modules.
    """
    modules = {name: module for module, names in homes.items() for name in names}

    def attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        value = (
            getattr(import_module(f"{package}.{module}"), name)
            if module
            else import_module(f"{package}.{name}")
        )
        setattr(sys.modules[package], name, value)
        return value

    return attribute
