"""What a user asks: frozen models that read from and write to ``study.toml``, and the language of conditions."""

from glasshouse.study.conditions import Condition, parse_condition
from glasshouse.study.models import (
    SWEEP,
    SWEPT_BY_DEFAULT,
    Adversary,
    ColumnType,
    Dataset,
    Dialect,
    Gain,
    Secret,
    Study,
    Subset,
    attributes,
    dump_study,
    load_study,
    make_dataset,
    make_study,
    with_default_subsets,
)

__all__ = [
    "SWEEP",
    "SWEPT_BY_DEFAULT",
    "Adversary",
    "ColumnType",
    "Condition",
    "Dataset",
    "Dialect",
    "Gain",
    "Secret",
    "Study",
    "Subset",
    "attributes",
    "dump_study",
    "load_study",
    "make_dataset",
    "make_study",
    "parse_condition",
    "with_default_subsets",
]
