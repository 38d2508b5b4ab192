"""The report of a family: releases side by side."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.disclosure import smallest_cell
from glasshouse.language import number, text, text_for
from glasshouse.microdata.family import Family
from glasshouse.report.assess.document import METHOD
from glasshouse.report.assess.families import family_findings
from glasshouse.report.assess.family_charts import family_chart, family_chart_table, hides_some
from glasshouse.report.assess.family_tables import family_table
from glasshouse.report.assess.parts import part_label, shown_parts, what_she_guesses
from glasshouse.report.glossary import glossary
from glasshouse.report.page import Cell, Column, Figure, Group, Page, Provenance, Section, Table
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, plural
from glasshouse.table.treatment import Step


def family_page(
    family: Family,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    part: str = "part",
) -> Page:
    """Return the report of a family: sentences, a picture per target, and the parts side by side.

    Args:
        family: The releases.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: What was left out of the datasets.
        part: What a part is called, such as a state or a year.
    """
    shown = shown_parts(family)
    targets = family.targets if shown.parts else ()
    sections = [_side_by_side(family, target) for target in targets]
    sections.append(_correlations(shown, part))
    done = treatment_section(treatment)
    records = sum(each.records for each in family.parts)
    return Page(
        title=_title(family, shown, part),
        lead=text_for(records, "{count} record", "{count} records"),
        findings=family_findings(family, subject, part=part),
        adversary=_adversary(),
        limits=_limits(subject),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method="Gonze, Lemes, Almeida, Gonçalves and Alvim 2025, on the outpatient records of Brazil; the attacks: "
        + METHOD,
        figures=tuple(_picture(family, target, part) for target in targets),
        sections=(*sections, *([] if done is None else [done])),
        glossary=glossary(
            "adversary",
            "quasi-identifier",
            "sensitive attribute",
            "release",
            "record",
            "prior",
            "vulnerability",
            "leakage",
            "re-identification",
            "attribute inference",
        ),
    )


def _title(family: Family, shown: Family, part: str) -> str:
    if not shown.parts:
        return text("{parts}, which cannot be shown", parts=counted(len(family.parts), part))
    if len(shown.parts) == 1:
        return text("What {part} gives away", part=part_label(shown.parts[0].name))
    return text("{parts} side by side", parts=counted(len(shown.parts), part))


def _picture(family: Family, target: str | None, part: str) -> Figure:
    caption = [
        text(
            "At 0 she knows nothing of the person. Each further point is the best set of so many attributes."
        )
    ]
    if hides_some(family, target):
        caption.append(
            text(
                "A chance that would tell of fewer than {smallest} people is drawn in the middle of what it may be.",
                smallest=smallest_cell(),
            )
        )
    return Figure.of(
        family_chart(family, target, part=part),
        label=text("Success of one guess at {goal}, part by part", goal=what_she_guesses(target)),
        caption=" ".join(caption),
        table=family_chart_table(family, target),
    )


def _side_by_side(family: Family, target: str | None) -> Section:
    return Section(
        text("Part by part: {goal}", goal=what_she_guesses(target)),
        text(
            "In per cent: success before, and what the best set of so many attributes adds to it. ▲ the highest of all "
            "parts, ▼ the lowest."
        ),
        (family_table(family, target),),
    )


def _adversary() -> tuple[str, ...]:
    return (
        text(
            "Every part is a release of its own: the adversary knows to which part the person belongs, knows that the "
            "person’s record is in it, and attacks that part alone."
        ),
        text(
            "With so many attributes known, she knows those of the person that tell most in that part, exactly."
        ),
    )


def _limits(subject: str) -> tuple[str, ...]:
    return (
        text("Every figure is an exact ratio of counts, or a bound of one; none is an estimate."),
        text("Correlations are over the parts, and say nothing of causes."),
        text(
            "Parts with fewer than {people} are left out of this report, and others where it takes that to cover them.",
            people=counted(smallest_cell(), subject),
        ),
        text(
            "Where a chance in a part would tell that fewer than {smallest} people share a secret, or do not, it is "
            "told as a bound: less than, or more than.",
            smallest=smallest_cell(),
        ),
    )


def _correlations(family: Family, part: str) -> Section:
    """Return whether the parts that leak more are the larger ones, or those with the more uncertain secret."""
    groups = [
        Group(
            tuple(
                (Cell(number(each.size)), _coefficient(each.records), _coefficient(each.entropy))
                for each in (family.correlations(target) if family.parts else ())
            ),
            title=what_she_guesses(target),
        )
        for target in family.targets
    ]
    columns = (
        Column(text("Attributes that she knows")),
        Column(text("With the number of records"), numeric=True),
        Column(text("With the entropy of the secret"), numeric=True),
    )
    return Section(
        text("Does size protect?"),
        text(
            "Pearson’s correlation, over the {parts} shown, of what the best attributes add: from −1 to +1; – where it "
            "is not defined, or there are fewer than three {parts}.",
            parts=plural(part),
        ),
        (Table(columns, tuple(groups)),),
    )


def _coefficient(value: float | None) -> Cell:
    return Cell("–" if value is None else number(value, "+.2f"))
