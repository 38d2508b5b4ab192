"""Would she attack, how far, and what deters her: in sentences, in pictures, in exact figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from glasshouse.economics import Deterrent, Exposure, Policy, Sensitivity, Terms
from glasshouse.report.deterrence_charts import (
    exploits_by_size,
    risk_by_size,
    thresholds_by_parameter,
    value_by_size,
)
from glasshouse.report.exposures import exposure_figure, exposure_section, exposure_sentences
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
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.words import counted, frequency, money, percentage, plural

METHOD = "Xia, Heatherly, Kantarcioglu, Vorobeychik, Wan and Malin 2015, “Process-Driven Data Privacy” (CIKM)"
MOST_SIZES = 12
"""So many sizes of groups are in the table."""
DETERRENTS = {
    "penalty": "the penalty",
    "access_cost": "the price of access",
    "link_cost": "the cost of linking",
    "exploit_cost": "the cost of trying one person",
    "detection": "the chance of being detected",
}


_EQUAL = 1e-12
"""Risks so near to each other are equal but for rounding."""


class Deterred(Protocol):
    """What a report says of the attacker's economics."""

    @property
    def policy(self) -> Policy:
        """Her optimal plan."""

    @property
    def deterrents(self) -> tuple[Deterrent, ...]:
        """How much of each deterrent is enough."""

    @property
    def exposure(self) -> Exposure | None:
        """The risk of a release, where there is one."""

    @property
    def currency(self) -> str | None:
        """What money is counted in."""

    @property
    def counts_losses(self) -> bool:
        """Whether it is said what a re-identified record costs the publisher."""

    @property
    def prior_is_given(self) -> bool:
        """Whether the prior is not the publication's."""

    @property
    def size(self) -> Deterrent:
        """How large a group must be."""

    @property
    def subject(self) -> str:
        """What a record stands for."""


def deterrence_sentences(outcome: Deterred) -> tuple[str, ...]:
    """Return what a release risks, where there is one; whom she attacks, how surely, and what would stop her."""
    people = plural(outcome.subject)
    of_release = (
        ()
        if outcome.exposure is None
        else exposure_sentences(
            outcome.exposure,
            subject=outcome.subject,
            currency=outcome.currency,
            losses=outcome.counts_losses,
        )
    )
    return (
        *of_release,
        _attacked(outcome.policy, people),
        _risk(outcome.policy, outcome.subject),
        _stopped(outcome),
    )


def _attacked(policy: Policy, people: str) -> str:
    if policy.belief is not None:
        return _believing(policy, people)
    end, said = policy.thresholds.no_attack, "who knows how many are alike"
    if end is None:
        return (
            f"On these terms a rational adversary {said} attacks groups of up to a million {people} alike, and perhaps "
            "larger ones."
        )
    if end == 1:
        return f"On these terms a rational adversary {said} attacks nobody, not even somebody who is like nobody else."
    return (
        f"On these terms a rational adversary {said} attacks groups of up to {end - 1:,} {people} alike; where "
        f"{end:,} or more are alike she does not begin."
    )


def _believing(policy: Policy, people: str) -> str:
    """Say which groups are attacked by somebody who only knows how frequent such people are."""
    who = (
        f"On these terms a rational adversary who only knows how frequent such {people} are in a register of "
        f"{policy.belief:,}"
    )
    attacked = policy.sizes[policy.value > 0]
    if not len(attacked):
        return f"{who} attacks none of the sizes asked about."
    first, last = int(attacked[0]), int(attacked[-1])
    if len(attacked) == len(policy.sizes):
        return (
            f"{who} attacks all sizes asked about, where she expects {first:,} to {last:,} alike."
        )
    return f"{who} attacks where she expects {first:,} to {last:,} alike, of the sizes asked about."


def _risk(policy: Policy, subject: str) -> str:
    worst = int(np.argmax(policy.reidentification))
    risk = float(policy.reidentification[worst])
    if risk == 0:
        return f"Of the sizes asked about, no {subject} is re-identified in any."
    alike = _where(policy.sizes[policy.reidentification >= risk - _EQUAL], subject)
    tried = int(policy.exploits[policy.reidentification >= risk - _EQUAL].max())
    rises = bool((np.diff(policy.reidentification) > _EQUAL).any())
    more = (
        " Larger groups are not always safer: the risk rises with the size at places."
        if rises
        else ""
    )
    tries = "one try" if tried == 1 else f"at most {tried:,} tries"
    return (
        f"Of the sizes asked about, the risk is greatest in {alike}: {frequency(Fraction(risk))} are re-identified "
        f"there; undetected, she makes {tries}.{more}"
    )


def _where(sizes: NDArray[np.int64], subject: str) -> str:
    """Say sizes of groups, which are ascending."""
    first, last = int(sizes[0]), int(sizes[-1])
    if first == last:
        return f"a group of {counted(first, subject)}"
    whole = last - first + 1 == len(sizes)
    return (
        f"groups of {first:,} to {last:,} {plural(subject)}{'' if whole else ' (not all of them)'}"
    )


def _stopped(outcome: Deterred) -> str:
    terms = outcome.policy.terms
    reached = [each for each in outcome.deterrents if each.lasting is not None]
    if not reached:
        return "No single penalty, price or chance of detection would stop her."
    size, target = reached[0].size or 1, reached[0].target
    who = "She" if outcome.policy.belief is None else "An adversary who knows the sizes"
    enough = [
        each
        for each in reached
        if each.lasting is not None and each.lasting > present(terms, each.parameter)
    ]
    if not enough:
        whom = "her" if who == "She" else who.lower()
        return f"The present terms are enough already to keep {whom} from a group of {size:,}."
    ways = [
        f"{DETERRENTS[each.parameter]} were {amount(each.parameter, each.lasting, outcome.currency)} "
        f"(now {now(terms, each.parameter, outcome.currency)})"
        for each in enough
        if each.lasting is not None
    ]
    if target == 0:
        return f"{who} would not attack a group of {size:,} if {', or if '.join(ways)}."
    most = percentage(Fraction(target))
    return f"The risk of a group of {size:,} would be at most {most} if {', or if '.join(ways)}."


def amount(parameter: str, value: float, currency: str | None) -> str:
    """Say how much of a deterrent is enough: never less, in whole units from a thousand on, else in hundredths.

    >>> amount("penalty", 486698.2, None), amount("access_cost", 3.5911, "€"), amount("detection", 0.489171, None)
    ('486,699', '€ 3.60', '48.92 %')
    """
    exact = Fraction(value)
    if parameter == "detection":
        return f"{math.ceil(exact * 10_000) / 100:.2f} %"
    step = 1 if value >= 1000 else 100
    enough = Fraction(math.ceil(exact * step), step)
    if currency is not None:
        return money(enough, currency)
    return (
        f"{float(enough):,.0f}" if step == 1 or enough.denominator == 1 else f"{float(enough):,.2f}"
    )


def now(terms: Terms, parameter: str, currency: str | None) -> str:
    """Say how much of a deterrent there is, as it was given."""
    value = present(terms, parameter)
    if parameter == "detection":
        return f"{100 * value:.3g} %"
    return f"{value:,.10g}" if currency is None else money(Fraction(value), currency)


def present(terms: Terms, parameter: str) -> float:
    """Return how much of a deterrent there is."""
    return terms.detection_rate if parameter == "detection" else float(getattr(terms, parameter))


def deterrence_page(
    outcome: Deterred,
    curves: Sequence[Sensitivity],
    *,
    provenance: Provenance,
) -> Page:
    """Return the report; what is said of a release comes before what is said of any."""
    policy, currency, exposed = outcome.policy, outcome.currency, outcome.exposure
    risky = exposed is not None and bool(exposed.known.any() or exposed.unknown.any())
    figures = (exposure_figure(exposed),) if exposed is not None and risky else ()
    losses = outcome.counts_losses
    sections = () if exposed is None else (exposure_section(exposed, currency, losses=losses),)
    own = (
        Figure.of(
            risk_by_size(policy),
            label="Probability of re-identification by size of the group; some of the figures are in a table below",
            caption="At a threshold the line falls to 0.",
        ),
        Figure.of(
            value_by_size(policy, currency),
            label="Value of the attack by size of the group; some of the figures are in a table below",
            caption="It never rises with the size."
            if policy.belief is None
            else "By the size that she expects; she may also find nobody.",
        ),
        Figure.of(
            exploits_by_size(policy),
            label="People tried before she stops, by size of the group; some of the figures are in a table below",
            caption="Where the lines part she stops before everybody was tried.",
        ),
        Figure.of(
            thresholds_by_parameter(curves, currency),
            label="The sizes of groups at which she changes her mind, against each parameter",
            caption="The axes are logarithmic, but for the discount. Lower is better for the people in the data.",
        ),
    )
    return Page(
        title="Would she attack, how far, and what deters her",
        lead="The plan of a rational adversary who pays for data, effort and fines",
        findings=noted(deterrence_sentences(outcome)),
        figures=(*figures, *own),
        sections=(
            *sections,
            Section("Thresholds", tables=(_thresholds(policy),)),
            Section("By size of the group", tables=(_sizes(policy, currency),)),
            Section("What would deter her", tables=(_deterrents(outcome),)),
            Section("The terms", tables=(_terms(policy.terms, currency),)),
        ),
        **spread(_assumptions(policy, outcome.prior_is_given)),
        provenance=provenance,
        command="glasshouse deter --study study.toml",
        method=METHOD,
    )


THRESHOLDS = {
    "no_attack": "does not begin",
    "no_exploit_after_access": "tries nobody although access is paid",
    "first_partial": "does not go on until everybody was tried",
    "baseline": "the one-shot adversary of the literature does not begin",
}


def _thresholds(policy: Policy) -> Table:
    found = policy.thresholds.to_dict()
    rows = tuple(
        (Cell(said), Cell("not up to a million" if found[name] is None else f"{found[name]:,}"))
        for name, said in THRESHOLDS.items()
    )
    return Table((Column("She …"), Column("from this size on", numeric=True)), (Group(rows),))


def shown_sizes(policy: Policy) -> list[int]:
    """Return the places of the sizes that a table shows: few, more densely where they are small."""
    last = len(policy.sizes) - 1
    ends = {size for size in policy.thresholds.to_dict().values() if size is not None}
    near = np.flatnonzero(np.isin(policy.sizes, [each + step for each in ends for step in (-1, 0)]))
    return sorted(
        {*near.tolist()}
        | {round(last ** (i / (MOST_SIZES - 1))) if last else 0 for i in range(MOST_SIZES)}
        | {0}
    )


def _sizes(policy: Policy, currency: str | None) -> Table:
    columns = (
        Column("Size of the group", numeric=True),
        Column("value before access", numeric=True),
        Column("value after access", numeric=True),
        Column("people tried if undetected", numeric=True),
        Column("re-identified", numeric=True),
    )
    rows = tuple(
        (
            Cell(f"{policy.sizes[i]:,}"),
            _money(policy.value[i], currency),
            _money(policy.value_after_access[i], currency),
            Cell(f"{policy.exploits[i]:,}"),
            Cell(percentage(Fraction(float(policy.reidentification[i])))),
        )
        for i in shown_sizes(policy)
    )
    return Table(columns, (Group(rows),))


def _deterrents(outcome: Deterred) -> Table:
    columns = (
        Column("Deterrent"),
        Column("now", numeric=True),
        Column("enough at", numeric=True),
        Column("enough from here on", numeric=True),
    )
    terms, currency = outcome.policy.terms, outcome.currency
    rows = tuple(
        (
            Cell(f"{DETERRENTS[each.parameter]}, for a group of {each.size:,}"),
            Cell(now(terms, each.parameter, currency)),
            Cell(_enough(each.parameter, each.least, currency)),
            Cell(_enough(each.parameter, each.lasting, currency)),
        )
        for each in outcome.deterrents
    )
    size = outcome.size
    larger = (
        Cell("the size of the group"),
        Cell(""),
        Cell("nothing up to a million" if size.least is None else f"{size.least:,.0f}"),
        Cell("nothing up to a million" if size.lasting is None else f"{size.lasting:,.0f}"),
    )
    return Table(columns, (Group((*rows, larger)),))


def _enough(parameter: str, value: float | None, currency: str | None) -> str:
    return "nothing is enough" if value is None else amount(parameter, value, currency)


def _terms(terms: Terms, currency: str | None) -> Table:
    content = terms.to_dict()
    rows = []
    for name, value in content.items():
        said = name.replace("_", " ")
        if name in ("gain", "penalty", "access_cost", "link_cost", "exploit_cost"):
            rows.append((Cell(said), _money(value, currency)))
        elif name == "detection":
            rows.append(
                (Cell("detection (h0, h1)"), Cell(", ".join(f"{each:g}" for each in value)))
            )
        else:
            shown = f"{value:.6g}" if isinstance(value, float) else str(value)
            rows.append((Cell(said), Cell(shown, exact=str(value))))
    return Table((Column("Term"), Column("", numeric=True)), (Group(tuple(rows)),))


def _money(value: float, currency: str | None) -> Cell:
    value = float(value)
    text = f"{value:,.2f}" if currency is None else money(Fraction(value), currency)
    return Cell(text, exact=repr(value))


PUBLISHED = "the share of the inhabitants of North Carolina who are registered voters; give your own with --prior"
"""What the publication's prior is."""


def _assumptions(policy: Policy, prior_is_given: bool) -> Assumptions:
    knows = (
        "She knows how many people of the register are like the target."
        if policy.belief is None
        else f"She does not know how many are like the target: she believes in a binomial distribution over a register "
        f"of {policy.belief:,}."
    )
    return Assumptions(
        "The adversary pays for access to a register, links a record with it, and tries the people who fit one after "
        "the other; each try may be detected and punished. She stops as soon as going on is not worth while. "
        f"{knows} Her plan is the optimum of that decision process, computed exactly by backward induction. Thresholds "
        "and deterrents are those of an adversary who knows the sizes."
        + ("" if prior_is_given else f" The prior is the publication's: {PUBLISHED}."),
        (
            Term(
                "Exploit", "To act against one of the people who fit, as if they were the target."
            ),
            Term("Value", "What the attack is worth to her by the optimal plan, costs deducted."),
            Term("Discount", "What something one step later is worth beside the same now."),
            Term(
                "Enough from here on",
                "The least value from which on every larger one is enough too. With a limited number of penalties more "
                "is not always safer.",
            ),
        ),
    )
