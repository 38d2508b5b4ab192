"""Outcomes as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from glasshouse.errors import printable
from glasshouse.language import localised, marked, number, text, text_for, translated
from glasshouse.microdata import Assessment, Attack, Explanation, Leakage, Sweep
from glasshouse.microdata.family import Family, FamilyCell
from glasshouse.microdata.influence import shapley_values
from glasshouse.report.discretion import figure_between
from glasshouse.report.microdata.attacks import (
    attack_label,
    best_by_size,
    by_knowledge,
    growth,
    last_window,
    stage_labels,
    target_label,
)
from glasshouse.report.microdata.parts import told_in
from glasshouse.report.words import money, percentage, singular
from glasshouse.runs.comparing import Compared
from glasshouse.table import ColumnProfile, Step

BAR_WIDTH = 12
NARROW, WIDE = 76, 100
"""Below and from these numbers of columns on, a terminal is shown less and more."""
LEGEND = marked("░ before, █ after: the share of records for which one guess is right")
MOST_SETS_IN_FULL = 3
"""With more sets of quasi-identifiers than this, only the best one of each size is shown."""


def assessment_tables(assessment: Assessment, *, currency: str | None = None) -> list[Table]:
    """Return a table per set of quasi-identifiers; where they are many, a table of the best of each size per target.

    Of a longitudinal collection they are those of all its datasets, after a table of how it grows.
    """
    stages, last = growth(assessment.attacks), last_window(assessment.attacks)
    tables = [_windows_table(stages)] if len(stages) > 1 else []
    groups = by_knowledge(last)
    if len(groups) <= MOST_SETS_IN_FULL:
        return tables + [_attacks_table(attacks, currency) for attacks in groups]
    targets: dict[str, list[Attack]] = {}
    for attack in best_by_size(last):
        targets.setdefault(f"{attack.code} {attack_label(attack)}", []).append(attack)
    return tables + [_best_table(label, attacks, currency) for label, attacks in targets.items()]


def explanation_tables(explanation: Explanation) -> Iterator[Table]:
    """Yield the steps of an attack, from co-occurrences to the hyper, as fractions."""
    steps = explanation.to_dict()
    secret = steps["sensitive"] or singular("person")
    observed = ", ".join(steps["quasi_identifiers"])
    code = explanation.code
    for title, corner, first, rows in (
        (text("co-occurrence of secret and observation"), [], None, steps["co_occurrence"]),
        (text("joint distribution"), [], None, steps["joint"]),
        (text("prior and channel"), steps["prior"], None, steps["channel"]),
        (
            text("hyper: the outer probabilities, and a posterior below each"),
            [],
            steps["outer"],
            steps["inner"],
        ),
    ):
        table = plain_table(
            text("{code}, {title}; observed: {observed}", code=code, title=title, observed=observed)
        )
        table.add_column(Text(printable(secret)), no_wrap=True)
        if corner:
            table.add_column(text("prior"), justify="right")
        for observation in steps["observations"]:
            table.add_column(Text(printable(observation)), justify="right")
        if first is not None:
            table.add_row(text("outer"), *first, end_section=True)
        for place, (value, cells) in enumerate(zip(steps["secrets"], rows, strict=True)):
            table.add_row(Text(printable(value)), *corner[place : place + 1], *cells)
        yield table


def treatment_table(steps: Sequence[Step]) -> Table:
    """Return what was left out of each dataset, and why."""
    table = plain_table(text("What was left out of the data"))
    table.add_column(text("dataset"), overflow="fold")
    table.add_column(text("records with"), overflow="fold")
    for count in (text("before"), text("left out"), text("kept")):
        table.add_column(count, justify="right", no_wrap=True)
    for step in steps:
        what = translated(step.what)
        said = (
            text("{what}, in all", what=what) if step.column is None else f"{what}: {step.column}"
        )
        table.add_row(
            Text(printable(step.dataset)),
            Text(printable(said)),
            *(number(count) for count in (step.before, step.left_out, step.after)),
        )
    return table


def family_table(
    family: Family, sensitive: str | None, *, part: str = "part", exact: bool = False
) -> Table:
    """Return the prior and the best additive leakage of every part, per number of quasi-identifiers.

    Args:
        family: The parts.
        sensitive: The secret; None: whose record it is.
        part: What a part is called.
        exact: Whether chances that tell of few people are told as they are.
    """
    table = plain_table(
        text(
            "{target}: success before, and what the best 1, 2, … attributes add (%)",
            target=target_label(() if sensitive is None else (sensitive,)),
        )
    )
    table.add_column(Text(printable(singular(part))), overflow="fold")
    table.add_column(text("records"), justify="right", no_wrap=True)
    table.add_column(text("before"), justify="right", no_wrap=True)
    rows = family.table(sensitive)
    for size in rows.sizes:
        table.add_column(f"+{size}", justify="right", no_wrap=True)
    for row in rows.rows:
        told, before = told_in(row, sensitive, exact=exact), row.prior.value
        bounds = [told.bounds(before)]
        bounds += [told.added(before, before + cell.value) for cell in row.additive]
        cells = map(_family_cell, (row.prior, *row.additive), bounds)
        table.add_row(Text(printable(row.part)), number(row.records), *cells)
    table.caption = text("▲ highest, ▼ lowest")
    table.caption_justify = "left"
    return table


def protection_table(before: Assessment, after: Assessment) -> Table:
    """Return each attack with all quasi-identifiers, before and after the protection."""
    table = plain_table(text("With all quasi-identifiers, before and after"))
    table.add_column(text("attack"), overflow="fold")
    for measure in (
        text("certain: before"),
        text("after"),
        text("guess right: before"),
        text("after"),
    ):
        table.add_column(measure, justify="right", no_wrap=True)
    for first, last in zip(before.attacks, after.attacks, strict=True):
        table.add_row(
            Text(printable(f"{last.code} {attack_label(last)}")),
            percentage(first.deterministic.posterior),
            percentage(last.deterministic.posterior),
            percent(first.probabilistic.posterior),
            percent(last.probabilistic.posterior),
        )
    return table


def comparison_table(rows: Sequence[Compared]) -> Table:
    """Return the original and each release: risks and what is lost."""
    table = plain_table(text("Risk and utility, with all quasi-identifiers"))
    table.add_column(text("release"), overflow="fold")
    measures = [text("suppressed"), text("named: certain"), text("guess")]
    measures += [
        text("{secret}: certain", secret="+".join(attack.secret)) for attack in rows[0].inferring
    ]
    measures += [text("loss"), text("distance")]
    learned = rows[0].utility.prediction
    if learned:
        measures.append(text("{target} predicted", target=learned.target))
    for measure in measures:
        table.add_column(Text(printable(measure)), justify="right")
    for row in rows:
        table.add_row(
            Text(printable(row.name)),
            number(row.suppressed),
            percentage(row.naming.deterministic.posterior),
            percent(row.naming.probabilistic.posterior),
            *(percentage(attack.deterministic.posterior) for attack in row.inferring),
            "–" if row.loss is None else number(row.loss, ".4g"),
            text("{figure} %", figure=number(100 * row.distance, ".1f")),
            *([percentage(row.utility.prediction.release)] if row.utility.prediction else []),
        )
    return table


def _family_cell(cell: FamilyCell, bounds: tuple[Fraction, Fraction]) -> str:
    mark = "▲" if cell.highest else "▼" if cell.lowest else " "
    return f"{figure_between(*bounds, digits=2)}{mark}"


def _windows_table(stages: Sequence[Sequence[Attack]]) -> Table:
    """Return how success grows as datasets are added, with the same set of quasi-identifiers."""
    table = plain_table(
        text(
            "As datasets are added: she knows {known}",
            known=", ".join(stages[-1][0].quasi_identifiers),
        )
    )
    table.add_column(text("she has"), overflow="fold")
    table.add_column(text("attack"), overflow="fold")
    _add_measures(table)
    for label, stage in zip(stage_labels(stages), stages, strict=True):
        for place, attack in enumerate(stage):
            table.add_row(
                Text(printable(label if place == 0 else "")),
                Text(printable(f"{attack.code} {attack_label(attack)}")),
                *_measured(attack),
            )
    return table


def influence_table(sweep: Sweep) -> Table:
    """Return each attribute's fair share of the leakage, in points of success, per target."""
    table = plain_table(
        text("What each attribute contributes (Shapley value, in points of success)")
    )
    table.add_column(text("attribute"), overflow="fold")
    for secret in ((), *((name,) for name in sweep.sensitive)):
        table.add_column(Text(printable(target_label(secret))), justify="right")
    shares = {(v.quasi_identifier, v.sensitive): v.value for v in shapley_values(sweep).values}
    for name in sweep.quasi_identifiers:
        cells = [
            number(100 * float(shares[name, target]), ".2f") for target in (None, *sweep.sensitive)
        ]
        table.add_row(Text(printable(name)), *cells)
    return table


def profile_table(profiles: Sequence[ColumnProfile], *, title: str, width: int) -> Table:
    """Return one row per column, with the suggested role and its reason: beside it, or else below it."""
    table = plain_table(title)
    titles = (text("distinct"), text("missing"), text("unique"))
    shown = len(titles) if width >= NARROW else 1
    table.add_column(text("column"), overflow="fold")
    table.add_column(text("values"), no_wrap=True)
    for count in titles[:shown]:
        table.add_column(count, justify="right", no_wrap=True)
    table.add_column(text("suggested role"), no_wrap=width >= WIDE, overflow="fold")
    if width >= WIDE:
        table.add_column(text("because"), overflow="fold")
    for profile in profiles:
        counts = (profile.distinct, profile.missing, profile.unique)[:shown]
        cells: list[RenderableType] = [
            Text(printable(profile.name)),
            translated(profile.kind) if profile.kind else "–",
            *map(number, counts),
        ]
        role, reason = translated(profile.role.value), printable(profile.reason)
        if width >= WIDE:
            table.add_row(*cells, role, Text(reason))
        else:
            table.add_row(*cells, Text(f"{role}\n  {reason}"))
    return table


PROFILED = (
    *(marked("integer"), marked("number"), marked("date"), marked("text")),
    *(marked("quasi-identifier"), marked("sensitive"), marked("identifier"), marked("weight")),
    marked("ignored"),
)
"""What the values of a column may look like, and the roles that it may have."""


def _attacks_table(attacks: Sequence[Attack], currency: str | None) -> Table:
    first = attacks[0]
    table = plain_table(
        text(
            "She knows {known}: {classes}, {uniques}",
            known=", ".join(first.quasi_identifiers),
            classes=text_for(first.classes, "{count} class", "{count} classes"),
            uniques=text_for(first.uniques, "{count} unique record", "{count} unique records"),
        )
    )
    table.add_column(text("attack"), overflow="fold")
    _add_measures(table)
    with_gain = _add_gain(table, attacks)
    for attack in attacks:
        table.add_row(
            Text(printable(f"{attack.code} {attack_label(attack)}")),
            *_measured(attack),
            change(attack.gain, currency) if with_gain else bar(attack.probabilistic),
        )
    return table


def _best_table(label: str, attacks: Sequence[Attack], currency: str | None) -> Table:
    table = plain_table(text("{label}: the best set of each size", label=label))
    table.add_column(text("she knows"), overflow="fold")
    _add_measures(table)
    with_gain = _add_gain(table, attacks)
    for attack in attacks:
        table.add_row(
            Text(printable(", ".join(attack.quasi_identifiers))),
            *_measured(attack),
            change(attack.gain, currency) if with_gain else bar(attack.probabilistic),
        )
    return table


def _add_measures(table: Table) -> None:
    """Add the columns of what `_measured` gives."""
    for measure in (text("certain"), text("one guess right"), text("factor")):
        table.add_column(measure, justify="right", no_wrap=True)


def _measured(attack: Attack) -> tuple[str, str, str]:
    certain, guess = percentage(attack.deterministic.posterior), attack.probabilistic
    return (
        f"{number(attack.certain)} ({certain})",
        f"{percent(guess.prior)} → {percent(guess.posterior)}",
        _factor(guess),
    )


def _add_gain(table: Table, attacks: Sequence[Attack]) -> bool:
    """Add a column for the gain, or else for bars; tell whether it is for the gain."""
    with_gain = any(attack.gain for attack in attacks)
    table.add_column(
        text("gain") if with_gain else "", justify="right" if with_gain else "left", no_wrap=True
    )
    return with_gain


def plain_table(title: str) -> Table:
    """Return an empty table in the style of the house."""
    return Table(
        title=Text(printable(title)),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        collapse_padding=True,
        pad_edge=False,
    )


def percent(probability: Fraction) -> str:
    """Say a probability in per cent with three digits; a rounding never makes it certain."""
    figure = f"{100 * float(probability):.3g}"
    if figure == "100" and probability < 1:
        return f"> {text('{figure} %', figure=localised('99.9'))}"
    return text("{figure} %", figure=number(100 * float(probability), ".3g"))


def _factor(leakage: Leakage) -> str:
    factor = leakage.multiplicative
    if factor is None:
        return "–"
    return f"× {number(factor, ',.0f') if factor >= 1000 else number(factor, '.4g')}"


def change(leakage: Leakage | None, currency: str | None) -> str:
    """Say what a gain was before, and what it is after."""
    if leakage is None:
        return "–"
    if currency is not None:
        return f"{money(leakage.prior, currency)} → {money(leakage.posterior, currency)}"
    return f"{number(leakage.prior, ',.4g')} → {number(leakage.posterior, ',.4g')}"


def bar(leakage: Leakage) -> str:
    """Draw success before and after."""
    before = int(BAR_WIDTH * leakage.prior)
    after = int(BAR_WIDTH * leakage.posterior)
    return "░" * before + "█" * (after - before) + "·" * (BAR_WIDTH - after)
