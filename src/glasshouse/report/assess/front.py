"""The first screen of an assessment: three figures, what to do, and how risk grows with what somebody knows."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from glasshouse.disclosure import smallest_cell
from glasshouse.language import number, text, text_for
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.assessment import Advice
from glasshouse.report import vega
from glasshouse.report.assess.findings import most_at_risk
from glasshouse.report.attacks import (
    fewest,
    knowledge_in_short,
    last_window,
    target_label,
    widest,
)
from glasshouse.report.cells import group_table, percent_cell
from glasshouse.report.charts import NEUTRAL, PER_CENT, TARGETS, plot, titled
from glasshouse.report.page import MOST_ACTIONS, Action, Cell, Figure, Tile, keep_assumptions
from glasshouse.report.severity import SMALL_CLASS
from glasshouse.report.words import (
    cases,
    counted,
    enumeration,
    joined,
    percentage,
    percentages,
    plural,
    rounded,
    share,
)
from glasshouse.study import Address, Dialect, ReleaseStudy
from glasshouse.study.assess import AssessStudy
from glasshouse.study.policy import Measure, ReleasePolicy, promise_of, promised

RISK, RULE = TARGETS[0][0], NEUTRAL
"""The colours of the risk, and of what the rule allows."""


def tiles(assessment: Assessment, *, subject: str) -> tuple[Tile, ...]:
    """Return who is at risk, what is given away or who is nearly alone, and how little is enough to know."""
    naming, *inferring = widest(assessment.attacks)
    second = (
        _given_away(sorted(inferring, key=most_at_risk), subject)
        if inferring
        else _nearly_alone(naming, subject)
    )
    enough = fewest(assessment)
    third = None if enough is None else _enough(enough, subject)
    return tuple(filter(None, (_at_risk(naming, subject), second, third)))


def _at_risk(attack: Attack, subject: str) -> Tile:
    title = text("Who is at risk")
    guess = attack.probabilistic.posterior
    if attack.certain == 0:
        return Tile(
            title,
            percentage(guess),
            text(
                "is how often a best guess at who it is would be right; none of the {people} can be named outright",
                people=counted(attack.records, subject),
            ),
        )
    named = attack.deterministic.posterior
    return Tile(
        title,
        percentage(named),
        text(
            "of the {people} can be named outright; a best guess at who it is would be right {cases}",
            people=plural(subject),
            cases=cases(guess),
        ),
        of_hundred=min(99, max(1, rounded(100 * named))) if named < 1 else 100,
    )


def _given_away(attacks: Sequence[Attack], subject: str) -> Tile:
    """Return what a guess at the secret that is most at risk gains, and at the next one; or what becomes certain."""
    title, (first, *others) = text("What is given away"), attacks
    guess, secret = first.probabilistic, enumeration(first.secret)
    before, after = percentages(guess.prior, guess.posterior)
    if before == after:
        return Tile(
            title,
            percentage(first.deterministic.posterior),
            text(
                "of the {people} have their {secret} learned with certainty; guesses at it are right in {after} of "
                "cases, with or without these facts",
                people=plural(subject),
                secret=secret,
                after=after,
            ),
        )
    sentence = text("right guesses of {secret}, before and after", secret=secret)
    if others:
        sentence = text(
            "{first}; of {secret}: {change}",
            first=sentence,
            secret=enumeration(others[0].secret),
            change=_change(others[0].probabilistic.prior, others[0].probabilistic.posterior),
        )
    return Tile(title, f"{before} → {after}", sentence)


def _nearly_alone(attack: Attack, subject: str) -> Tile | None:
    """Return how many look like few others; None: that is not known."""
    if not any(attack.class_sizes.classes):
        return None
    exposed = attack.class_sizes.records_below(SMALL_CLASS)
    return Tile(
        text("Who is nearly alone"),
        share(exposed, attack.records),
        text(
            "of the {people} look like at most {few} others",
            people=plural(subject),
            few=SMALL_CLASS - 2,
        ),
    )


def _enough(attack: Attack, subject: str) -> Tile:
    facts = len(attack.quasi_identifiers)
    return Tile(
        text("How little is enough"),
        text_for(facts, "{count} fact", "{count} facts"),
        text(
            "with {known} alone, {named} of the {people} can be named outright; a best guess would be right {cases}",
            known=knowledge_in_short(attack),
            named=percentage(attack.deterministic.posterior),
            people=plural(subject),
            cases=cases(attack.probabilistic.posterior),
        ),
    )


def actions(
    assessment: Assessment, study: AssessStudy | None, *, meets: bool, swept: bool
) -> tuple[Action, ...]:
    """Return what to do.

    Args:
        assessment: What came out.
        study: What was asked; None: no command can be told.
        meets: Whether the policy is met.
        swept: Whether every set of attributes was assessed, from which it follows what to leave out.
    """
    if meets:
        return (keep_assumptions(),)
    if not swept:
        return (
            Action(
                text("Assess every set of attributes: then it is told here what to leave out."),
                command=sweeping(study),
            ),
        )
    chosen = chosen_advice(assessment.advice)
    if not any(advice.meets for advice in chosen):
        nothing = Action(
            text(
                "Leaving out attributes is not enough: no set of them meets the rule. Restrict who gets the file, or "
                "protect what is sensitive itself (glasshouse anonymise)."
            )
        )
        return (*(_action(advice, study) for advice in chosen[: MOST_ACTIONS - 1]), nothing)
    return tuple(_action(advice, study) for advice in chosen)


def chosen_advice(advice: Sequence[Advice]) -> list[Advice]:
    """Return the advice that is told first: the least that helps, then what is enough, and generalising."""
    leave_out = [entry for entry in advice if entry.kind == "leave-out"]
    publish = [entry for entry in advice if entry.kind == "publish"]
    generalise = [entry for entry in advice if entry.kind == "generalise"]
    enough = [entry for entry in leave_out if entry.meets][:1]
    chosen = enough or [*leave_out[:1], *(publish[:1] or leave_out[1:2])]
    return [*chosen, *(generalise or publish[1:])][:MOST_ACTIONS]


def _action(advice: Advice, study: AssessStudy | None) -> Action:
    change = _change(advice.before, advice.after)
    if advice.secret is None:
        change = text("Right guesses at who it is: {change}.", change=change)
    else:
        change = text(
            "Right guesses of {secret}: {change}.",
            secret=enumeration([advice.secret]),
            change=change,
        )
    if advice.kind == "leave-out":
        sentence = text("Leave out {columns}.", columns=enumeration(advice.left_out))
    elif advice.kind == "publish":
        sentence = text(
            "Of what somebody could know, publish only {columns}.",
            columns=enumeration(advice.quasi_identifiers),
        )
    else:
        sentence = _generalising(advice)
    command = "" if study is None or _names_values(study) else command_of(advice, study)
    return Action(sentence, change, advice.meets, command)


def _generalising(advice: Advice) -> str:
    steps = [
        text_for(
            level,
            "{column} by {count} level",
            "{column} by {count} levels",
            column=enumeration([name]),
        )
        for name, level in advice.levels.items()
    ]
    return text(
        "Generalise {steps}; nobody’s record is removed, and {loss} of the detail is lost, the least that is possible "
        "if a value is generalised alike in all records.",
        steps=joined(steps),
        loss=percentage(Fraction(str(advice.loss or 0.0))),
    )


def _change(before: Fraction, after: Fraction) -> str:
    return " → ".join(percentages(before, after))


def band_figure(assessment: Assessment, policy: ReleasePolicy) -> Figure | None:
    """Show how risk grows with the number of facts that somebody knows: the least, the median and the worst set.

    The line is what the rule allows. There is no such picture where one number of facts was assessed.
    """
    by_size: dict[int, list[Fraction]] = {}
    for attack in last_window(assessment.attacks):
        if not attack.secret:
            risks = by_size.setdefault(len(attack.quasi_identifiers), [])
            risks.append(attack.probabilistic.posterior)
    if len(by_size) < 2:
        return None
    bands = []
    for size, risks in sorted(by_size.items()):
        risks.sort(
            key=lambda risk: (float(risk), risk)
        )  # a ratio decides only between equal quotients
        bands.append((size, risks[0], median(risks), risks[-1], len(risks)))
    rows = [
        {
            "facts": size,
            "least": 100 * float(least),
            "median": 100 * float(middle),
            "worst": 100 * float(worst),
            "label": percentage(worst, 0),
        }
        for size, least, middle, worst, _ in bands
    ]
    highest = max(worst for *_, worst, _ in bands)
    allowed = _allowed(policy, "best-guess")
    top = max(highest, allowed or Fraction(0))
    scale = PER_CENT if top > Fraction(1, 2) else vega.Scale(domain=[0, float(120 * top) or 1.0])
    base = plot(rows).encode(
        x=vega.X(
            "facts:O",
            title=text("facts that somebody knows of a person"),
            axis=vega.Axis(labelAngle=0),
        )
    )
    worst = vega.Y("worst:Q", title=text("right guesses (%)"), scale=scale)
    layers = [
        base.mark_area(opacity=0.22, color=RISK).encode(y=worst, y2="least:Q"),
        base.mark_line(strokeWidth=1.5, strokeDash=[4, 3], color=RISK).encode(
            y=vega.Y("median:Q", scale=scale)
        ),
        base.mark_line(
            strokeWidth=2.5, color=RISK, point=vega.OverlayMarkDef(size=60, color=RISK)
        ).encode(y=worst),
        base.mark_text(dy=-10, fontSize=12).encode(y=worst, text="label:N"),
    ]
    if allowed is not None:
        rule = plot([{"limit": 100 * float(allowed), "label": _rule_label(allowed)}])
        layers += [
            rule.mark_rule(strokeDash=[6, 4], strokeWidth=2, color=RULE).encode(
                y=vega.Y("limit:Q", scale=scale)
            ),
            rule.mark_text(align="right", dx=-4, dy=-7, fontSize=12, color="#555").encode(
                x=vega.value("width"), y=vega.Y("limit:Q", scale=scale), text="label:N"
            ),
        ]
    titles = (text("Sets"), text("Lowest"), text("Median"), text("Highest"))
    numbers = [
        (Cell(number(size)), Cell(number(sets)), *map(percent_cell, risks))
        for size, *risks, sets in bands
    ]
    return Figure.of(
        titled(
            vega.layer(*layers),
            _band_title(bands),
            text("line: the worst set of so many facts; dashed: the median; shaded: all sets"),
            width=680,
            height=140,
        ),
        label=text("Risk by the number of facts that are known"),
        caption=text(
            "{sets} sets of quasi-identifiers; the exact figures of each are in results.parquet beside this report.",
            sets=sum(sets for *_, sets in bands),
        ),
        table=group_table(text("Facts known"), titles, {target_label(()): numbers}),
    )


def _band_title(bands: Sequence[tuple[int, Fraction, Fraction, Fraction, int]]) -> str:
    """Say how risk grows from the fewest facts to all of them."""
    (few, *_, first, _), (many, *_, last, _) = bands[0], bands[-1]
    before, after = percentages(first, last)
    return text(
        "With {few} known, up to {before} of guesses at who it is are right; with all {many}, {after}",
        few=text_for(few, "{count} fact", "{count} facts"),
        before=before,
        many=many,
        after=after,
    )


def _allowed(policy: ReleasePolicy, measure: Measure) -> Fraction | None:
    limits = [entry.limit for entry in policy.conditions if entry.measure == measure]
    return min(limits, default=None)


def _rule_label(limit: Fraction) -> str:
    return text(
        "the rule: {share}", share=text("{figure}%", figure=number(100 * float(limit), ".4g"))
    )


# The command that shows what an advice comes to


def _names_values(study: ReleaseStudy) -> bool:
    """Tell whether a command about a study would name values of its data, which never leave the house."""
    return bool(study.treatment.where or study.treatment.invalid)


def assess_command(study: AssessStudy, names: Sequence[str]) -> str:
    """Return the command that assesses a set of attributes; none where it would tell values."""
    if _names_values(study):
        return ""
    return shlex.join(["glasshouse", "assess", *command_words(study, names), "--subsets", "full"])


def sweeping(study: AssessStudy | None) -> str:
    """Return the command that assesses every set of attributes; none where the study cannot ask for that."""
    if study is None or _names_values(study) or not study.adversary.guesses_once or study.links:
        return ""
    words = command_words(study, study.adversary.knowable)
    return shlex.join(["glasshouse", "assess", *words, "--subsets", "all"])


def command_of(advice: Advice, study: AssessStudy) -> str:
    """Return the command that shows what an advice comes to, as it is typed where the files are."""
    if advice.kind == "generalise":
        policy = study.policy
        promise = [] if promised(policy) == promise_of(policy) else ["--policy", policy.name]
        return anonymise_command(study, advice.quasi_identifiers, promise_of(policy), *promise)
    return shlex.join(["glasshouse", "assess", *command_words(study, advice.quasi_identifiers)])


def anonymise_command(
    study: ReleaseStudy, names: Sequence[str], promise: Mapping[str, Any], *words: str
) -> str:
    """Return the command that generalises some of what can be known until what is promised holds."""
    options = [
        word
        for name, value in promise.items()
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    return shlex.join(
        [
            *("glasshouse", "anonymise", *command_words(study, names)),
            *(options or ("--k", str(smallest_cell()))),
            *words,
            *("--out", "protected"),
        ]
    )


def less_detail_command(study: ReleaseStudy, names: Sequence[str]) -> str:
    """Return the command by which people are named as seldom as the rule asks; by default as the smallest cell asks.

    Of several files, or where it would tell values, there is none.
    """
    silent = len(study.datasets) > 1 or _names_values(study)
    return "" if silent else anonymise_command(study, names, promised(study.policy))


def command_words(study: ReleaseStudy, names: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command about the files of a study, with some of what can be known."""
    adversary, treatment = study.adversary, study.treatment
    for dataset in study.datasets:
        yield str(dataset.path if isinstance(dataset.path, Address) else dataset.path.name)
    for name in names:
        columns = adversary.facts.get(name)
        yield from ("-q", name) if columns is None else ("--fact", f"{name}={_listed(columns)}")
    for columns in adversary.secrets:
        plain = len(columns) == 1 and not set(',"') & set(columns[0])
        yield from ("-s", columns[0] if plain else _listed(columns))
    for option, value in (("--id", adversary.identifier), ("--weight", adversary.weight)):
        yield from () if value is None else (option, value)
    yield from _dialect_words(study.datasets[0].dialect)
    for name, kind in study.datasets[0].types.items():
        yield from ("--type", f"{name}={kind}")
    for name, codes in study.datasets[0].missing.items():
        yield from ("--missing", f"{name}={_listed(codes)}")
    dataset = study.datasets[0]
    for word in ("date", "derive", "bands", "group"):
        for name, rule in getattr(dataset, word).items():
            yield from (f"--{word}", f"{name}={rule}")
    if adversary.missing_is_a_value:
        yield "--missing-is-a-value"
    for option, conditions in (("--where", treatment.where), ("--invalid", treatment.invalid)):
        for condition in conditions:
            yield from (option, condition)
    if treatment.drop_missing:
        yield "--drop-missing"


def _dialect_words(dialect: Dialect) -> Iterator[str]:
    """Yield how a file is written down, as it is typed."""
    for name, value in dialect.model_dump(exclude_defaults=True).items():
        if name == "header":
            yield "--no-header"
        elif value is True:
            yield f"--{name}"
        else:
            yield from (f"--{name}", _listed(value) if name == "names" else str(value))


def _listed(names: Sequence[str]) -> str:
    """Return names as one list, as it is typed: one with a comma stands in quotation marks.

    >>> _listed(["age", "income, net"])
    'age,"income, net"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
