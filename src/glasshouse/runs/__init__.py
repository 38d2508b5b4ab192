"""Runs: a study carried out, and the folder that keeps its outcome."""

from glasshouse.checkpoint import Checkpoint
from glasshouse.runs.families import FamilyRun, run_family
from glasshouse.runs.memberships import MembershipRun, run_membership
from glasshouse.runs.reading import focal_first
from glasshouse.runs.runner import Means, Run, Watch, run, run_key
from glasshouse.runs.store import Outcome, check_place, stored_release, write_run
from glasshouse.runs.targets import TargetRun, run_target

__all__ = [
    "Checkpoint",
    "FamilyRun",
    "Means",
    "MembershipRun",
    "Outcome",
    "Run",
    "TargetRun",
    "Watch",
    "check_place",
    "focal_first",
    "run",
    "run_family",
    "run_key",
    "run_membership",
    "run_target",
    "stored_release",
    "write_run",
]
