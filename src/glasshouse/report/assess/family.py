"""Releases side by side, which state, year or file gives away most: in sentences, on a page, on a terminal.

What would point at few people is left out (see `shown_parts`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from glasshouse.disclosure import smallest_cell
from glasshouse.language import exactly, localised, marked, number, text, text_for, translated
from glasshouse.microdata.parts import LEAST_PARTS, Family, FamilyCell
from glasshouse.report.assess.family_charts import (
    PartGuess,
    exactly_told,
    family_chart,
    family_chart_table,
    least,
    most,
    names_of,
    part_guesses,
    part_label,
    shown_parts,
    what_she_guesses,
)
from glasshouse.report.attacks import METHOD, graded, target_label
from glasshouse.report.cells import NOTHING, cell_table, count_cell, group_table, under
from glasshouse.report.discretion import figure_between, frequency_between, ratio_between
from glasshouse.report.labels import column_label, value_label
from glasshouse.report.page import (
    Brief,
    Cell,
    Figure,
    Finding,
    Page,
    Provenance,
    Section,
    Severity,
    Table,
    note,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.words import (
    counted,
    decimal,
    enumeration,
    frequency,
    frequency_range,
    glossary,
    indefinite,
    percentage_points,
    plural,
    sentences,
    singular,
    told_apart,
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
ADVERSARY = (
    marked(
        "Every part is a release of its own: the adversary knows to which part the person belongs, knows that the "
        "person’s record is in it, and attacks that part alone."
    ),
    marked(
        "With so many attributes known, she knows those of the person that tell most in that part, exactly."
    ),
)
"""What the adversary is assumed to know."""
LIMITS = (
    marked("Every figure is an exact ratio of counts, or a bound of one; none is an estimate."),
    marked("Correlations are over the parts, and say nothing of causes."),
    marked(
        "Parts with fewer than {people} are left out of this report, and others where it takes that to cover them."
    ),
    marked(
        "Where a chance in a part would tell that fewer than {smallest} people share a secret, or do not, or that all "
        "people of a small part do, it is told as a bound: less than, or more than."
    ),
)
"""What must be known to judge the figures."""
HALF_IN_ONE = marked(
    "Knowing no more than {known} already gives half or more of what {size} attributes add to the success of a guess "
    "at {goal}."
)
HALF_IN_ALL = marked(
    "In each of the {parts}, knowing no more than {known} already gives half or more of what {size} attributes add to "
    "the success of a guess at {goal}."
)
HALF_IN_SOME = marked(
    "In {often} of the {parts}, knowing no more than {known} already gives half or more of what {size} attributes add "
    "to the success of a guess at {goal}."
)


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
    releases = family if exact else shown_parts(family)
    few = counted(smallest_cell(), subject)
    if not releases.parts:
        return (_nothing_to_show(len(family.parts), few, part),)
    target = _most_exposed(releases, exact=exact)
    guesses = part_guesses(releases, target, exact=exact)
    left_out = len(family.parts) - len(releases.parts)
    knowing = _knowledge(releases, target, subject)
    told = releases if exact else exactly_told(releases, target)
    findings = [
        _standing_out(releases, guesses, target, knowing, subject, part, alone=not left_out),
        _by_number(told, target, subject, part, of=len(guesses)),
    ]
    if releases.ordered and len(releases.parts) > 1:
        findings.append(_moved(releases, target, guesses))
    else:
        findings += _small_set(told, target, guesses, part)
    if left_out:  # how many of them are small is not told, as that would narrow them down
        sentence = text(
            "{parts} are not shown: at least one of them has fewer than {people}, and the others are left out for the "
            "same reason, or so that no such number can be found by subtraction.",
            parts=counted(left_out, part),
            people=few,
        )
        findings.append(note(sentence))
    return tuple(findings)


def _nothing_to_show(count: int, few: str, part: str) -> Finding:
    sentence = (
        text(
            "There is no {part} with at least {people}: nothing can be said of one without pointing at someone.",
            part=singular(part),
            people=few,
        )
        if count == 1
        else text(
            "None of the {parts} can be shown: at least one of them has fewer than {people}, and no figure of another "
            "may tell how many.",
            parts=counted(count, part),
            people=few,
        )
    )
    return note(sentence)


def _most_exposed(family: Family, *, exact: bool) -> str | None:
    """Return the secret about which some part is told to give away most; without a secret, re-identification."""
    return max(
        family.sensitive,
        key=lambda name: max(guess.middle for guess in part_guesses(family, name, exact=exact)),
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
    if not any(map(_is_hidden, guesses)) or len(guesses) == 1:
        return _alike(guesses, target, knowing, part, alone=alone)
    exact = part_guesses(exactly_told(family, target), target)
    if most(exact):
        parts = _told_exactly(counted(len(exact), part), len(exact), len(guesses))
        return _extremes(exact, target, knowing, parts, family.by)
    return note(
        text(
            "Which {part} gives away most is not told: for most of them only a bound is, so that no small number of "
            "{people} can be found.",
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
    higher, lower = _points_apart(first, last)
    words = {
        "parts": parts,
        "knowing": knowing,
        "goal": what_she_guesses(target),
        "higher": higher,
        "lower": lower,
        "first": _from_to(first),
        "last": _from_to(last),
    }
    if by is not None and is_about_origin(by):
        sentence = text(
            "How much knowing {knowing} adds to the right guesses at {goal} differs by {column}, among the {parts}: "
            "from {lower} percentage points ({last}) to {higher} ({first}).",
            column=enumeration([by]),
            **words,
        )
    else:
        sentence = text(
            "Of the {parts}, knowing {knowing} adds most to the right guesses at {goal} in {most}, by {higher} "
            "percentage points ({first}), and least in {least}, by {lower} ({last}).",
            most=names_of([guess.name for guess in highest]),
            least=names_of([guess.name for guess in lowest]),
            **words,
        )
    return Finding(
        _grade(first, target),
        sentence,
        figure=f"{_figure(first)}; {_figure(last)}",
        meaning=text(
            "Every part is judged by itself: people of the first are exposed more than those of the last to whoever "
            "knows the same of them."
        ),
        remedy=text(
            "Where few parts stand out, it may be enough to publish less detail of these alone."
        ),
    )


def _points_apart(first: PartGuess, last: PartGuess) -> tuple[str, ...]:
    """Say what is added in two parts, in percentage points that tell them apart."""
    if _is_hidden(first) or _is_hidden(last):
        return first.points, last.points
    sizes = [100 * guess.added[0] for guess in (first, last)]
    return told_apart(tuple(decimal(size, digits) for size in sizes) for digits in (1, 2, 3, 4))


def _from_to(guess: PartGuess) -> str:
    """Say how often a guess is right before and after, as far as it is told."""
    before, after = (guess.wording.cell(chance).text for chance in (guess.prior, guess.after))
    return f"{before} → {after}"


ORIGINS = frozenset(
    "race raca cor colour color ethnicity ethnic etnia religion religiao faith nationality nacionalidade origin origem "
    "caste tribe tribo".split()
)
"""Words that call a column one of people's origin or faith."""


def is_about_origin(column: str) -> bool:
    """Tell whether a column is about people's origin or faith: a ranking of such groups would be quoted alone.

    >>> is_about_origin("COR_RACA"), is_about_origin("native-country"), is_about_origin("state")
    (True, False, False)
    """
    plain = unicodedata.normalize("NFKD", column.lower()).encode("ascii", "ignore").decode()
    return not ORIGINS.isdisjoint(re.findall("[a-z]+", plain))


def _alike(
    guesses: Sequence[PartGuess], target: str | None, knowing: str, part: str, *, alone: bool
) -> Finding:
    """Say what is added where no part stands out; alone is a part where there are no others, shown or not."""
    guess = next(filter(_is_hidden, guesses), guesses[0])
    if len(guesses) > 1:
        template = marked(
            "No {part} gives away more than another: in each of the {count}, knowing {knowing} adds {points} "
            "percentage points to the success of a guess at {goal}."
        )
    elif alone:
        template = marked(
            "There is one {part} only, {name}: knowing {knowing} adds {points} percentage points to the success of a "
            "guess at {goal}."
        )
    else:
        template = marked(
            "Only one {part} can be shown, {name}: knowing {knowing} adds {points} percentage points to the success of "
            "a guess at {goal}."
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
    return Finding(severity, sentence, figure=_figure(guess))


def _grade(guess: PartGuess, target: str | None) -> Severity:
    """Return how much a part should worry: naming by its success, a secret by what is added to it."""
    return graded(guess.after if target is None else guess.middle)


def _is_hidden(guess: PartGuess) -> bool:
    low, high = guess.added
    return low < high


def _figure(guess: PartGuess) -> str:
    return text(
        "{part}: prior {prior}, posterior {posterior}",
        part=guess.name,
        prior=guess.wording.ratio(guess.prior),
        posterior=guess.wording.ratio(guess.after),
    )


def _told_exactly(parts: str, count: int, of: int) -> str:
    """Return parts, and that they are those whose figures are told exactly where there are others."""
    return parts if count == of else text("{parts} whose figures are told exactly", parts=parts)


def _by_number(family: Family, target: str | None, subject: str, part: str, *, of: int) -> Finding:
    """Say whether more people means more protection, of the parts told exactly among those that are shown."""
    count = len(family.parts)
    noun = _told_exactly(plural(part), count, of)
    correlation = None if count < LEAST_PARTS else family.correlations(target)[-1].records
    if count < LEAST_PARTS:
        template = marked(
            "Whether having more {people} protects cannot be said of fewer than {few} {parts}."
        )
    elif correlation is None and len({release.records for release in family.parts}) == 1:
        template = marked(
            "Whether having more {people} protects cannot be said: all {parts} have the same number of them."
        )
    elif correlation is None:
        template = marked(
            "Whether having more {people} protects cannot be said: all {parts} give away the same."
        )
    elif abs(correlation) < HARDLY:
        template = marked(
            "Having more {people} does not protect: how many {people} {part} has and how much it gives away hardly go "
            "together."
        )
    else:
        more, less = next(both for bound, *both in DEGREES if abs(correlation) < bound)
        template = more if correlation > 0 else less
    sentence = translated(
        template, people=plural(subject), parts=noun, part=indefinite(part), few=LEAST_PARTS
    )
    if correlation is None:
        return note(sentence)
    parts = _told_exactly(counted(count, part), count, of)
    chance = text("With only {parts} this may be chance.", parts=parts)
    value = number(correlation, "+.2f")
    figure = text("correlation {value} on a scale from −1 to +1", value=value)
    return note(sentence, figure, chance if count < FEW_PARTS else "")


def _moved(family: Family, target: str | None, guesses: Sequence[PartGuess]) -> Finding:
    """Say how the leakage changed from the first part to the last, and where the largest step was."""
    change = family.change(target)[-1]
    first, last = guesses[0], guesses[-1]
    is_hidden = any(map(_is_hidden, guesses))
    (low, high), (least_after, most_after) = first.added, last.added
    if is_hidden and low <= most_after and least_after <= high:
        template = marked(
            "From {first} to {last}, what the attributes add to the success of a guess at {goal} went from {before} to "
            "{after} percentage points."
        )
    elif not is_hidden and change.difference and first.points == last.points:
        template = marked(
            "From {first} to {last} what the attributes add to the success of a guess at {goal} hardly changed: "
            "{after} percentage points."
        )
    elif not change.step:
        template = marked(
            "From {first} to {last} nothing changed: each time the attributes add {after} percentage points to the "
            "success of a guess at {goal}."
        )
    elif change.difference == 0:
        template = marked(
            "In {last} the attributes add as much to the success of a guess at {goal} as in {first}: {after} "
            "percentage points, though it was different in between."
        )
    elif change.difference > 0:
        template = marked(
            "From {first} to {last}, what the attributes add to the success of a guess at {goal} rose from {before} to "
            "{after} percentage points."
        )
    else:
        template = marked(
            "From {first} to {last}, what the attributes add to the success of a guess at {goal} fell from {before} to "
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
    figure = " → ".join(ratio_between(*guess.added) for guess in (first, last))
    return note(sentence, figure, largest)


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
    right = (frequency_between if low == 0 or high == 1 else frequency_range)(low, high)
    template = (
        marked("Without knowing anything of a person, a guess at {goal} is right for {frequency}.")
        if len(set(bounds)) == 1 or right == frequency(high)
        else marked(
            "Without knowing anything of a person, a guess at {goal} is right for {frequency}, depending on the {part}."
        )
    )
    words = {"goal": what_she_guesses(target), "frequency": right, "part": singular(part)}
    return [note(translated(template, **words))]


def family_page(
    family: Family, *, subject: str, provenance: Provenance, part: str = "part"
) -> Page:
    """Return the report of a family: sentences, a picture per target, and the parts side by side.

    Args:
        family: The releases.
        subject: What a record stands for.
        provenance: Where the figures come from.
        part: What a part is called, such as a state or a year.
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
    sections = (
        *(_side_by_side(family, target) for target in targets),
        _correlations(releases, part),
        treatment_section(family.steps, missing_notes(family.missing)),
    )
    return Page(
        title=title,
        lead=text_for(family.records, "{count} record", "{count} records"),
        findings=family_findings(family, subject, part=part),
        adversary=sentences(*ADVERSARY),
        limits=sentences(
            *LIMITS, people=counted(smallest_cell(), subject), smallest=smallest_cell()
        ),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method=text(
            "{source}, on the outpatient records of Brazil; the attacks: {attacks}",
            source="Gonze, Lemes, Almeida, Gonçalves and Alvim 2025",
            attacks=METHOD,
        ),
        figures=tuple(_picture(family, target, part) for target in targets),
        sections=tuple(filter(None, sections)),
        glossary=glossary(
            "adversary, quasi-identifier, sensitive attribute, release, record, prior, vulnerability, leakage",
            "re-identification, attribute inference",
        ),
    )


def _picture(family: Family, target: str | None, part: str) -> Figure:
    caption = text(
        "At 0 she knows nothing of the person. Each further point is the best set of so many attributes."
    )
    guesses = part_guesses(shown_parts(family), target)
    if any(guess.wording.hides(*guess.chances) for guess in guesses):
        caption += " " + text(
            "A chance that would tell of fewer than {smallest} people is drawn in the middle of what it may be.",
            smallest=smallest_cell(),
        )
    return Figure.of(
        family_chart(family, target, part=part),
        label=text("Success of one guess at {goal}, part by part", goal=what_she_guesses(target)),
        caption=caption,
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
            "Pearson’s correlation, over the {parts} whose figures are told exactly, of what the best attributes add: "
            "from −1 to +1; – where it is not defined, or there are fewer than three {parts}.",
            parts=plural(part),
        ),
        (group_table(text("Attributes that she knows"), titles, rows),),
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
    added = under(text("What the best so many attributes add"), *sizes)
    rows = (
        (
            *(Cell(guess.name), count_cell(guess.row.records)),
            *(_marked(cell, *bounds) for cell, bounds in _before_and_added(guess)),
        )
        for guess in part_guesses(family, sensitive)
    )
    return cell_table(text("Part"), (text("Records"), text("Before"), *added), rows)


def _before_and_added(guess: PartGuess) -> Iterator[tuple[FamilyCell, tuple[Fraction, Fraction]]]:
    """Yield the chance before and what is added to it, each with what it is told to be between."""
    yield from zip((guess.row.prior, *guess.row.additive), guess.told, strict=True)


def _marked(figure: FamilyCell, low: Fraction, high: Fraction) -> Cell:
    mark = " ▲" if figure.highest else " ▼" if figure.lowest else ""
    if low == high:
        return Cell(f"{_per_cent(low)}{mark}", exact=exactly(low))
    bound = text("{figure}%", figure=figure_between(low, high, digits=2))
    return Cell(f"{bound}{mark}")


def _per_cent(value: Fraction) -> str:
    """Say a probability in per cent with two decimals that never round it to nothing or to everything."""
    if 0 < value < Fraction(5, 10**5):
        return text("< {figure}%", figure=localised("0.01"))
    if Fraction(99995, 10**5) < value < 1:
        return text("> {figure}%", figure=localised("99.99"))
    return text("{figure}%", figure=number(100 * float(value), ".2f"))


def part_noun(family: Family) -> str:
    """Return what a part is called: by the column, where that is a word."""
    if family.by is None:
        return "dataset"
    noun = column_label(family.by).replace("_", " ").lower()
    return noun if len(noun) > 3 and noun.replace(" ", "").isalpha() else "part"


def with_labels(family: Family) -> Family:
    """Return a family whose parts are called by the labels of the values that they are of."""
    if family.by is None:
        return family
    parts = (replace(part, name=value_label([family.by], part.name)) for part in family.parts)
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
            *(_terminal_table(releases, target, part=part, exact=exact) for target in targets),
            *([text("▲ highest, ▼ lowest")] if targets else []),
        ),
        family_findings(family, subject, part=part, exact=exact),
    )


def _terminal_table(family: Family, sensitive: str | None, *, part: str, exact: bool) -> Table:
    """Return the prior and the best additive leakage of every part, per number of quasi-identifiers."""
    title = text(
        "{target}: success before, and what the best 1, 2, … attributes add (%)",
        target=target_label(() if sensitive is None else (sensitive,)),
    )
    rows = [
        (
            guess.row.part,
            number(guess.row.records),
            *(
                f"{figure_between(*bounds, digits=2)}{'▲' if cell.highest else '▼' if cell.lowest else ' '}"
                for cell, bounds in _before_and_added(guess)
            ),
        )
        for guess in part_guesses(family, sensitive, exact=exact)
    ]
    sizes = (f"+{size}" for size in family.table(sensitive).sizes)
    return cell_table(singular(part), (text("records"), text("before"), *sizes), rows, title)
