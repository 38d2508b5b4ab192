"""What a file holds, as a page: for whoever decides what to do with it.

It tells of columns, and of no person: of the values of a column the most frequent, as shares in whole per cent, so that
no count below the smallest that may be told can be worked out from them, the number of records and the number of values
(`shown_categories`); of combinations of columns how many records they tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.language import marked, number, quoted, text, text_for, translated
from glasshouse.measures.categories import shown_categories
from glasshouse.report import vega
from glasshouse.report.cells import cell_table, group_table
from glasshouse.report.charts import PER_CENT, TARGETS, figure_of, plot, titled, wrapped
from glasshouse.report.discretion import ToldPart
from glasshouse.report.glossary import glossary
from glasshouse.report.inspect.findings import ROLES, Findings, kind_of, size_of
from glasshouse.report.labels import short_label
from glasshouse.report.page import (
    Action,
    Column,
    Figure,
    Finding,
    Page,
    Provenance,
    Section,
    Table,
    Tile,
)
from glasshouse.report.severity import graded
from glasshouse.report.words import enumeration, sentences
from glasshouse.table import Role
from glasshouse.table.profiles import (
    FREE_TEXT,
    ColumnProfile,
    Combination,
    TableProfile,
)

MOST_NAMED = 3
"""So many columns are named on the first screen."""
MOST_DRAWN, MOST_LISTED = 3, 25
"""So many combinations of each number of columns are drawn, and so many listed."""
_LETTERS, _LINE = 16, "\u2003"
"""How many letters of what is known fit into a line of a picture, and what stands between lines there."""
SHARES = marked(
    "Shares are in whole per cent of all records. A value that fewer than {smallest} records have is not "
    "shown, and neither are others from which it could be worked out."
)
SAMPLE = marked(
    "For combinations, {sample} of the {records} records were looked at, at equal distances: among all "
    "of them, a smaller share is usually unique."
)
WHOLE = marked("Combinations were counted over all records.")


def page(
    profile: TableProfile,
    combinations: Sequence[Combination],
    *,
    assumptions: Sequence[str],
    command: str,
    provenance: Provenance,
    with_values: bool = True,
) -> Page:
    """Return a page on what a file holds.

    Args:
        profile: What it holds.
        combinations: How well columns tell its records apart together, the best first.
        assumptions: What was concluded of how it is written, in phrases.
        command: The command that makes this page.
        provenance: Where the figures come from.
        with_values: Whether to tell frequent values; not where its columns seem to be called wrong, so that nobody
            knows which of them name people.
    """
    sampled = bool(combinations) and combinations[0].records < profile.columns[0].records
    words = {
        "sample": combinations[0].records if combinations else 0,
        "records": profile.columns[0].records,
    }
    findings = (
        *Findings(profile).all(),
        *_singled_out(combinations, sampled=sampled),
    )
    return Page(
        title=text("What {name} holds", name=profile.name),
        lead=size_of(profile),
        findings=findings,
        tiles=_tiles(profile, combinations, assumptions),
        actions=_actions(profile),
        adversary=(),
        limits=sentences(
            ROLES, SHARES, bool(combinations) and (SAMPLE if sampled else WHOLE), **words
        ),
        provenance=provenance,
        command=command,
        method="",
        sections=(
            *_reading(assumptions),
            _columns(profile),
            *([_values(profile)] if with_values else []),
            *_combined(combinations),
        ),
        glossary=glossary("quasi-identifier, sensitive attribute, record, release"),
    )


def _tiles(
    profile: TableProfile, combinations: Sequence[Combination], assumptions: Sequence[str]
) -> tuple[Tile, ...]:
    """Return what was understood, what names people, and what singles them out."""
    columns = text_for(len(profile.columns), "{count} column", "{count} columns")
    read = (
        text_for(
            len(assumptions),
            "records in {columns}; {count} thing about how the file is written was assumed",
            "records in {columns}; {count} things about how the file is written were assumed",
            columns=columns,
        )
        if assumptions
        else text(
            "records in {columns}, read as such files are usually written",
            columns=columns,
        )
    )
    direct, texts = _naming(profile)
    names = direct or texts
    if direct:
        why = text(
            "{columns}: they identify or reach people by themselves", columns=_in_short(names)
        )
    elif texts:
        why = text("of free text may mention anybody: {columns}", columns=_in_short(names))
    elif names := [one.name for one in profile.columns if one.role is Role.IDENTIFIER]:
        why = text(
            "by a number or code that tells people apart: {columns}", columns=_in_short(names)
        )
    else:
        why = text("was found to identify people by itself")
    tiles = [
        Tile(text("What was understood"), number(profile.columns[0].records), read),
        Tile(
            text("What identifies people"),
            text_for(len(names), "{count} column", "{count} columns")
            if names
            else text("no column"),
            why,
        ),
    ]
    if combinations:
        best = combinations[0]
        alone = text(
            "of the {records} records are unique on {known}",
            records=number(best.records),
            known=enumeration(best.columns),
        )
        tiles.append(Tile(text("How little is enough"), alone_of(best).share, alone))
    return tuple(tiles)


def _naming(profile: TableProfile) -> tuple[list[str], list[str]]:
    """Return the columns that name people by themselves, and those of free text."""
    direct = [column.name for column in profile.columns if column.is_direct]
    texts = [column.name for column in profile.columns if column.looks_like == FREE_TEXT]
    return direct, texts


def _in_short(names: Sequence[str]) -> str:
    """Name columns, or the first of many."""
    return quoted(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")


def _actions(profile: TableProfile) -> tuple[Action, ...]:
    """Return what to do before anything is released."""
    direct, texts = _naming(profile)
    steps = []
    if direct:
        steps.append(text("Leave out of the release: {columns}.", columns=_in_short(direct)))
    if texts:
        steps.append(
            text("Read {columns} before the release, or leave it out.", columns=_in_short(texts))
        )
    steps.append(text("Check the suggested roles of the columns; then assess what they give away."))
    return tuple(map(Action, steps))


def _reading(assumptions: Sequence[str]) -> list[Section]:
    """Say what was concluded of how the file is written."""
    if not assumptions:
        return []
    intro = text(
        "Nobody said how the file is written. This was assumed; what stands in brackets overrides it:"
    )
    return [Section(text("How it was read"), intro, notes=tuple(assumptions))]


def _singled_out(combinations: Sequence[Combination], *, sampled: bool) -> list[Finding]:
    """Say how many records the combination that tells most of them apart leaves alone."""
    if not combinations:
        return []
    best, alone = combinations[0], alone_of(combinations[0])
    words = {
        "share": alone.share,
        "known": enumeration(best.columns),
        "records": number(best.records),
    }
    if sampled:
        template = marked("In a sample of {records} records, {share} are unique on {known}.")
    elif alone.is_exact:
        template = marked("{share} of the {records} records are unique on {known}.")
    else:
        template = marked("Fewer than {smallest} of the {records} records are unique on {known}.")
    sentence = translated(template, **words)
    return [
        Finding(
            graded(Fraction(0), certain=alone.stands_for, people=best.records),
            sentence,
            figure=text(
                "{alone} of {records} records; {classes} combinations",
                alone=alone.count,
                records=number(best.records),
                classes=number(best.classes),
            ),
            meaning=text(
                "Anyone who knows this about somebody finds their record, and reads all the rest of it."
            )
            if best.unique
            else "",
            picture=_figure(combinations) if alone.drawn else None,
        )
    ]


def _columns(profile: TableProfile) -> Section:
    is_labelled = any(column.label for column in profile.columns)
    table = cell_table(
        (text("Column"), *([text("Label")] if is_labelled else []), text("Values")),
        (
            *(text("Distinct"), text("Missing")),
            *(Column(text("Suggested role")), Column(text("Because"))),
        ),
        [
            (
                column.name,
                *([short_label(column.label) if column.label else "–"] if is_labelled else []),
                *(kind_of(column), number(column.distinct)),
                *(
                    ToldPart.of(column.missing, column.records).count,
                    translated(column.role.value),
                    column.reason,
                ),
            )
            for column in profile.columns
        ],
    )
    return Section(text("Its columns"), tables=(table,))


def _values(profile: TableProfile) -> Section:
    """Return the most frequent values of each column that does not name people."""
    groups = {}
    untold = []
    for column in profile.columns:
        shares = shown_categories(column)
        if shares:
            groups[column.name] = [(_called(column, value), figure) for value, figure in shares]
        elif column.distinct:
            untold.append(column.name)
    tables = (group_table(text("Value"), [text("Share of the records")], groups),) if groups else ()
    return Section(
        text("The most frequent values"),
        tables=tables,
        notes=(
            text(
                "The values of these columns are not shown, as they identify people or few people share each of "
                "them: {columns}.",
                columns=quoted(untold),
            ),
        )
        if untold
        else (),
    )


def _called(column: ColumnProfile, value: str) -> str:
    """Return a value with what the file says that it stands for."""
    label = column.value_labels.get(value, "")
    return f"{value} = {short_label(label)}" if label else value


def _combined(combinations: Sequence[Combination]) -> list[Section]:
    if not combinations:
        return []
    intro = text(
        "The suggested quasi-identifiers, alone, in pairs and in triples: how many different combinations of "
        "values there are, and how many records are unique on them."
    )
    table = _combined_table(combinations[:MOST_LISTED])
    return [Section(text("Which columns together single people out"), intro, (table,))]


def _combined_table(combinations: Sequence[Combination]) -> Table:
    titles = (text("Combinations"), text("Unique records"), text("Share"))
    return cell_table(
        text("Known together"),
        titles,
        [
            (
                enumeration(combined.columns),
                *(number(combined.classes), alone.count),
                alone.share if alone.is_exact else "–",
            )
            for combined in combinations
            for alone in [alone_of(combined)]
        ],
    )


def alone_of(combined: Combination) -> ToldPart:
    """Return how many records are alone with a combination, as it may be told."""
    return ToldPart.of(combined.unique, combined.records)


def _figure(combinations: Sequence[Combination]) -> Figure:
    """Show how many records are alone with their values of a few columns."""
    chosen: list[Combination] = []
    for size in (1, 2, 3):
        of_size = [
            combined
            for combined in combinations
            if len(combined.columns) == size and alone_of(combined).drawn
        ]
        chosen += of_size[:MOST_DRAWN]
    labels = [_LINE.join(wrapped(enumeration(combined.columns), _LETTERS)) for combined in chosen]
    rows = [
        {
            "known": label,
            "share": alone_of(combined).drawn,
            "label": alone_of(combined).share,
        }
        for label, combined in zip(labels, chosen, strict=True)
    ]
    most = max(alone_of(combined).drawn for combined in chosen)
    scale = PER_CENT if most > 50 else vega.Scale(domain=[0, 1.2 * most], nice=False)
    axis = vega.Axis(labelExpr=f"split(datum.label, '{_LINE}')", labelPadding=6)
    base = plot(rows).encode(
        y=vega.Y("known:N", sort=labels, title=None, axis=axis),
        x=vega.X(
            "share:Q", title=text("unique records (%)"), scale=scale, axis=vega.Axis(tickCount=5)
        ),
    )
    bars = base.mark_bar(height=18, color=TARGETS[0][0])
    figures = base.mark_text(align="left", dx=5).encode(text="label:N")
    best = combinations[0]
    title = text(
        "{share} of the records are unique on {known}",
        share=alone_of(best).share,
        known=enumeration(best.columns),
    )
    room = {"left": 8, "top": 5, "right": 10, "bottom": 5}
    return figure_of(
        titled(vega.layer(bars, figures), title, width=480, height=vega.Step(54), padding=room),
        label=text("Share of records that are unique on what is known together"),
        caption=text(
            "The suggested quasi-identifiers, and their pairs and triples, that single out the most records."
        ),
        table=_combined_table(chosen),
    )
