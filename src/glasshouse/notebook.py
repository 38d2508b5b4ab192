"""Results at a glance in a notebook: `chart` draws the main picture of any result, `show` tells what was found.

>>> import glasshouse as gh
>>> import pyarrow as pa
>>> people = pa.table({"age": [20, 30, 30], "illness": ["a", "b", "b"]})
>>> table = gh.read(people, quasi_identifiers=["age"], sensitive=["illness"])
>>> gh.show(gh.microdata.assess(table))  # doctest: +ELLIPSIS
Someone who knows a person's age can name 1 of the 3 people with certainty (33.3 %), and by guessing would be ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from glasshouse.errors import StudyError, printable
from glasshouse.language import text
from glasshouse.report.page import Figure, Page, Provenance

if TYPE_CHECKING:
    import altair as alt

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
    """Return what a result says: a notebook shows its sentences and pictures, ``print`` in a script the sentences.

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
    return {**_reports(), **_glances()}


def _reports() -> Mapping[str, Callable[[Any, str], Page]]:
    """Return those that a report is made of."""
    from glasshouse.report import assessment_page
    from glasshouse.report.economics.page import deterrence_page
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
        "economics.Deterrence": lambda outcome, subject: deterrence_page(
            outcome, outcome.curves, subject=subject, provenance=NOWHERE
        ),
        "totals.CampaignResult": lambda result, subject: total_page(
            result, result.study, provenance=NOWHERE
        ),
    }


def _glances() -> Mapping[str, Callable[[Any, str], Page]]:
    """Return all others."""
    from glasshouse.report.economics import glance as economics
    from glasshouse.report.groups import glance as groups
    from glasshouse.report.microdata import glance as microdata
    from glasshouse.report.mitigation import glance as mitigation
    from glasshouse.report.qif import glance as qif
    from glasshouse.report.totals import glance as totals

    def of_people(make: Callable[..., Page]) -> Callable[[Any, str], Page]:
        return lambda result, subject: make(result, subject=subject)

    def of_figures(make: Callable[..., Page]) -> Callable[[Any, str], Page]:
        return lambda result, subject: make(result)

    return {
        "microdata.Attack": of_people(microdata.attack_page),
        "microdata.BestSubsets": of_figures(microdata.best_subsets_page),
        "microdata.Explanation": of_figures(microdata.explanation_page),
        "microdata.Leakage": of_figures(microdata.leakage_page),
        "microdata.MinimalSubsets": of_figures(microdata.minimal_subsets_page),
        "microdata.RecordRisks": of_people(microdata.record_risks_page),
        "microdata.Removals": of_figures(microdata.removals_page),
        "microdata.ShapleyValues": of_figures(microdata.shapley_page),
        "mitigation.Anatomy": of_people(mitigation.anatomy_page),
        "mitigation.Attained": of_people(mitigation.attained_page),
        "mitigation.Quality": of_figures(mitigation.quality_page),
        "mitigation.Recoding": of_people(mitigation.recoding_page),
        "mitigation.Utility": of_figures(mitigation.utility_page),
        "groups.Assessment": of_people(groups.threat_glance),
        "groups.ExactKnowledge": of_people(groups.exact_knowledge_page),
        "groups.Faithfulness": of_figures(groups.faithfulness_page),
        "groups.Knowledge": of_people(groups.knowledge_page),
        "groups.Measures": of_people(groups.measures_page),
        "groups.Sampled": of_people(groups.sampled_page),
        "groups.Threat": of_people(groups.threatened_page),
        "totals.Exposure": of_figures(totals.exposure_page),
        "totals.Solution": of_figures(totals.solution_page),
        "economics.Baseline": of_figures(economics.baseline_page),
        "economics.Curve": of_figures(economics.curve_page),
        "economics.Deterrent": of_people(economics.deterrent_page),
        "economics.Frontier": of_figures(economics.frontier_page),
        "economics.Policy": of_people(economics.policy_page),
        "economics.ReleaseExposure": of_people(economics.exposure_page),
        "economics.Sensitivity": of_figures(economics.sensitivity_page),
        "economics.Thresholds": of_figures(economics.thresholds_page),
        "qif.Capacity": of_figures(qif.capacity_page),
        "qif.Hyper": of_figures(qif.hyper_page),
        "qif.LeakageGap": of_figures(qif.leakage_gap_page),
        "qif.PriorEstimate": of_figures(qif.prior_estimate_page),
        "qif.Refinement": of_figures(qif.refinement_page),
        "qif.ShannonCapacity": of_figures(qif.shannon_capacity_page),
    }
