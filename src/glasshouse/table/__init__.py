"""The data as integer codes, with the roles of its columns."""

from glasshouse.table.collection import Collection, CollectionMember, collect, dataset_tags
from glasshouse.table.encode import available_columns, read
from glasshouse.table.encoded import (
    ColumnProfile,
    EncodedColumn,
    EncodedTable,
    Role,
    load_table,
    profile,
)
from glasshouse.table.treatment import Step, one_record_each, treat

__all__ = [
    "Collection",
    "CollectionMember",
    "ColumnProfile",
    "EncodedColumn",
    "EncodedTable",
    "Role",
    "Step",
    "available_columns",
    "collect",
    "dataset_tags",
    "load_table",
    "one_record_each",
    "profile",
    "read",
    "treat",
]
