"""The report of a campaign against published totals: the page, its tables, and then its pictures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, isinf, log10
from typing import cast

import numpy as np
import pyarrow as pa

from glasshouse.disclosure import column_counts, cover_each_other, hidden_parts, smallest_cell
from glasshouse.language import exactly, marked, number, percentage, text, text_for
from glasshouse.measures.totals import is_settled
from glasshouse.reconstruction import BinExposed, CampaignResult, ExposurePhase, Solution
from glasshouse.report import vega
from glasshouse.report.cells import (
    NOTHING,
    cell_rows,
    cell_table,
    count_cell,
    float_cell,
    group_table,
    money_cell,
    percent_cell,
    under,
)
from glasshouse.report.charts import PER_CENT, TARGETS, figure_of, keyed, plot, titled, wrapped
from glasshouse.report.glossary import glossary
from glasshouse.report.page import (
    Action,
    Brief,
    Cell,
    Column,
    Figure,
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
from glasshouse.report.totals.findings import (
    EXPLAINED,
    SOLVED,
    add_a_register,
    growth_factor,
    is_contradicted,
    more_time,
    publish_less,
    reason_label,
    short,
    short_money,
    solution_sentences,
    step_label,
    total_findings,
    unsettled,
)
from glasshouse.report.words import counted, hundredths, percentages, plural, sentences, share
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
        actions=tuple(actions(result)),
        sections=tuple(_sections(result, study)),
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
            "{linked} of {records}, at least: it is certain where they belong; {rest}",
            linked=linked,
            records=records,
            rest=unsettled(result),
        ),
    )
    if result.entities is None:
        return (placed,)
    first, last = result.exposure("bayes")[0], result.exposure("bayes")[-1]
    people = counted(result.entities, study.subject)
    named = Tile(
        text("Who is identified"),
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
        else text(
            "with certainty so far, among {people}; {rest}", people=people, rest=unsettled(result)
        ),
    )
    before, after = (Fraction(step.chance).limit_denominator(10**12) for step in (first, last))
    guess = Tile(
        text("What a guess gains"),
        " → ".join(percentages(before, after)),
        text(
            "correct guesses at who is behind a record, without and with the totals; in value: {before} → {after}",
            before=short_money(first.value_at_risk, study.currency),
            after=short_money(last.value_at_risk, study.currency),
        ),
    )
    return named, placed, guess


def actions(result: CampaignResult) -> Iterator[Action]:
    """Yield what to do about what is certain, who may be behind it, and what is not solved."""
    campaign = "glasshouse totals campaign --study study.toml"
    if result.phases[-1].linked_so_far:
        yield Action(publish_less(), command=campaign)
        if result.entities is None:
            yield Action(add_a_register(), command=campaign)
    if result.solved < result.instances:
        yield Action(more_time(), command=campaign)


def campaign_brief(result: CampaignResult, study: TotalsStudy) -> Brief:
    """Return what a terminal says of a campaign, phase by phase."""
    counts = {
        "groups": text("groups"),
        "instances": text("instances"),
        "solved": text("solved"),
        "linked_so_far": text("linked so far"),
        "exposed": text("identified so far"),
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
        title = text("What the adversary can identify, by Bayes")
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
            "… and {count} further record (--json shows all)",
            "… and {count} further records (--json shows all)",
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


def _sections(result: CampaignResult, study: TotalsStudy) -> Iterator[Section]:
    yield Section(text("By phase"), tables=(_phases(result),))
    frame = result.to_frame()
    if len(frame):
        yield Section(
            text("By complexity"),
            text(
                "The complexity of an instance is log₁₀ of places to the power of records. A record counts in every "
                "phase in which it was to be linked."
            ),
            (complexity_table(frame),),
        )
    if result.entities is not None:
        by_bayes, by_rule = (
            _exposure(result.exposure(rule), study.currency) for rule in ("bayes", "uniform")
        )
        yield Section(text("What the adversary can identify, by Bayes"), tables=(by_bayes,))
        yield Section(
            text("What the adversary can identify, by the published uniform rule"),
            tables=(by_rule,),
        )
        yield places_section(result, study.subject, study.currency)
    reasons = {apart.reason for phase in result.phases for apart in phase.apart}
    if reasons:
        yield Section(
            text("Groups that are set apart"),
            tables=(_apart(result, study.currency),),
            notes=sentences(*(EXPLAINED[known] for known in EXPLAINED if known in reasons)),
        )
    troubles = tuple(  # without the example, which may be of a record
        text(
            "{where}: {kind}: {count}.", where=trouble.where, kind=trouble.said, count=trouble.count
        )
        for trouble in result.troubles
    )
    yield Section(text("The publications"), tables=(_publications(result),), notes=troubles)


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
        "exposed": text("records identified so far"),
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
        text("identified with certainty"),
        text("their value"),
    )
    rows = (
        (
            step_label(step.name),
            Cell(percentage(Fraction(step.chance)), exact=exactly(step.chance)),
            growth_factor(step.factor),
            money_cell(step.value_at_risk, currency),
            count_cell(step.certain),
            money_cell(step.certain_value, currency),
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
            money_cell(apart.value, currency),
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
        "Someone who knows more than is assumed, such as a trader who recognises records of their own, may "
        "learn more than is said here."
    ),
)
THIS_REGISTER = marked(
    "The figures are those of this register: someone who is behind a record without being in it, or is "
    "in a place without being registered there, is not among those who can be identified."
)
LOWER_BOUNDS = marked(
    "Not every instance is solved: for those that are not, only what is proved is counted, so the "
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
    marked("Identified"): marked("It is certain who is behind the record."),
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
        *(text("chance grows"), text("place certain"), text("identified with certainty")),
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


# The pictures


WIDE = 50
"""Values that differ by a greater factor are drawn on a logarithmic axis."""
EDGES = (0, 1, 2, 4, 8, 12, 24, 36, 50, inf)
"""The limits between the rows of complexity."""
SETTLED = ("unique", "ambiguous", "infeasible")
"""What instances come to that are solved exactly."""
ORANGE, BLUE = TARGETS[0][0], TARGETS[1][0]
LEAST_STEPS = 2
"""Of fewer steps there is nothing to be compared."""
LETTERS = 16
"""So many letters fit into a line at the left of a picture."""
ROOM = {"left": 16, "top": 5, "right": 10, "bottom": 5}
"""Around a picture with long labels at its left and figures at its right."""
_LINE = "\u2003"


def value_figure(steps: Sequence[ExposurePhase], currency: str | None) -> Figure | None:
    """Return the picture of what an adversary is expected to name rightly, by what she has; None: always the same."""
    drawn = [
        step
        for place, step in enumerate(steps)
        if place == 0 or short(step.value_at_risk) != short(steps[place - 1].value_at_risk)
    ]
    if len(drawn) < LEAST_STEPS:
        return None
    return figure_of(
        value_at_risk(drawn, currency),
        label=text("Value at risk by what the adversary has"),
        caption=text(
            "Each mark: what the adversary has so far. “Joined”: she has put the records beside the totals with the "
            "same keys, and knows which places take part. “Solved”: she has ruled out every place that no allocation "
            "of the records to the totals admits. Steps that change nothing are in the table only."
        ),
        table=cell_table(
            text("She has"),
            [text("Value at risk")],
            ((step_label(step.name), money_cell(step.value_at_risk, currency)) for step in steps),
        ),
    )


def value_at_risk(steps: Sequence[ExposurePhase], currency: str | None) -> vega.Chart:
    """Show what an adversary is expected to name rightly, by what she has."""
    labels = [_LINE.join(wrapped(step_label(step.name), LETTERS)) for step in steps]
    values = [step.value_at_risk for step in steps]
    rows = [
        {"step": label, "value": value, "label": short(value)}
        for label, value in zip(labels, values, strict=True)
    ]
    before, after = values[0], values[-1]
    wide = min(values) > 0 and after > WIDE * before
    base = plot(rows).encode(
        y=_lines_of("step:N", labels),
        x=_value_axis(values, currency, wide=wide),
    )
    marks = (
        base.mark_point(color=ORANGE, filled=True, size=140, opacity=1)
        if wide
        else base.mark_bar(color=ORANGE, height=20)
    )
    figures = base.mark_text(align="left", dx=9 if wide else 5).encode(text="label:N")
    factor = short(after / before) if after > before > 0 else "1"
    title = (
        text("The totals put no more value at risk")
        if factor == "1"
        else text("With the totals {factor} times as much value is at risk", factor=factor)
    )
    subtitle = (
        text("what guesses would put down to the right name; the axis is logarithmic")
        if wide
        else text("what guesses would put down to the right name")
    )
    return vega.layer(marks, figures).properties(
        width=480,
        height=vega.Step(38),
        padding=ROOM,
        title=vega.Title(title, subtitle=wrapped(subtitle)),
    )


def _value_axis(values: Sequence[float], currency: str | None, *, wide: bool) -> vega.Part:
    title = (
        text("value at risk ({currency})", currency=currency) if currency else text("value at risk")
    )
    if not wide:
        ticks = _ticks(max(values))
        scale = vega.Scale(domain=[0, 1.4 * max(values) or 1.0], nice=False)  # marks are labelled
        return vega.X("value:Q", title=title, scale=scale, axis=_labelled(ticks))
    powers = _powers(min(values), max(values))
    scale = vega.Scale(type="log", domain=[powers[0], powers[-1]])
    return vega.X(
        "value:Q", title=title, scale=scale, axis=_labelled(powers[:: 1 + len(powers) // 8])
    )


def _labelled(ticks: Sequence[float]) -> vega.Part:
    """Return an axis with these figures on it, as the language writes large ones."""
    labels = "".join(
        f"datum.value == {tick!r} ? {json.dumps(short(tick), ensure_ascii=False)} : "
        for tick in ticks
    )
    return vega.Axis(values=list(ticks), labelExpr=f"{labels}''")


def _ticks(highest: float) -> list[float]:
    """Return round figures from 0 to about a number: three to six of them.

    >>> _ticks(34.0), _ticks(0.0), _ticks(1_700_000)
    ([0.0, 10.0, 20.0, 30.0], [0.0], [0.0, 500000.0, 1000000.0, 1500000.0])
    """
    if highest <= 0:
        return [0.0]
    power = 10.0 ** floor(log10(highest))
    step = next(part * power for part in (0.2, 0.5, 1.0, 2.0) if highest / (part * power) < 5)
    return [step * place for place in range(int(highest / step + 1e-9) + 1)]


def _lines_of(field: str, labels: Sequence[str]) -> vega.Part:
    """Return an axis of labels that may be of several lines."""
    axis = vega.Axis(labelExpr=f"split(datum.label, '{_LINE}')", labelPadding=6)
    return vega.Y(field, sort=list(labels), title=None, axis=axis)


def phases_figure(result: CampaignResult) -> Figure:
    """Show of which share of the records the place, and the name, is certain after each phase."""
    records = result.records
    placed, named = text("place certain"), text("identified with certainty")
    counts = {placed: "linked_so_far"} | ({named: "exposed"} if result.phases[-1].exposed else {})
    labels = [_LINE.join(wrapped(phase.name, LETTERS)) for phase in result.phases]
    rows = [
        {
            "phase": label,
            "what": what,
            "share": 100 * getattr(phase, count) / records,
            "label": share(getattr(phase, count), records),
        }
        for label, phase in zip(labels, result.phases, strict=True)
        for what, count in counts.items()
    ]
    base = plot(rows).encode(
        y=_lines_of("phase:N", labels),
        yOffset=vega.YOffset("what:N", sort=list(counts)),
        x=vega.X("share:Q", title=text("share of the records (%)"), scale=PER_CENT),
    )
    chart = vega.layer(
        base.mark_bar().encode(color=vega.Color("what:N", **keyed(list(counts), (BLUE, ORANGE)))),
        base.mark_text(align="left", dx=5, fontSize=12).encode(text="label:N"),
    )
    last = result.phases[-1]
    title = text(
        "After the last phase the place of {share} of the records is certain",
        share=share(last.linked_so_far, records),
    )
    numbers = (
        (Cell(phase.name), *(count_cell(getattr(phase, count)) for count in counts.values()))
        for phase in result.phases
    )
    return figure_of(
        titled(
            chart,
            title,
            text("by phase: each uses further totals"),
            width=480,
            height=vega.Step(22),
            padding=ROOM,
        ),
        label=text("Records whose place, or name, is certain after each phase"),
        caption=text("“Place certain”: one place only is left for the record."),
        table=cell_table(text("Phase"), list(counts), numbers),
    )


def complexity_table(instances: pa.Table) -> Table:
    """Return by how complex instances are: how many are solved, how many of their records linked, and how long it took.

    A record counts in every phase in which it was to be linked.
    """
    complexity, packages, linked, status, seconds = (
        np.array(instances[name].to_pylist())
        for name in ("complexity", "packages", "linked", "status", "seconds")
    )
    place = np.searchsorted(EDGES, complexity.astype(float), side="right") - 1
    place = np.clip(place, 0, len(EDGES) - 2)
    solved, times = np.isin(status, SETTLED), 1000 * seconds.astype(float)
    rows = []
    for bar, (low, high) in enumerate(pairwise(EDGES)):
        inside = place == bar
        if not inside.any():
            continue
        label = number(low, "g") + ("+" if isinf(high) else f"–{number(high, 'g')}")
        count, records = int(inside.sum()), int(packages[inside].sum())
        rows.append(
            (
                *(Cell(label), count_cell(count)),
                percent_cell(Fraction(int(solved[inside].sum()), count)),
                count_cell(records),
                percent_cell(Fraction(int(linked[inside].sum()), max(records, 1))),
                *(
                    float_cell(time, ",.2f")
                    for time in np.quantile(times[inside], [0.25, 0.5, 0.75]).tolist()
                ),
            )
        )
    titles: tuple[str | Column, ...] = (
        *(text("Instances"), text("Solved exactly"), text("Records"), text("Linked")),
        *under(
            text("CPU time (ms)"), text("lower quartile"), text("median"), text("upper quartile")
        ),
    )
    return cell_table(text("Complexity"), titles, rows)


def _powers(low: float, high: float) -> list[float]:
    """Return the powers of ten from one at most as large as the first number to one at least as large as the other.

    >>> _powers(0.5, 30)
    [0.1, 1.0, 10.0, 100.0]
    """
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]
