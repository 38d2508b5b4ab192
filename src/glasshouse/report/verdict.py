"""The verdict on a release: what was measured, held against the conditions of a policy.

What a run measures does not depend on a policy and is kept with it, so that any policy can be held against it later. A
verdict is exact; a page, a terminal, ``check`` and JSON say the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from glasshouse.language import decimal, marked, number, percentage, text, text_for, translated
from glasshouse.measures.measurement import Measurement
from glasshouse.measures.verdict import OF_EVERY_RULE, Decision, Judgement, Verdict
from glasshouse.report.coverage import (
    columns_alike,
    coverage_sentences,
    secrets_sentence,
    unknown_coverage,
)
from glasshouse.report.page import Bullet, Cell, Column, Group, Ruling, Table
from glasshouse.report.words import enumeration, in_words
from glasshouse.study.assess import parse_person_secret
from glasshouse.study.policy import (
    BY_RECORDS,
    CAVEATS,
    MEASURES,
    NOT_FOR_EVERYBODY,
    OF_SYNTHETIC,
    Measure,
    PolicyCondition,
)

MOST_FAILED = 2
"""So many conditions that are not met are named with the verdict."""
MOST_UNMEASURED = 3
"""So many conditions are named that a command does not measure."""


HEADLINES = {
    Decision.STOP: marked("Do not publish as it is"),
    Decision.RESTRICT: marked("Publish only with changes or under restricted access"),
    Decision.OPEN: marked("Do not publish yet"),
    Decision.MEETS: marked("May be published"),
}
"""What a decision says, by a rule that is named with it; that something is safe is never said."""
SHARED = marked("May be shared with whom the rule is for")
"""What is said where a rule is met that is not for everybody."""
IN_PART = marked("Do not publish on this alone")
"""What is said where something other than the whole release was asked, and what was measured of the rule is met."""
COLOURS = {
    Decision.STOP: marked("Red (✗): fails even for restricted access."),
    Decision.OPEN: marked("Grey (?): it fails already, and not all was judged."),
    Decision.RESTRICT: marked("Amber (!): fails, except for restricted access."),
}
"""What the colour of a verdict means."""
UNTOLD = marked("Amber (!): fails; restricted access was judged in part.")
"""What amber means where only a part of the rule was measured."""


def ruling(verdict: Verdict, *, whole: bool = False) -> Ruling:
    """Return a verdict in words, in the language that is spoken.

    Args:
        verdict: The verdict.
        whole: Whether every condition is named that is not met, or was not measured, as where there is room for it.
    """
    policy = verdict.policy
    sources = dict.fromkeys(
        translated(judgement.condition.source)
        for judgement in verdict.judgements
        if judgement.condition.source
    )
    return Ruling(
        shown_decision(verdict),
        _headline(verdict),
        _tally(verdict),
        _conditions_table(verdict),
        tuple(_coverage_sentences(verdict, whole=whole)),
        tuple(filter(None, (translated(policy.excludes), *_sources(sources)))),
        tuple(_bullets(verdict)),
        tuple(columns_alike(verdict.coverage))
        if verdict.coverage is not None and verdict.is_of_release
        else (),
        is_of_part=not verdict.is_of_release and not verdict.failed,
    )


def shown_decision(verdict: Verdict) -> Decision:
    """Return the decision whose colour a verdict has: what fails is red or amber, also where the rest was not asked."""
    if verdict.is_of_release or not verdict.failed:
        return verdict.decision
    holds = all(
        judgement.condition.allows(judgement.measured.value, restricted=True)
        for judgement in verdict.judgements
    )
    return Decision.RESTRICT if holds else Decision.STOP


def _headline(verdict: Verdict) -> str:
    """Say the decision; where something else was asked than the whole release, never that it may be published."""
    if not verdict.is_of_release:
        return translated(HEADLINES[Decision.STOP] if verdict.failed else IN_PART)
    if verdict.decision is Decision.MEETS and verdict.policy.name in NOT_FOR_EVERYBODY:
        return translated(SHARED)
    return translated(HEADLINES[verdict.decision])


def _bullets(verdict: Verdict) -> Iterator[Bullet]:
    """Yield the conditions as bars: what is farthest beyond its limit first, and what was not judged last."""
    shown = [one for one in verdict.judgements if one.is_of_figures or not one.met]
    for judgement in sorted(shown, key=lambda one: (one.met, -bar_length(one.used))):
        yield Bullet(
            condition_words(judgement),
            value_words(judgement.measured),
            limit_words(judgement.condition, judgement.condition.limit),
            bar_length(judgement.used),
            judgement.met,
        )
    for condition in verdict.unjudged:
        limit = limit_words(condition, condition.limit)
        yield Bullet(measure_words(condition.measure), "", limit)


def bar_length(used: Fraction | None) -> float:
    """Return how long a bar is whose limit is at 1: what is far beyond it comes ever nearer to 2.

    >>> [bar_length(used) for used in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(50), None)]
    [0.0, 0.5, 1.0, 1.5, 1.98, 2.0]
    """
    if used is None:
        return 2.0
    return round(float(used if used <= 1 else 2 - 1 / used), 4)


def binding_words(binding: Judgement) -> str:
    """Say which condition is nearest to its limit, and what the rule asks there."""
    return text(
        "Tightest condition: {condition} (the rule: {limit}).",
        condition=condition_words(binding),
        limit=in_words(limit_words(binding.condition, binding.condition.limit)),
    )


def _tally(verdict: Verdict) -> str:
    """Say how many conditions of which rule were judged, and how many of them are not met."""
    of_figures: dict[tuple[PolicyCondition, str | None], bool] = {}
    for judgement in verdict.judgements:
        if judgement.is_of_figures:  # of several releases, all must meet a condition
            about = (judgement.condition, judgement.measured.of)
            of_figures[about] = of_figures.get(about, True) and judgement.met
    failed = sum(not met for met in of_figures.values())
    rule = verdict.policy.title
    judged = len({condition for condition, _ in of_figures})
    asked = judged + sum(condition not in OF_EVERY_RULE for condition in verdict.unjudged)
    if not verdict.is_of_release:
        return (
            text_for(
                judged,
                "{count} of {conditions} “{rule}” conditions was measured here, and is met",
                "{count} of {conditions} “{rule}” conditions were measured here, and all are met",
                conditions=asked,
                rule=rule,
            )
            if not failed
            else text_for(
                judged,
                "{count} of {conditions} “{rule}” conditions was measured here, and is not met",
                "{count} of {conditions} “{rule}” conditions were measured here, {failed} of them not met",
                conditions=asked,
                failed=failed,
                rule=rule,
            )
        )
    if failed == len(of_figures) > 1:
        tally = text(
            "it fails all {judged} “{rule}” conditions that were judged", judged=failed, rule=rule
        )
    elif failed:
        tally = text_for(
            len(of_figures),
            "it fails the only “{rule}” condition that was judged",
            "it fails {failed} of the {count} “{rule}” conditions that were judged",
            failed=failed,
            rule=rule,
        )
    else:
        tally = text_for(
            len(of_figures),
            "it passes the only “{rule}” condition that was judged",
            "it passes all {count} “{rule}” conditions that were judged",
            rule=rule,
        )
        if caveat := CAVEATS.get(verdict.policy.name):
            tally += "; " + translated(caveat)
    if verdict.unjudged:
        tally += "; " + text_for(
            judged,
            "{count} of {conditions} conditions was judged",
            "{count} of {conditions} conditions were judged",
            conditions=asked,
        )
    return tally


def _coverage_sentences(verdict: Verdict, *, whole: bool) -> Iterator[str]:
    """Yield what is not met, and what the verdict covers: the columns of the release, and what was not judged."""
    failed = [one for one in verdict.judgements if one.is_of_figures and not one.met]
    if failed:
        conditions = [
            text(
                "{condition}: {value} (rule: {limit})",
                condition=condition_words(judgement),
                value=_measured_words(judgement.measured),
                limit=in_words(limit_words(judgement.condition, judgement.condition.limit)),
            )
            for judgement in failed[: len(failed) if whole else MOST_FAILED]
        ]
        if (rest := len(failed) - len(conditions)) > 0:
            conditions.append(text_for(rest, "{count} further", "{count} further"))
        unmet = text("Not met: {conditions}.", conditions="; ".join(conditions))
        shown = shown_decision(verdict)
        is_part = shown is Decision.RESTRICT and not verdict.is_of_release
        colour = UNTOLD if is_part else COLOURS.get(shown, "")
        yield " ".join(filter(None, (unmet, colour and translated(colour))))
    if not verdict.is_of_release:
        if not failed:
            yield text("This part neither clears nor refuses the file.")
        names = list(dict.fromkeys(measure_words(one.measure) for one in verdict.unjudged))
        if (rest := len(names) - MOST_UNMEASURED) > 0 and not whole:
            names[MOST_UNMEASURED:] = [text_for(rest, "{count} further", "{count} further")]
        yield text(
            "Not measured here (glasshouse check does): {conditions}.",
            conditions="; ".join((text("other columns"), *names)),
        )
    elif verdict.coverage is not None:
        yield from coverage_sentences(verdict.coverage)
        if not verdict.coverage.unseen:
            yield _not_tried(verdict)
    elif not verdict.is_of_totals:
        yield unknown_coverage()
    elif all(one.condition.measure != "noise" for one in verdict.judgements):
        if secrets := dict.fromkeys(
            one.measured.of for one in verdict.judgements if one.measured.of
        ):
            yield secrets_sentence(secrets)
        yield text(
            "Not judged: guesses, and anything else that is published about the same people."
        )
    if verdict.unjudged and verdict.is_of_release:
        measures = dict.fromkeys(condition.measure for condition in verdict.unjudged)
        words = "; ".join(map(measure_words, measures))
        if verdict.lacking:
            yield text("Not judged, though the rule requires it: {conditions}.", conditions=words)
        else:
            yield text("Not judged: {conditions}.", conditions=words)


def _not_tried(verdict: Verdict) -> str:
    """Say what else an adversary may do with a release, of which no column and no condition tells."""
    if {one.condition.measure for one in verdict.judgements} & {
        "membership-certain",
        *OF_SYNTHETIC,
    }:
        return text("Not tried: adding other files.")
    return text("Not tried: telling who is in it, or adding other files.")


def measure_words(measure: Measure) -> str:
    """Say what a measure is about, of any sensitive attribute."""
    of = {"of": text("sensitive attribute")} if MEASURES[measure].of_secret else {}
    return translated(MEASURES[measure].words, **of)


def _sources(sources: Iterable[str]) -> Iterator[str]:
    listed = "; ".join(sources)
    if listed:
        yield text("Where the numbers come from: {sources}.", sources=listed)


def _conditions_table(verdict: Verdict) -> Table:
    judgements = verdict.judgements
    columns = (
        Column(text("Condition")),
        Column(text("Measured"), numeric=True),
        Column(text("Rule"), numeric=True),
        Column(text("Restricted access"), numeric=True),
        Column(text("Margin"), numeric=True),
        Column(text("Met")),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            Cell(condition_words(judgement)),
            Cell(value_words(judgement.measured)),
            Cell(limit_words(judgement.condition, judgement.condition.limit)),
            Cell(limit_words(judgement.condition, judgement.condition.restricted_limit)),
            Cell(margin_words(judgement)),
            Cell(text("yes") if judgement.met else text("no"), mark="✓" if judgement.met else "✗"),
        )
        for judgement in judgements
    ]
    rows += [
        (
            Cell(measure_words(condition.measure)),
            Cell("–"),
            Cell(limit_words(condition, condition.limit)),
            Cell(limit_words(condition, condition.restricted_limit)),
            Cell("–"),
            Cell(text("not judged"), mark="?"),
        )
        for condition in verdict.unjudged
    ]
    return Table(columns, (Group(tuple(rows)),), text("The conditions"))


def condition_words(judgement: Judgement) -> str:
    """Say what a condition is about: the measure, the sensitive attribute, whom, and which of several releases."""
    measured, condition = judgement.measured, judgement.condition
    words = translated(
        MEASURES[condition.measure].words,
        **(
            {"of": enumeration([measured.of])}
            if measured.of and MEASURES[condition.measure].of_secret
            else {}
        ),
    )
    if measured.knows is not None:
        words = text_for(
            measured.knows,
            "{measure}, by someone who knows any {count} fact",
            "{measure}, by someone who knows any {count} facts",
            measure=words,
        )
    if measured.records is not None:
        words = _with_known_records(words, measured)
    if measured.release:
        words = text("{measure} ({release})", measure=words, release=translated(measured.release))
    return words


def _with_known_records(words: str, measured: Measurement) -> str:
    """Say of how many records a measure is: those that somebody happens to know, some of them, or any of them."""
    about, figure = measured.people.startswith("~"), measured.people.removeprefix("~")
    people = text("fewer than {smallest}")
    if figure:
        people = number(int(figure))
        people = text("about {count}", count=people) if about else people
    if not measured.records:
        return text(
            "{measure}, by someone who knows all of their records ({people} people)",
            measure=words,
            people=people,
        )
    if measured.measure in BY_RECORDS:
        return text_for(
            measured.records,
            "{measure}: {count} record (of {people} people who have that many)",
            "{measure}: {count} records (of {people} people who have that many)",
            measure=words,
            people=people,
        )
    if measured.of is not None and parse_person_secret(measured.of).how == "other":
        return text_for(
            measured.records,
            "{measure}, by someone who happens to know {count} of their records (of {people} people who have "
            "more)",
            "{measure}, by someone who happens to know {count} of their records (of {people} people who have "
            "more)",
            measure=words,
            people=people,
        )
    return text_for(
        measured.records,
        "{measure}, by someone who happens to know {count} of their records (of {people} people who have "
        "that many)",
        "{measure}, by someone who happens to know {count} of their records (of {people} people who have "
        "that many)",
        measure=words,
        people=people,
    )


def value_words(measured: Measurement) -> str:
    """Say what was measured, as far as it is told."""
    if MEASURES[measured.measure].is_number:
        figure = number(int(measured.value))
        return f"≤ {figure}" if measured.is_bound else figure
    if measured.measure == "smallest-class":
        count = int(measured.value)
        if measured.is_bound and count == 1:
            return text("few")
        return f"≥ {number(count)}" if measured.is_bound else number(count)
    if MEASURES[measured.measure].in_points:
        share = text("{figure} points", figure=decimal(100 * measured.value, 1))
    else:
        share = percentage(measured.value)
    return f"≤ {share}" if measured.is_bound else share


def _measured_words(measured: Measurement) -> str:
    """Say in a sentence what was measured; a bound on the safe side is not what was found."""
    sign, _, figure = value_words(measured).partition(" ")
    if measured.is_bound and sign == "≤" and measured.value:
        return text("possibly up to {figure}", figure=figure)
    return in_words(value_words(measured))


def limit_words(condition: PolicyCondition, limit: Fraction | None) -> str:
    """Say what a condition asks: its limit, or the one for restricted access; a dash where nothing is asked."""
    if limit is None:
        return "–"
    if condition.is_floor:
        return f"≥ {number(int(limit))}"
    if MEASURES[condition.measure].is_number:
        return f"≤ {number(int(limit))}"
    figure = number(100 * float(limit), ".4g")
    points = MEASURES[condition.measure].in_points
    return f"≤ {text('{figure} points', figure=figure) if points else text('{figure}%', figure=figure)}"


def margin_words(judgement: Judgement) -> str:
    """Say how far a value is on the right side of its limit, or, with a minus, on the wrong one."""
    margin = judgement.margin
    if judgement.measured.is_bound and not judgement.met:
        return "–"
    if judgement.condition.is_floor or MEASURES[judgement.condition.measure].is_number:
        return decimal(margin, 0)
    return text("{figure} points", figure=decimal(100 * margin, 1))
