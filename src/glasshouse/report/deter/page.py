"""The report about the attacker's economics: risk, value and tries by the size of a group, and what moves them."""

from __future__ import annotations

import shlex
from dataclasses import replace
from fractions import Fraction

import numpy as np

from glasshouse.economics import Deterrence, Policy, ReleaseExposure, Terms
from glasshouse.language import exactly, marked, number, text, translated
from glasshouse.report.cells import cell_table, count_cell
from glasshouse.report.deter.charts import (
    deterrents_figure,
    deterrents_table,
    exposure_figure,
    risk_by_size,
    ruler_figure,
    thresholds_by_parameter,
    thresholds_table,
    value_by_size,
)
from glasshouse.report.deter.findings import (
    ADVERSARIES,
    DETERRENTS,
    deterrence_findings,
    enough,
    few_digits,
    is_deterred,
    nearest,
    now,
    published_prior,
    shown_sizes,
    step_up,
)
from glasshouse.report.page import (
    Action,
    Brief,
    Cell,
    Figure,
    Page,
    Provenance,
    Section,
    Table,
    Tile,
)
from glasshouse.report.words import (
    counted,
    glossary,
    hundredths,
    percentage,
    percentages,
    plural,
    sentences,
    share,
)
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
    marked("Enough from here on"): marked(
        "The least value from which on every larger one is enough too. With a limited number of penalties more is not "
        "always safer."
    ),
}
"""The words of this report, explained."""
PAYS = marked(
    "The adversary pays for access to a register, links a record with it, and tries the people who fit one after the "
    "other; each try may be detected and punished."
)
KNOWS_SIZES = marked("She knows how many people of the register are like the target.")
BELIEVES_SIZES = marked(
    "She does not know how many are like the target: she believes in a binomial distribution over a register of "
    "{register}."
)
RATIONAL = marked("She is rational: she stops as soon as going on is not worth while.")
LIMITS = (
    marked(
        "Her plan is the optimum of that decision process, computed exactly by backward induction. Thresholds are "
        "those of an adversary who knows the sizes; deterrents are those of the adversary described above."
    ),
    marked(
        "Everything depends on the terms: an adversary who gains more, pays less, or does not reckon at all goes "
        "farther than is said here."
    ),
)
AIM = marked(
    "What brings the risk of a group of {size} to at most {target}, each by itself, against {adversary}"
)
"""What deterrents are to reach."""


def page(outcome: Deterrence, question: DeterStudy, *, provenance: Provenance) -> Page:
    """Return the report; what is said of a release comes before what is said of any."""
    policy, currency, exposed = outcome.policy, question.currency, outcome.exposure
    pictures: dict[str, Figure | None] = {
        "sizes": ruler_figure(policy) or risk_by_size(policy),
        "deterrents": deterrents_figure(outcome, currency),
        "release": None,
    }
    sections = [
        Section(text("Thresholds"), tables=(thresholds_table(policy),)),
        Section(text("By size of the group"), tables=(_sizes(policy, currency),)),
        Section(text("What would deter her"), tables=(deterrents_table(outcome, currency),)),
        Section(text("The terms"), tables=(_terms(policy.terms, currency),)),
    ]
    if exposed is not None:
        sections.insert(0, _exposure(exposed, currency, losses=outcome.counts_losses))
        pictures["release"] = exposure_figure(exposed)
    figures = [value_by_size(policy, currency)]
    if outcome.curves:  # none where too many sizes would be looked at
        figures.append(thresholds_by_parameter(outcome, currency))
    return Page(
        title=text("Does an attack pay, and what would deter it"),
        lead=text("The plan of a rational adversary who pays for data, effort and fines"),
        findings=deterrence_findings(
            outcome, subject=question.subject, currency=currency, pictures=pictures
        ),
        tiles=tiles(outcome, subject=question.subject, currency=currency),
        actions=actions(outcome, question),
        figures=tuple(figures),
        sections=tuple(sections),
        adversary=sentences(
            PAYS,
            KNOWS_SIZES if policy.belief is None else BELIEVES_SIZES,
            RATIONAL,
            register=policy.belief or 0,
        ),
        limits=(*sentences(*LIMITS), *(() if outcome.prior_is_given else (published_prior(),))),
        glossary=glossary(
            "adversary, quasi-identifier, re-identification, exploit, discount", terms=(WORDS,)
        ),
        provenance=provenance,
        command="glasshouse deter --study study.toml",
        method=METHOD,
    )


def tiles(outcome: Deterrence, *, subject: str, currency: str | None) -> tuple[Tile, ...]:
    """Return who is at risk, how likely it is or what to expect, and what would stop it."""
    at_risk = text("Who is at risk")
    if outcome.exposure is None:
        risk = float(outcome.policy.reidentification.max())
        likely = Tile(
            text("How likely it is"),
            percentage(Fraction(risk)),
            text("is the highest risk of being re-identified in the groups asked about"),
        )
        return Tile(at_risk, *_whom(outcome.policy, subject)), likely, _stop(outcome, currency)
    exposure, records = outcome.exposure, counted(outcome.records, "record")
    worth = int(np.count_nonzero(exposure.known))
    whom = (
        Tile(
            at_risk,
            share(worth, outcome.records),
            text("{count} of {records}: an attack on these pays", count=worth, records=records),
        )
        if exposure.groups.sizes is not None
        else Tile(at_risk, *_whom(outcome.policy, subject))
    )
    expected = Tile(
        text("What to expect"),
        few_digits(max(exposure.expected_known, exposure.expected_unknown)),
        text("people are expected to be re-identified, of {records}", records=records),
    )
    if exposure.enough.lasting is None:
        return whom, expected, _stop(outcome, currency)
    size = Tile(
        text("What would stop it"),
        text("{size} alike", size=number(int(exposure.enough.lasting))),
        text("in every group, if the adversary knows how many they are"),
    )
    return whom, expected, size


def _whom(policy: Policy, subject: str) -> tuple[str, str]:
    """Return in how large groups an attack pays, in a few characters and in words."""
    end, many = policy.thresholds.no_attack, plural(subject)
    attacked = policy.sizes[policy.value > 0].tolist()
    if policy.belief is not None and attacked:
        figure = text("{first} to {last}", first=attacked[0], last=attacked[-1])
        return figure, text("{many} alike expected: an attack on these pays", many=many)
    if policy.belief is not None or end == 1:
        return text("nobody"), text("in the groups asked about: an attack does not pay")
    if end is None:
        return text("everybody"), text("in groups of up to a million {many} alike", many=many)
    figure = text("fewer than {size}", size=end)
    return figure, text("{many} alike: an attack on groups that small pays", many=many)


def _stop(outcome: Deterrence, currency: str | None) -> Tile:
    title, ways = text("What would stop it"), nearest(outcome)
    if not ways:
        return Tile(title, "–", text("no single penalty, price or chance of detection"))
    if is_deterred(outcome):
        return Tile(title, text("as it is"), text("the present terms are enough already"))
    parameter, lasting, _ = ways[0]
    return Tile(
        title,
        enough(parameter, lasting, currency),
        text(
            "{deterrent} (now {now}): of all terms it has to grow least",
            deterrent=translated(DETERRENTS[parameter]),
            now=now(outcome.policy.terms, parameter, currency),
        ),
    )


def actions(outcome: Deterrence, question: DeterStudy) -> tuple[Action, ...]:
    """Return what to do: make groups large enough, or raise what has to grow least."""
    policy, terms = outcome.policy, outcome.policy.terms
    size = outcome.size.lasting if outcome.exposure is None else outcome.exposure.enough.lasting
    risks = dict(zip(policy.sizes.tolist(), policy.reidentification.tolist(), strict=True))
    highest = float(
        policy.reidentification.max()
        if outcome.exposure is None
        else outcome.exposure.known.max(initial=0.0)
    )
    steps = []
    if size is not None and highest > question.target:
        steps.append(
            Action(
                text(
                    "Publish so that at least {size} {many} are alike.",
                    size=int(size),
                    many=plural(question.subject),
                ),
                _fall(highest, question.target, known=outcome.exposure is not None),
                command=_generalising(question, int(size)),
            )
        )
    ways = nearest(outcome)
    if ways and not is_deterred(outcome):
        parameter, lasting, _ = ways[0]
        steps.append(
            Action(
                text(
                    "See to it that {deterrent} is {amount} (now {now}).",
                    deterrent=translated(DETERRENTS[parameter]),
                    amount=enough(parameter, lasting, question.currency),
                    now=now(terms, parameter, question.currency),
                ),
                _fall(risks.get(question.protect, 0.0), question.target),
                command=_command(question, parameter, lasting),
            )
        )
    return tuple(steps)


def _generalising(question: DeterStudy, size: int) -> str:
    """Return the command that makes groups so large, where the people of a plain file are linked with themselves."""
    release = question.release
    if release is None or release != question.people or set(release.model_fields_set) != {"path"}:
        return ""
    known = [word for name in question.quasi_identifiers for word in ("-q", name)]
    name = str(getattr(release.path, "name", release.path))
    return shlex.join(
        ["glasshouse", "anonymise", name, *known, "--k", str(size), "--out", "protected"]
    )


def _fall(risk: float, target: float, *, known: bool = False) -> str:
    """Say how far the risk falls, of a release if she knows the sizes; nothing where it does not."""
    if risk <= target:
        return ""
    before, after = percentages(Fraction(risk), Fraction(target))
    words = {
        "before": before,
        "after": text("at most {share}", share=after) if target else after,
    }
    if known:
        return text("Risk, if the adversary knows how many they are: {before} → {after}.", **words)
    return text("Risk: {before} → {after}.", **words)


def _command(question: DeterStudy, parameter: str, value: float) -> str:
    """Return the command that shows what a deterrent comes to, as it is typed; none where it takes files."""
    if question.release is not None or parameter == "detection":
        return ""
    words = ["glasshouse", "deter"]
    for name in TERMS:
        term = getattr(question, name)
        if name == parameter:
            term = float(step_up(value))
        if term is None or term == DeterStudy.model_fields[name].default:
            continue
        values = term if isinstance(term, tuple) else (term,)
        words += [
            f"--{name.replace('_', '-')}",
            *(f"{entry:.15g}" if isinstance(entry, float) else str(entry) for entry in values),
        ]
    for name in ("belief", "protect", "target"):
        term = getattr(question, name)
        if term != DeterStudy.model_fields[name].default:
            words += [f"--{name}", f"{term:.15g}"]
    return shlex.join(words)


def brief(outcome: Deterrence, question: DeterStudy) -> Brief:
    """Return what a terminal says: whom she attacks, how far she goes and what would stop her."""
    policy, currency = outcome.policy, question.currency
    aim = translated(
        AIM,
        size=question.protect,
        target=percentage(Fraction(question.target)),
        adversary=translated(ADVERSARIES[policy.belief is None]),
    )
    tables = {
        text("From which size on she changes her mind, who knows the size"): thresholds_table(
            policy
        ),
        text("By size of the group of people alike"): _sizes(policy, currency),
        aim: deterrents_table(outcome, currency),
    }
    return Brief(
        tuple(replace(table, title=title) for title, table in tables.items()),
        deterrence_findings(outcome, subject=question.subject, currency=currency),
        notes=() if outcome.prior_is_given else (published_prior(),),
    )


def _exposure(exposure: ReleaseExposure, currency: str | None, *, losses: bool) -> Section:
    """Return the exact figures of a release."""
    known, unknown = (int(np.count_nonzero(risk)) for risk in (exposure.known, exposure.unknown))
    expected = [
        number(figure, ",.4g") for figure in (exposure.expected_known, exposure.expected_unknown)
    ]
    rows = [
        (text("records"), number(exposure.groups.records)),
        (text("people in the register"), number(exposure.groups.people)),
        (text("records worth attacking, sizes known"), number(known)),
        (text("records worth attacking, sizes not known"), number(unknown)),
        (text("expected re-identifications, sizes known"), expected[0]),
        (text("expected re-identifications, sizes not known"), expected[1]),
        (text("records whose risk is higher if she does not know"), number(len(exposure.higher))),
        (text("records whose risk is lower if she does not know"), number(len(exposure.lower))),
    ]
    if losses:
        lost = [
            text("not told") if exposure.loss_counts_few else hundredths(loss, currency)
            for loss in (exposure.loss_known, exposure.loss_unknown)
        ]
        rows += [
            (text("expected loss, sizes known"), lost[0]),
            (text("expected loss, sizes not known"), lost[1]),
        ]
    table = cell_table(text("Figure"), [text("Value")], rows)
    return Section(text("What the release risks"), tables=(table,))


def _sizes(policy: Policy, currency: str | None) -> Table:
    titles = (
        *(text("Size of the group"), text("value before access"), text("value after access")),
        *(text("people tried if undetected"), text("re-identified")),
    )
    rows = [
        (
            count_cell(int(policy.sizes[i])),
            _worth(float(policy.value[i]), currency),
            _worth(float(policy.value_after_access[i]), currency),
            count_cell(int(policy.exploits[i])),
            Cell(percentage(Fraction(float(policy.reidentification[i])))),
        )
        for i in shown_sizes(policy)
    ]
    return cell_table((), titles, rows)


def _terms(terms: Terms, currency: str | None) -> Table:
    rows = (
        (translated(TERMS.get(name, name)), _term(name, value, currency))
        for name, value in terms.to_dict().items()
    )
    return cell_table(text("Term"), [text("Value")], rows)


def _term(name: str, value: object, currency: str | None) -> Cell:
    if isinstance(value, (list, tuple)):
        return Cell("; ".join(number(float(entry), "g") for entry in value))
    if value is None or isinstance(value, str):
        return Cell(text("unlimited"))
    if name in MONEY:
        return _worth(float(str(value)), currency)
    if isinstance(value, float):
        return Cell(number(value, ".6g"), exact=exactly(value))
    return Cell(number(int(str(value))))


def _worth(value: float, currency: str | None) -> Cell:
    return Cell(hundredths(value, currency), exact=exactly(value))
