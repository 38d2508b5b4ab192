"""The report of a campaign against published totals, as a page: sentences, pictures, exact figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import floor, log10
from typing import cast

from glasshouse.disclosure import (
    column_counts,
    cover_each_other,
    hidden_parts,
    smallest_cell,
)
from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.reconstruction import BinExposed, CampaignResult, ExposurePhase, Solution
from glasshouse.report.cells import NOTHING, cell_rows, cell_table, count_cell, group_table, under
from glasshouse.report.page import (
    Action,
    Brief,
    Cell,
    Column,
    Finding,
    Group,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    Tile,
    note,
)
from glasshouse.report.severity import graded
from glasshouse.report.totals.charts import complexity_table, phases_figure, value_figure
from glasshouse.report.totals.findings import (
    EXPLAINED,
    SOLVED,
    exact_amount,
    growth_factor,
    is_contradicted,
    is_settled,
    more_time,
    publish_less,
    reason_label,
    short_money,
    step_label,
    total_findings,
)
from glasshouse.report.words import (
    counted,
    glossary,
    hundredths,
    percentage,
    percentages,
    plural,
    sentences,
    share,
)
from glasshouse.study.totals import SolveStudy, TotalsStudy

SOURCE = (
    "Favato 2021, “Confidential data leakage in Brazilian official foreign trade statistics” (UFMG)"
)
MOST_PACKAGES, MOST_BINS = 30, 6
"""How many records of one group a terminal shows, and how many places of each."""


def page(
    outcome: CampaignResult | Solution,
    question: TotalsStudy | SolveStudy,
    *,
    provenance: Provenance,
) -> Page:
    """Return the report of a campaign, or of one group."""
    if isinstance(outcome, Solution):
        return _solution_page(outcome, provenance)
    return campaign_page(outcome, cast(TotalsStudy, question), provenance=provenance)


def brief(outcome: CampaignResult | Solution, question: TotalsStudy | SolveStudy) -> Brief:
    """Return what a terminal says of a campaign, or of one group."""
    if isinstance(outcome, Solution):
        return solution_brief(outcome)
    return campaign_brief(outcome, cast(TotalsStudy, question))


def _solution_page(solution: Solution, provenance: Provenance) -> Page:
    """Return the report of one group: how many places are left for its records, and what of it is proved."""
    first, *further = solution_sentences(solution, with_shares=False)
    records, known = len(solution.feasible_bins), solution.linked
    severity = Severity.SAFE if solution.proved and solution.reason is None else Severity.NOTE
    if known:
        severity = graded(Fraction(0), certain=known, people=records)
    places_left = Counter(len(bins) for bins in solution.feasible_bins)
    rows = [
        (text_for(places, "{count} place", "{count} places"), number(places_left[places]))
        for places in sorted(places_left)
    ]
    table = cell_table(text("places left"), (text("number of records"),), rows)
    return Page(
        title=text("Where the records of a group can be"),
        lead=text_for(
            records,
            "{count} record and the totals of {places} places",
            "{count} records and the totals of {places} places",
            places=len(solution.instance.bin_names),
        ),
        findings=(Finding(severity, first), *map(note, further)),
        tiles=(
            Tile(
                text("What can be placed"),
                share(known, records),
                text_for(
                    known,
                    "{count} of {records}: it is certain where it belongs",
                    "{count} of {records}: it is certain where they belong",
                    records=counted(records, "record"),
                ),
            ),
        ),
        actions=(Action(publish_less()),) if known else (),
        adversary=(
            text(
                "The adversary knows the records and the totals of the group, and how the totals were rounded."
            ),
        ),
        limits=(
            text("What is said holds under every allocation of the records that meets the totals."),
        ),
        sections=(Section(text("records by how many places are left for them"), tables=(table,)),),
        provenance=provenance,
        command="glasshouse totals solve INSTANCE.json",
        method=text("after {source}, with exact windows instead of its tolerance", source=SOURCE),
    )


def campaign_page(result: CampaignResult, study: TotalsStudy, *, provenance: Provenance) -> Page:
    """Return the report of a campaign."""
    records = text_for(result.records, "{count} record", "{count} records")
    registered = result.entities is not None
    people = counted(result.entities or 0, study.subject)
    pictures = {
        "phases": phases_figure(result) if result.phases[-1].linked_so_far else None,
        "value": value_figure(result.exposure("bayes"), study.currency) if registered else None,
    }
    return Page(
        title=text(
            "Who is behind each record: {many} and published totals", many=plural(study.subject)
        ),
        lead=f"{records}, {people}" if registered else records,
        findings=total_findings(result, study, pictures),
        tiles=tiles(result, study),
        actions=actions(result, study),
        sections=_sections(result, study),
        adversary=sentences(
            PUBLICATIONS,
            registered and REGISTER,
            ROUNDINGS[study.rounding],
            LEFT_OUT[study.none_bin],
            people=people,
            share=percentage(Fraction(study.left_out)),
        ),
        limits=sentences(
            *LIMITS, registered and THIS_REGISTER, result.solved < result.instances and LOWER_BOUNDS
        ),
        provenance=provenance,
        command="glasshouse totals campaign --study study.toml",
        method=text("after {source}, with exact windows instead of its tolerance", source=SOURCE),
        glossary=glossary(
            "adversary, value at risk", terms=(OF_CAMPAIGNS, registered and OF_REGISTERS)
        ),
    )


def tiles(result: CampaignResult, study: TotalsStudy) -> tuple[Tile, ...]:
    """Return who is named, what can be placed, and what a guess gains; where not all was solved, at least so much."""
    if is_contradicted(result):
        return ()
    settled, records = is_settled(result), counted(result.records, "record")
    linked = result.phases[-1].linked_so_far
    least = "" if settled or not linked else "≥ "
    placed = Tile(
        text("What can be placed"),
        f"{least}{share(linked, result.records)}",
        text(
            "{linked} of {records}: it is certain where they belong", linked=linked, records=records
        )
        if settled
        else text(
            "{linked} of {records}, at least: it is certain where they belong, and not everything is solved",
            linked=linked,
            records=records,
        ),
    )
    if result.entities is None:
        return (placed,)
    first, last = result.exposure("bayes")[0], result.exposure("bayes")[-1]
    people = counted(result.entities, study.subject)
    named = Tile(
        text("Who is named"),
        share(last.certain, result.records) if last.certain else text("nobody"),
        text(
            "{certain} of {records}: it is certain who, among {people}, is behind them",
            certain=last.certain,
            records=records,
            people=people,
        )
        if last.certain
        else text("with certainty, among {people}", people=people)
        if settled
        else text("with certainty so far, among {people}; not everything is solved", people=people),
    )
    before, after = (Fraction(step.chance).limit_denominator(10**12) for step in (first, last))
    guess = Tile(
        text("What a guess gains"),
        " → ".join(percentages(before, after)),
        text(
            "right guesses at who is behind a record, without and with the totals; in value: {before} → {after}",
            before=short_money(first.value_at_risk, study.currency),
            after=short_money(last.value_at_risk, study.currency),
        ),
    )
    return named, placed, guess


def actions(result: CampaignResult, study: TotalsStudy) -> tuple[Action, ...]:
    """Return what to do about what is certain, who may be behind it, and what is not solved."""
    campaign = "glasshouse totals campaign --study study.toml"
    steps = []
    if result.phases[-1].linked_so_far:
        steps.append(Action(publish_less(), command=campaign))
        if result.entities is None:
            steps.append(
                Action(
                    text(
                        "Find out how many can be named: add a register of who is where to the plan."
                    ),
                    command=campaign,
                )
            )
    if result.solved < result.instances:
        longer = f"{campaign} --seconds {2 * study.budget.seconds:.15g}"
        steps.append(Action(more_time(), command=longer))
    return tuple(steps)


def campaign_brief(result: CampaignResult, study: TotalsStudy) -> Brief:
    """Return what a terminal says of a campaign, phase by phase."""
    counts = {
        "groups": text("groups"),
        "instances": text("instances"),
        "solved": text("solved"),
        "linked_so_far": text("linked so far"),
        "exposed": text("named so far"),
    }
    titles = (*counts.values(), text("apart"))
    rows = [
        (
            phase.name,
            *(number(getattr(phase, count)) for count in counts),
            number(sum(apart.groups for apart in phase.apart)),
        )
        for phase in result.phases
    ]
    tables = [cell_table(text("phase"), titles, rows, text("By phase"))]
    if result.entities is not None:
        titles = (text("mean chance"), text("factor"), text("value at risk"), text("certain"))
        rows = [
            (
                step_label(step.name),
                number(step.chance, ".3g"),
                growth_factor(step.factor, 3),
                number(step.value_at_risk, ",.0f"),
                number(step.certain),
            )
            for step in result.exposure("bayes")
        ]
        title = text("What the adversary can name, by Bayes")
        tables.append(cell_table(text("she has"), titles, rows, title))
    return Brief(tuple(tables), total_findings(result, study))


def solution_brief(solution: Solution) -> Brief:
    """Return what a terminal says of one group: where each of its records can be, and what is proved of it."""
    findings = tuple(map(note, solution_sentences(solution)))
    if solution.status == "infeasible":
        return Brief((), findings)
    records = list(zip(solution.instance.package_names, solution.feasible_bins, strict=True))
    rows = [
        (name, _places_of(solution, record, bins))
        for record, (name, bins) in enumerate(records[:MOST_PACKAGES])
    ]
    heading = text("can be in") if solution.proved else text("not ruled out")
    blocks: list[str | Table] = [cell_table((text("record"), heading), (), rows)]
    if len(records) > MOST_PACKAGES:
        further = text_for(
            len(records) - MOST_PACKAGES,
            "… and {count} further record (--json tells all)",
            "… and {count} further records (--json tells all)",
        )
        blocks.append(further)
    return Brief(tuple(blocks), findings)


def _places_of(solution: Solution, package: int, bins: tuple[int, ...]) -> str:
    names = solution.instance.bin_names
    shares = None if solution.shares is None else solution.shares[package]
    labels = [
        names[place]
        if shares is None or len(bins) == 1
        else f"{names[place]} ({percentage(shares[place])})"
        for place in bins[:MOST_BINS]
    ]
    if len(bins) > MOST_BINS:
        more = len(bins) - MOST_BINS
        return text("{places} and {more} more", places=", ".join(labels), more=more)
    return ", ".join(labels)


def _sections(result: CampaignResult, study: TotalsStudy) -> tuple[Section, ...]:
    sections = [Section(text("By phase"), tables=(_phases(result),))]
    frame = result.to_frame()
    if len(frame):
        sections.append(
            Section(
                text("By complexity"),
                text(
                    "The complexity of an instance is log₁₀ of places to the power of records. A record counts in "
                    "every phase in which it was to be linked."
                ),
                (complexity_table(frame),),
            )
        )
    if result.entities is not None:
        by_bayes, by_rule = (
            _exposure(result.exposure(rule), study.currency) for rule in ("bayes", "uniform")
        )
        sections += [
            Section(text("What the adversary can name, by Bayes"), tables=(by_bayes,)),
            Section(
                text("What the adversary can name, by the published uniform rule"),
                tables=(by_rule,),
            ),
            places_section(result, study.subject, study.currency),
        ]
    reasons = {apart.reason for phase in result.phases for apart in phase.apart}
    if reasons:
        apart = Section(
            text("Groups that are set apart"),
            tables=(_apart(result, study.currency),),
            notes=sentences(*(EXPLAINED[known] for known in EXPLAINED if known in reasons)),
        )
        sections.append(apart)
    troubles = tuple(  # without the example, which may be of a record
        text(
            "{where}: {kind}: {count}.", where=trouble.where, kind=trouble.said, count=trouble.count
        )
        for trouble in result.troubles
    )
    publications = (_publications(result),)
    return (*sections, Section(text("The publications"), tables=publications, notes=troubles))


def _phases(result: CampaignResult) -> Table:
    counts = {
        "groups": text("groups"),
        "instances": text("instances"),
        "solved": text("solved"),
        "unique": text("one allocation"),
        "ambiguous": text("several allocations"),
        "unsolved": text("not solved"),
        "untried": text("untried"),
        "linked_so_far": text("records linked so far"),
        "exposed": text("records named so far"),
    }
    rows = (
        (Cell(phase.name), *(count_cell(getattr(phase, count)) for count in counts))
        for phase in result.phases
    )
    return cell_table(text("Phase"), list(counts.values()), rows)


def _exposure(steps: Sequence[ExposurePhase], currency: str | None) -> Table:
    titles = (
        text("mean chance"),
        text("factor"),
        text("value at risk"),
        text("named with certainty"),
        text("their value"),
    )
    rows = (
        (
            step_label(step.name),
            Cell(percentage(Fraction(step.chance)), exact=exactly(step.chance)),
            growth_factor(step.factor),
            exact_amount(step.value_at_risk, currency),
            count_cell(step.certain),
            exact_amount(step.certain_value, currency),
        )
        for step in steps
    )
    return cell_table(text("She has"), titles, rows)


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
    return cell_table((text("Phase"), text("reason")), titles, rows)


def _publications(result: CampaignResult) -> Table:
    counts = {
        "rows": text("rows used"),
        "read": text("rows read"),
        "filtered": text("rows filtered out"),
        "repeated": text("rows repeated"),
    }
    rows = (
        (Cell(str(publication["name"])), *(count_cell(int(publication[count])) for count in counts))
        for publication in result.publications
    )
    return cell_table(text("Publication"), list(counts.values()), rows)


ROUNDINGS = {
    "sum": marked(
        "She knows how the totals were rounded: the sums were, once, to within half a unit."
    ),
    "record": marked(
        "She knows how the totals were rounded: each record was, halves up, and then they were added up."
    ),
    "unknown": marked(
        "She does not know how the totals were rounded: each record may add half a unit to the error of a total."
    ),
}
"""What she knows of the rounding of the totals."""
PUBLICATIONS = marked(
    "The adversary has all publications of the plan: the records, one by one and without names, and the totals of "
    "places. She knows that the totals are those of these records."
)
REGISTER = marked(
    "She also has the register of all who may be behind a record, {people}, and knows in which places each of them is. "
    "Before she looks at the totals, all of them are equally likely to be behind a record."
)
LEFT_OUT = {
    False: marked("She knows that the totals hold every record, and nothing else."),
    True: marked(
        "She knows that the publisher of the totals may have left out records (she expects {share} of them to be), but "
        "has added none."
    ),
}
"""What she knows of records that are not in the totals, by whether there may be such."""
LIMITS = (
    marked(
        "Every place that is said to be certain is proved in whole numbers: no allocation of records to places that "
        "meets all totals puts the record elsewhere. If records, totals or rounding are not as assumed, it may be "
        "wrong."
    ),
    marked(
        "Whoever knows more than is assumed, such as a trader who recognises records of their own, may learn more than "
        "is said here."
    ),
)
THIS_REGISTER = marked(
    "The figures are those of this register: who is behind a record without being in it, or is in a place without "
    "being registered there, is not among those who can be named."
)
LOWER_BOUNDS = marked(
    "Not every instance is solved: of those that are not, she is only credited with what is proved, so that the "
    "figures are lower bounds."
)
OF_CAMPAIGNS = {
    marked("Instance"): marked(
        "A group of records and totals that agree in their keys, or a part of one."
    ),
    marked("Allocation"): marked(
        "A way to put every record of an instance into a place so that all totals are met."
    ),
    marked("Linked"): marked("The place of the record is certain."),
}
"""The words of every campaign, explained."""
OF_REGISTERS = {
    marked("Named"): marked("It is certain who is behind the record."),
    marked("By Bayes"): marked(
        "Her chance is that of her best guess; an allocation counts as often as there are ways to name who is behind "
        "each of its records."
    ),
    marked("Uniform rule"): marked(
        "As published: everybody in the places left open is as likely. It forgets how many allocations speak for "
        "which place, and so never exceeds the chance by Bayes."
    ),
}
"""Those of a campaign with a register of who is where."""
MOST_PLACES = 15
"""How many places the table has at most."""
FEW_THERE = marked(
    "A place with fewer than {smallest} {many}, or for which fewer than {smallest} records count, is not named, and "
    "neither is another where it takes that to cover it."
)
MOST_LISTED = marked(
    "Of {places} places that can be named the {listed} with most value at risk are listed."
)
NOWHERE = marked(
    "{records} records count for no place: no total was joined with them, or they may have been left out."
)


def places_section(result: CampaignResult, subject: str, currency: str | None) -> Section:
    """Return the places with the most value at risk, by phase.

    Not named are those of few, and as many others as it takes to cover them; where they cover each other they stand
    together.
    """
    rows = result.bins("bayes")
    steps = list(dict.fromkeys(row.step for row in rows if row.step.endswith(SOLVED)))
    last = [row for row in rows if steps and row.step == steps[-1]]
    places = [row for row in last if row.entities is not None]
    by_step = [{row.bin: row for row in rows if row.step == step} for step in steps]
    hidden = hidden_parts([(row.records, row.entities or 0) for row in places])
    named = [row for place, row in enumerate(places) if place not in hidden]
    few = [row for place, row in enumerate(places) if place in hidden]
    covered = cover_each_other([(row.records, row.entities or 0) for row in few])
    groups_of_rows = [*([row] for row in named[:MOST_PLACES]), *([few] if covered else [])]
    linked, exposed = (
        _certain_counts(places, groups_of_rows, count) for count in ("linked", "exposed")
    )
    listed = []
    for place_number, row in enumerate(named[:MOST_PLACES]):
        certain = (linked[place_number], exposed[place_number])
        at_steps = (step.get(row.bin) for step in by_step)
        at_risk = [
            NOTHING.text
            if place is None or place.records < smallest_cell()
            else hundredths(place.value_at_risk, currency)
            for place in at_steps
        ]
        listed.append(_place_row(row.bin or "", [row], at_risk, row.factor, certain, currency))
    groups = [Group(cell_rows(listed))]
    if covered:
        names = {row.bin for row in few}
        sums = (
            sum(row.value_at_risk for name, row in step.items() if name in names)
            for step in by_step
        )
        together = _place_row(
            text("{places} places that are not named, together", places=len(few)),
            few,
            [hundredths(at_risk, currency) for at_risk in sums],
            sum(row.factor * row.records for row in few) / sum(row.records for row in few),
            (linked[-1], exposed[-1]),
            currency,
        )
        groups.append(Group(cell_rows([together])))
    phases = (text("after {phase}", phase=step.removesuffix(SOLVED)) for step in steps)
    columns: tuple[str | Column, ...] = (
        *(plural(subject), text("records")),
        *under(text("value at risk"), text("before"), *phases),
        *(text("chance grows"), text("place certain"), text("named with certainty")),
    )
    nowhere = sum(row.records for row in last if row.entities is None)
    return Section(
        text("Where the value at risk is"),
        intro=text(
            "By Bayes. A record counts for the place of the best guess; several that are as good share it."
        ),
        tables=(group_table(text("Place"), columns, groups),),
        notes=sentences(
            bool(few) and FEW_THERE,
            len(named) > MOST_PLACES and MOST_LISTED,
            nowhere >= smallest_cell() and NOWHERE,
            smallest=smallest_cell(),
            many=plural(subject),
            places=len(named),
            listed=MOST_PLACES,
            records=number(nowhere, ",.0f"),
        ),
    )


def _place_row(
    label: str,
    rows: Sequence[BinExposed],
    at_risk: Sequence[str],
    factor: float,
    certain: tuple[str, str],
    currency: str | None,
) -> tuple[str, ...]:
    """Return the figures of one place, or of several together: the value at risk at every step and the rest."""
    return (
        label,
        number(sum(row.entities or 0 for row in rows)),
        number(sum(row.records for row in rows), ",.0f"),
        hundredths(sum(row.prior_value_at_risk for row in rows), currency),
        *at_risk,
        growth_factor(factor),
        *certain,
    )


def _certain_counts(
    places: Sequence[BinExposed], rows: Sequence[Sequence[BinExposed]], name: str
) -> list[str]:
    """Return how many are certain in each row; all of them together are told elsewhere."""
    counts = [sum(getattr(place, name) for place in row) for row in rows]
    whole = sum(getattr(place, name) for place in places)
    return column_counts(counts, rest=whole - sum(counts))


MOST_DIGITS = 15
"""A number with more digits is not written out."""
UNMET = {
    "records added": marked(
        "No allocation meets the totals: they hold more than all records together. Some records are not published, or "
        "the totals are of other records."
    ),
    "records left out": marked(
        "No allocation meets the totals: the records add up to more than they do. The totals leave out some records, "
        'for which the instance needs a bin of its own ("NONE"), or are of other records.'
    ),
    "rounding": marked(
        "No allocation meets the totals, though the sums of all records do. The totals were rounded in another way "
        "than the instance says, or are of other records."
    ),
}
"""What it means that no allocation meets the totals, by what the sums say."""
MET = {
    (True, True): marked(
        "{allocations} allocations meet the totals; in brackets, the share of them that has the record in that place."
    ),
    (True, False): marked("{allocations} allocations meet the totals."),
    (False, True): marked(
        "So many allocations meet the totals that their number has {digits} digits; in brackets, the share of them "
        "that has the record in that place."
    ),
    (False, False): marked(
        "So many allocations meet the totals that their number has {digits} digits."
    ),
}
"""How many allocations meet them, by whether they are few and whether shares are shown (--json has all digits)."""


def solution_sentences(solution: Solution, *, with_shares: bool = True) -> list[str]:
    """Say what all valid allocations of a group have in common, and what of it is proved.

    Args:
        solution: What was found.
        with_shares: Whether they stand below a table that has places, and shares in brackets.
    """
    if solution.reason is not None:
        return [translated(UNMET[solution.reason])]
    if not solution.proved:
        return _at_a_limit(solution)
    if solution.status == "unique":
        return [text("The place of every record is certain: only one allocation meets the totals.")]
    certain = text(
        "The place of {linked} of {records} records is certain.",
        linked=solution.linked,
        records=len(solution.feasible_bins),
    )
    if solution.allocations is None:
        return [
            certain,
            text(
                "It is proved that each record can be in each place that is shown, and in no other. How many "
                "allocations meet the totals was not counted: they are too many for the limits."
            ),
        ]
    few = solution.allocations < 10**MOST_DIGITS
    met = translated(
        MET[few, with_shares],
        allocations=solution.allocations if few else "",
        digits="" if few else _digits(solution.allocations),
    )
    return [certain, met]


def _digits(count: int) -> int:
    """Return how many digits a number has; writing it out is too long for Python beyond 4,300 of them.

    >>> _digits(10**30 - 1), _digits(10**30), len(str(10**30))
    (30, 31, 31)
    """
    digits = floor(log10(count))
    while count >= int(10**digits):
        digits += 1
    return digits


def _at_a_limit(solution: Solution) -> list[str]:
    records, places, _ = solution.instance.size
    places_left = [len(bins) for bins in solution.feasible_bins]
    return [
        text("The limit was met before everything was decided."),
        text(
            "Proved: no record is in a place that is not shown for it ({ruled_out} of {pairs} pairs of a record and a "
            "place are ruled out).",
            ruled_out=records * places - sum(places_left),
            pairs=records * places,
        ),
        text("Not proved: that each record can be in each place that is shown for it."),
        text("Not proved either: that any allocation meets the totals.")
        if solution.witness is None
        else text(
            "Proved, too: some allocation meets the totals. The place of {single} of {records} records, those with "
            "one place left, is therefore certain.",
            single=places_left.count(1),
            records=records,
        ),
    ]
