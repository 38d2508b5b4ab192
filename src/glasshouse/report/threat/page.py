"""What an anonymised table tells about a person beyond the population, as a page: sentences, pictures, exact figures.

Of one victim a page holds neither what is known nor what is believed of single values: only how sure attacker and
learner are of the likeliest, in whole per cent.
"""

from __future__ import annotations

from itertools import pairwise

import altair as alt
import numpy as np

from glasshouse.disclosure import column_counts, hidden_counts, smallest_cell
from glasshouse.groups import Knowledge, Measures, Sampled
from glasshouse.groups.estimates import Aggregate, figure_title
from glasshouse.groups.measures import Reading, above_name
from glasshouse.groups.outcome import ThreatOutcome
from glasshouse.language import exactly, marked, number, text, text_for, translated
from glasshouse.report.cells import cell_table
from glasshouse.report.charts import NEUTRAL, PER_CENT, TARGETS, keyed, plot, titled, wrapped
from glasshouse.report.discretion import personal
from glasshouse.report.labels import value_label
from glasshouse.report.page import Brief, Cell, Figure, Page, Provenance, Section, Table
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.threat.findings import (
    adversary_label,
    as_fraction,
    error_text,
    figure_text,
    known_of,
    learner_name,
    method_label,
    plus_minus,
    secret_of,
    share_above,
    threat_findings,
    value_text,
    whole_percent,
    with_error,
)
from glasshouse.report.words import (
    enumeration,
    glossary,
    indefinite,
    percentage,
    percentages,
    sentences,
)
from glasshouse.study import parse_condition
from glasshouse.study.threat import ThreatStudy

METHOD = "Boreale, Corradi and Viscardi 2020, “Relative Privacy Threats and Learning From Anonymized Data” (IEEE TIFS)"
MOST_VALUES = 15
"""So many sensitive values of a victim a terminal shows."""
ATTACKER_OF_ONE = marked(
    "The attacker knows that the person is in the table and, of this person, {known}. She knows the whole release and "
    "how it was made."
)
ATTACKER_OF_ALL = marked(
    "The attacker knows that the person is in the table, and knows exactly: {known}. She knows the whole release and "
    "how it was made."
)
LEARNER_KNOWS = marked(
    "The learner has the same release and knows the same of the person, but not that the person is in the table. What "
    "she can tell holds for everybody like them: it is what anybody may learn about the population."
)
NOTHING_OF_THE_PERSON = marked(
    "So that it gives nobody away, it holds no value of a record, neither what is known of the person nor what can be "
    "learned, and probabilities in whole per cent only. glasshouse threat --json prints all of it exactly, for the "
    "analyst alone."
)
INDEPENDENT = marked(
    "Attacker and learner reason by Bayes’ rule from the same Dirichlet priors, and take the attributes as independent "
    "given the sensitive value. Who knows of other relations between them may learn more."
)
READINGS = {
    Reading.RATIO_OF_EXPECTATIONS: marked(
        "What the learner believes is the ratio of expectations, equation (5)."
    ),
    Reading.EXPECTATION_OF_RATIO: marked(
        "What the learner believes is the expectation of the ratio, equation (6)."
    ),
}
DOMAIN = marked(
    "People can have the values of the domain only: those of the original, of the hierarchies and the release, or "
    "those that the study gives. Another domain gives other figures."
)
SUPPRESSED = marked(
    "The sensitive values of suppressed records are published too: the attacker takes into account that anybody’s "
    "record may be among them."
)
ON_THE_ORIGINAL = marked(
    "How often a guess is right is counted on the original, which only the publisher has; it says nothing of people "
    "who are not in the table."
)


def page(outcome: ThreatOutcome, question: ThreatStudy, *, provenance: Provenance) -> Page:
    """Return the report of an anonymised table."""
    measures, victim = outcome.measures, outcome.one_victim
    words = {
        "records": text_for(outcome.release.records, "{count} record", "{count} records"),
        "groups": text_for(outcome.groups, "{count} group", "{count} groups"),
        "known": enumeration([parse_condition(fact).column for fact in question.known])
        if victim
        else known_of(outcome.release),
    }
    figures: tuple[Figure, ...] = ()
    if victim:
        figures = (beliefs(outcome.knowledge, learner_name(outcome.reading)),)
    elif measures is not None:
        figures = (guesses(measures),)
        if measures.attacker.threatened.any():
            figures += (relative_threat(measures), learner_against_attacker(measures))
    sections = (
        None if measures is None else measures_section(measures),
        None if outcome.sampled is None else sampling_section(outcome.sampled),
        _release(outcome),
        treatment_section(outcome.steps),
    )
    return Page(
        title=text(
            "What {release} tells about {person}, beyond the population",
            release=outcome.release.name,
            person=indefinite(question.subject),
        ),
        lead=text(
            "{records} in {groups}, and a victim of whom this is known: {known}. This report is personal data.",
            **words,
        )
        if victim
        else text("{records} in {groups}", **words),
        findings=threat_findings(outcome, subject=question.subject),
        figures=figures,
        sections=tuple(filter(None, sections)),
        adversary=sentences(ATTACKER_OF_ONE if victim else ATTACKER_OF_ALL, LEARNER_KNOWS, **words),
        limits=(
            *([personal(), *sentences(NOTHING_OF_THE_PERSON)] if victim else []),
            *sentences(
                INDEPENDENT,
                READINGS[outcome.reading],
                DOMAIN,
                bool(outcome.suppressed) and SUPPRESSED,
                measures is not None and not victim and ON_THE_ORIGINAL,
            ),
        ),
        provenance=provenance,
        command="glasshouse threat --study study.toml",
        method=METHOD,
        glossary=glossary(
            "attacker, learner, relative threat, quasi-identifier, sensitive attribute, record, release",
            "prior, attribute inference",
            not outcome.release.is_vertical and "generalisation",
            bool(outcome.suppressed) and "suppression",
            terms=(
                measures is not None and OF_THREATS,
                outcome.sampled is not None and OF_SAMPLING,
            ),
        ),
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
    elif measures is not None:
        table = _guesses_table(measures)
    else:
        rows = []
        for name in outcome.knowledge.beliefs():
            average, error = outcome.average(name)
            sure = plus_minus(_two_decimals(average), None if error is None else 100 * error)
            rows.append((adversary_label(name), sure))
        titles = [text("sure of the likeliest value, on average")]
        table = cell_table(text("somebody who"), titles, rows)
    return Brief(
        (heading, *treatment_blocks(outcome.steps), table),
        threat_findings(outcome, subject=question.subject, exact=True),
        notes=() if outcome.sampled is None else tuple(outcome.sampled.warnings),
    )


def _guesses_table(measures: Measures) -> Table:
    first = (text("says the most frequent value"), _two_decimals(float(measures.baseline)), "", "")
    rows: list[tuple[str, ...]] = [first]
    for name, threat in measures.adversaries().items():
        shares = (
            (float(threat.share), f"gt_{name}"),
            (threat.share_at_random, f"gt_{name}_random_ties"),
        )
        cells = (
            with_error(measures, _two_decimals(share), figure, scale=100)
            for share, figure in shares
        )
        rows.append((adversary_label(name), *cells, _error_per_record(measures, name)))
    titles = (text("guesses right"), text("ties at random"), text("error per record (0 to 2)"))
    return cell_table(text("somebody who"), titles, rows)


def _error_per_record(measures: Measures, name: str) -> str:
    mean = measures.adversaries()[name].absolute_error / measures.records
    return with_error(measures, number(mean, ".4f"), f"abs_{name}", scale=1 / measures.records)


def _beliefs_of_victim(outcome: ThreatOutcome) -> Table:
    beliefs, certainty = outcome.knowledge.of(0), outcome.knowledge.beliefs()
    values = outcome.release.sensitive.values
    exact = outcome.to_dict().get("exact", {})
    order = sorted(beliefs["attacker"], key=lambda value: -beliefs["attacker"][value])
    rows = []
    for value in order[:MOST_VALUES]:
        row = [value_text(value_label(outcome.release.sensitive.names, value))]
        for name, belief in beliefs.items():
            ratio = exact.get(name, {}).get(value) or ""
            is_short, errors = "/" in ratio and len(ratio) <= 9, certainty[name].errors
            error = None if errors is None else 100 * float(errors[0][values.index(value)])
            probability = plus_minus(_two_decimals(belief[value]), error)
            row.append(probability + (f" ({ratio})" if is_short else ""))
        rows.append(row)
    return cell_table(text("value"), [adversary_label(name) for name in beliefs], rows)


def _two_decimals(share: float) -> str:
    return text("{figure}%", figure=number(100 * share, ".2f"))


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
    ]
    rows += [(text("values of {name}", name=name), number(len(vals))) for name, vals in attributes]
    return Section(
        text("The release"), tables=(cell_table(text("Property"), [text("Value")], rows),)
    )


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
        "How far an adversary’s beliefs are from the truth, summed over the values, on average over records. 0: she "
        "knows everything; 2: she is sure of what is wrong."
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


def measures_section(measures: Measures) -> Section:
    """Return the figures of the table, each with its error; what is not sampled is exact."""
    titles = (
        text("best guess right, ties counting"),
        text("ties at random"),
        text("absolute error per record (ABS), 0 to 2"),
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
            _error_per_record(measures, name),
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
            cell_table(text("Measure"), (text("value"), text("error")), further),
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
    tables = [cell_table(text("Figure"), titles, draws, text("Draw by draw"))]
    if sampled.figures:
        fewer = (*titles[:3], text("effective batches"))
        batches = (_sampled_row(figure)[:5] for figure in sampled.figures)
        tables.append(cell_table(text("Figure"), fewer, batches, text("Batch by batch")))
    run = translated(
        RUN,
        stopped=translated(STOPPED[sampled.stopped.value]),
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


RUN = marked(
    "{chains} chains, {burn_in} sweeps before anything is recorded, {sweeps} after; {stopped}."
)
STOPPED = {
    "precision": marked("stopped as the precision was reached"),
    "sweeps": marked("stopped at the limit of sweeps"),
    "time": marked("stopped at the limit of time"),
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


BARS = 10
"""Into how many bars beliefs are counted."""
MOST_RANKS = 12
"""So many of the likeliest values are drawn by themselves."""
ATTACKER, LEARNER = TARGETS[0][0], TARGETS[1][0]
"""The colours of who knows that the person is in the table, and of who learns about the population."""


def guesses(measures: Measures) -> Figure:
    """Show for how many records each adversary's best guess is right, beside the most frequent value."""
    shares = {text("always says the most frequent value"): float(measures.baseline)}
    colours, figures = [NEUTRAL], [""]
    for name, threat in measures.adversaries().items():
        shares[adversary_label(name)] = threat.share_at_random
        colours.append({"attacker": ATTACKER, "learner": LEARNER}.get(name, NEUTRAL))
        figures.append(f"gt_{name}_random_ties")
    rows = [{"who": who, "share": 100 * share} for who, share in shares.items()]
    base = plot(rows).encode(
        y=alt.Y("who:N", sort=list(shares), title=None, axis=alt.Axis(labelLimit=320)),
        x=alt.X("share:Q", title=text("records guessed right (%)"), scale=PER_CENT),
    )
    scale = alt.Scale(domain=list(shares), range=colours)
    bars = base.mark_bar(height=18).encode(color=alt.Color("who:N", scale=scale, legend=None))
    labels = base.mark_text(align="left", dx=5).encode(text=alt.Text("share:Q", format=".1f"))
    attacker, learner = percentages(
        as_fraction(measures.attacker.share_at_random),
        as_fraction(measures.learner.share_at_random),
    )
    title = text(
        "Who knows that a person is in the table guesses {attacker} right; about the population, {learner}",
        attacker=with_error(measures, attacker, "gt_attacker_random_ties", scale=100),
        learner=with_error(measures, learner, "gt_learner_random_ties", scale=100),
    )
    above = alt.Title(wrapped(title), subtitle=text("ties are broken at random"))
    percents = (percentage(as_fraction(share)) for share in shares.values())
    numbers = (
        (who, Cell(with_error(measures, percent, figure, scale=100), exact=exactly(shares[who])))
        for who, percent, figure in zip(shares, percents, figures, strict=True)
    )
    return Figure.of(
        alt.layer(bars, labels).properties(width=460, height=alt.Step(32), title=above),
        label=text("Share of records that each adversary guesses right"),
        caption=text(
            "What who knows that a person is in the table has more than who learns about the population is what being "
            "in the table costs."
        ),
        table=cell_table(text("Somebody who"), [text("records guessed right")], numbers),
    )


def relative_threat(measures: Measures) -> Figure:
    """Show how log₂ of the relative threat is distributed over the records that the attacker threatens."""
    histogram = measures.histogram("attacker")
    bars = [
        (float(low), float(high), int(count))
        for (low, high), count in zip(pairwise(histogram.edges), histogram.counts, strict=True)
    ]
    hidden = hidden_counts([count for *_, count in bars])
    rows = [
        {"low": low, "high": high, "none": 0, **_drawn_count(count, place in hidden)}
        for place, (low, high, count) in enumerate(bars)
    ]
    surer = text("log₂ of how many times surer than about the population (1: twice)")
    axis = alt.Axis(tickMinStep=0.25, labelOverlap=True)
    columns = plot(rows).mark_bar(stroke="white")
    zero = plot([{"x": 0}]).mark_rule(strokeDash=[4, 3], color=NEUTRAL)
    chart = alt.layer(
        columns.encode(
            x=alt.X("low:Q", title=surer, axis=axis),
            x2="high:Q",
            y=alt.Y("records:Q", title=text("threatened records")),
            y2="none:Q",
            color=alt.condition("datum.told", alt.value(ATTACKER), alt.value(NEUTRAL)),
        ),
        zero.encode(x="x:Q"),
    )
    above = measures.share_above(measures.exceeds, threatened=False)
    limit = number(measures.exceeds, "g")
    title = (
        text(
            "Of the truth about {share} of the records she is more than {limit} times as sure",
            share=share_above(measures),
            limit=limit,
        )
        if above
        else text(
            "Of the truth about no record she is more than {limit} times as sure", limit=limit
        )
    )
    subtitle = text("right of the line: more is told about the person than about people like them")
    counts = column_counts([count for *_, count in bars])
    numbers = (
        (text("{low} to {high}", low=number(low, ".2f"), high=number(high, ".2f")), count)
        for (low, high, records), count in zip(bars, counts, strict=True)
        if records
    )
    return Figure.of(
        titled(chart, title, subtitle, (90, 105), width=620, height=240),
        label=text("Threatened records by relative threat"),
        caption=text(
            "0: as sure as about the population. 1: twice as sure. 2: four times. Below 0: less sure. Grey: fewer than "
            "{smallest} records, or not told so that such a number cannot be found.",
            smallest=smallest_cell(),
        ),
        table=cell_table(
            text("log₂ of the relative threat"), [text("Threatened records")], numbers
        ),
    )


def learner_against_attacker(measures: Measures) -> Figure:
    """Show p_L against p_A of each record's true value, as counts in squares: no record, and no small count.

    Where few records are in a square, or in a bar of the other picture of them, no square is told: what covers the few
    in one picture could be read off the other.
    """
    counts, width = measures.scatter(bars=BARS), 100 // BARS
    squares = [(width * int(row), width * int(column)) for row, column in np.argwhere(counts)]
    occupied = counts[counts > 0].tolist()
    bars = measures.histogram("attacker").counts.tolist()
    told = not hidden_counts(occupied) and not hidden_counts(bars)
    rows = [
        {"x": x, "x2": x + width, "y": y, "y2": y + width, **_drawn_count(count, not told)}
        for (x, y), count in zip(squares, occupied, strict=True)
    ]
    shade = alt.Color(
        "records:Q", title=text("records"), scale=alt.Scale(scheme="viridis", type="log")
    )
    diagonal = plot([{"x": 0, "y": 0}, {"x": 100, "y": 100}])
    population = text("belief about the population, p_L (%)")
    person = text("belief about the person, p_A (%)")
    chart = alt.layer(
        plot(rows)
        .mark_rect()
        .encode(
            x=alt.X("x:Q", title=population, scale=PER_CENT),
            x2="x2:Q",
            y=alt.Y("y:Q", title=person, scale=PER_CENT),
            y2="y2:Q",
            color=alt.condition("datum.told", shade, alt.value(NEUTRAL)),
        ),
        diagonal.mark_line(strokeDash=[4, 3], color=NEUTRAL).encode(x="x:Q", y="y:Q"),
    )
    title = text(
        "Above the line she is surer of the truth about the person than about people like them"
    )
    cells = [number(count) if told else text("not told") for count in occupied]
    numbers = (
        (*(text("{low} to {high}%", low=low, high=low + width) for low in square), count)
        for square, count in zip(squares, cells, strict=True)
    )
    return Figure.of(
        titled(
            chart, title, text("records, by belief in the truth"), (60, 70), width=380, height=380
        ),
        label=text(
            "Belief about the population against belief about the person, of the true value"
        ),
        caption=text(
            "Counts of threatened records in squares; no record is shown. All grey: some of the counts are below "
            "{smallest}, so none is told.",
            smallest=smallest_cell(),
        ),
        table=cell_table(population, (person, text("records")), numbers),
    )


def _drawn_count(count: int, hidden: bool) -> dict[str, int | bool]:
    """Return what a picture knows of a count: where it is not told, no more than that."""
    return {"records": smallest_cell() if hidden else count, "told": not hidden}


def ranked_beliefs(knowledge: Knowledge, learner: str) -> list[tuple[str, float, float]]:
    """Return how probable the likeliest value of the victim is, the second, …: for the attacker and for the learner.

    Each is ranked by itself, so that no value is told. What is beyond the likeliest few stands together.
    """
    beliefs = knowledge.of(0)
    pairs = list(
        zip(
            sorted(beliefs["attacker"].values(), reverse=True),
            sorted(beliefs[learner].values(), reverse=True),
            strict=True,
        )
    )
    drawn = pairs if len(pairs) <= MOST_RANKS else pairs[: MOST_RANKS - 1]
    rows = [(text("no. {rank}", rank=rank), *pair) for rank, pair in enumerate(drawn, start=1)]
    further = pairs[len(drawn) :]
    if further:
        label = text("all {count} others", count=len(further))
        rows.append((label, sum(pair[0] for pair in further), sum(pair[1] for pair in further)))
    return rows


def beliefs(knowledge: Knowledge, learner: str) -> Figure:
    """Show how sure attacker and learner are of the likeliest values of one victim, in whole per cent."""
    ranks = ranked_beliefs(knowledge, learner)
    who = [adversary_label("attacker"), adversary_label(learner)]
    rows = [
        {"rank": label, "who": name, "belief": round(100 * belief)}
        for label, *pair in ranks
        for name, belief in zip(who, pair, strict=True)
    ]
    title = text(
        "She believes the likeliest value with {attacker}; about the population, the likeliest with {learner}",
        attacker=whole_percent(ranks[0][1]),
        learner=whole_percent(ranks[0][2]),
    )
    subtitle = text("the likeliest values first, each ranked by itself")
    legend = alt.Legend(labelLimit=320)
    points = plot(rows).mark_point(filled=True, size=130, opacity=1)
    chart = points.encode(
        y=alt.Y("rank:N", sort=[label for label, *_ in ranks], title=None),
        x=alt.X("belief:Q", title=text("probability (%)"), scale=PER_CENT),
        color=alt.Color("who:N", legend=legend, **keyed(who, (ATTACKER, LEARNER))),
        shape=alt.Shape("who:N", **keyed(who, ("circle", "diamond"))),
    )
    numbers = ((label, *map(whole_percent, pair)) for label, *pair in ranks)
    return Figure.of(
        titled(chart, title, subtitle, (90, 105), width=460, height=alt.Step(28)),
        label=text("How sure attacker and learner are of the likeliest values of the victim"),
        caption=text(
            "Further apart: more is told. Each is ranked by itself: the likeliest value of one may be another than "
            "that of the other. Which values they are is not told."
        ),
        table=cell_table(text("Value, the likeliest first"), who, numbers),
    )
