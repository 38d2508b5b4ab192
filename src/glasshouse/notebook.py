"""Results at a glance in a notebook: `chart` draws the main picture of any result, `show` tells what was found.

>>> import glasshouse as gh
>>> import pyarrow as pa
>>> people = pa.table({"age": [20, 30, 30], "illness": ["a", "b", "b"]})
>>> table = gh.read(people, quasi_identifiers=["age"], sensitive=["illness"])
>>> gh.show(gh.microdata.assess(table))  # doctest: +ELLIPSIS
Someone who knows a person's age can name 1 of the 3 people with certainty (33.3 %), and by guessing would be ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from glasshouse.errors import StudyError, printable
from glasshouse.language import text
from glasshouse.report.page import Figure, Finding, Page, Provenance, Severity

if TYPE_CHECKING:
    import altair as alt

    from glasshouse.economics import Policy
    from glasshouse.groups import Measures

NOWHERE = Provenance(version="", study="", datasets={})
"""A result in memory has no study file and no run folder."""
_STYLE = (
    "border-left:.3rem solid currentColor;padding:.3rem .8rem;margin:.4rem 0;max-width:60rem;"
    "overflow-wrap:anywhere"
)


@dataclass(frozen=True)
class Shown:
    """What was found, as text and as HTML."""

    sentences: tuple[str, ...]
    """The findings, in plain words."""
    figures: tuple[Figure, ...]
    """The pictures."""

    def __repr__(self) -> str:
        return "\n".join(map(printable, self.sentences))

    def _repr_html_(self) -> str:
        """Return the findings and the pictures for a notebook: static, without a script."""
        from glasshouse.report.theme import to_svg

        told = "".join(
            f'<p style="{_STYLE}">{escape(printable(sentence))}</p>' for sentence in self.sentences
        )
        drawn = "".join(
            f'<figure style="margin:1rem 0;background:#fff;padding:.6rem;overflow-x:auto" role="img" '
            f'aria-label="{escape(printable(figure.label))}">{to_svg(figure.chart)}</figure>'
            for figure in self.figures
        )
        return f"<div>{told}{drawn}</div>"


def show(result: object, *, subject: str = "person") -> Shown:
    """Return what a result says, in sentences and pictures, for a notebook or a terminal.

    Args:
        result: What any function of Glasshouse found, or a run.
        subject: What a record stands for, where the result does not know it.

    Raises:
        StudyError: It is not a result that can be shown.
    """
    page = _page_of(result, subject)
    return Shown(tuple(finding.sentence for finding in page.findings), page.figures)


def chart(result: object, *, subject: str = "person") -> alt.TopLevelMixin:
    """Return the main picture of a result as an Altair chart, which can be changed further.

    Args:
        result: What any function of Glasshouse found, or a run.
        subject: What a record stands for, where the result does not know it.

    Raises:
        StudyError: It is not a result that can be drawn.
    """
    import altair as alt

    page = _page_of(result, subject)
    if not page.figures:
        raise StudyError(
            text("there is no picture of this {kind}; show() tells it", kind=type(result).__name__)
        )
    drawn: alt.TopLevelMixin = alt.Chart.from_dict(dict(page.figures[0].chart))
    return drawn


def _page_of(result: object, subject: str) -> Page:
    """Return the report of a result."""
    to_page: Callable[[Provenance], Page] | None = getattr(result, "to_page", None)
    if to_page is not None:
        return to_page(NOWHERE)
    pages = _pages()
    make = pages.get(_kind_of(result))
    if make is not None:
        return make(result, subject)
    known = ", ".join(sorted(pages))
    raise StudyError(
        text(
            "{kind} is not a result of Glasshouse that can be shown; these can: {known}, and any run",
            kind=type(result).__name__,
            known=known,
        )
    )


def _kind_of(result: object) -> str:
    """Return what kind of result something is: its capability, and its own name.

    >>> from glasshouse.economics import Terms
    >>> _kind_of(Terms()), _kind_of(3)
    ('economics.Terms', 'int')
    """
    house, _, rest = type(result).__module__.partition(".")
    name = type(result).__name__
    return f"{rest.partition('.')[0]}.{name}" if house == "glasshouse" else name


def _pages() -> Mapping[str, Callable[[Any, str], Page]]:
    """Return how the report of each kind of result is made."""
    from glasshouse.report import assessment_page
    from glasshouse.report.microdata.family_page import family_page
    from glasshouse.report.mitigation.comparison_page import comparison_page
    from glasshouse.report.people.members import member_page
    from glasshouse.report.people.memberships import membership_page
    from glasshouse.report.people.populations import population_page
    from glasshouse.report.people.targets import target_page
    from glasshouse.report.totals.page import total_page

    def said(make: Callable[..., Page]) -> Callable[[Any, str], Page]:
        return lambda result, subject: make(result, subject=subject, provenance=NOWHERE)

    return {
        "microdata.Assessment": said(assessment_page),
        "microdata.Sweep": lambda sweep, subject: assessment_page(
            sweep.assessment(), subject=subject, provenance=NOWHERE, sweep=sweep
        ),
        "microdata.Family": said(family_page),
        "microdata.Target": said(target_page),
        "microdata.Membership": said(membership_page),
        "microdata.Member": said(member_page),
        "microdata.PopulationRisks": said(population_page),
        "runs.Comparison": lambda result, subject: comparison_page(
            result, provenance=NOWHERE, command=""
        ),
        "totals.CampaignResult": lambda result, subject: total_page(
            result, result.study, provenance=NOWHERE
        ),
        "economics.Policy": lambda policy, subject: _drawn_page(_pictures_of_policy(policy)),
        "groups.Assessment": lambda outcome, subject: _drawn_page(
            [] if outcome.measures is None else _pictures_of_measures(outcome.measures)
        ),
        "groups.Measures": lambda measures, subject: _drawn_page(_pictures_of_measures(measures)),
    }


def _pictures_of_policy(policy: Policy) -> list[alt.TopLevelMixin]:
    from glasshouse.report.economics.charts import exploits_by_size, risk_by_size, value_by_size

    return [risk_by_size(policy), value_by_size(policy, None), exploits_by_size(policy)]


def _pictures_of_measures(measures: Measures) -> list[alt.TopLevelMixin]:
    from glasshouse.report.groups.charts import guesses, learner_against_attacker, relative_threat

    return [guesses(measures), relative_threat(measures), learner_against_attacker(measures)]


def _drawn_page(charts: Sequence[alt.TopLevelMixin]) -> Page:
    """Return a page of pictures whose titles, which say what each shows, are its findings."""
    figures = tuple(Figure.of(chart, label="", caption="") for chart in charts)
    titles = [figure.chart["title"]["text"] for figure in figures]
    said = [title if isinstance(title, str) else " ".join(title) for title in titles]
    return Page(
        title="",
        lead="",
        findings=tuple(Finding(Severity.NOTE, sentence) for sentence in said),
        adversary=(),
        limits=(),
        provenance=NOWHERE,
        command="",
        method="",
        figures=figures,
    )
