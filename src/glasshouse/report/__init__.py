"""What was found: in sentences, in a picture, in exact figures. Handed aggregates only."""

from glasshouse.report.document import Provenance, render_html
from glasshouse.report.findings import findings

__all__ = ["Provenance", "findings", "render_html"]
