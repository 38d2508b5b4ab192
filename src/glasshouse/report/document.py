"""The report: first the sentences, then the picture, then the exact figures, then how to repeat them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import jinja2

from glasshouse.microdata import Assessment, Attack, Leakage
from glasshouse.microdata.influence import shapley_values, without_each
from glasshouse.microdata.lattice import Sweep
from glasshouse.microdata.models import SIZE_LABELS
from glasshouse.report.charts import before_and_after, every_subset, to_svg
from glasshouse.report.findings import attack_label, best_by_size, by_knowledge, findings, widest
from glasshouse.report.words import percentage


@dataclass(frozen=True)
class Provenance:
    """Where the figures come from: enough to repeat them, and nothing of the data itself."""

    version: str
    """The version of Glasshouse."""
    study: str
    """The study as TOML."""
    datasets: Mapping[str, str]
    """Per dataset, the SHA-256 of its bytes."""


MOST_SETS_IN_FULL = 6
"""With more sets of quasi-identifiers than this, the table shows the best one of each size."""


def render_html(
    assessment: Assessment,
    *,
    subject: str,
    provenance: Provenance,
    sweep: Sweep | None = None,
) -> str:
    """Return the report as one self-contained HTML page that makes no request and runs no script.

    Args:
        assessment: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        sweep: The sums of every subset, where there are such, from which the influence of each attribute follows.
    """
    sets = len(by_knowledge(assessment.attacks))
    pictures = [to_svg(before_and_after(assessment))]
    if sets > 1:
        pictures.insert(0, to_svg(every_subset(assessment)))
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("glasshouse.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("report.html").render(
        datasets=list(provenance.datasets),
        records=assessment.records,
        sentences=findings(assessment, subject=subject),
        pictures=pictures,
        sets=sets,
        best_only=sets > MOST_SETS_IN_FULL,
        groups=_best(assessment.attacks)
        if sets > MOST_SETS_IN_FULL
        else _groups(assessment.attacks),
        influence=_influence(sweep) if sweep is not None else None,
        with_gain=any(attack.gain for attack in assessment.attacks),
        sizes=_class_sizes(assessment.attacks),
        provenance=provenance,
    )


def _groups(attacks: Sequence[Attack]) -> list[dict[str, object]]:
    """Return the attacks by what the adversary knows, as the table shows them."""
    return [
        {
            "title": f"She knows {', '.join(same[0].quasi_identifiers)}",
            "note": f"{same[0].classes:,} classes, {same[0].uniques:,} unique records",
            "rows": [_row(attack) for attack in same],
        }
        for same in by_knowledge(attacks)
    ]


def _best(attacks: Sequence[Attack]) -> list[dict[str, object]]:
    """Return the best set of each size, by target, as the table shows them."""
    targets: dict[str, list[Attack]] = {}
    for attack in best_by_size(attacks):
        targets.setdefault(attack_label(attack), []).append(attack)
    return [
        {
            "title": f"{label[:1].upper()}{label[1:]}",
            "note": "the best set of each size",
            "rows": [
                _row(attack) | {"label": ", ".join(attack.quasi_identifiers)} for attack in own
            ],
        }
        for label, own in targets.items()
    ]


def _influence(sweep: Sweep) -> dict[str, object] | None:
    """Return, per attribute and target, its share of the leakage and what removing it would do."""
    if len(sweep.masks) != 2 ** len(sweep.quasi_identifiers) - 1:
        return None
    values = {(v.quasi_identifier, v.sensitive): v for v in shapley_values(sweep).values}
    removals = {(r.removed, r.sensitive): r for r in without_each(sweep).removals}
    targets: list[str | None] = [None, *sweep.sensitive]
    return {
        "targets": ["name the person", *(f"infer {name}" for name in sweep.sensitive)],
        "rows": [
            {
                "name": name,
                "cells": [
                    (_points(values[name, target].value), _points(-removals[name, target].drop))
                    for target in targets
                ],
            }
            for name in sweep.quasi_identifiers
        ],
    }


def _points(value: Fraction) -> str:
    return f"{100 * float(value):+.2f}"


def _row(attack: Attack) -> dict[str, object]:
    return {
        "code": attack.code,
        "label": attack_label(attack),
        "certain": f"{attack.certain:,}",
        "certain_share": percentage(attack.deterministic.posterior),
        "guess": _measured(attack.probabilistic),
        "gain": _measured(attack.gain) if attack.gain else None,
    }


def _measured(leakage: Leakage) -> dict[str, str]:
    factor = leakage.multiplicative
    return {
        "prior": _number(leakage.prior),
        "posterior": _number(leakage.posterior),
        "additive": _number(leakage.additive),
        "multiplicative": "–" if factor is None else f"× {float(factor):,.6g}",
        "prior_ratio": str(leakage.prior),
        "posterior_ratio": str(leakage.posterior),
    }


def _number(value: Fraction) -> str:
    said = f"{float(value):.6g}"
    return repr(float(value)) if said == "1" and value != 1 else said


def _class_sizes(attacks: Sequence[Attack]) -> list[dict[str, str]]:
    """Return how many classes and records there are by class size, for the largest set assessed."""
    sizes = widest(attacks)[0].class_sizes
    labels = [label.replace("_", "–") for label in SIZE_LABELS[:-1]] + ["1,000 or more"]
    return [
        {"size": label, "classes": f"{classes:,}", "records": f"{records:,}"}
        for label, classes, records in zip(labels, sizes.classes, sizes.records, strict=True)
    ]
