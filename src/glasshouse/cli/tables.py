"""Outcomes as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from glasshouse.errors import printable
from glasshouse.microdata import Assessment, Attack, Leakage
from glasshouse.microdata.influence import shapley_values
from glasshouse.microdata.lattice import Sweep
from glasshouse.report.findings import attack_label, best_by_size, by_knowledge
from glasshouse.report.words import percentage
from glasshouse.table.profile import ColumnProfile

BAR_WIDTH = 12
NARROW, WIDE = 76, 100
"""Below and from these numbers of columns on, a terminal is shown less and more."""
LEGEND = "░ before, █ after: the share of records for which one guess is right"


MOST_SETS_IN_FULL = 3
"""With more sets of quasi-identifiers than this, only the best one of each size is shown."""


def assessment_tables(assessment: Assessment) -> list[Table]:
    """Return a table per set of quasi-identifiers; where they are many, a table of the best of each size per target."""
    groups = by_knowledge(assessment.attacks)
    if len(groups) <= MOST_SETS_IN_FULL:
        return [_attacks_table(attacks) for attacks in groups]
    targets: dict[str, list[Attack]] = {}
    for attack in best_by_size(assessment.attacks):
        targets.setdefault(f"{attack.code} {attack_label(attack)}", []).append(attack)
    return [_best_table(label, attacks) for label, attacks in targets.items()]


def influence_table(sweep: Sweep) -> Table:
    """Return each attribute's fair share of the leakage, in points of success, per target."""
    table = _plain_table("What each attribute contributes (Shapley value, in points of success)")
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
    table = _plain_table(title)
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


def _attacks_table(attacks: Sequence[Attack]) -> Table:
    first = attacks[0]
    known = ", ".join(first.quasi_identifiers)
    table = _plain_table(
        f"She knows {known}: {first.classes:,} classes, {first.uniques:,} unique records"
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
            _change(attack.gain) if with_gain else _bar(attack.probabilistic),
        )
    return table


def _best_table(label: str, attacks: Sequence[Attack]) -> Table:
    table = _plain_table(f"{label}: the best set of each size")
    table.add_column("she knows", overflow="fold")
    for measure in ("certain", "one guess right", "factor"):
        table.add_column(measure, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for attack in attacks:
        table.add_row(
            Text(printable(", ".join(attack.quasi_identifiers))),
            f"{attack.certain:,} ({percentage(attack.deterministic.posterior)})",
            f"{_percent(attack.probabilistic.prior)} → {_percent(attack.probabilistic.posterior)}",
            _factor(attack.probabilistic),
            _bar(attack.probabilistic),
        )
    return table


def _plain_table(title: str) -> Table:
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


def _change(leakage: Leakage | None) -> str:
    if leakage is None:
        return "–"
    return f"{float(leakage.prior):,.4g} → {float(leakage.posterior):,.4g}"


def _bar(leakage: Leakage) -> str:
    before = int(BAR_WIDTH * leakage.prior)
    after = int(BAR_WIDTH * leakage.posterior)
    return "░" * before + "█" * (after - before) + "·" * (BAR_WIDTH - after)
