"""The report about the attacker's economics, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.economics import Deterrence, Policy, Sensitivity, Terms
from glasshouse.language import exactly, marked, number, text, translated
from glasshouse.report.cells import count_cell
from glasshouse.report.economics.charts import deterrence_figures
from glasshouse.report.economics.exposures import exposure_figure, exposure_section
from glasshouse.report.economics.findings import (
    DETERRENTS,
    THRESHOLDS,
    deterrence_findings,
    enough,
    now,
    published_prior,
    shown_sizes,
    threshold,
    value_of,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.page import (
    Cell,
    Column,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.words import percentage

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


def deterrence_page(
    outcome: Deterrence,
    curves: Sequence[Sensitivity],
    *,
    subject: str,
    provenance: Provenance,
    currency: str | None = None,
) -> Page:
    """Return the report; what is said of a release comes before what is said of any."""
    policy, exposed = outcome.policy, outcome.exposure
    risky = exposed is not None and bool(exposed.known.any() or exposed.unknown.any())
    figures = (exposure_figure(exposed),) if exposed is not None and risky else ()
    losses = outcome.counts_losses
    sections = () if exposed is None else (exposure_section(exposed, currency, losses=losses),)
    return Page(
        title=text("Would she attack, how far, and what deters her"),
        lead=text("The plan of a rational adversary who pays for data, effort and fines"),
        findings=deterrence_findings(outcome, subject=subject, currency=currency),
        figures=(*figures, *deterrence_figures(policy, curves, currency)),
        sections=(
            *sections,
            Section(text("Thresholds"), tables=(_thresholds(policy),)),
            Section(text("By size of the group"), tables=(_sizes(policy, currency),)),
            Section(text("What would deter her"), tables=(_deterrents(outcome, currency),)),
            Section(text("The terms"), tables=(_terms(policy.terms, currency),)),
        ),
        adversary=_adversary(policy),
        limits=_limits(outcome),
        glossary=_glossary(),
        provenance=provenance,
        command="glasshouse deter --study study.toml",
        method=METHOD,
    )


def _thresholds(policy: Policy) -> Table:
    found = policy.thresholds.to_dict()
    rows = tuple(
        (Cell(translated(said)), Cell(threshold(found[name]))) for name, said in THRESHOLDS.items()
    )
    columns = (Column(text("What she does")), Column(text("from this size on"), numeric=True))
    return Table(columns, (Group(rows),))


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
    columns = (
        Column(text("Deterrent")),
        Column(text("now"), numeric=True),
        Column(text("enough at"), numeric=True),
        Column(text("enough from here on"), numeric=True),
    )
    terms = outcome.policy.terms
    rows = tuple(
        (
            Cell(
                text(
                    "{deterrent}, for a group of {size}",
                    deterrent=translated(DETERRENTS[each.parameter]),
                    size=each.size or 1,
                )
            ),
            Cell(now(terms, each.parameter, currency)),
            Cell(enough(each.parameter, each.least, currency)),
            Cell(enough(each.parameter, each.lasting, currency)),
        )
        for each in outcome.deterrents
    )
    larger = (
        Cell(text("the size of the group")),
        Cell(""),
        Cell(threshold(outcome.size.least)),
        Cell(threshold(outcome.size.lasting)),
    )
    return Table(columns, (Group((*rows, larger)),))


def _terms(terms: Terms, currency: str | None) -> Table:
    rows = tuple(
        (Cell(translated(TERMS.get(name, name))), _term(name, value, currency))
        for name, value in terms.to_dict().items()
    )
    return Table((Column(text("Term")), Column(text("Value"), numeric=True)), (Group(rows),))


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
    return Cell(value_of(value, currency), exact=exactly(value))


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


def _glossary() -> tuple[Term, ...]:
    own = (
        Term(
            text("Value"),
            text("What the attack is worth to her by the optimal plan, costs deducted."),
        ),
        Term(
            text("Discount"),
            text("What something one step later is worth beside the same now."),
        ),
        Term(
            text("Enough from here on"),
            text(
                "The least value from which on every larger one is enough too. With a limited number of penalties more "
                "is not always safer."
            ),
        ),
    )
    return (*own, *glossary("adversary", "quasi-identifier", "re-identification", "exploit"))
