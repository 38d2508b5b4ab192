"""What each attribute contributes to the risk: in a sentence, in a picture and in a table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import altair as alt

from glasshouse.language import exactly, number, text
from glasshouse.microdata import Sweep
from glasshouse.microdata.influence import shapley_values, without_each
from glasshouse.report.microdata.attacks import target_label
from glasshouse.report.page import Cell, Column, Figure, Finding, Group, Section, Severity, Table
from glasshouse.report.theme import TARGETS, wrapped
from glasshouse.report.words import enumeration, frequencies, percentage_points


@dataclass(frozen=True)
class Influence:
    """What one attribute does for one target."""

    attribute: str
    """The quasi-identifier."""
    share: Fraction
    """Its Shapley value: its part of what all of them add to the success of a guess."""
    drop: Fraction
    """By how much the success falls if it alone is left out."""


def influences(sweep: Sweep) -> dict[str | None, tuple[Influence, ...]]:
    """Return, per target (None is naming), what each attribute does; nothing where some set was not assessed."""
    if len(sweep.masks) != 2 ** len(sweep.quasi_identifiers) - 1:
        return {}
    drops = {(each.removed, each.sensitive): each.drop for each in without_each(sweep).removals}
    found: dict[str | None, list[Influence]] = {}
    for each in shapley_values(sweep).values:
        drop = drops[each.quasi_identifier, each.sensitive]
        own = Influence(each.quasi_identifier, each.value, drop)
        found.setdefault(each.sensitive, []).append(own)
    return {target: tuple(own) for target, own in found.items()}


def influence_findings(sweep: Sweep) -> tuple[Finding, ...]:
    """Say which attribute contributes most to naming people, and what leaving one out would do."""
    own = influences(sweep).get(None, ())
    whole = sum((each.share for each in own), Fraction(0))
    if len(own) < 2 or whole == 0:
        return ()
    first = max(own, key=lambda each: each.share)
    return (
        Finding(
            Severity.NOTE,
            text(
                "Of all attributes, {attribute} contributes most to naming people: {own} of the {whole} percentage "
                "points that all of them add to the success of a guess.",
                attribute=enumeration([first.attribute]),
                own=percentage_points(first.share),
                whole=percentage_points(whole),
            ),
            figure=text(
                "Shapley value of {attribute}: {value}",
                attribute=first.attribute,
                value=number(first.share, ".6g"),
            ),
            meaning=_removal(sweep, own),
        ),
    )


def _removal(sweep: Sweep, own: tuple[Influence, ...]) -> str:
    """Say what leaving out one attribute does at best."""
    best = max(own, key=lambda each: each.drop)
    if best.drop == 0:
        return text(
            "Leaving out any one attribute alone would change nothing: the others together tell as much."
        )
    after = Fraction(int(sweep.named[-1]), sweep.total)
    lower, higher = frequencies(after - best.drop, after)
    return text(
        "Leaving out one attribute alone helps most if it is {attribute}: a guess at whose record it is would then "
        "succeed for {lower} instead of {higher}.",
        attribute=enumeration([best.attribute]),
        lower=lower,
        higher=higher,
    )


def influence_section(sweep: Sweep) -> Section | None:
    """Return, per attribute and target, its share of the leakage and what removing it would do."""
    found = influences(sweep)
    if not found:
        return None
    columns = [
        Column(title, numeric=True, under=_label(target))
        for target in found
        for title in (text("share"), text("without it"))
    ]
    rows = tuple(
        (Cell(name), *(cell for own in found.values() for cell in _cells(own[place])))
        for place, name in enumerate(sweep.quasi_identifiers)
    )
    return Section(
        text("What each attribute contributes"),
        intro=text(
            "In points of success (per 100 records). Share: the attribute’s fair share of what the attack gives her "
            "(its Shapley value; the shares of a column add up to the whole leakage). Without it: how her success "
            "changes if this attribute alone is left out of the release."
        ),
        tables=(Table((Column(text("Attribute")), *columns), (Group(rows),)),),
    )


def influence_figure(sweep: Sweep) -> Figure | None:
    """Return the picture of what each attribute contributes to naming, and to the inference that gains most."""
    found = {target: own for target, own in influences(sweep).items() if _whole(own) > 0}
    if not found or len(sweep.quasi_identifiers) < 2:
        return None
    secrets = [target for target in found if target is not None]
    worst = sorted(secrets, key=lambda target: _whole(found[target]), reverse=True)[:1]
    shown = {target: own for target, own in found.items() if target is None or target in worst}
    return Figure.of(
        _chart(shown),
        label=text("What each attribute contributes to the success of a guess"),
        caption=text(
            "Share: the attribute’s fair part of what all of them add (its Shapley value). Left out: by how much the "
            "success falls if this attribute alone is not published; where others tell the same, that is little."
        ),
        table=_table(shown),
    )


def _whole(own: tuple[Influence, ...]) -> Fraction:
    return sum((each.share for each in own), Fraction(0))


def _label(target: str | None) -> str:
    return target_label(() if target is None else (target,))


def _cells(each: Influence) -> tuple[Cell, Cell]:
    return _points(each.share), _points(-each.drop)


def _points(value: Fraction) -> Cell:
    return Cell(number(100 * float(value) + 0.0, "+.2f"), exact=exactly(value))


def _looks() -> tuple[str, str]:
    return text("its share of what all add"), text("lost if it is left out")


def _table(shown: dict[str | None, tuple[Influence, ...]]) -> Table:
    columns = (Column(text("Attribute")), *(Column(what, numeric=True) for what in _looks()))
    groups = tuple(
        Group(
            tuple(
                (Cell(each.attribute), _points(each.share), _points(each.drop))
                for each in sorted(own, key=lambda each: each.share, reverse=True)
            ),
            title=_label(target),
        )
        for target, own in shown.items()
    )
    return Table(columns, groups)


def _chart(shown: dict[str | None, tuple[Influence, ...]]) -> alt.TopLevelMixin:
    looks = _looks()
    first = next(iter(shown.values()))
    order = [each.attribute for each in sorted(first, key=lambda each: each.share, reverse=True)]
    rows = [
        {
            "attack": _label(target),
            "attribute": each.attribute,
            "what": what,
            "points": round(100 * float(value), 3),
        }
        for target, own in shown.items()
        for each in own
        for what, value in zip(looks, (each.share, each.drop), strict=True)
    ]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("points:Q", title=text("percentage points of success")),
            y=alt.Y("attribute:N", sort=order, title=None),
            yOffset=alt.YOffset("what:N", sort=list(looks)),
            color=alt.Color(
                "what:N",
                title=None,
                sort=list(looks),
                scale=alt.Scale(domain=list(looks), range=[TARGETS[0][0], TARGETS[1][0]]),
            ),
        )
        .properties(width=560 // len(shown), height=alt.Step(11))
    )
    panels = [_label(target) for target in shown]
    chart: alt.TopLevelMixin = bars.facet(
        facet=alt.Facet("attack:N", sort=panels, title=None, header=alt.Header(labelFontSize=13)),
        columns=2,
    ).properties(title=alt.Title(wrapped(_finding(shown))))
    return chart


def _finding(shown: dict[str | None, tuple[Influence, ...]]) -> str:
    """Say which attribute contributes most to the first target."""
    target, own = next(iter(shown.items()))
    first = enumeration([max(own, key=lambda each: each.share).attribute])
    if target is None:
        return text("To naming people, {attribute} contributes most", attribute=first)
    return text(
        "To inferring {secret}, {attribute} contributes most",
        attribute=first,
        secret=enumeration([target]),
    )
