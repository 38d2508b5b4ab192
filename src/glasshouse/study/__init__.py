"""What a user asks: frozen models that read from and write to ``study.toml``, and the language of conditions."""

from glasshouse.study.adversaries import Adversary, Gain, Secret, attributes
from glasshouse.study.base import Question
from glasshouse.study.conditions import Condition, parse_condition
from glasshouse.study.datasets import ColumnType, Dataset, Dialect, Treatment
from glasshouse.study.files import dump_study, load_question, paths_of, validated, with_paths
from glasshouse.study.models import (
    SWEEP,
    SWEPT_BY_DEFAULT,
    Key,
    Study,
    Subset,
    load_study,
    make_dataset,
    make_study,
    parse_link,
    with_default_subsets,
)
from glasshouse.study.protection import Protection

__all__ = [
    "SWEEP",
    "SWEPT_BY_DEFAULT",
    "Adversary",
    "ColumnType",
    "Condition",
    "Dataset",
    "Dialect",
    "Gain",
    "Key",
    "Protection",
    "Question",
    "Secret",
    "Study",
    "Subset",
    "Treatment",
    "attributes",
    "dump_study",
    "load_question",
    "load_study",
    "make_dataset",
    "make_study",
    "parse_condition",
    "parse_link",
    "paths_of",
    "validated",
    "with_default_subsets",
    "with_paths",
]
