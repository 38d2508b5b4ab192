"""What a user asks: frozen models that read from and write to ``study.toml``, one per command; and conditions.

A study holds everything that determines a result besides the data itself, so that a run can be repeated from its study
alone. The models know nothing of the data: whether a column exists is found out when the data is read.
"""

from glasshouse.conditions import Condition, parse_condition
from glasshouse.study.question import (
    COMMANDS,
    Address,
    Adversary,
    ColumnType,
    Dataset,
    Dialect,
    Gain,
    Question,
    ReleaseStudy,
    Secret,
    Treatment,
    address_of,
    attributes,
    datasets_of,
    dump_study,
    load_policy,
    load_question,
    load_study,
    paths_of,
    study_class,
    validated,
    with_paths,
)

__all__ = [
    "COMMANDS",
    "Address",
    "Adversary",
    "ColumnType",
    "Condition",
    "Dataset",
    "Dialect",
    "Gain",
    "Question",
    "ReleaseStudy",
    "Secret",
    "Treatment",
    "address_of",
    "attributes",
    "datasets_of",
    "dump_study",
    "load_policy",
    "load_question",
    "load_study",
    "parse_condition",
    "paths_of",
    "study_class",
    "validated",
    "with_paths",
]
