"""What was found: in sentences, in a picture, in exact figures. Handed aggregates only."""

from glasshouse.report.assess.document import assessment_page
from glasshouse.report.assess.findings import findings
from glasshouse.report.page import Finding, Page, Provenance, Severity, ranked
from glasshouse.report.render import to_html

__all__ = [
    "Finding",
    "Page",
    "Provenance",
    "Severity",
    "assessment_page",
    "findings",
    "ranked",
    "to_html",
]
