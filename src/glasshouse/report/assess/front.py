"""The first screen of an assessment: three figures, what to do, and how risk grows with what somebody knows."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median

from glasshouse.conditions import without_values
from glasshouse.language import number, percentage, rounded, text, text_for
from glasshouse.measures.assess import of_assessment
from glasshouse.measures.attacks import fewest, last_window, widest
from glasshouse.measures.measurement import Measurement
from glasshouse.measures.verdict import Judgement, Verdict, verdict_on
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.assessment import Advice
from glasshouse.microdata.closeness import Closeness
from glasshouse.microdata.leakage import Leakage
from glasshouse.report import vega
from glasshouse.report.assess.closeness import tolerance_text
from glasshouse.report.assess.findings import most_at_risk
from glasshouse.report.assess.knowledge import knowledge_tiles
from glasshouse.report.attacks import knowledge_in_short, target_label
from glasshouse.report.cells import group_table, percent_cell
from glasshouse.report.charts import NEUTRAL, TARGETS, figure_of, plot, titled
from glasshouse.report.page import (
    MOST_ACTIONS,
    Action,
    Cell,
    Figure,
    Finding,
    Tile,
    keep_assumptions,
    remedies,
)
from glasshouse.report.severity import SMALL_CLASS
from glasshouse.report.verdict import binding_words
from glasshouse.report.words import cases, counted, enumeration, percentages, plural, share
from glasshouse.study import Address, Dialect, ReleaseStudy
from glasshouse.study.assess import AssessStudy
from glasshouse.study.membership import MembershipStudy
from glasshouse.study.policy import OPEN_DATA, Measure, ReleasePolicy, promise_of
from glasshouse.table.generalised import SUPPRESSED
from glasshouse.table.profiles import is_of_nobody

LEAST_SIZES = 3
"""Of fewer numbers of facts there is no picture of how risk grows with them."""
LABELS_BESIDE = 5
"""So many figures have room beside one another on a narrow screen."""
BAND_HEIGHT, LABEL_ABOVE, LABEL_BELOW, LABEL_HEIGHT = 160, 11, 15, 16
"""How high that picture is, how far above or below its mark a label stands, and how high it is, in pixels."""
RISK, RULE = TARGETS[0][0], NEUTRAL
"""The colours of the risk, and of what the rule allows."""


def tiles(assessment: Assessment, *, subject: str) -> tuple[Tile, ...]:
    """Return who is at risk, what is given away or who is nearly alone, and how little is enough to know.

    Where it was asked what somebody learns who does not know all exactly, that is told, beside who does; where a guess
    need only be close, how often it is.
    """
    naming, *inferring = widest(assessment.attacks)
    closely = _closely_guessed(assessment, naming, inferring) if assessment.close else None
    if assessment.inexact is not None:
        return (*knowledge_tiles(assessment, subject), *filter(None, [closely]))
    if closely is not None:
        second: Tile | None = closely
    elif inferring:
        second = _given_away(sorted(inferring, key=most_at_risk), subject)
    else:
        second = _nearly_alone(naming, subject)
    enough = fewest(assessment)
    third = None if enough is None else _enough(enough, subject)
    return tuple(filter(None, (_at_risk(naming, subject), second, third)))


def _closely_guessed(assessment: Assessment, naming: Attack, inferring: Sequence[Attack]) -> Tile:
    """Return how often a guess at the number that is most at risk comes close, and how often it is exactly right."""

    def guess_at(close: Closeness) -> Leakage:
        return close.guess(close.row_of(naming.quasi_identifiers))

    most = max(assessment.close, key=lambda close: guess_at(close).additive)
    guess = guess_at(most)
    (exact,) = (attack.probabilistic for attack in inferring if attack.secret == (most.secret,))
    return Tile(
        text("What is learned"),
        _change(guess.prior, guess.posterior),
        text(
            "guesses at {secret} {tolerance}, without these facts and with them; exactly right: {exact}",
            secret=enumeration([most.secret]),
            tolerance=tolerance_text(most.tolerance),
            exact=_change(exact.prior, exact.posterior),
        ),
    )


def _at_risk(attack: Attack, subject: str) -> Tile:
    title = text("Who is at risk")
    guess = attack.probabilistic.posterior
    if attack.certain == 0:
        return Tile(
            title,
            percentage(guess),
            text("chance that a best guess is right; nobody can be identified outright"),
        )
    named = attack.deterministic.posterior
    return Tile(
        title,
        percentage(named),
        text(
            "of the {people} can be identified outright; a best guess at who it is would be right {cases}",
            people=plural(subject),
            cases=cases(guess),
        ),
        of_hundred=_of_hundred(named),
    )


def _of_hundred(share: Fraction) -> int | None:
    """Return how many of a hundred people are drawn for a share; None: they would be fewer than one."""
    if share < Fraction(1, 100):
        return None
    return min(99, rounded(100 * share)) if share < 1 else 100


def _given_away(attacks: Sequence[Attack], subject: str) -> Tile:
    """Return what a guess at the secret that is most at risk gains, and at the next one; or what becomes certain."""
    title, (first, *others) = text("What is learned"), attacks
    guess, secret = first.probabilistic, enumeration(first.secret)
    before, after = percentages(guess.prior, guess.posterior)
    if before == after:
        return Tile(
            title,
            percentage(first.deterministic.posterior),
            text(
                "of the {people} have their {secret} revealed with certainty; guesses at it are right in {after} of "
                "cases, with or without these facts",
                people=plural(subject),
                secret=secret,
                after=after,
            ),
        )
    sentence = text(
        "correct guesses at {secret}, without these facts and with them; certain: {certain}",
        secret=secret,
        certain=percentage(first.deterministic.posterior),
    )
    if others:
        sentence = text(
            "{first}; at {secret}: {change}",
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
            "of the {people} look like at most {few} others; {alone} look like nobody else",
            people=plural(subject),
            few=SMALL_CLASS - 2,
            alone=share(attack.class_sizes.records_below(2), attack.records),
        ),
    )


def _enough(attack: Attack, subject: str) -> Tile:
    facts = len(attack.quasi_identifiers)
    return Tile(
        text("How little is enough"),
        text_for(facts, "{count} fact", "{count} facts"),
        text(
            "with {known} alone, {named} of the {people} can be identified outright; a best guess would be right "
            "{cases}",
            known=knowledge_in_short(attack),
            named=percentage(attack.deterministic.posterior),
            people=plural(subject),
            cases=cases(attack.probabilistic.posterior),
        ),
    )


def actions(
    assessment: Assessment, study: AssessStudy | None, *, verdict: Verdict | None, swept: bool
) -> tuple[Action, ...]:
    """Return what to do: nothing that is known not to be enough, and each with the command that makes the file.

    Args:
        assessment: What came out.
        study: What was asked; None: no command can be told.
        verdict: What the policy says; None: nothing is known of it.
        swept: Whether every set of attributes was assessed, from which it follows what to leave out.
    """
    if verdict is not None and verdict.meets:
        return (keep_assumptions(),)
    policy, subject = (OPEN_DATA, "person") if study is None else (study.policy, study.subject)
    if (few := too_few(assessment.records, policy, subject)) is not None:
        return (few,)
    if assessment.sanitised:
        return tuple(_of_sanitised(assessment, verdict))
    if shared := _shared_secrets(verdict, assessment):
        return (
            Action(
                text(
                    "Leave out {secrets}: it is the same for everybody in the file, so being in it gives it away.",
                    secrets=enumeration(shared),
                )
            ),
        )
    if not swept:
        sweep = Action(
            text("Assess every set of columns for advice on what to leave out."),
            command=sweeping(study),
        )
        return (sweep, *in_less_detail(study))
    chosen = chosen_advice(assessment.advice)
    steps = [_action(advice, study, policy) for advice in chosen]
    if not any(advice.kind == "generalise" or not advice.left_out for advice in chosen):
        steps = [*steps[: MOST_ACTIONS - 1], *in_less_detail(study)]
    if not any(advice.meets for advice in chosen):
        restrict = Action(
            text(
                "Leaving out columns is not enough: no set of them was found that meets the rule. Restrict who gets "
                "the file, or publish none of them."
            )
        )
        steps = [*steps[: MOST_ACTIONS - 1], restrict]
    return tuple(steps)


def _shared_secrets(verdict: Verdict | None, assessment: Assessment) -> list[str]:
    """Return the secrets that are the same for everybody, where a rule limits what becomes certain."""
    failing = {
        judgement.measured.of
        for judgement in (() if verdict is None else verdict.judgements)
        if judgement.condition.measure == "inference-certain" and not judgement.met
    }
    return [
        name
        for attack in widest(assessment.attacks)
        if attack.deterministic.prior == 1 and attack.sensitive in failing
        for name in attack.secret
    ]


def _of_sanitised(assessment: Assessment, verdict: Verdict | None) -> Iterator[Action]:
    """Yield what to do about a release that was protected before."""
    if assessment.with_suppressed is not None and verdict is not None:
        without = of_assessment(replace(assessment, with_suppressed=None))
        dropped = verdict_on((*verdict.of_columns, *without), verdict.policy)
        if dropped is not None and dropped.meets:
            yield Action(
                text(
                    "Leave the suppressed records out of the file: make the release without them (glasshouse "
                    "anonymise, --drop-suppressed)."
                ),
                meets=True,
            )
    yield Action(
        text(
            "This file was protected before: protect its original again, by this rule (glasshouse protect)."
        )
    )


def too_few(records: int, policy: ReleasePolicy, subject: str) -> Action | None:
    """Say that no release of so few people can meet a rule, and how many it needs; None: they are not too few."""
    needed = policy.people_needed
    if records >= needed:
        return None
    return Action(
        text(
            "{people} are too few for this rule, whatever is done: it needs at least {needed}. Publish totals instead "
            "of records, or restrict who gets the file.",
            people=counted(records, subject),
            needed=number(needed),
        )
    )


def in_less_detail(study: ReleaseStudy | None) -> Iterator[Action]:
    """Yield that columns can be told in less detail, with the command that makes such files, where there is one."""
    command = protect_command(study)
    if study is None or command:
        yield Action(
            text(
                "To keep more columns, publish them in less detail: glasshouse protect makes versions, "
                "each with its verdict and its cost."
            ),
            command=command,
        )


def chosen_advice(advice: Sequence[Advice]) -> list[Advice]:
    """Return the advice that is told first: the least to leave out that is enough, else what may be kept at most.

    What is not enough is not told; of what is not known the sentence says so.
    """
    leave_out = [entry for entry in advice if entry.kind == "leave-out" and entry.meets]
    publish = [entry for entry in advice if entry.kind == "publish" and entry.meets is not False]
    generalise = [
        entry for entry in advice if entry.kind == "generalise" and entry.meets is not False
    ]
    return [*(leave_out[:1] or publish[:1]), *(generalise or publish[1:])][:MOST_ACTIONS]


def _binds(advice: Advice, policy: ReleasePolicy) -> str:
    """Say which condition is nearest to its limit in an advised release; nothing where that is not known."""
    asked = ("measure", "of", "knows")
    measure, secret, facts = (advice.binding.get(name) for name in asked)
    for condition in policy.conditions:
        knows = None if condition.knows == "all" else condition.knows
        if (condition.measure, knows) == (measure, facts) and condition.of in (None, secret):
            about = Measurement(
                condition.measure, condition.limit, None if secret is None else str(secret), knows
            )
            return binding_words(Judgement(condition, about))
    return ""


def _action(advice: Advice, study: AssessStudy | None, policy: ReleasePolicy) -> Action:
    change = _change(advice.before, advice.after)
    if advice.secret is None:
        change = text("Correct identifications: {change}.", change=change)
    else:
        change = text(
            "Correct guesses at {secret}: {change}.",
            secret=enumeration([advice.secret]),
            change=change,
        )
    if advice.kind == "publish" and not advice.left_out:
        sentence = text(
            "Publish only the columns that were looked at: {columns}.",
            columns=enumeration(advice.quasi_identifiers),
        )
    elif advice.kind == "leave-out":
        sentence = text("Leave out {columns}.", columns=enumeration(advice.left_out))
    elif advice.kind == "publish" and study is not None and len(study.datasets) == 1:
        columns = [*advice.quasi_identifiers, *map(_asked_of, study.adversary.secret_columns)]
        sentence = text(
            "Publish only {columns}.", columns=enumeration(list(dict.fromkeys(columns)))
        )
    elif advice.kind == "publish":
        sentence = text(
            "Of the identifying columns, keep only {columns}.",
            columns=enumeration(advice.quasi_identifiers),
        )
    else:
        sentence = _generalising(advice)
    if advice.besides:
        sentence += " " + text(
            "These columns stay out as well: {columns}.", columns=enumeration(advice.besides)
        )
    if advice.meets is None:
        sentence += " " + text("Whether that meets the rule is not known: check the file.")
    command = "" if study is None else command_of(advice, study)
    return Action(sentence, change, advice.meets, command, _binds(advice, policy))


def _generalising(advice: Advice) -> str:
    """Say what becomes of each column, by a made-up example where there is one."""
    steps = []
    for name, (value, label) in advice.examples.items():
        column = enumeration([name])
        if label == SUPPRESSED:
            steps.append(text("{column} is left out", column=column))
        elif value:
            steps.append(
                text("{column}: {value} becomes {label}", column=column, value=value, label=label)
            )
        else:
            steps.append(text("{column} in less detail", column=column))
    return text(
        "Publish columns in less detail – {steps}. No record is removed, and {loss} of the detail is lost: "
        "the least possible if a value is generalised alike in all records.",
        steps="; ".join(steps),
        loss=percentage(Fraction(str(advice.loss or 0.0))),
    )


def _change(before: Fraction, after: Fraction) -> str:
    return " → ".join(percentages(before, after))


def band_figure(assessment: Assessment, policy: ReleasePolicy) -> Figure | None:
    """Show how risk grows with the number of facts that somebody knows: the least, the median and the worst set.

    The line is what the rule allows. There is no such picture where fewer than three numbers of facts were assessed, or
    where the worst set of every number is as bad as any other.
    """
    bands = _bands(assessment)
    if len(bands) < LEAST_SIZES:
        return None
    if len({percentage(worst) for *_, worst, _ in bands}) == 1:
        return None
    highest = max(worst for *_, worst, _ in bands)
    allowed = _allowed(policy, "best-guess")
    top = max(highest, allowed or Fraction(0)) * Fraction(6, 5) or Fraction(1, 100)
    scale = vega.Scale(domain=[0, float(100 * top)], nice=False)
    labelled = _labelled([worst for _, _, _, worst, _ in bands], allowed)
    heights = {size: float(BAND_HEIGHT * (1 - worst / top)) for size, _, _, worst, _ in bands}
    line = None if allowed is None else float(BAND_HEIGHT * (1 - allowed / top))
    digits = 1 if highest < Fraction(1, 10) or _is_near(allowed, bands) else 0
    rows = [
        {
            "facts": size,
            "least": 100 * float(least),
            "median": 100 * float(middle),
            "worst": 100 * float(worst),
            "label": percentage(worst, digits) if place in labelled else "",
            "dy": _label_place(heights[size], line),
        }
        for place, (size, least, middle, worst, _) in enumerate(bands)
    ]
    base = plot(rows).encode(
        x=vega.X(
            "facts:O",
            title=text("facts that somebody knows about a person"),
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
        *(
            base.transform_filter(vega.equal(dy=dy))
            .mark_text(dy=dy, fontSize=12)
            .encode(y=worst, text="label:N")
            for dy in dict.fromkeys(row["dy"] for row in rows)
        ),
    ]
    subtitle = text(
        "line: the worst combination of that many facts; dashed: the median; shaded: all combinations"
    )
    if allowed is not None and line is not None:
        labels = [
            height + float(str(row["dy"]))
            for height, row in zip(heights.values(), rows, strict=True)
        ]
        end = _free_end(labels, line)
        layers += _rule_layers(allowed, vega.Y("limit:Q", scale=scale), end)
        if end is None:
            subtitle = text(
                "{subtitle}; grey: {rule}", subtitle=subtitle, rule=_rule_label(allowed)
            )
    titles = (text("Sets"), text("Lowest"), text("Median"), text("Highest"))
    numbers = [
        (Cell(number(size)), Cell(number(sets)), *map(percent_cell, risks))
        for size, *risks, sets in bands
    ]
    return figure_of(
        titled(
            vega.layer(*layers),
            _band_title(bands),
            subtitle,
            width=680,
            height=BAND_HEIGHT,
        ),
        label=text("Risk by the number of facts that are known"),
        caption=text(
            "{sets} sets of quasi-identifiers; the exact figures of each are in results.parquet beside this report.",
            sets=sum(sets for *_, sets in bands),
        ),
        table=group_table(text("Facts known"), titles, {target_label(()): numbers}),
    )


Band = tuple[int, Fraction, Fraction, Fraction, int]
"""Of a number of facts, the least, the median and the greatest risk, and how many sets of so many there are."""


def _bands(assessment: Assessment) -> list[Band]:
    """Return how great the risk is by the number of facts that somebody knows."""
    by_size: dict[int, list[Fraction]] = {}
    for attack in last_window(assessment.attacks):
        if not attack.secret:
            risks = by_size.setdefault(len(attack.quasi_identifiers), [])
            risks.append(attack.probabilistic.posterior)
    bands = []
    for size, risks in sorted(by_size.items()):
        # a ratio decides only between equal quotients
        risks.sort(key=lambda risk: (float(risk), risk))
        bands.append((size, risks[0], median(risks), risks[-1], len(risks)))
    return bands


def _rule_layers(allowed: Fraction, y: vega.Part, end: str | None) -> list[vega.Chart]:
    """Return the line of what the rule allows, and what is said of it at the end where there is room."""
    rule = plot([{"limit": 100 * float(allowed), "label": _rule_label(allowed)}])
    line = rule.mark_rule(strokeDash=[6, 4], strokeWidth=2, color=RULE).encode(y=y)
    if end is None:
        return [line]
    left = end == "left"
    label = rule.mark_text(
        align="left" if left else "right", dx=4 if left else -4, dy=-8, fontSize=12, color="#555"
    )
    x = vega.value(0 if left else "width")
    return [line, label.encode(x=x, y=y, text="label:N")]


def _is_near(allowed: Fraction | None, bands: Sequence[Band]) -> bool:
    """Tell whether a risk is so near to what the rule allows that whole per cents would not tell them apart."""
    return allowed is not None and any(
        abs(worst - allowed) < Fraction(1, 100) for _, _, _, worst, _ in bands
    )


def _labelled(risks: Sequence[Fraction], allowed: Fraction | None) -> set[int]:
    """Return which of some marks from left to right have room for their figure, also on a narrow screen.

    The last and the first come before the last one that the rule allows, and that before all others.

    >>> sorted(_labelled([Fraction(place, 20) for place in range(11)], Fraction(1, 4)))
    [0, 5, 10]
    >>> sorted(_labelled([Fraction(place, 20) for place in range(5)], None))
    [0, 1, 2, 3, 4]
    """
    within = [place for place, risk in enumerate(risks) if allowed is not None and risk <= allowed]
    labelled: list[int] = []
    for place in (len(risks) - 1, 0, *within[-1:], *range(len(risks))):
        if all(abs(place - other) * LABELS_BESIDE >= len(risks) for other in labelled):
            labelled.append(place)
    return set(labelled)


def _label_place(mark: float, line: float | None) -> int:
    """Return how far below its mark a label stands: above it, unless a line would go through it there.

    >>> [_label_place(mark, 100.0) for mark in (40.0, 112.0, 150.0, 113.0)], _label_place(153.0, 143.0)
    ([-11, 15, -11, 15], -20)
    """
    if line is None or abs(mark - LABEL_ABOVE - line) >= LABEL_HEIGHT / 2 + 1:
        return -LABEL_ABOVE
    if mark + LABEL_BELOW + LABEL_HEIGHT / 2 <= BAND_HEIGHT:
        return LABEL_BELOW
    return round(line - LABEL_HEIGHT / 2 - 2 - mark)


def _free_end(labels: Sequence[float], line: float) -> str | None:
    """Return at which end of a line there is room for what is said of it, above it; None: at neither.

    >>> _free_end([90, 70, 20, 10], 12), _free_end([15, 90, 95], 20), _free_end([12, 12, 12], 20)
    ('left', 'right', None)
    """
    half = (len(labels) + 1) // 2
    for end, nearby in (("right", labels[-half:]), ("left", labels[:half])):
        if all(abs(label - (line - 8)) > LABEL_HEIGHT for label in nearby):
            return end
    return None


def _band_title(bands: Sequence[Band]) -> str:
    """Say how risk grows from the fewest facts to all of them."""
    (few, *_, first, _), (many, *_, last, _) = bands[0], bands[-1]
    before, after = percentages(first, last)
    return text(
        "With {few} known, up to {before} of identifications are correct; with all {many}, {after}",
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


# The commands that do what an advice says


def _place(path: Path | Address) -> str:
    """Return where a file is, as it is typed; of a folder elsewhere on this machine nothing is told."""
    if isinstance(path, Address) or not path.is_absolute():
        return str(path)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else path.name


def assess_command(study: AssessStudy, names: Sequence[str]) -> str:
    """Return the command that assesses a set of attributes."""
    words = [*command_words(study, names), *_attack_words(study)]
    return shlex.join(["glasshouse", "assess", *words, "--subsets", "full"])


def question_command(study: AssessStudy, out: str = "run") -> str:
    """Return the command that asks a question, as it is typed beside its files."""
    words = [*command_words(study, study.adversary.knowable), *_counted_words(study)]
    return shlex.join(["glasshouse", "assess", *words, *_attack_words(study), "--out", out])


def _counted_words(study: AssessStudy) -> Iterator[str]:
    """Yield whose records they are, which of them are looked at together, and what is looked for besides."""
    if study.person:
        yield from ("--person", _listed(study.person), "--knows", str(study.knows))
    if study.by is not None:
        yield from ("--by", study.by)
    for option in ("unlinked", "each", "advise"):
        yield from [f"--{option}"] * bool(getattr(study, option))
    if study.adversary.gain.tries:
        yield from ("--tries", str(study.adversary.gain.tries))


def sweeping(study: AssessStudy | None) -> str:
    """Return the command that assesses every set of attributes; none where the study cannot ask for that."""
    if study is None or not study.adversary.guesses_once or study.links:
        return ""
    words = [*command_words(study, study.adversary.knowable), *_attack_words(study)]
    return shlex.join(["glasshouse", "assess", *words, "--subsets", "all"])


def command_of(advice: Advice, study: AssessStudy) -> str:
    """Return the command that makes the file of an advice; none where no single one does."""
    if len(study.datasets) > 1 or study.links:
        return ""
    if advice.kind == "generalise":
        promise = promise_of(study.policy)
        words = [
            word
            for name, value in promise.items()
            for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        option = study.policy.option
        named = [] if option in (None, OPEN_DATA.name) else ["--policy", str(option)]
        return _file_command("anonymise", study, advice.quasi_identifiers, [*words, *named])
    return _file_command("anonymise", study, advice.quasi_identifiers, ["--k", "1"], "published")


def protect_command(study: ReleaseStudy | None, names: Sequence[str] | None = None) -> str:
    """Return the command that finds versions of the file of a study that meet its rule; none where there is none.

    Args:
        study: The study.
        names: What can be known; by default all that the study says.
    """
    if study is None or len(study.datasets) > 1 or study.policy.option is None:
        return ""
    if isinstance(study, AssessStudy) and (study.links or study.person or study.group):
        return ""
    option = study.policy.option
    words = [] if option == OPEN_DATA.name else ["--policy", option]
    known = study.adversary.knowable if names is None else names
    return _file_command("protect", study, known, words)


def _file_command(
    command: str,
    study: ReleaseStudy,
    names: Sequence[str],
    words: Sequence[str],
    folder: str = "protected",
) -> str:
    """Return a command that makes a file of some columns of a file; what is known together is told column by column."""
    adversary = study.adversary
    columns = [column for name in names for column in adversary.facts.get(name, (name,))]
    secrets = dict.fromkeys(map(_asked_of, adversary.secret_columns))
    plain = study.model_copy(
        update={
            "adversary": adversary.model_copy(
                update={"facts": {}, "sensitive": tuple(secrets), "prior_weight": None}
            ),
            **({"weight": None} if isinstance(study, AssessStudy) else {}),
        }
    )
    written = command_words(plain, list(dict.fromkeys(columns)))
    return shlex.join(["glasshouse", command, *written, *words, "--out", folder])


def _asked_of(secret: str) -> str:
    """Return the column that a secret is about: itself, or that of a question such as ``income>5000``."""
    return re.split("[=<>!]", secret, maxsplit=1)[0].strip() if set("=<>") & {*secret} else secret


def less_detail(
    findings: Iterable[Finding],
    remedy: str,
    study: ReleaseStudy,
    *,
    records: int,
    known: Sequence[str],
) -> tuple[Action, ...]:
    """Return what findings say could be done; of a release of too few people for its rule only that they are.

    Args:
        findings: What was found.
        remedy: What is done by publishing less detail, which has a command.
        study: What was asked.
        records: The number of people in the release.
        known: What is known, where the study does not say what can be.
    """
    command = protect_command(study, study.adversary.knowable or known)
    said = remedies(findings, {remedy: command})
    few = too_few(records, study.policy, study.subject)
    return said if few is None or not said else (few,)


def _attack_words(study: AssessStudy) -> Iterator[str]:
    """Yield what is asked of an adversary besides, what was said of other columns, and by which rule."""
    if study.adversary.prior_weight is not None:
        yield from ("--prior-weight", study.adversary.prior_weight)
    for word in ("drop", "ignore"):
        for name in getattr(study, word):
            yield from (f"--{word}", name)
    for word in ("within", "likely"):
        for name, value in getattr(study, word).items():
            yield from (f"--{word}", f"{name}={value}")
    for name, chances in study.noises.items():
        yield from ("--noise", f"{name}={chances.written}")
    for name, value in study.precisions.items():
        yield from ("--about", f"{name}={value}")
    for option, chosen in (("--household", study.household), ("--suda", study.suda)):
        yield from () if chosen is None else (option, str(chosen))
    if study.missing_as != "value":
        yield from ("--missing-as", study.missing_as)
    if study.policy.option not in (None, OPEN_DATA.name):
        yield from ("--policy", str(study.policy.option))


def command_words(study: ReleaseStudy, names: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command about the files of a study, with some of what can be known.

    Values of people never leave the house: in conditions a sign stands for them, which a command refuses as it is.
    Totals and repeated names of columns are nobody's.
    """
    adversary, treatment = study.adversary, study.treatment
    for dataset in study.datasets:
        yield _place(dataset.path)
    for name in names:
        columns = adversary.facts.get(name)
        yield from ("-q", name) if columns is None else ("--fact", f"{name}={_listed(columns)}")
    for columns in adversary.secrets:
        plain = len(columns) == 1 and not set(',"') & set(columns[0])
        yield from ("-s", columns[0] if plain else _listed(columns))
    weight = study.weight if isinstance(study, AssessStudy | MembershipStudy) else None
    for option, value in (("--id", adversary.identifier), ("--weight", weight)):
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
            is_told = option == "--invalid" and is_of_nobody(condition)
            yield from (option, *([condition] if is_told else without_values([condition])))
    if treatment.drop_missing:
        yield "--drop-missing"


def _dialect_words(dialect: Dialect) -> Iterator[str]:
    """Yield how a file is written down, as it is typed."""
    for name, value in dialect.model_dump(exclude_defaults=True).items():
        option = f"--{name.replace('_', '-')}"
        if name == "header":
            yield "--no-header"
        elif value is True:
            yield option
        else:
            yield from (option, _listed(value) if name == "names" else str(value))


def _listed(names: Sequence[str]) -> str:
    """Return names as one list, as it is typed: one with a comma stands in quotation marks.

    >>> _listed(["age", "income, net"])
    'age,"income, net"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
