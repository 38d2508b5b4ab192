"""What a release tells by way of households: who is identified if one member is, and by the members together."""

from __future__ import annotations

from glasshouse.language import number, percentage, text
from glasshouse.microdata.households import Households
from glasshouse.report.labels import column_label
from glasshouse.report.page import Finding, note


def household_finding(homes: Households) -> Finding:
    """Say who is identified by way of the household, beside who is by themselves."""
    sentence = text(
        "{column} says who lives together. If one member of a household is identified, so are the others: {named} of "
        "the {records} people could be identified for certain then, and {alone} by themselves. Someone who knows the "
        "members of a household together could single out {single} of the {households} households.",
        column=column_label(homes.column),
        named=number(homes.named),
        records=number(homes.records),
        alone=number(homes.alone),
        single=number(homes.households_alone),
        households=number(homes.households),
    )
    figure = text(
        "certain {certain}; a guess at the household is right in {found} of cases, {compositions} compositions",
        certain=percentage(homes.certain),
        found=percentage(homes.found),
        compositions=number(homes.compositions),
    )
    meaning = text(
        "Counted in this release, for someone who knows the same of every member as of one person. The verdict takes "
        "it for who can be identified, where it is more."
    )
    return note(sentence, figure, meaning)
