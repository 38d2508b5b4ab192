"""What an anonymised table tells about a person beyond the population, as a page: sentences, pictures, exact figures.

Of one victim a page holds neither what is known nor what is believed of single values: only how sure attacker and
learner are of the likeliest, in whole per cent.
"""

from __future__ import annotations

from glasshouse.groups import Measures
from glasshouse.language import number, text, text_for
from glasshouse.report.glossary import glossary
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
from glasshouse.report.threat.findings import threat_findings
from glasshouse.report.threat.outcome import Threatened
from glasshouse.report.threat.tables import measures_section, sampling_section
from glasshouse.report.threat.words import (
    known_of,
    learner_name,
    method_label,
    secret_of,
)
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import enumeration, indefinite
from glasshouse.study import parse_condition

__all__ = ["Threatened", "threat_findings", "threat_page"]

METHOD = "Boreale, Corradi and Viscardi 2020, “Relative Privacy Threats and Learning From Anonymized Data” (IEEE TIFS)"


def threat_page(outcome: Threatened, *, provenance: Provenance) -> Page:
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
            person=indefinite(outcome.study.subject),
        ),
        lead=_lead(outcome),
        findings=threat_findings(outcome),
        figures=_figures(outcome),
        sections=tuple(section for section in sections if section is not None),
        adversary=_adversary(outcome),
        limits=_limits(outcome),
        provenance=provenance,
        command="glasshouse threat --study study.toml",
        method=METHOD,
        glossary=(*_terms(outcome), *_words(outcome)),
    )


def _lead(outcome: Threatened) -> str:
    records = text_for(outcome.release.records, "{count} record", "{count} records")
    groups = text_for(outcome.groups, "{count} group", "{count} groups")
    if not outcome.study.known:
        return text("{records} in {groups}", records=records, groups=groups)
    return text(
        "{records} in {groups}, and a victim of whom this is known: {known}. This report is personal data.",
        records=records,
        groups=groups,
        known=_known_of_victim(outcome),
    )


def _known_of_victim(outcome: Threatened) -> str:
    return enumeration([parse_condition(each).column for each in outcome.study.known])


def _figures(outcome: Threatened) -> tuple[Figure, ...]:
    if outcome.study.known:
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


def _beliefs_figure(outcome: Threatened) -> Figure:
    learner = learner_name(outcome.study)
    return Figure.of(
        beliefs(outcome.knowledge, learner),
        label=text("How sure attacker and learner are of the likeliest values of the victim"),
        caption=text(
            "Further apart: more is told. Each is ranked by itself: the likeliest value of one may be another than "
            "that of the other. Which values they are is not told."
        ),
        table=beliefs_table(outcome.knowledge, learner),
    )


def _release(outcome: Threatened) -> Section:
    release = outcome.release
    rows = [
        (text("scheme"), _scheme(outcome)),
        (text("records in groups"), number(release.records)),
        (text("groups"), number(outcome.groups)),
        (text("suppressed records, which can be anybody’s"), number(outcome.study.suppressed)),
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


def _scheme(outcome: Threatened) -> str:
    if outcome.release.is_vertical:
        return text("vertical (values permuted within groups)")
    return text("horizontal (values generalised)")


def _adversary(outcome: Threatened) -> tuple[str, ...]:
    if outcome.study.known:
        knows = text(
            "The attacker knows that the person is in the table and, of this person, {known}. She knows the whole "
            "release and how it was made.",
            known=_known_of_victim(outcome),
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


def _limits(outcome: Threatened) -> tuple[str, ...]:
    limits = [
        *(_about_one_person() if outcome.study.known else ()),
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
    if outcome.study.suppressed:
        limits.append(
            text(
                "The sensitive values of suppressed records are published too: the attacker takes into account that "
                "anybody’s record may be among them."
            )
        )
    if outcome.measures is not None and outcome.study.known == ():
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


def _reading(outcome: Threatened) -> str:
    if outcome.study.reading == "5":
        return text("What the learner believes is the ratio of expectations, equation (5).")
    return text("What the learner believes is the expectation of the ratio, equation (6).")


def _terms(outcome: Threatened) -> tuple[Term, ...]:
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


def _words(outcome: Threatened) -> tuple[Term, ...]:
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
        *(["suppression"] if outcome.study.suppressed else []),
    )
