"""A protected release beside the original: what the protection buys, what it costs, and what it does not stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import altair as alt

from glasshouse.microdata import Assessment, Attack
from glasshouse.report.attacks import attack_label
from glasshouse.report.cells import number_cell
from glasshouse.report.document import METHOD
from glasshouse.report.page import (
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, frequency, percentage, plural, share
from glasshouse.table.treatment import Step


class Protected(Protocol):
    """What a report says of a protected release."""

    @property
    def records(self) -> int:
        """The number of records, suppressed ones included."""

    @property
    def suppressed(self) -> int:
        """The number of suppressed records."""

    @property
    def before(self) -> Assessment:
        """What an adversary learns from the original."""

    @property
    def after(self) -> Assessment:
        """What she learns from the release."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out beforehand."""

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values."""


def protection_sentences(outcome: Protected, *, subject: str = "person") -> tuple[str, ...]:
    """Return what the protection buys, what survives it, and what it costs: three sentences."""
    naming, *inferring = zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    sentences = [_named(*naming, subject)]
    if inferring:
        worst = max(inferring, key=lambda pair: pair[1].certain)
        sentences.append(_inferred(*worst, subject))
    sentences.append(_cost(outcome, subject))
    return tuple(sentences)


def _named(before: Attack, after: Attack, subject: str) -> str:
    kept = (
        ""
        if after.records == before.records
        else f"of the {after.records:,} whose record is kept, "
    )
    left = "nobody" if after.certain == 0 else counted(after.certain, subject)
    if after.certain == before.certain and after.records == before.records:
        return (
            f"It does not protect against being named: with or without it {counted(after.certain, subject)} of "
            f"{after.records:,} can be named with certainty ({share(after.certain, after.records)}), and a guess is "
            f"right for {frequency(after.probabilistic.posterior)}."
        )
    return (
        f"Before, {counted(before.certain, subject)} of {before.records:,} could be named with certainty "
        f"({share(before.certain, before.records)}); in the protected release, {kept}{left} can, and a guess is right "
        f"for {frequency(after.probabilistic.posterior)} instead of {frequency(before.probabilistic.posterior)}."
    )


def _inferred(before: Attack, after: Attack, subject: str) -> str:
    secret = " and ".join(after.secret)
    kept = "" if after.records == before.records else ", if their record is kept"
    if after.certain == 0:
        return (
            f"Nobody's {secret} can be inferred with certainty any more{kept}; before it was that of "
            f"{counted(before.certain, subject)}."
        )
    return (
        f"What it does not stop: the {secret} of {counted(after.certain, subject)} "
        f"({share(after.certain, after.records)}) is still known with certainty, because all {plural(subject)} of "
        f"their class share it; before it was {counted(before.certain, subject)}."
    )


def _cost(outcome: Protected, subject: str) -> str:
    content = outcome.to_dict()
    hidden = (
        "no record is suppressed"
        if outcome.suppressed == 0
        else f"{counted(outcome.suppressed, 'record')} ({share(outcome.suppressed, outcome.records)}) "
        f"{'is' if outcome.suppressed == 1 else 'are'} suppressed"
    )
    loss = content.get("loss")
    if loss is None:
        return f"The cost: {hidden}; the link between a {subject} and the sensitive value is cut inside each group."
    return f"The cost: {hidden}, and {100 * loss:.1f} % of the detail is lost{_proof(content)}."


def _proof(content: Mapping[str, Any]) -> str:
    """Say what is known of how good a protection is; only where it is about the loss itself."""
    if "objective" in content:
        return f"; what was made least is {_objective(content)}"
    if content.get("optimal"):
        return ", the least that this protection allows"
    bound = content.get("bound")
    least = "" if bound is None else f"; no recoding loses less than {100 * bound:.1f} %"
    return f", the least that was found{least}"


def _objective(content: Mapping[str, Any]) -> str:
    name = content["parameters"].get("objective", "loss").replace("_", " ")
    weighed = ", attributes weighed" if content["parameters"].get("importance") else ""
    return f"{name}{weighed} ({content['objective']:.4f})"


QUALITY = (
    "Of loss, 0 is best. Of granularity, non-uniform entropy, discernibility and average class size, which are scaled "
    "as ARX does, 1 is best and 0 is nothing left."
)
ORIGINAL, PROTECTED = "original", "protected"
COLOURS = {ORIGINAL: "#7f7f7f", PROTECTED: "#d55e00"}  # Okabe and Ito 2008


def protection_chart(outcome: Protected) -> alt.TopLevelMixin:
    """Show each attack on the original and on the release: how often a guess is right, and who is known for certain."""
    pairs = list(zip(outcome.before.attacks, outcome.after.attacks, strict=True))
    rows = [
        {"attack": f"{attack_label(after)}: {how}", "what": what, "success": 100 * float(success)}
        for before, after in pairs
        for how, what, success in (
            ("a guess", ORIGINAL, before.probabilistic.posterior),
            ("a guess", PROTECTED, after.probabilistic.posterior),
            ("certain", ORIGINAL, before.deterministic.posterior),
            ("certain", PROTECTED, after.deterministic.posterior),
        )
    ]
    order = list(dict.fromkeys(str(row["attack"]) for row in rows))
    places = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "success:Q",
            title="share of records for which the adversary succeeds (%)",
            scale=alt.Scale(domain=[0, 100]),
        ),
        y=alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelPadding=12, labelLimit=360)),
    )
    lines = places.mark_line(strokeWidth=3, color="#d9b08c").encode(detail="attack:N")
    points = places.mark_point(filled=True, size=140, opacity=1).encode(
        color=alt.Color(
            "what:N",
            title=None,
            scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        ),
        shape=alt.Shape(
            "what:N",
            title=None,
            scale=alt.Scale(domain=list(COLOURS), range=["circle", "diamond"]),
        ),
    )
    naming, named = (each.probabilistic.posterior for each in pairs[0])
    return alt.layer(lines, points).properties(
        width=520,
        height=alt.Step(34),
        title=alt.Title(
            f"Of 100 guesses at a name, {_of_hundred(naming)} were right; now {_of_hundred(named)} are",
            subtitle="with all quasi-identifiers; suppressed records are left out",
        ),
    )


def _of_hundred(chance: Fraction) -> str:
    return f"{100 * float(chance):.3g}"


def protection_page(outcome: Protected, *, provenance: Provenance, subject: str = "person") -> Page:
    """Return the report of a protected release."""
    content = outcome.to_dict()
    sections = [_risks(outcome), _protection(content)]
    done = treatment_section(outcome.steps)
    return Page(
        title="A protected release, and what it still tells",
        lead=f"{outcome.records:,} records",
        findings=noted(protection_sentences(outcome, subject=subject)),
        **spread(
            Assumptions(
                "The adversary knows all quasi-identifiers of a person whose record is in the release, and how they were "
                "recoded. Suppressed records form no class and are left out of the figures after. Every risk is an exact "
                "ratio of counts.",
                (
                    Term(
                        "Known for certain", "Records whose secret she infers with probability 1."
                    ),
                    Term(
                        "Loss",
                        "The mean share of the domain that a released value stands for, per attribute, joined by a "
                        "geometric mean: 0 where nothing is generalised, 1 where everything is.",
                    ),
                    Term("Height", "How many levels of its hierarchy a column was generalised."),
                ),
            )
        ),
        provenance=provenance,
        command="glasshouse anonymise --study study.toml",
        method=METHOD,
        figures=(
            Figure.of(
                protection_chart(outcome),
                label="Each attack on the original and on the protected release; the same figures are in the table below",
                caption="Grey: the original. Orange: the protected release. Further left is safer.",
            ),
        ),
        sections=(*sections, *([done] if done is not None else [])),
    )


def _risks(outcome: Protected) -> Section:
    columns = (
        Column("Attack"),
        Column("certain", numeric=True, under="Before"),
        Column("guess right", numeric=True, under="Before"),
        Column("certain", numeric=True, under="After"),
        Column("guess right", numeric=True, under="After"),
    )
    rows = tuple(
        (
            Cell(attack_label(after), mark=after.code),
            *_figures(before),
            *_figures(after),
        )
        for before, after in zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    )
    return Section(
        "What an adversary learns, before and after",
        "With all quasi-identifiers.",
        (Table(columns, (Group(rows),)),),
    )


def _figures(attack: Attack) -> tuple[Cell, Cell]:
    certain = f"{attack.certain:,} ({percentage(attack.deterministic.posterior)})"
    return Cell(certain), number_cell(attack.probabilistic.posterior)


def _protection(content: Mapping[str, Any]) -> Section:
    rows = [("method", content["method"]), *_parameters(content["parameters"])]
    rows += [("classes", f"{content['classes']:,}"), ("suppressed", f"{content['suppressed']:,}")]
    rows += _attained(content["attained"])
    if content.get("loss") is not None:
        rows.append(("loss", f"{content['loss']:.6f}"))
    quality = content.get("quality") or {}
    rows += [
        (name.replace("_", " "), f"{value:.6f}")
        for name, value in quality.items()
        if isinstance(value, float) and name != "loss"
    ]
    tables = [_two_columns("Protection", rows)]
    if content.get("heights"):
        tables.append(_two_columns("Height", [(n, str(h)) for n, h in content["heights"].items()]))
    suggested = content.get("suggested_hierarchies") or []
    notes = (
        (f"The hierarchies of {', '.join(suggested)} were suggested by the program: review them.",)
        if suggested
        else ()
    )
    if quality:
        notes = (*notes, QUALITY)
    if content["columns_left_out"]:
        notes = (*notes, f"Not released: {', '.join(content['columns_left_out'])}.")
    return Section("How it is protected", tables=tuple(tables), notes=notes)


def _attained(attained: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return what the release has, whatever was promised of it."""
    rows = [("smallest class or group", f"{attained['k']:,}")]
    for secret in attained["sensitive"]:
        name = secret["sensitive"]
        rows += [
            (f"fewest values of {name} in a class (l)", f"{secret['l']:,}"),
            (f"greatest share of one {name} in a class", f"{secret['most_frequent']:.4f}"),
            (f"farthest class from all records, {name} (t)", f"{secret['t']:.4f}"),
        ]
    return rows


def _parameters(parameters: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    about = {"diversity": "l", "closeness": "t"}
    return [
        (name.replace("_", " "), str(value))
        for name, value in parameters.items()
        if value not in ({}, None, [], False) and about.get(name, name) in parameters
    ]


def _two_columns(title: str, rows: Sequence[tuple[str, str]]) -> Table:
    cells = tuple((Cell(name), Cell(value)) for name, value in rows)
    return Table((Column(title), Column("", numeric=True)), (Group(cells),))
