"""The report about the attacker's economics: risk, value and tries by the size of a group, and what moves them.

The page comes first, then its tables, then its pictures: where an attack pays, what deters it, what a release risks.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np

from glasshouse.economics import Deterrence, Policy, ReleaseExposure, Sensitivity, Terms
from glasshouse.language import marked, number, percentage, text, translated
from glasshouse.report import vega
from glasshouse.report.cells import (
    cell_table,
    count_cell,
    float_cell,
    group_table,
    money_cell,
    percent_cell,
)
from glasshouse.report.charts import NEUTRAL, PER_CENT, TARGETS, figure_of, keyed, plot, titled
from glasshouse.report.deter.findings import (
    ADVERSARIES,
    DETERRENTS,
    DOLLARS,
    EQUAL,
    PARAMETERS,
    deterrence_findings,
    enough,
    few_digits,
    is_deterred,
    nearest,
    now,
    present,
    published_terms,
    shown_sizes,
    step_up,
    terms_of_others,
    threshold,
)
from glasshouse.report.discretion import ToldCounts
from glasshouse.report.glossary import glossary
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
    hundredths,
    joined,
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
        "The lowest value from which every larger one is enough, too. With a limited number of penalties "
        "more is not always safer."
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
        "Everything depends on the terms: an adversary who gains more, pays less, or does not calculate at "
        "all goes further than is said here."
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
        tiles=(
            *tiles(outcome, subject=question.subject, currency=currency),
            terms_tile(outcome, question),
        ),
        actions=tuple(actions(outcome, question)),
        figures=tuple(figures),
        sections=tuple(sections),
        adversary=sentences(
            PAYS,
            KNOWS_SIZES if policy.belief is None else BELIEVES_SIZES,
            RATIONAL,
            register=policy.belief or 0,
        ),
        limits=(*sentences(*LIMITS), *published_terms(outcome, question)),
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


def terms_tile(outcome: Deterrence, question: DeterStudy) -> Tile:
    """Return the terms on which all figures hang, and which of them are another country's."""
    terms, currency = outcome.policy.terms, question.currency
    words = {
        "penalty": now(terms, "penalty", currency),
        "access": now(terms, "access_cost", currency),
        "tried": now(terms, "exploit_cost", currency),
        "prior": percentage(Fraction(terms.prior)),
        "terms": joined(
            [translated(PARAMETERS[name]) for name in terms_of_others(outcome, question)]
        ),
        "currency": currency or "",
    }
    said = text(
        "gain from a re-identification; penalty {penalty}, price of access {access}, {tried} to try one "
        "person; chance that the target is registered {prior}.",
        **words,
    )
    if not words["terms"]:
        origin = text("All of this was given.")
    elif currency in DOLLARS:
        origin = text("Not given, so taken from North Carolina, in US dollars: {terms}.", **words)
    else:
        origin = text(
            "Not given, so taken from North Carolina, with US dollars read as {currency}: {terms}.",
            **words,
        )
    return Tile(text("On which terms"), now(terms, "gain", currency), f"{said} {origin}")


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


def actions(outcome: Deterrence, question: DeterStudy) -> Iterator[Action]:
    """Yield what to do: make groups large enough, or raise what has to grow least."""
    policy, terms = outcome.policy, outcome.policy.terms
    size = outcome.size.lasting if outcome.exposure is None else outcome.exposure.enough.lasting
    risks = dict(zip(policy.sizes.tolist(), policy.reidentification.tolist(), strict=True))
    highest = float(
        policy.reidentification.max()
        if outcome.exposure is None
        else outcome.exposure.known.max(initial=0.0)
    )
    if size is not None and highest > question.target:
        yield Action(
            text(
                "Publish so that at least {size} {many} are alike.",
                size=int(size),
                many=plural(question.subject),
            ),
            _fall(highest, question.target, known=outcome.exposure is not None),
            command=_generalising(question, int(size)),
        )
    ways = nearest(outcome)
    if ways and not is_deterred(outcome):
        parameter, lasting, _ = ways[0]
        yield Action(
            text(
                "Raise {deterrent} from {now} to {amount}.",
                deterrent=translated(DETERRENTS[parameter]),
                amount=enough(parameter, lasting, question.currency),
                now=now(terms, parameter, question.currency),
            ),
            _fall(risks.get(question.protect, 0.0), question.target),
            command=_command(question, parameter, lasting),
        )


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
        text(
            "The group sizes at which an adversary who knows them changes her mind"
        ): thresholds_table(policy),
        text("By size of the group of people alike"): _sizes(policy, currency),
        aim: deterrents_table(outcome, currency),
    }
    return Brief(
        tuple(replace(table, title=title) for title, table in tables.items()),
        deterrence_findings(outcome, subject=question.subject, currency=currency),
        notes=published_terms(outcome, question),
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
            text("not shown") if exposure.loss_counts_few else hundredths(loss, currency)
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
            money_cell(float(policy.value[i]), currency),
            money_cell(float(policy.value_after_access[i]), currency),
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
        return money_cell(float(str(value)), currency)
    if isinstance(value, float):
        return float_cell(value, ".6g")
    return Cell(number(int(str(value))))


# The pictures


THRESHOLDS = {
    "no_attack": marked("an attack does not pay"),
    "no_exploit_after_access": marked("not even with access paid"),
    "first_partial": marked("not everybody is tried"),
    "baseline": marked("one guess does not pay"),
}
"""What holds from each threshold on, in few words."""
LINES = ("no_attack", "no_exploit_after_access")
"""Those that are drawn against the terms."""
UNDRAWN = ("link_cost", "discount")
"""The terms that few can change: their numbers are in the table only."""
MOST_POINTS = 400
"""So many sizes at most are drawn."""
MOST_POWERS = 4
"""On an axis with more powers of ten than this, not every one of them has a figure."""
MOST_VALUES = 7
"""So many values of each parameter are in a table."""


def ruler_figure(policy: Policy) -> Figure | None:
    """Show on one line from which sizes on she changes her mind; sizes that are the same are marked once.

    There is no such picture where she attacks nobody, or groups of any size; where she does not know the size; or where
    the risk is not the same in all groups that are attacked, so that there is more to be seen.
    """
    end = policy.thresholds.no_attack
    attacked = policy.reidentification[policy.sizes < (end or 0)]
    if (
        policy.belief is not None
        or end in (None, 1)
        or np.ptp(attacked if len(attacked) else [0.0]) > EQUAL
    ):
        return None
    sizes = policy.thresholds.to_dict()
    marks: dict[int, list[str]] = {}
    for name, words in THRESHOLDS.items():
        size = sizes[name]
        if size is not None:
            marks.setdefault(size, []).append(translated(words))
    rows = [
        {"size": size, "label": number(size), "who": f"{number(size)}: {words[0]}"}
        for size, words in sorted(marks.items())
    ]
    names = [str(row["who"]) for row in rows]
    colours = {sizes["no_attack"]: TARGETS[0][0], sizes["baseline"]: NEUTRAL}
    looks = [colours.get(size, TARGETS[1][0]) for size in sorted(marks)]
    last = max(marks)
    longest = last + max(2, round(last / 8))
    scale = vega.Scale(domain=[0, longest], nice=False)
    x = vega.X("size:Q", title=text("people alike"), scale=scale, axis=vega.Axis(grid=False))
    line = plot([{"size": 1, "end": end, "y": 0}, {"size": end, "end": longest, "y": 0}])
    y = vega.Y("y:Q", axis=None, scale=vega.Scale(domain=[-1, 1]))
    points, above, below = (
        plot([row | {"y": 0} for row in some]).encode(x=x, y=y)
        for some in (rows, rows[::2], rows[1::2])
    )
    chart = vega.layer(
        line.mark_rule(strokeWidth=10).encode(
            x=x,
            x2="end:Q",
            y=y,
            color=vega.condition(
                f"datum.size < {end}", vega.value(TARGETS[0][0]), vega.value("#bbbbbb")
            ),
        ),
        points.mark_point(filled=True, size=170, opacity=1, stroke="white").encode(
            color=vega.Color("who:N", **keyed(names, looks), legend=vega.Legend(columns=1)),
            shape=vega.Shape(
                "who:N", **keyed(names, [shape for _, shape in TARGETS[: len(names)]])
            ),
        ),
        above.mark_text(dy=-18, fontSize=14, fontWeight="bold").encode(text="label:N"),
        below.mark_text(dy=20, fontSize=14, fontWeight="bold").encode(text="label:N"),
    )
    return figure_of(
        titled(
            chart,
            text("An attack pays on groups of fewer than {size}", size=end),
            text("thick orange line: groups that are attacked; grey: those that are not"),
            width=620,
            height=90,
        ),
        label=text("The sizes of groups at which she changes her mind"),
        caption=text(
            "“One guess” is that of the adversary of earlier studies, who tries one person and gives up."
        ),
        table=thresholds_table(policy),
    )


def thresholds_table(policy: Policy) -> Table:
    """Return from which size on what she does changes."""
    sizes = policy.thresholds.to_dict()
    rows = ((translated(words), threshold(sizes[name])) for name, words in THRESHOLDS.items())
    return cell_table(text("What changes"), [text("from this size on")], rows)


def deterrents_figure(outcome: Deterrence, currency: str | None) -> Figure | None:
    """Show how many times what there is now each deterrent has to be, the least first."""
    ways = [way for way in nearest(outcome) if math.isfinite(way[-1])]
    if len(ways) < 2 or is_deterred(outcome):
        return None
    terms = outcome.policy.terms
    names = {parameter: translated(PARAMETERS[parameter]) for parameter, _, _ in ways}
    rows = [
        {
            "deterrent": names[parameter],
            "one": 1,
            "times": multiple,
            "label": text(
                "{deterrent}: {amount} (now {now})",
                deterrent=names[parameter],
                amount=enough(parameter, lasting, currency),
                now=now(terms, parameter, currency),
            ),
        }
        for parameter, lasting, multiple in ways
    ]
    most = 10 ** math.ceil(math.log10(ways[-1][-1]) + 0.3)
    scale = vega.Scale(type="log", domain=[1, most])
    base = plot(rows).encode(
        y=vega.Y("deterrent:N", sort=list(names.values()), axis=None),
        x=vega.X(
            "times:Q",
            title=text("times what it is now"),
            scale=scale,
            axis=vega.Axis(
                values=[10**i for i in range(round(math.log10(most)) + 1)], format=",~r"
            ),
        ),
    )
    colour = TARGETS[1][0]
    chart = vega.layer(
        base.mark_rule(strokeWidth=2, color=colour).encode(x2="one:Q"),
        base.mark_point(filled=True, size=120, color=colour, opacity=1),
        base.mark_text(align="left", dy=-13, fontSize=13).encode(
            text="label:N", x=vega.X("one:Q", scale=scale)
        ),
    )
    first, least, _ = ways[0]
    return figure_of(
        titled(
            chart,
            text(
                "What has to grow least is {deterrent}: from {now} to {amount}",
                deterrent=translated(DETERRENTS[first]),
                amount=enough(first, least, currency),
                now=now(terms, first, currency),
            ),
            text("how much of each would be enough by itself; the axis is logarithmic"),
            width=480,
            height=vega.Step(46),
        ),
        label=text("How much of each deterrent is enough, beside what it is now"),
        caption=text("The further to the left, the less has to change."),
        table=deterrents_table(outcome, currency),
    )


def risk_by_size(policy: Policy) -> Figure:
    """Show how likely a re-identification is in groups of each size, by the optimal plan."""
    risks = {text("optimal plan"): policy.reidentification.tolist()}
    after = policy.reidentification_after_access.tolist()
    if after not in risks.values():
        risks[text("access already paid")] = after
    attacked, end = policy.sizes[policy.value > 0].tolist(), policy.thresholds.no_attack
    if policy.belief is not None and not attacked:
        title = text("An attack pays in none of the sizes asked about")
    elif policy.belief is not None:
        title = text(
            "An attack pays where {first} to {last} people alike are expected",
            first=attacked[0],
            last=attacked[-1],
        )
    elif end is None:
        title = text("An attack pays on groups of up to a million, and perhaps on larger ones")
    elif end == 1:
        title = text("An attack pays on nobody, not even on somebody unlike anybody else")
    else:
        title = text("An attack pays on groups of fewer than {size}", size=end)
    return _by_size(
        policy,
        risks,
        lambda risk: percent_cell(Fraction(risk)),
        drawn_times=100,
        axis=text("probability of re-identification (%)"),
        title=title,
        subtitle=text("risk by the size of the group of people alike"),
        label=text("Probability of re-identification by size of the group"),
        caption=text("At a threshold the line falls to 0."),
    )


def value_by_size(policy: Policy, currency: str | None) -> Figure:
    """Show what the attack is worth to her in groups of each size."""
    values = {
        text("before access"): policy.value.tolist(),
        text("after access"): policy.value_after_access.tolist(),
    }
    title = (
        text(
            "The attack is worth {first} in a group of {small}, and {last} in one of {large}",
            first=hundredths(float(policy.value[0]), currency),
            small=int(policy.sizes[0]),
            last=hundredths(float(policy.value[-1]), currency),
            large=int(policy.sizes[-1]),
        )
        if policy.value.any()
        else text("The attack is worth nothing to her, whatever the size")
    )
    return _by_size(
        policy,
        values,
        lambda value: hundredths(value, currency),
        axis=text("value of the attack ({currency})", currency=currency)
        if currency
        else text("value of the attack"),
        title=title,
        subtitle=text("0: she does not begin, or stops"),
        label=text("Value of the attack by size of the group"),
        caption=text("The value never rises with the size.")
        if policy.belief is None
        else text("By the size that she expects; she may also find nobody."),
    )


def thresholds_by_parameter(outcome: Deterrence, currency: str | None) -> Figure:
    """Show from which size of groups on an attack does not pay, against each parameter by itself.

    What has to grow least to stop her comes first. Where it makes no difference that access is paid, there is one line.
    """
    order = [parameter for parameter, _, _ in nearest(outcome)]
    curves = sorted(
        outcome.curves,
        key=lambda curve: order.index(curve.parameter) if curve.parameter in order else len(order),
    )
    drawn = (curve for curve in curves if curve.parameter not in UNDRAWN)
    panels = (_thresholds_chart(curve, outcome, currency) for curve in drawn)
    end = outcome.policy.thresholds.no_attack
    title = (
        text("The group size from which an attack no longer pays, if one of the terms changes")
        if end is None
        else text(
            "Now an attack does not pay on groups of {size} or more; if one of the terms changes, that size moves",
            size=end,
        )
    )
    rows = {}
    for curve in curves:
        last = len(curve.values) - 1
        places = sorted({round(last * i / (MOST_VALUES - 1)) for i in range(MOST_VALUES)})
        rows[_parameter(curve, currency)] = [
            (
                number(float(curve.values[place]), ",.4g"),
                *(threshold(curve.thresholds[place].to_dict()[name]) for name in THRESHOLDS),
            )
            for place in places
        ]
    titles = map(translated, THRESHOLDS.values())
    return figure_of(
        titled(
            vega.concat(*panels, columns=2),
            title,
            text(
                "one of the terms varies, the others stay as they are; the dot is where it is now"
            ),
            (80, 90),
        ),
        label=text("The sizes of groups at which she changes her mind, against each parameter"),
        caption=text(
            "The axes are logarithmic, but for the discount and the chance that the target is registered. Lower is "
            "better for the people in the data."
        ),
        table=group_table(text("Value of the parameter"), titles, rows),
    )


def _thresholds_chart(curve: Sensitivity, outcome: Deterrence, currency: str | None) -> vega.Chart:
    series: dict[str, list[int | None]] = {}
    for name, words in THRESHOLDS.items():
        line = [sizes.to_dict()[name] for sizes in curve.thresholds]
        if name in LINES and line not in series.values():
            series[translated(words)] = line
    rows = [
        {"x": float(value), "who": who, "size": size}
        for who, line in series.items()
        for value, size in zip(curve.values, line, strict=True)
        if size is not None
    ]
    plain = curve.parameter in ("discount", "prior")
    names = [translated(THRESHOLDS[name]) for name in LINES]
    values = [float(value) for value in curve.values]
    x = vega.X(
        "x:Q",
        title=_parameter(curve, currency),
        scale=vega.Scale(zero=False) if plain else vega.Scale(type="log"),
        axis=vega.Axis(tickCount=4) if plain else _powers_of_ten(min(values), max(values)),
    )
    y = vega.Y(
        "size:Q",
        title=text("size of the group (people)"),
        scale=vega.Scale(type="log", domainMin=1),
        axis=_powers_of_ten(  # at 1 stands the first figure of the other axis
            10, max((size for line in series.values() for size in line if size), default=1)
        ),
    )
    lines = plot(rows).mark_line(interpolate="step-after", strokeWidth=2)
    layers: list[vega.Chart] = [lines.encode(x=x, y=y, **_told_apart(names))]
    now, end = present(outcome.policy.terms, curve.parameter), outcome.policy.thresholds.no_attack
    if end is not None and curve.values.min() <= now <= curve.values.max():
        dot = plot([{"x": now, "size": end, "label": text("now: {size}", size=end)}])
        dot = dot.encode(x=x, y=y)
        grows = curve.parameter in ("gain", "prior", "discount")
        side: Literal["left", "right"] = "left" if grows else "right"  # where no line is
        layers += [
            dot.mark_point(filled=True, size=90, color=TARGETS[0][0], opacity=1),
            dot.mark_text(align=side, dx=7 if side == "left" else -7, dy=13, fontSize=12).encode(
                text="label:N"
            ),
        ]
    return vega.layer(*layers).properties(width=280, height=180)


def _powers_of_ten(low: float, high: float) -> vega.Part:
    """Return a logarithmic axis with a figure at every power of ten, or at every so many of them.

    >>> _powers_of_ten(0.5, 3e6)["values"], _powers_of_ten(1, 500)["values"]
    ([1.0, 100.0, 10000.0, 1000000.0], [1.0, 10.0, 100.0])
    """
    first, last = (math.log10(max(edge, 1e-9)) for edge in (low, high))
    powers = range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)
    step = 1 + len(powers) // MOST_POWERS
    return vega.Axis(values=[10.0**power for power in powers[::step]], format=",~g")


def _parameter(curve: Sensitivity, currency: str | None) -> str:
    """Say a parameter with its unit."""
    name = translated(PARAMETERS.get(curve.parameter, curve.parameter))
    if currency is None or curve.parameter in ("detection", "discount", "prior"):
        return name
    return f"{name} ({currency})"


def _by_size(
    policy: Policy,
    series: Mapping[str, Sequence[float]],
    cell: Callable[[float], Cell | str],
    *,
    drawn_times: int = 1,
    axis: str,
    title: str,
    subtitle: str,
    label: str,
    caption: str,
) -> Figure:
    """Return lines over the sizes of groups, and their numbers at the sizes that tables show."""
    count = len(policy.sizes)
    step = max(1, -(-count // MOST_POINTS))
    rows = [
        {"size": int(policy.sizes[place]), "who": who, "y": drawn_times * values[place]}
        for who, values in series.items()
        for place in sorted({*range(0, count, step), count - 1})
    ]
    lines = plot(rows).mark_line(interpolate="step-after", strokeWidth=2)
    chart = lines.encode(
        x=vega.X("size:Q", title=text("size of the group (people)"), axis=vega.Axis(tickCount=10)),
        y=vega.Y("y:Q", title=axis, scale=vega.Scale(domainMin=0)),
        **_told_apart(list(series)),
    )
    numbers = (
        (number(int(policy.sizes[place])), *(cell(values[place]) for values in series.values()))
        for place in shown_sizes(policy)
    )
    return figure_of(
        titled(chart, title, subtitle, (85, 95), width=620, height=260),
        label=label,
        caption=caption,
        table=cell_table(text("Size of the group"), list(series), numbers),
    )


def _told_apart(who: list[str]) -> dict[str, vega.Part]:
    """Return how lines are told apart: by a colour and by dashes."""
    colours = vega.Scale(domain=who, range=[colour for colour, _ in TARGETS[: len(who)]])
    dashes = vega.Scale(domain=who, range=[[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]][: len(who)])
    legend = vega.Legend(labelLimit=320)
    return {
        "color": vega.Color("who:N", title=None, legend=legend, scale=colours),
        "strokeDash": vega.StrokeDash("who:N", title=None, scale=dashes),
    }


RISKS = (0, 5, 20, 50, 100)
"""The limits between risks of a record in a picture, in per cent."""


def exposure_figure(exposure: ReleaseExposure) -> Figure | None:
    """Show how many records of a release have which risk, by what the adversary knows.

    There is no such picture where it would have one bar.
    """
    risks = {
        text("she knows how many are alike"): exposure.known,
        text("she only knows how frequent they are"): exposure.unknown,
    }
    edges = [edge / 100 for edge in RISKS]
    labels = [
        text("no risk"),
        *(
            text("{low} to {high}%", low=number(low), high=number(high))
            for low, high in pairwise(RISKS)
        ),
    ]
    records = exposure.groups.records
    counts = {
        who: np.bincount(np.searchsorted(edges, risk), minlength=len(labels)).tolist()
        for who, risk in risks.items()
    }
    columns = {who: ToldCounts.of(column) for who, column in counts.items()}
    filled = [place for place in range(len(labels)) if any(c[place] for c in counts.values())]
    if len(filled) < 2:
        return None
    rows = [
        {
            "risk": labels[place],
            "who": who,
            "share": 100 * counts[who][place] / records if column.is_exact[place] else 0,
            "label": column.cells[place],
        }
        for who, column in columns.items()
        for place in filled
    ]
    base = plot(rows).encode(
        y=vega.Y("risk:N", sort=[labels[place] for place in filled], title=None),
        yOffset=vega.YOffset("who:N", sort=list(risks)),
        x=vega.X("share:Q", title=text("share of the records (%)"), scale=PER_CENT),
    )
    colour = vega.Color(
        "who:N",
        **keyed(list(risks), [look for look, _ in TARGETS[:2]]),
        legend=vega.Legend(columns=1),
    )
    chart = vega.layer(
        base.mark_bar().encode(color=colour),
        base.mark_text(align="left", dx=5, fontSize=12).encode(text="label:N"),
    )
    known, unknown = few_digits(exposure.expected_known), few_digits(exposure.expected_unknown)
    title = (
        text(
            "{known} of {records} people are expected to be re-identified, whether she knows how many are alike or not",
            known=known,
            records=records,
        )
        if known == unknown
        else text(
            "{known} of {records} people are expected to be re-identified if she knows how many are alike, {unknown} "
            "if not",
            known=known,
            records=records,
            unknown=unknown,
        )
    )
    numbers = (
        (labels[place], *(column.cells[place] for column in columns.values())) for place in filled
    )
    return figure_of(
        titled(
            chart,
            title,
            text("records by their risk of being re-identified"),
            (80, 90),
            width=440,
            height=vega.Step(20),
            padding={"left": 14, "top": 5, "right": 5, "bottom": 5},
        ),
        label=text("How many records have which risk"),
        caption=text("The number beside a bar is the number of records."),
        table=cell_table(text("Risk of re-identification"), list(risks), numbers),
    )


def deterrents_table(outcome: Deterrence, currency: str | None) -> Table:
    """Return how much of each deterrent there is, and how much would be enough."""
    terms = outcome.policy.terms
    rows = [
        (
            text(
                "{deterrent}, for a group of {size}",
                deterrent=translated(DETERRENTS[deterrent.parameter]),
                size=deterrent.size or 1,
            ),
            now(terms, deterrent.parameter, currency),
            enough(deterrent.parameter, deterrent.least, currency),
            enough(deterrent.parameter, deterrent.lasting, currency),
        )
        for deterrent in outcome.deterrents
    ]
    size = outcome.size
    rows.append((text("the size of the group"), "", threshold(size.least), threshold(size.lasting)))
    titles = (text("now"), text("enough at"), text("enough from here on"))
    return cell_table(text("Deterrent"), titles, rows)
