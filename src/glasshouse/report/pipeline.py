"""A verdict for pipelines: JUnit, which every build server shows, and SARIF, which code hosts show beside the file."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from glasshouse.language import printable, text
from glasshouse.report.page import Decision
from glasshouse.report.verdict import (
    Judgement,
    Verdict,
    condition_words,
    limit_words,
    margin_words,
    value_words,
)

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_junit(verdict: Verdict, name: str) -> str:
    """Return a verdict as a JUnit document: a test case per condition, a failure where one is not met.

    Args:
        verdict: The verdict.
        name: The name of what was judged.
    """
    judgements = verdict.judgements
    counts = {"tests": str(len(judgements)), "failures": str(verdict.failed), "errors": "0"}
    suites = Element("testsuites", {"name": "glasshouse", **counts})
    suite = SubElement(suites, "testsuite", {"name": printable(name), "skipped": "0", **counts})
    for judgement in judgements:
        case = SubElement(
            suite,
            "testcase",
            {
                "classname": printable(verdict.policy.name),
                "name": printable(condition_words(judgement)),
            },
        )
        if not judgement.met:
            SubElement(case, "failure", {"message": printable(_fault(judgement))})
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def to_sarif(verdict: Verdict, name: str) -> str:
    """Return a verdict as a SARIF 2.1.0 document: a rule per measure, a result per condition that is not met.

    Args:
        verdict: The verdict.
        name: The name of what was judged.
    """
    level = "error" if verdict.decision is Decision.STOP else "warning"
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
            "message": {"text": printable(f"{condition_words(judgement)}: {_fault(judgement)}")},
            "locations": [location],
        }
        for judgement in verdict.judgements
        if not judgement.met
    ]
    driver = {"name": "Glasshouse", "version": version("glasshouse"), "rules": rules}
    content = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _fault(judgement: Judgement) -> str:
    """Say by how much a condition is not met."""
    return text(
        "{value}; the rule is {limit} (margin: {margin})",
        value=value_words(judgement.measured),
        limit=limit_words(judgement.condition, judgement.condition.limit),
        margin=margin_words(judgement),
    )


def _rule_words(verdict: Verdict, measure: str) -> str:
    """Say what a rule is about: the first condition on its measure, and what it asks."""
    judgement = next(entry for entry in verdict.judgements if entry.condition.measure == measure)
    limit = limit_words(judgement.condition, judgement.condition.limit)
    return printable(f"{condition_words(judgement)}: {limit}")
