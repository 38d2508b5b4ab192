"""The report of an assessment, as a page: sentences, pictures, exact figures, and how to repeat them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.measures.attacks import (
    best_by_size,
    by_knowledge,
    by_window,
    growth,
    last_window,
    widest,
)
from glasshouse.measures.verdict import Verdict
from glasshouse.microdata import Assessment, Attack, Sweep
from glasshouse.microdata.attacks import Explanation
from glasshouse.microdata.influence import holds_all, shapley_values
from glasshouse.microdata.leakage import value_text
from glasshouse.microdata.memorisation import SyntheticRelease
from glasshouse.microdata.parts import Family
from glasshouse.microdata.people import People
from glasshouse.report.assess.adversaries import (
    adversaries_section,
    figures_table,
    placing_table,
    sources_section,
)
from glasshouse.report.assess.charts import (
    before_and_after_figure,
    class_sizes_figure,
    class_sizes_section,
    growing_figure,
    influence_figure,
    influence_section,
    people_figure,
    success_section,
)
from glasshouse.report.assess.closeness import TERMS as CLOSE_TERMS
from glasshouse.report.assess.closeness import (
    closeness_figure,
    closeness_section,
    closeness_tables,
)
from glasshouse.report.assess.column_noise import noise_finding
from glasshouse.report.assess.exposure import exposure_figure
from glasshouse.report.assess.family import family_brief, family_page, part_noun, with_labels
from glasshouse.report.assess.findings import findings, most_at_risk, naming_sentence
from glasshouse.report.assess.front import actions, band_figure, tiles
from glasshouse.report.assess.households import household_finding
from glasshouse.report.assess.knowledge import TERMS as KNOWLEDGE_TERMS
from glasshouse.report.assess.knowledge import (
    knowledge_figure,
    knowledge_findings,
    knowledge_section,
    knowledge_tables,
)
from glasshouse.report.assess.people import people_brief, people_page
from glasshouse.report.assess.sets import pairs_figure, publishable_figure
from glasshouse.report.assess.special_uniques import (
    uniques_finding,
    uniques_section,
    uniques_tables,
)
from glasshouse.report.assess.synthetic import synthetic_brief, synthetic_page
from glasshouse.report.attacks import METHOD, stage_labels, subsets_sentence, target_label
from glasshouse.report.cells import (
    NOTHING,
    bar,
    bound_cell,
    cell_table,
    certain_cell,
    gain_change,
    gain_titles,
    group_table,
    guess_titles,
    leakage_cells,
)
from glasshouse.report.discretion import none_is_few
from glasshouse.report.glossary import glossary
from glasshouse.report.labels import column_label, column_labels, value_label
from glasshouse.report.page import (
    Brief,
    Cell,
    Column,
    Finding,
    Group,
    Page,
    Provenance,
    Section,
    Table,
)
from glasshouse.report.provenance import missing_notes, treatment_blocks, treatment_section
from glasshouse.report.severity import SMALL_CLASS
from glasshouse.report.survey_weights import (
    WEIGHT_TERMS,
    few_people_table,
    weighted_finding,
    weights_section,
)
from glasshouse.report.words import (
    capitalised,
    enumeration,
    listed,
    sentences,
    short_names,
    singular,
    times,
    together,
)
from glasshouse.study.assess import AssessStudy, Key
from glasshouse.study.policy import OPEN_DATA
from glasshouse.table.treatment import SUPPRESSED_RECORD

MOST_SETS_IN_FULL, MOST_SETS_ON_TERMINAL = 6, 3
"""With more sets of quasi-identifiers than this, the table shows the best one of each size."""
LEGEND = marked("░ before, █ after: the share of records for which one guess is right")
TERMS = {
    marked("Known for certain"): marked(
        "Records whose secret the adversary infers with probability 1: alone in their class, or in a class where all "
        "share one value; in brackets, the probability that the person’s record is one of them."
    ),
    marked("Guess before, guess after"): marked(
        "The probability that her best single guess is right (prior and posterior Bayes vulnerability). On "
        "screen, hover over a figure for the exact ratio."
    ),
    marked("Added, factor"): marked(
        "Posterior minus prior, and posterior divided by prior: additive and multiplicative leakage."
    ),
}
"""The headings of every table, explained."""
WORST_CASE = {
    marked("Worst case"): marked(
        "No adversary with non-negative gains, whatever she believed before and whatever a guess is worth to her, "
        "multiplies her success by more than this (multiplicative Bayes capacity)."
    )
}
GAINS = {
    marked("Gain before, gain after"): marked(
        "What she can expect to gain from one person: the chance that one of several tries is right, or the "
        "worth to her of getting a value right, as the study says. (What each value is worth is in the run’s "
        "study.toml, not here.)"
    )
}
GROWING = {
    marked("Datasets so far"): marked(
        "The records are those of the first dataset. Each further one adds what she knows about the same "
        "people there, and whether they are in it at all."
    )
}
ADVERSARY = (
    marked(
        "The adversary knows that the person’s record is in the release, and knows that person’s quasi-identifiers "
        "exactly: {known}."
    ),
    marked(
        "The adversary has the whole release and knows how it was made; to begin with, any record may be the person’s."
    ),
)
"""What the adversary is assumed to know."""
LIMITS = (
    marked(
        "Every figure is computed from counts (or weights) in this release, exactly unless something else is said; "
        "none is an estimate, and none is about people who are not in it."
    ),
    marked(
        "An adversary who knows less cannot learn more; one who knows something else might. Errors in the "
        "data, or in what is known, make guesses right less often."
    ),
    marked(
        "Before the attack every record is as likely as any other to be the person’s, unless the study gives prior "
        "weights or says what the adversary believes."
    ),
)
"""What must be known to judge the figures."""
ESTIMATED = marked(
    "What survey weights say about the population behind the sample is an estimate, shown beside the "
    "other figures."
)
"""What holds of a sample with survey weights."""
ONE_EACH = marked(
    "One record per person is assumed: the records of somebody who has several hide each other, so that the risk seems "
    "smaller than it is. --id COLUMN says which column tells people apart."
)
"""What is assumed where the study names no identifier."""
ROUNDED = marked(
    "Some figures are rounded in the last digits of a double: as exact ratios they would be too long."
)


Outcome = Assessment | Family | People | SyntheticRelease
"""What comes of an assessment: of a release as a whole, of its parts, of people with several records, or of synthetic
ones."""


def page(
    outcome: Outcome,
    question: AssessStudy,
    *,
    provenance: Provenance,
    verdict: Verdict | None = None,
) -> Page:
    """Return the report of an assessment: of a release as a whole, or of its parts side by side."""
    report = _report(outcome, question, provenance, verdict)
    if question.adversary.identifier is not None or question.person or question.trained_on:
        return report
    return replace(report, limits=(*report.limits, translated(ONE_EACH)))


def _report(
    outcome: Outcome, question: AssessStudy, provenance: Provenance, verdict: Verdict | None
) -> Page:
    if isinstance(outcome, People):
        return people_page(outcome, question, provenance=provenance)
    if isinstance(outcome, SyntheticRelease):
        return synthetic_page(outcome, provenance=provenance)
    if isinstance(outcome, Family):
        part = part_noun(outcome)
        return family_page(
            with_labels(outcome),
            subject=question.subject,
            provenance=provenance,
            part=part,
            study=question,
        )
    gain = question.adversary.gain
    return assessment_page(
        outcome,
        subject=question.subject,
        provenance=provenance,
        sweep=outcome.sweep,
        notes=[*_notes(outcome, question), *filter(None, [subsets_sentence(outcome, question)])],
        currency=gain.currency,
        tries=gain.tries,
        study=question,
        verdict=verdict,
    )


def brief(
    outcome: Outcome,
    question: AssessStudy,
    *,
    verdict: Verdict | None = None,  # noqa: ARG001 - as every brief
) -> Brief:
    """Return what a terminal says of an assessment."""
    if isinstance(outcome, People):
        return people_brief(outcome, question)
    if isinstance(outcome, SyntheticRelease):
        return synthetic_brief(outcome)
    if isinstance(outcome, Family):
        return family_brief(with_labels(outcome), subject=question.subject)
    gain = question.adversary.gain
    records = text_for(
        outcome.records,
        "{datasets}: {count} record",
        "{datasets}: {count} records",
        datasets=", ".join(outcome.attacks[-1].datasets),
    )
    tables = [
        table for explanation in outcome.explanations for table in _explanation_tables(explanation)
    ]
    if outcome.known_sets:
        title = text("The adversaries, the worst first")
        figures = replace(figures_table(outcome, question, short=True), title=title)
        tables += [placing_table(question.adversaries), figures]
    tables += _terminal_tables(outcome, gain.currency)
    tables += closeness_tables(outcome.close, short=True)
    tables += knowledge_tables(outcome, short=True)
    if outcome.sweep is not None and holds_all(outcome.sweep):
        tables.append(_shapley_table(outcome.sweep))
    legend = [] if any(attack.gain for attack in outcome.attacks) else [translated(LEGEND)]
    if outcome.weighted is not None and any(outcome.weighted.few):
        title = text("The people behind the sample, by survey weights")
        tables.append(replace(few_people_table(outcome.weighted), title=title))
    if outcome.special is not None:
        tables += uniques_tables(outcome.special)
    return Brief(
        (records, *treatment_blocks(outcome.steps, _notes(outcome, question)), *tables, *legend),
        (
            *findings(outcome, subject=question.subject, currency=gain.currency, tries=gain.tries),
            *_further_findings(outcome, question.subject, question),
        ),
    )


def _further_findings(
    assessment: Assessment, subject: str, study: AssessStudy | None
) -> tuple[Finding, ...]:
    """Say what survey weights, households and special uniques tell, where the study asks for them."""
    further = []
    if assessment.weighted is not None:
        is_released = study is None or study.weight not in study.drop
        further.append(weighted_finding(assessment.weighted, subject, is_released=is_released))
    if assessment.households is not None:
        further.append(household_finding(assessment.households))
    if assessment.special is not None:
        further.append(uniques_finding(assessment.special))
    further += [noise_finding(one, subject) for one in assessment.noise]
    return tuple(further)


def _notes(outcome: Assessment, question: AssessStudy) -> list[str]:
    """Return in sentences what a reader must know of the datasets and of how the figures were made."""
    notes = [
        text_for(
            member.linked,
            "{count} of the {records} people is also in {dataset}.",
            "{count} of the {records} people are also in {dataset}.",
            records=outcome.records,
            dataset=member.name,
        )
        if none_is_few([member.linked, outcome.records - member.linked])
        else text(
            "Of the {records} people, fewer than {smallest} are also in {dataset}, or fewer than {smallest} are "
            "not: which of the two, and how many, is not shown.",
            records=outcome.records,
            dataset=member.name,
        )
        for member in outcome.members[1:]
    ]
    notes += sentences(
        bool(question.links)
        and marked(
            "Records were linked by {keys}; which of them belong to the same person is part of what she does not "
            "know. Somebody is absent only if no record can be theirs; whoever changes a value takes any other "
            "alike. An empty key agrees with nothing. Classes are possible observations, and how many look alike "
            "is shown for the first dataset alone."
        ),
        keys=", ".join(map(_key_label, question.links)),
    )
    notes += sentences(
        question.missing_as == "matches"
        and marked(
            "A missing value of what can be known, or “*”, matches every value, in the record of a person and in the "
            "others. Who looks alike is counted for each record, and she takes all that match for as likely."
        ),
        question.missing_as == "apart"
        and marked(
            "Records that lack a value of what can be known were left apart: the figures are about the others only."
        ),
    )
    if outcome.suppressed and any(step.what == SUPPRESSED_RECORD for step in outcome.steps):
        notes.append(
            text_for(
                outcome.suppressed,
                "{count} record is suppressed: all its quasi-identifiers are “*”. It is left out of every figure; "
                "the verdict also counts it as a class of its own.",
                "{count} records are suppressed: all their quasi-identifiers are “*”. They are left out of every "
                "figure; the verdict also counts them as a class of their own.",
            )
        )
    elif outcome.suppressed:
        notes.append(
            text_for(
                outcome.suppressed,
                "{count} record is suppressed: all its quasi-identifiers are “*”. With all quasi-identifiers it is a "
                "class of its own, which is counted among the classes.",
                "{count} records are suppressed: all their quasi-identifiers are “*”. With all quasi-identifiers "
                "they are one class, which is counted among the classes.",
            )
        )
    notes += missing_notes(outcome.missing)
    if outcome.inexact is not None and outcome.inexact.skipped:
        notes.append(
            text_for(
                outcome.inexact.skipped,
                "With inexact knowledge, one smaller set of columns was left out, as it would have taken long; "
                "--subsets asks for the sets you need.",
                "With inexact knowledge, {count} smaller sets of columns were left out, as they would have taken "
                "long; --subsets asks for the sets you need.",
            )
        )
    return [*notes, *sentences(not outcome.exact and ROUNDED)]


def _key_label(key: Key) -> str:
    """Say a linking key and how well it persists."""
    words = {
        "name": column_label(key.name),
        "shift": number(key.shift),
        "chance": number(key.persists, "g"),
    }
    if key.shift and key.persists < 1:
        return text(
            "{name} (which grows by {shift}, and is kept with probability {chance})", **words
        )
    if key.shift:
        return text("{name} (which grows by {shift})", **words)
    return (
        words["name"]
        if key.persists == 1
        else text("{name} (kept with probability {chance})", **words)
    )


def assessment_page(
    assessment: Assessment,
    *,
    subject: str,
    provenance: Provenance,
    sweep: Sweep | None = None,
    notes: Sequence[str] = (),
    currency: str | None = None,
    tries: int | None = None,
    study: AssessStudy | None = None,
    verdict: Verdict | None = None,
) -> Page:
    """Return the report of an assessment as a page.

    Of a growing collection, the figures are those with all datasets; how they came to be is a section of its own.

    Args:
        assessment: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        sweep: The sums of every subset, where there are such, from which the influence of each attribute follows.
        notes: What else was done to the data, in plain sentences.
        currency: What gains are counted in; None: they are plain numbers.
        tries: How many guesses she has, where a gain is that one of them is right.
        study: What was asked; None: it is judged as open data, and no command is told.
        verdict: What the policy says; None: nothing is known of it.
    """
    policy = OPEN_DATA if study is None else study.policy
    measures = _Measures.of(assessment.attacks, currency)
    attacks = widest(assessment.attacks)
    secrets = sorted(attacks[1:], key=most_at_risk)
    growing = len(by_window(assessment.attacks)) > 1
    sections = (
        adversaries_section(assessment, study),
        _figures_section(assessment, measures),
        closeness_section(assessment),
        knowledge_section(assessment),
        _growth_section(assessment, measures),
        None if sweep is None else influence_section(sweep),
        class_sizes_section(assessment),
        success_section(attacks),
        None if assessment.weighted is None else weights_section(assessment.weighted),
        None if assessment.special is None else uniques_section(assessment.special),
        sources_section(assessment, study),
        treatment_section(assessment.steps, notes),
    )
    front = growing_figure(assessment) or band_figure(assessment, policy)
    suppressed = 0 if assessment.with_suppressed is None else assessment.suppressed
    pictures = {
        "people": people_figure(assessment),
        "who": exposure_figure(assessment, subject),
        "inference": before_and_after_figure([attacks[0], *secrets]) if secrets else None,
        "close": closeness_figure(assessment),
        "about": knowledge_figure(assessment),
        "sets": pairs_figure(assessment),
        "classes": class_sizes_figure(attacks[0], policy, suppressed),
        "influence": None if sweep is None else influence_figure(sweep),
    }
    limits = (one.limit for one in policy.conditions if one.measure == "smallest-class")
    conclusions = findings(
        assessment,
        subject=subject,
        currency=currency,
        tries=tries,
        sweep=sweep,
        pictures=pictures,
        smallest=max(SMALL_CLASS, *map(int, limits), 0),
    )
    conclusions += _further_findings(assessment, subject, study)
    placed = [finding.picture for finding in conclusions]
    figures = (
        publishable_figure(assessment),
        *(figure for figure in pictures.values() if not any(figure is one for one in placed)),
    )
    title, lead = _heading(assessment)
    return Page(
        title=title,
        lead=lead,
        findings=conclusions,
        summary=naming_sentence(attacks[0], subject, short=True)
        if assessment.inexact is None
        else knowledge_findings(assessment, subject)[0].sentence,
        tiles=tiles(assessment, subject=subject),
        actions=actions(
            assessment,
            study,
            verdict=verdict,
            swept=sweep is not None
            and len(attacks[0].quasi_identifiers) == len(sweep.quasi_identifiers),
        ),
        front=front,
        figures=tuple(filter(None, figures)),
        sections=tuple(filter(None, sections)),
        adversary=sentences(*ADVERSARY, known=enumeration(attacks[0].quasi_identifiers)),
        limits=sentences(*LIMITS, assessment.weighted is not None and ESTIMATED),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method=METHOD,
        glossary=glossary(
            "adversary, quasi-identifier, sensitive attribute, class, vulnerability, leakage",
            "re-identification, attribute inference",
            measures.capacity and "capacity",
            measures.gain and "gain function",
            sweep is not None and "Shapley value",
            terms=(
                TERMS,
                measures.capacity and WORST_CASE,
                measures.gain and GAINS,
                bool(assessment.close) and CLOSE_TERMS,
                assessment.inexact is not None and assessment.inexact.errs and KNOWLEDGE_TERMS,
                growing and GROWING,
                assessment.weighted is not None and WEIGHT_TERMS,
            ),
        ),
    )


def _heading(assessment: Assessment) -> tuple[str, str]:
    """Return what the page is called, and what stands below."""
    datasets = last_window(assessment.attacks)[0].datasets
    if len(datasets) == 1:
        title = text("What {dataset} lets an adversary learn", dataset=datasets[0])
        return title, text_for(assessment.records, "{count} record", "{count} records")
    lead = text(
        "{records} records of {first}, and what the others say about the same people",
        records=assessment.records,
        first=datasets[0],
    )
    return text("What {datasets} let an adversary learn", datasets=listed(datasets)), lead


@dataclass(frozen=True)
class _Measures:
    """Which measures of an attack the tables show, and how."""

    gain: bool
    """Whether there is a gain, which has a table of its own."""
    currency: str | None
    """What it is counted in."""
    capacity: bool
    """Whether there is a capacity."""

    @classmethod
    def of(cls, attacks: Sequence[Attack], currency: str | None) -> _Measures:
        """Return the measures that some attack has."""
        return cls(
            gain=any(attack.gain is not None for attack in attacks),
            currency=currency,
            capacity=any(attack.capacity is not None for attack in attacks),
        )

    def tables(self, first: str, blocks: Sequence[_Block]) -> tuple[Table, ...]:
        """Return a table of guesses and, where there are gains, one of these.

        Args:
            first: The title of the column that says what a row is about.
            blocks: What is shown, from top to bottom.
        """
        titles = [text("Known for certain"), *guess_titles(), *[text("Worst case")] * self.capacity]
        guesses = group_table(first, titles, [block.group(self._guess) for block in blocks])
        if not self.gain:
            return (guesses,)
        groups = [block.group(self._gain) for block in blocks]
        gaining = [group for group in groups if group.rows]
        return guesses, group_table(first, gain_titles(), gaining, text("What she gains"))

    def _guess(self, attack: Attack) -> tuple[Cell, ...]:
        worst = [bound_cell(attack.capacity)] * self.capacity
        return (certain_cell(attack), *leakage_cells(attack.probabilistic), *worst)

    def _gain(self, attack: Attack) -> tuple[Cell, ...]:
        return leakage_cells(attack.gain, currency=self.currency) if attack.gain is not None else ()


@dataclass(frozen=True)
class _Block:
    """Attacks that a table shows together."""

    title: str
    """What they have in common."""
    note: str
    """A remark beside it."""
    rows: tuple[tuple[str, Attack], ...]
    """Each attack, and what its row is about."""

    def group(self, measured: Callable[[Attack], tuple[Cell, ...]]) -> Group:
        """Return the block as rows of a table, without those that have no such measure."""
        rows = tuple(
            (Cell(label, mark=attack.code), *cells)
            for label, attack in self.rows
            if (cells := measured(attack))
        )
        return Group(rows, title=self.title, note=self.note)


def _figures_section(assessment: Assessment, measures: _Measures) -> Section:
    """Return the attacks with all datasets: each set of quasi-identifiers, or the best one of each size."""
    attacks = last_window(assessment.attacks)
    by_set = by_knowledge(attacks)
    intro = sentences(
        len(by_window(assessment.attacks)) > 1 and marked("With {datasets}."),
        len(by_set) > MOST_SETS_IN_FULL
        and marked(
            "Of {sets} sets of quasi-identifiers, the one of each size with which she does best."
        ),
        datasets=together(short_names(attacks[0].datasets)),
        sets=len(by_set),
    )
    if len(by_set) > MOST_SETS_IN_FULL:
        note = text("the best set of each size")
        blocks = [
            _Block(label, note, tuple((_known(attack), attack) for attack in best))
            for label, best in _by_target(best_by_size(attacks)).items()
        ]
    else:
        blocks = [
            _Block(
                text("She knows {known}", known=enumeration(same[0].quasi_identifiers)),
                ", ".join(_classes_and_uniques(same[0])),
                tuple((target_label(attack.secret), attack) for attack in same),
            )
            for same in by_set
        ]
    tables = measures.tables(text("Attack"), blocks)
    return Section(text("The attacks"), intro=" ".join(intro), tables=tables)


def _classes_and_uniques(attack: Attack) -> tuple[str, str]:
    """Say into how many classes the records fall, and how many are alone."""
    return (
        text_for(attack.classes, "{count} class", "{count} classes"),
        text_for(attack.uniques, "{count} unique record", "{count} unique records"),
    )


def _known(attack: Attack) -> str:
    return column_labels(attack.quasi_identifiers)


def _growth_section(assessment: Assessment, measures: _Measures) -> Section | None:
    """Return, per target, the largest set of quasi-identifiers with one dataset, with two, and so on."""
    stages = growth(assessment.attacks)
    if len(stages) == 1:
        return None
    labels = dict(zip((stage[0].datasets for stage in stages), stage_labels(stages), strict=True))
    blocks = [
        _Block(
            target,
            text("she knows {known}", known=enumeration(same[-1].quasi_identifiers)),
            tuple((labels[attack.datasets], attack) for attack in same),
        )
        for target, same in _by_target([attack for stage in stages for attack in stage]).items()
    ]
    return Section(
        text("How it grows with each dataset"),
        intro=text("Each row adds one dataset to those above it."),
        tables=measures.tables(text("Datasets so far"), blocks),
    )


def _by_target(attacks: Sequence[Attack]) -> dict[str, list[Attack]]:
    """Return the attacks by what they try, said as a title."""
    targets: dict[str, list[Attack]] = {}
    for attack in attacks:
        targets.setdefault(capitalised(target_label(attack.secret)), []).append(attack)
    return targets


# The tables of the terminal


def _terminal_tables(assessment: Assessment, currency: str | None) -> list[Table]:
    """Return a table per set of quasi-identifiers; where they are many, a table of the best of each size per target.

    Of a longitudinal collection they are those of all its datasets, after a table of how it grows.
    """
    stages, last = growth(assessment.attacks), last_window(assessment.attacks)
    tables = [_windows_table(stages)] if len(stages) > 1 else []
    by_set = by_knowledge(last)
    if len(by_set) <= MOST_SETS_ON_TERMINAL:
        for same in by_set:
            classes, uniques = _classes_and_uniques(same[0])
            title = text(
                "She knows {known}: {classes}, {uniques}",
                known=enumeration(same[0].quasi_identifiers),
                classes=classes,
                uniques=uniques,
            )
            rows = [(target_label(attack.secret), attack) for attack in same]
            tables.append(_measured_table(title, text("attack"), rows, currency))
        return tables
    for label, same in _by_target(best_by_size(last)).items():
        title = text("{label}: the best set of each size", label=label)
        rows = [(_known(attack), attack) for attack in same]
        tables.append(_measured_table(title, text("she knows"), rows, currency))
    return tables


def _explanation_tables(explanation: Explanation) -> Iterator[Table]:
    """Yield the steps of an attack, from co-occurrences to the hyper, as fractions."""
    steps = explanation.to_dict()
    counts, observed = explanation.counts, explanation.observed
    secrets = [value_text(value_label(explanation.secret, value)) for value in counts.secrets]
    observations = [value_text(value_label(observed, value)) for value in counts.observations]

    def rows(name: str) -> list[tuple[str, ...]]:
        return [(secret, *cells) for secret, cells in zip(secrets, steps[name], strict=True)]

    channel = [
        (secret, prior, *cells)
        for prior, (secret, *cells) in zip(steps["prior"], rows("channel"), strict=True)
    ]
    hyper = [(text("outer"), *steps["outer"]), *rows("inner")]
    for step, titles, cells in (
        (text("co-occurrence of secret and observation"), observations, rows("co_occurrence")),
        (text("joint distribution"), observations, rows("joint")),
        (text("prior and channel"), [text("prior"), *observations], channel),
        (text("hyper: the outer probabilities, and a posterior below each"), observations, hyper),
    ):
        title = text(
            "{attack}, {title}; observed: {observed}",
            attack=capitalised(target_label(explanation.secret)),
            title=step,
            observed=column_labels(explanation.observed),
        )
        yield cell_table(_secret_title(explanation), titles, cells, title)


def _secret_title(explanation: Explanation) -> str:
    return "+".join(map(column_label, explanation.secret)) or singular("person")


def _windows_table(stages: Sequence[Sequence[Attack]]) -> Table:
    """Return how success grows as datasets are added, with the same set of quasi-identifiers."""
    rows = [
        (
            label if place == 0 else "",
            target_label(attack.secret),
            *_measured(attack),
        )
        for label, stage in zip(stage_labels(stages), stages, strict=True)
        for place, attack in enumerate(stage)
    ]
    title = text(
        "As datasets are added: she knows {known}",
        known=enumeration(stages[-1][0].quasi_identifiers),
    )
    return cell_table((text("she has"), text("attack")), _measure_titles(), rows, title)


def _shapley_table(sweep: Sweep) -> Table:
    """Return each attribute's fair share of the leakage, in points of success, per target."""
    shares = {(v.quasi_identifier, v.sensitive): v.value for v in shapley_values(sweep).values}
    targets = (None, *sweep.sensitive)
    return cell_table(
        text("attribute"),
        [target_label(() if target is None else (target,)) for target in targets],
        [
            (
                column_label(name),
                *(number(100 * float(shares[name, target]), ".1f") for target in targets),
            )
            for name in sweep.quasi_identifiers
        ],
        text("What each column contributes (Shapley value, in points of success)"),
    )


def _measured_table(
    title: str, first: str, attacks: Sequence[tuple[str, Attack]], currency: str | None
) -> Table:
    """Return the measures of attacks, and either what they gain or a bar."""
    with_gain = any(attack.gain for _, attack in attacks)
    rows = [
        (
            label,
            *_measured(attack),
            gain_change(attack.gain, currency) if with_gain else bar(attack.probabilistic),
        )
        for label, attack in attacks
    ]
    last = Column(text("gain"), numeric=True) if with_gain else Column("")
    return cell_table(first, (*_measure_titles(), last), rows, title)


def _measure_titles() -> tuple[str, str, str]:
    """Return the titles of what `_measured` gives."""
    return text("certain"), text("one guess right"), text("factor")


def _measured(attack: Attack) -> tuple[str, str, str]:
    guess, factor = attack.probabilistic, attack.probabilistic.multiplicative
    return (
        certain_cell(attack).text,
        f"{percentage(guess.prior)} → {percentage(guess.posterior)}",
        NOTHING.text if factor is None else times(factor, short=True),
    )
