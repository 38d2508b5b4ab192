"""The reports on who is in a release: of everybody in a register, of one person, and estimated without a register.

Those of everybody disclose nobody: no value of a quasi-identifier is in them, and sets of releases that hold fewer
people than may be told are summed up. That of one person is personal data, as it says.
"""

from __future__ import annotations

from glasshouse.microdata.presence import Member, Membership
from glasshouse.microdata.uniqueness import PopulationRisks
from glasshouse.report.membership.everybody import (
    membership_findings,
    membership_page,
    releases_table,
)
from glasshouse.report.membership.member import MemberTold, member_page
from glasshouse.report.membership.population import (
    estimates_in_short,
    population_findings,
    population_page,
)
from glasshouse.report.page import Brief, Page, Provenance
from glasshouse.report.provenance import treatment_blocks
from glasshouse.study.membership import MembershipStudy


def page(
    outcome: Membership | Member | PopulationRisks,
    question: MembershipStudy,
    *,
    provenance: Provenance,
) -> Page:
    """Return the report: of all people, of one person, or estimated without a register."""
    if isinstance(outcome, Membership):
        return membership_page(outcome, question, provenance)
    if isinstance(outcome, Member):
        return member_page(outcome, question.subject, provenance)
    return population_page(outcome, question, provenance)


def brief(outcome: Membership | Member | PopulationRisks, question: MembershipStudy) -> Brief:
    """Return what a terminal says of who is in a release."""
    subject = question.subject
    if isinstance(outcome, Membership):
        table, findings = releases_table(outcome), membership_findings(outcome, subject=subject)
    elif isinstance(outcome, Member):
        person = MemberTold(outcome, subject, exact=True)
        table, findings = person.table_in_short(), person.findings()
    else:
        table = estimates_in_short(outcome)
        is_released = question.weight not in question.drop
        findings = population_findings(outcome, subject=subject, is_released=is_released)
    return Brief((*treatment_blocks(outcome.steps), table), findings)
