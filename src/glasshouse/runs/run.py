"""One run: what was asked, what came out, and where it came from; the same for every command."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import StudyError
from glasshouse.language import text_for
from glasshouse.progress import OnProgress
from glasshouse.report.page import Finding, Page, Provenance
from glasshouse.sources.files import fingerprint
from glasshouse.study import Question, dump_study, paths_of

if TYPE_CHECKING:
    import altair as alt
    import pyarrow as pa

    from glasshouse.table import EncodedTable


class Outcome(Protocol):
    """What came out of any question."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""

    def to_frame(self) -> pa.Table:
        """Return the figures as a table."""


Q = TypeVar("Q", bound=Question, covariant=True)
R = TypeVar("R", bound=Outcome, covariant=True)


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
    per_record: pa.Table | None = None
    """What is known of every record, where it was asked for: it is personal data."""
    warnings: tuple[str, ...] = ()
    """What to know of it in whatever form it is told, such as a column that holds one value only."""
    unfinished: str = ""
    """Of a run that could go on and be more precise: what to do."""

    @property
    def records(self) -> int:
        """The number of records of the release."""
        if self.counted is not None:
            return self.counted
        records: int = getattr(self.outcome, "records", 0)
        return records

    @property
    def page(self) -> Page:
        """The report, in the language that is spoken."""
        from glasshouse.report import page_of

        return page_of(self.outcome, self.question, provenance=self.provenance or in_memory())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, in sentences with their severity, as the report says it."""
        return self.page.findings

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        return self.outcome.to_dict()

    def to_frame(self) -> pa.Table:
        """Return the figures as an Arrow table."""
        return self.outcome.to_frame()

    def chart(self) -> alt.TopLevelMixin:
        """Return the main picture as an Altair chart, which can be changed further.

        Raises:
            StudyError: There is none.
        """
        import altair as alt

        figures = self.page.figures
        if not figures:
            raise StudyError(
                "there is no picture of a run of {kind}; its findings tell it",
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
        from glasshouse.runs.folder import write_run, write_single

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
    return Provenance(version=version("glasshouse"), study="", datasets={})


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
    """How many bytes a sweep may use."""


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
    done: Run[Question, Outcome] = _module(question).answer(
        question, resources=resources or Resources(), **options
    )
    return done


def checkpoint_key(question: Question) -> str | None:
    """Return the digest that a checkpoint of a run must agree with; None: its steps are not worth keeping."""
    key_of: Callable[[Question], str | None] | None = getattr(
        _module(question), "checkpoint_key", None
    )
    return None if key_of is None else key_of(question)


def run_key(question: Question) -> str:
    """Return the digest of a study, the bytes of its data and the version."""
    digests = [fingerprint(path) for path in paths_of(question)]
    content = [dump_study(question, version=version("glasshouse")), *digests]
    return hashlib.sha256("\n".join(content).encode()).hexdigest()


def _module(question: Question) -> Any:
    """Return the module of a command; importing it takes long, so it waits until it is needed."""
    return import_module(f"glasshouse.runs.{question.command}")
