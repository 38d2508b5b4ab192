"""The report about the attacker's economics, as a page."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from glasshouse.economics import Deterrence, Policy, ReleaseExposure, Terms
from glasshouse.language import exactly, marked, number, text, translated
from glasshouse.report.cells import cell_table, count_cell, text_table
from glasshouse.report.deter.charts import deterrence_figures, exposure_figure
from glasshouse.report.deter.findings import (
    DETERRENTS,
    THRESHOLDS,
    deterrence_findings,
    enough,
    now,
    published_prior,
    shown_sizes,
    threshold,
)
from glasshouse.report.page import Brief, Cell, Column, Group, Page, Provenance, Section, Table
from glasshouse.report.words import explained, glossary, hundredths, percentage
from glasshouse.study.deter import DeterStudy

METHOD = "Xia, Heatherly, Kantarcioglu, Vorobeychik, Wan and Malin 2015, “Process-Driven Data Privacy” (CIKM)"
TERMS = {
    "prior": marked("chance that the target is registered (--prior)"),
    "gain": marked("gain of a re-identification (--gain)"),
    "penalty": marked("penalty for each detection (--penalty)"),
    "access_cost": marked("price of access (--access-cost)"),
    "link_cost": marked("cost of linking (--link-cost)"),
    "exploit_cost": marked("cost of trying one person (--exploit-cost)"),
    "detection": marked("detection, h0 and h1 (--detection)"),
    "penalties": marked("penalties at most (--penalties)"),
    "discount": marked("discount (--discount)"),
}
"""What the terms are called."""
MONEY = ("gain", "penalty", "access_cost", "link_cost", "exploit_cost")
"""The terms that are amounts."""
WORDS = {
    marked("Value"): marked("What the attack is worth to her by the optimal plan, costs deducted."),
    marked("Discount"): marked("What something one step later is worth beside the same now."),
    marked("Enough from here on"): marked(
        "The least value from which on every larger one is enough too. With a limited number of penalties more is not "
        "always safer."
    ),
}
"""The words of this report, explained."""


def page(outcome: Deterrence, question: DeterStudy, *, provenance: Provenance) -> Page:
    """Return the report; what is said of a release comes before what is said of any."""
    policy, currency, exposed = outcome.policy, question.currency, outcome.exposure
    risky = exposed is not None and bool(exposed.known.any() or exposed.unknown.any())
    figures = (exposure_figure(exposed),) if exposed is not None and risky else ()
    losses = outcome.counts_losses
    sections = () if exposed is None else (_exposure(exposed, currency, losses=losses),)
    return Page(
        title=text("Would she attack, how far, and what deters her"),
        lead=text("The plan of a rational adversary who pays for data, effort and fines"),
        findings=deterrence_findings(outcome, subject=question.subject, currency=currency),
        figures=(*figures, *deterrence_figures(policy, outcome.curves, currency)),
        sections=(
            *sections,
            Section(text("Thresholds"), tables=(_thresholds(policy),)),
            Section(text("By size of the group"), tables=(_sizes(policy, currency),)),
            Section(text("What would deter her"), tables=(_deterrents(outcome, currency),)),
            Section(text("The terms"), tables=(_terms(policy.terms, currency),)),
        ),
        adversary=_adversary(policy),
        limits=_limits(outcome),
        glossary=(
            *explained(WORDS),
            *glossary("adversary", "quasi-identifier", "re-identification", "exploit"),
        ),
        provenance=provenance,
        command="glasshouse deter --study study.toml",
        method=METHOD,
    )


def brief(outcome: Deterrence, question: DeterStudy) -> Brief:
    """Return what a terminal says: whom she attacks, how far she goes and what would stop her."""
    policy, currency = outcome.policy, question.currency
    aim = {"size": question.protect, "target": percentage(Fraction(question.target))}
    title = (
        text(
            "What brings the risk of a group of {size} to at most {target}, each by itself, if she knows the size",
            **aim,
        )
        if question.target
        else text(
            "What brings the risk of a group of {size} to zero, each by itself, if she knows the size",
            size=question.protect,
        )
    )
    titles = (
        text("From which size on she changes her mind, who knows the size"),
        text("By size of the group of people alike"),
        title,
    )
    tables = (_thresholds(policy), _sizes(policy, currency), _deterrents(outcome, currency))
    return Brief(
        tuple(replace(table, title=said) for table, said in zip(tables, titles, strict=True)),
        deterrence_findings(outcome, subject=question.subject, currency=currency),
        notes=() if outcome.prior_is_given else (published_prior(),),
    )


def _exposure(exposure: ReleaseExposure, currency: str | None, *, losses: bool) -> Section:
    """Return the exact figures of a release."""
    known, unknown = (int(np.count_nonzero(risk)) for risk in (exposure.known, exposure.unknown))
    rows = [
        (text("records"), number(exposure.groups.records)),
        (text("people in the register"), number(exposure.groups.people)),
        (text("records worth attacking, sizes known"), number(known)),
        (text("records worth attacking, sizes not known"), number(unknown)),
        (
            text("expected re-identifications, sizes known"),
            number(exposure.expected_known, ",.4g"),
        ),
        (
            text("expected re-identifications, sizes not known"),
            number(exposure.expected_unknown, ",.4g"),
        ),
        (text("records whose risk is higher if she does not know"), number(len(exposure.higher))),
        (text("records whose risk is lower if she does not know"), number(len(exposure.lower))),
    ]
    if losses:
        rows += [
            (text("expected loss, sizes known"), hundredths(exposure.loss_known, currency)),
            (text("expected loss, sizes not known"), hundredths(exposure.loss_unknown, currency)),
        ]
    table = text_table("", text("Figure"), [text("Value")], rows)
    return Section(text("What the release risks"), tables=(table,))


def _thresholds(policy: Policy) -> Table:
    sizes = policy.thresholds.to_dict()
    rows = ((translated(words), threshold(sizes[name])) for name, words in THRESHOLDS.items())
    return text_table("", text("What she does"), [text("from this size on")], rows)


def _sizes(policy: Policy, currency: str | None) -> Table:
    columns = (
        Column(text("Size of the group"), numeric=True),
        Column(text("value before access"), numeric=True),
        Column(text("value after access"), numeric=True),
        Column(text("people tried if undetected"), numeric=True),
        Column(text("re-identified"), numeric=True),
    )
    rows = tuple(
        (
            count_cell(int(policy.sizes[i])),
            _worth(float(policy.value[i]), currency),
            _worth(float(policy.value_after_access[i]), currency),
            count_cell(int(policy.exploits[i])),
            Cell(percentage(Fraction(float(policy.reidentification[i])))),
        )
        for i in shown_sizes(policy)
    )
    return Table(columns, (Group(rows),))


def _deterrents(outcome: Deterrence, currency: str | None) -> Table:
    terms = outcome.policy.terms
    rows = [
        (
            text(
                "{deterrent}, for a group of {size}",
                deterrent=translated(DETERRENTS[each.parameter]),
                size=each.size or 1,
            ),
            now(terms, each.parameter, currency),
            enough(each.parameter, each.least, currency),
            enough(each.parameter, each.lasting, currency),
        )
        for each in outcome.deterrents
    ]
    size = outcome.size
    rows.append((text("the size of the group"), "", threshold(size.least), threshold(size.lasting)))
    titles = (text("now"), text("enough at"), text("enough from here on"))
    return text_table("", text("Deterrent"), titles, rows)


def _terms(terms: Terms, currency: str | None) -> Table:
    rows = (
        (translated(TERMS.get(name, name)), _term(name, value, currency))
        for name, value in terms.to_dict().items()
    )
    return cell_table(text("Term"), [text("Value")], rows)


def _term(name: str, value: object, currency: str | None) -> Cell:
    if isinstance(value, (list, tuple)):
        return Cell("; ".join(number(float(each), "g") for each in value))
    if value is None or isinstance(value, str):
        return Cell(text("unlimited"))
    if name in MONEY:
        return _worth(float(str(value)), currency)
    if isinstance(value, float):
        return Cell(number(value, ".6g"), exact=exactly(value))
    return Cell(number(int(str(value))))


def _worth(value: float, currency: str | None) -> Cell:
    return Cell(hundredths(value, currency), exact=exactly(value))


def _adversary(policy: Policy) -> tuple[str, ...]:
    knows = (
        text("She knows how many people of the register are like the target.")
        if policy.belief is None
        else text(
            "She does not know how many are like the target: she believes in a binomial distribution over a register "
            "of {register}.",
            register=policy.belief,
        )
    )
    return (
        text(
            "The adversary pays for access to a register, links a record with it, and tries the people who fit one "
            "after the other; each try may be detected and punished."
        ),
        knows,
        text("She is rational: she stops as soon as going on is not worth while."),
    )


def _limits(outcome: Deterrence) -> tuple[str, ...]:
    limits = [
        text(
            "Her plan is the optimum of that decision process, computed exactly by backward induction. Thresholds and "
            "deterrents are those of an adversary who knows the sizes."
        ),
        text(
            "Everything depends on the terms: an adversary who gains more, pays less, or does not reckon at all goes "
            "farther than is said here."
        ),
    ]
    if not outcome.prior_is_given:
        limits.append(published_prior())
    return tuple(limits)
