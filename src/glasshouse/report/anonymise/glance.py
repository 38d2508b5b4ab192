"""Results about protections at a glance: what a recoding or a grouping gives and costs, without its original."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from glasshouse.language import number, text, text_for, translated
from glasshouse.mitigation import Anatomy, Attained, Quality, Recoding, Utility
from glasshouse.mitigation.attained import Secrecy
from glasshouse.report.anonymise.findings import (
    QUALITIES,
    attained_findings,
    cost_finding,
    suppressed_findings,
)
from glasshouse.report.glance import bar_figure, glance, note
from glasshouse.report.grading import graded
from glasshouse.report.page import Figure, Finding, Page, Severity
from glasshouse.report.words import enumeration, frequency, percentage, singular


def recoding_page(recoding: Recoding, *, subject: str) -> Page:
    """Return what a recoding gives and costs."""
    kept = ~recoding.suppressed
    codes = np.stack([column.codes[kept] for column in recoding.released.values()])
    smallest = int(np.unique(codes, axis=1, return_counts=True)[1].min()) if kept.any() else 0
    hidden = recoding.records - int(np.count_nonzero(kept))
    found = list(attained_findings({"method": "", "attained": {"k": smallest}}, subject))
    if smallest == 1:
        found.append(
            Finding(
                Severity.HIGH,
                text(
                    "In the protected release some {subject} still looks like nobody else.",
                    subject=singular(subject),
                ),
            )
        )
    found.append(_cost(recoding, hidden, subject))
    found.extend(suppressed_findings(hidden, recoding.records, smallest))
    return glance(found, [_heights(recoding)])


def _cost(recoding: Recoding, hidden: int, subject: str) -> Finding:
    if recoding.objective != "loss":
        return note(
            text(
                "What was made as good as possible is {objective}: {value} of it is lost.",
                objective=translated(QUALITIES[recoding.objective]),
                value=percentage(Fraction(recoding.loss)),
            )
        )
    content: dict[str, Any] = {
        "loss": recoding.loss,
        "suppressed": hidden,
        "classes": recoding.classes,
        "optimal": recoding.optimal,
        "bound": recoding.bound or None,
        "parameters": {"recoding": recoding.method},
    }
    return cost_finding(content, subject)


def _heights(recoding: Recoding) -> Figure | None:
    if recoding.heights is None:
        return None
    heights = recoding.heights
    changed = [name for name, height in heights.items() if height]
    title = (
        text("Generalised: {names}", names=enumeration(changed))
        if changed
        else text("No attribute is generalised")
    )
    return bar_figure(
        {name: float(height) for name, height in heights.items()},
        title=title,
        axis=text("level of the hierarchy that is released (0: as it was)"),
    )


def anatomy_page(anatomy: Anatomy, *, subject: str) -> Page:
    """Return what the groups of Anatomy hide, and what they do not."""
    secret = {
        "sensitive": anatomy.sensitive,
        "l": int(anatomy.sizes.min()),
        "most_frequent": float(anatomy.highest),
    }
    found = [
        *attained_findings({"method": "anatomy", "attained": {"sensitive": [secret]}}, subject),
        note(
            text_for(
                anatomy.groups,
                "{records} records are in {count} group; whoever knows a person's group guesses the {secret} right "
                "for {frequency}.",
                "{records} records are in {count} groups; whoever knows a person's group guesses the {secret} right "
                "for {frequency}.",
                records=number(anatomy.records),
                secret=enumeration([anatomy.sensitive]),
                frequency=frequency(anatomy.vulnerability),
            )
        ),
        Finding(
            Severity.MODERATE,
            text(
                "It does not protect against being named: {known} are published as they are.",
                known=enumeration(anatomy.quasi_identifiers),
            ),
        ),
        cost_finding({}, subject),
    ]
    sizes, counts = np.unique(anatomy.sizes, return_counts=True)
    figure = bar_figure(
        {
            text_for(int(size), "{count} record", "{count} records"): int(count)
            for size, count in zip(sizes, counts, strict=True)
        },
        title=text("Every group has at least {count} records", count=int(anatomy.sizes.min())),
        subtitle=text("groups by their size"),
        axis=text("number of groups"),
    )
    return glance(found, [figure])


def attained_page(attained: Attained, *, subject: str) -> Page:
    """Return which k, l and t a table has."""
    others = attained.k - 1
    alike = (
        Finding(
            Severity.SAFE,
            text_for(
                others,
                "Every {subject} looks like at least {count} other.",
                "Every {subject} looks like at least {count} others.",
                subject=singular(subject),
            ),
        )
        if others > 0
        else Finding(
            Severity.HIGH,
            text("Some {subject} looks like nobody else.", subject=singular(subject)),
        )
    )
    found = [alike, *(_secrecy(each) for each in attained.secrets)]
    figure = bar_figure(
        {each.sensitive: 100 * each.most_frequent for each in attained.secrets},
        title=_most_frequent(attained),
        subtitle=text("the greatest share of one value in a class"),
        axis=text("greatest share of one value (%)"),
    )
    return glance(found, [figure])


def _most_frequent(attained: Attained) -> str:
    """Say which secret can be guessed most surely, at worst."""
    if not attained.secrets:
        return ""
    worst = max(attained.secrets, key=lambda each: each.most_frequent)
    return text(
        "In some class one value of {secret} has a share of {most}",
        secret=enumeration([worst.sensitive]),
        most=percentage(worst.most_frequent),
    )


def _secrecy(secret: Secrecy) -> Finding:
    parts = {
        "secret": enumeration([secret.sensitive]),
        "most": percentage(secret.most_frequent),
        "distance": percentage(secret.distance),
    }
    return Finding(
        graded(secret.most_frequent, certain=secret.distinct == 1),
        text_for(
            secret.distinct,
            "Somewhere all who look alike have the same {secret}, which is then known; no class is farther than "
            "{distance} from how it is spread over all records.",
            "Those who look alike have at least {count} different values of {secret}, one of which has a share of up "
            "to {most}; no class is farther than {distance} from how it is spread over all records.",
            **parts,
        ),
        figure=text(
            "l = {distinct}; t = {distance}",
            distinct=secret.distinct,
            distance=number(secret.distance, ".6g"),
        ),
    )


def quality_page(quality: Quality) -> Page:
    """Return what is left of a recoded table."""
    lost = percentage(Fraction(quality.loss).limit_denominator(10**12))
    found = [note(text("The recoding loses {loss} of the detail.", loss=lost))]
    if quality.attributes:
        name, worst = min(quality.attributes.items(), key=lambda each: each[1].granularity)
        found.append(
            note(
                text(
                    "Least is left of {attribute}: {kept} of its detail.",
                    attribute=enumeration([name]),
                    kept=percentage(Fraction(worst.granularity).limit_denominator(10**12)),
                )
            )
        )
    figure = bar_figure(
        {name: 100 * each.granularity for name, each in quality.attributes.items()},
        title=found[-1].sentence,
        axis=text("detail that is left (%)"),
    )
    return glance(found, [figure])


def utility_page(utility: Utility) -> Page:
    """Return what a release still serves for."""
    found = list(_uses(utility))
    figure = bar_figure(
        {name: 100 * distance for name, distance in utility.distances.single.items()},
        title=found[0].sentence,
        axis=text("records that it is wrong for (%)"),
    )
    return glance(found, [figure])


def _uses(utility: Utility) -> Iterator[Finding]:
    distances, predicted = utility.distances, utility.prediction
    yield note(
        text(
            "What {release} says of single columns is wrong for {wrong} of the records on average.",
            release=utility.release,
            wrong=percentage(Fraction(distances.mean_single)),
        )
    )
    if distances.mean_pair is not None:
        yield note(
            text(
                "What {release} says of two columns together is wrong for {wrong} of the records on average.",
                release=utility.release,
                wrong=percentage(Fraction(distances.mean_pair)),
            )
        )
    yield note(
        text_for(
            utility.queries.queries,
            "Of {count} counting question the answer is off by {median} in the median.",
            "Of {count} counting questions the answers are off by {median} in the median.",
            median=text("{figure} %", figure=number(100 * utility.queries.median, ",.3g")),
        )
    )
    if predicted is not None:
        yield note(
            text(
                "Who learns from {release} to predict {target} is right for {after}, who learns from the original, for "
                "{before}; always saying the most frequent value is right for {baseline}.",
                release=utility.release,
                target=enumeration([predicted.target]),
                after=frequency(predicted.release),
                before=frequency(predicted.original),
                baseline=frequency(predicted.majority),
            )
        )
