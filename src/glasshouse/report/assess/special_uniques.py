"""What special uniques tell: how few attributes make a record the only one, and which attributes do it (SUDA)."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import number, percentage, text, text_for
from glasshouse.microdata.special_uniques import SpecialUniques
from glasshouse.report.cells import cell_table
from glasshouse.report.discretion import nested_counts
from glasshouse.report.labels import column_label
from glasshouse.report.page import Finding, Section, Table, note


def uniques_finding(uniques: SpecialUniques) -> Finding:
    """Say how many records are alone with part of what can be known, and what contributes most to it."""
    few = [count for size, count in enumerate(_by_smallest(uniques), start=1) if size <= 2]
    special = nested_counts([sum(few)], uniques.records)[0][0]
    most = max(uniques.shares, key=lambda name: uniques.shares[name])
    sentence = text(
        "{special} of the {records} records are singled out by one or two of these facts alone; {column} has the "
        "largest part in it (SUDA).",
        special=special,
        records=number(uniques.records),
        column=column_label(most),
    )
    if not uniques.alone:
        sentence = text("No record is singled out by any of these facts (SUDA).")
    meaning = text(
        "Each record is scored by the smallest sets of facts with which it is the only one: the fewer facts, and the "
        "more such sets, the higher. That it is the only one is counted in this release; DIS-SUDA, how likely a match "
        "is right, is an estimate for a random sample of {share} of the population. The rule judges neither.",
        share=percentage(Fraction(str(uniques.fraction))),
    )
    return note(sentence, "", meaning)


def uniques_section(uniques: SpecialUniques) -> Section:
    """Return how many records are alone with how few facts, and what each fact contributes."""
    return Section(
        text("Special uniques (SUDA)"),
        intro=text(
            "The smallest sets of facts with which a record is the only one, by how many facts they have; and the part "
            "of all scores that the sets make which hold a fact, which together are more than 100%. Scores are those "
            "of Elliot et al., the default of sdcMicro and ARX. A number that would reveal too few records is left out."
        ),
        tables=uniques_tables(uniques),
    )


def uniques_tables(uniques: SpecialUniques) -> tuple[Table, ...]:
    """Return the tables of `uniques_section`."""
    reached, together = _by_smallest(uniques), 0
    cumulative = []
    for count in reached:
        together += count
        cumulative.append(together)
    cells = nested_counts(cumulative, uniques.records)
    rows = [
        (text_for(size, "{count} fact or fewer", "{count} facts or fewer"), *both)
        for size, both in enumerate(cells, start=1)
    ]
    titles = (text("Records"), text("Share of the records"))
    order = sorted(uniques.shares, key=lambda name: -uniques.shares[name])
    return (
        cell_table(text("The only one with"), titles, rows),
        cell_table(
            text("Fact"),
            (text("Part of all scores"),),
            [
                (column_label(name), f"{number(100 * uniques.shares[name], '.1f')}%")
                for name in order
            ],
        ),
    )


def _by_smallest(uniques: SpecialUniques) -> list[int]:
    """Return how many records have their smallest MSU of each size."""
    counts: list[int] = uniques.to_dict()["records_by_smallest_msu"]
    return counts
