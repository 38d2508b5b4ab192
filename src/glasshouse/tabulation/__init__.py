"""Published tables: who can be read out of them together, with a proof that anybody can check."""

from glasshouse.tabulation.exposure import SecretExposure, TablesOutcome, table_exposure
from glasshouse.tabulation.reasons import (
    TablesAudit,
    TableSet,
    TableWeight,
    contradicting_tables,
    tables_audit,
)
from glasshouse.tabulation.solution import CellBounds, cell_bounds
from glasshouse.tabulation.statements import PublishedSet, published

__all__ = [
    "CellBounds",
    "PublishedSet",
    "SecretExposure",
    "TableSet",
    "TableWeight",
    "TablesAudit",
    "TablesOutcome",
    "cell_bounds",
    "contradicting_tables",
    "published",
    "table_exposure",
    "tables_audit",
]
