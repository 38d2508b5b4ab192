"""Releases side by side, which state, year or file gives away most: in sentences, on a page, on a terminal.

What would point at few people is left out (see `shown_parts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from glasshouse.language import (
    decimal,
    marked,
    number,
    percentage,
    spoken,
    text,
    text_for,
    translated,
)
from glasshouse.microdata.parts import LEAST_PARTS, Family, FamilyCell
from glasshouse.report.assess.family_charts import (
    PartGuess,
    exactly_told,
    family_chart,
    family_chart_table,
    is_about_origin,
    least,
    most,
    names_of,
    part_guesses,
    part_label,
    points_apart,
    shown_parts,
    what_she_guesses,
)
from glasshouse.report.assess.front import sweeping
from glasshouse.report.attacks import METHOD, target_label
from glasshouse.report.cells import (
    NOTHING,
    cell_table,
    count_cell,
    group_table,
    percent_cell,
    under,
)
from glasshouse.report.charts import figure_of
from glasshouse.report.discretion import figure_between, least_told, ratio_between
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_label, value_label
from glasshouse.report.page import (
    Action,
    Brief,
    Cell,
    Figure,
    Finding,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    Tile,
    note,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    cases,
    counted,
    enumeration,
    indefinite,
    percentage_points,
    percentages,
    plural,
    sentences,
    short_names,
    singular,
    told_apart,
)
from glasshouse.study.assess import AssessStudy

DEGREES = (
    (
        0.4,
        marked("Larger {parts} are not better protected: they tend slightly to give away more."),
        marked("Larger {parts} are better protected: they tend slightly to give away less."),
    ),
    (
        0.6,
        marked("Larger {parts} are not better protected: they tend to give away more."),
        marked("Larger {parts} are better protected: they tend to give away less."),
    ),
    (
        0.8,
        marked("Larger {parts} are not better protected: they mostly give away more."),
        marked("Larger {parts} are better protected: they mostly give away less."),
    ),
    (
        float("inf"),
        marked("Larger {parts} are not better protected: they nearly always give away more."),
        marked("Larger {parts} are better protected: they nearly always give away less."),
    ),
)
"""What is said of a correlation below so much, positive and negative (the bounds of Evans 1996)."""
HARDLY = 0.2
"""A correlation below this is hardly one (Evans 1996)."""
FEW_PARTS = 10
"""Over fewer parts than this a correlation may well be chance."""
ADVERSARY = (
    marked(
        "Every part is a release of its own: the adversary knows to which part the person belongs, knows that the "
        "person’s record is in it, and attacks that part alone."
    ),
    marked("For each number of facts, the worst ones for the people of that part are assumed."),
)
"""What the adversary is assumed to know."""
LIMITS = (
    marked("Every figure is an exact ratio of counts, or a bound of one; none is an estimate."),
    marked("Correlations are over the parts, and say nothing about causes."),
    marked(
        "Parts with fewer than {people} are left out of this report, and others where it takes that to cover them."
    ),
    marked(
        "Where a chance in a part would reveal that fewer than {smallest} people share a secret, or do not, "
        "or that all people of a small part do, it is shown as a bound: less than, or more than."
    ),
)
"""What must be known to judge the figures."""
HALF_IN_ONE = marked(
    "Knowing {known} alone already gives half or more of what {size} facts add to right guesses at {goal}."
)
HALF_IN_ALL = marked(
    "In all of the {parts}, knowing {known} alone already gives half or more of what {size} facts add to "
    "right guesses at {goal}."
)
HALF_IN_SOME = marked(
    "In {often} of the {parts}, knowing {known} alone already gives half or more of what {size} facts add to right "
    "guesses at {goal}."
)


def family_findings(
    family: Family,
    subject: str = "person",
    *,
    part: str = "part",
    exact: bool = False,
    pictures: Mapping[str | None, Figure] | None = None,
) -> tuple[Finding, ...]:
    """Return which part gives away most, whether numbers protect, and what changed or is enough.

    They speak of the largest number of quasi-identifiers: of who it is, and of the secret about which most is gained.

    Args:
        family: The releases.
        subject: What a record stands for.
        part: What the releases are to each other, such as ``state``, ``year`` or ``file``.
        exact: Whether small numbers of people are told as they are: for the analyst's own eyes.
        pictures: What shows a guess at who it is (None), and at each secret.
    """
    releases = family if exact else shown_parts(family)
    few = least_told(subject)
    if not releases.parts:
        return (_nothing_to_show(len(family.parts), few, part),)
    left_out, count = len(family.parts) - len(releases.parts), len(releases.parts)
    findings: list[Finding] = []
    by_target = {target: part_guesses(releases, target, exact=exact) for target in releases.targets}
    for target in dict.fromkeys((None, _most_exposed(by_target))):
        guesses = by_target[target]
        about: list[Finding] = []
        if releases.ordered and count > 1:
            about.append(_moved(releases, target, guesses))
        if not about or not {0, count - 1} >= _outstanding(guesses):
            knowing = _knowledge(releases, target, subject)
            about.append(
                _standing_out(releases, guesses, target, knowing, subject, part, alone=not left_out)
            )
        findings += [replace(about[0], picture=(pictures or {}).get(target)), *about[1:]]
    known = releases if exact else exactly_told(releases, target)
    findings += _by_number(known, target, subject, part, of=count)
    if not releases.ordered:
        findings += _small_set(known, target, guesses, part)
    if left_out:  # how many of them are small is not told, as that would narrow them down
        sentence = text(
            "{parts} are not shown: at least one of them has fewer than {people}, and the others are left out for the "
            "same reason, or so that no such number can be found by subtraction.",
            parts=counted(left_out, part),
            people=few,
        )
        findings.append(note(sentence))
    return tuple(findings)


def _outstanding(guesses: Sequence[PartGuess]) -> set[int]:
    """Return the places of the parts that give away most and least."""
    return {place for place, guess in enumerate(guesses) if guess.is_most or guess.is_least}


def _nothing_to_show(count: int, few: str, part: str) -> Finding:
    sentence = (
        text(
            "There is no {part} with at least {people}: nothing can be said about one without pointing at "
            "someone.",
            part=singular(part),
            people=few,
        )
        if count == 1
        else text(
            "None of the {parts} can be shown: at least one of them has fewer than {people}, and the figures of "
            "the others would reveal how many.",
            parts=counted(count, part),
            people=few,
        )
    )
    return note(sentence)


def _most_exposed(guesses: Mapping[str | None, Sequence[PartGuess]]) -> str | None:
    """Return the secret about which some part is told to give away most; without a secret, re-identification."""
    return max(
        filter(None, guesses),
        key=lambda name: max(guess.middle for guess in guesses[name]),
        default=None,
    )


def _knowledge(family: Family, target: str | None, subject: str) -> str:
    """Say what the adversary knows: the attributes, where they are the same ones in every part."""
    sets = {part.of(target)[-1].quasi_identifiers for part in family.parts}
    one = indefinite(subject)
    if len(sets) == 1:
        return text("{subject}'s {known}", subject=one, known=enumeration(next(iter(sets))))
    return text_for(
        family.sizes[-1],
        "the most telling fact about {subject}",
        "the {count} most telling facts about {subject}",
        subject=one,
    )


def _standing_out(
    family: Family,
    guesses: Sequence[PartGuess],
    target: str | None,
    knowing: str,
    subject: str,
    part: str,
    *,
    alone: bool,
) -> Finding:
    """Say which parts give away most and least, as far as what is told of them says so."""
    if most(guesses) and least(guesses):
        return _extremes(guesses, target, knowing, counted(len(guesses), part), family.by)
    if not any(guess.is_hidden for guess in guesses) or len(guesses) == 1:
        return _alike(guesses, target, knowing, part, alone=alone)
    exact = part_guesses(exactly_told(family, target), target)
    if most(exact):
        parts = _told_exactly(counted(len(exact), part), len(exact), len(guesses))
        return _extremes(exact, target, knowing, parts, family.by)
    return note(
        text(
            "Which {part} gives away most is not shown: most of them have only a bound, so that no small number "
            "of {people} can be worked out.",
            part=singular(part),
            people=plural(subject),
        )
    )


def _extremes(
    guesses: Sequence[PartGuess], target: str | None, knowing: str, parts: str, by: str | None
) -> Finding:
    """Say in which parts most and least is added, and how much; groups of people by origin are not ranked by name."""
    highest, lowest = most(guesses), least(guesses)
    first, last = highest[0], lowest[0]
    higher, lower = points_apart(first, last)
    words = {
        "parts": parts,
        "knowing": knowing,
        "goal": what_she_guesses(target),
        "higher": higher,
        "lower": lower,
        "first": first.change,
        "last": last.change,
    }
    if is_about_origin(by):
        sentence = text(
            "What knowing {knowing} adds to right guesses at {goal} differs by {column} ({parts}): from {lower} "
            "percentage points ({last}) to {higher} ({first}).",
            column=enumeration([by or ""]),
            **words,
        )
    else:
        sentence = text(
            "Of the {parts}, knowing {knowing} adds most to right guesses at {goal} in {most}, {higher} percentage "
            "points ({first}), and least in {least}, {lower} ({last}).",
            most=names_of([guess.name for guess in highest]),
            least=names_of([guess.name for guess in lowest]),
            **words,
        )
    return Finding(
        _grade(first, target),
        sentence,
        figure=f"{first.figure}; {last.figure}",
        meaning=text(
            "Each part is judged by itself: people in the first are more exposed than those in the last to "
            "anyone who knows the same about them."
        ),
        remedy=text(
            "Where few parts stand out, it may be enough to publish these alone in less detail."
        ),
    )


def _alike(
    guesses: Sequence[PartGuess], target: str | None, knowing: str, part: str, *, alone: bool
) -> Finding:
    """Say what is added where no part stands out; alone is a part where there are no others, shown or not."""
    guess = next((guess for guess in guesses if guess.is_hidden), guesses[0])
    if len(guesses) > 1:
        template = marked(
            "No {part} gives away more than another: in each of the {count}, knowing {knowing} adds {points} "
            "percentage points to right guesses at {goal}."
        )
    elif alone:
        template = marked(
            "There is one {part} only, {name}: knowing {knowing} adds {points} percentage points to right "
            "guesses at {goal}."
        )
    else:
        template = marked(
            "Only one {part} can be shown, {name}: knowing {knowing} adds {points} percentage points to right "
            "guesses at {goal}."
        )
    sentence = translated(
        template,
        part=singular(part),
        knowing=knowing,
        goal=what_she_guesses(target),
        points=guess.points,
        name=guess.name,
        count=len(guesses),
    )
    severity = Severity.SAFE if not any(guess.added) else _grade(guess, target)
    return Finding(severity, sentence, figure=guess.figure)


def _grade(guess: PartGuess, target: str | None) -> Severity:
    """Return how much a part should worry: naming by its success, a secret by what is added to it."""
    return graded(guess.after if target is None else guess.middle)


def _told_exactly(parts: str, count: int, of: int) -> str:
    """Return parts, and that they are those whose figures are told exactly where there are others."""
    return parts if count == of else text("{parts} with exact figures", parts=parts)


def _by_number(
    family: Family, target: str | None, subject: str, part: str, *, of: int
) -> list[Finding]:
    """Say whether more people means more protection, where that can be said of the parts told exactly."""
    count = len(family.parts)
    correlation = None if count < LEAST_PARTS else family.correlations(target)[-1].records
    if correlation is None:
        return []
    if abs(correlation) < HARDLY:
        template = marked(
            "Larger {parts} are not better protected: how many {people} {part} has and how much it gives away "
            "hardly go together."
        )
    else:
        more, less = next(both for bound, *both in DEGREES if abs(correlation) < bound)
        template = more if correlation > 0 else less
    noun = _told_exactly(plural(part), count, of)
    sentence = translated(template, people=plural(subject), parts=noun, part=indefinite(part))
    parts = _told_exactly(counted(count, part), count, of)
    chance = text("With only {parts} this may be chance.", parts=parts)
    return [note(sentence, meaning=chance if count < FEW_PARTS else "")]


def _moved(family: Family, target: str | None, guesses: Sequence[PartGuess]) -> Finding:
    """Say how the leakage changed from the first part to the last, and where the largest step was."""
    change = family.change(target)[-1]
    first, last = guesses[0], guesses[-1]
    is_hidden = any(guess.is_hidden for guess in guesses)
    (low, high), (least_after, most_after) = first.added, last.added
    if is_hidden and low <= most_after and least_after <= high:
        template = marked(
            "From {first} to {last}, what knowing the facts adds to right guesses at {goal} went from {before} to "
            "{after} percentage points."
        )
    elif not is_hidden and change.difference and first.points == last.points:
        template = marked(
            "From {first} to {last} what knowing the facts adds to right guesses at {goal} hardly changed: "
            "{after} percentage points."
        )
    elif not change.step:
        template = marked(
            "From {first} to {last} nothing changed: each time knowing the facts adds {after} percentage points to "
            "right guesses at {goal}."
        )
    elif change.difference == 0:
        template = marked(
            "In {last} knowing the facts adds as much to right guesses at {goal} as in {first}: {after} percentage "
            "points, though it was different in between."
        )
    elif change.difference > 0:
        template = marked(
            "From {first} to {last}, what knowing the facts adds to right guesses at {goal} rose from {before} to "
            "{after} percentage points."
        )
    else:
        template = marked(
            "From {first} to {last}, what knowing the facts adds to right guesses at {goal} fell from {before} to "
            "{after} percentage points."
        )
    sentence = translated(
        template,
        first=first.name,
        last=last.name,
        goal=what_she_guesses(target),
        before=first.points,
        after=last.points,
    )
    largest = ""
    if len(guesses) > 2 and change.step and not is_hidden:
        largest = translated(
            marked("The largest step was from {before} to {after}: up {points} percentage points.")
            if change.step > 0
            else marked(
                "The largest step was from {before} to {after}: down {points} percentage points."
            ),
            points=percentage_points(change.step),
            before=part_label(change.step_from),
            after=part_label(change.step_to),
        )
    worst = max(guesses, key=lambda guess: guess.after if target is None else guess.middle)
    figure = " → ".join(ratio_between(*guess.added) for guess in (first, last))
    grade = _grade(worst, target) if any(worst.added) else Severity.SAFE
    return Finding(grade, sentence, figure, largest)


def _small_set(
    family: Family, target: str | None, guesses: Sequence[PartGuess], part: str
) -> list[Finding]:
    """Name a smaller set that gives half of the leakage or more in most parts; else say what the priors are."""
    by_part = [release.of(target) for release in family.parts]
    for place in range(len(family.sizes) - 1):
        enough = Counter(
            best[place].quasi_identifiers
            for best in by_part
            if 2 * best[place].leakage.additive >= best[-1].leakage.additive > 0
        )
        known, often = next(iter(enough.most_common(1)), ((), 0))
        if 2 * often > len(by_part):
            template = HALF_IN_ONE if len(guesses) == 1 else HALF_IN_SOME
            sentence = translated(
                HALF_IN_ALL if often == len(by_part) > 1 else template,
                known=enumeration(known),
                size=number(family.sizes[-1]),
                goal=what_she_guesses(target),
                often=number(often),
                parts=_told_exactly(counted(len(by_part), part), len(by_part), len(guesses)),
            )
            return [note(sentence)]
    bounds = [guess.wording.bounds(guess.prior) for guess in guesses]
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    if low == 0 and high == 1:
        return []  # as much may be said of anything
    words = {"goal": what_she_guesses(target), "part": singular(part)}
    if low == 0 or high == 1:
        right = text("{figure}%", figure=figure_between(low, high, digits=1))
    elif len(set(percentages(low, high))) == 1:
        right = percentage(low)
    else:
        lower, higher = percentages(low, high)
        sentence = text(
            "Without knowing anything about a person, a guess at {goal} is right in {lower} to {higher} of "
            "cases, depending on the {part}.",
            lower=lower,
            higher=higher,
            **words,
        )
        return [note(sentence)]
    sentence = text(
        "Without knowing anything about a person, a guess at {goal} is right in {share} of cases.",
        share=right,
        **words,
    )
    return [note(sentence)]


def family_page(
    family: Family,
    *,
    subject: str,
    provenance: Provenance,
    part: str = "part",
    study: AssessStudy | None = None,
) -> Page:
    """Return the report of a family: sentences, a picture per target, and the parts side by side.

    Args:
        family: The releases.
        subject: What a record stands for.
        provenance: Where the figures come from.
        part: What a part is called, such as a state or a year.
        study: What was asked; None: no command is told.
    """
    releases = shown_parts(family)
    targets = family.targets if releases.parts else ()
    if not releases.parts:
        title = text("{parts}, which cannot be shown", parts=counted(len(family.parts), part))
    elif len(releases.parts) == 1:
        title = text("What {part} gives away", part=part_label(releases.parts[0].name))
    else:
        title = (
            text("{parts} side by side", parts=counted(len(releases.parts), part))
            if family.by is None
            else text("How risk differs by {column}", column=enumeration([family.by]))
        )
    pictures = {target: _picture(family, target, part) for target in targets}
    conclusions = family_findings(family, subject, part=part, pictures=pictures)
    placed = [finding.picture for finding in conclusions]
    sections = (
        *(_side_by_side(family, target) for target in targets),
        _correlations(releases, part),
        treatment_section(family.steps, missing_notes(family.missing)),
    )
    return Page(
        title=title,
        lead=text_for(family.records, "{count} record", "{count} records"),
        findings=conclusions,
        adversary=sentences(*ADVERSARY),
        limits=sentences(*LIMITS, people=least_told(subject)),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method=text(
            "{source}, on the outpatient records of Brazil; the attacks: {attacks}",
            source="Gonze, Lemes, Almeida, Gonçalves and Alvim 2025",
            attacks=METHOD,
        ),
        summary=_summary(releases, part) if releases.parts else "",
        tiles=_tiles(releases, part) if releases.parts else (),
        actions=_actions(family, study) if releases.parts else (),
        figures=tuple(
            figure for figure in pictures.values() if not any(figure is one for one in placed)
        ),
        sections=tuple(filter(None, sections)),
        glossary=glossary(
            "adversary, quasi-identifier, sensitive attribute, release, record, prior, vulnerability, leakage",
            "re-identification, attribute inference",
        ),
    )


def _summary(family: Family, part: str) -> str:
    """Say from how often to how often a guess at who it is is right over the parts."""
    chances = [guess.after for guess in part_guesses(family, None)]
    low, high = percentages(min(chances), max(chances))
    if low == high:
        return text(
            "With all facts known, a best guess at who it is would be right in {share} of cases.",
            share=low,
        )
    return text(
        "With all facts known, a best guess at who it is would be right in {low} to {high} of cases, depending on the "
        "{part}.",
        low=low,
        high=high,
        part=singular(part),
    )


def _tiles(family: Family, part: str) -> tuple[Tile, ...]:
    """Return how far the parts differ in naming and in the secret most at risk, and how little is enough."""
    tiles = [_range_tile(text("Who is at risk"), part_guesses(family, None), None, part)]
    target = _most_exposed({name: part_guesses(family, name) for name in family.targets})
    exact = exactly_told(family, target)
    if target is not None and exact.parts:
        guesses = part_guesses(exact, target)
        tiles.append(_range_tile(text("What is learned"), guesses, target, part))
    for place, size in enumerate(family.sizes[:-1]):
        half = [
            2 * best[place].leakage.additive >= best[-1].leakage.additive > 0
            for best in (release.of(None) for release in family.parts)
        ]
        if 2 * sum(half) > len(half):
            sentence = text_for(
                len(half),
                "of {size} already give half or more of what all of them add to correct identifications",
                "of {size} already give half or more of what all of them add to correct identifications, in {often} "
                "of {count} parts",
                size=family.sizes[-1],
                often=sum(half),
            )
            facts = text_for(size, "{count} fact", "{count} facts")
            tiles.append(Tile(text("How little is enough"), facts, sentence))
            break
    return tuple(tiles)


def _range_tile(title: str, guesses: Sequence[PartGuess], target: str | None, part: str) -> Tile:
    """Return from how often to how often a guess is right, or how many points are added, over the parts."""
    figures = [guess.after if target is None else guess.middle for guess in guesses]
    low, high = min(figures), max(figures)
    if target is None:
        lower, higher = percentages(low, high)
        sentence = text(
            "correct identifications with all facts known, across the {parts}", parts=plural(part)
        )
    else:
        lower, higher = told_apart(
            tuple(decimal(100 * figure, digits) for figure in (low, high)) for digits in (1, 2, 3)
        )
        sentence = text(
            "percentage points are added to correct guesses at {secret}, across the {parts}",
            secret=enumeration([target]),
            parts=plural(part),
        )
    return Tile(title, lower if lower == higher else f"{lower} – {higher}", sentence)


def _actions(family: Family, study: AssessStudy | None) -> tuple[Action, ...]:
    """Return what to do: to assess the worst file alone, or all parts together, which tells what to leave out."""
    if family.by is not None:
        sentence = text("Assess the whole file at once for advice on what to leave out.")
        return (Action(sentence, command=sweeping(study)),)
    worst = max(part_guesses(shown_parts(family), None), key=lambda guess: guess.after)
    sentence = text(
        "Begin with {part}, where a best guess at who it is would be right {cases}: assess it alone for "
        "advice on what to leave out.",
        part=worst.name,
        cases=cases(worst.after),
    )
    place = [part.name for part in family.parts].index(worst.row.part)
    alone = study and study.model_copy(update={"datasets": study.datasets[place : place + 1]})
    return (Action(sentence, command=sweeping(alone)),)


def _picture(family: Family, target: str | None, part: str) -> Figure:
    caption = text(
        "Grey: nothing is known about the person. Orange: all facts are. The table shows what fewer facts "
        "reveal."
    )
    if family.ordered:
        caption = text("Each line is the most telling set of that many facts, dataset by dataset.")
    guesses = part_guesses(shown_parts(family), target)
    chances = [guess.wording.told(chance) for guess in guesses for chance in guess.chances]
    if not all(chance.is_exact for chance in chances):
        caption += " " + text(
            "A chance that would reveal fewer than {smallest} people is drawn in the middle of what it may be."
        )
    return figure_of(
        family_chart(family, target, part=part),
        label=text("Right guesses at {goal}, part by part", goal=what_she_guesses(target)),
        caption=caption,
        table=family_chart_table(family, target),
    )


def _side_by_side(family: Family, target: str | None) -> Section:
    return Section(
        text("Part by part: {goal}", goal=what_she_guesses(target)),
        text(
            "In per cent: success before, and what the best set of that many facts adds to it. ▲ the highest of "
            "all parts, ▼ the lowest."
        ),
        (family_table(family, target),),
    )


def _correlations(family: Family, part: str) -> Section:
    """Return whether the parts that leak more are the larger ones, or those with the more uncertain secret."""

    def cell(coefficient: float | None) -> Cell:
        return NOTHING if coefficient is None else Cell(number(coefficient, "+.2f"))

    rows = {
        what_she_guesses(target): [
            (number(correlation.size), cell(correlation.records), cell(correlation.entropy))
            for correlation in exactly_told(family, target).correlations(target)
        ]
        for target in family.targets
    }
    titles = (text("With the number of records"), text("With the entropy of the secret"))
    return Section(
        text("Does size protect?"),
        text(
            "Pearson’s correlation, over the {parts} with exact figures, of what the best facts add: from −1 to "
            "+1; – where it is not defined, or there are fewer than three {parts}.",
            parts=plural(part),
        ),
        (group_table(text("Facts that she knows"), titles, rows),),
    )


def family_table(family: Family, sensitive: str | None = None) -> Table:
    """Return a family as a table: a row per part that may be shown, in per cent, marked where a figure stands out.

    Args:
        family: The releases.
        sensitive: The secret; by default re-identification.

    Raises:
        StudyError: The family has no such secret.
    """
    family = shown_parts(family)
    sizes = [f"+ {number(size)}" for size in family.table(sensitive).sizes]
    added = under(text("What the best facts add, by how many are known"), *sizes)
    guesses = part_guesses(family, sensitive)
    told = [
        [(cell, _told(*bounds)) for cell, bounds in _before_and_added(guess)] for guess in guesses
    ]
    rows = (
        (
            *(Cell(guess.name), count_cell(guess.row.records)),
            *(
                replace(shown, text=f"{shown.text} {mark}".rstrip())
                for (_, shown), mark in zip(figures, marks, strict=True)
            ),
        )
        for guess, figures, marks in zip(guesses, told, _marks(told), strict=True)
    )
    return cell_table(text("Part"), (text("Records"), text("Before"), *added), rows)


def _before_and_added(guess: PartGuess) -> Iterator[tuple[FamilyCell, tuple[Fraction, Fraction]]]:
    """Yield the chance before and what is added to it, each with what it is told to be between."""
    yield from zip((guess.row.prior, *guess.row.additive), guess.told, strict=True)


def _told(low: Fraction, high: Fraction) -> Cell:
    """Say a chance, or what it is between."""
    if low == high:
        return percent_cell(low)
    return Cell(text("{figure}%", figure=figure_between(low, high, digits=1)))


def _marks(rows: Sequence[Sequence[tuple[FamilyCell, Cell]]]) -> list[list[str]]:
    """Return what marks each figure of each row: that it is the highest of its column, or the lowest, also as shown."""

    def mark(figure: FamilyCell) -> str:
        return "▲" if figure.highest else "▼" if figure.lowest else ""

    columns = []
    for column in zip(*rows, strict=True):
        alike: dict[str, set[str]] = {}
        for figure, shown in column:
            alike.setdefault(shown.text, set()).add(mark(figure))
        columns.append(
            [mark(figure) if len(alike[shown.text]) == 1 else "" for figure, shown in column]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def part_noun(family: Family) -> str:
    """Return what a part is called: by the column, where that is a word."""
    if family.by is None:
        return "dataset"
    label = column_label(family.by)
    noun = label.replace("_", " ").lower()
    is_word = len(noun) > 3 and noun.replace(" ", "").isalpha()
    foreign = spoken() != "en" and label == family.by and singular(noun) == noun
    return noun if is_word and not foreign and not is_about_origin(family.by) else "group"


def with_labels(family: Family) -> Family:
    """Return a family whose parts are called by the labels of the values that they are of, or by short names."""
    names = [part.name for part in family.parts]
    by = family.by
    called = short_names(names) if by is None else [value_label([by], name) for name in names]
    parts = (replace(part, name=name) for part, name in zip(family.parts, called, strict=True))
    return replace(family, parts=tuple(parts))


def family_brief(family: Family, *, subject: str) -> Brief:
    """Return what a terminal says of parts side by side.

    Each file is a release of its own, and is told as it is; of a column's values only those are that a report may show.
    """
    part, exact = part_noun(family), family.by is None
    records = text_for(family.records, "{count} record", "{count} records")
    releases = family if exact else shown_parts(family)
    targets = releases.targets if releases.parts else ()
    return Brief(
        (
            f"{counted(len(family.parts), part)}, {records}",
            *treatment_blocks(family.steps, missing_notes(family.missing, exact=exact)),
            *(
                _terminal_table(releases, target, part_guesses(releases, target, exact=exact), part)
                for target in targets
            ),
            *([text("▲ highest, ▼ lowest")] if targets else []),
        ),
        family_findings(family, subject, part=part, exact=exact),
    )


def _terminal_table(
    family: Family, sensitive: str | None, guesses: Sequence[PartGuess], part: str
) -> Table:
    """Return the prior and the best additive leakage of every part, per number of quasi-identifiers."""
    title = text(
        "{target}: success before, and what the best 1, 2, … facts add (%)",
        target=target_label(() if sensitive is None else (sensitive,)),
    )
    told = [
        [
            (cell, Cell(figure_between(*bounds, digits=1)))
            for cell, bounds in _before_and_added(guess)
        ]
        for guess in guesses
    ]
    rows = [
        (
            guess.row.part,
            number(guess.row.records),
            *(
                f"{shown.text}{mark or ' '}"
                for (_, shown), mark in zip(figures, marks, strict=True)
            ),
        )
        for guess, figures, marks in zip(guesses, told, _marks(told), strict=True)
    ]
    sizes = (f"+{size}" for size in family.table(sensitive).sizes)
    return cell_table(singular(part), (text("records"), text("before"), *sizes), rows, title)
