"""Where five frameworks ask for what a form says, so that an officer who works by one of them finds it.

A place is as fine as is safe to cite: clauses of the standard, sections of the publications, activities of the
decision-making framework. That a place is cited does not mean that what it asks for is done.
"""

from __future__ import annotations

from glasshouse.language import marked, text, translated
from glasshouse.report.page import Cell, Column, Group, Section, Table

FRAMEWORKS = (
    ("ISO/IEC 27559:2022", marked("privacy enhancing data de-identification framework")),
    ("NIST SP 800-188 (2023)", marked("De-Identifying Government Datasets")),
    (
        "UKAN (2020)",
        marked("Anonymisation Decision-Making Framework, European practitioners’ guide"),
    ),
    ("WP216 (2014)", marked("Article 29 Working Party, Opinion 05/2014")),
    ("ANPD (2023)", marked("preliminary study on anonymisation and pseudonymisation")),
)
"""The frameworks, as they are cited, and what each is."""
_AUDIT, _CONTROL, _IMPACT = (
    marked("data situation audit"),
    marked("risk assessment and control"),
    marked("impact management"),
)
CROSSWALK = (
    (
        marked("Columns, their roles and what became of each (sections 3 and 4)"),
        ("7.2, 8.3.3", marked("section 4, survey of the data"), _AUDIT, "–", "3.2"),
    ),
    (
        marked("Adversaries and what each knows (section 5)"),
        ("6.2, 7.3", marked("section 3, risks of a release"), _AUDIT, "2.2.2", "3.1.3"),
    ),
    (
        marked("Who can be singled out (section 7)"),
        ("8.2, B.1", marked("section 4, re-identification studies"), _CONTROL, "3", "3.1.2"),
    ),
    (
        marked("Which records or releases can be linked (section 7)"),
        ("7.3.3, 8.2", marked("section 4, re-identification studies"), _CONTROL, "3", "3.1.2"),
    ),
    (
        marked("What can be inferred (section 7)"),
        ("8.2, B.2", marked("section 3, risks of a release"), _CONTROL, "3", "3.1.2"),
    ),
    (
        marked("Protection, measured again, and what it costs (sections 6 and 8)"),
        ("8.3", marked("section 4, transforming the data"), _CONTROL, "3.1, 3.2", "3.2.1"),
    ),
    (
        marked("The rule, the residual risk and who decides (sections 10 and 11)"),
        ("9.2", marked("section 3, Disclosure Review Board"), _CONTROL, "5", "3.2.2"),
    ),
    (
        marked("What goes out later, and what happens if it fails (section 8)"),
        ("9.3, 9.4", marked("section 3, governance"), _IMPACT, "5", "3.2.2"),
    ),
)
"""What the form has, and where each of the `FRAMEWORKS` asks for it."""


def crosswalk() -> Section:
    """Return the table of where the frameworks ask for what the form says."""
    columns = (Column(text("What this form has")), *(Column(name) for name, _ in FRAMEWORKS))
    rows = tuple(
        (Cell(translated(what)), *(Cell(translated(place)) for place in places))
        for what, places in CROSSWALK
    )
    return Section(
        text("Where other frameworks ask for it"),
        tables=(Table(columns, (Group(rows),)),),
        notes=tuple(f"{name}: {translated(title)}." for name, title in FRAMEWORKS),
    )
