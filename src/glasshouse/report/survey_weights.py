"""What survey weights tell of the people behind a sample, beside what is told of the sample itself.

F̂ of a class that holds one record is that record's weight, and a value of a record never reaches a report: of the
smallest F̂ only the first two digits are told. The JSON of the analyst is exact.
"""

from __future__ import annotations

import math
from fractions import Fraction

from glasshouse.language import marked, number, text, translated
from glasshouse.microdata.survey_weights import FEW_PEOPLE, WeightedClasses
from glasshouse.report.attacks import in_short
from glasshouse.report.cells import cell_table
from glasshouse.report.discretion import nested_counts
from glasshouse.report.labels import column_label
from glasshouse.report.page import Finding, Section, Table, note
from glasshouse.report.words import counted, indefinite

WEIGHT_TERMS = {
    marked("F̂"): marked(
        "How many people of the population fit a class, by estimate: the sum of the survey weights of its records."
    )
}
"""What a reader must know of survey weights."""


def weighted_finding(weighted: WeightedClasses, subject: str, *, is_released: bool) -> Finding:
    """Say how many records somebody names right who does not know who was sampled, beside who knows it.

    Args:
        weighted: What the weights add up to.
        subject: What a record stands for.
        is_released: Whether the weights are in the release.
    """
    meaning = [
        text(
            "An estimate, not a count, and rather a low one: a class is taken to fit as many people as the "
            "weights of its records add up to. It is about an adversary who does not know that a person is in "
            "the sample; for one who knows, all other figures hold, whatever the weights. The rule does not "
            "judge it."
        ),
        text(
            "The individual risk of Benedetti and Franconi, which takes account of how uncertain that is, expects "
            "{individual} right, a global risk of {share} (as sdcMicro prints it: {approximate}, {coarsely}).",
            individual=number(weighted.individual, ".3g"),
            share=_global(weighted.individual, weighted.records),
            approximate=number(weighted.approximate, ".3g"),
            coarsely=_global(weighted.approximate, weighted.records),
        ),
    ]
    if is_released:
        meaning.append(text("The weights are in the release: a rare one can tell records apart."))
    return note(weighted_sentence(weighted, subject), _figure(weighted), " ".join(meaning))


def weighted_sentence(weighted: WeightedClasses, subject: str) -> str:
    """Say it in one sentence or two."""
    return text(
        "By the survey weights of {column}, the {records} stand for {people} people. Someone who knows "
        "{subject}'s {known}, but not who was sampled, could expect to identify {expected} of the {records} "
        "correctly, and none with a chance of more than {highest}; someone who knows who was sampled, "
        "{classes}.",
        column=column_label(weighted.column),
        records=counted(weighted.records, "record"),
        people=number(round(weighted.people)),
        subject=indefinite(subject),
        known=in_short(weighted.quasi_identifiers),
        expected=expected_number(weighted.expected),
        highest=_highest(weighted.fewest),
        classes=_named(weighted.named),
    )


def expected_number(expected: Fraction) -> str:
    """Return an expected number of people: with two digits that count, or as a whole number.

    >>> expected_number(Fraction(3, 51)), expected_number(Fraction(700, 3)), expected_number(Fraction(25, 2))
    ('0.059', '233', '12')
    """
    return number(float(expected), ".2g") if expected < 10 else number(round(expected))


def _named(named: Fraction) -> str:
    """Return a number of people that is whole where classes are, and a mean where they overlap."""
    return number(int(named)) if named.denominator == 1 else expected_number(named)


def _highest(fewest: Fraction) -> str:
    """Say the highest chance of a record, 1/F̂, by the first two digits of F̂.

    >>> _highest(Fraction(12285)), _highest(Fraction(7, 2)), _highest(Fraction(1, 2))
    ('1 in 12,000', '1 in 3.5', '1 in 1')
    """
    people = max(fewest, Fraction(1))
    unit = Fraction(10) ** (math.floor(math.log10(people)) - 1)
    least = math.floor(people / unit) * unit
    return text("1 in {people}", people=number(float(least), ",.12g"))


def _figure(weighted: WeightedClasses) -> str:
    return text(
        "Σ 1/F̂ = {expected}; individual risk on average {average}",
        expected=number(float(weighted.expected), ".6g"),
        average=number(float(weighted.average), ".6g"),
    )


def weights_section(weighted: WeightedClasses) -> Section:
    """Return how many records are in classes that stand for few people, as far as it may be told."""
    return Section(
        text("The people behind the sample, by survey weights"),
        intro=text(
            "How many records are in classes that stand for few people (F̂), by estimate. A number that would "
            "reveal too few records is left out."
        ),
        tables=(
            few_people_table(weighted),
            *([_models_table(weighted)] if weighted.models else []),
        ),
    )


def _global(expected: float, records: int) -> str:
    """Return a mean risk in per cent."""
    return text("{figure}%", figure=number(100 * expected / records, ".3g"))


def _models_table(weighted: WeightedClasses) -> Table:
    """Return what models say of those who are alone in the sample, which is a fact, in the population."""
    rows = [
        (
            translated(model.name),
            text(
                "{estimate} ± {error}",
                estimate=number(model.population_uniques, ".3g"),
                error=number(model.error, ".2g"),
            ),
            number(model.matches, ".3g"),
        )
        for model in weighted.models
    ]
    titles = (text("Alone in the population, too"), text("Matched right"))
    title = text(
        "Of the {uniques} who are alone in the sample, by models (± one standard deviation, if the model is true)",
        uniques=number(weighted.models[0].sample_uniques),
    )
    return cell_table(text("Model"), titles, rows, title)


def few_people_table(weighted: WeightedClasses) -> Table:
    """Return, per small F̂, how many records are in classes that stand for fewer people."""
    titles = (text("Records"), text("Share of the records"))
    cells = nested_counts(weighted.few, weighted.records)
    rows = [
        (text("F̂ below {people}", people=people), *both)
        for people, both in zip(FEW_PEOPLE, cells, strict=True)
    ]
    return cell_table(text("People of the population"), titles, rows)
