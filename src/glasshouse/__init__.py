"""Glasshouse: what a data release lets an adversary learn, and what would stop it.

>>> import glasshouse as gh
>>> import pyarrow as pa
>>> people = pa.table({"age": [20, 30, 30], "sex": ["F", "F", "F"], "illness": ["a", "b", "b"]})
>>> table = gh.read(people, quasi_identifiers=["age", "sex"], sensitive=["illness"])
>>> gh.assess(table).outcome.attacks[-1].probabilistic.posterior
Fraction(1, 1)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse import (
        economics,
        groups,
        microdata,
        mitigation,
        qif,
        reconstruction,
        synthetic,
        totals,
    )
    from glasshouse.errors import (
        BudgetError,
        DataError,
        GlasshouseError,
        SolverError,
        StudyError,
    )
    from glasshouse.progress import Progress
    from glasshouse.runs import Run
    from glasshouse.table import EncodedTable
    from glasshouse.verbs import (
        anonymise,
        assess,
        compare,
        deter,
        membership,
        read,
        run,
        target,
        threat,
    )

_HOME = {
    "errors": (
        *("BudgetError", "DataError", "GlasshouseError"),
        *("SolverError", "StudyError"),
    ),
    "progress": ("Progress",),
    "runs": ("Run",),
    "table": ("EncodedTable",),
    "verbs": (
        *("anonymise", "assess", "compare", "deter", "membership"),
        *("read", "run", "target", "threat"),
    ),
    "": (
        *("economics", "groups", "microdata", "mitigation", "qif"),
        *("reconstruction", "synthetic", "totals"),
    ),
}
"""The public names, by the module that they come from; those of the last line are modules."""
_MODULES = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "BudgetError",
    "DataError",
    "EncodedTable",
    "GlasshouseError",
    "Progress",
    "Run",
    "SolverError",
    "StudyError",
    "anonymise",
    "assess",
    "compare",
    "deter",
    "economics",
    "groups",
    "membership",
    "microdata",
    "mitigation",
    "qif",
    "read",
    "reconstruction",
    "run",
    "synthetic",
    "target",
    "threat",
    "totals",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import glasshouse`` costs nothing."""
    if name not in _MODULES:
        raise AttributeError(f"module 'glasshouse' has no attribute {name!r}")
    module = _MODULES[name]
    value = (
        getattr(import_module(f"glasshouse.{module}"), name)
        if module
        else import_module(f"glasshouse.{name}")
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
