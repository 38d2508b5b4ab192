"""What the law says that asks for a form, and where five frameworks ask for what it says, so that it is found there.

A place is as fine as is safe to cite: clauses of the standard, sections of the publications, activities of the
decision-making framework. That a place is cited does not mean that what it asks for is done.
"""

from __future__ import annotations

from glasshouse.language import marked, text, translated
from glasshouse.report.page import Cell, Column, Group, Section, Table

_GDPR = "https://eur-lex.europa.eu/eli/reg/2016/679/oj"
_LGPD = "https://www.planalto.gov.br/ccivil_03/_ato2015-2018/2018/lei/l13709.htm"
_OPINION = "https://ec.europa.eu/justice/article-29/documentation/opinion-recommendation/files/2014/wp216_en.pdf"
_WP216 = (
    marked("Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP216)"),
    marked(
        "An anonymisation is judged by three risks: that somebody is singled out, that records of one person are "
        "linked, and that something about a person is inferred. It is an opinion, not a law."
    ),
    _OPINION,
)
ARTICLES = {
    "dpia": (
        (
            marked("GDPR, Article 35(1), (7)"),
            marked(
                "An assessment where processing is likely to result in a high risk; it holds a description and the "
                "purposes, necessity and proportionality, the risks to people, and the measures."
            ),
            _GDPR,
        ),
        (
            marked("GDPR, Article 35(2), (9), (11)"),
            marked(
                "The advice of the data protection officer; where appropriate the views of those concerned; a review "
                "where the risk changes."
            ),
            _GDPR,
        ),
        (
            marked("GDPR, Article 36(1)"),
            marked(
                "The supervisory authority is consulted before processing that would result in a high risk without "
                "measures to mitigate it."
            ),
            _GDPR,
        ),
        (
            marked("GDPR, recital 26"),
            marked(
                "Whether somebody is identifiable goes by all the means reasonably likely to be used, such as singling "
                "out, by the controller or by another person; costs, time and technology count. Anonymous information "
                "is not covered."
            ),
            _GDPR,
        ),
        _WP216,
    ),
    "ripd": (
        (
            marked("LGPD (Lei 13.709/2018), art. 5, XVII"),
            marked(
                "The impact report: the controller’s documentation of processing that can put civil liberties and "
                "fundamental rights at risk, with measures, safeguards and mechanisms that mitigate the risk."
            ),
            _LGPD,
        ),
        (
            marked("LGPD, art. 38 and sole paragraph"),
            marked(
                "The national authority may ask the controller for it. It holds at least the types of data collected, "
                "how they are collected and kept safe, and the controller’s analysis of the measures adopted."
            ),
            _LGPD,
        ),
        (
            marked("LGPD, art. 12 and § 1; art. 5, III and XI"),
            marked(
                "Anonymised data are no personal data, unless the anonymisation can be reversed by own means alone, or "
                "with reasonable efforts; what is reasonable goes by objective factors such as cost and time."
            ),
            _LGPD,
        ),
        (
            marked("LGPD, art. 10, § 3; art. 32; art. 41"),
            marked(
                "The authority may ask for the report where the basis is a legitimate interest, and public bodies to "
                "publish it; the controller appoints a data protection officer (encarregado)."
            ),
            _LGPD,
        ),
        _WP216,
    ),
}
"""What the law says, by form: the place, what stands there, and its address."""
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
