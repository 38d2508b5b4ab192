"""The only folder that opens users' files: everything becomes batches of text columns.

`open_source` takes a path or a frame in memory and returns a `Source`; whatever stands behind it, the
table above sees the same thing: names, and Arrow batches of text in which missing is the empty value.
"""

from glasshouse.sources.entry import open_source, refuse_dialect
from glasshouse.sources.files import display_name, existing_data, existing_file
from glasshouse.sources.source import MISSING, SUPPRESSED, Source

__all__ = [
    "MISSING",
    "SUPPRESSED",
    "Source",
    "display_name",
    "existing_data",
    "existing_file",
    "open_source",
    "refuse_dialect",
]
