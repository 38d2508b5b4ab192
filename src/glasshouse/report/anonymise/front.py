"""The first screen of a protected release: before and after, what to do, and the way to it step by step."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from glasshouse.language import marked, number, percentage, printable, text, text_for, translated
from glasshouse.measures.assess import of_assessment
from glasshouse.measures.attacks import learned
from glasshouse.measures.measurement import worst_of
from glasshouse.measures.verdict import Verdict, verdict_on
from glasshouse.microdata import Attack
from glasshouse.mitigation import Anonymisation
from glasshouse.mitigation.anonymisation import Rung
from glasshouse.report import vega
from glasshouse.report.assess.front import command_words, protect_command, too_few
from glasshouse.report.attacks import target_label
from glasshouse.report.cells import cell_table, percent_cell, under
from glasshouse.report.charts import NEUTRAL, TARGETS, figure_of, keyed, plot, titled
from glasshouse.report.page import (
    MOST_ACTIONS,
    Action,
    Cell,
    Column,
    Figure,
    Tile,
    keep_assumptions,
)
from glasshouse.report.provenance import of_those_left_out
from glasshouse.report.words import enumeration, joined, percentages, plural, share
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.table.treatment import SUPPRESSED_RECORD


def tiles(outcome: Anonymisation, subject: str) -> tuple[Tile, ...]:
    """Return who is at risk and what is given away, before and after, and what is kept of the data."""
    return (*risk_tiles(outcome.pairs, subject), _kept(outcome))


def risk_tiles(pairs: Sequence[tuple[Attack, Attack]], subject: str) -> Iterator[Tile]:
    """Yield who is at risk and what is given away: each attack before, and the same after; naming first."""
    (before, after), *inferring = pairs
    guesses = _change(before.probabilistic.posterior, after.probabilistic.posterior)
    if before.certain or after.certain:
        yield Tile(
            text("Who is at risk"),
            _change(before.deterministic.posterior, after.deterministic.posterior),
            text(
                "of {people} can be identified outright, before and after protection; correct identifications: "
                "{change}",
                people=plural(subject),
                change=guesses,
            ),
        )
    else:
        yield Tile(
            text("Who is at risk"),
            guesses,
            text(
                "correct identifications, before and after protection; nobody can be identified outright"
            ),
        )
    if inferring:
        yield _given_away(*max(inferring, key=lambda pair: (learned(pair[1]), learned(pair[0]))))


def _given_away(before: Attack, after: Attack) -> Tile:
    guess = after.probabilistic
    words = {
        "secret": enumeration(after.secret),
        "prior": percentage(guess.prior),
        "certain": _change(before.deterministic.posterior, after.deterministic.posterior),
    }
    template = marked(
        "correct guesses at {secret}, before and after protection; by always saying the most frequent value: {prior}"
    )
    if before.certain or after.certain:
        template = marked(
            "correct guesses at {secret}, before and after protection; by always saying the most frequent value: "
            "{prior}; known for certain: {certain}"
        )
    change = _change(before.probabilistic.posterior, guess.posterior)
    return Tile(text("What can still be learned"), change, translated(template, **words))


def _kept(outcome: Anonymisation) -> Tile:
    title = text("What is kept")
    if outcome.method == "microaggregation":
        return Tile(
            title,
            percentage(1 - Fraction(outcome.loss or 0)),
            text(
                "of the differences between the numbers that became means; totals change by rounding only"
            ),
        )
    if outcome.method == "perturbation":
        least = min((column.unchanged for column in outcome.changed), default=Fraction(1))
        return Tile(
            title,
            percentage(least),
            text("of the values stay what they were in the column that changed most")
            if outcome.changed
            else text("of the values stay what they were, in the records that were sampled"),
        )
    if outcome.loss is None:
        return Tile(
            title,
            percentage(Fraction(1)),
            text(
                "of each column by itself; which sensitive value is whose is cut off inside each group"
            ),
        )
    sentence = text("of the detail of the columns that were looked at")
    hidden = {"kept": sentence, "share": share(outcome.suppressed, outcome.records)}
    suppressed = (
        text_for(
            outcome.suppressed,
            "{kept}; {count} record ({share}) is removed",
            "{kept}; {count} records ({share}) are removed",
            **hidden,
        )
        if outcome.drops
        else text_for(
            outcome.suppressed,
            "{kept}; {count} record ({share}) is suppressed",
            "{kept}; {count} records ({share}) are suppressed",
            **hidden,
        )
    )
    return Tile(
        title,
        percentage(1 - Fraction(outcome.detail_lost)),
        suppressed if outcome.suppressed else sentence,
    )


def columns_gone(outcome: Anonymisation) -> str:
    """Say which columns of the file hold nothing any more; nothing if none: the verdict names what is not in it."""
    untold = _untold(outcome)
    return text("“*” in every record: {columns}.", columns=several(untold)) if untold else ""


MOST_GONE = 6
"""So many columns that are not in a file are named."""


def several(names: Sequence[str]) -> str:
    """Return the names of columns as in a sentence; of many the first, and how many more."""
    rest = len(names) - MOST_GONE
    if rest <= 0:
        return enumeration(names)
    return joined(
        [
            *(enumeration([name]) for name in names[:MOST_GONE]),
            text_for(rest, "{count} further", "{count} further"),
        ]
    )


def detail_meaning() -> str:
    """Say what is meant by a share of the detail."""
    return text(
        "Detail lost: how many of a column’s values could stand behind a published one (0%: only itself, 100%: any of "
        "them), averaged over all records and all columns that were looked at, sensitive ones included."
    )


def metric_meaning() -> str:
    """Say what the measure is that a search makes least, and why it is not the detail lost."""
    return text(
        "The Loss metric, which the search makes least, is the geometric mean of what the columns that can be known "
        "lose: it ranks versions of one kind much as detail lost does, and is not a share of anything."
    )


def absent(outcome: Anonymisation) -> str:
    """Say how many records of the data are not in the file, and why; nothing where all are.

    How many have an invalid or a missing value, or are outside a selection, is told only where they are not few.
    """
    counts = outcome.left_out_before
    if outcome.drops and outcome.suppressed:
        counts[SUPPRESSED_RECORD] = outcome.suppressed
    if not counts:
        return ""
    reasons = "; ".join(
        f"{translated(what)}: {of_those_left_out(what).count(count)}"
        for what, count in counts.items()
    )
    total = sum(counts.values())
    if any(of_those_left_out(what).hides(count) for what, count in counts.items()):
        return text("Some records of the data are not in the file ({reasons}).", reasons=reasons)
    return text_for(
        total,
        "{count} of the {read} records of the data is not in the file ({reasons}).",
        "{count} of the {read} records of the data are not in the file ({reasons}).",
        read=number(outcome.read),
        reasons=reasons,
    )


def _change(before: Fraction, after: Fraction) -> str:
    return " → ".join(percentages(before, after))


def actions(
    outcome: Anonymisation, study: AnonymiseStudy, verdict: Verdict | None
) -> tuple[Action, ...]:
    """Return what to do: what the rule still asks for, or to keep the assumptions."""
    advice = list(stricter(study, verdict, outcome))
    if advice:
        return tuple(advice[:MOST_ACTIONS])
    if verdict is not None and verdict.meets:
        advice.append(Action(text("Give out the release, and nothing else of this folder.")))
    advice.append(keep_assumptions())
    protection = study.protection
    if (
        outcome.loss
        and outcome.recoded
        and protection.recoding == "global"
        and not protection.of_people
    ):
        local = protection.model_copy(update={"recoding": "local"})
        advice.append(
            Action(
                text(
                    "To keep more detail, generalise record by record instead of alike in all records, and see what "
                    "that gives away."
                ),
                command=anonymise_command(study.model_copy(update={"protection": local})),
            )
        )
    return tuple(advice)


def stricter(
    study: AnonymiseStudy | None, verdict: Verdict | None, outcome: Anonymisation | None = None
) -> Iterator[Action]:
    """Yield what would make a release that meets its rule: nothing that is known not to be enough.

    Args:
        study: How the release was made; None: no command can be told.
        verdict: What the rule says of it; None: nothing.
        outcome: The protection in figures, where suppressed records may be all that fails.
    """
    if verdict is None or verdict.meets:
        return
    records = None if outcome is None else outcome.records
    subject = "person" if study is None else study.subject
    few = None if records is None else too_few(records, verdict.policy, subject)
    if few is not None:
        yield few
        return
    if study is not None and outcome is not None and outcome.judged:
        of_file = tuple(worst_of(*map(of_assessment, outcome.retained)))
        dropped = verdict_on((*verdict.of_columns, *of_file), verdict.policy)
        if dropped is not None and dropped.meets:
            protection = study.protection.model_copy(update={"drop_suppressed": True})
            yield Action(
                text("Leave the suppressed records out of the file."),
                meets=True,
                command=anonymise_command(study.model_copy(update={"protection": protection})),
            )
            return
    unseen = () if verdict.coverage is None else verdict.coverage.unseen
    if unseen:
        yield Action(
            text("Leave out what was not looked at: {columns}.", columns=enumeration(unseen))
        )
    if any(judgement.is_of_figures and not judgement.met for judgement in verdict.judgements):
        yield Action(
            text(
                "Use the rule's own limits: glasshouse protect makes versions of the file, and shows whether each "
                "meets the rule and what it costs."
            ),
            command=protect_command(study),
        )
        yield Action(
            text("Leave out columns that somebody could know, or restrict who gets the file.")
        )


_OPTIONS = {"hierarchies": "--hierarchy", "time_limit": "--time-limit"}


def anonymise_command(study: AnonymiseStudy) -> str:
    """Return the command that makes a release, as it is typed; none where it would tell the order of values."""
    protection = study.protection
    if protection.order:
        return ""
    words = ["glasshouse", "anonymise", *command_words(study, study.adversary.quasi_identifiers)]
    for name, value in protection.model_dump(exclude_defaults=True).items():
        option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
        if name == "method" and value not in ("anatomy", "microaggregation"):
            continue
        if isinstance(value, Mapping):
            entries: Iterable[object] = (f"{column}={entry}" for column, entry in value.items())
        elif name == "presence":
            entries = [":".join(map(str, value))]
        else:
            entries = value if isinstance(value, tuple) else [value]
        for entry in entries:
            words += [option] if entry is True else [option, f"{entry}"]
    if study.population is not None:
        words += ["--population", str(study.population.place)]
    if study.fraction is not None:
        words += ["--fraction", str(study.fraction)]
    return shlex.join([*words, "--out", "protected"])


ROOM = 56
"""How many pixels are left beside a panel, for the figure at the end of its longest bar."""


def ladder_figure(outcome: Anonymisation) -> Figure:
    """Show the way from the original to the release: after each step, what is still learned and what is lost."""
    secret = max(outcome.after.attacks[1:], key=learned, default=None)
    measures = [text("correct identifications")]
    if secret is not None:
        measures.append(text("{secret}: correct guesses", secret=enumeration(secret.secret)))
    measures.append(text("detail lost"))
    steps = [(_rung_label(outcome, rung), _rung_figures(rung, secret)) for rung in outcome.ladder]
    labels = [printable(label) for label, _ in steps]
    rows = [
        {
            "step": label,
            "measure": measure,
            "value": 100 * float(figure),
            "label": percentage(figure),
        }
        for label, (_, figures) in zip(labels, steps, strict=True)
        for measure, figure in zip(measures, figures, strict=True)
    ]
    colours, width = [TARGETS[0][0], TARGETS[1][0], NEUTRAL], 180
    if secret is None:
        colours, width = [TARGETS[0][0], NEUTRAL], 240
    base = plot(rows).encode(
        y=vega.Y("step:N", sort=labels, title=None, axis=vega.Axis(labelPadding=8, labelLimit=250)),
        x=vega.X(
            "value:Q",
            title=None,
            scale=vega.Scale(domainMin=0),
            axis=vega.Axis(tickCount=4),
        ),
    )
    bars = base.mark_bar(height=15).encode(
        color=vega.Color("measure:N", legend=None, **keyed(measures, colours))
    )
    figures = base.mark_text(align="left", dx=4, fontSize=12).encode(text="label:N")
    header = vega.Header(labelFontSize=13, labelAnchor="start", labelLimit=width)
    chart = (
        vega.layer(bars, figures)
        .properties(width=width, height=vega.Step(26))
        .facet(
            facet=vega.Facet("measure:N", sort=measures, title=None, header=header),
            columns=len(measures),
        )
        .properties(resolve={"scale": {"x": "independent"}}, spacing=ROOM)
    )
    titles = (text("guess right"), text("known for certain"))
    columns: list[str | Column] = [*under(text("Identified"), *titles)]
    if secret is not None:
        columns += under(target_label(secret.secret), *titles)
    columns.append(text("Detail lost"))
    numbers: list[list[str | Cell]] = [
        [label, *_rung_cells(rung, secret)]
        for (label, _), rung in zip(steps, outcome.ladder, strict=True)
    ]
    return figure_of(
        titled(
            chart,
            _ladder_title(outcome),
            text("in %; from top to bottom, each step with all those before it"),
            padding={"left": min(40, round(1.2 * max(map(len, labels)))), "right": 5},
        ),
        label=text("From the original to the protected release, step by step"),
        caption=text(
            "The first row is the original, the last the protected release. Columns are taken in the order in "
            "which they lose detail, the smallest loss first; each figure is measured."
        )
        + " "
        + detail_meaning(),
        table=cell_table(text("Step"), columns, numbers),
    )


def _rung_figures(rung: Rung, secret: Attack | None) -> list[Fraction]:
    """Return how often guesses are right, at who it is and at a secret, and what is lost."""
    attacks = [rung.assessment.attacks[0], *_on(rung, secret)]
    return [*(attack.probabilistic.posterior for attack in attacks), Fraction(rung.detail_lost)]


def _on(rung: Rung, secret: Attack | None) -> list[Attack]:
    """Return the attack on a secret at a step."""
    attacks = rung.assessment.attacks[1:]
    return [attack for attack in attacks if secret is not None and attack.secret == secret.secret]


def _rung_cells(rung: Rung, secret: Attack | None) -> list[Cell]:
    attacks = [rung.assessment.attacks[0], *_on(rung, secret)]
    cells = [
        percent_cell(leakage.posterior)
        for attack in attacks
        for leakage in (attack.probabilistic, attack.deterministic)
    ]
    return [*cells, percent_cell(Fraction(rung.detail_lost))]


def _rung_label(outcome: Anonymisation, rung: Rung) -> str:
    """Say what is done at a step."""
    if rung.column is None and not rung.suppressed:
        return text("original")
    if rung.column is None:
        return text_for(rung.suppressed, "{count} record suppressed", "{count} records suppressed")
    column = enumeration([rung.column])
    if rung.column in _untold(outcome):
        return text("without {column}", column=column)
    return text("{column} in less detail", column=column)


def _ladder_title(outcome: Anonymisation) -> str:
    """Say which step makes naming hardest."""
    guesses = [rung.assessment.attacks[0].probabilistic.posterior for rung in outcome.ladder]
    falls = [before - after for before, after in pairwise(guesses)]
    place = max(range(len(falls)), key=falls.__getitem__)
    before, after = percentages(guesses[place], guesses[place + 1])
    if before == after or falls[place] <= 0:
        return text("No step makes it harder to guess who it is")
    return text(
        "The step that protects most is “{step}”: correct identifications fall from {before} to {after}",
        step=_rung_label(outcome, outcome.ladder[place + 1]),
        before=before,
        after=after,
    )


def _untold(outcome: Anonymisation) -> list[str]:
    """Return the columns of which nothing is told any more."""
    attributes = {} if outcome.quality is None else outcome.quality.attributes
    return [name for name, detail in attributes.items() if detail.granularity <= 0]


def anonymise_words(study: AnonymiseStudy) -> Iterator[str]:
    """Yield the words of the command that gives the release of a study whose levels are told."""
    protection = study.protection
    yield from command_words(study, study.adversary.quasi_identifiers)
    for name, rule in protection.hierarchies.items():
        yield from ("--hierarchy", f"{name}={getattr(rule, 'name', rule)}")
    for name, level in protection.levels.items():
        yield from ("--level", f"{name}={level}")
    yield from ("--k", str(protection.k))
    if protection.l is not None:
        yield from ("--l", str(protection.l))
    if protection.suppression:
        yield from ("--suppression", str(protection.suppression), "--drop-suppressed")
    if study.policy.option not in (None, "open-data"):
        yield from ("--policy", str(study.policy.option))
