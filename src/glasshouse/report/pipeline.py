"""A verdict for pipelines: JUnit, which every build server shows, and SARIF, which code hosts show beside the file."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from glasshouse.language import printable, text
from glasshouse.measures.verdict import Judgement, Verdict
from glasshouse.report.coverage import coverage_sentences
from glasshouse.report.verdict import (
    condition_words,
    limit_words,
    margin_words,
    measure_words,
    value_words,
)
from glasshouse.report.words import in_words

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_junit(verdict: Verdict, name: str) -> str:
    """Return a verdict as a JUnit document: a test case per condition, a failure where one is not met.

    Args:
        verdict: The verdict.
        name: The name of what was judged.
    """
    judgements, unjudged = verdict.judgements, verdict.unjudged
    lacking = verdict.lacking
    counts = {
        "tests": str(len(judgements) + len(unjudged)),
        "failures": str(verdict.failed + sum(condition in lacking for condition in unjudged)),
        "skipped": str(sum(condition not in lacking for condition in unjudged)),
        "errors": "0",
    }
    suites = Element("testsuites", {"name": "glasshouse", **counts})
    suite = SubElement(suites, "testsuite", {"name": printable(name), **counts})
    coverage = verdict.coverage
    for sentence in () if coverage is None else coverage_sentences(coverage):
        properties = suite.find("properties")
        place = SubElement(suite, "properties") if properties is None else properties
        SubElement(place, "property", {"name": "coverage", "value": printable(sentence)})

    def case(words: str) -> Element:
        about = {"classname": printable(verdict.policy.name), "name": printable(words)}
        return SubElement(suite, "testcase", about)

    for judgement in judgements:
        tested = case(condition_words(judgement))
        if not judgement.met:
            SubElement(tested, "failure", {"message": printable(_fault(verdict, judgement))})
    for condition in unjudged:
        tested = case(measure_words(condition.measure))
        outcome = "failure" if condition in lacking else "skipped"
        SubElement(tested, outcome, {"message": text("not judged")})
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def to_sarif(verdict: Verdict, name: str) -> str:
    """Return a verdict as a SARIF 2.1.0 document: a rule per measure, a result per condition that is not met.

    Args:
        verdict: The verdict.
        name: The name of what was judged.
    """
    level = "none" if verdict.meets else "error"
    measures = dict.fromkeys(judgement.condition.measure for judgement in verdict.judgements)
    rules = [
        {"id": measure, "shortDescription": {"text": _rule_words(verdict, measure)}}
        for measure in measures
    ]
    location = {"physicalLocation": {"artifactLocation": {"uri": printable(name)}}}
    results: list[dict[str, Any]] = [
        {
            "ruleId": judgement.condition.measure,
            "level": level,
            "message": {
                "text": printable(f"{condition_words(judgement)}: {_fault(verdict, judgement)}")
            },
            "locations": [location],
        }
        for judgement in verdict.judgements
        if not judgement.met
    ]
    results += [
        {
            "ruleId": condition.measure,
            "level": level if condition in verdict.lacking else "note",
            "message": {
                "text": printable(f"{measure_words(condition.measure)}: {text('not judged')}")
            },
            "locations": [location],
        }
        for condition in verdict.unjudged
    ]
    rules += [
        {"id": measure, "shortDescription": {"text": printable(measure_words(measure))}}
        for measure in dict.fromkeys(condition.measure for condition in verdict.unjudged)
        if measure not in measures
    ]
    driver = {"name": "Glasshouse", "version": version("glasshouse"), "rules": rules}
    content = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _fault(verdict: Verdict, judgement: Judgement) -> str:
    """Say by how much a condition is not met; of columns that were not looked at, which."""
    if not judgement.is_of_figures and verdict.coverage is not None:
        return ", ".join(verdict.coverage.unseen)
    return text(
        "{value}; the rule is {limit} (margin: {margin})",
        value=in_words(value_words(judgement.measured)),
        limit=in_words(limit_words(judgement.condition, judgement.condition.limit)),
        margin=margin_words(judgement),
    )


def _rule_words(verdict: Verdict, measure: str) -> str:
    """Say what a rule is about: the first condition on its measure, and what it asks."""
    judgement = next(entry for entry in verdict.judgements if entry.condition.measure == measure)
    limit = in_words(limit_words(judgement.condition, judgement.condition.limit))
    return printable(f"{condition_words(judgement)}: {limit}")
