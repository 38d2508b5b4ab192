"""Outcomes as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from glasshouse.microdata import Assessment, Attack, Leakage
from glasshouse.report.findings import attack_label, by_knowledge
from glasshouse.report.words import share
from glasshouse.table.profile import ColumnProfile

BAR_WIDTH = 12
LEGEND = "░ before, █ after: the share of records for which one guess is right"


def assessment_tables(assessment: Assessment) -> list[Table]:
    """Return a table per set of quasi-identifiers, with a row per attack."""
    return [_attacks_table(attacks) for attacks in by_knowledge(assessment.attacks)]


def profile_table(profiles: Sequence[ColumnProfile], *, title: str) -> Table:
    """Return one row per column, with the suggested role and its reason."""
    table = _plain_table(title)
    table.add_column("column", overflow="fold", min_width=14)
    table.add_column("values", no_wrap=True)
    for count in ("distinct", "missing", "unique"):
        table.add_column(count, justify="right", no_wrap=True)
    table.add_column("suggested role", no_wrap=True)
    table.add_column("because", overflow="fold")
    for profile in profiles:
        table.add_row(
            Text(profile.name),
            profile.kind or "–",
            *(f"{count:,}" for count in (profile.distinct, profile.missing, profile.unique)),
            profile.role.value,
            Text(profile.reason),
        )
    return table


def _attacks_table(attacks: Sequence[Attack]) -> Table:
    first = attacks[0]
    known = ", ".join(first.quasi_identifiers)
    table = _plain_table(
        f"She knows {known}: {first.classes:,} classes, {first.uniques:,} unique records"
    )
    table.add_column("attack", overflow="fold", min_width=18)
    for measure in ("certain", "one guess right", "factor"):
        table.add_column(measure, justify="right", no_wrap=True)
    with_gain = any(attack.gain for attack in attacks)
    if with_gain:
        table.add_column("gain", justify="right", no_wrap=True)
    else:
        table.add_column("", no_wrap=True)
    for attack in attacks:
        table.add_row(
            Text(f"{attack.code} {attack_label(attack)}"),
            f"{attack.certain:,} ({share(attack.certain, attack.records)})",
            f"{_percent(attack.probabilistic.prior)} → {_percent(attack.probabilistic.posterior)}",
            _factor(attack.probabilistic),
            _change(attack.gain) if with_gain else _bar(attack.probabilistic),
        )
    return table


def _plain_table(title: str) -> Table:
    return Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        collapse_padding=True,
        pad_edge=False,
    )


def _percent(probability: Fraction) -> str:
    return f"{100 * float(probability):.3g} %"


def _factor(leakage: Leakage) -> str:
    factor = leakage.multiplicative
    if factor is None:
        return "–"
    return f"× {float(factor):,.0f}" if factor >= 1000 else f"× {float(factor):.4g}"


def _change(leakage: Leakage | None) -> str:
    if leakage is None:
        return "–"
    return f"{float(leakage.prior):,.4g} → {float(leakage.posterior):,.4g}"


def _bar(leakage: Leakage) -> str:
    before = round(BAR_WIDTH * leakage.prior)
    after = round(BAR_WIDTH * leakage.posterior)
    return "░" * before + "█" * (after - before) + "·" * (BAR_WIDTH - after)
