"""One run: carried out, kept while it lasts, and stored in a folder."""

from glasshouse.runs.checkpoint import Checkpoint
from glasshouse.runs.runner import Run, Watch, read_dataset, run, run_key
from glasshouse.runs.store import check_place, write_run

__all__ = [
    "Checkpoint",
    "Run",
    "Watch",
    "check_place",
    "read_dataset",
    "run",
    "run_key",
    "write_run",
]
