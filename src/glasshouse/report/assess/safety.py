"""What is safe in microdata, and as long as what holds: the reassuring findings."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.language import text
from glasshouse.microdata import Assessment, Attack
from glasshouse.report.assess.attacks import by_knowledge, last_window, widest
from glasshouse.report.assess.knowing import exact_figure, knowledge, knowledge_in_short
from glasshouse.report.grading import graded, is_small
from glasshouse.report.lists import either
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import enumeration, frequency, indefinite


def tells_nothing(attack: Attack) -> bool:
    """Tell whether neither a guess is better than before, nor anything certain that was not."""
    return attack.probabilistic.additive == 0 == attack.deterministic.additive


def untouched(attacks: Sequence[Attack]) -> list[Finding]:
    """Say of which further secrets nothing is learned."""
    safe = [attack for attack in attacks if tells_nothing(attack) and attack.certain == 0]
    if not safe:
        return []
    names = either([enumeration(attack.secret) for attack in safe])
    return [
        Finding(
            Severity.SAFE,
            text(
                "Whoever knows {known} learns nothing about {secrets}: nobody's value with certainty, and a guess is "
                "right as often as without that knowledge.",
                known=knowledge_in_short(safe[0]),
                secrets=names,
            ),
            figure="; ".join(map(exact_figure, safe)),
            meaning=text("This holds as long as she knows nothing else about the person."),
        )
    ]


def safe_knowledge(assessment: Assessment, subject: str) -> Finding | None:
    """Say with how much knowledge there is little to fear: the largest set that is safe, if the whole is not.

    Safe is a set with which nobody is named for certain and a guess is seldom right. Sets that are safe for all
    secrets too go before others. Of several as large, the one is told with which a guess is right most often: the
    others are safer still.
    """
    sets = [same for same in by_knowledge(last_window(assessment.attacks)) if not same[0].secret]
    whole = widest(assessment.attacks)[0]
    safe = [same for same in sets if is_small(same[0]) and same[0].quasi_identifiers]
    if not safe or is_small(whole):
        return None
    wholly = [same for same in safe if all(map(_keeps_the_secret, same[1:]))]
    naming, *inferring = max(
        wholly or safe,
        key=lambda same: (len(same[0].quasi_identifiers), same[0].probabilistic.posterior),
    )
    parts = {
        "person": indefinite(subject),
        "known": knowledge(naming),
        "frequency": frequency(naming.probabilistic.posterior),
    }
    if inferring and wholly:
        sentence = text(
            "Someone who knows no more than {person}'s {known} can neither name anybody nor learn anybody's {secrets} "
            "with certainty; a guess at whose record it is succeeds for {frequency}.",
            secrets=either([enumeration(attack.secret) for attack in inferring]),
            **parts,
        )
    else:
        sentence = text(
            "Someone who knows no more than {person}'s {known} cannot name anybody with certainty; a guess succeeds "
            "for {frequency}.",
            **parts,
        )
    return Finding(
        Severity.SAFE,
        sentence,
        figure=exact_figure(naming),
        meaning=_safe_means(inferring, wholly=bool(wholly)),
    )


def _keeps_the_secret(attack: Attack) -> bool:
    return attack.certain == 0 and graded(attack.probabilistic.additive) is Severity.LOW


def _safe_means(inferring: Sequence[Attack], *, wholly: bool) -> str:
    if inferring and not wholly:
        return text(
            "This holds as long as she knows nothing else about the person, and it is about naming only: with the same "
            "knowledge a secret can be guessed better than without it, or even learned with certainty."
        )
    return text("This holds as long as she knows nothing else about the person.")
