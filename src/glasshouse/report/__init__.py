"""What was found: in sentences, in a picture, in exact figures. Handed aggregates only."""

from glasshouse.report.document import assessment_page, render_html
from glasshouse.report.findings import findings
from glasshouse.report.page import Page, Provenance, render

__all__ = ["Page", "Provenance", "assessment_page", "findings", "render", "render_html"]
