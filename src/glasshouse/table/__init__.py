"""The data as integer codes, with the roles of its columns."""

from glasshouse.table.encode import read
from glasshouse.table.encoded import Column, EncodedTable, Role, load_table

__all__ = ["Column", "EncodedTable", "Role", "load_table", "read"]
