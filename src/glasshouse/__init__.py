"""Glasshouse: what a data release lets an adversary learn, and what would stop it.

>>> import glasshouse as gh
>>> import pyarrow as pa
>>> people = pa.table({"age": [20, 30, 30], "sex": ["F", "F", "F"], "illness": ["a", "b", "b"]})
>>> table = gh.read(people, quasi_identifiers=["age", "sex"], sensitive=["illness"])
>>> gh.microdata.attack(table, sensitive="illness").probabilistic.posterior
Fraction(1, 1)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse import economics, groups, microdata, mitigation, qif, synthetic, totals
    from glasshouse.errors import (
        BudgetError,
        DataError,
        GlasshouseError,
        InternalError,
        SolverError,
        StudyError,
    )
    from glasshouse.notebook import chart, show
    from glasshouse.report import findings
    from glasshouse.study import Dialect, Study, load_study
    from glasshouse.table import EncodedTable, collect, read

_HOME = {
    "BudgetError": "errors",
    "DataError": "errors",
    "Dialect": "study",
    "EncodedTable": "table",
    "GlasshouseError": "errors",
    "InternalError": "errors",
    "SolverError": "errors",
    "Study": "study",
    "StudyError": "errors",
    "chart": "notebook",
    "collect": "table",
    "economics": "",
    "findings": "report",
    "groups": "",
    "load_study": "study",
    "microdata": "",
    "mitigation": "",
    "qif": "",
    "read": "table",
    "show": "notebook",
    "synthetic": "",
    "totals": "",
}

__all__ = [
    "BudgetError",
    "DataError",
    "Dialect",
    "EncodedTable",
    "GlasshouseError",
    "InternalError",
    "SolverError",
    "Study",
    "StudyError",
    "chart",
    "collect",
    "economics",
    "findings",
    "groups",
    "load_study",
    "microdata",
    "mitigation",
    "qif",
    "read",
    "show",
    "synthetic",
    "totals",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import glasshouse`` costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'glasshouse' has no attribute {name!r}")
    home = _HOME[name]
    value = (
        getattr(import_module(f"glasshouse.{home}"), name)
        if home
        else import_module(f"glasshouse.{name}")
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
