"""Whether an output may follow what went out before, in sentences that tell of nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glasshouse.language import quoted, text, text_for
from glasshouse.measures.verdict import Verdict
from glasshouse.report.page import Brief, Finding, note, reassurance
from glasshouse.report.tables.page import contradicting
from glasshouse.report.verdict import ruling
from glasshouse.tabulation import Remedy, Succession


def brief(
    outcome: Succession,
    advice: Remedy | None,
    verdict: Verdict | None,
    *,
    left_out: Sequence[str] = (),
    earlier_left_out: Sequence[str] = (),
    margins_of_shown: Sequence[str] = (),
) -> Brief:
    """Return what a terminal says of an output that is to follow others.

    Args:
        outcome: Whether it may follow.
        advice: What smallest change would let it.
        verdict: What a rule says of it; None: it went out already.
        left_out: What is in it and was neither checked nor looked at.
        earlier_left_out: What of that kind went out before.
        margins_of_shown: Tables whose margins are totals of what is shown.
    """
    findings = tuple(_findings(outcome, advice))
    notes = []
    if left_out:
        notes.append(
            text(
                "No table of frequencies, and so not checked: {outputs}. It does not pass with these, until somebody "
                "has looked at them (--seen).",
                outputs=quoted(left_out),
            )
        )
    if earlier_left_out:
        notes.append(
            text(
                "What went out before and cannot be put together with tables: {outputs}.",
                outputs=quoted(earlier_left_out),
            )
        )
    if margins_of_shown:
        notes.append(
            text(
                "Row and column totals that are of what is shown, and reveal nothing more: those of {tables}.",
                tables=quoted(margins_of_shown),
            )
        )
    if verdict is None:
        return Brief(findings=findings, notes=tuple(notes))
    rule = ruling(verdict)
    return Brief((rule.conditions,), findings, tuple(notes), ruling=rule)


def _findings(outcome: Succession, advice: Remedy | None) -> Iterator[Finding]:
    if outcome.contradiction is not None:
        yield note(
            text(
                "The output and what went out before contradict each other, so that there is no verdict: {tables}. "
                "If they are about different people, say so with --cohort.",
                tables=contradicting(outcome.contradiction),
            )
        )
        return
    yield from _certain(outcome)
    if outcome.small_cells:
        yield note(
            text_for(
                outcome.small_cells,
                "It shows {count} count of at most {few} people that nobody could know before.",
                "It shows {count} counts of at most {few} people that nobody could know before.",
                few=outcome.rare,
            )
        )
    if outcome.recovered_cells:
        yield note(
            text_for(
                outcome.recovered_cells,
                "{count} suppressed or rounded count becomes known exactly.",
                "{count} suppressed or rounded counts become known exactly.",
            )
        )
    if outcome.because.tables:
        yield note(
            text(
                "It follows together with what went out before: {tables}.",
                tables=quoted(outcome.because.tables),
            )
        )
    elif outcome.reasons:
        yield note(text("It follows from the output alone, whatever went out before."))
    if outcome.undecided:
        yield note(
            text(
                "Not everything was proved in time, and what is not proved does not pass; give it more time."
            )
        )
    if advice is not None:
        yield note(advice_sentence(advice))


def _certain(outcome: Succession) -> Iterator[Finding]:
    if not outcome.new_rare and not outcome.undecided:
        yield reassurance(
            text(
                "Nobody with a combination that at most {few} people have becomes certain by it.",
                few=outcome.rare,
            )
        )
    elif outcome.new_rare:
        yield note(
            text(
                "After what went out before, it makes the whole record of {certain} more people certain, {rare} of "
                "them with a combination that at most {few} have.",
                certain=outcome.new_certain,
                rare=outcome.new_rare,
                few=outcome.rare,
            )
        )


def advice_sentence(advice: Remedy) -> str:
    """Say what smallest change lets an output pass; which counts to hide is told to the publisher alone."""
    if advice.change == "several":
        changes = "; ".join(map(_part_words, advice.parts))
        return text(
            "It passes if all of this is done: {changes} (the file of reasons says which counts).",
            changes=changes,
        )
    if advice.change == "hide":
        return text_for(
            advice.cells,
            "It passes if {count} count of table “{table}” is hidden (the file of reasons says which).",
            "It passes if {count} counts of table “{table}” are hidden (the file of reasons says which).",
            table=advice.table,
        )
    if advice.change == "coarsen":
        return text(
            "It passes if table “{table}” is published without “{attribute}”.",
            table=advice.table,
            attribute=advice.attribute,
        )
    if advice.change == "round":
        return text(
            "It passes if the counts of table “{table}” are rounded to multiples of {base}.",
            table=advice.table,
            base=advice.base,
        )
    if advice.table:
        return text("It passes without table “{table}”.", table=advice.table)
    return text("No smaller change was found after which it passes: withhold it.")


def _part_words(part: Remedy) -> str:
    """Say what becomes of one table of several that are changed together."""
    if part.change == "hide":
        return text_for(
            part.cells,
            "table “{table}” with {count} count hidden",
            "table “{table}” with {count} counts hidden",
            table=part.table,
        )
    if part.change == "coarsen":
        return text(
            "table “{table}” without “{attribute}”", table=part.table, attribute=part.attribute
        )
    if part.change == "round":
        return text(
            "table “{table}” rounded to multiples of {base}", table=part.table, base=part.base
        )
    return text("table “{table}” not published", table=part.table)
