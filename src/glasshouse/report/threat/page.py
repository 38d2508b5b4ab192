"""What an anonymised table tells about a person beyond the population, as a page: sentences, pictures, exact figures.

Of one victim a page holds neither what is known nor what is believed of single values: only how sure attacker and
learner are of the likeliest, in whole per cent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from glasshouse.disclosure import hidden_counts
from glasshouse.groups import Knowledge, Measures, Sampled
from glasshouse.groups.estimates import Aggregate, figure_title
from glasshouse.groups.measures import Reading, above_name
from glasshouse.groups.outcome import ThreatOutcome
from glasshouse.language import exactly, marked, number, percentage, text, text_for, translated
from glasshouse.report import vega
from glasshouse.report.cells import cell_table
from glasshouse.report.charts import NEUTRAL, PER_CENT, TARGETS, figure_of, keyed, plot, titled
from glasshouse.report.discretion import ToldCounts, personal
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import value_label
from glasshouse.report.page import (
    Action,
    Brief,
    Cell,
    Figure,
    Finding,
    Page,
    Provenance,
    Section,
    Table,
    Tile,
    ranked,
)
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.threat.findings import (
    adversary_label,
    as_fraction,
    error_text,
    exactness,
    figure_text,
    highest,
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
from glasshouse.report.words import counted, enumeration, percentages, plural, sentences, share
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
    "The learner has the same release and knows the same about the person, but not that the person is in "
    "the table. What she concludes holds for everybody like them: it is what anybody may learn about the "
    "population."
)
NOTHING_OF_THE_PERSON = marked(
    "To protect people, it holds no value of any record, neither what is known about the person nor what "
    "can be learned, and probabilities in whole per cent only. glasshouse threat --json prints all of it "
    "exactly, for the analyst alone."
)
INDEPENDENT = marked(
    "Attacker and learner reason by Bayes’ rule from the same Dirichlet priors, and take the columns as "
    "independent given the sensitive value. Someone who knows of other relations between them may learn "
    "more."
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
    "How often a guess is right is counted on the original, which only the publisher has; it says "
    "nothing about people who are not in the table."
)


def page(outcome: ThreatOutcome, question: ThreatStudy, *, provenance: Provenance) -> Page:
    """Return the report of an anonymised table."""
    measures, victim = outcome.measures, outcome.one_victim
    words = {
        "release": outcome.release.name,
        "records": text_for(outcome.release.records, "{count} record", "{count} records"),
        "groups": text_for(outcome.groups, "{count} group", "{count} groups"),
        "known": enumeration([parse_condition(fact).column for fact in question.known])
        if victim
        else known_of(outcome.release),
    }
    findings = _drawn(outcome, threat_findings(outcome, subject=question.subject), question.subject)
    sections = (
        None if measures is None else measures_section(measures),
        None if outcome.sampled is None else sampling_section(outcome.sampled),
        _release(outcome),
        treatment_section(outcome.steps),
    )
    return Page(
        title=text("What being in the protected table gives away"),
        lead=text(
            "{release}: {records} in {groups}; what is known about one person: {known}. This report is personal "
            "data.",
            **words,
        )
        if victim
        else text("{release}: {records} in {groups}", **words),
        findings=findings,
        summary=_summary(outcome, question.subject),
        tiles=tuple(_tiles(outcome, question.subject)),
        actions=tuple(_actions(findings)),
        sections=tuple(filter(None, sections)),
        adversary=sentences(ATTACKER_OF_ONE if victim else ATTACKER_OF_ALL, LEARNER_KNOWS, **words),
        limits=(
            *([personal(), *sentences(NOTHING_OF_THE_PERSON)] if victim else []),
            *sentences(
                measures is not None and not victim and ON_THE_ORIGINAL,
                DOMAIN,
                bool(outcome.suppressed) and SUPPRESSED,
                INDEPENDENT,
                READINGS[outcome.reading],
            ),
            *filter(None, [exactness(outcome)]),
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


def _drawn(
    outcome: ThreatOutcome, findings: tuple[Finding, ...], subject: str
) -> tuple[Finding, ...]:
    """Return findings with their pictures inside."""
    pictures: tuple[Figure, ...] = ()
    if outcome.one_victim:
        pictures = (beliefs(outcome.knowledge, learner_name(outcome.reading)),)
    elif outcome.measures is not None:
        pictures = (times_surer(outcome.measures, subject), guesses(outcome.measures))
    drawn = (
        replace(finding, picture=picture)
        for finding, picture in zip(findings, pictures, strict=False)
    )
    return (*drawn, *findings[len(pictures) :])


def _summary(outcome: ThreatOutcome, subject: str) -> str:
    """Say whom being in the table costs something; where it is nobody, the first finding says so."""
    measures = None if outcome.one_victim else outcome.measures
    above = measures and measures.share_above(measures.exceeds, threatened=False)
    if measures is None or not above:
        return ""
    return text(
        "Being in the table harms {people} ({share}): an attacker is more than {limit} times as sure of "
        "their {secret}.",
        people=counted(round(above * measures.records), subject),
        share=share_above(measures),
        secret=secret_of(outcome.release),
        limit=number(measures.exceeds, "g"),
    )


def _tiles(outcome: ThreatOutcome, subject: str) -> Iterator[Tile]:
    """Yield whom being in the table costs something, what a guess gains by it, and what the table is worth."""
    measures, learner = outcome.measures, learner_name(outcome.reading)
    secret = secret_of(outcome.release)
    if measures is not None and not outcome.one_victim:
        above = measures.share_above(measures.exceeds, threatened=False)
        words = {
            "limit": number(measures.exceeds, "g"),
            "most": highest(measures),
            "secret": secret,
        }
        people = counted(round(above * measures.records), subject)
        template = (
            marked(
                "{people}: being in the table makes an attacker more than {limit} times as sure of their {secret}, "
                "up to {most} times"
            )
            if above
            else marked(
                "for nobody does the table make an attacker more than {limit} times as sure of {secret}"
            )
        )
        yield Tile(
            text("Who is at risk"), percentage(above), translated(template, people=people, **words)
        )
        shares = (threat.share_at_random for threat in (measures.learner, measures.attacker))
        sentence = text(
            "correct guesses at {secret}: about the population, and about people in the table",
            secret=secret,
        )
        yield Tile(
            text("What being in it adds"),
            " → ".join(percentages(*map(as_fraction, shares))),
            sentence,
        )
        if measures.faithfulness is not None:
            yield Tile(
                text("What the table is worth"),
                whole_percent(measures.faithfulness.bounded),
                text("of what the original would teach about the population"),
            )
    elif outcome.one_victim:
        sure = (max(outcome.knowledge.of(0)[name].values()) for name in (learner, "attacker"))
        sentence = text(
            "how sure one can be of the likeliest {secret}: about the population, and about this person",
            secret=secret,
        )
        yield Tile(text("What being in it adds"), " → ".join(map(whole_percent, sure)), sentence)
    else:
        averages = (outcome.average(name)[0] for name in (learner, "attacker"))
        sentence = text(
            "how sure one can be of the likeliest {secret} on average: about the population, and about those in "
            "the table",
            secret=secret,
        )
        yield Tile(
            text("What being in it adds"),
            " → ".join(percentages(*map(as_fraction, averages))),
            sentence,
        )


def _actions(findings: tuple[Finding, ...]) -> Iterator[Action]:
    """Yield what to do; no command, as whether another table would help is known only when it is measured."""
    for remedy in dict.fromkeys(finding.remedy for finding in ranked(findings) if finding.remedy):
        yield Action(remedy)


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
            sure = plus_minus(_per_cent(average), None if error is None else 100 * error)
            rows.append((adversary_label(name), sure))
        titles = [text("sure of the likeliest value, on average")]
        table = cell_table(text("somebody who"), titles, rows)
    return Brief(
        (heading, *treatment_blocks(outcome.steps), table, *filter(None, [exactness(outcome)])),
        threat_findings(outcome, subject=question.subject, exact=True),
        notes=() if outcome.sampled is None else tuple(outcome.sampled.warnings),
    )


def _guesses_table(measures: Measures) -> Table:
    """Return how often each guesses right, and how far off beliefs are; among equally likely values one is drawn."""
    first = (text("says the most frequent value"), _per_cent(float(measures.baseline)), "")
    rows: list[tuple[str, ...]] = [first]
    for name, threat in measures.adversaries().items():
        share, figure = threat.share_at_random, f"gt_{name}_random_ties"
        right = with_error(measures, _per_cent(share), figure, scale=100)
        rows.append((adversary_label(name), right, _error_per_record(measures, name)))
    titles = (text("guesses right"), text("error per record (0 to 2)"))
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
            probability = plus_minus(_per_cent(belief[value]), error)
            row.append(probability + (f" ({ratio})" if is_short else ""))
        rows.append(row)
    return cell_table(text("value"), [adversary_label(name) for name in beliefs], rows)


def _per_cent(share: float) -> str:
    return text("{figure}%", figure=number(100 * share, ".1f"))


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


MOST_RANKS = 12
"""So many of the likeliest values are drawn by themselves."""
ATTACKER, LEARNER = TARGETS[0][0], TARGETS[1][0]
"""The colours of who knows that the person is in the table, and of who learns about the population."""


def guesses(measures: Measures) -> Figure:
    """Show how often attacker and learner guess right, beside the most frequent value."""
    bars = [(text("most frequent"), float(measures.baseline), NEUTRAL, "")]
    for who, name, threat, colour in (
        (text("population"), "learner", measures.learner, LEARNER),
        (text("who is in it"), "attacker", measures.attacker, ATTACKER),
    ):
        bars.append((who, threat.share_at_random, colour, f"gt_{name}_random_ties"))
    percents = percentages(*(as_fraction(right) for _, right, *_ in bars))
    labels = [
        with_error(measures, percent, figure, scale=100)
        for percent, (*_, figure) in zip(percents, bars, strict=True)
    ]
    rows = [
        {"who": who, "share": 100 * right, "colour": colour, "label": label}
        for label, (who, right, colour, _) in zip(labels, bars, strict=True)
    ]
    axis = vega.Axis(labelPadding=8, minExtent=110)
    base = plot(rows).encode(
        y=vega.Y("who:N", sort=None, title=None, axis=axis),
        x=vega.X("share:Q", title=text("right guesses (%)"), scale=PER_CENT),
    )
    chart = vega.layer(
        base.mark_bar(height=18).encode(color=vega.Color("colour:N", scale=None)),
        base.mark_text(align="left", dx=5, fontSize=12).encode(text="label:N"),
    )
    title = text(
        "Correct guesses: {learner} about the population, {attacker} about people in the table",
        attacker=labels[2],
        learner=labels[1],
    )
    numbers = (
        (who, Cell(label, exact=exactly(right)))
        for label, (who, right, *_) in zip(labels, bars, strict=True)
    )
    return figure_of(
        titled(chart, title, text("by what somebody knows"), width=460, height=vega.Step(32)),
        label=text("Share of records that each adversary guesses right"),
        caption=text(
            "“Most frequent”: someone who always says the most frequent value. The gap between the lower two "
            "bars is what being in the table costs. Where several values are as likely, one is picked at random."
        ),
        table=cell_table(text("Somebody who"), [text("records guessed right")], numbers),
    )


STEPS = (1, 2, 4, 8)
"""How many times as easy to believe the truth is, where people are counted by it."""


def times_surer(measures: Measures, subject: str = "person") -> Figure:
    """Show how many people there are by how many times being in the table makes the truth easier to believe."""
    above = [
        round(measures.share_above(step, threatened=False) * measures.records) for step in STEPS
    ]
    counts = [low - high for low, high in pairwise((measures.records, *above, 0))]
    between = (
        text("{low} to {high} times", low=number(low), high=number(high))
        for low, high in pairwise(STEPS)
    )
    labels = [text("no surer"), *between, text("over {low} times", low=number(STEPS[-1]))]
    column = ToldCounts.of(counts, hidden_counts(counts))
    rows = [
        {
            "times": label,
            "records": column.lengths[place],
            "label": f"{column.cells[place]} ({share(count, measures.records)})"
            if column.is_exact[place] and count
            else column.cells[place],
            "colour": ATTACKER if place > 1 and column.is_exact[place] else NEUTRAL,
        }
        for place, (label, count) in enumerate(zip(labels, counts, strict=True))
    ]
    people = plural(subject)
    base = plot(rows).encode(
        y=vega.Y("times:N", sort=None, title=None, axis=vega.Axis(labelPadding=8, minExtent=100)),
        x=vega.X(
            "records:Q",
            title=people,
            scale=vega.Scale(domain=[0, 2 * max(column.lengths)], nice=False),
            axis=vega.Axis(tickCount=4, format=",d"),
        ),
    )
    chart = vega.layer(
        base.mark_bar(height=18).encode(color=vega.Color("colour:N", scale=None)),
        base.mark_text(align="left", dx=5, fontSize=12).encode(text="label:N"),
    )
    template = (
        marked(
            "For {share} of {people} the table makes an attacker more than {limit} times as sure of the truth"
        )
        if measures.share_above(measures.exceeds, threatened=False)
        else marked(
            "For nobody does the table make an attacker more than {limit} times as sure of the truth"
        )
    )
    title = translated(
        template,
        share=share_above(measures),
        people=people,
        limit=number(measures.exceeds, "g"),
    )
    return figure_of(
        titled(
            chart,
            title,
            text("how many times as sure as about people like them in the population"),
            width=560,
            height=vega.Step(32),
        ),
        label=text("{people} by how many times as sure of the truth an attacker is", people=people),
        caption=text(
            "“No surer”: nothing is lost by being in the table. Where a number is not shown, some number is "
            "below {smallest}, and the length of the bar says nothing."
        ),
        table=cell_table(text("Times as sure"), [people], zip(labels, column.cells, strict=True)),
    )


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
        {
            "rank": label,
            "who": name,
            "belief": round(100 * belief),
            "change": f"{whole_percent(pair[1])} → {whole_percent(pair[0])}",
        }
        for label, *pair in ranks
        for name, belief in zip(who, pair, strict=True)
    ]
    title = text(
        "One can be {attacker} sure of the likeliest value; about the population, {learner}",
        attacker=whole_percent(ranks[0][1]),
        learner=whole_percent(ranks[0][2]),
    )
    subtitle = text("the likeliest values first, each ranked by itself")
    legend = vega.Legend(labelLimit=320)
    base = plot(rows).encode(y=vega.Y("rank:N", sort=[label for label, *_ in ranks], title=None))
    points = base.mark_point(filled=True, size=130, opacity=1).encode(
        x=vega.X("belief:Q", title=text("probability (%)"), scale=PER_CENT),
        color=vega.Color("who:N", legend=legend, **keyed(who, (ATTACKER, LEARNER))),
        shape=vega.Shape("who:N", **keyed(who, ("circle", "diamond"))),
    )
    labels = base.mark_text(align="left", dx=10, fontSize=12).encode(
        x=vega.value("width"), text="change:N"
    )
    chart = vega.layer(points, labels)
    numbers = ((label, *map(whole_percent, pair)) for label, *pair in ranks)
    return figure_of(
        titled(chart, title, subtitle, (90, 105), width=460, height=vega.Step(28)),
        label=text("How sure attacker and learner are of the likeliest values of the victim"),
        caption=text(
            "Further apart: more is revealed. Each is ranked by itself: the likeliest value of one may be "
            "another than that of the other. Which values they are is not shown."
        ),
        table=cell_table(text("Value, the likeliest first"), who, numbers),
    )
