"""What an anonymised table tells about a person beyond the population, as a page: sentences, pictures, exact figures.

Of one victim a page holds neither what is known nor what is believed of single values: only how sure attacker and
learner are of the likeliest, in whole per cent.
"""

from __future__ import annotations

from glasshouse.groups import Measures, Sampled
from glasshouse.groups.estimates import Aggregate, figure_title
from glasshouse.groups.measures import Reading
from glasshouse.groups.outcome import ThreatOutcome
from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.report.cells import text_table
from glasshouse.report.page import (
    Brief,
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
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.threat.charts import (
    beliefs,
    beliefs_table,
    guesses,
    guesses_table,
    learner_against_attacker,
    learner_against_attacker_table,
    relative_threat,
    relative_threat_table,
)
from glasshouse.report.threat.findings import (
    adversary_label,
    error_text,
    figure_text,
    known_of,
    learner_name,
    method_label,
    plus_minus,
    secret_of,
    threat_findings,
    value_text,
)
from glasshouse.report.words import enumeration, glossary, indefinite
from glasshouse.study import parse_condition
from glasshouse.study.threat import ThreatStudy

METHOD = "Boreale, Corradi and Viscardi 2020, “Relative Privacy Threats and Learning From Anonymized Data” (IEEE TIFS)"
MOST_VALUES = 15
"""So many sensitive values of a victim a terminal shows."""


def page(outcome: ThreatOutcome, question: ThreatStudy, *, provenance: Provenance) -> Page:
    """Return the report of an anonymised table."""
    measures = outcome.measures
    sections = [
        None if measures is None else measures_section(measures),
        None if outcome.sampled is None else sampling_section(outcome.sampled),
        _release(outcome),
        treatment_section(outcome.steps),
    ]
    return Page(
        title=text(
            "What {release} tells about {person}, beyond the population",
            release=outcome.release.name,
            person=indefinite(question.subject),
        ),
        lead=_lead(outcome, question),
        findings=threat_findings(outcome, subject=question.subject),
        figures=_figures(outcome),
        sections=tuple(section for section in sections if section is not None),
        adversary=_adversary(outcome, question),
        limits=_limits(outcome),
        provenance=provenance,
        command="glasshouse threat --study study.toml",
        method=METHOD,
        glossary=(*_terms(outcome), *_words(outcome)),
    )


def brief(outcome: ThreatOutcome, question: ThreatStudy) -> Brief:
    """Return what a terminal says of an anonymised table."""
    release, measures = outcome.release, outcome.measures
    heading = text(
        "{release}: {records} in {groups}, {method}",
        release=release.name,
        records=text_for(release.records, "{count} record", "{count} records"),
        groups=text_for(outcome.groups, "{count} group", "{count} groups"),
        method=method_label(outcome.knowledge.method),
    )
    if outcome.one_victim:
        table = _beliefs_of_victim(outcome)
    else:
        table = _averages_table(outcome) if measures is None else _guesses_table(measures)
    return Brief(
        (heading, *treatment_blocks(outcome.steps), table),
        threat_findings(outcome, subject=question.subject, exact=True),
        notes=() if outcome.sampled is None else tuple(outcome.sampled.warnings),
    )


def _guesses_table(measures: Measures) -> Table:
    first = (text("says the most frequent value"), _percent(float(measures.baseline)), "", "")
    rows: list[tuple[str, ...]] = [first]
    for name, threat in measures.adversaries().items():
        figures = (
            (_percent(float(threat.share)), f"gt_{name}", 100),
            (_percent(threat.share_at_random), f"gt_{name}_random_ties", 100),
            (number(threat.absolute_error, ",.1f"), f"abs_{name}", 1),
        )
        cells = (_sampled_figure(measures, *figure) for figure in figures)
        rows.append((adversary_label(name), *cells))
    titles = (text("guesses right"), text("ties at random"), text("absolute error"))
    return text_table("", text("somebody who"), titles, rows)


def _averages_table(outcome: ThreatOutcome) -> Table:
    rows = []
    for name in outcome.knowledge.beliefs():
        average, error = outcome.average(name)
        sure = plus_minus(_percent(average), None if error is None else 100 * error)
        rows.append((adversary_label(name), sure))
    titles = (text("sure of the likeliest value, on average"),)
    return text_table("", text("somebody who"), titles, rows)


def _beliefs_of_victim(outcome: ThreatOutcome) -> Table:
    beliefs = outcome.knowledge.of(0)
    exact = outcome.to_dict().get("exact", {})
    order = sorted(beliefs["attacker"], key=lambda value: -beliefs["attacker"][value])
    rows = [
        (
            value_text(value),
            *(
                _percent(belief[value]) + _short_ratio(exact.get(name, {}).get(value))
                for name, belief in beliefs.items()
            ),
        )
        for value in order[:MOST_VALUES]
    ]
    return text_table("", text("value"), [adversary_label(name) for name in beliefs], rows)


def _percent(share: float) -> str:
    return text("{figure} %", figure=number(100 * share, ".2f"))


def _sampled_figure(measures: Measures, figure: str, name: str, scale: float) -> str:
    """Return a figure with its Monte-Carlo error, where it was sampled."""
    estimate = measures.figures.get(name)
    return plus_minus(figure, None if estimate is None else scale * estimate.error)


def _short_ratio(ratio: str | None) -> str:
    """Show an exact ratio where it is short."""
    return f" ({ratio})" if ratio is not None and "/" in ratio and len(ratio) <= 9 else ""


def _lead(outcome: ThreatOutcome, question: ThreatStudy) -> str:
    records = text_for(outcome.release.records, "{count} record", "{count} records")
    groups = text_for(outcome.groups, "{count} group", "{count} groups")
    if not outcome.one_victim:
        return text("{records} in {groups}", records=records, groups=groups)
    return text(
        "{records} in {groups}, and a victim of whom this is known: {known}. This report is personal data.",
        records=records,
        groups=groups,
        known=_known_of_victim(question),
    )


def _known_of_victim(question: ThreatStudy) -> str:
    return enumeration([parse_condition(fact).column for fact in question.known])


def _figures(outcome: ThreatOutcome) -> tuple[Figure, ...]:
    if outcome.one_victim:
        return (_beliefs_figure(outcome),)
    return () if outcome.measures is None else measure_figures(outcome.measures)


def measure_figures(measures: Measures) -> tuple[Figure, ...]:
    """Return the pictures of how much the records of the original are threatened."""
    guessed = Figure.of(
        guesses(measures),
        label=text("Share of records that each adversary guesses right"),
        caption=text(
            "What who knows that a person is in the table has more than who learns about the population is what being "
            "in the table costs."
        ),
        table=guesses_table(measures),
    )
    if not measures.attacker.threatened.any():
        return (guessed,)
    return (
        guessed,
        Figure.of(
            relative_threat(measures),
            label=text("Threatened records by relative threat"),
            caption=text(
                "0: as sure as about the population. 1: twice as sure. 2: four times. Below 0: less sure."
            ),
            table=relative_threat_table(measures),
        ),
        Figure.of(
            learner_against_attacker(measures),
            label=text(
                "Belief about the population against belief about the person, of the true value"
            ),
            caption=text(
                "Counts of threatened records in squares; no record is shown. The table behind the picture has larger "
                "squares."
            ),
            table=learner_against_attacker_table(measures),
        ),
    )


def _beliefs_figure(outcome: ThreatOutcome) -> Figure:
    learner = learner_name(outcome.reading)
    return Figure.of(
        beliefs(outcome.knowledge, learner),
        label=text("How sure attacker and learner are of the likeliest values of the victim"),
        caption=text(
            "Further apart: more is told. Each is ranked by itself: the likeliest value of one may be another than "
            "that of the other. Which values they are is not told."
        ),
        table=beliefs_table(outcome.knowledge, learner),
    )


def _release(outcome: ThreatOutcome) -> Section:
    release = outcome.release
    rows = [
        (text("scheme"), _scheme(outcome)),
        (text("records in groups"), number(release.records)),
        (text("groups"), number(outcome.groups)),
        (text("suppressed records, which can be anybody’s"), number(outcome.suppressed)),
        (text("computed by"), method_label(outcome.knowledge.method)),
        *(
            (text("values of {name}", name=each.name), number(len(each.values)))
            for each in release.attributes
        ),
        (
            text("values of {name}", name=secret_of(release)),
            number(len(release.sensitive.values)),
        ),
    ]
    columns = (Column(text("Property")), Column(text("Value"), numeric=True))
    cells = tuple((Cell(name), Cell(value)) for name, value in rows)
    return Section(text("The release"), tables=(Table(columns, (Group(cells),)),))


def _scheme(outcome: ThreatOutcome) -> str:
    if outcome.release.is_vertical:
        return text("vertical (values permuted within groups)")
    return text("horizontal (values generalised)")


def _adversary(outcome: ThreatOutcome, question: ThreatStudy) -> tuple[str, ...]:
    if outcome.one_victim:
        knows = text(
            "The attacker knows that the person is in the table and, of this person, {known}. She knows the whole "
            "release and how it was made.",
            known=_known_of_victim(question),
        )
    else:
        knows = text(
            "The attacker knows that the person is in the table, and knows exactly: {known}. She knows the whole "
            "release and how it was made.",
            known=known_of(outcome.release),
        )
    return knows, text(
        "The learner has the same release and knows the same of the person, but not that the person is in the table. "
        "What she can tell holds for everybody like them: it is what anybody may learn about the population."
    )


def _limits(outcome: ThreatOutcome) -> tuple[str, ...]:
    limits = [
        *(_about_one_person() if outcome.one_victim else ()),
        text(
            "Attacker and learner reason by Bayes’ rule from the same Dirichlet priors, and take the attributes as "
            "independent given the sensitive value. Who knows of other relations between them may learn more."
        ),
        _reading(outcome),
        text(
            "People can have the values of the domain only: those of the original, of the hierarchies and the release, "
            "or those that the study gives. Another domain gives other figures."
        ),
    ]
    if outcome.suppressed:
        limits.append(
            text(
                "The sensitive values of suppressed records are published too: the attacker takes into account that "
                "anybody’s record may be among them."
            )
        )
    if outcome.measures is not None and not outcome.one_victim:
        limits.append(
            text(
                "How often a guess is right is counted on the original, which only the publisher has; it says nothing "
                "of people who are not in the table."
            )
        )
    return tuple(limits)


def _about_one_person() -> tuple[str, ...]:
    return (
        text(
            "This report is about one person, and is itself personal data: keep it as closely as the data, and do not "
            "publish it."
        ),
        text(
            "So that it gives nobody away, it holds no value of a record, neither what is known of the person nor what "
            "can be learned, and probabilities in whole per cent only. glasshouse threat --json prints all of it "
            "exactly, for the analyst alone."
        ),
    )


def _reading(outcome: ThreatOutcome) -> str:
    if outcome.reading is Reading.RATIO_OF_EXPECTATIONS:
        return text("What the learner believes is the ratio of expectations, equation (5).")
    return text("What the learner believes is the expectation of the ratio, equation (6).")


def _terms(outcome: ThreatOutcome) -> tuple[Term, ...]:
    threats = (
        Term(
            text("Threatened record"),
            text("A record whose true sensitive value is the one that an adversary would name."),
        ),
        Term(
            text("Global threat (GT)"),
            text(
                "The share of records that an adversary threatens: how often her best guess is right."
            ),
        ),
        Term(
            text("Relative global threat (RGT)"),
            text(
                "By how much the attacker’s global threat exceeds the learner’s; 0 where it does not."
            ),
        ),
        Term(
            text("Absolute error (ABS)"),
            text(
                "How far an adversary’s beliefs are from the truth, summed over all records and values; 0: she knows "
                "everything."
            ),
        ),
        Term(
            text("Relative faithfulness (RF)"),
            text(
                "How near what is learned about the population from the release comes to what the original would "
                "teach: 1 is the same."
            ),
        ),
        Term(
            text("Random worlds"),
            text(
                "An adversary who takes every table that the release allows for equally likely, and learns nothing "
                "about the population from it."
            ),
        ),
    )
    sampled = (
        Term(
            text("R-hat"),
            text(
                "How far the chains of the sampler disagree: near 1 they have found the same distribution."
            ),
        ),
        Term(
            text("Monte-Carlo error"),
            text(
                "The standard error of a figure that comes from sampling; more sweeps make it smaller."
            ),
        ),
    )
    return (
        *(threats if outcome.measures is not None else ()),
        *(sampled if outcome.sampled is not None else ()),
    )


def _words(outcome: ThreatOutcome) -> tuple[Term, ...]:
    return glossary(
        "attacker",
        "learner",
        "relative threat",
        "quasi-identifier",
        "sensitive attribute",
        "record",
        "release",
        "prior",
        "attribute inference",
        *([] if outcome.release.is_vertical else ["generalisation"]),
        *(["suppression"] if outcome.suppressed else []),
    )


def measures_section(measures: Measures) -> Section:
    """Return the figures of the table, each with its error; what is not sampled is exact."""
    columns = (
        Column(text("Somebody who")),
        Column(text("best guess right, ties counting"), numeric=True),
        Column(text("ties at random"), numeric=True),
        Column(text("absolute error (ABS)"), numeric=True),
        Column(text("undecided"), numeric=True),
    )
    rows = tuple(
        (
            Cell(adversary_label(name)),
            Cell(
                _with_error(measures, number(threat.share, ".6g"), f"gt_{name}"),
                exact=exactly(threat.share),
            ),
            Cell(
                _with_error(
                    measures, number(threat.share_at_random, ".6g"), f"gt_{name}_random_ties"
                )
            ),
            Cell(_with_error(measures, number(threat.absolute_error, ",.2f"), f"abs_{name}")),
            Cell(number(threat.undecided)),
        )
        for name, threat in measures.adversaries().items()
    )
    cells = tuple(
        (Cell(name), Cell(value), Cell(_error_of(measures, figure)))
        for name, value, figure in (*_further(measures), *_above(measures), *_faithful(measures))
    )
    heads = (
        Column(text("Measure")),
        Column(text("value"), numeric=True),
        Column(text("error"), numeric=True),
    )
    return Section(
        text("The figures"),
        tables=(Table(columns, (Group(rows),)), Table(heads, (Group(cells),))),
    )


def _further(measures: Measures) -> list[tuple[str, str, str]]:
    """Return what else holds for the table: its title, its value, and its name among the sampled figures."""
    shape = measures.histogram()
    return [
        (text("most frequent value"), number(measures.baseline, ".6f"), ""),
        (figure_title("rgt"), number(measures.relative_global_threat, ".6f"), "rgt"),
        (
            figure_title("highest_ti"),
            figure_text(measures.highest_relative, ",.4g"),
            "highest_ti",
        ),
        (
            figure_title("highest_ti_of_all"),
            figure_text(float(measures.relative.max()), ",.4g"),
            "highest_ti_of_all",
        ),
        (
            text("mean of log₂ Ti of threatened records"),
            figure_text(shape.mean, ".4g"),
            "log2_ti_attacker_mean",
        ),
        (
            text("skewness of log₂ Ti"),
            figure_text(shape.skewness, ".4g"),
            "log2_ti_attacker_skewness",
        ),
    ]


def _above(measures: Measures) -> list[tuple[str, str, str]]:
    """Return the shares of records above each threshold, in the units of the other shares of the table."""
    found = []
    for limit in measures.thresholds:
        for name, threatened in (
            (f"ti_above_{limit:g}_of_all", False),
            (f"ti_above_{limit:g}", True),
        ):
            share = measures.share_above(limit, threatened=threatened)
            found.append((figure_title(name), number(share, ".6f"), name))
    return found


def _faithful(measures: Measures) -> list[tuple[str, str, str]]:
    own = measures.faithfulness
    if own is None:
        return []
    return [
        (text("relative faithfulness (RF, equation 21)"), number(own.published, ".4g"), "rf"),
        (text("relative faithfulness, bounded"), number(own.bounded, ".4g"), "rf_bounded"),
    ]


def _error_of(measures: Measures, figure: str) -> str:
    """Say the error of a figure; that of faithfulness is of its points and of the chains."""
    faithful = measures.faithfulness
    if faithful is not None and figure in ("rf", "rf_bounded"):
        return error_text(faithful.published_error if figure == "rf" else faithful.bounded_error)
    if figure in measures.figures:
        return error_text(measures.figures[figure].error)
    return text("exact") if measures.is_exact or not figure else text("not estimated")


def _with_error(measures: Measures, value: str, figure: str) -> str:
    """Say the error behind a number that has one."""
    own = measures.figures.get(figure)
    return plus_minus(value, None if own is None else own.error)


def sampling_section(sampled: Sampled) -> Section:
    """Return how sure the sampler is of each figure."""
    titles = (
        text("value"),
        text("Monte-Carlo error"),
        text("R-hat"),
        text("effective draws"),
        text("Geweke, |z|"),
        text("Weiß, p"),
    )
    columns = (Column(text("Figure")), *(Column(title, numeric=True) for title in titles))
    rows = tuple(map(_row, sampled.aggregates))
    tables = [Table(columns, (Group(rows),), text("Draw by draw"))]
    if sampled.figures:
        batches = Table(
            (*columns[:4], Column(text("effective batches"), numeric=True)),
            (Group(tuple(_row(each)[:5] for each in sampled.figures)),),
            text("Batch by batch"),
        )
        tables.append(batches)
    return Section(
        text("How sure the sampler is"),
        f"{_run(sampled)} {_how_to_read()}",
        tuple(tables),
        sampled.warnings,
    )


_STOPPED = {
    "precision": marked(
        "{chains} chains, {burn_in} sweeps before anything is recorded, {sweeps} after; stopped as the precision was "
        "reached."
    ),
    "sweeps": marked(
        "{chains} chains, {burn_in} sweeps before anything is recorded, {sweeps} after; stopped at the limit of sweeps."
    ),
    "time": marked(
        "{chains} chains, {burn_in} sweeps before anything is recorded, {sweeps} after; stopped at the limit of time."
    ),
}


def _run(sampled: Sampled) -> str:
    return translated(
        _STOPPED[sampled.stopped.value],
        chains=sampled.chains,
        burn_in=sampled.burn_in,
        sweeps=sampled.sweeps,
    )


def _how_to_read() -> str:
    return text(
        "R-hat above 1.01 draw by draw means that chains disagree; batches are few, and their R-hat is rough. Geweke’s "
        "test passes up to 2, the Weiß test from 0.05 on; both look at one chain at a time, and a chain that is stuck "
        "passes them: trust R-hat."
    )


def _row(each: Aggregate) -> tuple[Cell, ...]:
    return (
        Cell(figure_title(each.name)),
        Cell(figure_text(each.value, ",.6g")),
        Cell(error_text(each.error)),
        Cell(figure_text(each.rhat, ".4f")),
        Cell(figure_text(each.ess, ",.0f")),
        Cell(figure_text(each.geweke, ".2f")),
        Cell(figure_text(each.weiss, ".3f")),
    )
