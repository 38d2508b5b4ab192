"""What is learned of people, as tables for the terminal: one person, who is there, who is unique."""

from __future__ import annotations

from fractions import Fraction

from rich.table import Table
from rich.text import Text

from glasshouse.cli.tables import bar, change, percent, plain_table
from glasshouse.errors import printable
from glasshouse.language import number, text, text_for
from glasshouse.microdata import Leakage
from glasshouse.microdata.assessment import value_text
from glasshouse.microdata.membership import Member, Membership
from glasshouse.microdata.target import TargetSecret
from glasshouse.microdata.uniqueness import PopulationRisks
from glasshouse.report.microdata.attacks import target_label
from glasshouse.report.words import counted

MOST_VALUES = 15
"""So many values of one person's secret are shown; the others together."""


def target_table(secret: TargetSecret, *, currency: str | None = None) -> Table:
    """Return the most probable values of one person's secret, before and after."""
    title = f"{secret.code} {target_label((secret.sensitive,))}"
    if secret.gain is not None:
        title = text(
            "{attack}; gain {gain} by {action}",
            attack=title,
            gain=change(secret.gain, currency),
            action=value_text(secret.best_action),
        )
    table = plain_table(title)
    table.add_column(Text(printable(secret.sensitive)), overflow="fold")
    for measure in (text("before"), text("after")):
        table.add_column(measure, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for belief in secret.values[:MOST_VALUES]:
        table.add_row(
            Text(printable(value_text(belief.value))),
            percent(belief.prior),
            percent(belief.posterior),
            bar(Leakage(Fraction(0), belief.posterior)),
        )
    rest = secret.values[MOST_VALUES:]
    if rest:
        before = sum((belief.prior for belief in rest), Fraction(0))
        after = sum((belief.posterior for belief in rest), Fraction(0))
        others = text_for(len(rest), "{count} other", "{count} others")
        table.add_row(others, percent(before), percent(after), "")
    return table


def membership_table(outcome: Membership) -> Table:
    """Return what a register tells of who is in each release, and in which of several."""
    table = plain_table(
        text_for(
            outcome.classes,
            "{people} of {population} in {count} class",
            "{people} of {population} in {count} classes",
            people=counted(outcome.people, "person"),
            population=outcome.population,
        )
    )
    table.add_column(text("release"), overflow="fold")
    for measure in (
        text("in it"),
        text("certainly in"),
        text("certainly out"),
        text("one guess right"),
        text("chance of being in"),
    ):
        table.add_column(measure, justify="right")
    for row in (*outcome.each, outcome):
        name = text("which of them") if row.each else ", ".join(row.datasets)
        table.add_row(
            Text(printable(f"{row.code} {name}")),
            "–" if row.each else number(sum(row.members)),
            number(row.certainly_in),
            number(row.certainly_out),
            f"{percent(row.probabilistic.prior)} → {percent(row.probabilistic.posterior)}",
            _between(row.delta_min, row.delta_max),
        )
    return table


def member_table(outcome: Member) -> Table:
    """Return how probable it is that one person is in each release."""
    table = plain_table(
        text(
            "{code}: {candidates} of the {people} people of {population} fit",
            code=outcome.code,
            candidates=outcome.candidates,
            people=outcome.people,
            population=outcome.population,
        )
    )
    table.add_column(text("release"), overflow="fold")
    for measure in (text("records that fit"), text("in it: before"), text("after")):
        table.add_column(measure, justify="right")
    for name, records, present in zip(
        outcome.datasets, outcome.records, outcome.present, strict=True
    ):
        table.add_row(
            Text(printable(name)),
            number(records),
            percent(present.prior),
            percent(present.posterior),
        )
    return table


def population_table(risks: PopulationRisks) -> Table:
    """Return the estimates of how many people are unique in the population."""
    table = plain_table(text("Estimated: how many people are unique in the population"))
    table.add_column(text("estimator"), overflow="fold")
    for measure in (
        text("unique people"),
        text("of the population"),
        text("of the unique records"),
    ):
        table.add_column(measure, justify="right")
    for estimate in risks.estimates:
        people = estimate.population_uniques
        table.add_row(
            Text(printable(f"{estimate.name} ({estimate.reference})")),
            text("no answer") if people is None else number(people, ",.0f"),
            _share(estimate.share_of_population),
            _share(estimate.share_of_sample_uniques),
        )
    return table


def _between(least: Fraction | None, most: Fraction | None) -> str:
    if least is None or most is None:
        return "–"
    return text("{least} to {most}", least=percent(least), most=percent(most))


def _share(share: float | None) -> str:
    return "–" if share is None else text("{figure} %", figure=number(100 * float(share), ".3g"))
