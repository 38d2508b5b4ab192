"""Figures of Xia, Heatherly, Kantarcioglu, Vorobeychik, Wan and Malin 2015, beside what Glasshouse makes of them.

    python papers/xia2015.py                # a small synthetic register
    python papers/xia2015.py --full         # 9,553,967 synthetic inhabitants, 6,018,999 of them registered
    python papers/xia2015.py --release trial.csv --register voters.csv --population all.csv

The files have the columns age, race, gender and postal_code. The publication's own release (Adult with invented postal
codes) was not published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import glasshouse as gh
from comparison import arguments, percent, show, timed
from glasshouse.economics import Terms

KNOWN = ["age", "race", "gender", "postal_code"]
SETTINGS = {
    "constant detection, penalties unlimited": Terms(),
    "one penalty": Terms(penalties=1),
    "rising detection, penalties unlimited": Terms(detection=(-4.59, 0.18)),
}
"""Section 7.2.1; all else is as section 7.2 has it, and the discount 0.9, which the publication does not state."""
SENSITIVITY = Terms(prior=1.0, gain=1_000.0, penalty=20_000.0)
"""Section 7.3."""


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    asked = arguments(
        __doc__,
        given,
        release="the records without names",
        register="the people who can be linked to them, with names",
        population="everybody",
    )
    thresholds()
    discounts()
    findings()
    penalties()
    figure_10()
    files = (asked.release, asked.register, asked.population)
    if any(files):
        if not all(files):
            raise SystemExit("give --release, --register and --population together")
        release, register, population = files
        origin = asked.register
    else:
        people = asked.records or (9_553_967 if asked.full else 100_000)
        study = gh.synthetic.study(people, sample=32_561 if asked.full else 2_000, seed=0)
        release, register, population = study.release, study.register, study.population
        origin = f"{people:,} synthetic people"
    case_study(
        gh.read(release, quasi_identifiers=KNOWN, name="release"),
        gh.read(register, also=KNOWN, name="register"),
        gh.read(population, name="population", also=KNOWN),
        origin,
    )


def thresholds() -> None:
    """Sections 7.2.1 and 7.2.2: the sizes of groups from which on she changes her mind."""
    constant, one, rising = map(gh.economics.thresholds, SETTINGS.values())
    rows = [
        ("one penalty", "no attack", "48", one.no_attack),
        ("rising detection", "not everybody is tried", "14", rising.first_partial),
        ("rising detection", "no attack", "29", rising.no_attack),
        (
            *("one penalty", "nobody is tried although access is paid", "51"),
            one.no_exploit_after_access,
        ),
        (
            *("constant, unlimited", "nobody is tried although access is paid", None),
            constant.no_exploit_after_access,
        ),
        ("constant, unlimited", "no attack", None, constant.no_attack),
        ("one decision, one try (baseline)", "no attack", None, constant.baseline),
    ]
    header = ("setting", "from groups of so many on", "published", "here")
    show("Section 7.2. Thresholds, discount 0.9", header, rows)


def discounts() -> None:
    """Which discount the publication may have used: none gives all four of its thresholds."""
    rows = []
    for discount in (0.8, 0.85, 0.9, 0.95, 1.0):
        _, one, rising = (
            gh.economics.thresholds(replace(terms, discount=discount))
            for terms in SETTINGS.values()
        )
        figures = (one.no_attack, rising.first_partial, rising.no_attack)
        rows.append((f"{discount:g}", *figures, one.no_exploit_after_access))
    header = (
        *("discount", "no attack, one penalty", "not everybody, rising", "no attack, rising"),
        "after access, one penalty",
    )
    show("Which discount?", header, [("published", "48", "14", "29", "51"), *rows])


def findings() -> None:
    """Findings 1 to 3, of groups of every size up to 60."""
    sizes = range(1, 61)
    plans = {name: gh.economics.policy(terms, sizes) for name, terms in SETTINGS.items()}
    baseline = gh.economics.one_shot(Terms(), sizes).reidentification
    tried = {
        name: sorted(
            {
                "all" if n == s else "none" if n == 0 else "some"
                for s, n in zip(sizes, plan.exploits, strict=True)
            }
        )
        for name, plan in plans.items()
    }
    exceeded = sum(int((baseline > plan.reidentification + 1e-12).sum()) for plan in plans.values())
    constant, one, rising = tried.values()
    rows = [
        (
            "1",
            "sizes at which the baseline's risk is higher, of all three settings",
            "none",
            exceeded or "none",
        ),
        (
            "2",
            "constant, unlimited: how many of a group are tried",
            "all or none",
            ", ".join(constant),
        ),
        (
            "3",
            "rising detection: how many of a group are tried",
            "all, some or none",
            ", ".join(rising),
        ),
        ("3", "one penalty: how many of a group are tried", "all, some or none", ", ".join(one)),
    ]
    show("Findings 1 to 3. Groups of 1 to 60", ("finding", "", "published", "here"), rows)


def penalties() -> None:
    """Section 7.3: what the text says of penalties of 10,000 and 50,000."""
    rows = []
    for penalty, published in ((10_000.0, "9"), (50_000.0, "2")):
        here = [
            gh.economics.thresholds(
                replace(
                    SENSITIVITY,
                    penalty=penalty,
                    detection=terms.detection,
                    penalties=terms.penalties,
                )
            ).no_attack
            for terms in SETTINGS.values()
        ]
        rows.append((f"{penalty:,.0f}", published, *here))
    header = ("penalty", "published", "constant, unlimited", "one penalty", "rising, unlimited")
    show("Section 7.3. No attack from groups of so many on", header, rows)


def figure_10() -> None:
    """Figure 10, of which the publication prints curves and no figures."""
    curves = {
        "access_cost": (0, 50, 100, 200, 300, 400, 500, 600),
        "exploit_cost": (0, 10, 20, 50, 100, 200),
        "penalty": (0, 5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000),
        "detection": (0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05),
    }
    rows = []
    for parameter, values in curves.items():
        curve = gh.economics.sensitivity(SENSITIVITY, parameter, [float(value) for value in values])
        steps = zip(values, curve.thresholds, strict=True)
        words = ", ".join(f"{value:g} → {step.no_attack}" for value, step in steps)
        rows.append((parameter.replace("_", " "), words))
    show(
        "Figure 10. No attack from groups of so many on; constant detection, penalties unlimited",
        ("deterrent", "here"),
        rows,
    )


def case_study(
    release: gh.EncodedTable, register: gh.EncodedTable, population: gh.EncodedTable, origin: str
) -> None:
    """Section 7.2.2, one penalty: who is at another risk where the adversary does not know the sizes."""
    groups = gh.economics.groups_in_register(release, register, population=population)
    risk = gh.economics.exposure(groups, SETTINGS["one penalty"])
    records, lower, higher = release.records, len(risk.lower), len(risk.higher)
    same = records - lower - higher
    large = int(np.count_nonzero(np.asarray(groups.sizes) > 55))
    rows = [
        ("records", "32,561", records, None),
        ("the same risk", "30,641 (94%)", same, percent(same / records, 0)),
        ("lower where sizes are unknown (finding 4)", "1,118", lower, percent(lower / records, 1)),
        ("higher where sizes are unknown (finding 5)", "802", higher, percent(higher / records, 1)),
        ("in groups of more than 55", "20,891 (64%)", large, percent(large / records, 0)),
    ]
    show(f"Figure 9. One penalty; {origin}", ("", "published", "here", "share"), rows)


if __name__ == "__main__":
    timed(main)
