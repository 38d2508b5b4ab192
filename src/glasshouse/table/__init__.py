"""The data as integer codes, with the roles of its columns."""

from typing import TYPE_CHECKING

from glasshouse.lazy import names_of

if TYPE_CHECKING:
    from glasshouse.table.collection import Collection, CollectionMember, collect, dataset_tags
    from glasshouse.table.encode import available_columns, read
    from glasshouse.table.encoded import EncodedColumn, EncodedTable, Labels, Role, load_table
    from glasshouse.table.profiles import (
        ColumnProfile,
        TableProfile,
        owner_column,
        person_column,
        profile,
        reading_note,
        table_profile,
    )
    from glasshouse.table.treatment import Step, one_record_each, treat, view_steps
    from glasshouse.table.views import as_viewed

_HOME = {
    "collection": ("Collection", "CollectionMember", "collect", "dataset_tags"),
    "encode": ("available_columns", "read"),
    "encoded": ("EncodedColumn", "EncodedTable", "Labels", "Role", "load_table"),
    "profiles": (
        *("ColumnProfile", "TableProfile", "owner_column", "person_column", "profile"),
        *("reading_note", "table_profile"),
    ),
    "views": ("as_viewed",),
    "treatment": ("Step", "one_record_each", "view_steps", "treat"),
}
"""The public names, by the module that they come from: a first look at a file loads no compiler."""

__all__ = [
    "Collection",
    "CollectionMember",
    "ColumnProfile",
    "EncodedColumn",
    "EncodedTable",
    "Labels",
    "Role",
    "Step",
    "TableProfile",
    "as_viewed",
    "available_columns",
    "collect",
    "dataset_tags",
    "load_table",
    "one_record_each",
    "owner_column",
    "person_column",
    "profile",
    "read",
    "reading_note",
    "table_profile",
    "treat",
    "view_steps",
]

__getattr__ = names_of(__name__, _HOME)
