"""Assessments side by side: what got worse, what got better, what is the same, and what makes them hard to compare."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from fractions import Fraction

from glasshouse.language import number, text
from glasshouse.microdata import Assessment, Attack
from glasshouse.mitigation import AssessedRuns, ComparedAttack, ComparedRun
from glasshouse.report.grading import graded, learned
from glasshouse.report.lists import joined
from glasshouse.report.microdata.knowing import exact_figure
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import (
    decimal,
    enumeration,
    frequencies,
    percentage,
    plural,
    share,
    times,
)


class Change(Enum):
    """What became of an attack from one run to another."""

    WORSE = "▲"
    BETTER = "▼"
    SAME = ""
    MIXED = "◆"
    """A guess is right more often but certainty is rarer, or the other way round."""


def change(before: Attack, after: Attack) -> Change:
    """Tell whether an attack succeeds more often than before, both by one guess and with certainty."""
    guess = after.probabilistic.posterior - before.probabilistic.posterior
    certainty = after.deterministic.posterior - before.deterministic.posterior
    if guess * certainty < 0:
        return Change.MIXED
    return change_by(guess or certainty)


def change_by(difference: Fraction) -> Change:
    """Tell whether a success is greater than before."""
    if difference == 0:
        return Change.SAME
    return Change.WORSE if difference > 0 else Change.BETTER


def side_by_side_findings(outcome: AssessedRuns) -> tuple[Finding, ...]:
    """Return what became of each attack from the first run to every other, and how far they can be compared."""
    first, *others = (run.name for run in outcome.runs)
    changes = [
        _changed(line, (first, other), line.attacks[place], outcome.subject)
        for place, other in enumerate(others, 1)
        for line in outcome.largest
    ]
    return (*changes, *_conditions(outcome))


def _changed(line: ComparedAttack, names: tuple[str, str], after: Attack, subject: str) -> Finding:
    before = line.attacks[0]
    what = change(before, after)
    risk = learned(after) if line.secret else after.probabilistic.posterior
    grade = graded(risk, certain=after.certain > 0)
    safe = grade == Severity.LOW and what in (Change.BETTER, Change.SAME)
    return Finding(
        Severity.SAFE if safe else grade,
        _inferring(what, names, before, after)
        if line.secret
        else _naming(what, names, before, after, subject),
        figure=_figure(names, before, after),
        meaning=_meaning(what, before, after, safe=safe),
        remedy=text(
            "Look at what changed between them: more attributes, more detail, or fewer people alike; glasshouse "
            "anonymise shows what protection would cost."
        )
        if what == Change.WORSE
        else "",
    )


def _parts(names: tuple[str, str], before: Attack, after: Attack) -> dict[str, str]:
    said_before, said_after = frequencies(
        before.probabilistic.posterior, after.probabilistic.posterior
    )
    return {
        "first": names[0],
        "last": names[1],
        "before": said_before,
        "after": said_after,
        "certain_before": _certain(before),
        "certain": _certain(after),
        "share": percentage(after.deterministic.posterior),
        "guesses": points(after.probabilistic.posterior - before.probabilistic.posterior),
        "certainty": points(after.deterministic.posterior - before.deterministic.posterior),
    }


def _certain(attack: Attack) -> str:
    return text(
        "{certain} of {records} ({share})",
        certain=attack.certain,
        records=attack.records,
        share=share(attack.certain, attack.records),
    )


def _naming(
    what: Change, names: tuple[str, str], before: Attack, after: Attack, subject: str
) -> str:
    parts = _parts(names, before, after) | {"many": plural(subject)}
    said_alike = parts["before"] == parts["after"]
    if what == Change.MIXED:
        return text(
            "From “{first}” to “{last}” naming {many} changed both ways, right guesses by {guesses} points and "
            "certainty by {certainty}: a guess is right for {after}, and {certain} can be named with certainty.",
            **parts,
        )
    if what == Change.SAME:
        return text(
            "In “{last}” it is as easy to name {many} as in “{first}”: a guess is right for {after}, and {share} can "
            "be named with certainty.",
            **parts,
        )
    if what == Change.WORSE and said_alike:
        return text(
            "From “{first}” to “{last}” it became easier to name {many}: a guess is right for {after} in "
            "both, and {certain} can be named with certainty instead of {certain_before}.",
            **parts,
        )
    if what == Change.WORSE:
        return text(
            "From “{first}” to “{last}” it became easier to name {many}: a guess is right for {after} instead of "
            "{before}, and {certain} can be named with certainty instead of {certain_before}.",
            **parts,
        )
    if said_alike:
        return text(
            "From “{first}” to “{last}” it became harder to name {many}: a guess is right for {after} in "
            "both, and {certain} can be named with certainty instead of {certain_before}.",
            **parts,
        )
    return text(
        "From “{first}” to “{last}” it became harder to name {many}: a guess is right for {after} instead of {before}, "
        "and {certain} can be named with certainty instead of {certain_before}.",
        **parts,
    )


def _inferring(what: Change, names: tuple[str, str], before: Attack, after: Attack) -> str:
    parts = _parts(names, before, after) | {"secret": enumeration(after.secret)}
    said_alike = parts["before"] == parts["after"]
    if what == Change.MIXED:
        return text(
            "From “{first}” to “{last}” inferring the {secret} changed both ways, right guesses by {guesses} points "
            "and certainty by {certainty}: a guess is right for {after}, and that of {certain} is known with "
            "certainty.",
            **parts,
        )
    if what == Change.SAME:
        return text(
            "In “{last}” it is as easy to infer the {secret} as in “{first}”: a guess is right for {after}, and that "
            "of {share} is known with certainty.",
            **parts,
        )
    if what == Change.WORSE and said_alike:
        return text(
            "From “{first}” to “{last}” it became easier to infer the {secret}: a guess is right for {after} "
            "in both, and that of {certain} is known with certainty instead of {certain_before}.",
            **parts,
        )
    if what == Change.WORSE:
        return text(
            "From “{first}” to “{last}” it became easier to infer the {secret}: a guess is right for {after} instead "
            "of {before}, and that of {certain} is known with certainty instead of {certain_before}.",
            **parts,
        )
    if said_alike:
        return text(
            "From “{first}” to “{last}” it became harder to infer the {secret}: a guess is right for {after} "
            "in both, and that of {certain} is known with certainty instead of {certain_before}.",
            **parts,
        )
    return text(
        "From “{first}” to “{last}” it became harder to infer the {secret}: a guess is right for {after} instead of "
        "{before}, and that of {certain} is known with certainty instead of {certain_before}.",
        **parts,
    )


def _figure(names: tuple[str, str], before: Attack, after: Attack) -> str:
    old, new = before.probabilistic.posterior, after.probabilistic.posterior
    return text(
        "{first} – {before}. {last} – {after}. Difference {points} points, factor {factor}.",
        first=names[0],
        before=exact_figure(before),
        last=names[1],
        after=exact_figure(after),
        points=points(new - old),
        factor=times(new / old) if old else "–",
    )


def points(difference: Fraction) -> str:
    """Say a difference of probabilities in points of a hundred; never round some to none.

    >>> points(Fraction(1, 8)), points(Fraction(-1, 1000)), points(Fraction(-1, 10**6)), points(Fraction(0))
    ('+12.50', '−0.10', '−0.0001', '0.00')
    """
    size = abs(100 * difference)
    if 0 < size < Fraction(1, 200):
        return number(100 * float(difference), "+.2g")
    sign = "+" if difference > 0 else "−" if difference < 0 else ""
    return f"{sign}{decimal(size, 2)}"


def _meaning(what: Change, before: Attack, after: Attack, *, safe: bool) -> str:
    if after.secret:
        return text(
            "What the attack itself adds to a guess was {before} points of success, and is {after}.",
            before=points(before.probabilistic.additive),
            after=points(after.probabilistic.additive),
        )
    if safe:
        return text(
            "This holds as long as the adversary knows nothing of a person but the quasi-identifiers."
        )
    if what == Change.BETTER:
        return text("It is better than it was, but the risk is still there.")
    return ""


def _conditions(outcome: AssessedRuns) -> Iterator[Finding]:
    """Yield what must be known to compare the runs: other data, other knowledge, other secrets."""
    known = {run.name: _known(each) for run, each in _each(outcome)}
    if any(not line.same_knowledge for line in outcome.largest):
        yield Finding(
            Severity.NOTE,
            text(
                "The runs have no set of quasi-identifiers in common: of each its own largest set is compared, and "
                "differences may come from what the adversary is assumed to know."
            ),
            figure=_by_run(known),
        )
    elif len({frozenset(own) for own in known.values()}) > 1:
        common = outcome.largest[0].attacks[0].quasi_identifiers
        yield Finding(
            Severity.NOTE,
            text(
                "The runs were not assessed with the same quasi-identifiers; they are compared with what all of them "
                "have: {known}.",
                known=joined(common),
            ),
            figure=_by_run(known),
        )
    yield from _data(outcome)
    secrets = [frozenset(attack.secret for attack in each.attacks) for each in outcome.assessments]
    shared = frozenset.intersection(*secrets)
    missing = sorted(frozenset.union(*secrets) - shared)
    if missing:
        yield Finding(
            Severity.NOTE,
            text(
                "Not in all of the runs, and not compared: {secrets}.",
                secrets=joined([enumeration(secret) for secret in missing]),
            ),
        )


def _each(outcome: AssessedRuns) -> Iterator[tuple[ComparedRun, Assessment]]:
    yield from zip(outcome.runs, outcome.assessments, strict=True)


def _known(assessment: Assessment) -> tuple[str, ...]:
    names = (name for attack in assessment.attacks for name in attack.quasi_identifiers)
    return tuple(dict.fromkeys(names))


def _by_run(known: dict[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{name}: {', '.join(own)}" for name, own in known.items())


def _data(outcome: AssessedRuns) -> Iterator[Finding]:
    """Yield whether the runs are of the same data, and of how much."""
    records = {run.name: each.records for run, each in _each(outcome)}
    files = [frozenset(run.digests.values()) for run in outcome.runs]
    if len(set(files)) == 1:
        yield Finding(
            Severity.NOTE,
            text("The runs read the same files: what differs comes from what was asked of them."),
        )
    if len(set(records.values())) > 1:
        yield Finding(
            Severity.NOTE,
            text(
                "The runs are not of the same number of records: {records}.",
                records="; ".join(
                    text("“{name}” {records}", name=name, records=own)
                    for name, own in records.items()
                ),
            ),
            meaning=text(
                "Among more people it is harder to name one, if all else is the same; part of a difference may be just "
                "that."
            ),
        )
    windows = {len(attack.datasets) for line in outcome.largest for attack in line.attacks}
    if len(windows) > 1:
        yield Finding(
            Severity.NOTE,
            text(
                "The runs do not join the same number of datasets: differences may come from how much the adversary "
                "has."
            ),
        )
