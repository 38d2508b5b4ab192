"""The ``glasshouse`` command: gathers the commands and turns every outcome into an exit code."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Sequence

import typer

from glasshouse.cli import (
    anonymise,
    assess,
    check,
    compare,
    demo,
    deter,
    hierarchies,
    inspect,
    ledger,
    membership,
    protect,
    report,
    synth,
    tables,
    target,
    threat,
    totals,
)
from glasshouse.cli import app as app_command
from glasshouse.cli.interrupts import hear_interrupts, interruptible, stop_hearing
from glasshouse.cli.options import Expanded, option, with_options
from glasshouse.cli.translation import (
    CELL_HELP,
    LANG_HELP,
    check_names,
    command_of,
    named_language,
    retold,
    show_whole_help,
    start_speaking,
)
from glasshouse.disclosure import SMALLEST_CELL, show_cells_from
from glasshouse.errors import GlasshouseError, InternalError, StudyError
from glasshouse.language import printable, system_reason, text

INTERRUPTED = 130
REPORT_PANEL = "Language and report"

app = typer.Typer(
    name="glasshouse",
    help="What a data release lets an adversary learn: about whom, with what probability, and what would stop it.",
    epilog="Exit codes: 0 done · 4 the rule is not met (check) · 2 the input is wrong · 3 a budget or solver "
    "limit stopped it, or there is no verdict · 130 you stopped it · 1 our own bug.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)
FIRST = {
    "inspect": "out as_json separator encoding no_header skip sheet table types missing",
    "assess": "quasi_identifiers sensitive adversaries person identifier subsets where policy out as_json",
    "check": "quasi_identifiers sensitive identifier person drop baseline ledger policy out as_json",
    "target": "known person sensitive identifier population fraction tries policy out as_json",
    "membership": "population fraction weight quasi_identifiers identifier known where policy out as_json",
    "threat": "original quasi_identifiers sensitive group hierarchies known per_record policy out as_json",
    "protect": "quasi_identifiers sensitive identifier suppression hierarchies keep time_limit policy out as_json",
    "hierarchies": "quasi_identifiers rules out overwrite as_json separator encoding no_header sheet missing",
    "anonymise": "quasi_identifiers sensitive k l t suppression hierarchies keep out as_json",
    "compare": "quasi_identifiers sensitive recoding k l t suppression policy out as_json",
    "tables": "people suppressed totals noise quasi_identifiers sensitive time_limit policy out as_json",
    "deter": "gain penalty access_cost sizes release register quasi_identifiers loss out as_json",
}
"""The options that most people need of a command: its help shows them, and the others where all are asked for."""
for panel, commands in {
    "Start here": (demo.demo, inspect.inspect, app_command.app),
    "Assess a release": (
        *(assess.assess, check.check, target.target, membership.membership),
        *(threat.threat, tables.tables, tables.verify),
    ),
    "Protect a release": (
        *(protect.protect, hierarchies.hierarchies, anonymise.anonymise),
        *(compare.compare, deter.deter),
    ),
    "Explain": (report.report,),
    "Synthetic data": (synth.synth,),
}.items():
    for command in commands:
        first = FIRST.get(command.__name__, "").split()
        app.command(rich_help_panel=panel)(Expanded(command, first))
app.add_typer(totals.app, rich_help_panel="Assess a release")
app.add_typer(ledger.app, rich_help_panel="Assess a release")


def _show_version(flag: bool) -> None:
    if flag:
        from importlib.metadata import version

        print(f"glasshouse {version('glasshouse')}")
        raise typer.Exit


def _set_smallest_cell(smallest: int | None) -> None:
    if smallest is not None:
        show_cells_from(smallest)


def _show_all(context: typer.Context, flag: bool) -> None:
    if flag:
        show_whole_help(context)


@app.callback()
@Expanded
def _options(
    version: bool = option(
        "--version", says="Print the version.", default=False, callback=_show_version, is_eager=True
    ),
    language: str | None = option(
        "--lang", "LANG", LANG_HELP, panel=REPORT_PANEL, expose_value=False
    ),
    help_all: bool = option(
        "--help-all",
        says="Show every option, by subject, and exit.",
        default=False,
        callback=_show_all,
        is_eager=True,
        expose_value=False,
    ),
    smallest_cell: int | None = option(
        "--smallest-cell",
        "N",
        CELL_HELP,
        panel=REPORT_PANEL,
        callback=_set_smallest_cell,
        expose_value=False,
    ),
) -> None:
    pass


_NO_MEMORY_TO_LOAD = ("failed to map segment", "Cannot allocate memory")
"""What systems say where a library does not fit into memory."""


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; an error is one line on standard error."""
    try:
        start_speaking(arguments)
        _check_text(arguments)
        _check_files()
        show_cells_from(SMALLEST_CELL)
        with interruptible():
            command = command_of(app, arguments)
            check_names(command, arguments)
            outcome = command(
                list(arguments) or ["--help"],
                standalone_mode=False,
                obj=named_language(arguments),  # which context sees --lang depends on its place
            )
    except GlasshouseError as error:
        return _fail(str(error), error.exit_code, error)
    except typer.TyperException as error:
        message = error.format_message()
        return _fail(retold(message), 2, None) if message else 0  # none: it has shown its help
    except (KeyboardInterrupt, typer.Abort):
        return _fail(text("stopped"), INTERRUPTED, None)
    except OSError as error:
        return _fail(_not_written(error), 2, error)
    except MemoryError:
        return _fail(text("there is not enough memory for this"), 3, None)
    except ImportError as error:
        if any(sign in str(error) for sign in _NO_MEMORY_TO_LOAD):
            return _fail(text("there is not enough memory for this"), 3, error)
        return _fail_by_bug(error)
    except Exception as error:  # the last resort: no traceback reaches a user
        return _fail_by_bug(error)
    if outcome == INTERRUPTED:  # how typer hands on a keyboard interrupt
        return _fail(text("stopped"), INTERRUPTED, None)
    return outcome if isinstance(outcome, int) else 0


def _check_text(arguments: Sequence[str]) -> None:
    """Make sure that whatever was typed can be written into a message, a study and a report.

    Raises:
        StudyError: It is no text in the encoding of the system, as the name of an old file may be.
    """
    for argument in arguments:
        if any("\udc80" <= letter <= "\udcff" for letter in argument):
            raise StudyError(
                "{argument}: is not text in the encoding of this system; rename the file or folder",
                argument=argument.encode("utf-8", "backslashreplace").decode("utf-8"),
            )


LEAST_FILES = 32
"""How many files a process must be able to hold open; with fewer, libraries die in their own ways."""


def _check_files() -> None:
    """Make sure that the system allows enough open files.

    Raises:
        StudyError: It does not.
    """
    try:
        import resource  # not on every system
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= LEAST_FILES > soft >= 0:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, LEAST_FILES), hard))
    elif 0 <= soft < LEAST_FILES:
        raise StudyError(
            "the system allows this process {allowed} open files, too few to work with; allow {least} (ulimit -n "
            "{least})",
            allowed=soft,
            least=LEAST_FILES,
        )


RARELY = (100_000, 20, 100)
"""How seldom garbage is looked for: libraries make tens of thousands of objects that stay, an eighth of a report."""


def run() -> None:
    """Run the command that was typed: the entry point."""
    if sys.flags.optimize > 1:  # helps are docstrings, and so is what libraries look for
        plain = os.environ | {"PYTHONOPTIMIZE": "1"}
        command = [sys.executable, "-m", "glasshouse", *sys.argv[1:]]
        os.execve(sys.executable, command, plain)  # noqa: S606 - our own command, once more
    if hasattr(signal, "SIGPIPE"):  # a reader that has seen enough, as in ``| head``, is no error
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    hear_interrupts()
    gc.set_threshold(*RARELY)
    sys.meta_path.insert(0, _SpareLibraries())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a terminal that cannot show a character shows another
            stream.reconfigure(errors="replace")
    code = _written(main(sys.argv[1:]))
    stop_hearing()
    sys.exit(code)


def _written(code: int) -> int:
    """Write what is left of the output, and return the exit code: that of an error where it does not fit."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries again
        return code or _fail(_not_written(error), 2, error)
    return code


def _not_written(error: OSError) -> str:
    return text("cannot write the output: {reason}", reason=system_reason(error))


def _fail_by_bug(error: Exception) -> int:
    reason = f"{type(error).__name__}: {error}"
    bug = text("a bug in Glasshouse, please report it: {reason}", reason=reason)
    return _fail(bug, InternalError.exit_code, error)


class _SpareLibraries:
    """Keeps libraries from loading others that nothing here needs: half a second of every command, and memory.

    pyarrow loads pandas at its first value where it can; it is there again for the solvers and Spark, which need it.
    Numba loads SciPy's linear algebra to see whether there is any, though no loop of ours uses it; where memory is
    short that never comes back.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        is_for_frames = name == "pandas" and not {"ortools", "pyspark"} & sys.modules.keys()
        is_for_loops = name == "scipy.linalg" and _is_loading("numba.np.arraymath")
        if is_for_frames or is_for_loops:
            raise ModuleNotFoundError(f"{name} is not loaded for this", name=name)


def _is_loading(name: str) -> bool:
    specification = getattr(sys.modules.get(name), "__spec__", None)
    return bool(getattr(specification, "_initializing", False))


def _fail(message: str, code: int, error: Exception | None) -> int:
    """Say what went wrong in one line; with GLASSHOUSE_DEBUG=1 show where."""
    if error is not None and os.environ.get("GLASSHOUSE_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    print(f"glasshouse: {printable(' '.join(with_options(message).split()))}", file=sys.stderr)
    return code
