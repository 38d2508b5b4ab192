"""Runs: a study carried out, and the folder that keeps its outcome; a module per command, under its word."""

from glasshouse.runs.folder import check_place, stored_release
from glasshouse.runs.run import Outcome, Resources, Run, checkpoint_key, run, run_key, write_run

__all__ = [
    "Outcome",
    "Resources",
    "Run",
    "check_place",
    "checkpoint_key",
    "run",
    "run_key",
    "stored_release",
    "write_run",
]
