"""The report of the attack on one person: in sentences, in pictures, in figures.

It is about one person, and personal data itself, as it says. Still it holds no value of a record: it tells how likely
the likeliest value of a secret is, the second likeliest and so on, before and after. These are ranked apart: beside its
share in the release, which anybody can count, a value would be known. For the analyst, on the terminal, sentences are
exact and name values (`Discretion`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from glasshouse.language import marked, number, text, text_for
from glasshouse.microdata.individual import Target, TargetSecret
from glasshouse.report.attacks import METHOD
from glasshouse.report.cells import GUESSES
from glasshouse.report.discretion import personal, what_is_left_out
from glasshouse.report.glossary import glossary
from glasshouse.report.page import (
    Brief,
    Figure,
    Finding,
    Page,
    Provenance,
    Section,
    Tile,
    note,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.target import journalist as journalists
from glasshouse.report.target.person import target_told
from glasshouse.report.target.record import TargetTold
from glasshouse.report.target.secrets import (
    attacks_table,
    beliefs_figure,
    beliefs_table,
    gains_tables,
    given_away,
    learned,
    most_telling,
    secret_table,
)
from glasshouse.report.words import counted, either, enumeration, listed, plural, sentences
from glasshouse.study.target import TargetStudy

MOST_SECRETS = 3
"""Of how many secrets the sentences and the pictures speak; all are in the tables."""
FIGURES = {
    True: marked(
        "The figures follow from counts (or from weights, where the study gives them) in this release, but for those "
        "that are said to be estimated."
    ),
    False: marked(
        "The figures follow from counts (or from weights, where the study gives them) in this release; none is "
        "estimated."
    ),
}
"""What the figures follow from, by whether some are estimated."""
TERMS = {
    marked("Certain"): marked(
        "She is right with probability 1: there is one candidate, or all candidates have the same value."
    ),
    **GUESSES,
    marked("Added, factor"): marked(
        "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a factor "
        "below 1. On average over everybody in the release it cannot."
    ),
}
"""The words of the report, explained."""


def page(outcome: Target, question: TargetStudy, *, provenance: Provenance) -> Page:
    """Return the report of the attack on one person."""
    target = target_told(outcome, question.subject)
    outcome, journalist = target.target, target.journalist
    twice_told = target_told(outcome, question.subject)  # what a secret lacks may be few only then
    findings = tuple(target_findings(twice_told, beliefs_figure))
    beliefs = Section(
        text("What she believes about this person"),
        intro=text(
            "How probable she holds the likeliest value, the second likeliest and so on; before and after are ranked "
            "apart."
        ),
        tables=tuple(beliefs_table(secret, target) for secret in outcome.secrets),
    )
    currency = question.adversary.gain.currency
    sections = (
        Section(
            text("The attacks"), tables=(attacks_table(target), *gains_tables(target, currency))
        ),
        beliefs if outcome.secrets else None,
        None if journalist is None else journalist.section(),
        treatment_section(outcome.steps, target.notes()),
    )
    datasets = listed(outcome.datasets)
    return Page(
        title=text("What {datasets} reveals about one person", datasets=datasets)
        if len(outcome.datasets) == 1
        else text("What {datasets} reveal about one person", datasets=datasets),
        lead=target.lead(),
        findings=findings,
        summary=_summary(target),
        tiles=tuple(_tiles(target)),
        actions=target.actions(findings, question),
        sections=tuple(filter(None, sections)),
        adversary=target.adversary(),
        limits=(
            personal(),
            *what_is_left_out("glasshouse target --json"),
            *sentences(
                target.limits, FIGURES[journalist is not None and journalist.journalist.estimated]
            ),
        ),
        provenance=provenance,
        command="glasshouse target --study study.toml",
        method=METHOD if journalist is None else f"{METHOD}; {journalists.METHOD}",
        glossary=glossary(
            "adversary, target, record, release, vulnerability, leakage, re-identification",
            bool(outcome.secrets) and "sensitive attribute, attribute inference",
            any(secret.gain for secret in outcome.secrets) and "gain function",
            "prosecutor risk",
            journalist is not None and "journalist risk",
            terms=({marked("Candidates"): target.fitting} | TERMS,),
        ),
    )


def target_findings(
    target: TargetTold,
    picture: Callable[[TargetSecret, TargetTold], Figure | None] = lambda *_: None,
) -> Iterator[Finding]:
    """Yield who may be meant, what is learned of them, and what if they may not be in the release at all.

    The secrets of which most is learned come first.

    Args:
        target: What came out, as a reader may be told of it.
        picture: Draws what is learned of a secret.
    """
    yield target.finding()
    if target.target.suppressed:
        yield note(target.suppressed())
    missing, of_another = target.unlearned
    if missing:
        yield note(
            text(
                "Nothing is learned about this person's {secrets}: it is missing in every record that fits.",
                secrets=either([enumeration([secret]) for secret in missing]),
            )
        )
    if of_another:
        yield note(
            text(
                "Nothing is learned about another record of this person: nobody who fits has more records than are "
                "known."
            )
        )
    secrets = most_telling(target.target.secrets)
    for secret in secrets[:MOST_SECRETS]:
        yield replace(learned(secret, target), picture=picture(secret, target))
    if len(secrets) > MOST_SECRETS:
        yield note(
            text_for(
                len(secrets) - MOST_SECRETS,
                "What is learned about {count} further secret is in a table.",
                "What is learned about {count} further secrets is in a table.",
            )
        )
    if target.journalist is not None:
        yield target.journalist.finding(target.subject, target.caveats(unsure=False))


def _summary(target: TargetTold) -> str:
    """Say in one sentence whether the person can be found, and whether a secret is certain all the same."""
    outcome, template = target.target, target.summary()
    if not template:
        return ""
    certain = [
        target.secret_words(secret)
        for secret in outcome.secrets
        if secret.certain and secret.guess.additive
    ]
    phrases = sentences(
        template,
        outcome.candidates > 1 and bool(certain) and marked("Yet {secret} is certain."),
        records=counted(outcome.records, "record"),
        candidates=number(outcome.candidates),
        secret=certain[0] if certain else "",
        everybody=target.everybody,
        people=plural(target.subject),
    )
    return " ".join((*phrases, *(target.caveats() if outcome.candidates else ())))


def _tiles(target: TargetTold) -> Iterator[Tile]:
    """Yield whether the person can be found, what is given away, and how little is known or how likely they are in."""
    yield target.tile()
    yield from given_away(target)
    presence = None if target.journalist is None else target.journalist.tile()
    yield presence or Tile(text("How little is known"), target.how_little, target.known)


def brief(outcome: Target, question: TargetStudy) -> Brief:
    """Return what a terminal says of one person, exactly."""
    target = target_told(outcome, question.subject, exact=True)
    currency = question.adversary.gain.currency
    return Brief(
        (
            target.heading(),
            *treatment_blocks(outcome.steps, target.notes()),
            *(secret_table(secret, currency) for secret in outcome.secrets),
        ),
        tuple(target_findings(target)),
    )
