"""What was found about one person, in sentences: who may be meant, what is learned, and what if they may not be in it.

For the analyst, on the terminal, sentences are exact and name values (`Discretion`). For a report an outcome is first
made the same as all others that must look alike (`TargetTold.as_told`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from glasshouse.language import text, text_for
from glasshouse.microdata.individual import TargetSecret
from glasshouse.report.page import Figure, Finding, note
from glasshouse.report.target.record import TargetTold
from glasshouse.report.target.secrets import learned, most_telling
from glasshouse.report.words import either, enumeration

MOST_SECRETS = 3
"""Of how many secrets the sentences and the pictures speak; all are in the tables."""


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
                "Nothing is learned of this person's {secrets}: it is missing in every record that fits.",
                secrets=either([enumeration([secret]) for secret in missing]),
            )
        )
    if of_another:
        yield note(
            text(
                "Nothing is learned of another record of this person: nobody who fits has more records than are known."
            )
        )
    secrets = most_telling(target.target.secrets)
    for secret in secrets[:MOST_SECRETS]:
        yield replace(learned(secret, target), picture=picture(secret, target))
    if len(secrets) > MOST_SECRETS:
        yield note(
            text_for(
                len(secrets) - MOST_SECRETS,
                "What is learned of {count} further secret is in a table.",
                "What is learned of {count} further secrets is in a table.",
            )
        )
    if target.journalist is not None:
        yield target.journalist.finding(target.subject, target.caveats(unsure=False))
