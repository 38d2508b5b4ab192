"""Published tables: who can be read out of them together, with a proof that anybody can check."""

from glasshouse.tabulation.exposure import (
    SecretExposure,
    TablesOutcome,
    table_exposure,
)
from glasshouse.tabulation.geography import AreaBounds, AreaTables, area_bounds
from glasshouse.tabulation.magnitudes import RecordChecks, record_checks
from glasshouse.tabulation.noise import NoiseExposure, NoisyCount, NoisyTable, noise_exposure
from glasshouse.tabulation.outputs import PublishedOutput
from glasshouse.tabulation.reasons import (
    TablesAudit,
    TableSet,
    TableWeight,
    contradicting_areas,
    contradicting_tables,
    tables_audit,
)
from glasshouse.tabulation.remedies import Remedy, remedy_of, tables_advice
from glasshouse.tabulation.solution import CellBounds, cell_bounds
from glasshouse.tabulation.statements import PublishedSet, published
from glasshouse.tabulation.succession import Succession, succession_of

__all__ = [
    "AreaBounds",
    "AreaTables",
    "CellBounds",
    "NoiseExposure",
    "NoisyCount",
    "NoisyTable",
    "PublishedOutput",
    "PublishedSet",
    "RecordChecks",
    "Remedy",
    "SecretExposure",
    "Succession",
    "TableSet",
    "TableWeight",
    "TablesAudit",
    "TablesOutcome",
    "area_bounds",
    "cell_bounds",
    "contradicting_areas",
    "contradicting_tables",
    "noise_exposure",
    "published",
    "record_checks",
    "remedy_of",
    "succession_of",
    "table_exposure",
    "tables_advice",
    "tables_audit",
]
