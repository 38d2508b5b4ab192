"""The report: first the sentences, then the picture, then the exact figures, then how to repeat them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import jinja2

from glasshouse.microdata import Assessment, Attack, Leakage
from glasshouse.microdata.models import SIZE_LABELS
from glasshouse.report.charts import before_and_after, to_svg
from glasshouse.report.findings import attack_label, by_knowledge, findings
from glasshouse.report.words import share


@dataclass(frozen=True)
class Provenance:
    """Where the figures come from: enough to repeat them, and nothing of the data itself."""

    version: str
    """The version of Glasshouse."""
    study: str
    """The study as TOML."""
    datasets: Mapping[str, str]
    """Per dataset, the SHA-256 of its bytes."""


def render_html(assessment: Assessment, *, subject: str, provenance: Provenance) -> str:
    """Return the report as one self-contained HTML page that makes no request and runs no script."""
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
        picture=to_svg(before_and_after(assessment)),
        groups=_groups(assessment.attacks),
        with_gain=any(attack.gain for attack in assessment.attacks),
        sizes=_class_sizes(assessment.attacks),
        provenance=provenance,
    )


def _groups(attacks: Sequence[Attack]) -> list[dict[str, object]]:
    """Return the attacks by what the adversary knows, as the table shows them."""
    return [
        {
            "known": ", ".join(same[0].quasi_identifiers),
            "classes": f"{same[0].classes:,}",
            "uniques": f"{same[0].uniques:,}",
            "rows": [_row(attack) for attack in same],
        }
        for same in by_knowledge(attacks)
    ]


def _row(attack: Attack) -> dict[str, object]:
    return {
        "code": attack.code,
        "label": attack_label(attack),
        "certain": f"{attack.certain:,}",
        "certain_share": share(attack.certain, attack.records),
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
    return f"{float(value):.6g}"


def _class_sizes(attacks: Sequence[Attack]) -> list[dict[str, str]]:
    """Return how many classes and records there are by class size, for the largest set assessed."""
    sizes = attacks[-1].class_sizes
    labels = [label.replace("_", "–") for label in SIZE_LABELS[:-1]] + ["1,000 or more"]
    return [
        {"size": label, "classes": f"{classes:,}", "records": f"{records:,}"}
        for label, classes, records in zip(labels, sizes.classes, sizes.records, strict=True)
    ]
