"""Releases side by side: which state, year or file gives away most, in sentences and in a table.

Parts of fewer people than a report shows with particular values are left out of both: their figures would be counts of
people, with the part's name beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from glasshouse.disclosure import is_shown, smallest_cell
from glasshouse.errors import printable
from glasshouse.language import exactly, localised, marked, number, text, text_for, translated
from glasshouse.microdata.family import LEAST_PARTS, Best, Family, FamilyRow
from glasshouse.microdata.family import Cell as FamilyCell
from glasshouse.report.cells import count_cell
from glasshouse.report.chances import frequency_range
from glasshouse.report.grading import graded
from glasshouse.report.lists import joined
from glasshouse.report.microdata.knowing import ratio
from glasshouse.report.page import Cell, Column, Finding, Group, Severity, Table
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    indefinite,
    percentage_points,
    plural,
    singular,
)

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
MOST_NAMED = 3
"""So many parts that stand out alike are all named."""


def shown_parts(family: Family) -> Family:
    """Return the family of those parts that a report may show: of as many records as the smallest cell, or more."""
    return replace(family, parts=tuple(part for part in family.parts if is_shown(part.records)))


def family_findings(
    family: Family, subject: str = "person", *, part: str = "part"
) -> tuple[Finding, ...]:
    """Return which part gives away most, whether numbers protect, and what changed or is enough.

    They speak of the largest number of quasi-identifiers, and of the secret about which the adversary gains most.

    Args:
        family: The releases.
        subject: What a record stands for.
        part: What the releases are to each other, such as ``state``, ``year`` or ``file``.
    """
    shown = shown_parts(family)
    if not shown.parts:
        return (_nothing_to_show(subject, part),)
    target = _most_exposed(shown)
    rows = shown.table(target).rows
    timed = shown.ordered and len(rows) > 1
    found = [
        _extremes(shown, target, subject, part),
        _by_number(shown, target, subject, part),
        _moved(shown, target) if timed else _small_set(shown, target, part),
    ]
    left_out = len(family.parts) - len(shown.parts)
    return (*found, *([_left_out(left_out, subject, part)] if left_out else []))


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
            *(_marked(each) for each in (row.prior, *row.additive)),
        )
        for row in table.rows
    )
    return Table(columns, (Group(rows),))


def what_she_guesses(sensitive: str | None) -> str:
    """Say what a guess is at: whose record it is, or a secret."""
    if sensitive is None:
        return text("whose record it is")
    return text("the {secret}", secret=enumeration([sensitive]))


def part_label(name: str) -> str:
    """Return the name of a part with every character visible; that without one is of missing values."""
    return printable(name) if name.strip() else text("(missing)")


def names_of(rows: Sequence[FamilyRow], say: Callable[[str], str] = part_label) -> str:
    """Name parts, or the first of many."""
    names = [say(row.part) for row in rows]
    if len(names) <= MOST_NAMED:
        return joined(names)
    return text_for(
        len(names) - 1,
        "{first} and {count} other",
        "{first} and {count} others",
        first=names[0],
    )


def most(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Return the parts that leak most with all that was attacked with; none where all leak the same."""
    return [row for row in rows if row.additive[-1].highest]


def least(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Return the parts that leak least; none where all leak the same."""
    return [row for row in rows if row.additive[-1].lowest]


def _nothing_to_show(subject: str, part: str) -> Finding:
    return Finding(
        Severity.NOTE,
        text(
            "There is no {part} with at least {people}: nothing can be said of one without pointing at someone.",
            part=singular(part),
            people=counted(smallest_cell(), subject),
        ),
    )


def _left_out(count: int, subject: str, part: str) -> Finding:
    return Finding(
        Severity.NOTE,
        text_for(
            count,
            "{parts} with fewer than {people} is not shown: the figures would point at someone.",
            "{parts} with fewer than {people} each are not shown: the figures would point at someone.",
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


def _extremes(family: Family, target: str | None, subject: str, part: str) -> Finding:
    rows = family.table(target).rows
    knowing, goal = _knowledge(family, target, subject), what_she_guesses(target)
    if not most(rows):
        return _alike(rows, target, knowing, part)
    first, last = most(rows)[0], least(rows)[0]
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
            higher=frequency(_after(first)),
            people=plural(subject),
            first=part_label(first.part),
            lower=frequency(_after(last)),
            last=part_label(last.part),
        ),
        figure=f"{_figure(first)}; {_figure(last)}",
        meaning=text(
            "Every part is judged by itself: people of the first are exposed more than those of the last to whoever "
            "knows the same of them."
        ),
        remedy=text(
            "Where few parts stand out, it may be enough to publish less detail of these alone."
        ),
    )


def _alike(rows: Sequence[FamilyRow], target: str | None, knowing: str, part: str) -> Finding:
    """Say what is added where no part stands out."""
    row = rows[0]
    parts = {
        "part": singular(part),
        "knowing": knowing,
        "goal": what_she_guesses(target),
        "points": percentage_points(row.additive[-1].value),
    }
    if len(rows) == 1:
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
    return Finding(Severity.SAFE if nothing else _grade(row, target), sentence, figure=_figure(row))


def _grade(row: FamilyRow, target: str | None) -> Severity:
    """Return how much a part should worry: naming by its success, a secret by what is added to it."""
    return graded(_after(row) if target is None else row.additive[-1].value)


def _after(row: FamilyRow) -> Fraction:
    return row.prior.value + row.additive[-1].value


def _figure(row: FamilyRow) -> str:
    return text(
        "{part}: prior {prior}, posterior {posterior}",
        part=part_label(row.part),
        prior=ratio(row.prior.value),
        posterior=ratio(_after(row)),
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


def _moved(family: Family, target: str | None) -> Finding:
    """Say how the leakage changed from the first part to the last, and where the largest step was."""
    change = family.change(target)[-1]
    parts = {
        "first": part_label(change.first),
        "last": part_label(change.last),
        "goal": what_she_guesses(target),
        "after": percentage_points(change.after),
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
            before=percentage_points(change.before),
            **parts,
        )
    else:
        sentence = text(
            "From {first} to {last}, what the attributes add to the success of a guess at {goal} fell from {before} to "
            "{after} percentage points.",
            before=percentage_points(change.before),
            **parts,
        )
    figure = f"{ratio(change.before)} → {ratio(change.after)}"
    return Finding(Severity.NOTE, sentence, figure=figure, meaning=_largest_step(family, target))


def _largest_step(family: Family, target: str | None) -> str:
    change = family.change(target)[-1]
    if len(family.parts) == 2 or not change.step:
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


def _small_set(family: Family, target: str | None, part: str) -> Finding:
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
    priors = [each.of(target)[-1].leakage.prior for each in family.parts]
    return Finding(Severity.NOTE, _priors(min(priors), max(priors), target, part))


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


def _priors(lowest: Fraction, highest: Fraction, target: str | None, part: str) -> str:
    parts = {"goal": what_she_guesses(target), "frequency": frequency_range(lowest, highest)}
    if frequency(lowest) == frequency(highest):
        return text(
            "Without knowing anything of a person, a guess at {goal} is right for {frequency}.",
            **parts,
        )
    return text(
        "Without knowing anything of a person, a guess at {goal} is right for {frequency}, depending on the {part}.",
        part=singular(part),
        **parts,
    )


def _marked(figure: FamilyCell) -> Cell:
    mark = " ▲" if figure.highest else " ▼" if figure.lowest else ""
    return Cell(f"{_per_cent(figure.value)}{mark}", exact=exactly(figure.value))


def _per_cent(value: Fraction) -> str:
    """Say a probability in per cent with two decimals that never round it to nothing or to everything."""
    if 0 < value < Fraction(5, 10**5):
        return text("< {figure} %", figure=localised("0.01"))
    if Fraction(99995, 10**5) < value < 1:
        return text("> {figure} %", figure=localised("99.99"))
    return text("{figure} %", figure=number(100 * float(value), ".2f"))
