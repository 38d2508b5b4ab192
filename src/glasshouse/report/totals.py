"""Reconstruction from published totals: in sentences, in pictures, in exact figures."""

from __future__ import annotations

from fractions import Fraction

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
from glasshouse.report.total_charts import (
    linked_by_complexity,
    short,
    time_by_complexity,
    value_at_risk,
)
from glasshouse.report.total_places import places_section
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.words import counted, money, percentage, plural, share
from glasshouse.study.totals import TotalsStudy
from glasshouse.totals import CampaignResult, Phase

METHOD = (
    "after Favato 2021, “Confidential data leakage in Brazilian official foreign trade statistics” (UFMG), with exact "
    "windows instead of its tolerance"
)


_REASONS = {
    "records added": "Records added: the totals are above what all records can give, however they were rounded. Unless "
    "another publication shows what was suppressed, suppressed records look the same.",
    "records added or rounding": "Records added or rounding: the totals are above what all records can give, but so "
    "little that another way of rounding would explain it; it cannot be told.",
    "records left out": "Records left out: the totals hold less than the records, and no record fits what is missing.",
    "rounding": "Rounding: the sums agree, but no allocation meets the totals. They were rounded in another way, or as "
    "much was added as was left out; it cannot be told.",
    "bin without entities": "Bin without entities: the place of these records is certain, but the register has nobody "
    "there to be named.",
}
"""What reasons for setting groups apart mean."""


def total_sentences(result: CampaignResult, study: TotalsStudy) -> tuple[str, ...]:
    """Return what is linked with certainty, what an adversary gains by the totals, and how much of it was solved."""
    last = result.phases[-1]
    linked = share(last.linked_so_far, result.records)
    sentences = [
        f"The published totals tell the place of {last.linked_so_far:,} of {result.records:,} records ({linked}) with "
        "certainty."
    ]
    if result.entities is not None:
        steps = result.exposure("bayes")
        first, end = steps[0], steps[-1]
        named = (
            f"There is no record whose {study.subject} they name with certainty"
            if end.certain == 0
            else f"Of {counted(end.certain, 'record')} ({share(end.certain, result.records)}) they name the "
            f"{study.subject} with certainty"
        )
        sentences.append(
            f"{named}, among {counted(result.entities, study.subject)}; the value at risk grows from "
            f"{_money(first.value_at_risk, study.currency)} to {_money(end.value_at_risk, study.currency)}."
        )
    unsolved = result.instances - result.solved
    complete = (
        "" if result.complete else " The time was over before every instance had its attempt."
    )
    if result.instances == 0:
        sentences.append("There was nothing to solve: no records and totals agree in their keys.")
    elif unsolved == 0:
        sentences.append(f"All of {counted(result.instances, 'instance')} are solved exactly.")
    else:
        sentences.append(
            f"{result.solved:,} of {counted(result.instances, 'instance')} "
            f"({share(result.solved, result.instances)}) are solved exactly; of the records of the other {unsolved:,} "
            f"nothing is claimed with certainty.{complete}"
        )
    return tuple(sentences)


def _money(value: float, currency: str | None) -> str:
    return f"{currency} {short(value)}" if currency else short(value)


def total_page(result: CampaignResult, study: TotalsStudy, *, provenance: Provenance) -> Page:
    """Return the report of a campaign."""
    instances = result.instances_frame()
    figures = []
    if result.entities is not None:
        figures.append(
            Figure.of(
                value_at_risk(result.exposure("bayes"), study.currency),
                label="Value at risk by phase; the same figures are in a table below",
                caption="Each mark: what the adversary has so far. “Joined”: she has put the records beside the totals "
                "with the same keys, and knows which places take part. “Solved”: she has ruled out every place that no "
                "allocation of the records to the totals admits.",
            )
        )
    if len(instances):
        figures += [
            Figure.of(
                linked_by_complexity(instances),
                label="Share of instances solved, and of their records linked, by complexity",
                caption="Complex: many records and many places. “Solved”: exactly, so that nothing is left to try. "
                "“Linked”: one place only is left for the record.",
            ),
            Figure.of(
                time_by_complexity(instances),
                label="Solving time by complexity",
                caption="Instances with one place take no time and are drawn at the bottom.",
            ),
        ]
    sections = [
        Section("By phase", tables=(_phases(result),)),
        *(
            Section(
                f"What the adversary can name, {_rule(rule)}",
                tables=(_exposure(result.exposure(rule), study.currency),),
            )
            for rule in (("bayes", "uniform") if result.entities is not None else ())
        ),
        *(
            (places_section(result, study.subject, study.currency),)
            if result.entities is not None
            else ()
        ),
        Section(
            "Groups that are set apart",
            tables=(_apart(result, study.currency),),
            notes=_apart_notes(result),
        ),
        Section("The publications", tables=(_publications(result),), notes=_troubles(result)),
    ]
    return Page(
        title=f"Who is behind each record: {plural(study.subject)} and published totals",
        lead=f"{counted(result.records, 'record')}, {counted(result.instances, 'instance')}",
        findings=noted(total_sentences(result, study)),
        figures=tuple(figures),
        sections=tuple(sections),
        **spread(_assumptions(study)),
        provenance=provenance,
        command="glasshouse totals campaign --study study.toml",
        method=METHOD,
    )


def _rule(rule: str) -> str:
    return "by Bayes" if rule == "bayes" else "by the published uniform rule"


def _phases(result: CampaignResult) -> Table:
    titles = ("groups", "instances", "solved", "unique", "ambiguous", "not solved", "untried")
    columns = (
        Column("Phase"),
        *(Column(title, numeric=True) for title in titles),
        Column("records linked", numeric=True),
        Column("records named", numeric=True),
    )
    rows = tuple(
        (
            Cell(phase.name),
            *(
                Cell(f"{count:,}")
                for count in (
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
            ),
        )
        for phase in result.phases
    )
    return Table(columns, (Group(rows),))


def _exposure(steps: tuple[Phase, ...], currency: str | None) -> Table:
    columns = (
        Column("She has"),
        Column("mean chance", numeric=True),
        Column("factor", numeric=True),
        Column("value at risk", numeric=True),
        Column("named with certainty", numeric=True),
        Column("their value", numeric=True),
    )
    rows = tuple(
        (
            Cell(step.name),
            Cell(percentage(Fraction(step.chance)), exact=repr(step.chance)),
            Cell("–" if step.factor is None else f"× {step.factor:,.4g}"),
            _amount(step.value_at_risk, currency),
            Cell(f"{step.certain:,}"),
            _amount(step.certain_value, currency),
        )
        for step in steps
    )
    return Table(columns, (Group(rows),))


def _amount(value: float, currency: str | None) -> Cell:
    said = f"{value:,.2f}" if currency is None else money(Fraction(value), currency)
    return Cell(said, exact=repr(value))


def _apart(result: CampaignResult, currency: str | None) -> Table:
    columns = (
        Column("Phase"),
        Column("reason"),
        Column("groups", numeric=True),
        Column("records", numeric=True),
        Column("value", numeric=True),
    )
    rows = tuple(
        (
            Cell(phase.name),
            Cell(apart.reason),
            Cell(f"{apart.groups:,}"),
            Cell(f"{apart.records:,}"),
            _amount(apart.value, currency),
        )
        for phase in result.phases
        for apart in phase.apart
    )
    return Table(columns, (Group(rows),))


def _apart_notes(result: CampaignResult) -> tuple[str, ...]:
    """Say what the reasons can and cannot tell, as far as they occur."""
    reasons = {apart.reason for phase in result.phases for apart in phase.apart}
    return tuple(note for reason, note in _REASONS.items() if reason in reasons)


def _publications(result: CampaignResult) -> Table:
    names = list(result.publications[0]) if result.publications else ["publication"]
    columns = tuple(
        Column(name.replace("_", " "), numeric=number > 0) for number, name in enumerate(names)
    )
    rows = tuple(
        tuple(
            Cell(f"{value:,}" if isinstance(value, int) else str(value)) for value in each.values()
        )
        for each in result.publications
    )
    return Table(columns, (Group(rows),))


def _troubles(result: CampaignResult) -> tuple[str, ...]:
    """Return what was not as the plan says, without the example: that may be of a record."""
    return tuple(f"{each.where}: {each.kind}: {each.count:,}." for each in result.troubles)


def _assumptions(study: TotalsStudy) -> Assumptions:
    rounding = {
        "sum": "sums are rounded once, to within half a unit",
        "record": "records are rounded, then summed",
        "unknown": "it is not known how the totals were rounded: each record may add half a unit",
    }[study.rounding]
    left_out = (
        "The publisher of the totals may have left out records, but has added none."
        if study.none_bin
        else "The totals hold every record."
    )
    return Assumptions(
        f"The adversary has all publications and the register. Of the rounding: {rounding}. {left_out} Every place "
        "that is said to be certain is proved in whole numbers: no allocation of records to places that meets all "
        "totals puts the record elsewhere.",
        (
            Term(
                "Instance",
                "A group of records and totals that agree in their keys, or a part of one.",
            ),
            Term("Linked", "The place of the record is certain."),
            Term("Named", "The entity behind the record is certain."),
            Term(
                "Value at risk",
                "The sum over records of the chance of naming who is behind it times its value.",
            ),
            Term(
                "By Bayes", "Allocations count as often as there are ways to name entities in them."
            ),
            Term(
                "Uniform rule",
                "As published: every entity of the places left open is as likely; not Bayes.",
            ),
        ),
    )
