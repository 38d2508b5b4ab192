"""Explore sets: tick what somebody knows, and see what she learns; every figure is looked up in the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from glasshouse.app.runs import changes, listed, opened, pictures
from glasshouse.app.server import page
from glasshouse.app.sets import AssessedSets, KnownSet, sets_of
from glasshouse.language import marked, percentage, text, text_for, translated
from glasshouse.microdata import Attack
from glasshouse.microdata.leakage import as_fraction
from glasshouse.report.assess.front import assess_command, sweeping
from glasshouse.report.assess.page import ROUNDED, TERMS
from glasshouse.report.assess.sets import pairs_figure
from glasshouse.report.attacks import exact_figure, target_label
from glasshouse.report.cells import cell_table, count_cell, percent_cell
from glasshouse.report.glossary import glossary
from glasshouse.report.page import Cell, Figure, Table, Term
from glasshouse.report.severity import graded
from glasshouse.report.words import counted, enumeration, percentages

ROWS = 15
"""So many sets are on one page of the table."""
MOST_PINNED = 2
"""So many sets are put side by side."""
PICTURES = {
    "sets": marked("What could be published"),
    "pairs": marked("What each pair of columns reveals"),
    "facts": marked("Risk by the number of facts that are known"),
}
"""The pictures, which are drawn where they are asked for; each is called as in the report."""


def guessed(secret: Sequence[str]) -> str:
    """Say what is guessed: a secret, or who the person is, with columns as a sentence calls them."""
    return target_label(()) if not secret else text("infer {secret}", secret=enumeration(secret))


@dataclass(frozen=True)
class Gauge:
    """What a guess about one thing achieves, before and after."""

    label: str
    """What is guessed."""
    base: Fraction
    """How often a guess is right without knowing anything of the person: what the release adds counts from there."""
    before: Fraction
    """The same, or of a version how often it is right in the original,"""
    after: Fraction
    """and how often with what she knows."""
    certain: Fraction
    """The share of people of whom it is known for certain."""
    certain_records: int
    """How many people that is."""
    exact: str
    """The same as exact ratios."""
    severity: str
    """How much what the release adds should worry."""

    @classmethod
    def of(cls, attack: Attack) -> Gauge:
        """Return the gauge of an attack."""
        before, after = attack.probabilistic.prior, attack.probabilistic.posterior
        surely = attack.certain - int(attack.deterministic.prior * attack.records)
        worry = graded(after - before, certain=max(0, surely), people=attack.records)
        return cls(
            guessed(attack.secret),
            before,
            before,
            after,
            attack.deterministic.posterior,
            attack.certain,
            exact_figure(attack),
            worry.value,
        )

    is_version: bool = False
    """Whether what was before is the original of a version, and not that nothing is known of the person."""

    @property
    def change(self) -> tuple[str, ...]:
        """Before and after, so that they can be compared."""
        return percentages(self.before, self.after)

    @property
    def sentence(self) -> str:
        """What stands beside the figure."""
        before = self.change[0]
        if self.is_version:
            return text(
                "of guesses right; in the original {before}, and {base} without knowing anything",
                before=before,
                base=percentages(self.base, self.after)[0],
            )
        return text("of guesses right; {before} without knowing anything", before=before)

    @property
    def added(self) -> Fraction:
        """What the release adds to guesses."""
        return max(Fraction(0), self.after - self.base)

    @staticmethod
    def thousandth(share: Fraction) -> str:
        """Return a share on a scale of a thousand, for a drawing."""
        return f"{float(1000 * share):.2f}"


@dataclass(frozen=True)
class Query:
    """What the address asks for."""

    known: int
    """The attributes that are ticked, as a mask."""
    pinned: tuple[int, ...]
    """The sets that are put side by side, as masks."""
    sort: str
    """What the table is sorted by."""
    most: int | None
    """The most attributes of a set in the table."""
    containing: int
    """What every set in the table contains, as a mask."""
    over: Fraction | None
    """The risk, in per cent, that every set in the table is above."""
    page: int
    """The page of the table, from 1."""
    picture: str
    """The picture that is shown; empty: none."""

    @classmethod
    def of(cls, request: Request, sets: AssessedSets) -> Query:
        """Return what an address asks for; what makes no sense in it is left out."""
        entries, attributes = request.query_params, len(sets.attributes)
        sort = entries.get("sort", "-risk")
        over = as_fraction(_number(entries.get("over", "")))
        picture = entries.get("picture", "")
        return cls(
            known=_mask(entries.getlist("know"), attributes),
            pinned=tuple(
                dict.fromkeys(
                    int(mask)
                    for mask in entries.getlist("pin")
                    if _is_small(mask) and sets.get(int(mask)) is not None
                )
            )[-MOST_PINNED:],
            sort=sort if sort.removeprefix("-") in sets.sort_keys else "-risk",
            most=int(most) if _is_small(most := entries.get("most", "")) and int(most) else None,
            containing=_mask(entries.getlist("with"), attributes),
            over=over if over is not None and 0 <= over < 100 else None,
            page=max(1, int(place)) if _is_small(place := entries.get("page", "1")) else 1,
            picture=picture if picture in PICTURES else "",
        )

    def address(self, **changes: Any) -> str:
        """Return the address that asks for the same but for some changes, without what is usual."""
        entries = {**vars(self), **changes}
        pairs: list[tuple[str, Any]] = [("know", place) for place in _places(entries["known"])]
        pairs += [("pin", mask) for mask in entries["pinned"]]
        pairs += [("with", place) for place in _places(entries["containing"])]
        usual = {"sort": "-risk", "most": None, "over": None, "page": 1, "picture": ""}
        for name, value in usual.items():
            if entries[name] != value:
                entry = entries[name]
                pairs.append((name, float(entry) if isinstance(entry, Fraction) else entry))
        return f"?{urlencode(pairs)}"


def definitions(*names: str) -> tuple[Term, ...]:
    """Return what figures about guesses mean, and further words of the report's glossary."""
    return glossary("class, vulnerability", *names, terms=[TERMS])


def exact_figures(gauges: Sequence[Gauge]) -> list[tuple[str, str, str]]:
    """Return what each gauge shows, as it is rounded and exactly."""
    return [(one.label, one.change[1], one.exact) for one in gauges]


def _mask(places: Sequence[str], count: int) -> int:
    return sum({1 << int(place) for place in places if _is_small(place) and int(place) < count})


def _places(mask: int) -> list[int]:
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def _is_small(written: str) -> bool:
    return written.isascii() and written.isdecimal() and len(written) <= 9


def _number(written: str) -> float | None:
    try:
        return float(written.replace(",", "."))
    except ValueError:
        return None


def explore(request: Request) -> Response:
    """Show what somebody learns who knows the attributes that are ticked, and all sets in a table."""
    run = opened(request)
    sets = sets_of(run)
    query = Query.of(request, sets)
    with sets.labelled():
        chosen = sets.get(query.known)
        study = sets.study
        gauges = [Gauge.of(attack) for attack in chosen.attacks] if chosen else []
        names = [name for place, name in enumerate(sets.attributes) if query.known >> place & 1]
        limits = [
            condition.limit
            for condition in study.policy.conditions
            if condition.measure == "best-guess"
        ]
        return page(
            request,
            "explore.html",
            title=text("Explore sets"),
            run=run,
            here="explore",
            changes=changes(request, run),
            query=query,
            chips=[
                (place, enumeration([name]), query.known >> place & 1)
                for place, name in enumerate(sets.attributes)
            ],
            chosen=chosen,
            gauges=gauges,
            limit=min(limits, default=None),
            sentence=_sentence(chosen, names, study.subject),
            gauge_figures=exact_figures(gauges),
            definitions=definitions(),
            rounded="" if sets.assessment.exact else translated(ROUNDED),
            set_command=assess_command(study, names) if names else "",
            command=sweeping(study),
            pin=query.address(pinned=_toggled(query.pinned, query.known)),
            is_pinned=query.known in query.pinned,
            unpin=[
                (listed(one.attributes), query.address(pinned=_toggled(query.pinned, mask)))
                for mask in query.pinned
                if (one := sets.get(mask)) is not None
            ],
            over="" if query.over is None else f"{float(query.over):g}",
            percentage=percentage,
            table=_table(sets, query),
            compared=_compared(sets, query),
            labels=listed,
            offered={name: translated(label) for name, label in PICTURES.items()},
            figure=_figure(run, sets, query.picture),
            pictures=pictures,
        )


def _sentence(chosen: KnownSet | None, names: Sequence[str], subject: str) -> str:
    """Say in one sentence what somebody learns."""
    if not names:
        return text("Tick what somebody knows about a person.")
    if chosen is None:
        return text(
            "Someone who knows {known}: this set was not assessed.", known=enumeration(names)
        )
    naming = chosen.naming
    if not naming.certain:
        return text(
            "Someone who knows {known} can identify nobody for certain; a guess at who it is would be right in "
            "{share} of cases.",
            known=enumeration(names),
            share=percentage(naming.probabilistic.posterior),
        )
    return text(
        "Someone who knows {known} can identify {named} for certain; a guess at who it is would be right in "
        "{share} of cases.",
        known=enumeration(names),
        named=counted(naming.certain, subject),
        share=percentage(naming.probabilistic.posterior),
    )


@dataclass(frozen=True)
class SetsTable:
    """One page of the table of sets."""

    titles: list[tuple[str, str, str]]
    """Per column its title, the address that sorts by it, and how it is sorted now: ``ascending``, ``descending`` or
    nothing."""
    rows: list[tuple[KnownSet, list[Cell], str, str]]
    """Per set its figures, the address at which it is ticked, and that at which it is pinned or not any more."""
    count: int
    """How many sets there are in all pages."""
    page: int
    """The page that is shown."""
    pages: int
    """How many there are."""
    words: str
    """How many sets there are, in words."""


def _table(sets: AssessedSets, query: Query) -> SetsTable:
    """Return the sets that are asked for, one page of them."""
    over = None if query.over is None else query.over / 100
    matching = sets.filtered(query.sort, most=query.most, containing=query.containing, over=over)
    pages = max(1, -(-len(matching) // ROWS))
    page = min(query.page, pages)
    titles = [
        (text("Facts"), "size"),
        (text("Right guesses"), "risk"),
        (text("Identified for certain"), "named"),
        *((guessed((column,)), str(place)) for place, column in enumerate(sets.secrets)),
    ]
    return SetsTable(
        titles=[
            (title, query.address(sort=_turned(query.sort, key), page=1), _state(query.sort, key))
            for title, key in titles
        ],
        rows=[
            (
                one,
                _cells(one, sets),
                query.address(known=one.mask),
                query.address(pinned=_toggled(query.pinned, one.mask)),
            )
            for one in matching[(page - 1) * ROWS : page * ROWS]
        ],
        count=len(matching),
        page=page,
        pages=pages,
        words=text_for(
            len(matching), "{count} of {all} sets", "{count} of {all} sets", all=len(sets)
        ),
    )


def _cells(one: KnownSet, sets: AssessedSets) -> list[Cell]:
    named = percent_cell(one.naming.deterministic.posterior)
    return [
        count_cell(one.size),
        percent_cell(one.risk),
        named,
        *(percent_cell(one.guess(secret)) for secret in sets.secrets),
    ]


def _turned(sort: str, key: str) -> str:
    """Return how a click on a title sorts: the greatest first, and the other way round the second time."""
    first = key if key == "size" else f"-{key}"
    other = f"-{key}" if key == "size" else key
    return other if sort == first else first


def _state(sort: str, key: str) -> str:
    if sort.removeprefix("-") != key:
        return ""
    return "descending" if sort.startswith("-") else "ascending"


def _toggled(pinned: tuple[int, ...], mask: int) -> tuple[int, ...]:
    rest = tuple(one for one in pinned if one != mask)
    return rest if mask in pinned else (*rest, mask)[-MOST_PINNED:]


def _compared(sets: AssessedSets, query: Query) -> Table | None:
    """Return the pinned sets side by side; None: there are none."""
    pinned = [one for mask in query.pinned if (one := sets.get(mask)) is not None]
    if not pinned:
        return None
    rows: list[tuple[Cell | str, ...]] = [
        (text("Facts"), *(count_cell(one.size) for one in pinned)),
        (text("Identified for certain"), *(count_cell(one.naming.certain) for one in pinned)),
        (text("Right guesses"), *(percent_cell(one.risk) for one in pinned)),
    ]
    for secret, columns in zip(sets.secrets, sets.study.adversary.secrets, strict=True):
        rows.append((guessed(columns), *(percent_cell(one.guess(secret)) for one in pinned)))
    return cell_table(
        text("She knows"),
        [listed(one.attributes) for one in pinned],
        rows,
    )


def _figure(run: Any, sets: AssessedSets, name: str) -> Figure | None:
    """Return a picture that is asked for: as the report has it, or of all pairs."""
    if not name:
        return None
    if name == "pairs":
        return pairs_figure(sets.assessment)
    label = translated(PICTURES[name])
    return next((figure for figure in run.page.pictures if figure.label == label), None)
