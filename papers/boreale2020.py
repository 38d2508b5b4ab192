"""Tables of Boreale, Corradi and Viscardi 2020, beside what Glasshouse makes of the same questions.

python papers/boreale2020.py                    # tables III to V as far as no data is needed
python papers/boreale2020.py --adult arx/data   # tables IV and V: ARX's adult.csv and its hierarchies
python papers/boreale2020.py --full             # the same, sampled longer; without Adult, of 5,692 synthetic people
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import glasshouse as gh
from comparison import Cell, arguments, show, timed
from glasshouse.groups import Release

DISEASES = ("Heart", "Flu", "Stomach", "HIV", "Diabetes")
KNOWN = (
    *("sex", "age", "race", "marital-status", "education", "native-country"),
    *("workclass", "salary-class"),
)
"""What the adversary knows of the people of Adult; their occupation is the secret."""
RECORDS = 5_692
"""The records of Adult with an age above 50: as many as the publication has, and with its baseline."""

TABLES = {
    "IV, k = l = 4": (0.2930, 0.2681, 0.2131, 0.0249, 0.3106, 9795.58, 9980.35),
    "IV, k = l = 6": (0.2994, 0.2756, 0.2890, 0.0232, 0.3011, 9699.09, 9451.53),
    "V, l = 4": (0.3273, 0.2653, 0.1669, 0.0620, 0.6493, 8391.66, 9471.94),
    "V, l = 6": (0.2396, 0.2136, 0.1689, 0.0260, 0.5341, 9276.25, 9889.07),
}
"""Tables IV and V: GT_A, GT_L, GT_RW, RGT_A, RF, ABS_A, ABS_RW."""
MEASURES = {
    "GT_A": "gt_attacker",
    "GT_L": "gt_learner",
    "GT_RW": "",
    "RGT_A": "rgt",
    "RF": "",
    "ABS_A per record": "abs_attacker",
    "ABS_RW per record": "",
}
"""What tables IV and V call the measures, and what the figures of a run call those that may be sampled."""


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    asked = arguments(
        __doc__, given, adult="the folder with adult.csv and adult_hierarchy_*.csv of ARX"
    )
    table_iii()
    remark_2()
    remark_5()
    consistency()
    with tempfile.TemporaryDirectory() as folder:
        if asked.adult:
            places = {
                name: str(Path(asked.adult) / f"adult_hierarchy_{name}.csv") for name in KNOWN
            }
            data: dict[str, Any] = {
                "data": str(Path(asked.adult) / "adult.csv"),
                "quasi_identifiers": list(KNOWN),
                "sensitive": ["occupation"],
                "where": ["age>50"],
            }
            release_measures(Path(folder), data, places, list(TABLES), "Adult, age above 50")
            return
        records = asked.records or (RECORDS if asked.full else 500)
        path = Path(folder) / "people.parquet"
        pq.write_table(_people(records), path)
        known = ["race", "gender", "illness"]
        data = {"data": str(path), "quasi_identifiers": known, "sensitive": ["age band"]}
        names = list(TABLES) if asked.full else ["IV, k = l = 4"]
        release_measures(Path(folder), data, {}, names, f"{records:,} synthetic people")


def table_iii() -> None:
    """Example 1: the disease of somebody from Malaysia who lives at 45501."""
    published = {
        "learner": (0.343, 0.317, 0.113, 0.114, 0.113),
        "attacker": (0.580, 0.420, 0.0, 0.0, 0.0),
        "random worlds": (0.5, 0.5, 0.0, 0.0, 0.0),
    }
    observed = ["45501", "45502", "55503", "55504", "66601", "77701"]
    prefixes = [f"{prefix}{digit}" for prefix in ("4550", "5550") for digit in range(10)]
    domains = {
        "ten ZIP codes per prefix": [*prefixes, "66601", "77701"],
        "observed ZIP codes": observed,
    }
    rows = [(f"{who}, published", *_decimals(beliefs)) for who, beliefs in published.items()]
    counts = []
    for words, codes in domains.items():
        release = _table_1b(codes)
        victims = gh.groups.victims_of(release, [{"Nat.": "M", "ZIP": "45501"}])
        exact = gh.groups.enumerated_fractions(release, victims)
        floats = gh.groups.enumerated(release, victims, learner_mean=True)
        counts.append((words, f"{gh.groups.number_of_tables(release):,}"))
        beliefs = floats.of(0)
        rows += [
            (f"learner by (5), {words}", *_decimals(map(float, exact.learner[0]))),
            (f"learner by (6), {words}", *_decimals(beliefs["learner_mean"][s] for s in DISEASES)),
            (f"attacker, {words}", *_decimals(map(float, exact.attacker[0]))),
            (f"random worlds, {words}", *_decimals(beliefs["random_worlds"][s] for s in DISEASES)),
        ]
    show("Table III. Learner and attacker", ("", *DISEASES), rows)
    show(
        "Example 1. Tables that the release allows",
        ("domain", "tables"),
        [("published", "640,000"), *counts],
    )


def remark_2() -> None:
    """The island and database-search problems: five people, one in four has the trait, k were tested without it."""
    rows = []
    for tested in range(4):
        release = gh.groups.from_json(
            {
                "attributes": [
                    {
                        "name": "trait",
                        "values": ["yes", "no"],
                        "beta": {"yes": 10**9, "no": 3 * 10**9},
                    }
                ],
                "sensitive": {"name": "guilty", "values": ["yes", "no"]},
                "groups": [
                    {"sensitive": ["yes"], "generalised": ["yes"]},
                    *[{"sensitive": ["no"], "generalised": ["no"]}] * tested,
                    *[{"sensitive": ["no"], "generalised": ["*"]}] * (4 - tested),
                ],
            }
        )
        suspect = gh.groups.victims_of(release, [{"trait": "yes"}])
        guilty = gh.groups.closed_form_fractions(release, suspect).attacker[0][0]
        rows.append((tested, f"{1 / (1 + (4 - tested) / 4):.6f}", f"{float(guilty):.6f}"))
    show(
        "Remark 2. Is the suspect the culprit? Five people, p = 1/4",
        ("tested before", "published formula", "here"),
        rows,
    )


def remark_5() -> None:
    """A release of a million records as they are: one value occurs once, and so does its person's secret."""
    values = np.arange(1_000_000) % 999
    values[0] = 999
    people = pa.table(
        {"r": values.astype(str), "s": np.where(np.arange(1_000_000) == 0, "rare", "frequent")}
    )
    table = gh.read(people, quasi_identifiers=["r"], sensitive=["s"])
    release = gh.groups.from_generalised(table, domains=table)
    victims = gh.groups.victims_of(release, [{"r": "999"}])
    beliefs = gh.groups.closed_form(release, victims).of(0)
    learner, attacker = beliefs["learner"]["rare"], beliefs["attacker"]["rare"]
    rows = [
        ("learner", "0.004", f"{learner:.8f}"),
        ("attacker", "1", f"{attacker:.8f}"),
        ("relative threat", "250", f"{attacker / learner:.1f}"),
    ]
    show("Remark 5. A rare value among a million", ("", "published, about", "here"), rows)


def consistency() -> None:
    """What the figures of tables IV and V say of each other."""
    rows = [
        (
            f"table {name}: RGT_A = GT_A − GT_L",
            f"{figures[3]:.4f}",
            f"{figures[0] - figures[1]:.4f}",
        )
        for name, figures in TABLES.items()
    ]
    rows += [
        ("baseline = 943 / 5,692", "0.1656", f"{943 / RECORDS:.4f}"),
        ("k = l = 4: 6% of those threatened, of the whole table", "0.6%", f"{6 * 0.2930:.1f}%"),
        (
            "l = 4: 483 records, of those threatened",
            "26%",
            f"{100 * 483 / (0.3273 * RECORDS):.0f}%",
        ),
        ("l = 4: 483 records, of the whole table", "8%", f"{100 * 483 / RECORDS:.1f}%"),
    ]
    show(
        "Tables IV and V. What the printed figures say of each other",
        ("", "printed", "by the other figures"),
        rows,
    )


def release_measures(
    folder: Path,
    data: dict[str, Any],
    hierarchies: dict[str, str],
    names: Sequence[str],
    origin: str,
) -> None:
    """Tables IV and V: protect, publish, and ask what learner and attacker make of it."""
    rows: list[Sequence[Cell]] = []
    for number, name in enumerate(names):
        size = int(name[-1])
        promise: dict[str, Any] = {"method": "anatomy", "l": size}
        if name.startswith("IV"):
            promise = {"k": size, "l": size, "suppression": 0.04, "hierarchies": hierarchies}
        place = folder / f"release-{number}"
        gh.anonymise(**data, **promise).report(place)
        measures = gh.threat(place, precision=0.002, seconds=120.0).outcome.measures
        faithful = measures.faithfulness
        here = (
            *(
                measures.attacker.share,
                measures.learner.share,
                measures.random_worlds.share_at_random,
            ),
            *(measures.relative_global_threat, faithful.bounded if faithful else float("nan")),
            *(measures.attacker.absolute_error, measures.random_worlds.absolute_error),
        )
        for what, printed, figure in zip(MEASURES, TABLES[name], here, strict=True):
            of = (RECORDS, measures.records) if what.startswith("ABS") else (1, 1)
            sampled = measures.figures.get(MEASURES[what])
            error = None if sampled is None else f"{sampled.error / of[1]:.4f}"
            figures = (f"{printed / of[0]:.4f}", f"{float(figure) / of[1]:.4f}")
            rows.append((f"table {name}", what, *figures, error))
    ideal = measures.ideal.share if measures.ideal else float("nan")
    rows += [
        ("", "baseline", "0.1656", f"{float(measures.baseline):.4f}", None),
        ("", "ideal", "0.3534", f"{float(ideal):.4f}", None),
    ]
    show(
        f"Tables IV and V. {origin}, protected by us",
        ("release", "measure", "published", "here", "sampling error"),
        rows,
    )


def _people(records: int) -> pa.Table:
    """Return synthetic people with a secret of about as many values as an occupation: ages, seven years to a band."""
    people = gh.synthetic.table("population", records=records)
    bands = people["age"].to_numpy(zero_copy_only=False).astype(int) // 7
    return people.append_column("age band", pa.array((7 * bands).astype(str)))


def _table_1b(codes: Sequence[str]) -> Release:
    """Return table I(b), the ZIP codes being those."""
    return gh.groups.from_json(
        {
            "attributes": [
                {"name": "Nat.", "values": list("MJCI")},
                {"name": "ZIP", "values": list(codes)},
            ],
            "sensitive": {"name": "Dis.", "values": list(DISEASES)},
            "groups": [
                {"sensitive": ["Heart", "Flu"], "generalised": [["M", "J"], "4550*"]},
                {"sensitive": ["Flu", "Stomach"], "generalised": ["J", "5550*"]},
                {"sensitive": ["HIV", "Diabetes"], "generalised": [["C", "J"], "66601"]},
                {"sensitive": ["Flu", "Heart"], "generalised": [["I", "M"], "77701"]},
            ],
        }
    )


def _decimals(beliefs: Any) -> list[str]:
    return [f"{belief:.3f}" for belief in beliefs]


if __name__ == "__main__":
    timed(main)
