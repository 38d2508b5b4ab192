"""Outcomes as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from glasshouse.errors import printable
from glasshouse.microdata import Assessment, Attack, Leakage
from glasshouse.microdata.explain import Explanation, value_text
from glasshouse.microdata.family import Cell, Family
from glasshouse.microdata.influence import shapley_values
from glasshouse.microdata.lattice import Sweep
from glasshouse.microdata.membership import Member, Membership
from glasshouse.microdata.target import TargetSecret
from glasshouse.microdata.uniqueness import PopulationRisks
from glasshouse.report.attacks import (
    attack_label,
    best_by_size,
    by_knowledge,
    growth,
    last_window,
    stage_labels,
)
from glasshouse.report.words import counted, money, percentage
from glasshouse.runs.comparing import Compared
from glasshouse.table import Step
from glasshouse.table.profile import ColumnProfile

BAR_WIDTH = 12
NARROW, WIDE = 76, 100
"""Below and from these numbers of columns on, a terminal is shown less and more."""
LEGEND = "░ before, █ after: the share of records for which one guess is right"


MOST_VALUES = 15
"""So many values of one person's secret are shown; the others together."""
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
    secret = steps["sensitive"] or "person"
    observed = ", ".join(steps["quasi_identifiers"])
    code = explanation.code
    for title, corner, first, rows in (
        ("co-occurrence of secret and observation", [], None, steps["co_occurrence"]),
        ("joint distribution", [], None, steps["joint"]),
        ("prior and channel", steps["prior"], None, steps["channel"]),
        (
            "hyper: the outer probabilities, and a posterior below each",
            [],
            steps["outer"],
            steps["inner"],
        ),
    ):
        table = plain_table(f"{code}, {title}; observed: {observed}")
        table.add_column(Text(printable(secret)), no_wrap=True)
        if corner:
            table.add_column("prior", justify="right")
        for observation in steps["observations"]:
            table.add_column(Text(printable(observation)), justify="right")
        if first is not None:
            table.add_row("outer", *first, end_section=True)
        for number, (value, cells) in enumerate(zip(steps["secrets"], rows, strict=True)):
            table.add_row(Text(printable(value)), *corner[number : number + 1], *cells)
        yield table


def treatment_table(steps: Sequence[Step]) -> Table:
    """Return what was left out of each dataset, and why."""
    table = plain_table("What was left out of the data")
    table.add_column("dataset", overflow="fold")
    table.add_column("records with", overflow="fold")
    for count in ("before", "left out", "kept"):
        table.add_column(count, justify="right", no_wrap=True)
    for step in steps:
        what = step.what if step.column is None else f"{step.what}: {step.column}"
        table.add_row(
            Text(printable(step.dataset)),
            Text(printable(f"{what}, in all" if step.column is None else what)),
            *(f"{count:,}" for count in (step.before, step.left_out, step.after)),
        )
    return table


def family_table(family: Family, sensitive: str | None, *, part: str = "part") -> Table:
    """Return the prior and the best additive leakage of every part, per number of quasi-identifiers."""
    target = "name the person" if sensitive is None else f"infer {sensitive}"
    table = plain_table(f"{target}: success before, and what the best 1, 2, … attributes add (%)")
    table.add_column(Text(printable(part)), overflow="fold")
    table.add_column("records", justify="right", no_wrap=True)
    table.add_column("before", justify="right", no_wrap=True)
    rows = family.table(sensitive)
    for size in rows.sizes:
        table.add_column(f"+{size}", justify="right", no_wrap=True)
    for row in rows.rows:
        cells = [_family_cell(cell) for cell in (row.prior, *row.additive)]
        table.add_row(Text(printable(row.part)), f"{row.records:,}", *cells)
    table.caption = "▲ highest, ▼ lowest"
    table.caption_justify = "left"
    return table


def target_table(secret: TargetSecret, *, currency: str | None = None) -> Table:
    """Return the most probable values of one person's secret, before and after."""
    title = f"{secret.code} infer {secret.sensitive}"
    if secret.gain is not None:
        title += f"; gain {_change(secret.gain, currency)} by {value_text(secret.best_action)}"
    table = plain_table(title)
    table.add_column(Text(printable(secret.sensitive)), overflow="fold")
    for measure in ("before", "after"):
        table.add_column(measure, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    shown = secret.values[:MOST_VALUES]
    for belief in shown:
        table.add_row(
            Text(printable(value_text(belief.value))),
            _percent(belief.prior),
            _percent(belief.posterior),
            _bar(Leakage(Fraction(0), belief.posterior)),
        )
    if len(secret.values) > MOST_VALUES:
        rest = secret.values[MOST_VALUES:]
        before = sum((belief.prior for belief in rest), Fraction(0))
        after = sum((belief.posterior for belief in rest), Fraction(0))
        table.add_row(f"{len(rest):,} others", _percent(before), _percent(after), "")
    return table


def membership_table(outcome: Membership) -> Table:
    """Return what a register tells of who is in each release, and in which of several."""
    table = plain_table(
        f"{outcome.people:,} people of {outcome.population} in {outcome.classes:,} classes"
    )
    table.add_column("release", overflow="fold")
    for measure in (
        "in it",
        "certainly in",
        "certainly out",
        "one guess right",
        "chance of being in",
    ):
        table.add_column(measure, justify="right")
    rows = [*outcome.each, outcome] if outcome.each else [outcome]
    for row in rows:
        name = "which of them" if row.each else ", ".join(row.datasets)
        bounds = (
            "–"
            if row.delta_min is None or row.delta_max is None
            else f"{_percent(row.delta_min)} to {_percent(row.delta_max)}"
        )
        table.add_row(
            Text(printable(f"{row.code} {name}")),
            "–" if row.each else f"{sum(row.members):,}",
            f"{row.certainly_in:,}",
            f"{row.certainly_out:,}",
            f"{_percent(row.probabilistic.prior)} → {_percent(row.probabilistic.posterior)}",
            bounds,
        )
    return table


def member_table(outcome: Member) -> Table:
    """Return how probable it is that one person is in each release."""
    table = plain_table(
        f"{outcome.code}: {outcome.candidates:,} of the {outcome.people:,} people of {outcome.population} fit"
    )
    table.add_column("release", overflow="fold")
    for measure in ("records that fit", "in it: before", "after"):
        table.add_column(measure, justify="right")
    for name, records, present in zip(
        outcome.datasets, outcome.records, outcome.present, strict=True
    ):
        table.add_row(
            Text(printable(name)),
            f"{records:,}",
            _percent(present.prior),
            _percent(present.posterior),
        )
    return table


def population_table(risks: PopulationRisks) -> Table:
    """Return the estimates of how many people are unique in the population."""
    table = plain_table("Estimated: how many people are unique in the population")
    table.add_column("estimator", overflow="fold")
    for measure in ("unique people", "of the population", "of the unique records"):
        table.add_column(measure, justify="right")
    for estimate in risks.estimates:
        found = (estimate.share_of_population, estimate.share_of_sample_uniques)
        people = estimate.population_uniques
        table.add_row(
            Text(printable(f"{estimate.name} ({estimate.reference})")),
            "no answer" if people is None else f"{people:,.0f}",
            *("–" if share is None else f"{100 * float(share):.3g} %" for share in found),
        )
    return table


def protection_table(before: Assessment, after: Assessment) -> Table:
    """Return each attack with all quasi-identifiers, before and after the protection."""
    table = plain_table("With all quasi-identifiers, before and after")
    table.add_column("attack", overflow="fold")
    for measure in ("certain: before", "after", "guess right: before", "after"):
        table.add_column(measure, justify="right", no_wrap=True)
    for first, last in zip(before.attacks, after.attacks, strict=True):
        table.add_row(
            Text(printable(f"{last.code} {attack_label(last)}")),
            percentage(first.deterministic.posterior),
            percentage(last.deterministic.posterior),
            _percent(first.probabilistic.posterior),
            _percent(last.probabilistic.posterior),
        )
    return table


def comparison_table(rows: Sequence[Compared]) -> Table:
    """Return the original and each release: risks and what is lost."""
    table = plain_table("Risk and utility, with all quasi-identifiers")
    table.add_column("release", overflow="fold")
    measures = ["suppressed", "named: certain", "guess"]
    measures += [f"{'+'.join(attack.secret)}: certain" for attack in rows[0].inferring]
    learned = rows[0].utility.prediction
    measures += ["loss", "distance"]
    for measure in (*measures, *([f"{learned.target} predicted"] if learned else [])):
        table.add_column(measure, justify="right")
    for row in rows:
        table.add_row(
            Text(printable(row.name)),
            f"{row.suppressed:,}",
            percentage(row.naming.deterministic.posterior),
            _percent(row.naming.probabilistic.posterior),
            *(percentage(attack.deterministic.posterior) for attack in row.inferring),
            "–" if row.loss is None else f"{row.loss:.4f}",
            f"{100 * row.distance:.1f} %",
            *([percentage(row.utility.prediction.release)] if row.utility.prediction else []),
        )
    return table


def _family_cell(cell: Cell) -> str:
    mark = "▲" if cell.highest else "▼" if cell.lowest else " "
    return f"{100 * float(cell.value):.2f}{mark}"


def _windows_table(stages: Sequence[Sequence[Attack]]) -> Table:
    """Return how success grows as datasets are added, with the same set of quasi-identifiers."""
    table = plain_table(
        f"As datasets are added: she knows {', '.join(stages[-1][0].quasi_identifiers)}"
    )
    table.add_column("she has", overflow="fold")
    table.add_column("attack", overflow="fold")
    for measure in ("certain", "one guess right", "factor"):
        table.add_column(measure, justify="right", no_wrap=True)
    for label, stage in zip(stage_labels(stages), stages, strict=True):
        for number, attack in enumerate(stage):
            table.add_row(
                Text(printable(label if number == 0 else "")),
                Text(printable(f"{attack.code} {attack_label(attack)}")),
                f"{attack.certain:,} ({percentage(attack.deterministic.posterior)})",
                f"{_percent(attack.probabilistic.prior)} → {_percent(attack.probabilistic.posterior)}",
                _factor(attack.probabilistic),
            )
    return table


def influence_table(sweep: Sweep) -> Table:
    """Return each attribute's fair share of the leakage, in points of success, per target."""
    table = plain_table("What each attribute contributes (Shapley value, in points of success)")
    table.add_column("attribute", overflow="fold")
    for target in ("name the person", *(f"infer {name}" for name in sweep.sensitive)):
        table.add_column(target, justify="right")
    shares = {(v.quasi_identifier, v.sensitive): v.value for v in shapley_values(sweep).values}
    for name in sweep.quasi_identifiers:
        cells = [f"{100 * float(shares[name, target]):.2f}" for target in (None, *sweep.sensitive)]
        table.add_row(Text(printable(name)), *cells)
    return table


def profile_table(profiles: Sequence[ColumnProfile], *, title: str, width: int) -> Table:
    """Return one row per column, with the suggested role and its reason: beside it, or else below it."""
    table = plain_table(title)
    counts = ("distinct", "missing", "unique") if width >= NARROW else ("distinct",)
    table.add_column("column", overflow="fold")
    table.add_column("values", no_wrap=True)
    for count in counts:
        table.add_column(count, justify="right", no_wrap=True)
    table.add_column("suggested role", no_wrap=width >= WIDE, overflow="fold")
    if width >= WIDE:
        table.add_column("because", overflow="fold")
    for profile in profiles:
        cells: list[RenderableType] = [
            Text(printable(profile.name)),
            profile.kind or "–",
            *(f"{getattr(profile, count):,}" for count in counts),
        ]
        reason = printable(profile.reason)
        if width >= WIDE:
            table.add_row(*cells, profile.role.value, Text(reason))
        else:
            table.add_row(*cells, Text(f"{profile.role.value}\n  {reason}"))
    return table


def _attacks_table(attacks: Sequence[Attack], currency: str | None) -> Table:
    first = attacks[0]
    known = ", ".join(first.quasi_identifiers)
    table = plain_table(
        f"She knows {known}: {counted(first.classes, 'class')}, {counted(first.uniques, 'unique record')}"
    )
    table.add_column("attack", overflow="fold")
    for measure in ("certain", "one guess right", "factor"):
        table.add_column(measure, justify="right", no_wrap=True)
    with_gain = any(attack.gain for attack in attacks)
    if with_gain:
        table.add_column("gain", justify="right", no_wrap=True)
    else:
        table.add_column("", no_wrap=True)
    for attack in attacks:
        table.add_row(
            Text(printable(f"{attack.code} {attack_label(attack)}")),
            f"{attack.certain:,} ({percentage(attack.deterministic.posterior)})",
            f"{_percent(attack.probabilistic.prior)} → {_percent(attack.probabilistic.posterior)}",
            _factor(attack.probabilistic),
            _change(attack.gain, currency) if with_gain else _bar(attack.probabilistic),
        )
    return table


def _best_table(label: str, attacks: Sequence[Attack], currency: str | None) -> Table:
    table = plain_table(f"{label}: the best set of each size")
    table.add_column("she knows", overflow="fold")
    for measure in ("certain", "one guess right", "factor"):
        table.add_column(measure, justify="right", no_wrap=True)
    with_gain = any(attack.gain for attack in attacks)
    table.add_column(
        "gain" if with_gain else "", justify="right" if with_gain else "left", no_wrap=True
    )
    for attack in attacks:
        table.add_row(
            Text(printable(", ".join(attack.quasi_identifiers))),
            f"{attack.certain:,} ({percentage(attack.deterministic.posterior)})",
            f"{_percent(attack.probabilistic.prior)} → {_percent(attack.probabilistic.posterior)}",
            _factor(attack.probabilistic),
            _change(attack.gain, currency) if with_gain else _bar(attack.probabilistic),
        )
    return table


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


def _percent(probability: Fraction) -> str:
    said = f"{100 * float(probability):.3g} %"
    return "> 99.9 %" if said == "100 %" and probability < 1 else said


def _factor(leakage: Leakage) -> str:
    factor = leakage.multiplicative
    if factor is None:
        return "–"
    return f"× {float(factor):,.0f}" if factor >= 1000 else f"× {float(factor):.4g}"


def _change(leakage: Leakage | None, currency: str | None) -> str:
    if leakage is None:
        return "–"
    if currency is not None:
        return f"{money(leakage.prior, currency)} → {money(leakage.posterior, currency)}"
    return f"{float(leakage.prior):,.4g} → {float(leakage.posterior):,.4g}"


def _bar(leakage: Leakage) -> str:
    before = int(BAR_WIDTH * leakage.prior)
    after = int(BAR_WIDTH * leakage.posterior)
    return "░" * before + "█" * (after - before) + "·" * (BAR_WIDTH - after)
