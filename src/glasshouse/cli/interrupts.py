"""Ctrl-C, and what a scheduler sends, end a command wherever that does no harm.

Python raises KeyboardInterrupt wherever it happens to be. In a finaliser or a callback it throws the exception away,
and the command goes on as if nobody had asked; in the middle of llvmlite a lock stays held, or memory is freed twice.
There an interrupt waits, and comes again. Where a library makes another exception of it, as numpy does while it
converts a value, that exception counts as the interrupt.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from glasshouse.errors import StoppedError

STOPPING = (signal.SIGINT, signal.SIGTERM)
"""What asks a command to stop: a person at the keyboard, a scheduler."""
AGAIN = getattr(signal, "SIGALRM", None)
"""The signal by which an interrupt that had to wait comes again; a system without it does not wait."""
_WAIT = 0.02
"""Seconds until then."""
_DELICATE = ("importlib._bootstrap", "llvmlite", "_weakrefset", "weakref")
"""Modules whose work is short, and harmed by an exception from nowhere."""
_raised: list[int] = []
"""The signals that have raised KeyboardInterrupt since interrupts are heard."""


def hear_interrupts() -> None:
    """From now on, let Ctrl-C raise KeyboardInterrupt where it can be caught."""
    sys.unraisablehook = _handle_unraisable
    sys.meta_path.insert(0, _DeafArrow())
    _raised.clear()
    for number in STOPPING:
        signal.signal(number, interrupt)
    if AGAIN is not None:
        signal.signal(AGAIN, interrupt)


class _DeafArrow:
    """Lets pyarrow leave interrupts to us: it hears them itself while it reads a file, and then loses some."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pyarrow.csv":  # the first that would
            sys.modules["pyarrow"].enable_signal_handlers(False)


def stop_hearing() -> None:
    """From now on, only the interpreter cleans up, which takes no time and must not be disturbed."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or come again soon where nobody could catch it: the handler of a signal."""
    if AGAIN is not None and _is_delicate(frame):
        _come_again()
    else:
        _raised.append(number)
        raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for whatever exception an interrupt has become on its way.

    Raises:
        KeyboardInterrupt: There was an interrupt, and what it interrupted has failed.
    """
    try:
        yield
    except StoppedError:  # which says how to go on
        raise
    except Exception as error:
        if _raised:
            raise KeyboardInterrupt from error
        raise


def _is_delicate(frame: FrameType | None) -> bool:
    """Tell whether a finaliser, or a module that must not be left half-way, is at work."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if frame.f_code.co_name == "__del__" or module.startswith(_DELICATE):
            return True
        frame = frame.f_back
    return False


def _come_again() -> None:
    signal.setitimer(signal.ITIMER_REAL, _WAIT)


def _handle_unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Say nothing of an exception that nobody can handle; an interrupt among them comes again."""
    if os.environ.get("GLASSHOUSE_DEBUG") == "1":
        sys.__unraisablehook__(lost)
    if AGAIN is not None and issubclass(lost.exc_type, KeyboardInterrupt):
        _come_again()
