"""What an anonymised table tells about a person beyond the population, as a page: sentences, pictures, exact figures.

Of one victim a page holds neither what is known nor what is believed of single values: only how sure attacker and
learner are of the likeliest, in whole per cent.
"""

from __future__ import annotations

from glasshouse.groups import Measures, Sampled
from glasshouse.groups.estimates import Aggregate, figure_title
from glasshouse.groups.measures import Reading, above_name
from glasshouse.groups.outcome import ThreatOutcome
from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.report.cells import cell_table, text_table
from glasshouse.report.page import (
    Brief,
    Cell,
    Figure,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.threat.charts import beliefs, measure_figures
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
    with_error,
)
from glasshouse.report.words import enumeration, explained, glossary, indefinite
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
        glossary=_glossary(outcome),
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
    first = (text("says the most frequent value"), _two_decimals(float(measures.baseline)), "", "")
    rows: list[tuple[str, ...]] = [first]
    for name, threat in measures.adversaries().items():
        figures = (
            (_two_decimals(float(threat.share)), f"gt_{name}", 100),
            (_two_decimals(threat.share_at_random), f"gt_{name}_random_ties", 100),
            (number(threat.absolute_error, ",.1f"), f"abs_{name}", 1),
        )
        cells = (
            with_error(measures, value, figure, scale=scale) for value, figure, scale in figures
        )
        rows.append((adversary_label(name), *cells))
    titles = (text("guesses right"), text("ties at random"), text("absolute error"))
    return text_table("", text("somebody who"), titles, rows)


def _averages_table(outcome: ThreatOutcome) -> Table:
    rows = []
    for name in outcome.knowledge.beliefs():
        average, error = outcome.average(name)
        sure = plus_minus(_two_decimals(average), None if error is None else 100 * error)
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
                _two_decimals(belief[value]) + _short_ratio(exact.get(name, {}).get(value))
                for name, belief in beliefs.items()
            ),
        )
        for value in order[:MOST_VALUES]
    ]
    return text_table("", text("value"), [adversary_label(name) for name in beliefs], rows)


def _two_decimals(share: float) -> str:
    return text("{figure} %", figure=number(100 * share, ".2f"))


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
        return (beliefs(outcome.knowledge, learner_name(outcome.reading)),)
    return () if outcome.measures is None else measure_figures(outcome.measures)


def _release(outcome: ThreatOutcome) -> Section:
    release = outcome.release
    scheme = (
        text("vertical (values permuted within groups)")
        if release.is_vertical
        else text("horizontal (values generalised)")
    )
    attributes = [(attribute.name, attribute.values) for attribute in release.attributes]
    attributes.append((secret_of(release), release.sensitive.values))
    rows = [
        (text("scheme"), scheme),
        (text("records in groups"), number(release.records)),
        (text("groups"), number(outcome.groups)),
        (text("suppressed records, which can be anybody’s"), number(outcome.suppressed)),
        (text("computed by"), method_label(outcome.knowledge.method)),
        *(
            (text("values of {name}", name=name), number(len(values)))
            for name, values in attributes
        ),
    ]
    table = text_table("", text("Property"), [text("Value")], rows)
    return Section(text("The release"), tables=(table,))


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
        *(translated(sentence) for sentence in ABOUT_ONE_PERSON if outcome.one_victim),
        text(
            "Attacker and learner reason by Bayes’ rule from the same Dirichlet priors, and take the attributes as "
            "independent given the sensitive value. Who knows of other relations between them may learn more."
        ),
        text("What the learner believes is the ratio of expectations, equation (5).")
        if outcome.reading is Reading.RATIO_OF_EXPECTATIONS
        else text("What the learner believes is the expectation of the ratio, equation (6)."),
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


ABOUT_ONE_PERSON = (
    marked(
        "This report is about one person, and is itself personal data: keep it as closely as the data, and do not "
        "publish it."
    ),
    marked(
        "So that it gives nobody away, it holds no value of a record, neither what is known of the person nor what "
        "can be learned, and probabilities in whole per cent only. glasshouse threat --json prints all of it "
        "exactly, for the analyst alone."
    ),
)
"""What must be known of a report about one victim."""
OF_THREATS = {
    marked("Threatened record"): marked(
        "A record whose true sensitive value is the one that an adversary would name."
    ),
    marked("Global threat (GT)"): marked(
        "The share of records that an adversary threatens: how often her best guess is right."
    ),
    marked("Relative global threat (RGT)"): marked(
        "By how much the attacker’s global threat exceeds the learner’s; 0 where it does not."
    ),
    marked("Absolute error (ABS)"): marked(
        "How far an adversary’s beliefs are from the truth, summed over all records and values; 0: she knows "
        "everything."
    ),
    marked("Relative faithfulness (RF)"): marked(
        "How near what is learned about the population from the release comes to what the original would teach: 1 is "
        "the same."
    ),
    marked("Random worlds"): marked(
        "An adversary who takes every table that the release allows for equally likely, and learns nothing about the "
        "population from it."
    ),
}
"""The words of a report that measures threats, explained."""
OF_SAMPLING = {
    marked("R-hat"): marked(
        "How far the chains of the sampler disagree: near 1 they have found the same distribution."
    ),
    marked("Monte-Carlo error"): marked(
        "The standard error of a figure that comes from sampling; more sweeps make it smaller."
    ),
}
"""The words of a report of what was sampled."""


def _glossary(outcome: ThreatOutcome) -> tuple[Term, ...]:
    return (
        *(explained(OF_THREATS) if outcome.measures is not None else ()),
        *(explained(OF_SAMPLING) if outcome.sampled is not None else ()),
        *glossary(
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
        ),
    )


def measures_section(measures: Measures) -> Section:
    """Return the figures of the table, each with its error; what is not sampled is exact."""
    titles = (
        text("best guess right, ties counting"),
        text("ties at random"),
        text("absolute error (ABS)"),
        text("undecided"),
    )
    rows = (
        (
            adversary_label(name),
            Cell(
                with_error(measures, number(threat.share, ".6g"), f"gt_{name}"),
                exact=exactly(threat.share),
            ),
            with_error(measures, number(threat.share_at_random, ".6g"), f"gt_{name}_random_ties"),
            with_error(measures, number(threat.absolute_error, ",.2f"), f"abs_{name}"),
            number(threat.undecided),
        )
        for name, threat in measures.adversaries().items()
    )
    further = (
        (title, value, _error_of(measures, figure)) for title, value, figure in _further(measures)
    )
    return Section(
        text("The figures"),
        tables=(
            cell_table(text("Somebody who"), titles, rows),
            text_table("", text("Measure"), (text("value"), text("error")), further),
        ),
    )


def _further(measures: Measures) -> list[tuple[str, str, str]]:
    """Return what else holds for the table: its title, its value, and its name among the sampled figures."""
    shape, faithful = measures.histogram(), measures.faithfulness
    mean, skewness = figure_text(shape.mean, ".4g"), figure_text(shape.skewness, ".4g")
    highest = {
        "highest_ti": measures.highest_relative,
        "highest_ti_of_all": float(measures.relative.max()),
    }
    above = {
        above_name(limit, threatened=threatened): measures.share_above(limit, threatened=threatened)
        for limit in measures.thresholds
        for threatened in (False, True)
    }
    rows = [
        (text("most frequent value"), number(measures.baseline, ".6f"), ""),
        (figure_title("rgt"), number(measures.relative_global_threat, ".6f"), "rgt"),
        *((figure_title(name), figure_text(ti, ",.4g"), name) for name, ti in highest.items()),
        (text("mean of log₂ Ti of threatened records"), mean, "log2_ti_attacker_mean"),
        (text("skewness of log₂ Ti"), skewness, "log2_ti_attacker_skewness"),
        *((figure_title(name), number(share, ".6f"), name) for name, share in above.items()),
    ]
    if faithful is not None:
        published, bounded = number(faithful.published, ".4g"), number(faithful.bounded, ".4g")
        rows += [
            (text("relative faithfulness (RF, equation 21)"), published, "rf"),
            (text("relative faithfulness, bounded"), bounded, "rf_bounded"),
        ]
    return rows


def _error_of(measures: Measures, figure: str) -> str:
    """Say the error of a figure; that of faithfulness is of its points and of the chains."""
    faithful = measures.faithfulness
    if faithful is not None and figure in ("rf", "rf_bounded"):
        return error_text(faithful.published_error if figure == "rf" else faithful.bounded_error)
    if figure in measures.figures:
        return error_text(measures.figures[figure].error)
    return text("exact") if measures.is_exact or not figure else text("not estimated")


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
    draws = map(_sampled_row, sampled.aggregates)
    tables = [text_table(text("Draw by draw"), text("Figure"), titles, draws)]
    if sampled.figures:
        fewer = (*titles[:3], text("effective batches"))
        batches = (_sampled_row(figure)[:5] for figure in sampled.figures)
        tables.append(text_table(text("Batch by batch"), text("Figure"), fewer, batches))
    run = translated(
        STOPPED[sampled.stopped.value],
        chains=sampled.chains,
        burn_in=sampled.burn_in,
        sweeps=sampled.sweeps,
    )
    how_to_read = text(
        "R-hat above 1.01 draw by draw means that chains disagree; batches are few, and their R-hat is rough. Geweke’s "
        "test passes up to 2, the Weiß test from 0.05 on; both look at one chain at a time, and a chain that is stuck "
        "passes them: trust R-hat."
    )
    return Section(
        text("How sure the sampler is"), f"{run} {how_to_read}", tuple(tables), sampled.warnings
    )


STOPPED = {
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


def _sampled_row(figure: Aggregate) -> tuple[str, ...]:
    return (
        figure_title(figure.name),
        figure_text(figure.value, ",.6g"),
        error_text(figure.error),
        figure_text(figure.rhat, ".4f"),
        figure_text(figure.ess, ",.0f"),
        figure_text(figure.geweke, ".2f"),
        figure_text(figure.weiss, ".3f"),
    )
