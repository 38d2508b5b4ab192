"""What an anonymised table tells about a person beyond the population: in sentences, in pictures, in exact figures."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from glasshouse.groups import Knowledge, Measures, Release, Sampled
from glasshouse.report.page import (
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.threat_charts import (
    ADVERSARIES,
    beliefs,
    guesses,
    learner_against_attacker,
    relative_threat,
)
from glasshouse.report.threat_tables import measures_section, sampling_section
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, enumeration, frequency, percentage, plural
from glasshouse.study.threats import ThreatStudy
from glasshouse.table import Step

METHOD = "Boreale, Corradi and Viscardi 2020, “Relative Privacy Threats and Learning From Anonymized Data” (IEEE TIFS)"
PERSONAL = "This report is about one person, and is itself personal data: do not publish it."


class Threatened(Protocol):
    """What a report says of an anonymised table."""

    @property
    def study(self) -> ThreatStudy:
        """What was asked."""

    @property
    def release(self) -> Release:
        """The table as published."""

    @property
    def groups(self) -> int:
        """The number of groups; suppressed records are none."""

    @property
    def knowledge(self) -> Knowledge:
        """What each adversary believes."""

    @property
    def measures(self) -> Measures | None:
        """How much the records of the original are threatened."""

    @property
    def sampled(self) -> Sampled | None:
        """How sure the sampler is."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out of the original."""

    def relative_of(self, sensitive: int) -> tuple[float, float]:
        """Return the victim's relative threat for a sensitive value, and its error; not a number: it is exact."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""


def threat_sentences(outcome: Threatened) -> tuple[str, ...]:
    """Return what an attacker learns, how much of it is beyond the population, and how sure that is."""
    measures = outcome.measures
    if outcome.study.known:
        return (*_of_victim(outcome), _certainty(outcome))
    if measures is None:
        return (_without_original(outcome), _certainty(outcome))
    return (_guessed(outcome, measures), _beyond(outcome, measures), _certainty(outcome))


def _secret(release: Release) -> str:
    return enumeration(release.sensitive.names)


def _guessed(outcome: Threatened, measures: Measures) -> str:
    people = plural(outcome.study.subject)
    return (
        f"Somebody who knows that a {outcome.study.subject} is in {outcome.release.name}, and their "
        f"{enumeration([each.name for each in outcome.release.attributes])}, guesses the {_secret(outcome.release)} "
        f"right for {frequency(_ratio(measures.attacker.share_at_random))} {people}{_kept(outcome)}; somebody who only "
        f"learns about the population, for {frequency(_ratio(measures.learner.share_at_random))}; always saying the "
        f"most frequent value is right for {frequency(measures.baseline)}."
    )


def _kept(outcome: Threatened) -> str:
    hidden = outcome.study.suppressed
    return "" if hidden == 0 else f" ({counted(hidden, 'record')} suppressed among them)"


def _beyond(outcome: Threatened, measures: Measures) -> str:
    limit = measures.exceeds
    above, named = measures.share_above(limit, threatened=False), measures.share_above(limit)
    subject = outcome.study.subject
    count, names = round(above * measures.records), round(named * measures.records)
    most = _times(float(measures.relative.max()))
    if count == 0:
        return (
            "Beyond what anyone may learn about the population: she is at most "
            f"{most} times as sure of the truth about a {subject}."
        )
    return (
        f"Beyond what anyone may learn about the population: of {counted(count, subject)} ({percentage(above)}) she is "
        f"more than {_times(limit)} times as sure of the truth, at most {most} times; of {names:,} of them it is what "
        "she would name."
    )


def _without_original(outcome: Threatened) -> str:
    told = outcome.knowledge.beliefs()
    mean = {name: float(own.highest.mean()) for name, own in told.items()}
    mean["learner"] = mean[learner_name(outcome.study)]
    return (
        f"On average somebody who knows that a {outcome.study.subject} is in {outcome.release.name} is sure of a "
        f"{_secret(outcome.release)} with a probability of {100 * mean['attacker']:.1f} %, beside "
        f"{100 * mean['learner']:.1f} % about the population; give the original to know how often that is right."
    )


def _of_victim(outcome: Threatened) -> list[str]:
    told = outcome.knowledge.of(0)
    attacker, learner = told["attacker"], told[learner_name(outcome.study)]
    best = max(attacker, key=lambda value: attacker[value])
    ratio, error = outcome.relative_of(outcome.release.sensitive.code[best])
    return [
        f"Of a {outcome.study.subject} known to be in {outcome.release.name} she believes “{best}” with a probability "
        f"of {100 * attacker[best]:.1f} %; of people like them in the population with {100 * learner[best]:.1f} %.",
        _surer(ratio, error) if ratio >= 1 else "Being in the table makes her no surer of it.",
    ]


def _surer(ratio: float, error: float) -> str:
    if np.isnan(error):
        return f"Being in the table makes her {_times(ratio)} times as sure of it."
    return f"Being in the table makes her {_times(ratio)} ± {error:.2g} times as sure of it."


def learner_name(study: ThreatStudy) -> str:
    """Return under which name the learner of the study's reading stands."""
    return "learner" if study.reading == "5" else "learner_mean"


def _certainty(outcome: Threatened) -> str:
    sampled, mean = outcome.sampled, outcome.knowledge.learner_mean
    if sampled is None and mean is not None and mean.errors is not None:
        return (
            f"These figures are exact ({outcome.knowledge.method}), but for what is learned about the population by "
            f"reading (6): that is drawn, with an error of at most {100 * float(np.nanmax(mean.errors)):.2g} points."
        )
    if sampled is None:
        return f"These figures are exact ({outcome.knowledge.method}), not sampled."
    if sampled.multimodal:
        return (
            f"These figures are not to be relied on: after {sampled.sweeps:,} sweeps the {sampled.chains} chains still "
            "disagree; the table can be read in more than one way."
        )
    if not sampled.converged:
        return (
            f"These figures were sampled, and the requested precision was not reached within {sampled.sweeps:,} "
            "sweeps: sample longer before relying on them."
        )
    figures = (*sampled.aggregates, *sampled.figures)
    shares = [each.error for each in figures if each.name.startswith(("gt_", "ti_above", "rgt"))]
    shares += [each.error for each in figures if each.name.endswith("_success")]
    worst = max(shares)
    if outcome.study.known:
        worst = sampled.largest_error
    return (
        f"These figures were sampled by {sampled.chains} chains of {sampled.sweeps:,} sweeps that agree (R-hat at most "
        f"{max(each.rhat for each in sampled.aggregates):.3f}); the Monte-Carlo error of a share is at most "
        f"{100 * worst:.2g} points."
    )


def _times(factor: float) -> str:
    """Say a factor in three digits, or to the nearest whole number where it has more."""
    return f"{factor:,.0f}" if factor >= 1000 else f"{factor:.3g}"


def _ratio(share: float) -> Fraction:
    return Fraction(share).limit_denominator(10**9)


def threat_page(outcome: Threatened, *, provenance: Provenance) -> Page:
    """Return the report of an anonymised table."""
    release, measures = outcome.release, outcome.measures
    sections = [
        None if measures is None else measures_section(measures),
        _beliefs(outcome) if outcome.study.known else None,
        None if outcome.sampled is None else sampling_section(outcome.sampled),
        _release(outcome),
        treatment_section(outcome.steps),
    ]
    personal = f" {PERSONAL}" if outcome.study.known else ""
    return Page(
        title=f"What {release.name} tells about a {outcome.study.subject}, beyond the population",
        lead=f"{counted(release.records, 'record')} in {counted(outcome.groups, 'group')}.{personal}",
        findings=noted(threat_sentences(outcome)),
        figures=_figures(outcome),
        sections=tuple(section for section in sections if section is not None),
        **spread(_assumptions(outcome)),
        provenance=provenance,
        command="glasshouse threat --study study.toml",
        method=METHOD,
    )


def _figures(outcome: Threatened) -> tuple[Figure, ...]:
    if outcome.study.known:
        label = "Beliefs about the victim by sensitive value; the same figures are in a table below"
        return (
            Figure.of(
                beliefs(outcome.knowledge, learner_name(outcome.study)),
                label=label,
                caption="Further apart: more is told.",
            ),
        )
    measures = outcome.measures
    if measures is None:
        return ()
    return (
        Figure.of(
            guesses(measures),
            label="Records guessed right by each adversary; the same figures are in a table below",
            caption="What the second bar has more than the third is what being in the table costs.",
        ),
        Figure.of(
            relative_threat(measures),
            label="Threatened records by relative threat",
            caption="0: as sure as about the population. 1: twice as sure. 2: four times.",
        ),
        Figure.of(
            learner_against_attacker(measures),
            label="Belief about the population against belief about the person, of the true value",
            caption="Counts of records in squares; no record is shown.",
        ),
    )


def _beliefs(outcome: Threatened) -> Section:
    told = outcome.knowledge.of(0)
    exact = outcome.to_dict().get("exact", {})
    order = sorted(told["attacker"], key=lambda value: -told["attacker"][value])
    columns = (
        Column("Value"),
        *(Column(ADVERSARIES.get(name, name), numeric=True) for name in told),
    )
    rows = tuple(
        (
            Cell(value),
            *(
                Cell(
                    f"{own[value]:.6f}{_belief_error(outcome, name, value)}",
                    exact=exact.get(name, {}).get(value),
                )
                for name, own in told.items()
            ),
        )
        for value in order
    )
    return Section("What is believed of the victim", tables=(Table(columns, (Group(rows),)),))


def _belief_error(outcome: Threatened, name: str, value: str) -> str:
    errors = outcome.knowledge.beliefs()[name].errors
    place = outcome.release.sensitive.code[value]
    return "" if errors is None else f" ± {errors[0, place]:.2g}"


def _release(outcome: Threatened) -> Section:
    release = outcome.release
    rows = [
        (
            "scheme",
            f"{release.scheme} (values {'permuted' if release.is_vertical else 'generalised'})",
        ),
        ("records in groups", f"{release.records:,}"),
        ("groups", f"{outcome.groups:,}"),
        ("suppressed records, which can be anybody's", f"{outcome.study.suppressed:,}"),
        ("computed by", outcome.knowledge.method),
        *((f"values of {each.name}", f"{len(each.values):,}") for each in release.attributes),
        (f"values of {_secret(release)}", f"{len(release.sensitive.values):,}"),
    ]
    cells = tuple((Cell(name), Cell(value)) for name, value in rows)
    return Section(
        "The release",
        tables=(Table((Column("", numeric=False), Column("", numeric=True)), (Group(cells),)),),
    )


def _assumptions(outcome: Threatened) -> Assumptions:
    reading = (
        "the ratio of expectations, equation (5)"
        if outcome.study.reading == "5"
        else "the expectation of the ratio, equation (6)"
    )
    return Assumptions(
        "The attacker knows that the person is in the table and what stands beside their name in public; so does the "
        "learner, but for the first. Both reason by Bayes from Dirichlet priors; attributes are independent given the "
        f"sensitive value. What the learner believes is {reading}.",
        (
            Term(
                "Learner (p_L)", "What the table teaches about people in general: legitimate use."
            ),
            Term("Attacker (p_A)", "The same table read by who knows that the victim is in it."),
            Term(
                "Relative threat (Ti)",
                "p_A over p_L of the true value: above 1 the table harms its people.",
            ),
            Term("Absolute error (ABS)", "The sum of the distances of beliefs from the truth."),
            Term("Relative faithfulness", "How near the learner comes to who has the original."),
        ),
    )
