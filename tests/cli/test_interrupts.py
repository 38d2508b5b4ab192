"""An interrupt ends a command; where nobody could catch it, it waits and comes again."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs an alarm to wait for")

HEARD = """
import signal, sys, time, weakref
from glasshouse.cli.interrupts import hear_interrupts, stop_hearing

hear_interrupts()
done = []
class Library:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
        self.clean_up()
    def clean_up(self):
        done.append("cleaned up")
class Plain:
    pass
def callback(_):
    signal.raise_signal(signal.SIGINT)
try:
    {act}
    time.sleep(20)
    print("never heard")
except KeyboardInterrupt:
    print("heard", *done)
stop_hearing()
signal.raise_signal(signal.SIGINT)
"""


def said(act: str) -> tuple[str, str, int]:
    done = subprocess.run(
        [sys.executable, "-c", HEARD.format(act=act)], capture_output=True, text=True, check=False
    )
    return done.stdout, done.stderr, done.returncode


def test_an_interrupt_is_heard() -> None:
    assert said("signal.raise_signal(signal.SIGINT)") == ("heard\n", "", 0)


def test_a_finaliser_is_let_finish_and_the_interrupt_heard_afterwards() -> None:
    assert said("own = Library(); del own") == ("heard cleaned up\n", "", 0)


def test_an_interrupt_that_a_callback_swallows_comes_again() -> None:
    act = "own = Plain(); reference = weakref.ref(own, callback); del own"
    assert said(act) == ("heard\n", "", 0)


CONVERTED = """
import signal
from glasshouse.cli.interrupts import hear_interrupts, interruptible

hear_interrupts()
try:
    with interruptible():
        try:
            {act}
        except KeyboardInterrupt:
            pass
        raise TypeError("float() argument must be a string or a real number")
except BaseException as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("act", "raised"),
    [("signal.raise_signal(signal.SIGTERM)", "KeyboardInterrupt"), ("pass", "TypeError")],
)
def test_an_error_that_an_interrupt_became_is_the_interrupt(act: str, raised: str) -> None:
    code = CONVERTED.format(act=act)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{raised}\n"


def test_pyarrow_leaves_interrupts_to_us() -> None:
    code = (
        "import pyarrow; pyarrow.enable_signal_handlers = print\n"
        "from glasshouse.cli.interrupts import hear_interrupts\n"
        "hear_interrupts(); import pyarrow.csv"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
