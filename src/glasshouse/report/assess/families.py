"""Releases side by side: which state, year or file gives away most, in sentences.

What would point at few people is left out (see `glasshouse.report.assess.parts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from glasshouse.disclosure import smallest_cell
from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.microdata.family import LEAST_PARTS, Best, Family, FamilyRow
from glasshouse.report.assess.parts import (
    least,
    most,
    names_of,
    part_label,
    shown_parts,
    told_in,
    what_she_guesses,
)
from glasshouse.report.chances import frequency_range
from glasshouse.report.discretion import (
    Among,
    frequency_between,
    ratio_between,
)
from glasshouse.report.grading import graded
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import (
    counted,
    enumeration,
    frequencies,
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
