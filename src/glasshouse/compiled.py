"""Loops in machine code: what Numba is told, in one place.

A loop that Python calls is `compiled`, and kept beside its file between processes. What only compiled loops call is
compiled into them and kept with them: `called` where it is long or stands in several places, `inlined` where a call
would cost more than what it does, `pasted` where the compiler has to see it before it infers types. Each has a `lean`
twin in which Numba counts no references to arrays: faster in short loops, which can then make no array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numpy.typing import NDArray

Loop = TypeVar("Loop", bound=Callable[..., Any])
"""A function of numbers and arrays: compiled, it takes and returns what it did."""


class _Part(JITCodeLibrary):
    """What is linked into the loops that call it, and only there optimised and made machine code of."""

    def _optimize_final_module(self) -> None:
        """Leave it to whoever links this."""

    def _finalize_final_module(self) -> None:
        """Nobody but other loops calls this."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """Whom Numba tells where the environment of a function that Python calls is: this has none."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """See `codegen`."""


class _PartOfLoops(Compiler):
    """Compiles what only compiled loops call: once for each of those, and not by itself besides."""

    def __init__(self, typing: Any, target: Any, library: Any, *how: Any) -> None:
        super().__init__(typing, target, library or _Part(target.codegen(), "part"), *how)


_COMPILED: dict[str, Any] = {"cache": True, "nogil": True}
_CALLED: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _PartOfLoops,
}
_INLINED: dict[str, Any] = _CALLED | {"forceinline": True}
_PASTED: dict[str, Any] = {"nogil": True, "inline": "always"}
_LEAN: dict[str, Any] = {"boundscheck": False, "_nrt": False}


def compiled(loop: Loop) -> Loop:
    """Compile a loop that Python calls."""
    return cast(Loop, njit(**_COMPILED)(loop))


def called(loop: Loop) -> Loop:
    """Compile what compiled loops call."""
    return cast(Loop, njit(**_CALLED)(loop))


def inlined(loop: Loop) -> Loop:
    """Compile into the loops that call it."""
    return cast(Loop, njit(**_INLINED)(loop))


def pasted(loop: Loop) -> Loop:
    """Put into the loops that call it before they are compiled."""
    return cast(Loop, njit(**_PASTED)(loop))


def lean_compiled(loop: Loop) -> Loop:
    """Compile a loop that Python calls and that makes no array."""
    return cast(Loop, njit(**_COMPILED, **_LEAN, no_cfunc_wrapper=True)(loop))


def lean_called(loop: Loop) -> Loop:
    """Compile what lean loops call."""
    return cast(Loop, njit(**_CALLED, **_LEAN)(loop))


def lean_inlined(loop: Loop) -> Loop:
    """Compile into the lean loops that call it."""
    return cast(Loop, njit(**_INLINED, **_LEAN)(loop))


def lean_pasted(loop: Loop) -> Loop:
    """Put into the lean loops that call it before they are compiled."""
    return cast(Loop, njit(**_PASTED, **_LEAN)(loop))


@called
def write(into: NDArray[Any], values: NDArray[Any]) -> None:
    """Write values over the first ones of an array.

    An assignment would compile, too, what is said of shapes that differ, and that takes seconds in each process.
    """
    for place in range(values.size):
        into[place] = values[place]
