"""Results about microdata at a glance, beyond those that reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import groupby
from typing import TypeVar

import numpy as np

from glasshouse.language import number, text, text_for
from glasshouse.microdata import Attack, Explanation, Leakage, RecordRisks
from glasshouse.microdata.influence import (
    BestSubsets,
    MinimalSubsets,
    Removal,
    Removals,
    ShapleyValue,
    ShapleyValues,
    SubsetRisk,
)
from glasshouse.qif import BayesVulnerability
from glasshouse.report.chances import Shift
from glasshouse.report.glance import bar_figure, glance, guess_figure, note
from glasshouse.report.grading import graded
from glasshouse.report.microdata.attacks import target_label
from glasshouse.report.microdata.class_charts import class_sizes_figure, success_figure
from glasshouse.report.microdata.findings import attack_findings
from glasshouse.report.page import Figure, Finding, Page, Severity
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    indefinite,
    percentage_points,
    share,
    times,
)

Told = TypeVar("Told", SubsetRisk, ShapleyValue, Removal)


def attack_page(attack: Attack, *, subject: str) -> Page:
    """Return what one attack achieves."""
    return glance(
        attack_findings(attack, subject=subject),
        (
            _guesses(attack.secret, attack.probabilistic),
            None if attack.secret else class_sizes_figure(attack),
            success_figure([attack]),
        ),
    )


def _guesses(secret: tuple[str, ...], leakage: Leakage) -> Figure | None:
    shift = Shift.of(target_label(secret), leakage)
    parts = {"before": frequency(leakage.prior), "after": frequency(leakage.posterior)}
    title = (
        text(
            "One guess at {secret}: right for {before} before, {after} after",
            secret=enumeration(secret),
            **parts,
        )
        if secret
        else text("One guess at who it is: right for {before} before, {after} after", **parts)
    )
    subtitle = text("one guess, before the attack and after it")
    return guess_figure(shift, title=title, subtitle=subtitle)


def leakage_page(leakage: Leakage) -> Page:
    """Return what an attack gave, where it is not told which attack it was."""
    before, after = (number(value, ",.6g") for value in (leakage.prior, leakage.posterior))
    found = [
        note(
            text(
                "Before the attack the adversary can expect {before}, after it {after}: the attack adds {added}.",
                before=before,
                after=after,
                added=number(leakage.additive, ",.6g"),
            )
            if leakage.additive
            else text(
                "The attack gives the adversary nothing: before and after it she can expect {before}.",
                before=before,
            )
        )
    ]
    factor = leakage.multiplicative
    if factor is not None and leakage.additive:
        found.append(note(text("It multiplies what she had: {factor}.", factor=times(factor))))
    shift = Shift.of(text("what the adversary can expect"), leakage)
    subtitle = text("before the attack and after it")
    return glance(found, [guess_figure(shift, title=found[0].sentence, subtitle=subtitle)])


def explanation_page(explanation: Explanation) -> Page:
    """Return what the tables of an attack come to."""
    hyper = explanation.counts.hyper()
    guess = BayesVulnerability()
    leakage = Leakage(Fraction(guess.prior(hyper.prior())), Fraction(guess.posterior_of(hyper)))
    known, code = enumeration(explanation.observed), explanation.code
    sentence = text(
        "{code}: one guess is right for {before} without knowing {known}, and for {after} with it.",
        code=code,
        before=frequency(leakage.prior),
        known=known,
        after=frequency(leakage.posterior),
    )
    tables = text(
        "The secret has {secrets} values, of which {observations} different observations can be made; to_dict() has "
        "every step as tables of fractions.",
        secrets=len(hyper.secrets),
        observations=len(hyper.observations),
    )
    return glance([note(sentence), note(tables)], [_guesses(explanation.secret, leakage)])


def record_risks_page(risks: RecordRisks, *, subject: str) -> Page:
    """Return how many records are at risk; no record is shown."""
    alone = int(np.count_nonzero(risks.sizes == 1))
    known = enumeration(risks.quasi_identifiers)
    parts = {
        "people": counted(risks.records, subject),
        "release": risks.dataset,
        "known": known,
        "share": share(alone, risks.records),
    }
    mean = Fraction(float(risks.reidentification.mean()))
    found = [
        Finding(
            graded(mean, certain=alone > 0),
            text_for(
                alone,
                "Of {people} in {release}, {count} ({share}) shares {known} with nobody else.",
                "Of {people} in {release}, {count} ({share}) share {known} with nobody else.",
                **parts,
            )
            if alone
            else text("Of {people} in {release}, each shares {known} with somebody else.", **parts),
        )
    ]
    found.extend(_certain_secrets(risks, subject))
    return glance(found, [_risk_bars(risks, found[0].sentence)])


def _certain_secrets(risks: RecordRisks, subject: str) -> Iterator[Finding]:
    for secret in risks.sensitive:
        certain = int(np.count_nonzero(risks.certain(secret)))
        parts = {
            "secret": enumeration([secret]),
            "person": indefinite(subject),
            "known": enumeration(risks.quasi_identifiers),
        }
        if certain == 0:
            yield Finding(
                Severity.SAFE,
                text(
                    "Someone who knows {person}'s {known} learns nobody's {secret} with certainty.",
                    **parts,
                ),
            )
            continue
        yield Finding(
            graded(Fraction(certain, risks.records), certain=True),
            text(
                "Someone who knows {person}'s {known} learns the {secret} of {people} with certainty ({share}).",
                people=counted(certain, subject),
                share=share(certain, risks.records),
                **parts,
            ),
        )


def _risk_bars(risks: RecordRisks, title: str) -> Figure | None:
    """Return how many records look like so many, in classes of sizes."""
    edges = (1, 2, 5, 10, 50)
    counts: dict[str, float] = {}
    for low, high in zip(edges, (*edges[1:], None), strict=True):
        inside = risks.sizes >= low if high is None else (risks.sizes >= low) & (risks.sizes < high)
        name = (
            text("{size} or more", size=low)
            if high is None
            else number(low)
            if high == low + 1
            else text("{low} to {high}", low=number(low), high=number(high - 1))
        )
        counts[name] = int(np.count_nonzero(inside))
    return bar_figure(
        counts,
        title=title,
        subtitle=text("by the number of records that are alike, oneself included"),
        axis=text("number of records"),
    )


def best_subsets_page(best: BestSubsets) -> Page:
    """Return the most revealing attributes of each number, per target."""
    found: list[Finding] = []
    figures = []
    for target, own in _by_target(best.subsets):
        found.extend(note(_best_sentence(target, each)) for each in own)
        figures.append(
            bar_figure(
                {_attributes(each.quasi_identifiers): 100 * each.leakage.posterior for each in own},
                title=_best_sentence(target, own[-1]),
                subtitle=text("the best set of each number of attributes"),
                axis=text("probability that one guess is right (%)"),
            )
        )
    return glance(found, figures)


def _best_sentence(target: tuple[str, ...], each: SubsetRisk) -> str:
    parts = {
        "known": _attributes(each.quasi_identifiers),
        "frequency": frequency(each.leakage.posterior),
        "secret": enumeration(target),
    }
    if target:
        return text_for(
            len(each.quasi_identifiers),
            "Of all single attributes {known} tells most of {secret}: one guess is right for {frequency}.",
            "Of all sets of {count} attributes {known} tell most of {secret}: one guess is right for {frequency}.",
            **parts,
        )
    return text_for(
        len(each.quasi_identifiers),
        "Of all single attributes {known} names most: one guess is right for {frequency}.",
        "Of all sets of {count} attributes {known} name most: one guess is right for {frequency}.",
        **parts,
    )


def _attributes(names: tuple[str, ...]) -> str:
    return enumeration(names) if names else text("no attribute")


def minimal_subsets_page(minimal: MinimalSubsets) -> Page:
    """Return the least that must be known to reach a risk."""
    parts = {"risk": frequency(minimal.risk)}
    if not minimal.subsets:
        sentence = (
            text("No set of attributes makes {risk} certain.", **parts)
            if minimal.by_certainty
            else text("With no set of attributes one guess is right for {risk}.", **parts)
        )
        return glance([Finding(Severity.SAFE, sentence)])
    parts["known"] = "; ".join(_attributes(each.quasi_identifiers) for each in minimal.subsets[:5])
    found = [
        note(
            text_for(
                len(minimal.subsets),
                "{count} least set of attributes makes {risk} certain: {known}.",
                "{count} least sets of attributes make {risk} certain; the first are: {known}.",
                **parts,
            )
            if minimal.by_certainty
            else text_for(
                len(minimal.subsets),
                "With {count} least set of attributes one guess is right for {risk} or more: {known}.",
                "With {count} least sets of attributes one guess is right for {risk} or more; the first are: {known}.",
                **parts,
            )
        )
    ]
    if not minimal.among_all:
        found.append(note(text("They are the least among the sets that were assessed.")))
    return glance(found)


def shapley_page(values: ShapleyValues) -> Page:
    """Return which attribute contributes most to each attack."""
    found, figures = [], []
    for target, own in _by_target(values.values):
        first = max(own, key=lambda each: each.value)
        whole = sum((each.value for each in own), Fraction(0))
        if whole == 0:
            found.append(Finding(Severity.SAFE, _nothing_added(target)))
            continue
        found.append(note(_contribution(target, first, whole)))
        figures.append(
            bar_figure(
                {each.quasi_identifier: 100 * each.value for each in own},
                title=_contribution(target, first, whole),
                subtitle=text("the share of each attribute in what all of them add"),
                axis=text("percentage points of success"),
            )
        )
    return glance(found, figures)


def _contribution(target: tuple[str, ...], first: ShapleyValue, whole: Fraction) -> str:
    parts = {
        "attribute": enumeration([first.quasi_identifier]),
        "own": percentage_points(first.value),
        "whole": percentage_points(whole),
        "secret": enumeration(target),
    }
    if target:
        return text(
            "Of all attributes, {attribute} contributes most to inferring {secret}: {own} of the {whole} percentage "
            "points that all of them add to the success of a guess.",
            **parts,
        )
    return text(
        "Of all attributes, {attribute} contributes most to naming people: {own} of the {whole} percentage "
        "points that all of them add to the success of a guess.",
        **parts,
    )


def _nothing_added(target: tuple[str, ...]) -> str:
    if target:
        return text(
            "The attributes add nothing to guesses at {secret}.", secret=enumeration(target)
        )
    return text("The attributes add nothing to guesses at whose record it is.")


def removals_page(removals: Removals) -> Page:
    """Return what leaving out one attribute does at best, per target."""
    found, figures = [], []
    for target, own in _by_target(removals.removals):
        found.append(note(_removal(target, max(own, key=lambda each: each.drop))))
        figures.append(
            bar_figure(
                {each.removed: 100 * each.drop for each in own},
                title=found[-1].sentence,
                subtitle=text("what leaving out each attribute alone takes from the adversary"),
                axis=text("percentage points of success"),
            )
        )
    return glance(found, figures)


def _removal(target: tuple[str, ...], best: Removal) -> str:
    parts = {
        "attribute": enumeration([best.removed]),
        "lower": frequency(best.posterior),
        "higher": frequency(best.posterior + best.drop),
        "secret": enumeration(target),
    }
    if best.drop == 0 and target:
        return text(
            "Leaving out any one attribute alone would not change how often {secret} is guessed right.",
            **parts,
        )
    if best.drop == 0:
        return text(
            "Leaving out any one attribute alone would change nothing: the others together tell as much."
        )
    if target:
        return text(
            "Leaving out one attribute alone helps most if it is {attribute}: a guess at {secret} would then succeed "
            "for {lower} instead of {higher}.",
            **parts,
        )
    return text(
        "Leaving out one attribute alone helps most if it is {attribute}: a guess at whose record it is would then "
        "succeed for {lower} instead of {higher}.",
        **parts,
    )


def _by_target(told: Iterable[Told]) -> Iterator[tuple[tuple[str, ...], list[Told]]]:
    """Yield what is told by target, which is the secret or nothing."""
    for secret, own in groupby(told, key=lambda each: each.sensitive):
        yield () if secret is None else (secret,), list(own)
