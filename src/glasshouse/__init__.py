"""Glasshouse: what a data release lets an adversary learn, and what would stop it.

>>> import glasshouse as gh
>>> import pyarrow as pa
>>> people = pa.table({"age": [20, 30, 30], "sex": ["F", "F", "F"], "illness": ["a", "b", "b"]})
>>> table = gh.read(people, quasi_identifiers=["age", "sex"], sensitive=["illness"])
>>> gh.assess(table).outcome.attacks[-1].probabilistic.posterior
Fraction(1, 1)
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.lazy import names_of

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
    from glasshouse.errors import BudgetError, DataError, GlasshouseError, StudyError
    from glasshouse.progress import Progress
    from glasshouse.runs import Run
    from glasshouse.table import EncodedTable
    from glasshouse.verbs import (
        anonymise,
        assess,
        check,
        compare,
        deter,
        hierarchies,
        inspect,
        ledger,
        membership,
        protect,
        read,
        run,
        tables,
        target,
        threat,
    )

_HOME = {
    "errors": ("BudgetError", "DataError", "GlasshouseError", "StudyError"),
    "progress": ("Progress",),
    "runs": ("Run",),
    "table": ("EncodedTable",),
    "verbs": (
        *("anonymise", "assess", "check", "compare", "deter", "hierarchies", "inspect", "ledger"),
        *("membership", "protect", "read", "run", "tables", "target", "threat"),
    ),
    "": (
        *("economics", "groups", "microdata", "mitigation", "qif"),
        *("reconstruction", "synthetic", "totals"),
    ),
}
"""The public names, by the module that they come from; those of the last line are modules."""

__all__ = [
    "BudgetError",
    "DataError",
    "EncodedTable",
    "GlasshouseError",
    "Progress",
    "Run",
    "StudyError",
    "anonymise",
    "assess",
    "check",
    "compare",
    "deter",
    "economics",
    "groups",
    "hierarchies",
    "inspect",
    "ledger",
    "membership",
    "microdata",
    "mitigation",
    "protect",
    "qif",
    "read",
    "reconstruction",
    "run",
    "synthetic",
    "tables",
    "target",
    "threat",
    "totals",
]


_name_of = names_of("glasshouse", _HOME)


def __getattr__(name: str) -> Any:
    """Return a public name when it is first used, or the version of what is installed."""
    if name == "__version__":
        from importlib.metadata import version

        return version("glasshouse")
    return _name_of(name)


def _find_room_for_compiled_loops() -> None:
    """Where neither the package nor a home can be written, let Numba keep its compiled loops in a private folder.

    It keeps them beside the code or in the user's cache, and gives up where it can do neither: in a container that is
    installed read-only and runs as nobody.
    """
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        cache = Path("/")
    nearest = next(place for place in (cache, *cache.absolute().parents) if place.exists())
    places = (Path(__file__).parent, nearest)
    if "NUMBA_CACHE_DIR" in os.environ or any(os.access(place, os.W_OK) for place in places):
        return
    import tempfile

    folder = Path(tempfile.gettempdir()) / f"glasshouse-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if state.st_uid != os.getuid() or state.st_mode & 0o077:  # somebody else's
        folder = Path(tempfile.mkdtemp(prefix="glasshouse-"))
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


_find_room_for_compiled_loops()


def __dir__() -> list[str]:
    return __all__
