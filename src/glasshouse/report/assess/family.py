"""Releases side by side, which state, year or file gives away most: in sentences, on a page, on a terminal.

What would point at few people is left out (see `shown_parts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from glasshouse.disclosure import smallest_cell
from glasshouse.language import exactly, localised, marked, number, text, text_for, translated
from glasshouse.microdata.parts import LEAST_PARTS, Best, Family, FamilyCell, FamilyRow
from glasshouse.report.assess.family_charts import (
    family_chart,
    family_chart_table,
    hides_some,
    least,
    most,
    names_of,
    part_label,
    shown_parts,
    told_in,
    what_she_guesses,
)
from glasshouse.report.attacks import METHOD, graded, target_label
from glasshouse.report.cells import count_cell, text_table
from glasshouse.report.charts import frequency_range
from glasshouse.report.discretion import (
    Among,
    figure_between,
    frequency_between,
    ratio_between,
)
from glasshouse.report.page import (
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
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    frequencies,
    frequency,
    glossary,
    indefinite,
    percentage_points,
    plural,
    singular,
)
from glasshouse.table.treatment import Step

DEGREES = (
    (
        0.4,
        marked(
            "Having more {people} does not protect: the larger {parts} tend slightly to give away more."
        ),
        marked(
            "Having more {people} goes with more protection: the larger {parts} tend slightly to give away less."
        ),
    ),
    (
        0.6,
        marked("Having more {people} does not protect: the larger {parts} tend to give away more."),
        marked(
            "Having more {people} goes with more protection: the larger {parts} tend to give away less."
        ),
    ),
    (
        0.8,
        marked("Having more {people} does not protect: the larger {parts} mostly give away more."),
        marked(
            "Having more {people} goes with more protection: the larger {parts} mostly give away less."
        ),
    ),
    (
        float("inf"),
        marked(
            "Having more {people} does not protect: the larger {parts} nearly always give away more."
        ),
        marked(
            "Having more {people} goes with more protection: the larger {parts} nearly always give away less."
        ),
    ),
)
"""What is said of a correlation below so much, positive and negative (the bounds of Evans 1996)."""
HARDLY = 0.2
"""A correlation below this is hardly one (Evans 1996)."""
FEW_PARTS = 10
"""Over fewer parts than this a correlation may well be chance."""

_Told = Callable[[FamilyRow], Among]
"""Says how the chances in a part are told."""


def family_findings(
    family: Family, subject: str = "person", *, part: str = "part", exact: bool = False
) -> tuple[Finding, ...]:
    """Return which part gives away most, whether numbers protect, and what changed or is enough.

    They speak of the largest number of quasi-identifiers, and of the secret about which the adversary gains most.

    Args:
        family: The releases.
        subject: What a record stands for.
        part: What the releases are to each other, such as ``state``, ``year`` or ``file``.
        exact: Whether small numbers of people are told as they are: for the analyst's own eyes.
    """
    shown = family if exact else shown_parts(family)
    if not shown.parts:
        return (_nothing_to_show(len(family.parts), subject, part),)
    target = _most_exposed(shown)
    told = partial(told_in, sensitive=target, exact=exact)
    left_out = len(family.parts) - len(shown.parts)
    timed = shown.ordered and len(shown.parts) > 1
    found = [
        _extremes(shown, target, told, subject, part, alone=not left_out),
        _by_number(shown, target, subject, part),
        _moved(shown, target, told) if timed else _small_set(shown, target, told, part),
        _left_out(left_out, subject, part) if left_out else None,
    ]
    return tuple(finding for finding in found if finding is not None)


def _nothing_to_show(parts: int, subject: str, part: str) -> Finding:
    people = counted(smallest_cell(), subject)
    if parts == 1:
        sentence = text(
            "There is no {part} with at least {people}: nothing can be said of one without pointing at someone.",
            part=singular(part),
            people=people,
        )
    else:
        sentence = text(
            "None of the {parts} can be shown: at least one of them has fewer than {people}, and no figure of another "
            "may tell how many.",
            parts=counted(parts, part),
            people=people,
        )
    return Finding(Severity.NOTE, sentence)


def _left_out(count: int, subject: str, part: str) -> Finding:
    """Say how many parts are not shown; how many of them are small is not told, as that would narrow them down."""
    return Finding(
        Severity.NOTE,
        text(
            "{parts} are not shown: at least one of them has fewer than {people}, and the others are left out for the "
            "same reason, or so that no such number can be found by subtraction.",
            parts=counted(count, part),
            people=counted(smallest_cell(), subject),
        ),
    )


def _most_exposed(family: Family) -> str | None:
    """Return the secret about which some part gives away most; without a secret, re-identification."""
    return max(
        family.sensitive,
        key=lambda name: max(part.of(name)[-1].leakage.additive for part in family.parts),
        default=None,
    )


def _knowledge(family: Family, target: str | None, subject: str) -> str:
    """Say what the adversary knows: the attributes, where they are the same ones in every part."""
    sets = {part.of(target)[-1].quasi_identifiers for part in family.parts}
    person = indefinite(subject)
    if len(sets) == 1:
        return text("{person}'s {known}", person=person, known=enumeration(next(iter(sets))))
    return text_for(
        family.sizes[-1],
        "the most telling attribute of {person}",
        "the {count} most telling attributes of {person}",
        person=person,
    )


def _extremes(
    family: Family, target: str | None, told: _Told, subject: str, part: str, *, alone: bool
) -> Finding:
    """Say which parts give away most and least.

    Args:
        family: The parts that are shown.
        target: What is guessed.
        told: How chances are told.
        subject: What a record stands for.
        part: What a part is called.
        alone: Whether there are no other parts.
    """
    rows = family.table(target).rows
    knowing, goal = _knowledge(family, target, subject), what_she_guesses(target)
    if not most(rows):
        return _alike(rows, target, told, knowing, part, alone=alone)
    first, last = most(rows)[0], least(rows)[0]
    higher, lower = (told(each).frequency(_after(each)) for each in (first, last))
    if not any(told(each).hides(_after(each)) for each in (first, last)):
        higher, lower = frequencies(_after(first), _after(last))
    return Finding(
        _grade(first, target),
        text(
            "Of the {parts}, most is given away by {most} and least by {least}: someone who knows {knowing} "
            "guesses {goal} right for {higher} {people} in {first}, and for {lower} in {last}.",
            parts=counted(len(rows), part),
            most=names_of(most(rows)),
            least=names_of(least(rows)),
            knowing=knowing,
            goal=goal,
            higher=higher,
            people=plural(subject),
            first=part_label(first.part),
            lower=lower,
            last=part_label(last.part),
        ),
        figure=f"{_figure(first, told)}; {_figure(last, told)}",
        meaning=text(
            "Every part is judged by itself: people of the first are exposed more than those of the last to whoever "
            "knows the same of them."
        ),
        remedy=text(
            "Where few parts stand out, it may be enough to publish less detail of these alone."
        ),
    )


def _alike(
    rows: Sequence[FamilyRow],
    target: str | None,
    told: _Told,
    knowing: str,
    part: str,
    *,
    alone: bool,
) -> Finding:
    """Say what is added where no part stands out."""
    row = next((row for row in rows if _is_hidden(row, told)), rows[0])
    parts = {
        "part": singular(part),
        "knowing": knowing,
        "goal": what_she_guesses(target),
        "points": _points(row, told),
    }
    if len(rows) == 1 and not alone:
        sentence = text(
            "Only one {part} can be shown, {name}: knowing {knowing} adds {points} percentage points to the success of "
            "a guess at {goal}.",
            name=part_label(row.part),
            **parts,
        )
    elif len(rows) == 1:
        sentence = text(
            "There is one {part} only, {name}: knowing {knowing} adds {points} percentage points to the success of a "
            "guess at {goal}.",
            name=part_label(row.part),
            **parts,
        )
    else:
        sentence = text(
            "No {part} gives away more than another: in each of the {count}, knowing {knowing} adds {points} "
            "percentage points to the success of a guess at {goal}.",
            count=len(rows),
            **parts,
        )
    nothing = row.additive[-1].value == 0
    severity = Severity.SAFE if nothing else _grade(row, target)
    return Finding(severity, sentence, figure=_figure(row, told))


def _grade(row: FamilyRow, target: str | None) -> Severity:
    """Return how much a part should worry: naming by its success, a secret by what is added to it."""
    return graded(_after(row) if target is None else row.additive[-1].value)


def _after(row: FamilyRow) -> Fraction:
    return row.prior.value + row.additive[-1].value


def _points(row: FamilyRow, told: _Told) -> str:
    """Say what all attributes add in a part, in percentage points."""
    return told(row).points(row.prior.value, _after(row))


def _is_hidden(row: FamilyRow, told: _Told) -> bool:
    low, high = told(row).added(row.prior.value, _after(row))
    return low < high


def _figure(row: FamilyRow, told: _Told) -> str:
    return text(
        "{part}: prior {prior}, posterior {posterior}",
        part=part_label(row.part),
        prior=told(row).ratio(row.prior.value),
        posterior=told(row).ratio(_after(row)),
    )


def _by_number(family: Family, target: str | None, subject: str, part: str) -> Finding:
    """Say whether more people means more protection: the correlation of leakage with the number of records."""
    rows = family.table(target).rows
    people, parts = plural(subject), plural(part)
    if len(rows) < LEAST_PARTS:
        return Finding(
            Severity.NOTE,
            text(
                "Whether having more {people} protects cannot be said of fewer than {few} {parts}.",
                people=people,
                few=LEAST_PARTS,
                parts=parts,
            ),
        )
    found = family.correlations(target)[-1].records
    if found is None:
        return Finding(Severity.NOTE, _undefined(rows, people, parts))
    chance = (
        text("With only {parts} this may be chance.", parts=counted(len(rows), part))
        if len(rows) < FEW_PARTS
        else ""
    )
    return Finding(
        Severity.NOTE,
        _degree(found, people, parts, part),
        figure=text("correlation {value} on a scale from −1 to +1", value=number(found, "+.2f")),
        meaning=chance,
    )


def _undefined(rows: Sequence[FamilyRow], people: str, parts: str) -> str:
    if len({row.records for row in rows}) == 1:
        return text(
            "Whether having more {people} protects cannot be said: all {parts} have the same number of them.",
            people=people,
            parts=parts,
        )
    return text(
        "Whether having more {people} protects cannot be said: all {parts} give away the same.",
        people=people,
        parts=parts,
    )


def _degree(found: float, people: str, parts: str, part: str) -> str:
    if abs(found) < HARDLY:
        return text(
            "Having more {people} does not protect: how many {people} {part} has and how much it gives away hardly go "
            "together.",
            people=people,
            part=indefinite(part),
        )
    more, less = next(said for bound, *said in DEGREES if abs(found) < bound)
    return translated(more if found > 0 else less, people=people, parts=parts)


def _moved(family: Family, target: str | None, told: _Told) -> Finding:
    """Say how the leakage changed from the first part to the last, and where the largest step was."""
    change = family.change(target)[-1]
    rows = family.table(target).rows
    parts = {
        "first": part_label(change.first),
        "last": part_label(change.last),
        "goal": what_she_guesses(target),
        "after": _points(rows[-1], told),
    }
    if not change.step:
        sentence = text(
            "From {first} to {last} nothing changed: each time the attributes add {after} percentage points to the "
            "success of a guess at {goal}.",
            **parts,
        )
    elif change.difference == 0:
        sentence = text(
            "In {last} the attributes add as much to the success of a guess at {goal} as in {first}: {after} "
            "percentage points, though it was different in between.",
            **parts,
        )
    elif change.difference > 0:
        sentence = text(
            "From {first} to {last}, what the attributes add to the success of a guess at {goal} rose from {before} to "
            "{after} percentage points.",
            before=_points(rows[0], told),
            **parts,
        )
    else:
        sentence = text(
            "From {first} to {last}, what the attributes add to the success of a guess at {goal} fell from {before} to "
            "{after} percentage points.",
            before=_points(rows[0], told),
            **parts,
        )
    ends = (told(row).added(row.prior.value, _after(row)) for row in (rows[0], rows[-1]))
    return Finding(
        Severity.NOTE,
        sentence,
        figure=" → ".join(ratio_between(*end) for end in ends),
        meaning=_largest_step(family, target, told),
    )


def _largest_step(family: Family, target: str | None, told: _Told) -> str:
    change = family.change(target)[-1]
    of_step = [
        row
        for row in family.table(target).rows
        if row.part in (change.step_from, change.step_to) and _is_hidden(row, told)
    ]
    if len(family.parts) == 2 or not change.step or of_step:
        return ""
    parts = {
        "points": percentage_points(change.step),
        "before": part_label(change.step_from),
        "after": part_label(change.step_to),
    }
    if change.step > 0:
        return text(
            "The largest step was from {before} to {after}: up {points} percentage points.", **parts
        )
    return text(
        "The largest step was from {before} to {after}: down {points} percentage points.", **parts
    )


def _small_set(family: Family, target: str | None, told: _Told, part: str) -> Finding | None:
    """Name a smaller set that gives half of the leakage or more in most parts; else say what the priors are."""
    whole = len(family.parts)
    for place in range(len(family.sizes) - 1):
        enough = Counter(
            own[place].quasi_identifiers
            for own in (each.of(target) for each in family.parts)
            if _is_half(own[place], own[-1])
        )
        if enough and 2 * max(enough.values()) > whole:
            known, often = enough.most_common(1)[0]
            sentence = _enough(enumeration(known), often, family, target, part)
            return Finding(Severity.NOTE, sentence)
    rows = family.table(target).rows
    bounds = [told(row).bounds(row.prior.value) for row in rows]
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    if low == 0 and high == 1:
        return None  # as much may be said of anything
    alike = len({row.prior.value for row in rows}) == 1
    return Finding(Severity.NOTE, _priors(low, high, target, part, alike=alike))


def _is_half(fewer: Best, whole: Best) -> bool:
    return 2 * fewer.leakage.additive >= whole.leakage.additive > 0


def _enough(known: str, often: int, family: Family, target: str | None, part: str) -> str:
    whole = len(family.parts)
    parts = {
        "known": known,
        "size": number(family.sizes[-1]),
        "goal": what_she_guesses(target),
    }
    if whole == 1:
        return text(
            "Knowing no more than {known} already gives half or more of what {size} attributes add to the success of a "
            "guess at {goal}.",
            **parts,
        )
    if often == whole:
        return text(
            "In each of the {parts}, knowing no more than {known} already gives half or more of what {size} attributes "
            "add to the success of a guess at {goal}.",
            parts=counted(whole, part),
            **parts,
        )
    return text(
        "In {often} of the {parts}, knowing no more than {known} already gives half or more of what {size} attributes "
        "add to the success of a guess at {goal}.",
        often=often,
        parts=counted(whole, part),
        **parts,
    )


def _priors(
    lowest: Fraction, highest: Fraction, target: str | None, part: str, *, alike: bool
) -> str:
    told = frequency_between if lowest == 0 or highest == 1 else frequency_range
    parts = {"goal": what_she_guesses(target), "frequency": told(lowest, highest)}
    if alike or parts["frequency"] == frequency(highest):
        return text(
            "Without knowing anything of a person, a guess at {goal} is right for {frequency}.",
            **parts,
        )
    return text(
        "Without knowing anything of a person, a guess at {goal} is right for {frequency}, depending on the {part}.",
        part=singular(part),
        **parts,
    )


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


def family_table(family: Family, sensitive: str | None = None) -> Table:
    """Return a family as a table: a row per part that may be shown, in per cent, marked where a figure stands out.

    Args:
        family: The releases.
        sensitive: The secret; by default re-identification.

    Raises:
        StudyError: The family has no such secret.
    """
    table = shown_parts(family).table(sensitive)
    columns = (
        Column(text("Part")),
        Column(text("Records"), numeric=True),
        Column(text("Before"), numeric=True),
        *(
            Column(
                f"+ {number(size)}",
                numeric=True,
                under=text("What the best so many attributes add"),
            )
            for size in table.sizes
        ),
    )
    rows = tuple(
        (
            Cell(part_label(row.part)),
            count_cell(row.records),
            *_figures(row, told_in(row, sensitive)),
        )
        for row in table.rows
    )
    return Table(columns, (Group(rows),))


def _figures(row: FamilyRow, told: Among) -> list[Cell]:
    """Return the chance before and what is added to it, marked where they stand out."""
    prior = row.prior.value
    bounds = [told.bounds(prior), *(told.added(prior, prior + each.value) for each in row.additive)]
    return [
        _marked(figure, *told)
        for figure, told in zip((row.prior, *row.additive), bounds, strict=True)
    ]


def _marked(figure: FamilyCell, low: Fraction, high: Fraction) -> Cell:
    mark = " ▲" if figure.highest else " ▼" if figure.lowest else ""
    if low == high:
        return Cell(f"{_per_cent(low)}{mark}", exact=exactly(low))
    said = text("{figure} %", figure=figure_between(low, high, digits=2))
    return Cell(f"{said}{mark}")


def _per_cent(value: Fraction) -> str:
    """Say a probability in per cent with two decimals that never round it to nothing or to everything."""
    if 0 < value < Fraction(5, 10**5):
        return text("< {figure} %", figure=localised("0.01"))
    if Fraction(99995, 10**5) < value < 1:
        return text("> {figure} %", figure=localised("99.99"))
    return text("{figure} %", figure=number(100 * float(value), ".2f"))


def part_noun(family: Family) -> str:
    """Return what a part is called: by the column, where that is a word."""
    if family.by is None:
        return "dataset"
    noun = family.by.replace("_", " ").lower()
    return noun if len(noun) > 3 and noun.replace(" ", "").isalpha() else "part"


def family_brief(family: Family, *, subject: str) -> Brief:
    """Return what a terminal says of parts side by side.

    Each file is a release of its own, and is told as it is; of a column's values only those are that a report may show.
    """
    part, exact = part_noun(family), family.by is None
    records = text_for(family.records, "{count} record", "{count} records")
    shown = family if exact else shown_parts(family)
    targets = shown.targets if shown.parts else ()
    return Brief(
        (
            f"{counted(len(family.parts), part)}, {records}",
            *treatment_blocks(family.steps),
            *(_terminal_table(shown, target, part=part, exact=exact) for target in targets),
        ),
        family_findings(family, subject, part=part, exact=exact),
    )


def _terminal_table(family: Family, sensitive: str | None, *, part: str, exact: bool) -> Table:
    """Return the prior and the best additive leakage of every part, per number of quasi-identifiers."""
    title = text(
        "{target}: success before, and what the best 1, 2, … attributes add (%)",
        target=target_label(() if sensitive is None else (sensitive,)),
    )
    figures = family.table(sensitive)
    rows = []
    for row in figures.rows:
        shares, before = told_in(row, sensitive, exact=exact), row.prior.value
        bounds = [shares.bounds(before)]
        bounds += [shares.added(before, before + cell.value) for cell in row.additive]
        cells = map(_marked_figure, (row.prior, *row.additive), bounds)
        rows.append((row.part, number(row.records), *cells))
    sizes = (f"+{size}" for size in figures.sizes)
    return text_table(
        f"{title}; {text('▲ highest, ▼ lowest')}",
        singular(part),
        (text("records"), text("before"), *sizes),
        rows,
    )


def _marked_figure(cell: FamilyCell, bounds: tuple[Fraction, Fraction]) -> str:
    mark = "▲" if cell.highest else "▼" if cell.lowest else " "
    return f"{figure_between(*bounds, digits=2)}{mark}"
