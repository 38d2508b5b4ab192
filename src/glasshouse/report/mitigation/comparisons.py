"""Releases beside the original: which protects best, which keeps most, and what none of them stops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from glasshouse.language import number, text
from glasshouse.microdata import Attack
from glasshouse.mitigation import ComparedRelease, Comparison
from glasshouse.report.grading import graded, learned
from glasshouse.report.lists import joined
from glasshouse.report.microdata.knowing import exact_figure
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import counted, enumeration, frequencies, percentage, share

NO_DISTANCE = 1e-12
"""Below this, a distance from the truth is none: what is left is the rounding of its sum."""


def comparison_findings(comparison: Comparison) -> tuple[Finding, ...]:
    """Return which release protects best and which keeps most, what they do not stop, and which another one beats."""
    original, *releases = comparison.rows
    found = [_named(original, releases, comparison.subject), _nearest(releases)]
    if original.inferring:
        found.extend(_inferred(releases, comparison.subject))
    found.extend(_beaten(releases))
    if original.to_dict().get("prediction"):
        found.append(_predicted(releases))
    return tuple(found)


def safest(releases: Sequence[ComparedRelease]) -> ComparedRelease:
    """Return the release in which naming is hardest; of several, the one nearest to the truth."""
    return min(releases, key=lambda row: (row.naming.probabilistic.posterior, row.distance))


def _named(original: ComparedRelease, releases: Sequence[ComparedRelease], subject: str) -> Finding:
    best = safest(releases)
    grade = graded(best.naming.probabilistic.posterior, certain=best.naming.certain > 0)
    safe = grade == Severity.LOW
    return Finding(
        Severity.SAFE if safe else grade,
        _naming_sentence(original, best, subject, alone=len(releases) == 1),
        figure=text(
            "Original – {original}. {name} – {release}.",
            original=exact_figure(original.naming),
            name=best.name,
            release=exact_figure(best.naming),
        ),
        meaning=text(
            "This holds as long as the adversary knows nothing of a person but the quasi-identifiers."
        )
        if safe
        else "",
        remedy=""
        if safe
        else text("A larger k, or less detail of the attributes released, makes naming harder."),
    )


def _naming_sentence(
    original: ComparedRelease, best: ComparedRelease, subject: str, *, alone: bool
) -> str:
    before, after = original.naming, best.naming
    said_before, said_after = frequencies(
        before.probabilistic.posterior, after.probabilistic.posterior
    )
    parts = {"name": best.name, "before": said_before, "after": said_after}
    no_harder = after.probabilistic.posterior >= before.probabilistic.posterior
    if no_harder and alone:
        return text(
            "“{name}” does not make it harder to guess who it is: a guess is right for {after}, and in the original "
            "for {before}.",
            **parts,
        )
    if no_harder:
        return text(
            "None of the releases makes it harder to guess who it is: a guess is right for {before} in the original, "
            "and no less often in any of them.",
            **parts,
        )
    guess = (
        text("A guess is right for {after} there, instead of {before}.", **parts)
        if alone
        else text(
            "A guess is right for {after} there, instead of {before}; none of the other releases makes it harder.",
            **parts,
        )
    )
    return f"{_certain_sentence(before, best, subject)} {guess}"


def _certain_sentence(before: Attack, best: ComparedRelease, subject: str) -> str:
    """Say who can be named with certainty in the original, and who in the release in which naming is hardest."""
    after = best.naming
    parts = {
        "people": counted(before.certain, subject),
        "share": share(before.certain, before.records),
        "name": best.name,
        "left": counted(after.certain, subject),
        "left_share": share(after.certain, after.records),
    }
    if before.certain == after.certain == 0:
        return text(
            "Nobody can be named with certainty, neither in the original nor in “{name}”.", **parts
        )
    if before.certain == 0:
        return text(
            "Nobody can be named with certainty in the original, but {left} ({left_share}) can in “{name}”.",
            **parts,
        )
    if after.certain == 0:
        return text(
            "Without protection {people} ({share}) can be named with certainty; in “{name}” nobody can.",
            **parts,
        )
    return text(
        "Without protection {people} ({share}) can be named with certainty; in “{name}” {left} ({left_share}) can.",
        **parts,
    )


def _nearest(releases: Sequence[ComparedRelease]) -> Finding:
    kept = min(releases, key=lambda row: row.distance)
    content = kept.to_dict()
    return Finding(
        Severity.NOTE,
        _exact_sentence(kept) if kept.distance < NO_DISTANCE else _wrong_sentence(kept, releases),
        figure=text(
            "distance of single columns {single}, of pairs {pairs}; median error of counting questions {queries}",
            single=number(content["column_distance"], ".4g"),
            pairs=_four_digits(content["pair_distance"]),
            queries=number(content["query_error"], ".4g"),
        ),
        meaning=text(
            "The nearer to the truth, the more the release still serves those who have an honest question."
        ),
    )


def _wrong_sentence(kept: ComparedRelease, releases: Sequence[ComparedRelease]) -> str:
    parts = {"name": kept.name, "wrong": percentage(Fraction(kept.distance))}
    if kept.to_dict()["pair_distance"] is None:
        return text(
            "None of the releases is nearer to the truth than “{name}”: what it says of the column is wrong for "
            "{wrong} of the records.",
            **parts,
        )
    if len(releases) == 1:
        return text(
            "The cost of “{name}”: what it says of two columns together is wrong for {wrong} of the records on "
            "average.",
            **parts,
        )
    return text(
        "None of the releases is nearer to the truth than “{name}”: what it says of two columns together is wrong for "
        "{wrong} of the records on average.",
        **parts,
    )


def _exact_sentence(kept: ComparedRelease) -> str:
    """Say that a release is as near to the truth as can be."""
    if kept.to_dict()["pair_distance"] is None:
        return text(
            "“{name}” keeps the truth: what it says of the column is right for all records.",
            name=kept.name,
        )
    return text(
        "“{name}” keeps the truth: what it says of two columns together is right for all records.",
        name=kept.name,
    )


def _four_digits(value: float | None) -> str:
    return "–" if value is None else number(value, ".4g")


def _inferred(releases: Sequence[ComparedRelease], subject: str) -> Iterator[Finding]:
    """Yield in which releases nobody's secret is known with certainty, and how many are known in the others."""
    safe = [row for row in releases if not any(attack.certain for attack in row.inferring)]
    if safe:
        yield Finding(
            Severity.SAFE,
            _safe_sentence(safe, releases),
            meaning=text(
                "This holds as long as the adversary knows nothing of a person but the quasi-identifiers; guesses may "
                "still be good ones."
            ),
        )
    leaking = [row for row in releases if row not in safe]
    if leaking:
        yield _leaking(leaking, subject, all_of_them=not safe)


def _safe_sentence(safe: Sequence[ComparedRelease], releases: Sequence[ComparedRelease]) -> str:
    if len(safe) == len(releases) > 1:
        return text("In all of the releases nobody's sensitive value is known with certainty.")
    return text(
        "In {releases} nobody's sensitive value is known with certainty.",
        releases=joined([text("“{name}”", name=row.name) for row in safe]),
    )


def _leaking(leaking: Sequence[ComparedRelease], subject: str, *, all_of_them: bool) -> Finding:
    """Say how many secrets are known in the best of the releases that give some away."""
    least = min(leaking, key=lambda row: max(attack.certain for attack in row.inferring))
    most = max(least.inferring, key=lambda attack: attack.certain)
    parts = {
        "name": least.name,
        "secret": enumeration(most.secret),
        "people": counted(most.certain, subject),
        "share": share(most.certain, most.records),
    }
    if all_of_them:
        sentence = text(
            "Protection against naming is not protection against inference: even in “{name}” the {secret} of {people} "
            "({share}) is known with certainty.",
            **parts,
        )
    else:
        sentence = text(
            "Protection against naming is not protection against inference: in “{name}” the {secret} of {people} "
            "({share}) is known with certainty.",
            **parts,
        )
    return Finding(
        graded(learned(most), certain=True),
        sentence,
        figure=f"{least.name} – {exact_figure(most)}",
        meaning=text(
            "A secret can be learned without knowing whose record it is: it is enough that all records that may be a "
            "person's share it."
        ),
        remedy=text(
            "Protect the secret itself: l-diversity or t-closeness, or Anatomy, besides k-anonymity."
        ),
    )


def _beaten(releases: Sequence[ComparedRelease]) -> Iterator[Finding]:
    """Yield the releases that another one beats both in risk and in what is left of the data."""
    for row in releases:
        better = next((other for other in releases if _beats(other, row)), None)
        if better is not None:
            yield Finding(
                Severity.NOTE,
                text(
                    "“{worse}” is beaten by “{better}”, which is nearer to the truth while no attack succeeds more "
                    "often.",
                    worse=row.name,
                    better=better.name,
                ),
                figure=text(
                    "distance {worse} against {better}",
                    worse=number(row.distance, ".4g"),
                    better=number(better.distance, ".4g"),
                ),
            )


def _beats(one: ComparedRelease, other: ComparedRelease) -> bool:
    risks = zip(attacks_of(one), attacks_of(other), strict=True)
    return one.distance < other.distance and all(
        own.probabilistic.posterior <= theirs.probabilistic.posterior
        and own.certain <= theirs.certain
        for own, theirs in risks
    )


def attacks_of(row: ComparedRelease) -> tuple[Attack, ...]:
    """Return the attacks on a release, naming first."""
    return (row.naming, *row.inferring)


def _predicted(releases: Sequence[ComparedRelease]) -> Finding:
    """Say how well a classifier does that learned from the release which serves it best."""
    told: list[tuple[str, Mapping[str, Any]]] = [
        (row.name, row.to_dict()["prediction"]) for row in releases
    ]
    name, best = max(told, key=lambda each: float(each[1]["release"]))
    release, original, majority = frequencies(
        *(Fraction(best[what]) for what in ("release", "original", "majority"))
    )
    return Finding(
        Severity.NOTE,
        text(
            "A classifier that learned from “{name}” tells the {target} of real records right for {release}; one that "
            "learned from the original, for {original}; always saying the most frequent value, for {majority}.",
            name=name,
            target=enumeration([best["target"]]),
            release=release,
            original=original,
            majority=majority,
        ),
        figure="; ".join(f"{each} {number(own['release'], '.4g')}" for each, own in told),
    )
