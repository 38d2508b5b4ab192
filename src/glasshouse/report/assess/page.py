"""The report of an assessment, as a page: sentences, pictures, exact figures, and how to repeat them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from glasshouse.language import marked, number, text, text_for, translated
from glasshouse.microdata import Assessment, Attack, Sweep
from glasshouse.microdata.assessment import Explanation
from glasshouse.microdata.influence import shapley_values
from glasshouse.microdata.parts import Family
from glasshouse.report.assess.charts import (
    before_and_after,
    before_and_after_table,
    class_sizes_figure,
    class_sizes_table,
    every_subset,
    every_subset_table,
    growing,
    growing_table,
    influence_figure,
    influence_section,
    success_figure,
)
from glasshouse.report.assess.family import family_brief, family_page, part_noun
from glasshouse.report.assess.findings import findings
from glasshouse.report.attacks import (
    METHOD,
    attack_label,
    best_by_size,
    by_knowledge,
    by_window,
    growth,
    last_window,
    stage_labels,
    target_label,
    widest,
)
from glasshouse.report.cells import (
    NOTHING,
    bar,
    bound_cell,
    gain_change,
    gain_titles,
    guess_titles,
    leakage_cells,
    text_table,
    three_digits,
)
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
from glasshouse.report.words import glossary, listed, percentage, short_names, singular, together
from glasshouse.study.assess import AssessStudy, Key
from glasshouse.table.treatment import Step

MOST_SETS_IN_FULL, MOST_SETS_ON_TERMINAL = 6, 3
"""With more sets of quasi-identifiers than this, the table shows the best one of each size."""
LEGEND = marked("░ before, █ after: the share of records for which one guess is right")


def page(outcome: Assessment | Family, question: AssessStudy, *, provenance: Provenance) -> Page:
    """Return the report of an assessment: of a release as a whole, or of its parts side by side."""
    if isinstance(outcome, Family):
        return family_page(
            outcome,
            subject=question.subject,
            provenance=provenance,
            treatment=outcome.steps,
            part=part_noun(outcome),
        )
    gain = question.adversary.gain
    return assessment_page(
        outcome,
        subject=question.subject,
        provenance=provenance,
        sweep=outcome.sweep,
        treatment=outcome.steps,
        notes=_notes(outcome, question),
        currency=gain.currency,
        tries=gain.tries,
    )


def brief(outcome: Assessment | Family, question: AssessStudy) -> Brief:
    """Return what a terminal says of an assessment."""
    if isinstance(outcome, Family):
        return family_brief(outcome, subject=question.subject)
    gain = question.adversary.gain
    records = text_for(
        outcome.records,
        "{datasets}: {count} record",
        "{datasets}: {count} records",
        datasets=", ".join(outcome.attacks[-1].datasets),
    )
    tables = [
        table for explanation in outcome.explanations for table in explanation_tables(explanation)
    ]
    tables += assessment_tables(outcome, currency=gain.currency)
    if outcome.sweep is not None and question.subsets == ("all",):
        tables.append(_shapley_table(outcome.sweep))
    legend = [] if any(attack.gain for attack in outcome.attacks) else [translated(LEGEND)]
    return Brief(
        (records, *treatment_blocks(outcome.steps, _notes(outcome, question)), *tables, *legend),
        findings(outcome, subject=question.subject, currency=gain.currency, tries=gain.tries),
    )


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
        for member in outcome.members[1:]
    ]
    if question.links:
        notes.append(
            text(
                "Records were linked by {keys}; which of them are one person’s is part of what she does not know. "
                "Somebody is absent only if no record can be theirs; whoever changes a value takes any other "
                "alike. Classes are possible observations, and how many look alike is told of the first dataset "
                "alone.",
                keys=", ".join(map(_key_label, question.links)),
            )
        )
    if outcome.suppressed:
        notes.append(
            text_for(
                outcome.suppressed,
                "{count} record is suppressed: every quasi-identifier of it is “*”. With all quasi-identifiers it "
                "is a class of its own, which is counted among the classes.",
                "{count} records are suppressed: every quasi-identifier of theirs is “*”. With all "
                "quasi-identifiers they are one class, which is counted among the classes.",
            )
        )
    if not outcome.exact:
        notes.append(
            text(
                "Some figures are rounded in the last digits of a double: as exact ratios they would be too long."
            )
        )
    return notes


def _key_label(key: Key) -> str:
    """Say a linking key and how well it persists."""
    parts = {"name": key.name, "shift": number(key.shift), "chance": number(key.persists, "g")}
    if key.shift and key.persists < 1:
        return text(
            "{name} (which grows by {shift}, and is kept with probability {chance})", **parts
        )
    if key.shift:
        return text("{name} (which grows by {shift})", name=key.name, shift=parts["shift"])
    if key.persists < 1:
        return text(
            "{name} (kept with probability {chance})", name=key.name, chance=parts["chance"]
        )
    return key.name


def assessment_page(
    assessment: Assessment,
    *,
    subject: str,
    provenance: Provenance,
    sweep: Sweep | None = None,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
    currency: str | None = None,
    tries: int | None = None,
) -> Page:
    """Return the report of an assessment as a page.

    Of a growing collection, the figures are those with all datasets; how they came to be is a section of its own.

    Args:
        assessment: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        sweep: The sums of every subset, where there are such, from which the influence of each attribute follows.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
        currency: What gains are counted in; None: they are plain numbers.
        tries: How many guesses she has, where a gain is that one of them is right.
    """
    measures = _Measures.of(assessment.attacks, currency)
    datasets = last_window(assessment.attacks)[0].datasets
    sections = (
        _figures_section(assessment, measures),
        _growth_section(assessment, measures),
        None if sweep is None else influence_section(sweep),
        _class_sizes_section(assessment),
        treatment_section(treatment, notes),
    )
    return Page(
        title=_title(datasets),
        lead=_lead(assessment, datasets),
        findings=findings(assessment, subject=subject, currency=currency, tries=tries, sweep=sweep),
        figures=_figures(assessment, sweep),
        sections=tuple(section for section in sections if section is not None),
        adversary=_adversary(assessment),
        limits=_limits(),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method=METHOD,
        glossary=(
            *_terms(assessment, measures),
            *glossary(
                "adversary",
                "quasi-identifier",
                "sensitive attribute",
                "class",
                "vulnerability",
                "leakage",
                "re-identification",
                "attribute inference",
                *(["capacity"] if measures.capacity else []),
                *(["gain function"] if measures.gain else []),
                *(["Shapley value"] if sweep is not None else []),
            ),
        ),
    )


def _title(datasets: Sequence[str]) -> str:
    if len(datasets) == 1:
        return text("What {dataset} lets an adversary learn", dataset=datasets[0])
    return text("What {datasets} let an adversary learn", datasets=listed(datasets))


def _lead(assessment: Assessment, datasets: Sequence[str]) -> str:
    if len(datasets) == 1:
        return text_for(assessment.records, "{count} record", "{count} records")
    return text(
        "{records} records of {first}, and what the others say of the same people",
        records=assessment.records,
        first=datasets[0],
    )


def _figures(assessment: Assessment, sweep: Sweep | None) -> tuple[Figure, ...]:
    attacks = widest(assessment.attacks)
    further = (
        None if sweep is None else influence_figure(sweep),
        class_sizes_figure(attacks[0]),
        success_figure(attacks),
    )
    return (*_attack_figures(assessment), *(figure for figure in further if figure is not None))


def _attack_figures(assessment: Assessment) -> tuple[Figure, ...]:
    """Return the pictures of how well the attacks do: as datasets are added, with every set, and with the largest."""
    sets = _number_of_sets(assessment)
    figures = []
    if _is_growing(assessment):
        figures.append(
            Figure.of(
                growing(assessment),
                label=text("Success of each attack as datasets are added"),
                caption=text(
                    "Each step adds one more dataset about the people of the first. Solid: her best guess is right. "
                    "Dashed: she knows it for certain."
                ),
                table=growing_table(assessment),
            )
        )
    if sets > 1:
        figures.append(
            Figure.of(
                every_subset(assessment),
                label=text("Success of a guess with every set of quasi-identifiers"),
                caption=text(
                    "{sets} sets of quasi-identifiers; the exact figures of each are in results.parquet beside this "
                    "report.",
                    sets=sets,
                ),
                table=every_subset_table(assessment),
            )
        )
    figures.append(
        Figure.of(
            before_and_after(assessment),
            label=text("Success of each attack before and after"),
            caption=text(
                "“Before”: she knows the release, but nothing of the person. “After”: she also knows the person’s "
                "quasi-identifiers. The line between them is what the attack gives her."
            ),
            table=before_and_after_table(assessment),
        )
    )
    return tuple(figures)


def _is_growing(assessment: Assessment) -> bool:
    return len(by_window(assessment.attacks)) > 1


def _number_of_sets(assessment: Assessment) -> int:
    return len(by_knowledge(last_window(assessment.attacks)))


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
        titles = [
            text("Known for certain"),
            *guess_titles(),
            *[text("Worst case")] * self.capacity,
        ]
        guesses = _table("", first, titles, [block.group(self._guess) for block in blocks])
        if not self.gain:
            return (guesses,)
        gaining = [block.with_gain() for block in blocks]
        groups = [block.group(self._gain) for block in gaining if block.rows]
        return (guesses, _table(text("What she gains"), first, gain_titles(), groups))

    def _guess(self, attack: Attack) -> tuple[Cell, ...]:
        cells = (
            Cell(f"{number(attack.certain)} ({percentage(attack.deterministic.posterior)})"),
            *leakage_cells(attack.probabilistic),
        )
        return (*cells, bound_cell(attack.capacity)) if self.capacity else cells

    def _gain(self, attack: Attack) -> tuple[Cell, ...]:
        if attack.gain is None:
            return (NOTHING,) * 4
        return leakage_cells(attack.gain, currency=self.currency)


@dataclass(frozen=True)
class _Block:
    """Attacks that a table shows together."""

    title: str
    """What they have in common."""
    note: str
    """A remark beside it."""
    rows: tuple[tuple[str, Attack], ...]
    """Each attack, and what its row is about."""

    def with_gain(self) -> _Block:
        """Return the block with those attacks only that have a gain."""
        return replace(self, rows=tuple(row for row in self.rows if row[1].gain is not None))

    def group(self, measured: Callable[[Attack], tuple[Cell, ...]]) -> Group:
        """Return the block as rows of a table."""
        rows = tuple((Cell(label, mark=a.code), *measured(a)) for label, a in self.rows)
        return Group(rows, title=self.title, note=self.note)


def _table(title: str, first: str, measures: Sequence[str], groups: Sequence[Group]) -> Table:
    columns = (Column(first), *(Column(measure, numeric=True) for measure in measures))
    return Table(columns, tuple(groups), title=title)


def _figures_section(assessment: Assessment, measures: _Measures) -> Section:
    """Return the attacks with all datasets: each set of quasi-identifiers, or the best one of each size."""
    attacks = last_window(assessment.attacks)
    sets = _number_of_sets(assessment)
    intro = []
    if _is_growing(assessment):
        intro.append(text("With {datasets}.", datasets=together(short_names(attacks[0].datasets))))
    if sets > MOST_SETS_IN_FULL:
        intro.append(
            text(
                "Of {sets} sets of quasi-identifiers, the one of each size with which she does best.",
                sets=sets,
            )
        )
    blocks = _best_by_target(attacks) if sets > MOST_SETS_IN_FULL else _by_set(attacks)
    return Section(
        text("The attacks"),
        intro=" ".join(intro),
        tables=measures.tables(text("Attack"), blocks),
    )


def _by_set(attacks: Sequence[Attack]) -> list[_Block]:
    return [
        _Block(
            title=text("She knows {known}", known=", ".join(same[0].quasi_identifiers)),
            note=classes_and_uniques(same[0]),
            rows=tuple((attack_label(attack), attack) for attack in same),
        )
        for same in by_knowledge(attacks)
    ]


def classes_and_uniques(attack: Attack) -> str:
    """Say into how many classes the records fall, and how many are alone."""
    classes = text_for(attack.classes, "{count} class", "{count} classes")
    uniques = text_for(attack.uniques, "{count} unique record", "{count} unique records")
    return f"{classes}, {uniques}"


def _best_by_target(attacks: Sequence[Attack]) -> list[_Block]:
    return [
        _Block(
            title=label,
            note=text("the best set of each size"),
            rows=tuple((", ".join(attack.quasi_identifiers), attack) for attack in own),
        )
        for label, own in _by_target(best_by_size(attacks)).items()
    ]


def _growth_section(assessment: Assessment, measures: _Measures) -> Section | None:
    """Return, per target, the largest set of quasi-identifiers with one dataset, with two, and so on."""
    stages = growth(assessment.attacks)
    if len(stages) == 1:
        return None
    added = {
        stage[0].datasets: label for stage, label in zip(stages, stage_labels(stages), strict=True)
    }
    blocks = [
        _Block(
            title=label,
            note=text("she knows {known}", known=", ".join(own[-1].quasi_identifiers)),
            rows=tuple((added[attack.datasets], attack) for attack in own),
        )
        for label, own in _by_target([attack for stage in stages for attack in stage]).items()
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
        label = attack_label(attack)
        targets.setdefault(f"{label[:1].upper()}{label[1:]}", []).append(attack)
    return targets


def _class_sizes_section(assessment: Assessment) -> Section | None:
    """Return how many classes and records there are by class size, for the largest set assessed."""
    naming = widest(assessment.attacks)[0]
    if not any(naming.class_sizes.classes):
        return None
    one = _number_of_sets(assessment) == 1
    return Section(
        text("How many look alike"),
        intro="" if one else text("With the largest set of quasi-identifiers."),
        tables=(class_sizes_table(naming),),
    )


def _adversary(assessment: Assessment) -> tuple[str, ...]:
    known = text(
        "The adversary knows that the person’s record is in the release, and knows that person’s quasi-identifiers "
        "exactly: {known}.",
        known=", ".join(widest(assessment.attacks)[0].quasi_identifiers),
    )
    believed = text(
        "Before the attack she takes every record as equally likely to be the person’s, unless the study gives "
        "weights or says what she believes. She knows the whole release and how it was made."
    )
    return known, believed


def _limits() -> tuple[str, ...]:
    return (
        text(
            "No figure is an estimate: each is computed from counts (or from weights, where the study gives them) in "
            "this release, exactly unless something else is said. They say nothing of people who are not in it."
        ),
        text(
            "Who knows less than is assumed never learns more; who knows more attributes than these may. Where the "
            "data, or what she knows, is wrong, she is right less often than is said here."
        ),
    )


def _terms(assessment: Assessment, measures: _Measures) -> list[Term]:
    terms = [
        Term(
            text("Known for certain"),
            text(
                "Records whose secret the adversary infers with probability 1: alone in their class, or in a class "
                "where all share one value; in brackets, the probability that the person’s record is one of them."
            ),
        ),
        Term(
            text("Guess before, guess after"),
            text(
                "The probability that her best single guess is right (prior and posterior Bayes vulnerability). Hover "
                "over a figure for the exact ratio."
            ),
        ),
        Term(
            text("Added, factor"),
            text(
                "Posterior minus prior, and posterior divided by prior: additive and multiplicative leakage."
            ),
        ),
    ]
    if measures.capacity:
        terms.append(
            Term(
                text("Worst case"),
                text(
                    "No adversary with non-negative gains, whatever she believed before and whatever a guess is worth "
                    "to her, multiplies her success by more than this (multiplicative Bayes capacity)."
                ),
            )
        )
    if measures.gain:
        terms.append(
            Term(
                text("Gain before, gain after"),
                text(
                    "What she can expect to gain from one person: the chance that one of several tries is right, or "
                    "the worth to her of naming a value right, as the study says. (What each value is worth is in the "
                    "run’s study.toml, not here.)"
                ),
            )
        )
    if _is_growing(assessment):
        terms.append(
            Term(
                text("Datasets so far"),
                text(
                    "The records are those of the first dataset. Each further one adds what she knows of the same "
                    "people there, and whether they are in it at all."
                ),
            )
        )
    return terms


# The tables of the terminal


def assessment_tables(assessment: Assessment, *, currency: str | None = None) -> list[Table]:
    """Return a table per set of quasi-identifiers; where they are many, a table of the best of each size per target.

    Of a longitudinal collection they are those of all its datasets, after a table of how it grows.
    """
    stages, last = growth(assessment.attacks), last_window(assessment.attacks)
    tables = [_windows_table(stages)] if len(stages) > 1 else []
    groups = by_knowledge(last)
    if len(groups) <= MOST_SETS_ON_TERMINAL:
        return tables + [_attacks_table(attacks, currency) for attacks in groups]
    targets: dict[str, list[Attack]] = {}
    for attack in best_by_size(last):
        targets.setdefault(_code_and_label(attack), []).append(attack)
    return tables + [_best_table(label, attacks, currency) for label, attacks in targets.items()]


def explanation_tables(explanation: Explanation) -> Iterator[Table]:
    """Yield the steps of an attack, from co-occurrences to the hyper, as fractions."""
    steps = explanation.to_dict()
    secret = steps["sensitive"] or singular("person")
    observed = ", ".join(steps["quasi_identifiers"])
    for title, corner, first, rows in (
        (text("co-occurrence of secret and observation"), [], None, steps["co_occurrence"]),
        (text("joint distribution"), [], None, steps["joint"]),
        (text("prior and channel"), steps["prior"], None, steps["channel"]),
        (
            text("hyper: the outer probabilities, and a posterior below each"),
            [],
            steps["outer"],
            steps["inner"],
        ),
    ):
        titles = [*([text("prior")] if corner else []), *steps["observations"]]
        outer = [] if first is None else [(text("outer"), *first)]
        inner = [
            (value, *corner[place : place + 1], *cells)
            for place, (value, cells) in enumerate(zip(steps["secrets"], rows, strict=True))
        ]
        yield text_table(
            text(
                "{code}, {title}; observed: {observed}",
                code=explanation.code,
                title=title,
                observed=observed,
            ),
            secret,
            titles,
            [*outer, *inner],
        )


def _windows_table(stages: Sequence[Sequence[Attack]]) -> Table:
    """Return how success grows as datasets are added, with the same set of quasi-identifiers."""
    rows = [
        (label if place == 0 else "", _code_and_label(attack), *_measured(attack))
        for label, stage in zip(stage_labels(stages), stages, strict=True)
        for place, attack in enumerate(stage)
    ]
    title = text(
        "As datasets are added: she knows {known}",
        known=", ".join(stages[-1][0].quasi_identifiers),
    )
    columns = (Column(text("she has")), Column(text("attack")), *_measure_columns())
    return Table(columns, (Group(tuple(tuple(map(Cell, row)) for row in rows)),), title)


def _shapley_table(sweep: Sweep) -> Table:
    """Return each attribute's fair share of the leakage, in points of success, per target."""
    shares = {(v.quasi_identifier, v.sensitive): v.value for v in shapley_values(sweep).values}
    targets = (None, *sweep.sensitive)
    return text_table(
        text("What each attribute contributes (Shapley value, in points of success)"),
        text("attribute"),
        [target_label(() if target is None else (target,)) for target in targets],
        [
            (name, *(number(100 * float(shares[name, target]), ".2f") for target in targets))
            for name in sweep.quasi_identifiers
        ],
    )


def _attacks_table(attacks: Sequence[Attack], currency: str | None) -> Table:
    first = attacks[0]
    title = text(
        "She knows {known}: {classes}, {uniques}",
        known=", ".join(first.quasi_identifiers),
        classes=text_for(first.classes, "{count} class", "{count} classes"),
        uniques=text_for(first.uniques, "{count} unique record", "{count} unique records"),
    )
    return _measured_table(title, text("attack"), attacks, _code_and_label, currency)


def _best_table(label: str, attacks: Sequence[Attack], currency: str | None) -> Table:
    title = text("{label}: the best set of each size", label=label)
    return _measured_table(
        title,
        text("she knows"),
        attacks,
        lambda attack: ", ".join(attack.quasi_identifiers),
        currency,
    )


def _measured_table(
    title: str,
    first: str,
    attacks: Sequence[Attack],
    label: Callable[[Attack], str],
    currency: str | None,
) -> Table:
    """Return the measures of attacks, and either what they gain or a bar."""
    with_gain = any(attack.gain for attack in attacks)
    columns = (
        Column(first),
        *_measure_columns(),
        Column(text("gain") if with_gain else "", numeric=with_gain),
    )
    rows = tuple(
        tuple(
            map(
                Cell,
                (
                    label(attack),
                    *_measured(attack),
                    gain_change(attack.gain, currency) if with_gain else bar(attack.probabilistic),
                ),
            )
        )
        for attack in attacks
    )
    return Table(columns, (Group(rows),), title)


def _code_and_label(attack: Attack) -> str:
    return f"{attack.code} {attack_label(attack)}"


def _measure_columns() -> tuple[Column, ...]:
    """Return the columns of what `_measured` gives."""
    titles = (text("certain"), text("one guess right"), text("factor"))
    return tuple(Column(title, numeric=True) for title in titles)


def _measured(attack: Attack) -> tuple[str, str, str]:
    certain, guess = percentage(attack.deterministic.posterior), attack.probabilistic
    return (
        f"{number(attack.certain)} ({certain})",
        f"{three_digits(guess.prior)} → {three_digits(guess.posterior)}",
        _factor(guess.multiplicative),
    )


def _factor(factor: Fraction | None) -> str:
    if factor is None:
        return NOTHING.text
    return f"× {number(factor, ',.0f') if factor >= 1000 else number(factor, '.4g')}"
