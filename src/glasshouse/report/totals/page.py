"""The report of a campaign against published totals, as a page: sentences, pictures, exact figures."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.language import exactly, text, text_for
from glasshouse.report.cells import count_cell
from glasshouse.report.glossary import glossary
from glasshouse.report.page import (
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.totals.charts import (
    linked_by_complexity,
    linked_by_complexity_table,
    time_by_complexity,
    time_by_complexity_table,
    value_at_risk,
    value_at_risk_table,
)
from glasshouse.report.totals.findings import total_findings
from glasshouse.report.totals.places import places_section
from glasshouse.report.totals.words import (
    EXPLAINED,
    exact_amount,
    explained,
    growth,
    reason_label,
    step_label,
)
from glasshouse.report.words import counted, percentage, plural
from glasshouse.study.totals import TotalsStudy
from glasshouse.totals import CampaignResult, ExposurePhase, PhaseResult

__all__ = ["total_findings", "total_page"]

SOURCE = (
    "Favato 2021, “Confidential data leakage in Brazilian official foreign trade statistics” (UFMG)"
)


def total_page(result: CampaignResult, study: TotalsStudy, *, provenance: Provenance) -> Page:
    """Return the report of a campaign."""
    records = text_for(result.records, "{count} record", "{count} records")
    instances = text_for(result.instances, "{count} instance", "{count} instances")
    return Page(
        title=text(
            "Who is behind each record: {many} and published totals", many=plural(study.subject)
        ),
        lead=f"{records}, {instances}",
        findings=total_findings(result, study),
        figures=_figures(result, study),
        sections=_sections(result, study),
        adversary=_adversary(result, study),
        limits=_limits(result),
        provenance=provenance,
        command="glasshouse totals campaign --study study.toml",
        method=text("after {source}, with exact windows instead of its tolerance", source=SOURCE),
        glossary=(
            *_terms(result),
            *glossary("adversary", "value at risk"),
        ),
    )


def _figures(result: CampaignResult, study: TotalsStudy) -> tuple[Figure, ...]:
    figures = []
    if result.entities is not None:
        steps = result.exposure("bayes")
        figures.append(
            Figure.of(
                value_at_risk(steps, study.currency),
                label=text("Value at risk by what the adversary has"),
                caption=text(
                    "Each mark: what the adversary has so far. “Joined”: she has put the records beside the totals "
                    "with the same keys, and knows which places take part. “Solved”: she has ruled out every place "
                    "that no allocation of the records to the totals admits."
                ),
                table=value_at_risk_table(steps, study.currency),
            )
        )
    instances = result.to_frame()
    if len(instances):
        figures += [
            Figure.of(
                linked_by_complexity(instances),
                label=text("Share of instances solved, and of their records linked, by complexity"),
                caption=text(
                    "Complex: many records and many places. “Solved”: exactly, so that nothing is left to try. "
                    "“Linked”: one place only is left for the record."
                ),
                table=linked_by_complexity_table(instances),
            ),
            Figure.of(
                time_by_complexity(instances),
                label=text("Solving time by complexity"),
                caption=text("Instances with one place take no time and are drawn at the bottom."),
                table=time_by_complexity_table(instances),
            ),
        ]
    return tuple(figures)


def _sections(result: CampaignResult, study: TotalsStudy) -> tuple[Section, ...]:
    sections = [Section(text("By phase"), tables=(_phases(result),))]
    if result.entities is not None:
        sections += [
            Section(
                text("What the adversary can name, by Bayes"),
                tables=(_exposure(result.exposure("bayes"), study.currency),),
            ),
            Section(
                text("What the adversary can name, by the published uniform rule"),
                tables=(_exposure(result.exposure("uniform"), study.currency),),
            ),
            places_section(result, study.subject, study.currency),
        ]
    if any(phase.apart for phase in result.phases):
        sections.append(
            Section(
                text("Groups that are set apart"),
                tables=(_apart(result, study.currency),),
                notes=_apart_notes(result),
            )
        )
    sections.append(
        Section(text("The publications"), tables=(_publications(result),), notes=_troubles(result))
    )
    return tuple(sections)


def _table(first: Sequence[str], numbers: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> Table:
    columns = (
        *(Column(title) for title in first),
        *(Column(title, numeric=True) for title in numbers),
    )
    return Table(columns, (Group(tuple(rows)),))


def _phases(result: CampaignResult) -> Table:
    titles = (
        text("groups"),
        text("instances"),
        text("solved"),
        text("one allocation"),
        text("several allocations"),
        text("not solved"),
        text("untried"),
        text("records linked so far"),
        text("records named so far"),
    )
    rows = [(Cell(phase.name), *map(count_cell, _counts(phase))) for phase in result.phases]
    return _table([text("Phase")], titles, rows)


def _counts(phase: PhaseResult) -> tuple[int, ...]:
    return (
        phase.groups,
        phase.instances,
        phase.solved,
        phase.unique,
        phase.ambiguous,
        phase.unsolved,
        phase.untried,
        phase.linked_so_far,
        phase.exposed,
    )


def _exposure(steps: Sequence[ExposurePhase], currency: str | None) -> Table:
    titles = (
        text("mean chance"),
        text("factor"),
        text("value at risk"),
        text("named with certainty"),
        text("their value"),
    )
    rows = [
        (
            Cell(step_label(step.name)),
            Cell(percentage(Fraction(step.chance)), exact=exactly(step.chance)),
            Cell(growth(step.factor)),
            exact_amount(step.value_at_risk, currency),
            count_cell(step.certain),
            exact_amount(step.certain_value, currency),
        )
        for step in steps
    ]
    return _table([text("She has")], titles, rows)


def _apart(result: CampaignResult, currency: str | None) -> Table:
    rows = [
        (
            Cell(phase.name),
            Cell(reason_label(apart.reason)),
            count_cell(apart.groups),
            count_cell(apart.records),
            exact_amount(apart.value, currency),
        )
        for phase in result.phases
        for apart in phase.apart
    ]
    titles = (text("groups"), text("records"), text("value"))
    return _table([text("Phase"), text("reason")], titles, rows)


def _apart_notes(result: CampaignResult) -> tuple[str, ...]:
    """Say what the reasons can and cannot tell, as far as they occur."""
    reasons = {apart.reason for phase in result.phases for apart in phase.apart}
    return tuple(explained(reason) for reason in EXPLAINED if reason in reasons)


def _publications(result: CampaignResult) -> Table:
    titles = {
        "rows": text("rows used"),
        "read": text("rows read"),
        "filtered": text("rows filtered out"),
        "repeated": text("rows repeated"),
    }
    rows = [
        (Cell(str(each["name"])), *(count_cell(int(each[name])) for name in titles))
        for each in result.publications
    ]
    return _table([text("Publication")], list(titles.values()), rows)


def _troubles(result: CampaignResult) -> tuple[str, ...]:
    """Return what was not as the plan says, without the example: that may be of a record."""
    return tuple(
        text("{where}: {kind}: {count}.", where=each.where, kind=each.said, count=each.count)
        for each in result.troubles
    )


def _adversary(result: CampaignResult, study: TotalsStudy) -> tuple[str, ...]:
    said = [
        text(
            "The adversary has all publications of the plan: the records, one by one and without names, and the totals "
            "of places. She knows that the totals are those of these records."
        )
    ]
    if result.entities is not None:
        said.append(
            text(
                "She also has the register of all who may be behind a record, {people}, and knows in which places each "
                "of them is. Before she looks at the totals, all of them are equally likely to be behind a record.",
                people=counted(result.entities, study.subject),
            )
        )
    return (*said, _rounding(study.rounding), _left_out(study))


def _rounding(rounding: str) -> str:
    if rounding == "sum":
        return text(
            "She knows how the totals were rounded: the sums were, once, to within half a unit."
        )
    if rounding == "record":
        return text(
            "She knows how the totals were rounded: each record was, and then they were added up."
        )
    return text(
        "She does not know how the totals were rounded: each record may add half a unit to the error of a total."
    )


def _left_out(study: TotalsStudy) -> str:
    if not study.none_bin:
        return text("She knows that the totals hold every record, and nothing else.")
    return text(
        "She knows that the publisher of the totals may have left out records (she expects {share} of them to be), but "
        "has added none.",
        share=percentage(Fraction(study.left_out)),
    )


def _limits(result: CampaignResult) -> tuple[str, ...]:
    said = [
        text(
            "Every place that is said to be certain is proved in whole numbers: no allocation of records to places "
            "that meets all totals puts the record elsewhere. If records, totals or rounding are not as assumed, it "
            "may be wrong."
        ),
        text(
            "Whoever knows more than is assumed, such as a trader who recognises records of their own, may learn more "
            "than is said here."
        ),
    ]
    if result.entities is not None:
        said.append(
            text(
                "The figures are those of this register: who is behind a record without being in it, or is in a place "
                "without being registered there, is not among those who can be named."
            )
        )
    if result.solved < result.instances:
        said.append(
            text(
                "Not every instance is solved: of those that are not, she is only credited with what is proved, so "
                "that the figures are lower bounds."
            )
        )
    return tuple(said)


def _terms(result: CampaignResult) -> tuple[Term, ...]:
    terms = [
        Term(
            text("Instance"),
            text("A group of records and totals that agree in their keys, or a part of one."),
        ),
        Term(
            text("Allocation"),
            text(
                "A way to put every record of an instance into a place so that all totals are met."
            ),
        ),
        Term(text("Linked"), text("The place of the record is certain.")),
    ]
    if result.entities is not None:
        terms += [
            Term(text("Named"), text("It is certain who is behind the record.")),
            Term(
                text("By Bayes"),
                text(
                    "Her chance is that of her best guess; an allocation counts as often as there are ways to name who "
                    "is behind each of its records."
                ),
            ),
            Term(
                text("Uniform rule"),
                text(
                    "As published: everybody in the places left open is as likely. It forgets how many allocations "
                    "speak for which place, and so never exceeds the chance by Bayes."
                ),
            ),
        ]
    return tuple(terms)
