"""One run: what was asked, what came out, and where it came from; the same for every command."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import pyarrow as pa
import pyarrow.parquet

from glasshouse.atomic import new_file, new_folder
from glasshouse.checkpoint import Checkpoint
from glasshouse.disclosure import smallest_cell
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import spoken, text_for
from glasshouse.measures import main_figures, measures
from glasshouse.measures.measurement import Measurement, column_measures
from glasshouse.measures.verdict import Verdict, verdict_on
from glasshouse.progress import OnProgress, Progress, give_back_memory, resident_bytes
from glasshouse.report.page import Brief, Finding, Page, Provenance
from glasshouse.runs.folder import (
    MANIFEST,
    PUBLIC,
    REPORT,
    RESULTS,
    STUDY,
    check_place,
    digests_of,
    installed,
    is_run,
    provenance_of,
    report_files,
    to_pdf,
)
from glasshouse.sources.files import fingerprint, own_place
from glasshouse.study import Question, dump_study, paths_of, with_paths
from glasshouse.table import EncodedTable, Labels

if TYPE_CHECKING:
    import altair as alt

    from glasshouse.measures.coverage import Coverage
    from glasshouse.measures.first_look import FirstLook


class Outcome(Protocol):
    """What came out of any question."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""

    def to_frame(self) -> pa.Table:
        """Return the figures as a table."""


Q = TypeVar("Q", bound=Question, covariant=True)
R = TypeVar("R", bound=Outcome, covariant=True)

RECORD_BYTES, LEAST_LAID_OUT = 160, 100_000
"""What a record takes while it is laid out by its class, at most; and so many are laid out however little there is."""
ENOUGH_TO_FORESEE = 0.3
"""The part of a file from which on the rest can be foreseen."""


@dataclass(frozen=True, repr=False, eq=False)
class Run(Generic[Q, R]):
    """A question and its outcome."""

    question: Q
    """What was asked."""
    outcome: R
    """What came out."""
    provenance: Provenance | None = None
    """Where the figures come from; None: from the files that the question names."""
    counted: int | None = None
    """The number of records of all releases, where the outcome is about people; None: the outcome knows it."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """What later commands must know of it besides."""
    release: EncodedTable | None = None
    """The protected records, where it was asked to protect them."""
    write_files: Callable[[Path], None] | None = None
    """Writes what belongs into its folder besides: the files of a release."""
    per_record: Any = None
    """What is known of every record, where it was asked for: it is personal data. A table of Arrow; of records on Spark
    a frame of Spark."""
    warnings: tuple[str, ...] = ()
    """What was noticed while it was carried out, such as people who are in one of the files only."""
    labels: Labels = field(default_factory=Labels)
    """What the files call their columns and values."""
    first_looks: tuple[FirstLook, ...] = ()
    """How the files of a release were understood, where that belongs to the answer."""
    covered: Coverage | None = None
    """What became of every column of several releases, where they are compared as they were judged before."""
    unfinished: str = ""
    """Of a run that could go on and be more precise: what to do."""

    @property
    def records(self) -> int:
        """The number of records of the release."""
        if self.counted is not None:
            return self.counted
        records: int = getattr(self.outcome, "records", 0)
        return records

    @cached_property
    def verdict(self) -> Verdict | None:
        """What the policy of the question says; None: nothing was measured that it asks for."""
        return verdict_on(self.measures, self.question.policy, self.coverage)

    @property
    def coverage(self) -> Coverage | None:
        """What became of every column of the release; None: that is not known."""
        if not self.first_looks:
            return self.covered
        from glasshouse.measures.first_look import coverage_of

        return coverage_of(self.first_looks)

    @cached_property
    def measures(self) -> tuple[Measurement, ...]:
        """What was measured, whatever the policy: by the outcome, and by a first look at the files."""
        of_columns = () if self.coverage is None else column_measures(self.coverage)
        return (*of_columns, *measures(self.outcome, self.question))

    @property
    def page(self) -> Page:
        """The report, in the language that is spoken."""
        return self.page_from(self.provenance or in_memory())

    def page_from(self, provenance: Provenance) -> Page:
        """Return the report with where its figures come from, in the language that is spoken."""
        from glasshouse.report import page_of

        return page_of(
            self.outcome,
            self.question,
            provenance=provenance,
            labels=self.labels,
            verdict=self.verdict,
            looks=self.first_looks,
        )

    @property
    def brief(self) -> Brief:
        """What a terminal says, in the language that is spoken."""
        from glasshouse.report import brief_of

        return brief_of(
            self.outcome,
            self.question,
            labels=self.labels,
            verdict=self.verdict,
            looks=self.first_looks,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of it in whatever form it is told, such as a column that holds one value only."""
        from glasshouse.report import notes_of

        return (*self.warnings, *notes_of(self.outcome, self.question, self.first_looks))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, in sentences with their severity, as the report says it."""
        return self.page.findings

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values, and the verdict."""
        content = self.outcome.to_dict()
        if self.first_looks:
            from glasshouse.measures.first_look import as_json

            content |= as_json(self.first_looks)
        return content if self.verdict is None else content | {"verdict": self.verdict.to_dict()}

    def to_frame(self) -> pa.Table:
        """Return the figures as an Arrow table."""
        return self.outcome.to_frame()

    def chart(self) -> alt.TopLevelMixin:
        """Return the main picture as an Altair chart, which can be changed further.

        Raises:
            StudyError: There is none.
        """
        import altair as alt

        figures = self.page.pictures
        if not figures:
            raise StudyError(
                "there is no picture of a run of {kind}; its findings say it",
                kind=self.question.command,
            )
        drawn: alt.TopLevelMixin = alt.Chart.from_dict(dict(figures[0].chart))
        return drawn

    def report(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the report and return its path: a file by its ending (.html, .json, .pdf), else a whole run folder.

        Raises:
            DataError: It is there already, or cannot be written.
            StudyError: What makes a PDF is not installed.
        """
        path = Path(path)
        if path.suffix in (".html", ".json", ".pdf"):
            return write_single(self, path, overwrite=overwrite)
        return write_run(self, path, overwrite=overwrite)

    def __repr__(self) -> str:
        records = text_for(self.records, "{count} record", "{count} records")
        return f"<Run of {self.question.command}: {records}>"

    def _repr_html_(self) -> str:
        """Return the findings with severity and advice, and the main picture, for a notebook: without a script."""
        from glasshouse.report.html import to_fragment

        return to_fragment(self.page)


def in_memory() -> Provenance:
    """Return where figures come from that were computed from a table: there is no file to name or to fingerprint."""
    return Provenance(version=installed("glasshouse"), study="", datasets=())


@dataclass(frozen=True)
class Resources:
    """What a run has to work with; none of it changes the outcome."""

    on_progress: OnProgress | None = None
    """Whom to tell how far it is."""
    checkpoint: Checkpoint | None = None
    """Where finished steps are kept."""
    resume: bool = False
    """Whether to go on from the steps kept there."""
    threads: int | None = None
    """How many threads or processes to use; by default as many as there are processors."""
    memory: int | None = None
    """How many bytes the process may take, while it reads and while it sweeps."""
    time_limit: float | None = None
    """After how many seconds by the clock nothing more is begun, of what can be told as open; None: never."""
    on_note: Callable[[str], None] | None = None
    """Whom to tell, in a sentence, what is finished while the rest goes on."""

    @property
    def most_records(self) -> int | None:
        """How many records may be laid out by their class at a time; None: all."""
        if self.memory is None:
            return None
        give_back_memory()
        return max(LEAST_LAID_OUT, (self.memory - resident_bytes()) // RECORD_BYTES)

    def watching(self) -> Resources:
        """Return the same with a progress that stops reading as soon as it can be foreseen that the data do not fit."""
        if self.memory is None:
            return self
        return replace(self, on_progress=_MemoryWatch(self.memory, self.on_progress))


class _MemoryWatch:
    """Follows how much memory reading takes, and what it will come to at the end of the file.

    Buffers fill in the beginning, so that what is to come is judged by the later half of what has been read, and is
    believed the more the less is left: after a third of the file, only if it is a third more than there is.

    Raises:
        BudgetError: It is more than there is.
    """

    def __init__(self, memory: int, on_progress: OnProgress | None) -> None:
        self._memory = memory
        self._on_progress = on_progress
        self._history: list[tuple[float, int]] = []

    def __call__(self, now: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(now)
        if now.stage != "reading" or not now.share:
            return
        resident = resident_bytes()
        if self._history and now.share < self._history[-1][0]:  # the next file begins
            self._history.clear()
        self._history.append((now.share, resident))
        foreseen = self._foreseen(now.share, resident)
        needed = foreseen if foreseen > self._memory * (1.5 - now.share / 2) else resident
        if needed > self._memory:
            raise BudgetError(
                "reading takes {needed} MiB or more, and the process may take {memory} MiB; give more memory, or read "
                "fewer columns",
                needed=needed >> 20,
                memory=self._memory >> 20,
            )

    def _foreseen(self, share: float, resident: int) -> int:
        """Return the bytes at the end of the file; 0: that is not known yet."""
        if share < ENOUGH_TO_FORESEE:
            return 0
        before, taken = next(entry for entry in self._history if entry[0] >= share / 2)
        if before == share:
            return 0
        return resident + round((resident - taken) / (share - before) * (1 - share))


def run(
    question: Question, *, resources: Resources | None = None, **options: Any
) -> Run[Question, Outcome]:
    """Carry out a study.

    Args:
        question: What is asked.
        resources: What there is to work with.
        options: What else is asked of it, as the command's own module says.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory or the time.
    """
    question.check_policy()
    watched = (resources or Resources()).watching()
    from glasshouse.runs.reading import labels_of  # with it come tables, and loops to compile

    labels = labels_of(question, options.get("tables", ()))
    done: Run[Question, Outcome] = _module(question).answer(question, resources=watched, **options)
    return replace(done, labels=done.labels | labels)


def checkpoint_key(question: Question) -> str | None:
    """Return the digest that a checkpoint of a run must agree with; None: its steps are not worth keeping."""
    key_of: Callable[[Question], str | None] | None = getattr(
        _module(question), "checkpoint_key", None
    )
    return None if key_of is None else key_of(question)


def run_key(question: Question) -> str:
    """Return the digest of a study, the bytes of its data and the version."""
    digests = [fingerprint(path) for path in paths_of(question)]
    content = [dump_study(question, version=installed("glasshouse")), *digests]
    return hashlib.sha256("\n".join(content).encode()).hexdigest()


def _module(question: Question) -> Any:
    """Return the module of a command; importing it takes long, so it waits until it is needed."""
    module = import_module(f"glasshouse.runs.{question.command}")
    _spare_compiler()
    return module


def _spare_compiler() -> None:
    """Let loops that were compiled before be loaded without what compiling takes: a seventh of a small answer.

    Numba gets its compiler ready before it looks for a loop on disk, and again before it compiles one.
    """
    caching = sys.modules.get("numba.core.caching")
    if caching is None or not hasattr(caching.Cache, "_load_overload"):
        return
    from numba.core.runtime import rtsys

    def load_overload(cache: Any, signature: Any, target: Any) -> Any:
        rtsys.initialize(target)
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target)

    caching.Cache.load_overload = load_overload


@runtime_checkable
class HasTables(Protocol):
    """An outcome that has further tables besides its results."""

    def tables(self) -> dict[str, pa.Table]:
        """Return them by the names of their files, which are among `TABLES`."""


def write_run(run: Run[Question, Outcome], folder: Path, *, overwrite: bool = False) -> Path:
    """Write the run folder and return the path of its report, which is in the language that is spoken.

    The same study, data and version give the same bytes: of the time nothing in it tells more than the day.

    Raises:
        DataError: The folder exists (and is not to be overwritten), holds the data or cannot be written.
    """
    data = paths_of(run.question) if run.provenance is None else ()
    check_place(folder, overwrite=overwrite, data=data)
    question, outcome, provenance = run.question, run.outcome, run.provenance
    manifest: dict[str, Any] = {"glasshouse": installed("glasshouse"), "command": question.command}
    report = {"language": spoken(), "smallest_cell": smallest_cell()}
    if provenance is None:
        digests = digests_of(question)
        provenance = provenance_of(question, digests)
        datasets = [{"name": name, "sha256": digest} for name, digest in digests.items()]
        manifest |= {"records": run.records, "datasets": datasets, "report": report, **run.manifest}
    else:
        manifest |= {**run.manifest, "report": report}
    steps = getattr(outcome, "steps", ())
    if views := [step.to_dict() for step in steps if getattr(step, "view", None)]:
        keys = ("dataset", "column", "what", "rule", "cuts")
        manifest["views"] = [{key: step[key] for key in keys} for step in views]
    if summary := main_figures(outcome, question):
        manifest["summary"] = summary
    if "release" in manifest and run.labels != Labels():
        manifest["labels"] = asdict(run.labels)
    manifest["measures"] = [entry.to_dict() for entry in run.measures]
    if run.coverage is not None:
        manifest["coverage"] = run.coverage.to_dict()
    replaces = is_run if overwrite else None
    with new_folder(folder, replaces=replaces, public=PUBLIC.__contains__) as draft:
        if run.write_files is not None:
            run.write_files(draft)
        if run.provenance is None:
            # with absolute paths, so that it can be run again from its folder
            located = dump_study(with_paths(question, own_place), version=installed("glasshouse"))
            (draft / STUDY).write_text(located, encoding="utf-8")
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(outcome.to_frame(), draft / RESULTS)
        if isinstance(outcome, HasTables):
            for name, table in outcome.tables().items():
                pyarrow.parquet.write_table(table, draft / name)
        files = report_files(lambda: run.page_from(provenance))
        for name, content in files.items():
            (draft / name).write_text(content, encoding="utf-8")
    return folder / REPORT


def write_single(run: Run[Question, Outcome], path: Path, *, overwrite: bool = False) -> Path:
    """Write the report as one file, of the kind that its name ends in, and return its path.

    Raises:
        DataError: It is there already (and not to be overwritten), or cannot be written.
        StudyError: What makes a PDF is not installed.
    """
    from glasshouse.report import archive
    from glasshouse.report.html import to_html

    if path.exists() and not overwrite:
        raise DataError('"{path}" exists; choose another place, or say `overwrite`', path=path)
    question = run.question
    provenance = run.provenance or provenance_of(question, digests_of(question))

    def page() -> Page:
        return run.page_from(provenance)

    with new_file(path) as draft:
        if path.suffix == ".json":
            draft.write_text(archive.to_json(archive.in_every_language(page)), encoding="utf-8")
        elif path.suffix == ".pdf":
            draft.write_bytes(to_pdf(page()))
        else:
            draft.write_text(to_html(page()), encoding="utf-8")
    return path
