"""One run: carried out, and stored in a folder."""

from glasshouse.runs.runner import Run, read_dataset, run
from glasshouse.runs.store import write_run

__all__ = ["Run", "read_dataset", "run", "write_run"]
