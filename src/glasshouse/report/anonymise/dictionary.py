"""What was done to each column of a release, in words: for the report, and as the data dictionary beside the file.

A data dictionary is published with the release. It holds names of columns, rules and made-up values, and nothing of a
record, of the search or of the random choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from glasshouse.language import (
    LANGUAGES,
    marked,
    number,
    percentage,
    printable,
    speaking,
    text,
    text_for,
    translated,
)
from glasshouse.mitigation import Anonymisation
from glasshouse.mitigation.anonymisation import UsedHierarchy
from glasshouse.mitigation.hierarchies import DATE_PARTS
from glasshouse.report.cells import cell_table
from glasshouse.report.labels import column_label
from glasshouse.report.page import Cell, Column, Table
from glasshouse.study.anonymise import GROUP, hierarchy_rule, perturbation_rule

_PARTS = {
    "day": marked("only the day is kept, without the time"),
    "month": marked("only the month and the year are kept"),
    "quarter": marked("only the quarter and the year are kept"),
    "year": marked("only the year is kept"),
    "decade": marked("only the decade is kept"),
}
_STATE, _REGION = marked("only the state is kept"), marked("only the region is kept")
_CODES = {
    "municipality": (_STATE, _REGION),
    "state": (_REGION,),
    "icd10": (
        marked("only the category of the disease is kept"),
        marked("only the block of diseases is kept"),
        marked("only the chapter of diseases is kept"),
    ),
    "cbo": (
        marked("only the family of occupations is kept"),
        marked("only the subgroup of occupations is kept"),
        marked("only the main subgroup of occupations is kept"),
        marked("only the major group of occupations is kept"),
    ),
    "cnpj": (marked("only the firm is kept, not which of its establishments"),),
    "education": (marked("only the stage of schooling is kept"),),
}
"""What is told of a code at each level, the finest first."""


def changes(outcome: Anonymisation) -> dict[str, str]:
    """Return what was done to each column of the data, in words: first of what is released."""
    used = {hierarchy.column: hierarchy for hierarchy in outcome.hierarchies}
    detail = {} if outcome.quality is None else outcome.quality.attributes
    words = {}
    for name in outcome.quasi_identifiers:
        if outcome.heights is not None:
            words[name] = at_level(used[name], outcome.heights[name])
        elif name in detail and detail[name].granularity < 1:
            words[name] = text(
                "in as much detail as the people who look alike allow, which differs between records"
            )
        else:
            words[name] = text("as it was")
    for name in outcome.sensitive:
        words[name] = text("as it was")
    if outcome.grouped:
        words = dict.fromkeys(outcome.quasi_identifiers, text("as it was"))
        words |= dict.fromkeys(
            outcome.sensitive, text("published apart: it is known for a group, not for a record")
        )
        words[GROUP] = text("new: which group a record belongs to")
    words |= dict.fromkeys(outcome.parameters.get("keep") or (), text("as it was"))
    if outcome.weighted is not None:
        words[outcome.weighted.column] = text("as it was: how many people a record stands for")
    if outcome.method == "microaggregation":
        words |= dict.fromkeys(
            outcome.parameters.get("aggregate") or outcome.quasi_identifiers,
            text("the mean of a group of at least {k} records", k=number(outcome.parameters["k"])),
        )
    words |= {column.column: change_words(column.rule) for column in outcome.changed}
    return words | dict.fromkeys(outcome.left_out, text("left out of the file"))


def change_words(rule: str) -> str:
    """Say what a rule does to the values of a column."""
    name, keywords = perturbation_rule(rule)
    if name == "pram":
        return text(
            "changed at random: kept with a chance of {chance}, otherwise drawn again as frequently as in all "
            "records",
            chance=percentage(Fraction(keywords["keep"])),
        )
    if name == "noise":
        return text(
            "changed at random: moved by a random number of steps of {step}, each {ratio} times as likely as the one "
            "before",
            step=keywords.get("step", "1"),
            ratio=keywords["ratio"],
        )
    if name == "exchange":
        return text(
            "changed at random: numbers changed places among {records} records of nearly the same rank",
            records=keywords["window"],
        )
    return text("the lowest or highest numbers are merged into one: {rule}", rule=rule)


def at_level(used: UsedHierarchy, level: int) -> str:
    """Say what is told of a column that is generalised to a level of its hierarchy."""
    if level == 0:
        return text("as it was")
    if level == used.height - 1:
        return text("no longer shown: every record has *")
    detail = _detail(used, level)
    if not used.example:
        return detail or text(
            "in less detail: level {level} of {highest}", level=level, highest=used.height - 1
        )
    words = {"value": used.example[0], "label": used.example[level]}
    if words["value"] == words["label"]:
        return detail or text("the lowest or highest are merged into one, the others as they were")
    if detail:
        return text("{detail}: {value} becomes {label}", detail=detail, **words)
    return text("in less detail: {value} becomes {label}", **words)


def _detail(used: UsedHierarchy, level: int) -> str:
    """Say what a rule leaves at a level; nothing where the example says it better."""
    rule = hierarchy_rule(used.rule) if used.rule else None
    if rule is None:
        return ""
    name, keywords = rule
    above = used.height - 1 - level  # how many levels there are from here to the root
    if name == "date_parts":
        parts = keywords.get("parts") or DATE_PARTS
        return translated(_PARTS[parts[-above]])
    if name in _CODES:
        return translated(_CODES[name][-above])
    if name == "cep":
        return text_for(
            above, "only the first digit is kept", "only the first {count} digits are kept"
        )
    if name == "intervals" and "widths" in keywords:
        return text("in intervals of {width}", width=keywords["widths"][-above])
    return ""


def generalisation_table(outcome: Anonymisation, *, short: bool = False) -> Table:
    """Show the hierarchies: the rule of each column, the level that is released, and a made-up value level by level.

    Args:
        outcome: The release.
        short: Whether the levels that are not released are left out.
    """
    columns = [text("Rule"), text("Level released"), text("A made-up value, level by level")]
    rows: list[list[Cell | str]] = [
        [
            column_label(used.column),
            Cell(used.rule or text("from a file")),
            Cell(_released_level(outcome, used)),
            *([] if short else [Cell(levels_shown(used))]),
        ]
        for used in outcome.hierarchies
    ]
    shown_columns = [Column(title) for title in (columns[:2] if short else columns)]
    return cell_table(text("How values are generalised"), shown_columns, rows)


def suggestion_table(hierarchies: Iterable[UsedHierarchy]) -> Table:
    """Show hierarchies: the rule of each column, and a made-up value level by level."""
    columns = [Column(text("Rule")), Column(text("A made-up value, level by level"))]
    rows = [
        (column_label(used.column), Cell(used.rule or text("from a file")), levels_shown(used))
        for used in hierarchies
    ]
    return cell_table(text("How values are generalised"), columns, rows)


def levels_shown(used: UsedHierarchy) -> str:
    """Show what a made-up value becomes, level by level."""
    if used.example:
        return " → ".join(used.example)
    return (
        text("shown in full or not at all")
        if used.height <= 2
        else text_for(used.height, "{count} level", "{count} levels")
    )


def _released_level(outcome: Anonymisation, used: UsedHierarchy) -> str:
    heights = outcome.heights or {}
    if used.column not in heights:
        return text("differs between records") if outcome.heights is None else "–"
    words = {"level": heights[used.column], "highest": used.height - 1}
    label = used.example[heights[used.column]] if used.example else ""
    if not heights[used.column]:
        return text("as it was")
    if heights[used.column] == used.height - 1:
        return text("{level} of {highest}: no longer shown", **words)
    if label:
        return text("{level} of {highest}: {label}", label=label, **words)
    return text("{level} of {highest}", **words)


def data_dictionary(outcome: Anonymisation) -> str:
    """Return the data dictionary of a release as Markdown, in every language."""
    return "\n".join(line for language in LANGUAGES for line in _in_language(outcome, language))


def _in_language(outcome: Anonymisation, language: str) -> Iterator[str]:
    with speaking(language):
        yield f"# {text('What was changed in this file')}"
        yield ""
        yield f"| {text('Column')} | {text('In this file')} |"
        yield "|---|---|"
        for name, words in changes(outcome).items():
            yield f"| {_cell(name)} | {_cell(words)} |"
        yield ""
        for note in record_notes(outcome):
            yield note
            yield ""


def record_notes(outcome: Anonymisation) -> Iterator[str]:
    """Yield what became of records of a release: how many are suppressed, and of which part it is a sample."""
    if outcome.suppressed:
        yield _suppressed_note(outcome)
    if outcome.parameters.get("sample") is not None:
        yield text(
            "The file is a simple random sample: {share} of the records.",
            share=percentage(Fraction(str(outcome.parameters["sample"]))),
        )


def _suppressed_note(outcome: Anonymisation) -> str:
    if outcome.parameters.get("drop_suppressed"):
        return text_for(
            outcome.suppressed,
            "{count} record of the original is not in this file.",
            "{count} records of the original are not in this file.",
        )
    return text_for(
        outcome.suppressed,
        "{count} record holds * in every column that somebody could know; a person who fits no other record "
        "of this file must be this one.",
        "{count} records hold * in every column that somebody could know; a person who fits no other record "
        "of this file must be one of these.",
    )


def _cell(words: str) -> str:
    """Return a text that stands in a table of Markdown."""
    return printable(words).replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*")
